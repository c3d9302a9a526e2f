//! A workspace whose roles are a model's, and the program run in it as an operator would.

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::aimock::Aimock;
use crate::support::{Said, Workspace};

/// A workspace with the project `demo` and one flow in it.
pub(super) struct Site {
    pub(super) workspace: Workspace,
}

impl Site {
    /// With a flow, a model over a wire, and what else the operator configured.
    pub(super) fn new(flow: &str, model: &Aimock, wire: &str, configured: &str) -> Self {
        Self::at(flow, &model.url(), wire, configured)
    }

    /// The same, with a model at an address.
    pub(super) fn at(flow: &str, url: &str, wire: &str, configured: &str) -> Self {
        let workspace = Workspace::new();
        workspace.make_project("demo");
        let site = Self { workspace };
        site.write("demo/flow.yaml", flow);
        let config = format!(
            "providers:\n  p: {{ wire: {wire}, base-url: '{url}' }}\n\
             models:\n  m: {{ provider: p, id: m, window: 100000 }}\nmodel: m\n{configured}"
        );
        site.write("config.yaml", &config);
        site
    }

    pub(super) fn path(&self) -> &Path {
        self.workspace.path()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        let path = self.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    }

    pub(super) fn run(&self, words: &[&str]) -> Said {
        // Programs that others wrote are found by their names.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = self.workspace.command(words);
        self.workspace.heard(command.env("PATH", path))
    }

    /// Runs the flow until it ends or asks.
    pub(super) fn begin(&self) -> Said {
        self.run(&[
            "run",
            "demo/flow.yaml",
            "--until-waiting",
            "--improve",
            "none",
        ])
    }

    /// Goes on until it ends or asks.
    pub(super) fn resume(&self) -> Said {
        let flow = self.flow();
        self.run(&["resume", &flow, "--until-waiting", "--improve", "none"])
    }

    /// Goes on without waiting for it.
    pub(super) fn resume_beside(&self) -> Child {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let flow = self.flow();
        let mut command =
            self.workspace
                .command(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        command.env("PATH", path).stdout(Stdio::null());
        command.stderr(Stdio::null()).spawn().unwrap()
    }

    /// Allows what the flow asks about now.
    pub(super) fn allow(&self) {
        let said = self.run(&["allow", &self.flow()]);
        assert_eq!(said.code, 0, "{said:?}");
    }

    /// The only flow.
    pub(super) fn flow(&self) -> String {
        let mut found = std::fs::read_dir(self.workspace.state().join("demo")).unwrap();
        let entry = found.next().unwrap().unwrap();
        entry.file_name().into_string().unwrap()
    }

    pub(super) fn status(&self) -> Value {
        self.run(&["status", &self.flow(), "--json"]).json()
    }

    /// A file of the flow's shared folder.
    pub(super) fn record(&self, name: &str) -> String {
        let path = self.workspace.flow_folder(&self.flow()).join("record");
        std::fs::read_to_string(path.join(name)).unwrap()
    }
}
