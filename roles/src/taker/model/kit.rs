//! Everything that a model may call in one turn: our own tools, and those of MCP servers. A call looks
//! the same to the turn, wherever its tool runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::terms::{ConsentTerms, ServerTerms};
use a_society_facts::fact::turn::{CallEnd, Effect, FileChange};
use a_society_facts::id::CallId;
use a_society_facts::message::ToolCall;
use a_society_mcp as mcp;
use a_society_providers::{ToldTool, ToolDefinition};

use super::gear::Remote;
use crate::consent::{Action, ConsentQuestion, Tier, shown};
use crate::handoff::{EndingTool, ending_tools, summary_of};
use crate::tool::{CallPlan, Finished, RunningCall, Toolbox, canonical, clipped, twin};
use crate::turn::job::TurnJob;
use crate::turn::step::PlannedText;

/// How the names of tools of servers begin.
const REMOTE: &str = "mcp__";

/// The tools that are only there where they are configured.
const WEB: [&str; 2] = ["fetch_url", "web_search"];

/// How much of a call's arguments its one line for the operator shows.
const SUMMARY_CHARS: usize = 120;

/// The tools of one turn.
#[derive(Debug)]
pub(super) struct Kit {
    own: Toolbox,
    offered: Vec<ToolDefinition>,
    remote: Option<Remote>,
    tools: BTreeMap<String, mcp::RemoteTool>,
    /// Why servers of the role are not there.
    absent: BTreeMap<String, String>,
    /// The flow, the role and the node, to which consent is bound.
    owner: [String; 3],
}

/// A server or a tool of one that is not there, for the operator.
#[derive(Debug, Clone)]
pub(super) struct Absent {
    pub(super) server: String,
    pub(super) tool: Option<String>,
    pub(super) why: String,
}

/// What a call would do.
#[derive(Debug)]
pub(super) enum Planned {
    Own(Box<CallPlan>),
    Remote(Box<RemotePlan>),
    Ending(Box<EndingCall>),
}

/// What a call would do that ends the turn: nothing before the turn ends.
#[derive(Debug)]
pub(super) struct EndingCall {
    summary: String,
    ask: ConsentQuestion,
}

/// What a call of a server's tool would do.
#[derive(Debug)]
pub(super) struct RemotePlan {
    tool: String,
    definition: Hash,
    arguments: String,
    effect: Effect,
    summary: String,
    ask: ConsentQuestion,
}

/// A call that was started.
#[derive(Debug)]
pub(super) enum StartedCall {
    Own(Box<RunningCall>),
    Remote {
        plan: Box<RemotePlan>,
        servers: Arc<mcp::Servers>,
        key: String,
        stop: StopSignal,
        call: CallId,
        own: Toolbox,
    },
    Ending,
}

impl Kit {
    /// Brings the tools together. Waits for servers that have to be started.
    pub(super) fn gather(
        own: &Toolbox,
        own_offered: &[ToolDefinition],
        ends_by_call: bool,
        remote: Option<&Remote>,
        job: &TurnJob,
        stop: &StopSignal,
    ) -> (Self, Vec<Absent>) {
        let node = job.node.as_ref().map(ToString::to_string);
        let mut kit = Self {
            own: own.clone(),
            offered: own_offered.to_vec(),
            remote: remote.cloned(),
            tools: BTreeMap::new(),
            absent: BTreeMap::new(),
            owner: [
                job.flow.to_string(),
                job.role.to_string(),
                node.unwrap_or_default(),
            ],
        };
        if ends_by_call && !job.allowed.answers {
            kit.add_endings(job);
        }
        let mut absent = Vec::new();
        for server in remote.iter().flat_map(|remote| &remote.names) {
            kit.add_server(server, stop, &mut absent);
        }
        (kit, absent)
    }

    /// The tools that end the turn, before those that are only there where they are configured.
    fn add_endings(&mut self, job: &TurnJob) {
        let is_of_graph = (job.neighbours.as_ref()).is_none_or(|nodes| !nodes.is_empty());
        let signals: &[&str] = match (is_of_graph || job.closes, job.closes) {
            (true, true) => &[
                "await-handoff",
                "forward-pass-closed",
                "meta-analysis-complete",
            ],
            (true, false) => &["await-handoff", "meta-analysis-complete"],
            (false, _) => &["backward-pass-complete"],
        };
        let endings = ending_tools(job.neighbours.as_deref(), signals);
        let is_configured = |tool: &ToolDefinition| WEB.contains(&tool.name.as_str());
        let at = self.offered.iter().position(is_configured);
        let at = at.unwrap_or(self.offered.len());
        self.offered.splice(at..at, endings);
    }

    fn add_server(&mut self, server: &str, stop: &StopSignal, absent: &mut Vec<Absent>) {
        let Some(remote) = &self.remote else { return };
        let missing = |tool: Option<String>, why: String| Absent {
            server: server.to_owned(),
            tool,
            why,
        };
        let tools = match remote.servers.tools(server, stop) {
            Ok(tools) => tools,
            Err(fault) => {
                self.absent.insert(server.to_owned(), fault.why.clone());
                absent.push(missing(None, fault.why));
                return;
            }
        };
        absent.extend(
            (tools.refused.iter())
                .map(|refused| missing(Some(refused.name.clone()), refused.why.clone())),
        );
        for tool in &tools.offered {
            let Ok(schema) = serde_json::value::to_raw_value(&tool.schema) else {
                continue;
            };
            let told = ToldTool {
                name: tool.name.clone(),
                description: tool.description.clone(),
                schema,
            };
            self.offered.push(told.into());
            self.tools.insert(tool.name.clone(), tool.clone());
        }
    }

    /// The tools that the model is offered, always in the same order.
    pub(super) fn offered(&self) -> &[ToolDefinition] {
        &self.offered
    }

    /// The same in parts: what ends a turn differs from role to role, and what is before it does not.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[ToolDefinition]> {
        let ends = |tool: &ToolDefinition| EndingTool::of_name(&tool.name).is_some();
        self.offered.chunk_by(move |a, b| ends(a) == ends(b))
    }

    /// What a call would do, or why it is invalid.
    pub(super) fn plan(&self, call: &ToolCall) -> Result<Planned, String> {
        if self.ends_turn(&call.name) {
            return Ok(Planned::Ending(Box::new(self.plan_ending(call))));
        }
        if let Some(tool) = self.tools.get(&call.name) {
            return Ok(Planned::Remote(Box::new(self.plan_remote(tool, call))));
        }
        if call.name.starts_with(REMOTE) {
            let server = mcp::server_of(&call.name);
            let known = server.and_then(|server| Some((server, self.absent.get(server)?)));
            return Err(match known {
                Some((server, why)) => self.own.redact(&format!(
                    "The server {server} is not there now, and with it {}. {why} Go on without it, or \
                     ask_operator.",
                    clipped(&call.name)
                )),
                None => self.unknown(&call.name),
            });
        }
        let meant = canonical(&call.name);
        let also = meant.and_then(twin);
        let is_meant = |tool: &ToolDefinition| {
            let name = Some(tool.name.as_str());
            name == meant || name == also
        };
        if !self.offered.iter().any(is_meant) {
            return Err(self.unknown(&call.name));
        }
        let plan = self.own.plan(call);
        plan.map(|plan| Planned::Own(Box::new(plan)))
            .map_err(|refusal| refusal.text)
    }

    /// Whether a call of this name ends the turn.
    pub(super) fn ends_turn(&self, name: &str) -> bool {
        let tool = EndingTool::of_name(name);
        tool.is_some_and(|tool| self.offered.iter().any(|it| it.name == tool.name()))
    }

    fn plan_ending(&self, call: &ToolCall) -> EndingCall {
        let arguments = call.input.get();
        let said = EndingTool::of_name(&call.name).and_then(|tool| summary_of(tool, arguments));
        let said = said.unwrap_or_else(|| format!("{} {arguments}", call.name));
        let summary: String = said.chars().take(SUMMARY_CHARS).collect();
        let summary = self.own.redact(&summary);
        EndingCall {
            ask: ConsentQuestion {
                tool: call.name.clone(),
                tier: Tier::Free,
                command: None,
                terms: ConsentTerms::Session,
                action: Hash::of(arguments.as_bytes()),
                shown: shown(&summary),
                // Rules do not apply to the tools that end a turn.
                ruled: None,
            },
            summary,
        }
    }

    /// There is no such tool; there are these.
    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.offered.iter().map(|tool| tool.name.as_str()).collect();
        format!(
            "There is no tool {}. There are: {}.",
            clipped(name),
            names.join(", ")
        )
    }

    fn plan_remote(&self, tool: &mcp::RemoteTool, call: &ToolCall) -> RemotePlan {
        let arguments = call.input.get();
        let [flow, role, node] = &self.owner;
        let definition = tool.definition.to_string();
        let action = Action {
            tool: &tool.name,
            arguments,
            folder: "",
            environment: "",
            sandbox: "",
            network: "",
            flow,
            role,
            node,
            definition: &definition,
        };
        // Only the operator can declare that it only reads.
        let tier = if tool.effect == Effect::Pure {
            Tier::Free
        } else {
            Tier::ServerTool {
                definition: tool.definition,
            }
        };
        let is_irreversible = tool.effect == Effect::Irreversible;
        let server = mcp::server_of(&tool.name).unwrap_or_default();
        let raw = &tool.raw_name;
        let beginning: String = arguments.chars().take(SUMMARY_CHARS).collect();
        RemotePlan {
            tool: tool.name.clone(),
            definition: tool.definition,
            arguments: arguments.to_owned(),
            effect: tool.effect,
            summary: self.own.redact(&format!("{} {beginning}", tool.name)),
            ask: ConsentQuestion {
                tool: tool.name.clone(),
                ruled: self
                    .own
                    .ruled_remote(&tool.name, &tier, server, raw, is_irreversible),
                tier,
                command: None,
                terms: ConsentTerms::Server(self.server_terms(tool)),
                action: action.hash(),
                shown: shown(&self.own.redact(arguments)),
            },
        }
    }

    /// The server of a tool, as the operator configured it.
    fn server_terms(&self, tool: &mcp::RemoteTool) -> ServerTerms {
        let server = mcp::server_of(&tool.name).unwrap_or_default();
        let servers = self.remote.as_ref().map(|remote| &remote.servers);
        let spec = servers.and_then(|servers| servers.spec(server));
        ServerTerms {
            server: server.to_owned(),
            tool: tool.raw_name.clone(),
            definition: tool.definition,
            reached: spec.map(|spec| spec.reached(|text| self.own.redact(text))),
        }
    }

    /// Brings a call as far as its start.
    pub(super) fn start(
        &self,
        planned: Planned,
        call: &CallId,
        stop: &StopSignal,
    ) -> Result<StartedCall, Finished> {
        match (planned, &self.remote) {
            (Planned::Ending(_), _) => Ok(StartedCall::Ending),
            (Planned::Own(plan), _) => {
                let running = self.own.start(*plan, call, stop)?;
                Ok(StartedCall::Own(Box::new(running)))
            }
            (Planned::Remote(plan), Some(remote)) => Ok(StartedCall::Remote {
                plan,
                servers: Arc::clone(&remote.servers),
                key: format!("{} {call}", self.owner[0]),
                stop: stop.clone(),
                call: call.clone(),
                own: self.own.clone(),
            }),
            (Planned::Remote(_), None) => Err(Finished::with_text(
                CallEnd::NotRun,
                "There are no servers here.",
            )),
        }
    }
}

impl Planned {
    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::Own(plan) => plan.effect,
            Self::Remote(plan) => plan.effect,
            // Its effect is that of the turn's end, which is recorded by itself.
            Self::Ending(_) => Effect::Pure,
        }
    }

    /// The hashes of the file before and after, for a checkable call.
    pub(super) fn file(&self) -> (Option<Hash>, Option<Hash>) {
        match self {
            Self::Own(plan) => (plan.before, plan.after),
            Self::Remote(_) | Self::Ending(_) => (None, None),
        }
    }

    /// The files of a checkable call that changes several.
    pub(super) fn files(&self) -> Vec<FileChange> {
        match self {
            Self::Own(plan) => plan.files.clone(),
            Self::Remote(_) | Self::Ending(_) => Vec::new(),
        }
    }

    /// What a checkable call changes in the text of each file.
    pub(super) fn texts(&self) -> Vec<PlannedText> {
        match self {
            Self::Own(plan) => plan.texts.clone(),
            Self::Remote(_) | Self::Ending(_) => Vec::new(),
        }
    }

    pub(super) fn summary(&self) -> &str {
        match self {
            Self::Own(plan) => &plan.summary,
            Self::Remote(plan) => &plan.summary,
            Self::Ending(plan) => &plan.summary,
        }
    }

    pub(super) fn ask(&self) -> &ConsentQuestion {
        match self {
            Self::Own(plan) => &plan.ask,
            Self::Remote(plan) => &plan.ask,
            Self::Ending(plan) => &plan.ask,
        }
    }

    /// Whether all that it does is done here, so that its start takes nothing but its record.
    pub(super) fn needs_no_process(&self) -> bool {
        match self {
            Self::Own(plan) => plan.needs_no_process(),
            Self::Remote(_) => false,
            Self::Ending(_) => true,
        }
    }

    /// Whether it needs no consent.
    pub(super) fn is_free(&self) -> bool {
        let ask = self.ask();
        matches!(ask.tier, Tier::Free | Tier::Unasked) && ask.ruled.is_none()
    }
}

impl StartedCall {
    pub(super) fn process(&self) -> Option<ProcessName> {
        match self {
            Self::Own(running) => running.process(),
            Self::Remote { .. } | Self::Ending => None,
        }
    }

    /// Lets it go and waits until it is over.
    pub(super) fn finish(self) -> Finished {
        match self {
            Self::Own(running) => running.finish(),
            Self::Remote {
                plan,
                servers,
                key,
                stop,
                call,
                own,
            } => finish_remote(&own, &call, &plan, &servers, &key, &stop),
            // What the model gets depends on all that its message asked for.
            Self::Ending => Finished::with_text(CallEnd::Done, ""),
        }
    }
}

fn finish_remote(
    own: &Toolbox,
    id: &CallId,
    plan: &RemotePlan,
    servers: &mcp::Servers,
    key: &str,
    stop: &StopSignal,
) -> Finished {
    let call = mcp::RemoteCall {
        tool: &plan.tool,
        definition: plan.definition,
        arguments: &plan.arguments,
        limit: None::<Duration>,
        key: Some(key),
    };
    match servers.call(&call, stop) {
        Ok(output) => {
            let (text, is_cut) = own.kept_beside(output.text, output.whole.as_deref(), id);
            let end = if output.is_error {
                CallEnd::Failed
            } else {
                CallEnd::Done
            };
            Finished {
                is_cut,
                ..Finished::with_text(end, text)
            }
        }
        // It was started by now: what never reached the server has failed.
        Err(fault) if fault.has_begun() => Finished::with_text(fault.end(), fault.to_string()),
        Err(fault) => Finished::with_text(CallEnd::Failed, fault.to_string()),
    }
}
