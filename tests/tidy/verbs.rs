//! A row for every verb: which test looks at what changes at the far end, when the operator says it.
//!
//! The far end is where it matters: the request that left, the process that ran or ended, the
//! file that changed, the text on the screen. A record in the journal is not one.

use std::collections::BTreeSet;

use super::repository::read;
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
type Row = (&'static str, &'static str, &'static str);

const TERMINAL: &[Row] = &[
    (
        "demo",
        "walk/files.rs",
        "the_demo_and_a_new_workspace_run_at_once",
    ),
    (
        "init",
        "walk/projects.rs",
        "a_project_that_was_just_made_is_sound_and_runs_with_its_own_roles",
    ),
    (
        "check",
        "cli/knowing.rs",
        "a_role_that_names_what_nobody_configured_is_warned_about_with_the_nearest_name",
    ),
    (
        "graph",
        "walk/files.rs",
        "a_sound_file_is_said_to_be_sound_and_drawn_in_three_ways",
    ),
    (
        "schema",
        "walk/files.rs",
        "a_sound_file_is_said_to_be_sound_and_drawn_in_three_ways",
    ),
    (
        "run",
        "walk/projects.rs",
        "a_flow_file_in_a_folder_that_only_keeps_files_works_on_the_repository_around_it",
    ),
    (
        "chat",
        "walk/chatted.rs",
        "a_message_is_answered_and_the_next_one_holds_both_and_no_way_to_end_a_turn",
    ),
    (
        "resume",
        "walk/failing.rs",
        "a_program_that_cannot_be_started_is_a_failure_and_is_run_once_it_is_there",
    ),
    (
        "serve",
        "served/door.rs",
        "an_address_signs_one_browser_in_and_the_next_has_an_address_of_its_own",
    ),
    (
        "diff",
        "walk/differing.rs",
        "what_tools_changed_is_told_by_file_and_role_and_what_was_denied_is_not",
    ),
    (
        "status",
        "walk/failing.rs",
        "a_server_of_tools_that_cannot_start_is_said_with_its_name_the_reason_and_what_to_try",
    ),
    (
        "watch",
        "walk/watched.rs",
        "words_that_are_typed_at_the_screen_cut_off_the_answer_and_leave_with_the_next_request",
    ),
    (
        "reply",
        "walk/spoken_to.rs",
        "a_flow_that_waits_says_how_to_answer_and_goes_on_when_it_is_answered",
    ),
    (
        "approve",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "decline",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "allow",
        "walk/models.rs",
        "a_model_calls_a_tool_of_a_server_after_consent_to_its_definition",
    ),
    (
        "deny",
        "walk/handled.rs",
        "a_denied_command_comes_back_with_the_operators_words_and_another_way_is_taken",
    ),
    (
        "mode",
        "walk/models.rs",
        "a_model_walks_a_flow_over_http_with_real_tools_and_consent",
    ),
    ("rules", SETTINGS_TESTS, RULES_TEST),
    ("rules ls", SETTINGS_TESTS, RULES_TEST),
    (
        "rules add",
        "walk/beforehand.rs",
        "a_rule_that_is_said_to_a_flow_answers_what_it_asks_and_one_that_is_taken_back_is_asked_about_again",
    ),
    (
        "rules rm",
        "walk/beforehand.rs",
        "a_rule_that_is_said_to_a_flow_answers_what_it_asks_and_one_that_is_taken_back_is_asked_about_again",
    ),
    (
        "configure",
        "walk/reaching.rs",
        "only_the_configuration_outside_widens_and_whatever_is_inside_takes_away",
    ),
    (
        "budget",
        "walk/bounded.rs",
        "a_flow_that_nothing_is_said_about_asks_before_it_passes_the_usual_budget",
    ),
    (
        "steer",
        "walk/steered.rs",
        "a_role_at_work_hears_the_operator_at_the_next_request_of_its_turn_and_once",
    ),
    (
        "session",
        "walk/models.rs",
        "a_session_is_made_shorter_and_restored_with_and_without_a_driver",
    ),
    (
        "session ls",
        "walk/models.rs",
        "a_session_is_made_shorter_and_restored_with_and_without_a_driver",
    ),
    (
        "session compact",
        "walk/compacting.rs",
        "the_request_after_a_session_was_compacted_has_the_summary_and_after_it_was_restored_all_messages_again",
    ),
    (
        "session trim",
        "walk/session_verbs.rs",
        "a_trimmed_chat_sends_the_last_messages_only_and_a_restored_one_sends_all_again",
    ),
    (
        "session reset",
        "walk/session_verbs.rs",
        "a_chat_that_was_reset_sends_nothing_that_was_said_before_and_what_it_cost_counts_on",
    ),
    (
        "session archives",
        "walk/models.rs",
        "a_session_is_made_shorter_and_restored_with_and_without_a_driver",
    ),
    (
        "session restore",
        "walk/compacting.rs",
        "the_request_after_a_session_was_compacted_has_the_summary_and_after_it_was_restored_all_messages_again",
    ),
    (
        "session export",
        "cli/showing.rs",
        "a_session_is_printed_as_its_view_has_it_and_as_it_was",
    ),
    (
        "session request",
        "walk/requested.rs",
        "every_request_is_written_anew_to_the_byte_also_over_a_death_and_in_a_fork",
    ),
    (
        "stop",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "pause",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "unpause",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "cancel",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "retry",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "reopen",
        "served/verbs.rs",
        "programs_begin_and_end_as_the_terminal_says",
    ),
    (
        "revise",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_terminal_says",
    ),
    (
        "improve",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_terminal_says",
    ),
    (
        "feedback",
        "served/verbs.rs",
        "a_flow_walks_another_graph_and_its_roles_look_back_as_the_terminal_says",
    ),
    (
        "findings",
        "examples/findings.rs",
        "findings_are_listed_over_all_flows_with_who_found_what_and_where",
    ),
    (
        "findings propose",
        "examples/findings.rs",
        "a_finding_becomes_a_diff_and_a_change_once_the_operator_applies_it",
    ),
    (
        "findings diff",
        "examples/findings.rs",
        "a_finding_becomes_a_diff_and_a_change_once_the_operator_applies_it",
    ),
    (
        "findings apply",
        "examples/findings.rs",
        "a_finding_becomes_a_diff_and_a_change_once_the_operator_applies_it",
    ),
    (
        "findings decline",
        "examples/findings.rs",
        "a_change_of_a_file_that_somebody_changed_since_is_refused_and_may_be_declined",
    ),
    (
        "fork",
        "walk/forked.rs",
        "a_fork_asks_what_its_parent_asked_and_hears_an_answer_of_its_own",
    ),
    (
        "ls",
        "cli/listing.rs",
        "every_flow_stands_on_a_line_and_what_is_none_is_told_apart",
    ),
    (
        "show",
        "cli/showing.rs",
        "a_flow_that_waits_shows_its_nodes_its_question_and_its_last_items",
    ),
    (
        "log",
        "cli/logging.rs",
        "json_is_the_journal_byte_for_byte_over_all_segments",
    ),
    (
        "verify",
        "cli/checking.rs",
        "one_damaged_flow_is_named_and_the_others_are_sound",
    ),
    (
        "repair",
        "cli/repairing.rs",
        "applying_keeps_what_is_taken_out_and_the_flow_is_whole_again",
    ),
    (
        "rebuild",
        "cli/checking.rs",
        "views_are_made_again_with_the_same_bytes",
    ),
    (
        "export",
        "cli/carrying.rs",
        "a_flow_goes_from_one_workspace_into_another",
    ),
    (
        "import",
        "cli/carrying.rs",
        "a_flow_goes_from_one_workspace_into_another",
    ),
    (
        "import-state",
        "walk/imported.rs",
        "what_a_role_had_asked_to_do_is_asked_again_and_done_when_it_is_allowed",
    ),
    ("prune", "cli/removing.rs", "exactly_what_is_planned_goes"),
    (
        "models",
        "walk/configuring.rs",
        "a_known_model_is_asked_as_the_catalogue_says_and_the_answer_says_where_that_is_from",
    ),
    (
        "models ls",
        "walk/offered.rs",
        "a_search_without_a_key_is_off_and_says_so",
    ),
    (
        "models add",
        "walk/configuring.rs",
        "a_known_model_is_asked_as_the_catalogue_says_and_the_answer_says_where_that_is_from",
    ),
    (
        "models edit",
        "walk/configuring.rs",
        "the_model_that_is_chosen_for_all_roles_is_the_one_that_is_asked",
    ),
    (
        "models rm",
        "walk/configuring.rs",
        "a_model_is_taken_out_and_the_rest_of_the_file_stays_byte_for_byte",
    ),
    (
        "models catalogue",
        "walk/configuring.rs",
        "the_catalogue_is_listed_with_its_date",
    ),
    (
        "models test",
        "walk/configuring.rs",
        "a_known_model_is_asked_as_the_catalogue_says_and_the_answer_says_where_that_is_from",
    ),
    (
        "models use",
        "walk/configuring.rs",
        "the_model_that_is_chosen_for_all_roles_is_the_one_that_is_asked",
    ),
    (
        "mcp",
        "walk/offered.rs",
        "a_server_that_a_workspace_wants_runs_only_as_the_operator_approved_it",
    ),
    (
        "mcp ls",
        "walk/offered.rs",
        "a_server_that_a_workspace_wants_runs_only_as_the_operator_approved_it",
    ),
    (
        "mcp add",
        "walk/offered.rs",
        "a_server_that_is_added_in_the_terminal_works_for_its_role_until_it_is_taken_out",
    ),
    (
        "mcp rm",
        "walk/offered.rs",
        "a_server_that_is_added_in_the_terminal_works_for_its_role_until_it_is_taken_out",
    ),
    (
        "mcp test",
        "walk/offered.rs",
        "a_server_that_is_added_in_the_terminal_works_for_its_role_until_it_is_taken_out",
    ),
    (
        "mcp approve",
        "walk/offered.rs",
        "a_server_that_a_workspace_wants_runs_only_as_the_operator_approved_it",
    ),
    (
        "mcp revoke",
        "walk/offered.rs",
        "a_server_that_a_workspace_wants_runs_only_as_the_operator_approved_it",
    ),
    (
        "skills",
        "walk/offered.rs",
        "a_skill_is_imported_with_a_check_and_listed",
    ),
    (
        "skills ls",
        "walk/offered.rs",
        "a_skill_is_imported_with_a_check_and_listed",
    ),
    (
        "skills show",
        "walk/offered.rs",
        "a_skill_that_is_written_in_the_terminal_is_told_to_its_role_until_it_is_removed",
    ),
    (
        "skills add",
        "walk/offered.rs",
        "a_skill_that_is_written_in_the_terminal_is_told_to_its_role_until_it_is_removed",
    ),
    (
        "skills edit",
        "walk/offered.rs",
        "a_skill_that_is_written_in_the_terminal_is_told_to_its_role_until_it_is_removed",
    ),
    (
        "skills rm",
        "walk/offered.rs",
        "a_skill_that_is_written_in_the_terminal_is_told_to_its_role_until_it_is_removed",
    ),
    (
        "skills import",
        "walk/models.rs",
        "a_role_is_told_of_its_skills_and_reads_one_when_it_needs_it",
    ),
    (
        "completions",
        "cli/completing.rs",
        "bash_offers_commands_within_commands_their_options_and_flows",
    ),
    (
        "man",
        "cli/arguments.rs",
        "the_manual_has_a_page_for_every_command",
    ),
    (
        "exit-codes",
        "cli/arguments.rs",
        "the_exit_codes_can_be_asked_for",
    ),
];

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

const SESSION_TESTS: &str = "walk/session_verbs.rs";

const CUT_TEST: &str =
    "a_chat_is_trimmed_and_reset_over_the_page_s_socket_and_the_next_request_has_the_rest";

const MODELS_TEST: &str = "a first model is added, tried, made the default and removed on the page, and a flow that waited for one goes on with it";

const SERVERS_TEST: &str = "a server of tools is shown before it is saved, started to try it out with its secret, changed and removed on the page";

const RULES_TEST: &str = "rules are said beforehand on the page for all flows and for one, and calls run or do not because of them";

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

const SETTINGS_TESTS: &str = "../operator-ui/web/tests/settings.test.mjs";

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
