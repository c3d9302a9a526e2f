//! What replaces a history that is compacted: one summary, the flow's facts, the task list, and the
//! request that the role has not answered.

use std::path::Path;

use a_society_facts::fact::session::{CompactionWish, Origin, Strategy, Trigger};
use a_society_facts::id::RoleInstance;
use a_society_facts::message::{BlobText, Message, Text};
use a_society_facts::view::session::{Archive, SessionEntry, SessionView};
use a_society_flow::machine::TurnTask;
use a_society_flow::machine::session::{SessionChange, SessionLengths, replaced};
use a_society_roles::handoff::AllowedOutcomes;
use a_society_roles::role::compaction::{
    Replacement, Shares, bounded, changed_files, replacement_message, request_of, todo_list,
};
use a_society_roles::role::digest::digest;
use a_society_state::atomic::replace;
use a_society_state::files::make_folders;

use super::briefing::allowed;
use super::compact::SummaryTurn;
use super::error::DriverError;
use super::live_turn::TurnSubject;
use super::pen::FlowPen;
use crate::record::{KEPT_REQUEST, OUTPUTS};

/// How many bytes of text make a token as a rule.
const BYTES_A_TOKEN: u64 = 4;

/// Stands where a hard limit cut off what replaces a history.
const HARD_LIMIT_NOTE: &str = "[cut here: the limit is reached]";

/// So much of it stays in any case.
const HARD_LIMIT_BYTES_MIN: usize = 256;

/// A history that is compacted.
#[derive(Debug)]
pub(super) struct Shorter {
    pub(super) compaction: String,
    pub(super) trigger: Trigger,
    pub(super) strategy: Strategy,
    pub(super) summary: String,
    /// Why no model made the summary.
    pub(super) why: Option<String>,
    /// Whether the operator said how, so that what the node under way was given has to stay.
    pub(super) is_wished: bool,
    /// How many of the first messages stay.
    pub(super) kept_first: usize,
    /// How many of the last messages stay.
    pub(super) kept_last: usize,
    pub(super) cut: HistoryCut,
}

impl Shorter {
    /// How long the messages are that stay.
    fn kept_bytes(&self, entries: &[SessionEntry]) -> usize {
        let first = entries.iter().take(self.kept_first);
        let last = entries.iter().rev().take(self.kept_last);
        first.chain(last).map(weight).sum()
    }

    /// Whether a message stays.
    fn keeps(&self, session: &SessionView, entry: &SessionEntry) -> bool {
        let entries = &session.messages;
        let first = entries.iter().take(self.kept_first);
        let last = entries.iter().rev().take(self.kept_last);
        first.chain(last).any(|kept| std::ptr::eq(kept, entry))
    }
}

/// With what a history is compacted.
#[derive(Debug)]
pub(super) struct HistoryCut {
    /// The parts of the model's window.
    pub(super) shares: Shares,
    /// What the flow knows about the role's work.
    pub(super) facts: String,
}

/// What the role has not answered.
#[derive(Debug, Default)]
struct Request {
    text: String,
    /// The message by which it is known.
    name: Option<String>,
}

/// One message replaces the history from now on, but for the last messages.
pub(super) fn replace_history(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    shorter: Shorter,
) -> Result<String, DriverError> {
    let replacement = replacement(pen, whose, &shorter)?;
    record_shorter(pen, whose.role(), shorter, &replacement)?;
    Ok(replacement)
}

fn record_shorter(
    pen: &mut FlowPen,
    role: &RoleInstance,
    shorter: Shorter,
    replacement: &str,
) -> Result<(), DriverError> {
    let session = pen.session(role);
    let entries = session.map_or(&[][..], |session| &session.messages);
    let lengths = SessionLengths {
        before: entries.iter().map(weight).sum(),
        after: replacement.len() + shorter.kept_bytes(entries),
    };
    let change = SessionChange::Shorten {
        compaction: shorter.compaction,
        trigger: shorter.trigger,
        strategy: shorter.strategy,
        message: pen.name("m")?,
        replacement: pen.flow.keep_text(replacement.to_owned())?,
        kept_first: shorter.kept_first as u64,
        kept_last: shorter.kept_last as u64,
        lengths,
        why: shorter.why,
    };
    pen.apply_to_session(role, change, None)
}

/// What the operator wished replaces what he wished, if the session is shorter then.
pub(super) fn replace_as_wished(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    (ended, wish): (&SummaryTurn, CompactionWish),
    summary: String,
    cut: HistoryCut,
) -> Result<Option<String>, DriverError> {
    let role = whose.role();
    let entries = pen
        .session(role)
        .map_or(&[][..], |session| &session.messages);
    let (all, length): (usize, usize) = (entries.iter().map(weight).sum(), entries.len());
    let span = pen
        .session(role)
        .and_then(|session| replaced(session, &wish));
    let span = span.unwrap_or_default();
    let mut shorter = Shorter {
        trigger: ended.trigger_for(whose.turn()),
        compaction: ended.compaction.clone(),
        strategy: wish.strategy,
        summary,
        why: None,
        is_wished: true,
        kept_first: span.start,
        kept_last: length.saturating_sub(span.end),
        cut,
    };
    let kept = pen
        .session(role)
        .map_or(0, |session| shorter.kept_bytes(&session.messages));
    let mut made = replacement(pen, whose, &shorter)?;
    if let Some(most) = wish.hard_limit_tokens {
        let most = usize::try_from(most.saturating_mul(BYTES_A_TOKEN)).unwrap_or(usize::MAX);
        let over = (kept + made.len()).saturating_sub(most);
        if over > 0 {
            let left = shorter
                .summary
                .len()
                .saturating_sub(over + HARD_LIMIT_NOTE.len());
            let left = left.max(HARD_LIMIT_BYTES_MIN);
            shorter.summary = bounded(&shorter.summary, left, HARD_LIMIT_NOTE);
            made = replacement(pen, whose, &shorter)?;
        }
    }
    if kept + made.len() >= all {
        let change = SessionChange::LeaveAsItIs {
            compaction: shorter.compaction,
            why: format!(
                "it would be longer: {} bytes would replace {}",
                made.len(),
                all.saturating_sub(kept)
            ),
        };
        pen.apply_to_session(role, change, None)?;
        return Ok(None);
    }
    record_shorter(pen, role, shorter, &made)?;
    Ok(Some(made))
}

/// The oldest messages are left out, and their beginnings replace them, if that is shorter.
pub(super) fn without_the_oldest(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    ended: &SummaryTurn,
    why: &str,
    cut: HistoryCut,
) -> Result<Option<(String, usize)>, DriverError> {
    let (trigger, shares) = (ended.trigger_for(whose.turn()), cut.shares);
    let session = pen.session(whose.role());
    let entries = session.map_or(&[][..], |session| &session.messages);
    let all: usize = entries.iter().map(weight).sum();
    let kept_last = kept(entries, shares.kept_bytes().min(all / 2), trigger);
    let (gone, kept) = entries.split_at(entries.len() - kept_last);
    let kept: usize = kept.iter().map(weight).sum();
    let gone: Vec<&Message> = gone.iter().map(|entry| &*entry.message).collect();
    let shorter = Shorter {
        compaction: ended.compaction.clone(),
        trigger,
        strategy: Strategy::Truncate,
        summary: digest(&gone, why, shares.summary_bytes()),
        why: Some(why.to_owned()),
        is_wished: false,
        kept_first: 0,
        kept_last,
        cut,
    };
    let replacement = replacement(pen, whose, &shorter)?;
    if replacement.len() + kept >= all {
        return Ok(None);
    }
    record_shorter(pen, whose.role(), shorter, &replacement)?;
    Ok(Some((replacement, kept_last)))
}

fn replacement(
    pen: &mut FlowPen,
    whose: &TurnSubject,
    shorter: &Shorter,
) -> Result<String, DriverError> {
    let role = whose.role();
    let HistoryCut { shares, facts } = &shorter.cut;
    let most = shares.request_bytes();
    let request = unanswered(pen, role, shorter);
    let request = within(pen, request, most, &shorter.compaction);
    let allowed = open_endings(pen, whose);
    let session = pen.session(role);
    let past: Vec<&SessionEntry> = session.map(newest_first).unwrap_or_default();
    let messages = || past.iter().map(|entry| &*entry.message);
    let (files, are_more) = changed_files(messages());
    let changed = changed_line(pen, &files, are_more);
    let list = shares.list_bytes();
    let lines: Vec<String> = [facts.clone(), changed]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    let stays = |entry: &SessionEntry| session.is_some_and(|session| shorter.keeps(session, entry));
    let notes = past
        .iter()
        .rev()
        .filter(|entry| entry.is_system && !stays(entry));
    let notes: String = notes.map(|entry| whole(pen, entry) + "\n").collect();
    let flow = bounded(&lines.join("\n"), list, "[more is left out]");
    Ok(replacement_message(&Replacement {
        id: &shorter.compaction,
        summary: &shorter.summary,
        flow: &flow,
        todo: &todo_list(messages(), list),
        request: &request,
        notes: &bounded(&notes, list, "[more is left out]\n"),
        allowed: allowed.as_ref(),
    }))
}

/// The last task or words of the operator that the role has not answered, without the parts that
/// stay anyway.
fn unanswered(pen: &FlowPen, role: &RoleInstance, shorter: &Shorter) -> Request {
    let Some(session) = pen.session(role) else {
        return Request::default();
    };
    let is_open = shorter.trigger == Trigger::Auto || pen.state().main_turn_of(role).is_some();
    let mut found: Vec<(Option<String>, String)> = Vec::new();
    for entry in newest_first(session) {
        let stays = shorter.keeps(session, entry);
        match (&*entry.message, entry.origin) {
            // Between turns an answer answers everything before it.
            (Message::Assistant { .. }, _) if !is_open && !entry.interrupted => break,
            (Message::User { content }, Some(Origin::Compaction)) => {
                // What it replaced comes next, unless it is not kept here.
                if archive_of(session, entry).is_none() {
                    let request = request_of(content).unwrap_or_default();
                    found.push((id_of(entry), request.to_owned()));
                    break;
                }
            }
            (
                Message::User { .. },
                Some(Origin::Repair | Origin::Continuation | Origin::Runtime),
            ) => {}
            // Notes stay anyway.
            (Message::User { .. }, _) if entry.is_system => {}
            (Message::User { .. }, origin) => {
                if !stays {
                    found.push((id_of(entry), whole(pen, entry)));
                }
                if origin != Some(Origin::Steer) {
                    break;
                }
            }
            (
                Message::Assistant { .. }
                | Message::AssistantToolCalls { .. }
                | Message::ToolResult { .. },
                _,
            ) => {}
        }
    }
    if shorter.is_wished
        && let Some(packet) = packet_under_way(pen, session)
        && !shorter.keeps(session, packet)
        && !found.iter().any(|(name, _)| *name == id_of(packet))
    {
        found.push((id_of(packet), whole(pen, packet)));
    }
    let name = found.last().and_then(|(name, _)| name.clone());
    let texts: Vec<String> = found.into_iter().rev().map(|(_, text)| text).collect();
    let text = texts.join("\n\n");
    Request { text, name }
}

/// The packet of the node that is under way in a session.
fn packet_under_way<'s>(pen: &FlowPen, session: &'s SessionView) -> Option<&'s SessionEntry> {
    let state = pen.state();
    let node = &session.node.as_ref()?.node;
    let is_under_way =
        state.running.contains_key(node) || state.awaiting_operator.contains_key(node);
    let is_packet = |entry: &&SessionEntry| {
        entry.origin == Some(Origin::Entry) && entry.node.as_ref() == Some(node)
    };
    let mut entries = newest_first(session).into_iter();
    entries.find(is_packet).filter(|_| is_under_way)
}

/// The whole text of a message, also where it is kept as a blob.
fn whole(pen: &FlowPen, entry: &SessionEntry) -> String {
    let Message::User { content } = &*entry.message else {
        return String::new();
    };
    let Some((blob, bytes)) = entry.blob else {
        return content.clone();
    };
    let head = String::new();
    let text = Text::Blob(BlobText { blob, bytes, head });
    // A blob that is lost leaves what the view shows of it.
    pen.flow
        .whole_text(&text)
        .unwrap_or_else(|_| content.clone())
}

/// A request that may have so many bytes. Of a longer one the beginning is repeated, and the whole
/// is kept where the role can read it.
fn within(pen: &FlowPen, request: Request, most_bytes: usize, compaction: &str) -> String {
    if request.text.len() <= most_bytes {
        return request.text;
    }
    let name = request.name.unwrap_or_else(|| compaction.to_owned());
    let name = format!("{KEPT_REQUEST}{name}.txt");
    let folder = pen.places.record.join(OUTPUTS);
    let disk = pen.flow.disk();
    let written = make_folders(disk, &folder)
        .and_then(|()| replace(disk, &folder.join(&name), request.text.as_bytes()));
    let bytes = request.text.len();
    let note = match written {
        Ok(()) => {
            format!("[the first part of {bytes} bytes; all of it: record/{OUTPUTS}/{name}]")
        }
        Err(_) => {
            format!("[the first part of {bytes} bytes; the rest could not be kept in a file]")
        }
    };
    bounded(&request.text, most_bytes, &note)
}

/// How the role's turn may end, if it has one or goes on with it.
fn open_endings(pen: &FlowPen, whose: &TurnSubject) -> Option<AllowedOutcomes> {
    let (role, task) = (whose.role(), whose.task()?);
    let state = pen.state();
    let is_open = match task {
        TurnTask::Node(node) => {
            state.running.contains_key(node) || state.awaiting_operator.contains_key(node)
        }
        TurnTask::Reflection | TurnTask::Feedback => state.reflecting(role).is_some(),
    };
    is_open.then(|| allowed(pen, role, task))
}

/// The files that the role changed, by the paths that its tools take.
fn changed_line(pen: &FlowPen, files: &[String], are_more: bool) -> String {
    if files.is_empty() {
        return String::new();
    }
    let named: Vec<String> = files.iter().map(|file| named(pen, file)).collect();
    let more = if are_more { " and more" } else { "" };
    format!("Changed files: {}{more}.", named.join(", "))
}

fn named(pen: &FlowPen, file: &str) -> String {
    let path = Path::new(file);
    if let Ok(inside) = path.strip_prefix(&pen.places.record) {
        return format!("`record/{}`", inside.display());
    }
    let inside = path.strip_prefix(&pen.places.project).unwrap_or(path);
    format!("`{}`", inside.display())
}

fn id_of(entry: &SessionEntry) -> Option<String> {
    entry.id.as_ref().map(ToString::to_string)
}

/// Everything in a session, newest first: after a message that replaced a history comes that history.
fn newest_first(session: &SessionView) -> Vec<&SessionEntry> {
    let mut all: Vec<&SessionEntry> = Vec::new();
    let mut open = vec![session.messages.iter().rev()];
    while let Some(entries) = open.last_mut() {
        let Some(entry) = entries.next() else {
            open.pop();
            continue;
        };
        all.push(entry);
        // Each archive is walked once at most.
        let before = archive_of(session, entry).filter(|_| open.len() <= session.archives.len());
        open.extend(before.map(|before| before.iter().rev()));
    }
    all
}

/// The history that a message replaced.
fn archive_of<'s>(session: &'s SessionView, entry: &SessionEntry) -> Option<&'s [SessionEntry]> {
    if entry.origin != Some(Origin::Compaction) {
        return None;
    }
    let mut archives = session.archives.iter();
    let replaced_by = |archive: &&Archive| {
        let replacement = archive.replacement_message.as_ref();
        replacement.is_some_and(|replacement| replacement.id == entry.id)
    };
    let archive = archives.find(replaced_by)?;
    Some(&archive.archived_transcript_history)
}

/// How many of the last messages stay that have so many bytes together. No result stays without its
/// call, and in the middle of a turn the last message must be one that can be answered.
fn kept(entries: &[SessionEntry], most_bytes: usize, trigger: Trigger) -> usize {
    let last = entries.last().map(|entry| &*entry.message);
    if trigger == Trigger::Auto && matches!(last, Some(Message::Assistant { .. })) {
        return 0;
    }
    let (mut kept, mut bytes) = (0, 0);
    for (count, entry) in entries.iter().skip(1).rev().enumerate() {
        bytes += weight(entry);
        if bytes > most_bytes {
            break;
        }
        if !matches!(&*entry.message, Message::ToolResult { .. }) {
            kept = count + 1;
        }
    }
    kept
}

/// How long a message is for the purpose of making its session shorter.
fn weight(entry: &SessionEntry) -> usize {
    if let Some((_, bytes)) = entry.blob {
        return usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    match &*entry.message {
        Message::User { content } | Message::Assistant { content } => content.len(),
        Message::AssistantToolCalls { calls, text } => {
            let each = calls.iter().map(|call| call.input.get().len());
            text.as_ref().map_or(0, String::len) + each.sum::<usize>()
        }
        Message::ToolResult { content, .. } => content.len(),
    }
}
