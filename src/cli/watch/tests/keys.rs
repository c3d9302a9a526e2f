//! What keys do beside answering: choosing, opening, filtering, running, stopping.

use super::*;

fn sized() -> State {
    State {
        columns: 80,
        rows: 30,
        ..State::default()
    }
}

fn press(state: &mut State, view: &View, keys: &str, now: u64) -> Option<Act> {
    let mut act = None;
    for key in keys.chars() {
        let key = match key {
            '\r' => Key::Enter,
            '\u{1b}' => Key::Esc,
            '\u{3}' => Key::Interrupt,
            '↓' => Key::Down,
            '↑' => Key::Up,
            letter => Key::Char(letter),
        };
        act = state.press(view, &key, now);
    }
    act
}

#[test]
fn the_arrows_and_j_k_go_through_the_questions_and_on_to_the_flows() {
    let view = view(vec![
        ask("c", "draft", consent()),
        ask("t", "review", text()),
    ]);
    let mut state = sized();
    press(&mut state, &view, "jj", LATER_MS);
    assert_eq!(
        (state.focus, state.ask.as_deref()),
        (Focus::Asks, Some("t"))
    );
    press(&mut state, &view, "↓", LATER_MS);
    assert_eq!(
        (state.focus, state.flow.clone()),
        (Focus::Flows, Some(flow("a1b2c3")))
    );
    press(&mut state, &view, "j", LATER_MS);
    assert_eq!(state.flow, Some(flow("d4e5f6")));
    assert!(
        state.asked(&view).is_none(),
        "no question is answered from here"
    );
    assert_eq!(press(&mut state, &view, "y", 3 * LATER_MS), None);
    assert!(state.told.contains("NEED YOU"), "{}", state.told);
    press(&mut state, &view, "kk", LATER_MS);
    assert_eq!(
        (state.focus, state.ask.as_deref()),
        (Focus::Asks, Some("t"))
    );
}

#[test]
fn enter_opens_the_chosen_flow_and_esc_goes_back_and_never_ends() {
    let view = view(vec![ask("c", "draft", consent())]);
    let mut state = sized();
    press(&mut state, &view, "\r", LATER_MS);
    assert!(
        state.opened.is_none() && state.told.contains("choose a row"),
        "{}",
        state.told
    );
    press(&mut state, &view, "↓↓\r", LATER_MS);
    assert_eq!(
        (state.focus, state.opened.clone()),
        (Focus::Nodes, Some(flow("a1b2c3")))
    );
    press(&mut state, &view, "↓", LATER_MS);
    assert_eq!(
        state.role.as_ref().map(ToString::to_string).as_deref(),
        Some("writer")
    );
    assert_eq!(press(&mut state, &view, "\u{1b}", LATER_MS), None);
    assert_eq!((state.focus, state.opened.clone()), (Focus::Flows, None));
    assert_eq!(press(&mut state, &view, "\u{1b}", LATER_MS), None);
    assert!(state.told.contains("q quits"), "{}", state.told);
    assert_eq!(press(&mut state, &view, "q", LATER_MS), Some(Act::Quit));
    assert_eq!(
        press(&mut state, &view, "\u{3}", LATER_MS),
        Some(Act::Interrupted)
    );
}

#[test]
fn a_question_is_answered_within_its_flow_too() {
    let view = view(vec![ask("c", "draft", consent())]);
    let mut state = sized();
    press(&mut state, &view, "↓\r", LATER_MS);
    assert_eq!((state.focus, state.opened.is_some()), (Focus::Asks, true));
    let said = press(&mut state, &view, "y", 3 * LATER_MS);
    assert!(
        matches!(said, Some(Act::Say(_, Verb::Allow { .. }))),
        "{said:?}"
    );
}

#[test]
fn the_filter_hides_rows_and_a_hidden_question_takes_no_answer() {
    let view = view(vec![
        ask("c", "draft", consent()),
        ask("t", "review", text()),
    ]);
    let mut state = chosen("c");
    press(&mut state, &view, "/REV", LATER_MS);
    state.settle(&view);
    assert_eq!(state.asks(&view).len(), 1);
    assert_eq!(state.ask, None, "it is not shown any more");
    press(&mut state, &view, "\r", LATER_MS);
    assert_eq!((state.focus, state.filter.as_str()), (Focus::Asks, "REV"));
    assert_eq!(press(&mut state, &view, "y", 3 * LATER_MS), None);
    press(&mut state, &view, "\u{1b}", LATER_MS);
    assert_eq!((state.asks(&view).len(), state.filter.as_str()), (2, ""));
    press(&mut state, &view, "/led", LATER_MS);
    assert_eq!(state.flows(&view).len(), 1);
    press(&mut state, &view, "\u{3}", LATER_MS);
    assert_eq!(
        (state.focus, state.filter.as_str()),
        (Focus::Asks, "led"),
        "it is kept"
    );
    press(&mut state, &view, "/\u{1b}", LATER_MS);
    assert_eq!(state.filter, "", "esc clears it");
}

#[test]
fn any_command_is_typed_with_the_chosen_flow_in_the_place_of_its_name() {
    let view = view(Vec::new());
    let mut state = sized();
    state.flow = Some(flow("d4e5f6"));
    let ran = press(
        &mut state,
        &view,
        ":a-society reply FLOW 'two words'\r",
        LATER_MS,
    );
    let wanted = ["reply", &flow("d4e5f6").to_string(), "two words"].map(str::to_owned);
    assert_eq!(ran, Some(Act::Run(wanted.to_vec())));
    assert_eq!((state.focus, state.command.as_str()), (Focus::Asks, ""));
    assert_eq!(
        press(&mut state, &view, ":quit\r", LATER_MS),
        Some(Act::Quit)
    );
    assert_eq!(press(&mut state, &view, ":reply 'x\r", LATER_MS), None);
    assert_eq!(state.command, "reply 'x", "what is refused is still there");
    press(&mut state, &view, "\u{3}", LATER_MS);
    assert_eq!(
        (state.focus, state.command.as_str()),
        (Focus::Asks, "reply 'x")
    );
}

#[test]
fn ctrl_c_leaves_an_answer_and_the_draft_of_each_question_is_kept() {
    let view = view(vec![ask("a", "draft", text()), ask("b", "review", text())]);
    let mut state = chosen("a");
    assert_eq!(press(&mut state, &view, "rblue\u{3}", LATER_MS), None);
    assert_eq!((state.focus, state.text.as_str()), (Focus::Asks, "blue"));
    press(&mut state, &view, "↓r", LATER_MS);
    assert_eq!(state.text, "", "another question has another draft");
    press(&mut state, &view, "red\u{3}↑r", LATER_MS);
    assert_eq!(state.text, "blue");
}

#[test]
fn an_unknown_key_says_which_keys_work_and_help_lists_them() {
    let view = view(vec![ask("c", "draft", consent())]);
    let mut state = chosen("c");
    press(&mut state, &view, "x", LATER_MS);
    assert!(
        state.told.contains("x does nothing here: y once, f flow"),
        "{}",
        state.told
    );
    press(&mut state, &view, "?", LATER_MS);
    assert!(state.help);
    assert_eq!(
        press(&mut state, &view, "y", 3 * LATER_MS),
        None,
        "it only closes the list"
    );
    assert!(!state.help);
}

#[test]
fn a_turn_stops_at_the_second_dot_and_a_burst_of_dots_is_none() {
    let view = view(Vec::new());
    let mut state = sized();
    state.flow = Some(flow("a1b2c3"));
    assert_eq!(press(&mut state, &view, ".", 10_000), None);
    assert!(state.told.contains("press . again"), "{}", state.told);
    assert_eq!(press(&mut state, &view, ".", 10_020), None, "a burst");
    assert_eq!(press(&mut state, &view, ".", 20_000), None);
    assert_eq!(press(&mut state, &view, ".", 23_000), None, "too late");
    let said = press(&mut state, &view, ".", 23_500);
    assert!(
        matches!(said, Some(Act::Say(_, Verb::Stop { .. }))),
        "{said:?}"
    );
    press(&mut state, &view, ".", 30_000);
    press(&mut state, &view, "j", 30_500);
    assert_eq!(
        press(&mut state, &view, ".", 31_000),
        None,
        "another key came between"
    );
}

#[test]
fn flows_are_paused_and_resumed_only_when_one_was_chosen() {
    let mut view = view(Vec::new());
    let mut state = sized();
    for letter in ["p", "R", ".", "c"] {
        assert_eq!(press(&mut state, &view, letter, 90_000), None);
        assert!(
            state.told.contains("choose a flow first"),
            "{letter}: {}",
            state.told
        );
    }
    state.flow = Some(flow("a1b2c3"));
    let said = press(&mut state, &view, "p", 100_000);
    assert_eq!(said, Some(Act::Say(flow("a1b2c3"), Verb::Pause {})));
    view.flows[0].standing = Some(FlowStanding::Paused);
    let said = press(&mut state, &view, "p", 110_000);
    assert_eq!(said, Some(Act::Say(flow("a1b2c3"), Verb::Unpause {})));
    assert_eq!(press(&mut state, &view, "R", 120_000), None);
    assert!(state.told.contains("nothing to resume"), "{}", state.told);
    state.flow = Some(flow("d4e5f6"));
    assert_eq!(press(&mut state, &view, "R", 120_100), None, "too soon");
    let said = press(&mut state, &view, "R", 130_000);
    assert_eq!(said, Some(Act::Resume(flow("d4e5f6"))));
}

#[test]
fn a_held_feed_stays_as_it_is_and_follows_again() {
    let mut view = view(Vec::new());
    let mut state = State {
        focus: Focus::Feed,
        ..sized()
    };
    let say = |view: &mut View, words: &str| {
        let feeds = view.chosen.iter_mut().flat_map(|flow| &mut flow.feeds);
        let lines = feeds
            .flat_map(|feed| &mut feed.items)
            .map(|item| &mut item.lines);
        lines.for_each(|lines| lines.push(words.to_owned()));
    };
    press(&mut state, &view, " ", LATER_MS);
    say(&mut view, "and this is new");
    let held = drawn(&view, &state, 80, 30);
    assert!(
        held.contains("held, G follows") && !held.contains("this is new"),
        "{held}"
    );
    press(&mut state, &view, "G", LATER_MS);
    let live = drawn(&view, &state, 80, 30);
    assert!(
        live.contains("following") && live.contains("this is new"),
        "{live}"
    );
    for number in 0..40 {
        say(&mut view, &format!("line {number}"));
    }
    press(&mut state, &view, "kk", LATER_MS);
    assert!(drawn(&view, &state, 80, 30).contains("held, 2 below"));
    press(&mut state, &view, "jj", LATER_MS);
    assert!(state.held.is_none(), "at its end it follows again");
}

#[test]
fn the_call_of_the_chosen_question_is_copied_as_it_is_written() {
    let view = view(vec![ask("c", "draft", consent())]);
    let copied = press(&mut chosen("c"), &view, "c", LATER_MS);
    let Some(Act::Copy(text, _)) = copied else {
        panic!("it is copied")
    };
    assert_eq!(text, "cargo install\ta-tool");
    let mut state = chosen("c");
    state.focus = Focus::Flows;
    let copied = press(&mut state, &view, "c", LATER_MS);
    assert!(matches!(copied, Some(Act::Copy(name, _)) if name == flow("a1b2c3").to_string()));
}

#[test]
fn a_digit_shows_the_feed_of_a_role() {
    let view = view(Vec::new());
    let mut state = sized();
    press(&mut state, &view, "2", LATER_MS);
    assert_eq!(
        state.role.as_ref().map(ToString::to_string).as_deref(),
        Some("writer")
    );
    press(&mut state, &view, "1", LATER_MS);
    assert!(
        state.told.contains("owner has done nothing yet"),
        "{}",
        state.told
    );
    press(&mut state, &view, "7", LATER_MS);
    assert!(state.told.contains("no node 7"), "{}", state.told);
}

#[test]
fn a_screen_of_another_size_shows_a_question_anew() {
    let mut asked = ask("c", "draft", consent());
    asked.says = (1..=7).map(|line| format!("line {line}")).collect();
    let view = view(vec![asked]);
    let yes = |state: &mut State| press(state, &view, "y", 90_000).is_some();
    let mut state = sized();
    state.resize(80, 30);
    press(&mut state, &view, "↓", LATER_MS);
    assert!(yes(&mut state.clone()), "all eight rows are shown");
    state.resize(80, 16);
    assert!(!yes(&mut state), "four of eight rows are shown now");
    for _ in 0..2 {
        state.press(&view, &Key::PageDown, 91_000);
    }
    assert!(press(&mut state, &view, "y", 99_000).is_some());
}

#[test]
fn an_answer_from_elsewhere_is_said_and_ours_is_not() {
    let asked = view(vec![ask("c", "draft", consent())]);
    let mut state = chosen("c");
    state.settle(&view(Vec::new()));
    assert!(state.told.contains("answered elsewhere"), "{}", state.told);
    let mut state = chosen("c");
    press(&mut state, &asked, "y", LATER_MS);
    state.hear(Ok("done".to_owned()));
    state.settle(&view(Vec::new()));
    assert_eq!(state.told, "done");
}
