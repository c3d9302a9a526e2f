//! The whole texts of items: what the facts that made them say.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::turn::{CallFinished, CallIntended, ModelAnswered};
use a_society_facts::id::{CallId, RoleInstance, Seq};
use a_society_facts::message::{AnswerText, Text};
use a_society_facts::view::route::feed_role;
use a_society_facts::view::{FactView, feed::FeedView, flow::FlowState};
use a_society_facts::{Hash, Recorded};
use a_society_state::FlowRef;
use serde_json::value::RawValue;

use super::limits::TEXT_BYTES_MAX;
use crate::fold::edit::{Edit, several};
use crate::fold::feed::wire_id;
use crate::fold::limits::EDITED_FILES_MAX;
use crate::fold::lines::Bounds;
use crate::fold::words;
use crate::hub::Hubs;
use crate::protocol::ask::Diff;
use crate::protocol::http::BodyParts;

/// The texts of items, by the record that began each.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    told: BTreeMap<Seq, ItemFacts>,
    /// The items of calls.
    calls: BTreeMap<CallId, Seq>,
    /// What the last answer of each role wants, by the id of the call.
    asked: BTreeMap<RoleInstance, BTreeMap<String, Box<RawValue>>>,
    feeds: BTreeMap<RoleInstance, FeedView>,
}

/// What the facts say that made an item.
#[derive(Debug, Default)]
struct ItemFacts {
    role: Option<RoleInstance>,
    arguments_hash: Option<Hash>,
    arguments: Option<serde_json::Value>,
    edits: Vec<Edit>,
    result: Option<Text>,
    said: Option<Text>,
}

/// A whole item.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) parts: Option<BodyParts>,
}

impl Bodies {
    /// Takes the next fact, before the flow has taken it, if the item that it begins is wanted.
    pub(super) fn hear(
        &mut self,
        flow: &FlowState,
        recorded: &Recorded,
        wanted: &dyn Fn(Seq) -> bool,
    ) {
        let Some(fact) = recorded.fact() else { return };
        self.facts(recorded.seq, fact, wanted(recorded.seq));
        if let Some(role) = feed_role(flow, fact) {
            if wanted(recorded.seq) {
                self.told.entry(recorded.seq).or_default().role = Some(role.clone());
            }
            self.feeds.entry(role.clone()).or_default().apply(recorded);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts say all they have in the item itself"
    )]
    fn facts(&mut self, seq: Seq, fact: &Fact, begins: bool) {
        match fact {
            Fact::ModelAnswered(f) => self.answered(seq, f, begins),
            Fact::CallIntended(f) if begins => self.intended(seq, f),
            Fact::CallFinished(f) => self.finished(f),
            Fact::MessageAdded(f) if begins => {
                self.told.entry(seq).or_default().said = Some(f.text.clone());
            }
            _ => {}
        }
    }

    fn answered(&mut self, seq: Seq, f: &ModelAnswered, begins: bool) {
        // Only the calls of the last answer can begin next.
        let calls = f.calls.iter();
        let asked = calls.map(|call| (call.id.clone(), call.input.clone()));
        self.asked.insert(f.role.clone(), asked.collect());
        if begins && let AnswerText::Inline(text) = &f.text {
            self.told.entry(seq).or_default().said = Some(Text::Inline(text.clone()));
        }
    }

    fn intended(&mut self, seq: Seq, f: &CallIntended) {
        let asked = self.asked.get(&f.role);
        let asked = asked.and_then(|asked| asked.get(&f.tool_call));
        let told = self.told.entry(seq).or_default();
        told.arguments_hash = Some(f.arguments);
        told.edits = asked.map_or_else(Vec::new, |asked| Edit::each(f, asked.get()));
        told.arguments = asked.and_then(|asked| serde_json::from_str(asked.get()).ok());
        self.calls.insert(f.call.clone(), seq);
    }

    fn finished(&mut self, f: &CallFinished) {
        let item = self.calls.get(&f.call);
        if let Some(told) = item.and_then(|seq| self.told.get_mut(seq)) {
            told.result = Some(f.output.clone());
        }
    }

    /// The items of a role as its feed has them, with all of their texts.
    pub(super) fn texts(&self, role: &RoleInstance) -> BTreeMap<String, &str> {
        let items = self.feeds.get(role).into_iter().flat_map(FeedView::items);
        items
            .map(|item| (wire_id(item), item.text.as_str()))
            .collect()
    }

    /// An item, whole.
    pub(super) fn whole(
        &self,
        hubs: &Hubs,
        flow: &FlowRef,
        first: Seq,
        id: &str,
        bounds: &Bounds,
    ) -> Option<Whole> {
        let role = self.told.get(&first)?.role.as_ref()?;
        let mut items = self.feeds.get(role)?.items();
        let item = items.find(|item| wire_id(item) == id)?;
        Some(self.of(hubs, flow, first, &item.text, bounds))
    }

    /// An item whose text in its feed is this, whole.
    pub(super) fn of(
        &self,
        hubs: &Hubs,
        flow: &FlowRef,
        first: Seq,
        in_feed: &str,
        bounds: &Bounds,
    ) -> Whole {
        let Some(told) = self.told.get(&first) else {
            let text = in_feed.to_owned();
            return Whole { text, parts: None };
        };
        let place = hubs.store.place(flow);
        let whole = |text: &Text| place.text_or_beginning(text);
        let kept = |hash: Hash| place.whole_blob(hash).ok();
        let text = told.result.as_ref().or(told.said.as_ref());
        let text = text.map_or_else(|| in_feed.to_owned(), whole);
        let arguments = told
            .arguments
            .clone()
            .or_else(|| serde_json::from_slice(&kept(told.arguments_hash?)?).ok());
        let text_of = |hash: Hash| match hash {
            // What a file holds that is removed.
            hash if hash == Hash::of(b"") => Some(String::new()),
            hash => String::from_utf8(kept(hash)?).ok(),
        };
        let (one, each) = match several(&told.edits) {
            true => (None, told.edits.iter().take(EDITED_FILES_MAX)),
            false => (told.edits.first(), told.edits.iter().take(0)),
        };
        let diffs: Vec<Diff> = each
            .map(|edit| edit.compared_with(&text_of, bounds).0)
            .collect();
        let parts = (arguments.is_some() || told.result.is_some()).then(|| BodyParts {
            arguments,
            result: told
                .result
                .as_ref()
                .map(|text| words::beginning(&whole(text), TEXT_BYTES_MAX).to_owned()),
            diff: one.map(|edit| edit.compared_with(&text_of, bounds).0),
            diffs: (!diffs.is_empty()).then_some(diffs),
        });
        Whole { text, parts }
    }
}
