//! Reading the roles that a flow file defines itself.

use std::collections::BTreeMap;

use a_society_yaml::{Span, Value, YamlTree};

use super::diagnostic::{Code, DiagnosticSink, quoted};
use super::keys;
use super::limits::{MAX_BUDGET, MAX_OUTPUT_LIMIT_BYTES, MAX_TIME_LIMIT_SECONDS};
use super::name::RoleName;
use super::parse::kebab_hint;
use super::role::{
    CommandRole, Executor, ExitMapping, ExitOutcome, InlineRole, PermissionMode, Permissions,
    RoleBudget, ToolScope,
};
use super::walk::{self, CheckedFields};

/// The roles of a file as they were read.
#[derive(Debug, Default)]
pub(super) struct DraftRoles {
    /// Every name that is written, well formed or not, so that a node which uses it is not
    /// reported as well.
    pub names: BTreeMap<String, Span>,
    roles: BTreeMap<RoleName, InlineRole>,
    is_broken: bool,
}

impl DraftRoles {
    /// The roles, if every one of them could be read.
    pub(super) fn finish(self) -> Option<BTreeMap<RoleName, InlineRole>> {
        (!self.is_broken).then_some(self.roles)
    }
}

/// Reads the mapping under `roles`.
pub(super) fn roles(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> DraftRoles {
    let errors_before = sink.errors();
    let mut draft = DraftRoles::default();
    if let Value::Map(entries) = &tree.value {
        for entry in entries {
            read_entry(sink, &mut draft, &entry.key, &entry.value);
        }
    } else {
        walk::wrong_type(
            sink,
            tree,
            "`roles`",
            "a mapping of role names to roles",
            None,
        );
    }
    draft.is_broken = sink.errors() > errors_before;
    draft
}

fn read_entry(
    sink: &mut DiagnosticSink<'_>,
    draft: &mut DraftRoles,
    key: &YamlTree,
    value: &YamlTree,
) {
    let Some(written) = walk::key_text(key) else {
        let message = format!("a role's name is {} and must be text", key.value.kind());
        sink.error(Code::WrongType, key.span, message, None);
        return;
    };
    if let Some(first) = draft.names.get(written) {
        walk::repeated_key(sink, key.span, written, *first);
    } else {
        draft.names.insert(written.to_owned(), key.span);
    }
    let name = match RoleName::parse(written) {
        Ok(name) => Some(name),
        Err(fault) => {
            let message = format!("{} cannot be a role's name: {fault}", quoted(written));
            // `owner_2` is an instance: it has the definition of `owner`.
            let hint = match written.split_once('_') {
                Some((base, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => Some(
                    format!("instances of `{base}` share one definition, under `{base}`"),
                ),
                Some(_) | None => kebab_hint(written),
            };
            sink.error(Code::BadRoleInstance, key.span, message, hint);
            None
        }
    };
    let role = read_role(sink, value);
    if let (Some(name), Some(role)) = (name, role) {
        draft.roles.entry(name).or_insert(role);
    }
}

fn read_role(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<InlineRole> {
    let role = read_settings(sink, tree)?;
    if role.executor() == Executor::Model && role.instructions.is_none() {
        let told = matches!(&tree.value, Value::Map(entries) if entries
            .iter()
            .any(|entry| matches!(walk::key_text(&entry.key), Some("instructions"))));
        // One that could not be read, or an unknown executor, has been reported.
        let is_certain = !told && !has_bad_executor(tree, &role);
        if is_certain {
            let message = "a role with executor `model` needs `instructions`";
            sink.error(Code::WrongExecutor, tree.span, message, None);
        }
    }
    Some(role)
}

fn has_bad_executor(tree: &YamlTree, role: &InlineRole) -> bool {
    let Value::Map(entries) = &tree.value else {
        return false;
    };
    let mut keys = entries.iter().map(|entry| walk::key_text(&entry.key));
    role.executor.is_none() && keys.any(|key| key == Some("executor"))
}

/// Reads everything about a role but whether it says how it works.
pub(super) fn read_settings(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<InlineRole> {
    let fields = CheckedFields::read(sink, tree, "a role", keys::ROLE)?;
    let text = |sink: &mut DiagnosticSink<'_>, key: &str| {
        let found = fields.get(key)?;
        walk::text(sink, found, &format!("`{key}`")).map(str::to_owned)
    };
    let texts = |sink: &mut DiagnosticSink<'_>, key: &str| {
        let found = fields.get(key)?;
        walk::texts(sink, found, &format!("`{key}`"))
    };
    let role = InlineRole {
        instructions: text(sink, "instructions"),
        executor: fields
            .get("executor")
            .and_then(|tree| walk::choice(sink, tree, "`executor`", Executor::ALL)),
        model: text(sink, "model"),
        effort: text(sink, "effort"),
        tools: texts(sink, "tools"),
        mcp_servers: texts(sink, "mcp-servers"),
        skills: texts(sink, "skills"),
        required_readings: texts(sink, "required_readings"),
        command: fields
            .get("command")
            .and_then(|tree| read_command(sink, tree)),
        permissions: fields
            .get("permissions")
            .and_then(|tree| read_permissions(sink, tree)),
        budget: fields
            .get("budget")
            .and_then(|tree| read_budget(sink, tree)),
    };
    check_executor(sink, &fields, &role);
    Some(role)
}

/// Keys that only one executor understands, and keys that one executor needs.
fn check_executor(sink: &mut DiagnosticSink<'_>, fields: &CheckedFields<'_>, role: &InlineRole) {
    // A word that is no executor has been reported, and tells nothing about the other keys.
    if fields.get("executor").is_some() && role.executor.is_none() {
        return;
    }
    let executor = role.executor();
    if executor == Executor::Command && fields.get("command").is_none() {
        let message = "a role with executor `command` needs `command`";
        sink.error(Code::WrongExecutor, fields.span, message, None);
    }
    let of_models = ["model", "effort"].map(|key| (key, Executor::Model));
    for (key, wanted) in of_models
        .into_iter()
        .chain([("command", Executor::Command)])
    {
        let Some(found) = fields.get(key).filter(|_| executor != wanted) else {
            continue;
        };
        let message = format!(
            "`{key}` means nothing to a role with executor `{}`",
            executor.as_str()
        );
        let hint = format!("set `executor: {}`, or leave `{key}` out", wanted.as_str());
        sink.error(Code::WrongExecutor, found.span, message, Some(hint));
    }
}

fn read_command(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<CommandRole> {
    let fields = CheckedFields::read(sink, tree, "a command", keys::COMMAND)?;
    let run = fields
        .required(sink, "run")
        .and_then(|tree| read_run(sink, tree));
    let time_limit = fields.get("time-limit-seconds").and_then(|tree| {
        walk::positive(sink, tree, "`time-limit-seconds`", MAX_TIME_LIMIT_SECONDS)
    });
    let output_limit = fields.get("output-limit-bytes").and_then(|tree| {
        walk::positive(sink, tree, "`output-limit-bytes`", MAX_OUTPUT_LIMIT_BYTES)
    });
    let on_exit = fields.get("on-exit").map(|tree| read_on_exit(sink, tree));
    Some(CommandRole {
        run: run?,
        time_limit_seconds: time_limit.and_then(|seconds| u32::try_from(seconds).ok()),
        output_limit_bytes: output_limit,
        on_exit,
    })
}

fn read_run(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<Vec<String>> {
    let words = walk::texts(sink, tree, "`run`")?;
    if words.is_empty() {
        let hint = "the first item is the program, the others are its arguments".to_owned();
        sink.error(Code::Empty, tree.span, "`run` is empty", Some(hint));
        return None;
    }
    Some(words)
}

fn read_on_exit(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> ExitMapping {
    let mut mapping = ExitMapping::default();
    let Value::Map(entries) = &tree.value else {
        walk::wrong_type(
            sink,
            tree,
            "`on-exit`",
            "a mapping of exit codes to outcomes",
            None,
        );
        return mapping;
    };
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for entry in entries {
        let outcome = walk::choice(sink, &entry.value, "an outcome", ExitOutcome::ALL);
        let Some(key) = walk::key_text(&entry.key) else {
            let message = format!("an exit code cannot be {}", entry.key.value.kind());
            sink.error(Code::WrongType, entry.key.span, message, None);
            continue;
        };
        if let Some(first) = seen.get(key) {
            walk::repeated_key(sink, entry.key.span, key, *first);
            continue;
        }
        seen.insert(key, entry.key.span);
        if key == "otherwise" {
            mapping.otherwise = outcome;
        } else if let Some(code) = exit_code(key) {
            mapping.codes.extend(outcome.map(|outcome| (code, outcome)));
        } else {
            let message = format!("{} is no exit code", quoted(key));
            let hint = "exit codes go from 0 to 255; `otherwise` covers the rest".to_owned();
            sink.error(Code::OutOfRange, entry.key.span, message, Some(hint));
        }
    }
    mapping
}

/// One spelling for each code, so that no code can be mapped twice.
fn exit_code(key: &str) -> Option<u8> {
    let code: u8 = key.parse().ok()?;
    (code.to_string() == key).then_some(code)
}

fn read_permissions(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<Permissions> {
    let fields = CheckedFields::read(sink, tree, "permissions", keys::PERMISSIONS)?;
    Some(Permissions {
        mode: fields
            .get("mode")
            .and_then(|tree| walk::choice(sink, tree, "`mode`", PermissionMode::ALL)),
        scope: fields
            .get("scope")
            .and_then(|tree| walk::choice(sink, tree, "`scope`", ToolScope::ALL)),
        network: fields
            .get("network")
            .and_then(|tree| walk::boolean(sink, tree, "`network`")),
        edits: fields
            .get("edits")
            .and_then(|tree| walk::boolean(sink, tree, "`edits`")),
        commands: fields
            .get("commands")
            .and_then(|tree| walk::texts(sink, tree, "`commands`")),
        mcp_tools: fields
            .get("mcp-tools")
            .and_then(|tree| walk::texts(sink, tree, "`mcp-tools`")),
    })
}

pub(super) fn read_budget(sink: &mut DiagnosticSink<'_>, tree: &YamlTree) -> Option<RoleBudget> {
    let fields = CheckedFields::read(sink, tree, "a budget", keys::BUDGET)?;
    let limit = |sink: &mut DiagnosticSink<'_>, key: &str| {
        let found = fields.get(key)?;
        walk::positive(sink, found, &format!("`{key}`"), MAX_BUDGET)
    };
    Some(RoleBudget {
        cost_micro_usd: limit(sink, "cost-micro-usd"),
        tokens: limit(sink, "tokens"),
        turns: limit(sink, "turns"),
    })
}
