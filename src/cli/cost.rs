//! What a flow cost, by role and in all.

use std::collections::BTreeMap;

use a_society_facts::fact::budget::Measure;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::{Account, FlowState, Spent};
use serde_json::{Value, json};

use super::table::Cell;
use crate::text::{money, plain, tokens};

/// Tokens and money in a few words, where there are any.
pub(crate) fn in_short(account: &Account) -> Vec<String> {
    let Spent {
        tokens: all,
        cost_micros,
        ..
    } = account.spent;
    let all = (all > 0).then(|| format!("{} tokens", tokens(all)));
    let limit = account.limits.get(&Measure::CostMicros);
    let cost = match limit {
        Some(limit) => Some(format!("{} of {}", money(cost_micros), money(*limit))),
        None => (cost_micros > 0).then(|| money(cost_micros)),
    };
    all.into_iter().chain(cost).collect()
}

/// A row for each role that a model took, and one for all of them, under their heads. Nothing where no
/// model was asked.
pub(crate) fn rows(state: &FlowState, models: &BTreeMap<RoleInstance, String>) -> Vec<Vec<Cell>> {
    limited_rows(state, models, |_| String::new())
}

/// The same with what may be spent.
pub(crate) fn rows_with_budgets(
    state: &FlowState,
    models: &BTreeMap<RoleInstance, String>,
) -> Vec<Vec<Cell>> {
    limited_rows(state, models, budget)
}

fn limited_rows(
    state: &FlowState,
    models: &BTreeMap<RoleInstance, String>,
    budget: fn(&Account) -> String,
) -> Vec<Vec<Cell>> {
    let roles = state.role_accounts.iter();
    let mut roles: Vec<(&RoleInstance, &Account)> = roles
        .filter(|(_, account)| account.spent.tokens > 0)
        .collect();
    if roles.is_empty() {
        return Vec::new();
    }
    roles.sort_by_key(|(role, _)| (*role).clone());
    let heads = [
        "ROLE", "MODEL", "TURNS", "IN", "OUT", "CACHED", "COST", "BUDGET",
    ];
    let mut rows = vec![heads.map(Cell::from).to_vec()];
    let model = |role: &RoleInstance| {
        let model = models.get(role);
        model.map_or_else(String::new, |model| plain(model).into_owned())
    };
    rows.extend(
        roles
            .iter()
            .map(|(role, account)| row(role.as_str(), model(role), budget(account), account)),
    );
    let whole = budget(&state.account);
    if roles.len() > 1 || !whole.is_empty() {
        rows.push(row("all", String::new(), whole, &state.account));
    }
    // A column that says nothing is left out.
    let empty = |column: usize| rows.iter().skip(1).all(|row| row[column].is_blank());
    let kept: Vec<bool> = (0..heads.len()).map(|column| !empty(column)).collect();
    let keep = |row: Vec<Cell>| {
        let cells = row.into_iter().zip(&kept);
        cells
            .filter(|(_, kept)| **kept)
            .map(|(cell, _)| cell)
            .collect()
    };
    rows.into_iter().map(keep).collect()
}

fn row(name: &str, model: String, budget: String, account: &Account) -> Vec<Cell> {
    let spent = &account.spent;
    let input = spent.tokens.saturating_sub(spent.output_tokens);
    let known = |number: u64, words: fn(u64) -> String| match number {
        0 => String::new(),
        number => words(number),
    };
    vec![
        name.into(),
        model.into(),
        spent.turns.to_string().into(),
        tokens(input).into(),
        tokens(spent.output_tokens).into(),
        known(spent.cached_tokens, tokens).into(),
        known(spent.cost_micros, money).into(),
        budget.into(),
    ]
}

/// What may be spent, in money if that is limited.
fn budget(account: &Account) -> String {
    let limit = |measure| account.limits.get(&measure).copied();
    let cost = limit(Measure::CostMicros).map(money);
    let of_tokens = |most| format!("{} tokens", tokens(most));
    let limit = cost.or_else(|| limit(Measure::Tokens).map(of_tokens));
    limit.unwrap_or_default()
}

/// The same for programs.
pub(crate) fn as_json(state: &FlowState) -> Value {
    let one = |account: &Account| {
        let spent = &account.spent;
        json!({
            "turns": spent.turns,
            "requests": spent.requests,
            "input": spent.tokens.saturating_sub(spent.output_tokens),
            "output": spent.output_tokens,
            "cached": spent.cached_tokens,
            "cost_micros": spent.cost_micros,
            "limits": account.limits,
        })
    };
    let roles = state.role_accounts.iter();
    let roles: serde_json::Map<_, _> = roles
        .map(|(role, account)| (role.to_string(), one(account)))
        .collect();
    json!({ "all": one(&state.account), "roles": roles })
}
