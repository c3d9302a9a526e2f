//! Flows whose turns a model takes.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use a_society_facts::Verb;
use a_society_facts::fact::operator::ConsentMode;
use a_society_orchestrator::driver::core::Core;
use a_society_orchestrator::mint::SystemMint;
use a_society_orchestrator::project::flow_file::read_kept;
use a_society_orchestrator::run::{NewFlow, create};
use a_society_state::clock::SystemClock;
use a_society_state::disk::SharedDisk;
use a_society_state::{Ground, Store, process};

/// A chain of so many nodes, all of one role instance or each of its own.
pub(crate) fn chain(nodes: usize, one_role: bool) -> String {
    let mut text = String::from("workflow:\n  name: A chain\n  nodes:\n");
    for node in 0..nodes {
        // The first node and the last belong to the owner, as the machine wants it.
        let is_owners = one_role || node == 0 || node + 1 == nodes;
        let role = if is_owners {
            "owner".to_owned()
        } else {
            format!("owner_{}", node + 1)
        };
        let end = if node + 1 == nodes { " End." } else { "" };
        writeln!(
            text,
            "    - {{ id: n{node}, role: {role}, work: [ 'Write to n{node}.{end}' ] }}"
        )
        .unwrap();
    }
    text.push_str("  edges:\n");
    for node in 1..nodes {
        writeln!(text, "    - {{ from: n{}, to: n{node} }}", node - 1).unwrap();
    }
    text + ROLES
}

/// One node, so many beside one another, and one again.
pub(crate) fn fan(count: usize) -> String {
    let mut text = String::from("workflow:\n  name: A fan\n  nodes:\n");
    writeln!(
        text,
        "    - {{ id: begin, role: owner, work: [ 'Hand to all {count}.' ] }}"
    )
    .unwrap();
    for node in 2..count + 2 {
        writeln!(
            text,
            "    - {{ id: n{node}, role: owner_{node}, work: [ 'Write to n{node}. Stream.' ] }}"
        )
        .unwrap();
    }
    text.push_str("    - { id: end, role: owner, await-all-inputs: true, work: [ 'Write to n1. End.' ] }\n  edges:\n");
    for node in 2..count + 2 {
        writeln!(
            text,
            "    - {{ from: begin, to: n{node} }}\n    - {{ from: n{node}, to: end }}"
        )
        .unwrap();
    }
    text + ROLES
}

/// How many nodes the largest flow has.
const NODES_MAX: usize = 210;

const ROLES: &str = "roles:\n  owner: { instructions: You write. }\n";

/// A store on a disk.
pub(crate) fn store(root: &Path, disk: SharedDisk) -> Store {
    let ground = Ground {
        process: process::this(disk.as_ref()),
        clock: Arc::new(SystemClock::default()),
        disk,
        ledger: None,
    };
    Store::new(ground, root.join(".a-society/state"))
}

/// A flow of this file that asks for no consent, up to the point at which it can be driven.
pub(crate) fn begun(store: &Store, root: &Path, source: &str) -> Core {
    let project = root.join("bench");
    // A project that leaves open how its flows end.
    std::fs::create_dir_all(project.join("a-docs")).unwrap();
    std::fs::write(project.join("a.md"), "An artifact.\n").unwrap();
    std::fs::write(project.join("big.txt"), crate::server::words(12 * 1024)).unwrap();
    for node in 0..NODES_MAX {
        // A role that calls no tool hands on what is there already.
        std::fs::write(project.join(format!("n{node}.md")), "An artifact.\n").unwrap();
    }
    let new = NewFlow {
        ends: a_society_facts::fact::flow::Ends::default(),
        script: None,
        project: "bench".parse().unwrap(),
        project_folder: project,
        title: None,
        input: None,
        file: read_kept(source.to_owned()).unwrap(),
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    };
    let at = store.ground().clock.now();
    let mut core = create(store, new, at, Box::new(SystemMint)).unwrap();
    let mode = ConsentMode::FullAccess;
    core.obey(Verb::Mode { mode }, None).unwrap();
    core
}
