//! Two runs, read from their journals by the same folds as the page's own answers and set beside each other.

use std::path::PathBuf;

use a_society_facts::At;
use a_society_facts::message::Text as Kept;
use a_society_orchestrator::project::place::folder_of;
use a_society_state::{FlowRef, Store};

use super::blocking::{missing, unread};
use super::feed_at::each_in;
use super::{costs, files};
use crate::fold::compare::{
    ComparedText, Comparison, FileLine, FileStands, FoldedRun, Side, beside,
};
use crate::fold::flow::assembled;
use crate::fold::limits::DIFF_BOUNDS;
use crate::fold::lines::compare;
use crate::fold::{FlowFold, Liveness};
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::ask::Diff;
use crate::protocol::flow::FlowState;
use crate::protocol::row::DrivenBy;

/// How many facts are folded before their feeds are dropped.
const FACTS_AT_ONCE: u64 = 1_000;

/// Where a run is.
struct RunPlace<'a> {
    flow: &'a FlowRef,
    /// The folder of its project.
    project: PathBuf,
}

impl<'a> RunPlace<'a> {
    fn of(store: &Store, flow: &'a FlowRef) -> Self {
        Self {
            flow,
            project: folder_of(store, &flow.project),
        }
    }
}

/// Reads two runs and sets them beside each other.
///
/// # Errors
/// When one of the journals cannot be read.
pub fn compared(store: &Store, a: &FlowRef, b: &FlowRef, now: At) -> Result<Comparison, Fault> {
    let (a, b) = (RunPlace::of(store, a), RunPlace::of(store, b));
    let mut found = beside(read(store, &a, now)?, read(store, &b, now)?);
    let text = |run: &RunPlace<'_>, text: &ComparedText| {
        let bytes = files::blob(store, run.flow, &text.hash, &run.project).ok()?;
        String::from_utf8(bytes).ok()
    };
    for line in &mut found.files {
        let FileLine {
            stands: FileStands::Differs,
            a: Some(old),
            b: Some(new),
            ..
        } = line
        else {
            continue;
        };
        let (Some(old_text), Some(new_text)) = (text(&a, old), text(&b, new)) else {
            continue;
        };
        let compared = compare(&old_text, &new_text, &DIFF_BOUNDS);
        line.diff = Some(Diff {
            path: line.path.clone(),
            old: Some(old.hash.clone()),
            new: new.hash.clone(),
            hunks: compared.hunks,
            truncated: compared.truncated,
            unkept_bytes: None,
        });
    }
    Ok(found)
}

/// Reads one run.
fn read(store: &Store, run: &RunPlace<'_>, now: At) -> Result<FoldedRun, Fault> {
    let RunPlace { flow, project } = run;
    let seen = store.look(flow).map_err(|error| unread(&error))?;
    let summary = &seen.screen.summary;
    let is_driven = seen.held_by.is_some();
    let until = match summary.updated_at {
        Some(updated) if summary.is_over() || !is_driven => updated,
        Some(updated) => updated.max(now),
        None => now,
    };
    let began = summary.created_at.unwrap_or(until);
    let state = state_of(store, flow, is_driven)?;
    let costs = costs::of(store, flow, None)?;
    Ok(FoldedRun {
        side: Side {
            project: flow.project.to_string(),
            flow: flow.flow.to_string(),
            title: state.flow.row.title.clone(),
            standing: seen.standing_words(now).unwrap_or_default(),
            ms: u64::try_from(until.ms().saturating_sub(began.ms())).unwrap_or(0),
            cost: costs.all.clone(),
        },
        state,
        costs,
        files: files::of(store, flow, None, project)?,
    })
}

/// The state of a flow as the page has it.
fn state_of(store: &Store, flow: &FlowRef, is_driven: bool) -> Result<FlowState, Fault> {
    let place = store.place(flow);
    let read = |text: &Kept| place.text_or_beginning(text);
    let mut fold = FlowFold::new(wire_ref(flow), Vec::new());
    let mut facts: u64 = 0;
    each_in(store, flow, None, &mut |recorded| {
        fold.apply(recorded, &read);
        facts += 1;
        if facts.is_multiple_of(FACTS_AT_ONCE) || fold.is_full() {
            // Feeds are not compared.
            drop(fold.take_feeds());
        }
    })?;
    fold.driven(Liveness {
        driven_by: is_driven.then_some(DrivenBy::Other),
        holder: None,
    });
    let nothing = || missing("the flow never began", "nothing of it was recorded");
    assembled(fold.whole()).ok_or_else(nothing)
}
