//! What once went wrong at the terminal, played again on the real binary. Each row of the table is something that was seen;
//! the test beside it, here or where its subject is, fails if it is seen again.
//!
//! | Seen | Test |
//! |---|---|
//! | A `yes` typed while a role works approves a handoff that was not shown | [`a_yes_that_was_typed_while_a_role_works_approves_nothing`] |
//! | Lines typed while roles work answer a later question | `prompted`: `a_line_that_was_typed_before_a_question_was_shown_does_not_answer_it` |
//! | An answer from elsewhere removes a half-typed one | `prompted`: `a_half_typed_answer_outlives_an_answer_from_elsewhere_and_is_offered_again` |
//! | Ctrl-C in a reason ends `watch` and loses the text | [`ctrl_c_in_a_reason_leaves_it_and_the_reason_is_there_when_it_is_opened_again`] |
//! | The last picture is printed twice | [`at_the_end_nothing_of_the_block_is_left_and_no_row_is_printed_twice`] |
//! | At 80 columns the heading is cut, at 40 there are no states | [`at_eighty_and_forty_columns_a_heading_names_the_flow_and_each_node_has_its_state`] |
//! | After each answer a part of a heading is left | [`after_each_answer_nothing_of_a_block_is_left_above_it`] |
//! | Another size of the terminal leaves old headings | [`a_terminal_of_another_size_shows_one_block_and_keeps_what_is_finished`] |
//! | Enter tears the picture, because what is typed is echoed | [`enter_and_letters_typed_while_roles_work_leave_the_picture_whole`] |
//! | The cursor of a dumb terminal is moved | `watched`: `on_a_terminal_that_takes_lines_only_no_command_moves_the_cursor`, `on_a_terminal_that_takes_lines_only_a_question_ends_the_run_and_watch_names_what_works` |
//! | The picture is sent ten times a second when nothing changes | [`a_picture_is_sent_when_it_changes_and_each_is_one_frame`] |
//! | What a role says is not shown | `shown_live`: `a_terminal_shows_each_word_once_and_code_unbroken_and_then_what_ran_and_what_it_cost` |
//! | A tool runs without its name or file | [`in_a_pipe_a_call_names_its_file_and_a_wait_for_a_provider_its_seconds`] |
//! | A wait for a provider reads as work | [`in_a_pipe_a_call_names_its_file_and_a_wait_for_a_provider_its_seconds`], `hurried`: `a_flow_that_waits_for_its_provider_says_for_how_long_and_one_that_was_killed_says_that_it_stopped` |
//! | The end names no result, files, time or money, and lists nodes that are done | [`the_end_names_result_files_time_and_money_and_lists_and_status_name_the_money`], [`of_many_nodes_those_at_work_have_rows_and_the_rest_is_counted`] |
//! | A person's turn shows the prompt that is made for models | [`a_turn_of_the_operator_shows_what_came_in_and_no_words_for_models`] |
//! | A long question is cut, and breaks inside words | [`a_question_of_one_long_line_is_shown_whole_and_breaks_at_words`] |
//! | `ls` is wider than the terminal, and cuts titles in a pipe | [`lists_fit_eighty_columns_and_a_pipe_gets_whole_titles`] |
//! | After a kill the list says `running` and the status both | `hurried`: `a_flow_that_waits_for_its_provider_says_for_how_long_and_one_that_was_killed_says_that_it_stopped` |
//! | Ten equal questions without a flow, and hidden flows | `watch::tests`: `ten_questions_and_fourteen_flows_on_a_usual_screen`; `watch::layout`: `short_lists_give_their_rows_away` |
//! | Unknown keys of `watch` do nothing, and words break | `watched_keys`: `a_flow_is_opened_and_left_and_the_lists_are_filtered_and_the_keys_explained`; `watch::tests`: `no_row_is_wider_than_the_screen_and_no_word_breaks_in_the_feed` |
//! | `show` has wide lines, long stamps, raw blocks and names twice | [`show_fits_eighty_columns_without_stamps_blocks_or_names_twice`] |
//! | A family of emoji is shown as escapes | [`show_fits_eighty_columns_without_stamps_blocks_or_names_twice`] |
//! | With `--json` the flow is named last, and there is no text and no tool | `shown_live`: `programs_get_the_text_the_tools_and_the_tokens_of_a_flow_as_they_come` |
//! | Errors have two styles, numbers of the system, and causes twice; help is torn | `cli::arguments`: `a_flow_file_that_is_not_there_names_those_that_are_and_no_number_of_the_system`, `refused_arguments_look_like_every_other_error_and_say_what_can_be_typed`; `looked_at`: `the_help_is_no_wider_than_the_terminal`; [`a_cause_is_printed_once_and_what_ctrl_c_leads_to_begins_a_line`] |

use std::thread::sleep;
use std::time::Duration;

use rustix::termios::{LocalModes, tcgetattr};
use unicode_width::UnicodeWidthStr as _;

use super::models::{Model, call, with_model};
use super::place::{FLOW, Place, RUN, SLOW, wait_until};
use super::prompted::{APPROVED, SETTLED, SIGNED};
use super::watched::Terminal;

const ROUND: [&str; 4] = ["run", "demo/flow.yaml", "--improve", "none"];

/// Rows and columns that are usual.
const USUAL: (u16, u16) = (24, 80);

/// Long names, a title of wide signs, two roles that stream at once, and a question at the node behind both.
const LEDGER: &str = r"workflow:
  name: 'Ledger close 台帳 📒'
  nodes:
    - { id: gather-the-receipts, role: bookkeeper }
    - { id: backend-of-the-ledger, role: writer }
    - { id: frontend-of-the-ledger, role: painter }
    - { id: review, role: editor, await-all-inputs: true }
    - { id: publish, role: bookkeeper }
  edges:
    - { from: gather-the-receipts, to: backend-of-the-ledger }
    - { from: gather-the-receipts, to: frontend-of-the-ledger }
    - { from: backend-of-the-ledger, to: review }
    - { from: frontend-of-the-ledger, to: review }
    - { from: review, to: publish }
roles:
  bookkeeper: { executor: scripted, instructions: You gather. }
  writer: { executor: scripted, instructions: You write. }
  painter: { executor: scripted, instructions: You paint. }
  editor: { executor: scripted, instructions: You review. }
";

/// So many pieces a tenth of a second apart.
fn ledger(pieces: u32) -> Place {
    let script = format!(
        r"default: forward
script:
  - node: backend-of-the-ledger
    say:
      - stream: {{ text: 'I sum the lines of the month, one after the other, in the order of the bank.', pieces: {pieces}, every-ms: 100 }}
      - forward: Summed.
  - node: frontend-of-the-ledger
    say:
      - stream: {{ text: 'I draw the totals of the month, one after the other, in the order of the bank.', pieces: {pieces}, every-ms: 100 }}
      - forward: Drawn.
  - {{ node: review, turn: 1, say: [ 'Which of the two totals is right?', {{ signal: prompt-human }} ] }}
  - {{ node: review, turn: 2, say: [ {{ forward: Reviewed. }} ] }}
"
    );
    Place::new(LEDGER, &script)
}

fn started(place: &Place, words: &[&str], size: (u16, u16)) -> Terminal {
    Terminal::start_sized(place, words, (&[], size))
}

/// How many rows have these words.
fn times(rows: &[String], words: &str) -> usize {
    rows.iter().filter(|row| row.contains(words)).count()
}

fn journal(place: &Place) -> String {
    place.journal(&place.flow().unwrap())
}

#[test]
fn a_yes_that_was_typed_while_a_role_works_approves_nothing() {
    let script = r"default: forward
script:
  - node: write
    say:
      - stream: { text: 'I think about the plan of the month for a while.', pieces: 10, every-ms: 100 }
      - write: { path: plan.md, text: 'The plan.' }
      - handoff: { to: check, artifact: plan.md }
";
    let place = Place::new(APPROVED, script);
    let mut terminal = started(&place, &ROUND, USUAL);
    terminal.shows("writing");
    terminal.press("yes\n");
    terminal.shows("y approve · n send back");
    sleep(SETTLED);
    assert!(!journal(&place).contains("\"handoff_decided\""));
    terminal.press("y");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    assert!(journal(&place).contains("\"handoff_decided\""));
}

#[test]
fn ctrl_c_in_a_reason_leaves_it_and_the_reason_is_there_when_it_is_opened_again() {
    let model = Model::start();
    let place = with_model(&model);
    place.run_until_it_waits();
    let mut terminal = started(&place, &["watch"], USUAL);
    terminal.shows("1 needs you");
    terminal.press("\u{1b}[B");
    terminal.shows("y once");
    sleep(SETTLED);
    terminal.press("r");
    terminal.shows("> ");
    terminal.press("\u{1b}[200~Ask the editor first.\u{1b}[201~");
    terminal.shows("Ask the editor first.");
    terminal.press("\u{3}");
    terminal.shows("y once");
    assert!(terminal.child.try_wait().unwrap().is_none());
    sleep(SETTLED);
    terminal.press("r");
    terminal.shows("Ask the editor first.");
    terminal.press("\r");
    terminal.shows("denied");
    sleep(SETTLED);
    // Elsewhere it ends the screen, with the code of an interruption.
    terminal.press("\u{3}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    assert!(journal(&place).contains("Ask the editor first."));
}

#[test]
fn at_the_end_nothing_of_the_block_is_left_and_no_row_is_printed_twice() {
    let place = Place::new(FLOW, SLOW);
    let mut terminal = started(&place, &ROUND, USUAL);
    let (code, _) = terminal.all_written();
    assert_eq!(code, Some(0));
    let rows = terminal.scrolled();
    assert_eq!(times(&rows, " done · "), 1, "the last line: {rows:#?}");
    assert_eq!(times(&rows, "✓ Hello is done"), 1, "{rows:#?}");
    assert_eq!(times(&rows, "? keys"), 0, "{rows:#?}");
    let mut said: Vec<&str> = rows.iter().map(|row| row.trim()).collect();
    // Who speaks is named each time.
    said.retain(|row| !row.is_empty() && !row.ends_with(':'));
    let all = said.len();
    said.sort_unstable();
    said.dedup();
    assert_eq!(said.len(), all, "{rows:#?}");
}

#[test]
fn at_eighty_and_forty_columns_a_heading_names_the_flow_and_each_node_has_its_state() {
    for columns in [80, 40] {
        let place = ledger(25);
        let terminal = started(&place, &ROUND, (24, columns));
        terminal.shows("1 of 5 done");
        terminal.shows("writing");
        let flow = place.flow().unwrap();
        let short = flow.rsplit('-').next().unwrap();
        let rows = terminal.screen();
        let all = terminal.scrolled();
        let head: String = all.iter().take(4).map(|row| row.as_str()).collect();
        assert!(head.contains("Ledger close 台帳 📒"), "{rows:#?}");
        assert!(
            head.replace(' ', "").contains(&format!("demo/{short}")),
            "{rows:#?}"
        );
        let row = |name: &str| {
            let mut blocks = rows.iter().rev();
            let found = blocks.find(|row| row.contains(&format!(" {name}")));
            found.unwrap_or_else(|| panic!("{name}: {rows:#?}")).clone()
        };
        assert!(row("gather").contains("done"), "{rows:#?}");
        assert!(row("backend").contains("writing"), "{rows:#?}");
        assert!(row("frontend").contains("writing"), "{rows:#?}");
        // What is left out goes whole: no number and no word of the last line is cut.
        let last = rows.iter().find(|row| row.contains("of 5 done")).unwrap();
        assert!(last.starts_with("working · 1 of 5 done"), "{last:?}");
    }
}

/// A question, an approval and a turn of the operator's own.
const GATE: &str = r"workflow:
  name: Gate
  nodes:
    - { id: start, role: owner }
    - { id: propose, role: planner, human-colab: true }
    - { id: sign, role: lead }
    - { id: file, role: owner }
  edges: [{ from: start, to: propose }, { from: propose, to: sign }, { from: sign, to: file }]
roles:
  owner: { executor: scripted, instructions: You keep the plans. }
  planner: { executor: scripted, instructions: You plan. }
  lead: { executor: human }
";

const GATED: &str = r"default: forward
script:
  - { node: propose, turn: 1, say: [ 'How many people will come?', { signal: prompt-human } ] }
  - { node: propose, say: [ { forward: 'The plan.' } ] }
";

#[test]
fn after_each_answer_nothing_of_a_block_is_left_above_it() {
    let place = Place::new(GATE, GATED);
    let mut terminal = started(&place, &ROUND, USUAL);
    let is_whole = |terminal: &Terminal| {
        let rows = terminal.scrolled();
        let heads: Vec<&String> = rows
            .iter()
            .filter(|row| row.contains(" of 4 done"))
            .collect();
        assert!(heads.len() <= 1, "{rows:#?}");
        let begins = |row: &&String| {
            let row = row.as_str();
            row.starts_with("waiting") || row.starts_with("working") || row.starts_with("done")
        };
        assert!(heads.iter().all(begins), "{rows:#?}");
    };
    terminal.shows("your answer>");
    is_whole(&terminal);
    terminal.press("Twelve.");
    terminal.shows("your answer> Twelve.");
    sleep(SETTLED);
    terminal.press("\r");
    terminal.shows("y approve · n send back");
    is_whole(&terminal);
    sleep(SETTLED);
    terminal.press("y");
    terminal.shows("sign (lead): your turn");
    terminal.shows("l later");
    is_whole(&terminal);
    sleep(SETTLED);
    terminal.press("a");
    terminal.shows("your answer (empty goes back)>");
    is_whole(&terminal);
    terminal.press("\u{1b}");
    terminal.shows("l later");
    is_whole(&terminal);
    sleep(SETTLED);
    terminal.press("l");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
}

#[test]
fn a_terminal_of_another_size_shows_one_block_and_keeps_what_is_finished() {
    let place = ledger(40);
    let mut terminal = started(&place, &ROUND, (30, 110));
    terminal.shows("1 of 5 done");
    let mut sizes = [60, 40, 100].into_iter().cycle();
    let mut check = |terminal: &mut Terminal| {
        for columns in sizes.by_ref().take(3) {
            terminal.resize(30, columns);
            wait_until("the block is drawn for this size", || {
                let rows = terminal.screen();
                let keys = times(&rows, "enter sends") + times(&rows, "? keys");
                (times(&rows, " of 5 done"), keys) == (1, 1)
            });
        }
    };
    check(&mut terminal);
    terminal.shows("your answer>");
    check(&mut terminal);
    // What was printed once is there once.
    let rows = terminal.scrolled();
    for words in [
        "  gather-the-receipts (bookkeeper)  done",
        "Ledger close 台帳 📒  demo/",
    ] {
        assert_eq!(times(&rows, words), 1, "{words}: {rows:#?}");
    }
}

#[test]
fn enter_and_letters_typed_while_roles_work_leave_the_picture_whole() {
    let place = ledger(25);
    let mut terminal = started(&place, &ROUND, USUAL);
    terminal.shows("1 of 5 done");
    let modes = tcgetattr(&terminal.keys).unwrap().local_modes;
    assert!(!modes.intersects(LocalModes::ECHO | LocalModes::ICANON));
    for keys in ["\n", "hello operator\n", "\n", "\u{1b}[A", "\n"] {
        terminal.press(keys);
        sleep(Duration::from_millis(120));
        let rows = terminal.screen();
        assert_eq!(times(&rows, " of 5 done"), 1, "{rows:#?}");
        assert_eq!(times(&rows, "? keys"), 1, "{rows:#?}");
        assert_eq!(times(&rows, "hello operator"), 0, "{rows:#?}");
    }
    terminal.shows("your answer>");
    assert!(!journal(&place).contains("\"operator_replied\""));
}

#[test]
fn a_picture_is_sent_when_it_changes_and_each_is_one_frame() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "run_command",
            serde_json::json!({ "command": "sleep 5" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = [
        "run",
        "demo/flow.yaml",
        "--allow",
        "commands",
        "--improve",
        "none",
    ];
    let terminal = started(&place, &words, USUAL);
    terminal.shows("run sleep 5");
    let before = terminal.written().len();
    sleep(Duration::from_secs(3));
    let written = terminal.written()[before..].to_owned();
    let frames = written.matches("\u{1b}[?2026h").count();
    // The clocks change once a second each, and they need not change together.
    assert!((2..=8).contains(&frames), "{frames}: {written:?}");
    let ends = written.matches("\u{1b}[?2026l").count();
    assert!(frames.abs_diff(ends) <= 1, "{written:?}");
    let longest = written.split("\u{1b}[?2026l").map(str::len).max();
    assert!(longest <= Some(4096), "{longest:?}");
    for moves in ["\u{1b}[2J", "\u{1b}[3J", "\u{1b}[H"] {
        assert!(!terminal.written().contains(moves), "{moves:?}");
    }
}

#[test]
fn in_a_pipe_a_call_names_its_file_and_a_wait_for_a_provider_its_seconds() {
    fn refuses(number: usize) -> Option<(u16, String)> {
        let error = serde_json::json!({ "type": "rate_limit_error", "message": "Slow down." });
        let body = serde_json::json!({ "type": "error", "error": error });
        (number <= 1).then(|| (429, body.to_string()))
    }
    let model = Model::start_asking_for_time(
        |results| match results {
            0 => vec![call(
                0,
                "write_file",
                serde_json::json!({ "path": "notes.md", "content": "The notes.\n" }),
            )],
            _ => Vec::new(),
        },
        refuses,
        2,
    );
    let place = with_model(&model);
    let said = place.run(&[&RUN[..], &["--allow", "edits"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let told = format!("{}{}", said.out, said.err);
    let line = |words: &str| {
        let found = told.lines().find(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {told}"))
    };
    assert!(line("rate limited").contains("retrying in "), "{told}");
    assert!(line("rate limited").contains(" s (1 of "), "{told}");
    assert!(line("write notes.md").contains("owner"), "{told}");
    assert!(!told.contains("runs a tool"), "{told}");
}

#[test]
fn the_end_names_result_files_time_and_money_and_lists_and_status_name_the_money() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "write_file",
            serde_json::json!({ "path": "notes.md", "content": "The notes.\n" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = [
        "run",
        "demo/flow.yaml",
        "--allow",
        "edits",
        "--improve",
        "none",
    ];
    let mut terminal = started(&place, &words, USUAL);
    let (code, _) = terminal.all_written();
    assert_eq!(code, Some(0));
    let rows = terminal.scrolled();
    let last = rows
        .iter()
        .find(|row| row.starts_with("✓ By a model is done · "));
    let last = last.unwrap_or_else(|| panic!("{rows:#?}"));
    assert!(last.contains(" s · "), "how long it took: {last}");
    assert!(last.contains(" tokens"), "{last}");
    assert_eq!(times(&rows, "result   "), 1, "{rows:#?}");
    assert_eq!(times(&rows, "changed  1 file, +1 −0"), 1, "{rows:#?}");
    assert_eq!(times(&rows, "ROLE   MODEL"), 1, "{rows:#?}");
    let flow = place.flow().unwrap();
    let cost = place.status(&flow)["cost"]["all"]["cost_micros"].clone();
    if cost.as_u64().unwrap_or(0) > 0 {
        assert!(place.run(&["ls", "--all"]).out.contains('$'));
    }
}

/// A chain of many nodes, of which the one in the middle works for a while.
fn long_chain(nodes: usize) -> Place {
    let ids: Vec<String> = (1..=nodes).map(|at| format!("step-{at}")).collect();
    let rows: Vec<String> = ids
        .iter()
        .map(|id| format!("    - {{ id: {id}, role: worker }}\n"))
        .collect();
    let edges: Vec<String> = ids
        .windows(2)
        .map(|pair| format!("    - {{ from: {}, to: {} }}\n", pair[0], pair[1]))
        .collect();
    let flow = format!(
        "workflow:\n  name: Long\n  nodes:\n{}  edges:\n{}roles:\n  worker: {{ executor: scripted, instructions: You work. }}\n",
        rows.concat(),
        edges.concat()
    );
    let script = format!(
        "default: forward\nscript:\n  - {{ node: step-{}, say: [ {{ stream: {{ text: 'I look at every one \
         of them.', pieces: 20, every-ms: 100 }} }}, {{ forward: Seen. }} ] }}\n",
        nodes / 2
    );
    Place::new(&flow, &script)
}

#[test]
fn of_many_nodes_those_at_work_have_rows_and_the_rest_is_counted() {
    let place = long_chain(30);
    let mut terminal = started(&place, &ROUND, (16, 80));
    terminal.shows("step-15");
    terminal.shows("writing");
    let rows = terminal.screen();
    let at = rows
        .iter()
        .position(|row| row.contains("step-15  ") && row.contains("writing"));
    let counted = rows.iter().find(|row| row.contains("not reached"));
    let counted = counted.unwrap_or_else(|| panic!("{rows:#?}"));
    assert!(at.is_some(), "{rows:#?}");
    assert!(counted.contains(" done, "), "{rows:#?}");
    assert_eq!(times(&rows, "✓ step-"), 0, "{rows:#?}");
    let (code, _) = terminal.all_written();
    assert_eq!(code, Some(0));
    // The end lists no nodes, which are all done.
    let rows = terminal.scrolled();
    let end = rows
        .iter()
        .position(|row| row.starts_with("✓ Long is done"));
    let end = end.unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!(times(&rows[end..], "✓ step-"), 0, "{rows:#?}");
}

#[test]
fn a_turn_of_the_operator_shows_what_came_in_and_no_words_for_models() {
    let script = "default: forward\nscript:\n  - { node: write, say: [{ forward: 'The plan has no date.' }] }\n";
    let place = Place::new(SIGNED, script);
    let mut terminal = started(&place, &ROUND, (40, 110));
    terminal.shows("sign (lead): your turn");
    terminal.shows("The plan has no date.");
    let rows = terminal.scrolled().join("\n");
    for words in [
        "target_node_id",
        "```handoff",
        "artifact_path",
        "<packet",
        "You are at node",
    ] {
        assert!(!rows.contains(words), "{words}: {rows}");
    }
    sleep(SETTLED);
    terminal.press("l");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
    let shown = place.run(&["status", &place.flow().unwrap()]).out;
    assert!(!shown.contains("target_node_id"), "{shown}");
}

#[test]
fn a_question_of_one_long_line_is_shown_whole_and_breaks_at_words() {
    let words: Vec<String> = (1..=90).map(|at| format!("total-{at}")).collect();
    let question = format!("Which of these is right: {}?", words.join(" "));
    assert!(question.width() > 600);
    let script = format!(
        "default: forward\nscript:\n  - {{ node: write, turn: 1, say: [ '{question}', {{ signal: prompt-human }} ] }}\n"
    );
    let place = Place::new(FLOW, &script);
    let mut terminal = started(&place, &ROUND, (40, 80));
    terminal.shows("your answer>");
    let rows = terminal.screen();
    let shown: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.trim_end().strip_prefix("│ "))
        .flat_map(str::split_whitespace)
        .collect();
    assert_eq!(shown.join(" "), question, "{rows:#?}");
    terminal.press("\u{1b}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(8));
    let status = place.run(&["status", &place.flow().unwrap()]);
    assert!(status.out.contains("total-90?"), "{status:?}");
}

#[test]
fn lists_fit_eighty_columns_and_a_pipe_gets_whole_titles() {
    let title = "A title of the month that is a good deal longer than one row of a usual terminal is wide 台帳";
    let place = Place::new(FLOW, super::place::ASKING);
    let named = [&RUN[..], &["--title", title]].concat();
    assert_eq!(place.run(&named).code, 8);
    let mut terminal = started(&place, &["ls"], USUAL);
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(0), "{written}");
    for row in written.replace('\r', "").lines() {
        let plain: String = vt100_text(row);
        assert!(plain.width() <= 80, "{row:?}");
    }
    assert!(written.contains("waiting for you"), "{written}");
    let piped = place.run(&["ls"]).out;
    assert!(piped.contains(title), "{piped}");
}

/// A row without its colours.
fn vt100_text(row: &str) -> String {
    let mut plain = String::new();
    let mut rest = row;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = sequence.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain
}

#[test]
fn show_fits_eighty_columns_without_stamps_blocks_or_names_twice() {
    let family = "👩\u{200d}👩\u{200d}👧";
    let script = super::place::ASKING
        .replace(
            "Which colour?",
            &format!("Which colour does the family {family} like?"),
        )
        .replace("Blue notes.", &"Blue notes of the month. ".repeat(12));
    let place = Place::new(FLOW, &script);
    let flow = place.run_until_it_waits();
    let asked = place.run(&["show", &flow]).out;
    assert!(asked.contains(family), "{asked}");
    assert!(!asked.contains("\\u{200d}"), "{asked}");
    assert_eq!(place.run(&["reply", &flow, "Blue."]).code, 0);
    let resume = ["resume", &flow, "--until-waiting", "--improve", "none"];
    assert_eq!(place.run(&resume).code, 0);
    let mut terminal = started(&place, &["show", &flow], USUAL);
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(0), "{written}");
    for row in written.replace('\r', "").lines() {
        let plain = vt100_text(row);
        assert!(plain.width() <= 80 + family.chars().count(), "{row:?}");
    }
    for words in ["target_node_id", "```", "write_file: write"] {
        assert!(!written.contains(words), "{words}: {written}");
    }
}

#[test]
fn a_cause_is_printed_once_and_what_ctrl_c_leads_to_begins_a_line() {
    let place = Place::new(FLOW, &SLOW.replace("every-ms: 8", "every-ms: 300"));
    let said = place.run(&["run", "fan-out"]);
    assert_eq!(said.code, 3, "{said:?}");
    let lines: Vec<&str> = said.err.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("error["), "{said:?}");
    let why: Vec<&&str> = lines
        .iter()
        .filter(|line| line.starts_with("why: "))
        .collect();
    assert_eq!(why.len(), 1, "{said:?}");
    assert_eq!(said.err.matches("fan-out").count(), 1, "{said:?}");
    assert!(!said.err.contains("os error"), "{said:?}");
    let mut terminal = Terminal::start_in_control(&place, &ROUND, USUAL);
    terminal.shows("writing");
    terminal.press("\u{3}");
    terminal.writes("interrupted: nothing new is started", 1);
    let (code, written) = terminal.all_written();
    assert_eq!(code, Some(130), "{written}");
    assert!(!written.contains("^C"), "{written}");
    let rows = terminal.scrolled();
    let row = rows
        .iter()
        .find(|row| row.contains("interrupted: nothing new"));
    assert!(row.unwrap().starts_with("interrupted"), "{rows:#?}");
}
