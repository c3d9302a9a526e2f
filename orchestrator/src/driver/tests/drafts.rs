//! What is streamed, as the journal and the feed have it.

use a_society_facts::fact::turn::DraftKind;
use a_society_facts::view::feed::ItemKind;
use a_society_flow::machine::Work;
use a_society_in_memory::FaultyDisk;
use a_society_roles::turn::step::{StepReply, TurnStep};

use super::{HELLO, at, begin, finish, store};
use crate::driver::attempt::{Heard, Start};
use crate::driver::core::Core;
use crate::driver::unrecorded_text::Ahead;
use crate::mint::SeededMint;
use crate::run::reopen;

const SCRIPT: &str = r"
default: forward
script:
  - node: ask
    say:
      - reasoning: One line is enough.
      - stream: { text: 'I write one line, and no more than that.', pieces: 4 }
      - forward: A wish.
";

/// The kinds of what the owner's feed shows of what was streamed, in order.
fn streamed(core: &Core) -> Vec<ItemKind> {
    let feed = core.flow().views().feed(&"owner".parse().unwrap()).unwrap();
    let kinds = feed.items().map(|item| item.kind);
    let is_streamed = |kind: &ItemKind| matches!(kind, ItemKind::Reasoning | ItemKind::Assistant);
    kinds.filter(is_streamed).collect()
}

/// Begins the first turn.
fn first_turn(core: &mut Core) -> (Start, StepReply) {
    let starts = core.advance().unwrap();
    (starts.into_iter().next().unwrap(), StepReply::Begin)
}

/// Walks a turn until it streams its next piece of this kind, and says which.
fn next_piece(
    core: &mut Core,
    (start, told): &mut (Start, StepReply),
    wanted: DraftKind,
) -> String {
    loop {
        let step = start.taker.next(std::mem::replace(told, StepReply::Begin));
        let piece = if let TurnStep::Draft { kind, text } = &step {
            Some(text.clone()).filter(|_| *kind == wanted)
        } else {
            None
        };
        let Heard::Go(next) = core.step(start.turn, start.attempt, step).unwrap() else {
            panic!("the turn is over: {:?}", core.pending());
        };
        *told = next;
        if let Some(piece) = piece {
            return piece;
        }
    }
}

/// Walks the first turn until it streams its first piece of this kind, and lets a second pass.
fn until_streamed(core: &mut Core, wanted: DraftKind) {
    let mut turn = first_turn(core);
    next_piece(core, &mut turn, wanted);
    for _ in 0..1_000 {
        core.tick().unwrap();
    }
    assert!(matches!(core.pending()[..], [Work::RunTurn { .. }]));
}

#[test]
fn what_was_thought_before_a_word_comes_before_it_however_slowly_both_stream() {
    let mut core = begin(&FaultyDisk::new(), HELLO, SCRIPT);
    until_streamed(&mut core, DraftKind::Text);
    assert_eq!(streamed(&core), [ItemKind::Reasoning, ItemKind::Assistant]);
}

#[test]
fn thoughts_are_seen_while_they_stream() {
    let mut core = begin(&FaultyDisk::new(), HELLO, SCRIPT);
    until_streamed(&mut core, DraftKind::Reasoning);
    assert_eq!(streamed(&core), [ItemKind::Reasoning]);
}

#[test]
fn a_thought_that_a_crash_cut_off_is_marked_and_nothing_waits_for_it() {
    let disk = FaultyDisk::new();
    let mut core = begin(&disk, HELLO, SCRIPT);
    until_streamed(&mut core, DraftKind::Reasoning);
    let flow = at(&core);
    let dead = disk.kill_clone();
    drop(core);
    let mint = Box::new(SeededMint(2));
    let opened = reopen(&store(&dead), &flow, "/w/project".into(), mint);
    let mut core = opened.unwrap().0;
    finish(&mut core);
    let feed = core.flow().views().feed(&"owner".parse().unwrap()).unwrap();
    let thoughts = feed.items().filter(|item| item.kind == ItemKind::Reasoning);
    let marks: Vec<_> = thoughts
        .map(|item| (item.pending, item.interrupted))
        .collect();
    assert_eq!(marks, [(false, true), (false, false)]);
}

#[test]
fn whoever_looks_on_learns_what_is_in_no_record_yet_and_after_which_it_comes() {
    let mut core = begin(&FaultyDisk::new(), HELLO, SCRIPT);
    let mut turn = first_turn(&mut core);
    assert!(!core.live.take_streamed());
    next_piece(&mut core, &mut turn, DraftKind::Text);
    assert!(core.live.take_streamed() && !core.live.take_streamed());
    // Without an observer, text waits for its batch; an observer makes it begin.
    let before = core.flow().position().seq;
    assert_eq!(core.ahead().unwrap(), []);
    let begun = core.flow().position().seq;
    assert_eq!(begun, before + 1);
    let mut text = next_piece(&mut core, &mut turn, DraftKind::Text);
    text += &next_piece(&mut core, &mut turn, DraftKind::Text);
    // The end of the first piece was held back, because its last word could have become a secret.
    text.insert_str(0, "on");
    let ahead = Ahead {
        role: "owner".parse().unwrap(),
        after: begun,
        text,
    };
    for _ in 0..2 {
        assert_eq!(core.ahead().unwrap(), std::slice::from_ref(&ahead));
        assert_eq!(core.flow().position().seq, begun);
    }
    // With its record it is ahead of nothing any more.
    for _ in 0..1_000 {
        core.tick().unwrap();
    }
    assert_eq!(core.flow().position().seq, begun + 1);
    assert_eq!(core.ahead().unwrap(), []);
}
