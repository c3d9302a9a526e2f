//! Scripts that can be read, and everything that is wrong with those that cannot.

use proptest::prelude::*;

use crate::taker::scripted::RoleScript;

/// Every fault of a script, one a line.
fn faults(text: &str) -> String {
    let faults = RoleScript::parse(text).expect_err("it is faulty");
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn the_script_in_the_reference_is_one_that_can_be_read() {
    let page = include_str!("../scripted/mod.rs");
    let block = page.split("```").nth(1).unwrap();
    let lines: Vec<&str> = block
        .lines()
        .skip(1)
        .map(|line| {
            line.trim_start_matches("//!")
                .strip_prefix(' ')
                .unwrap_or("")
        })
        .collect();
    // The example shows every item, also where a script would not have both.
    let script = RoleScript::parse(&lines.join("\n")).unwrap();
    assert_eq!(script.entries.len(), 1);
    assert_eq!(script.entries[0].say.len(), 12);
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place() {
    let text = "\
defalt: forward
script:
  - role: Writer
    trun: 1
    say: []
  - node: a
    turn: 0
    say:
      - txt: x
      - text: 12
      - call: { input: [1], effect: checkable, fails: yes }
      - write: { path: ../x, text: y }
      - { text: a, wait-ms: 1 }
      - stream: { text: a, pieces: 0, evry-ms: 3 }
      - fault: { class: Over Loaded }
      - cut: false
      - handoff: []
      - handoff: [ { to: b } ]
      - signal: closed
      - wait-ms: -1
      - null
  - { say: [x] }
  - { role: a, node: n, phase: feedback, say: [x] }
  - { role: b, say: [ { signal: prompt-human }, x, { wait-ms: 1 } ] }
  - { role: c, usage: { input_tokens: 1 }, say: [x], mend: [ { sy: [] } ] }
  - { role: d, say: [ { call: { tool: t, input: { a: { 1: x } } } }, y ] }
  - { role: e, say: [x] }
  - { role: e, turn: 3, say: [y] }
";
    insta::assert_snapshot!(faults(text));
}

#[test]
fn what_is_no_script_at_all_is_told_in_words() {
    insta::assert_snapshot!(
        [
            "",
            "[]",
            "a: [",
            "script: 1",
            "{}",
            "script: [1]\nscript: []"
        ]
        .map(faults)
        .join("\n"),
    );
}

#[test]
fn a_long_script_is_read_and_an_endless_one_is_refused() {
    let entry = |node: usize| format!("  - {{ node: n{node}, say: [ {{ forward: x }} ] }}\n");
    let long: String = (0..10_000).map(entry).collect();
    assert_eq!(
        RoleScript::parse(&format!("script:\n{long}"))
            .unwrap()
            .entries
            .len(),
        10_000
    );
    let endless: String = (0..60_000).map(entry).collect();
    assert!(RoleScript::parse(&format!("script:\n{endless}")).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(script:\n( {0,4}- ?(role|say|node|text|call)?:? ?[\\[\\]{}a-z:, -]{0,20}\n){0,8}|\\PC{0,60})") {
        if let Err(faults) = RoleScript::parse(&text) {
            prop_assert!(!faults.is_empty());
            prop_assert!(faults.iter().all(|fault| fault.line >= 1 && fault.column >= 1));
        }
    }
}
