//! Making a session shorter in the middle of a turn: a turn aside makes the summary, and one
//! message then stands for everything that was said.

use a_society_facts::fact::Fact;
use a_society_facts::fact::session::{
    CompactionFailed, CompactionStarted, SessionCompacted, Strategy, Trigger,
};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelFailed, ModelRequested, StopReason, TurnEnd, TurnEnded, TurnStarted,
    Usage,
};
use a_society_facts::hash::Hash;
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, Message};
use a_society_flow::machine::Task;
use a_society_roles::role::packet::{Compacted, compacted_message};
use a_society_roles::turn::step::{Compact, Told};

use super::core::Core;
use super::error::DriverError;
use super::role_source::About;
use super::step::Heard;
use crate::mint;

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
                if let Some(heard) = self.short_of(turn, attempt, worst)? {
                    return Ok(heard);
                }
                self.begin_compaction(turn, trigger, (model, hash))?;
                Told::Done { call: None }
            }
            Compact::Summary { text, usage } => Told::Compacted {
                replacement: self.end_compaction(turn, &text, usage)?,
            },
            Compact::Failed { why, usage } => {
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
        let compaction: String = format!("k{}", self.mint.number());
        let aside = TurnId(self.state().next_turn);
        self.append(Fact::CompactionStarted(CompactionStarted {
            role: role.clone(),
            compaction: compaction.clone(),
            trigger,
            strategy: Strategy::NodeSummary,
        }))?;
        self.append(Fact::TurnStarted(TurnStarted {
            turn: aside,
            attempt: 1,
            role: role.clone(),
            node: None,
            cause: Cause::Compaction,
        }))?;
        self.append(Fact::ModelRequested(ModelRequested {
            turn: aside,
            attempt: 1,
            role,
            request: 1,
            model,
            hash,
        }))?;
        self.owed += 1;
        if let Some(live) = self.live.get_mut(&turn) {
            live.compaction = Some((compaction, aside));
        }
        Ok(())
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
        let session = self.flow.views().sessions.get(&role);
        let tokens_before = session.map_or(0, |session| session.latest_context_usage);
        let node = session.and_then(|session| session.node.as_ref().map(|mark| mark.node.clone()));
        let last = session.and_then(|session| {
            session.messages.iter().rev().find_map(|entry| {
                if let Message::User { content } = &entry.message {
                    Some(content.clone())
                } else {
                    None
                }
            })
        });
        let picture = self.picture_of(turn, &role);
        let replacement = compacted_message(&Compacted {
            id: &compaction,
            is_automatic: true,
            picture: &picture,
            summary,
            last: last.as_deref(),
        });
        let message = mint::name(self.mint.as_mut(), "m")?;
        let kept = self.flow.keep_text(replacement.clone())?;
        self.append(Fact::SessionCompacted(SessionCompacted {
            role,
            compaction,
            trigger: Trigger::Auto,
            strategy: Strategy::NodeSummary,
            node,
            message,
            replacement: kept,
            kept_last: 0,
            tokens_before,
        }))?;
        Ok(replacement)
    }

    /// What the flow knows about the role's work, in the words in which a role is told.
    fn picture_of(&mut self, turn: TurnId, role: &RoleInstance) -> String {
        let about = match self.live.get(&turn).map(|live| &live.task) {
            Some(Task::Node(node)) => About::Node(node),
            Some(Task::Feedback) => About::Feedback,
            Some(Task::Reflection | Task::Send) | None => About::Reflection,
        };
        let Self {
            roles, graph, flow, ..
        } = self;
        roles.packet(graph, &flow.views().flow, role, about)
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
            request: 1,
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

    fn fail_compaction(
        &mut self,
        turn: TurnId,
        why: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        let Some((compaction, aside, role)) = self.compaction_of(turn) else {
            return Ok(());
        };
        if usage == Usage::default() {
            self.append(Fact::ModelFailed(ModelFailed {
                turn: aside,
                attempt: 1,
                role: role.clone(),
                request: 1,
                class: "compaction".to_owned(),
                error: why.clone(),
                retry_in_ms: None,
            }))?;
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

    /// A summary that a crash cut off is not made any more: the history is still there, and the
    /// role's own turn makes another one when it needs one.
    pub(super) fn end_asides(&mut self) -> Result<(), DriverError> {
        const WHY: &str = "the process ended while the summary was being made";
        let turns = self.state().turns.iter();
        let asides: Vec<(TurnId, u32, RoleInstance)> = turns
            .filter(|(_, turn)| turn.cause == Cause::Compaction)
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
