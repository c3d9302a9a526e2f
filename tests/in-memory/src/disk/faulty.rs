//! The faulty disk itself: it counts operations, lets faults strike, and tells what happened.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a_society_state::disk::{About, Disk, DiskFile, Entry, How};

use super::contents::Contents;
use super::crash;
use super::fault::{Class, FaultPlan, Faults, InjectedFault};
use super::file::FaultyFile;
use super::hang::{HangGate, HangingCalls};
use super::trace::{DiskCall, Trace};
use super::tree::Tree;

/// What is called after each operation, with its number.
type Hook = Box<dyn FnMut(u64, &FaultyDisk) + Send>;

/// A file system in memory, for tests and for the simulator. A clone is the same disk.
///
/// Paths start at the topmost folder, which always exists; a relative path starts there too.
#[derive(Clone)]
pub struct FaultyDisk {
    world: Arc<Mutex<World>>,
    hook: Arc<Mutex<Option<Hook>>>,
}

/// Everything behind the lock.
pub(super) struct World {
    pub(super) tree: Tree,
    faults: Faults,
    hangs: Option<HangGate>,
    trace: Trace,
    operations: u64,
    pub(super) next_handle: u64,
}

impl FaultyDisk {
    /// An empty disk without a fault.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Tree::new())
    }

    fn with(tree: Tree) -> Self {
        let world = World {
            tree,
            faults: Faults::default(),
            hangs: None,
            trace: Trace::default(),
            operations: 0,
            next_handle: 1,
        };
        Self {
            world: Arc::new(Mutex::new(world)),
            hook: Arc::new(Mutex::new(None)),
        }
    }

    // Faults.

    /// Plans a fault, in place of any planned before.
    pub fn arm(&self, plan: FaultPlan) {
        self.world().faults.arm(Some(plan));
    }

    /// Takes the planned fault away.
    pub fn disarm(&self) {
        self.world().faults.arm(None);
    }

    /// These calls wait from now on until what this returns is opened, in place of any that hung before.
    #[must_use]
    pub fn hang(&self, calls: HangingCalls) -> HangGate {
        let gate = HangGate::new(calls);
        self.world().hangs = Some(gate.clone());
        gate
    }

    /// Whether the planned fault has struck. A fault that the operation with its number cannot
    /// meet, such as a short write on a sync, does not strike.
    #[must_use]
    pub fn fired(&self) -> bool {
        self.world().faults.fired()
    }

    /// How many operations there have been. Every call of a method of the port is one.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.world().operations
    }

    /// Limits the space that is left; `None` is no limit. What is cut or removed comes back.
    pub fn set_free_bytes(&self, free_bytes: Option<u64>) {
        self.world().tree.set_free_bytes(free_bytes);
    }

    /// Sets the clock of the disk, which does not move until it is set again.
    #[cfg(test)]
    pub(crate) fn set_now_ms(&self, now_ms: i64) {
        self.world().tree.now_ms = now_ms;
    }

    // Crashes.

    /// What a power cut at this moment would leave, as a new disk without faults, trace or hook.
    ///
    /// What was synced is there; of the rest, a subset that the seed chooses: sectors of 512
    /// bytes, sizes, and names, each by itself.
    #[must_use]
    pub fn crash_clone(&self, seed: u64) -> Self {
        // A crash only fails if the tree mentions what it does not hold, and then an empty disk
        // makes any test fail that looks at it.
        let tree = crash::crash(&self.world().tree, seed).unwrap_or_else(|_| Tree::new());
        Self::with(tree)
    }

    /// What the death of the process at this moment would leave: everything it had written,
    /// synced or not, without its handles and locks.
    #[must_use]
    pub fn kill_clone(&self) -> Self {
        let mut tree = self.world().tree.clone();
        tree.close_all();
        Self::with(tree)
    }

    // Watching.

    /// Starts to record what is done.
    pub fn record_trace(&self) {
        self.world().trace.start();
    }

    /// What was done since [`record_trace`](Self::record_trace), oldest first.
    #[must_use]
    pub fn trace(&self) -> Vec<DiskCall> {
        self.world().trace.ops()
    }

    /// Writes a remark into the trace, such as that an acknowledgement was sent.
    #[cfg(test)]
    pub(crate) fn mark(&self, text: &str) {
        self.world().trace.note(|| DiskCall::Mark {
            text: text.to_owned(),
        });
    }

    /// Calls a hook after each operation, in place of any hook before. No lock is held during
    /// the call, so the hook may use the disk; operations that come while it runs call no hook.
    pub fn after_each(&self, hook: Hook) {
        *self.hook() = Some(hook);
    }

    // Changes from outside. None of them counts as an operation.

    /// Creates a folder and all above it, durable at once.
    pub fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.world().tree.settle_folders(path).map(drop)
    }

    /// Writes a whole file, durable at once, with the folders above it.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.world().tree.settle_file(path, bytes)
    }

    /// The bytes of a file as a reader sees them now; `None` if there is no file.
    #[must_use]
    pub fn read_file(&self, path: &Path) -> Option<Vec<u8>> {
        let contents = self.contents(path).ok()?;
        Some(contents.to_vec())
    }

    /// The paths of all files, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.world().tree.files()
    }

    /// Flips one bit of a file, durably. Bit 0 is the lowest of the first byte.
    pub fn flip_bit(&self, path: &Path, bit: u64) -> io::Result<()> {
        let beyond = || io::Error::new(io::ErrorKind::InvalidInput, "the file ends before it");
        let mut contents = self.contents(path)?;
        let offset = usize::try_from(bit / 8).map_err(|_| beyond())?;
        let mut byte = [0];
        if contents.read_at(offset, &mut byte) == 0 {
            return Err(beyond());
        }
        contents.write_at(offset, &[byte[0] ^ (1 << (bit % 8))]);
        self.overwrite(path, contents)
    }

    /// Cuts a file, durably.
    pub fn truncate(&self, path: &Path, size_bytes: u64) -> io::Result<()> {
        let mut contents = self.contents(path)?;
        let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        contents.set_size(size.min(contents.size()));
        self.overwrite(path, contents)
    }

    fn contents(&self, path: &Path) -> io::Result<Contents> {
        let world = self.world();
        let id = world.tree.find(path)?;
        Ok(world.tree.file(id)?.live().clone())
    }

    fn overwrite(&self, path: &Path, contents: Contents) -> io::Result<()> {
        let mut world = self.world();
        let id = world.tree.find(path)?;
        world.tree.overwrite(id, contents)
    }

    // The way in for every operation.

    /// Runs one operation: counts it, lets a fault strike, notes it, and calls the hook.
    ///
    /// `describe` gets the result if there is one. `body` gets the fault if it is of a kind that
    /// changes the operation rather than replacing it by an error.
    pub(super) fn operate<T>(
        &self,
        class: impl FnOnce(&Tree) -> Class,
        describe: impl Fn(Option<&T>) -> DiskCall,
        body: impl FnOnce(&mut World, Option<InjectedFault>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut world = self.world();
        let gate = world.hangs.clone();
        if let Some(gate) = gate.filter(|gate| gate.holds(&describe(None))) {
            // Others use the disk meanwhile.
            drop(world);
            gate.pass();
            world = self.world();
        }
        world.operations += 1;
        let number = world.operations;
        let class = class(&world.tree);
        let fault = world.faults.strike(number, class);
        let result = match fault.and_then(InjectedFault::error) {
            Some(error) => Err(error),
            None => body(&mut world, fault),
        };
        world.trace.note(|| match &result {
            Ok(value) => describe(Some(value)),
            Err(error) => DiskCall::Failed {
                op: Box::new(describe(None)),
                kind: error.kind(),
            },
        });
        drop(world);
        self.call_hook(number);
        result
    }

    /// The hook is taken out while it runs, so that what it does to this disk cannot call it
    /// again, and put back unless it has set another.
    fn call_hook(&self, number: u64) {
        let taken = self.hook().take();
        let Some(mut hook) = taken else { return };
        hook(number, self);
        let mut slot = self.hook();
        if slot.is_none() {
            *slot = Some(hook);
        }
    }

    /// A test that panics with the lock held must not hide its reason behind a second panic.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hook(&self) -> MutexGuard<'_, Option<Hook>> {
        self.hook.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for FaultyDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FaultyDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyDisk").finish_non_exhaustive()
    }
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let (id, handle) = self.operate(
            |tree| Class::Open {
                writes: how != How::Read,
                creates: tree.would_create(path, how),
            },
            |_| DiskCall::Open {
                path: path.to_owned(),
                how,
            },
            |world, _| {
                let handle = world.next_handle;
                world.next_handle += 1;
                Ok((world.tree.open(path, how, handle)?, handle))
            },
        )?;
        Ok(Box::new(FaultyFile {
            disk: self.clone(),
            id,
            handle,
            path: path.to_owned(),
            writes: how != How::Read,
        }))
    }

    fn keep_private(&self, _: &Path) -> io::Result<u64> {
        // This world has no other users.
        Ok(0)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::CreateFolder,
            |_| DiskCall::CreateFolder { path: path_buf() },
            |world, _| world.tree.create_folder(path),
        )
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::SyncFolder,
            |_| DiskCall::SyncFolder { path: path_buf() },
            |world, _| world.tree.sync_folder(path),
        )
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate(
            |_| Class::Rename,
            |_| DiskCall::Rename {
                from: from.to_owned(),
                to: to.to_owned(),
            },
            |world, _| world.tree.rename(from, to),
        )
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate(
            |_| Class::Link,
            |_| DiskCall::Link {
                from: from.to_owned(),
                to: to.to_owned(),
            },
            |world, _| world.tree.link(from, to),
        )
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::Remove,
            |_| DiskCall::RemoveFile { path: path_buf() },
            |world, _| world.tree.remove_file(path),
        )
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::Remove,
            |_| DiskCall::RemoveFolder { path: path_buf() },
            |world, _| world.tree.remove_folder(path),
        )
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::List,
            |_| DiskCall::List { path: path_buf() },
            |world, _| world.tree.list(path),
        )
    }

    fn about(&self, path: &Path) -> io::Result<About> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::Ask,
            |_| DiskCall::About { path: path_buf() },
            |world, _| world.tree.about(path),
        )
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let path_buf = || path.to_owned();
        self.operate(
            |_| Class::Ask,
            |_| DiskCall::FreeBytes { path: path_buf() },
            |world, _| {
                world.tree.find(path)?;
                Ok(world.tree.free_bytes())
            },
        )
    }
}
