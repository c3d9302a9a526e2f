//! Patterns of paths, such as `src/**/*.rs`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::super::refusal::{CallRefusal, RefusalKind};

/// What a letter of a pattern may mean besides itself.
const SPECIAL: [char; 6] = ['*', '?', '[', '{', '\\', '!'];

/// Which paths are meant.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    matcher: GlobMatcher,
    /// Whether the name alone decides, in whatever folder.
    is_name: bool,
    /// Whether all others are meant.
    is_negated: bool,
}

impl PathPattern {
    /// Reads a pattern. One without a slash means names in every folder.
    pub(super) fn read(text: &str) -> Result<Self, CallRefusal> {
        let (is_negated, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let is_name = !text.contains('/');
        Self::compiled(text, is_name, is_negated)
    }

    fn compiled(text: &str, is_name: bool, is_negated: bool) -> Result<Self, CallRefusal> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let matcher = glob.map_err(|why| {
            let text = format!("Wrong pattern: {}.", why.kind());
            CallRefusal::new(RefusalKind::Arguments, text)
        })?;
        Ok(Self {
            matcher: matcher.compile_matcher(),
            is_name,
            is_negated,
        })
    }

    /// The folder with which a pattern begins, as it is written, and the pattern from there on.
    pub(super) fn split(text: &str) -> Result<(String, Self), CallRefusal> {
        let (is_negated, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let is_plain = |name: &&str| !name.contains(SPECIAL);
        let names: Vec<&str> = rest.split('/').collect();
        let folders = names.len() - 1;
        let plain = names.iter().take(folders).take_while(|it| is_plain(it));
        let (above, below) = names.split_at(if is_negated { 0 } else { plain.count() });
        let folder = match above {
            [""] => "/".to_owned(),
            above => above.join("/"),
        };
        let pattern = Self::compiled(&below.join("/"), folders == 0, is_negated)?;
        Ok((folder, pattern))
    }

    /// Whether a path is meant: from the folder in which it is looked for.
    pub(super) fn fits(&self, path: &Path) -> bool {
        let fits = if self.is_name {
            path.file_name()
                .is_some_and(|name| self.matcher.is_match(Path::new(name)))
        } else {
            self.matcher.is_match(path)
        };
        fits != self.is_negated
    }
}
