//! Arguments as models write them, and what is understood.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::MemberKind::{Any, Flag, Items, Named, Number, Text, Texts, Word};
use super::{Alias, ToolForm, also, clipped, hidden, optional, read, required};
use crate::tool::RefusalKind;

static FORM: ToolForm = ToolForm {
    name: "mend",
    said: "Mends.",
    members: &[
        required("file_name", Text, "Which.").or(&["path"]),
        optional("at_most", Number, ""),
        optional("is_hard", Flag, "").or(&["-i"]),
        optional("how", Word(&["soft", "hard"]), ""),
        optional("who", Named("people"), ""),
        optional("names", Texts, ""),
        optional(
            "parts",
            Items(&[
                required("old_string", Text, "").or(&["old"]),
                optional("all", Flag, ""),
            ]),
            "",
        ),
        hidden("last", Any),
    ],
    also: &[
        also("Mend"),
        Alias {
            name: "MendHard",
            sets: &[("is_hard", "true")],
        },
    ],
};

fn understood(called: &str, raw: &str) -> Result<Value, String> {
    let read = read(&FORM, called, raw);
    read.map(Value::Object).map_err(|refusal| {
        assert_eq!(refusal.kind, RefusalKind::Arguments);
        assert!(!refusal.text.contains('\n'), "{}", refusal.text);
        refusal.text
    })
}

#[test]
fn what_is_meant_is_understood_in_every_spelling() {
    for (raw, expected) in [
        (r#"{"file_name":"a"}"#, json!({ "file_name": "a" })),
        (r#"{"path":"a"}"#, json!({ "file_name": "a" })),
        (r#"{"fileName":"a"}"#, json!({ "file_name": "a" })),
        (
            r#"{"fileName":"a","path":"a"}"#,
            json!({ "file_name": "a" }),
        ),
        (
            r#"{"path":"a","at_most":null,"who":null}"#,
            json!({ "file_name": "a" }),
        ),
        (
            r#"{"path":"a","atMost":"10"}"#,
            json!({ "file_name": "a", "at_most": 10 }),
        ),
        (
            r#"{"path":"a","at_most":10.0,"-i":"true"}"#,
            json!({ "file_name": "a", "at_most": 10, "is_hard": true }),
        ),
        (
            r#"{"path":"a","is_hard":false,"how":"soft","who":"me","last":[1]}"#,
            json!({ "file_name": "a", "is_hard": false, "how": "soft", "who": "me", "last": [1] }),
        ),
        (
            r#"{"path":"a","names":"[\"x\",\"y\"]"}"#,
            json!({ "file_name": "a", "names": ["x", "y"] }),
        ),
        (
            r#"{"path":"a","parts":[{"oldString":"x","all":"false","explanation":"so"}]}"#,
            json!({ "file_name": "a", "parts": [{ "old_string": "x", "all": false }] }),
        ),
        (
            r#"{"path":"a","parts":"[{\"old\":\"x\"}]"}"#,
            json!({ "file_name": "a", "parts": [{ "old_string": "x" }] }),
        ),
        (
            r#"{"path":"a","description":"why","instruction":"x","explanation":1,"justification":"","activeForm":"Mending"}"#,
            json!({ "file_name": "a" }),
        ),
    ] {
        assert_eq!(understood("mend", raw), Ok(expected), "{raw}");
    }
    let hard = json!({ "file_name": "a", "is_hard": true });
    assert_eq!(understood("MendHard", r#"{"path":"a"}"#), Ok(hard));
    let soft = json!({ "file_name": "a", "is_hard": false });
    assert_eq!(
        understood("MendHard", r#"{"path":"a","is_hard":false}"#),
        Ok(soft)
    );
}

#[test]
fn what_could_mean_two_things_or_nothing_is_refused_with_the_right_shape() {
    let shape = "Right: {file_name: string, at_most?: integer, is_hard?: boolean, \
                 how?: soft|hard, who?: string, names?: [string], \
                 parts?: [{old_string: string, all?: boolean}]}";
    for (raw, said) in [
        ("null", "not a JSON object"),
        ("[]", "not a JSON object"),
        (r#"{"path":"a"} x"#, "not a JSON object"),
        (r#"{"path":"\ud800"}"#, "not a JSON object"),
        ("{}", "file_name is missing"),
        (r#"{"path":null}"#, "file_name is missing"),
        (r#"{"path":1}"#, "file_name is not a string"),
        (r#"{"path":"a","path":"b"}"#, "file_name is given twice"),
        (r#"{"path":"a","fileName":"b"}"#, "file_name is given twice"),
        (r#"{"path":"a","more":1}"#, "there is no more"),
        (r#"{"path":"a","__proto__":{}}"#, "there is no __proto__"),
        (
            r#"{"path":"a","at_most":-1}"#,
            "at_most is not a whole number",
        ),
        (
            r#"{"path":"a","at_most":1.5}"#,
            "at_most is not a whole number",
        ),
        (
            r#"{"path":"a","at_most":"ten"}"#,
            "at_most is not a whole number",
        ),
        (
            r#"{"path":"a","is_hard":"yes"}"#,
            "is_hard is not true or false",
        ),
        (
            r#"{"path":"a","is_hard":1}"#,
            "is_hard is not true or false",
        ),
        (r#"{"path":"a","how":"so"}"#, "how is not one of soft, hard"),
        (
            r#"{"path":"a","names":"x"}"#,
            "names is not a list of strings",
        ),
        (
            r#"{"path":"a","names":[1]}"#,
            "names is not a list of strings",
        ),
        (r#"{"path":"a","parts":{}}"#, "parts is not a list"),
        (
            r#"{"path":"a","parts":["x"]}"#,
            "parts is not a list of objects",
        ),
        (
            r#"{"path":"a","parts":[{}]}"#,
            "old_string is missing in parts",
        ),
    ] {
        let refused = understood("mend", raw).unwrap_err();
        assert!(refused.starts_with("mend: "), "{refused}");
        assert!(refused.contains(said), "{raw}: {refused}");
        assert!(refused.ends_with(shape), "{refused}");
    }
    let long = format!(r#"{{"path":"a","{}":1}}"#, "x".repeat(500));
    let refused = understood("mend", &long).unwrap_err();
    assert!(refused.contains(&format!("no {}...", "x".repeat(80))));
}

#[test]
fn what_is_repeated_is_short_and_cannot_mislead() {
    assert_eq!(clipped("a b"), "a b");
    assert_eq!(clipped("a\nb\u{202e}c"), "a\\nb\\u{202e}c");
    assert_eq!(clipped(&"ä".repeat(81)), format!("{}...", "ä".repeat(80)));
}

#[test]
fn a_definition_has_its_members_in_the_order_of_the_form_and_none_that_is_hidden() {
    let words = BTreeMap::from([("people".to_owned(), vec!["me".to_owned(), "you".to_owned()])]);
    let told = FORM.definition(&words, "50 KB").unwrap();
    assert_eq!(
        told.schema.get(),
        r#"{"type":"object","properties":{"file_name":{"type":"string","description":"Which."},"at_most":{"type":"integer"},"is_hard":{"type":"boolean"},"how":{"type":"string","enum":["soft","hard"]},"who":{"type":"string","enum":["me","you"]},"names":{"type":"array","items":{"type":"string"}},"parts":{"type":"array","items":{"type":"object","properties":{"old_string":{"type":"string"},"all":{"type":"boolean"}},"required":["old_string"],"additionalProperties":false}}},"required":["file_name"],"additionalProperties":false}"#
    );
    let plain = FORM.definition(&BTreeMap::new(), "50 KB").unwrap();
    let plain = plain.schema.get();
    assert!(plain.contains(r#""who":{"type":"string"}"#), "{plain}");
}
