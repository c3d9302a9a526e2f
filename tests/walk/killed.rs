//! The program killed at random moments of a flow: every resume comes to the same end.

use std::time::Duration;

use super::place::{FLOW, Place, SLOW};
use crate::support::{Said, is_full, seed};

/// How often the slice kills.
const KILLS: u64 = 15;
/// How often the whole does.
const KILLS_FULL: u64 = 200;
/// Long enough for a whole run of a debug build; kills are spread over it.
const SPREAD_MS: u64 = 400;

fn ended(place: &Place) -> (Said, String) {
    let flow = place.flow();
    let Some(flow) = flow else {
        // It died before there was a flow, so nothing was lost.
        let said = place.run(&["run", "demo/flow.yaml", "--improve", "none"]);
        return (said, place.flow().unwrap());
    };
    (place.run(&["resume", &flow, "--improve", "none"]), flow)
}

#[test]
fn killed_at_any_moment_a_flow_goes_on_to_the_same_end() {
    let whole = Place::new(FLOW, SLOW);
    let (said, flow) = ended(&whole);
    assert_eq!(said.code, 0, "{said:?}");
    let wanted = whole.outcome(&flow);
    let kills = if is_full() { KILLS_FULL } else { KILLS };
    for number in 0..kills {
        let place = Place::new(FLOW, SLOW);
        let mut child = place.start(&["run", "demo/flow.yaml", "--improve", "none"]);
        // Spread evenly, and not in step with anything the program does.
        let after = number * SPREAD_MS / kills + (number + seed()) % (SPREAD_MS / kills + 7);
        std::thread::sleep(Duration::from_millis(after));
        child.kill().unwrap();
        child.wait().unwrap();
        let (said, flow) = ended(&place);
        assert_eq!(said.code, 0, "killed after {after} ms: {said:?}");
        assert_eq!(place.outcome(&flow), wanted, "killed after {after} ms");
        assert_eq!(
            place.run(&["verify", &flow]).code,
            0,
            "killed after {after} ms"
        );
    }
}
