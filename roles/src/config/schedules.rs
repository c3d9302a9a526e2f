//! What a server starts by itself: schedules, each a chat or a flow that begins at its due times, and webhooks, each a
//! chat or a flow that begins for a signed request.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::ProjectName;
use a_society_yaml::{MapEntry, ParseBudget, Value, YamlTree};

use super::model::KeySource;
use super::parse::{is_blank, top};
use super::timing::{Timing, zone_named};
use crate::reading::{DocumentSink, Fields, TextFault, read};

const WEBHOOKS: &str = "webhooks";
const WEBHOOK_KEYS: &[&str] = &[
    "workspace",
    "secret",
    "flow",
    "project",
    "chat",
    "input",
    "mode",
    "per-minute",
];
const SCHEDULES: &str = "schedules";
const SCHEDULE_KEYS: &[&str] = &[
    "workspace",
    "cron",
    "at",
    "time-zone",
    "flow",
    "project",
    "chat",
    "input",
    "mode",
    "missed",
    "at-once",
];

/// More schedules than are written by hand.
const SCHEDULES_MAX: usize = 100;

/// The longest name of a schedule. It is a part of the keys of its chats.
const NAME_BYTES_MAX: usize = 64;

/// The longest input. Longer texts belong in a file that the input names.
const INPUT_BYTES_MAX: usize = 64 * 1024;

/// How many runs of one schedule may be unfinished at once, at most.
const AT_ONCE_MAX: u64 = 10;

/// How many runs one webhook begins in a minute, unless it is set otherwise.
const PER_MINUTE: u64 = 10;

/// And at most.
const PER_MINUTE_MAX: u64 = 60;

/// The schedules of a configuration, by their names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchedulesConfig {
    /// Each with its name.
    pub schedules: BTreeMap<String, ScheduleConfig>,
    /// The webhooks, each with its name.
    pub webhooks: BTreeMap<String, WebhookConfig>,
}

/// What begins for signed requests.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookConfig {
    /// The workspace whose server takes them, as it is written.
    pub workspace: PathBuf,
    /// Where the secret is that signs them.
    pub secret: KeySource,
    /// What is started.
    pub from: StartFrom,
    /// What precedes the body of the request.
    pub input: Option<String>,
    /// How much it may do without asking; as for all flows if absent.
    pub mode: Option<ConsentMode>,
    /// How many runs it begins in a minute.
    pub per_minute: usize,
}

/// What begins at due times.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleConfig {
    /// The workspace whose server runs it, as it is written.
    pub workspace: PathBuf,
    /// When it is due.
    pub timing: Timing,
    /// What is started.
    pub from: StartFrom,
    /// What the flow is asked to do, or the message to the chat.
    pub input: Option<String>,
    /// How much it may do without asking; as for all flows if absent.
    pub mode: Option<ConsentMode>,
    /// Whether runs that were missed are made up for by one.
    pub makes_up: bool,
    /// How many of its runs may be unfinished at once.
    pub at_once: usize,
}

/// What is started without a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartFrom {
    /// A flow file of the workspace, by its path in it.
    File(PathBuf),
    /// The graph of a project.
    Project(ProjectName),
    /// A chat with a role, or with the built-in one.
    Chat {
        /// The role.
        role: Option<String>,
        /// The project; the workspace as a whole if absent.
        project: Option<ProjectName>,
    },
}

/// Reads what `serve` starts at due times.
///
/// ```yaml
/// schedules:
///   nightly:
///     workspace: ~/site            # whose server runs it
///     cron: '30 2 * * MON-FRI'          # or '@every 90m'; or at: 2026-12-01T09:00
///     time-zone: Europe/Berlin          # UTC, if absent
///     flow: flows/check.yaml            # or project: site; or chat: writer
///     input: Check all links.           # the message, for a chat
///     mode: full                        # as for all flows, if absent
///     missed: once                      # or skip
///     at-once: 1                        # unfinished runs
///
/// webhooks:
///   deployed:
///     workspace: ~/site
///     secret: { env: DEPLOYED_SECRET }  # or { file: … }; never the secret itself
///     chat: writer                      # or flow: …, or project: …
///     input: Check what was deployed.   # precedes the body of the request
///     per-minute: 10
/// ```
///
/// The faults come in the order of the file.
impl FromStr for SchedulesConfig {
    type Err = Vec<TextFault>;

    fn from_str(text: &str) -> Result<Self, Vec<TextFault>> {
        if is_blank(text) {
            return Ok(Self::default());
        }
        read(text, ParseBudget::BLOCK, |sink, tree| {
            let schedules = top(tree, SCHEDULES).map(|tree| sink.schedules(tree));
            let webhooks = top(tree, WEBHOOKS).map(|tree| sink.webhooks(tree));
            Self {
                schedules: schedules.unwrap_or_default(),
                webhooks: webhooks.unwrap_or_default(),
            }
        })
    }
}

impl DocumentSink<'_> {
    fn schedules(&mut self, tree: &YamlTree) -> BTreeMap<String, ScheduleConfig> {
        let mut found = BTreeMap::new();
        for (name, tree) in self.started(tree, SCHEDULES, SCHEDULES_MAX) {
            if let Some(schedule) = self.schedule(&name, tree) {
                found.insert(name, schedule);
            }
        }
        found
    }

    fn webhooks(&mut self, tree: &YamlTree) -> BTreeMap<String, WebhookConfig> {
        let mut found = BTreeMap::new();
        for (name, tree) in self.started(tree, WEBHOOKS, SCHEDULES_MAX) {
            if let Some(webhook) = self.webhook(&name, tree) {
                found.insert(name, webhook);
            }
        }
        found
    }

    fn webhook(&mut self, name: &str, tree: &YamlTree) -> Option<WebhookConfig> {
        let what = format!("the webhook `{name}`");
        let fields = self.fields(tree, &what, WEBHOOK_KEYS)?;
        let workspace = self.required(tree, &fields, &what, "workspace");
        let workspace = workspace.and_then(|tree| self.absolute(tree, "`workspace`"));
        let secret = self.required(tree, &fields, &what, "secret");
        let secret = secret.and_then(|tree| match self.key(tree)? {
            // Anybody who sends a request would have the keyring asked.
            KeySource::Keyring(_) => {
                self.fault(tree, "the secret of a webhook is in `env` or in `file`");
                None
            }
            source @ (KeySource::Env(_) | KeySource::File(_)) => Some(source),
        });
        let from = self.start_from(tree, &fields, &what);
        let input = fields.get("input");
        let input = input.map(|tree| self.input(tree));
        let mode = fields.get("mode");
        let mode = mode.map(|tree| self.choice(tree, "`mode`", &ConsentMode::WORDS));
        let per_minute = match fields.get("per-minute") {
            None => Some(PER_MINUTE),
            Some(tree) => self.number(tree, "`per-minute`", 1, PER_MINUTE_MAX),
        };
        Some(WebhookConfig {
            workspace: workspace?,
            secret: secret?,
            from: from?,
            input: some_if_given(input)?,
            mode: some_if_given(mode)?,
            per_minute: usize::try_from(per_minute?).ok()?,
        })
    }

    /// What is under names that become a part of keys.
    fn started<'t>(
        &mut self,
        tree: &'t YamlTree,
        what: &str,
        most: usize,
    ) -> Vec<(String, &'t YamlTree)> {
        // Only the key is left when all that was under it was taken out.
        if tree.value == Value::Null {
            return Vec::new();
        }
        let Some(entries) = self.entries(tree, &format!("`{what}`")) else {
            return Vec::new();
        };
        if entries.len() > most {
            self.fault(tree, format!("`{what}` has at most {most} entries"));
            return Vec::new();
        }
        let mut named = Vec::new();
        for MapEntry { key, value } in entries {
            let Some(name) = self.words(key, "a name") else {
                continue;
            };
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
            if name.len() > NAME_BYTES_MAX || !name.chars().all(fits) {
                let message = format!(
                    "a name has lower-case letters, digits, `-` and `_`, at most {NAME_BYTES_MAX}"
                );
                self.fault(key, message);
            }
            named.push((name, value));
        }
        named
    }

    fn schedule(&mut self, name: &str, tree: &YamlTree) -> Option<ScheduleConfig> {
        let what = format!("the schedule `{name}`");
        let fields = self.fields(tree, &what, SCHEDULE_KEYS)?;
        let workspace = self.required(tree, &fields, &what, "workspace");
        let workspace = workspace.and_then(|tree| self.absolute(tree, "`workspace`"));
        let timing = self.timing(tree, &fields, &what);
        let from = self.start_from(tree, &fields, &what);
        let input = fields.get("input");
        let input = input.map(|tree| self.input(tree));
        if input.is_none() && matches!(from, Some(StartFrom::Chat { .. })) {
            self.fault(tree, format!("{what} has no `input`, which is its message"));
        }
        let mode = fields.get("mode");
        let mode = mode.map(|tree| self.choice(tree, "`mode`", &ConsentMode::WORDS));
        let makes_up = match fields.get("missed") {
            None => Some(true),
            Some(tree) => self.choice(tree, "`missed`", &[(true, "once"), (false, "skip")]),
        };
        let at_once = match fields.get("at-once") {
            None => Some(1),
            Some(tree) => self.number(tree, "`at-once`", 1, AT_ONCE_MAX),
        };
        Some(ScheduleConfig {
            workspace: workspace?,
            timing: timing?,
            from: from?,
            input: some_if_given(input)?,
            mode: some_if_given(mode)?,
            makes_up: makes_up?,
            at_once: usize::try_from(at_once?).ok()?,
        })
    }

    fn timing(&mut self, tree: &YamlTree, fields: &Fields<'_>, what: &str) -> Option<Timing> {
        let zone = match fields.get("time-zone") {
            None => None,
            Some(tree) => {
                let name = self.words(tree, "`time-zone`")?;
                Some(self.kept(tree, zone_named(&name))?)
            }
        };
        match (fields.get("cron"), fields.get("at")) {
            (Some(tree), None) => {
                let line = self.words(tree, "`cron`")?;
                self.kept(tree, Timing::of_line(&line, zone))
            }
            (None, Some(tree)) => {
                let moment = self.words(tree, "`at`")?;
                self.kept(tree, Timing::of_moment(&moment, zone))
            }
            _ => {
                self.fault(tree, format!("{what} needs exactly one of `cron` and `at`"));
                None
            }
        }
    }

    fn start_from(
        &mut self,
        tree: &YamlTree,
        fields: &Fields<'_>,
        what: &str,
    ) -> Option<StartFrom> {
        let project = match fields.get("project") {
            None => None,
            Some(tree) => Some(self.name(tree, "`project`")?),
        };
        match (fields.get("flow"), project, fields.get("chat")) {
            (Some(tree), None, None) => {
                let path = PathBuf::from(self.words(tree, "`flow`")?);
                if path.is_absolute() {
                    self.fault(tree, "`flow` is a path within the workspace");
                    return None;
                }
                Some(StartFrom::File(path))
            }
            (None, Some(project), None) => Some(StartFrom::Project(project)),
            (None, project, Some(tree)) => {
                let role = self.words(tree, "`chat`")?;
                let role = Some(role).filter(|role| role != BUILT_IN);
                Some(StartFrom::Chat { role, project })
            }
            _ => {
                let message = format!(
                    "{what} needs exactly one of `flow`, `project` and `chat`; a chat may have a `project`"
                );
                self.fault(tree, message);
                None
            }
        }
    }

    fn input(&mut self, tree: &YamlTree) -> Option<String> {
        let input = self.words(tree, "`input`")?;
        if input.len() > INPUT_BYTES_MAX {
            self.fault(
                tree,
                format!("`input` has at most {INPUT_BYTES_MAX} bytes; name a file in it"),
            );
            return None;
        }
        Some(input)
    }

    /// What was read, or its fault at this place.
    fn kept<T>(&mut self, tree: &YamlTree, read: Result<T, String>) -> Option<T> {
        read.map_err(|why| self.fault(tree, why)).ok()
    }
}

/// The built-in role of chats.
const BUILT_IN: &str = "assistant";

/// What is given has to be sound; what is not given is absent.
fn some_if_given<T>(given: Option<Option<T>>) -> Option<Option<T>> {
    match given {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "schedules:\n  nightly:\n    workspace: /w\n";

    fn one(rest: &str) -> ScheduleConfig {
        let found: SchedulesConfig = format!("{HEAD}{rest}").parse().unwrap();
        found.schedules.into_values().next().unwrap()
    }

    #[test]
    fn a_schedule_has_a_time_and_what_it_starts() {
        let flow = one("    cron: '0 3 * * *'\n    flow: flows/check.yaml\n");
        assert_eq!(flow.timing.to_string(), "0 3 * * * UTC");
        assert_eq!(flow.from, StartFrom::File("flows/check.yaml".into()));
        assert!(flow.makes_up && flow.at_once == 1 && flow.mode.is_none());
        let chat = one(
            "    at: 2026-12-01T09:00\n    time-zone: Europe/Berlin\n    chat: writer\n    project: site\n    input: Look.\n    missed: skip\n    at-once: 3\n    mode: full\n",
        );
        assert!(chat.timing.is_once() && !chat.makes_up && chat.at_once == 3);
        let StartFrom::Chat { role, project } = chat.from else {
            panic!("it is a chat");
        };
        assert_eq!(role.as_deref(), Some("writer"));
        assert_eq!(project.unwrap().as_str(), "site");
        let plain = one("    cron: '@every 90m'\n    chat: assistant\n    input: Look.\n");
        assert_eq!(
            plain.from,
            StartFrom::Chat {
                role: None,
                project: None
            }
        );
        assert_eq!("model: m\n".parse(), Ok(SchedulesConfig::default()));
        assert_eq!("schedules:\n".parse(), Ok(SchedulesConfig::default()));
    }

    #[test]
    fn a_webhook_has_a_secret_elsewhere_and_what_it_starts() {
        let head = "webhooks:\n  deployed:\n    workspace: /w\n    chat: writer\n";
        let read = |rest: &str| format!("{head}{rest}").parse::<SchedulesConfig>();
        let found = read("    secret: { env: DEPLOYED }\n").unwrap();
        let webhook = &found.webhooks["deployed"];
        assert_eq!(webhook.secret, KeySource::Env("DEPLOYED".to_owned()));
        assert_eq!((webhook.per_minute, &webhook.input), (10, &None));
        for (rest, says) in [
            ("", "secret"),
            ("    secret: whsec_abc\n", "does not belong in this file"),
            ("    secret: { keyring: a }\n", "`env` or in `file`"),
            ("    secret: { env: A }\n    per-minute: 61\n", "per-minute"),
            ("    secret: { env: A }\n    cron: '@daily'\n", "cron"),
        ] {
            let faults = read(rest).unwrap_err();
            assert!(faults[0].to_string().contains(says), "{rest}: {faults:?}");
        }
    }

    #[test]
    fn a_fault_says_where_it_is_and_what_would_be_right() {
        for (rest, says) in [
            ("    cron: '0 3 * * *'\n", "exactly one of `flow`"),
            ("    flow: a.yaml\n", "exactly one of `cron` and `at`"),
            ("    cron: '0 3 * *'\n    flow: a.yaml\n", "cron line"),
            (
                "    cron: '@daily'\n    flow: /a.yaml\n",
                "within the workspace",
            ),
            ("    cron: '@daily'\n    chat: writer\n", "no `input`"),
            (
                "    cron: '@daily'\n    flow: a.yaml\n    timezone: UTC\n",
                "time-zone",
            ),
            (
                "    cron: '@daily'\n    flow: a.yaml\n    time-zone: Mars/Base\n",
                "Mars/Base",
            ),
            (
                "    cron: '@daily'\n    flow: a.yaml\n    missed: all\n",
                "`once`, `skip`",
            ),
            (
                "    cron: '@daily'\n    flow: a.yaml\n    at-once: 11\n",
                "at-once",
            ),
            (
                "    cron: '@daily'\n    flow: a.yaml\n    project: p\n",
                "exactly one of `flow`",
            ),
        ] {
            let read = format!("{HEAD}{rest}").parse::<SchedulesConfig>();
            let faults = read.unwrap_err();
            assert!(faults[0].to_string().contains(says), "{rest}: {faults:?}");
        }
        for text in [
            "schedules: { 'a:b': { workspace: /w } }",
            "schedules: [a]",
            "schedules: { a: { workspace: w } }",
        ] {
            assert!(text.parse::<SchedulesConfig>().is_err(), "{text}");
        }
    }
}
