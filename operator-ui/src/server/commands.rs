//! Commands of a browser: sent to the flow's driver, here or in another process, and answered after
//! they are durable.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use a_society_facts::Verb;
use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::id::ClientId;
use a_society_orchestrator::config::policy;
use a_society_orchestrator::config::user::Scope;
use a_society_orchestrator::control::client::{self, Heard, Unsaid};
use a_society_orchestrator::control::{fault as control_fault, message};
use a_society_orchestrator::driver::error::DriverError;
use a_society_orchestrator::fork::Wish;
use a_society_orchestrator::project::choices::SCOPE;
use a_society_orchestrator::withheld::holds_a_secret;
use a_society_state::FlowRef;

use super::actions::adopt;
use super::app::{Shared, flow_ref};
use super::forks;
use crate::protocol::command::{Command, Measure, StopScope, When, Whom};
use crate::protocol::down::{Ack, False, Fault, True};
use crate::protocol::flow::ConsentMode;
use crate::protocol::row;

/// Carries a command out and returns the result. It waits for the disk.
pub(super) fn done(app: &Shared, cmd: &str, flow: &row::FlowRef, command: Command) -> Ack {
    app.hubs.counts.commands.fetch_add(1, Ordering::Relaxed);
    match try_it(app, cmd, flow, command) {
        Ok(done) => Ack::Done {
            cmd: cmd.to_owned(),
            ok: True,
            seq: done.seq,
            facts: done.facts,
            flow: done.fork,
            note: done.note,
        },
        Err(error) => Ack::Failed {
            cmd: cmd.to_owned(),
            ok: False,
            error,
        },
    }
}

#[derive(Default)]
pub(super) struct Done {
    seq: u64,
    facts: u64,
    /// The flow that a fork began.
    pub(super) fork: Option<row::FlowRef>,
    /// What of it did not come about.
    pub(super) note: Option<Fault>,
}

fn unfit(why: String) -> Fault {
    Fault {
        code: "message-unfit".to_owned(),
        what: "the message was not understood".to_owned(),
        why,
        r#try: "load the page anew".to_owned(),
    }
}

fn read<T: std::str::FromStr>(text: &str) -> Result<T, Fault>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|bad: T::Err| unfit(bad.to_string()))
}

fn try_it(app: &Shared, cmd: &str, wire: &row::FlowRef, command: Command) -> Result<Done, Fault> {
    let flow = flow_ref(wire)?;
    let client: ClientId = read(cmd)?;
    if let Command::Resume { note } = command {
        let note = note.filter(|note| !note.trim().is_empty());
        return match note {
            Some(note) => forks::go_on(app, client, &flow, note),
            None => resume(app, &flow),
        };
    }
    if let Command::Fork {
        at,
        name,
        first_message,
    } = command
    {
        let wish = Wish {
            at: Some(at),
            name: name.filter(|name| !name.trim().is_empty()),
        };
        let client: ClientId = read(&format!("{cmd}.first"))?;
        return forks::make(app, client, &flow, (wish, first_message));
    }
    let said = said(command.clone())?;
    let (done, heard) =
        say(app, &flow, said, client).map_err(|error| loser(app, &flow, &command, error))?;
    if heard == (Heard::ByUs { goes_on: true }) {
        // It rested, and was answered here: here it continues. If it cannot, its row shows that.
        drop(resume(app, &flow));
    }
    Ok(done)
}

pub(super) fn resume(app: &Shared, flow: &FlowRef) -> Result<Done, Fault> {
    if app.hubs.handle(flow).is_none() {
        let begun = app.actions.resume(flow)?;
        adopt(&app.hubs, begun);
    }
    let look = app.hubs.store.look(flow);
    let seq = look.map_or(0, |look| look.screen.flow.seq);
    Ok(Done {
        seq,
        ..Done::default()
    })
}

/// Sends a command to the driver of the flow.
pub(super) fn say(
    app: &Shared,
    flow: &FlowRef,
    command: Verb,
    client: ClientId,
) -> Result<(Done, Heard), Fault> {
    let done = |taken: message::Taken| Done {
        seq: taken.seq,
        facts: taken.facts as u64,
        ..Done::default()
    };
    if let Some(handle) = app.hubs.handle(flow) {
        match handle.obey(command.clone(), Some(client.clone())) {
            Ok(taken) => return Ok((done(taken), Heard::ByDriver)),
            // It ended just now; the command goes the way of other flows.
            Err(DriverError::Gone) => {}
            Err(error) => return Err(wire_fault(control_fault::of(&error))),
        }
    }
    let project = app.actions.project_folder(flow);
    match client::say(&app.hubs.store, flow, &project, (command, client)) {
        Ok((taken, heard)) => Ok((done(taken), heard)),
        Err(error) => Err(from_unsaid(error)),
    }
}

/// A fault of the control socket on the wire.
pub(super) fn wire_fault(fault: message::Fault) -> Fault {
    let code = serde_json::to_string(&fault.code).unwrap_or_default();
    Fault {
        code: code.trim_matches('"').to_owned(),
        what: fault.what,
        why: fault.why,
        r#try: fault.r#try,
    }
}

pub(super) fn from_unsaid(error: Unsaid) -> Fault {
    let (code, what, hint) = match error {
        Unsaid::Fault(fault) => return wire_fault(fault),
        Unsaid::Run(_) => (
            "flow-stopped",
            "the flow cannot be driven",
            "a-society verify FLOW",
        ),
        Unsaid::Deaf { .. } => (
            "flow-busy",
            "another process holds this flow and does not listen",
            "stop that process, then try again",
        ),
        Unsaid::NoAnswer(_) => (
            "no-answer",
            "the process that drives the flow did not answer",
            "check whether it was done before you retry",
        ),
    };
    Fault {
        code: code.to_owned(),
        what: what.to_owned(),
        why: error.to_string(),
        r#try: hint.to_owned(),
    }
}

/// The loser of two decisions gets the winner's.
fn loser(app: &Shared, flow: &FlowRef, command: &Command, error: Fault) -> Fault {
    if let Command::Reply { asked: Some(_), .. } = command
        && error.code == "command-refused"
    {
        return already("It was answered, or something else is asked by now".to_owned());
    }
    let (Command::Allow {
        consent: needle, ..
    }
    | Command::Deny {
        consent: needle, ..
    }
    | Command::Approve { approval: needle }
    | Command::Decline {
        approval: needle, ..
    }) = command
    else {
        return error;
    };
    if error.code != "command-refused" {
        return error;
    }
    match decision(app, flow, needle) {
        Some(words) => already(format!("{words} by you in another window")),
        None => error,
    }
}

fn already(what: String) -> Fault {
    Fault {
        code: "already-decided".to_owned(),
        what,
        why: "the first answer counts, and this one came second".to_owned(),
        r#try: "nothing is left to do here".to_owned(),
    }
}

/// What was decided about a request, by its name: the last fact that says so.
fn decision(app: &Shared, flow: &FlowRef, name: &str) -> Option<&'static str> {
    use a_society_facts::Fact;
    use a_society_facts::fact::operator::ConsentAnswer;
    let mut follower = app.hubs.store.follow(flow).ok()?;
    let mut words = None;
    let read = follower.read(&mut |recorded| match recorded.fact() {
        Some(Fact::ConsentResolved(f)) if f.consent.as_str() == name => {
            words = Some(match f.answer {
                ConsentAnswer::AllowOnce => "Allowed once",
                ConsentAnswer::AllowFlow => "Allowed for this flow",
                ConsentAnswer::Deny => "Denied",
                ConsentAnswer::Withdrawn => "Withdrawn",
            });
        }
        Some(Fact::HandoffDecided(f)) if f.approval.as_str() == name => {
            words = Some(if f.approved { "Approved" } else { "Declined" });
        }
        _ => {}
    });
    drop(read);
    words
}

/// The same command as the control socket has it.
#[expect(clippy::too_many_lines, reason = "one exhaustive match")]
fn said(command: Command) -> Result<Verb, Fault> {
    Ok(match command {
        Command::Reply { to, text, asked } => Verb::Reply {
            to: whom(to)?,
            text,
            asked: asked.as_deref().map(read).transpose()?,
        },
        Command::Approve { approval } => Verb::Approve {
            approval: Some(read(&approval)?),
        },
        Command::Decline { approval, reason } => Verb::Decline {
            approval: Some(read(&approval)?),
            reason,
        },
        Command::Allow {
            consent,
            action,
            for_the_flow,
        } => Verb::Allow {
            consent: Some(read(&consent)?),
            action: Some(read(&action)?),
            for_the_flow,
        },
        Command::Deny {
            consent,
            action,
            reason,
        } => Verb::Deny {
            consent: Some(read(&consent)?),
            action: Some(read(&action)?),
            reason,
        },
        Command::Rules { allow, deny, back } => Verb::Rules {
            rules: checked_rules(allow, deny, back)?,
            back,
        },
        Command::Mode { mode } => Verb::Mode {
            mode: consent_mode(mode),
        },
        Command::Configure { role, settings } => Verb::Configure {
            role: read(&role)?,
            settings: known_scope(settings)?,
        },
        Command::Budget {
            role,
            measure,
            limit,
        } => Verb::Budget {
            role: role.as_deref().map(read).transpose()?,
            measure: measured(measure),
            limit,
        },
        Command::Steer { role, text, when } => Verb::Steer {
            role: read(&role)?,
            text,
            when: heard_when(when),
        },
        Command::Stop { scope } => Verb::Stop {
            scope: stopped(scope)?,
        },
        Command::Pause {} => Verb::Pause {},
        Command::Unpause {} => Verb::Unpause {},
        Command::Cancel { why } => Verb::Cancel { why },
        Command::Retry { to } => Verb::Retry { to: whom(to)? },
        Command::RetryNow { to } => Verb::RetryNow { to: whom(to)? },
        Command::Reopen { node, note } => Verb::Reopen {
            node: read(&node)?,
            note,
        },
        Command::Revise { source } => Verb::Revise { source },
        Command::Improve { mode } => Verb::Improve { mode: mode.into() },
        Command::Feedback { granted } => Verb::Feedback { granted },
        Command::Compact { role } => Verb::Compact { role: read(&role)? },
        Command::Restore { role, archive } => Verb::Restore {
            role: read(&role)?,
            archive,
        },
        Command::Propose { role, path, text } => Verb::Propose {
            role: read(&role)?,
            path,
            text,
        },
        Command::Change { change, applied } => Verb::Change {
            change: Some(change),
            applied,
        },
        Command::Fork { .. } | Command::Resume { .. } => {
            return Err(Fault {
                code: "not-offered".to_owned(),
                what: "this server cannot do that".to_owned(),
                why: "this version does not offer it from the page".to_owned(),
                r#try: "a-society help".to_owned(),
            });
        }
    })
}

/// Rules as the command line checks its own; those that are taken back need only be read.
fn checked_rules(allow: Vec<String>, deny: Vec<String>, back: bool) -> Result<ConsentRules, Fault> {
    let no_rule = |why: String| Fault {
        code: "usage".to_owned(),
        what: "a rule cannot be read".to_owned(),
        why,
        r#try: "say it otherwise, or leave it out".to_owned(),
    };
    for rule in allow.iter().chain(&deny) {
        // Rules are recorded as they are written.
        if holds_a_secret(rule) {
            let why = "something in it looks like a secret, which is not recorded";
            return Err(no_rule(why.to_owned()));
        }
        if !back {
            policy::check(rule).map_err(|fault| no_rule(fault.to_string()))?;
        }
    }
    for rule in allow.iter().filter(|_| !back) {
        policy::check_allow(rule).map_err(|fault| no_rule(fault.to_string()))?;
    }
    let mut rules = ConsentRules::default();
    rules.add(&ConsentRules { allow, deny });
    Ok(rules)
}

const fn consent_mode(mode: ConsentMode) -> a_society_facts::fact::operator::ConsentMode {
    use a_society_facts::fact::operator::ConsentMode as Mode;
    match mode {
        ConsentMode::NoAccess => Mode::NoAccess,
        ConsentMode::PartialAccess => Mode::PartialAccess,
        ConsentMode::FullAccess => Mode::FullAccess,
    }
}

const fn measured(measure: Measure) -> a_society_facts::fact::budget::Measure {
    use a_society_facts::fact::budget::Measure as Of;
    match measure {
        Measure::Tokens => Of::Tokens,
        Measure::CostMicros => Of::CostMicros,
        Measure::Turns => Of::Turns,
        Measure::WallMs => Of::WallMs,
    }
}

const fn heard_when(when: When) -> a_society_facts::fact::operator::SteerWhen {
    use a_society_facts::fact::operator::SteerWhen;
    match when {
        When::NextTurn => SteerWhen::Queue,
        When::Now => SteerWhen::Interrupt,
    }
}

/// Refuses an unknown scope: it would take every right away.
fn known_scope(settings: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    match settings.get(SCOPE) {
        Some(word) if Scope::of_word(word).is_none() => {
            let words = Scope::ALL.map(Scope::word).join(", ");
            Err(unfit(format!(
                "there is no scope {word:?}; there are: {words}"
            )))
        }
        Some(_) | None => Ok(settings),
    }
}

fn stopped(scope: StopScope) -> Result<a_society_facts::fact::operator::StopScope, Fault> {
    use a_society_facts::fact::operator::StopScope as Of;
    Ok(match scope {
        StopScope::Node(node) => Of::Node(read(&node)?),
        StopScope::Role(role) => Of::Role(read(&role)?),
        StopScope::All => Of::All,
    })
}

fn whom(to: Whom) -> Result<a_society_facts::Whom, Fault> {
    Ok(match to {
        Whom::Node(node) => a_society_facts::Whom::Node(read(&node)?),
        Whom::Role(role) => a_society_facts::Whom::Role(read(&role)?),
        Whom::Only => a_society_facts::Whom::Only,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_there_is_not_is_refused_with_those_that_there_are() {
        let chosen = |word: &str| BTreeMap::from([(SCOPE.to_owned(), word.to_owned())]);
        for scope in Scope::ALL {
            assert_eq!(
                known_scope(chosen(scope.word())).unwrap(),
                chosen(scope.word())
            );
        }
        assert_eq!(known_scope(BTreeMap::new()).unwrap(), BTreeMap::new());
        let refused = known_scope(chosen("wide")).unwrap_err();
        assert!(
            refused.why.contains("sandboxed, project, full"),
            "{refused:?}"
        );
    }
}
