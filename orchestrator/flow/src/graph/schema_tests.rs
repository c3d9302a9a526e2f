//! The schema and the parser accept and refuse the same shapes.
//!
//! A small validator reads the schema's own vocabulary. A valid file that uses every key is then
//! mutated in thousands of ways, and both sides must agree about each of them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

/// Every key of every mapping, in one valid file.
fn full_file() -> Value {
    json!({
        "workflow": {
            "name": "n",
            "summary": "s",
            "nodes": [
                { "id": "a", "role": "owner", "work": ["w"], "required_readings": ["$X"],
                  "human-colab": true, "await-all-inputs": false },
                { "id": "b", "role": "tester_2" },
                { "id": "z", "role": "owner" },
            ],
            "edges": [
                { "from": "a", "to": "b", "optional": true },
                { "from": "b", "to": "z" },
            ],
        },
        "roles": {
            "owner": {
                "instructions": "i", "executor": "model", "model": "m", "effort": "high",
                "tools": ["t"], "mcp-servers": ["x"], "skills": ["k"], "required_readings": ["$R"],
                "permissions": { "mode": "no-access", "scope": "project", "network": false,
                                 "edits": true, "commands": ["make"],
                                 "mcp-tools": ["x/y"] },
                "budget": { "cost-micro-usd": 1, "tokens": 2, "turns": 3 },
            },
            "tester": {
                "executor": "command",
                "command": { "run": ["make"], "time-limit-seconds": 60,
                             "output-limit-bytes": 1000,
                             "on-exit": { "0": "forward", "otherwise": "prompt-human" } },
            },
        },
        "budget": { "tokens": 9 },
        "metadata": {},
    })
}

/// Whether a value fits a schema, for the keywords that the schema uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let schema = match schema {
        Value::Bool(fits_all) => return *fits_all,
        Value::Object(keywords) => keywords,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            panic!("not a schema: {schema}")
        }
    };
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "title" | "description" | "default" | "$defs" | "then" | "else" => true,
        "$ref" => {
            let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
            fits(super::schema().pointer(path).unwrap(), value)
        }
        "type" => type_of(value) == rule.as_str().unwrap(),
        "enum" => rule.as_array().unwrap().contains(value),
        "pattern" => value
            .as_str()
            .is_none_or(|text| matches_pattern(rule.as_str().unwrap(), text)),
        "maxLength" => value
            .as_str()
            .is_none_or(|text| text.len() as u64 <= rule.as_u64().unwrap()),
        "minimum" => value
            .as_u64()
            .is_none_or(|number| number >= rule.as_u64().unwrap()),
        "maximum" => value
            .as_u64()
            .is_none_or(|number| number <= rule.as_u64().unwrap()),
        "minItems" => value.as_array().is_none_or(|items| !items.is_empty()),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(rule, item))),
        "allOf" => rule
            .as_array()
            .unwrap()
            .iter()
            .all(|rule| fits(rule, value)),
        "not" => !fits(rule, value),
        "if" => {
            let branch = if fits(rule, value) { "then" } else { "else" };
            schema.get(branch).is_none_or(|rule| fits(rule, value))
        }
        "required" | "properties" | "additionalProperties" | "propertyNames" => value
            .as_object()
            .is_none_or(|object| object_fits(schema, keyword, rule, object)),
        other => panic!("the validator does not know `{other}`"),
    })
}

fn object_fits(
    schema: &Map<String, Value>,
    keyword: &str,
    rule: &Value,
    object: &Map<String, Value>,
) -> bool {
    let known = |key: &String| {
        schema
            .get("properties")
            .is_some_and(|known| known.get(key).is_some())
    };
    match keyword {
        "required" => rule
            .as_array()
            .unwrap()
            .iter()
            .all(|key| object.contains_key(key.as_str().unwrap())),
        "properties" => object
            .iter()
            .all(|(key, value)| rule.get(key).is_none_or(|rule| fits(rule, value))),
        "propertyNames" => object
            .keys()
            .all(|key| fits(rule, &Value::String(key.clone()))),
        _ => object
            .iter()
            .filter(|(key, _)| !known(key))
            .all(|(_, value)| fits(rule, value)),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema's patterns, each by its meaning.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let number = |text: &str| {
        text.parse::<u8>()
            .is_ok_and(|code| code.to_string() == text)
    };
    match pattern {
        r"\S" => !text.trim().is_empty(),
        "^[a-z0-9]+(-[a-z0-9]+)*$" => node_id(text).is_ok(),
        "^[a-z0-9]+(-[a-z0-9]+)*(_[1-9][0-9]{0,5})?$" => role_instance(text).is_ok(),
        "^(otherwise|[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$" => {
            text == "otherwise" || number(text)
        }
        other => panic!("the validator does not know the pattern `{other}`"),
    }
}

/// Whether the parser finds nothing wrong with the shape of a file. What only the whole graph can
/// show does not count. An edge's end has to be a node, so that it need not be checked as a name.
fn parser_accepts(file: &Value) -> (bool, Vec<Diagnostic>) {
    let (_, diagnostics) = parse(&file.to_string(), "flow.json");
    let is_shape = |code: Code| {
        code <= Code::BadRoleInstance
            || matches!(
                code,
                Code::UnknownChoice | Code::OutOfRange | Code::WrongExecutor
            )
    };
    (
        !diagnostics
            .iter()
            .any(|found| found.is_error() && is_shape(found.code)),
        diagnostics,
    )
}

/// The paths of all values of a file.
fn paths(value: &Value, here: &str, out: &mut Vec<String>) {
    out.push(here.to_owned());
    match value {
        Value::Object(object) => {
            object
                .iter()
                .for_each(|(key, value)| paths(value, &format!("{here}/{key}"), out));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(place, value)| paths(value, &format!("{here}/{place}"), out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn all_paths(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    paths(value, "", &mut out);
    out
}

#[test]
fn the_file_that_uses_every_key_is_valid_on_both_sides() {
    let file = full_file();
    let (graph, diagnostics) = parse(&file.to_string(), "flow.json");
    assert!(graph.is_some() && diagnostics.is_empty(), "{diagnostics:?}");
    assert!(fits(&schema(), &file));
}

#[test]
fn every_closed_mapping_of_the_schema_has_exactly_the_parsers_keys() {
    let table = [
        ("", keys::FILE),
        ("/$defs/workflow", keys::WORKFLOW),
        ("/$defs/node", keys::NODE),
        ("/$defs/edge", keys::EDGE),
        ("/$defs/role", keys::ROLE),
        ("/$defs/command", keys::COMMAND),
        ("/$defs/permissions", keys::PERMISSIONS),
        ("/$defs/budget", keys::BUDGET),
    ];
    let schema = schema();
    let closed = all_paths(&schema).into_iter().filter(|path| {
        schema.pointer(path).unwrap().get("additionalProperties") == Some(&json!(false))
    });
    assert_eq!(closed.count(), table.len());
    for (path, keys) in table {
        let properties = schema.pointer(path).unwrap()["properties"]
            .as_object()
            .unwrap();
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        let mut properties: Vec<&str> = properties.keys().map(String::as_str).collect();
        properties.sort_unstable();
        assert_eq!(properties, keys, "{path}");
    }
}

#[test]
fn every_key_of_the_full_file_misspelt_is_refused_on_both_sides() {
    let file = full_file();
    for path in all_paths(&file) {
        let Some(object) = file.pointer(&path).and_then(Value::as_object) else {
            continue;
        };
        // The keys of `roles` are free names.
        for key in object.keys().filter(|_| path != "/roles") {
            let mut mutated = file.clone();
            let object = mutated.pointer_mut(&path).unwrap().as_object_mut().unwrap();
            let value = object.remove(key).unwrap();
            object.insert(format!("{key}x"), value);
            let (accepted, diagnostics) = parser_accepts(&mutated);
            assert!(!accepted && !fits(&schema(), &mutated), "{path}/{key}");
            assert!(
                path.ends_with("on-exit")
                    || diagnostics
                        .iter()
                        .any(|found| found.code == Code::UnknownKey),
                "{path}/{key}: {diagnostics:?}"
            );
        }
    }
}

#[test]
fn the_schema_is_printed_as_it_was() {
    insta::assert_snapshot!(schema_text());
}

/// Values of every type, good and bad in many places.
fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        (0u64..300).prop_map(|number| json!(number)),
        Just(json!(u64::MAX)),
        "[a-zA-Z0-9_ -]{0,6}".prop_map(|text| json!(text)),
        prop::sample::select(vec![
            "a",
            "z",
            "model",
            "human",
            "command",
            "scripted",
            "forward",
            "full-access",
            " ",
        ])
        .prop_map(|word| json!(word)),
        Just(json!([])),
        Just(json!(["x"])),
        Just(json!([1, ""])),
        Just(json!({})),
        Just(json!({ "run": ["x"] })),
        Just(json!({ "id": "q", "role": "owner" })),
    ]
}

fn mutate(file: &mut Value, place: prop::sample::Index, new: Value, how: u8) {
    let paths = all_paths(file);
    let path = &paths[place.index(paths.len())];
    let (parent, key) = path.rsplit_once('/').unwrap_or(("", ""));
    match (how, file.pointer_mut(parent)) {
        (0, Some(Value::Object(object))) if !key.is_empty() => drop(object.remove(key)),
        (1, Some(Value::Object(object))) => drop(object.insert("command".into(), new)),
        (2, Some(Value::Object(object))) => drop(object.insert("7".into(), new)),
        (3, Some(Value::Array(items))) => items.push(new),
        _ => {
            if let Some(found) = file.pointer_mut(path) {
                *found = new;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn parser_and_schema_agree_about_every_mutation(
        mutations in prop::collection::vec((any::<prop::sample::Index>(), replacement(), 0u8..6), 1..4),
    ) {
        let mut file = full_file();
        for (place, new, how) in mutations {
            mutate(&mut file, place, new, how);
        }
        let (accepted, diagnostics) = parser_accepts(&file);
        prop_assert_eq!(fits(&schema(), &file), accepted, "{:#}\n{:#?}", file, diagnostics);
    }
}
