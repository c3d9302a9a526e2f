//! Sessions that fill their model's window, as the model's server sees them: the bodies of its requests.
//!
//! The server counts a token for four bytes of a request, and what it answers depends on the request
//! alone, so that one that is sent again after a death gets the same answer.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use std::time::Duration;

use a_society_stand_in::{Ending, Piece, Reply, Used};
use serde_json::{Value, json};

use a_society_facts::Fact;
use a_society_facts::fact::session::{CompactionStarted, SessionCompacted, Strategy, Trigger};

use super::models::{FLOW, call, refusal, says, streamed};
use super::place::{Place, RUN, wait_until};
use super::requested::holds_what_left;
use crate::support::{is_full, seed};

/// What the server answers to a request.
enum Answer {
    /// A text.
    Says(&'static str),
    /// A text, word by word.
    Slowly(&'static str),
    /// A call of a tool.
    Calls(&'static str, Value),
    /// A refusal.
    Refuses(u16, Value),
}

type Plan = fn(&Value) -> Answer;

/// A server whose answers follow a plan.
struct Server(a_society_stand_in::Server);

impl Server {
    fn start(plan: Plan) -> Self {
        Self(a_society_stand_in::Server::by(move |seen, _| {
            let tokens = seen.text.len() / 4;
            match plan(&seen.body) {
                Answer::Refuses(status, why) => refusal(status, 0, &why.to_string()),
                Answer::Says(text) => streamed(vec![says(&[text])], Ending::Natural, tokens),
                Answer::Slowly(text) => {
                    let words: Vec<&str> = text.split_inclusive(' ').collect();
                    streamed(vec![says(&words)], Ending::Natural, tokens)
                }
                Answer::Calls(tool, input) => {
                    let call = call(results(&seen.body), tool, input);
                    streamed(vec![call], Ending::Natural, tokens)
                }
            }
        }))
    }

    fn bodies(&self) -> Vec<String> {
        assert_eq!(self.0.refused(), [""; 0]);
        let seen = self.0.seen().into_iter();
        seen.map(|request| request.text).collect()
    }

    /// The bodies of requests that did not ask for a summary.
    fn own(&self) -> Vec<String> {
        let own = |body: &String| !is_for_summary(&serde_json::from_str(body).unwrap());
        self.bodies().into_iter().filter(own).collect()
    }
}

fn is_for_summary(request: &Value) -> bool {
    request["tools"].as_array().is_none_or(Vec::is_empty)
}

fn results(request: &Value) -> usize {
    request.to_string().matches("\"tool_result\"").count()
}

/// A model that reads long files.
fn place(server: &Server, window: u64) -> Place {
    let place = Place::new(FLOW, "");
    std::fs::remove_file(place.workspace.path().join("demo/script.yaml")).unwrap();
    for number in 0..FILES {
        let lines: String = (0..100)
            .map(|line| format!("{line}: what the file {number} says here\n"))
            .collect();
        place.write(&format!("demo/file-{number}.txt"), &lines);
    }
    let address = server.0.url();
    let config = format!(
        "providers:\n  p: {{ wire: anthropic, base-url: '{address}' }}\n\
         models:\n  m: {{ provider: p, id: m, window: {window} }}\nmodel: m\n"
    );
    place.write("config.yaml", &config);
    place
}

fn run(place: &Place) -> crate::support::Said {
    place.run(&RUN)
}

/// The operator gives a model of this window one of 100,000 tokens, and the flow goes on.
fn widened(place: &Place, window: u64) -> crate::support::Said {
    let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
    let wide = config.replace(&format!("window: {window} "), "window: 100000 ");
    assert_ne!(config, wide);
    place.write("config.yaml", &wide);
    let flow = place.flow().unwrap();
    assert_eq!(place.run(&["retry", &flow]).code, 0);
    place.run(&["resume", &flow, "--until-waiting"])
}

fn transcript(place: &Place) -> Value {
    let flow = place.flow().unwrap();
    let said = place.run(&["session", "export", &flow, "owner"]);
    serde_json::from_str(&said.out).unwrap()
}

/// The texts that replaced a history, oldest first.
fn replacements(transcript: &Value) -> Vec<String> {
    let archives = transcript["compactionArchives"].as_array().unwrap();
    let text = |it: &Value| {
        it["replacementMessage"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    archives.iter().map(text).collect()
}

const CLOSES: &str = "All is done.\n\n```handoff\ntype: forward-pass-closed\n```\n";

const SUMMARY: &str =
    "## Task\nKeep a log.\n## State of files\nA file was read.\n## Next step\nRead on.";

/// How many files there are to read.
const FILES: u64 = 400;

/// Another file each time, so that no two results are the same.
fn reads_on(request: &Value) -> Answer {
    let mut hasher = std::hash::DefaultHasher::new();
    request.to_string().hash(&mut hasher);
    let number = hasher.finish() % FILES;
    Answer::Calls("read_file", json!({ "path": format!("file-{number}.txt") }))
}

fn reads_until_the_tenth_summary(request: &Value) -> Answer {
    if is_for_summary(request) {
        let material = request.to_string();
        let rounds = material.matches("Rounds: ").count();
        let former = material
            .split("Rounds: ")
            .nth(1)
            .and_then(|it| it.split('.').next());
        let former: usize = former.and_then(|it| it.parse().ok()).unwrap_or(0);
        assert!(rounds <= 1, "one former summary: {material}");
        const ROUNDS: [&str; 11] = [
            "",
            "Rounds: 1. ",
            "Rounds: 2. ",
            "Rounds: 3. ",
            "Rounds: 4. ",
            "Rounds: 5. ",
            "Rounds: 6. ",
            "Rounds: 7. ",
            "Rounds: 8. ",
            "Rounds: 9. ",
            "Rounds: 10. ",
        ];
        return Answer::Says(ROUNDS[former + 1]);
    }
    if request.to_string().contains("Rounds: 10.") {
        return Answer::Says(CLOSES);
    }
    reads_on(request)
}

#[test]
fn a_long_node_goes_on_over_many_summaries_with_its_task_in_every_request() {
    let server = Server::start(reads_until_the_tenth_summary);
    let place = place(&server, 20_000);
    let said = run(&place);
    assert_eq!(said.code, 0, "{said:?}");
    let own = server.own();
    for body in &own {
        assert!(body.len() < 20_000 * 4, "{} bytes", body.len());
        assert!(body.contains("Keep a log"), "the task stands in it");
        assert!(body.matches("<summary id=").count() <= 1, "{body}");
    }
    let transcript = transcript(&place);
    let replacements = replacements(&transcript);
    assert_eq!(replacements.len(), 10);
    // Those for summaries are among them.
    holds_what_left(&place, &place.flow().unwrap(), &server.bodies());
    let lengths: Vec<usize> = replacements.iter().map(String::len).collect();
    assert!(
        lengths.iter().all(|bytes| bytes.abs_diff(lengths[0]) < 20),
        "{lengths:?}"
    );
    let tokens: usize = server.bodies().iter().map(|body| body.len() / 4).sum();
    assert!(tokens < 1_500_000, "{tokens} tokens");
    let archives = transcript["compactionArchives"].to_string().len();
    let each = archives / 10;
    assert!(each < 100_000, "{each} bytes an archive");
}

#[test]
fn a_window_that_prompt_and_tools_fill_is_asked_about_after_one_request() {
    let server = Server::start(reads_on);
    let place = place(&server, 2_048);
    let said = run(&place);
    assert_eq!(said.code, 10, "{said:?}");
    let said = format!("{}{}", said.out, said.err);
    assert!(said.contains("m has a window of 2.0k tokens"), "{said}");
    assert!(said.contains("owner model=NAME"), "{said}");
    assert_eq!(server.bodies().len(), 1);
    // The operator mends it, and the turn goes on.
    let said = widened(&place, 2_048);
    assert!(server.bodies().len() > 5, "{said:?}");
}

#[test]
fn a_packet_that_no_window_of_this_size_holds_is_asked_about_before_anything_is_sent() {
    let server = Server::start(|_| Answer::Says(CLOSES));
    let place = place(&server, 10_000);
    let input = "Every line of this list is a task.\n".repeat(3_000);
    place.write("input.txt", &input);
    let said = place.run(&[&RUN[..], &["--input", "@input.txt"]].concat());
    assert_eq!(said.code, 10, "{said:?}");
    let said = format!("{}{}", said.out, said.err);
    assert!(said.contains("m has a window of 10k tokens"), "{said}");
    assert!(
        said.contains("waits for a model with a larger window"),
        "{said}"
    );
    assert_eq!(server.bodies().len(), 0);
    // The operator chooses one that holds it.
    let said = widened(&place, 10_000);
    let bodies = server.bodies();
    let asked = bodies.first().unwrap_or_else(|| panic!("{said:?}"));
    assert!(asked.contains(input.trim_end().replace('\n', "\\n").as_str()));
}

fn asks_for_tools_in_summaries(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Calls("read_file", json!({ "path": "file-1.txt" }));
    }
    if request
        .to_string()
        .matches("No summary could be made")
        .count()
        > 0
        && results(request) > 8
    {
        return Answer::Says(CLOSES);
    }
    reads_on(request)
}

#[test]
fn a_session_without_summaries_stays_within_its_window_and_says_so() {
    let server = Server::start(asks_for_tools_in_summaries);
    let place = place(&server, 20_000);
    let said = run(&place);
    assert_eq!(said.code, 0, "{said:?}");
    let own = server.own();
    let longest = own.iter().map(String::len).max().unwrap();
    assert!(longest < 20_000 * 4, "{longest} bytes");
    let told = own
        .iter()
        .find(|body| body.contains("No summary could be made"));
    assert!(told.unwrap().contains("the summary asked for tools"));
    let flow = place.flow().unwrap();
    let log = place.run(&["log", &flow, "--json"]).out;
    let why = r#""why":"the summary asked for tools""#;
    assert!(log.contains(why), "{log}");
}

fn refuses_what_is_long(request: &Value) -> Answer {
    let text = request.to_string();
    if is_for_summary(request) {
        return Answer::Says(SUMMARY);
    }
    if text.len() > 45_000 {
        let why = "prompt is too long: 12000 tokens > 11000 maximum";
        let error = json!({ "type": "invalid_request_error", "message": why });
        return Answer::Refuses(400, json!({ "type": "error", "error": error }));
    }
    if text.contains("<summary id=") {
        return Answer::Says(CLOSES);
    }
    reads_on(request)
}

#[test]
fn a_prompt_that_is_too_long_for_its_provider_is_summarised_and_sent_again() {
    let server = Server::start(refuses_what_is_long);
    // The configuration believes in a far larger window.
    let place = place(&server, 200_000);
    let said = run(&place);
    assert_eq!(said.code, 0, "{said:?}");
    let last = server.own().pop().unwrap();
    assert!(
        last.contains("Keep a log") && last.contains("A file was read."),
        "{last}"
    );
}

fn reads_once_summarised(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Says(SUMMARY);
    }
    if request.to_string().contains("<summary id=") {
        return Answer::Says(CLOSES);
    }
    reads_on(request)
}

/// A flow whose session is compacted once, run to its end with one more word.
pub(super) fn compacted(word: &str) -> crate::support::Said {
    let server = Server::start(reads_once_summarised);
    let place = place(&server, 20_000);
    place.run(&[&RUN[..], &[word]].concat())
}

#[test]
fn a_journal_cut_behind_any_record_of_a_compaction_goes_on_to_the_same_end() {
    let server = Server::start(reads_once_summarised);
    let place = place(&server, 20_000);
    assert_eq!(run(&place).code, 0);
    let flow = place.flow().unwrap();
    let path = place.folder(&flow).join("journal/00000001.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    let is_near = |end: &usize| {
        let line = whole[..*end].lines().last().unwrap();
        line.contains("compact") || line.contains("model_")
    };
    // Behind each request and answer, and behind everything that a compaction says.
    for end in ends.into_iter().filter(is_near) {
        std::fs::write(&path, &whole[..end]).unwrap();
        let views = place.folder(&flow);
        drop(std::fs::remove_file(views.join("views.json")));
        drop(std::fs::remove_file(views.join("flow.json")));
        let before = server.bodies().len();
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "cut at {end}: {said:?}");
        let closed = server.own().into_iter().next_back().unwrap();
        assert!(closed.contains("Keep a log"), "cut at {end}: {closed}");
        assert!(server.bodies().len() >= before);
    }
}

/// A server on the Chat Completions wire that closes the flow, and says that it read so many tokens.
fn local_server(prompt_tokens: u64) -> Server {
    let used = Used {
        fresh: prompt_tokens,
        ..Used::default()
    };
    Server(a_society_stand_in::Server::by(move |_, _| {
        let says = vec![Piece::text(CLOSES)];
        Reply::Paced(says, Ending::Natural, used, Duration::ZERO)
    }))
}

#[test]
fn a_local_server_that_read_a_part_of_the_prompt_is_asked_about_once() {
    let words = "Every word of these instructions counts for the role. ".repeat(600);
    let flow = FLOW.replace("You keep a log.", &words);
    for (tokens, code) in [(2_051, 10), (7_000, 0), (10, 0)] {
        let server = local_server(tokens);
        let place = place(&server, 32_000);
        place.write("demo/flow.yaml", &flow);
        let config = std::fs::read_to_string(place.workspace.path().join("config.yaml")).unwrap();
        place.write(
            "config.yaml",
            &config.replace("wire: anthropic", "wire: openai-chat"),
        );
        let said = run(&place);
        assert_eq!(said.code, code, "{tokens}: {said:?}");
        assert_eq!(server.bodies().len(), 1);
        if code == 0 {
            continue;
        }
        let said = format!("{}{}", said.out, said.err);
        assert!(said.contains("m took 2.0k of about "), "{said}");
        assert!(
            said.contains("raise its context size or lower `window:`"),
            "{said}"
        );
        let flow = place.flow().unwrap();
        assert_eq!(place.run(&["retry", &flow]).code, 0);
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "it is asked once: {said:?}");
    }
}

/// How many lines the input of the next test has.
const LINES: usize = 600;

/// Reads on until its session is compacted, then reads the file that the replacement names, and closes.
fn reads_its_request_again(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Says(SUMMARY);
    }
    let text = request.to_string();
    let Some(at) = text.find("all of it: record/.outputs/") else {
        return reads_on(request);
    };
    let path = text[at..].strip_prefix("all of it: ").unwrap();
    let path = &path[..path.find(']').unwrap()];
    match results(request) {
        0 => Answer::Calls("read_file", json!({ "path": path })),
        // A long file is read in parts.
        1 => Answer::Calls("read_file", json!({ "path": path, "offset": LINES - 100 })),
        _ => Answer::Says(CLOSES),
    }
}

#[test]
fn a_request_that_is_too_long_to_repeat_begins_in_the_replacement_and_the_role_reads_the_rest_of_it()
 {
    let server = Server::start(reads_its_request_again);
    let place = place(&server, 20_000);
    let line = |at: usize| format!("{at}: a line of what is asked for\n");
    let input: String = (0..LINES).map(line).collect();
    // More than the eighth of the window that a request may take in a replacement, and less than half.
    assert!(
        (20_000 * 4 / 8 + 1_000..40_000).contains(&input.len()),
        "{}",
        input.len()
    );
    let words = [
        "run",
        "demo/flow.yaml",
        "--until-waiting",
        "--improve",
        "none",
        "--input",
        "-",
    ];
    let said = place.workspace.run_with(&words, input.as_bytes());
    assert_eq!(said.code, 0, "{said:?}");
    let own = server.own();
    let shorter = own
        .iter()
        .find(|body| body.contains("all of it: record/.outputs/"));
    let shorter = shorter.unwrap();
    let in_json = |at: usize| line(at).replace('\n', "\\n");
    assert!(shorter.contains(&in_json(0)), "it begins as it was said");
    assert!(
        !shorter.contains(&in_json(LINES - 1)),
        "and does not end so"
    );
    assert!(shorter.contains("[the first part of "), "{shorter}");
    let last = own.last().unwrap();
    for at in [0, LINES - 50, LINES - 1] {
        assert!(last.contains(in_json(at).trim_end()), "line {at} was read");
    }
    let flow = place.flow().unwrap();
    let outputs = place.folder(&flow).join("record/.outputs");
    let mut kept = std::fs::read_dir(outputs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let kept = kept
        .find(|path| path.to_string_lossy().contains("/request-"))
        .unwrap();
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(kept.contains(&input), "the file holds all of it");
}

/// A replacement as earlier versions wrote it, which repeats what it replaced.
fn of_old(summary: &str, last: &str) -> String {
    format!(
        "Your conversation up to here was put away (k1, because the context was nearly full). This \
         message stands for it; the whole of it is kept in an archive.\n\n# What the flow knows\n\n\
         You are at the node `do`.\n\n# What you had done and found out\n\n{summary}\n\n\
         # The last thing you were told\n\n{last}\n\nGo on from where the summary ends. Do not begin \
         the task anew, and end the turn with a `handoff` block as always.\n"
    )
}

/// Asks, and reads on from there until its session was compacted by this version.
fn asks_then_reads(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Says(SUMMARY);
    }
    let text = request.to_string();
    if text.contains("<summary id=") {
        return Answer::Says(CLOSES);
    }
    if text.contains("Go on, please.") {
        return reads_on(request);
    }
    Answer::Says("Which one?\n\n```handoff\ntype: prompt-human\n```\n")
}

#[test]
fn a_session_whose_replacements_earlier_versions_put_into_one_another_comes_to_one_summary() {
    let server = Server::start(asks_then_reads);
    let place = place(&server, 20_000);
    let said = run(&place);
    assert_eq!(said.code, 8, "{said:?}");
    let id = place.flow().unwrap();
    let mut flow = place.workspace.open(&id);
    let mut nested = "Keep a log of what is asked.".to_owned();
    for round in 1..=4 {
        nested = of_old(&format!("Round {round} was done."), &nested);
        let compaction = format!("k{round}");
        let role: a_society_facts::id::RoleInstance = "owner".parse().unwrap();
        flow.append(Fact::CompactionStarted(CompactionStarted {
            role: role.clone(),
            compaction: compaction.clone(),
            trigger: Trigger::Manual,
            strategy: Strategy::NodeSummary,
            client: None,
        }))
        .unwrap();
        flow.append(Fact::SessionCompacted(SessionCompacted {
            role,
            compaction,
            trigger: Trigger::Manual,
            strategy: Strategy::NodeSummary,
            node: Some("do".parse().unwrap()),
            message: format!("old-{round}").parse().unwrap(),
            replacement: nested.as_str().into(),
            kept_first: 0,
            kept_last: 0,
            tokens_before: 17_000,
            tokens_after: None,
            why: None,
        }))
        .unwrap();
    }
    place.workspace.close(flow);
    let before = server.bodies().len();
    assert_eq!(place.run(&["reply", &id, "Go on, please."]).code, 0);
    let said = place.run(&["resume", &id, "--until-waiting", "--improve", "none"]);
    assert_eq!(said.code, 0, "{said:?}");
    let bodies = server.bodies();
    assert!(
        bodies[before].contains("Round 1 was done."),
        "it was nested before"
    );
    let last = bodies.last().unwrap();
    assert_eq!(last.matches("<summary id=").count(), 1, "{last}");
    assert!(last.contains("A file was read."), "{last}");
    assert!(
        last.contains("Go on, please."),
        "what the operator said last: {last}"
    );
    for frame in [
        "# The last thing you were told",
        "was put away (",
        "Round 1 was done.",
    ] {
        assert!(!last.contains(frame), "{frame} in {last}");
    }
    assert_eq!(place.run(&["verify", &id]).code, 0);
}

const OVER_AND_OVER: &str = "What was done and found out stands here, over and over again. ";

/// Three times as long as a summary may be in this window, and shorter than what it replaces.
fn says_much(request: &Value) -> Answer {
    summarises_with(request, 24 << 10)
}

/// Longer than everything that it replaces.
fn says_too_much(request: &Value) -> Answer {
    summarises_with(request, 200 << 10)
}

fn summarises_with(request: &Value, bytes: usize) -> Answer {
    if is_for_summary(request) {
        let words = OVER_AND_OVER.repeat(bytes / OVER_AND_OVER.len());
        return Answer::Says(Box::leak(words.into_boxed_str()));
    }
    if request.to_string().contains("<summary id=") {
        return Answer::Says(CLOSES);
    }
    reads_on(request)
}

#[test]
fn a_summary_that_is_too_long_is_cut_to_its_share_or_done_without_and_the_replacement_says_so() {
    let longer = "(the summary was longer than what it was to replace)";
    for (plan, says) in [(says_much as Plan, "[cut here]"), (says_too_much, longer)] {
        let server = Server::start(plan);
        let place = place(&server, 20_000);
        let said = run(&place);
        assert_eq!(said.code, 0, "{said:?}");
        let transcript = transcript(&place);
        let [replacement] = &replacements(&transcript)[..] else {
            panic!("one replacement");
        };
        assert!(replacement.contains(says), "{says}: {replacement:.400}");
        // A tenth of the window is for the summary; the rest is the text around it.
        assert!(
            replacement.len() < 20_000 * 4 / 6,
            "{} bytes",
            replacement.len()
        );
        let last = server.own().pop().unwrap();
        let told = serde_json::to_string(replacement).unwrap();
        assert!(
            last.contains(&told[1..told.len() - 1]),
            "it is told as it is kept"
        );
    }
}

fn summarises_slowly(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Slowly(SUMMARY);
    }
    if request.to_string().contains("<summary id=") {
        return Answer::Slowly(CLOSES);
    }
    reads_on(request)
}

/// A summary that takes seconds to write.
static LONG_SUMMARY: LazyLock<String> = LazyLock::new(|| SUMMARY.repeat(400));

fn summarises_for_seconds(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Slowly(&LONG_SUMMARY);
    }
    reads_on(request)
}

#[test]
fn while_a_summary_is_made_every_screen_says_that_the_session_is_being_compacted() {
    let server = Server::start(summarises_for_seconds);
    let place = place(&server, 20_000);
    let mut child = place.start(&RUN);
    let mut list = String::new();
    wait_until("it compacts", || {
        list = place.run(&["ls"]).out;
        list.contains("compacting")
    });
    let flow = place.flow().unwrap();
    let status = place.status(&flow);
    let said = [["status", &flow], ["show", &flow]].map(|words| place.run(&words).out);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status["standing"], "compacting", "{status}");
    assert_eq!(status["running"][0]["standing"], "compacting", "{status}");
    for said in said {
        assert_eq!(
            said.matches("compacting").count(),
            2,
            "flow and node: {said}"
        );
    }
}

/// How often the program is killed while a summary is made; more in the whole test.
const KILLS: u64 = 6;
const KILLS_FULL: u64 = 80;

#[test]
fn a_process_that_is_killed_while_a_summary_is_made_goes_on_with_one_summary() {
    for kill in 0..(if is_full() { KILLS_FULL } else { KILLS }) {
        let server = Server::start(summarises_slowly);
        let place = place(&server, 20_000);
        let mut child = place.start(&RUN);
        wait_until("a summary is asked for", || {
            let bodies = server.bodies();
            bodies
                .iter()
                .any(|body| is_for_summary(&serde_json::from_str(body).unwrap()))
        });
        std::thread::sleep(Duration::from_millis((kill * 29 + seed()) % 120));
        child.kill().unwrap();
        child.wait().unwrap();
        let flow = place.flow().unwrap();
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "kill {kill}: {said:?}");
        let last = server.own().pop().unwrap();
        assert_eq!(
            last.matches("<summary id=").count(),
            1,
            "kill {kill}: {last}"
        );
        assert!(last.contains("Keep a log"), "kill {kill}: {last}");
        assert_eq!(replacements(&transcript(&place)).len(), 1, "kill {kill}");
        assert_eq!(place.status(&flow)["status"], "completed", "kill {kill}");
        assert_eq!(place.run(&["verify", &flow]).code, 0, "kill {kill}");
    }
}

fn reads_once_then_closes(request: &Value) -> Answer {
    if is_for_summary(request) {
        return Answer::Says(SUMMARY);
    }
    if results(request) > 0 || request.to_string().contains("<summary id=") {
        return Answer::Says(CLOSES);
    }
    Answer::Calls("read_file", json!({ "path": "file-0.txt" }))
}

#[test]
fn the_request_after_a_session_was_compacted_has_the_summary_and_after_it_was_restored_all_messages_again()
 {
    let server = Server::start(reads_once_then_closes);
    let place = place(&server, 100_000);
    assert_eq!(run(&place).code, 0);
    let flow = place.flow().unwrap();
    // What the role is asked next, once its node runs again.
    let next = || {
        let before = server.bodies().len();
        assert_eq!(place.run(&["reopen", &flow, "do"]).code, 0);
        let said = place.run(&["resume", &flow, "--until-waiting", "--improve", "none"]);
        assert_eq!(said.code, 0, "{said:?}");
        server.bodies()[before].clone()
    };
    let read = "what the file 0 says here";
    let compacted = place.run(&["session", "compact", &flow, "owner"]);
    assert_eq!(compacted.code, 0, "{compacted:?}");
    let asked = next();
    assert!(asked.contains("A file was read."), "{asked}");
    assert!(
        !asked.contains(read) && !asked.contains("\"tool_result\""),
        "{asked}"
    );

    let archives = place
        .run(&["session", "archives", &flow, "owner", "--json"])
        .json();
    let archive = archives["archives"][0]["archive"].as_str().unwrap();
    let restored = place.run(&["session", "restore", &flow, "owner", archive]);
    assert_eq!(restored.code, 0, "{restored:?}");
    let asked = next();
    assert!(
        asked.contains(read) && asked.contains("\"tool_result\""),
        "{asked}"
    );
    assert!(!asked.contains("A file was read."), "{asked}");
}
