//! One flow, open for writing: its journal, the fold in memory, and the views on disk.
//!
//! The holder of a [`Flow`] holds its lock. A fact goes in by [`Flow::append`] and is true from
//! then on for this process; it may be acted on, shown as done or acknowledged only after
//! [`Flow::sync`].

use std::sync::Arc;

use a_society_facts::fact::flow::{FactAuthor, FlowPaused, FlowUnpaused, PauseReason};
use a_society_facts::fact::journal::WriterOpened;
use a_society_facts::id::{FlowId, ProjectName, Seq};
use a_society_facts::legal::legal;
use a_society_facts::message::Text;
use a_society_facts::view::FlowScreen;
use a_society_facts::view::Views;
use a_society_facts::{At, Fact, Hash, Recorded};

use crate::disk::{Disk, SharedDisk};
use crate::error::Error;
use crate::ground::Ground;
use crate::journal::append::Writer;
use crate::journal::scan::Position;
use crate::layout::FlowFolder;
use crate::limits::{CHECKPOINT_BYTES, CHECKPOINT_CLOSE_SHARE};
use crate::lock::FlowLock;
use crate::place::FlowPlace;
use crate::views::{Folded, ViewKeeper};
use crate::{checkpoint, reserve};

/// A flow that this process writes.
#[derive(Debug)]
pub struct Flow {
    ground: Ground,
    place: FlowPlace,
    writer: Writer,
    views: Views,
    keeper: ViewKeeper,
    announced: bool,
    /// How much of the journal came after the last checkpoint when the flow was opened, and then
    /// at how many appended bytes the last one was written.
    uncovered_bytes: u64,
    checkpoint_at_bytes: u64,
    checkpoint_bytes: u64,
    warning: Option<String>,
    // Dropped last: the lock outlives every handle on the flow's files.
    lock: FlowLock,
}

impl Flow {
    pub(crate) fn new(
        ground: Ground,
        place: FlowPlace,
        lock: FlowLock,
        writer: Writer,
        views: Views,
        keeper: ViewKeeper,
    ) -> Self {
        Self {
            ground,
            place,
            writer,
            views,
            keeper,
            announced: false,
            uncovered_bytes: 0,
            checkpoint_at_bytes: 0,
            checkpoint_bytes: CHECKPOINT_BYTES,
            warning: None,
            lock,
        }
    }

    /// The flow's id.
    #[must_use]
    pub const fn id(&self) -> &FlowId {
        &self.place.flow().flow
    }

    /// The flow's project.
    #[must_use]
    pub const fn project(&self) -> &ProjectName {
        &self.place.flow().project
    }

    /// Where its things lie.
    #[must_use]
    pub const fn folder(&self) -> &FlowFolder {
        self.place.folder()
    }

    /// Where it is kept, as the floors above know it.
    #[must_use]
    pub fn place(&self) -> FlowPlace {
        self.place.clone()
    }

    /// Everything folded from its journal.
    #[must_use]
    pub const fn views(&self) -> &Views {
        &self.views
    }

    /// The end of its journal.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.writer.end()
    }

    /// The last record that is durable.
    #[must_use]
    pub const fn durable(&self) -> Seq {
        self.writer.durable()
    }

    /// Why its writer stopped for good, if it did.
    #[must_use]
    pub fn poison(&self) -> Option<&str> {
        self.writer.poison()
    }

    /// For how long the oldest change has not been in the views on disk; 0 if they are up to date.
    #[must_use]
    pub fn views_behind_us(&self) -> u64 {
        let since = self.keeper.stale_since_us();
        since.map_or(0, |since| self.elapsed_us().saturating_sub(since))
    }

    /// Whether everything is durable and in the views on disk.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.keeper.is_fresh() && self.durable() == self.position().seq
    }

    /// How many bytes went into the journal and into the views since it was opened.
    #[must_use]
    pub const fn written_bytes(&self) -> (u64, u64) {
        (self.writer.appended_bytes(), self.keeper.written_bytes())
    }

    /// The disk that holds it.
    #[must_use]
    pub fn disk(&self) -> &dyn Disk {
        self.ground.disk.as_ref()
    }

    /// The same, for work apart from the flow.
    #[must_use]
    pub fn shared_disk(&self) -> SharedDisk {
        Arc::clone(&self.ground.disk)
    }

    /// The moment, as the flow's clock tells it.
    #[must_use]
    pub fn now(&self) -> At {
        self.ground.clock.now()
    }

    /// Microseconds since some beginning, as the flow's clock counts them.
    #[must_use]
    pub fn elapsed_us(&self) -> u64 {
        self.ground.clock.elapsed_us()
    }

    /// Closes segments at another size, which tests use to see many of them.
    pub const fn set_segment_bytes(&mut self, bytes: u64) {
        self.writer.set_segment_bytes(bytes);
    }

    /// Keeps checkpoints at another distance, which tests use to see many of them.
    pub const fn set_checkpoint_bytes(&mut self, bytes: u64) {
        self.checkpoint_bytes = bytes;
    }

    /// Appends a fact. It is not durable yet.
    ///
    /// # Errors
    /// When the fact does not follow from what is true, cannot be a record, or the disk refuses.
    /// The flow is then what it was before, except that a full disk pauses it.
    pub fn append(&mut self, fact: Fact) -> Result<Seq, Error> {
        self.announce()?;
        self.put(fact)
    }

    /// Records who writes, before the first fact.
    pub(crate) fn announce(&mut self) -> Result<(), Error> {
        if !self.announced {
            let process = self.ground.process.clone();
            self.put(Fact::WriterOpened(WriterOpened { process }))?;
            self.announced = true;
        }
        Ok(())
    }

    /// Whether another worker went on with the flow, so that this one has to let go of it.
    #[must_use]
    pub fn moved_on(&self) -> bool {
        self.writer.moved_on() || !self.lock.is_granted()
    }

    /// Appends a fact and makes it durable.
    ///
    /// # Errors
    /// As [`Self::append`] and [`Self::sync`].
    pub fn append_durably(&mut self, fact: Fact) -> Result<Seq, Error> {
        let seq = self.append(fact)?;
        self.sync()?;
        Ok(seq)
    }

    fn put(&mut self, fact: Fact) -> Result<Seq, Error> {
        legal(&self.views.flow, &fact).map_err(|illegal| Error::Illegal {
            seq: self.writer.end().seq + 1,
            why: illegal.to_string(),
        })?;
        if self.writer.wants_new_segment() {
            self.rotate()?;
        }
        let at = self.ground.clock.now();
        match self.writer.append(at, &fact) {
            Ok(end) => {
                self.apply(&Recorded::new(end.seq, at, fact));
                Ok(end.seq)
            }
            Err(error) if error.is_full() => {
                self.pause_for_space();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    fn apply(&mut self, recorded: &Recorded) {
        let touched = self.views.apply(recorded);
        // Asking for the time costs more than noting, and only the first change needs it.
        let now_us = if self.keeper.is_fresh() {
            self.ground.clock.elapsed_us()
        } else {
            0
        };
        self.keeper.note(&touched, &self.views, now_us);
    }

    fn rotate(&mut self) -> Result<(), Error> {
        match self.writer.next_segment(self.ground.clock.now()) {
            Ok(header) => {
                self.apply(&header);
                Ok(())
            }
            Err(error) if error.is_full() => {
                self.pause_for_space();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    fn is_paused_for_space(&self) -> bool {
        let paused = self.views.flow.paused.as_ref();
        paused.is_some_and(|pause| pause.reason == PauseReason::DiskFull)
    }

    /// Records the pause in the room that was set aside for it. If even that fails, the caller still
    /// gets the error that the disk is full.
    fn pause_for_space(&mut self) {
        if self.is_paused_for_space() {
            return;
        }
        let paused = reserve::release(self.ground.disk.as_ref(), self.place.folder())
            .and_then(|()| self.record_pause());
        if let Err(error) = paused {
            self.warning = Some(format!("the pause could not be recorded: {error}"));
        }
    }

    fn record_pause(&mut self) -> Result<(), Error> {
        let reason = PauseReason::DiskFull;
        let fact = Fact::FlowPaused(FlowPaused {
            client: None,
            reason,
            detail: None,
        });
        if legal(&self.views.flow, &fact).is_err() {
            return Ok(());
        }
        let at = self.ground.clock.now();
        let end = self.writer.append(at, &fact)?;
        self.apply(&Recorded::new(end.seq, at, fact));
        self.writer.sync()?;
        Ok(())
    }

    /// Goes on after a full disk, if there is room again; says whether there is.
    ///
    /// # Errors
    /// When the file system refuses for another reason.
    pub fn try_resume_after_full(&mut self) -> Result<bool, Error> {
        if !self.is_paused_for_space() {
            return Ok(true);
        }
        if !reserve::hold(self.ground.disk.as_ref(), self.place.folder())? {
            return Ok(false);
        }
        let unpaused = Fact::FlowUnpaused(FlowUnpaused {
            client: None,
            by: FactAuthor::Runtime,
        });
        match self.append_durably(unpaused) {
            Ok(_) => Ok(true),
            Err(error) if error.is_full() => {
                reserve::release(self.ground.disk.as_ref(), self.place.folder())?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes everything appended so far durable.
    ///
    /// # Errors
    /// When the sync fails; the flow's writer has then stopped for good.
    pub fn sync(&mut self) -> Result<Seq, Error> {
        let durable = self.writer.sync()?;
        self.keep_checkpoint(self.checkpoint_bytes);
        Ok(durable)
    }

    fn keep_checkpoint(&mut self, after_bytes: u64) {
        let appended = self.writer.appended_bytes();
        let since = appended.saturating_sub(self.checkpoint_at_bytes);
        if since == 0 || self.uncovered_bytes.saturating_add(since) < after_bytes {
            return;
        }
        let screen = FlowScreen::of(&self.views);
        let (disk, at) = (self.ground.disk.as_ref(), self.ground.clock.now());
        let end = self.writer.end();
        let kept = checkpoint::keep(disk, self.place.folder(), self.id(), at, end, &screen);
        if let Err(error) = kept {
            self.warning = Some(format!("the checkpoint could not be written: {error}"));
        }
        // A failed one is tried again when as much again has been appended.
        self.uncovered_bytes = 0;
        self.checkpoint_at_bytes = appended;
    }

    /// Says how much of the journal was there and in no checkpoint when the flow was opened.
    pub(crate) const fn began_uncovered(&mut self, bytes: u64) {
        self.uncovered_bytes = bytes;
    }

    /// Writes views if it is time to. The driver calls this several times a second.
    pub fn tick(&mut self) {
        self.writer.share();
        let started = self.ground.clock.elapsed_us();
        if !self.keeper.is_due(started) || self.poison().is_some() {
            return;
        }
        let written = self.sync().and_then(|_| {
            let position = self.writer.end();
            let folded = Folded {
                views: &self.views,
                position,
                closed: false,
            };
            let journal_bytes = self.writer.appended_bytes();
            let (disk, clock) = (self.ground.disk.as_ref(), self.ground.clock.as_ref());
            self.keeper
                .write_moving(disk, clock, folded, started, journal_bytes)
        });
        self.warn(written);
    }

    /// Writes every stale view, because the flow rests.
    ///
    /// # Errors
    /// When the journal cannot be synced. A view that cannot be written is only a warning.
    pub fn rest(&mut self) -> Result<(), Error> {
        self.sync()?;
        if !self.keeper.is_fresh() {
            self.write_views(false);
        }
        Ok(())
    }

    /// Writes every view anew, and says which of them were missing or were not what the journal
    /// folds to.
    ///
    /// # Errors
    /// When the journal cannot be synced or a view cannot be written.
    pub fn rebuild_views(&mut self) -> Result<Vec<String>, Error> {
        self.sync()?;
        let disk = self.ground.disk.as_ref();
        let differed = self.keeper.distrust(disk, &self.views);
        let folded = Folded {
            views: &self.views,
            position: self.writer.end(),
            closed: false,
        };
        self.keeper.write_resting(disk, folded)?;
        Ok(differed)
    }

    fn write_views(&mut self, closed: bool) {
        let folded = Folded {
            views: &self.views,
            position: self.writer.end(),
            closed,
        };
        let written = self.keeper.write_resting(self.ground.disk.as_ref(), folded);
        self.warn(written);
    }

    fn warn(&mut self, written: Result<(), Error>) {
        self.warning = written
            .err()
            .map(|error| format!("views are behind: {error}"));
    }

    /// Ends in good order: everything durable, views and checkpoint written, the lock given back.
    ///
    /// # Errors
    /// When the journal cannot be synced, or the views cannot be written.
    pub fn close(mut self) -> Result<(), Error> {
        self.writer.sync()?;
        self.keep_checkpoint(self.checkpoint_bytes / CHECKPOINT_CLOSE_SHARE);
        self.write_views(true);
        reserve::release(self.ground.disk.as_ref(), self.place.folder())?;
        match self.warning.take() {
            None => Ok(()),
            Some(what) => Err(Error::Unfit {
                path: self.place.path().to_owned(),
                what,
            }),
        }
    }

    /// Keeps a text for a fact: inline while it is short, else as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_text(&self, text: String) -> Result<Text, Error> {
        self.place.keep_text(text)
    }

    /// Keeps a text for a fact: inline up to so many bytes, else as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_text_within(&self, inline_bytes_max: usize, text: String) -> Result<Text, Error> {
        self.place.keep_text_within(inline_bytes_max, text)
    }

    /// The whole of a text of one of its facts.
    ///
    /// # Errors
    /// When its blob is lost.
    pub fn whole_text(&self, text: &Text) -> Result<String, Error> {
        self.place.whole_text(text)
    }

    /// A blob that one of its facts names.
    ///
    /// # Errors
    /// When it is lost.
    pub fn whole_blob(&self, hash: Hash) -> Result<Vec<u8>, Error> {
        self.place.whole_blob(hash)
    }

    /// Keeps bytes as a durable blob.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn keep_blob(&self, bytes: &[u8]) -> Result<Hash, Error> {
        self.place.keep_blob(bytes)
    }
}
