//! Questions at the cursor while a flow is watched.

use std::sync::Arc;

use a_society_facts::fact::node::WaitReason;
use a_society_facts::fact::turn::TurnEnd;
use a_society_facts::view::flow::FlowState;
use a_society_facts::words::asks::{WANTS_TO_CALL, WANTS_TO_HAND_OVER, needs};
use a_society_facts::words::calls::turn_end;
use a_society_facts::words::status::YOUR_TURN;
use a_society_operator_ui::fold::asks::{OpenAsk, open};
use a_society_operator_ui::fold::terms::{DIRECTORY, PROJECT_FOLDER, scope, wants};
use a_society_operator_ui::protocol::ask::Fact;
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::{OperatorQuestion, Work};
use a_society_state::{FlowRef, Store};

use super::unsent::Draft;
use super::{Watch, rests};
use crate::cli::artifact_text;
use crate::cli::asks::{self, QUESTION_LINES_MAX};
use crate::cli::card::{self, Call, Card, Typed, to_reply};
use crate::cli::card_rows::{CardFace, CardPlace, Face, Manner, PROSE_LINES_MAX};
use crate::cli::editor::{Edited, edit};
use crate::cli::field::{Field, Written};
use crate::cli::own_turn::Act;
use crate::cli::pager::screen::read;
use crate::cli::pager::{CALL, CLOSED_EARLY, PagedText, Pager, TEXT};
use crate::cli::prompt::{Heard, Prompt};
use crate::cli::say::project_folder;
use crate::cli::turn_files::{self, Next, TurnFiles};
use crate::operator_error::Stop;
use crate::text::{at_home, plain, printed, printed_exact};

/// The heading of what was printed as one line only.
const WHAT_OTHERS_SAID: &str = "what others said";

/// The outcome of keys in a text that is typed.
enum Answer {
    /// It is sent.
    Line(String),
    /// The next question is wanted.
    Next,
}

/// What a question shows.
pub(crate) fn face(ask: &OpenAsk, call: &Call, place: CardPlace) -> Face {
    let who = asks::who(ask);
    let text = asks::says(ask).map(std::borrow::Cow::into_owned);
    let shown = call.shown.clone().or_else(|| call.text.clone());
    let face = |head: String, text: Option<(Manner, String)>| Face {
        head,
        place,
        text,
        lines_max: QUESTION_LINES_MAX,
        facts: ask.facts().to_vec(),
        covers: None,
        key: "v",
        then: None,
    };
    match &ask.question {
        OperatorQuestion::Consent { .. } => {
            let asked = ask.call.as_ref();
            let wants = asked.map_or_else(
                || WANTS_TO_CALL.to_owned(),
                |asked| wants(&asked.tool, None),
            );
            // All of it is shown, or none of it can be allowed.
            let text = shown.or(text).map(|text| (Manner::Exact, text));
            let for_the_flow = call.for_the_flow.as_ref();
            Face {
                covers: for_the_flow.cloned(),
                then: Some(for_the_flow.map_or(card::Y, |_| card::Y_AND_F)),
                ..face(format!("{who} {wants}"), text)
            }
        }
        OperatorQuestion::Approval { .. } => {
            let hands = asks::handed_over(ask);
            let text = shown.map(|text| (Manner::Exact, text));
            let head = format!("{who} {WANTS_TO_HAND_OVER} {hands}");
            Face {
                then: Some(card::Y),
                ..face(artifact_text::headed(head, call.version.as_deref()), text)
            }
        }
        OperatorQuestion::Text { .. } if call.own.is_some() => {
            let text = shown.map(|text| (Manner::Prose, text));
            face(format!("{who}: {YOUR_TURN}"), text)
        }
        OperatorQuestion::Text { reason, .. } => {
            let takes_keys = card::is_failure(&ask.question) || !ask.choices.is_empty();
            Face {
                lines_max: PROSE_LINES_MAX,
                // Letters are text where one is typed.
                key: if takes_keys { "v" } else { "alt-v" },
                then: (!ask.choices.is_empty()).then_some(card::NUMBERS),
                ..face(
                    asks_for_words(ask, *reason),
                    text.map(|text| (Manner::Prose, text)),
                )
            }
        }
        OperatorQuestion::Improvement { .. }
        | OperatorQuestion::Feedback
        | OperatorQuestion::Unpause { .. }
        | OperatorQuestion::Configuration { .. }
        | OperatorQuestion::Stalled => {
            let text = text.map(|text| (Manner::Prose, text));
            face(format!("{who} waits for {}", ask.wants()), text)
        }
    }
}

/// The heading of a question that is answered with words.
fn asks_for_words(ask: &OpenAsk, reason: WaitReason) -> String {
    match reason {
        WaitReason::AutonomousAbort | WaitReason::RepairLimit => {
            format!("{}: {}", asks::who(ask), turn_end(TurnEnd::Failed))
        }
        WaitReason::PromptHuman
        | WaitReason::Consent
        | WaitReason::ConsentDenied
        | WaitReason::RoleConfiguration
        | WaitReason::HandoffApproval
        | WaitReason::Budget
        | WaitReason::Provider
        | WaitReason::Message => needs(&asks::who(ask), &ask.wants()),
    }
}

/// What the operator may see and allow of the call that a question is about.
pub(crate) fn call_of(store: &Store, flow: &FlowRef, ask: &OpenAsk, state: &FlowState) -> Call {
    let whole = Call {
        is_whole: true,
        choices: ask.choices.clone(),
        ..Call::default()
    };
    if let Some((own, came_in)) = turn_files::own_turn(store, flow, state, ask) {
        return Call {
            is_whole: !asks::is_cut(&came_in),
            own: Some(own),
            text: Some(came_in),
            ..Call::default()
        };
    }
    if let OperatorQuestion::Approval { approval, .. } = &ask.question
        && let Some(staged) = artifact_text::staged(store, flow, state, approval)
    {
        let shown = staged.difference.as_ref().unwrap_or(&staged.whole);
        return Call {
            is_whole: !asks::is_cut(shown),
            shown: staged.difference,
            version: staged.version,
            text: Some(staged.whole),
            ..Call::default()
        };
    }
    let OperatorQuestion::Consent { consent, .. } = &ask.question else {
        return whole;
    };
    let Some(open) = state.consents.get(consent) else {
        return whole;
    };
    let text = asks::whole(store, flow, &open.shown);
    Call {
        action: Some(open.action),
        is_whole: !asks::is_cut(&text),
        for_the_flow: scope(&open.tool, &text).map(|scope| {
            // The text of the call is above it.
            let end = format!(": {text}");
            scope
                .strip_suffix(&end)
                .map_or(scope.clone(), str::to_owned)
        }),
        text: Some(text),
        ..Call::default()
    }
}

/// A question as labelled lines with numbered choices, for a screen that is read aloud.
pub(crate) fn spoken(name: &str, ask: &OpenAsk, face: &Face, card: &Card) -> Vec<String> {
    let is_permission = matches!(
        ask.question,
        OperatorQuestion::Consent { .. } | OperatorQuestion::Approval { .. }
    );
    let label = if is_permission {
        "permission needed"
    } else {
        "question"
    };
    let mut lines = face.spoken(label);
    lines.extend(asks::other_ways(name, ask));
    let choices = card.choices().into_iter().enumerate();
    lines.extend(choices.map(|(at, (_, does))| format!("{}. {does}", at + 1)));
    lines
}

/// What is asked for there, before the cursor.
pub(crate) fn spoken_mark(card: &Card) -> String {
    if card.choices().is_empty() {
        return card.mark();
    }
    "type a number and press Enter> ".to_owned()
}

impl Watch<'_> {
    /// The flow waits for its operator, who is asked or told.
    pub(super) fn answer(&mut self, seen: &Arc<Seen>) -> Result<(), Stop> {
        let asks = open(&seen.state, &seen.pending);
        if self.wishes.ui && !self.wishes.until_waiting && !self.looks() {
            // It is answered from the page.
            return Ok(());
        }
        if self.wishes.until_waiting || !self.looks() {
            return self.leave();
        }
        if self.prompt.is_none() {
            self.open_prompt();
            self.take_keys(self.draws());
        }
        let rests = rests(seen);
        if rests {
            self.later.clear();
        }
        self.release_drafts(&asks, seen);
        let here = asks.iter().filter(|ask| {
            card::is_answered_here(&ask.question) && !self.later.contains(&ask.question)
        });
        let here: Vec<&OpenAsk> = here.collect();
        self.asked = here.len();
        let shown = self.card.as_ref().map(|card| &card.question);
        let wanted = shown.or(self.chosen.as_ref());
        let wanted = wanted.and_then(|wanted| here.iter().position(|ask| ask.question == *wanted));
        let at = wanted.unwrap_or(0);
        let Some(ask) = here.get(at) else {
            // What is asked elsewhere, or later, waits for as long as anything else goes on.
            return if rests { self.leave() } else { Ok(()) };
        };
        if self.card.is_none() {
            let place = CardPlace {
                number: at + 1,
                of: here.len(),
            };
            return self.put(ask, place, seen);
        }
        let next = here
            .get((at + 1) % here.len())
            .map(|next| next.question.clone());
        let heard = self.prompt.as_mut().map_or(Heard::End, Prompt::heard);
        let now = self.now_ms();
        let typed = match heard {
            Heard::Nothing => return Ok(()),
            Heard::End => return self.leave(),
            Heard::Keys(keys) if self.field.is_some() => match self.field_takes(&keys)? {
                None => return Ok(()),
                Some(Answer::Next) => return self.next(next),
                Some(Answer::Line(line)) => return self.answered(&line, rests),
            },
            Heard::Line(line) => return self.answered(&line, rests),
            Heard::Keys(keys) => {
                let card = self.card.as_mut();
                card.map_or(Typed::Nothing, |card| card.press(&keys, now))
            }
        };
        if typed == Typed::Next {
            return self.next(next);
        }
        self.take(typed)
    }

    /// A whole line was typed.
    fn answered(&mut self, line: &str, rests: bool) -> Result<(), Stop> {
        let now = self.now_ms();
        let Some(card) = &mut self.card else {
            return Ok(());
        };
        if line.trim().is_empty() && !rests && card.is_text() {
            return self.later();
        }
        let typed = card.hear(line, now);
        let is_refused = matches!(typed, Typed::Said(_));
        self.take(typed)?;
        // What was not used is not lost.
        if is_refused && let Some(field) = &mut self.field {
            *field = Field::with(line.to_owned());
        }
        Ok(())
    }

    /// Keys while a text is typed; a line that is sent, or that the next question is wanted.
    fn field_takes(&mut self, keys: &[u8]) -> Result<Option<Answer>, Stop> {
        let Some(field) = &mut self.field else {
            return Ok(None);
        };
        match field.take(keys) {
            Written::Typed => Ok(None),
            Written::Full => {
                let says = "the text is full; ctrl-g opens it in your editor";
                self.say(says).map(|()| None)
            }
            Written::Next => Ok(Some(Answer::Next)),
            Written::Sent => {
                let text = field.text().to_owned();
                *field = Field::default();
                Ok(Some(Answer::Line(text)))
            }
            Written::Editor => self.edit_text().map(|()| None),
            Written::Read => {
                let shows = self.card.as_ref().map(Card::show);
                shows
                    .map_or(Ok(()), |shows| self.take(shows))
                    .map(|()| None)
            }
            Written::Left => {
                if self.card.as_ref().is_some_and(Card::is_text) {
                    return self.later().map(|()| None);
                }
                self.close_field();
                Ok(Some(Answer::Line(String::new())))
            }
        }
    }

    /// Opens the text that is typed in the operator's editor.
    pub(super) fn edit_text(&mut self) -> Result<(), Stop> {
        let text = self.field.as_ref().map(|field| field.text().to_owned());
        let text = text.unwrap_or_default();
        let (store, editor) = (self.store, self.environment.editor.clone());
        let edited =
            self.in_program(|| edit(store.ground().disk.as_ref(), &editor, "answer.md", &text))?;
        self.take_keys(true);
        match edited {
            Edited::Text(text, _) => {
                self.field = Some(Field::with(text.trim_end().to_owned()));
                Ok(())
            }
            Edited::Nothing(why) => self.say(&plain(&why)),
        }
    }

    /// Shows the next question; what was typed for this one is there when it is shown again.
    fn next(&mut self, next: Option<OperatorQuestion>) -> Result<(), Stop> {
        if self.asked < 2 {
            return self.say("nothing else waits for you");
        }
        self.put_aside();
        self.chosen = next;
        Ok(())
    }

    /// Closes the card, and keeps what was typed for it.
    fn put_aside(&mut self) {
        self.close_field();
        (self.card, self.face) = (None, None);
    }

    /// The question at the cursor was answered elsewhere. What was typed for it is kept.
    pub(super) fn closed_elsewhere(&mut self) -> Result<(), Stop> {
        (self.card, self.face) = (None, None);
        let typed = match self.field.take() {
            Some(field) => Some(field.text().to_owned()),
            None if self.is_plain => self.prompt.as_mut().and_then(Prompt::unfinished),
            None => None,
        };
        self.kept = typed
            .filter(|text| !text.trim().is_empty())
            .map(Draft::kept)
            .or(self.kept.take());
        let says = match &self.kept {
            None => "this was answered elsewhere".to_owned(),
            Some(_) if self.draws() => {
                "this was answered elsewhere; what you typed is kept for the next question"
                    .to_owned()
            }
            Some(draft) => format!(
                "this was answered elsewhere; you had typed: {}",
                plain(&draft.text)
            ),
        };
        if !self.draws() {
            // The line that was being typed ends here.
            self.out.line("")?;
        }
        self.say(&says)
    }

    /// Puts a question to the operator. What was typed before it was shown answers nothing.
    fn put(&mut self, ask: &OpenAsk, place: CardPlace, seen: &Arc<Seen>) -> Result<(), Stop> {
        self.stash_composer();
        let Some(early) = self.prompt.as_mut().map(Prompt::forget) else {
            return self.leave();
        };
        let mut call = call_of(self.store, self.flow, ask, &seen.state);
        let mut face = face(ask, &call, place);
        for fact in &mut face.facts {
            self.name_folder(fact);
        }
        if self.draws() {
            // It was shown when it was on the screen.
            call.is_whole = false;
            let shown = face.text.as_ref().map(|(_, text)| text.clone());
            call.text = call.text.or(shown);
        }
        let mut card = Card::new(ask.question.clone(), call, self.is_plain, self.now_ms());
        let again = card
            .own()
            .is_some()
            .then_some(ask.again.as_deref())
            .flatten();
        let again = again.into_iter().flat_map(str::lines).map(printed);
        let mut lines: Vec<String> = again.collect();
        if self.draws() {
            // What comes before it is above it.
            self.progress.settle(self.out)?;
            self.face = Some(CardFace {
                before: std::mem::take(&mut lines),
                face,
                after: asks::other_ways(asks::short(self.flow), ask),
            });
        } else {
            self.progress.print(self.out, None, true)?;
            lines.extend(spoken(asks::short(self.flow), ask, &face, &card));
            lines.extend(self.typed_before(&card));
        }
        for line in lines {
            self.out.line(&line)?;
        }
        if early {
            self.out
                .note("what you typed before this question was shown was not used");
        }
        if !self.draws() && !rests(seen) && card.is_text() {
            self.out
                .note("nothing but Enter: later, when the rest is done");
        }
        self.card = Some(card);
        self.mark()
    }

    /// Names the folder of a command as the operator would.
    fn name_folder(&self, fact: &mut Fact) {
        if fact.label != DIRECTORY {
            return;
        }
        let mut folder = project_folder(self.store, &self.flow.project);
        if fact.value != PROJECT_FOLDER {
            folder.push(&fact.value);
        }
        fact.value = at_home(&folder, self.environment.home.as_deref());
    }

    /// Closes the question that was answered. What a role asked stays among the finished lines.
    fn answered_here(&mut self) -> Result<(), Stop> {
        self.forget_drafts();
        let kept = self.face.take().filter(CardFace::is_kept);
        let (columns, _) = self.out.size();
        let rows = kept.map(|face| face.fitted(&self.out.paint, columns, usize::MAX).rows);
        (self.card, self.field) = (None, None);
        match rows {
            Some(rows) => self.out.draw(&rows, &[], columns),
            None => Ok(()),
        }
    }

    /// Does a step towards the end of the operator's own turn.
    fn own(&mut self, act: Act) -> Result<(), Stop> {
        if act == Act::Later {
            return self.later();
        }
        let files = TurnFiles {
            store: self.store,
            flow: self.flow,
            editor: &self.environment.editor,
        };
        let Some(mut own) = self.card.as_mut().and_then(Card::own).cloned() else {
            return Ok(());
        };
        let next = if matches!(act, Act::Edit(_)) {
            self.in_program(|| files.carry_out(&mut own, act))?
        } else {
            files.carry_out(&mut own, act)
        };
        let Some(card) = &mut self.card else {
            return Ok(());
        };
        if let Some(there) = card.own() {
            *there = own;
        }
        match next {
            None => Ok(()),
            Some(Next::Reply(text)) => {
                let command = to_reply(&card.question, text);
                command.map_or(Ok(()), |command| self.take(Typed::Command(command)))
            }
            Some(Next::Said(says)) => {
                self.say(&plain(&says))?;
                self.mark()
            }
        }
    }

    /// Leaves a question until the rest is done.
    fn later(&mut self) -> Result<(), Stop> {
        let question = self.card.as_ref().map(|card| card.question.clone());
        self.put_aside();
        if self.handle.seen().is_some_and(|seen| rests(&seen)) {
            return self.leave();
        }
        self.later.extend(question);
        Ok(())
    }

    /// Hands the terminal to something else until it ends. What is pressed meanwhile is meant for that.
    pub(super) fn away<T>(&mut self, other: impl FnOnce() -> T) -> Result<T, Stop> {
        if self.draws() {
            let (columns, _) = self.out.size();
            self.out.draw(&[], &[], columns)?;
            self.out.finish_drawing();
        }
        self.take_keys(false);
        let rest = self.prompt.as_ref().map(Prompt::rest);
        let ended = other();
        drop(rest);
        Ok(ended)
    }

    /// The same for another program, which gets what asks this one to end, too.
    fn in_program<T>(&mut self, program: impl FnOnce() -> T) -> Result<T, Stop> {
        let interrupts = self.interrupts.count();
        self.suspension.stop_at_once(true);
        let ended = self.away(program);
        self.suspension.stop_at_once(false);
        self.interrupts.forget(interrupts);
        ended
    }

    /// Shows all of what is asked, on a screen of its own for as long as it is asked. Where whole lines are typed it is
    /// printed.
    fn show_whole(&mut self, text: &str) -> Result<(), Stop> {
        if !self.draws() {
            for line in text.lines() {
                self.out.line(&format!("text: {}", printed_exact(line)))?;
            }
        } else if !self.read(self.paged(text))? {
            let is_asked = self.interrupts.count() == 0;
            return if is_asked {
                self.say(CLOSED_EARLY)
            } else {
                Ok(())
            };
        }
        let now = self.now_ms();
        if let Some(card) = &mut self.card {
            card.was_shown(now);
        }
        Ok(())
    }

    /// What is asked, as the pager shows it.
    fn paged(&self, text: &str) -> PagedText {
        let face = self.face.as_ref().map(|face| &face.face);
        let is_call = self
            .card
            .as_ref()
            .is_some_and(|card| matches!(card.question, OperatorQuestion::Consent { .. }));
        PagedText {
            head: face.map(|face| face.head.clone()).unwrap_or_default(),
            of: if is_call { CALL } else { TEXT },
            manner: (face.and_then(|face| face.text.as_ref()))
                .map_or(Manner::Prose, |(manner, _)| *manner),
            lines: text.lines().map(str::to_owned).collect(),
            facts: face.map(Face::fact_lines).unwrap_or_default(),
        }
    }

    /// Shows a text on a screen of its own. Whether it was read to its end.
    fn read(&mut self, text: PagedText) -> Result<bool, Stop> {
        let mut pager = Pager::new(text);
        let colours = self.out.paint.is_on();
        let (handle, interrupts) = (self.handle.clone(), self.interrupts.clone());
        let question = self.card.as_ref().map(|card| card.question.clone());
        let is_asked = |question: &OperatorQuestion| {
            let asks = |work: &Work| matches!(work, Work::AskOperator(asked) if asked == question);
            let seen = handle.seen();
            seen.is_some_and(|seen| !seen.over && seen.pending.iter().any(asks))
        };
        let before = interrupts.count();
        let goes_on = || interrupts.count() == before && question.as_ref().is_none_or(is_asked);
        let was_read = self.away(|| read(&mut pager, colours, goes_on))?;
        self.take_keys(true);
        match was_read {
            Ok(()) => Ok(pager.has_ended()),
            Err(error) => {
                self.say(&format!("it was not shown: {}", plain(&error.to_string())))?;
                Ok(false)
            }
        }
    }

    /// Shows what was printed as one line.
    pub(super) fn read_others(&mut self) -> Result<(), Stop> {
        let texts = self.progress.take_unread();
        if texts.is_empty() {
            return self.say("nobody else said anything that you could not read");
        }
        let each = texts.iter().flat_map(|(who, text)| {
            let lines = text.trim_end().lines().map(str::to_owned);
            [format!("{who}:")]
                .into_iter()
                .chain(lines)
                .chain([String::new()])
        });
        let mut lines: Vec<String> = each.collect();
        lines.pop();
        let text = PagedText {
            head: WHAT_OTHERS_SAID.to_owned(),
            of: TEXT,
            manner: Manner::Prose,
            lines,
            facts: Vec::new(),
        };
        self.read(text).map(drop)
    }

    /// Asks for an answer to the question that is shown: with keys, or in a text below the nodes, or as a line.
    fn mark(&mut self) -> Result<(), Stop> {
        let Some(card) = &self.card else {
            return Ok(());
        };
        if self.draws() {
            let is_text = card.is_text();
            if card.takes_keys() {
                self.field = None;
            } else if self.field.is_none() {
                self.open_field(is_text)?;
            }
            self.take_keys(true);
            return Ok(());
        }
        let mark = spoken_mark(card);
        self.take_keys(false);
        self.out.ask(&mark);
        Ok(())
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.store.ground().clock.now().ms()
    }

    /// Does what was typed while a question was shown.
    fn take(&mut self, typed: Typed) -> Result<(), Stop> {
        match typed {
            Typed::Nothing => return Ok(()),
            Typed::Command(command) => {
                self.answered_here()?;
                // It may have been answered elsewhere a moment ago, or the role wants something else.
                return match self.obeyed(command) {
                    Ok(()) => Ok(()),
                    Err(refused) => self.say(&plain(&refused.to_string())),
                };
            }
            Typed::Show(text) => self.show_whole(&text)?,
            Typed::Own(act) => return self.own(act),
            Typed::Said(says) => self.say(&says)?,
            Typed::Again | Typed::Next => {}
        }
        self.mark()
    }
}
