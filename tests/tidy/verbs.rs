//! A row for every verb: which test looks at what changes at the far end, when the operator says it.
//!
//! The far end is where it matters: the request that left, the process that ran or ended, the
//! file that changed, the text on the screen. A record in the journal is not one.

use std::collections::BTreeSet;

use super::repository::read;
use super::terminal_verbs::TERMINAL;
use super::{Finding, assert_kept};

/// Every command of the terminal, as docs/cli.md has them.
const REFERENCE: &str = "docs/cli.md";

/// Every verb of the operator, which is the same on the page, over the control socket and in the machine.
const VERBS: &str = "state/facts/src/verb.rs";

/// What the page wants of the server itself.
const PROTOCOL: &str = "operator-ui/src/protocol/command.rs";

/// Every change of the operator's configuration that the page can make.
const SETTINGS_PROTOCOL: &str = "operator-ui/src/protocol/settings.rs";

/// A verb, the file of its test below `tests/`, and the test.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// Where a row names a test of the terminal, the page says the same verb, which the server hands on as it is.
const PAGE: &[Row] = &[
    (
        "Reply",
        "served/chaos.rs",
        "however_often_windows_break_off_and_servers_die_nothing_is_lost_or_doubled_and_one_answer_counts",
    ),
    (
        "Approve",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Decline",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Allow",
        "walk/decided.rs",
        "calls_run_or_do_not_as_the_page_says_and_the_model_reads_why",
    ),
    (
        "Deny",
        "walk/decided.rs",
        "calls_run_or_do_not_as_the_page_says_and_the_model_reads_why",
    ),
    ("Rules", RULES_OF_A_FLOW.0, RULES_OF_A_FLOW.1),
    (
        "Mode",
        "walk/decided.rs",
        "calls_run_or_do_not_as_the_page_says_and_the_model_reads_why",
    ),
    (
        "Configure",
        "walk/decided.rs",
        "a_session_is_summarised_restored_and_given_another_model_as_the_page_says",
    ),
    (
        "Budget",
        "served/operated.rs",
        "a_role_that_waits_for_a_budget_says_which_and_goes_on_when_it_is_raised",
    ),
    (
        "Steer",
        "walk/heard.rs",
        "words_over_the_page_s_socket_are_in_the_next_request_of_the_role",
    ),
    (
        "Stop",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Pause",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Unpause",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Cancel",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Retry",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "RetryNow",
        "walk/hurried.rs",
        "a_request_that_is_to_wait_for_minutes_is_made_at_once_and_the_flow_goes_on",
    ),
    (
        "Reopen",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_page_says",
    ),
    (
        "Revise",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_page_says",
    ),
    (
        "Improve",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_page_says",
    ),
    (
        "Feedback",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_page_says",
    ),
    (
        "Compact",
        "walk/decided.rs",
        "a_session_is_summarised_restored_and_given_another_model_as_the_page_says",
    ),
    ("Title", SESSION_TESTS, CUT_TEST),
    ("Close", SESSION_TESTS, CUT_TEST),
    ("Open", SESSION_TESTS, CUT_TEST),
    ("Inject", SESSION_TESTS, CUT_TEST),
    ("Trim", SESSION_TESTS, CUT_TEST),
    ("Reset", SESSION_TESTS, CUT_TEST),
    (
        "Restore",
        "walk/decided.rs",
        "a_session_is_summarised_restored_and_given_another_model_as_the_page_says",
    ),
    (
        "Propose",
        "examples/served.rs",
        "what_was_found_stands_on_the_page_with_the_change_that_came_of_it",
    ),
    (
        "Change",
        "examples/findings.rs",
        "a_finding_becomes_a_diff_and_a_change_once_the_operator_applies_it",
    ),
    (
        "Resume",
        "../operator-ui/web/tests/driven.test.mjs",
        "a flow that nobody drives is resumed on the page, and its next request leaves with what was said before",
    ),
    (
        "Fork",
        "../operator-ui/web/tests/binary.test.mjs",
        "a role's finding becomes a change of the project on the page of the program, and a fork hears a first message",
    ),
];

pub(super) const SESSION_TESTS: &str = "walk/session_verbs.rs";

const CUT_TEST: &str =
    "a_session_is_changed_over_the_page_s_socket_and_the_next_request_has_what_is_left";

const MODELS_TEST: &str = "a first model is added, tried, made the default and removed on the page, and a flow that waited for one goes on with it";

const SERVERS_TEST: &str = "a server of tools is shown before it is saved, started to try it out with its secret, changed and removed on the page";

pub(super) const RULES_TEST: &str = "rules are said beforehand on the page for all flows and for one, and calls run or do not because of them";

const POLICIES_TEST: &str = "what holds for all flows is reviewed, saved and tried on the page, and the next call is decided by it";

const RULES_OF_A_FLOW: (&str, &str) = (
    "../operator-ui/web/tests/driven.test.mjs",
    "a rule that a flow is given on the page answers what it asks and lets the next call run, and is asked about again once it is taken back",
);

const SEARCH_TEST: &str = "web search is set up by the place of its key, tried with one search and taken away on the page";

/// The settings of the page are looked at in a browser.
const SETTINGS: &[Row] = &[
    ("AddModel", SETTINGS_TESTS, MODELS_TEST),
    ("EditModel", SETTINGS_TESTS, MODELS_TEST),
    ("RemoveModel", SETTINGS_TESTS, MODELS_TEST),
    ("UseModel", SETTINGS_TESTS, MODELS_TEST),
    ("AddRule", SETTINGS_TESTS, RULES_TEST),
    ("RemoveRule", SETTINGS_TESTS, RULES_TEST),
    ("SetPolicy", SETTINGS_TESTS, POLICIES_TEST),
    ("SetSearch", SETTINGS_TESTS, SEARCH_TEST),
    ("RemoveSearch", SETTINGS_TESTS, SEARCH_TEST),
    ("AddServer", SETTINGS_TESTS, SERVERS_TEST),
    ("EditServer", SETTINGS_TESTS, SERVERS_TEST),
    ("RemoveServer", SETTINGS_TESTS, SERVERS_TEST),
];

pub(super) const SETTINGS_TESTS: &str = "../operator-ui/web/tests/settings.test.mjs";

/// Where a route of the server is a verb of its own: what the page makes, starts, writes or removes without a
/// command of the socket.
const ROUTES: &str = "operator-ui/src/server/routes.rs";

/// A row for each function of that file that answers a POST.
const POSTED: &[Row] = &[
    (
        "session",
        "served/door.rs",
        "an_address_signs_one_browser_in_and_the_next_has_an_address_of_its_own",
    ),
    (
        "put_in_record",
        "../operator-ui/web/tests/person.test.mjs",
        "an approval shows the text and then what changed in it, and a turn of one's own is sent back and handed over on the page",
    ),
    (
        "upload",
        "../operator-ui/web/tests/handed.test.mjs",
        "a person uploads a file that is no text and hands over one of the project, byte for byte, and the next role is told of it",
    ),
    (
        "judged_graph",
        "served/operated.rs",
        "what_another_graph_changes_is_told_before_it_is_walked_and_the_flow_hears_nothing_of_it",
    ),
    (
        "make_project",
        "examples/served.rs",
        "a_project_and_an_example_that_are_made_from_the_page_lie_on_the_disk_and_run",
    ),
    (
        "begin",
        "examples/served.rs",
        "a_flow_started_from_the_page_ends_as_its_project_chose_or_as_was_wished_for_it",
    ),
    (
        "remove",
        "examples/served.rs",
        "a_flow_is_removed_from_the_page_as_its_plan_says_and_not_while_it_is_open",
    ),
    (
        "session_send",
        "walk/sessions_served.rs",
        "another_program_lists_sessions_reads_one_and_gets_the_answer_to_its_message",
    ),
    (
        "deliver",
        "walk/hooked.rs",
        "a_signed_request_begins_one_chat_with_its_body_and_a_repeated_one_finds_it",
    ),
    ("configure", SETTINGS_TESTS, MODELS_TEST),
    ("try_out", SETTINGS_TESTS, MODELS_TEST),
    (
        "change_skill",
        "../operator-ui/web/tests/skills.test.mjs",
        "a skill is written, checked, changed and removed on the page, and roles are told of it and read it as it is then",
    ),
];

/// The commands of the reference, also those within another.
fn of_reference(page: &str) -> BTreeSet<String> {
    let heads = page
        .lines()
        .filter_map(|line| line.strip_prefix("## `a-society "));
    heads
        .map(|head| head.trim_end_matches('`').to_owned())
        .collect()
}

/// The variants of the first enum of this name in a file.
fn of_protocol(text: &str, name: &str) -> BTreeSet<String> {
    let heads = ["pub enum", "pub(crate) enum"].map(|sees| format!("{sees} {name} {{"));
    let mut lines = text
        .lines()
        .skip_while(|line| !heads.iter().any(|head| line.trim_start().starts_with(head)));
    let indent = lines
        .next()
        .map_or(0, |line| line.len() - line.trim_start().len());
    let body = lines
        .take_while(|line| line.len() - line.trim_start().len() > indent || line.trim() != "}");
    let variants = body.filter_map(|line| {
        let name = line.strip_prefix(&" ".repeat(indent + 4))?;
        name.starts_with(|letter: char| letter.is_ascii_uppercase())
            .then_some(name)
    });
    let names =
        variants.filter_map(|line| line.split(|letter: char| !letter.is_alphanumeric()).next());
    names.map(str::to_owned).collect()
}

/// The functions that answer a POST in a table of routes.
fn of_routes(text: &str) -> BTreeSet<String> {
    let posted = text.split("post(").skip(1);
    let names = posted.filter_map(|rest| rest.split_once(')').map(|(name, _)| name));
    names.map(str::to_owned).collect()
}

/// Whether a file has a test of this name; one of the page in a browser is named by its sentence.
fn has_test(text: &str, name: &str) -> bool {
    if name.contains(' ') {
        return text.contains(&format!("\ntest(\"{name}\""));
    }
    let lines: Vec<&str> = text.lines().collect();
    let head = format!("fn {name}(");
    let mut tests = lines.windows(2).filter(|pair| pair[0].trim() == "#[test]");
    tests.any(|pair| pair[1].trim_start().starts_with(&head))
}

fn findings(
    table: &[Row],
    verbs: &BTreeSet<String>,
    of: &str,
    file: impl Fn(&str) -> String,
) -> Vec<Finding> {
    let found = |what: String| Finding::new(of, 0, what);
    let rows: BTreeSet<String> = table
        .iter()
        .map(|(verb, _, _)| (*verb).to_owned())
        .collect();
    let without = verbs.difference(&rows);
    let without = without.map(|verb| {
        found(format!(
            "{verb} has no row: name the test that looks at its far end"
        ))
    });
    let gone = rows.difference(verbs);
    let gone = gone.map(|verb| found(format!("{verb} has a row and is no verb")));
    let lost = table
        .iter()
        .filter(|(_, path, test)| !has_test(&file(path), test));
    let lost = lost.map(|(verb, path, test)| found(format!("{verb}: {path} has no test {test}")));
    without.chain(gone).chain(lost).collect()
}

#[test]
fn every_verb_of_the_terminal_and_of_the_page_has_a_test_that_looks_at_its_far_end() {
    let file = |path: &str| read(&format!("tests/{path}"));
    let terminal = of_reference(&read(REFERENCE));
    let mut page = of_protocol(&read(VERBS), "Verb");
    page.extend(of_protocol(&read(PROTOCOL), "ServerVerb"));
    let settings = of_protocol(&read(SETTINGS_PROTOCOL), "SettingChange");
    assert!(
        terminal.len() > 60 && page.len() > 20,
        "{terminal:?} {page:?}"
    );
    let posted = of_routes(&read(ROUTES));
    let mut all = findings(POSTED, &posted, ROUTES, file);
    all.extend(findings(TERMINAL, &terminal, REFERENCE, file));
    all.extend(findings(PAGE, &page, VERBS, file));
    all.extend(findings(SETTINGS, &settings, SETTINGS_PROTOCOL, file));
    assert_kept("every verb has a row that names a test", &all);
}

#[test]
fn a_verb_without_a_row_a_row_without_a_verb_and_a_test_that_is_gone_are_found() {
    let table: &[Row] = &[
        ("a", "x.rs", "is_there"),
        ("b", "x.rs", "is_none"),
        ("old", "x.rs", "is_there"),
    ];
    let verbs = ["a", "b", "new"].map(str::to_owned).into();
    let text = "#[test]\nfn is_there() {}\nfn is_none() {}\n";
    let found = findings(table, &verbs, "x", |_| text.to_owned());
    let said: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(
        said,
        [
            "new has no row: name the test that looks at its far end",
            "old has a row and is no verb",
            "b: x.rs has no test is_none",
        ]
    );
}

#[test]
fn verbs_are_read_from_the_reference_and_from_the_protocol() {
    let page = "## `a-society`\n## `a-society ls`\ntext\n## `a-society mcp ls`\n";
    assert_eq!(
        of_reference(page),
        ["ls", "mcp ls"].map(str::to_owned).into()
    );
    let routes = "route(A, || post(one)),\n route(B, || {\n get(two).post(three)\n }),";
    assert_eq!(
        of_routes(routes),
        ["one", "three"].map(str::to_owned).into()
    );
    let text = "w! {\n    pub enum Command {\n        /// A.\n        One {\n            Two: u8,\n        },\n        \
                Three {},\n    }\n    pub enum Other {\n        Four,\n    }\n}\n";
    assert_eq!(
        of_protocol(text, "Command"),
        ["One", "Three"].map(str::to_owned).into()
    );
}
