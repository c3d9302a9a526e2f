//! Looks for words in titles and feeds.

use a_society_facts::view::feed::{FeedItem, ItemKind};
use a_society_state::FlowRef;

use super::app::Shared;
use super::blocking::unread;
use super::limits::{HITS_A_ROLE_MAX, QUERY_BYTES_MAX, QUERY_CHARS_MIN, SEARCHED_FLOWS_MAX};
use super::window::Window;
use crate::fold::feed::wire_id;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::http::{Hit, Hits};

/// How many characters are shown before and after a hit.
const AROUND_CHARS: usize = 60;

/// What is found in one flow, or in the newest ones.
pub(super) fn of(app: &Shared, window: &Window, most: usize) -> Result<Hits, Fault> {
    let query = window.q.clone().unwrap_or_default().trim().to_lowercase();
    let mut found = Hits {
        hits: Vec::new(),
        truncated: false,
    };
    if query.chars().count() < QUERY_CHARS_MIN || query.len() > QUERY_BYTES_MAX {
        return Ok(found);
    }
    let flows = flows(app, window, &mut found)?;
    for flow in flows {
        let Ok(look) = app.hubs.store.look(&flow) else {
            continue;
        };
        let wire = wire_ref(&flow);
        let title = &look.screen.flow.title;
        if let Some(snippet) = snippet(title, &query) {
            found.hits.push(Hit {
                flow: wire.clone(),
                role: None,
                seq: look.screen.flow.seq,
                item: None,
                snippet,
                at: None,
            });
        }
        for (role, feed) in &look.screen.feeds {
            let items = feed
                .items()
                .rev()
                .filter_map(|item| Some((item, within(item, &query)?)));
            // One role that says a word again and again leaves room for the others.
            let items = items.take(HITS_A_ROLE_MAX);
            for (item, snippet) in items {
                if found.hits.len() >= most {
                    found.truncated = true;
                    return Ok(found);
                }
                found.hits.push(Hit {
                    flow: wire.clone(),
                    role: Some(role.to_string()),
                    seq: item.seq,
                    item: Some(wire_id(item)),
                    snippet,
                    at: Some(words::at(item.at)),
                });
            }
            // A look holds the ends of feeds only.
            found.truncated |= feed.items_before() > 0;
        }
    }
    Ok(found)
}

fn flows(app: &Shared, window: &Window, found: &mut Hits) -> Result<Vec<FlowRef>, Fault> {
    if let Some(name) = &window.flow {
        let flow = app.hubs.store.find(name).map_err(|error| unread(&error))?;
        return Ok(vec![flow]);
    }
    let census = app.hubs.store.census().map_err(|error| unread(&error))?;
    let mut flows = census.flows;
    flows.sort_by(|one, other| other.flow.cmp(&one.flow));
    found.truncated = flows.len() > SEARCHED_FLOWS_MAX;
    flows.truncate(SEARCHED_FLOWS_MAX);
    Ok(flows)
}

fn within(item: &FeedItem, query: &str) -> Option<String> {
    let of_text = if item.kind == ItemKind::Assistant {
        // What was looked for may be among the marks.
        snippet(&without_marks(&item.text), query).or_else(|| snippet(&item.text, query))
    } else {
        snippet(&item.text, query)
    };
    of_text.or_else(|| snippet(&item.label, query))
}

/// A text of Markdown without the marks of tables, headings, quotes and emphasis, for a line of a list.
fn without_marks(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        let is_row = line.starts_with('|') && line.trim_end().len() > 1;
        let is_rule = is_row && line.chars().all(|letter| "|:- ".contains(letter));
        if is_rule || line.starts_with("```") {
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
