//! What the page and the terminal both say, each text once: the terminal and the page's server take it from here, and a
//! test writes the files of `operator-ui/web/src/said/` from it, so that the page has the same.
//!
//! A file for each concept: [`status`], [`asks`] (what waits for the operator, and for what), [`choices`] (what they can
//! answer), [`calls`] (how calls, turns and requests end), [`handoffs`], [`permissions`], [`retrospective`], [`runs`] (two of
//! them beside each other), [`keys`] and [`acts`] (what they do) and [`settings`] (what is refused in the operator's configuration). Each holds texts, templates and tables. A template has named places and is a
//! function on both sides; a table has one text for each value of a type, so that a new value does not compile without
//! its words, or for the names that facts have for something. Texts begin in lower case, as they do within a line of the
//! terminal; [`capital`] begins a sentence.

pub mod acts;
pub mod asks;
pub mod calls;
pub mod choices;
pub mod handoffs;
pub mod keys;
pub mod permissions;
pub mod retrospective;
pub mod runs;
pub mod settings;
pub mod status;

use crate::at::At;

/// Defines texts, templates and tables, and lists them for the page.
macro_rules! words {
    (
        $(texts { $($(#[$about_text:meta])* $text:ident = $words:literal;)+ })?
        $(templates { $($(#[$about_template:meta])* $template:ident($($place:ident),+) = $sentence:literal;)+ })?
        $(tables { $($(#[$about_table:meta])* $table:ident: $of:ident => $name:literal { $($value:ident = $entry:expr,)+ })+ })?
        $(names { $($(#[$about_names:meta])* $names:ident => $called:literal { $($($known:literal)|+ = $meant:expr,)+ })+ })?
    ) => {
        $($($(#[$about_text])* pub const $text: &str = $words;)+)?

        $($($(#[$about_template])* #[must_use] pub fn $template($($place: &str),+) -> String {
            format!($sentence, $($place = $place),+)
        })+)?

        $($($(#[$about_table])* #[must_use] pub const fn $table(of: $of) -> &'static str {
            match of { $($of::$value => $entry,)+ }
        })+)?

        $($($(#[$about_names])* #[must_use] pub fn $names(name: &str) -> Option<&'static str> {
            match name { $($($known)|+ => Some($meant),)+ _ => None }
        })+)?

        #[cfg(test)]
        pub(super) fn all() -> Vec<super::tests::Entry> {
            use super::tests::Entry;
            vec![
                $($(Entry::Text(stringify!($text), $words),)+)?
                $($(Entry::Template(stringify!($template), vec![$(stringify!($place)),+], $sentence),)+)?
                $($(Entry::Table($name, vec![$((super::tests::key(&$of::$value), $entry)),+]),)+)?
                $($(Entry::Table($called, vec![$((([$($known),+])[0].to_owned(), $meant)),+]),)+)?
            ]
        }
    };
}
use words;

/// A text at the beginning of a sentence.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// Tokens as people say them: `812`, `3.3k`, `51k`, `1.20M`.
#[must_use]
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{:02}M", number / 1_000_000, number % 1_000_000 / 10_000),
    }
}

/// The time until a moment, in the unit in which one waits for it; nothing once it is over.
#[must_use]
pub fn left(at: At, now: At) -> Option<String> {
    let ms = (at.ms() - now.ms()).max(0).unsigned_abs();
    (ms > 0).then(|| long(ms))
}

/// A duration, rounded up to seconds and from an hour on to minutes.
fn long(ms: u64) -> String {
    let seconds = ms.div_ceil(1_000);
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes, minutes / 60, minutes % 60) {
        (0..=90, ..) => format!("{seconds} s"),
        (_, 0..60, ..) => format!("{minutes} min"),
        (.., hours, 0) => format!("{hours} h"),
        (.., hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// What happens by itself at a moment: the template with the time that is left, or the text without a time once it is over.
#[must_use]
pub(crate) fn at_its_time(soon: fn(&str) -> String, over: &str, at: At, now: At) -> String {
    left(at, now).map_or_else(|| over.to_owned(), |left| soon(&left))
}

#[cfg(test)]
mod tests;
