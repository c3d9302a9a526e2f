//! The retrospective, in which roles look back on their work, and the feedback pass after it.

use super::words;
use crate::fact::improvement::ImprovementMode;

words! {
    texts {
        /// The phase after the forward pass.
        RETROSPECTIVE = "retrospective";
        /// A role's part of it.
        LOOKS_BACK = "looks back on its work";
        /// What it leads to.
        WROTE_ITS_FINDINGS = "wrote its findings";
        /// What all findings lead to.
        FEEDBACK_REPORT = "feedback report";
        /// A role is at work on it.
        WRITES_THE_REPORT = "writes the feedback report";
        /// It is there.
        WROTE_THE_REPORT = "wrote the feedback report";
    }
    tables {
        /// How the retrospective runs.
        order: ImprovementMode => "ORDER" {
            GraphBased = "in graph order",
            Parallel = "all at once",
            None = "no retrospective",
        }
    }
}
