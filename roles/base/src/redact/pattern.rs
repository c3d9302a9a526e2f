//! Texts that look like keys.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::packed::{Config, Searcher};
use memchr::memmem::Finder;

/// The kinds that are known.
pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::new);

/// Finds keys by their form.
pub(super) struct Patterns {
    /// Finds where any kind could begin, in one pass; absent on machines without the instructions for it.
    any: Option<Searcher>,
    keys: Vec<(Finder<'static>, KeyPattern)>,
    web_token: Finder<'static>,
    pem: Finder<'static>,
    address: Finder<'static>,
    bearer: Finder<'static>,
    assigned: Vec<Finder<'static>>,
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patterns")
    }
}

/// A key that begins with letters of its own.
#[derive(Debug, Clone, Copy)]
struct KeyPattern {
    /// How many letters follow at the least.
    shortest: usize,
    /// Whether there must be a digit among them, because words begin like that too.
    needs_digit: bool,
}

const KEYS: [(&str, usize, bool); 27] = [
    ("sk-ant-", 12, false),
    ("sk-proj-", 12, false),
    ("sk-", 20, true),
    ("sk_live_", 16, false),
    ("sk_test_", 16, false),
    ("rk_live_", 16, false),
    ("AKIA", 16, false),
    ("ASIA", 16, false),
    ("ghp_", 20, false),
    ("gho_", 20, false),
    ("ghu_", 20, false),
    ("ghs_", 20, false),
    ("ghr_", 20, false),
    ("github_pat_", 20, false),
    ("glpat-", 16, false),
    ("xoxb-", 16, false),
    ("xoxp-", 16, false),
    ("xoxa-", 16, false),
    ("xoxs-", 16, false),
    ("xapp-", 16, false),
    ("AIza", 30, false),
    ("npm_", 30, true),
    ("pypi-", 40, true),
    ("hf_", 30, false),
    ("tvly-", 16, true),
    ("dop_v1_", 32, false),
    ("SG.", 40, true),
];

/// How a token of the web begins: `{"` in base64.
const WEB_TOKEN: &str = "eyJ";

/// How a key in armour begins.
const PEM: &str = "-----BEGIN ";

/// What comes before a name and a password in an address.
const ADDRESS: &str = "://";

/// What comes before a key in a header.
const BEARER: &str = "earer ";

/// Ends of names of variables that hold secrets.
const ASSIGNED: [&str; 8] = [
    "API_KEY=",
    "ACCESS_KEY=",
    "SECRET=",
    "SECRET_KEY=",
    "TOKEN=",
    "PASSWORD=",
    "PASSWD=",
    "PRIVATE_KEY=",
];

/// The longest name and password in an address.
const LONGEST_LOGIN: usize = 1024;

impl Patterns {
    fn new() -> Self {
        let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
        let keys = KEYS.iter().map(|(prefix, shortest, needs_digit)| {
            let key = KeyPattern {
                shortest: *shortest,
                needs_digit: *needs_digit,
            };
            (finder(prefix), key)
        });
        let marks = KEYS.iter().map(|(prefix, ..)| *prefix);
        let marks = marks
            .chain([WEB_TOKEN, PEM, ADDRESS, BEARER])
            .chain(ASSIGNED);
        Self {
            any: Config::new().builder().extend(marks).build(),
            keys: keys.collect(),
            web_token: finder(WEB_TOKEN),
            pem: finder(PEM),
            address: finder(ADDRESS),
            bearer: finder(BEARER),
            assigned: ASSIGNED.iter().map(|it| finder(it)).collect(),
        }
    }

    pub(super) fn find(&self, bytes: &[u8], found: &mut Vec<Range<usize>>) {
        // Most texts hold nothing that even begins like a key.
        let may_hold = |any: &Searcher| any.find(bytes).is_some();
        if !self.any.as_ref().is_none_or(may_hold) {
            return;
        }
        for (finder, key) in &self.keys {
            for at in finder.find_iter(bytes) {
                found.extend(key_at(bytes, at, finder.needle().len(), *key));
            }
        }
        for at in self.web_token.find_iter(bytes) {
            found.extend(web_token_at(bytes, at));
        }
        let mut until = 0;
        for at in self.pem.find_iter(bytes).collect::<Vec<_>>() {
            if at >= until
                && let Some(key) = pem_at(bytes, at)
            {
                until = key.end;
                found.push(key);
            }
        }
        for at in self.address.find_iter(bytes) {
            found.extend(login_at(bytes, at + 3));
        }
        for at in self.bearer.find_iter(bytes) {
            let start = at + self.bearer.needle().len();
            found.extend(run_at(bytes, start, 20, is_token));
        }
        for finder in &self.assigned {
            for at in finder.find_iter(bytes) {
                found.extend(value_at(bytes, at + finder.needle().len()));
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || b".~+/=".contains(&byte)
}

/// How many bytes from here on are of a kind.
fn run(bytes: &[u8], from: usize, is: fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take_while(|byte| is(**byte)).count()
}

fn run_at(bytes: &[u8], from: usize, shortest: usize, is: fn(u8) -> bool) -> Option<Range<usize>> {
    let length = run(bytes, from, is);
    (length >= shortest).then_some(from..from + length)
}

fn key_at(bytes: &[u8], at: usize, prefix: usize, key: KeyPattern) -> Option<Range<usize>> {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let is_letter = |byte: u8| is_word(byte) || byte == b'.';
    let body = run_at(bytes, at + prefix, key.shortest, is_letter)?;
    let end = body.end;
    let body = bytes.get(body).unwrap_or_default();
    let has_digit = body.iter().any(u8::is_ascii_digit);
    (has_digit || !key.needs_digit).then_some(at..end)
}

/// Three parts of base64, of which the first begins as every one of them does.
fn web_token_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if before.is_some_and(|byte| is_word(*byte)) {
        return None;
    }
    let mut end = at;
    for part in 0..3 {
        let length = run(bytes, end, is_word);
        if length < 4 {
            return None;
        }
        end += length;
        if part < 2 {
            if bytes.get(end) != Some(&b'.') {
                return None;
            }
            end += 1;
        }
    }
    Some(at..end)
}

/// A private key in armour; one without an end goes on to the end of the text.
fn pem_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes.get(at..)?;
    let title_end = memchr::memmem::find(rest.get(11..rest.len().min(80))?, b"-----")? + 11;
    let title = rest.get(..title_end)?;
    if !title.ends_with(b"PRIVATE KEY") && !title.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    let end = memchr::memmem::find(rest, b"-----END ").and_then(|end| {
        let after = end + 9;
        let close = memchr::memmem::find(rest.get(after..rest.len().min(after + 80))?, b"-----")?;
        Some(after + close + 5)
    });
    Some(at..at + end.unwrap_or(rest.len()))
}

/// The name and the password before the host of an address.
fn login_at(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let is_login = |byte: u8| byte.is_ascii_graphic() && !b"/@\"'`<>\\?#".contains(&byte);
    let mut end = from
        + run(
            bytes.get(..(from + LONGEST_LOGIN).min(bytes.len()))?,
            from,
            is_login,
        );
    if bytes.get(end) != Some(&b'@') {
        return None;
    }
    // A password may have an `@` in it that is not escaped; the host begins after the last one.
    loop {
        let more = run(bytes, end + 1, is_login);
        if bytes.get(end + 1 + more) != Some(&b'@') || end - from > LONGEST_LOGIN {
            break;
        }
        end += 1 + more;
    }
    let login = bytes.get(from..end)?;
    let has_password = login.contains(&b':') && !login.ends_with(b":");
    // A name that is as long as a token is one.
    (has_password || login.len() >= 20).then_some(from..end)
}

/// What a variable is set to, if it looks made by chance.
fn value_at(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let from = match bytes.get(from) {
        Some(b'"' | b'\'') => from + 1,
        Some(_) | None => from,
    };
    let range = run_at(bytes, from, 12, is_token)?;
    let value = bytes.get(range.clone())?;
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    (has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)).then_some(range)
}
