//! The role's task list, as its last call wrote it.

use std::collections::BTreeSet;

use a_society_facts::message::Message;
use serde_json::Value;

use super::limits::{TASK_BYTES_MAX, TASKS_MAX};

/// The tool that keeps the list, by its name and by those that models were trained on.
const TOOLS: [&str; 4] = ["todo", "TodoWrite", "write_todos", "update_plan"];

struct TodoLine {
    mark: char,
    text: String,
}

/// The list that the last call of the tool wrote which did not fail, a line for each task, in at most
/// so many bytes. Messages come newest first.
#[must_use]
pub fn todo_list<'m>(newest_first: impl Iterator<Item = &'m Message>, most_bytes: usize) -> String {
    let mut failed: BTreeSet<&str> = BTreeSet::new();
    for message in newest_first {
        match message {
            Message::ToolResult {
                call_id, is_error, ..
            } if *is_error => {
                failed.insert(call_id);
            }
            Message::AssistantToolCalls { calls, .. } => {
                let wrote = |name: &str| TOOLS.contains(&name);
                let mut last = calls.iter().rev();
                let last = last.find(|call| wrote(&call.name) && !failed.contains(&*call.id));
                if let Some(tasks) = last.and_then(|call| tasks(call.input.get())) {
                    return shown(&tasks, most_bytes);
                }
            }
            Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => {}
        }
    }
    String::new()
}

fn tasks(input: &str) -> Option<Vec<TodoLine>> {
    let input: Value = serde_json::from_str(input).ok()?;
    let list = ["items", "todos", "plan"].into_iter();
    let list = list.filter_map(|name| input.get(name)).next()?;
    let list: Value = match list.as_str() {
        Some(text) => serde_json::from_str(text).ok()?,
        None => list.clone(),
    };
    let tasks = list.as_array()?.iter().filter_map(task);
    Some(tasks.take(TASKS_MAX).collect())
}

fn task(item: &Value) -> Option<TodoLine> {
    let texts = ["text", "content", "step"].into_iter();
    let text = texts.filter_map(|name| item.get(name)?.as_str()).next()?;
    let end = text.floor_char_boundary(TASK_BYTES_MAX);
    let text = text.get(..end)?.replace(['\n', '\r'], " ");
    let mark = match item.get("status").and_then(Value::as_str) {
        Some("completed") => 'x',
        Some("in_progress") => '>',
        Some(_) | None => ' ',
    };
    Some(TodoLine { mark, text })
}

/// The tasks as lines. Where they are too long, finished ones are only counted.
fn shown(tasks: &[TodoLine], most_bytes: usize) -> String {
    let line = |task: &TodoLine| format!("[{}] {}", task.mark, task.text);
    let all: Vec<String> = tasks.iter().map(line).collect();
    let whole = all.join("\n");
    if whole.len() <= most_bytes {
        return whole;
    }
    let open = tasks.iter().filter(|task| task.mark != 'x');
    let open: Vec<String> = open.map(line).collect();
    let done = tasks.len() - open.len();
    let mut lines = Vec::new();
    let mut bytes = 0;
    for line in &open {
        bytes += line.len() + 1;
        if bytes > most_bytes {
            break;
        }
        lines.push(line.clone());
    }
    let left_out = open.len() - lines.len();
    lines.push(format!("[{done} completed, {left_out} more open]"));
    lines.join("\n")
}
