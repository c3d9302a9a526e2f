//! Tests of the verbs: every verb reads and writes as one JSON object, and what is not one is refused.

use super::*;
use crate::fact::Fact;
use crate::fact::improvement::ChangeDecided;

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
    r#"{"do":"title","title":"Another"}"#,
    r#"{"do":"close","role":"owner","force":true}"#,
    r#"{"do":"open","role":"owner"}"#,
    r#"{"do":"inject","role":"owner","speaker":"system","text":"look"}"#,
    r#"{"do":"trim","role":"owner","keep":12}"#,
    r#"{"do":"reset","role":"owner"}"#,
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
fn a_rule_that_is_sent_twice_counts_once() {
    let twice = r#"{"do":"rules","rules":{"allow":["x","x"]},"back":false}"#;
    let once = r#"{"do":"rules","rules":{"allow":["x"]},"back":false}"#;
    assert_eq!(read(twice), read(once));
}

#[test]
fn a_verb_says_which_request_it_decides_and_a_fact_about_it_how_that_was_decided() {
    let decided = Fact::ChangeDecided(ChangeDecided {
        change: "p1".to_owned(),
        applied: true,
        client: None,
    });
    for (said, is_named, decision) in [
        (
            r#"{"do":"change","change":"p1","applied":false}"#,
            true,
            Some("applied"),
        ),
        (
            r#"{"do":"change","change":"p2","applied":false}"#,
            true,
            None,
        ),
        (r#"{"do":"change","applied":true}"#, false, None),
        (r#"{"do":"approve","approval":"p1"}"#, true, None),
        (
            r#"{"do":"allow","consent":"q1","for_the_flow":false}"#,
            false,
            None,
        ),
        (r#"{"do":"reply","to":"only","text":"yes"}"#, true, None),
    ] {
        let verb = read(said).unwrap();
        let request = verb.row().answers.unwrap();
        assert_eq!(request.is_named(), is_named, "{said}");
        assert_eq!(request.decided_by(&decided), decision, "{said}");
    }
    assert_eq!(read(r#"{"do":"pause"}"#).unwrap().row().answers, None);
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

mod page {
    //! The page's TypeScript of what the operator says, written from these types and compared with what is in the tree.
    //! `A_SOCIETY_UPDATE=1` writes it anew.

    use ts_rs::{Config, TS};

    use super::super::{Verb, Whom};
    use crate::fact::budget::Measure;
    use crate::fact::improvement::ImprovementMode;
    use crate::fact::node::WaitReason;
    use crate::fact::operator::{ConsentAnswer, ConsentMode, ConsentRules, SteerWhen, StopScope};
    use crate::fact::session::{CompactionWish, Speaker, Strategy};
    use crate::fact::turn::CallEnd;
    use crate::id::{ApprovalId, ConsentId, NodeId, RoleInstance};
    use crate::{At, Hash};

    const HEAD: &str = "// Generated from state/facts/src/verb.rs by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib \
    the_page_has`. Do not edit.\n";

    macro_rules! declared {
        ($config:expr, $($name:ident),+ $(,)?) => {
            [$(<$name as TS>::decl($config)),+]
        };
    }

    fn typescript() -> String {
        let config = Config::new().with_large_int("number");
        let declared = declared!(
            &config,
            Verb,
            Whom,
            NodeId,
            RoleInstance,
            ApprovalId,
            ConsentId,
            Hash,
            At,
            Measure,
            SteerWhen,
            Speaker,
            Strategy,
            CompactionWish,
            StopScope,
            ConsentMode,
            ConsentAnswer,
            CallEnd,
            ConsentRules,
            ImprovementMode,
            WaitReason,
        );
        let types = declared.map(|declared| {
            let lines = declared.lines().map(str::trim_end);
            format!("export {}\n", lines.collect::<Vec<_>>().join("\n"))
        });
        format!("{HEAD}\n{}", types.join("\n"))
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is generated is compared with a file, and written on demand"
    )]
    fn the_page_has_the_types_of_what_the_operator_says() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../operator-ui/web/src/verb.ts"
        );
        let now = typescript();
        if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            there == now,
            "web/src/verb.ts is not what the types say: run with A_SOCIETY_UPDATE=1"
        );
    }
}
