//! Events for programs: one object a line. Readers skip what they do not know.

use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::{CallEnd, DraftKind, Usage};
use a_society_facts::handoff::HandoffWay;
use a_society_state::FlowRef;
use serde_json::{Map, Value, json};

use super::event::{Event, Speech, Target, Wanted, What};

/// The version of what is printed.
pub(crate) const VERSION: u32 = 1;

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
    members(event).into_iter().map(whole).collect()
}

#[expect(clippy::too_many_lines, reason = "one table, one arm an event")]
fn members(event: &Event) -> Vec<(&'static str, Value)> {
    match &event.what {
        What::Works { entry, .. } => vec![("node", json!({ "state": "working", "entry": entry }))],
        What::Waits {
            what,
            until,
            question,
            asks,
            ..
        } => {
            let waits =
                json!({ "state": "waiting", "for": what, "until": until, "question": question });
            let asks = asks.and_then(|wanted| {
                let kind = match wanted {
                    Wanted::Text => "text",
                    Wanted::Configuration => "configuration",
                    Wanted::Budget => "budget",
                    // The fact of its own asks.
                    Wanted::Approval => return None,
                };
                let ask = json!({ "kind": kind, "for": what, "question": question });
                Some(("ask", ask))
            });
            std::iter::once(("node", waits)).chain(asks).collect()
        }
        What::Stages {
            approval,
            deliveries,
        } => {
            let files = deliveries.iter().map(|delivery| {
                let artifact = &delivery.artifact;
                json!({ "to": delivery.receiver(), "path": artifact.path, "bytes": artifact.bytes })
            });
            let files: Vec<Value> = files.collect();
            let asks = json!({ "ask": approval, "kind": "approval", "files": files });
            vec![("ask", asks)]
        }
        What::Decided { approval, approved } => {
            let decision = if *approved { "approve" } else { "decline" };
            let answer = json!({ "ask": approval, "decision": decision, "by": "you" });
            vec![("answer", answer)]
        }
        What::Done {
            took_ms,
            usage,
            deliveries,
        } => {
            let handoffs = deliveries.iter().map(|delivery| {
                let (edge, artifact) = (&delivery.edge, &delivery.artifact);
                let (from, way) = match delivery.way {
                    HandoffWay::Forward => (&edge.from, "forward"),
                    HandoffWay::Backward => (&edge.to, "backward"),
                };
                let to = delivery.receiver();
                let handoff = json!({
                    "from": from, "to": to, "path": artifact.path, "bytes": artifact.bytes, "way": way,
                });
                ("handoff", handoff)
            });
            let usage = (*usage != Usage::default()).then_some(usage);
            let done = json!({ "state": "done", "ms": took_ms, "usage": usage });
            std::iter::once(("node", done)).chain(handoffs).collect()
        }
        What::Says { offset, text, kind } => {
            let kind = match kind {
                DraftKind::Text => "say",
                DraftKind::Reasoning => "think",
            };
            vec![(
                "text",
                json!({ "offset": offset, "delta": text, "kind": kind }),
            )]
        }
        What::Said { text, end } => {
            let (counts, why) = match end {
                Speech::Whole => ("whole", None),
                Speech::CutOff => ("cut_off", None),
                Speech::Discarded { why } => ("discarded", Some(why)),
            };
            vec![("said", json!({ "text": text, "end": counts, "why": why }))]
        }
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
                "exit": exit,
                "lines": output.lines,
                "bytes": output.bytes,
                "ms": took_ms,
            }),
        )],
        What::Fails {
            class,
            why,
            again_in_ms,
            number,
        } => {
            let retry = json!({ "request": number, "reason": class, "text": why, "in_ms": again_in_ms, "attempt": number });
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
            archived,
            cost_micros,
        } => {
            let compact = json!({
                "from_tokens": tokens_before, "archived": archived, "cost_micros": cost_micros,
            });
            vec![("compact", compact)]
        }
        What::Asks {
            consent,
            tool,
            about,
        } => vec![(
            "ask",
            json!({ "ask": consent, "kind": "consent", "tool": tool, "about": about }),
        )],
        What::Answered {
            consent,
            answer,
            by,
            ..
        } => {
            let decision = match answer {
                ConsentAnswer::AllowOnce => "allow_once",
                ConsentAnswer::AllowFlow => "allow_flow",
                ConsentAnswer::Deny => "deny",
                ConsentAnswer::Withdrawn => "withdrawn",
            };
            let answer = json!({ "ask": consent, "decision": decision, "by": by });
            vec![("answer", answer)]
        }
        What::Note { code, text, says } => {
            vec![("note", json!({ "code": code, "text": text, "says": says }))]
        }
    }
}
