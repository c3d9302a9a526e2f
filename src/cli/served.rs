//! What the page's server asks of this program: to start flows, to go on with them, and to make projects.

use std::path::PathBuf;
use std::sync::OnceLock;

use a_society_facts::fact::flow::Ends;
use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::id::{BadName, ProjectName};
use a_society_operator_ui::protocol::down::Fault;
use a_society_operator_ui::protocol::http::{NewFlow as Wanted, NewFrom};
use a_society_operator_ui::protocol::workspace::{MadeProject, NewProject};
use a_society_operator_ui::server::actions::Actions;
use a_society_orchestrator::config::export_filter::Withheld;
use a_society_orchestrator::run::{self, Amendment};
use a_society_orchestrator::workspace::begin::{
    BegunFlow, FlowChoices, FlowOrigin, NotBegun, begin,
};
use a_society_orchestrator::workspace::belonging::project_of_all;
use a_society_state::{FlowRef, Store};

use super::begin::not_begun;
use super::notify::Notifier;
use super::say::{from_run, project_folder};
use crate::new_project::{self, EXAMPLE_FILES, INITIALIZATION};
use crate::operator_error::Stop;
use crate::workspace;

/// The workspace of a server.
#[derive(Debug)]
pub(crate) struct Workspace {
    store: Store,
    /// Found when the first file leaves: the keys may have to be asked for.
    withheld: OnceLock<Withheld>,
}

impl Workspace {
    /// Around these flows.
    pub(crate) const fn new(store: Store) -> Self {
        Self {
            store,
            withheld: OnceLock::new(),
        }
    }

    /// What the page wants a new flow to begin from.
    fn origin(&self, new: &Wanted) -> Result<FlowOrigin, Fault> {
        Ok(match &new.from {
            NewFrom::File(path) => FlowOrigin::File(PathBuf::from(path)),
            NewFrom::Project(name) => FlowOrigin::Project(project_named(name)?),
            NewFrom::Draft(name) => FlowOrigin::Draft(project_named(name)?),
            NewFrom::Chat(with) => FlowOrigin::Chat {
                project: match &with.project {
                    Some(name) => project_named(name)?,
                    None => project_of_all(&self.store)
                        .map_err(|error| from_stop(not_begun(NotBegun::Unfit(error.into()))))?,
                },
                role: with.role.clone(),
                label: new.title.clone(),
                context: None,
            },
        })
    }
}

impl Actions for Workspace {
    fn start(&self, new: &Wanted, rules: ConsentRules) -> Result<BegunFlow, Fault> {
        let choices = FlowChoices {
            title: new.title.clone(),
            input: new.input.clone(),
            ends: Ends {
                improve: new.improve,
                feedback: new.feedback,
            },
            mode: new.mode,
            rules,
            ..FlowChoices::default()
        };
        // The page has no place for what is remarkable about a flow that begins.
        let begun = begin(&self.store, self.origin(new)?, choices, &mut |_| {})
            .map_err(|error| from_stop(not_begun(error)))?;
        // It tells for as long as the flow is driven.
        Notifier::leave(&begun.flow, &begun.driven.handle, &self.store);
        Ok(begun)
    }

    fn resume(&self, flow: &FlowRef) -> Result<BegunFlow, Fault> {
        let project = project_folder(&self.store, &flow.project);
        let resumed = run::resume(&self.store, flow, project, None, Amendment::default());
        let (driven, _) = resumed.map_err(|error| from_stop(from_run(error)))?;
        Notifier::leave(flow, &driven.handle, &self.store);
        Ok(BegunFlow {
            flow: flow.clone(),
            driven,
        })
    }

    fn make_project(&self, new: &NewProject) -> Result<MadeProject, Fault> {
        let (name, folder) =
            new_project::folder_named(workspace::folder_of(&self.store), &new.name)
                .map_err(from_stop)?;
        let made = if new.example {
            new_project::make_example(&folder)
        } else {
            new_project::make(&folder)
        };
        let made = made.map_err(|stop| Fault {
            r#try: "take another name".to_owned(),
            ..from_stop(stop)
        })?;
        let below = |path: &str| format!("{name}/{path}");
        let [flow, _] = EXAMPLE_FILES;
        Ok(MadeProject {
            files: made.files.iter().map(|path| below(path)).collect(),
            takeover: made.is_takeover,
            from: if new.example {
                NewFrom::File(below(flow))
            } else {
                NewFrom::Project(name.to_string())
            },
            fills: (!new.example).then(|| below(INITIALIZATION)),
        })
    }

    fn begun(&self, begun: &BegunFlow) {
        Notifier::leave(&begun.flow, &begun.driven.handle, &self.store);
    }

    fn redact(&self, text: &str) -> String {
        self.withheld
            .get_or_init(Withheld::of_operator)
            .redact(text)
    }
}

fn project_named(name: &str) -> Result<ProjectName, Fault> {
    name.parse()
        .map_err(|bad: BadName| unread("there is no such project".to_owned(), &bad.to_string()))
}

fn unread(what: String, why: &str) -> Fault {
    Fault {
        code: "flow-file-unfit".to_owned(),
        what,
        why: why.to_owned(),
        r#try: "a-society check".to_owned(),
    }
}

fn from_stop(stop: Stop) -> Fault {
    match stop {
        Stop::Error(error) => Fault {
            code: error.code.to_owned(),
            what: error.what.clone(),
            why: error.why.clone(),
            r#try: error.hint.clone(),
        },
        Stop::OutputClosed => unread("it could not be read".to_owned(), ""),
    }
}
