//! What every ledger must do, as checks that its adapter runs against the real thing.
//!
//! An adapter brings a [`Rig`] and calls [`check_all`]. What a rig cannot do, such as cutting the power of a
//! database, is reported as not measured and never as passed.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::fact::journal::{ProcessName, WriterOpened};
use a_society_facts::{At, Fact, Hash, line};
use a_society_state::FlowRef;
use a_society_state::ledger::{
    Appended, Chunk, Claimed, JournalEnd, Ledger, LedgerChange, LedgerChanges, LedgerError, Letter,
    LetterId, Promise, SharedLedger, WorkerName,
};

/// Whether a rig can do what a check needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RigCan {
    /// It was done.
    Done,
    /// It cannot be done here.
    Not,
}

/// A ledger under test, and what can be done to it.
pub trait Rig {
    /// An empty ledger. Until the next one, everything else is about this one.
    fn fresh(&mut self) -> SharedLedger;
    /// The same ledger, seen from another machine.
    fn other_machine(&mut self) -> SharedLedger;
    /// Ends the ledger as a power cut would, and starts it again.
    fn crash(&mut self) -> RigCan;
    /// Cuts the machine of [`Self::fresh`] off from the ledger.
    fn cut(&mut self) -> RigCan;
    /// Lets it reach the ledger again.
    fn heal(&mut self);
    /// Loses the answer to the next operation, which is done.
    fn lose_next_answer(&mut self) -> RigCan;
}

/// The outcome of the checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conformance {
    /// The names of those that held.
    pub held: Vec<&'static str>,
    /// The names of those that this rig cannot measure.
    pub not_measured: Vec<&'static str>,
    /// The names of those that did not hold, and why.
    pub broken: Vec<(&'static str, String)>,
}

/// The result of a check: whether it could be measured, or why it does not hold.
type CheckResult = Result<RigCan, String>;
type ConformanceCheck = fn(&mut dyn Rig) -> CheckResult;

/// Every check, with its name.
const CHECKS: [(&str, ConformanceCheck); 18] = [
    ("an empty ledger has no flow", empty),
    (
        "what was appended is read back after every record",
        read_back,
    ),
    (
        "the same chunk twice is taken twice and kept once",
        taken_twice,
    ),
    (
        "another chunk at the same place is refused with the end",
        moved,
    ),
    ("an append with any old end changes nothing", zombies),
    ("an empty chunk asks for the promise alone", promise_alone),
    ("a reader stops when it has enough", stops),
    ("a record of another journal is refused", strange_record),
    ("of machines that append at once exactly one is taken", race),
    ("one worker at a time has a claim", claims),
    ("a claim does not decide what is true", claims_are_no_fence),
    ("blobs come back by flow and hash", blobs),
    ("a letter counts once, and so does its answer", letters),
    (
        "changes are announced, or it is said that some were lost",
        news,
    ),
    ("flows are listed by address, page by page", pages),
    ("only a flow that still ends so is removed", removal),
    (
        "what is kept survives a crash, and what is left is a beginning",
        crash,
    ),
    (
        "a lost answer may be repeated, and a machine that is cut off does nothing",
        faults,
    ),
];

/// Runs every check.
pub fn check_all(rig: &mut dyn Rig) -> Conformance {
    let mut conformance = Conformance::default();
    for (name, check) in CHECKS {
        match check(rig) {
            Ok(RigCan::Done) => conformance.held.push(name),
            Ok(RigCan::Not) => conformance.not_measured.push(name),
            Err(why) => conformance.broken.push((name, why)),
        }
    }
    conformance
}

/// Lines of a journal, one after another.
#[derive(Debug, Clone)]
struct LineScript {
    end: Option<JournalEnd>,
    writer: u32,
}

impl LineScript {
    const fn of(writer: u32) -> Self {
        Self { end: None, writer }
    }

    /// A chunk of so many lines that goes on from where this is.
    fn chunk(&mut self, lines: usize) -> Result<Chunk, String> {
        let after = self.end;
        let mut bytes = Vec::new();
        for _ in 0..lines {
            let (seq, crc) = self.end.map_or((0, 0), |end| (end.seq, end.crc));
            let process = ProcessName {
                pid: self.writer,
                start_ticks: seq,
                boot_id: "a ledger's flow, \"with\" \\ and \u{1F4D2}".to_owned(),
            };
            let fact = Fact::WriterOpened(WriterOpened { process });
            let at = At::from_ms(i64::from(self.writer));
            let crc = line::write(&mut bytes, seq + 1, at, seq, crc, &fact).map_err(text)?;
            self.end = Some(JournalEnd {
                segment: 1,
                seq: seq + 1,
                crc,
            });
        }
        let upto = self.end.ok_or("a chunk needs a line")?;
        Ok(Chunk { after, upto, bytes })
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn flow(number: u32) -> Result<FlowRef, String> {
    let project = "proof".parse().map_err(text)?;
    let id = format!("20260101T000000000Z-{number:06}");
    let flow = id.parse().map_err(text)?;
    Ok(FlowRef { project, flow })
}

fn holds(is_so: bool, otherwise: &str) -> Result<(), String> {
    is_so.then_some(()).ok_or_else(|| otherwise.to_owned())
}

fn take(ledger: &dyn Ledger, flow: &FlowRef, chunk: &Chunk) -> Result<(), String> {
    let appended = ledger.append(flow, chunk, Promise::Kept).map_err(text)?;
    holds(
        appended == Appended::Taken,
        "a chunk at the end was not taken",
    )
}

fn end_of(ledger: &dyn Ledger, flow: &FlowRef) -> Result<Option<JournalEnd>, String> {
    Ok(ledger.entry(flow).map_err(text)?.map(|entry| entry.end))
}

fn bytes_after(
    ledger: &dyn Ledger,
    flow: &FlowRef,
    after: Option<JournalEnd>,
) -> Result<Vec<u8>, LedgerError> {
    let mut bytes = Vec::new();
    let from = after.map_or(0, |after| after.seq);
    ledger.read(flow, after, &mut |chunk| {
        for line in chunk.bytes.split_inclusive(|byte| *byte == b'\n') {
            let frame = line::frame(line.strip_suffix(b"\n").unwrap_or(line));
            if frame.is_ok_and(|frame| frame.seq > from) {
                bytes.extend_from_slice(line);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(bytes)
}

fn empty(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let flows = ledger.flows(None, 10).map_err(text)?;
    holds(flows.is_empty(), "it lists flows")?;
    holds(end_of(ledger.as_ref(), &flow)?.is_none(), "it has an end")?;
    let read = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    holds(read.is_empty(), "it reads something")?;
    holds(!ledger.about().name.is_empty(), "it has no name")?;
    Ok(RigCan::Done)
}

fn read_back(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    let (mut whole, mut ends) = (Vec::new(), vec![(None, 0)]);
    for lines in [1, 3, 1, 40, 2] {
        let before = script.clone();
        let chunk = script.chunk(lines)?;
        take(ledger.as_ref(), &flow, &chunk)?;
        let mut each = before;
        for _ in 0..lines {
            let line = each.chunk(1)?;
            whole.extend_from_slice(&line.bytes);
            ends.push((each.end, whole.len()));
        }
        holds(
            end_of(ledger.as_ref(), &flow)? == script.end,
            "its end is another",
        )?;
    }
    let elsewhere = rig.other_machine();
    for (after, from) in ends {
        let here = bytes_after(ledger.as_ref(), &flow, after).map_err(text)?;
        let there = bytes_after(elsewhere.as_ref(), &flow, after).map_err(text)?;
        let wanted = whole.get(from..).unwrap_or_default();
        holds(here == wanted, "other bytes are read back")?;
        holds(there == wanted, "another machine reads other bytes")?;
    }
    Ok(RigCan::Done)
}

fn taken_twice(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    let chunks = [script.chunk(2)?, script.chunk(1)?, script.chunk(3)?];
    for chunk in &chunks {
        take(ledger.as_ref(), &flow, chunk)?;
        take(ledger.as_ref(), &flow, chunk)?;
    }
    for chunk in &chunks {
        take(ledger.as_ref(), &flow, chunk)?;
    }
    let whole: Vec<u8> = chunks
        .iter()
        .flat_map(|chunk| chunk.bytes.clone())
        .collect();
    let read = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    holds(read == whole, "a chunk was kept twice, or not at all")?;
    Ok(RigCan::Done)
}

fn moved(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let (mut ours, mut theirs) = (LineScript::of(1), LineScript::of(2));
    let first = ours.chunk(2)?;
    take(ledger.as_ref(), &flow, &first)?;
    let other = theirs.chunk(2)?;
    let refused = ledger.append(&flow, &other, Promise::Kept).map_err(text)?;
    let wanted = Appended::Moved { end: ours.end };
    holds(refused == wanted, "it was not refused with the end")?;
    let later = theirs.chunk(1)?;
    let refused = ledger.append(&flow, &later, Promise::Soon).map_err(text)?;
    holds(
        refused == wanted,
        "a chunk after an unknown record was not refused",
    )?;
    let read = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    holds(read == first.bytes, "the journal changed")?;
    Ok(RigCan::Done)
}

fn zombies(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    let mut ends = vec![None];
    for _ in 0..6 {
        take(ledger.as_ref(), &flow, &script.chunk(2)?)?;
        ends.push(script.end);
    }
    let before = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    ends.pop();
    let zombie = rig.other_machine();
    for end in ends {
        let mut late = LineScript { end, writer: 9 };
        let chunk = late.chunk(3)?;
        let appended = zombie.append(&flow, &chunk, Promise::Kept).map_err(text)?;
        holds(appended != Appended::Taken, "a late append was taken")?;
    }
    let after = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    holds(before == after, "a late append changed the journal")?;
    Ok(RigCan::Done)
}

fn promise_alone(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    let chunk = script.chunk(2)?;
    let soon = ledger.append(&flow, &chunk, Promise::Soon).map_err(text)?;
    holds(soon == Appended::Taken, "it was not taken")?;
    let old = chunk.upto;
    let empty = |end| Chunk {
        after: Some(end),
        upto: end,
        bytes: Vec::new(),
    };
    take(ledger.as_ref(), &flow, &empty(old))?;
    take(ledger.as_ref(), &flow, &script.chunk(1)?)?;
    let refused = ledger
        .append(&flow, &empty(old), Promise::Kept)
        .map_err(text)?;
    let wanted = Appended::Moved { end: script.end };
    holds(
        refused == wanted,
        "an empty chunk at an old end was not refused",
    )?;
    Ok(RigCan::Done)
}

fn stops(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    for _ in 0..4 {
        take(ledger.as_ref(), &flow, &script.chunk(1)?)?;
    }
    let mut chunks = 0;
    let read = ledger.read(&flow, None, &mut |_| {
        chunks += 1;
        ControlFlow::Break(())
    });
    read.map_err(text)?;
    holds(chunks == 1, "it went on")?;
    Ok(RigCan::Done)
}

fn strange_record(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let (mut ours, mut theirs) = (LineScript::of(1), LineScript::of(2));
    take(ledger.as_ref(), &flow, &ours.chunk(4)?)?;
    let _other = theirs.chunk(2)?;
    let read = bytes_after(ledger.as_ref(), &flow, theirs.end);
    let is_refused = matches!(read, Err(LedgerError::Unfit { .. }));
    holds(
        is_refused,
        "it read on after a record that it does not have",
    )?;
    Ok(RigCan::Done)
}

fn race(rig: &mut dyn Rig) -> CheckResult {
    let (first, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    let machines: Vec<SharedLedger> = (0..4).map(|_| rig.other_machine()).collect();
    for _ in 0..50 {
        let end = script.end;
        let contenders = machines.iter().zip(1_u32..).map(|(machine, number)| {
            let mut theirs = LineScript {
                end,
                writer: number,
            };
            let chunk = theirs.chunk(2)?;
            Ok((Arc::clone(machine), chunk, theirs))
        });
        let contenders: Result<Vec<_>, String> = contenders.collect();
        let appended = std::thread::scope(|scope| {
            let threads: Vec<_> = contenders?
                .into_iter()
                .map(|(machine, chunk, theirs)| {
                    let flow = &flow;
                    scope.spawn(move || (machine.append(flow, &chunk, Promise::Kept), theirs))
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join().ok());
            Ok::<_, String>(joined.collect::<Vec<_>>())
        })?;
        let mut taken = appended
            .into_iter()
            .flatten()
            .filter(|(appended, _)| *appended == Ok(Appended::Taken));
        let (_, winner) = taken.next().ok_or("none was taken")?;
        holds(taken.next().is_none(), "more than one was taken")?;
        holds(
            end_of(first.as_ref(), &flow)? == winner.end,
            "the end is another's",
        )?;
        script = winner;
    }
    Ok(RigCan::Done)
}

fn worker(name: &str) -> WorkerName {
    WorkerName(name.to_owned())
}

fn claims(rig: &mut dyn Rig) -> CheckResult {
    let (here, there) = (rig.fresh(), rig.other_machine());
    let (flow, other) = (flow(1)?, flow(2)?);
    take(here.as_ref(), &flow, &LineScript::of(1).chunk(1)?)?;
    let Claimed::Yes(claim) = here.claim(&flow, &worker("a")).map_err(text)? else {
        return Err("a free flow was not granted".to_owned());
    };
    holds(claim.is_held(), "a granted claim is not held")?;
    match there.claim(&flow, &worker("b")).map_err(text)? {
        Claimed::Yes(_) => return Err("it was granted twice".to_owned()),
        Claimed::Busy { holder } => holds(holder.contains('a'), "it names another holder")?,
    }
    let entry = there.entry(&flow).map_err(text)?.ok_or("it is gone")?;
    holds(entry.holder.is_some(), "its entry names no holder")?;
    let elsewhere = there.claim(&other, &worker("b")).map_err(text)?;
    holds(
        matches!(elsewhere, Claimed::Yes(_)),
        "another flow was not granted",
    )?;
    drop(claim);
    let freed = there.claim(&flow, &worker("b")).map_err(text)?;
    holds(matches!(freed, Claimed::Yes(_)), "it was not given back")?;
    Ok(RigCan::Done)
}

fn claims_are_no_fence(rig: &mut dyn Rig) -> CheckResult {
    let (here, there) = (rig.fresh(), rig.other_machine());
    let flow = flow(1)?;
    let claim = here.claim(&flow, &worker("a")).map_err(text)?;
    let mut script = LineScript::of(2);
    take(there.as_ref(), &flow, &script.chunk(1)?)?;
    let ours = LineScript::of(1).chunk(1)?;
    let appended = here.append(&flow, &ours, Promise::Kept).map_err(text)?;
    holds(appended != Appended::Taken, "a claim let an old end in")?;
    drop(claim);
    Ok(RigCan::Done)
}

fn blobs(rig: &mut dyn Rig) -> CheckResult {
    let (here, there) = (rig.fresh(), rig.other_machine());
    let (flow, other) = (flow(1)?, flow(2)?);
    for bytes in [&b""[..], b"\0\xff", &[7; 300_000]] {
        let hash = Hash::of(bytes);
        holds(
            here.blob(&flow, hash).map_err(text)?.is_none(),
            "it was there",
        )?;
        here.keep_blob(&flow, hash, bytes).map_err(text)?;
        here.keep_blob(&flow, hash, bytes).map_err(text)?;
        let back = there.blob(&flow, hash).map_err(text)?;
        holds(back.as_deref() == Some(bytes), "other bytes came back")?;
        let others = there.blob(&other, hash).map_err(text)?;
        holds(others.is_none(), "another flow has it")?;
    }
    Ok(RigCan::Done)
}

fn letters(rig: &mut dyn Rig) -> CheckResult {
    let (here, there) = (rig.fresh(), rig.other_machine());
    let flow = flow(1)?;
    take(here.as_ref(), &flow, &LineScript::of(1).chunk(1)?)?;
    let letter = |name: &str| Letter {
        id: LetterId(name.to_owned()),
        command: format!("pause from {name}").into_bytes(),
    };
    for name in ["z", "a", "z", "m"] {
        there.post(&flow, &letter(name)).map_err(text)?;
    }
    let open = here.letters(&flow).map_err(text)?;
    let wanted = ["z", "a", "m"].map(letter);
    holds(
        open == wanted,
        "letters are missing, doubled or in another order",
    )?;
    here.answer(&flow, &letter("a").id, b"done").map_err(text)?;
    here.answer(&flow, &letter("a").id, b"again")
        .map_err(text)?;
    let answer = there.answered(&flow, &letter("a").id).map_err(text)?;
    holds(answer.as_deref() == Some(b"done"), "another answer came")?;
    let none = there.answered(&flow, &letter("z").id).map_err(text)?;
    holds(none.is_none(), "an open letter has an answer")?;
    there.post(&flow, &letter("a")).map_err(text)?;
    let open = here.letters(&flow).map_err(text)?;
    holds(
        open == ["z", "m"].map(letter),
        "an answered letter came again",
    )?;
    Ok(RigCan::Done)
}

fn news(rig: &mut dyn Rig) -> CheckResult {
    let (here, there) = (rig.fresh(), rig.other_machine());
    let flow = flow(1)?;
    let mut listener = there.news().map_err(text)?;
    let claim = here.claim(&flow, &worker("a")).map_err(text)?;
    take(here.as_ref(), &flow, &LineScript::of(1).chunk(1)?)?;
    let letter = Letter {
        id: LetterId("1".to_owned()),
        command: Vec::new(),
    };
    here.post(&flow, &letter).map_err(text)?;
    drop(claim);
    let mut missing = vec![
        LedgerChange::Appended,
        LedgerChange::Posted,
        LedgerChange::Freed,
    ];
    for _ in 0..100 {
        match listener.wait(Duration::from_millis(100)).map_err(text)? {
            LedgerChanges::Lost => return Ok(RigCan::Done),
            LedgerChanges::Of(changes) => missing.retain(|change| {
                let known = changes.iter().any(|(of, is)| *of == flow && is == change);
                !known
            }),
        }
        if missing.is_empty() {
            return Ok(RigCan::Done);
        }
    }
    Err(format!("{missing:?} were never announced"))
}

fn pages(rig: &mut dyn Rig) -> CheckResult {
    let ledger = rig.fresh();
    for number in [5, 1, 4, 2, 3] {
        take(
            ledger.as_ref(),
            &flow(number)?,
            &LineScript::of(number).chunk(1)?,
        )?;
    }
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.flows(after.as_ref(), 2).map_err(text)?;
        let Some(last) = page.last() else { break };
        after = Some(last.flow.clone());
        listed.extend(page.into_iter().map(|entry| entry.flow));
    }
    let wanted: Result<Vec<FlowRef>, String> = (1..=5).map(flow).collect();
    holds(
        listed == wanted?,
        "flows are missing, doubled or in another order",
    )?;
    Ok(RigCan::Done)
}

fn removal(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    take(ledger.as_ref(), &flow, &script.chunk(1)?)?;
    let old = script.end.ok_or("no end")?;
    take(ledger.as_ref(), &flow, &script.chunk(1)?)?;
    let end = script.end.ok_or("no end")?;
    let hash = Hash::of(b"blob");
    ledger.keep_blob(&flow, hash, b"blob").map_err(text)?;
    let refused = ledger.remove(&flow, old).map_err(text)?;
    let wanted = Appended::Moved { end: Some(end) };
    holds(refused == wanted, "a flow that went on was removed")?;
    for _ in 0..2 {
        let removed = ledger.remove(&flow, end).map_err(text)?;
        holds(removed == Appended::Taken, "it was not removed")?;
    }
    holds(
        end_of(ledger.as_ref(), &flow)?.is_none(),
        "it is still there",
    )?;
    let blob = ledger.blob(&flow, hash).map_err(text)?;
    holds(blob.is_none(), "its blob is still there")?;
    Ok(RigCan::Done)
}

fn crash(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let mut script = LineScript::of(1);
    take(ledger.as_ref(), &flow, &script.chunk(3)?)?;
    let kept = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    let mut whole = kept.clone();
    for _ in 0..3 {
        let chunk = script.chunk(1)?;
        ledger.append(&flow, &chunk, Promise::Soon).map_err(text)?;
        whole.extend_from_slice(&chunk.bytes);
    }
    if rig.crash() == RigCan::Not {
        return Ok(RigCan::Not);
    }
    let left = bytes_after(ledger.as_ref(), &flow, None).map_err(text)?;
    holds(left.starts_with(&kept), "what was kept is gone")?;
    holds(whole.starts_with(&left), "what is left is no beginning")?;
    Ok(RigCan::Done)
}

fn faults(rig: &mut dyn Rig) -> CheckResult {
    let (ledger, flow) = (rig.fresh(), flow(1)?);
    let there = rig.other_machine();
    let mut script = LineScript::of(1);
    take(ledger.as_ref(), &flow, &script.chunk(1)?)?;
    let chunk = script.chunk(2)?;
    if rig.lose_next_answer() == RigCan::Not {
        return Ok(RigCan::Not);
    }
    let unsure = ledger.append(&flow, &chunk, Promise::Kept);
    let is_unsure = matches!(unsure, Err(LedgerError::Unsure { .. }));
    holds(is_unsure, "a lost answer was not said to be lost")?;
    take(ledger.as_ref(), &flow, &chunk)?;
    let before = bytes_after(there.as_ref(), &flow, None).map_err(text)?;
    let claim = ledger.claim(&flow, &worker("a")).map_err(text)?;
    if rig.cut() == RigCan::Not {
        return Ok(RigCan::Not);
    }
    let cut_off = ledger.append(&flow, &script.chunk(1)?, Promise::Kept);
    rig.heal();
    holds(cut_off.is_err(), "a machine that is cut off appended")?;
    let after = bytes_after(there.as_ref(), &flow, None).map_err(text)?;
    holds(
        before == after,
        "a machine that is cut off changed the journal",
    )?;
    drop(claim);
    Ok(RigCan::Done)
}
