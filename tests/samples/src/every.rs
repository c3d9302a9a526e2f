//! One fact of every kind, with every optional member set where that is possible.

use std::collections::BTreeMap;

use super::ids::id;
use super::scribe::{artifact, delivery, edge, inbound, outline, process, tool_call, usage};
use super::{imported, rewrites};
use a_society_facts::At;
use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::budget::{BudgetReached, BudgetSet, Lack, Measure};
use a_society_facts::fact::chat::{ChatContext, ChatTerms, Selection};
use a_society_facts::fact::flow::{
    Ends, EndsChosen, FactAuthor, FlowCancelled, FlowCompleted, FlowCreated, FlowForked,
    FlowPaused, FlowTitled, FlowUnpaused, ForwardPassClosed, GraphRevised, NodeReopened,
    NodeRetried, PauseReason, TokenBudget,
};
use a_society_facts::fact::improvement::{
    ChangeDecided, ChangeProposed, FeedbackDecided, FeedbackRecorded, FeedbackStarted,
    FindingsRecorded, ImprovementChosen, ImprovementMode, Reflection, ReflectionStarted,
};
use a_society_facts::fact::journal::{
    BlobFound, BlobLost, Link, QuarantineRestored, RecoveryLossy, RecoveryRow, RecoveryTruncated,
    RepairApplied, SegmentStarted, WriterOpened,
};
use a_society_facts::fact::node::{
    FaultCode, HandoffApplied, HandoffAwaited, HandoffDecided, HandoffStaged, NodeClaimed,
    NodeEntry, NodeSuspended, NodeWoken, OwnTurnAsked, RepairRequested, Trouble, TurnFailure,
    WaitReason,
};
use a_society_facts::fact::operator::{
    AnsweredBefore, ChosenBy, ConsentAnswer, ConsentMode, ConsentModeChanged, ConsentRequested,
    ConsentResolved, ConsentRuled, ConsentRules, ConsentRulesAdded, ConsentRulesRemoved,
    DecidingRule, Grant, GrantAdded, McpServerApproved, McpServerUnavailable, McpToolUnavailable,
    OperatorReplied, OperatorSteered, ReplyReturned, RoleConfigured, RuleOrigin, SteerWhen,
    StopRequested, StopScope,
};
use a_society_facts::fact::request::{Beside, PromptSource, RequestFrame};
use a_society_facts::fact::session::{
    Descent, MessageAdded, Origin, SessionKind, SessionOpened, SessionParent, SessionResumed,
    SystemPromptBuilt,
};
use a_society_facts::fact::terms::{
    ConsentTerms, ServerReach, ServerTerms, ShownValue, WaitingServer,
};
use a_society_facts::fact::turn::{
    CallEnd, CallFinished, CallIntended, CallReaped, CallRerun, CallStarted, Cause, ChangedText,
    DraftAdded, DraftDiscarded, DraftKept, DraftKind, Effect, FileChange, ModelAnswered,
    ModelFailed, ModelRequested, RawValueEq, RequestHeld, SeenFile, StopReason, TurnEnd, TurnEnded,
    TurnResumed, TurnStarted,
};
use a_society_facts::handoff::HandoffWay;
use a_society_facts::id::{ClientId, RoleInstance, TurnId};
use a_society_facts::message::{AnswerText, BlobText, ConfirmedDraft, Image, ImageKind, Text};

const TURN: TurnId = TurnId(7);

pub(super) fn role() -> RoleInstance {
    id("writer_2")
}

fn source() -> PromptSource {
    PromptSource {
        part: "role".into(),
        path: "a-docs/roles/writer.md".into(),
        hash: Hash::of(b"You are the second writer."),
    }
}

fn frame() -> RequestFrame {
    RequestFrame {
        provider: "p".into(),
        wire: "openai-chat".into(),
        dialect: vec!["cache-key".into()],
        model: "m-1".into(),
        effort: Some("high".into()),
        thinking: "levels".into(),
        max_output_tokens: 4096,
        images: true,
        cache_key: Some("f__writer_2".into()),
        shared_key: Some("demo__writer".into()),
        environment: Some("# Environment".into()),
        tools: vec![Text::Blob(blob()), "[]".into()],
        beside: Some(Beside {
            system: "Summarize the conversation.".into(),
            messages: "[]".into(),
        }),
    }
}

pub(super) fn client() -> Option<ClientId> {
    Some(id("client-7"))
}

fn blob() -> BlobText {
    BlobText {
        blob: Hash::of(b"a long text"),
        bytes: 70_000,
        head: "a long \"text\"\n".into(),
    }
}

/// One fact of every kind, in the order of the list.
#[must_use]
pub fn every_kind() -> Vec<Fact> {
    let mut facts = journal();
    facts.extend(flow());
    facts.extend(nodes());
    facts.extend(turns());
    facts.extend(calls());
    facts.extend(sessions());
    facts.extend(rewrites::all());
    facts.extend(operator());
    facts.extend(choices());
    facts.extend(improvement());
    facts.extend(budgets());
    facts
}

fn cut() -> RecoveryTruncated {
    RecoveryTruncated {
        row: RecoveryRow::R6,
        segment: 2,
        offset_bytes: 4_096,
        cut_bytes: 120,
        hash: Hash::of(b"cut"),
        quarantine: "00000002-4096".into(),
    }
}

fn journal() -> Vec<Fact> {
    vec![
        Fact::SegmentStarted(SegmentStarted {
            flow: id("20260527T143000123Z-a1b2c3"),
            format: 1,
            writer: "a-society 0.1.0".into(),
            segment: 2,
            previous: Some(Link {
                seq: 16,
                crc: 0xdead_beef,
            }),
        }),
        Fact::WriterOpened(WriterOpened {
            process: process(1),
        }),
        Fact::RecoveryTruncated(cut()),
        Fact::RecoveryLossy(RecoveryLossy {
            cut: cut(),
            lost_seq: 17,
        }),
        Fact::QuarantineRestored(QuarantineRestored {
            quarantine: "00000002-4096".into(),
            records: 3,
        }),
        Fact::RepairApplied(RepairApplied {
            steps: vec!["cut segment 2 at byte 4096".into()],
            lost_from: 17,
            lost_to: 19,
            quarantine: "00000002-4096".into(),
        }),
        Fact::BlobLost(BlobLost {
            blob: Hash::of(b"x"),
            why: "it is missing".into(),
        }),
        Fact::BlobFound(BlobFound {
            blob: Hash::of(b"x"),
        }),
    ]
}

fn chat() -> ChatTerms {
    ChatTerms {
        key: id("0195f2b1-7c3a-7d10-8a11-2f6f3f1c0a55"),
        label: Some("rounding".into()),
        context: ChatContext {
            folder: "src".into(),
            active_file: Some("src/post.rs".into()),
            selection: Some(Selection {
                file: "src/post.rs".into(),
                from: 10,
                to: 40,
            }),
            git_ref: Some("main".into()),
            variables: [("team".to_owned(), "ledger".to_owned())].into(),
        },
        max_turns: Some(20),
    }
}

fn flow() -> Vec<Fact> {
    vec![
        Fact::FlowCreated(FlowCreated {
            ends: Ends::default(),
            project: id("demo"),
            title: "Notes".into(),
            input: Some(Text::Blob(blob())),
            graph: outline(),
            origin: Some("flow.yaml".into()),
            draft: true,
            tokens: Some(TokenBudget::AtMost(20_000_000)),
            mode: Some(ConsentMode::PartialAccess),
            rules: ConsentRules {
                allow: vec!["edits".into()],
                deny: vec!["mcp:files".into()],
            },
            chat: Some(Box::new(chat())),
            client: client(),
        }),
        Fact::FlowForked(FlowForked {
            parent: id("20260527T143000123Z-a1b2c3"),
            at_seq: 9,
            name: Some("Try again".into()),
        }),
        imported::flow(),
        Fact::FlowTitled(FlowTitled {
            title: "Notes, again".into(),
        }),
        Fact::EndsChosen(EndsChosen {
            ends: Ends {
                improve: Some(ImprovementMode::Parallel),
                feedback: Some(false),
            },
        }),
        Fact::GraphRevised(GraphRevised {
            client: None,
            graph: outline(),
            by: FactAuthor::Role(role()),
        }),
        Fact::FlowPaused(FlowPaused {
            client: None,
            reason: PauseReason::DiskFull,
            detail: Some("12 KiB are left.".into()),
        }),
        Fact::FlowUnpaused(FlowUnpaused {
            client: None,
            by: FactAuthor::Runtime,
        }),
        Fact::FlowCancelled(FlowCancelled {
            client: None,
            by: FactAuthor::Operator,
            why: Some("No longer needed.".into()),
        }),
        Fact::ForwardPassClosed(ForwardPassClosed {
            node: id("owner-close"),
        }),
        Fact::FlowCompleted(FlowCompleted {}),
        Fact::NodeReopened(NodeReopened {
            client: None,
            node: id("draft"),
            note: Some(Text::from("Shorter.")),
        }),
        Fact::NodeRetried(NodeRetried {
            client: None,
            node: id("draft"),
            on_time: true,
        }),
    ]
}

fn waiting_server() -> WaitingServer {
    WaitingServer {
        server: "ledger".into(),
        definition: Hash::of(b"ledger"),
        reached: ServerReach::Web {
            url: "https://ledger.example/".into(),
            private: false,
            headers: BTreeMap::from([("Authorization".to_owned(), ShownValue::Withheld)]),
        },
    }
}

fn limited() -> TurnFailure {
    let class = Some("rate_limit".into());
    TurnFailure { class }
}

fn asked_again() -> OwnTurnAsked {
    OwnTurnAsked {
        again: Some(Text::from("Name a file.")),
    }
}

fn nodes() -> Vec<Fact> {
    let on = || vec![delivery("draft", "review", HandoffWay::Forward, "notes.md")];
    vec![
        Fact::NodeClaimed(NodeClaimed {
            node: id("draft"),
            role: role(),
            turn: TURN,
            entry: NodeEntry::Again,
            consumed: vec![inbound("owner-intake", "draft", HandoffWay::Forward)],
            dropped: vec![edge("draft", "review")],
            replies: vec![id("m1")],
        }),
        Fact::HandoffApplied(HandoffApplied {
            node: id("draft"),
            turn: TURN,
            deliveries: on(),
            approval: Some(id("a1")),
        }),
        Fact::HandoffStaged(HandoffStaged {
            approval: id("a1"),
            node: id("draft"),
            turn: TURN,
            deliveries: on(),
        }),
        Fact::HandoffDecided(HandoffDecided {
            approval: id("a1"),
            approved: false,
            client: client(),
        }),
        Fact::HandoffAwaited(HandoffAwaited {
            node: id("draft"),
            turn: TURN,
        }),
        Fact::NodeSuspended(NodeSuspended {
            node: Some(id("draft")),
            role: role(),
            reason: WaitReason::Consent,
            question: Some(Text::from("May I?")),
            choices: vec!["Yes.".into(), "No.".into()],
            lack: Some(Lack {
                role: Some(role()),
                measure: Measure::Tokens,
                wants: 4_096,
                left: 12,
            }),
            trouble: Some(Trouble::Window),
            servers: vec![waiting_server()],
            until: Some(At::from_ms(3_600_000)),
            consent: Some(id("k1")),
            approval: Some(id("a1")),
            about_project: false,
            own_turn: Some(true),
            asked: Some(asked_again()),
            failed: Some(limited()),
        }),
        Fact::NodeWoken(NodeWoken {
            client: None,
            node: Some(id("draft")),
            role: role(),
            reason: WaitReason::Consent,
            on_time: true,
        }),
        Fact::RepairRequested(RepairRequested {
            role: role(),
            node: Some(id("draft")),
            turn: TURN,
            code: FaultCode::YamlParse,
            summary: "The block was not YAML.".into(),
            count: 2,
        }),
    ]
}

fn turns() -> Vec<Fact> {
    let block = r#"[{"type":"thinking","signature":"c2ln"}]"#;
    let block = serde_json::value::RawValue::from_string(block.to_owned());
    vec![
        Fact::TurnStarted(TurnStarted {
            turn: TURN,
            attempt: 1,
            role: role(),
            node: Some(id("draft")),
            cause: Cause::Node,
        }),
        Fact::TurnResumed(TurnResumed {
            turn: TURN,
            attempt: 2,
            role: role(),
        }),
        Fact::TurnEnded(TurnEnded {
            turn: TURN,
            attempt: 2,
            role: role(),
            end: TurnEnd::Failed,
            error: Some("It failed.".into()),
        }),
        Fact::ModelRequested(ModelRequested {
            turn: TURN,
            attempt: 2,
            role: role(),
            request: 3,
            model: "m".into(),
            hash: Hash::of(b"request"),
            frame: Some(Box::new(frame())),
        }),
        Fact::DraftAdded(DraftAdded {
            turn: TURN,
            role: role(),
            request: 3,
            kind: DraftKind::Text,
            text: "Grüße\u{0}\u{2028}\"\\".into(),
        }),
        Fact::DraftKept(DraftKept {
            turn: TURN,
            role: role(),
            request: 3,
            message: id("m2"),
        }),
        Fact::DraftDiscarded(DraftDiscarded {
            turn: TURN,
            role: role(),
            request: 3,
            why: "it is sent again".into(),
        }),
        Fact::ModelAnswered(ModelAnswered {
            turn: TURN,
            attempt: 2,
            role: role(),
            request: 3,
            message: id("m3"),
            text: AnswerText::Drafted(ConfirmedDraft::of("Grüße")),
            calls: vec![tool_call("3.1", "read_file", r#"{"b":1,"a":1.0e3}"#)],
            stop: StopReason::Tools,
            usage: usage(100),
            provider_blocks: block.ok().map(|block| Box::new(RawValueEq(block))),
            report: Some(true),
        }),
    ]
}

fn intended() -> Fact {
    Fact::CallIntended(CallIntended {
        call: id("c1"),
        turn: TURN,
        role: role(),
        tool_call: "3.1".into(),
        ordinal: 0,
        tool: "write_file".into(),
        arguments: Hash::of(b"{}"),
        effect: Effect::Checkable,
        idempotency_key: Hash::of(b"key"),
        before: Some(Hash::of(b"before")),
        after: Some(Hash::of(b"after")),
        files: vec![FileChange {
            path: "notes.md".into(),
            before: Some(Hash::of(b"before")),
            after: None,
        }],
        texts: vec![ChangedText {
            path: "notes.md".into(),
            added: 0,
            removed: 2_000,
            earlier: Some(Text::Blob(blob())),
            unkept_bytes: Some(2_000_000),
            line: Some(3),
            places: Some(1),
        }],
        summary: "write notes.md".into(),
    })
}

fn calls() -> Vec<Fact> {
    vec![
        Fact::ModelFailed(ModelFailed {
            turn: TURN,
            attempt: 2,
            role: role(),
            request: 3,
            class: "overloaded".into(),
            error: "busy".into(),
            retry_in_ms: Some(250),
        }),
        Fact::RequestHeld(RequestHeld {
            turn: TURN,
            attempt: 2,
            role: role(),
            provider: "anthropic".into(),
            failing: true,
            until: At::from_ms(7_000),
        }),
        intended(),
        Fact::CallStarted(CallStarted {
            call: id("c1"),
            role: role(),
            process: Some(process(2)),
        }),
        Fact::CallFinished(CallFinished {
            call: id("c1"),
            turn: TURN,
            role: role(),
            tool_call: "3.1".into(),
            tool: "write_file".into(),
            end: CallEnd::Recovered,
            output: Text::Blob(blob()),
            message: id("m4"),
            seen: vec![SeenFile {
                path: "CHANGES.md".into(),
                hash: Hash::of(b"seen"),
            }],
            exit: Some(0),
            signal: Some(9),
            cut: Some(true),
            image: Some(Box::new(Image {
                blob: Hash::of(b"a long text"),
                bytes: 70_000,
                kind: ImageKind::Png,
                data: None,
            })),
        }),
        Fact::CallRerun(CallRerun {
            call: id("c1"),
            role: role(),
            why: "it only reads".into(),
        }),
        Fact::CallReaped(CallReaped {
            call: id("c1"),
            role: role(),
            process: process(2),
        }),
    ]
}

fn sessions() -> Vec<Fact> {
    vec![
        Fact::SessionOpened(SessionOpened {
            role: role(),
            key: id("main"),
            session: id("s1"),
            generation: 1,
            kind: SessionKind::Main,
            parent: Some(SessionParent {
                key: id("main:fork:one"),
                session: id("s0"),
                descent: Descent::Fork,
                at_seq: 5,
            }),
            user: Some("sam".into()),
        }),
        Fact::SessionResumed(SessionResumed {
            role: role(),
            turn: Some(TURN),
        }),
        Fact::SystemPromptBuilt(SystemPromptBuilt {
            role: role(),
            text: Text::from("You are the second writer."),
            fingerprint: Hash::of(b"inputs"),
            sources: vec![source()],
        }),
        Fact::MessageAdded(MessageAdded {
            role: role(),
            message: id("m5"),
            text: Text::from("You are at draft."),
            origin: Origin::Entry,
            node: Some(id("draft")),
            client: client(),
            request: None,
        }),
    ]
}

fn operator() -> Vec<Fact> {
    vec![
        Fact::OperatorReplied(OperatorReplied {
            reply: id("m7"),
            node: Some(id("draft")),
            role: role(),
            text: Text::from("Yes."),
            client: client(),
        }),
        Fact::ReplyReturned(ReplyReturned {
            reply: id("m7"),
            why: "the node goes on without it".into(),
        }),
        Fact::OperatorSteered(OperatorSteered {
            steer: id("m8"),
            role: role(),
            text: Text::from("Shorter."),
            when: SteerWhen::Interrupt,
            client: client(),
        }),
        Fact::StopRequested(StopRequested {
            scope: StopScope::Node(id("draft")),
            client: client(),
        }),
        Fact::ConsentRequested(ConsentRequested {
            consent: id("k1"),
            call: id("c1"),
            role: role(),
            node: Some(id("draft")),
            tool: "run_command".into(),
            action: Hash::of(b"ls"),
            shown: Text::from("ls"),
            terms: Some(ConsentTerms::Server(ServerTerms {
                server: "ledger".into(),
                tool: "book".into(),
                definition: Hash::of(b"book"),
                reached: Some(ServerReach::Program {
                    run: vec!["ledger".into(), "--stdio".into()],
                    folder: "/".into(),
                    variables: BTreeMap::from([
                        ("LANG".to_owned(), ShownValue::Plain("C".into())),
                        ("TOKEN".to_owned(), ShownValue::Secret("ledger".into())),
                    ]),
                    inherits: vec!["HOME".into()],
                }),
            })),
            narrowed: true,
            doubt: Some(DecidingRule {
                rule: "rm *".into(),
                origin: RuleOrigin::Workspace,
            }),
            anew: true,
        }),
        Fact::ConsentResolved(ConsentResolved {
            consent: id("k1"),
            answer: ConsentAnswer::Deny,
            action: Hash::of(b"ls"),
            by: Some(DecidingRule {
                rule: "commands".into(),
                origin: RuleOrigin::Configuration,
            }),
            beforehand: Some(AnsweredBefore::Grant),
            reason: Some(Text::from("Read it with read_file.")),
            client: client(),
        }),
    ]
}

fn choices() -> Vec<Fact> {
    let grant = || Grant::McpTool {
        tool: "search".into(),
        definition: Hash::of(b"definition"),
    };
    vec![
        Fact::ConsentRuled(ConsentRuled {
            call: id("c1"),
            role: role(),
            node: Some(id("close")),
            tool: "run_command".into(),
            action: Hash::of(b"ls"),
            about: "run pytest -q".into(),
            answer: ConsentAnswer::AllowOnce,
            by: DecidingRule {
                rule: "pytest *".into(),
                origin: RuleOrigin::Flow,
            },
        }),
        Fact::ConsentRulesAdded(ConsentRulesAdded {
            rules: ConsentRules {
                allow: vec!["edits:src".into()],
                deny: vec!["rm *".into()],
            },
            client: client(),
        }),
        Fact::ConsentRulesRemoved(ConsentRulesRemoved {
            rules: ConsentRules {
                allow: vec!["edits:src".into()],
                deny: Vec::new(),
            },
            client: client(),
        }),
        Fact::ConsentModeChanged(ConsentModeChanged {
            mode: ConsentMode::FullAccess,
            client: client(),
        }),
        Fact::GrantAdded(GrantAdded { grant: grant() }),
        Fact::RoleConfigured(RoleConfigured {
            role: role(),
            settings: [("model".to_owned(), "scripted".to_owned())].into(),
            by: ChosenBy::Operator,
            client: client(),
        }),
        Fact::McpServerApproved(McpServerApproved {
            server: "search".into(),
            definition: Hash::of(b"definition"),
        }),
        Fact::McpServerUnavailable(McpServerUnavailable {
            role: role(),
            server: "search".into(),
            why: "it does not start".into(),
        }),
        Fact::McpToolUnavailable(McpToolUnavailable {
            role: role(),
            tool: "search".into(),
            why: "the server no longer has it".into(),
        }),
    ]
}

fn improvement() -> Vec<Fact> {
    vec![
        Fact::ImprovementChosen(ImprovementChosen {
            mode: ImprovementMode::GraphBased,
            plan: vec![Reflection {
                role: role(),
                after: vec![id("reviewer")],
            }],
            beforehand: true,
            client: client(),
        }),
        Fact::ReflectionStarted(ReflectionStarted {
            role: role(),
            turn: TURN,
            replies: vec![id("m9")],
        }),
        Fact::FindingsRecorded(FindingsRecorded {
            role: role(),
            turn: TURN,
            findings: artifact("findings/writer_2-findings.md"),
        }),
        Fact::FeedbackDecided(FeedbackDecided {
            granted: true,
            beforehand: true,
            client: client(),
        }),
        Fact::FeedbackStarted(FeedbackStarted {
            role: id("feedback"),
            turn: TURN,
            replies: vec![id("m10")],
        }),
        Fact::FeedbackRecorded(FeedbackRecorded {
            turn: TURN,
            report: artifact("feedback.md"),
        }),
        Fact::ChangeProposed(ChangeProposed {
            change: "change-1".into(),
            role: role(),
            path: "a-docs/agents.md".into(),
            before: Some(Hash::of(b"before")),
            after: Text::from("after"),
            finding: Some(17),
            client: client(),
        }),
        Fact::ChangeDecided(ChangeDecided {
            change: "change-1".into(),
            applied: false,
            client: client(),
        }),
    ]
}

fn budgets() -> Vec<Fact> {
    vec![
        Fact::BudgetSet(BudgetSet {
            role: Some(role()),
            measure: Measure::CostMicros,
            limit: Some(5_000_000),
            client: client(),
        }),
        Fact::BudgetReached(BudgetReached {
            role: Some(role()),
            measure: Measure::CostMicros,
            limit: 5_000_000,
            spent: 5_000_001,
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use a_society_facts::fact::list::KINDS;

    #[test]
    fn there_is_one_of_every_kind_in_the_order_of_the_list() {
        let words: Vec<_> = every_kind().iter().map(Fact::word).collect();
        let listed: Vec<_> = KINDS.iter().map(|kind| kind.word).collect();
        assert_eq!(words, listed);
    }
}
