//! Making a session shorter in the middle of a turn: a turn aside makes the summary, and one
//! message then stands for everything that was said. Between turns the operator may want the same:
//! `by_hand`.

use a_society_facts::fact::Fact;
use a_society_facts::fact::session::{
    CompactionFailed, CompactionStarted, SessionCompacted, Strategy, Trigger,
};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelFailed, ModelRequested, StopReason, TurnEnd, TurnEnded, TurnStarted,
    Usage,
};
use a_society_facts::hash::Hash;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Message};
use a_society_facts::view::flow::RequestState;
use a_society_facts::view::session::Entry;
use a_society_flow::machine::Task;
use a_society_roles::role::packet::{Compacted, compacted_message};
use a_society_roles::turn::step::{Compact, Told, Tried};

use super::budget::Short;
use super::core::Core;
use super::error::DriverError;
use super::role_source::About;
use super::step::Heard;
use crate::mint;

/// What takes the place of a history, and why.
#[derive(Debug)]
pub(super) struct Shortened<'a> {
    pub(super) compaction: String,
    pub(super) trigger: Trigger,
    pub(super) strategy: Strategy,
    /// What the flow knows about the role's work.
    pub(super) picture: &'a str,
    pub(super) summary: &'a str,
}

impl Core {
    pub(super) fn compact(
        &mut self,
        turn: TurnId,
        attempt: u32,
        compact: Compact,
    ) -> Result<Heard, DriverError> {
        let told = match compact {
            Compact::Ask {
                model,
                hash,
                worst,
                trigger,
            } => {
                if self.is_by_hand(turn) {
                    return self.ask_by_hand(turn, (model, hash), worst);
                }
                let under_way = self
                    .live
                    .get(&turn)
                    .and_then(|live| live.compaction.clone());
                let short = self.over_budget(turn, worst);
                if let Some(Short::Of(why)) = &short {
                    self.fail_compaction(turn, why.clone(), Usage::default())?;
                }
                if short.is_some()
                    && let Some(heard) = self.short_of(turn, attempt, worst)?
                {
                    return Ok(heard);
                }
                match under_way {
                    Some((_, aside)) => {
                        let role = self.live.get(&turn).map(|live| live.role.clone());
                        let role = role.ok_or(DriverError::Gone)?;
                        self.ask_aside(aside, role, (model, hash))?;
                    }
                    None => self.begin_compaction(turn, trigger, (model, hash))?,
                }
                Told::Done { call: None }
            }
            Compact::Again(tried) => {
                self.release(turn);
                let live = self.live.get(&turn);
                let under_way = live.and_then(|live| Some((live.compaction.clone()?, &live.role)));
                if let Some(((_, aside), role)) = under_way {
                    let role = role.clone();
                    self.fail_aside(aside, &role, tried)?;
                }
                Told::Done { call: None }
            }
            Compact::Summary { text, usage } => {
                let by_hand = self.is_by_hand(turn);
                let replacement = self.end_compaction(turn, &text, usage)?;
                if by_hand {
                    self.leave(turn);
                    return Ok(Heard::Over);
                }
                Told::Compacted { replacement }
            }
            Compact::Failed { why, usage } => {
                if self.is_by_hand(turn) {
                    return self.do_without(turn, why, usage);
                }
                self.fail_compaction(turn, why, usage)?;
                Told::Done { call: None }
            }
        };
        Ok(Heard::Go(told))
    }

    fn begin_compaction(
        &mut self,
        turn: TurnId,
        trigger: Trigger,
        (model, hash): (String, Hash),
    ) -> Result<(), DriverError> {
        let Some(live) = self.live.get(&turn) else {
            return Err(DriverError::Gone);
        };
        let role = live.role.clone();
        let (compaction, aside) = self.announce_compaction(&role, trigger, None)?;
        self.ask_aside(aside, role, (model, hash))?;
        if let Some(live) = self.live.get_mut(&turn) {
            live.compaction = Some((compaction, aside));
        }
        Ok(())
    }

    /// Says that a session is being made shorter, and begins the turn that makes its summary.
    pub(super) fn announce_compaction(
        &mut self,
        role: &RoleInstance,
        trigger: Trigger,
        client: Option<ClientId>,
    ) -> Result<(String, TurnId), DriverError> {
        let compaction: String = format!("k{}", self.mint.number());
        let aside = TurnId(self.state().next_turn);
        self.append(Fact::CompactionStarted(CompactionStarted {
            role: role.clone(),
            compaction: compaction.clone(),
            trigger,
            strategy: Strategy::NodeSummary,
            client,
        }))?;
        self.append(Fact::TurnStarted(TurnStarted {
            turn: aside,
            attempt: 1,
            role: role.clone(),
            node: None,
            cause: Cause::Compaction,
        }))?;
        Ok((compaction, aside))
    }

    /// The request for a summary is going to leave.
    pub(super) fn ask_aside(
        &mut self,
        aside: TurnId,
        role: RoleInstance,
        (model, hash): (String, Hash),
    ) -> Result<(), DriverError> {
        self.append(Fact::ModelRequested(ModelRequested {
            turn: aside,
            attempt: 1,
            role,
            request: self.requests_of(aside) + 1,
            model,
            hash,
        }))?;
        self.owed += 1;
        Ok(())
    }

    /// The last request of a turn aside came to nothing and is made again.
    pub(super) fn fail_aside(
        &mut self,
        aside: TurnId,
        role: &RoleInstance,
        tried: Tried,
    ) -> Result<(), DriverError> {
        self.append(Fact::ModelFailed(ModelFailed {
            turn: aside,
            attempt: 1,
            role: role.clone(),
            request: self.requests_of(aside),
            class: tried.class,
            error: tried.error,
            retry_in_ms: Some(tried.retry_in_ms),
        }))
    }

    fn requests_of(&self, turn: TurnId) -> u32 {
        let open = self.state().turns.get(&turn);
        open.map_or(0, |open| open.requests)
    }

    /// The compaction under way, which is over from here on.
    fn compaction_of(&mut self, turn: TurnId) -> Option<(String, TurnId, RoleInstance)> {
        self.release(turn);
        let live = self.live.get_mut(&turn)?;
        let (compaction, aside) = live.compaction.take()?;
        Some((compaction, aside, live.role.clone()))
    }

    fn end_compaction(
        &mut self,
        turn: TurnId,
        summary: &str,
        usage: Usage,
    ) -> Result<String, DriverError> {
        let Some((compaction, aside, role)) = self.compaction_of(turn) else {
            return Err(DriverError::Gone);
        };
        self.answer_aside(aside, &role, summary, usage)?;
        let trigger = if aside == turn {
            Trigger::Manual
        } else {
            Trigger::Auto
        };
        let picture = self.picture_of(turn, &role);
        let shortened = Shortened {
            compaction,
            trigger,
            strategy: Strategy::NodeSummary,
            picture: &picture,
            summary,
        };
        self.replace_history(role, shortened)
    }

    /// One message stands for the whole history from now on.
    pub(super) fn replace_history(
        &mut self,
        role: RoleInstance,
        shortened: Shortened<'_>,
    ) -> Result<String, DriverError> {
        let replacement = self.replacement(&role, &shortened);
        let session = self.flow.views().sessions.get(&role);
        let tokens_before = session.map_or(0, |session| session.latest_context_usage);
        let node = session.and_then(|session| session.node.as_ref().map(|mark| mark.node.clone()));
        let message = mint::name(self.mint.as_mut(), "m")?;
        let kept = self.flow.keep_text(replacement.clone())?;
        self.append(Fact::SessionCompacted(SessionCompacted {
            role,
            compaction: shortened.compaction,
            trigger: shortened.trigger,
            strategy: shortened.strategy,
            node,
            message,
            replacement: kept,
            kept_last: 0,
            tokens_before,
        }))?;
        Ok(replacement)
    }

    /// What is going to stand for a history.
    pub(super) fn replacement(&self, role: &RoleInstance, shortened: &Shortened<'_>) -> String {
        let is_automatic = shortened.trigger == Trigger::Auto;
        let messages = self.flow.views().sessions.get(role);
        let messages = messages.map_or(&[][..], |session| &session.messages);
        let said = |entry: &Entry| match &*entry.message {
            Message::User { content } => Some(Some(content.clone())),
            // In the middle of a turn the last word is still to be acted on; between turns it is
            // only if nothing was answered.
            Message::Assistant { .. } if !is_automatic => Some(None),
            Message::Assistant { .. }
            | Message::AssistantToolCalls { .. }
            | Message::ToolResult { .. } => None,
        };
        let last = messages.iter().rev().find_map(said).flatten();
        compacted_message(&Compacted {
            id: &shortened.compaction,
            is_automatic,
            picture: shortened.picture,
            summary: shortened.summary,
            last: last.as_deref(),
        })
    }

    /// What the flow knows about the role's work, in the words in which a role is told.
    pub(super) fn picture_of(&mut self, turn: TurnId, role: &RoleInstance) -> String {
        let task = self.live.get(&turn).map(|live| live.task.clone());
        let allowed = task.as_ref().map(|task| self.allowed(role, task));
        let about = match &task {
            Some(Task::Node(node)) => About::Node(node),
            Some(Task::Feedback) => About::Feedback,
            Some(Task::Reflection | Task::Send) | None => About::Reflection,
        };
        let Self {
            roles, graph, flow, ..
        } = self;
        let state = &flow.views().flow;
        roles.packet(graph, state, role, about, allowed.unwrap_or_default())
    }

    fn answer_aside(
        &mut self,
        aside: TurnId,
        role: &RoleInstance,
        text: &str,
        usage: Usage,
    ) -> Result<(), DriverError> {
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.append(Fact::ModelAnswered(ModelAnswered {
            turn: aside,
            attempt: 1,
            role: role.clone(),
            request: self.requests_of(aside),
            message,
            text: AnswerText::Inline(text.to_owned()),
            calls: Vec::new(),
            stop: StopReason::End,
            usage,
            provider_blocks: None,
        }))?;
        self.append(Fact::TurnEnded(TurnEnded {
            turn: aside,
            attempt: 1,
            role: role.clone(),
            end: TurnEnd::Outcome,
            error: None,
        }))
    }

    pub(super) fn fail_compaction(
        &mut self,
        turn: TurnId,
        why: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        let Some((compaction, aside, role)) = self.compaction_of(turn) else {
            return Ok(());
        };
        if usage == Usage::default() {
            let request = self.requests_of(aside);
            let asked = self.state().request(aside, request);
            if asked.is_some_and(|asked| asked.state == RequestState::Asked) {
                self.append(Fact::ModelFailed(ModelFailed {
                    turn: aside,
                    attempt: 1,
                    role: role.clone(),
                    request,
                    class: "compaction".to_owned(),
                    error: why.clone(),
                    retry_in_ms: None,
                }))?;
            }
            self.append(Fact::TurnEnded(TurnEnded {
                turn: aside,
                attempt: 1,
                role: role.clone(),
                end: TurnEnd::Failed,
                error: Some(why.clone()),
            }))?;
        } else {
            self.answer_aside(aside, &role, "", usage)?;
        }
        self.append(Fact::CompactionFailed(CompactionFailed {
            role,
            compaction,
            why,
        }))
    }

    /// What was done beside a turn that is stopped is over with it.
    pub(super) fn stop_asides(&mut self, turn: TurnId) -> Result<(), DriverError> {
        const WHY: &str = "the operator stopped the turn";
        self.end_choice(turn, Some(WHY.to_owned()))?;
        self.fail_compaction(turn, WHY.to_owned(), Usage::default())
    }

    /// A summary that a crash cut off is not made any more: the history is still there, and the
    /// role's own turn makes another one when it needs one.
    pub(super) fn end_asides(&mut self) -> Result<(), DriverError> {
        const WHY: &str = "the process ended in the middle of it";
        let turns = self.state().turns.iter();
        let asides: Vec<(TurnId, u32, RoleInstance)> = turns
            .filter(|(_, turn)| turn.cause.is_aside())
            .map(|(id, turn)| (*id, turn.attempt, turn.role.clone()))
            .collect();
        for (turn, attempt, role) in asides {
            self.append(Fact::TurnEnded(TurnEnded {
                turn,
                attempt,
                role,
                end: TurnEnd::Failed,
                error: Some(WHY.to_owned()),
            }))?;
        }
        let sessions = self.state().sessions.iter();
        let open: Vec<(RoleInstance, String)> = sessions
            .filter_map(|(role, session)| Some((role.clone(), session.compaction.clone()?)))
            .collect();
        for (role, compaction) in open {
            let why = WHY.to_owned();
            self.append(Fact::CompactionFailed(CompactionFailed {
                role,
                compaction,
                why,
            }))?;
        }
        Ok(())
    }
}
