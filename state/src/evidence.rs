//! What is known of a journal besides the journal itself.

use a_society_facts::id::FlowId;

use crate::checkpoint;
use crate::disk::Disk;
use crate::files::uninterrupted;
use crate::layout::FlowFolder;
use crate::views::read_index;

/// The highest record that something besides the journal knows to be durable.
pub(crate) fn evidence(disk: &dyn Disk, folder: &FlowFolder, flow: &FlowId) -> u64 {
    let index = read_index(disk, folder, flow).map_or(0, |index| index.position.seq);
    // A view whose index is lost still tells that there was a first record.
    let view = uninterrupted(|| disk.about(&folder.flow_view())).is_ok();
    index
        .max(checkpoint::evidence(disk, folder, flow))
        .max(u64::from(view))
}
