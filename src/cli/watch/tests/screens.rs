//! Whole screens, from a narrow one to a wide one.

use super::*;

/// Ten questions of five flows, with titles and calls of all kinds.
fn busy() -> View {
    let texts = [
        "run a command: cargo test -p post -- --nocapture && cp target/report.txt /srv/reports/",
        "answer: 台帳の合計はどちらが正しいですか、明細の 4,310.07 か銀行の 4,310.06 か?",
        "answer: Which of the two totals is right: the lines (4,310.07) or the bank (4,310.06)?",
        "your turn: plan.md",
        "approve: record/plan.md to backend, record/plan.md to frontend",
        "use files__search: \u{202e}gnp.exe\u{2066}",
        "write a file: src/👩‍👩‍👧/📒 notes.md",
        "turn failed: The provider refused the request.",
        "raise its budget",
        "run a retrospective?",
    ];
    let asks = texts.iter().enumerate().map(|(at, text)| {
        let ago_ms = [12_000, 150_000, 7_200_000, 190_000_000][at % 4];
        let since = At::from_ms(NOW_MS - ago_ms);
        let node = ["backend", "review", "frontend-editor-2", "sign"][at % 4];
        AskView {
            flow: flow(&format!("k{:02}x9a", at / 2)),
            line: (*text).to_owned(),
            ..ask(&at.to_string(), node, OpenAsk { since, ..consent() })
        }
    });
    let mut view = view(asks.collect());
    let standings = [
        Some(FlowStanding::Waiting),
        Some(FlowStanding::Working),
        Some(FlowStanding::Stopped),
        Some(FlowStanding::Paused),
        None,
    ];
    view.flows = (0..14)
        .map(|at| {
            let titles = [
                "Ledger close",
                "台帳 📒 close",
                "مرحبا close",
                "Site copy that is rather long for a title",
            ];
            line(&format!("k{at:02}x9a"), titles[at % 4], standings[at % 5])
        })
        .collect();
    view
}

fn at(view: &View, state: &State, columns: u16, rows: u16) -> String {
    let screen = drawn(view, state, columns, rows);
    for row in screen.lines() {
        let row = row.trim_matches('"');
        // What is cut says so: every flow that is not listed is in the place of its list.
        assert!(!row.contains('\u{202e}'), "{row}");
    }
    screen
}

/// The busy screen with the second question chosen.
fn second() -> State {
    State {
        flow: Some(flow("k00x9a")),
        ..chosen("1")
    }
}

#[test]
fn ten_questions_and_fourteen_flows_on_80_columns() {
    insta::assert_snapshot!(at(&busy(), &second(), 80, 40));
}

#[test]
fn ten_questions_and_fourteen_flows_on_a_usual_screen() {
    insta::assert_snapshot!(at(&busy(), &second(), 80, 24));
}

#[test]
fn from_110_columns_the_feed_is_at_the_right() {
    insta::assert_snapshot!(at(&busy(), &second(), 110, 30));
}

#[test]
fn every_flow_is_listed_on_200_columns() {
    let screen = at(&busy(), &second(), 200, 40);
    assert!(
        screen.contains("1-10/10") && screen.contains("1-14/14"),
        "{screen}"
    );
    insta::assert_snapshot!(screen);
}

#[test]
fn one_part_at_a_time_on_a_small_screen() {
    let mut screens = Vec::new();
    for focus in [Focus::Asks, Focus::Flows, Focus::Feed] {
        let state = State { focus, ..second() };
        screens.push(at(&busy(), &state, 40, 14));
    }
    insta::assert_snapshot!(screens.join("\n"));
}

#[test]
fn an_empty_workspace_says_so() {
    let view = View {
        today_micros: Some(0),
        ..View::default()
    };
    insta::assert_snapshot!(at(&view, &State::default(), 80, 16));
}

fn opened() -> State {
    State {
        opened: Some(flow("a1b2c3")),
        flow: Some(flow("a1b2c3")),
        focus: Focus::Nodes,
        node: 1,
        ..State::default()
    }
}

#[test]
fn a_flow_that_is_open_shows_its_nodes_feed_cost_and_files() {
    let view = view(vec![ask("c", "draft", consent())]);
    insta::assert_snapshot!(at(&view, &opened(), 80, 24));
}

#[test]
fn a_flow_that_is_open_on_a_wide_screen() {
    let view = view(vec![ask("c", "draft", consent())]);
    insta::assert_snapshot!(at(&view, &opened(), 120, 24));
}

#[test]
fn the_keys_are_listed() {
    let state = State {
        help: true,
        ..State::default()
    };
    insta::assert_snapshot!(at(&view(Vec::new()), &state, 80, 30));
}

#[test]
fn no_row_is_wider_than_the_screen_and_no_word_breaks_in_the_feed() {
    let mut view = busy();
    let prose = "The three failures have one cause: `post` rounds each line before it sums.";
    if let Some(item) = view
        .chosen
        .iter_mut()
        .flat_map(|flow| &mut flow.feeds)
        .flat_map(|feed| &mut feed.items)
        .next()
    {
        item.lines = vec![prose.to_owned()];
    }
    for columns in [40, 60, 80, 109, 110, 200] {
        let state = State {
            focus: Focus::Feed,
            ..second()
        };
        let screen = drawn(&view, &state, columns, 40);
        for word in prose.split(' ') {
            assert!(screen.contains(word), "{word} at {columns}:\n{screen}");
        }
    }
}

#[test]
fn a_heading_leaves_out_from_its_end_what_does_not_fit() {
    let head = |columns| {
        let screen = drawn(&busy(), &State::default(), columns, 24);
        screen
            .lines()
            .next()
            .unwrap_or_default()
            .trim_matches('"')
            .to_owned()
    };
    let wide = "a-society  10 need you · 3 at work · 3 stopped · 3 paused · 2 unreadable";
    assert_eq!(head(90), format!("{wide}       $1.84 today"));
    let usual = "a-society  10 need you · 3 at work · 3 stopped · 3 paused";
    assert_eq!(head(80), format!("{usual}            $1.84 today"));
    assert_eq!(
        head(60).trim_end(),
        "a-society  10 need you · 3 at work · 3 stopped   $1.84 today"
    );
    assert_eq!(head(40).trim_end(), "a-society  10 need you · 3 at work");
}

#[test]
fn a_message_that_is_wider_than_the_screen_is_shown_whole() {
    let state = State {
        told: "demo/a1b2c3: said; a model hears it with its next request, a program or a person with its next turn (record 75)".to_owned(),
        ..State::default()
    };
    let screen = drawn(&view(Vec::new()), &state, 80, 24);
    assert!(
        screen.contains("with its next turn (record 75)"),
        "{screen}"
    );
}

#[test]
fn no_line_of_a_command_passes_for_what_this_program_knows_about_it() {
    let mut asked = ask("c", "draft", consent());
    asked.says = vec![
        format!("ls {} Network: On, allowed", "x".repeat(70)),
        "Network: On".to_owned(),
        "f covers: everything".to_owned(),
    ];
    let screen = drawn(&view(vec![asked]), &chosen("c"), 80, 24);
    let rows = screen.lines().map(|row| row.trim_matches('"').trim_end());
    let ours = rows.filter(|row| row.contains("Network") || row.contains("f covers"));
    let ours: Vec<&str> = ours.filter(|row| !row.starts_with(['│', '┊'])).collect();
    assert_eq!(
        ours,
        ["Network: Off", "f covers: exactly this command"],
        "{screen}"
    );
}

proptest! {
    #[test]
    fn any_keys_on_a_screen_of_any_size_draw_something(
        keys in prop::collection::vec((".", 0..900_u64), 0..40),
        sizes in prop::collection::vec((1_u16..230, 1_u16..70), 1..6),
    ) {
        let view = busy();
        let mut state = State::default();
        let mut now = 0;
        for (columns, rows) in sizes {
            state.resize(columns, rows);
            for (key, pause) in &keys {
                now += pause;
                let letter = key.chars().next().unwrap_or('j');
                let key = match u32::from(letter) % 5 {
                    0 => Key::Down,
                    1 => Key::Enter,
                    2 => Key::Tab,
                    3 => Key::Char("jk/:?s .pGR1"[..].chars().nth(letter as usize % 12).unwrap_or('j')),
                    _ => Key::Char(letter),
                };
                state.press(&view, &key, now);
                state.settle(&view);
            }
            let screen = drawn(&view, &state, columns, rows);
            prop_assert!(!screen.is_empty());
        }
    }
}
