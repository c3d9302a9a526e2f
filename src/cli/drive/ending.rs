//! The report when a flow is not driven any more: its state, what it made and what it cost.

use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::view::flow::{FlowStatus, Phase};
use a_society_facts::view::standing::Standing;
use a_society_facts::view::summary::Summary;
use a_society_operator_ui::server::changed;
use a_society_orchestrator::delivered::Delivered;
use a_society_orchestrator::driver::error::DriverError;
use a_society_orchestrator::driver::handle::Seen;
use serde_json::json;

use super::{Watch, from_driver, rests};
use crate::cli::asks::{self, Ask, short};
use crate::cli::{cost, delivered, diff, progress};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::{one_line, span};

/// A longer title is cut.
const TITLE_COLUMNS_MAX: usize = 60;

impl Watch<'_> {
    /// Prints the present state of the flow, and how it ended for us.
    pub(super) fn result(&mut self, driven: Result<(), DriverError>) -> Outcome {
        if !self.draws() {
            self.progress.print(self.out, None)?;
        }
        if let Err(error) = driven {
            self.out.finish_drawing();
            return Err(from_driver(error, self.flow));
        }
        let Some(seen) = self.handle.seen() else {
            return Err(from_driver(DriverError::Gone, self.flow));
        };
        let over = seen.state.status.is_over();
        let asks = if over {
            Vec::new()
        } else {
            asks::of(self.flow, &seen.state, &seen.pending)
        };
        let code = match (over, rests(&seen)) {
            (true, _) => ExitCode::Ok,
            (false, true) if self.interrupts.count() == 0 => asks::exit_code(&asks),
            (false, _) => ExitCode::Interrupted,
        };
        let closed = over || seen.state.phase != Phase::Forward;
        let made = if closed {
            delivered::of(self.store, self.flow)?
        } else {
            None
        };
        self.tell(&seen, &asks, (code, made.as_ref()))?;
        delivered::hand_over(self.out, &self.wishes, made.as_ref(), over)?;
        Ok(code)
    }

    /// What the flow cost by role, and on a terminal the beginning of what it delivered.
    fn sum_up(&mut self, seen: &Seen, made: Option<&Delivered>) -> Result<(), Stop> {
        for line in self.progress.cost(&seen.state) {
            self.out.line(&format!("  {line}"))?;
        }
        if !self.draws() {
            return Ok(());
        }
        // The command itself reports what cannot be read.
        let changed = changed(self.store, self.flow, None).ok();
        if let Some(line) = changed.and_then(|all| diff::in_short(&all, self.flow)) {
            self.out.line(&line)?;
        }
        for line in made.into_iter().flat_map(delivered::beginning) {
            self.out.line(&line)?;
        }
        Ok(())
    }

    /// What was delivered and nothing else. Who does not look at a terminal is handed it as it is.
    fn tell_result(&mut self, made: Option<&Delivered>) -> Result<(), Stop> {
        let Some(made) = made.filter(|_| self.draws()) else {
            return Ok(());
        };
        let lines = delivered::text(made).unwrap_or_else(|| vec![delivered::line(made)]);
        let (columns, _) = self.out.size();
        self.out.draw(&lines, &[], columns)?;
        self.out.finish_drawing();
        Ok(())
    }

    fn tell(
        &mut self,
        seen: &Arc<Seen>,
        asks: &[Ask],
        (code, made): (ExitCode, Option<&Delivered>),
    ) -> Result<(), Stop> {
        let status = seen.state.status.word();
        // This process lets go of it now.
        let standing = Standing::of(&Summary::of(&seen.state), false);
        if self.out.is_json() {
            return self.out.value(&json!({
                "v": progress::VERSION,
                "event": "end",
                "project": self.flow.project,
                "flow": self.flow.flow,
                "status": status,
                "standing": standing.word(),
                "seq": seen.seq,
                "waits": asks::as_json(asks),
                "delivered": made.map(delivered::as_json),
                "cost": cost::as_json(&seen.state),
                "exit_code": code.number(),
            }));
        }
        let over = seen.state.status.is_over();
        if over && self.wishes.quiet {
            return self.tell_result(made);
        }
        if self.draws() && over {
            self.progress.settle(self.out)?;
            let line = over_line(seen, self.store.ground().clock.now());
            self.out.line(&self.out.paint.bold(&line))?;
        } else if self.draws() {
            self.leave_drawn(seen)?;
        }
        for line in asks::lines(self.out, asks) {
            self.out.line(&line)?;
        }
        if let Some(made) = made {
            self.out.line(&delivered::line(made))?;
        }
        if over {
            self.sum_up(seen, made)?;
        }
        if !self.draws() {
            let line = format!(
                "{}: {}",
                self.flow,
                standing.words(self.store.ground().clock.now())
            );
            self.out.line(&line)?;
        }
        let name = short(self.flow);
        match code {
            ExitCode::Interrupted => self.out.note(&format!("go on: a-society resume {name}")),
            ExitCode::Waiting
            | ExitCode::WaitsForConsent
            | ExitCode::WaitsForModel
            | ExitCode::WaitsForBudget
            | ExitCode::WaitsAfterFailure
            | ExitCode::DiskFull => {
                self.out
                    .note(&format!("then go on: a-society resume {name}"));
            }
            ExitCode::Ok
            | ExitCode::Failed
            | ExitCode::Usage
            | ExitCode::NotFound
            | ExitCode::Damaged
            | ExitCode::Busy
            | ExitCode::Refused => {}
        }
        Ok(())
    }
}

/// That a flow is over, how long it took and what it cost.
fn over_line(seen: &Seen, now: At) -> String {
    let state = &seen.state;
    let (sign, word) = if state.status == FlowStatus::Cancelled {
        ("◼", "cancelled")
    } else {
        ("✓", "done")
    };
    let took = state.created_at.map(|at| (now.ms() - at.ms()).max(0));
    let took = took.map(|ms| span(ms.unsigned_abs()));
    let mut parts = vec![format!(
        "{sign} {} is {word}",
        one_line(&state.title, TITLE_COLUMNS_MAX)
    )];
    parts.extend(took);
    parts.extend(cost::in_short(&state.account));
    parts.join(" · ")
}
