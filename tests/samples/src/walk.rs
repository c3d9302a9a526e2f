//! A whole flow, from its creation to its end, with everything that can reasonably happen on the
//! way: questions, consent, a crash in mid-stream, repairs, work sent back, a compaction, a staged
//! handoff, reflection and a report.

use super::ids::id;
use super::scribe::{SampleTurn, Scribe, artifact, delivery, inbound, process, tool_call};
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::budget::{BudgetSet, Measure};
use a_society_facts::fact::flow::FactAuthor;
use a_society_facts::fact::flow::{
    FlowCompleted, FlowPaused, FlowUnpaused, ForwardPassClosed, PauseReason,
};
use a_society_facts::fact::improvement::{
    ChangeDecided, ChangeProposed, FeedbackDecided, FeedbackRecorded, FeedbackStarted,
    FindingsRecorded, ImprovementChosen, ImprovementMode, Reflection, ReflectionStarted,
};
use a_society_facts::fact::journal::{RecoveryRow, RecoveryTruncated, WriterOpened};
use a_society_facts::fact::node::{
    FaultCode, HandoffApplied, HandoffDecided, HandoffStaged, NodeClaimed, NodeEntry,
    NodeSuspended, NodeWoken, RepairRequested, WaitReason,
};
use a_society_facts::fact::operator::{
    ChosenBy, ConsentAnswer, ConsentMode, ConsentModeChanged, ConsentRequested, ConsentResolved,
    Grant, GrantAdded, OperatorReplied, OperatorSteered, RoleConfigured, SteerWhen,
};
use a_society_facts::fact::session::{
    CompactionStarted, Origin, SessionCompacted, SessionResumed, Strategy, Trigger,
};
use a_society_facts::fact::terms::{CommandTerms, ConsentTerms, Scope};
use a_society_facts::fact::turn::{
    CallEnd, Cause, DraftDiscarded, DraftKept, DraftKind, Effect, ModelFailed, TurnEnd, TurnResumed,
};
use a_society_facts::handoff::HandoffWay;
use a_society_facts::message::{AnswerText, BlobText, Text};

/// A legal flow of three roles, from `segment_started` to `flow_completed`.
#[must_use]
pub fn walk() -> Vec<Fact> {
    let mut scribe = Scribe::begin();
    prepare(&mut scribe);
    intake(&mut scribe);
    draft(&mut scribe);
    send_back(&mut scribe);
    correct(&mut scribe);
    review(&mut scribe);
    close(&mut scribe);
    reflect(&mut scribe);
    report(&mut scribe);
    scribe.facts
}

fn prepare(scribe: &mut Scribe) {
    scribe.say(Fact::BudgetSet(BudgetSet {
        role: None,
        measure: Measure::Tokens,
        limit: Some(1_000_000),
        client: Some(id("cli-2")),
    }));
    scribe.say(Fact::RoleConfigured(RoleConfigured {
        role: id("owner"),
        settings: [("model".to_owned(), "scripted".to_owned())].into(),
        by: ChosenBy::Default,
        client: None,
    }));
}

/// The owner asks something, gets the answer, and hands the work to the writer.
fn intake(scribe: &mut Scribe) {
    let mut turn = scribe.enter("owner-intake", "owner", NodeEntry::First, Vec::new());
    scribe.say(Fact::SessionResumed(SessionResumed {
        role: turn.role.clone(),
        turn: Some(turn.id),
    }));
    scribe.request(&mut turn);
    scribe.draft(
        &turn,
        DraftKind::Reasoning,
        "The version is clear, the audience is not.",
    );
    scribe.draft(&turn, DraftKind::Text, "Who reads ");
    scribe.draft(&turn, DraftKind::Text, "these notes?");
    let text = AnswerText::Drafted(a_society_facts::message::ConfirmedDraft::of(
        "Who reads these notes?",
    ));
    scribe.answer(&turn, text, Vec::new(), 800);
    scribe.say(Fact::NodeSuspended(NodeSuspended {
        question: Some(Text::from("Who reads these notes?")),
        ..NodeSuspended::of(
            turn.node.clone(),
            turn.role.clone(),
            WaitReason::PromptHuman,
        )
    }));
    scribe.end(&turn, TurnEnd::Waiting);

    let reply = scribe.next_message();
    scribe.say(Fact::OperatorReplied(OperatorReplied {
        reply: reply.clone(),
        node: turn.node.clone(),
        role: turn.role.clone(),
        text: Text::from("Developers."),
        client: Some(id("browser-1")),
    }));
    let next = scribe.next_turn();
    scribe.say(Fact::NodeClaimed(NodeClaimed {
        node: id("owner-intake"),
        role: turn.role.clone(),
        turn: next,
        entry: NodeEntry::Reply,
        consumed: Vec::new(),
        dropped: Vec::new(),
        replies: vec![reply.clone()],
    }));
    let node = turn.node.clone();
    scribe.message_as(
        reply,
        &turn.role,
        node.as_ref(),
        Origin::Reply,
        "Developers.",
    );
    let mut turn = scribe.begin_turn(next, &turn.role, node.as_ref(), Cause::Node);
    scribe.request(&mut turn);
    let text = AnswerText::Inline("Then the writer can begin.".into());
    scribe.answer(&turn, text, Vec::new(), 900);
    let to_writer = delivery("owner-intake", "draft", HandoffWay::Forward, "brief.md");
    scribe.hand_over(&turn, vec![to_writer]);
}

/// The writer reads, asks for consent to run a command, is cut off by a crash, mends an outcome.
fn draft(scribe: &mut Scribe) {
    let received = vec![inbound("owner-intake", "draft", HandoffWay::Forward)];
    let mut turn = scribe.enter("draft", "writer", NodeEntry::First, received);
    let look = tool_call("3.1", "read_file", r#"{"path":"CHANGES.md"}"#);
    let run = tool_call("3.2", "run_command", r#"{"command":"git log --oneline"}"#);
    scribe.speak(
        &mut turn,
        &["I look at ", "what changed."],
        vec![look.clone(), run.clone()],
    );
    scribe.read(&turn, &look, 0, "1.4: faster, smaller");
    let call = scribe.intend(&turn, &run, 1, Effect::Mutating);
    consent(scribe, &turn, &call);
    scribe.start(&turn, &call, Some(2000));
    let output = Text::Blob(BlobText {
        blob: Hash::of(b"log"),
        bytes: 200_000,
        head: "9c1f03a Make it faster".into(),
    });
    scribe.finish(&turn, &call, &run, CallEnd::Done, output);
    crash(scribe, &mut turn);
    mend(scribe, &mut turn);
    let to_reviewer = delivery("draft", "review", HandoffWay::Forward, "notes-1.md");
    scribe.hand_over(&turn, vec![to_reviewer]);
}

fn consent(scribe: &mut Scribe, turn: &SampleTurn, call: &a_society_facts::id::CallId) {
    let action = Hash::of(b"git log --oneline");
    scribe.say(Fact::ConsentRequested(ConsentRequested {
        consent: id("k1"),
        call: call.clone(),
        role: turn.role.clone(),
        node: turn.node.clone(),
        tool: "run_command".into(),
        action,
        shown: Text::from("git log --oneline"),
        terms: Some(ConsentTerms::Command(CommandTerms {
            folder: ".".into(),
            scope: Scope::Sandboxed,
            network: false,
            missing: Vec::new(),
            bare: Some(false),
            limit_ms: 120_000,
            background: false,
        })),
        narrowed: false,
        doubt: None,
        anew: false,
    }));
    scribe.say(Fact::NodeSuspended(NodeSuspended {
        consent: Some(id("k1")),
        ..NodeSuspended::of(turn.node.clone(), turn.role.clone(), WaitReason::Consent)
    }));
    scribe.say(Fact::ConsentResolved(ConsentResolved {
        consent: id("k1"),
        answer: ConsentAnswer::AllowFlow,
        action,
        by: None,
        beforehand: None,
        reason: None,
        client: Some(id("browser-2")),
    }));
    scribe.say(Fact::ConsentModeChanged(ConsentModeChanged {
        mode: ConsentMode::PartialAccess,
        client: None,
    }));
    scribe.say(Fact::GrantAdded(GrantAdded {
        grant: Grant::Command("git log --oneline".into()),
    }));
    scribe.say(Fact::NodeWoken(NodeWoken {
        on_time: false,
        client: None,
        node: turn.node.clone(),
        role: turn.role.clone(),
        reason: WaitReason::Consent,
    }));
}

/// The process ends in mid-stream, and another one goes on.
fn crash(scribe: &mut Scribe, turn: &mut SampleTurn) {
    scribe.request(turn);
    scribe.draft(turn, DraftKind::Text, "The notes: ");
    scribe.draft(turn, DraftKind::Text, "faster, sm");
    scribe.say(Fact::WriterOpened(WriterOpened {
        process: process(1001),
    }));
    scribe.say(Fact::RecoveryTruncated(RecoveryTruncated {
        row: RecoveryRow::R2,
        segment: 1,
        offset_bytes: 9_000,
        cut_bytes: 57,
        hash: Hash::of(b"cut"),
        quarantine: "00000001-9000".into(),
    }));
    turn.attempt += 1;
    scribe.say(Fact::TurnResumed(TurnResumed {
        turn: turn.id,
        attempt: turn.attempt,
        role: turn.role.clone(),
    }));
    let message = scribe.next_message();
    scribe.say(Fact::DraftKept(DraftKept {
        turn: turn.id,
        role: turn.role.clone(),
        request: turn.request,
        message,
    }));
    let node = turn.node.clone();
    scribe.message(
        &turn.role,
        node.as_ref(),
        Origin::Continuation,
        "Go on where you stopped.",
    );
}

fn mend(scribe: &mut Scribe, turn: &mut SampleTurn) {
    scribe.request(turn);
    scribe.draft(turn, DraftKind::Text, "all");
    scribe.say(Fact::ModelFailed(ModelFailed {
        turn: turn.id,
        attempt: turn.attempt,
        role: turn.role.clone(),
        request: turn.request,
        class: "overloaded".into(),
        error: "The provider is busy".into(),
        retry_in_ms: Some(500),
    }));
    scribe.say(Fact::DraftDiscarded(DraftDiscarded {
        turn: turn.id,
        role: turn.role.clone(),
        request: turn.request,
        why: "the request is sent again".into(),
    }));
    scribe.speak(turn, &["aller. Done."], Vec::new());
    scribe.say(Fact::RepairRequested(RepairRequested {
        role: turn.role.clone(),
        node: turn.node.clone(),
        turn: turn.id,
        code: FaultCode::MissingBlock,
        summary: "There was no handoff block.".into(),
        count: 1,
    }));
    let node = turn.node.clone();
    scribe.message(
        &turn.role,
        node.as_ref(),
        Origin::Repair,
        "End with a handoff block.",
    );
    scribe.speak(turn, &["Handed to review."], Vec::new());
}

/// The reviewer wants a correction.
fn send_back(scribe: &mut Scribe) {
    let received = vec![inbound("draft", "review", HandoffWay::Forward)];
    let mut turn = scribe.enter("review", "reviewer", NodeEntry::First, received);
    scribe.speak(&mut turn, &["The size is missing."], Vec::new());
    let back = delivery("draft", "review", HandoffWay::Backward, "remarks.md");
    scribe.hand_over(&turn, vec![back]);
}

/// The writer takes it up again; its session is compacted first.
fn correct(scribe: &mut Scribe) {
    let received = vec![inbound("draft", "review", HandoffWay::Backward)];
    let mut turn = scribe.enter("draft", "writer", NodeEntry::Reopened, received);
    scribe.say(Fact::CompactionStarted(CompactionStarted {
        role: turn.role.clone(),
        compaction: "k-1".into(),
        trigger: Trigger::Auto,
        strategy: Strategy::NodeSummary,
        client: None,
    }));
    let aside = scribe.next_turn();
    let mut summary = scribe.begin_turn(aside, &turn.role, None, Cause::Compaction);
    scribe.speak(
        &mut summary,
        &["Notes were written and sent back."],
        Vec::new(),
    );
    scribe.end(&summary, TurnEnd::Outcome);
    let message = scribe.next_message();
    scribe.say(Fact::SessionCompacted(SessionCompacted {
        role: turn.role.clone(),
        compaction: "k-1".into(),
        trigger: Trigger::Auto,
        strategy: Strategy::NodeSummary,
        node: turn.node.clone(),
        message,
        replacement: Text::from("So far: notes were written and sent back. Now: mention the size."),
        kept_first: 0,
        kept_last: 0,
        tokens_before: 2_000,
        tokens_after: None,
        why: None,
    }));
    scribe.speak(&mut turn, &["Now with the size."], Vec::new());
    let to_reviewer = delivery("draft", "review", HandoffWay::Forward, "notes-2.md");
    scribe.hand_over(&turn, vec![to_reviewer]);
}

/// The reviewer is content; the operator says a word to it and then about its handoff.
fn review(scribe: &mut Scribe) {
    let received = vec![inbound("draft", "review", HandoffWay::Forward)];
    let mut turn = scribe.enter("review", "reviewer", NodeEntry::Again, received);
    let look = tool_call("7.1", "read_file", r#"{"path":"notes-2.md"}"#);
    scribe.speak(&mut turn, &[], vec![look.clone()]);
    let steer = scribe.next_message();
    scribe.say(Fact::OperatorSteered(OperatorSteered {
        steer: steer.clone(),
        role: turn.role.clone(),
        text: Text::from("Check the date too."),
        when: SteerWhen::Queue,
        client: Some(id("browser-3")),
    }));
    scribe.read(&turn, &look, 0, "faster, smaller, by 12 MB");
    let node = turn.node.clone();
    scribe.message_as(
        steer,
        &turn.role,
        node.as_ref(),
        Origin::Steer,
        "Check the date too.",
    );
    scribe.speak(
        &mut turn,
        &["The date is right. ", "It can go out."],
        Vec::new(),
    );
    stage(scribe, &turn);
}

fn stage(scribe: &mut Scribe, turn: &SampleTurn) {
    let on = vec![delivery(
        "review",
        "owner-close",
        HandoffWay::Forward,
        "approved.md",
    )];
    scribe.say(Fact::HandoffStaged(HandoffStaged {
        approval: id("a1"),
        node: id("review"),
        turn: turn.id,
        deliveries: on.clone(),
    }));
    scribe.say(Fact::NodeSuspended(NodeSuspended {
        approval: Some(id("a1")),
        ..NodeSuspended::of(
            turn.node.clone(),
            turn.role.clone(),
            WaitReason::HandoffApproval,
        )
    }));
    scribe.end(turn, TurnEnd::Waiting);
    scribe.say(Fact::HandoffDecided(HandoffDecided {
        approval: id("a1"),
        approved: true,
        client: Some(id("browser-4")),
    }));
    scribe.say(Fact::HandoffApplied(HandoffApplied {
        node: id("review"),
        turn: turn.id,
        deliveries: on,
        approval: Some(id("a1")),
    }));
}

fn close(scribe: &mut Scribe) {
    scribe.say(Fact::FlowPaused(FlowPaused {
        client: None,
        reason: PauseReason::Operator,
        detail: None,
    }));
    scribe.say(Fact::FlowUnpaused(FlowUnpaused {
        client: None,
        by: FactAuthor::Operator,
    }));
    let received = vec![inbound("review", "owner-close", HandoffWay::Forward)];
    let mut turn = scribe.enter("owner-close", "owner", NodeEntry::First, received);
    scribe.speak(&mut turn, &["Everything is there."], Vec::new());
    scribe.say(Fact::SessionResumed(SessionResumed {
        role: id("owner"),
        turn: Some(turn.id),
    }));
    scribe.say(Fact::ForwardPassClosed(ForwardPassClosed {
        node: id("owner-close"),
    }));
    scribe.end(&turn, TurnEnd::Outcome);
}

/// Writer and reviewer reflect, the writer with a question, then the owner.
fn reflect(scribe: &mut Scribe) {
    let reflection = |role: &str, after: &[&str]| Reflection {
        role: id(role),
        after: after.iter().map(|role| id(role)).collect(),
    };
    scribe.say(Fact::ImprovementChosen(ImprovementChosen {
        mode: ImprovementMode::Parallel,
        plan: vec![
            reflection("writer", &[]),
            reflection("reviewer", &[]),
            reflection("owner", &["writer", "reviewer"]),
        ],
        beforehand: false,
        client: Some(id("browser-5")),
    }));
    ask_while_reflecting(scribe);
    for role in ["writer", "reviewer", "owner"] {
        let replies = match role {
            "writer" => vec![id("reflection-reply")],
            _ => Vec::new(),
        };
        let mut turn = begin_reflection(scribe, role, replies);
        scribe.speak(&mut turn, &["What went well, what did not."], Vec::new());
        scribe.say(Fact::FindingsRecorded(FindingsRecorded {
            role: turn.role.clone(),
            turn: turn.id,
            findings: artifact(&format!("findings/{role}-findings.md")),
        }));
        scribe.end(&turn, TurnEnd::Outcome);
    }
    scribe.say(Fact::ChangeProposed(ChangeProposed {
        change: "change-1".into(),
        role: id("writer"),
        path: "a-docs/roles/writer/main.md".into(),
        before: Some(Hash::of(b"before")),
        after: Text::from("Mention sizes."),
        finding: None,
        client: None,
    }));
    scribe.say(Fact::ChangeDecided(ChangeDecided {
        change: "change-1".into(),
        applied: true,
        client: Some(id("browser-6")),
    }));
}

fn begin_reflection(
    scribe: &mut Scribe,
    role: &str,
    replies: Vec<a_society_facts::id::MessageId>,
) -> SampleTurn {
    let turn = scribe.next_turn();
    scribe.say(Fact::ReflectionStarted(ReflectionStarted {
        role: id(role),
        turn,
        replies: replies.clone(),
    }));
    match replies.into_iter().next() {
        Some(reply) => scribe.message_as(reply, &id(role), None, Origin::Reply, "About both."),
        None => scribe.message(
            &id(role),
            None,
            Origin::Improvement,
            "Look back on your work.",
        ),
    }
    scribe.begin_turn(turn, &id(role), None, Cause::Reflection)
}

fn ask_while_reflecting(scribe: &mut Scribe) {
    let mut turn = begin_reflection(scribe, "writer", Vec::new());
    scribe.speak(&mut turn, &["About the first draft or both?"], Vec::new());
    scribe.say(Fact::NodeSuspended(NodeSuspended {
        question: Some(Text::from("About the first draft or both?")),
        ..NodeSuspended::of(None, turn.role.clone(), WaitReason::PromptHuman)
    }));
    scribe.end(&turn, TurnEnd::Waiting);
    scribe.say(Fact::OperatorReplied(OperatorReplied {
        reply: id("reflection-reply"),
        node: None,
        role: turn.role.clone(),
        text: Text::from("About both."),
        client: Some(id("browser-7")),
    }));
}

/// A role of its own writes the report, and the flow is done.
fn report(scribe: &mut Scribe) {
    scribe.say(Fact::FeedbackDecided(FeedbackDecided {
        granted: true,
        beforehand: false,
        client: Some(id("browser-8")),
    }));
    let role = id("feedback");
    let turn = scribe.next_turn();
    scribe.say(Fact::FeedbackStarted(FeedbackStarted {
        role,
        turn,
        replies: Vec::new(),
    }));
    let role = id("feedback");
    scribe.session(&role);
    scribe.message(
        &role,
        None,
        Origin::Improvement,
        "Write the report from all findings.",
    );
    let mut turn = scribe.begin_turn(turn, &role, None, Cause::Feedback);
    scribe.speak(&mut turn, &["The report."], Vec::new());
    scribe.say(Fact::FeedbackRecorded(FeedbackRecorded {
        turn: turn.id,
        report: artifact("feedback.md"),
    }));
    scribe.end(&turn, TurnEnd::Outcome);
    scribe.say(Fact::FlowCompleted(FlowCompleted {}));
}
