//! Blocks in other forms than ours, whose meaning is certain.

use super::golden::{Table, check};
use super::*;

const LIBERAL: Table = &[
    (
        "a capital letter",
        "```Handoff\ntype: prompt-human\n```",
        "prompt-human",
    ),
    (
        "a hyphen",
        "x\n```hand-off\ntype: prompt-human\n```",
        "prompt-human",
    ),
    (
        "a format before the tag",
        "```yaml handoff\ntarget_node_id: review\nartifact_path: a.md\n```",
        "review=a.md",
    ),
    (
        "a format alone, with the right keys",
        "Done.\n```yaml\ntarget_node_id: review\nartifact_path: a.md\n```\n",
        "review=a.md",
    ),
    (
        "between tags",
        "Done.\n<handoff>\ntarget_node_id: review\nartifact_path: a.md\n</handoff>\n",
        "review=a.md",
    ),
    (
        "between tags on one line",
        "<handoff>type: await-handoff</handoff>",
        "await-handoff",
    ),
    (
        "tags in a quotation",
        "```text\n<handoff>\ntype: await-handoff\n</handoff>\n```",
        "missing_block 5: the turn ended",
    ),
    (
        "a key of its own",
        "```handoff\ntarget_node_id: review\nartifact_path: a.md\nnote: look at this\n```",
        "review=a.md",
    ),
    (
        "marks around the values",
        "```handoff\ntarget_node_id: `review`\nartifact_path: `a b.md`\n```",
        "review=a b.md",
    ),
    (
        "marks within quotes",
        "```handoff\ntarget_node_id: \"`review`\"\nartifact_path: a.md\n```",
        "review=a.md",
    ),
    (
        "short keys",
        "```handoff\ntarget: review\nartifact: a.md\n```",
        "review=a.md",
    ),
    (
        "other joints",
        "```handoff\ntargetNodeId: review\nartifact-path: a.md\n```",
        "review=a.md",
    ),
    (
        "a type that says the same",
        "```handoff\ntype: handoff\ntarget_node_id: review\nartifact_path: a.md\n```",
        "review=a.md",
    ),
    (
        "the arguments of the call",
        "```handoff\n{\"targets\": [{\"target_node_id\": \"review\", \"artifact_path\": \"a.md\"}]}\n```",
        "review=a.md",
    ),
];

#[test]
fn another_form_of_certain_meaning_counts() {
    check(LIBERAL);
}

#[test]
fn in_an_answer_that_was_cut_off_only_a_closed_block_counts() {
    let cut = "```handoff\ntarget_node_id: review\nartifact_path: out/rep";
    let fault = parse_cut_outcome(cut).unwrap_err();
    assert_eq!(fault.code, FaultCode::MissingBlock);
    assert!(parse_cut_outcome(&format!("{cut}ort.md\n```\n")).is_ok());
}
