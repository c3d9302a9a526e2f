//! Providers against servers on loopback that are as strict as the real ones.

mod aimock;
mod faults;
mod histories;
mod talk;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use a_society_facts::message::Message;
use a_society_stand_in::{server, strict};
use serde_json::value::RawValue;

use self::server::Server;
use crate::http::{Endpoint, HttpProvider, Timeouts, Transport, Wire};
use crate::{
    ChatDialect, Effort, HistoryMessage, ModelAnswer, ModelRequest, Provider, RequestFault,
    SaidBlocks, Secret, StreamArrival, StreamEvent, Thinking, ToldTool, ToolDefinition,
};
use a_society_base::stop::StopSignal;

impl From<Wire> for a_society_stand_in::Wire {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Anthropic => Self::Anthropic,
            Wire::Chat => Self::Chat,
            Wire::Responses => Self::Responses,
        }
    }
}

/// The key of every provider here. No text may ever show it.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Limits of time that a test can wait for.
pub(crate) fn short_times() -> Timeouts {
    Timeouts {
        connect: Duration::from_millis(2_000),
        first_byte: Duration::from_millis(1_000),
        idle: Duration::from_millis(200),
        only_pings: Duration::from_millis(400),
        whole: Duration::from_secs(20),
        stalled: Duration::from_millis(50),
    }
}

pub(crate) fn endpoint(wire: Wire, base_url: &str) -> Endpoint {
    Endpoint {
        name: wire.word().into(),
        wire,
        base_url: base_url.into(),
        key: Some(Secret::new(KEY)),
        headers: Vec::new(),
        chat: ChatDialect::default(),
    }
}

pub(crate) fn provider_at(wire: Wire, base_url: &str, times: Timeouts) -> HttpProvider {
    let transport = Arc::new(Transport::new(times, None, Vec::new()));
    HttpProvider::new(endpoint(wire, base_url), transport).unwrap()
}

pub(crate) fn provider(wire: Wire, server: &Server) -> HttpProvider {
    provider_at(wire, &server.url(), Timeouts::default())
}

pub(crate) fn user(text: &str) -> HistoryMessage {
    let content = text.to_owned();
    Message::User { content }.into()
}

pub(crate) fn tools() -> Vec<ToolDefinition> {
    let tool = |name: &str, schema: &str| {
        ToolDefinition::from(ToldTool {
            name: name.into(),
            description: format!("The tool {name}."),
            schema: RawValue::from_string(schema.into()).unwrap(),
        })
    };
    vec![
        tool(
            "read_file",
            r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#,
        ),
        tool("list_directory", r#"{"type":"object","properties":{}}"#),
    ]
}

pub(crate) fn request<'a>(
    messages: &'a [HistoryMessage],
    tools: &'a [ToolDefinition],
) -> ModelRequest<'a> {
    ModelRequest {
        model: "m-1",
        system: "You are the owner.",
        environment: "# Environment\nProject folder: p.\n",
        messages,
        tools,
        effort: Some(Effort::Medium),
        thinking: Thinking::Levels,
        max_output_tokens: 4_096,
        images: true,
        cache_key: Some("flow/owner"),
        shared_key: None,
    }
}

/// Everything that arrives for a request.
pub(crate) fn arrivals(provider: &HttpProvider, messages: &[HistoryMessage]) -> Vec<StreamArrival> {
    let tools = tools();
    let prepared = provider.prepare(&request(messages, &tools)).unwrap();
    let mut stream = provider.start(prepared, &StopSignal::default());
    std::iter::from_fn(|| stream.next_arrival()).collect()
}

pub(crate) fn ask(
    provider: &HttpProvider,
    messages: &[HistoryMessage],
) -> Result<ModelAnswer, RequestFault> {
    match arrivals(provider, messages).pop() {
        Some(StreamArrival::Answer(answer)) => Ok(*answer),
        Some(StreamArrival::Fault(fault)) => Err(*fault),
        other => panic!("{other:?} is no end"),
    }
}

/// The answer as the transcript has it, its calls under names of our own.
pub(crate) fn said(answer: &ModelAnswer, turn: usize) -> HistoryMessage {
    let calls: Vec<_> = answer
        .calls
        .iter()
        .enumerate()
        .map(|(at, call)| a_society_facts::message::ToolCall {
            id: format!("{turn}.{at}"),
            name: call.name.clone(),
            input: call.input.clone(),
        })
        .collect();
    let text = Some(answer.text.clone()).filter(|text| !text.is_empty());
    let message = if calls.is_empty() {
        Message::Assistant {
            content: text.unwrap_or_default(),
        }
    } else {
        Message::AssistantToolCalls { calls, text }
    };
    HistoryMessage {
        message: message.into(),
        blocks: answer.blocks.clone().and_then(SaidBlocks::of),
    }
}

pub(crate) fn results(said: &HistoryMessage) -> Vec<HistoryMessage> {
    let Message::AssistantToolCalls { calls, .. } = &*said.message else {
        return Vec::new();
    };
    let result = |call: &a_society_facts::message::ToolCall| {
        let message = Message::ToolResult {
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: format!("the result of {}", call.id),
            is_error: false,
            image: None,
        };
        message.into()
    };
    calls.iter().map(result).collect()
}

pub(crate) fn texts(arrivals: &[StreamArrival]) -> String {
    let text = |arrival: &StreamArrival| match arrival {
        StreamArrival::Event(StreamEvent::Text(text)) => Some(text.clone()),
        StreamArrival::Event(_) | StreamArrival::Answer(_) | StreamArrival::Fault(_) => None,
    };
    arrivals.iter().filter_map(text).collect()
}
