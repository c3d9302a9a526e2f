//! Tests of the verbs: every verb reads and writes as one JSON object, and what is not one is refused.

use super::*;

fn read(text: &str) -> Result<Verb, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Each verb as it travels, in the shortest form that a client may send.
const SAID: &[&str] = &[
    r#"{"do":"reply","to":"only","text":"yes"}"#,
    r#"{"do":"reply","to":{"node":"a"},"text":"yes","asked":"2026-05-27T14:30:00.123Z"}"#,
    r#"{"do":"approve"}"#,
    r#"{"do":"decline","approval":"a1","reason":"shorter"}"#,
    r#"{"do":"allow","consent":"q1","for_the_flow":false}"#,
    r#"{"do":"deny","consent":"q1"}"#,
    r#"{"do":"mode","mode":"full-access"}"#,
    r#"{"do":"rules","rules":{"allow":["x"]},"back":true}"#,
    r#"{"do":"configure","role":"owner","settings":{"model":"large"}}"#,
    r#"{"do":"budget","role":null,"measure":"cost_micros","limit":7}"#,
    r#"{"do":"steer","role":"owner","text":"look","when":"interrupt"}"#,
    r#"{"do":"compact","role":"owner"}"#,
    r#"{"do":"restore","role":"owner","archive":"c1"}"#,
    r#"{"do":"stop","scope":{"role":"owner"}}"#,
    r#"{"do":"pause"}"#,
    r#"{"do":"unpause"}"#,
    r#"{"do":"cancel"}"#,
    r#"{"do":"retry","to":{"role":"owner"}}"#,
    r#"{"do":"retry_now","to":"only"}"#,
    r#"{"do":"reopen","node":"a","note":"again"}"#,
    r#"{"do":"revise","source":"workflow:"}"#,
    r#"{"do":"improve","mode":"graph-based"}"#,
    r#"{"do":"propose","role":"owner","path":"a-docs/x.md","text":"x"}"#,
    r#"{"do":"change","applied":true}"#,
    r#"{"do":"feedback","granted":false}"#,
];

#[test]
fn what_is_said_is_read_and_written_as_it_was() {
    for said in SAID {
        let verb = read(said).unwrap_or_else(|why| panic!("{said}: {why}"));
        assert_eq!(&serde_json::to_string(&verb).unwrap(), said);
    }
}

#[test]
fn the_shape_of_other_clients_is_read_too_where_what_is_not_said_is_null() {
    for (said, short) in [
        (r#"{"do":"approve","approval":null}"#, r#"{"do":"approve"}"#),
        (r#"{"do":"cancel","why":null}"#, r#"{"do":"cancel"}"#),
        (
            r#"{"do":"change","change":null,"applied":true}"#,
            r#"{"do":"change","applied":true}"#,
        ),
    ] {
        assert_eq!(read(said), read(short));
    }
}

#[test]
fn a_member_that_nobody_knows_is_refused_in_every_verb() {
    for said in SAID {
        let more = said.replacen('{', r#"{"more":1,"#, 1);
        let refused = read(&more).unwrap_err();
        assert!(refused.contains("unknown field"), "{more}: {refused}");
    }
    let nested = r#"{"do":"rules","rules":{"allow":[],"ask":[]},"back":false}"#;
    assert!(read(nested).unwrap_err().contains("unknown field"));
    assert!(read(r#"{"do":"shout"}"#).unwrap_err().contains("variant"));
}

#[test]
fn a_name_that_is_none_is_refused_where_it_is_said() {
    for said in [
        r#"{"do":"retry","to":{"role":"../x"}}"#,
        r#"{"do":"allow","consent":"q1","action":"5f","for_the_flow":false}"#,
        r#"{"do":"steer","role":"owner","text":"look","when":"later"}"#,
    ] {
        assert!(read(said).is_err(), "{said}");
    }
}
