//! What several commands say in the same words: damage, torn ends, what a recovery did.

use a_society_facts::Fact;
use a_society_state::FlowRef;
use a_society_state::journal::scan::JournalTail;
use a_society_state::journal::verdict::Damage;
use a_society_state::open::OpenReport;
use serde_json::{Value, json};

use crate::operator_error::advice;
use crate::text::size;

/// Damage as JSON.
pub(crate) fn damage_json(damage: &Damage) -> Value {
    json!({
        "word": damage.harm.word(),
        "row": damage.harm.row(),
        "says": damage.to_string(),
        "segment": damage.segment,
        "offset_bytes": damage.offset_bytes,
        "record": damage.expected,
        "good_records": damage.good.map_or(0, |good| good.seq),
    })
}

/// A torn end as JSON.
pub(crate) fn torn_json(tail: &JournalTail) -> Value {
    json!({
        "row": format!("{:?}", tail.row),
        "segment": tail.segment,
        "offset_bytes": tail.offset_bytes,
        "bytes": tail.bytes.len(),
        "record": tail.expected,
    })
}

/// A torn end in words.
pub(crate) fn torn(tail: &JournalTail) -> String {
    format!(
        "its end was torn off in record {} ({} left of it); that record was not acknowledged, and \
         the next open cuts it and keeps it in quarantine/",
        tail.expected,
        size(tail.bytes.len() as u64)
    )
}

/// What should be tried about damage.
pub(crate) fn damage_advice(flow: &FlowRef, damage: &Damage) -> String {
    advice(damage.harm, &flow.to_string())
}

/// What an open for writing did and the operator must know.
pub(crate) fn opened(report: &OpenReport) -> Vec<String> {
    let cuts = report.recovered.iter().map(recovery);
    let blobs = report.blobs_lost.iter();
    let lost = blobs.map(|hash| format!("the blob {hash} is missing or damaged"));
    cuts.chain(lost).collect()
}

fn recovery(fact: &Fact) -> String {
    if let Fact::RecoveryTruncated(cut) = fact {
        let (bytes, kept) = (size(cut.cut_bytes), &cut.quarantine);
        return format!("a torn end of {bytes} was cut; it is kept as quarantine/{kept}");
    }
    if let Fact::RecoveryLossy(lossy) = fact {
        let (seq, kept) = (lossy.lost_seq, &lossy.cut.quarantine);
        return format!(
            "record {seq} could not be read and may be lost; what was there is kept as \
             quarantine/{kept}"
        );
    }
    if let Fact::RepairApplied(repair) = fact {
        let (from, to, kept) = (repair.lost_from, repair.lost_to, &repair.quarantine);
        return format!(
            "records {from} to {to} are no longer in the journal; they are kept as \
             quarantine/{kept}"
        );
    }
    fact.word().to_owned()
}
