//! A server that is a shell script, and our side of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use tempfile::TempDir;

use super::super::{
    Given, RemoteCall, RemoteCallFault, RemoteOutput, ServerLimits, ServerTools, Servers, parse,
};
use crate::server::Unavailable;

/// An honest server, whose every part a test may redefine before it begins.
const HONEST: &str = r#"
trace=$1/trace
init='{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"script","version":"1"}}'
tools='{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}'
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
on_begin() { :; }
on_initialize() { answer "$init"; }
on_list() { answer "{\"tools\":[$tools]}"; }
on_call() { text called; }
on_other() { :; }
"#;

const LOOP: &str = r#"
printf 'begin\n' >>"$trace"
on_begin
while IFS= read -r line; do
  printf '%s\n' "$line" >>"$trace"
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*) on_initialize ;;
    *'"method":"tools/list"'*) on_list ;;
    *'"method":"tools/call"'*) on_call ;;
    *) on_other ;;
  esac
done
"#;

/// Our side, with a server whose script is honest but for some parts.
pub(super) struct Stand {
    pub(super) folder: TempDir,
    pub(super) servers: Servers,
    pub(super) stop: StopSignal,
}

/// Limits that a test with many faults can wait for.
pub(super) fn hasty() -> ServerLimits {
    ServerLimits {
        first_pause: Duration::from_millis(1),
        ..ServerLimits::default()
    }
}

impl Stand {
    pub(super) fn new(parts: &str) -> Self {
        Self::with(parts, hasty())
    }

    pub(super) fn with(parts: &str, limits: ServerLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("server.sh");
        std::fs::write(&script, format!("{HONEST}{parts}{LOOP}")).unwrap();
        let command = "/bin/sh".to_owned();
        let arguments = [path(&script), path(folder.path())];
        let text = format!(
            "mcp-servers:\n  s: {{command: {command}, args: {arguments:?}, read-only: [look]}}\n"
        );
        Self {
            servers: Servers::new(parse(&text).unwrap(), Given::default(), limits),
            folder,
            stop: StopSignal::default(),
        }
    }

    pub(super) fn tools(&self) -> Result<Arc<ServerTools>, Unavailable> {
        self.servers.tools("s", &self.stop)
    }

    /// The hash of the tool's definition now.
    pub(super) fn hash(&self, tool: &str) -> Hash {
        self.tools().unwrap().named(tool).unwrap().definition
    }

    pub(super) fn call(
        &self,
        tool: &str,
        definition: Hash,
    ) -> Result<RemoteOutput, RemoteCallFault> {
        self.call_within(tool, definition, Duration::from_secs(60))
    }

    pub(super) fn call_within(
        &self,
        tool: &str,
        definition: Hash,
        limit: Duration,
    ) -> Result<RemoteOutput, RemoteCallFault> {
        self.call_with("{}", tool, definition, limit)
    }

    pub(super) fn call_with(
        &self,
        arguments: &str,
        tool: &str,
        definition: Hash,
        limit: Duration,
    ) -> Result<RemoteOutput, RemoteCallFault> {
        let call = RemoteCall {
            tool,
            definition,
            arguments,
            limit: Some(limit),
            key: Some("key-1"),
        };
        self.servers.call(&call, &self.stop)
    }

    /// How many lines of what the server was sent hold some words.
    pub(super) fn heard(&self, words: &str) -> usize {
        let trace = std::fs::read_to_string(self.folder.path().join("trace"));
        let trace = trace.unwrap_or_default();
        trace.lines().filter(|line| line.contains(words)).count()
    }

    /// Waits until the server was sent some words.
    pub(super) fn await_heard(&self, words: &str) {
        let heard = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            self.heard(words) > 0
        });
        assert!(heard, "the server never heard {words}");
    }
}

pub(super) fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
