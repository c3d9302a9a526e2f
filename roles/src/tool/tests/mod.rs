//! The tools over real folders, with the bad inputs that are known.

mod base;
#[path = "../../../base/src/redact/tests/canaries.rs"]
mod canaries;
mod editing;
mod files;
mod patching;
mod paths;
mod race;
mod reading;
mod secrets;
pub(super) mod stage;

/// Calls of one answer that only read may run side by side.
#[test]
fn tools_can_be_used_from_several_threads() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<super::Toolbox>();
    is_sent::<super::RunningCall>();
    is_sent::<super::CallPlan>();
}
