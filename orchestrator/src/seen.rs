//! What a turn sees of its flow and of its session, whether it begins now or its request is written anew.

use std::path::PathBuf;
use std::sync::Arc;

use a_society_facts::id::{FlowId, RoleInstance, TurnId};
use a_society_facts::message::{Message, Text};
use a_society_facts::view::Views;
use a_society_facts::view::session::Entry;
use a_society_roles::handoff::Allowed;
use a_society_roles::turn::job::Job;
use a_society_state::Error;

/// Where a turn works.
pub(crate) struct Place {
    pub(crate) flow: FlowId,
    /// The folder of the flow's own files.
    pub(crate) record: PathBuf,
    /// The folder of the project.
    pub(crate) project: PathBuf,
}

/// What a turn sees: these entries of its session, and what was chosen for its role. What only its
/// beginning knows is left empty.
pub(crate) fn job(
    views: &Views,
    (turn, attempt, role): (TurnId, u32, &RoleInstance),
    entries: &[Entry],
    whole: &dyn Fn(&Text) -> Result<String, Error>,
    at: Place,
) -> Result<Job, Error> {
    let session = views.sessions.get(role);
    let prompt = session.and_then(|session| session.system_prompt.as_ref());
    let chosen = views.flow.configurations.get(role);
    let blocks = entries.iter().enumerate().filter_map(|(place, entry)| {
        let kept = entry.provider_blocks.as_ref()?;
        Some((place, kept.clone()))
    });
    // A text that is kept as a blob is said to the role whole.
    let history: Result<Vec<Arc<Message>>, Error> =
        entries.iter().map(|entry| entry.whole(whole)).collect();
    Ok(Job {
        flow: at.flow,
        turn,
        attempt,
        role: role.clone(),
        node: None,
        turns_before: 0,
        resumed: attempt > 1,
        system_prompt: prompt.map_or(Ok(String::new()), whole)?,
        history: history?,
        provider_blocks: blocks.collect(),
        exchanges_from: 0,
        last_stop: None,
        context_tokens: session.map_or(0, |session| session.latest_context_usage),
        settings: chosen.map(|kept| kept.settings.clone()).unwrap_or_default(),
        seen: session
            .map(|session| session.seen.clone())
            .unwrap_or_default(),
        servers: views.flow.mcp_servers.clone(),
        packet: String::new(),
        allowed: Allowed::default(),
        answers_before: 0,
        record: at.record,
        project: at.project,
    })
}
