//! A request as it left for its model, written anew from the journal.
//!
//! Nobody keeps the bytes of requests: each repeats the whole conversation. The journal has what they
//! were made of and their hash. So a request is written once more, by the same hands that write what
//! is sent, and the hash tells whether these are the very bytes. Nothing is sent, nobody is asked,
//! and no server of tools is started.

use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a_society_facts::Fact;
use a_society_facts::fact::turn::ModelRequested;
use a_society_facts::id::{FlowId, RoleInstance, Seq};
use a_society_facts::message::Text;
use a_society_facts::view::Views;
use a_society_flow::graph::{Executor, InlineRole};
use a_society_roles::provider::Prepared;
use a_society_roles::tool::Background;
use a_society_roles::turn::job::Job;
use a_society_state::{Error, FlowRef, Store, blob};

use crate::config::models::Models;
use crate::project::bench::{Bench, Written};
use crate::project::docs::folder;
use crate::project::flow_file::{self, SCRIPT_NAME};
use crate::project::place::workspace_of;
use crate::seen;

/// A request as it is written now.
#[derive(Debug)]
pub struct Request {
    /// What the journal says of it.
    pub asked: ModelRequested,
    /// Its body.
    pub body: Vec<u8>,
    /// Why these may not be the bytes that left; absent if the hash says that they are.
    pub differs: Option<String>,
}

/// Why a request cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Unwritten {
    /// The journal cannot be read.
    #[error(transparent)]
    State(#[from] Error),
    /// Another record stands there, or none.
    #[error("record {0} is no request to a model")]
    NoRequest(Seq),
    /// A script, a program or a person took the turn.
    #[error("no model takes the turns of {0}, so that nothing was sent")]
    NoModel(RoleInstance),
    /// What a request is made of is not there any more.
    #[error("{0}")]
    Unready(String),
}

/// Writes the request that a record tells of.
///
/// # Errors
/// When there is no such request, or what it is made of is not there.
pub fn request(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    seq: Seq,
) -> Result<Request, Unwritten> {
    let mut found = None;
    each(store, flow, project, seq..=seq, &mut |_, request| {
        found = Some(request);
        ControlFlow::Break(())
    })?;
    found.unwrap_or(Err(Unwritten::NoRequest(seq)))
}

/// Writes every request that records between these tell of, in one reading of the journal, the oldest
/// first; until the taker has enough.
///
/// # Errors
/// When the journal cannot be read. Why one request cannot be written is told in its place.
pub fn each(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    records: RangeInclusive<Seq>,
    take: &mut dyn FnMut(Seq, Result<Request, Unwritten>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut views = Views::default();
    store.follow(flow)?.read_lines(&mut |recorded, _| {
        if recorded.seq > *records.end() {
            return ControlFlow::Break(());
        }
        if let Some(Fact::ModelRequested(asked)) = recorded.fact()
            && records.contains(&recorded.seq)
        {
            take(recorded.seq, anew(store, flow, project, (&views, asked)))?;
        }
        views.apply(recorded);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// A request, by what was known right before its record.
fn anew(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    (views, asked): (&Views, &ModelRequested),
) -> Result<Request, Unwritten> {
    let folder = store.folder(flow);
    let record = folder.record();
    let disk = store.ground().disk.as_ref();
    let whole = |text: &Text| blob::get_text(disk, &folder, text);
    let source = whole(&views.flow.graph.source)?;
    let definition = definition(store, source, project, &asked.role)?;
    let executor = (definition.as_ref()).map_or(Executor::Model, InlineRole::executor);
    if executor != Executor::Model || disk.about(&record.join(SCRIPT_NAME)).is_ok() {
        return Err(Unwritten::NoModel(asked.role.clone()));
    }
    let bench = Bench {
        flow: flow.flow.clone(),
        workspace: workspace_of(store).to_owned(),
        record: record.clone(),
        project: project.to_owned(),
        models: Models::default(),
        background: Background::default(),
    };
    let job = job(&flow.flow, views, asked, &whole, (record, project))?;
    let written = bench.written(Arc::new(job), definition.as_ref());
    let written = written.map_err(Unwritten::Unready)?;
    Ok(chosen(asked.clone(), written))
}

/// The role as its file, or its project, defines it.
fn definition(
    store: &Store,
    source: String,
    project: &Path,
    role: &RoleInstance,
) -> Result<Option<InlineRole>, Unwritten> {
    let file = flow_file::read_kept(source);
    let file = file.map_err(|error| Unwritten::Unready(error.to_string()))?;
    let roles = if file.defines_roles {
        file.roles
    } else {
        folder::roles(store.ground().disk.as_ref(), project)
    };
    let mut roles = roles.into_iter();
    let found = roles.find(|(name, _)| name.to_string() == role.base());
    Ok(found.map(|(_, role)| role))
}

/// The turn as its taker saw it, as far as a request depends on it.
fn job(
    flow: &FlowId,
    views: &Views,
    asked: &ModelRequested,
    whole: &dyn Fn(&Text) -> Result<String, Error>,
    (record, project): (PathBuf, &Path),
) -> Result<Job, Error> {
    let session = views.sessions.get(&asked.role);
    let entries = session.map_or(&[][..], |session| &session.messages);
    let turn = views.flow.turns.get(&asked.turn);
    let at = seen::Place {
        flow: views.flow.flow_id.clone().unwrap_or_else(|| flow.clone()),
        record,
        project: project.to_owned(),
    };
    let whose = (asked.turn, asked.attempt, &asked.role);
    Ok(Job {
        node: turn.and_then(|turn| turn.node.clone()),
        answers_before: asked.request.saturating_sub(1),
        ..seen::job(views, whose, entries, whole, at)?
    })
}

/// Of the ways in which a request could be written the one whose hash was recorded; the first, and
/// what may be the reason, if none is.
fn chosen(asked: ModelRequested, written: Written) -> Request {
    let whole = |prepared: &Prepared| prepared.body.whole().into_owned();
    let is_it = |prepared: &&Prepared| prepared.hash == asked.hash;
    if let Some(same) = written.ways.iter().find(is_it) {
        return Request {
            body: whole(same),
            differs: None,
            asked,
        };
    }
    let why = if written.model != asked.model {
        format!(
            "it was sent to {}, and the role would now ask {}",
            asked.model, written.model
        )
    } else if written.servers.is_empty() {
        "the model's settings, the role's file or this program changed since".to_owned()
    } else {
        format!(
            "the tools of its servers ({}) are not asked for and not in it",
            written.servers.join(", ")
        )
    };
    Request {
        body: written.ways.first().map(whole).unwrap_or_default(),
        differs: Some(why),
        asked,
    }
}
