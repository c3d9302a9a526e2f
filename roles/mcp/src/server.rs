//! One server over all its connections: started when it is first needed, started again after a
//! fault, and left alone when it fails too often.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a_society_base::redact::Redactor;
use a_society_facts::Hash;
use a_society_facts::fact::turn::CallEnd;
use serde_json::{Map, Value};

use super::connection::{CallRequest, Connection, NoAnswer};
use super::definition::{self, RefusedTool, RemoteTool, ServerTools, ToolDifference};
use super::limits::{FAILURES_MAX, SILENCES_MAX, ServerLimits};
use super::output::RemoteOutput;
use super::spec::{Given, ServerSpec};
use super::waiter;

/// A server that is not there, for the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The server.
    pub server: String,
    /// Why it is not there, in words.
    pub why: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The MCP server `{}` is not there. {}",
            self.server, self.why
        )
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteCallFault {
    /// The server is not there. The call was not made.
    Unavailable(Unavailable),
    /// The server has no such tool, or it may not be offered. The call was not made.
    NoTool(RefusedTool),
    /// The tool is not the one that was approved. The call was not made.
    Changed {
        /// The tool.
        tool: String,
        /// The hash of its definition now.
        definition: Hash,
        /// What is different, if what it was is still known.
        difference: Option<ToolDifference>,
    },
    /// The arguments are invalid. The call was not made.
    Arguments {
        /// Why, in words.
        why: String,
    },
    /// The turn was stopped.
    Stopped {
        /// Whether the call had been given to the server.
        has_begun: bool,
    },
    /// There was no answer in time. What the call did is not known.
    TimedOut {
        /// How long it was waited for.
        limit: Duration,
    },
    /// The connection ended while the call was open. What it did is not known.
    Broke {
        /// Why, in words.
        why: String,
    },
}

impl RemoteCallFault {
    /// Whether the call may have done something.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.end() != CallEnd::NotRun
    }

    /// How the call ended, as the journal says it.
    #[must_use]
    pub fn end(&self) -> CallEnd {
        match self {
            Self::Unavailable(_)
            | Self::NoTool(_)
            | Self::Changed { .. }
            | Self::Arguments { .. }
            | Self::Stopped { has_begun: false } => CallEnd::NotRun,
            Self::Stopped { has_begun: true } => CallEnd::Stopped,
            Self::TimedOut { .. } => CallEnd::TimedOut,
            Self::Broke { .. } => CallEnd::Unknown,
        }
    }
}

impl fmt::Display for RemoteCallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(fault) => write!(f, "{fault} The call was not made."),
            Self::NoTool(fault) => {
                let RefusedTool { name, why } = fault;
                write!(f, "The tool `{name}` cannot be called. {why}")
            }
            Self::Changed { tool, .. } => write!(
                f,
                "The tool `{tool}` is not the one that was approved: its server describes it \
                 differently now. The call was not made; the operator must approve it again."
            ),
            Self::Arguments { why } => write!(f, "{why} The call was not made."),
            Self::Stopped { has_begun: false } => write!(f, "Stopped before the call was made."),
            Self::Stopped { has_begun: true } => {
                write!(
                    f,
                    "Stopped while the call was open. What it did is not known."
                )
            }
            Self::TimedOut { limit } => write!(
                f,
                "There was no answer within {} s. What the call did is not known: check it before \
                 you call again.",
                limit.as_secs_f32()
            ),
            Self::Broke { why } => write!(
                f,
                "The server was lost while the call was open. {why} What the call did is not \
                 known: check it before you call again."
            ),
        }
    }
}

/// How a server is, for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Health {
    /// The server.
    pub server: String,
    /// Whether it runs or is connected now.
    pub is_running: bool,
    /// How many tools it offers, as far as it was asked.
    pub tools: usize,
    /// How often it was started.
    pub starts: u64,
    /// How often in a row it failed.
    pub failures: u32,
    /// Whether it is left alone for a while.
    pub is_resting: bool,
    /// Its last fault.
    pub last_fault: Option<String>,
    /// What it wanted of us and was refused; the last few.
    pub asked: Vec<String>,
}

/// One server.
#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) spec: ServerSpec,
    given: Arc<Given>,
    redactor: Arc<Redactor>,
    limits: ServerLimits,
    slot: tokio::sync::Mutex<Slot>,
    is_resting: Arc<AtomicBool>,
    health: Mutex<Health>,
}

/// What is known of its present connection.
#[derive(Debug, Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    /// The list of the present connection, as long as the server does not say that it is another.
    tools: Option<Arc<ServerTools>>,
    /// The list before.
    before: Option<Arc<ServerTools>>,
    failures: u32,
    /// How many calls in a row had no answer in time.
    silences: u32,
}

/// A call, once its arguments are known to be some.
#[derive(Debug)]
pub(super) struct CheckedCall {
    pub(super) tool: String,
    pub(super) definition: Hash,
    pub(super) arguments: Map<String, Value>,
    pub(super) limit: Duration,
    pub(super) key: Option<String>,
    pub(super) has_begun: Arc<AtomicBool>,
}

impl McpServer {
    /// The list of tools of the present connection, if there is one and the slot is free.
    pub(super) fn known_tools(&self) -> Option<Arc<ServerTools>> {
        self.slot.try_lock().ok()?.tools.clone()
    }

    pub(super) fn new(
        spec: ServerSpec,
        given: Arc<Given>,
        redactor: Arc<Redactor>,
        limits: ServerLimits,
    ) -> Self {
        let health = Health {
            server: spec.name.clone(),
            ..Health::default()
        };
        Self {
            spec,
            given,
            redactor,
            limits,
            slot: tokio::sync::Mutex::default(),
            is_resting: Arc::default(),
            health: Mutex::new(health),
        }
    }

    /// What it offers now.
    pub(super) async fn tools(&self) -> Result<Arc<ServerTools>, Unavailable> {
        let mut slot = self.slot.lock().await;
        let (_, tools) = self.current(&mut slot).await?;
        Ok(tools)
    }

    /// Makes a call, if the tool is the one that was approved.
    pub(super) async fn call(&self, wanted: CheckedCall) -> Result<RemoteOutput, RemoteCallFault> {
        let (connection, raw_name) = self.approved(&wanted).await?;
        let limit = wanted.limit;
        let request = CallRequest {
            raw_name,
            arguments: wanted.arguments,
            key: wanted.key,
            limit,
            has_begun: wanted.has_begun,
        };
        let answer = connection.call(request).await;
        self.look_at(&connection);
        match answer {
            Ok(output) => {
                let mut slot = self.slot.lock().await;
                (slot.failures, slot.silences) = (0, 0);
                drop(slot);
                self.health().failures = 0;
                Ok(output)
            }
            Err(NoAnswer::TimedOut) => {
                self.fell_silent(&connection).await;
                Err(RemoteCallFault::TimedOut { limit })
            }
            Err(NoAnswer::Broke(why)) => {
                let mut slot = self.slot.lock().await;
                // Several calls may have been open; it failed once.
                if is_same(slot.connection.as_ref(), &connection) {
                    self.failed(&mut slot, &why);
                }
                Err(RemoteCallFault::Broke { why })
            }
        }
    }

    /// One call without an answer is the call's fault; several are the server's. It would hold on
    /// to whatever it was sent.
    async fn fell_silent(&self, connection: &Arc<Connection>) {
        let mut slot = self.slot.lock().await;
        slot.silences += 1;
        if slot.silences >= SILENCES_MAX && is_same(slot.connection.as_ref(), connection) {
            let why = format!("It answered none of the last {SILENCES_MAX} calls in time.");
            self.failed(&mut slot, &why);
        }
    }

    /// How it is.
    #[cfg(test)]
    pub(super) fn state(&self) -> Health {
        let mut health = self.health().clone();
        health.is_resting = self.is_resting.load(Ordering::SeqCst);
        // The holder of the slot is starting the server or asking for its list.
        if let Ok(slot) = self.slot.try_lock() {
            let connection = slot.connection.as_ref();
            health.is_running = connection.is_some_and(|connection| connection.is_alive());
        }
        health
    }

    /// Ends it, politely at first.
    pub(super) async fn close(&self) {
        let connection = self.slot.lock().await.connection.take();
        // No call is left that could hold another reference.
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }

    /// A connection that can be used, and its list.
    async fn current(
        &self,
        slot: &mut Slot,
    ) -> Result<(Arc<Connection>, Arc<ServerTools>), Unavailable> {
        if let Some(connection) = slot.connection.clone()
            && !connection.is_alive()
        {
            let why = connection.obituary().await;
            self.failed(slot, &why);
        }
        let connection = match slot.connection.clone() {
            Some(connection) => connection,
            None => self.open(slot).await?,
        };
        let has_changed = connection.guest().take_change();
        let known = slot.tools.clone().filter(|_| !has_changed);
        if let Some(tools) = known {
            return Ok((connection, tools));
        }
        match connection.list(&self.limits).await {
            Ok(raws) => {
                let tools = Arc::new(definition::tools(&self.spec, &self.redactor, &raws));
                if let Some(before) = slot.tools.replace(tools.clone()) {
                    slot.before = Some(before);
                }
                self.health().tools = tools.offered.len();
                self.look_at(&connection);
                Ok((connection, tools))
            }
            Err(why) => {
                self.failed(slot, &why);
                Err(self.unavailable(&why))
            }
        }
    }

    async fn open(&self, slot: &mut Slot) -> Result<Arc<Connection>, Unavailable> {
        if self.is_resting.load(Ordering::SeqCst) {
            let last = self.health().last_fault.clone().unwrap_or_default();
            let seconds = self.limits.rest.as_secs_f32();
            let why = format!(
                "It failed {FAILURES_MAX} times in a row and rests for {seconds} s. {last}"
            );
            return Err(self.unavailable(&why));
        }
        tokio::time::sleep(self.pause(slot.failures)).await;
        self.health().starts += 1;
        let opened = Connection::open(&self.spec, &self.given, &self.redactor, &self.limits);
        match opened.await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                slot.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(why) => {
                self.failed(slot, &why);
                Err(self.unavailable(&why))
            }
        }
    }

    /// How long to wait before it is started. One that has rested has waited already.
    fn pause(&self, failures: u32) -> Duration {
        if failures == 0 || failures >= FAILURES_MAX {
            return Duration::ZERO;
        }
        let doubled = 2_u32.saturating_pow(failures - 1);
        self.limits
            .first_pause
            .saturating_mul(doubled)
            .min(self.limits.rest)
    }

    fn failed(&self, slot: &mut Slot, why: &str) {
        slot.connection = None;
        slot.silences = 0;
        if let Some(before) = slot.tools.take() {
            slot.before = Some(before);
        }
        slot.failures = slot.failures.saturating_add(1);
        let mut health = self.health();
        health.failures = slot.failures;
        health.last_fault = Some(why.to_owned());
        drop(health);
        if slot.failures >= FAILURES_MAX {
            self.rest();
        }
    }

    fn rest(&self) {
        self.is_resting.store(true, Ordering::SeqCst);
        let (is_resting, rest) = (self.is_resting.clone(), self.limits.rest);
        waiter::leave(async move {
            tokio::time::sleep(rest).await;
            is_resting.store(false, Ordering::SeqCst);
        });
    }

    async fn approved(
        &self,
        wanted: &CheckedCall,
    ) -> Result<(Arc<Connection>, String), RemoteCallFault> {
        let mut slot = self.slot.lock().await;
        let current = self.current(&mut slot).await;
        let (connection, tools) = current.map_err(RemoteCallFault::Unavailable)?;
        let Some(tool) = tools.named(&wanted.tool) else {
            let why = "Its server does not have it any more, or it may not be offered.";
            return Err(RemoteCallFault::NoTool(RefusedTool {
                name: wanted.tool.clone(),
                why: why.to_owned(),
            }));
        };
        if tool.definition == wanted.definition {
            return Ok((connection, tool.raw_name.clone()));
        }
        let before = slot
            .before
            .as_ref()
            .and_then(|before| before.named(&wanted.tool));
        let before = before.filter(|before| before.definition == wanted.definition);
        let difference = before.map(|before: &RemoteTool| ToolDifference::between(before, tool));
        Err(RemoteCallFault::Changed {
            tool: wanted.tool.clone(),
            definition: tool.definition,
            difference,
        })
    }

    fn look_at(&self, connection: &Connection) {
        self.health().asked = connection.guest().asked();
    }

    fn unavailable(&self, why: &str) -> Unavailable {
        Unavailable {
            server: self.spec.name.clone(),
            why: why.to_owned(),
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_same(one: Option<&Arc<Connection>>, other: &Arc<Connection>) -> bool {
    one.is_some_and(|one| Arc::ptr_eq(one, other))
}
