//! `tests/measure`, whose figures `tests/long` prints: that each still runs, in small. What it says means nothing here.

use std::process::Command;

#[test]
fn each_long_measurement_runs_in_small_and_prints_its_figures() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measure");
    for (name, figure) in [
        ("syncs", "capture=100: "),
        ("memory", "% an hour"),
        ("rows", " / 400 memories, cold: p50 "),
        ("start", "SERVING after "),
        ("text", "text recall, cold, 20 a second: p50 "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(script);
        command.args([env!("CARGO_BIN_EXE_recall-gate"), name, "--small"]).env("CARGO_TARGET_DIR", folder.path());
        let ran = command.env("GATE_MEASURE_MINUTES", "0.05").output().unwrap();
        let [said, why] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!((ran.status.code(), why.as_str()), (Some(0), ""), "{name}: {said}");
        assert!(said.contains(figure), "{name}: {said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name} leaves nothing behind");
    }
}
