//! What a role works with is chosen by a model before its first turn.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::fact::operator::{ChosenBy, RoleConfigured};
use a_society_facts::fact::turn::Cause;
use a_society_roles::taker::model::{ChoiceCandidate, ChoiceQuestion};

use super::*;

pub(super) fn question() -> ChoiceQuestion {
    let named = |name: &str| ChoiceCandidate {
        name: name.to_owned(),
        about: format!("what {name} is"),
    };
    ChoiceQuestion {
        task: "Do it.".to_owned(),
        candidates: BTreeMap::from([("model".to_owned(), vec![named("small"), named("large")])]),
        single: BTreeSet::from(["model".to_owned()]),
        settled: BTreeMap::new(),
    }
}

fn configured(world: &World, core: &Core) -> Vec<RoleConfigured> {
    let facts = world.facts(core).into_iter().filter_map(|fact| {
        if let Fact::RoleConfigured(configured) = fact {
            Some(configured)
        } else {
            None
        }
    });
    facts.collect()
}

fn picks(name: &str) -> Vec<StreamArrival> {
    says(&format!(r#"{{"model":"{name}"}}"#))
}

#[test]
fn a_wrong_choice_is_told_and_made_again_and_counts_with_the_role() {
    let mut world = World::new(Puppet::will_say([picks("huge"), picks("small"), closes()]));
    world.chooses = true;
    let mut core = world.begin();
    walk(&mut core, 1000);
    let [chosen] = &configured(&world, &core)[..] else {
        panic!("one choice: {:?}", configured(&world, &core))
    };
    assert_eq!(
        (chosen.by, chosen.settings["model"].as_str()),
        (ChosenBy::Selection, "small")
    );
    let asked = world.puppet.asked();
    let [.., Message::User { content }] = &asked[1][..] else {
        panic!("{:?}", asked[1])
    };
    assert!(
        content.contains("has no huge; there are: small, large"),
        "{content}"
    );
    assert_eq!(asked.len(), 3);
    assert!(core.state().turns.is_empty() && waits_for(&core).is_none());
    let spent = core.state().role_accounts[&"owner".parse::<RoleInstance>().unwrap()]
        .spent
        .tokens;
    assert_eq!(spent, 33, "three answers of eleven tokens");
}

#[test]
fn after_too_many_wrong_choices_the_operator_chooses_and_nobody_else_is_asked_again() {
    let wrong = [picks("huge"), says("small, I think"), picks("tiny")];
    for bad in [wrong.to_vec(), vec![fault(FaultClass::Key)]] {
        let requests = bad.len();
        let mut world = World::new(Puppet::will_say(bad.into_iter().chain([closes()])));
        world.chooses = true;
        let mut core = world.begin();
        walk(&mut core, 1000);
        assert_eq!(waits_for(&core), Some(WaitReason::RoleConfiguration));
        assert_eq!(world.puppet.asked().len(), requests);
        let mut core = world.die(core);
        let command = Verb::Configure {
            role: "owner".parse().unwrap(),
            settings: BTreeMap::from([("model".to_owned(), "large".to_owned())]),
        };
        core.obey(command, None).unwrap();
        walk(&mut core, 1000);
        assert_eq!(
            (waits_for(&core), world.puppet.asked().len()),
            (None, requests + 1)
        );
        assert!(core.state().turns.is_empty());
    }
}

/// Whatever step a death comes after, one choice counts, and what was recorded is not paid again.
#[test]
fn a_death_after_any_step_of_a_choice_leaves_one_choice() {
    for steps in 0.. {
        let mut world = World::new(Puppet::will_say([picks("small"), closes()]));
        world.chooses = true;
        let mut core = world.begin();
        let taken = walk(&mut core, steps);
        let chosen = configured(&world, &core).len();
        let of_role =
            |fact: &Fact| matches!(fact, Fact::ModelAnswered(answered) if answered.turn.0 == 1);
        let closed = world.facts(&core).iter().any(of_role);
        let again = [picks("small"), closes()].into_iter().skip(chosen);
        if !closed {
            *world.puppet.answers.lock().unwrap() = again.collect();
        }
        let before = world.puppet.asked().len();
        let mut core = world.die(core);
        walk(&mut core, 1000);
        assert_eq!(configured(&world, &core).len(), 1, "after {steps} steps");
        assert!(
            core.state().turns.is_empty(),
            "after {steps} steps: {:?}",
            core.state().turns
        );
        if chosen == 1 {
            let asked = &world.puppet.asked()[before..];
            let choice = question().task;
            let about = |messages: &Vec<Message>| matches!(&messages[0], Message::User { content } if content.starts_with(&choice));
            assert!(
                !asked.iter().any(about),
                "after {steps} steps it was asked again"
            );
        }
        let asides = core
            .state()
            .turns
            .values()
            .filter(|turn| turn.cause == Cause::Selection);
        assert_eq!(asides.count(), 0);
        if taken < steps {
            break;
        }
    }
}

fn failures(world: &World, core: &Core) -> Vec<(u32, bool)> {
    let facts = world.facts(core).into_iter().filter_map(|fact| {
        if let Fact::ModelFailed(failed) = fact {
            Some((failed.request, failed.retry_in_ms.is_some()))
        } else {
            None
        }
    });
    facts.collect()
}

#[test]
fn a_provider_that_fails_for_a_while_is_asked_again_about_a_choice_and_a_wrong_one_counts_anew() {
    let away = || fault(FaultClass::Overloaded);
    let mut world = World::new(Puppet::will_say([
        away(),
        picks("huge"),
        away(),
        away(),
        picks("small"),
        closes(),
    ]));
    world.chooses = true;
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(configured(&world, &core).len(), 1);
    assert_eq!(failures(&world, &core), [(1, true), (3, true), (4, true)]);
    assert!(core.state().turns.is_empty() && waits_for(&core).is_none());
}

#[test]
fn a_provider_that_stays_away_is_asked_so_often_and_then_the_operator_chooses() {
    let away = std::iter::repeat_with(|| fault(FaultClass::Overloaded)).take(20);
    let mut world = World::new(Puppet::will_say(away));
    world.chooses = true;
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::RoleConfiguration));
    assert_eq!(world.puppet.asked().len(), 6, "once, and five times again");
    let failures = failures(&world, &core);
    assert_eq!(failures.last(), Some(&(6, false)));
}
