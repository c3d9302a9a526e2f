//! What a file holds that shows one flow without a server.

use std::collections::BTreeMap;

use super::feed::Item;
use super::findings::ChangeDiff;
use super::flow::FlowState;
use super::http::{Changes, Event, Files, ItemBody, Segment, Track, TranscriptMessage};
use super::row::{FlowRef, FlowRow};
use super::wire;

/// The version of what is in the file. The page that reads it is in the same file.
pub const EXPORTED: u32 = 1;

wire! {
    /// What a file holds.
    pub struct Exported {
        /// The version of what is in the file.
        pub v: u32,
        /// The version of the program that wrote it.
        pub build: String,
        /// The workspace.
        pub workspace: String,
        /// When it was written.
        pub exported_at: String,
        /// The flow.
        pub flow: FlowRef,
        /// The epoch of its journal.
        pub epoch: String,
        /// The last record.
        pub seq: u64,
        /// Its line in the list.
        pub row: FlowRow,
        /// Where it stood when the file was written.
        pub state: FlowState,
        /// Everything a time strip needs.
        pub track: Track,
        /// What each record changed.
        pub moments: Vec<Moment>,
        /// The items of each role, oldest first.
        pub feeds: BTreeMap<String, Vec<Item>>,
        /// The whole texts of items.
        pub bodies: BTreeMap<String, ItemBody>,
        /// The sessions of the roles.
        pub transcripts: BTreeMap<String, ExportedTranscript>,
        /// The lines of the journal.
        pub events: Vec<Event>,
        /// The files that were handed over.
        pub files: Files,
        /// What tools changed.
        pub changes: Changes,
        /// Versions of files, by their hash.
        pub blobs: BTreeMap<String, String>,
        /// What proposed changes would do to files as they were when the file was written.
        pub proposals: BTreeMap<String, ChangeDiff>,
        /// What was left out.
        pub without: Vec<String>,
    }

    /// What a record changed in the views of a flow, each by its key.
    pub struct Moment {
        /// The record.
        pub seq: u64,
        /// Views that are new, and those that went.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        pub set: BTreeMap<String, serde_json::Value>,
        /// What changed in views that were there.
        #[cfg_attr(test, ts(type = "Record<string, Record<string, unknown>>"))]
        pub merge: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    }

    /// All of a session.
    pub struct ExportedTranscript {
        /// Its parts.
        pub segments: Vec<Segment>,
        /// The messages of each.
        pub messages: BTreeMap<String, Vec<TranscriptMessage>>,
    }
}
