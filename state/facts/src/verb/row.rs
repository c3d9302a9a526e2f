//! The table of verbs: what each answers, sets and says, which is all that anything but the machine asks about a verb.

use std::collections::BTreeMap;

use super::Verb;
use crate::at::At;
use crate::fact::Fact;
use crate::fact::operator::{ConsentRules, SteerWhen};
use crate::id::{ApprovalId, ConsentId, RoleInstance};
use crate::words::choices::{self, ANSWERED, Choice};
use crate::words::{permissions, status};

/// The row of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerbRow<'a> {
    /// What was done, in the words of every screen.
    pub done: &'static str,
    /// What the operator typed for a role to read, or for the record.
    pub typed: Option<&'a str>,
    /// The request that it decides.
    pub answers: Option<AnsweredRequest<'a>>,
    /// What it sets for the work that comes after it.
    pub sets: Option<VerbSetting<'a>>,
    /// The role whose answer it cuts off.
    pub interrupts: Option<&'a RoleInstance>,
    /// Whether it lets a role go on with something.
    pub speaks: bool,
    /// Whether it lets something happen of which the operator must have seen everything.
    pub agrees: bool,
    /// Whether no fact follows from it, however often it counts.
    pub is_unrecorded: bool,
}

/// What a verb decides, as far as it names it. The only one is meant where it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredRequest<'a> {
    /// A question that was asked then.
    Question(Option<At>),
    /// A request for consent. It is named by the hash of what was shown, too.
    Consent(Option<&'a ConsentId>, bool),
    /// A staged handoff.
    Approval(Option<&'a ApprovalId>),
    /// A proposed change.
    Change(Option<&'a String>),
}

/// What a verb sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbSetting<'a> {
    /// Rules about calls, and whether these are taken back.
    Rules(&'a ConsentRules, bool),
    /// Settings of a role.
    Role(&'a BTreeMap<String, String>),
    /// How much may be done without asking.
    Mode,
    /// How much may be spent.
    Budget,
}

impl Verb {
    /// Its row of the table.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "a table, one row a verb")]
    pub fn row(&self) -> VerbRow<'_> {
        use AnsweredRequest as Request;
        let row = VerbRow::of;
        match self {
            Self::Reply { text, asked, .. } => {
                let answers = Request::Question(*asked);
                row(ANSWERED).types(text).answers(answers).speaks().agrees()
            }
            Self::Approve { approval } => row(choices::done(Choice::Approve))
                .answers(Request::Approval(approval.as_ref()))
                .agrees(),
            Self::Decline { approval, reason } => row(choices::done(Choice::Decline))
                .may_type(reason.as_ref())
                .answers(Request::Approval(approval.as_ref())),
            Self::Allow {
                consent,
                action,
                for_the_flow,
            } => {
                let choice = if *for_the_flow {
                    Choice::AllowFlow
                } else {
                    Choice::Allow
                };
                row(choices::done(choice))
                    .answers(Request::Consent(consent.as_ref(), action.is_some()))
                    .agrees()
            }
            Self::Deny {
                consent,
                action,
                reason,
            } => row(choices::done(Choice::Deny))
                .may_type(reason.as_ref())
                .answers(Request::Consent(consent.as_ref(), action.is_some())),
            Self::Mode { .. } => row("mode set").sets(VerbSetting::Mode),
            Self::Rules { rules, back } => {
                let done = if *back {
                    "rules removed"
                } else {
                    "rules added"
                };
                row(done).sets(VerbSetting::Rules(rules, *back))
            }
            Self::Configure { settings, .. } => row("configured").sets(VerbSetting::Role(settings)),
            Self::Budget { .. } => row("budget set").sets(VerbSetting::Budget),
            Self::Steer { role, text, when } => match when {
                SteerWhen::Queue => row(QUEUED).types(text).speaks(),
                SteerWhen::Interrupt => row(INTERRUPTS).types(text).speaks().interrupts(role),
            },
            Self::Compact { .. } => row(status::COMPACTING),
            Self::Title { .. } => row("called so"),
            Self::Close { .. } => row("closed"),
            Self::Open { .. } => row("opened"),
            Self::Inject { text, .. } => {
                row("put into the session; its role reads it with what is next").types(text)
            }
            Self::Trim { .. } => row("trimmed; session archives lists what was left out"),
            Self::Reset { .. } => row("reset; session archives lists what was said before"),
            Self::Restore { .. } => row("restored"),
            Self::Stop { .. } => row("stopping"),
            Self::Pause {} => row("paused; nothing new is started"),
            Self::Unpause {} => row(choices::done(Choice::Continue)),
            Self::Cancel { why } => row(status::CANCELLED).may_type(why.as_ref()),
            Self::Retry { .. } => row(choices::done(Choice::Retry)).speaks(),
            Self::RetryNow { .. } => row("its provider is asked now").speaks().unrecorded(),
            Self::Reopen { note, .. } => row("reopened").may_type(note.as_ref()).speaks(),
            Self::Revise { .. } => row("revised"),
            Self::Improve { .. } => row("retrospective chosen"),
            Self::Propose { .. } => row("proposed"),
            Self::Change { change, applied } => {
                row(changed(*applied)).answers(Request::Change(change.as_ref()))
            }
            Self::Feedback { granted: true } => row(choices::done(Choice::Grant)),
            Self::Feedback { granted: false } => row(choices::done(Choice::Refuse)),
        }
    }
}

const QUEUED: &str =
    "sent; a model reads it with its next request, a program or a person when its next turn begins";

const INTERRUPTS: &str = "sent; it cuts off the answer that arrives, a program or a person reads it when its next turn begins";

/// What was decided about a proposed change.
const fn changed(applied: bool) -> &'static str {
    if applied { "applied" } else { "declined" }
}

impl<'a> VerbRow<'a> {
    const fn of(done: &'static str) -> Self {
        Self {
            done,
            typed: None,
            answers: None,
            sets: None,
            interrupts: None,
            speaks: false,
            agrees: false,
            is_unrecorded: false,
        }
    }

    fn types(self, text: &'a str) -> Self {
        let typed = Some(text);
        Self { typed, ..self }
    }

    fn may_type(self, text: Option<&'a String>) -> Self {
        let typed = text.map(String::as_str);
        Self { typed, ..self }
    }

    fn answers(self, answered: AnsweredRequest<'a>) -> Self {
        let answers = Some(answered);
        Self { answers, ..self }
    }

    fn sets(self, setting: VerbSetting<'a>) -> Self {
        let sets = Some(setting);
        Self { sets, ..self }
    }

    fn interrupts(self, role: &'a RoleInstance) -> Self {
        let interrupts = Some(role);
        Self { interrupts, ..self }
    }

    fn speaks(self) -> Self {
        Self {
            speaks: true,
            ..self
        }
    }

    fn agrees(self) -> Self {
        Self {
            agrees: true,
            ..self
        }
    }

    fn unrecorded(self) -> Self {
        Self {
            is_unrecorded: true,
            ..self
        }
    }
}

impl AnsweredRequest<'_> {
    /// Whether no later request can be meant. A question may go without, because its receiver is named.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        match self {
            Self::Question(_) => true,
            Self::Consent(name, action) => name.is_some() && *action,
            Self::Approval(name) => name.is_some(),
            Self::Change(name) => name.is_some(),
        }
    }

    /// What a fact decided about it.
    #[must_use]
    pub fn decided_by(&self, fact: &Fact) -> Option<&'static str> {
        match (self, fact) {
            (Self::Consent(Some(name), _), Fact::ConsentResolved(f)) if f.consent == **name => {
                Some(permissions::answer(f.answer))
            }
            (Self::Approval(Some(name)), Fact::HandoffDecided(f)) if f.approval == **name => {
                Some(choices::done(Choice::of_handoff(f.approved)))
            }
            (Self::Change(Some(name)), Fact::ChangeDecided(f)) if f.change == **name => {
                Some(changed(f.applied))
            }
            _ => None,
        }
    }
}
