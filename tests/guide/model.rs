//! The model that answers in the place of the providers that a page configures.

use serde_json::json;

use crate::walk::models::{Model, call};

/// A model that writes a note, counts its lines with a command, and closes.
pub(super) fn start() -> Model {
    Model::start_with(|results| match results {
        0 => {
            let note =
                json!({ "path": "notes.md", "content": "The first line.\nThe second line.\n" });
            vec![call(0, "write_file", note)]
        }
        1 => vec![call(
            1,
            "run_command",
            json!({ "command": "wc -l notes.md" }),
        )],
        _ => Vec::new(),
    })
}

/// A configuration in which every provider is this model.
pub(super) fn in_place_of_providers(model: &Model, config: &str) -> String {
    let address = model.address();
    let mut lines = Vec::new();
    for line in config.lines() {
        let (indent, said) = line.split_at(line.len() - line.trim_start().len());
        if !said.starts_with("base-url:") {
            lines.push(line.to_owned());
        }
        if said.starts_with("wire:") {
            lines.push(format!("{indent}base-url: {address}"));
        }
    }
    lines.join("\n") + "\n"
}
