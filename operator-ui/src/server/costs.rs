//! What a flow used, read from its journal, also once it is over.

use a_society_facts::id::Seq;
use a_society_state::{FlowRef, Store};

use super::feed_at::each_in;
use crate::fold::costs::Used;
use crate::protocol::Fault;
use crate::protocol::http::Costs;

/// What was used up to a record.
pub(super) fn of(store: &Store, flow: &FlowRef, at: Option<Seq>) -> Result<Costs, Fault> {
    let mut used = Used::default();
    each_in(store, flow, at, &mut |recorded| used.hear(recorded))?;
    Ok(used.told())
}
