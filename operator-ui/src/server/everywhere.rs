//! Words in all sessions: the same search as the terminal's, through the same index, as places that a page goes to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Builder;

use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::Message;
use a_society_facts::view::route::session_role;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_orchestrator::sessions::search::{MessageFound, SessionSearch, find};
use a_society_state::FlowRef;
use a_society_state::search::{SaidBy, SearchTerms, SearchWords, UpdateStep, index};

use super::app::Shared;
use super::blocking::unread;
use super::feed_at::each_upto;
use super::limits::{
    FOUND_IN_A_SESSION_MAX, FOUND_SESSIONS_MAX, INDEXING_US_MAX, SENT_RECORDS_MAX,
};
use super::search::without_marks;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::http::{Hit, Hits, SentPart};

/// A message that was found, with its flow and the role in whose session it is.
struct FoundPlace {
    flow: FlowRef,
    role: Option<RoleInstance>,
    message: MessageFound,
}

/// What is found in all flows, session by session.
pub(super) fn of(app: &Shared, query: &str) -> Result<Hits, Fault> {
    let mut hits = Hits {
        hits: Vec::new(),
        truncated: false,
    };
    let Ok(words) = SearchWords::typed(query) else {
        return Ok(hits);
    };
    let asked = SessionSearch {
        words: &words,
        project: None,
        role: None,
        kinds: &[],
        sessions: FOUND_SESSIONS_MAX,
        messages: FOUND_IN_A_SESSION_MAX,
        readable: Some(without_marks),
    };
    let clock = &app.hubs.store.ground().clock;
    let begun_us = clock.elapsed_us();
    // The page waits for what it finds, and types on meanwhile.
    let mut goes_on = |_| clock.elapsed_us().saturating_sub(begun_us) < INDEXING_US_MAX;
    let found = find(&app.hubs.store, &asked, &mut goes_on).map_err(|error| unread(&error))?;
    if found.behind > 0 {
        index_on(app);
    }
    hits.truncated = found.cut || found.behind > 0 || found.left_out > 0;
    let mut places: Vec<FoundPlace> = Vec::new();
    for session in found.sessions {
        hits.truncated |= session.more > 0;
        let (Ok(project), Ok(flow)) = (session.project.parse(), session.flow_id.parse()) else {
            continue;
        };
        let flow = FlowRef { project, flow };
        let role: Option<RoleInstance> = session.role.and_then(|role| role.parse().ok());
        let messages = session.messages.into_iter();
        places.extend(messages.map(|message| FoundPlace {
            flow: flow.clone(),
            role: role.clone(),
            message,
        }));
    }
    let sent = sent_parts(app, &places);
    let each = places.into_iter().zip(sent);
    hits.hits = each.map(|(place, sent)| hit(place, sent)).collect();
    Ok(hits)
}

fn hit(place: FoundPlace, sent: Option<SentPart>) -> Hit {
    let is_title = place.message.by == SaidBy::Title;
    Hit {
        flow: wire_ref(&place.flow),
        role: place.role.map(|role| role.to_string()),
        seq: place.message.seq,
        item: None,
        snippet: place.message.excerpt,
        at: (!is_title).then(|| words::at(place.message.at)),
        sent,
    }
}

/// Where in the sessions of their roles the messages are that no model wrote. Sessions are folded for it, from as many
/// records as are read at once; the others are shown in the feed.
fn sent_parts(app: &Shared, places: &[FoundPlace]) -> Vec<Option<SentPart>> {
    let mut parts: Vec<Option<SentPart>> = places.iter().map(|_| None).collect();
    let is_sent = |place: &FoundPlace| matches!(place.message.by, SaidBy::User | SaidBy::System);
    let mut flows: Vec<&FlowRef> = Vec::new();
    for place in places.iter().filter(|place| is_sent(place)) {
        if !flows.contains(&&place.flow) {
            flows.push(&place.flow);
        }
    }
    let mut records = 0;
    for flow in flows {
        let Ok(look) = app.hubs.store.look(flow) else {
            continue;
        };
        records += look.screen.flow.seq;
        if records > SENT_RECORDS_MAX {
            break;
        }
        let sessions = folded(app, flow);
        for (place, part) in places.iter().zip(&mut parts) {
            if place.flow == *flow && is_sent(place) {
                let session = place.role.as_ref().and_then(|role| sessions.get(role));
                *part = session.and_then(|session| part_of(session, &place.message));
            }
        }
    }
    parts
}

fn folded(app: &Shared, flow: &FlowRef) -> BTreeMap<RoleInstance, SessionView> {
    let mut sessions: BTreeMap<RoleInstance, SessionView> = BTreeMap::new();
    let read = each_upto(&app.hubs, flow, None, &mut |recorded| {
        let Some(role) = recorded.fact().and_then(session_role) else {
            return;
        };
        let new = || SessionView::new(role.clone(), Some(flow.flow.clone()));
        sessions
            .entry(role.clone())
            .or_insert_with(new)
            .apply(recorded);
    });
    // What comes before a fault has its place.
    drop(read);
    sessions
}

fn part_of(session: &SessionView, message: &MessageFound) -> Option<SentPart> {
    if message.by == SaidBy::System {
        return Some(SentPart {
            seg: "system".to_owned(),
            n: 0,
        });
    }
    let seq: Seq = message.seq;
    let archives = session.archives.iter();
    let lists = archives
        .map(|archive| (archive.id.as_str(), &archive.archived_transcript_history))
        .chain([("live", &session.messages)]);
    let mut found = lists.filter_map(|(seg, messages)| {
        let mut entries = messages.iter().enumerate();
        let is_it = |entry: &a_society_facts::view::session::SessionEntry| {
            entry.seq == seq && matches!(&*entry.message, Message::User { .. })
        };
        let (n, _) = entries.find(|(_, entry)| is_it(entry))?;
        Some(SentPart {
            seg: seg.to_owned(),
            n: n as u64,
        })
    });
    found.next()
}

/// Indexes to the end beside whatever is asked meanwhile, unless that is done already.
fn index_on(app: &Shared) {
    if app.indexes.swap(true, Ordering::AcqRel) {
        return;
    }
    let of_thread = Arc::clone(app);
    let begun = Builder::new().name("index".to_owned()).spawn(move || {
        // Where there can be none, the journals are read.
        drop(index(&of_thread.hubs.store, &mut ToTheEnd));
        of_thread.indexes.store(false, Ordering::Release);
    });
    if begun.is_err() {
        app.indexes.store(false, Ordering::Release);
    }
}

struct ToTheEnd;

impl SearchTerms for ToTheEnd {
    fn goes_on(&mut self, _: UpdateStep) -> bool {
        true
    }

    fn wants(&mut self, _: &FlowRef, _: Option<&RoleInstance>) -> bool {
        true
    }
}
