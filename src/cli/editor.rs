//! A text in the operator's own editor.

use std::io::Write;
use std::process::Command;

use a_society_state::disk::Disk;
use a_society_state::files::read_whole;
use tempfile::{Builder, NamedTempFile};

/// A longer text is not edited here.
const TEXT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The outcome of an edit.
pub(crate) enum Edited {
    /// This is its text now, and the file that holds it, which is gone when it is dropped.
    Text(String, NamedTempFile),
    /// Nothing changed, and this is why.
    Nothing(String),
}

/// Opens a text in `VISUAL` or `EDITOR`, or else in `vi`, and waits until it is closed. The file is named after
/// the one that is edited, so that the editor knows what it is.
pub(crate) fn edit(disk: &dyn Disk, editor: &str, name: &str, text: &str) -> Edited {
    let failed = |error: std::io::Error| Edited::Nothing(format!("no file for it: {error}"));
    let name = name.rsplit('/').next().unwrap_or(name);
    let file = Builder::new().suffix(&format!("-{name}")).tempfile();
    let mut file = match file {
        Ok(file) => file,
        Err(error) => return failed(error),
    };
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
        return failed(error);
    }
    // As a shell reads it, so that it may have arguments.
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(editor);
    let ended = command.arg(file.path()).status();
    match ended {
        Ok(ended) if ended.success() => {}
        Ok(ended) => {
            return Edited::Nothing(format!("{editor} ended with {ended}; nothing was written"));
        }
        Err(error) => return Edited::Nothing(format!("{editor} was not started: {error}")),
    }
    // An editor may have put another file in its place.
    let read = read_whole(disk, file.path(), TEXT_BYTES_MAX).map(String::from_utf8);
    match read {
        Ok(Ok(said)) if said.trim().is_empty() => {
            Edited::Nothing("the text is empty; nothing was written".to_owned())
        }
        Ok(Ok(said)) => Edited::Text(said, file),
        Ok(Err(_)) => Edited::Nothing("it is no text in UTF-8; nothing was written".to_owned()),
        Err(error) => Edited::Nothing(format!("it cannot be read: {error}")),
    }
}
