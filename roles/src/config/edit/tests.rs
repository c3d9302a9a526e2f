//! Lines are put in, changed and taken out, and no other byte moves.

use super::*;

fn provider() -> NewProvider {
    NewProvider {
        name: "local".into(),
        wire: Some("openai-chat".into()),
        base_url: Some("http://127.0.0.1:1234/v1".into()),
        key: Some(("env".into(), "LOCAL_KEY".into())),
    }
}

fn model(name: &str) -> NewModel {
    NewModel {
        name: name.into(),
        provider: "local".into(),
        id: "a: \"b\" #c".into(),
        window: 10_000,
        max_output: Some(100),
        images: false,
        prices: Some(NewPrices {
            input: "0.5".into(),
            output: "2".into(),
            cache_read: None,
            cache_write: None,
        }),
    }
}

#[test]
fn a_model_is_added_to_nothing_and_is_the_default_one() {
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let catalog = parse(&text).unwrap();
    assert_eq!(catalog.model.as_deref(), Some("small"));
    assert_eq!(catalog.models["small"].id, "a: \"b\" #c");
    assert_eq!(catalog.models["small"].price.unwrap().input, 500_000);
}

#[test]
fn what_was_there_stays_as_it_was_written() {
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let text = format!("# mine\n{text}mcp-servers: {{}}   # later\n");
    let more = with_model(&text, Some(&provider()), &model("big")).unwrap();
    for line in text.lines() {
        assert!(more.contains(line), "{line}");
    }
    assert_eq!(parse(&more).unwrap().models.len(), 2);
    assert_eq!(parse(&more).unwrap().model.as_deref(), Some("small"));
}

#[test]
fn a_name_that_is_taken_and_a_file_that_is_faulty_are_left_alone() {
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let again = with_model(&text, None, &model("small"));
    assert_eq!(again, Err(ConfigEditFault::Taken("small".into())));
    let faulty = with_model("models: 3\n", None, &model("small"));
    assert!(
        matches!(faulty, Err(ConfigEditFault::Faulty(_))),
        "{faulty:?}"
    );
}

#[test]
fn a_file_in_another_layout_is_left_to_its_owner() {
    let text = "models: { }\nproviders: { local: { wire: openai-chat } }\n";
    let edited = with_model(text, None, &model("small"));
    assert!(
        matches!(edited, Err(ConfigEditFault::ByHand(_))),
        "{edited:?}"
    );
}

#[test]
fn the_default_is_replaced_in_its_place() {
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let text = with_model(&text, None, &model("big")).unwrap();
    let text = with_default(&text, "big").unwrap();
    assert_eq!(text.matches("\nmodel:").count(), 1);
    assert!(with_default(&text, "none").is_err());
}

/// As a person writes it: other indents, comments everywhere, blank lines, another order, quotes.
const BY_HAND: &str = r#"# mine
models:   # those I pay for

    # the cheap one
    small: { provider: p, id: "s:1", window: 10_000, price: { input: 1, output: 2 } }   # keep

    big:
        # why this window: measured
        id: 'b'     # its name there
        provider: p
        window: 20000   # tokens
        price:
            output: 4   # dear
            input: 3

        effort: low
        thinking: levels
    # the last one
    "last":
        provider: q
        id: l
        window: 30000

# chosen on a Monday
model: "big"   # the default
limits: { answers: 9 }
providers:
    p: { wire: openai-chat }
    # in the cellar
    q:
        wire: openai-chat
        base-url: http://127.0.0.1:1/v1
        # no key
"#;

fn without(
    name: &str,
    default: Option<&str>,
    with_provider: bool,
) -> Result<String, ConfigEditFault> {
    let how = ModelToRemove {
        default,
        with_provider,
    };
    without_model(BY_HAND, name, how).map(|removed| removed.text)
}

/// The lines that only one of the two has.
fn difference(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let only = |one: &str, other: &str| {
        let lines = one.split_inclusive('\n');
        let lines = lines.filter(|line| !other.contains(*line));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    (only(before, after), only(after, before))
}

#[test]
fn a_model_is_taken_out_and_every_other_byte_stays() {
    for eol in ["\n", "\r\n"] {
        let text = BY_HAND.replace('\n', eol);
        let start = text.find("    \"last\"").unwrap();
        let end = text[start..].find("window: 30000").unwrap() + start + "window: 30000".len();
        let removed = without_model(&text, "last", ModelToRemove::default()).unwrap();
        assert_eq!(
            removed.text,
            [&text[..start], &text[end + eol.len()..]].concat()
        );
        assert!(removed.comment_stays);
        assert_eq!(removed.provider, "q");
    }
    let (gone, new) = difference(BY_HAND, &without("small", None, true).unwrap());
    assert_eq!((gone.len(), new.len()), (1, 0), "{gone:?}");
    assert!(
        gone[0].starts_with("small:"),
        "its provider has another model"
    );
    let (gone, new) = difference(BY_HAND, &without("last", None, true).unwrap());
    assert!(
        gone.contains(&"q:".to_owned()) && new.is_empty(),
        "{gone:?}"
    );
    assert!(!gone.contains(&"# in the cellar".to_owned()), "{gone:?}");
}

#[test]
fn the_default_model_is_taken_out_only_with_another_one_for_it() {
    let refused = without("big", None, false).unwrap_err();
    assert!(
        matches!(refused, ConfigEditFault::IsDefault { .. }),
        "{refused:?}"
    );
    let after = without("big", Some("last"), false).unwrap();
    assert!(
        after.contains("# chosen on a Monday\nmodel: last   # the default\n"),
        "{after}"
    );
    assert!(after.contains("    # the last one\n"), "{after}");
    assert!(!after.contains("effort"), "{after}");
    let unknown = without("big", Some("lost"), false).unwrap_err();
    let ConfigEditFault::NoModel { near, .. } = unknown else {
        panic!("{unknown:?}");
    };
    assert_eq!(near, ["last"]);
    let itself = without("big", Some("big"), false).unwrap_err();
    assert!(
        matches!(itself, ConfigEditFault::NoModel { .. }),
        "{itself:?}"
    );
}

#[test]
fn the_last_model_takes_the_lines_that_name_it_with_it_and_one_can_be_added_again() {
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let text = format!("{text}chooser: small\nlimits: {{ answers: 9 }}\n");
    let how = ModelToRemove {
        with_provider: true,
        ..ModelToRemove::default()
    };
    let removed = without_model(&text, "small", how).unwrap();
    assert_eq!(
        removed.text,
        "providers:\nmodels:\nlimits: { answers: 9 }\n"
    );
    let again = with_model(&removed.text, Some(&provider()), &model("small")).unwrap();
    assert_eq!(parse(&again).unwrap().model.as_deref(), Some("small"));
}

#[test]
fn a_model_that_chooses_is_not_taken_out() {
    let text = format!("{BY_HAND}chooser: small\n");
    let refused = without_model(&text, "small", ModelToRemove::default());
    assert_eq!(refused, Err(ConfigEditFault::IsChooser("small".into())));
}

#[test]
fn members_change_in_their_places_and_comments_beside_them_stay() {
    let prices = |input: &str, output: &str, read: Option<&str>| NewPrices {
        input: input.into(),
        output: output.into(),
        cache_read: read.map(str::to_owned),
        cache_write: None,
    };
    let changes = ModelChanges {
        id: Some("new: name".into()),
        window: Some(40_000),
        max_output: Some(900),
        prices: Some(prices("5", "6", Some("0.5"))),
        ..ModelChanges::default()
    };
    let changed = with_changes(BY_HAND, "big", &changes).unwrap();
    let expected = BY_HAND
        .replace("id: 'b'     #", "id: \"new: name\"     #")
        .replace(
            "window: 20000   # tokens\n",
            "window: 40000   # tokens\n        max-output: 900\n",
        )
        .replace(
            "output: 4   # dear\n",
            "output: 6   # dear\n            cache-read: 0.5\n",
        )
        .replace("input: 3\n", "input: 5\n");
    assert_eq!(changed.text, expected);
    assert_eq!(changed.after.price.unwrap().cache_read, 500_000);
    let changes = ModelChanges {
        max_output: Some(700),
        prices: Some(prices("0.1", "0.2", Some("0.01"))),
        ..ModelChanges::default()
    };
    let changed = with_changes(BY_HAND, "small", &changes).unwrap();
    let expected = BY_HAND.replace(
        "window: 10_000, price: { input: 1, output: 2 } }",
        "window: 10_000, max-output: 700, price: { input: 0.1, output: 0.2, cache-read: 0.01 } }",
    );
    assert_eq!(changed.text, expected);
    let changes = ModelChanges {
        prices: Some(prices("1", "2", None)),
        ..ModelChanges::default()
    };
    let changed = with_changes(BY_HAND, "last", &changes).unwrap();
    let expected = "window: 30000\n        price: { input: 1, output: 2 }\n";
    assert_eq!(changed.text, BY_HAND.replace("window: 30000\n", expected));
}

#[test]
fn the_place_of_a_key_changes_for_all_models_of_the_provider_and_nothing_else_does() {
    let key = |how: &str, place: &str| ModelChanges {
        key: Some((how.to_owned(), place.to_owned())),
        ..ModelChanges::default()
    };
    let text = with_model("", Some(&provider()), &model("small")).unwrap();
    let changed = with_changes(&text, "small", &key("keyring", "local")).unwrap();
    let expected = text.replace("{ env: \"LOCAL_KEY\" }", "{ keyring: \"local\" }");
    assert_eq!(changed.text, expected);
    let added = with_changes(BY_HAND, "last", &key("env", "Q_KEY")).unwrap();
    let line = "base-url: http://127.0.0.1:1/v1\n        key: { env: \"Q_KEY\" }\n";
    let expected = BY_HAND.replace("base-url: http://127.0.0.1:1/v1\n", line);
    assert_eq!(added.text, expected);
    let refused = with_changes(BY_HAND, "last", &key("env", "not a name")).unwrap_err();
    assert!(matches!(refused, ConfigEditFault::Unfit(_)), "{refused:?}");
}

#[test]
fn a_change_that_does_not_fit_is_refused_with_what_is_wrong() {
    let changes = ModelChanges {
        max_output: Some(20_000),
        ..ModelChanges::default()
    };
    let refused = with_changes(BY_HAND, "big", &changes).unwrap_err();
    let ConfigEditFault::Unfit(faults) = refused else {
        panic!("{refused:?}");
    };
    assert!(faults[0].message.contains("`max-output`"), "{faults:?}");
    let refused = with_changes(BY_HAND, "bog", &changes).unwrap_err();
    assert!(
        matches!(refused, ConfigEditFault::NoModel { .. }),
        "{refused:?}"
    );
}

#[test]
fn a_value_that_others_share_is_left_to_its_owner() {
    let text = "providers: { p: { wire: openai-chat } }\nmodels:\n  a:\n    provider: p\n    id: &x same\n    window: 9000\n  b:\n    provider: p\n    id: *x\n    window: 9000\n";
    let id = |name: &str| {
        let changes = ModelChanges {
            id: Some("other".into()),
            ..ModelChanges::default()
        };
        with_changes(text, name, &changes)
    };
    // Only the model that was named changes, and the anchor is not lost to the other.
    for name in ["a", "b"] {
        match id(name) {
            Ok(changed) => assert_eq!(changed.after.id, "other"),
            Err(fault) => assert!(matches!(fault, ConfigEditFault::Unclear(_)), "{fault:?}"),
        }
    }
    let flow = "models: { a: { provider: p, id: x, window: 9000 } }\nproviders: { p: { wire: openai-chat } }\n";
    let refused = without_model(flow, "a", ModelToRemove::default()).unwrap_err();
    assert!(
        matches!(refused, ConfigEditFault::Unclear(_)),
        "{refused:?}"
    );
}

#[test]
fn a_model_is_added_under_others_as_they_are_written() {
    for text in [BY_HAND.to_owned(), BY_HAND.replace('\n', "\r\n")] {
        let mut new = model("new");
        new.provider = "p".into();
        let more = with_model(&text, None, &new).unwrap();
        let line = more.lines().find(|line| line.trim() == "new:").unwrap();
        assert!(line.starts_with("    new:"), "{more}");
        let at = text.find("pay for").unwrap() + "pay for".len();
        assert!(
            more.starts_with(&text[..at]) && more.ends_with(&text[at..]),
            "{more}"
        );
        let default = with_default(&text, "last").unwrap();
        assert_eq!(default, text.replace("model: \"big\" ", "model: last "));
    }
}

#[test]
fn names_that_yaml_takes_for_something_else_are_quoted() {
    for name in ["1.5", "true", "No", "a:b", "-x", "gpt-5.1"] {
        let text = with_model("", Some(&provider()), &model(name)).unwrap();
        assert_eq!(parse(&text).unwrap().model.as_deref(), Some(name), "{text}");
        let removed = without_model(&text, name, ModelToRemove::default()).unwrap();
        assert!(removed.config.models.is_empty(), "{name}");
    }
}
