//! What a proposed change of a finding would do to its file.

use a_society_facts::Hash;
use a_society_orchestrator::findings::{Proposal, ProposalStanding};

use super::limits::DIFF_BOUNDS;
use super::lines::compare;
use super::words;
use crate::protocol::ask::Diff;
use crate::protocol::findings::{ChangeDiff, ProposedChange, Stands};

/// A proposal, with what its file says now.
pub(crate) fn change_of(proposal: &Proposal, now: Option<&str>) -> ProposedChange {
    ProposedChange {
        id: proposal.name.clone(),
        role: proposal.change.role.to_string(),
        finding: proposal.change.finding,
        path: proposal.change.path.clone(),
        at: words::at(proposal.change.at),
        stands: match proposal.stands(now) {
            ProposalStanding::Open => Stands::Open,
            ProposalStanding::SaidAlready => Stands::SaidAlready,
            ProposalStanding::FileChanged => Stands::FileChanged,
            ProposalStanding::Applied => Stands::Applied,
            ProposalStanding::Declined => Stands::Declined,
        },
    }
}

/// What a proposed change would do to its file, with what that says now.
pub(crate) fn would_change(proposal: &Proposal, now: Option<&str>) -> ChangeDiff {
    let hash = |text: &str| Hash::of(text.as_bytes()).to_string();
    let diff = proposal.after.as_deref().map(|after| {
        let compared = compare(now.unwrap_or_default(), after, &DIFF_BOUNDS);
        Diff {
            path: proposal.change.path.clone(),
            old: now.map(hash),
            new: hash(after),
            hunks: compared.hunks,
            truncated: compared.truncated,
            unkept_bytes: None,
        }
    });
    ChangeDiff {
        change: change_of(proposal, now),
        diff,
    }
}
