//! Each rule is shown lines that break it, and lines that only look like it.

use super::{Crates, MAX_LINES, Source, faults, lengths, loose_ends, sources};
use crate::rules::{LAYERS, LONG};

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

fn faults_of(path: &str, text: &str) -> Vec<String> {
    faults(&[source(path, text)], &Crates::of_the_manifest())
}

#[test]
fn a_forbidden_line_is_caught_in_every_layer() {
    let broken = [
        ("src/memory/x.rs", "use crate::policy::Policy;"),
        ("src/memory/x.rs", "use crate::store::Error;"),
        ("src/memory/x.rs", "use crate::identity::Caller;"),
        ("src/memory/x.rs", "use crate::gate::Gate;"),
        ("src/memory/x.rs", "use crate::api::status;"),
        ("src/memory/x.rs", "use tokio::sync::Mutex;"),
        ("src/memory/x.rs", "use sqlx::Row;"),
        ("src/memory/x.rs", "use tonic::Status;"),
        ("src/memory/x.rs", "use prost::Message;"),
        ("src/wire.rs", "use crate::memory::Memory;"),
        ("src/wire.rs", "use std::io::Write;"),
        ("src/memory/x.rs", "use std::time::SystemTime;"),
        ("src/memory/x.rs", "use std::time::{Duration, Instant};"),
        ("src/memory/x.rs", "use std::fs;"),
        ("src/memory/x.rs", "use std::net::IpAddr;"),
        ("src/memory/x.rs", "use std::env;"),
        ("src/policy/x.rs", "use crate::store::Store;"),
        ("src/policy/x.rs", "use crate::identity::Caller;"),
        ("src/policy/x.rs", "use std::time::SystemTime;"),
        ("src/policy/x.rs", "use std::fs::read_to_string;"),
        ("src/policy/x.rs", "use tokio::fs;"),
        ("src/policy/x.rs", "use aws_lc_rs::rand;"),
        ("src/policy/x.rs", "use uuid::Uuid;"),
        ("src/identity/x.rs", "use crate::store::Store;"),
        ("src/identity/x.rs", "use crate::policy::Policy;"),
        ("src/identity/x.rs", "use crate::gate::Clock;"),
        ("src/identity/x.rs", "use std::env;"),
        ("src/identity/x.rs", "use tonic::metadata::MetadataMap;"),
        ("src/store/x.rs", "use crate::policy::Policy;"),
        ("src/store/x.rs", "use crate::identity::Caller;"),
        ("src/store/x.rs", "use crate::gate::Error;"),
        ("src/store/x.rs", "use crate::api::proto;"),
        ("src/store/x.rs", "use tonic::Status;"),
        ("src/store/x.rs", "fn f() { std::process::exit(1) }"),
        ("src/gate/x.rs", "use crate::api::proto::CaptureRequest;"),
        ("src/gate/x.rs", "use crate::identity::Tokens;"),
        ("src/gate/x.rs", "use crate::identity::jwt::Verifier;"),
        ("src/gate/x.rs", "use crate::store::Sqlite;"),
        ("src/gate/x.rs", "use crate::store::sqlite::open;"),
        ("src/gate/x.rs", "use sqlx::Pool;"),
        ("src/gate/x.rs", "use prost::Message;"),
        ("src/gate/x.rs", "use tonic::Code;"),
        ("src/gate/x.rs", "use crate::memory::*;"),
        ("src/api/x.rs", "use crate::store::Store;"),
        ("src/api/x.rs", "use crate::policy::judge;"),
        ("src/api/x.rs", "use crate::server::serve;"),
        ("src/api/x.rs", "use sqlx::Row;"),
        ("src/config.rs", "use crate::gate::Gate;"),
        ("src/telemetry/x.rs", "use crate::gate::Gate;"),
        ("src/telemetry/x.rs", "use crate::config::Settings;"),
        ("src/telemetry/x.rs", "use tonic::Status;"),
        ("src/server.rs", "use sqlx::Pool;"),
        ("src/server.rs", "use crate::store::sqlite::queries;"),
        ("src/server/x.rs", "use crate::cli::serve;"),
        ("src/cli/serve.rs", "use tonic::Status;"),
        ("src/cli/serve.rs", "use crate::api::proto::CaptureRequest;"),
        ("src/cli/mod.rs", "use sqlx::Row;"),
        ("src/main.rs", "use recall_gate::store::Store;"),
        ("src/lib.rs", "use tokio::net;"),
        ("src/utils/mod.rs", ""),
    ];
    for (path, text) in broken {
        assert_eq!(faults_of(path, text).len(), 1, "{path}: {text}: {:?}", faults_of(path, text));
    }
    for layer in LAYERS {
        assert!(broken.iter().any(|(path, _)| path.contains(layer.name)), "no broken line for `{}`", layer.name);
    }
}

#[test]
fn a_forbidden_name_is_caught_however_it_is_written() {
    let broken = [
        "use crate::{memory::Time, store::Error};",
        "use crate::{store::{self}};",
        "use super::super::store::Error;",
        "use recall_gate::store::Error;",
        "pub use crate::store as kept;",
        "fn f(_: crate::store::Error) {}",
        "fn f() { let _ = Vec::<super::super::store::Error>::new(); }",
        "mod inner { use super::super::super::store::Error; }",
        "fn f() { vec![crate::store::Error]; }",
        "macro_rules! m { () => { $crate::store::open() } }",
        "#[derive(sqlx::FromRow)] struct S;",
        "fn f() { ::tokio::spawn(async {}); }",
        "extern crate tokio as t;",
        "fn f() { std::fs::read(\"x\"); }",
        "use std as s; fn f() { s::fs::read(\"x\"); }",
        "use {std as s}; use s as t; fn f() { t::env::args(); }",
        "include!(\"x.rs\");",
        "fn f() { tonic::include_proto!(\"recallgate.v1\"); }",
        "#[cfg(test)] mod tests { use super::*; } fn f() { tokio::spawn(async {}); }",
        "#[cfg(test)] fn t() {} fn f() { tokio::spawn(async {}); }",
        "#[cfg(test)] use super::T; use tokio::sync::Mutex;",
        "#[cfg(test)] mod tests { use crate::store::Store; }",
        "#[allow(dead_code)] fn f() {}",
        "#![allow(dead_code)]",
        "#[cfg_attr(test, allow(dead_code))] fn f() {}",
    ];
    for text in broken {
        assert_eq!(faults_of("src/policy/x.rs", text).len(), 1, "{text}: {:?}", faults_of("src/policy/x.rs", text));
    }
    let through_a_module = "use crate::store; fn f() { store::Sqlite::open(); }";
    assert_eq!(faults_of("src/gate/x.rs", through_a_module).len(), 1);
    assert_eq!(faults_of("src/gate/x.rs", "fn f() {").len(), 1, "what cannot be read is a fault");
}

#[test]
fn what_only_looks_forbidden_passes() {
    let sound = [
        ("src/policy/x.rs", "// use tokio::fs;\n/// See `crate::store::Store`.\nfn f() { \"std::fs::read\"; }"),
        ("src/policy/x.rs", "use std::time::Duration; use std::collections::BTreeMap; use crate::memory::Time;"),
        ("src/policy/x.rs", "use super::Policy; use super::super::memory::Time; use self::y::Z; fn f() { y::g(); }"),
        ("src/policy/x.rs", "fn f(tokio: T) { tokio.store(); T::tokio(); self.fs::<u8>(); }"),
        ("src/policy/x.rs", "#[expect(dead_code, reason = \"allow(it)\")] fn allow(x: bool) -> bool { !allow(x) }"),
        ("src/policy/x.rs", "#[cfg(test)] mod tests { use super::*; use proptest::prelude::*; }"),
        ("src/identity/x.rs", "#[cfg(test)] mod tests { fn f() { std::env::args(); } }"),
        ("src/gate/x.rs", "#[cfg(test)] mod tests { use crate::store::Sqlite; #[tokio::test] async fn f() {} }"),
        ("src/gate/x.rs", "use crate::identity::{Caller, Verb}; use std::time::SystemTime;"),
        ("src/store/x.rs", "fn f() { std::process::id(); }"),
        ("src/store/mod.rs", "mod sqlite; pub use sqlite::Sqlite; include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));"),
        ("src/api/proto.rs", "tonic::include_proto!(\"recallgate.v1\");"),
        ("src/server/x.rs", "use crate::store::Sqlite; use tonic::transport::Server;"),
        ("src/cli/serve.rs", "use tonic::transport::Channel;"),
        ("src/cli/demo/mod.rs", "use crate::api::proto::CaptureRequest; use tonic::Request;"),
        ("src/main.rs", "fn main() { recall_gate::cli::main() }"),
    ];
    for (path, text) in sound {
        assert_eq!(faults_of(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn a_test_module_in_a_file_of_its_own_may_name_what_tests_may() {
    let head = source("src/gate/mod.rs", "#[cfg(test)]\nmod tests;\nmod served;");
    let tests = source("src/gate/tests.rs", "use proptest::prelude::*;");
    let served = source("src/gate/served.rs", "use proptest::prelude::*;");
    let faults = faults(&[head, tests, served], &Crates::of_the_manifest());
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults.iter().all(|fault| fault.starts_with("src/gate/served.rs:1: `proptest::prelude::*`")), "{faults:?}");
}

#[test]
fn a_file_past_the_limit_is_caught_and_an_excuse_without_need_too() {
    let long = source("src/gate/long.rs", &"\n".repeat(MAX_LINES + 1));
    let short = source("src/gate/short.rs", &"\n".repeat(MAX_LINES));
    let both = [long, short];
    assert_eq!(lengths(&both, &[]), ["src/gate/long.rs: 401 lines"]);
    assert_eq!(lengths(&both, &[("src/gate/long.rs", "a table")]), Vec::<String>::new());
    let needless = [("src/gate/long.rs", "a table"), ("src/gate/short.rs", "a table"), ("src/gone.rs", "a table")];
    assert_eq!(lengths(&both, &needless).len(), 2);
    assert!(LONG.iter().all(|(_, why)| !why.is_empty()));
}

#[test]
fn a_loose_end_is_caught_as_a_word() {
    let found = ["// TO", "DO: later\n//FIX", "ME\nlet to", "do = 1;\nTO", "DOS\n"].concat();
    assert_eq!(loose_ends(&[source("src/x.rs", &found)]).len(), 2);
}

#[test]
fn the_sources_are_found() {
    let found = sources("src").unwrap();
    for path in ["src/lib.rs", "src/main.rs", "src/memory/mod.rs"] {
        assert!(found.iter().any(|source| source.path == path), "{path}");
    }
}
