//! What programs on `PATH` need to be read, found from where `PATH` leads.
//!
//! Managers of toolchains keep them in folders of a home, in ever new places, and put links or small
//! scripts on `PATH`. So those are followed: from a folder of programs to what is installed beside it, along
//! links and the interpreters of scripts to the folders that they are in, and so on. A home is never opened
//! as a whole, nor anything in a folder of keys; and nothing in a project is followed, since roles write there.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::virtualenvs;

/// What is readable anyway.
const SYSTEM: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/snap",
];

/// The names of folders of programs.
const BINARIES: [&str; 4] = ["bin", "sbin", "condabin", ".bin"];

/// Folders beside a folder of programs that belong to them, wherever they were installed.
const BESIDE: [&str; 10] = [
    "bin",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "include",
    "conf",
    "jmods",
    "conda-meta",
    "pyvenv.cfg",
];

/// The same where an installation has a folder of its own. Directly in a home, and in its `.local`, these are
/// what other programs keep there.
const BESIDE_OWN: [&str; 5] = ["share", "etc", "ssl", "pkg", "src"];

/// Folders beside a folder of shims that each start the chosen version.
const BESIDE_SHIMS: [&str; 7] = [
    "bin", "lib", "libexec", "versions", "installs", "plugins", "tools",
];

/// The name of such a folder.
const SHIMS: &str = "shims";

/// Nothing in folders of these names is opened, whatever leads there.
const CLOSED: [&str; 11] = [
    ".a-society",
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".azure",
    ".gcloud",
    ".docker",
    ".password-store",
    "keyrings",
];

/// How many folders of programs are looked at: more than anybody has on `PATH`, with what they lead to.
const FOLDERS: usize = 96;

/// How many programs of a folder are looked at.
const PROGRAMS: usize = 4_000;

/// How many folders of a manager's data are looked at for installations, and how deep.
const DATA_FOLDERS: usize = 400;
const DATA_DEPTH: usize = 4;

/// How many links may follow each other; the kernel follows as many.
const LINKS: usize = 40;

/// How much of a script is read for its interpreter; the kernel reads as much.
const FIRST_LINE: u64 = 256;

/// What the folders of programs in a search path lead to, outside of the folders that roles write.
pub(super) fn reached(home: &Path, path: &str, writable: &[&Path]) -> Vec<String> {
    let home = home
        .is_absolute()
        .then(|| fs::canonicalize(home).ok())
        .flatten();
    let mut search = ToolchainSearch {
        home,
        writable: writable
            .iter()
            .filter_map(|it| fs::canonicalize(it).ok())
            .collect(),
        ..ToolchainSearch::default()
    };
    for folder in path.split(':').map(Path::new).filter(|it| it.is_absolute()) {
        search.folder(folder);
    }
    search.look();
    search.managed();
    search.of_projects();
    search.look();
    let paths = search.found.iter();
    paths
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect()
}

#[derive(Default)]
struct ToolchainSearch {
    home: Option<PathBuf>,
    writable: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
    open: VecDeque<PathBuf>,
    found: BTreeSet<PathBuf>,
    /// The names of programs.
    names: BTreeSet<OsString>,
}

impl ToolchainSearch {
    /// A folder of programs, if it may be looked at.
    fn folder(&mut self, folder: &Path) {
        let Ok(folder) = fs::canonicalize(folder) else {
            return;
        };
        let is_new = self.seen.len() < FOLDERS && !self.seen.contains(&folder);
        if is_new && folder.is_dir() && self.may_open(&folder) {
            self.seen.insert(folder.clone());
            self.open.push_back(folder);
        }
    }

    fn look(&mut self) {
        while let Some(folder) = self.open.pop_front() {
            let is_system = is_system(&folder);
            if !is_system {
                self.beside(&folder);
                self.found.insert(folder.clone());
            }
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.take(PROGRAMS) {
                self.names.insert(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => self.link(&entry.path()),
                    Ok(kind) if kind.is_file() && !is_system => self.script(&entry.path()),
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    /// What is installed together with a folder of programs.
    fn beside(&mut self, folder: &Path) {
        let (Some(prefix), Some(name)) = (folder.parent(), folder.file_name()) else {
            return;
        };
        let is = |names: &[&str]| names.iter().any(|it| name == *it);
        let mut beside: Vec<&str> = Vec::new();
        if is(&[SHIMS]) && self.is_own(prefix) {
            beside.extend(BESIDE_SHIMS);
        }
        if is(&BINARIES) && !self.holds_home(prefix) {
            beside.extend(BESIDE);
            if self.is_own(prefix) {
                beside.extend(BESIDE_OWN.iter().filter(|it| **it != "src"));
                // The sources of a project are beside its programs, too; those of a language beside its packages.
                beside.extend(prefix.join("pkg/tool").is_dir().then_some("src"));
            }
        }
        for name in beside {
            // A link out of the installation belongs to other software.
            let whole = fs::canonicalize(prefix.join(name)).ok();
            let whole = whole.filter(|it| it.starts_with(prefix) && it != prefix);
            if let Some(whole) = whole.filter(|it| self.may_open(it)) {
                self.found.insert(whole);
            }
        }
    }

    /// Every folder that a link leads through to its program.
    fn link(&mut self, link: &Path) {
        let mut at = link.to_owned();
        for _ in 0..LINKS {
            let Ok(to) = fs::read_link(&at) else {
                return;
            };
            at = at.parent().unwrap_or(&at).join(to);
            match at.parent() {
                Some(folder) if !is_system(&at) => self.folder(folder),
                Some(_) | None => {}
            }
        }
    }

    /// The folder of the interpreter that a script names.
    fn script(&mut self, program: &Path) {
        let mut first = Vec::new();
        let read = fs::File::open(program).map(|file| file.take(FIRST_LINE));
        let Ok(Ok(_)) = read.map(|mut file| file.read_to_end(&mut first)) else {
            return;
        };
        let line = first
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let interpreter = line
            .strip_prefix("#!")
            .and_then(|it| it.split_whitespace().next());
        let interpreter = interpreter
            .map(Path::new)
            .filter(|it| it.is_absolute() && !is_system(it));
        if let Some(interpreter) = interpreter {
            if let Some(folder) = interpreter.parent() {
                self.folder(folder);
            }
            self.link(interpreter);
        }
    }

    /// What managers that are on `PATH` installed in their own folders of the home, such as `uv` in
    /// `~/.local/share/uv`: only installations, and nothing else that they keep there.
    fn managed(&mut self) {
        let Some(home) = self.home.clone() else {
            return;
        };
        let mut open: VecDeque<(PathBuf, usize)> = VecDeque::new();
        for (folder, dot) in [(home.join(".local/share"), ""), (home, ".")] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries.take(PROGRAMS) {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let program = name.strip_prefix(dot).unwrap_or_default();
                if self.names.contains(std::ffi::OsStr::new(program)) {
                    open.push_back((entry.path(), 0));
                }
            }
        }
        for _ in 0..DATA_FOLDERS {
            let Some((folder, depth)) = open.pop_front() else {
                return;
            };
            for entry in fs::read_dir(&folder)
                .into_iter()
                .flatten()
                .flatten()
                .take(PROGRAMS)
            {
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                if entry.file_name() == "bin" && folder.join("lib").is_dir() {
                    self.folder(&entry.path());
                } else if depth < DATA_DEPTH {
                    open.push_back((entry.path(), depth + 1));
                }
            }
        }
    }

    /// What managers of packages that are on `PATH` keep for the folders that roles write.
    fn of_projects(&mut self) {
        let home = self.home.iter();
        let found: Vec<PathBuf> = home
            .flat_map(|home| virtualenvs::binaries(home, &self.names, &self.writable))
            .collect();
        for folder in found {
            self.folder(&folder);
        }
    }

    /// Whether an installation has this folder for itself.
    fn is_own(&self, prefix: &Path) -> bool {
        let Some(home) = &self.home else {
            return true;
        };
        !self.holds_home(prefix) && prefix != home.join(".local")
    }

    fn holds_home(&self, folder: &Path) -> bool {
        let is_root = folder.parent().is_none();
        is_root
            || self
                .home
                .as_ref()
                .is_some_and(|home| home.starts_with(folder))
    }

    fn may_open(&self, path: &Path) -> bool {
        let is_closed = |part: Component<'_>| CLOSED.iter().any(|it| part.as_os_str() == *it);
        let is_written = self
            .writable
            .iter()
            .any(|it| path.starts_with(it) || it.starts_with(path));
        !self.holds_home(path) && !is_written && !path.components().any(is_closed)
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}
