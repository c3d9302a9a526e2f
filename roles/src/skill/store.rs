//! The skills of a folder.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::limits::{SKILLS, TEXT_BYTES};
use super::parse::{Heading, SkillFault, heading};
use crate::role::definition::Skill;

/// The file that makes a folder a skill.
pub(super) const FILE: &str = "SKILL.md";

/// What was found in a folder of skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// The skills that can be used, in the order of their names.
    pub skills: Vec<Skill>,
    /// The folders that are no skills, and why.
    pub faults: Vec<(PathBuf, SkillFault)>,
}

/// Finds the skills of a folder. A broken one is reported and does not hide the others.
#[must_use]
pub fn found(folder: &Path) -> FoundSkills {
    let mut found = FoundSkills::default();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        if found.skills.len() == SKILLS {
            let why = format!("there are already {SKILLS} skills");
            found.faults.push((folder, SkillFault(why)));
            continue;
        }
        // What is behind a link is out of the reach of the tools that would read it.
        if folder.is_symlink() {
            let why = "it is a link; a skill is a folder of its own".to_owned();
            found.faults.push((folder, SkillFault(why)));
            continue;
        }
        match read(&folder) {
            Ok(Heading { name, description }) => found.skills.push(Skill {
                name,
                description,
                path: folder.join(FILE).to_string_lossy().into_owned(),
            }),
            Err(why) => found.faults.push((folder, why)),
        }
    }
    found
}

/// Reads the head of the skill in a folder.
pub(super) fn read(folder: &Path) -> Result<Heading, SkillFault> {
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let path = folder.join(FILE);
    let unread = |why: std::io::Error| SkillFault(format!("{FILE} could not be read: {why}"));
    if !fs::symlink_metadata(&path).map_err(unread)?.is_file() {
        return Err(SkillFault(format!("{FILE} is not a regular file")));
    }
    let mut text = String::new();
    let file = fs::File::open(&path).map_err(unread)?;
    file.take(TEXT_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(unread)?;
    if text.len() as u64 > TEXT_BYTES {
        return Err(SkillFault(format!(
            "{FILE} is larger than {TEXT_BYTES} bytes"
        )));
    }
    heading(&text, name)
}
