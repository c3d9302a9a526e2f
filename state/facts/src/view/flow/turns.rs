//! How facts about turns, calls and sessions change the state of a flow.

use super::fold::FactPlace;
use super::parts::{
    AskedCall, CallState, Denied, HeldRequest, LastRequest, Matter, OpenCall, OpenTurn,
    OperatorMessage, RequestState, RunningNode, SessionBrief, Spent,
};
use super::state::FlowState;
use crate::fact::session::{
    ArchiveRestored, CompactionFailed, CompactionStarted, MessageAdded, MessageInjected,
    MessagesTrimmed, Origin, SessionClosed, SessionCompacted, SessionOpened, SessionRenewed,
    SessionState, SystemPromptBuilt,
};
use crate::fact::turn::{
    CallFinished, CallIntended, CallReaped, CallRerun, CallStarted, DraftAdded, DraftDiscarded,
    DraftKept, DraftKind, ModelAnswered, ModelFailed, ModelRequested, RequestHeld, TurnEnd,
    TurnEnded, TurnResumed, TurnStarted, Usage,
};
use crate::id::{MessageId, RoleInstance, TurnId};

impl FlowState {
    pub(super) fn turn_started(&mut self, place: FactPlace, f: &TurnStarted) {
        self.mint(f.turn);
        self.works_anew(&f.role);
        self.spend(&f.role, |spent| spent.turns = spent.turns.saturating_add(1));
        let running = f.node.as_ref().and_then(|node| self.running.get_mut(node));
        if let Some(running) = running.filter(|running| running.turn == f.turn) {
            running.begun = true;
        }
        if let Some(reflecting) = self.reflecting_mut(&f.role)
            && reflecting.turn == f.turn
        {
            reflecting.begun = true;
        }
        if !f.cause.is_aside()
            && let Some(session) = self.sessions.get_mut(&f.role)
        {
            session.is_active = true;
            session.last_activity_at = place.at;
        }
        let turn = OpenTurn {
            attempt: f.attempt,
            role: f.role.clone(),
            node: f.node.clone(),
            cause: f.cause,
            since: place.at,
            requests: 0,
            request: None,
            calls: 0,
            repairs: 0,
            repair: None,
            stop: false,
            held: None,
            usage: Usage::default(),
        };
        self.turns.insert(f.turn, turn);
    }

    pub(super) fn turn_resumed(&mut self, place: FactPlace, f: &TurnResumed) {
        let Some(turn) = self.turns.get_mut(&f.turn) else {
            return;
        };
        turn.attempt = f.attempt;
        turn.since = place.at;
        turn.held = None;
        let aside = turn.cause.is_aside();
        self.works_anew(&f.role);
        // A role that waits for the operator goes on waiting, and a stop is still a stop.
        let waits = self.waits().any(|(_, w)| w.turn == Some(f.turn));
        if !aside
            && !waits
            && let Some(session) = self.sessions.get_mut(&f.role)
        {
            session.is_active = true;
        }
    }

    pub(super) fn turn_ended(&mut self, place: FactPlace, f: &TurnEnded) {
        let Some(turn) = self.turns.remove(&f.turn) else {
            return;
        };
        if !turn.cause.is_aside() {
            self.rest(&turn.role);
            if let Some(session) = self.sessions.get_mut(&turn.role) {
                session.injected = 0;
            }
            if f.end == TurnEnd::Outcome {
                self.answer(&turn.role);
            }
        }
        // In a chat, only turns count in which a model was asked, and no compaction.
        if self.chat.is_some() && (turn.requests == 0 || turn.cause.is_aside()) {
            self.spend(&f.role, |spent| spent.turns = spent.turns.saturating_sub(1));
        }
        // A call that outlives its turn has no one to answer to.
        self.calls.retain(|_, call| call.turn != f.turn);
        let ran_ms = place.at.ms().saturating_sub(turn.since.ms());
        let ran_ms = u64::try_from(ran_ms).unwrap_or(0);
        self.spend(&f.role, |spent| {
            spent.wall_ms = spent.wall_ms.saturating_add(ran_ms);
        });
    }

    /// A role begins a try, and learns anew which servers are there.
    fn works_anew(&mut self, role: &RoleInstance) {
        self.absent_servers.remove(role);
    }

    /// Counts something as spent, for the flow and for the role.
    fn spend(&mut self, role: &RoleInstance, add: impl Fn(&mut Spent)) {
        add(&mut self.account.spent);
        if let Some(account) = self.role_accounts.get_mut(role) {
            add(&mut account.spent);
        } else {
            add(&mut self.role_accounts.entry(role.clone()).or_default().spent);
        }
    }

    pub(super) fn requested(&mut self, f: &ModelRequested) {
        self.spend(&f.role, |spent| {
            spent.requests = spent.requests.saturating_add(1);
        });
        let Some(turn) = self.turns.get_mut(&f.turn) else {
            return;
        };
        turn.requests = f.request;
        turn.held = None;
        turn.request = Some(LastRequest {
            number: f.request,
            attempt: f.attempt,
            model: f.model.clone(),
            state: RequestState::Asked,
            again_at: None,
            failure_class: None,
            drafted_bytes: 0,
            drafted_crc: 0,
            message: None,
            stop: None,
            calls: Vec::new(),
        });
    }

    fn request_mut(&mut self, turn: TurnId, number: u32) -> Option<&mut LastRequest> {
        let request = self.turns.get_mut(&turn)?.request.as_mut()?;
        (request.number == number).then_some(request)
    }

    pub(super) fn draft_added(&mut self, f: &DraftAdded) {
        if f.kind == DraftKind::Reasoning {
            return;
        }
        if let Some(request) = self.request_mut(f.turn, f.request) {
            request.drafted_bytes = request.drafted_bytes.saturating_add(f.text.len() as u64);
            request.drafted_crc = crc32c::crc32c_append(request.drafted_crc, f.text.as_bytes());
        }
    }

    pub(super) fn draft_kept(&mut self, f: &DraftKept) {
        if let Some(request) = self.request_mut(f.turn, f.request) {
            request.state = RequestState::Cut;
            request.drafted_bytes = 0;
            request.drafted_crc = 0;
            request.message = Some(f.message.clone());
        }
        self.last_message(&f.role, &f.message);
        self.answer(&f.role);
    }

    /// A role has answered its last message: by a text, or by its outcome.
    fn answer(&mut self, role: &RoleInstance) {
        if let Some(session) = self.sessions.get_mut(role) {
            session.unanswered = None;
        }
    }

    /// What was streamed does not count; the same request may still be answered as a whole.
    pub(super) fn draft_discarded(&mut self, f: &DraftDiscarded) {
        if let Some(request) = self.request_mut(f.turn, f.request) {
            request.drafted_bytes = 0;
            request.drafted_crc = 0;
        }
    }

    pub(super) fn answered(&mut self, place: FactPlace, f: &ModelAnswered) {
        self.spend(&f.role, |spent| spent.add(&f.usage));
        let mut aside = false;
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            aside = turn.cause.is_aside();
            turn.usage.add(&f.usage);
        }
        if let Some(request) = self.request_mut(f.turn, f.request) {
            request.state = RequestState::Answered;
            request.drafted_bytes = 0;
            request.drafted_crc = 0;
            request.message = Some(f.message.clone());
            request.stop = Some(f.stop);
            let asked = |call: &crate::message::ToolCall| AskedCall {
                tool_call: call.id.clone(),
                tool: call.name.clone(),
                call: None,
                done: false,
                denied: None,
            };
            request.calls = f.calls.iter().map(asked).collect();
        }
        if !aside {
            self.last_message(&f.role, &f.message);
            if let Some(session) = self.sessions.get_mut(&f.role) {
                session.limits_hit = 0;
                session.context_tokens = f.usage.window_tokens();
                session.last_activity_at = place.at;
            }
            self.answer(&f.role);
        }
    }

    pub(super) fn failed(&mut self, place: FactPlace, f: &ModelFailed) {
        if let Some(request) = self.request_mut(f.turn, f.request) {
            request.state = RequestState::Failed;
            request.again_at = f.retry_in_ms.map(|ms| place.at.after(ms));
            request.failure_class = request.again_at.map(|_| f.class.clone());
        }
    }

    pub(super) fn held(&mut self, f: &RequestHeld) {
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            turn.held = Some(HeldRequest {
                provider: f.provider.clone(),
                failing: f.failing,
                until: f.until,
            });
        }
    }

    pub(super) fn call_intended(&mut self, f: &CallIntended) {
        let mut attempt = 0;
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            attempt = turn.attempt;
            turn.calls = turn.calls.saturating_add(1);
            let calls = turn.request.iter_mut().flat_map(|r| r.calls.iter_mut());
            for asked in calls.filter(|asked| asked.tool_call == f.tool_call) {
                asked.call = Some(f.call.clone());
            }
        }
        let call = OpenCall {
            turn: f.turn,
            role: f.role.clone(),
            tool_call: f.tool_call.clone(),
            ordinal: f.ordinal,
            tool: f.tool.clone(),
            effect: f.effect,
            state: CallState::Intended,
            arguments: f.arguments,
            idempotency_key: f.idempotency_key,
            before: f.before,
            after: f.after,
            files: f.files.clone(),
            allowed: None,
            instead: None,
            process: None,
            attempt,
            reruns: 0,
            summary: f.summary.clone(),
        };
        self.calls.insert(f.call.clone(), call);
    }

    pub(super) fn call_started(&mut self, f: &CallStarted) {
        let Some(call) = self.calls.get_mut(&f.call) else {
            return;
        };
        call.state = CallState::Started;
        call.process.clone_from(&f.process);
        if let Some(turn) = self.turns.get(&call.turn) {
            call.attempt = turn.attempt;
        }
    }

    pub(super) fn call_finished(&mut self, place: FactPlace, f: &CallFinished) {
        let open = self.calls.remove(&f.call);
        let denied = open.filter(|open| open.state == CallState::Denied);
        let denied = denied.map(|open| match open.instead {
            Some(_) => Denied::WithWords,
            None => Denied::Plainly,
        });
        if let Some(turn) = self.turns.get_mut(&f.turn) {
            let calls = turn.request.iter_mut().flat_map(|r| r.calls.iter_mut());
            for asked in calls.filter(|asked| asked.tool_call == f.tool_call) {
                asked.done = true;
                asked.denied = denied;
                asked.call = Some(f.call.clone());
            }
        }
        self.last_message(&f.role, &f.message);
        self.touch(place, &f.role);
    }

    pub(super) fn call_rerun(&mut self, f: &CallRerun) {
        if let Some(call) = self.calls.get_mut(&f.call) {
            call.state = CallState::Allowed;
            call.process = None;
            call.reruns = call.reruns.saturating_add(1);
        }
    }

    pub(super) fn call_reaped(&mut self, f: &CallReaped) {
        if let Some(call) = self.calls.get_mut(&f.call) {
            call.process = None;
        }
    }

    pub(super) fn session_opened(&mut self, place: FactPlace, f: &SessionOpened) {
        let brief = SessionBrief {
            key: f.key.clone(),
            session_id: f.session.clone(),
            generation: f.generation,
            kind: f.kind,
            state: SessionState::Created,
            is_active: false,
            last_activity_at: place.at,
            prompt: None,
            context_tokens: 0,
            last_message: None,
            messages: 0,
            compaction: None,
            archives: Vec::new(),
            unanswered: None,
            limits_hit: 0,
            injected: 0,
        };
        self.sessions.insert(f.role.clone(), brief);
    }

    pub(super) fn touch(&mut self, place: FactPlace, role: &RoleInstance) {
        if let Some(session) = self.sessions.get_mut(role) {
            session.last_activity_at = place.at;
            if session.state != SessionState::Expired {
                session.state = SessionState::Active;
            }
        }
    }

    pub(super) fn prompt_built(&mut self, f: &SystemPromptBuilt) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.prompt = Some(f.fingerprint);
        }
    }

    fn last_message(&mut self, role: &RoleInstance, message: &MessageId) {
        if let Some(session) = self.sessions.get_mut(role) {
            session.last_message = Some(message.clone());
            session.messages = session.messages.saturating_add(1);
        }
    }

    pub(super) fn message_added(&mut self, place: FactPlace, f: &MessageAdded) {
        self.touch(place, &f.role);
        self.last_message(&f.role, &f.message);
        if let (Some(matter), Some(session)) = (matter(f), self.sessions.get_mut(&f.role)) {
            session.unanswered = Some(matter);
        }
        self.role_was_told(&f.role, f);
    }

    fn role_was_told(&mut self, role: &RoleInstance, f: &MessageAdded) {
        let other = |said: &OperatorMessage| said.id != f.message;
        if let Some(steers) = self.steers.get_mut(role) {
            steers.retain(other);
            if steers.is_empty() {
                self.steers.remove(role);
            }
        }
        if let Some(reflecting) = self.reflecting_mut(role) {
            reflecting.unsaid.retain(other);
            reflecting.told |= reflecting.unsaid.is_empty() && opens_a_turn(f.origin);
        }
        let running = self.running.values_mut().find(|r| r.role == *role);
        if let Some(running) = running {
            told(running, f);
        }
        if f.origin == Origin::Repair {
            let turns = self.turns.values_mut();
            for turn in turns.filter(|t| t.role == *role && !t.cause.is_aside()) {
                turn.repair = None;
            }
        }
    }

    pub(super) fn compaction_started(&mut self, f: &CompactionStarted) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.compaction = Some(f.compaction.clone());
        }
    }

    pub(super) fn compacted(&mut self, place: FactPlace, f: &SessionCompacted) {
        self.last_message(&f.role, &f.message);
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.compaction = None;
            session.context_tokens = 0;
            session.last_activity_at = place.at;
            session.archives.push(f.compaction.clone());
            session.unanswered = None;
        }
    }

    pub(super) fn compaction_failed(&mut self, f: &CompactionFailed) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.compaction = None;
        }
    }

    pub(super) fn injected(&mut self, place: FactPlace, f: &MessageInjected) {
        self.touch(place, &f.role);
        self.last_message(&f.role, &f.message);
        let waits = u32::from(self.main_turn_of(&f.role).is_some());
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.injected += waits;
        }
    }

    pub(super) fn trimmed(&mut self, place: FactPlace, f: &MessagesTrimmed) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.context_tokens = 0;
            session.last_activity_at = place.at;
            session.archives.push(f.archive.clone());
        }
    }

    pub(super) fn session_closed(&mut self, place: FactPlace, f: &SessionClosed) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.state = SessionState::Expired;
            session.last_activity_at = place.at;
        }
    }

    /// What the session spent is not forgotten with what it held.
    pub(super) fn renewed(&mut self, place: FactPlace, f: &SessionRenewed) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.session_id = f.session.clone();
            session.generation = f.generation;
            session.state = SessionState::Created;
            session.context_tokens = 0;
            session.last_activity_at = place.at;
            session.archives.push(f.archive.clone());
            session.unanswered = None;
        }
    }

    pub(super) fn archive_restored(&mut self, f: &ArchiveRestored) {
        if let Some(session) = self.sessions.get_mut(&f.role) {
            session.archives.retain(|archive| *archive != f.archive);
        }
    }
}

/// The role of a running node got a message.
fn told(running: &mut RunningNode, f: &MessageAdded) {
    running.unsaid.retain(|said| said.id != f.message);
    if f.origin == Origin::Entry {
        running.received.clear();
        running.dropped.clear();
    }
    // A node entered by a reply gets no more than the reply, unless something arrived too.
    let nothing_left =
        running.unsaid.is_empty() && running.received.is_empty() && running.dropped.is_empty();
    running.told |= nothing_left && opens_a_turn(f.origin);
}

/// What a message tells a role to work on.
fn matter(f: &MessageAdded) -> Option<Matter> {
    match (f.origin, &f.node) {
        (Origin::Entry | Origin::Reply, Some(node)) => Some(Matter::Node(node.clone())),
        (Origin::Improvement | Origin::Reply, None) => Some(Matter::Improvement),
        (Origin::Improvement, Some(_)) | (Origin::Entry, None) => None,
        (
            Origin::Steer
            | Origin::Repair
            | Origin::Continuation
            | Origin::Consultation
            | Origin::Injection
            | Origin::Compaction
            | Origin::Runtime,
            _,
        ) => None,
    }
}

/// Whether a message tells a role what a turn is for. A note of the operator does not.
fn opens_a_turn(origin: Origin) -> bool {
    match origin {
        Origin::Entry
        | Origin::Reply
        | Origin::Steer
        | Origin::Continuation
        | Origin::Consultation
        | Origin::Improvement
        | Origin::Runtime => true,
        Origin::Repair | Origin::Injection | Origin::Compaction => false,
    }
}

impl Usage {
    /// Adds what one more request cost. How much of the window is filled is what the last one says.
    pub fn add(&mut self, more: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.cache_read_tokens = self
            .cache_read_tokens
            .saturating_add(more.cache_read_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(more.cache_write_tokens);
        self.context_tokens = more.window_tokens();
        self.cost_micros = self.cost_micros.saturating_add(more.cost_micros);
    }

    /// Everything that went in, cached or not.
    #[must_use]
    pub(crate) const fn all_input_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    /// Everything that went in and came out.
    #[must_use]
    pub const fn all_tokens(&self) -> u64 {
        self.all_input_tokens().saturating_add(self.output_tokens)
    }

    /// How much of the window a request filled: the size that the provider reported, else the tokens that it counted.
    #[must_use]
    pub fn window_tokens(&self) -> u64 {
        if self.context_tokens > 0 {
            return self.context_tokens;
        }
        self.all_tokens()
    }
}
