//! Finding and reading the flows of another program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use a_society_facts::At;
use a_society_facts::fact::imported::ImportedItem;
use a_society_facts::id::RoleInstance;
use a_society_flow::graph::Diagnostic;
use a_society_state::OUR_FOLDER;
use a_society_state::disk::{Disk, Kind};
use a_society_state::files::read_whole;
use a_society_state::{FlowRef, Store};
use serde_json::Value;

use super::version11::{FlowRun, RoleSession, STATE_VERSION};
use crate::limits::{IMPORTED_FILE_BYTES_MAX, RECORD_DEPTH_MAX, RECORD_FILES_MAX};
use crate::project::flow_file::{FileError, FlowFile, SNAPSHOT_NAME, read_kept};

/// Where flows are kept, as they were read, when their path was needed for the imported flow.
const ASIDE: &str = ".before-import";
/// How many names one flow may have there; more than two need several power cuts.
const ASIDES_MAX: u32 = 10;

/// A folder that holds a flow of another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFolder {
    /// The folder.
    pub place: PathBuf,
    /// The folder of its project, which its roles work on.
    pub project_folder: PathBuf,
}

/// The flows of another program in a folder: a workspace, a folder of state, or one flow's folder.
///
/// # Errors
/// When the folder cannot be listed.
pub fn find(disk: &dyn Disk, folder: &Path) -> Result<Vec<ForeignFolder>, a_society_state::Error> {
    let is_file = |path: &Path| disk.about(path).is_ok_and(|about| about.kind == Kind::File);
    if is_file(&folder.join("flow.json")) {
        return Ok(vec![found(folder)]);
    }
    let ours = folder.join(OUR_FOLDER).join("state");
    let root = if is_folder(disk, &ours) {
        ours
    } else {
        folder.to_owned()
    };
    let mut places = BTreeMap::new();
    // A flow at its own path comes first: a power cut may have left it there and set it aside.
    for root in [root.clone(), root.join(ASIDE)] {
        for project in folders(disk, &root)? {
            for flow in folders(disk, &project)? {
                let of_others = !is_folder(disk, &flow.join("journal"))
                    && (is_file(&flow.join("flow.json")) || is_folder(disk, &flow.join("roles")));
                if of_others {
                    let name = flow.strip_prefix(&root).unwrap_or(&flow).to_owned();
                    places.entry(name).or_insert_with(|| found(&flow));
                }
            }
        }
    }
    Ok(places.into_values().collect())
}

fn is_folder(disk: &dyn Disk, path: &Path) -> bool {
    disk.about(path)
        .is_ok_and(|about| about.kind == Kind::Folder)
}

/// The folders in a folder that may hold flows; none if it is not there.
fn folders(disk: &dyn Disk, folder: &Path) -> Result<Vec<PathBuf>, a_society_state::Error> {
    if !is_folder(disk, folder) {
        return Ok(Vec::new());
    }
    let entries = disk
        .list(folder)
        .map_err(|error| a_society_state::Error::io("list", folder, error))?;
    let plain = entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with(['.', '_']));
    Ok(plain.map(|entry| folder.join(entry.name)).collect())
}

/// A flow's folder is in its project's, that in the state, and that in the workspace.
fn found(place: &Path) -> ForeignFolder {
    let is_aside = |part: &Path| part.file_name().is_some_and(|name| name == ASIDE);
    let aside = place.ancestors().nth(2).is_some_and(is_aside);
    let workspace = place.ancestors().nth(if aside { 5 } else { 4 });
    let project = place.parent().and_then(Path::file_name);
    let folder = workspace.zip(project).map(|(root, name)| root.join(name));
    ForeignFolder {
        place: place.to_owned(),
        project_folder: folder.unwrap_or_else(|| place.to_owned()),
    }
}

/// Where a flow goes that has the path of the imported one: under its own name, unless a
/// power cut left it there and here.
pub(super) fn aside(store: &Store, disk: &dyn Disk, flow: &FlowRef) -> PathBuf {
    let folder = store.root().join(ASIDE).join(flow.project.as_str());
    let own = folder.join(flow.flow.as_str());
    let others = (2..ASIDES_MAX).map(|number| folder.join(format!("{}.{number}", flow.flow)));
    let mut places = std::iter::once(own.clone()).chain(others);
    let free = places.find(|place| disk.about(place).is_err());
    free.unwrap_or(own)
}

/// What the other program kept for all its flows in the workspace of these, which is not taken over.
pub fn beside(disk: &dyn Disk, all: &[ForeignFolder]) -> Vec<PathBuf> {
    let workspaces = all.iter().filter_map(|found| found.project_folder.parent());
    let workspaces: BTreeSet<&Path> = workspaces.collect();
    let names = ["settings.json", "secrets.json", "skills"];
    let each = |workspace: &Path| names.map(|name| workspace.join(OUR_FOLDER).join(name));
    let paths = workspaces.into_iter().flat_map(each);
    paths.filter(|path| disk.about(path).is_ok()).collect()
}

/// A file of a flow, by its path in the flow's folder.
#[derive(Debug)]
pub(super) struct ForeignFile {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

/// A flow as its files say it.
#[derive(Debug)]
pub(super) struct ForeignFlow {
    pub(super) found: ForeignFolder,
    pub(super) flow: FlowRef,
    pub(super) run: FlowRun,
    /// `flow.json` with all of its members.
    pub(super) json: Value,
    pub(super) sessions: BTreeMap<RoleInstance, (RoleSession, Value)>,
    pub(super) feeds: BTreeMap<RoleInstance, (Vec<ImportedItem>, Value)>,
    /// Every file but those of the record folder.
    pub(super) files: Vec<ForeignFile>,
    /// The files of the record folder, by their paths in it.
    pub(super) record: Vec<String>,
    /// When `flow.json` was written last.
    pub(super) written: At,
    /// What of the folder is not taken, and why.
    pub(super) left: Vec<String>,
    pub(super) graph: FlowFile,
    /// What is wrong with its project before it goes on here; absent if it was not checked.
    pub(super) ailments: Option<Vec<String>>,
}

/// Reads a flow.
///
/// # Errors
/// Says in words what cannot be read, or is not of a version that is known.
pub(super) fn read(disk: &dyn Disk, found: &ForeignFolder) -> Result<ForeignFlow, String> {
    let mut files = Vec::new();
    let mut left = Vec::new();
    gather(disk, &found.place, "", &mut files, &mut left)?;
    let flow_json = files.iter().find(|file| file.path == "flow.json");
    let Some(ForeignFile { bytes, .. }) = flow_json else {
        return Err("it has no flow.json, so that nothing says how it stood".to_owned());
    };
    let json: Value = parse("flow.json", bytes)?;
    of_known_version(&json)?;
    let run: FlowRun = parse("flow.json", bytes)?;
    let name = |bad: a_society_facts::id::BadName| format!("flow.json: {bad}");
    let flow = FlowRef {
        project: run.project_namespace.parse().map_err(name)?,
        flow: run.flow_id.parse().map_err(name)?,
    };
    let (mut sessions, mut feeds) = (BTreeMap::new(), BTreeMap::new());
    for ForeignFile { path, bytes } in &files {
        let Some((role, file)) = of_role(path) else {
            continue;
        };
        let role: RoleInstance = role.parse().map_err(|bad| format!("{path}: {bad}"))?;
        match file {
            "transcript.json" => {
                sessions.insert(role, (parse(path, bytes)?, parse(path, bytes)?));
            }
            "feed.json" => {
                feeds.insert(role, (parse(path, bytes)?, parse(path, bytes)?));
            }
            _ => {}
        }
    }
    let mut record = Vec::new();
    list_record(
        disk,
        &found.place.join("record"),
        "",
        0,
        &mut record,
        &mut left,
    )?;
    let graph = snapshot(disk, &found.place)?;
    let about = disk.about(&found.place.join("flow.json"));
    let about = about.map_err(|error| format!("flow.json: {error}"))?;
    Ok(ForeignFlow {
        written: At::from_ms(about.modified_ms),
        found: found.clone(),
        flow,
        run,
        json,
        sessions,
        feeds,
        files,
        record,
        left,
        graph,
        ailments: None,
    })
}

fn of_known_version(json: &Value) -> Result<(), String> {
    let version = match json.get("stateVersion") {
        Some(Value::String(version)) => version.clone(),
        Some(other) => other.to_string(),
        None => return Err("flow.json names no stateVersion".to_owned()),
    };
    if version == STATE_VERSION {
        return Ok(());
    }
    Err(format!(
        "it is kept in state version {version}, and only {STATE_VERSION} is read here"
    ))
}

fn parse<T: serde::de::DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| {
        let how = match error.classify() {
            serde_json::error::Category::Eof => "ends in the middle",
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => "is no JSON",
            serde_json::error::Category::Data => "does not say what such a file says",
        };
        format!("{path} {how}: {error}")
    })
}

fn of_role(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("roles/")?.split_once('/')
}

/// Reads the flow's own files: those at its root and those of its roles.
fn gather(
    disk: &dyn Disk,
    folder: &Path,
    below: &str,
    files: &mut Vec<ForeignFile>,
    left: &mut Vec<String>,
) -> Result<(), String> {
    let entries = disk.list(folder).map_err(|e| format!("{below}: {e}"))?;
    for entry in entries {
        let path = folder.join(&entry.name);
        let name = format!("{below}{}", entry.name);
        match entry.kind {
            Kind::File => {
                let bytes = read_whole(disk, &path, IMPORTED_FILE_BYTES_MAX);
                files.push(ForeignFile {
                    path: name,
                    bytes: bytes.map_err(|error| error.to_string())?,
                });
            }
            Kind::Folder if name == "record" => {}
            Kind::Folder if name == "roles" || below == "roles/" => {
                gather(disk, &path, &format!("{name}/"), files, left)?;
            }
            Kind::Folder => left.push(format!("{name}/: it is no folder of a flow")),
            Kind::Other => left.push(format!("{name}: it is a link or a device")),
        }
        if files.len() > RECORD_FILES_MAX {
            return Err(format!("it has more than {RECORD_FILES_MAX} files"));
        }
    }
    Ok(())
}

fn list_record(
    disk: &dyn Disk,
    folder: &Path,
    below: &str,
    depth: usize,
    found: &mut Vec<String>,
    left: &mut Vec<String>,
) -> Result<(), String> {
    if !is_folder(disk, folder) {
        return Ok(());
    }
    let entries = disk
        .list(folder)
        .map_err(|e| format!("record/{below}: {e}"))?;
    for entry in entries {
        let name = format!("{below}{}", entry.name);
        match entry.kind {
            Kind::File => found.push(name),
            Kind::Folder if depth < RECORD_DEPTH_MAX => {
                let inner = folder.join(&entry.name);
                list_record(disk, &inner, &format!("{name}/"), depth + 1, found, left)?;
            }
            Kind::Folder => left.push(format!("record/{name}/: it is nested too deeply")),
            Kind::Other => left.push(format!("record/{name}: it is a link or a device")),
        }
        if found.len() > RECORD_FILES_MAX {
            return Err(format!("its record has more than {RECORD_FILES_MAX} files"));
        }
    }
    Ok(())
}

/// The graph that the flow walks.
fn snapshot(disk: &dyn Disk, place: &Path) -> Result<FlowFile, String> {
    let shown = format!("record/{SNAPSHOT_NAME}");
    let path = place.join("record").join(SNAPSHOT_NAME);
    let bytes = read_whole(disk, &path, crate::limits::FLOW_FILE_BYTES_MAX)
        .map_err(|error| format!("its graph cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8 text"))?;
    read_kept(text).map_err(|error| match error {
        FileError::NotAFlow { diagnostics, .. } => {
            let mut said: BTreeSet<String> = diagnostics.iter().map(told).collect();
            let first = said.pop_first().unwrap_or_default();
            match said.len() {
                0 => format!("{shown} is no graph: {first}"),
                more => format!("{shown} is no graph: {first}, and {more} more"),
            }
        }
        FileError::Read(_) | FileError::NotText(_) | FileError::NotAScript { .. } => {
            error.to_string()
        }
    })
}

fn told(diagnostic: &Diagnostic) -> String {
    format!("{} (line {})", diagnostic.message, diagnostic.line)
}
