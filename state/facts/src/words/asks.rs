//! What waits for the operator, and for what.

use super::words;
use crate::fact::flow::PauseReason;
use crate::fact::node::{Trouble, WaitReason};

words! {
    texts {
        /// The operator chooses whether roles look back.
        RUN_A_RETROSPECTIVE = "run a retrospective?";
        /// The operator chooses whether there is a report of what they found.
        WRITE_A_REPORT = "write a feedback report?";
        /// What ended before the first of these choices.
        FORWARD_WORK_IS_DONE = "the forward work is done";
        /// What ended before the second.
        FINDINGS_ARE_WRITTEN = "the findings are written";
        /// The flow waits to be continued.
        FLOW_IS_PAUSED = "the flow is paused";
        /// It is not paused, and there is no work.
        NOTHING_CAN_RUN = "nothing can run, and the work is not done";
        /// What helps then.
        REOPEN_OR_REVISE = "reopen a node or revise the graph";
        /// No process runs the flow.
        NOBODY_DRIVES_THIS = "nobody drives this flow";
        /// A role asked a question.
        YOUR_ANSWER = "your answer";
        /// The operator plays the role that wants an outcome.
        END_YOUR_TURN = "hand over, send back or wait";
        /// A role has no model.
        CHOOSE_A_MODEL = "choose a model";
        /// A role's budget is used up.
        RAISE_ITS_BUDGET = "raise its budget";
        /// A budget is used up.
        LARGER_BUDGET = "a larger budget";
        /// A role's handoff has to be approved.
        WANTS_TO_HAND_OVER = "wants to hand over";
        /// There is no room in a budget.
        BUDGET_USED_UP = "a budget is used up";
        /// A role wants to call a tool of which nothing more is known.
        WANTS_TO_CALL = "wants to call a tool";
    }
    templates {
        /// The operator plays this role.
        your_turn_as(role) = "your turn as {role}";
        /// A role's turn failed.
        turn_failed(role) = "{role}'s turn failed";
        /// The process that drove a role's turn ended within it.
        was_cut_off(role) = "{role} was cut off in its turn";
        /// A role cannot go on without this.
        needs(role, what) = "{role} needs {what}";
        /// A role ended its turn in no way that counts.
        no_valid_outcome(why) = "no valid outcome: {why}";
        /// A choice of the operator's, after "waits for".
        your_choice(question) = "your choice: {question}";
    }
    tables {
        /// What a role waits for, after "needs" or "waits for".
        wait: WaitReason => "WAIT" {
            PromptHuman = YOUR_ANSWER,
            AutonomousAbort = "you to retry its turn, or to say what to do",
            Consent = "your consent to a call",
            ConsentDenied = "your guidance after a denial",
            RoleConfiguration = "a model",
            HandoffApproval = "your approval of a handoff",
            RepairLimit = "your guidance: it gave no valid outcome",
            Budget = LARGER_BUDGET,
            Provider = "help with its provider",
            Message = "your next message",
        }
        /// What keeps a role from its model, after the same words.
        trouble: Trouble => "TROUBLE" {
            Key = "a key that its provider accepts",
            Credit = "credit at its provider",
            Model = "a model that its provider has",
            Limit = "its provider's limit to reset",
            Window = "a model with a larger window",
            Unreachable = "its provider to answer",
            Refused = "help: its provider refuses the request",
            ToolServer = "an MCP server that works",
            Configuration = "its configuration to be corrected",
        }
        /// What a paused flow waits for, after "waits for".
        pause: PauseReason => "PAUSE" {
            Operator = "you to continue it",
            DiskFull = "room on the disk",
            Budget = LARGER_BUDGET,
            Irreversible = "you to check a call whose outcome is unknown",
        }
    }
}
