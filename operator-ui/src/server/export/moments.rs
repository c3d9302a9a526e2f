//! What each record changed in the views of a flow, as small as it goes: the page puts together the
//! flow at any event from them, and needs nobody to ask.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::protocol::down::Part;
use crate::protocol::exported::Moment;

/// The views as they stand, and what changed.
#[derive(Debug, Default)]
pub(super) struct Moments {
    last: BTreeMap<String, Value>,
    pub(super) list: Vec<Moment>,
}

impl Moments {
    /// Takes the views that a record changed.
    pub(super) fn hear(&mut self, seq: u64, parts: BTreeMap<String, Option<Part>>) {
        let mut moment = Moment {
            seq,
            set: BTreeMap::new(),
            merge: BTreeMap::new(),
        };
        for (key, part) in parts {
            let Some(now) = part.and_then(|part| serde_json::to_value(part).ok()) else {
                if self.last.remove(&key).is_some() {
                    moment.set.insert(key, Value::Null);
                }
                continue;
            };
            let before = self.last.get(&key);
            if before == Some(&now) {
                continue;
            }
            match before.and_then(Value::as_object).zip(now.as_object()) {
                Some((before, now)) if before.keys().eq(now.keys()) => {
                    moment.merge.insert(key.clone(), differing(before, now));
                }
                Some(_) | None => drop(moment.set.insert(key.clone(), now.clone())),
            }
            self.last.insert(key, now);
        }
        if !moment.set.is_empty() || !moment.merge.is_empty() {
            self.list.push(moment);
        }
    }
}

/// The members that are not what they were.
fn differing(before: &Map<String, Value>, now: &Map<String, Value>) -> BTreeMap<String, Value> {
    let differ = now
        .iter()
        .filter(|(name, value)| before.get(*name) != Some(value));
    differ
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
