//! The commands of clients that already counted, so that a repeated one does not count again.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{ClientId, Seq};
use crate::limits::CLIENT_IDS_MAX;

/// The last commands, each with the record it led to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeenCommands {
    by_id: BTreeMap<ClientId, Seq>,
    /// The same ids, oldest first, so that the oldest can be forgotten.
    order: VecDeque<ClientId>,
}

impl SeenCommands {
    /// The record a command led to, if it is remembered.
    #[must_use]
    pub fn get(&self, client: &ClientId) -> Option<Seq> {
        self.by_id.get(client).copied()
    }

    /// How many are remembered.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn add(&mut self, client: &ClientId, seq: Seq) {
        if self.by_id.insert(client.clone(), seq).is_some() {
            return;
        }
        self.order.push_back(client.clone());
        if self.order.len() > CLIENT_IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }
}

impl Serialize for SeenCommands {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pair = |id| (id, self.get(id).unwrap_or(0));
        serializer.collect_seq(self.order.iter().map(pair))
    }
}

impl<'de> Deserialize<'de> for SeenCommands {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(ClientId, Seq)>::deserialize(deserializer)?;
        let mut seen = Self::default();
        for (client, seq) in &pairs {
            seen.add(client, *seq);
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_commands_are_forgotten_first() {
        let mut seen = SeenCommands::default();
        for number in 0..=CLIENT_IDS_MAX as u64 {
            seen.add(&format!("c{number}").parse().unwrap(), number);
        }
        assert_eq!(seen.len(), CLIENT_IDS_MAX);
        assert_eq!(seen.get(&"c0".parse().unwrap()), None);
        assert_eq!(seen.get(&"c1".parse().unwrap()), Some(1));
        let json = serde_json::to_string(&seen).unwrap();
        assert_eq!(serde_json::from_str::<SeenCommands>(&json).unwrap(), seen);
    }
}
