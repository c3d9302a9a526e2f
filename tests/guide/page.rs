//! A page with its blocks of code, and following it in a home folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::console::{Names, agrees, commands};
use super::model;
use crate::walk::models::Model;

/// The folder of the home in which the reader works.
const HERE: &str = "notes";
/// What a page may name that the reader has not configured.
const UNCONFIGURED: &str = "warning[G033]";
/// Where the reader's configuration is, from the home.
const CONFIG: &str = ".config/a-society/config.yaml";

/// A document of this repository.
pub(super) struct Page {
    path: String,
    text: String,
}

/// A block of code.
struct Block<'p> {
    /// The line on which its text begins, from 0.
    line: usize,
    language: &'p str,
    /// The file that it is, if it is one.
    file: Option<&'p str>,
    /// Whether the page shows what is wrong with it.
    is_wrong: bool,
    lines: Vec<&'p str>,
}

impl Page {
    pub(super) fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        Self {
            path: path.to_owned(),
            text: text.unwrap(),
        }
    }

    /// A file that the page shows.
    pub(super) fn file(&self, name: &str) -> String {
        let blocks = self.blocks();
        let block = blocks.iter().find(|block| block.file == Some(name));
        block.map_or_else(String::new, |block| block.lines.join("\n"))
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut open = false;
        for (line, text) in self.text.lines().enumerate() {
            let last = blocks.last_mut().filter(|_| open);
            match (text.strip_prefix("```"), last) {
                (Some(_), Some(_)) => open = false,
                (None, Some(block)) => block.lines.push(text),
                (Some(info), None) => {
                    let mut words = info.split(' ');
                    open = true;
                    blocks.push(Block {
                        line: line + 1,
                        language: words.next().unwrap_or_default(),
                        file: words.next(),
                        is_wrong: words.next() == Some("wrong"),
                        lines: Vec::new(),
                    });
                }
                (None, None) => {}
            }
        }
        blocks
    }
}

/// The reader: a home, and a folder in it.
struct Reader {
    home: tempfile::TempDir,
    model: Option<Model>,
}

impl Reader {
    fn new() -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir_all(home.path().join(HERE)).unwrap();
        Self { home, model: None }
    }

    fn here(&self) -> PathBuf {
        self.home.path().join(HERE)
    }

    /// Writes a file of a page. The configuration goes where the program looks for it, with the
    /// address of a model that answers in place of the one on the page.
    fn write(&mut self, file: &str, text: &str) {
        let (path, text) = if file == "config.yaml" {
            let model = self.model.get_or_insert_with(model::start);
            let home = self.home.path().join(CONFIG);
            (home, model::in_place_of_providers(model, text))
        } else {
            (self.here().join(file), text.to_owned())
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a line of a shell, and gives what it printed on both streams, and its code.
    fn run(&self, line: &str) -> (String, i32) {
        let program = Path::new(env!("CARGO_BIN_EXE_a-society"));
        let programs = program.parent().unwrap().display();
        let system = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1; {line}")])
            .current_dir(self.here())
            .env_clear()
            .env("PATH", format!("{programs}:{system}"))
            .env("HOME", self.home.path())
            .env("ANTHROPIC_API_KEY", "not-a-key")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let home = self.home.path().display().to_string();
        let printed = String::from_utf8_lossy(&output.stdout).replace(&home, "~");
        (printed, output.status.code().unwrap_or(-1))
    }
}

/// Follows a page from its beginning to its end.
pub(super) fn follow(page: &Page) {
    let mut reader = Reader::new();
    let mut renewed: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for block in page.blocks() {
        let place = format!("{}:{}", page.path, block.line + 1);
        match (block.language, block.file) {
            ("console", _) => {
                for (at, command, expected) in commands(&block.lines) {
                    let names = Names::of(reader.home.path());
                    let (printed, _) = reader.run(&names.real(&command));
                    let printed = Names::of(reader.home.path()).shown(&printed);
                    if !agrees(&expected, &printed) {
                        let begin = block.line + at;
                        renewed.push((begin, expected.len(), printed));
                    }
                }
            }
            (_, Some(file)) => {
                let text = block.lines.join("\n") + "\n";
                reader.write(file, &text);
                if !block.is_wrong {
                    check(&reader, &place, file, &text);
                }
            }
            ("yaml", None) => panic!("{place}: an example of YAML is a file, or nobody checks it"),
            _ => {}
        }
    }
    renew(page, renewed);
}

/// Has the program look at a file that the page shows.
fn check(reader: &Reader, place: &str, file: &str, text: &str) {
    let is_flow = text.contains("\nworkflow:\n") || text.starts_with("workflow:\n");
    let is_project = file.contains("a-docs/");
    let command = match file {
        "config.yaml" => "a-society models ls".to_owned(),
        file if is_flow && !is_project => format!("a-society check {file}"),
        _ => return,
    };
    let (printed, code) = reader.run(&command);
    let is_sound =
        code == 0 && printed.matches("warning[").count() == printed.matches(UNCONFIGURED).count();
    assert!(is_sound, "{place}: {command}\n{printed}");
}

/// Fails with what was printed and is not on the page, or writes it there.
fn renew(page: &Page, renewed: Vec<(usize, usize, Vec<String>)>) {
    if renewed.is_empty() {
        return;
    }
    if std::env::var_os("A_SOCIETY_UPDATE").is_some_and(|value| value == "1") {
        let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
        for (begin, count, printed) in renewed.into_iter().rev() {
            lines.splice(begin..begin + count, printed);
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&page.path);
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let told = renewed.iter().map(|(begin, _, printed)| {
        let line = begin + 1;
        format!("{}:{line} should be\n{}\n", page.path, printed.join("\n"))
    });
    panic!(
        "{}\nA_SOCIETY_UPDATE=1 cargo test --test it guide:: writes it anew",
        told.collect::<String>()
    );
}
