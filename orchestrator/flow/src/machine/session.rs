//! What is done to a role's session between its turns (rows N1 to N5): a change comes in, facts or a refusal go out.
//!
//! What a session holds is not part of a flow's state, so that its view is handed in beside it.

use std::fmt;

use a_society_facts::Seat;
use a_society_facts::fact::Fact;
use a_society_facts::fact::session::{
    ArchiveRestored, CompactionFailed, CompactionStarted, Strategy, Trigger,
};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelFailed, StopReason, TurnEnd, TurnEnded, TurnStarted, Usage,
};
use a_society_facts::id::{ClientId, MessageId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::AnswerText;
use a_society_facts::view::flow::RequestState;
use a_society_facts::view::session::{Archive, SessionEntry};
use a_society_facts::view::{FlowState, SessionView};

use super::limits::COMPACTED_MESSAGES_MIN;
use super::refusal::{Refusal, listed};
use super::work::TurnTask;
use crate::graph::FlowGraph;

/// What is done to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// A summary is to replace its history.
    Compact {
        /// The name of the compaction, and of the archive that it leads to.
        compaction: String,
        /// Who asks for it.
        trigger: Trigger,
        /// Whether a model takes the role's turns.
        by_model: bool,
    },
    /// The messages of an archive replace their summary again.
    Restore {
        /// The archive.
        archive: String,
    },
}

/// Why a session does not take a change as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionUnfit {
    /// There is no session.
    Missing,
    /// A turn works in it.
    AtWork,
    /// It is being compacted.
    Compacting,
    /// It holds too little.
    TooShort,
    /// No model reads it.
    NoModel,
    /// It has no such archive.
    NoArchive {
        /// The name.
        archive: String,
        /// The archives that there are.
        there: Vec<String>,
    },
    /// The summary of the archive is itself archived.
    Within {
        /// The archive that holds it.
        holder: String,
    },
}

impl fmt::Display for SessionUnfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it has none"),
            Self::AtWork => f.write_str("a turn of it is open; let it end, or stop it"),
            Self::Compacting => f.write_str("it is being compacted already"),
            Self::TooShort => f.write_str("there is nothing in it to make shorter"),
            Self::NoModel => {
                f.write_str("its turns are not taken by a model, so its length costs nothing")
            }
            Self::NoArchive { archive, there } if there.is_empty() => {
                write!(f, "there is no archive {archive:?}, nor any other")
            }
            Self::NoArchive { archive, there } => {
                write!(
                    f,
                    "there is no archive {archive:?}; there are: {}",
                    listed(there)
                )
            }
            Self::Within { holder } => write!(
                f,
                "its summary is itself in the archive {holder}; restore that one first"
            ),
        }
    }
}

/// What follows from a change, to be appended in this order.
///
/// # Errors
/// When the session does not take it as it is.
pub fn decide(
    state: &FlowState,
    role: &RoleInstance,
    session: Option<&SessionView>,
    change: SessionChange,
    client: Option<ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let refuse = |why| Refusal::Session {
        role: role.clone(),
        why,
    };
    match change {
        SessionChange::Compact {
            compaction,
            trigger,
            by_model,
        } => {
            if trigger == Trigger::Manual {
                let session = at_rest(state, role, session).map_err(refuse)?;
                may_be_compacted(session, by_model).map_err(refuse)?;
            }
            Ok(compaction_begins(state, role, compaction, trigger, client))
        }
        SessionChange::Restore { archive } => {
            let session = at_rest(state, role, session).map_err(refuse)?;
            may_be_restored(session, &archive).map_err(refuse)?;
            Ok(vec![Fact::ArchiveRestored(ArchiveRestored {
                seat: role.into(),
                archive,
                client,
            })])
        }
    }
}

/// N1: the session exists, no turn works in it, and it is not being compacted.
fn at_rest<'a>(
    state: &FlowState,
    role: &RoleInstance,
    session: Option<&'a SessionView>,
) -> Result<&'a SessionView, SessionUnfit> {
    let (Some(brief), Some(session)) = (state.session(role), session) else {
        return Err(SessionUnfit::Missing);
    };
    if state.main_turn_of(role).is_some() {
        return Err(SessionUnfit::AtWork);
    }
    if brief.compaction.is_some() {
        return Err(SessionUnfit::Compacting);
    }
    Ok(session)
}

/// N2: there is something to summarise, and a model that reads less of it afterwards.
fn may_be_compacted(session: &SessionView, by_model: bool) -> Result<(), SessionUnfit> {
    if session.messages.len() < COMPACTED_MESSAGES_MIN {
        return Err(SessionUnfit::TooShort);
    }
    if !by_model {
        return Err(SessionUnfit::NoModel);
    }
    Ok(())
}

/// A compaction begins, and with it the turn beside the session in which the summary is made.
fn compaction_begins(
    state: &FlowState,
    role: &RoleInstance,
    compaction: String,
    trigger: Trigger,
    client: Option<ClientId>,
) -> Vec<Fact> {
    vec![
        Fact::CompactionStarted(CompactionStarted {
            seat: role.into(),
            compaction,
            trigger,
            strategy: Strategy::NodeSummary,
            client,
        }),
        Fact::TurnStarted(TurnStarted {
            turn: TurnId(state.next_turn),
            attempt: 1,
            seat: role.clone().into(),
            node: None,
            cause: Cause::Compaction,
        }),
    ]
}

/// N3: the archive is there, and what replaced it is not in another archive.
fn may_be_restored(session: &SessionView, archive: &str) -> Result<(), SessionUnfit> {
    let names = || {
        session
            .archives
            .iter()
            .map(|kept| kept.id.clone())
            .collect()
    };
    let kept = session.archives.iter().find(|kept| kept.id == archive);
    let kept = kept.ok_or_else(|| SessionUnfit::NoArchive {
        archive: archive.to_owned(),
        there: names(),
    })?;
    let id = &kept.replacement_message.id;
    let holds = |messages: &[SessionEntry]| messages.iter().any(|entry| entry.id == *id);
    if holds(&session.messages) {
        return Ok(());
    }
    let in_it = |other: &&Archive| holds(&other.archived_transcript_history);
    match session.archives.iter().find(in_it) {
        Some(holder) => Err(SessionUnfit::Within {
            holder: holder.id.clone(),
        }),
        None => Ok(()),
    }
}

/// A turn beside a session. It has one try: a crash ends it.
#[derive(Debug, Clone)]
pub struct SessionAside {
    /// The turn.
    pub turn: TurnId,
    /// Whose session it is.
    pub role: RoleInstance,
}

impl SessionAside {
    /// The number of its last request; 0 before the first.
    #[must_use]
    pub(crate) fn requests(&self, state: &FlowState) -> u32 {
        state.turns.get(&self.turn).map_or(0, |open| open.requests)
    }

    /// The model answered the last request.
    #[must_use]
    pub fn answered(
        &self,
        state: &FlowState,
        message: MessageId,
        text: String,
        usage: Usage,
    ) -> Fact {
        Fact::ModelAnswered(ModelAnswered {
            turn: self.turn,
            attempt: 1,
            seat: self.role.clone().into(),
            request: self.requests(state),
            message,
            text: AnswerText::Inline(text),
            calls: Vec::new(),
            stop: StopReason::End,
            usage,
            provider_blocks: None,
            report: None,
        })
    }

    /// The turn ends. A request without an answer has failed by then.
    #[must_use]
    pub fn ended(&self, state: &FlowState, class: &str, error: Option<String>) -> Vec<Fact> {
        let request = self.requests(state);
        let asked = state.request(self.turn, request);
        let asked = asked.filter(|asked| asked.state == RequestState::Asked);
        let failed = asked.map(|_| {
            Fact::ModelFailed(ModelFailed {
                turn: self.turn,
                attempt: 1,
                seat: self.role.clone().into(),
                request,
                class: class.to_owned(),
                error: error.clone().unwrap_or_default(),
                retry_in_ms: None,
            })
        });
        let end = match error {
            None => TurnEnd::Outcome,
            Some(_) => TurnEnd::Failed,
        };
        let ended = Fact::TurnEnded(TurnEnded {
            turn: self.turn,
            attempt: 1,
            seat: self.role.clone().into(),
            end,
            error,
        });
        failed.into_iter().chain([ended]).collect()
    }
}

/// N4: a turn beside a session that a crash cut off is over, and so is the compaction it was for: the history is still
/// there, and the role's own turn makes another summary when it needs one.
pub(super) fn cut_off(state: &FlowState) -> Vec<Fact> {
    const WHY: &str = "the process ended in the middle of it";
    let asides = state.turns.iter().filter(|(_, turn)| turn.cause.is_aside());
    let ended = asides.map(|(id, turn)| {
        Fact::TurnEnded(TurnEnded {
            turn: *id,
            attempt: turn.attempt,
            seat: turn.seat.clone(),
            end: TurnEnd::Failed,
            error: Some(WHY.to_owned()),
        })
    });
    let compacting = |(seat, compaction): (&Seat, &String)| {
        Fact::CompactionFailed(CompactionFailed {
            seat: seat.clone(),
            compaction: compaction.clone(),
            why: WHY.to_owned(),
        })
    };
    let sessions = state.sessions.iter();
    let open = sessions.filter_map(|(seat, session)| Some((seat, session.compaction.as_ref()?)));
    ended.chain(open.map(compacting)).collect()
}

/// N5: what the session of a role was last told to work on, if that is known and still there.
#[must_use]
pub fn last_task(
    graph: &FlowGraph,
    state: &FlowState,
    role: &RoleInstance,
    node: Option<&NodeId>,
) -> Option<TurnTask> {
    if state.reflecting(role).is_some() {
        let report = state
            .improvement
            .as_ref()
            .map(|improvement| &improvement.feedback);
        let writes = report.is_some_and(|report| report.role.as_ref() == Some(role));
        return Some(if writes {
            TurnTask::Feedback
        } else {
            TurnTask::Reflection
        });
    }
    let node = node.filter(|node| graph.has_node(node))?;
    Some(TurnTask::Node(node.clone()))
}
