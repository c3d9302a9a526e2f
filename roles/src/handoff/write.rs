//! Writing the block that ends a turn, for takers that are no models.

use super::outcome::{NamedTarget, RoleOutcome};

/// The block that says this outcome, as [`super::parse_outcome`] reads it. Control characters,
/// which no name or path may have, become spaces.
pub(crate) fn handoff_block(outcome: &RoleOutcome) -> String {
    let body = match outcome {
        RoleOutcome::Handoff(targets) => match targets.as_slice() {
            [one] => target_lines(one).join("\n"),
            several => several.iter().map(list_item).collect::<Vec<_>>().join("\n"),
        },
        RoleOutcome::PromptHuman => "type: prompt-human".to_owned(),
        RoleOutcome::AwaitHandoff => "type: await-handoff".to_owned(),
        RoleOutcome::ForwardPassClosed => "type: forward-pass-closed".to_owned(),
        RoleOutcome::MetaAnalysisComplete { findings_path } => format!(
            "type: meta-analysis-complete\nfindings_path: {}",
            plain(findings_path)
        ),
        RoleOutcome::BackwardPassComplete { artifact_path } => format!(
            "type: backward-pass-complete\nartifact_path: {}",
            plain(artifact_path)
        ),
    };
    fenced(&body)
}

fn target_lines(target: &NamedTarget) -> [String; 2] {
    [
        format!("target_node_id: {}", plain(&target.target_node_id)),
        format!("artifact_path: {}", plain(&target.artifact_path)),
    ]
}

fn list_item(target: &NamedTarget) -> String {
    let [first, second] = target_lines(target);
    format!("- {first}\n  {second}")
}

/// A name or path without quotes where YAML reads it as text anyway, because people read it too.
fn plain(text: &str) -> String {
    let fits =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '/' | '.');
    let begins_as_text = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    if begins_as_text && !is_word && text.chars().all(fits) {
        text.to_owned()
    } else {
        in_quotes(text)
    }
}

/// A path as YAML text; JSON's quoting of these letters is YAML's.
pub(super) fn in_quotes(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(if letter.is_control() { ' ' } else { letter });
    }
    out.push('"');
    out
}

/// A text as a handoff block.
pub(crate) fn fenced(body: &str) -> String {
    format!("```handoff\n{}\n```\n", body.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{parse_outcome, words_before_block};
    use super::*;

    fn outcomes() -> impl Strategy<Value = RoleOutcome> {
        let word = "[a-zA-Z0-9#:@ü\\\\\"'/._~*&!-]{1,20}";
        let target = (word, word).prop_map(|(node, path)| NamedTarget {
            target_node_id: node,
            artifact_path: path,
        });
        prop_oneof![
            prop::collection::vec(target, 1..5).prop_map(RoleOutcome::Handoff),
            Just(RoleOutcome::PromptHuman),
            Just(RoleOutcome::AwaitHandoff),
            Just(RoleOutcome::ForwardPassClosed),
            word.prop_map(|findings_path| RoleOutcome::MetaAnalysisComplete { findings_path }),
            word.prop_map(|artifact_path| RoleOutcome::BackwardPassComplete { artifact_path }),
        ]
    }

    proptest! {
        #[test]
        fn every_outcome_is_read_back_from_its_block(outcome in outcomes()) {
            let text = format!("Done.\n\n{}", handoff_block(&outcome));
            prop_assert_eq!(parse_outcome(&text), Ok(outcome));
            prop_assert_eq!(words_before_block(&text), "Done.");
        }
    }

    #[test]
    fn names_that_are_words_of_yaml_are_quoted_and_others_are_not() {
        let table = [
            ("review", "review"),
            ("notes/a_b-2.md", "notes/a_b-2.md"),
            ("true", "\"true\""),
            ("12", "\"12\""),
            ("a: b", "\"a: b\""),
            ("", "\"\""),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text), expected, "{text}");
        }
    }
}
