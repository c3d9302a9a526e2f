//! Starting the program.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{Bench, line, median, ms, timed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_a-society");

fn once(folder: &Path, program: &str, arguments: &[&str]) -> f64 {
    let run = || {
        let status = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let status = status.unwrap();
        assert!(status.success(), "{program} {arguments:?}: {status}");
    };
    ms(timed(run).0)
}

/// How long a whole process takes, against one that does nothing.
pub(crate) fn the_program(bench: &Bench) {
    let root = bench.folder("start");
    std::fs::create_dir_all(root.join(".a-society")).unwrap();
    let hello = root.join("hello");
    std::fs::create_dir_all(&hello).unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hello");
    std::fs::copy(ours.join("flow.yaml"), hello.join("flow.yaml")).unwrap();
    let script = std::fs::read_to_string(ours.join("script.yaml")).unwrap();
    // The example lets its words come slowly, which is no time of ours.
    let script = script.replace(", every-ms: 5", "");
    assert!(!script.contains("every-ms"), "the example waits elsewhere");
    std::fs::write(hello.join("script.yaml"), script).unwrap();
    let run = ["run", "hello/flow.yaml", "--improve", "none"];
    let (mut nothing, mut version, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.either(61, 15) {
        nothing.push(once(&root, "/bin/true", &[]));
        version.push(once(&root, PROGRAM, &["--version"]));
        whole.push(once(&root, PROGRAM, &run));
    }
    let nothing = median(nothing);
    for (figure, wanted, times) in [
        ("`a-society --version`", "≤ 10 ms", version),
        (
            "`a-society run` of examples/hello, without its pauses",
            "≤ 60 ms",
            whole,
        ),
    ] {
        let measured = format!("{:.1} ms (`/bin/true`: {nothing:.1} ms)", median(times));
        line(figure, wanted, &measured);
    }
}
