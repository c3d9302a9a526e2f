//! What a command came to, in the words of the tests it ran: "44 passed".
//!
//! Only the summaries of common runners are read, and only of a command that runs one of them. An
//! uncertain outcome is not shown: a summary that may be incomplete, two kinds of summary, or an
//! unknown word.

use crate::protocol::feed::Outcome;

/// Who runs tests in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Cargo,
    Pytest,
    Go,
    /// Whatever a script of a package runs: jest, vitest, mocha, or node itself.
    Script,
}

/// The command that ran, as far as it matters for its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tested {
    runner: Runner,
    /// The output goes through another program, which may drop some of it.
    is_piped: bool,
}

/// How many tests went which way.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tested {
    /// The test runner of a command; `None` without one, and with two kinds.
    pub(crate) fn of(command: &str) -> Option<Self> {
        let mut found: Option<Runner> = None;
        for simple in command.split(['\n', ';', '&', '|', '(', ')', '{', '}']) {
            match (found, runner(simple)) {
                (_, None) => {}
                (Some(before), Some(now)) if before != now => return None,
                (_, now) => found = now,
            }
        }
        Some(Self {
            runner: found?,
            is_piped: command.replace("||", "").contains('|'),
        })
    }

    /// What the output says that it came to.
    pub(crate) fn outcome(self, output: &str) -> Option<Outcome> {
        // What was left out may have been a summary.
        if output.contains(LEFT_OUT) {
            return None;
        }
        let plain = without_colours(output);
        match self.runner {
            // These say one summary for each part, so one that is missing is not noticed.
            Runner::Cargo | Runner::Go if self.is_piped => None,
            Runner::Cargo => one_of([summed(&plain, cargo), summed(&plain, nextest)]),
            Runner::Pytest => summed(&plain, pytest).and_then(Tally::words),
            Runner::Go => go(&plain),
            Runner::Script => one_of([
                summed(&plain, jest),
                summed(&plain, vitest),
                listed(&plain, &MOCHA),
                listed(&plain, &NODE),
            ]),
        }
    }
}

/// The mark where the middle of an output was left out, or its rest.
const LEFT_OUT: &str = "[… ";

/// Words that precede a program and run it.
const WRAPPERS: [&str; 14] = [
    "env", "time", "nice", "sudo", "xvfb-run", "uv", "poetry", "pipenv", "run", "exec", "npx",
    "bunx", "yarn", "pnpm",
];

/// The runner of one simple command.
fn runner(simple: &str) -> Option<Runner> {
    let mut words = simple.split_whitespace().peekable();
    loop {
        let word = words.next()?;
        let name = word.rsplit('/').next().unwrap_or(word);
        let next = words.peek().copied();
        let is_test = next.is_some_and(|word| word == "test" || word.starts_with("test:"));
        match name {
            "cargo" => {
                let mut rest = words.filter(|word| !word.starts_with(['+', '-']));
                let verb = rest.next()?;
                return ["test", "t", "nextest"]
                    .contains(&verb)
                    .then_some(Runner::Cargo);
            }
            "pytest" | "py.test" => return Some(Runner::Pytest),
            "go" => return (next == Some("test")).then_some(Runner::Go),
            "jest" | "vitest" | "mocha" => return Some(Runner::Script),
            "node" => return words.any(|word| word == "--test").then_some(Runner::Script),
            "npm" | "pnpm" | "yarn" if is_test || next == Some("t") => return Some(Runner::Script),
            "npm" if next == Some("run") || next == Some("exec") => {}
            _ if name.starts_with("python") && next == Some("-m") => {
                words.next();
            }
            "timeout" => {
                words.next();
            }
            // The script that `npm run` names.
            _ if name == "test" || name.starts_with("test:") => {
                return simple.contains("npm run").then_some(Runner::Script);
            }
            _ if WRAPPERS.contains(&name) || is_assignment(word) => {}
            _ => return None,
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

/// A text without the signs that colour it on a terminal.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}

/// The sum of all lines that are a summary.
fn summed(text: &str, read: impl Fn(&str) -> Option<Tally>) -> Option<Tally> {
    text.lines().filter_map(read).reduce(|sum, one| Tally {
        passed: sum.passed.saturating_add(one.passed),
        failed: sum.failed.saturating_add(one.failed),
        skipped: sum.skipped.saturating_add(one.skipped),
    })
}

/// The one kind of summary that was found.
fn one_of<const N: usize>(found: [Option<Tally>; N]) -> Option<Outcome> {
    let mut found = found.into_iter().flatten();
    let first = found.next()?;
    if found.next().is_some() {
        None
    } else {
        first.words()
    }
}

/// `test result: ok. 44 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.52s`
fn cargo(line: &str) -> Option<Tally> {
    let rest = line.strip_prefix("test result: ")?;
    let (_, counts) = rest.split_once(". ")?;
    let (counts, _) = counts
        .split_once("; 0 measured")
        .or_else(|| counts.split_once("; finished"))?;
    tally(counts.split("; "))
}

/// `Summary [   0.123s] 44 tests run: 43 passed (1 slow), 1 failed, 2 skipped`
fn nextest(line: &str) -> Option<Tally> {
    let rest = line.trim_start().strip_prefix("Summary [")?;
    let (_, counts) = rest.split_once("run: ")?;
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in counts.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    tally(plain.split(','))
}

/// `===== 1 failed, 43 passed, 2 warnings in 1.02s =====`, and the same without its frame.
fn pytest(line: &str) -> Option<Tally> {
    let bare = line.trim_matches(['=', ' ']);
    let (counts, took) = bare.rsplit_once(" in ")?;
    let seconds = took.split_whitespace().next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    tally(counts.split(", "))
}

/// `Tests:       1 failed, 2 skipped, 43 passed, 46 total`
fn jest(line: &str) -> Option<Tally> {
    let (counts, total) = line.strip_prefix("Tests:")?.rsplit_once(", ")?;
    total.strip_suffix(" total")?.parse::<u64>().ok()?;
    tally(counts.split(','))
}

/// `Tests  1 failed | 43 passed | 2 skipped (46)`
fn vitest(line: &str) -> Option<Tally> {
    let (counts, total) = line
        .trim_start()
        .strip_prefix("Tests  ")?
        .rsplit_once(" (")?;
    total.strip_suffix(')')?.parse::<u64>().ok()?;
    tally(counts.split('|'))
}

/// "43 passed", "1 failed": every part has to be a number and a word that is known.
fn tally<'t>(parts: impl Iterator<Item = &'t str>) -> Option<Tally> {
    let mut all = Tally::default();
    for part in parts {
        let (number, word) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word.trim() {
            "passed" | "xpassed" => all.passed += number,
            "failed" | "error" | "errors" | "timed out" | "exec failed" => all.failed += number,
            "skipped" | "ignored" | "todo" | "xfailed" => all.skipped += number,
            "deselected" | "warning" | "warnings" | "measured" => {}
            _ => return None,
        }
    }
    Some(all)
}

/// How a list of counts begins its lines, and what they count.
struct Listing {
    /// What the lines begin with, one of these.
    marks: &'static [&'static str],
    /// Whether the number comes first.
    is_number_first: bool,
    passed: &'static str,
    failed: &'static [&'static str],
    skipped: &'static [&'static str],
    /// Whether lines of failures are always there.
    says_all: bool,
}

/// `  43 passing (2s)` and below it `  1 failing`.
const MOCHA: Listing = Listing {
    marks: &["  "],
    is_number_first: true,
    passed: "passing",
    failed: &["failing"],
    skipped: &["pending"],
    says_all: false,
};

/// `# pass 43` and `# fail 1`, or the same with a sign that is no hash.
const NODE: Listing = Listing {
    marks: &["# ", "ℹ "],
    is_number_first: false,
    passed: "pass",
    failed: &["fail", "cancelled"],
    skipped: &["skipped", "todo"],
    says_all: true,
};

/// Counts, one on a line.
fn listed(text: &str, how: &Listing) -> Option<Tally> {
    let mut all = Tally::default();
    let (mut passes, mut fails) = (0_u32, 0_u32);
    for line in text.lines() {
        let Some(rest) = how.marks.iter().find_map(|mark| line.strip_prefix(mark)) else {
            continue;
        };
        let mut words = rest.split(' ');
        let (Some(one), Some(two)) = (words.next(), words.next()) else {
            continue;
        };
        let (number, word) = if how.is_number_first {
            (one, two)
        } else {
            (two, one)
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        if word == how.passed {
            passes += 1;
            all.passed += number;
        } else if how.failed.contains(&word) {
            fails += 1;
            all.failed += number;
        } else if how.skipped.contains(&word) {
            all.skipped += number;
        }
    }
    (passes > 0 && (!how.says_all || fails > 0)).then_some(all)
}

/// Tests where they are listed, else packages: without `-v` the number of tests is unknown.
fn go(text: &str) -> Option<Outcome> {
    let starting = |mark: &str| text.lines().filter(|line| line.starts_with(mark)).count() as u64;
    if text.lines().any(|line| line.starts_with("=== RUN ")) {
        let all = Tally {
            passed: starting("--- PASS: "),
            failed: starting("--- FAIL: "),
            skipped: starting("--- SKIP: "),
        };
        return all.words();
    }
    let (ok, failed) = (starting("ok  \t"), starting("FAIL\t"));
    let packages = |n: u64| {
        if n == 1 {
            "1 package".to_owned()
        } else {
            format!("{n} packages")
        }
    };
    match (ok, failed) {
        (0, 0) => None,
        (ok, 0) => Some(Outcome {
            words: format!("{} passed", packages(ok)),
            failed: false,
        }),
        (ok, failed) => Some(Outcome {
            words: format!("{failed} of {} failed", packages(ok + failed)),
            failed: true,
        }),
    }
}

impl Tally {
    /// "1 failed, 43 passed, 2 skipped"; `None` without any test.
    fn words(self) -> Option<Outcome> {
        if self.passed + self.failed == 0 {
            return None;
        }
        let said: Vec<String> = [
            (self.failed, "failed", false),
            (self.passed, "passed", self.failed == 0),
            (self.skipped, "skipped", false),
        ]
        .into_iter()
        .filter(|(number, _, is_always)| *number > 0 || *is_always)
        .map(|(number, word, _)| format!("{number} {word}"))
        .collect();
        Some(Outcome {
            words: said.join(", "),
            failed: self.failed > 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(command: &str, output: &str) -> Option<String> {
        let outcome = Tested::of(command)?.outcome(output)?;
        assert_eq!(outcome.failed, outcome.words.contains("failed"));
        Some(outcome.words)
    }

    #[test]
    fn the_summary_of_a_common_runner_is_told_in_a_few_words() {
        let ok = "test result: ok. 44 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.52s";
        let bad = "test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        for (command, output, expected) in [
            ("cargo test -p ledger", format!("running 44 tests\n{ok}\n"), "44 passed"),
            ("cd a && RUST_BACKTRACE=1 cargo +nightly t", format!("{ok}\n\n{ok}\n"), "88 passed"),
            ("timeout 60 cargo --locked test", format!("{ok}\n{bad}"), "2 failed, 45 passed, 1 skipped"),
            ("cargo nextest run", "     Summary [   0.123s] 44 tests run: 43 passed (1 slow), 1 failed, 2 skipped".to_owned(), "1 failed, 43 passed, 2 skipped"),
            ("pytest -q", "....\n44 passed in 0.52s\n".to_owned(), "44 passed"),
            ("uv run python3 -m pytest tests | tail -3", "==== 1 failed, 43 passed, 2 warnings in 61.02s (0:01:01) ====".to_owned(), "1 failed, 43 passed"),
            ("pytest", "= 3 errors in 0.10s =".to_owned(), "3 failed"),
            ("npx jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 43 passed, 46 total\nTime: 1 s".to_owned(), "1 failed, 43 passed, 2 skipped"),
            ("npm run test:unit", " Test Files  3 passed (3)\n      Tests  44 passed (44)\n".to_owned(), "44 passed"),
            ("npm test", " \u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m\u{1b}[32m44 passed\u{1b}[39m\u{1b}[22m\u{1b}[90m (44)\u{1b}[39m".to_owned(), "44 passed"),
            ("pnpm test", "      Tests  1 failed | 43 passed | 2 todo (46)".to_owned(), "1 failed, 43 passed, 2 skipped"),
            ("yarn test", "\n  43 passing (2s)\n  1 failing\n\n  1) fails".to_owned(), "1 failed, 43 passed"),
            ("node --test", "# tests 44\n# suites 0\n# pass 44\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0".to_owned(), "44 passed"),
            ("node --test --test-reporter=spec a.mjs", "ℹ tests 3\nℹ pass 1\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0".to_owned(), "2 failed, 1 passed"),
            ("go test -v ./...", "=== RUN   TestA\n=== RUN   TestA/b\n    --- PASS: TestA/b (0.00s)\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\nok  \ta/b\t0.01s".to_owned(), "1 passed, 1 skipped"),
            ("go test ./...", "ok  \ta/b\t0.01s\nok  \ta/c\t(cached)\n?   \ta/d\t[no test files]".to_owned(), "2 packages passed"),
            ("go test ./...", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta/b\t0.01s\nok  \ta/c\t0.01s\nFAIL".to_owned(), "1 of 2 packages failed"),
        ] {
            let whole = format!("[exit code 0]\n{output}");
            assert_eq!(said(command, &whole).as_deref(), Some(expected), "{command}");
        }
    }

    #[test]
    fn nothing_is_said_where_something_is_not_certain() {
        let ok = "test result: ok. 44 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.5s";
        for (command, output) in [
            ("cat build.log", ok.to_owned()),
            ("echo cargo test", ok.to_owned()),
            ("grep -rn \"cargo test\" docs", ok.to_owned()),
            ("./test", ok.to_owned()),
            ("cargo build", ok.to_owned()),
            ("cargo test 2>&1 | tail -5", ok.to_owned()),
            ("cargo test && npm test", ok.to_owned()),
            ("cargo test", format!("{ok}\n\n[… 900 bytes in 12 lines are left out here …]\n{ok}")),
            ("cargo test", "error: could not compile `ledger`".to_owned()),
            ("cargo test", "test result: ok. many passed; 0 failed; 0 ignored; 0 measured; finished".to_owned()),
            ("cargo test", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.0s".to_owned()),
            ("pytest", "no tests ran in 0.01s".to_owned()),
            ("pytest", "44 passed in all".to_owned()),
            ("pytest", "44 passed, 2 unheard-of in 0.5s".to_owned()),
            ("npm install", "added 120 packages, and audited 121 packages in 3s".to_owned()),
            ("npm test", "Tests:       44 passed, 44 total\n      Tests  44 passed (44)".to_owned()),
            ("npm run build", "      Tests  44 passed (44)".to_owned()),
            ("node --test", "# pass 44".to_owned()),
            ("node server.js", "# pass 44\n# fail 0".to_owned()),
            ("go build ./...", "ok  \ta/b\t0.01s".to_owned()),
            ("go test ./...", "?   \ta/d\t[no test files]".to_owned()),
            ("", String::new()),
        ] {
            let whole = format!("[exit code 0]\n{output}");
            assert_eq!(said(command, &whole), None, "{command}: {output}");
        }
    }
}
