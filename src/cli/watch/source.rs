//! The data of `watch`: the list of flows, and the journal of the chosen one, read while its driver
//! writes it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use a_society_facts::At;
use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::{NodeId, RoleInstance, Seq};
use a_society_facts::view::FlowScreen;
use a_society_facts::view::feed::{FeedItem, ItemKind};
use a_society_facts::view::flow::{FlowState, LastRequest};
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::view::{FactView as _, feed::FeedView};
use a_society_facts::words::calls::{CUT_OFF, DISCARDED};
use a_society_facts::words::capital;
use a_society_facts::words::choices::ANSWER;
use a_society_facts::words::status::RETRYING;
use a_society_operator_ui::fold::answer_text::before_its_end;
use a_society_operator_ui::fold::asks::{OpenAsk, open};
use a_society_orchestrator::machine::OperatorQuestion;
use a_society_orchestrator::record::own;
use a_society_orchestrator::workspace::role_models::configured;
use a_society_state::index::{Row, rows};
use a_society_state::journal::follow::Follower;
use a_society_state::watch::{FolderWatch, News};
use a_society_state::{FlowRef, Store};

use super::today::Today;
use super::view::{AskView, Feed, FlowLine, FlowView, Item, NodeLine, View, name};
use crate::cli::artifact_text;
use crate::cli::asks;
use crate::cli::card_rows::labelled;
use crate::cli::cost;

use crate::cli::progress::board::stands;
use crate::cli::show::only_ends;
use crate::cli::status::works_and_asks;
use crate::cli::table;
use crate::cli::turn_files;
use crate::operator_error::Stop;
use crate::text::{age, one_line, plain, size, tabbed};

/// When flows change, the list is made anew this often at most; the flow that is looked at is read much more often.
const LIST_EVERY_MS: u64 = 700;

/// Without news the list is made anew this often: new flows, and which flows are driven, are no news.
const LIST_WITHOUT_NEWS_MS: u64 = 2_000;

/// Longer titles are cut.
const TITLE_COLUMNS_MAX: usize = 60;

/// So many files of a record are listed.
const FILES_MAX: usize = 100;

/// Lines of an item beyond these are left to the page and to `log`.
const ITEM_LINES_MAX: usize = 40;

/// Where everything comes from.
pub(crate) struct Source {
    store: Store,
    /// The flow that was named; others are not shown then.
    only: Option<FlowRef>,
    listed: Vec<Row>,
    listed_at_ms: Option<u64>,
    /// What the system notifies of; without it the list is made anew at every chance.
    watch: Option<FolderWatch>,
    /// The flows whose journals are watched.
    watched: BTreeSet<FlowRef>,
    /// Whether a journal changed since the list was made.
    is_changed: bool,
    /// What each flow asked at a record of it.
    asked: BTreeMap<FlowRef, (Seq, Vec<AskView>)>,
    followed: Option<Followed>,
    today: Today,
}

/// A flow whose journal is followed.
struct Followed {
    flow: FlowRef,
    follower: Follower,
    screen: FlowScreen,
    damage: Option<String>,
    /// The files of its record, as they were when the list was made.
    files: Vec<String>,
}

impl Source {
    pub(crate) fn new(store: Store, only: Option<FlowRef>) -> Self {
        Self {
            today: Today::new(&store),
            store,
            only,
            listed: Vec::new(),
            listed_at_ms: None,
            watch: FolderWatch::new().ok(),
            watched: BTreeSet::new(),
            is_changed: false,
            asked: BTreeMap::new(),
            followed: None,
        }
    }

    /// What is to be shown now, with this flow looked at.
    ///
    /// # Errors
    /// When the flows cannot be listed.
    pub(crate) fn view(
        &mut self,
        chosen: Option<&FlowRef>,
        now: At,
        now_ms: u64,
    ) -> Result<View, Stop> {
        let due = self.list_due_in(now_ms).is_zero();
        if due {
            self.is_changed = false;
            self.list(now)?;
            self.listed_at_ms = Some(now_ms);
        }
        let wanted = chosen.cloned().or_else(|| self.only.clone());
        let wanted = wanted.or_else(|| self.listed.first().map(|row| row.flow.clone()));
        if let Some(wanted) = &wanted {
            self.follow(wanted, due);
        }
        let asked = self.asked.values().flat_map(|(_, asked)| asked);
        let mut asks: Vec<AskView> = asked.cloned().collect();
        asks.sort_by(|one, other| (one.ask.since, &one.id).cmp(&(other.ask.since, &other.id)));
        let lines = self.listed.iter().map(|row| {
            let asks = self
                .asked
                .get(&row.flow)
                .map_or(0, |(_, asked)| asked.len());
            line(row, asks, now)
        });
        let chosen = self.followed.as_ref().map(|followed| {
            let mut listed = self.listed.iter();
            let row = listed.find(|row| row.flow == followed.flow);
            followed.view(now, row.is_some_and(|row| row.held_by.is_some()))
        });
        Ok(View {
            flows: lines.collect(),
            asks,
            chosen,
            today_micros: self.today.micros(),
            now_ms: now.ms(),
        })
    }

    /// Looks at the list at once the next time.
    pub(crate) const fn look_again(&mut self) {
        self.listed_at_ms = None;
    }

    /// How long the list stays as it is if nothing changes meanwhile.
    pub(crate) fn list_due_in(&self, now_ms: u64) -> Duration {
        let changes = self.is_changed || self.watch.is_none();
        let every = if changes {
            LIST_EVERY_MS
        } else {
            LIST_WITHOUT_NEWS_MS
        };
        let due = (self.listed_at_ms).map_or(0, |at| at.saturating_add(every));
        Duration::from_millis(due.saturating_sub(now_ms))
    }

    /// What can be read from when a journal changes.
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(FolderWatch::as_fd)
    }

    /// Takes the news there is. Returns whether there was any.
    pub(crate) fn take_news(&mut self) -> bool {
        let news = (self.watch.as_ref()).map(|watch| watch.wait(Duration::ZERO));
        let is_any = match news {
            None => false,
            Some(Ok(News::Of(folders))) => !folders.is_empty(),
            Some(Ok(News::All)) => true,
            Some(Err(_)) => {
                // What cannot be watched is polled.
                self.watch = None;
                true
            }
        };
        self.is_changed |= is_any;
        is_any
    }

    /// Watches the journals of these flows. What was written before one was watched is news.
    fn keep_watch(&mut self, flows: &BTreeSet<FlowRef>) {
        let Some(watch) = &self.watch else { return };
        self.watched.retain(|flow| flows.contains(flow));
        for flow in flows {
            if self.watched.contains(flow) {
                continue;
            }
            if watch.add(&self.store.place(flow).watched()).is_err() {
                self.watch = None;
                return;
            }
            self.watched.insert(flow.clone());
            self.is_changed = true;
        }
    }

    /// Lists the flows anew, and asks those that changed what they ask.
    fn list(&mut self, now: At) -> Result<(), Stop> {
        let flows = self.store.census()?.flows;
        let mut listed = rows(&self.store, &flows);
        self.today.count(&listed, now);
        listed.retain(|row| self.only.as_ref().is_none_or(|only| *only == row.flow));
        listed.retain(|row| {
            let over = row
                .summary
                .as_ref()
                .is_some_and(|summary| summary.is_over());
            !over || self.only.is_some()
        });
        self.asked
            .retain(|flow, _| listed.iter().any(|row| row.flow == *flow));
        for row in &listed {
            let seq = row.summary.as_ref().map_or(0, |summary| summary.seq);
            if self.asked.get(&row.flow).is_some_and(|(at, _)| *at == seq) {
                continue;
            }
            let Ok(seen) = self.store.look(&row.flow) else {
                continue;
            };
            let state = &seen.screen.flow;
            // The view of the flow reports what cannot be read.
            let work = works_and_asks(&self.store, &row.flow, state).unwrap_or_default();
            let asked = open(state, &work).into_iter();
            let asked = asked.map(|ask| self.ask(&row.flow, state, ask));
            self.asked
                .insert(row.flow.clone(), (state.seq, asked.collect()));
        }
        let listed_flows = listed.iter().map(|row| row.flow.clone()).collect();
        self.listed = listed;
        self.keep_watch(&listed_flows);
        Ok(())
    }

    fn ask(&self, flow: &FlowRef, state: &FlowState, ask: OpenAsk) -> AskView {
        let own = turn_files::own_turn(&self.store, flow, state, &ask);
        let (head, line) = in_short(state, &ask, own.is_some());
        let facts = ask.facts().iter().filter_map(labelled);
        let facts = facts.map(|(label, value)| format!("{label}: {value}"));
        let mut view = AskView {
            // A second question of the same node is another one.
            id: format!("{flow}/{}/{}", ask.name(), ask.since),
            flow: flow.clone(),
            head,
            line,
            says: Vec::new(),
            call: None,
            facts: facts.collect(),
            commands: Vec::new(),
            must_show: usize::MAX,
            own: None,
            ask,
        };
        let whole = match &view.ask.question {
            OperatorQuestion::Text { .. } => match own {
                Some((own, came_in)) => {
                    view.own = Some(Box::new(own));
                    let again = view.ask.again.as_deref();
                    let said = again.into_iter().chain([came_in.as_str()]);
                    Some(said.collect::<Vec<_>>().join("\n"))
                }
                None => view.ask.says.clone(),
            },
            OperatorQuestion::Consent { consent, .. } => {
                let open = state.consents.get(consent);
                view.call = open.map(|open| asks::whole(&self.store, flow, &open.shown));
                view.call.clone()
            }
            OperatorQuestion::Approval { approval, .. } => {
                let staged = artifact_text::staged(&self.store, flow, state, approval);
                let version = staged.as_ref().and_then(|staged| staged.version.as_deref());
                view.head = artifact_text::headed(view.head, version);
                let (difference, all) = match staged {
                    Some(staged) => (staged.difference, Some(staged.whole)),
                    None => (None, None),
                };
                let says = asks::says(&view.ask).map(Cow::into_owned);
                let shown = says.iter().chain(&difference);
                // A second version is shown as what it changes, and all of it below.
                if difference.is_some() {
                    view.must_show = shown.map(|text| text.lines().count()).sum();
                }
                let said = says.into_iter().chain(difference).chain(all);
                Some(said.collect::<Vec<_>>().join("\n"))
            }
            OperatorQuestion::Stalled => {
                let commands = asks::commands(asks::short(flow), &view.ask).into_iter();
                view.commands = commands.map(|answer| answer.command).collect();
                None
            }
            OperatorQuestion::Configuration { .. }
            | OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. } => view.ask.says.clone(),
        };
        // A tab is not a row of spaces, and who decides sees which it is.
        let lines = whole.iter().flat_map(|text| text.lines());
        view.says = lines.map(|line| tabbed(line, '→')).collect();
        view
    }

    /// Reads on in the journal of a flow, from its checkpoint if it is another one than before.
    fn follow(&mut self, flow: &FlowRef, look_at_files: bool) {
        if self
            .followed
            .as_ref()
            .is_none_or(|followed| followed.flow != *flow)
        {
            self.followed = self.begin(flow);
        } else if look_at_files && let Some(followed) = &mut self.followed {
            followed.files = files(&self.store, flow);
        }
        if let Some(followed) = &mut self.followed {
            followed.read();
        }
    }

    fn begin(&self, flow: &FlowRef) -> Option<Followed> {
        let seen = self.store.look(flow).ok()?;
        let follower = self.store.follow_after(flow, seen.end);
        Some(Followed {
            flow: flow.clone(),
            follower,
            screen: seen.screen,
            damage: seen.damage.map(|damage| damage.to_string()),
            files: files(&self.store, flow),
        })
    }
}

impl Followed {
    fn read(&mut self) {
        if self.damage.is_some() {
            return;
        }
        let screen = &mut self.screen;
        let read = self.follower.read(&mut |recorded| screen.apply(recorded));
        self.damage = read.err().map(|error| error.to_string());
    }

    fn view(&self, now: At, is_driven: bool) -> FlowView {
        let state = &self.screen.flow;
        let nodes = state.graph.nodes.iter().map(|node| {
            // An answer is read when the flow is driven.
            let answered = state.replies.contains_key(&node.id);
            let waits = state.awaiting_operator.contains_key(&node.id) && !answered;
            let (sign, word) = match (answered, waits) {
                (true, _) if !state.running.contains_key(&node.id) => {
                    ("·", "is answered and goes on".to_owned())
                }
                _ => node_line(state, &node.id, now, is_driven),
            };
            NodeLine {
                sign,
                node: node.id.to_string(),
                role: node.role.to_string(),
                word,
                waits,
            }
        });
        let mut feeds: Vec<(Seq, Feed)> = self
            .screen
            .feeds
            .iter()
            .map(|(role, feed)| {
                let last = feed.items().map(|item| item.seq).max().unwrap_or(0);
                let role = role.clone();
                let items = items(feed, &role);
                (last, Feed { role, items })
            })
            .collect();
        feeds.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
        let access = match state.consent_mode {
            ConsentMode::FullAccess => Some("full access: nothing is asked".to_owned()),
            ConsentMode::NoAccess | ConsentMode::PartialAccess => None,
        };
        let spent = access.into_iter().chain(cost::in_short(&state.account));
        FlowView {
            flow: self.flow.clone(),
            title: one_line(&state.title, TITLE_COLUMNS_MAX),
            spent: spent.collect::<Vec<_>>().join(" · "),
            nodes: nodes.collect(),
            feeds: feeds.into_iter().map(|(_, feed)| feed).collect(),
            cost: table::lines(&cost::rows(state, &configured(state))),
            files: self.files.clone(),
            damage: self.damage.as_deref().map(|says| plain(says).into_owned()),
        }
    }
}

/// The files of the record of a flow, each with its size.
fn files(store: &Store, flow: &FlowRef) -> Vec<String> {
    let disk = store.ground().disk.as_ref();
    let (files, is_cut) = own::files(disk, &store.place(flow).record(), FILES_MAX);
    let lines = files
        .iter()
        .map(|(path, bytes)| format!("{:>9}  {}", size(*bytes), plain(path)));
    let more = is_cut.then(|| format!("{:>9}  and more", "…"));
    lines.chain(more).collect()
}

/// What a node does right now; one that is at work says for how long.
fn node_line(state: &FlowState, node: &NodeId, now: At, is_driven: bool) -> (&'static str, String) {
    let running = state.running.get(node);
    let turn = running.and_then(|running| state.turns.get(&running.turn));
    let streams = |request: &LastRequest| request.drafted_bytes > 0;
    let speaks = turn.is_some_and(|turn| turn.request.as_ref().is_some_and(streams));
    let stands = stands(state, node, now, is_driven, speaks);
    let word = match running {
        Some(running) => format!("{}, {}", stands.word, age(now.ms() - running.since.ms())),
        None => stands.word,
    };
    (stands.sign, plain(&word).into_owned())
}

fn line(row: &Row, asks: usize, now: At) -> FlowLine {
    let summary = row.summary.as_ref();
    let standing = row.standing();
    let words = row.standing_words(now);
    let words = words.unwrap_or_else(|| "never began".to_owned());
    let status = match standing {
        Some(FlowStanding::Damaged | FlowStanding::Unreachable) | None => words,
        Some(FlowStanding::Waiting) if asks > 0 => format!("{words} ({asks})"),
        Some(_) if asks > 0 => format!("{words}, asks ({asks})"),
        Some(_) => words,
    };
    let title = summary.map_or("", |summary| &summary.title);
    FlowLine {
        flow: row.flow.clone(),
        name: name(&row.flow),
        title: one_line(title, TITLE_COLUMNS_MAX),
        status,
        standing: standing.filter(|standing| {
            !matches!(standing, FlowStanding::Damaged | FlowStanding::Unreachable)
        }),
        is_driven: row.held_by.is_some(),
        done: summary.map_or((0, 0), |summary| (summary.done, summary.nodes)),
        cost_micros: summary.map_or(0, |summary| summary.cost_micros),
        updated_ms: summary.and_then(|summary| summary.updated_at).map(At::ms),
    }
}

/// Who asks for what, as a heading, and what an answer decides, in a line. The page says the same.
fn in_short(state: &FlowState, ask: &OpenAsk, is_own: bool) -> (String, String) {
    let role = ask.role.as_ref().map_or("", RoleInstance::as_str);
    let at = ask.node().map(NodeId::as_str).filter(|node| *node != role);
    let at = at.map(|node| format!("{node}: ")).unwrap_or_default();
    let (headline, short) = (ask.headline(), ask.short());
    // After the role, as in "writer wants to run a command".
    let wants = headline.strip_prefix(role).unwrap_or_default().trim();
    let small = |text: &str| {
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let head = format!("{at}{headline}");
    let (head, line) = match &ask.question {
        OperatorQuestion::Text { .. } if is_own => {
            let came_in = ask.node().and_then(|node| came_in(state, node));
            let came_in = came_in.map(|path| format!(": {path}"));
            let turn = format!("your turn{}", came_in.unwrap_or_default());
            (format!("{at}{role}, your turn"), turn)
        }
        OperatorQuestion::Text { reason, .. } => {
            let line = match reason {
                WaitReason::PromptHuman | WaitReason::Message => format!("answer: {short}"),
                WaitReason::ConsentDenied | WaitReason::Budget => small(&short),
                WaitReason::AutonomousAbort
                | WaitReason::Consent
                | WaitReason::RoleConfiguration
                | WaitReason::HandoffApproval
                | WaitReason::RepairLimit
                | WaitReason::Provider => {
                    let wants = wants.trim_start_matches("'s ");
                    // A question without words is only answered.
                    if short == capital(ANSWER) {
                        wants.to_owned()
                    } else {
                        format!("{wants}: {short}")
                    }
                }
            };
            (head, line)
        }
        OperatorQuestion::Consent { .. } => {
            let wants = wants.trim_start_matches("wants to ");
            let about = short.trim_start_matches("Run ");
            (head, format!("{wants}: {about}"))
        }
        OperatorQuestion::Approval { .. } => {
            let handed = asks::says(ask).unwrap_or_default();
            (format!("{head}: approve?"), format!("approve: {handed}"))
        }
        OperatorQuestion::Configuration { .. }
        | OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Stalled => (head, small(&short)),
    };
    (plain(&head).into_owned(), line)
}

/// The file that came in last for a node that waits for its operator.
fn came_in<'s>(state: &'s FlowState, node: &NodeId) -> Option<&'s str> {
    let waiting = state.awaiting_operator.get(node)?;
    let delivery = waiting.held.as_ref()?.received.last()?;
    delivery.artifact.path.rsplit('/').next()
}

fn items(feed: &FeedView, role: &RoleInstance) -> Vec<Item> {
    let said = feed.items().filter(|item| !only_ends(item));
    said.map(|shown| item(shown, role)).collect()
}

fn item(item: &FeedItem, role: &RoleInstance) -> Item {
    let is_call = matches!(
        item.kind,
        ItemKind::Tool | ItemKind::ToolSuccess | ItemKind::ToolError
    );
    // The block that ends a turn is for the program.
    let mut text = if item.kind == ItemKind::Assistant {
        before_its_end(&item.text).trim_end().lines()
    } else {
        item.text.lines()
    };
    // The first line says what a call does, and with what; the heading of the feed, who speaks.
    let label = if is_call {
        text.next().unwrap_or(&item.label)
    } else if item.kind == ItemKind::Assistant && item.label == role.as_str() {
        ""
    } else {
        &item.label
    };
    let mut lines: Vec<String> = (text.by_ref().take(ITEM_LINES_MAX))
        .map(|line| tabbed(line, ' '))
        .collect();
    if text.next().is_some() || item.full_bytes.is_some() {
        lines.push("…".to_owned());
    }
    if let Some(again) = item.again_at {
        let again = again.text();
        let time = String::from_utf8_lossy(again.get(11..19).unwrap_or_default());
        lines.push(format!("{RETRYING} at {time} UTC"));
    }
    let marks = [(item.interrupted, CUT_OFF), (item.discarded, DISCARDED)];
    let marks = marks.into_iter().filter(|(is_so, _)| *is_so);
    let marks: String = marks.map(|(_, mark)| format!(" ({mark})")).collect();
    Item {
        sign: sign(item.kind, item.pending),
        label: format!("{}{marks}", tabbed(label, ' ')),
        lines,
        failed: matches!(item.kind, ItemKind::Error | ItemKind::ToolError),
        is_call,
    }
}

const fn sign(kind: ItemKind, pending: bool) -> &'static str {
    match kind {
        ItemKind::Assistant => "¶",
        ItemKind::User => "»",
        ItemKind::Event => "·",
        ItemKind::Error => "✗",
        ItemKind::Handoff => "→",
        ItemKind::Resume => "↻",
        ItemKind::Repair => "↺",
        ItemKind::Reasoning => "~",
        ItemKind::Tool if pending => "●",
        ItemKind::Tool => "○",
        ItemKind::ToolSuccess => "✓",
        ItemKind::ToolError => "✗",
        ItemKind::Activation => "▸",
    }
}
