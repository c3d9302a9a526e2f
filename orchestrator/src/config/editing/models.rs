//! Models: added, changed, taken out, and made the default one.

use a_society_roles::config::catalogue::{Catalogue, KnownModel};
pub use a_society_roles::config::edit::{
    ChangedConfig, ModelChanges, ModelToRemove, NewPrices, Removed,
};
use a_society_roles::config::edit::{
    NewModel, NewProvider, with_changes, with_default, with_model, without_model,
};

use super::super::models::Catalog;
use super::super::user;
use super::hint::Hint;
use super::{EditRefusal, SecretPlace, Sheet, check_place};

/// A model that is to be added; absent values come from the catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewOne {
    /// How it is called here.
    pub name: String,
    /// Its name with its provider; its name here if absent.
    pub id: Option<String>,
    /// Its provider, by its name here; if absent the wire's name, or the one of the catalogue.
    pub provider: Option<String>,
    /// How a new provider is spoken to.
    pub wire: Option<String>,
    /// Where a new provider is, if not at the wire's home.
    pub base_url: Option<String>,
    /// Where its key is.
    pub key: Option<SecretPlace>,
    /// The tokens that it reads at most.
    pub window: Option<u64>,
    /// The tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it gets the images that it reads.
    pub images: bool,
    /// Its prices.
    pub prices: Option<NewPrices>,
}

/// A configuration with a model more.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    /// The text.
    pub text: String,
    /// What it says.
    pub config: Catalog,
    /// The model's provider.
    pub provider: String,
    /// Whether the provider is new, too.
    pub is_new: bool,
    /// The members that were taken from the catalogue.
    pub taken: Vec<&'static str>,
}

impl NewOne {
    /// Its name with its provider.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id.as_ref().unwrap_or(&self.name)
    }

    /// The provider that is meant. Absent values of a new one of a known model are its maker's, but the
    /// maker's key goes to no other address.
    fn provider(&self, there: &Catalog, known: Option<KnownModel<'_>>) -> Option<NewProvider> {
        let maker = known.map(|known| known.provider);
        let name = self.provider.as_ref().or(self.wire.as_ref());
        let name = name.or(maker.map(|maker| &maker.name))?.clone();
        let mut new = NewProvider {
            wire: self.wire.clone(),
            base_url: self.base_url.clone(),
            key: self.key.clone(),
            name,
        };
        let is_new = !there.providers.contains_key(&new.name);
        if let Some(maker) = maker.filter(|_| is_new && self.wire.is_none()) {
            new.wire = Some(maker.wire.word().to_owned());
            if self.base_url.is_none() {
                new.base_url =
                    (maker.base_url != maker.wire.home()).then(|| maker.base_url.clone());
                new.key = new.key.or_else(|| {
                    let (how, place) = maker.key.as_ref()?.parts();
                    Some((how.to_owned(), place))
                });
            }
        }
        Some(new)
    }
}

/// What is taken from the catalogue.
#[derive(Debug, Default)]
struct TakenMembers {
    members: Vec<&'static str>,
}

impl TakenMembers {
    fn or<T>(&mut self, said: Option<T>, member: &'static str, known: Option<T>) -> Option<T> {
        if said.is_none() && known.is_some() {
            self.members.push(member);
        }
        said.or(known)
    }
}

/// The configuration with a model more, and its provider if that is new.
///
/// # Errors
/// When a name is invalid, something of it looks like a key, a value is given neither by the catalogue
/// nor by the operator, or it does not fit what is there.
pub fn added(sheet: &Sheet, catalogue: &Catalogue, new: &NewOne) -> Result<Added, EditRefusal> {
    for name in [Some(&new.name), new.provider.as_ref()]
        .into_iter()
        .flatten()
    {
        check_name(name).map_err(no_name)?;
    }
    if let Some(place) = &new.key {
        check_place(place)?;
    }
    let there = sheet.catalog()?;
    let id = new.id();
    let known = catalogue.find(id);
    let Some(provider) = new.provider(&there, known) else {
        return Err(unclear(catalogue, id));
    };
    let mut taken = TakenMembers::default();
    let window = known.map(|known| known.model.window_tokens);
    let Some(window) = taken.or(new.window, "window", window) else {
        return Err(no_window(catalogue, id));
    };
    let max_output = known.map(|known| known.max_output(window));
    let model = NewModel {
        name: new.name.clone(),
        provider: provider.name.clone(),
        id: id.to_owned(),
        window,
        max_output: taken.or(new.max_output, "max_output", max_output),
        images: new.images,
        prices: taken.or(
            new.prices.clone(),
            "prices",
            known.and_then(|known| known.prices()),
        ),
    };
    let text = with_model(&sheet.text, Some(&provider), &model)?;
    let after = Sheet {
        path: sheet.path.clone(),
        text,
    };
    Ok(Added {
        config: after.catalog()?,
        text: after.text,
        is_new: !there.providers.contains_key(&provider.name),
        provider: provider.name,
        taken: taken.members,
    })
}

/// The configuration with members of a model changed.
///
/// # Errors
/// When nothing changes, or it does not fit what is there.
pub fn changed(
    sheet: &Sheet,
    name: &str,
    changes: &ModelChanges,
) -> Result<ChangedConfig, EditRefusal> {
    if changes.is_empty() {
        return Err(EditRefusal::usage(
            "nothing is to be changed",
            "no member of the model was given",
            Hint::Member,
        ));
    }
    if let Some(place) = &changes.key {
        check_place(place)?;
    }
    Ok(with_changes(&sheet.text, name, changes)?)
}

/// The configuration without a model.
///
/// # Errors
/// When there is no such model, or something needs it.
pub fn removed(sheet: &Sheet, name: &str, how: ModelToRemove<'_>) -> Result<Removed, EditRefusal> {
    Ok(without_model(&sheet.text, name, how)?)
}

/// The text with another default model.
///
/// # Errors
/// When there is no such model.
pub fn with_usual(sheet: &Sheet, name: &str) -> Result<String, EditRefusal> {
    Ok(with_default(&sheet.text, name)?)
}

/// Where a provider's key is, and whether it is there; never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// It has none.
    None,
    /// It is there.
    Found(SecretPlace),
    /// It is not to be had, and why.
    Missing(SecretPlace, String),
}

impl KeyState {
    /// Looks for the key of a provider.
    #[must_use]
    pub fn of(catalog: &Catalog, provider: &str) -> Self {
        let found = catalog.providers.get(provider);
        let Some(source) = found.and_then(|it| it.key.as_ref()) else {
            return Self::None;
        };
        let (how, place) = source.parts();
        let place = (how.to_owned(), place);
        match user::key(source) {
            Ok(_) => Self::Found(place),
            Err(why) => Self::Missing(place, why),
        }
    }

    /// Why the key is not to be had, if it is not.
    #[must_use]
    pub fn missing(self) -> Option<String> {
        match self {
            Self::Missing(_, why) => Some(why),
            Self::None | Self::Found(_) => None,
        }
    }

    /// Whether requests can be sent as far as the key is concerned.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        !matches!(self, Self::Missing(..))
    }
}

/// Looks whether a name can be one of a model or a provider.
///
/// # Errors
/// In words.
pub fn check_name(text: &str) -> Result<(), String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/".contains(letter);
    if !text.is_empty() && text.len() <= 100 && text.chars().all(fits) {
        Ok(())
    } else {
        Err("a name has letters, digits and -_.:/, at most 100".to_owned())
    }
}

fn no_name(why: String) -> EditRefusal {
    EditRefusal::usage("this cannot be a name", why, "choose another one")
}

/// Reads `IN,OUT[,CACHE-READ[,CACHE-WRITE]]`.
///
/// # Errors
/// In words.
pub fn prices(text: &str) -> Result<NewPrices, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_price = |text: &&str| {
        let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_plain && text.parse::<f64>().is_ok_and(f64::is_finite)
    };
    let get = |index: usize| parts.get(index).map(|&part| part.to_owned());
    match (get(0), get(1)) {
        (Some(input), Some(output)) if parts.len() <= 4 && parts.iter().all(is_price) => {
            Ok(NewPrices {
                input,
                output,
                cache_read: get(2),
                cache_write: get(3),
            })
        }
        _ => Err(
            "two to four prices with commas between them, such as 3,15 or 3,15,0.3,3.75".to_owned(),
        ),
    }
}

fn unclear(catalogue: &Catalogue, id: &str) -> EditRefusal {
    EditRefusal::usage(
        "it is not clear who answers for the model",
        format!(
            "neither a provider nor a wire was named, and {}",
            unknown(catalogue, id)
        ),
        Hint::Provider,
    )
}

fn no_window(catalogue: &Catalogue, id: &str) -> EditRefusal {
    EditRefusal::usage(
        "it is not known how many tokens the model reads",
        format!("its window was not given, and {}", unknown(catalogue, id)),
        Hint::Window,
    )
}

fn unknown(catalogue: &Catalogue, id: &str) -> String {
    let near = match catalogue.near(id).as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    };
    let as_of = &catalogue.as_of;
    format!("the catalogue of {as_of} does not know {id}{near}")
}
