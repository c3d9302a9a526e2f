//! Runs the operator's notification command when a flow waits, is done, failed or used up its budget.
//!
//! Each flow that this process drives has one thread for it. The thread looks at the flow, runs the command
//! with a time limit, and looks again. The flow never waits for the command; what happens while it runs is
//! reported after the next look.

use std::collections::BTreeSet;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use a_society_facts::view::flow::FlowStatus;
use a_society_operator_ui::fold::asks::open;
use a_society_orchestrator::config::user::{self, NotifyConfig, Occasion};
use a_society_orchestrator::driver::handle::{FlowHandle, Seen};
use a_society_orchestrator::machine::Work;
use a_society_orchestrator::notification::NotifyCommand;
use a_society_state::clock::Clock;
use a_society_state::{FlowRef, Store};
use rustix::event::{PollFd, PollFlags};
use serde_json::json;

use super::asks;
use super::signals::wait_for;
use crate::exit_code::ExitCode;
use crate::text::plain;

/// How long the flow is waited for before it is looked whether its task is still there.
const LOOK: Duration = Duration::from_secs(10);

/// A question that is answered sooner was decided beforehand and needs no notification.
const SETTLES: Duration = Duration::from_millis(300);

/// How long a command may run while its flow is driven. That is enough to send a mail.
const RUNS_MAX: Duration = Duration::from_secs(5);

/// How long all commands together may run on after the flow. `run` waits for them, because a command that outlives it could
/// be left behind; one that hangs is ended with all that it started.
const RUNS_AFTER_MAX: Duration = Duration::from_secs(1);

/// The notification thread of a flow; it ends soon after the flow's task.
#[derive(Debug)]
pub(crate) struct Notifier {
    thread: JoinHandle<Option<String>>,
    /// Closed when the flow is not driven any more.
    is_over: PipeWriter,
}

impl Notifier {
    /// Starts the thread, if the configuration names a command.
    pub(crate) fn begin(flow: &FlowRef, handle: &FlowHandle, store: &Store) -> Option<Self> {
        let (mut teller, is_over) = NotifyLoop::new(flow, handle, store)?;
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

    /// Starts such a thread for a flow whose end this process does not wait for.
    pub(crate) fn leave(flow: &FlowRef, handle: &FlowHandle, store: &Store) {
        let Some((mut teller, is_over)) = NotifyLoop::new(flow, handle, store) else {
            return;
        };
        let thread = std::thread::Builder::new().name("notify".to_owned());
        // Without a thread there are no notifications.
        drop(thread.spawn(move || {
            teller.look();
            drop(is_over);
        }));
    }

    /// Waits a moment for the last notification, and returns why the command failed, if it did.
    pub(crate) fn finish(self) -> Option<String> {
        drop(self.is_over);
        self.thread.join().ok().flatten()
    }
}

/// How long a command may still run.
struct CommandPatience {
    /// Can be read from once the flow is over.
    over: PipeReader,
    /// When the flow was over, as far as that was noticed.
    since: Option<Duration>,
    clock: Arc<dyn Clock>,
}

impl CommandPatience {
    fn now(&self) -> Duration {
        Duration::from_micros(self.clock.elapsed_us())
    }

    /// Waits for the end of a command that began then, or returns why it is ended now.
    fn await_end(&mut self, command: &NotifyCommand, began: Duration) -> Result<(), String> {
        loop {
            let left = match self.since {
                None => RUNS_MAX.saturating_sub(self.now().saturating_sub(began)),
                Some(over) => RUNS_AFTER_MAX.saturating_sub(self.now().saturating_sub(over)),
            };
            if self.wait(command, left) {
                return Ok(());
            }
            if left.is_zero() {
                return Err(match self.since {
                    None => format!("it was ended after {} s", RUNS_MAX.as_secs()),
                    Some(_) => {
                        format!("it was ended {} s after the flow", RUNS_AFTER_MAX.as_secs())
                    }
                });
            }
        }
    }

    /// Waits until the command or the flow ends, but no longer than this. Whether the command has ended.
    fn wait(&mut self, command: &NotifyCommand, longest: Duration) -> bool {
        let mut rings = vec![PollFd::new(command, PollFlags::IN)];
        if self.since.is_none() {
            rings.push(PollFd::new(&self.over, PollFlags::IN));
        }
        wait_for(&mut rings, longest);
        let rung: Vec<bool> = rings.iter().map(|end| !end.revents().is_empty()).collect();
        if rung.get(1) == Some(&true) {
            self.since = Some(self.now());
        }
        rung.first() == Some(&true)
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
    /// One for a flow, and what is closed when the flow is not driven any more, if the configuration names a command.
    fn new(flow: &FlowRef, handle: &FlowHandle, store: &Store) -> Option<(Self, PipeWriter)> {
        // `run` has already refused a configuration that cannot be parsed.
        let config = user::notify().ok().flatten()?;
        let (over, is_over) = io::pipe().ok()?;
        let teller = Self {
            patience: CommandPatience {
                over,
                since: None,
                clock: Arc::clone(&store.ground().clock),
            },
            config,
            flow: flow.clone(),
            handle: handle.clone(),
            told: BTreeSet::new(),
            failed: None,
        };
        Some((teller, is_over))
    }

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
        let Some(program) = self.config.command.first() else {
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
        let variables = [
            ("A_SOCIETY_EVENT", occasion.word()),
            ("A_SOCIETY_FLOW", &self.flow.to_string()),
            ("A_SOCIETY_TITLE", &title),
            ("A_SOCIETY_WORDS", words),
        ];
        let input = told.to_string();
        let ended = match NotifyCommand::start(&self.config.command, &variables, &input) {
            Ok(command) => finished(command, &mut self.patience),
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

/// Waits for the end of a command, but not for ever: one that hangs is ended with all that it started.
fn finished(command: NotifyCommand, patience: &mut CommandPatience) -> Result<(), String> {
    let began = patience.now();
    patience.await_end(&command, began)?;
    command.outcome()
}
