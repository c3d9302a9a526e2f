//! The tools of one turn.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use a_society_base::redact::Redactor;
use a_society_base::stop::StopSignal;
use a_society_facts::Hash;
use a_society_facts::fact::terms::{CommandTerms, ConsentTerms, FileTerms};
use a_society_facts::fact::turn::{CallEnd, Effect, SeenFile as Known};
use a_society_facts::id::CallId;
use a_society_facts::message::{Message, ToolCall};
use a_society_providers::ToolDefinition;

use super::arguments::{self, ChangeArguments, ToolArguments, canonical, definitions, twin};
use super::command::ended_line;
use super::deed::{Deed, SessionReading};
use super::files::{Located, Roots};
use super::form::clipped;
use super::output::{Keeps, Length, ShownFile, ToolOutput, bound, floor};
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::running::{Finished, RunningCall};
use super::setting::{Owner, ToolSetting};
use super::shown_files::SeenFiles;
use super::web::Web;
use super::{files, limits};
use crate::consent::policy::{FileNames, Judged, ServerTool, Subject};
use crate::consent::{Action, ConsentQuestion, Tier, shown};
use crate::number::grouped;

/// The tools of one turn. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Toolbox(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub setting: ToolSetting,
    pub roots: Roots,
    pub redactor: Redactor,
    /// The tools that there are, made when they are asked for first.
    pub definitions: OnceLock<Arc<[ToolDefinition]>>,
    pub seen: SeenFiles,
    /// The sizes of the images that the session holds.
    pub images: Mutex<Vec<u64>>,
    /// Commands beside the turn that ended with an earlier process, until they are named in a result.
    pub left: Mutex<BTreeMap<u32, String>>,
    pub web: Web,
}

/// The sizes of the images in a conversation.
fn sizes<'m>(said: impl Iterator<Item = &'m Message>) -> Vec<u64> {
    let images = said.filter_map(Message::image);
    images.map(|image| image.bytes).collect()
}

impl Toolbox {
    /// Opens the folders that the tools work in.
    pub fn open(setting: ToolSetting) -> Result<Self, String> {
        Self::over(setting, Web::public())
    }

    pub(super) fn over(setting: ToolSetting, web: Web) -> Result<Self, String> {
        let roots = Roots::open(&setting)?;
        let key = setting.search.as_ref().map(|service| service.key.clone());
        let secrets: Vec<String> = setting.secrets.iter().cloned().chain(key).collect();
        let redactor = Redactor::new(&secrets);
        let images = sizes(setting.said.iter().map(|said| &**said));
        let mut left = setting.left_running.clone();
        left.retain(|number, _| {
            let (role, id) = (&setting.owner.role, number.to_string());
            setting.background.find(role, &id).is_none()
        });
        Ok(Self(Arc::new(Inner {
            setting,
            roots,
            redactor,
            definitions: OnceLock::new(),
            seen: SeenFiles::default(),
            images: Mutex::new(images),
            left: Mutex::new(left),
            web,
        })))
    }

    /// The tools that there are.
    #[must_use]
    pub fn definitions(&self) -> &Arc<[ToolDefinition]> {
        let made = || definitions(&self.0.setting);
        self.0.definitions.get_or_init(made)
    }

    /// A stop of the turn ends the commands that run beside it.
    pub(crate) fn heed(&self, stop: &StopSignal) {
        let setting = &self.0.setting;
        setting.background.end_at(&setting.owner.role, stop);
    }

    /// The turn is over, and so are the commands that run beside it.
    pub(crate) fn end_background(&self) {
        let setting = &self.0.setting;
        setting.background.end(&setting.owner.role);
    }

    /// The session is another one now, and holds these images.
    pub(crate) fn holds_images_of<'m>(&self, said: impl Iterator<Item = &'m Message>) {
        let mut images = self.0.images.lock().unwrap_or_else(PoisonError::into_inner);
        *images = sizes(said);
    }

    /// Blanks out secrets in any text, such as an answer or an error of a provider.
    #[must_use]
    pub(crate) fn redact(&self, text: &str) -> String {
        self.0.redactor.redact(text)
    }

    /// What finds secrets, for texts that arrive in pieces: see [`a_society_base::redact::RedactedStream`].
    #[must_use]
    pub(crate) fn redactor(&self) -> Redactor {
        self.0.redactor.clone()
    }

    /// The hashes that the files of a checkable call have now, in the order in which it changes them;
    /// nothing for one that is not there. After a crash they tell whether the call happened.
    pub fn hashes_now(&self, call: &ToolCall) -> Result<Vec<Option<Hash>>, CallRefusal> {
        let roots = &self.0.roots;
        let each = changed_paths(call)?.into_iter().map(|path| {
            let found = files::hash_of(roots, &roots.locate(&path)?)?;
            Ok(found.map(|(hash, _)| hash))
        });
        each.collect()
    }

    /// Removes what a killed process left of a checkable call: files that were written and had not taken
    /// their places.
    pub fn clear_halves(&self, call: &ToolCall) -> Result<(), CallRefusal> {
        let roots = &self.0.roots;
        let mut paths = changed_paths(call)?.into_iter();
        paths.try_for_each(|path| files::clear_halves(roots, &roots.locate(&path)?))
    }

    /// Says what a call would do. Nothing happens.
    pub fn plan(&self, call: &ToolCall) -> Result<CallPlan, CallRefusal> {
        self.judged(call).map_err(|refusal| CallRefusal {
            text: self.redact(&refusal.text),
            ..refusal
        })
    }

    fn judged(&self, call: &ToolCall) -> Result<CallPlan, CallRefusal> {
        let offered = self.definitions();
        let meant = canonical(&call.name);
        let is_meant = |tool: &ToolDefinition| {
            meant == Some(tool.name.as_str()) || (meant.is_some() && twin(&tool.name) == meant)
        };
        if meant.is_none() || !offered.iter().any(is_meant) {
            let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
            let text = format!(
                "There is no tool {}. There are: {}.",
                clipped(&call.name),
                names.join(", ")
            );
            return Err(CallRefusal::new(RefusalKind::UnknownTool, text));
        }
        let text = call.input.get();
        if text.len() > limits::ARGUMENTS_BYTES {
            let text = format!(
                "The arguments are {} bytes long; {} are allowed. Do it in parts.",
                text.len(),
                limits::ARGUMENTS_BYTES
            );
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        match arguments::parse(&call.name, text)? {
            ToolArguments::ReadFile(given) => self.plan_read_file(&given, text),
            ToolArguments::ListDirectory(given) => self.plan_list(&given, text),
            ToolArguments::Grep(given) => self.plan_grep(&given, text),
            ToolArguments::Glob(given) => self.plan_glob(&given, text),
            ToolArguments::Change(ChangeArguments::Edit(given)) => self.plan_edit(given, text),
            ToolArguments::Change(ChangeArguments::Write(given)) => self.plan_write(given, text),
            ToolArguments::Change(ChangeArguments::Patch(given)) => self.plan_patch(&given, call),
            ToolArguments::RunCommand(given) => self.plan_command(given, text),
            ToolArguments::CommandOutput(given) => self.plan_output(given, text),
            ToolArguments::Todo(given) => self.plan_todo(&given, text),
            ToolArguments::SessionsList(given) => {
                self.plan_sessions(SessionReading::List(given), text)
            }
            ToolArguments::SessionsHistory(given) => {
                self.plan_sessions(SessionReading::History(given), text)
            }
            ToolArguments::SessionsSend(given) => self.plan_send(given, text),
            ToolArguments::FetchUrl(given) => self.plan_fetch(&given, text),
            ToolArguments::WebSearch(given) => self.plan_web_search(&given, text),
        }
    }

    /// Starts a call: a command's process waits at its gate from here on, and nothing else has
    /// happened. The intent must be durable, and consent given.
    pub(crate) fn start(
        &self,
        plan: CallPlan,
        call: &CallId,
        stop: &StopSignal,
    ) -> Result<RunningCall, Finished> {
        let held = match &plan.deed {
            Deed::Command(launch) => match self.hold(launch, call) {
                Ok(held) => Some(held),
                Err(why) => return Err(self.finished(CallEnd::Failed, ToolOutput::of(why), call)),
            },
            Deed::Read(_)
            | Deed::Write(..)
            | Deed::Patch(_)
            | Deed::Fetch(_)
            | Deed::Search(_)
            | Deed::Output(_)
            | Deed::Todo(_)
            | Deed::Sessions(_)
            | Deed::Send(_)
            | Deed::Say(_) => None,
        };
        Ok(RunningCall {
            toolbox: self.clone(),
            deed: plan.deed,
            tier: plan.ask.tier,
            held,
            call: call.clone(),
            stop: stop.clone(),
        })
    }

    /// Does what needs no process.
    pub(super) fn perform(
        &self,
        deed: Deed,
        tier: &Tier,
        (call, stop): (&CallId, &StopSignal),
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        match deed {
            Deed::Read(reading) => self.read(&reading, tier, stop),
            Deed::Write(writing, real) => self.write(&writing, real),
            Deed::Patch(patching) => self.patch(&patching),
            Deed::Output(given) => self.command_output(&given, stop),
            Deed::Todo(told) => Ok(Self::todo(told)),
            Deed::Sessions(reading) => self.sessions(&reading),
            Deed::Send(asked) => self.send(&asked, call, stop),
            Deed::Fetch(fetch) => self.fetch(*fetch, stop),
            Deed::Search(query) => self.web_search(*query, stop),
            Deed::Say(text) => Ok((CallEnd::Done, ToolOutput::of(text))),
            Deed::Command(_) => Ok((CallEnd::NotRun, ToolOutput::of("The command was not held."))),
        }
    }

    /// What consent needs to know, bound to all that the call depends on.
    pub(super) fn ask(&self, tool: &str, raw: &str, wants: ConsentNeeds) -> ConsentQuestion {
        let Owner { flow, role, node } = &self.0.setting.owner;
        let action = Action {
            tool,
            arguments: raw,
            folder: &wants.folder,
            environment: &wants.environment,
            sandbox: &wants.sandbox,
            network: if self.0.setting.network { "on" } else { "off" },
            flow: flow.as_str(),
            role: role.as_str(),
            node: node.as_ref().map_or("", |node| node.as_str()),
            definition: "",
        };
        ConsentQuestion {
            ruled: self.ruled(tool, &wants),
            action: action.hash(),
            tool: tool.to_owned(),
            tier: wants.tier,
            command: wants.command,
            terms: self.clean(wants.terms),
            shown: shown(&self.redact(&wants.shown)),
        }
    }

    /// What the operator's rules say about a call.
    pub(super) fn ruled(&self, tool: &str, wants: &ConsentNeeds) -> Option<Judged> {
        let policy = &self.0.setting.policy;
        if policy.is_empty() {
            return None;
        }
        let host = match &wants.terms {
            ConsentTerms::Web { host } => Some(host.as_str()),
            ConsentTerms::Command(_)
            | ConsentTerms::Files { .. }
            | ConsentTerms::Reading { .. }
            | ConsentTerms::Server(_)
            | ConsentTerms::Session => None,
        };
        let lacks_walls = match &wants.terms {
            ConsentTerms::Command(terms) => !terms.missing.is_empty(),
            ConsentTerms::Files { .. }
            | ConsentTerms::Reading { .. }
            | ConsentTerms::Web { .. }
            | ConsentTerms::Server(_)
            | ConsentTerms::Session => false,
        };
        policy.judge(&Subject {
            tool,
            tier: &wants.tier,
            command: wants.command.as_deref(),
            files: &wants.files,
            host,
            server: None,
            is_irreversible: wants.is_irreversible,
            lacks_walls,
        })
    }

    /// What the operator's rules say about a call of a server's tool.
    #[must_use]
    pub fn ruled_remote(
        &self,
        tool: &str,
        tier: &Tier,
        server: &str,
        raw: &str,
        is_irreversible: bool,
    ) -> Option<Judged> {
        self.0.setting.policy.judge(&Subject {
            tool,
            tier,
            command: None,
            files: &[],
            host: None,
            server: Some(ServerTool { server, tool: raw }),
            is_irreversible,
            lacks_walls: false,
        })
    }

    /// A file under both of its names, for rules.
    pub(super) fn names_of(&self, located: &Located) -> FileNames {
        let real = files::real_of(&self.0.roots, located);
        FileNames {
            shown: located.shown.clone(),
            real: real.and_then(|real| self.0.roots.named(&real)),
        }
    }

    /// Names of files and folders can hold secrets, too.
    fn clean(&self, terms: ConsentTerms) -> ConsentTerms {
        match terms {
            ConsentTerms::Command(command) => ConsentTerms::Command(CommandTerms {
                folder: self.redact(&command.folder),
                ..command
            }),
            ConsentTerms::Files { files } => {
                let files = files.into_iter().map(|file| FileTerms {
                    path: self.redact(&file.path),
                    ..file
                });
                ConsentTerms::Files {
                    files: files.collect(),
                }
            }
            ConsentTerms::Reading { paths } => ConsentTerms::Reading {
                paths: paths.iter().map(|path| self.redact(path)).collect(),
            },
            terms
            @ (ConsentTerms::Web { .. } | ConsentTerms::Server(_) | ConsentTerms::Session) => terms,
        }
    }

    pub(super) fn planned(
        &self,
        tool: &'static str,
        effect: Effect,
        summary: String,
        ask: ConsentQuestion,
        deed: Deed,
    ) -> CallPlan {
        let line = self.redact(&summary.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = shown(&line);
        CallPlan {
            tool,
            effect,
            before: None,
            after: None,
            files: Vec::new(),
            texts: Vec::new(),
            summary: shortened(&line),
            ask,
            deed,
        }
    }

    /// What a model gets of an output. What does not fit is kept beside it first.
    pub(super) fn finished(&self, end: CallEnd, output: ToolOutput, call: &CallId) -> Finished {
        let inner = &self.0;
        let body = inner.redactor.redact(&output.body);
        let (text, is_cut) = self.within_bounds(&body, output.keeps, output.full, call);
        let clean = |text: &str| inner.redactor.redact(text);
        let mut told = [clean(&output.head), text, clean(&output.tail)].concat();
        let left = std::mem::take(&mut *inner.left.lock().unwrap_or_else(PoisonError::into_inner));
        if !left.is_empty() && !told.ends_with('\n') {
            told.push('\n');
        }
        told.push_str(&clean(&ended_line(&left)));
        Finished {
            end,
            output: told,
            is_cut: is_cut || output.is_cut,
            seen: self.noted(output.seen),
            image: output.image,
            exit: output.exit,
        }
    }

    /// Remembers files that are shown, or made, as they are now, and returns them for the record. A file
    /// without a path in the roots is not recorded.
    fn noted(&self, seen: Vec<ShownFile>) -> Vec<Known> {
        let inner = &self.0;
        let each = seen.into_iter().filter_map(|ShownFile { real, hash }| {
            let path = inner.roots.named(&real);
            inner.seen.put(real, Some(hash));
            let path = path?;
            (inner.redactor.redact(&path) == path).then_some(Known { path, hash })
        });
        each.collect()
    }

    /// Remembers files of which it is recorded that the role knows them.
    pub fn remember(&self, seen: Arc<BTreeMap<String, Hash>>) {
        self.0.seen.record(seen);
    }

    /// As what a file was shown, if it was, in this turn or before.
    pub(super) fn seen_as(&self, real: &Path) -> Option<Option<Hash>> {
        let Inner { roots, seen, .. } = &*self.0;
        let shown = seen.get(real);
        if shown.is_some() {
            return shown;
        }
        let recorded = seen.recorded();
        let named = roots.named(real);
        let hash = named.and_then(|name| recorded.get(&name).copied());
        // Older records and those of another flow name a file in other ways.
        let elsewhere = || {
            let name = real.file_name()?.to_str()?;
            let mut others = recorded.iter().filter(|(path, _)| path.ends_with(name));
            let is_it = |path: &str| {
                let located = roots.locate(path);
                located.is_ok_and(|located| roots.real(&located) == real)
            };
            others.find_map(|(path, hash)| is_it(path).then_some(*hash))
        };
        hash.or_else(elsewhere).map(Some)
    }

    /// A text without secrets, as much of it as a model gets.
    fn within_bounds(
        &self,
        body: &str,
        keeps: Keeps,
        full: Option<Length>,
        call: &CallId,
    ) -> (String, bool) {
        let limits = self.0.setting.limits;
        let Some(mut cut) = bound(body, limits.output_bytes, limits.output_lines, keeps) else {
            return (body.to_owned(), false);
        };
        if let Some(full) = full {
            // What was dropped while it arrived is missing in the middle as well.
            let shown = [cut.head, cut.tail].map(Length::of);
            let rest = |all: u64, shown: [u64; 2]| all.saturating_sub(shown.iter().sum());
            cut.missing = Length {
                bytes: rest(full.bytes, shown.map(|it| it.bytes)),
                lines: rest(full.lines, shown.map(|it| it.lines)),
            };
        }
        let kept = self.keep_output(call, body, full.is_some());
        (cut.told(kept.as_deref()), true)
    }

    /// Keeps what was cut out of an output, and says where.
    fn keep_output(&self, call: &CallId, body: &str, is_partial: bool) -> Option<String> {
        let most = self.0.setting.limits.blob_bytes;
        // Beyond it is at most the mark of what was dropped before.
        let end = if is_partial {
            body.len()
        } else {
            floor(body, most)
        };
        let part = body.get(..end)?;
        let path = files::keep(&self.0.roots, call.as_str(), part.as_bytes()).ok()?;
        let what = match (is_partial, part.len() < body.len()) {
            (false, false) => "all of it".to_owned(),
            (false, true) => format!("its first {} bytes", grouped(part.len())),
            (true, _) => format!("the first and last {} bytes", grouped(most as u64 / 2)),
        };
        Some(format!("{what}: {path}"))
    }

    /// An output of a tool that is not ours, and more of it, if there is more.
    pub(crate) fn kept_beside(
        &self,
        text: String,
        whole: Option<&[u8]>,
        call: &CallId,
    ) -> (String, bool) {
        let Some(whole) = whole else {
            return self.within_bounds(&text, Keeps::Beginning, None, call);
        };
        let most = self.0.setting.limits.blob_bytes;
        let part = whole.get(..most).unwrap_or(whole);
        let kept = files::keep(&self.0.roots, call.as_str(), part);
        let where_it_is = kept.unwrap_or_else(|_| "it could not be kept".to_owned());
        let bytes = grouped(whole.len());
        (
            format!("{text}\n[{bytes} bytes in all: {where_it_is}]"),
            true,
        )
    }
}

/// What consent needs to know, before it is bound to whose call it is.
#[derive(Debug)]
pub(super) struct ConsentNeeds {
    pub tier: Tier,
    pub terms: ConsentTerms,
    pub command: Option<String>,
    pub folder: String,
    pub environment: String,
    pub sandbox: String,
    pub shown: String,
    /// The files that change.
    pub files: Vec<FileNames>,
    /// Whether what it does cannot be taken back.
    pub is_irreversible: bool,
}

impl Default for ConsentNeeds {
    fn default() -> Self {
        Self {
            tier: Tier::Free,
            terms: ConsentTerms::Session,
            command: None,
            folder: String::new(),
            environment: String::new(),
            sandbox: String::new(),
            shown: String::new(),
            files: Vec::new(),
            is_irreversible: false,
        }
    }
}

/// One line of a bearable length.
fn shortened(line: &str) -> String {
    const SHOWN_CHARS: usize = 160;
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}

/// The files that a checkable call changes, in its order.
fn changed_paths(call: &ToolCall) -> Result<Vec<String>, CallRefusal> {
    let ToolArguments::Change(change) = arguments::parse(&call.name, call.input.get())? else {
        let text = format!("{} changes no file that could be looked at.", call.name);
        return Err(CallRefusal::new(RefusalKind::NotPossible, text));
    };
    Ok(match change {
        ChangeArguments::Edit(given) => vec![given.path],
        ChangeArguments::Write(given) => vec![given.path],
        ChangeArguments::Patch(given) => {
            let sections = given.sections()?.into_iter();
            sections.map(|section| section.path).collect()
        }
    })
}
