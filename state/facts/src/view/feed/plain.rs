//! Small texts of the feed that are put together from numbers and names.

use crate::fact::turn::Usage;
use crate::handoff::{Delivery, Way};

/// Adds what one answer cost.
pub(super) fn add(sum: &mut Usage, more: &Usage) {
    sum.input_tokens = sum.input_tokens.saturating_add(more.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(more.output_tokens);
    sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(more.cache_read_tokens);
    sum.cache_write_tokens = sum
        .cache_write_tokens
        .saturating_add(more.cache_write_tokens);
    sum.context_tokens = more.window_tokens();
    sum.cost_micros = sum.cost_micros.saturating_add(more.cost_micros);
}

/// What a turn cost, after how it ended.
pub(super) fn turn_summary(end: &str, usage: &Usage) -> String {
    let input = usage
        .input_tokens
        .saturating_add(usage.cache_read_tokens)
        .saturating_add(usage.cache_write_tokens);
    let cached = match usage.cache_read_tokens {
        0 => String::new(),
        cached => format!(", of which {cached} cached"),
    };
    let window = match usage.context_tokens {
        0 => String::new(),
        context => format!("; the window holds {context}"),
    };
    format!(
        "{end} {input} tokens in{cached}, {} out{window}.",
        usage.output_tokens
    )
    .trim_start()
    .to_owned()
}

/// Where artifacts went, one line each.
pub(super) fn deliveries(deliveries: &[Delivery]) -> String {
    if deliveries.is_empty() {
        return "The work ends here; nothing is handed on.".to_owned();
    }
    let line = |delivery: &Delivery| {
        let back = match delivery.way {
            Way::Forward => "",
            Way::Backward => " (back)",
        };
        format!(
            "→ {}{back}: {}",
            delivery.receiver(),
            delivery.artifact.path
        )
    };
    deliveries.iter().map(line).collect::<Vec<_>>().join("\n")
}
