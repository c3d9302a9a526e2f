//! T8: processes that race for one flow: never two at once, whichever dies, and whatever it started.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use a_society_state::clock::SystemClock;
use a_society_state::disk::{Disk, How, Locked, RealDisk};
use a_society_state::{Error, Flow, Ground, Store, index, process};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::extent::pick;
use crate::model::{created, flow_ref, titled};
use crate::oracle::records;

/// Says to the test `lock_child` that it is a child, and where the store is.
const CHILD: &str = "A_SOCIETY_PROOF_LOCK_CHILD";
/// How a child's answers begin; the test harness prints other lines, too.
const ANSWER: &str = "lock-child: ";

fn store(root: &Path) -> Store {
    let ground = Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(SystemClock::default()),
        process: process::this(&RealDisk),
        ledger: None,
    };
    Store::new(ground, root.join(".a-society/state"))
}

/// A flow on the machine's own disk.
fn made() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store
        .create(flow_ref().flow, created())
        .unwrap()
        .close()
        .unwrap();
    (folder, store)
}

// The child.

/// Another process, when this binary runs itself; as a test of its own it does nothing.
#[test]
fn lock_child() {
    let Some(root) = std::env::var_os(CHILD) else {
        return;
    };
    let root = Path::new(&root);
    let store = store(root);
    let mut flow: Option<Flow> = None;
    for line in std::io::stdin().lines() {
        let answer = obey(&line.unwrap(), root, &store, &mut flow);
        writeln!(std::io::stdout(), "\n{ANSWER}{answer}").unwrap();
    }
}

#[expect(clippy::zombie_processes, reason = "the tool is to outlive us")]
fn obey(order: &str, root: &Path, store: &Store, flow: &mut Option<Flow>) -> String {
    match order {
        "try" => match store.open(&flow_ref()) {
            Ok((opened, _)) => {
                *flow = Some(opened);
                "held".into()
            }
            Err(Error::Busy { holder }) => format!("busy {holder}"),
            Err(error) => error.to_string(),
        },
        "append" => {
            let held = flow.as_mut().unwrap();
            held.append_durably(titled(1)).unwrap().to_string()
        }
        "free" => {
            drop(flow.take());
            "freed".into()
        }
        "sleep" => {
            let tool = Command::new("sleep").arg("60").spawn().unwrap();
            tool.id().to_string()
        }
        "look" => {
            for _ in 0..pick(2000, 20_000) {
                drop(store.look(&flow_ref()).unwrap());
            }
            "looked".into()
        }
        spin => {
            let times = spin.strip_prefix("spin ").unwrap().parse().unwrap();
            (0..times).for_each(|_| alone(root, store));
            "spun".into()
        }
    }
}

/// Gets in, checks that no other is in, appends, and gets out.
fn alone(root: &Path, store: &Store) {
    let mut flow = loop {
        match store.open(&flow_ref()) {
            Ok((flow, _)) => break flow,
            Err(Error::Busy { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    let inside = root.join("inside");
    File::create_new(&inside).expect("two are inside");
    flow.append_durably(titled(2)).unwrap();
    std::fs::remove_file(inside).unwrap();
}

// The parent.

struct Racer {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Racer {
    fn start(root: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "t8_lock::lock_child", "--nocapture"])
            .env(CHILD, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            orders: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        while self.answers.read_line(&mut line).unwrap() > 0 {
            if let Some(answer) = line.trim_end().strip_prefix(ANSWER) {
                return answer.to_owned();
            }
            line.clear();
        }
        panic!("a child died");
    }

    fn ask(&mut self, order: &str) -> String {
        self.order(order);
        self.answer()
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn of_two_processes_that_race_exactly_one_gets_the_flow() {
    let (folder, store) = made();
    let mut racers = [Racer::start(folder.path()), Racer::start(folder.path())];
    let mut acknowledged = 0;
    for round in 0..pick(50, 1000) {
        let first = round % 2;
        racers[first].order("try");
        racers[1 - first].order("try");
        let answers = [racers[0].answer(), racers[1].answer()];
        let winner = usize::from(answers[1] == "held");
        let loser = 1 - winner;
        assert_eq!(answers[winner], "held", "round {round}: {answers:?}");
        let name = format!("process {}", racers[winner].id());
        assert!(answers[loser].starts_with("busy"), "{answers:?}");
        // The file may not say yet who it is, but it never names another.
        if round % 7 == 0 {
            assert!(racers[loser].ask("try").contains(&name), "who holds it");
        }
        acknowledged = racers[winner].ask("append").parse().unwrap();
        if round % 5 == 4 {
            racers[winner].kill();
        } else {
            assert_eq!(racers[winner].ask("free"), "freed");
        }
        assert_eq!(racers[loser].ask("try"), "held", "at once, round {round}");
        assert_eq!(racers[loser].ask("free"), "freed");
        if round % 5 == 4 {
            racers[winner] = Racer::start(folder.path());
        }
    }
    let (flow, report) = store.open(&flow_ref()).unwrap();
    assert!(report.recovered.is_empty(), "{report:?}");
    assert!(flow.position().seq >= acknowledged);
    assert_eq!(
        records(&store, &flow_ref()).len() as u64,
        flow.position().seq
    );
}

#[test]
fn no_two_processes_are_ever_inside_together() {
    let (folder, store) = made();
    let times = pick(25, 500);
    let mut racers = [(); 3].map(|()| Racer::start(folder.path()));
    for racer in &mut racers {
        racer.order(&format!("spin {times}"));
    }
    for racer in &mut racers {
        assert_eq!(racer.answer(), "spun");
    }
    let appended = titled(2);
    let there = records(&store, &flow_ref());
    let count = there.values().filter(|fact| **fact == appended).count();
    assert_eq!(
        count,
        times * racers.len(),
        "every append of everybody is there"
    );
}

#[test]
fn a_tool_that_outlives_its_killed_process_does_not_keep_the_flow() {
    let (folder, store) = made();
    for _ in 0..pick(3, 20) {
        let mut holder = Racer::start(folder.path());
        assert_eq!(holder.ask("try"), "held");
        let tool = holder.ask("sleep").parse().unwrap();
        let tool = Pid::from_raw(tool).unwrap();
        assert!(matches!(store.open(&flow_ref()), Err(Error::Busy { .. })));
        holder.kill();
        let opened = store.open(&flow_ref());
        test_kill_process(tool).expect("the tool still runs");
        kill_process(tool, Signal::KILL).unwrap();
        assert!(opened.is_ok(), "{opened:?}");
    }
}

#[test]
fn a_look_beside_the_holder_says_who_it_is_and_takes_nothing() {
    let (folder, store) = made();
    let mut holder = Racer::start(folder.path());
    assert_eq!(holder.ask("try"), "held");
    holder.ask("append");
    let seen = store.look(&flow_ref()).unwrap();
    let name = format!("process {}", holder.id());
    assert!(seen.held_by.is_some_and(|who| who.contains(&name)));
    assert!(seen.damage.is_none() && seen.torn.is_none());
    holder.ask("append");
    assert_eq!(holder.ask("free"), "freed");
    assert_eq!(store.look(&flow_ref()).unwrap().held_by, None);
}

#[test]
fn a_workspace_that_others_could_read_is_closed_with_the_address_of_its_server() {
    use std::fs::{Permissions, metadata, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    let (folder, store) = made();
    let ours = folder.path().join(".a-society");
    write(ours.join("server.json"), "{}").unwrap();
    for (path, mode) in [("", 0o755), ("server.json", 0o644), ("state", 0o755)] {
        set_permissions(ours.join(path), Permissions::from_mode(mode)).unwrap();
    }
    assert!(store.keep_private().unwrap() > 0);
    for (path, expected) in [("", 0o700), ("server.json", 0o600), ("state", 0o700)] {
        let mode = metadata(ours.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{path}");
    }
    assert_eq!(store.keep_private().unwrap(), 0);
}

#[test]
fn the_list_names_the_holder_of_a_flow_that_waits_and_has_no_new_record() {
    let (folder, store) = made();
    let holder_of = || index::rows(&store, &[flow_ref()]).remove(0).held_by;
    assert_eq!(holder_of(), None);
    let mut holder = Racer::start(folder.path());
    assert_eq!(holder.ask("try"), "held");
    let name = format!("process {}", holder.id());
    assert!(holder_of().is_some_and(|who| who.contains(&name)));
    assert_eq!(holder.ask("free"), "freed");
    assert_eq!(holder_of(), None);
}

#[test]
fn whoever_only_looks_keeps_no_one_out() {
    let (folder, store) = made();
    let mut onlookers = [(); 3].map(|()| Racer::start(folder.path()));
    for onlooker in &mut onlookers {
        onlooker.order("look");
    }
    for round in 0..pick(100, 1000) {
        let opened = store.open(&flow_ref());
        assert!(opened.is_ok(), "round {round}: {opened:?}");
    }
    for onlooker in &mut onlookers {
        assert_eq!(onlooker.answer(), "looked");
    }
}

#[test]
fn a_lock_ends_with_its_handle_although_a_copy_of_the_descriptor_lives_on() {
    // A process that starts a program holds copies of all descriptors for a moment.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let open = || RealDisk.open(&path, How::CreateOrAppend).unwrap();
    let (mut first, mut second) = (open(), open());
    assert_eq!(first.try_lock().unwrap(), Locked::Yes);
    let copy = first.share().unwrap();
    assert_eq!(second.try_lock().unwrap(), Locked::Busy);
    drop(first);
    assert_eq!(second.try_lock().unwrap(), Locked::Yes);
    drop(copy);
}
