//! What is changed in the operator's configuration from the page.

use a_society_facts::fact::operator::ConsentRules;
use a_society_facts::words::settings::model_answers;
use a_society_facts::words::tokens;
use a_society_orchestrator::config::catalogue::Catalogue;
use a_society_orchestrator::config::editing::models::{
    KeyState, ModelChanges, ModelToRemove, NewOne, NewPrices, added, changed, prices, removed,
    with_usual,
};
use a_society_orchestrator::config::editing::policies::{self, PolicyEdit};
use a_society_orchestrator::config::editing::servers::{self, HeldValue, NewServer};
use a_society_orchestrator::config::editing::{EditRefusal, Grade, SecretPlace, Sheet};
use a_society_orchestrator::config::editing::{rules, search, skills};
use a_society_orchestrator::config::models::{TRIAL_WAIT, try_out};
use a_society_orchestrator::config::servers::lists_in;
use a_society_orchestrator::config::skill::NewSkill;
use a_society_orchestrator::config::user;
use a_society_orchestrator::project::place::{projects_of, workspace_of};
use a_society_orchestrator::workspace::rules::checked_rules;
use a_society_orchestrator::workspace::skills::{Skills, skill_json};
use a_society_orchestrator::workspace::trial::{Fate, Imagined, foreseen};
use a_society_state::Store;
use serde_json::{Value, json};
use std::path::Path;

use crate::protocol::ask::ModelChoice;
use crate::protocol::down::Fault;
use crate::protocol::http::NewFlow;
use crate::protocol::settings::{
    CallFate, CallKind, CallWish, KeyPlace, ModelRemoval, ModelWish, PolicyWish, RuleList,
    RuleWish, ServerWish, Setting, SettingChange, SettingDone, SkillChange, SkillSetting,
    SkillWish, Trial, Tried,
};

/// The models that roles may use. Without a configuration there are none.
pub(super) fn choices() -> Vec<ModelChoice> {
    let Ok((_, catalog)) = user::catalog() else {
        return Vec::new();
    };
    let models = catalog.models.iter().map(|(name, spec)| ModelChoice {
        name: name.clone(),
        words: format!("{}, window {}", spec.id, tokens(spec.window_tokens)),
        window_tokens: spec.window_tokens,
    });
    models.collect()
}

/// Changes what is configured, as the terminal's own commands do.
///
/// # Errors
/// In the operator's words.
pub(super) fn configure(setting: &Setting) -> Result<SettingDone, Fault> {
    change(setting).map_err(fault)
}

fn change(setting: &Setting) -> Result<SettingDone, EditRefusal> {
    let sheet = Sheet::as_seen(&setting.version)?;
    let done = match &setting.change {
        SettingChange::AddModel(wish) => add_model(&sheet, wish)?,
        SettingChange::EditModel(wish) => {
            let done = changed(&sheet, &wish.name, &changes(wish)?)?;
            NewConfig::new(done.text, format!("{} is changed", wish.name))
        }
        SettingChange::RemoveModel(removal) => remove_model(&sheet, removal)?,
        SettingChange::UseModel(name) => {
            let text = with_usual(&sheet, name)?;
            NewConfig::new(text, format!("roles that name no model use {name}"))
        }
        SettingChange::AddServer(wish) => put_server(&sheet, wish, setting.look, false)?,
        SettingChange::EditServer(wish) => put_server(&sheet, wish, setting.look, true)?,
        SettingChange::AddRule(wish) => {
            let text = rules::added(&sheet, &rule(wish))?;
            NewConfig::new(text, format!("added {} {}", list(wish), wish.rule))
        }
        SettingChange::RemoveRule(wish) => {
            let text = rules::removed(&sheet, &rule(wish))?;
            NewConfig::new(text, format!("removed {} {}", list(wish), wish.rule))
        }
        SettingChange::SetPolicy(wish) => put_policy(&sheet, wish)?,
        SettingChange::SetSearch(wish) => {
            let text = search::set(&sheet, &place_of(&wish.key), wish.endpoint.as_deref())?;
            NewConfig::new(text, "web_search is on".to_owned())
        }
        SettingChange::RemoveSearch {} => {
            NewConfig::new(search::removed(&sheet)?, "web_search is off".to_owned())
        }
        SettingChange::RemoveServer(name) => NewConfig::new(
            servers::removed(&sheet, name)?,
            format!("{name} is removed"),
        ),
    };
    if !setting.look {
        sheet.save(&done.text)?;
    }
    let text = done.text;
    let version = Sheet { text, ..sheet }.version();
    Ok(SettingDone {
        words: done.words,
        notes: done.notes,
        version,
        shown: done.shown,
        definition: done.definition,
    })
}

/// The skills, with where they lie and who names them.
pub(super) fn skills(store: &Store) -> Value {
    let read = user::skills().map_err(EditRefusal::from);
    let read = read.and_then(|folder| Ok((folder, Skills::read(Some(store))?)));
    match read {
        Ok((folder, skills)) => {
            let mut page = skills.as_json();
            page["folder"] = json!(folder);
            page
        }
        Err(refusal) => json!({ "skills": [], "faults": [], "missing": [], "fault": refusal.why }),
    }
}

/// A skill of the operator's own, or of a project of the workspace.
///
/// # Errors
/// In the operator's words.
pub(super) fn skill(store: &Store, name: &str, project: Option<&str>) -> Result<Value, Fault> {
    let disk = store.ground().disk.as_ref();
    let folder = project.map(|project| {
        let mut all = projects_of(disk, workspace_of(store));
        all.remove(project).ok_or_else(|| Fault {
            code: "not-found".to_owned(),
            what: "this skill cannot be shown".to_owned(),
            why: format!("there is no project {project}"),
            r#try: "choose one of those that are listed".to_owned(),
        })
    });
    let shown = skills::look(name, folder.transpose()?.as_deref()).map_err(fault)?;
    let all = Skills::read(Some(store)).map_err(fault)?;
    let row = all.named(name, project);
    let by = row.map(|row| all.named_by(row)).unwrap_or_default();
    Ok(skill_json(&shown, &by))
}

/// Changes a skill of the operator's own, or returns what roles would see.
///
/// # Errors
/// In the operator's words.
pub(super) fn change_skill(setting: &SkillSetting) -> Result<SettingDone, Fault> {
    let done = match &setting.change {
        SkillChange::Add(wish) => put_skill(wish, None, setting.look),
        SkillChange::Edit(wish) => put_skill(wish, Some(&setting.version), setting.look),
        SkillChange::Remove(name) => skills::remove(name, &setting.version).map(|gone| {
            let files = match gone.files.len() {
                1 => "1 file".to_owned(),
                files => format!("{files} files"),
            };
            skill_done(format!("{name} is removed, with {files}"), None)
        }),
    };
    done.map_err(fault)
}

fn put_skill(wish: &SkillWish, over: Option<&str>, look: bool) -> Result<SettingDone, EditRefusal> {
    let new = NewSkill {
        name: wish.name.clone(),
        description: wish.description.clone(),
        text: wish.text.clone(),
    };
    let told = skills::put(&new, over, !look)?;
    let is = if over.is_some() { "changed" } else { "added" };
    Ok(skill_done(format!("{} is {is}", wish.name), Some(told)))
}

const fn skill_done(words: String, shown: Option<String>) -> SettingDone {
    SettingDone {
        words,
        notes: Vec::new(),
        version: String::new(),
        shown,
        definition: None,
    }
}

/// A new text of the configuration, and the messages about it.
#[derive(Debug, Default)]
struct NewConfig {
    text: String,
    words: String,
    notes: Vec<String>,
    shown: Option<String>,
    definition: Option<String>,
}

impl NewConfig {
    fn new(text: String, words: String) -> Self {
        Self {
            text,
            words,
            ..Self::default()
        }
    }
}

fn add_model(sheet: &Sheet, wish: &ModelWish) -> Result<NewConfig, EditRefusal> {
    let catalogue = Catalogue::shipped().unwrap_or_default();
    let new = NewOne {
        name: wish.name.clone(),
        id: wish.id.clone(),
        provider: wish.provider.clone(),
        wire: wish.wire.clone(),
        base_url: wish.base_url.clone(),
        key: place(wish),
        window: wish.window,
        max_output: wish.max_output,
        images: wish.images.unwrap_or_default(),
        prices: typed(wish)?,
    };
    let done = added(sheet, &catalogue, &new)?;
    let mut notes = Vec::new();
    if let Some(why) = KeyState::of(&done.config, &done.provider).missing() {
        notes.push(why);
    }
    if done.config.model.as_ref() == Some(&wish.name) {
        notes.push("roles that name no model use it".to_owned());
    }
    let words = format!("{} is added", wish.name);
    Ok(NewConfig {
        notes,
        ..NewConfig::new(done.text, words)
    })
}

fn remove_model(sheet: &Sheet, removal: &ModelRemoval) -> Result<NewConfig, EditRefusal> {
    let how = ModelToRemove {
        default: removal.default.as_deref(),
        with_provider: removal.provider,
    };
    let done = removed(sheet, &removal.name, how)?;
    let mut notes = Vec::new();
    if done.comment_stays {
        let note = "the comment above it in the file is still there; it may be about the model";
        notes.push(note.to_owned());
    }
    let words = format!("{} is removed", removal.name);
    Ok(NewConfig {
        notes,
        ..NewConfig::new(done.text, words)
    })
}

/// Sets a policy of all flows; the result shows what would be written.
fn put_policy(sheet: &Sheet, wish: &PolicyWish) -> Result<NewConfig, EditRefusal> {
    let (policy, what) = match wish.clone() {
        PolicyWish::Mode(wish) => (PolicyEdit::Mode(wish.mode), "the mode of flows"),
        PolicyWish::Reach(wish) => {
            let policy = PolicyEdit::Reach {
                scope: wish.scope,
                folders: wish.folders,
                network: wish.network,
            };
            (policy, "how far tools reach")
        }
        PolicyWish::Limits(wish) => {
            let policy = PolicyEdit::Limits {
                tokens: wish.tokens,
                answers: wish.answers,
                same_call: wish.same_call,
            };
            (policy, "what stops a flow")
        }
        PolicyWish::Notify(wish) => {
            let policy = PolicyEdit::Notify {
                command: wish.command,
                on: wish.on,
            };
            (policy, "the notification command")
        }
    };
    let changed = policies::changed(sheet, &policy)?;
    Ok(NewConfig {
        shown: Some(changed.shown),
        ..NewConfig::new(changed.text, format!("{what} is saved"))
    })
}

/// Adds a server, or changes one: only as the operator has seen it.
fn put_server(
    sheet: &Sheet,
    wish: &ServerWish,
    look: bool,
    replaces: bool,
) -> Result<NewConfig, EditRefusal> {
    let done = servers::put(sheet, &server(wish)?, replaces)?;
    let definition = done.definition.to_string();
    if !look && wish.definition.as_ref() != Some(&definition) {
        return Err(EditRefusal {
            code: "definition-changed",
            grade: Grade::Refused,
            what: "the configuration was not changed".to_owned(),
            why: "what was looked at is not what would be saved".to_owned(),
            hint: "look at it, and save it then".into(),
        });
    }
    let is = if replaces { "changed" } else { "added" };
    let mut notes = Vec::new();
    if done.was.as_ref().is_some_and(|was| *was != done.shown) {
        let note = "flows that trust it as it was wait for you to approve it as it is";
        notes.push(note.to_owned());
    }
    Ok(NewConfig {
        notes,
        shown: Some(done.shown),
        definition: Some(definition),
        ..NewConfig::new(done.text, format!("{} is {is}", wish.name))
    })
}

fn server(wish: &ServerWish) -> Result<NewServer, EditRefusal> {
    let values = wish.values.iter().map(|value| {
        let prefix = value.prefix.clone().unwrap_or_default();
        let held = match (&value.text, &value.secret, &value.key) {
            (Some(text), None, None) => HeldValue::Plain(text.clone()),
            (None, Some(name), None) => HeldValue::Secret {
                name: name.clone(),
                prefix,
            },
            (None, None, Some(key)) => HeldValue::Kept {
                place: place_of(key),
                prefix,
            },
            _ => {
                let why = format!("{} has no value, or more than one", value.name);
                let hint = "say a text, or where it is kept";
                return Err(EditRefusal::usage(
                    "it is not clear what a variable holds",
                    why,
                    hint,
                ));
            }
        };
        Ok((value.name.clone(), held))
    });
    Ok(NewServer {
        name: wish.name.clone(),
        command: wish.command.clone(),
        arguments: wish.arguments.clone(),
        folder: wish.folder.clone(),
        url: wish.url.clone(),
        is_private: wish.private,
        inherits: wish.inherits.clone(),
        values: values.collect::<Result<_, _>>()?,
        reads: wish.reads.clone(),
        about: wish.about.clone(),
    })
}

fn changes(wish: &ModelWish) -> Result<ModelChanges, EditRefusal> {
    Ok(ModelChanges {
        id: wish.id.clone(),
        window: wish.window,
        max_output: wish.max_output,
        images: wish.images,
        thinking: None,
        effort: wish.effort.clone(),
        prices: typed(wish)?,
        key: place(wish),
    })
}

fn place(wish: &ModelWish) -> Option<SecretPlace> {
    wish.key.as_ref().map(place_of)
}

fn place_of(key: &KeyPlace) -> SecretPlace {
    (key.from.clone(), key.name.clone())
}

fn typed(wish: &ModelWish) -> Result<Option<NewPrices>, EditRefusal> {
    let read = |text: &String| {
        prices(text).map_err(|why| {
            EditRefusal::usage(
                "these are no prices",
                why,
                "leave them out if they are not known",
            )
        })
    };
    wish.prices.as_ref().map(read).transpose()
}

fn rule(wish: &RuleWish) -> ConsentRules {
    let mut rules = ConsentRules::default();
    match wish.list {
        RuleList::Allow => rules.allow.push(wish.rule.clone()),
        RuleList::Deny => rules.deny.push(wish.rule.clone()),
    }
    rules
}

const fn list(wish: &RuleWish) -> &'static str {
    match wish.list {
        RuleList::Allow => "allow",
        RuleList::Deny => "deny",
    }
}

/// The rules that a flow is begun with, checked as the command line checks its own.
///
/// # Errors
/// In the operator's words.
pub(super) fn rules_of(new: &NewFlow) -> Result<ConsentRules, Fault> {
    checked_rules(&new.allow, &new.deny).map_err(|why| Fault {
        code: "usage".to_owned(),
        what: "a rule cannot be read".to_owned(),
        why,
        r#try: "say it otherwise, or leave it out".to_owned(),
    })
}

/// Tries out what is configured.
///
/// # Errors
/// In the operator's words.
pub(super) fn trial(trial: &Trial, root: &Path) -> Result<Tried, Fault> {
    match trial {
        Trial::Server(name) => {
            let said = servers::try_out(name, &lists_in(root)).map_err(fault)?;
            let tools = said.as_ref().map_or(0, Vec::len);
            Ok(Tried {
                works: said.is_ok(),
                words: match &said {
                    Ok(_) if tools == 1 => format!("{name} started and offers one tool"),
                    Ok(_) => format!("{name} started and offers {tools} tools"),
                    Err(why) => why.clone(),
                },
                offers: said.unwrap_or_default(),
                fate: None,
            })
        }
        Trial::Rules(wish) => try_rules(wish, root).map_err(fault),
        Trial::Search {} => {
            let said = search::try_out().map_err(fault)?;
            Ok(Tried {
                works: said.is_ok(),
                words: said.map_or_else(|why| why, |found| search::found_words(&found)),
                offers: Vec::new(),
                fate: None,
            })
        }
        Trial::Model(name) => {
            let (_, catalog) = user::catalog().map_err(|error| fault(error.into()))?;
            let said = try_out(&catalog, name, TRIAL_WAIT);
            Ok(Tried {
                works: said.is_ok(),
                words: match said {
                    Ok(trial) => model_answers(
                        name,
                        &trial.said,
                        &tokens(trial.input_tokens),
                        &tokens(trial.output_tokens),
                    ),
                    Err(why) => why,
                },
                offers: Vec::new(),
                fate: None,
            })
        }
    }
}

/// What would be decided about a call, by the judge of every turn.
fn try_rules(wish: &CallWish, root: &Path) -> Result<Tried, EditRefusal> {
    let what = wish.what.trim().to_owned();
    let call = match wish.does {
        CallKind::Command => Imagined::Command(what),
        CallKind::File => Imagined::File(what),
        CallKind::Web => Imagined::Web(what),
        CallKind::Server => {
            let (server, tool) = what.split_once('/').unwrap_or((&what, ""));
            Imagined::Server(server.to_owned(), tool.to_owned())
        }
    };
    let told = foreseen(root, &call)?;
    Ok(Tried {
        works: told.is != Fate::Never,
        words: told.why,
        offers: Vec::new(),
        fate: Some(match told.is {
            Fate::Runs => CallFate::Runs,
            Fate::Asks => CallFate::Asks,
            Fate::Never => CallFate::Never,
        }),
    })
}

fn fault(refusal: EditRefusal) -> Fault {
    Fault {
        code: refusal.code.to_owned(),
        what: refusal.what,
        why: refusal.why,
        r#try: refusal.hint.on_page(),
    }
}
