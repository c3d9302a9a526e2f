//! All servers of a configuration, for roles that share them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_base::thread;
use a_society_facts::Hash;
use serde_json::{Map, Value};

use super::definition::{RefusedTool, ServerTools};
use super::limits::{ARGUMENTS_BYTES_MAX, ServerLimits};
use super::output::RemoteOutput;
#[cfg(test)]
use super::server::Health;
use super::server::{CheckedCall, McpServer, RemoteCallFault, Unavailable};
use super::spec::{Given, ServerSpec};
use super::waiter::{CutShort, Waiter};
use super::{name, plain};

/// The servers that the operator configured. None runs before it is needed; all end when this is
/// dropped.
#[derive(Debug)]
pub struct Servers {
    by_name: BTreeMap<String, McpServer>,
    waiter: Waiter,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct RemoteCall<'t> {
    /// The tool, as models call it.
    pub tool: &'t str,
    /// The hash of the definition under which it was approved.
    pub definition: Hash,
    /// Its arguments, as a JSON object; empty for none.
    pub arguments: &'t str,
    /// How long it may take; without it as long as its server's calls may.
    pub limit: Option<Duration>,
    /// What tells this call from every other, for servers that take the same call twice as one.
    pub key: Option<&'t str>,
}

impl Servers {
    /// The servers by their specifications. Of several with one name the first counts; a
    /// configuration cannot hold them.
    #[must_use]
    pub fn new(specs: Vec<ServerSpec>, given: Given, limits: ServerLimits) -> Self {
        let redactor = Arc::new(given.redactor());
        let given = Arc::new(given);
        let mut by_name = BTreeMap::new();
        for spec in specs {
            let server = |spec| McpServer::new(spec, given.clone(), redactor.clone(), limits);
            let name = spec.name.clone();
            by_name.entry(name).or_insert_with(|| server(spec));
        }
        Self {
            by_name,
            waiter: Waiter::default(),
        }
    }

    /// Their names.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// How a server was configured, and by that its hash.
    #[must_use]
    pub fn spec(&self, server: &str) -> Option<&ServerSpec> {
        self.by_name.get(server).map(|server| &server.spec)
    }

    /// What a server offers. Starts it if it does not run.
    ///
    /// # Errors
    ///
    /// The server is not there.
    pub fn tools(&self, server: &str, stop: &StopSignal) -> Result<Arc<ServerTools>, Unavailable> {
        let found = self
            .by_name
            .get(server)
            .ok_or_else(|| not_configured(server))?;
        let waited = self.waiter.wait(stop, found.tools());
        waited.unwrap_or_else(|cut| {
            let why = match cut {
                CutShort::Stopped => "The turn was stopped before it answered.",
                CutShort::NoRuntime => "It cannot be waited for here.",
            };
            Err(Unavailable {
                server: server.to_owned(),
                why: why.to_owned(),
            })
        })
    }

    /// What a server that runs offers, as far as it is known. Nothing is started for it, and nothing
    /// is waited for.
    #[must_use]
    pub fn known_tools(&self, server: &str) -> Option<Arc<ServerTools>> {
        self.by_name.get(server)?.known_tools()
    }

    /// Calls a tool, once. It is never called again by itself.
    ///
    /// # Errors
    ///
    /// There is no result; the fault says whether the call may have done something. A tool that
    /// says itself that it failed has a result.
    pub fn call(
        &self,
        call: &RemoteCall<'_>,
        stop: &StopSignal,
    ) -> Result<RemoteOutput, RemoteCallFault> {
        let no_tool = |why: &str| {
            RemoteCallFault::NoTool(RefusedTool {
                name: plain::head(&plain::line(call.tool), 80),
                why: why.to_owned(),
            })
        };
        let server = name::server_of(call.tool);
        let server = server.ok_or_else(|| no_tool("It is no tool of an MCP server."))?;
        let server = self.by_name.get(server);
        let server = server.ok_or_else(|| no_tool("Its server is not configured."))?;
        let has_begun = Arc::new(AtomicBool::new(false));
        let wanted = CheckedCall {
            tool: call.tool.to_owned(),
            definition: call.definition,
            arguments: arguments(call.arguments)?,
            limit: call.limit.unwrap_or(server.spec.call_limit),
            key: call.key.map(str::to_owned),
            has_begun: has_begun.clone(),
        };
        let waited = self.waiter.wait(stop, server.call(wanted));
        waited.unwrap_or_else(|cut| {
            Err(match cut {
                CutShort::Stopped => RemoteCallFault::Stopped {
                    has_begun: has_begun.load(Ordering::SeqCst),
                },
                CutShort::NoRuntime => no_tool("It cannot be waited for here."),
            })
        })
    }

    /// How each of them is.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn health(&self) -> Vec<Health> {
        self.by_name.values().map(McpServer::state).collect()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if !self.waiter.has_waited() {
            return;
        }
        // All at once, so that the slowest says how long it takes.
        let waiter = &self.waiter;
        std::thread::scope(|scope| {
            for server in self.by_name.values() {
                // What cannot be waited for is dropped, and killed by that.
                let close = || {
                    let _closed = waiter.wait(&StopSignal::default(), server.close());
                };
                // Without a thread for it, it is closed before the next one is.
                if thread::begin_within(scope, "close", close).is_err() {
                    close();
                }
            }
        });
    }
}

fn not_configured(server: &str) -> Unavailable {
    Unavailable {
        server: plain::head(&plain::line(server), 80),
        why: "It is not configured.".to_owned(),
    }
}

fn arguments(text: &str) -> Result<Map<String, Value>, RemoteCallFault> {
    let fault = |why: String| RemoteCallFault::Arguments { why };
    if text.len() > ARGUMENTS_BYTES_MAX {
        return Err(fault(format!(
            "The arguments have more than {ARGUMENTS_BYTES_MAX} bytes."
        )));
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(fault("The arguments are no JSON object.".to_owned())),
        Err(why) => Err(fault(format!("The arguments are no JSON: {why}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_an_object_or_nothing() {
        assert_eq!(arguments(" ").unwrap(), Map::new());
        assert_eq!(arguments("{\"a\":1}").unwrap().len(), 1);
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(ARGUMENTS_BYTES_MAX));
        for text in ["[]", "1", "null", "{", "{\"a\":1} x", &long] {
            assert!(matches!(
                arguments(text),
                Err(RemoteCallFault::Arguments { .. })
            ));
        }
    }
}
