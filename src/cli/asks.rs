//! What a flow asks its operator, and the commands that answer.

use std::borrow::Cow;

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::node::{Trouble, WaitReason};
use a_society_facts::id::{ApprovalId, ConsentId, NodeId, RoleInstance};
use a_society_facts::message::Text;
use a_society_facts::view::flow::{FlowState, OpenConsent};
use a_society_facts::words::asks::{
    NOTHING_CAN_RUN, REOPEN_OR_REVISE, RUN_A_RETROSPECTIVE, WRITE_A_REPORT, pause, your_choice,
};
use a_society_facts::words::calls::failure;
use a_society_operator_ui::fold::ask::{asked, is_own_turn, questions, short_of, trouble_of};
use a_society_operator_ui::fold::terms::{self, scope};
use a_society_operator_ui::protocol::ask::{Fact, ShortBudget};
use a_society_orchestrator::canonical;
use a_society_orchestrator::machine::{OperatorQuestion, Work};
use a_society_state::{FlowRef, Store};
use serde::Serialize;
use serde_json::{Value, json};

use super::card::is_retried;
use super::card_rows::labelled;
use super::words;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::text::{and, exact, wrapped};

/// Longer questions are cut; the whole text is in the feed.
pub(crate) const QUESTION_LINES_MAX: usize = 24;

/// Longer lines of a question are cut.
pub(crate) const QUESTION_COLUMNS_MAX: usize = 200;

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The shortest name of its flow.
    pub(crate) flow: String,
    /// The question itself.
    pub(crate) question: OperatorQuestion,
    /// Who asks: a node, a role, or the flow.
    pub(crate) who: String,
    /// What is wanted, to be read after "waits for".
    pub(crate) what: String,
    /// What the operator should read.
    pub(crate) says: Option<String>,
    /// Whether it is a turn that the operator takes.
    pub(crate) is_own_turn: bool,
    /// What matters for the decision, beside that.
    pub(crate) facts: Vec<Fact>,
    /// What answers it.
    pub(crate) answers: Vec<Answer>,
    /// With which code a command ends that leaves the flow waiting for this.
    pub(crate) code: ExitCode,
}

/// A command that answers, and the key that does the same at the cursor.
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

impl Answer {
    fn key(key: char, decision: &'static str, command: String) -> Self {
        Self {
            key: Some(key),
            decision,
            command,
        }
    }

    const fn typed(decision: &'static str, command: String) -> Self {
        Self {
            key: None,
            decision,
            command,
        }
    }
}

/// What answers a request for consent. Not every call can be allowed for the rest of the flow.
pub(crate) fn to_consent(name: &str, consent: &str, for_the_flow: bool) -> Vec<Answer> {
    let allow = format!("a-society allow {name} {consent}");
    let deny = format!("a-society deny {name} {consent}");
    let mut answers = vec![Answer::key('y', "allow_once", allow.clone())];
    if for_the_flow {
        answers.push(Answer::key(
            'f',
            "allow_flow",
            format!("{allow} --for-the-flow"),
        ));
    }
    answers.push(Answer::key('n', "deny", deny.clone()));
    answers.push(Answer::key('r', "deny", format!("{deny} --reason TEXT")));
    answers
}

/// What answers a handoff that waits.
pub(crate) fn to_approval(name: &str, approval: &str) -> Vec<Answer> {
    let decline = format!("a-society decline {name} {approval}");
    vec![
        Answer::key(
            'y',
            "approve",
            format!("a-society approve {name} {approval}"),
        ),
        Answer::key('n', "decline", decline.clone()),
        Answer::key('r', "decline", format!("{decline} --reason TEXT")),
    ]
}

/// What answers a node, or a role that looks back, which waits for this reason.
pub(crate) fn to_wait(
    name: &str,
    to: &str,
    reason: WaitReason,
    role: &RoleInstance,
) -> Vec<Answer> {
    let retry = format!("a-society retry {name} {to}");
    if reason == WaitReason::RoleConfiguration {
        let configure = format!("a-society configure {name} {role} model=NAME");
        return vec![
            Answer::typed("configure", configure),
            Answer::typed("retry", retry),
        ];
    }
    let reply = Answer {
        key: is_retried(reason).then_some('r'),
        decision: "reply",
        command: format!("a-society reply {name} {to} TEXT"),
    };
    let retry = Answer {
        key: is_retried(reason).then_some('y'),
        decision: "retry",
        command: retry,
    };
    let retry = reason.may_retry().then_some(retry);
    std::iter::once(reply).chain(retry).collect()
}

/// The code of a command that leaves a flow waiting for all of this.
pub(crate) fn exit_code(asks: &[Ask]) -> ExitCode {
    let order = [
        ExitCode::DiskFull,
        ExitCode::WaitsForModel,
        ExitCode::WaitsForBudget,
        ExitCode::WaitsAfterFailure,
        ExitCode::WaitsForConsent,
    ];
    let is_there = |code: &ExitCode| asks.iter().any(|ask| ask.code == *code);
    (order.into_iter().find(is_there)).unwrap_or(ExitCode::Waiting)
}

fn code(state: &FlowState, question: &OperatorQuestion) -> ExitCode {
    match question {
        OperatorQuestion::Consent { .. } => ExitCode::WaitsForConsent,
        OperatorQuestion::Configuration { .. } => ExitCode::WaitsForModel,
        OperatorQuestion::Text { node, role, reason } => match reason {
            WaitReason::PromptHuman
            | WaitReason::Consent
            | WaitReason::ConsentDenied
            | WaitReason::HandoffApproval => ExitCode::Waiting,
            WaitReason::RoleConfiguration => ExitCode::WaitsForModel,
            WaitReason::Budget => ExitCode::WaitsForBudget,
            WaitReason::AutonomousAbort | WaitReason::RepairLimit => ExitCode::WaitsAfterFailure,
            WaitReason::Provider => match trouble_of(state, node.as_ref(), role) {
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

/// Who asks, for what, what is to be read, and the commands that answer.
type Said = (String, String, Option<String>, Vec<Answer>);

/// The shortest name of a flow that a command takes.
pub(crate) fn short(flow: &FlowRef) -> &str {
    let id = flow.flow.as_str();
    id.rsplit('-').next().unwrap_or(id)
}

/// Everything that is asked.
pub(crate) fn of(flow: &FlowRef, state: &FlowState, pending: &[Work]) -> Vec<Ask> {
    questions(pending)
        .map(|question| ask(flow, state, question))
        .collect()
}

fn ask(flow: &FlowRef, state: &FlowState, question: &OperatorQuestion) -> Ask {
    let name = short(flow);
    let (who, what, says, answers) = match question {
        OperatorQuestion::Text { node, role, reason } => {
            let to = named(node.as_ref(), role);
            let raise = short_of(state, node.as_ref(), role).and_then(|short| raised(name, &short));
            let raise = raise.map(|command| Answer::typed("budget", command));
            let mut answers: Vec<Answer> = raise.into_iter().collect();
            answers.extend(to_wait(name, &to, *reason, role));
            let says = asked(state, node.as_ref(), role);
            (
                who(node.as_ref(), role),
                reason
                    .needs(trouble_of(state, node.as_ref(), role))
                    .to_owned(),
                says,
                answers,
            )
        }
        OperatorQuestion::Consent {
            consent,
            node,
            role,
        } => {
            let who = who(node.as_ref(), role);
            of_a_call(name, state, consent, who)
        }
        OperatorQuestion::Configuration { node, role } => {
            let says = asked(state, node.as_ref(), role);
            let to = named(node.as_ref(), role);
            let answers = to_wait(name, &to, WaitReason::RoleConfiguration, role);
            (
                who(node.as_ref(), role),
                WaitReason::RoleConfiguration.needs(None).to_owned(),
                says,
                answers,
            )
        }
        OperatorQuestion::Approval { approval, node } => (
            node.to_string(),
            WaitReason::HandoffApproval.needs(None).to_owned(),
            Some(staged(state, approval)),
            to_approval(name, approval.as_str()),
        ),
        OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Stalled => of_the_flow(name, state, question),
    };
    let is_own_turn = match question {
        OperatorQuestion::Text { node, role, .. } => is_own_turn(state, node.as_ref(), role),
        OperatorQuestion::Consent { .. }
        | OperatorQuestion::Configuration { .. }
        | OperatorQuestion::Approval { .. }
        | OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Stalled => false,
    };
    Ask {
        is_own_turn,
        flow: name.to_owned(),
        question: question.clone(),
        who,
        what,
        says,
        facts: facts(state, question),
        answers,
        code: code(state, question),
    }
}

/// What a call asks, as the members of an [`Ask`].
fn of_a_call(name: &str, state: &FlowState, consent: &ConsentId, who: String) -> Said {
    let open = state.consents.get(consent);
    let what = match open {
        Some(open) => format!("{} of {}", WaitReason::Consent.needs(None), open.tool),
        None => WaitReason::Consent.needs(None).to_owned(),
    };
    let scope = open.and_then(|open| scope(&open.tool, &open.shown.shown()));
    let answers = to_consent(name, consent.as_str(), scope.is_some());
    (who, what, open.map(|open| open.shown.shown()), answers)
}

/// What matters for a decision, beside what is asked: the terms of a call.
fn facts(state: &FlowState, question: &OperatorQuestion) -> Vec<Fact> {
    let OperatorQuestion::Consent { consent, .. } = question else {
        return Vec::new();
    };
    let open = state.consents.get(consent);
    open.map(|open| facts_of(state, open)).unwrap_or_default()
}

/// What matters for the decision about a call.
pub(crate) fn facts_of(state: &FlowState, open: &OpenConsent) -> Vec<Fact> {
    let tool = canonical(&open.tool).unwrap_or(&open.tool);
    terms::facts(
        tool,
        open.terms.as_ref(),
        state.grants.len(),
        open.doubt.as_ref(),
    )
}

/// A fact on a line of its own, if it says something.
pub(crate) fn fact_line(fact: &Fact) -> Option<String> {
    labelled(fact).map(|(label, value)| format!("  {label}: {value}"))
}

/// What the flow as a whole asks, as the members of an [`Ask`].
fn of_the_flow(name: &str, state: &FlowState, question: &OperatorQuestion) -> Said {
    let (what, says, answers) = match question {
        OperatorQuestion::Improvement { modes } => {
            let answers = modes.iter().map(|mode| {
                let word = words::improvement(*mode);
                let command = format!("a-society improve {name} {word}");
                Answer {
                    key: word.chars().next(),
                    decision: word,
                    command,
                }
            });
            (your_choice(RUN_A_RETROSPECTIVE), None, answers.collect())
        }
        OperatorQuestion::Feedback => (
            your_choice(WRITE_A_REPORT),
            None,
            vec![
                Answer::key('y', "yes", format!("a-society feedback {name} yes")),
                Answer::key('n', "no", format!("a-society feedback {name} no")),
            ],
        ),
        OperatorQuestion::Unpause { reason } => (
            pause(*reason).to_owned(),
            state.paused.as_ref().and_then(|pause| pause.detail.clone()),
            vec![Answer::key(
                'y',
                "unpause",
                format!("a-society unpause {name}"),
            )],
        ),
        OperatorQuestion::Stalled
        | OperatorQuestion::Text { .. }
        | OperatorQuestion::Consent { .. }
        | OperatorQuestion::Configuration { .. }
        | OperatorQuestion::Approval { .. } => (
            format!("you to {REOPEN_OR_REVISE}: {NOTHING_CAN_RUN}"),
            None,
            vec![
                Answer::typed("reopen", format!("a-society reopen {name} NODE")),
                Answer::typed("revise", format!("a-society revise {name} FILE")),
            ],
        ),
    };
    ("the flow".to_owned(), what, says, answers)
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
    Some(format!("a-society budget {name} {measure} {limit}{role}"))
}

fn who(node: Option<&NodeId>, role: &RoleInstance) -> String {
    match node {
        Some(node) => format!("{node} ({role})"),
        None => role.to_string(),
    }
}

pub(crate) fn named(node: Option<&NodeId>, role: &RoleInstance) -> String {
    match node {
        Some(node) => format!("--node {node}"),
        None => format!("--role {role}"),
    }
}

/// What a staged handoff would pass on.
fn staged(state: &FlowState, approval: &ApprovalId) -> String {
    let staged = state.staged.get(approval).into_iter();
    let deliveries = staged.flat_map(|staged| &staged.deliveries);
    let shown: Vec<String> = deliveries
        .map(|delivery| format!("{} to {}", delivery.artifact.path, delivery.receiver()))
        .collect();
    shown.join(", ")
}

/// The same with the receivers of a file together: `record/plan.md to backend and frontend`.
pub(crate) fn handed_over(state: &FlowState, approval: &ApprovalId) -> String {
    let staged = state.staged.get(approval).into_iter();
    let mut each: Vec<(&str, Vec<String>)> = Vec::new();
    for delivery in staged.flat_map(|staged| &staged.deliveries) {
        let (path, to) = (
            delivery.artifact.path.as_str(),
            delivery.receiver().to_string(),
        );
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

/// Why a person is asked again, where an answer did not end the turn: the first lines of the question.
/// The packet that begins a turn has headings of its own.
pub(crate) fn again(question: &str) -> Option<&str> {
    let is_begun = ["#", "You are ", "It is your turn"];
    let again = question.split("\n\n").next().unwrap_or_default();
    let is_again = !is_begun.iter().any(|head| again.starts_with(head));
    (is_again && !again.trim().is_empty()).then_some(again)
}

/// The packet of a person's own turn: without the lines that give a model its place and its ways to
/// end, because a person's ways are listed below.
fn for_a_person(question: &str) -> String {
    let mut is_ways = false;
    let lines = question.lines().filter(|line| {
        let is_for_a_model = ["You are at node `", "No task list is written for this node"];
        is_ways =
            (is_ways && !line.trim().is_empty()) || line.starts_with("End this turn with one of");
        !is_ways && !is_for_a_model.iter().any(|head| line.starts_with(head))
    });
    lines.collect::<Vec<_>>().join("\n")
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

/// What the flow as a whole asks.
pub(crate) fn of_all(flow: &FlowRef, state: &FlowState, pending: &[Work]) -> Option<Ask> {
    let is_its = |question: &&OperatorQuestion| whose(question) == (None, None);
    let question = questions(pending).find(is_its)?;
    Some(ask(flow, state, question))
}

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

/// The node and the role that ask, if it is not the flow as a whole.
const fn whose(question: &OperatorQuestion) -> (Option<&NodeId>, Option<&RoleInstance>) {
    match question {
        OperatorQuestion::Text { node, role, .. }
        | OperatorQuestion::Consent { node, role, .. }
        | OperatorQuestion::Configuration { node, role } => (node.as_ref(), Some(role)),
        OperatorQuestion::Approval { node, .. } => (Some(node), None),
        OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Stalled => (None, None),
    }
}

/// The same for programs.
pub(crate) fn as_json(asks: &[Ask]) -> Value {
    let asks = asks.iter().map(|ask| {
        let (kind, id) = named_by(&ask.question);
        let (node, role) = whose(&ask.question);
        let commands = ask.answers.iter().map(|answer| &answer.command);
        json!({
            "ask": id,
            "kind": kind,
            "node": node,
            "role": role,
            "who": ask.who,
            "waits_for": ask.what,
            "says": ask.says,
            "facts": ask.facts,
            "answers": commands.collect::<Vec<_>>(),
            "keys": ask.answers,
            "exit_code": ask.code.number(),
        })
    });
    Value::Array(asks.collect())
}

/// The same for people, a few lines each.
pub(crate) fn lines(out: &Output, asks: &[Ask]) -> Vec<String> {
    asks.iter().flat_map(|ask| lines_of(out, ask)).collect()
}

/// The lines of one ask, the first of which says who waits for what.
fn lines_of(out: &Output, ask: &Ask) -> Vec<String> {
    if let Some((why, command)) = mended(ask) {
        let rows = labelled_rows(out, "why", &why).into_iter();
        let rows = rows.chain([format!("  try: {command}")]);
        return std::iter::once(head(out, ask)).chain(rows).collect();
    }
    let mut lines = card(out, ask);
    let answers = ask.answers.iter();
    lines.extend(answers.map(|answer| format!("  {}", answer.command)));
    lines
}

/// The lines below a line that said already who waits first, and for what.
pub(crate) fn lines_below(out: &Output, asks: &[Ask]) -> Vec<String> {
    let mut all = asks.iter();
    let first = all.next().map(|ask| lines_of(out, ask));
    let first = first.into_iter().flatten().skip(1);
    first
        .chain(all.flat_map(|ask| lines_of(out, ask)))
        .collect()
}

/// Why a role cannot reach its model, in a line, and the command once that is mended.
pub(crate) fn mended(ask: &Ask) -> Option<(String, String)> {
    let OperatorQuestion::Text {
        reason: WaitReason::Provider,
        ..
    } = &ask.question
    else {
        return None;
    };
    let says = text_of(ask)?;
    let retry = ask
        .answers
        .iter()
        .find(|answer| answer.decision == "retry")?;
    let is_line = !says.trim().is_empty() && says.trim().lines().count() == 1;
    let command = format!("{} && a-society resume {}", retry.command, ask.flow);
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
fn head(out: &Output, ask: &Ask) -> String {
    let head = format!("{} waits for {}", exact(&ask.who), exact(&ask.what));
    out.paint.yellow(&head)
}

/// What begins a line that a role wrote.
const BAR: &str = "  │ ";

/// The lines of one ask without the commands that answer it, where it is answered at the cursor.
pub(crate) fn card(out: &Output, ask: &Ask) -> Vec<String> {
    let mut lines = vec![head(out, ask)];
    if let Some(says) = text_of(ask) {
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
            lines.push(format!("  all of it: a-society show {} --call", ask.flow));
        }
    }
    let known = ask.facts.iter().filter_map(|fact| {
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

/// What the operator should read, without what only a model needs.
pub(crate) fn text_of(ask: &Ask) -> Option<Cow<'_, str>> {
    let says = ask.says.as_deref()?;
    // The name of a failure is for programs, and its words are in the line above.
    let named = says
        .split_once(": ")
        .filter(|(name, _)| failure(name).is_some());
    if let Some((_, says)) = named {
        return Some(Cow::Borrowed(says));
    }
    Some(if ask.is_own_turn {
        Cow::Owned(for_a_person(says))
    } else {
        Cow::Borrowed(says)
    })
}

/// The commands that do something else than to answer with a text, where a text is asked for.
pub(crate) fn other_ways(ask: &Ask) -> Vec<String> {
    let OperatorQuestion::Text { .. } = ask.question else {
        return Vec::new();
    };
    let answers = ask.answers.iter();
    let others = answers.filter(|answer| answer.key.is_none() && answer.decision != "reply");
    let line = |answer: &Answer| format!("  or: {}", answer.command);
    others.map(line).collect()
}
