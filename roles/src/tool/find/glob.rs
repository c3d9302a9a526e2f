//! Finding files by their paths.

use std::ops::ControlFlow;
use std::path::PathBuf;

use a_society_base::stop::StopSignal;

use super::super::files::{self, InodeKind, Located, OpenEntry};
use super::super::limits;
use super::super::output::ToolOutput;
use super::super::refusal::CallRefusal;
use super::super::toolbox::Toolbox;
use super::notes::{ended, left_deep, nothing};
use super::query::Glob;
use super::walk::{FolderWalk, shown};
use crate::number::grouped;

/// A file that was found: when it was changed, and its path. The newest is the least.
type GlobMatch = (std::cmp::Reverse<(i64, u64)>, PathBuf);

impl Toolbox {
    /// Finds the files below a folder whose paths fit, the newest first.
    pub(in super::super) fn glob(
        &self,
        entry: &OpenEntry,
        located: &Located,
        glob: &Glob,
        stop: &StopSignal,
    ) -> Result<ToolOutput, CallRefusal> {
        if files::stat_kind(&entry.stat) != InodeKind::Folder {
            let text = format!(
                "{} is not a folder; name one, or use read_file.",
                located.shown
            );
            return Err(files::impossible(text));
        }
        let mut walk = FolderWalk::new(&self.0.roots, located, false, stop);
        let (mut looked_at, mut fitting) = (0, 0);
        let mut found: Vec<GlobMatch> = Vec::new();
        walk.run(&entry.file, &mut |step| {
            looked_at += 1;
            let below = step.rest.strip_prefix(&located.rest).unwrap_or(step.rest);
            if glob.pattern.fits(below)
                && let Some(stat) = files::child(step.folder, step.name)
            {
                fitting += 1;
                let changed = (stat.st_mtime, stat.st_mtime_nsec);
                found.push((std::cmp::Reverse(changed), below.to_owned()));
                if found.len() >= limits::GLOB_HELD {
                    newest(&mut found);
                }
            }
            ControlFlow::Continue(())
        });
        newest(&mut found);
        let mut body = String::new();
        for (_, path) in &found {
            body.push_str(&shown(located, path));
            body.push('\n');
        }
        let mut tail = String::new();
        let is_more = fitting > found.len();
        if fitting == 0 {
            tail = nothing(looked_at, walk.ignored);
        } else if is_more {
            let (some, all) = (found.len(), grouped(fitting));
            tail = format!("[the newest {some} of {all} files; narrow pattern or path]\n");
        }
        if walk.leaves_deep {
            tail.push_str(&left_deep());
        }
        let is_cut = is_more || walk.leaves_deep || walk.ended.is_some();
        if let Some(why) = &walk.ended {
            tail.push_str(&ended(why));
        }
        Ok(ToolOutput {
            body,
            tail,
            is_cut,
            ..ToolOutput::default()
        })
    }
}

/// Keeps the newest that are shown.
fn newest(found: &mut Vec<GlobMatch>) {
    found.sort_unstable();
    found.truncate(limits::GLOB_FILES);
}
