//! Turns that follow a script: what they say, what they do, and what a crash does not repeat.

use std::sync::Arc;

use proptest::prelude::*;

use super::stage::{Stage, job, user};
use crate::handoff::Signal;
use crate::taker::scripted::{RoleScript, ScriptedTaker};
use crate::turn::job::TurnJob;
use crate::turn::step::{StepReply, TakerEnd, TurnStep};
use crate::turn::taker::Taker as _;

fn script(text: &str) -> RoleScript {
    RoleScript::parse(text).unwrap()
}

fn taker(script: &RoleScript, stage: &Stage) -> ScriptedTaker {
    ScriptedTaker::new(script, Arc::new(stage.job.clone()), stage.files.clone())
}

/// Plays a whole turn.
fn played(text: &str, job: TurnJob) -> Stage {
    let script = script(text);
    let mut stage = Stage::new(job);
    let mut taker = taker(&script, &stage);
    stage
        .run(&mut taker, StepReply::Begin, 1_000)
        .expect("the turn ends");
    stage
}

const WHOLE: &str = "\
script:
  - role: writer
    node: draft
    usage: { input-tokens: 100 }
    say:
      - I look at the plan.
      - reasoning: Hm.
      - wait-ms: 5
      - call: { tool: read_file, input: { path: plan.md }, output: the plan, takes-ms: 7 }
      - call: { tool: run, output: no, effect: mutating, fails: true }
      - stream: { text: Now I write it., pieces: 3, every-ms: 2 }
      - fault: { class: overloaded, retry-in-ms: 50 }
      - write: { path: notes/a.md, text: The notes. }
      - Here it is.
      - handoff: { to: review, artifact: notes/a.md }
";

#[test]
fn a_turn_says_and_does_what_its_script_says_in_that_order() {
    let stage = played(WHOLE, job("writer", "draft", 0));
    insta::assert_snapshot!(stage.page());
    assert_eq!(stage.files.texts()["notes/a.md"], "The notes.");
}

#[test]
fn a_file_is_not_written_before_the_start_of_its_call_is_recorded() {
    let script = script(WHOLE);
    let mut stage = Stage::new(job("writer", "draft", 0));
    let mut taker = taker(&script, &stage);
    let is_start = |line: &String| line.starts_with("start 7.1.3");
    while !stage.lines.iter().any(is_start) {
        assert!(stage.files.texts().is_empty());
        let told = if stage.lines.is_empty() {
            StepReply::Begin
        } else {
            done(&stage)
        };
        stage.run(&mut taker, told, 1);
    }
    assert!(stage.files.texts().is_empty());
    stage.run(&mut taker, done(&stage), 1);
    assert_eq!(stage.files.texts().len(), 1);
}

/// The reply that the stage would have given, when a test drives a run step by step.
fn done(stage: &Stage) -> StepReply {
    let last = stage.lines.last().unwrap();
    let call = last
        .strip_prefix("intend ")
        .map(|rest| rest.split(' ').next().unwrap().parse().unwrap());
    StepReply::Done { call }
}

#[test]
fn the_first_entry_that_fits_the_role_the_node_and_the_turn_is_taken() {
    let text = "
script:
  - { role: writer, node: draft, turn: 2, say: [second] }
  - { role: writer, node: draft, say: [any at draft] }
  - { node: draft, turn: 1, say: [whoever is first] }
  - { role: writer, say: [elsewhere] }
  - { role: writer, phase: meta-analysis, say: [looking back] }
";
    let table = [
        ("writer", "draft", 0, "any at draft"),
        ("writer", "draft", 1, "second"),
        ("editor", "draft", 0, "whoever is first"),
        ("writer", "final", 4, "elsewhere"),
    ];
    for (role, node, turns_before, expected) in table {
        let page = played(text, job(role, node, turns_before)).page();
        assert!(page.contains(&format!("{expected:?}")), "{page}");
    }
    let mut looks_back = job("writer", "draft", 0);
    looks_back.node = None;
    assert!(played(text, looks_back).page().contains("looking back"));
}

#[test]
fn a_turn_without_an_entry_is_an_error_that_says_what_is_missing() {
    let page = played("script: []", job("writer", "draft", 1)).page();
    insta::assert_snapshot!(page, @r#"end Aborted { why: "the script says nothing for role `writer` at node `draft`, turn 2; add an entry that fits it, or `default: forward`", class: None }"#);
}

#[test]
fn a_turn_by_default_hands_to_every_neighbour_and_closes_where_there_is_none() {
    let mut wide = job("writer", "draft", 1);
    wide.allowed.forward = vec!["a".to_owned(), "b".to_owned()];
    let stage = played("default: forward", wide);
    let files = stage.files.texts();
    let paths: Vec<&String> = files.keys().collect();
    assert_eq!(paths, ["draft-to-a-2.md", "draft-to-b-2.md"]);
    let end = stage.lines.last().unwrap();
    assert!(
        end.contains("\"a record/draft-to-a-2.md\", \"b record/draft-to-b-2.md\""),
        "{end}"
    );

    let mut closing = job("owner", "close", 0);
    closing.allowed.forward.clear();
    closing.allowed.signals.push(Signal::ForwardPassClosed);
    let stage = played("default: forward", closing);
    assert!(
        stage.page().contains("end ForwardPassClosed"),
        "{}",
        stage.page()
    );
}

#[test]
fn a_reflection_by_default_writes_exactly_the_assigned_file() {
    let mut job = job("writer", "draft", 0);
    job.node = None;
    job.allowed.signals = vec![Signal::MetaAnalysisComplete {
        findings_path: "record/findings/writer-findings.md".to_owned(),
    }];
    let stage = played("default: forward", job);
    assert!(
        stage
            .files
            .texts()
            .contains_key("findings/writer-findings.md")
    );
    let path = "findings_path: \"record/findings/writer-findings.md\"";
    assert!(stage.page().contains(path), "{}", stage.page());
}

#[test]
fn a_turn_that_must_mend_its_outcome_says_the_next_thing_and_then_repeats_it() {
    let text = "
script:
  - role: writer
    say: [ { raw: 'type: nonsense' } ]
    mend:
      - say: [ { call: { tool: look } }, no block ]
      - say: [ { back: Not good enough. } ]
";
    let script = script(text);
    let mut stage = Stage::new(job("writer", "draft", 0));
    let mut taker = taker(&script, &stage);
    stage.run(&mut taker, StepReply::Begin, 100);
    for _ in 0..3 {
        let told = stage.mend();
        stage
            .run(&mut taker, told, 100)
            .expect("the turn ends again");
    }
    insta::assert_snapshot!(stage.page());
}

#[test]
fn faults_without_a_retry_end_the_turn() {
    let table = [
        (
            "{ fault: { class: auth, message: no key } }",
            "Provider { trouble: Key, why: \"no key\", class: Some(\"auth\"), servers: [], again_in_ms: None }",
        ),
        (
            "{ fault: { class: limit, message: later, resets-in-ms: 9000 } }",
            "why: \"later\", class: Some(\"limit\"), servers: [], again_in_ms: Some(9000) }",
        ),
        (
            "{ fault: { class: bad_request } }",
            "fail: bad_request\", class: Some(\"bad_request\") }",
        ),
        ("{ cut: true }", "class: Some(\"stream_cut\") }"),
        ("{ output-limit: true }", "OutputLimit"),
    ];
    for (item, expected) in table {
        let text = format!("script: [ {{ role: writer, say: [half, {item}] }} ]");
        let page = played(&text, job("writer", "draft", 0)).page();
        assert!(page.lines().last().unwrap().contains(expected), "{page}");
    }
}

#[test]
fn a_stream_that_is_cut_is_said_again_from_its_beginning() {
    let text = "script: [ { role: writer, say: [one, { cut: { retry-in-ms: 3 } }, two] } ]";
    let page = played(text, job("writer", "draft", 0)).page();
    insta::assert_snapshot!(page, @r#"
    ask scripted
    draft "one"
    failed stream_cut, retry Some(3)
    discard: the request failed and is asked again
    wait 3
    ask scripted
    draft "one"
    draft "\n\ntwo"
    answer "one\n\ntwo" []
    end fault missing_block
    "#);
}

#[test]
fn a_stop_is_answered_at_any_moment_and_nothing_follows() {
    let script = script(WHOLE);
    for steps in 0..20 {
        let mut stage = Stage::new(job("writer", "draft", 0));
        let mut taker = taker(&script, &stage);
        stage.run(&mut taker, StepReply::Begin, steps);
        for _ in 0..2 {
            assert!(matches!(
                taker.next(StepReply::Stop),
                TurnStep::End(TakerEnd::Aborted { .. })
            ));
        }
    }
}

#[test]
fn a_turn_goes_on_after_a_crash_at_any_step_and_repeats_nothing_that_is_recorded() {
    let script = script(WHOLE);
    let whole = played(WHOLE, job("writer", "draft", 0));
    for steps in 0..whole.lines.len() {
        let stage = crashed(&script, &[steps]);
        let answers = |stage: &Stage| -> Vec<String> {
            let is_answer = |line: &&String| line.starts_with("answer ");
            stage.lines.iter().filter(is_answer).cloned().collect()
        };
        assert_eq!(
            answers(&stage),
            answers(&whole),
            "after {steps} steps\n{}",
            stage.page()
        );
        assert_eq!(stage.lines.last(), whole.lines.last(), "{}", stage.page());
        assert_eq!(stage.files.texts(), whole.files.texts());
    }
}

/// Plays the turn with a crash after so many steps, again and again.
fn crashed(script: &RoleScript, crashes: &[usize]) -> Stage {
    let mut stage = Stage::new(job("writer", "draft", 0));
    for steps in crashes {
        let mut taker = taker(script, &stage);
        if stage.run(&mut taker, StepReply::Begin, *steps).is_some() {
            return stage;
        }
        stage.crash();
    }
    let mut taker = taker(script, &stage);
    stage
        .run(&mut taker, StepReply::Begin, 1_000)
        .expect("the turn ends");
    stage
}

proptest! {
    /// The stage itself checks that every step is legal and that no result is given twice.
    #[test]
    fn however_often_a_turn_is_cut_off_it_ends_as_it_would_have(
        crashes in prop::collection::vec(0_usize..30, 0..8)
    ) {
        let script = script(WHOLE);
        let stage = crashed(&script, &crashes);
        let end = stage.lines.last().unwrap();
        prop_assert!(end.contains("review notes/a.md"), "{}", stage.page());
        prop_assert_eq!(stage.job.answers_before, 3);
    }
}

#[test]
fn a_repair_that_was_told_before_a_crash_is_answered_after_it() {
    let text = "script: [ { role: writer, say: [a], mend: [ { say: [b] } ] } ]";
    let script = script(text);
    let mut stage = Stage::new(job("writer", "draft", 0));
    let mut first = taker(&script, &stage);
    stage.run(&mut first, StepReply::Begin, 100);
    stage.mend();
    stage.crash();
    let mut second = taker(&script, &stage);
    stage.run(&mut second, StepReply::Begin, 100);
    assert!(stage.page().contains("answer \"b\""), "{}", stage.page());
}

#[test]
fn an_answer_that_was_recorded_but_not_judged_is_judged_and_not_said_again() {
    let text = "script: [ { role: writer, say: [ { signal: await-handoff } ] } ]";
    let script = script(text);
    let mut stage = Stage::new(job("writer", "draft", 0));
    let mut first = taker(&script, &stage);
    stage.run(&mut first, StepReply::Begin, 3);
    stage.crash();
    let mut second = taker(&script, &stage);
    stage.run(&mut second, StepReply::Begin, 100);
    let asked = stage
        .lines
        .iter()
        .filter(|line| line.starts_with("ask"))
        .count();
    assert_eq!(asked, 1, "{}", stage.page());
}

#[test]
fn a_session_that_was_compacted_in_between_goes_on_with_the_next_answer() {
    let script = script(WHOLE);
    let mut job = job("writer", "draft", 0);
    job.answers_before = 1;
    job.resumed = true;
    job.history = vec![user("What was said before, in short.").into()];
    let mut stage = Stage::new(job);
    let mut taker = taker(&script, &stage);
    stage.run(&mut taker, StepReply::Begin, 100);
    assert!(
        !stage.page().contains("I look at the plan"),
        "{}",
        stage.page()
    );
}
