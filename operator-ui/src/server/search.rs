//! Looks for words in one flow: in its title, in feeds, and in what models were sent. `everywhere` looks in all flows.

use std::collections::BTreeMap;
use std::convert::Infallible;

use a_society_facts::id::RoleInstance;
use a_society_facts::message::{Message, Text};
use a_society_facts::view::feed::{FeedItem, ItemKind};
use a_society_facts::view::route::session_role;
use a_society_facts::view::{FactView as _, session::SessionView};
use a_society_state::FlowRef;
use a_society_state::look::Look;

use super::app::Shared;
use super::blocking::unread;
use super::everywhere;
use super::feed_at::each_upto;
use super::limits::{HITS_A_ROLE_MAX, QUERY_BYTES_MAX, QUERY_CHARS_MIN};
use super::window::Window;
use crate::fold::answer_text::before_its_end;
use crate::fold::feed::wire_id;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::http::{Hit, Hits, SentPart};

/// How many characters are shown before and after a hit.
const AROUND_CHARS: usize = 60;

/// What is found in one flow, or in all of them.
pub(super) fn of(app: &Shared, window: &Window, most: usize) -> Result<Hits, Fault> {
    let query = window.q.clone().unwrap_or_default();
    let mut search = Search {
        app,
        query: query.trim().to_lowercase(),
        most,
        found: Hits {
            hits: Vec::new(),
            truncated: false,
        },
    };
    if search.query.chars().count() < QUERY_CHARS_MIN || search.query.len() > QUERY_BYTES_MAX {
        return Ok(search.found);
    }
    let Some(name) = &window.flow else {
        return everywhere::of(app, &query);
    };
    let flow = app.hubs.store.find(name).map_err(|error| unread(&error))?;
    if let Ok(look) = app.hubs.store.look(&flow) {
        search.look(&flow, &look);
        search.sessions(&flow);
    }
    Ok(search.found)
}

/// A search, and what it has found.
struct Search<'a> {
    app: &'a Shared,
    query: String,
    most: usize,
    found: Hits,
}

impl Search<'_> {
    /// Titles, and what feeds show.
    fn look(&mut self, flow: &FlowRef, look: &Look) {
        let title = &look.screen.flow.title;
        if let Some(snippet) = snippet(title, &self.query) {
            self.add(Hit {
                seq: look.screen.flow.seq,
                ..hit(flow, snippet)
            });
        }
        for (role, feed) in &look.screen.feeds {
            let items = (feed.items().rev())
                .filter_map(|item| Some((item, within(item, &self.query)?)))
                // One role that says a word again and again leaves room for the others.
                .take(HITS_A_ROLE_MAX);
            let hits = items.map(|(item, snippet)| Hit {
                role: Some(role.to_string()),
                seq: item.seq,
                item: Some(wire_id(item)),
                at: Some(words::at(item.at)),
                ..hit(flow, snippet)
            });
            let hits: Vec<Hit> = hits.collect();
            hits.into_iter().for_each(|hit| self.add(hit));
            // A look holds the ends of feeds only.
            self.found.truncated |= feed.items_before() > 0;
        }
    }

    /// What models were sent: their system prompts, and messages that no model wrote.
    fn sessions(&mut self, flow: &FlowRef) {
        let mut sessions: BTreeMap<RoleInstance, SessionView> = BTreeMap::new();
        let id = flow.flow.clone();
        let read = each_upto(&self.app.hubs, flow, None, &mut |recorded| {
            let Some(role) = recorded.fact().and_then(session_role) else {
                return;
            };
            let new = || SessionView::new(role.clone(), Some(id.clone()));
            sessions
                .entry(role.clone())
                .or_insert_with(new)
                .apply(recorded);
        });
        // What came before a fault is searched.
        self.found.truncated |= read.is_err();
        let place = self.app.hubs.store.place(flow);
        for (role, session) in sessions {
            let mut hits: Vec<Hit> = Vec::new();
            let whole = |text: &Text| Ok::<_, Infallible>(place.text_or_beginning(text));
            let lists = (session.archives.iter())
                .map(|archive| (archive.id.as_str(), &archive.archived_transcript_history))
                .chain([("live", &session.messages)]);
            for (seg, messages) in lists.collect::<Vec<_>>().into_iter().rev() {
                for (n, entry) in messages.iter().enumerate().rev() {
                    let Message::User { .. } = &*entry.message else {
                        continue;
                    };
                    let Ok(message) = entry.whole(whole);
                    let Message::User { content } = &*message else {
                        continue;
                    };
                    let Some(snippet) = snippet(&without_marks(content), &self.query) else {
                        continue;
                    };
                    hits.push(Hit {
                        role: Some(role.to_string()),
                        seq: entry.seq,
                        at: Some(words::at(entry.at)),
                        sent: Some(SentPart {
                            seg: seg.to_owned(),
                            n: n as u64,
                        }),
                        ..hit(flow, snippet)
                    });
                }
            }
            let prompt = session.system_prompt.as_ref();
            let prompt = prompt.map(|text| place.text_or_beginning(text));
            let found = prompt.and_then(|text| snippet(&without_marks(&text), &self.query));
            hits.extend(found.map(|snippet| Hit {
                role: Some(role.to_string()),
                sent: Some(SentPart {
                    seg: "system".to_owned(),
                    n: 0,
                }),
                ..hit(flow, snippet)
            }));
            let hits = hits.into_iter().take(HITS_A_ROLE_MAX);
            hits.for_each(|hit| self.add(hit));
        }
    }

    fn is_full(&self) -> bool {
        self.found.hits.len() >= self.most
    }

    fn add(&mut self, hit: Hit) {
        if self.is_full() {
            self.found.truncated = true;
        } else {
            self.found.hits.push(hit);
        }
    }
}

/// A place in a flow of which nothing more is known.
fn hit(flow: &FlowRef, snippet: String) -> Hit {
    Hit {
        flow: wire_ref(flow),
        role: None,
        seq: 0,
        item: None,
        snippet,
        at: None,
        sent: None,
    }
}

fn within(item: &FeedItem, query: &str) -> Option<String> {
    let of_text = if item.kind == ItemKind::Assistant {
        // The block that ends a turn is for the program. What was looked for may be among the marks.
        let text = before_its_end(&item.text);
        snippet(&without_marks(text), query).or_else(|| snippet(text, query))
    } else {
        snippet(&item.text, query)
    };
    of_text.or_else(|| snippet(&item.label, query))
}

/// A text of Markdown without the marks of tables, headings, quotes and emphasis, for a line of a list.
pub(super) fn without_marks(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        let is_row = line.starts_with('|') && line.trim_end().len() > 1;
        let is_rule = is_row && line.chars().all(|letter| "|:- ".contains(letter));
        // Files that were handed over are sent between such lines.
        let is_tag = line.starts_with('<') && line.trim_end().ends_with('>');
        if is_rule || is_tag || line.starts_with("```") {
            return String::new();
        }
        let line = line.trim_start_matches(['#', '>', ' ']).replace("**", "");
        let line = line.replace('`', "");
        if is_row { line.replace('|', " ") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The words around what was found.
fn snippet(text: &str, query: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(query)?;
    let before = lower.get(..at)?.chars().count();
    let long = query.chars().count() + 2 * AROUND_CHARS;
    let start = before.saturating_sub(AROUND_CHARS);
    let shown: String = text.chars().skip(start).take(long).collect();
    let cut_at_end = text.chars().nth(start + long).is_some();
    let mut pieces: Vec<&str> = shown.split_whitespace().collect();
    // No word is begun in its middle, unless it is the one that was looked for.
    let spare = |piece: &str| !piece.to_lowercase().contains(query);
    if start > 0 && pieces.len() > 1 && spare(pieces[0]) {
        pieces.remove(0);
    }
    if cut_at_end && pieces.len() > 1 && pieces.last().is_some_and(|piece| spare(piece)) {
        pieces.pop();
    }
    Some(pieces.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_of_what_a_model_wrote_has_no_marks_of_its_markdown() {
        let text = "## Torn **tails**\n\n| Case | Outcome |\n|:-----|--------:|\n| torn | `cut` off |\n\n> a || b";
        let shown = |query: &str| snippet(&without_marks(text), query);
        let found = shown("outcome").unwrap();
        assert_eq!(found, "Torn tails Case Outcome torn cut off a || b");
        assert_eq!(shown("|:--"), None);
        assert!(snippet(text, "|:--").unwrap().contains("|:--"));
    }

    #[test]
    fn the_words_around_what_was_found_are_whole() {
        let text = format!("{} needle {}", "before ".repeat(20), "after ".repeat(40));
        let found = snippet(&text, "needle").unwrap();
        assert!(found.starts_with("before "), "{found}");
        assert!(found.ends_with(" after"), "{found}");
        assert_eq!(snippet("a needle", "needle").unwrap(), "a needle");
        let long = format!("{}needle{}", "x".repeat(90), "y".repeat(90));
        assert!(snippet(&long, "needle").unwrap().contains("needle"));
    }
}
