//! Fenced code blocks of a text, by the rules of CommonMark.
//!
//! A fence is three or more backticks or tildes, indented by at most three spaces. Its block ends
//! at a bare fence of the same letter that is at least as long. Everything between belongs to the
//! block, other fences too: that is how quoted tool output stays quoted.

use std::ops::Range;

/// The deepest indentation of a fence; with more, the line is code by itself.
const MAX_INDENT: usize = 3;

/// The shortest run of backticks or tildes that is a fence.
const MIN_RUN: usize = 3;

/// A line of a text, without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextLine<'t> {
    pub text: &'t str,
    /// Where it begins in the whole text.
    pub start: usize,
    /// Counted from 1.
    pub number: usize,
}

impl TextLine<'_> {
    pub(super) fn bytes(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The lines of a text. A carriage return before a line's end is not part of the line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut start = 0;
    text.split('\n').enumerate().map(move |(index, raw)| {
        let line_start = start;
        start += raw.len() + 1;
        let text = raw.strip_suffix('\r').unwrap_or(raw);
        TextLine {
            text,
            start: line_start,
            number: index + 1,
        }
    })
}

/// The line that opens a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening<'t> {
    pub line: TextLine<'t>,
    pub indent: usize,
    letter: u8,
    run: usize,
    /// The first word after the fence; empty when there is none.
    pub tag: &'t str,
    /// The second word after the fence.
    pub second: &'t str,
}

/// A block of a text.
#[derive(Debug, Clone)]
pub(super) struct FencedBlock<'t> {
    pub opening: Opening<'t>,
    /// What is between the fences, in bytes of the whole text.
    pub body: Range<usize>,
    /// False when the text ends before the block does.
    pub is_closed: bool,
    /// The last fence-like line within the block that is tagged as asked for.
    pub inner: Option<TextLine<'t>>,
}

/// All blocks of a text, in order. `wanted` is the tag that is looked for within blocks as well, to
/// be able to say that it was found there and does not count.
pub(super) fn blocks<'t>(text: &'t str, wanted: &str) -> Vec<FencedBlock<'t>> {
    let mut found: Vec<FencedBlock<'t>> = Vec::new();
    let mut open: Option<FencedBlock<'t>> = None;
    for line in lines(text) {
        match &mut open {
            None => open = opening(line).map(|opening| block_after(text, opening)),
            Some(block) if closes(&block.opening, line.text) => {
                block.is_closed = true;
                // The body includes the line end before the closing fence, unless it is empty.
                block.body.end = line.start.max(block.body.start);
                found.extend(open.take());
            }
            Some(block) => {
                if opening(line).is_some_and(|opening| opening.tag == wanted) {
                    block.inner = Some(line);
                }
            }
        }
    }
    found.extend(open);
    found
}

/// A block that runs to the end of the text until its closing fence is found.
fn block_after<'t>(text: &'t str, opening: Opening<'t>) -> FencedBlock<'t> {
    let after = opening.line.bytes().end;
    let start = text[after..]
        .find('\n')
        .map_or(text.len(), |at| after + at + 1);
    FencedBlock {
        opening,
        body: start..text.len(),
        is_closed: false,
        inner: None,
    }
}

/// Splits a line into its indentation, its run of one fence letter, and the rest.
fn fence_parts(line: &str) -> Option<(usize, u8, usize, &str)> {
    let unindented = line.trim_start_matches(' ');
    let indent = line.len() - unindented.len();
    let letter = *unindented
        .as_bytes()
        .first()
        .filter(|letter| matches!(letter, b'`' | b'~'))?;
    let run = unindented
        .bytes()
        .take_while(|byte| *byte == letter)
        .count();
    (indent <= MAX_INDENT && run >= MIN_RUN).then(|| (indent, letter, run, &unindented[run..]))
}

pub(super) fn opening(line: TextLine<'_>) -> Option<Opening<'_>> {
    let (indent, letter, run, rest) = fence_parts(line.text)?;
    // Backticks after backticks are code within a line.
    if letter == b'`' && rest.contains('`') {
        return None;
    }
    let mut words = rest.split_whitespace();
    Some(Opening {
        line,
        indent,
        letter,
        run,
        tag: words.next().unwrap_or_default(),
        second: words.next().unwrap_or_default(),
    })
}

/// The text between `<tag>` and `</tag>`, each at the beginning of a line; the last such place outside
/// the blocks.
pub(super) fn between<'t>(
    text: &'t str,
    tag: &str,
    blocks: &[FencedBlock<'_>],
) -> Option<FencedBlock<'t>> {
    let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let is_quoted = |at: usize| {
        let mut around = blocks.iter();
        around.any(|block| (block.opening.line.start..block.body.end).contains(&at))
    };
    let line = lines(text)
        .filter(|line| line.text.trim_start().starts_with(&begin) && !is_quoted(line.start))
        .last()?;
    let start = line.start + line.text.find(&begin)? + begin.len();
    let length = text.get(start..)?.find(&end)?;
    Some(FencedBlock {
        opening: Opening {
            line,
            indent: 0,
            letter: b'<',
            run: 0,
            tag: "",
            second: "",
        },
        body: start..start + length,
        is_closed: true,
        inner: None,
    })
}

fn closes(opening: &Opening<'_>, line: &str) -> bool {
    fence_parts(line).is_some_and(|(_, letter, run, rest)| {
        letter == opening.letter && run >= opening.run && rest.trim_matches([' ', '\t']).is_empty()
    })
}

fn begins_line(text: &str, block: &FencedBlock<'_>) -> bool {
    let before = text.get(..block.body.start);
    before.is_some_and(|before| before.ends_with('\n'))
}

/// The body of a block without its fence's indentation, and the way back from its positions.
#[derive(Debug)]
pub(super) struct BlockBody {
    pub text: String,
    /// For every line: where it begins in the body and where in the whole text.
    starts: Vec<(usize, usize)>,
    first_line: usize,
    end: usize,
}

impl BlockBody {
    pub(super) fn of(text: &str, block: &FencedBlock<'_>) -> Self {
        let mut body = Self {
            text: String::new(),
            starts: Vec::new(),
            // Between tags, and at the end of the text, the body begins in the line of the opening.
            first_line: block.opening.line.number + usize::from(begins_line(text, block)),
            end: block.body.end,
        };
        for line in lines(&text[block.body.clone()]) {
            let spaces = line.text.len() - line.text.trim_start_matches(' ').len();
            let cut = spaces.min(block.opening.indent);
            body.starts
                .push((body.text.len(), block.body.start + line.start + cut));
            body.text.push_str(&line.text[cut..]);
            body.text.push('\n');
        }
        body
    }

    /// A range of the body as bytes of the whole text, with its line there.
    pub(super) fn place(&self, bytes: &Range<usize>) -> (Range<usize>, usize) {
        let index = self
            .starts
            .partition_point(|(start, _)| *start <= bytes.start)
            .max(1)
            - 1;
        let start = self.outside(bytes.start);
        let end = self.outside(bytes.end).max(start);
        (start..end, self.first_line + index)
    }

    fn outside(&self, byte: usize) -> usize {
        let index = self
            .starts
            .partition_point(|(start, _)| *start <= byte)
            .max(1)
            - 1;
        let outside = self
            .starts
            .get(index)
            .map_or(self.end, |(inside, outside)| outside + (byte - inside));
        outside.min(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks as `tag:body` with `!` for an unclosed one.
    fn found(text: &str) -> Vec<String> {
        let shown = |block: &FencedBlock<'_>| {
            let mark = if block.is_closed { "" } else { "!" };
            format!(
                "{}{mark}:{}",
                block.opening.tag,
                BlockBody::of(text, block).text.trim_end()
            )
        };
        blocks(text, "x").iter().map(shown).collect()
    }

    #[test]
    fn fences_open_and_close_as_commonmark_says() {
        let table: &[(&str, &[&str])] = &[
            ("```x\na\n```", &["x:a"]),
            ("~~~x\na\n~~~", &["x:a"]),
            ("``` x yaml\na\n```", &["x:a"]),
            ("```x\n```", &["x:"]),
            ("```x", &["x!:"]),
            ("````x\n```\n````", &["x:```"]),
            ("```x\na\n`````  ", &["x:a"]),
            ("```x\na\n~~~\n```", &["x:a\n~~~"]),
            ("```x\na\n``` y\n```", &["x:a\n``` y"]),
            ("   ```x\n   a\n b\n```", &["x:a\nb"]),
            ("    ```x\na", &[]),
            ("\t```x\na", &[]),
            ("``x\na", &[]),
            ("```x`\na", &[]),
            ("~~~x`\na\n~~~", &["x`:a"]),
            ("text ```x\na", &[]),
            ("```a\n1\n```\n```b\n2\n```", &["a:1", "b:2"]),
            ("```x\r\na\r\n```\r\n", &["x:a"]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(found(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn positions_in_a_body_lead_back_to_the_text() {
        let text = "üx\r\n  ```x\r\n  ä: 1\r\nb: 2\r\n  ```\r\n";
        let block = &blocks(text, "x")[0];
        let body = BlockBody::of(text, block);
        assert_eq!(body.text, "ä: 1\nb: 2\n\n");
        let (bytes, line) = body.place(&(0..2));
        assert_eq!((&text[bytes], line), ("ä", 3));
        let (bytes, line) = body.place(&(6..7));
        assert_eq!((&text[bytes], line), ("b", 4));
        let (bytes, _) = body.place(&(500..600));
        assert_eq!(bytes, block.body.end..block.body.end);
    }
}
