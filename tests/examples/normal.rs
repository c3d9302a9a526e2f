//! The one rule by which what differs from run to run is made the same: times, names made up by
//! chance, places in the journal, and the folder of the workspace.

use std::path::Path;

use serde_json::Value;

/// Numbers that say the place of something in the journal, how long it took, or who wrote it.
const PLACES: [&str; 5] = ["seq", "journalSeq", "wall_ms", "pid", "start_ticks"];

/// A text with every time as `TIME`, every made-up name by its kind, and the workspace as such.
pub(super) fn text(text: &str, workspace: &Path) -> String {
    let text = text.replace(&workspace.display().to_string(), "WORKSPACE");
    let text = text.replace(concat!("a-society/", env!("CARGO_PKG_VERSION")), "VERSION");
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars().chain(std::iter::once('\n')) {
        if letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':' | '.' | '_') {
            word.push(letter);
            continue;
        }
        out.push_str(&steady(&word));
        word.clear();
        out.push(letter);
    }
    out.pop();
    out
}

/// A JSON document under the same rule, a member a line.
pub(super) fn json(source: &str, workspace: &Path) -> Value {
    let mut value = serde_json::from_str(&text(source, workspace)).unwrap();
    walk(&mut value);
    value
}

fn walk(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(walk),
        Value::Object(members) => {
            for (name, member) in members {
                if name == "clients" {
                    counted(member);
                } else if PLACES.contains(&name.as_str()) && member.is_number() {
                    *member = Value::from("PLACE");
                } else {
                    walk(member);
                }
            }
        }
        Value::String(text) if is_feed_id(text) => *value = Value::from("ID"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Commands that counted: a name, and the record at which it did. A name may end in a record, too.
fn counted(commands: &mut Value) {
    for command in commands.as_array_mut().into_iter().flatten() {
        let name = command[0].as_str().unwrap_or_default();
        *command = name.trim_end_matches(|c: char| c.is_ascii_digit()).into();
    }
}

/// `f17`: an item of a feed is named by the record that began it.
fn is_feed_id(text: &str) -> bool {
    let digits = text.strip_prefix('f').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word, with what is made up in it by its kind.
fn steady(word: &str) -> String {
    // A sentence or a key may end in marks that belong to no name.
    let bare = word.trim_end_matches([':', '.']);
    let tail = &word[bare.len()..];
    let parts: Vec<&str> = bare.split(':').collect();
    if is_time(bare) {
        return format!("TIME{tail}");
    }
    let parts: Vec<String> = parts.into_iter().map(name).collect();
    format!("{}{tail}", parts.join(":"))
}

fn name(word: &str) -> String {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if word.len() == 64 && is_hex {
        return "HASH".to_owned();
    }
    if shape(word, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return "UUID".to_owned();
    }
    if let Some(flow) = word.get(..26)
        && shape(flow, "ddddddddTdddddddddZ-aaaaaa")
    {
        return format!("FLOW{}", &word[26..]);
    }
    match word.rsplit_once('-') {
        Some((kind, made_up)) if shape(made_up, "aaaaaaaaaaaaaaaa") => format!("{kind}-ID"),
        Some(_) | None => word.to_owned(),
    }
}

fn is_time(word: &str) -> bool {
    shape(word, "dddd-dd-ddTdd:dd:dd.dddZ")
}

/// Whether a word looks so: `d` is a digit, `x` a hex digit, `a` a small letter or a digit.
fn shape(word: &str, wanted: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| match wanted {
        b'd' => byte.is_ascii_digit(),
        b'x' => byte.is_ascii_hexdigit(),
        b'a' => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
        other => byte == other,
    };
    word.len() == wanted.len() && word.bytes().zip(wanted.bytes()).all(fits)
}

#[test]
fn made_up_names_times_and_places_are_made_the_same_and_nothing_else_is() {
    let workspace = Path::new("/tmp/w");
    let said = "flow:20261121T111058009Z-wyt0yr:role:owner at 2026-11-21T11:10:58.061Z. See m-f8qyr5rcmxo2cp17, \
                /tmp/w/x, 01a1fdcd-6201-744d-b474-cd9f779c7e4e; a-b call-2-1-1 notes-2.md";
    assert_eq!(
        text(said, workspace),
        "flow:FLOW:role:owner at TIME. See m-ID, WORKSPACE/x, UUID; a-b call-2-1-1 notes-2.md"
    );
    assert_eq!(
        text("20261121T111058009Z-wyt0yr__owner", workspace),
        "FLOW__owner"
    );
    let value = json(r#"{"seq":3,"id":"f12","turn":2,"text":"f12x"}"#, workspace);
    assert_eq!(
        value.to_string(),
        r#"{"id":"ID","seq":"PLACE","text":"f12x","turn":2}"#
    );
}
