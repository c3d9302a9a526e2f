//! The task list of a role: its last version counts.

use std::fmt::Write as _;

use a_society_facts::fact::turn::{CallEnd, Effect};

use super::arguments::{Status, Todo};
use super::deed::Deed;
use super::limits::{TODO_CHARS, TODO_ITEMS};
use super::output::ToolOutput;
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::toolbox::{ConsentNeeds, Toolbox};

impl Toolbox {
    pub(super) fn plan_todo(&self, given: &Todo, raw: &str) -> Result<CallPlan, CallRefusal> {
        let refused = |text: String| CallRefusal::new(RefusalKind::Arguments, text);
        if given.items.len() > TODO_ITEMS {
            let text = format!("A list has at most {TODO_ITEMS} items. Put small ones together.");
            return Err(refused(text));
        }
        let is_long = |text: &str| text.chars().count() > TODO_CHARS;
        if let Some(at) = given.items.iter().position(|item| is_long(&item.text)) {
            let text = format!("Item {} has over {TODO_CHARS} characters.", at + 1);
            return Err(refused(text));
        }
        let done = given
            .items
            .iter()
            .filter(|item| item.status == Status::Completed);
        let told = format!("{} of {} done", done.count(), given.items.len());
        let mut summary = format!("tasks: {told}");
        let now = given
            .items
            .iter()
            .find(|item| item.status == Status::InProgress);
        if let Some(item) = now {
            // Writing to a string cannot fail.
            let _ = write!(summary, "; now: {}", item.text);
        }
        let ask = self.ask("todo", raw, ConsentNeeds::default());
        let deed = Deed::Todo(format!("[{told}]\n"));
        Ok(self.planned("todo", Effect::Idempotent, summary, ask, deed))
    }

    pub(super) fn todo(told: String) -> (CallEnd, ToolOutput) {
        (CallEnd::Done, ToolOutput::of(told))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tool::tests::stage::{Stage, output, plan};

    #[test]
    fn a_task_list_says_how_far_it_is_and_is_bounded() {
        let tools = Stage::new().toolbox();
        let list = |count: usize, text: &str| -> serde_json::Value {
            let items = (0..count).map(|n| {
                let status = ["completed", "in_progress", "pending"][n % 3];
                json!({ "content": text, "status": status, "activeForm": "Doing" })
            });
            json!({ "todos": items.collect::<Vec<_>>() })
        };
        assert_eq!(
            output(&tools, "TodoWrite", list(7, "Write it")),
            "[3 of 7 done]\n"
        );
        let planned = plan(&tools, "todo", list(7, "Write it")).unwrap();
        assert_eq!(planned.summary, "tasks: 3 of 7 done; now: Write it");
        assert!(plan(&tools, "todo", list(50, &"ä".repeat(200))).is_ok());
        assert!(plan(&tools, "todo", list(51, "x")).is_err());
        assert!(plan(&tools, "todo", list(1, &"ä".repeat(201))).is_err());
    }
}
