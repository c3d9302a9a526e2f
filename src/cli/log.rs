//! `log`: the facts of a flow, as they were recorded.

use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::Duration;

use a_society_facts::Recorded;
use a_society_facts::id::Seq;
use a_society_state::journal::follow::Follower;
use a_society_state::watch::FolderWatch;
use a_society_state::{FlowRef, Store};

use super::context::Context;
use super::fact_pairs::members;
use super::report::torn;
use super::signals::Interrupts;
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::output::Output;
use crate::text::one_line;

/// How often a journal is looked at without news of it: the system may miss a change, and says nothing of a flow that was
/// removed.
const LOOK: Duration = Duration::from_secs(1);

/// What a fact says is cut to this, so that it stays on a line or two.
const SAYS_COLUMNS_MAX: usize = 140;

/// The names of facts are padded to this, so that their texts form a column.
const WORD_COLUMNS: usize = 22;

/// The arguments of `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json each line is the journal's own, byte for byte. Ctrl-C ends --follow. log works beside \
the process that writes the flow.

Examples:
  a-society log a1b2
  a-society log a1b2 --follow --since 120
  a-society log a1b2 --json | jq -c 'select(.fact == \"handoff_applied\")'")]
pub(crate) struct Arguments {
    /// The flow; the only one that is not over, or the only one at all, if left out
    #[arg(value_name = "FLOW")]
    flow: Option<String>,

    /// Keep printing new facts
    #[arg(long, short)]
    follow: bool,

    /// Start with this record
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    since: Seq,
}

/// Prints them.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, flow) = context.flow_or_only("log", arguments.flow.as_deref())?;
    let mut follower = store.follow_since(&flow, arguments.since)?;
    let out = &mut context.out;
    print_new(out, &mut follower, arguments.since)?;
    if !arguments.follow {
        tell_torn(out, &store, &flow, &follower);
        return Ok(ExitCode::Ok);
    }
    let interrupts = Interrupts::listen()?;
    let place = store.place(&flow);
    let watch = FolderWatch::new().ok();
    let watch = watch.filter(|watch| watch.add(&place.watched()).is_ok());
    // What was written before it was watched.
    print_new(out, &mut follower, arguments.since)?;
    loop {
        out.flush()?;
        interrupts.wait_beside(watch.as_ref().map(AsFd::as_fd), LOOK);
        if let Some(watch) = &watch {
            drop(watch.wait(Duration::ZERO));
        }
        if interrupts.count() > 0 {
            return Ok(ExitCode::Interrupted);
        }
        if !store.place(&flow).is_there() {
            out.note("the flow was removed");
            return Ok(ExitCode::Ok);
        }
        print_new(out, &mut follower, arguments.since)?;
    }
}

/// A torn end without a writer is left over from a process that died.
fn tell_torn(out: &mut Output, store: &Store, flow: &FlowRef, follower: &Follower) {
    let Some(tail) = follower.torn() else { return };
    let held = store.place(flow).holder();
    if matches!(held, Ok(None)) && !out.is_json() {
        out.note(&torn(tail));
    }
}

fn print_new(out: &mut Output, follower: &mut Follower, since: Seq) -> Result<(), Stop> {
    let mut failed = None;
    let read = follower.read_lines(&mut |recorded, line| {
        if recorded.seq < since {
            return ControlFlow::Continue(());
        }
        let printed = if out.is_json() {
            out.record(line)
        } else {
            let line = in_words(out, recorded);
            out.line(&line)
        };
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(stop) => {
                failed = Some(stop);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(stop) = failed {
        return Err(stop);
    }
    read?;
    Ok(())
}

fn in_words(out: &Output, recorded: &Recorded) -> String {
    let word = format!("{:<WORD_COLUMNS$}", recorded.word());
    let says = one_line(&members(recorded), SAYS_COLUMNS_MAX);
    let line = format!(
        "{:>6}  {}  {} {says}",
        recorded.seq,
        out.paint.dim(&recorded.at.to_string()),
        out.paint.bold(&word),
    );
    line.trim_end().to_owned()
}
