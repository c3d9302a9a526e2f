//! The operator's verbs: the machine hears them as they are, and what it needs of the world is brought.

use a_society_facts::Verb;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::id::ClientId;
use a_society_facts::message::Text;
use a_society_flow::machine::{Brought, Commanded, Input, Need, NewGraph, Refusal, Words};

use super::core::Core;
use super::error::DriverError;
use crate::control::message::Taken;
use crate::limits::CANCEL_REASON_BYTES_MAX;
use crate::mint;
use crate::project::flow_file::{FileError, read_kept};
use crate::withheld::without_secrets;

impl Core {
    /// Hears a verb of the operator: what follows from it is durable on return. Whether a client's name was heard
    /// before is known to the machine, and then nothing follows.
    ///
    /// # Errors
    /// When it could mean several things, the machine refuses, or the journal does.
    pub fn obey(&mut self, mut verb: Verb, client: Option<ClientId>) -> Result<Taken, DriverError> {
        if let Verb::Cancel { why } = &mut verb {
            *why = why.as_deref().and_then(reason);
        }
        let revises = matches!(verb, Verb::Revise { .. });
        let says_beforehand = matches!(verb, Verb::Rules { back: false, .. });
        let mut facts = self.commanded(verb, client)?;
        if says_beforehand {
            let asked = self.state().consents.len();
            self.answer_by_rules()?;
            // The roles that rested go on because of these.
            facts += asked.saturating_sub(self.state().consents.len());
        }
        if revises && facts > 0 {
            // It was read a moment ago, or the machine would not have heard of it.
            let source = self.flow.whole_text(&self.state().graph.source)?;
            let file = read_kept(source).map_err(unfit)?;
            self.roles.revised(&file);
        }
        let seq = self.flow.position().seq;
        Ok(Taken { seq, facts })
    }

    /// The machine hears a verb, and once more with what it needs.
    pub(super) fn commanded(
        &mut self,
        verb: Verb,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let mut said = Commanded {
            client,
            verb,
            brought: Brought::Nothing,
        };
        let need = match self.command(Input::Commanded(said.clone())) {
            Ok(facts) => return Ok(facts),
            Err(error) => error.into_need()?,
        };
        said.brought = match need {
            Need::Driver => return self.beside(said.verb, said.client),
            Need::Words(words) => Brought::Words(Words {
                text: self.keep_words(&words)?,
                message: mint::name(self.mint.as_mut(), "m")?,
            }),
            Need::Grant(consent) => {
                let (grant, also) = self.granted_by(&consent);
                Brought::Grant(grant, also)
            }
            Need::Graph(source) => Brought::Graph(self.new_graph(source)?),
            Need::Proposal { path, text } => Brought::Proposal(self.proposal(&path, text)?),
            Need::Written(change) => {
                self.apply(&change)?;
                Brought::Written
            }
        };
        let facts = self.command(Input::Commanded(said.clone()))?;
        if let Verb::Steer {
            role,
            when: SteerWhen::Interrupt,
            ..
        } = &said.verb
        {
            self.interrupt(role);
        }
        Ok(facts)
    }

    /// What is done to sessions and to requests under way is not the machine's, because the flow stands where it stood.
    fn beside(&mut self, verb: Verb, client: Option<ClientId>) -> Result<usize, DriverError> {
        if let Verb::RetryNow { to } = verb {
            self.retry_now(to, client)
        } else if let Verb::Compact { role } = verb {
            self.shorten(role, client)
        } else if let Verb::Restore { role, archive } = verb {
            self.restore(role, archive, client)
        } else {
            Err(Refusal::Needs(Need::Driver).into())
        }
    }

    /// Keeps what the operator typed, without what looks like a secret.
    pub(super) fn keep_words(&self, words: &str) -> Result<Text, DriverError> {
        Ok(self.flow.keep_text(without_secrets(words))?)
    }

    fn new_graph(&mut self, source: String) -> Result<NewGraph, DriverError> {
        let file = read_kept(source).map_err(unfit)?;
        let file = self.roles.contract(file).map_err(DriverError::Graph)?;
        Ok(NewGraph {
            graph: Box::new(file.graph),
            source: self.flow.keep_text(file.source)?,
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
