//! What may be typed: one description, from which parsing, help, completions and pages come.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};

use super::{
    allow, approve, budget, cancel, chat, check, complete, completions, configure, decline, demo,
    deny, diff, exit_codes, export, feedback, findings, fork, graph, guard, import, import_state,
    improve, init, log, ls, man, mcp, mode, models, pause, prune, rebuild, reference, reopen,
    repair, reply, resume, retry, revise, rules, run, scenario, schedules, schema, search, serve,
    session, sessions, show, skills, status, steer, stop, unpause, verify, watch,
};
use crate::exit_code;
use crate::output::Color;

/// The width of help texts on pages and on every terminal that is not narrower.
pub(crate) const HELP_COLUMNS: usize = 100;

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

    /// Print labelled lines and take whole lines, for screen readers: no boxes, nothing drawn over
    /// [env: A_SOCIETY_PLAIN]
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) plain: bool,

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
    /// Run an example flow, without keys, models or a network
    Demo(demo::Arguments),
    /// Create a project that runs at once
    Init(init::Arguments),
    /// Check a flow file or a project, and report everything that is wrong with it
    Check(check::Arguments),
    /// Show the graph of a flow file or a project
    Graph(graph::Arguments),
    /// Print the JSON Schema of flow files
    Schema(schema::Arguments),
    /// Run a flow file, or the graph of a project, to its end
    Run(run::Arguments),
    /// Talk with the assistant or a role, and keep the conversation
    Chat(chat::Arguments),
    /// Resume a flow, whatever ended the process that drove it
    Resume(resume::Arguments),
    /// Show all flows in your browser, and drive them from there
    Serve(serve::Arguments),
    /// Show what the roles of a flow changed in files
    Diff(diff::Arguments),
    /// Show the state of a flow, what it waits for, and how to answer
    Status(status::Arguments),
    /// Watch flows on a screen, and answer what they ask with a key
    Watch(watch::Arguments),
    /// Answer a node or a role that waits
    Reply(reply::Arguments),
    /// Approve a staged handoff
    Approve(approve::Arguments),
    /// Send a staged handoff back
    Decline(decline::Arguments),
    /// Allow a call that asks for consent
    Allow(allow::Arguments),
    /// Deny a call that asks for consent
    Deny(deny::Arguments),
    /// Set how much a flow may do without asking
    Mode(mode::Arguments),
    /// List, add and remove rules about calls
    Rules(rules::Arguments),
    /// Choose a role's model, skills, servers or scope
    Configure(configure::Arguments),
    /// Set what a flow or a role may spend
    Budget(budget::Arguments),
    /// Send a message to a role at work
    Steer(steer::Arguments),
    /// List, compact, restore and print the sessions of roles
    Session(session::Arguments),
    /// List the sessions of all flows and chats, and read one
    Sessions(sessions::Arguments),
    /// List what the server begins at due times, and what was missed
    Schedules(schedules::Arguments),
    /// Search the messages of all sessions of the workspace
    Search(search::Arguments),
    /// Stop running turns
    Stop(stop::Arguments),
    /// Pause a flow: running turns end, nothing new starts
    Pause(pause::Arguments),
    /// Continue a paused flow
    Unpause(unpause::Arguments),
    /// End a flow before it is done
    Cancel(cancel::Arguments),
    /// Retry a stopped or failed turn
    Retry(retry::Arguments),
    /// Run a finished node again
    Reopen(reopen::Arguments),
    /// Switch a flow to the graph of another file
    Revise(revise::Arguments),
    /// Choose whether and how a flow has a retrospective
    Improve(improve::Arguments),
    /// Choose whether a feedback report is written
    Feedback(feedback::Arguments),
    /// List what roles found, and make a finding a change of a file
    Findings(findings::Arguments),
    /// Start a new flow from a part of another
    Fork(fork::Arguments),
    /// List flows: the state of each, what it waits for, its cost and age
    Ls(ls::Arguments),
    /// Show the nodes, questions and feed of a flow
    Show(show::Arguments),
    /// Print the facts of a flow's journal
    Log(log::Arguments),
    /// Check every record, blob and view
    Verify(verify::Arguments),
    /// Repair a damaged journal, by a plan
    Repair(repair::Arguments),
    /// Rebuild the views of a flow from its journal
    Rebuild(rebuild::Arguments),
    /// Export a flow as one checked archive, or as one page
    Export(export::Arguments),
    /// Import an archive of a flow
    Import(import::Arguments),
    /// Import flows that another program kept as files
    ImportState(import_state::Arguments),
    /// Remove flows that are over, by a plan
    Prune(prune::Arguments),
    /// List, add, change and test models
    Models(models::Arguments),
    /// List, add, test and approve MCP servers
    Mcp(mcp::Arguments),
    /// List, write and import the skills that roles may look up
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
    /// Print what fits at the cursor of a command line
    #[command(name = "__complete", hide = true)]
    Complete(complete::Arguments),
    /// Guard a command of a role
    #[command(name = "__guard", hide = true)]
    Guard(guard::Arguments),
}

/// The description, without what only tests and builds call.
pub(crate) fn described() -> clap::Command {
    let whole = Arguments::command();
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

/// A command that has a page, and the words that are typed for it.
pub(crate) struct HelpPage {
    pub(crate) words: Vec<String>,
    pub(crate) command: clap::Command,
}

/// The program and each of its commands with its words, also those within another, as pages show them.
pub(crate) fn pages() -> Vec<HelpPage> {
    let mut program = described();
    program.build();
    let mut pages = Vec::new();
    collect(&program, &mut Vec::new(), &mut pages);
    pages
}

fn collect(command: &clap::Command, before: &mut Vec<String>, pages: &mut Vec<HelpPage>) {
    before.push(command.get_name().to_owned());
    pages.push(HelpPage {
        words: before.clone(),
        command: command.clone(),
    });
    let shown = |verb: &&clap::Command| verb.get_name() != "help" && !verb.is_hide_set();
    for verb in command.get_subcommands().filter(shown) {
        collect(verb, before, pages);
    }
    before.pop();
}

#[cfg(test)]
mod tests;
