//! A chat as a flow file: a node for each turn that came to an answer, one after another.
//!
//! One role takes all nodes, so that its session holds what the earlier turns came to, and each node hands what it
//! made to the next. The file depends on the journal alone: the same chat gives the same bytes.

use a_society_facts::Fact;
use a_society_facts::fact::session::Origin;
use a_society_facts::fact::turn::{ModelAnswered, TurnEnd};
use a_society_facts::id::Seq;
use a_society_facts::message::{AnswerText, Text};
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::Texts;
use a_society_facts::view::{FactView as _, flow::FlowState, session::SessionView};
use a_society_flow::graph::{parse_file, to_yaml_with_metadata};
use a_society_state::{Error, FlowRef, Store};
use serde_json::{Value, json};

use crate::project::place::roles_of;

const HEAD: &str = "# A chat as a flow: a node for each turn that came to an answer.\n";

/// Why there is no flow file of a chat.
#[derive(Debug, thiserror::Error)]
pub enum ChatFlowFault {
    /// Its journal cannot be read.
    #[error(transparent)]
    Unread(#[from] Error),
    /// It is a flow, which has its file.
    #[error("it is a flow and no chat")]
    NoChat,
    /// No turn came to an answer.
    #[error("no turn of the chat came to an answer, and a flow has a node for each that did")]
    NoTurn,
    /// The role is not described any more.
    #[error("the project does not have the role {0} any more, and the file has to describe it")]
    NoRole(String),
    /// YAML cannot express it.
    #[error("the flow file cannot be written as YAML: {0}")]
    Unwritten(String),
}

/// A chat as a flow file, as it was at a record or as it is now. `check` accepts it, and `run` runs it.
///
/// # Errors
/// When it is no chat, none of its turns came to an answer, or its journal cannot be read.
pub fn chat_flow(
    store: &Store,
    flow: &FlowRef,
    upto: Option<Seq>,
) -> Result<String, ChatFlowFault> {
    let place = store.place(flow);
    let mut state = FlowState::default();
    let mut turns = ChatTurns::default();
    let mut session: Option<SessionView> = None;
    store.follow(flow)?.read(&mut |recorded| {
        if upto.is_some_and(|upto| recorded.seq > upto) {
            return;
        }
        state.apply(recorded);
        let Some(fact) = recorded.fact() else { return };
        turns.apply(fact, &|text| place.text_or_beginning(text));
        if let Some(role) = session_role(fact) {
            let session = session
                .get_or_insert_with(|| SessionView::new(role.clone(), Some(flow.flow.clone())));
            session.apply(recorded);
        }
    })?;
    let (Some(chat), Some(session)) = (&state.chat, session) else {
        return Err(match &state.chat {
            Some(_) => ChatFlowFault::NoTurn,
            None => ChatFlowFault::NoChat,
        });
    };
    if turns.answered.is_empty() {
        return Err(ChatFlowFault::NoTurn);
    }
    let role = session.role.base();
    let source = place.text_or_beginning(&state.graph.source);
    let own = parse_file(&source, "").0.and_then(|file| file.roles);
    let own = own.and_then(|roles| {
        let mut roles = roles.into_iter();
        roles.find(|(name, _)| name.as_str() == role)
    });
    let described = match own {
        Some((_, described)) => described,
        None => (roles_of(store, &flow.project).remove(role))
            .ok_or_else(|| ChatFlowFault::NoRole(role.to_owned()))?,
    };
    let bare =
        json!({ "workflow": turns.workflow(&state.title, role), "roles": { role: described } });
    let (file, mut faults) = parse_file(&bare.to_string(), "");
    let Some(file) = file else {
        let first = faults.drain(..).next().map(|fault| fault.message);
        return Err(ChatFlowFault::Unwritten(first.unwrap_or_default()));
    };
    let read = |hash| place.text_of(hash);
    let mut bytes = Vec::new();
    session.write_json(&mut bytes, Texts(&read));
    let transcript = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let written = |transcript: Value| {
        let of = json!({ "chat": chat.key, "project": flow.project, "flow": flow.flow, "transcript": transcript });
        let yaml = to_yaml_with_metadata(&file, &of);
        yaml.map(|yaml| format!("{HEAD}{yaml}"))
            .map_err(|fault| ChatFlowFault::Unwritten(fault.to_string()))
    };
    let whole = written(transcript)?;
    if parse_file(&whole, "").0.is_some() {
        return Ok(whole);
    }
    // With so long a transcript it is longer than a flow file may be.
    let printed_by = format!("a-society session export {}", flow.flow);
    written(json!({ "left_out_bytes": bytes.len(), "printed_by": printed_by }))
}

/// The turns of a chat, told from its journal.
#[derive(Debug, Default)]
struct ChatTurns {
    /// What was asked in each turn that came to an answer.
    answered: Vec<Vec<String>>,
    /// What was asked since the last of them.
    asked: Vec<String>,
    /// Whether a model said anything since then.
    has_text: bool,
    /// Whether the turn ended without an answer. It is left out as soon as something else is asked.
    failed: bool,
}

impl ChatTurns {
    fn apply(&mut self, fact: &Fact, whole: &dyn Fn(&Text) -> String) {
        if let Fact::MessageAdded(f) = fact {
            if matches!(f.origin, Origin::Reply | Origin::Steer) {
                if std::mem::take(&mut self.failed) {
                    self.asked.clear();
                }
                self.asked.push(whole(&f.text));
            }
        } else if let Fact::TurnStarted(_) = fact {
            self.has_text = false;
        } else if let Fact::ModelAnswered(f) = fact {
            self.has_text |= says_something(f);
        } else if let Fact::TurnEnded(f) = fact {
            let is_answered = matches!(f.end, TurnEnd::Waiting | TurnEnd::Outcome);
            if is_answered && self.has_text {
                self.answered.push(std::mem::take(&mut self.asked));
            } else {
                self.failed = true;
            }
        }
    }

    fn workflow(&self, title: &str, role: &str) -> Value {
        let id = |place: usize| format!("turn-{}", place + 1);
        let nodes = self.answered.iter().enumerate();
        let nodes =
            nodes.map(|(place, asked)| json!({ "id": id(place), "role": role, "work": asked }));
        let edges =
            (1..self.answered.len()).map(|place| json!({ "from": id(place - 1), "to": id(place) }));
        json!({
            "name": title,
            "nodes": nodes.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
        })
    }
}

fn says_something(answer: &ModelAnswered) -> bool {
    match &answer.text {
        AnswerText::Inline(text) => !text.trim().is_empty(),
        AnswerText::Drafted(draft) => draft.drafted_bytes > 0,
    }
}
