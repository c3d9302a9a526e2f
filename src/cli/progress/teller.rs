//! Events out of facts.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::fact::node::{NodeSuspended, WaitReason};
use a_society_facts::fact::operator::{ConsentResolved, StopScope};
use a_society_facts::fact::session::SessionCompacted;
use a_society_facts::fact::terms::subject;
use a_society_facts::fact::turn::{
    CallFinished, Cause, DraftAdded, DraftKind, ModelAnswered, ModelFailed, Usage,
};
use a_society_facts::handoff::{Delivery, EdgeName, HandoffWay};
use a_society_facts::id::{CallId, NodeId, RoleInstance, TurnId};
use a_society_facts::line::Recorded;
use a_society_facts::message::{AnswerText, Text};
use a_society_facts::view::flow::{DecisionTally, Decisions, HeldRequest};
use a_society_facts::view::{FactView as _, flow::FlowState};
use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_orchestrator::machine::OperatorQuestion;
use a_society_orchestrator::{PROGRAM, RETRIES_AFTER, RETRIES_BEFORE};

use super::event::{
    About, Again, AnswerName, Call, Event, OUTPUT_LINES_MAX, Output, Pause, SentBack, Speech,
    Target, What,
};
use super::note;

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
    /// Whether something keeps it from its work.
    is_paused: bool,
    /// How often its present request failed before anything of an answer came, and after.
    failures: (u32, u32),
    /// Whether anything of an answer to its present request came.
    streams: bool,
}

/// What a role is saying.
#[derive(Debug, Clone, PartialEq)]
struct SpokenDraft {
    answer: AnswerName,
    text: String,
    /// So much of the text came in pieces.
    streamed: usize,
    thought: usize,
}

impl SpokenDraft {
    const fn of(answer: AnswerName) -> Self {
        Self {
            answer,
            text: String::new(),
            streamed: 0,
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
    drafts: BTreeMap<RoleInstance, SpokenDraft>,
    /// The model that each role asked last.
    models: BTreeMap<RoleInstance, String>,
    /// The provider of each model.
    providers: BTreeMap<String, String>,
    total_micros: u64,
    /// What calls are about that were asked for and are not intended yet, by their ids in the transcript.
    targets: BTreeMap<String, Target>,
    /// What each role said last, or why its last request failed for good.
    said_last: BTreeMap<RoleInstance, String>,
    /// What was sent back and was not read yet.
    sent_back: BTreeMap<EdgeName, SentBack>,
    /// The messages of each role since its session was shorter last.
    messages: BTreeMap<RoleInstance, u64>,
    /// How long the last turn of each node took, in milliseconds.
    took: BTreeMap<NodeId, i64>,
    /// The flow before the present record.
    state: FlowState,
    decisions: Decisions,
}

impl Teller {
    /// One that knows the provider of each model.
    pub(crate) fn knowing(providers: BTreeMap<String, String>) -> Self {
        Self {
            providers,
            ..Self::default()
        }
    }

    /// The model that each role asked last.
    pub(crate) fn models(&self) -> BTreeMap<RoleInstance, String> {
        self.models.clone()
    }

    /// How long the last turn of a node took, in milliseconds.
    pub(super) fn took(&self, node: &NodeId) -> Option<i64> {
        self.took.get(node).copied()
    }

    /// Who decided so far.
    pub(crate) const fn decisions(&self) -> &DecisionTally {
        self.decisions.tally()
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
        self.decisions.apply(&self.state, recorded);
        let mut all = self.fold(recorded, fact);
        self.state.apply(recorded);
        all.extend(self.asked(fact));
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

    /// What the operator is asked since a fact.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what the flow as a whole asks is asked by no single fact"
    )]
    fn asked(&self, fact: &Fact) -> Option<About> {
        let open = |question: OperatorQuestion| Box::new(OpenAsk::new(&self.state, &question));
        match fact {
            // What it asks consent for is an event of its own.
            Fact::NodeSuspended(f) if f.reason == WaitReason::Consent => None,
            Fact::NodeSuspended(f) => {
                let said = self.said_last.get(&f.role).map_or("", String::as_str);
                let asks = OpenAsk::of_wait(&self.state, f.node.as_ref(), &f.role);
                // A chat that was answered asks nothing.
                let asks = asks.filter(|_| f.until.is_none() && f.reason != WaitReason::Message);
                Some(suspended(f, said, asks))
            }
            Fact::ConsentRequested(f) => {
                let asks = open(OperatorQuestion::Consent {
                    consent: f.consent.clone(),
                    node: f.node.clone(),
                    role: f.role.clone(),
                });
                Some((None, f.node.clone(), Some(f.role.clone()), What::Asks(asks)))
            }
            Fact::HandoffStaged(f) => {
                let node = f.node.clone();
                let asks = open(OperatorQuestion::Approval {
                    approval: f.approval.clone(),
                    node: node.clone(),
                });
                Some((Some(f.turn), Some(node), None, What::Stages(asks)))
            }
            _ => None,
        }
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
        self.drafts.retain(|_, draft| draft.answer.0 != turn);
    }

    #[expect(clippy::too_many_lines, reason = "one table, one arm a fact")]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what has no event of its own is worded by the table of notes, or not at all"
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
                    is_paused: false,
                    failures: (0, 0),
                    streams: false,
                };
                (self.turns).retain(|_, turn| turn.role != f.role || turn.ended.is_none());
                self.turns.insert(f.turn, turn);
                Vec::new()
            }
            Fact::NodeClaimed(f) => {
                let mut back =
                    (f.consumed.iter()).filter(|inbound| inbound.way == HandoffWay::Backward);
                let back = back.find_map(|inbound| self.sent_back.remove(&inbound.edge));
                let what = What::Works {
                    entry: f.entry,
                    back,
                };
                vec![(
                    Some(f.turn),
                    Some(f.node.clone()),
                    Some(f.role.clone()),
                    what,
                )]
            }
            Fact::HandoffAwaited(f) => {
                let what = What::Waits {
                    what: "a handoff".to_owned(),
                    reason: WaitReason::HandoffApproval,
                    asks: None,
                    until: None,
                    question: None,
                    is_own_turn: false,
                    again: None,
                    is_said: false,
                };
                of_turn(f.turn, what)
            }
            Fact::HandoffApplied(f) => {
                let back = f
                    .deliveries
                    .iter()
                    .filter(|one| one.way == HandoffWay::Backward);
                self.sent_back
                    .extend(back.map(|one| (one.edge.clone(), sent_back(one))));
                vec![self.done(f.turn, recorded.at, f.deliveries.clone())]
            }
            Fact::MessageAdded(f) => {
                *self.messages.entry(f.role.clone()).or_default() += 1;
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
                if let Some(turn) = self.turns.get_mut(&f.turn) {
                    turn.streams = false;
                }
                self.works_again(f.turn).into_iter().collect()
            }
            Fact::TurnResumed(f) => {
                let again = (Some(f.turn), None, None, What::Stands(Pause::Over));
                note::of(fact).into_iter().chain([again]).collect()
            }
            Fact::StopRequested(f) => {
                let stops = self.stops(&f.scope);
                note::of(fact).into_iter().chain(stops).collect()
            }
            Fact::CompactionStarted(f) => self.pauses(&f.role).into_iter().collect(),
            Fact::CompactionFailed(f) => {
                let turn = self.turn_of(&f.role);
                let again = turn.and_then(|turn| self.works_again(turn));
                note::of(fact).into_iter().chain(again).collect()
            }
            Fact::OperatorReplied(f) => {
                let text = f.text.shown();
                let (node, role) = (f.node.clone(), Some(f.role.clone()));
                let replied = (None, node, role, What::Replied { text });
                note::of(fact).into_iter().chain([replied]).collect()
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
            Fact::ModelFailed(f) => self.failed(f, recorded.at),
            Fact::RequestHeld(f) => {
                if let Some(turn) = self.turns.get_mut(&f.turn) {
                    turn.is_paused = true;
                }
                let held = Pause::Held(HeldRequest {
                    provider: f.provider.clone(),
                    failing: f.failing,
                    until: f.until,
                });
                of_turn(f.turn, What::Stands(held))
            }
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
            Fact::SessionCompacted(f) => {
                let turn = self.turn_of(&f.role);
                let again = turn.and_then(|turn| self.works_again(turn));
                [self.compacted(f)].into_iter().chain(again).collect()
            }
            Fact::HandoffStaged(f) => {
                if let Some(turn) = self.turns.get_mut(&f.turn) {
                    turn.awaits = true;
                }
                note::of(fact).into_iter().collect()
            }
            Fact::HandoffDecided(f) => {
                let staged = self.state.staged.get(&f.approval);
                let turn = staged.map(|staged| staged.turn);
                let what = staged.map(|staged| note::go(&staged.deliveries));
                let what = What::Decided {
                    approval: f.approval.to_string(),
                    approved: f.approved,
                    what: what.unwrap_or_default(),
                };
                let decided = (turn, None, None, what);
                note::of(fact).into_iter().chain([decided]).collect()
            }
            // What is asked is in the state that they lead to.
            Fact::ConsentRequested(_) | Fact::NodeSuspended(_) => Vec::new(),
            Fact::ConsentResolved(f) => vec![self.resolved(recorded, f)],
            _ => note::of(fact).into_iter().collect(),
        }
    }

    /// The turn at a node that a role takes.
    fn turn_of(&self, role: &RoleInstance) -> Option<TurnId> {
        let is_its = |turn: &Turn| turn.role == *role && turn.node.is_some();
        let mut turns = self.turns.iter();
        let found = turns.find(|(_, turn)| turn.ended.is_none() && is_its(turn));
        found.map(|(turn, _)| *turn)
    }

    /// That the session of a role is being compacted, within its turn at a node.
    fn pauses(&mut self, role: &RoleInstance) -> Option<About> {
        let id = self.turn_of(role)?;
        self.turns.get_mut(&id)?.is_paused = true;
        Some((Some(id), None, None, What::Stands(Pause::Compacting)))
    }

    /// That a turn works again, if something kept it from its work.
    fn works_again(&mut self, id: TurnId) -> Option<About> {
        let was_paused = std::mem::take(&mut self.turns.get_mut(&id)?.is_paused);
        was_paused.then_some((Some(id), None, None, What::Stands(Pause::Over)))
    }

    /// That the operator stops turns.
    fn stops(&self, scope: &StopScope) -> Vec<About> {
        let is_meant = |turn: &Turn| match scope {
            StopScope::Node(node) => turn.node.as_ref() == Some(node),
            StopScope::Role(role) => turn.role == *role,
            StopScope::All => true,
        };
        let turns = self.turns.iter();
        let turns = turns.filter(|(_, turn)| turn.ended.is_none() && is_meant(turn));
        turns
            .map(|(id, _)| (Some(*id), None, None, What::Stands(Pause::Stopped)))
            .collect()
    }

    /// That a request failed and, if it is sent again, until when its turn waits for that.
    fn failed(&mut self, f: &ModelFailed, at: At) -> Vec<About> {
        if f.retry_in_ms.is_none() {
            self.said_last.insert(f.role.clone(), f.error.clone());
        }
        let model = self.models.get(&f.role);
        let provider = model.and_then(|model| self.providers.get(model)).cloned();
        let turn = self.turns.get_mut(&f.turn);
        let (attempt, most) = turn.map_or((1, RETRIES_BEFORE), |turn| {
            let (before, after) = &mut turn.failures;
            let (tries, most) = if turn.streams {
                (after, RETRIES_AFTER)
            } else {
                (before, RETRIES_BEFORE)
            };
            *tries += 1;
            turn.is_paused |= f.retry_in_ms.is_some();
            (*tries, most)
        });
        // The wait of a script may be repeated as often as it likes.
        let of = most.max(attempt);
        let fails = What::Fails {
            class: f.class.clone(),
            why: f.error.clone(),
            again: f.retry_in_ms.map(|in_ms| Again { in_ms, attempt, of }),
            number: f.request,
            provider,
        };
        let until = f.retry_in_ms.map(|ms| at.after(ms));
        let waits = until.map(|until| What::Stands(Pause::Retrying(until)));
        let both = std::iter::once(fails).chain(waits);
        both.map(|what| (Some(f.turn), None, None, what)).collect()
    }

    /// That a session is shorter now, and what it cost to make it so.
    fn compacted(&mut self, f: &SessionCompacted) -> About {
        let messages = self.messages.get_mut(&f.role);
        let kept = f.kept_first.saturating_add(f.kept_last);
        let all = messages.map_or(0, |all| std::mem::replace(all, kept));
        let mut turns = self.turns.values();
        let its_own = turns.find(|turn| turn.compacts && turn.role == f.role);
        let what = What::Compacted {
            tokens_before: f.tokens_before,
            tokens_after: f.tokens_after,
            archived: all.saturating_sub(kept),
            cost_micros: its_own.map_or(0, |turn| turn.usage.cost_micros),
        };
        (None, f.node.clone(), Some(f.role.clone()), what)
    }

    fn resolved(&self, recorded: &Recorded, f: &ConsentResolved) -> About {
        let mut made = self.decisions.last();
        let made = made.next().filter(|made| made.seq == recorded.seq);
        let open = self.state.consents.get(&f.consent);
        let about = open.map(|open| subject(open.terms.as_ref(), &open.shown.shown()));
        let what = What::Answered {
            consent: f.consent.to_string(),
            answer: f.answer,
            by: made.map(|made| made.by.clone()),
            about: about.unwrap_or_default(),
            reason: f.reason.as_ref().map(Text::shown),
        };
        let node = open.and_then(|open| open.node.clone());
        (None, node, open.map(|open| open.role.clone()), what)
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
        let answer = AnswerName(f.turn, f.request);
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            turn.streams = true;
        }
        let draft = self.drafts.entry(f.role.clone());
        let draft = draft.or_insert_with(|| SpokenDraft::of(answer));
        if draft.answer != answer {
            *draft = SpokenDraft::of(answer);
        }
        let offset = match f.kind {
            DraftKind::Text => {
                draft.text.push_str(&f.text);
                draft.streamed = draft.text.len();
                draft.text.len() - f.text.len()
            }
            DraftKind::Reasoning => {
                draft.thought += f.text.len();
                draft.thought - f.text.len()
            }
        };
        What::Says {
            answer,
            offset,
            text: f.text.clone(),
            kind: f.kind,
        }
    }

    /// The text of a role is over, if there was any.
    fn said(&mut self, role: &RoleInstance, end: Speech) -> Option<What> {
        let draft = self.drafts.remove(role);
        let SpokenDraft {
            answer,
            text,
            streamed,
            ..
        } = draft.filter(|draft| !draft.text.trim().is_empty())?;
        self.said_last.insert(role.clone(), text.clone());
        Some(What::Said {
            answer,
            streamed,
            text,
            end,
        })
    }

    fn answered(&mut self, f: &ModelAnswered) -> Vec<About> {
        self.total_micros = self.total_micros.saturating_add(f.usage.cost_micros);
        if let AnswerText::Inline(text) = &f.text {
            let before = self.drafts.remove(&f.role);
            let before = before.filter(|before| text.starts_with(&before.text));
            let mut draft = SpokenDraft::of(AnswerName(f.turn, f.request));
            draft.text.clone_from(text);
            draft.streamed = before.map_or(0, |before| before.streamed);
            self.drafts.insert(f.role.clone(), draft);
        }
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            turn.usage.add(&f.usage);
            turn.failures = (0, 0);
        }
        let named = f.calls.iter();
        let named = named.map(|call| (call.id.clone(), Target::of(call.input.get())));
        self.targets.extend(named);
        let model = self.models.get(&f.role).cloned().unwrap_or_default();
        let said = self.drafts.get(&f.role);
        let said = said.map_or("", |draft| draft.text.as_str());
        let is_report = model == PROGRAM && f.is_report(said);
        let spent = f.usage != Usage::default();
        let spends = spent.then_some(What::Spends {
            model,
            usage: f.usage,
            total_micros: self.total_micros,
        });
        let end = if is_report {
            Speech::Report
        } else {
            Speech::Whole
        };
        let said = self.said(&f.role, end);
        if is_report {
            // It has no line above the question.
            self.said_last.remove(&f.role);
        }
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
            is_cut: f.is_cut(),
            head: (shown.lines().take(OUTPUT_LINES_MAX))
                .map(ToOwned::to_owned)
                .collect(),
        };
        What::Called {
            call: f.call.clone(),
            took_ms: between(one.since, at),
            one,
            end: f.end,
            exit: f.command_exit(),
            output,
        }
    }
}

fn sent_back(delivery: &Delivery) -> SentBack {
    SentBack {
        from: delivery.edge.to.clone(),
        path: delivery.artifact.path.clone(),
        why: delivery.artifact.text.clone(),
    }
}

fn between(since: At, at: At) -> u64 {
    (at.ms() - since.ms()).max(0).unsigned_abs()
}

fn suspended(f: &NodeSuspended, said: &str, asks: Option<OpenAsk>) -> About {
    let question = f.words();
    let is_said = |asked: &str| {
        let is_failure = f.reason == WaitReason::Provider && !said.is_empty();
        said.contains(asked.trim()) || (is_failure && asked.contains(said))
    };
    let what = What::Waits {
        is_said: question.as_deref().is_some_and(is_said),
        what: f.reason.needs(f.trouble).to_owned(),
        reason: f.reason,
        asks: asks.map(Box::new),
        until: f.until,
        is_own_turn: f.is_own_turn(),
        again: f.again(),
        question,
    };
    (None, f.node.clone(), Some(f.role.clone()), what)
}
