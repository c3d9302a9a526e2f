//! T1: every operation of every use fails once, and for good, in every way there is.

use std::fmt::{self, Debug, Formatter};

use a_society_state::disk::{Fault, FaultPlan};

use crate::extent::{each_in_parallel, pick};
use crate::oracle::judge;
use crate::scenarios::{Scenario, all};
use crate::script::{Play, Temper};

/// The slice tries every so manieth operation of a scenario, beginning at another one each time.
const SLICE_STRIDE: u64 = 7;

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
    plain.run(&scenario.steps, Temper::GoOn);
    let operations = plain.disk.operations();
    let stride = pick(SLICE_STRIDE, 1);
    let mut cases = Vec::new();
    for (kind, fault) in Fault::ALL.into_iter().enumerate() {
        for (sticky, temper) in [
            (false, Temper::GiveUp),
            (false, Temper::GoOn),
            (true, Temper::GiveUp),
            (true, Temper::GoOn),
        ] {
            let offset =
                place as u64 * 5 + kind as u64 * 3 + u64::from(sticky) * 2 + cases.len() as u64 % 4;
            let first = 1 + offset % stride;
            let every = (first..=operations).step_by(usize::try_from(stride).unwrap());
            cases.extend(every.map(|at| Case {
                scenario,
                plan: FaultPlan { at, fault, sticky },
                temper,
            }));
        }
    }
    cases
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
