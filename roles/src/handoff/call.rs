//! Endings as calls: two tools that end a turn, and what their arguments mean.
//!
//! The list of tools comes first in every request, so the definitions must not change from turn to
//! turn. The packet says what is open now, and the machine judges it.

use a_society_facts::fact::node::with_choices;
use a_society_providers::{ToldTool, ToolDefinition};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FaultCode;
use super::contract::{AllowedOutcomes, Signal};
use super::fault::HandoffFault;
use super::limits::{
    MAX_CHOICE_BYTES, MAX_CHOICES, MAX_NODES_IN_SCHEMA, MAX_QUESTION_BYTES, MAX_TARGETS,
};
use super::outcome::{NamedTarget, RoleOutcome};

/// A tool that ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndingTool {
    /// Hands off, or gives a signal.
    Handoff,
    /// Asks the operator.
    AskOperator,
}

/// What a call that ends a turn says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutcomeCall {
    /// The outcome.
    pub outcome: RoleOutcome,
    /// The question, if the operator is asked.
    pub question: Option<String>,
    /// What may be chosen as its answer.
    pub choices: Vec<String>,
}

impl EndingTool {
    /// The tool of a name, under which models may know it.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "handoff" | "hand_over" | "hand_off" => Some(Self::Handoff),
            "ask_operator" | "AskUserQuestion" | "ask_user" | "request_user_input" => {
                Some(Self::AskOperator)
            }
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Handoff => "handoff",
            Self::AskOperator => "ask_operator",
        }
    }

    /// What the model gets when the turn ends.
    #[must_use]
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Handoff => "Handed off.",
            Self::AskOperator => "Asked. Your turn ends here.",
        }
    }
}

/// What the model gets when a call did not end its turn; the reason follows in a message.
pub const NOT_ENDED: &str = "Not handed off.";

/// What the model gets when another call of the same message failed; its place counts from 1.
#[must_use]
pub(crate) fn not_beside(place: usize) -> String {
    format!("Not handed off: call {place} failed. Read its result first.")
}

/// The two tools, for a role that has these neighbours anywhere in the graph. Without neighbours
/// known, or with too many, a node is any text.
#[must_use]
pub(crate) fn ending_tools(neighbours: Option<&[String]>, signals: &[&str]) -> Vec<ToolDefinition> {
    let few = neighbours.filter(|nodes| (1..=MAX_NODES_IN_SCHEMA).contains(&nodes.len()));
    let words = |words: &[&str]| {
        let quoted: Vec<String> = words
            .iter()
            .map(|word| Value::from(*word).to_string())
            .collect();
        format!(r#"{{"type":"string","enum":[{}]}}"#, quoted.join(","))
    };
    let node = few.map_or_else(
        || r#"{"type":"string"}"#.to_owned(),
        |nodes| words(&nodes.iter().map(String::as_str).collect::<Vec<_>>()),
    );
    let target = format!(
        r#"{{"type":"object","properties":{{"target_node_id":{node},"artifact_path":{{"type":"string"}}}},"required":["target_node_id","artifact_path"],"additionalProperties":false}}"#
    );
    let handoff = format!(
        r#"{{"type":"object","properties":{{"targets":{{"type":"array","items":{target}}},"type":{}}},"required":[],"additionalProperties":false}}"#,
        words(signals)
    );
    let ask = (
        EndingTool::AskOperator,
        "Ends your turn with a question; the answer is your next message. Ask only what would change the result.",
        ASK_SCHEMA.to_owned(),
    );
    let handoff = (
        EndingTool::Handoff,
        "Ends your turn. Give either targets or type, as your packet allows, once every artifact is on disk; call \
         nothing else in that message.",
        handoff,
    );
    let both = [ask, handoff].into_iter();
    both.filter_map(|(tool, description, schema)| {
        let told = ToldTool {
            name: tool.name().to_owned(),
            description: description.to_owned(),
            schema: RawValue::from_string(schema).ok()?,
        };
        Some(told.into())
    })
    .collect()
}

/// What a question takes.
const ASK_SCHEMA: &str = r#"{"type":"object","properties":{"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"},"description":"2 to 5, the recommended one first; a free answer is always possible."}},"required":["question"],"additionalProperties":false}"#;

/// What a call that ends a turn does, in a few words, as other calls say it of themselves; none if its arguments mean
/// nothing.
#[must_use]
pub(crate) fn summary_of(tool: EndingTool, arguments: &str) -> Option<String> {
    if tool == EndingTool::AskOperator {
        // The question has an item of its own.
        return Some("ask the operator".to_owned());
    }
    let called = read_call(tool, arguments, &AllowedOutcomes::default()).ok()?;
    Some(match called.outcome {
        RoleOutcome::Handoff(targets) => {
            let each = targets.iter();
            let each = each.map(|to| format!("{} to {}", to.artifact_path, to.target_node_id));
            format!("hand over {}", each.collect::<Vec<_>>().join(", "))
        }
        RoleOutcome::PromptHuman => "ask the operator".to_owned(),
        RoleOutcome::AwaitHandoff => "wait for a handoff".to_owned(),
        RoleOutcome::ForwardPassClosed => "close the forward pass".to_owned(),
        RoleOutcome::MetaAnalysisComplete { findings_path } => {
            format!("hand in the findings {findings_path}")
        }
        RoleOutcome::BackwardPassComplete { artifact_path } => {
            format!("hand in the report {artifact_path}")
        }
    })
}

/// Reads the arguments of a call that ends a turn.
///
/// # Errors
/// When their meaning is ambiguous.
pub(crate) fn read_call(
    tool: EndingTool,
    arguments: &str,
    allowed: &AllowedOutcomes,
) -> Result<OutcomeCall, HandoffFault> {
    let given = serde_json::from_str::<Value>(arguments).ok().map(unpacked);
    let Some(Value::Object(given)) = given else {
        return Err(shape(format!(
            "the arguments of {} are not a JSON object",
            tool.name()
        )));
    };
    match tool {
        EndingTool::Handoff => handoff(&given, allowed),
        EndingTool::AskOperator => question(&given),
    }
}

/// JSON that was written as a text, as some models do.
fn unpacked(value: Value) -> Value {
    let inner = value.as_str().map(serde_json::from_str::<Value>);
    match inner {
        Some(Ok(inner @ (Value::Object(_) | Value::Array(_)))) => inner,
        Some(_) | None => value,
    }
}

/// A member under one of its names, in any spelling of joints and cases; null is absent.
fn member<'v>(given: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let fits = |key: &str| names.iter().any(|name| plain(name) == plain(key));
    let found = given.iter().find(|(key, _)| fits(key));
    found
        .map(|(_, value)| value)
        .filter(|value| !value.is_null())
}

const NODE: &[&str] = &[
    "target_node_id",
    "target_node",
    "target",
    "node_id",
    "node",
    "to",
];
const ARTIFACT: &[&str] = &["artifact_path", "artifact", "path", "file"];

fn handoff(
    given: &Map<String, Value>,
    allowed: &AllowedOutcomes,
) -> Result<OutcomeCall, HandoffFault> {
    let targets = member(given, &["targets", "handoffs"])
        .cloned()
        .map(unpacked);
    let targets = match targets {
        Some(Value::Array(list)) if list.is_empty() => None,
        Some(Value::String(text)) if text.trim().is_empty() => None,
        // One target beside `type`, as if it were the whole.
        None if member(given, NODE).is_some_and(Value::is_string) => {
            Some(Value::Object(given.clone()))
        }
        targets => targets,
    };
    let signal = member(given, &["type", "signal"])
        .filter(|signal| signal.as_str().is_none_or(|word| !is_no_signal(word)));
    let outcome = match (targets, signal) {
        (Some(targets), None) => RoleOutcome::Handoff(read_targets(&targets)?),
        (None, Some(signal)) => signal_of(signal, allowed)?,
        (Some(_), Some(_)) => {
            return Err(shape("the call gives targets and a type; give one of them"));
        }
        (None, None) => {
            let message = "the call gives neither targets nor a type; give one of them";
            return Err(fault(FaultCode::MissingRequiredField, message));
        }
    };
    Ok(OutcomeCall {
        outcome,
        question: None,
        choices: Vec::new(),
    })
}

/// A word by which models say that they hand to nodes.
fn is_no_signal(word: &str) -> bool {
    matches!(word.trim(), "" | "handoff" | "targets" | "none")
}

fn read_targets(targets: &Value) -> Result<Vec<NamedTarget>, HandoffFault> {
    let list = match targets {
        Value::Array(list) => list.as_slice(),
        one @ Value::Object(_) => std::slice::from_ref(one),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(shape(
                "targets must be a list of objects with target_node_id and artifact_path",
            ));
        }
    };
    if list.len() > MAX_TARGETS {
        return Err(shape(format!(
            "the call has {} targets and may have {MAX_TARGETS}",
            list.len()
        )));
    }
    list.iter().map(read_target).collect()
}

fn read_target(target: &Value) -> Result<NamedTarget, HandoffFault> {
    let Value::Object(given) = target else {
        return Err(shape(
            "a target is not an object with target_node_id and artifact_path",
        ));
    };
    let field = |names: &[&str]| {
        let text = member(given, names).and_then(Value::as_str).map(bare);
        text.filter(|text| !text.is_empty()).ok_or_else(|| {
            let name = names.first().copied().unwrap_or_default();
            fault(
                FaultCode::MissingRequiredField,
                format!("a target has no {name}"),
            )
        })
    };
    Ok(NamedTarget {
        target_node_id: field(NODE)?,
        artifact_path: field(ARTIFACT)?,
    })
}

/// A name without the marks that a model put around it.
pub(super) fn bare(text: &str) -> String {
    let text = text.trim();
    let inner = text
        .strip_prefix('`')
        .and_then(|text| text.strip_suffix('`'));
    inner.map_or(text, str::trim).to_owned()
}

fn signal_of(signal: &Value, allowed: &AllowedOutcomes) -> Result<RoleOutcome, HandoffFault> {
    let word = signal.as_str().map(|word| bare(word).replace('_', "-"));
    let assigned = |wanted: fn(&Signal) -> bool| allowed.signals.iter().find(|it| wanted(it));
    let outcome = match word.as_deref() {
        Some("prompt-human") => RoleOutcome::PromptHuman,
        Some("await-handoff") => RoleOutcome::AwaitHandoff,
        Some("forward-pass-closed") => RoleOutcome::ForwardPassClosed,
        // Where the file must be is the packet's to say.
        Some("meta-analysis-complete") => {
            let known = assigned(|it| matches!(it, Signal::MetaAnalysisComplete { .. }));
            known.map_or_else(
                || RoleOutcome::MetaAnalysisComplete {
                    findings_path: String::new(),
                },
                Signal::outcome,
            )
        }
        Some("backward-pass-complete") => {
            let known = assigned(|it| matches!(it, Signal::BackwardPassComplete { .. }));
            known.map_or_else(
                || RoleOutcome::BackwardPassComplete {
                    artifact_path: String::new(),
                },
                Signal::outcome,
            )
        }
        Some(_) | None => {
            let message = "that type is not one of the endings; to hand off to nodes, give targets \
                           and no type";
            return Err(fault(FaultCode::UnknownSignalType, message));
        }
    };
    Ok(outcome)
}

fn question(given: &Map<String, Value>) -> Result<OutcomeCall, HandoffFault> {
    let first = first_question(given);
    let given = first.as_ref().unwrap_or(given);
    let text = member(given, &["question", "prompt", "message", "text"]);
    let text = text.and_then(Value::as_str).unwrap_or_default().trim();
    if text.is_empty() {
        let message = "the call has no question";
        return Err(fault(FaultCode::MissingRequiredField, message));
    }
    if text.len() > MAX_QUESTION_BYTES {
        return Err(shape(format!(
            "the question has {} bytes and may have {MAX_QUESTION_BYTES}; write the rest to a file",
            text.len()
        )));
    }
    let mut choices = choices(given);
    let question = with_choices(text, &choices);
    // What is longer is no choice, and is read with the question.
    if choices.iter().any(|choice| choice.len() > MAX_CHOICE_BYTES) {
        choices.clear();
    }
    Ok(OutcomeCall {
        outcome: RoleOutcome::PromptHuman,
        question: Some(question),
        choices,
    })
}

/// The first of several questions, as another tool of this kind takes them.
fn first_question(given: &Map<String, Value>) -> Option<Map<String, Value>> {
    let Value::Array(list) = member(given, &["questions"]).cloned().map(unpacked)? else {
        return None;
    };
    list.into_iter().next()?.as_object().cloned()
}

/// The choices of a question, each on one line.
fn choices(given: &Map<String, Value>) -> Vec<String> {
    let listed = member(given, &["choices", "options"])
        .cloned()
        .map(unpacked);
    let Some(Value::Array(list)) = listed else {
        return Vec::new();
    };
    let text = |choice: &Value| {
        let text = choice.as_str().or_else(|| {
            let object = choice.as_object()?;
            member(object, &["label", "text", "value", "title"])?.as_str()
        })?;
        let flat: Vec<&str> = text.split_whitespace().collect();
        (!flat.is_empty()).then(|| flat.join(" "))
    };
    list.iter().filter_map(text).take(MAX_CHOICES).collect()
}

/// The choice that an answer names by its number or in its words, in the form that the model reads.
#[must_use]
pub fn chosen(arguments: &str, answer: &str) -> Option<String> {
    let given = serde_json::from_str::<Value>(arguments)
        .ok()
        .map(unpacked)?;
    let given = given.as_object()?;
    let first = first_question(given);
    let choices = choices(first.as_ref().unwrap_or(given));
    let answer = answer.trim();
    let number = answer.trim_end_matches(['.', ')']).parse::<usize>().ok();
    let at = match number {
        Some(number) => number.checked_sub(1)?,
        None => choices
            .iter()
            .position(|choice| choice.eq_ignore_ascii_case(answer))?,
    };
    let choice = choices.get(at)?.trim_end_matches('.');
    Some(format!("Choice {}: {choice}.", at + 1))
}

fn shape(message: impl Into<String>) -> HandoffFault {
    fault(FaultCode::InvalidTargetShape, message)
}

fn fault(code: FaultCode, message: impl Into<String>) -> HandoffFault {
    HandoffFault::without_place(code, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(arguments: &str) -> Result<RoleOutcome, FaultCode> {
        let allowed = AllowedOutcomes {
            signals: vec![Signal::MetaAnalysisComplete {
                findings_path: "record/findings/a.md".to_owned(),
            }],
            ..AllowedOutcomes::default()
        };
        let read = read_call(EndingTool::Handoff, arguments, &allowed);
        read.map(|called| called.outcome)
            .map_err(|fault| fault.code)
    }

    fn one(node: &str, path: &str) -> Result<RoleOutcome, FaultCode> {
        Ok(RoleOutcome::Handoff(vec![NamedTarget {
            target_node_id: node.to_owned(),
            artifact_path: path.to_owned(),
        }]))
    }

    #[test]
    fn a_call_that_ends_a_turn_is_told_in_words_and_not_as_json() {
        let of = |tool, arguments| summary_of(tool, arguments);
        for (arguments, expected) in [
            (
                r#"{"targets":[{"target_node_id":"a","artifact_path":"record/x.md"},{"target_node_id":"b","artifact_path":"record/y.md"}]}"#,
                Some("hand over record/x.md to a, record/y.md to b"),
            ),
            (
                r#"{"type":"forward-pass-closed"}"#,
                Some("close the forward pass"),
            ),
            (r#"{"targets":[]}"#, None),
            ("[]", None),
        ] {
            let summary = of(EndingTool::Handoff, arguments);
            assert_eq!(summary.as_deref(), expected, "{arguments}");
        }
        let asked = of(EndingTool::AskOperator, r#"{"question":"Which?"}"#);
        assert_eq!(asked.as_deref(), Some("ask the operator"));
    }

    #[test]
    fn the_arguments_of_a_handoff_are_read_where_their_meaning_is_certain() {
        for arguments in [
            r#"{"targets":[{"target_node_id":"a","artifact_path":"record/x.md"}]}"#,
            r#"{"targets":[{"targetNodeId":"a","artifactPath":"record/x.md"}],"type":null}"#,
            r#"{"targets":{"node":"`a`","artifact":" record/x.md "}}"#,
            r#"{"targets":"[{\"target\":\"a\",\"artifact_path\":\"record/x.md\"}]"}"#,
            r#"{"target_node_id":"a","artifact_path":"record/x.md","type":"handoff"}"#,
            r#""{\"targets\":[{\"target_node_id\":\"a\",\"artifact_path\":\"record/x.md\"}]}""#,
        ] {
            assert_eq!(read(arguments), one("a", "record/x.md"), "{arguments}");
        }
        assert_eq!(
            read(r#"{"type":"await_handoff","targets":[]}"#),
            Ok(RoleOutcome::AwaitHandoff)
        );
        assert_eq!(
            read(r#"{"type":"meta-analysis-complete"}"#),
            Ok(RoleOutcome::MetaAnalysisComplete {
                findings_path: "record/findings/a.md".to_owned()
            })
        );
    }

    #[test]
    fn what_cannot_be_meant_is_a_fault_with_its_code() {
        for (arguments, code) in [
            ("{", FaultCode::InvalidTargetShape),
            ("[]", FaultCode::InvalidTargetShape),
            ("{}", FaultCode::MissingRequiredField),
            (r#"{"targets":[]}"#, FaultCode::MissingRequiredField),
            (r#"{"targets":["a"]}"#, FaultCode::InvalidTargetShape),
            (r#"{"targets":7}"#, FaultCode::InvalidTargetShape),
            (
                r#"{"targets":[{"target_node_id":"a"}]}"#,
                FaultCode::MissingRequiredField,
            ),
            (r#"{"type":"done"}"#, FaultCode::UnknownSignalType),
            (
                r#"{"type":"await-handoff","targets":[{"node":"a","artifact":"x"}]}"#,
                FaultCode::InvalidTargetShape,
            ),
        ] {
            assert_eq!(read(arguments), Err(code), "{arguments}");
        }
    }

    #[test]
    fn a_question_has_its_choices_and_an_answer_names_one() {
        let arguments = r#"{"question":"Which one?","choices":["Drop it.","keep both"]}"#;
        let called = read_call(
            EndingTool::AskOperator,
            arguments,
            &AllowedOutcomes::default(),
        );
        let called = called.unwrap();
        assert_eq!(called.choices, ["Drop it.", "keep both"]);
        assert_eq!(
            called.question.as_deref(),
            Some("Which one?\n\n1. Drop it.\n2. keep both")
        );
        for (answer, said) in [
            ("2", Some("Choice 2: keep both.")),
            (" 1. ", Some("Choice 1: Drop it.")),
            ("Keep Both", Some("Choice 2: keep both.")),
            ("3", None),
            ("0", None),
            ("2 please", None),
        ] {
            assert_eq!(chosen(arguments, answer).as_deref(), said, "{answer}");
        }
        let theirs = r#"{"questions":[{"question":"Q?","options":[{"label":"A"},{"label":"B"}]}]}"#;
        let called =
            read_call(EndingTool::AskOperator, theirs, &AllowedOutcomes::default()).unwrap();
        assert_eq!(called.question.unwrap(), "Q?\n\n1. A\n2. B");
        assert!(read_call(EndingTool::AskOperator, "{}", &AllowedOutcomes::default()).is_err());
        // What no screen can offer is read with the question only.
        let long = json!({"question": "Q?", "choices": ["x".repeat(MAX_CHOICE_BYTES + 1)]});
        let long = long.to_string();
        let called =
            read_call(EndingTool::AskOperator, &long, &AllowedOutcomes::default()).unwrap();
        assert!(called.choices.is_empty() && called.question.unwrap().ends_with('x'));
    }

    #[test]
    fn the_definitions_name_the_nodes_unless_they_are_too_many() {
        let nodes: Vec<String> = (0..41).map(|number| format!("n{number}")).collect();
        let node = |nodes: Option<&[String]>| {
            let handoff = ending_tools(nodes, &["await-handoff"]).remove(1);
            let schema: Value = serde_json::from_str(handoff.schema.get()).unwrap();
            schema["properties"]["targets"]["items"]["properties"]["target_node_id"].clone()
        };
        assert_eq!(node(Some(&nodes[..2]))["enum"], json!(["n0", "n1"]));
        assert_eq!(node(Some(&nodes)), json!({ "type": "string" }));
        assert_eq!(node(None), json!({ "type": "string" }));
    }
}
