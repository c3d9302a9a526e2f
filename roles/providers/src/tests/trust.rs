//! Whom a client trusts.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::Server;
use super::strict::{self, Ending, Piece, Used};
use super::*;
use crate::FaultClass;

/// A server with a self-signed certificate, and that certificate.
fn self_signed() -> (String, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let pem = made.cert.pem().into_bytes();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    thread::spawn(move || {
        for connection in listener.incoming() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, connection.unwrap());
            let mut request = [0; 64 * 1024];
            // A client that does not trust the certificate hangs up here.
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let said = [Piece::text("Hi.")];
                let body = strict::say(Wire::Chat, "m-1", &said, Ending::Natural, Used::default());
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                stream
                    .write_all(format!("{head}{body}").as_bytes())
                    .unwrap();
            }
            stream.conn.send_close_notify();
            let _sent = stream.flush();
        }
    });
    (format!("https://localhost:{port}"), pem)
}

#[test]
fn a_certificate_that_nobody_signed_is_a_fault_that_is_not_tried_again() {
    let (url, _) = self_signed();
    let fault = ask(
        &provider_at(Wire::Chat, &url, short_times()),
        &[user("Look.")],
    )
    .unwrap_err();
    assert_eq!(fault.class, FaultClass::Tls, "{fault}");
    assert!(!fault.is_retryable());
}

#[test]
fn a_certificate_that_the_operator_trusts_is_trusted() {
    let (url, pem) = self_signed();
    let transport = Transport::new(short_times(), None, vec![pem]);
    let provider = HttpProvider::new(endpoint(Wire::Chat, &url), Arc::new(transport)).unwrap();
    assert_eq!(ask(&provider, &[user("Look.")]).unwrap().text, "Hi.");
}

#[test]
fn a_server_without_tls_behind_an_https_address_is_a_fault_of_the_network() {
    let server = Server::start([]);
    let url = server
        .url()
        .replace("http://127.0.0.1", "https://localhost");
    let fault = ask(
        &provider_at(Wire::Chat, &url, short_times()),
        &[user("Look.")],
    )
    .unwrap_err();
    assert_ne!(fault.class, FaultClass::Tls, "{fault}");
    assert!(fault.is_retryable(), "{fault}");
}

#[test]
fn an_address_or_a_header_that_is_none_is_said_before_anything_is_sent() {
    let build = |endpoint: Endpoint| HttpProvider::new(endpoint, Arc::default()).unwrap_err();
    for url in ["", "api.example.com", "file:///etc/x", "http://"] {
        assert_eq!(
            build(endpoint(Wire::Chat, url)).class,
            FaultClass::Invalid,
            "{url}"
        );
    }
    let mut odd = endpoint(Wire::Chat, "http://127.0.0.1:1");
    odd.headers.push(("x y".into(), "1".into()));
    assert_eq!(build(odd).class, FaultClass::Invalid);
    let mut odd = endpoint(Wire::Chat, "http://127.0.0.1:1");
    odd.key = Some(Secret::new("two\nlines"));
    let fault = build(odd);
    assert_eq!(fault.class, FaultClass::Key);
    assert!(!fault.message.contains("two"), "{fault}");
}
