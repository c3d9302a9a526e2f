//! What journals of earlier versions say in sentences only, read out of them. Nothing else in the house
//! takes a sentence apart, and nothing writes these any more: what is new is a member of a fact.
//!
//! Names in a sentence can look like the words around them, so that what is read here is shown and never
//! decided by: an answer is bound to the hash of the call.

use std::borrow::Cow;

use super::budget::{Lack, Measure};
use super::operator::ConsentRequested;
use super::terms::{CommandTerms, ConsentTerms, FileEffect, FileTerms, Scope};
use super::turn::CommandExit;
use crate::id::{BadName, RoleInstance};
use crate::message::Text;
use crate::words::calls::failure as failure_words;

/// The budget that a question of an older journal says to lack something.
#[must_use]
pub(crate) fn lack(question: &str) -> Option<Lack> {
    if let Some(rest) = question.strip_prefix("the next request may take ") {
        let (wants, rest) = rest.split_once(' ')?;
        let (of, rest) = rest.split_once(", and ")?;
        let (whose, rest) = rest.split_once(" has ")?;
        let measure = match of {
            "tokens" => Measure::Tokens,
            "millionths of cost" => Measure::CostMicros,
            "turns" => Measure::Turns,
            "milliseconds of work" => Measure::WallMs,
            _ => return None,
        };
        return Some(Lack {
            role: named(whose).ok()?,
            measure,
            wants: wants.parse().ok()?,
            left: rest.strip_suffix(" left")?.parse().ok()?,
        });
    }
    let (whose, rest) = question.split_once(" may take ")?;
    rest.split_once(" turns, and this is number ")?;
    Some(Lack {
        role: named(whose).ok()?,
        measure: Measure::Turns,
        wants: 1,
        left: 0,
    })
}

/// Whose a budget is. No role instance has a name with a space.
fn named(whose: &str) -> Result<Option<RoleInstance>, BadName> {
    if whose == "the flow" {
        return Ok(None);
    }
    whose.parse().map(Some)
}

/// Whether a question is the packet of a turn that the operator takes, at its beginning or later.
#[must_use]
pub(crate) fn is_own_turn(question: &str) -> bool {
    let mut parts = question.split("\n\n");
    question.starts_with("You are at node `")
        || parts.any(|part| part.starts_with("It is your turn. End it with one of these"))
}

/// Why a person is asked again, where an answer did not end the turn: the first lines of the question. The packet that
/// begins a turn has headings of its own.
pub(super) fn again(question: &str) -> Option<&str> {
    let is_begun = ["#", "You are ", "It is your turn"];
    let again = question.split("\n\n").next().unwrap_or_default();
    let is_again = !is_begun.iter().any(|head| again.starts_with(head));
    (is_again && !again.trim().is_empty()).then_some(again)
}

/// The packet of a person's own turn: without the lines that give a model its place and its ways to end, because a
/// person's ways are listed beside it.
pub(super) fn for_a_person(question: &str) -> String {
    let mut is_ways = false;
    let lines = question.lines().filter(|line| {
        let is_for_a_model = ["You are at node `", "No task list is written for this node"];
        is_ways =
            (is_ways && !line.trim().is_empty()) || line.starts_with("End this turn with one of");
        !is_ways && !is_for_a_model.iter().any(|head| line.starts_with(head))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The name of the failure with which the question of a failed turn begins, and the question without it.
pub(super) fn failure(question: &str) -> (Option<String>, &str) {
    let line = question.trim_start();
    let Some((said, rest)) = line.split_once(": ") else {
        return (None, question);
    };
    // As facts have it, or with spaces, as error texts have it.
    let name = said.replace(' ', "_");
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let is_known = failure_words(&name).is_some();
    if is_known || (!said.is_empty() && said.chars().all(is_name)) {
        return (Some(name), rest);
    }
    (None, question)
}

/// Whether the walls that a command would run without are all of them, as the only one says.
pub(super) fn is_bare(missing: &[String]) -> bool {
    matches!(missing, [only] if only.starts_with("every wall"))
}

/// Where a call changes its only file, as the end of its summary says: the line of the change, or how many there are.
pub(super) fn changed_place(summary: &str) -> (Option<u64>, Option<u64>) {
    let end = summary.rsplit_once(", ").map_or("", |(_, end)| end);
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let line = end.strip_prefix("line ").and_then(number);
    let places = end.strip_suffix(" places").and_then(number);
    (line, places)
}

/// How the command of a tool ended, as the first line of its output says it.
#[must_use]
pub(super) fn exit(output: &str) -> Option<CommandExit> {
    let rest = output.strip_prefix('[')?;
    let (how, _) = rest.split_once([']', ','])?;
    if let Some(number) = how.strip_prefix("signal ") {
        return number.parse().ok().map(CommandExit::Signal);
    }
    let number = how.strip_prefix("exit ")?;
    let number = number.strip_prefix("code ").unwrap_or(number);
    number.parse().ok().map(CommandExit::Code)
}

/// How a role's program ended, as the first line of its output says it.
#[must_use]
pub(super) fn program_exit(tool: &str, output: &str) -> Option<CommandExit> {
    let line = output.lines().next().filter(|_| tool == "run_command")?;
    let (how, lengths) = line.split_once("; stdout ")?;
    if !lengths.ends_with(" bytes") {
        return None;
    }
    if let Some(number) = how.strip_prefix("exit code ") {
        return number.parse().ok().map(CommandExit::Code);
    }
    let number = how.strip_prefix("ended by signal ")?;
    number.parse().ok().map(CommandExit::Signal)
}

/// Whether a text of a role that is a program is a report of how the program ended.
#[must_use]
pub(super) fn is_report(text: &str) -> bool {
    let Some(ended) = text.strip_prefix("The command ") else {
        return false;
    };
    let asks = text.rfind("```handoff\n").map_or("", |at| &text[at..]);
    ended.starts_with("ended with exit code 0.") || asks.contains("type: prompt-human")
}

/// Whether a line of an output says how much of it the model did not get.
#[must_use]
pub(super) fn is_cut(output: &str) -> bool {
    let mut lines = output.lines();
    lines.any(|line| line.starts_with("[... ") && line.contains(" lines left out; "))
}

/// The file that a call is about, as its summary names it.
#[must_use]
pub fn path_of(summary: &str) -> String {
    let rest = summary.split_once(' ').map_or(summary, |(_, rest)| rest);
    let end = rest
        .find(" (")
        .or_else(|| rest.find(", "))
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest).to_owned()
}

impl ConsentRequested {
    /// What is decided about, and its text; read from the text itself where a journal has nothing else.
    #[must_use]
    pub(crate) fn asked(&self) -> (Option<ConsentTerms>, Cow<'_, Text>) {
        match (&self.terms, &self.shown) {
            (None, Text::Inline(shown)) => {
                let (terms, text) = terms(&self.tool, shown);
                (terms, Cow::Owned(Text::Inline(text.to_owned())))
            }
            (terms, shown) => (terms.clone(), Cow::Borrowed(shown)),
        }
    }
}

/// The terms in the line before a text, and the text without it. An unknown line stays.
fn terms<'t>(tool: &str, shown: &'t str) -> (Option<ConsentTerms>, &'t str) {
    let (head, rest) = shown.split_once('\n').unwrap_or((shown, ""));
    if let Some(of) = head.strip_prefix("run_command in ") {
        // The walls that were missing were lines after the command.
        return (command(of, rest).map(ConsentTerms::Command), rest);
    }
    let Some(of) = head.strip_prefix(tool) else {
        return (None, shown);
    };
    match (tool, of.strip_prefix(' ')) {
        ("write_file" | "edit_file", Some(path)) => {
            let file = FileTerms {
                path: path.to_owned(),
                change: FileEffect::Change,
            };
            (Some(ConsentTerms::Files { files: vec![file] }), rest)
        }
        (_, None) if of.is_empty() && !rest.is_empty() => (None, rest),
        _ => (None, shown),
    }
}

fn command(of: &str, rest: &str) -> Option<CommandTerms> {
    let (of, background) = match of.strip_suffix(", in the background") {
        Some(of) => (of, true),
        None => (of, false),
    };
    let (of, network) = match of.rsplit_once(", network ") {
        Some((of, word)) => (of, word == "on"),
        None => (of, true),
    };
    let (of, scope) = of.rsplit_once(", scope ")?;
    let (of, limit) = of.rsplit_once(", at most ")?;
    let (folder, _) = of.rsplit_once(", ")?;
    let missing = rest
        .lines()
        .filter_map(|line| line.strip_prefix("without "));
    Some(CommandTerms {
        folder: folder.to_owned(),
        scope: Scope::of_word(scope)?,
        network,
        missing: missing.map(str::to_owned).collect(),
        bare: None,
        limit_ms: limit.strip_suffix(" ms")?.parse().ok()?,
        background,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::node::NodeSuspended;
    use crate::fact::turn::{CallFinished, ModelAnswered};

    #[test]
    fn a_question_in_the_words_of_a_packet_is_an_own_turn_only_where_the_record_does_not_say() {
        for (reason, said, expected) in [
            ("prompt_human", None, true),
            ("prompt_human", Some(false), false),
            ("prompt_human", Some(true), true),
            ("provider", None, false),
        ] {
            let waits = serde_json::json!({
                "node": "sign", "role": "owner", "reason": reason, "own_turn": said,
                "question": "You are at node `sign`.",
            });
            let waits: NodeSuspended = serde_json::from_value(waits).unwrap();
            assert_eq!(waits.is_own_turn(), expected, "{reason} {said:?}");
        }
    }

    #[test]
    fn what_only_a_model_needs_is_left_out_of_an_own_turn_only_where_the_record_does_not_say_how_it_was_asked()
     {
        let packet = "You are at node `sign`.\n<received>\nA plan.\n</received>\nEnd this turn with one of:\n- x";
        let asked = "Name a file.\n\nIt is your turn. End it with one of these";
        for (question, said, words, again) in [
            (packet, None, "<received>\nA plan.\n</received>", None),
            (packet, Some(serde_json::json!({})), packet, None),
            (asked, None, asked, Some("Name a file.")),
            (
                asked,
                Some(serde_json::json!({ "again": "No such file." })),
                asked,
                Some("No such file."),
            ),
        ] {
            let waits = serde_json::json!({
                "node": "sign", "role": "owner", "reason": "prompt_human", "own_turn": true,
                "question": question, "asked": said,
            });
            let waits: NodeSuspended = serde_json::from_value(waits).unwrap();
            assert_eq!(waits.words().as_deref(), Some(words), "{said:?}");
            assert_eq!(waits.again().as_deref(), again, "{said:?}");
        }
    }

    #[test]
    fn the_file_of_a_call_is_read_from_its_summary() {
        assert_eq!(path_of("write notes/a.md (12 bytes)"), "notes/a.md");
        assert_eq!(path_of("edit src/lib.rs, 2 places"), "src/lib.rs");
    }

    #[test]
    fn a_command_is_read_from_the_end_of_its_line_and_a_folder_speaks_for_nothing() {
        let head =
            "run_command in /w/My Project, v2, 5 bytes, at most 9 ms, scope sandboxed, network off";
        let expected = CommandTerms {
            folder: "/w/My Project, v2".to_owned(),
            scope: Scope::Sandboxed,
            network: false,
            missing: Vec::new(),
            bare: None,
            limit_ms: 9,
            background: false,
        };
        let shown = format!("{head}\nls -l");
        let (read, rest) = terms("run_command", &shown);
        assert_eq!(read, Some(ConsentTerms::Command(expected.clone())));
        assert_eq!(rest, "ls -l");
        let shown = format!("{head}, in the background\nls\nwithout Landlock");
        let (read, _) = terms("run_command", &shown);
        let missing = vec!["Landlock".to_owned()];
        let beside = CommandTerms {
            missing,
            background: true,
            ..expected
        };
        assert_eq!(read, Some(ConsentTerms::Command(beside)));
    }

    #[test]
    fn other_tools_say_their_file_or_nothing() {
        for (tool, shown, path, rest) in [
            (
                "write_file",
                "write_file a b.md\nText.\n",
                Some("a b.md"),
                "Text.\n",
            ),
            ("edit_file", "edit_file a.md\n1\t-x", Some("a.md"), "1\t-x"),
            (
                "apply_patch",
                "apply_patch\nnew file a\nx",
                None,
                "new file a\nx",
            ),
            (
                "fetch_url",
                "fetch_url\nhttps://example.org/",
                None,
                "https://example.org/",
            ),
            ("mcp__a__b", "mcp__a__b\n{}", None, "{}"),
            ("read_file", "read_file", None, "read_file"),
            ("run_command", "run_command in nowhere\nls", None, "ls"),
            ("run_command", "ls", None, "ls"),
        ] {
            let (found, text) = terms(tool, shown);
            let found = found.as_ref().and_then(|terms| terms.paths().next());
            assert_eq!((found, text), (path, rest), "{shown}");
        }
    }

    #[test]
    fn how_a_command_ended_is_read_from_its_first_line_only_where_the_record_does_not_say() {
        use CommandExit::{Code, Signal};
        for (output, said, expected) in [
            ("[exit code 0]\nok", None, Some(Code(0))),
            ("[exit 101, 0.1 s]\nno", None, Some(Code(101))),
            ("[signal 15, 0.1 s]\n", None, Some(Signal(15))),
            (
                "exit code 2; stdout 0 bytes, stderr 9 bytes\n",
                None,
                Some(Code(2)),
            ),
            (
                "ended by signal 9; stdout 0 bytes, stderr 0 bytes\n",
                None,
                Some(Signal(9)),
            ),
            ("stopped; stdout 0 bytes, stderr 0 bytes\n", None, None),
            ("exit code 2; stdout is empty\n", None, None),
            ("exit 1", None, None),
            ("[exit x]", None, None),
            ("a line\n[exit 1]", None, None),
            ("[exit 1]", Some(("exit", 3)), Some(Code(3))),
            ("[exit 1]", Some(("signal", 9)), Some(Signal(9))),
        ] {
            let mut finished = serde_json::json!({
                "call": "c1", "turn": 1, "role": "owner", "tool_call": "t1", "tool": "run_command",
                "end": "failed", "output": output, "message": "m1",
            });
            if let Some((member, number)) = said {
                finished[member] = number.into();
            }
            let mut other = finished.clone();
            other["end"] = "timed_out".into();
            let other: CallFinished = serde_json::from_value(other).unwrap();
            let of_other = expected.filter(|_| said.is_some());
            assert_eq!(other.command_exit(), of_other, "{output}");
            let finished: CallFinished = serde_json::from_value(finished).unwrap();
            assert_eq!(finished.command_exit(), expected, "{output} {said:?}");
        }
    }

    #[test]
    fn a_report_of_a_program_is_known_by_its_words_only_where_the_record_does_not_say() {
        let asks = "The command reached its time limit and was ended.\n\n```handoff\ntype: prompt-human\n```\n";
        for (text, said, expected) in [
            ("The command ended with exit code 0.\n", None, true),
            ("The command ended with exit code 2.\n", None, false),
            (asks, None, true),
            ("The command line is long.\n", None, false),
            ("The command ended with exit code 0.\n", Some(false), false),
            ("It went wrong.\n", Some(true), true),
        ] {
            let answered = serde_json::json!({
                "turn": 1, "attempt": 1, "role": "owner", "request": 1, "message": "m1", "text": text,
                "stop": "end", "usage": crate::fact::turn::Usage::default(), "report": said,
            });
            let answered: ModelAnswered = serde_json::from_value(answered).unwrap();
            assert_eq!(answered.is_report(text), expected, "{text} {said:?}");
        }
    }

    #[test]
    fn that_a_model_got_less_is_read_from_the_output_only_where_the_record_does_not_say() {
        let says =
            "1\n[... 264 bytes in 90 lines left out; all of it: record/.outputs/c17.txt ...]\n94\n";
        for (output, said, expected) in [
            (says, None, true),
            (says, Some(false), false),
            ("nothing is left out", Some(true), true),
            ("90 lines left out; all of it: there", None, false),
        ] {
            let finished = serde_json::json!({
                "call": "c1", "turn": 1, "role": "owner", "tool_call": "t1", "tool": "run_command",
                "end": "done", "output": output, "message": "m1", "cut": said,
            });
            let finished: CallFinished = serde_json::from_value(finished).unwrap();
            assert_eq!(finished.is_cut(), expected, "{output} {said:?}");
        }
    }

    #[test]
    fn what_a_budget_lacks_is_read_as_it_was_meant_and_other_words_say_nothing() {
        let writer: RoleInstance = "writer_2".parse().unwrap();
        for (question, expected) in [
            (
                "the next request may take 4096 tokens, and the flow has 12 left",
                Some((None, Measure::Tokens, 4_096, 12)),
            ),
            (
                "the next request may take 7 millionths of cost, and writer_2 has 0 left",
                Some((Some(writer.clone()), Measure::CostMicros, 7, 0)),
            ),
            (
                "writer_2 may take 3 turns, and this is number 4",
                Some((Some(writer), Measure::Turns, 1, 0)),
            ),
            ("", None),
            ("the provider is busy", None),
            (
                "the next request may take many tokens, and the flow has 1 left",
                None,
            ),
            (
                "the next request may take 9 sheep, and the flow has 1 left",
                None,
            ),
            ("The Flow may take 3 turns, and this is number 4", None),
        ] {
            let expected = expected.map(|(role, measure, wants, left)| Lack {
                role,
                measure,
                wants,
                left,
            });
            assert_eq!(lack(question), expected, "{question}");
        }
    }
}
