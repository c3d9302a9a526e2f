//! Streamed text: what it costs, what it becomes.

use super::super::session::{SessionView, Texts};
use super::super::{FactView, Views};
use super::recorded;
use crate::at::At;
use crate::fact::Fact;
use crate::fact::turn::{
    DraftAdded, DraftDiscarded, DraftKept, DraftKind, ModelAnswered, StopReason, Usage,
};
use crate::id::{RoleInstance, TurnId};
use crate::line::Recorded;
use crate::message::{AnswerText, ConfirmedDraft, Message, ToolCall};
use crate::sample::{id, walk};

struct Session {
    view: SessionView,
    seq: u64,
}

impl Session {
    fn new() -> Self {
        Self {
            view: SessionView::new(id("writer"), None),
            seq: 0,
        }
    }

    fn take(&mut self, fact: Fact) {
        self.seq += 1;
        self.view
            .apply(&Recorded::new(self.seq, At::default(), fact));
    }

    fn draft(&mut self, text: &str) {
        self.take(Fact::DraftAdded(DraftAdded {
            turn: TurnId(1),
            role: id("writer"),
            request: 1,
            kind: DraftKind::Text,
            text: text.to_owned(),
        }));
    }

    fn answer(&mut self, text: AnswerText, calls: Vec<ToolCall>) {
        self.take(Fact::ModelAnswered(ModelAnswered {
            turn: TurnId(1),
            attempt: 1,
            role: id("writer"),
            request: 1,
            message: id("m1"),
            text,
            calls,
            stop: StopReason::End,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        }));
    }

    fn json(&self) -> String {
        let mut out = Vec::new();
        self.view.write_json(&mut out, Texts::BEGINNINGS);
        String::from_utf8(out).unwrap()
    }
}

fn call() -> ToolCall {
    ToolCall {
        id: "1.1".into(),
        name: "read_file".into(),
        input: serde_json::value::RawValue::from_string(r#"{"b": 1, "a": 2}"#.into()).unwrap(),
    }
}

#[test]
fn a_pending_draft_shows_as_the_last_message() {
    let mut session = Session::new();
    session.draft("Hel");
    session.draft("lo");
    let json = session.json();
    assert!(
        json.contains(r#""transcriptHistory":[{"role":"assistant","content":"Hello""#),
        "{json}"
    );
    assert!(json.contains(r#""draft":true"#), "{json}");
    assert!(session.view.messages.is_empty());
}

#[test]
fn an_answer_takes_its_draft_without_copying_it() {
    let mut session = Session::new();
    session.draft("Hello, ");
    session.draft("world");
    let held = session.view.draft.as_ref().unwrap().text.as_ptr();
    session.answer(
        AnswerText::Drafted(ConfirmedDraft::of("Hello, world")),
        Vec::new(),
    );
    let Message::Assistant { content } = &*session.view.messages[0].message else {
        panic!("no assistant message");
    };
    assert_eq!(content, "Hello, world");
    assert_eq!(content.as_ptr(), held, "the text was copied");
    assert!(!session.view.messages[0].mismatch);
}

/// The messages of a session stay where they are in memory while text is streamed: none of them
/// is moved or copied for a piece of it, so a piece costs the same in any session.
#[test]
fn a_piece_of_text_touches_no_message() {
    let mut views = Views::default();
    let facts = walk();
    let place = facts
        .iter()
        .rposition(|f| f.word() == "draft_added")
        .unwrap();
    for record in recorded(facts.clone()).take(place) {
        views.apply(&record);
    }
    let held = views.sessions[&id::<RoleInstance>("feedback")]
        .messages
        .as_ptr();
    let length = views.sessions[&id::<RoleInstance>("feedback")]
        .messages
        .len();
    let records = recorded(facts).skip(place).take(1);
    for record in records {
        let touched = views.apply(&record);
        assert!(!touched.flow && !touched.all_sessions);
    }
    assert_eq!(
        views.sessions[&id::<RoleInstance>("feedback")]
            .messages
            .as_ptr(),
        held
    );
    assert_eq!(
        views.sessions[&id::<RoleInstance>("feedback")]
            .messages
            .len(),
        length
    );
}

#[test]
fn an_answer_that_is_not_its_draft_is_marked() {
    let mut session = Session::new();
    session.draft("Hello");
    session.answer(
        AnswerText::Drafted(ConfirmedDraft::of("Goodbye")),
        Vec::new(),
    );
    assert!(session.view.messages[0].mismatch);
    assert!(session.json().contains(r#""content":"Hello""#));
    assert!(session.json().contains(r#""mismatch":true"#));
}

#[test]
fn an_answer_with_calls_keeps_what_was_said_before_them() {
    let mut session = Session::new();
    session.draft("I look.");
    session.answer(
        AnswerText::Drafted(ConfirmedDraft::of("I look.")),
        vec![call()],
    );
    let json = session.json();
    let wanted = r#"{"role":"assistant_tool_calls","calls":[{"id":"1.1","name":"read_file","input":{"b": 1, "a": 2}}],"text":"I look.""#;
    assert!(json.contains(wanted), "{json}");
}

#[test]
fn an_answer_without_text_says_none() {
    let mut session = Session::new();
    session.answer(AnswerText::Inline(String::new()), vec![call()]);
    assert!(!session.json().contains(r#""text""#));
    let mut session = Session::new();
    session.answer(AnswerText::Inline(String::new()), Vec::new());
    assert!(session.view.messages.is_empty());
}

#[test]
fn text_that_was_cut_off_is_kept_as_a_message() {
    let mut session = Session::new();
    session.draft("Half a sen");
    session.take(Fact::DraftKept(DraftKept {
        turn: TurnId(1),
        role: id("writer"),
        request: 1,
        message: id("m1"),
    }));
    assert!(session.view.draft.is_none() && session.view.messages[0].interrupted);
    assert!(session.json().contains(r#""interrupted":true"#));
}

#[test]
fn text_that_was_discarded_is_gone_from_the_transcript() {
    let mut session = Session::new();
    session.draft("Never mind");
    session.take(Fact::DraftDiscarded(DraftDiscarded {
        turn: TurnId(1),
        role: id("writer"),
        request: 1,
        why: "it is sent again".into(),
    }));
    assert!(session.view.draft.is_none() && session.view.messages.is_empty());
}
