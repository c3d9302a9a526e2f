//! `mcp add`, `rm` and `test`: the operator's own MCP servers.

use a_society_orchestrator::config::editing::servers::{self, HeldValue, NewServer};
use a_society_orchestrator::config::editing::{SecretPlace, Sheet};
use a_society_orchestrator::config::servers::lists_in;
use serde_json::json;

use super::context::Context;
use super::models::refused;
use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Outcome};
use crate::text::{count, plain};
use crate::workspace;

/// The arguments of `mcp add`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A server is a program, given after --, or an address, given with --url. It learns nothing of your \
environment but what you name: --env lets it inherit a variable, --set gives it a variable (or, \
with --url, a header) with a text, and --secret one whose value is kept elsewhere, is read when \
the server starts and is never written into the configuration.

Examples:
  a-society mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/docs
  a-society mcp add tickets --secret TOKEN=env:TICKETS_TOKEN --reads list,search -- tickets-mcp
  a-society mcp add docs --url https://docs.example.com/mcp \\
      --secret 'Authorization=Bearer keyring:docs'
  a-society mcp test docs")]
pub(super) struct Add {
    /// Its name here
    #[arg(value_name = "SERVER")]
    name: String,

    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "url")]
    command: Vec<String>,

    /// The folder in which the program runs; / if absent
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    folder: Option<String>,

    /// Its address, if it is on the network
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Its name may resolve to an address of a private network
    #[arg(long, requires = "url")]
    private: bool,

    /// Variables that the program inherits
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        conflicts_with = "url"
    )]
    env: Vec<String>,

    /// A variable, or a header, and its text
    #[arg(long, value_name = "NAME=TEXT", value_parser = set)]
    set: Vec<(String, String)>,

    /// A variable, or a header, whose value is kept in a variable, a file or the keyring, with a prefix
    /// such as "Bearer "
    #[arg(long, value_name = "NAME=[TEXT ](env|file|keyring):PLACE", value_parser = secret)]
    secret: Vec<(String, Kept)>,

    /// Its tools that only read
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    reads: Vec<String>,

    /// What it is good for, which roles read
    #[arg(long, value_name = "TEXT")]
    about: Option<String>,

    /// Replace the server of this name
    #[arg(long)]
    replace: bool,
}

/// Where a value is kept, and its prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    place: SecretPlace,
    prefix: String,
}

fn set(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = parts.ok_or("say NAME=TEXT")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn secret(text: &str) -> Result<(String, Kept), String> {
    let how = "say NAME=env:VARIABLE, NAME=file:PATH or NAME=keyring:ENTRY, with a prefix such as 'Bearer ' in \
               front of the place";
    let (name, value) = set(text).map_err(|_| how.to_owned())?;
    let found = ["env", "file", "keyring"].into_iter().find_map(|kind| {
        let at = value.find(&format!("{kind}:"))?;
        let (prefix, rest) = value.split_at(at);
        let is_begun = prefix.is_empty() || prefix.ends_with(' ');
        let place = rest.get(kind.len() + 1..)?;
        (is_begun && !place.is_empty()).then(|| Kept {
            place: (kind.to_owned(), place.to_owned()),
            prefix: prefix.to_owned(),
        })
    });
    Ok((name, found.ok_or(how)?))
}

/// Adds a server, or replaces one.
pub(super) fn add(context: &mut Context<'_>, arguments: &Add) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let mut words = arguments.command.iter().cloned();
    let set = arguments.set.iter();
    let set = set.map(|(name, text)| (name.clone(), HeldValue::Plain(text.clone())));
    let kept = arguments.secret.iter().map(|(name, kept)| {
        let held = HeldValue::Kept {
            place: kept.place.clone(),
            prefix: kept.prefix.clone(),
        };
        (name.clone(), held)
    });
    let new = NewServer {
        name: arguments.name.clone(),
        command: words.next(),
        arguments: words.collect(),
        folder: arguments.folder.clone(),
        url: arguments.url.clone(),
        is_private: arguments.private,
        inherits: arguments.env.clone(),
        values: set.chain(kept).collect(),
        reads: arguments.reads.clone(),
        about: arguments.about.clone(),
    };
    let done = servers::put(&sheet, &new, arguments.replace).map_err(refused)?;
    let path = sheet.save(&done.text).map_err(refused)?;
    if context.out.is_json() {
        let added = json!({
            "server": new.name, "definition": done.definition, "does": done.shown, "file": path,
        });
        context.out.value(&added)?;
        return Ok(ExitCode::Ok);
    }
    let is = if done.was.is_some() {
        "changed"
    } else {
        "added"
    };
    let line = format!("{} is {is} in {}", new.name, path.display());
    context.out.line(&plain(&line))?;
    for line in done.shown.lines() {
        context.out.line(&format!("    {}", plain(line)))?;
    }
    if done.was.is_some_and(|was| was != done.shown) {
        let note = "flows that trust it as it was wait for you to approve it as it is";
        context.out.note(note);
    }
    let note = format!(
        "see what it offers: a-society mcp test {}; a role uses it with mcp-servers: [{}]",
        new.name, new.name
    );
    context.out.note(&plain(&note));
    Ok(ExitCode::Ok)
}

/// Takes a server out.
pub(super) fn rm(context: &mut Context<'_>, name: &str) -> Outcome {
    let sheet = Sheet::read().map_err(refused)?;
    let text = servers::removed(&sheet, name).map_err(refused)?;
    let path = sheet.save(&text).map_err(refused)?;
    if context.out.is_json() {
        context
            .out
            .value(&json!({ "server": name, "file": path }))?;
        return Ok(ExitCode::Ok);
    }
    let line = format!("{name} is taken out of {}", path.display());
    context.out.line(&plain(&line))?;
    Ok(ExitCode::Ok)
}

/// Starts a server, lists what it offers, and ends it.
pub(super) fn test(context: &mut Context<'_>, name: &str) -> Outcome {
    let store = context.store().ok();
    let lists = store.as_ref();
    let lists = lists.map(|store| lists_in(workspace::folder_of(store)));
    context
        .out
        .progress(&format!("starting {name}, to ask what it offers"));
    let said = servers::try_out(name, &lists.unwrap_or_default());
    let tools = said.map_err(refused)?.map_err(|why| {
        OperatorError::new(
            ("server-unavailable", ExitCode::Failed),
            format!("{name} does not work"),
            why,
            format!("look at its definition: a-society mcp ls; change it: a-society mcp add {name} --replace …"),
        )
    })?;
    if context.out.is_json() {
        context
            .out
            .value(&json!({ "server": name, "tools": tools }))?;
        return Ok(ExitCode::Ok);
    }
    let line = format!("{name} works, and offers {}", count(tools.len(), "tool"));
    context.out.line(&plain(&line))?;
    for tool in &tools {
        context.out.line(&format!("    {}", plain(tool)))?;
    }
    Ok(ExitCode::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_said_by_where_it_is_kept() {
        let kept = |text: &str| secret(text).map(|(name, kept)| (name, kept.place, kept.prefix));
        let place = |how: &str, place: &str| (how.to_owned(), place.to_owned());
        assert_eq!(
            kept("TOKEN=env:TICKETS"),
            Ok(("TOKEN".to_owned(), place("env", "TICKETS"), String::new()))
        );
        assert_eq!(
            kept("Authorization=Bearer keyring:docs"),
            Ok((
                "Authorization".to_owned(),
                place("keyring", "docs"),
                "Bearer ".to_owned()
            ))
        );
        assert_eq!(
            kept("KEY=file:~/a=b").map(|it| it.1),
            Ok(place("file", "~/a=b"))
        );
        for bad in ["TOKEN", "=env:X", "TOKEN=abc", "TOKEN=env:", "TOKEN=xenv:Y"] {
            assert!(kept(bad).is_err(), "{bad}");
        }
    }
}
