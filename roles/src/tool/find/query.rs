//! What a search looks for, as the model asked for it.

use grep_searcher::{Searcher, SearcherBuilder};

use super::super::arguments::{GlobFiles, GrepFiles};
use super::super::limits;
use super::super::refusal::{CallRefusal, RefusalKind};
use super::expression::Expression;
use super::pattern::PathPattern;

/// Which files are wanted.
#[derive(Debug, Clone)]
pub(in super::super) struct Glob {
    pub(super) pattern: PathPattern,
}

impl Glob {
    /// Reads what is asked for: the folder that is looked through, and what is looked for in it.
    pub(in super::super) fn read(given: &GlobFiles) -> Result<(String, Self), CallRefusal> {
        let (folder, pattern) = PathPattern::split(&given.pattern)?;
        let path = match (given.path.as_deref(), folder.as_str()) {
            (None | Some(""), "") => ".".to_owned(),
            (None | Some(""), _) => folder,
            (Some(path), "") => path.to_owned(),
            (Some(_), folder) if folder.starts_with('/') => folder.to_owned(),
            (Some(path), _) => format!("{}/{folder}", path.trim_end_matches('/')),
        };
        Ok((path, Self { pattern }))
    }
}

/// What is searched for.
#[derive(Debug, Clone)]
pub(in super::super) struct Grep {
    pub(super) expression: Expression,
    pub(super) names: Option<PathPattern>,
    pub(super) context: usize,
    pub(super) files_only: bool,
}

impl Grep {
    /// Reads what is asked for.
    pub(in super::super) fn read(given: &GrepFiles) -> Result<Self, CallRefusal> {
        let context = given.context.unwrap_or(0);
        if context > limits::SEARCH_CONTEXT {
            let text = format!("`context` is at most {}.", limits::SEARCH_CONTEXT);
            return Err(CallRefusal::new(RefusalKind::Arguments, text));
        }
        let ignore_case = match (given.ignore_case, given.case_sensitive) {
            (Some(ignore), _) => ignore,
            (None, sensitive) => sensitive == Some(false),
        };
        let literal = given.literal.then(|| regex_syntax::escape(&given.pattern));
        let pattern = literal.as_ref().unwrap_or(&given.pattern);
        Ok(Self {
            expression: Expression::read(pattern, ignore_case)?,
            names: given.glob.as_deref().map(PathPattern::read).transpose()?,
            context: usize::try_from(context).unwrap_or(0),
            files_only: given.files_only,
        })
    }

    pub(super) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.expression.spans_lines)
            .before_context(self.context)
            .after_context(self.context)
            .build()
    }
}
