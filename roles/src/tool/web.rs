//! The web.

use super::arguments::{FetchUrl, WebSearch};
use super::plan::{Plan, Refusal, RefusalKind};
use super::toolbox::Toolbox;

impl Toolbox {
    pub(super) fn plan_fetch(&self, given: &FetchUrl, _raw: &str) -> Result<Plan, Refusal> {
        Err(Refusal::new(RefusalKind::NotPossible, given.url.clone()))
    }
    pub(super) fn plan_web_search(&self, given: &WebSearch, _raw: &str) -> Result<Plan, Refusal> {
        Err(Refusal::new(RefusalKind::NotPossible, given.query.clone()))
    }
}
