//! A long flow leaves the program: as one page, as the JSON of its session, and as an archive. All of it is 52,000 messages,
//! of which the gate writes a slice.

use a_society_facts::fact::node::{NodeClaimed, NodeEntry};
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallStarted, Cause, Effect, ModelAnswered, ModelRequested,
    StopReason, TurnStarted, Usage,
};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, ToolCall};
use a_society_facts::{Fact, Hash};
use a_society_state::Flow;
use serde_json::value::RawValue;

use crate::support::{Workspace, is_full};

const LONG: &str = "20260527T143000123Z-c0ffee";

/// An answer and the result of its call are two messages; one more is what the turn began with.
fn rounds() -> u64 {
    if is_full() { 26_000 } else { 400 }
}

/// As long as many answers and outputs are; all of them are more than a page holds.
const TEXT_BYTES: usize = 1_500;

const TURN: TurnId = TurnId(1);

fn role() -> RoleInstance {
    "owner".parse().unwrap()
}

fn text(head: &str) -> String {
    let mut text = format!("{head}: ");
    while text.len() < TEXT_BYTES {
        text.push_str("the harbour was quiet, and \"nobody\" had seen the ship come in.\n");
    }
    text
}

/// A role in the middle of a turn.
fn begun(workspace: &Workspace) -> Flow {
    let mut flow = workspace.begin("demo", LONG, "A long flow", 0);
    let facts = [
        Fact::SessionOpened(SessionOpened {
            role: role(),
            key: format!("flow:{LONG}:role:owner").parse().unwrap(),
            session: "session-owner-1".parse().unwrap(),
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        }),
        Fact::NodeClaimed(NodeClaimed {
            node: "owner-intake".parse().unwrap(),
            role: role(),
            turn: TURN,
            entry: NodeEntry::First,
            consumed: Vec::new(),
            dropped: Vec::new(),
            replies: Vec::new(),
        }),
        Fact::MessageAdded(MessageAdded {
            role: role(),
            message: "m0".parse().unwrap(),
            text: "You are at owner-intake.".into(),
            origin: Origin::Entry,
            node: Some("owner-intake".parse().unwrap()),
            client: None,
            request: None,
        }),
        Fact::TurnStarted(TurnStarted {
            turn: TURN,
            attempt: 1,
            role: role(),
            node: Some("owner-intake".parse().unwrap()),
            cause: Cause::Node,
        }),
    ];
    for fact in facts {
        flow.append(fact).unwrap();
    }
    flow
}

/// A request, its answer with a call, and what the call gave.
#[expect(clippy::too_many_lines, reason = "one table")]
fn round(number: u64) -> [Fact; 5] {
    let name = format!("t{number}");
    let input = format!(r#"{{"path":"notes/{number}.md"}}"#);
    let call = ToolCall {
        id: name.clone(),
        name: "read_file".to_owned(),
        input: RawValue::from_string(input.clone()).unwrap(),
    };
    let request = u32::try_from(number).unwrap() + 1;
    let id = format!("c{number}")
        .parse::<a_society_facts::id::CallId>()
        .unwrap();
    [
        Fact::ModelRequested(ModelRequested {
            turn: TURN,
            attempt: 1,
            role: role(),
            request,
            model: "scripted".into(),
            hash: Hash::of(input.as_bytes()),
            frame: None,
        }),
        Fact::ModelAnswered(ModelAnswered {
            turn: TURN,
            attempt: 1,
            role: role(),
            request,
            message: format!("a{number}").parse().unwrap(),
            text: AnswerText::Inline(text(&format!("Answer {number}"))),
            calls: vec![call],
            stop: StopReason::Tools,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        }),
        Fact::CallIntended(CallIntended {
            call: id.clone(),
            turn: TURN,
            role: role(),
            tool_call: name.clone(),
            ordinal: 0,
            tool: "read_file".to_owned(),
            arguments: Hash::of(input.as_bytes()),
            effect: Effect::Pure,
            idempotency_key: Hash::of(name.as_bytes()),
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: format!("read notes/{number}.md"),
        }),
        Fact::CallStarted(CallStarted {
            call: id.clone(),
            role: role(),
            process: None,
        }),
        Fact::CallFinished(CallFinished {
            call: id,
            turn: TURN,
            role: role(),
            tool_call: name,
            tool: "read_file".to_owned(),
            end: CallEnd::Done,
            output: text(&format!("Output {number}")).into(),
            message: format!("o{number}").parse().unwrap(),
            seen: Vec::new(),
            image: None,
            exit: None,
            signal: None,
            cut: Some(false),
        }),
    ]
}

#[test]
fn a_flow_of_tens_of_thousands_of_messages_is_exported_as_a_page_as_json_and_as_an_archive() {
    let workspace = Workspace::new();
    workspace.make_project("demo");
    let mut flow = begun(&workspace);
    for number in 0..rounds() {
        for fact in round(number) {
            flow.append(fact).unwrap();
        }
    }
    workspace.close(flow);
    let last = rounds() - 1;
    let session = workspace.run(&["session", "export", LONG, "owner"]).json();
    let messages = session["transcriptHistory"].as_array().unwrap();
    assert_eq!(messages.len() as u64, 2 * rounds() + 1);
    let answer = &messages[messages.len() - 2];
    assert!(
        answer
            .to_string()
            .contains(&format!("Answer {last}: the harbour")),
        "{answer}"
    );
    let said = workspace.run(&["export", "--html", LONG, "--output", "long.html", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let made = said.json();
    // What is too much is left out, and named.
    let left_out = made["left_out"].as_array().unwrap();
    assert_eq!(left_out.is_empty(), !is_full(), "{made}");
    let page = workspace.path().join("long.html").metadata().unwrap().len();
    assert_eq!(made["bytes"], page);
    assert!(page < 64 << 20, "{page}");
    let said = workspace.run(&["export", LONG, "long.tar"]);
    assert_eq!(said.code, 0, "{said:?}");
    let other = Workspace::new();
    let archive = workspace.path().join("long.tar");
    let said = other.run(&["import", archive.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(other.run(&["verify", LONG]).code, 0);
    let again = other.run(&["session", "export", LONG, "owner"]).json();
    assert_eq!(again["transcriptHistory"], session["transcriptHistory"]);
}
