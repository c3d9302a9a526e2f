//! The machine of a model's turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use a_society_base::redact::{MARK, Redactor};
use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::session::Trigger;
use a_society_facts::fact::turn::{RawValueEq, StopReason};
use a_society_facts::id::CallId;
use a_society_facts::message::{Message, ToolCall};
use a_society_providers::retry::{Patience, RequestOutcome, Ticket, limits::LONGEST_HELD_MS};
use a_society_providers::{
    AnswerStop, HistoryMessage, ModelAnswer, ModelRequest, Prepared, SaidBlocks,
};

use super::calls::{Calls, WantedCall};
use super::compact::{Bearing, SummaryRequest};
use super::gear::Gear;
use super::hear::{Hearing, LaneWait};
use super::kit::{Absent, Kit};
use super::limits::{BUDGET_BUSY_MS, MALFORMED_ROUNDS, PAUSES, SHARED_KEY_BYTES};
use super::same::Same;
use super::window::{Filling, Fullness};
use crate::cost::CountedRequest;
use crate::handoff::{AllowedOutcomes, parse_cut_outcome};
use crate::turn::conclude::{conclude, conclude_called};
use crate::turn::job::TurnJob;
use crate::turn::step::{Asking, StepReply, TakerEnd, TurnStep};
use crate::turn::tail::{TurnTail, tail};
use crate::turn::taker::Taker;

/// The taker of a role whose answers come from a model.
#[derive(Debug)]
pub struct ModelTaker {
    pub(super) job: Arc<TurnJob>,
    pub(super) gear: Gear,
    pub(super) stop: StopSignal,
    /// What it may call; brought together when it is needed first.
    pub(super) kit: Option<Kit>,
    /// What its requests are made of besides the session.
    frame: Option<Arc<RequestFrame>>,
    /// The parts of it that are absent and not reported yet.
    absent: Vec<Absent>,
    /// The conversation, as the next request says it.
    pub(super) said: Vec<HistoryMessage>,
    /// Where the exchanges of the present node begin in it.
    pub(super) node_from: usize,
    /// How many tokens the last request filled.
    pub(super) context: u64,
    /// How many answers of the turn are recorded.
    pub(super) answered: u32,
    pub(super) next: ModelNext,
    /// The last request that left.
    pub(super) request: Hash,
    /// How long its body was.
    pub(super) body_bytes: u64,
    /// A request of this turn that its provider has counted.
    counted: Option<CountedRequest>,
    /// The failures of the provider tolerated so far.
    pub(super) patience: Patience,
    /// How often the dice were thrown.
    pub(super) throws: u32,
    /// By what the turn is known to those who share its provider.
    pub(super) ticket: Ticket,
    /// Whether they count on it.
    pub(super) is_in_lane: bool,
    /// Whether the operator wants the next request to leave before its time.
    pub(super) is_hurried: bool,
    /// Answers in a row that held nothing but calls that cannot be read.
    malformed: u32,
    /// Answers in a row that the provider paused.
    pauses: u32,
    /// What the calls of the turn came to so far.
    pub(super) same: Same,
    /// Whether a summary cannot be had before the operator has mended something.
    pub(super) no_summary: bool,
    /// What is known about the window besides the last count.
    pub(super) filling: Filling,
    /// The same while a summary was requested.
    pub(super) summaries: Bearing,
    /// Whether it makes a summary and nothing else.
    pub(super) only_summarises: bool,
    /// Whether its last step waits for the operator's consent. The turn is left then, and is not over.
    awaits_consent: bool,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum ModelNext {
    /// The model is asked, or the session compacted first.
    Ask,
    /// The request is announced; now it may leave.
    Send(Prepared),
    /// The answer arrives.
    Hear(Box<Hearing>),
    /// Calls run.
    Work(Box<Calls>),
    /// Time passes before the request is sent again.
    Wait(u64),
    /// A summary is announced; now it may be asked for.
    Summarise(Box<SummaryRequest>),
    /// The turn ends.
    End(TakerEnd),
}

impl ModelTaker {
    /// A taker that continues from the end of the turn's record.
    #[must_use]
    pub fn new(job: Arc<TurnJob>, gear: Gear, stop: StopSignal) -> Self {
        let next = match tail(&job) {
            TurnTail::Ask => ModelNext::Ask,
            TurnTail::Calls(open) => {
                let open = open.into_iter().map(|(ordinal, call)| WantedCall {
                    ordinal,
                    call: call.clone(),
                    fault: lost_secret(call),
                });
                ModelNext::Work(Box::new(Calls::new(open)))
            }
            TurnTail::Concluded(text) => ModelNext::End(end_of(text, job.last_stop, &job.allowed)),
            TurnTail::Called(text, calls) => {
                conclude_called(text, calls, &job.allowed).map_or(ModelNext::Ask, ModelNext::End)
            }
        };
        // Usually there is no other reference to the job, so that a long history is moved and not copied.
        let mut job = Arc::unwrap_or_clone(job);
        let same = Same::of(&job.history, job.answers_before, gear.bounds.same_call);
        let history = std::mem::take(&mut job.history);
        let filling = Filling::of(&history);
        let said = conversation(history, &job.provider_blocks);
        Self {
            kit: None,
            frame: None,
            absent: Vec::new(),
            said,
            node_from: job.exchanges_from,
            context: job.context_tokens,
            answered: job.answers_before,
            next,
            request: Hash::of(&[]),
            body_bytes: 0,
            counted: None,
            patience: Patience::default(),
            throws: 0,
            ticket: ticket(&job),
            is_in_lane: false,
            is_hurried: false,
            malformed: 0,
            pauses: 0,
            same,
            no_summary: false,
            filling,
            summaries: Bearing::default(),
            only_summarises: false,
            awaits_consent: false,
            job: Arc::new(job),
            gear,
            stop,
        }
    }

    /// Makes a summary of the job's session, because the operator wants it shorter.
    #[must_use]
    pub fn summarising(job: Arc<TurnJob>, gear: Gear, stop: StopSignal) -> Self {
        let mut taker = Self::new(job, gear, stop);
        taker.only_summarises = true;
        taker.next = ModelNext::Ask;
        taker
    }

    /// The ways in which the next request could be written: whole, and without old outputs, as when
    /// the window is nearly full. Nothing leaves.
    ///
    /// # Errors
    /// If the request may not be sent.
    pub fn ways(
        job: Arc<TurnJob>,
        gear: Gear,
    ) -> Result<Vec<Prepared>, a_society_providers::RequestFault> {
        let mut taker = Self::new(job, gear, StopSignal::default());
        taker.gather();
        let whole = taker.prepare()?;
        taker.trim();
        let trimmed = taker.prepare()?;
        Ok(vec![whole, trimmed])
    }

    /// Brings together what may be called. Waits for servers that have to be started.
    fn gather(&mut self) {
        let (gear, job) = (&self.gear, &self.job);
        let remote = gear.remote.as_ref();
        let (offered, by_call) = (&*gear.offered, gear.ends_by_call);
        let (kit, mut absent) = Kit::gather(&gear.tools, offered, by_call, remote, job, &self.stop);
        let missing = gear.missing.iter().map(|(tool, why)| Absent {
            server: String::new(),
            tool: Some(tool.clone()),
            why: why.clone(),
        });
        absent.extend(missing);
        self.kit = Some(kit);
        self.frame = self.frame();
        self.absent = absent;
        self.gear.tools.heed(&self.stop);
    }

    /// A server that the flow does not trust yet.
    fn newly_trusted(&mut self) -> Option<TurnStep> {
        let (server, definition) = self.gear.remote.as_mut()?.newly.pop()?;
        Some(TurnStep::Trust { server, definition })
    }

    pub(super) fn end(&mut self, end: TakerEnd) -> TurnStep {
        self.next = ModelNext::End(end.clone());
        TurnStep::End(end)
    }

    /// Says the next request, or first that the session must become shorter.
    fn ask(&mut self) -> TurnStep {
        if self.only_summarises {
            return self.shorten(Trigger::Manual);
        }
        if let Some(why) = self.same.stuck() {
            return self.end(TakerEnd::aborted(why));
        }
        match self.fullness() {
            Fullness::Free => {}
            Fullness::Shorten => return self.shorten(Trigger::Auto),
            Fullness::Stuck => return self.end(self.stuck()),
        }
        let prepared = match self.prepare() {
            Ok(prepared) => prepared,
            Err(fault) => return self.unprepared(&fault),
        };
        if let Some(LaneWait { ms, is_failing }) = self.enter_lane() {
            if ms > LONGEST_HELD_MS && !self.is_hurried {
                return self.held(ms);
            }
            self.next = ModelNext::Wait(ms);
            let provider = self.gear.provider.name().to_owned();
            return TurnStep::Held {
                provider,
                ms,
                is_failing,
            };
        }
        let model = &self.gear.model;
        let step = TurnStep::Ask(Asking {
            model: model.name.clone(),
            hash: prepared.hash,
            frame: self.frame.clone(),
            worst: model.worst(self.weight(&prepared), self.counted, model.max_output),
        });
        self.next = ModelNext::Send(prepared);
        step
    }

    fn prepare(&self) -> Result<Prepared, a_society_providers::RequestFault> {
        let keys = self.keys();
        self.gear.provider.prepare(&self.request(&keys))
    }

    /// What the turn's requests are made of besides the session. It is the same for all of them.
    fn frame(&self) -> Option<Arc<RequestFrame>> {
        let keys = self.keys();
        let tools = self.kit.iter().flat_map(Kit::parts);
        let speech = self.gear.provider.speech()?;
        Some(Arc::new(speech.frame(&self.request(&keys), tools)))
    }

    fn request<'a>(&'a self, [key, shared]: &'a [String; 2]) -> ModelRequest<'a> {
        let model = &self.gear.model;
        ModelRequest {
            model: &model.id,
            system: &self.job.system_prompt,
            environment: &self.gear.environment,
            messages: &self.said,
            tools: self.kit.as_ref().map_or(&[][..], Kit::offered),
            effort: model.effort,
            thinking: model.thinking,
            max_output_tokens: model.max_output,
            images: model.images,
            cache_key: Some(key),
            shared_key: Some(shared),
        }
    }

    /// The names by which a provider finds what it has cached: requests of one session go on from one
    /// another, and those of all sessions of a role begin alike, whatever their flow.
    fn keys(&self) -> [String; 2] {
        let own = format!("{}__{}", self.job.flow, self.job.role);
        let project = self.job.project_name.as_deref().unwrap_or_default();
        let key = format!("{project}__{}", self.job.role.base());
        let end = key.floor_char_boundary(SHARED_KEY_BYTES);
        [own, key.get(..end).unwrap_or_default().to_owned()]
    }

    /// The whole answer is there.
    pub(super) fn answered(&mut self, answer: ModelAnswer) -> TurnStep {
        self.leave_lane(RequestOutcome::Works);
        self.patience.answered();
        if answer.usage_is_known {
            let usage = answer.usage;
            self.counted = Some(CountedRequest {
                body_bytes: self.body_bytes,
                input_tokens: usage.input_tokens
                    + usage.cache_read_tokens
                    + usage.cache_write_tokens,
            });
        }
        let number = self.answered;
        self.answered = self.answered.saturating_add(1);
        let calls: Vec<WantedCall> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(ordinal, asked)| {
                let call = ToolCall {
                    id: format!("call-{}-{}-{}", self.job.turn.0, number + 1, ordinal + 1),
                    name: asked.name.clone(),
                    input: asked.input.clone(),
                };
                let fault = asked
                    .fault
                    .as_ref()
                    .map(a_society_providers::CallFault::told);
                WantedCall {
                    ordinal,
                    call,
                    fault,
                }
            })
            .collect();
        let is_malformed = !calls.is_empty()
            && (answer.calls.iter()).all(|asked| {
                asked
                    .fault
                    .as_ref()
                    .is_some_and(|fault| fault.is_malformed())
            });
        self.malformed = if is_malformed { self.malformed + 1 } else { 0 };
        self.pauses = if answer.stop == AnswerStop::Paused {
            self.pauses + 1
        } else {
            0
        };
        let asked: Vec<ToolCall> = calls.iter().map(|wanted| wanted.call.clone()).collect();
        let cut = self.was_cut(&answer);
        let blocks = answer.blocks.clone().and_then(SaidBlocks::of);
        let provider_blocks = blocks.as_ref().map(SaidBlocks::to_fact);
        self.remember(&answer, &asked, blocks);
        self.counted(answer.stop == AnswerStop::WindowFull);
        self.next = match cut {
            Some(end) => ModelNext::End(end),
            None => self.after(&answer, calls),
        };
        let mut usage = answer.usage;
        usage.cost_micros = self.gear.model.cost(&usage);
        usage.context_tokens = self.context;
        TurnStep::Answer {
            text: answer.text,
            calls: asked,
            stop: answer.stop.reason(),
            usage,
            provider_blocks,
            report: None,
        }
    }

    /// The answer becomes part of the conversation.
    fn remember(&mut self, answer: &ModelAnswer, calls: &[ToolCall], blocks: Option<SaidBlocks>) {
        self.context = if answer.usage_is_known {
            answer.usage.window_tokens()
        } else {
            self.guessed_context(answer)
        };
        let message = if !calls.is_empty() {
            Message::AssistantToolCalls {
                calls: calls.to_vec(),
                text: (!answer.text.is_empty()).then(|| answer.text.clone()),
            }
        } else if answer.text.is_empty() && answer.blocks.is_none() {
            return;
        } else {
            Message::Assistant {
                content: answer.text.clone(),
            }
        };
        self.said.push(HistoryMessage {
            message: Arc::new(message),
            blocks,
        });
    }

    /// What the operator is asked if the server read less than it was sent.
    fn was_cut(&self, answer: &ModelAnswer) -> Option<TakerEnd> {
        let usage = &answer.usage;
        let input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
        let cut = || self.cut_in_silence(input, self.body_bytes);
        answer.usage_is_known.then(cut).flatten()
    }

    /// What follows from an answer.
    fn after(&mut self, answer: &ModelAnswer, calls: Vec<WantedCall>) -> ModelNext {
        if self.malformed > MALFORMED_ROUNDS {
            return ModelNext::End(TakerEnd::aborted(
                "the model kept asking for tools with arguments that cannot be read".to_owned(),
            ));
        }
        if !calls.is_empty() {
            return ModelNext::Work(Box::new(Calls::new(calls)));
        }
        let is_outcome = || is_whole(&answer.text, &self.job.allowed);
        match &answer.stop {
            AnswerStop::Paused if self.pauses <= PAUSES => ModelNext::Ask,
            AnswerStop::Refusal => ModelNext::End(declined()),
            AnswerStop::OutputLimit if !is_outcome() => ModelNext::End(TakerEnd::OutputLimit),
            AnswerStop::WindowFull if !is_outcome() => {
                self.refused_as_too_long("the window was full before the answer was whole")
            }
            AnswerStop::End
            | AnswerStop::Tools
            | AnswerStop::OutputLimit
            | AnswerStop::WindowFull
            | AnswerStop::Paused
            | AnswerStop::Other(_) => ModelNext::End(conclude(&answer.text, &self.job.allowed)),
        }
    }

    /// The operator spoke: the model is asked with that.
    fn steered(&mut self, kept: Option<String>, words: Vec<String>) {
        self.leave_lane(RequestOutcome::Unknown);
        let kept = kept.map(|content| Message::Assistant { content });
        let words = words.into_iter().map(|content| Message::User { content });
        self.said
            .extend(kept.into_iter().chain(words).map(HistoryMessage::from));
        // A summary that the operator's words cut off may be made before the request after this one.
        self.no_summary = false;
        self.next = ModelNext::Ask;
    }

    fn hear_of(&mut self, told: StepReply) -> Option<CallId> {
        match told {
            StepReply::Begin | StepReply::Hurried => None,
            StepReply::Done { call } => call,
            StepReply::Busy => {
                self.leave_lane(RequestOutcome::Unknown);
                self.next = ModelNext::Wait(BUDGET_BUSY_MS);
                None
            }
            StepReply::Begun { call, is_watched } => {
                if let ModelNext::Work(calls) = &mut self.next {
                    calls.begun(is_watched);
                }
                Some(call)
            }
            StepReply::Denied { call, why } => {
                if let ModelNext::Work(calls) = &mut self.next {
                    calls.denied(call, why);
                }
                None
            }
            StepReply::TakenBack { output } => {
                let last = self
                    .said
                    .last_mut()
                    .map(|said| Arc::make_mut(&mut said.message));
                if let Some(Message::ToolResult {
                    content,
                    is_error,
                    image,
                    ..
                }) = last
                {
                    (*content, *is_error, *image) = (output, true, None);
                }
                None
            }
            StepReply::Mend { message } => {
                self.said.push(Message::User { content: message }.into());
                self.next = ModelNext::Ask;
                None
            }
            StepReply::Steered { kept, words } => {
                self.steered(kept, words);
                None
            }
            StepReply::Compacted {
                replacement,
                kept_last,
            } => {
                self.compacted(replacement, kept_last);
                None
            }
            StepReply::Stop => {
                self.next = ModelNext::End(TakerEnd::aborted(
                    "the operator stopped the turn".to_owned(),
                ));
                None
            }
        }
    }
}

impl Taker for ModelTaker {
    fn redactor(&self) -> Option<Redactor> {
        Some(self.gear.tools.redactor())
    }

    fn next(&mut self, told: StepReply) -> TurnStep {
        // The hurry applies to the one request that waited, and to none that follows it. If the
        // operator also steered, another request leaves in its place, which was not to wait either.
        let is_the_same = self.is_hurried && matches!(told, StepReply::Steered { kept: None, .. });
        self.is_hurried = is_the_same || matches!(told, StepReply::Hurried);
        let call = self.hear_of(told);
        let has_tools = self.kit.is_some() || self.only_summarises;
        if !has_tools && !matches!(self.next, ModelNext::End(_)) {
            // It is recorded before the server is started.
            if let Some(step) = self.newly_trusted() {
                return step;
            }
            self.gather();
        }
        if let Some(absent) = self.absent.pop() {
            return TurnStep::Absent {
                server: absent.server,
                tool: absent.tool,
                why: absent.why,
            };
        }
        loop {
            // Whatever is taken out here is put back by what goes on with it.
            let next = std::mem::replace(&mut self.next, ModelNext::Ask);
            let step = match next {
                ModelNext::Ask => Some(self.ask()),
                ModelNext::Send(prepared) => {
                    self.send(prepared);
                    None
                }
                ModelNext::Hear(hearing) => self.hear(*hearing),
                ModelNext::Work(calls) => self.work(*calls, call.clone()),
                ModelNext::Wait(ms) => Some(TurnStep::Wait { ms }),
                ModelNext::Summarise(summary) => Some(TurnStep::Compact(self.summarise(*summary))),
                ModelNext::End(end) => Some(self.end(end)),
            };
            if let Some(step) = step {
                self.awaits_consent = matches!(
                    step,
                    TurnStep::Consent(_) | TurnStep::Begin { ask: Some(_), .. }
                );
                return step;
            }
        }
    }
}

/// A session's messages as a request repeats them, with the blocks that a provider wants back.
#[must_use]
pub fn conversation(
    history: Vec<Arc<Message>>,
    blocks: &BTreeMap<usize, Arc<RawValueEq>>,
) -> Vec<HistoryMessage> {
    let said = history
        .into_iter()
        .enumerate()
        .map(|(place, message)| HistoryMessage {
            message,
            blocks: (blocks.get(&place)).map(|kept| SaidBlocks::kept(Arc::clone(kept))),
        });
    said.collect()
}

/// Why a recorded call cannot run any more: its arguments held a secret, which was not recorded.
fn lost_secret(call: &ToolCall) -> Option<String> {
    call.input.get().contains(MARK).then(|| {
        "Not run: its arguments held a secret, and the runtime does not keep secrets over a restart. \
         Make the call again if it is still needed."
            .to_owned()
    })
}

impl Drop for ModelTaker {
    /// Releases the lane of a turn that is gone.
    fn drop(&mut self) {
        // Also after a refusal, which keeps the turn's place for its next try.
        let lane = self.gear.lane();
        self.gear.traffic.lanes.leave(lane, self.ticket);
        if !self.only_summarises && !self.awaits_consent {
            self.gear.tools.end_background();
        }
    }
}

fn ticket(job: &TurnJob) -> Ticket {
    let name = format!("{} {} {} {}", job.flow, job.role, job.turn, job.attempt);
    let digits = Hash::of(name.as_bytes()).to_string();
    Ticket(u64::from_str_radix(digits.get(..15).unwrap_or_default(), 16).unwrap_or(0))
}

fn declined() -> TakerEnd {
    TakerEnd::aborted("the model declined to answer".to_owned())
}

/// How a turn ends whose last answer is recorded, and why that ended.
fn end_of(text: &str, stop: Option<StopReason>, allowed: &AllowedOutcomes) -> TakerEnd {
    match stop {
        Some(StopReason::Refusal) => declined(),
        Some(StopReason::OutputLimit) if !is_whole(text, allowed) => TakerEnd::OutputLimit,
        Some(StopReason::OutputLimit | StopReason::End | StopReason::Tools | StopReason::Other)
        | None => conclude(text, allowed),
    }
}

/// Whether an answer counts although its provider cut it off: it has its outcome, or it is a chat's and says
/// something.
fn is_whole(text: &str, allowed: &AllowedOutcomes) -> bool {
    match allowed.answers {
        true => !text.trim().is_empty(),
        false => parse_cut_outcome(text).is_ok(),
    }
}
