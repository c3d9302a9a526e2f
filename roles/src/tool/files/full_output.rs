//! Whole outputs of calls, kept in the record folder for tools that read.

use std::ffi::OsStr;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{AtFlags, fsync, renameat, unlinkat};
use rustix::io::Errno;

use super::open::{PRIVATE, fill, made, temporary};
use super::path::RECORD;
use super::roots::{KEPT_OUTPUTS, Roots};
use crate::port::RecordPath;

/// Keeps the output of a call, and says the path by which tools read it. It is durable on return.
pub(in super::super) fn keep(roots: &Roots, call: &str, bytes: &[u8]) -> Result<String, Errno> {
    let root = roots.record_root().ok_or(Errno::NOENT)?;
    let folder = made(root.folder.as_fd(), Path::new(KEPT_OUTPUTS))?;
    let name = RecordPath::of_name(&format!("{call}.txt"));
    let (temporary, file) = temporary(&folder, OsStr::new(name.as_str()), PRIVATE)?;
    let done = fill(&file, bytes)
        .and_then(|()| fsync(&file))
        .and_then(|()| renameat(&folder, &temporary, &folder, name.as_str()))
        .and_then(|()| fsync(&folder));
    if let Err(why) = done {
        // Nothing else knows the name.
        let _left = unlinkat(&folder, &temporary, AtFlags::empty());
        return Err(why);
    }
    Ok(format!("{RECORD}/{KEPT_OUTPUTS}/{name}"))
}
