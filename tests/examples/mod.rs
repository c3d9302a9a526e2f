//! The examples: each can be read, is explained, and walks as far as its story says.

mod findings;
mod golden;
mod killed;
mod normal;
mod play;
mod served;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::At;
use a_society_facts::fact::journal::ProcessName;
use a_society_in_memory::MemoryLedger;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::project::docs::folder::{inspect, workflow_of};
use a_society_orchestrator::project::flow_file::{FileError, SCRIPT_NAME, read, read_script};
use a_society_orchestrator::run::{NewFlow, start};
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::ledger::{LedgerAccess, WorkerName};
use a_society_state::{FlowRef, Ground, Store, index};

/// How long any of the walks below may take; they take a second or two.
const LONGEST: Duration = Duration::from_secs(120);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn names() -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// What an example consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A flow file with a script beside it.
    File,
    /// A project's folder.
    Project,
    /// Only a script: the graph is written by the owner.
    Draft,
}

fn kind(name: &str) -> Kind {
    let place = folder().join(name);
    if place.join("a-docs").is_dir() {
        Kind::Project
    } else if place.join("flow.yaml").is_file() {
        Kind::File
    } else {
        Kind::Draft
    }
}

/// Everything that is wrong with a file, for a test that fails.
fn faults(error: &FileError) -> String {
    match error {
        FileError::NotAFlow { diagnostics, .. } => {
            diagnostics.iter().map(|it| format!("{it}\n")).collect()
        }
        FileError::NotAScript { faults, .. } => faults.iter().map(|it| format!("{it}\n")).collect(),
        FileError::Read(_) | FileError::NotText(_) => error.to_string(),
    }
}

#[test]
fn every_example_has_a_flow_a_script_and_an_explanation() {
    let names = names();
    let wanted = [
        "command-roles",
        "fan-out",
        "hello",
        "human-gate",
        "interrupted",
        "long-haul",
        "release-notes",
        "review-loop",
        "solo",
    ];
    for name in wanted {
        assert!(names.contains(name), "{name} is missing");
    }
    for name in &names {
        let place = folder().join(name);
        let (script, command) = match kind(name) {
            Kind::File => {
                let flow = read(&RealDisk, &place.join("flow.yaml"));
                let flow = flow.unwrap_or_else(|error| panic!("{name}: {}", faults(&error)));
                assert!(!flow.roles.is_empty(), "{name} defines its roles itself");
                let command = format!("a-society run examples/{name}/flow.yaml");
                (place.join(SCRIPT_NAME), command)
            }
            Kind::Project => {
                let (project, found) = inspect(&RealDisk, &place);
                assert!(project.is_some() && found.is_empty(), "{name}: {found:?}");
                let script = workflow_of(&place).with_file_name(SCRIPT_NAME);
                (script, format!("cp -r examples/{name} "))
            }
            Kind::Draft => {
                let command = format!("a-society run --draft --script examples/{name}/script.yaml");
                (place.join(SCRIPT_NAME), command)
            }
        };
        let script = read_script(&RealDisk, &script);
        script.unwrap_or_else(|error| panic!("{name}: {}", faults(&error)));
        let page = std::fs::read_to_string(place.join("README.md")).unwrap();
        assert!(
            page.starts_with(&format!("# {name}: ")),
            "{name}: how its page begins"
        );
        assert!(page.contains(&command), "{name}: how it is run");
    }
}

#[test]
fn every_example_is_named_on_the_page_of_examples() {
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for name in names() {
        assert!(
            page.contains(&format!("]({name}/README.md)")),
            "{name} is not named"
        );
    }
}

#[test]
fn the_long_haul_is_what_its_generator_prints() {
    let place = folder().join("long-haul");
    let printed = Command::new("sh")
        .arg(place.join("generate.sh"))
        .output()
        .unwrap();
    assert!(printed.status.success());
    let kept = std::fs::read(place.join("flow.yaml")).unwrap();
    assert_eq!(String::from_utf8(printed.stdout), String::from_utf8(kept));
}

/// Runs an example on a real disk until nothing goes on by itself.
fn walked(name: &str) -> Arc<Seen> {
    let workspace = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    walked_in(workspace.path(), name, None).0
}

/// The store of a workspace, with a ledger or without one.
fn store_in(workspace: &Path, ledger: Option<&MemoryLedger>) -> Store {
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(CountingClock::from(At::from_ms(1_779_892_200_000))),
        process: ProcessName {
            pid: 4711,
            start_ticks: 1,
            boot_id: "test".to_owned(),
        },
        ledger: ledger.map(|ledger| {
            LedgerAccess::new(Arc::new(ledger.clone()), WorkerName("test".to_owned()))
        }),
    };
    Store::new(ground, workspace.join(".a-society/state"))
}

fn walked_in(
    workspace: &Path,
    name: &str,
    ledger: Option<&MemoryLedger>,
) -> (Arc<Seen>, Store, FlowRef) {
    let project_folder = workspace.join("demo");
    std::fs::create_dir(&project_folder).unwrap();
    let at = At::from_ms(1_779_892_200_000);
    let store = store_in(workspace, ledger);
    let place = folder().join(name);
    let new = NewFlow {
        ends: a_society_facts::fact::flow::Ends::default(),
        project: "demo".parse().unwrap(),
        project_folder,
        title: None,
        input: None,
        file: read(&RealDisk, &place.join("flow.yaml")).unwrap(),
        script: Some(std::fs::read_to_string(place.join(SCRIPT_NAME)).unwrap()),
        tokens: None,
        mode: None,
        rules: a_society_facts::fact::operator::ConsentRules::default(),
        chat: None,
        client: None,
    };
    let driven = start(&store, new, at, None).unwrap();
    let seen = at_rest(|after| driven.handle.wait(after, LONGEST));
    driven.handle.drain();
    driven.task.join().unwrap().unwrap();
    let flow = store.census().unwrap().flows.remove(0);
    (seen, store, flow)
}

/// Polls until the flow waits for the operator.
fn at_rest(look: impl Fn(u64) -> Option<Arc<Seen>>) -> Arc<Seen> {
    let mut after = 0;
    loop {
        let seen = look(after).expect("the flow is looked at");
        assert!(
            seen.seq > after,
            "the flow does not come to rest: {:?}",
            seen.pending
        );
        assert_eq!(seen.ended, None);
        let waits = seen.state.waits().count() > 0;
        if seen.live == 0 && (waits || seen.state.status.word() != "running") {
            return seen;
        }
        after = seen.seq;
    }
}

#[test]
fn the_examples_that_need_nobody_walk_to_their_end() {
    for (name, edges) in [
        ("hello", 2),
        ("review-loop", 3),
        ("fan-out", 7),
        ("long-haul", 451),
    ] {
        let seen = walked(name);
        let status = seen.state.status.word();
        assert_eq!(status, "completed", "{name}: {:?}", seen.pending);
        assert_eq!(seen.state.completed_edges.len(), edges, "{name}");
    }
}

#[test]
fn the_example_that_breaks_off_waits_for_its_operator() {
    let seen = walked("interrupted");
    let waits: Vec<String> = seen
        .state
        .waits()
        .map(|(node, waiting)| format!("{node:?} {:?}", waiting.reason))
        .collect();
    assert_eq!(waits, ["Some(\"report\") AutonomousAbort"]);
}

#[test]
fn an_example_whose_journal_a_ledger_holds_walks_as_ever_and_is_seen_on_a_machine_without_its_folder()
 {
    for name in ["hello", "review-loop", "fan-out", "interrupted"] {
        let [here, there] =
            [(); 2].map(|()| tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        let ledger = MemoryLedger::new();
        let (seen, store, flow) = walked_in(here.path(), name, Some(&ledger));
        let alone = walked(name);
        assert_eq!(
            seen.state.status.word(),
            alone.state.status.word(),
            "{name}"
        );
        assert_eq!(seen.state.completed_edges, alone.state.completed_edges);
        let segment = std::fs::read(store.folder(&flow).segment(1)).unwrap();
        assert_eq!(
            segment,
            ledger.kept_bytes(&flow),
            "{name}: the copy is the ledger's"
        );

        let elsewhere = store_in(there.path(), Some(&ledger.other_machine()));
        let looked = elsewhere.look(&flow).unwrap();
        assert_eq!(looked.screen.flow.status.word(), seen.state.status.word());
        let rows = index::rows(&elsewhere, &elsewhere.census().unwrap().flows);
        assert_eq!(rows.len(), 1, "{name} is listed there");
        let (opened, _) = elsewhere.open(&flow).unwrap();
        assert_eq!(
            opened.views().flow.completed_edges,
            seen.state.completed_edges
        );
        opened.close().unwrap();
    }
}
