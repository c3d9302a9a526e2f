//! `session compact`: one message replaces messages of a session, made by a model, by the program or by a command.

use std::time::Duration;

use a_society_facts::Verb;
use a_society_facts::fact::session::{CompactionWish, Strategy};
use a_society_facts::id::{MessageId, RoleInstance};
use a_society_facts::view::Views;
use a_society_facts::view::session::Archive;
use a_society_state::watch::FolderWatch;
use serde_json::json;

use super::context::Context;
use super::say::{Said, deliver, role};
use super::session::{no_session, of_archive, sessions, word};
use super::session_ref::SessionTo;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop};
use crate::text::plain;

/// How often it is looked whether a summary is there while nothing is written: the system may miss a change.
const LOOK: Duration = Duration::from_secs(1);

/// How long at most: a summary is one answer of a model, and ten minutes are long for one.
const SUMMARY_US_MAX: u64 = 600 * 1_000_000;

/// The arguments of `session compact`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a strategy the model of the role summarizes its present node, and the summary replaces \
everything; so does node_summary. If the model cannot be asked or writes no summary, the beginnings \
of the oldest messages are kept instead, and compact reports that and the reason.

The other strategies replace what is between the first and the last messages that stay. llm lets \
the model summarize it. truncate keeps the beginnings of its messages, observation_mask all of it \
but the long results of tools; both ask no model. custom runs the program that your configuration \
names under sessions: compaction:, which gets the messages as JSON and prints what replaces them. \
If one of these fails, the session stays as it was. A call always stays with its results, as does \
the last message of a person, so that more messages may stay.

What is replaced is archived and can be restored. A session with an open turn is left alone.

Examples:
  a-society session compact a1b2 writer
  a-society session compact notes --strategy truncate --keep-last 4
  a-society session compact a1b2 owner_2 --strategy llm --keep-first 1
  a-society session compact a1b2 owner_2 --no-wait")]
pub(super) struct CompactArguments {
    #[command(flatten)]
    to: SessionTo,

    /// The role instance; may be left out where only one has a session, as in a chat
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,

    #[command(flatten)]
    how: CompactionOptions,

    /// Do not wait until it is done
    #[arg(long)]
    no_wait: bool,
}

/// How a session is compacted.
#[derive(Debug, clap::Args)]
struct CompactionOptions {
    /// How: node_summary, llm, truncate, observation_mask or custom
    #[arg(long, value_name = "STRATEGY", value_parser = strategy)]
    strategy: Option<Strategy>,

    /// How many of the first messages stay at least
    #[arg(long, value_name = "N", default_value_t = 0, requires = "strategy")]
    keep_first: u64,

    /// How many of the last messages stay at least; 12 if absent
    #[arg(long, value_name = "N", requires = "strategy")]
    keep_last: Option<u64>,

    /// Only if the session fills so many tokens
    #[arg(long, value_name = "TOKENS", requires = "strategy")]
    token_threshold: Option<u64>,

    /// How much of each result of a tool goes into what replaces it; 16,000 if absent
    #[arg(long, value_name = "N", requires = "strategy")]
    tool_output_max_chars: Option<u64>,

    /// Cut off what replaces the messages where the session fills so many tokens
    #[arg(long, value_name = "TOKENS", requires = "strategy")]
    hard_limit: Option<u64>,
}

impl CompactionOptions {
    fn wish(&self) -> Option<CompactionWish> {
        Some(CompactionWish {
            strategy: self.strategy?,
            keep_first: self.keep_first,
            keep_last: self.keep_last,
            token_threshold: self.token_threshold,
            tool_output_max_chars: self.tool_output_max_chars,
            hard_limit_tokens: self.hard_limit,
        })
    }
}

/// `/compact` as it is typed in a chat.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
struct CompactOrder {
    #[command(flatten)]
    how: CompactionOptions,
}

/// Reads what is typed behind `/compact`: nothing, a strategy, or the options of `session compact`.
///
/// # Errors
/// In words, when that means nothing.
pub(super) fn typed(rest: &str) -> Result<Option<CompactionWish>, String> {
    use clap::Parser as _;

    let mut words: Vec<&str> = rest.split_whitespace().collect();
    if words.first().is_some_and(|word| !word.starts_with('-')) {
        words.insert(0, "--strategy");
    }
    let order = CompactOrder::try_parse_from(words).map_err(|error| {
        let error = error.to_string();
        let line = error.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ").trim_end_matches(':');
        format!("/compact: {line}")
    })?;
    Ok(order.how.wish())
}

/// Reads a strategy.
fn strategy(word: &str) -> Result<Strategy, String> {
    let unknown = |_| {
        format!(
            "{word:?} is no strategy; there are: node_summary, llm, truncate, observation_mask, custom"
        )
    };
    serde_json::from_value(json!(word)).map_err(unknown)
}

/// Compacts a session.
pub(super) fn run(context: &mut Context<'_>, arguments: &CompactArguments) -> Outcome {
    let (to, role) = &arguments.to.found(context, arguments.role.as_ref())?;
    let how = arguments.how.wish();
    let verb = Verb::Compact {
        role: role.clone(),
        how,
    };
    let said = deliver(context, to, verb)?;
    if !arguments.no_wait {
        wait(&said, role)?;
    }
    let views = sessions(&said.store, &said.flow)?;
    let session = views
        .session(role)
        .ok_or_else(|| no_session(role, &views))?;
    let running = session.compaction.is_some();
    let done = session.archives.iter().rev();
    let has_begun = said.taken.facts > 0 || how.is_none();
    let done = done.filter(|_| !running && has_begun).find(|kept| {
        let stands = session.messages.iter();
        stands
            .map(|entry| &entry.id)
            .any(|id| replaced_by(kept).is_some_and(|by| by == id))
    });
    if done.is_none() && has_begun && !running {
        return Err(not_shorter(role, how, &views));
    }
    if context.out.is_json() {
        let archive = done.map(|kept| of_archive(role, kept));
        context.out.value(&json!({
            "project": said.flow.project,
            "flow": said.flow.flow,
            "role": role,
            "seq": said.taken.seq,
            "running": running,
            "archive": archive,
        }))?;
        return Ok(ExitCode::Ok);
    }
    let flow = &said.flow;
    match done {
        Some(kept) => context.out.line(&replaced(&flow.to_string(), role, kept))?,
        None if running => context
            .out
            .line(&format!("{flow}: the session of {role} is being compacted"))?,
        None => {
            let left = session.messages.len();
            context
                .out
                .line(&format!("{flow}: all {left} messages of {role} stay"))?;
        }
    }
    Ok(ExitCode::Ok)
}

/// The message in the place of an archive.
fn replaced_by(kept: &Archive) -> Option<&Option<MessageId>> {
    kept.replacement_message.as_ref().map(|entry| &entry.id)
}

/// What replaces a history, and, where that is no summary, why.
fn replaced(flow: &str, role: &RoleInstance, kept: &Archive) -> String {
    let (count, name) = (kept.archived_transcript_history.len(), plain(&kept.id));
    match &kept.why {
        None => format!(
            "{flow}: {} replaces {count} messages of {role}; they are kept as {name}",
            word(kept.strategy),
        ),
        Some(why) => format!(
            "{flow}: no summary could be made ({}), so their beginnings replace {count} messages of \
             {role}; they are kept as {name}",
            plain(why),
        ),
    }
}

/// Why a session is what it was, as the feed says it.
fn not_shorter(role: &RoleInstance, how: Option<CompactionWish>, views: &Views) -> Stop {
    let feed = views.feed(role);
    let why = feed.and_then(|feed| {
        let mut items = feed.items().rev();
        items.find(|item| item.event.as_deref() == Some("session.compaction_failed"))
    });
    let why = why.map_or_else(|| "nothing says why".to_owned(), |item| item.text.clone());
    let what = format!("the session of {role} is as long as it was");
    let kind = ("not-compacted", ExitCode::Failed);
    let hint = match how.map(|how| how.strategy) {
        None | Some(Strategy::NodeSummary | Strategy::Llm) => "a-society models test",
        Some(Strategy::Custom) => "a-society session compact REF --strategy truncate",
        Some(Strategy::Truncate | Strategy::ObservationMask) => "keep fewer messages",
    };
    OperatorError::new(kind, what, why, hint).into()
}

/// Waits until the session is not being compacted any more.
fn wait(said: &Said, role: &RoleInstance) -> Result<(), Stop> {
    let watch = FolderWatch::new().ok();
    let watched = said.store.place(&said.flow).watched();
    let watch = watch.filter(|watch| watch.add(&watched).is_ok());
    let clock = &said.store.ground().clock;
    let began = clock.elapsed_us();
    while clock.elapsed_us().saturating_sub(began) < SUMMARY_US_MAX {
        let seen = said.store.look(&said.flow)?;
        let session = seen.screen.flow.session(role);
        if session.is_none_or(|session| session.compaction.is_none()) {
            return Ok(());
        }
        let waited = watch.as_ref().map(|watch| watch.wait(LOOK));
        if !matches!(waited, Some(Ok(_))) {
            std::thread::sleep(LOOK);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_behind_compact_is_a_strategy_with_options_or_nothing() {
        assert_eq!(typed(""), Ok(None));
        let wish = CompactionWish {
            strategy: Strategy::Truncate,
            keep_first: 1,
            keep_last: Some(4),
            token_threshold: None,
            tool_output_max_chars: None,
            hard_limit_tokens: Some(900),
        };
        let options = "--keep-first 1 --keep-last 4 --hard-limit 900";
        assert_eq!(typed(&format!("truncate {options}")), Ok(Some(wish)));
        assert_eq!(
            typed(&format!("{options} --strategy truncate")),
            Ok(Some(wish))
        );
        for (words, says) in [
            ("shrink", "observation_mask"),
            ("truncate --keep-last x", "--keep-last"),
            ("--keep-last 4", "/compact"),
            ("truncate --keep", "--keep"),
        ] {
            let why = typed(words).unwrap_err();
            assert!(why.contains(says) && !why.contains('\n'), "{words}: {why}");
        }
    }
}
