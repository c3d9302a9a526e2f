//! One connection to a server: opening it, listing its tools, calling one.
//!
//! Only this file and its neighbours [`super::guest`], [`super::pipes`], [`super::web`] and
//! [`super::output`] know the SDK, whose shape changes with each of its major versions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a_society_base::redact::Redactor;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ErrorData, ListToolsRequest, ListToolsResult, PaginatedRequestParams, RequestId,
    RequestMetaObject, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RunningService, ServiceError,
};
use rmcp::transport::Transport;
use rmcp::{RoleClient, serve_client};
use serde_json::{Map, Value, json};

use super::definition::RawTool;
use super::guest::{Guest, OrderedTransport};
use super::limits::{
    ASIDE_GRACE, FAULT_SHOWN_BYTES, LAST_WORDS, LEAVE, PAGES_MAX, ServerLimits, TOOLS_MAX,
};
use super::output::RemoteOutput;
use super::pipes::{CloseReason, Pipes};
use super::process::{Process, ServerLaunch};
use super::spec::{Given, ServerSpec, ServerTransport, environment, resolved};
use super::{plain, waiter, web};

/// How much longer than [`TOOLS_MAX`] a list is read, so that the operator learns what is left out.
const TOOLS_READ_MAX: usize = TOOLS_MAX * 4;

/// How long a server may take to receive the cancellation of a request.
const FAREWELL_LIMIT: Duration = Duration::from_secs(5);

/// An open connection. Dropping it ends the server's process.
#[derive(Debug)]
pub(super) struct Connection {
    service: RunningService<RoleClient, Guest>,
    guest: Guest,
    process: Option<Process>,
    verdict: CloseReason,
    redactor: Arc<Redactor>,
}

/// One call, as it is sent.
#[derive(Debug)]
pub(super) struct CallRequest {
    pub(super) raw_name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) key: Option<String>,
    pub(super) limit: Duration,
    /// Set when it is given to the server.
    pub(super) has_begun: Arc<AtomicBool>,
}

/// How a request ended without an answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// In time there was none.
    TimedOut,
    /// The connection is no more.
    Broke(String),
}

impl Connection {
    /// Starts or reaches the server, and greets it.
    pub(super) async fn open(
        spec: &ServerSpec,
        given: &Given,
        redactor: &Arc<Redactor>,
        limits: &ServerLimits,
    ) -> Result<Self, String> {
        let greeted = Self::greet(spec, given, redactor);
        let opened = tokio::time::timeout(limits.start, greeted).await;
        let opened = opened.unwrap_or_else(|_| {
            let seconds = limits.start.as_secs_f32();
            Err(format!(
                "It did not answer within {seconds} s of its start."
            ))
        })?;
        opened.end_when_flooded();
        Ok(opened)
    }

    fn end_when_flooded(&self) {
        let (flood, verdict) = (self.guest.flood(), self.verdict.clone());
        let service = self.service.cancellation_token();
        waiter::leave(async move {
            if flood.await {
                let _first = verdict.set("it asked for too much at once".to_owned());
                service.cancel();
            }
        });
    }

    async fn greet(
        spec: &ServerSpec,
        given: &Given,
        redactor: &Arc<Redactor>,
    ) -> Result<Self, String> {
        let guest = Guest::default();
        let verdict = CloseReason::default();
        match &spec.reach {
            ServerTransport::Program {
                command,
                arguments,
                variables,
                inherits,
                folder,
            } => {
                let launch = ServerLaunch {
                    server: &spec.name,
                    command,
                    arguments,
                    variables: environment(variables, inherits, given)?,
                    folder: folder.as_deref().unwrap_or("/"),
                };
                let (process, stdin, stdout) = Process::start(&launch)?;
                let pipes = Pipes::new(
                    stdin,
                    stdout,
                    process.aside().clone(),
                    verdict.clone(),
                    redactor.clone(),
                )
                .map_err(|why| format!("It could not be started: {why}."))?;
                match greeted(&guest, pipes).await {
                    Ok(service) => Ok(Self {
                        service,
                        guest,
                        process: Some(process),
                        verdict,
                        redactor: redactor.clone(),
                    }),
                    Err(why) => {
                        Err(
                            obituary(Some(&process), &verdict, &words(&why, redactor), redactor)
                                .await,
                        )
                    }
                }
            }
            ServerTransport::Web {
                url,
                headers,
                is_private,
            } => {
                let headers = resolved(headers, given)?;
                let transport = web::transport(url, &headers, *is_private)?;
                let service = greeted(&guest, transport).await;
                let service = service
                    .map_err(|why| format!("It cannot be reached: {}.", words(&why, redactor)))?;
                Ok(Self {
                    service,
                    guest,
                    process: None,
                    verdict,
                    redactor: redactor.clone(),
                })
            }
        }
    }

    /// Whether it can still be used.
    pub(super) fn is_alive(&self) -> bool {
        let runs = self.process.as_ref().is_none_or(Process::is_alive);
        runs && !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// What it reported without being asked.
    pub(super) fn guest(&self) -> &Guest {
        &self.guest
    }

    /// Why it ended, in words.
    pub(super) async fn obituary(&self) -> String {
        let otherwise = "the connection was closed";
        obituary(
            self.process.as_ref(),
            &self.verdict,
            otherwise,
            &self.redactor,
        )
        .await
    }

    /// Ends it: a server sees the end of its input or of its session first, and is asked and then
    /// killed only if that is not enough.
    pub(super) async fn close(mut self) {
        let _quit = self.service.close_with_timeout(LEAVE).await;
        if let Some(process) = &self.process {
            let _gone = tokio::time::timeout(LEAVE, process.gone(Duration::ZERO)).await;
            process.leave();
        }
    }

    /// Everything that it offers, as far as anybody reads.
    pub(super) async fn list(&self, limits: &ServerLimits) -> Result<Vec<RawTool>, String> {
        let mut tools: Vec<RawTool> = Vec::new();
        let mut cursor: Option<String> = None;
        for _page in 0..PAGES_MAX {
            let page = self.page(cursor.clone(), limits).await?;
            tools.extend(page.tools.into_iter().map(raw));
            tools.truncate(TOOLS_READ_MAX);
            let is_last = page.next_cursor.is_none() || page.next_cursor == cursor;
            if is_last || tools.len() == TOOLS_READ_MAX {
                return Ok(tools);
            }
            cursor = page.next_cursor;
        }
        Ok(tools)
    }

    async fn page(
        &self,
        cursor: Option<String>,
        limits: &ServerLimits,
    ) -> Result<ListToolsResult, String> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ListToolsRequest {
            params: Some(params),
            ..ListToolsRequest::default()
        };
        let request = ClientRequest::ListToolsRequest(request);
        match self.ask(request, None, limits.list, None).await {
            Ok(Ok(ServerResult::ListToolsResult(page))) => Ok(page),
            Ok(Ok(_)) => Err("Its list of tools cannot be read.".to_owned()),
            Ok(Err(fault)) => Err(format!(
                "It does not list its tools: {}.",
                of_server(&fault, &self.redactor)
            )),
            Err(NoAnswer::TimedOut) => {
                let seconds = limits.list.as_secs_f32();
                Err(format!("It did not list its tools within {seconds} s."))
            }
            Err(NoAnswer::Broke(why)) => Err(why),
        }
    }

    /// Calls a tool, once.
    pub(super) async fn call(&self, request: CallRequest) -> Result<RemoteOutput, NoAnswer> {
        let params = CallToolRequestParams::new(request.raw_name).with_arguments(request.arguments);
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let begun = Some(request.has_begun.as_ref());
        let answer = self.ask(call, request.key, request.limit, begun).await?;
        let fault = |words: &str| RemoteOutput::fault(words, &self.redactor);
        Ok(match answer {
            Ok(ServerResult::CallToolResult(result)) => RemoteOutput::of(&result, &self.redactor),
            Ok(ServerResult::InputRequiredResult(_)) => {
                fault("The tool asks for more input than its arguments, and gets none.")
            }
            Ok(ServerResult::CreateTaskResult(_)) => {
                fault("The tool leaves its work to a task, which is not followed here.")
            }
            Ok(_) => fault("The server's answer is no result of a tool."),
            Err(refusal) => fault(&format!(
                "The server refused: {}.",
                of_server(&refusal, &self.redactor)
            )),
        })
    }

    /// Sends a request and waits for its answer, within bounds. A server whose answer is no longer
    /// wanted gets a cancellation, whichever side gave up.
    async fn ask(
        &self,
        request: ClientRequest,
        key: Option<String>,
        limit: Duration,
        begun: Option<&AtomicBool>,
    ) -> Result<Result<ServerResult, ErrorData>, NoAnswer> {
        let mut options = PeerRequestOptions::no_options();
        if let Some(key) = key {
            let mut meta = RequestMetaObject::new();
            meta.insert(web::KEY_FIELD.to_owned(), Value::String(key));
            options = options.with_meta(meta);
        }
        let peer = self.service.peer();
        let asked = async {
            if let Some(begun) = begun {
                begun.store(true, Ordering::SeqCst);
            }
            let mut handle = peer.send_request_with_option(request, options).await?;
            let mut farewell = Farewell {
                to: Some((peer.clone(), handle.id.clone())),
            };
            let answer = (&mut handle.rx).await;
            farewell.to = None;
            answer.unwrap_or(Err(ServiceError::TransportClosed))
        };
        let gone = async {
            match &self.process {
                Some(process) => process.gone(LAST_WORDS).await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            answer = asked => answer,
            () = gone => Err(ServiceError::TransportClosed),
            () = tokio::time::sleep(limit) => return Err(NoAnswer::TimedOut),
        };
        match answer {
            Ok(result) => Ok(Ok(result)),
            Err(ServiceError::McpError(fault)) => Ok(Err(fault)),
            Err(ServiceError::TransportClosed) => Err(NoAnswer::Broke(self.obituary().await)),
            Err(why) => {
                let why = words(&why, &self.redactor);
                Err(NoAnswer::Broke(format!(
                    "The request could not be made: {why}."
                )))
            }
        }
    }
}

async fn greeted<T: Transport<RoleClient> + 'static>(
    guest: &Guest,
    transport: T,
) -> Result<RunningService<RoleClient, Guest>, ClientInitializeError> {
    let guest = guest.clone();
    let transport = OrderedTransport {
        transport,
        guest: guest.clone(),
    };
    serve_client(guest, transport).await
}

/// Tells a server that an answer is not wanted any more, when it is dropped.
struct Farewell {
    to: Option<(Peer<RoleClient>, RequestId)>,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let Some((peer, id)) = self.to.take() else {
            return;
        };
        waiter::leave(async move {
            let params =
                CancelledNotificationParam::new(Some(id), Some("not awaited any more".to_owned()));
            let notification = CancelledNotification::new(params).into();
            let told = peer.send_notification(notification);
            // One that does not even listen need not know.
            let _told = tokio::time::timeout(FAREWELL_LIMIT, told).await;
        });
    }
}

fn raw(tool: Tool) -> RawTool {
    RawTool {
        others: json!({
            "title": tool.title,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
        }),
        name: tool.name.into_owned(),
        description: tool.description.map(Into::into).unwrap_or_default(),
        schema: tool.input_schema.as_ref().clone(),
    }
}

/// Why a server ended: its violation, its exit, and its last output.
async fn obituary(
    process: Option<&Process>,
    verdict: &CloseReason,
    otherwise: &str,
    redactor: &Redactor,
) -> String {
    // It may take a moment until the system reports that it ended. One that broke the protocol may
    // well go on.
    if let Some(process) = process
        && verdict.get().is_none()
    {
        let gone = process.gone(ASIDE_GRACE);
        let _gone = tokio::time::timeout(LAST_WORDS, gone).await;
    }
    let ended = process.and_then(Process::end_in_words);
    let why = verdict.get().cloned().or(ended);
    let why = why.unwrap_or_else(|| otherwise.to_owned());
    let aside = process
        .map(|process| process.aside().shown(redactor))
        .unwrap_or_default();
    if aside.is_empty() {
        return format!("It is gone: {why}.");
    }
    format!("It is gone: {why}. It said last: {aside}")
}

/// A server's own fault, as data.
fn of_server(fault: &ErrorData, redactor: &Redactor) -> String {
    let message = shown(&fault.message, redactor);
    format!("{message} (code {})", fault.code.0)
}

/// A fault with those below it.
fn words(why: &dyn std::error::Error, redactor: &Redactor) -> String {
    let mut said = why.to_string();
    let mut below = why.source();
    while let Some(why) = below {
        let more = why.to_string();
        if !said.contains(&more) {
            said = format!("{said}: {more}");
        }
        below = why.source();
    }
    shown(untyped(&said), redactor)
}

/// A message of the transport without the name of its type and the step of the protocol, which help
/// only the authors of the SDK.
fn untyped(said: &str) -> &str {
    let after = |said| {
        Some(
            str::split_once(said, "Transport [")?
                .1
                .split_once("] error: ")?
                .1,
        )
    };
    let said = after(said).unwrap_or(said);
    said.split_once(", when send ").map_or(said, |(why, _)| why)
}

/// Words of a server within a sentence.
fn shown(text: &str, redactor: &Redactor) -> String {
    plain::head(&plain::line(&redactor.redact(text)), FAULT_SHOWN_BYTES)
}
