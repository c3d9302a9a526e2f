//! What is put into a file, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use a_society_state::FlowRef;

use super::document::{built, document};
use super::gather::{Gathered, gather};
use super::json::{Json, Member};
use super::limits::{BLOB_BYTES_MAX, CHANGE, FILE_BYTES_MAX, TEXT_BYTES_MAX};
use super::requests::{self, Requests};
use super::scrub::Scrub;
use super::wanted::{Failed, Page, Part, Wanted};
use crate::fold::limits::DIFF_BOUNDS;
use crate::fold::lines::Bounds;
use crate::fold::words;
use crate::hub::Hubs;
use crate::hub::flow::wire_ref;
use crate::protocol::exported::{EXPORTED, ExportedTranscript};
use crate::protocol::feed::Item;
use crate::protocol::http::{BodyParts, Changes, Event, Files, ItemBody};
use crate::protocol::limits::ITEM_TEXT_BYTES_MAX;
use crate::server::bodies::Whole;
use crate::server::{diff, files, findings};

/// Makes the file of a flow.
///
/// # Errors
/// When there is too much of it, or it cannot be read.
pub fn page(hubs: &Hubs, flow: &FlowRef, wanted: &Wanted<'_>) -> Result<Page, Failed> {
    let (script, style) = built().ok_or(Failed::NoPage)?;
    let gathered = gather(hubs, flow)?;
    let events = gathered.seq;
    let title = (wanted.redact)(&gathered.row.title);
    let data = fitting(hubs, flow, &gathered, wanted, FILE_BYTES_MAX)?;
    Ok(Page {
        html: document(&title, &data.json, &script, &style),
        events,
        withheld: data.withheld,
        left_out: data.left_out,
    })
}

/// The data of a file.
pub(super) struct Data {
    pub(super) json: String,
    /// How many texts held secrets that were not redacted before.
    pub(super) withheld: u64,
    /// What was left out because there was too much.
    pub(super) left_out: Vec<Part>,
}

/// The data of the file, without what there is too much of, if that is wanted.
pub(super) fn fitting(
    hubs: &Hubs,
    flow: &FlowRef,
    gathered: &Gathered,
    wanted: &Wanted<'_>,
    bytes_max: usize,
) -> Result<Data, Failed> {
    let mut without = wanted.without.clone();
    let mut left_out = Vec::new();
    loop {
        let json = Json::new(Scrub::new(wanted.redact), bytes_max);
        match data(hubs, flow, gathered, wanted, &without, json) {
            Ok((json, withheld)) => {
                return Ok(Data {
                    json,
                    withheld,
                    left_out,
                });
            }
            // Each time there is one part less, so that this ends.
            Err(Failed::TooLarge {
                largest: Some((part, _)),
            }) if wanted.shrinks && without.insert(part) => left_out.push(part),
            Err(failed) => return Err(failed),
        }
    }
}

fn data(
    hubs: &Hubs,
    flow: &FlowRef,
    gathered: &Gathered,
    wanted: &Wanted<'_>,
    without: &BTreeSet<Part>,
    mut json: Json<'_>,
) -> Result<(String, u64), Failed> {
    // The lines first: each secret is whole in one of them.
    let mut lines = cleaned(&gathered.events, &mut json.scrub);
    let mut without = without.clone();
    if without.contains(&Part::Transcripts) {
        // A request is the transcript as it was sent.
        without.insert(Part::Requests);
    }
    let has = |part: Part| !without.contains(&part);
    json.member("v", &EXPORTED)?;
    json.member("build", &wanted.build)?;
    // Its name says enough; its path on this machine is private.
    let workspace = wanted.workspace.trim_end_matches('/').rsplit('/').next();
    json.member("workspace", &workspace.unwrap_or_default())?;
    json.member("exported_at", &words::at(hubs.store.ground().clock.now()))?;
    json.member("flow", &wire_ref(flow))?;
    json.member("epoch", &gathered.epoch)?;
    json.member("seq", &gathered.seq)?;
    json.member("row", &gathered.row)?;
    json.member("state", &gathered.state)?;
    json.member("track", &gathered.track)?;
    json.list("moments", None, &gathered.moments)?;
    let bodies = feeds(hubs, flow, gathered, &mut json, has(Part::Bodies))?;
    json.object("bodies", Some(Part::Bodies), bodies)?;
    let sessions = if has(Part::Transcripts) {
        transcripts(gathered, &mut json.scrub)
    } else {
        Vec::new()
    };
    json.object("transcripts", Some(Part::Transcripts), sessions)?;
    if !has(Part::Events) {
        lines.clear();
    }
    json.list("events", Some(Part::Events), lines)?;
    of_files(
        hubs,
        flow,
        gathered,
        &mut json,
        wanted,
        !without.contains(&Part::Files),
    )?;
    // Last, as they take the room that is left.
    let requests = if has(Part::Requests) {
        // A secret that is taken out leaves a mark, which may be longer than it was.
        let room = json.room() / 2;
        requests::of(hubs, flow, wanted.project, gathered, room)?
    } else {
        Requests::within(0)
    };
    let requests = requests.done(&mut json.scrub);
    json.part("requests", Part::Requests, &requests)?;
    let without: Vec<&str> = without.iter().map(|part| part.word()).collect();
    json.member("without", &without)?;
    Ok(json.done())
}

/// Writes the feeds, and gives the bodies of their items.
fn feeds(
    hubs: &Hubs,
    flow: &FlowRef,
    gathered: &Gathered,
    json: &mut Json<'_>,
    has_bodies: bool,
) -> Result<Vec<Member<ItemBody>>, Failed> {
    let mut bodies = Vec::new();
    let mut feeds: Vec<Member<Vec<Item>>> = Vec::new();
    for (role, items) in &gathered.feeds {
        let texts = gathered.bodies.texts(role);
        let mut shown = Vec::with_capacity(items.len());
        for kept in items.values() {
            let in_feed = texts.get(kept.id.as_str()).copied().unwrap_or(&kept.text);
            let is_cut = in_feed.len() > kept.text.len() || kept.full_bytes.is_some();
            let mut item = kept.clone();
            if is_cut {
                // What was cut off may have held the other half of a secret.
                let clean = json.scrub.text(in_feed);
                words::beginning(&clean, ITEM_TEXT_BYTES_MAX).clone_into(&mut item.text);
                item.full_bytes = Some(kept.full_bytes.unwrap_or(in_feed.len() as u64));
            }
            shown.push(item);
            if has_bodies && (is_cut || kept.call_id.is_some()) {
                let whole = (gathered.bodies).of(hubs, flow, kept.first, in_feed, &CHANGE);
                bodies.push(Member {
                    name: kept.id.clone(),
                    value: body(whole, &mut json.scrub),
                });
            }
        }
        feeds.push(Member {
            name: role.to_string(),
            value: shown,
        });
    }
    json.object("feeds", None, feeds)?;
    Ok(bodies)
}

/// The whole of an item, as far as a file holds one text.
fn body(whole: Whole, scrub: &mut Scrub<'_>) -> ItemBody {
    let total_bytes = whole.text.len() as u64;
    let text = scrub.beginning(&whole.text, TEXT_BYTES_MAX);
    let parts = whole.parts.map(|parts| BodyParts {
        arguments: parts
            .arguments
            .map(|asked| scrub.short(asked, TEXT_BYTES_MAX)),
        // What a call gave is its text.
        result: parts.result.map(|_| text.clone()),
        diff: parts.diff,
        diffs: parts.diffs,
    });
    ItemBody {
        text,
        total_bytes,
        next: None,
        parts,
    }
}

/// The sessions, each message no longer than what a file holds of one text.
fn transcripts(gathered: &Gathered, scrub: &mut Scrub<'_>) -> Vec<Member<ExportedTranscript>> {
    let each = gathered.sessions.iter();
    let each = each.filter_map(|(role, (_, past))| {
        Some(Member {
            name: role.to_string(),
            value: past.done(scrub)?,
        })
    });
    each.collect()
}

/// Lines of the journal, each no longer than what a file holds of one text.
fn cleaned(lines: &[Event], scrub: &mut Scrub<'_>) -> Vec<Event> {
    let each = lines.iter().map(|event| {
        let clean = scrub.line(&event.line);
        Event {
            seq: event.seq,
            at: event.at.clone(),
            fact: event.fact.clone(),
            line: words::beginning(&clean, TEXT_BYTES_MAX).to_owned(),
        }
    });
    each.collect()
}

/// What was handed over and what tools changed.
fn of_files(
    hubs: &Hubs,
    flow: &FlowRef,
    gathered: &Gathered,
    json: &mut Json<'_>,
    wanted: &Wanted<'_>,
    has_files: bool,
) -> Result<(), Failed> {
    let (listed, changes) = if has_files {
        let bounds = Bounds {
            shown_bytes_max: BLOB_BYTES_MAX,
            ..DIFF_BOUNDS
        };
        (
            files::of(&hubs.store, flow, None, wanted.project)?,
            diff::changes(hubs, flow, None, &bounds)?,
        )
    } else {
        let none = Files {
            files: Vec::new(),
            delivered: None,
        };
        let no_changes = Changes {
            diffs: Vec::new(),
            truncated: false,
            by: BTreeMap::new(),
        };
        (none, no_changes)
    };
    let versions = listed.files.iter().flat_map(|file| &file.versions);
    let mut hashes: BTreeSet<String> = versions.map(|version| version.hash.clone()).collect();
    let made = listed.delivered.as_ref();
    hashes.extend(made.map(|made| made.hash.clone()));
    let improving = gathered.state.improvement.iter();
    let findings = improving.flat_map(|view| view.roles.values());
    let findings = findings.filter_map(|role| role.findings.as_ref());
    hashes.extend(findings.map(|findings| findings.hash.clone()));
    if !has_files {
        hashes.clear();
    }
    json.member("files", &listed)?;
    json.member("changes", &changes)?;
    let proposals = if has_files {
        findings::changes(&hubs.store, flow, wanted.project)?
    } else {
        Vec::new()
    };
    let proposals = proposals.into_iter();
    let proposals = proposals.map(|(name, value)| Member { name, value });
    json.object("proposals", Some(Part::Files), proposals)?;
    let mut blobs = Vec::new();
    for hash in hashes {
        // What is not kept, or too large to be shown, is not in the live page either.
        let Ok(bytes) = files::blob(&hubs.store, flow, &hash, wanted.project) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        blobs.push(Member {
            name: hash,
            value: json.scrub.beginning(&text, BLOB_BYTES_MAX),
        });
    }
    json.object("blobs", Some(Part::Files), blobs)
}
