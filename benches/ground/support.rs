//! What the figures of the ground share: stores, and flows with a session.

use std::path::Path;
use std::sync::Arc;

use a_society_facts::Fact;
use a_society_facts::fact::flow::{FlowCreated, NodeOutline, Outline};
use a_society_facts::fact::node::{NodeClaimed, NodeEntry};
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelRequested, StopReason, TurnStarted, Usage,
};
use a_society_facts::id::{FlowId, RoleInstance, TurnId};
use a_society_facts::{At, Hash};
use a_society_state::clock::{Clock, SystemClock};
use a_society_state::disk::RealDisk;
use a_society_state::draft::DraftStream;
use a_society_state::{Flow, FlowRef, Ground, Store, process};

/// A store in a folder.
pub(crate) fn store(root: &Path) -> Store {
    store_by(root, Arc::new(SystemClock::default()))
}

/// A store in a folder, by a clock of one's own.
pub(crate) fn store_by(root: &Path, clock: Arc<dyn Clock>) -> Store {
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock,
        process: process::this(&RealDisk),
        ledger: None,
    };
    Store::new(ground, root.join("state"))
}

/// The address of the flow with a number.
pub(crate) fn flow_ref(number: usize) -> FlowRef {
    let flow: FlowId = format!("20260527T143000000Z-{number:06}").parse().unwrap();
    FlowRef {
        project: "bench".parse().unwrap(),
        flow,
    }
}

/// The only role.
pub(crate) fn role() -> RoleInstance {
    "writer".parse().unwrap()
}

/// A flow of one node.
pub(crate) fn created(title: &str) -> FlowCreated {
    FlowCreated {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: "bench".parse().unwrap(),
        title: title.to_owned(),
        input: None,
        graph: Outline {
            name: "bench".into(),
            nodes: vec![NodeOutline {
                id: "write".parse().unwrap(),
                role: role(),
                human_colab: false,
                await_all_inputs: false,
            }],
            edges: Vec::new(),
            source: "".into(),
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

/// A flow whose only role is in the middle of a turn.
pub(crate) fn flow_in_a_turn(store: &Store, number: usize) -> Flow {
    let at = flow_ref(number);
    let mut flow = store.create(at.flow, created("A flow")).unwrap();
    let turn = TurnId(1);
    let facts = [
        Fact::SessionOpened(SessionOpened {
            role: role(),
            key: "flow:bench:role:writer".parse().unwrap(),
            session: "0198c0de-0000-7000-8000-000000000001".parse().unwrap(),
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        }),
        Fact::NodeClaimed(NodeClaimed {
            node: "write".parse().unwrap(),
            role: role(),
            turn,
            entry: NodeEntry::First,
            consumed: Vec::new(),
            dropped: Vec::new(),
            replies: Vec::new(),
        }),
        Fact::TurnStarted(TurnStarted {
            turn,
            attempt: 1,
            role: role(),
            node: Some("write".parse().unwrap()),
            cause: Cause::Node,
        }),
        message(usize::MAX, 100),
    ];
    for fact in facts {
        flow.append(fact).unwrap();
    }
    flow.sync().unwrap();
    flow
}

/// The model is asked.
pub(crate) fn ask(flow: &mut Flow, request: u32) {
    flow.append(Fact::ModelRequested(ModelRequested {
        turn: TurnId(1),
        attempt: 1,
        role: role(),
        request,
        model: "scripted".into(),
        hash: Hash::of(b"request"),
        frame: None,
    }))
    .unwrap();
}

/// The model has answered with what was streamed.
pub(crate) fn answer(flow: &mut Flow, request: u32, draft: DraftStream) {
    let text = draft.finish(flow).unwrap();
    flow.append(Fact::ModelAnswered(ModelAnswered {
        turn: TurnId(1),
        attempt: 1,
        role: role(),
        request,
        message: format!("a{request}").parse().unwrap(),
        text,
        calls: Vec::new(),
        stop: StopReason::End,
        usage: Usage::default(),
        provider_blocks: None,
        report: None,
    }))
    .unwrap();
}

/// A message of so many bytes of text.
pub(crate) fn message(number: usize, bytes: usize) -> Fact {
    const WORDS: &str = "The harbour was quiet, and \"nobody\" had seen the ship come in.\n";
    let mut text = WORDS.repeat(bytes / WORDS.len() + 1);
    text.truncate(bytes);
    Fact::MessageAdded(MessageAdded {
        role: role(),
        message: format!("m{number}").parse().unwrap(),
        text: text.into(),
        origin: Origin::Runtime,
        node: None,
        client: None,
        request: None,
    })
}

/// The moment of everything that needs one.
pub(crate) fn moment() -> At {
    At::from_ms(1_795_246_169_123)
}

/// Figures that a process of its own takes, because memory is counted by process.
pub(crate) mod child {
    use super::{flow_ref, store};
    use crate::run::timed;

    const WORD: &str = "--look";

    /// Runs as the child if that is asked for.
    pub(crate) fn asked(words: &[String]) -> bool {
        let Some(place) = words.iter().position(|word| word == WORD) else {
            return false;
        };
        let store = store(std::path::Path::new(&words[place + 1]));
        let (time, look) = timed(|| store.look(&flow_ref(0)).unwrap());
        assert!(look.damage.is_none(), "{:?}", look.damage);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak_kb: u64 = peak
            .and_then(|text| text.trim().trim_end_matches(" kB").parse().ok())
            .unwrap_or(0);
        println!(
            "{} {peak_kb} {} {}",
            time.as_micros(),
            look.from_checkpoint,
            look.folded
        );
        true
    }

    /// Looks in a child: microseconds, peak kilobytes, whether a checkpoint was used, records.
    pub(crate) fn look(root: &std::path::Path) -> (u64, u64, bool, u64) {
        let this = std::env::current_exe().unwrap();
        let out = std::process::Command::new(this)
            .arg(WORD)
            .arg(root)
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |place: usize| words[place].parse().unwrap();
        (number(0), number(1), words[2] == "true", number(3))
    }
}
