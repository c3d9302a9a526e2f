//! Every number that bounds a skill, with its reason.

/// The longest `SKILL.md`: it is read into a model's window as a whole.
pub(super) const TEXT_BYTES: u64 = 256 * 1024;

/// The longest name and description: they are part of every prompt of every role that may use it.
pub(super) const NAME_BYTES: usize = 64;
/// See [`NAME_BYTES`].
pub(super) const DESCRIPTION_BYTES: usize = 1024;

/// How many skills one folder has; each costs a line in the prompt.
pub(super) const SKILLS: usize = 200;

/// How many files an imported skill has, how large they are together, and how deep they lie.
pub(super) const FILES: usize = 500;
/// See [`FILES`].
pub(super) const BYTES: u64 = 32 * 1024 * 1024;
/// See [`FILES`].
pub(super) const DEPTH: usize = 8;
