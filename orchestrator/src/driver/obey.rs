//! The operator's commands: mints names, keeps texts, and gives the machine an input.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::fact::flow::{Author, PauseReason};
use a_society_facts::fact::operator::ChosenBy;
use a_society_facts::id::{ApprovalId, ClientId, RoleInstance};
use a_society_facts::message::Text;
use a_society_flow::machine::{Guidance, Input, Reply, ReplyTarget, Revise};

use super::core::Core;
use super::error::DriverError;
use crate::control::message::{Command, Taken, Whom};
use crate::limits::CANCEL_REASON_BYTES_MAX;
use crate::mint;
use crate::project::flow_file::{FileError, read_kept};
use crate::withheld::without_secrets;

impl Core {
    /// Carries out a command of the operator: what follows from it is durable on return. A command
    /// whose client's name is known counts once.
    ///
    /// # Errors
    /// When it could mean several things, the machine refuses, or the journal does.
    pub fn obey(
        &mut self,
        command: Command,
        client: Option<ClientId>,
    ) -> Result<Taken, DriverError> {
        let known = client.as_ref().and_then(|id| self.state().clients.get(id));
        if let Some(seq) = known {
            return Ok(Taken { seq, facts: 0 });
        }
        if client.as_ref().is_some_and(|id| self.has_hurried(id)) {
            let seq = self.flow.position().seq;
            return Ok(Taken { seq, facts: 0 });
        }
        let revises = matches!(command, Command::Revise { .. });
        let says_beforehand = matches!(command, Command::Rules { back: false, .. });
        let mut facts = self.carry_out(command, client)?;
        if says_beforehand {
            let asked = self.state().consents.len();
            self.answer_by_rules()?;
            // The roles that rested go on because of these.
            facts += asked.saturating_sub(self.state().consents.len());
        }
        if revises {
            // It was read a moment ago, or the machine would have refused.
            let source = self.flow.whole_text(&self.state().graph.source)?;
            let file = read_kept(source).map_err(unfit)?;
            self.roles.revised(&file);
        }
        let seq = self.flow.position().seq;
        Ok(Taken { seq, facts })
    }

    /// Most commands are inputs of the machine; changes of sessions are not, because the flow does not
    /// move.
    #[expect(clippy::too_many_lines, reason = "one exhaustive match")]
    fn carry_out(
        &mut self,
        command: Command,
        client: Option<ClientId>,
    ) -> Result<usize, DriverError> {
        let input = match command {
            Command::Compact { role } => return self.shorten(role, client),
            Command::Restore { role, archive } => return self.restore(role, archive, client),
            Command::RetryNow { to } => return self.retry_now(&to, client),
            Command::Reply { to, text, asked } => self.reply(to, (text, asked), client)?,
            Command::Approve { approval } => Input::Approve {
                approval: self.staged(approval)?,
                client,
            },
            Command::Decline { approval, reason } => self.decline(approval, reason, client)?,
            Command::Allow {
                consent,
                action,
                for_the_flow,
            } => self.consented((consent, action), for_the_flow, client)?,
            Command::Deny {
                consent,
                action,
                reason,
            } => self.denied((consent, action), reason, client)?,
            Command::Rules { rules, back: true } => Input::ConsentRulesBack { rules, client },
            Command::Rules { rules, back: false } => Input::ConsentRules { rules, client },
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
            Command::Steer { role, text, when } => return self.steer((role, when), text, client),
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
            Command::Revise { source } => self.revise(source, client)?,
            Command::Propose { role, path, text } => self.propose((role, path), text, client)?,
            Command::Change { change, applied } => self.decide_change(change, applied, client)?,
            Command::Improve { mode } => Input::ChooseImprovement { mode, client },
            Command::Feedback { granted } => Input::FeedbackConsent { granted, client },
        };
        self.command(input)
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

    fn revise(&mut self, source: String, client: Option<ClientId>) -> Result<Input, DriverError> {
        let file = read_kept(source).map_err(unfit)?;
        let file = self.roles.contract(file).map_err(DriverError::Graph)?;
        Ok(Input::Revise(Revise {
            graph: Box::new(file.graph),
            source: self.flow.keep_text(file.source)?,
            by: Author::Operator,
            client,
        }))
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
