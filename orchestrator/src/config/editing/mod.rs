//! Changing the operator's configuration: what the terminal and the page both say, check and refuse.
//!
//! A verb is pure: the text of the file and what is wanted come in, and a new text comes out, or the reason why
//! not. Only [`Sheet`] reads and writes the file.

pub(crate) mod hint;
pub mod models;
pub mod policies;
pub mod rules;
pub mod search;
pub mod servers;
pub mod skills;

use std::path::PathBuf;

use a_society_facts::Hash;
use a_society_facts::words::settings::{
    self as words, KEY_NOT_TAKEN, KEYS_ARE_NOT_WRITTEN, key_place,
};
use a_society_roles::config::TextFault;
use a_society_roles::config::edit::ConfigEditFault;

use self::hint::Hint;
use super::models::Catalog;
use super::user::{self, ConfigError};
use crate::pasted_secrets::holds_a_secret;

/// The configuration as it was read, so that it is written only over what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// The file, whether or not it is there.
    pub path: PathBuf,
    /// What it says; nothing if it is not there.
    pub text: String,
}

impl Sheet {
    /// Reads it.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn read() -> Result<Self, EditRefusal> {
        let (path, text) = match user::text()? {
            Some(found) => found,
            None => (user::path()?, String::new()),
        };
        Ok(Self { path, text })
    }

    /// Reads it, and compares it with what an editor was shown.
    ///
    /// # Errors
    /// As [`Sheet::read`], and when it says something else by now.
    pub fn as_seen(version: &str) -> Result<Self, EditRefusal> {
        let sheet = Self::read()?;
        if sheet.version() != version {
            return Err(ConfigError::Changed { path: sheet.path }.into());
        }
        Ok(sheet)
    }

    /// The name of what it says, by which another reading is compared with this one.
    #[must_use]
    pub fn version(&self) -> String {
        Hash::of(self.text.as_bytes()).to_string()
    }

    /// The models in it.
    ///
    /// # Errors
    /// When it says something that means nothing.
    pub(crate) fn catalog(&self) -> Result<Catalog, EditRefusal> {
        user::models_of(&self.text).map_err(|faults| {
            let path = self.path.clone();
            ConfigError::Faulty { path, faults }.into()
        })
    }

    /// Writes another text in its place: whole, or not at all, and not over a concurrent change.
    ///
    /// # Errors
    /// When the file changed, or cannot be written.
    pub fn save(&self, text: &str) -> Result<PathBuf, EditRefusal> {
        Ok(user::save_over(&self.text, text)?)
    }
}

/// How grave a refusal is; the terminal has an exit code for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// It was asked wrongly.
    Usage,
    /// What it was asked about is not there.
    NotFound,
    /// It could be done and must not be.
    Refused,
    /// Something failed.
    Failed,
}

/// Why the configuration stays as it is, in the operator's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRefusal {
    /// A stable word for programs.
    pub code: &'static str,
    /// How grave it is.
    pub grade: Grade,
    /// What happened.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to try.
    pub hint: Hint,
}

impl EditRefusal {
    /// A refusal of what was asked wrongly.
    #[must_use]
    pub fn usage(what: impl Into<String>, why: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self {
            code: "usage",
            grade: Grade::Usage,
            what: what.into(),
            why: why.into(),
            hint: hint.into(),
        }
    }
}

impl From<ConfigError> for EditRefusal {
    fn from(error: ConfigError) -> Self {
        if matches!(error, ConfigError::Changed { .. }) {
            return Self {
                code: "configuration-changed",
                grade: Grade::Refused,
                what: "the configuration was not changed".to_owned(),
                why: error.to_string(),
                hint: "look at what it says now, then say it again".into(),
            };
        }
        Self {
            code: "configuration-unfit",
            grade: Grade::Failed,
            what: "the configuration cannot be used".to_owned(),
            why: error.to_string(),
            hint: "mend the file, or name another one in A_SOCIETY_CONFIG".into(),
        }
    }
}

impl From<ConfigEditFault> for EditRefusal {
    #[expect(clippy::too_many_lines, reason = "a table, one row a fault")]
    fn from(fault: ConfigEditFault) -> Self {
        use Grade::{Failed, NotFound, Refused, Usage};
        let (code, grade, why, hint) = match fault {
            ConfigEditFault::Faulty(faults) => (
                "configuration-unchanged",
                Failed,
                user::lines(&faults),
                "correct it, and try again".into(),
            ),
            ConfigEditFault::Unfit(faults) => {
                ("usage", Usage, messages(&faults), "say it otherwise".into())
            }
            ConfigEditFault::Taken(name) => (
                "model-exists",
                Refused,
                format!("there is a model {name} already"),
                Hint::Edit(name),
            ),
            ConfigEditFault::Differs { provider, has } => (
                "provider-differs",
                Refused,
                format!("the provider {provider} is there already, and has {has}"),
                Hint::AnotherProvider,
            ),
            ConfigEditFault::NoModel {
                model,
                near,
                others,
            } => (
                "model-not-found",
                NotFound,
                format!("there is no model {model}"),
                Hint::models(&near, &others),
            ),
            ConfigEditFault::NoProvider { provider, others } => (
                "provider-not-found",
                NotFound,
                format!("there is no provider {provider}, and no wire is given for a new one"),
                Hint::Wire(others),
            ),
            ConfigEditFault::NoRule { rule, list, others } => (
                "rule-not-found",
                NotFound,
                format!("there is no rule {rule} under {list}"),
                Hint::rules(list, &others),
            ),
            ConfigEditFault::NoServer(name) => (
                "server-not-found",
                NotFound,
                format!("there is no MCP server {name} in it"),
                Hint::Servers,
            ),
            ConfigEditFault::SecretDiffers(name) => (
                "secret-differs",
                Refused,
                format!("the secret {name} is there already, and is kept elsewhere"),
                "use it as it is, or change it in the file under secrets".into(),
            ),
            ConfigEditFault::IsDefault { model, others } => in_use(
                format!("roles that name no model use {model}"),
                Hint::Default(model, others.into_iter().next()),
            ),
            ConfigEditFault::IsChooser(model) => in_use(
                format!("it chooses for roles: the file says `chooser: {model}`"),
                "name another model there, or take that line out, and try again".into(),
            ),
            ConfigEditFault::ByHand(lines) => by_hand(
                "lines cannot be put in",
                format!("put these in by hand:\n{lines}"),
            ),
            ConfigEditFault::Unclear(what) => {
                by_hand("it cannot be changed", format!("do it by hand: {what}"))
            }
        };
        Self {
            code,
            grade,
            what: "the configuration was not changed".to_owned(),
            why,
            hint,
        }
    }
}

/// What is wrong, without places: they are in a text that the operator has not seen.
fn messages(faults: &[TextFault]) -> String {
    let lines: Vec<&str> = faults.iter().map(|it| it.message.as_str()).collect();
    lines.join("\n")
}

/// A model that others depend on.
fn in_use(why: String, hint: Hint) -> (&'static str, Grade, String, Hint) {
    ("model-in-use", Grade::Refused, why, hint)
}

/// A file that only a person can change without harm: what cannot be done to it, and what to do instead.
fn by_hand(cannot: &str, instead: String) -> (&'static str, Grade, String, Hint) {
    let why = format!("the file is laid out so that {cannot} safely");
    (
        "configuration-unchanged",
        Grade::Failed,
        why,
        instead.into(),
    )
}

/// How a key is found: `env`, `file` or `keyring`, and where.
pub type SecretPlace = (String, String);

/// Looks whether the place of a key is a place, and not the key itself: nothing that looks like one is written
/// down, repeated or logged.
///
/// # Errors
/// When it looks like a key.
pub(crate) fn check_place((how, place): &SecretPlace) -> Result<(), EditRefusal> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_variable = !place.is_empty() && place.len() <= 100 && place.chars().all(is_name);
    let Some(what) = key_place(how) else {
        return Err(EditRefusal::usage(
            "it is not clear where the key is",
            "a key is found by env, file or keyring",
            "name one of them",
        ));
    };
    let looks_like_key = looks_like_key(place);
    if looks_like_key || (how == "env" && !is_variable) {
        let why = if looks_like_key {
            words::looks_like_a_key(&format!("what was given as the {what}"))
        } else {
            format!("the given {what} is not valid")
        };
        return Err(EditRefusal::usage(
            KEY_NOT_TAKEN,
            format!("{why}; {KEYS_ARE_NOT_WRITTEN}"),
            format!(
                "put the key where only you can read it, and give the {what}{}",
                if how == "env" {
                    ", such as ANTHROPIC_API_KEY"
                } else {
                    ""
                }
            ),
        ));
    }
    Ok(())
}

/// Whether a text is likely to be a key, and not the place of one.
fn looks_like_key(text: &str) -> bool {
    holds_a_secret(text) || looks_random(text)
}

/// Whether a name without any separator mixes digits and both cases as keys do.
fn looks_random(place: &str) -> bool {
    let parts = place.split(|c: char| !c.is_ascii_alphanumeric());
    parts.into_iter().any(|part| {
        let has = |is: fn(&char) -> bool| part.chars().any(|c| is(&c));
        part.len() >= 20
            && has(char::is_ascii_digit)
            && has(char::is_ascii_lowercase)
            && has(char::is_ascii_uppercase)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(how: &str, place: &str) -> SecretPlace {
        (how.to_owned(), place.to_owned())
    }

    #[test]
    fn a_key_in_the_place_of_its_name_is_refused_and_not_repeated() {
        let keys = [
            format!("sk-ant-{}", "api03-CANARYCANARYCANARY"),
            format!("sk-{}", "proj-CANARYCANARYCANARYCANARY"),
            "aB3dE5gH7jK9mN1pQ3sT5vW7".to_owned(),
        ];
        for key in &keys {
            for how in ["env", "file", "keyring"] {
                let refused = check_place(&place(how, key)).unwrap_err();
                assert_eq!(refused.grade, Grade::Usage);
                let said = format!("{refused:?}");
                assert!(said.contains("looks like a key"), "{said}");
                assert!(!said.contains(key.as_str()), "{said}");
            }
        }
        let refused = check_place(&place("env", "my key")).unwrap_err();
        assert!(refused.why.contains("is not valid"), "{refused:?}");
        for (how, fits) in [
            ("env", "ANTHROPIC_API_KEY"),
            ("env", "OPENAI_KEY_2"),
            ("file", "~/.keys/anthropic"),
            ("keyring", "anthropic"),
        ] {
            assert_eq!(check_place(&place(how, fits)), Ok(()), "{fits}");
        }
    }
}
