//! Opens a page in the operator's browser, by the program that the system has for it.

use std::process::{Command, Stdio};

/// The programs that open an address, the first that is there.
const OPENERS: [&str; 4] = ["xdg-open", "open", "wslview", "sensible-browser"];

/// Opens an address.
///
/// # Errors
/// In words, when no program does.
pub(crate) fn open(url: &str) -> Result<(), String> {
    for opener in OPENERS {
        let mut command = Command::new(opener);
        command
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // It goes on by itself; its end shows on the screen.
        if let Ok(mut child) = command.spawn() {
            let waiting = std::thread::Builder::new()
                .name("browser".to_owned())
                .spawn(move || drop(child.wait()));
            drop(waiting);
            return Ok(());
        }
    }
    Err(format!("none of {} is here", OPENERS.join(", ")))
}
