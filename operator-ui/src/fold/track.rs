//! The track of a flow: the changes of each node's state, and all else that a time strip shows.
//! Scrubbing is then a search in the browser, without a request.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::Recorded;
use a_society_facts::fact::columns::FactWeight;
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::Text;

use super::limits::TRACK_CLOCK_MAX;
use super::{FlowFold, Liveness};
use crate::protocol::down::Part;
use crate::protocol::flow::NodeState;
use crate::protocol::http::{MarkKind, Track, TrackHop, TrackKind, TrackMark, TrackTurn};
use crate::protocol::row::{DrivenBy, FlowRef};

/// The track of a flow as its facts come.
pub(crate) struct Tracker {
    fold: FlowFold,
    track: Track,
    /// The state of each node, and the open bars by role.
    last: BTreeMap<String, (NodeState, bool)>,
    open: BTreeMap<String, usize>,
    clock: Vec<(u64, i64)>,
    /// The last record, and when it was.
    before: Option<(u64, i64)>,
    facts: u64,
}

impl Tracker {
    /// Before the first fact of this flow.
    pub(crate) fn new(flow: FlowRef) -> Self {
        let mut fold = FlowFold::new(flow, Vec::new());
        // A track shows what happened as in a live flow.
        fold.driven(Liveness {
            driven_by: Some(DrivenBy::Server),
            holder: None,
        });
        Self {
            fold,
            track: Track {
                head: 0,
                at: Vec::new(),
                nodes: BTreeMap::new(),
                turns: Vec::new(),
                hops: Vec::new(),
                marks: Vec::new(),
            },
            last: BTreeMap::new(),
            open: BTreeMap::new(),
            clock: Vec::new(),
            before: None,
            facts: 0,
        }
    }

    /// Takes the next fact.
    pub(crate) fn hear(&mut self, recorded: &Recorded, read: &dyn Fn(&Text) -> String) {
        self.track.head = recorded.seq;
        let ms = recorded.at.ms();
        if self
            .clock
            .last()
            .is_none_or(|(_, at)| (*at - ms).abs() >= 100)
        {
            // Between two moments time is taken to pass evenly; before a pause it did not pass.
            if self.before.is_some() && self.before != self.clock.last().copied() {
                self.clock.extend(self.before);
            }
            self.clock.push((recorded.seq, ms));
        }
        let before = self.before.replace((recorded.seq, ms));
        self.facts += 1;
        if self.facts.is_multiple_of(1_000) {
            drop(self.fold.take_feeds());
        }
        self.fold.apply(recorded, read);
        let Some(fact) = recorded.fact() else {
            return;
        };
        if let (Fact::FlowForked(_) | Fact::WriterOpened(_), Some((before, _))) = (fact, before) {
            self.rested(before, recorded.seq);
        }
        self.marks(recorded.seq, fact);
        if fact.weight() == FactWeight::Moves {
            self.nodes(recorded.seq);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other facts are not marked")]
    fn marks(&mut self, seq: Seq, fact: &Fact) {
        let state = self.fold.state();
        match fact {
            Fact::HandoffApplied(f) => {
                let role = |node| state.role_of(node).map(RoleInstance::to_string);
                let hops = f.deliveries.iter().map(|delivery| TrackHop {
                    seq,
                    from_role: role(&f.node).unwrap_or_default(),
                    to_role: role(delivery.receiver()).unwrap_or_default(),
                    backward: delivery.way == HandoffWay::Backward,
                    path: delivery.artifact.path.clone(),
                });
                let hops: Vec<TrackHop> = hops.collect();
                self.track.hops.extend(hops);
            }
            Fact::SessionCompacted(f) => self.track.marks.push(TrackMark {
                seq,
                role: f.role.to_string(),
                kind: MarkKind::Compaction,
            }),
            _ => {}
        }
    }

    fn nodes(&mut self, seq: Seq) {
        for (key, part) in self.fold.take() {
            let Some(Part::Node(node)) = part else {
                continue;
            };
            let stands = (node.state, node.correction);
            if self.last.get(&key) == Some(&stands) {
                continue;
            }
            self.last.insert(key.clone(), stands);
            let list = self.track.nodes.entry(node.id.clone()).or_default();
            list.push((seq, stands.0, stands.1));
            self.bar(seq, &key, &node);
        }
    }

    /// Ends the bar of a node and begins the next.
    fn bar(&mut self, seq: Seq, key: &str, node: &crate::protocol::flow::NodeView) {
        if let Some(open) = self.open.remove(key)
            && let Some(turn) = self.track.turns.get_mut(open)
        {
            turn.to = Some(seq);
        }
        let kind = match node.state {
            NodeState::Running if node.correction => TrackKind::Correction,
            NodeState::Running => TrackKind::Turn,
            NodeState::NeedsYou | NodeState::Failed => TrackKind::Waiting,
            NodeState::Suspended => TrackKind::Suspended,
            NodeState::NotReached | NodeState::Ready | NodeState::Done | NodeState::Interrupted => {
                return;
            }
        };
        self.open.insert(key.to_owned(), self.track.turns.len());
        self.track.turns.push(TrackTurn {
            role: node.role.clone(),
            node: Some(node.id.clone()),
            turn: node.turn,
            from: seq,
            to: None,
            kind,
        });
    }

    /// A fork begins later than what it shares, and a process later than the last one ended: between these records
    /// nothing worked.
    fn rested(&mut self, from: Seq, to: Seq) {
        for open in self.open.values_mut() {
            let Some(turn) = self.track.turns.get_mut(*open) else {
                continue;
            };
            if !matches!(turn.kind, TrackKind::Turn | TrackKind::Correction) {
                continue;
            }
            turn.to = Some(from);
            let again = TrackTurn {
                from: to,
                to: None,
                ..turn.clone()
            };
            *open = self.track.turns.len();
            self.track.turns.push(again);
        }
    }

    /// The track so far.
    pub(crate) fn done(mut self) -> Track {
        // A strip has fewer points than a long flow has moments.
        let step = self.clock.len().div_ceil(TRACK_CLOCK_MAX).max(1);
        let last = self.clock.last().copied();
        self.track.at = self.clock.iter().step_by(step).copied().collect();
        if let Some(last) = last
            && self.track.at.last() != Some(&last)
        {
            self.track.at.push(last);
        }
        self.track
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::At;
    use a_society_facts::line;

    use super::*;

    #[test]
    fn what_was_recorded_before_a_pause_is_told_to_have_been_before_it() {
        let journal = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/journals/review-loop.jsonl"
        );
        let text = std::fs::read_to_string(journal).unwrap();
        let mut tracker = Tracker::new(FlowRef {
            project: "orchard".to_owned(),
            flow: "20260303T132940000Z-ledger".to_owned(),
        });
        // Twenty records within a moment, and the next an hour later.
        let [begun, later] = [1_000, 3_601_000];
        for written in text.lines().take(21) {
            let (frame, body) = line::read(&mut written.as_bytes().to_vec()).unwrap();
            let at = At::from_ms(if frame.seq <= 20 { begun } else { later });
            let recorded = Recorded {
                seq: frame.seq,
                at,
                body,
            };
            tracker.hear(&recorded, &|_| String::new());
        }
        assert_eq!(tracker.done().at, [(1, begun), (20, begun), (21, later)]);
    }
}
