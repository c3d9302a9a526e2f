//! Servers that a workspace would like to have: read, shown, and never started.
//!
//! Many tools keep a list of servers in the folder they work on. Anyone who can write to that folder
//! can write to that list, so an entry is only a wish. It becomes a server when the operator approves,
//! by its hash, the very definition that was shown.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use serde_json::{Map, Value};

use super::limits::{CALL_LIMIT, ENTRIES_MAX, ENTRY_BYTES_MAX, SERVERS_MAX, WANTED_BYTES_MAX};
use super::spec::{ServerSpec, ServerTransport, Variable};
use super::{address, name, plain};

/// A server that a workspace would like to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedServer {
    /// What it would be called.
    pub name: String,
    /// What would run or be reached.
    pub shown: String,
    /// The hash by which it would be approved.
    pub definition: Hash,
    spec: ServerSpec,
}

impl WantedServer {
    /// The server, if this is what was approved.
    #[must_use]
    pub fn approved(self, definition: Hash) -> Option<ServerSpec> {
        (self.definition == definition).then_some(self.spec)
    }
}

/// Reads a list of the usual shape (`{"mcpServers": {…}}`): what it wants, and what is wrong with
/// the rest. References to variables in it stay the text that they are.
#[must_use]
pub fn wanted(text: &str) -> (Vec<WantedServer>, Vec<String>) {
    if text.len() > WANTED_BYTES_MAX {
        return (
            Vec::new(),
            vec![format!("The list has more than {WANTED_BYTES_MAX} bytes.")],
        );
    }
    let list: Value = match serde_json::from_str(text) {
        Ok(list) => list,
        Err(why) => return (Vec::new(), vec![format!("The list is no JSON: {why}.")]),
    };
    let Some(Value::Object(servers)) = list.get("mcpServers") else {
        return (Vec::new(), Vec::new());
    };
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for (called, entry) in servers.iter().take(SERVERS_MAX) {
        match spec(called, entry) {
            Ok(spec) => all.push(WantedServer {
                name: spec.name.clone(),
                shown: spec.shown(),
                definition: spec.definition_hash(),
                spec,
            }),
            Err(why) => {
                let called = plain::head(&plain::line(called), 60);
                faults.push(format!("The server `{called}`: {why}"));
            }
        }
    }
    if servers.len() > SERVERS_MAX {
        faults.push(format!("The list has more than {SERVERS_MAX} servers."));
    }
    (all, faults)
}

fn spec(called: &str, entry: &Value) -> Result<ServerSpec, String> {
    name::check_server(called)?;
    let reach = match (text(entry, "command")?, text(entry, "url")?) {
        (Some(command), None) => ServerTransport::Program {
            command,
            arguments: texts(entry, "args")?,
            variables: variables(entry, "env", |_| Ok(()))?,
            inherits: Vec::new(),
            folder: None,
        },
        (None, Some(url)) => {
            address::check(&url, false)?;
            ServerTransport::Web {
                url,
                headers: variables(entry, "headers", address::check_header)?,
                is_private: false,
            }
        }
        (Some(_), Some(_)) | (None, None) => return Err("it needs `command` or `url`".to_owned()),
    };
    Ok(ServerSpec {
        name: called.to_owned(),
        reach,
        reads: Vec::new(),
        repeats: Vec::new(),
        irreversible: Vec::new(),
        call_limit: CALL_LIMIT,
        // What a workspace says of its servers is shown to no model that chooses.
        about: None,
    })
}

fn text(entry: &Value, key: &str) -> Result<Option<String>, String> {
    match entry.get(key) {
        None => Ok(None),
        Some(value) => sound(value, key).map(Some),
    }
}

fn sound(value: &Value, key: &str) -> Result<String, String> {
    match value {
        Value::String(text) if text.is_empty() || text.contains('\0') => {
            Err(format!("`{key}` is empty or has a NUL in it"))
        }
        Value::String(text) if text.len() > ENTRY_BYTES_MAX => {
            Err(format!("`{key}` has more than {ENTRY_BYTES_MAX} bytes"))
        }
        Value::String(text) => Ok(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(format!("`{key}` must be text"))
        }
    }
}

fn texts(entry: &Value, key: &str) -> Result<Vec<String>, String> {
    match entry.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= ENTRIES_MAX => {
            items.iter().map(|item| sound(item, key)).collect()
        }
        Some(_) => Err(format!(
            "`{key}` must be a list of at most {ENTRIES_MAX} texts"
        )),
    }
}

fn variables(
    entry: &Value,
    key: &str,
    check: impl Fn(&str) -> Result<(), String>,
) -> Result<BTreeMap<String, Variable>, String> {
    let none = Map::new();
    let fields = match entry.get(key) {
        None => &none,
        Some(Value::Object(fields)) if fields.len() <= ENTRIES_MAX => fields,
        Some(_) => {
            return Err(format!(
                "`{key}` must be a mapping of at most {ENTRIES_MAX} texts"
            ));
        }
    };
    let one = |(name, value): (&String, &Value)| {
        check(name)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("`{key}` has no valid name"));
        }
        Ok((name.clone(), Variable::Plain(sound(value, key)?)))
    };
    fields.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m01_a_workspaces_own_servers_are_shown_with_their_hash_and_not_started() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("ran");
        let list = format!(
            r#"{{"mcpServers": {{"evil": {{"command": "touch", "args": ["{}"], "env": {{"K": "${{HOME}}"}}}}}}}}"#,
            trace.display()
        );
        let (all, faults) = wanted(&list);
        assert_eq!(faults, [""; 0]);
        let [evil] = all.as_slice() else {
            panic!("{all:?}")
        };
        assert!(evil.shown.contains("runs `touch`") && evil.shown.contains("K = `${HOME}`"));
        assert!(!trace.exists());
        let (other, _) = wanted(&list.replace("touch", "rm"));
        assert_eq!(evil.clone().approved(other[0].definition), None);
        let approved = evil.clone().approved(evil.definition).unwrap();
        assert_eq!(approved.definition_hash(), evil.definition);
    }

    #[test]
    fn what_is_wrong_with_a_wish_is_said_and_the_rest_is_read() {
        let list = r#"{"mcpServers": {
            "../owner": {"command": "x"}, "__proto__": {"command": "x"}, "none": {},
            "both": {"command": "x", "url": "https://e.com"}, "web": {"url": "http://169.254.169.254/"},
            "head": {"url": "https://e.com", "headers": {"Host": "x"}},
            "args": {"command": "x", "args": "y"}, "env": {"command": "x", "env": {"A=B": "y"}},
            "good": {"command": "x"}
        }}"#;
        let (all, faults) = wanted(list);
        assert_eq!(
            all.iter()
                .map(|wish| wish.name.as_str())
                .collect::<Vec<_>>(),
            ["good"]
        );
        assert_eq!(faults.len(), 8, "{faults:#?}");
        for text in ["", "[", "{}", "[]", "{\"mcpServers\": 3}"] {
            assert!(wanted(text).0.is_empty(), "{text}");
        }
    }
}
