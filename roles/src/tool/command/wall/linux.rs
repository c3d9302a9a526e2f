//! The walls that Linux has.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountFlags, mount, mount_bind_recursive, mount_remount};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::super::frame::{Spaces, Walls};
use super::{open_to_all, repositories};

/// The rights that are asked for; an older kernel keeps those that it knows.
const RIGHTS: ABI = ABI::V5;

/// The kind of machine, as the filter of system calls names it.
const MACHINE: &str = if cfg!(target_arch = "x86_64") {
    "x86_64"
} else if cfg!(target_arch = "aarch64") {
    "aarch64"
} else if cfg!(target_arch = "riscv64") {
    "riscv64"
} else {
    "unknown"
};

/// What may be read of the system, so that programs run.
const SYSTEM: [&str; 13] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
];

/// The system's settings: only what everyone may read, even if root runs the command. The rest is the hashes
/// of passwords, keys of hosts and other secrets, which nothing else keeps from the user of the system itself.
const SETTINGS: &str = "/etc";

/// What may be written of the system: things that keep nothing.
const DEVICES: [&str; 7] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/fd",
    "/dev/shm",
];

/// The same calls have this bit in their numbers when they are made with short pointers, which some
/// kernels of one kind of machine let every program do.
const SHORT_POINTERS: i64 = 0x4000_0000;

/// What no command needs, and what leads out: into other processes, other spaces, the kernel.
const FORBIDDEN_CALLS: [i64; 29] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_reboot,
];

/// What leaves its parent becomes ours, and is ended with the rest.
pub(super) fn adopt_orphans() {
    // Where it cannot be, what left its session is found by its variables.
    let _cannot = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

pub(super) fn put_up(walls: &Walls, scratch: Option<&str>) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    match &walls.spaces {
        Spaces::Own => {
            if !walls.network {
                switch_on_loopback();
            }
            if let Err(why) = hide(walls) {
                let what = "what hides the state of flows and protects repositories";
                missing.push(format!("{what}: {why}"));
            }
        }
        // Everything that has to be mounted was, before we began.
        Spaces::Bubblewrap(_) => {}
        Spaces::None => missing.push(
            "spaces of its own: this system does not let a user make them, so a command could see \
             other processes"
                .to_owned(),
        ),
    }
    rustix::thread::set_no_new_privs(true)
        .map_err(|why| format!("Privileges could not be given up: {why}."))?;
    missing.extend(landlock(walls, scratch));
    missing.extend(seccomp(walls));
    // What a guard needed in its space, a command does not need.
    let _none = rustix::thread::clear_ambient_capability_set();
    Ok(missing)
}

/// The tools that enable the network of a namespace, in which there is nothing else.
const NETWORK_TOOLS: [&str; 2] = ["/usr/sbin/ip", "/sbin/ip"];

/// Lets a command speak to itself, as tests of servers do. Where there is no tool for it, it
/// cannot, and finds out by itself.
fn switch_on_loopback() {
    use std::process::{Command, Stdio};

    if let Some(tool) = NETWORK_TOOLS.iter().find(|tool| Path::new(tool).exists()) {
        let _off = Command::new(tool)
            .args(["link", "set", "lo", "up"])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Puts the state of flows out of sight, and makes the insides of repositories read-only.
fn hide(walls: &Walls) -> Result<(), rustix::io::Errno> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    // Programs share memory there; they get one of their own.
    let _shared = mount("tmpfs", "/dev/shm", "tmpfs", plain, c"mode=1777");
    for folder in &walls.writable {
        for inside in repositories(Path::new(folder)) {
            read_only(&inside)?;
        }
    }
    let Some(hidden) = &walls.hidden else {
        return Ok(());
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let within = walls
        .readable
        .iter()
        .filter(|path| Path::new(path).starts_with(hidden));
    let shown = within.chain([&walls.record]).filter_map(|path| {
        let open = openat(CWD, path.as_str(), flags, Mode::empty()).ok()?;
        let is_folder = Path::new(path).is_dir();
        is_folder.then_some((path, open))
    });
    // Opened before it is out of sight.
    let shown: Vec<_> = shown.collect();
    mount(
        "tmpfs",
        hidden.as_str(),
        "tmpfs",
        plain,
        c"mode=0700,size=64k",
    )?;
    for (path, open) in shown {
        fs::create_dir_all(path).map_err(|_| rustix::io::Errno::IO)?;
        mount_bind_recursive(format!("/proc/self/fd/{}", open.as_raw_fd()), path.as_str())?;
    }
    Ok(())
}

fn read_only(path: &Path) -> Result<(), rustix::io::Errno> {
    mount_bind_recursive(path, path)?;
    let base = MountFlags::BIND | MountFlags::RDONLY;
    let stricter = base | MountFlags::NOSUID | MountFlags::NODEV;
    // Flags that a mount around it has must not be taken away.
    [
        base,
        stricter,
        stricter | MountFlags::RELATIME,
        stricter | MountFlags::NOEXEC,
    ]
    .into_iter()
    .find(|flags| mount_remount(path, *flags, c"").is_ok())
    .map(|_| ())
    .ok_or(rustix::io::Errno::PERM)
}

/// Which walls this system lacks, as far as that is known without building them.
pub(super) fn missing() -> Vec<String> {
    let rights = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(RIGHTS))
        .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create);
    let mut missing = Vec::new();
    if rights.is_err() {
        missing.push("Landlock: this kernel has none or only a part of it".to_owned());
    }
    if seccompiler::TargetArch::try_from(MACHINE).is_err() {
        missing.push("seccomp: not on this kind of machine".to_owned());
    }
    missing
}

/// Restricts which files can be reached with Landlock. Returns what is unsupported.
fn landlock(walls: &Walls, scratch: Option<&str>) -> Option<String> {
    let status = landlock_rules(walls, scratch).and_then(RulesetCreated::restrict_self);
    match status {
        Ok(status) if status.ruleset == RulesetStatus::FullyEnforced => None,
        Ok(status) if status.ruleset == RulesetStatus::PartiallyEnforced => {
            Some("a part of Landlock: this kernel does not know all of it".to_owned())
        }
        Ok(_) => Some("Landlock: this kernel does not have it".to_owned()),
        Err(why) => Some(format!("Landlock: {why}")),
    }
}

fn landlock_rules(
    walls: &Walls,
    scratch: Option<&str>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(RIGHTS))?
        .scope(Scope::from_all(ABI::V6))?;
    if !walls.network && !walls.spaces.are_there() {
        rules = rules.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let all = AccessFs::from_all(RIGHTS);
    let read = AccessFs::from_read(RIGHTS);
    let devices = read | AccessFs::from_write(RIGHTS) | AccessFs::IoctlDev;
    let readable = walls.readable.iter().map(String::as_str);
    let settings = open_to_all(Path::new(SETTINGS));
    let rules = rules
        .create()?
        .add_rules(path_beneath_rules(SYSTEM.into_iter().chain(readable), read))?
        .add_rules(path_beneath_rules([SETTINGS], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(settings, read))?
        .add_rules(path_beneath_rules(DEVICES, devices))?
        .add_rules(path_beneath_rules(scratch, all))?;
    if walls.spaces.are_there() {
        return rules.add_rules(path_beneath_rules(&walls.writable, all));
    }
    // A part of a folder cannot be taken out of what is given. So its entries are given one by
    // one, without those that are out of reach, and the folder itself cannot get new ones.
    rules
        .add_rules(path_beneath_rules(&walls.writable, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(parts(walls), all))
}

/// The entries of the writable folders, without the state of flows and the insides of repositories.
fn parts(walls: &Walls) -> Vec<PathBuf> {
    let is_open = |path: &PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        name != ".git" && name != ".a-society"
    };
    let within = walls
        .writable
        .iter()
        .filter(|folder| **folder != walls.record);
    let entries = within.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let paths = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let mut parts: Vec<PathBuf> = paths.map(|entry| entry.path()).filter(is_open).collect();
    parts.push(PathBuf::from(&walls.record));
    parts
}

/// Says which system calls can be made.
fn seccomp(walls: &Walls) -> Option<String> {
    let done = program(walls).and_then(|program| seccompiler::apply_filter(&program));
    done.err().map(|why| format!("seccomp: {why}"))
}

fn program(walls: &Walls) -> Result<BpfProgram, seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = FORBIDDEN_CALLS
        .iter()
        .map(|call| (*call, Vec::new()))
        .collect();
    // Sockets of files lead to other programs of the user, ours among them.
    let mut families = vec![libc::AF_UNIX, libc::AF_VSOCK, libc::AF_PACKET];
    if !walls.network && !walls.spaces.are_there() {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let sockets: Result<Vec<SeccompRule>, _> = families.into_iter().map(family).collect();
    rules.insert(libc::SYS_socket, sockets.map_err(seccompiler::Error::from)?);
    for (call, rule) in rules.clone() {
        rules.insert(call | SHORT_POINTERS, rule);
    }
    let errno = u32::try_from(libc::EPERM).unwrap_or(1);
    let arch = MACHINE.try_into().map_err(seccompiler::Error::from)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        arch,
    );
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    program.map_err(seccompiler::Error::from)
}

fn family(family: i32) -> Result<SeccompRule, seccompiler::BackendError> {
    let family = u64::try_from(family).unwrap_or_default();
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family)?;
    SeccompRule::new(vec![condition])
}
