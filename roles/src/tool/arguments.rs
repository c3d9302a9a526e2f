//! Reading the arguments of calls, strictly: what a tool does not take is refused, not ignored.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::plan::{Refusal, RefusalKind};

/// The arguments of a call, by its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arguments {
    ReadFile(ReadFile),
    ReadFileLines(ReadFileLines),
    ListDirectory(ListDirectory),
    Grep(GrepFiles),
    Glob(GlobFiles),
    EditFile(EditFile),
    WriteFile(WriteFile),
    RunCommand(RunCommand),
    FetchUrl(FetchUrl),
    WebSearch(WebSearch),
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFileLines {
    pub path: String,
    pub first: u64,
    pub last: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDirectory {
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepFiles {
    pub pattern: String,
    pub path: Option<String>,
    pub glob: Option<String>,
    pub context: Option<u64>,
    #[serde(default)]
    pub ignore_case: bool,
    #[serde(default)]
    pub files_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobFiles {
    pub pattern: String,
    pub path: Option<String>,
}

/// A search as earlier versions offered it: for a text, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchFiles {
    path: Option<String>,
    text: String,
    #[serde(default)]
    ignore_case: bool,
    name: Option<String>,
}

impl From<SearchFiles> for GrepFiles {
    fn from(given: SearchFiles) -> Self {
        Self {
            pattern: regex_syntax::escape(&given.text),
            path: given.path,
            glob: given.name,
            ignore_case: given.ignore_case,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditFile {
    pub path: String,
    pub old: String,
    pub new: String,
    #[serde(default)]
    pub all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteFile {
    pub path: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunCommand {
    pub command: String,
    pub folder: Option<String>,
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchUrl {
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebSearch {
    pub query: String,
    pub results: Option<u64>,
}

/// Reads the arguments of a tool.
pub(super) fn parse(tool: &str, text: &str) -> Result<Arguments, Refusal> {
    Ok(match tool {
        "read_file" => Arguments::ReadFile(typed(tool, text)?),
        "read_file_lines" => Arguments::ReadFileLines(typed(tool, text)?),
        "list_directory" => Arguments::ListDirectory(typed(tool, text)?),
        "grep" => Arguments::Grep(typed(tool, text)?),
        "glob" => Arguments::Glob(typed(tool, text)?),
        "search_files" => Arguments::Grep(typed::<SearchFiles>(tool, text)?.into()),
        "edit_file" => Arguments::EditFile(typed(tool, text)?),
        "write_file" => Arguments::WriteFile(typed(tool, text)?),
        "run_command" => Arguments::RunCommand(typed(tool, text)?),
        "fetch_url" => Arguments::FetchUrl(typed(tool, text)?),
        "web_search" => Arguments::WebSearch(typed(tool, text)?),
        other => {
            let text = format!("There is no tool {other:?}.");
            return Err(Refusal::new(RefusalKind::UnknownTool, text));
        }
    })
}

fn typed<T: DeserializeOwned>(tool: &str, text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|why| {
        let text = format!(
            "The arguments of {tool} do not fit: {why}. Look at its schema and call it again."
        );
        Refusal::new(RefusalKind::Arguments, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_only_as_the_schema_says() {
        for text in [
            "null",
            "{}",
            "[]",
            r#"{"path":1}"#,
            r#"{"path":"a","path":"b"}"#,
            r#"{"path":"a","more":1}"#,
            r#"{"path":"a","__proto__":{}}"#,
            r#"{"path":"a"} x"#,
            r#"{"path":"\ud800"}"#,
        ] {
            let refusal = parse("read_file", text).unwrap_err();
            assert_eq!(refusal.kind, RefusalKind::Arguments, "{text}");
        }
        let refusal = parse("read_file_lines", r#"{"path":"a","first":-1,"last":2}"#);
        assert!(refusal.is_err());
        let path = "a".to_owned();
        assert_eq!(
            parse("read_file", r#"{"path":"a"}"#),
            Ok(Arguments::ReadFile(ReadFile { path }))
        );
    }
}
