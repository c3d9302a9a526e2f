//! `web_search`, at a service that speaks Tavily's manner.

use std::fmt::Write as _;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::{CallEnd, Effect};
use reqwest::Method;
use serde::Deserialize;
use url::{Host, Url};

use super::client::{Web, WebFault, WebRequest, WebResponse};
use super::fetch::ended;
use crate::consent::Tier;
use crate::tool::SearchService;
use crate::tool::arguments::WebSearch;
use crate::tool::deed::{Deed, Query};
use crate::tool::limits::{QUERY_BYTES, QUERY_RESULTS};
use crate::tool::output::ToolOutput;
use crate::tool::plan::CallPlan;
use crate::tool::refusal::{CallRefusal, RefusalKind};
use crate::tool::toolbox::{ConsentNeeds, Toolbox};

/// How many results a search gives when it does not say.
const RESULTS: u64 = 5;

/// What a trial asks for: anybody may know that it is asked.
const TRIAL: &str = "web search";

#[derive(Debug, Deserialize)]
struct SearchResponse {
    results: Vec<SearchHit>,
}

#[derive(Debug, Deserialize)]
struct SearchHit {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
}

impl Toolbox {
    pub(in super::super) fn plan_web_search(
        &self,
        given: &WebSearch,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        let bad = |text: String| CallRefusal::new(RefusalKind::Arguments, text);
        if given.query.trim().is_empty() || given.query.len() > QUERY_BYTES {
            return Err(bad(format!(
                "`query` has between 1 and {QUERY_BYTES} bytes."
            )));
        }
        let results = given.results.unwrap_or(RESULTS);
        if results == 0 || results > QUERY_RESULTS {
            return Err(bad(format!("`results` is between 1 and {QUERY_RESULTS}.")));
        }
        if self.redact(&given.query) != given.query {
            let text = "The query has a secret in it, which is not sent anywhere.";
            return Err(CallRefusal::new(RefusalKind::OutOfReach, text));
        }
        let endpoint = self.search_endpoint()?;
        let wants = ConsentNeeds {
            tier: Tier::Web,
            terms: ConsentTerms::Web {
                host: endpoint.host_str().unwrap_or_default().to_owned(),
            },
            shown: given.query.clone(),
            ..ConsentNeeds::default()
        };
        let ask = self.ask("web_search", raw, wants);
        let summary = format!("search the web for {:?}", given.query);
        let query = Query {
            endpoint,
            text: given.query.clone(),
            results,
        };
        let deed = Deed::Search(Box::new(query));
        Ok(self.planned("web_search", Effect::Pure, summary, ask, deed))
    }

    /// The operator's choice: encrypted, or on this machine.
    fn search_endpoint(&self) -> Result<Url, CallRefusal> {
        let service = self.0.setting.search.as_ref();
        let none = || CallRefusal::new(RefusalKind::NotPossible, "There is no search service.");
        endpoint(service.ok_or_else(none)?)
    }

    pub(in super::super) fn web_search(
        &self,
        query: Query,
        stop: &StopSignal,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let key = self
            .0
            .setting
            .search
            .as_ref()
            .map(|service| service.key.clone());
        let ask = asking(query.endpoint, key, &query.text, query.results);
        let answer = match self.0.web.ask(ask, true, stop) {
            Ok(answer) => answer,
            Err(fault) => return ended(fault),
        };
        let found = found(&answer)?;
        let most = usize::try_from(query.results).unwrap_or(usize::MAX);
        let mut text = String::new();
        for hit in found.results.iter().take(most) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}\n{}\n{}\n", hit.title, hit.url, hit.content.trim());
        }
        if text.is_empty() {
            text.push_str("[nothing was found]\n");
        }
        Ok((CallEnd::Done, ToolOutput::of(text)))
    }
}

fn asking(url: Url, key: Option<String>, text: &str, results: u64) -> WebRequest {
    let body = serde_json::json!({ "query": text, "max_results": results });
    WebRequest {
        url,
        method: Method::POST,
        bearer: key,
        json: Some(body.to_string()),
    }
}

/// The operator's choice: encrypted, or on this machine.
fn endpoint(service: &SearchService) -> Result<Url, CallRefusal> {
    let refused = |text: &str| CallRefusal::new(RefusalKind::NotPossible, text);
    let url = Url::parse(&service.endpoint)
        .map_err(|_| refused("The address of the search service is not valid."))?;
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    if url.scheme() == "https" || (url.scheme() == "http" && is_here) {
        return Ok(url);
    }
    Err(refused(
        "The address of the search service is not encrypted.",
    ))
}

fn found(answer: &WebResponse) -> Result<SearchResponse, CallRefusal> {
    let failed = |why: String| CallRefusal::new(RefusalKind::NotPossible, why);
    if answer.status != 200 {
        let text = String::from_utf8_lossy(&answer.body);
        let text: String = text.chars().take(500).collect();
        return Err(failed(format!(
            "The search service said {}: {text}",
            answer.status
        )));
    }
    serde_json::from_slice(&answer.body)
        .map_err(|why| failed(format!("The search service said something else: {why}.")))
}

/// Asks a search service for one thing, to see whether it answers: the addresses of what it found.
///
/// # Errors
/// Describes what is wrong; it may quote the service.
pub fn try_search(service: &SearchService) -> Result<Vec<String>, String> {
    let said = |refusal: CallRefusal| refusal.text;
    let url = endpoint(service).map_err(said)?;
    let ask = asking(url, Some(service.key.clone()), TRIAL, 1);
    let answer = match Web::public().ask(ask, true, &StopSignal::default()) {
        Ok(answer) => answer,
        Err(WebFault::Failed(why)) => return Err(why),
        Err(WebFault::Refused(refusal)) => return Err(refusal.text),
        Err(WebFault::Stopped | WebFault::TimedOut) => {
            return Err("There was no answer in time.".to_owned());
        }
    };
    let hits = found(&answer).map_err(said)?.results.into_iter();
    Ok(hits.map(|hit| hit.url).take(1).collect())
}
