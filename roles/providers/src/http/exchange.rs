//! One request and its answer, as they cross the network.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Client, Response};
use tokio::sync::mpsc::Sender;
use tokio::task::yield_now;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::connect::{Timeouts, unanswered};
use super::gathered::GatheredEvents;
use crate::answer::ModelAnswer;
use crate::event::{StreamArrival, StreamEvent};
use crate::fault::{FaultClass, RequestFault};
use crate::limits;
use crate::secret::{Secret, without_keys};
use crate::sse::{Decoder, SseItem};
use crate::wire::reader::{AnswerProgress, AskedRequest, EventReader};
use crate::wire::words::{ErrorWords, encoded, is_success, retry_after_ms, without_stream};

/// How often all other tasks run before a request is sent: a connection notices its end, reports it,
/// and is kept for the next request.
const CATCHING_UP: usize = 4;

/// Sends a request and passes on what arrives. What is over is over: a receiver that is gone ends
/// it silently.
pub(super) async fn exchange(
    client: Client,
    request: reqwest::Request,
    mut asked: AskedRequest,
    read: impl FnOnce(AskedRequest) -> Box<dyn EventReader> + Send,
    timeouts: Timeouts,
    key: Option<Secret>,
    arrivals: Sender<Vec<StreamArrival>>,
) {
    let mut request_id = None;
    let (mut listening, mut rest) = (None, None);
    // Idle connections notice now what happened while nothing drove them: that the last answer has
    // ended, or that the server closed them.
    for _ in 0..CATCHING_UP {
        yield_now().await;
    }
    let outcome = match begun(&client, request, timeouts).await {
        Ok(response) => {
            request_id = request_id_of(&response);
            asked.request_id.clone_from(&request_id);
            match accepted(response, timeouts).await {
                Ok(response) => {
                    let new = Listener::new(read(asked), timeouts, &arrivals);
                    let mut response = response;
                    let heard = listening.insert(new).listen(&mut response).await;
                    rest = heard.is_ok().then_some(response);
                    heard
                }
                Err(fault) => Err(fault),
            }
        }
        Err(fault) => Err(fault),
    };
    let streamed = listening.as_ref().is_some_and(|listener| listener.streamed);
    let outcome = outcome.and_then(|()| match &mut listening {
        Some(listener) => listener.finish(),
        None => Err(RequestFault::new(
            FaultClass::CutOff,
            "nothing was answered",
        )),
    });
    let last = match outcome {
        Ok(answer) => StreamArrival::Answer(Box::new(answer)),
        Err(mut fault) => {
            fault.message = without_keys(&fault.message, key.as_ref());
            fault.streamed = streamed;
            fault.request_id = request_id;
            StreamArrival::Fault(Box::new(fault))
        }
    };
    // What arrived with it goes with it, so that the reader wakes up once.
    let gathered = listening.as_mut().map(Listener::gathered);
    let all = gathered.into_iter().flatten().chain([last]).collect();
    // The reader may be gone already.
    let _heard = arrivals.send(all).await;
    if let Some(response) = rest {
        read_on(response).await;
    }
}

/// Reads what follows a whole answer, so that the next request can go over its connection. If it does not
/// end, the connection is given up.
async fn read_on(mut response: Response) {
    let end = async { while let Ok(Some(_)) = response.chunk().await {} };
    let mut end = pin!(end);
    if timeout(limits::REST, &mut end).await.is_err() {
        // The time also passes while nothing drives this; the end may have come long ago.
        let _in_time = timeout(limits::REST_AGAIN, end).await;
    }
}

async fn begun(
    client: &Client,
    request: reqwest::Request,
    timeouts: Timeouts,
) -> Result<Response, RequestFault> {
    match timeout(timeouts.first_byte, client.execute(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(unanswered(&error)),
        Err(_) => {
            let why = format!("no answer began within {}", in_words(timeouts.first_byte));
            Err(RequestFault::new(FaultClass::Timeout, why))
        }
    }
}

/// The response, if a stream follows.
async fn accepted(response: Response, timeouts: Timeouts) -> Result<Response, RequestFault> {
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name)?.to_str().ok();
    if !is_success(status) {
        let retry_after = retry_after_ms(header);
        let body = head_of(response, timeouts).await;
        return Err(ErrorWords::of_body(&body).with_status(status, retry_after));
    }
    let encoding = header(CONTENT_ENCODING.as_str()).unwrap_or_default();
    if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity") {
        return Err(encoded(encoding));
    }
    let kind = header(CONTENT_TYPE.as_str())
        .unwrap_or_default()
        .to_lowercase();
    // Some gateways forget to say what follows; then it is tried.
    if kind.is_empty() || kind.starts_with("text/event-stream") {
        return Ok(response);
    }
    Err(without_stream(&head_of(response, timeouts).await))
}

/// The beginning of a body, as much as an error needs.
async fn head_of(mut response: Response, timeouts: Timeouts) -> String {
    let mut body: Vec<u8> = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = limits::ERROR_BODY_BYTES.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if chunk.len() >= room {
                break;
            }
        }
    };
    // What has come until then is enough.
    let _in_time = timeout(timeouts.connect, read).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn request_id_of(response: &Response) -> Option<String> {
    /// Names longer than this are not names.
    const MAX_BYTES: usize = 200;
    let found = ["request-id", "x-request-id"]
        .into_iter()
        .find_map(|name| response.headers().get(name));
    let id = found?.to_str().ok()?;
    (id.len() <= MAX_BYTES).then(|| id.to_owned())
}

fn in_words(time: Duration) -> String {
    if time.as_secs() == 0 {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs())
    }
}

/// Reads a stream until it ends, breaks or falls silent.
struct Listener<'a> {
    reader: Option<Box<dyn EventReader>>,
    decoder: Decoder,
    timeouts: Timeouts,
    arrivals: &'a Sender<Vec<StreamArrival>>,
    streamed: bool,
    items: Vec<SseItem>,
    events: Vec<StreamEvent>,
    /// What arrived and was not passed on yet.
    gathered: GatheredEvents,
    /// Whether the answer began or something was passed on a moment ago, so that what comes now waits for
    /// more.
    resting: bool,
}

/// What a piece of a stream came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamProgress {
    /// Signs of life only.
    Alive,
    /// Something of the answer.
    Something,
    /// The rest of it.
    Everything,
}

impl<'a> Listener<'a> {
    fn new(
        reader: Box<dyn EventReader>,
        timeouts: Timeouts,
        arrivals: &'a Sender<Vec<StreamArrival>>,
    ) -> Self {
        Self {
            reader: Some(reader),
            decoder: Decoder::default(),
            timeouts,
            arrivals,
            streamed: false,
            items: Vec::new(),
            events: Vec::new(),
            gathered: GatheredEvents::default(),
            // A short answer is whole before anybody could have read its first words.
            resting: true,
        }
    }

    /// The whole answer.
    fn finish(&mut self) -> Result<ModelAnswer, RequestFault> {
        let reader = self.reader.take();
        let nothing = || RequestFault::new(FaultClass::CutOff, "nothing was answered");
        reader.ok_or_else(nothing)?.finish()
    }

    async fn listen(&mut self, response: &mut Response) -> Result<(), RequestFault> {
        let times = self.timeouts;
        let (mut idle, mut only_pings) = (later(times.idle), later(times.only_pings));
        let (mut whole, mut stalled) = (later(times.whole), later(times.stalled));
        let mut rested = later(limits::GATHERED_TIME);
        // Timers run on while words come, and are set anew when they are over: setting them for each word
        // takes longer than hearing it.
        let (mut heard_at, mut said_at) = (Instant::now(), Instant::now());
        let mut silences: u32 = 0;
        loop {
            let resting = self.resting;
            tokio::select! {
                biased;
                chunk = response.chunk() => {
                    let heard = self.hear_all(chunk, response).await?;
                    heard_at = Instant::now();
                    match heard {
                        StreamProgress::Everything => return Ok(()),
                        StreamProgress::Something => {
                            silences = 0;
                            said_at = heard_at;
                        }
                        StreamProgress::Alive => {}
                    }
                    if !self.waits() && self.pass_on().await {
                        rested.set(sleep(limits::GATHERED_TIME));
                    }
                }
                () = &mut rested, if resting => {
                    self.resting = false;
                    if self.pass_on().await {
                        rested.set(sleep(limits::GATHERED_TIME));
                    }
                }
                () = &mut idle => match left(times.idle, heard_at) {
                    Some(left) => idle.set(sleep(left)),
                    None => return Err(silent("nothing came", times.idle)),
                },
                () = &mut only_pings => match left(times.only_pings, said_at) {
                    Some(left) => only_pings.set(sleep(left)),
                    None => return Err(silent("only signs of life came", times.only_pings)),
                },
                () = &mut whole => {
                    let why = format!("the answer was not whole after {}", in_words(times.whole));
                    return Err(RequestFault::new(FaultClass::Timeout, why));
                }
                () = &mut stalled => {
                    let since = said_at + times.stalled * silences;
                    if let Some(left) = left(times.stalled, since) {
                        stalled.set(sleep(left));
                        continue;
                    }
                    silences = silences.saturating_add(1);
                    let seconds = (times.stalled * silences).as_secs();
                    self.gathered.push(StreamEvent::Stalled { seconds });
                    if self.pass_on().await {
                        rested.set(sleep(limits::GATHERED_TIME));
                    }
                    stalled.set(sleep(times.stalled));
                }
            }
        }
    }

    /// Whether what was gathered waits for more. Words that come one by one do not; those that come
    /// faster than anybody reads go together.
    const fn waits(&self) -> bool {
        self.resting && self.gathered.bytes < limits::GATHERED_BYTES
    }

    /// Reads a piece, and those after it that are there already.
    async fn hear_all(
        &mut self,
        first: reqwest::Result<Option<Bytes>>,
        response: &mut Response,
    ) -> Result<StreamProgress, RequestFault> {
        let (mut next, mut all) = (first, StreamProgress::Alive);
        loop {
            let Some(bytes) = next.map_err(|_| broken())? else {
                return Ok(StreamProgress::Everything);
            };
            match self.hear(&bytes)? {
                StreamProgress::Everything => return Ok(StreamProgress::Everything),
                StreamProgress::Something => all = StreamProgress::Something,
                StreamProgress::Alive => {}
            }
            if self.gathered.bytes >= limits::GATHERED_BYTES {
                return Ok(all);
            }
            match at_once(response.chunk()).await {
                Some(chunk) => next = chunk,
                None => return Ok(all),
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<StreamProgress, RequestFault> {
        let Some(reader) = &mut self.reader else {
            return Ok(StreamProgress::Everything);
        };
        let mut items = std::mem::take(&mut self.items);
        let too_long = self.decoder.feed(bytes, &mut items);
        let mut heard = StreamProgress::Alive;
        for item in items.drain(..) {
            let event = match item {
                SseItem::Comment => continue,
                SseItem::Event(event) => event,
            };
            let progress = reader.take(&event, &mut self.events);
            for event in self.events.drain(..) {
                self.streamed |= is_of_an_answer(&event);
                self.gathered.push(event);
            }
            match progress? {
                AnswerProgress::Alive => {}
                AnswerProgress::More => heard = StreamProgress::Something,
                AnswerProgress::Whole => return Ok(StreamProgress::Everything),
            }
        }
        self.items = items;
        too_long.map_err(|why| RequestFault::new(FaultClass::Garbled, why.to_string()))?;
        Ok(heard)
    }

    /// Passes on what was gathered, and says whether there was anything; what comes next waits a moment
    /// then.
    async fn pass_on(&mut self) -> bool {
        if self.gathered.is_empty() {
            return false;
        }
        self.resting = true;
        let gathered = self.gathered();
        // A reader that is gone has also ended this task.
        let _heard = self.arrivals.send(gathered).await;
        true
    }

    /// What arrived and was not passed on yet.
    fn gathered(&mut self) -> Vec<StreamArrival> {
        let gathered = std::mem::take(&mut self.gathered);
        gathered
            .events
            .into_iter()
            .map(StreamArrival::Event)
            .collect()
    }
}

/// Whether something of an answer came with an event.
fn is_of_an_answer(event: &StreamEvent) -> bool {
    match event {
        StreamEvent::Usage(_) | StreamEvent::Stalled { .. } => false,
        StreamEvent::Text(_)
        | StreamEvent::Reasoning(_)
        | StreamEvent::CallBegun { .. }
        | StreamEvent::CallArguments { .. }
        | StreamEvent::CallEnded { .. } => true,
    }
}

/// The result of a future that is ready at its first poll.
async fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

/// How much of a time is left since then, if any.
fn left(time: Duration, since: Instant) -> Option<Duration> {
    let left = time.saturating_sub(since.elapsed());
    (!left.is_zero()).then_some(left)
}

fn later(time: Duration) -> Pin<Box<Sleep>> {
    Box::pin(sleep(time))
}

fn silent(what: &str, time: Duration) -> RequestFault {
    RequestFault::new(
        FaultClass::Stalled,
        format!("{what} for {}", in_words(time)),
    )
}

fn broken() -> RequestFault {
    // The text of the library names chunks and frames, and no remedy.
    RequestFault::new(
        FaultClass::CutOff,
        "the connection broke before the answer was whole",
    )
}
