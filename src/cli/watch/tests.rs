//! Screens as they are drawn, and what keys do to them.

use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::SteerWhen;
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::{At, Hash, Verb, Whom};
use a_society_operator_ui::fold::asks::{AskedCall, OpenAsk};
use a_society_orchestrator::machine::OperatorQuestion;
use a_society_state::FlowRef;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::card::wrap;
use super::draw::draw;
use super::keys::{ARMED_AFTER_MS, Act, Focus, Key, State};
use super::view::{AskView, Feed, FlowLine, FlowView, Item, NodeLine, View};

#[path = "tests/keys.rs"]
mod keys;
#[path = "tests/screens.rs"]
mod screens;

const LATER_MS: u64 = ARMED_AFTER_MS + 1;

/// The moment that is shown, of which ages count.
const NOW_MS: i64 = 1_000_000_000;

fn flow(tail: &str) -> FlowRef {
    FlowRef {
        project: "demo".parse().unwrap(),
        flow: format!("20260527T143000123Z-{tail}").parse().unwrap(),
    }
}

fn ask(id: &str, who: &str, mut ask: OpenAsk) -> AskView {
    use OperatorQuestion::{Configuration, Consent, Text};
    if let Consent { node, .. } | Text { node, .. } | Configuration { node, .. } = &mut ask.question
    {
        *node = Some(who.parse().unwrap());
    }
    AskView {
        id: id.to_owned(),
        flow: flow("a1b2c3"),
        own: None,
        head: format!("{who}: writer wants to run a command"),
        line: "run a command: cargo install a-tool".to_owned(),
        says: vec!["cargo install a-tool".to_owned()],
        call: ask
            .call
            .as_ref()
            .map(|_| "cargo install\ta-tool".to_owned()),
        facts: vec!["Network: Off".to_owned()],
        commands: Vec::new(),
        must_show: usize::MAX,
        ask,
    }
}

/// A question of the writer, of which nothing more is known.
fn open(question: OperatorQuestion) -> OpenAsk {
    OpenAsk {
        question,
        role: Some("writer".parse().unwrap()),
        since: At::from_ms(NOW_MS - 12_000),
        says: None,
        choices: Vec::new(),
        trouble: None,
        failure_class: None,
        servers: Vec::new(),
        is_chat: false,
        is_own_turn: false,
        again: None,
        budget: None,
        call: None,
        deliveries: Vec::new(),
    }
}

fn consent() -> OpenAsk {
    let question = OperatorQuestion::Consent {
        consent: "consent-1".parse().unwrap(),
        node: None,
        role: "writer".parse().unwrap(),
    };
    OpenAsk {
        call: Some(AskedCall {
            call: "call-1".parse().unwrap(),
            tool: "run_command".to_owned(),
            action: Hash::of(b"what was shown"),
            summary: None,
            about: "cargo install a-tool".to_owned(),
            facts: Vec::new(),
            for_the_flow: Some("exactly this command".to_owned()),
        }),
        ..open(question)
    }
}

fn text() -> OpenAsk {
    waits(WaitReason::PromptHuman)
}

fn approval() -> OpenAsk {
    open(OperatorQuestion::Approval {
        approval: "approval-1".parse().unwrap(),
        node: "draft".parse().unwrap(),
    })
}

fn waits(reason: WaitReason) -> OpenAsk {
    open(OperatorQuestion::Text {
        node: None,
        role: "writer".parse().unwrap(),
        reason,
    })
}

fn line(tail: &str, title: &str, standing: Option<FlowStanding>) -> FlowLine {
    FlowLine {
        flow: flow(tail),
        name: format!("demo/{tail}"),
        title: title.to_owned(),
        status: standing.map_or("damaged", FlowStanding::word).to_owned(),
        standing,
        is_driven: standing == Some(FlowStanding::Working),
        done: (1, 3),
        cost_micros: 630_000,
        updated_ms: Some(NOW_MS - 180_000),
    }
}

fn view(asks: Vec<AskView>) -> View {
    let item = |sign, label: &str, lines: &[&str]| Item {
        sign,
        label: label.to_owned(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        failed: sign == "✗",
        is_call: sign == "✗",
    };
    let node = |sign, node: &str, role: &str, word: &str| NodeLine {
        sign,
        node: node.to_owned(),
        role: role.to_owned(),
        word: word.to_owned(),
        waits: sign == "?",
    };
    View {
        flows: vec![
            line("a1b2c3", "Release notes", Some(FlowStanding::Working)),
            line("d4e5f6", "Ledger", Some(FlowStanding::Stopped)),
        ],
        asks,
        chosen: Some(FlowView {
            flow: flow("a1b2c3"),
            title: "Release notes".to_owned(),
            spent: "20k tokens · $0.63".to_owned(),
            nodes: vec![
                node("✓", "brief", "owner", "done"),
                node("?", "draft", "writer", "waits for consent to a call"),
                node("·", "review", "reviewer", ""),
            ],
            feeds: vec![Feed {
                role: "writer".parse().unwrap(),
                items: vec![
                    item("▸", "Active", &["writer begins draft."]),
                    item("¶", "", &["I look what there is,", "and then I write."]),
                    item("✗", "run cargo test -p post", &["exit 1"]),
                ],
            }],
            cost: vec![
                "ROLE    MODEL   COST".to_owned(),
                "owner   sonnet  $0.41".to_owned(),
                "writer  sonnet  $0.22".to_owned(),
            ],
            files: vec!["  1.2 KiB  record/brief.md".to_owned()],
            damage: None,
        }),
        today_micros: Some(1_840_000),
        now_ms: NOW_MS,
    }
}

fn drawn(view: &View, state: &State, columns: u16, rows: u16) -> String {
    let mut state = state.clone();
    (state.columns, state.rows) = (columns, rows);
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| draw(frame, view, &state, true))
        .unwrap();
    terminal.backend().to_string()
}

/// A state in which the ask of an id was chosen, long ago.
fn chosen(id: &str) -> State {
    State {
        ask: Some(id.to_owned()),
        flow: Some(flow("a1b2c3")),
        columns: 80,
        rows: 30,
        shown_rows: 8,
        ..State::default()
    }
}

#[test]
fn an_ask_is_drawn_with_everything_it_says_and_the_keys_that_answer_it() {
    let mut asked = ask("c", "draft", consent());
    asked.says = (1..=11)
        .map(|line| format!("line {line} of the command"))
        .collect();
    let other = ask("t", "review", text());
    insta::assert_snapshot!(drawn(&view(vec![asked, other]), &chosen("c"), 100, 30));
}

#[test]
fn a_flow_without_a_question_is_drawn_calmly() {
    insta::assert_snapshot!(drawn(&view(Vec::new()), &State::default(), 80, 24));
}

#[test]
fn a_text_is_typed_below_the_question() {
    let mut state = chosen("t");
    state.focus = Focus::Text;
    state.text = "Blue, because\u{202e} of the sea".to_owned();
    let mut asked = ask("t", "draft", text());
    asked.head = "draft: writer asks you".to_owned();
    asked.line = "answer: Which colour?".to_owned();
    asked.says = vec!["Which colour?".to_owned()];
    insta::assert_snapshot!(drawn(&view(vec![asked]), &state, 80, 24));
}

#[test]
fn a_small_terminal_says_so() {
    let screen = drawn(&view(Vec::new()), &State::default(), 40, 8);
    assert!(screen.contains("the terminal is smaller"), "{screen}");
}

#[test]
fn all_of_a_long_command_is_reached_by_reading_on() {
    let mut asked = ask("c", "draft", consent());
    asked.says = (1..=40).map(|line| format!("line {line} ends")).collect();
    let view = view(vec![asked]);
    let mut state = chosen("c");
    let mut seen = String::new();
    for _ in 0..20 {
        seen.push_str(&drawn(&view, &state, 90, 30));
        assert_eq!(state.press(&view, &Key::PageDown, 0), None);
    }
    for line in 1..=40 {
        assert!(seen.contains(&format!("line {line} ends")), "{line}");
    }
}

/// What a letter leads to, long after everything else.
fn pressed(asked: OpenAsk, letter: char) -> Option<Verb> {
    let view = view(vec![ask("x", "draft", asked)]);
    let mut state = chosen("x");
    let Act::Say(at, command) = state.press(&view, &Key::Char(letter), LATER_MS)? else {
        return None;
    };
    assert_eq!(at, flow("a1b2c3"));
    Some(command)
}

#[test]
fn what_does_not_fit_is_allowed_only_when_it_was_shown_to_its_end() {
    let mut asked = ask("c", "draft", consent());
    asked.says = (1..=11).map(|line| format!("line {line}")).collect();
    let (says, facts) = (asked.says.clone(), asked.facts.clone());
    let changed = AskView {
        id: "second".to_owned(),
        must_show: 3,
        ask: approval(),
        ..asked.clone()
    };
    let view = view(vec![asked, changed]);
    let says_yes = |state: &mut State, now| {
        let act = state.press(&view, &Key::Char('y'), now);
        matches!(act, Some(Act::Say(..)))
    };
    let mut state = chosen("c");
    assert!(!says_yes(&mut state, LATER_MS));
    assert!(
        state.told.contains("not all of it was shown"),
        "{}",
        state.told
    );
    state.press(&view, &Key::PageDown, LATER_MS);
    assert!(says_yes(&mut state, 3 * LATER_MS));
    let mut state = chosen("c");
    let paged = state.press(&view, &Key::Char('v'), LATER_MS);
    let Some(Act::Page(text)) = paged else {
        panic!("{paged:?}");
    };
    assert_eq!((text.lines, text.facts), (says, facts));
    let denied = state.press(&view, &Key::Char('n'), 3 * LATER_MS);
    assert!(
        matches!(denied, Some(Act::Say(..))),
        "a no needs no reading"
    );
    assert!(
        says_yes(&mut chosen("second"), LATER_MS),
        "what changed fits"
    );
}

#[test]
fn each_letter_means_one_thing_for_each_kind_of_question() {
    let action = Some(Hash::of(b"what was shown"));
    let consented = |for_the_flow| Verb::Allow {
        consent: Some("consent-1".parse().unwrap()),
        action,
        for_the_flow,
    };
    let denied = Verb::Deny {
        consent: Some("consent-1".parse().unwrap()),
        action,
        reason: None,
    };
    let id = || Some("approval-1".parse().unwrap());
    let improvement = || {
        open(OperatorQuestion::Improvement {
            modes: vec![ImprovementMode::Parallel, ImprovementMode::None],
        })
    };
    let feedback = || open(OperatorQuestion::Feedback);
    let failed = || waits(WaitReason::RepairLimit);
    let paused = open(OperatorQuestion::Unpause {
        reason: PauseReason::Operator,
    });
    let retry = || {
        let to = Whom::Node("draft".parse().unwrap());
        Some(Verb::Retry { to })
    };
    let mode = |mode| Verb::Improve { mode };
    let table = [
        (consent(), 'y', Some(consented(false))),
        (consent(), 'f', Some(consented(true))),
        (consent(), 'n', Some(denied)),
        (consent(), 'a', None),
        (approval(), 'y', Some(Verb::Approve { approval: id() })),
        (
            approval(),
            'n',
            Some(Verb::Decline {
                approval: id(),
                reason: None,
            }),
        ),
        (improvement(), 'p', Some(mode(ImprovementMode::Parallel))),
        (improvement(), 'n', Some(mode(ImprovementMode::None))),
        (improvement(), 'g', None),
        (feedback(), 'y', Some(Verb::Feedback { granted: true })),
        (feedback(), 'n', Some(Verb::Feedback { granted: false })),
        (paused, 'y', Some(Verb::Unpause {})),
        (failed(), 'y', retry()),
        (failed(), 't', None),
        (waits(WaitReason::Budget), 't', retry()),
        (text(), 't', None),
    ];
    for (asked, letter, wanted) in table {
        assert_eq!(
            pressed(asked.clone(), letter),
            wanted,
            "{letter} for {asked:?}"
        );
    }
}

#[test]
fn a_letter_counts_only_a_while_after_the_question_was_chosen_and_after_the_last_key() {
    let view = view(vec![ask("c", "draft", consent())]);
    let mut state = State {
        columns: 80,
        rows: 30,
        ..State::default()
    };
    let said = |act: Option<Act>| matches!(act, Some(Act::Say(..)));
    assert_eq!(
        state.press(&view, &Key::Char('y'), 10_000),
        None,
        "nothing is chosen"
    );
    assert_eq!(state.press(&view, &Key::Down, 20_000), None);
    assert_eq!(state.ask.as_deref(), Some("c"));
    let mut now = 20_000;
    // Each key that comes too soon begins the while anew.
    for _ in 0..5 {
        now += ARMED_AFTER_MS - 1;
        assert!(!said(state.press(&view, &Key::Char('y'), now)));
    }
    assert!(state.told.contains("too soon"), "{}", state.told);
    assert!(said(state.press(
        &view,
        &Key::Char('y'),
        now + ARMED_AFTER_MS
    )));
}

#[test]
fn what_appears_or_goes_takes_neither_the_keys_nor_the_text() {
    let old = ask("old", "draft", text());
    let mut state = chosen("old");
    let two = view(vec![ask("new", "brief", consent()), old.clone()]);
    state.settle(&two);
    assert_eq!(
        state.ask.as_deref(),
        Some("old"),
        "what is new is not chosen"
    );
    state.press(&two, &Key::Char('r'), LATER_MS);
    for letter in "fadygnpu".chars() {
        assert_eq!(state.press(&two, &Key::Char(letter), 90_000), None);
    }
    assert_eq!(
        (state.focus, state.text.as_str()),
        (Focus::Text, "fadygnpu")
    );
    let gone = view(vec![ask("new", "brief", consent())]);
    state.settle(&gone);
    assert_eq!(
        (state.ask.as_deref(), state.text.as_str()),
        (None, "fadygnpu")
    );
    assert_eq!(
        state.press(&gone, &Key::Char('y'), 99_000),
        None,
        "nothing else is answered"
    );
}

#[test]
fn a_typed_answer_is_sent_by_enter_and_a_pasted_newline_is_not_enter() {
    let view = view(vec![ask("t", "draft", text())]);
    let mut state = chosen("t");
    state.press(&view, &Key::Char('r'), LATER_MS);
    state.press(&view, &Key::Paste("two\nlines".to_owned()), LATER_MS);
    assert_eq!(state.text, "two\nlines");
    let Some(Act::Say(_, Verb::Reply { text, .. })) = state.press(&view, &Key::Enter, LATER_MS)
    else {
        panic!("it is sent")
    };
    assert_eq!(text, "two\nlines");
    assert_eq!((state.focus, state.text.as_str()), (Focus::Asks, ""));
}

#[test]
fn letters_answer_nothing_while_another_part_has_the_keys() {
    let view = view(vec![ask("c", "draft", consent())]);
    for focus in [Focus::Flows, Focus::Feed] {
        let mut state = State {
            focus,
            ..chosen("c")
        };
        assert_eq!(
            state.press(&view, &Key::Char('y'), LATER_MS),
            None,
            "{focus:?}"
        );
    }
}

/// The words that a steer says, to whom and when.
fn steer(act: Option<Act>) -> Option<(String, String, SteerWhen)> {
    let Act::Say(at, Verb::Steer { role, text, when }) = act? else {
        return None;
    };
    assert_eq!(at, flow("a1b2c3"));
    Some((role.to_string(), text, when))
}

#[test]
fn words_go_to_the_role_whose_feed_is_shown_from_every_list_and_at_the_moment_the_letter_says() {
    let view = view(vec![ask("c", "draft", consent())]);
    for (focus, letter, when) in [
        (Focus::Asks, 's', SteerWhen::Queue),
        (Focus::Flows, 's', SteerWhen::Queue),
        (Focus::Feed, 'S', SteerWhen::Interrupt),
    ] {
        let mut state = State {
            focus,
            ..chosen("c")
        };
        state.press(&view, &Key::Char(letter), LATER_MS);
        assert_eq!(state.focus, Focus::Steer);
        assert_eq!(state.press(&view, &Key::Enter, LATER_MS), None, "no words");
        // Letters that answer and a pasted end of line are text here.
        for key in [
            Key::Char('y'),
            Key::Char('q'),
            Key::Paste("x\ny".to_owned()),
        ] {
            assert_eq!(state.press(&view, &key, 90_000), None);
        }
        let said = steer(state.press(&view, &Key::Enter, 90_000));
        let wanted = ("writer".to_owned(), "yqx\ny".to_owned(), when);
        assert_eq!(said, Some(wanted), "{focus:?}");
        assert_eq!((state.focus, state.words.as_str()), (focus, ""));
    }
}

#[test]
fn words_that_were_left_or_refused_stand_there_again_and_those_that_were_heard_do_not() {
    let view = view(Vec::new());
    let mut state = State::default();
    let press = |state: &mut State, key: Key| state.press(&view, &key, LATER_MS);
    press(&mut state, Key::Char('s'));
    press(&mut state, Key::Paste("No tables.".to_owned()));
    press(&mut state, Key::Esc);
    assert_eq!(state.focus, Focus::Asks);
    press(&mut state, Key::Char('S'));
    let said = steer(press(&mut state, Key::Enter));
    assert_eq!(said.unwrap().1, "No tables.");
    state.hear(Err("writer takes no turn".to_owned()));
    assert_eq!(state.told, "writer takes no turn");
    press(&mut state, Key::Char('s'));
    assert_eq!(
        steer(press(&mut state, Key::Enter)).unwrap().1,
        "No tables."
    );
    state.hear(Ok("said".to_owned()));
    press(&mut state, Key::Char('s'));
    assert_eq!((state.words.as_str(), state.told.as_str()), ("", "said"));
}

#[test]
fn where_no_role_has_a_feed_there_is_nobody_to_speak_to() {
    let mut view = view(Vec::new());
    if let Some(chosen) = &mut view.chosen {
        chosen.feeds.clear();
    }
    let mut state = State::default();
    state.press(&view, &Key::Char('s'), LATER_MS);
    assert_eq!(state.focus, Focus::Asks);
    assert!(
        state.told.contains("no role would read it"),
        "{}",
        state.told
    );
}

#[test]
fn words_for_a_role_are_typed_below_everything_and_it_is_said_who_hears_them_and_when() {
    let mut state = State::default();
    let view = view(Vec::new());
    state.press(&view, &Key::Char('S'), LATER_MS);
    state.press(
        &view,
        &Key::Paste("Keep it under two pages.".to_owned()),
        LATER_MS,
    );
    insta::assert_snapshot!(drawn(&view, &state, 80, 24));
}

fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        6 => prop::sample::select(&['y', 'f', 'n', 'r', 'a', 'd', 's', 'S', 'x'][..]).prop_map(Key::Char),
        1 => Just(Key::Enter),
        1 => Just(Key::Backspace),
        1 => Just(Key::Tab),
        1 => Just(Key::Up),
        1 => Just(Key::Down),
        1 => Just(Key::PageDown),
        1 => ".{0,12}".prop_map(Key::Paste),
    ]
}

#[test]
fn a_denial_may_say_what_to_do_instead_once_the_question_could_be_read() {
    let view = view(vec![ask("c", "draft", consent())]);
    let typed = |began: u64| {
        let mut state = chosen("c");
        state.chosen_ms = 1_000;
        let keys = [Key::Char('r'), Key::Paste("Use the copy.".to_owned())];
        for key in keys {
            assert!(state.press(&view, &key, began).is_none());
        }
        state.press(&view, &Key::Enter, began)
    };
    assert!(typed(1_000).is_none(), "too soon");
    let Some(Act::Say(_, Verb::Deny { reason, .. })) = typed(1_000 + ARMED_AFTER_MS) else {
        panic!("it is denied");
    };
    assert_eq!(reason.as_deref(), Some("Use the copy."));
}

proptest! {
    #[test]
    fn whoever_types_without_a_pause_never_decides(
        keys in prop::collection::vec((any_key(), 0..ARMED_AFTER_MS), 1..60)
    ) {
        let view = view(vec![
            ask("c", "draft", consent()),
            ask("t", "review", text()),
        ]);
        let mut state = chosen("c");
        state.chosen_ms = 1_000;
        let mut now = 1_000;
        for (key, pause) in keys {
            now += pause;
            let act = state.press(&view, &key, now);
            let replied = matches!(
                &act,
                Some(Act::Say(_, Verb::Reply { .. } | Verb::Steer { .. }))
            );
            prop_assert!(act.is_none() || replied, "{key:?} led to {act:?}");
        }
    }

    #[test]
    fn a_wrapped_line_is_whole_and_no_piece_is_too_wide(line in ".{0,200}", columns in 2_usize..60) {
        let pieces = wrap(&line, columns);
        prop_assert_eq!(pieces.concat(), line);
        for piece in pieces {
            prop_assert!(crate::text::width(&piece) <= columns);
        }
    }
}
