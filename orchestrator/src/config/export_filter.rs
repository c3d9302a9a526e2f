//! What no file that leaves this machine may show: the operator's own keys and secrets, and whatever
//! looks like one.

pub use a_society_base::redact::MARK;
use a_society_base::redact::Redactor;

use super::user;

/// Takes secrets out of texts.
#[derive(Debug)]
pub struct Withheld(Redactor);

impl Withheld {
    /// Knows the keys and secrets of the operator's configuration, as far as they are to be had now,
    /// and the kinds that are known by how they look.
    #[must_use]
    pub fn of_operator() -> Self {
        let mut secrets: Vec<String> = Vec::new();
        if let Ok((_, catalog)) = user::catalog() {
            let keys = catalog.providers.values().filter_map(|it| it.key.as_ref());
            secrets.extend(keys.filter_map(|source| user::key(source).ok()));
        }
        if let Ok(given) = user::given() {
            secrets.extend(given.secrets.into_values());
        }
        if let Ok(Some(service)) = user::search() {
            secrets.push(service.key);
        }
        Self(Redactor::new(&secrets))
    }

    /// The text with every secret blanked out.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.0.redact(text)
    }
}
