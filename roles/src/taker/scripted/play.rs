//! Taking a turn from a script.

use std::collections::VecDeque;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::node::Trouble;
use a_society_facts::fact::turn::{CallEnd, Effect, StopReason, Usage};
use a_society_facts::id::CallId;
use a_society_facts::message::ToolCall;

use super::plan::{ScriptedAnswer, ScriptedCall, ScriptedDeed, ScriptedEvent, plan};
use super::script::RoleScript;
use crate::port::RecordAccess;
use crate::tool::text_of_writing;
use crate::turn::conclude::conclude;
use crate::turn::job::TurnJob;
use crate::turn::step::{IntendedCall, StepReply, TakerEnd, TurnStep};
use crate::turn::tail::{TurnTail, tail};
use crate::turn::taker::Taker;
use crate::turn::words::{SCRIPT, TurnWords};

/// The taker of a role whose answers are written down.
#[derive(Debug)]
pub struct ScriptedTaker {
    job: Arc<TurnJob>,
    files: Arc<dyn RecordAccess>,
    answers: Vec<ScriptedAnswer>,
    usage: Usage,
    /// How many answers of the turn are recorded.
    answered: usize,
    /// Whether the next answer is the one that was in flight when a crash came.
    is_in_flight: bool,
    acts: VecDeque<PlayAct>,
    /// The words that it got in the turn.
    words: TurnWords,
    /// The call that runs.
    call: Option<CallId>,
    end: Option<TakerEnd>,
}

/// What is still to be done of the present answer.
#[derive(Debug)]
enum PlayAct {
    Ask,
    Event(ScriptedEvent),
    Discard,
    Answer { answer: usize },
    Intend { call: CallPlace },
    Start,
    Finish { call: CallPlace },
    End(TakerEnd),
}

/// A call of an answer, and the name by which it was asked for.
#[derive(Debug, Clone)]
struct CallPlace {
    answer: usize,
    ordinal: usize,
    tool_call: String,
    tool: String,
}

impl ScriptedTaker {
    /// A taker for the turn that the script has for this job.
    #[must_use]
    pub fn new(script: &RoleScript, job: Arc<TurnJob>, files: Arc<dyn RecordAccess>) -> Self {
        let mut taker = Self {
            answers: Vec::new(),
            usage: Usage::default(),
            answered: usize::try_from(job.answers_before).unwrap_or(usize::MAX),
            is_in_flight: job.resumed,
            acts: VecDeque::new(),
            call: None,
            end: None,
            files,
            words: TurnWords::of(&job.history),
            job,
        };
        match script.entry_for(&taker.job) {
            Ok(entry) => {
                taker.answers = plan(&entry, &taker.job);
                taker.usage = entry.usage;
                taker.go_on();
            }
            Err(why) => taker.acts.push_back(PlayAct::End(TakerEnd::aborted(why))),
        }
        taker
    }

    /// Takes words that came in mid-turn, after which it answers anew.
    fn hear(&mut self, words: &[String]) {
        words.iter().for_each(|words| self.words.hear(words));
        self.acts.clear();
        self.end = None;
    }

    /// Continues from the end of the recorded conversation.
    fn go_on(&mut self) {
        let job = Arc::clone(&self.job);
        match tail(&job) {
            TurnTail::Ask | TurnTail::Called(..) => return self.plan_answer(),
            TurnTail::Calls(open) => {
                let answer = self.place_of(self.answered - 1);
                for (ordinal, call) in open {
                    self.plan_call(&CallPlace {
                        answer,
                        ordinal,
                        tool_call: call.id.clone(),
                        tool: call.name.clone(),
                    });
                }
            }
            TurnTail::Concluded(text) => {
                let answer = self.answers.get(self.place_of(self.answered - 1));
                let is_cut_off = answer.is_some_and(|answer| answer.is_cut_off);
                self.acts.push_back(PlayAct::End(if is_cut_off {
                    TakerEnd::OutputLimit
                } else {
                    conclude(text, &job.allowed)
                }));
            }
        }
        self.is_in_flight = false;
    }

    /// Where the script has the answer of this number. The last one is repeated when there are no
    /// more.
    fn place_of(&self, number: usize) -> usize {
        number.min(self.answers.len().saturating_sub(1))
    }

    /// The acts of the next answer, as far as they do not depend on later input.
    fn plan_answer(&mut self) {
        let place = self.place_of(self.answered);
        let Some(answer) = self.answers.get(place) else {
            return;
        };
        let is_repeated = place != self.answered;
        let events = answer.events.clone();
        if !is_repeated && !std::mem::take(&mut self.is_in_flight) {
            for (at, event) in events.iter().enumerate() {
                if let ScriptedEvent::Fail { retry_in_ms, .. } = event {
                    self.plan_failure(&events[..at], event);
                    if retry_in_ms.is_none() {
                        return;
                    }
                }
            }
        }
        self.acts.push_back(PlayAct::Ask);
        self.plan_events(&events);
        self.acts.push_back(PlayAct::Answer { answer: place });
        let calls: Vec<CallPlace> = self.answers[place]
            .calls
            .iter()
            .enumerate()
            .map(|(ordinal, call)| self.name_call(place, ordinal, call))
            .collect();
        for call in &calls {
            self.plan_call(call);
        }
    }

    /// A request that fails after these events.
    fn plan_failure(&mut self, before: &[ScriptedEvent], failure: &ScriptedEvent) {
        let ScriptedEvent::Fail {
            class,
            error,
            retry_in_ms,
            resets_in_ms,
        } = failure
        else {
            return;
        };
        self.acts.push_back(PlayAct::Ask);
        self.plan_events(before);
        self.acts.push_back(PlayAct::Event(failure.clone()));
        match retry_in_ms {
            Some(ms) => {
                if before.iter().any(|event| event.text().is_some()) {
                    self.acts.push_back(PlayAct::Discard);
                }
                if *ms > 0 {
                    self.acts
                        .push_back(PlayAct::Event(ScriptedEvent::Wait { ms: *ms }));
                }
            }
            None => {
                let end = failed_for_good(class, error, *resets_in_ms);
                self.acts.push_back(PlayAct::End(end));
            }
        }
    }

    fn plan_events(&mut self, events: &[ScriptedEvent]) {
        for event in events {
            match event {
                ScriptedEvent::Draft { .. } => self.acts.push_back(PlayAct::Event(event.clone())),
                ScriptedEvent::Wait { ms } if *ms > 0 => {
                    self.acts.push_back(PlayAct::Event(event.clone()))
                }
                ScriptedEvent::Wait { .. } | ScriptedEvent::Fail { .. } => {}
            }
        }
    }

    fn plan_call(&mut self, call: &CallPlace) {
        let waits = match self.deed(call) {
            Some(ScriptedDeed::Pretend { takes_ms, .. }) => *takes_ms,
            Some(ScriptedDeed::Write { .. }) | None => 0,
        };
        self.acts.push_back(PlayAct::Intend { call: call.clone() });
        self.acts.push_back(PlayAct::Start);
        if waits > 0 {
            self.acts
                .push_back(PlayAct::Event(ScriptedEvent::Wait { ms: waits }));
        }
        self.acts.push_back(PlayAct::Finish { call: call.clone() });
    }

    /// A name that no other call of the flow has: turns are numbered through it.
    fn name_call(&self, answer: usize, ordinal: usize, call: &ScriptedCall) -> CallPlace {
        let (turn, number) = (self.job.turn.0, self.answered + 1);
        CallPlace {
            answer,
            ordinal,
            tool_call: format!("call-{turn}-{number}-{}", ordinal + 1),
            tool: call.tool.clone(),
        }
    }

    fn planned(&self, place: &CallPlace) -> Option<&ScriptedCall> {
        let calls = &self.answers.get(place.answer)?.calls;
        calls
            .get(place.ordinal)
            .filter(|call| call.tool == place.tool)
    }

    fn deed(&self, place: &CallPlace) -> Option<&ScriptedDeed> {
        self.planned(place).map(|call| &call.deed)
    }

    fn act(&mut self, act: PlayAct) -> TurnStep {
        match act {
            PlayAct::Ask => self.ask(),
            PlayAct::Event(event) => step_of(event),
            PlayAct::Discard => TurnStep::Discard {
                why: "the request failed and is asked again".to_owned(),
            },
            PlayAct::Answer { answer } => self.answer(answer),
            PlayAct::Intend { call } => self.intend(&call),
            PlayAct::Start => match self.call.clone() {
                Some(call) => TurnStep::Start {
                    call,
                    process: None,
                },
                None => self.end_with(nameless_call()),
            },
            PlayAct::Finish { call } => self.finish(&call),
            PlayAct::End(end) => self.end_with(end),
        }
    }

    fn end_with(&mut self, end: TakerEnd) -> TurnStep {
        self.acts.clear();
        self.end = Some(end.clone());
        TurnStep::End(end)
    }

    fn ask(&self) -> TurnStep {
        TurnStep::Ask(self.words.asking(SCRIPT, self.answered as u64))
    }

    fn answer(&mut self, place: usize) -> TurnStep {
        let Some(answer) = self.answers.get(place) else {
            return self.end_with(conclude("", &self.job.allowed));
        };
        let text = answer.text();
        let calls: Vec<ToolCall> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(ordinal, call)| ToolCall {
                id: self.name_call(place, ordinal, call).tool_call,
                name: call.tool.clone(),
                input: call.input.clone(),
            })
            .collect();
        let stop = if answer.is_cut_off {
            StopReason::OutputLimit
        } else if calls.is_empty() {
            StopReason::End
        } else {
            StopReason::Tools
        };
        if answer.is_cut_off {
            self.acts.push_back(PlayAct::End(TakerEnd::OutputLimit));
        } else if calls.is_empty() {
            self.acts
                .push_back(PlayAct::End(conclude(&text, &self.job.allowed)));
        }
        self.answered += 1;
        TurnStep::Answer {
            text,
            calls,
            stop,
            usage: self.usage,
            provider_blocks: None,
            report: None,
        }
    }

    fn intend(&self, place: &CallPlace) -> TurnStep {
        let (mut before, mut after, mut texts) = (None, None, Vec::new());
        if let Some(ScriptedDeed::Write { path, text }) = self.deed(place) {
            let bytes = self.files.read(path).ok().flatten();
            before = bytes.as_ref().map(|bytes| Hash::of(bytes));
            after = Some(Hash::of(text.as_bytes()));
            // What is no text has no lines to compare.
            let earlier = bytes.map(String::from_utf8).transpose();
            let change = |earlier| text_of_writing(path.project_path(), earlier, text);
            texts.extend(earlier.ok().map(change));
        }
        let planned = self.planned(place);
        let arguments = planned.map_or("{}", |call| call.input.get());
        TurnStep::Intend(Box::new(IntendedCall {
            tool_call: place.tool_call.clone(),
            ordinal: u32::try_from(place.ordinal).unwrap_or(u32::MAX),
            tool: place.tool.clone(),
            arguments: arguments.to_owned(),
            effect: planned.map_or(Effect::Pure, |call| call.effect),
            before,
            after,
            files: Vec::new(),
            texts,
            summary: planned.map_or_else(|| place.tool.clone(), |call| call.summary.clone()),
        }))
    }

    /// The deed itself, which only now may be done, because its start is recorded.
    fn finish(&mut self, place: &CallPlace) -> TurnStep {
        let (end, output) = match self.deed(place) {
            Some(ScriptedDeed::Pretend { output, fails, .. }) => {
                let end = if *fails {
                    CallEnd::Failed
                } else {
                    CallEnd::Done
                };
                (end, output.clone())
            }
            Some(ScriptedDeed::Write { path, text }) => {
                match self.files.write(path, text.as_bytes()) {
                    Ok(()) => (
                        CallEnd::Done,
                        format!("Wrote {} bytes to {path}.", text.len()),
                    ),
                    Err(why) => (CallEnd::Failed, format!("{path} was not written: {why}.")),
                }
            }
            None => {
                let output = "The script does not have this call any more.".to_owned();
                (CallEnd::Failed, output)
            }
        };
        match self.call.take() {
            Some(call) => TurnStep::finish_with_text(call, end, output),
            None => self.end_with(nameless_call()),
        }
    }
}

fn step_of(event: ScriptedEvent) -> TurnStep {
    match event {
        ScriptedEvent::Draft { kind, text } => TurnStep::Draft { kind, text },
        ScriptedEvent::Wait { ms } => TurnStep::Wait { ms },
        ScriptedEvent::Fail {
            class,
            error,
            retry_in_ms,
            resets_in_ms: _,
        } => TurnStep::Failed {
            class,
            error,
            retry_in_ms,
        },
    }
}

/// Some failures only the operator can mend.
fn failed_for_good(class: &str, error: &str, again_in_ms: Option<u64>) -> TakerEnd {
    let (why, class_of) = (error.to_owned(), Some(class.to_owned()));
    let trouble = match class {
        "auth" | "key" => Trouble::Key,
        "billing" => Trouble::Credit,
        "limit" | "rate_limit" => Trouble::Limit,
        "model" => Trouble::Model,
        _ => {
            return TakerEnd::Aborted {
                why,
                class: class_of,
            };
        }
    };
    TakerEnd::Provider {
        trouble,
        why,
        class: class_of,
        servers: Vec::new(),
        again_in_ms,
    }
}

fn nameless_call() -> TakerEnd {
    TakerEnd::aborted("a call was intended and got no name".to_owned())
}

impl Taker for ScriptedTaker {
    fn is_prompt(&self) -> bool {
        true
    }

    fn next(&mut self, told: StepReply) -> TurnStep {
        match told {
            StepReply::Begin => {}
            StepReply::Done { call } => {
                if call.is_some() {
                    self.call = call;
                }
            }
            StepReply::Steered { words, .. } => self.hear(&words),
            StepReply::Mend { message } => self.hear(&[message]),
            // Only a taker that asked for it gets it.
            StepReply::Begun { .. }
            | StepReply::Compacted { .. }
            | StepReply::Denied { .. }
            | StepReply::TakenBack { .. }
            | StepReply::Hurried
            | StepReply::Busy => {}
            StepReply::Stop => {
                return self.end_with(TakerEnd::aborted(
                    "the operator stopped the turn".to_owned(),
                ));
            }
        }
        if let Some(end) = &self.end {
            return TurnStep::End(end.clone());
        }
        if self.acts.is_empty() {
            self.plan_answer();
        }
        match self.acts.pop_front() {
            Some(act) => self.act(act),
            None => self.end_with(conclude("", &self.job.allowed)),
        }
    }
}
