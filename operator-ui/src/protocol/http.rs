//! What is read over HTTP, on demand.

use std::collections::BTreeMap;

use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::fact::operator::ConsentMode;

use super::ask::{Diff, ModelChoice};
use super::down::Fault;
#[cfg(test)]
use super::feed::Item;
use super::flow::NodeState;
use super::row::FlowRef;
use super::wire;

wire! {
    /// The token that came in the fragment of the page's address.
    pub(crate) struct SessionRequest {
        /// The token.
        pub token: String,
    }

    /// A window of a feed.
    #[cfg(test)]
    pub(crate) struct Items {
        /// The items, oldest first.
        pub items: Vec<Item>,
        /// Where the window begins, if there are older items.
        pub before: Option<u64>,
    }

    /// The text of an item, from some byte on.
    pub(crate) struct ItemBody {
        /// The text.
        pub text: String,
        /// How long all of it is.
        pub total_bytes: u64,
        /// Where it goes on.
        pub next: Option<u64>,
        /// What a call was asked and gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub parts: Option<BodyParts>,
    }

    /// A request as it left for its model, written anew from the journal.
    pub(crate) struct SentRequest {
        /// The record that tells of it.
        pub seq: u64,
        /// The model that was asked.
        pub model: String,
        /// The hash of the bytes that left.
        pub hash: String,
        /// The body as it is written now; its beginning, if it is very long.
        pub body: String,
        /// How long all of it is.
        pub total_bytes: u64,
        /// Why these are not the very bytes that left; absent if their hash is the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub differs: Option<String>,
    }

    /// What a call was asked and gave.
    pub(crate) struct BodyParts {
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "unknown"))]
        pub arguments: Option<serde_json::Value>,
        /// Its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub result: Option<String>,
        /// What it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub diff: Option<Diff>,
        /// What it changed in each file, if it changed several or removed one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub diffs: Option<Vec<Diff>>,
    }

    /// Everything a time strip needs: transitions only.
    pub(crate) struct Track {
        /// The last record.
        pub head: u64,
        /// Some records and when they were, in milliseconds since 1970.
        #[cfg_attr(test, ts(as = "Vec<(u64, u64)>"))]
        pub at: Vec<(u64, i64)>,
        /// The changes of each node's state, and whether it then corrected returned work.
        pub nodes: BTreeMap<String, Vec<(u64, NodeState, bool)>>,
        /// The bars of the role instances.
        pub turns: Vec<TrackTurn>,
        /// What went from role to role.
        pub hops: Vec<TrackHop>,
        /// What else is marked.
        pub marks: Vec<TrackMark>,
    }

    /// A bar of a time strip.
    pub(crate) struct TrackTurn {
        /// Whose.
        pub role: String,
        /// At which node.
        pub node: Option<String>,
        /// Which turn of the role.
        pub turn: Option<u64>,
        /// From which record.
        pub from: u64,
        /// To which; none if it goes on.
        pub to: Option<u64>,
        /// What it shows.
        pub kind: TrackKind,
    }

    /// What a bar of a time strip shows.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum TrackKind {
        /// Work.
        Turn,
        /// Work on what came back.
        Correction,
        /// It waits for the operator.
        Waiting,
        /// It waits for something to come back.
        Suspended,
    }

    /// Something that went from role to role.
    pub(crate) struct TrackHop {
        /// The record.
        pub seq: u64,
        /// From whom.
        pub from_role: String,
        /// To whom.
        pub to_role: String,
        /// Whether it was sent back.
        pub backward: bool,
        /// What.
        pub path: String,
    }

    /// A mark of a time strip.
    pub(crate) struct TrackMark {
        /// The record.
        pub seq: u64,
        /// Whose.
        pub role: String,
        /// What it marks.
        pub kind: MarkKind,
    }

    /// What is marked.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum MarkKind {
        /// A session was compacted.
        Compaction,
    }

    /// Records of a journal, as they are on disk.
    pub(crate) struct Events {
        /// The records, oldest first.
        pub events: Vec<Event>,
        /// Where the window begins, if there are older ones.
        pub before: Option<u64>,
    }

    /// A record of a journal.
    pub(crate) struct Event {
        /// Its number.
        pub seq: u64,
        /// When it was recorded.
        pub at: String,
        /// The word for what happened.
        pub fact: String,
        /// The line, as it is on disk.
        pub line: String,
    }

    /// A session, as its model sees it.
    pub(crate) struct Transcript {
        /// Its parts.
        pub segments: Vec<Segment>,
        /// The messages of the part that was asked for.
        pub messages: Vec<TranscriptMessage>,
        /// How many that part has.
        pub total: u64,
    }

    /// A part of a session.
    pub(crate) struct Segment {
        /// Its id: `live`, `system`, `tools`, `requests`, or an archive's.
        pub id: String,
        /// What kind of part it is.
        pub kind: String,
        /// The same in words.
        pub words: String,
        /// How many messages it has.
        pub messages: u64,
        /// Roughly how many tokens.
        pub tokens: u64,
        /// When the first of them was sent, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub from: Option<String>,
        /// When the last of them was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub to: Option<String>,
    }

    /// A message of a session.
    pub(crate) struct TranscriptMessage {
        /// Its place, counted from 0.
        pub n: u64,
        /// What kind of message it is.
        pub kind: String,
        /// What it says.
        pub content: String,
        /// Roughly how many tokens it has.
        pub tokens: u64,
        /// When it was sent.
        pub at: Option<String>,
        /// The record.
        pub seq: Option<u64>,
        /// The same as it is kept.
        #[cfg_attr(test, ts(type = "unknown"))]
        pub raw: serde_json::Value,
        /// What it took; absent where it is no answer of a model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub took: Option<AnswerCost>,
    }

    /// What an answer of a model took.
    pub(crate) struct AnswerCost {
        /// From the request on.
        pub ms: u64,
        /// The tokens that were read, the cached ones among them.
        pub input_tokens: u64,
        /// Those of them that the provider had cached.
        pub cached_tokens: u64,
        /// The tokens that were written.
        pub output_tokens: u64,
    }

    /// The files that a flow handed over.
    pub(crate) struct Files {
        /// The files.
        pub files: Vec<FileVersions>,
        /// What the flow delivered; absent until its forward work is closed, and where it delivered
        /// no file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub delivered: Option<DeliveredFile>,
    }

    /// What a flow delivered.
    pub(crate) struct DeliveredFile {
        /// The node that closed it.
        pub node: String,
        /// Its path, from the project's folder.
        pub path: String,
        /// Its hash.
        pub hash: String,
        /// How long it is.
        pub bytes: u64,
    }

    /// A file and its versions.
    pub(crate) struct FileVersions {
        /// Its path.
        pub path: String,
        /// Its versions, oldest first.
        pub versions: Vec<FileVersion>,
    }

    /// A version of a file.
    pub(crate) struct FileVersion {
        /// The record that handed it over.
        pub seq: u64,
        /// The hash of its bytes.
        pub hash: String,
        /// How many.
        pub bytes: u64,
        /// From which node.
        pub from: String,
        /// To which.
        pub to: String,
        /// Whether something newer took its place.
        pub superseded: bool,
        /// Who handed it over; absent in what another program began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub by: Option<Author>,
        /// Whether it is held until the operator approves it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub waits: bool,
    }

    /// What a flow used.
    pub(crate) struct Costs {
        /// All of it.
        pub all: Cost,
        /// By role instance; what cost most comes first.
        pub roles: Vec<Cost>,
        /// By model.
        pub models: Vec<Cost>,
        /// By node; what belongs to none, such as looking back, has no name.
        pub nodes: Vec<Cost>,
    }

    /// What one role, model or node used.
    #[derive(Default)]
    pub struct Cost {
        /// Which.
        pub name: String,
        /// Tokens in and out, cached ones included.
        pub tokens: u64,
        /// Of those, output.
        pub output: u64,
        /// Of those, input that was read from a provider's cache.
        pub cached: u64,
        /// Requests that were sent.
        pub requests: u64,
        /// Turns that began; a model has none.
        pub turns: u64,
        /// How long its turns ran, or how long a model was waited for.
        pub ms: u64,
        /// Money, in millionths of its unit; 0 where no price is known.
        pub cost_micros: u64,
    }

    /// The files of a flow's shared folder, or of its project, that a person may hand over.
    pub(crate) struct RecordFiles {
        /// By path.
        pub files: Vec<RecordFile>,
        /// Whether there are more.
        pub truncated: bool,
        /// The largest file that is handed over.
        pub bytes_max: u64,
    }

    /// A file there.
    pub(crate) struct RecordFile {
        /// Its path, as handoffs name it.
        pub path: String,
        /// Its size.
        pub bytes: u64,
    }

    /// A file there, whole.
    pub(crate) struct RecordText {
        /// Its path.
        pub path: String,
        /// What it says.
        pub text: String,
        /// The hash of its bytes, which is sent back when it is replaced.
        pub hash: String,
    }

    /// A file that a person writes there.
    pub(crate) struct NewFile {
        /// Its path.
        pub path: String,
        /// What it says.
        pub text: String,
        /// The hash of the file that it replaces; absent for a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub over: Option<String>,
    }

    /// A turn of a role, as people name it: "backend, turn 3".
    pub struct Author {
        /// The role instance.
        pub role: String,
        /// Which of its turns, counted from 1.
        pub turn: u64,
        /// Its node, where files that tools changed are listed; absent in the retrospective.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub node: Option<String>,
        /// Who allowed its last call that changed the file, if that was asked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub allowed: Option<Allowance>,
    }

    /// Who allowed a call, and when.
    pub struct Allowance {
        /// The rule, as the operator would write it again, or that the flow never asks; absent if they allowed it
        /// themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub rule: Option<String>,
        /// When.
        pub at: String,
    }

    /// What tools changed in files.
    pub struct Changes {
        /// One for each file.
        pub diffs: Vec<Diff>,
        /// Whether there is more than is shown.
        pub truncated: bool,
        /// Who changed each file, by its path: the first turns and the last.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(test, ts(as = "Option<BTreeMap<String, Vec<Author>>>", optional))]
        pub by: BTreeMap<String, Vec<Author>>,
    }

    /// What a search found.
    pub(crate) struct Hits {
        /// The places.
        pub hits: Vec<Hit>,
        /// Whether the search ended before it had seen everything.
        pub truncated: bool,
    }

    /// A place that a search found.
    pub(crate) struct Hit {
        /// The flow.
        pub flow: FlowRef,
        /// The role whose feed it is in.
        pub role: Option<String>,
        /// The record.
        pub seq: u64,
        /// The item.
        pub item: Option<String>,
        /// The words around it.
        pub snippet: String,
        /// When it was written; absent for a title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub at: Option<String>,
        /// The message that the role's model was sent, if it is in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub sent: Option<SentPart>,
    }

    /// A message that a model was sent, or its system prompt.
    pub(crate) struct SentPart {
        /// The part of the session: `live`, an archive, or `system`.
        pub seg: String,
        /// Its place in that part, counted from 0.
        pub n: u64,
    }

    /// The projects of the workspace.
    pub(crate) struct Projects {
        /// The projects.
        pub projects: Vec<ProjectRow>,
    }

    /// A project.
    pub(crate) struct ProjectRow {
        /// Its name.
        pub name: String,
        /// Whether it has roles and a graph of its own.
        pub ready: bool,
        /// Whether it is only a folder, which may become a project.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub bare: bool,
        /// How many flows it has.
        pub flows: u64,
        /// How its roles look back, if the project chose it beforehand.
        #[cfg_attr(test, ts(type = "ImprovementMode | null"))]
        pub improve: Option<ImprovementMode>,
        /// Whether a report is written, if the project chose it beforehand.
        pub feedback: Option<bool>,
    }

    /// A flow to be started.
    pub struct NewFlow {
        /// From what.
        pub from: NewFrom,
        /// What it is started with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub input: Option<String>,
        /// How people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub title: Option<String>,
        /// How its roles look back when the work is done, in the place of what the project chose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "ImprovementMode"))]
        pub improve: Option<ImprovementMode>,
        /// Whether a report is written, in the place of what the project chose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub feedback: Option<bool>,
        /// How much it may do without asking where no rule speaks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "ConsentMode"))]
        pub mode: Option<ConsentMode>,
        /// What runs without asking.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
        pub allow: Vec<String>,
        /// What never runs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
        pub deny: Vec<String>,
    }

    /// From what a flow is started.
    #[serde(rename_all = "snake_case")]
    pub enum NewFrom {
        /// A flow file of the workspace, by its path.
        File(String),
        /// A project's own graph.
        Project(String),
        /// A project, with a graph that its owner will write.
        Draft(String),
        /// A chat.
        Chat(ChatPartner),
    }

    /// Who answers in a new chat, and about what.
    pub struct ChatPartner {
        /// The project; all of the workspace if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub project: Option<String>,
        /// Its role; the built-in assistant if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub role: Option<String>,
    }

    /// A graph as its file has it.
    pub(crate) struct GraphText {
        /// The file.
        pub source: String,
    }

    /// A graph that was judged for a flow that runs.
    pub(crate) struct JudgedGraph {
        /// What is remarkable about its file, as the command line says it.
        pub findings: Vec<GraphFinding>,
        /// What would be another, a sentence each.
        pub changes: Vec<String>,
        /// Why it would be refused now; absent if it would be walked.
        pub refused: Option<Fault>,
        /// Each reason for that.
        pub reasons: Vec<String>,
    }

    /// Something that is remarkable about a flow file.
    pub(crate) struct GraphFinding {
        /// Whether the file cannot be used because of it.
        pub is_error: bool,
        /// In which line; none if it is about the whole file.
        pub line: u64,
        /// All of it, as the command line says it.
        pub words: String,
    }

    /// The models there are.
    pub(crate) struct Models {
        /// The models.
        pub models: Vec<ModelChoice>,
    }
}
