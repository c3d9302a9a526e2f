//! Space set aside, so that a full disk can still be written about.
//!
//! While a flow is open for writing, a file beside its journal holds an unused mebibyte.
//! When the disk is full, the file is removed and the pause is recorded in the room it leaves.

use std::io;

use crate::disk::{Disk, How};
use crate::error::Error;
use crate::files::{remove_if_there, uninterrupted};
use crate::layout::FlowFolder;
use crate::limits::RESERVE_BYTES;

/// Sets the space aside, unless it is already. A disk that has no room for it is no error here:
/// the first record that does not fit will say so.
///
/// # Errors
/// When the file system refuses for another reason.
pub(crate) fn hold(disk: &dyn Disk, folder: &FlowFolder) -> Result<bool, Error> {
    let path = folder.reserve();
    let held = uninterrupted(|| disk.open(&path, How::CreateOrAppend))
        .and_then(|mut file| uninterrupted(|| file.reserve(RESERVE_BYTES)));
    match held {
        Ok(()) => Ok(true),
        Err(error) if crate::error::is_full(&error) => {
            remove_if_there(disk, &path)?;
            Ok(false)
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
        Err(error) => Err(Error::io("reserve", &path, error)),
    }
}

/// Gives the space back.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn release(disk: &dyn Disk, folder: &FlowFolder) -> Result<(), Error> {
    remove_if_there(disk, &folder.reserve())
}
