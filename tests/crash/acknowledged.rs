//! From the system calls of the real program: every acknowledgement comes after the sync that
//! covers its record.

use std::collections::BTreeMap;

use super::scenario::{Place, strace_works};

/// What the trace shows, in order.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// A record went into a file.
    Wrote { file: String, seq: u64 },
    /// A file was synced.
    Synced { file: String },
    /// A record was acknowledged.
    Acknowledged { seq: u64 },
}

/// Reads one line of `strace -y`, whose descriptors name their files: `write(5</a/b>, "…", 12) = 12`.
fn see(line: &str) -> Option<Seen> {
    let (call, rest) = line.split_once('(')?;
    let call = call.rsplit(' ').next()?;
    let failed = line.contains(") = -1");
    let file = || Some(rest.split_once('<')?.1.split_once('>')?.0.to_owned());
    match call {
        "write" if rest.starts_with("1<") && rest.contains("\"ack ") => {
            let number = rest.split_once("\"ack ")?.1;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            Some(Seen::Acknowledged {
                seq: digits.parse().ok()?,
            })
        }
        "write" if rest.contains("{\\\"v\\\":1,\\\"seq\\\":") && !failed => {
            let number = rest.split_once("\\\"seq\\\":")?.1;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            Some(Seen::Wrote {
                file: file()?,
                seq: digits.parse().ok()?,
            })
        }
        "fdatasync" | "fsync" if !failed => Some(Seen::Synced { file: file()? }),
        _ => None,
    }
}

/// Says which acknowledgement came too early, if one did.
fn too_early(trace: &[Seen]) -> Option<String> {
    let mut written: BTreeMap<&str, u64> = BTreeMap::new();
    let mut durable = 0;
    for seen in trace {
        match seen {
            Seen::Wrote { file, seq } => {
                written.insert(file, *seq);
            }
            Seen::Synced { file } => {
                durable = durable.max(written.get(file.as_str()).copied().unwrap_or(0));
            }
            Seen::Acknowledged { seq } if *seq > durable => {
                return Some(format!(
                    "record {seq} was acknowledged when {durable} was durable"
                ));
            }
            Seen::Acknowledged { .. } => {}
        }
    }
    None
}

#[test]
fn every_acknowledgement_comes_after_the_sync_that_covers_its_record() {
    if !strace_works("acknowledgements against a system-call trace") {
        return;
    }
    let place = Place::new();
    let trace = place.file("trace");
    let calls = "trace=write,fdatasync,fsync";
    let words = [
        "-f",
        "-y",
        "-s",
        "64",
        "-o",
        trace.to_str().unwrap(),
        "-e",
        calls,
    ];
    let said = place.scenario(&words, false);
    assert!(said.output.status.success(), "{said:?}");
    let text = std::fs::read_to_string(trace).unwrap();
    let seen: Vec<Seen> = text.lines().filter_map(see).collect();
    let acknowledged = seen
        .iter()
        .filter(|s| matches!(s, Seen::Acknowledged { .. }))
        .count();
    assert!(
        acknowledged > 10,
        "only {acknowledged} acknowledgements in the trace"
    );
    assert_eq!(acknowledged, said.acknowledged.len());
    assert_eq!(too_early(&seen), None);
}

#[test]
fn an_acknowledgement_before_its_sync_would_be_seen() {
    let trace = [
        r#"7 write(5</w/journal/00000001.jsonl>, "{\"v\":1,\"seq\":4,\"at\":\"2026-11"..., 200) = 200"#,
        r#"7 write(1<pipe:[1]>, "ack 4\n", 6) = 6"#,
        r"7 fdatasync(5</w/journal/00000001.jsonl>) = 0",
    ];
    let seen: Vec<Seen> = trace.iter().filter_map(|line| see(line)).collect();
    assert_eq!(seen.len(), 3);
    assert!(too_early(&seen).is_some());
    let failed = see("7 fdatasync(5</w/journal/00000001.jsonl>) = -1 EIO (Input/output error)");
    assert_eq!(failed, None, "a sync that failed covers nothing");
}
