//! A turn begins: what may wait for the outside world is found out apart from the core, in three errands.
//!
//! First come the calls that a crash cut off, and what the role works with; then its packet, and then
//! its taker. What follows from each is appended in between. The turn counts as running from the
//! beginning, so that it can be stopped, steered and left whatever its errand waits for.

use std::collections::BTreeMap;

use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::fact::turn::Effect;
use a_society_facts::id::{CallId, RoleInstance, TurnId};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::{CallState, OpenCall};
use a_society_flow::machine::{TurnEnding, TurnTask};
use a_society_roles::role::prompt::SystemPrompt;
use a_society_roles::taker::command::end_survivor;
use a_society_roles::turn::taker::Taker;

use super::attempt::{Onward, Start, TurnAttempt};
use super::briefing::{
    allowed, begun, build_prompt, has_no_prompt, is_untold, job, keep_what_was_cut,
    prompt_before_choice, tell, tell_interrupted, tell_moved,
};
use super::budget::over_turns;
use super::choose::configure;
use super::core::Core;
use super::cut_calls::{asked_call, calls_of, open_calls, settle_calls};
use super::error::DriverError;
use super::live_turn::{LiveTurn, TurnSubject};
use super::pen::FlowPen;
use super::provider_wait::TurnControl;
use super::repair::UntoldRepair;
use super::role_source::{About, PendingChoice, RoleAt, TouchedFiles};
use super::steer::{is_interrupted, with_words};
use super::step_findings::GraphLook;
use super::step_look::graph_look;
use crate::project::flow_file::FlowFile;
use crate::record::{FoundArtifact, RefusedPath, find};

/// What a crash left of a turn: its calls that were cut off, and a repair without its message.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The repair whose message the role has not got.
    pub(super) untold: Option<UntoldRepair>,
    /// The files of the handoff that it has to mend.
    pub(super) products: Vec<Result<FoundArtifact, RefusedPath>>,
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
        let whose = TurnAttempt { turn, attempt };
        if attempt > 1 {
            keep_what_was_cut(&mut self.pen, turn, &role, &task)?;
        }
        let untold = UntoldRepair::of(&self.pen, turn, &role, &task);
        self.begin_live(whose, role.clone(), task);
        let cut = cut_calls(&self.pen, turn)?;
        let chooses = self.pen.roles.reads_history(&role);
        let paths = untold.as_ref().map(UntoldRepair::paths);
        let paths = paths.unwrap_or_default();
        let mut survey = Survey {
            untold,
            ..Survey::default()
        };
        if cut.is_empty() && paths.is_empty() && !chooses {
            return self.surveyed(whose, survey, PendingChoice::Nothing);
        }
        let (disk, places) = (self.pen.flow.shared_disk(), self.pen.places.clone());
        let (mut roles, state, graph) = self.pen.roles_apart();
        let (flow, stop) = (self.pen.flow.id().clone(), self.live.stop_of(turn));
        let live = self.live.get(turn);
        let node = live.and_then(|live| live.subject.node().cloned());
        let waits = self.pen.roles.waits(&role);
        self.send(whose, waits, move || {
            let products = paths.iter().map(|path| find(disk.as_ref(), &places, path));
            survey.products = products.collect();
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
                if let Some(asked) = asked {
                    roles.clear_halves(&open.role, &asked);
                    let touched = roles.touched(&open.role, &asked);
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

    /// Settles the cut calls, and then chooses what the role works with.
    fn surveyed(
        &mut self,
        whose: TurnAttempt,
        mut survey: Survey,
        choice: PendingChoice,
    ) -> Result<(), DriverError> {
        let turn = whose.turn;
        let Some(live) = self.live.get(turn) else {
            return Ok(());
        };
        let role = live.subject.role().clone();
        if let Some((untold, task)) = survey.untold.take().zip(live.subject.task()) {
            untold.tell(&mut self.pen, turn, (&role, task), &survey.products)?;
        }
        if settle_calls(&mut self.pen, turn, survey)? {
            // The operator denied without guidance; the role goes on when it gets some.
            return self.end_with(whose, TurnEnding::ConsentDenied);
        }
        let pause = self.state().paused.as_ref().map(|pause| pause.reason);
        if pause == Some(PauseReason::Irreversible) {
            // The turn stays open, and goes on when the operator lets the flow go on.
            self.forget(turn);
            return Ok(());
        }
        if let Some(lack) = over_turns(self.state(), turn, &role) {
            return self.end_with(whose, TurnEnding::BudgetReached { lack });
        }
        match choice {
            PendingChoice::Nothing => self.brief(whose, role),
            PendingChoice::Settled(settings) => {
                configure(&mut self.pen, &role, settings, ChosenBy::Default)?;
                self.brief(whose, role)
            }
            // Only the operator can choose.
            PendingChoice::Operator(why) => {
                self.end_with(whose, TurnEnding::NeedsConfiguration { why })
            }
            PendingChoice::Asks(taker) => {
                self.take(turn, taker);
                Ok(())
            }
        }
    }

    /// A turn ends before it has a taker.
    fn end_with(&mut self, whose: TurnAttempt, ending: TurnEnding) -> Result<(), DriverError> {
        self.go_onward(whose, Onward::Ends(ending)).map(drop)
    }

    /// It is found out what the role reads.
    fn brief(&mut self, whose: TurnAttempt, role: RoleInstance) -> Result<(), DriverError> {
        let turn = whose.turn;
        let live = self.live.get(turn);
        let Some(task) = live.and_then(|live| live.subject.task().cloned()) else {
            return Ok(());
        };
        let untold = is_untold(&self.pen, turn, &role, &task);
        let allowed = untold.then(|| allowed(&self.pen, &role, &task));
        let is_new = has_no_prompt(&self.pen, &role);
        let known = prompt_before_choice(&self.pen, &role)?;
        let waits = self.pen.roles.waits(&role);
        let (mut roles, state, graph) = self.pen.roles_apart();
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
            build_prompt(&mut self.pen, &role, prompt)?;
        }
        if attempt > 1 {
            tell_interrupted(&mut self.pen, turn, &role, &task)?;
        }
        let packet = tell(&mut self.pen, turn, &role, &task, briefing.packet)?;
        tell_moved(&mut self.pen, turn, &role)?;
        let (packet, begun_with) = begun(&self.pen, &role, &task, packet)?;
        let Some(live) = self.live.get(turn) else {
            return Ok(());
        };
        let packet = with_words(&mut self.pen, &live.subject, packet)?;
        let job = job(&self.pen, turn, attempt, &role, Some(&task), packet)?;
        let (waits, stop) = (self.pen.roles.waits(&role), self.live.stop_of(turn));
        let mut roles = self.pen.roles.another();
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
        let calls = calls_of(&self.pen, turn);
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
        let mut control = TurnControl::new(self.pen.roles.hears(&role));
        if control.hears() && is_interrupted(&self.pen, whose.turn, &role) {
            control.cut();
        }
        if self.pen.early.take(&role) {
            control.hurry();
        }
        let subject = TurnSubject::new(whose, role, Some(task));
        let live = LiveTurn::new(subject, control, self.room.take());
        self.live.insert(live);
    }
}

/// The calls of a turn that had been started when a crash cut them off, and of which the world has to be asked.
fn cut_calls(pen: &FlowPen, turn: TurnId) -> Result<Vec<CutCall>, DriverError> {
    let open = open_calls(pen, turn).into_iter();
    let cut = open.map(|(call, open)| {
        let is_checked = open.effect == Effect::Checkable;
        let asked = is_checked.then(|| asked_call(pen, &open.role, &open.tool_call));
        let asked = asked.flatten();
        let is_known = open.process.is_some() || asked.is_some();
        if open.state != CallState::Started || !is_known {
            return Ok(None);
        }
        let graph = if is_checked {
            graph_look(pen, &open)?
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

/// What a packet is about.
fn about(task: &TurnTask) -> About<'_> {
    match task {
        TurnTask::Node(node) => About::Node(node),
        TurnTask::Reflection => About::Reflection,
        TurnTask::Feedback => About::Feedback,
    }
}
