//! Edits in tables: what is found, what is refused, and in which words.

use proptest::prelude::*;

use super::{Knowledge, TextEdit, TextPage, apply, difference};

fn edit(old: &str, new: &str) -> TextEdit {
    TextEdit {
        old: old.to_owned(),
        new: new.to_owned(),
        all: false,
    }
}

/// The text afterwards and the note, or the refusal.
fn one(text: &str, old: &str, new: &str) -> Result<(String, String), String> {
    apply("f", text, &[edit(old, new)], Knowledge::Seen)
        .map(|applied| (applied.text, applied.notes.concat()))
}

fn ok(text: &str, note: &str) -> Result<(String, String), String> {
    Ok((text.to_owned(), note.to_owned()))
}

#[test]
fn the_very_text_is_replaced_where_it_stands_once() {
    assert_eq!(one("a b c", "b", "x"), ok("a x c", ""));
    assert_eq!(one("a\nb\n", "b\n", ""), ok("a\n", ""));
    let all = TextEdit {
        all: true,
        ..edit("a", "x")
    };
    let applied = apply("f", "a a", &[all], Knowledge::Unseen).unwrap();
    assert_eq!((applied.text.as_str(), applied.places), ("x x", 2));
}

#[test]
fn doubt_is_refused_with_all_places_and_overlaps_count() {
    assert_eq!(
        one("a\nb\na\n", "a", "x"),
        Err("Edit 1: 2 matches, lines 1, 3. Add lines around the one you mean, or set replace_all. \
             Nothing was changed."
            .to_owned())
    );
    assert!(
        one("aaa", "aa", "x")
            .unwrap_err()
            .starts_with("Edit 1: 2 matches")
    );
    assert_eq!(
        one("a", "a", "a"),
        Err("Edit 1: old_string and new_string are the same. Nothing was changed.".to_owned())
    );
}

#[test]
fn line_numbers_that_were_copied_are_left_out() {
    let text = "fn a() {\n    b();\n}\n";
    let note = "[matched without the line numbers; look at it]";
    assert_eq!(
        one(text, "2\t    b();", "2\t    c();"),
        ok("fn a() {\n    c();\n}\n", note)
    );
    assert_eq!(
        one(text, "1\tfn a() {\n2\t    b();\n", "fn a() {\n"),
        ok("fn a() {\n}\n", note)
    );
    // A line without a number: it is no copy.
    assert!(one(text, "1\tfn a() {\n    b();", "x").is_err());
}

#[test]
fn whole_lines_are_found_over_space_at_their_ends_and_over_one_indentation() {
    for (text, old, new, expected, note) in [
        (
            "a  \nb\t\nc\n",
            "a\nb",
            "x",
            "x\nc\n",
            "[matched but for space at ends of lines; look at it]",
        ),
        (
            "{\n    run();\n}\n",
            "run();",
            "run();\nstop();",
            // The very text comes first, and there nothing is shifted.
            "{\n    run();\nstop();\n}\n",
            "",
        ),
        (
            "{\n        if a {\n            b();\n        }\n}\n",
            "    if a {\n        b();\n    }",
            "    if a {\n\n        c();\n    }",
            "{\n        if a {\n\n            c();\n        }\n}\n",
            "[matched after shifting the indentation by 4; look at it]",
        ),
        (
            "if a {\n    b();\n}\n",
            "  if a {\n      b();\n  }\n",
            "  if a {\n      c();\n  }\n",
            "if a {\n    c();\n}\n",
            "[matched after shifting the indentation by 2; look at it]",
        ),
        (
            "{\n\tif a {\n\t\tb();\n\t}\n}\n",
            "if a {\n\tb();\n}",
            "if a {\n\tc();\n}",
            "{\n\tif a {\n\t\tc();\n\t}\n}\n",
            "[matched after shifting the indentation by 1; look at it]",
        ),
    ] {
        assert_eq!(one(text, old, new), ok(expected, note), "{old:?}");
    }
}

#[test]
fn what_is_not_certain_is_not_guessed() {
    for (text, old, why) in [
        (
            "\tif a {\n\t\tb();\n",
            "    if a {\n        b();",
            "tabs are no spaces",
        ),
        ("  a\n b\n", "a\nb", "two indentations"),
        ("x\n    \ny\n", "\n\n\n", "a blank text stands anywhere"),
        ("  {\n  }\n", "{\n}", "no letter and no digit"),
        ("  a b\n", "a  b", "space within a line"),
        ("fn run()\n", "fn runs()", "another word"),
        ("  a\nb\n", "    a\n  b\nc", "more lines than there are"),
        // It would have to lose more than it has.
        ("a\n", "  a", "a new line that cannot be shifted"),
    ] {
        let said = one(text, old, "x").unwrap_err();
        assert!(
            said.contains("no such text in f. Nothing was changed."),
            "{why}: {said}"
        );
    }
    let said = one("  a\nb\n  a\n", "a\n", "x\n").unwrap_err();
    assert!(said.starts_with("Edit 1: 2 matches"), "{said}");
    let said = one("  a(\n  b\nx\n  a(\n  b\n", "    a(\n    b", "x").unwrap_err();
    assert!(
        said.starts_with("Edit 1: no such") || said.starts_with("Edit 1 of 1"),
        "{said}"
    );
    let two = one("  a(\n  b\nx\n  a(\n  b\n", " a(\n b", " x").unwrap_err();
    assert!(two.starts_with("Edit 1: 2 matches, lines 1, 4."), "{two}");
}

#[test]
fn a_text_that_was_not_seen_is_changed_only_where_it_is_the_very_one() {
    let unseen = |old: &str| apply("f", "  a\n  b\n", &[edit(old, "x")], Knowledge::Unseen);
    assert!(unseen("  a\n  b").is_ok());
    assert!(unseen("1\t  a").is_err());
    assert!(unseen(" a\n b").is_err());
}

#[test]
fn a_miss_names_the_edit_and_shows_what_is_most_alike() {
    let text: String = (1..=100)
        .map(|n| format!("line {n}\n    call_{n}(a, b);\n"))
        .collect();
    let edits = [
        edit("line 1\n", "x\n"),
        edit("line 20\n  call_20(a, c);", "x"),
    ];
    let said = apply("src/a.rs", &text, &edits, Knowledge::Seen).unwrap_err();
    assert_eq!(
        said,
        "Edit 2 of 2: no such text in src/a.rs. Nothing was changed. Most alike, lines 39-40:\n\
         39\tline 20\n40\t    call_20(a, b);"
    );
    let said = one("alpha beta\ngamma delta\n", "gamma deltas", "x").unwrap_err();
    assert!(
        said.ends_with("Most alike, lines 2-2:\n2\tgamma delta"),
        "{said}"
    );
    let said = one("alpha\n", "zzz", "x").unwrap_err();
    assert!(
        said.ends_with("Nothing was changed. Read it again."),
        "{said}"
    );
    let long: String = (0..50).map(|n| format!("w{n}\n")).collect();
    let said = one(&long, &long.replace("w7", "v7"), "x").unwrap_err();
    assert!(said.contains("Most alike, lines 1-20:"), "{said}");
}

#[test]
fn edits_apply_in_order_and_each_sees_what_the_one_before_left() {
    let edits = [edit("a", "b"), edit("b\n", "c\n")];
    let applied = apply("f", "a\nx\n", &edits, Knowledge::Seen).unwrap();
    assert_eq!((applied.text.as_str(), applied.places), ("c\nx\n", 2));
}

#[test]
fn a_page_is_shown_with_plain_line_ends_and_written_as_it_was() {
    for text in [
        "a\nb\n",
        "\u{feff}a\r\nb\r\n",
        "a\r\nb\n",
        "a\rb\r\n",
        "\u{feff}",
        "",
        "a\r\nb",
    ] {
        let page = TextPage::of(text);
        assert_eq!(page.written(&page.text), text, "{text:?}");
    }
    let page = TextPage::of("\u{feff}a\r\nb\r\n");
    assert_eq!(page.text, "a\nb\n");
    assert_eq!(page.written("a\r\nc\n"), "\u{feff}a\r\nc\r\n");
    assert_eq!(TextPage::of("a\r\nb\n").text, "a\r\nb\n");
}

#[test]
fn a_difference_has_the_lines_that_come_and_go_with_their_numbers() {
    let found = difference("a\nb\nc\n", "a\nB\nc\nd\n");
    assert_eq!((found.added, found.removed), (2, 1));
    assert_eq!(found.lines, ["2\t-b", "2\t+B", "4\t+d"]);
    assert_eq!(found.shown(2), "2\t-b\n2\t+B\n[1 more changed lines]\n");
}

proptest! {
    #[test]
    fn what_is_edited_is_the_one_place_and_nothing_else(
        head in "[ab]{0,6}", old in "[ab]{1,3}", tail in "[ab]{0,6}", new in "[abc]{0,3}",
    ) {
        let text = format!("{head}{old}{tail}");
        if let Ok((edited, note)) = one(&text, &old, &new) {
            prop_assert_eq!(edited, format!("{head}{new}{tail}"));
            prop_assert_eq!(note, "");
        }
    }

    /// Whatever is asked for, the text around the place stays as it was.
    #[test]
    fn a_lenient_match_changes_only_its_own_lines(
        text in "( {0,2}[ab{]{0,2} {0,1}\n){0,6}", old in "( {0,2}[ab{]{0,2}\n){1,3}",
    ) {
        if let Ok((edited, note)) = one(&text, &old, "new\n")
            && !note.is_empty()
        {
            let lines: Vec<&str> = text.split('\n').collect();
            let after: Vec<&str> = edited.split('\n').collect();
            let gone = old.matches('\n').count();
            prop_assert_eq!(after.len(), lines.len() - gone + 1);
            let at = after.iter().position(|line| line.trim() == "new").unwrap();
            prop_assert_eq!(&after[..at], &lines[..at]);
            prop_assert_eq!(&after[at + 1..], &lines[at + gone..]);
        }
    }

    #[test]
    fn any_text_is_written_as_it_was(text in "(\u{feff})?[a\r\n]{0,12}") {
        let page = TextPage::of(&text);
        prop_assert_eq!(page.written(&page.text), text);
    }
}
