//! The files that a person reads, writes and hands over, in the shared folder of a flow.

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_orchestrator::limits::ARTIFACT_BYTES_MAX;
use a_society_orchestrator::record::own::{self, Unwritten};
use a_society_state::FlowRef;

use super::app::Shared;
use super::blocking::{missing, unread};
use super::limits::{PROJECT_LISTED_MAX, RECORD_LISTED_MAX};
use crate::fold::words;
use crate::protocol::Fault;
use crate::protocol::ask::ArtifactRef;
use crate::protocol::http::{RecordFile, RecordFiles, RecordText};

/// The files that there are.
pub(super) fn list(app: &Shared, flow: &FlowRef) -> RecordFiles {
    let record = app.hubs.store.place(flow).record();
    let disk = app.hubs.store.ground().disk.as_ref();
    let (files, truncated) = own::files(disk, &record, RECORD_LISTED_MAX);
    listed(files, truncated)
}

/// The files of the flow's project whose paths have these words.
pub(super) fn of_project(app: &Shared, flow: &FlowRef, words: &str) -> RecordFiles {
    let project = app.project_folder(flow);
    let disk = app.hubs.store.ground().disk.as_ref();
    let (files, truncated) = own::project_files(disk, &project, words, PROJECT_LISTED_MAX);
    listed(files, truncated)
}

fn listed(files: Vec<(String, u64)>, truncated: bool) -> RecordFiles {
    let files = files.into_iter();
    RecordFiles {
        files: files
            .map(|(path, bytes)| RecordFile { path, bytes })
            .collect(),
        truncated,
        bytes_max: ARTIFACT_BYTES_MAX,
    }
}

/// One of them.
pub(super) fn text(app: &Shared, flow: &FlowRef, path: &str) -> Result<RecordText, Fault> {
    let record = app.hubs.store.place(flow).record();
    let disk = app.hubs.store.ground().disk.as_ref();
    let unread = |why: &str| missing(&format!("{path} cannot be read"), why);
    let found = own::file(disk, &record, path).map_err(|why| unread(&why))?;
    let Artifact { path, hash, .. } = found.artifact;
    let text = String::from_utf8(found.bytes);
    Ok(RecordText {
        path,
        text: text.map_err(|_| unread("it is not a text"))?,
        hash: hash.to_string(),
    })
}

/// Writes one. The flow has to be one that goes on.
pub(super) fn write(
    app: &Shared,
    flow: &FlowRef,
    path: &str,
    bytes: &[u8],
    over: Option<&str>,
) -> Result<ArtifactRef, Fault> {
    let store = &app.hubs.store;
    let look = store.look(flow).map_err(|error| unread(&error))?;
    let refused = |why: &str, hint: &str| Fault {
        code: "not-written".to_owned(),
        what: format!("{path} was not written"),
        why: why.to_owned(),
        r#try: hint.to_owned(),
    };
    if look.damage.is_some() || look.screen.flow.status.is_over() {
        let hint = "a-society fork begins a flow that goes on from here";
        return Err(refused("the flow is over or cannot be written", hint));
    }
    let over = over.map(str::parse::<Hash>).transpose();
    let over =
        over.map_err(|_| refused("what it replaces has no such hash", "load the page anew"))?;
    let record = store.place(flow).record();
    let disk = store.ground().disk.as_ref();
    let written = own::write(disk, &record, path, bytes, over);
    written
        .map(|artifact| words::artifact(&artifact))
        .map_err(|error| match error {
            Unwritten::Path(why) => refused(&why, "choose another name in record/"),
            Unwritten::Other => refused(
                "a file of this name is there, and not the one that was read",
                "open that file first, or choose another name",
            ),
            Unwritten::Disk(why) => Fault {
                code: "disk-failed".to_owned(),
                ..refused(&why, "check whether the disk is full")
            },
        })
}
