//! A run: one message that was sent to a chat, and the turn that answers it. A run has no record of its own. It is
//! folded from the journal of the chat, so that its result is there after every crash, for every process.

use a_society_facts::fact::node::{NodeClaimed, NodeSuspended, WaitReason};
use a_society_facts::fact::turn::{TurnEnd, TurnEnded};
use a_society_facts::id::{ClientId, MessageId, NodeId, TurnId};
use a_society_facts::message::{Message, Text};
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::SessionEntry;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_facts::{At, Fact};
use a_society_state::journal::follow::Follower;
use a_society_state::{Error, FlowRef, Store};

use super::key::SessionAddress;
use super::send::RunState;

/// Why a turn does not go on.
#[derive(Debug)]
struct RunWait {
    /// Absent if it is the next message: the turn is done then, and only its end is not recorded yet.
    needs: Option<String>,
    question: Option<Text>,
    /// When it goes on by itself.
    until: Option<At>,
}

/// What the records of a chat say about one message.
#[derive(Debug)]
struct RunFold {
    client: ClientId,
    reply: Option<MessageId>,
    node: Option<NodeId>,
    turn: Option<TurnId>,
    wait: Option<RunWait>,
    end: Option<RunEnd>,
}

#[derive(Debug, PartialEq)]
enum RunEnd {
    Answered,
    Failed(String),
}

impl RunFold {
    const fn new(client: ClientId) -> Self {
        Self {
            client,
            reply: None,
            node: None,
            turn: None,
            wait: None,
            end: None,
        }
    }

    fn apply(&mut self, fact: &Fact) {
        if self.end == Some(RunEnd::Answered) {
            return;
        }
        if let Fact::OperatorReplied(f) = fact {
            if f.client.as_ref() == Some(&self.client) {
                self.reply = Some(f.reply.clone());
                self.node.clone_from(&f.node);
            }
        } else if let Fact::ReplyReturned(f) = fact {
            if self.reply.as_ref() == Some(&f.reply) {
                self.end = Some(RunEnd::Failed(f.why.clone()));
            }
        } else if let Fact::NodeClaimed(f) = fact {
            if self.node.as_ref() == Some(&f.node) {
                self.claimed(f);
            }
        } else if let Fact::NodeSuspended(f) = fact {
            if self.is_of(f) {
                let is_done = f.reason == WaitReason::Message;
                self.wait = Some(RunWait {
                    needs: (!is_done).then(|| f.reason.needs(f.trouble).to_owned()),
                    question: f.question.clone(),
                    until: f.until,
                });
            }
        } else if let Fact::TurnEnded(f) = fact {
            if self.turn == Some(f.turn) {
                self.ended(f);
            }
        } else {
            self.goes_on(fact);
        }
    }

    fn goes_on(&mut self, fact: &Fact) {
        if let Fact::NodeWoken(f) = fact {
            if self.turn.is_some() && self.node == f.node {
                self.wait = None;
            }
        } else if let Fact::TurnResumed(f) = fact {
            if self.turn == Some(f.turn) {
                self.wait = None;
            }
        } else if matches!(fact, Fact::FlowCancelled(_))
            && self.reply.is_some()
            && self.end.is_none()
        {
            self.end = Some(RunEnd::Failed("the chat was ended".to_owned()));
        }
    }

    fn is_of(&self, f: &NodeSuspended) -> bool {
        self.turn.is_some() && self.end.is_none() && self.node == f.node
    }

    /// A turn reads the message, or goes on with it after one that could not. A turn that reads another message does
    /// not belong to this run.
    fn claimed(&mut self, f: &NodeClaimed) {
        let reads = |reply: &MessageId| f.replies.contains(reply);
        let is_read = self.reply.as_ref().is_some_and(reads);
        let goes_on = self.turn.is_some() && f.replies.is_empty();
        if is_read || goes_on {
            self.turn = Some(f.turn);
            (self.wait, self.end) = (None, None);
        }
    }

    fn ended(&mut self, f: &TurnEnded) {
        let waits_by_itself = self.wait.as_ref().is_some_and(|wait| wait.until.is_some());
        self.end = match f.end {
            TurnEnd::Outcome => Some(RunEnd::Answered),
            TurnEnd::Failed if waits_by_itself => None,
            TurnEnd::Waiting | TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::TurnLimit => {
                Some(RunEnd::Failed(self.failure(f)))
            }
        };
    }

    fn needs(&self) -> Option<&String> {
        self.wait.as_ref()?.needs.as_ref()
    }

    fn failure(&self, f: &TurnEnded) -> String {
        if let Some(error) = &f.error {
            return error.clone();
        }
        let question = self.wait.as_ref().and_then(|wait| wait.question.as_ref());
        match (f.end, question) {
            (TurnEnd::Stopped, _) => "the operator stopped the turn".to_owned(),
            (TurnEnd::TurnLimit, _) => "the turn reached its limit of requests".to_owned(),
            (_, Some(question)) => question.beginning().to_owned(),
            (_, None) => match self.needs() {
                Some(needs) => format!("the turn needs {needs}"),
                None => "the turn failed".to_owned(),
            },
        }
    }
}

/// Reads a run from the journal of its chat, while the driver may be writing it.
#[derive(Debug)]
pub(super) struct RunReader<'a> {
    store: &'a Store,
    flow: &'a FlowRef,
    records: Follower,
    fold: RunFold,
    session: SessionView,
    answer: Option<SessionEntry>,
}

impl<'a> RunReader<'a> {
    pub(super) fn new(
        store: &'a Store,
        address: &'a SessionAddress,
        client: ClientId,
    ) -> Result<Self, Error> {
        let SessionAddress { flow, role } = address;
        Ok(Self {
            store,
            flow,
            records: store.follow(flow)?,
            fold: RunFold::new(client),
            session: SessionView::new(role.clone(), Some(flow.flow.clone())),
            answer: None,
        })
    }

    /// How far it is now.
    pub(super) fn read(&mut self) -> Result<RunState, Error> {
        let Self {
            fold,
            session,
            answer,
            ..
        } = self;
        self.records.read(&mut |recorded| {
            let Some(fact) = recorded.fact() else { return };
            if session_role(fact) == Some(&session.role) {
                session.apply(recorded);
            }
            if let Fact::ModelAnswered(f) = fact
                && fold.turn == Some(f.turn)
                && fold.end != Some(RunEnd::Answered)
            {
                let entries = session.messages.iter().rev();
                let mut entries = entries.filter(|entry| entry.id.as_ref() == Some(&f.message));
                *answer = entries.next().cloned();
            }
            fold.apply(fact);
        })?;
        if self.fold.end.is_some() {
            // A power cut must not take back what was passed on.
            self.records.settle()?;
        }
        Ok(self.state())
    }

    /// Whether its turn goes on only when the operator did something, or at a later moment.
    pub(super) fn waits(&self, now: At) -> bool {
        let wait = self.fold.wait.as_ref().filter(|wait| wait.needs.is_some());
        wait.is_some_and(|wait| wait.until.is_none_or(|until| now < until))
    }

    fn state(&self) -> RunState {
        match &self.fold.end {
            Some(RunEnd::Answered) => RunState::Answered(self.text()),
            Some(RunEnd::Failed(why)) => RunState::Failed(why.clone()),
            None if self.fold.reply.is_none() => RunState::Unknown,
            None => RunState::GoesOn {
                needs: self.fold.needs().cloned(),
            },
        }
    }

    fn text(&self) -> String {
        let place = self.store.place(self.flow);
        let whole = |text: &Text| Ok::<_, std::convert::Infallible>(place.text_or_beginning(text));
        let Some(entry) = &self.answer else {
            return String::new();
        };
        let Ok(message) = entry.whole(whole);
        match &*message {
            Message::Assistant { content } => content.trim().to_owned(),
            Message::AssistantToolCalls { text, .. } => text.clone().unwrap_or_default(),
            Message::User { .. } | Message::ToolResult { .. } => String::new(),
        }
    }
}
