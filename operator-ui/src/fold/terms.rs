//! What a consent card shows beside the text of a call, from the terms that were recorded. Page and
//! terminal show the same. Nothing here reads a sentence: a name that a model chose is shown as a name.

use std::collections::BTreeMap;

use a_society_facts::fact::operator::{ConsentAnswer, DecidingRule};
use a_society_facts::fact::terms::{
    CommandTerms, ConsentTerms, FileEffect, FileTerms, Scope, ServerReach, ServerTerms, ShownValue,
    WaitingServer,
};
use a_society_facts::words::capital;
use a_society_facts::words::permissions::{ASKED_AGAIN, OTHER_SURROUNDINGS, scope as scope_words};
use a_society_orchestrator::canonical;

use super::words::span;
use crate::protocol::ask::Fact;

/// How the names of tools begin that a server of tools brings.
const OF_SERVERS: &str = "mcp__";

/// Files beyond these are only counted; the text of the request shows all of them.
const FILES_MAX: usize = 12;

const SERVER_DECIDES: &str = "The server's program decides";

/// The row with the folder of a command.
pub const DIRECTORY: &str = "Directory";

/// The folder of a command that runs in none below it.
pub const PROJECT_FOLDER: &str = "The project folder";

/// That nothing was allowed before that could cover a call.
pub const NO_PERMISSION: &str = "None";

/// Whether a fact is a sentence of this program, and not the name of something.
#[must_use]
pub fn is_sentence(fact: &Fact) -> bool {
    let rows = [
        "Network",
        "Writes",
        "Sandbox",
        "Time",
        "Existing permission",
    ];
    rows.contains(&fact.label.as_str()) || fact.value == PROJECT_FOLDER
}

/// What a role wants that calls a tool.
#[must_use]
pub fn wants(tool: &str, about: Option<&str>) -> String {
    match (canonical(tool).unwrap_or(tool), about) {
        ("run_command", about) => format!("wants to run {}", about.unwrap_or("a command")),
        ("write_file", about) => format!("wants to write {}", about.unwrap_or("a file")),
        ("edit_file", about) => format!("wants to edit {}", about.unwrap_or("a file")),
        ("apply_patch", about) => format!("wants to change {}", about.unwrap_or("files")),
        (other, _) => format!("wants to use {other}"),
    }
}

/// What matters for the decision, in a fixed order; earlier grants come last.
#[must_use]
pub(crate) fn facts(
    tool: &str,
    terms: Option<&ConsentTerms>,
    grants: usize,
    doubt: Option<&DecidingRule>,
) -> Vec<Fact> {
    let mut facts = match terms {
        Some(ConsentTerms::Command(command)) => of_command(command),
        Some(ConsentTerms::Files { files }) => of_files(files),
        Some(ConsentTerms::Reading { paths }) => vec![
            fact("Files", paths.join(", "), true),
            fact("Network", "Not used", false),
            fact("Writes", "Nothing of the workspace", false),
        ],
        Some(ConsentTerms::Web { host }) => vec![
            fact("Network", format!("Used, to ask {host}"), true),
            fact("Writes", "Nothing of the workspace", false),
        ],
        Some(ConsentTerms::Server(server)) => of_server(server),
        Some(ConsentTerms::Session) => vec![
            fact("Network", "Not used", false),
            fact("Writes", "Nothing of the workspace", false),
        ],
        None => of_tool(tool),
    };
    facts.extend(doubt.map(|rule| {
        let rule = rule.words(ConsentAnswer::Deny);
        fact(
            "Rule",
            format!("{rule} may mean this: what a shell makes of it cannot be known"),
            true,
        )
    }));
    let permission = match grants {
        0 => NO_PERMISSION.to_owned(),
        _ => "Not covered by an existing permission".to_owned(),
    };
    facts.push(fact("Existing permission", permission, false));
    facts
}

/// Why what was allowed is asked about again.
pub(super) fn anew() -> Fact {
    fact(&capital(ASKED_AGAIN), capital(OTHER_SURROUNDINGS), true)
}

fn fact(label: &str, value: impl Into<String>, warn: bool) -> Fact {
    Fact {
        label: label.to_owned(),
        value: value.into(),
        warn,
    }
}

fn of_command(command: &CommandTerms) -> Vec<Fact> {
    let folder = match command.folder.as_str() {
        "." => PROJECT_FOLDER,
        folder => folder,
    };
    let network = if command.network {
        fact("Network", "On for this command", true)
    } else {
        fact("Network", "Off", false)
    };
    let beside = if command.background {
        ", in the background"
    } else {
        ""
    };
    vec![
        fact(DIRECTORY, folder, false),
        sandbox(command),
        network,
        writes(command),
        fact(
            "Time",
            format!("At most {}{beside}", span(command.limit_ms)),
            false,
        ),
    ]
}

/// How far a command reaches: the scope of its role, and what of the walls around it is not there.
fn sandbox(command: &CommandTerms) -> Fact {
    let missing = command.missing.join(", ");
    let (value, warn) = match (command.scope, command.missing.as_slice()) {
        (Scope::Full, _) => (
            "Unsandboxed: the scope of this role is full, nothing holds the command back"
                .to_owned(),
            true,
        ),
        (Scope::Sandboxed, []) => (capital(scope_words(command.scope)), false),
        (Scope::Project, []) => (capital(scope_words(command.scope)), false),
        (Scope::Sandboxed | Scope::Project, _) if command.is_bare() => {
            (format!("Unsandboxed: without {missing}"), true)
        }
        (Scope::Sandboxed | Scope::Project, _) => {
            (format!("Sandboxed only in part: without {missing}"), true)
        }
    };
    fact("Sandbox", value, warn)
}

fn writes(command: &CommandTerms) -> Fact {
    if command.missing.is_empty() {
        return fact("Writes", "Inside the project and its record only", false);
    }
    let missing = command.missing.join(", ");
    fact("Writes", format!("Not held back: without {missing}"), true)
}

fn of_files(files: &[FileTerms]) -> Vec<Fact> {
    let named = files.iter().take(FILES_MAX).map(|file| {
        let change = match file.change {
            FileEffect::Create => "new",
            FileEffect::Change => "changed",
            FileEffect::Delete => "deleted",
            FileEffect::Nothing => "not changed",
        };
        format!("{} ({change})", file.path)
    });
    let mut named: Vec<String> = named.collect();
    let more = files.len().saturating_sub(FILES_MAX);
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    let deletes = (files.iter()).any(|file| file.change == FileEffect::Delete);
    let label = if files.len() == 1 { "File" } else { "Files" };
    let writes = match files.len() {
        1 => "This file and nothing else",
        _ => "These files and nothing else",
    };
    vec![
        fact(label, named.join(", "), deletes),
        fact("Network", "Not used", false),
        fact("Writes", writes, false),
    ]
}

fn of_server(server: &ServerTerms) -> Vec<Fact> {
    let mut facts = match &server.reached {
        Some(reached) => of_reach(&server.server, reached),
        None => vec![fact("Server", server.server.clone(), true)],
    };
    let definition = server.definition.to_string();
    let begins: String = definition.chars().take(12).collect();
    facts.extend([
        fact(
            "Tool",
            format!("{}, as defined by {begins}", server.tool),
            false,
        ),
        fact("Network", SERVER_DECIDES, true),
        fact("Writes", SERVER_DECIDES, true),
    ]);
    facts
}

/// What servers would run or reach that wait to be approved.
pub(super) fn of_waiting(servers: &[WaitingServer]) -> Vec<Fact> {
    let facts = servers.iter();
    facts
        .flat_map(|waiting| of_reach(&waiting.server, &waiting.reached))
        .collect()
}

fn of_reach(server: &str, reached: &ServerReach) -> Vec<Fact> {
    let mut facts = Vec::new();
    match reached {
        ServerReach::Program {
            run,
            folder,
            variables,
            inherits,
        } => {
            let words: Vec<String> = run.iter().map(|word| quoted(word)).collect();
            let what = format!("{server} runs {} in {folder}", words.join(" "));
            facts.push(fact("Server", what, false));
            let mut given = values(variables);
            given.extend(
                inherits
                    .iter()
                    .map(|name| format!("{name} of this machine")),
            );
            facts.push(fact("Environment", listed(&given), false));
        }
        ServerReach::Web {
            url,
            private,
            headers,
        } => {
            let network = if *private {
                ", perhaps in a private network"
            } else {
                ""
            };
            let what = format!("{server} at {url}{network}");
            facts.push(fact("Server", what, *private));
            if !headers.is_empty() {
                facts.push(fact("Headers", listed(&values(headers)), false));
            }
        }
    }
    facts
}

fn values(values: &BTreeMap<String, ShownValue>) -> Vec<String> {
    let named = values.iter().map(|(name, value)| match value {
        ShownValue::Plain(value) => format!("{name} = {}", quoted(value)),
        ShownValue::Secret(secret) => format!("{name} = the secret {secret}"),
        ShownValue::Withheld => format!("{name} = (not shown)"),
    });
    named.collect()
}

fn listed(all: &[String]) -> String {
    match all {
        [] => "Nothing of yours".to_owned(),
        all => all.join(", "),
    }
}

/// A word as a shell would need it, so that its beginning and its end can be seen.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("{word:?}")
}

/// What is known of a tool without terms: of a server of today's journals, or of an older journal.
fn of_tool(tool: &str) -> Vec<Fact> {
    let (network, writes) = match tool {
        "fetch_url" => (("Used, to read this address", true), NOTHING),
        "web_search" => (("Used, to search the web", true), NOTHING),
        "read_file" | "list_directory" | "grep" | "glob" => (("Not used", false), NOTHING),
        "write_file" | "edit_file" | "apply_patch" => {
            let files = ("The files of the project that are shown", false);
            (("Not used", false), files)
        }
        other if other.starts_with(OF_SERVERS) => ((SERVER_DECIDES, true), (SERVER_DECIDES, true)),
        _ => (("Not known", true), ("Not known", true)),
    };
    vec![
        fact("Network", network.0, network.1),
        fact("Writes", writes.0, writes.1),
    ]
}

const NOTHING: (&str, bool) = ("Nothing of the workspace", false);

/// What else is allowed with a call for the rest of the flow, in the words of what is granted. The
/// page and the terminal say the same before it is granted.
#[must_use]
pub fn scope(tool: &str, text: &str) -> Option<String> {
    match canonical(tool).unwrap_or(tool) {
        "run_command" => Some(format!(
            "This exact command, in this folder and sandbox, for any role in this flow: {text}"
        )),
        "write_file" | "edit_file" | "apply_patch" => Some(
            "Every write or edit of a file in the project, by any role in this flow. Sensitive files, and \
             files that programs trust or run later, still ask each time."
                .to_owned(),
        ),
        "fetch_url" | "web_search" => {
            Some("Exactly this, for any role in this flow".to_owned())
        }
        other if other.starts_with(OF_SERVERS) => Some(format!(
            "Every call of {other}, as its server defines it now, by any role in this flow"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::Hash;

    use super::*;

    fn command() -> CommandTerms {
        CommandTerms {
            folder: ".".to_owned(),
            scope: Scope::Sandboxed,
            network: false,
            missing: Vec::new(),
            bare: None,
            limit_ms: 120_000,
            background: false,
        }
    }

    fn said(terms: &ConsentTerms, label: &str) -> (String, bool) {
        let facts = facts("any", Some(terms), 0, None);
        let mut found = facts.into_iter().filter(|fact| fact.label == label);
        let fact = found.next().unwrap_or_else(|| panic!("no {label}"));
        assert_eq!(found.next(), None, "{label} is said once");
        (fact.value, fact.warn)
    }

    #[test]
    fn a_hostile_name_never_changes_what_a_card_says() {
        let hostile = [
            "notes in /etc, x.md",
            "My Project, v2",
            "without every wall: this system has none",
            "x, scope full, network on",
            "run_command in /etc, 1 bytes, at most 1 ms, scope full, network on",
        ];
        for name in hostile {
            let file = FileTerms {
                path: name.to_owned(),
                change: FileEffect::Create,
            };
            let files = ConsentTerms::Files { files: vec![file] };
            assert_eq!(said(&files, "File"), (format!("{name} (new)"), false));
            assert_eq!(said(&files, "Network"), ("Not used".to_owned(), false));
            let labels = facts("write_file", Some(&files), 0, None);
            let labels: Vec<String> = labels.into_iter().map(|fact| fact.label).collect();
            assert_eq!(labels, ["File", "Network", "Writes", "Existing permission"]);
            let run = ConsentTerms::Command(CommandTerms {
                folder: name.to_owned(),
                ..command()
            });
            assert_eq!(said(&run, "Directory"), (name.to_owned(), false));
            assert_eq!(said(&run, "Network"), ("Off".to_owned(), false));
            let (sandbox, warn) = said(&run, "Sandbox");
            assert_eq!(
                (sandbox.as_str(), warn),
                ("Project and record folder only", false)
            );
        }
    }

    #[test]
    fn how_far_a_command_reaches_is_said_in_words_and_a_missing_wall_plainly() {
        for (scope, missing, expected, warn) in [
            (
                Scope::Sandboxed,
                vec![],
                "Project and record folder only",
                false,
            ),
            (
                Scope::Project,
                vec![],
                "Project and record folder, and the folders you named",
                false,
            ),
            (
                Scope::Full,
                vec!["every wall: this scope has none"],
                "Unsandboxed: the scope of this role is full",
                true,
            ),
            (Scope::Full, vec![], "Unsandboxed", true),
            (
                Scope::Sandboxed,
                vec!["every wall: this system has none"],
                "Unsandboxed: without every wall: this system has none",
                true,
            ),
            (
                Scope::Project,
                vec!["spaces of its own", "Landlock: this kernel has none"],
                "Sandboxed only in part: without spaces of its own, Landlock",
                true,
            ),
        ] {
            let run = ConsentTerms::Command(CommandTerms {
                scope,
                missing: missing.iter().copied().map(str::to_owned).collect(),
                ..command()
            });
            let (value, is_warned) = said(&run, "Sandbox");
            assert!(value.starts_with(expected), "{scope:?}: {value}");
            assert_eq!(is_warned, warn, "{value}");
            assert_eq!(said(&run, "Writes").1, !missing.is_empty(), "{missing:?}");
        }
    }

    #[test]
    fn a_server_is_shown_with_its_command_its_folder_and_its_environment_without_secrets() {
        let program = ServerReach::Program {
            run: ["npx", "a server", "--stdio"].map(str::to_owned).to_vec(),
            folder: "/".to_owned(),
            variables: BTreeMap::from([
                ("LANG".to_owned(), ShownValue::Plain("C".to_owned())),
                ("TOKEN".to_owned(), ShownValue::Secret("ledger".to_owned())),
            ]),
            inherits: vec!["HOME".to_owned()],
        };
        let server = ConsentTerms::Server(ServerTerms {
            server: "ledger".to_owned(),
            tool: "book".to_owned(),
            definition: Hash::of(b"d"),
            reached: Some(program),
        });
        let what = "ledger runs npx \"a server\" --stdio in /";
        assert_eq!(said(&server, "Server").0, what);
        let given = "LANG = C, TOKEN = the secret ledger, HOME of this machine";
        assert_eq!(said(&server, "Environment").0, given);
        assert_eq!(said(&server, "Network"), (SERVER_DECIDES.to_owned(), true));
    }

    #[test]
    fn what_reaches_the_network_is_said_for_each_tool_without_terms_and_never_guessed() {
        for (tool, value, warn) in [
            ("fetch_url", "Used, to read this address", true),
            ("web_search", "Used, to search the web", true),
            ("read_file", "Not used", false),
            ("edit_file", "Not used", false),
            ("run_command", "Not known", true),
            ("mcp__ledger__book", SERVER_DECIDES, true),
            ("another", "Not known", true),
        ] {
            let said = facts(tool, None, 0, None).remove(0);
            assert_eq!((said.value.as_str(), said.warn), (value, warn), "{tool}");
        }
    }

    #[test]
    fn no_line_of_a_command_is_left_out_of_the_words_of_what_is_granted() {
        let said = scope("run_command", "ls \\\\\nwithout sleep; rm x");
        assert!(said.unwrap().ends_with(": ls \\\\\nwithout sleep; rm x"));
    }

    #[test]
    fn only_what_can_be_granted_is_offered_for_the_whole_flow() {
        for (tool, offered) in [
            ("run_command", true),
            ("edit_file", true),
            ("mcp__ledger__book", true),
            ("fetch_url", true),
            ("web_search", true),
            ("read_file", false),
        ] {
            assert_eq!(scope(tool, "x").is_some(), offered, "{tool}");
        }
    }
}
