//! How much of a document is read before it is given up, and what its readers allow.

/// The bounds of one kind of document.
#[derive(Debug, Clone, Copy)]
pub struct ParseBudget {
    pub(crate) depth: usize,
    /// Mappings, lists and scalars after aliases are expanded.
    pub(crate) nodes: usize,
    /// Whether a mapping keeps a key that is there twice, for a reader that reports each of them with the first.
    pub(crate) repeats_keys: bool,
    /// Whether `128_000` is a number; in YAML 1.2 it is text.
    pub(crate) groups_digits: bool,
}

impl ParseBudget {
    /// A handoff is three levels deep, and a thousand targets have five nodes each; the rest is
    /// room for a model's mistakes to be named.
    pub const BLOCK: Self = Self {
        depth: 16,
        nodes: 50_000,
        repeats_keys: false,
        groups_digits: true,
    };

    /// A script for ten thousand nodes has about thirty values for each. The arguments of its
    /// calls stand seven levels deep and may go on.
    pub const SCRIPT: Self = Self {
        depth: 40,
        nodes: 400_000,
        ..Self::BLOCK
    };

    /// The deepest legal place of a flow file (`roles.x.command.on-exit.0`) is 6 levels down; the rest is room for
    /// mistakes to be named by their own diagnostic instead of this one. 10,000 nodes with two edges each take about
    /// 250,000 values; a million keeps the tree of a hostile file below 100 MB.
    pub const FLOW_FILE: Self = Self {
        depth: 32,
        nodes: 1_000_000,
        repeats_keys: true,
        groups_digits: false,
    };
}
