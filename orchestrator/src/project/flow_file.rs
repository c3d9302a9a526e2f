//! A flow from one self-contained file: its graph, its roles, and perhaps its script.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a_society_flow::graph::{Diagnostic, FlowGraph, GraphFile, InlineRole, RoleName, parse_file};
use a_society_roles::taker::scripted::ScriptFault;

/// The name of the script that lies beside a flow file.
pub const SCRIPT_NAME: &str = "script.yaml";

/// The snapshot of the graph in the record folder.
pub const SNAPSHOT_NAME: &str = "workflow.yaml";

/// A flow file, read and sound.
#[derive(Debug, Clone)]
pub struct FlowFile {
    /// Where it was read.
    pub path: PathBuf,
    /// What it says, byte for byte.
    pub source: String,
    /// Its graph.
    pub graph: FlowGraph,
    /// Its roles.
    pub roles: BTreeMap<RoleName, InlineRole>,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
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

/// What a flow file says, and everything that is remarkable about it.
#[must_use]
pub fn inspect(path: &Path, source: String) -> (Option<FlowFile>, Vec<Diagnostic>) {
    let (file, diagnostics) = parse_file(&source, &path.display().to_string());
    let file = file.map(|GraphFile { workflow, roles }| FlowFile {
        path: path.to_owned(),
        source,
        graph: workflow,
        roles: roles.unwrap_or_default(),
    });
    (file, diagnostics)
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
