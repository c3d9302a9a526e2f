//! From the arguments to the exit code.

use std::ffi::OsString;

use a_society_orchestrator::config::user;
use a_society_state::FlowRef;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};

use super::arguments::{Arguments, HELP_COLUMNS, Verb};
use super::context::Context;
use super::{
    allow, approve, bad_arguments, budget, cancel, chat, check, complete, completions, configure,
    decline, demo, deny, diff, exit_codes, export, feedback, findings, fork, graph, guard, import,
    import_state, improve, init, log, ls, man, mcp, mode, models, pause, prune, rebuild, reference,
    reopen, repair, reply, resume, retry, revise, rules, run, scenario, schedules, schema, search,
    serve, session, sessions, show, skills, status, steer, stop, unpause, verify, watch,
};
use crate::environment::Environment;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::{Color, Manner, Output};

/// The names of options leave less room than this for words on a narrower terminal, which breaks the rows itself.
const HELP_COLUMNS_MIN: usize = 50;

/// Runs the command that the arguments name.
pub(crate) fn run(environment: &Environment) -> ExitCode {
    super::signals::outlive_the_limit_of_a_file();
    let arguments = match Arguments::try_parse_from(&environment.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return told_by_parser(environment, &error),
    };
    // One that cannot be read is reported by the commands that need it.
    let is_plain = arguments.plain || user::ui().is_ok_and(|ui| ui.plain);
    let spoken = is_plain.then(|| environment.spoken());
    let environment = spoken.as_ref().unwrap_or(environment);
    let out = Output::new(Manner {
        json: arguments.json,
        color: arguments.color,
        no_color: environment.no_color,
        is_dumb: environment.is_dumb,
        is_spoken: environment.is_plain,
    });
    let mut context = Context {
        out,
        environment,
        workspace: arguments.workspace,
        without_locks: arguments.unsafe_no_lock,
        named: None,
    };
    let outcome = dispatch(&mut context, &arguments.verb);
    let flushed = context.out.flush();
    let outcome = match (outcome, flushed) {
        // A closed output does not change how the command ended.
        (Ok(code), Err(Stop::OutputClosed)) => Ok(code),
        (Ok(_), Err(stop)) => Err(stop),
        (outcome, _) => outcome,
    };
    end(
        &mut context.out,
        outcome.map_err(|stop| named(stop, context.named.as_ref())),
    )
}

/// The hint can be typed as it is, with the flow's own name in it.
fn named(stop: Stop, flow: Option<&FlowRef>) -> Stop {
    match (stop, flow) {
        (Stop::Error(mut error), Some(flow)) => {
            error.hint = error.hint.replace("FLOW", &flow.to_string());
            Stop::Error(error)
        }
        (stop @ (Stop::Error(_) | Stop::OutputClosed), _) => stop,
    }
}

fn dispatch(context: &mut Context<'_>, verb: &Verb) -> Outcome {
    match verb {
        Verb::Demo(arguments) => demo::run(context, arguments),
        Verb::Init(arguments) => init::run(context, arguments),
        Verb::Check(arguments) => check::run(context, arguments),
        Verb::Graph(arguments) => graph::run(context, arguments),
        Verb::Schema(arguments) => schema::run(context, arguments),
        Verb::Run(arguments) => run::run(context, arguments),
        Verb::Chat(arguments) => chat::run(context, arguments),
        Verb::Resume(arguments) => resume::run(context, arguments),
        Verb::Serve(arguments) => serve::run(context, arguments),
        Verb::Diff(arguments) => diff::run(context, arguments),
        Verb::Status(arguments) => status::run(context, arguments),
        Verb::Watch(arguments) => watch::run(context, arguments),
        Verb::Reply(arguments) => reply::run(context, arguments),
        Verb::Approve(arguments) => approve::run(context, arguments),
        Verb::Decline(arguments) => decline::run(context, arguments),
        Verb::Allow(arguments) => allow::run(context, arguments),
        Verb::Deny(arguments) => deny::run(context, arguments),
        Verb::Mode(arguments) => mode::run(context, arguments),
        Verb::Rules(arguments) => rules::run(context, arguments),
        Verb::Configure(arguments) => configure::run(context, arguments),
        Verb::Budget(arguments) => budget::run(context, arguments),
        Verb::Steer(arguments) => steer::run(context, arguments),
        Verb::Session(arguments) => session::run(context, arguments),
        Verb::Sessions(arguments) => sessions::run(context, arguments),
        Verb::Schedules(arguments) => schedules::run(context, arguments),
        Verb::Search(arguments) => search::run(context, arguments),
        Verb::Stop(arguments) => stop::run(context, arguments),
        Verb::Pause(arguments) => pause::run(context, arguments),
        Verb::Unpause(arguments) => unpause::run(context, arguments),
        Verb::Cancel(arguments) => cancel::run(context, arguments),
        Verb::Retry(arguments) => retry::run(context, arguments),
        Verb::Reopen(arguments) => reopen::run(context, arguments),
        Verb::Revise(arguments) => revise::run(context, arguments),
        Verb::Improve(arguments) => improve::run(context, arguments),
        Verb::Feedback(arguments) => feedback::run(context, arguments),
        Verb::Findings(arguments) => findings::run(context, arguments),
        Verb::Fork(arguments) => fork::run(context, arguments),
        Verb::Ls(arguments) => ls::run(context, arguments),
        Verb::Show(arguments) => show::run(context, arguments),
        Verb::Log(arguments) => log::run(context, arguments),
        Verb::Verify(arguments) => verify::run(context, arguments),
        Verb::Repair(arguments) => repair::run(context, arguments),
        Verb::Rebuild(arguments) => rebuild::run(context, arguments),
        Verb::Export(arguments) => export::run(context, arguments),
        Verb::Import(arguments) => import::run(context, arguments),
        Verb::ImportState(arguments) => import_state::run(context, arguments),
        Verb::Prune(arguments) => prune::run(context, arguments),
        Verb::Models(arguments) => models::run(context, arguments),
        Verb::Mcp(arguments) => mcp::run(context, arguments),
        Verb::Skills(arguments) => skills::run(context, arguments),
        Verb::Completions(arguments) => completions::run(context, arguments),
        Verb::Complete(arguments) => complete::run(context, arguments),
        Verb::Man(arguments) => man::run(context, arguments),
        Verb::ExitCodes(arguments) => exit_codes::run(context, arguments),
        Verb::Reference(arguments) => reference::run(context, arguments),
        Verb::Scenario(arguments) => scenario::run(context, arguments),
        Verb::Guard(arguments) => guard::run(context, arguments),
    }
}

fn end(out: &mut Output, outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(code) => code,
        // Who stopped reading has what they wanted.
        Err(Stop::OutputClosed) => ExitCode::Ok,
        Err(Stop::Error(error)) => {
            out.error(&error);
            error.exit
        }
    }
}

/// The parser's answer: help and version are results, anything else is a usage error.
fn told_by_parser(environment: &Environment, error: &clap::Error) -> ExitCode {
    let typed = |wanted: &str| environment.arguments.iter().any(|given| given == wanted);
    let json = typed("--json");
    let color = typed_color(&environment.arguments);
    let mut out = Output::new(Manner {
        json,
        color,
        no_color: environment.no_color,
        is_dumb: environment.is_dumb,
        is_spoken: environment.is_plain,
    });
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let narrow = narrower(&out, &environment.arguments);
        let error = narrow.as_ref().unwrap_or(error);
        let printed = out.help(error).and_then(|()| out.flush());
        return end(&mut out, printed.map(|()| ExitCode::Ok));
    }
    // Nothing was asked for: the help says what can be.
    if !json && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        out.usage(error);
    } else {
        out.error(&bad_arguments::refusal(error, &environment.arguments));
    }
    ExitCode::Usage
}

/// The help as it fits a terminal that is narrower than pages are.
fn narrower(out: &Output, arguments: &[OsString]) -> Option<clap::Error> {
    let (columns, _) = out.size();
    if !out.is_terminal() || columns >= HELP_COLUMNS {
        return None;
    }
    let program = Arguments::command().term_width(columns.max(HELP_COLUMNS_MIN));
    program.try_get_matches_from(arguments).err()
}

/// The colours that were asked for, in arguments that make no sense as a whole.
fn typed_color(arguments: &[OsString]) -> Color {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let apart = words.windows(2).filter(|pair| pair[0] == "--color");
    let joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--color="));
    let asked = apart.map(|pair| pair[1]).chain(joined).last();
    asked
        .and_then(|word| Color::from_str(word, false).ok())
        .unwrap_or_default()
}
