//! The input of a program: the packet on its standard input, and variables.

use a_society_base::process::tree::ProcessMark;
use a_society_facts::id::CallId;
use serde::Serialize;

use super::spec::InheritedVariables;
use crate::handoff::Signal;
use crate::turn::job::TurnJob;
use crate::turn::tail::begun_text;

/// The packet. Members may be added; none changes its meaning.
#[derive(Debug, Serialize)]
struct Packet<'j> {
    version: u32,
    flow: &'j str,
    turn: u64,
    attempt: u32,
    role: &'j str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'j str>,
    /// Which turn of the role at the node, from 1.
    visit: u32,
    record: String,
    project: String,
    packet: &'j str,
    allowed: Ways<'j>,
}

#[derive(Debug, Serialize)]
struct Ways<'j> {
    forward: &'j [String],
    backward: &'j [String],
    signals: Vec<&'static str>,
}

/// The packet as one line of JSON.
pub(super) fn packet(job: &TurnJob) -> Vec<u8> {
    let packet = Packet {
        version: 1,
        flow: job.flow.as_str(),
        turn: job.turn.0,
        attempt: job.attempt,
        role: job.role.as_str(),
        node: job.node.as_ref().map(|node| node.as_str()),
        visit: job.turns_before.saturating_add(1),
        record: job.record.to_string_lossy().into_owned(),
        project: job.project.to_string_lossy().into_owned(),
        packet: begun_text(job),
        allowed: Ways {
            forward: &job.allowed.forward,
            backward: &job.allowed.backward,
            signals: job.allowed.signals.iter().map(word).collect(),
        },
    };
    let mut bytes = serde_json::to_vec(&packet).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn word(signal: &Signal) -> &'static str {
    match signal {
        Signal::PromptHuman => "prompt-human",
        Signal::AwaitHandoff => "await-handoff",
        Signal::ForwardPassClosed => "forward-pass-closed",
        Signal::MetaAnalysisComplete { .. } => "meta-analysis-complete",
        Signal::BackwardPassComplete { .. } => "backward-pass-complete",
    }
}

/// The variable by which every process of one call is known, also when it left its group. What a
/// program starts inherits it.
pub(crate) fn mark(flow: &str, call: &CallId) -> ProcessMark {
    ProcessMark::new("A_SOCIETY_CALL", format!("{flow}/{call}"))
}

/// All variables that a program gets.
pub(super) fn variables(
    inherited: &InheritedVariables,
    job: &TurnJob,
    call: &CallId,
) -> Vec<(String, String)> {
    let is_ours = |name: &str| name.starts_with("A_SOCIETY_");
    let mut variables = inherited.0.clone();
    variables.retain(|(name, _)| !is_ours(name) && is_name(name));
    let mut add = |name: &str, value: String| variables.push((format!("A_SOCIETY_{name}"), value));
    add("FLOW", job.flow.to_string());
    add("TURN", job.turn.0.to_string());
    add("ATTEMPT", job.attempt.to_string());
    add("ROLE", job.role.to_string());
    if let Some(node) = &job.node {
        add("NODE", node.to_string());
    }
    add("RECORD", job.record.to_string_lossy().into_owned());
    add("PROJECT", job.project.to_string_lossy().into_owned());
    let mark = mark(job.flow.as_str(), call);
    let (name, value) = mark.variable();
    variables.push((name.to_owned(), value.to_owned()));
    variables.retain(|(_, value)| !value.contains('\0'));
    variables
}

/// A name that a system takes; others would make the program fail to start.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taker::tests::stage::job;

    #[test]
    fn the_packet_is_one_line_of_json_that_says_everything_about_the_turn() {
        let bytes = packet(&job("builder", "build", 1));
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn a_program_gets_what_it_is_given_and_cannot_be_given_what_is_ours() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let inherited = InheritedVariables(vec![
            pair("PATH", "/bin"),
            pair("A_SOCIETY_CALL", "forged"),
            pair("A=B", "x"),
            pair("NUL", "a\0b"),
        ]);
        let call = "7.1.1".parse().unwrap();
        let mut job = job("builder", "build", 0);
        job.node = None;
        let variables = variables(&inherited, &job, &call);
        let lines: Vec<String> = variables.iter().map(|(n, v)| format!("{n}={v}")).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
