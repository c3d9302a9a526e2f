//! The small uses of a flow that every fault and every crash is tried on.

use a_society_facts::fact::journal::Row;

use crate::script::Step::{self, *};

/// A use of a flow, with a name for messages.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// What it is about.
    pub(crate) name: &'static str,
    /// What happens.
    pub(crate) steps: Vec<Step>,
}

fn scenario(name: &'static str, steps: &[Step]) -> Scenario {
    let steps = steps.to_vec();
    Scenario { name, steps }
}

/// A torn end of each kind is recovered, and the flow goes on.
fn recovery(name: &'static str, row: Row) -> Scenario {
    let before = [Create, Title, Sync, Title, Title, Sync, Kill];
    scenario(
        name,
        &[&before[..], &[Torn(row), Open, Title, Sync, Close]].concat(),
    )
}

/// Every scenario.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = plain();
    all.extend(of_recovery());
    all
}

fn plain() -> Vec<Scenario> {
    vec![
        scenario("create", &[Create]),
        scenario(
            "several facts, each synced",
            &[Create, Title, Sync, Title, Sync, Title, Sync],
        ),
        scenario(
            "several facts, synced together",
            &[Create, Title, Title, Title, Title, Sync],
        ),
        scenario(
            "facts that are never synced",
            &[Create, Title, Sync, Title, Title],
        ),
        scenario(
            "somebody else syncs",
            &[Create, Title, SyncElsewhere, Title, SyncElsewhere],
        ),
        scenario(
            "rotation",
            &[
                Segments(700),
                Create,
                Title,
                Title,
                Sync,
                Title,
                Title,
                Title,
                Title,
                Sync,
                Close,
            ],
        ),
        scenario(
            "a segment a record",
            &[
                Segments(1),
                Create,
                Title,
                Title,
                Sync,
                Kill,
                Open,
                Title,
                Title,
                Sync,
            ],
        ),
        scenario(
            "blobs",
            &[
                Create,
                Session,
                Say(70_000),
                Sync,
                Say(66_000),
                Say(70_000),
                Sync,
                Close,
            ],
        ),
        scenario(
            "views",
            &[
                Create,
                Session,
                Tick,
                Title,
                Tick,
                Say(10),
                Rest,
                Title,
                Say(20),
                Tick,
                Close,
            ],
        ),
        scenario(
            "checkpoints",
            &[
                Checkpoints(300),
                Create,
                Title,
                Sync,
                Title,
                Title,
                Sync,
                Title,
                Close,
                Open,
                Title,
                Sync,
            ],
        ),
        scenario(
            "a clean end and a new beginning",
            &[Create, Title, Close, Open, Title, Close, Open],
        ),
        scenario(
            "a death and a new beginning",
            &[Create, Title, Sync, Title, Kill, Open, Title, Sync, Kill],
        ),
        scenario(
            "a full disk",
            &[
                Create,
                Title,
                Sync,
                Room(Some(100)),
                Title,
                Title,
                Sync,
                Title,
                Tick,
                Rest,
                Room(Some(3 << 20)),
                Resume,
                Title,
                Sync,
                Close,
            ],
        ),
        scenario(
            "a disk that is full when a segment ends",
            &[
                Segments(500),
                Create,
                Title,
                Room(Some(150)),
                Title,
                Title,
                Sync,
                Room(None),
                Resume,
                Title,
                Title,
                Sync,
            ],
        ),
        scenario(
            "an archive",
            &[Create, Session, Say(66_000), Title, Close, Carry],
        ),
        scenario(
            "a removal",
            &[Create, Session, Say(66_000), Cancel, Close, Prune],
        ),
    ]
}

fn of_recovery() -> Vec<Scenario> {
    vec![
        recovery("R2", Row::R2),
        recovery("R3", Row::R3),
        recovery("R4", Row::R4),
        recovery("R6", Row::R6),
        scenario(
            "R6 put back",
            &[
                Create,
                Title,
                Sync,
                Kill,
                Torn(Row::R6),
                Open,
                Restore,
                Title,
                Sync,
            ],
        ),
        scenario(
            "one recovery after another",
            &[
                Create,
                Title,
                Sync,
                Kill,
                Torn(Row::R2),
                Open,
                Kill,
                Torn(Row::R3),
                Open,
                Title,
                Sync,
                Kill,
                Torn(Row::R2),
                Open,
                Close,
            ],
        ),
        scenario(
            "damage and its repair",
            &[
                Segments(900),
                Create,
                Title,
                Sync,
                Title,
                Sync,
                Rest,
                Title,
                Sync,
                Title,
                Sync,
                Title,
                Sync,
                Kill,
                Flip,
                Repair,
                Title,
                Sync,
                Close,
            ],
        ),
    ]
}
