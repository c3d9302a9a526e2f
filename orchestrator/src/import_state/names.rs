//! What the files of a flow are called here and there.
//!
//! Paths were written from the folder of the workspace; here they are written from the record
//! folder or from the project's.

use std::collections::BTreeMap;

use a_society_facts::Hash;
use a_society_facts::fact::imported::PassedFile;
use a_society_facts::handoff::{Artifact, HandoffWay};
use a_society_facts::limits::INLINE_ARTIFACT_BYTES_MAX;
use a_society_state::disk::Disk;

use super::sketch::ImportSketch;
use super::source::ForeignFlow;
use crate::record::{Places, RECORD, RefusedPath, find};

/// The names of one flow's files.
#[derive(Debug)]
pub(super) struct Names {
    places: Places,
    /// The prefixes of paths in the record folder.
    record: Vec<String>,
    /// The prefixes of paths in the project.
    project: Vec<String>,
    /// What each file was called there.
    there: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of(source: &ForeignFlow) -> Self {
        let (project, flow) = (&source.flow.project, &source.flow.flow);
        let inside = format!(".a-society/state/{project}/{flow}/record/");
        let root = source.run.workspace_root.as_deref();
        let root = root.map(|root| format!("{}/", root.trim_end_matches('/')));
        let said = source.run.record_folder_path.as_deref();
        let said = said.map(|said| format!("{}/", said.trim_end_matches('/')));
        let mut record = vec![inside.clone()];
        let mut projects = vec![format!("{project}/")];
        if let Some(root) = &root {
            record.push(format!("{root}{inside}"));
            projects.push(format!("{root}{project}/"));
        }
        if let Some(said) = said {
            let relative = root.as_ref().and_then(|root| said.strip_prefix(root));
            record.extend(relative.map(str::to_owned));
            record.push(said);
        }
        Self {
            places: Places {
                record: source.found.place.join("record"),
                project: source.found.project_folder.clone(),
                lineage: vec![flow.clone()],
            },
            record,
            project: projects,
            there: BTreeMap::new(),
        }
    }

    /// What a file is called here.
    pub(super) fn here(&mut self, written: &str) -> String {
        let is_record = |before: &String| written.starts_with(before.as_str());
        let within = self.within(written);
        let here = if within != written && self.record.iter().any(is_record) {
            format!("{RECORD}{within}")
        } else {
            within.to_owned()
        };
        self.there
            .entry(here.clone())
            .or_insert_with(|| written.to_owned());
        here
    }

    /// A path without its prefix.
    pub(super) fn within<'w>(&self, written: &'w str) -> &'w str {
        let rest = |before: &String| written.strip_prefix(before.as_str());
        let prefixes = self.record.iter().chain(&self.project);
        let rest = prefixes.filter_map(rest).find(|rest| !rest.is_empty());
        rest.unwrap_or(written)
    }

    /// What a file was called there.
    pub(super) fn there(&self, here: &str) -> String {
        self.there
            .get(here)
            .cloned()
            .unwrap_or_else(|| here.to_owned())
    }

    /// A file that had been passed along an edge, as it is now; nothing if it is no longer there.
    pub(super) fn file(
        &self,
        disk: &dyn Disk,
        sketch: &mut ImportSketch<'_>,
        way: HandoffWay,
        path: &str,
    ) -> Option<PassedFile> {
        let found = find(disk, &self.places, path).ok()?;
        Some(PassedFile {
            way,
            path: path.to_owned(),
            bytes: found.bytes.len() as u64,
            blob: sketch.keep(found.bytes),
        })
    }

    /// A file that was handed over, with what it holds now.
    pub(super) fn artifact(
        &mut self,
        disk: &dyn Disk,
        sketch: &mut ImportSketch<'_>,
        written: &str,
    ) -> Artifact {
        let path = self.here(written);
        let bytes = match find(disk, &self.places, &path) {
            Ok(found) => found.bytes,
            Err(RefusedPath { why, .. }) => {
                sketch.left.push(format!("{written}: {why}"));
                format!("({written} could not be read when the flow was imported: {why})").into()
            }
        };
        let short = bytes.len() <= INLINE_ARTIFACT_BYTES_MAX;
        let text = short
            .then(|| String::from_utf8(bytes.clone()).ok())
            .flatten();
        let (hash, size) = (Hash::of(&bytes), bytes.len() as u64);
        if text.is_none() {
            sketch.keep(bytes);
        }
        Artifact {
            path,
            hash,
            bytes: size,
            text,
        }
    }
}
