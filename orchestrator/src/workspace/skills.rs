//! Which roles name a skill: those of projects, and those that flow files define.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::editing::EditRefusal;
use crate::config::editing::skills::{ShownSkill, SkillList, SkillRow, list};
use crate::project::flow_file;
use crate::project::place::workspace_of;
use a_society_state::Store;
use a_society_state::disk::Disk;
use serde_json::{Value, json};

use super::flow_files::{flow_files, offered};

/// The skills of the operator and of a workspace, each with who names it.
#[derive(Debug, Default)]
pub struct Skills {
    /// What there is.
    pub list: SkillList,
    /// By the name of a skill: flow files and their roles.
    files: BTreeMap<String, Vec<(String, String)>>,
}

impl Skills {
    /// Lists them; outside of a workspace those of the operator.
    ///
    /// # Errors
    /// When the configuration cannot be read.
    pub fn read(store: Option<&Store>) -> Result<Self, EditRefusal> {
        let files =
            |store: &Store| in_flow_files(store.ground().disk.as_ref(), workspace_of(store));
        Ok(Self {
            list: list(store)?,
            files: store.map(files).unwrap_or_default(),
        })
    }

    /// Who names a skill, in words.
    #[must_use]
    pub fn named_by(&self, row: &SkillRow) -> Vec<String> {
        let roles = row.named_by.iter();
        let roles = roles.map(|by| format!("{}/{}", by.project, by.role));
        let project = row.project.as_deref();
        let is_near = |path: &str| project.is_none_or(|it| path.starts_with(&format!("{it}/")));
        let files = self.files.get(&row.skill.name).into_iter().flatten();
        let files = files.filter(|(path, _)| is_near(path));
        let files = files.map(|(path, role)| format!("{role} in {path}"));
        roles.chain(files).collect()
    }

    /// A skill of the operator's own, or of a project.
    #[must_use]
    pub fn named(&self, name: &str, project: Option<&str>) -> Option<&SkillRow> {
        let mut rows = self.list.rows.iter();
        rows.find(|row| row.skill.name == name && row.project.as_deref() == project)
    }

    /// For programs and for the page.
    #[must_use]
    pub fn as_json(&self) -> Value {
        let skills = self.list.rows.iter().map(|row| {
            json!({
                "name": row.skill.name,
                "description": row.skill.description,
                "path": row.skill.path,
                "project": row.project,
                "hidden": row.is_hidden,
                "named_by": self.named_by(row),
            })
        });
        let faults = self.list.broken.iter().map(|broken| {
            let name = broken.path.file_name().map(|name| name.to_string_lossy());
            json!({
                "path": broken.path,
                "name": name,
                "project": broken.project,
                "why": broken.why.0,
            })
        });
        let missing = self.list.missing.iter().map(|(name, by)| {
            let by = by.iter().map(|by| format!("{}/{}", by.project, by.role));
            json!({ "name": name, "named_by": by.collect::<Vec<_>>() })
        });
        json!({
            "skills": skills.collect::<Vec<_>>(),
            "faults": faults.collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
        })
    }
}

/// A skill as it was looked at, for programs and for the page.
#[must_use]
pub fn skill_json(shown: &ShownSkill, named_by: &[String]) -> Value {
    let sight = &shown.sight;
    let files = sight.files.iter();
    let files = files.map(|(path, bytes)| json!({ "path": path, "bytes": bytes }));
    let kept = |text: &str| (!shown.is_withheld).then(|| text.to_owned());
    json!({
        "name": sight.name,
        "description": kept(&sight.description),
        "text": kept(&sight.text),
        "told": shown.told.as_deref().and_then(kept),
        "withheld": shown.is_withheld,
        "path": sight.path,
        "files": files.collect::<Vec<_>>(),
        "faults": sight.faults,
        "named_by": named_by,
        "version": sight.version,
    })
}

/// The skills that roles of flow files name, which such a file defines itself.
fn in_flow_files(disk: &dyn Disk, root: &Path) -> BTreeMap<String, Vec<(String, String)>> {
    let mut named: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for path in flow_files(disk, root) {
        let text = offered(disk, &root.join(&path));
        let file = text.and_then(|text| flow_file::inspect(Path::new(&path), text).0);
        let Some(file) = file.filter(|file| file.defines_roles) else {
            continue;
        };
        for (role, definition) in file.roles {
            for skill in definition.skills.unwrap_or_default() {
                let by = (path.clone(), role.to_string());
                named.entry(skill).or_default().push(by);
            }
        }
    }
    named
}
