//! What the tools of a role do, seen at both far ends: in the next request of its model, and in the files and
//! processes of the machine.
//!
//! What is to be proven of tools and prompts, and where it is. Names without a module are of this file; those of
//! `roles/` are beside the code.
//!
//! | Case | Test |
//! |---|---|
//! | lines 41 to 43 of 118, an offset past the end | `files_are_read_by_lines_…`, `changing::a_model_reads_lines_byte_for_byte_…` |
//! | a long output: its bound, the file beside it, its middle | `beside::the_middle_of_a_long_output_…`, in `roles/` `a_file_is_shown_as_far_as_its_bound_of_bytes_…` |
//! | other names of tools and members; differing and unknown ones | `files_are_read_by_lines_…`, `a_search_leaves_out_…`, `a_command_does_not_wait_…` |
//! | an edit in a file with a mark and returns | `files_are_read_by_lines_…` |
//! | three edits of which one misses | `files_are_read_by_lines_…` |
//! | copied line numbers, another indentation, two candidates | `an_edit_finds_what_differs_in_one_certain_way_…`, in `roles/` `doubt_is_refused_with_all_places_…` |
//! | a blank text to replace | `files_are_read_by_lines_…` |
//! | a file that changed since it was read | `an_edit_of_a_file_that_changed_…`, `known::another_process_says_which_lines_…` |
//! | a file that was not read | `an_edit_of_a_file_that_changed_…`, `an_edit_finds_what_differs_…` |
//! | a text in four parts, killed after each | `changing::a_text_that_is_appended_in_parts_…` |
//! | links that lead out, second names, what is closed | `changing::nothing_of_what_is_out_of_reach_…` |
//! | a search: ignored files, a wrong expression, 431 matches, lines around | `a_search_leaves_out_…` |
//! | one file among 100,000 | in `roles/` `files_are_found_among_a_hundred_thousand` |
//! | what a command leaves running | `a_command_does_not_wait_…` |
//! | a command without end | `a_command_without_end_…` |
//! | commands in the shared folder | `commands_reach_the_shared_folder_…` |
//! | each command begins in the project | `a_command_does_not_wait_…` |
//! | commands beside the turn | `beside::a_command_beside_the_turn_…`, `ended::a_command_beside_a_turn_does_not_outlive_a_kill_…`, `known::the_next_packet_says_which_commands_ended_…`, in `roles/` `there_are_eight_at_most_…` |
//! | a denied command | `a_denied_command_comes_back_…` |
//! | a question beside a read, over a kill | `ended::a_question_beside_a_read_…`, `told::the_operator_is_asked_by_a_call_…` |
//! | an ending by call, by block, by both, beside a failing call | `told::a_turn_ends_by_a_call_…`, `ended::the_same_ending_by_call_and_block_…`, `told::a_handoff_beside_a_failing_call_…` |
//! | each repair, and a node that is closed now | `told::a_closed_ending_is_one_request_…`, in `roles/` `the_table_has_a_row_for_every_way_a_turn_can_end` |
//! | the same call again and again | `looping`, in `roles/` `taker/model/same.rs` |
//! | the second flow of a role, each wire | `ended::what_is_the_same_in_all_flows_of_a_role_…` |
//! | a tag and orders within an artifact | `ended::a_tag_within_an_artifact_…` |
//! | 200 artifacts for one node | `whole::a_node_behind_two_hundred_…` |
//! | many summaries, and the task list in them | `compacting::a_long_node_goes_on_over_many_summaries_…`, `small::a_summary_keeps_the_task_list` |
//! | a restart in mid-turn | `changing::a_role_may_replace_what_it_read_…`, `known::another_process_says_which_lines_…` |
//! | a patch: a wrong hunk, a kill between two files | `patched` |
//! | a local server: calls as words, as objects, without names, a prompt that was cut | `small::calls_that_a_local_model_spells_…`, `compacting::a_local_server_that_read_a_part_…`, in `roles/` `what_a_server_puts_beside_its_calls_…`, `names_of_calls_that_come_twice_…` |

use serde_json::{Value, json};

use super::models::{Model, call, with_model};
use super::place::Place;

type Said = Vec<(Value, Vec<Value>)>;

/// A text with a mark at its beginning and line ends of another system.
const MARKED: &str = "\u{feff}one\r\ntwo\r\nthree\r\n";

/// Reads and edits, one call in each answer.
fn reads_and_edits(results: usize) -> Said {
    let edits = |edits: Value| json!({ "path": "lines.txt", "edits": edits });
    let one = |old: &str, new: &str| json!({ "old_string": old, "new_string": new });
    let (tool, input) = match results {
        0 => (
            "read_file",
            json!({ "path": "lines.txt", "offset": 41, "limit": 3 }),
        ),
        1 => ("read_file", json!({ "path": "lines.txt", "offset": 200 })),
        2 => ("Read", json!({ "file_path": "marked.txt" })),
        3 => (
            "Read",
            json!({ "file_path": "marked.txt", "path": "lines.txt" }),
        ),
        4 => (
            "edit_file",
            json!({ "path": "marked.txt", "edits": [one("two", "2")] }),
        ),
        5 => (
            "edit_file",
            edits(json!([
                one("line 7 ", "line seven "),
                one("line 41 of somewhere", "x"),
                one("line 9 ", "line nine ")
            ])),
        ),
        6 => ("edit_file", edits(json!([one(" ", "x")]))),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

/// Runs a flow to its end with everything allowed.
fn walked(place: &Place) {
    let flow = place.run_until_it_waits();
    assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
}

/// The results of tools as the last request shows them.
fn results(model: &Model) -> Vec<String> {
    let heard = model.heard().pop().unwrap();
    let request: Value = serde_json::from_str(&heard).unwrap();
    let messages = request["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let found = blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    found
        .map(|block| {
            let content = &block["content"];
            let text = content.as_str().or_else(|| content[0]["text"].as_str());
            text.unwrap().to_owned()
        })
        .collect()
}

#[test]
fn files_are_read_by_lines_and_an_edit_leaves_every_other_byte_as_it_was() {
    let model = Model::start_with(reads_and_edits);
    let place = with_model(&model);
    let lines: String = (1..=118)
        .map(|line| format!("line {line} of it\n"))
        .collect();
    place.write("demo/lines.txt", &lines);
    place.write("demo/marked.txt", MARKED);
    walked(&place);
    let read = |name: &str| std::fs::read_to_string(place.workspace.path().join(name)).unwrap();
    assert_eq!(read("demo/marked.txt"), MARKED.replace("two", "2"));
    assert_eq!(
        read("demo/lines.txt"),
        lines,
        "an edit that misses changes nothing"
    );
    let results = results(&model);
    assert_eq!(results.len(), 7, "{results:#?}");
    assert_eq!(
        results[0],
        "[lines.txt: lines 41-43 of 118; go on with offset 44]\n\
         41\tline 41 of it\n42\tline 42 of it\n43\tline 43 of it\n"
    );
    assert!(
        results[1].contains("has 118 lines; offset 200 is past the end"),
        "{}",
        results[1]
    );
    assert_eq!(
        results[2], "1\tone\n2\ttwo\n3\tthree\n",
        "the mark is hidden"
    );
    assert!(
        !results[3].contains("one"),
        "two paths are no path: {}",
        results[3]
    );
    assert!(
        results[5].contains("Edit 2 of 3: no such text in lines.txt. Nothing was changed."),
        "{}",
        results[5]
    );
    assert!(
        results[5].contains("line 41 of it"),
        "what is most alike is shown: {}",
        results[5]
    );
    assert!(!results[6].starts_with("Edited"), "{}", results[6]);
}

/// What a command leaves running is called in the system's list.
fn left_word() -> String {
    format!("a-society-left-behind-{}", std::process::id())
}

fn runs_commands(results: usize) -> Said {
    let command = match results {
        0 => format!("(exec -a {} sleep 60) & echo done", left_word()),
        1 => "mkdir -p sub && cd sub && pwd".to_owned(),
        2 => "pwd".to_owned(),
        _ => return Vec::new(),
    };
    vec![call(results, "Bash", json!({ "command": command }))]
}

#[test]
fn a_command_does_not_wait_for_what_it_leaves_behind_and_begins_in_the_project_each_time() {
    let model = Model::start_with(runs_commands);
    let place = with_model(&model);
    let begun = std::time::Instant::now();
    walked(&place);
    assert!(
        begun.elapsed().as_secs() < 40,
        "it waited for the end of a pipe"
    );
    let results = results(&model);
    assert!(
        results[0].starts_with("[exit 0") && results[0].contains("done"),
        "{}",
        results[0]
    );
    let last = |text: &str| text.trim_end().lines().last().unwrap().to_owned();
    assert!(last(&results[1]).ends_with("demo/sub"), "{}", results[1]);
    assert!(last(&results[2]).ends_with("demo"), "{}", results[2]);
    let word = left_word();
    let listed = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let lines = listed.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let mut lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    assert!(!lines.any(|line| line.starts_with(&word)), "it still runs");
}

/// A file that a command changes behind the back of an edit, and one that was not read.
/// Keeps a log in the record folder and goes on with it from commands.
fn uses_the_record(results: usize) -> Said {
    let run = |command: &str| ("run_command", json!({ "command": command }));
    let (tool, input) = match results {
        0 => (
            "write_file",
            json!({ "path": "record/log.md", "content": "from a tool\n" }),
        ),
        1 => run(
            "cat \"$A_SOCIETY_RECORD/log.md\"; echo from a command >> \"$A_SOCIETY_RECORD/log.md\"",
        ),
        2 => (
            "run_command",
            json!({ "command": "cat log.md", "folder": "record" }),
        ),
        3 => ("read_file", json!({ "path": "record/log.md" })),
        4 => run("seq -s '-' 40000; exit 3"),
        5 => run("cat \"$A_SOCIETY_RECORD\"/.outputs/*.txt | grep -o -- '-20000-'"),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn commands_reach_the_shared_folder_in_the_way_that_the_instructions_of_the_role_say() {
    let model = Model::start_with(uses_the_record);
    let place = with_model(&model);
    walked(&place);
    let results = results(&model);
    assert!(results[1].ends_with("\nfrom a tool\n"), "{}", results[1]);
    let both = "from a tool\nfrom a command\n";
    assert!(results[2].ends_with(both), "{}", results[2]);
    assert!(results[3].contains("2\tfrom a command"), "{}", results[3]);
    assert!(results[4].contains("record/.outputs/"), "{}", results[4]);
    assert!(results[5].ends_with("\n-20000-\n"), "{}", results[5]);
    let request: Value = serde_json::from_str(&model.heard()[0]).unwrap();
    let environment = request["system"][1]["text"].as_str().unwrap();
    let way = "`record/` (to them `$A_SOCIETY_RECORD`, or with folder `record`)";
    assert!(environment.contains(way), "{environment}");
    // The project has no folder of that name.
    assert!(!place.workspace.path().join("demo/record").exists());
}

fn edits_what_changed(results: usize) -> Said {
    let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "edits": [{ "old_string": old, "new_string": new }] });
    let (tool, input) = match results {
        // The first call asks, and another process goes on: what it knows of a file, it read itself.
        0 => ("run_command", json!({ "command": "true" })),
        1 => ("read_file", json!({ "path": "plan.md" })),
        2 => (
            "run_command",
            json!({ "command": "sed -i s/second/2nd/ plan.md" }),
        ),
        3 | 4 => ("edit_file", edit("plan.md", "first", "1st")),
        5 => (
            "write_file",
            json!({ "path": "unread.md", "content": "New.\n" }),
        ),
        6 => ("edit_file", edit("unread.md", "old words", "new words")),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn an_edit_of_a_file_that_changed_shows_the_change_and_the_same_call_then_counts() {
    let model = Model::start_with(edits_what_changed);
    let place = with_model(&model);
    place.write("demo/plan.md", "first\nsecond\nthird\n");
    place.write("demo/unread.md", "Some old words.\n");
    walked(&place);
    let read = |name: &str| std::fs::read_to_string(place.workspace.path().join(name)).unwrap();
    assert_eq!(read("demo/plan.md"), "1st\n2nd\nthird\n");
    assert_eq!(read("demo/unread.md"), "Some new words.\n");
    let results = results(&model);
    assert_eq!(results.len(), 7, "{results:#?}");
    assert!(
        results[3].contains("2nd") && !results[3].starts_with("Edited"),
        "{}",
        results[3]
    );
    assert!(results[4].starts_with("Edited plan.md"), "{}", results[4]);
    assert!(
        results[5].contains("Some old words."),
        "what stands there is shown: {}",
        results[5]
    );
    assert!(results[6].starts_with("Edited unread.md"), "{}", results[6]);
}

/// Searches in every way, and keeps a list of its tasks.
fn searches(results: usize) -> Said {
    let (tool, input) = match results {
        0 => ("grep", json!({ "pattern": "needle" })),
        1 => ("Grep", json!({ "pattern": "foo(" })),
        2 => ("grep", json!({ "pattern": "^many" })),
        3 => ("grep", json!({ "pattern": "middle", "-C": "2" })),
        4 => ("search_files", json!({ "text": "a.b", "path": null })),
        5 => {
            let done = json!({ "content": "Search", "status": "completed", "activeForm": "x" });
            let open = json!({ "content": "Tell", "status": "pending" });
            ("TodoWrite", json!({ "todos": [done, open] }))
        }
        6 => ("Grep", json!({ "pattern": "a", "query": "b" })),
        7 => ("Grep", json!({ "pattern": "a", "colour": "red" })),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn a_search_leaves_out_what_is_ignored_counts_what_is_too_much_and_says_how_to_mend_it() {
    let model = Model::start_with(searches);
    let place = with_model(&model);
    std::fs::create_dir(place.workspace.path().join("demo/sub")).unwrap();
    for (name, text) in [
        (".gitignore", "*.log\n!keep.log\n"),
        ("a.log", "needle\n"),
        ("keep.log", "needle\n"),
        ("sub/.gitignore", "x.txt\n"),
        ("sub/x.txt", "needle\n"),
        ("sub/y.txt", "needle\n"),
        ("lines.txt", "one\ntwo\nmiddle\nfour\nfive\nsix\n"),
        ("dots.txt", "axb\na.b\n"),
    ] {
        place.write(&format!("demo/{name}"), text);
    }
    place.write("demo/many.txt", &"many\n".repeat(431));
    let said = place.run(&super::place::RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let results = results(&model);
    assert!(
        results[0].contains("keep.log:1:needle\n") && results[0].contains("sub/y.txt:1:needle\n"),
        "{}",
        results[0]
    );
    assert!(
        !results[0].contains("a.log") && !results[0].contains("x.txt"),
        "{}",
        results[0]
    );
    assert!(
        results[1].contains(r"to search it literally: foo\("),
        "{}",
        results[1]
    );
    assert!(
        results[2].contains("200 of") && results[2].contains("431 matches"),
        "{}",
        results[2]
    );
    assert!(
        results[3].starts_with(
            "lines.txt-1-one\nlines.txt-2-two\nlines.txt:3:middle\nlines.txt-4-four\nlines.txt-5-five\n"
        ),
        "{}",
        results[3]
    );
    assert!(
        results[4].contains("dots.txt:2:a.b") && !results[4].contains("axb"),
        "{}",
        results[4]
    );
    assert!(results[5].contains("[1 of 2 done]"), "{}", results[5]);
    assert!(
        results[6].contains("pattern is given twice, differently"),
        "{}",
        results[6]
    );
    assert!(
        results[7].contains("there is no colour. Right: {pattern: string"),
        "{}",
        results[7]
    );
}

/// Edits with copied line numbers, with another indentation, at one of two like places, and unread.
fn edits_leniently(results: usize) -> Said {
    let edit = |path: &str, old: &str, new: &str| json!({ "file_path": path, "old_str": old, "new_str": new });
    let (tool, input) = match results {
        0 => ("run_command", json!({ "command": "true" })),
        1 => ("read_file", json!({ "path": "a.rs" })),
        2 => ("str_replace", edit("a.rs", "2\t    one();", "2\t    1();")),
        3 => (
            "Edit",
            edit("a.rs", "if b {\n    two();\n}", "if b {\n    2();\n}"),
        ),
        4 => (
            "Edit",
            edit("a.rs", "  same(x);\n  end(x);", "  other(x);\n  end(x);"),
        ),
        5 => (
            "Edit",
            edit("unread.rs", "fn c() {\ncall();\n}", "fn d() {\ncall();\n}"),
        ),
        _ => return Vec::new(),
    };
    vec![call(results, tool, input)]
}

#[test]
fn an_edit_finds_what_differs_in_one_certain_way_says_so_and_guesses_nothing() {
    let model = Model::start_with(edits_leniently);
    let place = with_model(&model);
    let text = "fn a() {\n    one();\n    if b {\n        two();\n    }\n}\n\
                \u{20}   same(x);\n    end(x);\n\n    same(x);\n    end(x);\n";
    place.write("demo/a.rs", text);
    let unread = "  fn c() {\n  call();\n  }\n";
    place.write("demo/unread.rs", unread);
    walked(&place);
    let read = |name: &str| std::fs::read_to_string(place.workspace.path().join(name)).unwrap();
    let after = text
        .replace("one();", "1();")
        .replace("        two();", "        2();");
    assert_eq!(read("demo/a.rs"), after);
    assert_eq!(read("demo/unread.rs"), unread);
    let results = results(&model);
    assert!(
        results[2].contains("[matched without the line numbers; look at it]"),
        "{}",
        results[2]
    );
    assert!(
        results[3].contains("[matched after shifting the indentation by 4; look at it]"),
        "{}",
        results[3]
    );
    for refused in &results[4..6] {
        assert!(refused.contains("Nothing was changed."), "{refused}");
    }
}

/// A command without end.
fn endless_word() -> String {
    format!("a-society-says-yes-{}", std::process::id())
}

fn says_yes(results: usize) -> Said {
    let command = format!("exec -a {} yes", endless_word());
    let given = json!({ "cmd": ["bash", "-lc", command], "timeout": "1500" });
    match results {
        0 => vec![call(0, "shell", given)],
        _ => Vec::new(),
    }
}

fn is_running(word: &str) -> bool {
    let listed = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let mut lines = listed.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).starts_with(word))
}

#[test]
fn a_command_without_end_is_ended_at_its_time_limit_with_what_it_wrote_by_then() {
    let model = Model::start_with(says_yes);
    let place = with_model(&model);
    walked(&place);
    let result = results(&model).remove(0);
    assert!(result.contains("y\ny\n"), "{}", &result[..80]);
    assert!(result.len() < 60_000, "{} bytes", result.len());
    assert!(
        result
            .trim_end()
            .ends_with("[ended after 1,500 ms; set timeout_ms or background]"),
        "{}",
        &result[result.len() - 200..]
    );
    assert!(!is_running(&endless_word()), "it still runs");
}

fn takes_another_way(results: usize) -> Said {
    match results {
        0 => vec![call(0, "run_command", json!({ "command": "cat plan.md" }))],
        1 => vec![call(1, "read_file", json!({ "path": "plan.md" }))],
        _ => Vec::new(),
    }
}

#[test]
fn a_denied_command_comes_back_with_the_operators_words_and_another_way_is_taken() {
    let model = Model::start_with(takes_another_way);
    let place = with_model(&model);
    place.write("demo/plan.md", "The plan.\n");
    let flow = place.run_until_it_waits();
    let said = place.run(&["deny", &flow, "--reason", "Use read_file for that."]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let results = results(&model);
    assert_eq!(
        results[0],
        "Denied by the operator: Use read_file for that.\nDo not do the same another way; choose \
         another path, or ask_operator."
    );
    assert_eq!(results[1], "1\tThe plan.\n");
}
