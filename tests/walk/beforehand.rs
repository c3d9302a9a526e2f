//! What the operator says beforehand: what runs without a question and what never runs, seen at the files that changed
//! and at the requests that the model got next.

use serde_json::{Value, json};

use super::models::{FLOW, Model, Script, call, with_model, with_server};
use super::place::{Place, RUN, wait_until};
use crate::support::Said;

/// Runs the flow with these words besides.
fn run(place: &Place, words: &[&str]) -> Said {
    place.run(&[&RUN[..], words].concat())
}

/// The facts of one kind in a journal.
fn facts(place: &Place, kind: &str) -> Vec<Value> {
    let journal = place.journal(&place.flow().unwrap());
    let lines = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|fact: &Value| fact["fact"] == kind).collect()
}

/// What the rules decided, as the journal has it.
fn ruled(place: &Place) -> Vec<[String; 4]> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let each = facts(place, "consent_ruled").into_iter();
    each.map(|fact| {
        let by = &fact["by"];
        [&fact["tool"], &fact["answer"], &by["rule"], &by["origin"]].map(word)
    })
    .collect()
}

fn is_there(place: &Place, name: &str) -> bool {
    place.workspace.path().join("demo").join(name).exists()
}

/// The last result of a tool that a request shows.
fn last_result(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let last = blocks
        .flatten()
        .rfind(|block| block["type"] == "tool_result");
    last.unwrap()["content"].to_string()
}

pub(super) fn command(results: usize, command: &str) -> Vec<(Value, Vec<Value>)> {
    vec![call(results, "run_command", json!({ "command": command }))]
}

/// Writes a file, makes another one with a command, and closes.
const WORKS: Script = |results| match results {
    0 => vec![call(
        0,
        "write_file",
        json!({ "path": "notes.md", "content": "The notes.\n" }),
    )],
    1 => command(1, "touch 'made by it.txt'"),
    _ => Vec::new(),
};

#[test]
fn a_run_that_nobody_watches_does_what_its_rules_allow_and_ends() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    let said = run(&place, &["--allow", "edits,'touch' *"]);
    assert_eq!(said.code, 2, "{said:?}");
    let said = run(&place, &["--allow", "edits,touch *"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_there(&place, "notes.md") && is_there(&place, "made by it.txt"));
    assert!(facts(&place, "consent_requested").is_empty());
    assert_eq!(
        ruled(&place),
        [
            ["write_file", "allow_once", "edits", "flow"],
            ["run_command", "allow_once", "touch *", "flow"],
        ]
    );
    for line in ["allowed by --allow edits", "allowed by --allow 'touch *'"] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    let (flow, log) = (place.flow().unwrap(), |json: &str| {
        place.run(&["log", &place.flow().unwrap(), json]).out
    });
    assert!(log("--json").contains(r#""rule":"touch *""#), "{flow}");
}

#[test]
fn what_no_rule_names_is_asked() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt"),
        1 => command(1, "rm a.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let said = run(&place, &["--allow", "touch *"]);
    assert_eq!(said.code, 9, "{said:?}");
    let asked = facts(&place, "consent_requested");
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["shown"], "rm a.txt");
    assert!(is_there(&place, "a.txt"));
}

#[test]
fn a_line_around_an_allowed_command_is_asked_and_does_not_run() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt; touch b.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    assert_eq!(run(&place, &["--allow", "touch *"]).code, 9);
    assert!(!is_there(&place, "a.txt") && !is_there(&place, "b.txt"));
}

#[test]
fn a_denied_call_never_runs_and_the_model_reads_which_rule_refused_it() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "cd . && touch a.txt"),
        1 => command(1, "ls"),
        2 => vec![call(
            2,
            "write_file",
            json!({ "path": "src/b.txt", "content": "b\n" }),
        )],
        3 => vec![call(3, "read_file", json!({ "path": "flow.yaml" }))],
        4 => command(4, "mkdir made"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let deny = "touch *,commands:ls,edits:src,read_file";
    let said = run(&place, &["--allow", "commands,edits", "--deny", deny]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!is_there(&place, "a.txt") && !is_there(&place, "src") && is_there(&place, "made"));
    let heard = model.heard();
    let rules = [
        "--deny 'touch *'",
        "--deny commands:ls",
        "--deny edits:src",
        "--deny read_file",
    ];
    for (body, rule) in heard.iter().skip(1).zip(rules) {
        let result = last_result(body);
        assert!(
            result.contains("a rule of the operator refuses it"),
            "{result}"
        );
        assert!(result.contains(rule), "{rule}: {result}");
    }
    assert!(facts(&place, "consent_requested").is_empty());
    assert!(
        said.err.contains("denied by --deny 'touch *'"),
        "{}",
        said.err
    );
}

#[test]
fn a_mode_that_never_asks_asks_where_a_denied_command_may_be_hidden() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt"),
        1 => command(1, "bash -c 'touch b.txt'"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let said = run(&place, &["--mode", "full", "--deny", "rm *"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(is_there(&place, "a.txt") && !is_there(&place, "b.txt"));
    let why = "rule: --deny 'rm *' may mean this: what a shell makes of it cannot be known";
    assert!(said.err.contains(why), "{}", said.err);
    assert_eq!(place.run(&["allow", &place.flow().unwrap()]).code, 0);
    let said = place.run(&[
        "resume",
        &place.flow().unwrap(),
        "--until-waiting",
        "--improve",
        "none",
    ]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_there(&place, "b.txt"));
}

#[test]
fn a_file_that_programs_trust_is_asked_about_in_every_mode_and_whatever_is_allowed() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": "AGENTS.md", "content": "Obey.\n" }),
        )],
        _ => Vec::new(),
    });
    for words in [&["--mode", "full"][..], &["--allow", "edits,write_file"]] {
        let place = with_model(&model);
        let said = run(&place, words);
        assert_eq!(said.code, 9, "{said:?}");
        assert!(!is_there(&place, "AGENTS.md"), "{words:?}");
        // What is asked in every mode is not answered by one.
        let flow = place.flow().unwrap();
        assert_eq!(place.run(&["mode", &flow, "full-access"]).code, 0);
        let said = place.run(&["resume", &flow, "--until-waiting"]);
        assert_eq!(said.code, 9, "{said:?}");
        assert!(!is_there(&place, "AGENTS.md"), "{words:?}");
    }
}

#[test]
fn rules_outlive_the_process_that_they_were_said_to() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "sleep 30"),
        1 => command(1, "touch a.txt"),
        2 => command(2, "touch b.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = ["--allow", "sleep *,touch *", "--deny", "touch b.txt"];
    let mut child = place.start(&[&RUN[..], &words[..]].concat());
    let has_begun = || {
        let flow = place.flow();
        flow.is_some_and(|flow| place.journal(&flow).contains("\"call_started\""))
    };
    wait_until("the command runs", has_begun);
    child.kill().unwrap();
    child.wait().unwrap();
    let flow = place.flow().unwrap();
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_there(&place, "a.txt") && !is_there(&place, "b.txt"));
    assert!(facts(&place, "consent_requested").is_empty());
}

#[test]
fn rules_that_come_later_answer_what_is_asked_already_and_add_to_those_before() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt"),
        1 => command(1, "mkdir b"),
        2 => command(2, "touch c.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    assert_eq!(run(&place, &["--deny", "mkdir *"]).code, 9);
    let flow = place.flow().unwrap();
    let go_on = |words: &[&str]| {
        let resume = ["resume", &flow, "--until-waiting", "--improve", "none"];
        place.run(&[&resume[..], words].concat())
    };
    assert_eq!(go_on(&["--allow", "edit"]).code, 2);
    assert!(!is_there(&place, "a.txt"));
    let said = go_on(&["--allow", "touch a.txt,mkdir *"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(is_there(&place, "a.txt") && !is_there(&place, "b"));
    assert!(last_result(&model.heard()[2]).contains("--deny 'mkdir *'"));
    let resolved = &facts(&place, "consent_resolved")[0];
    assert_eq!(resolved["by"]["rule"], "touch a.txt");
    // What is asked and denied by a rule is refused, and the role goes on.
    let said = go_on(&["--deny", "touch c.txt"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!is_there(&place, "c.txt"));
    assert!(last_result(model.heard().last().unwrap()).contains("--deny 'touch c.txt'"));
}

#[test]
fn a_rule_that_is_said_to_a_flow_answers_what_it_asks_and_one_that_is_taken_back_is_asked_about_again()
 {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt"),
        1 => command(1, "mkdir b"),
        2 => command(2, "touch c.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    assert_eq!(run(&place, &["--allow", "touch *"]).code, 9);
    assert!(is_there(&place, "a.txt"));
    let flow = place.flow().unwrap();
    let rules = |words: &[&str]| place.run(&[&["rules"], words].concat());
    assert_eq!(rules(&["add", &flow, "--allow", "mkdir *"]).code, 0);
    let said = rules(&["rm", &flow, "--allow", "touch *"]);
    assert_eq!(said.code, 0, "{said:?}");
    let listed: Value = serde_json::from_str(&rules(&["ls", &flow, "--json"]).out).unwrap();
    assert_eq!(listed["allow"], json!(["mkdir *"]));
    let again = rules(&["rm", &flow, "--allow", "touch *"]);
    assert_eq!(again.code, 6, "{again:?}");
    assert!(
        again.err.contains("no rule touch * under allow"),
        "{again:?}"
    );
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(is_there(&place, "b") && !is_there(&place, "c.txt"));
    assert_eq!(
        facts(&place, "consent_requested").last().unwrap()["shown"],
        "touch c.txt"
    );
    // Those of the operator's configuration are added and removed in its file.
    let config = || std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let before = config();
    assert_eq!(
        rules(&["add", "--allow", "touch *", "--deny", "web"]).code,
        0
    );
    assert!(config().contains("allow: [\"touch *\"]"), "{}", config());
    let said = rules(&["add", "--allow", "env *"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(
        rules(&["rm", "--allow", "touch *", "--deny", "web"]).code,
        0
    );
    assert_eq!(config(), before);
    let said = rules(&["rm", "--deny", "web"]);
    assert_eq!(said.code, 3, "{said:?}");
}

#[test]
fn a_fork_and_a_flow_that_was_exported_keep_their_rules() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "mkdir asked"),
        1 => command(1, "touch a.txt"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    assert_eq!(
        run(&place, &["--allow", "mkdir asked,touch *", "--mode", "ask"]).code,
        0
    );
    let flow = place.flow().unwrap();
    std::fs::remove_file(place.workspace.path().join("demo/a.txt")).unwrap();
    let seq = facts(&place, "model_requested")[1]["seq"].as_u64().unwrap();
    let at = (seq - 1).to_string();
    let said = place.run(&["fork", &flow, "--at", &at, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let fork = said.json()["flow"].as_str().unwrap().to_owned();
    let said = place.run(&["resume", &fork, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_there(&place, "a.txt"));
    // `import` prints what another operator's flow may do.
    let archive = place.workspace.path().join("flow.tar");
    let archive = archive.to_str().unwrap();
    let said = place.run(&["export", &flow, "--output", archive]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = place.run(&["import", archive, "--project", "copies"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = "resumed, it runs in the mode no-access, and without asking: mkdir asked, touch *";
    assert!(said.err.contains(told), "{said:?}");
}

#[test]
fn the_operators_own_configuration_counts_for_all_flows_and_its_no_more_than_a_yes() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    let file = place.workspace.path().join("config.yaml");
    let models = std::fs::read_to_string(&file).unwrap();
    let consent = "consent:\n  allow: ['touch *']\n  deny: [edits]\n";
    std::fs::write(&file, format!("{models}{consent}")).unwrap();
    let said = run(&place, &["--allow", "edits"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!is_there(&place, "notes.md") && is_there(&place, "made by it.txt"));
    assert_eq!(
        ruled(&place),
        [
            ["write_file", "deny", "edits", "configuration"],
            ["run_command", "allow_once", "touch *", "configuration"],
        ]
    );
    let result = last_result(&model.heard()[1]);
    assert!(
        result.contains("deny: edits of the configuration"),
        "{result}"
    );
}

#[test]
fn rules_of_the_configuration_that_say_nothing_stop_everything_and_are_told_by_check() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    let file = place.workspace.path().join("config.yaml");
    let models = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{models}consent: {{ deny: [edit] }}\n")).unwrap();
    let checked = place.run(&["check", "demo/flow.yaml"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.out.contains("`edit` is no rule"), "{checked:?}");
    let json = place.run(&["check", "demo/flow.yaml", "--json"]).json();
    let faults = json["configuration_faults"].as_array().unwrap();
    assert!(faults[0].as_str().unwrap().contains("line 6"), "{faults:?}");
    let said = run(&place, &[]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("`edit` is no rule"), "{said:?}");
    assert!(place.flow().is_none());
    // A flow that was begun before does not go on without the rule either.
    std::fs::write(&file, &models).unwrap();
    assert_ne!(run(&place, &[]).code, 0);
    let flow = place.flow().unwrap();
    std::fs::write(&file, format!("{models}consent: {{ deny: [edit] }}\n")).unwrap();
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    assert_ne!(place.run(&["resume", &flow, "--until-waiting"]).code, 0);
    assert!(!is_there(&place, "notes.md"));
}

#[test]
fn the_mode_of_the_configuration_is_that_of_flows_of_which_none_is_said() {
    let model = Model::start_with(WORKS);
    for (words, code) in [(&[][..], 0), (&["--mode", "ask"][..], 9)] {
        let place = with_model(&model);
        let file = place.workspace.path().join("config.yaml");
        let models = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{models}consent: {{ mode: full }}\n")).unwrap();
        let said = run(&place, words);
        assert_eq!(said.code, code, "{said:?}");
        assert_eq!(is_there(&place, "notes.md"), code == 0);
    }
}

#[test]
fn a_workspace_takes_away_and_cannot_allow() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    std::fs::create_dir_all(place.workspace.path().join(".a-society")).unwrap();
    for (text, part) in [
        (
            "consent: { allow: [edits] }\n",
            "a workspace cannot allow anything",
        ),
        (
            "consent: { mode: full }\n",
            "a workspace cannot make a mode wider",
        ),
        (
            "consent: { deny: [everything] }\n",
            "`everything` is no rule",
        ),
        ("model: m\n", "`model`"),
    ] {
        place.write(".a-society/config.yaml", text);
        let said = run(&place, &[]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains(part), "{part}: {}", said.err);
        let checked = place.run(&["check", "demo/flow.yaml"]);
        assert_eq!(checked.code, 1, "{checked:?}");
        assert!(format!("{checked:?}").contains(part), "{part}: {checked:?}");
    }
    assert_eq!(model.requests(), 0);
    let text = "consent: { mode: partial-access, deny: ['touch *'] }\n";
    place.write(".a-society/config.yaml", text);
    assert_eq!(place.run(&["check", "demo/flow.yaml"]).code, 0);
    let said = run(&place, &["--mode", "full", "--allow", "touch *"]);
    // The edit is asked about, because partial access is the most here.
    assert_eq!(said.code, 9, "{said:?}");
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["allow", &flow]).code, 0);
    let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(is_there(&place, "notes.md") && !is_there(&place, "made by it.txt"));
}

#[test]
fn a_rule_that_says_nothing_is_refused_before_anything_is_made() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    for words in [
        ["--allow", "edit"],
        ["--allow", "edits,everything"],
        ["--allow", "pytest*"],
        ["--allow", "env *"],
        ["--deny", "pytest; rm"],
        ["--deny", "mcp:"],
        ["--mode", "wide"],
    ] {
        let said = run(&place, &words);
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(place.flow().is_none(), "{words:?}");
    }
    let said = run(&place, &["--mode", "asc"]);
    let wanted = "--mode is ask, partial or full, not \"asc\"";
    assert!(said.err.contains(wanted), "{said:?}");
    let said = run(&place, &["--allow", "edit"]);
    for known in [
        "edits",
        "commands",
        "web",
        "mcp-tools",
        "mcp:SERVER",
        "'pytest *'",
    ] {
        assert!(said.err.contains(known), "{known}: {}", said.err);
    }
    assert_eq!(model.requests(), 0);
}

#[test]
fn no_file_of_a_flow_says_what_runs_without_asking() {
    let model = Model::start_with(WORKS);
    let place = with_model(&model);
    let file = place.workspace.path().join("demo/flow.yaml");
    let flow = std::fs::read_to_string(&file).unwrap();
    for text in [
        format!("{flow}consent: {{ allow: [edits] }}\n"),
        format!("{flow}allow: [edits]\n"),
    ] {
        std::fs::write(&file, text).unwrap();
        assert_ne!(run(&place, &[]).code, 0);
        assert!(!is_there(&place, "notes.md"));
    }
}

#[test]
fn a_server_that_is_named_is_called_without_a_question_and_one_that_is_denied_never() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(0, "mcp__list__add", json!({ "word": "one" }))],
        _ => Vec::new(),
    });
    for (words, own, added) in [
        (&["--allow", "mcp:list"][..], "", true),
        (&["--allow", "mcp:list/add"], "", true),
        (&["--mode", "full", "--deny", "mcp:list/add"], "", false),
        // What the operator says only reads is not asked about, and denied all the same.
        (&["--deny", "mcp-tools"], "read-only: [add], ", false),
    ] {
        let place = with_model(&model);
        let path = with_server(&place);
        let config = std::fs::read_to_string(path.join("config.yaml")).unwrap();
        let config = config.replace("command: /bin/sh", &format!("{own}command: /bin/sh"));
        place.write("config.yaml", &config);
        let named = FLOW.replace("You keep a log.", "You keep a log., mcp-servers: [list]");
        place.write("demo/flow.yaml", &named);
        let said = run(&place, words);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        assert_eq!(path.join("list.txt").exists(), added, "{words:?}");
        assert!(facts(&place, "consent_requested").is_empty());
        assert_eq!(ruled(&place).len(), 1, "{words:?}");
    }
}

#[test]
fn a_link_does_not_lead_a_rule_about_a_folder_into_another_one() {
    let model = Model::start_with(|results| match results {
        0 => vec![call(
            0,
            "write_file",
            json!({ "path": "src/a.txt", "content": "a\n" }),
        )],
        1 => vec![call(
            1,
            "write_file",
            json!({ "path": "src/link/b.txt", "content": "b\n" }),
        )],
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let demo = place.workspace.path().join("demo");
    std::fs::create_dir_all(demo.join("src")).unwrap();
    std::fs::create_dir_all(demo.join("lib")).unwrap();
    std::os::unix::fs::symlink("../lib", demo.join("src/link")).unwrap();
    let said = run(&place, &["--allow", "edits:src"]);
    assert!(is_there(&place, "src/a.txt"), "{said:?}");
    assert!(!is_there(&place, "lib/b.txt"), "{said:?}");
    assert_eq!(ruled(&place).len(), 1);
}

#[test]
fn programs_hear_which_rule_decided_and_status_says_which_there_are() {
    let model = Model::start_with(|results| match results {
        0 => command(0, "touch a.txt"),
        1 => command(1, "mkdir b"),
        _ => Vec::new(),
    });
    let place = with_model(&model);
    let words = [
        "--allow", "touch *", "--deny", "web", "--mode", "partial", "--json",
    ];
    let said = run(&place, &words);
    assert_eq!(said.code, 9, "{said:?}");
    let events = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let mut events = events.filter(|event: &Value| event["code"] == "consent_ruled");
    let ruled = events.next().unwrap();
    assert_eq!(ruled["says"]["answer"], "allow_once");
    assert_eq!(ruled["says"]["about"], "run touch a.txt");
    assert_eq!(
        ruled["says"]["by"],
        json!({ "rule": "touch *", "origin": "flow" })
    );
    let flow = place.flow().unwrap();
    let consent = &place.status(&flow)["consent"];
    let expected = json!({ "mode": "partial-access", "allow": ["touch *"], "deny": ["web"] });
    assert_eq!(*consent, expected);
    let shown = place.run(&["status", &flow]).out;
    assert!(
        shown.contains("without asking: touch *; never: web"),
        "{shown}"
    );
    // A rule with a key in it would be recorded with it.
    let key = format!("curl -H 'x-api-key: sk-ant-api03-{}' *", "A".repeat(93));
    let said = run(&place, &["--allow", &key]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("looks like a secret"), "{said:?}");
}

#[test]
fn what_is_allowed_from_then_on_counts_also_where_the_call_replaces_a_file_that_was_read() {
    let script: Script = |results| {
        let text = |text: &str| json!({ "path": "page.md", "content": text });
        match results {
            0 => vec![call(0, "read_file", json!({ "path": "page.md" }))],
            1 => vec![call(1, "write_file", text("second\n"))],
            2 => vec![call(2, "write_file", text("third\n"))],
            _ => Vec::new(),
        }
    };
    let answers: [&[&str]; 2] = [
        &["allow", "--for-the-flow"],
        &["rules", "add", "--allow", "edits"],
    ];
    for answer in answers {
        let model = Model::start_with(script);
        let place = with_model(&model);
        place.write("demo/page.md", "first\n");
        let said = place.run(&["run", "demo/flow.yaml", "--until-waiting"]);
        assert_eq!(said.code, 9, "{said:?}");
        let flow = place.flow().unwrap();
        let mut words = answer.to_vec();
        let at = words.iter().position(|word| word.starts_with("--"));
        words.insert(at.unwrap(), &flow);
        let said = place.run(&words);
        assert_eq!(said.code, 0, "{said:?}");
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        let page = place.workspace.path().join("demo/page.md");
        assert_eq!(std::fs::read_to_string(page).unwrap(), "third\n");
        assert_eq!(facts(&place, "consent_requested").len(), 1, "{words:?}");
        let resolved = facts(&place, "consent_resolved");
        let is_granted = resolved.iter().any(|fact| fact["answer"] == "allow_flow");
        assert_eq!(is_granted, words[0] == "allow", "{resolved:?}");
    }
}
