//! The environments that managers of Python packages keep for a project below the home: `pipenv run` and `poetry run`
//! find them by the project's path, and nothing on `PATH` leads there. Those of other projects stay closed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use a_society_facts::Hash;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;

/// How many environments of a manager, and folders of a project, are looked at.
const ENTRIES: usize = 4_000;

/// No path is longer.
const PATH_BYTES: u64 = 4_096;

/// How many letters of a path's hash are in the name of a poetry environment.
const HASH_LETTERS: usize = 8;

/// The folders of programs in the environments of projects, if their managers are among these programs.
pub(super) fn binaries(
    home: &Path,
    programs: &BTreeSet<OsString>,
    projects: &[PathBuf],
) -> Vec<PathBuf> {
    let has = |program: &str| programs.contains(OsStr::new(program));
    let mut found = Vec::new();
    if has("pipenv") {
        let all = entries(&home.join(".local/share/virtualenvs"));
        found.extend(all.into_iter().filter(|env| is_pipenvs(env, projects)));
    }
    if has("poetry") {
        let hashes: Vec<String> = projects.iter().flat_map(|it| roots(it)).map(hash).collect();
        let all = entries(&home.join(".cache/pypoetry/virtualenvs"));
        found.extend(all.into_iter().filter(|env| is_poetrys(env, &hashes)));
    }
    found.into_iter().map(|env| env.join("bin")).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries
        .take(ENTRIES)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}

/// Whether an environment says that it belongs to a project, or to a folder that holds it or is in it.
fn is_pipenvs(env: &Path, projects: &[PathBuf]) -> bool {
    let mut said = Vec::new();
    let file = fs::File::open(env.join(".project"));
    let read = file.map(|file| file.take(PATH_BYTES).read_to_end(&mut said));
    if !matches!(read, Ok(Ok(_))) {
        return false;
    }
    let of = PathBuf::from(OsString::from_vec(said.trim_ascii().to_vec()));
    let of = fs::canonicalize(&of).unwrap_or(of);
    let mine = |it: &PathBuf| it.starts_with(&of) || of.starts_with(it);
    of.is_absolute() && projects.iter().any(mine)
}

/// Where the file of a project may be: in its folder, above it, or directly below it.
fn roots(project: &Path) -> Vec<PathBuf> {
    let above = project.ancestors().map(Path::to_owned);
    above.chain(entries(project)).collect()
}

/// As poetry names an environment after the path of its project.
fn hash(path: PathBuf) -> String {
    let digest = Hash::of(path.as_os_str().as_bytes());
    let mut letters = URL_SAFE.encode(digest.bytes());
    letters.truncate(HASH_LETTERS);
    letters
}

/// Whether the name of an environment is `NAME-HASH-pyVERSION`.
fn is_poetrys(env: &Path, hashes: &[String]) -> bool {
    let name = env.file_name().map(OsStr::to_string_lossy);
    let name = name.unwrap_or_default();
    let before = name.rsplit_once("-py").map_or("", |(before, _)| before);
    hashes.iter().any(|hash| {
        let name = before.strip_suffix(hash.as_str());
        name.is_some_and(|name| name.ends_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_named_after_the_path_of_its_project() {
        let hashes = [hash(PathBuf::from("/code/project/q"))];
        assert_eq!(hashes, ["KHC3xRnT"]);
        let is = |name: &str| is_poetrys(Path::new(name), &hashes);
        assert!(is(&format!("/envs/my-app-{}-py3.13", hashes[0])));
        assert!(!is("/envs/my-app-AAAAAAAA-py3.13"));
        assert!(!is(&format!("/envs/my-app-{}", hashes[0])));
    }
}
