//! What every part of the store works with: a disk, a clock, a process, and perhaps a ledger.

use std::sync::Arc;

use a_society_facts::fact::journal::ProcessName;

use crate::clock::Clock;
use crate::disk::SharedDisk;
use crate::ledger::LedgerAccess;

/// What every part of an open needs.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The disk.
    pub disk: SharedDisk,
    /// The clock that stamps.
    pub clock: Arc<dyn Clock>,
    /// This process.
    pub process: ProcessName,
    /// The ledger that holds the journals; absent where their folders do.
    pub ledger: Option<LedgerAccess>,
}
