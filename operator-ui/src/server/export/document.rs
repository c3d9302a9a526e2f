//! The file itself: one document whose policy allows its own script and style, and nothing else from
//! anywhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha2::{Digest, Sha256};

use super::limits::PACKING;

/// What the page was built to for files, packed.
struct Built {
    script: &'static [u8],
    style: &'static [u8],
}

const BUILT: Option<Built> = include!(concat!(env!("OUT_DIR"), "/file.rs"));

/// The script and the style are a few hundred kilobytes.
const BUILT_BYTES_MAX: usize = 4 << 20;

/// The script and the style, if the page was built in.
pub(super) fn built() -> Option<(String, String)> {
    let built = BUILT?;
    let text = |packed: &[u8]| {
        let bytes = decompress_to_vec_zlib_with_limit(packed, BUILT_BYTES_MAX).ok()?;
        String::from_utf8(bytes).ok()
    };
    Some((text(built.script)?, text(built.style)?))
}

fn hash(text: &str) -> String {
    let digest = STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!("'sha256-{digest}'")
}

/// A text that is no markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            plain => out.push(plain),
        }
    }
    out
}

/// The document around this data. It is packed and in letters that are no markup, so that nothing in
/// it can end the element that holds it.
pub(super) fn document(title: &str, json: &str, script: &str, style: &str) -> String {
    let packed = STANDARD.encode(compress_to_vec_zlib(json.as_bytes(), PACKING));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; style-src-attr 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types svelte-trusted-html",
        hash(script),
        hash(style),
    );
    let title = escaped(title);
    let head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1,viewport-fit=cover\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>"
    );
    [
        &head,
        style,
        "</style>\n</head>\n<body>\n<div id=\"app\"></div>\n\
         <noscript>This file shows a flow with a script of its own. Nothing is loaded from elsewhere.</noscript>\n\
         <script type=\"application/octet-stream\" id=\"flow\">",
        &packed,
        "</script>\n<script type=\"module\">",
        script,
        "</script>\n</body>\n</html>\n",
    ]
    .concat()
}
