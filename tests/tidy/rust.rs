//! What holds for every Rust file, and the means to look at code without its comments,
//! strings and tests.

use super::repository::{TextFile, rust_files};
use super::{Finding, assert_kept};

/// Past this a file holds two things. Functions are measured by clippy.
const FILE_LINES_MAX: usize = 800;

/// What may not be left in a file, tests included. Split, so that this file is no hit itself.
const STUBS: [&str; 4] = [
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    "dbg!",
    "#[ignore",
];

#[test]
fn every_file_opens_by_saying_what_it_is_for() {
    check("every .rs file opens with `//!`", head);
}

#[test]
fn no_file_is_too_long() {
    check(
        "no .rs file has more than 800 lines: check whether it holds two things",
        length,
    );
}

#[test]
fn no_stub_and_no_skipped_test_is_left() {
    check("what stands in the repository is finished", stubs);
}

fn check(rule: &str, of_file: fn(&TextFile) -> Vec<Finding>) {
    let findings: Vec<Finding> = rust_files().iter().flat_map(of_file).collect();
    assert_kept(rule, &findings);
}

fn head(file: &TextFile) -> Vec<Finding> {
    let said = file
        .text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|words| !words.trim().is_empty());
    if said {
        Vec::new()
    } else {
        vec![Finding::new(&file.path, 1, "does not open with `//!`")]
    }
}

fn length(file: &TextFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    if lines <= FILE_LINES_MAX {
        return Vec::new();
    }
    vec![Finding::new(&file.path, 0, format!("has {lines} lines"))]
}

fn stubs(file: &TextFile) -> Vec<Finding> {
    let code = code_only(&file.text);
    STUBS
        .iter()
        .flat_map(|stub| {
            lines_with(&code, stub)
                .into_iter()
                .map(move |line| (line, stub))
        })
        .map(|(line, stub)| Finding::new(&file.path, line, format!("`{stub}` is left")))
        .collect()
}

/// Whether a file is only ever part of tests, benchmarks or examples.
pub(super) fn is_for_tests(path: &str) -> bool {
    path.ends_with("/tests.rs")
        || path
            .split('/')
            .any(|part| matches!(part, "tests" | "benches" | "examples"))
}

/// The lines, from 1, that contain `needle` as a whole word.
pub(super) fn lines_with(code: &str, needle: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_as_word = needle.starts_with(is_word);
    let ends_as_word = needle.ends_with(is_word);
    let mut lines: Vec<usize> = code
        .match_indices(needle)
        .filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            let after = code[at + needle.len()..].chars().next();
            let goes_on_before = starts_as_word && before.is_some_and(is_word);
            let goes_on_after = ends_as_word && after.is_some_and(is_word);
            !goes_on_before && !goes_on_after
        })
        .map(|(at, _)| code[..at].matches('\n').count() + 1)
        .collect();
    lines.dedup();
    lines
}

/// The code that ships: comments, strings and everything under `#[cfg(test)]` blanked out.
pub(super) fn shipped_code(text: &str) -> String {
    without_tests(&code_only(text))
}

/// The text with comments and the insides of literals blanked out, line for line.
fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    each_part(text, |part, is_code| {
        if is_code {
            code.push_str(part);
        } else {
            code.extend(blank(part));
        }
    });
    code
}

/// The comments of a text, with everything else blanked out, line for line.
pub(super) fn comments(text: &str) -> String {
    let mut comments = String::with_capacity(text.len());
    each_part(text, |part, _| {
        if part.starts_with("//") || part.starts_with("/*") {
            comments.push_str(part);
        } else {
            comments.extend(blank(part));
        }
    });
    comments
}

/// The texts in the code that ships, with everything else blanked out, line for line.
pub(super) fn shipped_texts(text: &str) -> String {
    const IN_TEXT: char = '\u{1}';
    let mut marked = String::with_capacity(text.len());
    each_part(text, |part, is_code| {
        let is_text = !is_code && part.contains('"') && !part.starts_with('/');
        if is_code {
            marked.push_str(part);
        } else if is_text {
            marked.extend(blank(part).map(|c| if c == '\n' { c } else { IN_TEXT }));
        } else {
            marked.extend(blank(part));
        }
    });
    let shipped = without_tests(&marked);
    let each = text.chars().zip(shipped.chars());
    each.map(|(c, mark)| match mark {
        IN_TEXT if c != '"' => c,
        '\n' => '\n',
        _ => ' ',
    })
    .collect()
}

fn blank(part: &str) -> impl Iterator<Item = char> {
    part.chars().map(|c| if c == '\n' { '\n' } else { ' ' })
}

/// Splits a text into characters of code, and whole comments and literals.
fn each_part<'t>(text: &'t str, mut each: impl FnMut(&'t str, bool)) {
    let mut rest = text;
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let length = if in_word { 0 } else { literal_or_comment(rest) };
        let is_code = length == 0;
        let (part, after) = rest.split_at(if is_code { c.len_utf8() } else { length });
        each(part, is_code);
        in_word = is_code && (c.is_alphanumeric() || c == '_');
        // Within a word nothing starts but a quote, as in `x"` of a macro's arms.
        in_word = in_word && !after.starts_with(['"', '\'', '/']);
        rest = after;
    }
}

/// How many bytes of a comment or literal `rest` starts with; 0 if it starts with neither.
fn literal_or_comment(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    let prefix = ["br", "cr", "r", "b", "c", ""]
        .into_iter()
        .find(|prefix| {
            rest.strip_prefix(prefix)
                .is_some_and(|quoted| quoted.trim_start_matches('#').starts_with('"'))
        })
        .unwrap_or("none");
    match prefix {
        "br" | "cr" | "r" => raw_string(rest, prefix.len()),
        "b" | "c" | "" if rest[prefix.len()..].starts_with('"') => {
            prefix.len() + escaped(&rest[prefix.len()..], '"')
        }
        _ if rest.starts_with("b'") => 1 + escaped(&rest[1..], '\''),
        _ => character(rest),
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn raw_string(rest: &str, prefix_bytes: usize) -> usize {
    let hashes = rest[prefix_bytes..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    let open = prefix_bytes + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    rest[open..]
        .find(&close)
        .map_or(rest.len(), |at| open + at + close.len())
}

/// A literal with escapes, from its opening quote to its closing one.
fn escaped(rest: &str, quote: char) -> usize {
    let mut after_backslash = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !after_backslash {
            return at + 1;
        }
        after_backslash = c == '\\' && !after_backslash;
    }
    rest.len()
}

/// A character literal; a lifetime gives 0.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some('\\'), _) => escaped(rest, '\''),
        (Some('\''), Some(inner), Some('\'')) => inner.len_utf8() + 2,
        _ => 0,
    }
}

/// Blanks every item under `#[cfg(test)]`; whatever follows it stays.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        let end = at + MARK.len() + item(&rest[at + MARK.len()..]);
        kept.extend(
            rest[at..end]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' }),
        );
        rest = &rest[end..];
    }
    kept + rest
}

/// The length of the item that code starts with: up to its `;` or its closing brace. The `;` after
/// the braces of an import stays, which is harmless.
fn item(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TextFile {
        TextFile {
            path: "x.rs".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_file_without_a_head_is_found() {
        assert_eq!(head(&file("//! What it is for.\nfn f() {}\n")), []);
        assert_eq!(head(&file("use std::io;\n")).len(), 1);
        assert_eq!(head(&file("//!\nfn f() {}\n")).len(), 1);
        assert_eq!(head(&file("")).len(), 1);
    }

    #[test]
    fn a_file_is_too_long_with_its_801st_line() {
        assert_eq!(length(&file(&"x\n".repeat(800))), []);
        assert_eq!(length(&file(&"x\n".repeat(801)))[0].what, "has 801 lines");
    }

    #[test]
    fn a_stub_is_found_in_code_and_not_in_a_comment() {
        for stub in STUBS {
            assert_eq!(
                stubs(&file(&format!("\nfn f() {{ {stub}() }}\n")))[0].line,
                2,
                "{stub}"
            );
            assert_eq!(stubs(&file(&format!("// {stub}()\n"))), [], "{stub}");
        }
    }

    #[test]
    fn words_are_found_only_whole() {
        assert_eq!(lines_with("a\nstd::fs::read", "std::fs"), [2]);
        assert_eq!(lines_with("std::fsync", "std::fs"), [0_usize; 0]);
        assert_eq!(lines_with("eprintln!()", "println!"), [0_usize; 0]);
        assert_eq!(lines_with("rustix::fs::stat", "fs::"), [1]);
        assert_eq!(lines_with("offs::stat", "fs::"), [0_usize; 0]);
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x\"y", z)"#, "f(      , z)"),
            ("f(r#\"x\"y\"#, z)", "f(        , z)"),
            ("f(b\"x\", br\"y\", c\"z\")", "f(    ,      ,     )"),
            ("('\\'', 'x', b'\\n', '\"')", "(    ,    ,      ,    )"),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("bar\"x\"", "bar   "),
            ("r#type", "r#type"),
            ("\"a\nb\"", "  \n  "),
        ] {
            assert_eq!(code_only(text), code, "{text}");
        }
    }

    #[test]
    fn comments_are_found_and_literals_are_not() {
        for (text, found) in [
            ("a // b\nc", "  // b\n "),
            ("/// d\nf(\"// e\")", "/// d\n         "),
            ("'/' /* x\ny */ z", "    /* x\ny */  "),
        ] {
            assert_eq!(comments(text), found, "{text}");
        }
    }

    #[test]
    fn texts_that_ship_are_found_without_code_comments_and_tests() {
        let text = "f(\"one\\\n two\"); // \"three\"\n#[cfg(test)]\nmod tests {\n g(\"four\");\n}\nh(r#\"five\"#, '\"');\n";
        let words: Vec<String> = shipped_texts(text)
            .split_whitespace()
            .map(|word| word.trim_matches(['\\', '#', 'r']).to_owned())
            .filter(|word| word.len() > 1)
            .collect();
        assert_eq!(words, ["one", "two", "five"]);
        assert_eq!(shipped_texts(text).lines().count(), text.lines().count());
    }

    #[test]
    fn a_raw_string_after_a_word_does_not_swallow_the_rest() {
        assert_eq!(code_only("for\"x\" y"), "for    y");
        assert_eq!(code_only("var\"x\" y"), "var    y");
    }

    #[test]
    fn what_stands_under_cfg_test_does_not_ship_and_what_follows_does() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { c(); }\n}\nfn d() {}\n";
        let shipped = shipped_code(text);
        assert!(
            shipped.contains("fn a()") && shipped.contains("fn d()"),
            "{shipped}"
        );
        assert!(
            !shipped.contains("fn b()") && !shipped.contains("c();"),
            "{shipped}"
        );
        assert_eq!(shipped.lines().count(), text.lines().count());
    }

    #[test]
    fn a_test_helper_or_import_under_cfg_test_ends_where_it_ends() {
        assert_eq!(
            shipped_code("#[cfg(test)] use x::{y, z}; fn a() {}").trim(),
            "; fn a() {}"
        );
        assert_eq!(
            shipped_code("#[cfg(test)] mod tests; fn a() {}").trim(),
            "fn a() {}"
        );
        let helper = "#[cfg(test)] #[expect(dead)] fn h(x: [u8; 3]) { y(); } fn a() {}";
        assert_eq!(shipped_code(helper).trim(), "fn a() {}");
        assert_eq!(
            shipped_code("#[cfg(not(test))] fn a() {}"),
            "#[cfg(not(test))] fn a() {}"
        );
    }

    #[test]
    fn test_files_are_told_by_their_place() {
        for path in [
            "tests/tidy.rs",
            "state/tests/crash.rs",
            "state/src/open/tests.rs",
        ] {
            assert!(is_for_tests(path), "{path}");
        }
        assert!(is_for_tests("benches/append.rs"));
        assert!(!is_for_tests("state/src/tests_of_faith.rs"));
        assert!(!is_for_tests("src/main.rs"));
    }
}
