//! What is kept of conversations goes on in their next requests, and is bounded.

use a_society_facts::message::Message;

use super::*;
use crate::blocks::{Blocks, SaidBlocks};
use crate::speech::{ChatDialect, Wire};
use crate::tests::{request, tools, user};

fn pen(wire: Wire) -> Pen<'static> {
    Pen {
        provider: "p",
        wire,
        dialect: ChatDialect::default(),
    }
}

fn assistant(text: &str) -> HistoryMessage {
    let content = text.to_owned();
    Message::Assistant { content }.into()
}

fn talk(exchanges: usize, bytes: usize) -> Vec<HistoryMessage> {
    let said = (0..exchanges).flat_map(|at| {
        let text = format!("{at} {}", "\u{6f22}\n".repeat(bytes / 4));
        [user(&text), assistant(&text)]
    });
    said.collect()
}

#[test]
fn a_conversation_that_goes_on_is_kept_but_for_its_end() {
    let tools = tools();
    for (wire, open) in [(Wire::Anthropic, 3), (Wire::Chat, 1), (Wire::Responses, 1)] {
        let sent = SentHistories::keeping(usize::MAX);
        let mut history = talk(1, 100);
        for exchange in 0..40 {
            history.push(user(&format!("{exchange}?")));
            sent.write(pen(wire), &request(&history, &tools)).unwrap();
            assert_eq!(sent.kept("flow/owner"), history.len() - open, "{wire}");
            history.push(assistant("."));
        }
        let all = sent.all.lock().unwrap();
        let pieces = &all[0].beginning.pieces;
        assert!(pieces.len() <= 4, "{wire}: {} pieces", pieces.len());
    }
}

#[test]
fn a_long_body_is_the_same_in_pieces_and_so_is_its_hash() {
    let tools = tools();
    for wire in Wire::ALL {
        let sent = SentHistories::default();
        let mut history = talk(8, BODY_PIECES_BYTES_MIN / 8);
        for _ in 0..4 {
            history.push(user("And now?"));
            let request = request(&history, &tools);
            let (body, hash) = sent.write(pen(wire), &request).unwrap();
            let (whole, anew) = SentHistories::default().write(pen(wire), &request).unwrap();
            assert!(body.whole() == whole.whole(), "{wire}");
            assert_eq!((hash, hash), (anew, Hash::of(&body.whole())), "{wire}");
            assert_eq!(body.len(), body.whole().len());
            assert!(body.into_pieces().len() > 1, "{wire}");
            history.push(assistant("Go on."));
        }
    }
}

#[test]
fn a_turn_that_read_its_session_again_writes_only_what_is_new() {
    let tools = tools();
    for wire in Wire::ALL {
        let sent = SentHistories::default();
        let mut history = talk(8, SENT_BYTES_MIN / 4);
        let kept_at =
            |sent: &SentHistories| sent.all.lock().unwrap()[0].beginning.pieces[0].as_ptr();
        sent.write(pen(wire), &request(&history, &tools)).unwrap();
        let first = kept_at(&sent);
        for said in &mut history {
            said.message = Arc::new(Message::clone(&said.message));
        }
        history.push(user("And now?"));
        let request = request(&history, &tools);
        let (body, hash) = sent.write(pen(wire), &request).unwrap();
        assert!(kept_at(&sent) == first, "{wire}: it was written anew");
        let (whole, anew) = SentHistories::default().write(pen(wire), &request).unwrap();
        assert!(
            body.whole() == whole.whole() && hash == anew,
            "{wire}: it is another body"
        );
    }
}

#[test]
fn a_turn_that_read_its_session_again_reads_no_blocks_of_what_was_written_before() {
    let tools = tools();
    let raw = serde_json::value::to_raw_value("a block").unwrap();
    let answered = |at: usize| HistoryMessage {
        blocks: SaidBlocks::of(Blocks {
            provider: "p".into(),
            model: "m-1".into(),
            paused: false,
            blocks: vec![raw.clone()],
        }),
        ..assistant(&at.to_string())
    };
    for wire in Wire::ALL {
        let sent = SentHistories::keeping(usize::MAX);
        let mut history: Vec<HistoryMessage> = (0..16)
            .flat_map(|at| [user("And?"), answered(at)])
            .collect();
        history.push(user("And now?"));
        sent.write(pen(wire), &request(&history, &tools)).unwrap();
        let kept = sent.kept("flow/owner");
        // A session holds the texts of blocks that were not parsed yet.
        let mut again: Vec<HistoryMessage> = history.clone();
        again.extend([answered(16), user("And then?")]);
        sent.write(pen(wire), &request(&again, &tools)).unwrap();
        let were_read =
            |said: &&HistoryMessage| said.blocks.as_ref().is_some_and(SaidBlocks::were_read);
        let before = again[..kept].iter().filter(were_read).count();
        let after = again[kept..].iter().filter(were_read).count();
        assert!(
            kept > 20 && before == 0 && after > 0,
            "{wire}: {before}, {after}"
        );
    }
}

#[test]
fn another_model_begins_anew() {
    let (sent, tools, history) = (SentHistories::keeping(usize::MAX), tools(), talk(4, 100));
    let first = request(&history, &tools);
    sent.write(pen(Wire::Chat), &first).unwrap();
    assert!(sent.kept("flow/owner") > 0);
    for (provider, model) in [("p", "m-2"), ("other", "m-2")] {
        let other = ModelRequest { model, ..first };
        let pen = Pen {
            provider,
            ..pen(Wire::Chat)
        };
        let (body, _) = sent.write(pen, &other).unwrap();
        let (anew, _) = SentHistories::default().write(pen, &other).unwrap();
        assert_eq!(body.whole(), anew.whole());
    }
}

#[test]
fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
    let (sent, tools) = (SentHistories::keeping(12_000), tools());
    let (half, short) = (talk(8, 200), talk(1, 100));
    let write = |key, history: &[HistoryMessage]| {
        let request = ModelRequest {
            cache_key: Some(key),
            ..request(history, &tools)
        };
        sent.write(pen(Wire::Responses), &request).unwrap();
    };
    for key in ["a", "b", "a", "c"] {
        write(key, &half);
    }
    write("d", &short);
    let all = sent.all.lock().unwrap();
    let keys: Vec<&str> = all.iter().map(|last| last.key.as_str()).collect();
    assert_eq!(keys, ["a", "c", "d"]);
}
