//! Bytes of a file as text, as far as they are one.

use super::limits::SNIFF_BYTES;

/// A file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileText {
    pub text: String,
    /// What a reader has to know about it.
    pub note: String,
    /// Whether writing the text gives the same bytes again.
    pub is_exact: bool,
}

/// Whether bytes are no text: text has no zero bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let start = bytes.get(..SNIFF_BYTES).unwrap_or(bytes);
    utf16(bytes).is_none() && start.contains(&0)
}

/// The text of a file; nothing if it is not text.
pub(super) fn read(bytes: &[u8]) -> Option<FileText> {
    if let Some((text, order)) = utf16(bytes) {
        return Some(FileText {
            text,
            note: format!("[the file is UTF-16, {order}; it cannot be edited here]\n"),
            is_exact: false,
        });
    }
    if is_binary(bytes) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(FileText {
            text: text.to_owned(),
            note: String::new(),
            is_exact: true,
        }),
        Err(_) => Some(FileText {
            text: String::from_utf8_lossy(bytes).into_owned(),
            note: "[the file is not UTF-8: what cannot be shown is \u{fffd}, and it cannot \
                   be edited here]\n"
                .to_owned(),
            is_exact: false,
        }),
    }
}

/// Text of two-byte units, if a mark at its beginning says that it is.
fn utf16(bytes: &[u8]) -> Option<(String, &'static str)> {
    let (rest, from, order): (_, fn([u8; 2]) -> u16, _) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes, "little-endian"),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes, "big-endian"),
        _ => return None,
    };
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() {
        return None;
    }
    let units: Vec<u16> = pairs.iter().map(|pair| from(*pair)).collect();
    let text = String::from_utf16(&units).ok()?;
    (!text.contains('\0')).then_some((text, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_is_told_from_what_is_not() {
        assert!(read("grün\n".as_bytes()).is_some_and(|read| read.is_exact));
        assert!(read(b"a\xffb").is_some_and(|read| read.text == "a\u{fffd}b" && !read.is_exact));
        assert!(read(b"\xff\xfea\0\n\0").is_some_and(|read| read.text == "a\n"));
        assert_eq!(read(b"a\0b"), None);
        assert_eq!(read(b"\xff\xfea\0\0\0"), None);
    }
}
