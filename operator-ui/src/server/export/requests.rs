//! Requests as they left for their models. Each repeats the whole conversation, so a file holds shared
//! parts once: a request is a list of pieces, given by its difference from the request before it of its
//! role.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use a_society_facts::id::{RoleInstance, Seq};
use a_society_orchestrator::sent_request::{self, WrittenModelRequest};
use a_society_state::FlowRef;

use super::gather::Gathered;
use super::limits::{REQUESTS_BYTES_MAX, REQUESTS_MAX, TEXT_BYTES_MAX};
use super::pieces::{in_pieces, quoted, with_strings};
use super::scrub::Scrub;
use crate::hub::Hubs;
use crate::protocol::Fault;
use crate::protocol::exported::{ExportedRequest, ExportedRequests};
use crate::server::blocking::unread;

/// What a number in a list of pieces takes.
const NUMBER_BYTES: usize = 7;

/// A piece that requests have in common.
struct SharedPiece {
    text: Arc<str>,
    /// How many kept requests use it.
    uses: usize,
    bytes: usize,
}

/// A request, in pieces.
struct KeptRequest {
    seq: Seq,
    request: ExportedRequest,
    role: RoleInstance,
}

/// The last requests that find room.
pub(super) struct Requests {
    bytes_max: usize,
    bytes: usize,
    kept: VecDeque<KeptRequest>,
    pieces: Vec<SharedPiece>,
    known: HashMap<Arc<str>, u32>,
    unwritten: BTreeMap<String, String>,
    left_out: u64,
}

/// The requests of a flow as it was gathered, within this room.
pub(super) fn of(
    hubs: &Hubs,
    flow: &FlowRef,
    project: &std::path::Path,
    gathered: &Gathered,
    room: usize,
) -> Result<Requests, Fault> {
    let mut sent: Vec<Seq> = gathered
        .sessions
        .values()
        .flat_map(|(read, _)| read.sent())
        .collect();
    sent.sort_unstable();
    let early = sent.len().saturating_sub(REQUESTS_MAX);
    let mut requests = Requests::within(room.min(REQUESTS_BYTES_MAX));
    requests.left_out = early as u64;
    let Some((first, last)) = sent.get(early).zip(sent.last()) else {
        return Ok(requests);
    };
    let done = sent_request::each(
        &hubs.store,
        flow,
        project,
        *first..=*last,
        &mut |seq, asked| {
            match asked {
                Ok(request) => requests.hear(seq, &request),
                Err(error) => drop(
                    requests
                        .unwritten
                        .insert(seq.to_string(), error.to_string()),
                ),
            }
            ControlFlow::Continue(())
        },
    );
    match done {
        // What is good before some damage is in the file, as the rest of it is.
        Ok(()) | Err(a_society_state::Error::Damaged(_)) => Ok(requests),
        Err(error) => Err(unread(&error)),
    }
}

impl Requests {
    pub(super) fn within(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            bytes: 0,
            kept: VecDeque::new(),
            pieces: Vec::new(),
            known: HashMap::new(),
            unwritten: BTreeMap::new(),
            left_out: 0,
        }
    }

    /// Takes the next request, and lets go of the oldest as long as there is too much.
    pub(super) fn hear(&mut self, seq: Seq, request: &WrittenModelRequest) {
        let body = String::from_utf8_lossy(&request.body);
        let pieces: Vec<u32> = in_pieces(&body).map(|text| self.piece(text)).collect();
        let asked = &request.asked;
        self.kept.push_back(KeptRequest {
            seq,
            role: asked.role.clone(),
            request: ExportedRequest {
                model: asked.model.clone(),
                hash: asked.hash.to_string(),
                total_bytes: request.body.len() as u64,
                differs: request.differs.clone(),
                after: None,
                same: 0,
                pieces,
            },
        });
        while self.bytes > self.bytes_max {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.left_out += 1;
            self.bytes -= oldest.request.pieces.len() * NUMBER_BYTES;
            for number in &oldest.request.pieces {
                self.let_go(*number);
            }
        }
    }

    /// The number of a piece.
    fn piece(&mut self, text: &str) -> u32 {
        self.bytes += NUMBER_BYTES;
        let number = self.known.get(text).copied();
        let number = number.unwrap_or_else(|| self.new_piece(text));
        if let Some(piece) = self.pieces.get_mut(number as usize) {
            piece.uses += 1;
        }
        number
    }

    fn new_piece(&mut self, text: &str) -> u32 {
        // More pieces than such a number counts do not fit into any bound of bytes.
        let number = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        let bytes = quoted(&text).len() + 1;
        self.bytes += bytes;
        self.known.insert(Arc::clone(&text), number);
        self.pieces.push(SharedPiece {
            text,
            uses: 0,
            bytes,
        });
        number
    }

    fn let_go(&mut self, number: u32) {
        let Some(piece) = self.pieces.get_mut(number as usize) else {
            return;
        };
        piece.uses -= 1;
        if piece.uses == 0 {
            self.bytes -= piece.bytes;
            self.known.remove(&piece.text);
            piece.text = "".into();
        }
    }

    /// The pieces without secrets, and which of them each one became.
    fn clean(&self, scrub: &mut Scrub<'_>) -> (Vec<String>, Vec<Option<Clean>>) {
        let mut clean = Vec::new();
        let cleaned = self.pieces.iter().map(|piece| {
            let is_used = piece.uses > 0;
            is_used.then(|| clean_piece(&piece.text, &mut clean, scrub))
        });
        let cleaned = cleaned.collect();
        (clean, cleaned)
    }

    /// The requests of the file: without secrets, each given by the one before it.
    pub(super) fn done(self, scrub: &mut Scrub<'_>) -> ExportedRequests {
        let (mut clean, mut cleaned) = self.clean(scrub);
        let mut known = 0;
        // A secret that was found late may occur in part before its place, where it was not recognised.
        while scrub.known() > known {
            known = scrub.known();
            (clean, cleaned) = self.clean(scrub);
        }
        let of = |number: &u32| cleaned.get(*number as usize).copied().flatten();
        let mut last: HashMap<RoleInstance, (Seq, Vec<u32>)> = HashMap::new();
        let mut sent = BTreeMap::new();
        for KeptRequest { seq, role, request } in self.kept {
            let all: Vec<Clean> = request.pieces.iter().filter_map(of).collect();
            let changed = all
                .iter()
                .fold(PieceMarks::default(), |a, b| a.and(b.changed));
            let numbers: Vec<u32> = all.iter().map(|piece| piece.number).collect();
            let before = last.get(&role);
            let same = before.map_or(0, |(_, before)| {
                let pairs = before.iter().zip(&numbers);
                pairs.take_while(|(a, b)| a == b).count()
            });
            let request = ExportedRequest {
                differs: changed.told(request.differs),
                after: before.map(|(seq, _)| *seq).filter(|_| same > 0),
                same: same as u64,
                pieces: numbers.iter().skip(same).copied().collect(),
                ..request
            };
            sent.insert(seq.to_string(), request);
            last.insert(role, (seq, numbers));
        }
        ExportedRequests {
            sent,
            pieces: clean,
            unwritten: self.unwritten,
            left_out: self.left_out,
        }
    }
}

/// What was done to a piece before it went into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct PieceMarks {
    withheld: bool,
    is_cut: bool,
}

impl PieceMarks {
    const fn and(self, other: Self) -> Self {
        Self {
            withheld: self.withheld || other.withheld,
            is_cut: self.is_cut || other.is_cut,
        }
    }

    /// Why what the file shows is not what left, to what was known before.
    fn told(self, before: Option<String>) -> Option<String> {
        let here = match (self.withheld, self.is_cut) {
            (false, false) => return before,
            (true, false) => "secrets were taken out of it for this file",
            (false, true) => "long texts in it were cut for this file",
            (true, true) => "secrets were taken out of it and long texts cut for this file",
        };
        Some(match before {
            Some(before) => format!("{before}; and {here}"),
            None => format!("{here}, and before that its hash was the recorded one"),
        })
    }
}

/// A piece as the file holds it.
#[derive(Debug, Clone, Copy)]
struct Clean {
    number: u32,
    changed: PieceMarks,
}

/// Puts a piece without secrets behind the others.
fn clean_piece(text: &str, clean: &mut Vec<String>, scrub: &mut Scrub<'_>) -> Clean {
    let mut changed = PieceMarks::default();
    let out = with_strings(text, &mut |said| {
        let mut shown = scrub.text(said);
        changed.withheld |= shown != said;
        if shown.len() > TEXT_BYTES_MAX {
            shown = scrub.beginning(said, TEXT_BYTES_MAX);
            changed.is_cut = true;
        }
        (shown != said).then_some(shown)
    });
    let whole = if changed == PieceMarks::default() {
        // Some secrets are recognised by the text before them, which may be the name of a member.
        let whole = scrub.text(&out);
        changed.withheld = whole != out;
        whole
    } else {
        out
    };
    let number = u32::try_from(clean.len()).unwrap_or(u32::MAX);
    clean.push(whole);
    Clean { number, changed }
}
