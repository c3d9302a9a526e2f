//! Forking a flow: a new one whose journal begins with a part of another's.
//!
//! The part is shared, not copied: every segment up to the cut gets a second name in the fork's
//! folder, and the fork's own first segment says which record of them is the last that counts.
//! The parent is only read, except that a sync of its journal that fails is noted there. A file
//! system without hard links costs a copy of the same bytes.
//!
//! A fork is made in a folder that is not a flow's yet. It gets its name in one step, when
//! everything in it is durable and was read back, so that there is no half of one, however its
//! making ends.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use a_society_facts::fact::flow::FlowForked;
use a_society_facts::fact::turn::CallEnd;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{CallId, FlowId, Seq, TurnId};
use a_society_facts::legal::legal;
use a_society_facts::line::Body;
use a_society_facts::view::Views;
use a_society_facts::{At, Fact, Hash, Recorded};
use rustix::io::Errno;

use crate::disk::{Disk, How, Kind};
use crate::error::Error;
use crate::files::{append_all, make_folders, read_full, sync_folder, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::journal::append::begin_fork;
use crate::journal::recover::doubt;
use crate::journal::scan::{Known, Outcome, Position, scan};
use crate::layout::{COMING, FlowFolder};
use crate::limits::FORK_NAME_BYTES_MAX;
use crate::open::fold_all;
use crate::retention::remove_tree;
use crate::store::Store;

/// Files are copied in pieces of this size, where they cannot be shared.
const PIECE_BYTES: usize = 256 * 1024;

/// A flow as it was at one record.
#[derive(Debug)]
pub struct Cut {
    /// The flow.
    pub parent: FlowRef,
    /// The record, which is the last one that counts.
    pub at: Position,
    /// When it was recorded.
    pub recorded_at: At,
    /// Everything folded up to it.
    pub views: Views,
    /// The files that were handed over by then, each as it last was, and by which record.
    pub handed: BTreeMap<String, (Seq, Artifact)>,
    /// The calls that changed a file by then, in their order.
    pub written: Vec<Written>,
    /// The calls that were over by then.
    pub over: BTreeSet<CallId>,
    /// The last record there is.
    pub last: Seq,
    blobs: BTreeMap<Hash, u64>,
    quarantine: BTreeSet<String>,
    /// Segments that are shared already, because the flow is a fork itself.
    shared_ends: Vec<Position>,
}

/// The path of a file, where a call changes several, and its hash after it.
type FileAfter = (Option<String>, Option<Hash>);

/// A call that changed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The record that says that it was done.
    pub seq: Seq,
    /// The tool that was asked for it.
    pub tool: String,
    /// What was asked for, as JSON.
    pub arguments: String,
    /// Which of the files it changed, where it changed several.
    pub file: Option<String>,
    /// The hash of the file from then on; nothing if it was removed.
    pub after: Option<Hash>,
}

impl Cut {
    /// How many blobs are named up to the cut.
    #[must_use]
    pub fn blobs(&self) -> usize {
        self.blobs.len()
    }
}

/// What a file of a fork's record folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The bytes of a blob that is named up to the cut.
    Blob(Hash),
    /// What the file of the same name in the parent's record folder holds, which never changes.
    Same,
}

/// A file of a fork's record folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkedFile {
    /// Its path, relative to the record folder.
    pub path: String,
    /// Its contents.
    pub holds: Holds,
}

/// Folds a flow up to one of its records, or up to the last good one. Nothing is changed, and it
/// works beside the process that writes the flow; what is damaged after the cut does not matter.
///
/// # Errors
/// When there is no such flow or no such record, or when nothing of the flow had begun by then.
pub fn cut(store: &Store, parent: &FlowRef, at: Option<Seq>) -> Result<Cut, Error> {
    let (disk, folder) = (store.disk(), store.folder(parent));
    store.look(parent)?;
    let mut gathered = GatheredFork::default();
    let known = Known {
        flow: &parent.flow,
        evidence: 0,
        from: None,
    };
    let found = scan(disk, &folder, known, &mut |recorded, _, position| {
        gathered.last = recorded.seq;
        if at.is_none_or(|at| recorded.seq <= at) {
            gathered.hear(recorded, position)?;
        }
        Ok(())
    });
    let refuse = |at: Seq, why: String| Err(Error::NotForkable { at, why });
    let wanted = at.unwrap_or(gathered.last);
    let Some((position, recorded_at)) = gathered.end.filter(|(end, _)| end.seq == wanted) else {
        let why = match found.outcome {
            Outcome::Damaged(damage) => damage.to_string(),
            Outcome::Clean | Outcome::Blank | Outcome::Torn(_) if wanted == 0 => {
                format!("records begin at 1, and its last one is {}", gathered.last)
            }
            Outcome::Clean | Outcome::Blank | Outcome::Torn(_) => {
                format!("its last record is {}", gathered.last)
            }
        };
        return refuse(wanted, why);
    };
    if !gathered.views.flow.is_created() {
        return refuse(wanted, "nothing of it had begun by then".to_owned());
    }
    let inherited = found.shared_ends.into_iter();
    Ok(Cut {
        parent: parent.clone(),
        at: position,
        recorded_at,
        views: gathered.views,
        handed: gathered.handed,
        written: gathered.written,
        over: gathered.over,
        last: gathered.last,
        blobs: gathered.blobs,
        quarantine: gathered.quarantine,
        shared_ends: inherited.filter(|end| end.seq <= wanted).collect(),
    })
}

#[derive(Default)]
struct GatheredFork {
    views: Views,
    handed: BTreeMap<String, (Seq, Artifact)>,
    written: Vec<Written>,
    over: BTreeSet<CallId>,
    /// What answers ask for and is not done, by its turn and its id in the transcript.
    asked: BTreeMap<(TurnId, String), String>,
    /// What each call that is not over would leave of its file.
    intended: BTreeMap<CallId, Vec<FileAfter>>,
    blobs: BTreeMap<Hash, u64>,
    quarantine: BTreeSet<String>,
    end: Option<(Position, At)>,
    last: Seq,
}

impl GatheredFork {
    fn hear(&mut self, recorded: &Recorded, position: Position) -> Result<(), String> {
        if let Body::Known(fact) = &recorded.body {
            legal(&self.views.flow, fact).map_err(|illegal| illegal.to_string())?;
            self.quarantine.extend(fact.quarantine().map(str::to_owned));
            fact.each_blob(&mut |hash, bytes| {
                self.blobs.insert(hash, bytes);
            });
            for artifact in fact.artifacts() {
                let kept = (recorded.seq, artifact.clone());
                self.handed.insert(artifact.path.clone(), kept);
            }
            self.watch(recorded.seq, fact);
        }
        self.views.apply(recorded);
        self.end = Some((position, recorded.at));
        Ok(())
    }

    /// Notes what calls do to files.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts say nothing about the files that calls change"
    )]
    fn watch(&mut self, seq: Seq, fact: &Fact) {
        match fact {
            Fact::ModelAnswered(answer) => {
                for call in &answer.calls {
                    let asked = (answer.turn, call.id.clone());
                    self.asked.insert(asked, call.input.get().to_owned());
                }
            }
            Fact::CallIntended(call) => {
                let one = call.after.map(|after| (None, Some(after)));
                let each = call.files.iter();
                let each = each.map(|file| (Some(file.path.clone()), file.after));
                let files: Vec<FileAfter> = one.into_iter().chain(each).collect();
                if !files.is_empty() {
                    self.intended.insert(call.call.clone(), files);
                }
            }
            Fact::CallFinished(call) => {
                self.over.insert(call.call.clone());
                let asked = self.asked.remove(&(call.turn, call.tool_call.clone()));
                let after = self.intended.remove(&call.call);
                let done = matches!(call.end, CallEnd::Done | CallEnd::Recovered);
                if let (Some(arguments), Some(files), true) = (asked, after, done) {
                    self.written
                        .extend(files.into_iter().map(|(file, after)| Written {
                            seq,
                            tool: call.tool.clone(),
                            arguments: arguments.clone(),
                            file,
                            after,
                        }));
                }
            }
            _ => {}
        }
    }
}

/// Makes a fork; it is durable on return.
///
/// # Errors
/// When the flow is there already, its name is too long, what is shared went away meanwhile, or
/// the file system refuses. There is no fork then.
pub fn make(
    store: &Store,
    cut: &Cut,
    id: FlowId,
    name: Option<String>,
    record: &[ForkedFile],
) -> Result<FlowRef, Error> {
    store.must_be_files("a fork")?;
    let disk = store.disk();
    let fork = FlowRef {
        project: cut.parent.project.clone(),
        flow: id,
    };
    if name
        .as_ref()
        .is_some_and(|name| name.len() > FORK_NAME_BYTES_MAX)
    {
        let why = format!("its name is longer than {FORK_NAME_BYTES_MAX} bytes");
        return Err(Error::NotForkable {
            at: cut.at.seq,
            why,
        });
    }
    if uninterrupted(|| disk.about(store.folder(&fork).root())).is_ok() {
        return Err(Error::Exists(fork.flow));
    }
    let coming = store.root().join(format!("{COMING}{}", fork.flow));
    let made = build(store, cut, &fork, name, record, &coming)
        .and_then(|()| name_it(store, &fork, &coming));
    if made.is_err() && uninterrupted(|| disk.about(&coming)).is_ok() {
        // What cannot be removed now goes with the next removal of flows that are over.
        drop(remove_tree(disk, &coming, 0));
    }
    made.map(|()| fork)
}

fn build(
    store: &Store,
    cut: &Cut,
    fork: &FlowRef,
    name: Option<String>,
    record: &[ForkedFile],
    coming: &Path,
) -> Result<(), Error> {
    let (disk, parent) = (store.disk(), store.folder(&cut.parent));
    let folder = FlowFolder::at(coming.to_owned());
    make_folders(disk, &folder.journal())?;
    share_journal(disk, cut, &parent, &folder)?;
    let forked = FlowForked {
        parent: cut.parent.flow.clone(),
        at_seq: cut.at.seq,
        name,
    };
    let now = store.ground().clock.now();
    let end = begin_fork(disk, &folder, &fork.flow, now, cut.at, forked)?;
    let blobs = cut.blobs.keys().map(ToString::to_string);
    share_all(disk, blobs, &parent.blobs(), &folder.blobs())?;
    let kept = cut.quarantine.iter().cloned();
    share_all(disk, kept, &parent.quarantine(), &folder.quarantine())?;
    make_folders(disk, &folder.record())?;
    for file in record {
        put(disk, &folder, &parent, file)?;
    }
    let (_, found) = fold_all(disk, &folder, &fork.flow);
    if found.outcome == Outcome::Clean && found.end == Some(end) {
        return Ok(());
    }
    let why = match found.outcome {
        Outcome::Damaged(damage) => damage.to_string(),
        Outcome::Clean | Outcome::Blank | Outcome::Torn(_) => {
            "what it would share changed while it was made".to_owned()
        }
    };
    Err(Error::NotForkable {
        at: cut.at.seq,
        why,
    })
}

/// Gives a flow that is whole its name.
pub(crate) fn name_it(store: &Store, fork: &FlowRef, coming: &Path) -> Result<(), Error> {
    let (disk, target) = (store.disk(), store.folder(fork));
    let project = store.root().join(fork.project.as_str());
    make_folders(disk, &project)?;
    uninterrupted(|| disk.rename(coming, target.root()))
        .map_err(|e| Error::io("name", target.root(), e))?;
    sync_folder(disk, &project)?;
    sync_folder(disk, store.root())
}

fn share_journal(
    disk: &dyn Disk,
    cut: &Cut,
    parent: &FlowFolder,
    folder: &FlowFolder,
) -> Result<(), Error> {
    for number in 1..=cut.at.segment {
        let mut ends = cut.shared_ends.iter().chain([&cut.at]);
        let end = ends.find(|end| end.segment == number);
        let end = end.map(|end| end.offset_bytes);
        let (from, to) = (parent.segment(number), folder.segment(number));
        share(disk, &from, &to, end)?;
        if number == cut.at.segment {
            settle(disk, parent, &from, &to, end)?;
        }
    }
    // The names are synced together with the one of the fork's own first segment.
    Ok(())
}

/// Makes the segment that was cut as durable as those before it: its writer may not have synced
/// all of it yet. After a failed sync of its own, what is read of it is written anew.
fn settle(
    disk: &dyn Disk,
    parent: &FlowFolder,
    from: &Path,
    to: &Path,
    end: Option<u64>,
) -> Result<(), Error> {
    let mut file =
        uninterrupted(|| disk.open(to, How::Read)).map_err(|e| Error::io("open", to, e))?;
    file.sync().map_err(|e| {
        // The system would not report it to the next process that opens the parent.
        doubt(disk, parent);
        Error::io("sync", to, e)
    })?;
    match uninterrupted(|| disk.about(&parent.doubt())) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("look at", &parent.doubt(), error)),
        Ok(_) => {
            uninterrupted(|| disk.remove_file(to)).map_err(|e| Error::io("remove", to, e))?;
            copy(disk, from, to, end)
        }
    }
}

/// Shares the files of a folder that are still there. What is missing is reported when the fork is
/// opened, as for any flow.
fn share_all(
    disk: &dyn Disk,
    names: impl Iterator<Item = String>,
    from: &Path,
    to: &Path,
) -> Result<(), Error> {
    let mut any = false;
    for name in names {
        let file = from.join(&name);
        match uninterrupted(|| disk.about(&file)) {
            Ok(about) if about.kind == Kind::File => {}
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("look at", &file, error)),
        }
        if !any {
            make_folders(disk, to)?;
            any = true;
        }
        share(disk, &file, &to.join(&name), None)?;
    }
    if any { sync_folder(disk, to) } else { Ok(()) }
}

/// Gives a file a second name, or copies it up to an end where there are no such names.
fn share(disk: &dyn Disk, from: &Path, to: &Path, end: Option<u64>) -> Result<(), Error> {
    match uninterrupted(|| disk.link(from, to)) {
        Ok(()) => Ok(()),
        Err(error) if has_no_links(&error) => copy(disk, from, to, end),
        Err(error) => Err(Error::io("share", from, error)),
    }
}

fn has_no_links(error: &io::Error) -> bool {
    let refusals = [
        Errno::PERM,
        Errno::OPNOTSUPP,
        Errno::NOSYS,
        Errno::XDEV,
        Errno::MLINK,
    ];
    let code = error.raw_os_error();
    refusals.iter().any(|no| code == Some(no.raw_os_error()))
}

pub(crate) fn copy(disk: &dyn Disk, from: &Path, to: &Path, end: Option<u64>) -> Result<(), Error> {
    let reading = |e| Error::io("read", from, e);
    let writing = |e| Error::io("write", to, e);
    let source = uninterrupted(|| disk.open(from, How::Read)).map_err(reading)?;
    let size = uninterrupted(|| source.size_bytes()).map_err(reading)?;
    let end = end.map_or(size, |end| end.min(size));
    let mut file = uninterrupted(|| disk.open(to, How::CreateNew)).map_err(writing)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut done = 0;
    while done < end {
        let wanted = usize::try_from(end - done).map_or(PIECE_BYTES, |left| left.min(PIECE_BYTES));
        let read = read_full(source.as_ref(), done, &mut piece[..wanted]).map_err(reading)?;
        if read == 0 {
            return Err(reading(io::ErrorKind::UnexpectedEof.into()));
        }
        append_all(file.as_mut(), &piece[..read]).map_err(writing)?;
        done += read as u64;
    }
    uninterrupted(|| file.sync()).map_err(writing)
}

/// Writes a file of the record folder. Roles may change it later, so it shares nothing.
fn put(
    disk: &dyn Disk,
    folder: &FlowFolder,
    parents: &FlowFolder,
    file: &ForkedFile,
) -> Result<(), Error> {
    let relative = PathBuf::from(&file.path);
    let mut parts = relative.components();
    let plain = parts.all(|part| matches!(part, Component::Normal(_)));
    let path = folder.record().join(&relative);
    if !plain || file.path.is_empty() || file.path.contains('\0') {
        let what = "leads out of the record folder".to_owned();
        return Err(Error::Unfit { path, what });
    }
    let parent = path.parent().unwrap_or(folder.root());
    make_folders(disk, parent)?;
    match &file.holds {
        Holds::Blob(hash) => copy(disk, &folder.blob(*hash), &path, None)?,
        Holds::Same => share(disk, &parents.record().join(&relative), &path, None)?,
        Holds::Bytes(bytes) => {
            let mut made = uninterrupted(|| disk.open(&path, How::CreateNew))
                .map_err(|e| Error::io("create", &path, e))?;
            append_all(made.as_mut(), bytes).map_err(|e| Error::io("write", &path, e))?;
            uninterrupted(|| made.sync()).map_err(|e| Error::io("sync", &path, e))?;
        }
    }
    sync_folder(disk, parent)
}
