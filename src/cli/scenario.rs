//! `__scenario`: what the crash tests drive.
//!
//! It appends a fixed sequence of facts to one flow and says, after each sync, up to which record
//! everything is durable: `ack SEQ`, one line in one write. It may be killed at any system call.
//! Run again with `--resume` it opens the flow, says `folded SEQ` for what it found, and goes on
//! where the journal ends. The same arguments give the same bytes: time, process and texts are
//! made up from them.

use std::sync::Arc;

use a_society_facts::fact::flow::{FlowCreated, FlowTitled, NodeOutline, Outline};
use a_society_facts::fact::journal::ProcessName;
use a_society_facts::fact::session::{MessageAdded, Origin, SessionKind, SessionOpened};
use a_society_facts::id::{BadName, FlowId, MessageId, NodeId, ProjectName, RoleInstance};
use a_society_facts::{At, Fact};
use a_society_state::clock::CountingClock;
use a_society_state::disk::RealDisk;
use a_society_state::{Error, Flow, FlowRef, Ground, Store};

use super::context::Context;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_name};

/// When the made-up time begins: 2026-05-27T14:30:00Z.
const BEGINS_MS: i64 = 1_779_892_200_000;
/// Every so many steps a text is long enough to become a blob.
const BLOB_STEPS: u64 = 8;
/// How long such a text is.
const BLOB_TEXT_BYTES: usize = 66_000;
/// Every so many steps the flow comes to rest, which writes its views.
const REST_STEPS: u64 = 4;
/// The roles that are spoken to, in turn.
const ROLES: [&str; 2] = ["owner", "critic"];

/// The arguments of `__scenario`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The flow
    #[arg(long)]
    flow: String,

    /// Its project
    #[arg(long)]
    project: String,

    /// How many steps there are in all
    #[arg(long)]
    steps: u64,

    /// Begin a new segment when one has so many bytes
    #[arg(long, value_name = "BYTES")]
    rotate_at: Option<u64>,

    /// Keep a checkpoint each time the journal grew by so many bytes
    #[arg(long, value_name = "BYTES")]
    checkpoint_at: Option<u64>,

    /// What the texts are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Go on with a flow that may be there
    #[arg(long)]
    resume: bool,
}

/// Runs it.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let name = |bad: BadName| OperatorError::from(Error::Name(bad));
    let flow = FlowRef {
        project: arguments.project.parse().map_err(|bad| from_name(&bad))?,
        flow: arguments.flow.parse().map_err(|bad| from_name(&bad))?,
    };
    let store = Store::new(ground(arguments), context.store()?.root().to_owned());
    let mut script = Script {
        context,
        seed: arguments.seed,
        roles: ROLES
            .iter()
            .map(|role| role.parse())
            .collect::<Result<_, _>>()
            .map_err(name)?,
    };
    let mut opened = script.open(&store, &flow, arguments.resume)?;
    opened.set_segment_bytes(
        arguments
            .rotate_at
            .unwrap_or(a_society_state::limits::SEGMENT_BYTES),
    );
    if let Some(bytes) = arguments.checkpoint_at {
        opened.set_checkpoint_bytes(bytes);
    }
    for step in script.done(&opened) + 1..=arguments.steps {
        script.step(&mut opened, step)?;
    }
    opened.close()?;
    Ok(ExitCode::Ok)
}

/// A ground on which nothing depends on when and by whom it is run.
fn ground(arguments: &Arguments) -> Ground {
    // What is resumed began earlier, and its next records should look like it.
    let begins = if arguments.resume { 3_600_000 } else { 0 };
    Ground {
        disk: Arc::new(RealDisk),
        clock: Arc::new(CountingClock::from(At::from_ms(BEGINS_MS + begins))),
        process: ProcessName {
            pid: 1,
            start_ticks: arguments.seed,
            boot_id: "scenario".to_owned(),
        },
        ledger: None,
    }
}

struct Script<'a, 'b> {
    context: &'a mut Context<'b>,
    seed: u64,
    roles: Vec<RoleInstance>,
}

impl Script<'_, '_> {
    fn open(&mut self, store: &Store, flow: &FlowRef, resume: bool) -> Result<Flow, Stop> {
        if !resume {
            let opened = self.create(store, &flow.flow, &flow.project)?;
            self.acknowledge(&opened)?;
            return Ok(opened);
        }
        let mut opened = match store.open(flow) {
            Ok((opened, report)) => {
                // Records that this very open appended are not what was found.
                self.context
                    .out
                    .announce(&format!("folded {}", report.records))?;
                opened
            }
            Err(Error::NoFlow(_)) => {
                self.context.out.announce("folded 0")?;
                self.create(store, &flow.flow, &flow.project)?
            }
            Err(error) => return Err(error.into()),
        };
        if !opened.views().flow.is_created() {
            opened.append_durably(Fact::FlowCreated(self.created(&flow.project)?))?;
        }
        self.acknowledge(&opened)?;
        Ok(opened)
    }

    fn create(&self, store: &Store, id: &FlowId, project: &ProjectName) -> Result<Flow, Stop> {
        Ok(store.create(id.clone(), self.created(project)?)?)
    }

    fn created(&self, project: &ProjectName) -> Result<FlowCreated, Stop> {
        let node: NodeId = "start".parse().map_err(Error::Name)?;
        let role = self.roles.first().cloned();
        let nodes = role.into_iter().map(|role| NodeOutline {
            id: node.clone(),
            role,
            human_colab: false,
            await_all_inputs: false,
        });
        Ok(FlowCreated {
            ends: a_society_facts::fact::flow::Ends::default(),
            project: project.clone(),
            title: "scenario".to_owned(),
            input: None,
            graph: Outline {
                name: "scenario".to_owned(),
                nodes: nodes.collect(),
                edges: Vec::new(),
                source: "workflow: scenario\n".into(),
            },
            origin: None,
            draft: false,
            tokens: None,
            mode: None,
            rules: a_society_facts::fact::operator::ConsentRules::default(),
            chat: None,
            client: None,
        })
    }

    /// How many steps the journal already holds: the messages of a session say their steps.
    fn done(&self, flow: &Flow) -> u64 {
        let sessions = flow.views().flow.sessions.values();
        let last = sessions.filter_map(|session| session.last_message.as_ref());
        let steps = last.filter_map(|id| id.as_str().strip_prefix('m')?.parse().ok());
        steps.max().unwrap_or(0)
    }

    fn step(&mut self, flow: &mut Flow, step: u64) -> Result<(), Stop> {
        let chosen = usize::try_from(step).unwrap_or(0) % self.roles.len();
        let role = self.roles[chosen].clone();
        if flow.views().flow.session(&role).is_none() {
            flow.append(Fact::SessionOpened(self.opened(flow, &role)?))?;
        }
        if step.is_multiple_of(5) {
            let title = format!("scenario, step {step}");
            flow.append(Fact::FlowTitled(FlowTitled { title }))?;
        }
        let text = flow.keep_text(self.text(step))?;
        let message: MessageId = format!("m{step}").parse().map_err(Error::Name)?;
        flow.append(Fact::MessageAdded(MessageAdded {
            role,
            message,
            text,
            origin: Origin::Injection,
            node: None,
            client: None,
            request: None,
        }))?;
        flow.sync()?;
        self.acknowledge(flow)?;
        flow.tick();
        if step.is_multiple_of(REST_STEPS) {
            flow.rest()?;
        }
        Ok(())
    }

    fn opened(&self, flow: &Flow, role: &RoleInstance) -> Result<SessionOpened, Stop> {
        let key = format!("flow:{}:role:{role}", flow.id());
        Ok(SessionOpened {
            role: role.clone(),
            key: key.parse().map_err(Error::Name)?,
            session: format!("s-{role}").parse().map_err(Error::Name)?,
            generation: 1,
            kind: SessionKind::Role,
            parent: None,
            user: None,
        })
    }

    fn acknowledge(&mut self, flow: &Flow) -> Result<(), Stop> {
        self.context
            .out
            .announce(&format!("ack {}", flow.durable()))
    }

    /// A text of a length and with words that depend on the seed and the step alone.
    fn text(&self, step: u64) -> String {
        let mut state = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ step;
        let mut next = || {
            // Xorshift: even enough for lengths and words, and the same everywhere.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let bytes = if step.is_multiple_of(BLOB_STEPS) {
            BLOB_TEXT_BYTES
        } else {
            usize::try_from(20 + next() % 400).unwrap_or(20)
        };
        let mut text = format!("step {step}:");
        while text.len() < bytes {
            text.push(' ');
            text.push_str(&(next() % 0xffff).to_string());
        }
        text
    }
}
