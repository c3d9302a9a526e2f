//! A small driver: it answers a taker as the real one does, keeps what would be in the journal,
//! and fails when a step comes that no journal would take.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::fact::turn::{CallEnd, DraftKind, Effect};
use a_society_facts::id::{CallId, TurnId};
use a_society_facts::message::{Message, ToolCall};

use crate::handoff::{AllowedOutcomes, RoleOutcome, Signal};
use crate::port::MemoryFiles;
use crate::turn::job::TurnJob;
use crate::turn::step::{Asking, StepReply, TakerEnd, TurnStep};
use crate::turn::taker::Taker;

/// A job at the node `draft`, which may hand to `review` and back to `intake`.
pub(in crate::taker) fn job(role: &str, node: &str, turns_before: u32) -> TurnJob {
    TurnJob {
        flow: "20260527T143000123Z-a1b2c3".parse().unwrap(),
        turn: TurnId(7),
        attempt: 1,
        role: role.parse().unwrap(),
        node: Some(node.parse().unwrap()),
        turns_before,
        resumed: false,
        system_prompt: "You are the writer.".to_owned(),
        history: vec![user("Please write.").into()],
        provider_blocks: BTreeMap::new(),
        exchanges_from: 0,
        last_stop: None,
        context_tokens: 0,
        settings: BTreeMap::new(),
        seen: Arc::default(),
        begun: BTreeMap::new(),
        left_running: BTreeMap::new(),
        servers: BTreeMap::new(),
        rules: ConsentRules::default(),
        packet: "Please write.".to_owned(),
        allowed: AllowedOutcomes {
            forward: vec!["review".to_owned()],
            backward: vec!["intake".to_owned()],
            signals: vec![Signal::PromptHuman, Signal::AwaitHandoff],
            ..AllowedOutcomes::default()
        },
        answers_before: 0,
        flow_title: "Notes".to_owned(),
        project_name: None,
        date: "2026-05-27".to_owned(),
        lineage: vec!["20260527T143000123Z-a1b2c3".parse().unwrap()],
        neighbours: Some(["intake".to_owned(), "review".to_owned()].into()),
        closes: false,
        record: PathBuf::from("record"),
        project: PathBuf::from("."),
    }
}

pub(in crate::taker) fn user(text: &str) -> Message {
    Message::User {
        content: text.to_owned(),
    }
}

/// A call that the journal knows.
#[derive(Debug, Clone)]
struct Known {
    id: CallId,
    effect: Effect,
    is_started: bool,
    is_finished: bool,
}

/// What the journal holds of one turn.
#[derive(Debug)]
pub(in crate::taker) struct Stage {
    pub(in crate::taker) job: TurnJob,
    pub(in crate::taker) files: Arc<MemoryFiles>,
    /// One line for each step, in the order in which they came.
    pub(in crate::taker) lines: Vec<String>,
    asked: bool,
    draft: String,
    open: Vec<ToolCall>,
    calls: BTreeMap<String, Known>,
}

impl Stage {
    pub(in crate::taker) fn new(job: TurnJob) -> Self {
        Self {
            job,
            files: Arc::default(),
            lines: Vec::new(),
            asked: false,
            draft: String::new(),
            open: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    /// Lets the taker go on until its turn ends, or until so many steps were recorded.
    pub(in crate::taker) fn run(
        &mut self,
        taker: &mut dyn Taker,
        told: StepReply,
        steps: usize,
    ) -> Option<TakerEnd> {
        let mut told = told;
        for _ in 0..steps {
            let step = taker.next(told);
            if let TurnStep::End(end) = step {
                self.lines.push(format!("end {}", shown(&end)));
                return Some(end);
            }
            told = StepReply::Done {
                call: self.record(step),
            };
        }
        None
    }

    fn record(&mut self, step: TurnStep) -> Option<CallId> {
        match step {
            TurnStep::Ask(Asking { model, .. }) => {
                assert!(!self.asked && self.open.is_empty() && self.draft.is_empty());
                self.asked = true;
                self.lines.push(format!("ask {model}"));
            }
            TurnStep::Draft { kind, text } => {
                assert!(self.asked);
                let mark = match kind {
                    DraftKind::Text => {
                        self.draft.push_str(&text);
                        "draft"
                    }
                    DraftKind::Reasoning => "reasoning",
                };
                self.lines.push(format!("{mark} {text:?}"));
            }
            TurnStep::Discard { why } => {
                assert!(!self.draft.is_empty());
                self.draft.clear();
                self.lines.push(format!("discard: {why}"));
            }
            TurnStep::Answer { text, calls, .. } => self.answered(&text, calls),
            TurnStep::Failed {
                class, retry_in_ms, ..
            } => {
                assert!(std::mem::take(&mut self.asked));
                self.lines
                    .push(format!("failed {class}, retry {retry_in_ms:?}"));
            }
            TurnStep::Intend(intended) => return Some(self.intended(intended)),
            TurnStep::Start { call, process } => {
                let known = self.known(&call);
                known.is_started = true;
                self.lines
                    .push(format!("start {call}, process {}", process.is_some()));
            }
            TurnStep::Finish {
                call, end, output, ..
            } => self.finished(&call, end, output),
            TurnStep::Wait { ms } => self.lines.push(format!("wait {ms}")),
            TurnStep::Begin { .. }
            | TurnStep::Cut
            | TurnStep::Consent(_)
            | TurnStep::Stalled { .. }
            | TurnStep::Held { .. }
            | TurnStep::Refuse { .. }
            | TurnStep::Trust { .. }
            | TurnStep::Absent { .. }
            | TurnStep::Choose(_)
            | TurnStep::Compact(_) => {
                panic!("only a model's taker says this")
            }
            TurnStep::End(_) => panic!("it is looked at before"),
        }
        None
    }

    fn answered(&mut self, text: &str, calls: Vec<ToolCall>) {
        assert!(std::mem::take(&mut self.asked));
        let draft = std::mem::take(&mut self.draft);
        assert!(
            draft.is_empty() || draft == text,
            "{draft:?} is not {text:?}"
        );
        let names: Vec<String> = calls
            .iter()
            .map(|c| format!("{} {}", c.id, c.name))
            .collect();
        self.lines.push(format!("answer {text:?} {names:?}"));
        self.job.answers_before += 1;
        self.open.clone_from(&calls);
        if !calls.is_empty() {
            let text = (!text.is_empty()).then(|| text.to_owned());
            self.job
                .history
                .push(Message::AssistantToolCalls { calls, text }.into());
        } else if !text.is_empty() {
            let content = text.to_owned();
            self.job.history.push(Message::Assistant { content }.into());
        }
    }

    /// A call that is known already keeps its name, and is not recorded again.
    fn intended(&mut self, intended: Box<crate::turn::step::IntendedCall>) -> CallId {
        let asked = self.open.iter().find(|call| call.id == intended.tool_call);
        let asked = asked.expect("the answer asks for it");
        assert_eq!(
            (&asked.name, asked.input.get()),
            (&intended.tool, &*intended.arguments)
        );
        if let Some(known) = self.calls.get(&intended.tool_call) {
            assert!(!known.is_finished, "its result is recorded");
            return known.id.clone();
        }
        let id: CallId = format!("7.1.{}", self.calls.len() + 1).parse().unwrap();
        self.lines.push(format!("intend {id} {}", intended.summary));
        let known = Known {
            id: id.clone(),
            effect: intended.effect,
            is_started: false,
            is_finished: false,
        };
        self.calls.insert(intended.tool_call, known);
        id
    }

    fn known(&mut self, call: &CallId) -> &mut Known {
        let known = self.calls.values_mut().find(|known| known.id == *call);
        known.expect("it was intended")
    }

    fn finished(&mut self, call: &CallId, end: CallEnd, output: String) {
        let known = self.known(call);
        // A call that could not be started may still say so.
        assert!(!known.is_finished && (known.is_started || end == CallEnd::Failed));
        known.is_finished = true;
        let name = self
            .calls
            .iter()
            .find(|(_, known)| known.id == *call)
            .unwrap()
            .0
            .clone();
        let at = self.open.iter().position(|open| open.id == name).unwrap();
        let open = self.open.remove(at);
        self.lines.push(format!("finish {call} {end:?} {output:?}"));
        self.result(&open, output, end.is_error());
    }

    fn result(&mut self, call: &ToolCall, content: String, is_error: bool) {
        self.job.history.push(
            Message::ToolResult {
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
                content,
                is_error,
                image: None,
            }
            .into(),
        );
    }

    /// What is known after a crash: a draft is kept, and a call whose effect is not safe to repeat
    /// gets its result from the driver.
    pub(in crate::taker) fn crash(&mut self) {
        self.job.resumed = true;
        self.job.attempt += 1;
        self.asked = false;
        self.lines.push("crash".to_owned());
        let draft = std::mem::take(&mut self.draft);
        if !draft.is_empty() {
            self.job
                .history
                .push(Message::Assistant { content: draft }.into());
            self.job
                .history
                .push(user("You were interrupted; go on.").into());
        }
        for call in self.open.clone() {
            let Some(known) = self.calls.get_mut(&call.id) else {
                continue;
            };
            let is_safe = match known.effect {
                Effect::Pure | Effect::Checkable | Effect::Idempotent => true,
                Effect::Mutating | Effect::Irreversible => false,
            };
            if known.is_started && !is_safe {
                known.is_finished = true;
                self.open.retain(|open| open.id != call.id);
                self.result(&call, "Its outcome is unknown.".to_owned(), true);
            }
        }
    }

    /// Tells the role what to mend.
    pub(in crate::taker) fn mend(&mut self) -> StepReply {
        let message = "Please mend it.".to_owned();
        self.job.history.push(user(&message).into());
        self.lines.push("mend".to_owned());
        StepReply::Mend { message }
    }

    pub(in crate::taker) fn page(&self) -> String {
        self.lines.join("\n")
    }
}

fn shown(end: &TakerEnd) -> String {
    match end {
        TakerEnd::Outcome { outcome, words, .. } => match outcome {
            RoleOutcome::Handoff(targets) => {
                let targets: Vec<String> = targets
                    .iter()
                    .map(|it| format!("{} {}", it.target_node_id, it.artifact_path))
                    .collect();
                format!("handoff {targets:?}, words {words:?}")
            }
            RoleOutcome::PromptHuman
            | RoleOutcome::AwaitHandoff
            | RoleOutcome::ForwardPassClosed
            | RoleOutcome::MetaAnalysisComplete { .. }
            | RoleOutcome::BackwardPassComplete { .. } => format!("{outcome:?}, words {words:?}"),
        },
        TakerEnd::Fault(fault) => format!("fault {}", fault.code.word()),
        TakerEnd::Answered
        | TakerEnd::OutputLimit
        | TakerEnd::OwnTurn { .. }
        | TakerEnd::Aborted { .. }
        | TakerEnd::Provider { .. }
        | TakerEnd::Configuration { .. } => format!("{end:?}"),
    }
}
