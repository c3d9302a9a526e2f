//! What differs from flow to flow and from machine to machine: the last part of a model's instructions.
//! Each process makes it anew. It is the only place of a request that names a folder of the machine,
//! and everything before it is the same in all flows of a role.

use std::fmt::Write as _;
use std::path::Path;

use a_society_facts::id::RoleInstance;

use super::definition::Skill;
use super::quote::name;
use crate::tool::Scope;

/// Everything that the section says.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentSection<'a> {
    /// The role instance.
    pub role: &'a RoleInstance,
    /// What the flow is called; nothing for a chat.
    pub flow_title: Option<&'a str>,
    /// The folder of the project.
    pub project: &'a Path,
    /// The system, as [`std::env::consts::OS`] names it.
    pub os: &'a str,
    /// The day on which the turn began.
    pub date: &'a str,
    /// What commands may do; nothing if there are none.
    pub commands: Option<Commands>,
    /// The bound of a tool's output, as the model reads it.
    pub output_bound: &'a str,
    /// Skills outside the project.
    pub skills: &'a [Skill],
}

/// What commands may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commands {
    /// How far they reach.
    pub scope: Scope,
    /// Whether they have the network.
    pub network: bool,
}

/// The section, with which every system prompt ends.
#[must_use]
pub fn environment(given: &EnvironmentSection<'_>) -> String {
    let role = given.role;
    let place = match given.flow_title {
        Some(title) => format!("the flow \"{}\"", flat(title)),
        None => "a chat".to_owned(),
    };
    let mut text = format!("# Environment\nYou are {} in {place}.", name(role.as_str()));
    if role.base() != role.as_str() {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            " You are one of several instances of {}; what the others did reaches you only through \
             handoffs.",
            role.base()
        );
    }
    let _ = write!(
        text,
        "\nProject folder: {}. {}, bash, {}.\n",
        flat(&given.project.display().to_string()),
        system(given.os),
        given.date
    );
    if let Some(commands) = given.commands {
        text.push_str(commands.said());
        text.push(' ');
    }
    let _ = writeln!(
        text,
        "Tool output beyond {} is cut and kept in a file that the result names. Some calls wait \
         for the operator's consent and may be denied.",
        given.output_bound
    );
    if !given.skills.is_empty() {
        text.push_str("\nSkills of the operator; read one before you do what it is for:\n");
        text.extend(
            given
                .skills
                .iter()
                .map(|skill| format!("{}\n", line(skill))),
        );
    }
    text
}

/// A skill in one line.
pub(crate) fn line(skill: &Skill) -> String {
    let what = flat(skill.description.trim());
    format!("- {} ({}): {what}", name(&skill.name), name(&skill.path))
}

impl Commands {
    const fn said(self) -> &'static str {
        match (self.scope, self.network) {
            (Scope::Full, _) => {
                "Commands have the network and no sandbox; `record/` is `$A_SOCIETY_RECORD` to them."
            }
            (Scope::Sandboxed | Scope::Project, true) => {
                "Commands have the network and write only in the project, `record/` (to them \
                 `$A_SOCIETY_RECORD`, or with folder `record`) and a temporary folder, never inside \
                 `.git`."
            }
            (Scope::Sandboxed | Scope::Project, false) => {
                "Commands have no network and write only in the project, `record/` (to them \
                 `$A_SOCIETY_RECORD`, or with folder `record`) and a temporary folder, never inside \
                 `.git`."
            }
        }
    }
}

fn system(os: &str) -> &str {
    match os {
        "linux" => "Linux",
        "macos" => "macOS",
        other => other,
    }
}

/// A text on one line.
fn flat(text: &str) -> String {
    let words: Vec<&str> = text.split(char::is_control).collect();
    words.join(" ").replace('"', "'")
}
