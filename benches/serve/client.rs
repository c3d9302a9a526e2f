//! One who follows: a socket, as any program opens it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::protocol::{Message, Role, WebSocket};

use crate::served::Served;

/// Far longer than anything takes that goes well.
const PATIENCE: Duration = Duration::from_secs(60);

/// A socket of a server.
pub(crate) struct Client(WebSocket<TcpStream>);

impl Client {
    /// Connects, and reads the server's first messages.
    pub(crate) fn new(served: &Served) -> Self {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let request = format!(
            "GET /api/socket HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            served.address, served.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            assert_eq!(stream.read(&mut byte).unwrap(), 1);
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "));
        let mut client = Self(WebSocket::from_raw_socket(stream, Role::Client, None));
        assert!(client.hear().starts_with("{\"t\":\"hello\""));
        client
    }

    /// Follows a role's feed, after a record if one is given.
    pub(crate) fn follow(&mut self, flow: &Value, role: &str, since: Option<(u64, &str)>) {
        let topic = json!({ "topic": "feed", "flow": flow, "role": role });
        let (since, epoch) = since.unzip();
        self.say(&json!({ "t": "sub", "id": 1, "topic": topic, "since": since, "epoch": epoch }));
    }

    pub(crate) fn say(&mut self, message: &Value) {
        let text = message.to_string();
        self.0.send(Message::text(text)).unwrap();
    }

    /// The next message.
    pub(crate) fn hear(&mut self) -> String {
        loop {
            match self.0.read().unwrap() {
                Message::Text(text) => return text.as_str().to_owned(),
                Message::Close(frame) => panic!("it was closed: {frame:?}"),
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}
