//! From a role's wish for a model to everything that its taker needs.

use std::sync::{Arc, LazyLock, OnceLock};

use a_society_roles::provider::config::Catalog;
use a_society_roles::provider::http::{Endpoint, HttpProvider, Transport};
use a_society_roles::provider::{Effort, Provider};
use a_society_roles::taker::model::Model;
use a_society_roles::turn::step::End;

use super::user;

/// All providers share one client and its connections.
static TRANSPORT: LazyLock<Arc<Transport>> = LazyLock::new(Arc::default);

/// The models of the operator's configuration, read when one is needed first.
#[derive(Debug, Default)]
pub struct Models {
    catalog: OnceLock<Result<Catalog, String>>,
}

/// What a role wishes for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'a> {
    /// The model, by its name in the configuration.
    pub model: Option<&'a str>,
    /// How hard it is to think.
    pub effort: Option<&'a str>,
}

impl Models {
    /// The model that is wished for, or the default one, and the provider that answers for it.
    ///
    /// # Errors
    /// How a turn ends that has no model to take it.
    pub fn find(&self, wish: Wish<'_>) -> Result<(Arc<dyn Provider>, Model), End> {
        let read = self
            .catalog
            .get_or_init(|| user::catalog().map(|(_, it)| it).map_err(|e| e.to_string()));
        let catalog = read.as_ref().map_err(|why| choose(why.clone()))?;
        let name = wish.model.or(catalog.default_model.as_deref());
        let Some(name) = name else {
            return Err(choose(no_model(catalog)));
        };
        let Some(spec) = catalog.models.get(name) else {
            return Err(choose(format!(
                "there is no model {name:?}; {}",
                no_model(catalog)
            )));
        };
        let effort = match wish.effort {
            None => spec.effort,
            Some(word) => Some(word.parse::<Effort>().map_err(|()| {
                let words = Effort::ALL.map(Effort::word).join(", ");
                choose(format!("there is no effort {word:?}; there are: {words}"))
            })?),
        };
        let provider = provider(catalog, &spec.provider)?;
        let model = Model {
            name: name.to_owned(),
            id: spec.id.clone(),
            window: spec.window,
            max_output: spec.max_output,
            thinking: spec.thinking,
            effort,
            prices: spec.prices,
        };
        Ok((provider, model))
    }
}

fn provider(catalog: &Catalog, name: &str) -> Result<Arc<dyn Provider>, End> {
    let Some(spec) = catalog.providers.get(name) else {
        return Err(choose(format!("there is no provider {name:?}")));
    };
    let key = spec.key.as_ref().map(user::key).transpose();
    let key = key.map_err(|why| End::Provider { why })?;
    let endpoint = Endpoint {
        name: name.to_owned(),
        wire: spec.wire,
        base_url: spec.base_url.clone(),
        key,
        headers: spec.headers.clone(),
        chat: Default::default(),
    };
    let made = HttpProvider::new(endpoint, Arc::clone(&TRANSPORT));
    let made = made.map_err(|fault| End::Provider {
        why: fault.to_string(),
    })?;
    Ok(Arc::new(made))
}

fn choose(why: String) -> End {
    End::Configuration { why }
}

fn no_model(catalog: &Catalog) -> String {
    let names: Vec<&str> = catalog.models.keys().map(String::as_str).collect();
    if names.is_empty() {
        "no model is configured; add one with: a-society models add".to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    }
}

/// A provider of the configuration by its name, for trying it out.
///
/// # Errors
/// How a turn would end that needs it.
pub fn of(catalog: &Catalog, name: &str) -> Result<(Arc<dyn Provider>, Model), End> {
    let models = Models {
        catalog: OnceLock::from(Ok(catalog.clone())),
    };
    models.find(Wish {
        model: Some(name),
        effort: None,
    })
}
