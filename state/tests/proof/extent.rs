//! How much of a proof runs: a slice by default, everything on request.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether everything is to run.
pub(crate) fn is_full() -> bool {
    std::env::var_os("A_SOCIETY_TEST_FULL").is_some_and(|value| value == "1")
}

/// The one number for the slice or the other for everything.
pub(crate) fn pick<T>(slice: T, full: T) -> T {
    if is_full() { full } else { slice }
}

/// Where a slice begins among so many. The gate makes the number from the commit, so that days cover
/// the whole and a commit meets the same judgement again.
pub(crate) fn first_of(stride: usize) -> usize {
    let seed = std::env::var("A_SOCIETY_TEST_SEED").ok();
    let seed: usize = seed.and_then(|seed| seed.parse().ok()).unwrap_or(0);
    seed % stride
}

/// One of so many of all, or all of them when everything is to run.
pub(crate) fn slice_of<T>(all: impl Iterator<Item = T>, stride: usize) -> impl Iterator<Item = T> {
    let stride = pick(stride, 1);
    all.skip(first_of(stride)).step_by(stride)
}

/// How many failures are gathered before the rest is left.
const FAILURES_MAX: usize = 12;

/// Runs independent cases on all processors and says which of them failed, and why.
pub(crate) fn each_in_parallel<T: Sync + Debug>(cases: &[T], run: impl Fn(&T) + Sync) {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Err(why) = guarded(|| run(case)) else {
                        continue;
                    };
                    let mut failed = failed.lock().unwrap();
                    failed.push(format!("{case:?}: {why}"));
                    if failed.len() >= FAILURES_MAX {
                        break;
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// Runs something and turns its panic into words.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_default()
    })
}
