//! What can go wrong on request, and at which operation.

use std::io;

use rustix::io::Errno;

/// How much of a write a disk takes before it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartialWrite {
    /// One byte.
    One,
    /// Half of the bytes, rounded down.
    Half,
    /// All bytes but the last.
    AllButOne,
}

/// One way in which an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InjectedFault {
    /// The device fails. Any operation can meet it; a sync that does leaves its data unsynced.
    Eio,
    /// No space is left, for whatever takes space.
    Enospc,
    /// The quota is used up, for whatever takes space.
    Edquot,
    /// A signal interrupts a read or an append before it moved a byte.
    Eintr,
    /// The process has no descriptor left, for whatever opens one.
    Emfile,
    /// The file system became read-only, for whatever writes.
    Erofs,
    /// An append takes a part of its bytes. It needs at least two bytes to fire.
    ShortWrite(PartialWrite),
    /// A read returns half of what is there. It needs at least two bytes to fire.
    ShortRead,
    /// A sync fails with `EIO`, and what it should have made durable never becomes durable:
    /// later syncs return `Ok`, reads still show the bytes, and only a power cut shows that they
    /// are gone. Linux file systems do this after a failed `fsync`.
    SyncFailsThenLies,
    /// The sync of a folder fails with `EIO`.
    FolderSyncFails,
    /// A rename fails with `EIO` and changes nothing.
    RenameFails,
    /// The file system gives no file a second name.
    NoLinks,
}

impl InjectedFault {
    /// Every fault there is, for tests that try them all.
    pub const ALL: [Self; 14] = [
        Self::Eio,
        Self::Enospc,
        Self::Edquot,
        Self::Eintr,
        Self::Emfile,
        Self::Erofs,
        Self::ShortWrite(PartialWrite::One),
        Self::ShortWrite(PartialWrite::Half),
        Self::ShortWrite(PartialWrite::AllButOne),
        Self::ShortRead,
        Self::SyncFailsThenLies,
        Self::FolderSyncFails,
        Self::RenameFails,
        Self::NoLinks,
    ];

    /// The error that the operation returns instead of being done; `None` if it is done, but
    /// otherwise than asked for.
    pub(super) fn error(self) -> Option<io::Error> {
        let errno = match self {
            Self::Eio | Self::FolderSyncFails | Self::RenameFails => Errno::IO,
            Self::Enospc => Errno::NOSPC,
            Self::Edquot => Errno::DQUOT,
            Self::Eintr => Errno::INTR,
            Self::Emfile => Errno::MFILE,
            Self::Erofs => Errno::ROFS,
            Self::NoLinks => Errno::PERM,
            Self::ShortWrite(_) | Self::ShortRead | Self::SyncFailsThenLies => return None,
        };
        Some(errno.into())
    }

    /// How many of the asked bytes an append takes or a read returns under this fault.
    pub(super) fn shorten(self, asked: usize) -> usize {
        match self {
            Self::ShortWrite(PartialWrite::One) => asked.min(1),
            Self::ShortWrite(PartialWrite::Half) | Self::ShortRead => asked / 2,
            Self::ShortWrite(PartialWrite::AllButOne) => asked.saturating_sub(1),
            Self::Eio
            | Self::Enospc
            | Self::Edquot
            | Self::Eintr
            | Self::Emfile
            | Self::Erofs
            | Self::SyncFailsThenLies
            | Self::FolderSyncFails
            | Self::RenameFails
            | Self::NoLinks => asked,
        }
    }

    /// Whether an operation of this class can meet this fault.
    fn applies_to(self, class: Class) -> bool {
        match self {
            Self::Eio => true,
            Self::Enospc | Self::Edquot => class.takes_space(),
            Self::Eintr => matches!(class, Class::Read { .. } | Class::Append { .. }),
            Self::Emfile => matches!(class, Class::Open { .. } | Class::SyncFolder | Class::List),
            Self::Erofs => class.writes(),
            Self::ShortWrite(_) => matches!(class, Class::Append { bytes } if bytes >= 2),
            Self::ShortRead => matches!(class, Class::Read { bytes } if bytes >= 2),
            Self::SyncFailsThenLies => class == Class::Sync,
            Self::FolderSyncFails => class == Class::SyncFolder,
            Self::RenameFails => class == Class::Rename,
            Self::NoLinks => class == Class::Link,
        }
    }
}

/// A fault, and when it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// The number of the operation that fails. The first operation of a disk has number 1.
    pub at: u64,
    /// How it fails.
    pub fault: InjectedFault,
    /// Whether every later operation that can meet the fault meets it too.
    pub sticky: bool,
}

/// What an operation does, as far as it decides which faults can meet it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Open {
        writes: bool,
        creates: bool,
    },
    CreateFolder,
    SyncFolder,
    Rename,
    Link,
    Remove,
    List,
    /// About, free bytes, size and lock: they only ask.
    Ask,
    Read {
        bytes: usize,
    },
    Append {
        bytes: usize,
    },
    SetSize {
        grows: bool,
    },
    Reserve,
    Sync,
}

impl Class {
    /// A sync counts, because a file system that allocates late finds out there that it is full.
    fn takes_space(self) -> bool {
        match self {
            Self::Open { creates, .. } => creates,
            Self::SetSize { grows } => grows,
            Self::CreateFolder
            | Self::SyncFolder
            | Self::Rename
            | Self::Link
            | Self::Append { .. }
            | Self::Reserve
            | Self::Sync => true,
            Self::Remove | Self::List | Self::Ask | Self::Read { .. } => false,
        }
    }

    fn writes(self) -> bool {
        match self {
            Self::Open { writes, .. } => writes,
            Self::CreateFolder
            | Self::SyncFolder
            | Self::Rename
            | Self::Link
            | Self::Remove
            | Self::Append { .. }
            | Self::SetSize { .. }
            | Self::Reserve
            | Self::Sync => true,
            Self::List | Self::Ask | Self::Read { .. } => false,
        }
    }
}

/// The plan that is armed, and whether it came to pass.
#[derive(Debug, Default)]
pub(super) struct Faults {
    plan: Option<FaultPlan>,
    fired: bool,
}

impl Faults {
    pub(super) fn arm(&mut self, plan: Option<FaultPlan>) {
        self.plan = plan;
        self.fired = false;
    }

    pub(super) fn fired(&self) -> bool {
        self.fired
    }

    /// The fault that the operation with this number meets.
    pub(super) fn strike(&mut self, number: u64, class: Class) -> Option<InjectedFault> {
        let plan = self.plan?;
        let due = number == plan.at || (plan.sticky && number > plan.at);
        if !due || !plan.fault.applies_to(class) {
            return None;
        }
        self.fired = true;
        Some(plan.fault)
    }
}
