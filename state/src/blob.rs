//! Large payloads, each in a file named by the hash of its bytes.
//!
//! A blob is durable before the record that names it is written, and is checked against its name
//! whenever it is read. One that is missing or does not fit counts as lost; nothing else of
//! the flow suffers from it.

use std::io;

use a_society_facts::Hash;
use a_society_facts::limits::BLOB_HEAD_BYTES_MAX;
use a_society_facts::message::{BlobText, Text};

use crate::atomic::replace_durably;
use crate::disk::{Disk, Kind};
use crate::error::Error;
use crate::files::{make_folders, read_whole, sync_folder, uninterrupted};
use crate::layout::FlowFolder;
use crate::limits::BLOB_BYTES_MAX;

/// Keeps bytes as a blob; it is durable on return.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn put(disk: &dyn Disk, folder: &FlowFolder, bytes: &[u8]) -> Result<Hash, Error> {
    let hash = Hash::of(bytes);
    let path = folder.blob(hash);
    make_folders(disk, &folder.blobs())?;
    let there = uninterrupted(|| disk.about(&path))
        .is_ok_and(|about| about.kind == Kind::File && about.size_bytes == bytes.len() as u64);
    if there && get(disk, folder, hash).is_ok() {
        // A process that died between naming it and syncing the name may have left it.
        sync_folder(disk, &folder.blobs())?;
        return Ok(hash);
    }
    replace_durably(disk, &path, bytes)?;
    Ok(hash)
}

/// Keeps a text: inline up to so many bytes, else as a blob with its beginning repeated.
///
/// # Errors
/// When its blob cannot be kept.
pub(crate) fn put_text(
    text: String,
    inline_bytes_max: usize,
    put: impl FnOnce(&[u8]) -> Result<Hash, Error>,
) -> Result<Text, Error> {
    if text.len() <= inline_bytes_max {
        return Ok(Text::Inline(text));
    }
    let blob = put(text.as_bytes())?;
    let mut end = BLOB_HEAD_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text[..end].to_owned();
    Ok(Text::Blob(BlobText {
        blob,
        bytes: text.len() as u64,
        head,
    }))
}

/// Reads a blob and checks it against its name.
///
/// # Errors
/// When it is missing, cannot be read, or is not the one it is named by.
pub(crate) fn get(disk: &dyn Disk, folder: &FlowFolder, hash: Hash) -> Result<Vec<u8>, Error> {
    let path = folder.blob(hash);
    let bytes = read_whole(disk, &path, BLOB_BYTES_MAX)?;
    if Hash::of(&bytes) != hash {
        let what = "does not hold the bytes it is named by".to_owned();
        return Err(Error::Unfit { path, what });
    }
    Ok(bytes)
}

/// The text that a blob holds; nothing if it is lost.
#[must_use]
pub(crate) fn read_text(disk: &dyn Disk, folder: &FlowFolder, hash: Hash) -> Option<String> {
    let bytes = get(disk, folder, hash).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Why a blob counts as lost, in words; `None` if it is there and whole.
#[must_use]
pub fn loss(disk: &dyn Disk, folder: &FlowFolder, hash: Hash) -> Option<String> {
    match get(disk, folder, hash) {
        Ok(_) => None,
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Some("it is missing".to_owned())
        }
        Err(error) => Some(error.to_string()),
    }
}
