//! One rule: how it is written, and what it covers.

use std::fmt;

use a_society_base::text::misleads;
use a_society_facts::fact::operator::ConsentRules;
use a_society_mcp::server_of;

use super::line::{PlainWord, Word, pattern_words, runs_its_words, runs_others};
use crate::tool::canonical;

/// The longest rule. Rules are written by hand.
const RULE_BYTES_MAX: usize = 4_096;

/// How many rules one place has. Each call is held against all of them.
pub(crate) const RULES_MAX: usize = 500;

/// The classes of tools, by the words with which roles name them in their `permissions`.
const EDITS: &str = "edits";
const COMMANDS: &str = "commands";
const WEB: &str = "web";
const MCP_TOOLS: &str = "mcp-tools";

/// The prefix of a rule about a server.
const MCP: &str = "mcp";

/// What a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    /// Changes of files, in one folder or everywhere.
    Edits(Option<Folder>),
    /// Commands, of one pattern or all.
    Commands(Option<CommandPattern>),
    /// Requests to a host, or to all.
    Web(Option<String>),
    /// Tools of servers.
    Servers,
    /// Tools of one server, or one of them.
    Server { name: String, tool: Option<String> },
    /// One tool, by the name that models use.
    Tool(String),
}

/// A folder or a file, in names from the project on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder {
    names: Vec<String>,
    /// Whether it is the flow's shared folder or below it.
    is_record: bool,
}

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandPattern {
    program: String,
    rest: Vec<WordPattern>,
    /// Whether any further arguments may follow.
    is_open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum WordPattern {
    Exactly(String),
    /// Exactly one argument, whatever it is.
    Any,
}

/// Whether a command is the one that a pattern names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    Other,
    /// It depends on what the shell makes of it.
    Perhaps,
    Same,
}

/// A rule that cannot be parsed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// The rule.
    pub rule: String,
    /// What is wrong with it, in a sentence without a full stop.
    pub why: String,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = super::super::shown(&self.rule);
        write!(f, "`{shown}` is no rule: {}", self.why)
    }
}

impl std::error::Error for RuleFault {}

/// The words with which rules begin, and an example of each.
pub(crate) const KNOWN: &str = "a rule is edits, commands, web, mcp-tools, edits:FOLDER, a command such as \
                         'pytest *' or commands:make, web:HOST, mcp:SERVER, mcp:SERVER/TOOL or the name of \
                         a tool; for example edits:src,'pytest *',mcp:files";

/// The server whose tools a rule is about.
#[must_use]
pub fn server_of_rule(rule: &str) -> Option<String> {
    match Rule::read(rule) {
        Ok(Rule::Server { name, .. }) => Some(name),
        Ok(_) | Err(_) => None,
    }
}

/// Takes a list of rules apart at its commas. A comma in quotes belongs to its rule.
///
/// # Errors
/// If a quote is not closed, or a rule cannot be parsed.
pub fn split(list: &str) -> Result<Vec<String>, RuleFault> {
    let (mut rules, mut rule, mut quote) = (Vec::new(), String::new(), None);
    for letter in list.chars() {
        match (quote, letter) {
            (None, ',') => rules.push(std::mem::take(&mut rule)),
            (None, '\'' | '"') => {
                quote = Some(letter);
                rule.push(letter);
            }
            (open, letter) => {
                if open == Some(letter) {
                    quote = None;
                }
                rule.push(letter);
            }
        }
    }
    if quote.is_some() {
        return Err(fault(list, "a quote in it does not end"));
    }
    rules.push(rule);
    let rules = rules.into_iter().map(|rule| rule.trim().to_owned());
    rules.map(|rule| check(&rule).map(|()| rule)).collect()
}

/// Whether a rule can be read.
///
/// # Errors
/// Says what is wrong with it.
pub fn check(rule: &str) -> Result<(), RuleFault> {
    Rule::read(rule).map(drop)
}

/// Whether each rule of both lists can be read, and those of the first may allow something.
///
/// # Errors
/// Says everything that is wrong.
pub(crate) fn check_all(rules: &ConsentRules) -> Result<(), Vec<RuleFault>> {
    let mut faults = Vec::new();
    for rule in &rules.allow {
        faults.extend(check_allow(rule).err());
    }
    for rule in &rules.deny {
        faults.extend(check(rule).err());
    }
    if rules.allow.len().max(rules.deny.len()) > RULES_MAX {
        faults.push(fault(
            "…",
            format!("there are at most {RULES_MAX} of a kind"),
        ));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Whether a rule can be read and may allow something: a program that runs what it is given would allow
/// everything.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_allow(rule: &str) -> Result<(), RuleFault> {
    match Rule::read(rule)? {
        Rule::Commands(Some(pattern)) if runs_others(&pattern.program) => {
            let program = &pattern.program;
            let why = format!(
                "{program} runs what it is given, so that this would allow everything; name the \
                 program that is run, or allow commands"
            );
            Err(fault(rule, why))
        }
        Rule::Edits(_)
        | Rule::Commands(_)
        | Rule::Web(_)
        | Rule::Servers
        | Rule::Server { .. }
        | Rule::Tool(_) => Ok(()),
    }
}

fn fault(rule: &str, why: impl Into<String>) -> RuleFault {
    RuleFault {
        rule: rule.to_owned(),
        why: why.into(),
    }
}

impl Rule {
    pub(super) fn read(text: &str) -> Result<Self, RuleFault> {
        Self::of(text).map_err(|why| fault(text, why))
    }

    fn of(text: &str) -> Result<Self, String> {
        if text.len() > RULE_BYTES_MAX {
            return Err(format!("it is longer than {RULE_BYTES_MAX} bytes"));
        }
        if text
            .chars()
            .any(|letter| letter.is_control() || misleads(letter))
        {
            return Err("it has a character that cannot be seen".to_owned());
        }
        if text.is_empty() || text != text.trim() {
            return Err(KNOWN.to_owned());
        }
        // Names of folders may have spaces in them.
        match text.split_once(':') {
            Some((COMMANDS, pattern)) => {
                return Ok(Self::Commands(Some(CommandPattern::of(pattern)?)));
            }
            Some((EDITS, folder)) => return Ok(Self::Edits(Some(Folder::of(unquoted(folder))?))),
            Some((WEB, host)) => return Ok(Self::Web(Some(host_of(host)?))),
            Some((MCP, server)) => return server_rule(server),
            Some(_) | None => {}
        }
        if let Some((first, _)) = text.split_once(' ') {
            if is_class(first) || is_tool(first) {
                return Err(format!(
                    "after {first} nothing follows a space; a command of that name is written \
                     'commands:{first} …'"
                ));
            }
            return Ok(Self::Commands(Some(CommandPattern::of(text)?)));
        }
        match text {
            EDITS => Ok(Self::Edits(None)),
            COMMANDS | "run_command" => Ok(Self::Commands(None)),
            WEB => Ok(Self::Web(None)),
            MCP_TOOLS => Ok(Self::Servers),
            tool if is_tool(tool) => Ok(Self::Tool(tool.to_owned())),
            word if word.starts_with(['.', '/']) => Err(format!(
                "a command without arguments is written commands:{word}; {KNOWN}"
            )),
            _ => Err(KNOWN.to_owned()),
        }
    }
}

fn is_class(word: &str) -> bool {
    [EDITS, COMMANDS, WEB, MCP_TOOLS, MCP].contains(&word)
}

fn is_tool(word: &str) -> bool {
    canonical(word) == Some(word) || server_of(word).is_some()
}

/// A name without the quotes that kept its commas.
fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('\'').or_else(|| within('"')).unwrap_or(text)
}

/// A host, byte for byte as addresses have it.
fn host_of(text: &str) -> Result<String, String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-.:[]".contains(letter);
    if text.is_empty() || !text.chars().all(is_letter) || text.contains("..") {
        return Err(
            "a host is a name such as docs.rs, without an address before or after it".to_owned(),
        );
    }
    Ok(text.to_ascii_lowercase())
}

fn server_rule(text: &str) -> Result<Rule, String> {
    let (name, tool) = match text.split_once('/') {
        Some((name, tool)) => (name, Some(tool)),
        None => (text, None),
    };
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    if name.is_empty() || !name.chars().all(is_letter) || tool.is_some_and(str::is_empty) {
        return Err(
            "a server is named mcp:SERVER, and one of its tools mcp:SERVER/TOOL".to_owned(),
        );
    }
    Ok(Rule::Server {
        name: name.to_owned(),
        tool: tool.map(str::to_owned),
    })
}

impl Folder {
    fn of(text: &str) -> Result<Self, String> {
        let why = "a folder or a file is a path from the project on, such as src, src/** or \
                   docs/notes.md; record/ is the flow's shared folder";
        let path = text
            .strip_suffix("/**")
            .or_else(|| text.strip_suffix('/'))
            .unwrap_or(text);
        if path.is_empty()
            || path.starts_with(['/', '~'])
            || path.contains(['*', '?', '[', '{', '\\'])
        {
            if path == "**" {
                return Ok(Self::project());
            }
            return Err(why.to_owned());
        }
        if path.split('/').any(|name| name == "..") {
            return Err(why.to_owned());
        }
        Ok(Self::of_path(path))
    }

    fn project() -> Self {
        Self {
            names: Vec::new(),
            is_record: false,
        }
    }

    /// A path as tools show it: `./record` is a folder of the project.
    fn of_path(path: &str) -> Self {
        let is_record = path == "record" || path.starts_with("record/");
        let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
        Self {
            names: names.map(str::to_owned).collect(),
            is_record,
        }
    }

    /// Whether a file is in it, or is it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let other = Self::of_path(path);
        self.is_record == other.is_record && other.names.starts_with(&self.names)
    }
}

impl CommandPattern {
    fn of(text: &str) -> Result<Self, String> {
        let words = pattern_words(text).ok_or_else(|| {
            "a command is words one space apart, with quotes around an argument that has others than \
             letters, digits and _-./@%+,:= in it, and nothing that a shell would interpret; * by itself \
             is one argument, and at the end any further ones"
                .to_owned()
        })?;
        let is_star = |word: &PlainWord| word.text == "*" && !word.is_quoted;
        let has_star = |word: &PlainWord| word.text.contains('*') && !word.is_quoted;
        if let Some(word) = words.iter().find(|word| has_star(word) && !is_star(word)) {
            return Err(format!(
                "* must be an argument of its own, and {} has more; quotes make it a plain character",
                word.text
            ));
        }
        let is_open = words.last().is_some_and(is_star);
        let mut words = words.into_iter();
        let program = words.next().filter(|word| !is_star(word));
        let program = program.ok_or("the program is named, so that * is not the first word")?;
        let parts = words.map(|word| {
            if is_star(&word) {
                WordPattern::Any
            } else {
                WordPattern::Exactly(word.text)
            }
        });
        let mut rest: Vec<WordPattern> = parts.collect();
        if is_open {
            rest.pop();
        }
        Ok(Self {
            program: program.text,
            rest,
            is_open,
        })
    }

    /// Whether it leaves nothing open.
    pub(super) fn is_exact(&self) -> bool {
        !self.is_open && !self.rest.contains(&WordPattern::Any)
    }

    /// Whether it covers a command, argument by argument.
    pub(super) fn covers(&self, words: &[PlainWord]) -> bool {
        let Some((program, arguments)) = words.split_first() else {
            return false;
        };
        let has_all = arguments.len() == self.rest.len()
            || (self.is_open && arguments.len() > self.rest.len());
        let mut pairs = self.rest.iter().zip(arguments);
        program.text == self.program
            && has_all
            && pairs.all(|(part, word)| match part {
                WordPattern::Exactly(text) => *text == word.text,
                WordPattern::Any => true,
            })
    }

    /// How much a command is like it, when it must not run. A program in a folder is the program.
    pub(super) fn likeness(&self, words: &[Word]) -> Likeness {
        let Some((program, arguments)) = words.split_first() else {
            return Likeness::Other;
        };
        let own = self.likeness_of(program, arguments);
        if !program.is_known || !runs_its_words(last_name(&program.text), arguments) {
            return own;
        }
        // Whatever it runs, the words of it are likely among its own.
        let inner = (1..words.len()).filter_map(|at| words.get(at..)?.split_first());
        let inner = inner.map(|(program, arguments)| self.likeness_of(program, arguments));
        let is_within = inner.max() == Some(Likeness::Same);
        let found = if is_within {
            Likeness::Same
        } else {
            Likeness::Perhaps
        };
        own.max(found)
    }

    fn likeness_of(&self, program: &Word, arguments: &[Word]) -> Likeness {
        let is_it = program.text == self.program
            || (!self.program.contains('/') && last_name(&program.text) == self.program);
        if !program.is_known {
            return Likeness::Perhaps;
        }
        if !is_it {
            return Likeness::Other;
        }
        let mut all = Likeness::Same;
        let mut arguments = arguments.iter();
        for part in &self.rest {
            match (part, arguments.next()) {
                (_, None) => return Likeness::Other,
                // One word may become none, or many.
                (_, Some(word)) if !word.is_known => return Likeness::Perhaps,
                (WordPattern::Exactly(text), Some(word)) if *text != word.text => {
                    return Likeness::Other;
                }
                (WordPattern::Exactly(_) | WordPattern::Any, Some(_)) => {}
            }
        }
        if !self.is_open {
            match arguments.next() {
                None => {}
                Some(word) if !word.is_known => all = all.min(Likeness::Perhaps),
                Some(_) => return Likeness::Other,
            }
        }
        all
    }
}

fn last_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
