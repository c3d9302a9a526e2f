//! Forking a flow: what a fork would carry and what not, and making it.
//!
//! The plan is what the operator is shown, by the command line and by the page alike; making the
//! fork does exactly what it says. Nothing of the parent changes, also while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::turn::Cause;
use a_society_facts::handoff::Artifact;
use a_society_facts::id::{CallId, RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::{CallState, OpenTurn};
use a_society_facts::{At, Hash};
use a_society_roles::port::{RecordAccess, RecordPath};
use a_society_roles::tool::{RequestedChange, requested_changes};
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::read_whole;
use a_society_state::fork::{self, Cut, ForkedFile, Holds, Written};
use a_society_state::{FlowPlace, FlowRef, Store};

use crate::driver::error::DriverError;
use crate::limits::{ARTIFACT_BYTES_MAX, RECORD_DEPTH_MAX, RECORD_FILES_MAX, RECORD_NAMES_SHOWN};
use crate::mint::{self, Mint};
use crate::project::files::RecordFolder;
use crate::project::flow_file::{SCRIPT_NAME, SNAPSHOT_NAME};
use crate::record::{KEPT_REQUEST, OUTPUTS, named_in_record};
use crate::run::RunError;

/// The options of a fork.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// The last record it shares; the last one there is if absent.
    pub at: Option<Seq>,
    /// What it is called; as its parent if absent.
    pub name: Option<String>,
}

/// The receiver of the first message to a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForkHearer {
    /// A role that waits for a message.
    Waits(RoleInstance),
    /// A role whose turn was under way; it gets the message with its next one.
    Works(RoleInstance),
}

/// What a fork would be.
#[derive(Debug)]
pub struct PlannedFork {
    cut: Cut,
    name: Option<String>,
    record: Vec<ForkedFile>,
    /// What it carries, a sentence each.
    pub carried: Vec<String>,
    /// What it does not carry, a sentence each.
    pub not_carried: Vec<String>,
}

impl PlannedFork {
    /// The flow it comes from.
    #[must_use]
    pub const fn parent(&self) -> &FlowRef {
        &self.cut.parent
    }

    /// The last record it shares.
    #[must_use]
    pub const fn at(&self) -> Seq {
        self.cut.at.seq
    }

    /// When that was recorded.
    #[must_use]
    pub const fn recorded_at(&self) -> At {
        self.cut.recorded_at
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        let own = &self.cut.views.flow.title;
        self.name.as_ref().unwrap_or(own)
    }

    /// The receiver of a first message.
    #[must_use]
    pub fn hearer(&self) -> Option<ForkHearer> {
        hearer_of(&self.cut.views.flow)
    }
}

/// The receiver of a message to a flow without a driver: the first role that waits for a message, else
/// the first whose turn was interrupted.
#[must_use]
pub fn hearer_of(state: &FlowState) -> Option<ForkHearer> {
    let mut waits = state.waits().map(|(_, waiting)| waiting);
    let waits = waits.find(|waiting| hears_words(waiting.reason));
    let waits = waits.map(|waiting| ForkHearer::Waits(waiting.role.clone()));
    waits.or_else(|| {
        let mut turns = state.turns.values().map(|turn| &turn.role);
        let works = turns.find(|&role| state.main_turn_of(role).is_some());
        works.map(|role| ForkHearer::Works(role.clone()))
    })
}

/// Whether a wait of this kind is answered with a message.
const fn hears_words(reason: WaitReason) -> bool {
    match reason {
        WaitReason::PromptHuman
        | WaitReason::AutonomousAbort
        | WaitReason::ConsentDenied
        | WaitReason::RepairLimit
        | WaitReason::Budget
        | WaitReason::Provider
        | WaitReason::Message => true,
        WaitReason::Consent | WaitReason::RoleConfiguration | WaitReason::HandoffApproval => false,
    }
}

/// What a fork would carry, and what not. Nothing is changed.
///
/// # Errors
/// When there is no such flow or record, or a file of the flow cannot be read.
pub fn plan(
    store: &Store,
    project_folder: &Path,
    parent: &FlowRef,
    wish: Wish,
) -> Result<PlannedFork, RunError> {
    let cut = fork::cut(store, parent, wish.at)?;
    let place = store.place(parent);
    let kept = KeptRecord::of(store, project_folder, &cut)?;
    let mut carried = carried(&cut);
    let listed = kept.files.keys().map(String::as_str);
    let mut listed = listed.filter(|path| !is_output(path)).peekable();
    carried.push(match listed.peek() {
        None => "the record folder, which was empty".to_owned(),
        Some(_) => format!("the record folder as it was then: {}", some(listed)),
    });
    let mut not_carried = not_carried(&cut);
    not_carried.extend(
        kept.lost
            .iter()
            .map(|path| format!("{path}: what it held then is not kept anywhere")),
    );
    let left = left_out(&place, &kept);
    if !left.is_empty() {
        let names = some(left.iter().map(String::as_str));
        not_carried.push(format!(
            "files of the record folder that were not written or handed over by then: {names}"
        ));
    }
    let files = kept.files.into_iter();
    Ok(PlannedFork {
        cut,
        name: wish.name,
        record: files
            .map(|(path, holds)| ForkedFile { path, holds })
            .collect(),
        carried,
        not_carried,
    })
}

/// Makes the fork of a plan; it is durable on return, without a driver yet.
///
/// # Errors
/// When its name cannot be used, what it would share is gone, or the file system refuses. There is
/// no fork then.
pub fn make(
    store: &Store,
    plan: &PlannedFork,
    now: At,
    mint: &mut dyn Mint,
) -> Result<FlowRef, RunError> {
    let id = mint::flow_id(mint, now).map_err(DriverError::from)?;
    let forked = fork::make(store, &plan.cut, id, plan.name.clone(), &plan.record)?;
    // Its views only make the next listing faster.
    if let Ok((flow, _)) = store.open(&forked) {
        drop(flow.close());
    }
    Ok(forked)
}

fn carried(cut: &Cut) -> Vec<String> {
    let state = &cut.views.flow;
    let mut said = vec![format!(
        "{} of {} up to {}, shared with it",
        count(usize::try_from(cut.at.seq).unwrap_or(usize::MAX), "record"),
        cut.parent.flow,
        cut.recorded_at
    )];
    let sessions = state.sessions.iter();
    let sessions: Vec<String> = sessions
        .map(|(role, session)| {
            let messages = usize::try_from(session.messages).unwrap_or(usize::MAX);
            format!("{role} ({})", count(messages, "message"))
        })
        .collect();
    if !sessions.is_empty() {
        let names = some(sessions.iter().map(String::as_str));
        said.push(format!("sessions as they were then: {names}"));
    }
    let waits = state.waits().count() + state.consents.len() + state.staged.len();
    if waits > 0 {
        said.push(count(waits, "open question"));
    }
    said.extend(open_turns(state));
    if cut.blobs() > 0 {
        said.push(format!(
            "{} that its records name",
            count(cut.blobs(), "large text")
        ));
    }
    said
}

/// The notes about turns that were under way. They begin in the fork as after a crash. What works beside the session of
/// a role, as a compaction does, is a part of the turn that the role has open.
fn open_turns(state: &FlowState) -> Vec<String> {
    let is_own =
        |turn: &OpenTurn| !turn.cause.is_aside() || state.main_turn_of(&turn.role).is_none();
    let turns = state.turns.iter().filter(|(_, turn)| is_own(turn));
    turns
        .map(|(id, turn)| {
            let mine = state.calls.values().filter(|call| call.turn == *id);
            let started = mine.filter(|call| call.state == CallState::Started).count();
            let unknown = if started == 0 {
                String::new()
            } else {
                let (calls, them) = (
                    count(started, "call"),
                    if started == 1 { "it" } else { "them" },
                );
                format!("; {calls} had begun, and nothing runs {them} again by itself")
            };
            let what = match turn.cause {
                Cause::Compaction => "compaction of the session",
                Cause::Node | Cause::Reflection | Cause::Feedback | Cause::Selection => "turn",
            };
            format!(
                "the {what} of {}, which was under way and goes on as after a crash{unknown}",
                turn.role
            )
        })
        .collect()
}

fn not_carried(cut: &Cut) -> Vec<String> {
    let mut said = Vec::new();
    let after = cut.last.saturating_sub(cut.at.seq);
    if after > 0 {
        let after = count(usize::try_from(after).unwrap_or(usize::MAX), "record");
        said.push(format!(
            "{after} after it, and everything said and spent there"
        ));
    }
    said.push("the project's files: both flows work on the same ones, as they are now".to_owned());
    if !cut.views.flow.calls.is_empty() {
        said.push("programs that run for the parent, which stay the parent's".to_owned());
    }
    said
}

/// What the record folder of a fork holds.
#[derive(Debug, Default)]
struct KeptRecord {
    files: BTreeMap<String, Holds>,
    lost: BTreeSet<String>,
}

impl KeptRecord {
    /// Handed-over files keep their paths, with the bytes they had then. The
    /// flow's own files are its graph as it was, and its script, which never changes.
    fn of(store: &Store, project: &Path, cut: &Cut) -> Result<Self, RunError> {
        let place = store.place(&cut.parent);
        let mut kept = Self::default();
        let graph = match &cut.views.flow.graph.source {
            Text::Inline(text) => Holds::Bytes(text.clone().into_bytes()),
            Text::Blob(blob) => Holds::Blob(blob.blob),
        };
        kept.add(&place, SNAPSHOT_NAME, graph);
        let files = RecordFolder::new(store.ground().disk.clone(), place.record());
        if let Some(script) = files.read(&RecordPath::of_name(SCRIPT_NAME))? {
            kept.add(&place, SCRIPT_NAME, Holds::Bytes(script));
        }
        let handed = cut.handed.values();
        let handed = handed.map(|(seq, artifact)| (*seq, RecordedFile::Handed(artifact)));
        let written = cut.written.iter();
        let written = written.map(|written| (written.seq, RecordedFile::Written(written)));
        let mut told: Vec<(Seq, RecordedFile<'_>)> = handed.chain(written).collect();
        told.sort_by_key(|(seq, _)| *seq);
        for (_, told) in told {
            match told {
                RecordedFile::Handed(artifact) => {
                    let Some(path) = path_in_record(&place, project, artifact) else {
                        continue;
                    };
                    let holds = match &artifact.text {
                        Some(text) => Holds::Bytes(text.clone().into_bytes()),
                        None => Holds::Blob(artifact.hash),
                    };
                    kept.add(&place, path, holds);
                }
                RecordedFile::Written(written) => kept.written(&place, written),
            }
        }
        kept.outputs(&place, cut);
        Ok(kept)
    }

    /// What conversations name that was too long for a message: the outputs of calls that were over by
    /// then, and the requests that summaries kept.
    fn outputs(&mut self, place: &FlowPlace, cut: &Cut) {
        let entries = place.disk().list(&place.record().join(OUTPUTS));
        let entries = entries.unwrap_or_default();
        for entry in entries.iter().filter(|entry| entry.kind == Kind::File) {
            let call = entry.name.strip_suffix(".txt").map(str::parse::<CallId>);
            let is_over = matches!(&call, Some(Ok(call)) if cut.over.contains(call));
            if is_over || entry.name.starts_with(KEPT_REQUEST) {
                let path = format!("{OUTPUTS}/{}", entry.name);
                self.files.insert(path, Holds::Same);
            }
        }
    }

    /// A file that a call changed and that was not handed over since. What it held is believed
    /// only if its hash is the one that was recorded.
    fn written(&mut self, place: &FlowPlace, written: &Written) {
        let said = requested_changes(&written.tool, &written.arguments).into_iter();
        let is_it =
            |said: &RequestedChange| (written.file.as_ref()).is_none_or(|file| *file == said.path);
        let Some((said, path)) = said.filter(is_it).find_map(|said| {
            let path = in_record(place, &said.path)?;
            Some((said, path))
        }) else {
            return;
        };
        let before = match self.files.remove(&path) {
            Some(Holds::Bytes(bytes)) => String::from_utf8(bytes).ok(),
            Some(Holds::Blob(_) | Holds::Same) | None => None,
        };
        let Some(after) = written.after else {
            self.lost.remove(&path);
            return;
        };
        let fits = |bytes: &Vec<u8>| Hash::of(bytes) == after;
        let now = || {
            let file = place.record().join(&path);
            read_whole(place.disk(), &file, ARTIFACT_BYTES_MAX).ok()
        };
        let made = made(said, before).map(String::into_bytes);
        match made.filter(fits).or_else(|| now().filter(fits)) {
            Some(bytes) => self.add(place, &path, Holds::Bytes(bytes)),
            None => {
                self.lost.insert(path);
            }
        }
    }

    fn add(&mut self, place: &FlowPlace, path: &str, holds: Holds) {
        let there = match &holds {
            Holds::Bytes(_) | Holds::Same => true,
            Holds::Blob(hash) => place.has_blob(*hash),
        };
        // A file that became a folder later conflicts with the files in it; so it was.
        let ancestors = Path::new(path).ancestors().skip(1);
        let mut above = ancestors.filter_map(Path::to_str);
        let in_the_way = above.any(|above| self.files.contains_key(above));
        if there && !in_the_way {
            self.lost.remove(path);
            self.files.insert(path.to_owned(), holds);
        } else {
            self.lost.insert(path.to_owned());
        }
    }
}

/// What a record tells of a file.
enum RecordedFile<'a> {
    /// It was handed over.
    Handed(&'a Artifact),
    /// A call changed it.
    Written(&'a Written),
}

/// What a file holds after a call, as far as the call and what it held before say so.
fn made(said: RequestedChange, before: Option<String>) -> Option<String> {
    if let Some(content) = said.content {
        return if said.append {
            Some(before? + &content)
        } else {
            Some(content)
        };
    }
    let replaced = |text: String, (old, new): (String, String)| text.replacen(&old, &new, 1);
    Some(said.edits.into_iter().fold(before?, replaced))
}

/// The path below the record folder that a call names, if it names one: absolute, or of a file
/// that is there.
fn in_record(place: &FlowPlace, written: &str) -> Option<String> {
    let record = place.record();
    let path = Path::new(named_in_record(written).unwrap_or(written));
    let below = path.strip_prefix(&record).ok();
    let is_named = path != Path::new(written);
    let relative = below.or_else(|| {
        let stands =
            is_named || path.is_relative() && place.disk().about(&record.join(path)).is_ok();
        stands.then_some(path)
    })?;
    let plain: Option<Vec<&str>> = relative
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            Component::CurDir
            | Component::ParentDir
            | Component::RootDir
            | Component::Prefix(_) => None,
        })
        .collect();
    plain
        .filter(|names| !names.is_empty())
        .map(|names| names.join("/"))
}

/// The path in the record folder of a handed-over file. Records of earlier versions do not
/// name the folder: such a file is there now, or it is not in the project either.
fn path_in_record<'a>(
    place: &FlowPlace,
    project: &Path,
    artifact: &'a Artifact,
) -> Option<&'a str> {
    if let Some(within) = named_in_record(&artifact.path) {
        return Some(within);
    }
    let path = Path::new(&artifact.path);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let stands = |root: &Path| place.disk().about(&root.join(path)).is_ok();
    let is_there = stands(&place.record()) || !stands(project);
    (plain && !artifact.path.is_empty() && is_there).then_some(&*artifact.path)
}

/// The files of the parent's record folder that a fork does not get.
fn left_out(place: &FlowPlace, kept: &KeptRecord) -> Vec<String> {
    let mut found = Vec::new();
    walk(place.disk(), &place.record(), "", 0, &mut found);
    found.retain(|path| {
        !kept.files.contains_key(path) && !kept.lost.contains(path) && !is_output(path)
    });
    found
}

/// What is kept of long outputs is no file of the flow's work, and is not listed.
fn is_output(path: &str) -> bool {
    Path::new(path).starts_with(OUTPUTS)
}

/// The names of the files of a folder and those within it.
pub(crate) fn walk(
    disk: &dyn Disk,
    folder: &Path,
    below: &str,
    depth: usize,
    found: &mut Vec<String>,
) {
    let entries = disk.list(folder).unwrap_or_default();
    for entry in entries {
        if found.len() >= RECORD_FILES_MAX || depth >= RECORD_DEPTH_MAX {
            return;
        }
        let name = format!("{below}{}", entry.name);
        match entry.kind {
            Kind::Folder => {
                let inner = folder.join(&entry.name);
                walk(disk, &inner, &format!("{name}/"), depth + 1, found);
            }
            Kind::File | Kind::Other => found.push(name),
        }
    }
}

/// The first of some names, and how many more there are.
fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names.iter().take(RECORD_NAMES_SHOWN).copied();
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(RECORD_NAMES_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

#[cfg(test)]
mod tests {
    use a_society_facts::Fact;
    use a_society_facts::fact::turn::TurnStarted;
    use a_society_facts::id::TurnId;
    use a_society_facts::line::Recorded;
    use a_society_facts::view::FactView as _;

    use super::*;

    #[test]
    fn a_role_that_was_being_compacted_in_its_turn_is_named_once() {
        let started = |turn, cause| {
            Fact::TurnStarted(TurnStarted {
                turn: TurnId(turn),
                attempt: 1,
                role: "writer".parse().unwrap(),
                node: None,
                cause,
            })
        };
        let mut state = FlowState::default();
        let mut takes = |seq, cause| {
            let at = At::from_ms(0);
            state.apply(&Recorded::new(seq, at, started(seq, cause)));
            open_turns(&state)
        };
        let goes_on = "of writer, which was under way and goes on as after a crash";
        assert_eq!(
            takes(1, Cause::Compaction),
            [format!("the compaction of the session {goes_on}")]
        );
        assert_eq!(takes(2, Cause::Node), [format!("the turn {goes_on}")]);
    }
}
