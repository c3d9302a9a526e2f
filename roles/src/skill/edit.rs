//! Skills as an editor sees them: looked at, written, and taken out, and never over a concurrent change.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use a_society_facts::Hash;

use super::import::walked;
use super::limits::{SKILLS, TEXT_BYTES};
use super::parse::{Heading, SkillFault, check_name, heading, parts, with_description};
use super::store::FILE;
use crate::role::definition::Skill;
use crate::role::environment::line;

/// A skill as its folder holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// Its name.
    pub name: String,
    /// When it is used; empty if its head cannot be read.
    pub description: String,
    /// What it says below its head; all of it, if it has none.
    pub text: String,
    /// Its `SKILL.md`.
    pub path: PathBuf,
    /// The files that it has, from its folder, with their sizes.
    pub files: Vec<(PathBuf, u64)>,
    /// Why roles do not see it, and which of its files they do not see.
    pub faults: Vec<String>,
    /// The hash of all of this, which detects a change between two readings.
    pub version: Hash,
}

/// The wanted contents of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSkill {
    /// Its name.
    pub name: String,
    /// When it is used.
    pub description: String,
    /// What it says.
    pub text: String,
}

/// Why a skill stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillEditFault {
    /// There is something of that name already.
    Taken(String),
    /// No skill has that name.
    None(String),
    /// It is not what was looked at.
    Changed(String),
    /// It would be no skill.
    Unfit(String),
    /// It is laid out so that it is changed by hand only.
    ByHand(String),
    /// The disk refuses.
    Failed(String),
}

/// What a role would read of a skill.
#[must_use]
pub fn told(skill: &Skill) -> String {
    line(skill)
}

/// Looks at a skill of a folder of skills, whether or not a role could use it.
///
/// # Errors
/// When no skill has that name, or it is a link or cannot be read.
pub fn look(skills: &Path, name: &str) -> Result<Sight, SkillEditFault> {
    let (sight, _) = seen(skills, name)?;
    Ok(sight)
}

/// The skill that a write would produce, as roles would see it. Nothing is written.
///
/// # Errors
/// As [`put`].
pub fn plan(skills: &Path, new: &NewSkill, over: Option<&str>) -> Result<Skill, SkillEditFault> {
    planned(skills, new, over).map(|(_, skill)| skill)
}

/// Writes a skill: a new one, or over the one of its name, if that is what was looked at.
///
/// # Errors
/// When there is one already, or none, or another than was looked at; and when it would be none.
pub fn put(skills: &Path, new: &NewSkill, over: Option<&str>) -> Result<Skill, SkillEditFault> {
    check_name(&new.name).map_err(unfit)?;
    let held = held(skills).map_err(failed)?;
    let (text, skill) = planned(skills, new, over)?;
    let folder = skills.join(&new.name);
    let written = if over.is_some() {
        replace(&folder, &text)
    } else {
        make(skills, &new.name, &text)
    };
    drop(held);
    written.map(|()| skill).map_err(failed)
}

/// Takes a skill out with all its files, if it is what was looked at.
///
/// # Errors
/// When there is none, or it has changed since.
pub fn remove(skills: &Path, name: &str, version: &str) -> Result<Sight, SkillEditFault> {
    let held = held(skills).map_err(failed)?;
    let sight = look(skills, name)?;
    if sight.version.to_string() != version {
        return Err(SkillEditFault::Changed(name.to_owned()));
    }
    let going = temporary(skills, name, "removing");
    // It is gone at once, however long its files take.
    let gone = fs::rename(skills.join(name), &going).and_then(|()| fs::remove_dir_all(&going));
    drop(held);
    gone.map(|()| sight).map_err(failed)
}

/// The text that would be written, and the skill as roles would see it.
fn planned(
    skills: &Path,
    new: &NewSkill,
    over: Option<&str>,
) -> Result<(String, Skill), SkillEditFault> {
    check_name(&new.name).map_err(unfit)?;
    let text = match over {
        None => {
            may_be_made(skills, &new.name)?;
            composed(new)
        }
        Some(version) => {
            let (sight, whole) = seen(skills, &new.name)?;
            if sight.version.to_string() != version {
                return Err(SkillEditFault::Changed(new.name.clone()));
            }
            rewritten(&whole, &sight, new)?
        }
    };
    if text.len() as u64 > TEXT_BYTES {
        let why = format!("{FILE} would be larger than {TEXT_BYTES} bytes");
        return Err(SkillEditFault::Unfit(why));
    }
    let Heading { name, description } = heading(&text, &new.name).map_err(unfit)?;
    let path = skills.join(&name).join(FILE);
    let skill = Skill {
        name,
        description,
        path: path.to_string_lossy().into_owned(),
    };
    Ok((text, skill))
}

fn may_be_made(skills: &Path, name: &str) -> Result<(), SkillEditFault> {
    if fs::symlink_metadata(skills.join(name)).is_ok() {
        return Err(SkillEditFault::Taken(name.to_owned()));
    }
    let there = fs::read_dir(skills).into_iter().flatten().flatten();
    if there.filter(|entry| entry.path().is_dir()).count() >= SKILLS {
        let why = format!("there are already {SKILLS} skills");
        return Err(SkillEditFault::Unfit(why));
    }
    Ok(())
}

fn composed(new: &NewSkill) -> String {
    // What JSON makes of a text is a text in YAML, too.
    let description = serde_json::Value::from(flat(&new.description));
    let mut text = format!("---\nname: {}\ndescription: {description}\n---\n", new.name);
    let _ = write!(text, "\n{}\n", new.text.trim_end());
    text
}

/// A text with another description and other words below the head; what else its head says stays.
fn rewritten(whole: &str, was: &Sight, new: &NewSkill) -> Result<String, SkillEditFault> {
    let Ok(old) = heading(whole, &new.name) else {
        return Ok(composed(new));
    };
    let (head, below) = parts(whole).map_err(unfit)?;
    let head = if flat(&new.description) == old.description {
        head.to_owned()
    } else {
        with_description(head, &flat(&new.description))
            .map_err(|why| SkillEditFault::ByHand(why.0))?
    };
    if new.text.trim_end() == was.text.trim_end() {
        return Ok(head + below);
    }
    let text = format!("\n{}\n", new.text.trim_end());
    let text = if whole.contains("\r\n") {
        text.replace('\n', "\r\n")
    } else {
        text
    };
    Ok(head + &text)
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A skill in its folder, and the whole text of its file.
fn seen(skills: &Path, name: &str) -> Result<(Sight, String), SkillEditFault> {
    let none = || SkillEditFault::None(name.to_owned());
    check_name(name).map_err(|_| none())?;
    let folder = skills.join(name);
    let about = fs::symlink_metadata(&folder).map_err(|_| none())?;
    if !about.is_dir() {
        let why = format!(
            "{} is a link; a skill is a folder of its own",
            folder.display()
        );
        return Err(SkillEditFault::ByHand(why));
    }
    let path = folder.join(FILE);
    let mut faults = Vec::new();
    let whole = match whole(&path) {
        Ok(text) => text,
        Err(why) => {
            faults.push(format!("{FILE} could not be read: {why}"));
            String::new()
        }
    };
    let description = match heading(&whole, name) {
        Ok(heading) => heading.description,
        Err(why) if faults.is_empty() => {
            faults.push(why.0);
            String::new()
        }
        Err(_) => String::new(),
    };
    let walk = walked(&folder);
    let mut marks = String::new();
    let mut files = Vec::new();
    for (file, about) in walk.files {
        let changed = (about.mtime(), about.mtime_nsec());
        let _ = writeln!(marks, "{} {} {changed:?}", file.display(), about.len());
        files.push((file, about.len()));
    }
    faults.extend(walk.faults);
    let _ = write!(marks, "{}\n{whole}", faults.join("\n"));
    let below = parts(&whole).map_or(whole.as_str(), |(_, below)| below);
    let text = below.replace("\r\n", "\n");
    let sight = Sight {
        name: name.to_owned(),
        description,
        text: text.strip_prefix('\n').unwrap_or(&text).to_owned(),
        path,
        files,
        faults,
        version: Hash::of(marks.as_bytes()),
    };
    Ok((sight, whole))
}

fn whole(path: &Path) -> Result<String, String> {
    let said = |why: io::Error| why.to_string();
    if !fs::symlink_metadata(path).map_err(said)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(said)?;
    let mut file = file.take(TEXT_BYTES + 1);
    file.read_to_string(&mut text).map_err(said)?;
    if text.len() as u64 > TEXT_BYTES {
        return Err(format!("it is larger than {TEXT_BYTES} bytes"));
    }
    Ok(text)
}

/// The folder of skills, made if it is not there, and held for as long as what is returned lives: between the look
/// and the change no other program of ours writes.
fn held(skills: &Path) -> io::Result<fs::File> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true).mode(0o700).create(skills)?;
    let held = fs::File::open(skills)?;
    held.lock()?;
    Ok(held)
}

fn make(skills: &Path, name: &str, text: &str) -> io::Result<()> {
    let new = temporary(skills, name, "adding");
    fs::create_dir(&new)?;
    let made = write(&new.join(FILE), text).and_then(|()| fs::rename(&new, skills.join(name)));
    if made.is_err() {
        // The original fault is reported; a folder with such a name is never a skill.
        let _left = fs::remove_dir_all(&new);
    }
    made
}

fn replace(folder: &Path, text: &str) -> io::Result<()> {
    let new = folder.join(format!(".{FILE}-{}.new", std::process::id()));
    let written = write(&new, text).and_then(|()| fs::rename(&new, folder.join(FILE)));
    if written.is_err() {
        let _left = fs::remove_file(&new);
    }
    written
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn temporary(skills: &Path, name: &str, what: &str) -> PathBuf {
    skills.join(format!(".{name}-{}.{what}", std::process::id()))
}

fn unfit(fault: SkillFault) -> SkillEditFault {
    SkillEditFault::Unfit(fault.0)
}

fn failed(error: impl std::fmt::Display) -> SkillEditFault {
    SkillEditFault::Failed(error.to_string())
}
