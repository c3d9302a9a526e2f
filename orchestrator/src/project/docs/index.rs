//! The index of a project: a table whose rows give a variable its path.

use std::collections::BTreeMap;

use a_society_flow::graph::{Code, Diagnostic};

/// Where a variable leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VariableRow {
    /// The path, from the project's root.
    pub(super) path: String,
    /// The line of the row, counted from 1.
    pub(super) line: u32,
}

/// The rows of an index by their variables, with the `$`.
pub(super) type Index = BTreeMap<String, VariableRow>;

/// Reads an index. Text around its tables is for people.
pub(super) fn parse(text: &str, file: &str, found: &mut Vec<Diagnostic>) -> Index {
    let mut index = Index::new();
    let mut in_table = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        let Some(cells) = cells(line) else {
            in_table = false;
            continue;
        };
        let is_head = !in_table;
        in_table = true;
        let variable = cells.first().map_or("", |cell| cell.as_str());
        let is_rule = cells
            .iter()
            .all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':')));
        if is_rule || (is_head && !variable.starts_with('$')) {
            continue;
        }
        let path = cells.get(1).map_or("", |cell| cell.as_str());
        if !is_variable(variable) || path.is_empty() {
            let message = format!("this row is not a variable and a path: {line}");
            let hint = "write: | `$VARIABLE` | `path/from/project/root` |".to_owned();
            found.push(Diagnostic::error(
                Code::BadIndexRow,
                file,
                number,
                message,
                Some(hint),
            ));
            continue;
        }
        if let Some(first) = index.get(variable) {
            let message = format!("`{variable}` is here for the second time");
            let hint = format!("the first one is in line {}", first.line);
            let code = Code::DuplicateKey;
            found.push(Diagnostic::error(code, file, number, message, Some(hint)));
            continue;
        }
        let row = VariableRow {
            path: path.to_owned(),
            line: number,
        };
        index.insert(variable.to_owned(), row);
    }
    index
}

/// The cells of a row, without the marks of code around them.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let cells = inner.split('|').map(str::trim);
    Some(
        cells
            .map(|cell| cell.trim_matches('`').trim().to_owned())
            .collect(),
    )
}

/// `$` and a name in capitals.
fn is_variable(text: &str) -> bool {
    let Some(name) = text.strip_prefix('$') else {
        return false;
    };
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_what_is_none_is_told_with_its_line() {
        let text = "# Index\n\n| Variable | Path |\n|---|:--|\n| `$STYLE` | `docs/style.md` |\n\
                    | $A_2 | a.md |\n| `$STYLE` | `other.md` |\n| style | x.md |\n| `$B` | |\n\nText.\n\n\
                    | `$LATER` | later.md | with a note |\n";
        let mut found = Vec::new();
        let index = parse(text, "index.md", &mut found);
        let rows: Vec<(&str, &str, u32)> = index
            .iter()
            .map(|(name, row)| (name.as_str(), row.path.as_str(), row.line))
            .collect();
        assert_eq!(
            rows,
            [
                ("$A_2", "a.md", 6),
                ("$LATER", "later.md", 13),
                ("$STYLE", "docs/style.md", 5)
            ]
        );
        let said: Vec<(&str, u32)> = found.iter().map(|it| (it.code.as_str(), it.line)).collect();
        assert_eq!(said, [("G004", 7), ("G027", 8), ("G027", 9)]);
    }
}
