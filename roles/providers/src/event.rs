//! What arrives while a model answers.

use a_society_facts::fact::turn::Usage;

use super::answer::ModelAnswer;
use super::fault::RequestFault;

/// Something that happened while an answer arrives. Nothing here is final.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of the model's reasoning, as far as the provider shows it.
    Reasoning(String),
    /// A tool call begins.
    CallBegun {
        /// Its place among the answer's calls, from 0.
        ordinal: u32,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// The call.
        ordinal: u32,
        /// The piece, which is not JSON by itself.
        piece: String,
    },
    /// A call is complete. It is not run before the whole answer is there.
    CallEnded {
        /// The call.
        ordinal: u32,
    },
    /// What has been used so far.
    Usage(Usage),
    /// Nothing has come for a while.
    Stalled {
        /// For how long.
        seconds: u64,
    },
}

/// The next thing from a stream.
#[derive(Debug, Clone)]
pub enum StreamArrival {
    /// The answer goes on.
    Event(StreamEvent),
    /// It is whole; nothing follows.
    Answer(Box<ModelAnswer>),
    /// It failed; nothing follows.
    Fault(Box<RequestFault>),
}
