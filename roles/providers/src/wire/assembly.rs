//! Putting an answer together from its pieces, within its limits, the same for every wire.

use std::collections::BTreeSet;

use a_society_facts::fact::turn::Usage;
use a_society_facts::message::lengthen;
use serde_json::Value;
use serde_json::value::RawValue;

use super::raw::{empty_object, without_lone_surrogates};
use crate::answer::{AnswerStop, CallFault, ModelCall};
use crate::event::StreamEvent;
use crate::limits;

/// Text and calls, as far as they have arrived.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) text: String,
    calls: Vec<ArrivingCall>,
    reasoning_bytes: usize,
    /// Whether the text reached its limit.
    pub(super) is_full: bool,
}

#[derive(Debug, Default)]
struct ArrivingCall {
    provider_id: String,
    name: String,
    arguments: String,
    is_too_long: bool,
}

impl Assembly {
    /// Takes a piece of text.
    pub(super) fn text(&mut self, piece: &str, out: &mut Vec<StreamEvent>) {
        let room = limits::TEXT_BYTES.saturating_sub(self.text.len());
        self.is_full |= piece.len() >= room;
        let piece = &piece[..piece.floor_char_boundary(room)];
        if !piece.is_empty() {
            lengthen(&mut self.text, piece);
            out.push(StreamEvent::Text(piece.to_owned()));
        }
    }

    /// Takes a piece of reasoning. Returns whether there is still room to keep it.
    pub(super) fn reasoning(&mut self, piece: &str, out: &mut Vec<StreamEvent>) -> bool {
        self.reasoning_bytes = self.reasoning_bytes.saturating_add(piece.len());
        if self.reasoning_bytes > limits::REASONING_BYTES {
            return false;
        }
        if !piece.is_empty() {
            out.push(StreamEvent::Reasoning(piece.to_owned()));
        }
        true
    }

    /// Begins a call, and returns its place.
    pub(super) fn begin_call(&mut self, id: &str, name: &str, out: &mut Vec<StreamEvent>) -> usize {
        let at = self.calls.len();
        self.calls.push(ArrivingCall {
            provider_id: id.to_owned(),
            name: name.to_owned(),
            ..ArrivingCall::default()
        });
        out.push(StreamEvent::CallBegun {
            ordinal: ordinal(at),
            name: name.to_owned(),
        });
        at
    }

    /// Takes a piece of a call's arguments.
    pub(super) fn arguments(&mut self, at: usize, piece: &str, out: &mut Vec<StreamEvent>) {
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if call.arguments.len() + piece.len() > limits::ARGUMENTS_BYTES {
            call.is_too_long = true;
        } else if !piece.is_empty() {
            call.arguments.push_str(piece);
            out.push(StreamEvent::CallArguments {
                ordinal: ordinal(at),
                piece: piece.to_owned(),
            });
        }
    }

    /// Puts a call's whole arguments in place of the pieces, if the wire repeats them.
    pub(super) fn whole_arguments(&mut self, at: usize, arguments: &str) {
        if let Some(call) = self.calls.get_mut(at) {
            call.is_too_long = arguments.len() > limits::ARGUMENTS_BYTES;
            if !call.is_too_long {
                arguments.clone_into(&mut call.arguments);
            }
        }
    }

    /// Ends a call.
    pub(super) fn end_call(at: usize, out: &mut Vec<StreamEvent>) {
        out.push(StreamEvent::CallEnded {
            ordinal: ordinal(at),
        });
    }

    /// The name of a call, and the provider's name for it.
    pub(super) fn call_names(&self, at: usize) -> Option<(&str, &str)> {
        let call = self.calls.get(at)?;
        Some((&call.provider_id, &call.name))
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The size of the answer so far, for an estimate.
    pub(super) fn bytes(&self) -> usize {
        let calls = self.calls.iter().map(|call| call.arguments.len());
        self.text.len() + self.reasoning_bytes + calls.sum::<usize>()
    }

    /// The calls at the end of the answer. Unless the answer ended for them, none may run.
    pub(super) fn asked(
        &self,
        stop: &AnswerStop,
        needs_arguments: &BTreeSet<String>,
    ) -> Vec<ModelCall> {
        let counts = *stop == AnswerStop::Tools;
        let asked = self.calls.iter().enumerate().map(|(at, call)| {
            let mut asked = settle(call, needs_arguments);
            if at >= limits::CALLS {
                asked.fault = Some(CallFault::TooMany {
                    limit: limits::CALLS,
                });
            } else if !counts {
                asked.fault = Some(CallFault::CutOff);
            }
            asked
        });
        asked.collect()
    }
}

fn ordinal(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn settle(call: &ArrivingCall, needs_arguments: &BTreeSet<String>) -> ModelCall {
    let (input, fault) = match input_of(call, needs_arguments) {
        Ok(input) => (input, None),
        Err(fault) => (empty_object(), Some(fault)),
    };
    ModelCall {
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        input,
        fault,
    }
}

fn input_of(
    call: &ArrivingCall,
    needs_arguments: &BTreeSet<String>,
) -> Result<Box<RawValue>, CallFault> {
    if call.name.trim().is_empty() {
        return Err(CallFault::NoName);
    }
    if call.is_too_long {
        return Err(CallFault::TooLong {
            limit_bytes: limits::ARGUMENTS_BYTES,
        });
    }
    let arguments = without_lone_surrogates(call.arguments.trim());
    if arguments.is_empty() {
        return if needs_arguments.contains(&call.name) {
            Err(CallFault::NoArguments)
        } else {
            Ok(empty_object())
        };
    }
    let head = || -> String {
        let shown = arguments.chars().take(limits::FAULTY_HEAD_CHARS);
        shown.collect()
    };
    // Read whole, and not only as raw text: what a tool reads must be readable to the end.
    match serde_json::from_str::<Value>(&arguments) {
        Ok(Value::Object(_)) => {}
        Ok(_) => return Err(CallFault::NotAnObject { head: head() }),
        Err(why) => {
            return Err(CallFault::NotJson {
                why: why.to_string(),
                head: head(),
            });
        }
    }
    let raw = RawValue::from_string(arguments.to_string());
    raw.map_err(|why| CallFault::NotJson {
        why: why.to_string(),
        head: head(),
    })
}

/// What a provider counted, in as far as it can be believed. Counts only grow while an answer
/// arrives, so that the highest of each kind is the last.
#[derive(Debug, Default)]
pub(super) struct UsageTally {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    is_absurd: bool,
}

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    /// Input that was not cached.
    Input,
    /// Output.
    Output,
    /// Input from the cache.
    CacheRead,
    /// Input into the cache.
    CacheWrite,
}

impl UsageTally {
    /// Takes a count from the provider's JSON.
    pub(super) fn take(&mut self, what: Count, value: Option<&Value>) {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return;
        };
        match value.as_u64() {
            Some(tokens) if tokens <= limits::BELIEVABLE_TOKENS => {
                let slot = match what {
                    Count::Input => &mut self.input,
                    Count::Output => &mut self.output,
                    Count::CacheRead => &mut self.cache_read,
                    Count::CacheWrite => &mut self.cache_write,
                };
                *slot = Some(slot.unwrap_or(0).max(tokens));
            }
            Some(_) | None => self.is_absurd = true,
        }
    }

    /// Takes the input of a wire that counts cached input as a part of it.
    pub(super) fn take_whole_input(&mut self, whole: Option<&Value>, cached: Option<&Value>) {
        self.take(Count::CacheRead, cached);
        let Some(tokens) = whole.and_then(Value::as_u64) else {
            return self.take(Count::Input, whole);
        };
        let cached = self.cache_read.unwrap_or(0) + self.cache_write.unwrap_or(0);
        match tokens.checked_sub(cached) {
            Some(fresh) => self.take(Count::Input, Some(&Value::from(fresh))),
            None => self.is_absurd = true,
        }
    }

    /// The usage so far, as counted.
    pub(super) fn so_far(&self) -> Usage {
        let input = self.input.unwrap_or(0);
        let output = self.output.unwrap_or(0);
        let cache_read = self.cache_read.unwrap_or(0);
        let cache_write = self.cache_write.unwrap_or(0);
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            context_tokens: input + output + cache_read + cache_write,
            cost_micros: 0,
        }
    }

    /// The usage at the end and whether the provider counted it. Otherwise it is our estimate: a
    /// token for every four bytes, which suits most texts.
    pub(super) fn settled(&self, sent_bytes: usize, said_bytes: usize) -> (Usage, bool) {
        let is_counted = self.input.is_some() && self.output.is_some() && !self.is_absurd;
        if is_counted {
            return (self.so_far(), true);
        }
        let estimate = |bytes: usize| (bytes as u64).div_ceil(4);
        let input = estimate(sent_bytes);
        let output = estimate(said_bytes);
        let usage = Usage {
            input_tokens: input,
            output_tokens: output,
            context_tokens: input + output,
            ..Usage::default()
        };
        (usage, false)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: &str) -> ModelCall {
        let mut assembly = Assembly::default();
        let mut out = Vec::new();
        let at = assembly.begin_call("p1", "read_file", &mut out);
        assembly.arguments(at, arguments, &mut out);
        let needs = BTreeSet::from(["read_file".to_owned()]);
        assembly.asked(&AnswerStop::Tools, &needs).remove(0)
    }

    #[test]
    fn arguments_are_kept_to_the_byte_or_never_run() {
        let kept = r#"{"path" : "a\/b", "n":1.0}"#;
        assert_eq!(call(kept).input.get(), kept);
        for (arguments, malformed) in [
            ("", true),
            ("  ", true),
            ("null", true),
            ("[]", true),
            ("\"x\"", true),
            ("7", true),
            ("{\"path\": \"a", true),
            ("{} {}", true),
        ] {
            let call = call(arguments);
            let fault = call.fault.expect(arguments);
            assert_eq!(fault.is_malformed(), malformed);
            assert_eq!(call.input.get(), "{}");
        }
    }

    #[test]
    fn a_fault_in_arguments_is_told_with_its_place_and_their_beginning() {
        let fault = call(&format!("{{\"path\": {}", "x".repeat(500)))
            .fault
            .unwrap();
        let told = fault.told();
        assert!(
            told.contains("not valid JSON") && told.contains("column"),
            "{told}"
        );
        assert!(told.chars().count() < 400, "{told}");
    }

    #[test]
    fn a_tool_that_needs_nothing_may_be_called_with_nothing() {
        let mut assembly = Assembly::default();
        assembly.begin_call("p1", "list", &mut Vec::new());
        let calls = assembly.asked(&AnswerStop::Tools, &BTreeSet::new());
        assert_eq!((calls[0].input.get(), &calls[0].fault), ("{}", &None));
    }

    #[test]
    fn calls_of_an_answer_that_did_not_end_for_them_do_not_run() {
        for stop in [
            AnswerStop::End,
            AnswerStop::OutputLimit,
            AnswerStop::WindowFull,
            AnswerStop::Refusal,
        ] {
            let mut assembly = Assembly::default();
            assembly.begin_call("p1", "list", &mut Vec::new());
            let calls = assembly.asked(&stop, &BTreeSet::new());
            assert_eq!(calls[0].fault, Some(CallFault::CutOff));
        }
    }

    #[test]
    fn more_calls_than_are_run_keep_their_place_with_an_error() {
        let mut assembly = Assembly::default();
        for _ in 0..1_000 {
            assembly.begin_call("same", "list", &mut Vec::new());
        }
        let calls = assembly.asked(&AnswerStop::Tools, &BTreeSet::new());
        assert_eq!(calls.len(), 1_000);
        let may_run = calls.iter().filter(|call| call.fault.is_none()).count();
        assert_eq!(may_run, limits::CALLS);
    }

    #[test]
    fn long_texts_and_arguments_are_cut_where_a_character_ends() {
        let mut assembly = Assembly::default();
        let mut out = Vec::new();
        let piece = "\u{6f22}".repeat(1024 * 1024);
        assembly.text(&piece, &mut out);
        assert!(!assembly.is_full);
        assembly.text(&piece, &mut out);
        assert!(assembly.text.len() <= limits::TEXT_BYTES);
        let at = assembly.begin_call("p", "t", &mut out);
        assembly.arguments(at, &"x".repeat(limits::ARGUMENTS_BYTES), &mut out);
        assembly.arguments(at, "x", &mut out);
        let calls = assembly.asked(&AnswerStop::Tools, &BTreeSet::new());
        assert!(matches!(calls[0].fault, Some(CallFault::TooLong { .. })));
    }

    #[test]
    fn counts_that_cannot_be_are_replaced_by_an_estimate() {
        let settled = |input: Value, output: Value| {
            let mut tally = UsageTally::default();
            tally.take(Count::Input, Some(&input));
            tally.take(Count::Output, Some(&output));
            tally.settled(400, 40)
        };
        let (usage, known) = settled(json!(7), json!(3));
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, known),
            (7, 3, true)
        );
        assert_eq!(usage.context_tokens, 10);
        for odd in [
            json!(-1),
            json!(1e18),
            json!(u64::MAX),
            json!("7"),
            json!(null),
        ] {
            let (usage, known) = settled(odd, json!(3));
            assert_eq!(
                (usage.input_tokens, usage.output_tokens, known),
                (100, 10, false)
            );
        }
    }

    #[test]
    fn counts_never_decrease_while_an_answer_arrives() {
        let mut tally = UsageTally::default();
        tally.take(Count::Input, Some(&json!(5)));
        for output in [1, 9, 4] {
            tally.take(Count::Output, Some(&json!(output)));
        }
        assert_eq!(tally.so_far().output_tokens, 9);
    }

    #[test]
    fn cached_input_is_counted_once() {
        let mut tally = UsageTally::default();
        tally.take_whole_input(Some(&json!(100)), Some(&json!(80)));
        tally.take(Count::Output, Some(&json!(1)));
        let (usage, known) = tally.settled(0, 0);
        assert!(known);
        assert_eq!((usage.input_tokens, usage.cache_read_tokens), (20, 80));
        let mut odd = UsageTally::default();
        odd.take_whole_input(Some(&json!(5)), Some(&json!(80)));
        assert!(!odd.settled(0, 0).1);
    }
}
