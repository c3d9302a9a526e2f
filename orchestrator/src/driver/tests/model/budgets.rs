//! What may be spent: by roles that work side by side, and as a flow's file says it.

use a_society_state::atomic::replace;

use super::*;
use crate::run::reopen;

/// Two roles that work side by side once the first has handed to both.
const BESIDE: &str = r"
workflow:
  name: Beside
  nodes:
    - { id: ask, role: owner }
    - { id: write, role: writer }
    - { id: draw, role: painter }
    - { id: close, role: owner, await-all-inputs: true }
  edges:
    - { from: ask, to: write }
    - { from: ask, to: draw }
    - { from: write, to: close }
    - { from: draw, to: close }
roles:
  owner: { instructions: Ask. }
  writer: { instructions: Write. }
  painter: { instructions: Draw. }
";

/// How much each request sets aside for its answer: far more than its own words can be.
const OUTPUT: u64 = 50_000;

fn hands(to: &str) -> Vec<StreamArrival> {
    says(&format!("Here.\n\n```handoff\n{to}\n```"))
}

fn world() -> World {
    let both = "- { target_node_id: write, artifact_path: a.md }\n\
                - { target_node_id: draw, artifact_path: b.md }";
    let mut world = World::new(Puppet::will_say([
        hands(both),
        hands("target_node_id: close\nartifact_path: c.md"),
        hands("target_node_id: close\nartifact_path: d.md"),
        closes(),
    ]));
    world.max_output = OUTPUT;
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        let path = std::path::Path::new("/w/record").join(name);
        world.disk.make_folder("/w/record".as_ref()).ok();
        replace(&world.disk, &path, name.as_bytes()).unwrap();
    }
    world
}

fn set(core: &mut Core, role: Option<&str>, limit: u64) {
    let set = Verb::Budget {
        role: role.map(|role| role.parse().unwrap()),
        measure: Measure::Tokens,
        limit: Some(limit),
    };
    core.obey(set, None).unwrap();
}

/// How many requests were under way at once at most.
fn at_once(facts: &[Fact]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for fact in facts {
        if matches!(fact, Fact::ModelRequested(_)) {
            open += 1;
        }
        if matches!(fact, Fact::ModelAnswered(_) | Fact::ModelFailed(_)) {
            open -= 1;
        }
        most = most.max(open);
    }
    most
}

#[test]
fn roles_that_work_side_by_side_set_aside_what_their_requests_may_cost_before_these_leave() {
    // Whether there is room for one of the two requests or for both.
    for (limit, wanted) in [(OUTPUT * 8, 2), (OUTPUT * 3 / 2, 1)] {
        let world = world();
        let mut core = world.begin_with(BESIDE);
        set(&mut core, None, limit);
        walk(&mut core, 10_000);
        let facts = world.facts(&core);
        assert_eq!(at_once(&facts), wanted, "with {limit}");
        assert_eq!(
            world.puppet.asked().len(),
            4,
            "the other one waited its turn"
        );
        assert!(core.state().turns.is_empty() && waits_for(&core).is_none());
    }
}

#[test]
fn a_role_without_the_money_waits_beside_one_that_has_it_and_goes_on_after_a_raise() {
    let world = world();
    let mut core = world.begin_with(BESIDE);
    set(&mut core, Some("painter"), OUTPUT / 2);
    walk(&mut core, 10_000);
    let painter: RoleInstance = "painter".parse().unwrap();
    let waits: Vec<_> = core.state().waits().collect();
    let [(Some(node), waiting)] = &waits[..] else {
        panic!("one waits: {waits:?}")
    };
    assert_eq!(
        (node.as_str(), &waiting.role, waiting.reason),
        ("draw", &painter, WaitReason::Budget)
    );
    assert_eq!(
        world.puppet.asked().len(),
        2,
        "owner and writer were asked, painter was not"
    );
    set(&mut core, Some("painter"), OUTPUT * 2);
    walk(&mut core, 10_000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 4));
}

#[test]
fn the_budgets_of_a_file_are_there_before_anything_is_spent_and_once() {
    let file = BESIDE.replace("Draw. }", "Draw., budget: { tokens: 7, turns: 3 } }");
    let file = format!("{file}budget: {{ cost-micro-usd: 9 }}\n");
    let world = world();
    let core = world.begin_with(&file);
    let set = |world: &World, core: &Core| {
        let facts = world.facts(core).into_iter().filter_map(|fact| {
            let Fact::BudgetSet(set) = fact else {
                return None;
            };
            Some((
                set.role.map(|role| role.to_string()),
                set.measure,
                set.limit,
            ))
        });
        facts.collect::<Vec<_>>()
    };
    let painter = || Some("painter".to_owned());
    let wanted = [
        (None, Measure::CostMicros, Some(9)),
        (painter(), Measure::Tokens, Some(7)),
        (painter(), Measure::Turns, Some(3)),
    ];
    assert_eq!(set(&world, &core), wanted);
    let (flow, store) = (at(&core), store(&world.disk));
    drop(core);
    let again = reopen(&store, &flow, "/w/project".into(), Box::new(SeededMint(5)));
    let (core, _) = again.unwrap();
    assert_eq!(set(&world, &core), wanted, "said once");
}

#[test]
fn a_budget_of_a_file_that_the_operator_lifted_before_the_first_turn_stays_lifted() {
    let file = format!("{BESIDE}budget: {{ tokens: 9 }}\n");
    let world = world();
    let mut core = world.begin_with(&file);
    assert_eq!(core.state().left(None, Measure::Tokens), Some(9));
    let lift = Verb::Budget {
        role: None,
        measure: Measure::Tokens,
        limit: None,
    };
    core.obey(lift, None).unwrap();
    let (flow, store) = (at(&core), store(&world.disk));
    drop(core);
    let again = reopen(&store, &flow, "/w/project".into(), Box::new(SeededMint(5)));
    let (core, _) = again.unwrap();
    assert_eq!(core.state().left(None, Measure::Tokens), None);
}

#[test]
fn a_budget_of_turns_stops_the_turn_that_is_one_too_many() {
    let world = world();
    let mut core = world.begin_with(BESIDE);
    let turns = |limit| Verb::Budget {
        role: Some("owner".parse().unwrap()),
        measure: Measure::Turns,
        limit: Some(limit),
    };
    core.obey(turns(1), None).unwrap();
    walk(&mut core, 10_000);
    assert_eq!(waits_for(&core), Some(WaitReason::Budget));
    assert_eq!(world.puppet.asked().len(), 3, "the last turn asked nothing");
    core.obey(turns(3), None).unwrap();
    walk(&mut core, 10_000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 4));
}
