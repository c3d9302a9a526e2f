//! Forks under the flows they come from, for lists of flows.

use std::collections::BTreeMap;

use a_society_facts::id::FlowId;
use a_society_operator_ui::fold::asks::OpenAsk;
use a_society_state::index::Row;

/// A flow in a list, and under how many others it is.
#[derive(Debug)]
pub(crate) struct NestedRow {
    pub(crate) depth: usize,
    pub(crate) row: Row,
    /// What it asks, once that was looked up.
    pub(crate) asks: Vec<OpenAsk>,
}

impl NestedRow {
    const fn new(depth: usize, row: Row) -> Self {
        let asks = Vec::new();
        Self { depth, row, asks }
    }
}

/// Rows with their depth: a fork comes after its parent and its parent's other forks before it, one
/// deeper. A fork whose parent is not listed keeps its place.
pub(crate) fn nested(rows: Vec<Row>) -> Vec<NestedRow> {
    let at: BTreeMap<(String, FlowId), usize> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| (key(row, &row.flow.flow), number))
        .collect();
    let parents: Vec<Option<usize>> = rows
        .iter()
        .map(|row| at.get(&key(row, parent(row)?)).copied())
        .collect();
    let mut forks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            forks.entry(*parent).or_default().push(number);
        }
    }
    let roots = parents.iter().enumerate();
    let roots = roots.filter(|(_, parent)| parent.is_none());
    let mut next: Vec<(usize, usize)> = roots.map(|(number, _)| (0, number)).collect();
    next.reverse();
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut placed = Vec::with_capacity(rows.len());
    while let Some((depth, number)) = next.pop() {
        if let Some(row) = rows.get_mut(number).and_then(Option::take) {
            placed.push(NestedRow::new(depth, row));
        }
        let deeper = forks.remove(&number).unwrap_or_default();
        next.extend(deeper.into_iter().rev().map(|fork| (depth + 1, fork)));
    }
    // No two flows come from one another, whatever their journals say.
    let alone = rows.into_iter().flatten();
    placed.extend(alone.map(|row| NestedRow::new(0, row)));
    placed
}

/// The flow that a row's flow was forked from.
pub(crate) fn parent(row: &Row) -> Option<&FlowId> {
    let parentage = row.summary.as_ref()?.parent.as_ref()?;
    Some(&parentage.flow)
}

fn key(row: &Row, flow: &FlowId) -> (String, FlowId) {
    (row.flow.project.to_string(), flow.clone())
}

#[cfg(test)]
mod tests {
    use a_society_facts::view::FlowSummary;
    use a_society_facts::view::flow::Parentage;
    use a_society_state::FlowRef;

    use super::*;

    fn row(flow: &str, parent: Option<&str>) -> Row {
        let parent = parent.map(|parent| Parentage {
            flow: id(parent),
            at_seq: 1,
        });
        Row {
            flow: FlowRef {
                project: "demo".parse().unwrap(),
                flow: id(flow),
            },
            summary: Some(FlowSummary {
                parent,
                ..FlowSummary::default()
            }),
            damage: None,
            damage_word: None,
            held_by: None,
        }
    }

    fn id(tail: &str) -> FlowId {
        format!("20260527T143000123Z-{tail}").parse().unwrap()
    }

    fn shape(rows: Vec<Row>) -> Vec<(usize, String)> {
        let placed = nested(rows).into_iter();
        placed
            .map(|NestedRow { depth, row, .. }| {
                let id = row.flow.flow.to_string();
                (depth, id.rsplit('-').next().unwrap().to_owned())
            })
            .collect()
    }

    #[test]
    fn a_fork_stands_under_its_parent_in_the_order_of_the_list() {
        let placed = shape(vec![
            row("aaaaaa", None),
            row("bbbbbb", None),
            row("cccccc", Some("aaaaaa")),
            row("dddddd", Some("cccccc")),
            row("eeeeee", Some("aaaaaa")),
            row("ffffff", Some("zzzzzz")),
        ]);
        let wanted = [
            (0, "aaaaaa"),
            (1, "cccccc"),
            (2, "dddddd"),
            (1, "eeeeee"),
            (0, "bbbbbb"),
            (0, "ffffff"),
        ];
        assert_eq!(placed, wanted.map(|(depth, id)| (depth, id.to_owned())));
    }

    #[test]
    fn flows_that_claim_to_come_from_one_another_are_all_listed() {
        let placed = shape(vec![
            row("aaaaaa", Some("bbbbbb")),
            row("bbbbbb", Some("aaaaaa")),
            row("cccccc", None),
        ]);
        assert_eq!(placed.len(), 3);
    }
}
