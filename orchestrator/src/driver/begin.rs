//! A turn begins: what may wait for the outside world is found out apart from the core, in three errands.
//!
//! First come the calls that a crash cut off, and what the role works with; then its packet, and then
//! its taker. What follows from each is appended in between. The turn counts as running from the
//! beginning, so that it can be stopped, steered and left whatever its errand waits for.

use std::collections::BTreeMap;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{CallId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::{CallState, OpenCall};
use a_society_flow::machine::{TurnEnding, TurnTask};
use a_society_roles::role::prompt::SystemPrompt;
use a_society_roles::taker::command::end_survivor;
use a_society_roles::turn::taker::Taker;

use super::attempt::{Start, TurnAttempt};
use super::budget::over_turns;
use super::core::Core;
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::provider_wait::TurnControl;
use super::role_source::{About, PendingChoice, RoleAt, TouchedFiles};
use super::step_findings::GraphLook;
use crate::project::flow_file::FlowFile;

/// The state of the calls that a crash cut off.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The calls of which something still ran, and was ended.
    pub(super) reaped: Vec<CallId>,
    /// What the files hold that a call changes.
    pub(super) touched: BTreeMap<CallId, TouchedFiles>,
    /// The graph that a call wrote, where it is another than the flow walks.
    pub(super) graphs: BTreeMap<CallId, Result<FlowFile, String>>,
}

/// What a role reads when its turn begins.
#[derive(Debug, Default)]
pub(super) struct Briefing {
    /// Its system prompt, where one has to be built.
    pub(super) prompt: Option<SystemPrompt>,
    /// Its packet, where the role has none yet.
    pub(super) packet: Option<String>,
}

/// A call that a crash cut off, with what must be found out about it.
struct CutCall {
    call: CallId,
    open: OpenCall,
    /// As the model asked for it.
    asked: Option<ToolCall>,
    /// How it is found out whether it wrote a graph.
    graph: Option<GraphLook>,
}

impl Core {
    /// A turn runs here from now on. Its taker is there when it was found out what it begins with.
    pub(super) fn run_turn(
        &mut self,
        turn: TurnId,
        attempt: u32,
        role: RoleInstance,
        task: TurnTask,
    ) -> Result<(), DriverError> {
        if self.wake(turn, attempt)? {
            return Ok(());
        }
        let whose = TurnAttempt { turn, attempt };
        if attempt > 1 {
            self.keep_what_was_cut(turn, &role, &task)?;
        }
        self.mend_untold(turn, &role, &task)?;
        self.begin_live(whose, role.clone(), task);
        let cut = self.cut_calls(turn)?;
        let chooses = self.roles.reads_history(&role);
        if cut.is_empty() && !chooses {
            return self.surveyed(whose, Survey::default(), PendingChoice::Nothing);
        }
        let (mut roles, state, graph) = self.roles_apart();
        let (flow, stop) = (self.flow.id().clone(), self.stop_of(turn));
        let node = self.node_of(turn).cloned();
        let waits = self.roles.waits(&role);
        self.send(whose, waits, move || {
            let mut survey = Survey::default();
            for cut in cut {
                let CutCall {
                    call,
                    open,
                    asked,
                    graph,
                } = cut;
                if let Some(process) = &open.process
                    && end_survivor(process, &flow, &call)
                {
                    survey.reaped.push(call.clone());
                }
                if let Some((role, asked)) = open.seat.role().zip(asked) {
                    roles.clear_halves(role, &asked);
                    let touched = roles.touched(role, &asked);
                    survey.touched.insert(call.clone(), touched);
                }
                if let Some(graph) = graph.and_then(|graph| graph.run(roles.as_mut())) {
                    survey.graphs.insert(call, graph);
                }
            }
            let choice = if chooses {
                let whose = RoleAt {
                    role: &role,
                    node: node.as_ref(),
                };
                roles.choice(&graph, &state, whose, stop)
            } else {
                PendingChoice::Nothing
            };
            Box::new(move |core: &mut Self| core.surveyed(whose, survey, choice).map(|()| 0))
        })
    }

    /// The calls of a turn that had been started when a crash cut them off, and of which the world has to be asked.
    fn cut_calls(&self, turn: TurnId) -> Result<Vec<CutCall>, DriverError> {
        let open = self.open_calls(turn).into_iter();
        let cut = open.map(|(call, open)| {
            let is_checked = open.effect == Effect::Checkable;
            let asked = is_checked.then(|| self.asked_call(&open.seat, &open.tool_call));
            let asked = asked.flatten();
            let is_known = open.process.is_some() || asked.is_some();
            if open.state != CallState::Started || !is_known {
                return Ok(None);
            }
            let graph = if is_checked {
                self.graph_look(&open)?
            } else {
                None
            };
            Ok(Some(CutCall {
                call,
                open,
                asked,
                graph,
            }))
        });
        cut.filter_map(Result::transpose).collect()
    }

    /// Settles the cut calls, and then chooses what the role works with.
    fn surveyed(
        &mut self,
        whose: TurnAttempt,
        survey: Survey,
        choice: PendingChoice,
    ) -> Result<(), DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        let Some(role) = self.live.role(turn).cloned() else {
            return Ok(());
        };
        if self.settle_calls(turn, survey)? {
            // The operator denied without guidance; the role goes on when it gets some.
            self.conclude(turn, attempt, TurnEnding::ConsentDenied)?;
            self.leave(turn);
            return Ok(());
        }
        let pause = self.state().paused.as_ref().map(|pause| pause.reason);
        if pause == Some(PauseReason::Irreversible) {
            // The turn stays open, and goes on when the operator lets the flow go on.
            self.forget(turn);
            return Ok(());
        }
        if let Some(lack) = over_turns(self.state(), turn, &role) {
            self.conclude(turn, attempt, TurnEnding::BudgetReached { lack })?;
            self.leave(turn);
            return Ok(());
        }
        if let Some(taker) = self.choose_first(whose, choice)? {
            self.take(turn, taker);
            return Ok(());
        }
        if self.live.contains(turn) {
            self.brief(whose, role)?;
        }
        Ok(())
    }

    /// It is found out what the role reads.
    fn brief(&mut self, whose: TurnAttempt, role: RoleInstance) -> Result<(), DriverError> {
        let turn = whose.turn;
        let Some(task) = self.task_of(turn).cloned() else {
            return Ok(());
        };
        let untold = self.is_untold(turn, &role, &task);
        let allowed = untold.then(|| self.allowed(&role, &task));
        let is_new = self.has_no_prompt(&role);
        let known = self.prompt_before_choice(&role)?;
        let waits = self.roles.waits(&role);
        let (mut roles, state, graph) = self.roles_apart();
        self.send(whose, waits, move || {
            let is_outdated = known.is_some_and(|text| roles.is_outdated(&state, &role, &text));
            let builds = is_new || is_outdated;
            let briefing = Briefing {
                prompt: builds.then(|| roles.system_prompt(&graph, &state, &role)),
                packet: allowed
                    .map(|allowed| roles.packet(&graph, &state, &role, about(&task), allowed)),
            };
            // What follows from it is appended to a state without other holders.
            drop(state);
            Box::new(move |core: &mut Self| core.briefed(whose, role, task, briefing).map(|()| 0))
        })
    }

    /// Gives the role its packet, and makes its taker.
    fn briefed(
        &mut self,
        whose: TurnAttempt,
        role: RoleInstance,
        task: TurnTask,
        briefing: Briefing,
    ) -> Result<(), DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        if let Some(prompt) = briefing.prompt {
            self.build_prompt(&role, prompt)?;
        }
        if attempt > 1 {
            self.tell_interrupted(turn, &role, &task)?;
        }
        let packet = self.tell(turn, &role, &task, briefing.packet)?;
        self.tell_moved(turn, &role)?;
        let (packet, begun_with) = self.begun(&role, &task, packet)?;
        let packet = self.with_words(turn, &role, &task, packet)?;
        let job = self.job(turn, attempt, &role, Some(&task), packet)?;
        let (waits, stop) = (self.roles.waits(&role), self.stop_of(turn));
        let mut roles = self.roles.another();
        self.send(whose, waits, move || {
            let answers = roles.answers_at_most();
            let taker = roles.taker(job, begun_with, stop);
            Box::new(move |core: &mut Self| core.made(whose, taker, answers).map(|()| 0))
        })
    }

    /// The taker of the turn is ready, or there is none.
    fn made(
        &mut self,
        whose: TurnAttempt,
        taker: Result<Box<dyn Taker>, String>,
        answers_at_most: u32,
    ) -> Result<(), DriverError> {
        let TurnAttempt { turn, attempt } = whose;
        let calls = self.calls_of(turn);
        if let Some(live) = self.live.get_mut(turn) {
            live.bounds.begin(calls, answers_at_most);
        }
        match taker {
            Ok(taker) => {
                self.take(turn, taker);
                Ok(())
            }
            Err(why) => self.fail_turn(turn, attempt, why),
        }
    }

    /// A turn that runs here is taken by this taker from now on.
    pub(super) fn take(&mut self, turn: TurnId, taker: Box<dyn Taker>) {
        let Some(live) = self.live.get_mut(turn) else {
            return;
        };
        live.speech.begin(taker.redactor());
        let keeps = taker.waits_in_place() && !taker.is_prompt();
        live.hosting.keep_taker(keeps);
        let start = Start {
            turn,
            attempt: live.subject.attempt(),
            taker,
            stop: live.control.stop(),
            nap: live.control.nap(),
        };
        self.live.begin(start);
    }

    /// A turn runs here from now on.
    fn begin_live(&mut self, whose: TurnAttempt, role: RoleInstance, task: TurnTask) {
        let TurnAttempt { turn, attempt } = whose;
        let mut control = TurnControl::new(self.roles.hears(&role));
        if control.hears() && self.is_interrupted(turn, &role) {
            control.cut();
        }
        if self.early.take(&role) {
            control.hurry();
        }
        let subject = TurnSubject::new(attempt, role, Some(task));
        let live = LiveTurn::new(subject, control, self.place());
        self.live.insert(turn, live);
    }

    fn stop_of(&self, turn: TurnId) -> StopSignal {
        let live = self.live.get(turn);
        live.map(|live| live.control.stop()).unwrap_or_default()
    }

    /// What a turn that runs here is for.
    pub(super) fn task_of(&self, turn: TurnId) -> Option<&TurnTask> {
        self.live.get(turn)?.subject.task()
    }

    fn node_of(&self, turn: TurnId) -> Option<&NodeId> {
        self.live.get(turn)?.subject.node()
    }
}

/// What a packet is about.
fn about(task: &TurnTask) -> About<'_> {
    match task {
        TurnTask::Node(node) => About::Node(node),
        TurnTask::Reflection => About::Reflection,
        TurnTask::Feedback => About::Feedback,
    }
}
