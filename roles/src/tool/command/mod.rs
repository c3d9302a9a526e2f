//! Running commands: planned, held at a gate behind walls, let go, and ended with all they started.

mod classify;
mod environment;
mod frame;
mod guard;
mod held;
mod limits;
mod process;
mod spaces;
mod wall;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::Duration;

use a_society_facts::Hash;
use a_society_facts::fact::turn::{CallEnd, Effect};
use a_society_facts::id::CallId;

use self::frame::{End, Order, Walls};
pub use self::guard::guard;
pub(super) use self::held::Held;
use super::arguments::RunCommand;
use super::files;
use super::limits::COMMAND_BYTES;
use super::output::{Keeps, Output, grouped};
use super::plan::{Plan, Refusal, RefusalKind};
use super::setting::Scope;
use super::toolbox::{Deed, Toolbox, Wants};
use crate::consent::Tier;
use crate::taker::command::mark;
use crate::turn::stop::StopSignal;

/// The shell that reads commands.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// A command with everything that it needs.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    order: Order,
}

impl Toolbox {
    pub(super) fn plan_command(&self, given: RunCommand, raw: &str) -> Result<Plan, Refusal> {
        let setting = &self.0.setting;
        if let Some(why) = classify::refused(&given.command, COMMAND_BYTES) {
            return Err(Refusal::new(RefusalKind::Arguments, why));
        }
        let most = setting.limits.command_max_ms;
        let time_limit_ms = given.timeout_ms.unwrap_or(setting.limits.command_ms);
        if time_limit_ms == 0 || time_limit_ms > most {
            let text = format!("`timeout_ms` is between 1 and {most}.");
            return Err(Refusal::new(RefusalKind::Arguments, text));
        }
        let (folder, folder_id) = self.folder_of(given.folder.as_deref())?;
        let roots = &self.0.roots;
        let mut variables =
            environment::variables(&setting.environment, &[roots.project(), roots.record()]);
        let (walls, missing) = self.walls(&variables);
        if walls.are_up {
            variables.extend(environment::behind_walls());
        }
        let is_irreversible = setting.irreversible_commands.contains(&given.command);
        let is_unasked = missing.is_empty()
            && !is_irreversible
            && classify::is_unasked(&given.command, &setting.unasked_commands);
        let order = Order {
            run: vec![shell(), "-c".to_owned(), given.command.clone()],
            variables,
            folder,
            folder_id,
            time_limit_ms,
            walls: Walls {
                must_all: is_unasked,
                ..walls
            },
        };
        let wants = Wants {
            tier: if is_unasked {
                Tier::Unasked
            } else {
                Tier::Command
            },
            command: Some(given.command.clone()),
            folder: format!("{} {}", order.folder_id, order.folder),
            environment: profile(&order.variables),
            sandbox: profile(&(setting.scope.word(), &order.walls, &missing)),
            shown: self.shown_command(&given.command, &order, &missing),
            missing,
            ..Wants::default()
        };
        let ask = self.ask("run_command", raw, wants);
        let effect = match (is_irreversible, is_unasked) {
            (true, _) => Effect::Irreversible,
            (false, true) => Effect::Pure,
            (false, false) => Effect::Mutating,
        };
        let summary = format!("run {}", given.command);
        let deed = Deed::Command(Box::new(Launch { order }));
        Ok(self.planned("run_command", effect, summary, ask, deed))
    }

    /// Where a command runs: a folder that may be written, and what it is.
    fn folder_of(&self, given: Option<&str>) -> Result<(String, String), Refusal> {
        let located = self.0.roots.locate(given.unwrap_or("."))?;
        let entry = files::open_folder(&self.0.roots, &located)?;
        if !self.0.roots.is_writable(&located) {
            return Err(Refusal::new(
                RefusalKind::OutOfReach,
                "Commands run in the project or in the record folder.",
            ));
        }
        let real = entry.real.to_str().map(str::to_owned).ok_or_else(|| {
            files::impossible(format!("{} has a name that is no text.", located.shown))
        })?;
        Ok((real, process::folder_id(&entry.stat)))
    }

    /// The walls of this setting, and which of them this system does not have.
    fn walls(&self, variables: &[(String, String)]) -> (Walls, Vec<String>) {
        let (setting, roots) = (&self.0.setting, &self.0.roots);
        if setting.scope == Scope::Full {
            let missing = vec!["every wall: this scope has none".to_owned()];
            return (Walls::default(), missing);
        }
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let spaces = spaces::found();
        let mut missing = wall::missing();
        if !spaces.are_there() {
            missing.push("spaces of its own".to_owned());
        }
        let mut readable: Vec<String> = roots.readable().iter().map(|it| text(it)).collect();
        readable.extend(environment::toolchains(variables));
        readable.extend(environment::path_folders(variables));
        let hidden = roots
            .record()
            .ancestors()
            .find(|it| it.ends_with(".a-society"));
        let walls = Walls {
            are_up: true,
            writable: vec![text(roots.project()), text(roots.record())],
            readable,
            hidden: hidden.map(text),
            record: text(roots.record()),
            network: setting.network,
            must_all: false,
            spaces,
        };
        (walls, missing)
    }

    fn shown_command(&self, command: &str, order: &Order, missing: &[String]) -> String {
        let setting = &self.0.setting;
        // Without walls nothing holds a command back.
        let is_open = setting.network || !order.walls.are_up;
        let mut text = format!(
            "run_command in {}, {} bytes, at most {} ms, scope {}, network {}\n{command}",
            order.folder,
            command.len(),
            order.time_limit_ms,
            setting.scope.word(),
            if is_open { "on" } else { "off" },
        );
        for wall in missing {
            text.push_str("\nwithout ");
            text.push_str(wall);
        }
        text
    }

    /// Spawns the guard of a command. It waits at its gate.
    pub(super) fn hold(&self, launch: &Launch, call: &CallId) -> Result<Held, String> {
        let Some(guard) = &self.0.setting.guard else {
            return Err("Commands cannot run here: there is nothing that guards them.".to_owned());
        };
        let mark = mark(self.0.setting.owner.flow.as_str(), call);
        Held::spawn(&guard.run, &launch.order, mark)
    }

    pub(super) fn run_held(&self, held: Held, stop: &StopSignal) -> (CallEnd, Output) {
        let limit = self.0.setting.limits.blob_bytes;
        let limit_ms = held.time_limit_ms();
        let ran = held.run(&self.0.redactor, limit, stop);
        let (end, head, last) = ended(&ran.report.end, ran.took, limit_ms);
        let mut tail = String::new();
        if !last.is_empty() {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(tail, "{last}");
        }
        let mut head = head;
        for wall in &ran.report.missing {
            let _ = writeln!(head, "[ran without {wall}]");
        }
        if !ran.report.survivors.is_empty() {
            let survivors = &ran.report.survivors;
            let _ = writeln!(tail, "[processes that could not be ended: {survivors:?}]");
        }
        let mut body = ran.output;
        if !tail.is_empty() && !body.is_empty() && !body.ends_with('\n') {
            body.push('\n');
        }
        let output = Output {
            head,
            body,
            keeps: Keeps::Ends,
            full: ran.full,
            tail,
            ..Output::default()
        };
        (end, output)
    }
}

/// How a command ended: as its call did, in the line before its output, and in the one behind it.
fn ended(end: &End, took: Duration, limit_ms: u64) -> (CallEnd, String, String) {
    let seconds = took.as_secs_f64();
    let head = |what: String| format!("[{what}, {seconds:.1} s]\n");
    match end {
        End::NotStarted(why) => (CallEnd::Failed, format!("[{why}]\n"), String::new()),
        End::Exited(0) => (CallEnd::Done, head("exit 0".to_owned()), String::new()),
        End::Exited(code) => (CallEnd::Failed, head(format!("exit {code}")), String::new()),
        End::Signalled(signal) => (
            CallEnd::Failed,
            head(format!("signal {signal}")),
            String::new(),
        ),
        End::TimedOut => {
            let limit = grouped(limit_ms);
            let last = format!("[ended after {limit} ms; set timeout_ms or background]");
            (CallEnd::TimedOut, String::new(), last)
        }
        End::Stopped => (CallEnd::Stopped, head("stopped".to_owned()), String::new()),
    }
}

fn shell() -> String {
    let found = SHELLS
        .iter()
        .find(|shell| std::path::Path::new(shell).exists());
    (*found.unwrap_or(&"/bin/sh")).to_owned()
}

/// A short name for everything that something consists of.
fn profile(of: &impl serde::Serialize) -> String {
    let bytes = serde_json::to_vec(of).unwrap_or_default();
    Hash::of(&bytes).to_string()
}
