//! What the rules say about a call.

use a_society_facts::fact::operator::{ConsentRules, DecidingRule, RuleOrigin};

use super::line::{LineCommands, PlainWord, commands_in, plain_words};
use super::rule::{Likeness, Rule, RuleFault, check_all};
use crate::consent::Tier;

/// All rules that count for a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    allow: Vec<AttributedRule>,
    deny: Vec<AttributedRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct AttributedRule {
    rule: Rule,
    by: DecidingRule,
}

/// A file under the names that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileNames {
    /// As the call names it, from the project on.
    pub shown: String,
    /// As it is really named; nothing if it is in neither of the folders that are written.
    pub real: Option<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerTool<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool, as the server calls it.
    pub tool: &'a str,
}

/// What rules need to know about a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The tool.
    pub tool: &'a str,
    /// How much is at stake.
    pub tier: &'a Tier,
    /// The command.
    pub command: Option<&'a str>,
    /// The files that change.
    pub files: &'a [FileNames],
    /// The host that is asked.
    pub host: Option<&'a str>,
    /// The server's tool.
    pub server: Option<ServerTool<'a>>,
    /// Whether what it does cannot be taken back.
    pub is_irreversible: bool,
    /// Whether a wall that it should run behind is not there.
    pub lacks_walls: bool,
}

/// What the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// This rule answers yes, if the operator would be asked.
    Allowed(DecidingRule),
    /// This rule says no, whatever else is allowed.
    Denied(DecidingRule),
    /// A rule may cover it, which cannot be decided here: the operator is asked.
    Doubtful(DecidingRule),
}

impl Policy {
    /// Reads the rules of one place.
    ///
    /// # Errors
    /// Says everything that is wrong with them.
    pub fn read(rules: &ConsentRules, origin: RuleOrigin) -> Result<Self, Vec<RuleFault>> {
        check_all(rules)?;
        let read = |texts: &[String]| {
            let each = texts.iter().map(|text| {
                Ok(AttributedRule {
                    rule: Rule::read(text).map_err(|fault| vec![fault])?,
                    by: DecidingRule {
                        rule: text.clone(),
                        origin,
                    },
                })
            });
            each.collect::<Result<Vec<_>, Vec<RuleFault>>>()
        };
        Ok(Self {
            allow: read(&rules.allow)?,
            deny: read(&rules.deny)?,
        })
    }

    /// These rules, and those of another place.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.allow.extend(other.allow);
        self.deny.extend(other.deny);
        self
    }

    /// Whether there is no rule.
    #[must_use]
    pub(crate) const fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }

    /// What the rules say about a call; nothing if none speaks of it. A rule that denies counts more than
    /// any that allows.
    #[must_use]
    pub(crate) fn judge(&self, subject: &Subject<'_>) -> Option<Judged> {
        let is_pattern = |written: &AttributedRule| matches!(written.rule, Rule::Commands(Some(_)));
        // A line is taken apart once, and only if a rule asks for it.
        let command = subject.command.filter(|_| self.deny.iter().any(is_pattern));
        let found = command.map(commands_in).unwrap_or_default();
        let denied = self.deny.iter();
        let denied = denied.map(|written| (denies(&written.rule, subject, &found), &written.by));
        let strongest = denied.max_by_key(|(likeness, _)| *likeness);
        match strongest {
            Some((Likeness::Same, by)) => return Some(Judged::Denied(by.clone())),
            Some((Likeness::Perhaps, by)) => return Some(Judged::Doubtful(by.clone())),
            Some((Likeness::Other, _)) | None => {}
        }
        let words = subject.command.and_then(plain_words);
        let allows = |written: &&AttributedRule| allows(&written.rule, subject, words.as_deref());
        let found = self.allow.iter().find(allows)?;
        Some(Judged::Allowed(found.by.clone()))
    }
}

fn denies(rule: &Rule, subject: &Subject<'_>, found: &LineCommands) -> Likeness {
    let changes = matches!(subject.tier, Tier::Edit | Tier::Trust);
    let is_meant = match rule {
        Rule::Edits(None) => changes,
        Rule::Edits(Some(folder)) => subject.files.iter().any(|file| {
            folder.holds(&file.shown) || file.real.as_ref().is_some_and(|real| folder.holds(real))
        }),
        Rule::Commands(None) => subject.command.is_some(),
        Rule::Commands(Some(pattern)) => {
            if subject.command.is_none() {
                return Likeness::Other;
            }
            let each = found.commands.iter().map(|words| pattern.likeness(words));
            let unsure = if found.is_certain {
                Likeness::Other
            } else {
                Likeness::Perhaps
            };
            return each.fold(unsure, Likeness::max);
        }
        Rule::Web(None) => subject.host.is_some(),
        Rule::Web(Some(host)) => subject.host.is_some_and(|other| is_host(host, other)),
        Rule::Servers => subject.server.is_some(),
        Rule::Server { name, tool } => is_server(name, tool.as_deref(), subject.server),
        Rule::Tool(tool) => tool == subject.tool,
    };
    if is_meant {
        Likeness::Same
    } else {
        Likeness::Other
    }
}

fn allows(rule: &Rule, subject: &Subject<'_>, words: Option<&[PlainWord]>) -> bool {
    // What can only be allowed once is looked at by a person each time.
    let is_asked_once = match subject.tier {
        Tier::Edit | Tier::Command | Tier::Web | Tier::ServerTool { .. } => false,
        Tier::Free | Tier::Unasked | Tier::Sensitive | Tier::Trust => true,
    };
    if is_asked_once || subject.lacks_walls {
        return false;
    }
    let is_meant = match rule {
        Rule::Edits(None) => *subject.tier == Tier::Edit,
        Rule::Edits(Some(folder)) => {
            let is_within = |file: &FileNames| {
                folder.holds(&file.shown)
                    && file.real.as_ref().is_some_and(|real| folder.holds(real))
            };
            !subject.files.is_empty() && subject.files.iter().all(is_within)
        }
        Rule::Commands(None) => subject.command.is_some(),
        Rule::Commands(Some(pattern)) => words.is_some_and(|words| pattern.covers(words)),
        Rule::Web(None) => subject.host.is_some(),
        Rule::Web(Some(host)) => subject.host.is_some_and(|other| other == host),
        Rule::Servers => subject.server.is_some(),
        Rule::Server { name, tool } => is_server(name, tool.as_deref(), subject.server),
        Rule::Tool(tool) => tool == subject.tool,
    };
    is_meant && (!subject.is_irreversible || names_exactly(rule))
}

/// Whether a rule names one thing, and not a class: what cannot be taken back is allowed only so.
fn names_exactly(rule: &Rule) -> bool {
    match rule {
        Rule::Commands(Some(pattern)) => pattern.is_exact(),
        Rule::Server { tool, .. } => tool.is_some(),
        Rule::Edits(_) | Rule::Commands(None) | Rule::Web(_) | Rule::Servers | Rule::Tool(_) => {
            false
        }
    }
}

fn is_host(rule: &str, host: &str) -> bool {
    // The name with its last dot is the same one; an address that allows is compared byte for byte.
    let host = host.strip_suffix('.').unwrap_or(host);
    host.eq_ignore_ascii_case(rule)
}

fn is_server(name: &str, tool: Option<&str>, called: Option<ServerTool<'_>>) -> bool {
    called
        .is_some_and(|called| called.server == name && tool.is_none_or(|tool| tool == called.tool))
}
