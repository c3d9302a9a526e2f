//! The folders that are open, and which of them a path belongs to.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use a_society_facts::id::FlowId;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::super::Scope;
use super::super::refusal::CallRefusal;
use super::super::setting::ToolSetting;
use super::floor::{Floor, floor};
use super::open::real_path;
use super::path::{Located, ParsedPath, RECORD, out_of_reach, parse, unreached};
use crate::role::former::within_record;

/// The folder of the record in which whole outputs of calls are kept.
pub(in super::super) const KEPT_OUTPUTS: &str = ".outputs";

/// The folders that are open, in the order in which a path is tried with them.
#[derive(Debug)]
pub(in super::super) struct Roots {
    roots: Vec<Root>,
    project: PathBuf,
    /// The flow and those it was forked from, by which its shared folder is known in older paths.
    lineage: Vec<FlowId>,
}

/// One folder.
#[derive(Debug)]
pub(in super::super) struct Root {
    /// What everything below is resolved from.
    pub(super) folder: OwnedFd,
    /// Its path without links.
    pub(super) path: PathBuf,
    /// Its path as it was given.
    given: PathBuf,
    /// Whether files may be written in it.
    pub(super) is_writable: bool,
    /// Whether it is the whole system.
    is_all: bool,
    kind: RootKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootKind {
    Record,
    Project,
    Other,
}

impl Roots {
    /// Opens the folders of a setting.
    pub(in super::super) fn open(setting: &ToolSetting) -> Result<Self, String> {
        // The record folder comes first: it may lie within the project.
        let mut roots = vec![
            Root::open(&setting.record, RootKind::Record)?,
            Root::open(&setting.project, RootKind::Project)?,
        ];
        let project = roots
            .last()
            .map(|root| root.path.clone())
            .unwrap_or_default();
        for path in &setting.readable {
            roots.push(Root::open(path, RootKind::Other)?);
        }
        if setting.scope >= Scope::Project {
            for path in &setting.extra {
                roots.push(Root::open(path, RootKind::Other)?);
            }
        }
        if setting.scope == Scope::Full {
            roots.push(Root::open(Path::new("/"), RootKind::Other)?);
        }
        Ok(Self {
            roots,
            project,
            lineage: setting.lineage.clone(),
        })
    }

    /// Finds the folder to which a path belongs.
    pub(in super::super) fn locate(&self, text: &str) -> Result<Located, CallRefusal> {
        // Flows are moved, copied, forked and imported; their shared folder is known by their name.
        let moved = within_record(text, &self.lineage);
        let full = match parse(moved.as_deref().unwrap_or(text))? {
            ParsedPath::Record(names) => self.record().join(names.iter().collect::<PathBuf>()),
            ParsedPath::Absolute(names) => Path::new("/").join(names.iter().collect::<PathBuf>()),
            ParsedPath::Relative(names) => self.project.join(names.iter().collect::<PathBuf>()),
        };
        let of_root = |(index, root): (usize, &Root)| {
            let rest = full
                .strip_prefix(&root.path)
                .or_else(|_| full.strip_prefix(&root.given))
                .ok()?;
            Some((index, rest.to_owned()))
        };
        let found = self.roots.iter().enumerate().filter_map(of_root);
        // Folders may lie within one another; the innermost decides. Of two that are the same, the
        // first, which may be written.
        let innermost = found.min_by_key(|(_, rest)| rest.components().count());
        let Some((root, rest)) = innermost else {
            return Err(self.unreached(text));
        };
        let shown = self.shown(root, &rest);
        let located = Located { root, rest, shown };
        // A closed path is not even opened, so that its existence is not revealed.
        if self.floor_of(&located, &located.rest) == Floor::Closed {
            return Err(closed(&located));
        }
        Ok(located)
    }

    /// The refusal of a path that belongs to no folder.
    fn unreached(&self, text: &str) -> CallRefusal {
        let mut refusal = unreached(text);
        let others = self.readable();
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(|it| it.display().to_string()).collect();
            refusal.text = format!("{} Also read: {}.", refusal.text, others.join(", "));
        }
        refusal
    }

    pub(super) fn root(&self, located: &Located) -> Result<&Root, CallRefusal> {
        let root = self.roots.get(located.root);
        root.ok_or_else(|| out_of_reach("The folder is not open."))
    }

    pub(super) fn record_root(&self) -> Option<&Root> {
        self.roots.iter().find(|root| root.kind == RootKind::Record)
    }

    /// The path under which a file is written by tools; nothing if none writes it.
    pub(in super::super) fn named(&self, real: &Path) -> Option<String> {
        let path = match real.strip_prefix(self.record()) {
            Ok(rest) => Path::new(RECORD).join(rest),
            Err(_) => from_project(real.strip_prefix(&self.project).ok()?),
        };
        path.to_str().map(str::to_owned)
    }

    /// The path that a file has if no link leads to it.
    pub(in super::super) fn real(&self, located: &Located) -> PathBuf {
        let root = self.roots.get(located.root);
        root.map_or_else(PathBuf::new, |root| root.path.join(&located.rest))
    }

    /// The folder of the project, without links.
    pub(in super::super) fn project(&self) -> &Path {
        &self.project
    }

    /// The folder of the record, without links.
    pub(in super::super) fn record(&self) -> &Path {
        let record = self.record_root();
        record.map_or(Path::new("/"), |root| &root.path)
    }

    /// The folders besides these two that may be read.
    pub(in super::super) fn readable(&self) -> Vec<PathBuf> {
        let others = self
            .roots
            .iter()
            .filter(|root| root.kind == RootKind::Other);
        others.map(|root| root.path.clone()).collect()
    }

    /// Whether a path belongs to the record folder.
    pub(in super::super) fn is_record(&self, located: &Located) -> bool {
        let root = self.roots.get(located.root);
        root.is_some_and(|root| root.kind == RootKind::Record)
    }

    /// Whether files may be written there.
    pub(in super::super) fn is_writable(&self, located: &Located) -> bool {
        self.roots
            .get(located.root)
            .is_some_and(|root| root.is_writable)
    }

    /// Whether this is the graph of the flow.
    pub(in super::super) fn is_workflow(&self, located: &Located) -> bool {
        let is_record = self.is_record(located);
        let name = located.rest.to_string_lossy().to_lowercase();
        is_record && (name == "workflow.yaml" || name == "workflow.yml")
    }

    /// Whether this is a file of the record folder that only the runtime writes.
    pub(in super::super) fn is_ours(&self, located: &Located) -> bool {
        let is_record = self.is_record(located);
        let name = located.rest.to_string_lossy().to_lowercase();
        is_record
            && (name == "record.yaml"
                || name == "improvement.yaml"
                || self.is_kept(located, &located.rest))
    }

    /// Whether this is the folder of the record in which outputs are kept. It is read, and not listed.
    pub(in super::super) fn is_kept(&self, located: &Located, rest: &Path) -> bool {
        self.is_record(located) && rest.starts_with(KEPT_OUTPUTS)
    }

    /// The floor of what was opened, by the path that it really has.
    pub(super) fn judge(&self, located: &Located, real: &Path) -> Result<Floor, CallRefusal> {
        let record = self.record();
        if let Ok(rest) = real.strip_prefix(record) {
            return Ok(floor(rest));
        }
        let root = self.root(located)?;
        let Ok(rest) = real.strip_prefix(&root.path) else {
            return Err(out_of_reach(format!(
                "{} leads out of the folders that are in reach.",
                located.shown
            )));
        };
        Ok(self.floor_of(located, rest))
    }

    pub(in super::super) fn floor_of(&self, located: &Located, rest: &Path) -> Floor {
        let Some(root) = self.roots.get(located.root) else {
            return Floor::Closed;
        };
        let first = rest.components().next().map(|it| it.as_os_str().to_owned());
        let is_system = ["proc", "sys", "dev", "run"]
            .iter()
            .any(|name| first.as_deref() == Some((*name).as_ref()));
        if root.is_all && is_system {
            return Floor::Closed;
        }
        // The lowest floor counts: what may not be written here is at most read.
        let highest = if root.is_writable {
            Floor::Open
        } else {
            Floor::ReadOnly
        };
        floor(rest).max(highest)
    }

    fn shown(&self, root: usize, rest: &Path) -> String {
        let Some(root) = self.roots.get(root) else {
            return String::new();
        };
        let path = match root.kind {
            RootKind::Project => from_project(rest),
            RootKind::Record if rest.as_os_str().is_empty() => PathBuf::from(RECORD),
            RootKind::Record => Path::new(RECORD).join(rest),
            RootKind::Other => {
                let path = root.path.join(rest);
                (path.strip_prefix(&self.project)).map_or_else(|_| path.clone(), from_project)
            }
        };
        path.to_string_lossy().into_owned()
    }
}

impl Root {
    fn open(path: &Path, kind: RootKind) -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty())
            .map_err(|why| format!("{} could not be opened: {why}.", path.display()))?;
        let real = real_path(&folder).unwrap_or_else(|| path.to_owned());
        Ok(Self {
            folder,
            path: real,
            given: path.to_owned(),
            is_writable: kind != RootKind::Other,
            is_all: path == Path::new("/"),
            kind,
        })
    }
}

/// A path as it is written from the project folder.
fn from_project(rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() {
        return PathBuf::from(".");
    }
    // Else it would be one of the flow's shared folder.
    if rest.starts_with(RECORD) {
        return Path::new(".").join(rest);
    }
    rest.to_owned()
}

pub(super) fn closed(located: &Located) -> CallRefusal {
    out_of_reach(format!(
        "{} is out of reach for every tool: the state of flows, the inside of repositories, keys, \
         and files that shells run by themselves.",
        located.shown
    ))
}
