//! What the faulty disk promises: which faults strike what, and what a crash may leave.

mod crashes;
mod faults;
mod watching;

use std::path::Path;

use a_society_state::disk::{Disk, DiskFile, How};

use super::FaultyDisk;

fn path(path: &str) -> &Path {
    Path::new(path)
}

/// Opens a file for appending, and creates it if need be.
fn append_to(disk: &FaultyDisk, name: &str) -> Box<dyn DiskFile> {
    disk.open(path(name), How::CreateOrAppend).unwrap()
}

/// What a reader sees of a file, as text.
fn text(disk: &FaultyDisk, name: &str) -> Option<String> {
    let bytes = disk.read_file(path(name))?;
    Some(String::from_utf8(bytes).unwrap())
}
