//! Settings: what is unknown is named, what is nearer counts, and `--help` tells them all.

use clap::Args;
use recall_gate::config::Layer;

use crate::program::{Running, address, eventually, finish, program, run};

#[test]
fn an_unknown_setting_is_named_wherever_it_is_and_the_exit_code_is_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = "nonsense_one = 1\nnonsense_two = 'x'\nlisten = 'nowhere'\n";
    std::fs::write(folder.path().join("settings.toml"), file).unwrap();
    let mut command = program(folder.path());
    let command = command.arg("serve").env("RECALL_GATE_CONFIG", "settings.toml");
    let ran = finish(command.env("RECALL_GATE_NONSENSE", "1").env("RECALL_GATE_LISEN", "x"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    for name in ["`nonsense_one`", "`nonsense_two`", "settings.toml", "`RECALL_GATE_NONSENSE`", "`RECALL_GATE_LISEN`"] {
        assert!(ran.err.contains(name), "{name} is not in {}", ran.err);
    }

    let ran = run(folder.path(), &["serve", "--nonsense", "x"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("--nonsense"), "{}", ran.err);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing but the settings file is there");
}

#[test]
fn an_unknown_variable_stops_every_command_that_reads_settings() {
    let folder = tempfile::tempdir().unwrap();
    for command in [&["serve"][..], &["policy", "show"], &["token"]] {
        let ran = finish(program(folder.path()).args(command).env("RECALL_GATE_NONSENSE", "1"));
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.err);
        assert!(ran.err.contains("`RECALL_GATE_NONSENSE`"), "{command:?}: {}", ran.err);
    }
}

#[test]
fn a_flag_stands_over_the_environment_and_that_over_the_file() {
    let opened = |flag: &[&str], variable: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.toml"), "listen = '127.0.0.1:0'\ndatabase = 'file.db'\n").unwrap();
        let mut command = program(folder.path());
        command.args(["serve", "--config", "settings.toml"]).args(flag);
        let mut running = Running::spawn(command.envs(variable.map(|value| ("RECALL_GATE_DATABASE", value))));
        address(&mut running);
        let there = |name: &&str| folder.path().join(name).exists();
        ["file.db", "variable.db", "flag.db"].into_iter().filter(there).collect::<Vec<_>>()
    };
    assert_eq!(opened(&[], None), ["file.db"]);
    assert_eq!(opened(&[], Some("variable.db")), ["variable.db"]);
    assert_eq!(opened(&["--database", "flag.db"], Some("variable.db")), ["flag.db"]);
}

#[test]
fn the_help_of_serve_documents_every_setting_and_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["serve", "--help"]);
    assert_eq!(ran.code, Some(0));
    let layer = Layer::augment_args(clap::Command::new(""));
    assert!(layer.get_arguments().count() > 5);
    for setting in layer.get_arguments() {
        let flag = format!("--{} ", setting.get_long().unwrap());
        let variable = format!("[env: {}", setting.get_env().unwrap().to_str().unwrap());
        assert!(["<", "[<"].iter().any(|value| ran.out.contains(&format!("{flag}{value}"))), "{flag}");
        // What is set there is shown, unless it may hold a password.
        assert!(["=]", "]"].iter().any(|end| ran.out.contains(&format!("{variable}{end}"))), "{variable}");
        let about = setting.get_help().map(ToString::to_string).unwrap_or_default();
        let first_words = about.split(' ').take(3).collect::<Vec<_>>().join(" ");
        assert!(!about.is_empty() && ran.out.contains(&first_words), "{flag} is not explained");
    }
}

#[test]
fn the_help_of_every_command_explains_each_of_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let mut waiting = vec![Vec::new()];
    let mut seen = Vec::new();
    while let Some(path) = waiting.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let ran = run(folder.path(), &[&words[..], &["--help"]].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
        assert!(ran.out.contains("Usage: recall-gate"), "{words:?}: {}", ran.out);
        let after = |heading: &str| ran.out.split_once(heading).map_or("", |(_, rest)| rest);
        let commands = after("\nCommands:\n").split("\n\n").next().unwrap_or_default();
        for line in commands.lines().filter(|line| !line.trim().is_empty()) {
            let (name, about) = line.trim().split_once(' ').unwrap_or_else(|| panic!("{line:?} is not explained"));
            assert!(!about.trim().is_empty(), "{line:?} is not explained");
            if name != "help" {
                waiting.push([&path[..], &[name.to_owned()]].concat());
            }
        }
        assert_eq!(unexplained(&ran.out), [""; 0], "{words:?}: flags that are not explained");
        seen.push(words.join(" "));
    }
    seen.sort();
    assert_eq!(
        seen,
        [
            "",
            "bench",
            "demo",
            "health",
            "ledger",
            "ledger prune",
            "ledger stats",
            "migrate",
            "policy",
            "policy check",
            "policy show",
            "serve",
            "token"
        ]
    );
}

/// Flags with nothing said beside them, nor in the line below.
fn unexplained(help: &str) -> Vec<String> {
    let lines: Vec<&str> = help.lines().collect();
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let flag = line.trim_start();
        if !flag.starts_with("--") && !flag.starts_with("-h") && !flag.starts_with("-V") {
            continue;
        }
        let beside = flag.split_once("  ").is_some_and(|(_, about)| !about.trim().is_empty());
        let below = lines.get(place + 1).is_some_and(|next| {
            let next = next.trim_start();
            !next.is_empty() && !next.starts_with('-') && !next.starts_with('[')
        });
        if !beside && !below {
            found.push(flag.to_owned());
        }
    }
    found
}

#[test]
fn a_flag_without_a_word_beside_it_is_found() {
    let help = "Options:\n      --told <X>  What it does\n      --below <X>\n          What it does\n      --bare <X>\n\n  -h, --help  Print help\n";
    assert_eq!(unexplained(help), ["--bare <X>"]);
}

#[test]
fn settings_can_come_from_a_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = "listen = '127.0.0.1:0'\nlog_format = 'json'\ndrain_seconds = 1\n";
    std::fs::write(folder.path().join("settings.toml"), file).unwrap();
    let mut running = Running::spawn(program(folder.path()).args(["serve", "--config", "settings.toml"]));
    address(&mut running);
    let line = eventually("a line of the log", || running.err_so_far().lines().next().map(str::to_owned));
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
}

#[test]
fn a_settings_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["serve", "--config", "nowhere.toml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("nowhere.toml"), "{}", ran.err);
}

#[test]
fn every_line_of_a_json_log_is_an_object() {
    let service = crate::program::Service::start(&["--log-format", "json"]);
    let (_, ran) = service.stop();
    assert!(ran.err.lines().count() > 3, "{}", ran.err);
    for line in ran.err.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(object["level"].is_string() && object["message"].is_string(), "{line}");
    }
}
