//! The smaller words of a feed: what a reason, an answer or an amount is called.

use super::item::{ConsentItem, beginning};
use crate::fact::budget;
use crate::fact::flow::{FactAuthor, PauseReason};
use crate::fact::operator::{
    AnsweredBefore, ConsentAnswer, ConsentMode, ConsentRequested, ConsentResolved, ConsentRuled,
    ConsentRules, Grant,
};
use crate::fact::session::SessionCompacted;
use crate::fact::terms::subject;
use crate::limits::{ABOUT_BYTES_MAX, FEED_OUTPUT_BYTES_MAX};
use crate::message::Text;
use crate::words::asks::BUDGET_USED_UP;
use crate::words::calls::context_compacted;
use crate::words::capital;
use crate::words::permissions::{self, allowed_by, denied_by};
use crate::words::tokens;

/// A text as a glimpse: its beginning, where it is long.
pub(super) fn shown(text: &Text) -> String {
    let whole = text.shown();
    match beginning(&whole, FEED_OUTPUT_BYTES_MAX) {
        cut if cut.len() == whole.len() => whole,
        cut => format!("{cut}\n[… {} bytes in all]", whole.len()),
    }
}

/// The operator's text is shown unchanged.
pub(super) fn shown_whole(text: &Text) -> String {
    text.shown()
}

pub(super) fn with_detail(text: &str, detail: Option<&str>) -> String {
    match detail {
        Some(detail) if !detail.is_empty() => format!("{text} {detail}"),
        Some(_) | None => text.to_owned(),
    }
}

pub(super) fn author(by: &FactAuthor) -> String {
    match by {
        FactAuthor::Operator => "the operator".to_owned(),
        FactAuthor::Role(role) => role.to_string(),
        FactAuthor::Runtime => "the runtime".to_owned(),
    }
}

pub(super) fn pause(reason: PauseReason) -> String {
    match reason {
        PauseReason::Operator => "You asked for it.".to_owned(),
        PauseReason::DiskFull => "The disk is full. Free some space to continue.".to_owned(),
        PauseReason::Budget => capital(BUDGET_USED_UP) + ".",
        PauseReason::Irreversible => {
            "The outcome of a call that cannot be undone is unknown. Check it, then continue the flow.".to_owned()
        }
    }
}

/// The text of a request for consent, and the request as data.
pub(super) fn asked(request: &ConsentRequested) -> (String, ConsentItem) {
    let (terms, text) = request.asked();
    let text = shown(&text);
    let about = subject(terms.as_ref(), &text);
    let about = about.lines().next().unwrap_or_default();
    let note = ConsentItem {
        tool: request.tool.clone(),
        about: beginning(about, ABOUT_BYTES_MAX).to_owned(),
        answer: None,
        by: None,
        beforehand: None,
    };
    let tool = &request.tool;
    let has_paths = (terms.iter()).any(|terms| terms.paths().next().is_some());
    let words = if has_paths {
        format!("{tool}: {about}\n{text}")
    } else {
        format!("{tool}: {text}")
    };
    (words, note)
}

pub(super) fn consent(resolved: &ConsentResolved) -> (String, String) {
    let label = capital(permissions::answer(resolved.answer));
    let text = match (resolved.answer, &resolved.by) {
        (ConsentAnswer::AllowOnce, None)
            if resolved.beforehand == Some(AnsweredBefore::FullAccess) =>
        {
            capital(&allowed_by(permissions::mode(ConsentMode::FullAccess)))
        }
        (ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow, Some(by)) => {
            capital(&allowed_by(&by.words(resolved.answer)))
        }
        (ConsentAnswer::Deny, Some(by)) => capital(&denied_by(&by.words(resolved.answer))),
        (ConsentAnswer::Withdrawn, _) => "The call it was about is gone.".to_owned(),
        (ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow | ConsentAnswer::Deny, None) => {
            let reason = resolved.reason.as_ref();
            reason.map(Text::shown).unwrap_or_default()
        }
    };
    (label, text)
}

/// What a rule decided, as a request for consent would be noted.
pub(super) fn ruled(f: &ConsentRuled) -> (String, ConsentItem) {
    let label = capital(permissions::answer(f.answer));
    let note = ConsentItem {
        tool: f.tool.clone(),
        about: beginning(&f.about, ABOUT_BYTES_MAX).to_owned(),
        answer: Some(f.answer),
        by: Some(f.by.clone()),
        beforehand: None,
    };
    (label, note)
}

pub(super) fn by_rule(f: &ConsentRuled) -> String {
    format!("{}: {}", f.about, f.words())
}

pub(super) fn rules(rules: &ConsentRules) -> String {
    let line = |list: &'static str| move |rule: &String| format!("{list}: {rule}");
    let allow = rules.allow.iter().map(line("allow"));
    let all: Vec<String> = allow.chain(rules.deny.iter().map(line("deny"))).collect();
    all.join("\n")
}

pub(super) fn mode(mode: ConsentMode) -> String {
    capital(permissions::mode_means(mode)) + "."
}

pub(super) fn grant(grant: &Grant) -> String {
    match grant {
        Grant::Edits => "All edits of files.".to_owned(),
        Grant::Command(command) => format!("The command {}", as_typed(command)),
        Grant::McpTool { tool, .. } => format!("The MCP tool {tool}."),
    }
}

/// An allowed command is preceded by the hash of where and how it runs, which means nothing to a
/// person.
fn as_typed(command: &str) -> &str {
    let is_hash =
        |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    match command.split_once(' ') {
        Some((hash, typed)) if is_hash(hash) => typed,
        _ => command,
    }
}

#[test]
fn a_command_that_is_allowed_is_told_as_it_was_typed() {
    let command = |text: &str| grant(&Grant::Command(text.into()));
    let hash = "7".repeat(64);
    assert_eq!(command(&format!("{hash} make all")), "The command make all");
    assert_eq!(command("make all"), "The command make all");
    assert_eq!(command(&hash), format!("The command {hash}"));
}

pub(super) fn measure(measure: budget::Measure) -> &'static str {
    match measure {
        budget::Measure::Tokens => "tokens",
        budget::Measure::CostMicros => "millionths of cost",
        budget::Measure::Turns => "turns",
        budget::Measure::WallMs => "milliseconds of work",
    }
}

pub(super) fn budget_set(f: &budget::BudgetSet) -> String {
    let whose = match &f.role {
        Some(role) => format!("{role} may spend"),
        None => "The flow may spend".to_owned(),
    };
    match f.limit {
        Some(limit) if f.measure == budget::Measure::Tokens => {
            format!("{whose} {} {}.", tokens(limit), measure(f.measure))
        }
        Some(limit) => format!("{whose} {limit} {}.", measure(f.measure)),
        None => format!("{whose} any number of {}.", measure(f.measure)),
    }
}

/// The result of a compaction: its label, and its details.
pub(super) fn compacted(f: &SessionCompacted) -> (String, String) {
    let from = tokens(f.tokens_before);
    match &f.why {
        None => {
            let after = f.tokens_after.map(|after| format!(" to {}", tokens(after)));
            let sizes = from + &after.unwrap_or_default();
            (capital(&context_compacted(&sizes)), String::new())
        }
        Some(why) => (
            format!("Context cut from {from} tokens"),
            format!("No summary could be made ({why}), so the oldest messages were left out."),
        ),
    }
}
