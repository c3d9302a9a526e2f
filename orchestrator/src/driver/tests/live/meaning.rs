//! What a flow came to, apart from what only tells of interruptions.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use a_society_facts::fact::session::Origin;
use a_society_facts::handoff::Delivery;
use a_society_facts::message::Message;
use a_society_facts::view::session::SessionEntry;
use a_society_state::layout::FlowFolder;

use super::super::super::core::Core;
use super::Files;

/// What must be the same however often a flow was cut off.
#[derive(Debug, PartialEq)]
pub(super) struct Meaning {
    /// What is known of the flow, by what it is.
    facts: BTreeMap<String, String>,
    /// What each role's session says.
    sessions: BTreeMap<String, Vec<String>>,
    /// The files of the record folder and the project.
    files: BTreeMap<String, Hash>,
}

impl Meaning {
    pub(super) fn of(core: &Core, folder: &FlowFolder, files: &Files) -> Self {
        let state = core.state();
        let views = core.flow().views();
        let improvement = state.improvement.as_ref();
        let facts = [
            ("status", format!("{:?}", state.status)),
            ("title", state.title.clone()),
            ("edges", format!("{:?}", state.completed_edges)),
            ("history", format!("{:?}", state.history)),
            ("unread", format!("{:?}", deliveries(&state.received))),
            ("visited", format!("{:?}", state.visited)),
            ("mode", format!("{:?}", state.consent_mode)),
            ("grants", format!("{:?}", state.grants)),
            ("running", format!("{:?}", state.running.keys())),
            ("waiting", format!("{:?}", state.awaiting_operator.keys())),
            ("turns", format!("{:?}", state.turns.keys())),
            ("calls", format!("{:?}", state.calls.keys())),
            ("consents", format!("{:?}", state.consents.keys())),
            ("staged", format!("{:?}", state.staged.keys())),
            ("graph", core.graph().name().to_owned()),
            (
                "findings",
                format!(
                    "{:?}",
                    improvement.map(|phase| (phase.mode, &phase.feedback.granted))
                ),
            ),
        ];
        let heard = views
            .sessions
            .values()
            .flat_map(|session| &session.messages);
        let heard = heard.filter(|entry| entry.origin == Some(Origin::Steer));
        let heard = (
            "heard",
            format!("{:?}", heard.filter_map(said).collect::<Vec<_>>()),
        );
        let facts = facts.into_iter().chain([heard]);
        let sessions = views.sessions.iter().map(|(role, session)| {
            let said = session.messages.iter().filter_map(said).collect();
            (role.to_string(), said)
        });
        let lasting = files.iter().filter(|(path, _)| {
            // What is kept beside the record is there for the record's sake.
            !path.starts_with(folder.root()) || path.starts_with(folder.record())
        });
        Self {
            facts: facts.map(|(name, text)| (name.to_owned(), text)).collect(),
            sessions: sessions.collect(),
            files: lasting
                .map(|(path, bytes)| (path.display().to_string(), Hash::of(bytes)))
                .collect(),
        }
    }

    /// What is the same also if a turn was taken once more: neither its text nor how its
    /// artifacts are numbered.
    pub(super) fn rough(&self) -> Self {
        let is_numbered = |name: &str| name.contains("-output-to-");
        let facts = self.facts.iter().filter(|(name, _)| *name != "history");
        let files = self.files.iter().filter(|(name, _)| !is_numbered(name));
        let copied = |(name, what): (&String, &String)| (name.clone(), what.clone());
        Self {
            facts: facts.map(copied).collect(),
            sessions: BTreeMap::new(),
            files: files.map(|(name, hash)| (name.clone(), *hash)).collect(),
        }
    }

    /// The first difference from what was wanted.
    pub(super) fn differs(&self, wanted: &Self) -> Option<String> {
        for (name, text) in &self.facts {
            if *text != wanted.facts[name] {
                return Some(format!("{name} is {text}, and was {}", wanted.facts[name]));
            }
        }
        if self.sessions.keys().ne(wanted.sessions.keys()) {
            return Some(format!("sessions are {:?}", self.sessions.keys()));
        }
        for (role, said) in &self.sessions {
            let was = &wanted.sessions[role];
            let differing = said.iter().zip(was).find(|(is, was)| !same(is, was));
            if let Some((is, was)) = differing {
                let (said, was_said) = (said.join("\n  "), wanted.sessions[role].join("\n  "));
                return Some(format!(
                    "{role} has\n  {is}\nand had\n  {was}\nin all it has\n  {said}\nand had\n  {was_said}"
                ));
            }
            if said.len() != was.len() {
                let (longer, more) = if said.len() > was.len() {
                    (said, "more")
                } else {
                    (was, "less")
                };
                let at = said.len().min(was.len());
                return Some(format!("{role} has {more}: {:?}", &longer[at..]));
            }
        }
        if self.files.keys().ne(wanted.files.keys()) {
            let (is, was) = (self.files.keys(), wanted.files.keys());
            return Some(format!("files are\n  {is:?}\nand were\n  {was:?}"));
        }
        let mut both = self.files.iter().zip(&wanted.files);
        let other = both.find(|((_, is), (_, was))| is != was);
        other.map(|((path, _), _)| format!("{path} holds something else"))
    }
}

fn deliveries(received: &[Delivery]) -> Vec<String> {
    let line = |it: &Delivery| format!("{:?} {:?} {}", it.edge, it.way, it.artifact.hash);
    received.iter().map(line).collect()
}

/// A message in a line, unless it only tells of an interruption.
fn said(entry: &SessionEntry) -> Option<String> {
    if entry.interrupted || entry.origin == Some(Origin::Continuation) {
        return None;
    }
    Some(match &*entry.message {
        Message::User { content } => format!("told {:?}: {}", entry.origin, timeless(content)),
        Message::Assistant { content } => format!("says {content}"),
        Message::AssistantToolCalls { calls, text } => {
            let calls = calls
                .iter()
                .map(|call| format!("{}{}", call.name, call.input.get()));
            format!("calls {} {text:?}", calls.collect::<Vec<_>>().join(" "))
        }
        Message::ToolResult {
            tool_name, content, ..
        } => format!("result {tool_name}: {content}"),
    })
}

/// A text without times and made-up names.
fn timeless(text: &str) -> String {
    let is_time = |word: &str| word.contains('T') && word.contains('Z') && word.contains(':');
    let is_made_up = |word: &str| word.bytes().filter(u8::is_ascii_digit).count() > 16;
    let words = text.split_inclusive([' ', '\n']);
    words
        .filter(|word| !is_time(word) && !is_made_up(word))
        .collect()
}

/// Words with which the result of a call begins that was cut off.
const CUT_OFF: [&str; 2] = ["The outcome is unknown", "Done. The process ended"];

/// A call that was cut off has another result, and says so.
fn same(is: &str, was: &str) -> bool {
    if is == was {
        return true;
    }
    let result = |line: &str| {
        let rest = line.strip_prefix("result ")?;
        let (tool, content) = rest.split_once(": ")?;
        Some((tool.to_owned(), content.to_owned()))
    };
    match (result(is), result(was)) {
        (Some((tool, content)), Some((other, _))) => {
            tool == other && CUT_OFF.iter().any(|words| content.starts_with(words))
        }
        _ => false,
    }
}
