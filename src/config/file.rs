//! The settings file and the names in the environment.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::Args;
use serde::Deserialize;

use super::Layer;

/// Variables of the environment that begin so are settings.
pub const PREFIX: &str = "RECALL_GATE_";

/// Variables that are no setting of [`Layer`]: the settings file, and the address of the client commands.
const OTHERS: [&str; 2] = ["RECALL_GATE_CONFIG", "RECALL_GATE_ADDRESS"];

/// Names and values of the environment; what is not Unicode is no setting of ours.
#[expect(clippy::disallowed_methods, reason = "the one home of the environment")]
pub(super) fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .collect()
}

/// A fault for each variable that has the prefix and that no setting knows.
pub(super) fn unknown_variables(environment: Vec<(String, String)>) -> Vec<String> {
    let command = Layer::augment_args(clap::Command::new(""));
    let mut known: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    known.extend(command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_str()?.to_owned())));
    let mut unknown: Vec<String> = environment
        .into_iter()
        .filter(|(name, value)| {
            let ours = name.strip_prefix(PREFIX);
            ours.is_some_and(|rest| !known.contains(name) && !is_service_link(rest, value))
        })
        .map(|(name, _)| format!("no setting is called `{name}` in the environment"))
        .collect();
    unknown.sort();
    unknown
}

/// Kubernetes tells each pod of the services beside it. One called `recall-gate` yields `RECALL_GATE_SERVICE_HOST`,
/// `RECALL_GATE_SERVICE_PORT_GRPC`, `RECALL_GATE_PORT` (`tcp://…`), `RECALL_GATE_PORT_7437_TCP_ADDR` and the like.
fn is_service_link(rest: &str, value: &str) -> bool {
    let has = |name: &str| rest == name || rest.ends_with(&format!("_{name}"));
    let url = value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
    let numbered = rest.split("PORT_").nth(1).is_some_and(|rest| {
        let mut parts = rest.split('_');
        parts.next().is_some_and(|port| port.parse::<u16>().is_ok())
            && parts.next().is_some_and(|protocol| ["TCP", "UDP", "SCTP"].contains(&protocol))
    });
    has("SERVICE_HOST") || rest.contains("SERVICE_PORT") || (has("PORT") && url) || numbered
}

/// Reads a settings file.
///
/// # Errors
/// Every fault: all unknown keys, and each value of the wrong type.
pub(super) fn read(path: &Path) -> Result<Layer, Vec<String>> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| vec![format!("settings file `{shown}`: {error}")])?;
    parse(&text).map_err(|faults| faults.into_iter().map(|fault| format!("settings file `{shown}`: {fault}")).collect())
}

fn parse(text: &str) -> Result<Layer, Vec<String>> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| vec![first_line(&error)])?;
    let mut faults = Vec::new();
    let mut layer = Layer::default();
    for (key, value) in table {
        // One key at a time, so that every fault is found and not only the first.
        match Layer::deserialize(toml::Table::from_iter([(key.clone(), value)])) {
            Ok(one) => layer = layer.over(one),
            Err(error) if error.message().starts_with("unknown field") => {
                faults.push(format!("no setting is called `{key}`"));
            }
            Err(error) => faults.push(format!("`{key}`: {}", first_line(&error))),
        }
    }
    if faults.is_empty() { Ok(layer) } else { Err(faults) }
}

fn first_line(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_sets_what_its_keys_say() {
        let layer = parse("listen = '[::1]:1'\nkeys = ['a=b', 'c=d']\ndrain_seconds = 3\nlog_format = 'json'").unwrap();
        assert_eq!(layer.listen.as_deref(), Some("[::1]:1"));
        assert_eq!(layer.keys.unwrap(), ["a=b", "c=d"]);
        assert_eq!(layer.drain_seconds, Some(3));
        assert_eq!(layer.database, None);
    }

    #[test]
    fn every_unknown_key_and_wrong_type_of_a_file_is_named() {
        let faults = parse("lisen = 'x'\nport = 1\nlisten = 7\ndrain_seconds = -1\nlog_format = 'xml'").unwrap_err();
        assert_eq!(faults.len(), 5, "{faults:?}");
        for part in ["`lisen`", "`port`", "`listen`", "`drain_seconds`", "`log_format`"] {
            assert!(faults.iter().any(|fault| fault.contains(part)), "{part}: {faults:?}");
        }
        assert_eq!(parse("listen = ").unwrap_err().len(), 1);
    }

    fn unknown(name: &str, value: &str) -> bool {
        !unknown_variables(vec![(name.to_owned(), value.to_owned())]).is_empty()
    }

    #[test]
    fn a_variable_with_our_prefix_that_no_setting_knows_is_a_fault() {
        assert!(unknown("RECALL_GATE_LISEN", "x"));
        assert!(unknown("RECALL_GATE_PORT", "7437"));
        assert!(unknown("RECALL_GATE_", "x"));
        for name in ["RECALL_GATE_LISTEN", "RECALL_GATE_KEYS", "RECALL_GATE_CONFIG", "RECALL_GATE", "HOME"] {
            assert!(!unknown(name, "x"), "{name}");
        }
    }

    #[test]
    fn what_kubernetes_sets_for_a_service_of_our_name_is_no_fault() {
        for (name, value) in [
            ("RECALL_GATE_SERVICE_HOST", "10.0.0.1"),
            ("RECALL_GATE_SERVICE_PORT", "7437"),
            ("RECALL_GATE_SERVICE_PORT_GRPC", "7437"),
            ("RECALL_GATE_PORT", "tcp://10.0.0.1:7437"),
            ("RECALL_GATE_PORT_7437_TCP", "tcp://10.0.0.1:7437"),
            ("RECALL_GATE_PORT_7437_TCP_ADDR", "10.0.0.1"),
            ("RECALL_GATE_METRICS_SERVICE_HOST", "10.0.0.1"),
            ("RECALL_GATE_METRICS_PORT_9090_TCP_PORT", "9090"),
        ] {
            assert!(!unknown(name, value), "{name}");
        }
    }
}
