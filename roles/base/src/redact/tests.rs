//! What is found, what is left alone, and that pieces make no difference.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::*;
use canaries::canaries;

mod canaries;

fn plain() -> Redactor {
    Redactor::new(&[])
}

#[test]
fn six_kinds_of_canaries_are_found_in_any_text() {
    for (kind, canary) in canaries() {
        for text in [
            canary.clone(),
            format!("Incorrect API key provided: {canary}."),
            format!("export KEY='{canary}'\n"),
            format!("{{\"key\":\"{canary}\"}}"),
            format!("ü{canary}ü"),
        ] {
            let redacted = plain().redact(&text);
            assert!(redacted.contains(MARK), "{kind}: {redacted}");
            for secret in ["CANARY", "MIIEvQ", "c2lnbmF0"] {
                assert!(!redacted.contains(secret), "{kind}: {redacted}");
            }
        }
    }
}

#[test]
fn further_kinds_are_found() {
    for text in [
        "Authorization: Bearer abcdefghij0123456789".to_owned(),
        "K09 origin\thttps://oauth2:abcdef@git.example/x.git".to_owned(),
        "https://0123456789abcdef0123456789abcdef@git.example/x.git".to_owned(),
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCY".to_owned(),
        format!("sk-{}", "abcdefghijklmnopqrst0123"),
    ] {
        assert!(plain().redact(&text).contains(MARK), "{text}");
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "task-management sk-loading-spinner-container-element",
        "mailto:a@b.example https://example.com/a@b user@host:22",
        "let token = parser.next_token();",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "eyJ is how they begin, eyJ.a.b too",
        "MY_TOKEN=$OTHER_TOKEN",
        "ghp_short",
        "https://example.com:8080/",
    ] {
        assert_eq!(plain().redact(text), text);
    }
}

#[test]
fn a_known_value_is_found_in_every_usual_spelling() {
    let value = "hunter2-hunter2/correct horse&battery".to_owned();
    let redactor = Redactor::new(&[value.clone(), "short".to_owned()]);
    let colored: String = value.chars().map(|c| format!("{c}\u{1b}[31m")).collect();
    for text in [
        format!("a {value} b"),
        format!("a {colored} b"),
        format!("u={}&x", percent(&value)),
        STANDARD.encode(format!("x{value}y")),
        STANDARD.encode(format!("xy{value}")),
        STANDARD.encode(format!("xyz{value}z")),
    ] {
        let redacted = redactor.redact(&text);
        assert!(redacted.contains(MARK), "{text} became {redacted}");
    }
    assert_eq!(redactor.redact("short"), "short");
}

#[test]
fn k05_a_value_broken_over_lines_is_a_known_limit() {
    let redactor = Redactor::new(&["hunter2-hunter2-hunter2".to_owned()]);
    let text = "hunter2-hun\nter2-hunter2";
    assert_eq!(redactor.redact(text), text);
}

#[test]
fn a_secret_cut_anywhere_is_found_in_a_stream() {
    for (kind, canary) in canaries() {
        let text = format!("before {canary} after");
        let whole = plain().redact(&text);
        for cut in 0..=text.len() {
            let mut stream = RedactedStream::new(plain());
            let out = [
                stream.push(&text[..cut]),
                stream.push(&text[cut..]),
                stream.finish(),
            ];
            assert_eq!(out.concat(), whole, "{kind} cut at {cut}");
        }
        let mut stream = RedactedStream::new(plain());
        let bytes: String = text.chars().map(|c| stream.push(&c.to_string())).collect();
        assert_eq!(bytes + &stream.finish(), whole, "{kind} byte by byte");
    }
}

#[test]
fn a_secret_that_never_ends_holds_nothing_but_its_mark() {
    let mut stream = RedactedStream::new(plain());
    let mut out = stream.push("-----BEGIN RSA PRIVATE KEY-----");
    for _ in 0..10_000 {
        out.push_str(&stream.push("MIIEvQMIIEvQMIIEvQ"));
        assert!(stream.held.len() <= HELD);
    }
    out.push_str(&stream.push(" end"));
    out.push_str(&stream.finish());
    assert_eq!(out, format!("{MARK} end"));
}

const HELD: usize = 33 * 1024;

proptest! {
    #[test]
    fn pieces_make_no_difference(
        parts in prop::collection::vec(
            prop_oneof![
                (0_usize..6).prop_map(|n| canaries()[n].1.clone()),
                "[a-z \n@:/=.-]{0,12}",
                Just("Bearer ".to_owned()),
                Just("hunter2 hunter2".to_owned()),
                Just("-----BEGIN ".to_owned()),
                Just("\u{1b}[1m".to_owned()),
            ],
            0..8,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let redactor = Redactor::new(&["hunter2 hunter2".to_owned()]);
        let text = parts.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let mut stream = RedactedStream::new(redactor.clone());
        let mut out: String =
            places.windows(2).map(|pair| stream.push(&text[pair[0]..pair[1]])).collect();
        out.push_str(&stream.finish());
        prop_assert_eq!(out, redactor.redact(&text));
    }
}
