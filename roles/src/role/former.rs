//! Paths of earlier places: a flow that was moved, copied or forked still speaks of the folder it
//! once had. The id of a flow is its own, so such a path can mean only one file.

use a_society_facts::id::FlowId;

/// The folders between a workspace and the folder of a flow's project.
const STATE: [&str; 2] = [".a-society", "state"];

/// The name of the folder with the files of a flow.
const RECORD: &str = "record";

/// What a path into the record folder of one of these flows means now: `record/...`. Nothing, if it
/// is no such path.
#[must_use]
pub fn within_record(written: &str, flows: &[FlowId]) -> Option<String> {
    let names: Vec<&str> = written.split('/').collect();
    let is_state = |at: &usize| names.get(*at..*at + STATE.len()) == Some(&STATE[..]);
    let state = (0..names.len()).rev().find(is_state)?;
    // The name of the project is in between.
    let [_, flow, record, rest @ ..] = names.get(state + STATE.len()..)? else {
        return None;
    };
    let is_ours = flows.iter().any(|ours| ours.as_str() == *flow);
    let is_file = rest.iter().any(|name| !name.is_empty());
    (is_ours && *record == RECORD && is_file).then(|| format!("{RECORD}/{}", rest.join("/")))
}

/// How earlier versions, and the program whose flows are imported, named the record folder in a system
/// prompt.
const NAMED: [&str; 2] = ["The record folder of this flow is `", "Record folder: "];

/// Whether a kept system prompt names another folder than this as the record folder of its flow.
#[must_use]
pub fn speaks_of_another_folder(prompt: &str, record: &str) -> bool {
    NAMED.iter().any(|before| {
        let named = prompt
            .find(before)
            .and_then(|at| prompt.get(at + before.len()..));
        let end = |letter: char| letter == '`' || letter == '\n';
        let named = named.and_then(|rest| rest.split(end).next());
        named.is_some_and(|named| named.starts_with('/') && named.trim_end_matches('/') != record)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_into_the_record_folder_of_these_flows_are_understood() {
        let flow: FlowId = "20260527T143000123Z-a1b2c3".parse().unwrap();
        let means = |written: &str| within_record(written, std::slice::from_ref(&flow));
        for written in [
            "/old/place/.a-society/state/demo/20260527T143000123Z-a1b2c3/record/deep/x.md",
            ".a-society/state/demo/20260527T143000123Z-a1b2c3/record/deep/x.md",
        ] {
            assert_eq!(means(written).as_deref(), Some("record/deep/x.md"));
        }
        for written in [
            "/old/.a-society/state/demo/20260527T143000123Z-ffffff/record/x.md",
            "/old/.a-society/state/demo/20260527T143000123Z-a1b2c3/journal/x",
            "/old/.a-society/state/demo/20260527T143000123Z-a1b2c3/record/",
            "/old/.a-society/state/demo/20260527T143000123Z-a1b2c3/record",
            "record/x.md",
            ".a-society/state",
            "",
        ] {
            assert_eq!(means(written), None, "{written}");
        }
    }

    #[test]
    fn a_prompt_of_an_earlier_version_says_which_folder_it_meant() {
        let prompt = "You work.\n\nThe record folder of this flow is `/w/record`. Write there.";
        assert!(!speaks_of_another_folder(prompt, "/w/record"));
        assert!(speaks_of_another_folder(prompt, "/new/record"));
        assert!(speaks_of_another_folder(
            "Record folder: /w/record\n",
            "/new/record"
        ));
        assert!(!speaks_of_another_folder(
            "`record/` is the shared folder.",
            "/new/record"
        ));
    }
}
