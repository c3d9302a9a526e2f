//! Reading documents of people: each kind of document adds what it reads to one sink of faults.

use std::fmt;
use std::ops::{Deref, DerefMut};

pub(crate) use a_society_yaml::TextFault;
use a_society_yaml::{self as yaml, ParseBudget, Value, YamlTree};
pub(crate) use a_society_yaml::{Fields, is_near};

/// Reads values, and keeps what is wrong with them.
#[derive(Debug)]
pub(crate) struct DocumentSink<'s>(&'s mut yaml::FaultSink);

impl Deref for DocumentSink<'_> {
    type Target = yaml::FaultSink;

    fn deref(&self) -> &yaml::FaultSink {
        self.0
    }
}

impl DerefMut for DocumentSink<'_> {
    fn deref_mut(&mut self) -> &mut yaml::FaultSink {
        self.0
    }
}

impl DocumentSink<'_> {
    /// A text that says something.
    pub(crate) fn words(&mut self, tree: &YamlTree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.trim().is_empty() {
            self.fault(tree, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// One of a closed set of words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        tree: &YamlTree,
        what: &str,
        all: &[(T, &str)],
    ) -> Option<T> {
        if let Value::Text(text) = &tree.value
            && let Some((found, _)) = all.iter().find(|(_, word)| word == text)
        {
            return Some(*found);
        }
        let words: Vec<String> = all.iter().map(|(_, word)| format!("`{word}`")).collect();
        self.fault(tree, format!("{what} must be one of {}", words.join(", ")));
        None
    }

    /// A text that can be a name of this kind.
    pub(crate) fn name<T: std::str::FromStr<Err: fmt::Display>>(
        &mut self,
        tree: &YamlTree,
        what: &str,
    ) -> Option<T> {
        let text = self.text(tree, what)?;
        match text.parse() {
            Ok(name) => Some(name),
            Err(why) => {
                self.fault(tree, why.to_string());
                None
            }
        }
    }
}

/// Reads a document, or says everything that is wrong with it, in the order of the document.
pub(crate) fn read<T: Default>(
    text: &str,
    budget: ParseBudget,
    take: impl FnOnce(&mut DocumentSink<'_>, &YamlTree) -> T,
) -> Result<T, Vec<TextFault>> {
    yaml::read(text, budget, |sink, tree| {
        take(&mut DocumentSink(sink), tree)
    })
}
