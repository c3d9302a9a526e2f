//! What to try after a refusal, named as the operator meets it: an option or a command in the terminal, a field or a
//! button on the page.

/// What to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Words that fit everywhere.
    Words(String),
    /// Set a member of a model.
    Member,
    /// Name the provider of a model.
    Provider,
    /// Set the window of a model.
    Window,
    /// Set the wire of a new provider, or name one of these.
    Wire(Vec<String>),
    /// Leave a provider as it is, or add another one.
    AnotherProvider,
    /// Add a model of another name, or change this one.
    Edit(String),
    /// A model is to be added.
    Add,
    /// Roles need another default model in the place of this one; perhaps that one.
    Default(String, Option<String>),
    /// Give the program of a server of tools, or its address.
    Server(String),
    /// Replace the server of this name, or choose another name.
    Replace,
    /// Look at the existing servers.
    Servers,
    /// This server is to be looked at and approved.
    Approve(String),
    /// The skills that there are, are to be looked at.
    Skills,
    /// The skill of this name is to be changed, or another name chosen.
    EditSkill(String),
}

impl From<String> for Hint {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl Hint {
    /// The models that are meant instead, or all there are.
    pub(super) fn models(near: &[String], others: &[String]) -> Self {
        match (near, others) {
            ([], []) => Self::Add,
            ([], others) => format!("there are: {}", others.join(", ")).into(),
            (near, _) => format!("did you mean {}?", near.join(", ")).into(),
        }
    }

    /// The rules of a list.
    pub(super) fn rules(list: &str, others: &[String]) -> Self {
        match others {
            [] => format!("{list} has none").into(),
            others => format!("there are: {}", others.join(", ")).into(),
        }
    }

    /// As the terminal names things.
    #[must_use]
    pub fn in_terminal(&self) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Member => "say what changes, such as --window 64000; a-society models edit --help lists the members".to_owned(),
            Self::Provider => "name a configured provider with --provider, or a new one with --wire; a-society models catalogue lists what is known".to_owned(),
            Self::Window => "say --window TOKENS, as its provider documents it".to_owned(),
            Self::Wire(others) => wire(others, "say --wire for a new one"),
            Self::AnotherProvider => "leave that out to use it as it is, or make a provider of its own with --provider NAME and a name that is not taken".to_owned(),
            Self::Edit(model) => format!("choose another name, or change it: a-society models edit {model}"),
            Self::Add => "add one: a-society models add".to_owned(),
            Self::Default(model, other) => format!(
                "name another one for them: a-society models rm {model} --default {}",
                other.as_deref().unwrap_or("MODEL")
            ),
            Self::Server(name) => format!(
                "a-society mcp add {name} -- COMMAND …, or a-society mcp add {name} --url URL"
            ),
            Self::Replace => "choose another name, or say --replace".to_owned(),
            Self::Servers => "a-society mcp ls lists those that there are".to_owned(),
            Self::Approve(name) => format!("look at it, then: a-society mcp approve {name} HASH"),
            Self::Skills => "a-society skills ls lists those that there are".to_owned(),
            Self::EditSkill(name) => {
                format!("choose another name, or change it: a-society skills edit {name}")
            }
        }
    }

    /// As the page names things.
    #[must_use]
    pub fn on_page(&self) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Member => "change one of its fields".to_owned(),
            Self::Provider => "choose a provider, or the wire of a new one".to_owned(),
            Self::Window => "give its window in tokens, as its provider documents it".to_owned(),
            Self::Wire(others) => wire(others, "choose the wire of a new one"),
            Self::AnotherProvider => {
                "leave that out to use it as it is, or give the provider a name that is not taken"
                    .to_owned()
            }
            Self::Edit(model) => format!("choose another name, or edit {model}"),
            Self::Add => "add one".to_owned(),
            Self::Default(_, other) => match other {
                Some(other) => format!("choose another default model, such as {other}"),
                None => "add another model, and make it the default one".to_owned(),
            },
            Self::Server(_) => "give the command that starts it, or its address".to_owned(),
            Self::Replace => "choose another name, or edit that one".to_owned(),
            Self::Servers | Self::Skills => "choose one of those that are listed".to_owned(),
            Self::EditSkill(name) => format!("choose another name, or edit {name}"),
            Self::Approve(name) => format!("look at {name}, and approve it"),
        }
    }
}

fn wire(others: &[String], new: &str) -> String {
    match others {
        [] => new.to_owned(),
        others => format!("name one of {}, or {new}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_told_of_no_option_and_no_command_of_the_terminal() {
        let name = || "x".to_owned();
        for hint in [
            Hint::Member,
            Hint::Provider,
            Hint::Window,
            Hint::Wire(Vec::new()),
            Hint::Wire(vec![name()]),
            Hint::AnotherProvider,
            Hint::Edit(name()),
            Hint::Add,
            Hint::Default(name(), None),
            Hint::Default(name(), Some(name())),
            Hint::Server(name()),
            Hint::Replace,
            Hint::Servers,
            Hint::Approve(name()),
            Hint::Skills,
            Hint::EditSkill(name()),
        ] {
            let words = hint.on_page();
            assert!(!words.contains("--"), "{words}");
            assert!(!words.contains("a-society"), "{words}");
            let typed = hint.in_terminal();
            assert!(
                typed.contains("--") || typed.contains("a-society"),
                "{typed}"
            );
        }
    }
}
