//! Events for programs: one object a line. Readers skip what they do not know.

use a_society_facts::At;
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::{CallEnd, CommandExit, DraftKind, Usage};
use a_society_facts::handoff::{Delivery, HandoffWay};
use a_society_facts::id::NodeId;
use a_society_state::FlowRef;
use serde_json::{Map, Value, json};

use super::event::{Again, AnswerName, Event, Pause, Speech, Target, What};
use crate::cli::asks::{self, short};

/// The version of what is printed. The schema of all of it is `docs/run-events.schema.json`.
const VERSION: u32 = 1;

/// The objects of an event.
pub(super) fn values(flow: &FlowRef, event: &Event) -> Vec<Value> {
    let whole = |(name, members): (&str, Value)| {
        let mut value = Map::new();
        value.insert("v".to_owned(), VERSION.into());
        value.insert("event".to_owned(), name.into());
        value.insert("at".to_owned(), json!(event.at));
        value.insert("flow".to_owned(), json!(flow.flow));
        value.insert("seq".to_owned(), event.seq.into());
        let about = [
            ("node", json!(event.node)),
            ("role", json!(event.role)),
            ("turn", json!(event.turn)),
        ];
        let about = about.into_iter().filter(|(_, value)| !value.is_null());
        value.extend(about.map(|(name, value)| (name.to_owned(), value)));
        if let Value::Object(members) = members {
            value.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
        }
        Value::Object(value)
    };
    members(short(flow), event).into_iter().map(whole).collect()
}

#[expect(clippy::too_many_lines, reason = "one table, one arm an event")]
fn members(flow: &str, event: &Event) -> Vec<(&'static str, Value)> {
    match &event.what {
        What::Works { entry, .. } => vec![("node", json!({ "state": "working", "entry": entry }))],
        What::Stands(pause) => {
            let (state, until, provider) = match pause {
                Pause::Retrying(until) => ("retrying", Some(until), None),
                Pause::Held(held) => ("retrying", Some(&held.until), Some(&held.provider)),
                Pause::Compacting => ("compacting", None, None),
                Pause::Stopped => ("stopped", None, None),
                Pause::Over => ("working", None, None),
            };
            // What stops with its flow has no node when a role looks back.
            let is_at_a_node = event.node.is_some();
            let stands = json!({ "state": state, "until": until, "provider": provider });
            is_at_a_node
                .then_some(("node", stands))
                .into_iter()
                .collect()
        }
        What::Waits {
            what,
            reason,
            until,
            question,
            asks,
            ..
        } => {
            let waits = json!({
                "state": "waiting", "for": what, "reason": reason, "until": until, "question": question,
            });
            // An approval has an event of its own.
            let asks = asks.as_ref().filter(|ask| ask.deliveries.is_empty());
            let asks = asks.map(|ask| {
                let (kind, id) = asks::named_by(&ask.question);
                let mut members = json!({
                    "ask": id, "kind": kind, "for": what, "question": question, "keys": asks::commands(flow, ask),
                });
                if !ask.choices.is_empty() {
                    members["choices"] = json!(ask.choices);
                }
                ("ask", members)
            });
            std::iter::once(("node", waits)).chain(asks).collect()
        }
        What::Replied { text } => {
            let answer =
                json!({ "ask": who(event), "decision": "reply", "reason": text, "by": "you" });
            vec![("answer", answer)]
        }
        What::Stages(ask) => {
            let files = ask.deliveries.iter().map(|delivery| {
                let artifact = &delivery.artifact;
                json!({ "to": delivery.receiver(), "path": artifact.path, "bytes": artifact.bytes })
            });
            let files: Vec<Value> = files.collect();
            let (kind, id) = asks::named_by(&ask.question);
            let keys = asks::commands(flow, ask);
            vec![(
                "ask",
                json!({ "ask": id, "kind": kind, "files": files, "keys": keys }),
            )]
        }
        What::Decided {
            approval, approved, ..
        } => {
            let decision = if *approved { "approve" } else { "decline" };
            let answer = json!({ "ask": approval, "decision": decision, "by": "you" });
            vec![("answer", answer)]
        }
        What::Done {
            took_ms,
            usage,
            deliveries,
        } => {
            let usage = (*usage != Usage::default()).then_some(usage);
            let done = json!({ "state": "done", "ms": took_ms, "usage": usage });
            std::iter::once(("node", done))
                .chain(handoffs(deliveries))
                .collect()
        }
        What::Says {
            answer,
            offset,
            text,
            kind,
        } => {
            let kind = match kind {
                DraftKind::Text => "say",
                DraftKind::Reasoning => "think",
            };
            let says = json!({
                "message": answer.to_string(), "offset": offset, "delta": text, "kind": kind,
            });
            vec![("text", says)]
        }
        What::Said {
            answer,
            streamed,
            text,
            end,
        } => said(*answer, text, *streamed, end),
        What::Calls { call, one } => {
            let Target { path, command, cwd } = &one.target;
            let calls = json!({
                "call": call, "tool": one.tool, "does": one.summary,
                "path": path, "command": command, "cwd": cwd,
            });
            vec![("tool", calls)]
        }
        What::Called {
            call,
            one,
            end,
            exit,
            output,
            took_ms,
        } => vec![(
            "tool_end",
            json!({
                "call": call,
                "tool": one.tool,
                "does": one.summary,
                "path": one.target.path,
                "command": one.target.command,
                "cwd": one.target.cwd,
                "ok": matches!(end, CallEnd::Done | CallEnd::Recovered),
                "end": end,
                "exit": exit.and_then(CommandExit::code),
                "signal": exit.and_then(CommandExit::signal),
                "lines": output.lines,
                "bytes": output.bytes,
                "ms": took_ms,
                "cut": output.is_cut,
            }),
        )],
        What::Fails {
            class,
            why,
            again,
            number,
            provider,
        } => {
            let retry = json!({
                "request": number,
                "provider": provider,
                "reason": class,
                "text": why,
                "in_ms": again.map(|Again { in_ms, .. }| in_ms),
                "attempt": again.map(|Again { attempt, .. }| attempt),
                "of": again.map(|Again { of, .. }| of),
            });
            vec![("retry", retry)]
        }
        What::Spends {
            model,
            usage,
            total_micros,
        } => {
            let spends = json!({
                "model": model,
                "input": usage.input_tokens,
                "cached": usage.cache_read_tokens,
                "output": usage.output_tokens,
                "cost_micros": usage.cost_micros,
                "total_micros": total_micros,
            });
            vec![("usage", spends)]
        }
        What::Compacted {
            tokens_before,
            tokens_after,
            archived,
            cost_micros,
        } => {
            let compact = json!({
                "from_tokens": tokens_before, "to_tokens": tokens_after, "archived": archived, "cost_micros": cost_micros,
            });
            vec![("compact", compact)]
        }
        What::Asks(ask) => {
            let (kind, id) = asks::named_by(&ask.question);
            let call = ask.call.as_ref();
            let asks = json!({
                "ask": id,
                "kind": kind,
                "tool": call.map(|call| &call.tool),
                "about": call.map(|call| &call.about),
                "text": ask.says,
                "action": call.map(|call| call.action),
                "facts": ask.facts(),
                "covers": call.map(|call| &call.for_the_flow),
                "keys": asks::commands(flow, ask),
            });
            vec![("ask", asks)]
        }
        What::Answered {
            consent,
            answer,
            by,
            reason,
            ..
        } => {
            let decision = match answer {
                ConsentAnswer::AllowOnce => "allow_once",
                ConsentAnswer::AllowFlow => "allow_flow",
                ConsentAnswer::Deny => "deny",
                ConsentAnswer::Withdrawn => "withdrawn",
            };
            let by = by.as_ref().map(|by| by.words(*answer)).unwrap_or_default();
            let answer =
                json!({ "ask": consent, "decision": decision, "by": by, "reason": reason });
            vec![("answer", answer)]
        }
        What::Note {
            level,
            code,
            text,
            says,
        } => {
            let note = json!({ "level": level, "code": code, "text": text, "says": says });
            vec![("note", note)]
        }
    }
}

/// Who waits, and is named in an answer.
fn who(event: &Event) -> Option<String> {
    let node = event.node.as_ref().map(ToString::to_string);
    node.or_else(|| event.role.as_ref().map(ToString::to_string))
}

/// The last piece of a text, and the text as a whole.
fn said(
    answer: AnswerName,
    text: &str,
    streamed: usize,
    end: &Speech,
) -> Vec<(&'static str, Value)> {
    let (counts, why) = match end {
        Speech::Whole | Speech::Report => ("whole", None),
        Speech::CutOff => ("cut_off", None),
        Speech::Discarded { why } => ("discarded", Some(why)),
    };
    let message = answer.to_string();
    let last = json!({
        "message": message,
        "offset": streamed,
        "delta": text.get(streamed..).unwrap_or_default(),
        "kind": "say",
        "end": counts,
        "why": why,
    });
    let whole = json!({ "message": message, "text": text, "end": counts, "why": why });
    vec![("text", last), ("said", whole)]
}

/// What a turn handed over: one event an artifact, with all who got it.
fn handoffs(deliveries: &[Delivery]) -> Vec<(&'static str, Value)> {
    let mut each: Vec<(&Delivery, Vec<&NodeId>)> = Vec::new();
    for delivery in deliveries {
        let is_same = |(first, _): &&mut (&Delivery, Vec<&NodeId>)| {
            first.way == delivery.way && first.artifact == delivery.artifact
        };
        match each.iter_mut().find(is_same) {
            Some((_, to)) => to.push(delivery.receiver()),
            None => each.push((delivery, vec![delivery.receiver()])),
        }
    }
    let handoff = |(delivery, to): (&Delivery, Vec<&NodeId>)| {
        let (edge, artifact) = (&delivery.edge, &delivery.artifact);
        let (from, way) = match delivery.way {
            HandoffWay::Forward => (&edge.from, "forward"),
            HandoffWay::Backward => (&edge.to, "backward"),
        };
        let handoff = json!({
            "from": from, "to": to, "path": artifact.path, "bytes": artifact.bytes, "way": way,
        });
        ("handoff", handoff)
    };
    each.into_iter().map(handoff).collect()
}

/// Something that no fact is behind.
pub(crate) fn aside(flow: &FlowRef, at: At, name: &str, members: Value) -> Value {
    let mut value = json!({ "v": VERSION, "event": name, "at": at, "flow": flow.flow });
    if let (Some(value), Value::Object(members)) = (value.as_object_mut(), members) {
        value.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
    }
    value
}
