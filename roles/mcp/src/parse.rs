//! Reading the servers of a configuration: every fault with its place, not the first one only.
//!
//! ```yaml
//! mcp-servers:
//!   files:                                  # its tools are called mcp__files__…
//!     command: npx
//!     args: [-y, "@modelcontextprotocol/server-filesystem@2026.8.31", /srv/texts]
//!     env: { MODE: fast, TOKEN: { secret: github } }
//!     inherit: [HTTPS_PROXY]                # beside HOME, PATH, LANG and the like
//!     folder: /srv                          # without it the root
//!     read-only: [read_text_file]           # these may run without being asked about
//!     idempotent: [write_file]              # after a crash these may run again with the same key
//!     time-limit-s: 60                      # for one call
//!   tickets:
//!     url: https://tickets.example.com/mcp
//!     headers: { Authorization: { secret: tickets, prefix: "Bearer " } }
//!     private-network: true                 # its name may resolve to a private address
//! ```
//!
//! The file is the operator's own and outside every workspace. Other keys of it are not read.

use std::collections::BTreeMap;
use std::time::Duration;

use a_society_yaml::{FaultSink, Fields, MapEntry, ParseBudget, TextFault, Value, YamlTree, read};

use super::limits::{CALL_LIMIT, CALL_LIMIT_MAX_S, ENTRIES_MAX, ENTRY_BYTES_MAX, SERVERS_MAX};
use super::spec::{ServerSpec, ServerTransport, Variable};
use super::{address, name, plain};

const PROGRAM_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "inherit",
    "folder",
    "read-only",
    "idempotent",
    "irreversible",
    "time-limit-s",
    "description",
];
const WEB_KEYS: &[&str] = &[
    "url",
    "headers",
    "private-network",
    "read-only",
    "idempotent",
    "irreversible",
    "time-limit-s",
    "description",
];
const SECRET_KEYS: &[&str] = &["secret", "prefix"];

/// The servers that a configuration names under `mcp-servers`; none if it has no such key.
///
/// # Errors
///
/// Everything that is wrong with them.
pub fn parse(text: &str) -> Result<Vec<ServerSpec>, Vec<TextFault>> {
    read(text, ParseBudget::BLOCK, |sink, tree| {
        SpecSink(sink).servers(tree)
    })
}

/// Reads values, and keeps what is wrong with them.
#[derive(Debug)]
struct SpecSink<'s>(&'s mut FaultSink);

impl SpecSink<'_> {
    fn servers(&mut self, tree: &YamlTree) -> Vec<ServerSpec> {
        // An empty file configures nothing.
        let Value::Map(entries) = &tree.value else {
            if tree.value != Value::Null {
                self.0.fault(tree, "a configuration must be a mapping");
            }
            return Vec::new();
        };
        let ours = entries.iter().find(|entry| entry.is("mcp-servers"));
        let Some(MapEntry { value: servers, .. }) = ours else {
            return Vec::new();
        };
        let Some(named) = self.0.entries(servers, "`mcp-servers`") else {
            return Vec::new();
        };
        if named.len() > SERVERS_MAX {
            self.0.fault(
                servers,
                format!("there may be at most {SERVERS_MAX} servers"),
            );
        }
        let named = named.iter().take(SERVERS_MAX);
        named
            .filter_map(|entry| self.server(&entry.key, &entry.value))
            .collect()
    }

    fn server(&mut self, key: &YamlTree, tree: &YamlTree) -> Option<ServerSpec> {
        let called = self.text(key, "the name of a server")?;
        if let Err(why) = name::check_server(&called) {
            self.0.fault(key, why);
        }
        let what = format!("the server `{}`", plain::line(&called));
        let entries = self.0.entries(tree, &what)?;
        let has = |key: &str| entries.iter().any(|entry| entry.is(key));
        let keys = match (has("command"), has("url")) {
            (true, false) => PROGRAM_KEYS,
            (false, true) => WEB_KEYS,
            (true, true) => {
                self.0.fault(
                    tree,
                    format!("{what} has both `command` and `url`; it is one or the other"),
                );
                return None;
            }
            (false, false) => {
                self.0
                    .fault(tree, format!("{what} needs `command` or `url`"));
                return None;
            }
        };
        let fields = self.0.fields(tree, &what, keys)?;
        let reach = if has("command") {
            self.program(&fields)
        } else {
            self.web(&fields)
        };
        let reads = self.texts(&fields, "read-only");
        let repeats = self.texts(&fields, "idempotent");
        let irreversible = self.texts(&fields, "irreversible");
        let call_limit = fields.get("time-limit-s").map_or(CALL_LIMIT, |tree| {
            let seconds = self.0.number(tree, "`time-limit-s`", 1, CALL_LIMIT_MAX_S);
            Duration::from_secs(seconds.unwrap_or(0))
        });
        Some(ServerSpec {
            name: called,
            reach: reach?,
            reads,
            repeats,
            irreversible,
            call_limit,
            about: fields
                .get("description")
                .and_then(|tree| self.words(tree, "`description`")),
        })
    }

    fn program(&mut self, fields: &Fields<'_>) -> Option<ServerTransport> {
        let command = self.words(fields.get("command")?, "`command`");
        if let Some(command) = &command
            && command.contains('/')
            && !command.starts_with('/')
        {
            let message = "`command` is a relative path; a server runs in no workspace, so name \
                           it by its whole path, or by a name that is looked up in PATH";
            self.0.fault(fields.get("command")?, message);
        }
        let folder = fields.get("folder").and_then(|tree| {
            let folder = self.words(tree, "`folder`")?;
            if !folder.starts_with('/') {
                self.0.fault(tree, "`folder` must be a whole path");
            }
            Some(folder)
        });
        let inherits = self.texts(fields, "inherit");
        for name in &inherits {
            if !is_variable(name)
                && let Some(tree) = fields.get("inherit")
            {
                self.0.fault(tree, not_a_variable(name));
            }
        }
        let variables = self.values(fields, "env", |name| {
            if is_variable(name) {
                Ok(())
            } else {
                Err(not_a_variable(name))
            }
        });
        Some(ServerTransport::Program {
            arguments: self.texts(fields, "args"),
            command: command?,
            variables,
            inherits,
            folder,
        })
    }

    fn web(&mut self, fields: &Fields<'_>) -> Option<ServerTransport> {
        let is_private = fields.get("private-network");
        let is_private = is_private.and_then(|tree| self.0.boolean(tree, "`private-network`"));
        let is_private = is_private.unwrap_or(false);
        let tree = fields.get("url")?;
        let url = self.words(tree, "`url`");
        if let Some(url) = &url
            && let Err(why) = address::check(url, is_private)
        {
            self.0.fault(tree, why);
        }
        let headers = self.values(fields, "headers", address::check_header);
        Some(ServerTransport::Web {
            url: url?,
            headers,
            is_private,
        })
    }

    /// A text that is no longer than an argument may be.
    fn text(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        let text = self.0.text(tree, what)?;
        if text.len() > ENTRY_BYTES_MAX {
            let message = format!("{what} has more than {ENTRY_BYTES_MAX} bytes");
            self.0.fault(tree, message);
            return None;
        }
        if text.contains('\0') {
            self.0.fault(tree, format!("{what} has a NUL in it"));
            return None;
        }
        Some(text)
    }

    fn words(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.trim().is_empty() {
            self.0.fault(tree, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    fn texts(&mut self, fields: &Fields<'_>, key: &str) -> Vec<String> {
        let Some(tree) = fields.get(key) else {
            return Vec::new();
        };
        let Value::List(items) = &tree.value else {
            let kind = tree.value.kind();
            self.0.fault(
                tree,
                format!("`{key}` is {kind} and must be a list of texts"),
            );
            return Vec::new();
        };
        if items.len() > ENTRIES_MAX {
            self.0.fault(
                tree,
                format!("`{key}` may have at most {ENTRIES_MAX} entries"),
            );
        }
        let what = format!("an entry of `{key}`");
        let items = items.iter().take(ENTRIES_MAX);
        items.filter_map(|item| self.text(item, &what)).collect()
    }

    fn values(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> BTreeMap<String, Variable> {
        let entries = fields.get(key).and_then(|tree| {
            let entries = self.0.entries(tree, &format!("`{key}`"))?;
            if entries.len() > ENTRIES_MAX {
                self.0.fault(
                    tree,
                    format!("`{key}` may have at most {ENTRIES_MAX} entries"),
                );
            }
            Some(entries)
        });
        let mut values = BTreeMap::new();
        for MapEntry { key: name, value } in entries.unwrap_or_default().iter().take(ENTRIES_MAX) {
            let Some(text) = self.text(name, &format!("a name in `{key}`")) else {
                continue;
            };
            if let Err(why) = check(&text) {
                self.0.fault(name, why);
            }
            if let Some(value) = self.variable(value, &format!("`{}`", plain::line(&text))) {
                values.insert(text, value);
            }
        }
        values
    }

    fn variable(&mut self, tree: &YamlTree, what: &str) -> Option<Variable> {
        if !matches!(tree.value, Value::Map(_)) {
            return self.text(tree, what).map(Variable::Plain);
        }
        let fields = self.0.fields(tree, what, SECRET_KEYS)?;
        let secret = self.0.required(tree, &fields, what, "secret")?;
        let prefix = fields.get("prefix").map(|tree| self.text(tree, "`prefix`"));
        Some(Variable::Secret {
            name: self.words(secret, "`secret`")?,
            prefix: prefix.unwrap_or(Some(String::new()))?,
        })
    }
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn not_a_variable(name: &str) -> String {
    format!(
        "`{}` is not the name of a variable",
        plain::head(&plain::line(name), 60)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference above is a configuration.
    #[test]
    fn the_reference_is_read_as_it_says() {
        let lines = include_str!("parse.rs").lines();
        let reference: Vec<&str> = lines
            .skip_while(|line| !line.contains("```yaml"))
            .skip(1)
            .take_while(|line| !line.contains("```"))
            .map(|line| {
                line.trim_start_matches("//!")
                    .strip_prefix(' ')
                    .unwrap_or("")
            })
            .collect();
        let specs = parse(&reference.join("\n")).unwrap();
        let [files, tickets] = specs.as_slice() else {
            panic!("{specs:?}")
        };
        assert_eq!(files.name, "files");
        assert_eq!(files.reads, ["read_text_file"]);
        assert_eq!(files.call_limit, Duration::from_secs(60));
        let ServerTransport::Program {
            command,
            arguments,
            variables,
            inherits,
            folder,
        } = &files.reach
        else {
            panic!("{files:?}")
        };
        assert_eq!((command.as_str(), arguments.len()), ("npx", 3));
        assert_eq!(variables["MODE"], Variable::Plain("fast".to_owned()));
        assert_eq!(inherits, &["HTTPS_PROXY"]);
        assert_eq!(folder.as_deref(), Some("/srv"));
        assert_eq!(tickets.call_limit, CALL_LIMIT);
        let ServerTransport::Web {
            url,
            headers,
            is_private: true,
        } = &tickets.reach
        else {
            panic!("{tickets:?}")
        };
        assert_eq!(url, "https://tickets.example.com/mcp");
        let bearer = Variable::Secret {
            name: "tickets".to_owned(),
            prefix: "Bearer ".to_owned(),
        };
        assert_eq!(headers["Authorization"], bearer);
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_its_place() {
        let text = "\
model: x
mcp-servers:
  a__b: {command: run}
  both: {command: run, url: 'https://example.com'}
  none: {}
  typo: {command: run, arg: [x]}
  rel: {command: ./run, folder: here, env: {1X: y, OK: 7}, inherit: ['A B']}
  web: {url: 'http://example.com/', headers: {Host: x, \"A\\nB\": y, T: {secret: ''}}}
  slow: {command: run, time-limit-s: 0, args: x}
  list: []
";
        let faults = parse(text).unwrap_err();
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let expected = [
            (3, "may not hold `__`"),
            (4, "both `command` and `url`"),
            (5, "needs `command` or `url`"),
            (6, "has no key `arg`; did you mean `args`?"),
            (7, "relative path"),
            (7, "whole path"),
            (7, "`1X` is not the name of a variable"),
            (7, "`OK` is a number and must be text"),
            (7, "`A B` is not the name of a variable"),
            (8, "clear text"),
            (8, "`Host`"),
            (8, "not the name of a header"),
            (8, "`secret` is empty"),
            (9, "whole number from 1"),
            (9, "must be a list"),
            (10, "must be a mapping"),
        ];
        assert_eq!(said.len(), expected.len(), "{said:#?}");
        for ((line, words), said) in expected.iter().zip(&said) {
            assert!(
                said.starts_with(&format!("line {line},")) && said.contains(words),
                "{said}"
            );
        }
    }

    #[test]
    fn a_configuration_without_servers_has_none() {
        for text in ["", "model: x\n", "mcp-servers: {}\n"] {
            assert_eq!(parse(text).unwrap(), [], "{text}");
        }
        assert!(parse("mcp-servers: [").is_err());
        assert!(parse("- x\n").is_err());
    }
}
