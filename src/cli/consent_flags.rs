//! Flags that decide in advance about calls that would be asked about.

use a_society_facts::fact::operator::{ConsentMode, ConsentRules};
use a_society_orchestrator::config::policy;
use a_society_orchestrator::pasted_secrets::holds_a_secret;

use super::mode::Mode;

/// What may run without asking, what never runs, and how much is asked of the rest.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ConsentFlags {
    /// What runs without asking: edits, edits:FOLDER, commands, a command such as 'pytest *', web,
    /// web:HOST, mcp-tools, mcp:SERVER, mcp:SERVER/TOOL or the name of a tool; separate several with
    /// commas, or repeat --allow
    #[arg(long, value_name = "RULE,…", value_parser = allowing)]
    allow: Vec<Rules>,

    /// What never runs, whatever is allowed; the role learns of it. The same rules as for --allow
    #[arg(long, value_name = "RULE,…", value_parser = denying)]
    deny: Vec<Rules>,

    /// How much may be done without asking where no rule applies: ask, partial (what was allowed
    /// for the flow does not ask again) or full
    #[arg(long, value_name = "MODE", hide_possible_values = true)]
    mode: Option<Mode>,
}

/// The rules of one list.
#[derive(Debug, Clone)]
pub(crate) struct Rules(Vec<String>);

impl ConsentFlags {
    /// The mode, if one was given.
    pub(crate) fn mode(&self) -> Option<ConsentMode> {
        self.mode.map(Mode::mode)
    }

    /// The rules.
    pub(crate) fn rules(&self) -> ConsentRules {
        one_list(&self.allow, &self.deny)
    }
}

/// The rules that were given, each once.
pub(crate) fn one_list(allow: &[Rules], deny: &[Rules]) -> ConsentRules {
    let all = |lists: &[Rules]| lists.iter().flat_map(|list| list.0.clone()).collect();
    let mut rules = ConsentRules::default();
    rules.add(&ConsentRules {
        allow: all(allow),
        deny: all(deny),
    });
    rules
}

/// Reads what may be allowed.
pub(crate) fn allowing(text: &str) -> Result<Rules, String> {
    let Rules(rules) = denying(text)?;
    for rule in &rules {
        policy::check_allow(rule).map_err(|fault| fault.to_string())?;
    }
    Ok(Rules(rules))
}

/// Reads rules.
pub(crate) fn denying(text: &str) -> Result<Rules, String> {
    // Rules are recorded as they are written.
    if holds_a_secret(text) {
        return Err("something in it looks like a secret, which is not recorded".to_owned());
    }
    policy::split(text)
        .map(Rules)
        .map_err(|fault| fault.to_string())
}
