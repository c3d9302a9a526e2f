//! Tables K and I: closing, reflection, the report.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::handoff::EdgeName;
use a_society_facts::{Verb, Whom};

use super::support::{Flow, id, kept, named, wants};
use crate::machine::{
    ClosingNeed, OperatorQuestion, Product, TurnEnding, Work, findings_path, missing, plan,
    report_path,
};

/// Two roles beside the owner, everything handed over, the closing node running.
fn at_end() -> Flow {
    let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b b>c c>z");
    flow.passes("a", "b");
    flow.passes("b", "c");
    flow.passes("c", "z");
    flow.claim("z").unwrap();
    flow
}

fn closed() -> Flow {
    let mut flow = at_end();
    assert_eq!(flow.closes("z"), "forward_pass_closed turn_ended");
    flow
}

fn chosen(mode: ImprovementMode) -> Flow {
    let mut flow = closed();
    let client = Some(id("choice"));
    flow.say(named(Verb::Improve { mode }, client)).unwrap();
    flow
}

/// Who may reflect now, with whose findings.
fn offered(flow: &Flow) -> String {
    let offers: Vec<String> = (flow.pending().into_iter())
        .filter_map(|work| {
            let Work::StartReflection { role, after } = work else {
                return None;
            };
            let after: Vec<&str> = after.iter().map(|role| role.as_str()).collect();
            Some(format!("{role}<-{}", after.join(",")))
        })
        .collect();
    offers.join(" ")
}

fn finds(flow: &mut Flow, role: &str) -> String {
    flow.role_ends(
        role,
        TurnEnding::MetaAnalysisComplete {
            findings: kept(&findings_path(&id(role))),
        },
    )
}

#[test]
fn k1_only_the_closing_node_closes() {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    assert_eq!(flow.closes("a"), "repair_requested");
}

#[test]
fn k2_health_checks_come_before_what_is_missing() {
    let mut flow = at_end();
    let sick = TurnEnding::ForwardPassClosed {
        health: Err("the index is broken".into()),
        asks: Some("May it close?".into()),
    };
    let input = flow.outcome_input("z", sick);
    let facts = flow.say(input).unwrap();
    let a_society_facts::Fact::RepairRequested(repair) = &facts[0] else {
        panic!("a red check is a repair");
    };
    assert_eq!(repair.summary, "the index is broken");
}

#[test]
fn what_the_operator_is_asked_before_it_closes_waits_for_an_answer() {
    let mut flow = at_end();
    let asks = TurnEnding::ForwardPassClosed {
        health: Ok(()),
        asks: Some("May it close?".into()),
    };
    let input = flow.outcome_input("z", asks);
    let facts = flow.say(input).unwrap();
    let a_society_facts::Fact::NodeSuspended(waits) = &facts[0] else {
        panic!("the operator is not asked: {facts:?}");
    };
    assert!(waits.about_project);
    assert_eq!(waits.question.as_ref().unwrap().shown(), "May it close?");
}

#[test]
fn k3_everything_that_is_missing_is_listed() {
    let nodes = "a:owner run:r1 ask:r2 wait:r3 stage:r4! unread:r5 z:owner";
    let edges = "a>run a>ask a>wait a>stage a>unread a>z run>z ask>z wait>z stage>z unread>z";
    let mut flow = Flow::on(nodes, edges);
    flow.passes("a", "run ask wait stage z");
    for node in ["run", "ask", "wait", "stage"] {
        flow.claim(node).unwrap();
    }
    flow.ends("ask", TurnEnding::asks());
    flow.ends("wait", TurnEnding::AwaitHandoff);
    flow.hands("stage", "z");
    flow.claim("a").unwrap();
    flow.hands("a", "unread");
    flow.claim("z").unwrap();
    let owed = |from: &str| {
        ClosingNeed::Owed(EdgeName {
            from: id(from),
            to: id("z"),
        })
    };
    let found = missing(&flow.state, &id("z"));
    let expected = [
        ClosingNeed::Runs(id("run")),
        ClosingNeed::Waits(id("ask")),
        ClosingNeed::Waits(id("stage")),
        ClosingNeed::Awaits(id("wait")),
        ClosingNeed::Unread(id("unread")),
        owed("ask"),
        owed("run"),
        owed("stage"),
        owed("wait"),
    ];
    assert_eq!(found, expected);
    assert_eq!(flow.closes("z"), "repair_requested");
}

#[test]
fn k3_ways_that_were_left_out_are_not_missing() {
    let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b? a>c? b>z c>z");
    flow.passes("a", "b");
    flow.passes("b", "z");
    flow.claim("z").unwrap();
    assert_eq!(missing(&flow.state, &id("z")), []);
    assert_eq!(flow.closes("z"), "forward_pass_closed turn_ended");
}

#[test]
fn k3_a_node_that_was_reopened_runs_before_the_flow_closes() {
    let mut flow = at_end();
    flow.say(wants(Verb::Reopen {
        node: id("b"),
        note: None,
    }))
    .unwrap();
    assert_eq!(
        missing(&flow.state, &id("z")),
        [ClosingNeed::AboutToRun(id("b"))]
    );
    assert_eq!(flow.closes("z"), "repair_requested");
}

#[test]
fn k4_i1_after_closing_somebody_chooses_and_parallel_needs_two_roles() {
    let modes = |flow: &Flow| match flow.pending().as_slice() {
        [Work::AskOperator(OperatorQuestion::Improvement { modes })] => modes.clone(),
        other => panic!("{other:?}"),
    };
    use ImprovementMode::{GraphBased, None, Parallel};
    assert_eq!(modes(&closed()), [GraphBased, Parallel, None]);
    let mut alone = Flow::on("a:owner", "");
    alone.claim("a").unwrap();
    alone.closes("a");
    assert_eq!(modes(&alone), [GraphBased, None]);
    let words = alone.words(wants(Verb::Improve { mode: Parallel }));
    assert!(words.starts_with("refused: only one role took part"));
}

#[test]
fn i2_graph_based_goes_against_the_work_with_the_findings_of_direct_neighbours() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    assert_eq!(offered(&flow), "editor<-");
    assert_eq!(flow.reflects("editor"), "reflection_started turn_started");
    assert_eq!(offered(&flow), "");
    assert_eq!(finds(&mut flow, "editor"), "findings_recorded turn_ended");
    assert_eq!(offered(&flow), "writer<-editor");
    flow.reflects("writer");
    finds(&mut flow, "writer");
    assert_eq!(offered(&flow), "owner<-writer");
    flow.reflects("owner");
    finds(&mut flow, "owner");
    assert_eq!(
        flow.pending(),
        [Work::AskOperator(OperatorQuestion::Feedback)]
    );
}

#[test]
fn i3_in_parallel_the_owner_comes_last_and_gets_all() {
    let mut flow = chosen(ImprovementMode::Parallel);
    assert_eq!(offered(&flow), "writer<- editor<-");
    for role in ["editor", "writer"] {
        flow.reflects(role);
    }
    finds(&mut flow, "writer");
    assert_eq!(offered(&flow), "");
    finds(&mut flow, "editor");
    assert_eq!(offered(&flow), "owner<-writer,editor");
}

#[test]
fn i1_who_took_no_part_does_not_reflect() {
    let mut flow = Flow::on("a:owner b:writer c:editor z:owner", "a>b? a>c? b>z c>z");
    flow.passes("a", "b");
    flow.passes("b", "z");
    for mode in [ImprovementMode::GraphBased, ImprovementMode::Parallel] {
        let plan = plan(&flow.graph, &flow.state, mode);
        let roles: Vec<&str> = plan.iter().map(|r| r.role.as_str()).collect();
        assert_eq!(roles, ["writer", "owner"], "{mode:?}");
    }
}

#[test]
fn i4_x9_none_completes_the_flow_also_after_a_crash_in_between() {
    let mut flow = chosen(ImprovementMode::None);
    assert_eq!(flow.state.status.word(), "completed");
    flow.crash_after(flow.facts.len() - 1);
    assert_eq!(flow.state.status.word(), "completed");
}

#[test]
fn i5_findings_count_only_at_their_path() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    let elsewhere = TurnEnding::MetaAnalysisComplete {
        findings: kept("findings/other-findings.md"),
    };
    assert_eq!(flow.role_ends("editor", elsewhere), "repair_requested");
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    let gone = TurnEnding::MetaAnalysisComplete {
        findings: Product::Unavailable {
            path: "findings/editor-findings.md".into(),
            why: "it is not there".into(),
        },
    };
    let words = flow.role_ends("editor", gone);
    assert_eq!(words, "repair_requested");
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    let words = flow.role_ends("editor", TurnEnding::AwaitHandoff);
    assert_eq!(words, "repair_requested", "S7: another signal");
}

#[test]
fn i6_a_role_that_reflects_may_ask_and_is_answered() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    let asks = TurnEnding::asks();
    assert_eq!(flow.role_ends("editor", asks), "node_suspended turn_ended");
    assert_eq!(offered(&flow), "");
    let reply = flow.reply_input(Whom::Only);
    assert_eq!(flow.words(reply), "operator_replied");
    assert_eq!(offered(&flow), "editor<-");
    assert_eq!(flow.reflects("editor"), "reflection_started turn_started");
    assert_eq!(finds(&mut flow, "editor"), "findings_recorded turn_ended");
}

#[test]
fn i6_a_failed_reflection_is_retried_by_its_role() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    flow.role_ends(
        "editor",
        TurnEnding::Aborted {
            why: "broke".into(),
            class: None,
        },
    );
    let retry = wants(Verb::Retry {
        to: Whom::Role(id("editor")),
    });
    assert_eq!(flow.words(retry), "node_woken");
    assert_eq!(offered(&flow), "editor<-");
}

#[test]
fn x8_r16_a_role_that_reflects_goes_on_when_it_is_configured_also_after_a_crash_in_between() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    flow.reflects("editor");
    let asks = TurnEnding::NeedsConfiguration {
        why: "model".into(),
    };
    flow.role_ends("editor", asks);
    assert_eq!(offered(&flow), "");
    let configure = wants(Verb::Configure {
        role: id("editor"),
        settings: BTreeMap::default(),
    });
    assert_eq!(flow.words(configure), "role_configured node_woken");
    assert_eq!(offered(&flow), "editor<-");
    flow.crash_after(flow.facts.len() - 1);
    assert_eq!(
        offered(&flow),
        "editor<-",
        "the crash came before it was woken"
    );
}

#[test]
fn i9_what_nobody_heard_is_given_back_before_the_flow_is_completed() {
    let mut flow = at_end();
    let steer = wants(Verb::Steer {
        role: id("owner"),
        text: "look here".into(),
        when: SteerWhen::Queue,
    });
    assert_eq!(flow.words(steer), "operator_steered");
    flow.closes("z");
    let words = flow.words(wants(Verb::Improve {
        mode: ImprovementMode::None,
    }));
    assert_eq!(words, "improvement_chosen reply_returned flow_completed");
}

fn reflected() -> Flow {
    let mut flow = chosen(ImprovementMode::GraphBased);
    for role in ["editor", "writer", "owner"] {
        flow.reflects(role);
        finds(&mut flow, role);
    }
    flow
}

#[test]
fn i7_without_a_report_the_flow_is_completed() {
    let mut flow = reflected();
    let words = flow.words(wants(Verb::Feedback { granted: false }));
    assert_eq!(words, "feedback_decided flow_completed");
    flow.crash_after(flow.facts.len() - 1);
    assert_eq!(flow.state.status.word(), "completed", "X9");
}

#[test]
fn i8_the_report_is_written_by_a_role_of_its_own_and_ends_the_flow() {
    let mut flow = reflected();
    flow.say(wants(Verb::Feedback { granted: true })).unwrap();
    assert_eq!(flow.pending(), [Work::StartFeedback { role: None }]);
    assert!(flow.reports("writer").starts_with("refused"));
    let words = flow.reports("feedback");
    assert_eq!(words, "feedback_started session_opened turn_started");
    assert!(flow.reports("another").starts_with("refused"));
    let report = TurnEnding::BackwardPassComplete {
        report: kept(report_path()),
    };
    let words = flow.role_ends("feedback", report);
    assert_eq!(words, "feedback_recorded turn_ended flow_completed");
    for lost in 1..=2 {
        let mut crashed = flow.clone();
        crashed.crash_after(flow.facts.len() - lost);
        assert_eq!(
            crashed.state.status.word(),
            "completed",
            "X5 and X9, {lost} facts lost"
        );
    }
}

#[test]
fn r13_a_node_is_reopened_after_the_end_and_not_while_roles_reflect() {
    let mut flow = chosen(ImprovementMode::GraphBased);
    let reopen = || {
        wants(Verb::Reopen {
            node: id("b"),
            note: None,
        })
    };
    flow.reflects("editor");
    assert!(
        flow.words(reopen())
            .ends_with("of editor is still open; stop it first")
    );
    finds(&mut flow, "editor");
    assert_eq!(flow.words(reopen()), "node_reopened");
    assert_eq!(flow.state.status.word(), "running");
    assert_eq!(flow.offered(), "b:reopened");
}
