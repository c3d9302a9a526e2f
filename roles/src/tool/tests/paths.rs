//! Bad paths: what leads out, what is closed, and what is no file.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use a_society_facts::fact::turn::CallEnd;
use serde_json::json;

use super::stage::{Stage, done, everything_in, output, plan};
use crate::consent::Tier;
use crate::tool::{Scope, ToolReach, Toolbox};

/// A project with every trap that is known.
fn trapped() -> Stage {
    let stage = Stage::new();
    let project = stage.project();
    for (path, text) in [
        ("project/a.txt", "a"),
        ("project/.git/config", "[core]"),
        ("project/.git/hooks/pre-commit", "x"),
        ("project/sub/.git/config", "[core]"),
        ("project/.bashrc", "x"),
        ("project/.env", "KEY=1"),
        ("project/.a-society/state/x/flow.json", "{}"),
        ("outer/secret.txt", "secret"),
    ] {
        stage.write(path, text);
    }
    for (target, link) in [
        ("../outside.txt", "out"),
        ("../outer", "outer"),
        ("/etc", "etc"),
        ("../outer/none.txt", "dangling"),
        ("loop-b", "loop-a"),
        ("loop-a", "loop-b"),
        (".git/config", "innocent"),
        (".git", "folder"),
        (".env", "settings"),
        ("/proc/self/environ", "environ"),
        (concat!("/proc/self/root", "/etc"), "root"),
        ("a.txt", "inside"),
    ] {
        symlink(target, project.join(link)).unwrap();
    }
    fs::hard_link(stage.root().join("outside.txt"), project.join("hard")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    stage
}

/// Bad ones, with whether even reading is refused.
const BAD: [(&str, &str, bool); 39] = [
    ("P01", "../outside.txt", true),
    ("P01", "sub/../../outside.txt", true),
    ("P01", "outer/../../outside.txt", true),
    ("P03", "/etc/passwd", true),
    ("P05", "~/.ssh/id_rsa", true),
    ("P05", "~root/x", false),
    ("P07", "dangling", true),
    ("P07", "out", true),
    ("P07", "outer/secret.txt", true),
    ("P07", "outer/new/deep.txt", true),
    ("P07", "etc/passwd", true),
    ("P07", "inside", false),
    ("P09", "loop-a", true),
    ("P09", "loop-a/x", true),
    ("P11", "hard", false),
    ("P15", "/proc/self/environ", true),
    ("P15", concat!("/proc/self/root", "/etc/passwd"), true),
    ("P15", "/proc/self/cwd/../..", true),
    ("P15", "/proc/self/fd/3", true),
    ("P15", "environ", true),
    ("P15", "root/passwd", true),
    ("P17", "fifo", true),
    ("P19", "sub", true),
    ("P23", ".a-society/state/x/flow.json", true),
    ("P23", ".A-SOCIETY/state/x/flow.json", true),
    ("P25", ".git/config", true),
    ("P25", ".git/hooks/pre-commit", true),
    ("P25", "sub/.git/config", true),
    ("P25", "sub/.git", true),
    ("P25", "innocent", true),
    ("P25", "folder/config", true),
    ("P25", "folder/new/deep.txt", true),
    ("P27", ".env", false),
    ("P29", ".bashrc", true),
    ("P29", "sub/.profile", true),
    ("P33", "C:\\Windows\\x", true),
    ("P33", "\\\\server\\share", true),
    ("P33", "file:///etc/passwd", true),
    ("M01", ".mcp.json", true),
];

fn refuses(tools: &Toolbox, tool: &str, arguments: serde_json::Value) -> bool {
    match done(tools, tool, arguments) {
        Err(_) => true,
        Ok(finished) => finished.end != CallEnd::Done,
    }
}

#[test]
fn bad_paths_are_refused_in_every_scope_and_nothing_happens() {
    let stage = trapped();
    let before = everything_in(&stage.root());
    for scope in [Scope::Sandboxed, Scope::Project, Scope::Full] {
        let mut setting = stage.setting();
        setting.scope = scope;
        let tools = Toolbox::open(setting).unwrap();
        for (id, path, also_read) in BAD {
            // `~root` is only a name, and not one that may become a folder unnoticed.
            if path != "~root/x" {
                let write = json!({ "path": path, "content": "x" });
                assert!(
                    refuses(&tools, "write_file", write),
                    "{id} write {path} {scope:?}"
                );
                let edit = json!({ "path": path, "old": "a", "new": "b" });
                assert!(
                    refuses(&tools, "edit_file", edit),
                    "{id} edit {path} {scope:?}"
                );
            }
            let opens_wide = scope == Scope::Full && matches!(path, "/etc/passwd");
            if also_read && !opens_wide {
                let read = json!({ "path": path });
                assert!(
                    refuses(&tools, "read_file", read),
                    "{id} read {path} {scope:?}"
                );
                let lines = json!({ "path": path, "first": 1, "last": 1 });
                assert!(
                    refuses(&tools, "read_file_lines", lines),
                    "{id} lines {path} {scope:?}"
                );
                if path != "sub" {
                    let search = json!({ "path": path, "text": "e" });
                    assert!(
                        refuses(&tools, "search_files", search),
                        "{id} search {path} {scope:?}"
                    );
                }
            }
        }
    }
    assert_eq!(everything_in(&stage.root()), before);
}

#[test]
fn p27_files_that_often_hold_secrets_are_read_only_when_the_operator_is_asked() {
    let stage = trapped();
    let tools = stage.toolbox();
    for path in [".env", "settings"] {
        for tool in ["read_file", "search_files"] {
            let mut given = json!({ "path": path });
            if tool == "search_files" {
                given["text"] = json!("x");
            }
            let planned = plan(&tools, tool, given).unwrap();
            assert_eq!(planned.ask.tier, Tier::Sensitive, "{tool} {path}");
        }
    }
    // A file that takes such a name after it was allowed as another is not read.
    stage.write("project/b.txt", "x");
    let planned = plan(&tools, "read_file", json!({ "path": "b.txt" })).unwrap();
    fs::remove_file(stage.project().join("b.txt")).unwrap();
    symlink(".env", stage.project().join("b.txt")).unwrap();
    let finished = super::stage::finish(
        &tools,
        planned,
        &a_society_base::stop::StopSignal::default(),
    );
    assert_eq!(finished.end, CallEnd::Failed, "{}", finished.output);
}

#[test]
fn p11_p21_p39_what_is_odd_but_harmless_works_byte_for_byte() {
    let stage = trapped();
    let tools = stage.toolbox();
    for name in [
        "file.txt ",
        " file.txt",
        "file.txt.",
        "\"file\"",
        "-rf",
        "é",
        "e\u{301}",
    ] {
        let _written = output(
            &tools,
            "write_file",
            json!({ "path": name, "content": name }),
        );
        assert_eq!(
            output(&tools, "read_file", json!({ "path": name })),
            format!("1\t{name}\n")
        );
        assert!(stage.project().join(name).exists());
    }
    let hard = output(&tools, "read_file", json!({ "path": "hard" }));
    assert!(hard.starts_with("[this file has other names"), "{hard}");
    assert_eq!(
        output(&tools, "read_file", json!({ "path": "inside" })),
        "1\ta\n"
    );
    fs::write(
        stage.project().join(std::ffi::OsStr::from_bytes(b"\xff")),
        "x",
    )
    .unwrap();
    let listed = output(&tools, "list_directory", json!({ "path": "." }));
    assert!(listed.contains("\\xff\t1\n"), "{listed}");
    fs::write(stage.project().join("binary"), b"\0\x01").unwrap();
    let binary = done(&tools, "read_file", json!({ "path": "binary" })).unwrap();
    assert!(
        binary.output.contains("binary is binary, 2 bytes."),
        "{}",
        binary.output
    );
}

#[test]
fn the_full_scope_reads_the_system_and_still_writes_only_in_its_folders() {
    let stage = trapped();
    let mut setting = stage.setting();
    setting.scope = Scope::Full;
    let tools = Toolbox::open(setting).unwrap();
    let outside = stage.root().join("outside.txt");
    assert_eq!(
        output(&tools, "read_file", json!({ "path": outside }))
            .lines()
            .last(),
        Some("1\toutside")
    );
    assert!(refuses(
        &tools,
        "write_file",
        json!({ "path": outside, "content": "x" })
    ));
    for path in [
        "/proc/1/environ",
        "/sys/kernel/notes",
        "/dev/null",
        "/run/x",
    ] {
        assert!(
            refuses(&tools, "read_file", json!({ "path": path })),
            "{path}"
        );
    }
    assert_eq!(stage.read("outside.txt").as_deref(), Some("outside"));
}

#[test]
fn folders_that_the_operator_named_are_read_from_the_project_scope_on_and_never_written() {
    let stage = trapped();
    for (path, text) in [
        ("named/a.txt", "a"),
        ("named/.git/config", "[core]"),
        ("named/.env", "KEY=1"),
    ] {
        stage.write(path, text);
    }
    let named = stage.root().join("named");
    symlink("../outside.txt", named.join("out")).unwrap();
    let before = everything_in(&stage.root());
    for scope in Scope::ALL {
        let mut setting = stage.setting();
        let reach = ToolReach {
            scope,
            folders: vec![named.clone()],
            ..ToolReach::default()
        };
        reach.apply(&mut setting);
        let tools = Toolbox::open(setting).unwrap();
        let path = |name: &str| json!({ "path": named.join(name) });
        let reads = scope != Scope::Sandboxed;
        assert_eq!(
            !refuses(&tools, "read_file", path("a.txt")),
            reads,
            "{scope:?}"
        );
        let mut closed = vec![".git/config", "out"];
        // In the full scope that is one of the files that may be read.
        closed.extend((scope != Scope::Full).then_some("../outside.txt"));
        for closed in closed {
            assert!(
                refuses(&tools, "read_file", path(closed)),
                "{closed} {scope:?}"
            );
        }
        if reads {
            let sensitive = plan(&tools, "read_file", path(".env")).unwrap();
            assert_eq!(sensitive.ask.tier, Tier::Sensitive);
        }
        for name in ["a.txt", "new.txt", "new/deep.txt"] {
            let write = json!({ "path": named.join(name), "content": "x" });
            assert!(refuses(&tools, "write_file", write), "{name} {scope:?}");
        }
        let folder = json!({ "command": "pwd", "folder": named });
        assert!(
            refuses(&tools, "run_command", folder),
            "no command runs there"
        );
        let command = format!("cat {0}/a.txt; echo x > {0}/new.txt; true", named.display());
        if scope != Scope::Full {
            let said = done(&tools, "run_command", json!({ "command": command })).unwrap();
            assert_eq!(
                said.output.contains("\na"),
                reads,
                "{scope:?}: {}",
                said.output
            );
        }
    }
    assert_eq!(everything_in(&stage.root()), before);
}

#[test]
fn p37_a_folder_with_very_many_entries_is_listed_in_part() {
    let stage = Stage::new();
    for number in 0..1_500 {
        fs::File::create(stage.project().join(format!("{number:05}"))).unwrap();
    }
    let listed = done(&stage.toolbox(), "list_directory", json!({ "path": "." })).unwrap();
    assert!(
        listed.is_cut
            && listed
                .output
                .ends_with("[500 further entries are left out]\n"),
        "{}",
        listed.output
    );
}

/// The variable that says that this process may mount.
const MAY_MOUNT: &str = "A_SOCIETY_TEST_MAY_MOUNT";

#[test]
fn p43_what_is_mounted_within_the_project_is_read_and_not_written() {
    if std::env::var_os(MAY_MOUNT).is_none() {
        let ran = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "--"])
            .arg(std::env::current_exe().unwrap())
            .args(["tool::tests::paths::p43_what_is_mounted_within_the_project_is_read_and_not_written", "--exact"])
            .env(MAY_MOUNT, "1")
            .output();
        let said =
            ran.map(|ran| String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned());
        match said {
            Ok(said) if said.contains("running 1 test") => {
                assert!(said.contains("test result: ok. 1 passed"), "{said}");
            }
            Ok(said) => not_measured(&said),
            Err(why) => not_measured(&why.to_string()),
        }
        return;
    }
    let stage = trapped();
    let tools = stage.toolbox();
    let mounted = stage.project().join("mounted");
    fs::create_dir(&mounted).unwrap();
    rustix::mount::mount_bind(stage.root().join("outer"), &mounted).unwrap();
    assert_eq!(
        output(&tools, "read_file", json!({ "path": "mounted/secret.txt" })),
        "1\tsecret\n"
    );
    for path in [
        "mounted/secret.txt",
        "mounted/new.txt",
        "mounted/new/deep.txt",
    ] {
        assert!(
            refuses(
                &tools,
                "write_file",
                json!({ "path": path, "content": "x" })
            ),
            "{path}"
        );
    }
    assert_eq!(stage.read("outer/secret.txt").as_deref(), Some("secret"));
    assert_eq!(fs::read_dir(stage.root().join("outer")).unwrap().count(), 1);
}

fn not_measured(why: &str) {
    use std::io::Write as _;

    // Not by `eprintln!`, which the test runner keeps to itself while a test passes.
    writeln!(
        std::io::stderr(),
        "NOT MEASURED: a folder that is mounted: {why}"
    )
    .unwrap();
}
