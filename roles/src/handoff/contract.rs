//! What a role is told about handoffs: once in its system prompt, and again when one went wrong.

use super::fault::HandoffFault;
use super::limits::MAX_NAMES_SHOWN;
use super::write::{fenced, in_quotes};

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
    /// The block that gives the signal, without its fences.
    fn block(&self) -> String {
        match self {
            Self::PromptHuman => "type: prompt-human".to_owned(),
            Self::AwaitHandoff => "type: await-handoff".to_owned(),
            Self::ForwardPassClosed => "type: forward-pass-closed".to_owned(),
            Self::MetaAnalysisComplete { findings_path } => {
                format!(
                    "type: meta-analysis-complete\nfindings_path: {}",
                    in_quotes(findings_path)
                )
            }
            Self::BackwardPassComplete { artifact_path } => {
                format!(
                    "type: backward-pass-complete\nartifact_path: {}",
                    in_quotes(artifact_path)
                )
            }
        }
    }

    fn meaning(&self) -> &'static str {
        match self {
            Self::PromptHuman => "ask the operator, with your question above the block",
            Self::AwaitHandoff => "wait for a handoff from another node",
            Self::ForwardPassClosed => "say that the forward work of the flow is done",
            Self::MetaAnalysisComplete { .. } => {
                "end your meta-analysis, once the findings are written"
            }
            Self::BackwardPassComplete { .. } => "end the feedback, once the report is written",
        }
    }
}

/// What a role may end its turn with at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Nodes that it may hand forward to.
    pub forward: Vec<String>,
    /// Nodes that it may hand back to.
    pub backward: Vec<String>,
    /// Signals that it may give.
    pub signals: Vec<Signal>,
}

/// The contract of handoffs, for the system prompt of every role.
pub fn handoff_contract() -> &'static str {
    "\
## Handing over

You work at one node of a flow. End every turn with exactly one fenced block tagged `handoff`; it \
is the last thing you write, and what follows from your turn depends on nothing else. Without it \
your turn has no outcome. The block is YAML and takes one of these forms.

Hand your work to a neighbouring node, forward along the flow or back to where it came from:

```handoff
target_node_id: the-node
artifact_path: path/to/what-it-receives.md
```

Hand to several neighbours at once, each with an artifact of its own:

```handoff
- target_node_id: one-node
  artifact_path: path/to/first.md
- target_node_id: another-node
  artifact_path: path/to/second.md
```

Ask the operator, and say above the block what you need to know:

```handoff
type: prompt-human
```

Wait until another node hands something to you:

```handoff
type: await-handoff
```

Say that the forward work of the whole flow is done; only its closing node may:

```handoff
type: forward-pass-closed
```

Rules:

* Write an artifact to disk before you hand it over. It is a regular file in the record folder or \
the project, and it is passed once: for a second round, write a new file.
* Hand back only what was handed to you, and say in the artifact what has to change.
* A block has no keys but these. Whatever the receiver should know belongs in the artifact.
* If you show such a block as an example or quote one, put it inside a longer fence; the last \
block of your text that is not quoted counts.
"
}

/// How the line of a repair begins that says what was wrong.
const PROBLEM: &str = "Problem: ";

/// What the role reads after a fault: what was wrong, what is allowed, and what to do now.
pub fn repair_message(fault: &HandoffFault, allowed: &Allowed) -> String {
    let place = match &fault.span {
        Some(span) => format!(" (line {} of your last message)", span.line),
        None => String::new(),
    };
    format!(
        "Your turn could not be concluded, and nothing has been handed over.\n\n\
         {PROBLEM}{}{place}. [{}]\n\n{}\n\
         If your work is done, answer with the corrected `handoff` block as the last thing you \
         write. Do not repeat work that is already done.\n",
        fault.message,
        fault.code.as_str(),
        allowed_text(allowed),
    )
}

/// The part of a repair that says what was wrong, for those who know what may be done instead.
pub(crate) fn problem_of(repair: &str) -> &str {
    let line = repair.lines().find(|line| line.starts_with(PROBLEM));
    line.unwrap_or(repair).trim_end()
}

/// What the role reads when its provider cut it off at the output limit.
pub fn output_limit_message(allowed: &Allowed) -> String {
    format!(
        "Your last message reached the output limit and was cut off before it ended with a \
         `handoff` block. What you wrote and the tools you called so far are kept.\n\n\
         Go on in smaller steps: write long texts to files in several parts, and keep your \
         messages short.\n\n{}",
        allowed_text(allowed),
    )
}

/// The ways in which a turn may end at this moment.
pub(crate) fn allowed_text(allowed: &Allowed) -> String {
    let mut lines = Vec::new();
    if !allowed.forward.is_empty() {
        lines.push(format!("* forward to {}", names(&allowed.forward)));
    }
    if !allowed.backward.is_empty() {
        lines.push(format!("* back to {}", names(&allowed.backward)));
    }
    let mut text = String::from("From here you may end your turn in these ways:\n");
    if !lines.is_empty() {
        let form = target_form(allowed);
        lines.push(format!(
            "\nA handoff is such a block, or one list of such entries:\n\n{form}"
        ));
    }
    for signal in &allowed.signals {
        lines.push(format!(
            "* {}:\n\n{}",
            signal.meaning(),
            fenced(&signal.block())
        ));
    }
    if lines.is_empty() {
        return String::from("At this moment no outcome is allowed from this node.\n");
    }
    text.push_str(lines.join("\n").trim_end());
    text.push('\n');
    text
}

/// A block to fill in, with a node that may really be named.
fn target_form(allowed: &Allowed) -> String {
    let node = allowed.forward.iter().chain(&allowed.backward).next();
    let node = node.map_or("the-node", String::as_str);
    fenced(&format!(
        "target_node_id: {node}\nartifact_path: path/to/the-artifact.md"
    ))
}

fn names(nodes: &[String]) -> String {
    let mut shown: Vec<String> = nodes
        .iter()
        .take(MAX_NAMES_SHOWN)
        .map(|node| format!("`{node}`"))
        .collect();
    if nodes.len() > MAX_NAMES_SHOWN {
        shown.push(format!("{} more", nodes.len() - MAX_NAMES_SHOWN));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::{FaultCode, Outcome, parse_outcome};
    use super::*;

    fn allowed() -> Allowed {
        Allowed {
            forward: vec!["review".into(), "legal".into()],
            backward: vec!["owner-intake".into()],
            signals: vec![
                Signal::PromptHuman,
                Signal::AwaitHandoff,
                Signal::MetaAnalysisComplete {
                    findings_path: "findings/a \"b\".md".into(),
                },
            ],
        }
    }

    #[test]
    fn every_form_that_the_contract_shows_is_one_that_the_parser_reads() {
        let contract = handoff_contract();
        let blocks: Vec<&str> = contract.split("```handoff\n").skip(1).collect();
        assert_eq!(blocks.len(), 5);
        for block in blocks {
            let text = format!("```handoff\n{}```\n", block.split("```").next().unwrap());
            assert!(parse_outcome(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn every_signal_that_a_repair_offers_is_one_that_the_parser_reads() {
        let signals = [
            (Signal::PromptHuman, Outcome::PromptHuman),
            (Signal::AwaitHandoff, Outcome::AwaitHandoff),
            (Signal::ForwardPassClosed, Outcome::ForwardPassClosed),
            (
                Signal::MetaAnalysisComplete {
                    findings_path: "a: \"b\\c\".md".into(),
                },
                Outcome::MetaAnalysisComplete {
                    findings_path: "a: \"b\\c\".md".into(),
                },
            ),
            (
                Signal::BackwardPassComplete {
                    artifact_path: "#x".into(),
                },
                Outcome::BackwardPassComplete {
                    artifact_path: "#x".into(),
                },
            ),
        ];
        for (signal, outcome) in signals {
            assert_eq!(parse_outcome(&fenced(&signal.block())), Ok(outcome));
        }
    }

    #[test]
    fn a_repair_says_what_was_wrong_what_is_allowed_and_what_to_do() {
        let fault = parse_outcome("done").unwrap_err();
        insta::assert_snapshot!(repair_message(&fault, &allowed()));
    }

    #[test]
    fn the_problem_of_a_repair_is_its_one_line() {
        let fault = parse_outcome("done").unwrap_err();
        let problem = "Problem: the turn ended without a handoff block \
                       (line 1 of your last message). [missing_block]";
        assert_eq!(problem_of(&repair_message(&fault, &allowed())), problem);
        assert_eq!(problem_of("Say it again.\n"), "Say it again.");
    }

    #[test]
    fn a_fault_of_the_machine_is_repaired_in_the_same_words() {
        let code = FaultCode::InvalidTransition;
        let fault = HandoffFault::without_place(code, "`release` is no neighbour of `writer`");
        let message = repair_message(&fault, &Allowed::default());
        assert!(message.contains("`release` is no neighbour of `writer`. [invalid_transition]"));
        assert!(message.contains("no outcome is allowed"));
    }

    #[test]
    fn a_cut_off_turn_is_asked_for_smaller_steps() {
        insta::assert_snapshot!(output_limit_message(&allowed()));
    }

    #[test]
    fn long_lists_of_nodes_are_cut() {
        let nodes: Vec<String> = (0..200).map(|number| format!("n{number}")).collect();
        let shown = names(&nodes);
        assert!(shown.ends_with("`n39`, 160 more"), "{shown}");
    }
}
