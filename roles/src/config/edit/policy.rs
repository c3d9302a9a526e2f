//! Sets what the operator says for all flows beside the rules: the mode, how far tools reach, what stops a flow, and
//! the notification command.

use super::super::{
    ConsentConfig, TextFault, parse_consent, parse_limits, parse_notify, parse_tools,
};
use super::{ConfigEditFault, layout, quoted};
use crate::tool::ToolReach;

/// A policy of all flows. What is absent is taken out, and its default holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyEdit {
    /// The mode of flows that choose none.
    Mode(Option<String>),
    /// How far tools reach at most.
    Reach {
        /// The scope.
        scope: Option<String>,
        /// The folders that are read besides.
        folders: Vec<String>,
        /// Whether commands may use the network.
        network: bool,
    },
    /// What stops a flow that makes no progress.
    Limits {
        /// The tokens of a flow, or `none`.
        tokens: Option<String>,
        /// The answers of a model in one turn.
        answers: Option<String>,
        /// The same call with the same result in a turn.
        same_call: Option<String>,
    },
    /// The command to notify, word by word, and when it runs; no word is no command.
    Notify {
        /// The program and its arguments.
        command: Vec<String>,
        /// The occasions; all, if none is named.
        on: Vec<String>,
    },
}

/// A member of a section: its key, and what is written there.
type SectionMember = (&'static str, Option<String>);

impl PolicyEdit {
    /// The key at the left margin under which it is.
    #[must_use]
    pub(crate) const fn section(&self) -> &'static str {
        match self {
            Self::Mode(_) => "consent",
            Self::Reach { .. } => "tools",
            Self::Limits { .. } => "limits",
            Self::Notify { .. } => "notify",
        }
    }

    fn members(&self) -> Vec<SectionMember> {
        match self {
            Self::Mode(mode) => vec![("mode", word(mode.as_ref()))],
            Self::Reach {
                scope,
                folders,
                network,
            } => vec![
                ("scope", word(scope.as_ref())),
                ("folders", list(folders)),
                ("network", network.then(|| "true".to_owned())),
            ],
            Self::Limits {
                tokens,
                answers,
                same_call,
            } => vec![
                ("tokens", word(tokens.as_ref())),
                ("answers", word(answers.as_ref())),
                ("same-call", word(same_call.as_ref())),
            ],
            Self::Notify { command, on } if command.is_empty() && on.is_empty() => {
                vec![("command", None), ("on", None)]
            }
            Self::Notify { command, on } => {
                vec![("command", Some(items(command))), ("on", list(on))]
            }
        }
    }
}

/// The text with something else said for all flows. The rules and everything of which it does not speak stay.
///
/// # Errors
///
/// When the text is faulty or would be, or is laid out otherwise.
pub fn with_policy(text: &str, policy: &PolicyEdit) -> Result<String, ConfigEditFault> {
    let (section, members) = (policy.section(), policy.members());
    let change = Change {
        text,
        section,
        members: &members,
    };
    match policy {
        PolicyEdit::Mode(_) => change.made(parse_consent, |before, wish| ConsentConfig {
            mode: wish.mode,
            ..before
        }),
        PolicyEdit::Reach { .. } => change.made(parse_tools, |before, wish| ToolReach {
            irreversible: before.irreversible,
            ..wish
        }),
        PolicyEdit::Limits { .. } => change.made(parse_limits, |_, wish| wish),
        PolicyEdit::Notify { .. } => change.made(parse_notify, |_, wish| wish),
    }
}

/// The lines about it.
#[must_use]
pub fn said_of<'t>(text: &'t str, policy: &PolicyEdit) -> &'t str {
    layout::section(text, policy.section())
}

struct Change<'c> {
    text: &'c str,
    section: &'static str,
    members: &'c [SectionMember],
}

impl Change<'_> {
    fn made<T: PartialEq>(
        &self,
        read: fn(&str) -> Result<T, Vec<TextFault>>,
        expected: impl FnOnce(T, T) -> T,
    ) -> Result<String, ConfigEditFault> {
        let before = read(self.text).map_err(ConfigEditFault::Faulty)?;
        let lines = self.lines();
        let alone = layout::put_under("", self.section, &lines).filter(|_| !lines.is_empty());
        let wish = read(&alone.unwrap_or_default()).map_err(ConfigEditFault::Unfit)?;
        let expected = expected(before, wish);
        let ways = [self.by_member(), self.by_section()];
        let fits = |way: &String| read(way).is_ok_and(|now| now == expected);
        let by_hand = || {
            let lines = if lines.is_empty() {
                "nothing".to_owned()
            } else {
                lines.join(", ")
            };
            ConfigEditFault::Unclear(format!("under `{}`, say {lines}", self.section))
        };
        ways.into_iter().flatten().find(fits).ok_or_else(by_hand)
    }

    /// One line for each member.
    fn lines(&self) -> Vec<String> {
        let said = self.members.iter();
        let said = said.filter_map(|(key, value)| Some(format!("{key}: {}", value.as_ref()?)));
        said.collect()
    }

    /// Each member where it is, and new ones above the others.
    fn by_member(&self) -> Option<String> {
        let mut text = self.text.to_owned();
        for (key, value) in self.members.iter().rev() {
            text = match value {
                Some(value) => self.with(&text, key, value)?,
                None => layout::without(&text, &[self.section, key]).unwrap_or(text),
            };
        }
        // A section of which nothing is left says nothing.
        let left = layout::section(&text, self.section);
        let is_bare = left.lines().filter(|line| !line.trim().is_empty()).count() == 1
            && left
                .split('#')
                .next()
                .is_some_and(|head| head.trim_end().ends_with(':'));
        if is_bare {
            layout::without(&text, &[self.section])
        } else {
            Some(text)
        }
    }

    fn with(&self, text: &str, key: &str, value: &str) -> Option<String> {
        let others: Vec<&str> = self.members.iter().map(|(other, _)| *other).collect();
        let line = format!("{key}: {value}");
        layout::set(text, &[self.section, key], value, &[])
            .or_else(|| {
                // A list of several lines is written anew.
                let bare = layout::without(text, &[self.section, key]);
                let bare = bare.unwrap_or_else(|| text.to_owned());
                layout::put_into(&bare, &[self.section], &line)
            })
            .or_else(|| layout::set(text, &[self.section, key], value, &others))
            .or_else(|| layout::put_under(text, self.section, &[line]))
    }

    /// The section as a whole, where all of it is a line in braces.
    fn by_section(&self) -> Option<String> {
        let bare = layout::without(self.text, &[self.section])?;
        match self.lines().as_slice() {
            [] => Some(bare),
            lines => layout::put_under(&bare, self.section, lines),
        }
    }
}

/// A number or a plain word as it is, and anything else in quotes, so that it is one value.
fn word(said: Option<&String>) -> Option<String> {
    let said = said?.trim();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    if !said.is_empty() && said.chars().all(is_plain) {
        Some(said.to_owned())
    } else {
        Some(quoted(said))
    }
}

fn items(said: &[String]) -> String {
    let items: Vec<String> = said.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}

fn list(said: &[String]) -> Option<String> {
    (!said.is_empty()).then(|| items(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(scope: &str, folders: &[&str], network: bool) -> PolicyEdit {
        PolicyEdit::Reach {
            scope: Some(scope.to_owned()),
            folders: folders.iter().map(|it| (*it).to_owned()).collect(),
            network,
        }
    }

    fn limits(tokens: Option<&str>, answers: Option<&str>) -> PolicyEdit {
        PolicyEdit::Limits {
            tokens: tokens.map(str::to_owned),
            answers: answers.map(str::to_owned),
            same_call: None,
        }
    }

    const TEXTS: [&str; 5] = [
        "",
        "# mine\nmodel: m   # usual\n",
        "consent:\n  # how\n  mode: ask   # of flows\n  deny: ['rm *']   # never\ntools:\n  # far\n  scope: project   # wide\n  folders: [/a, ~/b]   # these\n  irreversible: [make ship]   # no way back\nlimits:\n  tokens: none   # free\nnotify:\n  command: [mail, me]   # tells\n",
        "tools:\n  scope: project\n  folders:\n    - /a   # one\n  network: true\nmodel: m\n",
        "consent: { mode: partial }\nlimits: { answers: 30 }\nnotify: { command: [mail] }\n",
    ];

    #[test]
    fn what_is_said_for_all_flows_is_set_and_taken_out_and_nothing_else_moves() {
        let set = [
            PolicyEdit::Mode(Some("full".to_owned())),
            reach("full", &["/srv/books", "/a b"], true),
            reach("sandboxed", &[], false),
            limits(Some("1000"), Some("9")),
            PolicyEdit::Notify {
                command: vec!["notify-send".to_owned(), "a \"flow\"".to_owned()],
                on: vec!["done".to_owned()],
            },
        ];
        for text in TEXTS {
            for policy in &set {
                let after = with_policy(text, policy).unwrap();
                assert_eq!(
                    with_policy(&after, policy).as_deref(),
                    Ok(&*after),
                    "{text}"
                );
                assert!(
                    said_of(&after, policy).starts_with(policy.section()),
                    "{after}"
                );
                for comment in ["# mine", "# usual", "# never", "# no way back", "# how"] {
                    assert_eq!(text.contains(comment), after.contains(comment), "{after}");
                }
            }
            let mut bare = text.to_owned();
            for policy in [
                PolicyEdit::Mode(None),
                PolicyEdit::Reach {
                    scope: None,
                    folders: vec![],
                    network: false,
                },
                limits(None, None),
                PolicyEdit::Notify {
                    command: vec![],
                    on: vec![],
                },
            ] {
                bare = with_policy(&bare, &policy).unwrap();
            }
            assert_eq!(parse_consent(&bare).unwrap().mode, None, "{bare}");
            assert_eq!(parse_notify(&bare), Ok(None), "{bare}");
            assert_eq!(parse_limits(&bare), parse_limits(""), "{bare}");
            let kept = parse_tools(text).unwrap().irreversible;
            assert_eq!(parse_tools(&bare).unwrap().irreversible, kept, "{bare}");
        }
    }

    #[test]
    fn one_value_changes_in_its_line_and_its_comment_stays() {
        let text = TEXTS[2];
        let after = with_policy(text, &PolicyEdit::Mode(Some("partial".to_owned()))).unwrap();
        assert_eq!(after, text.replace("mode: ask ", "mode: partial "));
        let after = with_policy(text, &reach("project", &["/a", "/c"], false)).unwrap();
        assert_eq!(after, text.replace("[/a, ~/b]", "[\"/a\", \"/c\"]"));
        let after = with_policy(text, &limits(Some("7"), None)).unwrap();
        assert_eq!(after, text.replace("tokens: none", "tokens: 7"));
    }

    #[test]
    fn what_means_nothing_is_refused_in_words_that_name_its_place() {
        let rows = [
            (PolicyEdit::Mode(Some("wide".to_owned())), "`mode`"),
            (reach("galaxy", &[], false), "`scope`"),
            (reach("sandboxed", &["/a"], false), "`folders`"),
            (reach("project", &["a"], false), "a folder"),
            (limits(Some("many: yes"), None), "`tokens`"),
            (limits(None, Some("0")), "`answers`"),
            (
                PolicyEdit::Notify {
                    command: vec![],
                    on: vec!["done".to_owned()],
                },
                "`command`",
            ),
            (
                PolicyEdit::Notify {
                    command: vec!["mail".to_owned()],
                    on: vec!["ready".to_owned()],
                },
                "`on`",
            ),
        ];
        for (policy, place) in rows {
            let Err(ConfigEditFault::Unfit(faults)) = with_policy(TEXTS[2], &policy) else {
                panic!("{policy:?} is taken");
            };
            assert!(faults[0].message.contains(place), "{policy:?}: {faults:?}");
        }
        let faulty = with_policy("limits: 3\n", &limits(Some("7"), None));
        assert!(
            matches!(faulty, Err(ConfigEditFault::Faulty(_))),
            "{faulty:?}"
        );
    }
}
