//! What a session held at every record: each message once, and what each record changed in the lists
//! of them. So a file tells a session as it was as exactly as a server does.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::id::Seq;
use a_society_facts::message::{Message, Text};
use a_society_facts::view::session::SessionView;
use a_society_facts::view::session::{AnswerDraft, SessionEntry};

use super::limits::TEXT_BYTES_MAX;
use super::scrub::Scrub;
use crate::protocol::exported::{
    Drafted, ExportedTranscript, ListChange, SessionMoment, SessionPart,
};
use crate::protocol::http::TranscriptMessage;
use crate::server::transcript::{Read, message, plain};

/// An entry whose message has a number. The message is held, so that no other takes its place.
struct NumberedEntry {
    message: Arc<Message>,
    told: (Seq, [bool; 4]),
    number: u32,
}

/// What can change of an entry when its message does not.
const fn told(entry: &SessionEntry) -> (Seq, [bool; 4]) {
    let marks = [
        entry.interrupted,
        entry.mismatch,
        entry.blob.is_some(),
        entry.provider_blocks.is_some(),
    ];
    (entry.seq, marks)
}

/// A part of a session, and the numbers of its messages; nothing if they are as they were.
type PastEntries = (SessionPart, Option<Vec<u32>>);

/// How many of the last messages are looked at for what changes in place. A list that went as a whole
/// ends with another message.
const LAST: usize = 64;

/// The tools of a session, with what they were made of.
struct Tools {
    offered: Vec<Text>,
    called: BTreeMap<String, u64>,
    numbers: Vec<u32>,
}

/// A session, record by record.
#[derive(Default)]
pub(super) struct Past {
    messages: Vec<TranscriptMessage>,
    /// The numbers of messages, by what they are.
    numbers: HashMap<String, u32>,
    entries: BTreeMap<String, Vec<NumberedEntry>>,
    lists: BTreeMap<String, Vec<u32>>,
    parts: Vec<SessionPart>,
    prompt: Option<(Text, u32)>,
    /// The tools, with what they were made of.
    tools: Option<Tools>,
    /// The requests: how much was known of each, and its number.
    requests: Vec<(usize, u32)>,
    /// The text that is being streamed: the record that began it, and its number.
    draft: Option<(Seq, u32)>,
    drafted: Option<Drafted>,
    /// The number of that text, if it followed the messages.
    last: Option<u32>,
    moments: Vec<SessionMoment>,
}

impl Past {
    /// Takes the session as it is after a record.
    pub(super) fn hear(&mut self, seq: Seq, read: &Read, whole: &dyn Fn(&Text) -> String) {
        let Some(session) = read.session() else {
            return;
        };
        let drafted = session.draft.as_ref().map(|draft| self.draft(draft));
        let mut lists = self.of_entries(session, read);
        if let Some(text) = &session.system_prompt {
            lists.push((
                part("system", "system", "System prompt"),
                Some(vec![self.prompt(text, whole)]),
            ));
        }
        let tools = self.tools(read, whole);
        let words = "Tools";
        lists.push((part("tools", "tools", words), Some(tools)));
        let requests = self.of_requests(read);
        let words = "Requests";
        lists.push((part("requests", "requests", words), Some(requests)));
        self.changed(seq, lists, drafted);
    }

    /// The tools; their definitions are read again only when they are others.
    fn tools(&mut self, read: &Read, whole: &dyn Fn(&Text) -> String) -> Vec<u32> {
        let (offered, called) = read.tools_known();
        if let Some(known) = &self.tools
            && known.offered == *offered
            && known.called == *called
        {
            return known.numbers.clone();
        }
        let tools = read.tools(whole).into_iter();
        let numbers: Vec<u32> = tools
            .map(|tool| self.number(TranscriptMessage { n: 0, ..tool }))
            .collect();
        self.tools = Some(Tools {
            offered: offered.clone(),
            called: called.clone(),
            numbers: numbers.clone(),
        });
        numbers
    }

    /// Keeps what is not as it was.
    fn changed(&mut self, seq: Seq, lists: Vec<PastEntries>, drafted: Option<Drafted>) {
        let mut set = BTreeMap::new();
        let mut parts = Vec::with_capacity(lists.len());
        for (part, now) in lists {
            parts.push(part.clone());
            let Some(now) = now else {
                continue;
            };
            let before = self.lists.get(&part.id);
            let same = before.map_or(0, |before| {
                let pairs = before.iter().zip(&now);
                pairs.take_while(|(a, b)| a == b).count()
            });
            if before.is_none_or(|before| before.len() != same || now.len() != same) {
                let change = ListChange {
                    same: same as u64,
                    then: now.iter().skip(same).copied().collect(),
                };
                set.insert(part.id.clone(), change);
                self.lists.insert(part.id, now);
            }
        }
        let has_other_parts = parts != self.parts;
        if set.is_empty() && !has_other_parts && drafted == self.drafted {
            return;
        }
        self.moments.push(SessionMoment {
            seq,
            parts: has_other_parts.then(|| parts.clone()),
            set,
            drafted: drafted.clone(),
        });
        (self.parts, self.drafted) = (parts, drafted);
    }

    /// What the session holds, and its archives.
    fn of_entries(&mut self, session: &SessionView, read: &Read) -> Vec<PastEntries> {
        let live = (
            part("live", "live", "What the model sees now"),
            self.live(session, read),
        );
        let mut lists = vec![live];
        for archive in &session.archives {
            let words = archived(archive.compacted_at);
            let numbers = self.entries(&archive.id, &archive.archived_transcript_history, read);
            lists.push((part(&archive.id, "compaction", &words), numbers));
        }
        lists
    }

    /// The messages, and the text that is being streamed behind them; nothing if they are the same.
    fn live(&mut self, session: &SessionView, read: &Read) -> Option<Vec<u32>> {
        let draft = self.draft.filter(|_| session.draft.is_some());
        let last = draft.map(|(_, number)| number);
        let entries = self.entries("live", &session.messages, read);
        if entries.is_none() && last == self.last {
            return None;
        }
        self.last = last;
        let known = self.entries.get("live").into_iter().flatten();
        Some(known.map(|known| known.number).chain(last).collect())
    }

    /// The numbers of these entries; nothing if they are the same. Only those that are new are written.
    fn entries(&mut self, list: &str, entries: &[SessionEntry], read: &Read) -> Option<Vec<u32>> {
        let is_same = |(known, entry): (&NumberedEntry, &SessionEntry)| {
            Arc::ptr_eq(&known.message, &entry.message) && known.told == told(entry)
        };
        if let Some(known) = self.entries.get(list)
            && known.len() == entries.len()
            && known.iter().zip(entries).rev().take(LAST).all(is_same)
        {
            return None;
        }
        let mut known = self.entries.remove(list).unwrap_or_default();
        let pairs = known.iter().zip(entries);
        let same = pairs.take_while(|pair| is_same(*pair)).count();
        known.truncate(same);
        for entry in entries.iter().skip(same) {
            let raw = serde_json::to_value(entry).unwrap_or_default();
            known.push(NumberedEntry {
                message: Arc::clone(&entry.message),
                told: told(entry),
                number: self.number(read.with_cost(message(0, &raw))),
            });
        }
        let numbers = known.iter().map(|known| known.number).collect();
        self.entries.insert(list.to_owned(), known);
        Some(numbers)
    }

    fn of_requests(&mut self, read: &Read) -> Vec<u32> {
        for (n, known) in read.known_of_requests().enumerate() {
            if self
                .requests
                .get(n)
                .is_some_and(|(before, _)| *before == known)
            {
                continue;
            }
            let Some(request) = read.request(n) else {
                continue;
            };
            let now = (known, self.number(TranscriptMessage { n: 0, ..request }));
            match self.requests.get_mut(n) {
                Some(before) => *before = now,
                None => self.requests.push(now),
            }
        }
        self.requests.iter().map(|(_, number)| *number).collect()
    }

    fn prompt(&mut self, text: &Text, whole: &dyn Fn(&Text) -> String) -> u32 {
        if let Some((before, number)) = &self.prompt
            && before == text
        {
            return *number;
        }
        let number = self.number(plain(0, "system", &whole(text)));
        self.prompt = Some((text.clone(), number));
        number
    }

    /// Takes the streamed text as it is now, and returns its length. The file holds only the longest
    /// version of a draft.
    fn draft(&mut self, draft: &AnswerDraft) -> Drafted {
        let raw = serde_json::to_value(draft).unwrap_or_default();
        let now = message(0, &raw);
        let drafted = Drafted {
            chars: draft.text.encode_utf16().count() as u64,
            tokens: now.tokens,
        };
        let before = self.draft.filter(|(seq, _)| *seq == draft.seq);
        let place = before.and_then(|(_, number)| self.messages.get_mut(number as usize));
        match place {
            Some(place) => *place = now,
            None => self.draft = Some((draft.seq, self.push(now))),
        }
        drafted
    }

    /// The number of a message: one that is there already is not written again.
    fn number(&mut self, message: TranscriptMessage) -> u32 {
        let key = serde_json::to_string(&message).unwrap_or_default();
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = self.push(message);
        self.numbers.insert(key, number);
        number
    }

    fn push(&mut self, message: TranscriptMessage) -> u32 {
        let number = u32::try_from(self.messages.len()).unwrap_or(u32::MAX);
        self.messages.push(message);
        number
    }

    /// All of it; nothing, if there was no session.
    pub(super) fn done(&self, scrub: &mut Scrub<'_>) -> Option<ExportedTranscript> {
        if self.moments.is_empty() {
            return None;
        }
        let messages = self.messages.iter();
        let messages = messages.map(|message| bounded(message.clone(), scrub));
        Some(ExportedTranscript {
            messages: messages.collect(),
            moments: self.moments.clone(),
        })
    }
}

/// A message no longer than what a file holds of one text.
fn bounded(mut message: TranscriptMessage, scrub: &mut Scrub<'_>) -> TranscriptMessage {
    message.content = scrub.beginning(&message.content, TEXT_BYTES_MAX);
    message.raw = scrub.short(message.raw, TEXT_BYTES_MAX);
    message
}

fn part(id: &str, kind: &str, words: &str) -> SessionPart {
    SessionPart {
        id: id.to_owned(),
        kind: kind.to_owned(),
        words: words.to_owned(),
    }
}

fn archived(at: At) -> String {
    let at = serde_json::to_value(at).unwrap_or_default();
    format!("Archived {}", at.as_str().unwrap_or_default())
}
