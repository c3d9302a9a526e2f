//! Compacts a session in the middle of a turn: a turn aside makes the summary, and one message then
//! replaces the history. The operator's compaction between turns is in `manual_compaction`.

use std::collections::BTreeMap;

use a_society_facts::fact::session::{CompactionWish, Strategy, Trigger};
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_flow::machine::Work;
use a_society_flow::machine::session::{SessionAside, SessionChange};
use a_society_roles::turn::step::{Asking, CompactStep, StepReply, TurnStep};

use super::attempt::Onward;
use super::budget::{Budgets, Short};
use super::compacted_history::{
    HistoryCut, Shorter, replace_as_wished, replace_history, without_the_oldest,
};
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::request::{answer_aside, ask_aside, fail_aside, short_of};

/// The class of a request for a summary that failed because no turn waits for it any more.
const COMPACTION: &str = "compaction";

/// A compaction, and the turn in which its summary is made.
#[derive(Debug)]
pub(super) struct SummaryTurn {
    pub(super) compaction: String,
    pub(super) turn: TurnId,
    pub(super) role: RoleInstance,
    /// How the operator wants it, if he said so.
    pub(super) wish: Option<CompactionWish>,
}

impl SummaryTurn {
    /// Whether it is the operator who wanted the session of a turn compacted: his own turn makes the summary itself.
    fn is_by_hand(&self, waiting: TurnId) -> bool {
        self.turn == waiting
    }

    /// Whether the oldest messages may be left out if no summary can be made: not where the operator named another way.
    fn may_be_cut(&self) -> bool {
        let wish = self.wish.as_ref();
        wish.is_none_or(|wish| wish.strategy == Strategy::NodeSummary)
    }

    /// Who wanted the session of a turn compacted.
    pub(super) fn trigger_for(&self, waiting: TurnId) -> Trigger {
        if self.is_by_hand(waiting) {
            Trigger::Manual
        } else {
            Trigger::Auto
        }
    }

    /// The turn in which the summary is made, and whose it is.
    pub(super) fn aside(&self) -> SessionAside {
        SessionAside {
            turn: self.turn,
            role: self.role.clone(),
        }
    }
}

/// The compactions under way, by the turns that wait for them.
#[derive(Debug, Default)]
pub(super) struct Compactions {
    under_way: BTreeMap<TurnId, SummaryTurn>,
}

impl Compactions {
    /// A turn waits for the compaction of its session.
    pub(super) fn begin(&mut self, waiting: TurnId, summary: SummaryTurn) {
        self.under_way.insert(waiting, summary);
    }

    /// A turn does not run here any more.
    pub(super) fn forget(&mut self, waiting: TurnId) {
        self.under_way.remove(&waiting);
    }

    /// Whether a turn compacts a session because the operator wanted it.
    fn is_by_hand(&self, waiting: TurnId) -> bool {
        let summary = self.under_way.get(&waiting);
        summary.is_some_and(|summary| summary.is_by_hand(waiting))
    }

    /// Whether a step of the model that makes a summary may shorten the history of the turn's session.
    pub(super) fn shortens(&self, waiting: TurnId, step: &CompactStep) -> bool {
        match step {
            CompactStep::Summary { .. } => true,
            CompactStep::Failed { cuts, .. } => cuts.is_some(),
            // A summary that the operator wants is done without where the budget lacks it.
            CompactStep::Ask { .. } => self.is_by_hand(waiting),
            CompactStep::Again(_) | CompactStep::Wrong { .. } => false,
        }
    }

    /// Whether work has to wait until its role's session is as short as the operator wants it.
    pub(super) fn holds_back(&self, work: &Work) -> bool {
        let role = match work {
            Work::Claim { role, .. } | Work::StartReflection { role, .. } => role,
            Work::StartFeedback { role: Some(role) } => role,
            Work::StartFeedback { role: None }
            | Work::RunTurn { .. }
            | Work::StopTurn { .. }
            | Work::ApplyEnds
            | Work::WaitUntil { .. }
            | Work::AskOperator(_) => return false,
        };
        let mut summaries = self.under_way.iter();
        summaries.any(|(waiting, summary)| summary.role == *role && summary.is_by_hand(*waiting))
    }

    /// Handles a step of the model that makes a summary.
    pub(super) fn step(
        &mut self,
        pen: &mut FlowPen,
        budgets: &mut Budgets,
        live: &LiveTurn,
        (compact, facts): (CompactStep, String),
    ) -> Result<Onward, DriverError> {
        let (turn, role) = (live.subject.turn(), live.subject.role());
        let by_hand = self.is_by_hand(turn);
        if !matches!(compact, CompactStep::Ask { .. }) {
            budgets.release(turn);
        }
        let told = match compact {
            CompactStep::Ask { asking, shares, .. } if by_hand => {
                let cut = HistoryCut { shares, facts };
                return self.ask_by_hand(pen, budgets, live, (asking, cut));
            }
            CompactStep::Ask {
                asking, trigger, ..
            } => {
                if let Some(onward) = self.ask_for_summary(pen, budgets, live, (trigger, asking))? {
                    return Ok(onward);
                }
                StepReply::Done { call: None }
            }
            CompactStep::Again(tried) => {
                if let Some(summary) = self.under_way.get(&turn) {
                    fail_aside(pen, summary.turn, role, tried)?;
                }
                StepReply::Done { call: None }
            }
            CompactStep::Wrong { why: _, usage } => {
                if let Some(summary) = self.under_way.get(&turn) {
                    answer_aside(pen, &summary.aside(), String::new(), usage)?;
                }
                StepReply::Done { call: None }
            }
            CompactStep::Summary {
                text,
                usage,
                shares,
            } => {
                let cut = HistoryCut { shares, facts };
                match self.end(pen, &live.subject, (text, usage), cut)? {
                    Some(replacement) => StepReply::Compacted {
                        replacement,
                        kept_last: 0,
                    },
                    None => StepReply::Done { call: None },
                }
            }
            CompactStep::Failed { why, usage, cuts } => {
                let cut = cuts.map(|shares| HistoryCut { shares, facts });
                match self.do_without(pen, &live.subject, why, usage, cut)? {
                    Some((replacement, kept_last)) => StepReply::Compacted {
                        replacement,
                        kept_last,
                    },
                    None => StepReply::Done { call: None },
                }
            }
        };
        let is_over = !self.under_way.contains_key(&turn);
        if by_hand && is_over {
            pen.syncs.owe();
            return Ok(Onward::Leaves);
        }
        Ok(Onward::Go(told))
    }

    /// A summary that a full window leads to is asked for, if the budget has room for it.
    fn ask_for_summary(
        &mut self,
        pen: &mut FlowPen,
        budgets: &mut Budgets,
        live: &LiveTurn,
        (trigger, asking): (Trigger, Asking),
    ) -> Result<Option<Onward>, DriverError> {
        let worst = asking.worst;
        let turn = live.subject.turn();
        let under_way = self.under_way.get(&turn).map(|summary| summary.turn);
        let short = budgets.reserve(pen.state(), &live.subject, worst);
        if let Some(Short::Of(lack)) = &short {
            self.fail(pen, &live.subject, lack.to_string())?;
        }
        if short.is_some()
            && let Some(onward) = short_of(pen, budgets, live, worst)
        {
            return Ok(Some(onward));
        }
        if let Some(aside) = under_way {
            ask_aside(pen, live, aside, asking)?;
        } else {
            let wanted = (trigger, None);
            if let Some(summary) = announce(pen, live.subject.role(), wanted, None)? {
                ask_aside(pen, live, summary.turn, asking)?;
                self.begin(turn, summary);
            }
        }
        Ok(None)
    }

    /// The summary that the operator wanted is going to be asked for.
    fn ask_by_hand(
        &mut self,
        pen: &mut FlowPen,
        budgets: &mut Budgets,
        live: &LiveTurn,
        (asking, cut): (Asking, HistoryCut),
    ) -> Result<Onward, DriverError> {
        match budgets.reserve(pen.state(), &live.subject, asking.worst) {
            Some(Short::Busy) => Ok(Onward::Go(StepReply::Busy)),
            Some(Short::Of(lack)) => {
                let why = lack.to_string();
                self.do_without(pen, &live.subject, why, Usage::default(), Some(cut))?;
                pen.syncs.owe();
                Ok(Onward::Leaves)
            }
            None => {
                ask_aside(pen, live, live.subject.turn(), asking)?;
                Ok(Onward::GOES_ON)
            }
        }
    }

    /// The summary is there, and replaces the history.
    fn end(
        &mut self,
        pen: &mut FlowPen,
        whose: &TurnSubject,
        (summary, usage): (String, Usage),
        cut: HistoryCut,
    ) -> Result<Option<String>, DriverError> {
        let Some(ended) = self.under_way.remove(&whose.turn()) else {
            return Err(DriverError::Gone);
        };
        let aside = ended.aside();
        let turn = pen.state().turns.get(&aside.turn);
        if turn.is_some_and(|turn| turn.request.is_some()) {
            answer_aside(pen, &aside, summary.clone(), usage)?;
        }
        pen.append_all(aside.ended(pen.state(), COMPACTION, None))?;
        if let Some(wish) = ended.wish {
            return replace_as_wished(pen, whose, (&ended, wish), summary, cut);
        }
        let shorter = Shorter {
            trigger: ended.trigger_for(whose.turn()),
            compaction: ended.compaction,
            strategy: Strategy::NodeSummary,
            summary,
            why: None,
            is_wished: false,
            kept_first: 0,
            kept_last: 0,
            cut,
        };
        replace_history(pen, whose, shorter).map(Some)
    }

    /// No summary can be made: the oldest messages are left out in place of it, if that may be and
    /// is shorter. What replaced them, and how many of the last messages stay.
    pub(super) fn do_without(
        &mut self,
        pen: &mut FlowPen,
        whose: &TurnSubject,
        why: String,
        usage: Usage,
        cut: Option<HistoryCut>,
    ) -> Result<Option<(String, usize)>, DriverError> {
        let Some(ended) = self.under_way.remove(&whose.turn()) else {
            return Ok(None);
        };
        let aside = ended.aside();
        // A turn that cost something was answered, if by nothing of use.
        let is_answered = usage != Usage::default();
        if is_answered {
            answer_aside(pen, &aside, String::new(), usage)?;
        }
        let error = (!is_answered).then(|| why.clone());
        pen.append_all(aside.ended(pen.state(), COMPACTION, error))?;
        let mut failed = why.clone();
        if let Some(cut) = cut.filter(|_| ended.may_be_cut()) {
            let replaced = without_the_oldest(pen, whose, &ended, &why, cut)?;
            if replaced.is_some() {
                return Ok(replaced);
            }
            failed.push_str(", and the beginnings of its messages are as long as the whole");
        }
        let change = SessionChange::LeaveAsItIs {
            compaction: ended.compaction,
            why: failed,
        };
        pen.apply_to_session(whose.role(), change, None)?;
        Ok(None)
    }

    /// A turn is stopped. The summary that the model may have made by then was paid for, and replaces nothing.
    pub(super) fn stop(
        &mut self,
        pen: &mut FlowPen,
        live: &LiveTurn,
        why: String,
    ) -> Result<(), DriverError> {
        let held = live.hosting.held();
        let usage = if let Some(TurnStep::Compact(
            CompactStep::Summary { usage, .. } | CompactStep::Failed { usage, .. },
        )) = held
        {
            *usage
        } else {
            Usage::default()
        };
        self.do_without(pen, &live.subject, why, usage, None)
            .map(drop)
    }

    /// No summary is made, and the history stays as it is.
    fn fail(
        &mut self,
        pen: &mut FlowPen,
        whose: &TurnSubject,
        why: String,
    ) -> Result<(), DriverError> {
        self.do_without(pen, whose, why, Usage::default(), None)
            .map(drop)
    }
}

/// Records that a session is being compacted, and begins the turn that makes its summary; nothing if it stays as it is.
pub(super) fn announce(
    pen: &mut FlowPen,
    role: &RoleInstance,
    (trigger, wish): (Trigger, Option<CompactionWish>),
    client: Option<ClientId>,
) -> Result<Option<SummaryTurn>, DriverError> {
    let summary = SummaryTurn {
        compaction: format!("k{}", pen.number()),
        turn: TurnId(pen.state().next_turn),
        role: role.clone(),
        wish,
    };
    let change = SessionChange::Compact {
        compaction: summary.compaction.clone(),
        trigger,
        by_model: pen.roles.reads_history(role),
        wish,
    };
    pen.apply_to_session(role, change, client)?;
    let session = pen.state().session(role);
    let is_begun = session.is_some_and(|session| session.compaction.is_some());
    Ok(is_begun.then_some(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(turn: u64, role: &str) -> SummaryTurn {
        SummaryTurn {
            compaction: "k1".to_owned(),
            turn: TurnId(turn),
            role: role.parse().unwrap(),
            wish: None,
        }
    }

    fn feedback_of(role: &str) -> Work {
        let role = Some(role.parse().unwrap());
        Work::StartFeedback { role }
    }

    #[test]
    fn only_the_turn_that_makes_its_own_summary_is_a_compaction_by_hand_and_holds_its_role_back() {
        let mut compactions = Compactions::default();
        compactions.begin(TurnId(1), summary(1, "owner"));
        compactions.begin(TurnId(2), summary(3, "critic"));
        assert!(compactions.is_by_hand(TurnId(1)) && !compactions.is_by_hand(TurnId(2)));
        assert!(compactions.holds_back(&feedback_of("owner")));
        assert!(!compactions.holds_back(&feedback_of("critic")));
        assert!(!compactions.holds_back(&Work::StartFeedback { role: None }));
        compactions.forget(TurnId(1));
        assert!(!compactions.holds_back(&feedback_of("owner")));
    }

    #[test]
    fn the_operator_wanted_what_a_turn_of_his_own_makes_and_a_full_window_the_rest() {
        let summary = summary(7, "owner");
        assert_eq!(summary.trigger_for(TurnId(7)), Trigger::Manual);
        assert_eq!(summary.trigger_for(TurnId(2)), Trigger::Auto);
        assert_eq!(summary.aside().turn, TurnId(7));
    }
}
