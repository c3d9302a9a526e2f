//! When a session may be opened, spoken in, shortened, ended.

use super::Illegal;
use super::turn::settled;
use crate::fact::session::{
    ArchiveRestored, CompactionStarted, MessageAdded, MessageInjected, MessagesTrimmed, Origin,
    SessionClosed, SessionCompacted, SessionOpened, SessionRenewed, SessionState,
    SystemPromptBuilt,
};
use crate::id::RoleInstance;
use crate::limits::INJECTED_MAX;
use crate::view::FlowState;
use crate::view::flow::{OperatorMessage, RequestState, SessionBrief};

fn bad(role: &RoleInstance, why: &'static str) -> Illegal {
    Illegal::Session {
        role: role.clone(),
        why,
    }
}

pub(super) fn known<'a>(
    state: &'a FlowState,
    role: &RoleInstance,
) -> Result<&'a SessionBrief, Illegal> {
    state
        .sessions
        .get(role)
        .ok_or_else(|| bad(role, "there is none"))
}

/// A session that no turn works in.
fn quiet<'a>(state: &'a FlowState, role: &RoleInstance) -> Result<&'a SessionBrief, Illegal> {
    let session = known(state, role)?;
    if state.main_turn_of(role).is_some() {
        return Err(Illegal::RoleBusy { role: role.clone() });
    }
    Ok(session)
}

pub(super) fn opened(state: &FlowState, f: &SessionOpened) -> Result<(), Illegal> {
    if state.sessions.contains_key(&f.role) {
        return Err(bad(&f.role, "it is open already"));
    }
    if f.generation != 1 {
        return Err(bad(&f.role, "incarnations are numbered without gaps"));
    }
    let taken = |(role, session): (&RoleInstance, &SessionBrief)| {
        *role != f.role && (session.key == f.key || session.session_id == f.session)
    };
    if state.sessions.iter().any(taken) {
        return Err(bad(&f.role, "its key is another session's"));
    }
    Ok(())
}

pub(super) fn prompt_built(state: &FlowState, f: &SystemPromptBuilt) -> Result<(), Illegal> {
    let session = known(state, &f.role)?;
    if session.prompt == Some(f.fingerprint) {
        return Err(bad(&f.role, "its prompt is built from that already"));
    }
    Ok(())
}

/// Nothing comes between a call and its result, nor between a request and its answer.
pub(super) fn message_added(state: &FlowState, f: &MessageAdded) -> Result<(), Illegal> {
    let refuse = |why| {
        Err(Illegal::Message {
            message: f.message.clone(),
            why,
        })
    };
    let session = known(state, &f.role)?;
    if session.last_message.as_ref() == Some(&f.message) {
        return refuse("it is there already");
    }
    let turn = state.main_turn_of(&f.role);
    if let Some((id, turn)) = turn {
        settled(id, turn)?;
        let asked = turn.request.as_ref();
        let in_flight =
            asked.is_some_and(|r| r.state == RequestState::Asked && r.attempt == turn.attempt);
        if in_flight {
            return refuse("the model is answering");
        }
    }
    match f.origin {
        Origin::Repair if turn.is_none_or(|(_, turn)| turn.repair.is_none()) => {
            refuse("there is nothing to mend")
        }
        Origin::Reply if !is_unsaid(state, f) => refuse("the operator's reply was not read"),
        Origin::Steer if !is_steer(state, f) => refuse("the operator did not say it"),
        Origin::Entry
        | Origin::Reply
        | Origin::Steer
        | Origin::Repair
        | Origin::Continuation
        | Origin::Consultation
        | Origin::Injection
        | Origin::Improvement
        | Origin::Compaction
        | Origin::Runtime => Ok(()),
    }
}

fn is_unsaid(state: &FlowState, f: &MessageAdded) -> bool {
    let this = |said: &OperatorMessage| said.id == f.message;
    let node = state.running_of(&f.role);
    let reflecting = state.reflecting(&f.role);
    node.is_some_and(|(_, running)| running.unsaid.iter().any(this))
        || reflecting.is_some_and(|role| role.unsaid.iter().any(this))
}

fn is_steer(state: &FlowState, f: &MessageAdded) -> bool {
    let said = state.steers.get(&f.role);
    said.is_some_and(|said| said.iter().any(|s| s.id == f.message))
}

pub(super) fn compaction_started(state: &FlowState, f: &CompactionStarted) -> Result<(), Illegal> {
    let session = known(state, &f.role)?;
    if session.compaction.is_some() {
        return Err(bad(&f.role, "it is being compacted already"));
    }
    if session.archives.contains(&f.compaction) {
        return Err(bad(&f.role, "there is an archive of that name"));
    }
    Ok(())
}

pub(super) fn compacting(
    state: &FlowState,
    role: &RoleInstance,
    compaction: &str,
) -> Result<(), Illegal> {
    let session = known(state, role)?;
    if session.compaction.as_deref() != Some(compaction) {
        return Err(bad(role, "it is not being compacted so"));
    }
    Ok(())
}

pub(super) fn compacted(state: &FlowState, f: &SessionCompacted) -> Result<(), Illegal> {
    compacting(state, &f.role, &f.compaction)?;
    if let Some((turn, _)) = state.aside_turn_of(&f.role) {
        return Err(Illegal::Turn {
            turn,
            why: "the summary is still being made",
        });
    }
    match state.main_turn_of(&f.role) {
        Some((id, turn)) => settled(id, turn),
        None => Ok(()),
    }
}

/// A session in which no turn works, and that is not being compacted, gets an archive of this name.
fn archived(state: &FlowState, role: &RoleInstance, archive: &str) -> Result<(), Illegal> {
    let session = quiet(state, role)?;
    if session.compaction.is_some() {
        return Err(bad(role, "it is being compacted"));
    }
    if session.archives.iter().any(|known| known == archive) {
        return Err(bad(role, "there is an archive of that name"));
    }
    Ok(())
}

/// Beside a turn a message waits until it is over, so that it comes between no call and its result.
pub(super) fn injected(state: &FlowState, f: &MessageInjected) -> Result<(), Illegal> {
    let session = known(state, &f.role)?;
    if session.last_message.as_ref() == Some(&f.message) {
        return Err(Illegal::Message {
            message: f.message.clone(),
            why: "it is there already",
        });
    }
    if session.injected >= INJECTED_MAX {
        return Err(Illegal::TooMany {
            what: "messages for the end of the turn",
        });
    }
    match session.compaction {
        Some(_) if state.main_turn_of(&f.role).is_none() => {
            Err(bad(&f.role, "it is being compacted"))
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) fn trimmed(state: &FlowState, f: &MessagesTrimmed) -> Result<(), Illegal> {
    archived(state, &f.role, &f.archive)
}

/// A turn that is open in it then ends stopped.
pub(super) fn closed(state: &FlowState, f: &SessionClosed) -> Result<(), Illegal> {
    if state.chat.is_none() {
        return Err(bad(&f.role, "only chats are closed"));
    }
    if known(state, &f.role)?.state == SessionState::Expired {
        return Err(bad(&f.role, "it is closed already"));
    }
    match state.main_turn_of(&f.role) {
        Some((_, turn)) if !turn.stop => Err(Illegal::RoleBusy {
            role: f.role.clone(),
        }),
        Some(_) | None => Ok(()),
    }
}

pub(super) fn renewed(state: &FlowState, f: &SessionRenewed) -> Result<(), Illegal> {
    archived(state, &f.role, &f.archive)?;
    let session = known(state, &f.role)?;
    if f.generation != session.generation.saturating_add(1) {
        return Err(bad(&f.role, "incarnations are numbered without gaps"));
    }
    let mut all = state.sessions.values();
    if all.any(|session| session.session_id == f.session) {
        return Err(bad(&f.role, "its incarnation is another session's"));
    }
    Ok(())
}

pub(super) fn restored(state: &FlowState, f: &ArchiveRestored) -> Result<(), Illegal> {
    let session = quiet(state, &f.role)?;
    if !session.archives.contains(&f.archive) {
        return Err(bad(&f.role, "there is no archive of that name"));
    }
    Ok(())
}
