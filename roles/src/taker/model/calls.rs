//! The calls of one answer: those that only read run together, all others one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a_society_base::thread;
use a_society_facts::fact::turn::{CallEnd, Effect};
use a_society_facts::id::CallId;
use a_society_facts::message::{Image, Message, ToolCall};

use super::kit::{Kit, Planned, StartedCall};
use super::limits::CALLS_AT_ONCE;
use super::taker::{ModelNext, ModelTaker};
use crate::handoff::{EndingTool, not_beside};
use crate::tool::Finished;
use crate::turn::conclude::conclude_called;
use crate::turn::step::{Consent, IntendedCall, TakerEnd, TurnStep, files_before};

/// What a call comes to that had not begun when the operator interrupted.
const NOT_RUN: &str =
    "Not run: the operator spoke first. Read what they say; call it again if that still fits.";

/// Calls that still have no result.
#[derive(Debug)]
pub(super) struct Calls {
    items: Vec<CallInHand>,
    acts: VecDeque<CallAct>,
    /// The call whose name is awaited.
    naming: Option<usize>,
    /// How the turn ends when every call has its result.
    ends: Option<TakerEnd>,
}

/// One call.
#[derive(Debug)]
struct CallInHand {
    ordinal: usize,
    asked: ToolCall,
    /// Why it must not run, if that is known already.
    fault: Option<String>,
    plan: Option<Planned>,
    call: Option<CallId>,
    /// Whether no later event can revoke its effect.
    is_settled: bool,
    running: Option<StartedCall>,
    finished: Option<Finished>,
}

/// A call that an answer asks for.
#[derive(Debug)]
pub(super) struct WantedCall {
    /// Its place in the answer.
    pub(super) ordinal: usize,
    pub(super) call: ToolCall,
    /// Why it cannot run.
    pub(super) fault: Option<String>,
}

/// What is still to be done, by the places of the calls.
#[derive(Debug)]
enum CallAct {
    /// See what the call, and those after it that only read, would do.
    Plan(usize),
    Intend(usize),
    Consent(usize),
    Start(usize),
    /// All three at once, for a call that needs no process.
    Begin(usize),
    Let(usize),
    Run(Vec<usize>),
    Finish(usize),
}

impl Calls {
    pub(super) fn new(wanted: impl IntoIterator<Item = WantedCall>) -> Self {
        let items = wanted.into_iter().map(|wanted| CallInHand {
            ordinal: wanted.ordinal,
            asked: wanted.call,
            fault: wanted.fault,
            plan: None,
            call: None,
            is_settled: false,
            running: None,
            finished: None,
        });
        // What ends the turn comes after everything else.
        let ends = |item: &CallInHand| EndingTool::of_name(&item.asked.name).is_some();
        let (last, mut items): (Vec<CallInHand>, Vec<CallInHand>) = items.partition(ends);
        items.extend(last);
        Self {
            items,
            ends: None,
            acts: VecDeque::from([CallAct::Plan(0)]),
            naming: None,
        }
    }

    /// The call that was to be consented to may not run.
    pub(super) fn denied(&mut self, call: CallId, why: String) {
        self.naming = None;
        if let Some(CallAct::Start(at) | CallAct::Let(at)) = self.acts.front() {
            let at = *at;
            self.acts.clear();
            if let Some(item) = self.items.get_mut(at) {
                item.call = Some(call);
            }
            self.finish(at, CallEnd::Denied, why);
            self.acts
                .extend([CallAct::Finish(at), CallAct::Plan(at + 1)]);
        }
    }

    /// The call whose name is awaited has begun.
    pub(super) fn begun(&mut self, is_watched: bool) {
        if let Some(item) = self.naming.and_then(|at| self.items.get_mut(at)) {
            item.is_settled = !is_watched;
        }
    }

    fn finish(&mut self, at: usize, end: CallEnd, output: String) {
        if let Some(item) = self.items.get_mut(at) {
            item.finished = Some(Finished::with_text(end, output));
        }
    }

    /// Looks at a call, and at those after it as long as they only read.
    fn plan(&mut self, from: usize, kit: &Kit, is_cut: bool) -> Option<TurnStep> {
        let mut together = Vec::new();
        for at in from..self.items.len() {
            let item = self.items.get_mut(at)?;
            let planned = match item.fault.take() {
                Some(fault) => Err(fault),
                None if is_cut => Err(NOT_RUN.to_owned()),
                None => kit.plan(&item.asked),
            };
            match planned {
                Ok(plan) => {
                    let reads = plan.effect() == Effect::Pure && plan.is_free();
                    if !together.is_empty() && (!reads || together.len() == CALLS_AT_ONCE) {
                        break;
                    }
                    item.plan = Some(plan);
                    together.push(at);
                    if !reads {
                        break;
                    }
                }
                // It has its turn when those before it are done.
                Err(fault) if !together.is_empty() => {
                    item.fault = Some(fault);
                    break;
                }
                Err(fault) => {
                    self.acts.push_back(CallAct::Plan(at + 1));
                    return Some(TurnStep::Refuse {
                        tool_call: item.asked.id.clone(),
                        tool: item.asked.name.clone(),
                        output: fault,
                    });
                }
            }
        }
        let last = *together.last()?;
        if together.iter().all(|at| self.needs_no_process(*at)) {
            for at in &together {
                self.acts.extend([CallAct::Begin(*at), CallAct::Let(*at)]);
            }
        } else {
            self.acts
                .extend(together.iter().map(|at| CallAct::Intend(*at)));
            for at in &together {
                if self.needs_consent(*at) {
                    self.acts.push_back(CallAct::Consent(*at));
                }
                self.acts.push_back(CallAct::Start(*at));
            }
        }
        self.acts.push_back(CallAct::Run(together.clone()));
        self.acts
            .extend(together.iter().map(|at| CallAct::Finish(*at)));
        self.acts.push_back(CallAct::Plan(last + 1));
        None
    }

    fn needs_consent(&self, at: usize) -> bool {
        let plan = self.items.get(at).and_then(|item| item.plan.as_ref());
        plan.is_some_and(|plan| !plan.is_free())
    }

    fn needs_no_process(&self, at: usize) -> bool {
        let plan = self.items.get(at).and_then(|item| item.plan.as_ref());
        plan.is_some_and(Planned::needs_no_process)
    }

    fn intend(&mut self, at: usize) -> Option<TurnStep> {
        self.intended(at).map(TurnStep::Intend)
    }

    fn begin(&mut self, at: usize) -> Option<TurnStep> {
        let intended = self.intended(at)?;
        let plan = self.items.get(at)?.plan.as_ref()?;
        let ask = (!plan.is_free()).then(|| Box::new(plan.ask().clone()));
        Some(TurnStep::Begin { intended, ask })
    }

    fn intended(&mut self, at: usize) -> Option<Box<IntendedCall>> {
        self.naming = Some(at);
        let item = self.items.get(at)?;
        let plan = item.plan.as_ref()?;
        let (before, after) = plan.file();
        Some(Box::new(IntendedCall {
            tool_call: item.asked.id.clone(),
            ordinal: u32::try_from(item.ordinal).unwrap_or(u32::MAX),
            tool: item.asked.name.clone(),
            arguments: item.asked.input.get().to_owned(),
            effect: plan.effect(),
            before,
            after,
            files: plan.files(),
            texts: plan.texts(),
            summary: plan.summary().to_owned(),
        }))
    }

    fn consent(&self, at: usize) -> Option<TurnStep> {
        let item = self.items.get(at)?;
        let plan = item.plan.as_ref()?;
        Some(TurnStep::Consent(Box::new(Consent {
            call: item.call.clone()?,
            ask: plan.ask().clone(),
            before: files_before(plan.file().0, &plan.files()),
        })))
    }

    /// Lets whatever runs all of them.
    fn run(&mut self, together: &[usize]) {
        let mut running = BTreeMap::new();
        for at in together {
            if let Some(call) = self.items.get_mut(*at).and_then(|item| item.running.take()) {
                running.insert(*at, call);
            }
        }
        for (at, finished) in finish_all(running, StartedCall::finish) {
            if let Some(item) = self.items.get_mut(at) {
                item.finished = Some(finished);
            }
        }
    }
}

/// Ends all of them; more than one at once, if there are more.
fn finish_all<C: Send>(
    running: BTreeMap<usize, C>,
    finish: impl Fn(C) -> Finished + Sync,
) -> BTreeMap<usize, Finished> {
    if running.len() == 1 {
        let only = running.into_iter();
        return only.map(|(at, call)| (at, finish(call))).collect();
    }
    let broken =
        || Finished::with_text(CallEnd::Failed, "The tool failed for a reason of its own.");
    let finished: BTreeMap<usize, Finished> = running.keys().map(|at| (*at, broken())).collect();
    let (number, waiting, finished) = (running.len(), Mutex::new(running), Mutex::new(finished));
    let work = || {
        loop {
            // The lock is free again while the call runs.
            let Some((at, call)) = lock(&waiting).pop_last() else {
                return;
            };
            let ended = finish(call);
            lock(&finished).insert(at, ended);
        }
    };
    std::thread::scope(|scope| {
        let begin = |_| thread::begin_within(scope, "call", work).ok();
        let threads: Vec<_> = (0..number).map_while(begin).collect();
        // Those for which the system has no thread wait for those that have one.
        if threads.is_empty() {
            work();
        }
        // A tool that panicked has left its words above.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    });
    let finished = finished.into_inner();
    finished.unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ModelTaker {
    /// The next step of the calls. Waits while they run.
    pub(super) fn work(&mut self, mut calls: Calls, named: Option<CallId>) -> Option<TurnStep> {
        if let Some((at, named)) = calls.naming.take().zip(named)
            && let Some(item) = calls.items.get_mut(at)
        {
            item.call = Some(named);
        }
        let step = loop {
            match calls.acts.pop_front() {
                // Every call has its result: the model is asked what now.
                None => return calls.ends.take().map(|end| self.end(end)),
                Some(act) => {
                    if let Some(step) = self.act(&mut calls, act) {
                        break step;
                    }
                }
            }
        };
        if !matches!(self.next, ModelNext::End(_)) {
            self.next = ModelNext::Work(Box::new(calls));
        }
        Some(step)
    }

    fn act(&mut self, calls: &mut Calls, act: CallAct) -> Option<TurnStep> {
        match act {
            CallAct::Plan(from) => {
                let kit = self.kit.as_ref()?;
                let mut step = calls.plan(from, kit, self.stop.is_cut())?;
                if let TurnStep::Refuse {
                    tool_call,
                    tool,
                    output,
                } = &mut step
                {
                    if let Some(item) = calls.items.iter().find(|it| it.asked.id == *tool_call) {
                        *output = self.same.heard(&item.asked, std::mem::take(output));
                    }
                    self.heard_result(tool_call, tool, output, None, true);
                }
                Some(step)
            }
            CallAct::Intend(at) => calls.intend(at),
            CallAct::Consent(at) => calls.consent(at),
            CallAct::Start(at) => self.start(calls, at),
            CallAct::Begin(at) => calls.begin(at),
            // It was started; now it has what it needs for that.
            CallAct::Let(at) => {
                let started = self.start(calls, at)?;
                (!matches!(started, TurnStep::Start { .. })).then_some(started)
            }
            CallAct::Run(together) => {
                calls.run(&together);
                None
            }
            CallAct::Finish(at) => self.finish(calls, at),
        }
    }

    /// Brings a call as far as its start, which is recorded before it goes on.
    fn start(&mut self, calls: &mut Calls, at: usize) -> Option<TurnStep> {
        let stop = self.stop.clone();
        let item = calls.items.get_mut(at)?;
        let Some(call) = item.call.clone() else {
            return Some(self.end(TakerEnd::aborted(
                "a call was intended and got no name".to_owned(),
            )));
        };
        match self.kit.as_ref()?.start(item.plan.take()?, &call, &stop) {
            Ok(running) => {
                let process = running.process();
                item.running = Some(running);
                Some(TurnStep::Start { call, process })
            }
            Err(finished) => {
                item.finished = Some(finished);
                None
            }
        }
    }

    fn finish(&mut self, calls: &mut Calls, at: usize) -> Option<TurnStep> {
        let item = calls.items.get_mut(at)?;
        let mut finished = item.finished.take()?;
        let (id, tool) = (item.asked.id.clone(), item.asked.name.clone());
        let call = item.call.take()?;
        let is_settled = item.is_settled;
        let is_ending = self.kit.as_ref().is_some_and(|kit| kit.ends_turn(&tool));
        if let Some(ending) = EndingTool::of_name(&tool).filter(|_| is_ending) {
            return Some(self.finish_ending(calls, ending, call, id, tool));
        }
        finished.output = self.same.heard(&item.asked, finished.output);
        let (output, image) = (&finished.output, finished.image.clone());
        self.heard_result(&id, &tool, output, image, finished.end.is_error());
        Some(TurnStep::Finish {
            call,
            end: finished.end,
            output: finished.output,
            seen: finished.seen,
            image: finished.image,
            exit: finished.exit,
            is_cut: finished.is_cut,
            is_settled,
            ends: None,
        })
    }

    /// A call that ends the turn, unless another call of the same message failed: then the model has
    /// to see that first.
    fn finish_ending(
        &mut self,
        calls: &mut Calls,
        ending: EndingTool,
        call: CallId,
        id: String,
        tool: String,
    ) -> TurnStep {
        let (text, all) = self.last_answer();
        let failed = all.iter().position(|asked| {
            EndingTool::of_name(&asked.name).is_none() && self.has_failed(&asked.id)
        });
        let end = match (ending, failed) {
            (EndingTool::Handoff, Some(place)) => Err(not_beside(place + 1)),
            (EndingTool::Handoff, None) => Ok(conclude_called(&text, &all, &self.job.allowed)),
            // What only asks may ask whatever failed, and is alone then.
            (EndingTool::AskOperator, failed) => {
                let asks = |it: &&ToolCall| {
                    let tool = EndingTool::of_name(&it.name);
                    failed.is_none() || tool == Some(EndingTool::AskOperator)
                };
                let asked: Vec<ToolCall> = all.iter().filter(asks).cloned().collect();
                Ok(conclude_called(&text, &asked, &self.job.allowed))
            }
        };
        let (end, output, ends) = match end {
            Ok(end) => (CallEnd::Done, ending.done().to_owned(), end.map(Box::new)),
            Err(why) => (CallEnd::Failed, why, None),
        };
        if let Some(end) = &ends {
            calls.ends = Some((**end).clone());
        }
        self.heard_result(&id, &tool, &output, None, end.is_error());
        TurnStep::Finish {
            call,
            end,
            output,
            seen: Vec::new(),
            image: None,
            exit: None,
            is_cut: false,
            is_settled: false,
            ends,
        }
    }

    /// The text of the last answer, and what it asked for.
    fn last_answer(&self) -> (String, Vec<ToolCall>) {
        let said = self
            .said
            .iter()
            .rev()
            .find_map(|said| match &*said.message {
                Message::AssistantToolCalls { calls, text } => {
                    Some((text.clone().unwrap_or_default(), calls.clone()))
                }
                Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => {
                    None
                }
            });
        said.unwrap_or_default()
    }

    /// Whether a call has a result, and it is a failure.
    fn has_failed(&self, id: &str) -> bool {
        self.said.iter().rev().any(|said| match &*said.message {
            Message::ToolResult {
                call_id, is_error, ..
            } => call_id == id && *is_error,
            Message::User { .. }
            | Message::Assistant { .. }
            | Message::AssistantToolCalls { .. } => false,
        })
    }

    fn heard_result(
        &mut self,
        id: &str,
        tool: &str,
        output: &str,
        image: Option<Box<Image>>,
        is_error: bool,
    ) {
        let message = Message::ToolResult {
            call_id: id.to_owned(),
            tool_name: tool.to_owned(),
            content: output.to_owned(),
            is_error,
            image,
        };
        self.said.push(message.into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::time::Duration;

    use super::*;

    /// A call that ends when another one has begun.
    type Waits = (Sender<()>, Receiver<()>);

    #[test]
    fn calls_that_only_read_run_at_the_same_time() {
        let ((to_second, first), (to_first, second)) = (mpsc::channel(), mpsc::channel());
        let running = BTreeMap::from([(0, (to_second, second)), (1, (to_first, first))]);
        let finished = finish_all(running, |(begun, other): Waits| {
            let _ = begun.send(());
            let end = match other.recv_timeout(Duration::from_secs(10)) {
                Ok(()) => CallEnd::Done,
                Err(_) => CallEnd::TimedOut,
            };
            Finished::with_text(end, "")
        });
        let ends: Vec<CallEnd> = finished.values().map(|finished| finished.end).collect();
        assert_eq!(ends, [CallEnd::Done, CallEnd::Done]);
    }
}
