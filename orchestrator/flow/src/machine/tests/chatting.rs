//! Table T: chats.

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::Verb;
use a_society_facts::fact::node::{FaultCode, NodeEntry, WaitReason};
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::fact::turn::{ModelAnswered, ModelRequested, StopReason, TurnEnd, Usage};
use a_society_facts::message::AnswerText;
use a_society_facts::view::flow::FlowPhase;

use super::support::{Flow, graph, id, revised, wants};
use crate::machine::{Input, OperatorQuestion, TurnEnding, Work};

/// A chat that waits for its first message.
fn waiting() -> Flow {
    let mut flow = Flow::chat("owner");
    assert_eq!(flow.words(Input::Opened), "node_suspended");
    flow
}

fn reason(flow: &Flow) -> Option<WaitReason> {
    let mut waits = flow.state.awaiting_operator.values();
    waits.next().map(|waiting| waiting.reason)
}

/// The person says something, the role gets it, and the model answers.
fn speaks(flow: &mut Flow) {
    flow.reply("chat");
    flow.claim("chat").unwrap();
    let (turn, attempt) = flow.turn("chat");
    let said = flow.state.running["chat"].unsaid[0].clone();
    flow.append(Fact::MessageAdded(MessageAdded {
        role: id("owner"),
        message: said.id,
        text: said.text,
        origin: Origin::Reply,
        node: Some(id("chat")),
        client: None,
        request: None,
    }));
    flow.append(Fact::ModelRequested(ModelRequested {
        turn,
        attempt,
        role: id("owner"),
        request: 1,
        model: "m".into(),
        hash: Hash::of(b"request"),
        frame: None,
    }));
    let message = id(&format!("m{}", flow.mint()));
    flow.append(Fact::ModelAnswered(ModelAnswered {
        turn,
        attempt,
        role: id("owner"),
        request: 1,
        message,
        text: AnswerText::Inline("Yes.".into()),
        calls: Vec::new(),
        stop: StopReason::End,
        usage: Usage::default(),
        provider_blocks: None,
        report: None,
    }));
}

#[test]
fn t1_x10_a_chat_begins_with_a_wait_and_every_message_is_a_reply() {
    let mut flow = waiting();
    assert_eq!(reason(&flow), Some(WaitReason::Message));
    let asked = Work::AskOperator(OperatorQuestion::Text {
        node: Some(id("chat")),
        role: id("owner"),
        reason: WaitReason::Message,
    });
    assert_eq!(flow.pending(), [asked]);
    assert_eq!(flow.words(Input::Opened), "");
    assert_eq!(flow.reply("chat"), "flow_titled operator_replied");
    assert_eq!(flow.state.title, "Go on.");
    assert_eq!(flow.offered(), "chat:reply");
    let facts = flow.claim("chat").unwrap();
    assert!(matches!(&facts[0], Fact::NodeClaimed(f) if f.entry == NodeEntry::Reply));
}

#[test]
fn t1_t2_an_answer_ends_the_turn_and_the_next_message_is_like_the_first() {
    let mut flow = waiting();
    for _ in 0..3 {
        speaks(&mut flow);
        assert_eq!(
            flow.ends("chat", TurnEnding::Answered),
            "node_suspended turn_ended"
        );
        let ended = flow.facts.last();
        assert!(matches!(ended, Some(Fact::TurnEnded(f)) if f.end == TurnEnd::Outcome));
        assert_eq!(reason(&flow), Some(WaitReason::Message));
        assert_eq!(flow.state.phase, FlowPhase::Forward);
    }
    let replied = flow
        .facts
        .iter()
        .filter(|fact| fact.word() == "flow_titled");
    assert_eq!(replied.count(), 1);
    // In a flow, an answer without an ending is mended.
    let mut other = Flow::on("a:owner", "");
    other.claim("a").unwrap();
    assert_eq!(other.ends("a", TurnEnding::Answered), "repair_requested");
}

#[test]
fn t3_nothing_of_a_chat_is_corrected() {
    let fault = TurnEnding::Fault {
        code: FaultCode::MissingBlock,
        summary: "there is no block".into(),
    };
    for outcome in [fault, TurnEnding::OutputLimit, TurnEnding::AwaitHandoff] {
        let mut flow = waiting();
        speaks(&mut flow);
        assert_eq!(flow.ends("chat", outcome), "node_suspended turn_ended");
        assert_eq!(reason(&flow), Some(WaitReason::AutonomousAbort));
        assert_eq!(flow.reply("chat"), "operator_replied");
        assert_eq!(flow.offered(), "chat:reply");
    }
}

#[test]
fn t4_a_chat_never_closes_and_keeps_its_graph() {
    let mut flow = waiting();
    speaks(&mut flow);
    assert_eq!(flow.closes("chat"), "node_suspended turn_ended");
    assert_eq!(flow.state.phase, FlowPhase::Forward);
    let refused = flow.words(revised(graph("chat:owner z:owner", "chat>z")));
    assert!(refused.contains("a chat keeps its graph"), "{refused}");
    assert_eq!(
        flow.words(wants(Verb::Cancel { why: None })),
        "flow_cancelled"
    );
}

#[test]
fn x5_x6_x10_a_chat_that_ends_behind_any_fact_comes_to_the_same_wait() {
    let mut whole = waiting();
    speaks(&mut whole);
    whole.ends("chat", TurnEnding::Answered);
    let born = whole
        .facts
        .iter()
        .position(|fact| fact.word() == "flow_created");
    for kept in born.unwrap() + 1..=whole.facts.len() {
        let mut flow = whole.clone();
        flow.crash_after(kept);
        let spoken = flow
            .facts
            .iter()
            .any(|fact| fact.word() == "operator_replied");
        if !spoken {
            assert_eq!(reason(&flow), Some(WaitReason::Message), "behind {kept}");
            continue;
        }
        if flow.offered() == "chat:reply" || flow.offered() == "chat:recovered" {
            flow.claim("chat").unwrap();
        }
        if !flow.state.turns.is_empty() {
            let runs = flow.pending();
            assert!(
                matches!(runs.as_slice(), [Work::RunTurn { .. }]),
                "behind {kept}: {runs:?}"
            );
            continue;
        }
        assert_eq!(reason(&flow), Some(WaitReason::Message), "behind {kept}");
    }
}

fn close(force: bool) -> Input {
    wants(Verb::Close {
        role: id("owner"),
        force,
    })
}

#[test]
fn n8_a_chat_is_closed_between_turns_or_with_a_stop_and_nothing_goes_on_in_it() {
    let mut flow = waiting();
    let none = "refused: the session of owner: it has none";
    assert_eq!(flow.words(close(false)), none);
    speaks(&mut flow);
    let open = "refused: the session of owner: a turn of it is open; let it end, or stop it";
    assert_eq!(flow.words(close(false)), open);
    let mut forced = flow.clone();
    assert_eq!(forced.words(close(true)), "stop_requested session_closed");
    let pending = forced.pending();
    assert!(
        matches!(pending[..], [Work::StopTurn { .. }]),
        "{pending:?}"
    );

    flow.ends("chat", TurnEnding::Answered);
    assert_eq!(flow.words(close(false)), "session_closed");
    assert_eq!(flow.words(close(false)), "");
    let reply = Verb::Reply {
        to: a_society_facts::Whom::Only,
        text: "More.".into(),
        asked: None,
    };
    let closed = "refused: the chat was closed, and takes no messages";
    assert_eq!(flow.words(wants(reply)), closed);
}
