//! A request is going to leave, for a turn or beside one: whether it may, and its record.

use std::sync::Arc;

use a_society_facts::Fact;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::turn::{ModelFailed, ModelRequested, Usage};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_flow::machine::TurnEnding;
use a_society_flow::machine::session::SessionAside;
use a_society_roles::turn::step::{Asking, StepReply, TriedRequest, Worst};

use super::attempt::Onward;
use super::budget::{Budgets, Short};
use super::error::DriverError;
use super::live_turn::LiveTurn;
use super::pen::FlowPen;
use super::steer::{Said, steered};

/// Whether the turn must end instead of asking: its answers are counted, and its money is. Or it asks
/// something else, because the operator spoke.
pub(super) fn may_not_ask(
    pen: &mut FlowPen,
    budgets: &mut Budgets,
    live: &mut LiveTurn,
    worst: Worst,
) -> Result<Option<Onward>, DriverError> {
    let answers = pen.request_of(live.subject.turn());
    if let Some(most) = live.bounds.exhausted(answers) {
        return Ok(Some(Onward::Fails(format!(
            "it gave {most} answers in this turn and did not end it (turn_limit). \
             Reply with what it should do, or retry, and it goes on with as many again"
        ))));
    }
    match short_of(pen, budgets, live, worst) {
        Some(short) => Ok(Some(short)),
        None => steered(pen, live, Said::Before),
    }
}

/// What follows for a turn whose next request the budget does not allow.
pub(super) fn short_of(
    pen: &FlowPen,
    budgets: &mut Budgets,
    live: &LiveTurn,
    worst: Worst,
) -> Option<Onward> {
    Some(match budgets.reserve(pen.state(), &live.subject, worst)? {
        Short::Busy => Onward::Go(StepReply::Busy),
        Short::Of(lack) => Onward::Ends(TurnEnding::BudgetReached { lack }),
    })
}

/// The next request of a turn is going to leave.
pub(super) fn ask(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    asking: Asking,
) -> Result<(), DriverError> {
    let turn = live.subject.turn();
    let frame = changed_frame(pen, live, asking.frame)?;
    let fact = ModelRequested {
        turn,
        attempt: live.subject.attempt(),
        role: live.subject.role().clone(),
        request: pen.request_of(turn) + 1,
        model: asking.model,
        hash: asking.hash,
        frame,
    };
    pen.append(Fact::ModelRequested(fact))?;
    // The request counts as spent from here on, so this is durable before it is sent; and so
    // are all messages to the role before it.
    pen.syncs.owe();
    Ok(())
}

/// A request beside a turn is going to leave. What it is made of is always recorded.
pub(super) fn ask_aside(
    pen: &mut FlowPen,
    live: &LiveTurn,
    aside: TurnId,
    asking: Asking,
) -> Result<(), DriverError> {
    let frame = asking.frame.map(|said| kept_frame(pen, live, &said));
    let fact = ModelRequested {
        turn: aside,
        attempt: 1,
        role: live.subject.role().clone(),
        request: pen.request_of(aside) + 1,
        model: asking.model,
        hash: asking.hash,
        frame: frame.transpose()?.map(Box::new),
    };
    pen.append(Fact::ModelRequested(fact))?;
    pen.syncs.owe();
    Ok(())
}

/// The last request of a turn aside failed and is retried.
pub(super) fn fail_aside(
    pen: &mut FlowPen,
    aside: TurnId,
    role: &RoleInstance,
    tried: TriedRequest,
) -> Result<(), DriverError> {
    let request = pen.request_of(aside);
    pen.append(Fact::ModelFailed(ModelFailed {
        turn: aside,
        attempt: 1,
        role: role.clone(),
        request,
        class: tried.class,
        error: tried.error,
        retry_in_ms: Some(tried.retry_in_ms),
    }))
}

/// The last request of a turn aside has its answer.
pub(super) fn answer_aside(
    pen: &mut FlowPen,
    aside: &SessionAside,
    text: String,
    usage: Usage,
) -> Result<(), DriverError> {
    let message = pen.name("m")?;
    let answered = aside.answered(pen.state(), message, text, usage);
    pen.append(answered)
}

/// What the next request of a turn is made of, if the journal does not say so of its session yet.
fn changed_frame(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    said: Option<Arc<RequestFrame>>,
) -> Result<Option<Box<RequestFrame>>, DriverError> {
    let Some(said) = said else { return Ok(None) };
    if !live.speech.change_frame(&said) {
        return Ok(None);
    }
    let kept = kept_frame(pen, live, &said)?;
    let session = pen.session(live.subject.role());
    let known = session.and_then(|session| session.frame.as_deref());
    Ok((known != Some(&kept)).then(|| Box::new(kept)))
}

/// What a request is made of as the journal holds it: without secrets, its longer texts as blobs.
fn kept_frame(
    pen: &mut FlowPen,
    live: &LiveTurn,
    said: &RequestFrame,
) -> Result<RequestFrame, DriverError> {
    let redactor = live.speech.redactor();
    Ok(pen.kept_texts.frame(&pen.flow, redactor, said)?)
}

#[cfg(test)]
mod tests {
    use a_society_facts::Verb;
    use a_society_facts::fact::operator::SteerWhen;
    use a_society_in_memory::FaultyDisk;

    use super::*;
    use crate::driver::core::Core;
    use crate::driver::tests::{HELLO, SCRIPT, begin};

    /// What keeps the flow's first turn from asking, if anything does.
    fn kept_back(core: &mut Core, turn: TurnId) -> Option<Onward> {
        let Core {
            pen, live, budgets, ..
        } = core;
        let live = live.get_mut(turn).unwrap();
        may_not_ask(pen, budgets, live, Worst::default()).unwrap()
    }

    #[test]
    fn a_turn_without_answers_left_fails_and_one_that_the_operator_spoke_to_hears_that_first() {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, SCRIPT);
        let turn = core.advance().unwrap().remove(0).turn;
        assert!(kept_back(&mut core, turn).is_none());
        let steer = Verb::Steer {
            role: "owner".parse().unwrap(),
            text: "Be quick.".into(),
            when: SteerWhen::Queue,
        };
        core.obey(steer, None).unwrap();
        let heard = kept_back(&mut core, turn);
        assert!(
            matches!(&heard, Some(Onward::Go(StepReply::Steered { kept: None, words })) if words.len() == 1),
            "{heard:?}"
        );
        assert!(kept_back(&mut core, turn).is_none(), "it is heard once");
        core.live.get_mut(turn).unwrap().bounds.begin(0, 0);
        let failed = kept_back(&mut core, turn);
        assert!(
            matches!(&failed, Some(Onward::Fails(why)) if why.contains("turn_limit")),
            "{failed:?}"
        );
        assert!(core.pen.open_turn(turn).is_some(), "the loop ends it");
    }
}
