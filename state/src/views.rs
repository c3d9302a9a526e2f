//! Views on disk: when they are written, and how it is known what each reflects.
//!
//! A view is replaced whole, without a sync of its own. While a flow moves, views follow it as
//! long as writing them costs little: they may take a small part of the time and, however large a
//! session has grown, a part of the bytes the journal grows by, plus a steady allowance for a flow
//! that moves no faster than people read. When the flow comes to rest they are always written.
//!
//! `views.json` is written last. It says up to which record each view was folded, how long it is
//! and what its checksum is; it is sealed itself. It is never older than the views it speaks of
//! in a way that could mislead: a view that does not fit its mark is rebuilt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use a_society_facts::id::{FlowId, ProjectName, RoleInstance, Seq};
use a_society_facts::line;
use a_society_facts::view::FlowSummary;
use a_society_facts::view::session::Texts;
use a_society_facts::view::{TouchedViews, Views};
use serde::{Deserialize, Serialize};

use crate::atomic::replace;
use crate::blob;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::error::Error;
use crate::files::{make_folders_of_views, read_whole};
use crate::journal::scan::Position;
use crate::layout::FlowFolder;
use crate::limits::{
    ARCHIVE_FILE_BYTES_MAX, SEGMENT_BYTES_MAX, VIEW_AGE_US, VIEW_BURST_BYTES,
    VIEW_BYTES_PER_SECOND, VIEW_GROWTH_SHARE, VIEW_RACE_BYTES_PER_SECOND, VIEW_TIME_SHARE,
    VIEWS_INDEX_BYTES_MAX,
};

/// The shape of the views; views of another shape are rebuilt.
pub(crate) const SCHEMA: u32 = 7;

/// What is known about one view's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The last record it reflects.
    pub seq: Seq,
    /// Its size.
    pub bytes: u64,
    /// Its CRC32C.
    pub hash: u32,
}

/// What `views.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ViewsIndex {
    /// The shape of the views.
    pub schema: u32,
    /// The flow.
    pub flow: FlowId,
    /// Its project.
    pub project: ProjectName,
    /// The end of the journal when this was written; it was durable then.
    pub position: Position,
    /// When the last segment was last changed, as the file system reported right before; 0 if it did
    /// not. A listing that finds the same need not read the segment.
    #[serde(default)]
    pub segment_modified_ms: i64,
    /// Whether the flow was closed in good order.
    pub closed: bool,
    /// The flow in one row.
    pub summary: FlowSummary,
    /// The views by their path in the flow's folder.
    pub views: BTreeMap<String, Mark>,
}

/// Reads `views.json`, if it is whole and this flow's.
#[must_use]
pub(crate) fn read_index(
    disk: &dyn Disk,
    folder: &FlowFolder,
    flow: &FlowId,
) -> Option<ViewsIndex> {
    let bytes = read_whole(disk, &folder.views(), VIEWS_INDEX_BYTES_MAX).ok()?;
    let sealed = bytes.trim_ascii_end();
    line::verify(sealed).ok()?;
    let read: ViewsIndex = serde_json::from_slice(sealed).ok()?;
    (read.flow == *flow && read.schema == SCHEMA).then_some(read)
}

/// One view of a flow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewName {
    /// `flow.json`.
    Flow,
    /// The `feed.json` of a role.
    Feed(RoleInstance),
    /// The `transcript.json` of a role.
    Transcript(RoleInstance),
}

impl ViewName {
    /// Its path in the flow's folder.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Flow => "flow.json".to_owned(),
            Self::Feed(role) => format!("roles/{role}/feed.json"),
            Self::Transcript(role) => format!("roles/{role}/transcript.json"),
        }
    }

    fn file(&self, folder: &FlowFolder) -> PathBuf {
        folder.root().join(self.path())
    }

    /// The view's bytes, after what `out` holds.
    fn write(&self, views: &Views, texts: Texts<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Flow => views.flow.write_json(out),
            Self::Feed(role) => {
                if let Some(feed) = views.feeds.get(role) {
                    feed.write_json(out);
                }
            }
            Self::Transcript(role) => {
                if let Some(session) = views.sessions.get(role) {
                    session.write_json(out, texts);
                }
            }
        }
    }

    fn approx_bytes(&self, views: &Views) -> u64 {
        match self {
            Self::Flow => views.flow.approx_bytes(),
            Self::Feed(role) => views.feeds.get(role).map_or(0, |feed| feed.approx_bytes()),
            Self::Transcript(role) => views
                .sessions
                .get(role)
                .map_or(0, |session| session.approx_bytes()),
        }
    }
}

/// Every view of a flow.
#[must_use]
pub fn names(views: &Views) -> Vec<ViewName> {
    let feeds = views.feeds.keys().cloned().map(ViewName::Feed);
    let transcripts = views.sessions.keys().cloned().map(ViewName::Transcript);
    std::iter::once(ViewName::Flow)
        .chain(feeds)
        .chain(transcripts)
        .collect()
}

/// The bytes of a view of a flow whose blobs are in this folder.
#[must_use]
pub fn bytes_of(disk: &dyn Disk, folder: &FlowFolder, name: &ViewName, views: &Views) -> Vec<u8> {
    let mut out = Vec::new();
    let read = |hash| blob::read_text(disk, folder, hash);
    name.write(views, Texts(&read), &mut out);
    out
}

/// Where and what the views are folded up to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folded<'a> {
    /// The views.
    pub views: &'a Views,
    /// The end of the journal, which is durable.
    pub position: Position,
    /// Whether the flow is being closed.
    pub closed: bool,
}

/// Keeps the views of one open flow on disk.
#[derive(Debug)]
pub(crate) struct ViewKeeper {
    folder: FlowFolder,
    flow: FlowId,
    project: ProjectName,
    stale: BTreeSet<ViewName>,
    stale_since_us: Option<u64>,
    not_before_us: u64,
    began_us: u64,
    written_bytes: u64,
    purse: Purse,
    marks: BTreeMap<String, Mark>,
    buffer: Vec<u8>,
}

/// What views may still write while the flow moves.
#[derive(Debug)]
struct Purse {
    bytes: u64,
    /// When it was last filled, and how long the journal was then.
    filled: (u64, u64),
}

impl Purse {
    /// Fills up for the time that passed and for what the journal grew by, up to what is wanted.
    ///
    /// A flow that moves faster than anybody reads earns little by time, so that what is written
    /// into its views stays a part of what it says.
    fn fill(&mut self, now_us: u64, journal_bytes: u64, wanted: u64) {
        let (then_us, journal_then) = self.filled;
        self.filled = (now_us, journal_bytes);
        let grown = journal_bytes.saturating_sub(journal_then);
        let passed_us = now_us.saturating_sub(then_us);
        let by_time = passed_us.saturating_mul(VIEW_BYTES_PER_SECOND) / 1_000_000;
        let raced = grown.saturating_mul(VIEW_BYTES_PER_SECOND / VIEW_RACE_BYTES_PER_SECOND);
        let earned = grown / VIEW_GROWTH_SHARE + by_time.saturating_sub(raced);
        let most = wanted.max(VIEW_BURST_BYTES);
        self.bytes = self.bytes.saturating_add(earned).min(most);
    }
}

impl ViewKeeper {
    /// Keeps the views of a flow whose folder exists.
    #[must_use]
    pub(crate) fn new(folder: FlowFolder, flow: FlowId, project: ProjectName, now_us: u64) -> Self {
        Self {
            folder,
            flow,
            project,
            stale: BTreeSet::new(),
            stale_since_us: None,
            not_before_us: 0,
            began_us: now_us,
            written_bytes: 0,
            purse: Purse {
                bytes: VIEW_BURST_BYTES,
                filled: (now_us, 0),
            },
            marks: BTreeMap::new(),
            buffer: Vec::new(),
        }
    }

    /// Takes over the marks of views that verify, and counts all others as stale.
    /// They count only if the journal ends with the very record that they were written after.
    pub(crate) fn adopt(
        &mut self,
        disk: &dyn Disk,
        views: &Views,
        index: Option<ViewsIndex>,
        end: Position,
    ) {
        let marks = index
            .filter(|index| index.position == end)
            .map(|index| index.views)
            .unwrap_or_default();
        for name in names(views) {
            let path = name.path();
            match marks.get(&path).filter(|mark| mark.seq == end.seq) {
                Some(mark) if self.verifies(disk, &name, *mark) => {
                    self.marks.insert(path, *mark);
                }
                Some(_) | None => {
                    self.stale.insert(name);
                }
            }
        }
        if !self.stale.is_empty() {
            self.stale_since_us = Some(self.began_us);
        }
    }

    fn verifies(&self, disk: &dyn Disk, name: &ViewName, mark: Mark) -> bool {
        read_whole(
            disk,
            &name.file(&self.folder),
            SEGMENT_BYTES_MAX.max(mark.bytes),
        )
        .is_ok_and(|bytes| bytes.len() as u64 == mark.bytes && crc32c::crc32c(&bytes) == mark.hash)
    }

    /// Counts every view as stale, and says which files are not what the views are now.
    pub(crate) fn distrust(&mut self, disk: &dyn Disk, views: &Views) -> Vec<String> {
        let mut differing = Vec::new();
        for name in names(views) {
            let there = read_whole(disk, &name.file(&self.folder), ARCHIVE_FILE_BYTES_MAX);
            if there.map_or(true, |there| {
                there != bytes_of(disk, &self.folder, &name, views)
            }) {
                differing.push(name.path());
            }
            self.stale.insert(name);
        }
        differing
    }

    /// Notes what a record changed.
    pub(crate) fn note(&mut self, touched: &TouchedViews, views: &Views, now_us: u64) {
        // `flow.json` names the last record, so that every record changes it.
        if !self.stale.contains(&ViewName::Flow) {
            self.stale.insert(ViewName::Flow);
        }
        if touched.all_sessions {
            let sessions = views.sessions.keys().cloned();
            self.stale.extend(sessions.map(ViewName::Transcript));
        }
        if let Some(role) = &touched.session {
            self.stale.insert(ViewName::Transcript(role.clone()));
        }
        if let Some(role) = &touched.feed {
            self.stale.insert(ViewName::Feed(role.clone()));
        }
        if !self.stale.is_empty() && self.stale_since_us.is_none() {
            self.stale_since_us = Some(now_us);
        }
    }

    /// Whether everything on disk is up to date.
    #[must_use]
    pub(crate) fn is_fresh(&self) -> bool {
        self.stale.is_empty()
    }

    /// Since when the oldest change has not been written, by the flow's clock.
    #[must_use]
    pub(crate) const fn stale_since_us(&self) -> Option<u64> {
        self.stale_since_us
    }

    /// How many bytes were written into views since the flow was opened.
    #[must_use]
    pub(crate) const fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Whether it is time to write while the flow moves.
    #[must_use]
    pub(crate) fn is_due(&self, now_us: u64) -> bool {
        // Half of the allowed age goes by before the write begins; the other half is for the
        // write itself and for a caller that looks in only now and then.
        let old = |since: u64| now_us.saturating_sub(since) >= VIEW_AGE_US / 2;
        self.stale_since_us.is_some_and(old) && now_us >= self.not_before_us
    }

    /// Writes the stale views that can be afforded while the flow moves. What was done for them
    /// since `started`, such as the sync before them, counts as their time.
    ///
    /// # Errors
    /// When the file system refuses. The views then stay stale; nothing is lost.
    pub(crate) fn write_moving(
        &mut self,
        disk: &dyn Disk,
        clock: &dyn Clock,
        folded: Folded<'_>,
        started: u64,
        journal_bytes: u64,
    ) -> Result<(), Error> {
        let sizes: Vec<u64> = self
            .stale
            .iter()
            .map(|name| name.approx_bytes(folded.views))
            .collect();
        self.purse.fill(started, journal_bytes, sizes.iter().sum());
        let mut affordable = Vec::new();
        for (name, bytes) in self.stale.iter().zip(sizes) {
            if bytes <= self.purse.bytes {
                self.purse.bytes -= bytes;
                affordable.push(name.clone());
            }
        }
        let written = self.write(disk, &affordable, folded);
        let ended = clock.elapsed_us();
        self.not_before_us = ended + ended.saturating_sub(started) * VIEW_TIME_SHARE;
        // What was too dear is looked at again after the same wait.
        self.stale_since_us = (!self.stale.is_empty()).then_some(ended);
        written
    }

    /// Writes every stale view, because the flow rests.
    ///
    /// # Errors
    /// When the file system refuses. The views then stay stale; nothing is lost.
    pub(crate) fn write_resting(
        &mut self,
        disk: &dyn Disk,
        folded: Folded<'_>,
    ) -> Result<(), Error> {
        let all: Vec<ViewName> = self.stale.iter().cloned().collect();
        self.write(disk, &all, folded)?;
        self.stale_since_us = None;
        Ok(())
    }

    fn write(
        &mut self,
        disk: &dyn Disk,
        names: &[ViewName],
        folded: Folded<'_>,
    ) -> Result<(), Error> {
        for name in names {
            self.write_one(disk, name, folded)?;
        }
        self.write_index(disk, folded)
    }

    fn write_one(
        &mut self,
        disk: &dyn Disk,
        name: &ViewName,
        folded: Folded<'_>,
    ) -> Result<(), Error> {
        let file = name.file(&self.folder);
        self.buffer.clear();
        // A text that is kept as a blob is whole in the file, and in memory only meanwhile.
        let read = |hash| blob::read_text(disk, &self.folder, hash);
        name.write(folded.views, Texts(&read), &mut self.buffer);
        if let Some(parent) = file.parent()
            && !self.marks.contains_key(&name.path())
        {
            make_folders_of_views(disk, parent)?;
        }
        replace(disk, &file, &self.buffer)?;
        let bytes = self.buffer.len() as u64;
        let hash = crc32c::crc32c(&self.buffer);
        self.written_bytes += bytes;
        self.marks.insert(
            name.path(),
            Mark {
                seq: folded.position.seq,
                bytes,
                hash,
            },
        );
        self.stale.remove(name);
        // One giant session must not keep its size of memory for ever.
        self.buffer.shrink_to(VIEW_BURST_BYTES as usize);
        Ok(())
    }

    fn write_index(&mut self, disk: &dyn Disk, folded: Folded<'_>) -> Result<(), Error> {
        // A view that nothing touched since it was written reflects the end as well as it did
        // its own record.
        let stale: BTreeSet<String> = self.stale.iter().map(ViewName::path).collect();
        for (path, mark) in &mut self.marks {
            if !stale.contains(path) {
                mark.seq = folded.position.seq;
            }
        }
        let segment = self.folder.segment(folded.position.segment);
        let modified = disk.about(&segment).map(|about| about.modified_ms);
        let index = ViewsIndex {
            segment_modified_ms: modified.unwrap_or(0),
            schema: SCHEMA,
            flow: self.flow.clone(),
            project: self.project.clone(),
            position: folded.position,
            closed: folded.closed,
            summary: folded.views.summary(),
            views: self.marks.clone(),
        };
        let path = self.folder.views();
        let mut bytes =
            serde_json::to_vec(&index).map_err(|e| Error::io("fold", &path, e.into()))?;
        line::seal(&mut bytes);
        bytes.push(b'\n');
        self.written_bytes += bytes.len() as u64;
        replace(disk, &path, &bytes)
    }
}
