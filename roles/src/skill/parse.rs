//! The head of a `SKILL.md`: its name and when it is used.

use a_society_base::text::misleads;
use a_society_yaml::{self as yaml, ParseBudget, Value};

use super::limits::{DESCRIPTION_BYTES, NAME_BYTES};

/// The part of a skill that is in a role's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// When it is used.
    pub description: String,
}

/// What is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFault(pub String);

impl std::fmt::Display for SkillFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the head of the `SKILL.md` in a folder of this name.
pub(crate) fn heading(text: &str, folder: &str) -> Result<Heading, SkillFault> {
    let front = front(text)?;
    let tree = yaml::parse(front, ParseBudget::BLOCK)
        .map_err(|why| SkillFault(format!("its head is no YAML: {}", why.message)))?;
    let Value::Map(members) = tree.value else {
        return Err(SkillFault("its head is not a mapping".to_owned()));
    };
    // Other keys are for other programs.
    let text_of = |wanted: &str| {
        let found = members.iter().find(|entry| entry.is(wanted));
        match found.map(|entry| &entry.value.value) {
            Some(Value::Text(text)) => Ok(text.clone()),
            Some(other) => Err(SkillFault(format!("its `{wanted}` is {}", other.kind()))),
            None => Err(SkillFault(format!("its head has no `{wanted}`"))),
        }
    };
    let (name, description) = (text_of("name")?, text_of("description")?);
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    check_name(&name)?;
    if name != folder {
        return Err(SkillFault(format!(
            "it is named {name:?} and is in the folder {folder:?}"
        )));
    }
    if description.is_empty() || description.len() > DESCRIPTION_BYTES {
        return Err(SkillFault(format!(
            "its description has {} bytes; between 1 and {DESCRIPTION_BYTES} are allowed",
            description.len()
        )));
    }
    if description.chars().any(misleads) {
        return Err(SkillFault(
            "its description has characters that cannot be seen".to_owned(),
        ));
    }
    Ok(Heading { name, description })
}

/// The text between the first two lines of three dashes.
fn front(text: &str) -> Result<&str, SkillFault> {
    let (head, _) = parts(text)?;
    let inner = head.split_once('\n').map_or("", |(_, rest)| rest);
    let inner = inner.trim_end().strip_suffix("---");
    Ok(inner.unwrap_or_default())
}

/// The head of a text with both of its lines of dashes, and the text below it.
pub(super) fn parts(text: &str) -> Result<(&str, &str), SkillFault> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !bare.starts_with("---\n") && !bare.starts_with("---\r\n") {
        let why = "it does not begin with a line `---`";
        return Err(SkillFault(why.to_owned()));
    }
    let mut at = text.len() - bare.len();
    for (number, line) in bare.split_inclusive('\n').enumerate() {
        at += line.len();
        if number > 0 && line.trim_end() == "---" {
            return Ok(text.split_at(at));
        }
    }
    Err(SkillFault(
        "its head does not end with a line `---`".to_owned(),
    ))
}

/// A head with another description; every other line stays as it is.
pub(super) fn with_description(head: &str, description: &str) -> Result<String, SkillFault> {
    let by_hand = || {
        let why = "the description in its head is laid out so that it is changed by hand only";
        SkillFault(why.to_owned())
    };
    let mut text = String::new();
    let (mut replaced, mut inside) = (0, false);
    for line in head.split_inclusive('\n') {
        let goes_on = line.starts_with([' ', '\t']) || line.trim().is_empty();
        inside = inside && goes_on;
        if line.starts_with("description:") {
            (inside, replaced) = (true, replaced + 1);
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            // What JSON makes of a text is a text in YAML, too.
            let quoted = serde_json::Value::from(description);
            text.extend(["description: ", &quoted.to_string(), end]);
        } else if !inside {
            text.push_str(line);
        }
    }
    if replaced == 1 {
        return Ok(text);
    }
    Err(by_hand())
}

/// A name that is the same on every file system and means nothing to any.
pub(super) fn check_name(name: &str) -> Result<(), SkillFault> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_good = !name.is_empty()
        && name.len() <= NAME_BYTES
        && name.bytes().all(is_plain)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_good {
        return Ok(());
    }
    Err(SkillFault(format!(
        "{name:?} is no name of a skill: lower-case letters, digits and dashes, at most {NAME_BYTES}"
    )))
}
