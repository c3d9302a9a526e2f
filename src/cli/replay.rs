//! Plays a journal back: writes it once more, into a temporary workspace of its own, as fast as wanted.
//! A follower cannot distinguish it from one that is written now.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use a_society_facts::Fact;
use a_society_facts::{At, line};
use a_society_state::OUR_FOLDER;
use a_society_state::clock::Clock as Told;
use a_society_state::disk::{Disk, How, RealDisk};
use a_society_state::{FlowRef, Ground, Store};

use super::context::Context;
use super::flow_files::read_text;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::workspace;

/// No pause of a journal takes longer when it is played back: a night is not worth a night.
const PAUSE_MS_MAX: i64 = 5_000;

/// How fast a journal is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speed(f64);

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(speed) if speed.is_finite() && speed >= 0.0 => Ok(Self(speed)),
            Ok(_) | Err(_) => Err("a number is wanted, such as 0, 1 or 20".to_owned()),
        }
    }
}

impl Speed {
    /// How long a pause takes.
    fn pause(self, ms: i64) -> Duration {
        if self.0 == 0.0 {
            return Duration::ZERO;
        }
        let ms = u32::try_from(ms.clamp(0, PAUSE_MS_MAX)).unwrap_or(0);
        Duration::from_secs_f64(f64::from(ms) / 1000.0 / self.0)
    }
}

/// What time it is while a journal is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ReplayClock {
    /// The machine's time
    #[default]
    Machine,
    /// The moment of the journal's last record, always
    Fixed,
}

/// A clock that does not move for people, and runs for measurements.
#[derive(Debug)]
struct Standing(At, Arc<dyn Told>);

impl Told for Standing {
    fn now(&self) -> At {
        self.0
    }

    fn elapsed_us(&self) -> u64 {
        self.1.elapsed_us()
    }
}

/// A journal that is being played.
#[derive(Debug)]
pub(crate) struct Played {
    store: Store,
}

impl Played {
    /// The workspace it is played in.
    pub(crate) fn store(&self) -> Store {
        self.store.clone()
    }
}

/// Begins to play a journal.
///
/// # Errors
/// When it cannot be read, or is no journal.
pub(crate) fn begin(
    context: &Context<'_>,
    journal: &Path,
    speed: Speed,
    clock: ReplayClock,
) -> Result<Played, Stop> {
    let text = read_text(journal)?;
    let lines: Vec<(At, String)> = text
        .lines()
        .map(|written| {
            let frame =
                line::frame(written.as_bytes()).map_err(|bad| unfit(journal, &bad.to_string()))?;
            Ok((frame.at, format!("{written}\n")))
        })
        .collect::<Result<_, Stop>>()?;
    let (Some((first, _)), Some((last, _))) = (lines.first(), lines.last()) else {
        return Err(unfit(journal, "it is empty"));
    };
    let (first, last) = (*first, *last);
    let flow = FlowRef {
        project: "replay".parse().map_err(a_society_state::Error::from)?,
        flow: named(journal, &text)?
            .parse()
            .map_err(a_society_state::Error::from)?,
    };
    let folder = context
        .environment
        .temporary
        .join(format!("a-society-replay-{}", std::process::id()));
    let root = folder.join(OUR_FOLDER).join("state");
    let mut ground: Ground = workspace::machine();
    if clock == ReplayClock::Fixed {
        ground.clock = Arc::new(Standing(last, Arc::clone(&ground.clock)));
    }
    let store = Store::new(ground, root);
    let path = store.place(&flow).played_into()?;
    if speed.0 == 0.0 {
        write(&path, lines.iter().map(|(_, line)| line.as_str()))?;
        return Ok(Played { store });
    }
    let written = std::thread::Builder::new()
        .name("replay".to_owned())
        .spawn(move || {
            let mut before = first;
            for (at, line) in lines {
                std::thread::sleep(speed.pause(at.ms() - before.ms()));
                before = at;
                // Only the viewers are left, and they see where it stops.
                if write(&path, std::iter::once(line.as_str())).is_err() {
                    return;
                }
            }
        });
    written.map_err(|error| from_io("play", "the journal", &error))?;
    Ok(Played { store })
}

/// Which flow a journal is of.
fn named(journal: &Path, text: &str) -> Result<String, Stop> {
    let first = text.lines().next().unwrap_or_default();
    let body = line::read_unchecked(first.as_bytes());
    let body = body.map_err(|bad| unfit(journal, &bad.to_string()))?;
    if let line::Body::Known(Fact::SegmentStarted(started)) = body {
        return Ok(started.flow.to_string());
    }
    Err(unfit(
        journal,
        "it does not begin with the beginning of a segment",
    ))
}

fn unfit(journal: &Path, why: &str) -> Stop {
    OperatorError::new(
        ("journal-unfit", ExitCode::Failed),
        format!("{} is not a journal", journal.display()),
        why,
        "name a file such as .a-society/state/PROJECT/FLOW/journal/00000001.jsonl",
    )
    .into()
}

fn write<'a>(path: &Path, lines: impl Iterator<Item = &'a str>) -> Result<(), Stop> {
    let failed =
        |error: std::io::Error| Stop::from(from_io("write", &path.display().to_string(), &error));
    let mut file = RealDisk.open(path, How::CreateOrAppend).map_err(failed)?;
    let text: String = lines.collect();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = file.append(rest).map_err(failed)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}
