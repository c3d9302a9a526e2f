//! A project with a record folder, and the tools over them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use a_society_base::stop::StopSignal;
use a_society_facts::fact::terms::ConsentTerms;
use a_society_facts::fact::turn::CallEnd;
use a_society_facts::message::ToolCall;
use serde_json::value::RawValue;
use tempfile::TempDir;

use crate::tool::{
    CallPlan, CallRefusal, Finished, Guard, Owner, RefusalKind, ToolSetting, Toolbox,
};

/// A folder with a project, a record folder within the state of flows, and something outside.
#[derive(Debug)]
pub(in super::super) struct Stage {
    pub folder: TempDir,
    /// One of its own: what a call started is known by its flow, and ended by it.
    flow: String,
}

impl Stage {
    pub(in super::super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed) + (std::process::id() << 8);
        let flow = format!("20260527T143000123Z-{:06x}", count & 0xff_ffff);
        let stage = Self { folder, flow };
        fs::create_dir_all(stage.project()).unwrap();
        fs::create_dir_all(stage.record()).unwrap();
        stage.write(".a-society/state/p/f/flow.json", "{}");
        stage.write("outside.txt", "outside");
        stage
    }

    pub(in super::super) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(in super::super) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub(in super::super) fn record(&self) -> PathBuf {
        self.root().join(".a-society/state/p/f/record")
    }

    /// Writes a file, by its path from the folder around everything.
    pub(in super::super) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(in super::super) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    pub(in super::super) fn setting(&self) -> ToolSetting {
        let owner = Owner {
            flow: self.flow.parse().unwrap(),
            role: "builder".parse().unwrap(),
            node: Some("build".parse().unwrap()),
        };
        let mut setting = ToolSetting::new(owner, self.project(), self.record());
        setting.guard = Some(this_binary_as_guard());
        setting.environment = std::env::vars().collect();
        setting
    }

    pub(in super::super) fn toolbox(&self) -> Toolbox {
        Toolbox::open(self.setting()).unwrap()
    }
}

/// This test binary with the arguments that make it a guard.
pub(in super::super) fn this_binary_as_guard() -> Guard {
    let program = std::env::current_exe().unwrap();
    let words = [
        "tool::command::tests::a_guard_without_an_order_does_nothing",
        "--exact",
        "--nocapture",
        "--quiet",
    ];
    let mut run = vec![program.to_string_lossy().into_owned()];
    run.extend(words.map(str::to_owned));
    Guard { run }
}

pub(in super::super) fn call(tool: &str, arguments: serde_json::Value) -> ToolCall {
    ToolCall {
        id: "call-1".to_owned(),
        name: tool.to_owned(),
        input: RawValue::from_string(arguments.to_string()).unwrap(),
    }
}

pub(in super::super) fn plan(
    tools: &Toolbox,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<CallPlan, CallRefusal> {
    tools.plan(&call(tool, arguments))
}

/// Plans, starts and finishes a call, as if it had been allowed.
/// The walls that a planned command would run without.
pub(in super::super) fn missing(plan: &CallPlan) -> &[String] {
    let ConsentTerms::Command(command) = &plan.ask.terms else {
        return &[];
    };
    &command.missing
}

/// The files that a planned call is about.
pub(in super::super) fn paths(plan: &CallPlan) -> Vec<&str> {
    plan.ask.terms.paths().collect()
}

pub(in super::super) fn done(
    tools: &Toolbox,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<Finished, CallRefusal> {
    let plan = plan(tools, tool, arguments)?;
    Ok(finish(tools, plan, &StopSignal::default()))
}

pub(in super::super) fn finish(tools: &Toolbox, plan: CallPlan, stop: &StopSignal) -> Finished {
    match tools.start(plan, &"7.1.1".parse().unwrap(), stop) {
        Ok(running) => running.finish(),
        Err(finished) => finished,
    }
}

/// What a command says, without the time that it took.
pub(in super::super) fn without_time(output: &str) -> String {
    let (first, rest) = output.split_once('\n').unwrap_or((output, ""));
    let is_head = first.starts_with('[') && first.ends_with(" s]");
    match first.rsplit_once(", ").filter(|_| is_head) {
        Some((head, _)) => format!("{head}]\n{rest}"),
        None => output.to_owned(),
    }
}

/// What a call that must work gives.
pub(in super::super) fn output(
    tools: &Toolbox,
    tool: &str,
    arguments: serde_json::Value,
) -> String {
    let finished = done(tools, tool, arguments).unwrap();
    assert_eq!(finished.end, CallEnd::Done, "{}", finished.output);
    without_time(&finished.output)
}

/// That a call is refused, or fails, and how.
pub(in super::super) fn refusal(
    tools: &Toolbox,
    tool: &str,
    arguments: serde_json::Value,
) -> Option<RefusalKind> {
    plan(tools, tool, arguments)
        .err()
        .map(|refusal| refusal.kind)
}

/// Every file below a folder with its content, to see that nothing was changed.
pub(in super::super) fn everything_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_dir() {
                found.push((path.clone(), Vec::new()));
                open.push(path);
            } else if kind.is_file() {
                found.push((path.clone(), fs::read(path).unwrap()));
            } else {
                found.push((path, Vec::new()));
            }
        }
    }
    found.sort();
    found
}
