//! The roles of one flow: who they are, which packets they get, and what plays them.
//!
//! A role of a self-contained file is defined there. Its packet is built from the
//! flow's state alone, so that a turn that begins after a crash begins with the same words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::node::NodeEntry;
use a_society_facts::fact::operator::{ChosenBy, ConsentMode, Grant};
use a_society_facts::fact::session::CompactionWish;
use a_society_facts::handoff::{Artifact, Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::RunningNode;
use a_society_flow::graph::{Executor, FlowGraph, InlineRole, PermissionMode, RoleName};
use a_society_flow::machine::{findings_path, report_path};
use a_society_roles::consent::policy::Judged;
use a_society_roles::handoff::AllowedOutcomes;
use a_society_roles::port::{RecordAccess, RecordPath};
use a_society_roles::role::compaction::flow_facts;
use a_society_roles::role::definition::{
    ArtifactArrival, ArtifactContent, DraftingBriefing, Entrance, EntryKind, FeedbackBriefing,
    FlowInput, Picture, ReadingText, Received, ReflectionBriefing, RoleBriefing, SentArtifact,
    Skill,
};
use a_society_roles::role::packet;
use a_society_roles::role::prompt::{self, SystemPrompt};
use a_society_roles::taker::command::CommandTaker;
use a_society_roles::taker::human::HumanTaker;
use a_society_roles::taker::scripted::{RoleScript, ScriptPhase, ScriptedTaker};
use a_society_roles::tool::{ToolReach, WorkflowCheck, is_small_window};
use a_society_roles::turn::job::{BegunWith, TurnJob};
use a_society_roles::turn::taker::Taker;
use a_society_state::FlowPlace;
use a_society_state::disk::Kind;
use a_society_state::files::read_whole;
use serde::Deserialize;

use super::bench::Bench;
use super::choices::{RoleChoices, SCOPE, SKILLS};
use super::compactor;
use super::handoff_history::{in_order_of_the_graph, last_passed, passed_before};
use super::{program, records};
use crate::config::programs;
use crate::driver::role_source::{
    About, KnownCall, PendingChoice, RoleAt, RoleSource, TouchedFiles,
};
use crate::limits::{
    ARTIFACTS_SHARE_PERCENT, BYTES_A_TOKEN, FLOW_FILE_BYTES_MAX, PROJECT_FILE_BYTES_MAX,
    READINGS_PARTS, SHOWN_ARTIFACT_BYTES_MAX, SHOWN_FINDINGS_BYTES_MAX, UNKNOWN_WINDOW_TOKENS,
};
use crate::project::docs::ailment::{Ailment, ailments};
use crate::project::docs::folder::{self, Sayings, over_canonical_of};
use crate::project::docs::library::Library;
use crate::project::flow_file::{self, FlowFile, SNAPSHOT_NAME};
use crate::record::named_in_record;

/// The roles of one flow.
#[derive(Debug, Clone)]
pub(crate) struct Workshop {
    /// Where the flow is kept.
    pub place: FlowPlace,
    /// The roles its file defines.
    pub roles: Arc<BTreeMap<RoleName, InlineRole>>,
    /// The script, if turns are taken by one.
    pub script: Option<RoleScript>,
    /// The record folder.
    pub files: Arc<dyn RecordAccess>,
    /// What the project gives roles to read.
    pub library: Arc<Library>,
    /// The project's folder, if the roles come from there.
    pub home: Option<PathBuf>,
    /// What models work with.
    pub bench: Arc<Bench>,
}

impl Workshop {
    fn definition(&self, role: &RoleInstance) -> Option<&InlineRole> {
        self.roles
            .iter()
            .find(|(name, _)| name.to_string() == role.base())
            .map(|(_, role)| role)
    }

    /// What plays a role: a script that was given plays models, too.
    fn executor(&self, role: &RoleInstance) -> Executor {
        let named = self
            .definition(role)
            .map_or(Executor::Model, InlineRole::executor);
        match (named, &self.script) {
            (Executor::Model | Executor::Scripted, Some(_)) => Executor::Scripted,
            (named, _) => named,
        }
    }

    /// How far a role's tools reach, if its configuration can be read.
    fn reach(&self, state: &FlowState, role: &RoleInstance) -> Option<ToolReach> {
        let settings = settings_of(state, role);
        self.bench.reach(self.definition(role), settings).ok()
    }

    /// All that an artifact says; nothing if it is not text.
    fn whole_text_of(&self, artifact: &Artifact) -> Option<String> {
        match &artifact.text {
            Some(text) => Some(text.clone()),
            None => {
                let bytes = self.place.whole_blob(artifact.hash).ok()?;
                String::from_utf8(bytes).ok()
            }
        }
    }

    fn text_of(&self, artifact: &Artifact, most: usize) -> Option<String> {
        let mut text = self.whole_text_of(artifact)?;
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            text.push_str("\n[… the rest is in the file]");
        }
        Some(text)
    }

    fn entrance(
        &self,
        graph: &FlowGraph,
        state: &FlowState,
        node: &NodeId,
        allowed: AllowedOutcomes,
    ) -> Entrance {
        let running = state.running.get(node);
        let described = graph.node(node);
        let at = running.map_or_else(String::new, |running| running.since.to_string());
        Entrance {
            node: node.to_string(),
            at,
            kind: kind_of(running),
            input: self.input(state, node),
            is_operators: described
                .is_some_and(|node| self.executor(&node.role) == Executor::Human),
            is_human_colab: described.is_some_and(|node| node.is_human_colab()),
            work: described.map_or_else(Vec::new, |node| node.work().to_vec()),
            readings: described.map_or_else(Vec::new, |node| {
                self.readings(state, &node.role, node.required_readings())
            }),
            known_readings: described.map_or_else(Vec::new, |node| self.known(&node.role)),
            picture: self.picture(state, node, running),
            draft: state.draft.then(|| self.draft()),
            allowed,
        }
    }

    /// What a role needs to write the graph of a flow that has none.
    fn draft(&self) -> DraftingBriefing {
        let first_line = |role: &InlineRole| {
            let text = role.instructions.as_deref().unwrap_or_default();
            let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim());
            lines.find(|line| !line.is_empty()).map(str::to_owned)
        };
        let roles = self.roles.iter();
        let roles =
            roles.map(|(name, role)| (name.to_string(), first_line(role).unwrap_or_default()));
        let graph = self.home.as_deref().and_then(|home| {
            let file = folder::workflow_of(home);
            let bytes = read_whole(self.place.disk(), &file, PROJECT_FILE_BYTES_MAX).ok()?;
            let path = file.strip_prefix(home).unwrap_or(&file);
            Some(ReadingText {
                path: path.display().to_string(),
                variable: None,
                text: String::from_utf8(bytes).ok()?,
            })
        });
        DraftingBriefing {
            roles: roles.collect(),
            graph,
        }
    }

    /// The part of the flow's input in a node's packet: where the flow begins all of it, elsewhere its path.
    fn input(&self, state: &FlowState, node: &NodeId) -> Option<FlowInput> {
        let kept = state.input.as_ref()?;
        let begins = state.graph.entering(node).next().is_none();
        let whole = begins.then(|| self.place.whole_text(kept).ok());
        let path = || FlowInput::At(format!("record/{}", records::INPUT_NAME));
        Some(whole.flatten().map_or_else(path, FlowInput::Whole))
    }

    /// Puts the file of the input back if it is not there any more, because roles are sent to it.
    fn put_input_back(&self, state: &FlowState) {
        let Some(kept) = &state.input else { return };
        let bytes = kept
            .blob()
            .map_or(kept.beginning().len() as u64, |blob| blob.bytes);
        let place = self.place.record().join(records::INPUT_NAME);
        let there = self.place.disk().about(&place);
        if there.is_ok_and(|about| about.kind == Kind::File && about.size_bytes == bytes) {
            return;
        }
        if let Ok(text) = self.place.whole_text(kept) {
            let path = RecordPath::of_name(records::INPUT_NAME);
            drop(self.files.write(&path, text.as_bytes()));
        }
    }

    /// The names of what a role reads before everything else.
    fn role_readings(&self, role: &RoleInstance) -> &[String] {
        let definition = self.definition(role);
        let named = definition.and_then(|role| role.required_readings.as_deref());
        named.unwrap_or_default()
    }

    /// The window of a role's model if it is a small one.
    fn small_window(&self, state: &FlowState, role: &RoleInstance) -> Option<u64> {
        if self.executor(role) != Executor::Model {
            return None;
        }
        let settings = settings_of(state, role);
        let window = self.bench.window(self.definition(role), settings)?;
        is_small_window(window).then_some(window)
    }

    /// Readings of these names for a role: in a small window as many whole ones as fit into their
    /// share of it, the shortest first, and the others by their paths. Who has no tools could read
    /// nothing by its path.
    fn readings(
        &self,
        state: &FlowState,
        role: &RoleInstance,
        names: &[String],
    ) -> Vec<ReadingText> {
        let readings = self.library.readings(names);
        let tools = self.definition(role).and_then(|role| role.tools.as_ref());
        let has_tools = tools.is_none_or(|tools| !tools.is_empty());
        let Some(window) = self.small_window(state, role).filter(|_| has_tools) else {
            return readings;
        };
        let mut room = window.saturating_mul(BYTES_A_TOKEN) / READINGS_PARTS;
        let mut shortest: Vec<usize> = (0..readings.len()).collect();
        shortest.sort_by_key(|at| readings.get(*at).map(|reading| reading.text.len()));
        let mut whole = BTreeSet::new();
        for at in shortest {
            let bytes = readings.get(at).map_or(0, |it| it.text.len() as u64);
            let Some(left) = room.checked_sub(bytes) else {
                break;
            };
            room = left;
            whole.insert(at);
        }
        let each = readings.into_iter().enumerate();
        each.map(|(at, reading)| {
            if whole.contains(&at) {
                reading
            } else {
                reading.by_its_path()
            }
        })
        .collect()
    }

    /// The paths of what a role has read for its system prompt.
    fn known(&self, role: &RoleInstance) -> Vec<String> {
        let names = self.role_readings(role).iter();
        let paths = names.filter_map(|name| self.library.path_of(name));
        paths.map(str::to_owned).collect()
    }

    fn sayings(&self) -> Sayings {
        let home = self.home.as_deref();
        home.map_or_else(Sayings::default, |home| {
            folder::sayings(self.place.disk(), home)
        })
    }

    fn picture(&self, state: &FlowState, node: &NodeId, running: Option<&RunningNode>) -> Picture {
        let read = running.map_or(&[][..], |running| &running.received);
        let received = self.all_received(state, &in_order_of_the_graph(state, node, read));
        let come = |edge: &EdgeName| {
            state.completed_edges.contains(edge)
                || read.iter().any(|delivery| delivery.edge == *edge)
        };
        let entering = state.graph.entering(node);
        let not_yet = entering
            .filter(|edge| !come(&edge.edge))
            .map(|e| e.edge.from.to_string());
        let leaving: Vec<_> = state.graph.leaving(node).collect();
        let done = |edge: &EdgeName| state.completed_edges.contains(edge);
        let sent = leaving
            .iter()
            .filter(|edge| done(&edge.edge))
            .map(|edge| SentArtifact {
                node: edge.edge.to.to_string(),
                path: last_passed(state, &edge.edge),
            });
        let dropped = running.map_or(&[][..], |running| &running.dropped);
        Picture {
            received,
            not_yet_received: not_yet.collect(),
            sent: sent.collect(),
            dropped: dropped
                .iter()
                .map(|edge| SentArtifact {
                    node: edge.from.to_string(),
                    path: last_passed(state, edge),
                })
                .collect(),
        }
    }

    /// What arrived: whole, the shortest first, as long as all of it together leaves the model room to
    /// work.
    fn all_received(&self, state: &FlowState, deliveries: &[&Delivery]) -> Vec<Received> {
        let role = deliveries.first().and_then(|delivery| {
            let running = state.running.get(delivery.receiver())?;
            Some(&running.role)
        });
        let mut room = self.room_bytes(state, role);
        let mut shortest: Vec<usize> = (0..deliveries.len()).collect();
        shortest.sort_by_key(|at| deliveries.get(*at).map(|it| it.artifact.bytes));
        let mut shown = BTreeSet::new();
        for at in shortest {
            let bytes = deliveries.get(at).map_or(0, |it| it.artifact.bytes);
            if bytes > room {
                break;
            }
            room -= bytes;
            shown.insert(at);
        }
        let each = deliveries.iter().enumerate();
        each.map(|(at, delivery)| self.received(state, delivery, shown.contains(&at)))
            .collect()
    }

    /// How many bytes of artifacts a packet holds.
    fn room_bytes(&self, state: &FlowState, role: Option<&RoleInstance>) -> u64 {
        let known = role.and_then(|role| {
            let settings = settings_of(state, role);
            let is_model = self.executor(role) == Executor::Model;
            is_model.then(|| self.bench.window(self.definition(role), settings))?
        });
        let window = known.filter(|window| *window > 0);
        let tokens = window.unwrap_or(UNKNOWN_WINDOW_TOKENS);
        tokens.saturating_mul(ARTIFACTS_SHARE_PERCENT) / 100 * BYTES_A_TOKEN
    }

    fn received(&self, state: &FlowState, delivery: &Delivery, is_shown: bool) -> Received {
        let (from, arrival) = match delivery.way {
            HandoffWay::Backward => (&delivery.edge.to, ArtifactArrival::SentBack),
            HandoffWay::Forward if passed_before(state, &delivery.edge) => {
                (&delivery.edge.from, ArtifactArrival::Corrected)
            }
            HandoffWay::Forward => (&delivery.edge.from, ArtifactArrival::Forward),
        };
        Received {
            from: from.to_string(),
            path: delivery.artifact.path.clone(),
            arrival,
            bytes: delivery.artifact.bytes,
            content: if is_shown {
                let text = self.whole_text_of(&delivery.artifact);
                text.map_or(ArtifactContent::NotText, ArtifactContent::Whole)
            } else {
                ArtifactContent::TooLong
            },
        }
    }

    /// The findings of roles, as readings.
    fn findings(&self, state: &FlowState, of: &[RoleInstance]) -> Vec<ReadingText> {
        let improvement = state.improvement.iter();
        let roles = improvement.flat_map(|improvement| &improvement.roles);
        let wanted = roles.filter(|(role, _)| of.contains(role));
        let found = wanted.filter_map(|(_, role)| role.findings.as_ref());
        let share = SHOWN_FINDINGS_BYTES_MAX / of.len().max(1);
        let most = share.min(SHOWN_ARTIFACT_BYTES_MAX);
        found
            .map(|artifact| ReadingText {
                path: artifact.path.clone(),
                variable: None,
                text: self.text_of(artifact, most).unwrap_or_else(|| {
                    // Not text, or gone from the blobs: the file may still be there.
                    "[not text; open the file]".to_owned()
                }),
            })
            .collect()
    }

    fn reflection(&self, state: &FlowState, role: &RoleInstance) -> String {
        let plan = state
            .improvement
            .iter()
            .flat_map(|improvement| &improvement.plan);
        let mine = plan.filter(|step| step.role == *role);
        let after: Vec<RoleInstance> = mine.flat_map(|step| step.after.clone()).collect();
        packet::reflection_packet(&ReflectionBriefing {
            guide: self.sayings().guide,
            findings_path: findings_path(role),
            findings: self.findings(state, &after),
        })
    }

    fn feedback(&self, state: &FlowState) -> String {
        let improvement = state.improvement.iter();
        let all: Vec<RoleInstance> = improvement
            .flat_map(|improvement| improvement.roles.keys().cloned())
            .collect();
        packet::feedback_packet(&FeedbackBriefing {
            flow_title: state.title.clone(),
            report_path: report_path().to_owned(),
            findings: self.findings(state, &all),
        })
    }
}

/// Whether a role has only instructions and readings. A file that a role writes gives a role no more
/// than that.
fn is_only_told(role: &InlineRole) -> bool {
    let told = InlineRole {
        instructions: role.instructions.clone(),
        required_readings: role.required_readings.clone(),
        ..InlineRole::default()
    };
    *role == told
}

/// What a role wrote in the place of its flow's graph, with everything that is wrong with it.
fn judged(
    roles: &BTreeMap<RoleName, InlineRole>,
    of_project: bool,
    source: String,
) -> Result<FlowFile, String> {
    if source.len() as u64 > FLOW_FILE_BYTES_MAX {
        return Err(format!("it is longer than {FLOW_FILE_BYTES_MAX} bytes"));
    }
    let known: BTreeSet<RoleName> = roles.keys().cloned().collect();
    let (file, found) = flow_file::inspect_with_roles(source, &known);
    let file = file.ok_or_else(|| {
        let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
        let lines: Vec<String> = errors.map(ToString::to_string).collect();
        lines.join("\n")
    })?;
    if of_project && file.defines_roles {
        // With roles of its own the flow would leave the project's rules and its health checks.
        return Err("the roles of this flow come from its project; leave `roles` out".to_owned());
    }
    let defined = file.roles.iter().filter(|_| file.defines_roles);
    let mut widened = defined.filter(|(name, role)| {
        let same = roles.get(*name) == Some(*role);
        !same && !is_only_told(role)
    });
    match widened.next() {
        None => Ok(file),
        Some((name, _)) => Err(format!(
            "the role `{name}` may be given nothing but instructions and required_readings \
                 here; who takes its turns, its tools, permissions and budget are the operator's"
        )),
    }
}

/// What was chosen for a role.
fn settings_of<'a>(state: &'a FlowState, role: &RoleInstance) -> &'a BTreeMap<String, String> {
    static NOTHING: BTreeMap<String, String> = BTreeMap::new();
    let chosen = state.configurations.get(role);
    chosen.map_or(&NOTHING, |chosen| &chosen.settings)
}

/// Whether a skill is in the project, so that its path is the same on every machine.
fn is_of_project(skill: &Skill) -> bool {
    Path::new(&skill.path).is_relative()
}

fn kind_of(running: Option<&RunningNode>) -> EntryKind {
    match running.map(|running| running.entry) {
        Some(NodeEntry::Reopened) => EntryKind::Reopened,
        Some(NodeEntry::Again | NodeEntry::Reply | NodeEntry::Recovered) => EntryKind::Again,
        Some(NodeEntry::First | NodeEntry::Configured) | None => EntryKind::First,
    }
}

impl RoleSource for Workshop {
    fn another(&self) -> Box<dyn RoleSource> {
        Box::new(self.clone())
    }

    fn waits(&self, role: &RoleInstance) -> bool {
        let is_scripted = self.executor(role) == Executor::Scripted;
        // All that a turn of a script begins with is in the flow's own folder then.
        !is_scripted || self.home.is_some() || !self.role_readings(role).is_empty()
    }

    fn system_prompt(
        &mut self,
        _: &FlowGraph,
        state: &FlowState,
        role: &RoleInstance,
    ) -> SystemPrompt {
        let definition = self.definition(role);
        let instructions = definition.and_then(|role| role.instructions.clone());
        let of_project = self.home.is_some();
        let path = |path: String| if of_project { path } else { String::new() };
        let reading = |path, text| ReadingText {
            path,
            variable: None,
            text,
        };
        let tools = definition.and_then(|role| role.tools.as_ref());
        let skills = match self.executor(role) {
            Executor::Model => self.bench.skills(definition, settings_of(state, role)),
            Executor::Scripted | Executor::Human | Executor::Command => Vec::new(),
        };
        let rules = self.sayings().rules;
        prompt::system_prompt(&RoleBriefing {
            role: reading(
                path(folder::role_file(role.base())),
                instructions.unwrap_or_default(),
            ),
            rules: rules.map(|rules| reading(path(folder::rules_file()), rules)),
            readings: self.readings(state, role, self.role_readings(role)),
            // The paths of others differ from machine to machine.
            skills: skills.into_iter().filter(is_of_project).collect(),
            has_tools: tools.is_none_or(|tools| !tools.is_empty()),
            shows_blocks: self.small_window(state, role).is_some(),
            chat: state.chat.as_ref().map(|chat| chat.context.clone()),
        })
    }

    fn packet(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        role: &RoleInstance,
        about: About<'_>,
        allowed: AllowedOutcomes,
    ) -> String {
        let packet = match about {
            About::Node(node) => {
                self.put_input_back(state);
                packet::entry_packet(&self.entrance(graph, state, node, allowed))
            }
            About::Reflection => self.reflection(state, role),
            About::Feedback => self.feedback(state),
        };
        match self.bench.background.ended_with_turn(role) {
            ended if ended.is_empty() => packet,
            ended => format!(
                "Ended with your last turn: {}.\n\n{packet}",
                ended.join(", ")
            ),
        }
    }

    fn facts(
        &mut self,
        _: &FlowGraph,
        state: &FlowState,
        _: &RoleInstance,
        about: About<'_>,
    ) -> String {
        match about {
            About::Node(node) => flow_facts(&self.picture(state, node, state.running.get(node))),
            About::Reflection | About::Feedback => String::new(),
        }
    }

    fn reads_history(&self, role: &RoleInstance) -> bool {
        match self.executor(role) {
            Executor::Model => true,
            Executor::Scripted | Executor::Human | Executor::Command => false,
        }
    }

    fn hears(&self, role: &RoleInstance) -> bool {
        match self.executor(role) {
            Executor::Model | Executor::Scripted => true,
            Executor::Human | Executor::Command => false,
        }
    }

    fn taker(
        &mut self,
        job: TurnJob,
        begun_with: BegunWith,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        let role = job.role.clone();
        let (job, files) = (Arc::new(job), Arc::clone(&self.files));
        match (self.executor(&role), &self.script) {
            (Executor::Scripted, Some(script)) => {
                Ok(Box::new(ScriptedTaker::new(script, job, files)))
            }
            (Executor::Scripted, None) => Err(format!(
                "{role} follows a script, and the flow was started without one"
            )),
            (Executor::Model, _) => {
                let (roles, of_project) = (Arc::clone(&self.roles), self.home.is_some());
                let check = move |text: &str| judged(&roles, of_project, text.to_owned()).map(drop);
                let check = WorkflowCheck(Arc::new(check));
                let definition = self.definition(&role);
                Ok(self.bench.taker(job, definition, check, stop))
            }
            (Executor::Human, _) => Ok(Box::new(HumanTaker::new(job, begun_with))),
            // It has nothing to look back with, and what it does must not be done once more for it.
            (Executor::Command, _) if ScriptPhase::of(&job) == ScriptPhase::MetaAnalysis => {
                let text = program::in_place_of_findings(&role, self.definition(&role));
                let script = RoleScript::in_place_of_findings(role, text);
                Ok(Box::new(ScriptedTaker::new(&script, job, files)))
            }
            (Executor::Command, _) => {
                let definition = self.definition(&role);
                let command = definition.and_then(|role| role.command.as_ref());
                let Some(command) = command else {
                    return Err(format!("{role} is a program, and its file names none"));
                };
                let (spec, environment) = (program::spec(command), programs::environment());
                let taker = CommandTaker::new(job, begun_with, spec, environment, files, stop);
                Ok(Box::new(taker))
            }
        }
    }

    fn summariser(
        &mut self,
        job: TurnJob,
        wish: Option<&CompactionWish>,
        stop: StopSignal,
    ) -> Result<Box<dyn Taker>, String> {
        if let Some(wish) = wish.filter(|wish| compactor::asks_no_model(wish)) {
            return compactor::taker(Arc::new(job), *wish, stop);
        }
        let definition = self.definition(&job.role);
        self.bench.summariser(Arc::new(job), definition, stop)
    }

    fn choice(
        &mut self,
        graph: &FlowGraph,
        state: &FlowState,
        RoleAt { role, node }: RoleAt<'_>,
        stop: StopSignal,
    ) -> PendingChoice {
        if self.executor(role) != Executor::Model {
            return PendingChoice::Nothing;
        }
        let definition = self.definition(role);
        let configured = state.configurations.get(role);
        let choices = RoleChoices {
            settings: settings_of(state, role),
            // An operator's choice replaces defaults, except for the tool scope.
            is_whole: configured.is_some_and(|chosen| {
                let says_more = chosen.settings.keys().any(|key| key != SCOPE);
                chosen.by == ChosenBy::Operator && says_more
            }),
            definition,
            models: &self.bench.models,
        };
        let open = choices.open();
        if open.is_empty() {
            return PendingChoice::Nothing;
        }
        let work = node.and_then(|node| graph.node(node));
        let work = work.map_or(&[][..], |node| node.work());
        let told = [
            format!("The role {role} of the flow {:?}.", state.title),
            definition
                .and_then(|role| role.instructions.clone())
                .unwrap_or_default(),
            work.join("\n"),
        ];
        choices.ask(&self.bench, open, told.join("\n\n"), stop)
    }

    fn is_outdated(&self, state: &FlowState, role: &RoleInstance, prompt: &str) -> bool {
        let settings = settings_of(state, role);
        if self.executor(role) != Executor::Model || !settings.contains_key(SKILLS) {
            return false;
        }
        let chosen = self.bench.skills(self.definition(role), settings);
        let is_chosen = |skill: &Skill| chosen.contains(skill);
        let all = self.bench.all_skills();
        let mut all = all.iter().filter(|skill| is_of_project(skill));
        all.any(|skill| prompt.contains(&format!("(`{}`)", skill.path)) != is_chosen(skill))
    }

    fn most(&self, role: &RoleInstance) -> Option<ConsentMode> {
        let permissions = self
            .definition(role)
            .and_then(|role| role.permissions.as_ref());
        let own = permissions.and_then(|permissions| permissions.mode);
        let own = own.map(|mode| match mode {
            PermissionMode::NoAccess => ConsentMode::NoAccess,
            PermissionMode::PartialAccess => ConsentMode::PartialAccess,
            PermissionMode::FullAccess => ConsentMode::FullAccess,
        });
        let both = own.into_iter().chain(self.bench.most());
        both.min()
    }

    fn clear_halves(&mut self, role: &RoleInstance, call: &ToolCall) {
        if self.executor(role) == Executor::Model {
            self.bench.clear_halves(role, call);
        }
    }

    fn touched(&mut self, role: &RoleInstance, call: &ToolCall) -> TouchedFiles {
        if self.executor(role) == Executor::Model {
            return self.bench.touched(role, call);
        }
        #[derive(Deserialize)]
        struct WrittenPath {
            path: String,
        }
        let written: Option<WrittenPath> = serde_json::from_str(call.input.get()).ok();
        let path = written.and_then(|written| {
            let path = named_in_record(&written.path).unwrap_or(&written.path);
            RecordPath::parse(path).ok()
        });
        match path.map(|path| self.files.read(&path)) {
            Some(Ok(bytes)) => TouchedFiles::Has(vec![bytes.map(|bytes| Hash::of(&bytes))]),
            Some(Err(_)) | None => TouchedFiles::Unknown,
        }
    }

    fn grant(
        &mut self,
        state: &FlowState,
        whose: RoleAt<'_>,
        call: &ToolCall,
        stop: &StopSignal,
    ) -> Option<Grant> {
        let reach = self.reach(state, whose.role)?;
        self.bench.grant(whose, reach, call, stop)
    }

    fn ruled(
        &mut self,
        state: &FlowState,
        whose: RoleAt<'_>,
        call: &ToolCall,
        known: KnownCall<'_>,
    ) -> Option<Judged> {
        let reach = self.reach(state, whose.role)?;
        self.bench.ruled(whose, reach, &state.rules, call, known)
    }

    fn keep_records(&mut self, graph: &FlowGraph, state: &FlowState) {
        let improvement = records::improvement(state);
        let whole = |kept| self.place.whole_text(kept).ok();
        let all = [
            (records::RECORD_NAME, Some(records::record(graph, state))),
            (records::IMPROVEMENT_NAME, improvement),
            (records::INPUT_NAME, state.input.as_ref().and_then(whole)),
        ];
        for (name, text) in all {
            let (path, Some(text)) = (RecordPath::of_name(name), text) else {
                continue;
            };
            let kept = self.files.read(&path).ok().flatten();
            if kept.as_deref() != Some(text.as_bytes()) {
                drop(self.files.write(&path, text.as_bytes()));
            }
        }
    }

    fn snapshot(&mut self, source: String) -> Result<FlowFile, String> {
        let file = judged(&self.roles, self.home.is_some(), source)?;
        self.contract(file)
    }

    fn contract(&mut self, file: FlowFile) -> Result<FlowFile, String> {
        match &self.home {
            Some(home) => over_canonical_of(self.place.disk(), home, file)
                .map_err(|fault| format!("it cannot be laid over the project's graph: {fault}")),
            None => Ok(file),
        }
    }

    fn answers_at_most(&self) -> u32 {
        self.bench.models.bounds().answers
    }

    fn revised(&mut self, file: &FlowFile) {
        // A file without roles leaves them where they come from.
        if file.defines_roles {
            self.roles = Arc::new(file.roles.clone());
            self.home = None;
        }
        // The snapshot is for people; the graph that counts is in the journal.
        let snapshot = RecordPath::of_name(SNAPSHOT_NAME);
        drop(self.files.write(&snapshot, file.source.as_bytes()));
    }

    fn health(&mut self) -> Vec<Ailment> {
        let home = self.home.as_ref();
        home.map_or_else(Vec::new, |home| ailments(self.place.disk(), home))
    }
}
