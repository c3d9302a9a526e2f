//! Output without what differs from run to run: ages, sizes, versions, blanks between columns.

/// The text with every age as `AGE`, every size as `SIZE`, every place in a file as `PLACE` and the
/// version as `VERSION`.
pub(crate) fn steady(text: &str) -> String {
    let text = text.replace(
        concat!("a-society/", env!("CARGO_PKG_VERSION")),
        "a-society/VERSION",
    );
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n")
}

fn line(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut words: Vec<String> = Vec::new();
    for part in line
        .trim_start()
        .split("  ")
        .filter(|part| !part.is_empty())
    {
        let part = part.trim();
        let steady: Vec<String> = part.split(' ').map(age).collect();
        words.push(sizes(&steady.join(" ")));
    }
    format!("{}{}", " ".repeat(indent), words.join("  "))
}

/// `177d`, with or without a bracket before it, is an age.
fn age(word: &str) -> String {
    let bare = word.trim_start_matches('(').trim_end_matches(')');
    let digits = bare.trim_end_matches(['s', 'm', 'h', 'd']);
    let is_age = digits.len() + 1 == bare.len()
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit());
    if is_age {
        word.replace(bare, "AGE")
    } else {
        word.to_owned()
    }
}

/// A number before a unit of bytes is a size, and one after `byte` is a place.
fn sizes(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if words[at - 1] == "byte" {
            let digits = words[at]
                .trim_end_matches(|c: char| !c.is_ascii_digit())
                .to_owned();
            words[at] = words[at].replace(&digits, "PLACE");
        }
        let unit = words[at].trim_end_matches([',', ')', ';']);
        if ["B", "KiB", "MiB", "GiB"].contains(&unit) {
            words[at - 1] = "SIZE".to_owned();
        }
    }
    words.join(" ")
}

#[test]
fn what_differs_from_run_to_run_is_made_the_same() {
    assert_eq!(
        steady("a    b  177d\n  (3h ago) 1.5 KiB, x"),
        "a  b  AGE\n  (AGE ago) SIZE KiB, x"
    );
    assert_eq!(
        steady("at byte 12 (x), byte 7: y"),
        "at byte PLACE (x), byte PLACE: y"
    );
    assert_eq!(steady("m5 1d2 d"), "m5 1d2 d");
}
