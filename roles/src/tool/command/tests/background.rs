//! Commands beside a turn: started, read, ended, and gone with it.

use std::time::{Duration, Instant};

use a_society_base::stop::StopSignal;
use serde_json::json;

use super::alive;
use crate::tool::tests::stage::{Stage, call, done, finish, plan};
use crate::tool::{RefusalKind, Toolbox};

use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::{CallEnd, CommandExit};

fn word(name: &str) -> String {
    format!("a-society-{name}-{}", std::process::id())
}

/// Starts a command beside the turn, and gives what the model gets.
fn begun(tools: &Toolbox, command: &str) -> String {
    let given = json!({ "command": command, "background": true });
    let finished = done(tools, "run_command", given).unwrap();
    assert_eq!(finished.end, CallEnd::Done, "{}", finished.output);
    finished.output
}

fn news(tools: &Toolbox, given: serde_json::Value) -> String {
    let finished = done(tools, "command_output", given).unwrap();
    finished.output
}

#[test]
fn a_command_beside_the_turn_is_read_piece_by_piece_awaited_and_ended() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let word = word("beside");
    let command = format!("echo one; read -t 2 < <(sleep 2); echo two; exec -a {word} sleep 600");
    let first = begun(&tools, &command);
    assert_eq!(first, "[c1 runs; read it with command_output]\none\n");
    assert!(news(&tools, json!({ "id": "c1" })).ends_with(" s]\n(no new output)\n"));
    let later = news(&tools, json!({ "id": "c1", "wait_ms": 2_500 }));
    assert!(
        later.starts_with("[c1 runs, ") && later.ends_with(" s]\ntwo\n"),
        "{later}"
    );
    assert_eq!(alive(&word), 1);
    let last = news(&tools, json!({ "id": "c1", "stop": true }));
    assert!(last.starts_with("[stopped, "), "{last}");
    assert_eq!(alive(&word), 0);
    // Its end was reported.
    let gone = done(&tools, "command_output", json!({ "id": "c1" })).unwrap();
    assert_eq!(
        (gone.end, gone.output.as_str()),
        (
            CallEnd::Failed,
            "No background command c1 runs; it has ended. Running: none."
        )
    );
}

#[test]
fn a_command_beside_the_turn_that_fails_at_once_is_seen_at_once() {
    let stage = Stage::new();
    let given = json!({ "command": "echo no such port; exit 3", "run_in_background": true });
    let failed = done(&stage.toolbox(), "Bash", given).unwrap();
    assert_eq!(failed.end, CallEnd::Failed);
    assert_eq!(failed.exit, Some(CommandExit::Code(3)));
    assert!(failed.output.starts_with("[exit 3, ") && failed.output.ends_with("no such port\n"));
    // Consent shows it, and no command is so harmless that it runs beside the turn unasked.
    let planned = plan(
        &stage.toolbox(),
        "run_command",
        json!({ "command": "ls", "background": true }),
    );
    let planned = planned.unwrap();
    let ConsentTerms::Command(terms) = &planned.ask.terms else {
        panic!("{:?}", planned.ask.terms)
    };
    assert!(terms.background && terms.folder == ".", "{terms:?}");
    assert_eq!(planned.ask.shown, "ls");
    assert_eq!(planned.ask.tier, crate::consent::Tier::Command);
}

#[test]
fn there_are_eight_at_most_and_all_of_them_end_with_the_turn_and_are_named() {
    let stage = Stage::new();
    let tools = stage.toolbox();
    let word = word("eight");
    for _ in 0..8 {
        begun(&tools, &format!("exec -a {word} sleep 600"));
    }
    assert_eq!(alive(&word), 8);
    let ninth = json!({ "command": "sleep 600", "background": true });
    let refused = plan(&tools, "run_command", ninth.clone()).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::NotPossible);
    assert!(
        refused
            .text
            .starts_with("8 background commands run already: c1 (exec -a ")
    );
    let ended = news(&tools, json!({ "shell_id": "c8", "stop": "true" }));
    assert!(ended.starts_with("[stopped, "));
    assert!(plan(&tools, "run_command", ninth).is_ok());
    tools.end_background();
    assert_eq!(alive(&word), 0);
    let setting = &tools.0.setting;
    let role = &setting.owner.role;
    let named = setting.background.ended_with_turn(role);
    assert_eq!(named.len(), 7);
    assert_eq!(named[0], format!("c1 (exec -a {word} sleep 600)"));
    assert!(setting.background.ended_with_turn(role).is_empty());
}

#[test]
fn a_stop_of_the_turn_and_the_end_of_its_flow_end_them() {
    let stage = Stage::new();
    let word = word("stopped");
    let command = json!({ "command": format!("exec -a {word} sleep 600"), "background": true });
    let gone = || {
        let begun = Instant::now();
        while alive(&word) > 0 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        alive(&word) == 0
    };
    let tools = stage.toolbox();
    let stop = StopSignal::default();
    tools.heed(&stop);
    let planned = tools.plan(&call("run_command", command.clone())).unwrap();
    finish(&tools, planned, &stop);
    assert_eq!(alive(&word), 1);
    stop.raise();
    assert!(gone());
    let setting = &tools.0.setting;
    let named = setting.background.ended_with_turn(&setting.owner.role);
    assert_eq!(named, [format!("c1 (exec -a {word} sleep 600)")]);
    let tools = stage.toolbox();
    let planned = tools.plan(&call("run_command", command)).unwrap();
    finish(&tools, planned, &StopSignal::default());
    assert_eq!(alive(&word), 1);
    drop(tools);
    assert!(gone());
}
