//! A server as the operator configured it, and the hash by which it is trusted.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use a_society_base::redact::Redactor;
use a_society_facts::Hash;
use a_society_facts::fact::terms::{ServerReach, ShownValue};

use super::plain;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name, which becomes a part of the names of its tools.
    pub name: String,
    /// How it is reached.
    pub reach: ServerTransport,
    /// Its tools that the operator says only read. What a server says of itself does not count.
    pub reads: Vec<String>,
    /// Its tools of which the operator says that the same call twice is one. It counts only for
    /// those of which the server says so too.
    pub repeats: Vec<String>,
    /// Its tools whose effect the operator declares irreversible: when the outcome of a call is unknown,
    /// the flow waits for the operator.
    pub irreversible: Vec<String>,
    /// How long one call may take.
    pub call_limit: Duration,
    /// The operator's description of it, for choosing among servers. No part of it is trusted.
    pub about: Option<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A program of this machine that speaks on its pipes.
    Program {
        /// The program.
        command: String,
        /// Its arguments. No shell reads them.
        arguments: Vec<String>,
        /// Its variables.
        variables: BTreeMap<String, Variable>,
        /// The names of variables that it inherits beside the few that every program needs.
        inherits: Vec<String>,
        /// The folder in which it runs; without it the root, where no file of a workspace can
        /// be taken for configuration.
        folder: Option<String>,
    },
    /// A server on the network.
    Web {
        /// Its address.
        url: String,
        /// What is sent with every request.
        headers: BTreeMap<String, Variable>,
        /// Whether its name may resolve to a private address.
        is_private: bool,
    },
}

/// A value that is written down, or the name of a secret that is kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variable {
    /// The value itself.
    Plain(String),
    /// A secret by its name, with a prefix, such as `Bearer `.
    Secret {
        /// Its name.
        name: String,
        /// The prefix, such as `Bearer `.
        prefix: String,
    },
}

/// The environment and the secrets that servers may get, read by the code that may read them.
#[derive(Clone, Default)]
pub struct Given {
    /// The variables that servers may inherit by name.
    pub environment: BTreeMap<String, String>,
    /// The secrets by their names.
    pub secrets: BTreeMap<String, String>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither may reach a log.
        f.debug_struct("Given")
            .field("environment", &self.environment.keys())
            .field("secrets", &self.secrets.keys())
            .finish()
    }
}

impl Given {
    /// What takes the secrets out of a server's texts, which may repeat them.
    pub(super) fn redactor(&self) -> Redactor {
        let secrets: Vec<String> = self.secrets.values().cloned().collect();
        Redactor::new(&secrets)
    }
}

/// Parts of the names of variables and headers that hold secrets.
const TELLING: &[&str] = &[
    "auth", "cookie", "cred", "dsn", "key", "pass", "private", "pwd", "secret", "session", "token",
];

/// What is shown in place of the value of a variable whose name suggests a secret.
const WITHHELD: &str = "(not shown: its name suggests a secret)";

/// The folder of a program without one of its own.
const ROOT: &str = "/";

/// Variables that nearly every program needs to find its files and to write texts.
const EVERYBODYS: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER",
];

/// Where programs are looked for when nothing is given.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl ServerSpec {
    /// What the server is trusted by. Another command, argument, variable, folder, address or
    /// header is another server; a secret counts by its name, so that it can be renewed.
    #[must_use]
    pub fn definition_hash(&self) -> Hash {
        let mut text = LengthPrefixed::new("mcp server");
        text.say(&self.name);
        match &self.reach {
            ServerTransport::Program {
                command,
                arguments,
                variables,
                inherits,
                folder,
            } => {
                text.say("program").say(command);
                text.all(arguments).variables(variables);
                text.all(inherits).say(folder.as_deref().unwrap_or(ROOT));
            }
            ServerTransport::Web {
                url,
                headers,
                is_private,
            } => {
                text.say("web").say(url).variables(headers);
                text.say(if *is_private { "private" } else { "public" });
            }
        }
        text.hash()
    }

    /// What would run or be reached, on one line and without its variables, which may hold a secret
    /// that looks like none.
    #[must_use]
    pub fn brief(&self) -> String {
        let shown = self.shown();
        shown.lines().next().unwrap_or_default().to_owned()
    }

    /// What would be trusted, for the operator to read. Whatever looks like a secret is blanked out, and the value of
    /// a variable whose name suggests one is not shown.
    #[must_use]
    pub fn shown(&self) -> String {
        Redactor::new(&[]).redact(&self.written())
    }

    /// How it is reached, for the journal and for the operator who decides about a call of its tools.
    /// `clean` blanks out the secrets that this process knows. The value of a variable whose name suggests
    /// a secret is left out: it may look like none.
    #[must_use]
    pub fn reached(&self, clean: impl Fn(&str) -> String) -> ServerReach {
        let value = |(name, value): (&String, &Variable)| {
            let value = match value {
                Variable::Secret { name, .. } => ShownValue::Secret(name.clone()),
                Variable::Plain(_) if suggests_a_secret(name) => ShownValue::Withheld,
                Variable::Plain(value) => ShownValue::Plain(clean(value)),
            };
            (clean(name), value)
        };
        match &self.reach {
            ServerTransport::Program {
                command,
                arguments,
                variables,
                inherits,
                folder,
            } => ServerReach::Program {
                run: (std::iter::once(command).chain(arguments))
                    .map(|word| clean(word))
                    .collect(),
                folder: clean(folder.as_deref().unwrap_or(ROOT)),
                variables: variables.iter().map(value).collect(),
                inherits: inherits.clone(),
            },
            ServerTransport::Web {
                url,
                headers,
                is_private,
            } => ServerReach::Web {
                url: clean(url),
                private: *is_private,
                headers: headers.iter().map(value).collect(),
            },
        }
    }

    fn written(&self) -> String {
        let (what, values) = match &self.reach {
            ServerTransport::Program {
                command,
                arguments,
                variables,
                inherits,
                folder,
            } => {
                let words = std::iter::once(command).chain(arguments);
                let words: Vec<String> = words.map(|word| quoted(word)).collect();
                let folder = folder.as_deref().unwrap_or(ROOT);
                let mut what = format!("runs {} in {}", words.join(" "), quoted(folder));
                for name in inherits {
                    what = format!("{what}\n  inherits {}", quoted(name));
                }
                (what, variables)
            }
            ServerTransport::Web {
                url,
                headers,
                is_private,
            } => {
                let network = if *is_private {
                    ", perhaps in a private network"
                } else {
                    ""
                };
                (format!("is at {}{network}", quoted(url)), headers)
            }
        };
        let mut shown = format!("{} {what}", self.name);
        for (name, value) in values {
            let value = match value {
                Variable::Plain(_) if suggests_a_secret(name) => WITHHELD.to_owned(),
                Variable::Plain(value) => quoted(value),
                Variable::Secret { name, .. } => format!("the secret {}", quoted(name)),
            };
            shown = format!("{shown}\n  {} = {value}", plain::line(name));
        }
        shown
    }
}

/// Whether people keep secrets in variables and headers of such names.
fn suggests_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TELLING.iter().any(|part| name.contains(part))
}

/// The variables of a program: the few that everybody needs, those it inherits by name, its own.
pub(super) fn environment(
    variables: &BTreeMap<String, Variable>,
    inherits: &[String],
    given: &Given,
) -> Result<BTreeMap<String, String>, String> {
    let names = EVERYBODYS.iter().copied();
    let names = names.chain(inherits.iter().map(String::as_str));
    let mut all: BTreeMap<String, String> = names
        .filter_map(|name| Some((name.to_owned(), given.environment.get(name)?.clone())))
        .collect();
    let path = all.get("PATH").map_or(USUAL_PATH, String::as_str);
    let path = absolute_only(path);
    all.insert("PATH".to_owned(), path);
    all.extend(resolved(variables, given)?);
    Ok(all)
}

/// The values with the secrets in their places.
pub(super) fn resolved(
    values: &BTreeMap<String, Variable>,
    given: &Given,
) -> Result<BTreeMap<String, String>, String> {
    let one = |(name, value): (&String, &Variable)| {
        let value = match value {
            Variable::Plain(value) => value.clone(),
            Variable::Secret { name, prefix } => {
                let secret = given.secrets.get(name);
                let secret = secret
                    .ok_or_else(|| format!("The secret `{}` is not there.", plain::line(name)))?;
                format!("{prefix}{secret}")
            }
        };
        Ok((name.clone(), value))
    };
    values.iter().map(one).collect()
}

/// A relative folder in `PATH` would be one of whatever folder a program runs in.
fn absolute_only(path: &str) -> String {
    let folders = path.split(':').filter(|folder| folder.starts_with('/'));
    let folders: Vec<&str> = folders.collect();
    if folders.is_empty() {
        return USUAL_PATH.to_owned();
    }
    folders.join(":")
}

fn quoted(text: &str) -> String {
    format!("`{}`", plain::line(text))
}

/// Texts in a row, each with its length before it, so that no two rows look the same.
#[derive(Debug)]
pub(super) struct LengthPrefixed(Vec<u8>);

impl LengthPrefixed {
    pub(super) fn new(what: &str) -> Self {
        let mut listed = Self(Vec::new());
        listed.say(what);
        listed
    }

    pub(super) fn say(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.len().to_string().as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn all(&mut self, texts: &[String]) -> &mut Self {
        self.say(&texts.len().to_string());
        for text in texts {
            self.say(text);
        }
        self
    }

    fn variables(&mut self, variables: &BTreeMap<String, Variable>) -> &mut Self {
        self.say(&variables.len().to_string());
        for (name, value) in variables {
            match value {
                Variable::Plain(value) => self.say(name).say("plain").say(value),
                Variable::Secret { name: of, prefix } => {
                    self.say(name).say("secret").say(of).say(prefix)
                }
            };
        }
        self
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> ServerSpec {
        let specs = super::super::parse(text).unwrap();
        specs.into_iter().next().unwrap()
    }

    const BASE: &str = "mcp-servers:\n  a:\n    command: run\n    args: [x, y]\n    env: {K: v}\n";

    #[test]
    fn everything_that_matters_changes_the_hash() {
        let base = spec(BASE).definition_hash();
        assert_eq!(spec(BASE).definition_hash(), base);
        let table = [
            BASE.replace("  a:", "  b:"),
            BASE.replace("run", "run2"),
            BASE.replace("[x, y]", "[x]"),
            BASE.replace("[x, y]", "[xy]"),
            BASE.replace("[x, y]", "[y, x]"),
            BASE.replace("K: v", "K: w"),
            BASE.replace("K: v", "L: v"),
            BASE.replace("K: v", "K: {secret: v}"),
            format!("{BASE}    inherit: [LD_PRELOAD]\n"),
            format!("{BASE}    folder: /srv\n"),
            "mcp-servers:\n  a: {url: 'https://example.com/mcp'}\n".to_owned(),
        ];
        let mut seen = vec![base];
        for text in table {
            let hash = spec(&text).definition_hash();
            assert!(!seen.contains(&hash), "{text}");
            seen.push(hash);
        }
        let read = spec(&format!("{BASE}    read-only: [x]\n    time-limit-s: 9\n"));
        assert_eq!(
            read.definition_hash(),
            base,
            "how it is used is not what it is"
        );
    }

    #[test]
    fn a_program_gets_what_was_named_and_nothing_else() {
        let given = Given {
            environment: [
                ("PATH", ".:/usr/bin:bin:/bin"),
                ("HOME", "/h/o"),
                ("PROXY", "p"),
                ("AWS_SECRET_ACCESS_KEY", "canary"),
                ("LD_PRELOAD", "evil.so"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            secrets: [("github".to_owned(), "s3cret".to_owned())].into(),
        };
        let variables = [
            (
                "TOKEN",
                Variable::Secret {
                    name: "github".to_owned(),
                    prefix: "t:".to_owned(),
                },
            ),
            ("HOME", Variable::Plain("/elsewhere".to_owned())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let all = environment(&variables, &["PROXY".to_owned()], &given).unwrap();
        let all: Vec<String> = all
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            all,
            [
                "HOME=/elsewhere",
                "PATH=/usr/bin:/bin",
                "PROXY=p",
                "TOKEN=t:s3cret"
            ]
        );
        assert!(!format!("{given:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_recorded_of_a_server_holds_no_value_that_may_be_a_secret() {
        let plain = |value: &str| Variable::Plain(value.to_owned());
        let of = |reach| ServerSpec {
            name: "s".to_owned(),
            reach,
            reads: Vec::new(),
            repeats: Vec::new(),
            irreversible: Vec::new(),
            call_limit: Duration::from_secs(1),
            about: None,
        };
        let values = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), plain(value)))
                .collect()
        };
        let program = of(ServerTransport::Program {
            command: "serve".to_owned(),
            arguments: vec!["--with".to_owned(), "known-s3cret-value".to_owned()],
            variables: values(&[
                ("API_KEY", "hunter2-one"),
                ("DbPassword", "hunter2-two"),
                ("LANG", "C"),
            ]),
            inherits: Vec::new(),
            folder: None,
        });
        let web = of(ServerTransport::Web {
            url: "https://example.org/".to_owned(),
            headers: values(&[("Authorization", "hunter2-three"), ("X-Team", "blue")]),
            is_private: true,
        });
        let redactor = Redactor::new(&["known-s3cret-value".to_owned()]);
        for (spec, kept) in [(program, "C"), (web, "blue")] {
            let shown = spec.shown();
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(shown.contains(&format!("`{kept}`")), "{shown}");
            let reached = spec.reached(|text| redactor.redact(text));
            let recorded = serde_json::to_string(&reached).unwrap();
            assert!(!recorded.contains("hunter2"), "{recorded}");
            assert!(!recorded.contains("known-s3cret"), "{recorded}");
            assert!(recorded.contains(&format!("\"{kept}\"")), "{recorded}");
        }
    }

    #[test]
    fn a_secret_that_is_not_there_is_named() {
        let secret = Variable::Secret {
            name: "github".to_owned(),
            prefix: String::new(),
        };
        let variables = [("TOKEN".to_owned(), secret)].into();
        let why = environment(&variables, &[], &Given::default()).unwrap_err();
        assert_eq!(why, "The secret `github` is not there.");
    }

    #[test]
    fn what_is_shown_hides_no_control_character() {
        let text = "mcp-servers:\n  a:\n    command: run\n    args: [\"\\e[2Jx\\u202e\"]\n";
        assert_eq!(
            spec(text).shown(),
            "a runs `run` `\\u{1b}[2Jx\\u{202e}` in `/`"
        );
    }
}
