//! Writes down a flow in the order in which a runtime would, and keeps count of what it named.

use std::collections::BTreeSet;

use super::ids::id;
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::flow::{EdgeOutline, FlowCreated, NodeOutline, Outline};
use a_society_facts::fact::journal::{ProcessName, SegmentStarted, WriterOpened};
use a_society_facts::fact::node::{HandoffApplied, Inbound, NodeClaimed, NodeEntry};
use a_society_facts::fact::session::{
    MessageAdded, Origin, SessionKind, SessionOpened, SystemPromptBuilt,
};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallStarted, Cause, DraftAdded, DraftKind, Effect,
    ModelAnswered, ModelRequested, StopReason, TurnEnd, TurnEnded, TurnStarted, Usage,
};
use a_society_facts::handoff::{Artifact, Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{CallId, MessageId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, ConfirmedDraft, Text, ToolCall};

/// A turn that is being written down.
#[derive(Debug, Clone)]
pub(super) struct SampleTurn {
    pub(super) id: TurnId,
    pub(super) role: RoleInstance,
    pub(super) node: Option<NodeId>,
    pub(super) attempt: u32,
    pub(super) request: u32,
}

/// The one who writes down.
#[derive(Debug, Clone)]
pub(super) struct Scribe {
    pub(super) facts: Vec<Fact>,
    turns: u64,
    messages: u64,
    calls: u64,
    roles: BTreeSet<RoleInstance>,
}

pub(super) fn process(pid: u32) -> ProcessName {
    ProcessName {
        pid,
        start_ticks: 4_711,
        boot_id: "6f1d9a52-8b0e-4a6f-9d55-0f6c7f4f2b11".into(),
    }
}

pub(super) fn edge(from: &str, to: &str) -> EdgeName {
    EdgeName {
        from: id(from),
        to: id(to),
    }
}

pub(super) fn artifact(path: &str) -> Artifact {
    Artifact {
        path: path.to_owned(),
        hash: Hash::of(path.as_bytes()),
        bytes: path.len() as u64,
        text: None,
    }
}

pub(super) fn delivery(from: &str, to: &str, way: HandoffWay, path: &str) -> Delivery {
    Delivery {
        edge: edge(from, to),
        way,
        artifact: artifact(path),
    }
}

pub(super) fn inbound(from: &str, to: &str, way: HandoffWay) -> Inbound {
    Inbound {
        edge: edge(from, to),
        way,
    }
}

fn node(name: &str, role: &str, human_colab: bool) -> NodeOutline {
    NodeOutline {
        id: id(name),
        role: id(role),
        human_colab,
        await_all_inputs: false,
    }
}

fn plain(from: &str, to: &str) -> EdgeOutline {
    EdgeOutline {
        edge: edge(from, to),
        optional: false,
    }
}

/// A graph of three roles: the owner takes work in and closes it, a writer drafts, a reviewer
/// looks at it, together with the operator.
pub(super) fn outline() -> Outline {
    Outline {
        name: "Release notes".into(),
        nodes: vec![
            node("owner-intake", "owner", false),
            node("draft", "writer", false),
            node("review", "reviewer", true),
            node("owner-close", "owner", false),
        ],
        edges: vec![
            plain("owner-intake", "draft"),
            plain("draft", "review"),
            plain("review", "owner-close"),
        ],
        source: Text::from("workflow:\n  name: Release notes\n"),
    }
}

pub(super) fn usage(tokens: u64) -> Usage {
    Usage {
        input_tokens: tokens,
        output_tokens: tokens / 4,
        cache_read_tokens: tokens / 2,
        cache_write_tokens: 0,
        context_tokens: tokens * 2,
        cost_micros: tokens * 3,
    }
}

/// A tool call as a model asks for it. The arguments are JSON by construction.
pub(super) fn tool_call(name: &str, tool: &str, input: &str) -> ToolCall {
    ToolCall {
        id: name.to_owned(),
        name: tool.to_owned(),
        input: serde_json::value::RawValue::from_string(input.to_owned())
            .expect("arguments in the program are JSON"),
    }
}

impl Scribe {
    pub(super) fn begin() -> Self {
        let mut scribe = Self {
            facts: Vec::new(),
            turns: 0,
            messages: 0,
            calls: 0,
            roles: BTreeSet::new(),
        };
        scribe.say(Fact::SegmentStarted(SegmentStarted {
            flow: id("20260527T143000123Z-a1b2c3"),
            format: a_society_facts::line::FORMAT,
            writer: "a-society 0.1.0".into(),
            segment: 1,
            previous: None,
        }));
        scribe.say(Fact::WriterOpened(WriterOpened {
            process: process(1000),
        }));
        scribe.say(Fact::FlowCreated(FlowCreated {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: id("demo"),
            title: "Notes for 1.4".into(),
            input: Some(Text::from("Write the notes for release 1.4.")),
            graph: outline(),
            origin: Some("flows/release-notes.yaml".into()),
            draft: false,
            tokens: None,
            mode: None,
            rules: a_society_facts::fact::operator::ConsentRules::default(),
            chat: None,
            client: Some(id("cli-1")),
        }));
        scribe
    }

    pub(super) fn say(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    pub(super) fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        TurnId(self.turns)
    }

    pub(super) fn next_message(&mut self) -> MessageId {
        self.messages += 1;
        id(&format!("m{}", self.messages))
    }

    fn next_call(&mut self) -> CallId {
        self.calls += 1;
        id(&format!("c{}", self.calls))
    }

    /// A session with its prompt, the first time a role speaks.
    pub(super) fn session(&mut self, role: &RoleInstance) {
        if !self.roles.insert(role.clone()) {
            return;
        }
        self.say(Fact::SessionOpened(SessionOpened {
            role: role.clone(),
            key: id(&format!("flow:20260527T143000123Z-a1b2c3:role:{role}")),
            session: id(&format!("session-{role}-1")),
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        }));
        self.say(Fact::SystemPromptBuilt(SystemPromptBuilt {
            role: role.clone(),
            text: Text::from(format!("You are {role}, working on demo.")),
            fingerprint: Hash::of(role.as_str().as_bytes()),
            sources: Vec::new(),
        }));
    }

    pub(super) fn message(
        &mut self,
        role: &RoleInstance,
        node: Option<&NodeId>,
        origin: Origin,
        text: &str,
    ) {
        let message = self.next_message();
        self.message_as(message, role, node, origin, text);
    }

    pub(super) fn message_as(
        &mut self,
        message: MessageId,
        role: &RoleInstance,
        node: Option<&NodeId>,
        origin: Origin,
        text: &str,
    ) {
        self.say(Fact::MessageAdded(MessageAdded {
            role: role.clone(),
            message,
            text: Text::from(text),
            origin,
            node: node.cloned(),
            client: None,
            request: None,
        }));
    }

    pub(super) fn begin_turn(
        &mut self,
        turn: TurnId,
        role: &RoleInstance,
        node: Option<&NodeId>,
        cause: Cause,
    ) -> SampleTurn {
        self.say(Fact::TurnStarted(TurnStarted {
            turn,
            attempt: 1,
            role: role.clone(),
            node: node.cloned(),
            cause,
        }));
        SampleTurn {
            id: turn,
            role: role.clone(),
            node: node.cloned(),
            attempt: 1,
            request: 0,
        }
    }

    /// A node is claimed, its role gets its packet, and its turn begins.
    pub(super) fn enter(
        &mut self,
        node: &str,
        role: &str,
        entry: NodeEntry,
        consumed: Vec<Inbound>,
    ) -> SampleTurn {
        let (node, role): (NodeId, RoleInstance) = (id(node), id(role));
        let turn = self.next_turn();
        self.say(Fact::NodeClaimed(NodeClaimed {
            node: node.clone(),
            role: role.clone(),
            turn,
            entry,
            consumed,
            dropped: Vec::new(),
            replies: Vec::new(),
        }));
        self.session(&role);
        let text = format!("You are at {node}.");
        self.message(&role, Some(&node), Origin::Entry, &text);
        self.begin_turn(turn, &role, Some(&node), Cause::Node)
    }

    pub(super) fn request(&mut self, turn: &mut SampleTurn) {
        turn.request += 1;
        self.say(Fact::ModelRequested(ModelRequested {
            turn: turn.id,
            attempt: turn.attempt,
            role: turn.role.clone(),
            request: turn.request,
            model: "scripted".into(),
            hash: Hash::of(&turn.request.to_le_bytes()),
            frame: None,
        }));
    }

    pub(super) fn draft(&mut self, turn: &SampleTurn, kind: DraftKind, text: &str) {
        self.say(Fact::DraftAdded(DraftAdded {
            turn: turn.id,
            role: turn.role.clone(),
            request: turn.request,
            kind,
            text: text.to_owned(),
        }));
    }

    pub(super) fn answer(
        &mut self,
        turn: &SampleTurn,
        text: AnswerText,
        calls: Vec<ToolCall>,
        tokens: u64,
    ) {
        let stop = if calls.is_empty() {
            StopReason::End
        } else {
            StopReason::Tools
        };
        let message = self.next_message();
        self.say(Fact::ModelAnswered(ModelAnswered {
            turn: turn.id,
            attempt: turn.attempt,
            role: turn.role.clone(),
            request: turn.request,
            message,
            text,
            calls,
            stop,
            usage: usage(tokens),
            provider_blocks: None,
            report: None,
        }));
    }

    /// A request whose answer is streamed in these pieces.
    pub(super) fn speak(&mut self, turn: &mut SampleTurn, pieces: &[&str], calls: Vec<ToolCall>) {
        self.request(turn);
        for piece in pieces {
            self.draft(turn, DraftKind::Text, piece);
        }
        let text = AnswerText::Drafted(ConfirmedDraft::of(&pieces.concat()));
        self.answer(turn, text, calls, 1_000);
    }

    pub(super) fn intend(
        &mut self,
        turn: &SampleTurn,
        call: &ToolCall,
        ordinal: u32,
        effect: Effect,
    ) -> CallId {
        let name = self.next_call();
        self.say(Fact::CallIntended(CallIntended {
            call: name.clone(),
            turn: turn.id,
            role: turn.role.clone(),
            tool_call: call.id.clone(),
            ordinal,
            tool: call.name.clone(),
            arguments: Hash::of(call.input.get().as_bytes()),
            effect,
            idempotency_key: Hash::of(name.as_str().as_bytes()),
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: format!("{} {}", call.name, call.input.get()),
        }));
        name
    }

    pub(super) fn start(&mut self, turn: &SampleTurn, call: &CallId, pid: Option<u32>) {
        self.say(Fact::CallStarted(CallStarted {
            call: call.clone(),
            role: turn.role.clone(),
            process: pid.map(process),
        }));
    }

    pub(super) fn finish(
        &mut self,
        turn: &SampleTurn,
        call: &CallId,
        asked: &ToolCall,
        end: CallEnd,
        output: Text,
    ) {
        let message = self.next_message();
        self.say(Fact::CallFinished(CallFinished {
            call: call.clone(),
            turn: turn.id,
            role: turn.role.clone(),
            tool_call: asked.id.clone(),
            tool: asked.name.clone(),
            end,
            output,
            message,
            seen: Vec::new(),
            image: None,
            exit: None,
            signal: None,
            cut: None,
        }));
    }

    /// A call that only reads, from beginning to end.
    pub(super) fn read(&mut self, turn: &SampleTurn, asked: &ToolCall, ordinal: u32, output: &str) {
        let call = self.intend(turn, asked, ordinal, Effect::Pure);
        self.start(turn, &call, None);
        self.finish(turn, &call, asked, CallEnd::Done, Text::from(output));
    }

    pub(super) fn end(&mut self, turn: &SampleTurn, end: TurnEnd) {
        self.say(Fact::TurnEnded(TurnEnded {
            turn: turn.id,
            attempt: turn.attempt,
            role: turn.role.clone(),
            end,
            error: None,
        }));
    }

    /// A node hands over, and its turn ends.
    pub(super) fn hand_over(&mut self, turn: &SampleTurn, deliveries: Vec<Delivery>) {
        if let Some(node) = &turn.node {
            self.say(Fact::HandoffApplied(HandoffApplied {
                node: node.clone(),
                turn: turn.id,
                deliveries,
                approval: None,
            }));
        }
        self.end(turn, TurnEnd::Outcome);
    }
}
