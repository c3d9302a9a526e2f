//! Skills: listed with where they come from, looked at, written and taken out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_facts::words::settings::{NAME_A_KEYS_PLACE, SKILL_NOT_SAVED, SKILLS_HOLD_NO_KEY};
use a_society_roles::role::definition::Skill;
use a_society_roles::skill::{self, NewSkill, SkillEditFault, SkillFault, found};
use a_society_state::Store;

use super::super::user;
use super::hint::Hint;
use super::{EditRefusal, Grade};
use crate::pasted_secrets::holds_a_secret;
use crate::project::bench::docs_skills;
use crate::project::place::{NamedBy, projects_of, skills_named, workspace_of};

/// A skill that roles may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRow {
    /// The part of it in a role's prompt.
    pub skill: Skill,
    /// The project whose documents have it; none for the operator's own.
    pub project: Option<String>,
    /// The roles of projects that name it.
    pub named_by: Vec<NamedBy>,
    /// Whether the operator's own of this name counts in its place.
    pub is_hidden: bool,
}

/// A folder that is no skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The folder.
    pub path: PathBuf,
    /// Why.
    pub why: SkillFault,
    /// The project whose documents have it; none for one among the operator's own.
    pub project: Option<String>,
}

/// All skills of the operator and of a workspace's projects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillList {
    /// Those that can be used: the operator's own first.
    pub rows: Vec<SkillRow>,
    /// The folders that are not skills.
    pub broken: Vec<Broken>,
    /// Skills that roles name, and that neither the operator nor their project has.
    pub missing: BTreeMap<String, Vec<NamedBy>>,
}

/// Lists the skills of the operator, and those of a workspace if there is one.
///
/// # Errors
/// When the folder of the operator's is unknown.
pub(crate) fn list(store: Option<&Store>) -> Result<SkillList, EditRefusal> {
    let own = user::skills()?;
    let workspace = store.map(|store| (store.ground().disk.as_ref(), workspace_of(store)));
    let named = workspace.map(|(disk, root)| skills_named(disk, root));
    let named = named.unwrap_or_default();
    let mut list = SkillList::default();
    add(&mut list, &own, None, &named);
    let projects = workspace.map(|(disk, root)| projects_of(disk, root));
    for (project, folder) in projects.unwrap_or_default() {
        add(&mut list, &docs_skills(&folder), Some(&project), &named);
    }
    for (name, by) in named {
        let has = |project: &str| {
            let mut rows = list.rows.iter().filter(|row| row.skill.name == name);
            rows.any(|row| row.project.as_deref().is_none_or(|it| it == project))
        };
        let without: Vec<NamedBy> = by.into_iter().filter(|by| !has(&by.project)).collect();
        if !without.is_empty() {
            list.missing.insert(name, without);
        }
    }
    Ok(list)
}

fn add(
    list: &mut SkillList,
    folder: &Path,
    project: Option<&str>,
    named: &BTreeMap<String, Vec<NamedBy>>,
) {
    let found = found(folder);
    for skill in found.skills {
        let is_own = |row: &SkillRow| row.project.is_none() && row.skill.name == skill.name;
        let by = named.get(&skill.name).into_iter().flatten();
        let by = by.filter(|by| project.is_none_or(|project| by.project == project));
        list.rows.push(SkillRow {
            named_by: by.cloned().collect(),
            is_hidden: list.rows.iter().any(is_own),
            project: project.map(str::to_owned),
            skill,
        });
    }
    let broken = found.faults.into_iter().map(|(path, why)| Broken {
        path,
        why,
        project: project.map(str::to_owned),
    });
    list.broken.extend(broken);
}

/// A skill as it is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSkill {
    /// The skill in its folder.
    pub sight: skill::Sight,
    /// Its part of a role's prompt; nothing, if it is no skill.
    pub told: Option<String>,
    /// Whether something of it looks like a secret, so that it is not edited here.
    pub is_withheld: bool,
}

/// Looks at a skill: the operator's own, or one of the project in that folder.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn look(name: &str, project: Option<&Path>) -> Result<ShownSkill, EditRefusal> {
    let folder = match project {
        Some(project) => docs_skills(project),
        None => user::skills()?,
    };
    let sight = skill::look(&folder, name)?;
    let of_project = project.and_then(|project| sight.path.strip_prefix(project).ok());
    let path = of_project.unwrap_or(&sight.path).display().to_string();
    let told = (!sight.description.is_empty()).then(|| {
        skill::told(&Skill {
            name: sight.name.clone(),
            description: sight.description.clone(),
            path,
        })
    });
    let is_withheld = [&sight.text, &sight.description].map(|text| holds_a_secret(text));
    Ok(ShownSkill {
        told,
        is_withheld: is_withheld.contains(&true),
        sight,
    })
}

/// Writes a skill of the operator's own, a new one or over the version that was read, or only returns
/// what roles would see of it.
///
/// # Errors
/// When there is one already, or none, or it has changed since; when it would be invalid, or holds a secret.
pub fn put(new: &NewSkill, over: Option<&str>, writes: bool) -> Result<String, EditRefusal> {
    if [&new.description, &new.text]
        .map(|text| holds_a_secret(text))
        .contains(&true)
    {
        return Err(EditRefusal::usage(
            SKILL_NOT_SAVED,
            SKILLS_HOLD_NO_KEY,
            NAME_A_KEYS_PLACE,
        ));
    }
    let folder = user::skills()?;
    let put = if writes { skill::put } else { skill::plan };
    Ok(skill::told(&put(&folder, new, over)?))
}

/// Takes a skill of the operator's own out, with all its files, if it is what was looked at.
///
/// # Errors
/// When there is none, or it has changed since.
pub fn remove(name: &str, version: &str) -> Result<skill::Sight, EditRefusal> {
    Ok(skill::remove(&user::skills()?, name, version)?)
}

impl From<SkillEditFault> for EditRefusal {
    fn from(fault: SkillEditFault) -> Self {
        use Grade::{Failed, NotFound, Refused, Usage};
        let (code, grade, why, hint): (_, _, _, Hint) = match fault {
            SkillEditFault::Taken(name) => (
                "skill-exists",
                Refused,
                format!("there is a skill {name}, or a folder of that name, already"),
                Hint::EditSkill(name),
            ),
            SkillEditFault::None(name) => (
                "skill-not-found",
                NotFound,
                format!("there is no skill {name}"),
                Hint::Skills,
            ),
            SkillEditFault::Changed(name) => (
                "configuration-changed",
                Refused,
                format!(
                    "{name} was changed by another editor in the meantime, and nothing was written"
                ),
                "look at what it says now, then say it again".into(),
            ),
            SkillEditFault::Unfit(why) => ("usage", Usage, why, "say it otherwise".into()),
            SkillEditFault::ByHand(why) => (
                "configuration-unchanged",
                Refused,
                why,
                "change it in its own folder".into(),
            ),
            SkillEditFault::Failed(why) => (
                "configuration-unchanged",
                Failed,
                why,
                "look at who may write the folder, and try again".into(),
            ),
        };
        Self {
            code,
            grade,
            what: "the skills were not changed".to_owned(),
            why,
            hint,
        }
    }
}
