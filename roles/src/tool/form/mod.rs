//! The form of a tool: its name, what it takes, and every other way in which models write both.
//!
//! A form is the one place where a tool is described. Its definition, as models read it, is made
//! from it, and so are the reading of arguments and the words in which wrong ones are refused.
//!
//! To add a tool: a form and a structure in a file of `arguments/`, its line in
//! `FORMS`, its arm in [`super::arguments::parse`], and its plan.

mod read;
mod schema;

#[cfg(test)]
mod tests;

pub(crate) use read::clipped;
pub(super) use read::{read, typed, wrong};

/// A tool with everything it takes.
#[derive(Debug)]
pub(super) struct ToolForm {
    /// Its name.
    pub name: &'static str,
    /// When and how to use it.
    pub said: &'static str,
    /// What it takes, in the order in which models read it.
    pub members: &'static [ToolMember],
    /// Other names by which it is called.
    pub also: &'static [Alias],
}

/// Another name of a tool.
#[derive(Debug)]
pub(super) struct Alias {
    /// The name.
    pub name: &'static str,
    /// Members that this name says by itself, each with its value as JSON.
    pub sets: &'static [(&'static str, &'static str)],
}

/// One member of what a tool takes.
#[derive(Debug)]
pub(super) struct ToolMember {
    /// Its name. Its spelling `inCamelCase` is taken too, as is that of its other names.
    pub name: &'static str,
    /// What it is.
    pub kind: MemberKind,
    /// Whether it must be there.
    pub need: MemberNeed,
    /// Its description for models; may be empty.
    pub said: &'static str,
    /// Its other names.
    pub also: &'static [&'static str],
}

/// What a member is.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "no tool takes all of these kinds yet")
)]
pub(super) enum MemberKind {
    /// A text.
    Text,
    /// A whole number, from 0.
    Number,
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of the words that the setting has under this name; any text if it has none.
    Named(&'static str),
    /// Several texts.
    Texts,
    /// Several objects.
    Items(&'static [ToolMember]),
    /// Whatever is given: the tool's own structure says what it takes. Only for hidden members.
    Any,
}

/// Whether a member must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberNeed {
    /// Without it the call is refused.
    Required,
    /// Models read that it is required; the tool itself knows when it can do without.
    Expected,
    /// It may be left out.
    Optional,
    /// It is understood, but absent from the schema that models see.
    Hidden,
}

impl ToolForm {
    /// The other name of the tool that this is, if it is one; nothing for its own name.
    pub(super) fn alias(&self, name: &str) -> Option<&Alias> {
        self.also.iter().find(|alias| alias.name == name)
    }

    /// Whether the tool is called by this name.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias(name).is_some()
    }
}

/// Another name that says nothing more.
pub(super) const fn also(name: &'static str) -> Alias {
    Alias { name, sets: &[] }
}

/// A member that must be there.
pub(super) const fn required(
    name: &'static str,
    kind: MemberKind,
    said: &'static str,
) -> ToolMember {
    ToolMember::new(name, kind, MemberNeed::Required, said)
}

/// A member that the schema declares as required, and whose absence the tool judges.
pub(super) const fn expected(
    name: &'static str,
    kind: MemberKind,
    said: &'static str,
) -> ToolMember {
    ToolMember::new(name, kind, MemberNeed::Expected, said)
}

/// A member that may be left out.
pub(super) const fn optional(
    name: &'static str,
    kind: MemberKind,
    said: &'static str,
) -> ToolMember {
    ToolMember::new(name, kind, MemberNeed::Optional, said)
}

/// A member that is understood, but absent from the schema that models see.
pub(super) const fn hidden(name: &'static str, kind: MemberKind) -> ToolMember {
    ToolMember::new(name, kind, MemberNeed::Hidden, "")
}

impl ToolMember {
    const fn new(
        name: &'static str,
        kind: MemberKind,
        need: MemberNeed,
        said: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            need,
            said,
            also: &[],
        }
    }

    /// The member with its other names.
    pub(super) const fn or(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}
