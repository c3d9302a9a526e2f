//! A session with a long history.

use std::path::Path;

use a_society_facts::fact::node::{HandoffApplied, NodeClaimed, NodeEntry};
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::fact::turn::{
    Cause, ModelAnswered, ModelRequested, StopReason, TurnEnd, TurnEnded, TurnStarted, Usage,
};
use a_society_facts::handoff::{Artifact, Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{RoleInstance, TurnId};
use a_society_facts::{Fact, Hash};
use a_society_orchestrator::driver::core::Core;
use a_society_orchestrator::mint::SystemMint;
use a_society_orchestrator::run::reopen;
use a_society_state::{FlowRef, Store};

use crate::server::words;

const TURN: TurnId = TurnId(1);

fn role() -> RoleInstance {
    "owner".parse().unwrap()
}

fn said(number: usize, bytes: usize, origin: Origin) -> Fact {
    Fact::MessageAdded(MessageAdded {
        role: role(),
        message: format!("m{number}").parse().unwrap(),
        text: words(bytes).into(),
        origin,
        node: Some("n0".parse().unwrap()),
        client: None,
        request: None,
    })
}

/// Lets the first node of a chain have a turn of so many messages, and opens the flow where the
/// second is next.
pub(crate) fn grown(store: &Store, core: Core, root: &Path, messages: usize, bytes: usize) -> Core {
    let flow = FlowRef {
        project: "bench".parse().unwrap(),
        flow: core.flow().id().clone(),
    };
    core.close().unwrap();
    let (mut open, _) = store.open(&flow).unwrap();
    let mut facts = vec![
        Fact::NodeClaimed(NodeClaimed {
            node: "n0".parse().unwrap(),
            role: role(),
            turn: TURN,
            entry: NodeEntry::First,
            consumed: Vec::new(),
            dropped: Vec::new(),
            replies: Vec::new(),
        }),
        Fact::SessionOpened(SessionOpened {
            role: role(),
            key: format!("flow:{}:role:owner", flow.flow).parse().unwrap(),
            session: "0198c0de-0000-7000-8000-000000000001".parse().unwrap(),
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        }),
        Fact::TurnStarted(TurnStarted {
            turn: TURN,
            attempt: 1,
            role: role(),
            node: Some("n0".parse().unwrap()),
            cause: Cause::Node,
        }),
    ];
    for request in 0..messages / 2 {
        let origin = if request == 0 {
            Origin::Entry
        } else {
            Origin::Runtime
        };
        facts.push(said(request, bytes, origin));
        facts.extend(exchange(request, bytes));
    }
    facts.extend(ending());
    for fact in facts {
        open.append(fact).unwrap();
    }
    open.close().unwrap();
    let project = root.join("bench");
    reopen(store, &flow, project, Box::new(SystemMint))
        .unwrap()
        .0
}

fn exchange(request: usize, bytes: usize) -> [Fact; 2] {
    let number = u32::try_from(request).unwrap() + 1;
    [
        Fact::ModelRequested(ModelRequested {
            turn: TURN,
            attempt: 1,
            role: role(),
            request: number,
            model: "m".into(),
            hash: Hash::of(b"request"),
            frame: None,
        }),
        Fact::ModelAnswered(ModelAnswered {
            turn: TURN,
            attempt: 1,
            role: role(),
            request: number,
            message: format!("a{request}").parse().unwrap(),
            text: a_society_facts::message::AnswerText::Inline(words(bytes)),
            calls: Vec::new(),
            stop: StopReason::End,
            usage: Usage::default(),
            provider_blocks: None,
            report: None,
        }),
    ]
}

/// The first node hands over, and its turn is over.
fn ending() -> [Fact; 2] {
    let handed = Fact::HandoffApplied(HandoffApplied {
        node: "n0".parse().unwrap(),
        turn: TURN,
        deliveries: vec![Delivery {
            edge: EdgeName {
                from: "n0".parse().unwrap(),
                to: "n1".parse().unwrap(),
            },
            way: HandoffWay::Forward,
            artifact: Artifact {
                path: "a.md".to_owned(),
                hash: Hash::of(b"An artifact.\n"),
                bytes: 13,
                text: Some("An artifact.\n".to_owned()),
            },
        }],
        approval: None,
    });
    let ended = Fact::TurnEnded(TurnEnded {
        turn: TURN,
        attempt: 1,
        role: role(),
        end: TurnEnd::Outcome,
        error: None,
    });
    [handed, ended]
}
