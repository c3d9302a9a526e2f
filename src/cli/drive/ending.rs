//! The report when a flow is not driven any more: its state, what it made and what it cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use a_society_facts::At;
use a_society_facts::fact::operator::{ConsentMode, RuleOrigin};
use a_society_facts::view::FlowSummary;
use a_society_facts::view::flow::{DecisionTally, FlowPhase, FlowStatus, RuleTally};
use a_society_facts::view::standing::FlowStanding;
use a_society_facts::words::permissions;
use a_society_operator_ui::fold::asks::{OpenAsk, open};
use a_society_operator_ui::server::changed;
use a_society_orchestrator::delivered::Delivered;
use a_society_orchestrator::driver::error::DriverError;
use a_society_orchestrator::driver::handle::Seen;
use serde_json::json;

use super::{Watch, from_driver, rests};
use crate::cli::asks::{self, short};
use crate::cli::progress::aside;
use crate::cli::say::goes_on;
use crate::cli::{cost, delivered, diff};
use crate::exit_code::ExitCode;
use crate::operator_error::{Outcome, Stop};
use crate::text::{one_line, plain, span, width, wrapped};

/// A longer title is cut.
const TITLE_COLUMNS_MAX: usize = 60;

impl Watch<'_> {
    /// Prints the present state of the flow, and how it ended for us.
    pub(super) fn result(&mut self, driven: Result<(), DriverError>) -> Outcome {
        if !self.draws() {
            self.progress.print(self.out, None, self.is_plain)?;
        }
        if let Err(error) = driven {
            self.out.finish_drawing();
            return Err(from_driver(error, self.flow, self.talk.is_some()));
        }
        let Some(seen) = self.handle.seen() else {
            return Err(from_driver(
                DriverError::Gone,
                self.flow,
                self.talk.is_some(),
            ));
        };
        let over = seen.state.status.is_over();
        let asks = if over {
            Vec::new()
        } else {
            open(&seen.state, &seen.pending)
        };
        let code = match (over, rests(&seen)) {
            (true, _) => ExitCode::Ok,
            (false, true) if self.interrupts.count() == 0 => match (&self.talk, asks.as_slice()) {
                (Some(_), []) => ExitCode::Ok,
                (Some(_) | None, asks) => asks::exit_code(asks),
            },
            (false, _) => ExitCode::Interrupted,
        };
        let closed = over || seen.state.phase != FlowPhase::Forward;
        let made = if closed {
            delivered::of(self.store, self.flow)?
        } else {
            None
        };
        self.tell(&seen, &asks, code, made.as_ref())?;
        delivered::hand_over(self.out, &self.wishes, made.as_ref(), over)?;
        Ok(code)
    }

    /// What the flow made, who decided, what it cost by role, and how what it delivered begins.
    fn sum_up(&mut self, seen: &Seen, made: Option<&Delivered>) -> Result<(), Stop> {
        if !self.draws() {
            let before = if self.is_plain { "cost: " } else { "  " };
            for line in self.progress.cost(&seen.state, self.is_plain) {
                self.out.line(&format!("{before}{line}"))?;
            }
            return Ok(());
        }
        // The command itself reports what cannot be read.
        let changed = changed(self.store, self.flow, None).ok();
        let changed = changed.and_then(|all| diff::in_short(&all));
        let summary = Summed {
            flow: short(self.flow),
            result: made.map(delivered::in_short),
            changed,
            decided: decided(self.progress.decisions()),
        };
        let (columns, _) = self.out.size();
        let costs = self.progress.cost(&seen.state, false);
        for line in summary.rows(columns).into_iter().chain(costs) {
            self.out.line(&format!("  {line}"))?;
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

    /// Texts that were begun and never sent are not lost: they are printed and, while the flow is not over, kept for the
    /// next process.
    pub(super) fn let_go_of_texts(&mut self) {
        let seen = self.handle.seen();
        let is_over = seen.is_some_and(|seen| seen.state.status.is_over());
        self.keep_unfinished_line();
        let texts = self.unsent();
        for text in &texts {
            if text.text.trim().is_empty() {
                continue;
            }
            let says = format!("you typed this, and it was not sent: {}", plain(&text.text));
            self.out.note(&says);
        }
        if self.looks() {
            // One that cannot be kept was printed.
            let _why = self.keeper.keep(if is_over { Vec::new() } else { texts });
        }
    }

    /// Whether the flow rests because all of it waits for the operator.
    fn draining_for_operator(&self) -> bool {
        self.interrupts.count() == 0
    }

    /// A bold line, broken at words.
    fn tell_bold(&mut self, line: &str) -> Result<(), Stop> {
        let (columns, _) = self.out.size();
        for row in wrapped(&plain(line), columns) {
            self.out.line(&self.out.paint.bold(&row))?;
        }
        Ok(())
    }

    /// The last objects: which nodes stop with this process, and how it ended.
    fn tell_programs(
        &mut self,
        seen: &Seen,
        asks: &[OpenAsk],
        code: ExitCode,
        made: Option<&Delivered>,
    ) -> Result<(), Stop> {
        let now = self.store.ground().clock.now();
        let state = &seen.state;
        // This process lets go of it now.
        let standing = FlowStanding::of(&FlowSummary::of(state), false);
        for (node, running) in &state.running {
            let stops = json!({
                "node": node, "role": running.role, "turn": running.turn, "state": "stopped",
            });
            self.out.value(&aside(self.flow, now, "node", stops))?;
        }
        if standing == FlowStanding::Stopped {
            let command = goes_on(state, short(self.flow));
            let text = format!("{}; go on: {command}", standing.words(now));
            let note = json!({ "level": "warning", "code": "nobody_drives", "text": text });
            self.out.value(&aside(self.flow, now, "note", note))?;
        }
        // The command itself reports what cannot be read.
        let changed = changed(self.store, self.flow, None).ok();
        let ends = json!({
            "project": self.flow.project,
            "status": state.status.word(),
            "standing": standing.word(),
            "seq": seen.seq,
            "waits": asks::as_json(self.flow, asks),
            "result": made.map(delivered::as_json),
            "changed": changed.map(|all| diff::in_numbers(&all)),
            "usage": cost::as_json(state),
            "exit_code": code.number(),
        });
        self.out.value(&aside(self.flow, now, "end", ends))
    }

    /// What a chat still asks, and how to go on with it.
    fn tell_kept(&mut self, seen: &Arc<Seen>, asks: &[OpenAsk]) -> Result<(), Stop> {
        if self.draws() {
            self.progress.settle(self.out)?;
        }
        let name = short(self.flow);
        for line in asks::lines(self.out, name, asks) {
            self.out.line(&line)?;
        }
        if self.wishes.quiet && asks.is_empty() {
            return Ok(());
        }
        let cost = cost::in_short(&seen.state.account);
        let kept = format!("chat {name} is kept: a-society chat --resume {name}");
        let kept: Vec<String> = std::iter::once(kept).chain(cost).collect();
        self.out.note(&kept.join(" · "));
        Ok(())
    }

    fn tell(
        &mut self,
        seen: &Arc<Seen>,
        asks: &[OpenAsk],
        code: ExitCode,
        made: Option<&Delivered>,
    ) -> Result<(), Stop> {
        if self.out.is_json() {
            return self.tell_programs(seen, asks, code, made);
        }
        if self.talk.is_some() {
            return self.tell_kept(seen, asks);
        }
        let over = seen.state.status.is_over();
        if over && self.wishes.quiet {
            return self.tell_result(made);
        }
        if self.draws() && over {
            self.progress.settle(self.out)?;
            let line = over_line(seen, self.store.ground().clock.now());
            self.tell_bold(&line)?;
        } else if self.draws() {
            self.leave_drawn(seen)?;
            let line = stopped_line(asks, self.draining_for_operator());
            self.tell_bold(&line)?;
        }
        let is_said = self.draws() && !over;
        let name = short(self.flow);
        let lines = if is_said && self.draining_for_operator() {
            asks::lines_below(self.out, name, asks)
        } else {
            asks::lines(self.out, name, asks)
        };
        for line in lines {
            self.out.line(&line)?;
        }
        if let Some(made) = made.filter(|_| !(over && self.draws())) {
            self.out.line(&delivered::line(made))?;
        }
        if over {
            self.sum_up(seen, made)?;
        }
        self.tell_how_to_go_on(seen, asks, code)
    }

    /// The state of the flow that this process lets go of, and what there is to type.
    fn tell_how_to_go_on(
        &mut self,
        seen: &Arc<Seen>,
        asks: &[OpenAsk],
        code: ExitCode,
    ) -> Result<(), Stop> {
        let name = short(self.flow);
        if !self.draws() {
            // This process lets go of it now.
            let standing = FlowStanding::of(&FlowSummary::of(&seen.state), false);
            let line = format!(
                "{}: {}",
                self.flow,
                standing.words(self.store.ground().clock.now())
            );
            self.out.line(&line)?;
        }
        // The line above names what there is to type.
        if let [ask] = asks
            && asks::mended(name, ask).is_some()
            && code != ExitCode::Interrupted
        {
            return Ok(());
        }
        let back = goes_on(&seen.state, name);
        match code {
            ExitCode::Interrupted => self.out.note(&format!("go on: {back}")),
            ExitCode::Waiting
            | ExitCode::WaitsForConsent
            | ExitCode::WaitsForModel
            | ExitCode::WaitsForBudget
            | ExitCode::WaitsAfterFailure
            | ExitCode::DiskFull => self.out.note(&format!("then go on: {back}")),
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

/// What a flow that is over made, and who decided.
struct Summed<'a> {
    flow: &'a str,
    result: Option<String>,
    changed: Option<String>,
    decided: Option<String>,
}

impl Summed<'_> {
    /// A row for each, with the command that shows it where there is room.
    fn rows(&self, columns: usize) -> Vec<String> {
        let show = format!("a-society show {} --result", self.flow);
        let diff = format!("a-society diff {}", self.flow);
        let all = [
            ("result", &self.result, show.as_str()),
            ("changed", &self.changed, &diff),
            ("decided", &self.decided, ""),
        ];
        let all = all.into_iter();
        let all = all.filter_map(|(label, says, command)| Some((label, says.as_ref()?, command)));
        let rows: Vec<_> = all.collect();
        let wide = rows
            .iter()
            .filter(|(_, _, command)| !command.is_empty())
            .map(|(_, says, _)| width(says))
            .max()
            .unwrap_or(0);
        let label_wide = LABELS_COLUMNS + 2;
        let fits = rows
            .iter()
            .all(|(_, _, command)| label_wide + wide + 2 + command.len() + 2 < columns);
        let row = |(label, says, command): (&str, &String, &str)| {
            let missing = " ".repeat(wide.saturating_sub(width(says)));
            let line = format!("{label:<LABELS_COLUMNS$}  {says}");
            match command {
                "" => {
                    let room = columns.saturating_sub(label_wide + 3).max(1);
                    let labels = std::iter::once(label).chain(std::iter::repeat(""));
                    let rows = labels.zip(wrapped(says, room));
                    rows.map(|(label, row)| format!("{label:<LABELS_COLUMNS$}  {row}"))
                        .collect()
                }
                command if fits => vec![format!("{line}{missing}  {command}")],
                command => vec![line, format!("{:<label_wide$}{command}", "")],
            }
        };
        rows.into_iter().flat_map(row).collect()
    }
}

/// As wide as the widest label of [`Summed`].
const LABELS_COLUMNS: usize = "changed".len();

/// So many rules are named that decided, those that decided most; each by so many columns of its words.
const RULES_NAMED_MAX: usize = 3;
const RULE_COLUMNS_MAX: usize = 40;

/// Who decided about calls and handoffs.
fn decided(tally: &DecisionTally) -> Option<String> {
    let by = |times: u64, who: &str| (times > 0).then(|| format!("{times} by {who}"));
    let mut rules: BTreeMap<String, u64> = BTreeMap::new();
    for rule in &tally.rules {
        *rules.entry(source(rule)).or_default() += rule.times;
    }
    let mut rules: Vec<(String, u64)> = rules.into_iter().collect();
    rules.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let (named, others) = rules.split_at(rules.len().min(RULES_NAMED_MAX));
    let named = named
        .iter()
        .filter_map(|(rule, times)| by(*times, &one_line(rule, RULE_COLUMNS_MAX)));
    let others: u64 = others.iter().map(|(_, times)| *times).sum();
    let parts: Vec<String> = by(tally.operator, permissions::YOU)
        .into_iter()
        .chain(by(
            tally.full_access,
            permissions::mode(ConsentMode::FullAccess),
        ))
        .chain(named)
        .chain(by(others + tally.other_rules, "other rules"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A rule of the flow in its own words, and others by the file in which they are.
fn source(rule: &RuleTally) -> String {
    match rule.by.origin {
        RuleOrigin::Flow => rule.by.words(rule.answer),
        RuleOrigin::Configuration => "the configuration".to_owned(),
        RuleOrigin::Workspace => "the configuration of the workspace".to_owned(),
    }
}

/// Where a flow stopped, and for what it waits there.
fn stopped_line(asks: &[OpenAsk], is_left: bool) -> String {
    match asks.first() {
        Some(ask) if is_left => {
            let more = asks.len() - 1;
            let more = match more {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let (who, what) = (asks::who(ask), ask.wants());
            format!("◼ stopped at {who}: it waits for {what}{more}")
        }
        Some(_) | None => "◼ stopped: you interrupted it".to_owned(),
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

#[cfg(test)]
mod tests {
    use a_society_facts::fact::operator::{ConsentAnswer, DecidingRule};

    use super::*;

    #[test]
    fn the_end_names_the_result_the_files_and_who_decided_on_every_screen() {
        let rule = |origin: RuleOrigin, rule: &str, times: u64| RuleTally {
            by: DecidingRule {
                rule: rule.to_owned(),
                origin,
            },
            answer: ConsentAnswer::AllowOnce,
            times,
        };
        let decisions = DecisionTally {
            operator: 4,
            rules: vec![rule(RuleOrigin::Flow, "edits", 11)],
            ..DecisionTally::default()
        };
        let summary = Summed {
            flow: "k4x9",
            result: Some("record/close-2026-10.md (4.1 KiB)".to_owned()),
            changed: Some("3 files, +41 −12".to_owned()),
            decided: decided(&decisions),
        };
        let shown = [40, 80, 110, 200].map(|columns| {
            let rows = summary.rows(columns);
            format!("{columns} columns\n{}", rows.join("\n"))
        });
        insta::assert_snapshot!(shown.join("\n\n"));
        assert_eq!(decided(&DecisionTally::default()), None);
        let denies = RuleTally {
            answer: ConsentAnswer::Deny,
            ..rule(RuleOrigin::Flow, "rm *", 2)
        };
        let many = DecisionTally {
            operator: 0,
            full_access: 3,
            rules: vec![
                rule(RuleOrigin::Flow, "web", 1),
                denies,
                rule(RuleOrigin::Configuration, "edits", 4),
                rule(RuleOrigin::Configuration, "ls", 5),
                rule(RuleOrigin::Flow, "a", 1),
                rule(RuleOrigin::Flow, "b", 1),
            ],
            other_rules: 1,
        };
        let said = "3 by full access, 9 by the configuration, 2 by --deny 'rm *', 1 by --allow a, 3 by other rules";
        assert_eq!(decided(&many).as_deref(), Some(said));
    }
}
