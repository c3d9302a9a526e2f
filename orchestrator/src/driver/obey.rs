//! The operator's commands: names are made up, texts are kept, and the machine hears an input.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::fact::flow::{Author, PauseReason};
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::id::{ApprovalId, ClientId, RoleInstance};
use a_society_facts::message::Text;
use a_society_flow::machine::{Guidance, Input, Reply, ReplyTarget, Revise};
use a_society_roles::turn::stop::StopSignal;

use super::consent::Granted;
use super::core::Core;
use super::errand::ErrandId;
use super::error::DriverError;
use crate::control::message::{Command, Taken, Whom};
use crate::limits::CANCEL_REASON_BYTES_MAX;
use crate::mint;
use crate::project::flow_file::{FileError, FlowFile, read_kept};
use crate::withheld::without_secrets;

/// How far a command of the operator has come.
#[derive(Debug)]
pub(super) enum Obeyed {
    /// It has taken effect.
    Now(Taken),
    /// It does when the report of this errand is heard.
    Later(ErrandId),
}

impl Core {
    /// Hears a command of the operator: what follows from it is durable on return. A command whose
    /// client's name was heard before counts once.
    ///
    /// # Errors
    /// When it could mean several things, the machine refuses, or the journal does.
    pub fn obey(
        &mut self,
        command: Command,
        client: Option<ClientId>,
    ) -> Result<Taken, DriverError> {
        match self.obey_apart(command, client)? {
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
        command: Command,
        client: Option<ClientId>,
    ) -> Result<Obeyed, DriverError> {
        if self.has_counted(client.as_ref()) {
            let known = client.as_ref().and_then(|id| self.state().clients.get(id));
            let seq = known.unwrap_or(self.flow.position().seq);
            return Ok(Obeyed::Now(Taken { seq, facts: 0 }));
        }
        self.carry_out(command, client)
    }

    /// Whether a command of that name has counted.
    pub(super) fn has_counted(&self, client: Option<&ClientId>) -> bool {
        client.is_some_and(|id| self.state().clients.get(id).is_some() || self.has_hurried(id))
    }

    /// Most commands are inputs of the machine; what is done to sessions is not, because the flow
    /// stands where it stood.
    #[expect(clippy::too_many_lines, reason = "one exhaustive match")]
    fn carry_out(
        &mut self,
        command: Command,
        client: Option<ClientId>,
    ) -> Result<Obeyed, DriverError> {
        let input = match command {
            Command::Compact { role } => {
                let facts = self.shorten(role, client)?;
                return Ok(self.obeyed(facts));
            }
            Command::Restore { role, archive } => {
                let facts = self.restore(role, archive, client)?;
                return Ok(self.obeyed(facts));
            }
            Command::RetryNow { to } => {
                let facts = self.retry_now(&to, client)?;
                return Ok(self.obeyed(facts));
            }
            Command::Reply { to, text, asked } => self.reply(to, (text, asked), client)?,
            Command::Approve { approval } => Input::Approve {
                approval: self.staged(approval)?,
                client,
            },
            Command::Decline { approval, reason } => self.decline(approval, reason, client)?,
            Command::Allow {
                consent,
                action,
                for_the_flow: true,
            } => return self.ask_grant((consent, action), client).map(Obeyed::Later),
            Command::Allow {
                consent,
                action,
                for_the_flow: false,
            } => self.consented((consent, action), Granted::default(), client)?,
            Command::Deny {
                consent,
                action,
                reason,
            } => self.denied((consent, action), reason, client)?,
            Command::Rules { rules, back: true } => Input::ConsentRulesBack { rules, client },
            Command::Rules { rules, back: false } => {
                let facts = self.command(Input::ConsentRules { rules, client })?;
                if self.state().consents.is_empty() {
                    return Ok(self.obeyed(facts));
                }
                return self.ask_rules(facts).map(Obeyed::Later);
            }
            Command::Mode { mode } => Input::ConsentMode { mode, client },
            Command::Configure { role, settings } => Input::ConfigureRole {
                settings: self.merged(&role, settings),
                role,
                by: ChosenBy::Operator,
                client,
            },
            Command::Budget {
                role,
                measure,
                limit,
            } => Input::SetBudget {
                role,
                measure,
                limit,
                client,
            },
            Command::Steer { role, text, when } => {
                let facts = self.steer((role, when), text, client)?;
                return Ok(self.obeyed(facts));
            }
            Command::Stop { scope } => Input::Stop { scope, client },
            Command::Pause => Input::Pause {
                reason: PauseReason::Operator,
                detail: None,
                client,
            },
            Command::Unpause => Input::Unpause {
                by: Author::Operator,
                client,
            },
            Command::Cancel { why } => Input::Cancel {
                by: Author::Operator,
                why: why.as_deref().and_then(reason),
                client,
            },
            Command::Retry { to } => Input::Retry {
                target: target(to),
                client,
            },
            Command::Reopen { node, note } => Input::Reopen {
                node,
                note: note.map(|note| self.keep_words(&note)).transpose()?,
                client,
            },
            Command::Revise { source } => {
                return self.ask_contract(source, client).map(Obeyed::Later);
            }
            Command::Propose { role, path, text } => self.propose((role, path), text, client)?,
            Command::Change { change, applied } => self.decide_change(change, applied, client)?,
            Command::Improve { mode } => Input::ChooseImprovement { mode, client },
            Command::Feedback { granted } => Input::FeedbackConsent { granted, client },
        };
        let facts = self.command(input)?;
        Ok(self.obeyed(facts))
    }

    /// A command has taken effect, with so many facts.
    const fn obeyed(&self, facts: usize) -> Obeyed {
        let seq = self.flow.position().seq;
        Obeyed::Now(Taken { seq, facts })
    }

    /// What is not named stays as it was chosen before.
    fn merged(
        &self,
        role: &RoleInstance,
        new: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let known = self.state().configurations.get(role);
        let mut settings = known.map_or_else(BTreeMap::new, |known| known.settings.clone());
        settings.extend(new);
        settings
    }

    fn reply(
        &mut self,
        to: Whom,
        (text, asked): (String, Option<At>),
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        Ok(Input::Reply(Reply {
            target: target(to),
            text: self.keep_words(&text)?,
            asked,
            message: mint::name(self.mint.as_mut(), "m")?,
            client,
        }))
    }

    /// Keeps what the operator typed, without what looks like a secret.
    pub(super) fn keep_words(&self, words: &str) -> Result<Text, DriverError> {
        Ok(self.flow.keep_text(without_secrets(words))?)
    }

    /// The operator declines a handoff, and may say what to do instead; blank words say nothing.
    fn decline(
        &mut self,
        named: Option<ApprovalId>,
        reason: Option<String>,
        client: Option<ClientId>,
    ) -> Result<Input, DriverError> {
        let guidance = match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => Some(Guidance {
                text: self.keep_words(&reason)?,
                message: mint::name(self.mint.as_mut(), "m")?,
            }),
            None => None,
        };
        Ok(Input::Decline {
            approval: self.staged(named)?,
            guidance,
            client,
        })
    }

    /// What a graph leaves to its project is found out before the flow walks it.
    fn ask_contract(
        &mut self,
        source: String,
        client: Option<ClientId>,
    ) -> Result<ErrandId, DriverError> {
        let file = read_kept(source).map_err(unfit)?;
        let mut roles = self.roles.another();
        self.send_for_command(StopSignal::default(), move || {
            let file = roles.contract(file).map_err(DriverError::Graph);
            Box::new(move |core: &mut Self| {
                if core.has_counted(client.as_ref()) {
                    return Ok(0);
                }
                core.revise(file?, client)
            })
        })
    }

    /// The flow walks this graph from now on.
    fn revise(&mut self, file: FlowFile, client: Option<ClientId>) -> Result<usize, DriverError> {
        let facts = self.command(Input::Revise(Revise {
            graph: Box::new(file.graph.clone()),
            source: self.flow.keep_text(file.source.clone())?,
            by: Author::Operator,
            client,
        }))?;
        self.roles.revised(&file);
        Ok(facts)
    }

    /// The staged handoff that is meant: the one that is named, or the only one.
    fn staged(&self, named: Option<ApprovalId>) -> Result<ApprovalId, DriverError> {
        if let Some(approval) = named {
            return Ok(approval);
        }
        let staged = self.state().staged.iter();
        let mut open: Vec<ApprovalId> = staged
            .filter(|(_, staged)| !staged.approved)
            .map(|(approval, _)| approval.clone())
            .collect();
        match (open.pop(), open.len()) {
            (Some(approval), 0) => Ok(approval),
            (None, _) => Err(DriverError::NothingStaged),
            (Some(last), _) => {
                open.push(last);
                Err(DriverError::ManyStaged(open))
            }
        }
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

pub(super) fn target(whom: Whom) -> ReplyTarget {
    match whom {
        Whom::Node(node) => ReplyTarget::Node(node),
        Whom::Role(role) => ReplyTarget::Role(role),
        Whom::Only => ReplyTarget::Only,
    }
}

fn unfit(error: FileError) -> DriverError {
    match error {
        FileError::NotAFlow { diagnostics, .. } => DriverError::NotAFlow(diagnostics),
        FileError::Read(error) => DriverError::State(error),
        FileError::NotText(_) | FileError::NotAScript { .. } => DriverError::NotAFlow(Vec::new()),
    }
}
