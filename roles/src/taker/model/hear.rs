//! An answer arrives: its pieces become drafts, and a failure becomes another try or an end.

use a_society_providers::Remedy;
use a_society_providers::retry::{self, Admission, RequestOutcome, RetryVerdict, Weary};
use a_society_providers::{
    AnswerStream, FaultClass, ModelAnswer, Prepared, RequestFault, StreamArrival, StreamEvent,
};

use super::compact::cut_off;
use super::limits::{BYTES_A_TOKEN_USUALLY, DRAFT_BYTES, IMAGE_BYTES_USUALLY, IMAGE_TOKENS_MAX};
use super::taker::{ModelNext, ModelTaker};
use crate::turn::step::{TakerEnd, TurnStep};
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::turn::DraftKind;
use a_society_facts::message::Message;

/// An answer that arrives.
#[derive(Debug)]
pub(super) struct Hearing {
    stream: AnswerStream,
    /// What arrived behind the pieces that were put together.
    held: Option<StreamArrival>,
    /// Whether the stall was reported.
    is_stalled: bool,
    /// Whether a piece of it was passed on.
    is_drafted: bool,
}

impl ModelTaker {
    /// The request leaves; it was announced.
    pub(super) fn send(&mut self, prepared: Prepared) {
        self.request = prepared.hash;
        self.body_bytes = self.weight(&prepared);
        let stream = self.gear.provider.start(prepared, &self.stop.of_answer());
        self.next = ModelNext::Hear(Box::new(Hearing {
            stream,
            held: None,
            is_stalled: false,
            is_drafted: false,
        }));
    }

    /// How long a request is where its bytes bound its tokens. Of an image a provider makes so many
    /// tokens at most, however long it is in base64.
    pub(super) fn weight(&self, prepared: &Prepared) -> u64 {
        let body = prepared.body.len() as u64;
        let images = self.said.iter().filter_map(|said| said.message.image());
        let images = images.filter(|_| self.gear.model.images);
        images.fold(body, |bytes, image| {
            let encoded = image.bytes.div_ceil(3).saturating_mul(4);
            bytes
                .saturating_sub(encoded)
                .saturating_add(IMAGE_TOKENS_MAX)
        })
    }

    /// The next piece, or what the answer came to. Waits.
    pub(super) fn hear(&mut self, mut hearing: Hearing) -> Option<TurnStep> {
        loop {
            let arrival = hearing
                .held
                .take()
                .or_else(|| hearing.stream.next_arrival());
            match arrival {
                Some(StreamArrival::Event(StreamEvent::Stalled { seconds })) => {
                    hearing.is_stalled = true;
                    self.next = ModelNext::Hear(Box::new(hearing));
                    return Some(TurnStep::Stalled { seconds });
                }
                Some(event @ StreamArrival::Event(_)) if hearing.is_stalled => {
                    hearing.is_stalled = false;
                    hearing.held = Some(event);
                    self.next = ModelNext::Hear(Box::new(hearing));
                    return Some(TurnStep::Stalled { seconds: 0 });
                }
                Some(StreamArrival::Event(event)) => {
                    let Some((kind, piece)) = piece_of(event) else {
                        continue;
                    };
                    let text = hearing.more(kind, piece);
                    if kind == DraftKind::Text && hearing.is_whole() {
                        // The answer repeats it, and its beginning was never shown.
                        continue;
                    }
                    hearing.is_drafted = true;
                    self.next = ModelNext::Hear(Box::new(hearing));
                    return Some(TurnStep::Draft { kind, text });
                }
                Some(StreamArrival::Answer(answer)) => return Some(self.answered(*answer)),
                Some(StreamArrival::Fault(fault)) if self.is_cut_off(&fault) => {
                    self.leave_lane(RequestOutcome::Unknown);
                    self.next = ModelNext::Ask;
                    return Some(TurnStep::Cut);
                }
                Some(StreamArrival::Fault(mut fault)) => {
                    // It may repeat what only this process knows to be a secret.
                    fault.message = self.gear.tools.redact(&fault.message);
                    return Some(self.failed(&fault));
                }
                None => {
                    return Some(self.failed(&cut_off()));
                }
            }
        }
    }

    /// Whether the operator, and not the provider, ended the answer, and the turn goes on.
    fn is_cut_off(&self, fault: &RequestFault) -> bool {
        fault.class == FaultClass::Stopped && self.stop.is_cut() && !self.stop.is_raised()
    }

    /// A request failed.
    fn failed(&mut self, fault: &RequestFault) -> TurnStep {
        self.leave_lane(RequestOutcome::of(fault));
        let dice = self.dice();
        let verdict = self.patience.failed(fault, dice);
        let retry_in_ms = if let RetryVerdict::Wait { ms } = verdict {
            self.next = ModelNext::Wait(ms);
            Some(ms)
        } else {
            self.next = self.given_up(fault, verdict);
            None
        };
        TurnStep::Failed {
            class: fault.class.word().to_owned(),
            error: fault.message.clone(),
            retry_in_ms,
        }
    }

    /// A request could not be built.
    pub(super) fn unprepared(&mut self, fault: &RequestFault) -> TurnStep {
        let dice = self.dice();
        let verdict = self.patience.failed(fault, dice);
        let next = self.given_up(fault, verdict);
        if let ModelNext::End(end) = next {
            self.end(end)
        } else {
            self.next = next;
            TurnStep::Wait { ms: 0 }
        }
    }

    fn given_up(&mut self, fault: &RequestFault, verdict: RetryVerdict) -> ModelNext {
        match verdict {
            // The provider says what the estimate did not: the window is full.
            _ if fault.class.remedy() == Remedy::Compact => {
                self.refused_as_too_long(&fault.message)
            }
            RetryVerdict::Suspend { ms } => ModelNext::End(TakerEnd::Provider {
                trouble: Trouble::Limit,
                why: format!(
                    "{}; it asks to be left alone for {} s",
                    fault.message,
                    ms / 1000
                ),
                class: Some(fault.class.word().to_owned()),
                servers: Vec::new(),
                again_in_ms: Some(ms),
            }),
            RetryVerdict::Operator => ModelNext::End(TakerEnd::of_fault(fault)),
            // The provider may be available again when the operator returns.
            RetryVerdict::GiveUp(weary @ (Weary::Request | Weary::Turn | Weary::Waited)) => {
                let mut fault = fault.clone();
                fault.message = format!("{}; {}", fault.message, weary.words());
                ModelNext::End(TakerEnd::of_fault(&fault))
            }
            RetryVerdict::Wait { .. }
            | RetryVerdict::Compact
            | RetryVerdict::GiveUp(Weary::Useless) => ModelNext::End(TakerEnd::Aborted {
                why: fault.message.clone(),
                class: Some(fault.class.word().to_owned()),
            }),
        }
    }

    /// A number that differs from request to request and from role to role, so that those who fail
    /// together do not come back together.
    fn dice(&mut self) -> u64 {
        self.throws += 1;
        retry::dice(format!("{} {} {}", self.ticket.0, self.request, self.throws).as_bytes())
    }

    /// Asks whether a request may go now; if not, how long to wait.
    pub(super) fn enter_lane(&mut self) -> Option<LaneWait> {
        let now = (self.gear.traffic.now_ms)();
        let lane = self.gear.lane();
        let lanes = &self.gear.traffic.lanes;
        let admission = if self.is_hurried {
            lanes.press(lane, self.ticket, now)
        } else {
            lanes.ask(lane, self.ticket, now)
        };
        self.is_in_lane = true;
        match admission {
            Admission::Go => None,
            Admission::Wait { ms } => Some(LaneWait {
                ms,
                is_failing: false,
            }),
            Admission::Failing { ms } => Some(LaneWait {
                ms,
                is_failing: true,
            }),
        }
    }

    /// Ends the turn, because the provider refuses all requests for this model for a while: the flow waits, and shows
    /// until when.
    pub(super) fn held(&mut self, ms: u64) -> TurnStep {
        // It was not admitted, and has no outcome to report.
        self.is_in_lane = false;
        let why = format!(
            "{} asked another role to send nothing to {} for {} s",
            self.gear.provider.name(),
            self.gear.model.name,
            ms.div_ceil(1000)
        );
        self.end(TakerEnd::Provider {
            trouble: Trouble::Limit,
            why,
            class: Some(FaultClass::RateLimit.word().to_owned()),
            servers: Vec::new(),
            again_in_ms: Some(ms),
        })
    }

    /// Reports the outcome of a request to its lane.
    pub(super) fn leave_lane(&mut self, outcome: RequestOutcome) {
        if std::mem::take(&mut self.is_in_lane) {
            let now = (self.gear.traffic.now_ms)();
            let lane = self.gear.lane();
            self.gear
                .traffic
                .lanes
                .hear(lane, self.ticket, outcome, now);
        }
    }

    /// How much of the window the conversation fills, when the provider gives no count.
    pub(super) fn guessed_context(&self, answer: &ModelAnswer) -> u64 {
        let bytes: usize = self.said.iter().map(|said| size_of(&said.message)).sum();
        let bytes = (bytes + answer.text.len()) as u64 + self.prompt_bytes();
        bytes.div_ceil(BYTES_A_TOKEN_USUALLY)
    }
}

/// How long a request waits before it may leave.
pub(super) struct LaneWait {
    pub(super) ms: u64,
    /// Whether the model failed too often; else another role met a limit.
    pub(super) is_failing: bool,
}

impl Hearing {
    /// Whether all of the answer was there before any of it was passed on.
    const fn is_whole(&self) -> bool {
        !self.is_drafted && matches!(self.held, Some(StreamArrival::Answer(_)))
    }

    /// Takes the pieces of the same kind that have arrived already.
    fn more(&mut self, kind: DraftKind, mut text: String) -> String {
        while text.len() < DRAFT_BYTES {
            match self.stream.arrived() {
                Some(stalled @ StreamArrival::Event(StreamEvent::Stalled { .. })) => {
                    self.held = Some(stalled);
                    break;
                }
                Some(StreamArrival::Event(event)) => match piece_of(event) {
                    Some((same, piece)) if same == kind => text.push_str(&piece),
                    Some((DraftKind::Text, piece)) => {
                        self.held = Some(StreamArrival::Event(StreamEvent::Text(piece)));
                        break;
                    }
                    Some((DraftKind::Reasoning, piece)) => {
                        self.held = Some(StreamArrival::Event(StreamEvent::Reasoning(piece)));
                        break;
                    }
                    None => {}
                },
                Some(end @ (StreamArrival::Answer(_) | StreamArrival::Fault(_))) => {
                    self.held = Some(end);
                    break;
                }
                None => break,
            }
        }
        text
    }
}

fn piece_of(event: StreamEvent) -> Option<(DraftKind, String)> {
    match event {
        StreamEvent::Text(piece) => Some((DraftKind::Text, piece)),
        StreamEvent::Reasoning(piece) => Some((DraftKind::Reasoning, piece)),
        StreamEvent::CallBegun { .. }
        | StreamEvent::CallArguments { .. }
        | StreamEvent::CallEnded { .. }
        | StreamEvent::Usage(_)
        | StreamEvent::Stalled { .. } => None,
    }
}

/// How many bytes a message says.
pub(super) fn size_of(message: &Message) -> usize {
    match message {
        Message::User { content } | Message::Assistant { content } => content.len(),
        Message::ToolResult { content, image, .. } => {
            content.len() + image.as_ref().map_or(0, |_| IMAGE_BYTES_USUALLY)
        }
        Message::AssistantToolCalls { calls, text } => {
            let arguments: usize = calls.iter().map(|call| call.input.get().len()).sum();
            arguments + text.as_ref().map_or(0, String::len)
        }
    }
}
