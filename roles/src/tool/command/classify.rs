//! Which commands run unasked: a few, byte for byte, that only look.
//!
//! There are no prefixes and no patterns. A string is taken apart by rules that leave a shell
//! nothing to interpret, and it has to be one of those that are listed; everything else is asked
//! about, whatever its first word is.

/// What runs unasked in every flow. None of them reads what it is given, looks for configuration,
/// or depends on a terminal.
pub(super) const UNASKED: [&str; 12] = [
    "pwd", "ls", "ls -l", "ls -a", "ls -la", "ls -al", "ls -1", "date", "date -u", "whoami",
    "uname", "uname -a",
];

/// First words that do not name what runs: words of the shell itself, and programs that run what
/// follows them.
const NOT_NAMES: &[&str] = &[
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "busybox",
    "case",
    "cd",
    "chroot",
    "command",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "doas",
    "done",
    "elif",
    "else",
    "enable",
    "env",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "nice",
    "nohup",
    "parallel",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "setsid",
    "shift",
    "shopt",
    "source",
    "stdbuf",
    "strace",
    "sudo",
    "suspend",
    "then",
    "time",
    "timeout",
    "trap",
    "xargs",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "unshare",
    "wait",
    "watch",
    "while",
    "su",
    "flock",
];

/// The words of a command that a shell takes literally.
///
/// Words are letters, digits and `_ - . / @ % + , :`, one space apart. So there are no quotes, no
/// variables, no patterns, no lists and no comments. The first word is a plain name: no path, no
/// assignment, no option.
pub(super) fn words(command: &str) -> Option<Vec<&str>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./@%+,:".contains(&byte);
    let words: Vec<&str> = command.split(' ').collect();
    let are_plain = words
        .iter()
        .all(|word| !word.is_empty() && word.bytes().all(is_plain));
    let is_name = |word: &&str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            && !word.starts_with('-')
            && !NOT_NAMES.contains(word)
    };
    (are_plain && words.first().is_some_and(is_name)).then_some(words)
}

/// Whether a command runs unasked: it is listed, byte for byte, here or by the operator.
pub(super) fn is_unasked(command: &str, listed: &[String]) -> bool {
    let is_listed = UNASKED.contains(&command) || listed.iter().any(|it| it == command);
    is_listed && words(command).is_some()
}

/// Why a command is not even asked about; nothing if it may be.
pub(super) fn refused(command: &str, most_bytes: usize) -> Option<String> {
    if command.trim().is_empty() {
        return Some("The command is empty.".to_owned());
    }
    if command.len() > most_bytes {
        return Some(format!(
            "The command is {} bytes long; {most_bytes} are allowed. Write a script into a file \
             and run that.",
            command.len()
        ));
    }
    let bad = command.chars().find(|letter| {
        *letter != '\n' && *letter != '\t' && a_society_base::text::misleads(*letter)
    });
    bad.map(|letter| {
        format!(
            "The command has the character U+{:04X} in it, which cannot be seen or acts on a \
             screen. Write it without, or with an escape such as $'\\x1b'.",
            u32::from(letter)
        )
    })
}
