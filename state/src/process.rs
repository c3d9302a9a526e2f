//! Which process this is, so named that it cannot be mistaken for a later one with its number.

use std::path::Path;

use a_society_facts::fact::journal::ProcessName;

use crate::disk::{Disk, How};
use crate::files::read_full;

/// The longest text the system is asked for.
const TEXT_BYTES_MAX: usize = 4096;

/// The place of a process's start time among the words after its name.
const START_TICKS_WORD: usize = 19;

/// This process.
#[must_use]
pub fn this(disk: &dyn Disk) -> ProcessName {
    named(disk, std::process::id())
}

/// The process that bears a number now.
#[must_use]
pub fn named(disk: &dyn Disk, pid: u32) -> ProcessName {
    let stat = text(disk, &format!("/proc/{pid}/stat"));
    let boot_id = text(disk, "/proc/sys/kernel/random/boot_id")
        .trim()
        .to_owned();
    ProcessName {
        pid,
        start_ticks: start_ticks(&stat).unwrap_or(0),
        boot_id,
    }
}

/// The words with which the process that bears a number now was started; none where the system does not say.
#[must_use]
pub fn command_line(disk: &dyn Disk, pid: u32) -> Vec<String> {
    let words = text(disk, &format!("/proc/{pid}/cmdline"));
    let words = words.split('\0').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The system's pseudo files say that they are empty, so they are read until they end.
fn text(disk: &dyn Disk, path: &str) -> String {
    let mut bytes = vec![0; TEXT_BYTES_MAX];
    let read = disk
        .open(Path::new(path), How::Read)
        .and_then(|file| read_full(file.as_ref(), 0, &mut bytes))
        .unwrap_or(0);
    bytes.truncate(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A process's name may hold spaces and brackets; the words that count follow the last bracket.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, words) = stat.rsplit_once(')')?;
    words
        .split_ascii_whitespace()
        .nth(START_TICKS_WORD)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_behind_a_name_with_brackets() {
        let stat = "12 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(start_ticks(stat), Some(4711));
        assert_eq!(start_ticks("nonsense"), None);
    }
}
