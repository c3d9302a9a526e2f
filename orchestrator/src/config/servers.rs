//! Which MCP servers there are, and which of them may run.
//!
//! | Where a server is listed | When it may run |
//! |---|---|
//! | `mcp-servers` of the operator's `config.yaml` | a flow that meets it first trusts it; a definition that is another than the one the flow trusts waits until the operator approves it |
//! | `.mcp.json` of a project or of its workspace | it is only wanted; it waits until the operator approves its very definition, and again whenever that changes |
//!
//! Approvals are in `approved-servers.json` beside `config.yaml`, outside every workspace.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use a_society_base::redact::Redactor;
use a_society_facts::Hash;
use a_society_facts::fact::terms::WaitingServer;
use a_society_mcp::{ServerSpec, wanted};
use serde::{Deserialize, Serialize};

use super::user::{self, ConfigError};

/// The list of servers that a folder would like to have.
pub(crate) const WANTED: &str = ".mcp.json";

/// The file of what was approved, beside the configuration.
const APPROVED: &str = "approved-servers.json";

/// The largest list that is read, and the largest file of approvals: both are short texts.
const LIST_BYTES_MAX: u64 = 1024 * 1024;

/// How many folders of a workspace are looked at for lists. Workspaces have a few projects.
const FOLDERS_MAX: usize = 1_000;

/// The shortest prefix of a hash that identifies it: two definitions that share it cannot be found.
pub const BEGINNING: usize = 12;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// Its name.
    pub name: String,
    /// What runs or is reached.
    pub shown: String,
    /// The hash of that.
    pub definition: Hash,
    /// The list that wants it; absent if it is the operator's own.
    pub from: Option<PathBuf>,
    /// What the operator approved under this name last, if anything.
    pub approved: Option<Hash>,
    /// Whether one of the operator's own has the name.
    pub is_hidden: bool,
    spec: ServerSpec,
}

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerStanding {
    /// It is the operator's own.
    Own,
    /// The operator approved it as it is.
    Approved,
    /// The operator approved something else under its name.
    Changed,
    /// It is not approved.
    Wanted,
    /// One of the operator's own has its name, so that it is never used.
    Hidden,
}

/// Whether a flow may use a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerVerdict {
    /// No server has this name.
    Unknown,
    /// The flow trusts it already.
    Known,
    /// It may, and from now on the flow trusts this definition.
    Trusted(Hash),
    /// The operator has to look at it first: why, and at what.
    Waits(String, WaitingServer),
}

/// All servers that a flow could use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roster {
    /// The servers, the operator's own first.
    pub entries: Vec<ServerEntry>,
    /// What is wrong with the lists of the workspace.
    pub faults: Vec<String>,
}

impl ServerEntry {
    /// Its state.
    #[must_use]
    pub fn standing(&self) -> ServerStanding {
        match (&self.from, self.approved) {
            (Some(_), _) if self.is_hidden => ServerStanding::Hidden,
            (_, Some(approved)) if approved == self.definition => ServerStanding::Approved,
            (None, _) => ServerStanding::Own,
            (Some(_), Some(_)) => ServerStanding::Changed,
            (Some(_), None) => ServerStanding::Wanted,
        }
    }

    /// Why it waits, with the line that approves it. What it would run is data beside this, which every screen
    /// shows with its environment.
    fn waits(&self, why: &str) -> ServerVerdict {
        let digits = self.definition.to_string();
        let digits = digits.get(..BEGINNING).unwrap_or_default();
        let why = format!(
            "the MCP server {name} {why}\nIf what it runs is right: a-society mcp approve {name} \
             {digits}, then retry",
            name = self.name,
        );
        let clean = Redactor::new(&[]);
        let waiting = WaitingServer {
            server: self.name.clone(),
            definition: self.definition,
            reached: self.spec.reached(|text| clean.redact(text)),
        };
        ServerVerdict::Waits(why, waiting)
    }
}

impl Roster {
    /// Reads the operator's servers, and what these lists want. Starts nothing.
    ///
    /// # Errors
    /// When the configuration or the file of approvals cannot be read or means nothing.
    pub fn read(lists: &[PathBuf]) -> Result<Self, ConfigError> {
        let approvals = Approvals::read()?;
        let mut roster = Self::default();
        for spec in user::server_specs()? {
            roster.add(spec, None, &approvals);
        }
        for list in lists {
            let text = match read_list(list) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(why) => {
                    roster.faults.push(format!("{}: {why}", list.display()));
                    continue;
                }
            };
            let (wishes, faults) = wanted(&text);
            let said = |fault: String| format!("{}: {fault}", list.display());
            roster.faults.extend(faults.into_iter().map(said));
            for wish in wishes {
                let definition = wish.definition;
                if let Some(spec) = wish.approved(definition) {
                    roster.add(spec, Some(list.clone()), &approvals);
                }
            }
        }
        Ok(roster)
    }

    fn add(&mut self, spec: ServerSpec, from: Option<PathBuf>, approvals: &Approvals) {
        self.entries.push(ServerEntry {
            name: spec.name.clone(),
            shown: spec.shown(),
            definition: spec.definition_hash(),
            approved: approvals.of(&spec.name, from.as_deref()),
            is_hidden: from.is_some() && self.is_own(&spec.name),
            from,
            spec,
        });
    }

    fn is_own(&self, name: &str) -> bool {
        let is_it = |entry: &ServerEntry| entry.from.is_none() && entry.name == name;
        self.entries.iter().any(is_it)
    }

    /// The server of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&ServerEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Whether a flow that trusts a definition, or none yet, may use the server of a name.
    #[must_use]
    pub(crate) fn judge(&self, name: &str, trusted: Option<Hash>) -> ServerVerdict {
        let Some(entry) = self.named(name) else {
            return ServerVerdict::Unknown;
        };
        let is_trusted = trusted == Some(entry.definition);
        let why = match entry.standing() {
            ServerStanding::Own if is_trusted => return ServerVerdict::Known,
            ServerStanding::Own if trusted.is_none() => {
                return ServerVerdict::Trusted(entry.definition);
            }
            ServerStanding::Approved if is_trusted => return ServerVerdict::Known,
            ServerStanding::Approved => return ServerVerdict::Trusted(entry.definition),
            ServerStanding::Own => "is not as this flow knows it",
            ServerStanding::Changed => "is not as it was approved",
            ServerStanding::Wanted | ServerStanding::Hidden => {
                "is wanted by the workspace and was not approved"
            }
        };
        entry.waits(why)
    }

    /// Those that may be started at all, as they are now.
    #[must_use]
    pub(crate) fn startable(&self) -> Vec<ServerSpec> {
        let may = |entry: &&ServerEntry| match entry.standing() {
            ServerStanding::Own | ServerStanding::Approved => true,
            ServerStanding::Changed | ServerStanding::Wanted | ServerStanding::Hidden => false,
        };
        let specs = self.entries.iter().filter(may);
        specs.map(|entry| entry.spec.clone()).collect()
    }
}

/// What the operator approved.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approvals {
    servers: Vec<Approval>,
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    /// The server.
    server: String,
    /// The list that wants it; absent if it is the operator's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<PathBuf>,
    /// What was approved.
    definition: Hash,
}

impl Approvals {
    fn path() -> Result<PathBuf, ConfigError> {
        let beside = user::path()?;
        Ok(beside.with_file_name(APPROVED))
    }

    fn read() -> Result<Self, ConfigError> {
        let path = Self::path()?;
        let unfit = |why: String| ConfigError::Unreadable {
            path: path.clone(),
            why,
        };
        match user::read(&path, LIST_BYTES_MAX).map_err(unfit)? {
            None => Ok(Self::default()),
            Some(text) => serde_json::from_str(&text).map_err(|why| unfit(why.to_string())),
        }
    }

    fn of(&self, server: &str, from: Option<&Path>) -> Option<Hash> {
        let is_meant = |it: &&Approval| it.server == server && it.from.as_deref() == from;
        let found = self.servers.iter().find(is_meant);
        found.map(|approval| approval.definition)
    }

    fn save(&self) -> Result<(), ConfigError> {
        let path = Self::path()?;
        let unfit = |why: String| ConfigError::Unreadable {
            path: path.clone(),
            why,
        };
        let mut text =
            serde_json::to_string_pretty(self).map_err(|error| unfit(error.to_string()))?;
        text.push('\n');
        user::replace(&path, &text).map_err(|error| unfit(error.to_string()))
    }
}

/// Approves a server as it is.
///
/// # Errors
/// When the file of approvals cannot be read or written.
pub fn approve(entry: &ServerEntry) -> Result<(), ConfigError> {
    let mut approvals = Approvals::read()?;
    forget(&mut approvals, entry);
    approvals.servers.push(Approval {
        server: entry.name.clone(),
        from: entry.from.clone(),
        definition: entry.definition,
    });
    approvals.save()
}

/// Takes an approval back; says whether there was one.
///
/// # Errors
/// As [`approve`].
pub fn revoke(entry: &ServerEntry) -> Result<bool, ConfigError> {
    let mut approvals = Approvals::read()?;
    if !forget(&mut approvals, entry) {
        return Ok(false);
    }
    approvals.save()?;
    Ok(true)
}

fn forget(approvals: &mut Approvals, entry: &ServerEntry) -> bool {
    let before = approvals.servers.len();
    approvals
        .servers
        .retain(|it| it.server != entry.name || it.from != entry.from);
    approvals.servers.len() < before
}

/// The lists that a flow's project and its workspace may have, by their real paths.
#[must_use]
pub(crate) fn lists_of(project: &Path, workspace: &Path) -> Vec<PathBuf> {
    let mut lists = Vec::new();
    for folder in [project, workspace] {
        let list = real(folder).join(WANTED);
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    lists
}

/// The lists of a workspace and of the folders in it.
#[must_use]
pub fn lists_in(workspace: &Path) -> Vec<PathBuf> {
    let workspace = real(workspace);
    let entries = fs::read_dir(&workspace).into_iter().flatten().flatten();
    let folders = entries.take(FOLDERS_MAX).map(|entry| entry.path());
    let mut lists: Vec<PathBuf> = folders.map(|folder| folder.join(WANTED)).collect();
    lists.sort();
    lists.insert(0, workspace.join(WANTED));
    lists.retain(|list| fs::symlink_metadata(list).is_ok());
    lists
}

fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The text of a list. What is in a workspace is a stranger's: no link is followed out of it, and
/// nothing that is not a file is waited for.
fn read_list(path: &Path) -> Result<Option<String>, String> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(_) if is_link(path) => return Err("it is a link, which is not followed".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let about = file.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut text = String::new();
    // One byte more than a list may have, so that the parser rejects a longer list.
    let read = file.take(LIST_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    Ok(Some(text))
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink())
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::terms::ServerReach;

    use super::*;

    fn entry(from: Option<&str>, command: &str, approved: Option<&str>) -> ServerEntry {
        let list = |command: &str| {
            let text = format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\"}}}}}}");
            let wish = wanted(&text).0.remove(0);
            let hash = wish.definition;
            wish.approved(hash).unwrap()
        };
        let spec = list(command);
        ServerEntry {
            name: "s".to_owned(),
            shown: spec.shown(),
            definition: spec.definition_hash(),
            from: from.map(PathBuf::from),
            approved: approved.map(|command| list(command).definition_hash()),
            is_hidden: false,
            spec,
        }
    }

    #[test]
    fn a_server_is_used_only_as_it_was_trusted_or_approved() {
        let hash = |command: &str| entry(None, command, None).definition;
        let (a, b) = (Some(hash("a")), hash("b"));
        // From where, what was approved, what the flow trusts, and the verdict on command `b`.
        let rows = [
            (None, None, None, "trusted"),
            (None, None, Some(b), "known"),
            (None, None, a, "waits: is not as this flow knows it"),
            (None, Some("a"), a, "waits: is not as this flow knows it"),
            (None, Some("b"), a, "trusted"),
            (Some("/w/.mcp.json"), None, None, "waits: is wanted"),
            (Some("/w/.mcp.json"), None, Some(b), "waits: is wanted"),
            (
                Some("/w/.mcp.json"),
                Some("a"),
                None,
                "waits: is not as it was approved",
            ),
            (
                Some("/w/.mcp.json"),
                Some("a"),
                a,
                "waits: is not as it was approved",
            ),
            (Some("/w/.mcp.json"), Some("b"), None, "trusted"),
            (Some("/w/.mcp.json"), Some("b"), a, "trusted"),
            (Some("/w/.mcp.json"), Some("b"), Some(b), "known"),
        ];
        for (row, (from, approved, trusted, said)) in rows.into_iter().enumerate() {
            let roster = Roster {
                entries: vec![entry(from, "b", approved)],
                faults: Vec::new(),
            };
            let startable = !roster.startable().is_empty();
            match roster.judge("s", trusted) {
                ServerVerdict::Known => assert_eq!((said, startable), ("known", true), "{row}"),
                ServerVerdict::Trusted(hash) => {
                    assert_eq!((said, hash, startable), ("trusted", b, true), "{row}");
                }
                ServerVerdict::Waits(why, waiting) => {
                    let wanted = said.strip_prefix("waits: ").unwrap_or("nothing like it");
                    assert!(why.contains(wanted), "{row}: {why}");
                    let ServerReach::Program { run, .. } = &waiting.reached else {
                        panic!("{row}: {waiting:?}");
                    };
                    assert_eq!(
                        (waiting.definition, run.as_slice()),
                        (b, &["b".to_owned()][..])
                    );
                    assert!(why.contains(&b.to_string()[..BEGINNING]), "{row}: {why}");
                    assert!(from.is_none() || !startable, "{row}");
                }
                ServerVerdict::Unknown => panic!("{row}"),
            }
        }
        assert_eq!(Roster::default().judge("s", None), ServerVerdict::Unknown);
    }

    #[test]
    fn a_list_that_leads_elsewhere_or_never_ends_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(WANTED);
        assert_eq!(read_list(&path), Ok(None));
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(read_list(&path).unwrap_err().contains("a link"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(read_list(&path).is_err());
        fs::remove_dir(&path).unwrap();
        fs::write(&path, vec![b' '; 3 * 1024 * 1024]).unwrap();
        assert_eq!(read_list(&path).unwrap().unwrap().len(), 1024 * 1024);
        assert_eq!(lists_in(folder.path()).len(), 1);
    }
}
