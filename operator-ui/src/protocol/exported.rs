//! What a file holds that shows one flow without a server.

use std::collections::BTreeMap;

#[cfg(test)]
use super::feed::Item;
#[cfg(test)]
use super::findings::ChangeDiff;
#[cfg(test)]
use super::flow::FlowState;
use super::http::TranscriptMessage;
#[cfg(test)]
use super::http::{Changes, Event, Files, ItemBody, Track};
#[cfg(test)]
use super::row::{FlowRef, FlowRow};
use super::wire;

/// The version of what is in the file. The page that reads it is in the same file.
pub(crate) const EXPORTED: u32 = 1;

wire! {
    /// What a file holds.
    #[cfg(test)]
    pub(crate) struct Exported {
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
        /// Its state when the file was written.
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
        /// The requests as they were sent.
        pub requests: ExportedRequests,
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
    pub(crate) struct Moment {
        /// The record.
        pub seq: u64,
        /// Views that are new, and those that went.
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        pub set: BTreeMap<String, serde_json::Value>,
        /// What changed in views that were there.
        #[cfg_attr(test, ts(type = "Record<string, Record<string, unknown>>"))]
        pub merge: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    }

    /// The last requests that were sent.
    pub(crate) struct ExportedRequests {
        /// Each, by its record.
        pub sent: BTreeMap<String, ExportedRequest>,
        /// What they are put together from.
        pub pieces: Vec<String>,
        /// Why those that are not there could not be written, by their records.
        pub unwritten: BTreeMap<String, String>,
        /// How many before them were left out.
        pub left_out: u64,
    }

    /// A request as it left for its model.
    pub(crate) struct ExportedRequest {
        /// The model that was asked.
        pub model: String,
        /// The hash of the bytes that left.
        pub hash: String,
        /// How long all of it was.
        pub total_bytes: u64,
        /// Why this is not what left, to the byte; absent if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub differs: Option<String>,
        /// The request that begins as this one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub after: Option<u64>,
        /// How many pieces they have in common.
        pub same: u64,
        /// The pieces behind those, by their numbers.
        pub pieces: Vec<u32>,
    }

    /// All of a session, at every record.
    pub(crate) struct ExportedTranscript {
        /// Every message that ever was in it.
        pub messages: Vec<TranscriptMessage>,
        /// What each record changed.
        pub moments: Vec<SessionMoment>,
    }

    /// What a record changed in a session.
    pub(crate) struct SessionMoment {
        /// The record.
        pub seq: u64,
        /// Its parts, if there are others now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub parts: Option<Vec<SessionPart>>,
        /// What changed in the messages of its parts.
        pub set: BTreeMap<String, ListChange>,
        /// How much there is of the text that is being streamed, which is the last one then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub drafted: Option<Drafted>,
    }

    /// A part of a session.
    pub(crate) struct SessionPart {
        /// Its id.
        pub id: String,
        /// What it is.
        pub kind: String,
        /// In words.
        pub words: String,
    }

    /// What changed in a list of messages.
    pub(crate) struct ListChange {
        /// As many are as they were.
        pub same: u64,
        /// The ones behind them, by their numbers.
        pub then: Vec<u32>,
    }

    /// How much there is of a text that is being streamed.
    pub(crate) struct Drafted {
        /// In letters, as a page counts them.
        pub chars: u64,
        /// In tokens, roughly.
        pub tokens: u64,
    }
}
