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
            "is in the folder \"review\"",
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
    assert_eq!(
        super::found(&folder.path().join("none")),
        FoundSkills::default()
    );
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

fn new(name: &str, description: &str, text: &str) -> NewSkill {
    NewSkill {
        name: name.to_owned(),
        description: description.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn a_skill_is_written_and_what_else_its_head_says_stays_when_it_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let skills = folder.path().join("skills");
    let made = put(
        &skills,
        &new("tables", "How: \"tables\"\nare set.", "Lines.\n\n"),
        None,
    )
    .unwrap();
    let read = |name: &str| fs::read_to_string(skills.join(name).join("SKILL.md")).unwrap();
    assert_eq!(
        read("tables"),
        "---\nname: tables\ndescription: \"How: \\\"tables\\\" are set.\"\n---\n\nLines.\n"
    );
    assert_eq!(made.description, "How: \"tables\" are set.");
    let line = told(&made);
    assert!(line.starts_with("- `tables` (`"), "{line}");
    assert!(line.ends_with("are set."), "{line}");
    assert_eq!(found(&skills).skills, [made]);
    let again = put(&skills, &new("tables", "x", "y"), None);
    assert_eq!(again, Err(SkillEditFault::Taken("tables".to_owned())));

    write(&skills, "review/SKILL.md", GOOD);
    write(&skills, "review/scripts/run.sh", "echo");
    let sight = look(&skills, "review").unwrap();
    assert_eq!(sight.text, "# Review\n");
    assert_eq!(sight.files.len(), 2);
    let version = sight.version.to_string();
    put(
        &skills,
        &new("review", "For code.", "# Review\n"),
        Some(&version),
    )
    .unwrap();
    assert_eq!(
        read("review"),
        "---\nname: review\ndescription: \"For code.\"\nlicense: MIT\n---\n\n# Review\n"
    );
    let version = look(&skills, "review").unwrap().version.to_string();
    put(
        &skills,
        &new("review", " For  code. ", "Two."),
        Some(&version),
    )
    .unwrap();
    assert_eq!(
        read("review"),
        "---\nname: review\ndescription: \"For code.\"\nlicense: MIT\n---\n\nTwo.\n"
    );
}

#[test]
fn a_skill_keeps_its_line_ends_and_one_whose_head_means_nothing_gets_another() {
    let folder = tempfile::tempdir().unwrap();
    let skills = folder.path();
    let read = |name: &str| fs::read_to_string(skills.join(name).join("SKILL.md")).unwrap();
    write(
        skills,
        "dos/SKILL.md",
        "---\r\nname: dos\r\ndescription: x\r\n---\r\n\r\na\r\nb\r\n",
    );
    let sight = look(skills, "dos").unwrap();
    assert_eq!(sight.text, "a\nb\n");
    put(
        skills,
        &new("dos", "y", "a\nc"),
        Some(&sight.version.to_string()),
    )
    .unwrap();
    assert_eq!(
        read("dos"),
        "---\r\nname: dos\r\ndescription: \"y\"\r\n---\r\n\r\na\r\nc\r\n"
    );
    write(skills, "broken/SKILL.md", "Words.\n");
    let sight = look(skills, "broken").unwrap();
    assert_eq!(
        (sight.description.as_str(), sight.text.as_str()),
        ("", "Words.\n")
    );
    assert!(sight.faults[0].contains("does not begin"));
    put(
        skills,
        &new("broken", "Mended.", "Words."),
        Some(&sight.version.to_string()),
    )
    .unwrap();
    assert!(look(skills, "broken").unwrap().faults.is_empty());
}

#[test]
fn a_skill_that_another_editor_changed_is_neither_written_over_nor_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let skills = folder.path();
    write(skills, "review/SKILL.md", GOOD);
    let seen = look(skills, "review").unwrap().version.to_string();
    write(skills, "review/scripts/run.sh", "echo");
    let changed = Err(SkillEditFault::Changed("review".to_owned()));
    assert_eq!(
        put(skills, &new("review", "x", "y"), Some(&seen)).map(|_| ()),
        changed
    );
    assert_eq!(remove(skills, "review", &seen).map(|_| ()), changed);
    assert_eq!(
        fs::read_to_string(skills.join("review/SKILL.md")).unwrap(),
        GOOD
    );
    let seen = look(skills, "review").unwrap().version.to_string();
    remove(skills, "review", &seen).unwrap();
    assert_eq!(fs::read_dir(skills).unwrap().count(), 0);
    assert_eq!(
        remove(skills, "review", &seen),
        Err(SkillEditFault::None("review".to_owned()))
    );
}

#[test]
fn no_skill_is_written_outside_its_folder_or_so_that_it_would_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let skills = folder.path().join("skills");
    for (name, description) in [
        ("../x", "a"),
        ("", "a"),
        ("Up", "a"),
        ("fine", ""),
        ("fine", "a\u{202e}b"),
    ] {
        let refused = put(&skills, &new(name, description, "text"), None);
        assert!(
            matches!(refused, Err(SkillEditFault::Unfit(_))),
            "{refused:?}"
        );
        assert!(plan(&skills, &new(name, description, "text"), None).is_err());
    }
    let long = "x".repeat(300 * 1024);
    assert!(put(&skills, &new("fine", "a", &long), None).is_err());
    write(folder.path(), "elsewhere/SKILL.md", GOOD);
    symlink("../elsewhere", skills.join("linked")).unwrap();
    assert!(matches!(
        look(&skills, "linked"),
        Err(SkillEditFault::ByHand(_))
    ));
    assert!(matches!(
        remove(&skills, "linked", ""),
        Err(SkillEditFault::ByHand(_))
    ));
    assert!(matches!(look(&skills, ".."), Err(SkillEditFault::None(_))));
    assert_eq!(fs::read_dir(&skills).unwrap().count(), 1);
}
