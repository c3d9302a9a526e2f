//! A turn that goes nowhere: the same call comes to the same result again and again.
//!
//! A call is the same if its tool and its arguments are, and its result if its text is, without what
//! differs each time: how long it took, and where its output is kept. Calls that do something new,
//! such as an edit between two runs of the same tests, begin the count anew; calls that only read do
//! not. What is recorded of the turn is counted, so that a turn that goes on after a crash counts on.

use std::collections::{BTreeMap, BTreeSet};

use a_society_facts::Hash;
use a_society_facts::message::{Message, ToolCall};

use super::limits::SAME_SAID;

/// What a model reads when it has the same result for the third time.
pub(super) const SAID: &str =
    "[Third time with the same result. Do something else, ask, or hand off.]";

/// Tools that change nothing, under all the names by which models call them.
const READS: &[&str] = &[
    "read_file",
    "read_file_lines",
    "read",
    "view",
    "list_directory",
    "list_dir",
    "ls",
    "search_files",
    "grep",
    "grep_search",
    "glob",
    "fetch_url",
    "web_fetch",
    "web_search",
    "command_output",
    "sessions_list",
    "sessions_history",
    "todo",
];

/// The calls of a turn and their results.
#[derive(Debug, Default)]
pub(super) struct Same {
    seen: BTreeSet<Hash>,
    times: BTreeMap<Hash, u32>,
    /// At which time the turn is to pause.
    most: u32,
    /// Why the turn is to pause, once it is.
    stuck: Option<String>,
}

impl Same {
    /// Nothing counted yet; the turn pauses when the same call had the same result so often.
    pub(super) fn up_to(most: u32) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// The calls that are recorded of a turn with so many answers.
    pub(super) fn of(history: &[std::sync::Arc<Message>], answers: u32, most: u32) -> Self {
        let mut same = Self::up_to(most);
        let is_answer = |message: &Message| match message {
            Message::Assistant { .. } | Message::AssistantToolCalls { .. } => true,
            Message::User { .. } | Message::ToolResult { .. } => false,
        };
        // Where a part of the turn was summarised, what is left of it is counted.
        let first = (history.iter().enumerate().rev())
            .filter(|(_, message)| is_answer(message))
            .map(|(place, _)| place)
            .take(answers as usize)
            .last();
        let mut calls: BTreeMap<&str, &ToolCall> = BTreeMap::new();
        for message in first.map_or(&[][..], |first| &history[first..]) {
            match &**message {
                Message::AssistantToolCalls { calls: asked, .. } => {
                    calls.extend(asked.iter().map(|call| (call.id.as_str(), call)));
                }
                Message::ToolResult {
                    call_id, content, ..
                } => {
                    if let Some(call) = calls.get(call_id.as_str()) {
                        same.count(call, content);
                    }
                }
                Message::User { .. } | Message::Assistant { .. } => {}
            }
        }
        same
    }

    /// Takes the result of a call, and returns it as the model reads it.
    pub(super) fn heard(&mut self, call: &ToolCall, mut output: String) -> String {
        if self.count(call, &output) == SAME_SAID {
            if !output.is_empty() && !output.ends_with('\n') {
                output.push('\n');
            }
            output.push_str(SAID);
        }
        output
    }

    /// Why the turn is to pause, if it is.
    pub(super) fn stuck(&mut self) -> Option<String> {
        self.stuck.take()
    }

    fn count(&mut self, call: &ToolCall, output: &str) -> u32 {
        if waits(call) {
            return 0;
        }
        let output = plain(output);
        let text = format!("{}\n{}\n{output}", call.name, call.input.get());
        let key = Hash::of(text.as_bytes());
        if self.seen.insert(key) && !reads(&call.name) {
            self.times.clear();
        }
        let times = self.times.entry(key).or_default();
        *times += 1;
        if *times >= self.most && self.stuck.is_none() {
            self.stuck = Some(format!(
                "the same call of {} had the same result {times} times in this turn, and the role goes \
                 nowhere. Reply with what it should do instead, or retry",
                call.name
            ));
        }
        *times
    }
}

fn reads(tool: &str) -> bool {
    READS.contains(&tool.to_ascii_lowercase().as_str())
}

/// Whether a call lets time pass on purpose.
fn waits(call: &ToolCall) -> bool {
    let waits = call.input.get().contains("\"wait_ms\"") || call.input.get().contains("\"waitMs\"");
    call.name == "command_output" && waits
}

/// A result without what differs each time.
fn plain(output: &str) -> String {
    let output = output.strip_suffix(SAID).unwrap_or(output).trim_end();
    let mut plain = String::with_capacity(output.len());
    for (at, line) in output.lines().enumerate() {
        let status = at == 0 && line.starts_with("[exit ");
        let line = match line.split_once(',').filter(|_| status) {
            Some((exit, _)) => exit,
            None => line,
        };
        match line.split_once("record/.outputs/") {
            Some((before, _)) => plain.push_str(before),
            None => plain.push_str(line),
        }
        plain.push('\n');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, input: &str) -> ToolCall {
        let text = format!(r#"{{"id":"c","name":"{name}","input":{input}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_third_same_result_is_said_and_the_fifth_pauses_and_changing_ones_never_do() {
        let mut same = Same::up_to(5);
        let list = call("list_directory", "{}");
        for time in 1..=5 {
            let said = same.heard(&list, "a.txt".to_owned());
            assert_eq!(said.ends_with(SAID), time == 3, "{time}: {said}");
            assert_eq!(same.stuck.is_some(), time == 5, "{time}");
        }
        let mut same = Same::up_to(5);
        for time in 0..50 {
            same.heard(&list, format!("{time}.txt"));
        }
        assert!(same.stuck().is_none());
    }

    #[test]
    fn a_run_of_the_same_tests_after_a_new_edit_is_counted_anew_and_after_a_look_it_is_not() {
        let run = call("run_command", r#"{"command":"cargo test"}"#);
        let (mut edits, mut looks) = (Same::up_to(5), Same::up_to(5));
        for time in 0..5 {
            let edit = call("edit_file", &format!(r#"{{"path":"a","old":"{time}"}}"#));
            edits.heard(&edit, "Edited.".to_owned());
            edits.heard(&run, format!("[exit 1, {time}.0 s]\nfailed"));
            let look = call("read_file", &format!(r#"{{"path":"{time}"}}"#));
            looks.heard(&look, "text".to_owned());
            looks.heard(&run, format!("[exit 1, {time}.0 s]\nfailed"));
        }
        assert!(edits.stuck().is_none());
        assert!(looks.stuck().is_some());
    }
}
