//! `__scenario`: what the crash tests drive behaves as they take for granted.

use super::ONE;
use crate::support::{Said, Workspace};

fn run(workspace: &Workspace, steps: &str, more: &[&str]) -> Said {
    let words = [
        "__scenario",
        "--flow",
        ONE,
        "--project",
        "demo",
        "--steps",
        steps,
    ];
    workspace.run(&[&words[..], more].concat())
}

fn last(said: &Said, word: &str) -> Option<u64> {
    let lines = said.out.lines().rev();
    lines
        .filter_map(|line| line.strip_prefix(word)?.parse().ok())
        .next()
}

#[test]
fn the_same_words_make_the_same_bytes() {
    let words = [
        "--rotate-at",
        "4000",
        "--checkpoint-at",
        "3000",
        "--seed",
        "7",
    ];
    let made = [(); 2].map(|()| {
        let workspace = Workspace::new();
        let said = run(&workspace, "30", &words);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let contents = workspace.contents();
        // `views.json` says when the file system last saw the journal change, which is not ours.
        let bytes: Vec<(String, Vec<u8>)> = contents
            .into_iter()
            .filter(|(path, _)| !path.ends_with("views.json"))
            .map(|(path, bytes)| {
                let inside = path.strip_prefix(workspace.path()).unwrap();
                (inside.to_string_lossy().into_owned(), bytes)
            })
            .collect();
        (said.out, bytes)
    });
    assert!(made[0] == made[1]);
    let names: Vec<&str> = made[0].1.iter().map(|(name, _)| name.as_str()).collect();
    for wanted in [
        "00000003.jsonl",
        "checkpoint.json",
        "transcript.json",
        "blobs/",
    ] {
        assert!(
            names.iter().any(|name| name.contains(wanted)),
            "{wanted}: {names:?}"
        );
    }
}

#[test]
fn resuming_says_what_was_there_and_goes_on_from_it() {
    let workspace = Workspace::new();
    let first = run(&workspace, "10", &["--resume"]);
    assert_eq!(
        (first.code, last(&first, "folded ")),
        (0, Some(0)),
        "nothing was there"
    );
    let again = run(&workspace, "10", &["--resume"]);
    assert_eq!(last(&again, "folded "), last(&first, "ack "));
    assert_eq!(
        again.out.lines().count(),
        2,
        "nothing is left to do: {again:?}"
    );
    let further = run(&workspace, "20", &["--resume"]);
    assert!(last(&further, "ack ") > last(&first, "ack "), "{further:?}");
    assert_eq!(workspace.run(&["verify"]).code, 0);
    let shown = workspace.run(&["show", ONE]).out;
    assert!(shown.contains("scenario, step 20"), "{shown}");
    assert_eq!(
        run(&workspace, "20", &[]).code,
        6,
        "without --resume it must be new"
    );
}
