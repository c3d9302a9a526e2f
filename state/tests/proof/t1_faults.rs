//! T1: every operation of every use fails once, and for good, in every way there is.

use std::fmt::{self, Debug, Formatter};

use a_society_in_memory::{DiskCall, FaultPlan, InjectedFault};

use crate::extent::{each_in_parallel, first_of, pick};
use crate::oracle::judge;
use crate::scenarios::{Scenario, all};
use crate::script::{Play, Temper};

/// The slice tries every so manieth operation of a scenario, beginning at another one each time.
const SLICE_STRIDE: usize = 31;

struct Case<'a> {
    scenario: &'a Scenario,
    plan: FaultPlan,
    temper: Temper,
}

impl Debug for Case<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            scenario,
            plan,
            temper,
        } = self;
        write!(f, "{:?} with {plan:?}, {temper:?}", scenario.name)
    }
}

#[test]
fn whatever_fails_nothing_acknowledged_is_lost() {
    let scenarios = all();
    let cases: Vec<Case<'_>> = scenarios.iter().enumerate().flat_map(cases_of).collect();
    each_in_parallel(&cases, run);
}

#[test]
fn without_a_fault_every_use_goes_well() {
    for scenario in all() {
        let mut play = Play::new();
        let error = play.run(&scenario.steps, Temper::GoOn);
        let full = error.as_ref().is_some_and(a_society_state::Error::is_full);
        assert_eq!(
            full,
            scenario.name.contains("full"),
            "{}: {error:?}",
            scenario.name
        );
        assert!(full || error.is_none(), "{}: {error:?}", scenario.name);
        drop(play.flow.take());
        let model = play.model().clone();
        judge(&play.disk, &model, 0);
    }
}

fn cases_of((place, scenario): (usize, &Scenario)) -> Vec<Case<'_>> {
    let mut plain = Play::new();
    plain.disk.record_trace();
    plain.run(&scenario.steps, Temper::GoOn);
    let trace = plain.disk.trace();
    let ways = [
        (false, Temper::GiveUp),
        (false, Temper::GoOn),
        (true, Temper::GiveUp),
        (true, Temper::GoOn),
    ];
    let stride = pick(SLICE_STRIDE, 1);
    let mut cases = Vec::new();
    for (kind, fault) in InjectedFault::ALL.into_iter().enumerate() {
        let met = (1_u64..).zip(&trace).filter(|(_, op)| may_meet(fault, op));
        let met: Vec<u64> = met.map(|(at, _)| at).collect();
        for (way, (sticky, temper)) in ways.into_iter().enumerate() {
            let first = (place * 5 + kind * 3 + way * 2 + first_of(stride)) % stride;
            let chosen = met.iter().skip(first).step_by(stride);
            cases.extend(chosen.map(|&at| Case {
                scenario,
                plan: FaultPlan { at, fault, sticky },
                temper,
            }));
        }
    }
    cases
}

/// Whether an operation can meet a fault. A plan that strikes at one that cannot is the plan that
/// strikes at the next one that can, or none at all, so it need not be tried.
fn may_meet(fault: InjectedFault, op: &DiskCall) -> bool {
    let op = if let DiskCall::Failed { op, .. } = op {
        op
    } else {
        op
    };
    match fault {
        InjectedFault::Eio
        | InjectedFault::Enospc
        | InjectedFault::Edquot
        | InjectedFault::Erofs
        | InjectedFault::Emfile => true,
        InjectedFault::Eintr => matches!(op, DiskCall::Read { .. } | DiskCall::Append { .. }),
        InjectedFault::ShortRead => matches!(op, DiskCall::Read { .. }),
        InjectedFault::ShortWrite(_) => matches!(op, DiskCall::Append { .. }),
        InjectedFault::SyncFailsThenLies => matches!(op, DiskCall::Sync { .. }),
        InjectedFault::FolderSyncFails => matches!(op, DiskCall::SyncFolder { .. }),
        InjectedFault::RenameFails => matches!(op, DiskCall::Rename { .. }),
        InjectedFault::NoLinks => matches!(op, DiskCall::Link { .. }),
    }
}

fn run(case: &Case<'_>) {
    let mut play = Play::new();
    play.disk.arm(case.plan);
    play.run(&case.scenario.steps, case.temper);
    if !play.disk.fired() {
        return;
    }
    let model = play.model().clone();
    let seed = case.plan.at;
    // The process dies here, or the power fails: in each case the promises hold.
    judge(&play.disk.kill_clone(), &model, seed);
    for salt in 0..pick(1, 3) {
        judge(
            &play.disk.crash_clone(seed * 31 + salt),
            &model,
            seed + salt,
        );
    }
}
