//! How a turn may end: the last part of every packet, repeated after an invalid ending.

use super::limits::MAX_NAMES_SHOWN;
use super::outcome::{NamedTarget, RoleOutcome};
use super::write::handoff_block;
use crate::role::name;

/// A signal that is allowed at this moment, with what it must carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Ask the operator.
    PromptHuman,
    /// Wait for a handoff.
    AwaitHandoff,
    /// Say that the forward work is done.
    ForwardPassClosed,
    /// End a meta-analysis turn.
    MetaAnalysisComplete {
        /// Where the findings must be.
        findings_path: String,
    },
    /// End the feedback turn.
    BackwardPassComplete {
        /// Where the report must be.
        artifact_path: String,
    },
}

impl Signal {
    /// The outcome that it is.
    #[must_use]
    pub(crate) fn outcome(&self) -> RoleOutcome {
        match self {
            Self::PromptHuman => RoleOutcome::PromptHuman,
            Self::AwaitHandoff => RoleOutcome::AwaitHandoff,
            Self::ForwardPassClosed => RoleOutcome::ForwardPassClosed,
            Self::MetaAnalysisComplete { findings_path } => RoleOutcome::MetaAnalysisComplete {
                findings_path: findings_path.clone(),
            },
            Self::BackwardPassComplete { artifact_path } => RoleOutcome::BackwardPassComplete {
                artifact_path: artifact_path.clone(),
            },
        }
    }

    /// Its line among the endings that are open; nothing where it could not be meant.
    fn line(&self, allowed: &AllowedOutcomes) -> Option<String> {
        Some(match self {
            Self::PromptHuman => "ask_operator".to_owned(),
            Self::AwaitHandoff if allowed.awaited.is_empty() => return None,
            Self::AwaitHandoff => {
                let verb = if allowed.awaited.len() == 1 {
                    "arrives"
                } else {
                    "arrive"
                };
                format!(
                    "await-handoff, until {} {verb}",
                    listed(&allowed.awaited, "and")
                )
            }
            Self::ForwardPassClosed => {
                "forward-pass-closed, when the work of the whole flow is done".to_owned()
            }
            Self::MetaAnalysisComplete { findings_path } => format!(
                "meta-analysis-complete, once {} is written",
                name(findings_path)
            ),
            Self::BackwardPassComplete { artifact_path } => format!(
                "backward-pass-complete, once {} is written",
                name(artifact_path)
            ),
        })
    }
}

/// What a role may end its turn with at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedOutcomes {
    /// Whether it is a chat's turn: what the model says last is its answer, and no ending is named.
    pub answers: bool,
    /// Nodes that it may hand forward to.
    pub forward: Vec<String>,
    /// Of those, the ones that may stay without anything.
    pub optional: Vec<String>,
    /// Of those, the ones that have something already.
    pub done: Vec<String>,
    /// Nodes that it may hand back to.
    pub backward: Vec<String>,
    /// Nodes whose handoff is still to come.
    pub awaited: Vec<String>,
    /// Signals that it may give.
    pub signals: Vec<Signal>,
}

impl AllowedOutcomes {
    /// The nodes that must get something before the flow can close.
    fn owed(&self) -> Vec<String> {
        let is_owed = |node: &&String| !self.optional.contains(node) && !self.done.contains(node);
        self.forward.iter().filter(is_owed).cloned().collect()
    }

    /// The nodes that may be named in a handoff.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &String> {
        self.forward.iter().chain(&self.backward)
    }

    fn forward_line(&self) -> Option<String> {
        let owed = self.owed();
        let is_owed = |node: &String| owed.contains(node);
        let left = |of: &[String]| -> Vec<String> {
            of.iter().filter(|node| !is_owed(node)).cloned().collect()
        };
        let done: Vec<String> = left(&self.done);
        let mut optional = left(&self.optional);
        optional.retain(|node| !done.contains(node));
        let owed_word = match owed.len() {
            1 => "owed",
            2 => "both owed",
            _ => "all owed",
        };
        let groups = [
            (owed, "and", owed_word),
            (optional, "or", "only if needed"),
            (done, "or", "again"),
        ];
        let said: Vec<String> = (groups.into_iter())
            .filter(|(nodes, ..)| !nodes.is_empty())
            .map(|(nodes, joint, word)| format!("{} ({word})", listed(&nodes, joint)))
            .collect();
        (!said.is_empty()).then(|| format!("forward to {}", said.join(" or ")))
    }
}

/// The ways in which a turn may end now, as packets and repairs say them.
#[must_use]
pub(crate) fn endings(allowed: &AllowedOutcomes) -> String {
    if allowed.answers {
        return "Your turn ends with your answer.".to_owned();
    }
    let back = (!allowed.backward.is_empty()).then(|| {
        let nodes = listed(&allowed.backward, "or");
        format!("back to {nodes}, if what you received must change")
    });
    let mut lines: Vec<String> = allowed.forward_line().into_iter().chain(back).collect();
    // To ask is always the last way.
    let (asks, others): (Vec<&Signal>, Vec<&Signal>) =
        (allowed.signals.iter()).partition(|signal| matches!(signal, Signal::PromptHuman));
    let signals = others.into_iter().chain(asks);
    lines.extend(signals.filter_map(|signal| signal.line(allowed)));
    if lines.is_empty() {
        return "At this moment no ending is open to you.".to_owned();
    }
    format!("End this turn with one of:\n- {}", lines.join("\n- "))
}

/// How an outcome is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeForm {
    /// As a block at the end of the text.
    Block,
    /// As a call.
    Call,
}

/// How the part of a repair begins that says what was wrong.
const PROBLEM: &str = "Problem: ";

/// What the role reads after a fault: what was wrong, what is allowed, and what to say instead.
#[must_use]
pub fn repair_message(
    problem: &str,
    code: &str,
    allowed: &AllowedOutcomes,
    meant: Option<&RoleOutcome>,
    form: OutcomeForm,
) -> String {
    let example = match (closest(meant, allowed), form) {
        (Some(outcome), OutcomeForm::Block) => {
            format!("Hand off again, such as:\n\n{}\n", handoff_block(&outcome))
        }
        (Some(outcome), OutcomeForm::Call) => {
            format!("Hand off again, such as: handoff {}\n", arguments(&outcome))
        }
        (None, _) => String::new(),
    };
    format!(
        "Your turn has not ended; nothing was handed off. {PROBLEM}{problem} [{code}].\n{}\n\
         {example}Do not redo finished work.\n",
        endings(allowed)
    )
}

/// What a role reads that stopped without saying how.
#[must_use]
pub fn no_ending_message(allowed: &AllowedOutcomes) -> String {
    format!(
        "You stopped without an ending. If the task is done, hand off; if not, go on.\n{}\n",
        endings(allowed)
    )
}

/// The part of a repair that says what was wrong, for those who know what may be done instead.
pub(crate) fn problem_of(repair: &str) -> &str {
    let problem = repair.find(PROBLEM).and_then(|at| repair.get(at..));
    let line = problem.and_then(|problem| problem.lines().next());
    line.unwrap_or(repair).trim_end()
}

/// What the role reads when its provider cut it off at the output limit.
#[must_use]
pub fn output_limit_message(allowed: &AllowedOutcomes) -> String {
    format!(
        "Your message was cut at the output limit; what came before is kept, the unfinished call was \
         not run. Go in smaller steps: write_file, then append.\n{}\n",
        endings(allowed)
    )
}

/// What was meant, with nodes that may be named; if nothing was, what is owed.
fn closest(meant: Option<&RoleOutcome>, allowed: &AllowedOutcomes) -> Option<RoleOutcome> {
    match meant {
        Some(RoleOutcome::Handoff(targets)) if allowed.nodes().next().is_some() => {
            let near = targets.iter().filter_map(|target| {
                Some(NamedTarget {
                    target_node_id: nearest(&target.target_node_id, allowed)?,
                    artifact_path: target.artifact_path.clone(),
                })
            });
            let mut near: Vec<NamedTarget> = near.collect();
            near.dedup_by(|one, other| one.target_node_id == other.target_node_id);
            Some(RoleOutcome::Handoff(near)).filter(|_| !targets.is_empty())
        }
        Some(other)
            if allowed
                .signals
                .iter()
                .any(|signal| signal.outcome() == *other) =>
        {
            Some(other.clone())
        }
        Some(_) | None => owed(allowed),
    }
}

/// What the turn owes, to fill in.
fn owed(allowed: &AllowedOutcomes) -> Option<RoleOutcome> {
    let signal = allowed.signals.iter().find(|signal| match signal {
        Signal::ForwardPassClosed
        | Signal::MetaAnalysisComplete { .. }
        | Signal::BackwardPassComplete { .. } => true,
        Signal::PromptHuman | Signal::AwaitHandoff => false,
    });
    let owed = allowed.owed();
    let nodes = if owed.is_empty() && signal.is_none() {
        allowed.nodes().take(1).cloned().collect()
    } else {
        owed
    };
    if nodes.is_empty() {
        return signal.map(Signal::outcome);
    }
    let targets = nodes
        .into_iter()
        .take(MAX_NAMES_SHOWN)
        .map(|node| NamedTarget {
            target_node_id: node,
            artifact_path: "record/FILE.md".to_owned(),
        });
    Some(RoleOutcome::Handoff(targets.collect()))
}

/// The node of this name, or the one whose name is most alike.
fn nearest(written: &str, allowed: &AllowedOutcomes) -> Option<String> {
    let alike = |node: &&String| {
        let same = node.bytes().zip(written.bytes());
        let begins = same.take_while(|(one, other)| one == other).count();
        let within = written.contains(node.as_str()) || node.contains(written);
        (
            node.as_str() == written,
            within && !written.is_empty(),
            begins,
        )
    };
    // Of several that are equally alike, the first.
    let nodes: Vec<&String> = allowed.nodes().collect();
    nodes.into_iter().rev().max_by_key(alike).cloned()
}

/// The arguments of the call that gives an outcome, as JSON.
#[must_use]
pub fn arguments(outcome: &RoleOutcome) -> String {
    let signal = match outcome {
        RoleOutcome::Handoff(targets) => {
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            let targets: Vec<String> = (targets.iter())
                .map(|target| {
                    format!(
                        r#"{{"target_node_id":{},"artifact_path":{}}}"#,
                        quoted(&target.target_node_id),
                        quoted(&target.artifact_path)
                    )
                })
                .collect();
            return format!(r#"{{"targets":[{}]}}"#, targets.join(","));
        }
        RoleOutcome::PromptHuman => "prompt-human",
        RoleOutcome::AwaitHandoff => "await-handoff",
        RoleOutcome::ForwardPassClosed => "forward-pass-closed",
        RoleOutcome::MetaAnalysisComplete { .. } => "meta-analysis-complete",
        RoleOutcome::BackwardPassComplete { .. } => "backward-pass-complete",
    };
    format!(r#"{{"type":"{signal}"}}"#)
}

fn listed(nodes: &[String], joint: &str) -> String {
    let mut shown: Vec<String> = nodes
        .iter()
        .take(MAX_NAMES_SHOWN)
        .map(|it| name(it))
        .collect();
    let more = nodes.len() - shown.len();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    match shown.pop() {
        Some(last) if shown.is_empty() => last,
        Some(last) => format!("{} {joint} {last}", shown.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_outcome;
    use super::*;

    fn nodes(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn allowed() -> AllowedOutcomes {
        AllowedOutcomes {
            forward: nodes(&["review", "archive"]),
            optional: nodes(&["archive"]),
            backward: nodes(&["research"]),
            awaited: nodes(&["legal"]),
            signals: vec![Signal::PromptHuman, Signal::AwaitHandoff],
            ..AllowedOutcomes::default()
        }
    }

    fn targets(node: &str, path: &str) -> RoleOutcome {
        RoleOutcome::Handoff(vec![NamedTarget {
            target_node_id: node.to_owned(),
            artifact_path: path.to_owned(),
        }])
    }

    #[test]
    fn the_endings_are_those_that_are_open() {
        assert_eq!(
            endings(&allowed()),
            "End this turn with one of:\n\
             - forward to `review` (owed) or `archive` (only if needed)\n\
             - back to `research`, if what you received must change\n\
             - await-handoff, until `legal` arrives\n\
             - ask_operator"
        );
        let closing = AllowedOutcomes {
            forward: nodes(&["a", "b", "c"]),
            done: nodes(&["c"]),
            signals: vec![
                Signal::PromptHuman,
                Signal::AwaitHandoff,
                Signal::ForwardPassClosed,
            ],
            ..AllowedOutcomes::default()
        };
        assert_eq!(
            endings(&closing),
            "End this turn with one of:\n\
             - forward to `a` and `b` (both owed) or `c` (again)\n\
             - forward-pass-closed, when the work of the whole flow is done\n\
             - ask_operator"
        );
        assert!(endings(&AllowedOutcomes::default()).contains("no ending is open"));
    }

    #[test]
    fn every_signal_of_a_repair_is_one_that_the_parser_reads() {
        for signal in [
            Signal::PromptHuman,
            Signal::AwaitHandoff,
            Signal::ForwardPassClosed,
            Signal::MetaAnalysisComplete {
                findings_path: "a: \"b\\c\".md".into(),
            },
            Signal::BackwardPassComplete {
                artifact_path: "#x".into(),
            },
        ] {
            let outcome = signal.outcome();
            assert_eq!(parse_outcome(&handoff_block(&outcome)), Ok(outcome));
        }
    }

    #[test]
    fn a_repair_says_what_was_wrong_what_is_allowed_and_fills_in_what_was_meant() {
        let meant = targets("reviewer", "record/notes.md");
        let (problem, code) = ("there is no node `reviewer`", "invalid_transition");
        let block = repair_message(problem, code, &allowed(), Some(&meant), OutcomeForm::Block);
        insta::assert_snapshot!(block);
        assert_eq!(
            parse_outcome(&block),
            Ok(targets("review", "record/notes.md"))
        );
        let call = repair_message(problem, code, &allowed(), Some(&meant), OutcomeForm::Call);
        let said = r#"such as: handoff {"targets":[{"target_node_id":"review","artifact_path":"record/notes.md"}]}"#;
        assert!(call.contains(said), "{call}");
        let none = repair_message(problem, code, &allowed(), None, OutcomeForm::Block);
        assert_eq!(
            parse_outcome(&none),
            Ok(targets("review", "record/FILE.md"))
        );
    }

    #[test]
    fn the_problem_of_a_repair_is_its_one_line() {
        let (problem, code) = ("the block is empty", "missing_block");
        let repair = repair_message(problem, code, &allowed(), None, OutcomeForm::Block);
        assert_eq!(
            problem_of(&repair),
            "Problem: the block is empty [missing_block]."
        );
        assert_eq!(problem_of("Say it again.\n"), "Say it again.");
    }

    #[test]
    fn whoever_stopped_without_an_ending_or_at_the_limit_hears_how_to_go_on() {
        insta::assert_snapshot!(no_ending_message(&allowed()));
        insta::assert_snapshot!(output_limit_message(&allowed()));
    }

    #[test]
    fn long_lists_of_nodes_are_cut() {
        let nodes: Vec<String> = (0..200).map(|number| format!("n{number}")).collect();
        let shown = listed(&nodes, "and");
        assert!(shown.ends_with("`n39` and 160 more"), "{shown}");
    }
}
