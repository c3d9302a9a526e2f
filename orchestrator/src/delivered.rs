//! What a flow delivered, read from its journal.
//!
//! It is the file that the closing node wrote last in the turn in which it closed; or, if it wrote none,
//! the artifact that was handed to it last, as it was then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::Fact;
use a_society_facts::fact::turn::CallEnd;
use a_society_facts::handoff::{Artifact, HandoffWay};
use a_society_facts::id::{NodeId, TurnId};
use a_society_facts::message::ToolCall;
use a_society_roles::tool::{RequestedChange, requested_changes};
use a_society_state::disk::Disk;
use a_society_state::{Error, FlowPlace, FlowRef, Store};

use crate::record::{Places, find};

/// The folder of the flow's own files, as roles and operators write it.
const RECORD: &str = "record";

/// What a flow delivered.
#[derive(Debug, Clone)]
pub struct Delivered {
    /// The node that closed it.
    pub node: NodeId,
    /// The path of the artifact, from the project's folder or from `record/`.
    pub path: String,
    /// The path of the file.
    pub file: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a flow delivered; nothing before its forward work is closed, and nothing if its closing node
/// neither wrote a file nor was handed one.
///
/// # Errors
/// When the journal cannot be read.
pub fn of(store: &Store, flow: &FlowRef, project: &Path) -> Result<Option<Delivered>, Error> {
    let mut told = DeliveryFold::default();
    let heard = store.follow(flow)?.read(&mut |recorded| {
        if let Some(fact) = recorded.fact() {
            told.hear(fact);
        }
    });
    match heard {
        // What is good before some damage tells what was delivered by then.
        Ok(_) | Err(Error::Damaged(_)) => {}
        Err(error) => return Err(error),
    }
    let Some((node, written)) = told.closed else {
        return Ok(None);
    };
    let place = store.place(flow);
    let disk = place.disk();
    let places = Places {
        record: place.record(),
        project: project.to_owned(),
        lineage: vec![flow.flow.clone()],
    };
    let own = written.and_then(|path| read(disk, &places, &path));
    let received = told.received.get(&node);
    let found = own.or_else(|| as_handed_over(&place, received?));
    Ok(found.map(|(path, bytes)| named(disk, &places, node, path, bytes)))
}

/// What of a journal tells what was delivered.
#[derive(Default)]
struct DeliveryFold {
    /// The turn that each node took last.
    turns: BTreeMap<NodeId, TurnId>,
    /// The files that calls are about, by the names of the calls.
    calls: BTreeMap<String, String>,
    /// The file that each turn wrote last.
    written: BTreeMap<TurnId, String>,
    /// What was handed to each node last.
    received: BTreeMap<NodeId, Artifact>,
    /// The node that closed the forward work, and what it wrote in that turn.
    closed: Option<(NodeId, Option<String>)>,
}

impl DeliveryFold {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts carry no file from one to another"
    )]
    fn hear(&mut self, fact: &Fact) {
        match fact {
            Fact::TurnStarted(f) => {
                if let Some(node) = &f.node {
                    self.turns.insert(node.clone(), f.turn);
                }
            }
            Fact::TurnEnded(f) => {
                self.calls.clear();
                self.written.remove(&f.turn);
            }
            Fact::ModelAnswered(f) => {
                let paths = f.calls.iter().filter_map(written_by);
                self.calls.extend(paths);
            }
            Fact::CallFinished(f) => {
                let path = self.calls.remove(&f.tool_call);
                if let (CallEnd::Done | CallEnd::Recovered, Some(path)) = (f.end, path) {
                    self.written.insert(f.turn, path);
                }
            }
            Fact::HandoffApplied(f) => {
                for delivery in &f.deliveries {
                    let to = match delivery.way {
                        HandoffWay::Forward => &delivery.edge.to,
                        HandoffWay::Backward => &delivery.edge.from,
                    };
                    self.received.insert(to.clone(), delivery.artifact.clone());
                }
            }
            Fact::ForwardPassClosed(f) => {
                let turn = self.turns.get(&f.node);
                let written = turn.and_then(|turn| self.written.get(turn)).cloned();
                self.closed = Some((f.node.clone(), written));
            }
            _ => {}
        }
    }
}

/// The call's name and the file it writes last, if it writes one.
fn written_by(call: &ToolCall) -> Option<(String, String)> {
    let is_kept = |change: &RequestedChange| change.content.is_some() || !change.edits.is_empty();
    let mut changes = requested_changes(&call.name, call.input.get()).into_iter();
    let last = changes.rfind(is_kept)?;
    Some((call.id.clone(), last.path))
}

/// A file as it is now.
fn read(disk: &dyn Disk, places: &Places, written: &str) -> Option<(String, Vec<u8>)> {
    let found = find(disk, places, written).ok()?;
    Some((found.artifact.path, found.bytes))
}

/// An artifact as it was when it was handed over.
fn as_handed_over(place: &FlowPlace, artifact: &Artifact) -> Option<(String, Vec<u8>)> {
    let bytes = match &artifact.text {
        Some(text) => text.clone().into_bytes(),
        None => place.whole_blob(artifact.hash).ok()?,
    };
    Some((artifact.path.clone(), bytes))
}

fn named(
    disk: &dyn Disk,
    places: &Places,
    node: NodeId,
    path: String,
    bytes: Vec<u8>,
) -> Delivered {
    let is_there = |path: &Path| disk.about(path).is_ok();
    let within = Path::new(&path).strip_prefix(RECORD).ok();
    let in_record = places.record.join(within.unwrap_or(Path::new(&path)));
    let (path, file) = match within {
        Some(_) => (path, in_record),
        None if is_there(&in_record) && !is_there(&places.project.join(&path)) => {
            (format!("{RECORD}/{path}"), in_record)
        }
        None => {
            let file = places.project.join(&path);
            (path, file)
        }
    };
    Delivered {
        node,
        path,
        file,
        bytes,
    }
}
