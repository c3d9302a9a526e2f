//! The small uses of a flow that every fault and every crash is tried on.

use a_society_facts::fact::journal::RecoveryRow;

use crate::script::Step::{self, *};

/// A use of a flow, with a name for messages.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// What it is about.
    pub(crate) name: &'static str,
    /// What happens.
    pub(crate) steps: Vec<Step>,
}

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let torn = [
        RecoveryRow::R2,
        RecoveryRow::R3,
        RecoveryRow::R4,
        RecoveryRow::R6,
    ]
    .map(recovery);
    let plain = SCENARIOS.iter().map(|(name, steps)| Scenario {
        name,
        steps: steps.to_vec(),
    });
    plain.chain(torn).collect()
}

/// A torn end of each kind is recovered, and the flow goes on.
fn recovery(row: RecoveryRow) -> Scenario {
    let before = [Create, Title, Sync, Title, Title, Sync, Kill];
    Scenario {
        name: match row {
            RecoveryRow::R2 => "R2",
            RecoveryRow::R3 => "R3",
            RecoveryRow::R4 => "R4",
            RecoveryRow::R6 => "R6",
        },
        steps: [&before[..], &[Torn(row), Open, Title, Sync, Close]].concat(),
    }
}

#[rustfmt::skip]
const SCENARIOS: &[(&str, &[Step])] = &[
    ("create", &[Create]),
    ("several facts, each synced", &[Create, Title, Sync, Title, Sync, Title, Sync]),
    ("several facts, synced together", &[Create, Title, Title, Title, Title, Sync]),
    ("facts that are never synced", &[Create, Title, Sync, Title, Title]),
    ("rotation", &[
        Segments(700), Create, Title, Title, Sync, Title, Title, Title, Title, Sync, Close,
    ]),
    ("a segment a record", &[
        Segments(1), Create, Title, Title, Sync, Kill, Open, Title, Title, Sync,
    ]),
    ("blobs", &[
        Create, Session, Say(70_000), Sync, Say(66_000), Say(70_000), Sync, Close,
    ]),
    ("blobs without an end", &[Create, Session, Say(70_000), Say(66_000), Sync]),
    ("views", &[
        Create, Session, Tick, Title, Tick, Say(10), Rest, Title, Say(20), Tick, Close,
    ]),
    ("checkpoints", &[
        Checkpoints(300), Create, Title, Sync, Title, Title, Sync, Title, Close, Open, Title, Sync,
    ]),
    ("a clean end and a new beginning", &[Create, Title, Close, Open, Title, Close, Open]),
    ("a death and a new beginning", &[Create, Title, Sync, Title, Kill, Open, Title, Sync, Kill]),
    ("a full disk", &[
        Create, Title, Sync, Room(Some(100)), Title, Title, Sync, Title, Tick, Rest,
        Room(Some(3 << 20)), Resume, Title, Sync, Close,
    ]),
    ("a disk that is full when a segment ends", &[
        Segments(500), Create, Title, Room(Some(150)), Title, Title, Sync, Room(None), Resume,
        Title, Title, Sync,
    ]),
    ("an archive", &[Create, Session, Say(66_000), Title, Close, Carry]),
    ("a removal", &[Create, Session, Say(66_000), Cancel, Close, Prune]),
    ("R6 put back", &[Create, Title, Sync, Kill, Torn(RecoveryRow::R6), Open, Restore, Title, Sync]),
    ("one recovery after another", &[
        Create, Title, Sync, Kill, Torn(RecoveryRow::R2), Open, Kill, Torn(RecoveryRow::R3), Open, Title, Sync,
        Kill, Torn(RecoveryRow::R2), Open, Close,
    ]),
    ("damage and its repair", &[
        Segments(900), Create, Title, Sync, Title, Sync, Rest, Title, Sync, Title, Sync, Title,
        Sync, Kill, Flip, Repair, Title, Sync, Close,
    ]),
];
