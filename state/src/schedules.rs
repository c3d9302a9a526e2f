//! What was decided about schedules: up to which moment, and which runs began.
//!
//! That a run exists is true in the journal of its flow, whose id is made of the schedule and the due time. What has a
//! home here alone is up to which due time there is nothing left to decide, so that a run that was skipped, or whose flow
//! was removed, does not begin later. It moves on only when the first record of a run is durable; a process that ended
//! in between decides the same due time again, and finds the flow.

use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::id::{FlowId, ProjectName};
use serde::{Deserialize, Serialize};

use crate::atomic::replace_durably;
use crate::disk::{DiskFile, How, Locked, SharedDisk};
use crate::error::Error;
use crate::files::{make_folders, read_whole, uninterrupted};
use crate::flow_ref::FlowRef;
use crate::limits::SCHEDULE_BYTES_MAX;
use crate::store::Store;

/// The folder beside the projects; no project has a name that begins so.
const FOLDER: &str = ".schedules";

/// The only version so far.
const VERSION: u32 = 1;

/// What was decided about one schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleProgress {
    v: u32,
    /// The timing that it is about, as text.
    pub timing: String,
    /// There is nothing left to decide up to here.
    pub decided: At,
    /// Runs that began, the last ones, in the order of their due times.
    pub runs: Vec<ScheduledRun>,
    /// What was missed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<MissedRuns>,
    /// What could not begin last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedRun>,
}

/// A run that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledRun {
    /// When it was due.
    pub due: At,
    /// The project of its flow.
    pub project: ProjectName,
    /// Its flow.
    pub flow: FlowId,
}

impl ScheduledRun {
    /// The address of its flow.
    #[must_use]
    pub fn address(&self) -> FlowRef {
        FlowRef {
            project: self.project.clone(),
            flow: self.flow.clone(),
        }
    }
}

/// Due times at which nothing began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedRuns {
    /// How many. Of very many, as many as are counted.
    pub count: u64,
    /// The first of them.
    pub first: At,
    /// The last of them.
    pub last: At,
    /// Whether one run makes up for them.
    pub made_up: bool,
}

/// A due time at which nothing could begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// The due time.
    pub due: At,
    /// Why not, in words.
    pub why: String,
}

impl ScheduleProgress {
    /// A schedule of which nothing was decided yet but what came up to this moment.
    #[must_use]
    pub const fn from(timing: String, decided: At) -> Self {
        Self {
            v: VERSION,
            timing,
            decided,
            runs: Vec::new(),
            missed: None,
            failed: None,
        }
    }
}

/// What was decided about the schedules of a workspace.
#[derive(Debug)]
pub struct ScheduleFiles {
    disk: SharedDisk,
    folder: PathBuf,
}

/// A right that one process has at a time, such as to run schedules: given back when it is dropped, and by the kernel when the process ends.
#[derive(Debug)]
pub struct SchedulesLock(#[expect(dead_code, reason = "it is held")] Box<dyn DiskFile>);

impl ScheduleFiles {
    /// Those of a workspace.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self {
            disk: Arc::clone(&store.ground().disk),
            folder: store.root().join(FOLDER),
        }
    }

    fn path(&self, schedule: &str) -> PathBuf {
        self.folder.join(format!("{schedule}.json"))
    }

    /// What was decided about a schedule; nothing if no process ever ran it.
    ///
    /// # Errors
    /// When it cannot be read, or is not one of ours. It is not taken for nothing then: what is decided twice
    /// could begin twice.
    pub fn read(&self, schedule: &str) -> Result<Option<ScheduleProgress>, Error> {
        let path = self.path(schedule);
        let bytes = match read_whole(self.disk.as_ref(), &path, SCHEDULE_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let unfit = |what: String| Error::Unfit {
            path: path.clone(),
            what,
        };
        let read: Result<ScheduleProgress, _> = serde_json::from_slice(&bytes);
        let read = read.map_err(|error| unfit(format!("cannot be read: {error}")))?;
        if read.v != VERSION {
            return Err(unfit(format!(
                "has the version {}, which is unknown",
                read.v
            )));
        }
        Ok(Some(read))
    }

    /// Keeps what was decided about a schedule; durable on return.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep(&self, schedule: &str, progress: &ScheduleProgress) -> Result<(), Error> {
        let path = self.path(schedule);
        make_folders(self.disk.as_ref(), &self.folder)?;
        let bytes = serde_json::to_vec(progress).map_err(|error| Error::Unfit {
            path: path.clone(),
            what: error.to_string(),
        })?;
        replace_durably(self.disk.as_ref(), &path, &bytes)
    }

    /// Takes the right to do something with the schedules of this workspace, unless another process has it.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn lock(&self, what: &str) -> Result<Option<SchedulesLock>, Error> {
        make_folders(self.disk.as_ref(), &self.folder)?;
        let path = self.folder.join(format!("{what}.lock"));
        let mut file = uninterrupted(|| self.disk.open(&path, How::CreateOrAppend))
            .map_err(|e| Error::io("open", &path, e))?;
        match uninterrupted(|| file.try_lock()).map_err(|e| Error::io("lock", &path, e))? {
            Locked::Yes => Ok(Some(SchedulesLock(file))),
            Locked::Busy => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::journal::ProcessName;

    use super::*;
    use crate::clock::CountingClock;
    use crate::disk::RealDisk;
    use crate::ground::Ground;

    fn files(folder: &std::path::Path) -> ScheduleFiles {
        let ground = Ground {
            disk: Arc::new(RealDisk),
            clock: Arc::new(CountingClock::from(At::from_ms(0))),
            process: ProcessName {
                pid: 1,
                start_ticks: 1,
                boot_id: String::new(),
            },
            ledger: None,
        };
        ScheduleFiles::new(&Store::new(ground, folder.join("state")))
    }

    #[test]
    fn what_was_decided_is_read_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        assert_eq!(files.read("nightly").unwrap(), None);
        let mut progress = ScheduleProgress::from("@daily UTC".to_owned(), At::from_ms(5));
        files.keep("nightly", &progress).unwrap();
        progress.runs.push(ScheduledRun {
            due: At::from_ms(86_400_000),
            project: "site".parse().unwrap(),
            flow: "19700102T000000000Z-a1b2c3".parse().unwrap(),
        });
        files.keep("nightly", &progress).unwrap();
        assert_eq!(files.read("nightly").unwrap(), Some(progress));
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        files
            .keep("a", &ScheduleProgress::from(String::new(), At::from_ms(0)))
            .unwrap();
        for text in [
            "",
            "{}",
            "{\"v\":2,\"timing\":\"\",\"decided\":\"1970-01-01T00:00:00.000Z\",\"runs\":[]}",
        ] {
            std::fs::write(files.path("a"), text).unwrap();
            assert!(files.read("a").is_err(), "{text:?}");
        }
    }

    #[test]
    fn one_process_at_a_time_runs_schedules() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let held = files.lock("run").unwrap();
        assert!(held.is_some() && files.lock("run").unwrap().is_none());
        assert!(files.lock("other").unwrap().is_some());
        drop(held);
        assert!(files.lock("run").unwrap().is_some());
    }
}
