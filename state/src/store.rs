//! The folder that holds all flows of a workspace: create, open, look at, list, find.

use std::io;
use std::path::{Path, PathBuf};

use a_society_facts::Fact;
use a_society_facts::fact::flow::FlowCreated;
use a_society_facts::id::{FlowId, ProjectName, Seq};
use a_society_facts::legal::legal;
use a_society_facts::view::flow::FlowState;

use crate::atomic::replace;
use crate::checkpoint;
use crate::copy::{JournalCopy, settle};
use crate::disk::{Disk, Entry, Kind};
use crate::error::Error;
use crate::files::{make_folders, uninterrupted};
use crate::flow::Flow;
use crate::flow_ref::FlowRef;
use crate::foreign::is_foreign;
use crate::ground::Ground;
use crate::journal::follow::Follower;
use crate::journal::scan::Position;
use crate::layout::FlowFolder;
use crate::ledger::LedgerError;
use crate::limits::LEDGER_PAGE;
use crate::lock::FlowLock;
use crate::look::{Look, look};
use crate::open::{OpenReport, open};
use crate::place::FlowPlace;

/// The name of the folder in a workspace that is ours.
pub const OUR_FOLDER: &str = ".a-society";

/// All flows of one workspace.
#[derive(Debug, Clone)]
pub struct Store {
    ground: Ground,
    root: PathBuf,
}

/// A folder among the flows that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Where.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Every flow of a store, and whatever else is in its folders.
#[derive(Debug, Clone, Default)]
pub struct Census {
    /// The flows, by project and id.
    pub flows: Vec<FlowRef>,
    /// What is no flow.
    pub strangers: Vec<Stranger>,
}

impl Store {
    /// The flows under a state root, such as `.a-society/state`.
    #[must_use]
    pub const fn new(ground: Ground, root: PathBuf) -> Self {
        Self { ground, root }
    }

    /// The state root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The disk, the clock and the process this store works with.
    #[must_use]
    pub const fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Closes the state to everybody but its owner, where an earlier version or a copy left it open, and
    /// says how many names that changed; nothing on all but the first call. A workspace that was made by hand gets the
    /// file by which `git` leaves it alone.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_private(&self) -> Result<u64, Error> {
        let private = |folder: &Path| {
            uninterrupted(|| self.disk().keep_private(folder))
                .map_err(|e| Error::io("make private", folder, e))
        };
        let closed = private(&self.root)?;
        // The folder around it has the address and the token of a server. It is not counted: its mode alone opens no
        // session to others.
        if let Some(ours) = self.root.parent().filter(|it| it.ends_with(OUR_FOLDER)) {
            private(ours)?;
            // A workspace that its user can only read, or one on a full disk, does without.
            ignore(self.disk(), ours).ok();
        }
        Ok(closed)
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.ground.disk.as_ref()
    }

    /// The folder of a flow.
    #[must_use]
    pub fn folder(&self, flow: &FlowRef) -> FlowFolder {
        FlowFolder::of(&self.root, &flow.project, &flow.flow)
    }

    /// A flow as the floors above ask for its texts, its record and its holder.
    #[must_use]
    pub fn place(&self, flow: &FlowRef) -> FlowPlace {
        FlowPlace::new(&self.ground, self.folder(flow), flow.clone())
    }

    /// Makes a flow; its first facts are durable on return.
    ///
    /// # Errors
    /// When it exists already, cannot be, or the file system refuses.
    pub fn create(&self, id: FlowId, created: FlowCreated) -> Result<Flow, Error> {
        let flow = FlowRef {
            project: created.project.clone(),
            flow: id,
        };
        let created = Fact::FlowCreated(created);
        // Validate before creating files.
        legal(&FlowState::default(), &created).map_err(|illegal| Error::Illegal {
            seq: 1,
            why: illegal.to_string(),
        })?;
        let folder = self.folder(&flow);
        if let Some(access) = &self.ground.ledger
            && access.ledger.entry(&flow)?.is_some()
        {
            return Err(Error::Exists(flow.flow));
        }
        match uninterrupted(|| self.disk().about(&folder.journal())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(_) => return Err(Error::Exists(flow.flow)),
            Err(error) => return Err(Error::io("look at", folder.root(), error)),
        }
        make_folders(self.disk(), folder.root())?;
        let (mut opened, _) = open(&self.ground, folder, flow.project, flow.flow)?;
        opened.append_durably(created)?;
        Ok(opened)
    }

    /// Makes a flow whose id says what it is for, so that it is made once; nothing if it is there. One that a process
    /// began to make, which ended before anything was recorded, is made now.
    ///
    /// # Errors
    /// When another process writes it, it cannot be, or the file system refuses.
    pub fn create_once(&self, id: FlowId, created: FlowCreated) -> Result<Option<Flow>, Error> {
        let project = created.project.clone();
        let flow = FlowRef {
            project: project.clone(),
            flow: id.clone(),
        };
        self.must_be_ours(&flow)?;
        let folder = self.folder(&flow);
        make_folders(self.disk(), folder.root())?;
        let (mut opened, _) = open(&self.ground, folder, project, id)?;
        if opened.views().flow.is_created() {
            opened.close()?;
            return Ok(None);
        }
        opened.append_durably(Fact::FlowCreated(created))?;
        Ok(Some(opened))
    }

    /// Opens a flow for writing, which is also its recovery.
    ///
    /// # Errors
    /// When another process writes it, its journal is damaged, or the file system refuses.
    pub fn open(&self, flow: &FlowRef) -> Result<(Flow, OpenReport), Error> {
        // Nothing may be put beside what is another program's, not even a lock.
        self.must_be_ours(flow)?;
        open(
            &self.ground,
            self.folder(flow),
            flow.project.clone(),
            flow.flow.clone(),
        )
    }

    /// Refuses a flow that another program keeps and that was not imported.
    ///
    /// # Errors
    /// When it is such a flow.
    pub fn must_be_ours(&self, flow: &FlowRef) -> Result<(), Error> {
        if is_foreign(self.disk(), &self.folder(flow)) {
            return Err(Error::Foreign(flow.flow.clone()));
        }
        Ok(())
    }

    /// Looks at a flow without a lock and without changing anything.
    ///
    /// # Errors
    /// When there is no such flow.
    pub fn look(&self, flow: &FlowRef) -> Result<Look, Error> {
        self.must_exist(flow)?;
        let mut seen = look(self.disk(), &self.folder(flow), &flow.flow);
        if self.ground.ledger.is_some() {
            seen.held_by = self.place(flow).holder()?;
        }
        Ok(seen)
    }

    /// Reads a flow's journal from its beginning, while its driver may be writing it.
    ///
    /// # Errors
    /// When there is no such flow.
    pub fn follow(&self, flow: &FlowRef) -> Result<Follower, Error> {
        self.must_exist(flow)?;
        Ok(self.follow_after(flow, None))
    }

    /// Reads a flow's journal from the record after this one, or from its beginning.
    #[must_use]
    pub fn follow_after(&self, flow: &FlowRef, end: Option<Position>) -> Follower {
        let disk = std::sync::Arc::clone(&self.ground.disk);
        let (folder, id) = (self.folder(flow), flow.flow.clone());
        let follower = match end {
            Some(end) => Follower::after(disk, folder, id, end),
            None => Follower::new(disk, folder, id),
        };
        match &self.ground.ledger {
            Some(access) => follower.within(std::sync::Arc::clone(&access.ledger), flow.clone()),
            None => follower,
        }
    }

    /// Reads a flow's journal from no later than a record: from the checkpoint if that suffices, because then
    /// the journal before it need not be read.
    ///
    /// # Errors
    /// When there is no such flow.
    pub fn follow_since(&self, flow: &FlowRef, since: Seq) -> Result<Follower, Error> {
        self.must_exist(flow)?;
        let folder = self.folder(flow);
        let kept = (since > 1)
            .then(|| checkpoint::read(self.disk(), &folder, &flow.flow))
            .flatten()
            .filter(|kept| kept.position.seq < since);
        Ok(self.follow_after(flow, kept.map(|kept| kept.position)))
    }

    fn must_exist(&self, flow: &FlowRef) -> Result<(), Error> {
        let folder = self.folder(flow);
        self.refresh(flow)?;
        match uninterrupted(|| self.disk().about(folder.root())) {
            Ok(about) if about.kind == Kind::Folder => self.must_be_ours(flow),
            Ok(_) => Err(Error::NoFlow(flow.flow.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::NoFlow(flow.flow.to_string()))
            }
            Err(error) => Err(Error::io("look at", folder.root(), error)),
        }
    }

    /// Every flow there is.
    ///
    /// # Errors
    /// When the state root cannot be listed. That it is not there means that there is no flow.
    pub fn census(&self) -> Result<Census, Error> {
        let mut census = Census::default();
        for (name, path, kind) in self.entries(&self.root)? {
            // Names that begin so are never flows: half-imported and half-pruned ones, and chats.
            if name.starts_with(['.', '_']) {
                continue;
            }
            let project: Result<ProjectName, _> = name.parse();
            match project {
                Ok(project) if kind == Kind::Folder => self.project(&project, &path, &mut census),
                Ok(_) => census.stranger(path, "is not a folder"),
                Err(bad) => census.stranger(path, &bad.to_string()),
            }
        }
        census.flows.extend(self.flows_of_ledger()?);
        census.flows.sort();
        census.flows.dedup();
        Ok(census)
    }

    /// Every flow that the ledger has.
    fn flows_of_ledger(&self) -> Result<Vec<FlowRef>, Error> {
        let mut flows: Vec<FlowRef> = Vec::new();
        let Some(access) = &self.ground.ledger else {
            return Ok(flows);
        };
        loop {
            let page = access.ledger.flows(flows.last(), LEDGER_PAGE)?;
            let is_last = page.len() < LEDGER_PAGE;
            flows.extend(page.into_iter().map(|entry| entry.flow));
            if is_last {
                return Ok(flows);
            }
        }
    }

    /// Fetches what other workers appended, unless a process of this machine writes the flow, which keeps the copy
    /// up to date itself. Without a ledger there is nothing to fetch.
    ///
    /// # Errors
    /// When the ledger fails, or the file system refuses.
    pub fn refresh(&self, flow: &FlowRef) -> Result<(), Error> {
        let Some(access) = &self.ground.ledger else {
            return Ok(());
        };
        if access.ledger.entry(flow)?.is_none() {
            return Ok(());
        }
        let folder = self.folder(flow);
        make_folders(self.disk(), folder.root())?;
        let _lock = match FlowLock::take(self.disk(), &folder, &self.ground.process) {
            Err(Error::Busy { .. }) => return Ok(()),
            taken => taken?,
        };
        let copy = JournalCopy {
            disk: self.disk(),
            folder: &folder,
            flow,
        };
        settle(copy, access.ledger.as_ref()).map(drop)
    }

    /// Refuses what works on the files of flows alone, where a ledger holds them.
    ///
    /// # Errors
    /// When a ledger does.
    pub(crate) fn must_be_files(&self, doing: &str) -> Result<(), Error> {
        let Some(access) = &self.ground.ledger else {
            return Ok(());
        };
        let name = access.ledger.about().name;
        let why =
            format!("{doing} works on flows that are kept in files, and these are kept in {name}");
        Err(Error::Ledger(LedgerError::Refused { why }))
    }

    fn project(&self, project: &ProjectName, path: &Path, census: &mut Census) {
        let entries = match self.entries(path) {
            Ok(entries) => entries,
            Err(error) => return census.stranger(path.to_owned(), &error.to_string()),
        };
        for (name, path, kind) in entries {
            if name.starts_with(['.', '_']) {
                continue;
            }
            let flow: Result<FlowId, _> = name.parse();
            match flow {
                Ok(flow) if kind == Kind::Folder => {
                    census.flows.push(FlowRef {
                        project: project.clone(),
                        flow,
                    });
                }
                Ok(_) => census.stranger(path, "is not a folder"),
                Err(bad) => census.stranger(path, &bad.to_string()),
            }
        }
    }

    fn entries(&self, path: &Path) -> Result<Vec<(String, PathBuf, Kind)>, Error> {
        match uninterrupted(|| self.disk().list(path)) {
            Ok(entries) => Ok(entries
                .into_iter()
                .map(|entry| {
                    let full = path.join(&entry.name);
                    (entry.name, full, entry.kind)
                })
                .collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io("list", path, error)),
        }
    }

    /// The one flow whose id has this prefix, or that is named as `project/id`. The part after the dash
    /// alone is enough, because it is what people remember.
    ///
    /// # Errors
    /// When there is none or more than one.
    pub fn find(&self, prefix: &str) -> Result<FlowRef, Error> {
        if let Some((project, _)) = prefix.rsplit_once('/') {
            project.parse::<ProjectName>()?;
        }
        let mut found: Vec<FlowRef> = self
            .census()?
            .flows
            .into_iter()
            .filter(|flow| flow.is_named(prefix))
            .collect();
        match found.len() {
            0 => Err(Error::NoFlow(prefix.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(Error::Ambiguous {
                prefix: prefix.to_owned(),
                candidates: found.iter().take(10).map(ToString::to_string).collect(),
            }),
        }
    }
}

impl Census {
    fn stranger(&mut self, path: PathBuf, why: &str) {
        self.strangers.push(Stranger {
            path,
            why: why.to_owned(),
        });
    }
}

/// The file by which `git` leaves a workspace's own folder alone.
const IGNORE_FILE: &str = ".gitignore";

/// The files of a workspace's own folder that belong to this machine. People keep skills beside them.
const MACHINES_OWN: [&str; 2] = ["state", "server.json"];

/// Makes a folder that is there a workspace, for its owner alone and out of sight of `git`.
///
/// # Errors
/// When the file system refuses.
pub fn make_workspace(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    let ours = folder.join(OUR_FOLDER);
    match uninterrupted(|| disk.create_folder(&ours)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io("make", &ours, error));
        }
        Ok(()) | Err(_) => {}
    }
    ignore(disk, &ours)
}

/// Writes the file for `git`, unless there is one: everything is left out, or, where people keep things
/// of their own, what is this machine's.
fn ignore(disk: &dyn Disk, ours: &Path) -> Result<(), Error> {
    let path = ours.join(IGNORE_FILE);
    match uninterrupted(|| disk.about(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("look at", &path, error)),
        Ok(_) => return Ok(()),
    }
    let listed = uninterrupted(|| disk.list(ours)).map_err(|e| Error::io("list", ours, e))?;
    let is_machines = |entry: &Entry| MACHINES_OWN.contains(&entry.name.as_str());
    let lines = if listed.iter().all(is_machines) {
        "*\n".to_owned()
    } else {
        MACHINES_OWN.map(|name| format!("/{name}\n")).concat()
    };
    replace(disk, &path, lines.as_bytes())
}

/// The state root of the workspace that holds a folder: the nearest one above it that holds
/// `.a-society`, as `git` finds `.git`.
///
/// # Errors
/// When the file system cannot say.
pub fn find_root(disk: &dyn Disk, from: &Path) -> Result<Option<PathBuf>, Error> {
    for folder in from.ancestors() {
        let ours = folder.join(OUR_FOLDER);
        match uninterrupted(|| disk.about(&ours)) {
            Ok(about) if about.kind == Kind::Folder => return Ok(Some(ours.join("state"))),
            Ok(_) => {
                let what = "is in the way: a folder is wanted here".to_owned();
                return Err(Error::Unfit { path: ours, what });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("look at", &ours, error)),
        }
    }
    Ok(None)
}
