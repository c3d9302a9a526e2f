//! The server over TLS: who it is, and what it makes of those who speak otherwise.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::super::tls::{Identity, TlsError};
use super::{PATIENCE, Stage, UPGRADE, status_of};

/// A certificate that vouches for itself.
fn certified() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["localhost".to_owned(), "box.lan".to_owned()]).unwrap()
}

fn identity(of: &CertifiedKey<KeyPair>) -> Identity {
    let (chain, key) = (of.cert.pem(), of.signing_key.serialize_pem());
    Identity::read(chain.as_bytes(), key.as_bytes()).unwrap()
}

/// A server over TLS that is also reached by a name.
fn stage(of: &CertifiedKey<KeyPair>) -> Stage {
    Stage::with(|options| {
        options.identity = Some(identity(of));
        options.hosts = vec!["box.lan".to_owned()];
    })
}

/// What comes back over TLS for a request whose head is given with `P` for the port.
fn ask(
    stage: &Stage,
    trusted: &CertifiedKey<KeyPair>,
    head: &str,
    body: &str,
) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "box.lan".try_into().unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(stage.server.address())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut tls = StreamOwned::new(connection, stream);
    let head = head.replace("{P}", &stage.port().to_string());
    let length = body.len();
    write!(tls, "{head}\r\nContent-Length: {length}\r\n\r\n{body}")?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        match tls.read(&mut piece)? {
            0 => break,
            read => answer.extend_from_slice(&piece[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn over_tls_the_cookie_is_for_tls_only_and_so_are_the_origins() {
    let of = certified();
    let stage = stage(&of);
    let link = stage.server.link();
    assert!(link.starts_with("https://127.0.0.1:"));
    let (_, token) = link.split_once("#token=").unwrap();
    let body = format!("{{\"token\":\"{token}\"}}");
    let session = "POST /api/session HTTP/1.1\r\nHost: box.lan:{P}\r\nOrigin: https://box.lan:{P}\r\n\
                   Content-Type: application/json";
    let answer = ask(&stage, &of, session, &body).unwrap();
    let line = answer.lines().find(|line| line.starts_with("set-cookie: "));
    let line = line.unwrap();
    for wanted in ["; Secure", "HttpOnly", "SameSite=Strict"] {
        assert!(line.contains(wanted), "{line}");
    }
    let cookie = line["set-cookie: ".len()..].split(';').next().unwrap();
    let socket = |host: &str, origin: &str| {
        format!(
            "GET /api/socket HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nOrigin: {origin}\r\n{UPGRADE}"
        )
    };
    let rows = [
        ("box.lan:{P}", "https://box.lan:{P}", 101),
        ("localhost:{P}", "https://localhost:{P}", 101),
        ("box.lan:{P}", "http://box.lan:{P}", 403),
        ("box.lan:{P}", "https://box.lan", 403),
        ("evil.example:{P}", "https://box.lan:{P}", 403),
    ];
    for (host, origin, wanted) in rows {
        let answer = ask(&stage, &of, &socket(host, origin), "").unwrap();
        assert_eq!(status_of(&answer), wanted, "{host} {origin}");
    }
}

#[test]
fn whoever_speaks_without_encryption_is_told_so_and_learns_nothing() {
    let stage = stage(&certified());
    let head = "GET /api/health HTTP/1.1\r\nHost: box.lan:{P}\r\n\r\n";
    let mut stream = TcpStream::connect(stage.server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(status_of(&answer), 400);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains(&format!("Content-Length: {}", body.len())),
        "{head}"
    );
    assert!(body.contains("https://"), "{body}");
}

#[test]
fn whoever_does_not_trust_the_certificate_or_speaks_nonsense_harms_nobody() {
    let of = certified();
    let stage = stage(&of);
    let health = "GET /api/health HTTP/1.1\r\nHost: box.lan:{P}";
    assert!(ask(&stage, &certified(), health, "").is_err());
    let mut nonsense = TcpStream::connect(stage.server.address()).unwrap();
    nonsense.set_read_timeout(Some(PATIENCE)).unwrap();
    nonsense.write_all(&[22, 3, 1, 255, 255, 0, 0]).unwrap();
    drop(nonsense.write_all(&[0; 64]));
    drop(nonsense.read_to_end(&mut Vec::new()));
    assert_eq!(status_of(&ask(&stage, &of, health, "").unwrap()), 200);
}

#[test]
fn a_certificate_without_its_key_is_refused_with_the_reason() {
    let (one, other) = (certified(), certified());
    let (chain, key) = (one.cert.pem(), one.signing_key.serialize_pem());
    let why =
        |chain: &str, key: &str| Identity::read(chain.as_bytes(), key.as_bytes()).unwrap_err();
    assert!(matches!(
        why(&chain, &other.signing_key.serialize_pem()),
        TlsError::KeyOfAnother
    ));
    assert!(matches!(why("", &key), TlsError::NoCertificate));
    // A file of the one kind in the place of the other.
    assert!(matches!(why(&key, &key), TlsError::NoCertificate));
    assert!(matches!(why(&chain, &chain), TlsError::Key(_)));
    assert!(matches!(why(&chain, "nothing"), TlsError::Key(_)));
}
