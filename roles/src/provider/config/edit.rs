//! Changing a configuration as a person would: lines are put in, and everything else stays as it
//! was written, comments included.

use super::{KeySource, ModelsConfig, ProviderConfig, TextFault, parse};

/// The provider of a model that is to be added: a new one, or one that is there already.
#[derive(Debug, Clone)]
pub struct NewProvider {
    /// Its name.
    pub name: String,
    /// Its wire, by its word; nothing is added without one.
    pub wire: Option<String>,
    /// Its address, if it is not the wire's home.
    pub base_url: Option<String>,
    /// How its key is found: `env`, `file` or `keyring`, and where.
    pub key: Option<(String, String)>,
}

/// A model that is to be added.
#[derive(Debug, Clone)]
pub struct NewModel {
    /// Its name.
    pub name: String,
    /// Its provider's name.
    pub provider: String,
    /// Its name with its provider.
    pub id: String,
    /// The tokens that it reads at most.
    pub window: u64,
    /// The tokens of one answer.
    pub max_output: Option<u64>,
    /// Whether it gets the images that it reads.
    pub images: bool,
    /// Prices for a million tokens in and out, as they were typed.
    pub prices: Option<(String, String)>,
}

/// Why a configuration cannot be changed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditFault {
    /// It was faulty before.
    Faulty(Vec<TextFault>),
    /// There is something of that name.
    Taken(String),
    /// The provider is there already, and not as it is said to be.
    Differs {
        /// Its name.
        provider: String,
        /// What the configuration says instead.
        has: String,
    },
    /// The text is laid out so that the lines cannot be put in; these would have to be.
    ByHand(String),
}

/// The configuration with a provider, if one is given, and a model more. The first model is the
/// default one.
///
/// # Errors
///
/// When it is faulty, the name is taken, or the text is laid out otherwise.
pub fn with_model(
    text: &str,
    provider: Option<&NewProvider>,
    model: &NewModel,
) -> Result<String, EditFault> {
    let before = parse(text).map_err(EditFault::Faulty)?;
    if before.models.contains_key(&model.name) {
        return Err(EditFault::Taken(model.name.clone()));
    }
    let mut after = text.to_owned();
    let mut added = String::new();
    if let Some(provider) = provider {
        match (before.providers.get(&provider.name), &provider.wire) {
            (Some(there), _) => agrees(there, provider)?,
            (None, Some(wire)) => {
                let lines = provider_lines(provider, wire);
                added.extend([format!("providers:\n{lines}")]);
                after = put_under(&after, "providers", &lines);
            }
            (None, None) => {}
        }
    }
    let lines = model_lines(model);
    added.extend([format!("models:\n{lines}")]);
    after = put_under(&after, "models", &lines);
    if before.model.is_none() {
        after = with_line(&after, "model", &quoted(&model.name));
    }
    match parse(&after) {
        Ok(now) if now.models.contains_key(&model.name) && keeps(&before, &now) => Ok(after),
        Ok(_) | Err(_) if faults_are_new(&after) => {
            Err(EditFault::Faulty(parse(&after).err().unwrap_or_default()))
        }
        Ok(_) | Err(_) => Err(EditFault::ByHand(added)),
    }
}

/// The configuration with another default model.
///
/// # Errors
///
/// When it is faulty, or the text is laid out otherwise.
pub fn with_default(text: &str, name: &str) -> Result<String, EditFault> {
    parse(text).map_err(EditFault::Faulty)?;
    let after = with_line(text, "model", &quoted(name));
    match parse(&after) {
        Ok(now) if now.model.as_deref() == Some(name) => Ok(after),
        Ok(_) => Err(EditFault::ByHand(format!("model: {}\n", quoted(name)))),
        Err(faults) => Err(EditFault::Faulty(faults)),
    }
}

/// Refuses what is said of a provider that the configuration has otherwise: requests, and the key with
/// them, would go where nobody meant them to.
fn agrees(there: &ProviderConfig, said: &NewProvider) -> Result<(), EditFault> {
    let differs = |has: String| {
        Err(EditFault::Differs {
            provider: said.name.clone(),
            has,
        })
    };
    if said
        .wire
        .as_ref()
        .is_some_and(|wire| *wire != there.wire.word())
    {
        return differs(format!("the wire {}", there.wire.word()));
    }
    if said
        .base_url
        .as_ref()
        .is_some_and(|url| url.trim_end_matches('/') != there.base_url)
    {
        return differs(format!("the base-url {}", there.base_url));
    }
    let is_there = |(how, place): &(String, String)| match &there.key {
        Some(KeySource::Env(name)) => how == "env" && place == name,
        Some(KeySource::Keyring(name)) => how == "keyring" && place == name,
        Some(KeySource::File(path)) => how == "file" && std::path::Path::new(place) == path,
        None => false,
    };
    if said.key.as_ref().is_some_and(|key| !is_there(key)) {
        return differs(match &there.key {
            Some(key) => format!("its key in {key}"),
            None => "no key".to_owned(),
        });
    }
    Ok(())
}

/// Whether what was there is still there.
fn keeps(before: &ModelsConfig, now: &ModelsConfig) -> bool {
    let models = before.models.iter();
    let mut providers = before.providers.iter();
    models
        .clone()
        .all(|(name, spec)| now.models.get(name) == Some(spec))
        && providers.all(|(name, spec)| now.providers.get(name) == Some(spec))
}

/// Whether a text is a configuration with faults of its own, and not merely no YAML.
fn faults_are_new(text: &str) -> bool {
    parse(text).is_err_and(|faults| {
        !faults
            .iter()
            .any(|fault| fault.message.contains("not valid YAML"))
    })
}

fn provider_lines(new: &NewProvider, wire: &str) -> String {
    let mut lines = format!("  {}:\n    wire: {wire}\n", new.name);
    if let Some(url) = &new.base_url {
        lines.extend([format!("    base-url: {}\n", quoted(url))]);
    }
    if let Some((how, place)) = &new.key {
        lines.extend([format!("    key: {{ {how}: {} }}\n", quoted(place))]);
    }
    lines
}

fn model_lines(new: &NewModel) -> String {
    let mut lines = format!(
        "  {}:\n    provider: {}\n    id: {}\n",
        new.name,
        new.provider,
        quoted(&new.id)
    );
    lines.extend([format!("    window: {}\n", new.window)]);
    if let Some(max_output) = new.max_output {
        lines.extend([format!("    max-output: {max_output}\n")]);
    }
    if new.images {
        lines.push_str("    images: true\n");
    }
    if let Some((input, output)) = &new.prices {
        lines.extend([format!(
            "    price: {{ input: {input}, output: {output} }}\n"
        )]);
    }
    lines
}

/// A text as YAML reads it back, whatever it holds. JSON's strings are YAML's, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Puts lines under a key at the left margin, which is added at the end if it is not there.
fn put_under(text: &str, key: &str, lines: &str) -> String {
    let head = format!("{key}:");
    let mut out = String::with_capacity(text.len() + lines.len());
    let mut is_put = false;
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        let rest = line.strip_prefix(&head).map(str::trim);
        if !is_put && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#')) {
            out.push_str(lines);
            is_put = true;
        }
    }
    if !is_put {
        out.extend([format!("{head}\n{lines}")]);
    }
    out
}

/// Sets a key at the left margin that holds one value.
fn with_line(text: &str, key: &str, value: &str) -> String {
    let head = format!("{key}:");
    let line = format!("{head} {value}");
    let mut is_set = false;
    let mut lines: Vec<String> = Vec::new();
    for old in text.lines() {
        if old.starts_with(&head) && !is_set {
            is_set = true;
            lines.push(line.clone());
        } else {
            lines.push(old.to_owned());
        }
    }
    if !is_set {
        lines.push(line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> NewProvider {
        NewProvider {
            name: "local".into(),
            wire: Some("openai-chat".into()),
            base_url: Some("http://127.0.0.1:1234/v1".into()),
            key: Some(("env".into(), "LOCAL_KEY".into())),
        }
    }

    fn model(name: &str) -> NewModel {
        NewModel {
            name: name.into(),
            provider: "local".into(),
            id: "a: \"b\" #c".into(),
            window: 10_000,
            max_output: Some(100),
            images: false,
            prices: Some(("0.5".into(), "2".into())),
        }
    }

    #[test]
    fn a_model_is_added_to_nothing_and_is_the_default_one() {
        let text = with_model("", Some(&provider()), &model("small")).unwrap();
        let catalog = parse(&text).unwrap();
        assert_eq!(catalog.model.as_deref(), Some("small"));
        assert_eq!(catalog.models["small"].id, "a: \"b\" #c");
        assert_eq!(catalog.models["small"].price.unwrap().input, 500_000);
    }

    #[test]
    fn what_was_there_stays_as_it_was_written() {
        let text = with_model("", Some(&provider()), &model("small")).unwrap();
        let text = format!("# mine\n{text}mcp-servers: {{}}   # later\n");
        let more = with_model(&text, Some(&provider()), &model("big")).unwrap();
        for line in text.lines() {
            assert!(more.contains(line), "{line}");
        }
        assert_eq!(parse(&more).unwrap().models.len(), 2);
        assert_eq!(parse(&more).unwrap().model.as_deref(), Some("small"));
    }

    #[test]
    fn a_name_that_is_taken_and_a_file_that_is_faulty_are_left_alone() {
        let text = with_model("", Some(&provider()), &model("small")).unwrap();
        let again = with_model(&text, None, &model("small"));
        assert_eq!(again, Err(EditFault::Taken("small".into())));
        let faulty = with_model("models: 3\n", None, &model("small"));
        assert!(matches!(faulty, Err(EditFault::Faulty(_))), "{faulty:?}");
    }

    #[test]
    fn a_file_in_another_layout_is_left_to_its_owner() {
        let text = "models: { }\nproviders: { local: { wire: openai-chat } }\n";
        let edited = with_model(text, None, &model("small"));
        assert!(matches!(edited, Err(EditFault::ByHand(_))), "{edited:?}");
    }

    #[test]
    fn the_default_is_replaced_in_its_place() {
        let text = with_model("", Some(&provider()), &model("small")).unwrap();
        let text = with_model(&text, None, &model("big")).unwrap();
        let text = with_default(&text, "big").unwrap();
        assert_eq!(text.matches("\nmodel:").count(), 1);
        assert!(with_default(&text, "none").is_err());
    }
}
