//! `search`: words in all sessions of the workspace.

use a_society_facts::fact::session::SessionKind;
use a_society_facts::id::{ProjectName, RoleInstance};
use a_society_orchestrator::sessions::list::kind_named;
use a_society_orchestrator::sessions::search::{
    FoundInSession, MessageFound, SessionSearch, SessionsFound, find,
};
use a_society_state::search::{SaidBy, SearchWords};

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_name};
use crate::output::Output;
use crate::text::{count, one_line, plain};

/// How many messages of each session are printed.
const MESSAGES: usize = 3;

/// A title is cut to this.
const NAME_COLUMNS: usize = 60;

/// The arguments of `search`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A message is found if it has all of the words, whole, in any case and with any accents; begin* is \
every word that begins so, and \"two words\" follow one another. All messages of a session \
are searched, its archives too. The words are kept in an index, which is made and brought up to date by \
the search itself; delete .a-society/state/.search at any time.

Examples:
  a-society search lighthouse
  a-society search 'torn tail*' --project demo --role writer
  a-society search '\"blue notes\"' --json | jq -r '.sessions[].key'")]
pub(crate) struct Arguments {
    /// What to search for
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,

    /// Only in this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,

    /// Only in sessions of this role instance
    #[arg(long, value_name = "ROLE")]
    role: Option<RoleInstance>,

    /// Only in sessions of this kind: main, role, child, group, cron, hook, node or other; may be repeated
    #[arg(long, value_name = "KIND", value_parser = kind_named)]
    kind: Vec<SessionKind>,

    /// How many sessions
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
}

/// Searches.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let words = arguments.words.join(" ");
    let words = SearchWords::read(&words).map_err(|why| {
        OperatorError::new(
            ("usage", ExitCode::Usage),
            match plain(words.trim()) {
                shown if shown.is_empty() => "there is nothing to search for".to_owned(),
                shown => format!("{shown} cannot be searched for"),
            },
            why.to_string(),
            "a-society search --help",
        )
    })?;
    let project: Option<ProjectName> = match &arguments.project {
        Some(name) => Some(name.parse().map_err(|bad| from_name(&bad))?),
        None => None,
    };
    let asked = SessionSearch {
        words: &words,
        project: project.as_ref(),
        role: arguments.role.as_ref(),
        kinds: &arguments.kind,
        sessions: usize::from(arguments.limit),
        messages: MESSAGES,
        readable: None,
    };
    let store = context.store()?;
    let out = &mut context.out;
    let found = find(&store, &asked, &mut |step| {
        if step.flows > 1 {
            out.progress(&format!(
                "indexing flow {} of {}",
                step.flows_done + 1,
                step.flows
            ));
        }
        true
    })?;
    if out.is_json() {
        out.value(&found)?;
        return Ok(ExitCode::Ok);
    }
    print(out, &found)?;
    Ok(ExitCode::Ok)
}

fn print(out: &mut Output, found: &SessionsFound) -> Result<(), Stop> {
    if found.sessions.is_empty() {
        out.line("nothing found")?;
    }
    for (n, session) in found.sessions.iter().enumerate() {
        if n > 0 {
            out.line("")?;
        }
        print_session(out, session)?;
    }
    if found.cut {
        out.note("there may be more: --limit, or more words");
    }
    if found.behind > 0 {
        let flows = count(found.behind, "flow");
        out.note(&format!(
            "{flows} not indexed to the end, because another process is at it: search again"
        ));
    }
    if found.left_out > 0 {
        let flows = count(found.left_out, "flow");
        out.note(&format!(
            "the index has no room for the {flows} that are oldest"
        ));
    }
    if let Some(why) = &found.without_index {
        out.note(&format!(
            "all journals were read, because there is no index: {}",
            plain(why)
        ));
    }
    Ok(())
}

fn print_session(out: &mut Output, session: &FoundInSession) -> Result<(), Stop> {
    let flow = format!("{}/{}", session.project, session.flow_id);
    let key = plain(session.key.as_deref().unwrap_or(&flow)).into_owned();
    let name = one_line(&session.display_name, NAME_COLUMNS);
    let head = format!("{}  {name}", out.paint.bold(&key));
    out.line(&head)?;
    for message in &session.messages {
        let line = message_line(out, message);
        out.line(&line)?;
    }
    if session.more > 0 {
        let more = format!("  and {} more", session.more);
        let more = out.paint.dim(&more);
        out.line(&more)?;
    }
    Ok(())
}

/// When, by whom, at which node, and the excerpt with its marks.
fn message_line(out: &Output, message: &MessageFound) -> String {
    let by = match message.by {
        SaidBy::Title => "title",
        SaidBy::System => "system prompt",
        SaidBy::User => "user",
        SaidBy::Assistant => "assistant",
        SaidBy::ToolResult => "tool",
    };
    let node = message
        .node
        .as_ref()
        .map(|node| format!(", {node}"))
        .unwrap_or_default();
    let about = out.paint.dim(&format!("{}  {by}{node}", message.at));
    format!("  {about}: {}", marked(out, message))
}

fn marked(out: &Output, message: &MessageFound) -> String {
    let mut line = String::new();
    let mut letters = message.excerpt.chars();
    let mut at = 0;
    for mark in &message.marks {
        let before: String = letters.by_ref().take(mark.start - at).collect();
        let word: String = letters.by_ref().take(mark.len()).collect();
        at = mark.end;
        line.push_str(&plain(&before));
        line.push_str(&out.paint.bold(&plain(&word)));
    }
    line.push_str(&plain(letters.as_str()));
    line
}
