//! `stop`: the operator stops turns that run; their nodes wait.

use a_society_facts::Verb;
use a_society_facts::fact::operator::StopScope;
use a_society_facts::id::{NodeId, RoleInstance};

use super::context::Context;
use super::say::{To, node, role, say};
use crate::operator_error::Outcome;

/// The arguments of `stop`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("scope").required(true))]
#[command(after_help = "\
Whatever a stopped turn still runs is ended, and its node waits for a reply or a retry. One of \
--node, --role and --all is required.

Examples:
  a-society stop a1b2 --node draft
  a-society stop a1b2 --role writer
  a-society stop a1b2 --all")]
pub(crate) struct Arguments {
    #[command(flatten)]
    to: To,

    /// The turn of this node
    #[arg(long, value_name = "NODE", value_parser = node, group = "scope")]
    node: Option<NodeId>,

    /// The turn of this role instance
    #[arg(long, value_name = "ROLE", value_parser = role, group = "scope")]
    role: Option<RoleInstance>,

    /// Every turn
    #[arg(long, group = "scope")]
    all: bool,
}

/// Stops.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let scope = match (&arguments.node, &arguments.role) {
        (Some(node), _) => StopScope::Node(node.clone()),
        (None, Some(role)) => StopScope::Role(role.clone()),
        (None, None) => StopScope::All,
    };
    say(context, &arguments.to, Verb::Stop { scope })
}
