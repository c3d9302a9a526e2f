//! What a turn sees of its flow and of its session, whether it begins now or its request is written anew.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::Hash;
use a_society_facts::fact::turn::FileChange;
use a_society_facts::id::{FlowId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::{Message, Text};
use a_society_facts::view::session::SessionEntry;
use a_society_facts::view::{Views, flow::FlowState};
use a_society_roles::handoff::AllowedOutcomes;
use a_society_roles::tool::command::left_running;
use a_society_roles::turn::job::TurnJob;
use a_society_state::Error;

/// Where a turn works.
pub(crate) struct TurnPlace {
    pub(crate) flow: FlowId,
    /// The folder of the flow's own files.
    pub(crate) record: PathBuf,
    /// The folder of the project.
    pub(crate) project: PathBuf,
}

/// Reads what a session keeps outside the journal.
#[derive(Clone, Copy)]
pub(crate) struct KeptBlobs<'a> {
    /// A text.
    pub(crate) text: &'a dyn Fn(&Text) -> Result<String, Error>,
    /// A blob that is no text.
    pub(crate) bytes: &'a dyn Fn(Hash) -> Result<Vec<u8>, Error>,
}

impl KeptBlobs<'_> {
    /// A message as the role gets it: texts that are blobs whole, and images with their bytes.
    fn whole(&self, entry: &SessionEntry) -> Result<Arc<Message>, Error> {
        let mut message = entry.whole(self.text)?;
        let image = message.image().filter(|image| image.data.is_none());
        let Some(blob) = image.map(|image| image.blob) else {
            return Ok(message);
        };
        let read = Arc::from((self.bytes)(blob)?);
        if let Message::ToolResult {
            image: Some(image), ..
        } = Arc::make_mut(&mut message)
        {
            image.data = Some(read);
        }
        Ok(message)
    }
}

/// What a turn sees: these entries of its session, and what was chosen for its role. What only its
/// beginning knows is left empty.
pub(crate) fn job(
    views: &Views,
    turn: TurnId,
    attempt: u32,
    role: &RoleInstance,
    entries: &[SessionEntry],
    kept: KeptBlobs<'_>,
    at: TurnPlace,
) -> Result<TurnJob, Error> {
    let session = views.session(role);
    let prompt = session.and_then(|session| session.system_prompt.as_ref());
    let chosen = views.flow.configurations.get(role);
    let blocks = entries.iter().enumerate().filter_map(|(place, entry)| {
        let kept = entry.provider_blocks.as_ref()?;
        Some((place, Arc::clone(kept)))
    });
    let history: Result<Vec<Arc<Message>>, Error> =
        entries.iter().map(|entry| kept.whole(entry)).collect();
    let history = history?;
    let turn_from = entries.len() - of_turn(entries, turn).len();
    let left_running = left_running(history.get(turn_from..).unwrap_or_default());
    let state = &views.flow;
    let begun = state.turns.get(&turn).map(|open| open.since);
    let date = begun.or(state.created_at).map(|at| at.to_string());
    let date = date.unwrap_or_default();
    let lineage = std::iter::once(at.flow.clone());
    let parent = state.parent.iter().map(|parent| parent.flow.clone());
    Ok(TurnJob {
        flow: at.flow.clone(),
        turn,
        attempt,
        role: role.clone(),
        node: None,
        turns_before: 0,
        resumed: attempt > 1,
        system_prompt: prompt.map_or(Ok(String::new()), kept.text)?,
        history,
        provider_blocks: blocks.collect(),
        exchanges_from: 0,
        last_stop: None,
        context_tokens: session.map_or(0, |session| session.latest_context_usage),
        settings: chosen.map(|kept| kept.settings.clone()).unwrap_or_default(),
        seen: Arc::new(
            session
                .map(|session| session.seen.clone())
                .unwrap_or_default(),
        ),
        begun: calls_begun(state, turn),
        left_running,
        servers: views.flow.mcp_servers.clone(),
        rules: views.flow.rules.clone(),
        packet: String::new(),
        allowed: AllowedOutcomes {
            answers: state.chat.is_some(),
            ..AllowedOutcomes::default()
        },
        answers_before: 0,
        flow_title: state.title.clone(),
        project_name: state.project.as_ref().map(ToString::to_string),
        date: date.get(..DAY).unwrap_or_default().to_owned(),
        lineage: lineage.chain(parent).collect(),
        // They are the same for all instances and at all times, so that a provider's cache holds.
        neighbours: (!state.draft).then(|| state.graph.around(role)),
        closes: closes(state, role),
        record: at.record,
        project: at.project,
    })
}

/// The part of a session that belongs to a turn: what came after the last answer of another one.
pub(crate) fn of_turn(entries: &[SessionEntry], turn: TurnId) -> &[SessionEntry] {
    let before = |entry: &SessionEntry| entry.turn.is_some_and(|other| other != turn);
    let past = entries.iter().rposition(before).map_or(0, |last| last + 1);
    entries.get(past..).unwrap_or_default()
}

/// Whether an entry is a whole answer of a turn.
pub(crate) fn answers(entry: &SessionEntry, turn: TurnId) -> bool {
    let is_answer = match &*entry.message {
        Message::Assistant { .. } | Message::AssistantToolCalls { .. } => true,
        Message::User { .. } | Message::ToolResult { .. } => false,
    };
    is_answer && entry.turn == Some(turn) && !entry.interrupted
}

/// The files of the calls of a turn that change several and have no end yet.
fn calls_begun(state: &FlowState, turn: TurnId) -> BTreeMap<String, Vec<FileChange>> {
    let open = state.calls.values().filter(|call| call.turn == turn);
    let several = open.filter(|call| !call.files.is_empty());
    several
        .map(|call| (call.tool_call.clone(), call.files.clone()))
        .collect()
}

/// How much of a time is its day.
const DAY: usize = "2026-05-27".len();

/// Finds the instances of the same role as this one. Every turn asks it of each node of a graph, which may
/// have thousands.
fn of_same_role(role: &RoleInstance) -> impl Fn(&RoleInstance) -> bool + '_ {
    let base = role.base();
    move |other| {
        let rest = other.as_str().strip_prefix(base);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }
}

/// Whether a role has the node that closes the flow: the owner's node that nothing leaves.
fn closes(state: &FlowState, role: &RoleInstance) -> bool {
    let is_last = |node: &NodeId| state.graph.leaving(node).next().is_none();
    let is_same = of_same_role(role);
    let owns = state.owner.as_ref().is_some_and(&is_same);
    // It is one of the last as a rule.
    let mut mine = (state.graph.nodes.iter().rev()).filter(|node| is_same(&node.role));
    owns && mine.any(|node| is_last(&node.id))
}
