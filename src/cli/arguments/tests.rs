//! Help texts are wrapped once, and every command line that they or a document show can be typed.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::error::ErrorKind;

use super::{Arguments, HELP_COLUMNS, HelpPage, pages};

/// What makes what follows another command.
const NEXT: [&str; 4] = ["|", "&&", "&", ";"];

/// A paragraph that is broken in the source would be broken once more by clap, which leaves single
/// words on lines.
#[test]
fn each_paragraph_of_a_help_text_is_one_line_that_clap_wraps() {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let is_wide = |line: &&&str| !is_prose(line) && line.chars().count() > HELP_COLUMNS;
    for HelpPage { words, command } in pages() {
        let texts = [command.get_after_help(), command.get_long_about()];
        for text in texts.into_iter().flatten().map(ToString::to_string) {
            let lines: Vec<&str> = text.lines().collect();
            let mut pairs = lines.windows(2);
            let broken = pairs
                .find(|pair| is_prose(pair[0]) && is_prose(pair[1]) && !pair[0].ends_with(':'));
            assert_eq!(broken, None, "{words:?}");
            assert_eq!(lines.iter().find(is_wide), None, "{words:?}");
        }
    }
}

#[test]
fn every_command_line_in_documents_can_be_typed() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    documents(root, &mut files);
    documents(&root.join("docs"), &mut files);
    documents(&root.join("docs/guide"), &mut files);
    for entry in std::fs::read_dir(root.join("examples")).unwrap() {
        documents(&entry.unwrap().path(), &mut files);
    }
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let place = file.display().to_string();
        count += typed_in(&text)
            .iter()
            .map(|line| expect_typed(line, &place))
            .sum::<usize>();
    }
    assert!(count > 50, "only {count} command lines were found");
}

#[test]
fn every_example_of_a_help_text_can_be_typed() {
    for HelpPage { words, command } in pages() {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default().replace("\\\n", " ");
        let examples = help.lines().filter_map(|line| line.strip_prefix("  "));
        for line in examples.filter(|line| !line.starts_with(' ')) {
            let line = line.split("   ").next().unwrap_or_default();
            expect_typed(line, &words.join(" "));
        }
    }
}

fn documents(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
}

/// The lines of a document that are typed: blocks of `sh`, and of a `console` what follows a `$`.
fn typed_in(text: &str) -> Vec<String> {
    let mut language = "";
    let mut typed = Vec::new();
    for line in text.replace("\\\n", " ").lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            let first = info.split(' ').next().unwrap_or_default();
            language = match first {
                "sh" => "sh",
                "console" => "console",
                _ => "",
            };
        } else if language == "sh" {
            typed.push(line.to_owned());
        } else if let Some(line) = line.strip_prefix("$ ").filter(|_| language == "console") {
            typed.push(line.to_owned());
        }
    }
    typed
}

/// Parses each command of a line that is this program's, and gives how many there were.
fn expect_typed(line: &str, place: &str) -> usize {
    let commands = commands(line);
    let ours = commands.iter().filter(|words| words[0] == "a-society");
    for words in ours.clone() {
        if let Err(error) = Arguments::try_parse_from(words) {
            let is_help = matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            );
            assert!(is_help, "{place}: {line}\n{error}");
        }
    }
    ours.count()
}

/// The commands of a line of a shell, each as its words. Redirections are left out.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut line = line.to_owned();
    while let Some(at) = line.find("$(") {
        let end = line[at..].find(')').map_or(line.len(), |end| at + end);
        found.extend(commands(&line[at + 2..end]));
        line.replace_range(at..(end + 1).min(line.len()), "a1b2");
    }
    let mut command: Vec<String> = Vec::new();
    let mut words = words(&line).into_iter();
    while let Some((word, is_quoted)) = words.next() {
        if !is_quoted && word.starts_with('#') {
            break;
        }
        if !is_quoted && NEXT.contains(&word.as_str()) {
            found.push(std::mem::take(&mut command));
        } else if !is_quoted && [">", ">>", "<", "2>"].contains(&word.as_str()) {
            words.next();
        } else if is_quoted || word != "2>&1" {
            command.push(word);
        }
    }
    found.push(command);
    found.retain(|command| !command.is_empty());
    found
}

/// The words of a line, each with whether any of it was quoted.
fn words(line: &str) -> Vec<(String, bool)> {
    let mut words = Vec::new();
    let mut word: Option<(String, bool)> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default().1 = true;
            }
            (Some(open), _) if open == c => quote = None,
            (None, ' ') => words.extend(word.take()),
            (None, ';') => {
                words.extend(word.take());
                words.push((c.to_string(), false));
            }
            _ => word.get_or_insert_default().0.push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn commands_are_found_in_a_line_of_a_shell() {
    let found = commands(
        "git log | a-society run 'a b' > x && a-society ls; echo \"$(a-society show c)\" # a-society",
    );
    let found: Vec<String> = found.iter().map(|words| words.join("|")).collect();
    assert_eq!(
        found,
        [
            "a-society|show|c",
            "git|log",
            "a-society|run|a b",
            "a-society|ls",
            "echo|a1b2"
        ]
    );
}
