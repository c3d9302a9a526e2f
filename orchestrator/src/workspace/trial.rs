//! What would be decided about a call that no role makes, by the judge that decides in a turn.

use std::collections::BTreeSet;
use std::path::Path;

use a_society_facts::Hash;
use a_society_facts::fact::operator::{ConsentAnswer, ConsentMode, ConsentRules};
use a_society_facts::fact::terms::{ConsentTerms, ServerTerms};
use a_society_facts::message::ToolCall;
use a_society_mcp::ServerSpec;
use a_society_roles::consent::{ConsentQuestion, Decision, Tier, decide};
use a_society_roles::tool::{Owner, ToolSetting, Toolbox};
use a_society_state::OUR_FOLDER;
use serde_json::{Value, json, value::to_raw_value};

use crate::config::editing::EditRefusal;
use crate::config::servers::{Roster, lists_in};
use crate::config::{programs, user, workspace};

use super::rules::policy;

/// The flow of a call that is only judged.
const NO_FLOW: &str = "19700101T000000000Z-000000";

/// A call to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imagined {
    /// A command, as a shell would get it.
    Command(String),
    /// A change of a file, by its path from the project on.
    File(String),
    /// A request to a host, or to an address.
    Web(String),
    /// A tool of a server.
    Server(String, String),
}

/// What would be decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    /// The answer.
    pub is: Fate,
    /// Why, in a sentence that begins in lower case.
    pub why: String,
}

/// What would happen to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It would run without asking.
    Runs,
    /// The operator would be asked.
    Asks,
    /// It would not run, whatever else is allowed.
    Never,
}

/// What would be decided about a call in a flow that has no rules and no mode of its own.
///
/// # Errors
/// When the configuration cannot be used, or it is no such call.
pub fn foreseen(root: &Path, call: &Imagined) -> Result<Foreseen, EditRefusal> {
    let own = user::consent()?;
    let narrowed = workspace::consent(root)?;
    let usual = own.mode.unwrap_or_default();
    let mode = narrowed.mode.map_or(usual, |most| usual.min(most));
    let unclear = |why: String| EditRefusal::usage("this cannot be tried", why, "say it otherwise");
    let tools = toolbox(root, &own.rules).map_err(unclear)?;
    let ask = match call {
        Imagined::Command(line) => {
            let arguments = json!({ "command": line });
            planned(&tools, "run_command", &arguments)
        }
        Imagined::Web(host) => {
            let address = if host.contains("://") {
                host.clone()
            } else {
                format!("https://{host}/")
            };
            planned(&tools, "fetch_url", &json!({ "url": address }))
        }
        Imagined::File(path) => tools.asked_of_writing(path).map_err(|refusal| refusal.text),
        Imagined::Server(server, tool) => of_server(root, &tools, server, tool),
    };
    Ok(match ask {
        Ok(ask) => told(mode, &ask),
        // What no tool does is not asked about either.
        Err(why) => Foreseen {
            is: Fate::Never,
            why,
        },
    })
}

/// The tools of a role that works on the whole workspace and reaches as far as any may.
fn toolbox(root: &Path, own: &ConsentRules) -> Result<Toolbox, String> {
    let name = |why: &dyn std::fmt::Display| why.to_string();
    let owner = Owner {
        flow: NO_FLOW.parse().map_err(|why| name(&why))?,
        role: "trial".parse().map_err(|why| name(&why))?,
        node: None,
    };
    let mut setting = ToolSetting::new(owner, root.to_owned(), root.join(OUR_FOLDER));
    user::reach().map_err(|why| name(&why))?.apply(&mut setting);
    setting.guard = Some(programs::guard());
    setting.fetch = true;
    setting.environment = programs::environment().0.into_iter().collect();
    setting.policy = std::sync::Arc::new(policy(&ConsentRules::default(), own, root)?);
    Toolbox::open(setting)
}

fn planned(tools: &Toolbox, name: &str, arguments: &Value) -> Result<ConsentQuestion, String> {
    let call = ToolCall {
        id: "trial".to_owned(),
        name: name.to_owned(),
        input: to_raw_value(arguments).map_err(|why| why.to_string())?,
    };
    let plan = tools.plan(&call).map_err(|refusal| refusal.text)?;
    Ok(plan.ask)
}

/// Of a tool that only its server knows, what the operator says of it is enough.
fn of_server(
    root: &Path,
    tools: &Toolbox,
    server: &str,
    tool: &str,
) -> Result<ConsentQuestion, String> {
    let roster = Roster::read(&lists_in(root)).map_err(|why| why.to_string())?;
    let specs = roster.startable();
    let spec = specs.iter().find(|spec| spec.name == server);
    let says = |list: fn(&ServerSpec) -> &Vec<String>| {
        spec.is_some_and(|spec| list(spec).iter().any(|named| named == tool))
    };
    let definition = Hash::of(tool.as_bytes());
    let tier = if says(|spec| &spec.reads) {
        Tier::Free
    } else {
        Tier::ServerTool { definition }
    };
    let name = format!("mcp__{server}__{tool}");
    let is_irreversible = says(|spec| &spec.irreversible);
    Ok(ConsentQuestion {
        ruled: tools.ruled_remote(&name, &tier, server, tool, is_irreversible),
        tool: name,
        tier,
        command: None,
        terms: ConsentTerms::Server(ServerTerms {
            server: server.to_owned(),
            tool: tool.to_owned(),
            definition,
            reached: None,
        }),
        action: definition,
        shown: String::new(),
    })
}

fn told(mode: ConsentMode, ask: &ConsentQuestion) -> Foreseen {
    let by_mode = match mode {
        ConsentMode::NoAccess => "flows ask every time unless they choose another mode",
        ConsentMode::PartialAccess => "flows ask unless you allowed it for the flow",
        ConsentMode::FullAccess => "flows never ask unless they choose another mode",
    };
    let (is, why) = match decide(mode, &BTreeSet::new(), ask) {
        Decision::Ruled(answer @ (ConsentAnswer::Deny | ConsentAnswer::Withdrawn), by) => {
            (Fate::Never, format!("denied by {}", by.words(answer)))
        }
        Decision::Ruled(answer, by) => (Fate::Runs, format!("allowed by {}", by.words(answer))),
        Decision::Deny(why) => (Fate::Never, why),
        Decision::Allow => (Fate::Runs, runs(ask, by_mode)),
        Decision::Ask(request) => match request.doubt {
            Some(by) => {
                let rule = by.words(ConsentAnswer::Deny);
                (
                    Fate::Asks,
                    format!("{rule} may cover it, which only a shell can tell"),
                )
            }
            None => (Fate::Asks, asks(ask, by_mode)),
        },
    };
    Foreseen { is, why }
}

fn runs(ask: &ConsentQuestion, by_mode: &str) -> String {
    match ask.tier {
        Tier::Free => "it is never asked about, and no rule denies it".to_owned(),
        Tier::Unasked => "it only reads, and runs in the sandbox".to_owned(),
        Tier::Sensitive
        | Tier::Trust
        | Tier::Edit
        | Tier::Command
        | Tier::Web
        | Tier::ServerTool { .. } => format!("no rule covers it, and {by_mode}"),
    }
}

fn asks(ask: &ConsentQuestion, by_mode: &str) -> String {
    let lacks_walls =
        matches!(&ask.terms, ConsentTerms::Command(terms) if !terms.missing.is_empty());
    match ask.tier {
        Tier::Trust => {
            "programs trust or run this file later, so it is asked about each time".to_owned()
        }
        Tier::Sensitive => "it may hold secrets, so it is asked about each time".to_owned(),
        _ if lacks_walls => "no rule allows a command without its sandbox".to_owned(),
        Tier::Free
        | Tier::Unasked
        | Tier::Edit
        | Tier::Command
        | Tier::Web
        | Tier::ServerTool { .. } => format!("no rule covers it, and {by_mode}"),
    }
}
