//! What a chat holds: the tools of its model, and its messages in a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use a_society_facts::id::RoleInstance;
use a_society_facts::view::session::Texts;
use a_society_orchestrator::sessions::chat_flow::chat_flow;
use serde_json::Value;

use super::Watch;
use crate::cli::session::sessions;
use crate::cli::session_text::markdown;
use crate::operator_error::{Stop, from_io};
use crate::output_file::OutputFile;
use crate::text::plain;

impl Watch<'_> {
    /// Prints the tools that the last request offered.
    pub(super) fn print_tools(&mut self, role: &RoleInstance) -> Result<(), Stop> {
        let views = sessions(self.store, self.flow)?;
        let frame = views
            .session(role)
            .and_then(|session| session.frame.as_ref());
        let Some(frame) = frame else {
            return self.say("no request was sent yet; the first message offers the tools");
        };
        let place = self.store.place(self.flow);
        let texts = frame.tools.iter().map(|text| {
            let whole = text.blob().and_then(|kept| place.text_of(kept.blob));
            whole.unwrap_or_else(|| text.shown())
        });
        let lists = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        let tools: Vec<Value> = lists.flat_map(listed).collect();
        let lines: Vec<String> = tools.iter().filter_map(line).collect();
        if lines.is_empty() {
            return self.say("its model has no tools");
        }
        self.print_lines(&lines)
    }

    /// Writes the session to a file, which is not there yet.
    pub(super) fn export(&mut self, role: &RoleInstance, file: Option<String>) -> Result<(), Stop> {
        let path = PathBuf::from(file.unwrap_or_else(|| format!("{}.md", self.flow.flow)));
        let views = sessions(self.store, self.flow)?;
        let Some(session) = views.session(role) else {
            return self.say("there is nothing to write yet");
        };
        let place = self.store.place(self.flow);
        let read = |hash| place.text_of(hash);
        let mut bytes = Vec::new();
        let end = path.extension().and_then(|end| end.to_str());
        if let Some("yaml" | "yml") = end {
            match chat_flow(self.store, self.flow, None) {
                Ok(file) => bytes = file.into_bytes(),
                Err(fault) => return self.say(&plain(&fault.to_string())),
            }
        } else if end == Some("json") {
            session.write_json(&mut bytes, Texts(&read));
        } else {
            let text = markdown(&views.flow.title, session, Texts(&read));
            bytes = text.into_bytes();
        }
        let shown = path.display().to_string();
        match written(&path, &bytes) {
            Ok(()) => self.say(&plain(&format!("written to {shown}"))),
            Err(Stop::Error(error)) => {
                let why = format!("{shown} was not written: {}; {}", error.what, error.why);
                self.say(&plain(&why))
            }
            Err(stop) => Err(stop),
        }
    }
}

fn written(path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    let mut file = OutputFile::create(path, false)?;
    let shown = path.display().to_string();
    let written = file.write_all(bytes);
    written.map_err(|error| from_io("write", &shown, &error))?;
    file.finish()
}

fn listed(list: Value) -> Vec<Value> {
    if let Value::Array(tools) = list {
        return tools;
    }
    vec![list]
}

/// A tool: its name, and the first sentence about it.
fn line(tool: &Value) -> Option<String> {
    let name = tool["name"].as_str()?;
    let about = tool["description"].as_str().unwrap_or_default();
    let first = about.split_inclusive(". ").next().unwrap_or_default();
    Some(plain(&format!("  {name:<22}{}", first.trim())).into_owned())
}
