//! A disk, a ledger and a clock in memory: what tests put in the place of a machine's.
//!
//! Nothing that ships is built with them. Each implements a port of `a-society-state` and fails on request.

mod clock;
mod disk;
mod ledger;

pub use clock::ManualClock;
pub use disk::{DiskCall, FaultPlan, FaultyDisk, HangGate, HangingCalls, InjectedFault};
pub use ledger::{LedgerFault, MemoryLedger, Rig, RigCan, check_all};
