//! What roles and nodes ask to be read, found through the project's index.

use std::path::{Path, PathBuf};

use a_society_roles::role::definition::ReadingText;
use a_society_state::disk::SharedDisk;
use a_society_state::files::read_whole;

use super::index::{self, Index};
use super::reader::{DocsLayout, DocsReader};
use crate::limits::PROJECT_FILE_BYTES_MAX;
use crate::record::find_below;

/// The readings of one project.
#[derive(Debug)]
pub(crate) struct Library {
    disk: SharedDisk,
    project: PathBuf,
    index: Index,
}

impl Library {
    /// The library of a project's folder. A project without an index has paths only.
    #[must_use]
    pub(crate) fn of(disk: SharedDisk, project: &Path) -> Self {
        let mut reader = DocsReader {
            disk: disk.as_ref(),
            found: Vec::new(),
        };
        let path = DocsLayout::of(project).index();
        // Faults of the index were reported when the project was checked.
        let text = reader.text_if_there(&path).flatten().unwrap_or_default();
        let index = index::parse(&text, "", &mut reader.found);
        Self {
            disk,
            project: project.to_owned(),
            index,
        }
    }

    /// The path, from the project's root, that a variable or a path means.
    #[must_use]
    pub(crate) fn path_of<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if name.starts_with('$') {
            return self.index.get(name).map(|row| row.path.as_str());
        }
        Some(name)
    }

    /// The readings of these names, in full. What cannot be read says why in its place, so that a
    /// role that should have read it knows.
    #[must_use]
    pub(crate) fn readings(&self, names: &[String]) -> Vec<ReadingText> {
        names.iter().map(|name| self.reading(name)).collect()
    }

    fn reading(&self, name: &str) -> ReadingText {
        let Some(path) = self.path_of(name) else {
            return ReadingText {
                path: name.to_owned(),
                variable: None,
                text: "[this cannot be read: the project's index does not have it]".to_owned(),
            };
        };
        let text = self
            .text(path)
            .unwrap_or_else(|why| format!("[this cannot be read: {why}]"));
        ReadingText {
            path: path.to_owned(),
            variable: name.starts_with('$').then(|| name.to_owned()),
            text,
        }
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let disk = self.disk.as_ref();
        let file = find_below(disk, &self.project, path)?;
        let bytes =
            read_whole(disk, &file, PROJECT_FILE_BYTES_MAX).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }
}
