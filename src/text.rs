//! Foreign text made fit for a terminal: titles, paths and messages may hold anything.
//!
//! A control character can move the cursor, change colours or rewrite what was shown before, and
//! some invisible ones turn the reading direction around. None of them reaches a terminal as it is.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

pub(crate) use a_society_facts::words::tokens;

/// A moment within so long is shown as its time.
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Whether a character is shown by its number instead of as itself.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character cannot be seen, or only looks like a blank. Where something is decided about, it is shown by
/// its number.
fn is_unseen(c: char) -> bool {
    is_hidden(c)
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200a}' | '\u{202f}'
            | '\u{205f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character only joins its neighbours, or keeps them apart, as in families of emoji and in Persian.
const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// The text with every control character as an escape such as `\n` or `\u{1b}`. A joiner stays where it has
/// something to join.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let joins = |c: &char| !c.is_ascii() && !is_hidden(*c) && !c.is_whitespace();
    escape(text, is_hidden, |before, c, after| {
        is_joiner(c) && before.is_some_and(|c| joins(&c)) && after.is_some_and(|c| joins(&c))
    })
}

/// The same for what is decided about: every sign that cannot be seen is an escape.
pub(crate) fn exact(text: &str) -> Cow<'_, str> {
    escape(text, is_unseen, |_, _, _| false)
}

fn escape(
    text: &str,
    hides: impl Fn(char) -> bool,
    stays: impl Fn(Option<char>, char, Option<char>) -> bool,
) -> Cow<'_, str> {
    if !text.contains(&hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        if hides(c) && !stays(before, c, letters.peek().copied()) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Every so many columns a tab of a terminal ends.
const TAB_STOP: usize = 8;

/// A line with its tabs as wide as a terminal has them, each beginning with this sign. Where the tabs can be seen,
/// the line is decided about, and so every other sign can be.
pub(crate) fn tabbed(line: &str, sign: char) -> String {
    let escaped = if sign == ' ' { plain } else { exact };
    let mut out = String::new();
    for (number, part) in line.split('\t').enumerate() {
        if number > 0 {
            out.push(sign);
            while !width(&out).is_multiple_of(TAB_STOP) {
                out.push(' ');
            }
        }
        out.push_str(&escaped(part));
    }
    out
}

/// How far a tab moves what follows it.
const TAB: &str = "    ";

/// A line as it is printed: tabs are kept as room, everything else that is hidden as an escape.
pub(crate) fn printed(line: &str) -> String {
    plain(&line.replace('\t', TAB)).into_owned()
}

/// The same of a line that is decided about.
pub(crate) fn printed_exact(line: &str) -> String {
    exact(&line.replace('\t', TAB)).into_owned()
}

/// A line in rows of at most so many columns, broken at words or, within one that is wider than a row, between
/// graphemes. Every row but the last stays as it is, whatever follows.
pub(crate) fn wrapped(line: &str, columns_max: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let (mut columns, mut gap) = (0, None);
    for letter in line.graphemes(true) {
        let wide = if letter == "\t" {
            TAB.len()
        } else {
            letter.width()
        };
        if columns + wide > columns_max && !row.is_empty() {
            let rest = match gap.take() {
                _ if letter == " " => String::new(),
                Some(at) => row.split_off(at),
                None => String::new(),
            };
            rows.push(row.trim_end().to_owned());
            (columns, row) = (rest.width(), rest);
            if letter == " " {
                continue;
            }
        }
        row.push_str(letter);
        columns += wide;
        // A character of a script without spaces may end a row.
        if letter == " " || wide == 2 {
            gap = Some(row.len());
        }
    }
    rows.push(row);
    rows
}

/// A line in rows of exactly so many columns, with all of its white space; only the last one is shorter.
pub(crate) fn chopped(line: &str, columns_max: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut columns = 0;
    for letter in line.graphemes(true) {
        let wide = letter.width();
        if columns + wide > columns_max && columns > 0 {
            rows.push(String::new());
            columns = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push_str(letter);
        }
        columns += wide;
    }
    rows
}

/// The text on one line, at most so many columns wide.
pub(crate) fn one_line(text: &str, columns_max: usize) -> String {
    let mut out = String::new();
    let mut columns = 0;
    for word in text.split_whitespace() {
        let word = plain(word);
        let space = usize::from(!out.is_empty());
        if space == 1 {
            out.push(' ');
            columns += 1;
        }
        for c in word.chars() {
            columns += width_of(c);
            if columns > columns_max {
                // The last column makes room for the sign that there is more.
                while width(&out) + 1 > columns_max && out.pop().is_some() {}
                out.push('…');
                return out;
            }
            out.push(c);
        }
    }
    out
}

/// A painted line cut to so many columns. Colours take none, and end with the line.
pub(crate) fn cut(line: &str, columns_max: usize) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut columns, mut in_colour, mut painted) = (0, false, false);
    for c in line.chars() {
        if in_colour {
            in_colour = c != 'm';
        } else if c == '\u{1b}' {
            (in_colour, painted) = (true, true);
        } else {
            columns += width_of(c);
            if columns > columns_max {
                if painted {
                    out.push_str("\u{1b}[0m");
                }
                return out;
            }
        }
        out.push(c);
    }
    out
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// East Asian characters and pictures take two columns, combining marks none. A character is measured by
/// itself, because lines are cut between characters.
fn width_of(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// JSON with every hidden character inside its strings as `\u` escapes. It means the same.
pub(crate) fn plain_json(json: &str) -> Cow<'_, str> {
    // A newline occurs only between members, where it moves nothing that was shown before.
    let hidden = |c: char| c != '\n' && is_hidden(c);
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    let mut units = [0; 2];
    for c in json.chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _written = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Milliseconds as people say them: `42s`, `7m`, `3h`, `12d`.
pub(crate) fn age(ms: i64) -> String {
    let seconds = (ms / 1000).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A text within a line.
pub(crate) fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// A time that runs: `0:49`, `1:02:05`.
pub(crate) fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    match minutes / 60 {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{:02}:{seconds:02}", minutes % 60),
    }
}

/// How long something took: `0.4 s`, `8 s`, `3m 12s`, `2h 5m`.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("0.{} s", ms / 100),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Money, from millionths of a dollar: `$0.02`.
pub(crate) fn money(micros: u64) -> String {
    if (1..10_000).contains(&micros) {
        return "< $0.01".to_owned();
    }
    let cents = micros.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Bytes as people say them.
pub(crate) fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    let tenths = |unit: u64| {
        let tenths = bytes.saturating_mul(10) / unit;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    if bytes < KIB {
        format!("{bytes} B")
    } else if bytes < KIB * KIB {
        format!("{} KiB", tenths(KIB))
    } else if bytes < KIB * KIB * KIB {
        format!("{} MiB", tenths(KIB * KIB))
    } else {
        format!("{} GiB", tenths(KIB * KIB * KIB))
    }
}

/// A number with its noun: `1 record`, `2 records`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {one}s")
    }
}

/// A path as people say it: from `~` on, where it is below the home folder.
pub(crate) fn at_home(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let shown = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    plain(&shown).into_owned()
}

/// Words as alternatives: `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [many @ .., last] => format!("{} or {last}", many.join(", ")),
    }
}

/// Words as a list: `a`, `a and b`, `a, b and c`.
pub(crate) fn and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

/// A word as a shell takes it, whatever is in it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_or_turns_text_around_is_left() {
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(plain("x\u{202e}y\u{9b}z"), "x\\u{202e}y\\u{9b}z");
        assert_eq!(plain("Füße 漢字 🦀"), "Füße 漢字 🦀");
    }

    #[test]
    fn joiners_stay_in_prose_where_they_join_and_are_escapes_in_what_is_decided_about() {
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(plain(family), family);
        assert_eq!(plain("می\u{200c}خواهم"), "می\u{200c}خواهم");
        assert_eq!(plain("rm\u{200d} x\u{200d}"), "rm\\u{200d} x\\u{200d}");
        assert_eq!(plain("👩\u{200d}\u{202e}"), "👩\\u{200d}\\u{202e}");
        assert_eq!(exact(family), "👩\\u{200d}👩\\u{200d}👧");
        // Blanks that a shell does not take for one, and letters without a picture.
        assert_eq!(
            exact("rm\u{a0}-rf\u{3164}x\u{fe0f}"),
            "rm\\u{a0}-rf\\u{3164}x\\u{fe0f}"
        );
        assert_eq!(plain("14\u{a0}€ ❤\u{fe0f}"), "14\u{a0}€ ❤\u{fe0f}");
    }

    #[test]
    fn a_tab_reaches_to_the_next_stop_and_can_be_seen_where_it_matters() {
        assert_eq!(tabbed("\ta\tb", ' '), "        a       b");
        assert_eq!(tabbed("漢字\t\u{1b}", '→'), "漢字→   \\u{1b}");
        assert_eq!(tabbed("1234567\t8", '→'), "1234567→8");
        assert_eq!(tabbed("none", '→'), "none");
    }

    #[test]
    fn one_line_is_never_wider_than_it_may_be() {
        assert_eq!(one_line("a  b\n\tc", 10), "a b c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(width(&one_line("漢字漢字漢字", 6)), 5);
        assert_eq!(one_line("a\u{1b}b", 20), "a\\u{1b}b");
    }

    #[test]
    fn a_painted_line_is_cut_by_what_is_seen_of_it() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "abc");
        assert_eq!(
            cut("\u{1b}[1mab\u{1b}[0mcd", 3),
            "\u{1b}[1mab\u{1b}[0mc\u{1b}[0m"
        );
    }

    #[test]
    fn escaped_json_means_the_same() {
        let json = serde_json::to_string("x\u{9b}\u{202e}\u{e0041}\u{7f}y").unwrap();
        let escaped = plain_json(&json);
        assert!(!escaped.contains(is_hidden), "{escaped}");
        let back: String = serde_json::from_str(&escaped).unwrap();
        assert_eq!(back, "x\u{9b}\u{202e}\u{e0041}\u{7f}y");
    }

    #[test]
    fn rows_break_at_words_and_none_but_the_last_ever_changes() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrapped("", 5), [""]);
        let text = "a word, averyverylongword and 漢字 between\tthem ";
        let whole = wrapped(text, 9);
        for (end, _) in text.char_indices() {
            let rows = wrapped(&text[..end], 9);
            let (_, fixed) = rows.split_last().unwrap();
            assert_eq!(fixed, &whole[..fixed.len()], "{end}");
            assert!(
                rows.iter().all(|row| width(row.trim_end()) <= 9),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn tokens_money_and_times_are_short() {
        assert_eq!(
            [0, 812, 3_349, 51_000, 1_204_000].map(tokens),
            ["0", "812", "3.3k", "51k", "1.20M"]
        );
        assert_eq!(
            [0, 1, 9_999, 10_000, 626_000, 12_345_678].map(money),
            ["$0.00", "< $0.01", "< $0.01", "$0.01", "$0.63", "$12.35"]
        );
        assert_eq!(
            [0, 420, 8_900, 192_000, 7_500_000].map(span),
            ["0.0 s", "0.4 s", "8 s", "3m 12s", "2h 5m"]
        );
    }

    #[test]
    fn ages_and_sizes_are_short() {
        assert_eq!(
            [0, 59_999, 60_000, 7_200_000, 864_000_000].map(age),
            ["0s", "59s", "1m", "2h", "10d"]
        );
        assert_eq!(age(-5), "0s");
        assert_eq!(
            [0, 1023, 1024, 1_572_864, 3 << 30].map(size),
            ["0 B", "1023 B", "1.0 KiB", "1.5 MiB", "3.0 GiB"]
        );
        assert_eq!(count(1, "flow"), "1 flow");
        assert_eq!(count(2, "flow"), "2 flows");
    }
}
