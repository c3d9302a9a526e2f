//! What waits for the operator, with everything that is needed to decide it.

use std::collections::BTreeMap;

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::WaitReason;

use super::row::{Decided, FlowRef};
use super::wire;

wire! {
    /// One thing that waits for the operator.
    pub(crate) struct Ask {
        /// Its id, which stays while it is open.
        pub id: String,
        /// The flow.
        pub flow: FlowRef,
        /// How people call the flow.
        pub title: String,
        /// Who asks.
        pub role: Option<String>,
        /// At which node.
        pub node: Option<String>,
        /// Since when.
        pub since: String,
        /// The record at which this was computed last.
        pub seq: u64,
        /// Whether something cannot continue until it is answered.
        pub blocking: bool,
        /// One sentence: who wants what.
        pub headline: String,
        /// A few words.
        pub short: String,
        /// What it is.
        pub kind: AskKind,
        /// The nodes that cannot begin before.
        pub waiting_behind: Vec<String>,
        /// The last text of the role.
        pub said_before: Option<String>,
        /// Whether that text was cut off.
        pub said_cut: bool,
        /// Earlier decisions for the same role, newest first.
        pub earlier: Vec<Decided>,
    }

    /// The kinds of question.
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub(crate) enum AskKind {
        /// A role wants words.
        Text {
            /// Why it waits.
            #[cfg_attr(test, ts(type = "WaitReason"))]
            reason: WaitReason,
            /// What it asks. It ends with its choices, each on a numbered line.
            question: String,
            /// What matters for the decision, in a fixed order, if it is about more than the question.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            #[cfg_attr(test, ts(optional, as = "Option<Vec<Fact>>"))]
            facts: Vec<Fact>,
            /// What may be chosen as the answer, which is sent in these words; a free text answers as well.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
            choices: Vec<String>,
            /// Whether its turn may simply be taken again.
            may_retry: bool,
            /// The budget that has to be raised first; absent if it waits for something else.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            budget: Option<ShortBudget>,
            /// How the turn may end, if it is the operator's own.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            turn: Option<OwnTurn>,
            /// What went wrong, in plain words, if its turn failed; the whole reason is `question`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            failed: Option<String>,
            /// The call that the operator denied, if the role waits for what it should do instead.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            denied: Option<String>,
        },
        /// A tool wants to run.
        Consent {
            /// The request.
            consent: String,
            /// The hash of what is shown; it is sent back with the answer.
            action: String,
            /// The tool.
            tool: String,
            /// What it would do, in full.
            shown: String,
            /// What matters for the decision, in a fixed order.
            facts: Vec<Fact>,
            /// What else is allowed with it for the rest of the flow; absent if that cannot be.
            for_the_flow: Option<String>,
            /// What it would change.
            diff: Option<Diff>,
        },
        /// A handoff waits for a word.
        Approval {
            /// The approval.
            approval: String,
            /// What would go where.
            targets: Vec<Target>,
        },
        /// A role needs to be configured.
        Configuration {
            /// What is missing.
            question: String,
            /// The models there are.
            models: Vec<ModelChoice>,
            /// The efforts there are.
            efforts: Vec<String>,
            /// How far its tools may reach, the narrowest first: none is wider than what it has.
            scopes: Vec<String>,
            /// What is set.
            current: BTreeMap<String, String>,
        },
        /// How roles reflect is open.
        Improvement {
            /// What can be chosen.
            #[cfg_attr(test, ts(type = "Array<ImprovementMode>"))]
            modes: Vec<ImprovementMode>,
            /// How many roles there are.
            roles: u64,
            /// What each mode would take, as far as the flow's own turns tell it.
            estimates: Vec<Estimate>,
        },
        /// Whether a report is written is open.
        Feedback {
            /// Where it would be.
            path: String,
        },
        /// The flow is paused.
        Unpause {
            /// Why.
            reason: String,
            /// More about it.
            detail: Option<String>,
        },
        /// Nothing can run and nothing is asked.
        Stalled {},
        /// The flow is unfinished and has no driver.
        Stopped {},
    }

    /// A turn that the operator takes, and how it may end.
    pub struct OwnTurn {
        /// The nodes that it may hand over to.
        pub forward: Vec<String>,
        /// The nodes whose work it may send back.
        pub backward: Vec<String>,
        /// Whether it may wait for more to come in.
        pub waits: bool,
        /// Whether it may close the forward work.
        pub closes: bool,
        /// Why the operator is asked again, where an answer did not end it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub again: Option<String>,
        /// The file whose writing ends it, where it looks back or reports.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub writes: Option<OwnFile>,
    }

    /// A file that ends a turn of the operator.
    pub struct OwnFile {
        /// The word that says so: `findings` or `report`.
        pub word: String,
        /// Its path.
        pub path: String,
    }

    /// A budget that lacks what comes next.
    pub struct ShortBudget {
        /// Whose; the whole flow's if absent.
        pub role: Option<String>,
        /// Of what.
        #[cfg_attr(test, ts(type = "Measure"))]
        pub measure: Measure,
        /// What may be spent.
        pub limit: u64,
        /// What was.
        pub spent: u64,
        /// The least limit with which it may go on.
        pub least: u64,
        /// A limit that gives it room.
        pub raise_to: u64,
    }

    /// Roughly what it would take to let roles reflect.
    pub(crate) struct Estimate {
        /// In which way.
        #[cfg_attr(test, ts(type = "ImprovementMode"))]
        pub mode: ImprovementMode,
        /// How many roles would.
        pub roles: u64,
        /// How long, if each takes as long as one of its turns so far.
        pub ms: u64,
        /// What it would cost in millionths; absent if turns cost nothing that is known.
        pub cost_micros: Option<u64>,
    }

    /// Something that matters for a decision.
    pub struct Fact {
        /// What.
        pub label: String,
        /// How it is.
        pub value: String,
        /// Whether it deserves a second look.
        pub warn: bool,
    }

    /// One target of a staged handoff.
    pub(crate) struct Target {
        /// The node.
        pub to: String,
        /// What it would get.
        pub artifact: ArtifactRef,
    }

    /// A version of a file that was handed over.
    pub(crate) struct ArtifactRef {
        /// Its path.
        pub path: String,
        /// The hash of its bytes.
        pub hash: String,
        /// How many.
        pub bytes: u64,
    }

    /// A model that a role may have.
    pub(crate) struct ModelChoice {
        /// Its name.
        pub name: String,
        /// What is known of it, in words.
        pub words: String,
        /// How many tokens it can have before it.
        pub window_tokens: u64,
    }

    /// What differs between two texts.
    pub struct Diff {
        /// The file.
        pub path: String,
        /// The hash of what was there; absent if nothing was, or what was is not known.
        pub old: Option<String>,
        /// The hash of what is there; empty if neither text was kept, so that nothing can be compared.
        pub new: String,
        /// Where they differ.
        pub hunks: Vec<Hunk>,
        /// Whether there is more than is shown.
        pub truncated: bool,
        /// How many bytes the earlier text has, if it was too long to be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub unkept_bytes: Option<u64>,
    }

    /// One place where two texts differ.
    pub struct Hunk {
        /// The first line in the old text, counted from 1.
        pub old_start: u64,
        /// The first line in the new text, counted from 1.
        pub new_start: u64,
        /// The lines.
        pub lines: Vec<DiffLine>,
    }

    /// A line of a difference.
    pub struct DiffLine {
        /// Whether it stays, comes or goes.
        pub op: Op,
        /// The line, without its end.
        pub text: String,
    }

    /// What happens to a line.
    #[derive(Copy)]
    pub enum Op {
        /// It stays.
        #[serde(rename = " ")]
        Keep,
        /// It comes.
        #[serde(rename = "+")]
        Add,
        /// It goes.
        #[serde(rename = "-")]
        Remove,
    }
}
