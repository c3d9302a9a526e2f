//! The lines of a segment, each checked and read, in their order.
//!
//! Whether a line holds and what it contains depends on nothing but the line. So of a long segment a
//! few threads read the lines ahead, a piece each in turn, while the receiver follows the chain and
//! folds. The result is the same as with one thread: the same lines, in the same order, up to and with
//! the first one that does not hold.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, available_parallelism, scope};

use a_society_facts::Recorded;
use a_society_facts::line::{self, BadLine, Frame};

use crate::limits::{AHEAD_PIECE_BYTES, AHEAD_PIECES_MAX, AHEAD_THREADS_MAX, LONG_SEGMENT_BYTES};

/// A line.
#[derive(Debug)]
pub(super) struct Line {
    /// Where it begins.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) end: usize,
    /// What it says.
    pub(super) read: Result<(Frame, Recorded), BadLine>,
}

/// Who takes lines goes on, or breaks with what it came to.
type Take<'a, B> = &'a mut dyn FnMut(&Line) -> ControlFlow<B>;

/// Lines that end with a newline, and where the first begins; only the last may lack it.
type LinesPiece<'a> = (usize, &'a mut [u8]);

/// Passes on the lines of a segment, or of its end, and returns the receiver's break value. Nothing
/// comes after a line that does not hold.
pub(super) fn each<B>(bytes: &mut [u8], take: Take<'_, B>) -> Option<B> {
    let threads = if bytes.len() < LONG_SEGMENT_BYTES {
        1
    } else {
        available_parallelism().map_or(1, NonZero::get)
    };
    each_with(threads.min(AHEAD_THREADS_MAX), bytes, take)
}

fn each_with<B>(threads: usize, bytes: &mut [u8], take: Take<'_, B>) -> Option<B> {
    let mut taken = 0;
    if threads > 1
        && let ControlFlow::Break(broke) = ahead(threads, bytes, &mut taken, take)
    {
        return broke;
    }
    // The part that was not read ahead: all of it, or the rest if the system has no thread left.
    let rest = bytes.get_mut(taken..)?;
    read((taken, rest), &mut |line| hand_on(&line, take))
        .break_value()
        .flatten()
}

/// Hands on lines that threads read ahead, and counts the bytes that were taken.
fn ahead<B>(
    threads: usize,
    bytes: &mut [u8],
    taken: &mut usize,
    take: Take<'_, B>,
) -> ControlFlow<Option<B>> {
    let pieces = cut(bytes);
    let count = pieces.len();
    let mut shares: Vec<Vec<LinesPiece<'_>>> = Vec::new();
    shares.resize_with(threads, Vec::new);
    for (number, piece) in (0..threads).cycle().zip(pieces) {
        if let Some(share) = shares.get_mut(number) {
            share.push(piece);
        }
    }
    scope(|scope| {
        let lanes = shares.into_iter().map(|share| {
            let (to_taker, from_reader) = sync_channel(AHEAD_PIECES_MAX);
            let (to_reader, from_taker) = sync_channel(AHEAD_PIECES_MAX);
            let begun = Builder::new()
                .name("lines".to_owned())
                .spawn_scoped(scope, move || share_out(share, &to_taker, &from_taker));
            // Without a thread nothing ever comes, and the lines are read by the receiver itself.
            drop(begun);
            (from_reader, to_reader)
        });
        let lanes: Vec<_> = lanes.collect();
        for (from_reader, to_reader) in lanes.iter().cycle().take(count) {
            let Ok(lines) = from_reader.recv() else { break };
            for line in &lines {
                *taken = line.end;
                hand_on(line, take)?;
            }
            // If the reader is done, they are dropped here.
            drop(to_reader.try_send(lines));
        }
        ControlFlow::Continue(())
    })
}

/// Hands on a line. One that does not hold is the last.
fn hand_on<B>(line: &Line, take: Take<'_, B>) -> ControlFlow<Option<B>> {
    match take(line) {
        ControlFlow::Break(broke) => ControlFlow::Break(Some(broke)),
        ControlFlow::Continue(()) if line.read.is_ok() => ControlFlow::Continue(()),
        ControlFlow::Continue(()) => ControlFlow::Break(None),
    }
}

/// Reads pieces as long as they are wanted. What was taken comes back and is dropped here: memory
/// that one thread takes and another gives back makes both wait.
fn share_out(
    share: Vec<LinesPiece<'_>>,
    to_taker: &SyncSender<Vec<Line>>,
    from_taker: &Receiver<Vec<Line>>,
) {
    for piece in share {
        let mut lines = from_taker.try_recv().unwrap_or_default();
        lines.clear();
        let on = read(piece, &mut |line| {
            let holds = line.read.is_ok();
            lines.push(line);
            if holds {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        if to_taker.send(lines).is_err() || on.is_break() {
            return;
        }
    }
}

/// Cuts lines into pieces of about one size.
fn cut(mut rest: &mut [u8]) -> Vec<LinesPiece<'_>> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    while !rest.is_empty() {
        let least = AHEAD_PIECE_BYTES.min(rest.len());
        let newline = memchr::memchr(b'\n', &rest[least..]);
        let bytes = newline.map_or(rest.len(), |at| least + at + 1);
        let (piece, after) = rest.split_at_mut(bytes);
        pieces.push((start, piece));
        start += bytes;
        rest = after;
    }
    pieces
}

/// Reads the lines of a piece.
fn read<B>(
    (offset, bytes): LinesPiece<'_>,
    take: &mut dyn FnMut(Line) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut start = 0;
    while start < bytes.len() {
        let newline = memchr::memchr(b'\n', &bytes[start..]).map(|at| start + at);
        let read = newline.map_or(Err(BadLine::Frame), |at| line::read(&mut bytes[start..at]));
        let end = newline.map_or(bytes.len(), |at| at + 1);
        take(Line {
            start: offset + start,
            end: offset + end,
            read: read.map(|(frame, body)| {
                let (seq, at) = (frame.seq, frame.at);
                (frame, Recorded { seq, at, body })
            }),
        })?;
        start = end;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::flow::FlowTitled;
    use a_society_facts::{At, Fact};
    use proptest::prelude::*;

    use super::*;

    /// So many lines, some of them long, so that they make several pieces.
    fn segment(lines: u64) -> Vec<u8> {
        let (mut bytes, mut prev) = (Vec::new(), 0);
        for seq in 1..=lines {
            let title = "word ".repeat(usize::try_from(seq * 37 % 400).unwrap());
            let fact = Fact::FlowTitled(FlowTitled { title });
            prev = line::write(&mut bytes, seq, At::from_ms(0), 0, prev, &fact).unwrap();
        }
        bytes
    }

    /// What is taken by so many threads: where lines begin and end, their numbers, and whether they
    /// hold; at most so many.
    fn taken(threads: usize, before: &[u8], most: usize) -> Vec<(usize, usize, Option<u64>)> {
        let (mut bytes, mut all) = (before.to_vec(), Vec::new());
        let broke = each_with(threads, &mut bytes, &mut |line| {
            let seq = line.read.as_ref().ok().map(|(frame, _)| frame.seq);
            all.push((line.start, line.end, seq));
            if all.len() >= most {
                return ControlFlow::Break("enough");
            }
            ControlFlow::Continue(())
        });
        assert_eq!(broke, (all.len() == most).then_some("enough"));
        assert!(bytes == before, "reading lines changed them");
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn threads_that_read_ahead_hand_on_what_one_reads(
            lines in 1..400_u64,
            threads in 2..6_usize,
            cut in 0..600_usize,
            harm in proptest::option::of(any::<proptest::sample::Index>()),
            most in 1..500_usize,
        ) {
            let mut bytes = segment(lines);
            bytes.truncate(bytes.len().saturating_sub(cut));
            if let Some(harm) = harm
                && !bytes.is_empty()
            {
                let at = harm.index(bytes.len());
                bytes[at] ^= 1;
            }
            prop_assert_eq!(taken(threads, &bytes, most), taken(1, &bytes, most));
        }
    }

    #[test]
    fn a_long_segment_is_cut_into_pieces_that_end_with_a_line() {
        let mut bytes = segment(400);
        let whole = bytes.len();
        let pieces = cut(&mut bytes);
        assert!(
            pieces.len() > 3,
            "{} bytes in {} pieces",
            whole,
            pieces.len()
        );
        assert!(pieces.iter().all(|(_, piece)| piece.ends_with(b"\n")));
        assert_eq!(
            pieces.iter().map(|(_, piece)| piece.len()).sum::<usize>(),
            whole
        );
    }

    #[test]
    fn without_threads_every_line_is_read_all_the_same() {
        let bytes = segment(3);
        let all = taken(1, &bytes, usize::MAX);
        let seqs: Vec<_> = all.into_iter().map(|(_, _, seq)| seq).collect();
        assert_eq!(seqs, [Some(1), Some(2), Some(3)]);
    }
}
