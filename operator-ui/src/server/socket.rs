//! One socket: what it follows, what it is sent, and what it says.
//!
//! Nothing is queued for it. When there is room on the wire it takes what is new after its cursors,
//! so that a slow one gets the newest of each part, and costs no more memory than a fast one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use a_society_facts::words::choices;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use super::app::{Shared, flow_ref};
use super::commands;
use super::limits::{COMMANDS_MAX, FOLLOWED_MAX, FRAMES_A_SECOND_MAX, LAST_WORDS, SEND_TIMEOUT};
use crate::hub::flow::FlowHub;
use crate::hub::inbox::InboxHub;
use crate::hub::{Cursor, Out};
use crate::protocol::PROTO;
use crate::protocol::command::Command;
use crate::protocol::down::{Ack, Down, False, Fault};
use crate::protocol::limits::{CLIENT_ID_BYTES_MAX, FRAME_BYTES_MAX};
use crate::protocol::row::FlowRef;
use crate::protocol::strict;
use crate::protocol::up::{Topic, Up};

/// Something that is followed.
#[derive(Debug)]
struct FollowedTopic {
    source: FollowedHub,
    cursor: Cursor,
}

#[derive(Debug)]
enum FollowedHub {
    Inbox(Arc<InboxHub>),
    Flow(Arc<FlowHub>),
    Feed(Arc<FlowHub>, String),
}

/// Why a socket ends: the code, and the words.
type SocketEnd = (u16, &'static str);

const PROTOCOL_ERROR: SocketEnd = (1002, "this is not the protocol");
const NOT_TEXT: SocketEnd = (1003, "only text is understood");
const NOT_UTF8: SocketEnd = (1007, "the text is not UTF-8");
const TOO_MUCH: SocketEnd = (1008, "too many messages");
const TOO_LONG: SocketEnd = (1009, "the message is too long");
const GOING_AWAY: SocketEnd = (1001, "the server ends");

struct Session {
    app: Shared,
    socket: WebSocket,
    told: Arc<Notify>,
    followed: BTreeMap<u64, FollowedTopic>,
    live: bool,
    acks: (mpsc::Sender<Ack>, mpsc::Receiver<Ack>),
    under_way: usize,
    /// In which second so many frames came, as the clock counts.
    heard: (u64, u32),
}

/// Serves a socket until one side ends it.
pub(super) async fn serve(app: Shared, socket: WebSocket, place: OwnedSemaphorePermit) {
    app.hubs.counts.sockets.fetch_add(1, Ordering::Relaxed);
    let mut session = Session {
        socket,
        told: Arc::new(Notify::new()),
        followed: BTreeMap::new(),
        live: true,
        acks: mpsc::channel(COMMANDS_MAX),
        under_way: 0,
        heard: (0, 0),
        app,
    };
    let ended = session.run().await;
    if let Some((code, why)) = ended {
        let close = CloseFrame {
            code,
            reason: Utf8Bytes::from_static(why),
        };
        drop(
            timeout(
                SEND_TIMEOUT,
                session.socket.send(Message::Close(Some(close))),
            )
            .await,
        );
        // What is still on its way is taken, or the other side would lose the reason with the rest.
        let rest = async { while let Some(Ok(_)) = session.socket.recv().await {} };
        drop(timeout(LAST_WORDS, rest).await);
    }
    let numbers: Vec<u64> = session.followed.keys().copied().collect();
    for id in numbers {
        session.unfollow(id);
    }
    session
        .app
        .hubs
        .counts
        .sockets
        .fetch_sub(1, Ordering::Relaxed);
    drop(place);
}

impl Session {
    /// Ends with a reason for the other side, or without one if it is gone.
    async fn run(&mut self) -> Option<SocketEnd> {
        let hello = Down::Hello {
            proto: PROTO,
            build: self.app.build.clone(),
            epoch: self.app.hubs.epoch.clone(),
            workspace: self.app.workspace.clone(),
            now: self.app.now(),
            mode: self.app.mode,
        };
        if self.say(&hello).await.is_err() {
            return None;
        }
        let told = Arc::clone(&self.told);
        let app = Arc::clone(&self.app);
        loop {
            if app.ends.load(Ordering::SeqCst) {
                return Some(GOING_AWAY);
            }
            let heard = tokio::select! {
                message = self.socket.recv() => Some(message),
                ack = self.acks.1.recv() => {
                    self.under_way = self.under_way.saturating_sub(1);
                    if let Some(ack) = ack && self.say(&Down::Ack(ack)).await.is_err() {
                        return None;
                    }
                    None
                }
                () = told.notified() => None,
                () = app.ending.notified() => None,
            };
            if let Some(message) = heard {
                match message? {
                    Ok(message) => {
                        if let Err(end) = self.hear(message).await {
                            return end;
                        }
                    }
                    Err(error) => return end_of(error),
                }
            }
            self.send_new().await.ok()?;
        }
    }

    async fn say(&mut self, down: &Down) -> Result<(), ()> {
        let text = serde_json::to_string(down).map_err(drop)?;
        self.send(text).await
    }

    async fn send(&mut self, text: String) -> Result<(), ()> {
        let counts = &self.app.hubs.counts;
        counts.frames.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        let sent = timeout(SEND_TIMEOUT, self.socket.send(Message::Text(text.into()))).await;
        sent.map_err(drop)?.map_err(drop)
    }

    /// Sends what is new of everything that is followed, a frame of each in turn.
    async fn send_new(&mut self) -> Result<(), ()> {
        loop {
            let mut more = false;
            let numbers: Vec<u64> = self.followed.keys().copied().collect();
            for id in numbers {
                let live = self.live;
                let Some(followed) = self.followed.get_mut(&id) else {
                    continue;
                };
                let (out, again) = followed.take(live);
                more |= again;
                let gone = out.iter().any(|out| out.t == "gone");
                for out in out {
                    self.send(out.frame(id)).await?;
                }
                if gone {
                    self.unfollow(id);
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    fn unfollow(&mut self, id: u64) {
        let Some(followed) = self.followed.remove(&id) else {
            return;
        };
        match &followed.source {
            FollowedHub::Inbox(hub) => hub.followers().remove(&self.told),
            FollowedHub::Flow(hub) | FollowedHub::Feed(hub, _) => {
                hub.followers().remove(&self.told)
            }
        }
    }

    /// Handles a message. An error ends the socket.
    async fn hear(&mut self, message: Message) -> Result<(), Option<SocketEnd>> {
        let second = self.app.hubs.store.ground().clock.elapsed_us() / 1_000_000;
        if second != self.heard.0 {
            self.heard = (second, 0);
        }
        self.heard.1 += 1;
        if self.heard.1 > FRAMES_A_SECOND_MAX {
            return Err(Some(TOO_MUCH));
        }
        let text = match message {
            Message::Text(text) if text.len() > FRAME_BYTES_MAX => {
                let Some(ack) = refused_message(&text, too_long()) else {
                    return Err(Some(TOO_LONG));
                };
                return self.say(&Down::Ack(ack)).await.map_err(|()| None);
            }
            Message::Text(text) => text,
            Message::Binary(_) => return Err(Some(NOT_TEXT)),
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err(None),
        };
        match strict::read::<Up>(&text) {
            Ok(up) => self.obey(up).await.map_err(|()| None),
            Err(why) => {
                let ack = refused_message(&text, commands::unfit(why));
                match ack {
                    Some(ack) => self.say(&Down::Ack(ack)).await.map_err(|()| None),
                    None => Err(Some(PROTOCOL_ERROR)),
                }
            }
        }
    }

    async fn obey(&mut self, up: Up) -> Result<(), ()> {
        match up {
            Up::Sub {
                id,
                topic,
                since,
                epoch,
                window,
            } => {
                self.unfollow(id);
                let cursor = Cursor::new(since, epoch, window);
                match self.follow(topic).await {
                    Ok(source) => {
                        self.followed.insert(id, FollowedTopic { source, cursor });
                        Ok(())
                    }
                    Err(why) => self.send(Out::gone(&why).frame(id)).await,
                }
            }
            Up::Unsub { id } => {
                self.unfollow(id);
                Ok(())
            }
            Up::Do { cmd, flow, command } => self.command(cmd, flow, command).await,
            Up::Live { on } => {
                self.live = on;
                Ok(())
            }
            Up::Ping { n } => self.say(&Down::Pong { n }).await,
        }
    }

    async fn follow(&mut self, topic: Topic) -> Result<FollowedHub, String> {
        if self.followed.len() >= FOLLOWED_MAX {
            return Err("this page follows too much at once".to_owned());
        }
        let (flow, role) = match topic {
            Topic::Inbox {} => {
                let hub = self.app.hubs.inbox()?;
                hub.followers().add(&self.told);
                return Ok(FollowedHub::Inbox(hub));
            }
            Topic::Flow { flow } => (flow, None),
            Topic::Feed { flow, role } => (flow, Some(role)),
        };
        let flow = flow_ref(&flow).map_err(|fault| fault.why)?;
        let (hubs, told) = (Arc::clone(&self.app.hubs), Arc::clone(&self.told));
        let place = Arc::clone(&self.app.workers).acquire_owned().await;
        let place = place.map_err(|error| error.to_string())?;
        // The first who follows a flow opens its journal.
        let hub = tokio::task::spawn_blocking(move || {
            let hub = hubs.follow(&flow, &told);
            drop(place);
            hub
        });
        let hub = hub.await.map_err(|error| error.to_string())??;
        Ok(match role {
            Some(role) => FollowedHub::Feed(hub, role),
            None => FollowedHub::Flow(hub),
        })
    }

    async fn command(&mut self, cmd: String, flow: FlowRef, command: Command) -> Result<(), ()> {
        let busy = self.under_way >= COMMANDS_MAX;
        if busy || cmd.len() > CLIENT_ID_BYTES_MAX {
            let why = if busy {
                "too many commands of this page are under way"
            } else {
                "the name of the command is too long"
            };
            return self
                .say(&Down::Ack(failed(cmd, commands::unfit(why.to_owned()))))
                .await;
        }
        self.under_way += 1;
        let (app, acks) = (Arc::clone(&self.app), self.acks.0.clone());
        // The client may be gone before it is done; it is done all the same.
        let workers = Arc::clone(&app.workers);
        let work = move |place: OwnedSemaphorePermit| {
            let ack = commands::done(&app, &cmd, &flow, command);
            drop(acks.try_send(ack));
            drop(place);
        };
        // In the order in which they came, and without holding up what else this socket says.
        if let Ok(place) = Arc::clone(&workers).try_acquire_owned() {
            drop(tokio::task::spawn_blocking(move || work(place)));
        } else {
            drop(tokio::spawn(async move {
                if let Ok(place) = workers.acquire_owned().await {
                    drop(tokio::task::spawn_blocking(move || work(place)));
                }
            }));
        }
        Ok(())
    }
}

impl FollowedTopic {
    fn take(&mut self, live: bool) -> (Vec<Out>, bool) {
        match &self.source {
            FollowedHub::Inbox(hub) => (hub.take(&mut self.cursor), false),
            FollowedHub::Flow(hub) => (hub.take_parts(&mut self.cursor), false),
            FollowedHub::Feed(hub, role) => hub.take_feed(role, &mut self.cursor, live),
        }
    }
}

const fn failed(cmd: String, error: Fault) -> Ack {
    Ack::Failed {
        cmd,
        ok: False,
        error,
    }
}

/// A command of more bytes than there may be.
fn too_long() -> Fault {
    Fault {
        code: "message-unfit".to_owned(),
        what: choices::TOO_LONG.to_owned(),
        why: choices::longer_than(&(FRAME_BYTES_MAX >> 20).to_string()),
        r#try: choices::AS_A_FILE.to_owned(),
    }
}

/// A command that makes no sense is answered under its name, if it has one.
fn refused_message(text: &str, error: Fault) -> Option<Ack> {
    #[derive(serde::Deserialize)]
    struct NamedCommand {
        t: String,
        cmd: String,
    }
    let named: NamedCommand = serde_json::from_str(text).ok()?;
    let is_command = named.t == "do" && named.cmd.len() <= CLIENT_ID_BYTES_MAX;
    is_command.then(|| failed(named.cmd, error))
}

/// What a broken frame is called.
fn end_of(error: axum::Error) -> Option<SocketEnd> {
    use tungstenite::Error as Broken;
    let inner = error.into_inner();
    let broken = inner.downcast_ref::<Broken>()?;
    match broken {
        Broken::Capacity(_) => Some(TOO_LONG),
        Broken::Utf8(_) => Some(NOT_UTF8),
        Broken::Protocol(_) => Some(PROTOCOL_ERROR),
        Broken::ConnectionClosed
        | Broken::AlreadyClosed
        | Broken::Io(_)
        | Broken::Tls(_)
        | Broken::WriteBufferFull(_)
        | Broken::AttackAttempt
        | Broken::Url(_)
        | Broken::Http(_)
        | Broken::HttpFormat(_) => None,
    }
}
