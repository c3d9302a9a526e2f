//! Running commands: planned, held at a gate behind walls, let go, and ended with all they started.

mod background;
mod classify;
mod environment;
pub(super) mod frame;
mod guard;
mod held;
mod left;
mod limits;
mod process;
mod spaces;
mod toolchains;
mod virtualenvs;
mod wall;

use crate::number::grouped;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use a_society_facts::Hash;
use a_society_facts::fact::terms::{CommandTerms, ConsentTerms};
use a_society_facts::fact::turn::{CallEnd, CommandExit, Effect};
use a_society_facts::id::CallId;

pub use self::background::Background;
pub use self::left::left_running;

use self::frame::{CommandEnd, GuardOrder, GuardReport, Walls};
pub use self::guard::guard;
pub(super) use self::held::HeldCommand;
use self::left::RUNS_ON;
pub(super) use self::left::ended_line;
use self::limits::BACKGROUND_FIRST;
use super::Scope;
use super::arguments::{CommandOutput, RunCommandArguments};
use super::deed::{CommandLaunch, Deed};
use super::files::{self, Located};
use super::form::clipped;
use super::limits::{COMMAND_BYTES, COMMAND_WAIT_MS};
use super::output::{Keeps, Length, ToolOutput};
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::toolbox::{ConsentNeeds, Toolbox};
use crate::consent::Tier;
use crate::consent::policy::Judged;
use crate::taker::command::mark;
use a_society_base::stop::StopSignal;

/// The shell that reads commands.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

impl Toolbox {
    pub(super) fn plan_command(
        &self,
        given: RunCommandArguments,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let setting = &self.0.setting;
        let time_limit_ms = self.limit_of(&given)?;
        let (located, folder, folder_id) = self.folder_of(given.folder.as_deref())?;
        let roots = &self.0.roots;
        let mut variables =
            environment::variables(&setting.environment, roots.project(), roots.record());
        let (walls, missing) = self.walls(&variables);
        if walls.are_up {
            variables.extend(environment::behind_walls());
        }
        let (tier, is_irreversible) = self.tier_of(&given, &missing);
        let is_unasked = matches!(tier, Tier::Unasked);
        let terms = CommandTerms {
            folder: located.shown,
            scope: setting.scope,
            // Without walls nothing holds a command back.
            network: setting.network || !walls.are_up,
            missing,
            bare: Some(!walls.are_up || !wall::ARE_THERE),
            limit_ms: time_limit_ms,
            background: given.background,
        };
        let mut wants = ConsentNeeds {
            tier,
            command: Some(given.command.clone()),
            folder: format!("{folder_id} {folder}"),
            environment: profile(&variables),
            shown: given.command.clone(),
            terms: ConsentTerms::Command(terms),
            is_irreversible,
            ..ConsentNeeds::default()
        };
        // A command that runs without review does not run without all walls.
        let is_ruled = matches!(self.ruled("run_command", &wants), Some(Judged::Allowed(_)));
        let order = GuardOrder {
            run: vec![shell(), "-c".to_owned(), given.command.clone()],
            variables,
            folder,
            folder_id,
            time_limit_ms,
            walls: Walls {
                must_all: is_unasked || is_ruled,
                ..walls
            },
        };
        if let ConsentTerms::Command(terms) = &wants.terms {
            wants.sandbox = profile(&(setting.scope.word(), &order.walls, &terms.missing));
        }
        let ask = self.ask("run_command", raw, wants);
        let effect = effect_of(is_irreversible, is_unasked);
        let beside = if given.background {
            " in the background"
        } else {
            ""
        };
        let summary = format!("run{beside} {}", given.command);
        let deed = Deed::Command(Box::new(CommandLaunch {
            order,
            command: given.command,
            in_background: given.background,
        }));
        Ok(self.planned("run_command", effect, summary, ask, deed))
    }

    /// Whether a command runs without being asked about, and whether it cannot be taken back.
    fn tier_of(&self, given: &RunCommandArguments, missing: &[String]) -> (Tier, bool) {
        let setting = &self.0.setting;
        let is_irreversible = setting.irreversible_commands.contains(&given.command);
        let is_unasked = missing.is_empty()
            && !is_irreversible
            && !given.background
            && classify::is_unasked(&given.command, &setting.unasked_commands);
        let tier = if is_unasked {
            Tier::Unasked
        } else {
            Tier::Command
        };
        (tier, is_irreversible)
    }

    /// How long a command may take, if it may run at all.
    fn limit_of(&self, given: &RunCommandArguments) -> Result<u64, CallRefusal> {
        let setting = &self.0.setting;
        if let Some(why) = classify::refused(&given.command, COMMAND_BYTES) {
            return Err(CallRefusal::new(RefusalKind::Arguments, why));
        }
        if given.command.split_whitespace().next() == Some("apply_patch") {
            let why = "apply_patch is a tool, not a command. Call it with the whole patch.";
            return Err(CallRefusal::new(RefusalKind::Arguments, why));
        }
        if given.background && setting.is_small() {
            let why = "There are no commands in the background here. Call it without background.";
            return Err(CallRefusal::new(RefusalKind::Arguments, why));
        }
        if given.background
            && let Some(why) = setting.background.refuses(&setting.owner.role)
        {
            return Err(CallRefusal::new(RefusalKind::NotPossible, why));
        }
        let most = setting.limits.command_max_ms;
        let usual = if given.background {
            most
        } else {
            setting.limits.command_ms
        };
        let time_limit_ms = given.limit_ms().unwrap_or(usual);
        if time_limit_ms == 0 || time_limit_ms > most {
            let text = format!("`timeout_ms` is between 1 and {most}.");
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        Ok(time_limit_ms)
    }

    /// Where a command runs: a folder that may be written, and what it is.
    fn folder_of(&self, given: Option<&str>) -> Result<(Located, String, String), CallRefusal> {
        let located = self.0.roots.locate(given.unwrap_or("."))?;
        let entry = files::open_folder(&self.0.roots, &located)?;
        if !self.0.roots.is_writable(&located) {
            return Err(CallRefusal::new(
                RefusalKind::OutOfReach,
                "Commands run in the project or in the record folder.",
            ));
        }
        let real = entry.real.to_str().map(str::to_owned).ok_or_else(|| {
            files::impossible(format!("{} has a name that is no text.", located.shown))
        })?;
        let id = process::folder_id(&entry.stat);
        Ok((located, real, id))
    }

    /// The walls of this setting, and which of them this system does not have.
    fn walls(&self, variables: &[(String, String)]) -> (Walls, Vec<String>) {
        let (setting, roots) = (&self.0.setting, &self.0.roots);
        if setting.scope == Scope::Full {
            let missing = vec!["every wall: this scope has none".to_owned()];
            return (Walls::default(), missing);
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let spaces = spaces::found();
        let mut missing = wall::missing();
        if !spaces.are_there() {
            missing.push("spaces of its own".to_owned());
        }
        let mut readable: Vec<String> = roots.readable().iter().map(|it| text(it)).collect();
        let of = |name: &str| environment::value(variables, name).unwrap_or_default();
        let home = Path::new(of("HOME"));
        readable.extend(environment::toolchains(home));
        let writable = [roots.project(), roots.record()];
        readable.extend(toolchains::reached(home, of("PATH"), &writable));
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

    /// Spawns the guard of a command. It waits at its gate.
    pub(super) fn hold(
        &self,
        launch: &CommandLaunch,
        call: &CallId,
    ) -> Result<HeldCommand, String> {
        let Some(guard) = &self.0.setting.guard else {
            return Err("Commands cannot run here: there is nothing that guards them.".to_owned());
        };
        let mark = mark(self.0.setting.owner.flow.as_str(), call);
        HeldCommand::spawn(&guard.run, &launch.order, mark)
    }

    pub(super) fn run_held(&self, held: HeldCommand, stop: &StopSignal) -> (CallEnd, ToolOutput) {
        let limit = self.0.setting.limits.blob_bytes;
        let limit_ms = held.time_limit_ms();
        let ran = held.run(&self.0.redactor, limit, stop);
        told(ran.output, ran.full, &ran.report, ran.took, limit_ms)
    }

    /// Lets a command go that runs beside the turn, and waits whether it fails at once.
    pub(super) fn run_beside(
        &self,
        held: HeldCommand,
        launch: &CommandLaunch,
        stop: &StopSignal,
    ) -> (CallEnd, ToolOutput) {
        let setting = &self.0.setting;
        let role = &setting.owner.role;
        let (command, redactor) = (launch.command.as_str(), &self.0.redactor);
        let (number, job) = match setting.background.start(role, held, command, redactor) {
            Ok(started) => started,
            Err(why) => {
                let why = format!("The command could not be started: {why}.");
                return (CallEnd::Failed, ToolOutput::of(why));
            }
        };
        job.await_end(Some(BACKGROUND_FIRST), stop);
        let news = job.news();
        if let Some((report, took)) = &news.end {
            setting.background.forget(role, number);
            return told(news.output, news.full, report, *took, news.limit_ms);
        }
        let head = format!("[c{number}{RUNS_ON}\n");
        (CallEnd::Done, beside(head, news.output, news.full))
    }

    pub(super) fn plan_output(
        &self,
        given: CommandOutput,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        if given.wait_ms.unwrap_or(0) > COMMAND_WAIT_MS {
            let text = format!("`wait_ms` is at most {COMMAND_WAIT_MS}.");
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        let summary = match given.stop {
            true => format!("end {}", given.id),
            false => format!("output of {}", given.id),
        };
        let ask = self.ask("command_output", raw, ConsentNeeds::default());
        let deed = Deed::Output(Box::new(given));
        Ok(self.planned("command_output", Effect::Idempotent, summary, ask, deed))
    }

    /// What a command beside the turn wrote since it was asked last.
    pub(super) fn command_output(
        &self,
        given: &CommandOutput,
        stop: &StopSignal,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let setting = &self.0.setting;
        let role = &setting.owner.role;
        let Some((number, job)) = setting.background.find(role, &given.id) else {
            let live = setting.background.live(role).join(", ");
            let live = if live.is_empty() { "none" } else { &live };
            let id = clipped(&given.id);
            let text = format!("No background command {id} runs; it has ended. Running: {live}.");
            return Err(CallRefusal::new(RefusalKind::NotPossible, text));
        };
        if given.stop {
            job.end();
            job.await_end(None, &StopSignal::default());
        } else if let Some(wait_ms) = given.wait_ms {
            job.await_end(Some(Duration::from_millis(wait_ms)), stop);
        }
        let news = job.news();
        Ok(match &news.end {
            Some((report, took)) => {
                setting.background.forget(role, number);
                let (_, output) = told(news.output, news.full, report, *took, news.limit_ms);
                // That it was read is what this call is for, however the command ended.
                (CallEnd::Done, output)
            }
            None => {
                let seconds = news.runs_for.as_secs_f64();
                let mut head = format!("[c{number} runs, {seconds:.1} s]\n");
                if news.output.is_empty() {
                    head.push_str("(no new output)\n");
                }
                (CallEnd::Done, beside(head, news.output, news.full))
            }
        })
    }
}

/// What happens to a command after a crash.
const fn effect_of(is_irreversible: bool, is_unasked: bool) -> Effect {
    match (is_irreversible, is_unasked) {
        (true, _) => Effect::Irreversible,
        (false, true) => Effect::Pure,
        (false, false) => Effect::Mutating,
    }
}

/// The output of a command that goes on.
fn beside(head: String, body: String, full: Option<Length>) -> ToolOutput {
    ToolOutput {
        head,
        body,
        keeps: Keeps::Ends,
        full,
        ..ToolOutput::default()
    }
}

/// The output of a command that has ended.
fn told(
    body: String,
    full: Option<Length>,
    report: &GuardReport,
    took: Duration,
    limit_ms: u64,
) -> (CallEnd, ToolOutput) {
    let (end, mut head, mut tail) = ended(&report.end, took, limit_ms);
    for wall in &report.missing {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(head, "[ran without {wall}]");
    }
    if !report.survivors.is_empty() {
        let survivors = &report.survivors;
        let _ = writeln!(tail, "[processes that could not be ended: {survivors:?}]");
    }
    let mut output = beside(head, body, full);
    output.exit = exit_of(&report.end);
    if !tail.is_empty() && !output.body.is_empty() && !output.body.ends_with('\n') {
        output.body.push('\n');
    }
    output.tail = tail;
    (end, output)
}

/// How a command ended, if nothing of ours ended it.
fn exit_of(end: &CommandEnd) -> Option<CommandExit> {
    match end {
        CommandEnd::Exited(code) => Some(CommandExit::Code(i32::from(*code))),
        CommandEnd::Signalled(signal) => Some(CommandExit::Signal(*signal)),
        CommandEnd::NotStarted(_) | CommandEnd::TimedOut | CommandEnd::Stopped => None,
    }
}

/// How a command ended: as its call did, in the line before its output, and in the one behind it.
fn ended(end: &CommandEnd, took: Duration, limit_ms: u64) -> (CallEnd, String, String) {
    let seconds = took.as_secs_f64();
    let head = |what: String| format!("[{what}, {seconds:.1} s]\n");
    match end {
        CommandEnd::NotStarted(why) => (CallEnd::Failed, format!("[{why}]\n"), String::new()),
        CommandEnd::Exited(0) => (CallEnd::Done, head("exit 0".to_owned()), String::new()),
        CommandEnd::Exited(code) => (CallEnd::Failed, head(format!("exit {code}")), String::new()),
        CommandEnd::Signalled(signal) => (
            CallEnd::Failed,
            head(format!("signal {signal}")),
            String::new(),
        ),
        CommandEnd::TimedOut => {
            let limit = grouped(limit_ms);
            let last = format!("[ended after {limit} ms; set timeout_ms or background]\n");
            (CallEnd::TimedOut, String::new(), last)
        }
        CommandEnd::Stopped => (CallEnd::Stopped, head("stopped".to_owned()), String::new()),
    }
}

fn shell() -> String {
    let found = SHELLS.iter().find(|shell| Path::new(shell).exists());
    (*found.unwrap_or(&"/bin/sh")).to_owned()
}

/// A short name for everything that something consists of.
fn profile(of: &impl serde::Serialize) -> String {
    let bytes = serde_json::to_vec(of).unwrap_or_default();
    Hash::of(&bytes).to_string()
}
