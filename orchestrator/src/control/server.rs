//! Listens beside a flow's task: each client has a thread of its own, and is read one line at a time.
//!
//! Whatever a client sends, the flow's task gets whole commands only. A line without an end, a client
//! that sends nothing and one too many get an error and are disconnected.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::fault;
use super::limits::{
    CONNECTIONS_MAX, MESSAGE_BYTES_MAX, PAUSE_AFTER_FAILURE, READ_TIMEOUT, WRITE_TIMEOUT,
};
use super::message::{ControlFault, ControlFaultCode, ControlReply, ControlRequest, VERSION};
use super::socket::{ControlDoor, CountedPlaces, DoorParts};
use crate::driver::handle::FlowHandle;

/// Listens until the door is closed.
///
/// # Errors
/// When the system has no thread left.
pub(crate) fn listen(door: &ControlDoor, handle: FlowHandle) -> io::Result<()> {
    let parts = door.parts();
    std::thread::Builder::new()
        .name("control".to_owned())
        .spawn(move || accept(&parts, &handle))?;
    Ok(())
}

fn accept(parts: &DoorParts, handle: &FlowHandle) {
    let (listener, closed) = (&parts.listener, &parts.closed);
    let heard = Arc::default();
    while !closed.load(Ordering::SeqCst) {
        let Ok((stream, _)) = listener.accept() else {
            // No descriptor is left, perhaps. Another try at once would only burn time.
            std::thread::sleep(PAUSE_AFTER_FAILURE);
            continue;
        };
        if closed.load(Ordering::SeqCst) {
            return;
        }
        admit(stream, &heard, &parts.answering, handle);
    }
}

/// Serves a client on a thread of its own, if there is room for one more.
fn admit(
    stream: UnixStream,
    heard: &Arc<CountedPlaces>,
    answering: &Arc<CountedPlaces>,
    handle: &FlowHandle,
) {
    let place = heard.take(CONNECTIONS_MAX);
    if place.is_none() {
        let full = fault::unfit("too many clients talk to this flow at once");
        drop(say(&stream, &ControlReply::Error(full)));
        return;
    }
    let (handle, answering) = (handle.clone(), Arc::clone(answering));
    let spawned = std::thread::Builder::new()
        .name("control-client".to_owned())
        .spawn(move || {
            // A client that goes away has its answer or does not want it.
            drop(converse(&stream, &answering, &handle));
            drop(place);
        });
    drop(spawned);
}

fn converse(
    stream: &UnixStream,
    answering: &Arc<CountedPlaces>,
    handle: &FlowHandle,
) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let mut bounded = (&mut reader).take(MESSAGE_BYTES_MAX + 1);
        bounded.read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if line.len() as u64 > MESSAGE_BYTES_MAX {
            return say(stream, &ControlReply::Error(fault::too_long()));
        }
        let _owed = answering.take(CONNECTIONS_MAX);
        say(stream, &answer(&line, handle))?;
    }
}

fn answer(line: &[u8], handle: &FlowHandle) -> ControlReply {
    match heard(line, handle) {
        Ok(taken) => ControlReply::Ok(taken),
        Err(fault) => ControlReply::Error(fault),
    }
}

fn heard(line: &[u8], handle: &FlowHandle) -> Result<super::message::Taken, ControlFault> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        v: u32,
    }
    let unfit = |error: serde_json::Error| fault::unfit(&error.to_string());
    let versioned: Versioned = serde_json::from_slice(line).map_err(unfit)?;
    if versioned.v != VERSION {
        return Err(ControlFault {
            code: ControlFaultCode::NewerVersion,
            what: format!("the message is of version {}", versioned.v),
            why: format!("the process that drives the flow speaks version {VERSION}"),
            r#try: "use the same version of a-society for both".to_owned(),
        });
    }
    let request: ControlRequest = serde_json::from_slice(line).map_err(unfit)?;
    handle
        .obey(request.command, request.client)
        .map_err(|error| fault::of(&error))
}

fn say(mut stream: &UnixStream, answer: &ControlReply) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}
