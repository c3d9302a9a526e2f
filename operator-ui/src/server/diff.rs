//! What differs between two versions of a file, line by line, and what tools changed.

use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_state::{FlowRef, Store};

use super::blocking::missing;
use super::feed_at::each_in;
use super::files;
use super::window::Window;
use crate::fold::changes::ChangesFold;
use crate::fold::limits::DIFF_BOUNDS;
use crate::fold::lines::{Bounds, compare};
use crate::hub::Hubs;
use crate::protocol::Fault;
use crate::protocol::ask::Diff;
use crate::protocol::http::Changes;

/// Between two versions that were handed over.
pub(super) fn between(
    hubs: &Hubs,
    flow: &FlowRef,
    window: &Window,
    project: &Path,
) -> Result<Diff, Fault> {
    let new = window.b.as_deref().ok_or_else(|| {
        missing(
            "there is nothing to compare",
            "a is the old version and b the new one",
        )
    })?;
    let text = |hash: &str| {
        let bytes = files::blob(&hubs.store, flow, hash, project)?;
        Ok::<_, Fault>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let old = window.a.as_deref().map(&text).transpose()?;
    let path = window.path.clone().unwrap_or_default();
    let found = compare(
        old.as_deref().unwrap_or_default(),
        &text(new)?,
        &DIFF_BOUNDS,
    );
    Ok(Diff {
        path,
        old: window.a.clone(),
        new: new.to_owned(),
        hunks: found.hunks,
        truncated: found.truncated,
        unkept_bytes: None,
    })
}

/// What tools changed in files, or what one role changed with them.
///
/// # Errors
/// When the journal cannot be read.
pub fn changed(
    store: &Store,
    flow: &FlowRef,
    role: Option<&RoleInstance>,
) -> Result<Changes, Fault> {
    changes_of(store, flow, role, None, &DIFF_BOUNDS)
}

/// What tools changed in files, from the first bytes that were seen to the last before a record.
pub(super) fn changes(
    hubs: &Hubs,
    flow: &FlowRef,
    at: Option<Seq>,
    bounds: &Bounds,
) -> Result<Changes, Fault> {
    changes_of(&hubs.store, flow, None, at, bounds)
}

fn changes_of(
    store: &Store,
    flow: &FlowRef,
    whose: Option<&RoleInstance>,
    at: Option<Seq>,
    bounds: &Bounds,
) -> Result<Changes, Fault> {
    let place = store.place(flow);
    let text = |hash: Hash| match hash == Hash::of(b"") {
        true => Some(String::new()),
        false => place.text_of(hash),
    };
    let mut fold = ChangesFold::new(whose, &text, bounds);
    each_in(store, flow, at, &mut |recorded| fold.hear(recorded))?;
    Ok(fold.done())
}
