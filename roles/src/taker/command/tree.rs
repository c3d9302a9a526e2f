//! The processes of a program: which there are, and ending them all.
//!
//! A program runs in a group of its own, and everything that it starts inherits a variable that
//! names its call. So what left the group, or was adopted by another process, is found again
//! where the system shows the variables of processes.

use std::fs;
use std::thread;
use std::time::Duration;

use a_society_facts::fact::journal::ProcessName;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::limits::{KILL_ROUNDS, LOOK_EVERY, SURVIVOR_GRACE, UNSURE_LOOKS};

/// The places of what is looked at among the words after a process's name.
const STATE_WORD: usize = 0;
const GROUP_WORD: usize = 2;
const START_TICKS_WORD: usize = 19;
const MEMORY_WORD: usize = 20;

/// What names a process as one of a call's.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// `NAME=VALUE`, as the system shows it.
    entry: Vec<u8>,
}

impl Mark {
    pub(crate) fn new((name, value): &(String, String)) -> Self {
        Self {
            entry: format!("{name}={value}").into_bytes(),
        }
    }
}

/// The process that bears a number now; without its start where the system does not tell.
pub(crate) fn name_of(pid: u32) -> ProcessName {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    ProcessName {
        pid,
        start_ticks: word_of(pid, START_TICKS_WORD).unwrap_or(0),
        boot_id: boot_id.trim().to_owned(),
    }
}

/// Ends a program and all that it started: asks first, and kills after a grace. Gives the processes
/// that live on nevertheless.
///
/// The leader must not have been waited for, so that its number still belongs to its group.
pub(crate) fn end(leader: u32, mark: &Mark, grace: Duration) -> Vec<u32> {
    signal_all(leader, mark, Signal::TERM);
    let looks = grace.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..looks {
        thread::sleep(LOOK_EVERY);
        if members(Some(leader), mark).is_some_and(|members| members.pids.is_empty()) {
            break;
        }
    }
    kill(leader, mark)
}

/// The same without asking.
pub(crate) fn kill(leader: u32, mark: &Mark) -> Vec<u32> {
    let mut unsure = 0;
    for _ in 0..KILL_ROUNDS {
        signal_all(leader, mark, Signal::KILL);
        let Some(members) = members(Some(leader), mark) else {
            return Vec::new();
        };
        if members.pids.is_empty() {
            if !members.may_be_more || unsure == UNSURE_LOOKS {
                return Vec::new();
            }
            unsure += 1;
        }
        thread::sleep(LOOK_EVERY);
    }
    members(Some(leader), mark).unwrap_or_default().pids
}

/// Kills what is left in the group when its leader has ended.
pub(super) fn kill_group(leader: u32) {
    if let Some(group) = pid_of(leader) {
        // The signal has no receiver when the program left nothing behind.
        let _gone = kill_process_group(group, Signal::KILL);
    }
}

/// Ends what a process of an earlier run of ours left. Whether there was anything.
pub(super) fn end_stranger(process: &ProcessName, mark: &Mark) -> bool {
    let is_same = process.start_ticks != 0 && name_of(process.pid) == *process;
    if is_same {
        let left = end(process.pid, mark, SURVIVOR_GRACE);
        return left.is_empty();
    }
    // The number may have been reused by now; only what bears the mark is ours.
    let mut found = false;
    for _ in 0..KILL_ROUNDS {
        let members = members(None, mark).unwrap_or_default().pids;
        if members.is_empty() {
            break;
        }
        found = true;
        members
            .into_iter()
            .for_each(|pid| signal(pid, Signal::KILL));
        thread::sleep(LOOK_EVERY);
    }
    found
}

fn pid_of(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = pid_of(pid) {
        // It may have ended since it was found.
        let _gone = kill_process(pid, signal);
    }
}

fn signal_all(leader: u32, mark: &Mark, which: Signal) {
    if let Some(group) = pid_of(leader) {
        // Until the leader has a group of its own, it is alone.
        if kill_process_group(group, which).is_err() {
            signal(leader, which);
        }
    }
    for pid in members(Some(leader), mark).unwrap_or_default().pids {
        signal(pid, which);
    }
}

/// The processes of a program.
#[derive(Debug, Default)]
struct Members {
    /// Those that are known to be.
    pids: Vec<u32>,
    /// Whether there may be more. A process that is about to run another program shows no variables for a
    /// moment, and one that left the group is known by nothing else.
    may_be_more: bool,
}

/// What a process is to a program.
#[derive(Debug, PartialEq, Eq)]
enum Kin {
    Member,
    Unsure,
    Stranger,
}

/// The processes of the leader's group and those that bear the mark, without those that have
/// ended and only wait to be noticed. Nothing where the system does not list processes.
fn members(leader: Option<u32>, mark: &Mark) -> Option<Members> {
    let listed = fs::read_dir("/proc").ok()?;
    let pids = listed
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != std::process::id());
    let since = leader.and_then(|leader| word_of(leader, START_TICKS_WORD));
    let mut members = Members::default();
    for pid in pids {
        match kin(pid, (leader, since), mark) {
            Kin::Member => members.pids.push(pid),
            Kin::Unsure => members.may_be_more = true,
            Kin::Stranger => {}
        }
    }
    Some(members)
}

fn kin(pid: u32, (leader, since): (Option<u32>, Option<u64>), mark: &Mark) -> Kin {
    let Some(stat) = stat_of(pid) else {
        return Kin::Stranger;
    };
    if matches!(word(&stat, STATE_WORD), Some("Z" | "X")) {
        return Kin::Stranger;
    }
    let number = |place| word(&stat, place).and_then(|word| word.parse::<u64>().ok());
    if leader.is_some() && number(GROUP_WORD) == leader.map(u64::from) {
        return Kin::Member;
    }
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return Kin::Stranger;
    };
    let mut entries = environment.split(|byte| *byte == 0);
    if entries.any(|entry| entry == mark.entry) {
        return Kin::Member;
    }
    // Threads of the system have no memory of their own, and what is older is not a child of ours.
    let is_younger = since.is_some() && number(START_TICKS_WORD) >= since;
    let has_memory = number(MEMORY_WORD).is_some_and(|bytes| bytes > 0);
    if environment.is_empty() && is_younger && has_memory {
        return Kin::Unsure;
    }
    Kin::Stranger
}

fn stat_of(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn word_of(pid: u32, place: usize) -> Option<u64> {
    word(&stat_of(pid)?, place)?.parse().ok()
}

/// A process's name may hold spaces and brackets; the words that count follow the last bracket.
fn word(stat: &str, place: usize) -> Option<&str> {
    let (_, words) = stat.rsplit_once(')')?;
    words.split_ascii_whitespace().nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_process_without_variables_may_be_one_of_ours_and_is_looked_at_again() {
        let own = std::process::id();
        let began = word_of(own, START_TICKS_WORD);
        if began.is_none() {
            return;
        }
        let mark = Mark::new(&("A_SOCIETY_TREE_TEST".to_owned(), own.to_string()));
        let mut bare = std::process::Command::new("/bin/sleep");
        let mut bare = bare.arg("60").env_clear().spawn().unwrap();
        let mut marked = std::process::Command::new("/bin/sleep");
        let marked = marked.arg("60").env("A_SOCIETY_TREE_TEST", own.to_string());
        let mut marked = marked.spawn().unwrap();
        // No group of these has this number, so that only variables tell.
        let of = |pid, since| kin(pid, (Some(u32::MAX), since), &mark);
        let found = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            of(marked.id(), began) == Kin::Member
        });
        let young = of(bare.id(), began);
        let old = of(
            bare.id(),
            word_of(bare.id(), START_TICKS_WORD).map(|at| at + 1),
        );
        for child in [&mut bare, &mut marked] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(found);
        assert_eq!((young, old), (Kin::Unsure, Kin::Stranger));
        assert_eq!(of(2, began), Kin::Stranger, "a thread of the system");
    }

    #[test]
    fn the_words_of_a_process_are_found_behind_a_name_with_brackets() {
        let stat = "12 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(word(stat, STATE_WORD), Some("S"));
        assert_eq!(word(stat, GROUP_WORD), Some("2"));
        assert_eq!(word(stat, START_TICKS_WORD), Some("4711"));
        assert_eq!(word("nonsense", STATE_WORD), None);
    }
}
