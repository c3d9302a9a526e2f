//! Skills that are good, and those that are not.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

const GOOD: &str = "---\nname: review\ndescription: >\n  Use it when code\n  is reviewed.\nlicense: MIT\n---\n\n# Review\n";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_head_of_a_skill_is_read_and_what_is_wrong_with_it_is_said() {
    let read = heading(GOOD, "review").unwrap();
    assert_eq!(
        (read.name.as_str(), read.description.as_str()),
        ("review", "Use it when code is reviewed.")
    );
    assert_eq!(
        heading(&GOOD.replace('\n', "\r\n"), "review").unwrap(),
        read
    );
    for (text, said) in [
        ("# Review", "does not begin"),
        ("---\nname: review\n", "does not end"),
        ("---\nname: review\n---\n", "no `description`"),
        ("---\ndescription: x\n---\n", "no `name`"),
        ("---\nname: [\n---\n", "no YAML"),
        (
            "---\nname: other\ndescription: x\n---\n",
            "lies in the folder \"review\"",
        ),
        ("---\nname: ../x\ndescription: x\n---\n", "is no name"),
        ("---\nname: review\ndescription: ''\n---\n", "0 bytes"),
        (
            "---\nname: review\ndescription: \"a\\u202eb\"\n---\n",
            "cannot be seen",
        ),
    ] {
        let fault = heading(text, "review").unwrap_err();
        assert!(fault.0.contains(said), "{text:?}: {fault}");
    }
}

#[test]
fn the_skills_of_a_folder_are_found_and_broken_ones_are_told() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "review/SKILL.md", GOOD);
    write(folder.path(), "broken/SKILL.md", "x");
    write(folder.path(), "empty/README.md", "x");
    write(folder.path(), "notes.md", "x");
    write(folder.path(), "elsewhere.md", GOOD);
    fs::create_dir(folder.path().join("linked")).unwrap();
    symlink("../elsewhere.md", folder.path().join("linked/SKILL.md")).unwrap();
    symlink("review", folder.path().join("review-2")).unwrap();
    let found = found(folder.path());
    let names: Vec<&str> = found
        .skills
        .iter()
        .map(|skill| skill.name.as_str())
        .collect();
    assert_eq!(names, ["review"]);
    assert!(found.skills[0].path.ends_with("review/SKILL.md"));
    let broken: Vec<_> = found
        .faults
        .iter()
        .map(|(path, _)| path.file_name().unwrap())
        .collect();
    assert_eq!(broken, ["broken", "empty", "linked", "review-2"]);
    assert_eq!(super::found(&folder.path().join("none")), Found::default());
}

#[test]
fn a_skill_is_taken_over_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (from, into) = (folder.path().join("review"), folder.path().join("skills"));
    fs::create_dir(&into).unwrap();
    write(&from, "SKILL.md", GOOD);
    write(&from, "scripts/run.sh", "echo");
    assert_eq!(import(&from, &into).unwrap().name, "review");
    assert_eq!(
        fs::read_to_string(into.join("review/scripts/run.sh")).unwrap(),
        "echo"
    );
    assert!(import(&from, &into).unwrap_err().0[0].contains("already"));

    fs::remove_dir_all(into.join("review")).unwrap();
    write(&from, ".git/config", "x");
    symlink("/etc/passwd", from.join("passwd")).unwrap();
    let faults = import(&from, &into).unwrap_err();
    assert_eq!(
        faults.0,
        [
            ".git is hidden; a skill shows all that it has",
            "passwd is neither a file nor a folder"
        ]
    );
    assert_eq!(fs::read_dir(&into).unwrap().count(), 0);
}

#[test]
fn what_became_a_link_or_grew_after_it_was_looked_at_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&from, "twelve bytes").unwrap();
    fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(import::copy_file(&from, &to, 12).unwrap(), 12);
    // The mask of the process may take the right away from others.
    let owner = fs::metadata(&to).unwrap().permissions().mode();
    assert_eq!(owner & 0o100, 0o100);
    let copied_again = import::copy_file(&from, &to, 12);
    assert!(
        copied_again.is_err(),
        "a file that is there was written over"
    );
    fs::remove_file(&to).unwrap();
    let grown = import::copy_file(&from, &to, 11).unwrap_err();
    assert!(grown.to_string().contains("grew"), "{grown}");
    fs::remove_file(&from).unwrap();
    symlink("/etc/passwd", &from).unwrap();
    assert!(import::copy_file(&from, &folder.path().join("c"), 1 << 20).is_err());
    assert!(!folder.path().join("c").exists());
}
