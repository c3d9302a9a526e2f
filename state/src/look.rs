//! Looking at a flow without a lock and without changing anything.
//!
//! A look begins at the checkpoint, if one can be believed, and folds only what came after it. It
//! shows what is good even of a damaged journal, together with what is wrong.

use a_society_facts::At;
use a_society_facts::id::FlowId;
use a_society_facts::legal::legal;
use a_society_facts::line::Body;
use a_society_facts::view::FactView;
use a_society_facts::view::FlowScreen;
use a_society_facts::view::standing::FlowStanding;

use crate::checkpoint;
use crate::disk::Disk;
use crate::evidence::evidence;
use crate::journal::scan::{JournalTail, Known, Outcome, Position, scan};
use crate::journal::verdict::Damage;
use crate::layout::FlowFolder;
use crate::lock;

/// What a look shows.
#[derive(Debug)]
pub struct Look {
    /// The fold of everything good.
    pub screen: FlowScreen,
    /// The end of the last good record; absent if there is none.
    pub end: Option<Position>,
    /// How many records were folded after the checkpoint.
    pub folded: u64,
    /// Whether a checkpoint was used.
    pub from_checkpoint: bool,
    /// A tail that the next open will cut. Beside a live writer this is a write in progress.
    pub torn: Option<JournalTail>,
    /// What is wrong, if something is.
    pub damage: Option<Damage>,
    /// Who writes the flow, if a process does.
    pub held_by: Option<String>,
}

impl Look {
    /// What the flow is doing now; nothing if it never began.
    #[must_use]
    pub fn standing(&self) -> Option<FlowStanding> {
        if self.damage.is_some() {
            return Some(FlowStanding::Damaged);
        }
        let began = self.screen.flow.is_created();
        began.then(|| FlowStanding::of(&self.screen.summary, self.held_by.is_some()))
    }

    /// The same in words, at this moment.
    #[must_use]
    pub fn standing_words(&self, now: At) -> Option<String> {
        let standing = self.standing()?;
        Some(self.screen.summary.full_words(standing, now))
    }
}

/// Looks at a flow whose folder exists.
#[must_use]
pub fn look(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> Look {
    let seen = look_once(disk, folder, flow);
    if seen.damage.is_none() {
        return seen;
    }
    // While another process opens the flow, cuts its torn end and writes on, one read can hold bytes of two
    // moments. What is damaged is so the second time, too.
    look_once(disk, folder, flow)
}

fn look_once(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> Look {
    let held_by = lock::is_held(disk, folder).unwrap_or(None);
    let checkpoint = checkpoint::read(disk, folder, flow);
    let from_checkpoint = checkpoint.is_some();
    let (mut screen, from) = match checkpoint {
        Some(kept) => (kept.screen, Some(kept.position)),
        None => (FlowScreen::default(), None),
    };
    // A live writer may have written views for records that this scan does not reach, so evidence
    // is gathered before the scan begins.
    let known = Known {
        flow,
        evidence: evidence(disk, folder, flow),
        from,
    };
    let found = scan(disk, folder, known, &mut |recorded, _, _| {
        if let Body::Known(fact) = &recorded.body {
            legal(&screen.flow, fact).map_err(|illegal| illegal.to_string())?;
        }
        screen.apply(recorded);
        Ok(())
    });
    let (torn, damage) = match found.outcome {
        Outcome::Clean | Outcome::Blank => (None, None),
        Outcome::Torn(tail) => (Some(tail), None),
        Outcome::Damaged(damage) => (None, Some(damage)),
    };
    Look {
        screen,
        end: found.end,
        folded: found.records,
        from_checkpoint,
        torn,
        damage,
        held_by,
    }
}
