//! The data of `watch`: the list of flows, and the journal of the chosen one, read while its driver
//! writes it.

use std::collections::BTreeMap;

use a_society_facts::At;
use a_society_facts::Whom;
use a_society_facts::fact::operator::ConsentMode;
use a_society_facts::id::Seq;
use a_society_facts::view::feed::{FeedItem, ItemKind};
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::screen::Screen;
use a_society_facts::view::standing::Standing;
use a_society_facts::view::{FeedView, View as _};
use a_society_operator_ui::fold::terms::scope;
use a_society_orchestrator::machine::Question;
use a_society_state::index::{Row, rows};
use a_society_state::journal::follow::Follower;
use a_society_state::{FlowRef, Store};

use super::view::{AskKind, AskView, Feed, FlowLine, FlowView, Item, NodeLine, View};
use crate::cli::asks::{self, Ask};
use crate::cli::cost;
use crate::cli::handed;
use crate::cli::progress::board::stands;
use crate::cli::status::works_and_asks;
use crate::cli::turn_files;
use crate::operator_error::Stop;
use crate::text::{money, one_line, plain, tabbed};

/// The list of flows is made anew this often; the flow that is looked at is read much more often.
const LIST_EVERY_MS: u64 = 700;

/// Longer titles are cut.
const TITLE_COLUMNS_MAX: usize = 60;

/// Lines of an item beyond these are left to the page and to `log`.
const ITEM_LINES_MAX: usize = 40;

/// Where everything comes from.
pub(crate) struct Source {
    store: Store,
    /// The flow that was named; others are not shown then.
    only: Option<FlowRef>,
    listed: Vec<Row>,
    listed_at_ms: Option<u64>,
    /// What each flow asked at a record of it.
    asked: BTreeMap<FlowRef, (Seq, Vec<AskView>)>,
    followed: Option<Followed>,
}

/// A flow whose journal is followed.
struct Followed {
    flow: FlowRef,
    follower: Follower,
    screen: Screen,
    damage: Option<String>,
}

impl Source {
    pub(crate) const fn new(store: Store, only: Option<FlowRef>) -> Self {
        Self {
            store,
            only,
            listed: Vec::new(),
            listed_at_ms: None,
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
        let due = self
            .listed_at_ms
            .is_none_or(|at| now_ms.saturating_sub(at) >= LIST_EVERY_MS);
        if due {
            self.list()?;
            self.listed_at_ms = Some(now_ms);
        }
        let wanted = chosen.cloned().or_else(|| self.only.clone());
        let wanted = wanted.or_else(|| self.listed.first().map(|row| row.flow.clone()));
        if let Some(wanted) = &wanted {
            self.follow(wanted);
        }
        let mut asks: Vec<(At, AskView)> = Vec::new();
        for row in &self.listed {
            let since = row.summary.as_ref().and_then(|summary| {
                let waits = summary.waits.iter().map(|wait| wait.since);
                waits.min().or(summary.updated_at)
            });
            let since = since.unwrap_or(now);
            let asked = self.asked.get(&row.flow).map(|(_, asked)| asked.clone());
            asks.extend(
                asked
                    .unwrap_or_default()
                    .into_iter()
                    .map(|ask| (since, ask)),
            );
        }
        asks.sort_by_key(|(since, ask)| (*since, ask.id.clone()));
        Ok(View {
            flows: self.listed.iter().map(|row| line(row, now)).collect(),
            asks: asks.into_iter().map(|(_, ask)| ask).collect(),
            chosen: self.followed.as_ref().map(|followed| followed.view(now)),
        })
    }

    /// Looks at the list at once the next time.
    pub(crate) const fn look_again(&mut self) {
        self.listed_at_ms = None;
    }

    /// Lists the flows anew, and asks those that changed what they ask.
    fn list(&mut self) -> Result<(), Stop> {
        let mut flows = self.store.census()?.flows;
        flows.retain(|flow| self.only.as_ref().is_none_or(|only| only == flow));
        let mut listed = rows(&self.store, &flows);
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
            let asked = asks::of(&row.flow, state, &work).into_iter();
            let asked = asked.map(|ask| self.ask(&row.flow, state, ask)).collect();
            self.asked.insert(row.flow.clone(), (state.seq, asked));
        }
        self.listed = listed;
        Ok(())
    }

    fn ask(&self, flow: &FlowRef, state: &FlowState, ask: Ask) -> AskView {
        let (name, role, mut kind) = kind_of(state, &ask);
        let own = turn_files::own_turn(&self.store, flow, (state, &ask.question));
        if let (Some((turn, _)), AskKind::Text { to, .. }) = (&own, &kind) {
            kind = AskKind::Own {
                to: to.clone(),
                turn: Box::new(turn.clone()),
            };
        }
        // A second version is shown as what it changes, and all of it below.
        let mut must = None;
        let whole = match &ask.question {
            Question::Text { .. } if own.is_some() => {
                let again = ask.says.as_deref().and_then(asks::again);
                let came_in = own.as_ref().map(|(_, came_in)| came_in.as_str());
                let said = again.into_iter().chain(came_in);
                Some(said.collect::<Vec<_>>().join("\n"))
            }
            Question::Consent { consent, .. } => {
                let open = state.consents.get(consent);
                open.map(|open| asks::whole(&self.store, flow, &open.shown))
            }
            Question::Approval { approval, .. } => {
                let staged = handed::staged(&self.store, flow, state, approval);
                let (difference, all) = match staged {
                    Some(staged) => (staged.difference, Some(staged.whole)),
                    None => (None, None),
                };
                let shown = ask.says.iter().chain(&difference);
                must = (difference.is_some()).then(|| shown.map(|text| text.lines().count()).sum());
                let said = ask.says.into_iter().chain(difference).chain(all);
                Some(said.collect::<Vec<_>>().join("\n"))
            }
            Question::Text { .. }
            | Question::Configuration { .. }
            | Question::Improvement { .. }
            | Question::Feedback
            | Question::Unpause { .. }
            | Question::Stalled => ask.says,
        };
        let facts = ask.facts.iter();
        let facts = facts.map(|fact| format!("{}: {}", fact.label, fact.value));
        let facts: Vec<String> = facts.collect();
        let says = whole.iter().flat_map(|text| text.lines());
        let says = says.chain(facts.iter().map(String::as_str));
        // A tab is not a row of spaces, and who decides sees which it is.
        let says: Vec<String> = says.map(|line| tabbed(line, '→')).collect();
        AskView {
            must_show: must.unwrap_or(says.len()),
            id: format!("{flow}/{name}"),
            flow: flow.clone(),
            role,
            who: plain(&ask.who).into_owned(),
            what: match &kind {
                AskKind::Own { .. } => "your turn".to_owned(),
                AskKind::Text { .. }
                | AskKind::Consent { .. }
                | AskKind::Approval { .. }
                | AskKind::Improvement { .. }
                | AskKind::Feedback
                | AskKind::Unpause
                | AskKind::Configuration { .. }
                | AskKind::Typed { .. } => plain(&ask.what).into_owned(),
            },
            says,
            kind,
        }
    }

    /// Reads on in the journal of a flow, from its checkpoint if it is another one than before.
    fn follow(&mut self, flow: &FlowRef) {
        if self
            .followed
            .as_ref()
            .is_none_or(|followed| followed.flow != *flow)
        {
            self.followed = self.begin(flow);
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

    fn view(&self, now: At) -> FlowView {
        let state = &self.screen.flow;
        let nodes = state.graph.nodes.iter().map(|node| {
            let stands = stands(state, &node.id, now);
            // An answer is read when the flow is driven.
            let answered = state.replies.contains_key(&node.id);
            let waits = state.awaiting_operator.contains_key(&node.id) && !answered;
            let (sign, word) = match (answered, waits) {
                (true, _) if !state.running.contains_key(&node.id) => {
                    ("·", "is answered and goes on".to_owned())
                }
                _ => (stands.sign, stands.word),
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
            .filter_map(|(seat, feed)| {
                let last = feed.items().map(|item| item.seq).max().unwrap_or(0);
                let role = seat.role()?.clone();
                let items = items(feed);
                Some((last, Feed { role, items }))
            })
            .collect();
        feeds.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
        let access = match state.consent_mode {
            ConsentMode::FullAccess => ", full access: nothing is asked",
            ConsentMode::NoAccess | ConsentMode::PartialAccess => "",
        };
        FlowView {
            flow: self.flow.clone(),
            title: one_line(&state.title, TITLE_COLUMNS_MAX),
            status: format!(
                "{}{access}{}",
                state.status.word().replace('_', " "),
                cost::in_short(&state.account)
                    .iter()
                    .map(|part| format!(" · {part}"))
                    .collect::<String>()
            ),
            nodes: nodes.collect(),
            feeds: feeds.into_iter().map(|(_, feed)| feed).collect(),
            damage: self.damage.as_deref().map(|says| plain(says).into_owned()),
        }
    }
}

fn line(row: &Row, now: At) -> FlowLine {
    let summary = row.summary.as_ref();
    let over = summary.is_some_and(|summary| summary.is_over());
    let standing = row.standing();
    let status = standing.map_or_else(|| "never began".to_owned(), |standing| standing.words(now));
    // Nothing goes on by itself in a flow without a driver.
    let stopped = row.held_by.is_none() && !over && row.damage.is_none();
    let status = if stopped {
        format!("{status}; a-society resume {}", asks::short(&row.flow))
    } else {
        status
    };
    let cost = summary.map_or(0, |summary| summary.cost_micros);
    let status = if cost > 0 {
        format!("{status} · {}", money(cost))
    } else {
        status
    };
    FlowLine {
        flow: row.flow.clone(),
        title: one_line(
            summary.map_or("", |summary| &summary.title),
            TITLE_COLUMNS_MAX,
        ),
        status,
    }
}

/// The name of an ask, who asks it, and how it can be answered.
fn kind_of(
    state: &FlowState,
    ask: &Ask,
) -> (String, Option<a_society_facts::id::RoleInstance>, AskKind) {
    match &ask.question {
        Question::Text { node, role, reason } => {
            let to = match node {
                Some(node) => Whom::Node(node.clone()),
                None => Whom::Role(role.clone()),
            };
            let mut waits = state.waits();
            let mine = waits.find(|(at, waiting)| *at == node.as_ref() && waiting.role == *role);
            let since = mine.map_or(0, |(_, waiting)| waiting.since.ms());
            let may_retry = reason.may_retry();
            // A second question of the same node is another one.
            let name = format!("text/{}/{since}", ask.who);
            (name, Some(role.clone()), AskKind::Text { to, may_retry })
        }
        Question::Consent { consent, role, .. } => {
            let name = format!("consent/{consent}");
            let kind = state.consents.get(consent).map_or_else(
                || typed(ask),
                |open| AskKind::Consent {
                    consent: consent.clone(),
                    action: open.action,
                    scope: scope(&open.tool, &open.shown.shown()),
                },
            );
            (name, Some(role.clone()), kind)
        }
        Question::Configuration { role, .. } => {
            let kind = AskKind::Configuration { role: role.clone() };
            (format!("configuration/{role}"), Some(role.clone()), kind)
        }
        Question::Approval { approval, .. } => {
            let name = format!("approval/{approval}");
            let approval = approval.clone();
            (name, None, AskKind::Approval { approval })
        }
        Question::Improvement { modes } => {
            let modes = modes.clone();
            (
                "improvement".to_owned(),
                None,
                AskKind::Improvement { modes },
            )
        }
        Question::Feedback => ("feedback".to_owned(), None, AskKind::Feedback),
        Question::Unpause { .. } => ("unpause".to_owned(), None, AskKind::Unpause),
        Question::Stalled => ("stalled".to_owned(), None, typed(ask)),
    }
}

fn typed(ask: &Ask) -> AskKind {
    AskKind::Typed {
        commands: ask.answers.clone(),
    }
}

fn items(feed: &FeedView) -> Vec<Item> {
    let items = feed.items().map(|item: &FeedItem| {
        let lines = item.text.lines().take(ITEM_LINES_MAX);
        let mut lines: Vec<String> = lines.map(|line| tabbed(line, ' ')).collect();
        if item.text.lines().nth(ITEM_LINES_MAX).is_some() || item.full_bytes.is_some() {
            lines.push("…".to_owned());
        }
        if let Some(again) = item.again_at {
            let again = again.text();
            let time = String::from_utf8_lossy(again.get(11..19).unwrap_or_default());
            lines.push(format!("next try at {time} UTC"));
        }
        let cut = if item.interrupted { " (cut off)" } else { "" };
        let dropped = if item.discarded { " (discarded)" } else { "" };
        let label = format!("{}{cut}{dropped}", plain(&item.label));
        Item {
            sign: sign(item.kind, item.pending),
            label,
            lines,
            failed: matches!(item.kind, ItemKind::Error | ItemKind::ToolError),
        }
    });
    items.collect()
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
