//! The only place that prints. Data goes to stdout, everything else to stderr.
//!
//! A reader that stops reading, such as `head`, ends a command quietly. Any other failure to write
//! is an error, because data that did not arrive was not printed.

use std::cell::Cell;
use std::fmt::Debug;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::sync::Once;

use serde::Serialize;

use crate::frame::{CursorPosition, Narrowed, PaintedFrame, Resized, ScreenSize, painted_width};
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::paint::Paint;
use crate::text::{cut, plain, plain_json, width, wrapped};

/// Output is handed to the system in pieces of this size, so that a long listing costs few calls.
const BUFFER_BYTES: usize = 64 * 1024;

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always, even into a file
    Always,
    /// Never
    Never,
}

/// How a command prints.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Whether results and errors are JSON.
    pub(crate) json: bool,
    /// When colours are used.
    pub(crate) color: Color,
    /// Whether the environment asks for no colours.
    pub(crate) no_color: bool,
    /// Whether a terminal takes lines, and nothing that moves its cursor.
    pub(crate) is_dumb: bool,
    /// Whether the screen is read aloud.
    pub(crate) is_spoken: bool,
}

impl Manner {
    fn paint(self, is_terminal: bool) -> Paint {
        Paint::new(match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !self.no_color,
        })
    }
}

/// Where a command prints.
#[derive(Debug)]
pub(crate) struct Output {
    stdout: BufWriter<io::Stdout>,
    json: bool,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    /// Whether a terminal takes lines only.
    is_dumb: bool,
    /// Whether the screen is read aloud.
    is_spoken: bool,
    /// Colours of what goes to stdout.
    pub(crate) paint: Paint,
    /// Colours of what goes to stderr.
    pub(crate) paint_err: Paint,
    shows_progress: bool,
    /// Whether stdout is kept for a result that is handed over whole, and all else goes to stderr.
    is_aside: bool,
    /// The picture as it was sent, which is drawn over next time.
    picture: PaintedFrame,
    /// Where the cursor was in it, if the terminal said so and nothing moved since.
    anchor: Option<CursorPosition>,
    /// How often its line moved.
    moves: u64,
    /// What the terminal does with rows that no longer fit, once that was seen.
    narrowed: Narrowed,
    /// Whether the cursor is hidden, because nothing is typed.
    hides_cursor: bool,
}

/// A terminal that knows these shows nothing of a frame before all of it is there.
const BEGIN_FRAME: &str = "\u{1b}[?2026h";
const END_FRAME: &str = "\u{1b}[?2026l";

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// Asks a terminal where its cursor is.
const ASK_POSITION: &str = "\u{1b}[6n";

/// The size of a terminal that does not say.
const SIZE_UNKNOWN: (usize, usize) = (80, 24);

impl Output {
    /// Opens the output.
    pub(crate) fn new(manner: Manner) -> Self {
        ERASES_FIRST.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |why| {
                erase_for_a_panic();
                before(why);
            }));
        });
        let stdout_is_terminal = io::stdout().is_terminal();
        let stderr_is_terminal = io::stderr().is_terminal();
        Self {
            stdout: BufWriter::with_capacity(BUFFER_BYTES, io::stdout()),
            json: manner.json,
            stdout_is_terminal,
            stderr_is_terminal,
            is_dumb: manner.is_dumb,
            is_spoken: manner.is_spoken,
            paint: manner.paint(stdout_is_terminal),
            paint_err: manner.paint(stderr_is_terminal),
            shows_progress: false,
            is_aside: false,
            picture: PaintedFrame::default(),
            anchor: None,
            moves: 0,
            narrowed: Narrowed::default(),
            hides_cursor: false,
        }
    }

    /// Whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Whether bytes that are no text would end up on a terminal.
    pub(crate) const fn shows_bytes(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Whether a person looks at stdout, on a terminal whose cursor moves. One that takes lines only gets
    /// what a pipe would.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.stdout_is_terminal && !self.is_dumb
    }

    /// Whether the screen is read aloud: a table is lines of names and values then.
    pub(crate) const fn is_spoken(&self) -> bool {
        self.is_spoken
    }

    /// Prints from here on as if there were no terminal.
    pub(crate) fn be_plain(&mut self) {
        self.stdout_is_terminal = false;
    }

    /// Prints from here on to stderr, and to stdout only what [`Self::result`] is given.
    pub(crate) fn stand_aside(&mut self) {
        self.is_aside = true;
        self.be_plain();
        self.paint = self.paint_err;
    }

    /// Whether stdout is kept for a result.
    pub(crate) const fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// Prints the bytes for which stdout was kept.
    pub(crate) fn result(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let written = self.stdout.write_all(bytes);
        written
            .and_then(|()| self.stdout.flush())
            .map_err(|e| refused(&e))
    }

    /// Prints one line of a result. The caller has made foreign text plain.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Stop> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Prints a result as JSON, on one line.
    pub(crate) fn value(&mut self, value: &impl Serialize) -> Result<(), Stop> {
        let json = serde_json::to_string(value).map_err(|e| refused(&e.into()))?;
        self.line(&plain_json(&json))
    }

    /// Prints one line of a journal: byte for byte, except that a terminal gets its hidden
    /// characters as escapes.
    pub(crate) fn record(&mut self, line: &[u8]) -> Result<(), Stop> {
        if self.stdout_is_terminal {
            let text = String::from_utf8_lossy(line);
            return self.bytes(plain_json(&text).as_bytes());
        }
        self.bytes(line)
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.clear_progress();
        if self.is_aside {
            tell(&String::from_utf8_lossy(bytes));
            return Ok(());
        }
        self.stdout.write_all(bytes).map_err(|e| refused(&e))
    }

    /// Hands over everything printed so far.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        self.stdout.flush().map_err(|e| refused(&e))
    }

    /// Prints one line at once, in a single write.
    pub(crate) fn announce(&mut self, text: &str) -> Result<(), Stop> {
        self.finish_drawing();
        self.flush()?;
        let line = format!("{text}\n");
        if self.is_aside {
            tell(&line);
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|e| refused(&e))
    }

    /// Stdout for code that writes bytes itself.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    /// Prints a note for the operator that is not a result. On a terminal its prose is wrapped at words.
    pub(crate) fn note(&mut self, text: &str) {
        let columns = self.error_columns();
        // A line that begins with room is one of a picture, such as the place of a mistake in a file.
        let is_prose = |line: &str| !line.starts_with(' ') && !line.contains('\u{1b}');
        let rows = text.split('\n').flat_map(|line| match is_prose(line) {
            true => wrapped(line, columns),
            false => vec![line.to_owned()],
        });
        let rows: Vec<String> = rows.collect();
        self.print_aside(&rows.join("\n"));
    }

    /// Prints a line to stderr as it is, after the results that come before it.
    fn print_aside(&mut self, text: &str) {
        self.finish_drawing();
        self.clear_progress();
        // Results come before the notes about them; if they cannot be written, the next
        // attempt to print says so.
        let _flushed = self.stdout.flush();
        tell(&format!("{text}\n"));
    }

    /// Shows what is being done, on a terminal.
    pub(crate) fn progress(&mut self, text: &str) {
        if self.stderr_is_terminal && !self.is_dumb && !self.json {
            tell(&format!("\r\u{1b}[2K{text}"));
            self.shows_progress = true;
        }
    }

    fn clear_progress(&mut self) {
        if self.shows_progress {
            tell("\r\u{1b}[2K");
            self.shows_progress = false;
        }
    }

    /// Tells an error: what, why and what to try, or one line of JSON. On a terminal prose is wrapped at words
    /// under its label; a command stays one line, so that it can be pasted.
    pub(crate) fn error(&mut self, error: &OperatorError) {
        if self.json {
            return self.print_aside(&plain_json(&error.as_json()));
        }
        let columns = self.error_columns();
        let paint = self.paint_err;
        let code = format!("error[{}]:", error.code);
        let head = hanging(&plain(&error.what), code.len() + 1, columns);
        let mut head = head.into_iter();
        let first = head.next().unwrap_or_default();
        self.print_aside(&format!("{} {}", paint.red(&code), paint.bold(&first)));
        for line in head {
            self.print_aside(&format!("  {}", paint.bold(&line)));
        }
        let why = if error.is_told { "" } else { &error.why };
        for (label, text) in [("why", why), ("try", &error.hint)] {
            let text = plain(text);
            let is_command = text.starts_with("a-society ");
            let columns = if is_command { usize::MAX } else { columns };
            if text.is_empty() {
                continue;
            }
            let rows = wrapped(&text, columns.saturating_sub(LABEL_COLUMNS).max(1));
            for (number, row) in rows.iter().enumerate() {
                let before = if number == 0 {
                    format!("  {label}: ")
                } else {
                    " ".repeat(LABEL_COLUMNS)
                };
                self.print_aside(&format!("{before}{row}"));
            }
        }
    }

    /// The columns of the terminal at stderr; without one nothing is wrapped.
    fn error_columns(&self) -> usize {
        let size = rustix::termios::tcgetwinsize(io::stderr());
        let columns = size.map(|size| usize::from(size.ws_col)).unwrap_or(0);
        if !self.stderr_is_terminal || columns == 0 {
            return usize::MAX;
        }
        columns
    }

    /// Tells what is wrong with the arguments, as the parser puts it.
    pub(crate) fn usage(&mut self, error: &clap::Error) {
        let text = error.render();
        let text = if self.paint_err.is_on() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        self.note(text.trim_end());
    }

    /// Prints a help text.
    pub(crate) fn help(&mut self, error: &clap::Error) -> Result<(), Stop> {
        let text = error.render();
        let text = if self.paint.is_on() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        self.bytes(text.as_bytes())
    }

    /// The columns and rows of the terminal at stdout.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(io::stdout());
        let size = size.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
        size.ok()
            .filter(|(columns, rows)| *columns > 0 && *rows > 0)
            .unwrap_or(SIZE_UNKNOWN)
    }

    /// Prints what is finished in the place of the picture, and draws the picture anew below it, all in
    /// one write. What is finished may wrap and is never touched again; lines of a picture are cut to
    /// the width, because a line that wraps would be drawn over only in part. A picture that has not changed is
    /// not sent again.
    pub(crate) fn draw(
        &mut self,
        finished: &[String],
        picture: &[String],
        columns: usize,
    ) -> Result<(), Stop> {
        self.draw_at(finished, picture, columns, None)
    }

    /// The same with the cursor at the end of a line of the picture, where a text is typed. Without one it is hidden and
    /// rests on the first cell of the picture, so that it is still there when the terminal has another size and has
    /// broken the rows of the picture anew.
    pub(crate) fn draw_at(
        &mut self,
        finished: &[String],
        picture: &[String],
        columns: usize,
        cursor: Option<usize>,
    ) -> Result<(), Stop> {
        let picture = picture.iter();
        let mut lines: Vec<String> = picture
            .map(|line| cut(line, columns.saturating_sub(1)))
            .collect();
        if cursor.is_some()
            && let Some(last) = lines.last_mut()
        {
            // A terminal that breaks rows anew breaks this one whenever it is narrower, which moves the cursor.
            let missing = columns.saturating_sub(1 + painted_width(last));
            last.push_str(&" ".repeat(missing));
        }
        let at = cursor.and_then(|at| lines.get(at));
        let picture = PaintedFrame {
            above: cursor.unwrap_or(0),
            right: at.map_or(0, |line| width(line)),
            lines,
        };
        if finished.is_empty() && self.picture == picture {
            return Ok(());
        }
        let has_moved = !finished.is_empty()
            || self.picture.lines.len() != picture.lines.len()
            || self.picture.above != picture.above;
        if has_moved {
            self.anchor = None;
            self.moves += 1;
        }
        self.clear_progress();
        let mut frame = String::from(BEGIN_FRAME);
        if self.picture.above > 0 {
            let up = format!("\r\u{1b}[{}A", self.picture.above);
            frame.push_str(&up);
        } else if !self.picture.lines.is_empty() {
            frame.push('\r');
        }
        frame.push_str("\u{1b}[J");
        for line in finished.iter().chain(&picture.lines) {
            frame.push_str(line);
            frame.push('\n');
        }
        let up = picture.lines.len().saturating_sub(picture.above);
        if up > 0 {
            let there = format!("\u{1b}[{up}A\r");
            frame.push_str(&there);
        }
        let right = picture.right;
        if right > 0 {
            let there = format!("\u{1b}[{right}C");
            frame.push_str(&there);
        }
        let hides = cursor.is_none() && !picture.lines.is_empty();
        if hides != self.hides_cursor {
            frame.push_str(if hides { HIDE_CURSOR } else { SHOW_CURSOR });
            self.hides_cursor = hides;
        }
        frame.push_str(END_FRAME);
        ABOVE.set((!picture.lines.is_empty()).then_some(picture.above));
        self.picture = picture;
        self.bytes(frame.as_bytes())?;
        self.flush()
    }

    /// Asks the terminal where the cursor is. The answer comes where keys come from.
    pub(crate) fn ask_position(&mut self) -> Result<(), Stop> {
        self.bytes(ASK_POSITION.as_bytes())?;
        self.flush()
    }

    /// Whether it is worth to know where the cursor is before the terminal has another size.
    pub(crate) fn wants_position(&self) -> bool {
        self.narrowed == Narrowed::Unknown && self.anchor.is_none() && self.picture.above > 0
    }

    /// How often the line of the cursor moved.
    pub(crate) const fn moves(&self) -> u64 {
        self.moves
    }

    /// Takes over where the cursor is in the picture.
    pub(crate) const fn anchored(&mut self, at: CursorPosition) {
        self.anchor = Some(at);
    }

    /// The terminal has another size. The next picture is drawn from where this one begins now; without an answer of the
    /// terminal no more than its own rows is erased.
    pub(crate) fn resized(&mut self, sizes: Resized, now: Option<CursorPosition>) {
        if self.picture.lines.is_empty() {
            return;
        }
        if let Some(now) = now {
            let before = self.anchor.take();
            self.narrowed = self.picture.learned(self.narrowed, before, now, sizes);
        }
        self.anchor = None;
        let columns = sizes.to.columns.max(1);
        let above = self.picture.rows_above(self.narrowed, columns, now);
        let below = self.picture.lines.len().saturating_sub(self.picture.above);
        ABOVE.set(Some(above));
        // No line is as it was any more.
        let lines = vec![String::new(); above + below];
        self.picture = PaintedFrame {
            lines,
            above,
            right: 0,
        };
    }

    /// The size of the terminal at stdout.
    pub(crate) fn screen_size(&self) -> ScreenSize {
        let (columns, rows) = self.size();
        ScreenSize { columns, rows }
    }

    /// Keeps the picture; later lines are printed below it.
    pub(crate) fn finish_drawing(&mut self) {
        let picture = std::mem::take(&mut self.picture);
        let was_erased = ABOVE.take().is_none();
        if was_erased && !picture.lines.is_empty() {
            // A panic did, and said why in its place.
            self.hides_cursor = false;
            return;
        }
        let below = picture.lines.len().saturating_sub(picture.above);
        let mut end = String::new();
        if below > 0 {
            end = format!("\u{1b}[{below}B\r");
        }
        if std::mem::take(&mut self.hides_cursor) {
            end.push_str(SHOW_CURSOR);
        }
        if !end.is_empty() {
            // One that is closed says so when the next line is printed.
            let _written = self.bytes(end.as_bytes());
        }
    }

    /// Puts a question before the cursor.
    pub(crate) fn ask(&mut self, question: &str) {
        self.clear_progress();
        let _flushed = self.stdout.flush();
        tell(question);
    }

    /// Asks the operator; anything but a yes is a no. `None` without a terminal.
    pub(crate) fn confirm(&mut self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !self.stderr_is_terminal {
            return None;
        }
        self.clear_progress();
        let _flushed = self.stdout.flush();
        tell(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        let answer = answer.trim().to_ascii_lowercase();
        Some(read.is_ok() && (answer == "y" || answer == "yes"))
    }
}

thread_local! {
    /// How many rows of a picture that this thread drew are above the cursor, while there is one.
    static ABOVE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The message of a panic takes the place of the picture.
static ERASES_FIRST: Once = Once::new();

fn erase_for_a_panic() {
    if let Some(above) = ABOVE.take() {
        let up = match above {
            0 => String::new(),
            above => format!("\u{1b}[{above}A"),
        };
        tell(&format!("{END_FRAME}\r{up}\u{1b}[J{SHOW_CURSOR}"));
    }
}

impl Drop for Output {
    /// The cursor is where a shell expects it, also after a panic.
    fn drop(&mut self) {
        self.finish_drawing();
    }
}

/// As wide as what an error begins its lines with.
const LABEL_COLUMNS: usize = "  why: ".len();

/// A text in rows that fit behind a label and, from the second on, behind two blanks.
fn hanging(text: &str, label: usize, columns: usize) -> Vec<String> {
    let first = wrapped(text, columns.saturating_sub(label).max(1));
    let Some(row) = first.first().filter(|_| first.len() > 1) else {
        return first;
    };
    let rest = text[row.len()..].trim_start();
    let mut rows = vec![row.clone()];
    rows.extend(wrapped(rest, columns.saturating_sub(2).max(1)));
    rows
}

/// A failure here has nowhere to be reported.
fn tell(text: &str) {
    let _told = io::stderr().lock().write_all(text.as_bytes());
}

/// Asks the terminal to say where a paste begins and ends, or to hand it over as if it were typed. One that does not
/// know this, or is gone, does nothing.
pub(crate) fn bracket_pastes(wanted: bool) {
    tell(if wanted {
        "\u{1b}[?2004h"
    } else {
        "\u{1b}[?2004l"
    });
}

/// What a failed write to stdout means.
pub(crate) fn refused(error: &io::Error) -> Stop {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Stop::OutputClosed;
    }
    from_io("write", "standard output", error).into()
}

/// Stdout for a guard, which says what it says in frames and never to a person.
pub(crate) fn frames() -> io::Stdout {
    io::stdout()
}

/// Stdout as a screen that another part of this program draws by itself.
pub(crate) fn screen() -> io::Stdout {
    io::stdout()
}
