//! A form as models read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use a_society_providers::{ToldTool, ToolDefinition};
use serde_json::value::RawValue;

use super::{MemberKind, MemberNeed, ToolForm, ToolMember};

/// The placeholder in a description for how much of an output the model gets.
const BOUND: &str = "{bound}";

impl ToolForm {
    /// The tool's definition for models, its members in the order of the form. These words replace a
    /// kind that names them, and the bound of outputs its placeholder in the description. A tool whose
    /// schema cannot be written is not offered.
    pub(in super::super) fn definition(
        &self,
        words: &BTreeMap<String, Vec<String>>,
        bound: &str,
    ) -> Option<ToolDefinition> {
        let mut schema = String::new();
        object(&mut schema, self.members, words);
        let told = ToldTool {
            name: self.name.to_owned(),
            description: self.said.replace(BOUND, bound),
            schema: RawValue::from_string(schema).ok()?,
        };
        Some(told.into())
    }

    /// What the tool takes, in one line, for who called it wrongly.
    pub(super) fn shape(&self) -> String {
        let mut out = String::new();
        shape(&mut out, self.members);
        out
    }
}

fn is_told(member: &&ToolMember) -> bool {
    member.need != MemberNeed::Hidden
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writing to a string cannot fail, here and below.
fn object(out: &mut String, members: &[ToolMember], words: &BTreeMap<String, Vec<String>>) {
    out.push_str(r#"{"type":"object","properties":{"#);
    for (at, member) in members.iter().filter(is_told).enumerate() {
        if at > 0 {
            out.push(',');
        }
        let _ = write!(out, "{}:", quoted(member.name));
        property(out, member, words);
    }
    out.push_str("},\"required\":[");
    let must = |need| matches!(need, MemberNeed::Required | MemberNeed::Expected);
    let required = members.iter().filter(|member| must(member.need));
    let required: Vec<String> = required.map(|member| quoted(member.name)).collect();
    out.push_str(&required.join(","));
    out.push_str("],\"additionalProperties\":false}");
}

fn property(out: &mut String, member: &ToolMember, words: &BTreeMap<String, Vec<String>>) {
    let choice = |out: &mut String, words: &mut dyn Iterator<Item = &str>| {
        let words: Vec<String> = words.map(quoted).collect();
        let _ = write!(out, r#"{{"type":"string","enum":[{}]"#, words.join(","));
    };
    match member.kind {
        MemberKind::Text | MemberKind::Any => out.push_str(r#"{"type":"string""#),
        MemberKind::Number => out.push_str(r#"{"type":"integer""#),
        MemberKind::Flag => out.push_str(r#"{"type":"boolean""#),
        MemberKind::Word(words) => choice(out, &mut words.iter().copied()),
        MemberKind::Named(name) => match words.get(name) {
            Some(words) => choice(out, &mut words.iter().map(String::as_str)),
            None => out.push_str(r#"{"type":"string""#),
        },
        MemberKind::Texts => out.push_str(r#"{"type":"array","items":{"type":"string"}"#),
        MemberKind::Items(members) => {
            out.push_str(r#"{"type":"array","items":"#);
            object(out, members, words);
        }
    }
    if !member.said.is_empty() {
        let _ = write!(out, r#","description":{}"#, quoted(member.said));
    }
    out.push('}');
}

fn shape(out: &mut String, members: &[ToolMember]) {
    out.push('{');
    for (at, member) in members.iter().filter(is_told).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        let mark = if member.need == MemberNeed::Optional {
            "?"
        } else {
            ""
        };
        let _ = write!(out, "{}{mark}: ", member.name);
        match member.kind {
            MemberKind::Text | MemberKind::Named(_) | MemberKind::Any => out.push_str("string"),
            MemberKind::Number => out.push_str("integer"),
            MemberKind::Flag => out.push_str("boolean"),
            MemberKind::Word(words) => out.push_str(&words.join("|")),
            MemberKind::Texts => out.push_str("[string]"),
            MemberKind::Items(members) => {
                out.push('[');
                shape(out, members);
                out.push(']');
            }
        }
    }
    out.push('}');
}
