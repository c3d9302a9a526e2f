//! What an earlier replacement says, also one of an older form.
//!
//! Older versions wrote headings in place of tags, and repeated the replacement before under the heading
//! "the last thing you were told". Journals that hold such messages continue with the present form.

use super::limits::NESTED_MAX;

const OLD_BEGINNING: &str = "Your conversation up to here was put away (";
const OLD_SUMMARY: &str = "\n# What you had done and found out\n\n";
const OLD_REQUEST: &str = "\n# The last thing you were told\n\n";
const OLD_END: &str = "\nGo on from where the summary ends.";

/// Whether a message replaced a conversation.
#[must_use]
pub(crate) fn is_replacement(text: &str) -> bool {
    let of_today = text.starts_with("<summary") && part(text, "summary").is_some();
    of_today || text.starts_with(OLD_BEGINNING)
}

/// The summary in a replacement.
#[must_use]
pub(crate) fn former_summary(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(OLD_BEGINNING) {
        let (_, rest) = rest.split_once(OLD_SUMMARY)?;
        let end = [OLD_REQUEST, OLD_END].into_iter();
        let end = end.filter_map(|mark| rest.find(mark)).min();
        let summary = rest.get(..end.unwrap_or(rest.len()))?;
        return Some(summary.trim());
    }
    part(text, "summary").map(str::trim)
}

/// The unanswered request in a replacement, in its own words. One that repeats a replacement itself
/// is unwrapped.
#[must_use]
pub fn request_of(text: &str) -> Option<&str> {
    let mut text = text;
    for _ in 0..NESTED_MAX {
        if !is_replacement(text) {
            return Some(text);
        }
        text = request_in(text)?;
    }
    None
}

fn request_in(text: &str) -> Option<&str> {
    let Some(rest) = text.strip_prefix(OLD_BEGINNING) else {
        return part(text, "request");
    };
    let (_, rest) = rest.split_once(OLD_REQUEST)?;
    let end = rest.rfind(OLD_END).unwrap_or(rest.len());
    rest.get(..end).map(str::trim_end)
}

/// The text of a part, whatever number its tag has. Parts follow one another, so that a tag inside
/// an earlier part is not mistaken for one.
fn part<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    let mut rest = text;
    for tag in ["summary", "flow", "todo", "request"] {
        let Some(open) = opened(rest, tag) else {
            continue;
        };
        let (name, after) = open;
        let (inside, next) = after.split_once(&format!("</{name}>"))?;
        if tag == wanted {
            return Some(inside);
        }
        rest = next.trim_start_matches('\n');
    }
    None
}

/// The name of the tag with which a text begins, if it is this one, and what follows it.
fn opened<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let (inside, after) = text.strip_prefix('<')?.split_once('>')?;
    let name = inside.split(' ').next()?;
    let number = name.strip_prefix(tag)?;
    let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    let fits = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    fits.then_some((name, after))
}
