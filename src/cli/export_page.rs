//! `export --html`: one flow as one page that needs no server.

use std::io::Write;
use std::path::Path;

use a_society_operator_ui::hub::Hubs;
use a_society_operator_ui::server::export::{self, Failed, Page, Wanted, page};
use a_society_orchestrator::config::export_filter::Withheld;
use a_society_state::{FlowRef, Store};
use serde_json::json;

use super::context::Context;
use super::say::project_folder;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome, Stop, from_io};
use crate::output::refused;
use crate::output_file::OutputFile;
use crate::text::{and, count, plain, size};
use crate::workspace;

/// What can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// What calls were asked and gave, and the rest of long texts
    Bodies,
    /// The sessions as their models see them
    Transcripts,
    /// The requests as they were sent; without transcripts they are left out, too
    Requests,
    /// The lines of the journal
    Events,
    /// What was handed over and changed
    Files,
}

impl Part {
    const fn meant(self) -> export::Part {
        match self {
            Self::Bodies => export::Part::Bodies,
            Self::Transcripts => export::Part::Transcripts,
            Self::Requests => export::Part::Requests,
            Self::Events => export::Part::Events,
            Self::Files => export::Part::Files,
        }
    }
}

/// Where the page goes, and what is in it.
pub(crate) struct Order<'a> {
    pub(crate) path: &'a Path,
    pub(crate) force: bool,
    pub(crate) without: &'a [Part],
}

/// Writes the page.
pub(crate) fn run(
    context: &mut Context<'_>,
    store: &Store,
    flow: &FlowRef,
    order: &Order<'_>,
) -> Outcome {
    let made = make(store, flow, order.without)?;
    tell_left_out(context, flow, &made);
    let shown = order.path.display().to_string();
    if order.path.as_os_str() == "-" {
        let out = context.out.writer();
        out.write_all(made.html.as_bytes())
            .map_err(|error| refused(&error))?;
        context.out.flush()?;
        return Ok(ExitCode::Ok);
    }
    let mut file = OutputFile::create(order.path, order.force)?;
    let written = file.write_all(made.html.as_bytes());
    written.map_err(|error| from_io("write", &shown, &error))?;
    file.finish()?;
    if context.out.is_json() {
        let without: Vec<&str> = order.without.iter().map(|it| it.meant().word()).collect();
        context.out.value(&json!({
            "project": flow.project,
            "flow": flow.flow,
            "file": shown,
            "bytes": made.html.len(),
            "last_seq": made.events,
            "withheld": made.withheld,
            "without": without,
            "left_out": words(&made.left_out),
        }))?;
        return Ok(ExitCode::Ok);
    }
    let events = usize::try_from(made.events).unwrap_or(usize::MAX);
    let bytes = size(made.html.len() as u64);
    let line = format!(
        "{flow}: {}, {bytes} into {}",
        count(events, "event"),
        plain(&shown)
    );
    context.out.line(&line)?;
    if made.withheld > 0 {
        let texts = count(usize::try_from(made.withheld).unwrap_or(usize::MAX), "text");
        let note = format!("secrets were taken out of {texts}");
        context.out.note(&note);
    }
    Ok(ExitCode::Ok)
}

fn words(parts: &[export::Part]) -> Vec<&'static str> {
    parts.iter().map(|part| part.word()).collect()
}

/// Names what was left out because there was too much of it.
fn tell_left_out(context: &mut Context<'_>, flow: &FlowRef, made: &Page) {
    if made.left_out.is_empty() {
        return;
    }
    let parts = and(&words(&made.left_out));
    let note = format!(
        "with all of the flow the page would be too large for a browser: it was written without {parts}; an archive of \
         everything: a-society export {} {}.tar",
        flow.flow, flow.flow
    );
    context.out.note(&note);
}

fn make(store: &Store, flow: &FlowRef, without: &[Part]) -> Result<Page, Stop> {
    let withheld = Withheld::of_operator();
    let redact = |text: &str| withheld.redact(text);
    let folder = workspace::folder_of(store).display().to_string();
    let wanted = Wanted {
        redact: &redact,
        without: without.iter().map(|part| part.meant()).collect(),
        shrinks: true,
        build: env!("CARGO_PKG_VERSION"),
        workspace: &folder,
        project: &project_folder(store, &flow.project),
    };
    let hubs = Hubs::new(store.clone(), String::new(), None);
    page(&hubs, flow, &wanted).map_err(|failed| told(flow, &failed))
}

fn told(flow: &FlowRef, failed: &Failed) -> Stop {
    let (code, exit, hint) = match failed {
        Failed::TooLarge { largest } => {
            let part = largest.map_or("bodies", |(part, _)| part.word());
            let hint = format!("leave something out: --without {part}");
            ("page-too-large", ExitCode::Refused, hint)
        }
        Failed::TooLong => (
            "page-too-large",
            ExitCode::Refused,
            "a-society export FLOW FILE writes an archive of any size".to_owned(),
        ),
        Failed::NoPage => (
            "page-not-built",
            ExitCode::Refused,
            "build the page in operator-ui/web and the program again".to_owned(),
        ),
        Failed::Unread(fault) => ("flow-unread", ExitCode::Failed, fault.r#try.clone()),
    };
    let why = match failed {
        Failed::TooLarge {
            largest: Some((part, bytes)),
        } => format!(
            "{failed}; {} of it are {}",
            size(*bytes as u64),
            part.word()
        ),
        Failed::TooLarge { largest: None }
        | Failed::TooLong
        | Failed::NoPage
        | Failed::Unread(_) => failed.to_string(),
    };
    let what = format!("{flow} was not written into one page");
    OperatorError::new((code, exit), what, why, hint).into()
}
