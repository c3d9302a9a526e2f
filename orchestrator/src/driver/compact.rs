//! Compacts a session in the middle of a turn: a turn aside makes the summary, and one message then
//! replaces the history. The operator's compaction between turns is in `manual_compaction`.

use a_society_facts::fact::session::{Strategy, Trigger};
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_flow::machine::session::{self, SessionAside, SessionChange};
use a_society_roles::role::compaction::Shares;
use a_society_roles::turn::step::{Asking, CompactStep, StepReply};

use super::attempt::{Heard, TurnAttempt};
use super::budget::Short;
use super::compacted_history::Shorter;
use super::compaction_aside::{EndedCompaction, SummaryTurn};
use super::core::Core;
use super::error::DriverError;
use crate::mint;

/// The class of a request for a summary that failed because no turn waits for it any more.
const COMPACTION: &str = "compaction";

impl Core {
    pub(super) fn compact(
        &mut self,
        turn: TurnId,
        attempt: u32,
        compact: CompactStep,
    ) -> Result<Heard, DriverError> {
        let whose = TurnAttempt { turn, attempt };
        let by_hand = self.live.is_by_hand(turn);
        let told = match compact {
            CompactStep::Ask { asking, shares, .. } if by_hand => {
                return self.ask_by_hand(turn, asking, shares);
            }
            CompactStep::Ask {
                asking, trigger, ..
            } => {
                if let Some(heard) = self.ask_for_summary(whose, trigger, asking)? {
                    return Ok(heard);
                }
                StepReply::Done { call: None }
            }
            CompactStep::Again(tried) => {
                self.live.release(turn);
                if let Some((aside, role)) = self.summary_of(turn) {
                    self.fail_aside(aside, &role, tried)?;
                }
                StepReply::Done { call: None }
            }
            CompactStep::Wrong { why: _, usage } => {
                self.live.release(turn);
                if let Some((turn, role)) = self.summary_of(turn) {
                    self.answer_aside(&SessionAside { turn, role }, String::new(), usage)?;
                }
                StepReply::Done { call: None }
            }
            CompactStep::Summary {
                text,
                usage,
                shares,
            } => {
                let replacement = self.end_compaction(turn, text, usage, shares)?;
                let kept_last = 0;
                StepReply::Compacted {
                    replacement,
                    kept_last,
                }
            }
            CompactStep::Failed { why, usage, cuts } => {
                match self.do_without(turn, why, usage, cuts)? {
                    Some((replacement, kept_last)) => StepReply::Compacted {
                        replacement,
                        kept_last,
                    },
                    None => StepReply::Done { call: None },
                }
            }
        };
        let is_over =
            matches!(told, StepReply::Compacted { .. }) || self.summary_of(turn).is_none();
        if by_hand && is_over {
            self.leave(turn);
            self.syncs.owe();
            return Ok(Heard::Over);
        }
        Ok(Heard::Go(told))
    }

    /// A summary that a full window leads to is asked for, if the budget has room for it.
    fn ask_for_summary(
        &mut self,
        whose: TurnAttempt,
        trigger: Trigger,
        asking: Asking,
    ) -> Result<Option<Heard>, DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        let worst = asking.worst;
        let under_way = self.summary_of(turn);
        let short = self.over_budget(turn, worst);
        if let Some(Short::Of(lack)) = &short {
            self.fail_compaction(turn, lack.to_string(), Usage::default())?;
        }
        if short.is_some()
            && let Some(heard) = self.short_of(turn, attempt, worst)?
        {
            return Ok(Some(heard));
        }
        match under_way {
            Some((aside, role)) => self.ask_aside(turn, aside, role, asking)?,
            None => self.begin_compaction(turn, trigger, asking)?,
        }
        Ok(None)
    }

    /// The turn in which a summary is being made, and its role.
    fn summary_of(&self, turn: TurnId) -> Option<(TurnId, RoleInstance)> {
        let live = self.live.get(turn)?;
        Some((live.asides.compaction.turn()?, live.subject.role().clone()))
    }

    fn begin_compaction(
        &mut self,
        turn: TurnId,
        trigger: Trigger,
        asking: Asking,
    ) -> Result<(), DriverError> {
        let role = self.live.role(turn).cloned().ok_or(DriverError::Gone)?;
        let summary = self.announce_compaction(&role, trigger, None)?;
        self.ask_aside(turn, summary.turn, role, asking)?;
        if let Some(live) = self.live.get_mut(turn) {
            live.asides.compaction.begin(summary);
        }
        Ok(())
    }

    /// Says that a session is being compacted, and begins the turn that makes its summary.
    pub(super) fn announce_compaction(
        &mut self,
        role: &RoleInstance,
        trigger: Trigger,
        client: Option<ClientId>,
    ) -> Result<SummaryTurn, DriverError> {
        let summary = SummaryTurn {
            compaction: format!("k{}", self.mint.number()),
            turn: TurnId(self.state().next_turn),
        };
        let change = SessionChange::Compact {
            compaction: summary.compaction.clone(),
            trigger,
            by_model: self.roles.reads_history(role),
        };
        self.apply_to_session(role, change, client)?;
        Ok(summary)
    }

    /// Records what follows from a change of a role's session, if the session takes it.
    pub(super) fn apply_to_session(
        &mut self,
        role: &RoleInstance,
        change: SessionChange,
        client: Option<ClientId>,
    ) -> Result<(), DriverError> {
        let views = self.flow.views();
        let facts = session::decide(&views.flow, role, views.session(role), change, client)?;
        self.append_all(facts)
    }

    /// The compaction under way, which is over from here on.
    fn take_compaction(&mut self, turn: TurnId) -> Option<EndedCompaction> {
        self.live.release(turn);
        let live = self.live.get_mut(turn)?;
        let summary = live.asides.compaction.end()?;
        Some(EndedCompaction {
            trigger: summary.trigger_for(turn),
            aside: SessionAside {
                turn: summary.turn,
                role: live.subject.role().clone(),
            },
            compaction: summary.compaction,
        })
    }

    fn end_compaction(
        &mut self,
        turn: TurnId,
        summary: String,
        usage: Usage,
        shares: Shares,
    ) -> Result<String, DriverError> {
        let Some(ended) = self.take_compaction(turn) else {
            return Err(DriverError::Gone);
        };
        self.answer_aside(&ended.aside, summary.clone(), usage)?;
        self.append_all(ended.aside.ended(self.state(), COMPACTION, None))?;
        let shorter = Shorter {
            compaction: ended.compaction,
            trigger: ended.trigger,
            strategy: Strategy::NodeSummary,
            summary,
            why: None,
            kept_last: 0,
            shares,
        };
        self.replace_history(turn, ended.aside.role, shorter)
    }

    /// No summary can be made: the oldest messages are left out in place of it, if that may be and
    /// is shorter. What replaced them, and how many of the last messages stay.
    pub(super) fn do_without(
        &mut self,
        turn: TurnId,
        why: String,
        usage: Usage,
        cuts: Option<Shares>,
    ) -> Result<Option<(String, usize)>, DriverError> {
        let Some(ended) = self.take_compaction(turn) else {
            return Ok(None);
        };
        // A turn that cost something was answered, if by nothing of use.
        let is_answered = usage != Usage::default();
        if is_answered {
            self.answer_aside(&ended.aside, String::new(), usage)?;
        }
        let error = (!is_answered).then(|| why.clone());
        self.append_all(ended.aside.ended(self.state(), COMPACTION, error))?;
        let mut failed = why.clone();
        if let Some(shares) = cuts {
            let cut = self.without_the_oldest(turn, &ended, &why, shares)?;
            if cut.is_some() {
                return Ok(cut);
            }
            failed.push_str(", and the beginnings of its messages are as long as the whole");
        }
        let change = SessionChange::LeaveAsItIs {
            compaction: ended.compaction,
            why: failed,
        };
        self.apply_to_session(&ended.aside.role, change, None)?;
        Ok(None)
    }

    pub(super) fn answer_aside(
        &mut self,
        aside: &SessionAside,
        text: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.append(aside.answered(self.state(), message, text, usage))
    }

    pub(super) fn fail_compaction(
        &mut self,
        turn: TurnId,
        why: String,
        usage: Usage,
    ) -> Result<(), DriverError> {
        self.do_without(turn, why, usage, None).map(drop)
    }

    /// What was done beside a turn that is stopped is over with it.
    pub(super) fn stop_asides(&mut self, turn: TurnId) -> Result<(), DriverError> {
        const WHY: &str = "the operator stopped the turn";
        self.end_choice(turn, Some(WHY.to_owned()))?;
        self.fail_compaction(turn, WHY.to_owned(), Usage::default())
    }
}
