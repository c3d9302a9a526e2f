//! Reads a flow once, and keeps what a file shows of it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use a_society_facts::Fact;
use a_society_facts::Recorded;
use a_society_facts::id::RoleInstance;
use a_society_facts::message::Text;
use a_society_facts::view::route::session_role;
use a_society_state::FlowRef;

use super::limits::JOURNAL_BYTES_MAX;
use super::moments::Moments;
use super::past::Past;
use super::wanted::Failed;
use crate::fold::flow::assembled;
use crate::fold::track::Tracker;
use crate::fold::{FlowFold, Liveness, row, words};
use crate::hub::Hubs;
use crate::hub::flow::wire_ref;
use crate::protocol::exported::Moment;
use crate::protocol::feed::Item;
use crate::protocol::flow::FlowState;
use crate::protocol::http::{Event, Track};
use crate::protocol::row::{DrivenBy, FlowRow};
use crate::server::blocking::{missing, unread};
use crate::server::bodies::Bodies;
use crate::server::transcript::Read;

/// How many facts are folded before their items are taken.
const FACTS_AT_ONCE: u64 = 500;

/// What a file shows of a flow.
pub(super) struct Gathered {
    pub(super) seq: u64,
    pub(super) epoch: String,
    pub(super) row: FlowRow,
    pub(super) state: FlowState,
    pub(super) track: Track,
    pub(super) moments: Vec<Moment>,
    /// The items of each role, by their place.
    pub(super) feeds: BTreeMap<RoleInstance, BTreeMap<u64, Item>>,
    pub(super) bodies: Bodies,
    pub(super) sessions: BTreeMap<RoleInstance, (Read, Past)>,
    pub(super) events: Vec<Event>,
}

struct Gatherer<'a> {
    flow: &'a FlowRef,
    fold: FlowFold,
    tracker: Tracker,
    moments: Moments,
    feeds: BTreeMap<RoleInstance, BTreeMap<u64, Item>>,
    bodies: Bodies,
    sessions: BTreeMap<RoleInstance, (Read, Past)>,
    events: Vec<Event>,
    facts: u64,
    bytes: u64,
}

/// Reads a flow.
pub(super) fn gather(hubs: &Hubs, flow: &FlowRef) -> Result<Gathered, Failed> {
    let place = hubs.store.place(flow);
    let read = |text: &Text| place.text_or_beginning(text);
    let mut fold = hubs.fold_of(flow);
    // Past states are rendered as those of a live flow.
    fold.driven(Liveness {
        driven_by: Some(DrivenBy::Server),
        holder: None,
    });
    let mut gatherer = Gatherer {
        flow,
        fold,
        tracker: Tracker::new(wire_ref(flow)),
        moments: Moments::default(),
        feeds: BTreeMap::new(),
        bodies: Bodies::default(),
        sessions: BTreeMap::new(),
        events: Vec::new(),
        facts: 0,
        bytes: 0,
    };
    let mut follower = hubs.store.follow(flow).map_err(|error| unread(&error))?;
    let read_all = follower.read_lines(&mut |recorded, line| {
        gatherer.bytes += line.len() as u64;
        if gatherer.bytes > JOURNAL_BYTES_MAX {
            return ControlFlow::Break(());
        }
        gatherer.hear(recorded, line, &read);
        ControlFlow::Continue(())
    });
    if gatherer.bytes > JOURNAL_BYTES_MAX {
        return Err(Failed::TooLong);
    }
    match read_all {
        // What is good before some damage is shown; the flow's row shows that there is damage.
        Ok(_) | Err(a_society_state::Error::Damaged(_)) => gatherer.done(hubs),
        Err(error) => Err(unread(&error).into()),
    }
}

impl Gatherer<'_> {
    fn hear(&mut self, recorded: &Recorded, line: &[u8], read: &dyn Fn(&Text) -> String) {
        let text = String::from_utf8_lossy(line);
        let mut line = text.trim_end().to_owned();
        if let Some(Fact::DraftAdded(f)) = recorded.fact() {
            // A secret that streams may be in two pieces; in the feed it is whole, and is found.
            let whole = format!("[{} bytes of streamed text]", f.text.len());
            line = with_text(&line, whole);
        }
        self.events.push(Event {
            seq: recorded.seq,
            at: words::at(recorded.at),
            fact: recorded.word().to_owned(),
            line,
        });
        self.bodies.hear(self.fold.state(), recorded, &|_| true);
        self.tracker.hear(recorded, read);
        self.fold.apply(recorded, read);
        self.facts += 1;
        if self.facts.is_multiple_of(FACTS_AT_ONCE) || self.fold.is_full() {
            self.take_feeds();
        }
        let Some(fact) = recorded.fact() else { return };
        if let Some(role) = session_role(fact).or(asking(fact)) {
            let (session, past) = self.sessions.entry(role.clone()).or_default();
            session.hear(&self.flow.flow, role, recorded);
            past.hear(recorded.seq, session, read);
        }
        // Streamed text moves no view.
        if !matches!(fact, Fact::DraftAdded(_)) {
            self.moments.hear(recorded.seq, self.fold.take());
        }
    }

    fn take_feeds(&mut self) {
        for (role, _, change) in self.fold.take_feeds() {
            let feed = self.feeds.entry(role).or_default();
            feed.extend(change.items);
        }
    }

    fn done(mut self, hubs: &Hubs) -> Result<Gathered, Failed> {
        self.take_feeds();
        let liveness = hubs.liveness(self.flow);
        let driven_by = liveness.driven_by;
        self.fold.driven(liveness);
        let row = row::row(&wire_ref(self.flow), self.fold.state(), driven_by);
        let nothing = || {
            let why = "its journal holds nothing that can be shown";
            missing("nothing is known of the flow", why)
        };
        let state = assembled(self.fold.whole()).ok_or_else(nothing)?;
        let track = self.tracker.done();
        Ok(Gathered {
            seq: track.head,
            epoch: self.fold.epoch(),
            row,
            state,
            track,
            moments: self.moments.list,
            feeds: self.feeds,
            bodies: self.bodies,
            sessions: self.sessions,
            events: self.events,
        })
    }
}

/// A line with another text in it.
fn with_text(line: &str, text: String) -> String {
    let Ok(serde_json::Value::Object(mut members)) = serde_json::from_str(line) else {
        return text;
    };
    members.insert("text".to_owned(), text.into());
    serde_json::Value::Object(members).to_string()
}

/// Whose request or call a fact is, which no session keeps.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other facts are of sessions, or of none"
)]
const fn asking(fact: &Fact) -> Option<&RoleInstance> {
    match fact {
        Fact::ModelRequested(f) => Some(&f.role),
        Fact::ModelFailed(f) => Some(&f.role),
        Fact::CallIntended(f) => Some(&f.role),
        _ => None,
    }
}
