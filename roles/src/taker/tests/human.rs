//! Turns that the operator takes: what is asked, and what an answer means.

use std::sync::Arc;

use proptest::prelude::*;

use super::stage::{Stage, job, user};
use crate::handoff::{NamedTarget, RoleOutcome, Signal};
use crate::taker::human::HumanTaker;
use crate::turn::job::{BegunWith, TurnJob};
use crate::turn::step::{StepReply, TakerEnd, TurnStep};
use crate::turn::taker::Taker as _;

fn begun(job: TurnJob, with: BegunWith) -> TakerEnd {
    let mut taker = HumanTaker::new(Arc::new(job), with);
    let step = taker.next(StepReply::Begin);
    let TurnStep::End(end) = step else {
        panic!("{step:?}")
    };
    end
}

/// A node with two successors and one predecessor, at which the flow may be closed.
fn wide(reply: &str) -> TurnJob {
    let mut job = job("owner", "decide", 1);
    job.packet = reply.to_owned();
    job.allowed.forward = vec!["review".to_owned(), "review-law".to_owned()];
    job.allowed.signals.push(Signal::ForwardPassClosed);
    job
}

fn outcome(job: TurnJob) -> (RoleOutcome, String) {
    let end = begun(job, BegunWith::Reply);
    let TakerEnd::Outcome { outcome, words, .. } = end else {
        panic!("{end:?}")
    };
    (outcome, words)
}

/// What the operator reads when the turn is theirs.
fn own_turn(job: TurnJob, with: BegunWith) -> String {
    let end = begun(job, with);
    let TakerEnd::OwnTurn { words, .. } = end else {
        panic!("{end:?}")
    };
    words
}

fn handed(targets: &[(&str, &str)]) -> RoleOutcome {
    let target = |(node, path): &(&str, &str)| NamedTarget {
        target_node_id: (*node).to_owned(),
        artifact_path: (*path).to_owned(),
    };
    RoleOutcome::Handoff(targets.iter().map(target).collect())
}

#[test]
fn a_node_that_is_entered_asks_with_its_packet_and_with_what_may_be_answered() {
    insta::assert_snapshot!(own_turn(wide("The packet."), BegunWith::Packet));
}

#[test]
fn an_answer_is_a_block_or_the_short_form_of_one() {
    let table = [
        (
            "forward: review a/b c.md",
            handed(&[("review", "a/b c.md")]),
        ),
        (
            "forward: review-law `x.md`\nPlease hurry.",
            handed(&[("review-law", "x.md")]),
        ),
        (
            "forward: review x.md, review-law y.md",
            handed(&[("review", "x.md"), ("review-law", "y.md")]),
        ),
        ("back: x.md", handed(&[("intake", "x.md")])),
        ("  back:   intake   x.md ", handed(&[("intake", "x.md")])),
        ("close", RoleOutcome::ForwardPassClosed),
        ("wait", RoleOutcome::AwaitHandoff),
        (
            "Fine.\n\n```handoff\ntype: forward-pass-closed\n```\n",
            RoleOutcome::ForwardPassClosed,
        ),
    ];
    for (reply, expected) in table {
        assert_eq!(outcome(wide(reply)).0, expected, "{reply}");
    }
    assert_eq!(outcome(wide("close\n\nAll is well.")).1, "All is well.");
}

#[test]
fn an_answer_that_says_no_outcome_is_asked_about_with_the_reason() {
    let table = [
        ("I have to think.", "Choose what happens next"),
        ("closed", "Choose what happens next"),
        ("forward x.md", "Choose what happens next"),
        ("forward: x.md", "such as `forward: review PATH`"),
        ("forward: nobody x.md", "It can be `review` or `review-law`"),
        ("back:", "say which file"),
        ("```handoff\ntype: nonsense\n```", "cannot be read"),
        ("```handoff\ntype: [prompt-human", "cannot be read"),
        ("```handoff\ntype: prompt-human\n```", "asks yourself"),
        ("report: x.md", "No findings are asked for"),
    ];
    for (reply, expected) in table {
        let words = own_turn(wide(reply), BegunWith::Reply);
        assert!(words.contains(expected), "{reply}: {words}");
        assert!(words.contains("`close` ends the forward work"), "{words}");
    }
}

#[test]
fn a_turn_that_goes_on_without_its_words_asks_and_takes_nothing_for_an_answer() {
    let mut job = wide("");
    let told = "Mend it.\n\nProblem: x\n\n```handoff\ntype: forward-pass-closed\n```\n";
    job.history.push(user(told).into());
    for with in [BegunWith::Packet, BegunWith::Reply] {
        let words = own_turn(job.clone(), with);
        assert!(words.starts_with("Problem: x\n\n"), "{words}");
    }
}

#[test]
fn findings_end_a_turn_in_which_they_are_asked_for() {
    let mut job = job("owner", "decide", 0);
    job.node = None;
    job.allowed.signals = vec![Signal::MetaAnalysisComplete {
        findings_path: "f.md".to_owned(),
    }];
    job.packet = "findings: f.md".to_owned();
    let findings_path = "f.md".to_owned();
    assert_eq!(
        outcome(job).0,
        RoleOutcome::MetaAnalysisComplete { findings_path }
    );
}

#[test]
fn an_outcome_that_is_refused_is_asked_about_in_the_words_of_the_refusal() {
    let mut stage = Stage::new(wide("close"));
    let mut taker = HumanTaker::new(Arc::new(stage.job.clone()), BegunWith::Reply);
    stage.run(&mut taker, StepReply::Begin, 1);
    let told = stage.mend();
    stage.run(&mut taker, told, 1);
    let end = stage.lines.last().unwrap();
    assert!(
        end.contains("OwnTurn") && end.contains("Please mend it."),
        "{end}"
    );
    assert!(matches!(
        taker.next(StepReply::Stop),
        TurnStep::End(TakerEnd::Aborted { .. })
    ));
}

proptest! {
    #[test]
    fn no_answer_ends_without_an_outcome(reply in "((forward|back|close|report|wait)?:?[ a-z,.`\n-]{0,30}|\\PC{0,50})") {
        for job in [wide(&reply), TurnJob { packet: reply.clone(), ..job("a", "b", 0) }] {
            let end = begun(job, BegunWith::Reply);
            let is_outcome = matches!(end, TakerEnd::Outcome { .. } | TakerEnd::OwnTurn { .. });
            prop_assert!(is_outcome);
        }
    }
}
