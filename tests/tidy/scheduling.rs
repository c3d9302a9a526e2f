//! The machine's decision tables and its tests name the same rows.

use std::collections::BTreeSet;

use super::repository::{read, rust_files};
use super::{Finding, assert_kept};

const TABLES: &str = "orchestrator/flow/SCHEDULING.md";
const TESTS: &str = "orchestrator/flow/src/machine/tests/";

/// The names of the rows of a page, such as `C7`.
fn rows(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| "));
    let names = cells.filter_map(|cells| cells.split(' ').next());
    names
        .filter(|name| is_row(name))
        .map(str::to_owned)
        .collect()
}

fn is_row(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase())
        && !letters.as_str().is_empty()
        && letters.all(|letter| letter.is_ascii_digit())
}

/// The rows that the name of a test begins with: `c3_c12_…`, `r1_to_r6_…`.
fn cited(test: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut is_range = false;
    for word in test.split('_') {
        let row = word.to_ascii_uppercase();
        if word == "to" && !rows.is_empty() {
            is_range = true;
        } else if is_row(&row) {
            let from = rows.last().filter(|_| is_range).and_then(|row| number(row));
            let until = number(&row).unwrap_or_default();
            let between = from.map_or(until..until, |from| from + 1..until);
            rows.extend(between.map(|number| format!("{}{number}", &row[..1])));
            rows.push(row);
            is_range = false;
        } else {
            break;
        }
    }
    rows
}

fn number(row: &str) -> Option<u32> {
    row[1..].parse().ok()
}

/// The names of the tests of a file.
fn tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter_map(|(number, line)| {
        let name = line.trim_start().strip_prefix("fn ")?;
        Some((number, name.split('(').next()?))
    })
}

#[test]
fn every_row_of_the_decision_tables_is_cited_by_a_test_and_no_test_cites_another() {
    let rows = rows(&read(TABLES));
    assert!(rows.len() > 60, "{rows:?}");
    let (mut known, mut findings) = (BTreeSet::new(), Vec::new());
    for file in rust_files() {
        if !file.path.starts_with(TESTS) {
            continue;
        }
        for (line, name) in tests(&file.text) {
            for row in cited(name) {
                if !rows.contains(&row) {
                    let what = format!("{name} cites {row}, which is in no table");
                    findings.push(Finding::new(&file.path, line, what));
                }
                known.insert(row);
            }
        }
    }
    let missing = rows.difference(&known);
    findings.extend(missing.map(|row| {
        let what = format!("no test is named after row {row}");
        Finding::new(TABLES, 0, what)
    }));
    assert_kept(
        "the decision tables and the tests of the machine agree",
        &findings,
    );
}

#[test]
fn the_rows_of_a_name_are_read_in_every_form() {
    assert_eq!(cited("c3_c12_a_node"), ["C3", "C12"]);
    assert_eq!(cited("r1_to_r4_a_reply"), ["R1", "R2", "R3", "R4"]);
    assert!(cited("small_graphs_are_walked").is_empty());
    assert_eq!(
        rows("| Row | x |\n| H11 | y |\n| |"),
        BTreeSet::from(["H11".to_owned()])
    );
}
