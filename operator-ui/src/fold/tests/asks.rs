//! What is asked: every kind of it, and the same for everyone who shows it.

use a_society_facts::fact::flow::PauseReason;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::node::{WaitReason, with_choices};
use a_society_facts::view::{FactView as _, flow::FlowState};
use a_society_facts::{At, Verb, Whom};
use a_society_orchestrator::graph;
use a_society_orchestrator::machine::{self, OperatorQuestion, Work};
use a_society_samples::{recorded, walk};
use proptest::prelude::*;

use super::*;
use crate::fold::asks::{OpenAsk, answers, decided, open};

fn wait(reason: WaitReason) -> OperatorQuestion {
    OperatorQuestion::Text {
        node: Some("draft".parse().unwrap()),
        role: "writer".parse().unwrap(),
        reason,
    }
}

fn consent() -> OperatorQuestion {
    OperatorQuestion::Consent {
        consent: "k1".parse().unwrap(),
        node: Some("draft".parse().unwrap()),
        role: "writer".parse().unwrap(),
    }
}

/// The keys that answer, in their order; a dot where an answer has none.
fn keys(question: &OperatorQuestion, is_for_the_flow: bool, choices: usize) -> String {
    let answers = answers(question, is_for_the_flow, choices).into_iter();
    answers.map(|answer| answer.key.unwrap_or('.')).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn each_kind_of_ask_has_a_name_a_heading_what_it_waits_for_and_the_keys_that_answer() {
    let approval = OperatorQuestion::Approval {
        approval: "a1".parse().unwrap(),
        node: "draft".parse().unwrap(),
    };
    let configuration = OperatorQuestion::Configuration {
        node: None,
        role: "writer".parse().unwrap(),
    };
    let improvement = OperatorQuestion::Improvement {
        modes: vec![
            ImprovementMode::GraphBased,
            ImprovementMode::Parallel,
            ImprovementMode::None,
        ],
    };
    let pause = |reason| OperatorQuestion::Unpause { reason };
    let table = [
        (
            wait(WaitReason::PromptHuman),
            "text/draft",
            "writer needs your answer",
            "your answer",
            ".",
        ),
        (
            wait(WaitReason::AutonomousAbort),
            "text/draft",
            "writer needs you to retry its turn, or to say what to do",
            "you to retry its turn, or to say what to do",
            "yr",
        ),
        (
            wait(WaitReason::ConsentDenied),
            "text/draft",
            "writer needs your guidance after a denial",
            "your guidance after a denial",
            "..",
        ),
        (
            wait(WaitReason::RepairLimit),
            "text/draft",
            "writer needs your guidance: it gave no valid outcome",
            "your guidance: it gave no valid outcome",
            "yr",
        ),
        (
            wait(WaitReason::Budget),
            "text/draft",
            "writer needs a larger budget",
            "a larger budget",
            "...",
        ),
        (
            wait(WaitReason::Provider),
            "text/draft",
            "writer needs help with its provider",
            "help with its provider",
            "yr",
        ),
        (
            consent(),
            "consent/k1",
            "writer wants to use ",
            "your consent to a call",
            "ynr",
        ),
        (
            approval,
            "approval/a1",
            "draft wants to hand over",
            "your approval of a handoff",
            "ynr",
        ),
        (
            configuration,
            "configuration/role:writer",
            "writer needs a model",
            "a model",
            "..",
        ),
        (
            improvement,
            "improvement",
            "The forward work is done",
            "your choice: run a retrospective?",
            "gpn",
        ),
        (
            OperatorQuestion::Feedback,
            "feedback",
            "The findings are written",
            "your choice: write a feedback report?",
            "yn",
        ),
        (
            pause(PauseReason::DiskFull),
            "unpause",
            "The flow is paused",
            "room on the disk",
            "y",
        ),
        (
            OperatorQuestion::Stalled,
            "stalled",
            "Nothing can run, and the work is not done",
            "you to reopen a node or revise the graph: nothing can run, and the work is not done",
            "..",
        ),
    ];
    let state = FlowState::default();
    for (question, name, headline, wants, with) in table {
        let ask = OpenAsk::new(&state, &question);
        assert_eq!(ask.name(), name);
        assert_eq!(ask.headline(), headline);
        assert_eq!(ask.wants(), wants);
        assert_eq!(keys(&question, false, 0), with, "{question:?}");
    }
    assert_eq!(keys(&consent(), true, 0), "yfnr");
    assert_eq!(
        keys(&wait(WaitReason::PromptHuman), false, 10),
        "1234567890r"
    );
}

#[test]
fn a_row_begins_a_line_of_ours_with_a_capital_and_leaves_a_roles_question_as_it_is() {
    let state = FlowState::default();
    for (reason, shown) in [
        (WaitReason::Provider, "The provider was not reached"),
        (WaitReason::PromptHuman, "the provider was not reached"),
    ] {
        let ask = OpenAsk {
            says: Some("the provider was not reached".to_owned()),
            ..OpenAsk::new(&state, &wait(reason))
        };
        assert_eq!(ask.short(), shown, "{reason:?}");
    }
}

#[test]
fn a_key_that_needs_no_text_decides_and_what_it_decides_about_a_call_is_bound_to_what_was_shown() {
    let shown = Hash::of(b"what was shown");
    let offered = ["Drop it.".to_owned(), "y".to_owned()];
    let decides = |question: &OperatorQuestion, key: char| {
        let all = answers(question, true, offered.len());
        let does = all.iter().find(|answer| answer.key == Some(key))?.does;
        decided(question, Some(shown), &offered, does)
    };
    let asks = wait(WaitReason::PromptHuman);
    let draft = || Whom::Node("draft".parse().unwrap());
    assert_eq!(
        decides(&asks, '2'),
        Some(Verb::Reply {
            to: draft(),
            text: "y".to_owned(),
            asked: None
        })
    );
    assert_eq!(decides(&asks, 'r'), None, "a text is typed");
    let failed = wait(WaitReason::Provider);
    assert_eq!(decides(&failed, 'y'), Some(Verb::Retry { to: draft() }));
    for key in ['y', 'f', 'n'] {
        let verb = decides(&consent(), key).unwrap();
        let (Verb::Allow { action, .. } | Verb::Deny { action, .. }) = verb else {
            panic!("{verb:?}")
        };
        assert_eq!(action, Some(shown), "{key}");
    }
    assert_eq!(decides(&consent(), 'r'), None, "a reason is typed");
}

/// The journals of the page's cases, and the samples of facts.
fn all() -> Vec<(String, Vec<Recorded>)> {
    let mut all = journals();
    all.push(("a write that waits".to_owned(), with_a_write_that_waits()));
    all.push(("a walk".to_owned(), recorded(walk()).collect()));
    all
}

/// What is asked behind each record of a journal, with the state there.
fn behind_each(records: &[Recorded]) -> Vec<(FlowState, Vec<Work>)> {
    let mut state = FlowState::default();
    let each = records.iter().map(|recorded| {
        state.apply(recorded);
        let (graph, _) = graph::parse(&state.graph.source.shown(), "workflow.yaml");
        let work = match graph {
            Some(graph) => machine::pending(&graph, &state),
            // The graph of a sample cannot be read.
            None => (state.waits())
                .filter_map(|(node, waiting)| machine::question_of(&state, node, waiting))
                .map(Work::AskOperator)
                .collect(),
        };
        (state.clone(), work)
    });
    each.collect()
}

/// The asks that the page has, in the order of the machine, which is that of the wire.
fn on_the_page(fold: &FlowFold, work: &[Work]) -> Vec<Ask> {
    let asks = fold.asks(work).into_iter();
    asks.filter(|ask| !matches!(ask.kind, AskKind::Stopped {}))
        .collect()
}

#[test]
fn behind_every_record_page_and_terminal_ask_the_same_in_the_same_order() {
    let (mut asked, mut kinds) = (0, std::collections::BTreeSet::new());
    for (name, records) in all() {
        let mut fold = fold();
        for (record, (state, work)) in records.iter().zip(behind_each(&records)) {
            fold.apply(record, &shown);
            let page = on_the_page(&fold, &work);
            let terminal = open(&state, &work);
            let place = format!("{name}, record {}", record.seq);
            let ids: Vec<String> = terminal
                .iter()
                .map(|ask| format!("f/{}", ask.name()))
                .collect();
            let of_page: Vec<&String> = page.iter().map(|ask| &ask.id).collect();
            assert_eq!(of_page, ids.iter().collect::<Vec<_>>(), "{place}");
            for (page, terminal) in page.iter().zip(&terminal) {
                assert_eq!(page.headline, terminal.headline(), "{place}");
                assert_eq!(page.short, terminal.short(), "{place}");
                assert_eq!(page.since, terminal.since.to_string(), "{place}");
                let role = terminal.role.as_ref().map(ToString::to_string);
                assert_eq!(page.role, role, "{place}");
                // What a program gets with the record that asks is the same.
                if let Some(role) = &terminal.role {
                    let alone = OpenAsk::of_wait(&state, terminal.node(), role);
                    assert_eq!(alone.as_ref(), Some(terminal), "{place}");
                }
                kinds.insert(terminal.name().split('/').next().map(str::to_owned));
                asked += 1;
            }
        }
    }
    assert!(asked > 20 && kinds.len() >= 4, "{asked} of {kinds:?}");
}

#[test]
fn an_ask_that_was_answered_elsewhere_is_gone_behind_the_record_of_its_answer() {
    let mut gone = 0;
    for (name, records) in all() {
        let mut before: Vec<OpenAsk> = Vec::new();
        for (record, (state, work)) in records.iter().zip(behind_each(&records)) {
            let now = open(&state, &work);
            if let Some(Fact::ConsentResolved(f)) = record.fact() {
                let is_it = |ask: &OpenAsk| ask.name() == format!("consent/{}", f.consent);
                assert!(!now.iter().any(is_it), "{name}, record {}", record.seq);
                gone += usize::from(before.iter().any(is_it));
            }
            if let Some(Fact::OperatorReplied(f)) = record.fact() {
                let is_it = |ask: &OpenAsk| {
                    matches!(ask.question, OperatorQuestion::Text { .. })
                        && (ask.node(), ask.role.as_ref()) == (f.node.as_ref(), Some(&f.role))
                };
                assert!(!now.iter().any(is_it), "{name}, record {}", record.seq);
                gone += usize::from(before.iter().any(is_it));
            }
            before = now;
        }
    }
    assert!(gone > 0);
}

/// The one thing that is asked at the end of a journal.
pub(super) fn only_ask(records: &[Recorded]) -> Ask {
    let mut fold = fold();
    for recorded in records {
        fold.apply(recorded, &shown);
    }
    let mut asks = (fold.whole().into_values()).filter_map(|part| {
        if let Part::Ask(ask) = part {
            return Some(*ask);
        }
        None
    });
    let ask = asks.next().unwrap();
    assert_eq!(asks.next(), None);
    ask
}

/// A journal whose planner asks, with these words and choices.
fn asking(question: &str, choices: &[String]) -> Vec<Recorded> {
    let (_, mut records) = journals().remove(2);
    for recorded in &mut records {
        if let Some(Fact::NodeSuspended(mut waits)) = recorded.fact().cloned()
            && waits.role.as_str() == "planner"
        {
            waits.own_turn = Some(false);
            waits.question = Some(Text::from(with_choices(question, choices)));
            waits.choices = choices.to_vec();
            *recorded = Recorded::new(recorded.seq, recorded.at, Fact::NodeSuspended(waits));
        }
    }
    records
}

#[test]
fn a_second_question_of_a_node_is_another_one_than_the_first() {
    let mut records = asking("First?", &[]);
    let last = records.len() - 1;
    let Some(place) = records
        .iter()
        .rposition(|recorded| matches!(recorded.fact(), Some(Fact::NodeSuspended(_))))
    else {
        panic!("it waits")
    };
    let Some(Fact::NodeSuspended(mut again)) = records[place].fact().cloned() else {
        unreachable!("it was looked for")
    };
    again.question = Some(Text::from("Second?"));
    let (seq, at) = (records[last].seq + 1, records[last].at);
    let later = At::from_ms(at.ms() + 1_000);
    records.push(Recorded::new(seq, later, Fact::NodeSuspended(again)));
    let states = behind_each(&records);
    let asked = [&states[last], &states[last + 1]].map(|(state, work)| open(state, work).remove(0));
    assert_eq!(asked[0].name(), asked[1].name());
    assert_ne!(asked[0].since, asked[1].since);
    assert_eq!(asked.map(|ask| ask.short()), ["First?", "Second?"]);
}

#[test]
fn a_question_brings_its_choices_as_data_and_in_its_text() {
    let offered = ["Drop it.", "<b>2</b> keep both\u{202e}"].map(str::to_owned);
    let ask = only_ask(&asking("Which one?", &offered));
    assert_eq!(ask.short, "Which one?");
    let AskKind::Text {
        question, choices, ..
    } = &ask.kind
    else {
        panic!("{ask:?}")
    };
    assert_eq!(*choices, offered);
    assert!(
        question.starts_with("Which one?\n\n1. Drop it.\n2. "),
        "{question}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a role calls its choices, a digit sends the one that bears it, and nothing else decides.
    #[test]
    fn no_text_of_a_choice_changes_what_a_key_decides(
        offered in prop::collection::vec("\\PC{1,40}|y|n|allow|1", 1..10),
        key in any::<char>(),
    ) {
        let states = behind_each(&asking("Which?", &offered));
        let (state, work) = states.last().unwrap();
        let ask = open(state, work).remove(0);
        prop_assert_eq!(&ask.choices, &offered);
        let found = ask.answers().into_iter().find(|answer| answer.key == Some(key));
        let verb = found.and_then(|it| decided(&ask.question, None, &ask.choices, it.does));
        let at = key.to_digit(10).filter(|_| key.is_ascii()).and_then(|digit| digit.checked_sub(1));
        let wanted = at.and_then(|at| offered.get(at as usize)).cloned();
        let said = match verb {
            Some(Verb::Reply { text, .. }) => Some(text),
            None => None,
            Some(other) => panic!("{other:?}"),
        };
        prop_assert_eq!(said, wanted);
    }
}
