//! A real repository: a model finds what is broken in it with the repository's own tests, and mends it.

use serde_json::json;

use super::aimock::{Aimock, calls, texts, when};
use super::installed::{modules, not_measured, package};
use super::site::Site;
use crate::support::copy;

const FLOW: &str = r"workflow:
  name: Mend it
  nodes:
    - { id: mend, role: owner, work: [ Make the tests pass. ] }
  edges: []
roles:
  owner: { instructions: You maintain a library. }
";

/// A line of the library, and its faulty form before the repair.
const RIGHT: &str = "return (/^[-+]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(e[-+]?\\d+)?$/).test(x);";
const WRONG: &str = "return (/^[-+]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)$/).test(x);";

#[test]
fn a_model_mends_a_real_repository_and_sees_its_own_tests_pass() {
    let (Some(library), Some(_)) = (package("minimist"), package("tape")) else {
        return;
    };
    if !std::path::Path::new("/usr/bin/node").exists() {
        // Behind the walls of a command there are the system's programs and no others.
        return not_measured(
            "node is not one of the system's programs, so no command of a role reaches it",
        );
    }
    let tests = json!({ "command": "node node_modules/tape/bin/tape 'test/*.js' | tail -n 40" });
    let edit =
        json!({ "path": "index.js", "edits": [{ "old_string": WRONG, "new_string": RIGHT }] });
    let answers = [
        when(
            json!({ "toolResultContains": "# fail" }),
            calls("read_file", &json!({ "path": "index.js" })),
        ),
        // What was edited shows the line as it was, too.
        when(
            json!({ "toolResultContains": "Edited index.js" }),
            calls("run_command", &tests),
        ),
        when(
            json!({ "toolResultContains": WRONG }),
            calls("edit_file", &edit),
        ),
        when(
            json!({ "toolResultContains": "# pass  153" }),
            calls("handoff", &json!({ "type": "forward-pass-closed" })),
        ),
        when(
            json!({ "userMessage": "node `mend`" }),
            calls("run_command", &tests),
        ),
    ];
    let Some(model) = Aimock::start(&answers) else {
        return;
    };
    let configured = format!(
        "tools:\n  scope: project\n  folders: ['{}']\n",
        modules().display()
    );
    let site = Site::new(FLOW, &model, "anthropic", &configured);
    let project = site.path().join("demo");
    copy(&library, &project);
    std::os::unix::fs::symlink(modules(), project.join("node_modules")).unwrap();
    let right = site.read("demo/index.js");
    assert_eq!(right.matches(RIGHT).count(), 1);
    site.write("demo/index.js", &right.replace(RIGHT, WRONG));

    let said = site.begin();
    assert_eq!(said.code, 9, "{said:?}");
    let said = site.run(&["mode", &site.flow(), "full-access"]);
    assert_eq!(said.code, 0, "{said:?}");
    let said = site.resume();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        site.read("demo/index.js"),
        right,
        "nothing but the one line differs"
    );

    let heard = model.answered();
    assert_eq!(heard.len(), 5);
    let results = texts(&heard[4], "tool");
    assert!(results[0].contains("# fail  2"), "{}", results[0]);
    assert!(
        results[3].contains("# tests 153\n# pass  153"),
        "{}",
        results[3]
    );
}
