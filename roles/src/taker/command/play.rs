//! Taking a turn by running a program.

use std::sync::Arc;

use a_society_base::process::gate::{ExitCause, Gated, ProcessLaunch};
use a_society_base::process::tree;
use a_society_base::stop::StopSignal;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::turn::{CallEnd, CommandExit, Effect, StopReason, Usage};
use a_society_facts::id::{CallId, FlowId};
use a_society_facts::message::{Message, ToolCall};
use serde_json::value::RawValue;

use super::input;
use super::outcome::{EndAnswer, failed, not_started, refused, unknown, verdict};
use super::report::ProgramReport;
use super::spec::{CommandSpec, InheritedVariables};
use crate::port::RecordAccess;
use crate::taker::human;
use crate::turn::conclude::conclude;
use crate::turn::job::{BegunWith, TurnJob};
use crate::turn::step::{IntendedCall, StepReply, TakerEnd, TurnStep};
use crate::turn::tail::{TurnTail, last_said, tail};
use crate::turn::taker::Taker;
use crate::turn::words::{PROGRAM, TurnWords};

/// The tool that runs it.
const TOOL: &str = "run_command";

/// Ends whatever is left of a call's program after a crash of this process. Whether there was
/// anything left.
#[must_use]
pub fn end_survivor(process: &ProcessName, flow: &FlowId, call: &CallId) -> bool {
    tree::end_stranger(process, &input::mark(flow.as_str(), call))
}

/// The taker of a role that is a program.
#[derive(Debug)]
pub struct CommandTaker {
    job: Arc<TurnJob>,
    spec: CommandSpec,
    environment: InheritedVariables,
    files: Arc<dyn RecordAccess>,
    stop: StopSignal,
    next: CommandNext,
    /// The name by which the answer asks for the call.
    tool_call: String,
    call: Option<CallId>,
    answered: u32,
    /// The words that it got in the turn.
    words: TurnWords,
}

/// What comes next.
#[derive(Debug)]
enum CommandNext {
    AskForCall,
    AnswerWithCall,
    Intend,
    Start,
    Run(Gated),
    AskForEnd(EndAnswer),
    AnswerWithEnd(EndAnswer),
    End(TakerEnd),
}

impl CommandTaker {
    /// A taker for this job's turn. Raise `stop` to end the program while it runs.
    ///
    /// A turn that begins with the operator's reply ends with the outcome that the reply says, as
    /// a turn of the operator would; any other reply runs the program again.
    #[must_use]
    pub fn new(
        job: Arc<TurnJob>,
        begun_with: BegunWith,
        spec: CommandSpec,
        environment: InheritedVariables,
        files: Arc<dyn RecordAccess>,
        stop: StopSignal,
    ) -> Self {
        let tool_call = format!("call-{}-1-1", job.turn.0);
        let mut taker = Self {
            answered: job.answers_before,
            words: TurnWords::of(&job.history),
            next: CommandNext::AskForCall,
            call: None,
            tool_call,
            job,
            spec,
            environment,
            files,
            stop,
        };
        match begun_with {
            BegunWith::Reply | BegunWith::Repair if taker.answered > 0 => taker.go_on(),
            // What the operator decided could not be applied.
            BegunWith::Repair => {
                taker.next = CommandNext::AskForEnd(refused(last_said(&taker.job)));
            }
            BegunWith::Reply => match human::decided(&taker.job) {
                Some(end) => taker.next = CommandNext::End(end),
                None => taker.go_on(),
            },
            BegunWith::Packet => taker.go_on(),
        }
        taker
    }

    /// Continues from the end of the recorded conversation. Nothing that may have run is run again: the
    /// driver gives such a call its result first.
    fn go_on(&mut self) {
        let job = Arc::clone(&self.job);
        match tail(&job) {
            TurnTail::Ask if self.answered == 0 => {}
            TurnTail::Ask | TurnTail::Called(..) => {
                let report = self.recorded();
                let not_started = report.as_ref().and_then(|it| not_started(&self.spec, it));
                self.next = match (not_started, report) {
                    (Some(why), _) => CommandNext::End(aborted(why)),
                    (None, Some(report)) => {
                        CommandNext::AskForEnd(verdict(&self.job, &self.spec, &report).answer)
                    }
                    (None, None) => CommandNext::AskForEnd(self.unrecorded()),
                };
            }
            TurnTail::Calls(open) => {
                if let Some((_, call)) = open.first() {
                    self.tool_call.clone_from(&call.id);
                }
                self.next = CommandNext::Intend;
            }
            TurnTail::Concluded(text) => {
                self.next = CommandNext::End(conclude(text, &self.job.allowed))
            }
        }
    }

    /// The recorded result of the call, if that is the last thing that is recorded.
    fn recorded(&self) -> Option<ProgramReport> {
        match &**self.job.history.last()? {
            Message::ToolResult { content, .. } => ProgramReport::parse(content),
            Message::User { .. }
            | Message::Assistant { .. }
            | Message::AssistantToolCalls { .. } => None,
        }
    }

    /// The answer where there is no result to judge.
    fn unrecorded(&self) -> EndAnswer {
        match self.job.history.last().map(|last| &**last) {
            Some(Message::User { content }) => refused(content),
            _ => unknown(),
        }
    }

    fn step(&mut self) -> TurnStep {
        let end = CommandNext::End(lost());
        match std::mem::replace(&mut self.next, end) {
            CommandNext::AskForCall => self.then(CommandNext::AnswerWithCall, self.ask()),
            CommandNext::AnswerWithCall => self.answer_with_call(),
            CommandNext::Intend => self.then(CommandNext::Start, self.intend()),
            CommandNext::Start => self.start(),
            CommandNext::Run(held) => self.run(held),
            CommandNext::AskForEnd(answer) => {
                self.then(CommandNext::AnswerWithEnd(answer), self.ask())
            }
            CommandNext::AnswerWithEnd(answer) => self.answer_with_end(answer),
            CommandNext::End(end) => self.then(CommandNext::End(end.clone()), TurnStep::End(end)),
        }
    }

    fn then(&mut self, next: CommandNext, step: TurnStep) -> TurnStep {
        self.next = next;
        step
    }

    fn ask(&self) -> TurnStep {
        TurnStep::Ask(self.words.asking(PROGRAM, u64::from(self.answered)))
    }

    fn answer_with_call(&mut self) -> TurnStep {
        let call = ToolCall {
            id: self.tool_call.clone(),
            name: TOOL.to_owned(),
            input: self.arguments(),
        };
        let text = EndAnswer::printed(String::new());
        let step = self.answer(text, vec![call], StopReason::Tools);
        self.then(CommandNext::Intend, step)
    }

    fn answer_with_end(&mut self, answer: EndAnswer) -> TurnStep {
        let end = conclude(&answer.text, &self.job.allowed);
        let step = self.answer(answer, Vec::new(), StopReason::End);
        self.then(CommandNext::End(end), step)
    }

    fn answer(&mut self, answer: EndAnswer, calls: Vec<ToolCall>, stop: StopReason) -> TurnStep {
        self.answered = self.answered.saturating_add(1);
        TurnStep::Answer {
            text: answer.text,
            calls,
            stop,
            usage: Usage::default(),
            provider_blocks: None,
            report: Some(answer.is_report),
        }
    }

    fn arguments(&self) -> Box<RawValue> {
        let arguments = serde_json::json!({ "run": self.spec.run }).to_string();
        RawValue::from_string(arguments).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    fn intend(&self) -> TurnStep {
        TurnStep::Intend(Box::new(IntendedCall {
            tool_call: self.tool_call.clone(),
            ordinal: 0,
            tool: TOOL.to_owned(),
            arguments: self.arguments().get().to_owned(),
            effect: Effect::Mutating,
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: summary(&self.spec.run),
        }))
    }

    fn start(&mut self) -> TurnStep {
        let Some(call) = self.call.clone() else {
            return TurnStep::End(lost());
        };
        let launch = ProcessLaunch {
            run: self.spec.run.clone(),
            variables: input::variables(&self.environment, &self.job, &call),
            folder: self.job.project.clone(),
            mark: input::mark(self.job.flow.as_str(), &call),
        };
        match Gated::spawn(&launch) {
            Ok(held) => {
                let process = Some(held.name());
                self.then(CommandNext::Run(held), TurnStep::Start { call, process })
            }
            Err(why) => {
                let end = aborted(why.clone());
                self.finish_failed(call, why, CommandNext::End(end))
            }
        }
    }

    /// The call failed, and only the operator can decide how to continue.
    fn failed(&mut self, call: CallId, why: String) -> TurnStep {
        let next = CommandNext::AskForEnd(failed(&why));
        self.finish_failed(call, why, next)
    }

    fn finish_failed(&mut self, call: CallId, why: String, next: CommandNext) -> TurnStep {
        let step = TurnStep::finish_with_text(call, CallEnd::Failed, why);
        self.then(next, step)
    }

    fn run(&mut self, held: Gated) -> TurnStep {
        let Some(call) = self.call.take() else {
            return TurnStep::End(lost());
        };
        let report = held.run(
            input::packet(&self.job),
            self.spec.time_limit_ms,
            self.spec.output_limit_bytes,
            &self.stop,
        );
        let (is_cut, report) = match report {
            Ok(report) => (report.is_cut, ProgramReport::from(report)),
            Err(why) => return self.failed(call, format!("The command did not run: {why}.")),
        };
        if let Some(why) = not_started(&self.spec, &report) {
            self.next = CommandNext::End(aborted(why));
            return finish(call, CallEnd::Failed, &report, is_cut);
        }
        let verdict = verdict(&self.job, &self.spec, &report);
        // What is handed over is written before the call counts as finished.
        for (path, text) in &verdict.artifacts {
            if let Err(why) = self.files.write(path, text.as_bytes()) {
                return self.failed(call, format!("{path} could not be written: {why}."));
            }
        }
        let step = finish(call, self.end_of(report.cause), &report, is_cut);
        self.then(CommandNext::AskForEnd(verdict.answer), step)
    }

    /// A code that means something is no failure.
    fn end_of(&self, cause: ExitCause) -> CallEnd {
        let is_mapped = |code| {
            let mapping = self.spec.on_exit.as_ref();
            mapping.is_some_and(|mapping| mapping.outcome(code).is_some())
        };
        match cause {
            ExitCause::Exited(0) => CallEnd::Done,
            ExitCause::Exited(code) if is_mapped(code) => CallEnd::Done,
            ExitCause::Exited(_) | ExitCause::Signalled(_) => CallEnd::Failed,
            ExitCause::TimedOut => CallEnd::TimedOut,
            ExitCause::Stopped => CallEnd::Stopped,
        }
    }
}

/// The end of a call whose program ran.
fn finish(call: CallId, end: CallEnd, report: &ProgramReport, is_cut: bool) -> TurnStep {
    let exit = match report.cause {
        ExitCause::Exited(code) => Some(CommandExit::Code(i32::from(code))),
        ExitCause::Signalled(signal) => Some(CommandExit::Signal(signal)),
        ExitCause::TimedOut | ExitCause::Stopped => None,
    };
    TurnStep::Finish {
        call,
        end,
        output: report.text(),
        seen: Vec::new(),
        image: None,
        exit,
        is_cut,
        is_settled: false,
        ends: None,
    }
}

/// One line for the operator, however the program is written down.
fn summary(run: &[String]) -> String {
    const SHOWN_CHARS: usize = 120;
    let words: Vec<&str> = run.iter().flat_map(|it| it.split_whitespace()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn lost() -> TakerEnd {
    aborted("a call was intended and got no name".to_owned())
}

fn aborted(why: String) -> TakerEnd {
    TakerEnd::aborted(why)
}

impl Taker for CommandTaker {
    fn next(&mut self, told: StepReply) -> TurnStep {
        match told {
            StepReply::Begin => {}
            StepReply::Done { call } => {
                if call.is_some() {
                    self.call = call;
                }
            }
            StepReply::Mend { message } => {
                self.words.hear(&message);
                self.next = CommandNext::AskForEnd(refused(&message));
            }
            // A program that is still held or running is ended with the value that holds it.
            // Only a taker that asked for it gets it.
            StepReply::Begun { .. }
            | StepReply::Compacted { .. }
            | StepReply::Denied { .. }
            | StepReply::TakenBack { .. }
            | StepReply::Steered { .. }
            | StepReply::Hurried
            | StepReply::Busy => {}
            StepReply::Stop => {
                self.next = CommandNext::End(aborted("the operator stopped the turn".to_owned()));
            }
        }
        self.step()
    }
}
