//! The operator's own configuration: one file outside every workspace, and the keys that it names.
//!
//! | Where | When |
//! |---|---|
//! | `$A_SOCIETY_CONFIG` | if it is set: the file itself |
//! | `$XDG_CONFIG_HOME/a-society/config.yaml` | if that is set to an absolute path |
//! | `~/Library/Application Support/a-society/config.yaml` | on macOS |
//! | `~/.config/a-society/config.yaml` | else |
//!
//! Nothing in a workspace can name a provider, an address or a key: write access to a project must not
//! decide where its texts go.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr as _;

use a_society_mcp::{Given, ServerSpec};
pub use a_society_roles::config::{ConfigBounds, ConsentConfig, NotifyConfig, Occasion, UiConfig};
use a_society_roles::config::{
    KeySource, ModelsConfig, SchedulesConfig, SessionsConfig, TextFault, parse, parse_consent,
    parse_limits, parse_notify, parse_search, parse_secrets, parse_tools, parse_ui,
};
use a_society_roles::tool::SearchService;
pub use a_society_roles::tool::{Narrowing, ToolReach};

use super::cached_file::CachedText;

/// The largest configuration that is read; it is written by hand.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// The largest file that is read as a key.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// The name under which keyrings keep our keys.
const KEYRING_SERVICE: &str = "a-society";

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Its place is unknown.
    #[error("there is no home folder, so there is no configuration; set A_SOCIETY_CONFIG")]
    Nowhere,
    /// It is there and cannot be read.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another editor has written it since it was read.
    #[error("{} was changed by another editor in the meantime, and nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It says something that means nothing.
    #[error("{} cannot be used:\n{}", path.display(), listed(faults))]
    Faulty {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it.
        faults: Vec<TextFault>,
    },
}

fn listed(faults: &[TextFault]) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
    lines.join("\n")
}

/// Where the configuration is, whether or not it is there.
///
/// # Errors
/// When there is no home folder.
pub fn path() -> Result<PathBuf, ConfigError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(file) = set("A_SOCIETY_CONFIG") {
        return Ok(PathBuf::from(file));
    }
    let absolute = |folder: &PathBuf| folder.is_absolute();
    let xdg = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(absolute);
    let folder = match (xdg, home()) {
        (Some(folder), _) => folder,
        (None, Some(home)) if cfg!(target_os = "macos") => home.join("Library/Application Support"),
        (None, Some(home)) => home.join(".config"),
        (None, None) => return Err(ConfigError::Nowhere),
    };
    Ok(folder.join("a-society/config.yaml"))
}

/// The folder of the operator's own skills, whether or not it is there.
///
/// # Errors
/// As [`path`].
pub fn skills() -> Result<PathBuf, ConfigError> {
    Ok(path()?.with_file_name("skills"))
}

fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    home.is_absolute().then_some(home)
}

/// The text of the configuration; nothing if there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub(crate) fn text() -> Result<Option<(PathBuf, String)>, ConfigError> {
    static KEPT: CachedText = CachedText::new();
    let path = path()?;
    match KEPT.get(&path, |path| read(path, CONFIG_BYTES_MAX)) {
        Ok(text) => Ok(text.map(|text| (path, text))),
        Err(why) => Err(ConfigError::Unreadable { path, why }),
    }
}

/// The models of the configuration, and where it is. Without a file there are none.
///
/// # Errors
/// When it cannot be read, or is invalid.
pub fn catalog() -> Result<(PathBuf, ModelsConfig), ConfigError> {
    let Some((path, text)) = text()? else {
        return Ok((path()?, ModelsConfig::default()));
    };
    match models_of(&text) {
        Ok(catalog) => Ok((path, catalog)),
        Err(faults) => Err(ConfigError::Faulty { path, faults }),
    }
}

/// The models that a text configures.
pub(super) fn models_of(text: &str) -> Result<ModelsConfig, Vec<TextFault>> {
    let catalog = parse(text)?;
    // A limit, or a rule, that means nothing must not be taken for none: no model works under such a file.
    parse_limits(text)?;
    parse_notify(text)?;
    parse_consent(text)?;
    parse_ui(text)?;
    SessionsConfig::from_str(text)?;
    SchedulesConfig::from_str(text)?;
    Ok(catalog)
}

/// The MCP servers of the configuration.
///
/// # Errors
/// When the configuration cannot be read, or says something about them that means nothing.
pub(super) fn server_specs() -> Result<Vec<ServerSpec>, ConfigError> {
    let Some((path, text)) = text()? else {
        return Ok(Vec::new());
    };
    a_society_mcp::parse(&text).map_err(|faults| ConfigError::Unreadable {
        path,
        why: lines(&faults),
    })
}

/// What MCP servers are given: the environment, and secrets by their names from where the
/// configuration says that they are.
///
/// # Errors
/// When the configuration cannot be read, says something that means nothing, or a secret is not to
/// be had.
pub(crate) fn given() -> Result<Given, ConfigError> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut given = Given {
        environment: environment.collect(),
        secrets: BTreeMap::new(),
    };
    let Some((path, text)) = text()? else {
        return Ok(given);
    };
    let unfit = |why: String| ConfigError::Unreadable {
        path: path.clone(),
        why,
    };
    for (name, source) in parse_secrets(&text).map_err(|faults| unfit(lines(&faults)))? {
        let secret = key(&source).map_err(unfit)?;
        given.secrets.insert(name, secret);
    }
    Ok(given)
}

/// How far the tools of roles reach at most. What a workspace says can only take away from it.
///
/// # Errors
/// When the configuration cannot be read, says something about it that means nothing, or names a
/// folder that is not to be had.
pub fn reach() -> Result<ToolReach, ConfigError> {
    let Some((path, text)) = text()? else {
        return Ok(ToolReach::default());
    };
    let unfit = |why: String| ConfigError::Unreadable {
        path: path.clone(),
        why,
    };
    let mut reach = parse_tools(&text).map_err(|faults| unfit(lines(&faults)))?;
    for named in &mut reach.folders {
        *named = folder(named).map_err(&unfit)?;
    }
    Ok(reach)
}

/// A folder to read, as it is written.
pub(super) fn folder(written: &Path) -> Result<PathBuf, String> {
    let found = absolute(written)?;
    if found.is_dir() {
        Ok(found)
    } else {
        Err(format!("`folders`: {} is no folder", found.display()))
    }
}

/// A part of the configuration; its default without a file.
fn part<T: Default>(read: fn(&str) -> Result<T, Vec<TextFault>>) -> Result<T, ConfigError> {
    let Some((path, text)) = text()? else {
        return Ok(T::default());
    };
    read(&text).map_err(|faults| ConfigError::Faulty { path, faults })
}

/// What the operator says beforehand about calls, for all flows.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub fn consent() -> Result<ConsentConfig, ConfigError> {
    part(parse_consent)
}

/// What a text says beforehand about calls, which is the configuration's at that path.
pub(super) fn consent_of(path: &Path, text: &str) -> Result<ConsentConfig, ConfigError> {
    parse_consent(text).map_err(|faults| ConfigError::Faulty {
        path: path.to_owned(),
        faults,
    })
}

/// The command to notify; none if the configuration names none.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub fn notify() -> Result<Option<NotifyConfig>, ConfigError> {
    part(parse_notify)
}

/// How far sessions see one another, and which of them take messages of others.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub(crate) fn sessions() -> Result<SessionsConfig, ConfigError> {
    part(SessionsConfig::from_str)
}

/// What servers start at due times.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub(crate) fn schedules() -> Result<SchedulesConfig, ConfigError> {
    part(SchedulesConfig::from_str)
}

/// How the terminal looks.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub fn ui() -> Result<UiConfig, ConfigError> {
    part(parse_ui)
}

/// What stops a flow that goes nowhere.
///
/// # Errors
/// When the configuration cannot be read, or says something about it that means nothing.
pub(crate) fn bounds() -> Result<ConfigBounds, ConfigError> {
    part(parse_limits)
}

/// The service that answers `web_search`, with the key; `None`, if none is configured.
///
/// # Errors
/// When the configuration cannot be read, is invalid, or the key cannot be
/// read.
pub fn search() -> Result<Option<SearchService>, ConfigError> {
    let Some((path, text)) = text()? else {
        return Ok(None);
    };
    let unfit = |why: String| ConfigError::Unreadable {
        path: path.clone(),
        why,
    };
    let found = parse_search(&text).map_err(|faults| unfit(lines(&faults)))?;
    let Some(found) = found else {
        return Ok(None);
    };
    let key = key(&found.key).map_err(unfit)?;
    let endpoint = found.endpoint;
    Ok(Some(SearchService { endpoint, key }))
}

pub(super) fn lines(faults: &[impl ToString]) -> String {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Saves the configuration, for its owner only: whole, or not at all, and only over what was read.
///
/// # Errors
/// When it says something else than `before` by now, or the folder or the file cannot be written.
pub(crate) fn save_over(before: &str, text: &str) -> Result<PathBuf, ConfigError> {
    let path = path()?;
    let unfit = |why: String| ConfigError::Unreadable {
        path: path.clone(),
        why,
    };
    let io = |error: std::io::Error| unfit(error.to_string());
    let file = real(&path);
    // Between the look and the change no other program of ours writes.
    let held = held(&file).map_err(io)?;
    let now = read(&file, CONFIG_BYTES_MAX).map_err(unfit)?;
    if now.unwrap_or_default() != before {
        return Err(ConfigError::Changed { path });
    }
    replace(&path, text).map_err(io)?;
    drop(held);
    Ok(path)
}

/// Its folder, made if it is not there, and held for as long as what is returned lives.
fn held(file: &Path) -> std::io::Result<std::fs::File> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    make_folder(folder)?;
    let held = std::fs::File::open(folder)?;
    held.lock()?;
    Ok(held)
}

/// A link is followed, so that a configuration kept elsewhere stays there.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn make_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = real(path);
    make_folder(path.parent().unwrap_or(Path::new("/")))?;
    let new = path.with_extension("yaml.new");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, &path)
}

pub(super) fn read(path: &Path, bytes_max: u64) -> Result<Option<String>, String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let about = file.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut text = String::new();
    let mut limited = file.take(bytes_max + 1);
    limited
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    if text.len() as u64 > bytes_max {
        return Err(format!("it is larger than {bytes_max} bytes"));
    }
    Ok(Some(text))
}

/// Fetches a key from where it is.
///
/// # Errors
/// Says in words why it is not to be had; never with the key in it.
pub(crate) fn key(source: &KeySource) -> Result<String, String> {
    let found = match source {
        KeySource::Env(name) => std::env::var(name).map_err(|_| "it is not set".to_owned()),
        KeySource::File(path) => from_file(path),
        KeySource::Keyring(name) => from_keyring(name),
    };
    let found = found.map_err(|why| format!("no key in {source}: {why}"))?;
    match found.trim() {
        "" => Err(format!("no key in {source}: it is empty")),
        key => Ok(key.to_owned()),
    }
}

/// The bytes of a file that the configuration names, such as a certificate.
///
/// # Errors
/// Says in words why they are not to be had.
pub(crate) fn file(written: &Path) -> Result<Vec<u8>, String> {
    let path = absolute(written)?;
    let text = read(&path, KEY_BYTES_MAX).map_err(|why| format!("{}: {why}", path.display()))?;
    text.map(String::into_bytes)
        .ok_or_else(|| format!("{}: it is not there", path.display()))
}

/// A path of the configuration, with the home folder in it.
pub(crate) fn absolute(written: &Path) -> Result<PathBuf, String> {
    let path = match (written.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_), None) => return Err("there is no home folder".to_owned()),
        (Err(_), _) => written.to_owned(),
    };
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("its path must be absolute or begin with ~/".to_owned())
    }
}

fn from_file(written: &Path) -> Result<String, String> {
    let path = absolute(written)?;
    let about = std::fs::metadata(&path).map_err(|error| error.to_string())?;
    if about.permissions().mode() & 0o077 != 0 {
        return Err("others may read it; chmod 600 it first".to_owned());
    }
    if about.uid() != rustix::process::getuid().as_raw() && !rustix::process::getuid().is_root() {
        return Err("it belongs to another user".to_owned());
    }
    read(&path, KEY_BYTES_MAX)?.ok_or_else(|| "it is not there".to_owned())
}

/// Asks the system's own keyring by its own program: it may have to ask the operator in turn.
fn from_keyring(name: &str) -> Result<String, String> {
    let (program, arguments): (&str, Vec<&str>) = if cfg!(target_os = "macos") {
        let words = vec![
            "find-generic-password",
            "-s",
            KEYRING_SERVICE,
            "-a",
            name,
            "-w",
        ];
        ("security", words)
    } else {
        let words = vec!["lookup", "service", KEYRING_SERVICE, "account", name];
        ("secret-tool", words)
    };
    let asked = Command::new(program)
        .args(&arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match asked {
        Ok(output) if output.status.success() => {
            String::from_utf8(output.stdout).map_err(|_| "it is not text".to_owned())
        }
        Ok(_) => Err(format!(
            "it is not there; keep it with: {}",
            if cfg!(target_os = "macos") {
                format!("security add-generic-password -s {KEYRING_SERVICE} -a {name} -w")
            } else {
                format!("secret-tool store --label={name} service {KEYRING_SERVICE} account {name}")
            }
        )),
        Err(error) => Err(format!("{program} could not be asked: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_that_others_may_read_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-secret\n").unwrap();
        let source = KeySource::File(path.clone());
        for (mode, fits) in [(0o644, false), (0o640, false), (0o600, true), (0o400, true)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let found = key(&source);
            assert_eq!(found.is_ok(), fits, "{mode:o}");
            if let Err(why) = found {
                assert!(
                    why.contains("chmod 600") && !why.contains("sk-secret"),
                    "{why}"
                );
            }
        }
    }

    #[test]
    fn a_key_that_is_not_there_says_where_it_was_looked_for() {
        for source in [
            KeySource::Env("A_SOCIETY_NO_SUCH_VARIABLE".into()),
            KeySource::File("/no/such/key".into()),
            KeySource::File("relative/key".into()),
        ] {
            let why = key(&source).unwrap_err();
            assert!(why.starts_with("no key in the "), "{why}");
        }
    }
}
