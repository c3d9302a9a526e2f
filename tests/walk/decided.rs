//! What the page decides about calls of a model: what then runs, and what the model reads of it.

use a_society_stand_in::{Ending, Server as Provider};
use serde_json::{Value, json};

use super::arriving::{SIZES, stage, text_of};
use super::models::{FLOW, Model, call, says, streamed, with_model, with_model_at};
use super::place::wait_until;
use crate::served::client::{Server, Window};
use crate::served::operated::{said, started, until};

const WHY: &str = "Write two, not one.";

/// One command after the other.
fn writes(results: usize) -> Vec<(Value, Vec<Value>)> {
    let words = ["one", "two", "three"];
    let command = words
        .get(results)
        .map(|word| format!("echo {word} >> log.txt"));
    let call = command.map(|command| call(results, "run_command", json!({ "command": command })));
    call.into_iter().collect()
}

/// The question about a call, which is not this one.
fn asked(window: &mut Window, server: &Server, before: &Value) -> Value {
    let find = |window: &Window| {
        let asks = window.parts("ask/").into_iter();
        let mut kinds = asks.map(|ask| ask["kind"].clone());
        kinds.find(|kind| kind["kind"] == "consent" && kind["consent"] != before["consent"])
    };
    until(window, server, |window| find(window).is_some());
    find(window).unwrap()
}

#[test]
fn calls_run_or_do_not_as_the_page_says_and_the_model_reads_why() {
    let model = Model::start_with(writes);
    let place = with_model(&model);
    let server = Server::start(&place.workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &["owner"]);
    let log =
        || std::fs::read_to_string(place.workspace.path().join("demo/log.txt")).unwrap_or_default();
    let decide = |window: &mut Window, what: &str, ask: &Value, more: Value| {
        let mut command = json!({ "do": what, "consent": ask["consent"], "action": ask["action"] });
        let members = command.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let ack = said(window, &server, what, &command);
        assert_eq!(ack["ok"], json!(true), "{ack}");
    };
    let first = asked(&mut window, &server, &Value::Null);
    assert_eq!((model.requests(), log().as_str()), (1, ""));
    decide(&mut window, "deny", &first, json!({ "reason": WHY }));
    let second = asked(&mut window, &server, &first);
    let heard = model.heard();
    assert!(
        heard[1].contains(WHY) && !heard[0].contains(WHY),
        "{}",
        heard[1]
    );
    assert_eq!(log(), "");
    decide(
        &mut window,
        "allow",
        &second,
        json!({ "for_the_flow": false }),
    );
    let _third = asked(&mut window, &server, &second);
    assert_eq!(log(), "two\n");
    // Where nothing is asked any more, what is asked already runs, too.
    let mode = json!({ "do": "mode", "mode": "full-access" });
    let ack = said(&mut window, &server, "mode", &mode);
    assert_eq!(ack["ok"], json!(true), "{ack}");
    wait_until("it has run", || log() == "two\nthree\n");
}

#[test]
fn words_of_the_page_of_every_size_are_read_whole_by_the_model() {
    let model = Model::start_with(|results| {
        let command = json!({ "command": format!("echo {results} >> log.txt") });
        vec![call(results, "run_command", command)]
    });
    let place = stage(&model, FLOW);
    let server = Server::start(&place.workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &["owner"]);
    let mut asking = Value::Null;
    for (heard, bytes) in SIZES.into_iter().chain([3 << 20]).enumerate() {
        asking = asked(&mut window, &server, &asking);
        let why = format!("{bytes} bytes. {}", text_of(bytes));
        let (consent, action) = (&asking["consent"], &asking["action"]);
        let deny = json!({ "do": "deny", "consent": consent, "action": action, "reason": why });
        let ack = said(&mut window, &server, &bytes.to_string(), &deny);
        assert_eq!(ack["ok"], json!(true), "{bytes}: {ack}");
        wait_until("it is heard", || model.requests() == heard + 2);
        let body = model.heard().pop().unwrap();
        let written = serde_json::to_string(&why).unwrap();
        assert!(
            body.contains(written.trim_matches('"')),
            "{bytes} bytes are not all told"
        );
    }
}

/// Ends its turn as it may not, and then runs a command, twice.
fn errs() -> Provider {
    Provider::by(|_, number| {
        let said = match number {
            1 => says(&["I am done."]),
            2 => writes(0).remove(0),
            3 => writes(1).remove(0),
            _ => says(&["Done.\n\n```handoff\ntype: forward-pass-closed\n```\n"]),
        };
        streamed(vec![said], Ending::Natural, 100)
    })
}

#[test]
fn the_list_of_decisions_has_those_that_were_made_with_who_made_them_and_nothing_else() {
    let model = errs();
    let place = with_model_at(&model.url(), "anthropic");
    let server = Server::start(&place.workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &[]);
    let say = |window: &mut Window, command: Value| {
        let ack = said(window, &server, command["do"].as_str().unwrap(), &command);
        assert_eq!(ack["ok"], json!(true), "{ack}");
    };
    let first = asked(&mut window, &server, &Value::Null);
    let allow = json!({
        "do": "allow", "consent": first["consent"], "action": first["action"], "for_the_flow": false,
    });
    say(&mut window, allow);
    let _second = asked(&mut window, &server, &first);
    say(&mut window, json!({ "do": "mode", "mode": "full-access" }));
    let decided = |window: &Window| window.of_inbox("decided").unwrap_or(Value::Null);
    until(&mut window, &server, |window| {
        decided(window).as_array().is_some_and(|all| all.len() >= 4)
    });
    let all = decided(&window);
    let told = all.as_array().unwrap().iter().map(|one| {
        let text = |member: &str| one[member].as_str().unwrap_or("-").to_owned();
        [text("words"), text("detail"), text("role")]
    });
    let expected = [
        ["Retrospective, chosen beforehand", "no retrospective", "-"],
        ["Allowed by full access", "echo two >> log.txt", "owner"],
        ["Changed permissions", "full access", "-"],
        ["Allowed once", "echo one >> log.txt", "owner"],
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    let journal = place.journal(flow["flow"].as_str().unwrap());
    assert!(
        journal.contains("\"repair_requested\""),
        "it erred: {journal}"
    );
}

/// Words of the first request, which a summary leaves out.
const BEGINNING: &str = "The tide turns at nine.";

/// Reads a file, and asks the operator again and again.
fn asks(results: usize) -> Vec<(Value, Vec<Value>)> {
    let one = match results {
        0 => call(0, "read_file", json!({ "path": "tides.md" })),
        _ => call(results, "ask_operator", json!({ "question": "And now?" })),
    };
    vec![one]
}

#[test]
fn a_session_is_summarised_restored_and_given_another_model_as_the_page_says() {
    let model = Model::start_with(asks);
    let place = with_model(&model);
    place.write("demo/tides.md", BEGINNING);
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let other = "  other: { provider: p, id: other-1, window: 100000 }\nmodel: m\n";
    place.write("config.yaml", &config.replace("model: m\n", other));
    let server = Server::start(&place.workspace, &[]);
    let flow = started(&server);
    let mut window = Window::new(&flow, &["owner"]);
    let mut number = 0;
    let mut say = |window: &mut Window, command: Value| {
        number += 1;
        let ack = said(window, &server, &format!("c{number}"), &command);
        assert_eq!(ack["ok"], json!(true), "{command}: {ack}");
    };
    // Waits until it is asked again.
    let mut since = Value::Null;
    let mut asked = |window: &mut Window| {
        let find = |window: &Window| {
            let asks = window.parts("ask/").into_iter();
            let mut texts = asks.filter(|ask| ask["kind"]["kind"] == "text");
            texts.find(|ask| ask["since"] != since)
        };
        until(window, &server, |window| find(window).is_some());
        since = find(window).unwrap()["since"].clone();
    };
    let reply = json!({ "do": "reply", "to": { "node": "do" }, "text": "Go on." });
    asked(&mut window);
    let heard = model.heard().pop().unwrap();
    assert!(
        heard.contains(BEGINNING) && heard.contains("\"model\":\"m\""),
        "{heard}"
    );
    // What it reads from here on is something else.
    place.write("demo/tides.md", "Low water.");
    say(&mut window, json!({ "do": "compact", "role": "owner" }));
    let archives = || {
        let said = place.run(&[
            "session",
            "archives",
            flow["flow"].as_str().unwrap(),
            "owner",
            "--json",
        ]);
        said.json()["archives"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    wait_until("it is compacted", || !archives().is_empty());
    let settings = json!({ "model": "other" });
    say(
        &mut window,
        json!({ "do": "configure", "role": "owner", "settings": settings }),
    );
    let before = model.requests();
    say(&mut window, reply.clone());
    asked(&mut window);
    let heard = model.heard().swap_remove(before);
    assert!(!heard.contains(BEGINNING), "{heard}");
    assert!(heard.contains("\"model\":\"other-1\""), "{heard}");
    let archive = archives()[0]["archive"].clone();
    say(
        &mut window,
        json!({ "do": "restore", "role": "owner", "archive": archive }),
    );
    let before = model.requests();
    say(&mut window, reply);
    asked(&mut window);
    let heard = model.heard().swap_remove(before);
    assert!(heard.contains(BEGINNING), "{heard}");
}
