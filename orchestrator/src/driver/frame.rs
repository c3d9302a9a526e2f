//! What requests are made of besides their sessions goes into the journal: with the first request of a
//! session, and again when it changes. Texts that many sessions share, such as the definitions of tools,
//! are kept once.

use std::collections::{BTreeMap, VecDeque};

use a_society_base::redact::Redactor;
use a_society_facts::Hash;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::message::{BlobText, Text};
use a_society_state::{Error, Flow};
use serde_json::value::RawValue;

use crate::limits::{FRAME_INLINE_BYTES_MAX, FRAME_TEXTS_MAX, FRAME_TOOLS_MAX};

/// What requests are made of, as this process kept it.
#[derive(Debug, Default)]
pub(super) struct KeptTexts {
    /// The longer texts, by the hashes of their contents.
    texts: BTreeMap<Hash, Text>,
    /// The last sets of tools. Each session has one of a few, and searching one for secrets takes longer
    /// than comparing it.
    tools: VecDeque<KeptTools>,
}

/// The definitions of one set of tools.
#[derive(Debug)]
struct KeptTools {
    said: Vec<Text>,
    redactor: Redactor,
    kept: Vec<Text>,
}

impl KeptTexts {
    /// What a request is made of as the journal holds it: without secrets, its longer texts as blobs.
    pub(super) fn frame(
        &mut self,
        flow: &Flow,
        redactor: &Redactor,
        said: &RequestFrame,
    ) -> Result<RequestFrame, Error> {
        let mut kept = said.clone();
        kept.tools = self.tools(flow, redactor, &said.tools)?;
        if let Some(Text::Inline(text)) = &mut kept.environment {
            kept.environment = Some(flow.keep_text(redactor.redact(text))?);
        }
        if let Some(beside) = &mut kept.beside
            && let Text::Inline(text) = &beside.messages
        {
            beside.messages = flow.keep_text(clean(redactor, text))?;
        }
        Ok(kept)
    }

    fn tools(
        &mut self,
        flow: &Flow,
        redactor: &Redactor,
        said: &[Text],
    ) -> Result<Vec<Text>, Error> {
        let sets = &self.tools;
        let is_known = |set: &&KeptTools| set.said == said && set.redactor.knows_same(redactor);
        if let Some(known) = sets.iter().find(is_known) {
            return Ok(known.kept.clone());
        }
        let each = said.iter().map(|text| self.text(flow, redactor, text));
        let kept = each.collect::<Result<Vec<_>, _>>()?;
        let sets = &mut self.tools;
        if sets.len() >= FRAME_TOOLS_MAX {
            sets.pop_front();
        }
        sets.push_back(KeptTools {
            said: said.to_vec(),
            redactor: redactor.clone(),
            kept: kept.clone(),
        });
        Ok(kept)
    }

    /// A text that other sessions have too: it is searched for secrets and kept once.
    fn text(&mut self, flow: &Flow, redactor: &Redactor, text: &Text) -> Result<Text, Error> {
        let Text::Inline(said) = text else {
            return Ok(text.clone());
        };
        if said.len() <= FRAME_INLINE_BYTES_MAX {
            return Ok(Text::Inline(clean(redactor, said)));
        }
        let name = Hash::of(said.as_bytes());
        if let Some(kept) = self.texts.get(&name) {
            return Ok(kept.clone());
        }
        let clean = clean(redactor, said);
        let kept = Text::Blob(BlobText {
            blob: flow.keep_blob(clean.as_bytes())?,
            bytes: clean.len() as u64,
            head: String::new(),
        });
        if self.texts.len() >= FRAME_TEXTS_MAX {
            self.texts.clear();
        }
        self.texts.insert(name, kept.clone());
        Ok(kept)
    }
}

/// A JSON text without secrets.
fn clean(redactor: &Redactor, json: &str) -> String {
    match serde_json::from_str::<&RawValue>(json) {
        Ok(value) => redactor.redact_json(value).get().to_owned(),
        Err(_) => redactor.redact(json),
    }
}
