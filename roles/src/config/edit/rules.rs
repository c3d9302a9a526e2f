//! Rules about calls that are put in or taken out.

use super::super::{ConsentConfig, parse_consent};
use super::{ConfigEditFault, layout, quoted};

/// Which list a rule is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSide {
    /// What runs without asking.
    Allow,
    /// What never runs.
    Deny,
}

impl RuleSide {
    /// Its key.
    #[must_use]
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }

    const fn of(self, config: &mut ConsentConfig) -> &mut Vec<String> {
        match self {
            Self::Allow => &mut config.rules.allow,
            Self::Deny => &mut config.rules.deny,
        }
    }
}

const CONSENT: &str = "consent";

/// The configuration with a rule more. One that is there already is not put in twice.
///
/// # Errors
///
/// When it is faulty or would be, or the text is laid out otherwise.
pub fn with_rule(text: &str, list: RuleSide, rule: &str) -> Result<String, ConfigEditFault> {
    let mut expected = parse_consent(text).map_err(ConfigEditFault::Faulty)?;
    if list.of(&mut expected).iter().any(|known| known == rule) {
        return Ok(text.to_owned());
    }
    list.of(&mut expected).push(rule.to_owned());
    let (key, item) = (list.word(), quoted(rule));
    let line = format!("{key}: [{item}]");
    let ways = [
        layout::with_item(text, &[CONSENT, key], &item),
        layout::put_into(text, &[CONSENT], &line),
        layout::set(text, &[CONSENT, key], &format!("[{item}]"), &["mode"]),
        layout::put_under(text, CONSENT, &[line]),
    ];
    let by_hand =
        || ConfigEditFault::Unclear(format!("under `{CONSENT}`, put {item} into `{key}`"));
    chosen(ways, &expected).map_err(|faults| faults.unwrap_or_else(by_hand))
}

/// The configuration without a rule.
///
/// # Errors
///
/// When it is faulty, there is no such rule, or the text is laid out otherwise.
pub fn without_rule(text: &str, list: RuleSide, rule: &str) -> Result<String, ConfigEditFault> {
    let mut expected = parse_consent(text).map_err(ConfigEditFault::Faulty)?;
    let rules = list.of(&mut expected);
    let Some(at) = rules.iter().position(|known| known == rule) else {
        return Err(ConfigEditFault::NoRule {
            rule: rule.to_owned(),
            list: list.word(),
            others: rules.clone(),
        });
    };
    rules.remove(at);
    let is_empty = rules.is_empty();
    let key = list.word();
    let item = layout::without_item(text, &[CONSENT, key], at);
    let whole = layout::without(text, &[CONSENT, key]);
    let all = layout::without(text, &[CONSENT]);
    let ways = if is_empty {
        [whole, all, item, None]
    } else {
        [item, None, None, None]
    };
    let by_hand =
        || ConfigEditFault::Unclear(format!("take `{rule}` out of `{key}` under `{CONSENT}`"));
    chosen(ways, &expected).map_err(|faults| faults.unwrap_or_else(by_hand))
}

/// The first way whose result is what is expected. If there is none, the fault of the first of them.
fn chosen(
    ways: [Option<String>; 4],
    expected: &ConsentConfig,
) -> Result<String, Option<ConfigEditFault>> {
    let mut wrong = None;
    for way in ways.into_iter().flatten() {
        match parse_consent(&way) {
            Ok(now) if now == *expected => return Ok(way),
            Ok(_) => {}
            Err(faults) => wrong = wrong.or(Some(ConfigEditFault::Unfit(faults))),
        }
    }
    Err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_put_in_and_taken_out_however_the_lists_are_written() {
        let rows = [
            "",
            "# mine\nmodel: m\n",
            "# mine\nconsent:\n  mode: partial   # usual\n# end\n",
            "consent:\n  allow: ['pytest *', web]   # mine\n  deny:\n    # never\n    - 'rm *'   # really\nmodel: m\n",
            "consent: { mode: ask }\n",
            "consent:\n    deny:\n    - web\n",
        ];
        for text in rows {
            for list in [RuleSide::Allow, RuleSide::Deny] {
                let after = with_rule(text, list, "git add *").unwrap();
                let lines = text.lines().filter(|line| line.contains('#'));
                for line in lines.map(|line| line.split('#').nth(1).unwrap()) {
                    assert!(after.contains(line), "{line}: {after}");
                }
                assert_eq!(with_rule(&after, list, "git add *"), Ok(after.clone()));
                let without = without_rule(&after, list, "git add *").unwrap();
                assert_eq!(parse_consent(&without), parse_consent(text), "{without}");
            }
        }
        let text = rows[3];
        let after = without_rule(text, RuleSide::Allow, "pytest *").unwrap();
        assert_eq!(after, text.replace("'pytest *', ", ""));
        let after = with_rule(text, RuleSide::Deny, "web").unwrap();
        assert_eq!(
            after,
            text.replace("# really\n", "# really\n    - \"web\"\n")
        );
        let after = without_rule(&after, RuleSide::Deny, "rm *").unwrap();
        assert_eq!(
            after,
            text.replace("    - 'rm *'   # really\n", "    - \"web\"\n")
        );
    }

    #[test]
    fn what_is_no_rule_or_is_not_there_is_refused() {
        let refused = with_rule("", RuleSide::Allow, "everything").unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
        let refused = with_rule("", RuleSide::Allow, "env *").unwrap_err();
        assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
        let refused =
            without_rule("consent: { deny: [web] }\n", RuleSide::Deny, "edits").unwrap_err();
        assert!(
            matches!(refused, ConfigEditFault::NoRule { .. }),
            "{refused:?}"
        );
        let faulty = with_rule("consent: 3\n", RuleSide::Deny, "web").unwrap_err();
        assert!(matches!(faulty, ConfigEditFault::Faulty(_)), "{faulty:?}");
    }
}
