//! What the tools for the web take.

use serde::Deserialize;

use super::super::form::MemberKind::{Number, Text};
use super::super::form::{ToolForm, also, optional, required};

pub(super) static FETCH_URL: ToolForm = ToolForm {
    name: "fetch_url",
    said: "Gets a public https page and gives its status and its text, at most {bound}; the rest is \
           kept in a file. A redirect to another host is not followed but named.",
    members: &[required("url", Text, "")],
    also: &[also("WebFetch"), also("web_fetch")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct FetchUrl {
    pub url: String,
}

pub(super) static WEB_SEARCH: ToolForm = ToolForm {
    name: "web_search",
    said: "Searches the web and gives title, address and excerpt of each result. Read a page with \
           fetch_url.",
    members: &[
        required("query", Text, ""),
        optional("results", Number, "Default 5, at most 20."),
    ],
    also: &[also("WebSearch")],
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct WebSearch {
    pub query: String,
    pub results: Option<u64>,
}
