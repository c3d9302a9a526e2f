//! A session as its model sees it, now or at some record: what it holds, its archives, its system
//! prompt, what was sent, and what came back.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::Recorded;
use a_society_facts::id::{FlowId, RoleInstance, Seq, TurnId};
use a_society_facts::message::Text;
use a_society_facts::view::FactView;
use a_society_facts::view::route::session_role;
use a_society_facts::view::session::SessionView;
use a_society_facts::view::session::Texts;
use a_society_facts::words::{calls, choices};
use a_society_state::FlowRef;
use serde_json::{Map, Value, json};

use super::blocking::missing;
use super::feed_at::each_upto;
use super::limits::{MESSAGES_MAX, TAKEN_BYTES_MAX, TEXT_BYTES_MAX};
use super::window::Window;
use crate::fold::words;
use crate::hub::Hubs;
use crate::protocol::Fault;
use crate::protocol::http::{AnswerCost, Segment, Transcript, TranscriptMessage};

/// Four bytes make a token, roughly.
const BYTES_A_TOKEN: usize = 4;

/// A request that was sent to a model, as the journal names it, and its result.
struct Sent {
    seq: u64,
    /// When, in milliseconds.
    at_ms: i64,
    at: String,
    raw: Value,
    words: String,
    of: RequestName,
}

/// Which request one is: its turn, the try, and its number within the turn.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RequestName {
    turn: TurnId,
    attempt: u32,
    request: u32,
}

/// A window of a session.
pub(super) fn of(
    hubs: &Hubs,
    flow: &FlowRef,
    role: &str,
    window: &Window,
) -> Result<Transcript, Fault> {
    let role: RoleInstance = role.parse().map_err(|_| unknown())?;
    let read = read(hubs, flow, &role, window.at)?;
    let session = read.session.as_ref().ok_or_else(unknown)?;
    let place = hubs.store.place(flow);
    let prompt = session.system_prompt.as_ref();
    let prompt = prompt.map(|text| place.text_or_beginning(text));
    let lists = lists(session);
    let tools = read.tools(&|text| place.text_or_beginning(text));
    let segments = segments(&lists, prompt.as_deref(), &tools, &read);
    let wanted = window.seg.as_deref().unwrap_or("live");
    let all = messages(wanted, &lists, prompt.as_deref(), tools, &read)?;
    let total = all.len() as u64;
    let from = window.from.unwrap_or(0);
    let limit = window.limit.unwrap_or(MESSAGES_MAX).clamp(1, MESSAGES_MAX);
    let messages = all.into_iter().skip(from).take(limit).collect();
    Ok(Transcript {
        segments,
        messages,
        total,
    })
}

/// A session to take along, as it is on disk, or one archive of it: the name of its file, and
/// its text.
pub(super) fn taken(
    hubs: &Hubs,
    flow: &FlowRef,
    role: &str,
    window: &Window,
) -> Result<(String, String), Fault> {
    let role: RoleInstance = role.parse().map_err(|_| unknown())?;
    let read = read(hubs, flow, &role, window.at)?;
    let session = read.session.as_ref().ok_or_else(unknown)?;
    let mut name = format!("{}-{role}", flow.flow);
    let mut bytes = Vec::new();
    let place = hubs.store.place(flow);
    let read = |hash| place.text_of(hash);
    match window.seg.as_deref() {
        None => session.write_json(&mut bytes, Texts(&read)),
        Some(id) => {
            bytes = session.archive_json(id, Texts(&read)).ok_or_else(no_part)?;
            bytes.push(b'\n');
            name.extend(["-", id]);
        }
    }
    if bytes.len() > TAKEN_BYTES_MAX {
        let why = choices::longer_than(&(TAKEN_BYTES_MAX >> 20).to_string());
        return Err(Fault {
            code: "too-long".to_owned(),
            what: "the session was not written".to_owned(),
            why,
            r#try: format!("a-society session export {} {role}", flow.flow),
        });
    }
    name.extend(window.at.map(|at| format!("-at-{at}")));
    name.push_str("-transcript.json");
    let text = String::from_utf8(bytes).map_err(|_| no_part())?;
    Ok((name, text))
}

fn unknown() -> Fault {
    missing(
        "there is no such session",
        "no role of the flow bears that name",
    )
}

fn no_part() -> Fault {
    Fault {
        code: "part-not-found".to_owned(),
        ..missing(
            "there is no such part of the session",
            "its parts are listed with it",
        )
    }
}

/// The parts of a session.
fn segments(
    lists: &[MessageList],
    prompt: Option<&str>,
    tools: &[TranscriptMessage],
    read: &Read,
) -> Vec<Segment> {
    let segment = |id: &str, kind: &str, words: &str, messages: usize, tokens: u64| Segment {
        id: id.to_owned(),
        kind: kind.to_owned(),
        words: words.to_owned(),
        messages: messages as u64,
        tokens,
        from: None,
        to: None,
    };
    let mut segments = Vec::new();
    for (id, kind, words, messages) in lists {
        let size = messages.iter().map(|message| tokens(&message.to_string()));
        let mut said = messages.iter().filter_map(|message| message.get("at"));
        let moment = |at: Option<&Value>| at.and_then(Value::as_str).map(str::to_owned);
        let from = moment(said.next());
        segments.push(Segment {
            to: moment(said.next_back()).or_else(|| from.clone()),
            from,
            ..segment(id, kind, words, messages.len(), size.sum())
        });
    }
    segments.extend(
        prompt.map(|prompt| segment("system", "system", "System prompt", 1, tokens(prompt))),
    );
    let size = tools.iter().map(|tool| tool.tokens).sum();
    segments.push(segment("tools", "tools", "Tools", tools.len(), size));
    let sent = read.sent.len();
    segments.push(segment("requests", "requests", "Requests", sent, 0));
    segments
}

/// The messages of one part.
fn messages(
    wanted: &str,
    lists: &[MessageList],
    prompt: Option<&str>,
    tools: Vec<TranscriptMessage>,
    read: &Read,
) -> Result<Vec<TranscriptMessage>, Fault> {
    Ok(match wanted {
        "system" => prompt
            .iter()
            .map(|prompt| plain(0, "system", prompt))
            .collect(),
        "tools" => tools,
        "requests" => (0..read.sent.len())
            .filter_map(|n| read.request(n))
            .collect(),
        other => {
            let list = lists.iter().find(|(id, ..)| id == other);
            let list = list.ok_or_else(no_part)?;
            let each = list.3.iter().enumerate();
            each.map(|(n, raw)| read.with_cost(message(n, raw)))
                .collect()
        }
    })
}

/// What the journal tells of a session.
#[derive(Default)]
pub(super) struct Read {
    session: Option<SessionView>,
    sent: Vec<Sent>,
    /// How often each tool was called.
    called: BTreeMap<String, u64>,
    /// The definitions that were sent with the last request, as lists of JSON.
    offered: Vec<Text>,
    /// What each answer took, by its record.
    costs: BTreeMap<Seq, AnswerCost>,
}

fn read(hubs: &Hubs, flow: &FlowRef, role: &RoleInstance, at: Option<Seq>) -> Result<Read, Fault> {
    let mut read = Read::default();
    each_upto(hubs, flow, at, &mut |recorded| {
        read.hear(&flow.flow, role, recorded);
    })?;
    Ok(read)
}

impl Read {
    /// Takes the next fact, if it is about the session of this role.
    pub(super) fn hear(&mut self, flow: &FlowId, role: &RoleInstance, recorded: &Recorded) {
        let Some(fact) = recorded.fact() else { return };
        if let Fact::ModelRequested(f) = fact
            && f.role == *role
        {
            // Without one it is made of what the last one was made of.
            if let Some(frame) = &f.frame
                && frame.beside.is_none()
            {
                self.offered.clone_from(&frame.tools);
            }
            let words = format!("Request {} of turn {} to {}", f.request, f.turn.0, f.model);
            self.sent.push(Sent {
                seq: recorded.seq,
                at_ms: recorded.at.ms(),
                at: words::at(recorded.at),
                words,
                raw: json!({
                    "turn": f.turn,
                    "attempt": f.attempt,
                    "request": f.request,
                    "model": f.model,
                    "hash": f.hash,
                }),
                of: RequestName {
                    turn: f.turn,
                    attempt: f.attempt,
                    request: f.request,
                },
            });
        }
        self.hear_back(role, recorded, fact);
        if let Fact::CallIntended(f) = fact
            && f.role == *role
        {
            *self.called.entry(f.tool.clone()).or_default() += 1;
        }
        if session_role(fact) == Some(role) {
            let new = || SessionView::new(role.clone(), Some(flow.clone()));
            self.session.get_or_insert_with(new).apply(recorded);
        }
    }

    /// Takes what came back for a request.
    fn hear_back(&mut self, role: &RoleInstance, recorded: &Recorded, fact: &Fact) {
        if let Fact::ModelFailed(f) = fact
            && f.role == *role
            && let Some(sent) = self.sent_as(f.turn, f.attempt, f.request)
        {
            let why = calls::failure(&f.class).unwrap_or(&f.class);
            sent.words.extend([format!(", failed: {why}")]);
            let failed = json!({"class": f.class, "what": why, "error": f.error, "retry_in_ms": f.retry_in_ms});
            add(&mut sent.raw, "failed", failed);
        }
        if let Fact::ModelAnswered(f) = fact
            && f.role == *role
            && let Some(sent) = self.sent_as(f.turn, f.attempt, f.request)
        {
            let answered = json!({"message": f.message, "stop": f.stop, "usage": f.usage});
            add(&mut sent.raw, "answered", answered);
            let cached_tokens = f.usage.cache_read_tokens;
            let cost = AnswerCost {
                ms: u64::try_from(recorded.at.ms() - sent.at_ms).unwrap_or_default(),
                input_tokens: f.usage.input_tokens + f.usage.cache_write_tokens + cached_tokens,
                cached_tokens,
                output_tokens: f.usage.output_tokens,
            };
            self.costs.insert(recorded.seq, cost);
        }
    }

    fn sent_as(&mut self, turn: TurnId, attempt: u32, request: u32) -> Option<&mut Sent> {
        let of = RequestName {
            turn,
            attempt,
            request,
        };
        self.sent.iter_mut().rev().find(|sent| sent.of == of)
    }

    /// The records of its requests.
    pub(super) fn sent(&self) -> impl Iterator<Item = Seq> {
        self.sent.iter().map(|sent| sent.seq)
    }

    /// The session, if there is one.
    pub(super) const fn session(&self) -> Option<&SessionView> {
        self.session.as_ref()
    }

    /// A message, with what it took where it is an answer.
    pub(super) fn with_cost(&self, message: TranscriptMessage) -> TranscriptMessage {
        let took = message.seq.and_then(|seq| self.costs.get(&seq)).cloned();
        TranscriptMessage { took, ..message }
    }

    /// What tells whether the tools are as they were.
    pub(super) const fn tools_known(&self) -> (&Vec<Text>, &BTreeMap<String, u64>) {
        (&self.offered, &self.called)
    }

    /// The tools that are sent with every turn, with how often each was called, and those that were called and
    /// are sent no more.
    pub(super) fn tools(&self, whole: &dyn Fn(&Text) -> String) -> Vec<TranscriptMessage> {
        let lists = self.offered.iter().map(whole);
        let offered = lists.flat_map(|list| -> Vec<Value> {
            // A list that is lost leaves the names of those that were called.
            serde_json::from_str(&list).unwrap_or_default()
        });
        let mut left = self.called.clone();
        let mut tools = Vec::new();
        for definition in offered {
            let name = definition.get("name").and_then(Value::as_str);
            let Some(name) = name.map(str::to_owned) else {
                continue;
            };
            let called = left.remove(&name).unwrap_or_default();
            let size = tokens(&definition.to_string());
            tools.push(TranscriptMessage {
                tokens: size,
                raw: definition,
                ..plain(tools.len(), "tool", &calls(&name, called))
            });
        }
        for (name, called) in left {
            let words = format!("{}, not sent any more", calls(&name, called));
            tools.push(TranscriptMessage {
                tokens: 0,
                ..plain(tools.len(), "tool", &words)
            });
        }
        tools
    }

    /// How much is known of each request: it grows with what comes back.
    pub(super) fn known_of_requests(&self) -> impl Iterator<Item = usize> {
        let members = |sent: &Sent| sent.raw.as_object().map_or(0, Map::len);
        self.sent
            .iter()
            .map(move |sent| sent.words.len() + members(sent))
    }

    /// A request, by its place.
    pub(super) fn request(&self, n: usize) -> Option<TranscriptMessage> {
        let sent = self.sent.get(n)?;
        Some(TranscriptMessage {
            at: Some(sent.at.clone()),
            seq: Some(sent.seq),
            raw: sent.raw.clone(),
            ..plain(n, "request", &sent.words)
        })
    }
}

fn calls(tool: &str, times: u64) -> String {
    match times {
        0 => format!("{tool}: not called"),
        1 => format!("{tool}: called once"),
        times => format!("{tool}: called {times} times"),
    }
}

fn add(to: &mut Value, name: &str, what: Value) {
    if let Some(members) = to.as_object_mut() {
        members.insert(name.to_owned(), what);
    }
}

type MessageList = (String, &'static str, String, Vec<Value>);

/// The messages that the session holds, and those of each archive.
fn lists(session: &SessionView) -> Vec<MessageList> {
    let mut written = Vec::new();
    // A window shows where the rest of a long text is; who wants all of it takes the session along.
    session.write_json(&mut written, Texts::BEGINNINGS);
    let view: Value = serde_json::from_slice(&written).unwrap_or_default();
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let live = array(view.get("transcriptHistory").unwrap_or(&Value::Null));
    let mut lists = vec![(
        "live".to_owned(),
        "live",
        "What the model sees now".to_owned(),
        live,
    )];
    for archive in array(view.get("compactionArchives").unwrap_or(&Value::Null)) {
        let text = |member| archive.get(member).and_then(Value::as_str);
        let id = text("id").unwrap_or_default().to_owned();
        let at = text("compactedAt").unwrap_or_default();
        let messages = archive.get("archivedTranscriptHistory");
        let messages = array(messages.unwrap_or(&Value::Null));
        lists.push((id, "compaction", format!("Archived {at}"), messages));
    }
    lists
}

fn tokens(text: &str) -> u64 {
    text.len().div_ceil(BYTES_A_TOKEN) as u64
}

pub(super) fn plain(n: usize, kind: &str, content: &str) -> TranscriptMessage {
    TranscriptMessage {
        n: n as u64,
        kind: kind.to_owned(),
        content: words::beginning(content, TEXT_BYTES_MAX).to_owned(),
        tokens: tokens(content),
        at: None,
        seq: None,
        raw: Value::Null,
        took: None,
    }
}

pub(super) fn message(n: usize, raw: &Value) -> TranscriptMessage {
    let kind = raw.get("role").and_then(Value::as_str).unwrap_or("message");
    let said = raw
        .get("content")
        .or_else(|| raw.get("text"))
        .and_then(Value::as_str);
    let calls = raw.get("calls").map(ToString::to_string);
    let content = said
        .map(str::to_owned)
        .or(calls)
        .unwrap_or_else(|| raw.to_string());
    TranscriptMessage {
        tokens: tokens(&raw.to_string()),
        raw: raw.clone(),
        at: raw.get("at").and_then(Value::as_str).map(str::to_owned),
        seq: raw.get("seq").and_then(Value::as_u64),
        ..plain(n, kind, &content)
    }
}
