//! The variables that a command gets.

use std::path::Path;

/// Variables that are handed on: none of them changes what a program does in a way that matters.
const HARMLESS: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
];

/// The default search path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that tell programs that there is no terminal, no pager and no person to answer.
const UNWATCHED: [(&str, &str); 5] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CI", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Where the flow's shared folder is. File tools reach it as `record/`, a command only by its place.
const RECORD: &str = "A_SOCIETY_RECORD";

/// The variables of a command, of those that this process has. Folders in which programs are
/// looked for are kept if they are not within those that a role may write.
pub(super) fn variables(
    given: &[(String, String)],
    project: &Path,
    record: &Path,
) -> Vec<(String, String)> {
    let is_harmless = |name: &str| HARMLESS.contains(&name) || name.starts_with("LC_");
    let mut variables: Vec<(String, String)> = given
        .iter()
        .filter(|(name, value)| is_harmless(name) && !value.contains(['\0', '\n']))
        .filter(|(name, _)| name != "PATH" && name != "TERM")
        .cloned()
        .collect();
    variables.sort();
    variables.dedup_by(|one, other| one.0 == other.0);
    let folders: Vec<&str> = value(given, "PATH")
        .unwrap_or(PATH)
        .split(':')
        .filter(|it| is_safe(Path::new(it), &[project, record]))
        .collect();
    let path = if folders.is_empty() {
        PATH.to_owned()
    } else {
        folders.join(":")
    };
    variables.push(("PATH".to_owned(), path));
    variables.extend(UNWATCHED.map(|(name, value)| (name.to_owned(), value.to_owned())));
    variables.push((RECORD.to_owned(), record.to_string_lossy().into_owned()));
    variables
}

/// Whether a program that is found there was not put there by a role.
fn is_safe(folder: &Path, writable: &[&Path]) -> bool {
    folder.is_absolute() && !writable.iter().any(|writable| folder.starts_with(writable))
}

/// What is set behind walls besides: there, a home cannot be read and a repository not written,
/// and git takes either for a fault.
pub(super) fn behind_walls() -> [(String, String); 2] {
    [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Below a home, what toolchains need to be read and nothing on `PATH` leads to. The rest of a home is
/// private.
const TOOLCHAINS: [&str; 18] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/config.toml",
    ".rustup",
    ".nvm",
    ".volta",
    ".local/bin",
    ".local/lib",
    ".local/share/pnpm",
    ".pyenv",
    ".rbenv",
    ".sdkman",
    ".asdf",
    ".bun",
    ".deno",
    "go",
    ".npm/_cacache",
];

/// The value of a variable, if it is set.
pub(super) fn value<'v>(variables: &'v [(String, String)], name: &str) -> Option<&'v str> {
    let found = variables.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// The folders of toolchains in a home.
pub(super) fn toolchains(home: &Path) -> Vec<String> {
    if !home.is_absolute() {
        return Vec::new();
    }
    let folders = TOOLCHAINS.iter().map(|folder| home.join(folder));
    folders
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_no_variable_that_could_hold_a_secret_or_change_what_programs_do() {
        let given = [
            ("PATH", "/usr/bin:.::/space/project/bin:relative:/bin"),
            ("HOME", "/users/o"),
            ("LC_ALL", "C.UTF-8"),
            ("ANTHROPIC_API_KEY", "k"),
            ("LD_PRELOAD", "x"),
            ("BASH_ENV", "x"),
            ("ENV", "x"),
            ("SHELLOPTS", "xtrace"),
            ("PS4", "$(id)"),
            ("IFS", "x"),
            ("NODE_OPTIONS", "x"),
            ("GIT_DIR", "x"),
            ("BASH_FUNC_ls%%", "() { id; }"),
            ("HTTP_PROXY", "x"),
            ("LANG", "a\nb"),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (project, record) = (Path::new("/space/project"), Path::new("/space/record"));
        let variables = variables(&given, project, record);
        let lines: Vec<String> = variables.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(
            lines,
            [
                "HOME=/users/o",
                "LC_ALL=C.UTF-8",
                "PATH=/usr/bin:/bin",
                "TERM=dumb",
                "PAGER=cat",
                "NO_COLOR=1",
                "CI=1",
                "GIT_TERMINAL_PROMPT=0",
                "A_SOCIETY_RECORD=/space/record",
            ]
        );
    }
}
