//! An answer arrives: its pieces become drafts, and a failure becomes another try or an end.

use a_society_providers::fault::Remedy;
use a_society_providers::retry::{self, Admission, Outcome, Verdict, Weary};
use a_society_providers::{Answer, Arrival, Event, Fault, FaultClass, Prepared, Stream};

use super::compact::cut_off;
use super::limits::{BYTES_A_TOKEN_USUALLY, DRAFT_BYTES, IMAGE_BYTES_USUALLY, IMAGE_TOKENS_MAX};
use super::taker::{ModelTaker, Next};
use crate::turn::step::{End, Step};
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::turn::DraftKind;
use a_society_facts::message::Message;

/// An answer that arrives.
#[derive(Debug)]
pub(super) struct Hearing {
    stream: Stream,
    /// What arrived behind the pieces that were put together.
    held: Option<Arrival>,
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
        self.next = Next::Hear(Box::new(Hearing {
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
    pub(super) fn hear(&mut self, mut hearing: Hearing) -> Option<Step> {
        loop {
            let arrival = hearing
                .held
                .take()
                .or_else(|| hearing.stream.next_arrival());
            match arrival {
                Some(Arrival::Event(Event::Stalled { seconds })) => {
                    hearing.is_stalled = true;
                    self.next = Next::Hear(Box::new(hearing));
                    return Some(Step::Stalled { seconds });
                }
                Some(event @ Arrival::Event(_)) if hearing.is_stalled => {
                    hearing.is_stalled = false;
                    hearing.held = Some(event);
                    self.next = Next::Hear(Box::new(hearing));
                    return Some(Step::Stalled { seconds: 0 });
                }
                Some(Arrival::Event(event)) => {
                    let Some((kind, piece)) = piece_of(event) else {
                        continue;
                    };
                    let text = hearing.more(kind, piece);
                    if kind == DraftKind::Text && hearing.is_whole() {
                        // The answer repeats it, and its beginning was never shown.
                        continue;
                    }
                    hearing.is_drafted = true;
                    self.next = Next::Hear(Box::new(hearing));
                    return Some(Step::Draft { kind, text });
                }
                Some(Arrival::Answer(answer)) => return Some(self.answered(*answer)),
                Some(Arrival::Fault(fault)) if self.is_cut_off(&fault) => {
                    self.leave_lane(Outcome::Unknown);
                    self.next = Next::Ask;
                    return Some(Step::Cut);
                }
                Some(Arrival::Fault(mut fault)) => {
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
    fn is_cut_off(&self, fault: &Fault) -> bool {
        fault.class == FaultClass::Stopped && self.stop.is_cut() && !self.stop.is_raised()
    }

    /// A request failed.
    fn failed(&mut self, fault: &Fault) -> Step {
        self.leave_lane(Outcome::of(fault));
        let dice = self.dice();
        let verdict = self.patience.failed(fault, dice);
        let retry_in_ms = if let Verdict::Wait { ms } = verdict {
            self.next = Next::Wait(ms);
            Some(ms)
        } else {
            self.next = self.given_up(fault, verdict);
            None
        };
        Step::Failed {
            class: fault.class.word().to_owned(),
            error: fault.message.clone(),
            retry_in_ms,
        }
    }

    /// A request could not be built.
    pub(super) fn unprepared(&mut self, fault: &Fault) -> Step {
        let dice = self.dice();
        let verdict = self.patience.failed(fault, dice);
        let next = self.given_up(fault, verdict);
        if let Next::End(end) = next {
            self.end(end)
        } else {
            self.next = next;
            Step::Wait { ms: 0 }
        }
    }

    fn given_up(&mut self, fault: &Fault, verdict: Verdict) -> Next {
        match verdict {
            // The provider says what the estimate did not: the window is full.
            _ if fault.class.remedy() == Remedy::Compact => {
                self.refused_as_too_long(&fault.message)
            }
            Verdict::Suspend { ms } => Next::End(End::Provider {
                trouble: Trouble::Limit,
                why: format!("{fault}; it asks to be left alone for {} s", ms / 1000),
                again_in_ms: Some(ms),
            }),
            Verdict::Operator => Next::End(End::provider(fault.class.trouble(), fault.to_string())),
            // The provider may be available again when the operator returns.
            Verdict::GiveUp(weary @ (Weary::Request | Weary::Turn | Weary::Waited)) => {
                let why = format!("{fault}; {}", weary.words());
                Next::End(End::provider(fault.class.trouble(), why))
            }
            Verdict::Wait { .. } | Verdict::Compact | Verdict::GiveUp(Weary::Useless) => {
                Next::End(End::Aborted {
                    why: fault.to_string(),
                })
            }
        }
    }

    /// A number that differs from request to request and from role to role, so that those who fail
    /// together do not come back together.
    fn dice(&mut self) -> u64 {
        self.throws += 1;
        retry::dice(format!("{} {} {}", self.ticket.0, self.request, self.throws).as_bytes())
    }

    /// Asks whether a request may go now; if not, how long to wait.
    pub(super) fn enter_lane(&mut self) -> Option<u64> {
        let now = (self.gear.traffic.now_ms)();
        let lane = (self.gear.provider.name(), self.gear.model.id.as_str());
        let lanes = &self.gear.traffic.lanes;
        let admission = if self.is_hurried {
            lanes.press(lane, self.ticket, now)
        } else {
            lanes.ask(lane, self.ticket, now)
        };
        match admission {
            Admission::Go => {
                self.is_in_lane = true;
                None
            }
            Admission::Wait { ms } => {
                self.is_in_lane = true;
                Some(ms)
            }
        }
    }

    /// Reports the outcome of a request to its lane.
    pub(super) fn leave_lane(&mut self, outcome: Outcome) {
        if std::mem::take(&mut self.is_in_lane) {
            let now = (self.gear.traffic.now_ms)();
            let lane = (self.gear.provider.name(), self.gear.model.id.as_str());
            self.gear
                .traffic
                .lanes
                .hear(lane, self.ticket, outcome, now);
        }
    }

    /// How much of the window the conversation fills, when the provider gives no count.
    pub(super) fn guessed_context(&self, answer: &Answer) -> u64 {
        let bytes: usize = self.said.iter().map(|said| size_of(&said.message)).sum();
        let bytes = (bytes + answer.text.len()) as u64 + self.prompt_bytes();
        bytes.div_ceil(BYTES_A_TOKEN_USUALLY)
    }
}

impl Hearing {
    /// Whether all of the answer was there before any of it was passed on.
    const fn is_whole(&self) -> bool {
        !self.is_drafted && matches!(self.held, Some(Arrival::Answer(_)))
    }

    /// Takes the pieces of the same kind that have arrived already.
    fn more(&mut self, kind: DraftKind, mut text: String) -> String {
        while text.len() < DRAFT_BYTES {
            match self.stream.arrived() {
                Some(stalled @ Arrival::Event(Event::Stalled { .. })) => {
                    self.held = Some(stalled);
                    break;
                }
                Some(Arrival::Event(event)) => match piece_of(event) {
                    Some((same, piece)) if same == kind => text.push_str(&piece),
                    Some((DraftKind::Text, piece)) => {
                        self.held = Some(Arrival::Event(Event::Text(piece)));
                        break;
                    }
                    Some((DraftKind::Reasoning, piece)) => {
                        self.held = Some(Arrival::Event(Event::Reasoning(piece)));
                        break;
                    }
                    None => {}
                },
                Some(end @ (Arrival::Answer(_) | Arrival::Fault(_))) => {
                    self.held = Some(end);
                    break;
                }
                None => break,
            }
        }
        text
    }
}

fn piece_of(event: Event) -> Option<(DraftKind, String)> {
    match event {
        Event::Text(piece) => Some((DraftKind::Text, piece)),
        Event::Reasoning(piece) => Some((DraftKind::Reasoning, piece)),
        Event::CallBegun { .. }
        | Event::CallArguments { .. }
        | Event::CallEnded { .. }
        | Event::Usage(_)
        | Event::Stalled { .. } => None,
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
