//! What may run without asking, and who decided it.

use super::choices::{ALLOWED_FOR_FLOW, ALLOWED_ONCE};
use super::words;
use crate::fact::operator::{ConsentAnswer, ConsentMode};
use crate::fact::terms::Scope;

words! {
    texts {
        /// Who decided, if the operator did.
        YOU = "you";
        /// What a rule denies.
        NEVER_RUNS = "never runs";
        /// What a rule allows.
        RUNS_WITHOUT_ASKING = "runs without asking";
        /// Beside what is asked about a second time.
        ASKED_AGAIN = "asked again";
        /// Why it is.
        OTHER_SURROUNDINGS = "you allowed this before, and its folder or its walls are not what they were";
        /// What an answer for the whole flow covers, after the key that gives it.
        F_COVERS = "f covers";
    }
    templates {
        /// Who allowed a call: the operator, or a rule.
        allowed_by(who) = "allowed by {who}";
        /// Who allowed a call and its like.
        allowed_for_flow_by(who) = "allowed by {who} for this flow";
        /// Who denied a call.
        denied_by(who) = "denied by {who}";
    }
    tables {
        /// What a mode of permissions is called.
        mode: ConsentMode => "MODE" {
            NoAccess = "asks every time",
            PartialAccess = "partial access",
            FullAccess = "full access",
        }
        /// What it means.
        mode_means: ConsentMode => "MODE_MEANS" {
            NoAccess = "always asks, even for what you allowed before",
            PartialAccess = "previously allowed actions no longer ask",
            FullAccess = "never asks",
        }
        /// How far tools reach.
        scope: Scope => "SCOPE" {
            Sandboxed = "project and record folder only",
            Project = "project and record folder, and the folders you named, to read",
            Full = "full: everything, with commands unsandboxed",
        }
        /// What was decided about a call.
        answer: ConsentAnswer => "DECIDED" {
            AllowOnce = ALLOWED_ONCE,
            AllowFlow = ALLOWED_FOR_FLOW,
            Deny = "denied",
            Withdrawn = "withdrawn",
        }
    }
    names {
        /// What a row of a consent card is called in the terminal, by its heading on the page.
        card_row => "CARD_ROW" {
            "Directory" = "folder",
            "File" = "file",
            "Files" = "files",
            "Sandbox" = "sandbox",
            "Network" = "network",
            "Writes" = "writes",
            "Time" = "time",
            "Server" = "server",
            "Environment" = "environment",
            "Headers" = "headers",
            "Tool" = "tool",
            "Rule" = "rule",
            "Existing permission" = "permission",
        }
    }
}
