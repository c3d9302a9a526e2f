//! A finding changes a file of the project: once, whole, and only the file it was proposed for.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use a_society_in_memory::{FaultyDisk, HangingCalls};

use super::improving::improve;
use super::model::hanging::AT_ONCE;
use super::{at, begin, facts, store};
use crate::control::message::Taken;
use crate::driver::commands::Obeyed;
use crate::driver::core::Core;
use crate::driver::error::ChangeFault;
use crate::driver::error::DriverError;
use crate::mint::SeededMint;
use crate::run::reopen;
use a_society_facts::Verb;
use a_society_flow::machine::Refusal;

const STYLE: &str = "/w/project/a-docs/style.md";
const ALONE: &str = "workflow: { name: Alone, nodes: [ { id: all, role: owner } ], edges: [] }\n\
                     roles: { owner: { executor: scripted } }\n";

/// A flow whose owner looked back.
fn reflected(disk: &FaultyDisk) -> Core {
    let mut core = begin(disk, ALONE, "default: forward");
    disk.write_file(STYLE.as_ref(), b"Short.\n").unwrap();
    improve(&mut core, usize::MAX);
    core
}

fn propose(core: &mut Core, path: &str, text: &str) -> Result<Taken, DriverError> {
    let command = Verb::Propose {
        role: "owner".parse().unwrap(),
        path: path.to_owned(),
        text: text.to_owned(),
    };
    core.obey(command, None)
}

fn decide(core: &mut Core, applied: bool) -> Result<Taken, DriverError> {
    let change = None;
    core.obey(Verb::Change { change, applied }, None)
}

fn fault(said: Result<Taken, DriverError>) -> ChangeFault {
    match said {
        Err(DriverError::Change(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

fn refusal(said: Result<Taken, DriverError>) -> Refusal {
    match said {
        Err(DriverError::Refused(refusal)) => *refusal,
        other => panic!("{other:?}"),
    }
}

fn style(disk: &FaultyDisk) -> String {
    String::from_utf8(disk.read_file(STYLE.as_ref()).unwrap()).unwrap()
}

fn opened(disk: &FaultyDisk, flow: &a_society_state::FlowRef) -> Core {
    let mint = Box::new(SeededMint(7));
    let opened = reopen(&store(disk), flow, "/w/project".into(), mint);
    opened.unwrap().0
}

#[test]
fn a_proposal_says_where_it_comes_from_and_is_applied_when_the_operator_says_so() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    propose(&mut core, "a-docs/style.md", "Shorter.\n").unwrap();
    assert_eq!(
        style(&disk),
        "Short.\n",
        "nothing is changed before somebody says so"
    );
    let proposed = facts(&core, "change_proposed");
    let found = facts(&core, "findings_recorded");
    assert_eq!(proposed[0]["finding"], found[0]["seq"]);
    decide(&mut core, true).unwrap();
    assert_eq!(style(&disk), "Shorter.\n");
    assert_eq!(facts(&core, "change_decided")[0]["applied"], true);
    assert!(matches!(
        refusal(decide(&mut core, true)),
        Refusal::NothingProposed
    ));
}

#[test]
fn the_core_goes_on_while_the_file_hangs_that_a_proposal_would_change() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    let gate = disk.hang(HangingCalls::Below("/w/project".into()));
    let command = Verb::Propose {
        role: "owner".parse().unwrap(),
        path: "a-docs/style.md".to_owned(),
        text: "Shorter.\n".to_owned(),
    };
    let begun = Instant::now();
    let obeyed = core.obey_apart(command, None).unwrap();
    assert!(begun.elapsed() < AT_ONCE);
    assert!(matches!(obeyed, Obeyed::Later(_)), "{obeyed:?}");
    assert!(core.state().changes.is_empty());
    gate.open();
    core.run_errands_here().unwrap();
    assert_eq!(core.state().changes.len(), 1);
    assert_eq!(style(&disk), "Short.\n");
}

#[test]
fn the_core_goes_on_while_the_file_hangs_that_is_applied_and_nothing_else_is_decided_about_it() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    propose(&mut core, "a-docs/style.md", "Shorter.\n").unwrap();
    let gate = disk.hang(HangingCalls::Below("/w/project".into()));
    let change = |applied| Verb::Change {
        change: None,
        applied,
    };
    let begun = Instant::now();
    let obeyed = core.obey_apart(change(true), None).unwrap();
    assert!(begun.elapsed() < AT_ONCE);
    assert!(matches!(obeyed, Obeyed::Later(_)), "{obeyed:?}");
    for applied in [true, false] {
        let said = fault(core.obey(change(applied), None));
        assert!(matches!(said, ChangeFault::BeingWritten(_)), "{said:?}");
    }
    assert!(facts(&core, "change_decided").is_empty());
    gate.open();
    core.run_errands_here().unwrap();
    assert_eq!(style(&disk), "Shorter.\n");
    assert_eq!(facts(&core, "change_decided").len(), 1);
}

#[test]
fn a_file_that_is_not_there_yet_is_made_and_one_that_is_declined_is_left() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    propose(&mut core, "a-docs/deep/new.md", "New.\n").unwrap();
    propose(&mut core, "a-docs/style.md", "Longer.\n").unwrap();
    assert!(matches!(
        refusal(decide(&mut core, true)),
        Refusal::ManyProposed { .. }
    ));
    let named = |core: &Core, path: &str| {
        let mut changes = core.state().changes.iter();
        let found = changes.find(|(_, change)| change.path == path);
        found.map(|(name, _)| name.clone())
    };
    let (new, style_change) = (
        named(&core, "a-docs/deep/new.md"),
        named(&core, "a-docs/style.md"),
    );
    for (change, applied) in [(new, true), (style_change, false)] {
        core.obey(Verb::Change { change, applied }, None).unwrap();
    }
    let new = disk.read_file("/w/project/a-docs/deep/new.md".as_ref());
    assert_eq!(new.unwrap(), b"New.\n");
    assert_eq!(style(&disk), "Short.\n");
}

#[test]
fn a_file_that_was_changed_since_is_not_written_over() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    propose(&mut core, "a-docs/style.md", "Shorter.\n").unwrap();
    disk.write_file(STYLE.as_ref(), b"By hand.\n").unwrap();
    let said = fault(decide(&mut core, true));
    assert_eq!(said, ChangeFault::Changed("a-docs/style.md".to_owned()));
    assert_eq!(style(&disk), "By hand.\n");
    assert!(facts(&core, "change_decided").is_empty());
}

#[test]
fn findings_change_nothing_but_what_roles_are_told_and_nobody_finds_for_others() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    for path in [
        "src/main.rs",
        "../style.md",
        "a-docs/../x",
        "/etc/passwd",
        "a-docs",
    ] {
        let said = fault(propose(&mut core, path, "x"));
        assert!(
            matches!(said, ChangeFault::OutOfPlace { .. }),
            "{path}: {said:?}"
        );
    }
    let same = fault(propose(&mut core, "a-docs/style.md", "Short.\n"));
    assert!(matches!(same, ChangeFault::Nothing(_)));
    let command = Verb::Propose {
        role: "writer".parse().unwrap(),
        path: "a-docs/style.md".to_owned(),
        text: "x".to_owned(),
    };
    let refused = core.obey(command, None).unwrap_err().to_string();
    assert_eq!(refused, "writer left no findings in this flow");
}

#[test]
fn a_change_that_is_cut_off_anywhere_is_whole_or_not_there_and_is_said_once() {
    let disk = FaultyDisk::new();
    let mut core = reflected(&disk);
    propose(&mut core, "a-docs/style.md", "Shorter.\n").unwrap();
    let flow = at(&core);
    let left: Arc<Mutex<Vec<FaultyDisk>>> = Arc::default();
    let (keep, watched) = (Arc::clone(&left), disk.clone());
    disk.after_each(Box::new(move |_, _| {
        let mut kept = keep.lock().unwrap();
        let seed = kept.len() as u64;
        kept.extend([watched.kill_clone(), watched.crash_clone(seed)]);
    }));
    decide(&mut core, true).unwrap();
    disk.after_each(Box::new(|_, _| {}));
    let left = std::mem::take(&mut *left.lock().unwrap());
    assert!(left.len() > 10, "{} moments", left.len());
    for (moment, disk) in left.iter().enumerate() {
        let mut core = opened(disk, &flow);
        let said = facts(&core, "change_decided").len();
        let now = style(disk);
        let whole = now == "Short.\n" || now == "Shorter.\n";
        assert!(whole, "moment {moment}: {now:?}");
        assert!(
            said == 0 || now == "Shorter.\n",
            "moment {moment}: said before it was done"
        );
        if said == 0 {
            decide(&mut core, true).unwrap();
        }
        assert_eq!(style(disk), "Shorter.\n", "moment {moment}");
        assert_eq!(facts(&core, "change_decided").len(), 1, "moment {moment}");
    }
}
