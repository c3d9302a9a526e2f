//! What the page makes and removes in the workspace: projects, examples, and flows that are over.

use super::down::Fault;
use super::http::NewFrom;
use super::row::FlowRef;
use super::wire;

wire! {
    /// A project to be made in the workspace.
    pub struct NewProject {
        /// Its name, which is that of its folder; it may be there already and hold work.
        pub name: String,
        /// A flow file with a script that takes its turns, in the place of a project.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub example: bool,
    }

    /// What was made.
    pub struct MadeProject {
        /// The files that were written, by their paths in the workspace.
        pub files: Vec<String>,
        /// Whether its folder held work already.
        pub takeover: bool,
        /// The flow that runs at once, without a model.
        pub from: NewFrom,
        /// The flow file with which a model fills in what the project is; an example has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub fills: Option<String>,
    }

    /// What the removal of a flow would be.
    pub(crate) struct Removal {
        /// Its last record, which a removal names.
        pub seq: u64,
        /// Its title.
        pub title: String,
        /// When something last happened in it.
        pub updated_at: Option<String>,
        /// Its folder, by its path in the workspace.
        pub folder: String,
        /// How many files go.
        pub files: u64,
        /// How many bytes.
        pub bytes: u64,
        /// What its folder holds, the largest first.
        pub parts: Vec<RemovalPart>,
        /// Forks of it, which stay as they are.
        pub forks: Vec<RemovalFork>,
        /// Why it is not removed as it is now; absent if it would be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub refused: Option<Fault>,
    }

    /// A file of a flow's folder, or a folder in it with all that it holds.
    pub(crate) struct RemovalPart {
        /// Its name.
        pub name: String,
        /// How many files.
        pub files: u64,
        /// How many bytes.
        pub bytes: u64,
    }

    /// A flow that was forked from another.
    pub(crate) struct RemovalFork {
        /// Which.
        pub flow: FlowRef,
        /// Its title.
        pub title: String,
    }

    /// The removal of a flow, as its plan was read.
    pub(crate) struct Remove {
        /// The last record of the plan. A flow that went on since stays.
        pub seq: u64,
    }
}
