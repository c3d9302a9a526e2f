//! What roles found in flows, and the changes that they propose: read over HTTP, decided over the
//! socket.

use super::ask::Diff;
use super::row::FlowRef;
use super::wire;

wire! {
    /// What roles found, newest flow first.
    pub(crate) struct Findings {
        /// The flows in which something was found or proposed.
        pub flows: Vec<FoundFlow>,
        /// The flow before which the list goes on, if there are older ones.
        pub before: Option<String>,
    }

    /// The findings of one flow.
    pub(crate) struct FoundFlow {
        /// The flow.
        pub flow: FlowRef,
        /// How people call it.
        pub title: String,
        /// What its roles found, in the order in which they looked back, and the report.
        pub findings: Vec<FindingView>,
        /// What was proposed because of it, oldest first.
        pub changes: Vec<ProposedChange>,
    }

    /// What one role found.
    pub(crate) struct FindingView {
        /// The role instance.
        pub role: String,
        /// The record that says so.
        pub seq: Option<u64>,
        /// Its path in the record folder.
        pub path: String,
        /// What it says; absent if it is no text or was lost.
        pub text: Option<String>,
        /// Whether it says more than this.
        pub truncated: bool,
        /// Whether it is the report that puts all findings together.
        pub is_report: bool,
    }

    /// A change of a file of the project that was proposed.
    pub(crate) struct ProposedChange {
        /// Its name.
        pub id: String,
        /// Whose finding led to it.
        pub role: String,
        /// The record of that finding.
        pub finding: Option<u64>,
        /// The file, from the project's folder.
        pub path: String,
        /// When it was proposed.
        pub at: String,
        /// How it compares with its file.
        pub stands: Stands,
    }

    /// How a proposed change compares with its file.
    #[derive(Copy)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum Stands {
        /// It waits, and the file is as it was found.
        Open,
        /// It waits, and the file says this already.
        SaidAlready,
        /// It waits, and the file was changed since; it is not applied to that.
        FileChanged,
        /// It was applied.
        Applied,
        /// It was declined.
        Declined,
    }

    /// What a proposed change would do to its file.
    pub(crate) struct ChangeDiff {
        /// The change.
        pub change: ProposedChange,
        /// What differs from what the file says now; absent once it is decided.
        pub diff: Option<Diff>,
    }

    /// The files of a project that a finding may change.
    pub(crate) struct Changeable {
        /// Their paths, from the project's folder.
        pub files: Vec<String>,
        /// Whether there are more.
        pub truncated: bool,
        /// What the file that was asked for says now; absent if it is not there, or no text.
        pub text: Option<String>,
    }

    /// What a fork would be, before it is made.
    pub(crate) struct ForkPlan {
        /// The last record it shares.
        pub at: u64,
        /// When that was recorded.
        pub recorded_at: String,
        /// How it would be called.
        pub name: String,
        /// What it carries, a sentence each.
        pub carried: Vec<String>,
        /// What it does not carry, a sentence each.
        pub not_carried: Vec<String>,
        /// The receiver of a first message; absent if there is none.
        pub hears: Option<Hearer>,
    }

    /// The receiver of the first message to a fork.
    pub(crate) struct Hearer {
        /// The role instance.
        pub role: String,
        /// Whether it waits for a message; else it gets it with its next request.
        pub waits: bool,
    }
}
