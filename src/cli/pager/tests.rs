//! Screens of the pager as they are drawn, and what its keys do.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

fn call(lines: &[&str]) -> PagedText {
    PagedText {
        head: "backend (writer) wants to run a command".to_owned(),
        of: "call",
        manner: Manner::Exact,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        facts: vec!["network  off".to_owned()],
    }
}

fn steps(number: usize) -> PagedText {
    let lines: Vec<String> = (1..=number).map(|step| format!("step {step}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    call(&lines)
}

/// The rows of a screen, without the blanks at their ends.
fn drawn(pager: &mut Pager, columns: u16, rows: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| pager.draw(frame, false)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| {
        let letters = (0..columns).map(|x| buffer[(x, y)].symbol());
        letters.collect::<String>().trim_end().to_owned()
    };
    (0..rows).map(row).collect()
}

fn press(pager: &mut Pager, keys: &str) -> bool {
    let each = keys.chars().map(|key| match key {
        '\n' => KeyCode::Enter,
        '\u{1b}' => KeyCode::Esc,
        key => KeyCode::Char(key),
    });
    let mut is_read_on = true;
    for key in each {
        is_read_on = pager.press(key, false);
    }
    is_read_on
}

#[test]
fn lines_have_numbers_and_no_sign_of_them_is_invisible() {
    let hostile = [
        "cargo test && \\",
        "\tcp a\u{202e}b\u{200d} 台帳 x\u{1b}[2J",
        "network  on",
    ];
    let shown = [30, 60].map(|columns| {
        let mut pager = Pager::new(call(&hostile));
        let rows = drawn(&mut pager, columns, 12);
        format!("{columns} columns\n{}", rows.join("\n"))
    });
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn what_was_not_on_the_screen_to_its_end_was_not_read() {
    let mut pager = Pager::new(steps(40));
    let first = drawn(&mut pager, 60, 12);
    assert_eq!(first[1], " 1 │ step 1");
    assert!(
        first[11].starts_with("lines 1-10 of 40 · space b / n · q close"),
        "{first:#?}"
    );
    for page in 0..4 {
        assert!(!pager.has_ended(), "{page}");
        assert!(press(&mut pager, " "));
        // A page begins where the one before it ended.
        let rows = drawn(&mut pager, 60, 12);
        let begins = (page + 1) * 10 + 1;
        let last = 40 + 2 - 10 + 1;
        assert_eq!(
            rows[1],
            format!("{:>2} │ step {}", begins.min(last), begins.min(last))
        );
    }
    assert!(pager.has_ended());
    let last = drawn(&mut pager, 60, 12);
    assert_eq!(last[9..11], ["     network  off", "     end of call"]);
    press(&mut pager, "b");
    assert_eq!(drawn(&mut pager, 60, 12)[1], "23 │ step 23");
    assert!(!press(&mut pager, "q"));
}

#[test]
fn a_short_text_was_read_when_it_was_shown_and_one_that_was_only_opened_was_not() {
    let mut short = Pager::new(steps(3));
    drawn(&mut short, 60, 12);
    assert!(short.has_ended());
    let mut long = Pager::new(steps(40));
    // A key whose screen was never drawn shows nothing.
    drawn(&mut long, 60, 12);
    press(&mut long, "G");
    assert!(!long.has_ended());
    drawn(&mut long, 60, 12);
    assert!(long.has_ended());
}

#[test]
fn a_word_is_searched_for_round_the_end_and_letters_are_text_meanwhile() {
    let mut pager = Pager::new(steps(40));
    drawn(&mut pager, 60, 12);
    assert!(press(&mut pager, "/STEP 2q"));
    assert_eq!(drawn(&mut pager, 60, 12)[11], "/STEP 2q");
    assert!(pager.press(KeyCode::Backspace, false));
    press(&mut pager, "\n");
    assert_eq!(drawn(&mut pager, 60, 12)[1], " 2 │ step 2");
    press(&mut pager, "n");
    assert_eq!(drawn(&mut pager, 60, 12)[1], "20 │ step 20");
    press(&mut pager, "N");
    assert_eq!(drawn(&mut pager, 60, 12)[1], " 2 │ step 2");
    press(&mut pager, "N");
    assert_eq!(drawn(&mut pager, 60, 12)[1], "29 │ step 29");
    press(&mut pager, "/ledger\n");
    assert_eq!(drawn(&mut pager, 60, 12)[11], "ledger is not in it");
    press(&mut pager, "x");
    assert!(drawn(&mut pager, 60, 12)[11].starts_with("x does nothing here: space on"));
}

#[test]
fn a_line_stays_at_the_top_when_the_screen_has_another_size() {
    let long = "word ".repeat(30);
    let mut text = steps(40);
    text.lines.insert(0, long);
    let mut pager = Pager::new(text);
    drawn(&mut pager, 60, 12);
    press(&mut pager, "  ");
    let top = drawn(&mut pager, 60, 12)[1].clone();
    assert_eq!(drawn(&mut pager, 30, 12)[1], top);
    for (columns, rows) in [(1, 1), (3, 2), (40, 3)] {
        drawn(&mut pager, columns, rows);
    }
}
