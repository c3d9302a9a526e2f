//! Small texts of the feed that are put together from numbers and names.

use crate::fact::turn::Usage;
use crate::handoff::{Delivery, HandoffWay};
use crate::words::handoffs::WORK_ENDS_HERE;
use crate::words::{capital, tokens};

/// What a turn cost, after how it ended.
pub(super) fn turn_summary(end: &str, usage: &Usage) -> String {
    let cached = match usage.cache_read_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", tokens(cached)),
    };
    let context = match usage.context_tokens {
        0 => String::new(),
        context => format!(" · context {}", tokens(context)),
    };
    let (input, output) = (
        tokens(usage.all_input_tokens()),
        tokens(usage.output_tokens),
    );
    let why = if end.is_empty() {
        String::new()
    } else {
        format!("{end} · ")
    };
    format!("{why}{input} in{cached}, {output} out{context}")
}

/// Whether a call ends its turn. Its result is an item: the handoff, or the question.
pub(super) fn ends_a_turn(tool: &str) -> bool {
    matches!(tool, "handoff" | "ask_operator")
}

/// Where artifacts went, one line each.
pub(super) fn deliveries(deliveries: &[Delivery]) -> String {
    if deliveries.is_empty() {
        return capital(WORK_ENDS_HERE) + ".";
    }
    let line = |delivery: &Delivery| {
        let back = match delivery.way {
            HandoffWay::Forward => "",
            HandoffWay::Backward => " (back)",
        };
        format!("{} → {}{back}", delivery.artifact.path, delivery.receiver())
    };
    deliveries.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_turn_failed_stands_apart_from_what_it_cost() {
        let usage = Usage {
            output_tokens: 625,
            ..Usage::default()
        };
        assert_eq!(turn_summary("", &usage), "0 in, 625 out");
        assert_eq!(
            turn_summary("the disk is full", &usage),
            "the disk is full · 0 in, 625 out"
        );
    }
}
