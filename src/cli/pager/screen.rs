//! The terminal while this program has a screen of its own there, for a text that is read or for `watch`. However that
//! ends, also by a panic, the terminal is as it was before.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::sync::Once;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, DisableBracketedPaste, Event, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{DefaultTerminal, Terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Pager;
use crate::output;

/// How long a key is waited for before it is looked whether the text is read on. What a screen shows comes from files and
/// from threads, and a terminal can be waited for with neither.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Waits for keys, but not for longer than this, and returns whether the terminal is still connected. A
/// terminal that is gone never has a key, so that a loop that asks it for one would not end.
pub(crate) fn is_there(terminal: &impl AsFd, wait: Duration) -> bool {
    let mut asked = [PollFd::new(terminal, PollFlags::IN)];
    let Ok(wait) = Timespec::try_from(wait) else {
        return true;
    };
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    // A signal ends the wait, and its effect is checked.
    poll(&mut asked, Some(&wait)).is_err() || !asked[0].revents().intersects(gone)
}

/// Shows a text on a screen of its own until it is closed or does not go on.
///
/// # Errors
/// When the terminal refuses.
pub(crate) fn read(
    pager: &mut Pager,
    colours: bool,
    goes_on: impl FnMut() -> bool,
) -> io::Result<()> {
    let mut screen = OwnScreen::enter()?;
    read_on(&mut screen.terminal, pager, colours, goes_on)
}

/// Shows a text in the place of what a terminal shows, likewise. A screen is drawn after each key, so that nothing
/// counts as read that was not there to be read.
///
/// # Errors
/// When the terminal refuses.
pub(crate) fn read_on(
    terminal: &mut DefaultTerminal,
    pager: &mut Pager,
    colours: bool,
    mut goes_on: impl FnMut() -> bool,
) -> io::Result<()> {
    while event::poll(Duration::ZERO)? {
        // What was typed before it was there is not meant for it.
        event::read()?;
    }
    terminal.draw(|frame| pager.draw(frame, colours))?;
    while goes_on() {
        if !event::poll(Duration::ZERO)? {
            if !is_there(&io::stdin(), LOOK_EVERY) {
                return Ok(());
            }
            continue;
        }
        let is_read_on = match event::read()? {
            Event::Key(key) if key.kind == KeyEventKind::Press => {
                let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
                pager.press(key.code, key.modifiers.intersects(held))
            }
            Event::Paste(text) => {
                pager.paste(&text);
                true
            }
            Event::Key(_)
            | Event::FocusGained
            | Event::FocusLost
            | Event::Mouse(_)
            | Event::Resize(..) => true,
        };
        if !is_read_on {
            return Ok(());
        }
        terminal.draw(|frame| pager.draw(frame, colours))?;
    }
    Ok(())
}

thread_local! {
    /// Whether this thread has a screen of its own.
    static IS_OPEN: Cell<bool> = const { Cell::new(false) };
}

/// The message of a panic is for the screen that stays.
static LEAVES_FIRST: Once = Once::new();

/// A screen of its own, until it is dropped.
pub(crate) struct OwnScreen {
    pub(crate) terminal: DefaultTerminal,
}

impl OwnScreen {
    /// Opens it.
    ///
    /// # Errors
    /// When there is no terminal, or it refuses.
    pub(crate) fn enter() -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Err(io::Error::other("there is no terminal to read keys from"));
        }
        LEAVES_FIRST.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |why| {
                drop(leave());
                before(why);
            }));
        });
        enable_raw_mode()?;
        IS_OPEN.set(true);
        let entered = execute!(output::screen(), EnterAlternateScreen);
        let terminal =
            entered.and_then(|()| Terminal::new(CrosstermBackend::new(output::screen())));
        match terminal {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                drop(leave());
                Err(error)
            }
        }
    }

    /// Closes it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub(crate) fn close(self) -> io::Result<()> {
        leave()
    }
}

impl Drop for OwnScreen {
    /// A terminal that is gone needs nothing.
    fn drop(&mut self) {
        drop(leave());
    }
}

/// Leaves the screen of its own, if this thread has one.
fn leave() -> io::Result<()> {
    if !IS_OPEN.replace(false) {
        return Ok(());
    }
    let left = execute!(
        output::screen(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    disable_raw_mode().and(left)
}
