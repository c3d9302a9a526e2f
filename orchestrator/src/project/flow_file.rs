//! A flow from one self-contained file: its graph, its roles, and perhaps its script.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use a_society_flow::graph::{
    Diagnostic, FlowDefaults, FlowGraph, GraphFile, InlineRole, RoleBudget, RoleName, parse_file,
    parse_with_roles,
};
use a_society_roles::taker::scripted::{RoleScript, ScriptFault};
use a_society_state::disk::Disk;
use a_society_state::files::read_whole;

use crate::limits::FLOW_FILE_BYTES_MAX;

/// The name of the script beside a flow file.
pub const SCRIPT_NAME: &str = "script.yaml";

/// The snapshot of the graph in the record folder.
pub(crate) const SNAPSHOT_NAME: &str = "workflow.yaml";

/// A flow file, read and sound.
#[derive(Debug, Clone)]
pub struct FlowFile {
    /// Where it was read.
    pub path: PathBuf,
    /// What it says, byte for byte.
    pub source: String,
    /// Its graph.
    pub graph: FlowGraph,
    /// The roles that its flow walks with: its own, or those of its project.
    pub roles: BTreeMap<RoleName, InlineRole>,
    /// What its whole flow may spend.
    pub budget: Option<RoleBudget>,
    /// How the flow ends, where the file says it.
    pub ends: FlowDefaults,
    /// Whether the file defines its roles itself.
    pub defines_roles: bool,
    /// Whether the graph is a draft, which its owner still has to write.
    pub is_draft: bool,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] a_society_state::Error),
    /// It is not text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// It is not a flow.
    #[error("{} is not a flow file", path.display())]
    NotAFlow {
        /// Where.
        path: PathBuf,
        /// Everything that is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// It is not a script.
    #[error("{} is not a script", path.display())]
    NotAScript {
        /// Where.
        path: PathBuf,
        /// Everything that is wrong with it.
        faults: Vec<ScriptFault>,
    },
}

fn text(disk: &dyn Disk, path: &Path) -> Result<String, FileError> {
    let bytes = read_whole(disk, path, FLOW_FILE_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| FileError::NotText(path.to_owned()))
}

/// What a flow file says, and everything that is remarkable about it.
#[must_use]
pub fn inspect(path: &Path, source: String) -> (Option<FlowFile>, Vec<Diagnostic>) {
    let (file, diagnostics) = parse_file(&source, &path.display().to_string());
    whole(path, source, file, diagnostics)
}

/// What the snapshot of a flow says whose roles are known, unless it defines them itself.
#[must_use]
pub(crate) fn inspect_with_roles(
    source: String,
    known: &BTreeSet<RoleName>,
) -> (Option<FlowFile>, Vec<Diagnostic>) {
    let (file, diagnostics) = parse_with_roles(&source, SNAPSHOT_NAME, known);
    whole(Path::new(SNAPSHOT_NAME), source, file, diagnostics)
}

fn whole(
    path: &Path,
    source: String,
    file: Option<GraphFile>,
    diagnostics: Vec<Diagnostic>,
) -> (Option<FlowFile>, Vec<Diagnostic>) {
    let file = file.map(
        |GraphFile {
             workflow,
             roles,
             budget,
             ends,
         }| FlowFile {
            path: path.to_owned(),
            source,
            graph: workflow,
            budget,
            ends,
            defines_roles: roles.is_some(),
            is_draft: false,
            roles: roles.unwrap_or_default(),
        },
    );
    (file, diagnostics)
}

/// Reads a flow file.
///
/// # Errors
/// When it cannot be read, or with everything that is wrong with it.
pub fn read(disk: &dyn Disk, path: &Path) -> Result<FlowFile, FileError> {
    read_as(disk, path, path)
}

/// Reads a flow file that is called otherwise than its path.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_as(disk: &dyn Disk, path: &Path, called: &Path) -> Result<FlowFile, FileError> {
    let (file, diagnostics) = inspect(called, text(disk, path)?);
    let path = called.to_owned();
    file.ok_or(FileError::NotAFlow { path, diagnostics })
}

/// Reads a flow that was read before and is kept as text.
///
/// # Errors
/// With everything that is wrong with it.
pub fn read_kept(source: String) -> Result<FlowFile, FileError> {
    let path = PathBuf::from(SNAPSHOT_NAME);
    let (file, diagnostics) = inspect(&path, source);
    file.ok_or(FileError::NotAFlow { path, diagnostics })
}

/// Reads a script.
///
/// # Errors
/// When it cannot be read, or with everything that is wrong with it.
pub fn read_script(disk: &dyn Disk, path: &Path) -> Result<(RoleScript, String), FileError> {
    let source = text(disk, path)?;
    let script = RoleScript::parse(&source).map_err(|faults| FileError::NotAScript {
        path: path.to_owned(),
        faults,
    })?;
    Ok((script, source))
}
