//! Changing the servers of a configuration as a person would: lines are put in or taken out, and everything else
//! stays as it was written, comments included.

use std::collections::{BTreeMap, BTreeSet};

use a_society_mcp::{ServerSpec, ServerTransport, Variable, parse};

use super::super::{KeySource, parse_secrets};
use super::{ConfigEditFault, layout, quoted};

/// What the servers of a configuration are named under.
const SERVERS: &str = "mcp-servers";

/// What the secrets of servers are named under.
const SECRETS: &str = "secrets";

/// A secret of a server, and where it is: `env`, `file` or `keyring`, and the name there.
pub type NewSecret = (String, (String, String));

/// The configuration with a server: a new one, or other members of one that is there. Secrets that it names and that
/// are not there are put in with where they are.
///
/// # Errors
///
/// When it is faulty or would be, or the text is laid out otherwise.
pub fn with_server(
    text: &str,
    spec: &ServerSpec,
    secrets: &[NewSecret],
) -> Result<String, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    let there = parse_secrets(text).map_err(ConfigEditFault::Faulty)?;
    let by_hand = || {
        let lines = block(spec).into_iter().map(|line| format!("  {line}\n"));
        ConfigEditFault::Unclear(format!("{SERVERS}:\n{}", lines.collect::<String>()))
    };
    let mut after = text.to_owned();
    for (name, (how, place)) in secrets {
        match there.get(name) {
            Some(source) if source.parts() == (how.as_str(), place.clone()) => {}
            Some(_) => return Err(ConfigEditFault::SecretDiffers(name.clone())),
            None => {
                let line = format!("{}: {{ {how}: {} }}", quoted(name), quoted(place));
                after = layout::put_under(&after, SECRETS, &[line]).ok_or_else(by_hand)?;
            }
        }
    }
    let old = before.iter().find(|it| it.name == spec.name);
    after = match old {
        None => layout::put_under(&after, SERVERS, &block(spec)),
        Some(old) => changed(&after, old, spec),
    }
    .ok_or_else(by_hand)?;
    let now = parse(&after).map_err(ConfigEditFault::Unfit)?;
    let now_secrets = parse_secrets(&after).map_err(ConfigEditFault::Unfit)?;
    let mut expected = by_name(before);
    expected.insert(spec.name.clone(), spec.clone());
    let keeps = there
        .iter()
        .all(|(name, source)| now_secrets.get(name) == Some(source));
    if by_name(now) != expected || !keeps {
        return Err(by_hand());
    }
    Ok(after)
}

/// The configuration without a server, and without the secrets that no other one names.
///
/// # Errors
///
/// When it is faulty, there is no such server, or the text is laid out otherwise.
pub fn without_server(text: &str, name: &str) -> Result<String, ConfigEditFault> {
    let before = parse(text).map_err(ConfigEditFault::Faulty)?;
    let there = parse_secrets(text).map_err(ConfigEditFault::Faulty)?;
    let mut expected = by_name(before);
    let Some(gone) = expected.remove(name) else {
        return Err(ConfigEditFault::NoServer(name.to_owned()));
    };
    let by_hand = || ConfigEditFault::Unclear(format!("take `{name}` out of `{SERVERS}`"));
    let path = [SERVERS, name];
    let mut after = layout::without(
        text,
        if expected.is_empty() {
            &path[..1]
        } else {
            &path
        },
    )
    .ok_or_else(by_hand)?;
    let used: BTreeSet<&str> = expected.values().flat_map(secrets_of).collect();
    let mut left: BTreeMap<String, KeySource> = there;
    for secret in secrets_of(&gone) {
        if used.contains(secret) || left.remove(secret).is_none() {
            continue;
        }
        let path = [SECRETS, secret];
        let path = if left.is_empty() { &path[..1] } else { &path };
        after = layout::without(&after, path).ok_or_else(by_hand)?;
    }
    let is_so = parse(&after).is_ok_and(|now| by_name(now) == expected)
        && parse_secrets(&after).is_ok_and(|now| now == left);
    if is_so { Ok(after) } else { Err(by_hand()) }
}

/// The names of the secrets that a server is given.
pub(crate) fn secrets_of(spec: &ServerSpec) -> impl Iterator<Item = &str> {
    let (ServerTransport::Program { variables, .. }
    | ServerTransport::Web {
        headers: variables, ..
    }) = &spec.reach;
    variables.values().filter_map(|value| match value {
        Variable::Secret { name, .. } => Some(name.as_str()),
        Variable::Plain(_) => None,
    })
}

fn by_name(specs: Vec<ServerSpec>) -> BTreeMap<String, ServerSpec> {
    let specs = specs.into_iter();
    specs.map(|spec| (spec.name.clone(), spec)).collect()
}

/// The lines of a server, each member on one.
fn block(spec: &ServerSpec) -> Vec<String> {
    let members = members(spec).into_iter();
    let head = std::iter::once(format!("{}:", spec.name));
    head.chain(members.map(|(key, value)| format!("  {key}: {value}")))
        .collect()
}

/// Only the members that are others now; one that was written on a single line is written anew.
fn changed(text: &str, old: &ServerSpec, new: &ServerSpec) -> Option<String> {
    let (was, is) = (members(old), members(new));
    let path = |key| [SERVERS, new.name.as_str(), key];
    let mut after = text.to_owned();
    for (key, value) in &is {
        if was.iter().any(|it| it.0 == *key && it.1 == *value) {
            continue;
        }
        if was.iter().any(|it| it.0 == *key) {
            after = layout::without(&after, &path(key)).or_else(|| anew(text, new))?;
        }
        let line = format!("{key}: {value}");
        match layout::put_into(&after, &path("")[..2], &line) {
            Some(more) => after = more,
            None => return anew(text, new),
        }
    }
    for (key, _) in &was {
        if !is.iter().any(|it| it.0 == *key) {
            match layout::without(&after, &path(key)) {
                Some(less) => after = less,
                None => return anew(text, new),
            }
        }
    }
    Some(after)
}

/// The whole entry, in other lines.
fn anew(text: &str, new: &ServerSpec) -> Option<String> {
    let without = layout::without(text, &[SERVERS, &new.name])?;
    if parse(&without).is_ok() {
        return layout::put_under(&without, SERVERS, &block(new));
    }
    // It was the only one.
    let without = layout::without(text, &[SERVERS])?;
    layout::put_under(&without, SERVERS, &block(new))
}

fn members(spec: &ServerSpec) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut say = |key: &'static str, value: String| all.push((key, value));
    match &spec.reach {
        ServerTransport::Program {
            command,
            arguments,
            variables,
            inherits,
            folder,
        } => {
            say("command", quoted(command));
            if !arguments.is_empty() {
                say("args", list(arguments));
            }
            if let Some(folder) = folder {
                say("folder", quoted(folder));
            }
            if !inherits.is_empty() {
                say("inherit", list(inherits));
            }
            if !variables.is_empty() {
                say("env", values(variables));
            }
        }
        ServerTransport::Web {
            url,
            headers,
            is_private,
        } => {
            say("url", quoted(url));
            if *is_private {
                say("private-network", "true".to_owned());
            }
            if !headers.is_empty() {
                say("headers", values(headers));
            }
        }
    }
    let lists = [
        ("read-only", &spec.reads),
        ("idempotent", &spec.repeats),
        ("irreversible", &spec.irreversible),
    ];
    for (key, items) in lists {
        if !items.is_empty() {
            say(key, list(items));
        }
    }
    if spec.call_limit != a_society_mcp::CALL_LIMIT {
        say("time-limit-s", spec.call_limit.as_secs().to_string());
    }
    if let Some(about) = &spec.about {
        say("description", quoted(about));
    }
    all
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

fn values(values: &BTreeMap<String, Variable>) -> String {
    let values = values.iter().map(|(name, value)| {
        let value = match value {
            Variable::Plain(value) => quoted(value),
            Variable::Secret { name, prefix } if prefix.is_empty() => {
                format!("{{ secret: {} }}", quoted(name))
            }
            Variable::Secret { name, prefix } => {
                format!("{{ secret: {}, prefix: {} }}", quoted(name), quoted(prefix))
            }
        };
        format!("{}: {value}", quoted(name))
    });
    format!("{{ {} }}", values.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, command: &str, arguments: &[&str]) -> ServerSpec {
        ServerSpec {
            name: name.to_owned(),
            reach: ServerTransport::Program {
                command: command.to_owned(),
                arguments: arguments.iter().map(|&it| it.to_owned()).collect(),
                variables: BTreeMap::new(),
                inherits: Vec::new(),
                folder: None,
            },
            reads: Vec::new(),
            repeats: Vec::new(),
            irreversible: Vec::new(),
            call_limit: a_society_mcp::CALL_LIMIT,
            about: None,
        }
    }

    fn with_token(mut spec: ServerSpec) -> ServerSpec {
        if let ServerTransport::Program { variables, .. } = &mut spec.reach {
            let secret = Variable::Secret {
                name: "tickets".to_owned(),
                prefix: String::new(),
            };
            variables.insert("TOKEN".to_owned(), secret);
            variables.insert("MODE".to_owned(), Variable::Plain("a: \"b\"".to_owned()));
        }
        spec
    }

    const BY_HAND: &str = "# mine\nmodel: m\nmcp-servers:\n  # the files\n  files:\n    command: npx   # from npm\n    args:\n      - -y\n      - \"@x/files\"\n    # what only reads\n    read-only: [read_text_file]\n  one: { command: one }\n# the end\n";

    #[test]
    fn a_server_is_added_to_nothing_and_to_others_and_its_secret_with_it() {
        let spec = with_token(program("tickets", "/usr/bin/tickets", &["--stdio", "a b"]));
        let secret = ("tickets".to_owned(), ("env".to_owned(), "T".to_owned()));
        for text in ["", BY_HAND] {
            let after = with_server(text, &spec, std::slice::from_ref(&secret)).unwrap();
            for line in text.lines() {
                assert!(after.contains(line), "{line}");
            }
            assert!(parse(&after).unwrap().contains(&spec), "{after}");
            assert_eq!(parse_secrets(&after).unwrap().len(), 1);
            let without = without_server(&after, "tickets").unwrap();
            assert_eq!(without, text);
        }
        let there = "secrets: { tickets: { file: /x } }\n";
        let refused = with_server(there, &spec, &[secret]);
        assert_eq!(
            refused,
            Err(ConfigEditFault::SecretDiffers("tickets".to_owned()))
        );
    }

    #[test]
    fn only_the_members_that_change_are_written_anew() {
        let mut spec = program("files", "npx", &["-y", "@x/files"]);
        spec.reads = vec!["read_text_file".to_owned(), "list".to_owned()];
        let after = with_server(BY_HAND, &spec, &[]).unwrap();
        let expected = BY_HAND
            .replace("    read-only: [read_text_file]\n", "")
            .replace(
                "  files:\n",
                "  files:\n    read-only: [\"read_text_file\", \"list\"]\n",
            );
        assert_eq!(after, expected);
        // An entry on one line is written in other lines.
        let one = program("one", "two", &["x"]);
        let after = with_server(BY_HAND, &one, &[]).unwrap();
        assert!(after.contains("  one:\n    command: \"two\"\n"), "{after}");
        assert!(after.contains("# from npm"), "{after}");
    }

    #[test]
    fn what_cannot_be_a_server_is_refused_and_nothing_is_lost() {
        let refused = with_server(BY_HAND, &program("Up", "x", &[]), &[]).unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
        let refused = with_server(BY_HAND, &program("up", "./x", &[]), &[]).unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
        let refused = without_server(BY_HAND, "up").unwrap_err();
        assert_eq!(refused, ConfigEditFault::NoServer("up".to_owned()));
        let braces = "mcp-servers: { a: { command: x } }\n";
        let refused = with_server(braces, &program("b", "x", &[]), &[]).unwrap_err();
        assert!(
            matches!(refused, ConfigEditFault::Unclear(_)),
            "{refused:?}"
        );
        let refused = with_server("mcp-servers: 3\n", &program("b", "x", &[]), &[]).unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Faulty(_)), "{refused:?}");
    }
}
