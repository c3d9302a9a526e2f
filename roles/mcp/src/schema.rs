//! Schemas of arguments: what a stranger's schema must be before anybody works with it.
//!
//! A schema goes to a provider, and perhaps to something that checks arguments by it. So it is
//! bounded, it refers to nothing outside of itself and never in a circle, and it has no patterns, which
//! could keep a matcher busy that goes back over what it has tried. Nothing here fetches anything.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::limits::{REFERENCES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use super::plain;

/// Keys whose value is the name of another schema.
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// The schema with everything in it that does not show as itself escaped.
pub(super) fn checked(schema: &Map<String, Value>) -> Result<Value, String> {
    // Depth comes first: everything after it walks the tree.
    let root = Value::Object(schema.clone());
    check_depth(&root)?;
    let bytes = root.to_string().len();
    if bytes > SCHEMA_BYTES_MAX {
        return Err(format!(
            "Its schema has {bytes} bytes, and at most {SCHEMA_BYTES_MAX} are taken."
        ));
    }
    let is_object = schema.get("type").is_none_or(|kind| kind == "object");
    if !is_object {
        return Err("Its schema does not describe an object.".to_owned());
    }
    let mut found = SchemaReferences::default();
    found.walk(&root, "#")?;
    found.check_circles()?;
    let mut shown = shown(&root, SchemaFields::Keywords)?;
    if let Value::Object(fields) = &mut shown {
        // Some servers leave it out for tools without arguments, and providers want it.
        let kind = Value::String("object".to_owned());
        fields.entry("type").or_insert(kind);
    }
    Ok(shown)
}

fn check_depth(root: &Value) -> Result<(), String> {
    let mut left = vec![(root, 1_usize)];
    while let Some((value, depth)) = left.pop() {
        if depth > SCHEMA_DEPTH_MAX {
            return Err(format!(
                "Its schema is nested more than {SCHEMA_DEPTH_MAX} levels deep."
            ));
        }
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => left.extend(fields.values().map(|field| (field, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// What refers to what: each place with the places that are named somewhere below it.
#[derive(Debug, Default)]
struct SchemaReferences {
    references: BTreeMap<String, BTreeSet<String>>,
    has_other_names: bool,
}

impl SchemaReferences {
    fn walk(&mut self, value: &Value, place: &str) -> Result<(), String> {
        match value {
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.field(key, field, place)?;
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    self.walk(field, &format!("{place}/{escaped}"))?;
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, &format!("{place}/{index}"))?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    fn field(&mut self, key: &str, field: &Value, place: &str) -> Result<(), String> {
        let Value::String(text) = field else {
            return Ok(());
        };
        if REFERENCES.contains(&key) {
            if !text.starts_with('#') {
                let shown = plain::head(&plain::line(text), 80);
                return Err(format!(
                    "Its schema refers to `{shown}`, outside of itself."
                ));
            }
            let named = self.references.entry(place.to_owned()).or_default();
            named.insert(text.clone());
            if self.references.len() > REFERENCES_MAX {
                return Err(format!(
                    "Its schema has more than {REFERENCES_MAX} references."
                ));
            }
        }
        // With names of their own, places are no longer what they are called.
        self.has_other_names |= matches!(key, "$id" | "$anchor" | "$dynamicAnchor");
        Ok(())
    }

    /// A reference leads to everything below its target. One that comes back to a place above
    /// itself goes on for ever when the schema is written out.
    fn check_circles(&self) -> Result<(), String> {
        if self.references.is_empty() {
            return Ok(());
        }
        if self.has_other_names {
            return Err("Its schema refers to places by names of its own.".to_owned());
        }
        for start in self.references.keys() {
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            let mut left: Vec<&str> = self.targets_at(start);
            while let Some(target) = left.pop() {
                if is_within(start, target) {
                    let shown = plain::head(&plain::line(target), 80);
                    return Err(format!("Its schema refers to `{shown}` in a circle."));
                }
                if seen.insert(target) {
                    let below = self
                        .references
                        .keys()
                        .filter(|place| is_within(place, target));
                    left.extend(below.flat_map(|place| self.targets_at(place)));
                }
            }
        }
        Ok(())
    }

    fn targets_at(&self, place: &str) -> Vec<&str> {
        let targets = self.references.get(place);
        targets.into_iter().flatten().map(String::as_str).collect()
    }
}

/// Whether a place is another or below it.
fn is_within(place: &str, other: &str) -> bool {
    let other = other.trim_end_matches('/');
    place
        .strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the fields of an object in a schema are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaFields {
    /// What the schema says, by its own words.
    Keywords,
    /// Schemas, by names that the server chose.
    Names,
    /// A value of an argument.
    Data,
}

impl SchemaFields {
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Keywords, "properties" | "$defs" | "definitions" | "dependentSchemas") => {
                Self::Names
            }
            (Self::Keywords, "const" | "default" | "enum" | "example" | "examples")
            | (Self::Data, _) => Self::Data,
            (Self::Keywords | Self::Names, _) => Self::Keywords,
        }
    }

    fn leaves_out(self, key: &str) -> bool {
        self == Self::Keywords && matches!(key, "pattern" | "patternProperties")
    }
}

/// The same with plain texts, and without patterns, by which nothing here matches. Names of fields must be
/// plain as they are: a model that calls the tool has to write them.
fn shown(value: &Value, fields: SchemaFields) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(plain::escaped(text)),
        Value::Array(items) => {
            let items = items.iter().map(|item| shown(item, fields));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(all) => {
            let kept = all.iter().filter(|(key, _)| !fields.leaves_out(key));
            let kept =
                kept.map(|(key, field)| Ok((plain_key(key)?, shown(field, fields.below(key))?)));
            Value::Object(kept.collect::<Result<_, String>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn plain_key(key: &str) -> Result<String, String> {
    if key.chars().all(plain::is_plain) {
        return Ok(key.to_owned());
    }
    let key = plain::head(&plain::line(key), 80);
    Err(format!(
        "Its schema names a field with letters that do not show: `{key}`."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value) -> Result<Value, String> {
        let Value::Object(fields) = schema else {
            panic!("no object")
        };
        checked(&fields)
    }

    fn deep(levels: usize) -> Value {
        (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
    }

    fn many_references() -> Value {
        let field = |n: usize| (format!("p{n}"), json!({"$ref": "#/$defs/a"}));
        let fields: Map<String, Value> = (0..1_000).map(field).collect();
        json!({"properties": fields, "$defs": {"a": {}}})
    }

    #[test]
    fn m13_schemas_that_trap_their_readers_are_refused() {
        let table = [
            (json!({"$ref": "#"}), "circle"),
            (json!({"properties": {"a": {"$ref": "#"}}}), "circle"),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"items": {"$ref": "#/$defs/a"}}}}),
                "circle",
            ),
            (
                json!({"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}}),
                "circle",
            ),
            (
                json!({"$dynamicRef": "#x", "$dynamicAnchor": "x"}),
                "names of its own",
            ),
            (json!({"$ref": "http://127.0.0.1:1/schema.json"}), "outside"),
            (json!({"items": {"$ref": "file:///etc/passwd"}}), "outside"),
            (deep(1000), "levels deep"),
            (many_references(), "references"),
            (
                json!({"description": "x".repeat(SCHEMA_BYTES_MAX)}),
                "bytes",
            ),
            (json!({"type": "string"}), "object"),
            (json!({"properties": {"a\u{202e}": {}}}), "do not show"),
        ];
        for (schema, words) in table {
            let short: String = schema.to_string().chars().take(80).collect();
            let why = check(schema).expect_err(&short);
            assert!(why.contains(words), "{short}: {why}");
        }
    }

    #[test]
    fn sound_schemas_pass_with_plain_texts_and_without_patterns() {
        let shared = json!({
            "type": "object",
            "properties": {
                "from": {"$ref": "#/$defs/place"},
                "to": {"$ref": "#/$defs/place"},
                "when": {"type": "string", "default": {"pattern": "*.rs"}},
                "$ref": {"type": "string"},
                "pattern": {"type": "string"},
                "patternProperties": {"type": "object"},
            },
            "$defs": {"place": {"type": "string"}},
        });
        assert_eq!(check(shared.clone()).unwrap(), shared);
        assert_eq!(check(json!({})).unwrap(), json!({"type": "object"}));
        let without = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"items": {}}],
        });
        for pattern in ["^(a+)+$", "^(a|aa)*$", "^[a-z]+$"] {
            let with = json!({
                "properties": {"a": {"type": "string", "pattern": pattern}},
                "patternProperties": {pattern: {}},
                "anyOf": [{"items": {"pattern": pattern}}],
            });
            assert_eq!(check(with).unwrap(), without, "{pattern}");
        }
        let shown = check(json!({"description": "a\u{1b}[2J\nb"})).unwrap();
        assert_eq!(shown["description"], "a\\u{1b}[2J\nb");
        assert!(check(deep(SCHEMA_DEPTH_MAX - 1)).is_ok());
    }
}
