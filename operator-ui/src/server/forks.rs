//! Plans a fork, makes it, and continues an interrupted flow.

use a_society_facts::id::ClientId;
use a_society_facts::{Verb, Whom};
use a_society_orchestrator::control::client::Unsaid;
use a_society_orchestrator::fork::{self, ForkHearer, Wish};
use a_society_orchestrator::mint::SystemMint;
use a_society_orchestrator::run::RunError;
use a_society_state::{Error, FlowRef};

use super::app::Shared;
use super::blocking::unread;
use super::commands::{Done, from_unsaid, resume, say};
use super::window::Window;
use crate::fold::words;
use crate::hub::flow::wire_ref;
use crate::protocol::Fault;
use crate::protocol::findings::{ForkPlan, Hearer as WireHearer};

fn failed(error: RunError) -> Fault {
    if let RunError::State(unforkable @ Error::NotForkable { .. }) = &error {
        return Fault {
            code: "not-forkable".to_owned(),
            what: "the flow cannot be forked there".to_owned(),
            why: unforkable.to_string(),
            r#try: "name a record that it has".to_owned(),
        };
    }
    from_unsaid(Unsaid::Run(error))
}

/// What a fork at a record would be.
pub(super) fn plan(app: &Shared, flow: &FlowRef, window: &Window) -> Result<ForkPlan, Fault> {
    let project = app.project_folder(flow);
    let wish = Wish {
        at: window.at,
        name: None,
    };
    let plan = fork::plan(&app.hubs.store, &project, flow, wish).map_err(failed)?;
    let (waits, role) = match plan.hearer() {
        Some(ForkHearer::Waits(role)) => (true, Some(role)),
        Some(ForkHearer::Works(role)) => (false, Some(role)),
        None => (false, None),
    };
    Ok(ForkPlan {
        at: plan.at(),
        recorded_at: words::at(plan.recorded_at()),
        name: plan.name().to_owned(),
        hears: role.map(|role| WireHearer {
            role: role.to_string(),
            waits,
        }),
        carried: plan.carried,
        not_carried: plan.not_carried,
    })
}

/// Begins a fork, sends it its first message, and drives it.
pub(super) fn make(
    app: &Shared,
    client: ClientId,
    flow: &FlowRef,
    wish: Wish,
    text: Option<String>,
) -> Result<Done, Fault> {
    let store = &app.hubs.store;
    let project = app.project_folder(flow);
    let plan = fork::plan(store, &project, flow, wish).map_err(failed)?;
    let hearer = plan.hearer();
    let now = store.ground().clock.now();
    let forked = fork::make(store, &plan, now, &mut SystemMint).map_err(failed)?;
    // The message is sent before the fork has a driver: so it gets the place that the plan gives.
    let told = text
        .filter(|text| !text.trim().is_empty())
        .map(|text| tell(app, &forked, hearer, text, client));
    let mut done = resume(app, &forked)?;
    // The fork exists all the same; the note reports a message that failed.
    done.note = told.and_then(Result::err);
    done.fork = Some(wire_ref(&forked));
    Ok(done)
}

/// Continues an interrupted flow, after a note to it.
pub(super) fn go_on(
    app: &Shared,
    client: ClientId,
    flow: &FlowRef,
    note: String,
) -> Result<Done, Fault> {
    let look = app.hubs.store.look(flow).map_err(|error| unread(&error))?;
    let hearer = fork::hearer_of(&look.screen.flow);
    let told = tell(app, flow, hearer, note, client);
    let mut done = resume(app, flow)?;
    done.note = told.err();
    Ok(done)
}

fn tell(
    app: &Shared,
    forked: &FlowRef,
    hearer: Option<ForkHearer>,
    text: String,
    client: ClientId,
) -> Result<(), Fault> {
    use a_society_facts::fact::operator::SteerWhen;
    let command = match hearer {
        Some(ForkHearer::Waits(role)) => Verb::Reply {
            to: Whom::Role(role),
            text,
            asked: None,
        },
        Some(ForkHearer::Works(role)) => Verb::Steer {
            role,
            text,
            when: SteerWhen::Queue,
        },
        None => {
            return Err(Fault {
                code: "nobody-hears".to_owned(),
                what: "the message was not sent".to_owned(),
                why: "no role waits or works there yet".to_owned(),
                r#try: "send it once a role works".to_owned(),
            });
        }
    };
    say(app, forked, command, client).map(drop)
}
