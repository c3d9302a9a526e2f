//! MCP servers: added, changed, taken out, and tried out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::words::settings::{
    self as words, KEY_NOT_TAKEN, KEYS_ARE_NOT_WRITTEN, SAY_WHERE_A_KEY_IS,
};
use a_society_mcp::{
    self as mcp, ServerLimits, ServerSpec, ServerTransport, Servers, Variable, parse,
};
use a_society_roles::config::edit::{ConfigEditFault, NewSecret, with_server, without_server};
use serde_json::json;

use super::super::servers::Roster;
use super::super::user;
use super::hint::Hint;
use super::{EditRefusal, Grade, SecretPlace, Sheet, check_place, looks_like_key};

/// A server as the operator wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// The program, if it is one.
    pub command: Option<String>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder in which it runs.
    pub folder: Option<String>,
    /// Its address, if it is on the network.
    pub url: Option<String>,
    /// Whether its name may resolve to a private address.
    pub is_private: bool,
    /// The variables that it inherits.
    pub inherits: Vec<String>,
    /// Its variables, or its headers.
    pub values: Vec<(String, HeldValue)>,
    /// Its tools that only read.
    pub reads: Vec<String>,
    /// What it is good for.
    pub about: Option<String>,
}

/// What a variable or a header holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldValue {
    /// This text.
    Plain(String),
    /// A secret that the configuration names already, with a prefix.
    Secret {
        /// Its name.
        name: String,
        /// The prefix, such as `Bearer `.
        prefix: String,
    },
    /// A secret that is kept there, with a prefix.
    Kept {
        /// Where.
        place: SecretPlace,
        /// The prefix, such as `Bearer `.
        prefix: String,
    },
}

/// A configuration with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedServers {
    /// The text.
    pub text: String,
    /// What would run or be reached, for the operator to read.
    pub shown: String,
    /// The hash of that.
    pub definition: Hash,
    /// What it was before; absent for a new one.
    pub was: Option<String>,
}

/// The servers of a configuration.
///
/// # Errors
/// When it says something about them that means nothing.
pub(crate) fn servers(sheet: &Sheet) -> Result<Vec<ServerSpec>, EditRefusal> {
    parse(&sheet.text).map_err(|faults| ConfigEditFault::Faulty(faults).into())
}

/// The configuration with a server: a new one, or another definition of one that is there.
///
/// # Errors
/// When there is one of that name and it is not to be replaced, something of it looks like a key, or it does not fit.
pub fn put(sheet: &Sheet, new: &NewServer, replaces: bool) -> Result<ChangedServers, EditRefusal> {
    let there = servers(sheet)?;
    let old = there.iter().find(|spec| spec.name == new.name);
    match old {
        Some(_) if !replaces => {
            return Err(unchanged(
                "server-exists",
                Grade::Refused,
                format!("there is an MCP server {} already", new.name),
                Hint::Replace,
            ));
        }
        None if replaces => return Err(ConfigEditFault::NoServer(new.name.clone()).into()),
        Some(_) | None => {}
    }
    let mut secrets: Vec<NewSecret> = Vec::new();
    let mut values = BTreeMap::new();
    for (name, held) in &new.values {
        values.insert(name.clone(), held_by(&new.name, name, held, &mut secrets)?);
    }
    let said = [&new.command, &new.url, &new.about, &new.folder];
    for text in said.into_iter().flatten().chain(&new.arguments) {
        if looks_like_key(text) {
            return Err(keyless("a part of its definition"));
        }
    }
    let reach = match (&new.command, &new.url) {
        (Some(command), None) => ServerTransport::Program {
            command: command.clone(),
            arguments: new.arguments.clone(),
            variables: values,
            inherits: new.inherits.clone(),
            folder: new.folder.clone(),
        },
        (None, Some(url)) => ServerTransport::Web {
            url: url.clone(),
            headers: values,
            is_private: new.is_private,
        },
        _ => {
            return Err(EditRefusal::usage(
                "it is not clear what the server is",
                "it is a program or an address, one of the two",
                Hint::Server(new.name.clone()),
            ));
        }
    };
    let spec = ServerSpec {
        name: new.name.clone(),
        reach,
        reads: new.reads.clone(),
        repeats: old.map(|it| it.repeats.clone()).unwrap_or_default(),
        irreversible: old.map(|it| it.irreversible.clone()).unwrap_or_default(),
        call_limit: old.map_or(mcp::CALL_LIMIT, |it| it.call_limit),
        about: new.about.clone(),
    };
    Ok(ChangedServers {
        text: with_server(&sheet.text, &spec, &secrets)?,
        shown: spec.shown(),
        definition: spec.definition_hash(),
        was: old.map(ServerSpec::shown),
    })
}

/// A server as an editor begins with it; nothing but that if something of it looks like a key, which no editor is
/// shown.
#[must_use]
pub(crate) fn described(spec: &ServerSpec) -> serde_json::Value {
    let (ServerTransport::Program {
        variables: values, ..
    }
    | ServerTransport::Web {
        headers: values, ..
    }) = &spec.reach;
    let each = values.iter().map(|(name, value)| match value {
        Variable::Plain(text) => json!({ "name": name, "text": text }),
        Variable::Secret {
            name: secret,
            prefix,
        } => json!({ "name": name, "secret": secret, "prefix": prefix }),
    });
    let is_plain_key = |(name, value): (&String, &Variable)| match value {
        Variable::Plain(text) => names_a_key(name) || looks_like_key(text),
        Variable::Secret { .. } => false,
    };
    let mut all = json!({
        "values": each.collect::<Vec<_>>(),
        "reads": spec.reads,
        "about": spec.about,
    });
    let (more, holds_a_key) = match &spec.reach {
        ServerTransport::Program {
            command,
            arguments,
            inherits,
            folder,
            ..
        } => (
            json!({
                "command": command,
                "arguments": arguments,
                "folder": folder,
                "inherits": inherits,
            }),
            arguments.iter().any(|text| looks_like_key(text)),
        ),
        ServerTransport::Web {
            url, is_private, ..
        } => (
            json!({ "url": url, "private": is_private }),
            looks_like_key(url),
        ),
    };
    if holds_a_key || values.iter().any(is_plain_key) {
        return json!({ "withheld": true });
    }
    if let (Some(all), serde_json::Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}

/// The text without a server.
///
/// # Errors
/// When there is no such server, or the text cannot be changed.
pub fn removed(sheet: &Sheet, name: &str) -> Result<String, EditRefusal> {
    Ok(without_server(&sheet.text, name)?)
}

/// Starts a server, asks what it offers, and ends it.
///
/// # Errors
/// When no server has that name, or it waits for approval.
pub fn try_out(name: &str, lists: &[PathBuf]) -> Result<Result<Vec<String>, String>, EditRefusal> {
    let roster = Roster::read(lists)?;
    if roster.named(name).is_none() {
        return Err(ConfigEditFault::NoServer(name.to_owned()).into());
    }
    let Some(spec) = roster.startable().into_iter().find(|it| it.name == name) else {
        return Err(unchanged(
            "server-waits",
            Grade::Refused,
            format!(
                "the MCP server {name} is wanted by the workspace, and was not approved as it is"
            ),
            Hint::Approve(name.to_owned()),
        ));
    };
    let given = match user::given() {
        Ok(given) => given,
        Err(why) => return Ok(Err(why.to_string())),
    };
    // Its runtime waits on a thread of its own: the caller's may belong to another one.
    let name = name.to_owned();
    let asked = std::thread::Builder::new()
        .name("server-trial".to_owned())
        .spawn(move || offers(&name, spec, given));
    let answered = asked.map(std::thread::JoinHandle::join);
    Ok(match answered {
        Ok(Ok(offers)) => offers,
        Ok(Err(_)) | Err(_) => Err("it could not be asked".to_owned()),
    })
}

fn offers(name: &str, spec: ServerSpec, given: mcp::Given) -> Result<Vec<String>, String> {
    let servers = Servers::new(vec![spec], given, ServerLimits::default());
    let tools = servers.tools(name, &StopSignal::default());
    let tools = tools.map_err(|unavailable| unavailable.why)?;
    let offered = tools.offered.iter().map(|tool| tool.raw_name.clone());
    let refused = tools.refused.iter();
    let refused = refused.map(|it| format!("{} is not offered: {}", it.name, it.why));
    Ok(offered.chain(refused).collect())
}

fn held_by(
    server: &str,
    name: &str,
    held: &HeldValue,
    secrets: &mut Vec<NewSecret>,
) -> Result<Variable, EditRefusal> {
    Ok(match held {
        HeldValue::Plain(value) => {
            if looks_like_key(value) || names_a_key(name) {
                return Err(keyless(&format!("what {name} holds")));
            }
            Variable::Plain(value.clone())
        }
        HeldValue::Secret { name, prefix } => Variable::Secret {
            name: name.clone(),
            prefix: prefix.clone(),
        },
        HeldValue::Kept { place, prefix } => {
            check_place(place)?;
            let secret = format!("{server}-{}", name.to_ascii_lowercase());
            secrets.push((secret.clone(), place.clone()));
            Variable::Secret {
                name: secret,
                prefix: prefix.clone(),
            }
        }
    })
}

/// Whether people keep keys in variables and headers of such names.
fn names_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = [
        "key",
        "token",
        "secret",
        "password",
        "passwd",
        "authorization",
        "cookie",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

fn keyless(what: &str) -> EditRefusal {
    EditRefusal::usage(
        KEY_NOT_TAKEN,
        format!("{}; {KEYS_ARE_NOT_WRITTEN}", words::looks_like_a_key(what)),
        SAY_WHERE_A_KEY_IS,
    )
}

fn unchanged(code: &'static str, grade: Grade, why: String, hint: impl Into<Hint>) -> EditRefusal {
    EditRefusal {
        code,
        grade,
        what: "the configuration was not changed".to_owned(),
        why,
        hint: hint.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str) -> Sheet {
        Sheet {
            path: PathBuf::from("config.yaml"),
            text: text.to_owned(),
        }
    }

    fn server(values: Vec<(String, HeldValue)>) -> NewServer {
        NewServer {
            name: "tickets".to_owned(),
            command: Some("/usr/bin/tickets".to_owned()),
            values,
            ..NewServer::default()
        }
    }

    #[test]
    fn what_looks_like_a_key_is_not_taken_and_a_place_of_one_becomes_a_secret() {
        let key = format!("sk-ant-{}", "api03-CANARYCANARYCANARY");
        let plain = |name: &str, value: &str| {
            let held = HeldValue::Plain(value.to_owned());
            put(&sheet(""), &server(vec![(name.to_owned(), held)]), false)
        };
        for refused in [plain("MODE", &key), plain("API_TOKEN", "short")] {
            let refused = refused.unwrap_err();
            assert!(refused.why.contains("looks like a key"), "{refused:?}");
            assert!(!format!("{refused:?}").contains("CANARY"), "{refused:?}");
        }
        let mut argued = server(Vec::new());
        argued.arguments = vec!["--token".to_owned(), key];
        put(&sheet(""), &argued, false).unwrap_err();
        assert!(plain("MODE", "fast").is_ok());
        let place = ("env".to_owned(), "TICKETS".to_owned());
        let prefix = String::new();
        let kept = vec![("API_TOKEN".to_owned(), HeldValue::Kept { place, prefix })];
        let done = put(&sheet(""), &server(kept), false).unwrap();
        assert!(
            done.text
                .contains("\"tickets-api_token\": { env: \"TICKETS\" }"),
            "{}",
            done.text
        );
        assert!(done.shown.contains("the secret"), "{}", done.shown);
        let again = put(&sheet(&done.text), &server(Vec::new()), false).unwrap_err();
        assert_eq!(again.code, "server-exists");
        let replaced = put(&sheet(&done.text), &server(Vec::new()), true).unwrap();
        assert_ne!(replaced.definition, done.definition);
        assert_eq!(replaced.was, Some(done.shown));
        assert_eq!(removed(&sheet(&done.text), "tickets").unwrap(), "");
    }
}
