//! `models catalogue`: the models that `models add` knows.

use a_society_orchestrator::config::catalogue::{Catalogue, KnownModel};
use serde_json::json;

use super::super::context::Context;
use super::super::table::{self, Cell};
use super::figures;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};

/// The arguments of `models catalogue`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The catalogue is part of the program and was right on the day that it names; prices change, and \
so do models. A model that it does not know works as well, if you say its window and its wire: \
a-society models add MODEL --wire WIRE --window TOKENS

Examples:
  a-society models catalogue
  a-society models catalogue claude
  a-society models catalogue --json | jq '.models[] | select(.members.window >= 1000000) | .id'")]
pub(super) struct Arguments {
    /// Only models whose name or provider contains this
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

/// Lists the known models.
pub(super) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let catalogue = Catalogue::shipped().map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        OperatorError::new(
            ("catalogue-unfit", ExitCode::Failed),
            "the catalogue cannot be read",
            faults.join("\n"),
            "say --window and the prices yourself",
        )
    })?;
    let text = arguments.text.as_deref().unwrap_or_default().to_lowercase();
    let fits = |known: &KnownModel<'_>| {
        known.model.id.contains(&text) || known.provider.name.contains(&text)
    };
    let known: Vec<KnownModel<'_>> = catalogue.models().filter(fits).collect();
    if context.out.is_json() {
        let models = known.iter().map(|known| {
            let provider = known.provider;
            let key = provider.key.as_ref().map(|key| key.parts());
            json!({
                "id": known.model.id,
                "provider": provider.name,
                "wire": provider.wire.word(),
                "address": provider.base_url,
                "key_env": key.map(|(_, name)| name),
                "members": figures::object(known.model),
                "dearer_above": known.dearer_above,
            })
        });
        let models: Vec<_> = models.collect();
        context
            .out
            .value(&json!({ "as_of": catalogue.as_of, "models": models }))?;
        return Ok(ExitCode::Ok);
    }
    if known.is_empty() {
        context.out.line("the catalogue has no such model")?;
        return Ok(ExitCode::Ok);
    }
    let head = ["ID", "PROVIDER", "WINDOW", "OUTPUT", "IN", "OUT", "CACHED"];
    let mut rows: Vec<Vec<Cell>> = vec![head.into_iter().map(Cell::from).collect()];
    for known in &known {
        rows.push(row(known));
    }
    for line in table::lines(&rows) {
        context.out.line(&line)?;
    }
    let note = format!(
        "as of {}; prices in dollars for a million tokens. + costs more in long requests",
        catalogue.as_of
    );
    context.out.note(&note);
    Ok(ExitCode::Ok)
}

fn row(known: &KnownModel<'_>) -> Vec<Cell> {
    let model = known.model;
    let prices = known.prices();
    let price = |of: fn(&a_society_orchestrator::config::editing::models::NewPrices) -> String| {
        prices.as_ref().map_or_else(|| "?".to_owned(), of)
    };
    let dearer = if known.dearer_above.is_some() {
        "+"
    } else {
        ""
    };
    vec![
        model.id.as_str().into(),
        model.provider.as_str().into(),
        model.window_tokens.to_string().into(),
        model.max_output_tokens.to_string().into(),
        format!("{}{dearer}", price(|it| it.input.clone())).into(),
        price(|it| it.output.clone()).into(),
        price(|it| it.cache_read.clone().unwrap_or_else(|| it.input.clone())).into(),
    ]
}
