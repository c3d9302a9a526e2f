//! The operator's file of models, changed by the program: what it says afterwards, byte for byte, and the request that
//! leaves.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::Value;

use super::models::{FLOW, Model};
use super::place::{Place, RUN};
use crate::support::Said;

/// As a person writes it.
const WRITTEN: &str = "# mine\nmodels:\n  # the one at home\n  home:   # slow\n    provider: cellar\n    \
                       id: h   # as it says itself\n    window: 9000\n  other: { provider: cellar, id: o, window: 8000 }   # two\n\n\
                       # on a Monday\nmodel: home   # for now\nproviders:\n  cellar:\n    wire: openai-chat\n    \
                       base-url: http://127.0.0.1:1/v1   # down there\n";

fn place(text: &str) -> Place {
    let place = Place::new(FLOW, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    place.write("config.yaml", text);
    place
}

fn file(place: &Place) -> String {
    std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap()
}

fn models(place: &Place, words: &[&str]) -> Said {
    place.run(&[&["models"], words].concat())
}

/// What of a known model the catalogue says.
fn known(place: &Place, id: &str) -> Value {
    let listed = models(place, &["catalogue", id, "--json"]).json();
    let mut all = listed["models"].as_array().unwrap().iter();
    all.find(|model| model["id"] == id).unwrap().clone()
}

#[test]
fn a_known_model_is_asked_as_the_catalogue_says_and_the_answer_says_where_that_is_from() {
    let model = Model::start();
    let place = place("");
    let id = "claude-opus-4-5";
    let as_of = models(&place, &["catalogue", "--json"]).json()["as_of"].clone();
    let said = models(
        &place,
        &[
            "add",
            "m",
            "--id",
            id,
            "--base-url",
            &model.address(),
            "--json",
        ],
    );
    assert_eq!(said.code, 0, "{said:?}");
    let answer = said.json();
    assert_eq!(answer["catalogue"]["as_of"], as_of);
    assert_eq!(
        answer["catalogue"]["members"],
        serde_json::json!(["window", "max_output", "prices"])
    );
    assert_eq!(answer["provider"]["address"], model.address());
    // The key of its maker does not go to another address.
    assert_eq!(answer["key"], Value::Null);
    let said = place.run(&RUN);
    assert_eq!(said.code, 9, "{said:?}");
    let heard: Value = serde_json::from_str(&model.heard()[0]).unwrap();
    assert_eq!(heard["model"], id);
    let (window, most) = (
        known(&place, id)["members"]["window"].as_u64().unwrap(),
        known(&place, id)["members"]["max_output"].as_u64().unwrap(),
    );
    assert_eq!(heard["max_tokens"], most.min(window / 5));
    assert_eq!(answer["members"]["max_output"], heard["max_tokens"]);
    let trial = models(&place, &["test", "--json"]).json();
    let input = known(&place, id)["members"]["price_input"]
        .as_u64()
        .unwrap();
    let cost = trial["cost_micros"].as_u64().unwrap();
    let (read, said) = (&trial["input_tokens"], &trial["output_tokens"]);
    let output = known(&place, id)["members"]["price_output"]
        .as_u64()
        .unwrap();
    let tokens = |value: &Value| value.as_u64().unwrap();
    assert_eq!(cost, tokens(read) * input + tokens(said) * output);
}

#[test]
fn a_server_that_says_nothing_is_named_as_it_is_asked_and_not_waited_for_without_end() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", silent.local_addr().unwrap());
    let place = place("");
    let add = [
        "add",
        "slow",
        "--wire",
        "openai-chat",
        "--id",
        "x",
        "--window",
        "32000",
    ];
    let added = models(&place, &[&add[..], &["--base-url", &address]].concat());
    assert_eq!(added.code, 0, "{added:?}");
    let mut command = place
        .workspace
        .command(&["models", "test", "slow", "--wait", "2s"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    assert_eq!(first, format!("asking slow at {address} …\n"));
    assert!(child.try_wait().unwrap().is_none(), "it still waits");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(rest.contains("within 2 s"), "{rest}");
    assert!(rest.contains("models test slow --wait "), "{rest}");
    // Programs read one error and nothing else.
    let said = models(&place, &["test", "slow", "--wait", "1s", "--json"]);
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["error"]["code"], "model-failed", "{said:?}");
}

#[test]
fn models_are_listed_with_their_prices() {
    let place = place("");
    let priced = ["add", "a", "--id", "claude-opus-4-5", "--prices", "9,8,7,6"];
    assert_eq!(models(&place, &priced).code, 0);
    let local = [
        "add",
        "b",
        "--wire",
        "openai-chat",
        "--id",
        "x",
        "--window",
        "32000",
    ];
    let local = [&local[..], &["--base-url", "http://127.0.0.1:9/v1"]].concat();
    assert_eq!(models(&place, &local).code, 0);
    let listed = models(&place, &["ls", "--json"]).json()["models"].clone();
    let price = |model: usize, of: &str| listed[model][format!("price_{of}")].clone();
    assert_eq!(
        ["input", "output", "cache_read", "cache_write"].map(|of| price(0, of)),
        [9, 8, 7, 6]
    );
    assert_eq!(price(1, "input"), Value::Null, "{listed}");
    let said = models(&place, &["ls"]);
    let rows: Vec<&str> = said.out.lines().collect();
    let cells = |row: usize| rows[row].split_whitespace().collect::<Vec<_>>();
    for (row, prices) in [(0, ["IN", "OUT"]), (1, ["9", "8"]), (2, ["?", "?"])] {
        assert!(cells(row).windows(2).any(|two| two == prices), "{said:?}");
    }
    assert!(said.err.contains("for a million tokens"), "{said:?}");
}

#[test]
fn what_is_said_counts_more_than_the_catalogue() {
    let model = Model::start();
    let place = place("");
    let address = model.address();
    let words = [
        "add",
        "m",
        "--id",
        "claude-opus-4-5",
        "--base-url",
        &address,
    ];
    let own = [
        "--window",
        "50000",
        "--max-output",
        "700",
        "--prices",
        "9,8,7,6",
    ];
    let said = models(&place, &[&words[..], &own].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("catalogue"), "{said:?}");
    assert_eq!(place.run(&RUN).code, 9);
    let heard: Value = serde_json::from_str(&model.heard()[0]).unwrap();
    assert_eq!(heard["max_tokens"], 700);
    assert!(file(&place).contains("price: { input: 9, output: 8, cache-read: 7, cache-write: 6 }"));
}

#[test]
fn the_answer_names_the_address_and_where_the_key_is_and_never_the_key() {
    let place = place("");
    let add = |name: &str, more: &[&str], value: Option<&str>| {
        let words = ["models", "add", name, "--id", "claude-opus-5"];
        let mut command = place.workspace.command(&[&words[..], more].concat());
        command.envs(value.map(|value| ("ANTHROPIC_API_KEY", value)));
        place.workspace.heard(&mut command)
    };
    let said = add("one", &[], None);
    assert_eq!(said.code, 0, "{said:?}");
    for part in [
        "address   https://api.anthropic.com\n",
        "no key in the variable ANTHROPIC_API_KEY: it is not set",
        "anthropic (new), wire anthropic",
        "window, max-output, prices from the catalogue of 20",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let said = add("two", &[], Some("sk-very-secret"));
    assert!(
        said.out.contains("in the variable ANTHROPIC_API_KEY\n"),
        "{said:?}"
    );
    assert!(said.out.contains("(configured before)"), "{said:?}");
    let said = add("three", &["--json"], Some("sk-very-secret"));
    let key = said.json()["key"].clone();
    assert_eq!(
        (&key["from"], &key["name"]),
        (&"env".into(), &"ANTHROPIC_API_KEY".into())
    );
    assert_eq!(key["found"], true);
    assert!(!format!("{said:?}{}", file(&place)).contains("sk-very-secret"));
    let said = add("four", &["--json"], None);
    assert_eq!(said.json()["key"]["found"], false, "{said:?}");
    assert_eq!(said.json()["provider"]["new"], false, "{said:?}");
}

#[test]
fn prices_that_may_not_hold_are_said_to() {
    let place = place("");
    let said = models(&place, &["add", "gpt-5.5"]);
    assert!(
        said.out.contains("requests above 272k tokens cost more"),
        "{said:?}"
    );
    assert!(!said.out.contains("may have others"), "{said:?}");
    let gateway = [
        "--provider",
        "gate",
        "--base-url",
        "https://llm.example.com/v1",
    ];
    let add = ["add", "gated", "--id", "gpt-5.5"];
    let said = models(&place, &[&add[..], &gateway].concat());
    assert!(said.out.contains("the prices are openai's own"), "{said:?}");
    // The key of the maker goes to the maker only.
    assert!(said.out.contains("key       none is sent"), "{said:?}");
    assert_eq!(file(&place).matches("OPENAI_API_KEY").count(), 1);
}

#[test]
fn what_differs_from_a_provider_is_refused_or_makes_one_of_its_own() {
    let place = place("");
    assert_eq!(models(&place, &["add", "claude-opus-5"]).code, 0);
    let before = file(&place);
    for more in [
        &["--key-env", "OTHER_KEY"][..],
        &["--base-url", "https://llm.example.com"],
        &["--provider", "anthropic", "--wire", "openai-chat"],
    ] {
        let said = models(
            &place,
            &[&["add", "b", "--id", "claude-opus-4-5"], more].concat(),
        );
        assert_eq!(said.code, 6, "{said:?}");
        assert!(said.err.contains("error[provider-differs]"), "{said:?}");
        assert!(said.err.contains("--provider NAME"), "{said:?}");
        assert_eq!(file(&place), before);
    }
    let own = ["--provider", "mine", "--key-env", "OTHER_KEY"];
    let said = models(
        &place,
        &[&["add", "b", "--id", "claude-opus-4-5"], &own[..]].concat(),
    );
    assert_eq!(said.code, 0, "{said:?}");
    let listed = models(&place, &["ls", "--json"]).json();
    let b = &listed["models"][0];
    assert_eq!((&b["name"], &b["provider"]), (&"b".into(), &"mine".into()));
    assert_eq!(b["address"], "https://api.anthropic.com");
    assert!(b["key"].as_str().unwrap().contains("OTHER_KEY"), "{b}");
}

#[test]
fn a_model_that_is_not_known_needs_its_window_and_its_provider() {
    let place = place("");
    for (words, says) in [
        (&["add", "claude-opus-55"][..], "claude-opus-5-5"),
        (&["add", "x", "--wire", "anthropic"], "--window"),
    ] {
        let said = models(&place, words);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains(says), "{said:?}");
        assert_eq!(file(&place), "");
    }
    let said = models(&place, &["add", "x", "--provider", "p", "--window", "9000"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("--wire"), "{said:?}");
}

#[test]
fn a_model_is_taken_out_and_the_rest_of_the_file_stays_byte_for_byte() {
    let place = place(WRITTEN);
    let other = "  other: { provider: cellar, id: o, window: 8000 }   # two\n";
    let said = models(&place, &["rm", "other"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(file(&place), WRITTEN.replace(other, ""));
    place.write("config.yaml", WRITTEN);
    let said = models(&place, &["rm", "home"]);
    assert_eq!(said.code, 6, "{said:?}");
    assert!(
        said.err.contains("models rm home --default other"),
        "{said:?}"
    );
    assert_eq!(file(&place), WRITTEN);
    let said = models(
        &place,
        &["rm", "home", "--default", "other", "--provider", "--json"],
    );
    assert_eq!(said.code, 0, "{said:?}");
    let answer = said.json();
    assert_eq!(answer["default"], "other");
    // Another model has it.
    assert_eq!(answer["provider"]["removed"], false);
    let home = "  home:   # slow\n    provider: cellar\n    id: h   # as it says itself\n    window: 9000\n";
    let left = WRITTEN
        .replace(home, "")
        .replace("model: home", "model: other");
    assert_eq!(file(&place), left);
    let said = models(&place, &["rm", "oter"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("did you mean other?"), "{said:?}");
    let said = models(&place, &["rm", "other", "--provider"]);
    assert_eq!(said.code, 0, "{said:?}");
    let expected = "# mine\nmodels:\n  # the one at home\n\n# on a Monday\nproviders:\n";
    assert_eq!(file(&place), expected);
    assert_eq!(models(&place, &["ls"]).code, 0);
}

#[test]
fn members_of_a_model_change_and_the_answer_says_from_what_to_what() {
    let place = place(WRITTEN);
    let said = models(
        &place,
        &["edit", "home", "--window", "10000", "--price", "1,2"],
    );
    assert_eq!(said.code, 0, "{said:?}");
    for line in [
        "  window: 9000 -> 10000\n",
        "  max-output: 2250 -> 2500\n",
        "  price-input: none -> 1\n",
    ] {
        assert!(said.out.contains(line), "{line}: {said:?}");
    }
    let line = "    window: 10000\n    price: { input: 1, output: 2 }\n";
    assert_eq!(file(&place), WRITTEN.replace("    window: 9000\n", line));
    let before = file(&place);
    let said = models(&place, &["edit", "other", "--id", "new", "--json"]);
    let changes = serde_json::json!([{ "member": "id", "from": "o", "to": "new" }]);
    assert_eq!(said.json()["changes"], changes);
    assert_eq!(file(&place), before.replace("id: o,", "id: \"new\","));
    let before = file(&place);
    for (words, code) in [
        (&["edit", "home", "--max-output", "10000"][..], 2),
        (&["edit", "home", "--images", "true"], 2),
        (&["add", "new", "--provider", "cellar", "--window", "9"], 2),
        (&["edit", "home", "--prices", "1"], 2),
        (&["edit", "home"], 2),
        (&["edit", "hom", "--window", "9000"], 3),
    ] {
        let said = models(&place, words);
        assert_eq!(said.code, code, "{said:?}");
        assert_eq!(file(&place), before);
    }
}

#[test]
fn the_catalogue_is_listed_with_its_date() {
    let place = place("");
    let said = models(&place, &["catalogue", "opus"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("claude-opus-5 ") && !said.out.contains("sonnet"),
        "{said:?}"
    );
    assert!(said.err.contains("as of 20"), "{said:?}");
    let all = models(&place, &["catalogue", "--json"]).json();
    assert!(all["models"].as_array().unwrap().len() > 30);
    let said = models(&place, &["catalogue", "nobody's"]);
    assert!(said.out.contains("no such model"), "{said:?}");
}

#[test]
fn the_model_that_is_chosen_for_all_roles_is_the_one_that_is_asked() {
    let model = Model::start_with(|_| Vec::new());
    let text = format!(
        "providers:\n  p: {{ wire: anthropic, base-url: '{}' }}\nmodels:\n  one: {{ provider: p, id: first, window: \
         100000 }}\n  two: {{ provider: p, id: second, window: 100000 }}\nmodel: one\n",
        model.address()
    );
    let place = place(&text);
    let run = [&RUN[..], &["--mode", "full"]].concat();
    assert_eq!(place.run(&run).code, 0);
    assert_eq!(models(&place, &["use", "two"]).code, 0);
    assert_eq!(place.run(&run).code, 0);
    // The same under another id.
    assert_eq!(models(&place, &["edit", "two", "--id", "third"]).code, 0);
    assert_eq!(place.run(&run).code, 0);
    let asked: Vec<Value> = (model.heard().iter())
        .map(|body| serde_json::from_str::<Value>(body).unwrap()["model"].clone())
        .collect();
    assert_eq!(asked, ["first", "second", "third"]);
}

#[test]
fn a_server_without_a_command_or_an_address_is_refused_with_how_it_is_typed() {
    let place = place("");
    let said = place.run(&["mcp", "add", "docs"]);
    assert_eq!(said.code, 2, "{said:?}");
    let shape = "try: a-society mcp add docs -- COMMAND …, or a-society mcp add docs --url URL";
    assert!(said.err.contains(shape), "{said:?}");
    let said = place.run(&["mcp", "add"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("mcp add [OPTIONS] <SERVER>"), "{said:?}");
}
