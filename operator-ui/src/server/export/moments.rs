//! What each record changed in the views of a flow, as compact as possible: the page computes the flow
//! at any event from them, without a server.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::protocol::down::Part;
use crate::protocol::exported::Moment;

/// The present views, and what changed.
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
            let now = part.and_then(|part| serde_json::to_value(part).ok());
            let Some(now) = now else {
                if self.last.remove(&key).is_some() {
                    moment.set.insert(key, Value::Null);
                }
                continue;
            };
            match (self.last.get(&key), &now) {
                (Some(Value::Object(before)), Value::Object(now))
                    if before.keys().eq(now.keys()) =>
                {
                    let differs = now
                        .iter()
                        .filter(|(name, value)| before.get(*name) != Some(value));
                    let differs = differs.map(|(name, value)| (name.clone(), value.clone()));
                    let differs: BTreeMap<String, Value> = differs.collect();
                    if !differs.is_empty() {
                        moment.merge.insert(key.clone(), differs);
                    }
                }
                (Some(before), now) if before == now => {}
                // The order of the graph is a list, and is written whole.
                (Some(_) | None, now) => drop(moment.set.insert(key.clone(), now.clone())),
            }
            self.last.insert(key, now);
        }
        if !moment.set.is_empty() || !moment.merge.is_empty() {
            self.list.push(moment);
        }
    }
}
