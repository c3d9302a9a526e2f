//! What a server may ask of us: to say that we are there, and nothing else.
//!
//! A server may want our model to answer for it, our operator to fill in a form, or to know our
//! folders. It is a guest; it is refused, and the operator can see what it wanted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, ErrorCode, ErrorData, Implementation,
    ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};

use super::limits::ASKED_KEPT;
use super::plain;

/// How much of the name of what a server wanted is kept.
const METHOD_SHOWN_BYTES: usize = 60;

/// Answers a server.
#[derive(Debug, Clone, Default)]
pub(super) struct Guest(Arc<Seen>);

/// What a server said of its own accord.
#[derive(Debug, Default)]
struct Seen {
    has_other_tools: AtomicBool,
    asked: Mutex<Vec<String>>,
}

impl Guest {
    /// Whether it said, since it was last looked, that its tools are others now.
    pub(super) fn take_change(&self) -> bool {
        self.0.has_other_tools.swap(false, Ordering::SeqCst)
    }

    /// What it wanted and was refused; the last few.
    pub(super) fn asked(&self) -> Vec<String> {
        let asked = self.0.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, method: &str) {
        let asked = self.0.asked.lock();
        let mut asked = asked.unwrap_or_else(PoisonError::into_inner);
        if asked.len() >= ASKED_KEPT {
            asked.remove(0);
        }
        asked.push(plain::head(&plain::line(method), METHOD_SHOWN_BYTES));
    }
}

impl Service<RoleClient> for Guest {
    async fn handle_request(
        &self,
        request: ServerRequest,
        _context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        if matches!(request, ServerRequest::PingRequest(_)) {
            return Ok(ClientResult::empty(()));
        }
        let request = serde_json::to_value(&request).unwrap_or_default();
        let method = request.get("method").and_then(|method| method.as_str());
        self.note(method.unwrap_or("something without a name"));
        let words = "a-society does not do this for its servers";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, words, None))
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        if matches!(
            notification,
            ServerNotification::ToolListChangedNotification(_)
        ) {
            self.0.has_other_tools.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("a-society", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}
