//! `chat`: a person and a role talk, and everything that a flow has is there for it.

use std::io::IsTerminal as _;
use std::path::Path;

use a_society_facts::Verb;
use a_society_facts::fact::chat::ChatContext;
use a_society_facts::fact::flow::Ends;
use a_society_facts::view::flow::FlowState;
use a_society_orchestrator::driver::handle::FlowHandle;
use a_society_orchestrator::pasted_secrets::holds_a_secret;
use a_society_orchestrator::run::{self, Amendment};
use a_society_orchestrator::workspace::begin::{BegunFlow, FlowChoices, FlowOrigin};
use a_society_orchestrator::workspace::chat_context::chat_context;
use a_society_state::{FlowRef, Store};

use super::begin::note_idle_rules;
use super::budget::Limit;
use super::chats;
use super::consent_flags::ConsentFlags;
use super::context::Context;
use super::drive::talk::Talk;
use super::drive::{Watched, Wishes, watch};
use super::report::opened;
use super::run::{Chosen, project_of, store_or_new};
use super::say::{SECRET, from_run, project_folder, text};
use super::signals::Interrupts;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;

/// The arguments of `chat`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A chat is kept like a flow: every message, answer and call is recorded before it counts, and \
--resume goes on after any end of this process, in the middle of a turn, too. Without a role the \
built-in assistant answers; with one it is that role of the project, with its texts, tools and \
permissions.

With --once one message is sent and answered: into a pipe or a file goes the answer and nothing \
else, with --json each event is an object of stdout as run --json prints them. If stdin is no \
terminal, each of its lines is a message, and its end ends the chat.

The working folder and the branch are noted for the role; --file names what you look at, and --var \
what else it should know. Secrets are refused: keep keys in files or variables that the \
configuration names.

--allow, --deny and --mode mean what they mean for run, and stay with the chat. chat ends with 0 \
after an answer, with 8 to 12 when it waits for you (a-society help lists for what), and with 130 \
when it was interrupted. ls --chats lists chats, and show, log, diff, fork and export take one as \
they take a flow.

Examples:
  a-society chat --once 'What does this project do?'
  a-society chat --once - < question.md
  a-society chat writer --project ledger --once 'Why does src/post.rs round twice?'
  a-society chat --resume c71f --once 'And now in French.'
  a-society chat --file src/post.rs:10-40 --var team=ledger --once 'Is this right?'
  a-society chat --allow edits,'cargo test *' --deny web --once 'Make the tests pass.'
  printf 'One\\nTwo\\n' | a-society chat --json")]
pub(crate) struct Arguments {
    /// The role that answers; the built-in assistant if absent
    #[arg(value_name = "ROLE", conflicts_with = "resume")]
    role: Option<String>,

    /// The project: a folder of the workspace, or . for all of it; the one around the current folder if absent
    #[arg(long, value_name = "NAME|.", value_parser = super::run::project, conflicts_with = "resume")]
    project: Option<Chosen>,

    /// Go on with this chat; without a name, list those that there are
    #[arg(long, value_name = "CHAT", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,

    /// Send this message, print its answer and end; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    once: Option<String>,

    /// The model that answers, by its name in the configuration
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// What you call the chat; its first words if absent
    #[arg(long, value_name = "NAME", conflicts_with = "resume", value_parser = label)]
    label: Option<String>,

    /// What the role should know, by its name; repeat it for more
    #[arg(long = "var", value_name = "NAME=VALUE", conflicts_with = "resume", value_parser = variable)]
    variables: Vec<(String, String)>,

    /// The file that you look at, and which of its lines
    #[arg(long, value_name = "FILE[:10-40]", conflicts_with = "resume", value_parser = looked_at)]
    file: Option<LookedAt>,

    /// How many tokens it may use before it asks you, or none for no limit
    #[arg(long, value_name = "TOKENS|none", allow_negative_numbers = true, value_parser = super::budget::limit, conflicts_with = "resume")]
    budget: Option<Limit>,

    #[command(flatten)]
    beforehand: ConsentFlags,

    /// Print only answers, what is asked, and errors
    #[arg(short, long)]
    quiet: bool,
}

/// The longest label.
const LABEL_CHARS_MAX: usize = 64;

fn label(text: &str) -> Result<String, String> {
    let label = text.trim();
    if label.is_empty() || label.chars().count() > LABEL_CHARS_MAX {
        return Err(format!("a label has 1 to {LABEL_CHARS_MAX} characters"));
    }
    not_secret(label).map(|()| label.to_owned())
}

fn not_secret(text: &str) -> Result<(), String> {
    if holds_a_secret(text) {
        return Err("something in it looks like a secret, which is not recorded".to_owned());
    }
    Ok(())
}

fn variable(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("it has no =, as in team=ledger".to_owned());
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a name has only letters, digits, _ and -".to_owned());
    }
    not_secret(text).map(|()| (name.to_owned(), value.to_owned()))
}

/// What the person looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LookedAt {
    file: String,
    lines: Option<(u32, u32)>,
}

fn looked_at(text: &str) -> Result<LookedAt, String> {
    not_secret(text)?;
    let lines = text.rsplit_once(':').and_then(|(file, lines)| {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        Some((file, from.parse().ok()?, to.parse().ok()?))
    });
    match lines {
        Some((file, from, to)) if from >= 1 && from <= to => Ok(LookedAt {
            file: file.to_owned(),
            lines: Some((from, to)),
        }),
        Some(_) => Err("lines are counted from 1, and the first comes before the last".to_owned()),
        None => Ok(LookedAt {
            file: text.to_owned(),
            lines: None,
        }),
    }
}

/// Talks.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    if arguments.resume.as_deref() == Some("") {
        // A message is for one chat.
        if arguments.once.is_some() {
            let what = "--resume names no chat for the message".to_owned();
            let (why, hint) = ("there may be several", "a-society ls --chats".to_owned());
            return Err(OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into());
        }
        return chats::list(context);
    }
    let wishes = Wishes {
        quiet: arguments.quiet,
        ..Wishes::default()
    };
    super::delivered::make_ready(context, &wishes)?;
    let talk = match &arguments.once {
        Some(once) => Talk::once(said(context, once)?),
        None if std::io::stdin().is_terminal() => Talk::typed(),
        None => Talk::piped()?,
    };
    match &arguments.resume {
        Some(named) => resume(context, arguments, named, wishes, talk),
        None => begin(context, arguments, wishes, talk),
    }
}

fn said(context: &mut Context<'_>, typed: &str) -> Result<String, Stop> {
    let text = text(typed)?;
    if holds_a_secret(&text) {
        context.out.note(SECRET);
    }
    Ok(text)
}

fn begin(context: &mut Context<'_>, arguments: &Arguments, wishes: Wishes, talk: Talk) -> Outcome {
    let store = store_or_new(context, Path::new("."))?;
    let project = match &arguments.project {
        Some(project) => project.name(&store)?,
        // The last part is the name of a file, which does not exist here.
        None => project_of(&store, context, Path::new("chat"))?,
    };
    let folder = project_folder(&store, &project);
    let origin = FlowOrigin::Chat {
        project,
        role: arguments.role.clone(),
        label: arguments.label.clone(),
        context: Some(detected(context, &store, arguments, &folder)),
    };
    let choices = FlowChoices {
        title: arguments.label.clone(),
        tokens: arguments.budget.map(Limit::tokens),
        mode: arguments.beforehand.mode(),
        rules: arguments.beforehand.rules(),
        ..FlowChoices::default()
    };
    let interrupts = Interrupts::listen()?;
    let BegunFlow { flow, driven } = super::begin::begin(context, &store, origin, choices)?;
    choose_model(&driven.handle, &store, &flow, arguments)?;
    let watched = Watched {
        known: 0,
        driven,
        interrupts,
        wishes,
        talk: Some(talk),
    };
    watch(context, &store, &flow, watched)
}

fn resume(
    context: &mut Context<'_>,
    arguments: &Arguments,
    named: &str,
    wishes: Wishes,
    talk: Talk,
) -> Outcome {
    let (store, flow) = context.flow(named)?;
    let seen = store.look(&flow)?;
    must_be_chat(&seen.screen.flow, &flow)?;
    let known = seen.screen.flow.seq;
    let project = project_folder(&store, &flow.project);
    let interrupts = Interrupts::listen()?;
    let amendment = Amendment {
        mode: arguments.beforehand.mode(),
        rules: arguments.beforehand.rules(),
        ends: Ends::default(),
    };
    note_idle_rules(context, &store, &amendment.rules, &project);
    let resumed = run::resume(&store, &flow, project, None, amendment);
    let (driven, report) = resumed.map_err(from_run)?;
    if !context.out.is_json() {
        for line in opened(&report) {
            context.out.note(&plain(&line));
        }
    }
    choose_model(&driven.handle, &store, &flow, arguments)?;
    let watched = Watched {
        known,
        driven,
        interrupts,
        wishes,
        talk: Some(talk),
    };
    watch(context, &store, &flow, watched)
}

fn must_be_chat(state: &FlowState, flow: &FlowRef) -> Result<(), Stop> {
    if state.chat.is_none() {
        let what = format!("{flow} is no chat");
        let why = "it walks a graph to an end";
        let hint = format!("a-society resume {}", super::asks::short(flow));
        return Err(OperatorError::new(("usage", ExitCode::Usage), what, why, hint).into());
    }
    if state.is_closed_chat() {
        let what = format!("{flow} was closed");
        let why = "it takes no messages until it is opened again";
        let hint = format!("a-society session open {}", super::asks::short(flow));
        return Err(OperatorError::new(("chat-closed", ExitCode::Refused), what, why, hint).into());
    }
    if state.status.is_over() {
        let what = format!("{flow} is over");
        let why = "it was ended, and takes no more messages";
        let hint = format!(
            "go on from a copy of it: a-society fork {}",
            super::asks::short(flow)
        );
        return Err(OperatorError::new(("chat-over", ExitCode::Refused), what, why, hint).into());
    }
    Ok(())
}

/// The model that the person named answers from now on.
fn choose_model(
    handle: &FlowHandle,
    store: &Store,
    flow: &FlowRef,
    arguments: &Arguments,
) -> Result<(), Stop> {
    let Some(model) = &arguments.model else {
        return Ok(());
    };
    let nodes = store.look(flow)?.screen.flow.graph.clone();
    let Some(node) = nodes.nodes.first() else {
        return Ok(());
    };
    let verb = Verb::Configure {
        role: node.role.clone(),
        settings: [("model".to_owned(), model.clone())].into(),
    };
    let done = handle.obey(verb, None);
    done.map(drop).map_err(|error| from_run(error.into()))
}

/// Where the person is, and what they look at.
fn detected(
    context: &Context<'_>,
    store: &Store,
    arguments: &Arguments,
    project: &Path,
) -> ChatContext {
    let here = context.environment.folder.clone().unwrap_or_default();
    let file = arguments.file.as_ref();
    let file = file.map(|looked| (looked.file.as_str(), looked.lines));
    let variables = arguments.variables.iter().cloned().collect();
    chat_context(store, project, &here, file, variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_plain_names_and_hold_no_secrets() {
        assert_eq!(variable("team=a=b").unwrap(), ("team".into(), "a=b".into()));
        for bad in [
            "team",
            "=x",
            "a b=c",
            "key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
        ] {
            assert!(variable(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_file_is_looked_at_whole_or_in_lines() {
        let whole = |file: &str, lines| LookedAt {
            file: file.to_owned(),
            lines,
        };
        assert_eq!(looked_at("a.rs"), Ok(whole("a.rs", None)));
        assert_eq!(looked_at("a.rs:10-40"), Ok(whole("a.rs", Some((10, 40)))));
        assert_eq!(looked_at("a.rs:7"), Ok(whole("a.rs", Some((7, 7)))));
        assert_eq!(looked_at("c:/x.rs"), Ok(whole("c:/x.rs", None)));
        assert!(looked_at("a.rs:40-10").is_err() && looked_at("a.rs:0").is_err());
    }
}
