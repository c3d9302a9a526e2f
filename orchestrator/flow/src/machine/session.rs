//! What is done to a role's session between its turns (rows N1 to N5): a change comes in, facts or a refusal go out.
//!
//! What a session holds is not part of a flow's state, so that its view is handed in beside it.

use std::fmt;
use std::ops::Range;

use a_society_facts::Fact;
use a_society_facts::fact::operator::StopScope;
use a_society_facts::fact::session::{
    ArchiveRestored, CompactionFailed, CompactionStarted, CompactionWish, MessageInjected,
    MessagesTrimmed, Origin, SessionClosed, SessionCompacted, SessionRenewed, SessionState,
    Speaker, Strategy, Trigger,
};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelFailed, StopReason, TurnEnd, TurnEnded, TurnStarted, Usage,
};
use a_society_facts::id::{ClientId, MessageId, NodeId, RoleInstance, SessionId, TurnId};
use a_society_facts::message::{AnswerText, Message, Text};
use a_society_facts::view::flow::RequestState;
use a_society_facts::view::session::{Archive, ArchiveKind, SessionEntry};
use a_society_facts::view::{flow::FlowState, session::SessionView};

use super::claim::open_session;
use super::input::{NewSession, OperatorWords};
use super::limits::COMPACTED_MESSAGES_MIN;
use super::refusal::{Refusal, listed};
use super::span::{self, is_of_person};
use super::stop;
use super::work::TurnTask;
use crate::graph::FlowGraph;

/// How long a session was before its history was replaced, and how long it is after that. Only their ratio counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLengths {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// What is done to a session.
#[derive(Debug, Clone)]
pub enum SessionChange {
    /// A summary is to replace its history.
    Compact {
        /// The name of the compaction, and of the archive that it leads to.
        compaction: String,
        /// Who asks for it.
        trigger: Trigger,
        /// Whether a model takes the role's turns.
        by_model: bool,
        /// How the operator wants it, if that is known.
        wish: Option<CompactionWish>,
    },
    /// It gets a message, which begins no turn.
    Inject {
        /// Whose the message is.
        speaker: Speaker,
        /// The message.
        words: OperatorWords,
        /// The names of the session, for a chat whose person has not sent anything.
        opens: Option<NewSession>,
    },
    /// One message replaces its history, but for the last messages.
    Shorten {
        /// The name of the compaction that ends so, and of the archive.
        compaction: String,
        /// Who asked for it.
        trigger: Trigger,
        /// How the message was made.
        strategy: Strategy,
        /// The name of the message.
        message: MessageId,
        /// What it says.
        replacement: Text,
        /// How many of the first messages stay.
        kept_first: u64,
        /// How many of the last messages stay.
        kept_last: u64,
        /// How long the session was, and how long it is now.
        lengths: SessionLengths,
        /// Why no model made the summary.
        why: Option<String>,
    },
    /// A compaction led to nothing.
    LeaveAsItIs {
        /// Its name.
        compaction: String,
        /// Why.
        why: String,
    },
    /// Its oldest messages are archived.
    Trim {
        /// The name of the archive.
        archive: String,
        /// How many of the last messages stay at least.
        keep: u64,
    },
    /// It begins anew.
    Reset {
        /// The name of the archive of what it held.
        archive: String,
        /// The name of the incarnation.
        session: SessionId,
    },
    /// It was closed, and begins anew.
    Open {
        /// The name of the archive of what it held.
        archive: String,
        /// The name of the incarnation.
        session: SessionId,
    },
    /// The messages of an archive are in it again.
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
    /// It was closed.
    Closed,
    /// It is a role's of a flow, and ends with the flow.
    NoChat,
    /// It holds too little.
    TooShort,
    /// A summary of its node replaces everything, and nothing of it can stay.
    KeepsNothing,
    /// No model reads it.
    NoModel,
    /// It has no such archive.
    NoArchive {
        /// The name.
        archive: String,
        /// The archives that there are.
        there: Vec<String>,
    },
    /// Its node is under way, and what the node was given is in it.
    InNode {
        /// The node.
        node: NodeId,
    },
    /// Later messages than those of the archive are archived as well.
    Before {
        /// The archive that has to be restored first.
        later: String,
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
            Self::Closed => f.write_str("it is closed; open it first"),
            Self::NoChat => f.write_str("it is no chat; a session of a flow ends with the flow"),
            Self::TooShort => f.write_str("there is nothing in it to compact"),
            Self::KeepsNothing => f.write_str(
                "node_summary replaces everything; llm summarizes what is between the messages that stay",
            ),
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
            Self::InNode { node } => write!(
                f,
                "the node {node} is under way and what it was given is in the session; make it \
                 shorter with compact or trim, or let the node end"
            ),
            Self::Before { later } => write!(
                f,
                "later messages are in the archive {later}; restore that one first"
            ),
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
        compact @ SessionChange::Compact { .. } => {
            compaction_wanted(state, role, session, compact, client)
        }
        inject @ SessionChange::Inject { .. } => message_injected(state, role, inject, client),
        shorten @ SessionChange::Shorten { .. } => Ok(shortened(role, session, shorten)),
        SessionChange::LeaveAsItIs { compaction, why } => {
            Ok(vec![Fact::CompactionFailed(CompactionFailed {
                role: role.clone(),
                compaction,
                why,
            })])
        }
        SessionChange::Trim { archive, keep } => {
            let session = at_rest(state, role, session).map_err(refuse)?;
            let trimmed = trimmed(session, keep).map(|kept| MessagesTrimmed {
                role: role.clone(),
                archive,
                kept_last: kept.last,
                kept: kept.before,
                client,
            });
            Ok(trimmed.map(Fact::MessagesTrimmed).into_iter().collect())
        }
        SessionChange::Reset {
            archive,
            session: incarnation,
        } => {
            let session = at_rest(state, role, session).map_err(refuse)?;
            may_be_reset(state, role).map_err(refuse)?;
            Ok(renewed(session, archive, incarnation, client))
        }
        SessionChange::Open {
            archive,
            session: incarnation,
        } => {
            let Some(session) = opened(state, role, session).map_err(refuse)? else {
                return Ok(Vec::new());
            };
            Ok(renewed(session, archive, incarnation, client))
        }
        SessionChange::Restore { archive } => {
            let session = at_rest(state, role, session).map_err(refuse)?;
            may_be_restored(session, &archive).map_err(refuse)?;
            Ok(vec![Fact::ArchiveRestored(ArchiveRestored {
                role: role.clone(),
                archive,
                client,
            })])
        }
    }
}

/// A session is to become shorter.
fn compaction_wanted(
    state: &FlowState,
    role: &RoleInstance,
    session: Option<&SessionView>,
    change: SessionChange,
    client: Option<ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let SessionChange::Compact {
        compaction,
        trigger,
        by_model,
        wish,
    } = change
    else {
        return Ok(Vec::new());
    };
    let refuse = |why| Refusal::Session {
        role: role.clone(),
        why,
    };
    let strategy = wish.map_or(Strategy::NodeSummary, |wish| wish.strategy);
    if trigger == Trigger::Manual {
        let session = at_rest(state, role, session).map_err(refuse)?;
        may_be_compacted(session, by_model).map_err(refuse)?;
        if strategy == Strategy::NodeSummary && wish.as_ref().is_some_and(keeps) {
            return Err(refuse(SessionUnfit::KeepsNothing));
        }
        if wish.is_some_and(|wish| span::replaced(session, &wish).is_none()) {
            return Ok(Vec::new());
        }
    }
    let begins = CompactionStarted {
        role: role.clone(),
        compaction,
        trigger,
        strategy,
        client,
    };
    Ok(compaction_begins(state, begins))
}

/// A session gets a message.
fn message_injected(
    state: &FlowState,
    role: &RoleInstance,
    change: SessionChange,
    client: Option<ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let SessionChange::Inject {
        speaker,
        words,
        opens,
    } = change
    else {
        return Ok(Vec::new());
    };
    let opened = injected(state, role, opens)?;
    let injected = Fact::MessageInjected(MessageInjected {
        role: role.clone(),
        message: words.message,
        speaker,
        text: words.text,
        client,
    });
    Ok(opened.into_iter().chain([injected]).collect())
}

/// N9: a session takes a message at any time, unless it is being compacted between turns. What opens it, where it is that
/// of a chat whose person has not sent anything.
fn injected(
    state: &FlowState,
    role: &RoleInstance,
    opens: Option<NewSession>,
) -> Result<Option<Fact>, Refusal> {
    let refuse = |why| {
        Err(Refusal::Session {
            role: role.clone(),
            why,
        })
    };
    let mut nodes = state.graph.nodes.iter();
    let is_chat_of = state.chat.is_some() && nodes.any(|node| node.role == *role);
    match (state.session(role), opens.filter(|_| is_chat_of)) {
        (None, Some(names)) => open_session(state, role, Some(&names)),
        (None, None) => refuse(SessionUnfit::Missing),
        (Some(brief), _) if brief.state == SessionState::Expired => refuse(SessionUnfit::Closed),
        (Some(brief), _) if brief.compaction.is_some() && state.main_turn_of(role).is_none() => {
            refuse(SessionUnfit::Compacting)
        }
        (Some(_), _) => Ok(None),
    }
}

/// N8: a chat that was closed is opened; nothing if it is open.
fn opened<'a>(
    state: &FlowState,
    role: &RoleInstance,
    session: Option<&'a SessionView>,
) -> Result<Option<&'a SessionView>, SessionUnfit> {
    let session = session.ok_or(SessionUnfit::Missing)?;
    if state.chat.is_none() {
        return Err(SessionUnfit::NoChat);
    }
    if session.state != SessionState::Expired {
        return Ok(None);
    }
    idle(state, role)?;
    Ok(Some(session))
}

impl SessionLengths {
    /// The tokens of a session that is so much shorter, if it is known how many it had.
    fn tokens_after(self, tokens: u64) -> Option<u64> {
        let left = self.after.min(self.before) as u128;
        let part = u128::from(tokens) * left / (self.before.max(1) as u128);
        u64::try_from(part).ok().filter(|_| tokens > 0)
    }
}

/// One message replaces the history of a session.
fn shortened(
    role: &RoleInstance,
    session: Option<&SessionView>,
    change: SessionChange,
) -> Vec<Fact> {
    let SessionChange::Shorten {
        compaction,
        trigger,
        strategy,
        message,
        replacement,
        kept_first,
        kept_last,
        lengths,
        why,
    } = change
    else {
        return Vec::new();
    };
    let tokens_before = session.map_or(0, |session| session.latest_context_usage);
    vec![Fact::SessionCompacted(SessionCompacted {
        role: role.clone(),
        compaction,
        trigger,
        strategy,
        node: session.and_then(|session| Some(session.node.as_ref()?.node.clone())),
        message,
        replacement,
        kept_first,
        kept_last,
        tokens_before,
        tokens_after: session.and_then(|_| lengths.tokens_after(tokens_before)),
        why,
    })]
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
    if brief.state == SessionState::Expired {
        return Err(SessionUnfit::Closed);
    }
    idle(state, role)?;
    Ok(session)
}

/// No turn works in the session of a role, and it is not being compacted.
fn idle(state: &FlowState, role: &RoleInstance) -> Result<(), SessionUnfit> {
    if state.main_turn_of(role).is_some() {
        return Err(SessionUnfit::AtWork);
    }
    match state.session(role).map(|brief| &brief.compaction) {
        Some(Some(_)) => Err(SessionUnfit::Compacting),
        Some(None) | None => Ok(()),
    }
}

/// The next incarnation of a session begins.
fn renewed(
    session: &SessionView,
    archive: String,
    incarnation: SessionId,
    client: Option<ClientId>,
) -> Vec<Fact> {
    vec![Fact::SessionRenewed(SessionRenewed {
        role: session.role.clone(),
        archive,
        session: incarnation,
        generation: session.generation.saturating_add(1),
        client,
    })]
}

/// N8: a chat is closed between its turns, or with force, which stops the turn that is open.
pub(super) fn close(
    state: &FlowState,
    role: &RoleInstance,
    force: bool,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let refuse = |why| Refusal::Session {
        role: role.clone(),
        why,
    };
    if state.chat.is_none() {
        return Err(refuse(SessionUnfit::NoChat));
    }
    let Some(brief) = state.session(role) else {
        return Err(refuse(SessionUnfit::Missing));
    };
    if brief.state == SessionState::Expired {
        return Ok(Vec::new());
    }
    let mut facts = match idle(state, role) {
        Err(SessionUnfit::AtWork) if force => {
            stop::stop(state, &StopScope::Role(role.clone()), None)?
        }
        Err(why) => return Err(refuse(why)),
        Ok(()) if !state.running.is_empty() && !force => {
            return Err(refuse(SessionUnfit::AtWork));
        }
        Ok(()) => Vec::new(),
    };
    facts.push(Fact::SessionClosed(SessionClosed {
        role: role.clone(),
        client: client.cloned(),
    }));
    Ok(facts)
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

/// Whether messages are to stay.
fn keeps(wish: &CompactionWish) -> bool {
    wish.keep_first > 0 || wish.keep_last.is_some()
}

/// A compaction begins, and with it the turn beside the session in which the summary is made.
fn compaction_begins(state: &FlowState, begins: CompactionStarted) -> Vec<Fact> {
    let turn = TurnStarted {
        turn: TurnId(state.next_turn),
        attempt: 1,
        role: begins.role.clone(),
        node: None,
        cause: Cause::Compaction,
    };
    vec![Fact::CompactionStarted(begins), Fact::TurnStarted(turn)]
}

/// The messages of a session that one message is to replace; nothing if all stay.
#[must_use]
pub fn replaced(session: &SessionView, wish: &CompactionWish) -> Option<Range<usize>> {
    span::replaced(session, wish)
}

/// What a session keeps that is trimmed.
#[derive(Debug, PartialEq, Eq)]
struct Remainder {
    /// So many of the last messages.
    last: u64,
    /// Messages before those.
    before: Vec<MessageId>,
}

/// N6: what stays of a session if its last messages are to stay; nothing if all of it would.
///
/// The cut moves back, and never forward: the last message of a person stays, and so does a call with its results.
/// What the node under way was given stays as well, and so do notes of the system.
fn trimmed(session: &SessionView, keep: u64) -> Option<Remainder> {
    let messages = &session.messages;
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let mut cut = messages.len().saturating_sub(keep);
    if let Some(last) = messages.iter().rposition(is_of_person) {
        cut = cut.min(last);
    }
    let splits = |entry: &SessionEntry| matches!(*entry.message, Message::ToolResult { .. });
    while cut > 0 && messages.get(cut).is_some_and(splits) {
        cut -= 1;
    }
    let node = session.node.as_ref().map(|mark| &mark.node);
    let gone = messages.get(..cut)?;
    let is_packet = |entry: &&SessionEntry| {
        entry.origin == Some(Origin::Entry) && node.is_some() && entry.node.as_ref() == node
    };
    let packet = gone
        .iter()
        .rfind(is_packet)
        .and_then(|entry| entry.id.as_ref());
    let ids = gone
        .iter()
        .filter(|entry| entry.is_system || entry.id.as_ref() == packet);
    let before: Vec<MessageId> = ids.filter_map(|entry| entry.id.clone()).collect();
    (gone.len() > before.len()).then(|| Remainder {
        last: (messages.len() - cut) as u64,
        before,
    })
}

/// N7: a chat begins anew at any time between its turns, and a role when it is in no node and looks back on nothing.
fn may_be_reset(state: &FlowState, role: &RoleInstance) -> Result<(), SessionUnfit> {
    if state.chat.is_some() {
        return Ok(());
    }
    let nodes = state.running.iter().map(|(node, at)| (node, &at.role));
    let awaiting = state.awaiting_operator.keys();
    let awaiting = awaiting.filter_map(|node| Some((node, state.role_of(node)?)));
    let staged = state.staged.values();
    let staged = staged.filter_map(|it| Some((&it.node, state.role_of(&it.node)?)));
    let mut under_way = nodes.chain(awaiting).chain(staged);
    match under_way.find(|(_, of)| *of == role) {
        Some((node, _)) => Err(SessionUnfit::InNode { node: node.clone() }),
        None => Ok(()),
    }
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
    if kept.kind != ArchiveKind::Compact {
        let mut later = session.archives.iter().rev();
        let later = later.find(|other| other.kind != ArchiveKind::Compact);
        return match later.filter(|other| other.id != kept.id) {
            Some(later) => Err(SessionUnfit::Before {
                later: later.id.clone(),
            }),
            None => Ok(()),
        };
    }
    let id = kept
        .replacement_message
        .as_ref()
        .and_then(|entry| entry.id.as_ref());
    let holds = |messages: &[SessionEntry]| {
        messages
            .iter()
            .any(|entry| id.is_some() && entry.id.as_ref() == id)
    };
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
            role: self.role.clone(),
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
                role: self.role.clone(),
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
            role: self.role.clone(),
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
            role: turn.role.clone(),
            end: TurnEnd::Failed,
            error: Some(WHY.to_owned()),
        })
    });
    let compacting = |(role, compaction): (&RoleInstance, &String)| {
        Fact::CompactionFailed(CompactionFailed {
            role: role.clone(),
            compaction: compaction.clone(),
            why: WHY.to_owned(),
        })
    };
    let sessions = state.sessions.iter();
    let open = sessions.filter_map(|(role, session)| Some((role, session.compaction.as_ref()?)));
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
