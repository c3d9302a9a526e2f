//! Small texts of the feed that are put together from numbers and names.

use crate::fact::turn::Usage;
use crate::handoff::{Delivery, Way};

/// What a turn cost, after how it ended.
pub(super) fn turn_summary(end: &str, usage: &Usage) -> String {
    let input = usage.all_input_tokens();
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
