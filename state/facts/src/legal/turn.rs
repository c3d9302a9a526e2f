//! When a turn may begin, ask, answer, call and end. Late answers are refused here, by their
//! turn and their try.

use super::Illegal;
use super::node::next_turn;
use super::session::known;
use crate::fact::node::RepairRequested;
use crate::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallReaped, CallRerun, CallStarted, Cause, DraftAdded,
    DraftDiscarded, DraftKept, Effect, ModelAnswered, ModelFailed, ModelRequested, RequestHeld,
    TurnEnd, TurnEnded, TurnResumed, TurnStarted,
};
use crate::id::{CallId, RoleInstance, TurnId};
use crate::message::AnswerText;
use crate::view::FlowState;
use crate::view::flow::{CallState, LastRequest, OpenCall, OpenTurn, RequestState};

fn wrong(turn: TurnId, why: &'static str) -> Illegal {
    Illegal::Turn { turn, why }
}

pub(super) fn started(state: &FlowState, f: &TurnStarted) -> Result<(), Illegal> {
    if f.attempt != 1 {
        return Err(wrong(f.turn, "a turn begins with its first try"));
    }
    if state.turns.contains_key(&f.turn) {
        return Err(wrong(f.turn, "it is open already"));
    }
    if f.node.is_some() != (f.cause == Cause::Node) {
        return Err(wrong(f.turn, "a node, and only a node, is its cause"));
    }
    let busy = if f.cause.is_aside() {
        state.aside_turn_of(&f.role)
    } else {
        known(state, &f.role)?;
        state.main_turn_of(&f.role)
    };
    if busy.is_some() {
        return Err(Illegal::RoleBusy {
            role: f.role.clone(),
        });
    }
    match f.cause {
        Cause::Node => announced_node(state, f),
        Cause::Reflection | Cause::Feedback => announced_reflection(state, f),
        Cause::Compaction | Cause::Selection => next_turn(state, f.turn),
    }
}

fn announced_node(state: &FlowState, f: &TurnStarted) -> Result<(), Illegal> {
    works(state, f.turn, f.cause)?;
    let running = f.node.as_ref().and_then(|node| state.running.get(node));
    match running {
        Some(running) if running.begun => Err(wrong(f.turn, "it was begun before")),
        Some(running) if running.turn == f.turn && running.role == f.role => Ok(()),
        Some(_) | None => Err(wrong(f.turn, "no node was claimed for it")),
    }
}

fn announced_reflection(state: &FlowState, f: &TurnStarted) -> Result<(), Illegal> {
    works(state, f.turn, f.cause)?;
    match state.reflecting(&f.role) {
        Some(role) if role.begun => Err(wrong(f.turn, "it was begun before")),
        Some(role) if role.turn == f.turn => Ok(()),
        Some(_) | None => Err(wrong(f.turn, "nobody began to reflect in it")),
    }
}

/// A flow that is over starts nothing of its own any more; a session may still be spoken to.
fn works(state: &FlowState, turn: TurnId, cause: Cause) -> Result<(), Illegal> {
    match cause {
        Cause::Compaction | Cause::Selection => Ok(()),
        Cause::Node | Cause::Reflection | Cause::Feedback => {
            if state.phase.is_over() {
                return Err(wrong(turn, "the flow is over"));
            }
            Ok(())
        }
    }
}

fn open<'a>(
    state: &'a FlowState,
    turn: TurnId,
    role: &RoleInstance,
) -> Result<&'a OpenTurn, Illegal> {
    match state.turns.get(&turn) {
        Some(open) if open.role == *role => Ok(open),
        Some(_) => Err(wrong(turn, "another role takes it")),
        None => Err(wrong(turn, "it is not open")),
    }
}

fn present<'a>(
    state: &'a FlowState,
    turn: TurnId,
    attempt: u32,
    role: &RoleInstance,
) -> Result<&'a OpenTurn, Illegal> {
    let open = open(state, turn, role)?;
    if open.attempt != attempt {
        return Err(Illegal::Late {
            turn,
            attempt,
            present: open.attempt,
        });
    }
    Ok(open)
}

pub(super) fn resumed(state: &FlowState, f: &TurnResumed) -> Result<(), Illegal> {
    let turn = open(state, f.turn, &f.role)?;
    if f.attempt != turn.attempt.saturating_add(1) {
        return Err(Illegal::Late {
            turn: f.turn,
            attempt: f.attempt,
            present: turn.attempt,
        });
    }
    Ok(())
}

/// A turn leaves nothing open behind: no call without a result, no text without a decision.
pub(super) fn ended(state: &FlowState, f: &TurnEnded) -> Result<(), Illegal> {
    let turn = present(state, f.turn, f.attempt, &f.role)?;
    let asked = turn.request.as_ref();
    let in_flight = asked.is_some_and(|r| r.state == RequestState::Asked);
    let concluded = match f.end {
        TurnEnd::Outcome | TurnEnd::Waiting => true,
        TurnEnd::Stopped | TurnEnd::Failed | TurnEnd::TurnLimit => false,
    };
    if in_flight && concluded {
        return Err(wrong(f.turn, "its last request is not answered"));
    }
    settled(f.turn, turn)
}

/// Whether the last request left a call without a result, or a draft.
pub(super) fn settled(id: TurnId, turn: &OpenTurn) -> Result<(), Illegal> {
    match &turn.request {
        Some(request) if !request.is_settled() => Err(wrong(id, "a call has no result yet")),
        Some(request) if request.drafted_bytes > 0 => Err(wrong(id, "a draft is open")),
        Some(_) | None => Ok(()),
    }
}

/// Whether the outcome of a turn can be judged: its last answer is there, with the results of all its
/// calls. A person's turn asks no model, and a turn that is over was checked when it ended.
pub(super) fn concluded(state: &FlowState, id: TurnId) -> Result<(), Illegal> {
    let Some(turn) = state.turns.get(&id) else {
        return Ok(());
    };
    match &turn.request {
        Some(request) if request.state != RequestState::Answered => {
            Err(wrong(id, "its last request is not answered"))
        }
        Some(_) | None if turn.repair.is_some() => {
            Err(wrong(id, "its outcome is to be mended first"))
        }
        Some(_) | None => settled(id, turn),
    }
}

pub(super) fn repair(state: &FlowState, f: &RepairRequested) -> Result<(), Illegal> {
    let turn = open(state, f.turn, &f.role)?;
    if turn.node != f.node {
        return Err(wrong(f.turn, "it is about another node"));
    }
    if turn.repair.is_some() || f.count != turn.repairs.saturating_add(1) {
        return Err(wrong(f.turn, "its repairs are counted one by one"));
    }
    concluded(state, f.turn)
}

pub(super) fn requested(state: &FlowState, f: &ModelRequested) -> Result<(), Illegal> {
    let turn = present(state, f.turn, f.attempt, &f.role)?;
    works(state, f.turn, turn.cause)?;
    let refuse = |why| {
        Err(Illegal::Request {
            turn: f.turn,
            request: f.request,
            why,
        })
    };
    if f.request != turn.requests.saturating_add(1) {
        return refuse("requests are numbered without gaps");
    }
    if turn.repair.is_some() {
        return refuse("the role was not told what to mend");
    }
    if !is_told(state, f, turn) {
        return refuse("the role was not told what it is here for");
    }
    let session = state.sessions.get(&f.role);
    let compacting = session.is_some_and(|s| s.compaction.is_some());
    if compacting && !turn.cause.is_aside() {
        return refuse("the session is being compacted");
    }
    let waits = state.waits().any(|(node, waiting)| {
        waiting.role == f.role && waiting.turn == Some(f.turn) && node == turn.node.as_ref()
    });
    if waits {
        return refuse("the role waits for the operator");
    }
    match &turn.request {
        Some(last) if last.state == RequestState::Asked && last.attempt == f.attempt => {
            refuse("the one before is not answered")
        }
        Some(_) | None => settled(f.turn, turn),
    }
}

/// Whether the role got everything that its turn began with.
fn is_told(state: &FlowState, f: &ModelRequested, turn: &OpenTurn) -> bool {
    match turn.cause {
        Cause::Node => {
            let running = turn.node.as_ref().and_then(|node| state.running.get(node));
            running.is_none_or(|running| running.told || running.turn != f.turn)
        }
        Cause::Reflection | Cause::Feedback => state
            .reflecting(&f.role)
            .is_none_or(|role| role.told || role.turn != f.turn),
        Cause::Compaction | Cause::Selection => true,
    }
}

/// The last request, if it is the one that is meant and it is still to be answered.
fn asked(
    turn: &OpenTurn,
    id: TurnId,
    number: u32,
    attempt: Option<u32>,
) -> Result<&LastRequest, Illegal> {
    let refuse = |why| {
        Err(Illegal::Request {
            turn: id,
            request: number,
            why,
        })
    };
    match &turn.request {
        None => refuse("nothing was asked"),
        Some(request) if request.number != number => refuse("it is not the present one"),
        Some(request) if attempt.is_some_and(|a| a != request.attempt) => {
            refuse("it was asked in another try")
        }
        Some(request) => match request.state {
            RequestState::Asked => Ok(request),
            RequestState::Answered | RequestState::Failed | RequestState::Cut => {
                refuse("it is over")
            }
        },
    }
}

pub(super) fn draft_added(state: &FlowState, f: &DraftAdded) -> Result<(), Illegal> {
    let turn = open(state, f.turn, &f.role)?;
    // A piece bears no number of its try, so it must belong to a request of the present one.
    asked(turn, f.turn, f.request, Some(turn.attempt)).map(drop)
}

pub(super) fn draft_kept(state: &FlowState, f: &DraftKept) -> Result<(), Illegal> {
    drafted(state, f.turn, f.request, &f.role)
}

pub(super) fn draft_discarded(state: &FlowState, f: &DraftDiscarded) -> Result<(), Illegal> {
    drafted(state, f.turn, f.request, &f.role)
}

/// Whether a request left streamed text without a decision.
fn drafted(state: &FlowState, id: TurnId, number: u32, role: &RoleInstance) -> Result<(), Illegal> {
    let turn = open(state, id, role)?;
    match &turn.request {
        Some(request) if request.number == number && request.drafted_bytes > 0 => Ok(()),
        Some(_) | None => Err(Illegal::Request {
            turn: id,
            request: number,
            why: "it has no draft",
        }),
    }
}

pub(super) fn answered(state: &FlowState, f: &ModelAnswered) -> Result<(), Illegal> {
    let turn = present(state, f.turn, f.attempt, &f.role)?;
    let request = asked(turn, f.turn, f.request, Some(f.attempt))?;
    let refuse = |why| {
        Err(Illegal::Request {
            turn: f.turn,
            request: f.request,
            why,
        })
    };
    let fits = match &f.text {
        AnswerText::Inline(_) => true,
        AnswerText::Drafted(drafted) => {
            drafted.drafted_bytes == request.drafted_bytes
                && drafted.drafted_crc == request.drafted_crc
        }
    };
    if !fits {
        return refuse("what was streamed is not what was answered");
    }
    let ids = |place: usize| f.calls[..place].iter().any(|c| c.id == f.calls[place].id);
    if (0..f.calls.len()).any(ids) {
        return refuse("two of its calls have the same id");
    }
    Ok(())
}

pub(super) fn failed(state: &FlowState, f: &ModelFailed) -> Result<(), Illegal> {
    let turn = present(state, f.turn, f.attempt, &f.role)?;
    asked(turn, f.turn, f.request, Some(f.attempt)).map(drop)
}

pub(super) fn held(state: &FlowState, f: &RequestHeld) -> Result<(), Illegal> {
    let turn = present(state, f.turn, f.attempt, &f.role)?;
    match &turn.request {
        Some(last) if last.state == RequestState::Asked && last.attempt == f.attempt => {
            Err(wrong(f.turn, "a request is under way"))
        }
        Some(_) | None => Ok(()),
    }
}

fn bad_call(call: &CallId, why: &'static str) -> Illegal {
    Illegal::Call {
        call: call.clone(),
        why,
    }
}

pub(super) fn call_intended(state: &FlowState, f: &CallIntended) -> Result<(), Illegal> {
    let turn = open(state, f.turn, &f.role)?;
    works(state, f.turn, turn.cause)?;
    if state.calls.contains_key(&f.call) {
        return Err(bad_call(&f.call, "it is intended already"));
    }
    let request = turn.request.as_ref();
    let asked = request.and_then(|r| r.calls.get(usize::try_from(f.ordinal).ok()?));
    match asked {
        Some(asked) if asked.tool_call != f.tool_call || asked.tool != f.tool => {
            Err(bad_call(&f.call, "another call has that place"))
        }
        Some(asked) if asked.done || asked.call.is_some() => {
            Err(bad_call(&f.call, "it was intended before"))
        }
        Some(_) => Ok(()),
        None => Err(bad_call(&f.call, "the answer does not ask for it")),
    }
}

fn call_of<'a>(
    state: &'a FlowState,
    id: &CallId,
    role: &RoleInstance,
) -> Result<&'a OpenCall, Illegal> {
    match state.calls.get(id) {
        Some(call) if call.role == *role => Ok(call),
        Some(_) => Err(bad_call(id, "it is another role's")),
        None => Err(bad_call(id, "it is not open")),
    }
}

pub(super) fn call_started(state: &FlowState, f: &CallStarted) -> Result<(), Illegal> {
    let call = call_of(state, &f.call, &f.role)?;
    if let Some(turn) = state.turns.get(&call.turn) {
        works(state, call.turn, turn.cause)?;
    }
    match call.state {
        CallState::Intended | CallState::Allowed => Ok(()),
        CallState::Consent | CallState::Denied | CallState::Started => Err(Illegal::CallState {
            call: f.call.clone(),
            state: call.state,
        }),
    }
}

pub(super) fn call_finished(state: &FlowState, f: &CallFinished) -> Result<(), Illegal> {
    let turn = open(state, f.turn, &f.role)?;
    let calls = turn.request.iter().flat_map(|request| &request.calls);
    let asked = calls
        .filter(|asked| asked.tool_call == f.tool_call && asked.tool == f.tool)
        .find(|asked| !asked.done)
        .ok_or_else(|| bad_call(&f.call, "no call of that name waits for a result"))?;
    match &asked.call {
        Some(call) if *call != f.call => Err(bad_call(&f.call, "it has another name")),
        Some(_) => ran(call_of(state, &f.call, &f.role)?, f),
        None => never_intended(f),
    }
}

/// Only what was started can have come to something.
fn ran(call: &OpenCall, f: &CallFinished) -> Result<(), Illegal> {
    let fits = match (f.end, call.state) {
        (_, CallState::Consent) => false,
        (
            CallEnd::Done | CallEnd::TimedOut | CallEnd::Unknown | CallEnd::Recovered,
            CallState::Started,
        ) => true,
        (
            CallEnd::Done | CallEnd::TimedOut | CallEnd::Unknown | CallEnd::Recovered,
            CallState::Intended | CallState::Allowed | CallState::Denied,
        ) => false,
        (CallEnd::NotRun, CallState::Started) => false,
        (
            CallEnd::NotRun | CallEnd::Failed | CallEnd::Denied | CallEnd::Stopped,
            CallState::Intended | CallState::Allowed | CallState::Denied | CallState::Started,
        ) => true,
    };
    if fits {
        Ok(())
    } else {
        Err(Illegal::CallState {
            call: f.call.clone(),
            state: call.state,
        })
    }
}

/// A call that could not even be intended, because its arguments are no arguments or its tool is
/// none, still gets its result.
fn never_intended(f: &CallFinished) -> Result<(), Illegal> {
    match f.end {
        CallEnd::Failed | CallEnd::Denied | CallEnd::Stopped | CallEnd::NotRun => Ok(()),
        CallEnd::Done | CallEnd::TimedOut | CallEnd::Unknown | CallEnd::Recovered => {
            Err(bad_call(&f.call, "it never ran"))
        }
    }
}

/// A lost call runs again only when it was started in an earlier try and running it twice is safe.
pub(super) fn call_rerun(state: &FlowState, f: &CallRerun) -> Result<(), Illegal> {
    let call = call_of(state, &f.call, &f.role)?;
    if call.state != CallState::Started {
        return Err(Illegal::CallState {
            call: f.call.clone(),
            state: call.state,
        });
    }
    let lost = (state.turns.get(&call.turn)).is_some_and(|turn| call.attempt < turn.attempt);
    if !lost {
        return Err(bad_call(&f.call, "it may still be running"));
    }
    match call.effect {
        Effect::Pure | Effect::Checkable | Effect::Idempotent => Ok(()),
        Effect::Mutating | Effect::Irreversible => {
            Err(bad_call(&f.call, "running it twice is not safe"))
        }
    }
}

pub(super) fn call_reaped(state: &FlowState, f: &CallReaped) -> Result<(), Illegal> {
    let call = call_of(state, &f.call, &f.role)?;
    if call.process.as_ref() != Some(&f.process) {
        return Err(bad_call(&f.call, "another process did it"));
    }
    Ok(())
}
