//! YAML values as JSON, in the order in which they are written.

use serde_json::value::RawValue;

use a_society_yaml::{MapEntry, Number, Value, YamlTree};

/// The value as JSON, or the place and the reason why JSON has no such value.
pub(super) fn from_yaml(tree: &YamlTree) -> Result<Box<RawValue>, (&YamlTree, &'static str)> {
    let mut text = String::new();
    write(tree, &mut text)?;
    RawValue::from_string(text).map_err(|_| (tree, "JSON has no such value"))
}

/// An object without members.
pub(super) fn empty_object() -> Box<RawValue> {
    object(&[])
}

/// An object whose members are texts.
pub(super) fn object(members: &[(&str, &str)]) -> Box<RawValue> {
    let members: Vec<String> = members
        .iter()
        .map(|(key, text)| format!("{}:{}", quoted(key), quoted(text)))
        .collect();
    let text = format!("{{{}}}", members.join(","));
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn write<'t>(tree: &'t YamlTree, out: &mut String) -> Result<(), (&'t YamlTree, &'static str)> {
    match &tree.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(_) => match tree.value.number().and_then(json_number) {
            Some(number) => out.push_str(&number),
            None => return Err((tree, "JSON has no such number")),
        },
        Value::Text(text) => out.push_str(&quoted(text)),
        Value::List(items) => {
            let mut before = '[';
            for item in items {
                out.push(before);
                write(item, out)?;
                before = ',';
            }
            close(before, '[', ']', out);
        }
        Value::Map(entries) => {
            let mut before = '{';
            for MapEntry { key, value } in entries {
                let Value::Text(name) = &key.value else {
                    return Err((key, "a key of a JSON object is text; quotes make it text"));
                };
                out.push(before);
                out.push_str(&quoted(name));
                out.push(':');
                write(value, out)?;
                before = ',';
            }
            close(before, '{', '}', out);
        }
    }
    Ok(())
}

fn json_number(number: Number) -> Option<String> {
    match number {
        Number::Whole(number) => Some(number.to_string()),
        Number::Fraction(number) => serde_json::Number::from_f64(number).map(|it| it.to_string()),
    }
}

fn close(before: char, open: char, end: char, out: &mut String) {
    if before == open {
        out.push(open);
    }
    out.push(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use a_society_yaml::{self as yaml, ParseBudget};

    fn json(text: &str) -> Result<String, &'static str> {
        let tree = yaml::parse(text, ParseBudget::SCRIPT).unwrap();
        from_yaml(&tree)
            .map(|raw| raw.get().to_owned())
            .map_err(|(_, why)| why)
    }

    #[test]
    fn every_kind_of_value_has_its_json_and_members_keep_their_order() {
        let yaml = "{z: [1, -2.5, true, null], a: {}, m: [], t: \"q\\\"ü\"}";
        let expected = r#"{"z":[1,-2.5,true,null],"a":{},"m":[],"t":"q\"ü"}"#;
        assert_eq!(json(yaml).as_deref(), Ok(expected));
        assert!(json("{1: x}").is_err());
        assert!(json("[.nan]").is_err());
    }
}
