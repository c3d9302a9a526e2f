//! What may be typed: one description, from which parsing, help, completions and pages come.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::{
    allow, approve, budget, cancel, check, complete, completions, configure, decline, demo, deny,
    diff, exit_codes, export, feedback, findings, fork, graph, guard, import, import_state,
    improve, init, log, ls, man, mcp, mode, models, pause, prune, rebuild, reference, reopen,
    repair, reply, resume, retry, revise, rules, run, scenario, schema, serve, session, show,
    skills, status, steer, stop, unpause, verify, watch,
};
use crate::exit_code;
use crate::output::Color;

/// The width of help texts. It does not follow the terminal, so that they are the same everywhere.
const HELP_COLUMNS: usize = 100;

/// The heading of what every command takes.
const EVERYWHERE: &str = "Everywhere";

const ABOUT_LONG: &str = "\
Durable, inspectable orchestration of agents that work in roles.

Everything that happens in a flow is a line of its journal, and everything these commands show is \
folded from it. A workspace is a folder that holds .a-society; it is found by walking up from the \
current folder. FLOW is any unique beginning of a flow's id, or of the part after its dash, or \
PROJECT/ID. Results go to stdout, everything else to stderr.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "a-society",
    version,
    about = "Durable, inspectable orchestration of agents that work in roles",
    long_about = ABOUT_LONG,
    after_help = exit_code::as_help(),
    term_width = HELP_COLUMNS,
    subcommand_required = true,
    arg_required_else_help = true,
)]
pub(crate) struct Arguments {
    /// The workspace, instead of the one around the current folder [env: A_SOCIETY_WORKSPACE]
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) workspace: Option<PathBuf>,

    /// Print results and errors as JSON
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,

    /// When to use colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true,
        help_heading = EVERYWHERE
    )]
    pub(crate) color: Color,

    /// Write flows on a file system that has no locks; two processes at once would damage them
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) unsafe_no_lock: bool,

    /// The verb.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show a flow that runs without keys, models or a network
    Demo(demo::Arguments),
    /// Make a project that runs at once
    Init(init::Arguments),
    /// Check a flow file or a project, and say everything that is wrong with it
    Check(check::Arguments),
    /// Show the graph of a flow file or a project
    Graph(graph::Arguments),
    /// Print the JSON Schema of flow files
    Schema(schema::Arguments),
    /// Run a flow file, or the graph of a project, to its end
    Run(run::Arguments),
    /// Go on with a flow
    Resume(resume::Arguments),
    /// Show all flows in your browser, and drive them from there
    Serve(serve::Arguments),
    /// Show what the roles of a flow changed in files
    Diff(diff::Arguments),
    /// Say how a flow stands and what it waits for
    Status(status::Arguments),
    /// Watch flows on a screen, and answer what they ask with a key
    Watch(watch::Arguments),
    /// Answer a node or a role that waits
    Reply(reply::Arguments),
    /// Let a staged handoff through
    Approve(approve::Arguments),
    /// Discard a staged handoff
    Decline(decline::Arguments),
    /// Let a call run that asks for consent
    Allow(allow::Arguments),
    /// Deny a call its consent
    Deny(deny::Arguments),
    /// Say how much a flow may do without asking
    Mode(mode::Arguments),
    /// Say rules about calls beforehand, and take them back
    Rules(rules::Arguments),
    /// Choose a role's model
    Configure(configure::Arguments),
    /// Say what a flow or a role may spend
    Budget(budget::Arguments),
    /// Say something to a role at work
    Steer(steer::Arguments),
    /// Look after what roles remember
    Session(session::Arguments),
    /// Stop turns that run
    Stop(stop::Arguments),
    /// Start nothing new
    Pause(pause::Arguments),
    /// Let a flow that pauses go on
    Unpause(unpause::Arguments),
    /// End a flow before it is done
    Cancel(cancel::Arguments),
    /// Take a stopped or failed turn again
    Retry(retry::Arguments),
    /// Run a node again that is done
    Reopen(reopen::Arguments),
    /// Walk the graph of another file from now on
    Revise(revise::Arguments),
    /// Choose how roles look back
    Improve(improve::Arguments),
    /// Say whether a feedback report is written
    Feedback(feedback::Arguments),
    /// List what roles found, and change what they are told because of it
    Findings(findings::Arguments),
    /// Begin a new flow with a part of another
    Fork(fork::Arguments),
    /// List flows: what they are, how they stand, what they wait for
    Ls(ls::Arguments),
    /// Show where one flow stands
    Show(show::Arguments),
    /// Print the facts of a flow's journal
    Log(log::Arguments),
    /// Check every record, blob and view
    Verify(verify::Arguments),
    /// Mend a damaged journal, by a plan
    Repair(repair::Arguments),
    /// Fold the views of a flow anew
    Rebuild(rebuild::Arguments),
    /// Write a flow into one checked archive
    Export(export::Arguments),
    /// Bring an archive of a flow in
    Import(import::Arguments),
    /// Take over flows that another program kept as files
    ImportState(import_state::Arguments),
    /// Remove flows that are over, by a plan
    Prune(prune::Arguments),
    /// Look after the models that take turns
    Models(models::Arguments),
    /// Look after the MCP servers, and say which may run
    Mcp(mcp::Arguments),
    /// Look after the skills that roles may look up
    Skills(skills::Arguments),
    /// Print the completions of a shell
    Completions(completions::Arguments),
    /// Write the manual pages
    Man(man::Arguments),
    /// List the exit codes
    ExitCodes(exit_codes::Arguments),
    /// Print the reference of the command line
    #[command(name = "__reference", hide = true)]
    Reference(reference::Arguments),
    /// Run the scenario of the crash tests
    #[command(name = "__scenario", hide = true)]
    Scenario(scenario::Arguments),
    /// Say what fits at the cursor of a command line
    #[command(name = "__complete", hide = true)]
    Complete(complete::Arguments),
    /// Guard a command of a role
    #[command(name = "__guard", hide = true)]
    Guard(guard::Arguments),
}

/// What was typed.
pub(crate) fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = in_paragraphs(Arguments::command());
    let matches = command.try_get_matches_from_mut(words)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// A command whose text after the options is broken where a line of help ends, and not where one of ours does.
fn in_paragraphs(command: clap::Command) -> clap::Command {
    let text = command.get_after_help().map(|text| joined(&text.to_string()));
    let command = command.mut_subcommands(in_paragraphs);
    match text {
        Some(text) => command.after_help(text),
        None => command,
    }
}

/// Lines of one paragraph become one. What is indented or follows a colon is a list.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        match lines.peek() {
            Some(next) if is_prose(line) && is_prose(next) => out.push(' '),
            Some(_) => out.push('\n'),
            None => {}
        }
    }
    out
}

/// The description, without what only tests and builds call.
pub(crate) fn described() -> clap::Command {
    let whole = in_paragraphs(Arguments::command());
    let names: Vec<String> = whole
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .map(|verb| verb.get_name().to_owned())
        .collect();
    let verbs: Vec<clap::Command> = names
        .iter()
        .filter_map(|name| whole.find_subcommand(name).cloned())
        .collect();
    // A subcommand cannot be taken away from a command, so the rest is put together again.
    let arguments: Vec<clap::Arg> = whole.get_arguments().cloned().collect();
    clap::Command::new("a-society")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Durable, inspectable orchestration of agents that work in roles")
        .long_about(ABOUT_LONG)
        .after_help(exit_code::as_help())
        .term_width(HELP_COLUMNS)
        .subcommand_required(true)
        .args(arguments)
        .subcommands(verbs)
}

/// The program and each of its commands with its words, also those within another, as pages show them.
pub(crate) fn pages() -> Vec<(Vec<String>, clap::Command)> {
    let mut program = described();
    program.build();
    let mut pages = Vec::new();
    collect(&program, &mut Vec::new(), &mut pages);
    pages
}

fn collect(
    command: &clap::Command,
    before: &mut Vec<String>,
    pages: &mut Vec<(Vec<String>, clap::Command)>,
) {
    before.push(command.get_name().to_owned());
    pages.push((before.clone(), command.clone()));
    let shown = |verb: &&clap::Command| verb.get_name() != "help" && !verb.is_hide_set();
    for verb in command.get_subcommands().filter(shown) {
        collect(verb, before, pages);
    }
    before.pop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_broken_where_a_line_of_it_ends() {
        let said = "One line\nand more of it.\n\nExamples:\n  a-society ls\n  a-society run\nThen";
        let flows = "One line and more of it.\n\nExamples:\n  a-society ls\n  a-society run\nThen";
        assert_eq!(joined(said), flows);
        let mut init = in_paragraphs(Arguments::command());
        init.build();
        let help = init.find_subcommand_mut("init").unwrap().render_help().to_string();
        let words = |line: &&str| line.split(' ').count() == 1 && !line.is_empty() && !line.ends_with(':');
        assert_eq!(help.lines().filter(words).collect::<Vec<_>>(), [""; 0], "{help}");
    }
}
