//! The list of tools, as models are told about them.

use serde_json::{Value, json};

use super::setting::{Scope, Setting};

/// One tool, as a model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// When and how to use it.
    pub description: &'static str,
    /// The JSON schema of its arguments. Members that it does not name are refused.
    pub schema: Value,
}

/// The tools that a setting offers, always in the same order.
#[must_use]
pub fn definitions(setting: &Setting) -> Vec<Definition> {
    let mut list = vec![
        read_file(),
        read_file_lines(),
        list_directory(),
        grep(),
        glob(),
        edit_file(),
        write_file(),
    ];
    if setting.guard.is_some() {
        list.push(run_command(setting.scope));
    }
    if setting.fetch {
        list.push(fetch_url());
    }
    if setting.search.is_some() {
        list.push(web_search());
    }
    list
}

const PATH: &str = "The path: relative to the project folder, or absolute.";

fn definition(
    name: &'static str,
    description: &'static str,
    properties: Value,
    required: &[&str],
) -> Definition {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Definition {
        name,
        description,
        schema,
    }
}

fn path() -> Value {
    json!({ "type": "string", "description": PATH })
}

fn read_file() -> Definition {
    definition(
        "read_file",
        "Reads a text file from its beginning. A long file is cut in the middle and says so; read \
         the part you need with read_file_lines.",
        json!({ "path": path() }),
        &["path"],
    )
}

fn read_file_lines() -> Definition {
    definition(
        "read_file_lines",
        "Reads lines of a text file, each with its number. The first line is 1, and the last line \
         asked for is included.",
        json!({
            "path": path(),
            "first": { "type": "integer", "minimum": 1, "description": "The first line." },
            "last": { "type": "integer", "minimum": 1, "description": "The last line." },
        }),
        &["path", "first", "last"],
    )
}

fn list_directory() -> Definition {
    definition(
        "list_directory",
        "Lists what is in a folder, by name: folders end with `/`, symbolic links with `@`, and \
         files have their size in bytes.",
        json!({ "path": path() }),
        &["path"],
    )
}

fn grep() -> Definition {
    definition(
        "grep",
        "Searches file contents by regular expression (Rust syntax) and gives path:line:text, at \
         most 200 matches. Skips files that .gitignore names, hidden and binary files. Use it \
         instead of grep or rg.",
        json!({
            "pattern": { "type": "string" },
            "path": { "type": "string", "description": "File or folder; default the project." },
            "glob": { "type": "string", "description": "Only these files, such as *.rs." },
            "context": { "type": "integer", "description": "Lines around each match, at most 10." },
            "ignore_case": { "type": "boolean" },
            "files_only": { "type": "boolean", "description": "Only paths and counts." },
        }),
        &["pattern"],
    )
}

fn glob() -> Definition {
    definition(
        "glob",
        "Finds files by path, such as src/**/*.rs, newest first, at most 200. Skips what \
         .gitignore names.",
        json!({
            "pattern": { "type": "string" },
            "path": { "type": "string", "description": "Folder; default the project." },
        }),
        &["pattern"],
    )
}

fn edit_file() -> Definition {
    definition(
        "edit_file",
        "Replaces one place in a text file. `old` must stand in the file exactly once, with all \
         its spaces and line ends; take as much around the place as makes it the only one. With \
         `all` every occurrence is replaced.",
        json!({
            "path": path(),
            "old": { "type": "string", "minLength": 1, "description": "The text that is there now." },
            "new": { "type": "string", "description": "The text that takes its place; may be empty." },
            "all": { "type": "boolean", "description": "Whether to replace every occurrence." },
        }),
        &["path", "old", "new"],
    )
}

fn write_file() -> Definition {
    definition(
        "write_file",
        "Writes a whole text file in the project or the record folder, and makes the folders above \
         it. A file that is there is replaced; to change a part of it, use edit_file.",
        json!({
            "path": path(),
            "content": { "type": "string", "description": "The whole content of the file." },
        }),
        &["path", "content"],
    )
}

fn run_command(scope: Scope) -> Definition {
    let description = match scope {
        Scope::Sandboxed | Scope::Project => {
            "Runs a command with bash and gives its exit code and its output. It can write only in \
             the project, the record folder and a temporary folder of its own, and not inside `.git`, \
             so that it cannot commit. It has no terminal and no input, and everything it started is ended with it. Each command starts anew: \
             variables and the folder do not carry over."
        }
        Scope::Full => {
            "Runs a command with bash and gives its exit code and its output. It has no terminal and \
             no input, and everything it started is ended with it. Each command starts anew: \
             variables and the folder do not carry over."
        }
    };
    definition(
        "run_command",
        description,
        json!({
            "command": { "type": "string", "minLength": 1, "description": "The command." },
            "folder": {
                "type": "string",
                "description": "Where it runs: a folder in the project or the record folder. Without it, the project.",
            },
            "timeout_ms": {
                "type": "integer",
                "minimum": 1,
                "description": "How long it may take, in milliseconds.",
            },
        }),
        &["command"],
    )
}

fn fetch_url() -> Definition {
    definition(
        "fetch_url",
        "Gets a page from the public web and gives its status and its text. Only https, \
         and no address of this machine or of a private network. What leads to another host is not \
         followed; its address is given instead.",
        json!({ "url": { "type": "string", "description": "The address." } }),
        &["url"],
    )
}

fn web_search() -> Definition {
    definition(
        "web_search",
        "Searches the web and gives title, address and an excerpt of each result.",
        json!({
            "query": { "type": "string", "minLength": 1, "description": "What to look for." },
            "results": {
                "type": "integer",
                "minimum": 1,
                "maximum": super::limits::QUERY_RESULTS,
                "description": "How many results, 5 if it is not said.",
            },
        }),
        &["query"],
    )
}
