//! Words in all sessions: the messages that have them, by their sessions, each with an excerpt.

use std::ops::Range;

use a_society_facts::At;
use a_society_facts::fact::session::SessionKind;
use a_society_facts::id::{ProjectName, RoleInstance};
use a_society_state::search::{
    FoundSession, SaidBy, SaidMessage, SearchFound, SearchTerms, SearchWanted, SearchWords,
    UpdateStep, search,
};
use a_society_state::{Error, FlowRef, Store};
use serde::Serialize;

use super::key::key_of;
use crate::config::export_filter::Withheld;

/// How many characters of a message come before the first word that was found.
const BEFORE_CHARS: usize = 40;

/// How long an excerpt is, in characters.
const EXCERPT_CHARS: usize = 200;

/// What is looked for in the sessions of a workspace.
#[derive(Debug)]
pub struct SessionSearch<'a> {
    /// The words.
    pub words: &'a SearchWords,
    /// Only in this project.
    pub project: Option<&'a ProjectName>,
    /// Only in sessions of this role instance.
    pub role: Option<&'a RoleInstance>,
    /// Only in sessions of these kinds; of all if there are none. The title of a flow is in none.
    pub kinds: &'a [SessionKind],
    /// How many sessions.
    pub sessions: usize,
    /// How many messages of each.
    pub messages: usize,
    /// Makes a text one that is read in a line, if it is to be made so.
    pub readable: Option<fn(&str) -> String>,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsFound {
    /// How many sessions.
    pub count: usize,
    /// They, those with the newest messages first.
    pub sessions: Vec<FoundInSession>,
    /// Whether there may be more.
    pub cut: bool,
    /// How many flows are not indexed to their ends.
    pub behind: usize,
    /// How many old flows there is no room for in the index.
    pub left_out: usize,
    /// Why there is no index, if all journals were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_index: Option<String>,
}

/// A session in which words were found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundInSession {
    /// Its address; absent for the title of a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SessionKind>,
    /// What people call it.
    pub display_name: String,
    /// The project.
    pub project: String,
    /// The flow or chat.
    pub flow_id: String,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The last messages with the words, the newest first.
    pub messages: Vec<MessageFound>,
    /// How many more there are, as far as was looked.
    pub more: usize,
}

/// A message in which words were found.
#[derive(Debug, Serialize)]
pub struct MessageFound {
    /// The record.
    pub seq: u64,
    /// When.
    pub at: At,
    /// The node at which the role was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Who said it.
    pub by: SaidBy,
    /// The words around what was found, in one line.
    pub excerpt: String,
    /// Which characters of the excerpt were looked for: from the first, counted from 0, to the one behind the last.
    pub marks: Vec<Range<usize>>,
}

/// The messages that have the words. `goes_on` is asked now and then while journals are indexed that are new, and may end
/// that: what is not indexed is not found.
///
/// # Errors
/// When the workspace cannot be read.
pub fn find(
    store: &Store,
    asked: &SessionSearch<'_>,
    goes_on: &mut dyn FnMut(UpdateStep) -> bool,
) -> Result<SessionsFound, Error> {
    let wanted = SearchWanted {
        words: asked.words,
        project: asked.project,
        role: asked.role,
        sessions: asked.sessions,
        messages: asked.messages,
    };
    let mut kinds = Kinds {
        store,
        kinds: asked.kinds,
        goes_on,
    };
    let found: SearchFound = search(store, &wanted, &mut kinds)?;
    let withheld = Withheld::of_operator();
    let sessions = found.sessions.into_iter();
    let sessions = sessions.filter_map(|session| shown(store, session, asked, &withheld));
    let sessions: Vec<FoundInSession> = sessions.collect();
    Ok(SessionsFound {
        count: sessions.len(),
        sessions,
        cut: found.is_cut,
        behind: found.behind,
        left_out: found.left_out,
        without_index: found.without_index,
    })
}

struct Kinds<'a> {
    store: &'a Store,
    kinds: &'a [SessionKind],
    goes_on: &'a mut dyn FnMut(UpdateStep) -> bool,
}

impl SearchTerms for Kinds<'_> {
    fn goes_on(&mut self, step: UpdateStep) -> bool {
        (self.goes_on)(step)
    }

    fn wants(&mut self, flow: &FlowRef, role: Option<&RoleInstance>) -> bool {
        if self.kinds.is_empty() {
            return true;
        }
        let described = role.and_then(|role| described(self.store, flow, role));
        described.is_some_and(|(_, kind, _)| self.kinds.contains(&kind))
    }
}

/// The key, the kind and the name of a session.
fn described(
    store: &Store,
    flow: &FlowRef,
    role: &RoleInstance,
) -> Option<(String, SessionKind, String)> {
    let state = store.look(flow).ok()?.screen.flow;
    let brief = state.sessions.get(role)?;
    let (is_chat, is_fork) = (state.chat.is_some(), state.parent.is_some());
    let kind = if is_chat && is_fork {
        SessionKind::Child
    } else {
        brief.kind
    };
    let name = if is_chat {
        state.title.clone()
    } else {
        format!("{role} of {}", state.title)
    };
    Some((key_of(&state, flow, role), kind, name))
}

fn shown(
    store: &Store,
    session: FoundSession,
    asked: &SessionSearch<'_>,
    withheld: &Withheld,
) -> Option<FoundInSession> {
    let FoundSession { flow, role, .. } = &session;
    let messages = session
        .messages
        .iter()
        .filter_map(|message| message_shown(message, asked, withheld));
    let messages: Vec<MessageFound> = messages.collect();
    // What was found only within a secret is not found.
    let newest = messages.first()?;
    let described = role.as_ref().and_then(|role| described(store, flow, role));
    let (key, kind, display_name) = match (described, role) {
        (Some((key, kind, name)), _) => (Some(key), Some(kind), name),
        (None, Some(role)) => (None, None, role.to_string()),
        (None, None) => (None, None, newest.excerpt.clone()),
    };
    Some(FoundInSession {
        key,
        kind,
        display_name: withheld.redact(&display_name),
        project: flow.project.to_string(),
        flow_id: flow.flow.to_string(),
        role: role.as_ref().map(ToString::to_string),
        messages,
        more: session.more,
    })
}

fn message_shown(
    message: &SaidMessage,
    asked: &SessionSearch<'_>,
    withheld: &Withheld,
) -> Option<MessageFound> {
    // Half a secret is not recognised, so that the text is cut afterwards.
    let text = withheld.redact(&message.text);
    let readable = asked.readable.map(|readable| readable(&text));
    let read = readable
        .as_deref()
        .map(|text| (text, asked.words.places(text)));
    let (excerpt, marks) = match read {
        Some((text, Some(places))) => excerpt(text, &places),
        // It may be among what is not read.
        _ => excerpt(&text, &asked.words.places(&text)?),
    };
    Some(MessageFound {
        seq: message.seq,
        at: message.at,
        node: message.node.as_ref().map(ToString::to_string),
        by: message.by,
        excerpt,
        marks,
    })
}

/// A line of a text from a word shortly before the first place, with the places in it.
fn excerpt(text: &str, places: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let first = places.first().map_or(0, |place| place.start);
    let back = text.get(..first).unwrap_or_default().char_indices().rev();
    let from = back.take(BEFORE_CHARS).last().map_or(first, |(at, _)| at);
    // Back to where a word begins that is whole; the one that was found always is.
    let from = match text
        .get(..from)
        .and_then(|before| before.chars().next_back())
    {
        Some(before) if !before.is_whitespace() => {
            let rest = text.get(from..first).unwrap_or_default();
            let blank = rest.char_indices().find(|(_, c)| c.is_whitespace());
            blank.map_or(first, |(at, _)| from + at)
        }
        _ => from,
    };
    let mut line = String::new();
    let (mut count, mut marks, mut blank) = (0, Vec::<Range<usize>>::new(), false);
    let mut places = places.iter().peekable();
    for (at, c) in text.get(from..).unwrap_or_default().char_indices() {
        let at = from + at;
        while places.next_if(|place| place.end <= at).is_some() {}
        if c.is_whitespace() || c.is_control() {
            blank = !line.is_empty();
            continue;
        }
        if count >= EXCERPT_CHARS {
            // Neither does it end within a word, unless that was looked for or has no end.
            let cut = line.rfind(' ').filter(|_| !blank);
            let keeps = marks.last().map_or(0, |mark| mark.end);
            if let Some(cut) = cut.filter(|cut| line[..*cut].chars().count() >= keeps) {
                line.truncate(cut);
            }
            break;
        }
        if blank {
            line.push(' ');
            count += 1;
            blank = false;
        }
        if places.peek().is_some_and(|place| place.contains(&at)) {
            let begins = places.peek().is_some_and(|place| place.start == at);
            match marks.last_mut().filter(|mark| mark.end == count && !begins) {
                Some(mark) => mark.end = count + 1,
                None => marks.push(count..count + 1),
            }
        }
        line.push(c);
        count += 1;
    }
    (line, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str, text: &str) -> (String, Vec<String>) {
        let words = SearchWords::read(query).unwrap();
        let (line, marks) = excerpt(text, &words.places(text).unwrap());
        let letters: Vec<char> = line.chars().collect();
        let marked = marks.into_iter().map(|mark| letters[mark].iter().collect());
        (line, marked.collect())
    }

    #[test]
    fn an_excerpt_begins_at_a_word_and_is_one_line() {
        let text = format!(
            "{} the needle\n\n  in   the hay {}",
            "before".repeat(9),
            "after ".repeat(90)
        );
        let (line, marked) = shown("needle hay", &text);
        assert!(line.starts_with("the needle in the hay after"), "{line}");
        assert_eq!(marked, ["needle", "hay"]);
        assert!(
            line.ends_with(" after") && line.chars().count() <= EXCERPT_CHARS + 1,
            "{line}"
        );
    }

    #[test]
    fn a_long_word_before_the_place_is_left_out() {
        let (line, marked) = shown("ende", &format!("{}-Ende", "x".repeat(300)));
        assert_eq!((line.as_str(), marked), ("Ende", vec!["Ende".to_owned()]));
        let (line, marked) = shown("京都", "東京都に行く");
        assert_eq!(
            (line.as_str(), marked),
            ("東京都に行く", vec!["京".to_owned(), "都".to_owned()])
        );
    }
}
