//! What a server may ask of us: to say that we are there, and nothing else.
//!
//! A server may want our model to answer for it, our operator to fill in a form, or to know our
//! folders. It is a guest; it is refused, and the operator can see what it wanted.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientResult, ErrorCode, ErrorData, Implementation,
    JsonRpcMessage, ServerNotification, ServerRequest,
};
use rmcp::service::{
    NotificationContext, RequestContext, RxJsonRpcMessage, Service, TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::watch;

use super::limits::{ASKED_KEPT, ASKED_MAX, ASKED_WINDOW};
use super::plain;

/// How much of the name of what a server wanted is kept.
const METHOD_SHOWN_BYTES: usize = 60;

/// Answers a server.
#[derive(Debug, Clone, Default)]
pub(super) struct Guest(Arc<ServerNotices>);

/// What a server sent without being asked.
#[derive(Debug, Default)]
struct ServerNotices {
    has_other_tools: AtomicBool,
    asked: Mutex<Vec<String>>,
    /// How much it asked in the present window. Each of its requests is a task until it has its
    /// answer, so that a server that asks and does not listen must be stopped.
    requests: watch::Sender<u32>,
}

impl Guest {
    /// Whether it has announced, since the last call, that its tools changed.
    pub(super) fn take_change(&self) -> bool {
        self.0.has_other_tools.swap(false, Ordering::SeqCst)
    }

    /// What it wanted and was refused; the last few.
    pub(super) fn asked(&self) -> Vec<String> {
        let asked = self.0.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Resolves when it sends too many requests at once; otherwise never, or once the answer is no
    /// longer needed.
    pub(super) fn flood(&self) -> impl Future<Output = bool> + Send + 'static {
        // This must not keep alive what it watches.
        let seen = Arc::downgrade(&self.0);
        let mut requests = self.0.requests.subscribe();
        async move {
            loop {
                let too_many = requests.wait_for(|requests| *requests > ASKED_MAX);
                match tokio::time::timeout(ASKED_WINDOW, too_many).await {
                    Ok(flooded) => return flooded.is_ok(),
                    Err(_) => match seen.upgrade() {
                        Some(seen) => drop(seen.requests.send_replace(0)),
                        None => return false,
                    },
                }
            }
        }
    }

    /// Looks at a message in the moment of its arrival.
    fn hear(&self, message: &RxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(_) => {
                let add = |requests: &mut u32| *requests = requests.saturating_add(1);
                self.0.requests.send_modify(add);
            }
            JsonRpcMessage::Notification(notification) => {
                let notification = &notification.notification;
                if matches!(
                    notification,
                    ServerNotification::ToolListChangedNotification(_)
                ) {
                    self.0.has_other_tools.store(true, Ordering::SeqCst);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
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

/// A transport that passes messages to the guest in their order. The SDK handles each in a task of its
/// own, so that an answer could overtake the notification, sent before it, that the tools changed.
#[derive(Debug)]
pub(super) struct OrderedTransport<T> {
    pub(super) transport: T,
    pub(super) guest: Guest,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for OrderedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        self.guest.hear(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
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
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // The guest has handled what counts when it arrived.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("a-society", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}
