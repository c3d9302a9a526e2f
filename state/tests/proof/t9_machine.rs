//! T9: a machine of random uses, deaths, power cuts and damage, against the model of what was
//! promised.

use a_society_facts::fact::journal::RecoveryRow;
use a_society_state::Error;
use proptest::prelude::*;

use crate::extent::pick;
use crate::oracle::judge;
use crate::script::{Play, Step};

fn row() -> impl Strategy<Value = RecoveryRow> {
    prop_oneof![
        Just(RecoveryRow::R2),
        Just(RecoveryRow::R3),
        Just(RecoveryRow::R4),
        Just(RecoveryRow::R6)
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let room = prop_oneof![
        Just(None),
        (0_u64..2000).prop_map(Some),
        Just(Some(3 << 20)),
    ];
    prop_oneof![
        10 => Just(Step::Title),
        2 => prop_oneof![Just(5), Just(600), Just(3000), Just(66_000)].prop_map(Step::Say),
        1 => Just(Step::Session),
        6 => Just(Step::Sync),
        2 => Just(Step::Tick),
        2 => Just(Step::Rest),
        2 => Just(Step::Close),
        3 => Just(Step::Open),
        2 => Just(Step::Kill),
        3 => any::<u64>().prop_map(Step::PowerCut),
        1 => prop_oneof![Just(1), Just(400), Just(1500)].prop_map(Step::Segments),
        1 => prop_oneof![Just(1), Just(700)].prop_map(Step::Checkpoints),
        1 => row().prop_map(Step::Torn),
        1 => Just(Step::Flip),
        2 => Just(Step::Repair),
        1 => Just(Step::Restore),
        1 => room.prop_map(Step::Room),
        1 => Just(Step::Resume),
    ]
}

/// An error that a user may meet at this step.
fn is_fair(error: &Error, harmed: bool, scarce: bool) -> bool {
    match error {
        Error::Damaged(_) => harmed,
        Error::Illegal { .. } | Error::NoFlow(_) | Error::Exists(_) => true,
        Error::Unfit { what, .. } => scarce && what.contains("views are behind"),
        Error::Io { .. } | Error::DiskFull => scarce && error.is_full(),
        Error::Busy { .. }
        | Error::NoLocks { .. }
        | Error::Ambiguous { .. }
        | Error::Name(_)
        | Error::Poisoned { .. }
        | Error::CannotWrite(_)
        | Error::Foreign(_)
        | Error::NotForkable { .. }
        | Error::Ledger(_)
        | Error::MovedOn => false,
    }
}

fn play(steps: &[Step]) {
    let mut play = Play::new();
    play.step(&Step::Create).unwrap();
    let mut scarce = false;
    for (number, step) in steps.iter().enumerate() {
        if let Step::Room(room) = step {
            scarce = room.is_some();
        }
        let harmed = play.model().harmed_from.is_some();
        if let Err(error) = play.step(step) {
            assert!(
                is_fair(&error, harmed, scarce),
                "step {number}, {step:?}: {error}"
            );
        }
        if matches!(step, Step::Kill | Step::PowerCut(_)) {
            let model = play.model().clone();
            judge(&play.disk, &model, number as u64);
        }
    }
    let model = play.model().clone();
    judge(&play.disk.kill_clone(), &model, 0);
    for seed in 0..3 {
        judge(&play.disk.crash_clone(seed), &model, seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: pick(200, 10_000),
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_in_whatever_order_promises_are_kept(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        play(&steps);
    }
}
