//! What roles found in flows, and what a proposed change would do to its file.

use std::path::Path;

use a_society_orchestrator::findings::{self as found, FlowFindings, Proposal};
use a_society_state::{FlowRef, Store};

use super::app::Shared;
use super::blocking::{missing, unread};
use super::limits::{FINDING_BYTES_MAX, FINDINGS_FLOWS_MAX, FINDINGS_LOOKED_AT_MAX};
use super::window::Window;
use crate::fold::findings as folded;
use crate::fold::words::beginning;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::findings::{ChangeDiff, Changeable, FindingView, Findings, FoundFlow};

/// What was found across flows, from the newest on, or from before one of them.
pub(super) fn list(app: &Shared, window: &Window) -> Result<Findings, Fault> {
    let store = &app.hubs.store;
    let census = store.census().map_err(|error| unread(&error))?;
    let mut flows = census.flows;
    if let Some(project) = &window.project {
        flows.retain(|flow| flow.project.as_str() == project);
    }
    flows.sort_by(|one, other| other.flow.cmp(&one.flow));
    let upto = window.start.as_deref();
    let older = |flow: &&FlowRef| upto.is_none_or(|upto| flow.flow.as_str() < upto);
    let mut list = Findings {
        flows: Vec::new(),
        before: None,
    };
    for (at, flow) in flows.iter().filter(older).enumerate() {
        // An unreadable flow shows in its own row.
        if let Ok(mut one) = found::of(store, flow)
            && !(one.findings.is_empty() && one.proposals.is_empty())
        {
            list.flows.push(wire(app, &mut one));
        }
        let enough = list.flows.len() >= FINDINGS_FLOWS_MAX || at + 1 >= FINDINGS_LOOKED_AT_MAX;
        if enough && flows.last() != Some(flow) {
            list.before = Some(flow.flow.to_string());
            break;
        }
    }
    Ok(list)
}

fn wire(app: &Shared, one: &mut FlowFindings) -> FoundFlow {
    let findings = one.findings.drain(..).map(|finding| {
        let text = finding.text.as_deref();
        let shown = text.map(|text| beginning(text, FINDING_BYTES_MAX).to_owned());
        FindingView {
            role: finding.role.to_string(),
            seq: finding.seq,
            truncated: shown.as_deref().map(str::len) != text.map(str::len),
            text: shown,
            path: finding.path,
            is_report: finding.is_report,
        }
    });
    let findings = findings.collect();
    let changes = one.proposals.iter();
    FoundFlow {
        flow: wire_ref(&one.flow),
        title: one.title.clone(),
        findings,
        changes: changes
            .map(|proposal| folded::change_of(proposal, now(app, &one.flow, proposal).as_deref()))
            .collect(),
    }
}

/// What the file of a proposal says now.
fn now(app: &Shared, flow: &FlowRef, proposal: &Proposal) -> Option<String> {
    let project = app.project_folder(flow);
    found::file_now(&app.hubs.store, &project, &proposal.change.path)
}

/// What a proposed change would do to its file as it is now.
pub(super) fn change(app: &Shared, flow: &FlowRef, name: &str) -> Result<ChangeDiff, Fault> {
    let store = &app.hubs.store;
    let one = found::of(store, flow).map_err(|error| unread(&error))?;
    let mut proposals = one.proposals.iter();
    let proposal = proposals
        .find(|proposal| proposal.name == name)
        .ok_or_else(|| {
            missing(
                "there is no such proposal",
                "the flow has none of that name",
            )
        })?;
    Ok(would_change(store, &app.project_folder(flow), proposal))
}

/// What all proposed changes of a flow would do, by their names.
pub(super) fn changes(
    store: &Store,
    flow: &FlowRef,
    project: &Path,
) -> Result<Vec<(String, ChangeDiff)>, Fault> {
    let one = found::of(store, flow).map_err(|error| unread(&error))?;
    let each = one.proposals.iter().map(|proposal| {
        let name = proposal.name.clone();
        (name, would_change(store, project, proposal))
    });
    Ok(each.collect())
}

fn would_change(store: &Store, project: &Path, proposal: &Proposal) -> ChangeDiff {
    let now = found::file_now(store, project, &proposal.change.path);
    folded::would_change(proposal, now.as_deref())
}

/// The files that a finding of a flow may change, and what one of them says now.
pub(super) fn changeable(
    app: &Shared,
    flow: &FlowRef,
    path: Option<&str>,
) -> Result<Changeable, Fault> {
    let project = app.project_folder(flow);
    let (files, truncated) = found::changeable_files(&app.hubs.store, &project);
    let read = |path| found::changeable_now(&app.hubs.store, &project, path);
    let text = path.map(read).transpose();
    let text = text.map_err(|why| missing("this file cannot be changed", &why))?;
    Ok(Changeable {
        files,
        truncated,
        text: text.flatten(),
    })
}
