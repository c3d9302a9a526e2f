//! `watch`: flows and what they ask, on a screen of the terminal, answered with a key.
//!
//! `source` reads what is shown and `today` what it cost since midnight; `view` is that as data. `keys` says what a key
//! does, with `answer` for questions and `fields` for lines that are typed. `layout` gives each part its place, and `draw`
//! draws it from `rows`, `feed`, `card` and `hints`. Only this file touches the terminal, which it hands to the
//! pager, the operator's editor and other commands, and a flow is reached as by every other command.

mod answer;
mod card;
mod draw;
mod feed;
mod fields;
mod hints;
mod keys;
mod layout;
mod rows;
mod source;
mod spoken;
#[cfg(test)]
mod tests;
mod today;
mod unsent;
mod view;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel, sync_channel};
use std::time::Duration;

use a_society_facts::{Verb, Whom};
use a_society_orchestrator::control::client::{self, ObeyedBy};
use a_society_orchestrator::mint::{self, SystemMint};
use a_society_state::{FlowRef, Store};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use self::draw::draw;
use self::keys::{Act, Key, State};
use self::source::Source;
use self::view::{View, name};
use super::browser;
use super::context::Context;
use super::drafts::Drafts;
use super::own_command::{EndedFlow, OwnCommand};
use super::own_turn;
use super::pager::screen::{LOOK_EVERY, OwnScreen, is_there, read_on};
use super::pager::{CLOSED_EARLY, PagedText, Pager};
use super::say::project_folder;
use super::serve;
use super::signals::Interrupts;
use super::turn_files::{Next, TurnFiles};
use crate::exit_code::{self, ExitCode};
use crate::operator_error::{OperatorError, Outcome, Stop, from_io};
use crate::text::plain;
use crate::workspace;

/// The screen is drawn this often at most while a flow writes, and looks for the answer that is on its way.
const FRAME: Duration = Duration::from_millis(33);

/// How long it is drawn as it is: it says how long ago something was.
const CLOCKS: Duration = Duration::from_secs(1);

/// The arguments of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
watch shows what waits for you in all flows, what each flow is doing, has done and cost, and the \
feed of one role, and keeps them up to date. It drives nothing: an answer goes to the process that \
drives the flow; for a flow that no process drives it is recorded, and R resumes the flow in a \
process of its own.

The arrows choose a row, enter opens its flow with its nodes, feed, cost and files, and esc goes \
back. ? lists all keys: / filters, : runs any command, a digit shows the feed of a role, space \
holds the feed and G follows it, s sends a message to the role whose feed is shown, p pauses, two \
dots stop a turn, R resumes, o opens the page, c copies a call or a name, q quits.

The letters at the bottom answer the chosen question, and only that; a letter counts only if the \
question has been chosen, and no key pressed, for 0.4 seconds. A call that was not shown to its \
end cannot be allowed: PgUp and PgDn scroll, and v shows all of it on a screen of its own, where \
/ searches.

A turn of your own has the same keys as in run: w writes a file in $VISUAL or $EDITOR (else vi), \
f chooses a file of the project, h hands one over, b sends the work back.

Esc and Ctrl-C leave a line that is typed, and what is in it is kept; elsewhere Ctrl-C ends watch \
with 130. A text that was refused is in the line again.

With --plain, which suits a screen reader, everything is a labelled line: what waits is numbered, a number and Enter show it with its numbered answers, and nothing is drawn over.

watch needs a terminal; elsewhere use status and log --follow.

Examples:
  a-society watch
  a-society watch a1b2")]
pub(crate) struct Arguments {
    /// Only this flow
    #[arg(value_name = "FLOW")]
    flow: Option<String>,
}

/// Watches.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Arguments) -> Outcome {
    let (store, only) = match &arguments.flow {
        Some(typed) => {
            let (store, flow) = context.flow(typed)?;
            (store, Some(flow))
        }
        None => (context.store()?, None),
    };
    let is_aloud = context.out.is_spoken() && context.out.shows_bytes();
    if is_aloud && !context.out.is_json() && io::stdin().is_terminal() {
        return spoken::run(context, store, only);
    }
    if context.out.is_json() || !context.out.is_terminal() || !io::stdin().is_terminal() {
        return Err(no_terminal(only.as_ref()));
    }
    let interrupts = Interrupts::listen()?;
    let colours = context.out.paint.is_on();
    context.out.flush()?;
    let mut own = OwnScreen::enter().map_err(refused)?;
    let terminal = &mut own.terminal;
    let pasting = execute!(terminal.backend_mut(), EnableBracketedPaste);
    let mut state = State::default();
    if let Some(only) = &only {
        state.open(only.clone());
    }
    let mut drafts = Drafts::new(&store);
    state.left = drafts.take_over(only.as_ref());
    let program = context.environment.arguments.first().cloned();
    let mut screen = Screen {
        own: OwnCommand::new(
            program.unwrap_or_default(),
            workspace::folder_of(&store),
            context.without_locks,
        ),
        store: store.clone(),
        source: Source::new(store, only),
        state,
        drafts,
        view: View::default(),
        answer: None,
        resumed: BTreeSet::new(),
        ended: channel(),
        colours,
        editor: context.environment.editor.clone(),
    };
    let ended = pasting
        .map_err(refused)
        .and_then(|()| screen.until_quit(terminal, &interrupts));
    // The screen that would show why it cannot be kept is going.
    let _why = screen.drafts.keep(screen.state.unsent(&screen.view));
    let restored = own.close().map_err(refused);
    ended.and_then(|code| restored.map(|()| code))
}

fn no_terminal(flow: Option<&FlowRef>) -> Stop {
    let hint = flow.map_or_else(
        || "a-society ls and a-society status FLOW; a-society run and resume print what happens".to_owned(),
        |flow| {
            format!(
                "a-society status {flow}, or a-society log {flow} --follow; a-society run and resume \
                 print what happens"
            )
        },
    );
    let what = "there is no terminal to watch on";
    let why = "watch draws a screen and reads keys: input and output must both be a terminal, and TERM \
               must name one that moves its cursor";
    OperatorError::new(("no-terminal", ExitCode::Usage), what, why, hint).into()
}

fn refused(error: io::Error) -> Stop {
    from_io("use", "the terminal", &error).into()
}

/// The screen and everything behind it.
struct Screen {
    store: Store,
    source: Source,
    state: State,
    /// Where what is typed is kept for the process that comes after one that died.
    drafts: Drafts,
    view: View,
    /// The result of the answer that is on its way.
    answer: Option<Receiver<Answered>>,
    /// Other commands of this program.
    own: OwnCommand,
    /// The flows that were resumed from here: an answer resumes them again.
    resumed: BTreeSet<FlowRef>,
    /// How the processes ended that drove them.
    ended: (Sender<EndedFlow>, Receiver<EndedFlow>),
    colours: bool,
    /// What a person writes a file with.
    editor: String,
}

/// The result of an answer in words, and the flow if no process drives it. Or why it was not heard.
type Answered = Result<(String, Option<FlowRef>), String>;

/// A step of the operator's own turn, in a flow and for whom.
struct OwnStep {
    flow: FlowRef,
    to: Whom,
    act: own_turn::Act,
}

/// The codes of a process that left its flow waiting for the operator.
const WAITS: std::ops::RangeInclusive<u8> = 8..=12;

/// The longest text that terminals take for their clipboard without complaint.
const COPIED_BYTES_MAX: usize = 64 * 1024;

/// Hands the terminal to another program until it ends. What is pressed meanwhile is meant for that.
fn away<T>(
    terminal: &mut DefaultTerminal,
    interrupts: &Interrupts,
    program: impl FnOnce(&mut DefaultTerminal) -> T,
) -> io::Result<T> {
    execute!(
        terminal.backend_mut(),
        DisableBracketedPaste,
        LeaveAlternateScreen
    )?;
    terminal.show_cursor()?;
    disable_raw_mode()?;
    let before = interrupts.count();
    let ended = program(terminal);
    interrupts.forget(before);
    enable_raw_mode()?;
    execute!(
        terminal.backend_mut(),
        EnterAlternateScreen,
        Clear(ClearType::All),
        EnableBracketedPaste
    )?;
    // Nothing of the last picture is there any more, so that the next is drawn whole.
    terminal.swap_buffers();
    while event::poll(Duration::ZERO)? {
        event::read()?;
    }
    Ok(ended)
}

impl Screen {
    fn until_quit(&mut self, terminal: &mut DefaultTerminal, interrupts: &Interrupts) -> Outcome {
        loop {
            self.refresh()?;
            self.keep_drafts();
            let size = terminal.size().map_err(refused)?;
            self.state.resize(size.width, size.height);
            terminal
                .draw(|frame| draw(frame, &self.view, &self.state, self.colours))
                .map_err(refused)?;
            if interrupts.count() > 0 {
                return Ok(ExitCode::Interrupted);
            }
            if !self.wait(interrupts) {
                return Err(refused(io::Error::other("it was closed")));
            }
            // Every pending key is handled before the next look.
            while event::poll(Duration::ZERO).map_err(refused)? {
                let Some(key) = key_of(event::read().map_err(refused)?) else {
                    continue;
                };
                let now_ms = self.now_ms();
                let Some(act) = self.state.press(&self.view, &key, now_ms) else {
                    continue;
                };
                if let Some(code) = self.carry_out(terminal, interrupts, act)? {
                    return Ok(code);
                }
            }
        }
    }

    /// Waits for a key, a signal, news of a flow, or until the screen would say something else. Returns whether the
    /// terminal is still there.
    fn wait(&mut self, interrupts: &Interrupts) -> bool {
        let stdin = io::stdin();
        let longest = if self.answer.is_some() {
            FRAME
        } else {
            self.source.list_due_in(self.now_ms()).min(CLOCKS)
        };
        let ends = [Some(stdin.as_fd()), self.source.news()];
        interrupts.wait_beside(ends.into_iter().flatten(), longest);
        if self.source.take_news() {
            // What is written within a frame is drawn together.
            interrupts.wait_beside([stdin.as_fd()], FRAME);
            self.source.take_news();
        }
        is_there(&stdin, Duration::ZERO)
    }

    /// Keeps what is typed, each second.
    fn keep_drafts(&mut self) {
        let now = self.store.ground().clock.now().ms();
        if self.drafts.is_due(now)
            && let Some(why) = self.drafts.keep(self.state.unsent(&self.view))
        {
            self.state.told = why;
        }
    }

    /// Does what a key led to. Gives the code with which `watch` ends, if it does.
    fn carry_out(
        &mut self,
        terminal: &mut DefaultTerminal,
        interrupts: &Interrupts,
        act: Act,
    ) -> Result<Option<ExitCode>, Stop> {
        match act {
            Act::Quit => return Ok(Some(ExitCode::Ok)),
            Act::Interrupted => return Ok(Some(ExitCode::Interrupted)),
            Act::Say(flow, command) => self.say(flow, command),
            Act::Own(flow, to, act) => self.own(terminal, interrupts, OwnStep { flow, to, act })?,
            Act::Page(text) => self.page(terminal, interrupts, text)?,
            Act::Resume(flow) => self.resume(flow),
            Act::Run(words) => self.command(terminal, interrupts, &words)?,
            Act::Browse => self.browse(),
            Act::Copy(text, what) => self.copy(terminal, &text, what)?,
        }
        Ok(None)
    }

    /// Resumes a flow beside the screen.
    fn resume(&mut self, flow: FlowRef) {
        let name = name(&flow);
        self.state.told = match self.own.resume(&flow, self.ended.0.clone()) {
            Ok(()) => {
                self.resumed.insert(flow);
                self.source.look_again();
                format!("{name} goes on in a process of its own, also when watch ends")
            }
            Err(why) => format!("{name} was not resumed: {why}"),
        };
    }

    /// Runs another command where the screen was, until a key is pressed after its end.
    fn command(
        &mut self,
        terminal: &mut DefaultTerminal,
        interrupts: &Interrupts,
        words: &[String],
    ) -> Result<(), Stop> {
        let own = &self.own;
        let shown = away(terminal, interrupts, |terminal| {
            let ended = own.run(words).unwrap_or_else(|why| why);
            let asks = format!("\n[{ended}; a key goes back to watch]");
            execute!(terminal.backend_mut(), Print(asks))?;
            enable_raw_mode()?;
            while event::poll(Duration::ZERO)? {
                event::read()?;
            }
            // What is pressed after the end of the command, or the end of the terminal.
            while is_there(&io::stdin(), LOOK_EVERY) {
                if event::poll(Duration::ZERO)? && key_of(event::read()?).is_some() {
                    break;
                }
            }
            execute!(terminal.backend_mut(), Print("\r\n"))
        });
        shown.and_then(|shown| shown).map_err(refused)?;
        self.state.last_key_ms = self.now_ms();
        self.source.look_again();
        Ok(())
    }

    /// Opens the page of the server that runs.
    fn browse(&mut self) {
        self.state.told = match serve::link_of(&self.store) {
            Some(link) => match browser::open(&link) {
                Ok(()) => "the page opens in your browser".to_owned(),
                Err(why) => format!(
                    "no browser could be opened ({why}); a-society serve --link prints the address"
                ),
            },
            None => {
                "no server of this workspace runs; start one elsewhere: a-society serve".to_owned()
            }
        };
    }

    /// Gives the terminal a text for its clipboard, with the sequence that also works over SSH.
    fn copy(&mut self, terminal: &mut DefaultTerminal, text: &str, what: &str) -> Result<(), Stop> {
        if text.len() > COPIED_BYTES_MAX {
            self.state.told = format!("{what} is too long for the clipboard of a terminal");
            return Ok(());
        }
        let coded = STANDARD.encode(text);
        let sequence = format!("\u{1b}]52;c;{coded}\u{7}");
        execute!(terminal.backend_mut(), Print(sequence)).map_err(refused)?;
        self.state.told = format!("{what} was given to the clipboard of the terminal");
        Ok(())
    }

    fn now_ms(&self) -> u64 {
        self.store.ground().clock.elapsed_us() / 1000
    }

    fn refresh(&mut self) -> Result<(), Stop> {
        let (now, now_ms) = (self.store.ground().clock.now(), self.now_ms());
        let told = self.answer.as_ref().map(Receiver::try_recv);
        match told {
            None | Some(Err(TryRecvError::Empty)) => {}
            Some(told) => {
                self.answer = None;
                let unknown = || Ok(("its outcome is not known".to_owned(), None));
                let told = told.unwrap_or_else(|_| unknown());
                let rests = told.as_ref().ok().and_then(|(_, flow)| flow.clone());
                self.state.hear(told.map(|(says, _)| says));
                if let Some(flow) = rests.filter(|flow| self.resumed.contains(flow)) {
                    self.resume(flow);
                }
                self.source.look_again();
            }
        }
        for EndedFlow { flow, code } in self.ended.1.try_iter().collect::<Vec<_>>() {
            let ended = exit_code::ALL
                .into_iter()
                .find(|known| Some(i32::from(known.number())) == code);
            let says = match ended {
                Some(ended) if WAITS.contains(&ended.number()) => "waits for you",
                Some(ExitCode::Ok) => "is over",
                Some(ended) => ended.says(),
                None => "was left by its process; R resumes it",
            };
            self.state.told = format!("{}: {says}", name(&flow));
            self.source.look_again();
        }
        self.view = self.source.view(self.state.flow.as_ref(), now, now_ms)?;
        self.state.settle(&self.view);
        Ok(())
    }

    /// Carries out a step of the operator's own turn.
    fn own(
        &mut self,
        terminal: &mut DefaultTerminal,
        interrupts: &Interrupts,
        OwnStep { flow, to, act }: OwnStep,
    ) -> Result<(), Stop> {
        let files = TurnFiles {
            store: &self.store,
            flow: &flow,
            editor: &self.editor,
        };
        let Some(own) = &mut self.state.own else {
            return Ok(());
        };
        let next = if matches!(act, own_turn::Act::Edit(_)) {
            let edited = away(terminal, interrupts, |_| files.carry_out(own, act));
            let edited = edited.map_err(refused)?;
            self.state.last_key_ms = self.now_ms();
            edited
        } else {
            files.carry_out(own, act)
        };
        match next {
            None => {}
            Some(Next::Said(says)) => self.state.told = plain(&says).into_owned(),
            Some(Next::Reply(text)) => {
                let asked = None;
                self.say(flow, Verb::Reply { to, text, asked });
            }
        }
        Ok(())
    }

    /// Shows all of the chosen question, for as long as it is asked.
    fn page(
        &mut self,
        terminal: &mut DefaultTerminal,
        interrupts: &Interrupts,
        text: PagedText,
    ) -> Result<(), Stop> {
        let (asked, colours) = (self.state.ask.clone(), self.colours);
        let mut pager = Pager::new(text);
        let mut failed = None;
        let goes_on = || {
            if let Err(stop) = self.refresh() {
                failed = Some(stop);
            }
            failed.is_none() && interrupts.count() == 0 && self.state.ask == asked
        };
        read_on(terminal, &mut pager, colours, goes_on).map_err(refused)?;
        if let Some(stop) = failed {
            return Err(stop);
        }
        self.state.last_key_ms = self.now_ms();
        if self.state.ask != asked {
            return Ok(());
        }
        if pager.has_ended() {
            self.state.shown_rows = usize::MAX;
        } else {
            CLOSED_EARLY.clone_into(&mut self.state.told);
        }
        Ok(())
    }

    /// Says an answer on a thread of its own, because a flow may take its time to hear it.
    fn say(&mut self, flow: FlowRef, command: Verb) {
        let (tell, told) = sync_channel(1);
        let store = self.store.clone();
        let begun = std::thread::Builder::new()
            .name("answer".to_owned())
            .spawn(move || {
                // The receiver is gone if the screen is.
                drop(tell.send(answered(&store, &flow, command)));
            });
        match begun {
            Ok(_) => {
                self.answer = Some(told);
                self.state.busy = true;
                "on its way…".clone_into(&mut self.state.told);
            }
            Err(error) => self
                .state
                .hear(Err(format!("it could not be sent: {error}"))),
        }
    }
}

/// Says a command to a flow, and gives its result in words.
///
/// # Errors
/// Says in words why it was not heard.
fn answered(store: &Store, flow: &FlowRef, command: Verb) -> Answered {
    let words = command.row().done;
    let client = mint::name(&mut SystemMint, "watch").map_err(|bad| bad.to_string())?;
    let (project, name) = (project_folder(store, &flow.project), name(flow));
    match client::say(store, flow, &project, command, client) {
        Ok((taken, ObeyedBy::ByDriver)) => {
            Ok((format!("{name}: {words} (record {})", taken.seq), None))
        }
        Ok((taken, ObeyedBy::ByUs { .. })) => Ok((
            format!(
                "{name}: {words} (record {}); nobody drives it: R resumes it",
                taken.seq
            ),
            Some(flow.clone()),
        )),
        Err(unsaid) => Err(format!("{name}: {}", plain(&unsaid.to_string()))),
    }
}

fn key_of(event: Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Press => Some(pressed(key)),
        Event::Paste(text) => Some(Key::Paste(text)),
        Event::Key(_)
        | Event::FocusGained
        | Event::FocusLost
        | Event::Mouse(_)
        | Event::Resize(..) => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a terminal has many keys that mean nothing here"
)]
fn pressed(key: KeyEvent) -> Key {
    let held = key
        .modifiers
        .intersection(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match key.code {
        KeyCode::Char('c') if held == KeyModifiers::CONTROL => Key::Interrupt,
        KeyCode::Char('j') if held == KeyModifiers::CONTROL => Key::NewLine,
        KeyCode::Char(letter) if held.is_empty() => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Backspace => Key::Backspace,
        _ => Key::Other,
    }
}
