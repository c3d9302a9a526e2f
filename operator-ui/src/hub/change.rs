//! What an edit that waits for the operator would change, for the list of all flows: it holds no
//! journal, so this one call is looked up, once.

use std::ops::ControlFlow;

use a_society_facts::Fact;
use a_society_facts::id::CallId;
use a_society_facts::view::flow::OpenCall;
use a_society_state::{FlowRef, Store};

use crate::fold::edit::{Edit, is_edit};
use crate::fold::limits::{ARGUMENTS_BYTES_MAX, CHANGE};
use crate::protocol::ask::Diff;

/// A call of a flow.
pub(super) type Place = (FlowRef, CallId);

/// What an open call would change in a file, as its journal says it.
pub(super) fn change_of(store: &Store, (flow, id): &Place, call: &OpenCall) -> Option<Diff> {
    if !is_edit(&call.tool) {
        return None;
    }
    let (mut input, mut edit) = (None, None);
    // What is good before some damage tells as much.
    let read = store.follow(flow).ok()?.read_while(&mut |recorded| {
        match recorded.fact() {
            Some(Fact::ModelAnswered(f)) if f.role == call.role => {
                let mut calls = f.calls.iter();
                let asked = calls.find(|asked| asked.id == call.tool_call);
                let asked = asked.map(|asked| asked.input.get());
                let asked = asked.filter(|asked| asked.len() <= ARGUMENTS_BYTES_MAX);
                input = asked.map(str::to_owned).or(input.take());
            }
            Some(Fact::CallIntended(f)) if f.call == *id => {
                edit = input.as_ref().and_then(|input| Edit::of(f, input));
                return ControlFlow::Break(());
            }
            Some(_) | None => {}
        }
        ControlFlow::Continue(())
    });
    drop(read);
    let place = store.place(flow);
    edit.map(|edit| edit.compared_with(&|hash| place.text_of(hash), &CHANGE).0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a_society_facts::line::read;
    use a_society_facts::view::{FactView, flow::FlowState};
    use a_society_facts::{Recorded, id::FlowId};
    use a_society_state::clock::SystemClock;
    use a_society_state::disk::RealDisk;
    use a_society_state::layout::FlowFolder;
    use a_society_state::{Ground, process};

    use super::*;
    use crate::protocol::ask::Op;

    const JOURNAL: &str = include_str!("../../tests/journals/fan-out.jsonl");

    /// A workspace with the journal up to its second call, and the state it then has.
    fn stage(folder: &tempfile::TempDir) -> (Store, FlowRef, FlowState) {
        let second = |line: &&str| line.contains("\"call_intended\",\"call\":\"1.2\"");
        let upto = JOURNAL.lines().position(|line| second(&line)).unwrap();
        let lines: Vec<&str> = JOURNAL.lines().take(upto + 1).collect();
        let mut state = FlowState::default();
        for line in &lines {
            let (frame, body) = read(&mut line.as_bytes().to_vec()).unwrap();
            state.apply(&Recorded {
                seq: frame.seq,
                at: frame.at,
                body,
            });
        }
        let id: FlowId = "20261121T145750724Z-39nge3".parse().unwrap();
        let root = folder.path().join("state/demo").join(id.as_str());
        let segment = FlowFolder::at(root).segment(1);
        std::fs::create_dir_all(segment.parent().unwrap()).unwrap();
        std::fs::write(segment, lines.join("\n") + "\n").unwrap();
        let disk = Arc::new(RealDisk);
        let ground = Ground {
            process: process::this(disk.as_ref()),
            disk,
            clock: Arc::new(SystemClock::default()),
            ledger: None,
        };
        let flow = FlowRef {
            project: "demo".parse().unwrap(),
            flow: id,
        };
        (Store::new(ground, folder.path().join("state")), flow, state)
    }

    #[test]
    fn the_list_finds_in_the_journal_what_an_open_call_would_write() {
        let folder = tempfile::tempdir().unwrap();
        let (store, flow, state) = stage(&folder);
        let id: CallId = "1.2".parse().unwrap();
        let call = &state.calls[&id];
        let place = (flow, id);
        let diff = change_of(&store, &place, call).unwrap();
        let lines: Vec<(Op, &str)> = (diff.hunks.iter())
            .flat_map(|hunk| &hunk.lines)
            .map(|line| (line.op, line.text.as_str()))
            .collect();
        assert_eq!(diff.path, "brief-usage.md");
        assert_eq!(lines, [(Op::Add, "How to use it every day.")]);
        let command = OpenCall {
            tool: "run_command".to_owned(),
            ..call.clone()
        };
        assert_eq!(change_of(&store, &place, &command), None);
    }
}
