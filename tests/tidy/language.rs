//! Comments, documents and the texts of the program name an agent, an active verb and the technical word: the
//! mannerisms that hide all three are listed here and stay out.

use super::repository::{TextFile, text_files};
use super::{Finding, assert_kept, rust};

/// A turn of phrase, as words, and what to write instead.
struct Mannerism {
    words: &'static str,
    better: &'static str,
}

const fn better(better: &'static str, words: &'static str) -> Mannerism {
    Mannerism { words, better }
}

const AGENT: &str = "the driver, the caller, the client, the role, the reader";
const TOLD: &str = "gets, reads; a result is reported, a person is notified";
const STANDS: &str = "is in, replaces, means, follows, precedes";
const LIES: &str = "is in, is beside, is below";
const SAID: &str = "is recorded, written, sent, set, reported";
const RESULT: &str = "the result, the outcome";
const HEARS: &str = "gets, handles, reads, receives";
const TAKER: &str = "plays the role, drives the flow, the taker of a turn";

/// All of them. None may be left in a comment, and of those that [`is_for_texts`] none in a text or a document.
const MANNERISMS: [Mannerism; 61] = [
    better(AGENT, "whoever"),
    better(AGENT, "whomever"),
    better(AGENT, "somebody"),
    better(AGENT, "nobody"),
    better(TOLD, "is told"),
    better(TOLD, "are told"),
    better(TOLD, "was told"),
    better(TOLD, "were told"),
    better(TOLD, "be told"),
    better(STANDS, "stands in"),
    better(STANDS, "stands for"),
    better(STANDS, "stands behind"),
    better(STANDS, "stands before"),
    better(STANDS, "stands beside"),
    better(STANDS, "stands under"),
    better(STANDS, "stands there"),
    better(STANDS, "stand in"),
    better(STANDS, "stand for"),
    better(STANDS, "stand behind"),
    better(STANDS, "stand before"),
    better(STANDS, "stand beside"),
    better(STANDS, "stand under"),
    better(STANDS, "stand there"),
    better(STANDS, "how it stands"),
    better(STANDS, "where it stands"),
    better(LIES, "lies in"),
    better(LIES, "lies beside"),
    better(LIES, "lies behind"),
    better(LIES, "lies below"),
    better(LIES, "lies there"),
    better(LIES, "lie in"),
    better(LIES, "lie beside"),
    better(LIES, "lie behind"),
    better(LIES, "lie below"),
    better(LIES, "lie there"),
    better(SAID, "is said"),
    better(SAID, "are said"),
    better(SAID, "was said"),
    better(SAID, "were said"),
    better(SAID, "be said"),
    better(RESULT, "came of it"),
    better(RESULT, "what came of"),
    better(RESULT, "what comes of"),
    better(RESULT, "comes of it"),
    better(RESULT, "what became of"),
    better(RESULT, "what becomes of"),
    better("failed", "came to nothing"),
    better("fails", "comes to nothing"),
    better("is not part of, is invalid", "is none of"),
    better("are not part of, are invalid", "are none of"),
    better("archived", "put away"),
    better("compacted", "made shorter"),
    better("compacts", "makes shorter"),
    better(TAKER, "takes the turn"),
    better(TAKER, "takes the turns"),
    better(TAKER, "take the turn"),
    better(TAKER, "take the turns"),
    better(HEARS, "hears"),
    better(HEARS, "is heard"),
    better(HEARS, "are heard"),
    better(HEARS, "was heard"),
];

#[test]
fn comments_are_free_of_mannerisms() {
    let findings: Vec<Finding> = text_files().iter().flat_map(mannerisms).collect();
    assert_kept(
        "a comment names who does what, in the words of the field",
        &findings,
    );
}

/// Recognises texts that older versions wrote.
const OF_OLDER_JOURNALS: &str = "roles/src/role/compaction/past.rs";

#[test]
fn texts_and_documents_are_free_of_mannerisms() {
    let files = text_files();
    let findings: Vec<Finding> = files.iter().flat_map(in_texts).collect();
    assert_kept(
        "a text names who does what, in the words of the field",
        &findings,
    );
}

/// Chats have a verb of their own, and one status has another.
fn is_for_texts(mannerism: &Mannerism) -> bool {
    mannerism.better != SAID && mannerism.words != "nobody"
}

fn mannerisms(file: &TextFile) -> Vec<Finding> {
    let found = comments(file).map(|comments| found_in(file, &comments, |_| true));
    found.unwrap_or_default()
}

/// Those in the texts of code that ships, and in documents.
fn in_texts(file: &TextFile) -> Vec<Finding> {
    let is_ours = !file.path.starts_with("CHANGELOG") && !file.path.contains("/expected/");
    if file.path == OF_OLDER_JOURNALS {
        return Vec::new();
    }
    let is_shipped =
        file.is("rs") && !rust::is_for_tests(&file.path) && !file.path.starts_with("tests/");
    let text = match (is_shipped, file.is("md") && is_ours) {
        (true, _) => rust::shipped_texts(&file.text),
        (false, true) => file.text.clone(),
        (false, false) => return Vec::new(),
    };
    found_in(file, &text, is_for_texts)
}

fn found_in(file: &TextFile, text: &str, counts: fn(&Mannerism) -> bool) -> Vec<Finding> {
    let words = words(text);
    let found = |at: usize| {
        let here = &words[at..];
        let is_here = |mannerism: &&Mannerism| {
            let mut wanted = mannerism.words.split(' ').zip(here);
            let length = mannerism.words.split(' ').count();
            here.len() >= length && wanted.all(|(wanted, (_, word))| wanted == word)
        };
        let mut counted = MANNERISMS.iter().filter(|mannerism| counts(mannerism));
        let mannerism = counted.find(is_here)?;
        let what = format!("`{}`; better: {}", mannerism.words, mannerism.better);
        Some(Finding::new(&file.path, here[0].0, what))
    };
    (0..words.len()).filter_map(found).collect()
}

/// The comments of a source file, line for line; `None` for other files and generated ones.
fn comments(file: &TextFile) -> Option<String> {
    let is_built = file.path.contains("/dist/");
    let is_web = ["ts", "svelte", "mjs"].iter().any(|end| file.is(end));
    match (file.is("rs"), is_web && !is_built) {
        (true, _) => Some(rust::comments(&file.text)),
        (false, true) => Some(web_comments(&file.text)),
        (false, false) => None,
    }
}

/// The comments of TypeScript, Svelte and the styles in it. An address is not one: a comment begins a
/// line or follows a space.
fn web_comments(text: &str) -> String {
    let mut open: Option<&str> = None;
    let lines = text.lines().map(|line| {
        let mut kept = String::new();
        let mut rest = line;
        loop {
            if let Some(end) = open {
                let Some((inside, after)) = rest.split_once(end) else {
                    kept.push_str(rest);
                    break;
                };
                kept.push_str(inside);
                (open, rest) = (None, after);
            } else {
                let Some((mark, after)) = opening(rest) else {
                    break;
                };
                kept.push(' ');
                match mark {
                    "//" => {
                        kept.push_str(after);
                        break;
                    }
                    "/*" => open = Some("*/"),
                    _ => open = Some("-->"),
                }
                rest = after;
            }
        }
        kept
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// The first mark that opens a comment, and the text after it.
fn opening(line: &str) -> Option<(&'static str, &str)> {
    let places = line.char_indices().map(|(at, _)| at);
    let mut marks = places.filter_map(|at| {
        let (before, here) = line.split_at(at);
        let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
        let mark = ["//", "/*", "<!--"]
            .into_iter()
            .find(|mark| here.starts_with(mark))?;
        (is_apart || mark == "<!--").then(|| (mark, &here[mark.len()..]))
    });
    marks.next()
}

/// The words of comments with their lines. A line without a comment parts them, and so does what a
/// comment quotes.
fn words(comments: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    for (number, line) in (1..).zip(comments.lines()) {
        let before = words.len();
        for (place, part) in line.split(['"', '`']).enumerate() {
            if place % 2 == 1 {
                words.push((number, String::new()));
                continue;
            }
            let each = part.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '\''));
            let each = each.filter(|word| word.chars().any(char::is_alphanumeric));
            words.extend(each.map(|word| (number, word.to_lowercase())));
        }
        if words.len() == before {
            words.push((number, String::new()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let file = TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let each = mannerisms(&file).into_iter();
        each.map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn a_mannerism_is_found_in_comments_of_every_language() {
        let told = format!("`is told`; better: {TOLD}");
        for (path, text, line) in [
            ("a.rs", "fn f() {}\n/// What is told.\n", 2),
            ("a.rs", "/// What is\n/// told.\n", 1),
            ("a.ts", "f(); // What is told\n", 1),
            ("a.ts", "/**\n * What is\n * told\n */\n", 2),
            ("a.svelte", "<p>x</p><!-- What is told -->\n", 1),
        ] {
            assert_eq!(found(path, text), [(line, told.clone())], "{text}");
        }
    }

    #[test]
    fn a_mannerism_is_found_in_shipped_texts_and_documents_and_nowhere_else() {
        let found = |path: &str, text: &str| {
            let file = TextFile {
                path: path.to_owned(),
                text: text.to_owned(),
            };
            in_texts(&file).len()
        };
        for (path, text, many) in [
            ("src/a.rs", "f(\"What is \\\n   told\");\n", 1),
            ("src/a.rs", "f(\"What was said\"); // What is told\n", 0),
            (
                "src/a.rs",
                "#[cfg(test)]\nmod tests { f(\"is told\"); }\n",
                0,
            ),
            ("tests/a.rs", "f(\"What is told\");\n", 0),
            ("docs/a.md", "What is\ntold, and `is told`.\n", 1),
            ("CHANGELOG.md", "What is told.\n", 0),
        ] {
            assert_eq!(found(path, text), many, "{path}: {text}");
        }
    }

    #[test]
    fn code_texts_and_quotations_are_not_judged() {
        for (path, text) in [
            ("a.rs", "let whoever = \"whoever\";\n"),
            ("a.rs", "// An old text: \"what is told\".\n"),
            ("a.rs", "// This is\nlet told = 1;\n"),
            ("a.rs", "// The stand-in for a provider\n"),
            ("a.ts", "const at = \"https://nobody\";\n"),
            ("a.md", "Whoever reads this.\n"),
        ] {
            assert_eq!(found(path, text), [], "{text}");
        }
    }
}
