//! What is configured, in pages for programs and for the operator's page; never a secret.

use std::path::Path;

use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::fact::turn::Usage;
use a_society_facts::words::capital;
use a_society_facts::words::permissions::mode_means;
use a_society_state::Store;
use serde_json::{Value, json};

use crate::config::catalogue::{self, Catalogue};
use crate::config::editing::models::KeyState;
use crate::config::editing::{Sheet, policies, rules, search, servers};
use crate::config::models::ModelSpec;
use crate::config::servers::{Roster, ServerStanding, lists_in};
use crate::config::user::{self, ConfigBounds, ConsentConfig, ToolReach};
use crate::config::workspace;
use crate::project::place::{NameUses, in_words, models_named, servers_named, workspace_of};

/// The models with whence they come, and the version of the file that says so.
#[must_use]
pub fn models(store: &Store) -> Value {
    let named_by = models_named(store.ground().disk.as_ref(), workspace_of(store));
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
            row.insert(
                "named_by".to_owned(),
                json!(named_by.get(name).map(in_words)),
            );
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
            "key_missing": KeyState::of(&catalog, &provider.name).missing(),
        })
    });
    let providers: Vec<Value> = providers.collect();
    json!({
        "file": sheet.path,
        "version": sheet.version(),
        "models": models,
        "providers": providers,
        "search": search_service(&sheet),
    })
}

/// Who answers `web_search`, and whether its key is there.
fn search_service(sheet: &Sheet) -> Value {
    match search::service(sheet) {
        Ok(found) => json!(found.map(|found| {
            json!({
                "endpoint": found.endpoint,
                "key": found.key,
                "key_missing": found.missing,
            })
        })),
        Err(refusal) => json!({ "fault": refusal.why }),
    }
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
        "prices": typed_prices(spec),
    })
}

/// The models that are known, with where their makers answer for them.
#[must_use]
pub fn catalogue() -> Value {
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

/// What of the operator's own servers can be changed, by their names, and the version of the file that says so.
fn own_servers(page: &mut Value) {
    let Ok(sheet) = Sheet::read() else { return };
    let specs = servers::servers(&sheet).unwrap_or_default();
    let own = specs
        .iter()
        .map(|spec| (spec.name.clone(), servers::described(spec)));
    let own: serde_json::Map<String, Value> = own.collect();
    if let Value::Object(page) = page {
        page.insert("version".to_owned(), json!(sheet.version()));
        page.insert("file".to_owned(), json!(sheet.path));
        page.insert("own".to_owned(), Value::Object(own));
    }
}

/// The rules about calls, each with where it is written.
fn rules_beforehand(root: &Path) -> Value {
    let read = Sheet::read().and_then(|sheet| {
        let said = rules::said(&sheet, Some(root))?;
        Ok((sheet, said))
    });
    let (sheet, said) = match read {
        Ok(read) => read,
        Err(refusal) => return json!({ "fault": refusal.why }),
    };
    let of = |config: &ConsentConfig| {
        json!({
            "mode": config.mode,
            "allow": config.rules.allow,
            "deny": config.rules.deny,
        })
    };
    json!({
        "file": sheet.path,
        "version": sheet.version(),
        "own": of(&said.own),
        "workspace": of(&said.workspace),
        "workspace_file": workspace::path(root),
    })
}

/// The prices of a model as they would be typed.
fn typed_prices(spec: &ModelSpec) -> Option<String> {
    let prices = spec.price.as_ref().map(catalogue::typed)?;
    let cached = [prices.cache_read, prices.cache_write];
    let cached = cached.map(|price| price.unwrap_or_else(|| prices.input.clone()));
    Some([prices.input, prices.output, cached.join(",")].join(","))
}

/// The MCP servers of the operator and of a workspace, with what of them can be changed.
#[must_use]
pub fn servers(store: &Store) -> Value {
    let (disk, root) = (store.ground().disk.as_ref(), workspace_of(store));
    let mut page = match Roster::read(&lists_in(root)) {
        Ok(roster) => servers_json(&roster, &servers_named(disk, root)),
        Err(error) => json!({ "servers": [], "missing": [], "faults": [error.to_string()] }),
    };
    own_servers(&mut page);
    page
}

/// All servers, each with who names it.
#[must_use]
pub fn servers_json(roster: &Roster, named: &NameUses) -> Value {
    let by = |name: &str| in_words(named.get(name).into_iter().flatten());
    let servers = roster.entries.iter().map(|entry| {
        json!({
            "name": entry.name,
            "from": entry.from,
            "state": standing_word(entry.standing()),
            "definition": entry.definition,
            "does": entry.shown,
            "named_by": by(&entry.name),
        })
    });
    let servers: Vec<_> = servers.collect();
    let missing = named.keys().filter(|name| roster.named(name).is_none());
    let missing = missing.map(|name| json!({ "name": name, "named_by": by(name) }));
    let missing: Vec<_> = missing.collect();
    json!({ "servers": servers, "missing": missing, "faults": roster.faults })
}

/// The state of a server, for programs.
const fn standing_word(standing: ServerStanding) -> &'static str {
    match standing {
        ServerStanding::Own => "own",
        ServerStanding::Approved => "approved",
        ServerStanding::Changed => "changed",
        ServerStanding::Wanted => "wanted",
        ServerStanding::Hidden => "hidden",
    }
}

/// A mode of permissions and what it means.
fn mode(mode: ConsentMode) -> Value {
    json!({ "mode": mode, "words": capital(mode_means(mode)) + "." })
}

/// How far tools reach at most, what the modes of a flow mean, and the rules about calls.
#[must_use]
pub fn permissions(root: &Path) -> Value {
    let tools = match user::reach() {
        Ok(reach) => reach_json(&reach),
        Err(error) => json!({ "fault": error.to_string() }),
    };
    json!({
        "tools": tools,
        "modes": [
            mode(ConsentMode::NoAccess),
            mode(ConsentMode::PartialAccess),
            mode(ConsentMode::FullAccess),
        ],
        "rules": rules_beforehand(root),
        "policies": said_for_all(),
        "usual_mode": ConsentMode::default(),
    })
}

/// What the operator says for all flows beside the rules.
fn said_for_all() -> Value {
    let said = Sheet::read().and_then(|sheet| policies::said(&sheet));
    let limits = |bounds: &ConfigBounds| {
        json!({
            "tokens": bounds.tokens,
            "answers": bounds.answers,
            "same_call": bounds.same_call,
        })
    };
    match said {
        Err(refusal) => json!({ "fault": refusal.why }),
        Ok(said) => json!({
            "scope": said.reach.scope.word(),
            "folders": said.reach.folders,
            "network": said.reach.network,
            "limits": limits(&said.limits),
            "usual_limits": limits(&ConfigBounds::default()),
            "notify": said.notify.map(|notify| json!({
                "command": notify.command,
                "on": notify.on.iter().map(|one| one.word()).collect::<Vec<_>>(),
            })),
        }),
    }
}

/// How far tools reach.
#[must_use]
pub fn reach_json(reach: &ToolReach) -> Value {
    json!({
        "scope": reach.scope.word(),
        "folders": reach.folders,
        "network": reach.reaches_network(),
    })
}
