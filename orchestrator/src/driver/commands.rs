//! The operator's verbs: the machine gets them unchanged, and the driver brings what it needs of the world.

use a_society_base::stop::StopSignal;
use a_society_facts::id::ClientId;
use a_society_facts::{AnsweredRequest, Verb, VerbSetting, Whom};
use a_society_flow::machine::{Brought, Commanded, Input, NewGraph, OperatorWords, VerbNeed};

use super::core::Core;
use super::errand::ErrandId;
use super::error::DriverError;
use super::live_turn::LiveTurn;
use super::session_changes;
use crate::control::message::Taken;
use crate::limits::CANCEL_REASON_BYTES_MAX;
use crate::pasted_secrets::without_secrets;
use crate::project::flow_file::{FileError, read_kept};

/// How far a command of the operator has come.
#[derive(Debug)]
pub(super) enum Obeyed {
    /// It has taken effect.
    Now(Taken),
    /// It does when this errand is reported.
    Later(ErrandId),
}

impl Core {
    /// Carries out a verb of the operator: what follows from it is durable on return. The machine knows
    /// whether a client's name counted before, and then nothing follows.
    ///
    /// # Errors
    /// When it could mean several things, the machine refuses, or the journal does.
    pub fn obey(&mut self, verb: Verb, client: Option<ClientId>) -> Result<Taken, DriverError> {
        match self.obey_apart(verb, client)? {
            Obeyed::Now(taken) => Ok(taken),
            Obeyed::Later(errand) => self.run_command_here(errand),
        }
    }

    /// The same, without waiting for the outside world.
    ///
    /// # Errors
    /// As [`Self::obey`].
    pub(super) fn obey_apart(
        &mut self,
        mut verb: Verb,
        client: Option<ClientId>,
    ) -> Result<Obeyed, DriverError> {
        if let Verb::Cancel { why } = &mut verb {
            *why = why.as_deref().and_then(reason);
        }
        let says_beforehand = matches!(verb.row().sets, Some(VerbSetting::Rules(_, false)));
        match self.commanded(verb, client)? {
            Obeyed::Now(taken) if says_beforehand && !self.state().consents.is_empty() => {
                self.ask_rules(taken.facts).map(Obeyed::Later)
            }
            obeyed @ (Obeyed::Now(_) | Obeyed::Later(_)) => Ok(obeyed),
        }
    }

    /// Gives the machine a verb, and again with what it needs.
    pub(super) fn commanded(
        &mut self,
        verb: Verb,
        client: Option<ClientId>,
    ) -> Result<Obeyed, DriverError> {
        if let Some(AnsweredRequest::Change(change)) = verb.row().answers {
            self.may_decide(change)?;
        }
        let mut said = Commanded {
            client,
            verb,
            brought: Brought::Nothing,
        };
        let need = match self.pen.command(Input::Commanded(said.clone())) {
            Ok(facts) => return Ok(self.obeyed(facts)),
            Err(error) => error.into_need()?,
        };
        said.brought = match need {
            VerbNeed::Hurry(to) => {
                let facts = self.retry_now(to, said.client)?;
                return Ok(self.obeyed(facts));
            }
            VerbNeed::Compact(..) | VerbNeed::Session(..) if self.is_draining() => {
                return Err(DriverError::Gone);
            }
            VerbNeed::Compact(role, wish) => {
                let facts = self.shorten(role, wish, said.client)?;
                return Ok(self.obeyed(facts));
            }
            VerbNeed::Session(role, wish) => {
                let client = said.client;
                let facts = session_changes::carry_out(&mut self.pen, &role, wish, client)?;
                return Ok(self.obeyed(facts));
            }
            VerbNeed::Words(words) => Brought::Words(OperatorWords {
                text: self.pen.keep_words(&words)?,
                message: self.pen.name("m")?,
            }),
            VerbNeed::Grant(consent) => return self.ask_grant(consent, said).map(Obeyed::Later),
            VerbNeed::Graph(source) => return self.ask_contract(source, said).map(Obeyed::Later),
            VerbNeed::Proposal { path, text } => {
                return self.ask_proposal(path, text, said).map(Obeyed::Later);
            }
            VerbNeed::Written(change) => return self.ask_written(change, said).map(Obeyed::Later),
        };
        let facts = self.pen.command(Input::Commanded(said.clone()))?;
        if let Some(role) = said.verb.row().interrupts {
            self.live.interrupt(role);
        }
        Ok(self.obeyed(facts))
    }

    /// A command has taken effect, with so many facts.
    const fn obeyed(&self, facts: usize) -> Obeyed {
        let seq = self.pen.flow.position().seq;
        Obeyed::Now(Taken { seq, facts })
    }

    /// Tries the request at once that waits for its provider. Nothing of it is recorded, so that the client's name is known
    /// for as long as the process drives the flow: after that nothing waits.
    ///
    /// # Errors
    /// When no turn waits so, or several do and none was named.
    fn retry_now(&mut self, to: Whom, client: Option<ClientId>) -> Result<usize, DriverError> {
        if client.as_ref().is_some_and(|id| self.pen.early.counted(id)) {
            return Ok(0);
        }
        let waits = |live: &LiveTurn| live.control.waits();
        let meant = |live: &LiveTurn| waits(live) && live.subject.is(&to);
        let named = |of: &dyn Fn(&LiveTurn) -> bool| {
            let turns = self.live.values().filter(|live| of(live));
            turns.map(|live| live.subject.named()).collect()
        };
        match self.live.values().filter(|live| meant(live)).count() {
            0 if self.wakes_at().is_some() => {
                return self.pen.command(Input::Commanded(Commanded {
                    client,
                    verb: Verb::Retry { to },
                    brought: Brought::Nothing,
                }));
            }
            0 => return Err(DriverError::NothingWaits(named(&waits))),
            1 => {}
            _ => return Err(DriverError::ManyTries(named(&meant))),
        }
        if let Some(live) = self.live.values_mut().find(|live| meant(live)) {
            live.control.hurry();
        }
        if let Some(client) = client {
            self.pen.early.count(client);
        }
        Ok(0)
    }

    /// What a graph leaves to its project is found out before the flow walks it.
    fn ask_contract(
        &mut self,
        source: String,
        mut said: Commanded,
    ) -> Result<ErrandId, DriverError> {
        let file = read_kept(source).map_err(unfit)?;
        let mut roles = self.pen.roles.another();
        self.send_for_command(StopSignal::default(), move || {
            let file = roles.contract(file).map_err(DriverError::Graph);
            Box::new(move |core: &mut Self| {
                let file = file?;
                said.brought = Brought::Graph(NewGraph {
                    graph: Box::new(file.graph.clone()),
                    source: core.pen.flow.keep_text(file.source.clone())?,
                });
                let facts = core.pen.command(Input::Commanded(said))?;
                if facts > 0 {
                    core.pen.roles.revised(&file);
                }
                Ok(facts)
            })
        })
    }
}

/// Why a flow is cancelled, as it is kept: without what looks like a secret, and not longer than its
/// record takes. Blank words say nothing.
fn reason(why: &str) -> Option<String> {
    let mut why = without_secrets(why.trim());
    if why.len() > CANCEL_REASON_BYTES_MAX {
        why.truncate(why.floor_char_boundary(CANCEL_REASON_BYTES_MAX));
        why.push('…');
    }
    (!why.is_empty()).then_some(why)
}

fn unfit(error: FileError) -> DriverError {
    match error {
        FileError::NotAFlow { diagnostics, .. } => DriverError::NotAFlow(diagnostics),
        FileError::Read(error) => DriverError::State(error),
        FileError::NotText(_) | FileError::NotAScript { .. } => DriverError::NotAFlow(Vec::new()),
    }
}
