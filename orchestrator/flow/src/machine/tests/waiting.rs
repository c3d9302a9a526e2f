//! Table S: what turns come to, and what waits.

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Verb;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{FaultCode, Trouble, WaitReason};
use a_society_facts::fact::operator::StopScope;
use a_society_facts::fact::session::{MessageAdded, Origin};

use super::support::{Flow, id, kept, lack, wants};
use crate::machine::limits::{LIMITS_IN_A_ROW_MAX, REPAIRS_MAX};
use crate::machine::{Input, TurnEnding, TurnOutcome, Work};

fn running() -> Flow {
    let mut flow = Flow::on("a:owner b:writer z:owner", "a>b b>z");
    flow.passes("a", "b");
    flow.claim("b").unwrap();
    flow
}

fn fault() -> TurnEnding {
    TurnEnding::Fault {
        code: FaultCode::MissingBlock,
        summary: "there is no block".into(),
    }
}

/// The role gets the request for a repair.
fn tell(flow: &mut Flow, role: &str, node: Option<&str>) {
    let message = id(&format!("s{}", flow.mint()));
    flow.append(Fact::MessageAdded(MessageAdded {
        role: id(role),
        message,
        text: "mend it".into(),
        origin: Origin::Repair,
        node: node.map(id),
        client: None,
        request: None,
    }));
}

fn reason(flow: &Flow, node: &str) -> Option<WaitReason> {
    flow.state.awaiting_operator.get(node).map(|w| w.reason)
}

#[test]
fn s1_s5_every_outcome_that_needs_the_operator_waits_with_its_reason() {
    let why = || "words".to_owned();
    let table = [
        (TurnEnding::asks(), WaitReason::PromptHuman),
        (
            TurnEnding::Aborted {
                why: why(),
                class: None,
            },
            WaitReason::AutonomousAbort,
        ),
        (TurnEnding::Stopped, WaitReason::AutonomousAbort),
        (
            TurnEnding::ProviderProblem {
                trouble: Trouble::Key,
                why: why(),
                class: None,
                servers: Vec::new(),
                until: None,
            },
            WaitReason::Provider,
        ),
        (
            TurnEnding::NeedsConfiguration { why: why() },
            WaitReason::RoleConfiguration,
        ),
        (TurnEnding::ConsentDenied, WaitReason::ConsentDenied),
        (
            TurnEnding::BudgetReached { lack: lack() },
            WaitReason::Budget,
        ),
    ];
    for (outcome, expected) in table {
        let mut flow = running();
        assert_eq!(flow.ends("b", outcome.clone()), "node_suspended turn_ended");
        assert_eq!(reason(&flow, "b"), Some(expected), "{outcome:?}");
        assert_eq!(
            flow.offered(),
            "",
            "{outcome:?} occupies its role and wakes by itself never"
        );
    }
}

#[test]
fn s5_a_budget_that_is_used_up_is_said_to_be() {
    let mut flow = running();
    flow.say(wants(Verb::Budget {
        role: None,
        measure: Measure::Turns,
        limit: Some(2),
    }))
    .unwrap();
    let words = flow.ends("b", TurnEnding::BudgetReached { lack: lack() });
    assert_eq!(words, "budget_reached node_suspended turn_ended");
}

#[test]
fn s2_nobody_awaits_a_handoff_when_nothing_else_goes_on() {
    let mut flow = running();
    assert_eq!(flow.ends("b", TurnEnding::AwaitHandoff), "repair_requested");
}

#[test]
fn s3_s4_the_sixth_fault_in_a_row_waits_for_the_operator() {
    let mut flow = running();
    for _ in 0..REPAIRS_MAX {
        assert_eq!(flow.ends("b", fault()), "repair_requested");
        let untold = flow.ends("b", fault());
        assert!(
            untold.starts_with("refused"),
            "the role was not told yet: {untold}"
        );
        tell(&mut flow, "writer", Some("b"));
    }
    assert_eq!(flow.ends("b", fault()), "node_suspended turn_ended");
    assert_eq!(reason(&flow, "b"), Some(WaitReason::RepairLimit));
    flow.reply("b");
    flow.claim("b").unwrap();
    assert_eq!(
        flow.ends("b", TurnEnding::OutputLimit),
        "repair_requested",
        "it begins anew"
    );
}

#[test]
fn s6_an_outcome_is_heard_from_the_present_try_of_an_open_turn() {
    let mut flow = running();
    let (turn, attempt) = flow.turn("b");
    let late = |attempt| {
        Input::Outcome(TurnOutcome {
            turn,
            attempt,
            outcome: TurnEnding::AwaitHandoff,
            approval: None,
        })
    };
    let words = flow.words(late(attempt + 1));
    assert_eq!(words, "refused: turn 2 is at try 1, not at try 2");
    flow.crash_after(flow.facts.len());
    let words = flow.words(late(attempt));
    assert_eq!(words, "refused: turn 2 is at try 2, not at try 1");
    flow.hands("b", "z");
    assert_eq!(flow.words(late(attempt)), "refused: turn 2 is not open");
}

#[test]
fn s7_a_signal_that_ends_another_kind_of_turn_is_mended() {
    let findings = TurnEnding::MetaAnalysisComplete {
        findings: kept("x"),
    };
    let report = TurnEnding::BackwardPassComplete { report: kept("x") };
    for outcome in [findings, report] {
        assert_eq!(running().ends("b", outcome), "repair_requested");
    }
}

#[test]
fn s8_a_stop_brings_the_turn_to_its_end_and_outlives_a_crash() {
    for scope in [
        StopScope::Node(id("b")),
        StopScope::Role(id("writer")),
        StopScope::All,
    ] {
        let mut flow = running();
        let stop = wants(Verb::Stop { scope });
        assert_eq!(flow.words(stop), "stop_requested");
        let stops = |flow: &Flow| matches!(flow.pending().as_slice(), [Work::StopTurn { .. }]);
        assert!(stops(&flow));
        flow.crash_after(flow.facts.len());
        assert!(stops(&flow), "{:?}", flow.pending());
        flow.ends("b", TurnEnding::Stopped);
        assert_eq!(reason(&flow, "b"), Some(WaitReason::AutonomousAbort));
    }
}

#[test]
fn s8_there_must_be_something_to_stop() {
    let mut flow = running();
    let stop = |scope| wants(Verb::Stop { scope });
    let words = flow.words(stop(StopScope::Node(id("a"))));
    assert_eq!(words, "refused: nothing runs there that could be stopped");
    flow.hands("b", "z");
    let words = flow.words(stop(StopScope::All));
    assert_eq!(words, "refused: nothing runs there that could be stopped");
}

#[test]
fn s9_a_turn_that_is_to_stop_does_not_mend() {
    let mut flow = running();
    flow.say(wants(Verb::Stop {
        scope: StopScope::All,
    }))
    .unwrap();
    assert_eq!(flow.ends("b", fault()), "node_suspended turn_ended");
    assert_eq!(reason(&flow, "b"), Some(WaitReason::AutonomousAbort));
}

#[test]
fn s15_a_turn_of_a_cancelled_flow_only_ends() {
    let mut flow = running();
    flow.say(wants(Verb::Cancel { why: None })).unwrap();
    assert!(matches!(flow.pending().as_slice(), [Work::StopTurn { .. }]));
    assert_eq!(flow.hands("b", "z"), "turn_ended");
    assert_eq!(flow.pending(), []);
    assert!(
        flow.state
            .received
            .iter()
            .all(|d| d.receiver().as_str() != "z")
    );
}

#[test]
fn s15_a_reflection_of_a_cancelled_flow_only_ends() {
    let mut flow = Flow::on("a:owner", "");
    flow.claim("a").unwrap();
    flow.closes("a");
    flow.say(wants(Verb::Improve {
        mode: ImprovementMode::GraphBased,
    }))
    .unwrap();
    flow.reflects("owner");
    flow.say(wants(Verb::Cancel { why: None })).unwrap();
    assert_eq!(flow.role_ends("owner", TurnEnding::Stopped), "turn_ended");
}

#[test]
fn only_a_question_of_the_role_is_ended_by_what_arrives() {
    let outcomes = [
        (TurnEnding::asks(), "b:again"),
        (
            TurnEnding::Aborted {
                why: "x".into(),
                class: None,
            },
            "",
        ),
        (
            TurnEnding::ProviderProblem {
                trouble: Trouble::Key,
                why: "x".into(),
                class: None,
                servers: Vec::new(),
                until: None,
            },
            "",
        ),
    ];
    for (outcome, expected) in outcomes {
        let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b a>c c>b b>z");
        flow.passes("a", "b c");
        flow.claim("b").unwrap();
        flow.ends("b", outcome.clone());
        flow.passes("c", "b");
        assert_eq!(flow.offered(), expected, "{outcome:?}");
    }
}

#[test]
fn a_wait_for_a_limit_ends_by_itself_when_its_time_comes_and_not_before() {
    let at = At::from_ms(3_600_000);
    let limited = TurnEnding::ProviderProblem {
        trouble: Trouble::Limit,
        why: "too many requests".into(),
        class: None,
        servers: Vec::new(),
        until: Some(at),
    };
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    flow.ends("a", limited.clone());
    let waits = [Work::WaitUntil {
        node: Some(id("a")),
        role: id("owner"),
        at,
    }];
    assert_eq!(flow.pending(), waits, "nobody is asked");
    let early = Input::TimeCame(At::from_ms(at.ms() - 1));
    assert_eq!(flow.say(early), Ok(Vec::new()));
    assert_eq!(flow.pending(), waits);
    flow.say(wants(Verb::Pause {})).unwrap();
    flow.say(Input::TimeCame(at)).unwrap();
    let asks = |work: &Work| matches!(work, Work::AskOperator(_));
    assert!(flow.pending().iter().all(asks), "a pause holds it");
    flow.say(wants(Verb::Unpause {})).unwrap();
    flow.say(Input::TimeCame(at)).unwrap();
    assert_eq!(flow.offered(), "a:again");
    // A provider that never keeps its word is the operator's in the end.
    for _ in 0..LIMITS_IN_A_ROW_MAX {
        flow.claim("a").unwrap();
        flow.ends("a", limited.clone());
        flow.say(Input::TimeCame(at)).unwrap();
    }
    assert!(flow.pending().iter().all(asks));
}
