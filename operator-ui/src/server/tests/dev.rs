//! The page's files from a development server, and what stays here all the same.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::super::dev::DevSource;
use super::{PATIENCE, Stage, status_of};

/// A server of files that answers every request with its own path, and keeps what it was asked.
struct Files {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Files {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = String::new();
                let mut piece = [0; 4096];
                while !head.contains("\r\n\r\n") {
                    let read = stream.read(&mut piece).unwrap();
                    head.push_str(&String::from_utf8_lossy(&piece[..read]));
                }
                let path = head.split(' ').nth(1).unwrap().to_owned();
                kept.lock().unwrap().push(head);
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nETag: \"one\"\r\n\
                     Set-Cookie: theirs=1\r\nContent-Security-Policy: none\r\n\
                     Content-Length: {}\r\n\r\n{path}",
                    path.len()
                );
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { address, asked }
    }
}

fn stage(files: SocketAddr) -> Stage {
    Stage::with(|options| options.dev = Some(DevSource::named(&format!("http://{files}")).unwrap()))
}

/// All of an answer; a file comes in pieces.
fn get(stage: &Stage, path: &str, more: &str) -> String {
    let mut stream = TcpStream::connect(stage.server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{more}\r\n",
        stage.port()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn only_an_address_of_this_machine_is_one_that_files_are_taken_from() {
    for good in [
        "http://127.0.0.1:5173",
        "http://127.0.0.1:5173/",
        "http://[::1]:80",
    ] {
        assert!(DevSource::named(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "127.0.0.1:5173",
        "https://127.0.0.1:5173",
        "http://127.0.0.1",
        "http://192.0.2.1:5173",
        "http://0.0.0.0:5173",
        "http://elsewhere.example:5173",
        "http://127.0.0.1:5173@192.0.2.1:80",
        "http://127.0.0.1:5173/path",
    ] {
        assert!(DevSource::named(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_pages_files_come_from_there_without_anything_of_the_operator_and_the_rest_stays_here() {
    let files = Files::new();
    let stage = stage(files.address);
    let token = stage.server.token();
    let secret = format!("Authorization: Bearer {token}\r\nCookie: a=b\r\nAccept: text/html\r\n");
    for path in ["/", "/@vite/client", "/src/main.ts?t=17", "/p/demo/f/x"] {
        let answer = get(&stage, path, &secret);
        assert_eq!(status_of(&answer), 200, "{path}");
        let lower = answer.to_lowercase();
        assert!(
            answer.ends_with(path) && lower.contains("etag: \"one\""),
            "{answer}"
        );
        assert!(!lower.contains("set-cookie"), "{answer}");
        let policy = format!("connect-src 'self' http://{0} ws://{0};", files.address);
        assert!(answer.contains(&policy), "{answer}");
        assert_eq!(
            lower.matches("content-security-policy").count(),
            1,
            "{answer}"
        );
    }
    for head in files.asked.lock().unwrap().drain(..) {
        let lower = head.to_lowercase();
        assert!(lower.contains("accept: text/html"), "{head}");
        assert!(!head.contains(token) && !lower.contains("cookie"), "{head}");
        assert!(
            lower.contains(&format!("host: {}", files.address)),
            "{head}"
        );
    }
    // What is data is answered here, under the strict policy, and not forwarded.
    for (path, status) in [
        ("/api/health", 200),
        ("/api/projects", 401),
        ("/api/there-is-none", 401),
        ("/metrics", 401),
    ] {
        let answer = get(&stage, path, "");
        assert_eq!(status_of(&answer), status, "{path}");
        assert!(
            answer.contains("default-src 'none'") && !answer.contains(&files.address.to_string()),
            "{answer}"
        );
    }
    let elsewhere = stage.ask("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(status_of(&elsewhere), 403);
    assert!(files.asked.lock().unwrap().is_empty());
}

#[test]
fn where_nothing_answers_the_page_says_how_to_start_it() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    let answer = get(&stage(nobody.unwrap()), "/", "");
    assert_eq!(status_of(&answer), 502);
    assert!(answer.contains("npm run dev"), "{answer}");
}
