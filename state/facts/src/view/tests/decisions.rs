//! What was decided, about what and by whom, as journals of today and of earlier versions say it.

use super::super::flow::{DecisionTally, RuleTally};
use super::*;
use crate::fact::operator::{ConsentAnswer, DecidingRule, RuleOrigin};
use crate::limits::DECISIONS_MAX;

/// The facts of these lines.
fn facts(lines: &str) -> Vec<Fact> {
    let lines = lines.replace("HASH", &"0".repeat(64));
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = |line: &str| {
        let payload: serde_json::Value = serde_json::from_str(line).unwrap();
        let word = payload["fact"].as_str().unwrap();
        Fact::read(word, line.as_bytes()).unwrap().unwrap()
    };
    lines.map(read).collect()
}

/// Each decision, newest last: its record, who decided, what about, and in short what was decided.
fn told(lines: &str) -> Vec<String> {
    let views = fold(facts(lines));
    let screen = FlowScreen::of(&views);
    assert_eq!(screen.decisions, views.decisions);
    let mut told: Vec<String> = views
        .decisions
        .last()
        .map(|made| {
            let node = made.node.as_ref().map_or("-", |node| node.as_str());
            let role = made.role.as_ref().map_or("-", |role| role.as_str());
            let what = serde_json::to_string(&made.what).unwrap();
            let by = serde_json::to_string(&made.by).unwrap();
            let what = what.replace('"', "");
            format!(
                "{} {node} {role} {what} {}: {}",
                made.seq,
                made.about,
                by.replace('"', "")
            )
        })
        .collect();
    told.reverse();
    told
}

const ASKED: &str = r#"
{"fact":"consent_requested","consent":"q-1","call":"1.1","role":"writer","node":"draft","tool":"run_command","action":"HASH","shown":"cargo test"}
"#;

#[test]
fn who_decided_about_a_call_is_what_the_record_says() {
    let resolved = |more: &str, answer: &str| {
        let line = format!(
            r#"{{"fact":"consent_resolved","consent":"q-1","answer":"{answer}","action":"HASH"{more}}}"#
        );
        told(&format!("{ASKED}{line}"))
    };
    for (more, answer, by) in [
        (
            r#","client":"page-1""#,
            "allow_once",
            "{operator:{client:page-1}}",
        ),
        ("", "deny", "{operator:{}}"),
        (
            r#","beforehand":"full_access""#,
            "allow_once",
            "full_access",
        ),
        (r#","beforehand":"grant""#, "allow_flow", "grant"),
        (
            r#","by":{"rule":"rm *","origin":"workspace"}"#,
            "deny",
            "{rule:{rule:rm *,origin:workspace}}",
        ),
    ] {
        let expected = format!(
            "2 draft writer {{call:{{tool:run_command,answer:{answer}}}}} cargo test: {by}"
        );
        assert_eq!(resolved(more, answer), [expected]);
    }
    assert_eq!(resolved("", "withdrawn"), [""; 0]);
}

#[test]
fn a_flow_that_never_asks_answered_by_itself_also_where_its_journal_has_no_member_for_it() {
    let mode = r#"{"fact":"consent_mode_changed","mode":"full-access","client":"page-1"}"#;
    let resolved = |more: &str| {
        format!(
            r#"{{"fact":"consent_resolved","consent":"q-1","answer":"allow_once","action":"HASH"{more}}}"#
        )
    };
    let narrowed = ASKED.replace("\"shown\"", "\"narrowed\":true,\"shown\"");
    let by = |asked: &str, more: &str| {
        let told = told(&format!("{asked}{mode}\n{}", resolved(more)));
        assert_eq!(
            told[0],
            "2 - - {permissions:full-access} : {operator:{client:page-1}}"
        );
        told[1].rsplit_once(": ").unwrap().1.to_owned()
    };
    assert_eq!(by(ASKED, ""), "full_access");
    // What is asked in spite of that is answered by the operator.
    assert_eq!(by(&narrowed, ""), "{operator:{}}");
    assert_eq!(
        by(&narrowed, r#","client":"cli-1""#),
        "{operator:{client:cli-1}}"
    );
}

#[test]
fn what_follows_from_a_grant_for_the_flow_is_no_decision_of_its_own() {
    let lines = format!(
        "{ASKED}{}",
        r#"{"fact":"consent_resolved","consent":"q-1","answer":"allow_flow","action":"HASH","client":"page-1"}
{"fact":"grant_added","grant":{"command":"cargo test"}}
{"fact":"consent_mode_changed","mode":"partial-access"}
"#
    );
    let all = told(&lines);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].contains("allow_flow"), "{all:?}");
    // The operator's own word is one.
    let own = r#"{"fact":"consent_mode_changed","mode":"partial-access","client":"page-2"}"#;
    assert_eq!(told(&format!("{lines}{own}")).len(), 2);
}

#[test]
fn an_outcome_that_is_refused_and_words_to_a_role_at_work_are_no_decisions() {
    let lines = r#"
{"fact":"node_claimed","node":"draft","role":"writer","turn":1,"entry":"first"}
{"fact":"turn_started","turn":1,"attempt":1,"role":"writer","node":"draft","cause":"node"}
{"fact":"repair_requested","turn":1,"role":"writer","node":"draft","code":"missing_block","summary":"no block","count":1}
{"fact":"operator_steered","steer":"m-9","role":"writer","text":"Be brief.","when":"queue"}
{"fact":"operator_replied","reply":"m-10","node":"draft","role":"writer","text":"The second one.\nNot the first.","client":"watch-1"}
"#;
    assert_eq!(
        told(lines),
        ["5 draft writer answer The second one.: {operator:{client:watch-1}}"]
    );
}

#[test]
fn what_was_chosen_beforehand_is_told_from_what_the_operator_chose_now() {
    let chosen = |more: &str| {
        told(&format!(
            "{{\"fact\":\"improvement_chosen\",\"mode\":\"none\"{more}}}\n\
             {{\"fact\":\"feedback_decided\",\"granted\":false{more}}}"
        ))
    };
    let said = |by: &str| {
        [
            format!("1 - - {{retrospective:none}} : {by}"),
            format!("2 - - {{report:{{granted:false}}}} : {by}"),
        ]
    };
    assert_eq!(chosen(r#","beforehand":true"#), said("beforehand"));
    assert_eq!(chosen(""), said("{operator:{}}"));
    // Journals without the member: the ends answer what they name.
    let before = r#"{"fact":"ends_chosen","ends":{"improve":"none","feedback":false}}"#;
    let lines = format!(
        "{before}\n{{\"fact\":\"improvement_chosen\",\"mode\":\"none\"}}\n\
         {{\"fact\":\"improvement_chosen\",\"mode\":\"none\",\"client\":\"cli-1\"}}"
    );
    let told = told(&lines);
    assert!(told[0].ends_with(": beforehand"), "{told:?}");
    assert!(told[1].ends_with(": {operator:{client:cli-1}}"), "{told:?}");
}

#[test]
fn decisions_of_rules_are_counted_by_rule_and_what_was_never_asked_is_not_listed() {
    let ruled = |rule: &str, answer: &str| {
        format!(
            r#"{{"fact":"consent_ruled","call":"1.1","role":"writer","tool":"run_command","action":"HASH","about":"ls","answer":"{answer}","by":{{"rule":"{rule}","origin":"flow"}}}}"#
        )
    };
    let resolved = r#"{"fact":"consent_resolved","consent":"q-1","answer":"deny","action":"HASH","by":{"rule":"rm *","origin":"flow"}}"#;
    let decided = r#"{"fact":"handoff_decided","approval":"a-1","approved":true}"#;
    let lines = [
        &ruled("ls", "allow_once"),
        &ruled("ls", "allow_once"),
        &ruled("rm *", "deny"),
        ASKED,
        resolved,
        decided,
    ];
    let views = fold(facts(&lines.map(str::to_owned).join("\n")));
    let rule = |rule: &str, answer: ConsentAnswer, times: u64| RuleTally {
        by: DecidingRule {
            rule: rule.to_owned(),
            origin: RuleOrigin::Flow,
        },
        answer,
        times,
    };
    let expected = DecisionTally {
        operator: 1,
        rules: vec![
            rule("ls", ConsentAnswer::AllowOnce, 2),
            rule("rm *", ConsentAnswer::Deny, 2),
        ],
        ..DecisionTally::default()
    };
    assert_eq!(*views.decisions.tally(), expected);
    assert_eq!(views.decisions.last().count(), 2);
}

#[test]
fn only_the_last_decisions_are_held_and_all_are_counted() {
    let one = r#"{"fact":"handoff_decided","approval":"a-1","approved":true}"#;
    let all = DECISIONS_MAX + 7;
    let views = fold(facts(&vec![one; all].join("\n")));
    let held: Vec<u64> = views.decisions.last().map(|made| made.seq).collect();
    let newest = all as u64;
    let expected: Vec<u64> = (8..=newest).rev().collect();
    assert_eq!(held, expected);
    assert_eq!(views.decisions.tally().operator, newest);
}
