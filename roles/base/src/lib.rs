//! What providers, MCP servers and roles share: the edge between this process and everything outside.
//!
//! | Module | What it is for |
//! |---|---|
//! | `stop` | interrupting whatever waits for the outside |
//! | `thread` | threads that the system may refuse |
//! | `process` | child processes, watched and ended with everything that they started |
//! | `redact` | secrets, blanked out before a model or a disk sees them, also in a stream |
//! | `address` | which addresses belong to the public internet |
//! | `text` | text of others within ours, and characters that mislead |

pub mod address;
pub mod process;
pub mod redact;
pub mod runtime;
pub mod stop;
pub mod text;
pub mod thread;
