//! Every number that bounds a handoff block, with its reason.

/// A fan-out to a thousand nodes with long paths takes about 200 KB.
pub(crate) const MAX_BLOCK_BYTES: usize = 256 * 1024;

/// The widest fan-out that one block may ask for.
pub(crate) const MAX_TARGETS: usize = 1_000;

/// Names of nodes that one message to a model lists; a model does not choose well among more.
pub(super) const MAX_NAMES_SHOWN: usize = 40;

/// Characters of a model's own words that a message repeats to it.
pub(super) const MAX_QUOTED_CHARS: usize = 60;

/// Nodes that the schema of a handoff lists one by one; more would be paid for in every request.
pub(super) const MAX_NODES_IN_SCHEMA: usize = 40;

/// Choices that a question offers; a person does not weigh more at once.
pub(super) const MAX_CHOICES: usize = 10;

/// How long a choice may be that a screen offers as one: a sentence, and room for a path.
pub(super) const MAX_CHOICE_BYTES: usize = 1024;

/// The longest question. What takes more to explain belongs in a file.
pub(super) const MAX_QUESTION_BYTES: usize = 16 * 1024;
