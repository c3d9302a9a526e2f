//! Sessions in a file are, at every record, what the server tells of them.

use serde_json::{Value, json};

use super::{JOURNALS, Stage, stage, told};
use crate::protocol::exported::{Exported, ExportedTranscript, SessionPart};
use crate::protocol::http::{Segment, Transcript};
use crate::server::transcript;
use crate::server::window::Window;

/// The server's answer for a part of a session at a record; `None`, if there is none.
fn live(stage: &Stage, role: &str, seg: &str, at: u64) -> Option<Transcript> {
    let window = Window {
        at: Some(at),
        seg: Some(seg.to_owned()),
        ..Window::default()
    };
    transcript::of(&stage.hubs, &stage.flow, role, &window).ok()
}

/// The same from a file, as the page puts it together.
fn held(all: &ExportedTranscript, seg: &str, at: u64) -> Option<Transcript> {
    let mut lists = std::collections::BTreeMap::<String, Vec<u32>>::new();
    let (mut parts, mut drafted) = (None, None);
    for moment in all.moments.iter().filter(|moment| moment.seq <= at) {
        parts = moment.parts.clone().or(parts);
        drafted.clone_from(&moment.drafted);
        for (id, change) in &moment.set {
            let list = lists.entry(id.clone()).or_default();
            list.truncate(usize::try_from(change.same).unwrap());
            list.extend(&change.then);
        }
    }
    let messages = |id: &str| {
        let numbers = lists[id].iter().enumerate();
        let mut messages: Vec<_> = numbers
            .map(|(n, number)| {
                let mut message = all.messages[usize::try_from(*number).unwrap()].clone();
                message.n = n as u64;
                message
            })
            .collect();
        if let Some((drafted, last)) = drafted.as_ref().zip(messages.last_mut())
            && id == "live"
        {
            let letters: Vec<u16> = last.content.encode_utf16().collect();
            let upto = usize::try_from(drafted.chars).unwrap();
            last.content = String::from_utf16(&letters[..upto]).unwrap();
            last.raw["content"] = json!(last.content);
            last.tokens = drafted.tokens;
        }
        messages
    };
    let segments = parts?.into_iter().map(|part| {
        let messages = messages(&part.id);
        let counted = messages.iter().map(|message| message.tokens).sum();
        let counts = !["tools", "requests"].contains(&part.kind.as_str());
        let said =
            |part: &SessionPart| !["tools", "requests", "system"].contains(&part.kind.as_str());
        let moments = messages.iter().filter_map(|message| message.at.clone());
        let moments: Vec<String> = moments.filter(|_| said(&part)).collect();
        Segment {
            from: moments.first().cloned(),
            to: moments.last().cloned(),
            messages: messages.len() as u64,
            tokens: if counts { counted } else { 0 },
            id: part.id,
            kind: part.kind,
            words: part.words,
        }
    });
    let segments: Vec<Segment> = segments.collect();
    segments.iter().find(|segment| segment.id == seg)?;
    let messages = messages(seg);
    Some(Transcript {
        segments,
        total: messages.len() as u64,
        messages,
    })
}

fn exported(stage: &Stage) -> Exported {
    serde_json::from_str(&told(stage, &str::to_owned, &[]).0).unwrap()
}

#[test]
fn a_session_in_a_file_is_at_every_record_what_the_server_tells_of_it() {
    let (mut drafts, mut archives, mut compared) = (0, 0, 0);
    for name in JOURNALS {
        let stage = stage(name);
        let exported = exported(&stage);
        for (role, all) in &exported.transcripts {
            for at in 1..=exported.seq {
                let now = live(&stage, role, "live", at);
                assert_eq!(held(all, "live", at), now, "{name} {role} at {at}");
                let Some(now) = now else { continue };
                drafts += usize::from(now.messages.iter().any(|one| one.raw["draft"] == true));
                for segment in now.segments.iter().skip(1).filter(|_| at.is_multiple_of(5)) {
                    archives += usize::from(segment.kind == "compaction");
                    let then = live(&stage, role, &segment.id, at);
                    assert_eq!(
                        held(all, &segment.id, at),
                        then,
                        "{name} {role} {} at {at}",
                        segment.id
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(
        drafts > 0 && archives > 0 && compared > 100,
        "{drafts} {archives} {compared}"
    );
}

/// Queries of a session with their answers: for the tests of the page.
pub(super) fn asked(stage: &Stage, exported: &Exported) -> Vec<Value> {
    let mut asked = Vec::new();
    for role in exported.transcripts.keys() {
        for at in [3, 12, 25, 40, 61, exported.seq] {
            for seg in ["live", "requests", "tools", "system"] {
                let told = live(stage, role, seg, at);
                asked.push(json!({ "role": role, "at": at, "seg": seg, "told": told }));
            }
        }
    }
    asked
}
