//! Makes it happen: connects facts, flow, roles and the disk.
