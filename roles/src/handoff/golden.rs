//! The golden table: texts as roles write them, and what each of them means.
//!
//! A row is a sentence, a text, and what is read from it. Outcomes are written as
//! `review=out.md, legal=b.md` or as their signal; faults as their code, their line, and a part of
//! their message.

use proptest::prelude::*;

use super::limits::{MAX_BLOCK_BYTES, MAX_TARGETS};
use super::*;

/// Rows of a sentence, a text, and what is read from it.
pub(super) type Table = &'static [(&'static str, &'static str, &'static str)];

fn shown(text: &str) -> String {
    match parse_outcome(text) {
        Ok(RoleOutcome::Handoff(targets)) => {
            let target = |target: &NamedTarget| {
                format!("{}={}", target.target_node_id, target.artifact_path)
            };
            targets.iter().map(target).collect::<Vec<_>>().join(", ")
        }
        Ok(RoleOutcome::PromptHuman) => "prompt-human".into(),
        Ok(RoleOutcome::AwaitHandoff) => "await-handoff".into(),
        Ok(RoleOutcome::ForwardPassClosed) => "forward-pass-closed".into(),
        Ok(RoleOutcome::MetaAnalysisComplete { findings_path }) => format!("meta {findings_path}"),
        Ok(RoleOutcome::BackwardPassComplete { artifact_path }) => {
            format!("backward {artifact_path}")
        }
        Err(fault) => {
            let span = fault.span.unwrap();
            assert!(
                text.get(span.bytes.clone()).is_some(),
                "{span:?} in {text:?}"
            );
            let line = text[..span.bytes.start].matches('\n').count() + 1;
            assert_eq!(span.line, line, "the line is that of the bytes: {text:?}");
            format!("{} {}: {}", fault.code.word(), span.line, fault.message)
        }
    }
}

/// Compares every row before it fails. A fault's message has to begin as the row says.
pub(super) fn check(table: Table) {
    let wrong: Vec<String> = table
        .iter()
        .filter(|(_, text, expected)| {
            let is_fault = expected.contains('_') && expected.contains(": ");
            let shown = shown(text);
            if is_fault {
                !shown.starts_with(expected)
            } else {
                shown != *expected
            }
        })
        .map(|(name, text, expected)| format!("{name}:\n  {}\n  {expected}", shown(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const FORMS: Table = &[
    (
        "one target",
        "Done.\n\n```handoff\ntarget_node_id: review\nartifact_path: out/a.md\n```\n",
        "review=out/a.md",
    ),
    (
        "one target in a list",
        "```handoff\n- target_node_id: review\n  artifact_path: a.md\n```",
        "review=a.md",
    ),
    (
        "two targets",
        "```handoff\n- target_node_id: review\n  artifact_path: a.md\n- target_node_id: legal\n  artifact_path: b.md\n```",
        "review=a.md, legal=b.md",
    ),
    (
        "the same target twice, which the machine refuses",
        "```handoff\n- {target_node_id: a, artifact_path: b}\n- {target_node_id: a, artifact_path: c}\n```",
        "a=b, a=c",
    ),
    (
        "keys in another order",
        "```handoff\nartifact_path: a.md\ntarget_node_id: review\n```",
        "review=a.md",
    ),
    (
        "as JSON",
        "```handoff\n{\"target_node_id\": \"review\", \"artifact_path\": \"a.md\"}\n```",
        "review=a.md",
    ),
    (
        "as a JSON list",
        "```handoff\n[{\"target_node_id\": \"review\", \"artifact_path\": \"a.md\"}]\n```",
        "review=a.md",
    ),
    (
        "with quotes, comments and blank lines",
        "```handoff\n\n# to the reviewer\ntarget_node_id: 'review'\n\nartifact_path: \"a b.md\"  # new\n\n```",
        "review=a b.md",
    ),
    (
        "a path with a hash and a colon",
        "```handoff\ntarget_node_id: review\nartifact_path: out/a#1:2.md\n```",
        "review=out/a#1:2.md",
    ),
    (
        "a path in another script",
        "```handoff\ntarget_node_id: review\nartifact_path: 出力/ä.md\n```",
        "review=出力/ä.md",
    ),
    (
        "words that YAML 1.1 takes for booleans",
        "```handoff\ntarget_node_id: yes\nartifact_path: no\n```",
        "yes=no",
    ),
    (
        "spaces around a quoted name",
        "```handoff\ntarget_node_id: ' review '\nartifact_path: a.md\n```",
        "review=a.md",
    ),
    (
        "a folded path",
        "```handoff\ntarget_node_id: review\nartifact_path: >-\n  out/a.md\n```",
        "review=out/a.md",
    ),
    (
        "asking the operator",
        "Which one?\n```handoff\ntype: prompt-human\n```",
        "prompt-human",
    ),
    (
        "waiting",
        "```handoff\ntype: await-handoff\n```",
        "await-handoff",
    ),
    (
        "closing",
        "```handoff\ntype: forward-pass-closed\n```",
        "forward-pass-closed",
    ),
    (
        "findings",
        "```handoff\ntype: meta-analysis-complete\nfindings_path: record/findings/owner-findings.md\n```",
        "meta record/findings/owner-findings.md",
    ),
    (
        "a report",
        "```handoff\ntype: backward-pass-complete\nartifact_path: report.md\n```",
        "backward report.md",
    ),
    (
        "a document mark",
        "```handoff\n---\ntype: prompt-human\n```",
        "prompt-human",
    ),
];

#[test]
fn every_form_of_an_outcome_is_read() {
    check(FORMS);
}

const LAST_BLOCKS: Table = &[
    (
        "two blocks",
        "```handoff\ntype: prompt-human\n```\nNo:\n```handoff\ntype: await-handoff\n```",
        "await-handoff",
    ),
    (
        "a bad one before a good one",
        "```handoff\n[\n```\n```handoff\ntype: await-handoff\n```",
        "await-handoff",
    ),
    (
        "a good one before a bad one",
        "```handoff\ntype: await-handoff\n```\n```handoff\ntype: x\n```",
        "unknown_signal_type 5: `x` is no signal",
    ),
    (
        "text after the block",
        "```handoff\ntype: prompt-human\n```\nThat is all.",
        "prompt-human",
    ),
    (
        "another block after it",
        "```handoff\ntype: prompt-human\n```\n```sh\nls\n```\n",
        "prompt-human",
    ),
    (
        "a quoted one after it",
        "```handoff\ntype: prompt-human\n```\n````md\n```handoff\ntype: await-handoff\n```\n````\n",
        "prompt-human",
    ),
    (
        "a quoted one before it",
        "````\n```handoff\ntype: await-handoff\n```\n````\n```handoff\ntype: prompt-human\n```\n",
        "prompt-human",
    ),
    (
        "a quoted one in tildes",
        "~~~\n```handoff\ntype: await-handoff\n```\n~~~\n",
        "missing_block 2: the handoff block in line 2 is inside the block that begins in line 1, and a quoted",
    ),
    (
        "only a quoted one",
        "Tool said:\n````text\n```handoff\ntype: await-handoff\n```\n````\nGood.",
        "missing_block 3: the handoff block in line 3 is inside the block that begins in line 2, and a quoted",
    ),
    (
        "quoted in a block of equal fences",
        "```text\n```handoff\ntype: await-handoff\n```\n",
        "missing_block 2: the handoff block in line 2 is inside",
    ),
    (
        "behind a block that was never closed",
        "```python\nprint(1)\n\n```handoff\ntype: prompt-human\n",
        "missing_block 4: the handoff block in line 4 is inside the block that begins in line 1 and is never closed",
    ),
    (
        "in a block quote",
        "> ```handoff\n> type: prompt-human\n> ```\n",
        "missing_block 1: the handoff block is indented or quoted",
    ),
    (
        "in a list item",
        "- ```handoff\n  type: prompt-human\n  ```\n",
        "missing_block 1: the handoff block is indented or quoted",
    ),
    (
        "a tool's output in a heredoc",
        "~~~sh\ncat <<'E'\n```handoff\ntype: prompt-human\n```\nE\n~~~\n```handoff\ntype: await-handoff\n```\n",
        "await-handoff",
    ),
];

#[test]
fn the_last_block_that_is_not_quoted_counts() {
    check(LAST_BLOCKS);
}

const FENCES: Table = &[
    (
        "tildes",
        "~~~handoff\ntype: prompt-human\n~~~",
        "prompt-human",
    ),
    (
        "long fences",
        "``````handoff\ntype: prompt-human\n``````",
        "prompt-human",
    ),
    (
        "a longer closing fence",
        "```handoff\ntype: prompt-human\n``````",
        "prompt-human",
    ),
    (
        "a shorter fence within",
        "````handoff\ntype: prompt-human\n```\n````",
        "yaml_parse 3: the handoff block is not valid YAML",
    ),
    (
        "CRLF",
        "Done.\r\n```handoff\r\ntarget_node_id: review\r\nartifact_path: a.md\r\n```\r\n",
        "review=a.md",
    ),
    (
        "a space before the tag",
        "``` handoff\ntype: prompt-human\n```",
        "prompt-human",
    ),
    (
        "words after the tag",
        "```handoff yaml\ntype: prompt-human\n```",
        "prompt-human",
    ),
    (
        "three spaces of indentation",
        "   ```handoff\n   type: prompt-human\n   ```",
        "prompt-human",
    ),
    (
        "indented unevenly",
        "  ```handoff\n  target_node_id: a\nartifact_path: b\n ```",
        "a=b",
    ),
    (
        "an indented list",
        " ```handoff\n - target_node_id: a\n   artifact_path: b\n - target_node_id: c\n   artifact_path: d\n ```",
        "a=b, c=d",
    ),
    (
        "four spaces of indentation",
        "    ```handoff\n    type: prompt-human\n    ```",
        "missing_block 1: the handoff block is indented or quoted",
    ),
    (
        "a tab before the fence",
        "\t```handoff\n\ttype: prompt-human\n\t```",
        "missing_block 1: the handoff block is indented or quoted",
    ),
    (
        "a closing fence with a tab behind it",
        "```handoff\ntype: prompt-human\n```\t",
        "prompt-human",
    ),
    (
        "never closed",
        "Done.\n```handoff\ntype: prompt-human\n",
        "prompt-human",
    ),
    (
        "never closed at all",
        "```handoff\ntarget_node_id: review\nartifact_path: out/rep.md",
        "review=out/rep.md",
    ),
    (
        "cut off after a complete one",
        "```handoff\ntype: prompt-human\n```\n```handoff\ntyp",
        "invalid_target_shape 5: the handoff block is",
    ),
    (
        "closed by the wrong letter",
        "```handoff\ntype: prompt-human\n~~~",
        "yaml_parse 3: the handoff block is not valid YAML",
    ),
    (
        "two backticks",
        "``handoff\ntype: prompt-human\n``",
        "missing_block 3: the turn ended without a handoff block",
    ),
    (
        "in the middle of a line",
        "So ```handoff\ntype: prompt-human\n",
        "missing_block 3: the turn ended without a handoff block",
    ),
    (
        "code within a line",
        "```handoff``` is the tag.",
        "missing_block 1: the turn ended without a handoff block",
    ),
];

#[test]
fn fences_are_those_of_commonmark() {
    check(FENCES);
}

const WITHOUT_BLOCK: Table = &[
    (
        "nothing",
        "",
        "missing_block 1: the turn ended without a handoff block",
    ),
    (
        "only words",
        "I am done.\nBye.",
        "missing_block 2: the turn ended without a handoff block",
    ),
    (
        "the block's content without fences",
        "target_node_id: review\nartifact_path: a.md",
        "missing_block 2: the turn ended",
    ),
    (
        "another tag",
        "```sh\ntype: prompt-human\n```",
        "missing_block 3: the turn ended",
    ),
    (
        "data that is no ending",
        "```yaml\ntype: cat\nname: Tom\n```",
        "missing_block 4: the turn ended",
    ),
];

#[test]
fn a_text_without_a_block_says_what_is_there_instead() {
    check(WITHOUT_BLOCK);
}

const UNREADABLE: Table = &[
    (
        "not closed bracket",
        "```handoff\n[a\n```",
        "yaml_parse 2: the handoff block is not valid YAML",
    ),
    (
        "two colons",
        "```handoff\ntarget_node_id: a: b\n```",
        "yaml_parse 2: the handoff block is not valid YAML",
    ),
    (
        "a key twice",
        "```handoff\ntarget_node_id: a\ntarget_node_id: b\nartifact_path: c\n```",
        "yaml_parse 3: the handoff block is not valid YAML: duplicate",
    ),
    (
        "a tab",
        "```handoff\ntype:\n\t- x\n```",
        "yaml_parse 3: the handoff block is not valid YAML",
    ),
    (
        "two documents",
        "```handoff\ntype: prompt-human\n---\ntype: prompt-human\n```",
        "yaml_parse 3: the handoff block is not valid YAML",
    ),
    (
        "an empty block",
        "```handoff\n```",
        "invalid_target_shape 2: the handoff block is empty",
    ),
    (
        "only a comment",
        "```handoff\n# later\n```",
        "invalid_target_shape 2: the handoff block is empty",
    ),
    (
        "a word",
        "```handoff\nreview\n```",
        "invalid_target_shape 2: the handoff block is text; it must be",
    ),
    (
        "a number",
        "```handoff\n42\n```",
        "invalid_target_shape 2: the handoff block is a number",
    ),
    (
        "an empty list",
        "```handoff\n[]\n```",
        "invalid_target_shape 2: the list of targets is empty",
    ),
    (
        "a list of names",
        "```handoff\n- review\n```",
        "invalid_target_shape 2: an item of the list is text",
    ),
    (
        "a signal in a list",
        "```handoff\n- type: prompt-human\n```",
        "invalid_target_shape 2: a signal is in a list",
    ),
    (
        "a target and a signal",
        "```handoff\ntype: prompt-human\ntarget_node_id: a\n```",
        "invalid_target_shape 3: `prompt-human` names a node",
    ),
    (
        "a number as a name",
        "```handoff\ntarget_node_id: 7\nartifact_path: b\n```",
        "invalid_target_shape 2: `target_node_id` of a target is a number; quotes",
    ),
    (
        "names in a list",
        "```handoff\ntarget_node_id: [a, b]\nartifact_path: c\n```",
        "invalid_target_shape 2: `target_node_id` of a target is a list and must be one text",
    ),
    (
        "a mapping around it",
        "```handoff\nhandoff:\n  target_node_id: a\n  artifact_path: b\n```",
        "missing_required_field 2: a target has no `target_node_id`",
    ),
];

#[test]
fn a_block_that_cannot_be_read_says_where_and_why() {
    check(UNREADABLE);
}

const MISSING_AND_UNKNOWN: Table = &[
    (
        "no artifact",
        "```handoff\ntarget_node_id: review\n```",
        "missing_required_field 2: a target has no `artifact_path`",
    ),
    (
        "no target",
        "```handoff\nartifact_path: a.md\n```",
        "missing_required_field 2: a target has no `target_node_id`",
    ),
    (
        "an empty mapping",
        "```handoff\n{}\n```",
        "missing_required_field 2: a target has no `target_node_id`",
    ),
    (
        "no artifact in the second target",
        "```handoff\n- {target_node_id: a, artifact_path: b}\n- {target_node_id: c}\n```",
        "missing_required_field 3: a target has no `artifact_path`",
    ),
    (
        "an empty artifact",
        "```handoff\ntarget_node_id: review\nartifact_path:\n```",
        "missing_required_field 3: `artifact_path` of a target is empty",
    ),
    (
        "a blank target",
        "```handoff\ntarget_node_id: ' '\nartifact_path: a\n```",
        "missing_required_field 2: `target_node_id` of a target is empty",
    ),
    (
        "no findings",
        "```handoff\ntype: meta-analysis-complete\n```",
        "missing_required_field 2: `meta-analysis-complete` has no `findings_path`",
    ),
    (
        "no report",
        "```handoff\ntype: backward-pass-complete\nartifact_path: ''\n```",
        "missing_required_field 3: `artifact_path` of `backward-pass-complete` is empty",
    ),
    (
        "an unknown signal",
        "```handoff\ntype: done\n```",
        "unknown_signal_type 2: `done` is no signal; the signals are `prompt-human`",
    ),
    (
        "a signal with an underscore",
        "```handoff\ntype: prompt_human\n```",
        "unknown_signal_type 2: `prompt_human` is no signal",
    ),
    (
        "a signal that is a list",
        "```handoff\ntype: [prompt-human]\n```",
        "unknown_signal_type 2: `type` is a list",
    ),
    (
        "no signal at all",
        "```handoff\ntype:\n```",
        "unknown_signal_type 2: `type` is nothing",
    ),
];

#[test]
fn a_missing_field_and_an_unknown_signal_are_named() {
    check(MISSING_AND_UNKNOWN);
}

#[test]
fn the_table_has_a_row_for_every_way_a_turn_can_end() {
    let tables = [
        FORMS,
        LAST_BLOCKS,
        FENCES,
        WITHOUT_BLOCK,
        UNREADABLE,
        MISSING_AND_UNKNOWN,
    ];
    let rows: Vec<_> = tables.into_iter().flatten().collect();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    let codes = [
        "missing_block",
        "yaml_parse",
        "invalid_target_shape",
        "missing_required_field",
        "unknown_signal_type",
    ];
    for code in codes {
        assert!(
            rows.iter()
                .any(|(_, _, expected)| expected.starts_with(code)),
            "{code}"
        );
    }
}

#[test]
fn huge_texts_and_blocks_are_quick_and_bounded() {
    let item = "- {target_node_id: a, artifact_path: b}\n";
    let wide = format!("```handoff\n{}```", item.repeat(MAX_TARGETS));
    assert!(
        matches!(parse_outcome(&wide), Ok(RoleOutcome::Handoff(all)) if all.len() == MAX_TARGETS)
    );
    let table = [
        (
            format!("```handoff\n{}```", item.repeat(MAX_TARGETS + 1)),
            FaultCode::InvalidTargetShape,
        ),
        (
            format!("```handoff\n#{}\n```", "x".repeat(MAX_BLOCK_BYTES)),
            FaultCode::InvalidTargetShape,
        ),
        (
            format!("```handoff\n{}\n```", "[".repeat(200_000)),
            FaultCode::YamlParse,
        ),
        (
            format!("```handoff\n{}\n```", "- ".repeat(100_000)),
            FaultCode::YamlParse,
        ),
        (
            format!(
                "```handoff\na: &a [1,2]\nb: [{}]\n```",
                "*a,".repeat(50_000)
            ),
            FaultCode::YamlParse,
        ),
        ("```\n".repeat(1_000_001), FaultCode::MissingBlock),
        (
            "```handoff\n".repeat(500_000),
            FaultCode::InvalidTargetShape,
        ),
        ("> ```handoff\n".repeat(500_000), FaultCode::MissingBlock),
        ("`".repeat(5_000_000), FaultCode::MissingBlock),
    ];
    for (text, code) in table {
        assert_eq!(parse_outcome(&text).unwrap_err().code, code, "{text:.40}");
    }
    let padded = format!(
        "{}\n```handoff\ntype: prompt-human\n```",
        "word ".repeat(2_000_000)
    );
    assert_eq!(parse_outcome(&padded), Ok(RoleOutcome::PromptHuman));
}

#[test]
fn a_bomb_of_aliases_is_stopped() {
    let mut block = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        block += &[
            "a",
            &level.to_string(),
            ": &a",
            &level.to_string(),
            " [",
            &items,
            "]\n",
        ]
        .concat();
    }
    let text = ["```handoff\n", &block, "```"].concat();
    assert_eq!(parse_outcome(&text).unwrap_err().code, FaultCode::YamlParse);
}

/// Pieces of which handoffs are made, so that many texts are nearly right.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "```handoff",
        "~~~handoff",
        "```",
        "~~~",
        "````",
        "\n",
        "\r\n",
        "  ",
        "\t",
        "> ",
        "- ",
        "type: ",
        "prompt-human",
        "target_node_id: a",
        "artifact_path: b",
        "findings_path: c",
        "{",
        "}",
        "[",
        "]",
        ":",
        "&x ",
        "*x",
        "'",
        "\"",
        "ü",
        "\u{feff}",
        "\u{0}",
        "---",
        "|\n",
        "meta-analysis-complete",
        "# ",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        ".{0,200}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn no_text_makes_the_parser_panic_and_every_fault_has_its_place(text in any_text()) {
        let _outcome_or_fault = shown(&text);
    }

    #[test]
    fn whatever_comes_before_a_closed_text_the_last_block_counts(before in any_text()) {
        // A fence that is longer than the text closes nothing but what it opened itself, so that
        // the text is quoted whole.
        let fence = "`".repeat(before.len() + 3);
        let text = format!("{fence}\n{before}\n{fence}\n```handoff\ntype: await-handoff\n```\n");
        prop_assert_eq!(parse_outcome(&text), Ok(RoleOutcome::AwaitHandoff));
    }

    #[test]
    fn any_names_in_quotes_are_read_as_they_were_written(
        targets in prop::collection::vec(("[a-z0-9][a-z0-9_./ -]{0,20}", "out/[^\\pC]{0,20}"), 1..6),
    ) {
        let quoted = |text: &str| text.replace('\'', "''");
        let entry = |(node, path): &(String, String)| {
            format!("- target_node_id: '{}'\n  artifact_path: '{}'\n", quoted(node), quoted(path))
        };
        let block: String = targets.iter().map(entry).collect();
        let expected: Vec<NamedTarget> = targets
            .iter()
            .map(|(node, path)| NamedTarget {
                target_node_id: node.trim().to_owned(),
                artifact_path: path.trim().to_owned(),
            })
            .collect();
        let outcome = parse_outcome(&format!("Done.\n~~~~handoff\n{block}~~~~\n"));
        prop_assert_eq!(outcome, Ok(RoleOutcome::Handoff(expected)));
    }
}
