//! What a flow asks its operator, and the commands that answer.

use std::borrow::Cow;

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::message::Text;
use a_society_facts::words::choices::Choice;
use a_society_operator_ui::fold::asks::{Answering, AskAnswer, OpenAsk};
use a_society_operator_ui::protocol::ask::{Fact, ShortBudget};
use a_society_orchestrator::machine::OperatorQuestion;
use a_society_state::{FlowRef, Store};
use serde::Serialize;
use serde_json::{Value, json};

use super::card_rows::labelled;
use super::say::goes_on_with;
use super::words;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::text::{and, exact, wrapped};

/// Longer questions are cut; the whole text is in the feed.
pub(crate) const QUESTION_LINES_MAX: usize = 24;

/// Longer lines of a question are cut.
pub(crate) const QUESTION_COLUMNS_MAX: usize = 200;

/// An answer, for programs: the key that gives it at the cursor, and the command that does the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    /// The key, where one key answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<char>,
    /// What it decides, in one word.
    pub(crate) decision: &'static str,
    /// The command.
    pub(crate) command: String,
}

/// The commands that answer, by the shortest name of the flow.
pub(crate) fn commands(name: &str, ask: &OpenAsk) -> Vec<Answer> {
    let answers = ask.answers().into_iter();
    let answers = answers.filter_map(|AskAnswer { key, does }| {
        let (decision, command) = command(name, ask, does)?;
        Some(Answer {
            key,
            decision,
            command: format!("a-society {command}"),
        })
    });
    answers.collect()
}

/// Whether it takes one of the choices that a role offers, whose number is typed for the text as well.
pub(crate) fn is_pick(answer: &Answer) -> bool {
    answer.key.is_some_and(|key| key.is_ascii_digit())
}

/// What an answer decides, and the command for it; `None` if no command does it.
fn command(name: &str, ask: &OpenAsk, does: Answering) -> Option<(&'static str, String)> {
    let (_, id) = named_by(&ask.question);
    let to = ask.role.as_ref().map(|role| named(ask.node(), role));
    let to = to.unwrap_or_default();
    let role = ask.role.as_ref().map_or("", |role| role.as_str());
    Some(match does {
        Answering::Choose(choice) => match choice {
            Choice::Allow => ("allow_once", format!("allow {name} {id}")),
            Choice::AllowFlow => ("allow_flow", format!("allow {name} {id} --for-the-flow")),
            Choice::Deny => ("deny", format!("deny {name} {id}")),
            Choice::DenyReason => ("deny", format!("deny {name} {id} --reason TEXT")),
            Choice::Approve => ("approve", format!("approve {name} {id}")),
            Choice::Decline => ("decline", format!("decline {name} {id}")),
            Choice::DeclineReason => ("decline", format!("decline {name} {id} --reason TEXT")),
            Choice::Retry => ("retry", format!("retry {name} {to}")),
            Choice::RetryNote => ("reply", format!("reply {name} {to} TEXT")),
            Choice::Raise => ("budget", raised(name, ask.budget.as_ref()?)?),
            Choice::Grant => ("yes", format!("feedback {name} yes")),
            Choice::Refuse => ("no", format!("feedback {name} no")),
            Choice::Continue => ("unpause", format!("unpause {name}")),
            Choice::Amount | Choice::Resume | Choice::ResumeNote => return None,
        },
        Answering::Pick(at) => ("reply", format!("reply {name} {to} {}", at + 1)),
        Answering::Reply => ("reply", format!("reply {name} {to} TEXT")),
        Answering::Configure => ("configure", format!("configure {name} {role} model=NAME")),
        Answering::Improve(mode) => {
            let word = words::improvement(mode);
            (word, format!("improve {name} {word}"))
        }
        Answering::Reopen => ("reopen", format!("reopen {name} NODE")),
        Answering::Revise => ("revise", format!("revise {name} FILE")),
    })
}

/// The code of a command that leaves a flow waiting for all of this.
pub(crate) fn exit_code(asks: &[OpenAsk]) -> ExitCode {
    let order = [
        ExitCode::DiskFull,
        ExitCode::WaitsForModel,
        ExitCode::WaitsForBudget,
        ExitCode::WaitsAfterFailure,
        ExitCode::WaitsForConsent,
    ];
    let is_there = |code: &ExitCode| asks.iter().any(|ask| self::code(ask) == *code);
    (order.into_iter().find(is_there)).unwrap_or(ExitCode::Waiting)
}

/// The code of a command that leaves a flow waiting for this.
pub(crate) fn code(ask: &OpenAsk) -> ExitCode {
    match &ask.question {
        OperatorQuestion::Consent { .. } => ExitCode::WaitsForConsent,
        OperatorQuestion::Configuration { .. } => ExitCode::WaitsForModel,
        OperatorQuestion::Text { reason, .. } => match reason {
            WaitReason::PromptHuman
            | WaitReason::Consent
            | WaitReason::ConsentDenied
            | WaitReason::HandoffApproval
            | WaitReason::Message => ExitCode::Waiting,
            WaitReason::RoleConfiguration => ExitCode::WaitsForModel,
            WaitReason::Budget => ExitCode::WaitsForBudget,
            WaitReason::AutonomousAbort | WaitReason::RepairLimit => ExitCode::WaitsAfterFailure,
            WaitReason::Provider => match ask.trouble {
                Some(Trouble::Limit | Trouble::Unreachable | Trouble::Refused) => {
                    ExitCode::WaitsAfterFailure
                }
                Some(
                    Trouble::Key
                    | Trouble::Credit
                    | Trouble::Model
                    | Trouble::Window
                    | Trouble::ToolServer
                    | Trouble::Configuration,
                )
                | None => ExitCode::WaitsForModel,
            },
        },
        OperatorQuestion::Unpause { reason } => match reason {
            PauseReason::Budget => ExitCode::WaitsForBudget,
            PauseReason::DiskFull => ExitCode::DiskFull,
            PauseReason::Operator | PauseReason::Irreversible => ExitCode::Waiting,
        },
        OperatorQuestion::Approval { .. }
        | OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Stalled => ExitCode::Waiting,
    }
}

/// The shortest name of a flow that a command takes.
pub(crate) fn short(flow: &FlowRef) -> &str {
    let id = flow.flow.as_str();
    id.rsplit('-').next().unwrap_or(id)
}

/// What is to be read: a question, a call, more about a pause, or what would go where.
pub(crate) fn says(ask: &OpenAsk) -> Option<Cow<'_, str>> {
    if let OperatorQuestion::Approval { .. } = ask.question {
        let shown = ask.deliveries.iter();
        let shown = shown.map(|it| format!("{} to {}", it.artifact.path, it.receiver()));
        return Some(Cow::Owned(shown.collect::<Vec<_>>().join(", ")));
    }
    ask.says.as_deref().map(Cow::Borrowed)
}

/// A fact on a line of its own, if it says something.
pub(crate) fn fact_line(fact: &Fact) -> Option<String> {
    labelled(fact).map(|(label, value)| format!("  {label}: {value}"))
}

/// The command that raises a budget to what gives room.
fn raised(name: &str, short: &ShortBudget) -> Option<String> {
    let measure = match short.measure {
        Measure::Tokens => "tokens",
        Measure::CostMicros => "cost",
        Measure::Turns => "turns",
        // Nothing bounds it from the command line.
        Measure::WallMs => return None,
    };
    let role = short.role.as_ref().map(|role| format!(" --role {role}"));
    let role = role.unwrap_or_default();
    let limit = short.raise_to;
    Some(format!("budget {name} {measure} {limit}{role}"))
}

/// Who asks: a node, a role, or the flow.
pub(crate) fn who(ask: &OpenAsk) -> String {
    match (ask.node(), &ask.role) {
        (Some(node), _) if matches!(ask.question, OperatorQuestion::Approval { .. }) => {
            node.to_string()
        }
        (Some(node), Some(role)) => format!("{node} ({role})"),
        (Some(node), None) => node.to_string(),
        (None, Some(role)) => role.to_string(),
        (None, None) => "the flow".to_owned(),
    }
}

pub(crate) fn named(node: Option<&NodeId>, role: &RoleInstance) -> String {
    match node {
        Some(node) => format!("--node {node}"),
        None => format!("--role {role}"),
    }
}

/// What would be handed over, with the receivers of a file together: `record/plan.md to backend and frontend`.
pub(crate) fn handed_over(ask: &OpenAsk) -> String {
    let mut each: Vec<(&str, Vec<String>)> = Vec::new();
    for delivery in &ask.deliveries {
        let path = delivery.artifact.path.as_str();
        let to = delivery.receiver().to_string();
        match each.iter_mut().find(|(known, _)| *known == path) {
            Some((_, receivers)) => receivers.push(to),
            None => each.push((path, vec![to])),
        }
    }
    let each = each.iter().map(|(path, to)| {
        let to: Vec<&str> = to.iter().map(String::as_str).collect();
        format!("{path} to {}", and(&to))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// All of a text that may be kept as a blob.
pub(crate) fn whole(store: &Store, flow: &FlowRef, text: &Text) -> String {
    let whole = store.place(flow).whole_text(text);
    whole
        .unwrap_or_else(|error| format!("{}\n[the rest cannot be read: {error}]", text.beginning()))
}

/// Whether a question is too long to be shown whole.
pub(crate) fn is_cut(says: &str) -> bool {
    let is_long = |line: &str| exact(line).chars().nth(QUESTION_COLUMNS_MAX).is_some();
    says.lines().nth(QUESTION_LINES_MAX).is_some() || says.lines().any(is_long)
}

/// The first lines of a question with their white space, and how many there are. What is left out of a line is
/// counted in it.
pub(crate) fn shown_lines(
    says: &str,
    lines_max: usize,
    columns_max: usize,
) -> (Vec<String>, usize) {
    let all: Vec<&str> = says.lines().collect();
    let shown = all.iter().take(lines_max).map(|line| {
        let line = exact(line);
        match line.char_indices().nth(columns_max) {
            Some((end, _)) => {
                let (shown, rest) = line.split_at(end);
                format!("{shown} [… {} more characters]", rest.chars().count())
            }
            None => line.into_owned(),
        }
    });
    (shown.collect(), all.len())
}

/// The lines of a question, and how many are left out.
fn said(says: &str) -> Vec<String> {
    let (mut shown, all) = shown_lines(says, QUESTION_LINES_MAX, QUESTION_COLUMNS_MAX);
    let more = all.saturating_sub(shown.len());
    if more > 0 {
        shown.push(format!("[… {more} more lines]"));
    }
    shown
}

/// What asks that is no node and no role.
pub(crate) const OF_THE_FLOW: &str = "flow";

/// The kind of a question, and what it is named by: what `allow`, `deny`, `approve` and `decline` take, or who waits.
pub(crate) fn named_by(question: &OperatorQuestion) -> (&'static str, String) {
    let waits = |node: &Option<NodeId>, role: &RoleInstance| {
        (node.as_ref()).map_or_else(|| role.to_string(), ToString::to_string)
    };
    let of_the_flow = |kind| (kind, OF_THE_FLOW.to_owned());
    match question {
        OperatorQuestion::Consent { consent, .. } => ("consent", consent.to_string()),
        OperatorQuestion::Approval { approval, .. } => ("approval", approval.to_string()),
        OperatorQuestion::Text { node, role, reason } => {
            let kind = if *reason == WaitReason::Budget {
                "budget"
            } else {
                "text"
            };
            (kind, waits(node, role))
        }
        OperatorQuestion::Configuration { node, role } => ("configuration", waits(node, role)),
        OperatorQuestion::Improvement { .. } => of_the_flow("improvement"),
        OperatorQuestion::Feedback => of_the_flow("feedback"),
        OperatorQuestion::Unpause { .. } => of_the_flow("pause"),
        OperatorQuestion::Stalled => of_the_flow("stalled"),
    }
}

/// The same for programs.
pub(crate) fn as_json(flow: &FlowRef, asks: &[OpenAsk]) -> Value {
    let asks = asks.iter().map(|ask| {
        let (kind, id) = named_by(&ask.question);
        let answers = commands(short(flow), ask);
        let commands = answers.iter().map(|answer| &answer.command);
        let mut value = json!({
            "ask": id,
            "kind": kind,
            "node": ask.node(),
            "role": ask.role,
            "who": who(ask),
            "waits_for": ask.wants(),
            "says": says(ask),
            "facts": ask.facts(),
            "answers": commands.collect::<Vec<_>>(),
            "keys": answers,
            "exit_code": code(ask).number(),
        });
        if !ask.choices.is_empty() {
            value["choices"] = json!(ask.choices);
        }
        value
    });
    Value::Array(asks.collect())
}

/// The same for people, a few lines each.
pub(crate) fn lines(out: &Output, name: &str, asks: &[OpenAsk]) -> Vec<String> {
    let each = asks.iter().flat_map(|ask| lines_of(out, name, ask, ""));
    each.collect()
}

/// The lines of one ask, the first of which says who waits for what, and more about that.
pub(crate) fn lines_of(out: &Output, name: &str, ask: &OpenAsk, more: &str) -> Vec<String> {
    let head = head(out, ask, more);
    if let Some((why, command)) = mended(name, ask) {
        let rows = labelled_rows(out, "why", &why).into_iter();
        let rows = rows.chain([format!("  try: {command}")]);
        return std::iter::once(head).chain(rows).collect();
    }
    let mut lines = vec![head];
    lines.extend(card(out, name, ask));
    let answers = commands(name, ask);
    let answers = answers.iter().filter(|answer| !is_pick(answer));
    lines.extend(answers.map(|answer| format!("  {}", answer.command)));
    lines
}

/// The lines below a line that said already who waits first, and for what.
pub(crate) fn lines_below(out: &Output, name: &str, asks: &[OpenAsk]) -> Vec<String> {
    lines(out, name, asks).into_iter().skip(1).collect()
}

/// Why a role cannot reach its model, in a line, and the command once that is mended.
pub(crate) fn mended(name: &str, ask: &OpenAsk) -> Option<(String, String)> {
    let OperatorQuestion::Text {
        reason: WaitReason::Provider,
        ..
    } = &ask.question
    else {
        return None;
    };
    let says = says(ask)?;
    let answers = commands(name, ask);
    let retry = answers.iter().find(|answer| answer.decision == "retry")?;
    let is_line = !says.trim().is_empty() && says.trim().lines().count() == 1;
    let goes_on = goes_on_with(ask.is_chat, name);
    let command = format!("{} && {goes_on}", retry.command);
    is_line.then(|| (says.trim().to_owned(), command))
}

/// A text behind a label, in rows that fit.
fn labelled_rows(out: &Output, label: &str, text: &str) -> Vec<String> {
    let before = format!("  {label}: ");
    let (columns, _) = out.size();
    let room = if out.is_terminal() {
        columns.saturating_sub(before.len() + 1).max(1)
    } else {
        usize::MAX
    };
    let rows = wrapped(&exact(text), room).into_iter().enumerate();
    rows.map(|(at, row)| match at {
        0 => format!("{before}{row}"),
        _ => format!("{:1$}{row}", "", before.len()),
    })
    .collect()
}

/// Who waits for what.
fn head(out: &Output, ask: &OpenAsk, more: &str) -> String {
    let head = format!(
        "{} waits for {}{more}",
        exact(&who(ask)),
        exact(&ask.wants())
    );
    out.paint.yellow(&head)
}

/// What begins a line that a role wrote.
const BAR: &str = "  │ ";

/// What is to be read of an ask.
fn card(out: &Output, name: &str, ask: &OpenAsk) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(says) = says(ask) {
        let (columns, _) = out.size();
        let room = columns.saturating_sub(BAR.chars().count() + 1).max(1);
        let is_prose = matches!(ask.question, OperatorQuestion::Text { .. });
        // Nothing is cut that is read later.
        let shown = if out.is_terminal() {
            said(&says)
        } else {
            let lines = says.lines().map(|line| exact(line).into_owned());
            lines.collect()
        };
        for line in shown {
            // What ran stays one line, so that it can be copied.
            let rows = match is_prose && out.is_terminal() {
                true => wrapped(&line, room),
                false => vec![line],
            };
            lines.extend(rows.into_iter().map(|row| format!("{BAR}{row}")));
        }
        if out.is_terminal()
            && is_cut(&says)
            && let OperatorQuestion::Consent { .. } = ask.question
        {
            lines.push(format!("  all of it: a-society show {name} --call"));
        }
    }
    let known = ask.facts().iter().filter_map(|fact| {
        let line = fact_line(fact)?;
        Some(if fact.warn {
            out.paint.yellow(&line)
        } else {
            line
        })
    });
    lines.extend(known);
    lines
}

/// The commands that do something else than to answer with a text, where a text is asked for.
pub(crate) fn other_ways(name: &str, ask: &OpenAsk) -> Vec<String> {
    let OperatorQuestion::Text { .. } = ask.question else {
        return Vec::new();
    };
    let answers = commands(name, ask).into_iter();
    let others = answers.filter(|answer| answer.key.is_none() && answer.decision != "reply");
    let line = |answer: Answer| format!("  or: {}", answer.command);
    others.map(line).collect()
}
