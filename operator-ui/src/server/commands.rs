//! Commands of a browser: sent to the flow's driver, here or in another process, and answered after
//! they are durable.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::fact::terms::Scope;
use a_society_facts::id::ClientId;
use a_society_facts::{AnsweredRequest, Verb, VerbRow, VerbSetting};
use a_society_orchestrator::config::policy;
use a_society_orchestrator::control::client::{self, ObeyedBy, Unsaid};
use a_society_orchestrator::control::{fault as control_fault, message};
use a_society_orchestrator::driver::error::DriverError;
use a_society_orchestrator::fork::Wish;
use a_society_orchestrator::pasted_secrets::holds_a_secret;
use a_society_orchestrator::project::choices::SCOPE;
use a_society_state::FlowRef;

use super::actions::adopt;
use super::app::{Shared, flow_ref};
use super::forks;
use crate::protocol::command::{Command, ServerVerb};
use crate::protocol::down::{Ack, False, Fault, True};
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

/// A message that makes no sense.
pub(super) fn unfit(why: String) -> Fault {
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
    let verb = match command {
        Command::Flow(verb) => {
            check(verb.row())?;
            verb
        }
        Command::Server(ServerVerb::Resume { note }) => {
            let note = note.filter(|note| !note.trim().is_empty());
            return match note {
                Some(note) => forks::go_on(app, client, &flow, note),
                None => resume(app, &flow),
            };
        }
        Command::Server(ServerVerb::Fork {
            at,
            name,
            first_message,
        }) => {
            let wish = Wish {
                at: Some(at),
                name: name.filter(|name| !name.trim().is_empty()),
            };
            let client: ClientId = read(&format!("{cmd}.first"))?;
            return forks::make(app, client, &flow, wish, first_message);
        }
    };
    let said = say(app, &flow, verb.clone(), client);
    let (done, heard) = said.map_err(|error| match verb.row().answers {
        Some(request) => loser(app, &flow, request, error),
        None => error,
    })?;
    if heard == (ObeyedBy::ByUs { goes_on: true }) {
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
) -> Result<(Done, ObeyedBy), Fault> {
    let done = |taken: message::Taken| Done {
        seq: taken.seq,
        facts: taken.facts as u64,
        ..Done::default()
    };
    if let Some(handle) = app.hubs.handle(flow) {
        match handle.obey(command.clone(), Some(client.clone())) {
            Ok(taken) => return Ok((done(taken), ObeyedBy::ByDriver)),
            // It ended just now; the command goes the way of other flows.
            Err(DriverError::Gone) => {}
            Err(error) => return Err(wire_fault(control_fault::of(&error))),
        }
    }
    let project = app.project_folder(flow);
    match client::say(&app.hubs.store, flow, &project, command, client) {
        Ok((taken, heard)) => Ok((done(taken), heard)),
        Err(error) => Err(from_unsaid(error)),
    }
}

/// A fault of the control socket on the wire.
pub(super) fn wire_fault(fault: message::ControlFault) -> Fault {
    let code = serde_json::to_string(&fault.code).unwrap_or_default();
    Fault {
        code: code.trim_matches('"').to_owned(),
        what: fault.what,
        why: fault.why,
        r#try: fault.r#try,
    }
}

pub(super) fn from_unsaid(error: Unsaid) -> Fault {
    wire_fault(client::fault_of(error))
}

/// The loser of two decisions gets the winner's.
fn loser(app: &Shared, flow: &FlowRef, request: AnsweredRequest<'_>, error: Fault) -> Fault {
    if error.code != "command-refused" {
        return error;
    }
    if let AnsweredRequest::Question(Some(_)) = request {
        return already("It was answered, or something else is asked by now".to_owned());
    }
    match decision(app, flow, request) {
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

/// What was decided about a request: the last fact that says so.
fn decision(app: &Shared, flow: &FlowRef, request: AnsweredRequest<'_>) -> Option<&'static str> {
    let mut follower = app.hubs.store.follow(flow).ok()?;
    let mut words = None;
    let read = follower.read(&mut |recorded| {
        let decided = recorded.fact().and_then(|fact| request.decided_by(fact));
        words = decided.or(words);
    });
    drop(read);
    words
}

/// Refuses what a page may not say: it names what it shows, its rules can be read, and its scope is known.
fn check(verb: VerbRow<'_>) -> Result<(), Fault> {
    if verb.answers.is_some_and(|request| !request.is_named()) {
        let why = "a page names what it answers: another may be the only one by now";
        return Err(unfit(why.to_owned()));
    }
    match verb.sets {
        Some(VerbSetting::Rules(rules, back)) => check_rules(rules, back),
        Some(VerbSetting::Role(settings)) => known_scope(settings),
        Some(VerbSetting::Mode | VerbSetting::Budget) | None => Ok(()),
    }
}

/// Rules as the command line checks its own; those that are taken back need only be read.
fn check_rules(said: &ConsentRules, back: bool) -> Result<(), Fault> {
    let no_rule = |why: String| Fault {
        code: "usage".to_owned(),
        what: "a rule cannot be read".to_owned(),
        why,
        r#try: "say it otherwise, or leave it out".to_owned(),
    };
    for rule in said.allow.iter().chain(&said.deny) {
        // Rules are recorded as they are written.
        if holds_a_secret(rule) {
            let why = "something in it looks like a secret, which is not recorded";
            return Err(no_rule(why.to_owned()));
        }
        if !back {
            policy::check(rule).map_err(|fault| no_rule(fault.to_string()))?;
        }
    }
    for rule in said.allow.iter().filter(|_| !back) {
        policy::check_allow(rule).map_err(|fault| no_rule(fault.to_string()))?;
    }
    Ok(())
}

/// Refuses an unknown scope: it would take every right away.
fn known_scope(settings: &BTreeMap<String, String>) -> Result<(), Fault> {
    match settings.get(SCOPE) {
        Some(word) if Scope::of_word(word).is_none() => {
            let words = Scope::ALL.map(Scope::word).join(", ");
            Err(unfit(format!(
                "there is no scope {word:?}; there are: {words}"
            )))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_there_is_not_is_refused_with_those_that_there_are() {
        let chosen = |word: &str| BTreeMap::from([(SCOPE.to_owned(), word.to_owned())]);
        for scope in Scope::ALL {
            assert_eq!(known_scope(&chosen(scope.word())), Ok(()));
        }
        assert_eq!(known_scope(&BTreeMap::new()), Ok(()));
        let refused = known_scope(&chosen("wide")).unwrap_err();
        assert!(
            refused.why.contains("sandboxed, project, full"),
            "{refused:?}"
        );
    }
}
