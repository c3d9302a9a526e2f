//! The operator's commands to a flow, as they travel between processes: one JSON object a line.
//!
//! It is a verb of the operator, as the machine takes it, with the client's name for it. The version is
//! in every request, and an unknown one is refused with a reason.

use a_society_facts::Verb;
use a_society_facts::id::{ClientId, Seq};
use serde::{Deserialize, Serialize};

/// The version of the protocol.
pub(crate) const VERSION: u32 = 1;

/// A verb on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ControlRequest {
    /// The version.
    pub v: u32,
    /// The client's name for the command; a repeated one does not count again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientId>,
    /// What is wanted.
    pub command: Verb,
}

/// The result of a command: it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The last record of the flow.
    pub seq: Seq,
    /// How many facts followed; none if it had counted before, or leads to none.
    pub facts: usize,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ControlReply {
    /// It was done.
    Ok(Taken),
    /// It was not.
    Error(ControlFault),
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {why}")]
pub struct ControlFault {
    /// The kind.
    pub code: ControlFaultCode,
    /// What happened.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    pub r#try: String,
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlFaultCode {
    /// The flow does not take it in its present state.
    CommandRefused,
    /// It could mean several.
    CommandAmbiguous,
    /// The revised flow file cannot be used.
    FlowFileUnfit,
    /// The message makes no sense.
    MessageUnfit,
    /// The message is of another version.
    NewerVersion,
    /// The flow has no driver any more.
    FlowGone,
    /// The flow cannot be driven.
    FlowStopped,
    /// Another process holds the flow and does not listen.
    FlowBusy,
    /// The process that drives the flow did not answer.
    NoAnswer,
    /// The disk is full.
    DiskFull,
    /// The disk or the system failed.
    DiskFailed,
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}
