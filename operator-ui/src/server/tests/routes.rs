//! A walk over every route there is.

use super::super::access::Wants;
use super::super::routes::ROUTES;
use super::{FLOW, Stage};
use crate::protocol::ask::{Ask, AskKind};
use serde_json::Value;

/// What those who write a client read.
const DOCUMENT: &str = include_str!("../../../PROTOCOL.md");

/// A path that a route takes, with something in every place of it.
fn path_of(route: &str) -> String {
    let places = [
        ("{project}", "demo"),
        ("{flow}", FLOW),
        ("{id}", "f1"),
        ("{role}", "owner"),
        ("{hash}", "00"),
        ("{page}", "models"),
        ("{name}", "deployed"),
        ("{seq}", "1"),
    ];
    let filled = places.iter().fold(route.to_owned(), |path, (place, with)| {
        path.replace(place, with)
    });
    assert!(!filled.contains('{'), "{route} has a place of its own");
    filled
}

#[test]
fn no_route_shows_anything_without_a_token() {
    let stage = Stage::new(8);
    let guarded = ROUTES.iter().filter(|route| route.wants != Wants::Nobody);
    let mut paths: Vec<String> = guarded.map(|route| path_of(route.path)).collect();
    // What no route takes says no more than that.
    paths.extend(["/api/nothing", "/api/", "/api", "/api/flow/demo/x/nothing"].map(str::to_owned));
    for path in paths {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"] {
            let head = format!(
                "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{{P}}\r\nContent-Type: application/json"
            );
            assert_eq!(stage.status(&head, ""), 401, "{method} {path}");
        }
    }
}

#[test]
fn only_two_routes_are_for_everybody_and_neither_has_data() {
    let open = ROUTES.iter().filter(|route| route.wants == Wants::Nobody);
    let open: Vec<&str> = open.map(|route| route.path).collect();
    assert_eq!(open, ["/api/health", "/api/session"]);
}

#[test]
fn every_route_answers_the_operator() {
    let stage = Stage::new(8);
    super::append(&stage.journal(), &super::lines(3));
    for route in ROUTES {
        let head = format!(
            "GET {} HTTP/1.1\r\nHost: 127.0.0.1:{{P}}\r\nAuthorization: Bearer {{T}}",
            path_of(route.path)
        );
        let status = stage.status(&head, "");
        // It is there: something was missing in what was asked, or it is only written to.
        let fits = matches!(status, 200 | 400 | 404 | 405);
        assert!(fits, "{}: {status}", route.path);
    }
}

#[test]
fn the_document_names_every_route() {
    for route in ROUTES {
        let short = route
            .path
            .replace("{project}", "{p}")
            .replace("/flow/{flow}", "/flow/{f}");
        let short = short.replace("/{p}/{flow}", "/{p}/{f}");
        assert!(DOCUMENT.contains(&short), "{short}");
    }
}

#[test]
fn the_document_names_every_command_and_every_kind_of_question() {
    const VERBS: &str = include_str!("../../../web/src/verb.ts");
    const TYPES: &str = include_str!("../../../web/src/wire.ts");
    for (types, tag, begins, least) in [
        (VERBS, "\"do\": \"", "export type Verb = ", 24),
        (TYPES, "\"do\": \"", "export type ServerVerb = ", 2),
        (TYPES, "\"kind\": \"", "export type AskKind = ", 9),
    ] {
        let rest = types.split(begins).nth(1).unwrap();
        let rest = rest.split("export type").next().unwrap();
        let words = rest.split(tag).skip(1);
        let words: Vec<&str> = words.filter_map(|rest| rest.split('"').next()).collect();
        assert!(words.len() >= least, "{words:?}");
        for word in words {
            // In a table: an example shows only some of them.
            let is_row = |line: &&str| line.starts_with('|') && line.contains(&format!("`{word}`"));
            assert!(DOCUMENT.lines().any(|line| is_row(&line)), "{word}");
        }
    }
}

#[test]
fn the_example_of_a_question_in_the_document_is_one_and_has_every_member_that_each_has() {
    let (_, rest) = DOCUMENT.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let ask: Ask = serde_json::from_str(example).unwrap();
    let AskKind::Consent { facts, .. } = &ask.kind else {
        panic!("{:?}", ask.kind)
    };
    assert_eq!(facts.len(), 2);
    let written: Value = serde_json::from_str(example).unwrap();
    assert_eq!(serde_json::to_value(&ask).unwrap(), written);
    let (_, said) = DOCUMENT.split_once("Every ask also has").unwrap();
    let (said, _) = said.split_once("as above").unwrap();
    for member in written.as_object().unwrap().keys() {
        let is_said = member == "kind" || said.contains(&format!("`{member}`"));
        assert!(is_said, "{member}");
    }
}

#[test]
fn every_place_within_the_page_is_the_page_also_where_it_bears_the_name_of_a_file() {
    let stage = Stage::new(8);
    let status = |path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{{P}}");
        stage.status(&head, "")
    };
    for place in [
        "/",
        "/flows",
        "/p/demo/f/x/files/record/report.md",
        "/p/demo/f/x/files/record/a%20report.md",
        "/p/my%20project/f/x/r/owner/transcript",
        "/inbox/x/text/owner.2",
    ] {
        assert_eq!(status(place), 200, "{place}");
    }
    for none in ["/report.md", "/assets/none.js", "/flows/..%2f", "/pp/x.md"] {
        assert_eq!(status(none), 404, "{none}");
    }
}
