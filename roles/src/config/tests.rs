//! What a configuration means, and the faults that are reported about it.

use a_society_providers::http::Wire;
use a_society_providers::{Effort, Thinking};

use super::*;

/// The example of the reference, which must be right.
fn reference() -> String {
    let page = include_str!("mod.rs");
    let lines = page.lines().map(|line| line.trim_start_matches("//!"));
    let inside = lines.skip_while(|line| line.trim() != "```yaml").skip(1);
    let example = inside.take_while(|line| line.trim() != "```");
    example
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect()
}

fn faults(text: &str) -> Vec<String> {
    let faults = ModelsConfig::parse(text, &["tools"]).expect_err(text);
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn the_example_of_the_reference_is_read_as_it_says() {
    let config = ModelsConfig::parse(&reference(), &[]).unwrap();
    let (model, provider) = config.find("sonnet").unwrap();
    assert_eq!(provider.wire, Wire::Anthropic);
    assert_eq!(provider.base_url, "https://api.anthropic.com");
    assert_eq!(
        provider.key,
        Some(KeySource::Env("ANTHROPIC_API_KEY".into()))
    );
    assert_eq!(
        (model.thinking, model.effort),
        (Thinking::Budget, Some(Effort::Medium))
    );
    let price = model.price.unwrap();
    let prices = [
        price.input,
        price.output,
        price.cache_read,
        price.cache_write,
    ];
    assert_eq!(prices, [3_000_000, 15_000_000, 300_000, 3_750_000]);
    let (small, local) = config.find("small").unwrap();
    assert_eq!((small.max_output_tokens, small.price), (8_000, None));
    assert!(!local.chat.completion_tokens && small.efforts.is_empty());
    assert_eq!(config.model.as_deref(), Some("sonnet"));
    assert_eq!(config.proxy.as_deref(), Some("http://proxy.example:3128"));
}

#[test]
fn nothing_is_a_configuration_too() {
    for text in ["", "\n# only words\n", "---\n", "tools: {}\n"] {
        assert_eq!(
            ModelsConfig::parse(text, &["tools"]).unwrap(),
            ModelsConfig::default()
        );
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_where() {
    let text = "\
model: none
colour: red
providers:
  a:
    wire: smoke
    key: sk-live-0123456789
  b:
    wire: openai-chat
    base-url: http://models.example/v1
    key: { env: B_KEY, file: /k }
  c:
    wire: openai-responses
    base-url: https://me:secret@c.example/v1?x=1
    output-limit: max-tokens
    headers: { authorization: Bearer x }
models:
  m:
    provider: d
    id: ''
    window: 12
    effort: loud
    efforts: [low]
    price: { input: -1 }
  n: 7
";
    insta::assert_snapshot!(faults(text).join("\n"), @r"
    line 1, column 8: there is no model `none` under `models`
    line 2, column 1: the configuration has no key `colour`; its keys are `model`, `choose`, `chooser`, `proxy`, `trusted-certificates`, `providers`, `models`, `tools`
    line 5, column 11: `wire` must be one of `anthropic`, `openai-chat`, `openai-responses`
    line 6, column 10: a key does not belong in this file: say where it is, as with `key: { env: NAME }`, `{ keyring: NAME }` or `{ file: PATH }`
    line 9, column 15: the key would be sent over plain http, where others can read it; use https, or say `plain-http: true`
    line 10, column 10: `key` needs exactly one of `env`, `keyring` and `file`
    line 13, column 15: `base-url` carries a name or a key, which do not belong there
    line 14, column 19: `output-limit` is for the wire `openai-chat` only
    line 15, column 31: `authorization` carries a key, which belongs under `key`
    line 18, column 15: there is no provider `d` under `providers`
    line 19, column 9: `id` is empty
    line 20, column 13: `window` must be a whole number from 2048 to 1000000000
    line 21, column 13: `effort` must be one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`
    line 21, column 13: `effort` needs `thinking: levels` or `thinking: budget`
    line 22, column 14: `efforts` needs `thinking: levels` or `thinking: budget`
    line 23, column 12: `price` needs `output`
    line 23, column 21: `input` must be a price for a million tokens, such as 3.00
    line 24, column 6: the model `n` is a number and must be a mapping
    ");
}

#[test]
fn a_key_is_not_sent_where_others_can_read_it_unless_that_is_said() {
    let config = |url: &str, more: &str| {
        format!(
            "providers:\n  p:\n    wire: openai-chat\n    base-url: {url}\n    key: {{ env: K }}\n{more}"
        )
    };
    for url in [
        "http://10.0.0.7:8000/v1",
        "http://localhost.evil.example/v1",
    ] {
        assert!(faults(&config(url, ""))[0].contains("plain http"), "{url}");
        assert!(ModelsConfig::parse(&config(url, "    plain-http: true\n"), &[]).is_ok());
    }
    for url in [
        "http://127.0.0.1:1/v1",
        "http://[::1]:1/v1",
        "http://localhost/v1",
        "https://x.example",
    ] {
        assert!(ModelsConfig::parse(&config(url, ""), &[]).is_ok(), "{url}");
    }
}

#[test]
fn no_fault_repeats_what_may_be_a_key() {
    for key in [
        "sk-live-0123456789",
        "{ env: sk-live-0123456789 }",
        "{ enw: sk-live-0123456789 }",
    ] {
        let text = format!("providers:\n  p:\n    wire: openai-chat\n    key: {key}\n");
        let faults = faults(&text).join("\n");
        assert!(!faults.contains("0123456789"), "{faults}");
    }
}

#[test]
fn only_the_home_of_the_wire_takes_its_newer_members_unless_said() {
    let dialect = |more: &str| {
        let text = format!("providers:\n  p:\n    wire: openai-chat\n{more}");
        let config = ModelsConfig::parse(&text, &[]).unwrap();
        let chat = config.providers["p"].chat;
        (chat.completion_tokens, chat.cache_key)
    };
    assert_eq!(dialect(""), (true, true));
    assert_eq!(
        dialect("    base-url: http://localhost:1/v1\n"),
        (false, false)
    );
    let said = "    base-url: https://x.example\n    output-limit: max-completion-tokens\n    cache-key: true\n";
    assert_eq!(dialect(said), (true, true));
}

#[test]
fn a_search_service_needs_a_key_that_is_elsewhere_and_an_address_that_hides_it() {
    let read = |text: &str| parse_search(text);
    assert_eq!(read("").unwrap(), None);
    assert_eq!(read("model: x\n").unwrap(), None);
    let found = read("search: { key: { env: T } }\n").unwrap().unwrap();
    assert_eq!(found.endpoint, "https://api.tavily.com/search");
    assert_eq!(found.key, KeySource::Env("T".to_owned()));
    let own = read("search: { endpoint: 'http://127.0.0.1:9/s', key: { file: ~/k } }\n");
    assert_eq!(own.unwrap().unwrap().endpoint, "http://127.0.0.1:9/s");
    for (text, said) in [
        ("search: {}\n", "needs `key`"),
        ("search: tvly-secret\n", "must be a mapping"),
        (
            "search: { key: tvly-secret }\n",
            "a key does not belong in this file",
        ),
        ("search: { key: { env: T }, url: x }\n", "url"),
        (
            "search: { key: { env: T }, endpoint: 'http://10.0.0.1/s' }\n",
            "plain http",
        ),
        (
            "search: { key: { env: T }, endpoint: nowhere }\n",
            "is no address",
        ),
    ] {
        let faults: Vec<String> = read(text)
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect();
        let faults = faults.join("\n");
        assert!(
            faults.contains(said) && !faults.contains("tvly-secret"),
            "{text}: {faults}"
        );
    }
}

#[test]
fn what_a_model_chooses_is_a_list_of_what_can_be_chosen() {
    let text = |choose: &str, chooser: &str| {
        format!(
            "choose: {choose}\nchooser: {chooser}\nproviders: {{ p: {{ wire: anthropic }} }}\n\
             models: {{ m: {{ provider: p, id: m, window: 9000 }} }}\n"
        )
    };
    let config = ModelsConfig::parse(&text("[model, mcp-servers]", "m"), &[]).unwrap();
    assert_eq!(config.choose, ["model", "mcp-servers"]);
    assert_eq!(config.chooser.as_deref(), Some("m"));
    for (choose, chooser, said) in [
        ("[tools]", "m", "a model cannot choose `tools`"),
        ("all", "m", "must be a list"),
        ("[model]", "gone", "there is no model `gone`"),
    ] {
        let faults = ModelsConfig::parse(&text(choose, chooser), &[]).unwrap_err();
        assert!(
            faults.iter().any(|fault| fault.to_string().contains(said)),
            "{faults:?}"
        );
    }
}

#[test]
fn how_far_tools_reach_is_read_and_as_little_as_there_is_if_nothing_is_said() {
    use crate::tool::{Scope, ToolReach};

    for (text, wanted) in [
        ("", ToolReach::default()),
        ("model: m\n", ToolReach::default()),
        (
            "tools: { scope: project, folders: [~/texts, /srv], network: true }",
            ToolReach {
                scope: Scope::Project,
                folders: vec!["~/texts".into(), "/srv".into()],
                network: true,
                irreversible: Vec::new(),
            },
        ),
        (
            "tools: { irreversible: [./deploy.sh] }",
            ToolReach {
                irreversible: vec!["./deploy.sh".to_owned()],
                ..ToolReach::default()
            },
        ),
        (
            "tools: { scope: full }",
            ToolReach {
                scope: Scope::Full,
                ..ToolReach::default()
            },
        ),
    ] {
        assert_eq!(parse_tools(text).unwrap(), wanted, "{text}");
    }
    for (text, why) in [
        ("tools: { scope: wide }", "sandboxed"),
        ("tools: { reach: full }", "reach"),
        ("tools: { network: maybe }", "network"),
        ("tools: { scope: project, folders: [texts] }", "absolute"),
        ("tools: { folders: [/srv] }", "scope: project"),
        ("tools: full", "tools"),
    ] {
        let faults = parse_tools(text).unwrap_err();
        assert!(
            faults.iter().any(|it| it.to_string().contains(why)),
            "{text}: {faults:?}"
        );
    }
}

#[test]
fn limits_have_defaults_and_say_what_is_wrong_with_them() {
    let usual = ConfigBounds::default();
    for (text, wanted) in [
        ("", usual),
        ("model: a", usual),
        (
            "limits: { tokens: none }",
            ConfigBounds {
                tokens: None,
                ..usual
            },
        ),
        (
            "limits: { tokens: 5000, answers: 12, same-call: 8 }",
            ConfigBounds {
                tokens: Some(5000),
                answers: 12,
                same_call: 8,
            },
        ),
    ] {
        assert_eq!(parse_limits(text).unwrap(), wanted, "{text}");
    }
    for (text, why) in [
        ("limits: { tokens: 0 }", "tokens"),
        ("limits: { tokens: many }", "tokens"),
        ("limits: { answers: 0 }", "answers"),
        ("limits: { same-call: 3 }", "from 4 to"),
        ("limits: { turns: 3 }", "turns"),
        ("limits: 7", "limits"),
    ] {
        let faults = parse_limits(text).unwrap_err();
        assert!(
            faults.iter().any(|it| it.to_string().contains(why)),
            "{text}: {faults:?}"
        );
    }
}
