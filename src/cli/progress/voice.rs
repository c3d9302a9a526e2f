//! The words of roles as they stream: one role is shown at a time, and each text of the others is one line.
//!
//! What is finished is printed once and never touched again. A row is finished when another one follows
//! it, because only the last row of a text that still streams can change.

use std::collections::{BTreeMap, VecDeque};

use a_society_facts::fact::turn::DraftKind;
use a_society_facts::id::{NodeId, RoleInstance, Seq};
use a_society_facts::words::calls::CUT_OFF;
use a_society_orchestrator::driver::unrecorded_text::Ahead;

use super::event::{Event, Speech, What};
use super::lines;
use crate::paint::Paint;
use crate::text::{plain, printed, wrapped};

/// What one role is saying.
#[derive(Debug, Default)]
struct Voice {
    /// Who speaks, until something is printed of it.
    head: Option<String>,
    /// How much of the text arrived in records.
    recorded: usize,
    /// The record of the last piece.
    last: Seq,
    /// How much of it was taken here, which may be ahead of the records.
    taken: usize,
    /// What is not printed yet: the last row.
    row: String,
    /// Whether a part of its line is printed.
    in_line: bool,
    /// Whether the row is one of code, which is not broken.
    in_code: bool,
    /// So many empty lines come before the next one that is not.
    blanks: usize,
    /// What looks like the block that ends a turn, which has a line of its own.
    held: Option<HeldBlock>,
}

/// Lines that are not printed, unless more follows: then the role only quotes such a block.
#[derive(Debug, Default)]
struct HeldBlock {
    lines: Vec<String>,
    is_closed: bool,
}

/// How the block begins that ends a turn, and how it ends.
const BLOCK_BEGINS: &str = "```handoff";
const BLOCK_ENDS: &str = "```";

/// Everybody who is saying something.
#[derive(Debug, Default)]
pub(super) struct Voices {
    open: BTreeMap<RoleInstance, Voice>,
    /// The role that is shown.
    heard: Option<RoleInstance>,
    /// The role to show, if the operator chose one.
    chosen: Option<RoleInstance>,
    /// Whether the texts of the others are printed whole when they are complete.
    all: bool,
    /// Whether there is only one who speaks, whose name is known.
    is_chat: bool,
    /// What was printed as one line and was not read yet, oldest first: who, and all of it.
    unread: VecDeque<(String, String)>,
}

/// So many texts are held to be read; older ones are in the feed.
const UNREAD_MAX: usize = 20;

impl Voices {
    /// In a chat, nothing says who speaks.
    pub(super) fn of_chat(self, is_chat: bool) -> Self {
        Self { is_chat, ..self }
    }

    /// The role whose words are shown: the chosen one, else the one that speaks now.
    pub(super) const fn followed(&self) -> Option<&RoleInstance> {
        match &self.chosen {
            Some(role) => Some(role),
            None => self.heard.as_ref(),
        }
    }

    /// Shows the words of this role from now on, or of the next one that speaks.
    pub(super) fn follow(&mut self, role: Option<RoleInstance>) {
        self.chosen = role;
    }

    /// Prints what the others say whole, or as one line again. Says which.
    pub(super) fn toggle_all(&mut self) -> bool {
        self.all = !self.all;
        self.all
    }

    fn unread(&mut self, event: &Event, role: &RoleInstance, text: &str) {
        if self.unread.len() == UNREAD_MAX {
            self.unread.pop_front();
        }
        let who = event.node.as_ref().map_or(role.as_str(), NodeId::as_str);
        self.unread.push_back((who.to_owned(), text.to_owned()));
    }

    /// What was printed as one line since this was asked last.
    pub(super) fn take_unread(&mut self) -> Vec<(String, String)> {
        self.unread.drain(..).collect()
    }

    /// Whether anybody is saying something.
    pub(super) fn is_open(&self) -> bool {
        self.heard.is_some()
    }

    /// The row that is not finished, below who speaks if nothing of it was printed.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let heard = self.heard.as_ref();
        let voice = heard.and_then(|role| self.open.get(role));
        let Some(voice) = voice.filter(|voice| voice.shows_its_row()) else {
            return Vec::new();
        };
        let head = voice.head.iter().cloned();
        head.chain([printed(&voice.row)]).collect()
    }

    /// The lines that an event completes.
    pub(super) fn hear(&mut self, event: &Event, paint: &Paint, columns: usize) -> Vec<String> {
        let Some(role) = &event.role else {
            return Vec::new();
        };
        match &event.what {
            What::Says {
                text,
                offset,
                kind: DraftKind::Text,
                ..
            } => {
                self.begin(event, role, paint);
                let is_heard = self.heard.as_ref() == Some(role);
                let voice = self.open.entry(role.clone()).or_default();
                voice.recorded = offset + text.len();
                voice.last = event.seq;
                if is_heard {
                    let known = voice.taken.saturating_sub(*offset);
                    let new = text.get(known..).unwrap_or_default();
                    return voice.take(new, columns);
                }
                Vec::new()
            }
            What::Said {
                end: Speech::Report,
                ..
            } => Vec::new(),
            What::Said { text, end, .. } => {
                self.begin(event, role, paint);
                let mut voice = self.open.remove(role).unwrap_or_default();
                if self.heard.as_ref() != Some(role) {
                    if self.all && *end == Speech::Whole {
                        return Voice::of(head(event, role, paint)).end(text, columns);
                    }
                    self.unread(event, role, text);
                    return lines::rows(event, paint, columns);
                }
                self.heard = None;
                let mut lines = voice.end(text, columns);
                match end {
                    Speech::Whole | Speech::Report => {}
                    Speech::CutOff => lines.push(paint.dim(&format!("({CUT_OFF})"))),
                    Speech::Discarded { why } => {
                        let says = format!("(discarded: {})", plain(why));
                        lines.push(paint.dim(&says));
                    }
                }
                lines
            }
            What::Says { .. }
            | What::Works { .. }
            | What::Stands(_)
            | What::Replied { .. }
            | What::Waits { .. }
            | What::Done { .. }
            | What::Calls { .. }
            | What::Called { .. }
            | What::Fails { .. }
            | What::Spends { .. }
            | What::Compacted { .. }
            | What::Asks(_)
            | What::Stages(_)
            | What::Decided { .. }
            | What::Answered { .. }
            | What::Note { .. } => Vec::new(),
        }
    }

    /// What is finished by words that are in no record yet.
    pub(super) fn hear_ahead(&mut self, ahead: &[Ahead], columns: usize) -> Vec<String> {
        let Some(role) = &self.heard else {
            return Vec::new();
        };
        let Some(voice) = self.open.get_mut(role) else {
            return Vec::new();
        };
        let mine = ahead
            .iter()
            .find(|one| one.role == *role && one.after == voice.last);
        let Some(mine) = mine else {
            return Vec::new();
        };
        let known = voice.taken.saturating_sub(voice.recorded);
        let new = mine.text.get(known..).unwrap_or_default().to_owned();
        voice.take(&new, columns)
    }

    /// A role begins to speak: it is shown if no other is.
    fn begin(&mut self, event: &Event, role: &RoleInstance, paint: &Paint) {
        let other = self.chosen.as_ref().is_some_and(|chosen| chosen != role);
        if self.heard.is_some() || other || self.open.contains_key(role) {
            return;
        }
        self.heard = Some(role.clone());
        let head = if self.is_chat {
            String::new()
        } else {
            head(event, role, paint)
        };
        self.open.insert(role.clone(), Voice::of(head));
    }
}

/// Who speaks.
fn head(event: &Event, role: &RoleInstance, paint: &Paint) -> String {
    let node = event.node.as_ref();
    let name = node.map_or(role.as_str(), |node| node.as_str());
    paint.bold(&format!("{}:", plain(name)))
}

impl Voice {
    fn of(head: String) -> Self {
        Self {
            head: Some(head),
            ..Self::default()
        }
    }

    /// Whether the row that is not finished can be shown: it cannot become the block that ends a turn.
    fn shows_its_row(&self) -> bool {
        let row = self.row.trim_end();
        let may_hold = !self.in_line && !self.in_code && BLOCK_BEGINS.starts_with(row);
        self.held.is_none() && !row.is_empty() && !may_hold
    }

    /// Takes more of the text, and gives the rows that it finishes.
    fn take(&mut self, more: &str, columns: usize) -> Vec<String> {
        self.taken += more.len();
        self.row.push_str(more);
        let mut rows = Vec::new();
        while let Some((line, rest)) = self.row.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            rows.extend(self.line(line, columns));
            (self.row, self.in_line) = (rest, false);
        }
        if !self.in_code && self.shows_its_row() {
            let mut all = wrapped(&self.row, columns);
            if let Some(last) = all.pop()
                && !all.is_empty()
            {
                rows.extend(self.after_blanks(all.iter().map(|row| printed(row))));
                (self.row, self.in_line) = (last, true);
            }
        }
        self.under_its_head(rows)
    }

    /// A line is whole.
    fn line(&mut self, line: String, columns: usize) -> Vec<String> {
        let mut rows = Vec::new();
        if let Some(mut held) = self.held.take() {
            if !held.is_closed || line.trim().is_empty() {
                held.is_closed |= line.trim_end() == BLOCK_ENDS;
                held.lines.push(line);
                self.held = Some(held);
                return rows;
            }
            // It ends nothing, because more follows.
            for line in held.lines {
                rows.extend(self.plain_line(&line, columns));
            }
        }
        if !self.in_line && !self.in_code && line.trim_end() == BLOCK_BEGINS {
            let lines = vec![line];
            let is_closed = false;
            self.held = Some(HeldBlock { lines, is_closed });
        } else {
            rows.extend(self.plain_line(&line, columns));
        }
        rows
    }

    fn plain_line(&mut self, line: &str, columns: usize) -> Vec<String> {
        if line.trim().is_empty() && !self.in_code && !self.in_line {
            self.blanks += 1;
            return Vec::new();
        }
        let is_fence = !self.in_line && line.trim_start().starts_with("```");
        let rows = finished(line, self.in_code || is_fence, columns);
        self.in_code ^= is_fence;
        self.after_blanks(rows.into_iter())
    }

    /// Rows after the empty lines before them.
    fn after_blanks(&mut self, rows: impl Iterator<Item = String>) -> Vec<String> {
        let blanks = std::mem::take(&mut self.blanks);
        std::iter::repeat_n(String::new(), blanks)
            .chain(rows)
            .collect()
    }

    /// The first rows come after who speaks.
    fn under_its_head(&mut self, rows: Vec<String>) -> Vec<String> {
        let head = if rows.is_empty() {
            None
        } else {
            self.head.take()
        };
        head.into_iter().chain(rows).collect()
    }

    /// All of the text is there.
    fn end(&mut self, text: &str, columns: usize) -> Vec<String> {
        let rest = text.get(self.taken..).unwrap_or_default().to_owned();
        let mut rows = self.take(&rest, columns);
        if !self.row.trim().is_empty() {
            let row = std::mem::take(&mut self.row);
            let last = self.line(row, columns);
            rows.extend(self.under_its_head(last));
        }
        rows
    }
}

/// The rows of a line that is whole. Code is never broken, so that it copies whole.
fn finished(line: &str, is_code: bool, columns: usize) -> Vec<String> {
    let rows = if is_code {
        vec![line.to_owned()]
    } else {
        wrapped(line, columns)
    };
    rows.iter().map(|row| printed(row)).collect()
}

#[cfg(test)]
mod tests {
    use a_society_facts::At;
    use a_society_facts::id::TurnId;
    use proptest::prelude::*;

    use super::super::event::AnswerName;
    use super::*;
    use crate::text::width;

    const COLUMNS: usize = 24;
    const ANSWER: AnswerName = AnswerName(TurnId(1), 1);

    fn event(role: &str, seq: Seq, what: What) -> Event {
        Event {
            seq,
            at: At::from_ms(0),
            node: None,
            role: Some(role.parse().unwrap()),
            turn: None,
            what,
        }
    }

    fn says(role: &str, seq: Seq, offset: usize, text: &str) -> Event {
        let text = text.to_owned();
        let kind = DraftKind::Text;
        let says = What::Says {
            answer: ANSWER,
            offset,
            text,
            kind,
        };
        event(role, seq, says)
    }

    fn said(role: &str, text: &str, end: Speech) -> Event {
        let text = text.to_owned();
        let said = What::Said {
            answer: ANSWER,
            streamed: 0,
            text,
            end,
        };
        event(role, 99, said)
    }

    fn heard(voices: &mut Voices, event: &Event) -> Vec<String> {
        voices.hear(event, &Paint::new(false), COLUMNS)
    }

    #[test]
    fn one_role_is_heard_and_what_another_said_is_one_line() {
        let mut voices = Voices::default();
        assert_eq!(
            heard(&mut voices, &says("ann", 1, 0, "One\ntw")),
            ["ann:", "One"]
        );
        assert_eq!(voices.unfinished(), ["tw"]);
        assert!(heard(&mut voices, &says("bob", 2, 0, "Me too.\nAnd more.")).is_empty());
        let line = heard(
            &mut voices,
            &said("bob", "Me too.\nAnd more.", Speech::Whole),
        );
        let rows = [
            "00:00:00  bob  says",
            "2 lines (v reads): Me",
            "too. And more.",
        ];
        assert_eq!(line, rows);
        let unread = [("bob".to_owned(), "Me too.\nAnd more.".to_owned())];
        assert_eq!(voices.take_unread(), unread);
        assert_eq!(
            heard(&mut voices, &said("ann", "One\ntwo", Speech::Whole)),
            ["two"]
        );
        assert!(voices.unfinished().is_empty());
        // The next one is shown, though its answer came at once.
        let lines = heard(&mut voices, &said("bob", "Now me.", Speech::Whole));
        assert_eq!(lines, ["bob:", "Now me."]);
    }

    #[test]
    fn where_all_are_heard_each_is_printed_whole_and_none_within_another() {
        let mut voices = Voices::default();
        assert!(voices.toggle_all());
        heard(&mut voices, &says("ann", 1, 0, "One. "));
        assert_eq!(
            heard(&mut voices, &says("bob", 2, 0, "Red.\nBlue.")),
            [""; 0]
        );
        assert_eq!(
            heard(&mut voices, &said("bob", "Red.\nBlue.", Speech::Whole)),
            ["bob:", "Red.", "Blue."]
        );
        assert_eq!(
            heard(&mut voices, &said("ann", "One. Two.", Speech::Whole)),
            ["ann:", "One. Two."]
        );
    }

    #[test]
    fn the_one_that_was_chosen_is_heard_from_its_next_words_on() {
        let mut voices = Voices::default();
        voices.follow(Some("bob".parse().unwrap()));
        assert!(heard(&mut voices, &says("ann", 1, 0, "One\n")).is_empty());
        assert_eq!(
            heard(&mut voices, &says("bob", 2, 0, "Me\n")),
            ["bob:", "Me"]
        );
        let line = heard(&mut voices, &said("ann", "One\n", Speech::Whole));
        assert_eq!(line, ["00:00:00  ann  says: One"]);
        voices.follow(None);
        heard(&mut voices, &said("bob", "Me\n", Speech::Whole));
        assert_eq!(
            heard(&mut voices, &says("ann", 3, 0, "Two\n")),
            ["ann:", "Two"]
        );
    }

    #[test]
    fn the_block_that_ends_a_turn_is_not_shown_and_one_that_is_quoted_is() {
        let block = "```handoff\ntarget_node_id: review\n```\n";
        let mut voices = Voices::default();
        let text = format!("Done.\n\n{block}");
        let mut seen = Vec::new();
        for (at, letter) in text.char_indices() {
            let seq = at as Seq + 1;
            let rows = heard(&mut voices, &says("ann", seq, at, &letter.to_string()));
            seen.extend(rows);
            let row = voices.unfinished();
            assert!(
                !row.iter().any(|row| row.contains('`') || row.contains('_')),
                "{row:?}"
            );
        }
        seen.extend(heard(&mut voices, &said("ann", &text, Speech::Whole)));
        assert_eq!(seen, ["ann:", "Done."]);
        // One that says nothing else says nothing.
        assert!(heard(&mut voices, &said("ann", block, Speech::Whole)).is_empty());
        let quoted = format!("So:\n{block}\nis how it ends.");
        let rows = [
            "ann:",
            "So:",
            "```handoff",
            "target_node_id: review",
            "```",
            "",
            "is how it ends.",
        ];
        assert_eq!(
            heard(&mut voices, &said("ann", &quoted, Speech::Whole)),
            rows
        );
    }

    #[test]
    fn what_does_not_count_says_so() {
        let mut voices = Voices::default();
        heard(&mut voices, &says("ann", 1, 0, "I would"));
        let why = "stream_cut".to_owned();
        let lines = heard(
            &mut voices,
            &said("ann", "I would", Speech::Discarded { why }),
        );
        assert_eq!(lines, ["ann:", "I would", "(discarded: stream_cut)"]);
    }

    /// A text as it comes: pieces that are recorded, each after so much of it was streamed before.
    fn pieces() -> impl Strategy<Value = Vec<(String, usize)>> {
        let piece = "[a-zäж漢 \n`-]{0,12}|```\n|```handoff\n";
        prop::collection::vec((piece, 0_usize..20), 1..12)
    }

    proptest! {
        /// However a text comes, the rows are those of the whole text, and none is too wide but code.
        #[test]
        fn rows_are_the_same_whatever_the_pieces_and_however_much_was_heard_before_they_were_recorded(
            pieces in pieces()
        ) {
            let whole: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
            prop_assume!(!whole.trim().is_empty());
            let at_once = heard(&mut Voices::default(), &said("ann", &whole, Speech::Whole));
            let mut voices = Voices::default();
            let mut rows = Vec::new();
            let (mut offset, mut seq) = (0, 1);
            for (text, ahead) in &pieces {
                rows.extend(heard(&mut voices, &says("ann", seq, offset, text)));
                offset += text.len();
                let next = &whole[offset..];
                let text = next[..next.floor_char_boundary(*ahead)].to_owned();
                let ahead = Ahead { role: "ann".parse().unwrap(), after: seq, text };
                rows.extend(voices.hear_ahead(&[ahead], COLUMNS));
                seq += 1;
            }
            rows.extend(heard(&mut voices, &said("ann", &whole, Speech::Whole)));
            prop_assert_eq!(&rows, &at_once);
            let mut in_code = false;
            for row in &rows {
                let is_fence = row.trim_start().starts_with("```");
                prop_assert!(in_code || is_fence || width(row) <= COLUMNS, "{rows:?}");
                in_code ^= is_fence;
            }
        }
    }
}
