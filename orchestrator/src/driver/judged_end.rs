//! The end of a turn as it was judged, and what its role meant with it: that is needed when the end is sent back.

use a_society_flow::machine::TurnEnding;
use a_society_roles::handoff::RoleOutcome as Said;
use a_society_roles::turn::step::TakerEnd;

use crate::record::{FoundArtifact, RefusedPath};

/// What a turn is about to end with, and what its role meant.
#[derive(Debug)]
pub(super) struct JudgedEnd {
    pub(super) ending: TurnEnding,
    pub(super) meant: Meant,
}

/// What a role meant with the end of its turn.
#[derive(Debug, Default)]
pub(super) struct Meant {
    /// What is wrong with it, if its words alone show it.
    pub(super) problem: Option<String>,
    /// Whether the answer has no ending.
    pub(super) is_silent: bool,
    /// Its outcome, if it could be parsed.
    pub(super) outcome: Option<Said>,
}

/// What the end of a turn means, for a repair of it. The files of a handoff were found, or those that may be meant
/// instead.
pub(super) fn meant(end: &TakerEnd, products: &[Result<FoundArtifact, RefusedPath>]) -> Meant {
    match end {
        TakerEnd::Fault(fault) => Meant {
            problem: Some(match &fault.span {
                Some(span) => format!("{} (line {} of your message)", fault.message, span.line),
                None => fault.message.clone(),
            }),
            is_silent: fault.is_silent,
            outcome: None,
        },
        TakerEnd::Outcome { outcome, .. } => Meant {
            outcome: Some(with_paths_that_are_there(outcome, products)),
            ..Meant::default()
        },
        TakerEnd::Answered
        | TakerEnd::OutputLimit
        | TakerEnd::OwnTurn { .. }
        | TakerEnd::Aborted { .. }
        | TakerEnd::Provider { .. }
        | TakerEnd::Configuration { .. } => Meant::default(),
    }
}

/// An outcome, with the files that may be meant in the place of those that are not there.
fn with_paths_that_are_there(said: &Said, products: &[Result<FoundArtifact, RefusedPath>]) -> Said {
    let Said::Handoff(targets) = said else {
        return said.clone();
    };
    let mut targets = targets.clone();
    for (target, found) in targets.iter_mut().zip(products) {
        if let Err(RefusedPath {
            instead: Some(instead),
            ..
        }) = found
        {
            target.artifact_path.clone_from(instead);
        }
    }
    Said::Handoff(targets)
}
