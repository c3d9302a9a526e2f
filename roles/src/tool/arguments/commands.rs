//! What the tools for commands take.

use serde::Deserialize;

use super::super::form::MemberKind::{Any, Flag, Items, Number, Text, Word};
use super::super::form::{Alias, ToolForm, ToolMember, also, hidden, optional, required};

const COMMAND: ToolMember = required("command", Any, "").or(&["cmd"]);
const FOLDER: ToolMember = optional("folder", Text, "Where it runs; default the project.")
    .or(&["workdir", "cwd", "dir_path"]);
const TIMEOUT: ToolMember =
    optional("timeout_ms", Number, "Default 120000, at most 1800000.").or(&["timeout"]);

pub(super) static RUN_COMMAND: ToolForm = ToolForm {
    name: "run_command",
    said: "Runs a bash command and gives its exit code and output. No terminal, no input; folder and \
           variables do not carry over to the next command. Start servers and watchers with \
           background.",
    members: &[
        COMMAND,
        FOLDER,
        TIMEOUT,
        optional("background", Flag, "Return at once with an id.")
            .or(&["run_in_background", "is_background"]),
        hidden("timeout_secs", Number),
    ],
    also: &[
        also("Bash"),
        also("bash"),
        also("shell"),
        also("exec_command"),
        also("run_shell_command"),
    ],
};

/// The same tool for models that are not offered `command_output`.
pub(super) static RUN_COMMAND_AWAITED: ToolForm = ToolForm {
    name: "run_command",
    said: "Runs a bash command and gives its exit code and output. No terminal, no input; folder and \
           variables do not carry over to the next command.",
    members: &[COMMAND, FOLDER, TIMEOUT],
    also: &[],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct RunCommandArguments {
    #[serde(deserialize_with = "command")]
    pub command: String,
    pub folder: Option<String>,
    pub timeout_ms: Option<u64>,
    #[serde(default)]
    pub background: bool,
    pub timeout_secs: Option<u64>,
}

impl RunCommandArguments {
    /// How long it may take, if it says so.
    pub(in super::super) fn limit_ms(&self) -> Option<u64> {
        let of_seconds = self
            .timeout_secs
            .map(|seconds| seconds.saturating_mul(1_000));
        self.timeout_ms.or(of_seconds)
    }
}

/// A command as a line, or as a list of words.
#[derive(Deserialize)]
#[serde(untagged, expecting = "command is not a string")]
enum CommandArgument {
    Line(String),
    Words(Vec<String>),
}

fn command<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match CommandArgument::deserialize(from)? {
        CommandArgument::Line(line) => line,
        CommandArgument::Words(words) => line(&words),
    })
}

/// The line that a list of words means.
fn line(words: &[String]) -> String {
    match words {
        [shell, option, line] if is_shell(shell) && is_for_line(option) => line.clone(),
        [line] => line.clone(),
        words => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    }
}

fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("bash" | "sh"))
}

fn is_for_line(word: &str) -> bool {
    matches!(word, "-c" | "-lc" | "-cl")
}

/// A word as a shell takes it, whatever is in it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) static COMMAND_OUTPUT: ToolForm = ToolForm {
    name: "command_output",
    said: "Gives the new output of a background command. All of them end with your turn.",
    members: &[
        required("id", Text, "").or(&["bash_id", "shell_id", "task_id"]),
        optional("wait_ms", Number, "Wait for its end, at most 600000."),
        optional("stop", Flag, "End it."),
    ],
    also: &[
        also("BashOutput"),
        also("job_output"),
        ends("KillShell"),
        ends("job_kill"),
        ends("TaskStop"),
    ],
};

const fn ends(name: &'static str) -> Alias {
    let sets = &[("stop", "true")];
    Alias { name, sets }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct CommandOutput {
    pub id: String,
    pub wait_ms: Option<u64>,
    #[serde(default)]
    pub stop: bool,
}

pub(super) static TODO: ToolForm = ToolForm {
    name: "todo",
    said: "Replaces your task list, which the operator sees and summaries keep. Use it for work of \
           three or more steps.",
    members: &[required(
        "items",
        Items(&[
            required("text", Text, "").or(&["content", "step"]),
            required("status", Word(&["pending", "in_progress", "completed"]), ""),
        ]),
        "",
    )
    .or(&["todos", "plan"])],
    also: &[also("TodoWrite"), also("write_todos"), also("update_plan")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Todo {
    pub items: Vec<TaskArgument>,
}

/// A task of a role's list, as a call wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskArgument {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub status: Status,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is not begun.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Completed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_words_is_the_line_that_it_means() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (given, expected) in [
            (&["bash", "-lc", "ls | wc"][..], "ls | wc"),
            (&["/bin/sh", "-c", "a b"], "a b"),
            (&["ls -l"], "ls -l"),
            (&["grep", "a b", "it's"], r"grep 'a b' 'it'\''s'"),
            (&["echo", ""], "echo ''"),
        ] {
            assert_eq!(line(&words(given)), expected);
        }
    }
}
