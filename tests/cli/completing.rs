//! Completions, loaded by the shells that people have: what they offer at the cursor.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::{ONE, TWO};
use crate::support::Workspace;

/// Lines that end at the cursor, with a word that must be offered there and one that must not.
const LINES: [(&str, &str, &str); 6] = [
    ("a-society m", "models", "watch"),
    ("a-society models ", "catalogue", "approve"),
    ("a-society mcp rev", "revoke", "approve"),
    ("a-society run --imp", "--improve", "--input"),
    ("a-society models add x --wire ", "openai-chat", "always"),
    ("a-society show ", "a1b2c3", "models"),
];

/// A workspace with two flows, and a folder that holds the program under its name.
fn place() -> Workspace {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    workspace.cancelled("demo", TWO, "Old \u{7}notes");
    let bin = workspace.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_a-society"), bin.join("a-society")).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let said = workspace.run(&["completions", shell]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{shell}");
        std::fs::write(workspace.path().join(shell), said.out).unwrap();
    }
    workspace
}

/// A shell's output for a script; `None` where the shell is not installed, after a note about it.
fn said(workspace: &Workspace, shell: &str, words: &[&str], script: &str) -> Option<String> {
    let program = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .into_iter()
        .map(|folder| Path::new(folder).join(shell))
        .find(|program| program.exists());
    let Some(program) = program else {
        // Not by `eprintln!`, which the test runner keeps to itself while a test passes.
        let why = "the completions of it are not loaded";
        writeln!(
            std::io::stderr(),
            "NOT MEASURED: there is no {shell}, and {why}"
        )
        .unwrap();
        return None;
    };
    let file = workspace.path().join("script");
    std::fs::write(&file, script).unwrap();
    let bin = workspace.path().join("bin").display().to_string();
    let output = Command::new(program)
        .args(words)
        .arg(file)
        .current_dir(workspace.path())
        .env_clear()
        .env("PATH", format!("{bin}:/usr/bin:/bin"))
        .env("HOME", workspace.path())
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(text(&output.stdout) + &text(&output.stderr))
}

/// Compares each line with the answers, which follow a mark each, in order.
fn hold(shell: &str, answers: &str) {
    let mut parts = answers.split("==");
    let _before = parts.next();
    let parts: Vec<&str> = parts.collect();
    assert_eq!(parts.len(), LINES.len(), "{shell}: {answers}");
    for ((line, offered, other), part) in LINES.iter().zip(parts) {
        let words: Vec<&str> = part.split_whitespace().collect();
        assert!(words.contains(offered), "{shell}: {line}: {part}");
        assert!(!words.contains(other), "{shell}: {line}: {part}");
    }
}

#[test]
fn bash_offers_commands_within_commands_their_options_and_flows() {
    let workspace = place();
    let lines = LINES.map(|(line, _, _)| {
        let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
        format!(
            "COMP_WORDS=({}); COMP_CWORD={}; _a_society 2>/dev/null; echo \"==${{COMPREPLY[*]}}\"\n",
            words.join(" "),
            words.len() - 1
        )
    });
    let script = format!("source ./bash\n{}complete -p a-society\n", lines.concat());
    if let Some(answers) = said(&workspace, "bash", &["--norc"], &script) {
        let (answers, registered) = answers.split_at(answers.rfind("complete ").unwrap());
        assert!(
            registered.contains("-F _a_society a-society"),
            "{registered}"
        );
        hold("bash", answers);
    }
}

#[test]
fn fish_offers_commands_within_commands_their_options_and_flows() {
    let workspace = place();
    let lines = LINES.map(|(line, _, _)| format!("echo ==\ncomplete -C '{line}'\n"));
    let script = format!("source ./fish\n{}", lines.concat());
    if let Some(answers) = said(&workspace, "fish", &["--no-config"], &script) {
        hold("fish", &answers);
    }
}

/// A zsh on a terminal of its own, whose keys are pressed by another zsh.
#[test]
fn zsh_offers_commands_within_commands_their_options_and_flows() {
    let workspace = place();
    // What is never offered is not awaited for ever.
    let head = "zmodload zsh/zpty || exit 3\n\
        (sleep 60; kill $$) >/dev/null 2>&1 & guard=$!\n\
        zpty keys zsh -f -i\n\
        until_it_says() { zpty -r keys heard \"*$1*\"; }\n\
        zpty -w keys 'PS1=; stty cols 200 rows 50; autoload -Uz compinit; compinit -u -D; source ./zsh; \
        print RE\"\"ADY'\n\
        until_it_says READY\n";
    let lines = LINES.map(|(line, offered, _)| {
        // Keys that are pressed before it has offered anything would end the offering.
        format!(
            "zpty -w -n keys $'{line}\\t'; until_it_says '{offered}'; offers=$heard\n\
             zpty -w -n keys $'\\x15print DO\"\"NE\\n'; until_it_says DONE\n\
             print -r -- \"==$offers$heard\"\n"
        )
    });
    let script = format!("{head}{}kill $guard\n", lines.concat());
    let Some(answers) = said(&workspace, "zsh", &["-f"], &script) else {
        return;
    };
    // What is drawn around the words.
    let mut plain = String::new();
    let mut rest = answers.as_str();
    while let Some(at) = rest.find("\u{1b}[") {
        plain += &rest[..at];
        plain.push(' ');
        let sequence = &rest[at + 2..];
        let end = sequence.find(|letter: char| letter.is_ascii_alphabetic());
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    hold("zsh", &(plain + rest));
}

#[test]
fn what_fits_depends_on_what_is_typed_before() {
    let workspace = place();
    let offered = |words: &[&str]| {
        let said = workspace.run(&[&["__complete", "--", "a-society"], words].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{words:?}");
        let values = said
            .out
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        values.collect::<Vec<_>>().join(" ")
    };
    let short = |flow: &str| flow.rsplit('-').next().unwrap().to_owned();
    let (one, two) = (short(ONE), short(TWO));
    // The newest first; by id and by project where that is being typed.
    assert_eq!(offered(&["status", ""]), format!("{two} {one}"));
    assert_eq!(offered(&["status", "20260527T1"]), ONE);
    assert_eq!(
        offered(&["status", "demo/2"]),
        format!("demo/{TWO} demo/{ONE}")
    );
    assert_eq!(offered(&["session", "show", "a1"]), "");
    assert_eq!(
        offered(&["status", "--json", "--color", "never", "a1"]),
        one
    );
    assert_eq!(offered(&["status", "--color=n"]), "--color=never");
    assert_eq!(offered(&["--color", "=", "n"]), "never");
    assert_eq!(offered(&["run", ""]), ":files");
    assert_eq!(offered(&["run", "--output", ""]), ":files");
    assert_eq!(offered(&["--workspace", ""]), ":folders");
    assert_eq!(offered(&["resume", "--feedback", "y"]), "yes");
    assert_eq!(offered(&["status", "--", "--co"]), "");
    assert_eq!(offered(&["no-such-command", ""]), "");
    // Outside every workspace there is nothing to offer, and nothing is printed.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = workspace.command(&["__complete", "--", "a-society", "status", ""]);
    let said = workspace.heard(command.current_dir(elsewhere.path()));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let path = workspace.path().to_str().unwrap().to_owned();
    let words = [
        "__complete",
        "--",
        "a-society",
        "--workspace",
        &path,
        "status",
        "a1",
    ];
    let mut command = workspace.command(&words);
    let said = workspace.heard(command.current_dir(elsewhere.path()));
    assert!(said.out.starts_with(&one), "{said:?}");
}
