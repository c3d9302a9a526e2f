//! Syncing many flows together.
//!
//! Each flow has its own file, and the file system writes the syncs that wait at the same moment
//! with one commit of its own. So the committer keeps a few threads that sync as many files at
//! once as there are flows waiting; whoever waits gets an answer only after the sync that covers
//! its record. Its queue is bounded: when it is full, the next one waits for a place.

use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::disk::DiskFile;
use crate::limits::{COMMITTER_QUEUE_MAX, COMMITTER_THREADS};

/// What is told when a sync is over.
pub type Told = Box<dyn FnOnce(io::Result<()>) + Send>;

struct Request {
    file: Box<dyn DiskFile>,
    told: Told,
}

/// A few threads that sync files for whoever asks.
pub struct Committer {
    queue: Option<SyncSender<Request>>,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Committer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committer")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl Committer {
    /// Starts the usual number of threads.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn start() -> io::Result<Self> {
        Self::with_threads(COMMITTER_THREADS)
    }

    /// Starts so many threads.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub fn with_threads(count: usize) -> io::Result<Self> {
        let (queue, requests) = sync_channel(COMMITTER_QUEUE_MAX);
        let requests = Arc::new(Mutex::new(requests));
        let threads = (0..count)
            .map(|number| {
                let requests = Arc::clone(&requests);
                std::thread::Builder::new()
                    .name(format!("sync-{number}"))
                    .spawn(move || serve(&requests))
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            queue: Some(queue),
            threads,
        })
    }

    /// Asks for a sync. `told` is called on one of the committer's threads when it is over.
    ///
    /// # Errors
    /// When the committer is gone; `told` is not called then.
    pub fn sync(&self, file: Box<dyn DiskFile>, told: Told) -> io::Result<()> {
        let gone = || io::Error::other("the committer has stopped");
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(Request { file, told }).map_err(|_| gone())
    }
}

impl Drop for Committer {
    /// Everything that was asked for is still synced and told.
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // A thread can only have panicked in somebody's callback, which is not ours to repeat.
            drop(thread.join());
        }
    }
}

fn serve(requests: &Mutex<Receiver<Request>>) {
    loop {
        let next = requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(mut request) = next else { return };
        let result = request.file.sync();
        (request.told)(result);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::disk::{Disk, Fault, FaultPlan, FaultyDisk, How};

    fn file(disk: &FaultyDisk, name: &str) -> Box<dyn DiskFile> {
        let mut file = disk.open(Path::new(name), How::CreateNew).unwrap();
        file.append(b"x").unwrap();
        file
    }

    #[test]
    fn everyone_who_asked_is_told_even_when_the_committer_ends() {
        let disk = FaultyDisk::new();
        let committer = Committer::with_threads(3).unwrap();
        let (tell, told) = channel();
        for number in 0..50 {
            let tell = tell.clone();
            let answer = move |result: io::Result<()>| tell.send((number, result.is_ok())).unwrap();
            let file = file(&disk, &format!("/f{number}"));
            committer.sync(file, Box::new(answer)).unwrap();
        }
        drop(committer);
        drop(tell);
        let mut numbers: Vec<i32> = told.iter().filter(|(_, ok)| *ok).map(|(n, _)| n).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_sync_that_fails_is_told_to_the_one_who_asked_for_it() {
        let disk = FaultyDisk::new();
        let file = file(&disk, "/f");
        disk.arm(FaultPlan {
            at: disk.operations() + 1,
            fault: Fault::Eio,
            sticky: false,
        });
        let (tell, told) = channel();
        let committer = Committer::with_threads(1).unwrap();
        let answer = move |result: io::Result<()>| tell.send(result.is_ok()).unwrap();
        committer.sync(file, Box::new(answer)).unwrap();
        assert_eq!(told.recv(), Ok(false));
    }
}
