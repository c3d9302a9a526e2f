//! What runs unasked, judged by what bash really does with it.

use std::fs;
use std::path::Path;
use std::process::Command;

use a_society_facts::fact::turn::Effect;
use proptest::prelude::*;
use serde_json::json;

use super::{not_measured, rounds};
use crate::consent::Tier;
use crate::tool::command::classify::{UNASKED, is_unasked, refused, words};
use crate::tool::limits::COMMAND_BYTES;
use crate::tool::tests::stage::{Stage, missing, plan};
use crate::tool::{RefusalKind, Toolbox};

/// Commands that must never run unasked, whatever the operator listed beside them.
const BAD: [(&str, &str); 132] = [
    ("C01", "pwd; id"),
    ("C01", "pwd;id"),
    ("", "pwd && id"),
    ("C03", "pwd || id"),
    ("C05", "pwd & id"),
    ("C05", "pwd&"),
    ("", "pwd | id"),
    ("C07", "pwd\r\nid"),
    ("C07", "pwd\rid"),
    ("C07", "pwd\nid"),
    ("", "echo $(id)"),
    ("C09", "echo `id`"),
    ("", "echo $((a[$(id)]))"),
    ("C11", "echo ${x:=$(id)}"),
    ("C13", "test -v 'a[$(id)]'"),
    ("", "cat <(id)"),
    ("C15", "tee >(id)"),
    ("", "cat << x\nid\nx"),
    ("C17", "cat <<< hi"),
    ("", "ls > x"),
    ("", "ls 2>x"),
    ("C19", "{echo,hi}"),
    ("C21", "i\"\"d"),
    ("C21", "i\\d"),
    ("C21", "'i'd"),
    ("", "$'\\x69d'"),
    ("C23", "echo$IFS'x'"),
    ("", "$HOME/x"),
    ("C25", "ls ~/.ssh"),
    ("C25", "ls ~root"),
    ("C27", "ls *"),
    ("C27", "ls -- $(echo x)"),
    ("C27", "rm *"),
    ("C27", "ls [a]"),
    ("C27", "ls ?"),
    ("C29", "env id"),
    ("C29", "command id"),
    ("C29", "builtin eval id"),
    ("C29", "exec id"),
    ("C29", "nohup id"),
    ("C29", "nice id"),
    ("C29", "timeout 1 id"),
    ("C29", "stdbuf -o0 id"),
    ("C29", "xargs id"),
    ("C29", "time id"),
    ("C29", "setsid id"),
    ("C29", "sudo id"),
    ("C29", "doas id"),
    ("C31", "SHELLOPTS=xtrace PS4='$(id)' ls"),
    ("C31", "A=b ls"),
    ("C33", "alias ls=id"),
    ("", "ls() { id; }"),
    ("C35", "eval id"),
    ("C35", "source x"),
    ("C35", ". ./x"),
    ("C37", "trap id EXIT"),
    ("C39", "rg --pre id x"),
    ("C39", "rg --hostname-bin id"),
    ("C39", "rg -z x"),
    ("", "find . -exec id +"),
    ("C41", "awk 'BEGIN{system(\"id\")}'"),
    ("C41", "awk '{print > \"/etc/x\"}'"),
    ("C41", "awk 'BEGIN{while((\"id\"|getline l)>0)print l}'"),
    ("", "sed -n 1e x"),
    ("C43", "git log --output=/etc/x"),
    ("C43", "git diff --no-index /etc/passwd x"),
    ("C43", "git diff --ext-diff"),
    ("C43", "git grep -Oid x"),
    ("C43", "git log --grep=\"$(id)\""),
    ("C45", "git status"),
    ("C47", "sort -o /etc/x"),
    ("C47", "sort --compress-program=id"),
    ("C47", "uniq in out"),
    ("C47", "tee f"),
    ("C47", "dd of=f"),
    ("C47", "cp a b"),
    ("C47", "mv a b"),
    ("C47", "ln a b"),
    ("C47", "install a b"),
    ("C49", "python -c 1"),
    ("C49", "perl -e 1"),
    ("C49", "node -e 1"),
    ("C49", "npx -c id"),
    ("C49", "npm exec id"),
    ("C49", "cargo run"),
    ("C49", "make"),
    ("C49", "just"),
    ("C49", "go run"),
    ("C51", "npm run test"),
    ("C53", "base64 -d -o f"),
    ("C53", "base64 --output=f"),
    ("C53", "xxd -r - f"),
    ("C53", "openssl enc -out f"),
    ("C55", "cat /proc/self/environ"),
    ("C55", "cat /proc/$PPID/environ"),
    ("C55", "printenv"),
    ("C55", "set"),
    ("C55", "declare -p"),
    ("C55", "env"),
    ("C57", "echo ok #; rm -rf /"),
    ("C57", "ls #"),
    ("C59", "pwd\u{a0}"),
    ("C59", "pwd\u{3000}"),
    ("C59", "pwd\u{200b}"),
    ("C59", "pwd\u{ff1b}id"),
    ("C59", "\u{ff4c}\u{ff53}"),
    ("C61", "ls\0; id"),
    ("C65", "cd .git && git config core.pager id"),
    ("C65", "cd /elsewhere && ls"),
    ("C65", "pushd"),
    ("C65", "CDPATH=/ cd etc"),
    ("C67", "echo hi >/dev/tcp/169.254.169.254/80"),
    ("C67", "exec 3<>/dev/tcp/127.0.0.1/1"),
    ("C69", "rm -rf ~"),
    ("C69", "rm -rf /*"),
    ("C69", "rm -rf \"$PWD/../..\""),
    ("C69", "rm -r --no-preserve-root /"),
    ("C71", "npm test "),
    ("C71", " npm test"),
    ("C71", "npm  test"),
    ("C71", "npm test --x"),
    ("C71", "NPM TEST"),
    ("C71", "npm test\n"),
    ("C71", "npm test;"),
    ("C71", "npm"),
    ("C71", "npm test.x"),
    ("", "ls -R"),
    ("", "ls .."),
    ("", "ls /"),
    ("", "ls -la /root"),
    ("", "LS"),
    ("", "ls\t-l"),
];

/// What an operator may have listed, wisely or not.
fn listed() -> Vec<String> {
    [
        "npm test",
        "cat a.txt",
        "env",
        "eval id",
        "time id",
        "ls *",
        "A=b ls",
        "/bin/ls",
        "ls; id",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn tools(stage: &Stage) -> Toolbox {
    let mut setting = stage.setting();
    setting.unasked_commands = listed();
    Toolbox::open(setting).unwrap()
}

#[test]
fn no_bad_command_runs_unasked_and_what_cannot_be_seen_is_not_even_asked_about() {
    let stage = Stage::new();
    let tools = tools(&stage);
    for (id, command) in BAD {
        match plan(&tools, "run_command", json!({ "command": command })) {
            Ok(plan) => assert_eq!(plan.ask.tier, Tier::Command, "{id} {command:?}"),
            Err(refusal) => assert_eq!(refusal.kind, RefusalKind::Arguments, "{id} {command:?}"),
        }
        let is_hidden = matches!(id, "C59" | "C61") || command.contains('\r');
        assert_eq!(
            refused(command, COMMAND_BYTES).is_some(),
            is_hidden,
            "{id} {command:?}"
        );
    }
    for (id, length) in [
        ("C63", 40 * 1024),
        ("C63", 1024 * 1024),
        ("", COMMAND_BYTES + 1),
    ] {
        let long = json!({ "command": "x".repeat(length) });
        assert!(plan(&tools, "run_command", long).is_err(), "{id} {length}");
    }
}

#[test]
fn what_is_listed_runs_unasked_behind_all_walls_and_is_asked_about_without() {
    let stage = Stage::new();
    let tools = tools(&stage);
    let tier = |tools: &Toolbox, command: &str| {
        let planned = plan(tools, "run_command", json!({ "command": command })).unwrap();
        let is_walled = missing(&planned).is_empty();
        (planned.ask.tier, is_walled)
    };
    for command in UNASKED.iter().copied().chain(["npm test", "cat a.txt"]) {
        let (tier, has_walls) = tier(&tools, command);
        assert_eq!(tier == Tier::Unasked, has_walls, "{command}");
    }
    // Listed, and yet no plain command.
    for command in [
        "env", "eval id", "time id", "ls *", "A=b ls", "/bin/ls", "ls; id",
    ] {
        assert_eq!(tier(&tools, command).0, Tier::Command, "{command}");
    }
    let full = super::in_full_scope(&stage);
    assert_eq!(tier(&full, "ls"), (Tier::Command, false));
}

#[test]
fn a_command_that_cannot_be_taken_back_is_known_byte_for_byte_and_never_runs_unasked() {
    let stage = Stage::new();
    let mut setting = stage.setting();
    setting.unasked_commands = vec!["make ship".to_owned()];
    setting.irreversible_commands = vec!["make ship".to_owned(), "ls".to_owned()];
    let tools = Toolbox::open(setting).unwrap();
    for (command, effect) in [
        ("make ship", Effect::Irreversible),
        ("ls", Effect::Irreversible),
        ("make ship ", Effect::Mutating),
        ("make  ship", Effect::Mutating),
    ] {
        let planned = plan(&tools, "run_command", json!({ "command": command })).unwrap();
        assert_eq!(
            (planned.effect, planned.ask.tier),
            (effect, Tier::Command),
            "{command}"
        );
    }
}

/// What bash did with a command: the arguments of every program that was started, and every other
/// line of interest.
fn traced(folder: &Path, command: &str) -> Option<(Vec<Vec<String>>, Vec<String>)> {
    let log = folder.join("log");
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join("a.txt"), "a").unwrap();
    let status = Command::new("unshare")
        .args(["--user", "--map-current-user", "--net", "--", "strace", "-f", "-qq", "-s", "4096", "-o"])
        .arg(&log)
        .args(["-e", "trace=execve,execveat,open,openat,creat,connect,bind,unlink,unlinkat,rename,renameat2,mkdir,mkdirat"])
        .args(["/bin/bash", "-c", command])
        .current_dir(&work)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .ok()?;
    if !log.exists() {
        not_measured(&String::from_utf8_lossy(&status.stderr));
        return None;
    }
    let text = fs::read_to_string(&log).unwrap();
    let mut programs = Vec::new();
    let mut effects = Vec::new();
    for line in text.lines() {
        let call = line
            .split_once(' ')
            .map_or(line, |(_, call)| call.trim_start());
        if call.starts_with("execve") {
            if line.ends_with("= 0") {
                let (_, rest) = call.split_once(", [").unwrap();
                let (arguments, _) = rest.split_once(']').unwrap();
                let words = arguments
                    .split(", ")
                    .map(|word| word.trim_matches('"').to_owned());
                programs.push(words.collect());
            }
        } else if call.starts_with("open") {
            let writes = ["O_WRONLY", "O_RDWR", "O_CREAT"]
                .iter()
                .any(|flag| call.contains(flag));
            if writes && !call.contains("\"/dev/tty\"") && !call.contains("\"/dev/null\"") {
                effects.push(call.to_owned());
            }
        } else if call.starts_with("connect") && call.contains("AF_UNIX") {
            // A lookup of a name, which fails behind the walls.
        } else if !call.starts_with("---") && !call.starts_with("+++") {
            effects.push(call.to_owned());
        }
    }
    // The first program is bash itself.
    programs.remove(0);
    Some((programs, effects))
}

/// Words that bash does itself.
const DONE_BY_BASH: [&str; 1] = ["pwd"];

#[test]
fn bash_does_with_what_runs_unasked_exactly_what_was_foreseen() {
    let folder = tempfile::tempdir().unwrap();
    for command in UNASKED
        .iter()
        .copied()
        .chain(["cat a.txt", "wc -c a.txt", "uname -m -p"])
    {
        let Some((programs, effects)) = traced(folder.path(), command) else {
            return;
        };
        let words = words(command).unwrap();
        let foreseen: Vec<Vec<&str>> = match words.first() {
            Some(first) if DONE_BY_BASH.contains(first) => Vec::new(),
            _ => vec![words],
        };
        assert_eq!(programs, foreseen, "{command}");
        assert_eq!(effects, [""; 0], "{command}");
    }
    // The oracle sees what it is there to see.
    let (programs, effects) = traced(folder.path(), "ls > made.txt; id").unwrap();
    assert_eq!(
        (programs.len(), effects.len()),
        (2, 1),
        "{programs:?} {effects:?}"
    );
}

#[test]
fn no_mutation_of_a_bad_or_a_good_command_runs_unasked() {
    let listed = listed();
    let good: Vec<&str> = UNASKED
        .iter()
        .copied()
        .chain(["npm test", "cat a.txt"])
        .collect();
    let seeds: Vec<&str> = good
        .iter()
        .copied()
        .chain(BAD.iter().map(|(_, bad)| *bad))
        .collect();
    let insertions = [
        " ", ";", "|", "&", "\n", "$(id)", "`id`", "*", "~", "'", "\"", "\\", "#", "\t", "\0", "=",
        "-l", "é",
    ];
    // A sequence that is always the same, so that what it finds can be found again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut unasked = 0;
    for _ in 0..rounds(50_000, 1_000_000) {
        let mut command: Vec<char> = seeds[next(seeds.len())].chars().collect();
        for _ in 0..=next(3) {
            let at = next(command.len() + 1);
            match next(3) {
                0 if at < command.len() => drop(command.remove(at)),
                1 if at < command.len() => {
                    let other: Vec<char> = seeds[next(seeds.len())].chars().collect();
                    command[at] = other.get(next(other.len())).copied().unwrap();
                }
                _ => {
                    let inserted = insertions[next(insertions.len())];
                    command.splice(at..at, inserted.chars());
                }
            }
        }
        let command: String = command.into_iter().collect();
        if is_unasked(&command, &listed) {
            unasked += 1;
            assert!(good.contains(&command.as_str()), "{command:?}");
        }
    }
    assert!(
        unasked > 0,
        "no mutation led back to what is listed, so the test sees nothing"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn bash_takes_plain_words_as_they_are(command in "[a-z][a-z0-9_-]{0,5}( [a-zA-Z0-9_./@%+,:-]{1,6}){0,5}") {
        let Some(found) = words(&command) else {
            return Ok(());
        };
        let given = command.split_once(' ').map_or("", |(_, rest)| rest);
        let output = Command::new("/bin/bash")
            .args(["-c", &format!("/usr/bin/printf '<%s>' first {given}")])
            .env_clear()
            .output()
            .unwrap();
        let wanted: String = std::iter::once(&"first")
            .chain(found.iter().skip(1))
            .map(|word| format!("<{word}>"))
            .collect();
        prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), wanted);
    }
}
