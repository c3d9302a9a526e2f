//! What is told of files that are no text: their size, and of images how large they are.

use crate::number::grouped;

/// One line about a file that is no text.
pub(super) fn about(shown: &str, bytes: &[u8]) -> String {
    let size = grouped(bytes.len());
    match measured(bytes) {
        Some((width, height)) => format!(
            "{shown} is an image, {width} x {height}, {size} bytes; this model gets no images."
        ),
        None => format!("{shown} is binary, {size} bytes."),
    }
}

/// The same of a file that is not read whole.
pub(super) fn about_large(shown: &str, size: i64) -> String {
    format!("{shown} is binary, {} bytes.", grouped(size.unsigned_abs()))
}

/// Width and height of an image in one of the usual formats.
fn measured(bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let little = |at: usize| {
        let two: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(u32::from(u16::from_le_bytes(two)))
    };
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(16)?, big(20)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(6)?, little(8)?));
    }
    jpeg(bytes)
}

/// The frame of a JPEG, behind the parts before it.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let two = |at: usize| {
        let two: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(u32::from(u16::from_be_bytes(two)))
    };
    if !bytes.starts_with(&[0xff, 0xd8]) {
        return None;
    }
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if mark != 0xff {
            return None;
        }
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            return Some((two(at + 7)?, two(at + 5)?));
        }
        at += 2 + two(at + 2)? as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_told_with_its_measures_and_what_is_none_as_binary() {
        let png = [
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
            &[0, 0, 2, 128, 0, 0, 1, 224],
        ]
        .concat();
        assert_eq!(
            about("logo.png", &png),
            "logo.png is an image, 640 x 480, 24 bytes; this model gets no images."
        );
        let gif = b"GIF89a\x0a\0\x14\0";
        assert!(about("a.gif", gif).contains("10 x 20"));
        let jpeg = [
            0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 8, 8, 0, 20, 0, 10,
        ];
        assert!(about("a.jpg", &jpeg).contains("10 x 20"));
        assert_eq!(about("a", b"\0\0"), "a is binary, 2 bytes.");
        for end in 0..jpeg.len() {
            let _ = measured(&jpeg[..end]);
        }
    }
}
