//! `export` and `import`: a flow as one file, whole or not at all.

use std::os::unix::fs::symlink;

use super::{ONE, TWO};
use crate::support::Workspace;

fn one_flow() -> Workspace {
    let workspace = Workspace::new();
    workspace.waiting("demo", ONE, "Release");
    workspace
}

#[test]
fn a_flow_goes_from_one_workspace_into_another() {
    let workspace = one_flow();
    std::fs::create_dir_all(workspace.flow_folder(ONE).join("record/artifacts")).unwrap();
    std::fs::write(
        workspace.flow_folder(ONE).join("record/artifacts/notes.md"),
        "notes",
    )
    .unwrap();
    let said = workspace.run(&["export", ONE, "flow.tar"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let archive = workspace.path().join("flow.tar");

    let other = Workspace::new();
    let said = other.run(&["import", archive.to_str().unwrap()]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    assert_eq!(
        other.run(&["log", ONE, "--json"]).out,
        workspace.run(&["log", ONE, "--json"]).out
    );
    assert_eq!(other.run(&["verify"]).code, 0);
    let notes = other.flow_folder(ONE).join("record/artifacts/notes.md");
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "notes");

    let said = other.run(&["import", archive.to_str().unwrap()]);
    assert_eq!(said.code, 6, "a flow is never overwritten");
    assert!(said.err.contains("error[flow-exists]"), "{}", said.err);
    let said = other.run(&["import", archive.to_str().unwrap(), "--project", "copies"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(other.run(&["show", "copies/a1"]).code, 0);
}

#[test]
fn an_archive_goes_through_pipes() {
    let workspace = one_flow();
    let output = workspace.command(&["export", ONE, "-"]).output().unwrap();
    assert!(output.status.success());
    let other = Workspace::new();
    let said = other.run_with(&["import", "-", "--json"], &output.stdout);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["flow"], ONE);
    assert_eq!(other.run(&["ls"]).out.lines().count(), 2);
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let workspace = one_flow();
    let target = workspace.path().join("flow.tar");
    std::fs::write(&target, "mine").unwrap();
    let said = workspace.run(&["export", ONE, "flow.tar"]);
    assert_eq!(said.code, 6);
    assert!(said.err.contains("error[file-exists]"), "{}", said.err);
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    assert_eq!(
        workspace.run(&["export", ONE, "flow.tar", "--force"]).code,
        0
    );
    assert!(std::fs::metadata(&target).unwrap().len() > 1000);
}

#[test]
fn links_folders_and_devices_are_never_written_to() {
    let workspace = one_flow();
    let place = workspace.path();
    std::fs::write(place.join("mine"), "mine").unwrap();
    symlink("nowhere", place.join("dangling")).unwrap();
    symlink("mine", place.join("link")).unwrap();
    std::fs::create_dir(place.join("folder")).unwrap();
    for target in ["dangling", "link", "folder", "/dev/null", "folder/.."] {
        for words in [
            &["export", ONE, target][..],
            &["export", ONE, target, "--force"],
        ] {
            let said = workspace.run(words);
            assert_eq!(said.code, 6, "{words:?}: {said:?}");
        }
    }
    assert_eq!(std::fs::read(place.join("mine")).unwrap(), b"mine");
    assert!(!place.join("nowhere").exists());
    assert_eq!(
        workspace.run(&["export", ONE, "no/such/folder.tar"]).code,
        3
    );
}

#[test]
fn an_export_that_fails_leaves_nothing_behind_and_the_old_file_alone() {
    let workspace = one_flow();
    std::fs::write(workspace.path().join("kept.tar"), "mine").unwrap();
    for target in ["new.tar", "kept.tar"] {
        // Files may not grow beyond a few blocks, as on a disk that fills up.
        let words = format!(
            "trap '' XFSZ; ulimit -f 4; exec {} export {ONE} {target} --force",
            env!("CARGO_BIN_EXE_a-society")
        );
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &words]).current_dir(workspace.path());
        let said = workspace.heard(&mut command);
        assert_eq!(said.code, 7, "{said:?}");
        assert!(said.err.contains("error[disk-full]"), "{}", said.err);
    }
    let names: Vec<String> = std::fs::read_dir(workspace.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let ours = |name: &&String| name.as_str() != ".a-society";
    assert_eq!(names.iter().filter(ours).collect::<Vec<_>>(), ["kept.tar"]);
    let kept = std::fs::read(workspace.path().join("kept.tar")).unwrap();
    assert_eq!(kept, b"mine");
}

#[test]
fn an_archive_that_is_cut_or_changed_is_not_taken() {
    let workspace = one_flow();
    assert_eq!(workspace.run(&["export", ONE, "flow.tar"]).code, 0);
    let whole = std::fs::read(workspace.path().join("flow.tar")).unwrap();
    let other = Workspace::new();
    let mut flipped = whole.clone();
    let at = flipped
        .windows(12)
        .position(|w| w == b"flow_created")
        .unwrap();
    flipped[at] ^= 1;
    let mut cases = vec![
        Vec::new(),
        b"not an archive\n".to_vec(),
        vec![0; 2048],
        flipped,
    ];
    for share in 1..8 {
        cases.push(whole[..whole.len() * share / 8].to_vec());
    }
    for (number, bytes) in cases.iter().enumerate() {
        let said = other.run_with(&["import", "-"], bytes);
        assert_eq!(said.code, 4, "case {number}: {said:?}");
        assert!(
            said.err.contains("error[archive-unfit]"),
            "case {number}: {}",
            said.err
        );
        assert!(
            !said.err.contains(".coming-"),
            "case {number}: {}",
            said.err
        );
        let listed = other.run(&["ls", "--json", "--all"]).json();
        assert_eq!(listed["flows"], serde_json::json!([]), "case {number}");
        assert_eq!(listed["strangers"], serde_json::json!([]), "case {number}");
    }
    let folder = other.run(&["import", "."]);
    assert_eq!(folder.code, 1, "{folder:?}");
    assert_eq!(other.run(&["import", "nowhere.tar"]).code, 3);
}

#[test]
fn a_damaged_flow_travels_as_it_is() {
    let workspace = one_flow();
    workspace.waiting("demo", TWO, "Damaged");
    let segment = workspace.segment(TWO);
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[300] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let said = workspace.run(&["export", TWO, "flow.tar"]);
    assert_eq!(said.code, 0);
    assert!(
        said.err
            .contains("the flow is damaged and was exported as it is"),
        "{}",
        said.err
    );
    let other = Workspace::new();
    let archive = workspace.path().join("flow.tar");
    let said = other.run(&["import", archive.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("was damaged when it was exported"),
        "{}",
        said.err
    );
    assert!(std::fs::read(other.segment(TWO)).unwrap() == bytes);
    assert_eq!(other.run(&["verify"]).code, 4);
}

#[test]
fn a_flow_is_written_into_one_page_without_what_looks_like_a_secret() {
    let workspace = Workspace::new();
    let secret = format!("ghp_{}", "canary12".repeat(4));
    workspace.waiting("demo", ONE, &format!("Release <b> {secret}"));
    let said = workspace.run(&["export", "--html", ONE]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains(&format!("into {ONE}.html")), "{said:?}");
    assert!(said.err.contains("secrets were taken out of"), "{said:?}");
    let page = std::fs::read_to_string(workspace.path().join(format!("{ONE}.html"))).unwrap();
    assert!(page.contains("<title>Release &lt;b&gt; [secret withheld]</title>"));
    assert!(!page.contains(&secret));
    assert!(page.contains("default-src 'none'"));

    let said = workspace.run(&["export", "--html", ONE]);
    assert_eq!(said.code, 6, "what is there is not replaced: {said:?}");
    let less = [
        "export",
        "--html",
        ONE,
        "--output",
        "-",
        "--without",
        "bodies,transcripts,requests,events,files",
    ];
    let out = workspace.command(&less).output().unwrap().stdout;
    assert!(!out.is_empty() && out.len() < page.len());
    assert_eq!(
        workspace.run(&["export", ONE]).code,
        2,
        "an archive has a name"
    );
}
