//! From the last words of a turn to its end.

use a_society_facts::message::ToolCall;

use super::step::TakerEnd;
use crate::handoff::{
    AllowedOutcomes, EndingTool, FaultCode, HandoffFault, OutcomeCall, parse_outcome, read_call,
    words_before_block,
};

/// How a turn ends whose last answer is this.
#[must_use]
pub fn conclude(answer: &str, allowed: &AllowedOutcomes) -> TakerEnd {
    if allowed.answers {
        return TakerEnd::Answered;
    }
    match parse_outcome(answer) {
        Ok(outcome) => TakerEnd::Outcome {
            outcome,
            words: words_before_block(answer).to_owned(),
            choices: Vec::new(),
        },
        Err(fault) => TakerEnd::Fault(fault),
    }
}

/// How a turn ends whose last answer has this text and these calls; nothing if none of them ends it.
/// A block and calls that say the same count once.
#[must_use]
pub fn conclude_called(
    text: &str,
    calls: &[ToolCall],
    allowed: &AllowedOutcomes,
) -> Option<TakerEnd> {
    let mut read = calls.iter().filter_map(|call| {
        let tool = EndingTool::of_name(&call.name)?;
        Some(read_call(tool, call.input.get(), allowed))
    });
    let first = match read.next()? {
        Ok(called) => called,
        Err(fault) => return Some(TakerEnd::Fault(fault)),
    };
    let others: Result<Vec<OutcomeCall>, HandoffFault> = read.collect();
    let others = match others {
        Ok(others) => others,
        Err(fault) => return Some(TakerEnd::Fault(fault)),
    };
    let block = parse_outcome(text).ok();
    let is_other = others.iter().any(|other| *other != first)
        || block.is_some_and(|outcome| outcome != first.outcome);
    if is_other {
        let message = "the message ends the turn in two different ways; end it once";
        let code = FaultCode::InvalidTargetShape;
        return Some(TakerEnd::Fault(HandoffFault::without_place(code, message)));
    }
    let words = first.question;
    Some(TakerEnd::Outcome {
        outcome: first.outcome,
        words: words.unwrap_or_else(|| words_before_block(text).to_owned()),
        choices: first.choices,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::handoff::RoleOutcome;

    fn called(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: name.to_owned(),
            name: name.to_owned(),
            input: RawValue::from_string(arguments.to_owned()).unwrap(),
        }
    }

    fn target(node: &str) -> String {
        format!(r#"{{"targets":[{{"target_node_id":"{node}","artifact_path":"record/x.md"}}]}}"#)
    }

    fn ends(text: &str, calls: &[ToolCall]) -> Option<Result<RoleOutcome, FaultCode>> {
        match conclude_called(text, calls, &AllowedOutcomes::default())? {
            TakerEnd::Outcome { outcome, .. } => Some(Ok(outcome)),
            TakerEnd::Fault(fault) => Some(Err(fault.code)),
            TakerEnd::Answered
            | TakerEnd::OutputLimit
            | TakerEnd::OwnTurn { .. }
            | TakerEnd::Aborted { .. }
            | TakerEnd::Provider { .. }
            | TakerEnd::Configuration { .. } => None,
        }
    }

    #[test]
    fn a_turn_ends_once_by_call_and_block_and_not_in_two_ways() {
        let a = called("handoff", &target("a"));
        let block = "```handoff\ntarget_node_id: a\nartifact_path: record/x.md\n```\n";
        let once = ends("Done.", std::slice::from_ref(&a));
        assert!(matches!(once, Some(Ok(RoleOutcome::Handoff(_)))));
        assert_eq!(ends(block, std::slice::from_ref(&a)), once);
        assert_eq!(
            ends("", &[a.clone(), called("hand_off", &target("a"))]),
            once
        );
        let two = Some(Err(FaultCode::InvalidTargetShape));
        assert_eq!(ends("", &[a.clone(), called("handoff", &target("b"))]), two);
        let other = "```handoff\ntype: await-handoff\n```\n";
        assert_eq!(ends(other, std::slice::from_ref(&a)), two);
        let asks = called("ask_operator", r#"{"question":"Why?"}"#);
        assert_eq!(ends("", &[a, asks]), two);
        assert_eq!(ends("", &[called("read_file", "{}")]), None);
    }
}
