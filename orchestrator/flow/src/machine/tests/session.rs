//! Table N: what is done to a session between its turns.

use a_society_facts::Fact;
use a_society_facts::fact::session::{MessageAdded, Origin, SessionCompacted, Strategy, Trigger};
use a_society_facts::fact::turn::Usage;
use a_society_facts::id::{NodeId, RoleInstance};
use a_society_facts::view::Views;
use a_society_facts::{At, Recorded};

use super::support::{Flow, id};
use crate::machine::session::{SessionAside, SessionChange, SessionLengths, decide, last_task};
use crate::machine::{Input, TurnEnding, TurnTask};

fn role() -> RoleInstance {
    id("owner")
}

fn told(flow: &mut Flow, text: &str) {
    let message = id(&format!("s{}", flow.mint()));
    flow.append(Fact::MessageAdded(MessageAdded {
        role: role(),
        message,
        text: text.into(),
        origin: Origin::Injection,
        node: Some(id("a")),
        client: None,
        request: None,
    }));
}

/// A role that got so many messages and waits.
fn waits(messages: usize) -> Flow {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    for number in 0..messages {
        told(&mut flow, &format!("note {number}"));
    }
    flow.ends("a", TurnEnding::asks());
    flow
}

fn compact(trigger: Trigger, by_model: bool) -> SessionChange {
    SessionChange::Compact {
        compaction: "k1".into(),
        trigger,
        by_model,
        wish: None,
    }
}

fn restore(archive: &str) -> SessionChange {
    SessionChange::Restore {
        archive: archive.into(),
    }
}

/// The words of the facts that follow, which are taken, or why none do.
fn done(flow: &mut Flow, change: SessionChange) -> String {
    let mut views = Views::default();
    for (seq, fact) in (1..).zip(&flow.facts) {
        views.apply(&Recorded::new(seq, At::from_ms(0), fact.clone()));
    }
    let session = views.session(&role());
    match decide(&flow.state, &role(), session, change, None) {
        Ok(facts) => {
            facts.iter().for_each(|fact| flow.append(fact.clone()));
            facts.iter().map(Fact::word).collect::<Vec<_>>().join(" ")
        }
        Err(refusal) => refusal.to_string(),
    }
}

/// The compaction that is under way leads to an archive.
fn compacted(flow: &mut Flow, archive: &str) {
    let (turn, _) = flow.state.aside_turn_of(&role()).unwrap();
    let aside = SessionAside { turn, role: role() };
    let ended = aside.ended(&flow.state, "compaction", None);
    ended.into_iter().for_each(|fact| flow.append(fact));
    let message = id(&format!("s{}", flow.mint()));
    flow.append(Fact::SessionCompacted(SessionCompacted {
        role: role(),
        compaction: archive.into(),
        trigger: Trigger::Manual,
        strategy: Strategy::NodeSummary,
        node: None,
        message,
        replacement: "In short.".into(),
        kept_first: 0,
        kept_last: 0,
        tokens_before: 0,
        tokens_after: None,
        why: None,
    }));
}

#[test]
fn n1_n2_a_session_is_compacted_between_turns_if_that_gains_anything() {
    const BEGINS: &str = "compaction_started turn_started";
    let none = Flow::on("a:owner z:owner", "a>z");
    let mut at_work = Flow::on("a:owner z:owner", "a>z");
    at_work.claim("a").unwrap();
    told(&mut at_work, "go");
    told(&mut at_work, "on");
    let mut compacting = waits(2);
    assert_eq!(
        done(&mut compacting, compact(Trigger::Manual, true)),
        BEGINS
    );
    let open = "the session of owner: a turn of it is open; let it end, or stop it";
    let short = "the session of owner: there is nothing in it to compact";
    let program =
        "the session of owner: its turns are not taken by a model, so its length costs nothing";
    let twice = "the session of owner: it is being compacted already";
    let table = [
        (
            none,
            Trigger::Manual,
            true,
            "the session of owner: it has none",
        ),
        (at_work.clone(), Trigger::Manual, true, open),
        (at_work, Trigger::Auto, true, BEGINS),
        (waits(1), Trigger::Manual, true, short),
        (waits(2), Trigger::Manual, false, program),
        (waits(2), Trigger::Manual, true, BEGINS),
        (compacting, Trigger::Manual, true, twice),
    ];
    for (number, (mut flow, trigger, by_model, expected)) in table.into_iter().enumerate() {
        assert_eq!(
            done(&mut flow, compact(trigger, by_model)),
            expected,
            "row {number}"
        );
    }
}

#[test]
fn n3_an_archive_is_restored_once_its_summary_is_in_no_other_archive() {
    let mut flow = waits(2);
    let missing = |names: &str| format!("the session of owner: there is no archive \"k9\"{names}");
    assert_eq!(done(&mut flow, restore("k9")), missing(", nor any other"));
    done(&mut flow, compact(Trigger::Manual, true));
    compacted(&mut flow, "k1");
    assert_eq!(done(&mut flow, restore("k9")), missing("; there are: k1"));
    told(&mut flow, "more");
    let again = SessionChange::Compact {
        compaction: "k2".into(),
        trigger: Trigger::Manual,
        by_model: true,
        wish: None,
    };
    done(&mut flow, again);
    compacted(&mut flow, "k2");
    let within =
        "the session of owner: its summary is itself in the archive k2; restore that one first";
    assert_eq!(done(&mut flow, restore("k1")), within);
    assert_eq!(done(&mut flow, restore("k2")), "archive_restored");
    assert_eq!(done(&mut flow, restore("k1")), "archive_restored");
}

#[test]
fn n4_a_compaction_that_a_crash_cut_off_is_over() {
    let mut flow = waits(2);
    done(&mut flow, compact(Trigger::Manual, true));
    assert_eq!(flow.words(Input::Opened), "turn_ended compaction_failed");
    assert_eq!(flow.words(Input::Opened), "");
    // The turn was ended, and the compaction was not.
    let mut flow = waits(2);
    done(&mut flow, compact(Trigger::Manual, true));
    let (turn, _) = flow.state.aside_turn_of(&role()).unwrap();
    let aside = SessionAside { turn, role: role() };
    let ended = aside.ended(&flow.state, "compaction", Some("no".into()));
    ended.into_iter().for_each(|fact| flow.append(fact));
    assert_eq!(flow.words(Input::Opened), "compaction_failed");
}

#[test]
fn a_turn_beside_a_session_ends_with_its_request_failed_or_answered() {
    use a_society_facts::fact::turn::ModelRequested;
    let words = |facts: &[Fact]| facts.iter().map(Fact::word).collect::<Vec<_>>().join(" ");
    let mut flow = waits(2);
    done(&mut flow, compact(Trigger::Manual, true));
    let (turn, _) = flow.state.aside_turn_of(&role()).unwrap();
    let aside = SessionAside { turn, role: role() };
    let error = || Some("no".to_owned());
    assert_eq!(
        words(&aside.ended(&flow.state, "compaction", error())),
        "turn_ended"
    );
    flow.append(Fact::ModelRequested(ModelRequested {
        turn,
        attempt: 1,
        role: role(),
        request: 1,
        model: "m".into(),
        hash: a_society_facts::Hash::of(b"request"),
        frame: None,
    }));
    let failed = aside.ended(&flow.state, "compaction", error());
    assert_eq!(words(&failed), "model_failed turn_ended");
    let answered = aside.answered(&flow.state, id("m9"), String::new(), Usage::default());
    flow.append(answered);
    assert_eq!(
        words(&aside.ended(&flow.state, "compaction", None)),
        "turn_ended"
    );
}

#[test]
fn n5_the_last_task_of_a_session_is_its_reflection_or_a_node_that_the_graph_has() {
    let flow = waits(1);
    let table = [
        (Some("a"), Some(TurnTask::Node(id("a")))),
        (Some("gone"), None),
        (None, None),
    ];
    for (node, expected) in table {
        let node: Option<NodeId> = node.map(id);
        assert_eq!(
            last_task(&flow.graph, &flow.state, &role(), node.as_ref()),
            expected
        );
    }
}

#[test]
fn a_history_that_is_replaced_counts_the_tokens_that_are_left_by_its_lengths() {
    let flow = waits(6);
    let mut views = Views::default();
    for (seq, fact) in (1..).zip(&flow.facts) {
        views.apply(&Recorded::new(seq, At::from_ms(0), fact.clone()));
    }
    let mut session = views.session(&role()).cloned().unwrap();
    let mut left = |used: u64, before: usize, after: usize| {
        session.latest_context_usage = used;
        let change = SessionChange::Shorten {
            compaction: "k1".into(),
            trigger: Trigger::Auto,
            strategy: Strategy::NodeSummary,
            message: id("s9"),
            replacement: "What was done.".into(),
            kept_first: 0,
            kept_last: 1,
            lengths: SessionLengths { before, after },
            why: None,
        };
        let facts = decide(&flow.state, &role(), Some(&session), change, None).unwrap();
        match facts.as_slice() {
            [Fact::SessionCompacted(f)] => (f.tokens_before, f.tokens_after, f.node.clone()),
            other => panic!("{other:?}"),
        }
    };
    let node = Some(id("a"));
    assert_eq!(left(1_000, 400, 100), (1_000, Some(250), node.clone()));
    // What grew is not taken to have become longer than it was.
    assert_eq!(left(1_000, 400, 900), (1_000, Some(1_000), node.clone()));
    assert_eq!(left(0, 400, 100), (0, None, node));
}

#[test]
fn a_compaction_that_led_to_nothing_says_why() {
    let mut flow = waits(6);
    done(&mut flow, compact(Trigger::Manual, true));
    let change = SessionChange::LeaveAsItIs {
        compaction: "k1".into(),
        why: "the budget is used up".into(),
    };
    assert_eq!(done(&mut flow, change), "compaction_failed");
    assert!(flow.state.session(&role()).unwrap().compaction.is_none());
}

fn trim(keep: u64) -> SessionChange {
    SessionChange::Trim {
        archive: "t1".into(),
        keep,
    }
}

fn reset() -> SessionChange {
    SessionChange::Reset {
        archive: "r1".into(),
        session: id("s-2"),
    }
}

/// The node `a` ended with a question, after what the role was given, asked and found.
fn has_worked() -> Flow {
    let mut flow = Flow::on("a:owner z:owner", "a>z");
    flow.claim("a").unwrap();
    let given = |flow: &mut Flow, name: &str, origin| {
        flow.append(Fact::MessageAdded(MessageAdded {
            role: role(),
            message: id(name),
            text: name.into(),
            origin,
            node: Some(id("a")),
            client: None,
            request: None,
        }));
    };
    given(&mut flow, "packet", Origin::Entry);
    for name in ["one", "two"] {
        given(&mut flow, name, Origin::Consultation);
        given(&mut flow, &format!("note-{name}"), Origin::Runtime);
    }
    flow.ends("a", TurnEnding::asks());
    flow
}

#[test]
fn n6_a_trim_keeps_the_last_message_of_a_person_and_the_packet_of_the_node_under_way() {
    let last = |keep: u64| {
        let mut flow = has_worked();
        assert_eq!(done(&mut flow, trim(keep)), "messages_trimmed");
        match flow.facts.last() {
            Some(Fact::MessagesTrimmed(f)) => (f.kept_last, f.kept.clone()),
            other => panic!("{other:?}"),
        }
    };
    let packet = vec![id("packet")];
    // One message is the note behind what a person said last.
    for (keep, kept_last) in [(0, 2), (1, 2), (2, 2), (3, 3)] {
        assert_eq!(last(keep), (kept_last, packet.clone()), "keep {keep}");
    }
    for keep in [4, 5, u64::MAX] {
        assert_eq!(done(&mut has_worked(), trim(keep)), "", "keep {keep}");
    }
    let mut at_work = Flow::on("a:owner z:owner", "a>z");
    at_work.claim("a").unwrap();
    told(&mut at_work, "go");
    let open = "the session of owner: a turn of it is open; let it end, or stop it";
    assert_eq!(done(&mut at_work, trim(0)), open);
    assert_eq!(done(&mut at_work, reset()), open);
}

#[test]
fn n7_a_role_whose_node_is_under_way_is_not_reset() {
    let why = "the session of owner: the node a is under way and what it was given is in the session; \
               make it shorter with compact or trim, or let the node end";
    assert_eq!(done(&mut has_worked(), reset()), why);
}

#[test]
fn n3_what_was_trimmed_last_is_restored_first() {
    let mut flow = has_worked();
    assert_eq!(done(&mut flow, trim(3)), "messages_trimmed");
    let again = SessionChange::Trim {
        archive: "t2".into(),
        keep: 2,
    };
    assert_eq!(done(&mut flow, again), "messages_trimmed");
    let before =
        "the session of owner: later messages are in the archive t2; restore that one first";
    assert_eq!(done(&mut flow, restore("t1")), before);
    assert_eq!(done(&mut flow, restore("t2")), "archive_restored");
    assert_eq!(done(&mut flow, restore("t1")), "archive_restored");
}

#[test]
fn n9_a_message_is_put_into_a_session_at_any_time_and_starts_nothing() {
    use a_society_facts::fact::session::Speaker;
    let inject = |name: &str| SessionChange::Inject {
        speaker: Speaker::User,
        words: crate::machine::OperatorWords {
            text: "Beside it.".into(),
            message: id(name),
        },
        opens: None,
    };
    let mut none = Flow::on("a:owner z:owner", "a>z");
    assert_eq!(
        done(&mut none, inject("x1")),
        "the session of owner: it has none"
    );
    let mut at_work = Flow::on("a:owner z:owner", "a>z");
    at_work.claim("a").unwrap();
    told(&mut at_work, "go");
    for mut flow in [at_work, waits(1)] {
        let before = flow.pending();
        assert_eq!(done(&mut flow, inject("x1")), "message_injected");
        assert_eq!(done(&mut flow, inject("x2")), "message_injected");
        assert_eq!(flow.pending(), before);
    }
    let mut compacting = waits(2);
    done(&mut compacting, compact(Trigger::Manual, true));
    let twice = "the session of owner: it is being compacted already";
    assert_eq!(done(&mut compacting, inject("x1")), twice);
}

#[test]
fn n2_a_session_that_is_to_stay_as_it_is_is_not_compacted_and_a_node_summary_keeps_nothing() {
    use a_society_facts::fact::session::CompactionWish;
    let wish = CompactionWish {
        strategy: Strategy::Truncate,
        keep_first: 0,
        keep_last: Some(1),
        token_threshold: None,
        tool_output_max_chars: None,
        hard_limit_tokens: None,
    };
    let wished = |messages: usize, wish: CompactionWish| {
        let change = SessionChange::Compact {
            compaction: "k1".into(),
            trigger: Trigger::Manual,
            by_model: true,
            wish: Some(wish),
        };
        done(&mut waits(messages), change)
    };
    let begins = "compaction_started turn_started";
    let summary = Strategy::NodeSummary;
    let keeps = "the session of owner: node_summary replaces everything; llm summarizes what is between the \
                 messages that stay";
    let with = |change: &dyn Fn(&mut CompactionWish)| {
        let mut wish = wish;
        change(&mut wish);
        wish
    };
    let table = [
        (wish, begins),
        (with(&|wish| wish.keep_last = None), ""),
        (with(&|wish| wish.keep_first = 5), ""),
        (with(&|wish| wish.token_threshold = Some(1_000)), ""),
        (with(&|wish| wish.strategy = summary), keeps),
        (
            with(&|wish| (wish.strategy, wish.keep_last) = (summary, None)),
            begins,
        ),
    ];
    for (wish, expected) in table {
        assert_eq!(wished(6, wish), expected, "{wish:?}");
    }
}
