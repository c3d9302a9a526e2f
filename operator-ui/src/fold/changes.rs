//! What tools changed in files, folded from the facts of a flow.

use std::collections::BTreeMap;

use a_society_facts::Fact;
use a_society_facts::fact::older;
use a_society_facts::fact::operator::ConsentAnswer;
use a_society_facts::fact::turn::{CallEnd, CallIntended};
use a_society_facts::id::{CallId, ConsentId, NodeId, RoleInstance, TurnId};
use a_society_facts::message::ToolCall;
use a_society_facts::view::flow::Decider;
use a_society_facts::{At, Hash, Recorded};

use super::authors::Authors;
use super::edit::{Edit, TextOf, is_edit};
use super::limits::{ARGUMENTS_BYTES_MAX, AUTHORS_MAX};
use super::lines::{Bounds, compare};
use crate::protocol::ask::{Diff, Hunk};
use crate::protocol::http::{Allowance, Author, Changes};

/// What tools changed by the facts so far, or what one role changed with them.
pub(crate) struct ChangesFold<'a> {
    whose: Option<&'a RoleInstance>,
    /// The text of a hash, if it is kept.
    text: TextOf<'a>,
    bounds: &'a Bounds,
    files: BTreeMap<String, Changed>,
    /// A call that was denied or failed changed nothing.
    open: OpenCalls,
    /// Only the calls of a role's last answer can begin next.
    asked: BTreeMap<RoleInstance, BTreeMap<String, Box<str>>>,
    authors: Authors,
    nodes: BTreeMap<TurnId, NodeId>,
}

impl<'a> ChangesFold<'a> {
    /// Before the first fact.
    pub(crate) fn new(
        whose: Option<&'a RoleInstance>,
        text: TextOf<'a>,
        bounds: &'a Bounds,
    ) -> Self {
        Self {
            whose,
            text,
            bounds,
            files: BTreeMap::new(),
            open: OpenCalls::default(),
            asked: BTreeMap::new(),
            authors: Authors::default(),
            nodes: BTreeMap::new(),
        }
    }

    /// Takes the next fact.
    pub(crate) fn hear(&mut self, recorded: &Recorded) {
        match recorded.fact() {
            Some(Fact::TurnStarted(f)) => {
                self.authors.hear(recorded.fact());
                self.nodes.extend(f.node.clone().map(|node| (f.turn, node)));
            }
            Some(Fact::ModelAnswered(f)) => {
                self.asked.insert(f.role.clone(), edits_of(&f.calls));
            }
            // The hash of a file before a call and after it is in the call's own fact.
            Some(Fact::CallIntended(f)) if self.whose.is_none_or(|role| *role == f.role) => {
                let input = self.asked.get(&f.role).and_then(|of| of.get(&f.tool_call));
                let intended = intended(f, input.map(AsRef::as_ref));
                if !intended.is_empty() {
                    self.open.changes.insert(f.call.clone(), intended);
                }
            }
            Some(Fact::CallFinished(f)) => {
                let intended = self.open.changes.remove(&f.call).unwrap_or_default();
                // What is unknown may have happened, and is shown as well.
                let happened =
                    matches!(f.end, CallEnd::Done | CallEnd::Recovered | CallEnd::Unknown);
                for one in intended.into_iter().filter(|_| happened) {
                    let file = self.files.entry(one.path.clone()).or_default();
                    file.hear(one, self.text, self.bounds);
                }
            }
            // What its roles had made before is there as a whole: how it came to be is not known.
            Some(Fact::FlowImported(f)) if self.whose.is_none() => {
                for file in f.passed.iter().flat_map(|passed| &passed.files) {
                    let made = self.files.entry(file.path.clone()).or_default();
                    made.after = Some(file.blob);
                }
            }
            Some(_) => self.open.hear(recorded),
            None => {}
        }
    }

    /// What was changed in all.
    pub(crate) fn done(self) -> Changes {
        let Self {
            whose,
            text,
            bounds,
            files,
            authors,
            nodes,
            ..
        } = self;
        let by = files.iter().map(|(path, file)| {
            let by = authors_of(file, &nodes, &authors);
            (path.clone(), by)
        });
        let by = by.filter(|(_, by)| !by.is_empty()).collect();
        let diffs = files.into_iter();
        let diffs: Vec<Diff> = diffs
            .filter_map(|(path, file)| file.diff(path, text, whose.is_some(), bounds))
            .collect();
        let truncated = diffs.iter().any(|diff| diff.truncated);
        Changes {
            diffs,
            truncated,
            by,
        }
    }
}

/// What is known of a file that tools changed.
#[derive(Debug, Default)]
struct Changed {
    /// The hash of the file before the first call, if there was one, and after the last.
    before: Option<Hash>,
    after: Option<Hash>,
    /// What it held before the first call, if it is not whole in a blob of that hash.
    earlier: Option<String>,
    /// What it holds after the last call, likewise.
    later: Option<String>,
    /// What each call changed, one after another, and how many lines that has.
    each: Vec<Hunk>,
    lines: usize,
    /// Whether that is not all.
    cut: bool,
    /// How many bytes an earlier text has that was too long to be kept.
    unkept_bytes: Option<u64>,
    /// In which turns, and who allowed the last call of each.
    turns: Vec<(TurnId, Option<Allowance>)>,
}

impl Changed {
    fn hear(&mut self, one: Intended, text: TextOf<'_>, bounds: &Bounds) {
        match self.turns.last_mut() {
            Some((turn, allowed)) if *turn == one.turn => {
                *allowed = one.allowed.or_else(|| allowed.take());
            }
            Some(_) | None => {
                // The first turns stay, and the last one takes the place of the one before it.
                self.turns.truncate(AUTHORS_MAX - 1);
                self.turns.push((one.turn, one.allowed));
            }
        }
        let (before, after) = one.hashes;
        let edit = one.edit.as_ref();
        let last = self.later.take().filter(|_| before == self.after);
        let earlier = edit.and_then(|edit| edit.earlier(text)).or(last);
        if self.after.is_none() {
            self.before = before;
            self.earlier.clone_from(&earlier);
        }
        self.after = Some(after);
        self.later = edit.and_then(|edit| match &earlier {
            Some(earlier) => edit.later(earlier, text),
            None => edit.written().map(str::to_owned),
        });
        let Some(edit) = edit else {
            self.cut = true;
            return;
        };
        self.unkept_bytes = self.unkept_bytes.or(edit.unkept_bytes());
        if edit.written().is_some() && earlier.is_none() {
            // It is all there is in the file by then. What the calls before it changed is in no record.
            (self.each, self.lines, self.cut) = (Vec::new(), 0, true);
        }
        let (diff, _) = edit.compared_with(text, bounds);
        self.cut |= diff.truncated;
        for hunk in diff.hunks {
            self.lines += hunk.lines.len();
            if self.lines > bounds.lines_max {
                self.cut = true;
                return;
            }
            self.each.push(hunk);
        }
    }

    /// Of the whole file where its texts were kept, and else call by call.
    fn diff(
        self,
        path: String,
        text: TextOf<'_>,
        is_one_role: bool,
        bounds: &Bounds,
    ) -> Option<Diff> {
        let after = self.after?;
        let old = match self.before {
            None => Some(String::new()),
            Some(before) => self.earlier.or_else(|| text(before)),
        };
        let ends = old.zip(self.later.or_else(|| text(after)));
        // Between two calls of one role others may have changed the file.
        let (hunks, truncated) = match ends.filter(|_| !is_one_role) {
            Some((old, new)) => {
                let found = compare(&old, &new, bounds);
                (found.hunks, found.truncated)
            }
            None => (self.each, self.cut),
        };
        Some(Diff {
            path,
            old: self.before.map(|hash| hash.to_string()),
            new: after.to_string(),
            hunks,
            unkept_bytes: self.unkept_bytes.filter(|_| truncated),
            truncated,
        })
    }
}

/// A change that a call is about to make.
struct Intended {
    path: String,
    hashes: (Option<Hash>, Hash),
    turn: TurnId,
    edit: Option<Edit>,
    /// Who allowed it, if that was asked about.
    allowed: Option<Allowance>,
}

/// The changes that calls are about to make, and the requests for consent to them.
#[derive(Default)]
struct OpenCalls {
    changes: BTreeMap<CallId, Vec<Intended>>,
    consents: BTreeMap<ConsentId, CallId>,
}

impl OpenCalls {
    /// Takes what was asked about a call, and who allowed it.
    fn hear(&mut self, recorded: &Recorded) {
        match recorded.fact() {
            Some(Fact::ConsentRequested(f)) if self.changes.contains_key(&f.call) => {
                self.consents.insert(f.consent.clone(), f.call.clone());
            }
            Some(Fact::ConsentResolved(f)) => {
                if let Some(call) = self.consents.remove(&f.consent) {
                    let by = Decider::of(f.by.as_ref(), f.beforehand);
                    let rule = by.filter(|by| *by != Decider::Grant);
                    let rule = rule.map(|by| by.words(f.answer));
                    self.allow(&call, f.answer, rule, recorded.at);
                }
            }
            Some(Fact::ConsentRuled(f)) => {
                let rule = f.by.words(f.answer);
                self.allow(&f.call, f.answer, Some(rule), recorded.at);
            }
            Some(_) | None => {}
        }
    }

    fn allow(&mut self, call: &CallId, answer: ConsentAnswer, rule: Option<String>, at: At) {
        if !matches!(answer, ConsentAnswer::AllowOnce | ConsentAnswer::AllowFlow) {
            return;
        }
        let allowed = Allowance {
            rule,
            at: at.to_string(),
        };
        for one in self.changes.get_mut(call).into_iter().flatten() {
            one.allowed = Some(allowed.clone());
        }
    }
}

/// The arguments of the calls that edit files, by the names that the model gave these calls.
fn edits_of(calls: &[ToolCall]) -> BTreeMap<String, Box<str>> {
    let edits = calls
        .iter()
        .filter(|call| is_edit(&call.name) && call.input.get().len() <= ARGUMENTS_BYTES_MAX);
    edits
        .map(|call| (call.id.clone(), call.input.get().into()))
        .collect()
}

/// The turns that changed a file, each with its node and with the rule that allowed it.
fn authors_of(file: &Changed, nodes: &BTreeMap<TurnId, NodeId>, authors: &Authors) -> Vec<Author> {
    let turns = file.turns.iter();
    let by = turns.filter_map(|(turn, allowed)| {
        Some(Author {
            node: nodes.get(turn).map(ToString::to_string),
            allowed: allowed.clone(),
            ..authors.of(*turn)?.clone()
        })
    });
    by.collect()
}

/// What a call is about to change, one for each file.
fn intended(f: &CallIntended, input: Option<&str>) -> Vec<Intended> {
    if let Some(after) = f.after {
        let recorded = f.texts.first().map(|text| text.path.clone());
        return vec![Intended {
            path: recorded.unwrap_or_else(|| older::path_of(&f.summary)),
            hashes: (f.before, after),
            turn: f.turn,
            edit: input.and_then(|input| Edit::of(f, input)),
            allowed: None,
        }];
    }
    let edits = input.map(|input| Edit::each(f, input)).unwrap_or_default();
    let files = f.files.iter();
    files
        .map(|change| {
            let edit = edits.iter().find(|edit| edit.path() == change.path);
            // A file that is removed is shown as one that became empty.
            let after = change.after.unwrap_or_else(|| Hash::of(b""));
            Intended {
                path: change.path.clone(),
                hashes: (change.before, after),
                turn: f.turn,
                edit: edit.cloned(),
                allowed: None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use a_society_facts::fact::turn::ChangedText;

    use super::*;
    use crate::fold::limits::DIFF_BOUNDS;
    use crate::protocol::ask::Op;

    fn call(tool: &str, input: &str, before: Option<&str>, after: &str) -> CallIntended {
        let hash = |text: &str| Hash::of(text.as_bytes());
        serde_json::from_value(serde_json::json!({
            "call": "1.1", "turn": 1, "role": "owner", "tool_call": "c", "ordinal": 0, "tool": tool,
            "arguments": hash(input), "effect": "checkable", "idempotency_key": hash("key"),
            "before": before.map(hash), "after": hash(after), "summary": "write a.py (4 bytes)",
        }))
        .unwrap()
    }

    fn with(earlier: Option<&str>, unkept_bytes: Option<u64>, call: CallIntended) -> CallIntended {
        let text = ChangedText {
            path: "a.py".into(),
            added: 1,
            removed: 1,
            earlier: earlier.map(Into::into),
            unkept_bytes,
            line: None,
            places: None,
        };
        CallIntended {
            texts: vec![text],
            ..call
        }
    }

    fn shown(calls: &[(CallIntended, &str)], is_one_role: bool) -> (Vec<String>, Diff) {
        let mut changed = Changed::default();
        for (call, input) in calls {
            for one in intended(call, Some(input)) {
                changed.hear(one, &|_| None, &DIFF_BOUNDS);
            }
        }
        let text: TextOf<'_> = &|_| None;
        let diff = changed.diff("a.py".into(), text, is_one_role, &DIFF_BOUNDS);
        let diff = diff.unwrap();
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines = lines.map(|line| {
            let sign = match line.op {
                Op::Keep => ' ',
                Op::Add => '+',
                Op::Remove => '-',
            };
            format!("{sign}{}", line.text)
        });
        (lines.collect(), diff)
    }

    const TWO: &str = r#"{"path":"a.py","content":"two\n"}"#;
    const THREE: &str = r#"{"path":"a.py","content":"three\n"}"#;
    const EDIT: &str = r#"{"path":"a.py","old_string":"three","new_string":"four"}"#;

    #[test]
    fn a_file_that_was_written_over_does_not_pass_for_a_new_one() {
        let new = call("write_file", TWO, None, "two\n");
        assert!(!shown(&[(new, TWO)], false).1.truncated);
        let over = call("write_file", TWO, Some("one\n"), "two\n");
        let (_, over) = shown(&[(over, TWO)], false);
        assert!(
            over.truncated,
            "the lines that went are not known: {over:?}"
        );
    }

    #[test]
    fn what_a_file_held_before_it_was_written_over_is_shown_as_removed() {
        let over = |earlier: &str, input: &str, after: &str| {
            let call = call("write_file", input, Some(earlier), after);
            with(Some(earlier), None, call)
        };
        let first = (over("one\n", TWO, "two\n"), TWO);
        let (lines, diff) = shown(std::slice::from_ref(&first), false);
        assert_eq!(
            (lines, diff.truncated),
            (vec!["-one".into(), "+two".into()], false)
        );
        let second = (over("two\n", THREE, "three\n"), THREE);
        let both = [first, second];
        let (lines, diff) = shown(&both, false);
        assert_eq!(
            (lines, diff.truncated),
            (vec!["-one".into(), "+three".into()], false)
        );
        // Of one role alone, each of its calls is shown.
        let (lines, _) = shown(&both, true);
        assert_eq!(lines, ["-one", "+two", "-two", "+three"]);
    }

    #[test]
    fn an_edit_is_applied_again_to_what_the_file_held_before() {
        let one = with(
            Some("one\n"),
            None,
            call("write_file", THREE, Some("one\n"), "three\n"),
        );
        // An earlier version did not record it: what the last call wrote is what it held.
        let two = call("edit_file", EDIT, Some("three\n"), "four\n");
        let (lines, diff) = shown(&[(one, THREE), (two, EDIT)], false);
        assert_eq!(
            (lines, diff.truncated),
            (vec!["-one".into(), "+four".into()], false)
        );
    }

    #[test]
    fn an_earlier_text_that_is_too_long_to_be_kept_is_said_to_be() {
        let over = call("write_file", TWO, Some("one\n"), "two\n");
        let over = with(None, Some(3_000_000), over);
        let (lines, diff) = shown(&[(over, TWO)], false);
        assert_eq!(lines, ["+two"]);
        assert_eq!((diff.truncated, diff.unkept_bytes), (true, Some(3_000_000)));
    }
}
