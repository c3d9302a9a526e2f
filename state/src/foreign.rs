//! Knows a folder that another program keeps.

use std::path::Path;

use crate::disk::{Disk, How};
use crate::files::{read_full, uninterrupted};
use crate::layout::FlowFolder;

/// How much of another program's `flow.json` is looked at to know it as such.
const LOOKED_AT_BYTES: usize = 64 * 1024;
/// The member by which it is known; ours has none of that name.
const NAMES_VERSION: &[u8] = b"\"stateVersion\"";

/// Whether a folder holds a flow that another program keeps and that was not imported. It is asked
/// only where no journal is found.
pub(crate) fn is_foreign(disk: &dyn Disk, folder: &FlowFolder) -> bool {
    let is_there = |path: &Path| uninterrupted(|| disk.about(path)).is_ok();
    if is_there(&folder.journal()) || is_there(&folder.views()) {
        return false;
    }
    let Ok(file) = uninterrupted(|| disk.open(&folder.flow_view(), How::Read)) else {
        return false;
    };
    let mut beginning = vec![0; LOOKED_AT_BYTES];
    let Ok(read) = read_full(file.as_ref(), 0, &mut beginning) else {
        return false;
    };
    let beginning = beginning.get(..read).unwrap_or_default();
    let mut parts = beginning.windows(NAMES_VERSION.len());
    parts.any(|part| part == NAMES_VERSION)
}
