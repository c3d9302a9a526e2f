//! Calls that a crash interrupted: what is known about each, and which result the model gets.
//!
//! A call that was only intended never ran, and may run now. One that was started and only reads,
//! or does the same when it is done twice, runs again, marked. One that was started and may have changed something is never run again by itself:
//! the model reads that its outcome is unknown, and the operator sees a mark.

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::turn::{CallEnd, CallReaped, CallRerun, CalledTool, Effect, SeenFile};
use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::message::{Message, ToolCall};
use a_society_facts::view::flow::{CallState, Denied, OpenCall};
use a_society_flow::machine::Input;
use a_society_roles::tool::requested_changes;

use super::begin::Survey;
use super::calls::{Gave, called, finish_with};
use super::error::DriverError;
use super::pen::FlowPen;
use super::role_source::TouchedFiles;
use super::snapshot::take_snapshot;
use crate::project::flow_file::FlowFile;

/// What the model gets when the effect of a call is unknown.
const UNKNOWN: &str = "The outcome is unknown: the process ended after this call was started and \
                       before its result was saved. Check the present state before you repeat it.";
/// Why a call that was cut off runs again by itself.
const RUN_AGAIN: &str = "its result was lost when the process ended, and running it twice is safe";
/// What the model gets when the operator denied a call.
const DENIED: &str = "Denied by the operator. Do not do the same another way; choose another path, or \
                      ask_operator.";
/// What the model gets for the calls after one that was denied.
const AFTER_DENIAL: &str =
    "This call did not run, because the operator denied another call of the same answer.";
/// What the model gets when the file shows that a call had done its work.
const RECOVERED: &str = "Done. The process ended before the result was saved; the file holds what this call was to write.";
/// Why a call that was cut off runs again although it changes something.
const NOT_APPLIED: &str =
    "its result was lost when the process ended, and the file shows that it changed nothing yet";
/// Why a call that was cut off runs again although it changed some of its files.
const PARTLY_APPLIED: &str = "its result was lost when the process ended, and the files show that it changed some of them and not \
     yet the others";
/// What the model gets when the operator stops a turn before a call has run.
const STOPPED: &str = "This call did not run: the operator stopped the turn.";
/// What the model gets when a turn ends before a call has run, because its model, its key or a
/// server of its tools is not to be had.
const LEFT: &str = "This call did not run: the turn ended before it.";

/// Settles what is known about every call of a turn that a crash cut off, and says whether the
/// turn waits for guidance, because one was denied without a word. A call that is left open may run now: the taker intends it again and is given
/// the same call.
pub(super) fn settle_calls(
    pen: &mut FlowPen,
    turn: TurnId,
    mut survey: Survey,
) -> Result<bool, DriverError> {
    for (call, open) in open_calls(pen, turn) {
        if survey.reaped.contains(&call) {
            reaped(pen, &call, &open)?;
        }
        match (open.state, open.effect) {
            (CallState::Started, Effect::Pure | Effect::Idempotent) => {
                run_again(pen, call, open.role, RUN_AGAIN)?;
            }
            (CallState::Started, Effect::Checkable) => {
                let file = survey.touched.remove(&call);
                let graph = survey.graphs.remove(&call);
                let file = file.unwrap_or(TouchedFiles::Unknown);
                check(pen, call, &open, (file, graph))?;
            }
            (CallState::Started, Effect::Mutating) => {
                finish_call(pen, call, &open, CallEnd::Unknown, UNKNOWN)?;
            }
            (CallState::Started, Effect::Irreversible) => {
                finish_call(pen, call, &open, CallEnd::Unknown, UNKNOWN)?;
                pause_for(pen, &open)?;
            }
            (CallState::Denied, _) => {
                let told = told_of_denial(pen, &open)?;
                finish_call(pen, call, &open, CallEnd::Denied, &told)?;
            }
            // The request for consent is still there and can still be answered.
            (CallState::Intended | CallState::Allowed | CallState::Consent, _) => {}
        }
    }
    // What was denied says so from here on, also to a process that finds it half settled.
    let open = pen.state().turns.get(&turn);
    let asked = open.and_then(|open| open.request.as_ref());
    let denials = asked.iter().flat_map(|request| &request.calls);
    let denials: Vec<Denied> = denials.filter_map(|call| call.denied).collect();
    let waits = denials.contains(&Denied::Plainly);
    if !denials.is_empty() {
        // Nothing else of the same answer runs: the model has to read of the denial first.
        for (call, open) in open_calls(pen, turn) {
            finish_call(pen, call, &open, CallEnd::NotRun, AFTER_DENIAL)?;
        }
        finish_unintended(pen, turn, AFTER_DENIAL)?;
    }
    Ok(waits)
}

/// Nothing goes on before the operator has looked at what cannot be taken back.
fn pause_for(pen: &mut FlowPen, open: &OpenCall) -> Result<(), DriverError> {
    if pen.state().paused.is_some() {
        return Ok(());
    }
    let detail = format!(
        "{} had begun \"{}\" when the process ended; whether it had an effect is unknown",
        open.role, open.summary
    );
    pen.command(Input::Pause {
        reason: PauseReason::Irreversible,
        detail: Some(detail),
    })?;
    Ok(())
}

/// What the model gets for a call that the operator denied.
pub(super) fn told_of_denial(pen: &FlowPen, open: &OpenCall) -> Result<String, DriverError> {
    let Some(instead) = &open.instead else {
        return Ok(DENIED.to_owned());
    };
    let words = pen.flow.whole_text(instead)?;
    Ok(format!(
        "Denied by the operator: {words}\nDo not do the same another way; choose another path, or \
         ask_operator."
    ))
}

/// A call whose file tells whether it happened.
fn check(
    pen: &mut FlowPen,
    call: CallId,
    open: &OpenCall,
    (file, graph): (TouchedFiles, Option<Result<FlowFile, String>>),
) -> Result<(), DriverError> {
    let (before, after) = planned(open);
    match file {
        TouchedFiles::Has(now) if now == after => match take_snapshot(pen, open, graph)? {
            Some(why) => finish_call(pen, call, open, CallEnd::Failed, &why),
            None => finish_call(pen, call, open, CallEnd::Recovered, RECOVERED),
        },
        TouchedFiles::Has(now) if now == before => {
            run_again(pen, call, open.role.clone(), NOT_APPLIED)
        }
        TouchedFiles::Has(now) if is_between(&now, &before, &after) => {
            run_again(pen, call, open.role.clone(), PARTLY_APPLIED)
        }
        TouchedFiles::Has(_) | TouchedFiles::Unknown => {
            finish_call(pen, call, open, CallEnd::Unknown, UNKNOWN)
        }
    }
}

/// A call whose result was lost runs again.
fn run_again(
    pen: &mut FlowPen,
    call: CallId,
    role: RoleInstance,
    why: &str,
) -> Result<(), DriverError> {
    let why = why.to_owned();
    pen.append(Fact::CallRerun(CallRerun { call, role, why }))
}

/// A call as the model asked for it.
pub(super) fn asked_call(pen: &FlowPen, role: &RoleInstance, tool_call: &str) -> Option<ToolCall> {
    let session = pen.flow.views().session(role)?;
    session.messages.iter().rev().find_map(|entry| {
        if let Message::AssistantToolCalls { calls, .. } = &*entry.message {
            calls.iter().find(|call| call.id == tool_call).cloned()
        } else {
            None
        }
    })
}

/// Gives every open call of a turn that is stopped its result.
pub(super) fn stop_calls(pen: &mut FlowPen, turn: TurnId) -> Result<(), DriverError> {
    close_calls(pen, turn, CallEnd::Stopped, STOPPED)
}

/// Gives every open call of a turn its result that ends because its role cannot go on.
pub(super) fn leave_calls(pen: &mut FlowPen, turn: TurnId) -> Result<(), DriverError> {
    close_calls(pen, turn, CallEnd::NotRun, LEFT)
}

fn close_calls(
    pen: &mut FlowPen,
    turn: TurnId,
    end: CallEnd,
    told: &str,
) -> Result<(), DriverError> {
    for (call, open) in open_calls(pen, turn) {
        let (end, told) = match open.state {
            CallState::Started => (CallEnd::Unknown, UNKNOWN.to_owned()),
            CallState::Denied => (CallEnd::Denied, told_of_denial(pen, &open)?),
            CallState::Intended | CallState::Consent | CallState::Allowed => (end, told.to_owned()),
        };
        finish_call(pen, call, &open, end, &told)?;
    }
    finish_unintended(pen, turn, told)
}

/// A call of an answer that was never begun gets its result, too.
fn finish_unintended(pen: &mut FlowPen, turn: TurnId, told: &str) -> Result<(), DriverError> {
    let Some(open) = pen.state().turns.get(&turn) else {
        return Ok(());
    };
    let role = open.role.clone();
    let asked = open.request.iter().flat_map(|request| &request.calls);
    let idle: Vec<(String, String)> = asked
        .filter(|call| call.call.is_none() && !call.done)
        .map(|call| (call.tool_call.clone(), call.tool.clone()))
        .collect();
    for (tool_call, tool) in idle {
        let called = CalledTool {
            call: pen.name("c")?,
            turn,
            role: role.clone(),
            tool_call,
            tool,
        };
        finish_with(pen, called, CallEnd::NotRun, Gave::of(told.to_owned()))?;
    }
    Ok(())
}

/// What was left of the program of a call was ended: it had survived the process that ran it.
fn reaped(pen: &mut FlowPen, call: &CallId, open: &OpenCall) -> Result<(), DriverError> {
    let Some(process) = &open.process else {
        return Ok(());
    };
    pen.append(Fact::CallReaped(CallReaped {
        call: call.clone(),
        role: open.role.clone(),
        process: process.clone(),
    }))
}

pub(super) fn open_calls(pen: &FlowPen, turn: TurnId) -> Vec<(CallId, OpenCall)> {
    let mine = pen
        .state()
        .calls
        .iter()
        .filter(|(_, open)| open.turn == turn);
    mine.map(|(call, open)| (call.clone(), open.clone()))
        .collect()
}

fn finish_call(
    pen: &mut FlowPen,
    call: CallId,
    open: &OpenCall,
    end: CallEnd,
    told: &str,
) -> Result<(), DriverError> {
    let gave = Gave {
        seen: recovered(pen, end, open),
        ..Gave::of(told.to_owned())
    };
    finish_with(pen, called(call, open.clone()), end, gave)
}

/// The files that a call made, which is known only now that the program runs again.
fn recovered(pen: &FlowPen, end: CallEnd, open: &OpenCall) -> Vec<SeenFile> {
    if end != CallEnd::Recovered {
        return Vec::new();
    }
    let Some(asked) = asked_call(pen, &open.role, &open.tool_call) else {
        return Vec::new();
    };
    let said = requested_changes(&asked.name, asked.input.get()).into_iter();
    let seen = said.zip(planned(open).1).filter_map(|(said, hash)| {
        let (path, hash) = (said.path, hash?);
        (!path.starts_with('/')).then_some(SeenFile { path, hash })
    });
    seen.collect()
}

/// How many calls of a turn were ever intended, so that new ones get new names.
pub(super) fn calls_of(pen: &FlowPen, turn: TurnId) -> u32 {
    let open = pen.state().turns.get(&turn);
    open.map_or(0, |open| open.calls)
}

/// The hashes of a call's files before it and after it.
pub(super) fn planned(open: &OpenCall) -> (Vec<Option<Hash>>, Vec<Option<Hash>>) {
    if open.files.is_empty() {
        return (vec![open.before], vec![open.after]);
    }
    let each = open.files.iter();
    each.map(|file| (file.before, file.after)).unzip()
}

/// Whether each file is as it was before the call or as it is after it.
fn is_between(now: &[Option<Hash>], before: &[Option<Hash>], after: &[Option<Hash>]) -> bool {
    let mut files = now.iter().zip(before.iter().zip(after));
    now.len() == before.len() && files.all(|(now, (before, after))| now == before || now == after)
}
