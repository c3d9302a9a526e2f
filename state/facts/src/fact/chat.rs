//! What a chat begins with: its address, what it is called, and what it is about.
//!
//! A chat is a flow of one node that never hands over. Everything else that can be true of it is true of flows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::SessionKey;

/// How a chat differs from a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatTerms {
    /// The address of its session.
    pub key: SessionKey,
    /// What its person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is about.
    pub context: ChatContext,
    /// How many turns it may have in which a model was asked; if absent, as many as the program allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
}

/// Where a chat's person is and what they look at. None of it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChatContext {
    /// The working folder, from the project folder; empty for the project folder itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The file that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_file: Option<String>,
    /// The lines that are selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The branch, or the commit where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
    /// Names with values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// Lines of a file, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The file, from the project folder.
    pub file: String,
    /// The first line.
    pub from: u32,
    /// The last line.
    pub to: u32,
}
