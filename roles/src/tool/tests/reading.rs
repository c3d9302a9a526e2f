//! What a model sees of files: which lines, under which numbers, and which notes in place of a text.

use a_society_facts::fact::turn::CallEnd;
use serde_json::{Value, json};

use super::stage::{Stage, done, output, plan};
use crate::tool::Toolbox;

fn said(tools: &Toolbox, given: Value) -> String {
    match done(tools, "read_file", given) {
        Ok(finished) => finished.output,
        Err(refusal) => refusal.text,
    }
}

#[test]
fn lines_come_byte_for_byte_under_their_numbers_in_every_spelling_of_a_range() {
    let stage = Stage::new();
    let text: String = (1..=118).map(|n| format!("  line\t{n} ä \n")).collect();
    stage.write("project/src/a.rs", &text);
    let tools = stage.toolbox();
    let expected = "[src/a.rs: lines 41-43 of 118; go on with offset 44]\n\
                    41\t  line\t41 ä \n42\t  line\t42 ä \n43\t  line\t43 ä \n";
    for given in [
        json!({ "path": "src/a.rs", "offset": 41, "limit": 3 }),
        json!({ "file_path": "src/a.rs", "offset": "41", "limit": "3" }),
        json!({ "absolutePath": "src/a.rs", "startLine": 41, "endLine": 43 }),
        json!({ "path": "src/a.rs", "first": 41, "last": 43 }),
        json!({ "path": "src/a.rs", "view_range": [41, 43] }),
        json!({ "path": "src/a.rs", "view_range": "[41, 43]" }),
    ] {
        assert_eq!(
            output(&tools, "read_file", given.clone()),
            expected,
            "{given}"
        );
    }
    let end = said(
        &tools,
        json!({ "path": "src/a.rs", "view_range": [118, -1] }),
    );
    assert_eq!(
        end,
        "[src/a.rs: lines 118-118 of 118]\n118\t  line\t118 ä \n"
    );
    let past = done(
        &tools,
        "read_file",
        json!({ "path": "src/a.rs", "offset": 200 }),
    )
    .unwrap();
    assert_eq!(past.end, CallEnd::Failed);
    assert_eq!(
        past.output,
        "src/a.rs has 118 lines; offset 200 is past the end."
    );
    let whole = said(&tools, json!({ "path": "src/a.rs" }));
    assert!(whole.starts_with("1\t  line\t1 ä \n") && whole.lines().count() == 118);
}

#[test]
fn a_file_is_shown_as_far_as_its_bound_of_bytes_and_its_middle_next() {
    let stage = Stage::new();
    let line = "x".repeat(99);
    let text: String = (1..=10_000).map(|n| format!("{n:06} {line}\n")).collect();
    stage.write("project/big.txt", &text);
    let tools = stage.toolbox();
    let first = said(&tools, json!({ "path": "big.txt" }));
    assert!(first.len() <= 50 * 1024 + 100);
    let head = first.lines().next().unwrap();
    let next: usize = head
        .rsplit(' ')
        .next()
        .unwrap()
        .trim_end_matches(']')
        .parse()
        .unwrap();
    assert_eq!(
        first.lines().count(),
        next,
        "the lines before the next, and the head"
    );
    let more = said(&tools, json!({ "path": "big.txt", "offset": next }));
    assert!(
        more.contains(&format!("\n{next}\t{next:06} {line}\n")),
        "{}",
        &more[..300]
    );
}

#[test]
fn a_file_that_is_too_large_to_be_read_at_once_goes_by_and_its_secrets_stay_out() {
    let stage = Stage::new();
    let key = format!("sk-ant-api03-{}", "Ab1_".repeat(24));
    let line = "y".repeat(120);
    let mut text: String = (1..=90_000).map(|n| format!("{n} {line}\n")).collect();
    text += &["key ", &key, "\nlast"].concat();
    stage.write("project/huge.log", &text);
    let tools = stage.toolbox();
    let some = said(
        &tools,
        json!({ "path": "huge.log", "offset": 80_000, "limit": 2 }),
    );
    assert_eq!(
        some,
        format!(
            "[huge.log: lines 80000-80001 of 90002; go on with offset 80002]\n\
             80000\t80000 {line}\n80001\t80001 {line}\n"
        )
    );
    let end = said(&tools, json!({ "path": "huge.log", "offset": 90_001 }));
    assert!(
        !end.contains(&key) && end.ends_with("90002\tlast\n"),
        "{end}"
    );
    let past = said(&tools, json!({ "path": "huge.log", "offset": 90_003 }));
    assert_eq!(
        past,
        "huge.log has 90002 lines; offset 90003 is past the end."
    );
}

#[test]
fn what_is_no_text_is_told_in_one_line() {
    let stage = Stage::new();
    let png = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
        &[0, 0, 2, 128, 0, 0, 1, 224],
    ]
    .concat();
    for (name, bytes) in [
        ("logo.png", png.as_slice()),
        ("a.bin", b"\0\x01"),
        ("empty", b""),
        ("wide.txt", b"\xff\xfea\0\n\0"),
        ("latin.txt", b"gr\xfcn\n"),
        ("marked.txt", "\u{feff}a\r\nb\r\n".as_bytes()),
    ] {
        std::fs::write(stage.project().join(name), bytes).unwrap();
    }
    std::fs::create_dir(stage.project().join("src")).unwrap();
    stage.write("project/src/main.rs", "fn main() {}\n");
    stage.write(".a-society/state/p/f/record/notes.md", "x\n");
    let tools = stage.toolbox();
    for (path, expected) in [
        (
            "logo.png",
            "logo.png is an image, 640 x 480, 24 bytes; this model gets no images.",
        ),
        ("a.bin", "a.bin is binary, 2 bytes."),
        ("empty", "[empty file]"),
        ("src", "src is a folder; use list_directory."),
        ("src/mian.rs", "No file src/mian.rs. Close: src/main.rs."),
        ("notes.md", "No file notes.md. Close: record/notes.md."),
        (
            "./record/notes.md",
            "No file ./record/notes.md. Close: record/notes.md.",
        ),
        ("nothing/like/it.rs", "No file nothing/like/it.rs."),
        (
            "wide.txt",
            "[the file is UTF-16, little-endian; it cannot be edited here]\n1\ta\n",
        ),
        ("marked.txt", "1\ta\n2\tb\n"),
    ] {
        assert_eq!(said(&tools, json!({ "path": path })), expected, "{path}");
    }
    let latin = said(&tools, json!({ "path": "latin.txt" }));
    assert!(
        latin.contains("not UTF-8") && latin.ends_with("1\tgr\u{fffd}n\n"),
        "{latin}"
    );
}

#[test]
fn a_model_with_a_small_window_gets_fewer_tools_and_fewer_lines() {
    let stage = Stage::new();
    stage.write("project/a.txt", &"x\n".repeat(1_000));
    let mut setting = stage.setting();
    setting.window_tokens = 32_768;
    let tools = Toolbox::open(setting).unwrap();
    let edit = tools
        .definitions()
        .iter()
        .find(|tool| tool.name == "edit_file");
    let schema = edit.unwrap().schema.get();
    assert!(
        schema.contains(r#""old_string":{"#) && !schema.contains("edits"),
        "{schema}"
    );
    for name in ["glob", "command_output", "todo", "apply_patch"] {
        assert!(
            tools.definitions().iter().all(|tool| tool.name != name),
            "{name}"
        );
    }
    let head = "[a.txt: lines 1-400 of 1000; go on with offset 401]\n";
    assert!(said(&tools, json!({ "path": "a.txt" })).starts_with(head));
    let edits = json!({ "path": "a.txt", "edits": [{ "old_string": "x\n", "new_string": "y\n", "replace_all": true }] });
    assert!(plan(&tools, "edit_file", edits).is_ok());
}
