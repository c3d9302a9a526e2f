//! Whole turns of a model on a real folder: consent, budgets, a window that fills, and deaths at
//! any step. A scripted provider plays the model and keeps its requests.

mod streams;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use a_society_base::stop::StopSignal;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::{ConsentMode, Grant};
use a_society_facts::fact::session::CompactionWish;
use a_society_facts::fact::turn::{CallEnd, Usage};
use a_society_facts::id::{ConsentId, RoleInstance};
use a_society_facts::message::{Message, ToolCall};
use a_society_facts::view::flow::FlowState;
use a_society_facts::{At, Fact, Hash};
use a_society_facts::{Verb, Whom};
use a_society_flow::graph::FlowGraph;
use a_society_in_memory::FaultyDisk;
use a_society_mcp::{self as mcp, Servers};
use a_society_providers::{
    AnswerStop, AnswerStream, FaultClass, ModelAnswer, ModelCall, ModelRequest, Prepared, Provider,
    RequestFault, StreamArrival, StreamEvent, Thinking, retry,
};
use a_society_roles::role::prompt::SystemPrompt;
use a_society_roles::taker::model::{Chooser, Gear, Model, ModelTaker, Remote, Traffic};
use a_society_roles::tool::{Owner, ToolSetting, Toolbox};
use a_society_roles::turn::job::{BegunWith, TurnJob};
use a_society_roles::turn::taker::Taker;
use a_society_state::{FlowRef, Store};
use serde_json::value::RawValue;

use self::hanging::Spot;
use super::super::core::{Core, CoreParts};
use super::super::role_source::{About, PendingChoice, RoleAt, RoleSource, TouchedFiles};
use super::{at, store, walk};
use crate::mint::SeededMint;
use crate::project::docs::ailment::Ailment;
use crate::project::flow_file::{FlowFile, read_kept};
use crate::record::Places;
use crate::run::{NewFlow, create};

mod bounds;
mod budgets;
mod choosing;
mod denying;
pub(super) mod hanging;
mod hung_files;
mod hurrying;
mod puppet;
mod secrets;
mod sessions;
mod settling;
mod windows;

pub(super) const ALONE: &str = r"
workflow:
  name: Alone
  nodes:
    - { id: do, role: owner }
  edges: []
roles:
  owner: { instructions: Do it. }
";

/// What a model says to a conversation.
pub(super) type Says = fn(&[Message]) -> Vec<StreamArrival>;

/// Gives its scripted answers, one a request.
#[derive(Debug, Default)]
pub(super) struct Puppet {
    answers: Mutex<VecDeque<Vec<StreamArrival>>>,
    asked: Mutex<Vec<Vec<Message>>>,
    /// Whether there is no model for what is not a turn.
    is_gone: AtomicBool,
    /// Its answer to a conversation without a script.
    says: Option<Says>,
}

impl Puppet {
    fn will_say(answers: impl IntoIterator<Item = Vec<StreamArrival>>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
            ..Self::default()
        })
    }

    /// One whose answers follow from what it is asked.
    pub(super) fn that_says(says: Says) -> Self {
        Self {
            says: Some(says),
            ..Self::default()
        }
    }

    fn asked(&self) -> Vec<Vec<Message>> {
        self.asked.lock().unwrap().clone()
    }
}

fn fault(class: FaultClass) -> Vec<StreamArrival> {
    vec![StreamArrival::Fault(Box::new(RequestFault::new(
        class,
        "as it was told",
    )))]
}

pub(super) fn answer(text: &str, calls: &[(&str, &str)], used: u64) -> Vec<StreamArrival> {
    let calls = calls.iter().map(|(tool, input)| ModelCall {
        provider_id: "x".into(),
        name: (*tool).into(),
        input: RawValue::from_string((*input).into()).unwrap(),
        fault: None,
    });
    let calls: Vec<ModelCall> = calls.collect();
    let answer = ModelAnswer {
        text: text.into(),
        stop: if calls.is_empty() {
            AnswerStop::End
        } else {
            AnswerStop::Tools
        },
        calls,
        usage: Usage {
            input_tokens: used,
            output_tokens: 1,
            ..Usage::default()
        },
        usage_is_known: true,
        blocks: None,
        request_id: None,
    };
    vec![
        StreamArrival::Event(StreamEvent::Text(text.into())),
        StreamArrival::Answer(Box::new(answer)),
    ]
}

pub(super) fn says(text: &str) -> Vec<StreamArrival> {
    answer(text, &[], 10)
}

pub(super) fn calls(calls: &[(&str, &str)]) -> Vec<StreamArrival> {
    answer("I use a tool.", calls, 10)
}

pub(super) fn closes() -> Vec<StreamArrival> {
    says("Done.\n\n```handoff\ntype: forward-pass-closed\n```")
}

#[derive(Debug, Clone)]
pub(super) struct Actors {
    pub(super) puppet: Arc<Puppet>,
    pub(super) project: PathBuf,
    pub(super) record: PathBuf,
    pub(super) window: u64,
    pub(super) max_output: u64,
    pub(super) most: Option<ConsentMode>,
    /// Whether a model is chosen first.
    pub(super) chooses: bool,
    /// What an earlier version wrote into system prompts.
    pub(super) earlier: &'static str,
    /// Who answers instead of the puppet.
    pub(super) wire: Option<Arc<dyn Provider>>,
    /// The only server of tools that there is.
    pub(super) server: Option<Arc<Servers>>,
    /// Where something outside never comes, if anywhere.
    pub(super) hangs: Option<hanging::Gate>,
    pub(super) lanes: Arc<retry::Lanes>,
}

impl Actors {
    fn tools(&self, role: &RoleInstance) -> Toolbox {
        let owner = Owner {
            flow: "20260527T143000123Z-a1b2c3".parse().unwrap(),
            role: role.clone(),
            node: None,
        };
        Toolbox::open(ToolSetting::new(
            owner,
            self.project.clone(),
            self.record.clone(),
        ))
        .unwrap()
    }

    /// Waits for ever at the place where something hangs.
    fn passes(&self, spot: Spot) {
        if let Some(gate) = &self.hangs {
            gate.pass(spot);
        }
    }

    fn model(&self) -> Model {
        Model {
            name: "puppet".into(),
            id: "puppet-1".into(),
            window: self.window,
            max_output: self.max_output,
            thinking: Thinking::Fixed,
            effort: None,
            images: false,
            prices: None,
        }
    }

    fn gear(&self, job: &TurnJob) -> Gear {
        let tools = self.tools(&job.role);
        tools.remember(Arc::clone(&job.seen));
        let offered = Arc::clone(tools.definitions());
        let puppet = || Arc::clone(&self.puppet) as Arc<dyn Provider>;
        let remote = self.server.as_ref().map(|servers| Remote {
            servers: Arc::clone(servers),
            names: vec!["list".to_owned()],
            newly: Vec::new(),
        });
        Gear {
            provider: self.wire.clone().unwrap_or_else(puppet),
            model: self.model(),
            tools,
            offered,
            remote,
            missing: Vec::new(),
            environment: String::new(),
            ends_by_call: true,
            bounds: crate::config::user::ConfigBounds::default(),
            traffic: Traffic {
                lanes: Arc::clone(&self.lanes),
                now_ms: Arc::new(|| 0),
            },
        }
    }
}

impl RoleSource for Actors {
    fn another(&self) -> Box<dyn RoleSource> {
        Box::new(self.clone())
    }

    fn system_prompt(&mut self, _: &FlowGraph, _: &FlowState, role: &RoleInstance) -> SystemPrompt {
        self.passes(Spot::Prompt);
        SystemPrompt {
            text: format!("You are {role}.{}", self.earlier),
            sources: Vec::new(),
        }
    }

    fn packet(
        &mut self,
        _: &FlowGraph,
        _: &FlowState,
        _: &RoleInstance,
        about: About<'_>,
        _: a_society_roles::handoff::AllowedOutcomes,
    ) -> String {
        self.passes(Spot::Packet);
        format!("{about:?}")
    }

    fn facts(
        &mut self,
        _: &FlowGraph,
        _: &FlowState,
        _: &RoleInstance,
        about: About<'_>,
    ) -> String {
        self.passes(Spot::Facts);
        match about {
            About::Node(_) => "Nothing is received.".to_owned(),
            About::Reflection | About::Feedback => String::new(),
        }
    }

    fn taker(
        &mut self,
        job: TurnJob,
        _: BegunWith,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        self.passes(Spot::Taker);
        let gear = self.gear(&job);
        Ok(Box::new(ModelTaker::new(Arc::new(job), gear, stop)))
    }

    fn summariser(
        &mut self,
        job: TurnJob,
        _wish: Option<&CompactionWish>,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        if self.puppet.is_gone.load(Ordering::SeqCst) {
            return Err("there is no model".to_owned());
        }
        let gear = self.gear(&job);
        Ok(Box::new(ModelTaker::summarising(Arc::new(job), gear, stop)))
    }

    fn choice(
        &mut self,
        _: &FlowGraph,
        state: &FlowState,
        RoleAt { role, .. }: RoleAt<'_>,
        stop: StopSignal,
    ) -> PendingChoice {
        self.passes(Spot::Choice);
        if !self.chooses || state.configurations.contains_key(role) {
            return PendingChoice::Nothing;
        }
        let model = self.model();
        let question = choosing::question();
        PendingChoice::Asks(Box::new(Chooser::new(
            Arc::clone(&self.puppet) as Arc<dyn Provider>,
            model,
            question,
            stop,
        )))
    }

    fn most(&self, _: &RoleInstance) -> Option<ConsentMode> {
        self.passes(Spot::Most);
        self.most
    }

    fn reads_history(&self, _: &RoleInstance) -> bool {
        true
    }

    fn keep_records(&mut self, _: &FlowGraph, _: &FlowState) {}

    fn snapshot(&mut self, source: String) -> Result<FlowFile, String> {
        read_kept(source).map_err(|error| error.to_string())
    }

    fn revised(&mut self, _: &FlowFile) {}

    fn health(&mut self) -> Vec<Ailment> {
        self.passes(Spot::Health);
        Vec::new()
    }

    fn touched(&mut self, role: &RoleInstance, call: &ToolCall) -> TouchedFiles {
        self.passes(Spot::Touched);
        self.tools(role)
            .hashes_now(call)
            .ok()
            .map_or(TouchedFiles::Unknown, TouchedFiles::Has)
    }

    fn grant(
        &mut self,
        _: &FlowState,
        RoleAt { role, .. }: RoleAt<'_>,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Option<Grant> {
        self.passes(Spot::Grant);
        if let Some(servers) = &self.server {
            let tools = servers.tools("list", stop).ok()?;
            return tools.named(&call.name).map(mcp::RemoteTool::grant);
        }
        self.tools(role).plan(call).ok()?.ask.grant()
    }
}

struct World {
    folder: tempfile::TempDir,
    disk: FaultyDisk,
    puppet: Arc<Puppet>,
    window: u64,
    max_output: u64,
    most: Option<ConsentMode>,
    /// Whether a model is chosen first.
    chooses: bool,
    /// What an earlier version wrote into system prompts.
    earlier: &'static str,
    server: Option<Arc<Servers>>,
    hangs: Option<hanging::Gate>,
    lanes: Arc<retry::Lanes>,
}

impl World {
    fn new(puppet: Arc<Puppet>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::create_dir(folder.path().join("record")).unwrap();
        Self {
            folder,
            disk: FaultyDisk::new(),
            puppet,
            window: 0,
            max_output: 100,
            most: None,
            chooses: false,
            earlier: "",
            server: None,
            hangs: None,
            lanes: Arc::default(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    fn actors(&self) -> Box<dyn RoleSource> {
        Box::new(Actors {
            puppet: Arc::clone(&self.puppet),
            project: self.folder.path().join("project"),
            record: self.folder.path().join("record"),
            window: self.window,
            max_output: self.max_output,
            most: self.most,
            chooses: self.chooses,
            earlier: self.earlier,
            wire: None,
            server: self.server.clone(),
            hangs: self.hangs.clone(),
            lanes: Arc::clone(&self.lanes),
        })
    }

    fn parts(&self, seed: u64) -> CoreParts {
        CoreParts {
            roles: self.actors(),
            mint: Box::new(SeededMint(seed)),
            places: Places {
                record: "/w/record".into(),
                project: "/w/project".into(),
                lineage: Vec::new(),
            },
            turns_at_once: 4,
            room: crate::driver::room::Room::new(4),
        }
    }

    fn begin(&self) -> Core {
        self.begin_with(ALONE)
    }

    fn begin_with(&self, flow: &str) -> Core {
        // A project that leaves open how its flows end.
        self.disk.make_folder("/w/project/a-docs".as_ref()).unwrap();
        let new = NewFlow {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: "demo".parse().unwrap(),
            project_folder: "/w/project".into(),
            title: None,
            input: None,
            file: read_kept(flow.to_owned()).unwrap(),
            script: None,
            tokens: None,
            mode: None,
            rules: a_society_facts::fact::operator::ConsentRules::default(),
            chat: None,
            client: None,
        };
        let moment = At::from_ms(1_795_246_169_123);
        let core = create(&store(&self.disk), new, moment, Box::new(SeededMint(1))).unwrap();
        let flow = at(&core);
        drop(core);
        self.open(&store(&self.disk), &flow, 2)
    }

    fn open(&self, store: &Store, flow: &FlowRef, seed: u64) -> Core {
        let (opened, _) = store.open(flow).unwrap();
        Core::take_over(opened, self.parts(seed)).unwrap()
    }

    fn facts(&self, core: &Core) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut follower = store(&self.disk).follow(&at(core)).unwrap();
        follower
            .read(&mut |recorded| facts.extend(recorded.fact().cloned()))
            .unwrap();
        facts
    }

    /// How the calls of the flow ended, in order.
    fn ends(&self, core: &Core) -> Vec<(String, CallEnd)> {
        let ends = self.facts(core).into_iter().filter_map(|fact| {
            if let Fact::CallFinished(finished) = fact {
                Some((finished.tool, finished.end))
            } else {
                None
            }
        });
        ends.collect()
    }

    /// The process dies and another one takes over.
    fn die(&mut self, core: Core) -> Core {
        let flow = at(&core);
        drop(core);
        self.disk = self.disk.kill_clone();
        self.open(&store(&self.disk), &flow, 3)
    }
}

fn waits_for(core: &Core) -> Option<WaitReason> {
    core.state()
        .waits()
        .next()
        .map(|(_, waiting)| waiting.reason)
}

fn consent(core: &Core) -> ConsentId {
    core.state().consents.keys().next().unwrap().clone()
}

fn answer_consent(core: &mut Core, command: Verb) {
    core.obey(command, None).unwrap();
}

const WRITE: (&str, &str) = ("write_file", r#"{"path":"a.txt","content":"new\n"}"#);

#[test]
fn an_edit_waits_for_consent_over_a_death_and_happens_once_it_is_given() {
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Consent));
    let before = consent(&core);
    let mut core = world.die(core);
    walk(&mut core, 1000);
    assert_eq!(consent(&core), before, "the request is the same one");
    assert_eq!(world.read("a.txt"), None);
    answer_consent(
        &mut core,
        Verb::Allow {
            consent: None,
            action: None,
            for_the_flow: false,
        },
    );
    walk(&mut core, 1000);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));
    assert_eq!(
        world.ends(&core),
        [("write_file".to_owned(), CallEnd::Done)]
    );
    assert_eq!(world.puppet.asked().len(), 2, "nothing was asked twice");
}

#[test]
fn what_is_allowed_for_the_flow_is_not_asked_again() {
    let other = ("write_file", r#"{"path":"b.txt","content":"b"}"#);
    let world = World::new(Puppet::will_say([
        calls(&[WRITE]),
        calls(&[other]),
        closes(),
    ]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    answer_consent(
        &mut core,
        Verb::Allow {
            consent: None,
            action: None,
            for_the_flow: true,
        },
    );
    walk(&mut core, 1000);
    assert_eq!(world.read("b.txt").as_deref(), Some("b"));
    assert_eq!(core.state().consent_mode, ConsentMode::PartialAccess);
    assert!(core.state().grants.contains(&Grant::Edits));
}

#[test]
fn what_has_changed_since_it_was_allowed_does_not_run() {
    let edit = ("edit_file", r#"{"path":"a.txt","old":"one","new":"two"}"#);
    let mut world = World::new(Puppet::will_say([calls(&[edit]), closes()]));
    world.write("a.txt", "one");
    let mut core = world.begin();
    walk(&mut core, 1000);
    let action = core.state().consents[&consent(&core)].action;
    let other = Verb::Allow {
        consent: None,
        action: Some(Hash::of(b"other")),
        for_the_flow: false,
    };
    assert!(
        core.obey(other, None).is_err(),
        "an answer to something else"
    );
    let allow = Verb::Allow {
        consent: None,
        action: Some(action),
        for_the_flow: false,
    };
    answer_consent(&mut core, allow);
    // The folder is another one by the time the call would run.
    std::fs::rename(
        world.folder.path().join("project"),
        world.folder.path().join("old"),
    )
    .unwrap();
    std::fs::create_dir(world.folder.path().join("project")).unwrap();
    world.write("a.txt", "one, and more");
    let mut core = world.die(core);
    walk(&mut core, 1000);
    assert_ne!(world.read("a.txt").as_deref(), Some("two, and more"));
}

#[test]
fn full_access_asks_nothing() {
    let world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    let mut core = world.begin();
    let mode = Verb::Mode {
        mode: ConsentMode::FullAccess,
    };
    core.obey(mode, None).unwrap();
    walk(&mut core, 1000);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));
    assert!(core.state().consents.is_empty());
}

#[test]
fn a_role_that_may_do_less_than_its_flow_goes_on_asking() {
    let mut world = World::new(Puppet::will_say([calls(&[WRITE]), closes()]));
    world.most = Some(ConsentMode::NoAccess);
    let mut core = world.begin();
    let mode = Verb::Mode {
        mode: ConsentMode::FullAccess,
    };
    core.obey(mode.clone(), None).unwrap();
    walk(&mut core, 1000);
    let before = consent(&core);
    // Neither another process nor saying the mode again answers for the operator.
    let mut core = world.die(core);
    core.obey(mode, None).unwrap();
    walk(&mut core, 1000);
    assert_eq!(
        (consent(&core), waits_for(&core)),
        (before, Some(WaitReason::Consent))
    );
    assert_eq!(world.read("a.txt"), None);
    answer_consent(
        &mut core,
        Verb::Allow {
            consent: None,
            action: None,
            for_the_flow: false,
        },
    );
    walk(&mut core, 1000);
    assert_eq!(world.read("a.txt").as_deref(), Some("new\n"));
}

#[test]
fn a_request_that_could_cost_more_than_is_left_does_not_leave() {
    let world = World::new(Puppet::will_say([closes()]));
    let mut core = world.begin();
    let set = |limit| Verb::Budget {
        role: None,
        measure: Measure::Tokens,
        limit: Some(limit),
    };
    core.obey(set(50), None).unwrap();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Budget));
    assert!(world.puppet.asked().is_empty());
    core.obey(set(1_000_000), None).unwrap();
    walk(&mut core, 1000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 1));
}

#[test]
fn a_window_that_is_nearly_full_is_emptied_and_the_turn_goes_on() {
    let long = "x".repeat(4000);
    let mut world = World::new(Puppet::will_say([
        answer(&long, &[("read_file", r#"{"path":"a.txt"}"#)], 900),
        says("The role read a.txt."),
        closes(),
    ]));
    world.window = 1000;
    world.write("a.txt", "what it holds");
    let mut core = world.begin();
    walk(&mut core, 1000);
    let session = core
        .flow()
        .views()
        .session(&"owner".parse().unwrap())
        .unwrap();
    assert_eq!(session.archives.len(), 1);
    let asked = world.puppet.asked();
    let [Message::User { content }] = &asked[2][..] else {
        panic!("one message stands for all: {:?}", asked[2])
    };
    assert!(content.contains("The role read a.txt."), "{content}");
    assert!(core.state().turns.is_empty());
}

#[test]
fn a_request_that_fails_is_sent_again_and_one_that_cannot_succeed_is_not() {
    let world = World::new(Puppet::will_say([fault(FaultClass::Overloaded), closes()]));
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!((world.puppet.asked().len(), waits_for(&core)), (2, None));
    for (class, reason) in [
        (FaultClass::Key, WaitReason::Provider),
        (FaultClass::BadRequest, WaitReason::AutonomousAbort),
    ] {
        let world = World::new(Puppet::will_say([fault(class), closes()]));
        let mut core = world.begin();
        walk(&mut core, 1000);
        assert_eq!(
            (world.puppet.asked().len(), waits_for(&core)),
            (1, Some(reason))
        );
    }
}

/// Whatever step a death comes after, the file is written once and every call has one result.
#[test]
fn a_death_after_any_step_of_a_models_turn_loses_and_repeats_nothing() {
    let edit = (
        "edit_file",
        r#"{"path":"n.txt","old":"one","new":"one one"}"#,
    );
    for steps in 0.. {
        let answers = || {
            [
                calls(&[("read_file", r#"{"path":"n.txt"}"#), edit]),
                closes(),
            ]
        };
        // A request that was cut off is asked again, so that answers may be needed twice.
        let [first, second] = answers();
        let mut world = World::new(Puppet::will_say([first, second]));
        world.write("n.txt", "one");
        let mut core = world.begin();
        let mode = Verb::Mode {
            mode: ConsentMode::FullAccess,
        };
        core.obey(mode, None).unwrap();
        let taken = walk(&mut core, steps);
        let asked = world.puppet.asked().len();
        let is_answer = |fact: &Fact| matches!(fact, Fact::ModelAnswered(_));
        let answered = world.facts(&core).into_iter().filter(is_answer).count();
        let mut core = world.die(core);
        if answered < asked {
            let again = answers().into_iter().skip(answered);
            *world.puppet.answers.lock().unwrap() = again.collect();
        }
        walk(&mut core, 1000);
        assert_eq!(
            world.read("n.txt").as_deref(),
            Some("one one"),
            "after {steps} steps"
        );
        assert!(
            core.state().turns.is_empty(),
            "after {steps} steps: {:?}",
            core.state().turns
        );
        assert_eq!(
            world.ends(&core).len(),
            2,
            "after {steps} steps: {:?}",
            world.ends(&core)
        );
        if taken < steps {
            break;
        }
    }
}
