//! Sockets on which nothing happens.

use std::time::Duration;

use serde_json::json;

use crate::client::Client;
use crate::run::{Bench, line};
use crate::served::Served;

const SOCKETS: usize = 1_000;

/// A thousand sockets: silent ones, and ones that follow the list of flows.
pub(crate) fn sockets(bench: &Bench) {
    let served = Served::start(&bench.folder("idle"));
    let before = served.memory_mb("VmRSS");
    let mut clients: Vec<Client> = (0..SOCKETS).map(|_| Client::new(&served)).collect();
    std::thread::sleep(Duration::from_millis(500));
    let silent = served.memory_mb("VmRSS");
    for client in &mut clients {
        client.say(&json!({ "t": "sub", "id": 1, "topic": { "topic": "inbox" }, "since": null, "epoch": null }));
        while !client.hear().starts_with("{\"t\":\"caught_up\"") {}
    }
    let cpu = served.cpu();
    std::thread::sleep(Duration::from_secs(5));
    let following = served.memory_mb("VmRSS");
    let spent = (served.cpu() - cpu).as_secs_f64() / 5.0;
    line(
        "1,000 idle sockets: memory of the server, and when each follows the list of flows",
        "under 64 MB",
        &format!(
            "{silent:.1} MB and {following:.1} MB ({before:.1} MB without); {:.1} % of a processor",
            spent * 100.0
        ),
    );
}
