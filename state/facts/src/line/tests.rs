//! Lines: every fact reads back as itself, and no bytes at all are read as something they are not.

use proptest::prelude::*;

use super::{BadLine, Body, frame, read, seal, verify, write};
use crate::at::At;
use crate::fact::Fact;
use crate::sample::{every_kind, walk};

fn line_of(fact: &Fact) -> Vec<u8> {
    let mut out = Vec::new();
    let at = At::from_ms(1_779_892_200_123);
    write(&mut out, 17, at, 16, 0x9c1f_03aa, fact).unwrap();
    assert_eq!(out.pop(), Some(b'\n'));
    out
}

#[test]
fn every_kind_of_fact_reads_back_as_itself() {
    for fact in every_kind().iter().chain(&walk()) {
        let mut line = line_of(fact);
        let whole = line.clone();
        let (frame, body) = read(&mut line).unwrap();
        assert_eq!(
            (frame.seq, frame.durable, frame.prev),
            (17, 16, 0x9c1f_03aa)
        );
        let Body::Known(back) = body else {
            panic!("{} became foreign", fact.word());
        };
        assert_eq!(back, *fact);
        assert_eq!(line, whole, "reading left the line changed");
    }
}

#[test]
fn no_member_of_a_fact_bears_the_name_of_a_member_of_the_frame() {
    for fact in every_kind() {
        let mut payload = Vec::new();
        fact.write_payload(&mut payload).unwrap();
        let payload: serde_json::Value = serde_json::from_slice(&payload).unwrap();
        for member in payload.as_object().unwrap().keys() {
            let taken = ["v", "seq", "at", "durable", "fact", "prev", "crc"];
            assert!(
                !taken.contains(&member.as_str()),
                "{} has {member}",
                fact.word()
            );
        }
    }
}

#[test]
fn a_fact_of_a_later_version_is_kept_as_foreign() {
    let text = String::from_utf8(line_of(&every_kind()[1])).unwrap();
    let text = text.replace("writer_opened", "writer_renamed");
    let (body, _) = text.rsplit_once(",\"crc\"").unwrap();
    let mut line = sealed(body.as_bytes());
    let (_, body) = read(&mut line).unwrap();
    assert!(matches!(body, Body::Foreign { word, .. } if word == "writer_renamed"));
}

#[test]
fn every_flipped_bit_is_noticed() {
    for fact in every_kind() {
        let line = line_of(&fact);
        for place in 0..line.len() {
            for bit in 0..8 {
                let mut flipped = line.clone();
                flipped[place] ^= 1 << bit;
                assert!(verify(&flipped).is_err(), "{} at {place}", fact.word());
                assert!(read(&mut flipped).is_err(), "{} at {place}", fact.word());
            }
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    for fact in every_kind() {
        let line = line_of(&fact);
        for end in 0..line.len() {
            assert!(read(&mut line[..end].to_vec()).is_err());
        }
    }
}

/// A line with these bytes in its middle and a checksum that fits, so that what is behind the
/// checksum is tried too.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut line = body.to_vec();
    line.push(b'}');
    seal(&mut line);
    line
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut line = bytes.clone();
        prop_assert!(read(&mut line).is_err() || line == bytes);
        prop_assert!(frame(&bytes).is_err() || !bytes.is_empty());
    }

    #[test]
    fn no_sealed_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut line = sealed(&bytes);
        prop_assert!(!matches!(read(&mut line), Err(BadLine::Checksum)));
    }

    #[test]
    fn no_sealed_damage_to_a_real_line_makes_reading_panic(
        kind in 0..every_kind().len(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut line = line_of(&every_kind()[kind]);
        line.truncate(line.len() - 18);
        let place = place.index(line.len());
        line[place] = byte;
        let mut line = sealed(&line);
        let whole = line.clone();
        drop(read(&mut line));
        prop_assert_eq!(line, whole, "reading left the line changed");
    }
}
