//! Calls that were refused before they were intended.

use a_society_facts::Fact;
use serde_json::json;

use super::{fold, shown, with_calls};

#[test]
fn the_item_of_an_edit_that_was_refused_names_its_file() {
    let edit = json!({ "path": "src/a.rs", "old_string": "x", "new_string": "y" });
    let unreadable = json!({ "file_path": "src/b.rs" });
    let mut fold = fold();
    let calls = [
        ("edit_file", edit, "failed"),
        ("Edit", unreadable, "failed"),
        ("read_file", json!({ "path": "src/c.rs" }), "failed"),
    ];
    for recorded in with_calls(&calls) {
        // A call that was refused was never intended.
        if !matches!(recorded.fact(), Some(Fact::CallIntended(_))) {
            fold.apply(&recorded, &shown);
        }
    }
    let items = (fold.take_feeds().into_iter()).flat_map(|(_, _, change)| change.items);
    let named: Vec<_> = items
        .filter_map(|(_, item)| item.tool.is_some().then_some(item.files))
        .map(|files| files.map(|files| files.into_iter().map(|file| file.path).collect::<Vec<_>>()))
        .collect();
    let one = |path: &str| Some(vec![path.to_owned()]);
    assert_eq!(named, [one("src/a.rs"), one("src/b.rs"), None]);
}
