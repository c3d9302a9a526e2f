//! The system prompt: who a role is, where its files are, and how it hands over.

use std::fmt::Write as _;

use super::definition::{Briefing, Reading, Skill};
use super::quote::{fenced, name};
use crate::handoff::handoff_contract;

/// The system prompt of a role instance. The same briefing always gives the same text.
#[must_use]
pub fn system_prompt(briefing: &Briefing) -> String {
    let mut sections = vec![who(briefing)];
    sections.push(section("How you work", briefing.instructions.trim()));
    if let Some(rules) = &briefing.rules {
        sections.push(section("Rules for every role", rules.trim()));
    }
    sections.push(records(&briefing.record));
    sections.push(handoff_contract().trim_end().to_owned());
    if !briefing.readings.is_empty() {
        let intro = "These documents belong to your role. They are here in full; there is no need \
                     to open them again.";
        sections.push(section(
            "What you have to know",
            &readings(intro, &briefing.readings),
        ));
    }
    if !briefing.skills.is_empty() {
        sections.push(section("Skills", &skills(&briefing.skills)));
    }
    sections.retain(|section| !section.is_empty());
    let mut prompt = sections.join("\n\n");
    prompt.push('\n');
    prompt
}

fn section(title: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("## {title}\n\n{}", body.trim_end())
}

fn who(briefing: &Briefing) -> String {
    let role = &briefing.role;
    let project = match &briefing.project {
        Some(project) => format!(" for the project {}", name(project)),
        None => String::new(),
    };
    let mut text = format!(
        "You work in the role {}{project}, in the flow {}.",
        name(role.base()),
        name(&briefing.flow_title)
    );
    if role.base() != role.as_str() {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\nYou are {}, an instance of your own of that role: you have its task and its \
             authority. What other instances of it did or heard, you know only from what is \
             handed to you.",
            name(role.as_str())
        );
    }
    text
}

fn records(record: &str) -> String {
    let body = format!(
        "The record folder of this flow is {}. What you make for others in this flow, write \
         there, unless it belongs into the project itself.\n\n\
         * Give a file a name that says what it is. For a new round, write a new file.\n\
         * Do not change or delete what others have written there.\n\
         * {} is the graph of this flow. Change it only if that is your task; a change that does \
         not fit what has already happened is refused.",
        name(record),
        name(&format!("{}/workflow.yaml", record.trim_end_matches('/')))
    );
    section("Records", &body)
}

/// Documents in full, each under its path.
pub(super) fn readings(intro: &str, readings: &[Reading]) -> String {
    let mut text = intro.to_owned();
    for reading in readings {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\n{}:\n\n{}",
            name(&reading.path),
            fenced(&reading.text).trim_end()
        );
    }
    text
}

fn skills(skills: &[Skill]) -> String {
    let mut lines = vec![
        "When one of these fits what you have to do, read its instructions first and follow them."
            .to_owned(),
        String::new(),
    ];
    lines.extend(skills.iter().map(|skill| {
        format!(
            "* {} ({}): {}",
            name(&skill.name),
            name(&skill.path),
            skill.description.trim()
        )
    }));
    lines.join("\n")
}
