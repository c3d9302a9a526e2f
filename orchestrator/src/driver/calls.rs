//! The calls of a turn while it runs here: each is intended, perhaps asked about, started, and gets its result.

use a_society_base::redact::MARK;
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallStarted, CalledTool, ChangedText, CommandExit, Effect,
    SeenFile,
};
use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::limits::{
    EARLIER_TEXT_BYTES_MAX, EARLIER_TEXTS_BYTES_MAX, INLINE_EARLIER_BYTES_MAX,
};
use a_society_facts::message::{Image, ToolCall};
use a_society_facts::view::flow::{CallState, OpenCall};
use a_society_roles::consent::ConsentQuestion;
use a_society_roles::handoff::NOT_ENDED;
use a_society_roles::turn::step::{
    Consent, IntendedCall, PlannedText, StepReply, TakerEnd, TurnStep,
};

use super::attempt::Onward;
use super::consent::{changed, consent};
use super::cut_calls::{self, planned};
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::role_source::TouchedFiles;
use super::snapshot::{self, names_snapshot};
use super::step_findings::StepFindings;
use super::verdict;
use crate::project::flow_file::FlowFile;

/// What the model gets when its turn is stopped before the graph that a call wrote was read.
const NOT_READ: &str = "The outcome is unknown: the operator stopped the turn before the graph was read. Check whether the \
                        flow walks it before you write it again.";

/// What a call gave.
#[derive(Debug)]
pub(super) struct Gave {
    pub(super) output: String,
    /// The files that the role knows from now on as they are.
    pub(super) seen: Vec<SeenFile>,
    pub(super) image: Option<Box<Image>>,
    /// How the command ended, if it was one and nothing of ours ended it.
    pub(super) exit: Option<CommandExit>,
    /// Whether the model gets less than there was.
    pub(super) is_cut: bool,
}

impl Gave {
    /// A text and nothing else.
    pub(super) const fn of(output: String) -> Self {
        Self {
            output,
            seen: Vec::new(),
            image: None,
            exit: None,
            is_cut: false,
        }
    }
}

/// A call that needs no process begins, unless it must not.
pub(super) fn begin_call(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    intended: Box<IntendedCall>,
    ask: Option<Box<ConsentQuestion>>,
    most: Option<ConsentMode>,
) -> Result<Onward, DriverError> {
    let is_watched = names_snapshot(&intended.tool, &intended.arguments);
    let before = intended.files_before();
    let call = intend(pen, live, intended)?;
    if let Some(ask) = ask {
        let consent_asked = Consent {
            call: call.clone(),
            ask: *ask,
            before,
        };
        match consent(pen, live.subject.whose(), consent_asked, most)? {
            Onward::Go(StepReply::Done { .. }) => {}
            onward @ (Onward::Go(_) | Onward::Ends(_) | Onward::Fails(_) | Onward::Leaves) => {
                return Ok(onward);
            }
        }
    }
    start_call(pen, live.subject.role(), call.clone(), None)?;
    Ok(Onward::Go(StepReply::Begun { call, is_watched }))
}

/// A call is going to run.
pub(super) fn start_call(
    pen: &mut FlowPen,
    role: &RoleInstance,
    call: CallId,
    process: Option<ProcessName>,
) -> Result<(), DriverError> {
    let known = pen.state().calls.get(&call);
    let reads = known.is_some_and(|open| open.effect == Effect::Pure);
    pen.append(Fact::CallStarted(CallStarted {
        call,
        role: role.clone(),
        process,
    }))?;
    // What only reads has no effect that its announcement would have to precede.
    if !reads {
        pen.syncs.owe();
    }
    Ok(())
}

/// A role intends a call, which gets its number in the turn.
pub(super) fn intend(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    intended: Box<IntendedCall>,
) -> Result<CallId, DriverError> {
    let (turn, role) = (live.subject.turn(), live.subject.role().clone());
    // A call that an earlier try intended and that never ran is the same call now.
    let same = pen.state().calls.iter().find(|(_, open)| {
        let may_run = matches!(open.state, CallState::Intended | CallState::Allowed);
        open.turn == turn && open.tool_call == intended.tool_call && may_run
    });
    if let Some((call, _)) = same {
        return Ok(call.clone());
    }
    let call: CallId = format!("{}.{}", turn.0, live.bounds.next_call()).parse()?;
    let arguments = Hash::of(intended.arguments.as_bytes());
    let key = format!(
        "{}\n{}\n{}\n{}\n{}",
        pen.flow.id(),
        turn.0,
        intended.ordinal,
        intended.tool,
        intended.arguments
    );
    let texts = changed_texts(pen, intended.texts)?;
    pen.append(Fact::CallIntended(CallIntended {
        call: call.clone(),
        turn,
        role,
        tool_call: intended.tool_call,
        ordinal: intended.ordinal,
        tool: intended.tool,
        arguments,
        effect: intended.effect,
        idempotency_key: Hash::of(key.as_bytes()),
        before: intended.before,
        after: intended.after,
        files: intended.files,
        texts,
        summary: intended.summary,
    }))?;
    Ok(call)
}

/// Keeps the earlier texts of the files that a call changes, as far as they are not too long.
fn changed_texts(
    pen: &FlowPen,
    planned: Vec<PlannedText>,
) -> Result<Vec<ChangedText>, DriverError> {
    let inline_bytes_max = INLINE_EARLIER_BYTES_MAX / planned.len().max(1);
    let mut room_bytes = EARLIER_TEXTS_BYTES_MAX;
    let keep = |planned: PlannedText| {
        let mut changed = ChangedText {
            path: planned.path,
            added: planned.added as u64,
            removed: planned.removed as u64,
            earlier: None,
            unkept_bytes: None,
            line: planned.line.map(|line| line as u64),
            places: Some(planned.places as u64),
        };
        let Some(earlier) = planned.earlier else {
            return Ok(changed);
        };
        if earlier.len() > EARLIER_TEXT_BYTES_MAX.min(room_bytes) {
            changed.unkept_bytes = Some(earlier.len() as u64);
            return Ok(changed);
        }
        room_bytes -= earlier.len();
        changed.earlier = Some(pen.flow.keep_text_within(inline_bytes_max, earlier)?);
        Ok(changed)
    };
    planned.into_iter().map(keep).collect()
}

/// A call that cannot even be planned gets its result. An earlier try may have intended it, and
/// asked the operator, before the world changed; then this gives the model another result.
pub(super) fn refuse(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    step: TurnStep,
    touched: Option<TouchedFiles>,
) -> Result<Option<Onward>, DriverError> {
    let TurnStep::Refuse {
        tool_call,
        tool,
        output,
    } = step
    else {
        return Ok(None);
    };
    let turn = whose.turn();
    let open = open_call(pen, turn, &tool_call);
    let known = open.map(|(call, open)| (call.clone(), changed_meanwhile(pen, open, touched)));
    let (call, changed) = match known {
        Some(known) => known,
        None => (pen.name("c")?, None),
    };
    let called = CalledTool {
        call,
        turn,
        role: whose.role().clone(),
        tool_call,
        tool,
    };
    let gave = Gave::of(changed.clone().unwrap_or(output));
    finish_with(pen, called, CallEnd::Failed, gave)?;
    Ok(changed.map(|output| Onward::Go(StepReply::TakenBack { output })))
}

/// A call is over, and the turn with it if the call ends it.
pub(super) fn finished(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    step: TurnStep,
    found: StepFindings,
) -> Result<Option<Onward>, DriverError> {
    let TurnStep::Finish {
        call,
        end,
        output,
        seen,
        image,
        exit,
        is_cut,
        is_settled: _,
        ends,
    } = step
    else {
        return Ok(None);
    };
    let gave = Gave {
        output,
        seen,
        image,
        exit,
        is_cut,
    };
    let taken_back = match ends {
        Some(ends) => finish_ending(pen, live, call, gave.output, (*ends, found))?,
        None => finish(pen, call, end, gave, found.graph)?,
    };
    Ok(taken_back.map(|output| Onward::Go(StepReply::TakenBack { output })))
}

/// The open call of a turn that its model named so.
pub(super) fn open_call<'p>(
    pen: &'p FlowPen,
    turn: TurnId,
    tool_call: &str,
) -> Option<(&'p CallId, &'p OpenCall)> {
    let mut calls = pen.state().calls.iter();
    calls.find(|(_, open)| open.turn == turn && open.tool_call == tool_call)
}

/// A call that the operator allowed, as its model asked for it.
pub(super) fn allowed_call(pen: &FlowPen, open: &OpenCall) -> Option<(RoleInstance, ToolCall)> {
    open.allowed?;
    let role = open.role.clone();
    let asked = cut_calls::asked_call(pen, &open.role, &open.tool_call)?;
    // A call whose secret is gone was refused for that.
    (!asked.input.get().contains(MARK)).then_some((role, asked))
}

/// The error for an allowed call whose file changed after the operator allowed it.
fn changed_meanwhile(pen: &FlowPen, open: &OpenCall, now: Option<TouchedFiles>) -> Option<String> {
    let (_, asked) = allowed_call(pen, open)?;
    (now? != TouchedFiles::Has(planned(open).0)).then(|| changed(asked.input.get()))?
}

/// A call ends the turn: the model reads that it did only if its outcome is valid.
fn finish_ending(
    pen: &mut FlowPen,
    live: &mut LiveTurn,
    call: CallId,
    output: String,
    (ends, found): (TakerEnd, StepFindings),
) -> Result<Option<String>, DriverError> {
    let ends_it = verdict::would_end(pen, live, ends, found)?;
    let (end, output) = if ends_it {
        (CallEnd::Done, output)
    } else {
        (CallEnd::Failed, NOT_ENDED.to_owned())
    };
    let said = (!ends_it).then(|| output.clone());
    finish(pen, call, end, Gave::of(output), None)?;
    Ok(said)
}

/// The call whose end was held is over when its turn is stopped: what it named was not looked at.
pub(super) fn stop_held(pen: &mut FlowPen, live: &mut LiveTurn) -> Result<(), DriverError> {
    let held = live.hosting.take_step();
    let Some(TurnStep::Finish { call, ends, .. }) = held else {
        return Ok(());
    };
    let (end, output) = if ends.is_some() {
        (CallEnd::Stopped, NOT_ENDED)
    } else {
        (CallEnd::Unknown, NOT_READ)
    };
    finish(pen, call, end, Gave::of(output.to_owned()), None).map(drop)
}

/// A call is over. Returns why it does not count after all, if it does not.
fn finish(
    pen: &mut FlowPen,
    call: CallId,
    end: CallEnd,
    mut gave: Gave,
    graph: Option<Result<FlowFile, String>>,
) -> Result<Option<String>, DriverError> {
    let Some(open) = pen.state().calls.get(&call).cloned() else {
        return Ok(None);
    };
    let (mut end, mut taken_back) = (end, None);
    if end == CallEnd::Done
        && let Some(why) = snapshot::take_snapshot(pen, &open, graph)?
    {
        taken_back = Some(why.clone());
        (end, gave) = (CallEnd::Failed, Gave::of(why));
    }
    finish_with(pen, called(call, open), end, gave)?;
    Ok(taken_back)
}

/// The open call of this name, as its results name it.
pub(super) fn called(call: CallId, open: OpenCall) -> CalledTool {
    CalledTool {
        call,
        turn: open.turn,
        role: open.role,
        tool_call: open.tool_call,
        tool: open.tool,
    }
}

/// A call is over, with what it gave.
pub(super) fn finish_with(
    pen: &mut FlowPen,
    called: CalledTool,
    end: CallEnd,
    gave: Gave,
) -> Result<(), DriverError> {
    // The blob is there before the record that names it.
    if let Some(bytes) = gave.image.as_ref().and_then(|image| image.data.as_deref()) {
        pen.flow.keep_blob(bytes)?;
    }
    let output = pen.flow.keep_text(gave.output)?;
    let message = pen.name("m")?;
    pen.append(Fact::CallFinished(CallFinished {
        seen: gave.seen,
        image: gave.image,
        exit: gave.exit.and_then(CommandExit::code),
        signal: gave.exit.and_then(CommandExit::signal),
        cut: Some(gave.is_cut),
        ..called.finished(end, output, message)
    }))
}
