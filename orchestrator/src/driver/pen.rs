//! The pen of a flow: what writes its facts and texts, and reads what is folded from them.
//!
//! The parts of the driver that decide nothing about the loop get the pen and not the core, so that none of them can
//! start or end a turn. What the loop has to know of the facts that were appended, the pen keeps for it.

use std::sync::Arc;

use a_society_facts::fact::columns::FactWeight;
use a_society_facts::fact::session::{MessageAdded, Origin};
use a_society_facts::id::{BadName, ClientId, NodeId, RoleInstance, SessionId, TurnId};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::OpenTurn;
use a_society_facts::view::session::SessionView;
use a_society_facts::{At, Fact};
use a_society_flow::graph::FlowGraph;
use a_society_flow::machine::session::{self, SessionChange};
use a_society_flow::machine::{Input, NewSession, decide};
use a_society_state::Flow;

use super::early_retry::EarlyRetries;
use super::error::DriverError;
use super::frame::KeptTexts;
use super::role_source::RoleSource;
use super::syncs::Syncs;
use super::withhold::SpokenInTurns;
use crate::mint::{self, Mint};
use crate::pasted_secrets::without_secrets;
use crate::record::Places;

/// What writes a flow.
#[derive(Debug)]
pub(super) struct FlowPen {
    pub(super) flow: Flow,
    pub(super) graph: Arc<FlowGraph>,
    pub(super) roles: Box<dyn RoleSource>,
    pub(super) places: Places,
    /// What the operator tries before its time.
    pub(super) early: EarlyRetries,
    /// The models' texts in open turns that contained a secret.
    pub(super) spoken: SpokenInTurns,
    /// The longer texts that requests are made of, as they were kept.
    pub(super) kept_texts: KeptTexts,
    /// The syncs that turns and commands wait for.
    pub(super) syncs: Syncs,
    mint: Box<dyn Mint>,
    /// Whether a fact was appended that may give work to start, since this was last asked.
    moved: bool,
}

impl FlowPen {
    pub(super) fn new(
        flow: Flow,
        graph: FlowGraph,
        roles: Box<dyn RoleSource>,
        mint: Box<dyn Mint>,
        places: Places,
    ) -> Self {
        Self {
            flow,
            graph: Arc::new(graph),
            roles,
            places,
            early: EarlyRetries::default(),
            spoken: SpokenInTurns::default(),
            kept_texts: KeptTexts::default(),
            syncs: Syncs::default(),
            mint,
            moved: false,
        }
    }

    /// Everything folded from the flow's journal.
    pub(super) fn state(&self) -> &FlowState {
        &self.flow.views().flow
    }

    /// A turn that is not over.
    pub(super) fn open_turn(&self, turn: TurnId) -> Option<&OpenTurn> {
        self.state().turns.get(&turn)
    }

    /// How many requests a turn has made.
    pub(super) fn request_of(&self, turn: TurnId) -> u32 {
        self.open_turn(turn).map_or(0, |open| open.requests)
    }

    /// The session of a role, if it has one.
    pub(super) fn session(&self, role: &RoleInstance) -> Option<&SessionView> {
        self.flow.views().session(role)
    }

    pub(super) fn now(&self) -> At {
        self.flow.now()
    }

    /// Handles an input. The facts that follow are appended, and not yet durable.
    ///
    /// # Errors
    /// When the machine refuses, and then nothing changed; or when the journal does.
    pub(super) fn input(&mut self, input: Input) -> Result<usize, DriverError> {
        let revised = input.graph().cloned().map(Arc::new);
        let facts = decide(&self.graph, self.state(), input)?;
        let count = facts.len();
        let records = facts.iter().any(may_change_records);
        self.append_all(facts)?;
        if let Some(graph) = revised.filter(|_| count > 0) {
            self.graph = graph;
        }
        if records {
            self.keep_records();
        }
        Ok(count)
    }

    /// Handles an input of the operator: it is durable on return.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub(super) fn command(&mut self, input: Input) -> Result<usize, DriverError> {
        let count = self.input(input)?;
        self.flow.sync()?;
        Ok(count)
    }

    /// Writes something, durably, and says how many facts it was.
    ///
    /// # Errors
    /// As what writes does, or when the journal refuses.
    pub(super) fn durably(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), DriverError>,
    ) -> Result<usize, DriverError> {
        let before = self.flow.position().seq;
        write(self)?;
        self.flow.sync()?;
        let after = self.flow.position().seq;
        Ok(usize::try_from(after - before).unwrap_or(usize::MAX))
    }

    pub(super) fn append_all(&mut self, facts: Vec<Fact>) -> Result<(), DriverError> {
        facts.into_iter().try_for_each(|fact| self.append(fact))
    }

    pub(super) fn append(&mut self, fact: Fact) -> Result<(), DriverError> {
        self.moved |= fact.weight() == FactWeight::Moves;
        self.early.note(&fact, &self.flow.views().flow);
        let ended = if let Fact::TurnEnded(ended) = &fact {
            Some(ended.turn)
        } else {
            None
        };
        let seq = self.flow.append(fact)?;
        if let Some(turn) = ended {
            self.syncs.turn_ended(seq);
            self.spoken.forget(turn);
        }
        Ok(())
    }

    /// Whether a fact was appended that may give work to start, since this was last asked.
    pub(super) const fn take_moved(&mut self) -> bool {
        std::mem::replace(&mut self.moved, false)
    }

    /// Makes durable what a turn waits for, if one does.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn sync_owed(&mut self) -> Result<(), DriverError> {
        Ok(self.syncs.settle(&mut self.flow)?)
    }

    /// Makes the end of a turn durable, if one ended and nothing that came after it has done so.
    ///
    /// # Errors
    /// When the journal refuses.
    pub(super) fn sync_ended(&mut self) -> Result<(), DriverError> {
        Ok(self.syncs.settle_end(&mut self.flow)?)
    }

    /// Writes the files of the record folder that are folded from the facts, where they differ.
    pub(super) fn keep_records(&mut self) {
        let state = &self.flow.views().flow;
        self.roles.keep_records(&self.graph, state);
    }

    /// Records what follows from a change of a role's session, if the session takes it.
    pub(super) fn apply_to_session(
        &mut self,
        role: &RoleInstance,
        change: SessionChange,
        client: Option<ClientId>,
    ) -> Result<(), DriverError> {
        let views = self.flow.views();
        let facts = session::decide(&views.flow, role, views.session(role), change, client)?;
        self.append_all(facts)
    }

    /// A message of ours in the session of a role.
    pub(super) fn say(
        &mut self,
        role: &RoleInstance,
        text: Text,
        origin: Origin,
        node: Option<&NodeId>,
    ) -> Result<(), DriverError> {
        let message = self.name("m")?;
        self.append(Fact::MessageAdded(MessageAdded {
            role: role.clone(),
            message,
            text,
            origin,
            node: node.cloned(),
            client: None,
            request: None,
        }))
    }

    /// Keeps what the operator typed, without what looks like a secret.
    pub(super) fn keep_words(&self, words: &str) -> Result<Text, DriverError> {
        Ok(self.flow.keep_text(without_secrets(words))?)
    }

    /// A new name such as `m-1f3c9a…`.
    pub(super) fn name<T: std::str::FromStr<Err = BadName>>(
        &mut self,
        prefix: &str,
    ) -> Result<T, BadName> {
        mint::name(self.mint.as_mut(), prefix)
    }

    /// A number that cannot be guessed.
    pub(super) fn number(&mut self) -> u128 {
        self.mint.number()
    }

    /// The session that a role gets if it has none.
    pub(super) fn new_session(
        &mut self,
        role: &RoleInstance,
    ) -> Result<Option<NewSession>, DriverError> {
        let key = match &self.state().chat {
            Some(chat) => chat.key.clone(),
            None => format!("flow:{}:role:{role}", self.flow.id()).parse()?,
        };
        let session = self.new_incarnation()?;
        Ok(Some(NewSession { key, session }))
    }

    pub(super) fn new_incarnation(&mut self) -> Result<SessionId, DriverError> {
        let at = self.now();
        Ok(mint::uuid7(self.mint.as_mut(), at)?)
    }

    /// The name of an archive that is made now. No other record has its number.
    pub(super) fn next_archive(&self, kind: char) -> String {
        format!("{kind}{}", self.flow.position().seq + 1)
    }

    /// Roles and what they look at, for an errand.
    pub(super) fn roles_apart(&self) -> (Box<dyn RoleSource>, Arc<FlowState>, Arc<FlowGraph>) {
        let state = Arc::clone(&self.flow.views().flow);
        (self.roles.another(), state, Arc::clone(&self.graph))
    }
}

/// Whether the files of the record folder that are folded from the facts may say something else
/// after a fact.
const fn may_change_records(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::FlowTitled(_)
            | Fact::GraphRevised(_)
            | Fact::ImprovementChosen(_)
            | Fact::FeedbackStarted(_)
    )
}
