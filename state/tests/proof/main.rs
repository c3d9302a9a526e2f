//! The proof of the journal: every fault, every crash, every byte, two processes, and a machine of
//! random uses, each held against a model of what was acknowledged.
//!
//! A slice runs by default; `A_SOCIETY_TEST_FULL=1` runs everything (`./test --full` sets it).

#[cfg(test)]
mod adopted;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod extent;
#[cfg(test)]
mod forks;
#[cfg(test)]
mod hard_cases;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod model;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod script;
#[cfg(test)]
mod syncs;
#[cfg(test)]
mod t10_workers;
#[cfg(test)]
mod t1_faults;
#[cfg(test)]
mod t2_crashes;
#[cfg(test)]
mod t3_bytes;
#[cfg(test)]
mod t3_files;
#[cfg(test)]
mod t8_lock;
#[cfg(test)]
mod t9_machine;
#[cfg(test)]
mod tails;
#[cfg(test)]
mod views;
