//! Every way in which a line could say more than a rule meant, and every class of rule.

use std::process::Command;

use a_society_facts::Hash;
use a_society_facts::fact::operator::{ConsentRules, RuleOrigin};
use proptest::prelude::*;

use super::line::{commands_in, plain_words};
use super::*;
use crate::consent::Tier;

fn policy(allow: &[&str], deny: &[&str]) -> Policy {
    let texts = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    let rules = ConsentRules {
        allow: texts(allow),
        deny: texts(deny),
    };
    Policy::read(&rules, RuleOrigin::Flow).unwrap()
}

fn subject(tier: &Tier) -> Subject<'_> {
    Subject {
        tool: "tool",
        tier,
        command: None,
        files: &[],
        host: None,
        server: None,
        is_irreversible: false,
        lacks_walls: false,
    }
}

fn word(judged: Option<Judged>) -> &'static str {
    match judged {
        Some(Judged::Allowed(_)) => "allowed",
        Some(Judged::Denied(_)) => "denied",
        Some(Judged::Doubtful(_)) => "doubtful",
        None => "asked",
    }
}

/// What rules make of a command.
fn of_command(policy: &Policy, command: &str) -> &'static str {
    word(policy.judge(&Subject {
        tool: "run_command",
        command: Some(command),
        ..subject(&Tier::Command)
    }))
}

/// What rules make of a change of files, each under both of its names.
fn of_edit(policy: &Policy, files: &[(&str, Option<&str>)]) -> &'static str {
    let names = files.iter().map(|(shown, real)| FileNames {
        shown: (*shown).to_owned(),
        real: real.map(str::to_owned),
    });
    let names: Vec<FileNames> = names.collect();
    word(policy.judge(&Subject {
        tool: "write_file",
        files: &names,
        ..subject(&Tier::Edit)
    }))
}

#[test]
fn a_pattern_allows_a_command_argument_by_argument() {
    for (pattern, command, expected) in [
        ("pytest *", "pytest", "allowed"),
        ("pytest *", "pytest -q", "allowed"),
        ("pytest *", "pytest -q tests/a.py::test_b", "allowed"),
        ("pytest *", "pytest 'a b' \"c d\"", "allowed"),
        ("pytest *", "pytest -k 'not slow' --x=1", "allowed"),
        ("commands:pytest", "pytest", "allowed"),
        ("commands:pytest", "pytest -q", "asked"),
        ("cargo test *", "cargo test --all", "allowed"),
        ("cargo test *", "cargo 'test' --all", "allowed"),
        ("cargo test *", "cargo tests", "asked"),
        ("cargo test *", "cargo run", "asked"),
        ("cargo test *", "cargo", "asked"),
        ("git log *", "git -c core.pager=id log", "asked"),
        ("git add * -v", "git add a -v", "allowed"),
        ("git add * -v", "git add a b -v", "asked"),
        ("git add * -v", "git add -v", "asked"),
        ("git commit -m '*'", "git commit -m '*'", "allowed"),
        ("git commit -m '*'", "git commit -m x", "asked"),
        ("pytest -k \"a,b\"", "pytest -k 'a,b'", "allowed"),
        ("./gradlew *", "./gradlew test", "allowed"),
        ("./gradlew *", "gradlew test", "asked"),
    ] {
        let found = of_command(&policy(&[pattern], &[]), command);
        assert_eq!(found, expected, "{pattern:?} {command:?}");
    }
}

/// Lines around `pytest *` that are not this command, or not it alone.
const HOSTILE: &[&str] = &[
    "pytest;rm x",
    "pytest; rm x",
    "pytest && rm x",
    "pytest || rm x",
    "pytest & rm x",
    "pytest &",
    "pytest | rm x",
    "pytest |& rm x",
    "pytest $(rm x)",
    "pytest `rm x`",
    "pytest \"$(rm x)\"",
    "pytest \"`rm x`\"",
    "pytest '$(rm x)'",
    "pytest ${X:=$(rm x)}",
    "pytest $X",
    "pytest \"$X\"",
    "pytest $'\\x41'",
    "pytest$IFS'x'",
    "pytest\nrm x",
    "pytest \\\nrm x",
    "pytest\r\nrm x",
    "pytest\rrm x",
    "pytest\trm",
    "pytest '\nrm x'",
    "pytest \\",
    "pytest \\; rm x",
    "pytest > out",
    "pytest >> out",
    "pytest 2>&1",
    "pytest < in",
    "pytest <(rm x)",
    "pytest >(rm x)",
    "pytest <<< hi",
    "pytest << E\nrm x\nE",
    "pytest *",
    "pytest *.py",
    "pytest ?",
    "pytest [ab]",
    "pytest {a,b}",
    "{pytest,rm}",
    "pytest ~",
    "pytest ~/x",
    "pytest #x",
    "pytest x #; rm",
    "pytest !x",
    "pytest \"!x\"",
    "pytest ^x",
    "pytest (x)",
    "(pytest)",
    "{ pytest; }",
    "! pytest",
    "FOO=1 pytest",
    "PYTEST_ADDOPTS=x pytest",
    "FOO+=1 pytest",
    "env pytest",
    "time pytest",
    "sudo pytest",
    "command pytest",
    "exec pytest",
    "xargs pytest",
    "nohup pytest",
    "./pytest",
    "/tmp/pytest",
    "../pytest",
    "~/pytest",
    "PYTEST",
    "pytest2",
    "py'test'",
    "\"pytest\"",
    "'pytest'",
    "p\\ytest",
    "pytest ''x'",
    "pytest 'x",
    "pytest \"x",
    " pytest",
    "pytest ",
    "pytest  -q",
    "\tpytest",
    "pytest\u{a0}-q",
    "pytest\u{2003}-q",
    "pytest\u{3000}-q",
    "\u{a0}pytest",
    "pytest -\u{200b}q",
    "pytest\u{feff}",
    "pytest\u{202e}",
    "ｐｙｔｅｓｔ",
    "pytest；rm",
    "pytest é",
    "pytest\0",
    "pytest \u{1b}[2J",
    "pytest,rm",
    "",
    " ",
];

#[test]
fn no_hostile_line_is_allowed_by_a_pattern() {
    let policy = policy(&["pytest *"], &[]);
    for line in HOSTILE {
        assert_eq!(of_command(&policy, line), "asked", "{line:?}");
    }
}

#[test]
fn a_denied_command_is_found_wherever_a_line_runs_it() {
    let rules = policy(&["commands"], &["rm *", "git push *", "sudo *"]);
    for line in [
        "rm x",
        "rm",
        " rm x",
        "rm  x",
        "rm\tx",
        "'rm' x",
        "r\\m x",
        "\"rm\" x",
        "r''m x",
        "/bin/rm x",
        "ls; rm x",
        "ls;rm x",
        "ls && rm x",
        "ls || rm x",
        "ls & rm x",
        "ls | rm x",
        "ls\nrm x",
        "ls \\\n; rm x",
        "(rm x)",
        "{ rm x; }",
        "! rm x",
        "if true; then rm x; fi",
        "for f in a b; do rm $f; done",
        "while true; do rm x; done",
        "echo $(rm x)",
        "echo \"a $(rm x) b\"",
        "echo `rm x`",
        "echo \"`rm x`\"",
        "echo ${y:-$(rm x)}",
        "cat <(rm x)",
        "A=1 rm x",
        "A=$(id) B=2 rm x",
        "rm x > log",
        ">log rm x",
        "2>&1 rm x",
        "rm $X",
        "rm *",
        "env rm x",
        "env A=1 rm x",
        "sudo id",
        "xargs rm x",
        "timeout 5 rm x",
        "nice -n 5 rm x",
        "find . -exec rm {} +",
        "echo ok #; rm x",
        "git push",
        "git push --force",
        "case x in a) rm x;; esac",
    ] {
        assert_eq!(of_command(&rules, line), "denied", "{line:?}");
    }
}

#[test]
fn a_line_that_may_hold_a_denied_command_is_asked_about() {
    let rules = policy(&["commands"], &["rm *"]);
    for line in [
        "$X x",
        "$X rm",
        "${X} x",
        "$(which ls) x",
        "`which ls` x",
        "r? x",
        "/bin/r? x",
        "{rm,-rf,x}",
        "~/bin/x",
        "bash -c 'r\"m\" x'",
        "sh x.sh",
        "eval \"$X\"",
        "env -i x",
        "xargs -n1 ls",
        "find . -exec ls {} +",
        "find $X",
        "cat << E\nx\nE",
        "echo 'x",
        "echo \"x",
        "echo x\\",
        "ls\u{a0}x",
    ] {
        assert_eq!(of_command(&rules, line), "doubtful", "{line:?}");
    }
    for line in [
        "ls",
        "ls *.py",
        "ls $HOME",
        "cd src && pytest -q | tail -5 > log 2>&1",
        "FOO=$BAR pytest",
        "[ -f x ] && echo \"it's there\"",
        "[[ -f x ]]; echo rm",
        "for f in *.py; do wc -l $f; done",
        "find . -name '*.py'",
        "# the tests\npytest",
        "echo 'rm x'",
        "git commit -m 'rm x; rm y'",
        "echo ${HOME}/x",
        "rmdir x",
    ] {
        assert_eq!(of_command(&rules, line), "allowed", "{line:?}");
    }
}

#[test]
fn an_exact_command_that_is_denied_is_denied_with_what_it_writes_to() {
    let rules = policy(&["commands"], &["make ship", "git push origin *"]);
    for (line, expected) in [
        ("make ship", "denied"),
        ("make ship > log", "denied"),
        ("make ship 2>/dev/null", "denied"),
        ("make ship >&2", "denied"),
        ("make 'ship'", "denied"),
        ("make ship now", "allowed"),
        ("make $X", "doubtful"),
        ("make ship $X", "doubtful"),
        ("make test", "allowed"),
        ("git push", "allowed"),
        ("git push origin", "denied"),
        ("git push origin main", "denied"),
        ("git push upstream", "allowed"),
    ] {
        assert_eq!(of_command(&rules, line), expected, "{line:?}");
    }
}

#[test]
fn what_is_denied_is_denied_whatever_allows_it_and_in_whatever_order() {
    for (allow, deny) in [
        (&["pytest *"][..], &["pytest *"][..]),
        (&["pytest *", "commands"], &["commands"]),
        (&["commands", "pytest *"], &["commands:pytest"]),
        (&["run_command"], &["run_command"]),
    ] {
        assert_eq!(of_command(&policy(allow, deny), "pytest"), "denied");
    }
    let one = policy(&["edits"], &[]);
    let other = policy(&[], &["edits:src"]);
    for both in [one.clone().and(other.clone()), other.and(one)] {
        assert_eq!(of_edit(&both, &[("src/a", Some("src/a"))]), "denied");
        assert_eq!(of_edit(&both, &[("b", Some("b"))]), "allowed");
    }
}

#[test]
fn a_folder_is_a_folder_and_not_the_beginning_of_a_name() {
    for (rule, path, expected) in [
        ("edits", "a.md", "allowed"),
        ("edits:src", "src/a.rs", "allowed"),
        ("edits:src/", "src/a.rs", "allowed"),
        ("edits:src/**", "src/deep/a.rs", "allowed"),
        ("edits:./src", "src/a.rs", "allowed"),
        ("edits:**", "src/a.rs", "allowed"),
        ("edits:.", "src/a.rs", "allowed"),
        ("edits:src", "srcs/a.rs", "asked"),
        ("edits:src", "src2", "asked"),
        ("edits:src", "a/src/a.rs", "asked"),
        ("edits:src", "SRC/a.rs", "asked"),
        ("edits:docs/notes.md", "docs/notes.md", "allowed"),
        ("edits:docs/notes.md", "docs/notes.md2", "asked"),
        ("edits:my folder", "my folder/a", "allowed"),
        ("edits:'a,b'", "a,b/c", "allowed"),
        ("edits:record", "record/workflow.yaml", "allowed"),
        ("edits:record", "./record/a", "asked"),
        ("edits:./record", "./record/a", "allowed"),
        ("edits:./record", "record/a", "asked"),
        ("edits:.", "record/workflow.yaml", "asked"),
        ("write_file", "a.md", "allowed"),
        ("edit_file", "a.md", "asked"),
    ] {
        let found = of_edit(&policy(&[rule], &[]), &[(path, Some(path))]);
        assert_eq!(found, expected, "{rule:?} {path:?}");
    }
}

#[test]
fn a_file_that_is_really_elsewhere_is_judged_by_both_of_its_names() {
    let allow = policy(&["edits:src"], &[]);
    assert_eq!(of_edit(&allow, &[("src/link/a", Some("lib/a"))]), "asked");
    assert_eq!(of_edit(&allow, &[("link/a", Some("src/a"))]), "asked");
    assert_eq!(of_edit(&allow, &[("src/a", None)]), "asked");
    let both = [("src/a", Some("src/a")), ("b", Some("b"))];
    assert_eq!(of_edit(&allow, &both), "asked");
    assert_eq!(of_edit(&allow, &[]), "asked");
    let deny = policy(&["edits"], &["edits:lib"]);
    assert_eq!(of_edit(&deny, &[("src/link/a", Some("lib/a"))]), "denied");
    assert_eq!(of_edit(&deny, &[("lib/a", Some("src/a"))]), "denied");
    let both = [("src/a", Some("src/a")), ("lib/b", Some("lib/b"))];
    assert_eq!(of_edit(&deny, &both), "denied");
}

#[test]
fn servers_and_hosts_are_compared_whole() {
    let definition = Hash::of(b"d");
    let tier = Tier::ServerTool { definition };
    let server = |rule: &str, (server, tool)| {
        word(policy(&[rule], &[]).judge(&Subject {
            tool: "mcp__files__read",
            server: Some(ServerTool { server, tool }),
            ..subject(&tier)
        }))
    };
    for (rule, expected) in [
        ("mcp-tools", "allowed"),
        ("mcp:files", "allowed"),
        ("mcp:files/read", "allowed"),
        ("mcp__files__read", "allowed"),
        ("mcp:file", "asked"),
        ("mcp:files2", "asked"),
        ("mcp:files/rea", "asked"),
        ("mcp:files/read_all", "asked"),
        ("commands", "asked"),
    ] {
        assert_eq!(server(rule, ("files", "read")), expected, "{rule}");
    }
    let host = |allow: &[&str], deny: &[&str], host| {
        word(policy(allow, deny).judge(&Subject {
            tool: "fetch_url",
            host: Some(host),
            ..subject(&Tier::Web)
        }))
    };
    for (given, expected) in [
        ("example.com", "allowed"),
        ("example.com.evil.io", "asked"),
        ("evil-example.com", "asked"),
        ("sub.example.com", "asked"),
        ("example.com.", "asked"),
    ] {
        assert_eq!(host(&["web:example.com"], &[], given), expected, "{given}");
    }
    assert_eq!(
        host(&["web"], &["web:example.com"], "example.com."),
        "denied"
    );
    assert_eq!(host(&["web"], &["web:example.com"], "docs.rs"), "allowed");
}

#[test]
fn no_rule_answers_what_is_asked_each_time_and_what_is_denied_is_denied_everywhere() {
    let definition = Hash::of(b"d");
    let allow = policy(
        &["edits", "commands", "web", "mcp-tools", "write_file"],
        &[],
    );
    let deny = policy(
        &[],
        &["edits", "commands", "mcp-tools", "write_file", "read_file"],
    );
    let file = [FileNames {
        shown: "a".to_owned(),
        real: Some("a".to_owned()),
    }];
    for (tier, expected) in [
        (Tier::Free, "asked"),
        (Tier::Unasked, "asked"),
        (Tier::Sensitive, "asked"),
        (Tier::Trust, "asked"),
        (Tier::Edit, "allowed"),
        (Tier::Command, "allowed"),
        (Tier::Web, "allowed"),
        (Tier::ServerTool { definition }, "allowed"),
    ] {
        let asked = Subject {
            tool: "write_file",
            files: &file,
            ..subject(&tier)
        };
        assert_eq!(word(allow.judge(&asked)), expected, "{tier:?}");
        assert_eq!(word(deny.judge(&asked)), "denied", "{tier:?}");
    }
    let unasked = Subject {
        command: Some("ls"),
        ..subject(&Tier::Unasked)
    };
    assert_eq!(word(deny.judge(&unasked)), "denied");
}

#[test]
fn nothing_runs_by_a_rule_without_all_walls_and_nothing_final_by_a_class() {
    let judged = |rules: &[&str], is_irreversible, lacks_walls| {
        word(policy(rules, &[]).judge(&Subject {
            tool: "run_command",
            command: Some("make ship"),
            is_irreversible,
            lacks_walls,
            ..subject(&Tier::Command)
        }))
    };
    for rule in ["commands", "make *", "make ship"] {
        assert_eq!(judged(&[rule], false, false), "allowed", "{rule}");
        assert_eq!(judged(&[rule], false, true), "asked", "{rule}");
    }
    for (rule, expected) in [
        ("commands", "asked"),
        ("make *", "asked"),
        ("make ship", "allowed"),
    ] {
        assert_eq!(judged(&[rule], true, false), expected, "{rule}");
    }
}

#[test]
fn what_is_no_rule_is_refused_with_the_words_that_are_known() {
    for text in [
        "",
        "edit",
        "command",
        "Edits",
        "file",
        "bash",
        "pytest",
        "everything",
        "*",
        "edits:",
        "edits:/etc",
        "edits:..",
        "edits:a/../b",
        "edits:~",
        "edits:*.rs",
        "edits:src/*",
        "web:",
        "web:https://x.io",
        "web:a..b",
        "mcp:",
        "mcp:files/",
        "mcp:Files",
        "files:a",
        "commands:",
        "* x",
        "pytest*",
        "pytest -*",
        "pytest *.py",
        "pytest; rm",
        "pytest $X",
        "pytest | tee",
        "pytest  -q",
        "pytest\n",
        "pytest 'x",
        "edits src",
        "write_file x",
        "FOO=1 x",
        "./run",
        "py\u{200b}test x",
    ] {
        let found = check(text);
        assert!(found.is_err(), "{text:?}");
    }
    let said = check("edit").unwrap_err().to_string();
    for known in [
        "edits",
        "commands",
        "web",
        "mcp-tools",
        "mcp:SERVER",
        "for example",
    ] {
        assert!(said.contains(known), "{said}");
    }
    for text in [
        "env *",
        "bash -c *",
        "sudo *",
        "xargs *",
        "time *",
        "find *",
        "eval *",
    ] {
        assert!(check_allow(text).is_err(), "{text}");
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn a_list_is_parted_at_commas_and_a_comma_in_quotes_stays() {
    let parted = |list| split(list).unwrap();
    assert_eq!(
        parted("edits,pytest *,mcp:files"),
        ["edits", "pytest *", "mcp:files"]
    );
    assert_eq!(parted("edits, web"), ["edits", "web"]);
    assert_eq!(
        parted("pytest -k 'a,b',edits"),
        ["pytest -k 'a,b'", "edits"]
    );
    assert_eq!(parted("edits:\"a,b\""), ["edits:\"a,b\""]);
    for list in [
        "",
        ",",
        "edits,",
        "edits,,web",
        "pytest -k 'a",
        "edits,edit",
    ] {
        assert!(split(list).is_err(), "{list:?}");
    }
}

/// What a shell passes on as arguments.
fn as_bash_has_it(arguments: &str) -> Option<Vec<String>> {
    let script = format!("p() {{ printf '%s\\0' \"$@\"; }}; p {arguments}");
    let output = Command::new("/bin/bash")
        .args(["-c", &script])
        .env_clear()
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words: Vec<String> = text.split('\0').map(str::to_owned).collect();
    words.pop();
    Some(words)
}

/// Lines made of what shells care about.
fn lines() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "pytest", "rm", "x", " ", "  ", "'", "\"", "\\", "$", "$(", ")", "`", ";", "&", "&&", "|",
        "\n", "\t", "<", ">", "<<", "*", "?", "[", "]", "{", "}", "~", "#", "!", "=", "A=1", "-q",
        "a,b", "é", "\u{a0}", "env ", "(", "if ", "${",
    ]);
    let piece = piece.prop_map(str::to_owned);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// Lines that are nearly plain.
fn calm_lines() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "-q",
        "a",
        "'b c'",
        "\"d  e\"",
        "''",
        "x='y'",
        "a/b::c",
        "'*'",
        "\"a'b\"",
        "'~'",
        "é",
        "'é'",
        "*",
        "$X",
        "a b",
        "--k=\"v w\"",
        "%1",
        "@x",
        "+x",
        ":",
        ",",
    ]);
    prop::collection::vec(word, 1..6).prop_map(|words| format!("pytest {}", words.join(" ")))
}

proptest! {
    #[test]
    fn no_line_makes_a_reader_stop_and_a_denied_program_is_never_allowed(line in lines()) {
        drop(commands_in(&line));
        let rules = policy(&["commands", "pytest *", "rm *"], &["rm *"]);
        // A line that is plainly this command is denied, and what is not seen through is not allowed.
        if let Some(words) = plain_words(&line) {
            let is_denied = words[0].text == "rm" || words[0].text.ends_with("/rm");
            // What `env` runs is looked through, and denied as well.
            if words[0].text != "env" {
                prop_assert_eq!(of_command(&rules, &line) == "denied", is_denied, "{}", line);
            }
        }
        // A backslash at its end would make the next line a part of it.
        let rest = format!("{}\nrm x", line.trim_end_matches('\\'));
        prop_assert_ne!(of_command(&rules, &rest), "allowed", "{}", rest);
    }

    #[test]
    fn what_a_pattern_allows_has_no_letter_that_a_shell_interprets(line in lines()) {
        let rules = policy(&["pytest *"], &[]);
        if of_command(&rules, &line) == "allowed" {
            prop_assert!(line == "pytest" || line.starts_with("pytest "), "{}", line);
            prop_assert!(!line.contains(['$', '`', '\\', '\n', '\t']), "{}", line);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_shell_passes_on_exactly_the_arguments_that_were_compared(
        line in prop_oneof![3 => calm_lines(), 1 => lines()],
    ) {
        let Some(words) = plain_words(&line) else {
            return Ok(());
        };
        let Some((_, arguments)) = line.split_once(' ') else {
            return Ok(());
        };
        let expected: Vec<String> = words.into_iter().skip(1).map(|word| word.text).collect();
        prop_assert_eq!(as_bash_has_it(arguments), Some(expected), "{}", line);
    }
}
