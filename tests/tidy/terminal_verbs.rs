//! A row for every command of the terminal, in the order of `docs/cli.md`.

use super::verbs::{RULES_TEST, Row, SESSION_TESTS, SETTINGS_TESTS};

const SESSIONS_SEEN: &str = "walk/sessions_seen.rs";

const SESSIONS_SENT: &str = "walk/sessions_sent.rs";

pub(super) const TERMINAL: &[Row] = &[
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
        "sessions",
        SESSIONS_SEEN,
        "the_terminal_lists_all_sessions_the_last_active_first",
    ),
    (
        "schedules",
        "walk/scheduled.rs",
        "a_due_chat_is_answered_once_and_the_list_has_its_run_over_restarts",
    ),
    (
        "schedules ls",
        "walk/scheduled.rs",
        "a_due_chat_is_answered_once_and_the_list_has_its_run_over_restarts",
    ),
    (
        "search",
        "walk/sought.rs",
        "words_are_found_with_their_session_their_node_and_an_excerpt_until_the_flow_is_removed",
    ),
    (
        "sessions ls",
        SESSIONS_SEEN,
        "the_terminal_lists_all_sessions_the_last_active_first",
    ),
    (
        "sessions history",
        SESSIONS_SEEN,
        "the_terminal_reads_a_session_by_its_key_its_id_or_its_label",
    ),
    (
        "sessions send",
        SESSIONS_SENT,
        "a_message_to_a_chat_without_a_driver_is_answered_and_its_answer_is_there_later",
    ),
    (
        "sessions wait",
        SESSIONS_SENT,
        "a_time_out_leaves_the_run_going_on_and_says_how_to_wait_for_it",
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
        "session close",
        SESSION_TESTS,
        "a_closed_chat_takes_no_message_and_an_opened_one_begins_anew_with_what_was_said_archived",
    ),
    (
        "session open",
        SESSION_TESTS,
        "a_closed_chat_takes_no_message_and_an_opened_one_begins_anew_with_what_was_said_archived",
    ),
    (
        "session inject",
        SESSION_TESTS,
        "what_is_injected_begins_no_turn_and_is_in_the_next_request_and_a_note_of_the_system_stays",
    ),
    (
        "session exists",
        SESSION_TESTS,
        "a_closed_chat_takes_no_message_and_an_opened_one_begins_anew_with_what_was_said_archived",
    ),
    (
        "session length",
        SESSION_TESTS,
        "what_is_injected_begins_no_turn_and_is_in_the_next_request_and_a_note_of_the_system_stays",
    ),
    (
        "session snapshot",
        SESSION_TESTS,
        "a_session_that_is_not_there_is_no_error_to_some_verbs_and_named_by_the_others_and_forks_form_a_tree",
    ),
    (
        "session tree",
        SESSION_TESTS,
        "a_session_that_is_not_there_is_no_error_to_some_verbs_and_named_by_the_others_and_forks_form_a_tree",
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
