//! Facts that are being put together, each judged before the next is thought of.

use std::collections::BTreeMap;

use a_society_facts::fact::session::{SessionKind, SessionOpened};
use a_society_facts::id::{FlowId, RoleInstance, TurnId};
use a_society_facts::legal::legal;
use a_society_facts::limits::BLOB_HEAD_BYTES_MAX;
use a_society_facts::message::{BlobText, Text};
use a_society_facts::view::{FactView as _, flow::FlowState};
use a_society_facts::{At, Fact, Hash, Recorded};

use crate::limits::IMPORTED_TEXT_BYTES_MAX;
use crate::mint::{self, Mint};

/// The facts so far, and the state they lead to.
#[derive(Debug)]
pub(super) struct ImportSketch<'m> {
    pub(super) flow: FlowId,
    pub(super) state: FlowState,
    pub(super) facts: Vec<(At, Fact)>,
    pub(super) blobs: BTreeMap<Hash, Vec<u8>>,
    /// What could not be carried over, a sentence each.
    pub(super) left: Vec<String>,
    now: At,
    mint: &'m mut dyn Mint,
}

impl<'m> ImportSketch<'m> {
    pub(super) fn new(flow: FlowId, now: At, mint: &'m mut dyn Mint) -> Self {
        Self {
            flow,
            // The header of the journal comes first.
            state: FlowState {
                seq: 1,
                ..FlowState::default()
            },
            facts: Vec::new(),
            blobs: BTreeMap::new(),
            left: Vec::new(),
            now,
            mint,
        }
    }

    /// Says a fact that the flow cannot be without.
    pub(super) fn say(&mut self, fact: Fact) -> Result<(), String> {
        self.say_at(self.now, fact)
    }

    pub(super) fn say_at(&mut self, at: At, fact: Fact) -> Result<(), String> {
        legal(&self.state, &fact).map_err(|illegal| illegal.to_string())?;
        let seq = self.state.seq.saturating_add(1);
        self.state.apply(&Recorded::new(seq, at, fact.clone()));
        self.facts.push((at, fact));
        Ok(())
    }

    /// Appends facts that belong together, or none of them; `what` is then reported as left out.
    pub(super) fn try_all(
        &mut self,
        what: &str,
        say: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> bool {
        let (state, facts) = (self.state.clone(), self.facts.len());
        match say(self) {
            Ok(()) => true,
            Err(why) => {
                self.state = state;
                self.facts.truncate(facts);
                self.left.push(format!("{what}: {why}"));
                false
            }
        }
    }

    pub(super) fn next_turn(&self) -> TurnId {
        TurnId(self.state.next_turn.max(1))
    }

    pub(super) fn name<T>(&mut self, prefix: &str) -> Result<T, String>
    where
        T: std::str::FromStr<Err = a_society_facts::id::BadName>,
    {
        mint::name(self.mint, prefix).map_err(|bad| bad.to_string())
    }

    /// Opens the session of a role, if it has none yet.
    pub(super) fn open_session(&mut self, role: &RoleInstance) -> Result<(), String> {
        if self.state.session(role).is_some() {
            return Ok(());
        }
        let key = format!("flow:{}:role:{role}", self.flow);
        let session = mint::uuid7(self.mint, self.now).map_err(|bad| bad.to_string())?;
        self.say(Fact::SessionOpened(SessionOpened {
            role: role.clone(),
            key: key
                .parse()
                .map_err(|bad: a_society_facts::id::BadName| bad.to_string())?,
            session,
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        }))
    }

    /// Keeps bytes as a blob.
    pub(super) fn keep(&mut self, bytes: Vec<u8>) -> Hash {
        let hash = Hash::of(&bytes);
        self.blobs.insert(hash, bytes);
        hash
    }

    /// The blob of a text that is too long for a record.
    pub(super) fn too_long(&mut self, text: &str) -> Option<BlobText> {
        if text.len() <= IMPORTED_TEXT_BYTES_MAX {
            return None;
        }
        let head = text[..text.floor_char_boundary(BLOB_HEAD_BYTES_MAX)].to_owned();
        Some(BlobText {
            blob: self.keep(text.as_bytes().to_vec()),
            bytes: text.len() as u64,
            head,
        })
    }

    pub(super) fn text(&mut self, text: String) -> Text {
        match self.too_long(&text) {
            Some(kept) => Text::Blob(kept),
            None => Text::Inline(text),
        }
    }
}
