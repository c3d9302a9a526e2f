//! Lines that the operator types while a flow is watched.

use std::io::{self, BufRead, IsTerminal};
use std::sync::mpsc::{Receiver, TryRecvError, TrySendError, sync_channel};

use a_society_facts::Hash;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_orchestrator::control::message::{Command, Whom};
use a_society_orchestrator::machine::Question;
use rustix::termios::QueueSelector;

/// Lines that were typed and not looked at. More are dropped: none of them answers anything.
const LINES_MAX: usize = 64;

/// Lines of standard input, read on a thread of its own, because reading waits.
#[derive(Debug)]
pub(crate) struct Prompt {
    lines: Receiver<String>,
}

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line.
    Line(String),
    /// Nothing yet.
    Nothing,
    /// There will be nothing more.
    End,
}

impl Prompt {
    /// Begins to read, if a person sits at standard input and the system has a thread left.
    pub(crate) fn open() -> Option<Self> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let (typed, lines) = sync_channel(LINES_MAX);
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                let lines = io::stdin().lock().lines();
                for line in lines.map_while(Result::ok) {
                    // What nobody asked for is dropped, so that a line is taken when it is typed.
                    if matches!(typed.try_send(line), Err(TrySendError::Disconnected(_))) {
                        return;
                    }
                }
            })
            .ok()?;
        Some(Self { lines })
    }

    /// Drops what was typed until now: it answers nothing that was not on the screen. Says whether there
    /// was anything.
    pub(crate) fn forget(&self) -> bool {
        let stdin = io::stdin();
        let waits = rustix::io::ioctl_fionread(&stdin).unwrap_or_default();
        // What cannot be flushed is read, and dropped with the lines below.
        let _flushed = rustix::termios::tcflush(&stdin, QueueSelector::IFlush);
        let dropped = self.lines.try_iter().count();
        waits > 0 || dropped > 0
    }

    /// What was typed since the last look.
    pub(crate) fn typed(&self) -> Typed {
        match self.lines.try_recv() {
            Ok(line) => Typed::Line(line),
            Err(TryRecvError::Empty) => Typed::Nothing,
            Err(TryRecvError::Disconnected) => Typed::End,
        }
    }
}

/// The word that shows all of a call.
pub(crate) const MORE: &str = "more";

/// What is asked for, before the cursor. A call that was not shown whole cannot be allowed.
pub(crate) fn mark(question: &Question, is_whole: bool) -> Option<&'static str> {
    match question {
        Question::Consent { .. } if !is_whole => {
            Some("not all of it is shown [more/no/no, do this instead]> ")
        }
        Question::Text { .. } => Some("your answer> "),
        Question::Approval { .. } => Some("approve? [yes/no/no, because...]> "),
        Question::Improvement { .. } => Some("graph, parallel or none> "),
        Question::Feedback => Some("write the report? [yes/no]> "),
        Question::Unpause { .. } => Some("go on? [yes]> "),
        Question::Consent { .. } => Some("allow? [yes/flow/no/no, do this instead]> "),
        Question::Configuration { .. } | Question::Stalled => None,
    }
}

/// The command that a typed line means; `None` if it means nothing here. An answer to a call is bound to
/// what was shown of it.
pub(crate) fn command(question: &Question, shown: Option<Hash>, line: &str) -> Option<Command> {
    let text = line.trim();
    let yes = match text.to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    };
    match question {
        Question::Text { node, role, .. } => (!text.is_empty()).then(|| Command::Reply {
            to: match node {
                Some(node) => Whom::Node(node.clone()),
                None => Whom::Role(role.clone()),
            },
            text: text.to_owned(),
            asked: None,
        }),
        Question::Approval { approval, .. } => {
            let approval = Some(approval.clone());
            match (yes, no_but(text)) {
                (Some(true), _) => Some(Command::Approve { approval }),
                (None, None) => None,
                (Some(false), reason) | (None, reason) => {
                    Some(Command::Decline { approval, reason })
                }
            }
        }
        Question::Improvement { .. } => {
            let mode = match text {
                "graph" => ImprovementMode::GraphBased,
                "parallel" => ImprovementMode::Parallel,
                "none" => ImprovementMode::None,
                _ => return None,
            };
            Some(Command::Improve { mode })
        }
        Question::Feedback => yes.map(|granted| Command::Feedback { granted }),
        Question::Unpause { .. } => (yes == Some(true)).then_some(Command::Unpause),
        Question::Consent { consent, .. } => {
            let consent = Some(consent.clone());
            let for_the_flow = text.eq_ignore_ascii_case("flow");
            if yes == Some(true) || for_the_flow {
                return Some(Command::Allow {
                    consent,
                    action: shown,
                    for_the_flow,
                });
            }
            let reason = no_but(text);
            (yes == Some(false) || reason.is_some()).then_some(Command::Deny {
                consent,
                action: shown,
                reason,
            })
        }
        Question::Configuration { .. } | Question::Stalled => None,
    }
}

/// What a no says should be done instead: `no, ask the editor first`. The comma is asked for, so
/// that no sentence that begins like this denies by chance.
fn no_but(text: &str) -> Option<String> {
    let (no, rest) = text.split_once(',')?;
    let is_no = ["n", "no"].iter().any(|word| no.eq_ignore_ascii_case(word));
    let rest = rest.trim();
    (is_no && !rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_may_say_what_to_do_instead() {
        let question = Question::Consent {
            consent: "q-1".parse().unwrap(),
            node: None,
            role: "writer".parse().unwrap(),
        };
        let reason = |line: &str| match command(&question, None, line) {
            Some(Command::Deny { reason, .. }) => Some(reason),
            Some(_) | None => None,
        };
        assert_eq!(reason("no"), Some(None));
        assert_eq!(
            reason("No, use the copy."),
            Some(Some("use the copy.".to_owned()))
        );
        for line in ["no,", "not now, please", "nothing", "yes, do"] {
            assert_eq!(reason(line), None, "{line}");
        }
    }

    #[test]
    fn only_a_line_that_means_something_becomes_a_command() {
        let feedback = Question::Feedback;
        assert_eq!(
            command(&feedback, None, " YES "),
            Some(Command::Feedback { granted: true })
        );
        assert_eq!(command(&feedback, None, "perhaps"), None);
        let text = Question::Text {
            node: Some("draft".parse().unwrap()),
            role: "writer".parse().unwrap(),
            reason: a_society_facts::fact::node::WaitReason::PromptHuman,
        };
        assert_eq!(command(&text, None, "   "), None);
        assert!(
            matches!(command(&text, None, "no"), Some(Command::Reply { text, .. }) if text == "no")
        );
    }
}
