//! What begins with a slash in a chat: commands, each in place of a message.
//!
//! Most of them are verbs that other commands say, too. One that is unknown is refused with the nearest name, and stays
//! where it was typed.

use a_society_facts::Verb;
use a_society_facts::Whom;
use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::fact::session::Speaker;
use a_society_facts::id::RoleInstance;
use a_society_operator_ui::server::changed;
use a_society_orchestrator::fork::{Wish, make, plan};
use a_society_orchestrator::graph::nearest;
use a_society_orchestrator::mint::SystemMint;
use clap::ValueEnum as _;

use super::Watch;
use crate::cli::asks::short;
use crate::cli::budget::{Counted, limit};
use crate::cli::configure::{SEND, SEND_WORDS};
use crate::cli::diff;
use crate::cli::mode::Mode;
use crate::cli::say::project_folder;
use crate::cli::session_compact;
use crate::cli::table;
use crate::operator_error::Stop;
use crate::text::{plain, printed};

/// Every command: its name, its arguments, and what it does.
const ORDERS: &[(&str, &str, &str)] = &[
    ("help", "", "these commands"),
    ("quit", "", "end; the chat is kept"),
    (
        "model",
        "NAME",
        "let this model answer from the next message on",
    ),
    (
        "effort",
        "LEVEL",
        "how hard it is to think from the next message on",
    ),
    ("mode", "ask|partial|full", "how much runs without asking"),
    (
        "send",
        "on|off|inherit",
        "whether other sessions may send to this chat",
    ),
    (
        "steer",
        "TEXT",
        "say something to the role at work, before its turn ends",
    ),
    ("retry", "", "take a stopped or failed turn again"),
    (
        "compact",
        "[STRATEGY …]",
        "replace what was said so far by a summary, or as session compact does",
    ),
    (
        "trim",
        "N",
        "keep the last N messages, and archive those before",
    ),
    ("reset", "", "begin anew: nothing said before is remembered"),
    ("inject", "TEXT", "add a message that begins no turn"),
    (
        "fork",
        "[NAME]",
        "begin another chat with what was said so far",
    ),
    (
        "budget",
        "[MEASURE LIMIT]",
        "what it spent, or what it may: tokens, cost or turns; none lifts a limit",
    ),
    ("cost", "", "what it cost so far"),
    ("diff", "", "the files that tools changed"),
    ("tools", "", "the tools that its model was offered last"),
    ("label", "TEXT", "call the chat something else"),
    (
        "export",
        "[FILE]",
        "write it to a file: as JSON or YAML (a flow) if the name ends so, else as Markdown",
    ),
];

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    Help,
    Quit,
    /// A verb of the operator's.
    Says(Verb),
    Fork(Option<String>),
    Cost,
    Diff,
    Tools,
    Export(Option<String>),
}

/// Whether a line is a command: a slash and a word. A path has more slashes, and a blank before it makes a message of
/// anything.
pub(super) fn is_order(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let name = word.strip_prefix('/').filter(|_| line.starts_with('/'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|it| it.is_ascii_lowercase()))
}

/// Reads a command for the role of a chat.
fn read(line: &str, role: &RoleInstance) -> Result<Order, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, rest) = (name.trim_start_matches('/'), rest.trim());
    let configure = |key: &str, value: &str| Verb::Configure {
        role: role.clone(),
        settings: [(key.to_owned(), value.to_owned())].into(),
    };
    let needs = |what: &str| Err(format!("/{name} needs {what}"));
    Ok(match name {
        "help" => Order::Help,
        "quit" | "exit" => Order::Quit,
        "model" if rest.is_empty() => return needs("the name of a model"),
        "model" => Order::Says(configure("model", rest)),
        "effort" if rest.is_empty() => return needs("a level, such as low or high"),
        "effort" => Order::Says(configure("effort", rest)),
        "send" if !SEND_WORDS.contains(&rest) => return needs("on, off or inherit"),
        "send" => Order::Says(configure(SEND, rest)),
        "mode" => match Mode::from_str(rest, true) {
            Ok(mode) => Order::Says(Verb::Mode { mode: mode.mode() }),
            Err(_) => return needs("ask, partial or full"),
        },
        "steer" if rest.is_empty() => return needs("what is to be said"),
        "steer" => Order::Says(Verb::Steer {
            role: role.clone(),
            text: rest.to_owned(),
            when: SteerWhen::Queue,
        }),
        "retry" => Order::Says(Verb::Retry { to: Whom::Only }),
        "compact" => Order::Says(Verb::Compact {
            role: role.clone(),
            how: session_compact::typed(rest)?,
        }),
        "trim" => match rest.parse() {
            Ok(keep) => Order::Says(Verb::Trim {
                role: role.clone(),
                keep,
            }),
            Err(_) => return needs("how many messages stay"),
        },
        "reset" => Order::Says(Verb::Reset { role: role.clone() }),
        "inject" if rest.is_empty() => return needs("what is to be added"),
        "inject" => Order::Says(Verb::Inject {
            role: role.clone(),
            speaker: Speaker::User,
            text: rest.to_owned(),
        }),
        "fork" => Order::Fork(Some(rest.to_owned()).filter(|name| !name.is_empty())),
        "budget" if rest.is_empty() => Order::Cost,
        "budget" => Order::Says(budget(rest)?),
        "cost" => Order::Cost,
        "diff" => Order::Diff,
        "tools" => Order::Tools,
        "label" if rest.is_empty() => return needs("what the chat is to be called"),
        "label" => Order::Says(Verb::Title {
            title: rest.to_owned(),
        }),
        "export" => Order::Export(Some(rest.to_owned()).filter(|file| !file.is_empty())),
        unknown => {
            let near = nearest(unknown, ORDERS.iter().map(|(name, ..)| *name));
            let near = near.map(|near| format!("; did you mean /{near}?"));
            let near = near.unwrap_or_else(|| "; /help lists those that there are".to_owned());
            return Err(format!("there is no command /{unknown}{near}"));
        }
    })
}

fn budget(rest: &str) -> Result<Verb, String> {
    let what = || "a budget is set as in: /budget tokens 200000, or: /budget cost none".to_owned();
    let (measure, most) = rest.split_once(char::is_whitespace).ok_or_else(what)?;
    let measure = match Counted::from_str(measure, true).map_err(|_| what())? {
        Counted::Tokens => Measure::Tokens,
        Counted::Cost => Measure::CostMicros,
        Counted::Turns => Measure::Turns,
    };
    Ok(Verb::Budget {
        role: None,
        measure,
        limit: limit(most.trim()).map_err(|_| what())?.most(),
    })
}

impl Watch<'_> {
    /// Does what a line that begins with a slash means. Whether it is used up; else it stays where it was typed.
    pub(super) fn obey_order(&mut self, line: &str) -> Result<bool, Stop> {
        let nodes = self.handle.seen().map(|seen| seen.state.graph.clone());
        let role = nodes.as_ref().and_then(|graph| graph.nodes.first());
        let Some(role) = role.map(|node| node.role.clone()) else {
            return Ok(false);
        };
        let order = match read(line.trim(), &role) {
            Ok(order) => order,
            Err(why) => {
                self.say(&plain(&why))?;
                return Ok(false);
            }
        };
        match order {
            Order::Help => self.print_lines(&help())?,
            Order::Quit => self.leave()?,
            Order::Says(verb) => {
                let done = verb.row().done;
                match self.obeyed(verb) {
                    Ok(()) => self.say(done)?,
                    Err(refused) => {
                        self.say(&plain(&refused.to_string()))?;
                        return Ok(false);
                    }
                }
            }
            Order::Fork(name) => self.fork(name)?,
            Order::Cost => self.print_cost()?,
            Order::Diff => self.print_diff()?,
            Order::Tools => self.print_tools(&role)?,
            Order::Export(file) => self.export(&role, file)?,
        }
        Ok(true)
    }

    /// Prints lines above what is typed.
    pub(super) fn print_lines(&mut self, lines: &[String]) -> Result<(), Stop> {
        if !self.draws() {
            for line in lines {
                self.out.line(line)?;
            }
            return self.out.flush();
        }
        let (columns, _) = self.out.size();
        self.out.draw(lines, &[], columns)
    }

    /// Begins another chat with the messages so far. This one goes on.
    fn fork(&mut self, name: Option<String>) -> Result<(), Stop> {
        let project = project_folder(self.store, &self.flow.project);
        let now = self.store.ground().clock.now();
        let wish = Wish { at: None, name };
        let made = plan(self.store, &project, self.flow, wish)
            .and_then(|planned| make(self.store, &planned, now, &mut SystemMint));
        match made {
            Ok(made) => {
                let name = short(&made);
                self.say(&format!("forked: a-society chat --resume {name}"))
            }
            Err(why) => self.say(&plain(&format!("it was not forked: {why}"))),
        }
    }

    fn print_cost(&mut self) -> Result<(), Stop> {
        let Some(seen) = self.handle.seen() else {
            return Ok(());
        };
        let mut lines = self.progress.cost(&seen.state, self.is_plain);
        let limits = seen.state.account.limits.iter();
        lines.extend(limits.map(|(measure, most)| {
            let spent = seen.state.account.spent.of(*measure);
            let what = match measure {
                Measure::Tokens => "tokens",
                Measure::CostMicros => "cost, in millionths",
                Measure::Turns => "turns",
                Measure::WallMs => "time, in milliseconds",
            };
            format!("{what}: {spent} of {most}")
        }));
        self.print_lines(&lines)
    }

    fn print_diff(&mut self) -> Result<(), Stop> {
        let all = match changed(self.store, self.flow, None) {
            Ok(all) => all,
            Err(fault) => return self.say(&plain(&format!("it cannot be shown: {}", fault.why))),
        };
        if all.diffs.is_empty() {
            return self.say("no file was changed by a tool");
        }
        let rows = table::lines(&diff::rows(&all)).into_iter();
        let rows: Vec<String> = rows.map(|row| printed(&row)).collect();
        self.print_lines(&rows)
    }
}

/// All commands, a line each.
fn help() -> Vec<String> {
    let each = ORDERS.iter().map(|(name, arguments, does)| {
        let typed = format!("/{name} {arguments}");
        format!("  {typed:<26}{does}")
    });
    let keys = "  enter sends · ctrl-j new line · ctrl-g editor · esc or ctrl-c ends the turn · ctrl-d ends the chat";
    each.chain([keys.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role() -> RoleInstance {
        "assistant".parse().unwrap()
    }

    #[test]
    fn a_slash_and_a_word_is_a_command_and_a_path_is_none() {
        for line in ["/help", "/model m", "/nosuch"] {
            assert!(is_order(line), "{line}");
        }
        for line in ["/etc/hosts?", " /help", "help", "/", "/ help", "a /help"] {
            assert!(!is_order(line), "{line}");
        }
    }

    #[test]
    fn an_unknown_command_names_the_nearest_and_every_known_one_is_read() {
        let why = read("/modle m", &role()).unwrap_err();
        assert_eq!(why, "there is no command /modle; did you mean /model?");
        for (name, arguments, _) in ORDERS {
            let argument = match *name {
                "mode" => "full",
                "compact" => "truncate --keep-last 4",
                "trim" => "12",
                "budget" => "tokens 200_000",
                "send" => "off",
                _ => arguments,
            };
            let read = read(&format!("/{name} {argument}"), &role());
            assert!(read.is_ok(), "{name}: {read:?}");
        }
        assert!(read("/compact", &role()).is_ok() && read("/compact truncat", &role()).is_err());
        let budget = read("/budget turns 100", &role()).unwrap();
        assert!(matches!(
            budget,
            Order::Says(Verb::Budget {
                measure: Measure::Turns,
                limit: Some(100),
                ..
            })
        ));
        assert!(read("/budget tokens", &role()).is_err());
    }
}
