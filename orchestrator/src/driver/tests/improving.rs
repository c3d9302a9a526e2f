//! The improvement phase, walked whole: who looks back when, with whose findings, and after a death
//! at any step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::session::Origin;
use a_society_facts::id::RoleInstance;
use a_society_facts::message::Message;
use a_society_facts::view::flow::FlowStatus;
use a_society_facts::{Verb, Whom};
use a_society_in_memory::FaultyDisk;
use a_society_roles::turn::step::StepReply;

use super::super::attempt::Heard;
use super::super::room::Room;
use super::sim::seeds;
use super::{HELLO, Running, at, begin, facts, read, store, walk};
use crate::driver::core::{Core, FEEDBACK_ROLE};
use crate::mint::{Mint, SeededMint};
use crate::run::reopen;

/// Nodes as their roles, in the order of the file, and edges by their places.
struct Drawn {
    roles: Vec<String>,
    edges: BTreeSet<(usize, usize)>,
}

impl Drawn {
    /// A sound graph: the first node begins, the last one closes, and every other one has a way
    /// from the first and a way to the last.
    fn of(seed: u64) -> Self {
        const ROLES: [&str; 6] = ["owner", "writer", "writer_2", "editor", "tester", "legal"];
        let mut dice = SeededMint(seed);
        let mut roll = |sides: usize| usize::try_from(dice.number() % sides as u128).unwrap();
        let count = 1 + roll(9);
        let last = count - 1;
        let kinds = 1 + roll(ROLES.len());
        let role = |place: usize, kind: usize| if place == 0 || place == last { 0 } else { kind };
        let roles = (0..count).map(|place| ROLES[role(place, roll(kinds))].to_owned());
        let roles: Vec<String> = roles.collect();
        let mut edges = BTreeSet::new();
        for _ in 0..roll(2 * count) {
            let (one, other) = (roll(count), roll(count));
            if one != other {
                edges.insert((one.min(other), one.max(other)));
            }
        }
        for place in 1..count {
            if !edges.iter().any(|(_, to)| *to == place) {
                edges.insert((roll(place), place));
            }
        }
        for place in 0..last {
            if !edges.iter().any(|(from, _)| *from == place) {
                edges.insert((place, last));
            }
        }
        Self { roles, edges }
    }

    fn file(&self) -> String {
        let mut text = "workflow:\n  name: Drawn\n  nodes:\n".to_owned();
        for (place, role) in self.roles.iter().enumerate() {
            writeln!(
                text,
                "    - {{ id: n{place}, role: {role}, await-all-inputs: true }}"
            )
            .unwrap();
        }
        text.push_str("  edges: [");
        for (from, to) in &self.edges {
            write!(text, "{{ from: n{from}, to: n{to} }},").unwrap();
        }
        text.push_str("]\nroles:\n");
        let bases: BTreeSet<&str> = self.roles.iter().map(|role| base(role)).collect();
        for base in bases {
            writeln!(text, "  {base}: {{ executor: scripted }}").unwrap();
        }
        text
    }

    /// Whose findings each role gets: the rules, word for word and without any thrift.
    fn after(&self, mode: ImprovementMode) -> BTreeMap<String, BTreeSet<String>> {
        let all: BTreeSet<String> = self.roles.iter().cloned().collect();
        if mode == ImprovementMode::Parallel {
            let nobody = |role: &String| (role.clone(), BTreeSet::new());
            let mut after: BTreeMap<_, _> = all.iter().map(nobody).collect();
            let owner = self.roles[0].clone();
            let others = all.into_iter().filter(|role| *role != owner).collect();
            after.insert(owner, others);
            return after;
        }
        let mut distance = vec![usize::MAX; self.roles.len()];
        distance[0] = 0;
        for _ in &self.roles {
            for (from, to) in &self.edges {
                distance[*to] = distance[*to].min(distance[*from].saturating_add(1));
            }
        }
        let nearest = |role: &String| {
            let own = (0..self.roles.len()).filter(|place| self.roles[*place] == *role);
            own.min_by_key(|place| (distance[*place], *place)).unwrap()
        };
        let kept: BTreeSet<usize> = all.iter().map(nearest).collect();
        let reached = |from: usize| {
            let mut found = BTreeSet::new();
            self.follow(from, &kept, &mut found);
            found
        };
        (kept.iter())
            .map(|from| (self.roles[*from].clone(), reached(*from)))
            .collect()
    }

    fn follow(&self, from: usize, kept: &BTreeSet<usize>, found: &mut BTreeSet<String>) {
        for (_, to) in self.edges.iter().filter(|(begin, _)| *begin == from) {
            if kept.contains(to) {
                found.insert(self.roles[*to].clone());
            } else {
                self.follow(*to, kept, found);
            }
        }
    }
}

fn base(role: &str) -> &str {
    role.split('_').next().unwrap()
}

fn choose(core: &mut Core, mode: ImprovementMode) {
    core.obey(Verb::Improve { mode }, None).unwrap();
}

/// The roles that are done, and those that are at it.
fn roles(core: &Core) -> (BTreeSet<String>, BTreeSet<String>) {
    let improvement = core.state().improvement.as_ref().unwrap();
    let (done, at_it) = improvement
        .roles
        .iter()
        .partition::<Vec<_>, _>(|(_, role)| role.findings.is_some());
    let names = |roles: Vec<(&RoleInstance, _)>| roles.iter().map(|(r, _)| r.to_string()).collect();
    (names(done), names(at_it))
}

/// Walks the reflection. After every step exactly those are at it whose turn the rules say it is.
fn reflect(core: &mut Core, after: &BTreeMap<String, BTreeSet<String>>, seed: u64) {
    let mut running: Vec<Running> = Vec::new();
    let mut dice = SeededMint(seed ^ 0x0e11);
    loop {
        let starts = core.advance().unwrap();
        running.extend(starts.into_iter().map(|start| Running {
            start,
            told: Some(StepReply::Begin),
        }));
        let (done, at_it) = roles(core);
        let due = |(role, after): &(&String, &BTreeSet<String>)| {
            !done.contains(*role) && after.is_subset(&done)
        };
        let due: BTreeSet<String> = after.iter().filter(due).map(|(r, _)| r.clone()).collect();
        assert_eq!(at_it, due, "seed {seed}");
        if running.is_empty() {
            return;
        }
        let pick = usize::try_from(dice.number() % running.len() as u128).unwrap();
        let mut turn = running.swap_remove(pick);
        let step = turn.start.taker.next(turn.told.take().unwrap());
        let (id, attempt) = (turn.start.turn, turn.start.attempt);
        if let Heard::Go(told) = core.step(id, attempt, step).unwrap() {
            turn.told = Some(told);
            running.push(turn);
        }
    }
}

/// The packet for a role's retrospective.
fn packets(core: &Core, role: &str) -> Vec<String> {
    let role: RoleInstance = role.parse().unwrap();
    let session = core.flow().views().session(&role).unwrap();
    let told = session.messages.iter().filter_map(|entry| {
        let is_packet = entry.origin == Some(Origin::Improvement);
        match &*entry.message {
            Message::User { content } if is_packet => Some(content.clone()),
            Message::User { .. }
            | Message::Assistant { .. }
            | Message::AssistantToolCalls { .. }
            | Message::ToolResult { .. } => None,
        }
    });
    told.collect()
}

#[test]
fn on_any_graph_roles_look_back_when_the_rules_say_so_and_with_exactly_those_findings() {
    for seed in seeds(60) {
        let drawn = Drawn::of(seed);
        for mode in [ImprovementMode::GraphBased, ImprovementMode::Parallel] {
            let after = drawn.after(mode);
            if mode == ImprovementMode::Parallel && after.len() < 2 {
                continue;
            }
            let mut core = begin(&FaultyDisk::new(), &drawn.file(), "default: forward");
            walk(&mut core, usize::MAX);
            let status = core.state().status;
            let read = || read(&core);
            assert_eq!(
                status,
                FlowStatus::AwaitingImprovementChoice,
                "seed {seed}: {}",
                read()
            );
            choose(&mut core, mode);
            reflect(&mut core, &after, seed);
            assert_eq!(core.state().status, FlowStatus::AwaitingFeedbackConsent);
            for (role, wanted) in &after {
                let packets = packets(&core, role);
                assert_eq!(packets.len(), 1, "seed {seed}: {role} looks back once");
                let got = |other: &&String| packets[0].contains(&format!("Written by `{other}`,"));
                let got: BTreeSet<String> = after.keys().filter(got).cloned().collect();
                assert_eq!(got, *wanted, "seed {seed}, {mode:?}: what {role} gets");
            }
        }
    }
}

#[test]
fn a_hundred_roles_begin_in_one_step_as_far_as_the_turns_at_once_allow() {
    let name = |number: usize| match number {
        1 => "writer".to_owned(),
        number => format!("writer_{number}"),
    };
    let mut roles: Vec<String> = (1..100).map(name).collect();
    roles.insert(0, "owner".to_owned());
    roles.push("owner".to_owned());
    let edges = (1..100).flat_map(|place| [(0, place), (place, 100)]);
    let drawn = Drawn {
        edges: edges.collect(),
        roles,
    };
    for (turns, most) in [(100, 99), (8, 8)] {
        let mut core = begin(&FaultyDisk::new(), &drawn.file(), "default: forward");
        core.share(Room::new(100));
        core.limit_turns(Some(turns));
        walk(&mut core, usize::MAX);
        choose(&mut core, ImprovementMode::Parallel);
        let mut running: Vec<Running> = Vec::new();
        let mut first = None;
        loop {
            let starts = core.advance().unwrap();
            first.get_or_insert(starts.len());
            running.extend(starts.into_iter().map(|start| Running {
                start,
                told: Some(StepReply::Begin),
            }));
            let (done, _) = roles_or_none(&core);
            let left = 99_usize.saturating_sub(done);
            let wanted = if done >= 99 {
                running.len()
            } else {
                left.min(turns)
            };
            assert_eq!(core.live_turns(), wanted, "{done} are done");
            if running.is_empty() {
                break;
            }
            let mut turn = running.remove(0);
            let step = turn.start.taker.next(turn.told.take().unwrap());
            let (id, attempt) = (turn.start.turn, turn.start.attempt);
            if let Heard::Go(told) = core.step(id, attempt, step).unwrap() {
                turn.told = Some(told);
                running.push(turn);
            }
        }
        assert_eq!(first, Some(most), "{turns} turns at once");
        assert_eq!(core.state().status, FlowStatus::AwaitingFeedbackConsent);
    }
}

fn roles_or_none(core: &Core) -> (usize, usize) {
    let (done, at_it) = roles(core);
    (done.len(), at_it.len())
}

/// A writer that asks, names a wrong file, then one that is not there, then says something else.
const STUBBORN: &str = r"
default: forward
script:
  - role: writer
    phase: meta-analysis
    turn: 1
    say: [ 'May I name names?', { signal: prompt-human } ]
  - role: writer
    phase: meta-analysis
    say:
      - write: { path: elsewhere.md, text: 'Elsewhere.' }
      - raw: 'type: meta-analysis-complete

          findings_path: elsewhere.md'
    mend:
      - say: [ { signal: meta-analysis-complete } ]
      - say: [ { signal: await-handoff } ]
      - say: [ { report: 'The writer found out.' }, { signal: meta-analysis-complete } ]
  - role: owner
    phase: meta-analysis
    say: [ { report: 'The owner found out.' }, { signal: meta-analysis-complete } ]
  - role: a-society-feedback
    phase: feedback
    say: [ { report: 'Put together.' }, { signal: backward-pass-complete } ]
";

/// Says what the flow asks for, once.
fn answer(core: &mut Core) -> bool {
    let waits = core.state().waits().count() > 0;
    let input = match core.state().status {
        FlowStatus::AwaitingImprovementChoice => Verb::Improve {
            mode: ImprovementMode::GraphBased,
        },
        FlowStatus::AwaitingFeedbackConsent => Verb::Feedback { granted: true },
        FlowStatus::Improving if waits => Verb::Reply {
            asked: None,
            to: Whom::Only,
            text: "You may.".into(),
        },
        FlowStatus::Running
        | FlowStatus::Paused(_)
        | FlowStatus::Improving
        | FlowStatus::Feedback
        | FlowStatus::Completed
        | FlowStatus::Cancelled => return false,
    };
    core.obey(input, None).unwrap();
    true
}

/// Walks and answers until so many steps were taken, or nothing is left to do.
pub(super) fn improve(core: &mut Core, steps_max: usize) -> usize {
    let mut steps = 0;
    loop {
        steps += walk(core, steps_max - steps);
        if steps >= steps_max || !answer(core) {
            return steps;
        }
    }
}

/// Everybody looked back once, in the right place, and the report holds together.
fn check(core: &Core, when: &str) {
    assert_eq!(
        core.state().status,
        FlowStatus::Completed,
        "{when}: {}",
        read(core)
    );
    let found: Vec<_> = (facts(core, "findings_recorded").iter())
        .map(|fact| (fact["role"].clone(), fact["findings"]["text"].clone()))
        .collect();
    let wanted = [
        ("writer".into(), "The writer found out.".into()),
        ("owner".into(), "The owner found out.".into()),
    ];
    assert_eq!(found, wanted, "{when}");
    assert_eq!(facts(core, "feedback_recorded").len(), 1, "{when}");
    for role in ["writer", "owner", FEEDBACK_ROLE] {
        let packets = packets(core, role);
        assert_eq!(packets.len(), 1, "{when}: {role}");
        let gets = |text: &str| packets[0].contains(text);
        assert_eq!(gets("The writer found out."), role != "writer", "{when}");
        assert_eq!(
            gets("The owner found out."),
            role == FEEDBACK_ROLE,
            "{when}"
        );
    }
    // The report is written by a role that saw nothing of the flow.
    let report: RoleInstance = FEEDBACK_ROLE.parse().unwrap();
    let session = core.flow().views().session(&report).unwrap();
    let first = &session.messages.first().unwrap().origin;
    assert_eq!(*first, Some(Origin::Improvement), "{when}");
}

#[test]
fn a_wrong_path_a_missing_file_and_another_signal_are_mended_and_a_question_is_answered() {
    let mut core = begin(&FaultyDisk::new(), HELLO, STUBBORN);
    improve(&mut core, usize::MAX);
    check(&core, "unharmed");
    let codes: Vec<_> = (facts(&core, "repair_requested").iter())
        .map(|fact| fact["code"].clone())
        .collect();
    assert_eq!(
        codes,
        ["wrong_path", "artifact_unavailable", "wrong_signal"]
    );
}

#[test]
fn the_improvement_phase_goes_on_after_a_death_at_any_step() {
    let whole = improve(&mut begin(&FaultyDisk::new(), HELLO, STUBBORN), usize::MAX);
    for steps in 0..whole {
        let disk = FaultyDisk::new();
        let mut core = begin(&disk, HELLO, STUBBORN);
        improve(&mut core, steps);
        let flow = at(&core);
        let dead = disk.kill_clone();
        drop(core);
        let mint = Box::new(SeededMint(2));
        let opened = reopen(&store(&dead), &flow, "/w/project".into(), mint);
        let (mut core, _) = opened.unwrap();
        improve(&mut core, usize::MAX);
        check(&core, &format!("killed after {steps} of {whole} steps"));
    }
}

#[test]
fn findings_in_the_project_do_not_count_as_those_of_the_record() {
    let script = r"
default: forward
script:
  - role: owner
    phase: meta-analysis
    say: [ { signal: meta-analysis-complete } ]
";
    let disk = FaultyDisk::new();
    let file = "workflow: { name: Alone, nodes: [ { id: all, role: owner } ], edges: [] }\n\
                roles: { owner: { executor: scripted } }\n";
    let mut core = begin(&disk, file, script);
    disk.make_folder("/w/project/findings".as_ref()).unwrap();
    disk.write_file(
        "/w/project/findings/owner-findings.md".as_ref(),
        b"Not there.",
    )
    .unwrap();
    walk(&mut core, 300);
    assert!(answer(&mut core), "{}", read(&core));
    walk(&mut core, 300);
    assert_eq!(core.state().waits().count(), 1, "{}", read(&core));
    assert!(facts(&core, "findings_recorded").is_empty());
}

#[test]
fn the_record_says_what_the_flow_is_and_how_its_roles_look_back() {
    let disk = FaultyDisk::new();
    let mut core = begin(&disk, HELLO, STUBBORN);
    improve(&mut core, usize::MAX);
    let record = core.flow().folder().record();
    let text = |name: &str| String::from_utf8(disk.read_file(&record.join(name)).unwrap()).unwrap();
    let flow = core.flow().id();
    let wanted = [
        "# Written by the runtime; what is changed here is written over.",
        "record:",
        &format!("  flow: \"{flow}\""),
        "  project: \"demo\"",
        "  title: \"Hello\"",
        "  created: \"2026-11-21T07:29:29.126Z\"",
        "  name: \"Hello\"",
        "  owner: \"owner\"",
    ];
    assert_eq!(text("record.yaml").lines().collect::<Vec<_>>(), wanted);
    let wanted = [
        "# Written by the runtime; what is changed here is written over.",
        "improvement:",
        "  mode: graph-based",
        "  nodes:",
        "    - { role: writer, findings: \"record/findings/writer-findings.md\" }",
        "    - { role: owner, findings: \"record/findings/owner-findings.md\" }",
        "  edges:",
        "    - { from: writer, to: owner }",
        "  feedback: { role: a-society-feedback, report: \"record/feedback.md\" }",
    ];
    assert_eq!(text("improvement.yaml").lines().collect::<Vec<_>>(), wanted);
    // A file that was overwritten comes back with the flow.
    let flow = at(&core);
    core.close().unwrap();
    disk.write_file(&record.join("improvement.yaml"), b"mine")
        .unwrap();
    let mint = Box::new(SeededMint(2));
    let reopened = reopen(&store(&disk), &flow, "/w/project".into(), mint).unwrap();
    assert_ne!(text("improvement.yaml"), "mine");
    drop(reopened);
}

#[test]
fn a_flow_that_has_a_role_of_that_name_gets_its_report_from_another() {
    let file = HELLO.replace("writer", FEEDBACK_ROLE);
    let mut core = begin(&FaultyDisk::new(), &file, "default: forward");
    improve(&mut core, usize::MAX);
    assert_eq!(
        core.state().status,
        FlowStatus::Completed,
        "{}",
        read(&core)
    );
    let improvement = core.state().improvement.as_ref().unwrap();
    let role = improvement.feedback.role.as_ref().unwrap();
    assert_eq!(role.as_str(), "a-society-feedback-2");
}

#[test]
fn a_program_is_not_run_once_more_to_look_back() {
    let file = HELLO.replace(
        "writer: { executor: scripted }",
        "writer: { executor: command, command: { run: [ 'true' ] } }",
    );
    let mut core = begin(&FaultyDisk::new(), &file, "default: forward");
    // The program itself cannot run on a disk in memory; the test decides for it.
    for _ in 0..4 {
        walk(&mut core, usize::MAX);
        if core.state().waits().count() > 0 {
            let record = core.flow().folder().record();
            let disk = core.flow().disk();
            a_society_state::atomic::replace(disk, &record.join("by-hand.md"), b"x").unwrap();
            let reply = Verb::Reply {
                to: Whom::Only,
                text: "forward: by-hand.md".to_owned(),
                asked: None,
            };
            core.obey(reply, None).unwrap();
        } else {
            answer(&mut core);
        }
    }
    let found = facts(&core, "findings_recorded");
    let of_writer = found.iter().find(|fact| fact["role"] == "writer").unwrap();
    let text = of_writer["findings"]["text"].as_str().unwrap();
    assert!(
        text.contains("is a program") && text.contains("true"),
        "{text}"
    );
    let calls = facts(&core, "call_intended");
    let runs = calls
        .iter()
        .filter(|call| call["role"] == "writer" && call["tool"] != "write_file");
    assert!(runs.count() <= 1, "{calls:?}");
}
