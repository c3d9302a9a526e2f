//! A request as it left for its model, written anew from the journal.
//!
//! The bytes of requests are not kept: each repeats the whole conversation. The journal has what they
//! were made of and their hash. So a request is encoded once more, by the same code that writes what
//! is sent, and the hash tells whether these are the very bytes. Nothing is sent,
//! no configuration is read and no server of tools is started. Only a journal of an older version, which
//! does not record what its requests were made of, needs the role's present definition.

use std::borrow::Cow;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use a_society_base::redact::MARK;
use a_society_facts::fact::request::RequestFrame;
use a_society_facts::fact::turn::ModelRequested;
use a_society_facts::id::{RoleInstance, Seq};
use a_society_facts::message::{Message, Text};
use a_society_facts::view::Views;
use a_society_facts::{Fact, Hash};
use a_society_flow::graph::{Executor, InlineRole};
use a_society_providers::Prepared;
use a_society_providers::frame::{SpokenSession, write_anew};
use a_society_roles::role::packet::timeless;
use a_society_roles::taker::model::conversation;
use a_society_roles::tool::command::Background;
use a_society_roles::turn::job::TurnJob;
use a_society_roles::turn::words::{PROGRAM, SCRIPT, TurnWords};
use a_society_state::{Error, FlowRef, Store};

use crate::config::models::ConfiguredModels;
use crate::project::bench::{Bench, WritableRequest};
use crate::project::docs::folder;
use crate::project::flow_file::{self, SCRIPT_NAME};
use crate::project::place::workspace_of;
use crate::sessions::reader::FlowSessions;
use crate::turn_view;

/// A request as it is written now.
#[derive(Debug)]
pub struct WrittenModelRequest {
    /// What the journal says of it.
    pub asked: ModelRequested,
    /// Its body.
    pub body: Vec<u8>,
    /// Why these may not be the bytes that left; absent if the hash says that they are.
    pub differs: Option<String>,
}

/// Why a request cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RequestUnwritten {
    /// The journal cannot be read.
    #[error(transparent)]
    State(#[from] Error),
    /// The record is something else, or missing.
    #[error("record {0} is no request to a model")]
    NoRequest(Seq),
    /// A script, a program or a person played the role.
    #[error("no model plays {0}, so that no request was sent")]
    NoModel(RoleInstance),
    /// An older version of the program wrote the journal.
    #[error("the journal does not say what this request was made of, as those of older versions")]
    Unsaid,
    /// What the journal names is not there any more, or not known to this version.
    #[error("what it was made of cannot be had: {0}")]
    Lost(String),
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
) -> Result<WrittenModelRequest, RequestUnwritten> {
    let mut found = None;
    each(store, flow, project, seq..=seq, &mut |_, request| {
        found = Some(request);
        ControlFlow::Break(())
    })?;
    found.unwrap_or(Err(RequestUnwritten::NoRequest(seq)))
}

/// Writes the request that a record tells of without what varies and means nothing: where the role
/// works and on which day, the time in its packets, how long commands took, and the names of caches. Two flows whose requests
/// are the same but for that give the same bytes.
///
/// # Errors
/// When there is no such request, or its journal does not say what it was made of.
pub fn comparable(
    store: &Store,
    flow: &FlowRef,
    seq: Seq,
) -> Result<WrittenModelRequest, RequestUnwritten> {
    let here = Here {
        store,
        flow,
        project: Path::new(""),
    };
    let mut found = None;
    walk(here, seq..=seq, &without_what_varies, &mut |_, request| {
        found = Some(request);
        ControlFlow::Break(())
    })?;
    found.unwrap_or(Err(RequestUnwritten::NoRequest(seq)))
}

fn without_what_varies(
    here: Here<'_>,
    moment: RequestMoment<'_>,
) -> Result<WrittenModelRequest, RequestUnwritten> {
    if let Some(request) = words(here, moment, &timeless)? {
        return Ok(request);
    }
    let frame = moment.frame().ok_or(RequestUnwritten::Unsaid)?;
    let frame = RequestFrame {
        environment: None,
        cache_key: frame.cache_key.as_ref().map(|_| "session".to_owned()),
        shared_key: frame.shared_key.as_ref().map(|_| "role".to_owned()),
        ..frame.clone()
    };
    let prepared = from_journal(here, moment, &frame, &timeless)?;
    Ok(WrittenModelRequest {
        body: prepared.body.whole().into_owned(),
        differs: None,
        asked: moment.asked.clone(),
    })
}

/// Writes every request that records between these tell of, in one reading of the journal, the oldest
/// first; until the taker has enough.
///
/// # Errors
/// When the journal cannot be read. A request that cannot be written has its reason in its place.
pub fn each(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
    records: RangeInclusive<Seq>,
    take: &mut dyn FnMut(Seq, Result<WrittenModelRequest, RequestUnwritten>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let here = Here {
        store,
        flow,
        project,
    };
    walk(here, records, &anew, take)
}

fn walk(
    here: Here<'_>,
    records: RangeInclusive<Seq>,
    write: &dyn Fn(Here<'_>, RequestMoment<'_>) -> Result<WrittenModelRequest, RequestUnwritten>,
    take: &mut dyn FnMut(Seq, Result<WrittenModelRequest, RequestUnwritten>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut views = Views::default();
    here.store.follow(here.flow)?.read_while(&mut |recorded| {
        if recorded.seq > *records.end() {
            return ControlFlow::Break(());
        }
        if let Some(Fact::ModelRequested(asked)) = recorded.fact()
            && records.contains(&recorded.seq)
        {
            take(
                recorded.seq,
                write(
                    here,
                    RequestMoment {
                        views: &views,
                        asked,
                    },
                ),
            )?;
        }
        views.apply(recorded);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Where a request is written anew.
#[derive(Clone, Copy)]
struct Here<'a> {
    store: &'a Store,
    flow: &'a FlowRef,
    project: &'a Path,
}

/// What was known right before the record of a request, and that record.
#[derive(Clone, Copy)]
struct RequestMoment<'a> {
    views: &'a Views,
    asked: &'a ModelRequested,
}

/// A request, by what was known right before its record.
fn anew(
    here: Here<'_>,
    moment: RequestMoment<'_>,
) -> Result<WrittenModelRequest, RequestUnwritten> {
    if let Some(frame) = moment.frame() {
        let prepared = from_journal(here, moment, frame, &as_said)?;
        return Ok(moment.judged(prepared));
    }
    if let Some(request) = words(here, moment, &as_said)?
        && request.differs.is_none()
    {
        return Ok(request);
    }
    by_configuration(here, moment)
}

impl RequestMoment<'_> {
    /// What the request is made of besides its session, if the journal says so.
    fn frame(&self) -> Option<&RequestFrame> {
        let session = self.views.session(&self.asked.role);
        let last = || session.and_then(|session| session.frame.as_deref());
        self.asked.frame.as_deref().or_else(last)
    }

    fn judged(self, prepared: Prepared) -> WrittenModelRequest {
        let asked = self.asked.clone();
        let body = prepared.body.whole().into_owned();
        let differs = (prepared.hash != asked.hash).then(|| {
            if String::from_utf8_lossy(&body).contains(MARK) {
                "a secret was in it, which the journal does not hold"
            } else {
                "the program that sent it writes requests in another way"
            }
        });
        WrittenModelRequest {
            differs: differs.map(ToOwned::to_owned),
            asked,
            body,
        }
    }
}

/// Makes a text of a request another one, so that what varies can be left out.
type TextChange<'c> = &'c dyn Fn(&str) -> Cow<'_, str>;

fn as_said(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// A request from its journal alone.
fn from_journal(
    here: Here<'_>,
    moment: RequestMoment<'_>,
    frame: &RequestFrame,
    change: TextChange<'_>,
) -> Result<Prepared, RequestUnwritten> {
    let place = here.store.place(here.flow);
    let whole = |text: &Text| place.whole_text(text);
    let bytes = |hash: Hash| place.whole_blob(hash);
    let kept = turn_view::KeptBlobs {
        text: &whole,
        bytes: &bytes,
    };
    let role = &moment.asked.role;
    let mut job = job(here, moment, role, kept)?;
    for message in &mut job.history {
        if let Message::User { content } | Message::ToolResult { content, .. } = &**message
            && let Cow::Owned(content) = change(content)
        {
            *message = Arc::new(message.with_text(content));
        }
    }
    let said = conversation(job.history, &job.provider_blocks);
    let session = SpokenSession {
        system: &job.system_prompt,
        messages: &said,
    };
    let whole = |text: &Text| whole(text).map_err(|lost| lost.to_string());
    write_anew(frame, session, &whole).map_err(RequestUnwritten::Lost)
}

/// The words of a role without a model; `None` if a model was asked.
fn words(
    here: Here<'_>,
    moment: RequestMoment<'_>,
    change: TextChange<'_>,
) -> Result<Option<WrittenModelRequest>, RequestUnwritten> {
    let asked = moment.asked;
    if ![SCRIPT, PROGRAM].contains(&asked.model.as_str()) {
        return Ok(None);
    }
    let place = here.store.place(here.flow);
    let session = moment.views.session(&asked.role);
    let entries = session.map_or(&[][..], |session| &session.messages);
    let entries = turn_view::of_turn(entries, asked.turn);
    let mut words = TurnWords::default();
    for entry in entries {
        let said = entry.whole(|text| place.whole_text(text))?;
        if let Message::User { content } = &*said {
            words.hear(&change(content));
        }
    }
    let answered = entries
        .iter()
        .filter(|entry| turn_view::answers(entry, asked.turn));
    let body = words.request(answered.count() as u64);
    let is_same = Hash::of(&body) == asked.hash;
    let differs = (!is_same).then(|| "another version of the program wrote it".to_owned());
    Ok(Some(WrittenModelRequest {
        differs,
        body,
        asked: asked.clone(),
    }))
}

/// A request of a journal that does not say what its requests were made of: as the role would be
/// asked today.
fn by_configuration(
    here: Here<'_>,
    moment: RequestMoment<'_>,
) -> Result<WrittenModelRequest, RequestUnwritten> {
    let Here {
        store,
        flow,
        project,
    } = here;
    let RequestMoment { views, asked } = moment;
    let place = store.place(flow);
    let record = place.record();
    let disk = store.ground().disk.as_ref();
    let whole = |text: &Text| place.whole_text(text);
    let source = whole(&views.flow.graph.source)?;
    let role = &asked.role;
    let definition = definition(store, source, project, role)?;
    let executor = (definition.as_ref()).map_or(Executor::Model, InlineRole::executor);
    if executor != Executor::Model || disk.about(&record.join(SCRIPT_NAME)).is_ok() {
        return Err(RequestUnwritten::NoModel(role.clone()));
    }
    let bench = Bench {
        flow: flow.flow.clone(),
        workspace: workspace_of(store).to_owned(),
        record,
        project: project.to_owned(),
        models: ConfiguredModels::default(),
        background: Background::default(),
        sessions: Arc::new(FlowSessions {
            store: store.clone(),
            flow: flow.clone(),
        }),
    };
    let bytes = |hash: Hash| place.whole_blob(hash);
    let kept = turn_view::KeptBlobs {
        text: &whole,
        bytes: &bytes,
    };
    let written = bench.written(
        Arc::new(job(here, moment, role, kept)?),
        definition.as_ref(),
    );
    let written = written.map_err(RequestUnwritten::Unready)?;
    Ok(chosen(asked.clone(), written))
}

/// The role as its file, or its project, defines it.
fn definition(
    store: &Store,
    source: String,
    project: &Path,
    role: &RoleInstance,
) -> Result<Option<InlineRole>, RequestUnwritten> {
    let file = flow_file::read_kept(source);
    let file = file.map_err(|error| RequestUnwritten::Unready(error.to_string()))?;
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
    here: Here<'_>,
    RequestMoment { views, asked }: RequestMoment<'_>,
    role: &RoleInstance,
    kept: turn_view::KeptBlobs<'_>,
) -> Result<TurnJob, Error> {
    let session = views.session(&asked.role);
    let entries = session.map_or(&[][..], |session| &session.messages);
    let turn = views.flow.turns.get(&asked.turn);
    let known = views.flow.flow_id.clone();
    let at = turn_view::TurnPlace {
        flow: known.unwrap_or_else(|| here.flow.flow.clone()),
        record: here.store.place(here.flow).record(),
        project: here.project.to_owned(),
    };
    let ModelRequested {
        turn: of, attempt, ..
    } = asked;
    Ok(TurnJob {
        node: turn.and_then(|turn| turn.node.clone()),
        answers_before: asked.request.saturating_sub(1),
        ..turn_view::job(views, *of, *attempt, role, entries, kept, at)?
    })
}

/// Of the ways in which a request could be written the one whose hash was recorded; the first, and
/// what may be the reason, if none is.
fn chosen(asked: ModelRequested, written: WritableRequest) -> WrittenModelRequest {
    let whole = |prepared: &Prepared| prepared.body.whole().into_owned();
    let is_it = |prepared: &&Prepared| prepared.hash == asked.hash;
    if let Some(same) = written.ways.iter().find(is_it) {
        return WrittenModelRequest {
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
    WrittenModelRequest {
        body: written.ways.first().map(whole).unwrap_or_default(),
        differs: Some(why),
        asked,
    }
}
