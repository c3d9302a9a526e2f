//! What a person says in a chat, one message at a time, and what comes back.
//!
//! A message leaves when the one before it is answered. Where no person types, the answer is a result on stdout; with
//! `--json` it is among the events.

use std::io::{self, BufRead as _, Read as _};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use a_society_facts::fact::node::WaitReason;
use a_society_facts::words::calls::EMPTY_ANSWER;
use a_society_facts::{Verb, Whom};
use a_society_orchestrator::driver::handle::Seen;
use a_society_orchestrator::machine::{OperatorQuestion, Work};
use a_society_orchestrator::pasted_secrets::holds_a_secret;

use super::composer::Composer;
use super::{Watch, rests};
use crate::cli::asks::short;
use crate::cli::say::{SECRET, goes_on_with};
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::text::{plain, printed};

/// Lines of standard input that are read ahead of their answers; a writer of more waits.
const LINES_MAX: usize = 16;

/// The longest line that is one message.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// The messages that leave from here, and whether one is being answered.
#[derive(Debug)]
pub(crate) struct Talk {
    source: Source,
    /// Whether a message of ours is being answered.
    is_answering: bool,
}

/// Where messages come from.
#[derive(Debug)]
enum Source {
    /// One message, until it is taken.
    Once(Option<String>),
    /// The lines of standard input.
    Piped(Receiver<Line>),
    /// A person at the terminal.
    Typed(Composer),
}

/// A line of standard input.
#[derive(Debug)]
enum Line {
    Whole(String),
    /// It is too long, or no text; nothing is read after it.
    Unfit(UnfitLine),
}

/// A line of standard input that is no message.
#[derive(Debug)]
struct UnfitLine {
    /// Its number, counted from 1.
    number: u64,
    why: &'static str,
}

/// The next message.
enum Next {
    Message(String),
    /// Nothing yet.
    Nothing,
    /// There is nothing more.
    End,
    Unfit(UnfitLine),
}

impl Talk {
    /// One message, and its answer.
    pub(crate) const fn once(text: String) -> Self {
        Self::of(Source::Once(Some(text)))
    }

    /// A person at the terminal.
    pub(crate) fn typed() -> Self {
        Self::of(Source::Typed(Composer::default()))
    }

    /// The lines of standard input.
    ///
    /// # Errors
    /// When the system has no thread left to read them.
    pub(crate) fn piped() -> Result<Self, Stop> {
        let (read, lines) = sync_channel(LINES_MAX);
        std::thread::Builder::new()
            .name("messages".to_owned())
            .spawn(move || read_lines(&read))
            .map_err(|error| from_io("read", "standard input", &error))?;
        Ok(Self::of(Source::Piped(lines)))
    }

    const fn of(source: Source) -> Self {
        Self {
            source,
            is_answering: false,
        }
    }

    /// What is typed, where a person does.
    pub(super) const fn composer(&self) -> Option<&Composer> {
        match &self.source {
            Source::Typed(composer) => Some(composer),
            Source::Once(_) | Source::Piped(_) => None,
        }
    }

    fn next(&mut self) -> Next {
        match &mut self.source {
            Source::Once(text) => text.take().map_or(Next::End, Next::Message),
            Source::Piped(lines) => match lines.try_recv() {
                Ok(Line::Whole(line)) => Next::Message(line),
                Ok(Line::Unfit(line)) => Next::Unfit(line),
                Err(TryRecvError::Empty) => Next::Nothing,
                Err(TryRecvError::Disconnected) => Next::End,
            },
            Source::Typed(composer) if composer.queue.is_empty() => Next::Nothing,
            Source::Typed(composer) => Next::Message(composer.queue.remove(0)),
        }
    }
}

/// Reads messages, a line each, until the input ends or the chat does. Blank lines say nothing.
fn read_lines(read: &SyncSender<Line>) {
    let mut stdin = io::stdin().lock();
    for number in 1.. {
        let unfit = |why| Line::Unfit(UnfitLine { number, why });
        let mut line = Vec::new();
        let taken = stdin
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        let line = match taken {
            Ok(0) | Err(_) => return,
            Ok(_) if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") => {
                unfit("it is longer than 1 MiB")
            }
            Ok(_) => match String::from_utf8(line) {
                Ok(line) if line.trim().is_empty() => continue,
                Ok(line) => Line::Whole(line.trim_end_matches(['\r', '\n']).to_owned()),
                Err(_) => unfit("it is not UTF-8 text"),
            },
        };
        let ends = matches!(line, Line::Unfit(_));
        if read.send(line).is_err() || ends {
            return;
        }
    }
}

/// Why a line is not sent. The chat is kept, with the answers to the lines before.
fn no_message(line: &UnfitLine, name: &str) -> Stop {
    OperatorError::new(
        ("file-unfit", ExitCode::Failed),
        format!("line {} of standard input is no message", line.number),
        line.why,
        format!("go on without it: {}", goes_on_with(true, name)),
    )
    .into()
}

/// What a chat waits for, if that is a text of its person and nothing else goes on.
pub(super) fn waits_for_words(seen: &Seen) -> Option<WaitReason> {
    let mut asked = seen.pending.iter().filter_map(|work| match work {
        Work::AskOperator(OperatorQuestion::Text { reason, .. }) => Some(*reason),
        Work::AskOperator(_)
        | Work::RunTurn { .. }
        | Work::StopTurn { .. }
        | Work::Claim { .. }
        | Work::StartReflection { .. }
        | Work::StartFeedback { .. }
        | Work::ApplyEnds
        | Work::WaitUntil { .. } => None,
    });
    asked.next().filter(|_| rests(seen))
}

impl Watch<'_> {
    /// Sends the next message, if the chat waits for one, and prints the answer to the one before. Whether nothing else has
    /// to be asked now.
    pub(super) fn converse(&mut self, seen: &Seen) -> Result<bool, Stop> {
        self.compose(seen)?;
        let Some(talk) = &mut self.talk else {
            return Ok(false);
        };
        // A look that is older than the last message is silent about it.
        if seen.seq < self.heard_upto {
            return Ok(true);
        }
        let Some(reason) = waits_for_words(seen) else {
            return Ok(false);
        };
        let was_answering = std::mem::take(&mut talk.is_answering);
        if was_answering {
            self.print_answer()?;
        }
        let is_typed = self.composer().is_some();
        if was_answering && reason != WaitReason::Message && !is_typed {
            // It failed, and says why where it ends.
            self.leave()?;
            return Ok(true);
        }
        let next = self.talk.as_mut().map_or(Next::End, Talk::next);
        match next {
            Next::Nothing => {}
            Next::End => self.leave()?,
            Next::Unfit(line) => return Err(no_message(&line, short(self.flow))),
            Next::Message(text) => self.send(text)?,
        }
        Ok(true)
    }

    /// What is typed, where a person does.
    pub(super) fn composer(&mut self) -> Option<&mut Composer> {
        match &mut self.talk.as_mut()?.source {
            Source::Typed(composer) => Some(composer),
            Source::Once(_) | Source::Piped(_) => None,
        }
    }

    fn send(&mut self, text: String) -> Result<(), Stop> {
        self.echo(&text)?;
        if holds_a_secret(&text) {
            self.out.note(SECRET);
        }
        let verb = Verb::Reply {
            to: Whom::Only,
            text,
            asked: None,
        };
        match self.obeyed(verb) {
            Ok(()) => {
                if let Some(talk) = &mut self.talk {
                    talk.is_answering = true;
                }
                Ok(())
            }
            Err(refused) => {
                self.say(&plain(&refused.to_string()))?;
                match self.composer() {
                    Some(_) => Ok(()),
                    None => self.leave(),
                }
            }
        }
    }

    /// The answer is a result where it was not seen streaming.
    fn print_answer(&mut self) -> Result<(), Stop> {
        let is_shown = self.looks() && !self.wishes.quiet;
        if is_shown || self.out.is_json() {
            return Ok(());
        }
        self.progress.print(self.out, None, self.is_plain)?;
        let answer = self.progress.answer()?;
        let answer = answer.trim();
        if answer.is_empty() {
            self.out.note(EMPTY_ANSWER);
            return Ok(());
        }
        if self.out.is_aside() {
            return self.out.result(format!("{answer}\n").as_bytes());
        }
        for line in answer.lines() {
            self.out.line(&printed(line))?;
        }
        self.out.flush()
    }
}
