//! Patches in tables: what is read, where it is found, and in which words it is refused.

use proptest::prelude::*;

use super::patch::{PatchedFile, sections};
use super::{Knowledge, patched};

fn whole(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// The text after a patch of one file, and how places were found; or the refusal.
fn one(text: &str, body: &str) -> Result<(String, String), String> {
    let read = sections(&whole(&format!("*** Update File: f\n{body}")))?;
    let PatchedFile::Update(hunks) = &read[0].change else {
        panic!("no update");
    };
    patched("f", text, hunks, Knowledge::Seen).map(|done| (done.text, done.notes.concat()))
}

fn ok(text: &str) -> Result<(String, String), String> {
    Ok((text.to_owned(), String::new()))
}

#[test]
fn a_patch_is_read_file_by_file_also_wrapped_as_for_a_shell() {
    let patch = whole(
        "*** Update File: a b.rs\n@@ fn a() {\n one\n-two\n+2\n*** End of File\n\
         *** Add File: new.md\n+# New\n+\n+text\n*** Delete File: old.md\n",
    );
    let read = sections(&patch).unwrap();
    let paths: Vec<&str> = read.iter().map(|section| section.path.as_str()).collect();
    assert_eq!(paths, ["a b.rs", "new.md", "old.md"]);
    let PatchedFile::Update(hunks) = &read[0].change else {
        panic!("no update");
    };
    assert_eq!(hunks.len(), 1);
    assert_eq!(hunks[0].heads, ["fn a() {"]);
    assert_eq!(
        (hunks[0].old.as_slice(), hunks[0].new.as_slice()),
        (
            &["one".to_owned(), "two".to_owned()][..],
            &["one".to_owned(), "2".to_owned()][..]
        )
    );
    assert!(hunks[0].is_last);
    assert_eq!(
        read[1].change,
        PatchedFile::Add("# New\n\ntext\n".to_owned())
    );
    assert_eq!(read[2].change, PatchedFile::Delete);
    for wrapped in [
        format!("apply_patch <<'EOF'\n{patch}EOF\n"),
        format!("<<EOF\n{patch}EOF"),
        patch.replace('\n', "\r\n"),
        format!("\n{patch}"),
    ] {
        assert_eq!(sections(&wrapped).as_ref(), Ok(&read), "{wrapped}");
    }
}

#[test]
fn what_is_no_patch_is_refused_with_its_line() {
    for (patch, why) in [
        ("", "The patch does not begin with `*** Begin Patch`."),
        ("--- a\n+++ b\n", "does not begin with"),
        ("*** Begin Patch\n*** End Patch", "The patch names no file."),
        (
            "*** Begin Patch\n*** Update File: a\n-x\n+y\n",
            "has no `*** End Patch`, so its end may be missing",
        ),
        (
            "*** Begin Patch\nx\n*** End Patch",
            "Line 2 of the patch, `x`, belongs to no file",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch",
            "Line 4 of the patch, `x`, does not start with a space, - or +",
        ),
        (
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            "is in a new file and does not start with +",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
            "is in a file that the patch deletes",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch",
            "add it under its new name and delete the old one",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch",
            "The patch changes no line of a.",
        ),
        (
            "*** Begin Patch\n*** Add File:\n+x\n*** End Patch",
            "A file of the patch has no path.",
        ),
    ] {
        let said = sections(patch).unwrap_err();
        assert!(said.contains(why), "{patch:?}: {said}");
    }
    let many: String = (0..21)
        .map(|n| format!("*** Add File: {n}\n+x\n"))
        .collect();
    let said = sections(&whole(&many)).unwrap_err();
    assert!(said.contains("names 21 files; 20 are allowed"), "{said}");
}

#[test]
fn hunks_change_the_lines_that_they_name_and_no_others() {
    let text = "a\nb\nc\nd\n";
    for (body, after) in [
        ("@@\n a\n-b\n+B\n c\n", "a\nB\nc\nd\n"),
        ("-b\n", "a\nc\nd\n"),
        ("@@\n-a\n+A\n@@\n-d\n+D\n", "A\nb\nc\nD\n"),
        ("@@ b\n-c\n+C\n", "a\nb\nC\nd\n"),
        // Lines that only come: behind the line that is named, or at the end.
        ("@@ b\n+x\n", "a\nb\nx\nc\nd\n"),
        ("@@\n+x\n", "a\nb\nc\nd\nx\n"),
        ("@@\n-d\n+D\n*** End of File\n", "a\nb\nc\nD\n"),
        // Numbers of lines are of another format and say nothing.
        ("@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\nc\nd\n"),
        // In the other order, where there is no doubt.
        ("@@\n-d\n+D\n@@\n-a\n+A\n", "A\nb\nc\nD\n"),
        // A blank line that only parts it from what follows.
        ("@@\n-b\n+B\n\n", "a\nB\nc\nd\n"),
        ("@@\n-a\n-b\n-c\n-d\n", ""),
    ] {
        assert_eq!(one(text, body), ok(after), "{body:?}");
    }
    assert_eq!(one("a\nb", "@@\n-b\n+c\n"), ok("a\nc"));
    assert_eq!(one("", "@@\n+x\n"), ok("x\n"));
}

#[test]
fn a_line_to_find_chooses_between_equal_places() {
    let text = "fn a() {\n    run();\n}\nfn b() {\n    run();\n}\nfn c() {\n    run();\n}\n";
    let body = "@@ fn b() {\n-    run();\n+    stop();\n";
    assert_eq!(
        one(text, body),
        ok(&text
            .replacen("run", "x", 1)
            .replacen("run", "stop", 1)
            .replacen("x", "run", 1))
    );
    assert_eq!(
        one(text, "@@\n-    run();\n+    stop();\n"),
        Err(
            "Hunk 1 of 1 in f: 3 places fit, lines 2, 5, 8. Add context lines, or a line to find \
             behind @@. Nothing was changed."
                .to_owned()
        )
    );
    // Two lines to find, one behind the other.
    let text = "class A\n  def f\n    x\nclass B\n  def f\n    x\n";
    let body = "@@ class B\n@@ def f\n-    x\n+    y\n";
    assert_eq!(
        one(text, body),
        ok("class A\n  def f\n    x\nclass B\n  def f\n    y\n")
    );
    assert_eq!(
        one(text, "@@ class C\n-    x\n+    y\n"),
        Err("Hunk 1 of 1 in f: no line `class C` to begin at. Nothing was changed.".to_owned())
    );
    // The second of two equal places, because the first is behind us.
    assert_eq!(
        one("x\na\nx\n", "@@\n-x\n+1\n a\n@@\n-x\n+2\n"),
        ok("1\na\n2\n")
    );
    assert!(
        one("a\nb\n", "@@\n-a\n-b\n+x\n@@\n-b\n+y\n")
            .unwrap_err()
            .contains("change the same lines")
    );
}

#[test]
fn lines_that_are_not_there_are_refused_with_what_is_most_alike() {
    let text = "fn a() {\n    call(1, 2);\n}\n";
    let said = one(text, "@@\n-    call(1, 3);\n+    x();\n").unwrap_err();
    assert_eq!(
        said,
        "Hunk 1 of 1 in f: no such lines. Nothing was changed. Most alike, lines 2-2:\n2\t    call(1, 2);"
    );
    assert_eq!(
        one("a  \nb\n", "@@\n-a\n+x\n"),
        Ok((
            "x\nb\n".to_owned(),
            "[matched but for space at ends of lines; look at it]".to_owned()
        ))
    );
    // Other space within a line is another line.
    assert!(one("    a\n", "@@\n-a\n+x\n").is_err());
}

proptest! {
    /// Whatever a patch is found to say, the lines around its place stay as they are.
    #[test]
    fn a_hunk_changes_only_its_own_lines(
        head in proptest::collection::vec("[ab]{0,2}", 0..5),
        old in proptest::collection::vec("[abc]{1,2}", 1..3),
        new in proptest::collection::vec("[xy]{1,2}", 0..3),
        tail in proptest::collection::vec("[ab]{0,2}", 0..5),
    ) {
        let lines = |parts: &[&[String]]| {
            parts.concat().iter().map(|line| format!("{line}\n")).collect::<String>()
        };
        let text = lines(&[&head, &old, &tail]);
        let signed = |sign: &str, lines: &[String]| {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        let body = format!("@@\n{}{}", signed("-", &old), signed("+", &new));
        if let Ok((after, note)) = one(&text, &body) {
            prop_assert_eq!(after, lines(&[&head, &new, &tail]));
            prop_assert_eq!(note, "");
        }
    }

    #[test]
    fn no_text_makes_the_reader_of_patches_panic(text in "[*@ +\\-a\n]{0,60}") {
        drop(sections(&text));
        drop(sections(&whole(&text)));
        drop(one("a\n\n a\n", &text));
    }
}
