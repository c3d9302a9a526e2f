//! Turns a step into facts, and replies to the taker.

use a_society_base::redact::MARK;
use a_society_facts::Hash;
use a_society_facts::fact::Fact;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::operator::{
    ConsentMode, McpServerApproved, McpServerUnavailable, McpToolUnavailable,
};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallStarted, ChangedText, CommandExit, DraftDiscarded,
    DraftKind, Effect, ModelAnswered, ModelFailed, RawValueEq, RequestHeld, SeenFile,
};
use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::limits::{
    EARLIER_TEXT_BYTES_MAX, EARLIER_TEXTS_BYTES_MAX, INLINE_EARLIER_BYTES_MAX,
};
use a_society_facts::message::{AnswerText, Image, ToolCall};
use a_society_facts::view::flow::{CallState, OpenCall, RequestState};
use a_society_roles::consent::ConsentQuestion;
use a_society_roles::handoff::NOT_ENDED;
use a_society_roles::turn::step::{
    Consent, IntendedCall, PlannedText, StepReply, TakerEnd, TurnStep,
};
use a_society_state::Flow;

use super::attempt::{Heard, TurnAttempt};
use super::consent::changed;
use super::core::Core;
use super::cut_calls::planned;
use super::error::DriverError;
use super::role_source::TouchedFiles;
use super::snapshot::names_snapshot;
use super::speech::{SpeechSource, TurnSpeech};
use super::step_findings::StepFindings;
use crate::limits::{HELD_RECORDED_MS, PROVIDER_BLOCKS_BYTES_MAX};
use crate::mint;
use crate::project::flow_file::FlowFile;

/// What the model gets when its turn is stopped before the graph that a call wrote was read.
const NOT_READ: &str = "The outcome is unknown: the operator stopped the turn before the graph was read. Check whether the \
                        flow walks it before you write it again.";

impl Core {
    /// Handles a step of a turn. What the taker waits for is durable on return.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(crate) fn step(
        &mut self,
        turn: TurnId,
        attempt: u32,
        step: TurnStep,
    ) -> Result<Heard, DriverError> {
        let mut heard = self.hear(turn, attempt, step)?;
        if let Heard::Look(look) = heard {
            heard = self.found(turn, attempt, look.run())?;
        }
        self.sync_owed()?;
        if matches!(heard, Heard::Wait) {
            // No taker is kept in a process that drives nothing else.
            self.leave(turn);
            return Ok(Heard::Over);
        }
        Ok(heard)
    }

    /// Handles a step of a turn. If more syncs are owed after it, its taker must get no reply before
    /// [`Self::sync_owed`].
    pub(super) fn hear(
        &mut self,
        turn: TurnId,
        attempt: u32,
        mut step: TurnStep,
    ) -> Result<Heard, DriverError> {
        let live = self.live.get_mut(turn);
        let Some(live) = live.filter(|live| live.subject.attempt() == attempt) else {
            return Ok(Heard::Over);
        };
        live.control.keep_pace(&step);
        let stopping = live.control.is_stopping();
        if !matches!(step, TurnStep::Stalled { .. }) {
            live.control.set_silent(0);
        }
        // A turn that is being stopped may still say how a call ended; everything else is too late.
        let last_word = matches!(step, TurnStep::Finish { .. } | TurnStep::Refuse { .. });
        if stopping && !last_word {
            return self.stopped(turn, attempt);
        }
        if let Some((speech, flow, source)) = self.speech(turn) {
            speech.clean(flow, &source, &mut step)?;
        }
        let Some(look) = self.look_before(turn, &step)? else {
            return self.handle(turn, attempt, step, StepFindings::default());
        };
        let role = self.role_of(turn)?;
        if !self.roles.waits(&role) {
            return self.handle(turn, attempt, step, look.run());
        }
        if let Some(live) = self.live.get_mut(turn) {
            live.hosting.hold_step(step);
        }
        if stopping {
            return self.stopped(turn, attempt);
        }
        if self.is_draining() {
            // The turn stays open, and comes to this step again as it would after a crash.
            self.leave(turn);
            return Ok(Heard::Over);
        }
        Ok(Heard::Look(look))
    }

    /// Handles the step of a turn that was held until it was looked at what it names.
    pub(super) fn found(
        &mut self,
        turn: TurnId,
        attempt: u32,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        let live = self.live.get_mut(turn);
        let live = live.filter(|live| live.subject.attempt() == attempt);
        match live.and_then(|live| live.hosting.take_step()) {
            Some(step) => self.handle(turn, attempt, step, found),
            None => Ok(Heard::Over),
        }
    }

    /// Handles a step with what was found of all that it names.
    fn handle(
        &mut self,
        turn: TurnId,
        attempt: u32,
        step: TurnStep,
        found: StepFindings,
    ) -> Result<Heard, DriverError> {
        let waited = matches!(step, TurnStep::Wait { .. });
        let live = self.live.get(turn);
        let stopping = live.is_some_and(|live| live.control.is_stopping());
        let leaves = self.is_draining() && is_recorded_point(&step);
        match self.record(turn, attempt, step, found)? {
            // The next try of the turn reads it in the record.
            Some(Heard::Go(StepReply::TakenBack { .. })) if stopping || leaves => {}
            Some(heard) => return Ok(heard),
            None => {}
        }
        if stopping {
            self.stopped(turn, attempt)
        } else if leaves {
            // The turn stays open, and goes on from here as it would after a crash.
            self.leave(turn);
            Ok(Heard::Over)
        } else if waited && let Some(live) = self.live.get_mut(turn) {
            Ok(Heard::Go(live.control.woken()))
        } else {
            Ok(Heard::Go(StepReply::Done { call: None }))
        }
    }

    /// What a step says becomes facts. Nothing is given back when the turn simply goes on.
    fn record(
        &mut self,
        turn: TurnId,
        attempt: u32,
        step: TurnStep,
        found: StepFindings,
    ) -> Result<Option<Heard>, DriverError> {
        let whose = TurnAttempt { turn, attempt };
        match step {
            TurnStep::Ask(asking) => {
                if let Some(over) = self.may_not_ask(turn, attempt, asking.worst)? {
                    return Ok(Some(over));
                }
                self.ask(turn, asking)?;
            }
            TurnStep::Draft { kind, text } => self.draft(turn, kind, &text)?,
            TurnStep::Stalled { seconds } => {
                if let Some(live) = self.live.get_mut(turn) {
                    live.control.set_silent(seconds);
                }
            }
            TurnStep::Cut => return self.cut_off(turn).map(Some),
            TurnStep::Discard { why } => self.discard(turn, why)?,
            answer @ TurnStep::Answer { .. } => self.answer(turn, answer)?,
            TurnStep::Failed {
                class,
                error,
                retry_in_ms,
            } => self.failed(turn, class, error, retry_in_ms)?,
            TurnStep::Intend(intended) => {
                let call = self.intend(turn, intended)?;
                return Ok(Some(Heard::Go(StepReply::Done { call: Some(call) })));
            }
            TurnStep::Start { call, process } => self.start_call(turn, call, process)?,
            TurnStep::Begin { intended, ask } => {
                return self.begin_call(whose, intended, ask, found.most).map(Some);
            }
            finish @ TurnStep::Finish { .. } => return self.finished(whose, finish, found),
            refuse @ TurnStep::Refuse { .. } => return self.refuse(turn, refuse, found.touched),
            TurnStep::Trust { server, definition } => self.trust(server, definition)?,
            TurnStep::Absent { server, tool, why } => self.absent(turn, server, tool, why)?,
            TurnStep::Consent(asked) => return self.consent(whose, *asked, found.most).map(Some),
            TurnStep::Compact(compact) => return self.compact(turn, attempt, compact).map(Some),
            TurnStep::Choose(choose) => return self.choose(turn, attempt, choose).map(Some),
            TurnStep::Held {
                provider,
                ms,
                is_failing,
            } => self.held(whose, provider, ms, is_failing)?,
            // The turn's thread lets the time pass; nothing is to be recorded.
            TurnStep::Wait { .. } => {}
            TurnStep::End(end) => return self.end(turn, attempt, end, found).map(Some),
        }
        Ok(None)
    }

    /// A request waits for a limit that another role met, or for a model that failed too often. The moments in which those who waited go one after
    /// another are not recorded.
    fn held(
        &mut self,
        whose: TurnAttempt,
        provider: String,
        ms: u64,
        failing: bool,
    ) -> Result<(), DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        if ms < HELD_RECORDED_MS {
            return Ok(());
        }
        let role = self.role_of(turn)?;
        let until = self.flow.now().after(ms);
        self.append(Fact::RequestHeld(RequestHeld {
            turn,
            attempt,
            seat: role.into(),
            provider,
            failing,
            until,
        }))
    }

    /// A piece of what the role says.
    fn draft(&mut self, turn: TurnId, kind: DraftKind, text: &str) -> Result<(), DriverError> {
        if let Some((speech, flow, source)) = self.speech(turn) {
            speech.push(flow, &source, kind, text)?;
        }
        Ok(())
    }

    /// A rule of the operator's approves a server of tools.
    fn trust(&mut self, server: String, definition: Hash) -> Result<(), DriverError> {
        let approved = McpServerApproved { server, definition };
        self.append(Fact::McpServerApproved(approved))?;
        // The server is started as soon as this is durable.
        self.syncs.owe();
        Ok(())
    }

    /// Reports a server or tool that a role would use and cannot.
    fn absent(
        &mut self,
        turn: TurnId,
        server: String,
        tool: Option<String>,
        why: String,
    ) -> Result<(), DriverError> {
        let role = self.role_of(turn)?;
        self.append(match tool {
            None => Fact::McpServerUnavailable(McpServerUnavailable { role, server, why }),
            Some(tool) => Fact::McpToolUnavailable(McpToolUnavailable { role, tool, why }),
        })
    }

    /// A call that needs no process begins, unless it must not.
    fn begin_call(
        &mut self,
        whose: TurnAttempt,
        intended: Box<IntendedCall>,
        ask: Option<Box<ConsentQuestion>>,
        most: Option<ConsentMode>,
    ) -> Result<Heard, DriverError> {
        let turn = whose.turn;
        let is_watched = names_snapshot(&intended.tool, &intended.arguments);
        let before = intended.files_before();
        let call = self.intend(turn, intended)?;
        if let Some(ask) = ask {
            let consent = Consent {
                call: call.clone(),
                ask: *ask,
                before,
            };
            let heard = self.consent(whose, consent, most)?;
            if matches!(heard, Heard::Wait) {
                self.waiting.begins_when_allowed(turn, is_watched);
            }
            if !matches!(heard, Heard::Go(StepReply::Done { .. })) {
                return Ok(heard);
            }
        }
        self.start_call(turn, call.clone(), None)?;
        Ok(Heard::Go(StepReply::Begun { call, is_watched }))
    }

    pub(super) fn start_call(
        &mut self,
        turn: TurnId,
        call: CallId,
        process: Option<ProcessName>,
    ) -> Result<(), DriverError> {
        let role = self.role_of(turn)?;
        let known = self.state().calls.get(&call);
        let reads = known.is_some_and(|open| open.effect == Effect::Pure);
        self.append(Fact::CallStarted(CallStarted {
            call,
            seat: role.into(),
            process,
        }))?;
        // What only reads has no effect that its announcement would have to precede.
        if !reads {
            self.syncs.owe();
        }
        Ok(())
    }

    pub(super) fn role_of(&self, turn: TurnId) -> Result<RoleInstance, DriverError> {
        self.live.role(turn).cloned().ok_or(DriverError::Gone)
    }

    pub(super) fn attempt_of(&self, turn: TurnId) -> Result<u32, DriverError> {
        let live = self.live.get(turn).ok_or(DriverError::Gone)?;
        Ok(live.subject.attempt())
    }

    /// What a turn says, the flow in which that is recorded, and the request that it answers.
    fn speech(&mut self, turn: TurnId) -> Option<(&mut TurnSpeech, &mut Flow, SpeechSource)> {
        let request = self.request_of(turn);
        let Self { live, flow, .. } = self;
        let live = live.get_mut(turn)?;
        let role = live.subject.role().clone();
        let source = SpeechSource {
            turn,
            role,
            request,
        };
        Some((&mut live.speech, flow, source))
    }

    /// What was streamed so far goes into the journal.
    pub(super) fn flush(&mut self, turn: TurnId) -> Result<Option<AnswerText>, DriverError> {
        Ok(match self.speech(turn) {
            Some((speech, flow, source)) => speech.flush(flow, &source)?,
            None => None,
        })
    }

    fn discard(&mut self, turn: TurnId, why: String) -> Result<(), DriverError> {
        let drafted = self.flush(turn)?;
        if drafted.is_none() {
            return Ok(());
        }
        let (role, request) = (self.role_of(turn)?, self.request_of(turn));
        self.append(Fact::DraftDiscarded(DraftDiscarded {
            turn,
            seat: role.into(),
            request,
            why,
        }))
    }

    fn answer(&mut self, turn: TurnId, answer: TurnStep) -> Result<(), DriverError> {
        let TurnStep::Answer {
            text,
            calls,
            stop,
            usage,
            provider_blocks,
            report,
        } = answer
        else {
            return Ok(());
        };
        self.live.release(turn);
        let Some((speech, flow, source)) = self.speech(turn) else {
            return Err(DriverError::Gone);
        };
        let text = speech.answer(flow, &source, text)?;
        let spoken = speech.take_changed();
        let SpeechSource { role, request, .. } = source;
        let attempt = self.attempt_of(turn)?;
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.spoken.keep(turn, &message, spoken);
        self.append(Fact::ModelAnswered(ModelAnswered {
            turn,
            attempt,
            seat: role.into(),
            request,
            message,
            text,
            calls,
            stop,
            usage,
            provider_blocks: provider_blocks.filter(|kept| fits(kept)),
            report,
        }))
    }

    fn failed(
        &mut self,
        turn: TurnId,
        class: String,
        error: String,
        retry_in_ms: Option<u64>,
    ) -> Result<(), DriverError> {
        self.live.release(turn);
        self.discard(
            turn,
            format!("the request failed, {}", class.replace('_', " ")),
        )?;
        let open = self
            .state()
            .turns
            .get(&turn)
            .and_then(|turn| turn.request.as_ref());
        if open.is_none_or(|request| request.state != RequestState::Asked) {
            return Ok(());
        }
        let (role, request) = (self.role_of(turn)?, self.request_of(turn));
        let attempt = self.attempt_of(turn)?;
        let fact = ModelFailed {
            turn,
            attempt,
            seat: role.into(),
            request,
            class,
            error,
            retry_in_ms,
        };
        self.append(Fact::ModelFailed(fact))
    }

    fn intend(&mut self, turn: TurnId, intended: Box<IntendedCall>) -> Result<CallId, DriverError> {
        let role = self.role_of(turn)?;
        // A call that an earlier try intended and that never ran is the same call now.
        let same = self.state().calls.iter().find(|(_, open)| {
            let may_run = matches!(open.state, CallState::Intended | CallState::Allowed);
            open.turn == turn && open.tool_call == intended.tool_call && may_run
        });
        if let Some((call, _)) = same {
            return Ok(call.clone());
        }
        let Some(live) = self.live.get_mut(turn) else {
            return Err(DriverError::Gone);
        };
        let call: CallId = format!("{}.{}", turn.0, live.bounds.next_call()).parse()?;
        let arguments = Hash::of(intended.arguments.as_bytes());
        let key = format!(
            "{}\n{}\n{}\n{}\n{}",
            self.flow.id(),
            turn.0,
            intended.ordinal,
            intended.tool,
            intended.arguments
        );
        let texts = self.changed_texts(intended.texts)?;
        self.append(Fact::CallIntended(CallIntended {
            call: call.clone(),
            turn,
            seat: role.into(),
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
    fn changed_texts(&self, planned: Vec<PlannedText>) -> Result<Vec<ChangedText>, DriverError> {
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
            changed.earlier = Some(self.flow.keep_text_within(inline_bytes_max, earlier)?);
            Ok(changed)
        };
        planned.into_iter().map(keep).collect()
    }

    /// A call that cannot even be planned gets its result. An earlier try may have intended it, and
    /// asked the operator, before the world changed; then this gives the model another result.
    fn refuse(
        &mut self,
        turn: TurnId,
        refuse: TurnStep,
        touched: Option<TouchedFiles>,
    ) -> Result<Option<Heard>, DriverError> {
        let TurnStep::Refuse {
            tool_call,
            tool,
            output,
        } = refuse
        else {
            return Ok(None);
        };
        let role = self.role_of(turn)?;
        let open = self.open_call(turn, &tool_call);
        let known = open.map(|(call, open)| (call.clone(), self.changed_meanwhile(open, touched)));
        let (call, changed) = match known {
            Some(known) => known,
            None => (mint::name(self.mint.as_mut(), "c")?, None),
        };
        let output = self.flow.keep_text(changed.clone().unwrap_or(output))?;
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.append(Fact::CallFinished(CallFinished {
            call,
            turn,
            seat: role.into(),
            tool_call,
            tool,
            end: CallEnd::Failed,
            output,
            message,
            seen: Vec::new(),
            image: None,
            exit: None,
            signal: None,
            cut: Some(false),
        }))?;
        Ok(changed.map(|output| Heard::Go(StepReply::TakenBack { output })))
    }

    /// A call is over, and the turn with it if the call ends it.
    fn finished(
        &mut self,
        whose: TurnAttempt,
        finish: TurnStep,
        found: StepFindings,
    ) -> Result<Option<Heard>, DriverError> {
        let turn = whose.turn;
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
        } = finish
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
            Some(ends) => self.finish_ending(whose, call, gave.output, (*ends, found))?,
            None => self.finish(turn, call, end, gave, found.graph)?,
        };
        Ok(taken_back.map(|output| Heard::Go(StepReply::TakenBack { output })))
    }

    /// The open call of a turn that its model named so.
    pub(super) fn open_call(&self, turn: TurnId, tool_call: &str) -> Option<(&CallId, &OpenCall)> {
        let mut calls = self.state().calls.iter();
        calls.find(|(_, open)| open.turn == turn && open.tool_call == tool_call)
    }

    /// A call that the operator allowed, as its model asked for it.
    pub(super) fn allowed_call(&self, open: &OpenCall) -> Option<(RoleInstance, ToolCall)> {
        open.allowed?;
        let role = open.seat.role()?.clone();
        let asked = self.asked_call(&open.seat, &open.tool_call)?;
        // A call whose secret is gone was refused for that.
        (!asked.input.get().contains(MARK)).then_some((role, asked))
    }

    /// The error for an allowed call whose file changed after the operator allowed it.
    fn changed_meanwhile(&self, open: &OpenCall, now: Option<TouchedFiles>) -> Option<String> {
        let (_, asked) = self.allowed_call(open)?;
        (now? != TouchedFiles::Has(planned(open).0)).then(|| changed(asked.input.get()))?
    }

    /// A call ends the turn: the model reads that it did only if its outcome is valid.
    fn finish_ending(
        &mut self,
        whose: TurnAttempt,
        call: CallId,
        output: String,
        (ends, found): (TakerEnd, StepFindings),
    ) -> Result<Option<String>, DriverError> {
        let turn = whose.turn;
        let ends_it = self.would_end(whose, ends, found)?;
        let (end, output) = if ends_it {
            (CallEnd::Done, output)
        } else {
            (CallEnd::Failed, NOT_ENDED.to_owned())
        };
        let said = (!ends_it).then(|| output.clone());
        self.finish(turn, call, end, Gave::of(output), None)?;
        Ok(said)
    }

    /// The call whose end was held is over when its turn is stopped: what it named was not looked at.
    pub(super) fn stop_held(&mut self, turn: TurnId) -> Result<(), DriverError> {
        let live = self.live.get_mut(turn);
        let held = live.and_then(|live| live.hosting.take_step());
        let Some(TurnStep::Finish { call, ends, .. }) = held else {
            return Ok(());
        };
        let (end, output) = if ends.is_some() {
            (CallEnd::Stopped, NOT_ENDED)
        } else {
            (CallEnd::Unknown, NOT_READ)
        };
        self.finish(turn, call, end, Gave::of(output.to_owned()), None)
            .map(drop)
    }

    pub(super) fn finish(
        &mut self,
        turn: TurnId,
        call: CallId,
        end: CallEnd,
        mut gave: Gave,
        graph: Option<Result<FlowFile, String>>,
    ) -> Result<Option<String>, DriverError> {
        let Some(open) = self.state().calls.get(&call).cloned() else {
            return Ok(None);
        };
        let (mut end, mut taken_back) = (end, None);
        if end == CallEnd::Done
            && let Some(why) = self.take_snapshot(&open, graph)?
        {
            taken_back = Some(why.clone());
            (end, gave) = (CallEnd::Failed, Gave::of(why));
        }
        // The blob is there before the record that names it.
        if let Some(bytes) = gave.image.as_ref().and_then(|image| image.data.as_deref()) {
            self.flow.keep_blob(bytes)?;
        }
        let output = self.flow.keep_text(gave.output)?;
        let message = mint::name(self.mint.as_mut(), "m")?;
        self.append(Fact::CallFinished(CallFinished {
            call,
            turn,
            seat: open.seat,
            tool_call: open.tool_call,
            tool: open.tool,
            end,
            output,
            message,
            seen: gave.seen,
            image: gave.image,
            exit: gave.exit.and_then(CommandExit::code),
            signal: gave.exit.and_then(CommandExit::signal),
            cut: Some(gave.is_cut),
        }))?;
        Ok(taken_back)
    }
}

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

/// Whether everything that a turn did so far is recorded after this step, so that it can be left.
const fn is_recorded_point(step: &TurnStep) -> bool {
    match step {
        TurnStep::Answer { .. }
        | TurnStep::Failed { .. }
        | TurnStep::Finish { .. }
        | TurnStep::Refuse { .. }
        | TurnStep::Wait { .. } => true,
        // A summary that is being made is waited for: nothing of it is kept otherwise.
        TurnStep::Compact(_)
        | TurnStep::Choose(_)
        | TurnStep::Held { .. }
        | TurnStep::Trust { .. }
        | TurnStep::Absent { .. }
        | TurnStep::Consent(_)
        | TurnStep::Ask(_)
        | TurnStep::Draft { .. }
        | TurnStep::Stalled { .. }
        | TurnStep::Cut
        | TurnStep::Discard { .. }
        | TurnStep::Intend(_)
        | TurnStep::Begin { .. }
        | TurnStep::Start { .. }
        | TurnStep::End(_) => false,
    }
}

/// Whether the blocks of a provider fit into the record of an answer. They repeat its text and its
/// calls; without them the answer goes back in the words of the message.
fn fits(blocks: &RawValueEq) -> bool {
    blocks.0.get().len() <= PROVIDER_BLOCKS_BYTES_MAX
}
