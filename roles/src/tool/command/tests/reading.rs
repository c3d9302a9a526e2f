//! What commands behind walls can read: toolchains wherever they are installed, and no secret of the system
//! or of a home.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use a_society_facts::Hash;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::json;

use super::super::wall::open_to_all;
use super::has_walls;
use crate::tool::Toolbox;
use crate::tool::tests::stage::{Stage, done, without_time};

/// A home of a user, with a folder of programs on `PATH` that holds nothing yet.
struct Home<'a>(&'a Stage);

impl Home<'_> {
    fn program(&self, path: &str, text: &str) {
        let path = format!("home/{path}");
        self.0.write(&path, text);
        let whole = self.0.root().join(&path);
        fs::set_permissions(whole, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An interpreter that says what is in its library, as one that could not read that would not.
    fn interpreter(&self, prefix: &str, name: &str) {
        let text =
            "#!/bin/sh\nhere=$(dirname \"$(readlink -f \"$0\")\")\ncat \"$here/../lib/says\"\n";
        self.program(&format!("{prefix}/bin/{name}"), text);
        self.0.write(&format!("home/{prefix}/lib/says"), prefix);
    }

    fn link(&self, from: &str, to: &str) {
        let from = self.whole(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(self.whole(to), from).unwrap();
    }

    fn whole(&self, path: &str) -> std::path::PathBuf {
        self.0.root().join("home").join(path)
    }

    /// What a command says with these folders of the home on `PATH`.
    fn says(&self, path: &[&str], command: &str) -> String {
        let mut setting = self.0.setting();
        let given = |name: &str| !["HOME", "PATH"].contains(&name);
        setting.environment.retain(|(name, _)| given(name));
        let folders = path.iter().map(|it| self.whole(it).display().to_string());
        let path: Vec<String> = folders.chain(["/usr/bin:/bin".to_owned()]).collect();
        let home = self.whole("").display().to_string();
        let home = home.trim_end_matches('/').to_owned();
        setting.environment.push(("HOME".to_owned(), home));
        setting
            .environment
            .push(("PATH".to_owned(), path.join(":")));
        let tools = Toolbox::open(setting).unwrap();
        let done = done(&tools, "run_command", json!({ "command": command })).unwrap();
        without_time(&done.output)
    }
}

const SECRETS: [&str; 9] = [
    "notes.txt",
    ".ssh/id_ed25519",
    ".aws/bin/credentials",
    ".cargo/credentials.toml",
    ".config/gh/hosts.yml",
    ".local/share/keyrings/login.keyring",
    ".local/share/uv/credentials/token",
    ".local/state/history",
    "code/other/src/main.py",
];

/// Writes secrets of every kind, where toolchains are all around them.
fn home(stage: &Stage) -> Home<'_> {
    for secret in SECRETS {
        stage.write(&format!("home/{secret}"), "a secret");
    }
    Home(stage)
}

#[test]
fn toolchains_are_read_where_path_leads_and_the_rest_of_the_home_is_not() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let home = home(&stage);
    uv(&home);
    conda(&home);
    mise(&home);
    fnm(&home);
    pipenv_and_poetry(&home);
    environments_that_are_not_active(&home);
    nothing_else_is_read(&home);
}

fn ok(text: &str) -> String {
    format!("[exit 0]\n{text}")
}

fn uv(home: &Home<'_>) {
    // Interpreters in its data folder, and tools in environments of their own with links on PATH.
    let python = ".local/share/uv/python/cpython-3.12.3-linux-x86_64-gnu";
    home.interpreter(python, "python3.12");
    home.program(".local/bin/uv", "#!/bin/sh\necho uv\n");
    home.link(
        ".local/share/uv/tools/ruff/bin/python",
        &format!("{python}/bin/python3.12"),
    );
    let shebang = home.whole(".local/share/uv/tools/ruff/bin/python");
    home.program(
        ".local/share/uv/tools/ruff/bin/ruff",
        &format!("#!{}\n", shebang.display()),
    );
    home.link(".local/bin/ruff", ".local/share/uv/tools/ruff/bin/ruff");
    assert_eq!(home.says(&[".local/bin"], "ruff"), ok(python));
    // The environment of a project, whose interpreter nothing on PATH names.
    let venv = home.0.project().join(".venv/bin");
    fs::create_dir_all(&venv).unwrap();
    symlink(
        home.whole(&format!("{python}/bin/python3.12")),
        venv.join("python"),
    )
    .unwrap();
    assert_eq!(home.says(&[".local/bin"], ".venv/bin/python"), ok(python));
}

/// An environment that is active, and its own program.
fn conda(home: &Home<'_>) {
    let env = "miniconda3/envs/data";
    home.interpreter(env, "python");
    assert_eq!(
        home.says(
            &["miniconda3/envs/data/bin", "miniconda3/condabin"],
            "python"
        ),
        ok(env)
    );
    home.interpreter("miniconda3", "python");
    let conda = home.whole("miniconda3/bin/python");
    home.program(
        "miniconda3/condabin/conda",
        &format!("#!{}\n", conda.display()),
    );
    assert_eq!(
        home.says(&["miniconda3/condabin"], "conda"),
        ok("miniconda3")
    );
}

/// The folder of a version, and small programs that are links to mise itself.
fn mise(home: &Home<'_>) {
    let node = ".local/share/mise/installs/node/22.1.0";
    home.interpreter(node, "node");
    assert_eq!(home.says(&[&format!("{node}/bin")], "node"), ok(node));
    let mise = "#!/bin/sh\nexec \"$HOME/.local/share/mise/installs/node/22.1.0/bin/${0##*/}\"\n";
    home.program(".local/bin/mise", mise);
    home.link(".local/share/mise/shims/node", ".local/bin/mise");
    assert_eq!(home.says(&[".local/share/mise/shims"], "node"), ok(node));
}

/// A folder for each shell, which leads to an installation.
fn fnm(home: &Home<'_>) {
    let node = ".local/share/fnm/node-versions/v20.11.0/installation";
    home.interpreter(node, "node");
    home.link("run/fnm_multishells/77_1716/bin", &format!("{node}/bin"));
    assert_eq!(
        home.says(&["run/fnm_multishells/77_1716/bin"], "node"),
        ok(node)
    );
}

/// Environments below other folders, whose interpreter is pyenv's.
fn pipenv_and_poetry(home: &Home<'_>) {
    let pyenv = ".pyenv/versions/3.11.9";
    home.interpreter(pyenv, "python3.11");
    for env in [
        ".local/share/virtualenvs/app-x1y2",
        ".cache/pypoetry/virtualenvs/app-9x-py3.11",
    ] {
        home.link(
            &format!("{env}/bin/python"),
            &format!("{pyenv}/bin/python3.11"),
        );
        home.0
            .write(&format!("home/{env}/pyvenv.cfg"), "home = there\n");
        home.0.write(&format!("home/{env}/lib/site.py"), "site");
        let said = home.says(
            &[&format!("{env}/bin")],
            &format!("cat ~/{env}/pyvenv.cfg ~/{env}/lib/site.py; echo; python"),
        );
        assert_eq!(said, ok(&format!("home = there\nsite\n{pyenv}")));
    }
    home.interpreter(".local/share/pypoetry/venv", "python");
    let python = home.whole(".local/share/pypoetry/venv/bin/python");
    home.program(
        ".local/share/pypoetry/venv/bin/poetry",
        &format!("#!{}\n", python.display()),
    );
    home.link(".local/bin/poetry", ".local/share/pypoetry/venv/bin/poetry");
    assert_eq!(
        home.says(&[".local/bin"], "poetry"),
        ok(".local/share/pypoetry/venv")
    );
}

/// Environments of the project that its manager finds by its path, and those of other projects.
fn environments_that_are_not_active(home: &Home<'_>) {
    let project = home.0.project();
    let project = fs::canonicalize(project).unwrap();
    let letters = URL_SAFE.encode(Hash::of(project.as_os_str().as_bytes()).bytes());
    let pyenv = ".pyenv/versions/3.11.9";
    let managers = [
        ("pipenv", ".local/share/virtualenvs", "mine-q1".to_owned()),
        (
            "poetry",
            ".cache/pypoetry/virtualenvs",
            format!("mine-{}-py3.11", &letters[..8]),
        ),
    ];
    for (manager, envs, mine) in managers {
        let mine = format!("{envs}/{mine}");
        let other = format!("{envs}/other-AAAAAAAA-py3.11");
        for (env, of) in [
            (&mine, project.as_path()),
            (&other, Path::new("/elsewhere")),
        ] {
            let interpreter = format!("{pyenv}/bin/python3.11");
            home.link(&format!("{env}/bin/python"), &interpreter);
            let write = |name: &str, text: &str| home.0.write(&format!("home/{env}/{name}"), text);
            write(".project", &of.display().to_string());
            write("lib/site.py", "site");
        }
        let runs = home.whole(&format!("{mine}/bin"));
        let runs = format!("#!/bin/sh\nshift\nexec {}/\"$@\"\n", runs.display());
        home.program(&format!(".local/bin/{manager}"), &runs);
        let run = format!("{manager} run python; echo; cat ~/{mine}/lib/site.py");
        assert_eq!(
            home.says(&[".local/bin"], &run),
            ok(&format!("{pyenv}\nsite"))
        );
        let said = home.says(&[".local/bin"], &format!("cat ~/{other}/lib/site.py"));
        assert!(!said.contains("[exit 0]"), "{manager}: {said}");
    }
}

/// Whatever is on PATH, and wherever its links lead.
fn nothing_else_is_read(home: &Home<'_>) {
    home.link(".local/bin/key", ".ssh/id_ed25519");
    home.link(".local/bin/notes", "notes.txt");
    home.program("code/other/bin/tool", "#!/bin/sh\n");
    let all = [
        ".local/bin",
        ".cargo/bin",
        "code/other/bin",
        "miniconda3/condabin",
        ".local/share/mise/shims",
        ".aws/bin",
        "",
    ];
    home.program(".cargo/bin/cargo", "#!/bin/sh\n");
    for secret in SECRETS {
        let said = home.says(&all, &format!("cat ~/{secret}"));
        assert!(!said.contains("a secret"), "{secret}: {said}");
    }
    let said = home.says(&all, "key; notes; cat ~/.local/bin/key");
    assert!(!said.contains("a secret"), "{said}");
}

#[test]
fn a_link_that_a_role_makes_in_the_project_opens_nothing() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let home = home(&stage);
    home.interpreter("code/other", "tool");
    let bin = stage.project().join(".venv/bin");
    fs::create_dir_all(&bin).unwrap();
    symlink(home.whole("code/other/bin/tool"), bin.join("python")).unwrap();
    let said = home.says(
        &["../project/.venv/bin"],
        ".venv/bin/python; cat ~/code/other/lib/says",
    );
    assert!(
        !said.contains("code/other\n") && !said.ends_with("code/other"),
        "{said}"
    );
}

#[test]
fn whoever_runs_a_command_it_reads_no_secret_of_the_system() {
    let stage = Stage::new();
    if !has_walls(&stage) {
        return;
    }
    let said = |command: &str| Home(&stage).says(&[], command);
    for secret in [
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/shadow-",
        "/etc/sudoers",
        "/etc/ssh/ssh_host_ed25519_key",
        "/etc/ssl/private/ssl-cert-snakeoil.key",
    ] {
        // What is not there cannot be read either.
        let told = said(&format!("cat {secret}"));
        assert!(!told.contains("[exit 0]"), "{secret}: {told}");
    }
    for open in ["/etc/passwd", "/etc/hosts"] {
        if Path::new(open).exists() {
            let told = said(&format!("cat {open} && ls /etc"));
            assert!(told.contains("[exit 0]"), "{open}: {told}");
        }
    }
}

#[test]
fn of_the_settings_of_the_system_only_what_every_user_may_read_is_open() {
    let stage = Stage::new();
    let file = |path: &str, mode: u32| {
        stage.write(&format!("etc/{path}"), "x");
        let path = stage.root().join("etc").join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let folder = |path: &str, mode: u32| {
        let path = stage.root().join("etc").join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    file("passwd", 0o644);
    file("shadow", 0o640);
    file("ssl/certs/a.pem", 0o644);
    file("ssl/private/a.key", 0o644);
    file("ssl/openssl.cnf", 0o644);
    file("ssh/host_key", 0o600);
    file("ssh/host_key.pub", 0o644);
    file("all/of/it/a", 0o644);
    for (path, mode) in [
        ("", 0o755),
        ("ssl", 0o755),
        ("ssl/certs", 0o755),
        ("ssl/private", 0o710),
        ("ssh", 0o755),
        ("all", 0o755),
        ("all/of", 0o755),
        ("all/of/it", 0o755),
    ] {
        folder(path, mode);
    }
    symlink("/etc/shadow", stage.root().join("etc/all/linked")).unwrap();
    let etc = stage.root().join("etc");
    let mut open: Vec<String> = open_to_all(&etc)
        .iter()
        .map(|path| path.strip_prefix(&etc).unwrap().display().to_string())
        .collect();
    open.sort();
    assert_eq!(
        open,
        [
            "all",
            "passwd",
            "ssh/host_key.pub",
            "ssl/certs",
            "ssl/openssl.cnf"
        ]
    );
    assert_eq!(open_to_all(&etc.join("all")), [etc.join("all")]);
    folder("ssl/private", 0o755);
}
