//! Other commands of this program, which `watch` starts: one on the terminal while its screen is away, and `resume`
//! beside it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use a_society_state::FlowRef;

/// A flow whose process ended, and with which code.
#[derive(Debug)]
pub(crate) struct EndedFlow {
    pub(crate) flow: FlowRef,
    pub(crate) code: Option<i32>,
}

/// How this program is started again, on the same workspace.
#[derive(Debug, Clone)]
pub(crate) struct OwnCommand {
    program: OsString,
    before: Vec<OsString>,
}

impl OwnCommand {
    pub(crate) fn new(program: OsString, workspace: &Path, without_locks: bool) -> Self {
        let mut before: Vec<OsString> = vec!["--workspace".into(), workspace.into()];
        before.extend(without_locks.then(|| "--unsafe-no-lock".into()));
        Self { program, before }
    }

    fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.before).args(words);
        command
    }

    /// Runs a command on the terminal and waits until it ends.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub(crate) fn run(&self, words: &[String]) -> Result<String, String> {
        let ended = self.command(words).status();
        match ended {
            Ok(ended) => Ok(ended.code().map_or_else(
                || format!("it ended with {ended}"),
                |code| format!("it ended with code {code}"),
            )),
            Err(error) => Err(format!("it was not started: {error}")),
        }
    }

    /// Resumes a flow in a process of its own, which goes on when this one ends. How it ended is sent.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub(crate) fn resume(&self, flow: &FlowRef, tell: Sender<EndedFlow>) -> Result<(), String> {
        let words = ["resume".to_owned(), flow.to_string(), "--quiet".to_owned()];
        let mut command = self.command(&words);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C at this terminal is not meant for it.
            .process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| format!("it was not started: {error}"))?;
        let flow = flow.clone();
        let waiting = std::thread::Builder::new().name("resumed".to_owned());
        let begun = waiting.spawn(move || {
            let code = child.wait().ok().and_then(|ended| ended.code());
            // The receiver is gone if the screen is.
            drop(tell.send(EndedFlow { flow, code }));
        });
        begun
            .map(drop)
            .map_err(|error| format!("its end cannot be waited for: {error}"))
    }
}

/// How far the local clock is ahead of the world's, as the system's own program says it; nothing if it does not.
pub(crate) fn ahead_of_utc_ms() -> i64 {
    let said = Command::new("date")
        .arg("+%z")
        .stderr(Stdio::null())
        .output();
    let said = said.ok().map(|said| said.stdout).unwrap_or_default();
    ahead_ms(String::from_utf8_lossy(&said).trim()).unwrap_or(0)
}

/// `+0530` in milliseconds.
fn ahead_ms(said: &str) -> Option<i64> {
    let (sign, digits) = said.split_at_checked(1)?;
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes: i64 = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    let ms = minutes * 60 * 1_000;
    match sign {
        "+" => Some(ms),
        "-" => Some(-ms),
        _ => None,
    }
}

/// A typed line as words: blanks part them, quotes hold them together.
///
/// # Errors
/// When a quote is not closed.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_words_and_quotes_hold_them_together() {
        let all = |line: &str| words(line).unwrap();
        assert_eq!(all("  status   k4x9 "), ["status", "k4x9"]);
        assert_eq!(
            all(r#"reply k4x9 "two words" 'it''s' a\ b"#),
            ["reply", "k4x9", "two words", "its", "a b"]
        );
        assert_eq!(all("x '' "), ["x", ""]);
        assert_eq!(all(""), Vec::<String>::new());
        assert!(words("reply 'open").is_err());
    }

    #[test]
    fn the_local_clock_is_read_as_the_system_says_it() {
        assert_eq!(ahead_ms("+0530"), Some(19_800_000));
        assert_eq!(ahead_ms("-0800"), Some(-28_800_000));
        for wrong in ["", "Z", "+5", "x0100", "é200"] {
            assert_eq!(ahead_ms(wrong), None, "{wrong}");
        }
    }
}
