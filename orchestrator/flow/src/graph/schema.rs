//! The JSON Schema of a flow file, for editors and for `a-society schema`.
//!
//! It describes the shape of a file: keys, types, words and ranges. What needs the whole graph
//! (cycles, the start, the closing node) only the parser can say. Tests hold the two together.

use serde_json::{Value, json};

use super::limits::{MAX_BUDGET, MAX_NAME_BYTES, MAX_OUTPUT_LIMIT_BYTES, MAX_TIME_LIMIT_SECONDS};
use super::role::{Executor, ExitOutcome, PermissionMode, ToolScope};

/// A text that is not only white space.
const SAYS_SOMETHING: &str = r"\S";
const KEBAB: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
const INSTANCE: &str = "^[a-z0-9]+(-[a-z0-9]+)*(_[1-9][0-9]{0,5})?$";
const EXIT_CODE: &str = "^(otherwise|[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$";

/// The schema as a JSON value.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a-society flow file",
        "description": "A workflow, and optionally the roles that take part in it.",
        "type": "object",
        "properties": {
            "workflow": { "$ref": "#/$defs/workflow" },
            "roles": {
                "description": "Roles by name. With them the file needs no project.",
                "type": "object",
                "propertyNames": { "pattern": KEBAB, "maxLength": MAX_NAME_BYTES },
                "additionalProperties": { "$ref": "#/$defs/role" },
            },
            "budget": { "$ref": "#/$defs/budget" },
            "improve": {
                "description": "How the retrospective runs when the forward work is done. A file that belongs to no project ends then if it does not say.",
                "enum": ["graph", "parallel", "none"],
            },
            "feedback": {
                "description": "Whether a feedback report is written after that.",
                "enum": [true, false, "yes", "no"],
            },
            "metadata": {
                "description": "What other programs note in the file. A flow does not read it.",
                "type": "object",
            },
        },
        "required": ["workflow"],
        "additionalProperties": false,
        "$defs": {
            "workflow": workflow(),
            "node": node(),
            "edge": edge(),
            "role": role(),
            "command": command(),
            "permissions": permissions(),
            "budget": budget(),
        },
    })
}

/// The schema as `a-society schema` prints it.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

fn text(description: &str) -> Value {
    json!({ "description": description, "type": "string", "pattern": SAYS_SOMETHING })
}

fn texts(description: &str) -> Value {
    json!({
        "description": description,
        "type": "array",
        "items": { "type": "string", "pattern": SAYS_SOMETHING },
    })
}

fn flag(description: &str) -> Value {
    json!({ "description": description, "type": "boolean", "default": false })
}

fn name(description: &str, pattern: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "pattern": pattern,
        "maxLength": MAX_NAME_BYTES,
    })
}

fn count(description: &str, most: u64) -> Value {
    json!({ "description": description, "type": "integer", "minimum": 1, "maximum": most })
}

fn words<T: Copy>(description: &str, choices: &[(T, &str)]) -> Value {
    let words: Vec<&str> = choices.iter().map(|(_, word)| *word).collect();
    json!({ "description": description, "type": "string", "enum": words })
}

/// A mapping with these keys and no others.
fn mapping(description: &str, required: &[&str], properties: Value) -> Value {
    json!({
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn workflow() -> Value {
    mapping(
        "The graph: who works where, and where work goes.",
        &["name", "nodes", "edges"],
        json!({
            "name": text("The flow's title."),
            "summary": text("What the flow is for."),
            "nodes": {
                "description": "The nodes. The one without inbound edges is the start; its role owns the flow.",
                "type": "array",
                "items": { "$ref": "#/$defs/node" },
                "minItems": 1,
            },
            "edges": {
                "description": "Forward edges, without cycles. Work may be handed back along each of them.",
                "type": "array",
                "items": { "$ref": "#/$defs/edge" },
            },
        }),
    )
}

fn node() -> Value {
    mapping(
        "A place where one role instance works.",
        &["id", "role"],
        json!({
            "id": name("Unique in the file, in kebab-case.", KEBAB),
            "role": name("The role instance that works here: `writer`, or `writer_2` with a session of its own.", INSTANCE),
            "work": texts("The task, in bullets."),
            "required_readings": texts("Index variables such as `$STYLE`, or paths from the project's root."),
            "human-colab": flag("Forward handoffs wait for the operator's approval."),
            "await-all-inputs": flag("The node waits until every inbound edge has delivered."),
        }),
    )
}

fn edge() -> Value {
    mapping(
        "A forward edge.",
        &["from", "to"],
        json!({
            "from": text("The node that hands over."),
            "to": text("The node that receives."),
            "optional": flag("The edge may stay unused."),
        }),
    )
}

fn role() -> Value {
    let mut role = mapping(
        "Who a role is, and how its turns are taken.",
        &[],
        json!({
            "instructions": text("Who the role is and how it works."),
            "executor": words("Who plays the role; `model` when it is left out.", Executor::ALL),
            "model": text("A configured model."),
            "effort": text("How hard the model is to think, in its provider's words."),
            "tools": texts("The tools that the role may use; all of them when it is left out."),
            "mcp-servers": texts("The configured MCP servers that the role may use."),
            "skills": texts("The skills that the role may use."),
            "required_readings": texts("What the role reads before everything else."),
            "command": { "$ref": "#/$defs/command" },
            "permissions": { "$ref": "#/$defs/permissions" },
            "budget": { "$ref": "#/$defs/budget" },
        }),
    );
    let executor_is = |words: &[&str]| json!({ "properties": { "executor": { "enum": words } }, "required": ["executor"] });
    role["allOf"] = json!([
        {
            "if": { "not": executor_is(&["human", "command", "scripted"]) },
            "then": { "required": ["instructions"], "properties": { "command": false } },
            "else": { "properties": { "model": false, "effort": false } },
        },
        {
            "if": executor_is(&["command"]),
            "then": { "required": ["command"] },
        },
        {
            "if": executor_is(&["human", "scripted"]),
            "then": { "properties": { "command": false } },
        },
    ]);
    role
}

fn command() -> Value {
    mapping(
        "The program of a role with executor `command`.",
        &["run"],
        json!({
            "run": {
                "description": "The program and its arguments. No shell reads them.",
                "type": "array",
                "items": { "type": "string", "pattern": SAYS_SOMETHING },
                "minItems": 1,
            },
            "time-limit-seconds": count("How long the program may run.", MAX_TIME_LIMIT_SECONDS),
            "output-limit-bytes": count("How much of its output is kept.", MAX_OUTPUT_LIMIT_BYTES),
            "on-exit": {
                "description": "What an exit code means when the program printed no handoff block.",
                "type": "object",
                "propertyNames": { "pattern": EXIT_CODE },
                "additionalProperties": words("What happens next.", ExitOutcome::ALL),
            },
        }),
    )
}

fn permissions() -> Value {
    mapping(
        "What narrows the role. A file cannot grant anything: only the operator does.",
        &[],
        json!({
            "mode": words("The most that the role may do without asking, whatever the flow may.", PermissionMode::ALL),
            "scope": words("How far the tools of the role reach at most, whatever the operator's configuration allows.", ToolScope::ALL),
            "network": flag("Whether the role's commands may use the network, if the operator's configuration allows it."),
            "edits": flag("Of no effect: edits are granted with `a-society allow --for-the-flow`."),
            "commands": texts("Of no effect: commands are granted with `a-society allow --for-the-flow`."),
            "mcp-tools": texts("Of no effect: tools are granted with `a-society allow --for-the-flow`."),
        }),
    )
}

fn budget() -> Value {
    mapping(
        "What a role, or the flow, may spend before it waits for the operator.",
        &[],
        json!({
            "cost-micro-usd": count("Money, in millionths of a US dollar.", MAX_BUDGET),
            "tokens": count("Tokens, in and out together.", MAX_BUDGET),
            "turns": count("Turns.", MAX_BUDGET),
        }),
    )
}
