//! The operator's configuration for the page: what it says, and what is changed in it.

use std::collections::BTreeMap;

use a_society_facts::fact::turn::Usage;
use a_society_operator_ui::protocol::ask::ModelChoice;
use a_society_operator_ui::protocol::down::Fault;
use a_society_operator_ui::protocol::settings::{
    ModelRemoval, ModelWish, Setting, SettingChange, SettingDone, Trial, Tried,
};
use a_society_orchestrator::config::catalogue::Catalogue;
use a_society_orchestrator::config::editing::models::{
    Changes, KeyState, NewOne, NewPrices, Removal, added, changed, prices, removed, with_usual,
};
use a_society_orchestrator::config::editing::{Refusal, Sheet};
use a_society_orchestrator::config::models::{Catalog, ModelSpec, try_out};
use a_society_orchestrator::config::user;
use serde_json::{Value, json};

use super::super::models::figures;

/// The models as roles may be given them. Without a configuration there are none.
pub(super) fn choices() -> Vec<ModelChoice> {
    let Ok((_, catalog)) = user::catalog() else {
        return Vec::new();
    };
    let models = catalog.models.iter().map(|(name, spec)| ModelChoice {
        name: name.clone(),
        words: format!("{}, a window of {} tokens", spec.id, spec.window_tokens),
        window_tokens: spec.window_tokens,
    });
    models.collect()
}

/// What roles name, by the name of the model: each with its project.
pub(super) type NamedBy = BTreeMap<String, Vec<String>>;

/// The models with whence they come, and the version of the file that says so.
pub(super) fn models(named_by: &NamedBy) -> Value {
    let sheet = match Sheet::read() {
        Ok(sheet) => sheet,
        Err(refusal) => return json!({ "models": [], "version": "", "fault": refusal.why }),
    };
    let catalog = match sheet.catalog() {
        Ok(catalog) => catalog,
        Err(refusal) => {
            return json!({ "models": [], "version": sheet.version(), "fault": refusal.why });
        }
    };
    let models = catalog.models.iter().map(|(name, spec)| {
        let mut row = model(spec);
        if let Value::Object(row) = &mut row {
            row.insert(
                "usual".to_owned(),
                json!(catalog.model.as_ref() == Some(name)),
            );
            row.insert("named_by".to_owned(), json!(named_by.get(name)));
        }
        row
    });
    let models: Vec<Value> = models.collect();
    let providers = catalog.providers.values().map(|provider| {
        json!({
            "name": provider.name,
            "wire": provider.wire.word(),
            "address": provider.base_url,
            // From where, never what.
            "key": provider.key.as_ref().map(ToString::to_string),
            "key_missing": missing(&catalog, &provider.name),
        })
    });
    let providers: Vec<Value> = providers.collect();
    json!({ "file": sheet.path, "version": sheet.version(), "models": models, "providers": providers })
}

fn model(spec: &ModelSpec) -> Value {
    let price = spec.price.as_ref();
    let million = |input_tokens, output_tokens| Usage {
        input_tokens,
        output_tokens,
        ..Default::default()
    };
    json!({
        "name": spec.name,
        "provider": spec.provider,
        "id": spec.id,
        "window_tokens": spec.window_tokens,
        "max_output_tokens": spec.max_output_tokens,
        "images": spec.images,
        "effort": spec.effort.map(|effort| effort.word()),
        "input_micros": price.map(|price| price.of(&million(1_000_000, 0))),
        "output_micros": price.map(|price| price.of(&million(0, 1_000_000))),
        "prices": figures::typed_prices(spec),
    })
}

fn missing(catalog: &Catalog, provider: &str) -> Option<String> {
    match KeyState::of(catalog, provider) {
        KeyState::Missing(_, why) => Some(why),
        KeyState::None | KeyState::Found(_) => None,
    }
}

/// The models that are known, with where their makers answer for them.
pub(super) fn catalogue() -> Value {
    let catalogue = Catalogue::shipped().unwrap_or_default();
    let models = catalogue.models().map(|known| {
        let mut row = model(known.model);
        if let Value::Object(row) = &mut row {
            let key = known.provider.key.as_ref().map(|key| key.parts().1);
            row.insert("wire".to_owned(), json!(known.provider.wire.word()));
            row.insert("address".to_owned(), json!(known.provider.base_url));
            row.insert("key_env".to_owned(), json!(key));
        }
        row
    });
    let models: Vec<Value> = models.collect();
    json!({ "as_of": catalogue.as_of, "models": models })
}

/// Changes what is configured, as the terminal's own commands do.
pub(super) fn configure(setting: &Setting) -> Result<SettingDone, Fault> {
    change(setting).map_err(fault)
}

fn change(setting: &Setting) -> Result<SettingDone, Refusal> {
    let sheet = Sheet::as_seen(&setting.version)?;
    let (text, words, notes) = match &setting.change {
        SettingChange::AddModel(wish) => add_model(&sheet, wish)?,
        SettingChange::EditModel(wish) => {
            let done = changed(&sheet, &wish.name, &changes(wish)?)?;
            (done.text, format!("{} is changed", wish.name), Vec::new())
        }
        SettingChange::RemoveModel(removal) => remove_model(&sheet, removal)?,
        SettingChange::UseModel(name) => {
            let text = with_usual(&sheet, name)?;
            (
                text,
                format!("roles that name no model use {name}"),
                Vec::new(),
            )
        }
    };
    if !setting.look {
        sheet.save(&text)?;
    }
    let version = Sheet { text, ..sheet }.version();
    Ok(SettingDone {
        words,
        notes,
        version,
    })
}

type Done = (String, String, Vec<String>);

fn add_model(sheet: &Sheet, wish: &ModelWish) -> Result<Done, Refusal> {
    let catalogue = Catalogue::shipped().unwrap_or_default();
    let new = NewOne {
        name: wish.name.clone(),
        id: wish.id.clone(),
        provider: wish.provider.clone(),
        wire: wish.wire.clone(),
        base_url: wish.base_url.clone(),
        key: place(wish),
        window: wish.window,
        max_output: wish.max_output,
        images: wish.images.unwrap_or_default(),
        prices: typed(wish)?,
    };
    let done = added(sheet, &catalogue, &new)?;
    let mut notes = Vec::new();
    if let Some(why) = missing(&done.config, &done.provider) {
        notes.push(why);
    }
    if done.config.model.as_ref() == Some(&wish.name) {
        notes.push("roles that name no model use it".to_owned());
    }
    Ok((done.text, format!("{} is added", wish.name), notes))
}

fn remove_model(sheet: &Sheet, removal: &ModelRemoval) -> Result<Done, Refusal> {
    let how = Removal {
        default: removal.default.as_deref(),
        with_provider: removal.provider,
    };
    let done = removed(sheet, &removal.name, how)?;
    let mut notes = Vec::new();
    if done.comment_stays {
        let note = "the comment above it in the file is still there; it may be about the model";
        notes.push(note.to_owned());
    }
    Ok((done.text, format!("{} is removed", removal.name), notes))
}

fn changes(wish: &ModelWish) -> Result<Changes, Refusal> {
    Ok(Changes {
        id: wish.id.clone(),
        window: wish.window,
        max_output: wish.max_output,
        images: wish.images,
        thinking: None,
        effort: wish.effort.clone(),
        prices: typed(wish)?,
        key: place(wish),
    })
}

fn place(wish: &ModelWish) -> Option<(String, String)> {
    let key = wish.key.as_ref()?;
    Some((key.from.clone(), key.name.clone()))
}

fn typed(wish: &ModelWish) -> Result<Option<NewPrices>, Refusal> {
    let read = |text: &String| {
        prices(text).map_err(|why| {
            Refusal::usage(
                "these are no prices",
                why,
                "leave them out if they are not known",
            )
        })
    };
    wish.prices.as_ref().map(read).transpose()
}

/// Tries out what is configured.
pub(super) fn trial(trial: &Trial) -> Result<Tried, Fault> {
    match trial {
        Trial::Model(name) => {
            let (_, catalog) = user::catalog().map_err(|error| fault(error.into()))?;
            let said = try_out(&catalog, name);
            Ok(Tried {
                works: said.is_ok(),
                words: match said {
                    Ok(trial) => format!(
                        "{name} answers: {} ({} tokens in, {} out)",
                        trial.said, trial.input_tokens, trial.output_tokens
                    ),
                    Err(why) => why,
                },
                offers: Vec::new(),
            })
        }
    }
}

fn fault(refusal: Refusal) -> Fault {
    Fault {
        code: refusal.code.to_owned(),
        what: refusal.what,
        why: refusal.why,
        r#try: refusal.hint,
    }
}
