//! Cuts the text of a request where one differs from the next: between the elements of its lists, and
//! around long texts. No cut goes through a string, and the pieces put together are the text.

/// A longer string is a piece of its own: the text around it changes from request to request while it
/// does not.
const LONG_BYTES: usize = 200;

/// How deep the lists lie whose elements are pieces: those of messages and of tools.
const LIST_DEPTH: usize = 2;

/// A text as a string of JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as parts, each a JSON string with its quotes, or the text between two of them. An
/// unterminated string does not count.
pub(super) fn strings(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let string = string_length(rest);
        let next = || {
            let quotes = rest
                .char_indices()
                .skip(1)
                .find(|(_, letter)| *letter == '"');
            quotes.map_or(rest.len(), |(at, _)| at)
        };
        let (part, behind) = rest.split_at_checked(string.unwrap_or_else(next))?;
        rest = behind;
        Some((string.is_some(), part))
    })
}

/// A text with other strings in it, where there are others; everything else stays to the byte.
pub(super) fn with_strings(text: &str, other: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for (is_string, part) in strings(text) {
        let said = is_string.then(|| serde_json::from_str::<String>(part));
        let said = said.and_then(Result::ok);
        match said.and_then(|said| other(&said)) {
            Some(other) => out.push_str(&quoted(&other)),
            None => out.push_str(part),
        }
    }
    out
}

/// How long the string is with which a text begins.
fn string_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return Some(at + 2),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

/// The pieces of a text, in their order.
pub(super) fn in_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut cuts = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    for (is_string, part) in strings(text) {
        if is_string {
            if part.len() > LONG_BYTES {
                cuts.extend([at, at + part.len()]);
            }
        } else {
            between(part, at, &mut depth, &mut cuts);
        }
        at += part.len();
    }
    cuts.push(text.len());
    let mut begin = 0;
    cuts.into_iter().filter_map(move |cut| {
        let piece = text.get(begin..cut).filter(|piece| !piece.is_empty())?;
        begin = cut;
        Some(piece)
    })
}

/// Marks the cuts in the text between two strings.
fn between(part: &str, from: usize, depth: &mut usize, cuts: &mut Vec<usize>) {
    for (at, byte) in part.bytes().enumerate() {
        match byte {
            b'{' | b'[' => {
                *depth += 1;
                if *depth == LIST_DEPTH {
                    cuts.push(from + at + 1);
                }
            }
            b'}' | b']' => {
                if *depth == LIST_DEPTH {
                    cuts.push(from + at);
                }
                *depth = depth.saturating_sub(1);
            }
            b',' if *depth == LIST_DEPTH => cuts.push(from + at),
            _ => {}
        }
    }
}
