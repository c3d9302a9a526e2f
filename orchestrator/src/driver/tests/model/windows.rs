//! Windows that fill: what replaces a history, what follows when no summary can be made, and when the
//! operator is asked instead.

use a_society_facts::fact::session::Strategy;
use a_society_facts::view::session::{Archive, SessionView};

use super::*;
use a_society_facts::Whom;

const READ: (&str, &str) = ("read_file", r#"{"path":"a.txt"}"#);

/// How full a window of 1.0k tokens is after an answer.
const FULL: u64 = 900;

fn session(core: &Core) -> &SessionView {
    core.flow()
        .views()
        .session(&"owner".parse().unwrap())
        .unwrap()
}

fn archives(core: &Core) -> &[Archive] {
    &session(core).archives
}

fn long() -> String {
    "I look at it. ".repeat(300)
}

/// An answer that says much and reads a file.
fn reads(used: u64) -> Vec<StreamArrival> {
    answer(&long(), &[READ], used)
}

fn small_window(answers: impl IntoIterator<Item = Vec<StreamArrival>>) -> World {
    let mut world = World::new(Puppet::will_say(answers));
    world.window = 1000;
    world.write("a.txt", "what it holds");
    world
}

fn last_asked(world: &World) -> Vec<Message> {
    world.puppet.asked().pop().unwrap()
}

fn first_words(messages: &[Message]) -> &str {
    let Some(Message::User { content }) = messages.first() else {
        panic!("{messages:?}")
    };
    content
}

fn question(core: &Core) -> String {
    let wait = core.state().waits().next();
    let question = wait.and_then(|(_, wait)| wait.question.clone());
    question.map(|text| text.shown()).unwrap_or_default()
}

#[test]
fn a_history_is_replaced_by_one_summary_the_request_and_the_endings() {
    let world = small_window([reads(FULL), says("It read a.txt."), closes()]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    let asked = last_asked(&world);
    assert_eq!(asked.len(), 1, "{asked:?}");
    let told = first_words(&asked);
    let begins = "<summary id=\"k";
    assert!(told.starts_with(begins), "{told}");
    for part in [
        ">It read a.txt.</summary>\n",
        "<request>Node(\"do\")</request>\nYour conversation up to here was replaced by this. \
         Go on with the next step; do not start over. ",
        "- forward-pass-closed, when the work of the whole flow is done",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn a_summary_that_fails_twice_leaves_the_oldest_out_and_the_next_full_window_tries_again() {
    for bad in [says(""), says(&long().repeat(3)), calls(&[WRITE])] {
        let world = small_window([
            reads(100),
            reads(FULL),
            bad.clone(),
            bad.clone(),
            reads(100),
            reads(FULL),
            bad,
            says("It read a.txt twice."),
            closes(),
        ]);
        let mut core = world.begin();
        walk(&mut core, 1000);
        assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 9));
        let [first, second] = archives(&core) else {
            panic!("{:?}", archives(&core))
        };
        assert_eq!(
            (first.strategy, second.strategy),
            (Some(Strategy::Truncate), Some(Strategy::NodeSummary))
        );
        let why = first.why.clone().unwrap();
        let after = &world.puppet.asked()[4];
        let told = first_words(after);
        assert!(
            told.contains(&format!("No summary could be made ({why})")),
            "{told}"
        );
        assert!(told.contains("<request>Node("), "{told}");
        let feeds = &core.flow().views().feeds;
        let mut items = feeds.values().flat_map(|feed| feed.items());
        assert!(items.any(|item| item.text.contains(&why)), "it is shown");
        let spent = world.facts(&core).into_iter().filter_map(|fact| {
            if let Fact::ModelAnswered(answered) = fact {
                Some(answered.usage.input_tokens)
            } else {
                None
            }
        });
        assert_eq!(spent.count(), 9, "every answer is counted");
    }
}

#[test]
fn what_stays_without_a_summary_are_whole_pairs() {
    let small = || answer("I look.", &[READ], 100);
    let world = small_window([
        reads(100),
        small(),
        answer("I look.", &[READ], FULL),
        says(""),
        says(""),
        closes(),
    ]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    let asked = last_asked(&world);
    assert_eq!(
        asked.len(),
        5,
        "two calls with their results stay: {asked:?}"
    );
    assert!(matches!(asked[1], Message::AssistantToolCalls { .. }));
    assert!(matches!(asked[4], Message::ToolResult { .. }));
    assert_eq!(archives(&core)[0].archived_transcript_history.len(), 3);
    assert_eq!(session(&core).messages.len(), 6, "the journal has the same");
}

#[test]
fn where_the_operator_is_needed_nothing_is_left_out() {
    let world = small_window([reads(FULL), fault(FaultClass::Key), fault(FaultClass::Key)]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Provider));
    assert!(archives(&core).is_empty() && session(&core).messages.len() == 3);
}

#[test]
fn a_window_that_the_fixed_part_fills_is_asked_about_once_and_goes_on_when_it_is_mended() {
    let small = || answer("I look.", &[READ], FULL);
    let mut world = small_window([small(), small(), closes()]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(waits_for(&core), Some(WaitReason::Provider));
    let why = question(&core);
    for part in [
        "puppet has a window of 1.0k tokens",
        "alone take about",
        "model=NAME",
    ] {
        assert!(why.contains(part), "{part} in {why}");
    }
    assert_eq!(world.puppet.asked().len(), 1, "no summary was asked for");
    // Nothing was mended: one more request, and the same question.
    core.obey(reply("Go on."), None).unwrap();
    walk(&mut core, 1000);
    assert_eq!(
        (world.puppet.asked().len(), waits_for(&core)),
        (2, Some(WaitReason::Provider))
    );
    world.window = 100_000;
    let mut core = world.die(core);
    core.obey(reply("Go on."), None).unwrap();
    walk(&mut core, 1000);
    assert_eq!((world.puppet.asked().len(), waits_for(&core)), (3, None));
    assert!(core.state().turns.is_empty());
}

fn reply(text: &str) -> Verb {
    Verb::Reply {
        to: Whom::Only,
        text: text.to_owned(),
        asked: None,
    }
}

#[test]
fn a_provider_that_always_counts_a_full_window_is_asked_a_few_times_at_most() {
    let endless = std::iter::repeat_with(|| reads(FULL));
    let world = small_window(endless.take(300));
    let mut core = world.begin();
    walk(&mut core, 10_000);
    assert_eq!(waits_for(&core), Some(WaitReason::Provider));
    let asked = world.puppet.asked().len();
    assert!(asked <= 7, "{asked} requests");
}

#[test]
fn l19_a_request_that_is_too_long_is_made_once_more_after_a_summary_and_then_asked_about() {
    let too_long = || fault(FaultClass::WindowFull);
    for window in [0, 1000] {
        let mut world = small_window([reads(100), too_long(), says("It read a.txt."), closes()]);
        world.window = window;
        let mut core = world.begin();
        walk(&mut core, 1000);
        assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 4));
        assert!(first_words(&last_asked(&world)).contains("It read a.txt.</summary>"));
    }
    let world = small_window([reads(100), too_long(), says("It read a.txt."), too_long()]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(
        (waits_for(&core), world.puppet.asked().len()),
        (Some(WaitReason::Provider), 4)
    );
    assert!(
        question(&core).contains("as it was told"),
        "{}",
        question(&core)
    );
    // The very first request: there is nothing to summarise.
    let world = small_window([too_long()]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!(
        (waits_for(&core), world.puppet.asked().len()),
        (Some(WaitReason::Provider), 1)
    );
}

#[test]
fn l19_an_answer_that_the_window_cut_off_is_asked_for_again_after_a_summary() {
    let mut cut = says("I begin to");
    if let Some(StreamArrival::Answer(answer)) = cut.last_mut() {
        answer.stop = AnswerStop::WindowFull;
    }
    let world = small_window([reads(100), cut, says("It read a.txt."), closes()]);
    let mut core = world.begin();
    walk(&mut core, 1000);
    assert_eq!((waits_for(&core), world.puppet.asked().len()), (None, 4));
    assert!(core.state().turns.is_empty());
}

#[test]
fn a_hundred_compactions_leave_replacements_flat_the_request_verbatim_and_archives_linear() {
    let rounds = 99;
    let mut answers = Vec::new();
    for round in 0..rounds {
        answers.extend([reads(100), reads(FULL)]);
        answers.push(says(&format!(
            "Round {round}. {}",
            "It holds. ".repeat(150)
        )));
    }
    answers.push(closes());
    let world = small_window(answers);
    let mut core = world.begin();
    walk(&mut core, 100_000);
    assert!(core.state().turns.is_empty(), "{}", question(&core));
    let replaced: Vec<&str> = archives(&core)
        .iter()
        .filter_map(|archive| archive.replacement_message.as_ref())
        .map(|replaced| first_words(std::slice::from_ref(&*replaced.message)))
        .collect();
    assert_eq!(replaced.len(), rounds);
    let lengths: Vec<usize> = replaced.iter().map(|text| text.len()).collect();
    let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
    assert!(most - least < 20, "{least} to {most}");
    for text in &replaced {
        assert_eq!(text.matches("<summary").count(), 1, "{text}");
        assert!(text.contains("<request>Node(\"do\")</request>"), "{text}");
    }
    let kept = |archive: &Archive| archive.archived_transcript_history.len();
    assert!(
        archives(&core)
            .iter()
            .skip(1)
            .all(|archive| kept(archive) == 5)
    );
    let ids = archives(&core)
        .iter()
        .flat_map(|archive| &archive.archived_transcript_history)
        .filter_map(|entry| {
            if let Message::AssistantToolCalls { calls, .. } = &*entry.message {
                Some(calls[0].id.clone())
            } else {
                None
            }
        });
    let ids: Vec<String> = ids.collect();
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (2 * rounds, 2 * rounds));
    // The summaries are made from the former one.
    let material = world.puppet.asked();
    let material = first_words(&material[5]);
    assert!(
        material.contains("[former summary] Round 0. It holds."),
        "{material}"
    );
    assert!(!material.contains("<summary"), "{material}");
}

/// Whatever step a death comes after, the final text is the same and contains the request.
#[test]
fn a_death_after_any_step_of_a_compaction_goes_on_to_the_same_end() {
    for bad in [false, true] {
        for steps in 0.. {
            let summary = || {
                if bad {
                    says("")
                } else {
                    says("It read a.txt.")
                }
            };
            let summaries = if bad { 2 } else { 1 };
            let answers = [reads(100), reads(FULL)].into_iter();
            let answers = answers.chain(std::iter::repeat_with(summary).take(summaries));
            let mut world = small_window(answers.chain([closes()]));
            let mut core = world.begin();
            let taken = walk(&mut core, steps);
            let mut core = world.die(core);
            let answered = world
                .facts(&core)
                .into_iter()
                .filter(|fact| matches!(fact, Fact::ModelAnswered(f) if !f.calls.is_empty()));
            let answered = answered.count();
            let shorter = !archives(&core).is_empty();
            let rest = [reads(100), reads(FULL)].into_iter().skip(answered);
            let again = if shorter { 0 } else { summaries };
            let rest = rest.chain(std::iter::repeat_with(summary).take(again));
            *world.puppet.answers.lock().unwrap() = rest.chain([closes()]).collect();
            walk(&mut core, 1000);
            assert!(
                core.state().turns.is_empty(),
                "after {steps} steps: {}",
                question(&core)
            );
            assert_eq!(archives(&core).len(), 1, "after {steps} steps");
            let told = world.puppet.asked();
            let last = told.iter().rev().find(|it| !is_material(it)).unwrap();
            let words = first_words(last);
            assert!(
                words.contains("<request>Node(\"do\")</request>"),
                "after {steps}: {words}"
            );
            if taken < steps {
                break;
            }
        }
    }
}

/// Whether a request asks for a summary.
fn is_material(messages: &[Message]) -> bool {
    first_words(messages).starts_with("The conversation:")
}
