//! What happens in a flow, as an operator would tell it.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::fact::Fact;
use a_society_facts::fact::node::{NodeEntry, NodeSuspended, WaitReason};
use a_society_facts::fact::operator::{ConsentAnswer, ConsentRequested, ConsentResolved};
use a_society_facts::fact::session::SessionCompacted;
use a_society_facts::fact::terms::subject;
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, Cause, DraftAdded, DraftKind, ModelAnswered, ModelFailed, Usage,
};
use a_society_facts::handoff::{Delivery, HandoffWay};
use a_society_facts::id::{ApprovalId, CallId, ConsentId, NodeId, RoleInstance, Seq, TurnId};
use a_society_facts::line::Recorded;
use a_society_facts::message::{AnswerText, Text};
use serde_json::Value;

use super::note;

/// One event, and what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) seq: Seq,
    pub(crate) at: At,
    pub(crate) node: Option<NodeId>,
    pub(crate) role: Option<RoleInstance>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A node is at work.
    Works {
        entry: NodeEntry,
        /// The node that sent its work back, if one did.
        from: Option<NodeId>,
    },
    /// A node waits, perhaps until a moment at which it goes on by itself.
    Waits {
        what: String,
        /// What the operator is asked for, if they are.
        asks: Option<Wanted>,
        until: Option<At>,
        question: Option<String>,
        /// Whether the role said the question itself a moment ago.
        is_said: bool,
    },
    /// A node is done with its turn.
    Done {
        took_ms: u64,
        usage: Usage,
        deliveries: Vec<Delivery>,
    },
    /// A role says something, of which this is what follows.
    Says {
        offset: usize,
        text: String,
        kind: DraftKind,
    },
    /// The whole text, and how it ended.
    Said { text: String, end: Speech },
    /// A role calls a tool.
    Calls { call: CallId, one: Call },
    /// The call is over.
    Called {
        call: CallId,
        one: Call,
        end: CallEnd,
        exit: Option<i32>,
        output: Output,
        took_ms: u64,
    },
    /// A request failed, and is perhaps sent again.
    Fails {
        class: String,
        why: String,
        again_in_ms: Option<u64>,
        number: u32,
    },
    /// A request was paid for.
    Spends {
        model: String,
        usage: Usage,
        total_micros: u64,
    },
    /// A session is shorter now.
    Compacted {
        tokens_before: u64,
        /// So many messages are in the archive now.
        archived: u64,
        cost_micros: u64,
    },
    /// The operator is asked about a call.
    Asks {
        consent: String,
        tool: String,
        about: String,
    },
    /// The operator is asked whether these may be handed over.
    Stages {
        approval: String,
        deliveries: Vec<Delivery>,
    },
    /// The operator decided whether they may.
    Decided { approval: String, approved: bool },
    /// A request for consent was answered.
    Answered {
        consent: String,
        answer: ConsentAnswer,
        by: String,
        /// What it was about, in a line.
        about: String,
    },
    /// Something else that is worth a line, by the word of its fact.
    Note {
        code: &'static str,
        text: String,
        says: Value,
    },
}

/// What an operator is asked for by a node or a role that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Words.
    Text,
    /// A model, or what else a role needs before it can begin.
    Configuration,
    /// More to spend.
    Budget,
    /// A word on a handoff.
    Approval,
}

/// A call that a role makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) tool: String,
    /// What it does, in a line.
    pub(crate) summary: String,
    /// What it is about, as far as its arguments say it.
    pub(crate) target: Target,
    since: At,
}

/// What a call is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) cwd: Option<String>,
}

impl Target {
    /// What the arguments of a call name, whichever of the known names of a member the model used.
    fn of(input: &str) -> Self {
        let input: Value = serde_json::from_str(input).unwrap_or_default();
        let named = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| input.get(name)?.as_str());
            found.next().map(str::to_owned)
        };
        Self {
            path: named(&["path", "file_path", "dir_path", "url"]),
            command: named(&["command", "cmd"]),
            cwd: named(&["folder"]),
        }
    }
}

/// How much a call gave back, and how that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) lines: usize,
    pub(crate) bytes: u64,
    /// Its first lines.
    pub(crate) head: Vec<String>,
}

/// So many lines of what a call gave back are held.
pub(crate) const OUTPUT_LINES_MAX: usize = 20;

/// How a role's text ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Speech {
    /// It is complete.
    Whole,
    /// It was cut off, and counts as far as it goes.
    CutOff,
    /// It does not count.
    Discarded { why: String },
}

/// A turn that is not over, or whose handoff waits for the operator.
#[derive(Debug, Clone, PartialEq)]
struct Turn {
    node: Option<NodeId>,
    role: RoleInstance,
    since: At,
    usage: Usage,
    /// Whether it makes a summary of its session.
    compacts: bool,
    /// Whether the operator must approve its handoff.
    awaits: bool,
    /// When it ended, if the operator has not approved its handoff yet.
    ended: Option<At>,
}

/// What a role is saying.
#[derive(Debug, Clone, PartialEq)]
struct Draft {
    turn: TurnId,
    text: String,
    thought: usize,
}

impl Draft {
    const fn of(turn: TurnId) -> Self {
        Self {
            turn,
            text: String::new(),
            thought: 0,
        }
    }
}

/// Makes events out of facts. It holds what a fact does not say again: whose turn it is, what a call
/// was for, and what a role is saying.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    turns: BTreeMap<TurnId, Turn>,
    calls: BTreeMap<CallId, (TurnId, Call)>,
    drafts: BTreeMap<RoleInstance, Draft>,
    /// The model that each role asked last.
    models: BTreeMap<RoleInstance, String>,
    total_micros: u64,
    /// What calls are about that were asked for and are not intended yet, by their ids in the transcript.
    targets: BTreeMap<String, Target>,
    /// What each role said last.
    said_last: BTreeMap<RoleInstance, String>,
    /// What the operator is asked about.
    consents: BTreeMap<ConsentId, (Option<NodeId>, RoleInstance, String)>,
    /// The turns whose handoffs wait to be approved.
    staged: BTreeMap<ApprovalId, TurnId>,
    /// The messages of each role since its session was shorter last.
    messages: BTreeMap<RoleInstance, u64>,
    /// How long the last turn of each node took, in milliseconds.
    took: BTreeMap<NodeId, i64>,
    decisions: Decisions,
}

/// How many calls and handoffs were decided, and by whom.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decisions {
    pub(crate) by_operator: usize,
    pub(crate) by_rules: usize,
}

impl Teller {
    /// The model that each role asked last.
    pub(crate) const fn models(&self) -> &BTreeMap<RoleInstance, String> {
        &self.models
    }

    /// How long the last turn of a node took, in milliseconds.
    pub(super) fn took(&self, node: &NodeId) -> Option<i64> {
        self.took.get(node).copied()
    }

    /// Who decided so far.
    pub(crate) const fn decisions(&self) -> Decisions {
        self.decisions
    }

    /// Whether a role is saying something.
    pub(crate) fn speaks(&self, role: &RoleInstance) -> bool {
        (self.drafts.get(role)).is_some_and(|draft| !draft.text.is_empty())
    }

    /// What a record means.
    pub(crate) fn hear(&mut self, recorded: &Recorded) -> Vec<Event> {
        let Some(fact) = recorded.fact() else {
            return Vec::new();
        };
        let all = self.fold(recorded, fact);
        let event = |(turn, node, role, what): About| {
            let of = |turn: &TurnId| self.turns.get(turn);
            let known = turn.as_ref().and_then(of);
            Event {
                seq: recorded.seq,
                at: recorded.at,
                node: node.or_else(|| known.and_then(|turn| turn.node.clone())),
                role: role.or_else(|| known.map(|turn| turn.role.clone())),
                turn,
                what,
            }
        };
        let events = all.into_iter().map(event).collect();
        if let Fact::TurnEnded(f) = fact {
            self.forget(f.turn, recorded.at);
        }
        events
    }

    fn forget(&mut self, turn: TurnId, at: At) {
        match self.turns.get_mut(&turn) {
            // Its line is printed when the operator has approved.
            Some(known) if known.awaits => known.ended = Some(at),
            _ => drop(self.turns.remove(&turn)),
        }
        self.calls.retain(|_, (of, _)| *of != turn);
        if self.turns.values().all(|turn| turn.ended.is_some()) {
            self.targets.clear();
        }
        self.drafts.retain(|_, draft| draft.turn != turn);
    }

    #[expect(clippy::too_many_lines, reason = "one table, one arm a fact")]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what has no event of its own is told by the table of notes, or not at all"
    )]
    fn fold(&mut self, recorded: &Recorded, fact: &Fact) -> Vec<About> {
        let of_turn = |turn: TurnId, what: What| vec![(Some(turn), None, None, what)];
        match fact {
            Fact::TurnStarted(f) => {
                let turn = Turn {
                    node: f.node.clone(),
                    role: f.role.clone(),
                    since: recorded.at,
                    usage: Usage::default(),
                    compacts: f.cause == Cause::Compaction,
                    awaits: false,
                    ended: None,
                };
                (self.turns).retain(|_, turn| turn.role != f.role || turn.ended.is_none());
                self.turns.insert(f.turn, turn);
                Vec::new()
            }
            Fact::NodeClaimed(f) => {
                let mut back =
                    (f.consumed.iter()).filter(|inbound| inbound.way == HandoffWay::Backward);
                let from = back.next().map(|inbound| inbound.edge.to.clone());
                let what = What::Works {
                    entry: f.entry,
                    from,
                };
                vec![(
                    Some(f.turn),
                    Some(f.node.clone()),
                    Some(f.role.clone()),
                    what,
                )]
            }
            // What it asks consent for is an event of its own.
            Fact::NodeSuspended(f) if f.reason == WaitReason::Consent => Vec::new(),
            Fact::NodeSuspended(f) => {
                let said = self.said_last.get(&f.role).map_or("", String::as_str);
                vec![suspended(f, said)]
            }
            Fact::HandoffAwaited(f) => {
                let what = What::Waits {
                    what: "a handoff".to_owned(),
                    asks: None,
                    until: None,
                    question: None,
                    is_said: false,
                };
                of_turn(f.turn, what)
            }
            Fact::HandoffApplied(f) => vec![self.done(f.turn, recorded.at, f.deliveries.clone())],
            Fact::MessageAdded(f) => {
                if let Some(role) = f.seat.role() {
                    *self.messages.entry(role.clone()).or_default() += 1;
                }
                Vec::new()
            }
            Fact::ForwardPassClosed(f) => {
                let mut turns = self.turns.iter();
                let turn = turns.find(|(_, turn)| turn.node.as_ref() == Some(&f.node));
                let turn = turn.map(|(turn, _)| *turn);
                let done = turn.map(|turn| self.done(turn, recorded.at, Vec::new()));
                done.into_iter().chain(note::of(fact)).collect()
            }
            Fact::ModelRequested(f) => {
                self.models.insert(f.role.clone(), f.model.clone());
                Vec::new()
            }
            Fact::DraftAdded(f) => of_turn(f.turn, self.says(f)),
            Fact::DraftKept(f) => {
                let said = self.said(&f.role, Speech::CutOff);
                said.map_or_else(Vec::new, |what| of_turn(f.turn, what))
            }
            Fact::DraftDiscarded(f) => {
                let why = f.why.clone();
                let said = self.said(&f.role, Speech::Discarded { why });
                said.map_or_else(Vec::new, |what| of_turn(f.turn, what))
            }
            Fact::ModelAnswered(f) => self.answered(f),
            Fact::ModelFailed(f) => of_turn(f.turn, fails(f)),
            Fact::CallIntended(f) => {
                let one = Call {
                    tool: f.tool.clone(),
                    summary: f.summary.clone(),
                    target: self.targets.remove(&f.tool_call).unwrap_or_default(),
                    since: recorded.at,
                };
                self.calls.insert(f.call.clone(), (f.turn, one.clone()));
                let call = f.call.clone();
                of_turn(f.turn, What::Calls { call, one })
            }
            Fact::CallStarted(f) => {
                // The time until it was allowed is not its own.
                if let Some((_, one)) = self.calls.get_mut(&f.call) {
                    one.since = recorded.at;
                }
                Vec::new()
            }
            Fact::CallFinished(f) => of_turn(f.turn, self.called(f, recorded.at)),
            Fact::SessionCompacted(f) => vec![self.compacted(f)],
            Fact::HandoffStaged(f) => {
                if let Some(turn) = self.turns.get_mut(&f.turn) {
                    turn.awaits = true;
                }
                self.staged.insert(f.approval.clone(), f.turn);
                let what = What::Stages {
                    approval: f.approval.to_string(),
                    deliveries: f.deliveries.clone(),
                };
                let node = Some(f.node.clone());
                let stages = (Some(f.turn), node, None, what);
                note::of(fact).into_iter().chain([stages]).collect()
            }
            Fact::HandoffDecided(f) => {
                self.decisions.by_operator += 1;
                let what = What::Decided {
                    approval: f.approval.to_string(),
                    approved: f.approved,
                };
                let turn = self.staged.remove(&f.approval);
                let decided = (turn, None, None, what);
                note::of(fact).into_iter().chain([decided]).collect()
            }
            Fact::ConsentRequested(f) => {
                let asks = asks(f);
                if let What::Asks { about, .. } = &asks.3 {
                    let known = (f.node.clone(), f.role.clone(), about.clone());
                    self.consents.insert(f.consent.clone(), known);
                }
                vec![asks]
            }
            Fact::ConsentResolved(f) => vec![self.resolved(f)],
            Fact::ConsentRuled(_) => {
                self.decisions.by_rules += 1;
                note::of(fact).into_iter().collect()
            }
            _ => note::of(fact).into_iter().collect(),
        }
    }

    /// That a session is shorter now, and what it cost to make it so.
    fn compacted(&mut self, f: &SessionCompacted) -> About {
        let role = f.seat.role().cloned();
        let messages = role.as_ref().and_then(|role| self.messages.get_mut(role));
        let all = messages.map_or(0, |all| std::mem::replace(all, f.kept_last));
        let mut turns = self.turns.values();
        let its_own = turns.find(|turn| turn.compacts && Some(&turn.role) == role.as_ref());
        let what = What::Compacted {
            tokens_before: f.tokens_before,
            archived: all.saturating_sub(f.kept_last),
            cost_micros: its_own.map_or(0, |turn| turn.usage.cost_micros),
        };
        (None, f.node.clone(), role, what)
    }

    fn resolved(&mut self, f: &ConsentResolved) -> About {
        let by = match &f.by {
            Some(rule) => {
                self.decisions.by_rules += 1;
                rule.words(f.answer)
            }
            None if f.answer == ConsentAnswer::Withdrawn => String::new(),
            None => {
                self.decisions.by_operator += 1;
                "you".to_owned()
            }
        };
        let known = self.consents.remove(&f.consent);
        let (node, role, about) = match known {
            Some((node, role, about)) => (node, Some(role), about),
            None => (None, None, String::new()),
        };
        let what = What::Answered {
            consent: f.consent.to_string(),
            answer: f.answer,
            by,
            about,
        };
        (None, node, role, what)
    }

    /// That a turn did what its node asks for.
    fn done(&mut self, turn: TurnId, at: At, deliveries: Vec<Delivery>) -> About {
        let known = self.turns.get(&turn);
        let took_ms = known.map_or(0, |turn| between(turn.since, turn.ended.unwrap_or(at)));
        let node = known.and_then(|turn| turn.node.clone());
        (self.took).extend(node.map(|node| (node, i64::try_from(took_ms).unwrap_or(i64::MAX))));
        let known = self.turns.get(&turn);
        let what = What::Done {
            took_ms,
            usage: known.map(|turn| turn.usage).unwrap_or_default(),
            deliveries,
        };
        (Some(turn), None, None, what)
    }

    fn says(&mut self, f: &DraftAdded) -> What {
        let draft = self.drafts.entry(f.role.clone());
        let draft = draft.or_insert_with(|| Draft::of(f.turn));
        if draft.turn != f.turn {
            *draft = Draft::of(f.turn);
        }
        let offset = match f.kind {
            DraftKind::Text => {
                draft.text.push_str(&f.text);
                draft.text.len() - f.text.len()
            }
            DraftKind::Reasoning => {
                draft.thought += f.text.len();
                draft.thought - f.text.len()
            }
        };
        What::Says {
            offset,
            text: f.text.clone(),
            kind: f.kind,
        }
    }

    /// The text of a role is over, if there was any.
    fn said(&mut self, role: &RoleInstance, end: Speech) -> Option<What> {
        let text = self.drafts.remove(role).map(|draft| draft.text);
        let text = text.filter(|text| !text.trim().is_empty())?;
        self.said_last.insert(role.clone(), text.clone());
        Some(What::Said { text, end })
    }

    fn answered(&mut self, f: &ModelAnswered) -> Vec<About> {
        self.total_micros = self.total_micros.saturating_add(f.usage.cost_micros);
        if let AnswerText::Inline(text) = &f.text {
            let mut draft = Draft::of(f.turn);
            draft.text.clone_from(text);
            self.drafts.insert(f.role.clone(), draft);
        }
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            turn.usage.add(&f.usage);
        }
        let named = f.calls.iter();
        let named = named.map(|call| (call.id.clone(), Target::of(call.input.get())));
        self.targets.extend(named);
        let model = self.models.get(&f.role).cloned().unwrap_or_default();
        let spent = f.usage != Usage::default();
        let spends = spent.then_some(What::Spends {
            model,
            usage: f.usage,
            total_micros: self.total_micros,
        });
        let said = self.said(&f.role, Speech::Whole);
        let both = said.into_iter().chain(spends);
        both.map(|what| (Some(f.turn), None, Some(f.role.clone()), what))
            .collect()
    }

    fn called(&mut self, f: &CallFinished, at: At) -> What {
        let one = match self.calls.remove(&f.call) {
            Some((_, one)) => one,
            None => Call {
                tool: f.tool.clone(),
                summary: f.tool.clone(),
                target: Target::default(),
                since: at,
            },
        };
        let shown = f.output.shown();
        let output = Output {
            lines: shown.lines().count(),
            bytes: match &f.output {
                Text::Blob(blob) => blob.bytes,
                Text::Inline(text) => text.len() as u64,
            },
            head: (shown.lines().take(OUTPUT_LINES_MAX))
                .map(ToOwned::to_owned)
                .collect(),
        };
        What::Called {
            call: f.call.clone(),
            took_ms: between(one.since, at),
            one,
            end: f.end,
            exit: f.exit,
            output,
        }
    }
}

/// What an event is about: its turn, its node and its role, as far as the fact says it.
pub(super) type About = (Option<TurnId>, Option<NodeId>, Option<RoleInstance>, What);

fn between(since: At, at: At) -> u64 {
    (at.ms() - since.ms()).max(0).unsigned_abs()
}

fn suspended(f: &NodeSuspended, said: &str) -> About {
    let question = f.question.as_ref().map(Text::shown);
    let what = What::Waits {
        is_said: question
            .as_deref()
            .is_some_and(|asked| said.contains(asked.trim())),
        what: f.reason.needs(f.trouble).to_owned(),
        asks: (f.until.is_none()).then(|| wanted(f.reason)).flatten(),
        until: f.until,
        question,
    };
    (None, f.node.clone(), Some(f.role.clone()), what)
}

/// What a reason to wait asks the operator for. A call is asked about by a fact of its own.
const fn wanted(reason: WaitReason) -> Option<Wanted> {
    match reason {
        WaitReason::Consent => None,
        WaitReason::HandoffApproval => Some(Wanted::Approval),
        WaitReason::RoleConfiguration => Some(Wanted::Configuration),
        WaitReason::Budget => Some(Wanted::Budget),
        WaitReason::PromptHuman
        | WaitReason::ConsentDenied
        | WaitReason::AutonomousAbort
        | WaitReason::RepairLimit
        | WaitReason::Provider => Some(Wanted::Text),
    }
}

fn fails(f: &ModelFailed) -> What {
    What::Fails {
        class: f.class.clone(),
        why: f.error.clone(),
        again_in_ms: f.retry_in_ms,
        number: f.request,
    }
}

fn asks(f: &ConsentRequested) -> About {
    let (terms, text) = f.asked();
    let what = What::Asks {
        consent: f.consent.to_string(),
        tool: f.tool.clone(),
        about: subject(terms.as_ref(), &text.shown()),
    };
    (None, f.node.clone(), Some(f.role.clone()), what)
}
