//! Which session a command means: one name finds it for every verb of `session` and of `sessions`.

use a_society_facts::id::{ClientId, RoleInstance};
use a_society_orchestrator::sessions::key::{SessionAddress, SessionLost};
use a_society_state::{FlowRef, Store};

use super::context::Context;
use super::say::{To, client_id, role};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop};
use crate::text::plain;

/// What names a session.
#[derive(Debug, clap::Args)]
pub(super) struct SessionNamed {
    /// The session: its key, id or label, or its flow or chat; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,

    /// The role instance; may be left out where only one has a session, as in a chat
    #[arg(value_name = "ROLE", value_parser = role)]
    role: Option<RoleInstance>,
}

/// What every command to a session takes.
#[derive(Debug, clap::Args)]
pub(super) struct SessionTo {
    /// The session: its key, id or label, or its flow or chat; a beginning is enough
    #[arg(value_name = "REF")]
    of: String,

    /// A name for this command: repeated under the same name, it counts once
    #[arg(long, value_name = "ID", value_parser = client_id)]
    client_id: Option<ClientId>,
}

impl SessionNamed {
    /// The session that is meant.
    pub(super) fn found(&self, context: &mut Context<'_>) -> Result<(Store, SessionAddress), Stop> {
        found(context, &self.of, self.role.as_ref())
    }
}

impl SessionTo {
    /// The flow that a command goes to, and the role whose session it changes.
    pub(super) fn found(
        &self,
        context: &mut Context<'_>,
        role: Option<&RoleInstance>,
    ) -> Result<(To, RoleInstance), Stop> {
        let (_, SessionAddress { flow, role }) = found(context, &self.of, role)?;
        Ok((To::whole(&flow, self.client_id.clone()), role))
    }
}

/// The session that a name means, and a role where that is the name of a flow.
///
/// # Errors
/// When there is no such session, or when several could be meant.
pub(super) fn found(
    context: &mut Context<'_>,
    text: &str,
    role: Option<&RoleInstance>,
) -> Result<(Store, SessionAddress), Stop> {
    let store = context.store()?;
    let address = SessionAddress::named(&store, text, role).map_err(not_found)?;
    let (store, flow) = context.meant(store, address.flow)?;
    let role = address.role;
    Ok((store, SessionAddress { flow, role }))
}

/// The flow or chat that is meant by its own name, or by that of a session in it.
///
/// # Errors
/// When there is none, or when several could be meant.
pub(super) fn flow_of(context: &mut Context<'_>, text: &str) -> Result<(Store, FlowRef), Stop> {
    let (store, flow, _) = flow_and_role(context, text)?;
    Ok((store, flow))
}

/// The same, with the role if the name is that of one session.
///
/// # Errors
/// As [`flow_of`].
pub(super) fn flow_and_role(
    context: &mut Context<'_>,
    text: &str,
) -> Result<(Store, FlowRef, Option<RoleInstance>), Stop> {
    let store = context.store()?;
    let (flow, role) = SessionAddress::flow_named(&store, text).map_err(not_found)?;
    let (store, flow) = context.meant(store, flow)?;
    Ok((store, flow, role))
}

fn not_found(lost: SessionLost) -> Stop {
    let (code, what, why, hint) = match lost {
        SessionLost::Unread(error) => return error.into(),
        SessionLost::Unknown(name, known) => {
            let why = match known.as_str() {
                "" => "there are no sessions in this workspace yet".to_owned(),
                known => format!("there are: {}", plain(known)),
            };
            (
                ("no-session", ExitCode::NotFound),
                format!("there is no session {}", plain(&name)),
                why,
                "a-society sessions ls",
            )
        }
        SessionLost::Empty(flow) => (
            ("usage", ExitCode::Usage),
            format!("{flow} has no session yet"),
            "no role of it was given anything".to_owned(),
            "a-society sessions ls",
        ),
        SessionLost::Several(name, keys) => (
            ("usage", ExitCode::Usage),
            format!("{} may be any of several sessions", plain(&name)),
            format!("there are: {}", plain(&keys)),
            "name one by its key, or name its ROLE, too",
        ),
    };
    OperatorError::new(code, what, why, hint).into()
}
