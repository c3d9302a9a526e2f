//! The stream of a model's answer. Reading blocks; it happens on the turn's own thread.

use std::collections::VecDeque;
use std::fmt;

use a_society_base::stop::StopSignal;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::event::{StreamArrival, StreamEvent};
use super::fault::{FaultClass, RequestFault};
use super::limits;

/// The arrivals of one answer.
pub struct AnswerStream {
    /// Bytes that arrive together are handed over together, so that the reader wakes up once.
    receiver: mpsc::Receiver<Vec<StreamArrival>>,
    /// What fills it, and is driven by those who wait.
    runtime: Option<&'static Runtime>,
    /// What came and was not read.
    unread: VecDeque<StreamArrival>,
    stop: StopSignal,
    /// Whether its last arrival was read.
    is_over: bool,
    /// Whether anything of an answer was read.
    streamed: bool,
    /// Ends what fills the stream, when its reader is gone.
    end: OnDrop,
}

/// Does something once, when it is dropped.
struct OnDrop(Option<Box<dyn FnOnce() + Send>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl AnswerStream {
    /// A stream and the end at which a task of `runtime` fills it. `end` is called when it is dropped.
    pub(crate) fn new(
        runtime: &'static Runtime,
        stop: &StopSignal,
        end: impl FnOnce() + Send + 'static,
    ) -> (mpsc::Sender<Vec<StreamArrival>>, Self) {
        let (sender, receiver) = mpsc::channel(limits::ARRIVALS_WAITING);
        let stream = Self {
            receiver,
            runtime: Some(runtime),
            unread: VecDeque::new(),
            stop: stop.clone(),
            is_over: false,
            streamed: false,
            end: OnDrop(Some(Box::new(end))),
        };
        (sender, stream)
    }

    /// A stream that holds these arrivals already.
    #[must_use]
    pub fn of(arrivals: impl IntoIterator<Item = StreamArrival>, stop: &StopSignal) -> Self {
        // Nothing follows them.
        let (_, receiver) = mpsc::channel(1);
        Self {
            receiver,
            runtime: None,
            unread: arrivals.into_iter().collect(),
            stop: stop.clone(),
            is_over: false,
            streamed: false,
            end: OnDrop(None),
        }
    }

    /// The next arrival, for which this waits. Nothing after an answer or a fault.
    ///
    /// Must not be called on a thread that drives asynchronous work.
    pub fn next_arrival(&mut self) -> Option<StreamArrival> {
        if self.is_over {
            return None;
        }
        if self.stop.is_raised() {
            return Some(self.ended(FaultClass::Stopped, "it was stopped"));
        }
        while self.unread.is_empty()
            && let Some(arrivals) = self.wait()
        {
            self.unread.extend(arrivals);
        }
        let arrival = match self.unread.pop_front() {
            Some(arrival) => arrival,
            None if self.stop.is_raised() => self.ended(FaultClass::Stopped, "it was stopped"),
            None => self.ended(FaultClass::CutOff, "the connection was given up"),
        };
        self.note(&arrival);
        Some(arrival)
    }

    fn wait(&mut self) -> Option<Vec<StreamArrival>> {
        let next = self.receiver.recv();
        self.runtime.and_then(|runtime| runtime.block_on(next))
    }

    /// The next arrival if it is there already. A caller that gets nothing may wait for
    /// [`Self::next_arrival`].
    pub fn arrived(&mut self) -> Option<StreamArrival> {
        if self.is_over || self.stop.is_raised() {
            return None;
        }
        while self.unread.is_empty() {
            self.unread.extend(self.receiver.try_recv().ok()?);
        }
        let arrival = self.unread.pop_front()?;
        self.note(&arrival);
        Some(arrival)
    }

    fn note(&mut self, arrival: &StreamArrival) {
        match arrival {
            StreamArrival::Event(StreamEvent::Stalled { .. } | StreamEvent::Usage(_)) => {}
            StreamArrival::Event(_) => self.streamed = true,
            StreamArrival::Answer(_) | StreamArrival::Fault(_) => {
                self.is_over = true;
                // What fills it may still have to put its connection back.
                self.end.0 = None;
            }
        }
    }

    /// Ends it from here. What fills it is ended when this is dropped.
    fn ended(&mut self, class: FaultClass, message: &str) -> StreamArrival {
        self.is_over = true;
        let mut fault = RequestFault::new(class, message);
        fault.streamed = self.streamed;
        StreamArrival::Fault(Box::new(fault))
    }
}

impl fmt::Debug for AnswerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::shared_runtime;

    fn runtime() -> &'static Runtime {
        shared_runtime().unwrap()
    }

    fn text(text: &str) -> StreamArrival {
        StreamArrival::Event(StreamEvent::Text(text.into()))
    }

    fn fault_of(arrival: Option<StreamArrival>) -> RequestFault {
        match arrival {
            Some(StreamArrival::Fault(fault)) => *fault,
            other => panic!("{other:?} is no fault"),
        }
    }

    #[test]
    fn a_stream_that_breaks_off_ends_with_a_fault_and_then_with_nothing() {
        let mut stream = AnswerStream::of([text("a")], &StopSignal::default());
        assert!(matches!(
            stream.next_arrival(),
            Some(StreamArrival::Event(_))
        ));
        let fault = fault_of(stream.next_arrival());
        assert_eq!((fault.class, fault.streamed), (FaultClass::CutOff, true));
        assert!(stream.next_arrival().is_none());
    }

    #[test]
    fn a_stopped_stream_says_so_even_if_more_has_arrived() {
        let stop = StopSignal::default();
        let mut stream = AnswerStream::of([text("a"), text("b")], &stop);
        stream.next_arrival();
        stop.raise();
        assert_eq!(fault_of(stream.next_arrival()).class, FaultClass::Stopped);
        assert!(stream.next_arrival().is_none());
    }

    #[test]
    fn whatever_fills_a_stream_may_tidy_up_once_its_last_arrival_was_read() {
        for waits in [true, false] {
            let (tell, heard) = std::sync::mpsc::channel();
            let stop = StopSignal::default();
            let (sender, mut stream) =
                AnswerStream::new(runtime(), &stop, move || tell.send(()).unwrap());
            let last = RequestFault::new(FaultClass::Server, "x");
            let last = StreamArrival::Fault(Box::new(last));
            sender.try_send(vec![last]).unwrap();
            let read = if waits {
                stream.next_arrival()
            } else {
                stream.arrived()
            };
            assert_eq!(fault_of(read).class, FaultClass::Server);
            drop(stream);
            assert!(heard.try_recv().is_err());
        }
    }

    #[test]
    fn what_arrives_together_is_read_in_its_order() {
        let (sender, mut stream) = AnswerStream::new(runtime(), &StopSignal::default(), || ());
        for arrivals in [vec![text("a"), text("b")], Vec::new(), vec![text("c")]] {
            sender.try_send(arrivals).unwrap();
        }
        drop(sender);
        let read = |arrival| match arrival {
            Some(StreamArrival::Event(StreamEvent::Text(text))) => text,
            other => panic!("{other:?} is no text"),
        };
        assert_eq!(read(stream.next_arrival()), "a");
        assert_eq!(read(stream.arrived()), "b");
        assert_eq!(read(stream.next_arrival()), "c");
        assert!(stream.arrived().is_none());
        assert_eq!(fault_of(stream.next_arrival()).class, FaultClass::CutOff);
    }

    #[test]
    fn dropping_a_stream_ends_what_fills_it() {
        let (tell, heard) = std::sync::mpsc::channel();
        let (_sender, stream) = AnswerStream::new(runtime(), &StopSignal::default(), move || {
            tell.send(()).unwrap();
        });
        assert!(heard.try_recv().is_err());
        drop(stream);
        assert!(heard.try_recv().is_ok());
    }
}
