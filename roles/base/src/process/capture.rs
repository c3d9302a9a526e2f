//! Output of a program, of which the beginning and the end are kept.

use std::collections::VecDeque;

/// The bytes that a stream brought, within a limit.
#[derive(Debug)]
pub struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    lines: u64,
}

impl Capture {
    /// Keeps so many bytes.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            half: (limit_bytes / 2).max(1),
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            lines: 0,
        }
    }

    /// More of them.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Of a long piece only its end can stay.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// How many bytes arrived.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.total
    }

    /// How many lines arrived.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// Whether something is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// What is kept, with a mark where something is missing. Bytes that are no text become marks
    /// of their own.
    #[must_use]
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let kept = (self.head.len() + tail.len()) as u64;
        let missing = self.total.saturating_sub(kept);
        if missing == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        format!(
            "{}\n[… {missing} bytes are left out here …]\n{}",
            String::from_utf8_lossy(&self.head),
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_within_the_limit_is_kept_whole_also_where_its_halves_meet() {
        let mut capture = Capture::new(6);
        capture.push("aäöb".as_bytes());
        assert_eq!(capture.text(), "aäöb");
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        let mut capture = Capture::new(100);
        capture.push(b"a\xff\x00b");
        assert_eq!(capture.text(), "a\u{fffd}\0b");
    }

    proptest! {
        #[test]
        fn beginning_and_end_are_kept_however_the_bytes_arrive(
            pieces in prop::collection::vec("[a-z]{0,30}", 0..20),
            limit in 2_usize..60,
        ) {
            let mut capture = Capture::new(limit);
            for piece in &pieces {
                capture.push(piece.as_bytes());
            }
            let (all, text) = (pieces.concat(), capture.text());
            let half = (limit / 2).min(all.len());
            prop_assert!(text.starts_with(&all[..half]));
            prop_assert!(text.ends_with(&all[all.len() - half..]));
            prop_assert!(capture.head.len() + capture.tail.len() <= limit);
            if all.len() < limit / 2 * 2 {
                prop_assert_eq!(text, all);
            }
        }
    }
}
