//! The tools that a model is offered, as it sees them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use a_society_providers::ToolDefinition;

use super::super::form::ToolForm;
use super::super::limits;
use super::super::setting::{EditTool, ToolSetting};
use super::forms::FORMS;
use super::{commands, files};

/// What decides which tools are offered, and how.
#[derive(Debug, PartialEq)]
struct ToolSet {
    is_small: bool,
    edit_tool: EditTool,
    runs: bool,
    fetches: bool,
    searches: bool,
    reads_sessions: bool,
    words: BTreeMap<String, Vec<String>>,
    bound: String,
}

impl ToolSet {
    fn of(setting: &ToolSetting) -> Self {
        Self {
            is_small: setting.is_small(),
            edit_tool: setting.told_edit_tool(),
            runs: setting.guard.is_some(),
            fetches: setting.fetch,
            searches: setting.search.is_some(),
            reads_sessions: setting.sessions.is_some(),
            words: setting.words.clone(),
            bound: setting.limits.output_bound(),
        }
    }
}

/// The last sets of tools. Nearly all turns of a process have one of a few, and writing a set takes longer than
/// most steps of a turn.
static WRITTEN: Mutex<VecDeque<(ToolSet, Arc<[ToolDefinition]>)>> = Mutex::new(VecDeque::new());

/// The tools that a setting offers, always in the same order.
#[must_use]
pub fn definitions(setting: &ToolSetting) -> Arc<[ToolDefinition]> {
    let kind = ToolSet::of(setting);
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, tools)) = written.iter().find(|(known, _)| *known == kind) {
        return Arc::clone(tools);
    }
    let tools = write(&kind);
    if written.len() >= limits::TOOL_SETS {
        written.pop_front();
    }
    written.push_back((kind, Arc::clone(&tools)));
    tools
}

fn write(kind: &ToolSet) -> Arc<[ToolDefinition]> {
    let offered = FORMS.iter().filter(|form| is_offered(form, kind));
    let told = offered.map(|form| match form.name {
        "edit_file" if kind.is_small => &files::EDIT_FILE_ONCE,
        "run_command" if kind.is_small => &commands::RUN_COMMAND_AWAITED,
        "write_file" if kind.edit_tool == EditTool::Patch => &files::WRITE_FILE_BESIDE_PATCHES,
        _ => form,
    });
    told.filter_map(|form| form.definition(&kind.words, &kind.bound))
        .collect()
}

/// What a model with a small window is not offered: its definitions cost more than they give.
const LARGE_ONLY: [&str; 3] = ["glob", "command_output", "todo"];

fn is_offered(form: &ToolForm, kind: &ToolSet) -> bool {
    match form.name {
        name if kind.is_small && LARGE_ONLY.contains(&name) => false,
        "edit_file" | "apply_patch" => kind.edit_tool.tool() == form.name,
        "run_command" | "command_output" => kind.runs,
        "fetch_url" => kind.fetches,
        "web_search" => kind.searches,
        "sessions_list" | "sessions_history" | "sessions_send" => kind.reads_sessions,
        _ => true,
    }
}
