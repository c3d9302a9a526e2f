//! The parser's events become a tree, within a budget.
//!
//! This is the only file that knows serde-saphyr, so that replacing it is a change of one file. It reads the parser's
//! events instead of deserialising through serde: serde stops at the first fault and serde-saphyr drops repeated integer
//! keys without a word, while the author of a flow file needs every fault at once. The tree is built with a stack of its
//! own, so that no depth of nesting can exhaust the thread's stack.
//!
//! Booleans are YAML 1.2's `true` and `false` only: `yes`, `no` and `on` are text, and a model that names a node `yes`
//! means text.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_saphyr::granit_parser::{self as granit, Event, Parser, ScalarStyle, Tag};

use crate::budget::ParseBudget;
use crate::tree::{MapEntry, Span, Value, YamlFault, YamlFaultKind, YamlTree};

/// Parses one YAML document. An empty text is a `Null`.
///
/// # Errors
/// With the first fault after which no tree can be trusted.
pub fn parse(text: &str, budget: ParseBudget) -> Result<YamlTree, YamlFault> {
    let options = granit::options! {
        emit_comments: false,
        // Both of the parser's limits lie just above the builder's, which counts both kinds.
        flow_nesting_limit: budget.depth + 1,
        block_nesting_limit: budget.depth + 1,
    };
    let mut builder = Builder {
        budget,
        root: None,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        nodes: 0,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| syntax_fault(&error, budget))?;
        builder.take(event, span_of(&span))?;
    }
    Ok(builder.root.unwrap_or(YamlTree {
        span: Span {
            line: 1,
            column: 1,
            ..Span::default()
        },
        value: Value::Null,
    }))
}

/// Writes a value as YAML that [`parse`] reads back to the same value.
///
/// # Errors
/// With words, for a value that YAML cannot express.
pub fn render<T: Serialize>(value: &T) -> Result<String, String> {
    serde_saphyr::to_string(value).map_err(|error| error.to_string())
}

fn fault(kind: YamlFaultKind, span: Span, message: impl Into<String>) -> YamlFault {
    YamlFault {
        kind,
        span,
        message: message.into(),
    }
}

fn too_deep(span: Span, budget: ParseBudget) -> YamlFault {
    let message = format!("values are nested deeper than {} levels", budget.depth);
    fault(YamlFaultKind::Limit, span, message)
}

fn syntax_fault(error: &granit::ScanError, budget: ParseBudget) -> YamlFault {
    let mark = span_of(&granit::Span::empty(*error.marker()));
    if matches!(error.kind(), granit::ErrorKind::RecursionLimitExceeded) {
        return too_deep(mark, budget);
    }
    fault(YamlFaultKind::Syntax, mark, error.info())
}

/// Narrows the parser's positions. The size limit keeps every number far below `u32::MAX`.
fn span_of(span: &granit::Span) -> Span {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let start = narrow(span.start.byte_offset().unwrap_or(0));
    let end = narrow(span.end.byte_offset().unwrap_or(0));
    Span {
        line: narrow(span.start.line()),
        column: narrow(span.start.col().saturating_add(1)),
        start_byte: start,
        end_byte: end.max(start),
    }
}

/// A list or mapping whose end has not been seen.
#[derive(Debug)]
struct OpenCollection {
    span: Span,
    is_map: bool,
    anchor: usize,
    /// How many tree nodes there were before it, so that its own size is known at its end.
    nodes_before: usize,
    /// The items of a list, or keys and values in turn.
    items: Vec<YamlTree>,
}

/// Turns events into a tree, within the limits.
#[derive(Debug)]
struct Builder {
    budget: ParseBudget,
    root: Option<YamlTree>,
    open: Vec<OpenCollection>,
    /// Anchored values with their sizes. A value enters when it is complete, so that an alias
    /// within its own anchor is found missing instead of making an endless tree.
    anchors: BTreeMap<usize, (YamlTree, usize)>,
    nodes: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlFault> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => Err(fault(
                YamlFaultKind::Syntax,
                span,
                "a second document starts here, and there may be one",
            )),
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.scalar(text.into_owned(), style, tag.as_deref(), span)?;
                self.complete(YamlTree { span, value }, anchor, 1)
            }
            Event::SequenceStart(_, anchor, tag) => self.enter(span, false, anchor, tag.as_deref()),
            Event::MappingStart(_, anchor, tag) => self.enter(span, true, anchor, tag.as_deref()),
            Event::SequenceEnd | Event::MappingEnd => self.leave(span),
            Event::Alias(anchor) => self.expand(anchor, span),
            // Stream and document marks carry nothing. Anchor names and unresolved aliases come only
            // when they are asked for, and so does whatever the parser learns to tell later.
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Anchor(..)
            | Event::UnresolvedAlias(_)
            | _ => Ok(()),
        }
    }

    /// Decides what a scalar is: only a plain one can be anything else than text.
    fn scalar(
        &self,
        text: String,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<Value, YamlFault> {
        match tag {
            Some(tag) if tag.core_suffix() == Some("str") || tag.original() == "!" => {
                Ok(Value::Text(text))
            }
            Some(tag) => Err(foreign_tag(tag, span)),
            None if style == ScalarStyle::Plain => Ok(resolve_plain(text, self.budget)),
            None => Ok(Value::Text(text)),
        }
    }

    fn enter(
        &mut self,
        span: Span,
        is_map: bool,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), YamlFault> {
        let expected = if is_map { "map" } else { "seq" };
        if let Some(tag) = tag
            && tag.core_suffix() != Some(expected)
        {
            return Err(foreign_tag(tag, span));
        }
        if self.open.len() >= self.budget.depth {
            return Err(too_deep(span, self.budget));
        }
        self.open.push(OpenCollection {
            span,
            is_map,
            anchor,
            nodes_before: self.nodes,
            items: Vec::new(),
        });
        Ok(())
    }

    fn leave(&mut self, end: Span) -> Result<(), YamlFault> {
        let Some(open) = self.open.pop() else {
            return Err(fault(
                YamlFaultKind::Syntax,
                end,
                "this ends something that never began",
            ));
        };
        let span = Span {
            end_byte: end.end_byte.max(open.span.end_byte),
            ..open.span
        };
        let size = self
            .nodes
            .saturating_sub(open.nodes_before)
            .saturating_add(1);
        let value = if open.is_map {
            let entries = pair_up(open.items);
            if !self.budget.repeats_keys {
                check_keys(&entries)?;
            }
            Value::Map(entries)
        } else {
            Value::List(open.items)
        };
        self.complete(YamlTree { span, value }, open.anchor, size)
    }

    /// Replaces an alias by a copy of the anchored value. The copy's parts keep the places where they
    /// are written, because that is where a fault in them is corrected.
    fn expand(&mut self, anchor: usize, span: Span) -> Result<(), YamlFault> {
        let Some((tree, size)) = self.anchors.get(&anchor) else {
            let message = "an alias is inside the value that it repeats";
            return Err(fault(YamlFaultKind::Syntax, span, message));
        };
        let size = *size;
        self.check_budget(size, span)?;
        let tree = YamlTree {
            span,
            value: tree.value.clone(),
        };
        self.nodes = self.nodes.saturating_add(size.saturating_sub(1));
        self.complete(tree, 0, size)
    }

    /// Counts a finished value, remembers it under its anchor, and gives it to what contains it.
    /// The parts of a list or mapping were counted when they were finished themselves.
    fn complete(&mut self, tree: YamlTree, anchor: usize, size: usize) -> Result<(), YamlFault> {
        self.check_budget(1, tree.span)?;
        self.nodes = self.nodes.saturating_add(1);
        if anchor != 0 {
            // The remembered copy takes memory too, so that it is paid for like any other value.
            self.check_budget(size, tree.span)?;
            self.nodes = self.nodes.saturating_add(size);
            self.anchors.insert(anchor, (tree.clone(), size));
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(tree),
            None => self.root = Some(tree),
        }
        Ok(())
    }

    fn check_budget(&self, more: usize, span: Span) -> Result<(), YamlFault> {
        if self.nodes.saturating_add(more) <= self.budget.nodes {
            return Ok(());
        }
        let message = format!(
            "there are more than {} values, counting what aliases repeat",
            self.budget.nodes
        );
        Err(fault(YamlFaultKind::Limit, span, message))
    }
}

/// Keys and values arrive in turn, and the parser never leaves out a value.
fn pair_up(items: Vec<YamlTree>) -> Vec<MapEntry> {
    let mut entries = Vec::with_capacity(items.len() / 2);
    let mut items = items.into_iter();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        entries.push(MapEntry { key, value });
    }
    entries
}

/// Finds a key that is there twice. Keys that are no scalars are left to the reader, who has no use for them.
fn check_keys(entries: &[MapEntry]) -> Result<(), YamlFault> {
    let mut seen = BTreeSet::new();
    for MapEntry { key, .. } in entries {
        let spelled = match &key.value {
            Value::Text(text) | Value::Number(text) => text.as_str(),
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Null | Value::List(_) | Value::Map(_) => continue,
        };
        if !seen.insert((key.value.kind(), spelled)) {
            let message = format!("duplicate mapping key: {spelled} not allowed here");
            return Err(fault(YamlFaultKind::Syntax, key.span, message));
        }
    }
    Ok(())
}

fn foreign_tag(tag: &Tag, span: Span) -> YamlFault {
    let message = format!("the tag `{}` means nothing here", tag.original());
    fault(YamlFaultKind::Syntax, span, message)
}

/// The core schema of YAML 1.2.
fn resolve_plain(text: String, budget: ParseBudget) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        other if is_number(other) => Value::Number(text),
        other if budget.groups_digits && is_grouped(other) => Value::Number(text.replace('_', "")),
        _ => Value::Text(text),
    }
}

/// Whether a text is a whole number whose digits are grouped, such as `128_000`.
fn is_grouped(text: &str) -> bool {
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|it| it.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    unsigned.contains('_') && unsigned.split('_').all(is_digits)
}

fn is_number(text: &str) -> bool {
    let all = |digits: &str, is_digit: fn(&u8) -> bool| {
        !digits.is_empty() && digits.bytes().all(|byte| is_digit(&byte))
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |byte| (b'0'..=b'7').contains(byte));
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return all(hex, u8::is_ascii_hexdigit);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // Rust reads a few spellings as floats that YAML takes for text, such as `inf` and `nan`.
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().any(|byte| byte.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const FLOW_FILE: ParseBudget = ParseBudget::FLOW_FILE;

    /// One line that shows a tree without its places.
    fn shape(tree: &YamlTree) -> String {
        match &tree.value {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => format!("#{text}"),
            Value::Text(text) => format!("{text:?}"),
            Value::List(items) => {
                format!(
                    "[{}]",
                    items.iter().map(shape).collect::<Vec<_>>().join(",")
                )
            }
            Value::Map(entries) => {
                let entry =
                    |entry: &MapEntry| format!("{}:{}", shape(&entry.key), shape(&entry.value));
                format!(
                    "{{{}}}",
                    entries.iter().map(entry).collect::<Vec<_>>().join(",")
                )
            }
        }
    }

    #[test]
    fn scalars_are_what_yaml_1_2_says_they_are() {
        let table = [
            ("", "null"),
            ("~", "null"),
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("true", "true"),
            ("'true'", "\"true\""),
            ("014", "#014"),
            ("1_000", "\"1_000\""),
            ("-1.5e3", "#-1.5e3"),
            ("0x1F", "#0x1F"),
            (".inf", "#.inf"),
            ("inf", "\"inf\""),
            ("1.2.3", "\"1.2.3\""),
            (".", "\".\""),
            ("!!str 12", "\"12\""),
            ("\"a\\nb\"", "\"a\\nb\""),
        ];
        for (text, expected) in table {
            assert_eq!(
                shape(&parse(text, FLOW_FILE).unwrap()),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn repeated_keys_are_all_kept_even_when_they_are_numbers() {
        let tree = parse("a: 1\na: 2\n0: x\n0: y\n", FLOW_FILE).unwrap();
        assert_eq!(shape(&tree), r##"{"a":#1,"a":#2,#0:"x",#0:"y"}"##);
    }

    #[test]
    fn every_value_knows_its_line_its_column_and_its_bytes() {
        let text = "a:\r\n  - ü: [x, yy]\r\n";
        let tree = parse(text, FLOW_FILE).unwrap();
        let Value::Map(entries) = &tree.value else {
            panic!("no mapping")
        };
        let Value::List(items) = &entries[0].value.value else {
            panic!("no list")
        };
        let Value::Map(inner) = &items[0].value else {
            panic!("no inner mapping")
        };
        let Value::List(leaves) = &inner[0].value.value else {
            panic!("no inner list")
        };
        let span = leaves[1].span;
        assert_eq!((span.line, span.column), (2, 12));
        assert_eq!(
            &text[span.start_byte as usize..span.end_byte as usize],
            "yy"
        );
        assert_eq!((inner[0].key.span.line, inner[0].key.span.column), (2, 5));
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_key() {
        let text = "\u{feff}a: b\n";
        let tree = parse(text, FLOW_FILE).unwrap();
        assert_eq!(shape(&tree), r#"{"a":"b"}"#);
        let Value::Map(entries) = &tree.value else {
            panic!("no mapping")
        };
        let span = entries[0].value.span;
        assert_eq!(&text[span.start_byte as usize..span.end_byte as usize], "b");
    }

    #[test]
    fn an_alias_repeats_its_value_and_merge_keys_are_ordinary_keys() {
        let tree = parse("a: &x [1]\nb: *x\n<<: *x\n", FLOW_FILE).unwrap();
        assert_eq!(shape(&tree), r##"{"a":[#1],"b":[#1],"<<":[#1]}"##);
    }

    #[test]
    fn what_flow_files_do_not_use_is_refused_in_words() {
        let table = [
            ("a: *nowhere", YamlFaultKind::Syntax),
            ("&a [*a]", YamlFaultKind::Syntax),
            ("a\n---\nb", YamlFaultKind::Syntax),
            ("!secret x", YamlFaultKind::Syntax),
            ("!!set {a}", YamlFaultKind::Syntax),
            ("a: [1", YamlFaultKind::Syntax),
            ("a:\n\t- b", YamlFaultKind::Syntax),
            ("a: b: c", YamlFaultKind::Syntax),
        ];
        for (text, kind) in table {
            let fault = parse(text, FLOW_FILE).unwrap_err();
            assert_eq!(fault.kind, kind, "{text:?}: {}", fault.message);
            assert!(fault.span.line >= 1, "{text:?}: {fault:?}");
            assert!(!fault.message.is_empty());
        }
    }

    #[test]
    fn nesting_of_every_kind_is_stopped_at_its_limit() {
        let deep = 200_000;
        let mut block = String::new();
        for level in 0..500 {
            block.push_str(&" ".repeat(level));
            block.push_str("a:\n");
        }
        let texts = [
            "[".repeat(deep),
            "{a: ".repeat(deep),
            "- ".repeat(deep),
            "? ".repeat(deep),
            "[{a: ".repeat(deep),
            "&a [".repeat(deep),
            block,
        ];
        for text in texts {
            let fault = parse(&text, FLOW_FILE).unwrap_err();
            assert_eq!(
                fault.kind,
                YamlFaultKind::Limit,
                "{:.20}: {}",
                text,
                fault.message
            );
        }
    }

    #[test]
    fn a_file_that_multiplies_its_aliases_is_stopped_at_its_limit() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..10 {
            let before = format!("*a{}", level - 1);
            let items = vec![before; 10].join(",");
            writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
        }
        assert_eq!(
            parse(&bomb, FLOW_FILE).unwrap_err().kind,
            YamlFaultKind::Limit
        );
    }

    #[test]
    fn a_block_takes_no_key_twice_and_its_numbers_may_be_grouped() {
        let text = "a: 1_000\nb: {a: +1_0, c: _1, d: 1__0, e: 1_, f: '1_0'}";
        let tree = parse(text, ParseBudget::BLOCK).unwrap();
        let expected = r##"{"a":#1000,"b":{"a":#+10,"c":"_1","d":"1__0","e":"1_","f":"1_0"}}"##;
        assert_eq!(shape(&tree), expected);
        for text in ["a: 1\nb: 2\n'a': 3", "- {1: x, 1: y}", "{true: x, true: y}"] {
            let fault = parse(text, ParseBudget::BLOCK).unwrap_err();
            assert!(fault.message.starts_with("duplicate"), "{}", fault.message);
            let place = &text[fault.span.bytes()];
            assert_eq!(text.matches(place.trim_matches('\'')).count(), 2, "{place}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_whose_line_and_bytes_agree() {
        let deep = "[".repeat(200_000);
        let many = format!("[{}]", "1,".repeat(ParseBudget::BLOCK.nodes + 1));
        let table = [
            ("ü: [", 1),
            ("ü: b\na: b: c", 2),
            ("*x", 1),
            ("a\n---\nb", 2),
            ("a:\n\t- x: y", 2),
            (&deep, 1),
            (&many, 1),
        ];
        for (text, line) in table {
            let fault = parse(text, ParseBudget::BLOCK).unwrap_err();
            let before = &text[..fault.span.bytes().start];
            let last = before.rsplit('\n').next().unwrap();
            assert_eq!(fault.span.line, line, "{text:.20}: {fault:?}");
            assert_eq!(
                before.matches('\n').count() as u32 + 1,
                line,
                "{text:.20}: {fault:?}"
            );
            assert_eq!(
                last.chars().count() as u32 + 1,
                fault.span.column,
                "{text:.20}: {fault:?}"
            );
            assert!(!fault.message.is_empty());
        }
    }
}
