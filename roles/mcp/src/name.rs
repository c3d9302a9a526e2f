//! The names by which a model knows tools of servers.
//!
//! Providers take letters, digits, `_` and `-`, and 64 of them. What a server calls its tools may
//! be longer and odder, so that two names may become one; then neither is offered, because it
//! would be unclear which one was approved.

use std::collections::BTreeMap;

use a_society_facts::Hash;

use super::limits::{NAME_BYTES_MAX, SERVER_NAME_BYTES_MAX};
use super::plain;

/// The prefix of the names of all tools of servers.
const FAMILY: &str = "mcp";

/// The separator between the parts of a name; no name of a server contains it.
const JOINT: &str = "__";

/// How much of a hash tells two long names apart.
const SHORT_HASH_BYTES: usize = 8;

/// A name of a tool of its own server. Longer ones are no names.
const RAW_BYTES_MAX: usize = 256;

/// Whether a server may be called so.
pub(super) fn check_server(name: &str) -> Result<(), String> {
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
    };
    let shown = plain::head(&plain::line(name), 60);
    let is_sound = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(is_letter)
        && !name.ends_with('_');
    if !is_sound {
        return Err(format!(
            "a server cannot be called `{shown}`: names have small letters, digits, `-` and `_`, \
             begin with a letter and do not end with `_`"
        ));
    }
    if name.contains(JOINT) {
        return Err(format!(
            "a server cannot be called `{shown}`: names may not hold `{JOINT}`, which separates a server from its tools"
        ));
    }
    if name.len() > SERVER_NAME_BYTES_MAX {
        return Err(format!(
            "a server cannot be called `{shown}`: names have at most {SERVER_NAME_BYTES_MAX} letters"
        ));
    }
    Ok(())
}

/// The server to which a tool belongs, by the name that models use.
pub fn server_of(tool: &str) -> Option<&str> {
    let rest = tool.strip_prefix(FAMILY)?.strip_prefix(JOINT)?;
    rest.split_once(JOINT).map(|(server, _)| server)
}

/// The name that models use.
pub(super) fn offered(server: &str, raw: &str) -> Result<String, String> {
    if raw.is_empty() {
        return Err("It has no name.".to_owned());
    }
    if raw.len() > RAW_BYTES_MAX {
        return Err(format!("Its name has more than {RAW_BYTES_MAX} bytes."));
    }
    if !raw.chars().all(plain::is_plain) {
        return Err("Its name has control characters or letters that do not show.".to_owned());
    }
    if !raw.chars().any(|letter| letter.is_ascii_alphanumeric()) {
        return Err("Its name has no letter that providers of models take.".to_owned());
    }
    let fitting = |letter: char| {
        let fits = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if fits { letter } else { '_' }
    };
    let letters: String = raw.chars().map(fitting).collect();
    let name = format!("{FAMILY}{JOINT}{server}{JOINT}{letters}");
    if name.len() <= NAME_BYTES_MAX {
        return Ok(name);
    }
    // Only ASCII is left, so that every byte is a letter.
    let hash = Hash::of(raw.as_bytes()).to_string();
    let short = hash.get(..SHORT_HASH_BYTES).unwrap_or(&hash);
    let kept = name.get(..NAME_BYTES_MAX - SHORT_HASH_BYTES - 1);
    Ok(format!("{}_{short}", kept.unwrap_or(&name)))
}

/// The names of a whole list: those that can be offered by their raw names, and those that cannot
/// with the reason.
pub(super) fn all<'t>(
    server: &str,
    raws: impl IntoIterator<Item = &'t str>,
) -> Vec<Result<String, String>> {
    let raws: Vec<&str> = raws.into_iter().collect();
    let names: Vec<Result<String, String>> = raws.iter().map(|raw| offered(server, raw)).collect();
    let mut by_name: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (raw, name) in raws.iter().zip(&names) {
        if let Ok(name) = name {
            // Providers do not tell apart what differs by case only.
            by_name
                .entry(name.to_ascii_lowercase())
                .or_default()
                .push(raw);
        }
    }
    let alone = |name: String| {
        let sharers = by_name.get(&name.to_ascii_lowercase()).map_or(1, Vec::len);
        if sharers == 1 {
            return Ok(name);
        }
        Err(format!(
            "{sharers} tools of the server would be called `{name}`, and which one is meant would be unclear."
        ))
    };
    names.into_iter().map(|name| name.and_then(alone)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn servers_have_plain_names() {
        for name in ["a", "files", "my-files_2", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(check_server(name), Ok(()), "{name}");
        }
        let bad = [
            "",
            "A",
            "1a",
            "a__b",
            "_a",
            "a_",
            "a b",
            "../a",
            "ü",
            "a\n",
            "__proto__",
            "-a",
            "abcdefghijklmnopqrstuvwxy",
        ];
        for name in bad {
            assert!(check_server(name).is_err(), "{name}");
        }
    }

    #[test]
    fn odd_names_become_plain_ones_or_none() {
        let long = "x".repeat(100);
        let table = [
            ("echo", Some("mcp__s__echo")),
            ("a.b/c d", Some("mcp__s__a_b_c_d")),
            ("größe", Some("mcp__s__gr__e")),
            ("a__b", Some("mcp__s__a__b")),
            ("", None),
            ("漢字", None),
            ("a\u{202e}b", None),
            ("a\nb", None),
        ];
        for (raw, name) in table {
            assert_eq!(offered("s", raw).ok().as_deref(), name, "{raw:?}");
        }
        let name = offered("s", &long).unwrap();
        assert_eq!(name.len(), NAME_BYTES_MAX);
        assert_ne!(name, offered("s", &format!("{long}y")).unwrap());
        assert!(offered("s", &"x".repeat(RAW_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn names_that_collide_are_all_refused() {
        let names = all("s", ["a.b", "a_b", "c", "C", "d", "d", "e"]);
        let offered: Vec<&String> = names.iter().flatten().collect();
        assert_eq!(offered, ["mcp__s__e"]);
        assert!(names[0].as_ref().unwrap_err().contains("`mcp__s__a_b`"));
    }

    proptest! {
        #[test]
        fn a_name_is_one_that_providers_take_and_tells_its_server(
            server in "[a-z][a-z0-9-]{0,20}",
            raw in ".{0,80}",
        ) {
            if let Ok(name) = offered(&server, &raw) {
                prop_assert!(name.len() <= NAME_BYTES_MAX);
                let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                prop_assert!(name.bytes().all(fits));
                prop_assert_eq!(server_of(&name), Some(server.as_str()));
            }
        }
    }
}
