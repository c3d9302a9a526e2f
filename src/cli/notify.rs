//! Runs the operator's notification command when a flow waits, is done, failed or used up its budget.
//!
//! Each flow that this process drives has one thread for it. The thread looks at the flow, runs the command
//! with a time limit, and looks again. The flow never waits for the command; what happens while it runs is
//! reported after the next look.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use a_society_facts::view::flow::FlowStatus;
use a_society_operator_ui::fold::asks::open;
use a_society_orchestrator::config::user::{self, NotifyConfig, Occasion};
use a_society_orchestrator::driver::handle::{FlowHandle, Seen};
use a_society_orchestrator::machine::Work;
use a_society_state::FlowRef;
use serde_json::json;

use super::asks;
use crate::exit_code::ExitCode;
use crate::text::plain;

/// How long the flow is waited for before it is looked whether its task is still there.
const LOOK: Duration = Duration::from_secs(10);

/// A question that is answered sooner was decided beforehand and needs no notification.
const SETTLES: Duration = Duration::from_millis(300);

/// How long a command may run while its flow is driven. That is enough to send a mail.
const RUNS_LOOKS_MAX: u32 = 250;
const RUNS_LOOK: Duration = Duration::from_millis(20);

/// How long all commands together may run on after the flow. `run` waits for them, because a command that outlives it could
/// be left behind; one that hangs is ended with all that it started.
const RUNS_AFTER_LOOKS_MAX: u32 = 50;

/// The notification thread of a flow; it ends soon after the flow's task.
#[derive(Debug)]
pub(crate) struct Notifier {
    thread: JoinHandle<Option<String>>,
    /// Whether the flow is not driven any more.
    is_over: Arc<AtomicBool>,
}

impl Notifier {
    /// Starts the thread, if the configuration names a command.
    pub(crate) fn begin(flow: &FlowRef, handle: &FlowHandle) -> Option<Self> {
        // `run` has already refused a configuration that cannot be parsed.
        let config = user::notify().ok().flatten()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut teller = NotifyLoop {
            patience: CommandPatience {
                is_over: Arc::clone(&is_over),
                after: 0,
            },
            config,
            flow: flow.clone(),
            handle: handle.clone(),
            told: BTreeSet::new(),
            failed: None,
        };
        let thread = std::thread::Builder::new().name("notify".to_owned());
        let thread = thread.spawn(move || {
            teller.look();
            teller.failed
        });
        Some(Self {
            thread: thread.ok()?,
            is_over,
        })
    }

    /// Waits a moment for the last notification, and returns why the command failed, if it did.
    pub(crate) fn finish(self) -> Option<String> {
        self.is_over.store(true, Ordering::Release);
        self.thread.join().ok().flatten()
    }
}

/// How long a command may still run.
struct CommandPatience {
    is_over: Arc<AtomicBool>,
    /// How often a command was looked at since the flow is over.
    after: u32,
}

impl CommandPatience {
    /// Why a command that was looked at so often is ended now, if it is.
    fn ends(&mut self, looks: u32) -> Option<String> {
        if self.is_over.load(Ordering::Acquire) {
            self.after += 1;
        }
        let seconds = |looks: u32| (RUNS_LOOK * looks).as_secs();
        if self.after > RUNS_AFTER_LOOKS_MAX {
            let after = seconds(RUNS_AFTER_LOOKS_MAX);
            return Some(format!("it was ended {after} s after the flow"));
        }
        let is_long = looks >= RUNS_LOOKS_MAX;
        is_long.then(|| format!("it was ended after {} s", seconds(RUNS_LOOKS_MAX)))
    }
}

struct NotifyLoop {
    patience: CommandPatience,
    config: NotifyConfig,
    flow: FlowRef,
    handle: FlowHandle,
    /// What was notified already and still holds.
    told: BTreeSet<String>,
    failed: Option<String>,
}

impl NotifyLoop {
    fn look(&mut self) {
        let mut after = 0;
        loop {
            let Some(seen) = self.handle.wait(after, LOOK) else {
                continue;
            };
            after = seen.seq;
            if seen.over {
                self.tell(&seen);
                return;
            }
            let asks = |work: &Work| matches!(work, Work::AskOperator(_));
            if !seen.pending.iter().any(asks) {
                self.told.clear();
                continue;
            }
            // A question that is answered at once is not worth a notification.
            let next = self.handle.wait(after, SETTLES);
            if next.is_some_and(|next| next.seq == after && !next.over) {
                self.tell(&seen);
            }
        }
    }

    /// Tells what is new.
    fn tell(&mut self, seen: &Seen) {
        let mut news = Vec::new();
        if seen.state.status == FlowStatus::Completed {
            news.push((Occasion::Done, "completed".to_owned()));
        } else if !seen.state.status.is_over() {
            let asks = open(&seen.state, &seen.pending);
            let before = std::mem::take(&mut self.told);
            for ask in &asks {
                // A second question of a node is another one.
                let name = format!("{}/{}", ask.name(), ask.since);
                if !before.contains(&name) {
                    let (who, what) = (asks::who(ask), ask.wants());
                    let words = format!("{} waits for {}", plain(&who), plain(&what));
                    news.push((occasion(asks::code(ask)), words));
                }
                self.told.insert(name);
            }
        }
        for (occasion, words) in news {
            if self.config.on.contains(&occasion) {
                self.run(seen, occasion, &words);
            }
        }
    }

    fn run(&mut self, seen: &Seen, occasion: Occasion, words: &str) {
        let Some((program, arguments)) = self.config.command.split_first() else {
            return;
        };
        let title = plain(&seen.state.title);
        let told = json!({
            "event": occasion.word(),
            "project": self.flow.project,
            "flow": self.flow.flow,
            "title": title,
            "words": words,
            "seq": seen.seq,
        });
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("A_SOCIETY_EVENT", occasion.word())
            .env("A_SOCIETY_FLOW", self.flow.to_string())
            .env("A_SOCIETY_TITLE", &*title)
            .env("A_SOCIETY_WORDS", words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own: Ctrl-C does not reach it, and all of it can be ended at once.
            .process_group(0);
        let ended = match command.spawn() {
            Ok(child) => finished(child, &told.to_string(), &mut self.patience),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = ended {
            self.failed = Some(format!("{}: {why}", plain(program)));
        }
    }
}

const fn occasion(code: ExitCode) -> Occasion {
    match code {
        ExitCode::WaitsForBudget => Occasion::Budget,
        ExitCode::WaitsForModel | ExitCode::WaitsAfterFailure | ExitCode::DiskFull => {
            Occasion::Failed
        }
        ExitCode::Waiting
        | ExitCode::WaitsForConsent
        | ExitCode::Ok
        | ExitCode::Failed
        | ExitCode::Usage
        | ExitCode::NotFound
        | ExitCode::Damaged
        | ExitCode::Busy
        | ExitCode::Refused
        | ExitCode::Interrupted => Occasion::Waits,
    }
}

/// Gives a command its input and waits for its end, but not for ever.
fn finished(mut child: Child, input: &str, patience: &mut CommandPatience) -> Result<(), String> {
    if let Some(mut pipe) = child.stdin.take() {
        // A command that does not read it is fine; it fits into any pipe.
        drop(pipe.write_all(input.as_bytes()));
    }
    let mut looks = 0;
    let why = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
        looks += 1;
        match patience.ends(looks) {
            Some(why) => break why,
            None => std::thread::sleep(RUNS_LOOK),
        }
    };
    let group = i32::try_from(child.id()).ok();
    let group = group.and_then(rustix::process::Pid::from_raw);
    let ended = group
        .map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
    if !matches!(ended, Some(Ok(()))) {
        drop(child.kill());
    }
    drop(child.wait());
    Err(why)
}
