//! Flows whose model is asked over HTTP, whose tools come from a server on pipes, and to whose roles the
//! operator speaks while they are at work.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use a_society_facts::Verb;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::message::Message;
use a_society_mcp::{self as mcp, Given, Servers};
use a_society_providers::{Provider, StreamArrival};
use a_society_roles::config::parse;
use a_society_stand_in::{Ending, Piece, Reply, Server};

use super::super::super::core::Core;
use super::super::model::{calls, closes};
use super::models::{EDIT, OTHER, OnDisk, READS, edits, scenario};
use super::scripts::forward;
use super::{SLICES, Scenario, every_prefix_goes_on};
use crate::config::models::of;

/// What a model says that is asked over HTTP.
#[derive(Debug, Clone)]
pub(super) struct Wired {
    /// The wire, as the configuration names it.
    wire: &'static str,
    /// What it says when it is shown so many results.
    says: fn(usize) -> Vec<Piece>,
}

/// Where a model is asked; it stays for as long as the stage does.
#[derive(Default)]
pub(super) struct Wire(OnceLock<(Server, Arc<dyn Provider>)>);

impl Wire {
    pub(super) fn provider(&self, wired: &Wired) -> Arc<dyn Provider> {
        let (_, provider) = self.0.get_or_init(|| {
            let says = wired.says;
            let server =
                Server::by(move |seen, _| Reply::Say(says(results(&seen.text)), Ending::Natural));
            let text = format!(
                "providers:\n  p: {{ wire: {}, base-url: '{}' }}\n\
                 models:\n  m: {{ provider: p, id: m, window: 100000 }}\n",
                wired.wire,
                server.url()
            );
            let provider = of(&parse(&text).unwrap(), "m").unwrap().provider;
            (server, provider)
        });
        Arc::clone(provider)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some((server, _)) = self.0.get() {
            // No request that was made after a cut breaks a rule of its wire.
            assert_eq!(server.refused(), [""; 0]);
        }
    }
}

/// What a call gives that did not run because the operator spoke first.
const NOT_RUN: &str = "Not run: the operator spoke first.";

/// How many calls ran whose results a request shows, on any wire.
fn results(text: &str) -> usize {
    let marks = [
        r#""type":"tool_result""#,
        r#""type":"function_call_output""#,
        r#""role":"tool""#,
    ];
    let all: usize = marks.iter().map(|mark| text.matches(mark).count()).sum();
    all - text.matches(NOT_RUN).count()
}

fn call(id: &str, name: &str, arguments: &str) -> Piece {
    Piece::Call {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn done() -> Vec<Piece> {
    vec![
        Piece::text("Done."),
        Piece::text("\n\n```handoff\ntype: forward-pass-closed\n```"),
    ]
}

/// Reads, thinks, writes two files in one answer, and closes.
fn works(results: usize) -> Vec<Piece> {
    let write = |id| call(id, "write_file", r#"{"path":"c.txt","content":"c\n"}"#);
    match results {
        0 => vec![
            Piece::text("I read."),
            call("r1", "read_file", r#"{"path":"a.txt"}"#),
        ],
        1 => vec![
            Piece::text("I write both."),
            call(
                "w1",
                "edit_file",
                r#"{"path":"a.txt","old":"one","new":"two"}"#,
            ),
            write("w2"),
        ],
        2 => vec![write("w3")],
        _ => done(),
    }
}

fn wired(name: &str, wire: &'static str, says: fn(usize) -> Vec<Piece>) -> Scenario {
    let mut scenario = scenario(name, edits, forward);
    scenario.model = None;
    scenario.wired = Some(Wired { wire, says });
    scenario
}

#[test]
fn a_model_over_each_wire_goes_on_behind_every_record() {
    for wire in ["anthropic", "openai-chat", "openai-responses"] {
        every_prefix_goes_on::<OnDisk>(&wired(wire, wire, works), SLICES);
    }
}

/// What the operator says to the role once its turn has made so many requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steered {
    requests: u32,
    when: SteerWhen,
    words: &'static str,
}

/// Sends the due messages. Each has a name, so that it counts once however often it is sent.
pub(super) fn steer(core: &mut Core, steers: &[Steered]) {
    for (number, steer) in steers.iter().enumerate() {
        let role = "owner".parse().unwrap();
        let turn = core.state().main_turn_of(&role);
        if turn.is_some_and(|(_, turn)| turn.requests >= steer.requests) {
            let command = Verb::Steer {
                role,
                text: steer.words.to_owned(),
                when: steer.when,
            };
            let name = format!("steer-{number}").parse().unwrap();
            core.obey(command, Some(name)).unwrap();
        }
    }
}

const QUEUED: Steered = Steered {
    requests: 1,
    when: SteerWhen::Queue,
    words: "Keep the end of the line.",
};
const INTERRUPTING: Steered = Steered {
    requests: 2,
    when: SteerWhen::Interrupt,
    words: "And touch nothing else.",
};

/// Works as the other model does, and makes calls again that did not run.
fn insists(said: &[Message]) -> Vec<StreamArrival> {
    let ran = said.iter().filter(|message| match message {
        Message::ToolResult { content, .. } => !content.starts_with(NOT_RUN),
        Message::User { .. } | Message::Assistant { .. } | Message::AssistantToolCalls { .. } => {
            false
        }
    });
    match ran.count() {
        ran @ 0..3 => calls(&READS[ran..]),
        3 => calls(&[EDIT, OTHER]),
        4 => calls(&[OTHER]),
        _ => closes(),
    }
}

#[test]
fn a_role_that_is_spoken_to_goes_on_behind_every_record_and_hears_everything_once() {
    for (name, steers) in [
        ("queued", &[QUEUED][..]),
        ("interrupting", &[INTERRUPTING]),
        ("both", &[QUEUED, INTERRUPTING]),
    ] {
        let mut scenario = scenario(name, insists, forward);
        scenario.steers = steers;
        // The cut decides which request carries the words.
        scenario.asks = true;
        every_prefix_goes_on::<OnDisk>(&scenario, SLICES / 2);
    }
    let mut scenario = wired("spoken to over a wire", "anthropic", works);
    scenario.steers = &[QUEUED, INTERRUPTING];
    scenario.asks = true;
    every_prefix_goes_on::<OnDisk>(&scenario, SLICES);
}

/// It answers with what it was given.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"list","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"add","description":"Adds a word.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}}},{"name":"look","description":"Looks a word up.","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"It is so."}]}}' ;;
  esac
done
"#;

/// A server of tools that this process may start: one of its tools only reads.
pub(in crate::driver::tests) fn server(folder: &Path) -> Arc<Servers> {
    let script = folder.join("server.sh");
    std::fs::write(&script, SERVER).unwrap();
    let text = format!(
        "mcp-servers:\n  list: {{ command: /bin/sh, args: ['{}'], read-only: [look] }}\n",
        script.display()
    );
    let given = Given {
        environment: BTreeMap::new(),
        secrets: BTreeMap::new(),
    };
    let specs = mcp::parse(&text).unwrap();
    Arc::new(Servers::new(specs, given, mcp::ServerLimits::default()))
}

fn uses_a_server(results: usize) -> Vec<Piece> {
    match results {
        0 => vec![call("s1", "mcp__list__look", r#"{"word":"one"}"#)],
        1 => vec![
            call("s2", "mcp__list__add", r#"{"word":"one"}"#),
            call("s3", "mcp__list__gone", "{}"),
        ],
        _ => done(),
    }
}

#[test]
fn a_role_with_tools_of_a_server_goes_on_behind_every_record() {
    let mut scenario = wired("server of tools", "openai-chat", uses_a_server);
    scenario.server = true;
    every_prefix_goes_on::<OnDisk>(&scenario, SLICES);
}
