//! Starting a flow, and going on with one.
//!
//! Both end in the same place: a flow that is open for writing, its roles, and a task that drives
//! it. Everything that a flow needs to go on is in its own folder: its graph in the journal, its script in
//! the record folder.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use a_society_facts::fact::budget::Measure;
use a_society_facts::fact::chat::{ChatContext, ChatTerms};
use a_society_facts::fact::flow::{Ends, FlowCreated, TokenBudget};
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::{ConsentMode, ConsentRules};
use a_society_facts::id::{ClientId, FlowId, ProjectName, RoleInstance, SessionKey};
use a_society_facts::line::Body;
use a_society_facts::message::Text;
use a_society_facts::{At, Fact};
use a_society_flow::graph::{FlowGraph, InlineRole, RoleBudget, RoleName};
use a_society_flow::machine::{Input, outline};
use a_society_roles::port::{RecordAccess, RecordPath};
use a_society_roles::taker::scripted::RoleScript;
use a_society_roles::tool::command::Background;
use a_society_state::disk::Disk;
use a_society_state::open::OpenReport;
use a_society_state::{Flow, FlowRef, Store};

use crate::config::models::ConfiguredModels;
use crate::config::user::{self, ConfigBounds};
use crate::control::socket::ControlDoor;
use crate::driver::core::{Core, CoreParts};
use crate::driver::error::DriverError;
use crate::driver::file_limits::BudgetLimit;
use crate::driver::room::Room;
use crate::driver::task::{Driven, drive};
use crate::limits::{TURNS_AT_ONCE, TURNS_AT_ONCE_IN_PROCESS};
use crate::mint::{self, Mint, SystemMint};
use crate::pasted_secrets::without_secrets;
use crate::project::bench::Bench;
use crate::project::docs::folder::{defaults, is_project};
use crate::project::docs::{self, library::Library};
use crate::project::files::RecordFolder;
use crate::project::flow_file::{self, FileError, FlowFile, SCRIPT_NAME, SNAPSHOT_NAME};
use crate::project::place::workspace_of;
use crate::project::workshop::Workshop;
use crate::record::Places;
use crate::sessions::reader::FlowSessions;

/// The flows of this process share its room for turns.
static ROOM: LazyLock<Room> = LazyLock::new(|| Room::new(TURNS_AT_ONCE_IN_PROCESS));

/// What a new flow is made of.
#[derive(Debug, Clone)]
pub struct NewFlow {
    /// The project it works on.
    pub project: ProjectName,
    /// The project's folder.
    pub project_folder: PathBuf,
    /// How people call it; the graph's name if absent.
    pub title: Option<String>,
    /// What it is asked to do.
    pub input: Option<String>,
    /// Its file.
    pub file: FlowFile,
    /// The text of the script that takes its turns, if one does.
    pub script: Option<String>,
    /// How it is to end, if that is chosen.
    pub ends: Ends,
    /// The tokens it may use, if that is chosen.
    pub tokens: Option<TokenBudget>,
    /// How much it may do without asking, if that is chosen; else the operator's configuration counts.
    pub mode: Option<ConsentMode>,
    /// The operator's standing rules about its calls.
    pub rules: ConsentRules,
    /// What it begins with, if it is a chat.
    pub chat: Option<NewChat>,
    /// The client's name for the command.
    pub client: Option<ClientId>,
}

/// What a new chat begins with besides its role.
#[derive(Debug, Clone, Default)]
pub struct NewChat {
    /// Its address; a new one if absent.
    pub key: Option<SessionKey>,
    /// What its person calls it.
    pub label: Option<String>,
    /// What it is about.
    pub context: ChatContext,
    /// How many turns it may have, if that is chosen.
    pub max_turns: Option<u32>,
}

/// Why a flow cannot be started or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The driver.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The record folder.
    #[error("the record folder cannot be used: {0}")]
    Record(#[from] a_society_roles::port::FileFault),
    /// The process that began it died before it was recorded that there is a flow.
    #[error("nothing was ever recorded in it: the process that began it ended at once")]
    NeverBegan,
    /// The disk.
    #[error(transparent)]
    State(#[from] a_society_state::Error),
}

/// Starts a flow and drives it.
///
/// # Errors
/// When something of it cannot be used, or the disk refuses.
pub fn start(
    store: &Store,
    new: NewFlow,
    at: At,
    turns_at_once: Option<usize>,
) -> Result<Driven, RunError> {
    let mut core = create(store, new, at, Box::new(SystemMint))?;
    core.limit_turns(turns_at_once);
    driven(core)
}

/// Starts a flow whose id says what it is for, once; nothing if it is there.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_once(
    store: &Store,
    new: NewFlow,
    id: FlowId,
    at: At,
) -> Result<Option<Driven>, RunError> {
    let mut mint: Box<dyn Mint> = Box::new(SystemMint);
    let made = MadeOf::prepare(store, new, &id, at, mint.as_mut())?;
    let Some(opened) = store.create_once(id, made.created)? else {
        return Ok(None);
    };
    let core = take_over(store, opened, made.file, made.script, made.folder, mint)?;
    driven(core).map(Some)
}

/// Makes a flow, up to the point at which it can be driven.
///
/// # Errors
/// As [`start`].
pub fn create(
    store: &Store,
    new: NewFlow,
    at: At,
    mut mint: Box<dyn Mint>,
) -> Result<Core, RunError> {
    let id = mint::flow_id(mint.as_mut(), at).map_err(DriverError::from)?;
    let made = MadeOf::prepare(store, new, &id, at, mint.as_mut())?;
    let opened = store.create(id, made.created)?;
    take_over(store, opened, made.file, made.script, made.folder, mint)
}

/// What a flow is made of whose texts are kept.
struct MadeOf {
    created: FlowCreated,
    file: FlowFile,
    script: Option<RoleScript>,
    folder: PathBuf,
}

impl MadeOf {
    /// Keeps what the flow needs, before there is one: a flow that exists has everything it needs to go on.
    fn prepare(
        store: &Store,
        new: NewFlow,
        id: &FlowId,
        at: At,
        mint: &mut dyn Mint,
    ) -> Result<Self, RunError> {
        let script = script_of(new.script.as_deref())?;
        let flow = FlowRef {
            project: new.project.clone(),
            flow: id.clone(),
        };
        let place = store.place(&flow);
        let disk = Arc::clone(&store.ground().disk);
        let files = RecordFolder::new(Arc::clone(&disk), place.make_record()?);
        files.keep(
            &RecordPath::of_name(SNAPSHOT_NAME),
            new.file.source.as_bytes(),
        )?;
        if let Some(script) = &new.script {
            files.keep(&RecordPath::of_name(SCRIPT_NAME), script.as_bytes())?;
        }
        let source = place.keep_text(new.file.source.clone())?;
        let own = (new.file.budget.as_ref()).is_some_and(|budget| budget.tokens.is_some());
        let tokens = new.tokens.or_else(|| usual_tokens().filter(|_| !own));
        let chat = match &new.chat {
            Some(chat) => Some(Box::new(chat.terms(mint, at)?)),
            None => None,
        };
        let ends = match &chat {
            Some(_) => Ends::default(),
            None => ends_of(&new, disk.as_ref()),
        };
        let origin = new.file.path.display().to_string();
        let input = new
            .input
            .map(|input| place.keep_text(without_secrets(&input)));
        let input = input.transpose()?;
        let created = FlowCreated {
            project: new.project,
            title: new
                .title
                .unwrap_or_else(|| new.file.graph.name().to_owned()),
            input,
            graph: outline(&new.file.graph, source),
            origin: chat.is_none().then_some(origin),
            draft: new.file.is_draft,
            ends,
            tokens,
            mode: new.mode.or_else(usual_mode),
            rules: new.rules,
            chat,
            client: new.client,
        };
        Ok(Self {
            created,
            file: new.file,
            script,
            folder: new.project_folder,
        })
    }
}

impl NewChat {
    /// The terms of a chat with a new address.
    fn terms(&self, mint: &mut dyn Mint, at: At) -> Result<ChatTerms, DriverError> {
        Ok(ChatTerms {
            key: match &self.key {
                Some(key) => key.clone(),
                None => mint::uuid7(mint, at)?,
            },
            label: self.label.clone(),
            context: self.context.clone(),
            max_turns: self.max_turns,
        })
    }
}

/// Drives what is open. A file system without sockets costs nothing but the way in for others.
fn driven(core: Core) -> Result<Driven, RunError> {
    let door = ControlDoor::open(&core.flow().place()).ok();
    Ok(drive(core, door)?)
}

/// How a flow ends: as the operator says, or its file, or its project. The roles of a file without a project
/// have no texts that could be improved, so that its flow ends with its forward work. What is left open is
/// asked, as everything is of a draft outside of a project, whose owner writes the graph.
fn ends_of(new: &NewFlow, disk: &dyn Disk) -> Ends {
    let of_project = is_project(disk, &new.project_folder);
    let usual = Some(ImprovementMode::None).filter(|_| !of_project && !new.file.is_draft);
    let usual = Ends {
        improve: usual,
        feedback: None,
    };
    let of_file = Ends::from(new.file.ends);
    let of_project = defaults(disk, &new.project_folder).into();
    new.ends.or(of_file).or(of_project).or(usual)
}

/// What the operator changes of the terms of a flow as it goes on.
#[derive(Debug, Clone, Default)]
pub struct Amendment {
    /// How much it may do without asking, if that changes.
    pub mode: Option<ConsentMode>,
    /// The standing rules about its calls, besides the earlier ones.
    pub rules: ConsentRules,
    /// How it is to end, as far as that is chosen now.
    pub ends: Ends,
}

/// How the flow is to end is chosen now, or was, or is as its project has it for all.
fn choose_ends(core: &mut Core, now: Ends, project: &Path) -> Result<(), DriverError> {
    let state = core.state();
    // A chat goes on until its person ends it.
    if state.chat.is_some() {
        return Ok(());
    }
    let ends = now
        .or(state.ends)
        .or(defaults(core.flow().disk(), project).into());
    if ends == state.ends || state.phase.is_over() {
        return Ok(());
    }
    core.command(Input::ChooseEnds(ends)).map(drop)
}

/// The budget of a flow that sets none.
pub(crate) fn usual_tokens() -> Option<TokenBudget> {
    bounds().tokens.map(TokenBudget::AtMost)
}

/// The mode of a flow that chooses none. `run` refuses a configuration that cannot be read, and
/// without one the flow asks.
fn usual_mode() -> Option<ConsentMode> {
    user::consent().unwrap_or_default().mode
}

/// What stops a flow that goes nowhere. `run` refuses a configuration whose limits cannot be read, and
/// no model is found in one.
fn bounds() -> ConfigBounds {
    user::bounds().unwrap_or_default()
}

/// Goes on with a flow, whatever ended the process that drove it before.
///
/// # Errors
/// When it is damaged, another process writes it, or something of it cannot be used.
pub fn resume(
    store: &Store,
    flow: &FlowRef,
    project_folder: PathBuf,
    turns_at_once: Option<usize>,
    amendment: Amendment,
) -> Result<(Driven, OpenReport), RunError> {
    let mint = Box::new(SystemMint);
    let (mut core, report) = reopen(store, flow, project_folder.clone(), mint)?;
    core.limit_turns(turns_at_once);
    core.said_beforehand(amendment.mode, amendment.rules)?;
    choose_ends(&mut core, amendment.ends, &project_folder)?;
    Ok((driven(core)?, report))
}

/// Opens a flow, up to the point at which it can be driven.
///
/// # Errors
/// As [`resume`].
pub fn reopen(
    store: &Store,
    flow: &FlowRef,
    project_folder: PathBuf,
    mint: Box<dyn Mint>,
) -> Result<(Core, OpenReport), RunError> {
    let (opened, report) = store.open(flow)?;
    if !opened.views().flow.is_created() {
        opened.close()?;
        return Err(RunError::NeverBegan);
    }
    let source = opened.whole_text(&opened.views().flow.graph.source)?;
    let mut file = flow_file::read_kept(source)?;
    if !file.defines_roles
        && let Some(roles) = roles_before(store, flow, &|text| opened.whole_text(text).ok())?
    {
        (file.roles, file.defines_roles) = (roles, true);
    }
    let disk = Arc::clone(&store.ground().disk);
    let files = RecordFolder::new(disk, opened.place().record());
    let kept = files.read(&RecordPath::of_name(SCRIPT_NAME))?;
    let text = kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let script = script_of(text.as_deref())?;
    Ok((
        take_over(store, opened, file, script, project_folder, mint)?,
        report,
    ))
}

/// The script of a flow, if it has one.
fn script_of(text: Option<&str>) -> Result<Option<RoleScript>, FileError> {
    text.map(RoleScript::parse)
        .transpose()
        .map_err(|faults| FileError::NotAScript {
            path: PathBuf::from(SCRIPT_NAME),
            faults,
        })
}

/// The roles that the file of a flow defined before its graph was revised by one that defines none:
/// a revision like that leaves them where they come from.
pub(crate) fn roles_before(
    store: &Store,
    flow: &FlowRef,
    whole: &dyn Fn(&Text) -> Option<String>,
) -> Result<Option<BTreeMap<RoleName, InlineRole>>, RunError> {
    let mut last = None;
    let mut read = |source: &Text| {
        let file = whole(source);
        let file = file.and_then(|source| flow_file::read_kept(source).ok());
        let roles = file.filter(|file| file.defines_roles);
        let defines = roles.is_some();
        last = roles.map(|file| file.roles).or(last.take());
        defines
    };
    // The first file says whether any has to be looked at: most flows have their project's roles.
    let mut goes_on = true;
    store.follow(flow)?.read_while(&mut |recorded| {
        match &recorded.body {
            Body::Known(Fact::FlowCreated(created)) => goes_on = read(&created.graph.source),
            Body::Known(Fact::GraphRevised(revised)) => drop(read(&revised.graph.source)),
            Body::Known(_) | Body::Foreign { .. } => {}
        }
        if goes_on {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    Ok(last)
}

/// The project whose roles a flow has, if its file defines none.
pub(crate) fn file_is_of_project(
    file: &FlowFile,
    disk: &dyn Disk,
    project: &Path,
) -> Option<PathBuf> {
    (!file.defines_roles && is_project(disk, project)).then(|| project.to_owned())
}

fn take_over(
    store: &Store,
    flow: Flow,
    file: FlowFile,
    script: Option<RoleScript>,
    project: PathBuf,
    mint: Box<dyn Mint>,
) -> Result<Core, RunError> {
    let disk = Arc::clone(&store.ground().disk);
    let place = flow.place();
    let record = place.record();
    let files = Arc::new(RecordFolder::new(Arc::clone(&disk), record.clone()));
    // A file that defines no roles walks with those of its project.
    let home = file_is_of_project(&file, disk.as_ref(), &project);
    let roles = match &home {
        Some(home) => docs::folder::roles(disk.as_ref(), home),
        None => file.roles,
    };
    let limits = limits(&file.graph, file.budget.as_ref(), &roles);
    let lineage = lineage(&flow);
    let bench = Bench {
        flow: flow.id().clone(),
        project: project.clone(),
        workspace: workspace_of(store).to_owned(),
        record: record.clone(),
        models: ConfiguredModels::default(),
        background: Background::default(),
        sessions: Arc::new(FlowSessions {
            store: store.clone(),
            flow: FlowRef {
                project: flow.project().clone(),
                flow: flow.id().clone(),
            },
        }),
    };
    let workshop = Workshop {
        bench: Arc::new(bench),
        library: Arc::new(Library::of(disk, &project)),
        place,
        roles: Arc::new(roles),
        script,
        files,
        home,
    };
    let parts = CoreParts {
        roles: Box::new(workshop),
        mint,
        places: Places {
            record,
            project,
            lineage,
        },
        turns_at_once: TURNS_AT_ONCE,
        room: ROOM.clone(),
    };
    let mut core = Core::take_over(flow, parts)?;
    core.limit(limits)?;
    Ok(core)
}

/// A flow and the one it was forked from.
fn lineage(flow: &Flow) -> Vec<FlowId> {
    let parent = flow.views().flow.parent.iter();
    let parent = parent.map(|parent| parent.flow.clone());
    std::iter::once(flow.id().clone()).chain(parent).collect()
}

/// The budgets of a flow file, for the whole flow and for each instance of a role.
fn limits(
    graph: &FlowGraph,
    whole: Option<&RoleBudget>,
    roles: &BTreeMap<RoleName, InlineRole>,
) -> Vec<BudgetLimit> {
    let of_role = |role: &RoleInstance| {
        let mut known = roles.iter();
        let found = known.find(|(name, _)| name.to_string() == role.base());
        let budget = found.and_then(|(_, definition)| definition.budget.as_ref());
        budget.map(|budget| (Some(role.clone()), budget))
    };
    let budgets = whole.map(|budget| (None, budget)).into_iter();
    let budgets = budgets.chain(graph.role_instances().filter_map(of_role));
    let limits = budgets.flat_map(|(role, budget)| {
        let measures = [
            (Measure::Tokens, budget.tokens),
            (Measure::CostMicros, budget.cost_micro_usd),
            (Measure::Turns, budget.turns),
        ];
        let said = measures.into_iter();
        said.filter_map(move |(measure, limit)| {
            Some(BudgetLimit {
                role: role.clone(),
                measure,
                limit: limit?,
            })
        })
    });
    limits.collect()
}
