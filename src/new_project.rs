//! Making a project, or an example that runs without models: the same for the terminal and for the page.
//!
//! Nothing that is there already is replaced: either every file is written, or none.

use std::io::Write;
use std::path::{Path, PathBuf};

use a_society_facts::id::ProjectName;
use a_society_state::disk::{Disk, Kind, RealDisk};

use crate::exit_code::ExitCode;
use crate::operator_error::{OperatorError, Stop, from_io};
use crate::output_file::{OutputFile, make_folder, whole_path};
use crate::workspace;

/// A file of the template: its path in the project, and what it says.
macro_rules! template {
    ($($path:literal),* $(,)?) => {
        [$((concat!("a-docs/", $path), include_str!(concat!("template/", $path)))),*]
    };
}

/// The files that are written.
const FILES: [(&str, &str); 12] = template![
    "agents.md",
    "indexes/main.md",
    "style.md",
    "roles/owner/main.md",
    "roles/owner/required-readings.yaml",
    "roles/owner/ownership.yaml",
    "roles/writer/main.md",
    "roles/writer/required-readings.yaml",
    "roles/writer/ownership.yaml",
    "workflow/main.yaml",
    "workflow/script.yaml",
    "improvement/meta-analysis.md",
];

/// The flow that fills the folder, by its path in the project.
pub(crate) const INITIALIZATION: &str = "a-docs/initialization/flow.yaml";
/// The flow for a folder that holds work already.
const TAKEOVER: &str = include_str!("template/initialization/takeover.yaml");
/// The flow for a folder in which nothing was made yet.
const GREENFIELD: &str = include_str!("template/initialization/greenfield.yaml");

/// The flow of the example.
pub(crate) const EXAMPLE_FLOW: &str = include_str!("../examples/review-loop/flow.yaml");
/// Who says what in it.
pub(crate) const EXAMPLE_SCRIPT: &str = include_str!("../examples/review-loop/script.yaml");
/// What its files are called.
pub(crate) const EXAMPLE_FILES: [&str; 2] = ["flow.yaml", "script.yaml"];

/// How fast scripts of examples speak, and how fast on a terminal.
const PACE: &str = "every-ms: 5 }";
const PACE_SHOWN: &str = "every-ms: 250 }";

/// What was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// The files, by their paths in the folder.
    pub(crate) files: Vec<&'static str>,
    /// Whether the folder became a workspace too.
    pub(crate) is_workspace: bool,
    /// Whether the folder held work already.
    pub(crate) is_takeover: bool,
}

/// A file that is written, by its path in the folder.
struct TemplateFile<'a> {
    name: &'static str,
    text: &'a str,
}

/// Makes a folder a project, and a workspace if it is in none.
///
/// # Errors
/// When a file of it is there already, when the folder is not directly in its workspace, or when the
/// file system refuses.
pub(crate) fn make(dir: &Path) -> Result<Made, Stop> {
    let is_takeover = holds_work(dir)?;
    let flow = if is_takeover { TAKEOVER } else { GREENFIELD };
    let written = FILES.into_iter().chain([(INITIALIZATION, flow)]);
    let written: Vec<TemplateFile<'_>> = written
        .map(|(name, text)| TemplateFile { name, text })
        .collect();
    must_be_free(dir, &written)?;
    make_folder(dir)?;
    // Inside a workspace it is one more project of it.
    let around = workspace::around(dir)?;
    if let Some(around) = &around {
        let whole = whole_path(dir)?;
        if whole != *around && whole.parent() != Some(around.as_path()) {
            return Err(too_deep(dir, around));
        }
    }
    write(dir, &written, || {
        if around.is_none() {
            workspace::make(dir)?;
        }
        Ok(())
    })?;
    Ok(Made {
        files: written.iter().map(|file| file.name).collect(),
        is_workspace: around.is_none(),
        is_takeover,
    })
}

/// Writes the example into a folder: a flow file, and the script that takes its turns.
///
/// # Errors
/// When one of the files is there already, or the file system refuses.
pub(crate) fn make_example(dir: &Path) -> Result<Made, Stop> {
    let script = shown_slowly(EXAMPLE_SCRIPT);
    let [flow_name, script_name] = EXAMPLE_FILES;
    let written = [
        TemplateFile {
            name: flow_name,
            text: EXAMPLE_FLOW,
        },
        TemplateFile {
            name: script_name,
            text: script.as_str(),
        },
    ];
    must_be_free(dir, &written)?;
    make_folder(dir)?;
    write(dir, &written, || Ok(()))?;
    Ok(Made {
        files: EXAMPLE_FILES.to_vec(),
        is_workspace: false,
        is_takeover: false,
    })
}

/// The script of an example, so slow that a person sees what happens.
pub(crate) fn shown_slowly(script: &str) -> String {
    script.replace(PACE, PACE_SHOWN)
}

/// The folder directly in a workspace that a name means; it need not be there yet.
///
/// # Errors
/// When it is no name of a project, or what bears it leads elsewhere.
pub(crate) fn folder_named(root: &Path, name: &str) -> Result<(ProjectName, PathBuf), Stop> {
    let parsed: Result<ProjectName, _> = name.parse();
    let named = parsed.map_err(|bad| unfit_name(name, &bad.to_string()))?;
    let folder = root.join(named.as_str());
    match RealDisk.about(&folder) {
        Ok(about) if about.kind == Kind::Folder => {}
        Ok(_) => {
            let why = "a link or a file of that name is there";
            return Err(unfit_name(name, why));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(from_io("look at", name, &error).into()),
    }
    Ok((named, folder))
}

fn write(
    dir: &Path,
    files: &[TemplateFile<'_>],
    before: impl FnOnce() -> Result<(), Stop>,
) -> Result<(), Stop> {
    let begun = files.iter().map(|file| begin(dir, file.name, file.text));
    // Every name is looked at before the first one is taken.
    let begun = begun.collect::<Result<Vec<_>, Stop>>()?;
    before()?;
    for file in begun {
        file.finish()?;
    }
    Ok(())
}

fn must_be_free(dir: &Path, files: &[TemplateFile<'_>]) -> Result<(), Stop> {
    match files.iter().find(|file| dir.join(file.name).exists()) {
        Some(file) => Err(taken(&dir.join(file.name))),
        None => Ok(()),
    }
}

/// Whether a folder holds something that is not ours and not hidden.
fn holds_work(dir: &Path) -> Result<bool, Stop> {
    match RealDisk.list(dir) {
        Ok(entries) => Ok(entries
            .iter()
            .any(|entry| !entry.name.starts_with('.') && entry.name != "a-docs")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(from_io("read", &dir.display().to_string(), &error).into()),
    }
}

fn unfit_name(name: &str, why: &str) -> Stop {
    let what = format!("{name:?} cannot be the name of a project");
    let hint = "take another name";
    OperatorError::new(("project-unfit", ExitCode::Refused), what, why, hint).into()
}

fn taken(path: &Path) -> Stop {
    let what = format!("{} is there already", path.display());
    let why = "nothing is replaced, and nothing was written";
    let hint = "name another folder: a-society init DIR";
    OperatorError::new(("file-exists", ExitCode::Refused), what, why, hint).into()
}

fn too_deep(dir: &Path, around: &Path) -> Stop {
    let what = format!("{} cannot become a project", dir.display());
    let why = format!(
        "it is in the workspace {}, whose projects are its own folders",
        around.display()
    );
    let hint = "name a folder directly in the workspace, or one outside of it";
    OperatorError::new(("project-unfit", ExitCode::Refused), what, why, hint).into()
}

fn begin(dir: &Path, name: &str, text: &str) -> Result<OutputFile, Stop> {
    let path = dir.join(name);
    make_folder(path.parent().unwrap_or(dir))?;
    let mut file = OutputFile::create(&path, false)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| from_io("write", &path.display().to_string(), &error))?;
    Ok(file)
}
