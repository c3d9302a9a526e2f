//! A project's folder, read as a whole: everything that is wrong with it is found at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use a_society_flow::graph::{
    Code, Diagnostic, FlowDefaults, FlowGraph, GraphFile, InlineRole, ListFile, ListItem,
    OWNERSHIP_FILE, READINGS_FILE, RenderFault, RoleName, base_role, in_todays_form, overlay_graph,
    parse_defaults, parse_list, parse_role, parse_with_roles, to_yaml,
};
use a_society_state::atomic::replace;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::read_whole;

use super::index::{self, Index};
pub(crate) use super::reader::DOCS_NAME;
use super::reader::{DocsLayout, DocsReader};
use crate::limits::{PROJECT_FILE_BYTES_MAX, PROJECT_ROLES_MAX, PROJECTS_MAX};
use crate::project::flow_file::FlowFile;
use crate::record::{IS_FOLDER, find_any_below, find_below};

/// The file of a role that lists what it reads.
const READINGS_NAME: &str = "required-readings.yaml";
/// The file of a role that lists what it owns.
const OWNERSHIP_NAME: &str = "ownership.yaml";

/// The roles of a project by their names.
pub(crate) type ProjectRoles = BTreeMap<RoleName, InlineRole>;

/// A project whose folder is sound.
#[derive(Debug, Clone)]
pub struct Project {
    /// The canonical graph, with the roles of the project.
    pub canonical: FlowFile,
}

/// What a project's folder says to those who already run in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sayings {
    /// Rules for every role.
    pub rules: Option<String>,
    /// How to reflect.
    pub guide: Option<String>,
}

/// The path of the canonical graph of a project.
#[must_use]
pub fn workflow_of(project: &Path) -> PathBuf {
    DocsLayout::of(project).workflow()
}

/// The path of a role's file, from the project folder.
#[must_use]
pub(crate) fn role_file(role: &str) -> String {
    format!("{DOCS_NAME}/roles/{role}/main.md")
}

/// The path of a role's settings, from the project folder.
#[must_use]
pub fn role_settings(role: &str) -> String {
    format!("{DOCS_NAME}/roles/{role}/role.yaml")
}

/// The path of the rules for every role, from the project folder.
#[must_use]
pub(crate) fn rules_file() -> String {
    format!("{DOCS_NAME}/agents.md")
}

/// Whether a folder is a project: whether it has a folder `a-docs`.
pub(crate) fn is_project(disk: &dyn Disk, folder: &Path) -> bool {
    let about = disk.about(&DocsLayout::of(folder).docs);
    about.is_ok_and(|about| about.kind == Kind::Folder)
}

/// The projects of a workspace, by their folders: the workspace itself, and each folder in it that is
/// one. What cannot be listed holds none.
pub fn discover(disk: &dyn Disk, workspace: &Path) -> Vec<PathBuf> {
    let entries = disk.list(workspace).unwrap_or_default();
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'))
        .map(|entry| entry.name)
        .take(PROJECTS_MAX)
        .collect();
    names.sort_unstable();
    let own = std::iter::once(workspace.to_owned());
    own.chain(names.iter().map(|name| workspace.join(name)))
        .filter(|folder| is_project(disk, folder))
        .collect()
}

/// Reads a project, and says everything that is wrong with it. It is there if no diagnostic is an
/// error.
pub fn inspect(disk: &dyn Disk, project: &Path) -> (Option<Project>, Vec<Diagnostic>) {
    let mut inspection = Inspection::of(disk, project);
    let canonical = inspection.whole();
    let found = inspection.reader.found;
    let is_sound = !found.iter().any(Diagnostic::is_error);
    let project = canonical
        .filter(|_| is_sound)
        .map(|canonical| Project { canonical });
    (project, found)
}

/// The roles of a project as far as they can be read, for a flow that runs in it already. One that
/// cannot be read is missing, and only its own turns cannot be taken.
pub fn roles(disk: &dyn Disk, project: &Path) -> ProjectRoles {
    let mut inspection = Inspection::of(disk, project);
    let names = inspection.role_names();
    let read = names.iter().filter_map(|name| {
        let role = inspection.role(name)?;
        Some((name.clone(), role))
    });
    read.collect()
}

/// What a project says to every role, as far as it can be read.
#[must_use]
pub(crate) fn sayings(disk: &dyn Disk, project: &Path) -> Sayings {
    let layout = DocsLayout::of(project);
    let text = |path: &Path| {
        let bytes = read_whole(disk, path, PROJECT_FILE_BYTES_MAX).ok()?;
        String::from_utf8(bytes).ok()
    };
    Sayings {
        rules: text(&layout.rules()),
        guide: text(&layout.guide()),
    }
}

/// What a project chooses beforehand, as far as it can be read.
#[must_use]
pub(crate) fn defaults(disk: &dyn Disk, project: &Path) -> FlowDefaults {
    let path = DocsLayout::of(project).defaults();
    let bytes = read_whole(disk, &path, PROJECT_FILE_BYTES_MAX).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let read = text.and_then(|text| parse_defaults(&text, "").0);
    read.unwrap_or_default()
}

/// Rewrites the files of a project that have an older form, and returns their paths.
///
/// # Errors
/// When a file cannot be written; those before it are rewritten.
pub fn rewrite_old_forms(
    disk: &dyn Disk,
    project: &Path,
) -> Result<Vec<PathBuf>, a_society_state::Error> {
    let mut rewritten = Vec::new();
    let names = Inspection::of(disk, project).role_names();
    for name in names {
        let folder = DocsLayout::of(project).roles().join(name.as_str());
        for (file, form) in [
            (READINGS_NAME, READINGS_FILE),
            (OWNERSHIP_NAME, OWNERSHIP_FILE),
        ] {
            let path = folder.join(file);
            let bytes = read_whole(disk, &path, PROJECT_FILE_BYTES_MAX).unwrap_or_default();
            let text = String::from_utf8(bytes).unwrap_or_default();
            if let Some(new) = in_todays_form(&text, form) {
                replace(disk, &path, new.as_bytes())?;
                rewritten.push(path);
            }
        }
    }
    Ok(rewritten)
}

impl Owned {
    /// Whether one of the two says that it shares with the other.
    fn is_shared_with(&self, other: &Self) -> bool {
        let names = |one: &Self, other: &Self| {
            let mut names = one.shared_with.iter();
            names.any(|name| name == other.role.as_str())
        };
        names(self, other) || names(other, self)
    }
}

struct Inspection<'d> {
    reader: DocsReader<'d>,
    layout: DocsLayout,
    project: &'d Path,
    index: Index,
    /// The paths that each role reads.
    readings: BTreeMap<RoleName, BTreeSet<String>>,
    /// What each role owns, in the order of the files.
    owned: Vec<Owned>,
}

/// A path that a role owns, and the place that declares it.
#[derive(Debug, Clone)]
struct Owned {
    role: RoleName,
    file: PathBuf,
    line: u32,
    /// As it is written there.
    said: String,
    /// The roles that share it by agreement.
    shared_with: Vec<String>,
    /// From the folder of the project, in plain parts.
    path: PathBuf,
}

impl<'d> Inspection<'d> {
    fn of(disk: &'d dyn Disk, project: &'d Path) -> Self {
        let found = Vec::new();
        Self {
            reader: DocsReader { disk, found },
            layout: DocsLayout::of(project),
            project,
            index: Index::new(),
            readings: BTreeMap::new(),
            owned: Vec::new(),
        }
    }

    fn whole(&mut self) -> Option<FlowFile> {
        if !is_project(self.reader.disk, self.project) {
            let hint = "make a project with: a-society init DIR";
            let docs = self.layout.docs.clone();
            self.reader.missing(&docs, hint);
            return None;
        }
        let rules = self.layout.rules();
        self.reader.said(&rules, "write the rules for every role");
        self.check_defaults();
        self.read_index();
        let mut roles = ProjectRoles::new();
        for name in self.role_names() {
            roles.extend(self.role(&name).map(|role| (name.clone(), role)));
            self.check_ownership(&name);
        }
        self.check_overlaps();
        let canonical = self.canonical(roles)?;
        self.check_readings(&canonical.graph);
        Some(canonical)
    }

    fn check_defaults(&mut self) {
        let path = self.layout.defaults();
        if let Some(Some(text)) = self.reader.text_if_there(&path) {
            let (_, found) = parse_defaults(&text, &path.display().to_string());
            self.reader.found.extend(found);
        }
    }

    fn read_index(&mut self) {
        let path = self.layout.index();
        let hint = "write a table with rows | `$VARIABLE` | `path/from/project/root` |";
        let Some(text) = self.reader.text(&path, hint) else {
            return;
        };
        let shown = path.display().to_string();
        self.index = index::parse(&text, &shown, &mut self.reader.found);
        for (variable, row) in self.index.clone() {
            let place = find_below(self.reader.disk, self.project, &row.path);
            if place.is_err_and(|why| why == IS_FOLDER) {
                let message = format!(
                    "`{variable}` leads to the folder `{}`; a role can look into it, and cannot have it as a reading",
                    row.path
                );
                let code = Code::Unreadable;
                self.reader.warning(code, &path, row.line, message, None);
                continue;
            }
            self.check_readable(&path, &variable, row.line, &row.path);
        }
    }

    /// Whether a path leads to a text inside the project.
    fn check_readable(&mut self, file: &Path, name: &str, line: u32, path: &str) {
        let disk = self.reader.disk;
        let read = find_below(disk, self.project, path).and_then(|place| {
            let bytes = read_whole(disk, &place, PROJECT_FILE_BYTES_MAX);
            let bytes = bytes.map_err(|error| error.to_string())?;
            std::str::from_utf8(&bytes)
                .map(|_| ())
                .map_err(|_| "it is not UTF-8 text".to_owned())
        });
        if let Err(why) = read {
            let message = format!("`{name}` leads to `{path}`, which cannot be read: {why}");
            self.reader
                .error(Code::Unreadable, file, line, message, None);
        }
    }

    /// The path that a variable or a path means; an unknown variable is reported.
    fn resolve(&mut self, file: &Path, said: &ListItem) -> Option<String> {
        if !said.text.starts_with('$') {
            return Some(said.text.clone());
        }
        if let Some(row) = self.index.get(&said.text) {
            return Some(row.path.clone());
        }
        let message = format!("`{}` is not in the index", said.text);
        let hint = Some(format!("add it to {}", self.layout.index().display()));
        self.reader
            .error(Code::UnknownVariable, file, said.line, message, hint);
        None
    }

    fn role_names(&mut self) -> Vec<RoleName> {
        let folder = self.layout.roles();
        let Ok(entries) = self.reader.disk.list(&folder) else {
            let hint = "make a folder for every role, such as a-docs/roles/owner";
            self.reader.missing(&folder, hint);
            return Vec::new();
        };
        let mut names = Vec::new();
        let folders = entries
            .into_iter()
            .filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'));
        for entry in folders.take(PROJECT_ROLES_MAX) {
            match RoleName::parse(&entry.name) {
                Ok(name) => names.push(name),
                Err(fault) => {
                    let message = format!("`{}` cannot be a role's name: {fault}", entry.name);
                    let path = folder.join(&entry.name);
                    self.reader
                        .error(Code::BadRoleInstance, &path, 0, message, None);
                }
            }
        }
        names
    }

    fn role(&mut self, name: &RoleName) -> Option<InlineRole> {
        let folder = self.layout.roles().join(name.as_str());
        let hint = format!("say there who {name} is and how it works");
        let instructions = self.reader.said(&folder.join("main.md"), &hint);
        let path = folder.join("role.yaml");
        let settings = match self.reader.text_if_there(&path)? {
            None => InlineRole::default(),
            Some(text) => {
                let (role, found) = parse_role(&text, &path.display().to_string());
                self.reader.found.extend(found);
                role?
            }
        };
        let readings = self.list(&folder.join(READINGS_NAME), READINGS_FILE);
        let paths = readings.iter().flatten();
        let paths: Vec<ListItem> = paths.cloned().collect();
        self.note_readings(name, &folder.join(READINGS_NAME), &paths);
        Some(InlineRole {
            instructions: Some(instructions?),
            executor: Some(settings.executor()),
            required_readings: Some(paths.into_iter().map(|said| said.text).collect()),
            ..settings
        })
    }

    fn list(&mut self, path: &Path, form: ListFile) -> Option<Vec<ListItem>> {
        let hint = "an empty list is [] and must be written";
        let text = self.reader.text(path, hint)?;
        let (list, found) = parse_list(&text, &path.display().to_string(), form);
        self.reader.found.extend(found);
        list
    }

    fn note_readings(&mut self, name: &RoleName, file: &Path, said: &[ListItem]) {
        for said in said {
            let Some(path) = self.resolve(file, said) else {
                continue;
            };
            if !said.text.starts_with('$') {
                self.check_readable(file, &said.text, said.line, &path);
            }
            let known = self.readings.entry(name.clone()).or_default();
            if !known.insert(path) {
                let message = format!("`{}` is read twice", said.text);
                let code = Code::RepeatedReading;
                self.reader.error(code, file, said.line, message, None);
            }
        }
    }

    /// What a role owns must be there.
    fn check_ownership(&mut self, name: &RoleName) {
        let file = self.layout.roles().join(name.as_str());
        let file = file.join(OWNERSHIP_NAME);
        for said in self.list(&file, OWNERSHIP_FILE).unwrap_or_default() {
            let Some(path) = self.resolve(&file, &said) else {
                continue;
            };
            if let Err(why) = find_any_below(self.reader.disk, self.project, &path) {
                // A role may own what is still to be made.
                let message = format!("`{}` is owned, and cannot be found: {why}", said.text);
                let code = Code::Unreadable;
                self.reader.warning(code, &file, said.line, message, None);
            }
            self.owned.push(Owned {
                role: name.clone(),
                file: file.clone(),
                line: said.line,
                said: said.text,
                shared_with: said.shared_with,
                path: plain(&path),
            });
        }
    }

    /// A path has one owner. That a role owns a part of what another owns may be meant, and is a
    /// warning; two owners of the same path mean that neither is responsible.
    fn check_overlaps(&mut self) {
        let owned = std::mem::take(&mut self.owned);
        for (place, one) in owned.iter().enumerate() {
            let before = owned.iter().take(place);
            for other in before.filter(|other| other.role != one.role) {
                let same = one.path == other.path;
                let part = one.path.starts_with(&other.path) || other.path.starts_with(&one.path);
                if (!same && !part) || one.is_shared_with(other) {
                    continue;
                }
                let relation = if same {
                    "which is the same"
                } else if one.path.starts_with(&other.path) {
                    "of which this is a part"
                } else {
                    "which is a part of this"
                };
                let message = format!(
                    "`{}` is owned by {}, and {} owns `{}`, {relation}",
                    one.said, one.role, other.role, other.said
                );
                let hint = "let one role own it; the other one asks for what it needs".to_owned();
                let (code, file) = (Code::SharedOwnership, one.file.display().to_string());
                let found = Diagnostic::error(code, &file, one.line, message, Some(hint));
                let found = if same { found } else { found.as_warning() };
                self.reader.found.push(found);
            }
        }
    }

    fn canonical(&mut self, roles: ProjectRoles) -> Option<FlowFile> {
        let path = self.layout.workflow();
        let source = self.reader.text(&path, "write the project's graph there")?;
        // A role whose own files are broken has been reported there.
        let folder = self.layout.roles();
        let entries = self.reader.disk.list(&folder).unwrap_or_default();
        let known = entries
            .iter()
            .filter_map(|entry| RoleName::parse(&entry.name).ok());
        let known: BTreeSet<RoleName> = known.collect();
        let (file, found) = parse_with_roles(&source, &path.display().to_string(), &known);
        self.reader.found.extend(found);
        let file = file?;
        Some(FlowFile {
            path,
            source,
            graph: file.workflow,
            budget: file.budget,
            ends: file.ends,
            defines_roles: file.roles.is_some(),
            is_draft: false,
            roles: file.roles.unwrap_or(roles),
        })
    }

    /// Nodes read what is there, and not what their role has read already.
    fn check_readings(&mut self, graph: &FlowGraph) {
        let file = self.layout.workflow();
        for node in graph.nodes() {
            let known = self.readings.get(&base_role(&node.role)).cloned();
            for text in node.required_readings() {
                let said = ListItem {
                    text: text.clone(),
                    line: 0,
                    shared_with: Vec::new(),
                };
                let Some(path) = self.resolve(&file, &said) else {
                    continue;
                };
                if !text.starts_with('$') {
                    self.check_readable(&file, text, 0, &path);
                }
                if known.as_ref().is_some_and(|known| known.contains(&path)) {
                    let message = format!(
                        "`{}` asks for `{text}`, which its role {} has read already",
                        node.id, node.role
                    );
                    let hint = Some("leave it out there, or in the role's readings".to_owned());
                    let code = Code::RepeatedReading;
                    self.reader.error(code, &file, 0, message, hint);
                }
            }
        }
    }
}

/// A path without what means nothing in it.
fn plain(path: &str) -> PathBuf {
    let parts = Path::new(path).components();
    parts
        .filter(|part| *part != std::path::Component::CurDir)
        .collect()
}

/// A graph that was written for a flow that runs already, laid over the canonical one of its project
/// as long as that is sound. One that says everything itself stays as it was written.
///
/// # Errors
/// When the result cannot be written as YAML.
pub(crate) fn over_canonical_of(
    disk: &dyn Disk,
    project: &Path,
    own: FlowFile,
) -> Result<FlowFile, RenderFault> {
    let (Some(project), _) = inspect(disk, project) else {
        return Ok(own);
    };
    let laid = over_canonical(&project, own.clone())?;
    let same = laid.graph == own.graph && laid.budget == own.budget && laid.ends == own.ends;
    Ok(if same { own } else { laid })
}

/// A flow's own graph, laid over the canonical one of its project: where a node of it leaves a field
/// out, the canonical node of the same id speaks. A file that defines its roles speaks for itself.
///
/// # Errors
/// When the result cannot be written as YAML.
pub(crate) fn over_canonical(project: &Project, own: FlowFile) -> Result<FlowFile, RenderFault> {
    if own.defines_roles {
        return Ok(own);
    }
    let graph = overlay_graph(&project.canonical.graph, &own.graph);
    let whole = GraphFile {
        workflow: graph,
        roles: None,
        budget: own.budget.or_else(|| project.canonical.budget.clone()),
        ends: own.ends.or(project.canonical.ends),
    };
    Ok(FlowFile {
        path: own.path,
        source: to_yaml(&whole)?,
        graph: whole.workflow,
        budget: whole.budget,
        ends: whole.ends,
        roles: project.canonical.roles.clone(),
        defines_roles: false,
        is_draft: own.is_draft,
    })
}
