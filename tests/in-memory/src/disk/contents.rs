//! The bytes of one file, cheap to copy.
//!
//! A file is a list of shared chunks that are copied when one side writes. A clone of a whole
//! disk, and the durable image that each file keeps, therefore cost a pointer a file until
//! something is written, and then one chunk.

use std::sync::Arc;

/// What a real disk writes as a whole or not at all.
pub(super) const SECTOR_BYTES: usize = 512;
const CHUNK_BYTES: usize = 4096;
const SECTORS_IN_CHUNK: usize = CHUNK_BYTES / SECTOR_BYTES;
const ZERO_SECTOR: [u8; SECTOR_BYTES] = [0; SECTOR_BYTES];

type FileChunk = [u8; CHUNK_BYTES];

/// The bytes of one file. Every byte of the last chunk beyond the size is zero, so that growing
/// shows zeros and sectors can be compared whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    /// `None` is a chunk of zeros that takes no memory.
    chunks: Arc<Vec<Option<Arc<FileChunk>>>>,
    size: usize,
}

impl Contents {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut contents = Self::default();
        contents.append(bytes);
        contents
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether both share everything. Equal bytes that were written apart may count as different.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.size == other.size && Arc::ptr_eq(&self.chunks, &other.chunks)
    }

    pub(super) fn read_at(&self, offset: usize, into: &mut [u8]) -> usize {
        let end = self.size.min(offset.saturating_add(into.len()));
        let mut at = offset;
        while at < end {
            let (chunk, from, to) = part(at, end);
            let target = &mut into[at - offset..at - offset + (to - from)];
            match self.chunks.get(chunk).and_then(Option::as_ref) {
                Some(bytes) => target.copy_from_slice(&bytes[from..to]),
                None => target.fill(0),
            }
            at += to - from;
        }
        end.saturating_sub(offset)
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        self.read_at(0, &mut bytes);
        bytes
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        let offset = self.size;
        self.set_size(offset + bytes.len());
        self.write_at(offset, bytes);
    }

    /// Writes over bytes that exist; what would lie beyond the size is left out.
    pub(super) fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let end = self.size.min(offset.saturating_add(bytes.len()));
        if offset >= end {
            return;
        }
        let chunks = Arc::make_mut(&mut self.chunks);
        let mut at = offset;
        while at < end {
            let (chunk, from, to) = part(at, end);
            if let Some(slot) = chunks.get_mut(chunk) {
                let target = slot.get_or_insert_with(|| Arc::new([0; CHUNK_BYTES]));
                Arc::make_mut(target)[from..to]
                    .copy_from_slice(&bytes[at - offset..at - offset + (to - from)]);
            }
            at += to - from;
        }
    }

    /// Cuts, or grows with zeros.
    pub(super) fn set_size(&mut self, size: usize) {
        if size == self.size {
            return;
        }
        let wanted = size.div_ceil(CHUNK_BYTES);
        let tail = size % CHUNK_BYTES;
        if wanted != self.chunks.len() || (size < self.size && tail != 0) {
            let chunks = Arc::make_mut(&mut self.chunks);
            chunks.resize(wanted, None);
            if size < self.size
                && tail != 0
                && let Some(Some(last)) = chunks.last_mut()
            {
                Arc::make_mut(last)[tail..].fill(0);
            }
        }
        self.size = size;
    }

    /// One sector; bytes beyond the size are zeros.
    pub(super) fn sector(&self, sector: usize) -> &[u8] {
        let from = sector % SECTORS_IN_CHUNK * SECTOR_BYTES;
        self.chunks
            .get(sector / SECTORS_IN_CHUNK)
            .and_then(Option::as_ref)
            .map_or(&ZERO_SECTOR, |chunk| &chunk[from..from + SECTOR_BYTES])
    }

    /// The sectors in which `later` differs from this.
    pub(super) fn changed_sectors(&self, later: &Self) -> Vec<usize> {
        let chunks = self.chunks.len().max(later.chunks.len());
        let mut changed = Vec::new();
        for chunk in 0..chunks {
            if self.shares_chunk(later, chunk) {
                continue;
            }
            let first = chunk * SECTORS_IN_CHUNK;
            changed.extend(
                (first..first + SECTORS_IN_CHUNK).filter(|&s| self.sector(s) != later.sector(s)),
            );
        }
        changed
    }

    fn shares_chunk(&self, other: &Self, chunk: usize) -> bool {
        let ours = self.chunks.get(chunk).and_then(Option::as_ref);
        let theirs = other.chunks.get(chunk).and_then(Option::as_ref);
        match (ours, theirs) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// The chunk that holds the byte `at`, and which of its bytes lie from there to `end`.
fn part(at: usize, end: usize) -> (usize, usize, usize) {
    let from = at % CHUNK_BYTES;
    let to = CHUNK_BYTES.min(from + (end - at));
    (at / CHUNK_BYTES, from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Append(Vec<u8>),
        Size(usize),
        Write(usize, Vec<u8>),
        Clone,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let bytes = prop_oneof![
            prop::collection::vec(1_u8.., 0..20),
            prop::collection::vec(1_u8.., 4000..9000)
        ];
        let size = prop_oneof![0_usize..20_000, Just(4096), Just(8192), Just(512)];
        prop::collection::vec(
            prop_oneof![
                bytes.clone().prop_map(Step::Append),
                size.clone().prop_map(Step::Size),
                (size, bytes).prop_map(|(at, bytes)| Step::Write(at, bytes)),
                Just(Step::Clone),
            ],
            0..12,
        )
    }

    proptest! {
        #[test]
        fn contents_behave_as_a_vector_and_clones_stay_as_they_were(steps in steps()) {
            let mut contents = Contents::default();
            let mut model: Vec<u8> = Vec::new();
            let mut kept = Vec::new();
            for step in steps {
                match step {
                    Step::Append(bytes) => {
                        contents.append(&bytes);
                        model.extend(&bytes);
                    }
                    Step::Size(size) => {
                        contents.set_size(size);
                        model.resize(size, 0);
                    }
                    Step::Write(at, bytes) => {
                        contents.write_at(at, &bytes);
                        let end = model.len().min(at + bytes.len());
                        if at < end {
                            model[at..end].copy_from_slice(&bytes[..end - at]);
                        }
                    }
                    Step::Clone => kept.push((contents.clone(), model.clone())),
                }
                prop_assert_eq!(contents.to_vec(), model.clone());
            }
            for (contents, model) in kept {
                prop_assert_eq!(contents.to_vec(), model);
            }
        }

        #[test]
        fn the_changed_sectors_are_exactly_those_that_differ(
            first in prop::collection::vec(0_u8..2, 0..6000),
            cut in 0_usize..7000,
            more in prop::collection::vec(0_u8..2, 0..6000),
        ) {
            let first = Contents::of(&first);
            let mut second = first.clone();
            second.set_size(cut);
            second.append(&more);
            let sectors = first.size().max(second.size()).div_ceil(SECTOR_BYTES);
            let expected: Vec<_> = (0..sectors)
                .filter(|&s| first.sector(s) != second.sector(s))
                .collect();
            prop_assert_eq!(first.changed_sectors(&second), expected);
        }
    }
}
