//! The page's server beside a project: what the project chose for the end of its flows counts for those
//! that are started from the page, and what roles found leads to a change that is shown before.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::play::Play;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Served {
    fn beside(play: &Play) -> Self {
        let words = ["serve", "--port", "0", "--json"];
        let mut command = play.workspace.command(&words);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        let (address, token) = (text("address"), text("token"));
        Self {
            child,
            address,
            token,
        }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn get(&self, path: &str) -> Value {
        let (status, said) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {said}");
        said
    }
}

fn run(play: &Play, words: &[&str]) -> crate::support::Said {
    play.workspace.run(words)
}

/// Waits until a flow is over, and gives its status.
fn ended(play: &Play, flow: &str) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let status = run(play, &["status", flow, "--json"]).json();
        if status["status"] == "completed" {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_flow_started_from_the_page_ends_as_its_project_chose_or_as_was_wished_for_it() {
    let play = Play::new("release-notes");
    let chosen = play.workspace.path().join("demo/a-docs/improvement");
    std::fs::write(
        chosen.join("defaults.yaml"),
        "improve: parallel\nfeedback: no\n",
    )
    .unwrap();
    std::fs::create_dir(play.workspace.path().join("flows")).unwrap();
    let served = Served::beside(&play);
    let projects = served.get("/api/projects");
    let rows = projects["projects"].as_array().unwrap();
    let named = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    // What only keeps files may become a project, and is not one yet.
    assert_eq!(named("flows")["bare"], json!(true));
    let row = named("demo");
    assert_eq!(row.get("bare"), None);
    assert_eq!(
        (&row["improve"], &row["feedback"]),
        (&json!("parallel"), &json!(false))
    );
    for (wish, mode) in [
        (json!({}), "parallel"),
        (json!({ "improve": "graph-based" }), "graph-based"),
    ] {
        let mut order = json!({ "from": { "project": "demo" }, "title": mode });
        order.as_object_mut().unwrap().extend(
            wish.as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        let (status, begun) = served.ask("POST", "/api/flows", &order.to_string());
        assert_eq!(status, 200, "{begun}");
        let flow = begun["flow"].as_str().unwrap();
        ended(&play, flow);
        let state = served.get(&format!("/api/flow/demo/{flow}/state"));
        assert_eq!(state["improvement"]["mode"], mode);
        assert_eq!(state["improvement"]["feedback"]["state"], "declined");
    }
}

#[test]
fn what_was_found_stands_on_the_page_with_the_change_that_came_of_it() {
    let play = Play::new("release-notes");
    let flow = play.to_the_end();
    let served = Served::beside(&play);
    let found = served.get("/api/findings?project=demo");
    let one = &found["flows"][0];
    assert_eq!(
        (&one["flow"]["flow"], &found["before"]),
        (&json!(flow), &Value::Null)
    );
    let findings = one["findings"].as_array().unwrap();
    let of_writer = findings.iter().find(|it| it["role"] == "writer").unwrap();
    assert!(
        of_writer["text"]
            .as_str()
            .unwrap()
            .contains("a-docs/style.md")
    );
    assert_eq!(
        served.get("/api/findings?project=other")["flows"],
        json!([])
    );

    let of = |rest: &str| format!("/api/flow/demo/{flow}/{rest}");
    let files = served.get(&of("changeable"));
    let files = files["files"].as_array().unwrap();
    assert!(files.contains(&json!("a-docs/style.md")), "{files:?}");
    let style = served.get(&of("changeable?path=a-docs%2Fstyle.md"));
    let before = style["text"].as_str().unwrap();
    // Nothing but what a finding may change is read.
    for path in [
        "README.md",
        "..%2Fdemo%2Fa-docs%2Fstyle.md",
        "%2Fetc%2Fpasswd",
    ] {
        let (status, _) = served.ask("GET", &of(&format!("changeable?path={path}")), "");
        assert_eq!(status, 404, "{path}");
    }
    let new = play.workspace.path().join("new.md");
    std::fs::write(&new, format!("{before}What breaks comes first.\n")).unwrap();
    let words = ["findings", "propose", &flow, "writer", "a-docs/style.md"];
    let words = [&words[..], &["--with", "new.md"]].concat();
    assert_eq!(run(&play, &words).code, 0);

    let found = served.get("/api/findings");
    let change = &found["flows"][0]["changes"][0];
    assert_eq!(
        (&change["stands"], &change["finding"]),
        (&json!("open"), &of_writer["seq"])
    );
    let path = of(&format!("change/{}", change["id"].as_str().unwrap()));
    let shown = served.get(&path);
    let lines = shown["diff"]["hunks"][0]["lines"].as_array().unwrap();
    let come: Vec<&Value> = lines.iter().filter(|line| line["op"] != " ").collect();
    assert_eq!(
        come,
        [&json!({ "op": "+", "text": "What breaks comes first." })]
    );
    assert_eq!(run(&play, &["findings", "apply", &flow]).code, 0);
    let shown = served.get(&path);
    assert_eq!(
        (&shown["change"]["stands"], &shown["diff"]),
        (&json!("applied"), &Value::Null)
    );
    let (status, _) = served.ask("GET", &of("change/another"), "");
    assert_eq!(status, 404);
}

#[test]
fn the_page_says_of_a_fork_exactly_what_the_command_line_says() {
    let play = Play::new("release-notes");
    let flow = play.to_the_end();
    let served = Served::beside(&play);
    let plan = served.get(&format!("/api/flow/demo/{flow}/fork?at=40"));
    let said = run(&play, &["fork", &flow, "--at", "40", "--dry-run", "--json"]).json();
    for member in ["carried", "not_carried"] {
        assert_eq!(plan[member], said[member]);
        assert_ne!(plan[member], json!([]));
    }
    assert_eq!((&plan["at"], &plan["name"]), (&json!(40), &said["title"]));
    assert_eq!(
        plan["hears"]["waits"], false,
        "somebody works at 40: {plan}"
    );
    let end = served.get(&format!("/api/flow/demo/{flow}/fork"));
    assert_eq!(
        end["hears"],
        Value::Null,
        "nobody hears in a flow that is over"
    );
}

#[test]
fn a_project_and_an_example_that_are_made_from_the_page_lie_on_the_disk_and_run() {
    let play = Play::new("hello");
    let served = Served::beside(&play);
    let make = |order: Value| served.ask("POST", "/api/projects", &order.to_string());
    let root = play.workspace.path();
    std::fs::create_dir_all(root.join("ledger")).unwrap();
    std::fs::write(root.join("ledger/main.c"), "int main;\n").unwrap();
    for (order, takeover) in [
        (json!({ "name": "ledger" }), true),
        (json!({ "name": "fresh" }), false),
        (json!({ "name": "try-it", "example": true }), false),
    ] {
        let (status, made) = make(order.clone());
        assert_eq!(
            (status, &made["takeover"]),
            (200, &json!(takeover)),
            "{made}"
        );
        for path in made["files"].as_array().unwrap() {
            assert!(root.join(path.as_str().unwrap()).is_file(), "{path}");
        }
        let start = json!({ "from": made["from"], "improve": "none" });
        let (status, begun) = served.ask("POST", "/api/flows", &start.to_string());
        assert_eq!(status, 200, "{begun}");
        ended(&play, begun["flow"].as_str().unwrap());
        // A second time nothing is replaced.
        let (status, refused) = make(order);
        assert_eq!((status, &refused["code"]), (409, &json!("file-exists")));
    }
    // What the terminal makes is the same, file by file.
    assert_eq!(run(&play, &["init", "by-hand"]).code, 0);
    for path in [
        "a-docs/workflow/main.yaml",
        "a-docs/initialization/flow.yaml",
    ] {
        let read = |name: &str| std::fs::read(root.join(name).join(path)).unwrap();
        assert_eq!(read("by-hand"), read("fresh"), "{path}");
    }
    std::os::unix::fs::symlink("/", root.join("away")).unwrap();
    for name in ["../out", "a/b", ".a-society", "", "away"] {
        let (status, refused) = make(json!({ "name": name }));
        assert_eq!(
            (status, &refused["code"]),
            (409, &json!("project-unfit")),
            "{name}"
        );
    }
}

#[test]
fn a_flow_is_removed_from_the_page_as_its_plan_says_and_not_while_it_is_open() {
    let play = Play::new("hello");
    let served = Served::beside(&play);
    let begin = |file: &str| {
        let order = json!({ "from": { "file": file }, "improve": "none" });
        let (status, begun) = served.ask("POST", "/api/flows", &order.to_string());
        assert_eq!(status, 200, "{begun}");
        let (project, flow) = (begun["project"].as_str(), begun["flow"].as_str());
        (project.unwrap().to_owned(), flow.unwrap().to_owned())
    };
    let (_, made) = served.ask(
        "POST",
        "/api/projects",
        &json!({ "name": "try-it", "example": true }).to_string(),
    );
    let (project, flow) = begin(made["files"][0].as_str().unwrap());
    let at = format!("/api/flow/{project}/{flow}/removal");
    let open = served.get(&at);
    assert_eq!(open["refused"]["code"], "not-removed", "{open}");
    let (status, refused) = served.ask("POST", &at, &json!({ "seq": open["seq"] }).to_string());
    assert_eq!((status, &refused["code"]), (409, &json!("not-removed")));
    ended(&play, &flow);
    let begun = std::time::Instant::now();
    let plan = loop {
        let plan = served.get(&at);
        if plan["refused"].is_null() {
            break plan;
        }
        assert!(begun.elapsed() < PATIENCE, "{plan}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let folder = play.workspace.path().join(plan["folder"].as_str().unwrap());
    let names: Vec<&str> = (plan["parts"].as_array().unwrap().iter())
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    for name in &names {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(
        names.contains(&"journal") && names.contains(&"record"),
        "{names:?}"
    );
    // A plan of another moment removes nothing.
    let (status, _) = served.ask("POST", &at, &json!({ "seq": open["seq"] }).to_string());
    assert_eq!(status, 409);
    assert!(folder.exists());
    let (status, removed) = served.ask("POST", &at, &json!({ "seq": plan["seq"] }).to_string());
    assert_eq!(status, 200, "{removed}");
    assert!(!folder.exists());
    assert_eq!(served.ask("GET", &at, "").0, 404);
}
