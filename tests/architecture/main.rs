//! Holds the sources to their architecture: who may know whom, short files, no silenced lints, no loose ends.
//!
//! The rules are data, in `rules.rs`. Each is shown to fail on a line that breaks it.

mod mentions;
mod rules;
#[cfg(test)]
mod the_rules_themselves;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use mentions::Mention;
use rules::{EXCEPTIONS, HOMES, IN_TESTS, LAYERS, LONG, Layer, MAX_LINES, TESTS_KNOW};

/// The crates of the manifest, as Rust names them.
struct Crates {
    normal: BTreeSet<String>,
    dev: BTreeSet<String>,
}

impl Crates {
    fn of_the_manifest() -> Self {
        let manifest: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).unwrap_or_default();
        let table = |name| {
            let crates = manifest.get(name).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
            crates.map(|name| name.replace('-', "_")).collect()
        };
        Self { normal: table("dependencies"), dev: table("dev-dependencies") }
    }
}

/// A source file: its path from the root of the repository, and its text.
#[derive(Clone)]
struct Source {
    path: String,
    text: String,
}

/// Every Rust file below a folder of the repository.
fn sources(folder: &str) -> io::Result<Vec<Source>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join(folder)];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                sources.push(Source { path: name, text: fs::read_to_string(&path)? });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// The module that a file below `src` is, from the crate's root.
fn module(path: &str) -> Vec<String> {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').filter(|name| !matches!(*name, "lib" | "main")).map(str::to_owned).collect()
}

/// Whether `path` is `prefix` or below it.
fn is_below(path: &[String], prefix: &str) -> bool {
    let prefix: Vec<&str> = prefix.split("::").collect();
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(segment, wanted)| segment == wanted)
}

fn is_below_any(path: &[String], prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| is_below(path, prefix))
}

/// Every broken rule about who knows whom.
fn faults(sources: &[Source], crates: &Crates) -> Vec<String> {
    let mut faults = Vec::new();
    let mut test_modules = Vec::new();
    let mut readings = Vec::new();
    for source in sources {
        let module = module(&source.path);
        match mentions::read(&source.text, &module) {
            Ok(mut reading) => {
                test_modules.append(&mut reading.test_modules);
                readings.push((&source.path, module, reading));
            }
            Err(error) => faults.push(format!("{}: {error}", source.path)),
        }
    }
    for (path, module, reading) in readings {
        let test_file = test_modules.iter().any(|test| module.starts_with(test));
        for line in reading.silenced {
            faults.push(format!("{path}:{line}: silences a lint; `expect` it, with a reason"));
        }
        let root = path.trim_start_matches("src/").trim_end_matches(".rs");
        let name = module.first().map_or(root, String::as_str);
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
            faults.push(format!("{path}: `{name}` is no layer"));
            continue;
        };
        for mention in reading.mentions {
            let mention = Mention { test: mention.test || test_file, ..mention };
            if let Some(why) = fault(layer, path, &mention, crates) {
                faults.push(format!("{path}:{}: `{}`: {why}", mention.line, mention.path.join("::")));
            }
        }
    }
    faults
}

/// Why this file may not name this path.
fn fault(layer: &Layer, file: &str, mention: &Mention, crates: &Crates) -> Option<String> {
    let path = mention.path.as_slice();
    if !mention.test
        && let Some((_, homes)) = HOMES.iter().find(|(what, _)| is_below(path, what))
        && !homes.iter().any(|home| file.starts_with(home))
    {
        return Some(format!("named only in {}", homes.join(", ")));
    }
    let extra = EXCEPTIONS.iter().filter(|(of, ..)| file.starts_with(of)).flat_map(|(_, extra, _)| *extra);
    let extra: Vec<&str> = extra.copied().collect();
    let (first, below) = path.split_first()?;
    match first.as_str() {
        "crate" => {
            let other = below.first()?;
            if other == layer.name || is_below_any(below, &extra) {
                return None;
            }
            let made = TESTS_KNOW.iter().find(|(of, _)| mention.test && *of == layer.name);
            if !is_below_any(below, layer.knows) && !made.is_some_and(|(_, known)| is_below_any(below, known)) {
                return Some(format!("`{}` may not know it", layer.name));
            }
            let glob = below.last().is_some_and(|last| last == "*");
            glob.then(|| "a glob hides what is known of another layer".to_owned())
        }
        "std" | "core" | "alloc" => {
            let denied = !mention.test && is_below_any(below, layer.no_std);
            denied.then(|| format!("not for `{}`", layer.name))
        }
        name if crates.normal.contains(name) || crates.dev.contains(name) => {
            let known = is_below_any(path, layer.crates) || is_below_any(path, &extra);
            let in_tests = mention.test && (crates.dev.contains(name) || IN_TESTS.contains(&name));
            (!known && !in_tests).then(|| format!("`{}` may not know this crate", layer.name))
        }
        _ => None,
    }
}

/// Every file past the length at which to look for the second idea, and every excuse that is no longer needed.
fn lengths(sources: &[Source], excused: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let lines = source.text.lines().count();
        let excuse = excused.iter().any(|(path, _)| *path == source.path);
        if lines > MAX_LINES && !excuse {
            faults.push(format!("{}: {lines} lines", source.path));
        } else if lines <= MAX_LINES && excuse {
            faults.push(format!("{}: {lines} lines need no excuse", source.path));
        }
    }
    let gone = excused.iter().filter(|(path, _)| !sources.iter().any(|source| source.path == *path));
    faults.extend(gone.map(|(path, _)| format!("{path}: excused, and not there")));
    faults
}

/// Every line that puts something off.
fn loose_ends(sources: &[Source]) -> Vec<String> {
    // Put together, so that this file does not find itself.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["X", "XX"].concat()];
    let mut faults = Vec::new();
    for source in sources {
        for (at, line) in source.text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| marks.iter().any(|mark| mark == word)) {
                faults.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
        }
    }
    faults
}

#[test]
fn every_layer_knows_only_whom_it_may_know() {
    let faults = faults(&sources("src").unwrap(), &Crates::of_the_manifest());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn no_source_file_is_too_long() {
    let faults = lengths(&sources("src").unwrap(), LONG);
    assert!(faults.is_empty(), "more than {MAX_LINES} lines, without an excuse in rules.rs:\n{}", faults.join("\n"));
}

#[test]
fn nothing_is_put_off() {
    let faults =
        loose_ends(&[sources("src").unwrap(), sources("tests").unwrap(), sources("fuzz/src").unwrap()].concat());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What stands between backquotes on a page.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

/// The tests that a page names, as far as they are nowhere in the sources.
fn missing_tests<'a>(names: impl Iterator<Item = &'a str>, sources: &[Source]) -> Vec<&'a str> {
    let there = |name: &str| {
        let (function, promise) = (format!("fn {name}("), format!("        {name},"));
        sources.iter().any(|source| source.text.contains(&function) || source.text.contains(&promise))
    };
    let is_test = |name: &&str| name.contains('_') && !name.contains(['…', '/', '.']);
    names.filter(is_test).filter(|name| !there(name)).collect()
}

#[test]
fn every_guard_of_an_invariant_that_is_named_is_there() {
    let sources = [sources("src").unwrap(), sources("tests").unwrap()].concat();
    let page = include_str!("../../docs/invariants.md");
    let guards = |page| quoted(page).filter(|name| name.starts_with('i'));
    assert!(guards(page).count() > 30);
    assert_eq!(missing_tests(guards(page), &sources), [""; 0]);
    assert_eq!(missing_tests(guards("| `i99_nobody_wrote_this` | `I1` |"), &sources), ["i99_nobody_wrote_this"]);
}

/// The tests that carry the number of a case which the page holds (`**B01**`), and that it does not name.
fn unlisted_tests(page: &str, sources: &[Source]) -> Vec<String> {
    let numbers: Vec<String> = page.split("**").skip(1).step_by(2).map(|number| number.to_lowercase() + "_").collect();
    let listed: BTreeSet<&str> = quoted(page).collect();
    let functions = sources.iter().flat_map(|source| source.text.split("fn "));
    let tests: BTreeSet<&str> = functions.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name).collect();
    let is_of = |name: &str, number: &String| name.starts_with(number) || name.contains(&format!("_{number}"));
    let of_a_case = tests.into_iter().filter(|name| numbers.iter().any(|number| is_of(name, number)));
    of_a_case
        .filter(|name| !listed.contains(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn the_page_of_cases_names_tests_that_are_there_and_all_of_its_cases() {
    let sources = [sources("src").unwrap(), sources("tests").unwrap()].concat();
    let page = include_str!("../../docs/cases.md");
    assert!(quoted(page).count() > 40);
    assert_eq!(missing_tests(quoted(page), &sources), [""; 0]);
    assert_eq!(missing_tests(quoted("| `b99_nobody_wrote_this` |"), &sources), ["b99_nobody_wrote_this"]);
    assert_eq!(unlisted_tests(page, &sources), [""; 0]);
    let text = "fn b99_somebody_wrote_this() {}\n".to_owned();
    let unlisted = unlisted_tests("**B99**", &[Source { path: String::new(), text }]);
    assert_eq!(unlisted, ["b99_somebody_wrote_this"]);
}
