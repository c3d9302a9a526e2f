//! Embeds the built page: every file of `web/dist`, compressed once, in a sorted table. Without that
//! folder the table is empty, and the server says so.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// How hard files are compressed, in every build: what a test weighs is what is released.
const QUALITY: u32 = 11;
/// The largest window there is.
const WINDOW: u32 = 22;
const BUFFER: usize = 4096;
/// How hard what shared files are made of is packed.
const PACKED: u8 = 9;

/// A file of the page.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PageFile {
    /// Its path below the page's folder.
    name: String,
    path: PathBuf,
}

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = here.join("web/dist");
    println!("cargo::rerun-if-changed=web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    if dist.is_dir() {
        walk(&dist, &dist, &mut files)?;
    }
    files.sort();
    // What shared files are made of is no file of the server.
    let (for_files, files): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|file: &PageFile| file.name.starts_with("file/"));
    fs::write(out.join("file.rs"), built(&out, &for_files)?)?;
    let mut table = String::from("&[\n");
    for (number, PageFile { name, path }) in files.iter().enumerate() {
        let bytes = fs::read(path)?;
        let packed = out.join(format!("{number}.br"));
        let mut writer = brotli::CompressorWriter::new(Vec::new(), BUFFER, QUALITY, WINDOW);
        writer.write_all(&bytes)?;
        let compressed = writer.into_inner();
        fs::write(&packed, &compressed)?;
        let tag = etag(&bytes);
        writeln!(
            table,
            "    Asset {{ path: {name:?}, kind: {:?}, etag: \"\\\"{tag:016x}\\\"\", packed: include_bytes!({:?}), bytes: include_bytes!({:?}) }},",
            kind(name),
            packed,
            path
        )
        .map_err(io::Error::other)?;
    }
    table.push_str("]\n");
    fs::write(out.join("assets.rs"), table)
}

/// The script and the style of shared files, packed; nothing unless both are there.
fn built(out: &Path, files: &[PageFile]) -> io::Result<String> {
    let mut members = String::new();
    for (member, name) in [("script", "file/page.js"), ("style", "file/page.css")] {
        let Some(PageFile { path, .. }) = files.iter().find(|file| file.name == name) else {
            return Ok("None".to_owned());
        };
        let packed = out.join(format!("{member}.zlib"));
        let bytes = fs::read(path)?;
        fs::write(
            &packed,
            miniz_oxide::deflate::compress_to_vec_zlib(&bytes, PACKED),
        )?;
        write!(members, "{member}: include_bytes!({packed:?}), ").map_err(io::Error::other)?;
    }
    Ok(format!("Some(Built {{ {members}}})"))
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<PageFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push(PageFile {
                name: name.to_string_lossy().replace('\\', "/"),
                path: path.clone(),
            });
        }
    }
    Ok(())
}

/// A name for these bytes; FNV is enough to tell one build from another.
fn etag(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "webmanifest" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
