//! The page's TypeScript, written from the Rust types and compared with what is in the tree.
//! `A_SOCIETY_UPDATE=1` writes it anew.

use ts_rs::{Config, TS};

use super::{
    ask, command, down, exported, feed, findings, flow, http, row, settings, up, workspace,
};

const HEAD: &str = "// Generated from operator-ui/src/protocol by `A_SOCIETY_UPDATE=1 cargo test -p a-society-operator-ui \
--lib the_page_has`. Do not edit.\n\n\
import type { CallEnd, ConsentAnswer, ConsentMode, ImprovementMode, Measure, Verb, WaitReason } from \"./verb\";\n\n\
export * from \"./verb\";\n\n";

macro_rules! declared {
    ($cfg:expr, $($module:ident :: { $($name:ident),+ $(,)? }),+ $(,)?) => {
        [$($(<$module::$name as TS>::decl($cfg)),+),+]
    };
}

fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let declared = declared!(
        &config,
        row::{FlowRef, FlowRow, JournalHarm, AbsentServer, Parent, Doing, Again, DrivenBy, Phase, Decided, InboxState},
        ask::{
            Ask, AskKind, Fact, Target, ArtifactRef, ModelChoice, Diff,
            Hunk, DiffLine, Op, Estimate, ShortBudget, OwnTurn, OwnFile,
        },
        flow::{
            FlowState, FlowHead, Paused, NodeView, NodeState, EdgeView, EdgeState, Passed,
            RoleView, RoleState, ImprovementView, ReflectingView, ReflectingState, FeedbackView,
            FeedbackState, ChangeView, ChangeState,
        },
        feed::{FeedState, Item, ItemType, Outcome, EditedFile, HandedFile, Task, TaskState, ConsentNote},
        command::{Command, ServerVerb},
        up::{Up, Topic},
        down::{Down, Mode, State, Put, Part, Fault, Ack},
        findings::{
            Findings, FoundFlow, FindingView, ProposedChange, Stands, ChangeDiff, Changeable, ForkPlan,
            Hearer,
        },
        http::{
            SessionRequest, Items, ItemBody, SentRequest, BodyParts, Track, TrackTurn, TrackKind, TrackHop, TrackMark,
            MarkKind, Events, Event, Transcript, Segment, TranscriptMessage, AnswerCost, Files, FileVersions, DeliveredFile,
            FileVersion, Author, Allowance, Costs, Cost, RecordFiles, RecordFile, RecordText, NewFile, Changes, Hits, Hit, SentPart, Projects, ProjectRow, NewFlow, NewFrom, ChatPartner, Models, GraphText, JudgedGraph, GraphFinding,
        },
        settings::{Setting, SettingChange, ModelWish, KeyPlace, ModelRemoval, ServerWish, ServerValue, RuleWish, RuleList, SearchWish, PolicyWish, ModeWish, ReachWish, LimitsWish, NotifyWish, CallWish, CallKind, CallFate, SettingDone, SkillSetting, SkillChange, SkillWish, Trial, Tried},
        workspace::{NewProject, MadeProject, Removal, RemovalPart, RemovalFork, Remove},
        exported::{Exported, Moment, ExportedRequests, ExportedRequest, ExportedTranscript, SessionMoment, SessionPart, ListChange, Drafted},
    );
    let proto = format!(
        "export const PROTO = {};\n/** The longest message that the server takes, in bytes. */\n\
         export const FRAME_BYTES_MAX = {};\n",
        super::PROTO,
        super::limits::FRAME_BYTES_MAX
    );
    let types = declared.map(|declared| {
        let lines = declared.lines().map(str::trim_end);
        format!("export {}\n", lines.collect::<Vec<_>>().join("\n"))
    });
    format!("{HEAD}{proto}\n{}", types.join("\n"))
}

#[test]
fn the_page_has_the_types_of_the_wire() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/web/src/wire.ts");
    let now = typescript();
    if std::env::var_os("A_SOCIETY_UPDATE").is_some() {
        std::fs::write(path, &now).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == now,
        "web/src/wire.ts is not what the types say: run with A_SOCIETY_UPDATE=1"
    );
}
