//! What a user of a flow was promised, kept apart from the code that promises it.

use std::collections::BTreeMap;

use a_society_facts::fact::flow::{FlowCreated, FlowTitled, NodeOutline, Outline};
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::id::Seq;
use a_society_facts::message::Text;
use a_society_facts::{Fact, Hash};
use a_society_state::FlowRef;

/// The project of every flow here.
pub(crate) const PROJECT: &str = "garden";
/// The project under which a flow is imported.
pub(crate) const ELSEWHERE: &str = "orchard";
/// The flow that is used.
pub(crate) const FLOW: &str = "20260527T143000123Z-a1b2c3";

/// The flow that is used.
pub(crate) fn flow_ref() -> FlowRef {
    in_project(PROJECT)
}

/// The flow of that name in a project.
pub(crate) fn in_project(project: &str) -> FlowRef {
    FlowRef {
        project: project.parse().unwrap(),
        flow: FLOW.parse().unwrap(),
    }
}

/// The first fact of every flow.
pub(crate) fn created() -> FlowCreated {
    FlowCreated {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: PROJECT.parse().unwrap(),
        title: "the beginning".into(),
        input: None,
        graph: Outline {
            name: "a walk".into(),
            nodes: vec![NodeOutline {
                id: "plan".parse().unwrap(),
                role: "gardener".parse().unwrap(),
                human_colab: false,
                await_all_inputs: false,
            }],
            edges: Vec::new(),
            source: Text::Inline("nodes: []\n".into()),
        },
        origin: None,
        draft: false,
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    }
}

/// A title that no other has, of a length that moves the ends of records across sectors.
pub(crate) fn titled(number: usize) -> Fact {
    let padding = "x".repeat(number * 137 % 421);
    Fact::FlowTitled(FlowTitled {
        title: format!("title {number} {padding}"),
    })
}

/// A session of the one role.
pub(crate) fn session_opened() -> Fact {
    Fact::SessionOpened(SessionOpened {
        role: "gardener".parse().unwrap(),
        key: "role:gardener".parse().unwrap(),
        session: "s-1".parse().unwrap(),
        generation: 1,
        kind: SessionKind::Role,
        parent: None,
        user: None,
    })
}

/// A message to the one role.
pub(crate) fn message(number: usize, text: Text) -> Fact {
    Fact::MessageAdded(MessageAdded {
        role: "gardener".parse().unwrap(),
        message: format!("m-{number}").parse().unwrap(),
        text,
        origin: Origin::Injection,
        node: None,
        client: None,
        request: None,
    })
}

/// Whether a fact tells of the journal itself rather than of what a user did.
pub(crate) fn is_about_the_journal(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::SegmentStarted(_)
            | Fact::WriterOpened(_)
            | Fact::RecoveryTruncated(_)
            | Fact::RecoveryLossy(_)
            | Fact::QuarantineRestored(_)
            | Fact::RepairApplied(_)
            | Fact::BlobLost(_)
            | Fact::BlobFound(_)
            | Fact::FlowPaused(_)
            | Fact::FlowUnpaused(_)
    )
}

/// How far a removal of the flow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Removal {
    /// It was not requested.
    #[default]
    None,
    /// It was asked for and not acknowledged.
    Begun,
    /// It was acknowledged.
    Done,
}

/// What was promised, and what was at least tried.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    /// Records that were acknowledged.
    pub(crate) acked: BTreeMap<Seq, Fact>,
    /// Records that were appended and not acknowledged.
    pub(crate) pending: BTreeMap<Seq, Fact>,
    /// Every fact that was ever offered.
    pub(crate) tried: Vec<Fact>,
    /// Blobs that were acknowledged.
    pub(crate) blobs: Vec<Hash>,
    /// The first record that was destroyed from outside; it and later ones are no longer promised,
    /// but may only be missing in a journal that says so.
    pub(crate) harmed_from: Option<Seq>,
    /// Whether an import was acknowledged, with the records it had to bring.
    pub(crate) carried: Option<BTreeMap<Seq, Fact>>,
    /// How far a removal of the flow has come.
    pub(crate) removal: Removal,
    /// How many titles were given.
    pub(crate) titles: usize,
}

impl Model {
    /// Remembers an attempt.
    pub(crate) fn tries(&mut self, fact: &Fact) {
        self.tried.push(fact.clone());
    }

    /// Remembers a record that was appended.
    pub(crate) fn appended(&mut self, seq: Seq, fact: Fact) {
        self.pending.insert(seq, fact);
    }

    /// Takes the flow's word that everything up to a record is durable.
    pub(crate) fn acknowledged(&mut self, durable: Seq) {
        let later = self.pending.split_off(&(durable + 1));
        self.acked.append(&mut self.pending);
        self.pending = later;
    }

    /// Whether anything was ever acknowledged.
    pub(crate) fn exists(&self) -> bool {
        !self.acked.is_empty()
    }

    /// Gives up what was destroyed from outside.
    pub(crate) fn harmed(&mut self, from: Seq) {
        self.acked.split_off(&from);
        self.pending.clear();
        self.harmed_from = Some(from);
    }
}
