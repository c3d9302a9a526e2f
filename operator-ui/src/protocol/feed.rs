//! The feed of one role.

use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::CallEnd;

use super::wire;

wire! {
    /// The newest items of a feed.
    pub(crate) struct FeedState {
        /// The items, oldest first.
        pub items: Vec<Item>,
        /// How many the feed has.
        pub total: u64,
        /// Where the window begins, if there are older items.
        pub before: Option<u64>,
    }

    /// One item.
    pub(crate) struct Item {
        /// Its id, which never changes.
        pub id: String,
        /// The record that began it.
        pub first: u64,
        /// The record that changed it last.
        pub seq: u64,
        /// When it began.
        pub at: String,
        /// What kind of item it is.
        pub r#type: ItemType,
        /// The event it came from.
        pub event: Option<String>,
        /// A few words.
        pub label: String,
        /// The rest, or its beginning.
        pub text: String,
        /// How long the text is, if this is only its beginning.
        pub full_bytes: Option<u64>,
        /// The node it is about.
        pub node: Option<String>,
        /// The turn it is about.
        pub turn: Option<u64>,
        /// The call it is about.
        pub call_id: Option<String>,
        /// The tool of the call.
        pub tool: Option<String>,
        /// Whether it is not over.
        pub pending: bool,
        /// Whether it was cut off.
        pub interrupted: bool,
        /// Whether it does not count.
        pub discarded: bool,
        /// How long it took.
        pub took_ms: Option<u64>,
        /// Lines that an edit added.
        pub added: Option<u64>,
        /// Lines that an edit removed.
        pub removed: Option<u64>,
        /// With which code a command ended.
        pub exit: Option<i32>,
        /// Which signal ended a command; absent for any other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub signal: Option<i32>,
        /// Whether the model got less of the call's output than there was.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub cut: bool,
        /// How a call ended that did not do what it was asked; absent for any other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "CallEnd"))]
        pub end: Option<CallEnd>,
        /// What the tests that a command ran came to, if that is certain.
        pub outcome: Option<Outcome>,
        /// The files that an edit of several changes, in its order, or that one which was refused names; absent for
        /// any other call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub files: Option<Vec<EditedFile>>,
        /// The request for consent that it tells of; absent if it tells of none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub consent: Option<ConsentNote>,
        /// When what failed is tried again; absent if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub again_at: Option<String>,
        /// The task list that the call wrote; absent if it wrote none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tasks: Option<Vec<Task>>,
        /// What was asked of a tool, in the line with which the text begins; absent where the text is only why the
        /// call was refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub asked: Option<String>,
        /// The command that a call runs, in a line; absent for any other call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub command: Option<String>,
        /// The only file that an edit changes; absent for any other call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub path: Option<String>,
        /// The line at which it changes that, if that is one place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub line: Option<u64>,
        /// What is handed over; absent for any item but a handoff.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<HandedFile>>"))]
        pub deliveries: Vec<HandedFile>,
    }

    /// One file that is handed over.
    pub(crate) struct HandedFile {
        /// Its path.
        pub path: String,
        /// The node that gets it.
        pub to: String,
        /// Whether the work is sent back with it.
        pub back: bool,
    }

    /// One of several files that an edit changes.
    pub(crate) struct EditedFile {
        /// Its path.
        pub path: String,
        /// Lines that come.
        pub added: Option<u64>,
        /// Lines that go.
        pub removed: Option<u64>,
        /// Whether it is removed.
        pub gone: bool,
    }

    /// A request for consent and its answer.
    pub(crate) struct ConsentNote {
        /// The tool.
        pub tool: String,
        /// What it is about, in a line.
        pub about: String,
        /// The answer; absent while there is none.
        #[cfg_attr(test, ts(type = "ConsentAnswer | null"))]
        pub answer: Option<ConsentAnswer>,
        /// What gave it: the rule as the operator wrote it, or that the flow never asks. Absent if he was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub by: Option<String>,
    }

    /// A task of a role's list.
    pub(crate) struct Task {
        /// What is to be done.
        pub text: String,
        /// How far it is.
        pub state: TaskState,
    }

    /// How far a task is.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum TaskState {
        /// It is not begun.
        Open,
        /// It is being done.
        InProgress,
        /// It is done.
        Done,
    }

    /// What tests came to.
    pub(crate) struct Outcome {
        /// In a few words: "44 passed", "1 failed, 43 passed".
        pub words: String,
        /// Whether one of them failed.
        pub failed: bool,
    }

    /// The kinds of item.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum ItemType {
        /// The role says something.
        Assistant,
        /// The operator says something.
        User,
        /// Something happened.
        Event,
        /// Something went wrong.
        Error,
        /// Work went from one node to another.
        Handoff,
        /// Something goes on.
        Resume,
        /// A role has to correct its outcome.
        Repair,
        /// The model thinks.
        Reasoning,
        /// A tool is at work.
        Tool,
        /// A tool did what it was asked.
        ToolSuccess,
        /// A tool did not.
        ToolError,
        /// A node begins.
        Activation,
    }
}
