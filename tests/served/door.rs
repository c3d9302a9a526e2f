//! The door of `serve`: where it may listen, by whose certificate, and how it is found.

use std::net::TcpListener;

use serde_json::Value;

use super::client::Server;
use crate::support::Workspace;

/// What the file says by which a server is found.
fn told(workspace: &Workspace) -> Value {
    let path = workspace.path().join(".a-society/server.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_second_server_leaves_the_file_of_one_that_runs_and_takes_that_of_one_that_was_killed() {
    let workspace = Workspace::new();
    let mut first = Server::start(&workspace, &[]);
    assert_eq!(told(&workspace)["pid"], first.pid());
    let second = Server::start(&workspace, &[]);
    assert_eq!(told(&workspace)["pid"], first.pid());
    drop(second);
    first.kill();
    // Another program answers at the address by now.
    let _other = TcpListener::bind(&first.place.address).unwrap();
    let third = Server::start(&workspace, &[]);
    assert_eq!(told(&workspace)["pid"], third.pid());
    assert_eq!(told(&workspace)["token"], third.place.token.as_str());
}

#[test]
fn an_address_signs_one_browser_in_and_the_next_has_an_address_of_its_own() {
    let workspace = Workspace::new();
    let none = workspace.run(&["serve", "--link"]);
    assert!(
        none.code == 3 && none.err.contains("no server of this workspace runs"),
        "{none:?}"
    );
    let server = Server::start(&workspace, &[]);
    let link = || workspace.run(&["serve", "--link"]).out.trim().to_owned();
    let first = link();
    let (_, token) = first.split_once("#token=").unwrap();
    let sign_in = |token: &str| {
        let body = format!("{{\"token\":\"{token}\"}}");
        server.place.sign_in(&body)
    };
    // What programs show opens no page.
    assert_eq!(sign_in(&server.place.token), 401);
    assert_eq!(sign_in(token), 200);
    assert_eq!(sign_in(token), 401, "an address is good once");
    // The next address is there as soon as the browser before is answered.
    let mut last = first;
    for _ in 0..10 {
        let next = link();
        assert_ne!(next, last);
        let (_, token) = next.split_once("#token=").expect(&next);
        assert_eq!(sign_in(token), 200);
        last = next;
    }
}

#[test]
fn another_address_than_this_machines_own_wants_encryption_or_an_explicit_word() {
    let workspace = Workspace::new();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let write =
        |name: &str, text: String| std::fs::write(workspace.path().join(name), text).unwrap();
    write("cert.pem", certified.cert.pem());
    write("key.pem", certified.signing_key.serialize_pem());
    write("other.pem", other.signing_key.serialize_pem());
    let with = |certificate: &'static str, key: &'static str| {
        vec![
            "serve",
            "--port",
            "0",
            "--tls-cert",
            certificate,
            "--tls-key",
            key,
        ]
    };
    let rows = [
        (vec!["serve", "--listen", "0.0.0.0"], "not-secure"),
        (with("cert.pem", "other.pem"), "tls-unfit"),
        (with("cert.pem", "cert.pem"), "tls-unfit"),
        (with("key.pem", "key.pem"), "tls-unfit"),
        (with("none.pem", "key.pem"), "tls-unfit"),
    ];
    for (words, code) in rows {
        let said = workspace.run(&[&words[..], &["--json"]].concat());
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        let error = [said.out.as_str(), &said.err].concat();
        assert!(error.contains(code), "{words:?}: {error}");
    }
    // One without the other is no use.
    assert_eq!(workspace.run(&["serve", "--tls-cert", "cert.pem"]).code, 2);
    let tls = [
        "--tls-cert",
        "cert.pem",
        "--tls-key",
        "key.pem",
        "--listen",
        "0.0.0.0",
    ];
    let _server = Server::start(&workspace, &tls);
    let url = told(&workspace)["url"].clone();
    assert!(
        url.as_str().unwrap().starts_with("https://localhost:"),
        "{url}"
    );
}

#[test]
fn a_workspace_that_is_served_already_says_where_and_how_to_open_it() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let (_, port) = server.place.address.rsplit_once(':').unwrap();
    let said = workspace.run(&["serve", "--port", port]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(
        said.err.contains(
            "error[served-already]: this workspace is served already, at http://127.0.0.1:"
        ),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("try: a-society serve --link"),
        "{}",
        said.err
    );
    // For another workspace it is only a port that is taken.
    let other = Workspace::new();
    let said = other.run(&["serve", "--port", port]);
    assert!(said.err.contains("error[address-taken]"), "{}", said.err);
}
