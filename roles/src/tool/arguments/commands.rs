//! What the tools for commands take.

use serde::Deserialize;

use super::super::form::Kind::{Number, Text};
use super::super::form::{Form, also, optional, required};

pub(super) static RUN_COMMAND: Form = Form {
    name: "run_command",
    said: "Runs a bash command and gives its exit code and output. No terminal, no input; folder and \
           variables do not carry over to the next command.",
    members: &[
        required("command", Text, "").or(&["cmd"]),
        optional("folder", Text, "Where it runs; default the project.")
            .or(&["workdir", "cwd", "dir_path"]),
        optional("timeout_ms", Number, "Default 120000, at most 1800000.").or(&["timeout"]),
    ],
    also: &[
        also("Bash"),
        also("bash"),
        also("shell"),
        also("exec_command"),
        also("run_shell_command"),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct RunCommand {
    pub command: String,
    pub folder: Option<String>,
    pub timeout_ms: Option<u64>,
}
