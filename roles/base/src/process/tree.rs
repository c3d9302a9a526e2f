//! The processes of a program: which there are, and ending them all.
//!
//! A program runs in a group of its own, and everything that it starts inherits a variable that
//! names its call. So what left the group, or was adopted by another process, is found again
//! where the system shows the variables of processes. A guard of commands needs no variable: what it
//! guards are its descendants.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use a_society_facts::fact::journal::ProcessName;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::limits::{KILL_ROUNDS, LOOK_EVERY, SURVIVOR_GRACE, UNSURE_LOOKS};

/// The places of what is looked at among the words after a process's name.
const STATE_WORD: usize = 0;
const PARENT_WORD: usize = 1;
const GROUP_WORD: usize = 2;
const START_TICKS_WORD: usize = 19;
const MEMORY_WORD: usize = 20;

/// What names a process as one of a call's.
#[derive(Debug, Clone)]
pub struct ProcessMark {
    name: String,
    value: String,
}

impl ProcessMark {
    /// A variable and its value.
    #[must_use]
    pub fn new(name: &str, value: String) -> Self {
        let name = name.to_owned();
        Self { name, value }
    }

    /// The variable, for the program that is to bear it.
    #[must_use]
    pub fn variable(&self) -> (&str, &str) {
        (&self.name, &self.value)
    }

    /// Whether this is the variable, as the system shows those of processes.
    fn is(&self, entry: &[u8]) -> bool {
        let value = entry.strip_prefix(self.name.as_bytes());
        value.and_then(|rest| rest.strip_prefix(b"=")) == Some(self.value.as_bytes())
    }
}

/// The process that bears a number now; without its start where the system does not tell.
#[must_use]
pub(crate) fn name_of(pid: u32) -> ProcessName {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    ProcessName {
        pid,
        start_ticks: word_of(pid, START_TICKS_WORD).unwrap_or(0),
        boot_id: boot_id.trim().to_owned(),
    }
}

/// Which processes belong to a program.
#[derive(Debug, Clone, Copy)]
pub enum Family<'m> {
    /// Those of the leader's group, and those that bear the mark. The leader must not have been
    /// waited for, so that its number still belongs to its group.
    Marked {
        /// The program itself.
        leader: u32,
        /// What all that it starts inherits.
        mark: &'m ProcessMark,
    },
    /// All that this process started, and what those started. It adopts what their parents leave.
    Descendants {
        /// The leader of a group among them, for systems that do not list their processes.
        leader: Option<u32>,
    },
}

impl Family<'_> {
    /// Ends all of it: asks first, and kills after a grace. Gives the processes that live on
    /// nevertheless.
    #[must_use]
    pub fn end(self, grace: Duration) -> Vec<u32> {
        self.signal(Signal::TERM);
        let asked = Instant::now();
        while let Some(left) = grace.checked_sub(asked.elapsed()) {
            match self.members() {
                Some(members) if members.pids.is_empty() => break,
                Some(members) => await_ends(&members.pids, left),
                None => thread::sleep(left),
            }
        }
        self.kill()
    }

    /// The same without asking.
    pub fn kill(self) -> Vec<u32> {
        let mut unsure = 0;
        for _ in 0..KILL_ROUNDS {
            self.signal(Signal::KILL);
            let Some(members) = self.members() else {
                return Vec::new();
            };
            if members.pids.is_empty() {
                if !members.may_be_more || unsure == UNSURE_LOOKS {
                    return Vec::new();
                }
                unsure += 1;
                thread::sleep(LOOK_EVERY);
            }
            await_ends(&members.pids, LOOK_EVERY);
        }
        self.members().unwrap_or_default().pids
    }

    fn signal(self, which: Signal) {
        if let Some(leader) = self.leader()
            && let Some(group) = pid_of(leader)
            // Until the leader has a group of its own, it is alone.
            && kill_process_group(group, which).is_err()
        {
            signal(leader, which);
        }
        for pid in self.members().unwrap_or_default().pids {
            signal(pid, which);
        }
    }

    const fn leader(self) -> Option<u32> {
        match self {
            Self::Marked { leader, .. } => Some(leader),
            Self::Descendants { leader } => leader,
        }
    }

    fn members(self) -> Option<ProcessMembers> {
        match self {
            Self::Marked { leader, mark } => members(Some(leader), mark),
            Self::Descendants { .. } => Some(ProcessMembers {
                pids: descendants()?,
                may_be_more: false,
            }),
        }
    }
}

/// Kills what is left in the group when its leader has ended.
pub(super) fn kill_group(leader: u32) {
    if let Some(group) = pid_of(leader) {
        // The signal has no receiver when the program left nothing behind.
        let _gone = kill_process_group(group, Signal::KILL);
    }
}

/// Ends what a process of an earlier run of ours left. Whether there was anything.
pub fn end_stranger(process: &ProcessName, mark: &ProcessMark) -> bool {
    let is_same = process.start_ticks != 0 && name_of(process.pid) == *process;
    if is_same {
        let leader = process.pid;
        return Family::Marked { leader, mark }
            .end(SURVIVOR_GRACE)
            .is_empty();
    }
    // The number may have been reused by now; only what bears the mark is ours.
    let mut found = false;
    for _ in 0..KILL_ROUNDS {
        let members = members(None, mark).unwrap_or_default().pids;
        if members.is_empty() {
            break;
        }
        found = true;
        members.iter().for_each(|pid| signal(*pid, Signal::KILL));
        await_ends(&members, LOOK_EVERY);
    }
    found
}

pub(super) fn pid_of(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = pid_of(pid) {
        // It may have ended since it was found.
        let _gone = kill_process(pid, signal);
    }
}

/// Waits until all of these have ended, so long at most. They need not be children of this process: the system wakes
/// for every process that has a descriptor, and where it gives none they are looked at again after a moment.
fn await_ends(pids: &[u32], at_most: Duration) {
    let asked = Instant::now();
    let mut open = Vec::new();
    for pid in pids {
        match descriptor_of(*pid) {
            Ok(process) => open.extend(process),
            Err(_) => return thread::sleep(LOOK_EVERY.min(at_most)),
        }
    }
    while !open.is_empty()
        && let Some(left) = at_most.checked_sub(asked.elapsed())
        && let Ok(left) = Timespec::try_from(left)
    {
        let mut polled: Vec<PollFd<'_>> = open
            .iter()
            .map(|it| PollFd::new(it, PollFlags::IN))
            .collect();
        // An interruption is a look that found nothing.
        let _woken = poll(&mut polled, Some(&left));
        let lives: Vec<bool> = polled.iter().map(|it| it.revents().is_empty()).collect();
        let mut lives = lives.into_iter();
        open.retain(|_| lives.next().unwrap_or_default());
    }
}

/// A descriptor that can be read as soon as the process has ended; none if it has.
#[cfg(target_os = "linux")]
fn descriptor_of(pid: u32) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = pid_of(pid) else {
        return Ok(None);
    };
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Ok(process) => Ok(Some(process)),
        Err(rustix::io::Errno::SRCH) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn descriptor_of(_: u32) -> io::Result<Option<OwnedFd>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The processes of a program.
#[derive(Debug, Default)]
struct ProcessMembers {
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
fn members(leader: Option<u32>, mark: &ProcessMark) -> Option<ProcessMembers> {
    let pids = listed()?.filter(|pid| *pid != std::process::id());
    let since = leader.and_then(|leader| word_of(leader, START_TICKS_WORD));
    let mut members = ProcessMembers::default();
    for pid in pids {
        match kin(pid, leader, since, mark) {
            Kin::Member => members.pids.push(pid),
            Kin::Unsure => members.may_be_more = true,
            Kin::Stranger => {}
        }
    }
    Some(members)
}

/// Everything that this process started, and what that started, without those that have ended and
/// only wait to be noticed. Nothing where the system does not list processes.
fn descendants() -> Option<Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for pid in listed()? {
        let Some(stat) = stat_of(pid) else {
            continue;
        };
        if let Some(parent) = word(&stat, PARENT_WORD).and_then(|word| word.parse().ok()) {
            let lives = !has_ended(&stat);
            children.entry(parent).or_default().push((pid, lives));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![own_pid()];
    while let Some(parent) = open.pop() {
        for (pid, lives) in children.remove(&parent).unwrap_or_default() {
            if lives {
                found.push(pid);
            }
            open.push(pid);
        }
    }
    Some(found)
}

/// The number of this process as the list of processes has it, which may be that of a wider space.
fn own_pid() -> u32 {
    let link = fs::read_link("/proc/self").ok();
    let number = link.and_then(|link| link.to_str()?.parse().ok());
    number.unwrap_or_else(std::process::id)
}

/// The processes of this system, as it lists them.
fn listed() -> Option<impl Iterator<Item = u32>> {
    let listed = fs::read_dir("/proc").ok()?;
    Some(listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

fn has_ended(stat: &str) -> bool {
    matches!(word(stat, STATE_WORD), Some("Z" | "X"))
}

fn kin(pid: u32, leader: Option<u32>, since: Option<u64>, mark: &ProcessMark) -> Kin {
    let Some(stat) = stat_of(pid) else {
        return Kin::Stranger;
    };
    if has_ended(&stat) {
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
    if entries.any(|entry| mark.is(entry)) {
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
        let mark = ProcessMark::new("A_SOCIETY_TREE_TEST", own.to_string());
        let mut bare = std::process::Command::new("/bin/sleep");
        let mut bare = bare.arg("60").env_clear().spawn().unwrap();
        let mut marked = std::process::Command::new("/bin/sleep");
        let marked = marked.arg("60").env("A_SOCIETY_TREE_TEST", own.to_string());
        let mut marked = marked.spawn().unwrap();
        // No group of these has this number, so that only variables tell.
        let of = |pid, since| kin(pid, Some(u32::MAX), since, &mark);
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
