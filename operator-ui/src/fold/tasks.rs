//! The task list of a role, as its last call wrote it.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, CallIntended};
use a_society_facts::id::{CallId, RoleInstance};
use a_society_orchestrator::{Status, WITHHELD, canonical, requested_tasks};

use super::limits::{ARGUMENTS_BYTES_MAX, TASK_BYTES_MAX, TASKS_MAX};
use super::words;
use crate::protocol::feed::{Task, TaskState};

/// The tool that writes it.
const TODO: &str = "todo";

/// Whether the calls of a tool write a task list.
pub(super) fn is_list(tool: &str) -> bool {
    canonical(tool) == Some(TODO)
}

/// The list that a call writes, if these are its very arguments, or what was recorded of them where a
/// secret was withheld.
pub(super) fn written(call: &CallIntended, input: &str) -> Option<Vec<Task>> {
    if Hash::of(input.as_bytes()) != call.arguments && !input.contains(WITHHELD) {
        return None;
    }
    let tasks = requested_tasks(&call.tool, input)?
        .into_iter()
        .take(TASKS_MAX);
    let tasks = tasks.map(|task| Task {
        text: words::beginning(&task.text, TASK_BYTES_MAX).to_owned(),
        state: match task.status {
            Status::Pending => TaskState::Open,
            Status::InProgress => TaskState::InProgress,
            Status::Completed => TaskState::Done,
        },
    });
    Some(tasks.collect())
}

/// The lists of all roles.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// The arguments of the lists that the last answer of each role wants.
    asked: BTreeMap<RoleInstance, BTreeMap<String, Box<str>>>,
    /// What calls without an end would write, and whose they are.
    begun: BTreeMap<CallId, (RoleInstance, Vec<Task>)>,
    /// What was written last.
    now: BTreeMap<RoleInstance, Vec<Task>>,
}

impl Lists {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other facts are not about a task list"
    )]
    pub(super) fn hear(&mut self, fact: &Fact) {
        match fact {
            Fact::ModelAnswered(f) => {
                let lists = f.calls.iter().filter(|call| {
                    is_list(&call.name) && call.input.get().len() <= ARGUMENTS_BYTES_MAX
                });
                let lists = lists.map(|call| (call.id.clone(), call.input.get().into()));
                self.asked.insert(f.role.clone(), lists.collect());
                // A model answers again only when its calls are over.
                self.begun.retain(|_, (role, _)| *role != f.role);
            }
            Fact::CallIntended(f) if is_list(&f.tool) => {
                let asked = self.asked.get_mut(&f.role);
                let input = asked.and_then(|asked| asked.remove(&f.tool_call));
                if let Some(tasks) = input.and_then(|input| written(f, &input)) {
                    self.begun.insert(f.call.clone(), (f.role.clone(), tasks));
                }
            }
            Fact::CallFinished(f) => {
                let tasks = self.begun.remove(&f.call);
                if let (CallEnd::Done | CallEnd::Recovered, Some((role, tasks))) = (f.end, tasks) {
                    self.now.insert(role, tasks);
                }
            }
            _ => {}
        }
    }

    /// The list of a role; empty if it has none.
    pub(super) fn of(&self, role: &RoleInstance) -> Vec<Task> {
        self.now.get(role).cloned().unwrap_or_default()
    }
}
