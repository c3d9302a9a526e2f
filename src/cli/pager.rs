//! A text in the operator's own pager.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// How a shell ends that does not find a program.
const NOT_FOUND: i32 = 127;

/// The default pager.
pub(crate) const USUAL: &str = "less -R";

/// The same for a shell that does not find it and says nothing of that.
const USUAL_IF_THERE: &str = "command -v less > /dev/null || exit 127; less -R";

/// What the pager did with a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Paged {
    /// It took all of it, and was left in good order.
    Whole,
    /// It was left before it had taken all of it.
    Part,
    /// It was not shown: there is no pager, or it failed for this reason.
    Not(Option<String>),
}

/// Shows lines in a pager and waits until it is left. It gets them on its standard input, and takes its keys from the
/// terminal.
pub(crate) fn page(pager: &str, lines: &[String]) -> Paged {
    let not = |error: io::Error| Paged::Not(Some(format!("{pager} was not started: {error}")));
    // As a shell reads it, so that it may have arguments.
    let line = if pager == USUAL {
        USUAL_IF_THERE
    } else {
        pager
    };
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).stdin(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return not(error),
    };
    // One that is left early reads no more.
    let taken = child.stdin.take().map(|stdin| write(stdin, lines));
    match child.wait() {
        Err(error) => not(error),
        Ok(ended) if ended.code() == Some(NOT_FOUND) => Paged::Not(None),
        Ok(ended) if !ended.success() => Paged::Not(Some(format!("{pager} ended with {ended}"))),
        Ok(_) if matches!(taken, Some(Ok(()))) => Paged::Whole,
        Ok(_) => Paged::Part,
    }
}

fn write(mut stdin: impl Write, lines: &[String]) -> io::Result<()> {
    for line in lines {
        stdin.write_all(line.as_bytes())?;
        stdin.write_all(b"\n")?;
    }
    stdin.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_took_all_showed_it_and_one_that_did_not_or_failed_did_not() {
        let long = vec!["a line".to_owned(); 100_000];
        assert_eq!(page("cat > /dev/null", &long), Paged::Whole);
        assert_eq!(page("true", &long), Paged::Part);
        assert_eq!(page("a-program-that-is-not-there", &long), Paged::Not(None));
        let failed = page("cat > /dev/null; exit 3", &long);
        assert!(matches!(failed, Paged::Not(Some(why)) if why.contains("exit status: 3")));
    }
}
