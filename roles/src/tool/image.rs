//! What a model reads about files that are no text, and which images go to a model that gets images.

use std::sync::{Arc, PoisonError};

use a_society_facts::message::{Image, ImageKind};
use imagesize::{ImageType, blob_size, image_type};

use super::files;
use super::limits::{IMAGE_BYTES, IMAGE_SIDE, IMAGES, IMAGES_BYTES};
use super::output::ToolOutput;
use super::refusal::CallRefusal;
use super::toolbox::Toolbox;
use crate::number::grouped;

/// What a header says of an image.
#[derive(Debug, Clone, Copy)]
struct Measured {
    kind: ImageKind,
    width: usize,
    height: usize,
}

impl Toolbox {
    /// A file that is no text: the image that it is, or one line about it.
    pub(super) fn no_text(&self, shown: &str, bytes: Vec<u8>) -> Result<ToolOutput, CallRefusal> {
        let Some(measured) = measured(&bytes) else {
            return Err(files::impossible(about(shown, &bytes, bytes.len() as u64)));
        };
        if let Err(why) = self.may_be_sent(measured, &bytes) {
            let line = about(shown, &bytes, bytes.len() as u64);
            let line = line.trim_end_matches('.');
            return Err(files::impossible(format!("{line}; {why}.")));
        }
        let line = about(shown, &bytes, bytes.len() as u64);
        Ok(ToolOutput {
            image: Some(Box::new(Image::of(measured.kind, Arc::from(bytes)))),
            ..ToolOutput::of(line)
        })
    }

    /// Whether an image goes to the model, and why not. One that goes counts from here on.
    fn may_be_sent(&self, measured: Measured, bytes: &[u8]) -> Result<(), String> {
        let inner = &self.0;
        if !inner.setting.images {
            return Err("this model gets no images".to_owned());
        }
        let size = bytes.len();
        if size > IMAGE_BYTES {
            let most = grouped(IMAGE_BYTES);
            return Err(format!(
                "images of up to {most} bytes are sent: make a smaller copy and read that"
            ));
        }
        if measured.width.max(measured.height) > IMAGE_SIDE {
            let most = grouped(IMAGE_SIDE);
            return Err(format!(
                "images of up to {most} pixels a side are sent: make a smaller copy and read that"
            ));
        }
        if inner.redactor.finds_in(bytes) {
            return Err("it is not sent, because there is a secret in it".to_owned());
        }
        let mut images = inner.images.lock().unwrap_or_else(PoisonError::into_inner);
        let all = images.iter().sum::<u64>() + size as u64;
        if images.len() >= IMAGES || all > IMAGES_BYTES {
            return Err(format!(
                "the session holds {} images already, {} bytes, and no more fit until it is \
                 compacted",
                images.len(),
                grouped(all - size as u64)
            ));
        }
        images.push(size as u64);
        Ok(())
    }
}

/// One line about a file that is no text, by how it begins and its size.
pub(super) fn about(shown: &str, beginning: &[u8], size: u64) -> String {
    let size = grouped(size);
    match measured(beginning) {
        Some(Measured { width, height, .. }) => {
            format!("{shown} is an image, {width} x {height}, {size} bytes.")
        }
        None => format!("{shown} is binary, {size} bytes."),
    }
}

/// An image in one of the formats that models read.
fn measured(bytes: &[u8]) -> Option<Measured> {
    let kind = match image_type(bytes).ok()? {
        ImageType::Png => ImageKind::Png,
        ImageType::Jpeg => ImageKind::Jpeg,
        ImageType::Gif => ImageKind::Gif,
        ImageType::Webp => ImageKind::Webp,
        _ => return None,
    };
    let size = blob_size(bytes).ok()?;
    Some(Measured {
        kind,
        width: size.width,
        height: size.height,
    })
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
        let gif = b"GIF89a\x0a\0\x14\0\x80\0\0".to_vec();
        let jpeg = vec![
            0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 8, 8, 0, 20, 0, 10,
        ];
        let webp = [
            b"RIFF\x1a\0\0\0WEBPVP8X\x0a\0\0\0".as_slice(),
            &[0, 0, 0, 0, 9, 0, 0, 19, 0, 0],
        ]
        .concat();
        for (name, bytes, kind, measures) in [
            ("a.png", &png, ImageKind::Png, "640 x 480"),
            ("a.gif", &gif, ImageKind::Gif, "10 x 20"),
            ("a.jpg", &jpeg, ImageKind::Jpeg, "10 x 20"),
            ("a.webp", &webp, ImageKind::Webp, "10 x 20"),
        ] {
            let line = format!("{name} is an image, {measures}, 1,234 bytes.");
            assert_eq!(about(name, bytes, 1_234), line);
            assert_eq!(measured(bytes).map(|it| it.kind), Some(kind), "{name}");
            // A truncated image is not one, and does not panic.
            for end in 0..bytes.len() {
                let _ = measured(&bytes[..end]);
            }
        }
        assert_eq!(about("a", b"\0\0", 2), "a is binary, 2 bytes.");
    }
}
