//! What is out of reach in every scope and mode, by the name that a file really has.

use std::path::{Component, Path};

/// How far a path may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Floor {
    /// It may be read and written.
    Open,
    /// It may be read, not written.
    ReadOnly,
    /// It often holds secrets: it is read only when the operator is asked each time, and not
    /// written.
    Sensitive,
    /// It is neither read nor written.
    Closed,
}

/// Folders that nothing below is reached of: our own state, the inside of repositories, keys.
const CLOSED_FOLDERS: [&str; 4] = [".a-society", ".git", ".ssh", ".gnupg"];

/// Folders whose files hold access to something else.
const SENSITIVE_FOLDERS: [&str; 4] = [".aws", ".kube", ".azure", ".gcloud"];

/// Files that a shell, a login or a tool runs by itself.
const STARTUP_FILES: [&str; 25] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".gitconfig",
    ".inputrc",
    ".pam_environment",
    "config.fish",
    ".wgetrc",
];

/// Files that hold keys or passwords.
const SENSITIVE_FILES: [&str; 23] = [
    ".env",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".dockercfg",
    ".htpasswd",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials",
    "credentials.toml",
    ".credentials.json",
    "auth.json",
    "shadow",
    "gshadow",
];

/// Ends of names of files that hold keys.
const SENSITIVE_ENDS: [&str; 8] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
];

/// Files with which an agent could change what it may do.
const CONTROL_FILES: [&str; 2] = [".mcp.json", ".gitmodules"];

/// Folders whose files programs trust, or run when something else happens.
const TRUSTED_FOLDERS: [&str; 10] = [
    ".vscode",
    ".claude",
    ".cursor",
    ".idea",
    ".devcontainer",
    ".husky",
    ".circleci",
    ".windsurf",
    ".gemini",
    ".codex",
];

/// Files by which agents are instructed, or that run later.
const TRUSTED_FILES: [&str; 12] = [
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".devcontainer.json",
    ".pre-commit-config.yaml",
    ".gitlab-ci.yml",
    ".gitattributes",
];

/// Whether a change of a file changes what is trusted, or what runs later, so that a grant of edits
/// does not speak of it.
pub(in super::super) fn is_trusted(path: &Path) -> bool {
    let names = folded_names(path);
    let name = names.last().map_or("", String::as_str);
    let is_workflow = |pair: &[String]| matches!(pair, [a, b] if a == ".github" && (b == "workflows" || b == "actions"));
    names.iter().any(|name| TRUSTED_FOLDERS.contains(&name.as_str()))
        || TRUSTED_FILES.contains(&name)
        || names.windows(2).any(is_workflow)
        // The head of a repository makes one of its folder, whose configuration git then runs.
        || name == "head"
}

/// The floor of a path, given from its folder, after all links.
pub(in super::super) fn floor(path: &Path) -> Floor {
    let names = folded_names(path);
    let name = names.last().map_or("", String::as_str);
    let folders = names.split_last().map_or(&[][..], |(_, folders)| folders);
    if names
        .iter()
        .any(|name| name == ".." || CLOSED_FOLDERS.contains(&name.as_str()))
    {
        return Floor::Closed;
    }
    if STARTUP_FILES.contains(&name) {
        return Floor::Closed;
    }
    let is_sensitive_folder = |name: &String| SENSITIVE_FOLDERS.contains(&name.as_str());
    let is_docker = name == "config.json" && folders.last().is_some_and(|it| it == ".docker");
    if is_sensitive_file(name) || names.iter().any(is_sensitive_folder) || is_docker {
        return Floor::Sensitive;
    }
    // A repository without a working tree has its configuration right inside.
    if folders.iter().any(|name| name.ends_with(".git")) || CONTROL_FILES.contains(&name) {
        return Floor::ReadOnly;
    }
    Floor::Open
}

fn folded_names(path: &Path) -> Vec<String> {
    path.components()
        .map(|part| match part {
            Component::Normal(name) => folded(&name.to_string_lossy()),
            Component::ParentDir => "..".to_owned(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => String::new(),
        })
        .filter(|name| !name.is_empty())
        .collect()
}

fn is_sensitive_file(name: &str) -> bool {
    SENSITIVE_FILES.contains(&name)
        || name.starts_with(".env.")
        || SENSITIVE_ENDS.iter().any(|end| name.ends_with(end))
}

/// A name as the most forgiving file system would take it: case, streams, and what Windows drops.
fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_programs_trust_or_run_later_are_known() {
        for (path, expected) in [
            (".vscode/tasks.json", true),
            ("sub/.Claude/settings.json", true),
            (".cursor/mcp.json", true),
            (".idea/workspace.xml", true),
            (".devcontainer/devcontainer.json", true),
            ("AGENTS.md", true),
            ("sub/CLAUDE.md", true),
            ("a-docs/agents.md", true),
            (".github/workflows/ci.yaml", true),
            (".github/CODEOWNERS", false),
            (".husky/pre-commit", true),
            ("bare/HEAD", true),
            ("src/head.rs", false),
            ("src/main.rs", false),
            ("docs/agents/a.md", false),
        ] {
            assert_eq!(is_trusted(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_is_out_of_reach_is_known_by_every_spelling_of_its_name() {
        for (id, path, expected) in [
            ("P23", ".a-society/state/x/flow.json", Floor::Closed),
            ("P23", "sub/.A-Society", Floor::Closed),
            ("P25", ".git/config", Floor::Closed),
            ("P25", ".git/hooks/pre-commit", Floor::Closed),
            ("P25", "sub/.git/config", Floor::Closed),
            ("P25", ".git", Floor::Closed),
            ("P25", ".GIT/config", Floor::Closed),
            ("P25", ".git. /config", Floor::Closed),
            ("P25", ".git::$INDEX_ALLOCATION/config", Floor::Closed),
            ("P25", "bare.git/config", Floor::ReadOnly),
            ("P27", ".env", Floor::Sensitive),
            ("P27", "a/.env.local", Floor::Sensitive),
            ("P27", ".ENV", Floor::Sensitive),
            ("P27", ".envrc", Floor::Sensitive),
            ("P27", ".npmrc", Floor::Sensitive),
            ("P27", ".netrc", Floor::Sensitive),
            ("P27", ".aws/credentials", Floor::Sensitive),
            ("P27", ".docker/config.json", Floor::Sensitive),
            ("P27", "id_ed25519", Floor::Sensitive),
            ("P27", "keys/server.pem", Floor::Sensitive),
            ("P05", ".ssh/id_rsa", Floor::Closed),
            ("P29", ".bashrc", Floor::Closed),
            ("P29", "sub/.profile", Floor::Closed),
            ("M01", ".mcp.json", Floor::ReadOnly),
            ("", ".gitignore", Floor::Open),
            ("", ".github/workflows/ci.yaml", Floor::Open),
            ("", "environment.rs", Floor::Open),
            ("", "src/main.rs", Floor::Open),
            ("", "", Floor::Open),
        ] {
            assert_eq!(floor(Path::new(path)), expected, "{id} {path:?}");
        }
    }
}
