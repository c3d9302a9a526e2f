//! What `run` costs on a terminal while a model speaks: frames, bytes, processor, and how late words and keys are shown.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::model::Model;
use crate::run::{Bench, line, ms};
use crate::watchers::configure;

/// Two hundred a second, for ten seconds.
const WORDS: usize = 2_000;
const PACE: Duration = Duration::from_millis(5);

/// A paragraph has so many words.
const PARAGRAPH: usize = 60;

const SIZE: Winsize = Winsize {
    ws_row: 30,
    ws_col: 110,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// How often a key is pressed in an open field.
const KEY_EVERY: Duration = Duration::from_millis(130);

/// A word with its number, and the end of its paragraph.
fn spoken(number: usize) -> String {
    let end = if (number + 1).is_multiple_of(PARAGRAPH) {
        ".\n\n"
    } else {
        " "
    };
    format!("w{number:06}{end}")
}

/// One run on a terminal.
struct Shown {
    /// When what was written came, in microseconds by the model's clock, and up to which byte.
    came: Vec<(u64, usize)>,
    bytes: Vec<u8>,
    /// When each key was pressed, with how much had been written by then.
    keys: Vec<(u64, u8)>,
    cpu: Duration,
    memory_mb: f64,
}

/// `run` of a flow with one role, on a terminal or into a pipe.
struct Run {
    child: Child,
    screen: Option<File>,
}

impl Run {
    fn start(root: &Path, screen: Option<File>, ends: Option<[File; 3]>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a-society"));
        command
            .args(["run", "flow.yaml", "--improve", "none"])
            .current_dir(root)
            .env("A_SOCIETY_CONFIG", root.join("config.yaml"))
            .env("TERM", "xterm-256color");
        match ends {
            Some([keys, out, faults]) => command.stdin(keys).stdout(out).stderr(faults),
            None => command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        };
        Self {
            child: command.spawn().unwrap(),
            screen,
        }
    }

    fn on_terminal(root: &Path) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let screen = screen.unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        tcsetwinsize(&screen, SIZE).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = || File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        Self::start(root, Some(File::from(screen)), Some([end(), end(), end()]))
    }

    fn stat(&self, what: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{what}", self.child.id())).unwrap()
    }

    /// User and system time, in hundredths of a second.
    fn cpu(&self) -> Duration {
        let stat = self.stat("stat");
        let (_, rest) = stat.rsplit_once(')').unwrap();
        let numbers = rest.split_whitespace().filter_map(|it| it.parse().ok());
        let fields: Vec<u64> = numbers.collect();
        Duration::from_millis((fields[10] + fields[11]) * 10)
    }

    fn memory_mb(&self) -> f64 {
        let status = self.stat("status");
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kb: f64 = line
            .unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap();
        kb / 1024.0
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            let _ = Pid::from_raw(id).map(|id| kill_process(id, Signal::INT));
        }
        // A second word, for one that asks whether it is meant.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Lets the model speak to a run on a terminal, and presses keys in a field meanwhile if `types`.
fn on_terminal(root: &Path, types: bool) -> (Shown, Model) {
    let model = Model::paced(WORDS, PACE, spoken);
    configure(root, &model.url);
    let mut run = Run::on_terminal(root);
    model.until_asked();
    let screen = run.screen.take().unwrap();
    let (mut reader, mut writer) = (screen.try_clone().unwrap(), screen);
    let is_over = AtomicBool::new(false);
    let begun = run.cpu();
    let shown = std::thread::scope(|scope| {
        let (model, is_over) = (&model, &is_over);
        let read = scope.spawn(move || {
            let (mut came, mut bytes, mut piece) = (Vec::new(), Vec::new(), [0; 65_536]);
            while let Ok(read @ 1..) = reader.read(&mut piece) {
                bytes.extend_from_slice(&piece[..read]);
                came.push((model.now_us(), bytes.len()));
                if is_over.load(Ordering::Acquire) {
                    break;
                }
            }
            (came, bytes)
        });
        // What the start writes is no part of what is measured.
        std::thread::sleep(Duration::from_millis(500));
        let mut keys = Vec::new();
        if types {
            writer.write_all(b"s").unwrap();
            std::thread::sleep(Duration::from_millis(600));
        }
        model.go();
        let until = Instant::now() + PACE * u32::try_from(WORDS).unwrap();
        while Instant::now() < until {
            std::thread::sleep(KEY_EVERY);
            if types {
                // No eight of them come twice.
                let letter = b'a' + u8::try_from(keys.len().pow(3) * 31 / 5 % 26).unwrap();
                keys.push((model.now_us(), letter));
                writer.write_all(&[letter]).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(300));
        let (cpu, memory_mb) = (run.cpu() - begun, run.memory_mb());
        is_over.store(true, Ordering::Release);
        drop(run);
        let (came, bytes) = read.join().unwrap();
        Shown {
            came,
            bytes,
            keys,
            cpu,
            memory_mb,
        }
    });
    (shown, model)
}

/// The processor's time of the same run into a pipe.
fn piped(root: &Path) -> Duration {
    let model = Model::paced(WORDS, PACE, spoken);
    configure(root, &model.url);
    let run = Run::start(root, None, None);
    model.until_asked();
    let begun = run.cpu();
    model.go();
    std::thread::sleep(PACE * u32::try_from(WORDS).unwrap() + Duration::from_millis(300));
    run.cpu() - begun
}

impl Shown {
    /// When the byte at a place came.
    fn at(&self, place: usize) -> u64 {
        let before = self.came.partition_point(|(_, end)| *end <= place);
        self.came[before.min(self.came.len() - 1)].0
    }

    /// How late each word that was shown came, in milliseconds.
    fn words(&self, model: &Model) -> Vec<f64> {
        let find = |number: usize| {
            let word = format!("w{number:06}");
            memchr(&self.bytes, word.as_bytes())
                .map(|place| self.at(place).saturating_sub(model.sent_us(number)) as f64 / 1e3)
        };
        sorted((0..model.deltas()).filter_map(find).collect())
    }

    /// How late each key was shown, in milliseconds: the first frame after it that holds it behind what was typed.
    fn keys(&self) -> Vec<f64> {
        let mut typed = String::new();
        let mut late = Vec::new();
        for (when, letter) in &self.keys {
            typed.push(char::from(*letter));
            let tail = &typed.as_bytes()[typed.len().saturating_sub(8)..];
            let place = memchr(&self.bytes, tail);
            late.extend(place.map(|it| self.at(it).saturating_sub(*when) as f64 / 1e3));
        }
        sorted(late)
    }

    fn frames(&self) -> usize {
        let begin = b"\x1b[?2026h";
        let windows = self.bytes.windows(begin.len());
        windows.filter(|it| it == begin).count()
    }
}

/// Where a text is first.
fn memchr(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|it| it == wanted)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn share(values: &[f64], percent: usize) -> f64 {
    values[(values.len() - 1) * percent / 100]
}

/// A model that speaks 200 words a second to `run` on a terminal of 110 columns and 30 rows.
pub(crate) fn streams(bench: &Bench) {
    let root = |name| bench.folder(name);
    let (shown, model) = on_terminal(&root("terminal"), false);
    let pipe = piped(&root("terminal-piped"));
    let (typed, spoke) = on_terminal(&root("terminal-typed"), true);
    let seconds = (PACE * u32::try_from(WORDS).unwrap()).as_secs_f64();
    let words = shown.words(&model);
    let title = "200 words a second to `run` on a terminal, 110 × 30";
    let more = (shown.cpu.saturating_sub(pipe)).as_secs_f64() / seconds * 100.0;
    line(
        &format!("{title}: processor more than into a pipe"),
        "at most 2 % of one core",
        &format!("{more:.2} % ({:.0} and {:.0} ms)", ms(shown.cpu), ms(pipe)),
    );
    let frames = shown.frames();
    line(
        "the same: bytes and frames a second, bytes a frame",
        "at most 15 KB, 30, 4 KB",
        &format!(
            "{:.1} KB, {:.1}, {:.2} KB",
            shown.bytes.len() as f64 / 1e3 / seconds,
            frames as f64 / seconds,
            shown.bytes.len() as f64 / 1e3 / frames as f64
        ),
    );
    line(
        "the same: from the word to the screen, half of them and 99 of 100",
        "at most 50 ms",
        &format!(
            "{:.1} ms, {:.1} ms ({} of {WORDS} seen)",
            share(&words, 50),
            share(&words, 99),
            words.len()
        ),
    );
    let keys = typed.keys();
    line(
        "the same with an open field: from a key to the screen, half of them and 99 of 100",
        "at most 16 ms",
        &format!(
            "{:.1} ms, {:.1} ms ({} of {} seen)",
            share(&keys, 50),
            share(&keys, 99),
            keys.len(),
            typed.keys.len()
        ),
    );
    let late = typed.words(&spoke);
    line(
        "the same: words, half of them and 99 of 100; the most memory",
        "at most 50 ms",
        &format!(
            "{:.1} ms, {:.1} ms; {:.0} MB",
            share(&late, 50),
            share(&late, 99),
            typed.memory_mb
        ),
    );
}
