//! How far the tools of a role reach: what the operator's own configuration allows at most, and what
//! files and choices take away from it. Nothing adds to it.
//!
//! | scope | files that are read | files that are written | commands |
//! |---|---|---|---|
//! | `sandboxed` | the project, the record folder, skills | the project, the record folder | behind all walls |
//! | `project` | these, and the folders that the operator named | the same | behind all walls |
//! | `full` | all that the system lets this user read | the same | without walls |
//!
//! What holds keys, our own state and the insides of repositories is out of reach in every scope.

use std::path::PathBuf;

use super::Scope;
use super::setting::ToolSetting;

/// How far tools reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolReach {
    /// The scope.
    pub scope: Scope,
    /// Folders that may be read from [`Scope::Project`] on.
    pub folders: Vec<PathBuf>,
    /// Whether commands may use the network behind their walls.
    pub network: bool,
    /// Commands, byte for byte, of which the operator says that what they do cannot be taken back.
    pub irreversible: Vec<String>,
}

/// What a file or a choice takes away. What it does not speak of stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Narrowing {
    /// The widest scope.
    pub scope: Option<Scope>,
    /// Whether commands may use the network.
    pub network: Option<bool>,
}

impl ToolReach {
    /// What is left of it.
    #[must_use]
    pub fn narrowed(mut self, by: Narrowing) -> Self {
        self.scope = self.scope.narrowed(by.scope.unwrap_or(self.scope));
        self.network &= by.network.unwrap_or(true);
        self
    }

    /// Puts it into a setting.
    pub fn apply(self, setting: &mut ToolSetting) {
        setting.scope = self.scope;
        setting.extra = self.folders;
        setting.network = self.network;
        setting.irreversible_commands = self.irreversible;
    }

    /// Whether a command could reach the network: without walls nothing holds it back.
    #[must_use]
    pub fn reaches_network(&self) -> bool {
        self.network || self.scope == Scope::Full
    }

    /// A few words for it.
    #[must_use]
    pub fn words(&self) -> String {
        let network = if self.reaches_network() { "on" } else { "off" };
        format!("scope {}, network {network}", self.scope.word())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scopes() -> impl Strategy<Value = Scope> {
        prop::sample::select(Scope::ALL.to_vec())
    }

    fn reaches() -> impl Strategy<Value = ToolReach> {
        (scopes(), any::<bool>(), 0..3_usize).prop_map(|(scope, network, folders)| ToolReach {
            scope,
            folders: (0..folders).map(|it| format!("/f{it}").into()).collect(),
            network,
            irreversible: Vec::new(),
        })
    }

    fn narrowings() -> impl Strategy<Value = Narrowing> {
        let parts = (prop::option::of(scopes()), prop::option::of(any::<bool>()));
        parts.prop_map(|(scope, network)| Narrowing { scope, network })
    }

    fn is_within(one: &ToolReach, other: &ToolReach) -> bool {
        one.scope <= other.scope && one.network <= other.network && one.folders == other.folders
    }

    #[test]
    fn what_is_said_at_each_place_leaves_the_narrowest() {
        use Scope::{Full, Project, Sandboxed};
        // The operator's configuration, the role's file, what was chosen for the role.
        for (most, file, chosen, left) in [
            (Sandboxed, None, None, Sandboxed),
            (Sandboxed, Some(Full), Some(Full), Sandboxed),
            (Project, None, None, Project),
            (Project, Some(Full), None, Project),
            (Project, Some(Sandboxed), Some(Full), Sandboxed),
            (Full, None, None, Full),
            (Full, Some(Project), None, Project),
            (Full, None, Some(Sandboxed), Sandboxed),
            (Full, Some(Full), Some(Full), Full),
        ] {
            let reach = ToolReach {
                scope: most,
                ..ToolReach::default()
            };
            let by = |scope| Narrowing {
                scope,
                network: None,
            };
            let found = reach.narrowed(by(file)).narrowed(by(chosen)).scope;
            assert_eq!(found, left, "{most:?} {file:?} {chosen:?}");
        }
    }

    proptest! {
        #[test]
        fn no_number_of_files_and_choices_in_any_order_widens_a_reach(
            reach in reaches(), said in prop::collection::vec(narrowings(), 0..6),
        ) {
            let all = |said: &[Narrowing]| said.iter().fold(reach.clone(), |left, by| left.narrowed(*by));
            let left = all(&said);
            prop_assert!(is_within(&left, &reach));
            for by in &said {
                prop_assert!(left.scope <= by.scope.unwrap_or(Scope::Full));
                prop_assert!(left.network <= by.network.unwrap_or(true));
            }
            let backwards: Vec<Narrowing> = said.iter().rev().copied().collect();
            prop_assert_eq!(&all(&backwards), &left);
            let twice = said.iter().fold(left.clone(), |left, by| left.narrowed(*by));
            prop_assert_eq!(twice, left);
        }
    }
}
