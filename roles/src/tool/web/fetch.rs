//! `fetch_url`.

use std::fmt::Write as _;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::{CallEnd, Effect};
use reqwest::Method;
use url::Url;

use super::client::{WebFault, WebRequest, WebResponse};
use super::page;
use crate::consent::Tier;
use crate::tool::arguments::FetchUrl;
use crate::tool::deed::{Deed, Fetch};
use crate::tool::limits::{FETCH_REDIRECTS, URL_BYTES};
use crate::tool::output::ToolOutput;
use crate::tool::plan::CallPlan;
use crate::tool::refusal::{CallRefusal, RefusalKind};
use crate::tool::toolbox::{ConsentNeeds, Toolbox};

impl Toolbox {
    pub(in super::super) fn plan_fetch(
        &self,
        given: &FetchUrl,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        if given.url.len() > URL_BYTES {
            let text = format!("The address is longer than {URL_BYTES} bytes.");
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        let url = self.0.web.url(&given.url)?;
        // What leaves in an address has left for good.
        if self.redact(&given.url) != given.url {
            let text = "The address has a secret in it, which is not sent anywhere.";
            return Err(CallRefusal::new(RefusalKind::OutOfReach, text));
        }
        let wants = ConsentNeeds {
            tier: Tier::Web,
            terms: ConsentTerms::Web {
                host: url.host_str().unwrap_or_default().to_owned(),
            },
            shown: url.to_string(),
            ..ConsentNeeds::default()
        };
        let summary = format!("fetch {url}");
        let ask = self.ask("fetch_url", raw, wants);
        let deed = Deed::Fetch(Box::new(Fetch { url }));
        Ok(self.planned("fetch_url", Effect::Pure, summary, ask, deed))
    }

    pub(in super::super) fn fetch(
        &self,
        fetch: Fetch,
        stop: &StopSignal,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let mut url = fetch.url;
        for _ in 0..=FETCH_REDIRECTS {
            let ask = WebRequest {
                url: url.clone(),
                method: Method::GET,
                bearer: None,
                json: None,
            };
            let answer = match self.0.web.ask(ask, false, stop) {
                Ok(answer) => answer,
                Err(fault) => return ended(fault),
            };
            let Some(location) = answer
                .location
                .as_ref()
                .filter(|_| is_redirect(answer.status))
            else {
                return Ok((CallEnd::Done, shown(&url, &answer)));
            };
            let next = url.join(location).map(|next| next.to_string());
            let next = next.map_err(|_| {
                CallRefusal::new(
                    RefusalKind::NotPossible,
                    format!("{url} leads to {location:?}, which is no address."),
                )
            })?;
            let next = self.0.web.url(&next)?;
            // Consent was given for this host. For another it is asked again.
            if next.origin() != url.origin() {
                let text = format!(
                    "{url} leads to another host: {next}\nNothing was fetched from there. Call \
                     fetch_url with that address if you want it."
                );
                return Ok((CallEnd::Done, ToolOutput::of(text)));
            }
            url = next;
        }
        let text = format!("The address leads on and on; {FETCH_REDIRECTS} times were followed.");
        Err(CallRefusal::new(RefusalKind::NotPossible, text))
    }
}

/// How a call ends that got no answer.
pub(super) fn ended(fault: WebFault) -> Result<(CallEnd, ToolOutput), CallRefusal> {
    match fault {
        WebFault::Stopped => Ok((CallEnd::Stopped, ToolOutput::of("The turn was stopped."))),
        WebFault::TimedOut => Ok((
            CallEnd::TimedOut,
            ToolOutput::of("There was no answer in time."),
        )),
        WebFault::Refused(refusal) => Err(refusal),
        WebFault::Failed(why) => Err(CallRefusal::new(RefusalKind::NotPossible, why)),
    }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn shown(url: &Url, answer: &WebResponse) -> ToolOutput {
    let mut head = format!("[status {}, {}]\n", answer.status, answer.kind);
    let mut body = page::text(&answer.kind, &answer.body, answer.is_cut).unwrap_or_else(|| {
        // Writing to a string cannot fail.
        let _ = writeln!(head, "[{} bytes that are no text]", answer.body.len());
        String::new()
    });
    if !body.is_empty() && !body.ends_with('\n') {
        body.push('\n');
    }
    let tag = tag(&body);
    let _ = writeln!(head, "<{tag} url=\"{url}\">");
    let mut tail = format!("</{tag}>\n");
    if answer.is_cut {
        tail.push_str("[the page is longer; the rest was not fetched]\n");
    }
    ToolOutput {
        head,
        body,
        is_cut: answer.is_cut,
        tail,
        ..ToolOutput::default()
    }
}

/// The tag around a page: one whose end tag the text does not contain.
fn tag(body: &str) -> String {
    let body = body.to_ascii_lowercase();
    let mut tag = "page".to_owned();
    let mut number = 2;
    while body.contains(&format!("</{tag}")) {
        tag = format!("page-{number}");
        number += 1;
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_page_cannot_end_its_own_tag() {
        assert_eq!(tag("text"), "page");
        assert_eq!(tag("a </Page> b"), "page-2");
        assert_eq!(tag("a </page> </page-2 >"), "page-3");
    }
}
