//! A ledger in memory, and the checks that every ledger has to pass.

mod conformance;
mod memory;

pub use conformance::{Rig, RigCan, check_all};
pub use memory::{LedgerFault, MemoryLedger};
