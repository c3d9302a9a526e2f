//! Where the lines of a configuration are, so that one is put in, changed or taken out and no other byte moves.
//!
//! Nothing here knows what the keys mean, and what a layout does not let it do safely is `None`. The caller reads the
//! text again and compares what it says then.

use std::ops::Range;

use a_society_yaml::{MapEntry, ParseBudget, Value, YamlTree, parse};

/// How far lines under a key are indented, if there are none yet.
const INDENT: usize = 2;

/// Sets a value below these keys, or adds it after the sibling that comes first in `after` and is there.
pub(crate) fn set(text: &str, path: &[&str], value: &str, after: &[&str]) -> Option<String> {
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    let (key, above) = path.split_last()?;
    let map = above
        .iter()
        .try_fold(&tree, |map, key| Some(&entry(map, key)?.value))?;
    match entry(map, key) {
        Some(MapEntry { value: found, .. }) => {
            let bytes = scalar(text, found).or_else(|| flow(text, found));
            replaced(text, bytes?, value)
        }
        None => {
            let anchor = after.iter().find_map(|key| entry(map, key))?;
            added_after(text, map, anchor, &format!("{key}: {value}"))
        }
    }
}

/// Sets a value at the left margin, or adds it at the end.
pub(crate) fn set_top(text: &str, key: &str, value: &str) -> Option<String> {
    match top(text, key)? {
        Some(found) => replaced(text, scalar(text, &found.value)?, value),
        None => Some(with_end(text, &[format!("{key}: {value}")])),
    }
}

/// Puts lines under a key at the left margin, which is added at the end if it is not there. The lines
/// are moved in as far as those that are there.
pub(crate) fn put_under(text: &str, key: &str, lines: &[String]) -> Option<String> {
    let Some(entry) = top(text, key)? else {
        let head = std::iter::once(format!("{key}:"));
        let lines = lines.iter().map(|line| moved_in(line, INDENT));
        return Some(with_end(text, &head.chain(lines).collect::<Vec<_>>()));
    };
    let lines = lines.iter().map(String::as_str);
    put_below(text, &entry, Some(INDENT), lines)
}

/// Puts a line under the key at the end of a path, before what is there.
pub(crate) fn put_into(text: &str, path: &[&str], line: &str) -> Option<String> {
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    let (key, above) = path.split_last()?;
    let map = above
        .iter()
        .try_fold(&tree, |map, key| Some(&entry(map, key)?.value))?;
    let entry = entry(map, key)?;
    let empty = indent(text, &entry.key).map(|head| head + INDENT);
    put_below(text, entry, empty, std::iter::once(line))
}

/// Puts lines under a key, before what is there and as far in, or so far where nothing is.
fn put_below<'l>(
    text: &str,
    MapEntry {
        key: head,
        value: found,
    }: &MapEntry,
    empty: Option<usize>,
    lines: impl Iterator<Item = &'l str>,
) -> Option<String> {
    let indent = match &found.value {
        Value::Map(entries) if !is_flow(text, found) => indent(text, &entries.first()?.key)?,
        Value::Null if found.span.bytes().is_empty() => empty?,
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => return None,
    };
    let at = line_end(text, head.span.bytes().end);
    let put: String = lines
        .map(|line| format!("{}{}", eol(text), moved_in(line, indent)))
        .collect();
    replaced(text, at..at, &put)
}

/// Puts an item at the end of a list.
pub(crate) fn with_item(text: &str, path: &[&str], item: &str) -> Option<String> {
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    let list = found(&tree, path)?;
    let Value::List(items) = &list.value else {
        return None;
    };
    let Some(last) = items.last() else {
        let start = list.span.bytes().start;
        let rest = text.get(start..)?.strip_prefix('[')?;
        let inside = rest.len() - rest.trim_start_matches(' ').len();
        let end = start + 1 + inside;
        let is_empty = text.get(end..)?.starts_with(']');
        return is_empty.then(|| replaced(text, start + 1..end, item))?;
    };
    let bytes = scalar(text, last)?;
    match dash(text, last) {
        Some(indent) => {
            let at = line_end(text, bytes.end);
            let put = format!("{}{}", eol(text), moved_in(&format!("- {item}"), indent));
            replaced(text, at..at, &put)
        }
        None => replaced(text, bytes.end..bytes.end, &format!(", {item}")),
    }
}

/// Takes an item out of a list, by its number from 0.
pub(crate) fn without_item(text: &str, path: &[&str], at: usize) -> Option<String> {
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    let Value::List(items) = &found(&tree, path)?.value else {
        return None;
    };
    let bytes = scalar(text, items.get(at)?)?;
    if dash(text, items.get(at)?).is_some() {
        let start = line_start(text, bytes.start);
        return replaced(text, start..next_line(text, bytes.end), "");
    }
    let start = |at: usize| Some(scalar(text, items.get(at)?)?.start);
    let end = |at: usize| Some(scalar(text, items.get(at)?)?.end);
    let gone = match (start(at + 1), at.checked_sub(1).and_then(end)) {
        (Some(next), _) => bytes.start..next,
        (None, Some(before)) => before..bytes.end,
        (None, None) => bytes,
    };
    replaced(text, gone, "")
}

/// How far the dash of an item is moved in, if it has one and begins its line.
fn dash(text: &str, item: &YamlTree) -> Option<usize> {
    let start = line_start(text, item.span.bytes().start);
    let before = text.get(start..item.span.bytes().start)?;
    let indent = before.len() - before.trim_start_matches(' ').len();
    let rest = before.trim_start_matches(' ').strip_prefix('-')?;
    (!rest.is_empty() && rest.trim().is_empty()).then_some(indent)
}

fn found<'t>(tree: &'t YamlTree, path: &[&str]) -> Option<&'t YamlTree> {
    path.iter()
        .try_fold(tree, |map, key| Some(&entry(map, key)?.value))
}

/// Takes a key with all that is under it out, and leaves comments above and below it.
pub(crate) fn without(text: &str, path: &[&str]) -> Option<String> {
    replaced(text, lines_of(text, path)?, "")
}

/// The lines of a key at the left margin with all that is under it; none if it is not there.
pub(crate) fn section<'t>(text: &'t str, key: &str) -> &'t str {
    let lines = lines_of(text, &[key]);
    lines.and_then(|lines| text.get(lines)).unwrap_or_default()
}

fn lines_of(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    let (key, above) = path.split_last()?;
    let map = above
        .iter()
        .try_fold(&tree, |map, key| Some(&entry(map, key)?.value))?;
    if is_flow(text, map) {
        return None;
    }
    let key = &entry(map, key)?.key;
    let indent = indent(text, key)?;
    let start = line_start(text, key.span.bytes().start);
    let mut end = next_line(text, key.span.bytes().end);
    let mut at = end;
    while at < text.len() {
        let next = next_line(text, at);
        let line = &text[at..next];
        let said = line.trim();
        let is_deeper = line.len() - line.trim_start_matches(' ').len() > indent;
        if !said.is_empty() && is_deeper {
            end = next;
        } else if !said.is_empty() && !said.starts_with('#') {
            break;
        }
        at = next;
    }
    Some(start..end)
}

/// Whether the line above a key is a comment on it.
pub(crate) fn is_commented(text: &str, path: &[&str]) -> bool {
    let found = || {
        let tree = parse(text, ParseBudget::BLOCK).ok()?;
        let (key, above) = path.split_last()?;
        let map = above
            .iter()
            .try_fold(&tree, |map, key| Some(&entry(map, key)?.value))?;
        let start = line_start(text, entry(map, key)?.key.span.bytes().start);
        let before = text.get(..start)?.lines().next_back()?;
        Some(before.trim_start().starts_with('#'))
    };
    found().unwrap_or_default()
}

/// A key at the left margin with its value; `None` within if it is not there.
fn top(text: &str, key: &str) -> Option<Option<MapEntry>> {
    let says_nothing = |line: &str| line.trim().is_empty() || line.starts_with('#');
    if text.lines().all(says_nothing) {
        return Some(None);
    }
    let tree = parse(text, ParseBudget::BLOCK).ok()?;
    if is_flow(text, &tree) {
        return None;
    }
    Some(entry(&tree, key).cloned())
}

fn entry<'t>(map: &'t YamlTree, wanted: &str) -> Option<&'t MapEntry> {
    let Value::Map(entries) = &map.value else {
        return None;
    };
    entries.iter().find(|entry| entry.is(wanted))
}

fn is_flow(text: &str, map: &YamlTree) -> bool {
    text.get(map.span.bytes())
        .is_some_and(|found| found.starts_with('{'))
}

/// The bytes of a mapping in braces, or of a list in brackets, that is on one line and contains no other.
fn flow(text: &str, tree: &YamlTree) -> Option<Range<usize>> {
    let (opens, closes, last) = match &tree.value {
        Value::Map(entries) => ('{', '}', entries.last().map(|entry| &entry.value)),
        Value::List(items) => ('[', ']', items.last()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => return None,
    };
    let start = tree.span.bytes().start;
    let end = match last {
        Some(last) => scalar(text, last)?.end,
        None => start + 1,
    };
    let rest = text.get(end..)?;
    let closing = rest.trim_start_matches([' ', ',']);
    let bytes = start..end + (rest.len() - closing.len()) + 1;
    let found = text.get(bytes.clone())?;
    let is_whole = found.starts_with(opens) && closing.starts_with(closes) && !found.contains('\n');
    is_whole.then_some(bytes)
}

/// The bytes of a value that is on one line.
fn scalar(text: &str, tree: &YamlTree) -> Option<Range<usize>> {
    let is_scalar = matches!(
        tree.value,
        Value::Bool(_) | Value::Number(_) | Value::Text(_)
    );
    let bytes = tree.span.bytes();
    let found = text.get(bytes.clone())?;
    let stands_alone = !found.is_empty() && !found.contains('\n') && !found.starts_with(['|', '>']);
    (is_scalar && stands_alone).then_some(bytes)
}

fn added_after(text: &str, map: &YamlTree, anchor: &MapEntry, line: &str) -> Option<String> {
    let MapEntry { key, value } = anchor;
    let bytes = scalar(text, value)?;
    if is_flow(text, map) {
        return replaced(text, bytes.end..bytes.end, &format!(", {line}"));
    }
    let line = moved_in(line, indent(text, key)?);
    let at = line_end(text, bytes.end);
    replaced(text, at..at, &format!("{}{line}", eol(text)))
}

/// How far the line of a key is moved in, if it begins with that key.
fn indent(text: &str, key: &YamlTree) -> Option<usize> {
    let start = line_start(text, key.span.bytes().start);
    let before = text.get(start..key.span.bytes().start)?;
    before.chars().all(|it| it == ' ').then_some(before.len())
}

fn moved_in(line: &str, indent: usize) -> String {
    format!("{}{line}", " ".repeat(indent))
}

fn eol(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line ends, before what separates it from the next.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

fn next_line(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |end| at + end + 1)
}

fn with_end(text: &str, lines: &[String]) -> String {
    let eol = eol(text);
    let mut out = text.to_owned();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(eol);
    }
    for line in lines {
        out.extend([line, eol]);
    }
    out
}

fn replaced(text: &str, bytes: Range<usize>, with: &str) -> Option<String> {
    let (before, after) = (text.get(..bytes.start)?, text.get(bytes.end..)?);
    Some([before, with, after].concat())
}
