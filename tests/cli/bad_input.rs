//! Bad input of every kind: a clear error and its exit code, nothing lost, and every other flow
//! still works.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;

use super::{ONE, TWO};
use crate::support::Workspace;

/// Does something to the journal of a flow.
type Spoil = fn(&Workspace, &str);

fn rewrite(workspace: &Workspace, flow: &str, change: impl Fn(&mut Vec<u8>)) {
    let segment = workspace.segment(flow);
    let mut bytes = std::fs::read(&segment).unwrap();
    change(&mut bytes);
    std::fs::write(segment, bytes).unwrap();
}

/// The same records, as a program of the future would write them.
pub(super) fn newer(workspace: &Workspace, flow: &str) {
    let segment = workspace.segment(flow);
    let text = std::fs::read_to_string(&segment).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let last = lines.pop().unwrap();
    let mut later = last.replacen("{\"v\":1,", "{\"v\":2,", 1).into_bytes();
    later.truncate(later.len() - ",\"crc\":\"00000000\"}".len());
    later.push(b'}');
    a_society_facts::line::seal(&mut later);
    lines.push(String::from_utf8(later).unwrap());
    std::fs::write(segment, lines.join("\n") + "\n").unwrap();
}

const SPOILS: [(&str, &str, Spoil); 13] = [
    (
        "a journal that is a file",
        "not-a-journal",
        |workspace, flow| {
            let journal = workspace.flow_folder(flow).join("journal");
            std::fs::remove_dir_all(&journal).unwrap();
            std::fs::write(journal, "x").unwrap();
        },
    ),
    (
        "a segment that is a folder",
        "not-a-journal",
        |workspace, flow| {
            std::fs::remove_file(workspace.segment(flow)).unwrap();
            std::fs::create_dir(workspace.segment(flow)).unwrap();
        },
    ),
    (
        "a segment that is a link",
        "not-a-journal",
        |workspace, flow| {
            let elsewhere = workspace.path().join("elsewhere.jsonl");
            std::fs::rename(workspace.segment(flow), &elsewhere).unwrap();
            symlink(elsewhere, workspace.segment(flow)).unwrap();
        },
    ),
    (
        "a journal folder that is a link",
        "not-a-journal",
        |workspace, flow| {
            let journal = workspace.flow_folder(flow).join("journal");
            let elsewhere = workspace.path().join("elsewhere");
            std::fs::rename(&journal, &elsewhere).unwrap();
            symlink(elsewhere, journal).unwrap();
        },
    ),
    (
        "a journal of zeros",
        "journal-damaged",
        |workspace, flow| {
            rewrite(workspace, flow, |bytes| bytes.fill(0));
        },
    ),
    (
        "an empty journal that was not",
        "journal-damaged",
        |workspace, flow| {
            rewrite(workspace, flow, Vec::clear);
        },
    ),
    (
        "the journal of another flow",
        "journal-damaged",
        |workspace, flow| {
            std::fs::copy(workspace.segment(TWO), workspace.segment(flow)).unwrap();
        },
    ),
    ("a journal of a newer version", "newer-version", newer),
    (
        "a journal with CRLF",
        "journal-damaged",
        |workspace, flow| {
            rewrite(workspace, flow, |bytes| {
                let text = String::from_utf8(std::mem::take(bytes)).unwrap();
                *bytes = text.replace('\n', "\r\n").into_bytes();
            });
        },
    ),
    (
        "a journal with a BOM",
        "journal-damaged",
        |workspace, flow| {
            rewrite(workspace, flow, |bytes| {
                bytes.splice(0..0, *b"\xef\xbb\xbf");
            });
        },
    ),
    (
        "two lines glued together",
        "journal-damaged",
        |workspace, flow| {
            rewrite(workspace, flow, |bytes| {
                let end = bytes.iter().position(|b| *b == b'\n').unwrap();
                bytes.remove(end);
            });
        },
    ),
    ("a line of 100 MB", "not-a-journal", |workspace, flow| {
        let segment = workspace.segment(flow);
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(segment)
            .unwrap();
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..100 {
            file.write_all(&piece).unwrap();
        }
    }),
    (
        "a segment that stands twice",
        "journal-damaged",
        |workspace, flow| {
            let second = workspace.flow_folder(flow).join("journal/00000002.jsonl");
            std::fs::copy(workspace.segment(flow), second).unwrap();
        },
    ),
];

#[test]
fn a_journal_that_was_damaged_before_its_end_while_nobody_drove_it_is_listed_as_damaged() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Spoilt");
    assert_eq!(workspace.run(&["rebuild", ONE]).code, 0);
    let listed = workspace.run(&["ls"]).out;
    assert!(listed.contains("waiting for you"), "{listed}");
    std::thread::sleep(std::time::Duration::from_millis(20));
    rewrite(&workspace, ONE, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4].copy_from_slice(b"\xff\xff\xff\xff");
    });
    let list = workspace.run(&["ls"]).out;
    let status = workspace.run(&["status", ONE]).out;
    for said in [list, status] {
        assert!(said.contains("damaged"), "{said}");
        assert!(!said.contains("waiting for you"), "{said}");
    }
}

#[test]
fn a_spoilt_journal_is_told_nothing_is_lost_and_every_other_flow_works() {
    for (name, code, spoil) in SPOILS {
        let workspace = Workspace::new();
        workspace.waiting("demo", ONE, "Spoilt");
        workspace.waiting("demo", TWO, "Sound");
        spoil(&workspace, ONE);
        let before = workspace.contents();

        let listed = workspace.run(&["ls"]);
        assert_eq!(listed.code, 0, "{name}: {listed:?}");
        assert!(listed.out.contains("damaged"), "{name}: {}", listed.out);
        assert!(
            listed.out.contains("the journal is damaged (R"),
            "{name}: {}",
            listed.out
        );
        let is_row = |line: &&str| line.starts_with("demo") && line.contains(TWO);
        let sound = listed.out.lines().find(is_row).unwrap();
        assert!(sound.contains("waiting for you"), "{name}: {sound}");

        assert_eq!(workspace.run(&["verify"]).code, 4, "{name}");
        assert_eq!(workspace.run(&["verify", TWO]).code, 0, "{name}");
        assert_eq!(workspace.run(&["show", ONE]).code, 4, "{name}");
        assert_eq!(workspace.run(&["show", TWO]).code, 0, "{name}");
        let rebuilt = workspace.run(&["rebuild", ONE]);
        assert_eq!(
            (rebuilt.code, rebuilt.out.as_str()),
            (4, ""),
            "{name}: {rebuilt:?}"
        );
        assert!(
            rebuilt.err.contains(&format!("error[{code}]")),
            "{name}: {}",
            rebuilt.err
        );
        let dry = workspace.run(&["repair", ONE, "--dry-run"]);
        let wanted = if code == "journal-damaged" { 0 } else { 4 };
        assert_eq!(dry.code, wanted, "{name}: {dry:?}");
        let mut after = workspace.contents();
        let mut before = before;
        for contents in [&mut before, &mut after] {
            contents.retain(|path, _| !path.ends_with("flow.lock"));
        }
        assert!(before == after, "{name}: something was changed");
    }
}

#[test]
fn a_spoilt_journal_that_can_be_repaired_is_whole_afterwards_and_keeps_every_byte() {
    for (name, code, spoil) in SPOILS {
        if code != "journal-damaged" {
            continue;
        }
        let workspace = Workspace::new();
        workspace.waiting("demo", ONE, "Spoilt");
        workspace.waiting("demo", TWO, "Sound");
        spoil(&workspace, ONE);
        let spoilt = std::fs::read(workspace.segment(ONE)).unwrap();
        let said = workspace.run(&["repair", ONE, "--apply"]);
        assert_eq!(said.code, 0, "{name}: {said:?}");
        assert_eq!(workspace.run(&["verify", ONE]).code, 0, "{name}");
        let mut kept = std::fs::read(workspace.segment(ONE)).unwrap();
        let quarantine = workspace.flow_folder(ONE).join("quarantine");
        for entry in std::fs::read_dir(quarantine).unwrap() {
            kept.extend(std::fs::read(entry.unwrap().path()).unwrap());
        }
        for line in spoilt
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
        {
            assert!(
                kept.windows(line.len()).any(|piece| piece == line),
                "{name}: a line is gone"
            );
        }
    }
}

#[test]
fn names_that_are_none_are_told_and_never_followed() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Sound");
    let state = workspace.state();
    for name in ["evil\u{1b}[2Jname", "trailing.", "a\nb"] {
        std::fs::create_dir(state.join(name)).unwrap();
        std::fs::create_dir(state.join("demo").join(name)).unwrap();
    }
    symlink("/", state.join("link")).unwrap();
    symlink(workspace.flow_folder(ONE), state.join("demo").join(TWO)).unwrap();
    std::fs::write(state.join("demo/file"), "x").unwrap();
    let said = workspace.run(&["ls"]);
    assert_eq!(said.code, 0);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    assert_eq!(said.err.matches("not a flow: ").count(), 9, "{}", said.err);
    assert!(
        !said.err.contains('\u{1b}') && said.err.contains("\\u{1b}"),
        "{}",
        said.err
    );
    assert_eq!(workspace.run(&["verify"]).code, 0);
    assert_eq!(workspace.run(&["show", TWO]).code, 3, "a link is no flow");
}

#[test]
fn a_flow_folder_without_a_journal_is_empty_and_not_damaged() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Sound");
    std::fs::create_dir(workspace.flow_folder(TWO)).unwrap();
    let said = workspace.run(&["ls"]);
    assert!(
        said.out.contains("empty") && said.out.contains("nothing was ever recorded in it"),
        "{}",
        said.out
    );
    assert_eq!(workspace.run(&["verify"]).code, 0);
    let shown = workspace.run(&["show", TWO]);
    assert!(
        shown.code == 0 && shown.out.contains("nothing was ever recorded"),
        "{shown:?}"
    );
    assert_eq!(workspace.run(&["log", TWO]).out, "");
    assert_eq!(workspace.run(&["rebuild", TWO]).code, 6);
    assert!(
        !workspace.flow_folder(TWO).join("journal").exists(),
        "and it stays empty"
    );
}

#[test]
fn a_workspace_folder_that_is_a_file_is_in_the_way() {
    let workspace = Workspace::new();
    std::fs::remove_dir(workspace.path().join(".a-society")).unwrap();
    std::fs::write(workspace.path().join(".a-society"), "x").unwrap();
    let said = workspace.run(&["ls"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("is in the way"), "{}", said.err);
}

/// A user who owns nothing.
const NOBODY: u32 = 65534;

/// Takes the right to write away from everybody, or gives it back to the owner.
fn set_writable(workspace: &Workspace, writable: bool) {
    let above = [".a-society", ".a-society/state"].map(|folder| workspace.path().join(folder));
    let below = workspace.contents().into_keys();
    for path in above.into_iter().chain(below) {
        let about = std::fs::symlink_metadata(&path).unwrap();
        let mode = match (about.is_dir(), writable) {
            (true, true) => 0o755,
            (true, false) => 0o555,
            (false, true) => 0o644,
            (false, false) => 0o444,
        };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn a_state_folder_that_is_read_only_can_be_read_and_says_why_it_cannot_be_written() {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    std::fs::set_permissions(workspace.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    set_writable(&workspace, false);
    // The superuser writes wherever they like, so another user tries.
    let is_root = std::fs::write(workspace.flow_folder(ONE).join("probe"), "").is_ok();
    let run = |words: &[&str]| {
        let mut command = workspace.command(words);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if run(&["--version"]).output().is_err() {
        let what = "a read-only state folder: no other user can run the program here";
        writeln!(std::io::stderr(), "NOT MEASURED: {what}").unwrap();
        set_writable(&workspace, true);
        return;
    }
    for words in [
        &["ls"][..],
        &["show", ONE],
        &["log", ONE],
        &["verify"],
        &["repair", ONE, "--dry-run"],
    ] {
        let said = workspace.heard(&mut run(words));
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
    }
    let said = workspace.heard(&mut run(&["rebuild", ONE]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err.contains("error[permission-denied]"),
        "{}",
        said.err
    );
    assert!(said.err.contains("  try: "), "{}", said.err);
    set_writable(&workspace, true);
    assert_eq!(workspace.run(&["verify"]).code, 0);
}

#[test]
fn a_full_disk_ends_the_writing_with_its_own_code_and_loses_nothing_acknowledged() {
    let workspace = Workspace::new();
    workspace.waiting("demo", TWO, "Sound");
    let words = format!(
        "trap '' XFSZ; ulimit -f 40; exec {} __scenario --flow {ONE} --project demo --steps 400",
        env!("CARGO_BIN_EXE_a-society")
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &words]).current_dir(workspace.path());
    let said = workspace.heard(&mut command);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("error[disk-full]"), "{}", said.err);
    let acknowledged = said
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("ack "))
        .next_back();
    let acknowledged: usize = acknowledged.unwrap().parse().unwrap();
    let log = workspace.run(&["log", ONE, "--json"]);
    assert_eq!(log.code, 0, "{log:?}");
    assert!(log.out.lines().count() >= acknowledged, "{acknowledged}");
    assert_eq!(workspace.run(&["verify"]).code, 0);

    let scenario = [
        "__scenario",
        "--flow",
        ONE,
        "--project",
        "demo",
        "--steps",
        "40",
        "--resume",
    ];
    let said = workspace.run(&scenario);
    assert_eq!(said.code, 0, "with room again it goes on: {said:?}");
}
