//! Sessions that are compacted by hand in each way: what the next request holds, what it cost, and what is kept.

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::chatted::{chat_of, last_said, texts};
use super::models::{call, says, streamed, with_model_at};
use super::place::{Place, signal, wait_until};
use super::session_verbs::goes_on_behind_every;
use crate::support::Said;

const SUMMARY: &str = "The model says in short what was.";

/// What the command prints.
const SHORT: &str = "The command says in short what was.";

/// A model that reads a file on request, summarizes, and repeats the last message otherwise.
fn model() -> Server {
    Server::by(|seen, number| {
        let said = last_said(&seen.body);
        let is_result = seen.body["messages"]
            .as_array()
            .and_then(|all| all.last())
            .is_some_and(|last| last["content"][0]["type"] == "tool_result");
        if said.ends_with("Read it.") && !is_result {
            let asks = call(number, "read_file", json!({ "path": "long.txt" }));
            return streamed(vec![asks], Ending::Natural, 100);
        }
        let answer = if said.contains("Summarize it.") {
            SUMMARY.to_owned()
        } else {
            let last = said.split_whitespace().rev().take(2).collect::<Vec<_>>();
            format!(
                "You said: {}",
                last.into_iter().rev().collect::<Vec<_>>().join(" ")
            )
        };
        streamed(vec![says(&[&answer])], Ending::Natural, 100)
    })
}

/// A chat of four exchanges, in whose second one a long file is read, with a command that compacts.
fn chat(model: &Server, script: &str) -> (Place, String) {
    let place = with_model_at(&model.url(), "anthropic");
    let config = place.workspace.path().join("config.yaml");
    let models = std::fs::read_to_string(&config).unwrap();
    let command = "sessions:\n  compaction: { command: [sh, shrink.sh], seconds: 2 }\n";
    place.write("config.yaml", &(models + command));
    place.write("demo/shrink.sh", script);
    let line = "a line of the file that is long enough to count\n";
    place.write("demo/long.txt", &line.repeat(60));
    let first = format!("{} Number one.", "What came first. ".repeat(20));
    let words = [
        "chat",
        "--project",
        "demo",
        "--label",
        "notes",
        "--once",
        &first,
    ];
    assert_eq!(place.run(&words).code, 0);
    let chat = chat_of(&place);
    for next in ["Read it.", "Number three.", "Number four."] {
        let said = and_then(&place, &chat, next);
        assert_eq!(said.code, 0, "{said:?}");
    }
    (place, chat)
}

fn and_then(place: &Place, chat: &str, text: &str) -> Said {
    place.run(&["chat", "--resume", chat, "--once", text])
}

fn compact(place: &Place, words: &[&str]) -> Said {
    let fixed = ["session", "compact", "notes", "--json"];
    place.run(&[&fixed[..], words].concat())
}

fn bodies(model: &Server) -> Vec<Value> {
    assert_eq!(model.refused(), [""; 0]);
    model
        .seen()
        .into_iter()
        .map(|request| request.body)
        .collect()
}

/// Everything that the last request says, results of tools as well.
fn last(model: &Server) -> String {
    bodies(model).pop().unwrap()["messages"].to_string()
}

fn length(place: &Place) -> String {
    place.run(&["session", "length", "notes"]).out
}

/// What the next request has after a compaction of one kind, and has not, and how many requests it took.
struct Expected {
    strategy: &'static str,
    requests: usize,
    there: &'static [&'static str],
    gone: &'static [&'static str],
}

const EXPECTED: [Expected; 4] = [
    Expected {
        strategy: "llm",
        requests: 1,
        there: &[SUMMARY],
        gone: &["[read_file returned]", "Number three."],
    },
    Expected {
        strategy: "truncate",
        requests: 0,
        there: &["6 messages were left out", "[told] Number three."],
        gone: &["long enough to count\\n     30"],
    },
    Expected {
        strategy: "observation_mask",
        requests: 0,
        there: &[
            "6 messages without",
            "[told] Read it.",
            "[called read_file]",
            "are masked]",
            "[told] Number three.",
        ],
        gone: &["long enough to count\\n     3"],
    },
    Expected {
        strategy: "custom",
        requests: 0,
        there: &[SHORT],
        gone: &["[read_file returned]", "Number three."],
    },
];

impl Expected {
    /// Compacts all but the first and the last exchange of a chat. The archive.
    fn compacted(&self, model: &Server, place: &Place) -> String {
        let (strategy, before) = (self.strategy, bodies(model).len());
        assert_eq!(length(place), "10\n", "{strategy}");
        let kept = ["--keep-first", "2", "--keep-last", "2"];
        let said = compact(place, &[&["--strategy", strategy][..], &kept].concat());
        assert_eq!(said.code, 0, "{strategy}: {said:?}");
        let archive = said.json()["archive"].clone();
        assert_eq!(
            (
                &archive["strategy"],
                &archive["messages"],
                &archive["trigger"]
            ),
            (&json!(strategy), &json!(6), &json!("manual"))
        );
        assert_eq!(bodies(model).len() - before, self.requests, "{strategy}");
        assert_eq!(length(place), "5\n", "{strategy}");
        archive["archive"].as_str().unwrap().to_owned()
    }

    /// What a request has after that.
    fn sent(&self, sent: &str) {
        let strategy = self.strategy;
        let mut from = 0;
        for text in [
            "Number one.",
            "You said: Number one.",
            "<summary id=",
            "Number four.",
            "You said: Number four.",
            "Number five.",
        ] {
            let at = sent[from..].find(text);
            from += at.unwrap_or_else(|| panic!("{strategy}: {text} not behind {from}: {sent}"));
        }
        for text in self.there {
            assert!(sent.contains(text), "{strategy}: {text}: {sent}");
        }
        for text in self.gone.iter().chain(&["\"tool_use\"", "\"tool_result\""]) {
            assert!(!sent.contains(text), "{strategy}: {text}: {sent}");
        }
    }
}

#[test]
fn each_strategy_replaces_what_is_between_the_messages_that_stay_and_is_restored() {
    let by_command = format!("cat > given.json; echo '{{\"summary\": \"{SHORT}\"}}'\n");
    for expected in EXPECTED {
        let strategy = expected.strategy;
        let model = model();
        let (place, chat) = chat(&model, &by_command);
        let archive = expected.compacted(&model, &place);
        assert_eq!(and_then(&place, &chat, "Number five.").code, 0);
        expected.sent(&last(&model));

        let restored = place.run(&["session", "restore", "notes", &archive]);
        assert_eq!(restored.code, 0, "{restored:?}");
        assert_eq!(and_then(&place, &chat, "Number six.").code, 0);
        let sent = last(&model);
        let all = [
            "Read it.",
            "\"tool_use\"",
            "\"tool_result\"",
            "Number three.",
            "Number six.",
        ];
        for text in all {
            assert!(sent.contains(text), "{strategy}: {text}: {sent}");
        }
        assert!(!sent.contains("<summary id="), "{strategy}: {sent}");
        let texts = texts(&bodies(&model).pop().unwrap());
        let first = texts.first().map(|(_, text)| text.ends_with("Number one."));
        assert_eq!(first, Some(true), "{strategy}: {texts:?}");
        assert_eq!(place.run(&["verify", &chat]).code, 0);
        if strategy == "custom" {
            let given = given(&place);
            assert_eq!(given["archived_count"], 6);
            assert_eq!(given["messages"][0]["content"], "Read it.");
        }
    }
}

/// What the command got.
fn given(place: &Place) -> Value {
    let file = place.workspace.path().join("demo/given.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn a_session_that_is_to_stay_as_it_is_costs_nothing_and_an_unknown_strategy_names_those_that_there_are()
 {
    let model = model();
    let (place, _) = chat(&model, "exit 1\n");
    let before = bodies(&model).len();
    let truncate = ["--strategy", "truncate"];
    for more in [
        &["--keep-last", "10"][..],
        &["--keep-first", "9"],
        &["--token-threshold", "90000"],
        &[],
    ] {
        let said = compact(&place, &[&truncate[..], more].concat());
        assert_eq!(
            (said.code, &said.json()["archive"]),
            (0, &Value::Null),
            "{more:?} {said:?}"
        );
    }
    let said = place.run(&["session", "compact", "notes", "--strategy", "truncate"]);
    assert!(
        said.code == 0 && said.out.contains("all 10 messages of assistant stay"),
        "{said:?}"
    );
    let unknown = compact(&place, &["--strategy", "shrink"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    for name in [
        "node_summary",
        "llm",
        "truncate",
        "observation_mask",
        "custom",
    ] {
        assert!(unknown.err.contains(name), "{unknown:?}");
    }
    let kept = compact(&place, &["--strategy", "node_summary", "--keep-last", "2"]);
    assert!(
        kept.code != 0 && kept.err.contains("node_summary replaces everything"),
        "{kept:?}"
    );
    let bare = compact(&place, &["--keep-last", "2"]);
    assert_eq!(bare.code, 2, "{bare:?}");
    assert_eq!(
        (length(&place).as_str(), bodies(&model).len()),
        ("10\n", before)
    );
}

#[test]
fn a_hard_limit_cuts_off_what_replaces_the_messages_and_results_go_in_as_long_as_is_wished() {
    let model = model();
    let (place, chat) = chat(&model, "cat > given.json; cat given.json\n");
    let words = [
        "--strategy",
        "custom",
        "--keep-last",
        "2",
        "--tool-output-max-chars",
        "300",
        "--hard-limit",
        "250",
    ];
    let said = compact(&place, &words);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(and_then(&place, &chat, "Number five.").code, 0);
    let sent = last(&model);
    assert!(
        sent.contains("[cut here: the limit is reached]") && sent.contains("Number four."),
        "{sent}"
    );
    assert!(sent.len() < 2_500, "{}", sent.len());
    let given = std::fs::read_to_string(place.workspace.path().join("demo/given.json")).unwrap();
    assert!(
        given.contains("bytes are left out") && given.len() < 3_000,
        "{given}"
    );
}

#[test]
fn a_command_that_fails_leaves_the_session_as_it_was_and_says_why() {
    for (script, why) in [
        (
            "echo 'no such model' >&2; exit 3\n",
            "exit code 3: no such model",
        ),
        ("sleep 30\n", "took longer than 2 seconds"),
        ("true\n", "printed nothing"),
        (
            "head -c 300000 /dev/zero | tr '\\0' x\n",
            "printed more than 262144 bytes",
        ),
        (
            "cat; cat /etc/services /etc/services; head -c 99999 /dev/zero | tr '\\0' y\n",
            "it would be longer",
        ),
    ] {
        let model = model();
        let (place, chat) = chat(&model, script);
        let before = bodies(&model).len();
        let said = compact(&place, &["--strategy", "custom", "--keep-last", "2"]);
        assert!(
            said.code == 1 && said.err.contains(why),
            "{script}: {said:?}"
        );
        assert_eq!(length(&place), "10\n", "{script}");
        assert_eq!(bodies(&model).len(), before);
        assert_eq!(and_then(&place, &chat, "Number five.").code, 0);
        let sent = last(&model);
        assert!(
            sent.contains("\"tool_result\"") && sent.contains("Number one."),
            "{sent}"
        );
    }
    let model = model();
    let (place, _) = chat(&model, "true\n");
    let config = place.workspace.path().join("config.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let (models, _) = text.split_once("sessions:").unwrap();
    std::fs::write(&config, models).unwrap();
    let said = compact(&place, &["--strategy", "custom", "--keep-last", "2"]);
    assert!(
        said.code == 1 && said.err.contains("names no program"),
        "{said:?}"
    );
    assert_eq!(length(&place), "10\n");
}

#[test]
fn a_chat_whose_process_was_killed_while_the_command_ran_is_what_it_was() {
    let model = model();
    let (place, chat) = chat(&model, "touch begun; sleep 2; echo 'Too late.'\n");
    let begun = place.workspace.path().join("demo/begun");
    let words = [
        "session",
        "compact",
        "notes",
        "--strategy",
        "custom",
        "--keep-last",
        "2",
    ];
    let mut child = place.start(&words);
    wait_until("the command runs", || begun.exists());
    signal(&child, "KILL");
    drop(child.wait());
    assert_eq!(length(&place), "10\n");
    assert_eq!(and_then(&place, &chat, "Number five.").code, 0);
    let sent = last(&model);
    assert!(
        sent.contains("\"tool_result\"") && !sent.contains("Too late."),
        "{sent}"
    );
    assert_eq!(place.run(&["verify", &chat]).code, 0);
    let archives = place
        .run(&["session", "archives", "notes", "--json"])
        .json();
    assert_eq!(archives["archives"], json!([]));
    // The next one is made as if there had been none.
    let said = compact(&place, &["--strategy", "truncate", "--keep-last", "2"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_journal_that_ends_within_a_compaction_of_any_kind_goes_on() {
    for strategy in ["observation_mask", "custom", "llm"] {
        let model = model();
        let (place, chat) = chat(&model, "echo 'The command says in short what was.'\n");
        let words = [
            "--strategy",
            strategy,
            "--keep-first",
            "2",
            "--keep-last",
            "2",
        ];
        let said = compact(&place, &words);
        assert_eq!(said.code, 0, "{said:?}");
        goes_on_behind_every(&place, &chat, "compaction_started", &|told, _| {
            let sent = last(&model);
            let is_shorter = sent.contains("<summary id=");
            assert!(
                is_shorter || sent.contains("\"tool_result\""),
                "{strategy} {told}: {sent}"
            );
            assert!(
                sent.contains("Number one.") && sent.contains("Number four."),
                "{told}: {sent}"
            );
        });
    }
}
