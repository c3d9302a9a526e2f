//! `watch` without a terminal: it says so, names what works there, and changes nothing.

use super::ONE;
use crate::support::Workspace;

#[test]
fn watch_refuses_where_nobody_could_press_a_key_and_says_what_to_use() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    let before = workspace.contents();
    let said = workspace.run(&["watch", ONE]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    assert!(said.err.contains("error[no-terminal]"), "{said:?}");
    assert!(said.err.contains("log demo/"), "{said:?}");
    assert!(said.err.contains("--follow"), "{said:?}");
    assert_eq!(workspace.contents(), before);
}
