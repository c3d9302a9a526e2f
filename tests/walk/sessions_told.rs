//! Chats whose roles send to one another: answers come back as results of tools, and waits that could not end are
//! refused.

use a_society_stand_in::{Ending, Server};
use serde_json::{Value, json};

use super::models::{call, says, streamed, with_model_at};
use super::place::Place;
use super::sessions_seen::last_result;

/// A role that may send.
const ROLE: &str = "tools: [ sessions_send, sessions_list ]\n";

/// What a message asks the model to do: `SEND key seconds text` sends, and everything else is repeated.
fn model() -> Server {
    Server::by(|seen, number| {
        let request = &seen.body;
        let said = match (newest(request), last_result(request)) {
            (Newest::Result, Some(result)) => {
                let text = result.as_str().map(str::to_owned);
                let text = text.unwrap_or_else(|| result.to_string());
                vec![says(&["Result: ", &text])]
            }
            (Newest::Words(words), _) => match asks_to_send(&words) {
                Some(input) => vec![call(number, "sessions_send", input)],
                None => vec![says(&["You said: ", &words])],
            },
            (Newest::Result, None) => vec![says(&["Nothing."])],
        };
        streamed(said, Ending::Natural, 100)
    })
}

enum Newest {
    Result,
    Words(String),
}

/// What the last message of a request is.
fn newest(request: &Value) -> Newest {
    let last = request["messages"].as_array().and_then(|all| all.last());
    let content = last.map_or(&Value::Null, |last| &last["content"]);
    if let Some(text) = content.as_str() {
        return Newest::Words(text.to_owned());
    }
    let blocks = content.as_array().into_iter().flatten();
    let mut words = String::new();
    for block in blocks {
        if block["type"] == "tool_result" {
            return Newest::Result;
        }
        words.push_str(block["text"].as_str().unwrap_or_default());
    }
    Newest::Words(words)
}

/// The last line says what is sent: `SEND key seconds text`.
fn asks_to_send(words: &str) -> Option<Value> {
    let (_, order) = words.split_once("SEND ")?;
    let mut parts = order.splitn(3, ' ');
    let (key, seconds, text) = (parts.next()?, parts.next()?, parts.next()?);
    let seconds: u64 = seconds.parse().ok()?;
    Some(json!({ "sessionKey": key, "message": text, "timeoutSeconds": seconds }))
}

/// A place with chats of these labels, which see one another.
fn chats(server: &Server, sessions: &str, labels: &[&str]) -> Place {
    let place = with_model_at(&server.url(), "anthropic");
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    place.write("config.yaml", &format!("{config}{sessions}"));
    assert_eq!(place.run(&["init", "notes"]).code, 0);
    place.write("notes/a-docs/roles/writer/role.yaml", ROLE);
    for label in labels {
        let begun = place.run(&[
            "chat",
            "writer",
            "--project",
            "notes",
            "--label",
            label,
            "--once",
            "Begin.",
        ]);
        assert_eq!(begun.code, 0, "{begun:?}");
    }
    place
}

const SEES: &str = "sessions: { see: project }\n";

fn says_to(place: &Place, label: &str, text: &str) -> String {
    let said = place.run(&["sessions", "send", label, text, "--wait", "60"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.out
}

#[test]
fn a_chat_sends_to_another_and_gets_its_answer_as_the_result_of_the_tool() {
    let server = model();
    let place = chats(&server, SEES, &["one", "two"]);
    let answer = says_to(&place, "one", "SEND two 30 Which colour?");
    assert!(answer.contains("\"status\":\"ok\""), "{answer}");
    assert_eq!(server.refused(), [""; 0]);
    let seen: Vec<Value> = server.seen().into_iter().map(|seen| seen.body).collect();
    // The message of the one left to the model of the other, with the name of its sender.
    let key = |label: &str| {
        let words = ["sessions", "ls", "--json", "--label", label];
        let listed = place.run(&words).json();
        listed["sessions"][0]["key"].as_str().unwrap().to_owned()
    };
    let received = format!(
        "Message from the session {}:\\n\\nWhich colour?",
        key("one")
    );
    let to_other = |request: &&Value| {
        let text = request["messages"].as_array().and_then(|all| all.last());
        text.is_some_and(|text| text.to_string().contains(&received))
    };
    assert_eq!(seen.iter().filter(to_other).count(), 1, "{received}");
    let result = last_result(seen.last().unwrap()).unwrap();
    let reply = result["reply"].as_str().unwrap();
    assert!(
        reply.starts_with("You said: Message from the session ")
            && reply.ends_with("Which colour?"),
        "{result}"
    );
    // The run can be fetched by the operator, too.
    let run = result["runId"].as_str().unwrap();
    let waited = place.run(&["sessions", "wait", run, "--json"]).json();
    assert_eq!(waited["reply"], reply);

    // Sent and left: the receiver answers, and the sender does not wait for it.
    let answer = says_to(&place, "one", "SEND two 0 And the shape?");
    assert!(answer.contains("\"status\":\"accepted\""), "{answer}");
    let result = last_result(
        &server
            .seen()
            .into_iter()
            .map(|seen| seen.body)
            .rfind(|body| last_result(body).is_some())
            .unwrap(),
    );
    let run = result.unwrap()["runId"].as_str().unwrap().to_owned();
    let waited = place
        .run(&["sessions", "wait", &run, "--wait", "60", "--json"])
        .json();
    assert!(
        waited["reply"]
            .as_str()
            .unwrap()
            .ends_with("And the shape?"),
        "{waited}"
    );
}

#[test]
fn messages_of_two_senders_are_two_although_their_calls_have_the_same_id() {
    let server = model();
    let place = chats(&server, SEES, &["one", "two", "three"]);
    for (sender, colour) in [("one", "Red?"), ("two", "Blue?")] {
        let answer = says_to(&place, sender, &format!("SEND three 30 {colour}"));
        let ends_so = answer.contains(&format!("{colour}\""));
        assert!(answer.contains("\"status\":\"ok\"") && ends_so, "{answer}");
    }
}

#[test]
fn two_chats_that_send_to_each_other_and_a_ring_of_five_are_refused_at_once() {
    let server = model();
    let place = chats(&server, SEES, &["a", "b", "c", "d", "e"]);
    let own = says_to(&place, "a", "SEND a 30 Hello.");
    assert!(own.contains("your own session"), "{own}");
    let begun = std::time::Instant::now();
    let two = says_to(&place, "a", "SEND b 60 SEND a 60 Hello.");
    assert!(two.contains("waits for your answer"), "{two}");
    let ring = says_to(
        &place,
        "a",
        "SEND b 60 SEND c 60 SEND d 60 SEND e 60 SEND a 60 Hello.",
    );
    assert!(ring.contains("waits for your answer"), "{ring}");
    // Nothing waited until its time was over.
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(55),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn what_must_not_be_seen_is_not_found_and_the_operator_closes_a_chat_to_messages() {
    let server = model();
    let place = chats(&server, "", &["one", "two"]);
    let unseen = says_to(&place, "one", "SEND two 30 Hello.");
    assert!(unseen.contains("There is no session two."), "{unseen}");

    let place = chats(&server, SEES, &["one", "two"]);
    let listed = place
        .run(&["sessions", "ls", "--json", "--label", "two"])
        .json();
    let chat = listed["sessions"][0]["flowId"].as_str().unwrap().to_owned();
    let choose = |choice: &str| {
        let said = place.run(&["configure", &chat, "writer", &format!("send={choice}")]);
        assert_eq!(said.code, 0, "{said:?}");
    };
    choose("off");
    let denied = says_to(&place, "one", "SEND two 30 Hello.");
    assert!(denied.contains("lets no messages through"), "{denied}");
    let listed = place
        .run(&["sessions", "ls", "--json", "--label", "two"])
        .json();
    assert_eq!(listed["sessions"][0]["sendPolicy"], "off");
    choose("inherit");
    let answered = says_to(&place, "one", "SEND two 30 Hello.");
    assert!(answered.contains("\"status\":\"ok\""), "{answered}");

    let rules = "sessions: { see: project, send: { rules: [{ match: { role: writer }, action: deny }] } }\n";
    let place = chats(&server, rules, &["one", "two"]);
    let denied = says_to(&place, "one", "SEND two 30 Hello.");
    assert!(denied.contains("lets no messages through"), "{denied}");
}
