//! What the operator does with files in a turn of their own, at the cursor of `run` and on the screen of `watch` alike:
//! one is written in their editor, one is chosen by its path, and words that send work back become one.

use std::path::PathBuf;

use a_society_facts::Hash;
use a_society_facts::handoff::Artifact;
use a_society_facts::view::flow::FlowState;
use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_orchestrator::record::Places;
use a_society_orchestrator::record::own::{self, ChosenFile, OwnTurnEnding, Unwritten};
use a_society_state::disk::Disk;
use a_society_state::{FlowRef, Store};

use super::artifact_text;
use super::editor::{self, Edited};
use super::own_turn::{Act, Own};
use super::say::project_folder;

/// How many files a choice lists.
const FILES_LISTED_MAX: usize = 12;

/// So many files are named whose paths have what was typed in them.
const NEAR_MAX: usize = 5;

/// The turn that the operator takes, if a question is about one, and what came in for it.
pub(crate) fn own_turn(
    store: &Store,
    flow: &FlowRef,
    state: &FlowState,
    ask: &OpenAsk,
) -> Option<(Own, String)> {
    let (turn, came_in) = artifact_text::own_turn_of(store, flow, state, ask)?;
    let role = ask.role.as_ref()?;
    let disk = store.ground().disk.as_ref();
    let (files, _) = own::files(disk, &store.place(flow).record(), FILES_LISTED_MAX);
    let has_text = !came_in.trim().is_empty();
    let own = Own::new(turn, role.to_string(), files, has_text);
    Some((own, came_in))
}

/// What an act leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The role is answered with this.
    Reply(String),
    /// Prints this, and the turn goes on.
    Said(String),
}

/// The files of a turn that the operator takes.
#[derive(Debug)]
pub(crate) struct TurnFiles<'a> {
    pub(crate) store: &'a Store,
    pub(crate) flow: &'a FlowRef,
    /// What a person writes a file with.
    pub(crate) editor: &'a str,
}

impl TurnFiles<'_> {
    /// Carries out what was chosen. The terminal is the editor's while a file is edited.
    pub(crate) fn carry_out(&self, own: &mut Own, act: Act) -> Option<Next> {
        Some(match act {
            Act::Edit(path) => Next::Said(self.edit(own, &path)),
            Act::Bring(path) => Next::Said(match self.bring(own, &path) {
                Ok(ChosenFile { artifact, is_copy }) => {
                    let Artifact {
                        path: made, bytes, ..
                    } = artifact;
                    if is_copy {
                        format!("{made} holds the {bytes} bytes of {path}; h hands it over")
                    } else {
                        format!("{made} is there, {bytes} bytes; h hands it over as it is then")
                    }
                }
                Err(why) => format!("{path} cannot be handed over: {why}"),
            }),
            Act::SendBack { to, path, words } => {
                match self.write(own, &path, &format!("{words}\n"), None) {
                    Ok(path) => Next::Reply(own::reply(&OwnTurnEnding::Hands { to, path })),
                    Err(why) => Next::Said(why),
                }
            }
            Act::End(ending) => Next::Reply(own::reply(&ending)),
            Act::Answer(words) => Next::Reply(words),
            Act::Read | Act::Later | Act::Said(_) | Act::Again => return None,
        })
    }

    /// The shared folder of the flow.
    fn record(&self) -> PathBuf {
        self.store.place(self.flow).record()
    }

    fn disk(&self) -> &dyn Disk {
        self.store.ground().disk.as_ref()
    }

    /// Lets the operator write a file of the shared folder in an editor. Returns the outcome, in words.
    fn edit(&self, own: &mut Own, path: &str) -> String {
        let there = own::file(self.disk(), &self.record(), path).ok();
        let over = there.as_ref().map(|found| found.artifact.hash);
        let before = there.map(|found| String::from_utf8(found.bytes));
        let Ok(before) = before.transpose() else {
            return format!("{path} is no text, and cannot be edited here");
        };
        let before = before.unwrap_or_default();
        let (said, file) = match editor::edit(self.disk(), self.editor, path, &before) {
            Edited::Text(said, file) => (said, file),
            Edited::Nothing(why) => return why,
        };
        match self.write(own, path, &said, over) {
            Ok(path) => format!("{path} is written"),
            Err(why) => match file.keep() {
                Ok((_, kept)) => format!("{why}; what you wrote is in {}", kept.display()),
                Err(error) => format!("{why}, and what you wrote could not be kept: {error}"),
            },
        }
    }

    /// Finds the file that is chosen; one outside the project is copied into the shared folder.
    fn bring(&self, own: &mut Own, written: &str) -> Result<ChosenFile, String> {
        let places = Places {
            record: self.record(),
            project: project_folder(self.store, &self.flow.project),
            lineage: vec![self.flow.flow.clone()],
        };
        let made = own::bring(self.disk(), &places, written).map_err(|why| {
            let (near, _) = own::project_files(self.disk(), &places.project, written, NEAR_MAX);
            let near: Vec<String> = near.into_iter().map(|(path, _)| path).collect();
            if near.is_empty() || near.iter().any(|path| path == written) {
                return why;
            }
            format!("{why}; there is {}", near.join(", "))
        })?;
        own.wrote(&made.artifact.path, made.artifact.bytes);
        Ok(made)
    }

    /// Writes a file of the shared folder, and gives its path, or why it was not written.
    fn write(
        &self,
        own: &mut Own,
        path: &str,
        text: &str,
        over: Option<Hash>,
    ) -> Result<String, String> {
        let written = own::write(self.disk(), &self.record(), path, text.as_bytes(), over);
        let made = written.map_err(|unwritten| match unwritten {
            Unwritten::Path(why) | Unwritten::Disk(why) => {
                format!("{path} was not written: {why}")
            }
            Unwritten::Other => format!(
                "{path} was not written: a file of this name is there, and not the one that was read"
            ),
        })?;
        own.wrote(&made.path, made.bytes);
        Ok(made.path)
    }
}
