//! Legal flows of any length, made piece by piece: a writer and a reviewer send work to and fro.

use std::collections::VecDeque;

use super::scribe::{SampleTurn, Scribe, delivery, inbound, tool_call};
use a_society_facts::Fact;
use a_society_facts::fact::node::NodeEntry;
use a_society_facts::fact::turn::DraftKind;
use a_society_facts::handoff::HandoffWay;
use a_society_facts::message::{AnswerText, ConfirmedDraft};

/// A legal flow of so many turns, the same for the same seed.
#[must_use]
pub fn long(turns: usize, seed: u64) -> Long {
    let mut long = Long {
        scribe: Scribe::begin(),
        ready: VecDeque::new(),
        left: turns,
        round: 0,
        random: seed,
    };
    long.begin();
    long
}

/// The facts of a long flow, one after another.
#[derive(Debug, Clone)]
pub struct Long {
    scribe: Scribe,
    ready: VecDeque<Fact>,
    /// How many turns are still to come.
    left: usize,
    /// How many turns were taken.
    round: u64,
    random: u64,
}

impl Iterator for Long {
    type Item = Fact;

    fn next(&mut self) -> Option<Fact> {
        if self.ready.is_empty() && self.left > 0 {
            self.left -= 1;
            self.turn();
        }
        self.ready.pop_front()
    }
}

impl Long {
    /// The next number of a fixed sequence (SplitMix64), below a bound.
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    fn flush(&mut self) {
        self.ready.extend(self.scribe.facts.drain(..));
    }

    fn begin(&mut self) {
        let mut turn = self
            .scribe
            .enter("owner-intake", "owner", NodeEntry::First, Vec::new());
        self.scribe.speak(&mut turn, &["Begin."], Vec::new());
        let on = delivery("owner-intake", "draft", HandoffWay::Forward, "brief.md");
        self.scribe.hand_over(&turn, vec![on]);
        self.flush();
    }

    /// The writer hands forward, the reviewer hands back, for ever.
    fn turn(&mut self) {
        let round = self.round;
        self.round += 1;
        let writes = round.is_multiple_of(2);
        let (node, role) = if writes {
            ("draft", "writer")
        } else {
            ("review", "reviewer")
        };
        let (entry, received) = match round {
            0 => (
                NodeEntry::First,
                inbound("owner-intake", "draft", HandoffWay::Forward),
            ),
            1 => (
                NodeEntry::First,
                inbound("draft", "review", HandoffWay::Forward),
            ),
            _ if writes => (
                NodeEntry::Reopened,
                inbound("draft", "review", HandoffWay::Backward),
            ),
            _ => (
                NodeEntry::Again,
                inbound("draft", "review", HandoffWay::Forward),
            ),
        };
        let mut turn = self.scribe.enter(node, role, entry, vec![received]);
        self.work(&mut turn);
        let way = if writes {
            HandoffWay::Forward
        } else {
            HandoffWay::Backward
        };
        let path = format!("round-{round}.md");
        let on = delivery("draft", "review", way, &path);
        self.scribe.hand_over(&turn, vec![on]);
        self.flush();
    }

    fn work(&mut self, turn: &mut SampleTurn) {
        for request in 0..self.below(3) {
            let calls: Vec<_> = (0..=self.below(2))
                .map(|ordinal| {
                    let name = format!("{}.{request}.{ordinal}", turn.id.0);
                    tool_call(&name, "read_file", r#"{"path":"CHANGES.md"}"#)
                })
                .collect();
            self.scribe.speak(turn, &["I look."], calls.clone());
            for (ordinal, call) in (0_u32..).zip(&calls) {
                let lines = self.below(40);
                let output = "one line of a file\n".repeat(usize::try_from(lines).unwrap_or(0));
                self.scribe.read(turn, call, ordinal, &output);
            }
        }
        self.scribe.request(turn);
        let mut said = String::new();
        for _ in 0..=self.below(12) {
            let piece = "and so it goes on ".repeat(usize::try_from(self.below(6)).unwrap_or(0));
            said.push_str(&piece);
            self.scribe.draft(turn, DraftKind::Text, &piece);
        }
        let text = AnswerText::Drafted(ConfirmedDraft::of(&said));
        self.scribe.answer(turn, text, Vec::new(), 2_000);
    }
}
