//! A third-party gateway between the program and a model: it translates wires into one another.

use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use super::installed::python;
use super::servers::{Running, wait_until};
use super::wires::{model, walked};

/// LiteLLM's proxy in front of a model, once it listens, and its address.
fn gateway(model: &str, folder: &std::path::Path) -> Option<(Running, String)> {
    let program = python()?.with_file_name("litellm");
    let config = folder.join("gateway.yaml");
    let models = format!(
        "model_list:\n  - model_name: m\n    litellm_params: {{ model: openai/m, api_base: '{model}', api_key: k }}\n"
    );
    std::fs::write(&config, models).unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut gateway = Command::new(program);
    gateway
        .arg("--config")
        .arg(config)
        .args(["--telemetry", "False", "--host", "127.0.0.1", "--port"])
        .arg(port.to_string());
    gateway
        .current_dir(folder)
        // It would ask the network for prices, and serves without a key only with this setting.
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .env(
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY",
            "true",
        );
    gateway
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(gateway.spawn().unwrap());
    wait_until("the gateway listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    Some((running, format!("http://127.0.0.1:{port}/v1")))
}

#[test]
fn a_flow_ends_over_each_wire_of_a_gateway_that_translates_them() {
    let Some(first) = model() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some((_running, url)) = gateway(&first.url(), folder.path()) else {
        return;
    };
    for wire in ["anthropic", "openai-chat", "openai-responses"] {
        walked(&first, &url, wire);
        first.forget();
    }
}
