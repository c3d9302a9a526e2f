//! The arguments of calls: the forms of all tools, and what is read by them.

mod commands;
mod files;
mod search;
mod web;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;

pub(super) use self::commands::{CommandOutput, RunCommandArguments, Todo};
pub use self::commands::{Status, TaskArgument};
pub(super) use self::files::OneEdit;
pub(super) use self::files::{ApplyPatch, EditFile, ReadFile, WriteFile};
pub(super) use self::search::{GlobFiles, GrepFiles, ListDirectory};
pub(super) use self::web::{FetchUrl, WebSearch};
use super::edit::Section;
use super::form::{self, ToolForm, clipped};
use super::limits;
use super::plan::{CallRefusal, RefusalKind};
use super::setting::{EditTool, ToolSetting};
use a_society_providers::ToolDefinition;

/// The arguments of a call, by its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolArguments {
    ReadFile(ReadFile),
    ListDirectory(ListDirectory),
    Grep(GrepFiles),
    Glob(GlobFiles),
    EditFile(EditFile),
    WriteFile(WriteFile),
    ApplyPatch(ApplyPatch),
    RunCommand(RunCommandArguments),
    CommandOutput(CommandOutput),
    Todo(Todo),
    FetchUrl(FetchUrl),
    WebSearch(WebSearch),
}

/// Every tool, in the order in which models see them.
const FORMS: [&ToolForm; 12] = [
    &files::READ_FILE,
    &files::EDIT_FILE,
    &files::APPLY_PATCH,
    &files::WRITE_FILE,
    &search::GREP,
    &search::GLOB,
    &search::LIST_DIRECTORY,
    &commands::RUN_COMMAND,
    &commands::COMMAND_OUTPUT,
    &commands::TODO,
    &web::FETCH_URL,
    &web::WEB_SEARCH,
];

/// What decides which tools are offered, and how.
#[derive(Debug, PartialEq)]
struct ToolSet {
    is_small: bool,
    edit_tool: EditTool,
    runs: bool,
    fetches: bool,
    searches: bool,
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
        _ => true,
    }
}

/// The tool that is meant by a name, by its own name; nothing if there is none.
#[must_use]
pub fn canonical(name: &str) -> Option<&'static str> {
    named(name).map(|form| form.name)
}

/// The other tool that changes parts of files, for one of the two: a role that may call one may call both.
#[must_use]
pub fn twin(name: &str) -> Option<&'static str> {
    match name {
        "edit_file" => Some("apply_patch"),
        "apply_patch" => Some("edit_file"),
        _ => None,
    }
}

/// The arguments of a call, by the tool's own names: as JSON, for readers. Arguments that do not fit
/// stay as they are.
pub(super) fn understood(tool: &str, text: &str) -> String {
    let read = named(tool).and_then(|form| form::read(form, tool, text).ok());
    read.and_then(|given| serde_json::to_string(&given).ok())
        .unwrap_or_else(|| text.to_owned())
}

/// What a call says of one file that it changes, for readers: nothing is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidChange {
    /// The file, as it was written.
    pub path: String,
    /// The texts that go, and those that come in their places.
    pub edits: Vec<(String, String)>,
    /// The text that is written; nothing for edits.
    pub content: Option<String>,
    /// Whether it comes behind what is there.
    pub append: bool,
}

/// What a call changes, as far as its own arguments say it: the files, in the order in which it
/// changes them. A file without edits and without content is removed.
#[must_use]
pub fn said_changes(tool: &str, text: &str) -> Vec<SaidChange> {
    let Ok(arguments) = parse(tool, text) else {
        return Vec::new();
    };
    match arguments {
        ToolArguments::EditFile(given) => {
            let path = given.path.clone();
            // A call without a readable edit removes nothing.
            let Ok(edits) = given.edits() else {
                return Vec::new();
            };
            vec![SaidChange {
                path,
                edits: (edits.into_iter())
                    .map(|edit| (edit.old_string, edit.new_string))
                    .collect(),
                content: None,
                append: false,
            }]
        }
        ToolArguments::WriteFile(given) => vec![SaidChange {
            path: given.path,
            edits: Vec::new(),
            content: Some(given.content),
            append: given.append,
        }],
        ToolArguments::ApplyPatch(given) => {
            let sections = given.sections().into_iter().flatten();
            sections.map(Section::said).collect()
        }
        ToolArguments::ReadFile(_)
        | ToolArguments::ListDirectory(_)
        | ToolArguments::Grep(_)
        | ToolArguments::Glob(_)
        | ToolArguments::RunCommand(_)
        | ToolArguments::CommandOutput(_)
        | ToolArguments::Todo(_)
        | ToolArguments::FetchUrl(_)
        | ToolArguments::WebSearch(_) => Vec::new(),
    }
}

/// The task list that a call writes, as far as its own arguments say it; nothing if it writes none.
#[must_use]
pub fn said_tasks(tool: &str, text: &str) -> Option<Vec<TaskArgument>> {
    if canonical(tool) != Some(commands::TODO.name) {
        return None;
    }
    match parse(tool, text) {
        Ok(ToolArguments::Todo(given)) => Some(given.items),
        Ok(_) | Err(_) => None,
    }
}

fn named(name: &str) -> Option<&'static ToolForm> {
    FORMS.iter().copied().find(|form| form.is_called(name))
}

/// Reads the arguments of a tool, under whichever name it was called.
pub(super) fn parse(tool: &str, text: &str) -> Result<ToolArguments, CallRefusal> {
    let Some(form) = named(tool) else {
        let text = format!("There is no tool {}.", clipped(tool));
        return Err(CallRefusal::new(RefusalKind::UnknownTool, text));
    };
    Ok(match form.name {
        "read_file" => ToolArguments::ReadFile(typed(form, tool, text)?),
        "list_directory" => ToolArguments::ListDirectory(typed(form, tool, text)?),
        "grep" => ToolArguments::Grep(typed(form, tool, text)?),
        "glob" => ToolArguments::Glob(typed(form, tool, text)?),
        "edit_file" => ToolArguments::EditFile(typed(form, tool, text)?),
        "write_file" => ToolArguments::WriteFile(typed(form, tool, text)?),
        "apply_patch" => ToolArguments::ApplyPatch(typed(form, tool, text)?),
        "run_command" => ToolArguments::RunCommand(typed(form, tool, text)?),
        "command_output" => ToolArguments::CommandOutput(typed(form, tool, text)?),
        "todo" => ToolArguments::Todo(typed(form, tool, text)?),
        "fetch_url" => ToolArguments::FetchUrl(typed(form, tool, text)?),
        "web_search" => ToolArguments::WebSearch(typed(form, tool, text)?),
        other => {
            let text = format!("{other} cannot be called.");
            return Err(CallRefusal::new(RefusalKind::UnknownTool, text));
        }
    })
}

fn typed<T: DeserializeOwned>(form: &ToolForm, tool: &str, text: &str) -> Result<T, CallRefusal> {
    form::typed(form, tool, text)
}
