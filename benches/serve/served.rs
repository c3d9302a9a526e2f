//! The server: the real program in a process of its own, and what the system says about it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A server that runs.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// How long it took until it answered a request.
    pub(crate) answered: Duration,
}

impl Served {
    /// Starts one in a workspace.
    pub(crate) fn start(root: &Path) -> Self {
        std::fs::create_dir_all(root.join(".a-society")).unwrap();
        let started = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_a-society"))
            .args(["serve", "--port", "0", "--json"])
            .current_dir(root)
            .env("A_SOCIETY_CONFIG", root.join("config.yaml"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        let mut served = Self {
            child,
            address: text("address").parse().unwrap(),
            token: text("token"),
            answered: Duration::ZERO,
        };
        assert!(served.get("/api/health").contains("\"ok\":true"));
        served.answered = started.elapsed();
        served
    }

    /// The body of what a path answers.
    pub(crate) fn get(&self, path: &str) -> String {
        self.ask("GET", path, "")
    }

    /// The body of what a path answers to a message.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        body.to_owned()
    }

    /// Megabytes: what it holds now, or the most it held.
    pub(crate) fn memory_mb(&self, which: &str) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(which));
        let text = line.unwrap().trim_start_matches(':').trim();
        let kb: f64 = text.trim_end_matches(" kB").parse().unwrap();
        kb / 1024.0
    }

    /// Forgets the most it held.
    pub(crate) fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    /// The processor's time that it has taken.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let numbers = rest.split_whitespace().filter_map(|it| it.parse().ok());
        let fields: Vec<u64> = numbers.collect();
        // Without the state the fields begin with the parent; user and system time are the eleventh
        // and the twelfth of them, in hundredths of a second.
        Duration::from_millis((fields[10] + fields[11]) * 10)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
