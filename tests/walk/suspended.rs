//! A run that is stopped by its shell, as by Ctrl-Z: the terminal is as it was before, and is drawn on again when the
//! program goes on.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::paged::{restores, takes_lines};
use super::place::{ASKING, FLOW, Place, wait_until};
use super::watched::Terminal;

#[test]
fn a_run_that_is_stopped_leaves_the_terminal_as_it_was_and_goes_on_with_what_was_typed() {
    let place = Place::new(FLOW, ASKING);
    let words = ["run", "demo/flow.yaml", "--improve", "none"];
    let mut terminal = Terminal::start_sized(&place, &words, (&[], (24, 80)));
    terminal.shows("your answer>");
    terminal.press("Bl");
    terminal.shows("your answer> Bl");
    assert!(!takes_lines(&terminal));
    let pid = Pid::from_child(&terminal.child);
    kill_process(pid, Signal::TSTP).unwrap();
    let options = WaitOptions::UNTRACED | WaitOptions::NOHANG;
    wait_until("it is stopped", || {
        let ended = waitpid(Some(pid), options).unwrap();
        ended.is_some_and(|(_, status)| status.stopped())
    });
    restores(&terminal);
    let screen = terminal.screen();
    assert!(
        !screen.iter().any(|row| row.contains("your answer>")),
        "{screen:#?}"
    );
    kill_process(pid, Signal::CONT).unwrap();
    terminal.writes("your answer> Bl", 2);
    terminal.shows("your answer> Bl");
    std::thread::sleep(super::prompted::SETTLED);
    terminal.press("ue\r");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
    restores(&terminal);
    let journal = place.journal(&place.flow().unwrap());
    assert!(journal.contains("\"text\":\"Blue\""), "{journal}");
}
