//! A role whose turns are written down beforehand.
//!
//! Examples, demonstrations, simulations and tests run on scripts: offline, at no cost, and the
//! same every time. A script is a YAML file. This page is its reference:
//!
//! ```yaml
//! default: forward          # turns that the script does not name; without it they are errors
//! script:
//!   - role: writer          # which role instance, or `node:`, or both
//!     node: draft
//!     turn: 1               # the nth turn at that node; every turn if absent
//!     phase: forward        # `forward` if absent, `meta-analysis`, or `feedback`
//!     usage: { input-tokens: 100, output-tokens: 20 }   # of every answer
//!     say:
//!       - I will write the notes.                       # text, streamed in one piece
//!       - text: The same, with its key.
//!       - stream: { text: Word for word., pieces: 20, every-ms: 5 }
//!       - reasoning: What it thinks.
//!       - wait-ms: 100
//!       - fault: { class: overloaded, retry-in-ms: 50 } # the request fails here
//!       - fault: { class: limit, resets-in-ms: 60000 }  # the turn ends, and goes on by itself after that
//!       - cut: true                                     # the stream breaks off here
//!       - call: { tool: read_file, input: { path: a.md }, output: text, takes-ms: 10 }
//!       - write: { path: notes.md, text: The notes. }   # a real file of the record folder
//!       - report: What I found.                         # the file that this turn must write
//!       - handoff: { to: review, artifact: notes.md }   # or a list of these
//!     mend:                                             # what it says when it must mend that
//!       - say: [ { signal: prompt-human } ]
//! ```
//!
//! A turn takes the first entry that fits it. Items become answers by one rule: **calls that
//! follow one another belong to one answer, and anything else after a call begins the next.** So
//! the list above is two requests. How a turn ends is its last item: `handoff`, `signal` (one of
//! the words of a handoff block), `raw` (a block's body as it is), `forward` or `back` (writes an
//! artifact for every neighbour that may be handed to, with this text, and hands over; at the
//! closing node `forward` closes), `output-limit: true`, or plain text, which lacks a block.
//!
//! `fault` and `cut` end the turn unless they have `retry-in-ms`; after a retry the answer is
//! repeated from its beginning. They happen once: a turn that continues after a crash gives the answer
//! that was in flight as a whole. Answers and calls that are recorded are never played again.

mod item;
mod json;
mod parse;
mod plan;
mod play;
mod script;

pub use a_society_yaml::TextFault as ScriptFault;
pub use play::ScriptedTaker;
pub use script::{RoleScript, ScriptPhase};
