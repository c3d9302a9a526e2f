//! Searching, with the index and without one.

use super::database::IndexFault;
use super::gather::{SearchFound, SearchTerms, SearchWanted, SessionGathering};
use super::index::{Searched, WordIndex};
use super::said::{SaidMessage, SaidReader};
use crate::error::Error;
use crate::store::Store;

/// Finds messages.
///
/// # Errors
/// When the workspace cannot be read.
pub fn search(
    store: &Store,
    wanted: &SearchWanted<'_>,
    terms: &mut dyn SearchTerms,
) -> Result<SearchFound, Error> {
    let index = WordIndex::of(store);
    // A second time for an index that was damaged, and a third for one that named what is not there.
    let mut fault = None;
    for _ in 0..3 {
        match index.search(wanted, terms) {
            Ok(Searched::Found(found)) => return Ok(found),
            Ok(Searched::Wrong(flows)) => {
                if let Err(failed) = index.forget(&flows) {
                    fault = Some(failed);
                    break;
                }
            }
            Err(IndexFault::Damaged) => {
                if let Err(again) = index.drop_all() {
                    fault = Some(again);
                    break;
                }
            }
            Err(other) => {
                fault = Some(other);
                break;
            }
        }
    }
    let why = match fault {
        Some(IndexFault::Refused(why)) => why,
        Some(IndexFault::Busy) => "another process keeps it busy".to_owned(),
        Some(IndexFault::Damaged) | None => "it is damaged again and again".to_owned(),
    };
    let found = search_journals(store, wanted, terms)?;
    Ok(SearchFound {
        without_index: Some(why),
        ..found
    })
}

/// Brings the index to where the journals are, and says how many flows are not in it whole.
///
/// # Errors
/// When there can be none, in words.
pub fn index(store: &Store, terms: &mut dyn SearchTerms) -> Result<usize, String> {
    let index = WordIndex::of(store);
    match index.updated(terms) {
        Ok((_, updated)) => Ok(updated.behind),
        // The next one makes it anew.
        Err(IndexFault::Damaged) => index
            .drop_all()
            .map(|()| 1)
            .map_err(|_| "it is damaged".to_owned()),
        Err(IndexFault::Busy) => Ok(1),
        Err(IndexFault::Refused(why)) => Err(why),
    }
}

/// The same without an index: every journal is read.
///
/// # Errors
/// When the workspace cannot be read.
pub(super) fn search_journals(
    store: &Store,
    wanted: &SearchWanted<'_>,
    terms: &mut dyn SearchTerms,
) -> Result<SearchFound, Error> {
    let mut gathered = SessionGathering::new(wanted);
    let mut flows = store.census()?.flows;
    flows.sort_by(|one, other| other.flow.cmp(&one.flow));
    flows.retain(|flow| {
        wanted
            .project
            .is_none_or(|project| *project == flow.project)
    });
    for flow in &flows {
        if store.must_be_ours(flow).is_err() {
            continue;
        }
        let place = store.place(flow);
        let mut reader = SaidReader::new(flow.flow.clone());
        let mut said: Vec<SaidMessage> = Vec::new();
        let read = store.follow_after(flow, None).read(&mut |recorded| {
            reader.read(&place, recorded, &mut |message| {
                let is_of_role = wanted.role.is_none() || wanted.role == message.role.as_ref();
                if is_of_role && wanted.words.places(&message.text).is_some() {
                    said.push(message);
                }
            });
        });
        // What comes before a fault is found.
        drop(read);
        for message in said.into_iter().rev() {
            gathered.offer(flow, message.role.clone().as_ref(), terms, || Some(message));
        }
    }
    Ok(gathered.end())
}
