//! What the page and the terminal both say: each text once. A test writes `operator-ui/web/src/said.ts` from this table, so
//! that the page has the same. What differs from time to time has the place `{}`.

use crate::at::At;

macro_rules! said {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)+) => {
        $($(#[$doc])* pub const $name: &str = $text;)+

        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$((stringify!($name), $text)),+];
    };
}

said! {
    /// A role is at work.
    WORKING = "working";
    /// It mends what came back.
    CORRECTING = "correcting";
    /// A request is sent again at once.
    RETRYING = "retrying";
    /// A request is sent again after this long.
    RETRYING_IN = "retrying in {}";
    /// A provider's limit is awaited.
    LIMITED = "limited";
    /// A provider's limit is over.
    LIMIT_RESETS = "limit resets";
    /// A provider's limit is over after this long.
    LIMIT_RESETS_IN = "limit resets in {}";
    /// A session is being compacted.
    COMPACTING = "compacting";
    /// The operator is wanted.
    WAITING_FOR_YOU = "waiting for you";
    /// The operator plays this role.
    YOUR_TURN = "your turn";
    /// What other nodes send is awaited.
    WAITING_FOR_HANDOFF = "waiting for a handoff";
    /// These nodes are awaited.
    WAITING_FOR = "waiting for {}";
    /// The operator paused it.
    PAUSED = "paused";
    /// No process drives the flow: where there is little room.
    STOPPED = "stopped";
    /// No process drives the flow.
    NOBODY_DRIVES_IT = "stopped: nobody drives it";
    /// The journal cannot be read to its end.
    DAMAGED = "damaged";
    /// It will run as soon as it may.
    READY = "ready";
    /// Nothing arrived at a node.
    NOT_REACHED = "not reached";
    /// A node handed over all it owes.
    DONE = "done";
    /// A flow is over.
    COMPLETED = "completed";
    /// A flow was called off.
    CANCELLED = "cancelled";
}

/// A text with its places filled.
#[must_use]
pub fn fill(text: &str, with: &str) -> String {
    text.replace("{}", with)
}

/// The time until a moment, in the unit in which one waits for it; nothing once it is over.
#[must_use]
pub fn left(at: At, now: At) -> Option<String> {
    let ms = (at.ms() - now.ms()).max(0).unsigned_abs();
    (ms > 0).then(|| long(ms))
}

/// A duration, rounded up to seconds and from an hour on to minutes.
fn long(ms: u64) -> String {
    let seconds = ms.div_ceil(1_000);
    let minutes = seconds.div_ceil(60);
    match (seconds, minutes, minutes / 60, minutes % 60) {
        (0..=90, ..) => format!("{seconds} s"),
        (_, 0..60, ..) => format!("{minutes} min"),
        (.., hours, 0) => format!("{hours} h"),
        (.., hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// What happens by itself at a moment: the text with the time that is left, or the one without a time once it is over.
#[must_use]
pub fn at_its_time((soon, over): (&str, &str), at: At, now: At) -> String {
    left(at, now).map_or_else(|| over.to_owned(), |left| fill(soon, &left))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "// Generated from state/facts/src/words.rs by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts \
--lib the_page_says`. Do not edit.\n\n";

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is generated is compared with a file, and written on demand"
    )]
    fn the_page_says_what_the_terminal_says() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../operator-ui/web/src/said.ts"
        );
        let lines = ALL.iter();
        let lines = lines.map(|(name, text)| format!("export const {name} = {text:?};\n"));
        let now = format!("{HEAD}{}", lines.collect::<String>());
        if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let there = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            there == now,
            "web/src/said.ts is not what the table says: run with A_SOCIETY_UPDATE=1"
        );
    }

    #[test]
    fn no_text_is_there_twice() {
        let mut texts: Vec<&str> = ALL.iter().map(|(_, text)| *text).collect();
        texts.sort_unstable();
        let all = texts.len();
        texts.dedup();
        assert_eq!(texts.len(), all);
    }

    #[test]
    fn the_time_that_is_left_has_the_unit_in_which_one_waits() {
        for (ms, words) in [
            (0, None),
            (1, Some("1 s")),
            (18_000, Some("18 s")),
            (90_000, Some("90 s")),
            (90_001, Some("2 min")),
            (3_540_000, Some("59 min")),
            (3_540_001, Some("1 h")),
            (3_600_000, Some("1 h")),
            (5_400_000, Some("1 h 30 min")),
            (7_200_000, Some("2 h")),
        ] {
            let left = left(At::from_ms(ms), At::from_ms(0));
            assert_eq!(left.as_deref(), words, "{ms}");
        }
    }
}
