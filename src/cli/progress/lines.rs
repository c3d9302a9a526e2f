//! Events in words: one line an event, for people.

use a_society_facts::At;
use a_society_facts::fact::node::{NodeEntry, WaitReason};
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::{CallEnd, CommandExit, Usage};
use a_society_facts::handoff::Delivery;
use a_society_facts::id::RoleInstance;
use a_society_facts::view::flow::Decider;
use a_society_facts::words::calls::{
    CUT_OFF, DISCARDED, NO_ANSWER, call_end, command_exit, context_compacted, failure,
    rate_limited_by,
};
use a_society_facts::words::handoffs::{HANDOFF_APPROVED, HANDOFF_SENT_BACK, sent_this_back};
use a_society_facts::words::permissions::{self, allowed_by, allowed_for_flow_by, denied_by};
use a_society_facts::words::status::{YOUR_TURN, retrying_in};
use a_society_operator_ui::fold::answer_text::before_its_end;
use a_society_operator_ui::fold::terms::wants;
use a_society_orchestrator::machine::OperatorQuestion;

use super::board::call_in_words;
use super::event::{Again, Event, Output, Pause, Speech, What};
use super::note::go;
use crate::paint::Paint;
use crate::text::{count, money, one_line, plain, printed, span, tokens, wrapped};

/// What others said is cut to this, because it is read elsewhere; what ran never is.
const SAID_COLUMNS_MAX: usize = 100;

/// How what a call gave back begins.
pub(super) fn output(event: &Event, lines_max: usize) -> Vec<String> {
    let What::Called { output, .. } = &event.what else {
        return Vec::new();
    };
    let shown = output.head.iter().take(lines_max);
    let mut shown: Vec<String> = shown.map(|line| format!("  │ {}", printed(line))).collect();
    let more = output.lines.saturating_sub(shown.len());
    if more > 0 && !shown.is_empty() {
        shown.push(format!("  │ [… {more} more lines]"));
    }
    shown
}

/// The line of an event, if it is worth one.
pub(super) fn line(event: &Event, paint: &Paint) -> Option<String> {
    let (says, weight) = words(event)?;
    let time = time(event);
    Some(weight.painted(paint, &time, &told(event, &says)))
}

/// The same in rows for a terminal: prose is broken at words, what ran is one line however long. What is asked has a
/// card, which says it.
pub(super) fn rows(event: &Event, paint: &Paint, columns: usize) -> Vec<String> {
    if has_a_card(event) {
        return Vec::new();
    }
    let Some((says, weight)) = words(event) else {
        return Vec::new();
    };
    let says = if let What::Said { text, .. } = &event.what
        && (first(text).ends_with('…') || text.trim().lines().count() > 1)
    {
        // `v` shows all of it.
        says.replacen(": ", " (v reads): ", 1)
    } else {
        says
    };
    let (time, told) = (time(event), told(event, &says));
    if matches!(event.what, What::Called { .. } | What::Answered { .. }) {
        return vec![weight.painted(paint, &time, &told)];
    }
    let mut rows = by_words(&format!("{time}{told}"), columns).into_iter();
    let first = rows.next().unwrap_or_default();
    let first = first.strip_prefix(&time).unwrap_or(&first).to_owned();
    let first = weight.painted(paint, &time, &first);
    let more = rows.map(|row| weight.painted(paint, "", &row));
    std::iter::once(first).chain(more).collect()
}

/// A text in rows that break at words, and not between a number and its unit.
fn by_words(text: &str, columns: usize) -> Vec<String> {
    const UNITS: [&str; 7] = ["s", "B", "KiB", "MiB", "tokens", "messages", "lines"];
    const FIXED: char = '\u{a0}';
    let mut joined = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word.trim_end_matches([' ', ',', ';', ':', '.', ')']);
        let is_behind_number = joined.strip_suffix(' ').is_some_and(|before| {
            before
                .ends_with(|letter: char| letter.is_ascii_digit() || letter == 'k' || letter == 'M')
        });
        if is_behind_number && UNITS.contains(&unit) {
            joined.pop();
            joined.push(FIXED);
        }
        joined.push_str(word);
    }
    let rows = wrapped(&joined, columns).into_iter();
    rows.map(|row| row.replace(FIXED, " ")).collect()
}

/// The same as labelled lines, for a reader that reads the screen aloud.
pub(super) fn spoken(event: &Event) -> Vec<String> {
    if has_a_card(event) {
        return Vec::new();
    }
    let who = who(event);
    if let What::Said { text, end, .. } = &event.what
        && *end != Speech::Report
    {
        let lines = before_its_end(text).trim().lines();
        return lines
            .map(|line| format!("{who}: {}", printed(line)))
            .collect();
    }
    let Some((says, _)) = words(event) else {
        return Vec::new();
    };
    let label = if matches!(event.what, What::Called { .. }) {
        format!("tool: {who} ")
    } else if is_of_the_operator(&event.what) {
        format!("you: {who} ")
    } else if who.is_empty() {
        "flow: ".to_owned()
    } else {
        format!("{who}: ")
    };
    vec![format!("{label}{}", plain(&says))]
}

/// Whether the operator decided it.
const fn is_of_the_operator(what: &What) -> bool {
    matches!(
        what,
        What::Decided { .. }
            | What::Answered {
                by: Some(Decider::Operator { .. } | Decider::Grant),
                ..
            }
    )
}

/// Whether it is asked at the cursor, with all that it says.
fn has_a_card(event: &Event) -> bool {
    match &event.what {
        What::Asks(_) => true,
        What::Note { code, .. } => *code == "handoff_staged",
        What::Waits { asks, .. } => (asks.as_ref())
            .is_some_and(|ask| !matches!(ask.question, OperatorQuestion::Configuration { .. })),
        What::Works { .. }
        | What::Done { .. }
        | What::Stands(_)
        | What::Replied { .. }
        | What::Says { .. }
        | What::Said { .. }
        | What::Calls { .. }
        | What::Called { .. }
        | What::Fails { .. }
        | What::Spends { .. }
        | What::Compacted { .. }
        | What::Stages(_)
        | What::Decided { .. }
        | What::Answered { .. } => false,
    }
}

/// The time of day, which is enough while watching.
fn time(event: &Event) -> String {
    let time = event.at.to_string();
    time.get(11..19).unwrap_or(&time).to_owned()
}

/// What follows the time.
fn told(event: &Event, says: &str) -> String {
    let who = who(event);
    let told = if who.is_empty() {
        format!("  {says}")
    } else {
        format!("  {who}  {says}")
    };
    plain(&told).into_owned()
}

/// Who an event is about.
fn who(event: &Event) -> String {
    match (&event.node, &event.role) {
        (Some(node), Some(role)) if node.as_str() != role.as_str() => format!("{node} ({role})"),
        (Some(node), _) => node.to_string(),
        (None, Some(role)) => role.to_string(),
        (None, None) => String::new(),
    }
}

/// How much a line wants to be seen.
enum Emphasis {
    Plain,
    Bad,
    Wants,
}

impl Emphasis {
    fn painted(&self, paint: &Paint, time: &str, told: &str) -> String {
        let told = match self {
            Self::Plain => told.to_owned(),
            Self::Bad => paint.red(told),
            Self::Wants => paint.yellow(told),
        };
        format!("{}{told}", paint.dim(time))
    }
}

#[expect(clippy::too_many_lines, reason = "one table, one arm an event")]
fn words(event: &Event) -> Option<(String, Emphasis)> {
    let plain = |says: String| Some((says, Emphasis::Plain));
    match &event.what {
        What::Works {
            entry: NodeEntry::Reopened,
            back,
        } => {
            let from = back.as_ref().map_or("you", |back| back.from.as_str());
            let role = event.role.as_ref().map_or("", RoleInstance::as_str);
            let with = back.as_ref().map(|back| {
                let why = back.why.as_deref().and_then(first_line);
                let why = why.map(|why| format!(": {why}"));
                format!(": {}{}", back.path, why.unwrap_or_default())
            });
            let says = sent_this_back(from, role);
            plain(format!("{says}{}", with.unwrap_or_default()))
        }
        What::Works { entry, .. } => plain(begins(*entry).to_owned()),
        What::Waits {
            until: Some(at),
            what,
            ..
        } => plain(format!("waits for {what}, and goes on at {}", moment(*at))),
        What::Waits {
            again,
            is_own_turn: true,
            ..
        } => {
            let again = again.as_deref().map(|again| format!(": {}", first(again)));
            Some((
                format!("{YOUR_TURN}{}", again.unwrap_or_default()),
                Emphasis::Wants,
            ))
        }
        // Its person sees that it was answered.
        What::Waits {
            reason: WaitReason::Message,
            ..
        } => None,
        // The line above it says what failed, and the question at the end why.
        What::Waits {
            reason: WaitReason::Provider,
            is_said: true,
            ..
        } => None,
        What::Waits {
            what,
            question,
            is_said,
            ..
        } => {
            // Its words are in the line above.
            let question = question
                .as_deref()
                .filter(|_| !is_said)
                .map(|asked| format!(": {}", first(asked)));
            let says = format!("waits for {what}{}", question.unwrap_or_default());
            Some((says, Emphasis::Wants))
        }
        What::Done {
            took_ms,
            usage,
            deliveries,
        } => plain(done(*took_ms, usage, deliveries)),
        What::Stands(Pause::Held(held)) => plain(held.words(event.at)),
        What::Says { .. }
        | What::Calls { .. }
        | What::Spends { .. }
        | What::Stands(_)
        | What::Replied { .. } => None,
        What::Said { text, end, .. } => {
            let how = match end {
                Speech::Report => return None,
                Speech::Whole => String::new(),
                Speech::CutOff => format!(" ({CUT_OFF})"),
                Speech::Discarded { .. } => format!(" ({DISCARDED})"),
            };
            // The block that ends a turn has a line of its own, `done`.
            let text = before_its_end(text).trim();
            if text.is_empty() {
                return None;
            }
            let lines = text.lines().count();
            let long = if lines > 1 {
                format!(" {lines} lines")
            } else {
                String::new()
            };
            plain(format!("says{long}{how}: {}", first(text)))
        }
        // Its result has a line: that the turn is done, or the question.
        What::Called {
            one,
            end: CallEnd::Done,
            ..
        } if matches!(one.tool.as_str(), "handoff" | "ask_operator") => None,
        What::Called {
            one,
            end,
            exit,
            output,
            took_ms,
            ..
        } => {
            let weight = match end {
                CallEnd::Done | CallEnd::Recovered
                    if matches!(exit, None | Some(CommandExit::Code(0))) =>
                {
                    Emphasis::Plain
                }
                CallEnd::Done
                | CallEnd::Recovered
                | CallEnd::Failed
                | CallEnd::Denied
                | CallEnd::Stopped
                | CallEnd::TimedOut
                | CallEnd::NotRun
                | CallEnd::Unknown => Emphasis::Bad,
            };
            // The summary names the lines that were read already.
            let is_read = one.tool == "read_file" && *end == CallEnd::Done;
            let how = if is_read {
                String::new()
            } else {
                ended(*end, *exit, output)
            };
            let does = call_in_words(&one.tool, &one.summary);
            Some((format!("{does}{how}{}", took(*took_ms)), weight))
        }
        What::Fails {
            class,
            why,
            again,
            provider,
            ..
        } => {
            let failed = failed(class, provider.as_deref());
            // What only the operator can mend has a question, which says why.
            let why = match again {
                None if MENDED_BY_YOU.contains(&class.as_str()) => String::new(),
                _ => format!(": {}", first(why.trim_end_matches('.'))),
            };
            Some((format!("{failed}{why}{}", tried(*again)), Emphasis::Bad))
        }
        What::Compacted {
            tokens_before,
            tokens_after,
            archived,
            cost_micros,
        } => {
            let mut sizes = tokens(*tokens_before);
            sizes.extend(tokens_after.map(|after| format!(" to {}", tokens(after))));
            let archived = count(usize::try_from(*archived).unwrap_or(usize::MAX), "message");
            let cost = (*cost_micros > 0).then(|| format!(", {}", money(*cost_micros)));
            plain(format!(
                "{}; {archived} archived{}",
                context_compacted(&sizes),
                cost.unwrap_or_default()
            ))
        }
        What::Stages(_) => None,
        What::Decided { approved, what, .. } => {
            let (how, what) = match (*approved, what.as_str()) {
                (true, _) => (HANDOFF_APPROVED, String::new()),
                (false, "") => (HANDOFF_SENT_BACK, String::new()),
                (false, what) => (HANDOFF_SENT_BACK, format!(": {what}")),
            };
            plain(format!("{how} by you{what}"))
        }
        What::Asks(ask) => {
            let call = ask.call.as_ref()?;
            let says = format!("{}: {}", wants(&call.tool, None), first(&call.about));
            Some((says, Emphasis::Wants))
        }
        What::Answered {
            answer, by, about, ..
        } => {
            let about = match about.as_str() {
                "" => String::new(),
                about => format!(": {}", first(about)),
            };
            let by = by.as_ref().map(|by| by.words(*answer)).unwrap_or_default();
            let says = match answer {
                ConsentAnswer::AllowOnce => allowed_by(&by),
                ConsentAnswer::AllowFlow => allowed_for_flow_by(&by),
                ConsentAnswer::Deny => denied_by(&by),
                ConsentAnswer::Withdrawn => permissions::answer(*answer).to_owned(),
            };
            plain(format!("{says}{about}"))
        }
        // It is an event of its own.
        What::Note {
            code: "handoff_decided",
            ..
        } => None,
        What::Note { text, .. } => plain(text.clone()),
    }
}

/// The classes of failures that no repetition mends.
const MENDED_BY_YOU: [&str; 4] = ["key", "forbidden", "spend_limit", "not_found"];

/// That a request failed, and at whom.
fn failed(class: &str, provider: Option<&str>) -> String {
    match (class, provider) {
        ("rate_limit", Some(provider)) => rate_limited_by(provider),
        (class, _) => failure(class).unwrap_or(NO_ANSWER).to_owned(),
    }
}

/// When it is sent again, and how often that may be.
fn tried(again: Option<Again>) -> String {
    let Some(Again { in_ms, attempt, of }) = again else {
        return String::new();
    };
    format!("; {} ({attempt} of {of})", retrying_in(&span(in_ms)))
}

const fn begins(entry: NodeEntry) -> &'static str {
    match entry {
        NodeEntry::First => "begins",
        NodeEntry::Again | NodeEntry::Reopened => "begins again",
        NodeEntry::Reply => "goes on with your reply",
        NodeEntry::Configured => "goes on, configured",
        NodeEntry::Recovered => "goes on after a crash",
    }
}

fn done(took_ms: u64, usage: &Usage, deliveries: &[Delivery]) -> String {
    let mut parts = vec![format!("done, {}", span(took_ms))];
    let all = usage.all_tokens();
    parts.extend((all > 0).then(|| format!("{} tokens", tokens(all))));
    parts.extend((usage.cost_micros > 0).then(|| money(usage.cost_micros)));
    let done = parts.join(", ");
    if deliveries.is_empty() {
        return done;
    }
    format!("{done}; {}", go(deliveries))
}

/// How a call ended, after what it did.
fn ended(end: CallEnd, exit: Option<CommandExit>, output: &Output) -> String {
    if let Some(exit) = exit {
        // How it ended has a line of its own.
        let lines = count(output.lines.saturating_sub(1), "line");
        return format!(": {} ({lines})", command_exit(exit));
    }
    let lines = count(output.lines, "line");
    match end {
        CallEnd::Done | CallEnd::Recovered if output.lines > 1 => format!(" ({lines})"),
        CallEnd::Done | CallEnd::Recovered => String::new(),
        CallEnd::Failed | CallEnd::NotRun => format!(
            ": {}: {}",
            call_end(end),
            first(output.head.first().map_or("", String::as_str))
        ),
        CallEnd::Denied | CallEnd::Stopped | CallEnd::TimedOut | CallEnd::Unknown => {
            format!(": {}", call_end(end))
        }
    }
}

/// How long something took, if anybody had to wait for it.
fn took(ms: u64) -> String {
    if ms < 1_000 {
        return String::new();
    }
    format!(" {}", span(ms))
}

/// The first line with anything on it, without the sign of a heading.
fn first_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    let line = lines.find(|line| !line.is_empty())?;
    Some(one_line(line, SAID_COLUMNS_MAX))
}

fn first(text: &str) -> String {
    one_line(text, SAID_COLUMNS_MAX)
}

fn moment(at: At) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

#[cfg(test)]
mod tests {
    use a_society_facts::Fact;
    use a_society_facts::line::{Body, Recorded};

    use super::super::teller::Teller;
    use super::*;

    /// A flow as its journal says it, and what a terminal says of it.
    const FLOW: &str = r#"
{"fact":"node_claimed","node":"draft","role":"writer","turn":1,"entry":"first"}
{"fact":"turn_started","turn":1,"attempt":1,"role":"writer","node":"draft","cause":"node"}
{"fact":"model_failed","turn":1,"attempt":1,"role":"writer","request":1,"class":"rate_limit","error":"Slow down.","retry_in_ms":18000}
{"fact":"model_answered","turn":1,"attempt":1,"role":"writer","request":2,"message":"m-1","text":"Two\nlines.","stop":"tools","usage":{"input_tokens":3000,"output_tokens":200,"cost_micros":12000}}
{"fact":"call_intended","call":"1.1","turn":1,"role":"writer","tool_call":"c","ordinal":0,"tool":"run_command","arguments":"HASH","effect":"mutating","idempotency_key":"HASH","summary":"run cargo test"}
{"fact":"consent_requested","consent":"q-1","call":"1.1","role":"writer","node":"draft","tool":"run_command","action":"HASH","shown":"cargo test"}
{"fact":"node_suspended","node":"draft","role":"writer","reason":"consent","consent":"q-1"}
{"fact":"consent_resolved","consent":"q-1","answer":"allow_once","action":"HASH"}
{"fact":"call_started","call":"1.1","role":"writer"}
{"fact":"call_finished","call":"1.1","turn":1,"role":"writer","tool_call":"c","tool":"run_command","end":"done","output":"[exit 1, 1.0 s]\na\nb","message":"m-2","exit":1}
{"fact":"session_compacted","role":"writer","compaction":"k","trigger":"auto","strategy":"llm","node":"draft","message":"m-3","replacement":"It was long.","kept_last":2,"tokens_before":128000,"tokens_after":21000}
{"fact":"node_suspended","node":"draft","role":"writer","reason":"provider","trouble":"limit","until":"2026-11-23T22:18:10.000Z"}
{"fact":"node_suspended","node":"draft","role":"writer","reason":"prompt_human","question":"Which of the two?"}
{"fact":"node_suspended","node":"draft","role":"lead","reason":"prompt_human","question":"You are at node `draft` for the first time. It is noon.\nNo task list is written.\n\nIt is your turn. End it with one of these in the first line, or with a `handoff` block:\n\n* `wait`"}
{"fact":"node_suspended","node":"draft","role":"lead","reason":"prompt_human","question":"Choose what happens next.\n\nIt is your turn. End it with one of these in the first line, or with a `handoff` block:\n\n* `wait`"}
{"fact":"handoff_decided","approval":"a-1","approved":false}
{"fact":"handoff_applied","node":"draft","turn":1,"deliveries":[{"from":"draft","to":"review","way":"forward","artifact":{"path":"record/a.md","hash":"HASH","bytes":3}}]}
{"fact":"turn_ended","turn":1,"attempt":1,"role":"writer","end":"outcome"}
{"fact":"turn_started","turn":2,"attempt":1,"role":"lead","node":"review","cause":"node"}
{"fact":"handoff_staged","approval":"a-2","node":"review","turn":2,"deliveries":[{"from":"review","to":"close","way":"forward","artifact":{"path":"record/b.md","hash":"HASH","bytes":3}}]}
{"fact":"turn_ended","turn":2,"attempt":1,"role":"lead","end":"outcome"}
{"fact":"handoff_decided","approval":"a-2","approved":true}
{"fact":"handoff_applied","node":"review","turn":2,"deliveries":[{"from":"review","to":"close","way":"forward","artifact":{"path":"record/b.md","hash":"HASH","bytes":3}}]}
{"fact":"turn_started","turn":3,"attempt":1,"role":"owner","node":"close","cause":"node"}
{"fact":"handoff_applied","node":"close","turn":3,"deliveries":[{"from":"review","to":"close","way":"backward","artifact":{"path":"record/why.md","hash":"HASH","bytes":9,"text":"\n# No date\n\nName one."}}]}
{"fact":"node_claimed","node":"review","role":"lead","turn":4,"entry":"reopened","consumed":[{"from":"review","to":"close","way":"backward"}]}
{"fact":"turn_started","turn":4,"attempt":1,"role":"lead","node":"review","cause":"node"}
{"fact":"handoff_staged","approval":"a-3","node":"review","turn":4,"deliveries":[{"from":"review","to":"close","way":"forward","artifact":{"path":"record/c.md","hash":"HASH","bytes":3}}]}
{"fact":"handoff_decided","approval":"a-3","approved":false}
{"fact":"operator_replied","reply":"m-9","node":"review","role":"lead","text":"Name the day."}
{"fact":"turn_started","turn":5,"attempt":1,"role":"clerk","node":"close","cause":"node"}
{"fact":"consent_requested","consent":"q-2","call":"5.1","role":"clerk","node":"close","tool":"run_command","action":"HASH","shown":"ls"}
{"fact":"consent_resolved","consent":"q-2","answer":"allow_once","action":"HASH","beforehand":"full_access"}
{"fact":"request_held","turn":5,"attempt":1,"role":"clerk","provider":"openai","until":"1970-01-01T00:00:45.000Z"}
{"fact":"call_finished","call":"5.2","turn":5,"role":"clerk","tool_call":"d","tool":"run_command","end":"failed","output":"[signal 9, 0.1 s]\na","message":"m-10","signal":9,"cut":false}
{"fact":"call_finished","call":"5.3","turn":5,"role":"clerk","tool_call":"e","tool":"run_command","end":"done","output":"exit code 2; stdout 2 bytes, stderr 0 bytes\na\n","message":"m-11"}
"#;

    #[test]
    fn the_block_that_ends_a_turn_is_not_among_what_is_said() {
        let block = "```handoff\ntarget_node_id: review\nartifact_path: a.md\n```\n";
        assert_eq!(before_its_end(&format!("Done.\n\n{block}")).trim(), "Done.");
        assert_eq!(before_its_end(block), "");
        let quoted = "It ends with `` ```handoff\n``.";
        assert_eq!(before_its_end(quoted), quoted);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(by_words("next try in 25 s", 15), ["next try in", "25 s"]);
        assert_eq!(
            by_words("of 128k tokens; 3 more", 14),
            ["of", "128k tokens; 3", "more"]
        );
    }

    #[test]
    fn each_event_is_one_plain_line() {
        let mut teller = Teller::default();
        let mut lines = Vec::new();
        let facts = FLOW.replace("HASH", &"0".repeat(64));
        for (number, line) in facts.lines().skip(1).enumerate() {
            let payload: serde_json::Value = serde_json::from_str(line).unwrap();
            let word = payload["fact"].as_str().unwrap();
            let fact = Fact::read(word, line.as_bytes()).unwrap().unwrap();
            let recorded = Recorded {
                seq: number as u64 + 1,
                at: At::from_ms(number as i64 * 1_000),
                body: Body::Known(fact),
            };
            let events = teller.hear(&recorded);
            lines.extend(
                events
                    .iter()
                    .filter_map(|event| super::line(event, &Paint::new(false))),
            );
        }
        assert_eq!(
            lines,
            [
                "00:00:00  draft (writer)  begins",
                "00:00:02  draft (writer)  the provider's limit was reached: Slow down; retrying in 18 s (1 of 5)",
                "00:00:03  draft (writer)  says 2 lines: Two lines.",
                "00:00:05  draft (writer)  wants to run a command: cargo test",
                "00:00:07  draft (writer)  allowed by you: cargo test",
                "00:00:09  draft (writer)  run cargo test: exit 1 (2 lines) 1 s",
                "00:00:10  draft (writer)  context compacted from 128k to 21k tokens; 0 messages archived",
                "00:00:11  draft (writer)  waits for its provider's limit to reset, and goes on at 2026-11-23 22:18 UTC",
                "00:00:12  draft (writer)  waits for your answer: Which of the two?",
                "00:00:13  draft (lead)  your turn",
                "00:00:14  draft (lead)  your turn: Choose what happens next.",
                "00:00:15  handoff sent back by you",
                "00:00:16  draft (writer)  done, 15 s, 3.2k tokens, $0.01; record/a.md to review",
                "00:00:19  review  wants to hand over: record/b.md to close",
                "00:00:21  review (lead)  handoff approved by you",
                "00:00:22  review (lead)  done, 2 s; record/b.md to close",
                "00:00:24  close (owner)  done, 1 s; record/why.md back to review",
                "00:00:25  review (lead)  close sent this back to lead: record/why.md: No date",
                "00:00:27  review  wants to hand over: record/c.md to close",
                "00:00:28  review (lead)  handoff sent back by you: record/c.md to close",
                "00:00:29  review (lead)  is answered: Name the day.",
                "00:00:31  close (clerk)  wants to run a command: ls",
                "00:00:32  close (clerk)  allowed by full access: ls",
                "00:00:33  close (clerk)  waiting for the rate limit of openai, 12 s",
                "00:00:34  close (clerk)  run_command: signal 9 (1 line)",
                "00:00:35  close (clerk)  run_command: exit 2 (1 line)",
            ]
        );
    }
}
