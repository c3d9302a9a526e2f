//! Reading arguments as they were meant, where that is certain.
//!
//! Other names of a member count as the member, `null` as nothing, `"10"` as 10, `"true"` as true,
//! and the JSON text of a list as the list. What models add to say why they call is left out. Two
//! values for one member, and whatever no name fits, are refused with the right shape.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::super::limits::REPEATED_CHARS;
use super::super::refusal::{CallRefusal, RefusalKind};
use super::{MemberKind, MemberNeed, ToolForm, ToolMember};

/// What models add to their calls for readers, and no tool needs.
const EXTRAS: [&str; 5] = [
    "description",
    "instruction",
    "explanation",
    "justification",
    "activeForm",
];

/// The arguments of a call, by the tool's own names.
pub(in super::super) fn read(
    form: &ToolForm,
    called: &str,
    raw: &str,
) -> Result<Map<String, Value>, CallRefusal> {
    let pairs = pairs(raw).map_err(|why| wrong(form, &why))?;
    let mut given = members(form, form.members, pairs)?;
    for (name, value) in form.alias(called).map_or(&[][..], |alias| alias.sets) {
        if !given.contains_key(*name)
            && let Ok(value) = serde_json::from_str(value)
        {
            given.insert((*name).to_owned(), value);
        }
    }
    if let Some(missing) = missing(form.members, &given) {
        return Err(wrong(form, &format!("{missing} is missing")));
    }
    Ok(given)
}

/// The arguments of a call as the tool's own structure.
pub(in super::super) fn typed<T: DeserializeOwned>(
    form: &ToolForm,
    called: &str,
    raw: &str,
) -> Result<T, CallRefusal> {
    let given = read(form, called, raw)?;
    serde_json::from_value(Value::Object(given)).map_err(|why| wrong(form, &why.to_string()))
}

/// The refusal of arguments that do not fit: what is wrong, and the right shape.
pub(in super::super) fn wrong(form: &ToolForm, why: &str) -> CallRefusal {
    let text = format!("{}: {why}. Right: {}", form.name, form.shape());
    CallRefusal::new(RefusalKind::Arguments, text)
}

/// The beginning of what a model wrote, as it is repeated in a refusal.
pub(crate) fn clipped(text: &str) -> String {
    let mut start = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == REPEATED_CHARS {
            start.push_str("...");
            break;
        }
        if a_society_base::text::misleads(letter) {
            start.extend(letter.escape_default());
        } else {
            start.push(letter);
        }
    }
    start
}

/// The members as they are written, none lost.
fn pairs(raw: &str) -> Result<Vec<(String, Value)>, String> {
    struct Pairs;
    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, Value)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(raw);
    let read = reader.deserialize_map(Pairs).and_then(|pairs| {
        reader.end()?;
        Ok(pairs)
    });
    read.map_err(|why| format!("the arguments are not a JSON object: {why}"))
}

fn members(
    form: &ToolForm,
    members: &[ToolMember],
    pairs: impl IntoIterator<Item = (String, Value)>,
) -> Result<Map<String, Value>, CallRefusal> {
    let mut given = Map::new();
    for (name, value) in pairs {
        if value.is_null() {
            continue;
        }
        let Some(member) = member(members, &name) else {
            if EXTRAS.contains(&name.as_str()) {
                continue;
            }
            return Err(wrong(form, &format!("there is no {}", clipped(&name))));
        };
        let value = converted(form, member, value)?;
        match given.get(member.name) {
            Some(other) if *other != value => {
                let why = format!("{} is given twice, differently", member.name);
                return Err(wrong(form, &why));
            }
            Some(_) => {}
            None => drop(given.insert(member.name.to_owned(), value)),
        }
    }
    Ok(given)
}

fn member<'a>(members: &'a [ToolMember], name: &str) -> Option<&'a ToolMember> {
    let find = |name: &str| members.iter().find(|member| member.is_called(name));
    find(name).or_else(|| find(&snake(name)))
}

/// `likeThis` as `like_this`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn missing(members: &[ToolMember], given: &Map<String, Value>) -> Option<&'static str> {
    let is_missing = |member: &&ToolMember| {
        member.need == MemberNeed::Required && !given.contains_key(member.name)
    };
    members.iter().find(is_missing).map(|member| member.name)
}

fn converted(form: &ToolForm, member: &ToolMember, value: Value) -> Result<Value, CallRefusal> {
    let unfit = |what: &str| wrong(form, &format!("{} is not {what}", member.name));
    match member.kind {
        MemberKind::Any => Ok(value),
        MemberKind::Text | MemberKind::Named(_) if value.is_string() => Ok(value),
        MemberKind::Text | MemberKind::Named(_) => Err(unfit("a string")),
        MemberKind::Word(words) => match value.as_str() {
            Some(word) if words.contains(&word) => Ok(value),
            _ => Err(unfit(&format!("one of {}", words.join(", ")))),
        },
        MemberKind::Number => number(&value)
            .map(Value::from)
            .ok_or_else(|| unfit("a whole number")),
        MemberKind::Flag => flag(&value)
            .map(Value::from)
            .ok_or_else(|| unfit("true or false")),
        MemberKind::Texts => {
            let list = list(value).ok_or_else(|| unfit("a list of strings"))?;
            if list.iter().all(Value::is_string) {
                Ok(Value::Array(list))
            } else {
                Err(unfit("a list of strings"))
            }
        }
        MemberKind::Items(below) => {
            let list = list(value).ok_or_else(|| unfit("a list"))?;
            let items = list.into_iter().map(|item| {
                let Value::Object(given) = item else {
                    return Err(unfit("a list of objects"));
                };
                self::item(form, member, below, given)
            });
            items.collect::<Result<_, _>>().map(Value::Array)
        }
    }
}

fn item(
    form: &ToolForm,
    member: &ToolMember,
    below: &[ToolMember],
    item: Map<String, Value>,
) -> Result<Value, CallRefusal> {
    let given = members(form, below, item)?;
    match missing(below, &given) {
        Some(missing) => {
            let why = format!("{missing} is missing in {}", member.name);
            Err(wrong(form, &why))
        }
        None => Ok(Value::Object(given)),
    }
}

fn number(value: &Value) -> Option<u64> {
    if let Value::Number(number) = value {
        return number.as_u64().or_else(|| whole(number.as_f64()?));
    }
    value.as_str()?.trim().parse().ok()
}

/// `10.0`, as some languages write 10.
fn whole(number: f64) -> Option<u64> {
    format!("{number:.0}")
        .parse()
        .ok()
        .filter(|_| number.fract() == 0.0)
}

fn flag(value: &Value) -> Option<bool> {
    let text = || value.as_str()?.trim().parse().ok();
    value.as_bool().or_else(text)
}

fn list(value: Value) -> Option<Vec<Value>> {
    if let Value::Array(list) = value {
        return Some(list);
    }
    serde_json::from_str(value.as_str()?).ok()
}
