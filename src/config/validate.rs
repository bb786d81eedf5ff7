//! From what was written to what is in force.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::{
    DEFAULT_CONTEXT_CACHE_MIB, DEFAULT_DRAIN_SECONDS, DEFAULT_IDLE_CONNECTION_SECONDS, DEFAULT_LISTEN,
    DEFAULT_MAX_CALL_SECONDS, DEFAULT_MAX_CONCURRENT_CALLS, DEFAULT_MAX_CONNECTION_AGE_SECONDS,
    DEFAULT_MAX_CONNECTIONS, DEFAULT_MIN_FREE_BYTES, Identity, Layer, Settings,
};
use crate::telemetry::{Endpoint, Logs};

const MAX_DRAIN_SECONDS: u64 = 3600;
const MAX_RETENTION_DAYS: u64 = 36_500;
const MAX_CALL_SECONDS: u64 = 3600;
const MAX_AT_ONCE: u64 = 65_536;
const MAX_CONNECTION_SECONDS: u64 = 604_800;
const MAX_CONTEXT_CACHE_MIB: u64 = 65_536;

impl Layer {
    /// The settings that this layer and the defaults make.
    ///
    /// # Errors
    /// Every fault.
    pub(super) fn settings(self) -> Result<Settings, Vec<String>> {
        let mut faults = Vec::new();
        let listen = self.listen.as_deref().unwrap_or(DEFAULT_LISTEN);
        let address: Option<SocketAddr> = listen.parse().ok();
        if address.is_none() {
            faults.push(format!("`listen` must be an IP address and a port, as in `{DEFAULT_LISTEN}`: `{listen}`"));
        }
        let database = self.database(&mut faults);
        let drain_seconds = self.drain_seconds.unwrap_or(DEFAULT_DRAIN_SECONDS);
        if drain_seconds > MAX_DRAIN_SECONDS {
            faults.push(format!("`drain_seconds` must be 0 to {MAX_DRAIN_SECONDS}: `{drain_seconds}`"));
        }
        if let Some(days) = self.decision_retention_days
            && !(1..=MAX_RETENTION_DAYS).contains(&days)
        {
            faults.push(format!("`decision_retention_days` must be 1 to {MAX_RETENTION_DAYS}: `{days}`"));
        }
        let max_call_seconds = self.max_call_seconds.unwrap_or(DEFAULT_MAX_CALL_SECONDS);
        if !(1..=MAX_CALL_SECONDS).contains(&max_call_seconds) {
            faults.push(format!("`max_call_seconds` must be 1 to {MAX_CALL_SECONDS}: `{max_call_seconds}`"));
        }
        let max_concurrent_calls =
            at_once("max_concurrent_calls", self.max_concurrent_calls, DEFAULT_MAX_CONCURRENT_CALLS, &mut faults);
        let max_connections = at_once("max_connections", self.max_connections, DEFAULT_MAX_CONNECTIONS, &mut faults);
        let max_connection_age = seconds_or_never(
            "max_connection_age_seconds",
            self.max_connection_age_seconds,
            DEFAULT_MAX_CONNECTION_AGE_SECONDS,
            &mut faults,
        );
        let idle_connection = seconds_or_never(
            "idle_connection_seconds",
            self.idle_connection_seconds,
            DEFAULT_IDLE_CONNECTION_SECONDS,
            &mut faults,
        );
        let context_cache_mib = self.context_cache_mib.unwrap_or(DEFAULT_CONTEXT_CACHE_MIB);
        if context_cache_mib > MAX_CONTEXT_CACHE_MIB {
            faults.push(format!("`context_cache_mib` must be 0 to {MAX_CONTEXT_CACHE_MIB}: `{context_cache_mib}`"));
        }
        let logs = Logs {
            format: self.log_format.unwrap_or_default(),
            filter: self.log_filter.unwrap_or_else(|| Logs::default().filter),
        };
        if let Err(fault) = logs.check() {
            faults.push(format!("`log_filter`: {fault}"));
        }
        let otlp_endpoint = self.otlp_endpoint.and_then(|text| {
            Endpoint::parse(&text).map_err(|fault| faults.push(format!("`otlp_endpoint` {fault}"))).ok()
        });
        if self.policy.as_deref() == Some("") {
            faults.push("`policy` must name a file".to_owned());
        }
        let identity = identity(self.issuer, self.audience, self.keys.unwrap_or_default(), &mut faults);
        if let (Identity::Development, Some(address)) = (&identity, address)
            && !address.ip().is_loopback()
        {
            faults.push(format!(
                "`listen` is `{address}`, which others can reach, and no identity `key` is set: everybody would hold \
                 every grant; set `issuer`, `audience` and `key`, or listen on a loopback address"
            ));
        }
        let Some((listen, database)) = address.zip(database).filter(|_| faults.is_empty()) else { return Err(faults) };
        Ok(Settings {
            listen,
            database,
            policy: self.policy.map(PathBuf::from),
            otlp_endpoint,
            logs,
            identity,
            drain: Duration::from_secs(drain_seconds),
            decision_retention: self.decision_retention_days.map(|days| Duration::from_hours(24 * days)),
            min_free_bytes: self.min_free_bytes.unwrap_or(DEFAULT_MIN_FREE_BYTES),
            max_call: Duration::from_secs(max_call_seconds),
            max_concurrent_calls,
            max_connections,
            max_connection_age,
            idle_connection,
            context_cache_bytes: context_cache_mib << 20,
        })
    }
}

fn at_once(name: &str, value: Option<u64>, default: usize, faults: &mut Vec<String>) -> usize {
    let Some(value) = value else { return default };
    match usize::try_from(value) {
        Ok(number) if (1..=MAX_AT_ONCE).contains(&value) => number,
        _ => {
            faults.push(format!("`{name}` must be 1 to {MAX_AT_ONCE}: `{value}`"));
            default
        }
    }
}

fn seconds_or_never(name: &str, value: Option<u64>, default: u64, faults: &mut Vec<String>) -> Option<Duration> {
    let seconds = value.unwrap_or(default);
    if seconds > MAX_CONNECTION_SECONDS {
        faults.push(format!("`{name}` must be 0 to {MAX_CONNECTION_SECONDS}: `{seconds}`"));
    }
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

fn identity(issuer: Option<String>, audience: Option<String>, keys: Vec<String>, faults: &mut Vec<String>) -> Identity {
    if keys.is_empty() {
        for (name, value) in [("issuer", issuer), ("audience", audience)] {
            if value.is_some() {
                faults.push(format!("`{name}` is set and no identity `key` is; credentials could not be verified"));
            }
        }
        return Identity::Development;
    }
    let mut required = |name: &str, value: Option<String>| {
        value.filter(|value| !value.is_empty()).unwrap_or_else(|| {
            faults.push(format!("`{name}` is required with an identity `key`"));
            String::new()
        })
    };
    let (issuer, audience) = (required("issuer", issuer), required("audience", audience));
    let mut kids = BTreeSet::new();
    let mut files = Vec::new();
    for key in keys {
        match key.split_once('=') {
            Some((kid, file)) if !kid.is_empty() && !file.is_empty() => {
                if !kids.insert(kid.to_owned()) {
                    faults.push(format!("`key` names `{kid}` twice"));
                }
                files.push((kid.to_owned(), PathBuf::from(file)));
            }
            _ => faults.push(format!("`key` must be `KID=FILE`: `{key}`")),
        }
    }
    Identity::Tokens { issuer, audience, keys: files }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Database;

    fn text(value: &str) -> String {
        value.to_owned()
    }

    #[test]
    fn without_any_setting_it_is_a_development_service_on_loopback() {
        let settings = Layer::default().settings().unwrap();
        assert!(settings.listen.ip().is_loopback());
        assert_eq!(settings.identity, Identity::Development);
        assert_eq!(settings.database, Database::File(PathBuf::from("recall-gate.db")));
        assert_eq!(settings.drain, Duration::from_secs(10));
        assert_eq!(settings.decision_retention, None);
        assert_eq!(settings.otlp_endpoint, None);
        assert_eq!(settings.min_free_bytes, 268_435_456);
        assert_eq!(settings.max_call, Duration::from_mins(1));
        assert_eq!((settings.max_concurrent_calls, settings.max_connections), (1024, 1024));
        assert_eq!(settings.max_connection_age, Some(Duration::from_hours(1)));
        assert_eq!(settings.idle_connection, Some(Duration::from_mins(5)));
        assert_eq!(settings.context_cache_bytes, 48 << 20);
    }

    #[test]
    fn limits_are_taken_from_one_to_their_most() {
        let layer = |call, calls, connections| Layer {
            max_call_seconds: Some(call),
            max_concurrent_calls: Some(calls),
            max_connections: Some(connections),
            ..Layer::default()
        };
        let least = layer(1, 1, 1).settings().unwrap();
        let taken = (least.max_call, least.max_concurrent_calls, least.max_connections);
        assert_eq!(taken, (Duration::from_secs(1), 1, 1));
        assert!(layer(3600, 65_536, 65_536).settings().is_ok());
        assert_eq!(layer(0, 0, 0).settings().unwrap_err().len(), 3);
        assert_eq!(layer(3601, 65_537, u64::MAX).settings().unwrap_err().len(), 3);
    }

    #[test]
    fn a_connection_may_last_for_ever_or_up_to_a_week() {
        let lasting = |seconds| Layer {
            max_connection_age_seconds: Some(seconds),
            idle_connection_seconds: Some(seconds),
            ..Layer::default()
        };
        for (seconds, taken) in
            [(0, None), (1, Some(Duration::from_secs(1))), (604_800, Some(Duration::from_hours(168)))]
        {
            let settings = lasting(seconds).settings().unwrap();
            assert_eq!((settings.max_connection_age, settings.idle_connection), (taken, taken));
        }
        assert_eq!(lasting(604_801).settings().unwrap_err().len(), 2);
    }

    #[test]
    fn contexts_may_take_nothing_or_up_to_64_gib() {
        let kept = |mib| Layer { context_cache_mib: Some(mib), ..Layer::default() }.settings();
        for (mib, bytes) in [(0, 0), (1, 1 << 20), (65_536, 64 << 30)] {
            assert_eq!(kept(mib).unwrap().context_cache_bytes, bytes);
        }
        assert_eq!(kept(65_537).unwrap_err().len(), 1);
    }

    #[test]
    fn i01_development_is_refused_on_an_address_that_others_can_reach() {
        for listen in ["0.0.0.0:7437", "[::]:7437", "192.168.1.1:7437", "[::ffff:127.0.0.1]:1"] {
            let faults = Layer { listen: Some(text(listen)), ..Layer::default() }.settings().unwrap_err();
            assert!(faults[0].contains("no identity `key` is set"), "{faults:?}");
        }
        for listen in ["127.0.0.1:0", "127.9.9.9:1", "[::1]:7437"] {
            assert!(Layer { listen: Some(text(listen)), ..Layer::default() }.settings().is_ok(), "{listen}");
        }
    }

    #[test]
    fn with_keys_any_address_will_do() {
        let layer = Layer {
            listen: Some(text("0.0.0.0:7437")),
            issuer: Some(text("i")),
            audience: Some(text("a")),
            keys: Some(vec!["k1=one.pem".to_owned(), "k2=two=2.pem".to_owned()]),
            ..Layer::default()
        };
        let Identity::Tokens { keys, .. } = layer.settings().unwrap().identity else { panic!() };
        assert_eq!(keys, [("k1".to_owned(), "one.pem".into()), ("k2".to_owned(), "two=2.pem".into())]);
    }

    #[test]
    fn i01_an_issuer_without_a_key_is_a_fault_and_not_development() {
        let faults =
            Layer { issuer: Some(text("i")), audience: Some(text("a")), ..Layer::default() }.settings().unwrap_err();
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn every_fault_is_told_at_once() {
        let layer = Layer {
            listen: Some(text("localhost")),
            database: Some(text("mysql://x")),
            digest_key: None,
            ledger_database: None,
            feeder_database: None,
            worker_database: None,
            database_connections: None,
            transaction_pooler: None,
            policy: Some(text("")),
            issuer: None,
            audience: Some(text("")),
            keys: Some(["k", "=f", "k=", "a=1", "a=2"].map(str::to_owned).into()),
            drain_seconds: Some(3601),
            decision_retention_days: Some(0),
            min_free_bytes: Some(0),
            max_call_seconds: Some(0),
            max_concurrent_calls: Some(0),
            max_connections: Some(0),
            max_connection_age_seconds: Some(u64::MAX),
            idle_connection_seconds: Some(604_801),
            context_cache_mib: Some(65_537),
            otlp_endpoint: Some(text("https://localhost:4317")),
            log_format: None,
            log_filter: Some(text("recall_gate=loud")),
        };
        let faults = layer.settings().unwrap_err();
        assert_eq!(faults.len(), 19, "{faults:#?}");
    }

    #[test]
    fn decisions_are_kept_for_a_day_at_least_and_a_century_at_most() {
        for (days, taken) in [(0, false), (1, true), (36_500, true), (36_501, false), (u64::MAX, false)] {
            let layer = Layer { decision_retention_days: Some(days), ..Layer::default() };
            assert_eq!(layer.settings().is_ok(), taken, "{days}");
        }
    }

    #[test]
    fn a_flag_stands_over_the_file() {
        let flags = Layer { listen: Some(text("127.0.0.1:1")), ..Layer::default() };
        let file = Layer { listen: Some(text("127.0.0.1:2")), drain_seconds: Some(2), ..Layer::default() };
        let settings = flags.over(file).settings().unwrap();
        assert_eq!(settings.listen.port(), 1);
        assert_eq!(settings.drain, Duration::from_secs(2));
    }
}
