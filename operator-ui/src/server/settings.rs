//! What is configured, as far as a page shows it.

use super::app::App;
use crate::protocol::http::Projects;

pub(super) fn projects(app: &App) -> Projects {
    Projects {
        projects: app.actions.projects(),
    }
}
