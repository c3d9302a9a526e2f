//! What is configured, as far as a page shows and changes it.

use super::app::App;
use crate::protocol::Fault;
use crate::protocol::http::{Models, Projects};
use crate::protocol::settings::{Setting, SettingDone};

pub(super) fn projects(app: &App) -> Projects {
    Projects {
        projects: app.actions.projects(),
    }
}

/// The models there are now: the file may have changed since it was read, from the terminal, too.
pub(super) fn models(app: &App) -> Models {
    let models = app.actions.models();
    app.hubs.configured(models.clone());
    Models { models }
}

/// Changes the configuration. Flows and their questions take it up with their next turns.
pub(super) fn configure(app: &App, setting: &Setting) -> Result<SettingDone, Fault> {
    let done = app.actions.configure(setting)?;
    app.hubs.configured(app.actions.models());
    Ok(done)
}
