//! The configuration of a workspace: one file beside the state of its flows, where no tool of a role reaches.
//!
//! A process that can write to a workspace must not be able to grant itself permissions. This file can
//! therefore only narrow what the operator's own configuration allows.

use std::path::{Path, PathBuf};

use a_society_roles::config::{ConsentConfig, parse_workspace};
use a_society_state::OUR_FOLDER;

use super::user::{self, ConfigError};

/// The file, in the folder that holds the state.
const FILE_NAME: &str = "config.yaml";

/// The largest file that is read; it is written by hand.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where it is, whether or not it is there.
#[must_use]
pub(crate) fn path(workspace: &Path) -> PathBuf {
    workspace.join(OUR_FOLDER).join(FILE_NAME)
}

/// Its text; nothing if it is not there.
///
/// # Errors
/// When it is there and cannot be read.
pub(crate) fn text(workspace: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let path = path(workspace);
    match user::read(&path, FILE_BYTES_MAX) {
        Ok(text) => Ok(text.map(|text| (path, text))),
        Err(why) => Err(ConfigError::Unreadable { path, why }),
    }
}

/// What it takes away; nothing if it is not there.
///
/// # Errors
/// When it cannot be read, says something that means nothing, or would allow something.
pub fn consent(workspace: &Path) -> Result<ConsentConfig, ConfigError> {
    let Some((path, text)) = text(workspace)? else {
        return Ok(ConsentConfig::default());
    };
    parse_workspace(&text).map_err(|faults| ConfigError::Faulty { path, faults })
}
