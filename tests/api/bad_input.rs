//! Ways to spoil each sort of field, and what has to be said of it: refused as a whole, naming each bad field, with
//! nothing written and the connection as good as before.

use prost_types::Timestamp;
use recall_gate::api::proto::{MemoryAddress, MemoryName, Scope, memory_name};
use tonic::{Code, Status};

use crate::harness::Caller;
use crate::reading::{all, listing_all, pages, recalled};
use crate::requests::{at, bad_fields, error_reason, general, in_project, in_task, named, of_task, recalling};

pub(crate) type Spoil<R> = Box<dyn Fn(&mut R)>;
pub(crate) type Cases<R> = Vec<(String, Spoil<R>)>;

pub(crate) const SOME_ID: &str = "01890000-0000-7000-8000-000000000001";

pub(crate) fn case<R>(field: &str, spoil: impl Fn(&mut R) + 'static) -> (String, Spoil<R>) {
    (field.to_owned(), Box::new(spoil))
}

/// What no id may be, beside empty.
pub(crate) fn bad_ids() -> Vec<String> {
    let bad = [" ", "\u{a0}\u{3000}", "\u{200b}\u{feff}", "a\0b", "a\nb", "\u{1b}[2J", "\u{7f}", "a\u{85}", "e\u{301}"];
    bad.into_iter().map(str::to_owned).chain(["x".repeat(129), "語".repeat(129), "x".repeat(1 << 20)]).collect()
}

pub(crate) fn ids<R: 'static>(field: &str, set: fn(&mut R, String)) -> Cases<R> {
    bad_ids().into_iter().map(|bad| case(field, move |request| set(request, bad.clone()))).collect()
}

pub(crate) fn bad_uuids() -> Vec<String> {
    let upper = SOME_ID.replace('a', "A").replace("0189", "018F");
    let bad = [" ", "x", "1", "\0", "01890000-0000-7000-8000-00000000000", "01890000-0000-7000-8000-0000000000011"];
    let more = [SOME_ID.replace('-', ""), format!("{{{SOME_ID}}}"), format!(" {SOME_ID}"), upper, "9".repeat(1 << 16)];
    bad.into_iter().map(str::to_owned).chain(more).collect()
}

pub(crate) fn uuids<R: 'static>(field: &str, set: fn(&mut R, String)) -> Cases<R> {
    bad_uuids().into_iter().map(|bad| case(field, move |request| set(request, bad.clone()))).collect()
}

/// Numbers that no enum of the API has.
pub(crate) fn numbers<R: 'static>(field: &str, set: fn(&mut R, i32)) -> Cases<R> {
    [-1, 9, 99, i32::MAX, i32::MIN].map(|bad| case(field, move |request| set(request, bad))).into()
}

pub(crate) fn shares<R: 'static>(field: &str, set: fn(&mut R, f64)) -> Cases<R> {
    let bad = [
        f64::NAN,
        -f64::NAN,
        f64::from_bits(0x7FF0_0000_0000_0001),
        f64::from_bits(0xFFF0_0000_0000_0001),
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.1,
        -5e-324,
        1.000_000_000_000_000_2,
        f64::MAX,
    ];
    bad.map(|bad| case(field, move |request| set(request, bad))).into()
}

pub(crate) fn instants<R: 'static>(field: &str, set: fn(&mut R, Timestamp)) -> Cases<R> {
    let bad = [
        (i64::MAX, 0),
        (i64::MIN, 0),
        (253_402_300_800, 0),
        (-62_135_596_801, 0),
        (0, -1),
        (0, 1_000_000_000),
        (0, i32::MAX),
        (0, i32::MIN),
        (i64::MAX, i32::MAX),
        (i64::MIN, i32::MIN),
    ];
    bad.map(|(seconds, nanos)| case(field, move |request| set(request, Timestamp { seconds, nanos }))).into()
}

pub(crate) fn names<R: 'static>(set: fn(&mut R, Option<MemoryName>)) -> Cases<R> {
    let mut cases = vec![
        case("memory", move |request| set(request, None)),
        case("memory", move |request| set(request, Some(MemoryName { name: None }))),
        case("memory.address.scope", move |request| {
            let address = MemoryAddress { scope: None, key: "k".to_owned() };
            let name = memory_name::Name::Address(address);
            set(request, Some(MemoryName { name: Some(name) }));
        }),
        case("memory.address.key", move |request| set(request, Some(at(general(), "")))),
        case("memory.address.scope.project_id", move |request| set(request, Some(at(in_project(""), "k")))),
        case("memory.address.scope.task_id", move |request| set(request, Some(at(in_task("p1", ""), "k")))),
        case("memory.address.scope.level", move |request| set(request, Some(at(Scope::default(), "k")))),
    ];
    for bad in bad_uuids().into_iter().chain([String::new()]) {
        cases.push(case("memory.memory_id", move |request| set(request, Some(named(&bad)))));
    }
    for bad in bad_ids() {
        cases.push(case("memory.address.key", move |request| set(request, Some(at(general(), &bad)))));
    }
    cases
}

/// The part of a request that a field belongs to; spoiling two fields of one part would undo the first.
fn part(field: &str) -> &str {
    let inner = field.strip_prefix("recall.").unwrap_or(field);
    match inner.split(['.', '[']).next().unwrap_or_default() {
        "range" => "scope",
        part => part,
    }
}

/// Spoils one field at a time, then all that can be spoilt together, and expects to be told of exactly those.
pub(crate) async fn refused<R: Clone>(valid: &R, cases: Cases<R>, mut call: impl AsyncFnMut(R) -> Result<(), Status>) {
    let mut firsts: Vec<(String, Spoil<R>)> = Vec::new();
    for (field, spoil) in cases {
        let mut request = valid.clone();
        spoil(&mut request);
        let Err(status) = call(request).await else { panic!("`{field}` was taken") };
        assert_eq!(status.code(), Code::InvalidArgument, "{field}: {status:?}");
        assert_eq!(error_reason(&status), "FIELD_INVALID", "{field}");
        assert_eq!(bad_fields(&status), [field.as_str()]);
        assert!(status.message().len() + status.details().len() < 8 * 1024, "{field}");
        if firsts.iter().all(|(other, _)| part(other) != part(&field)) {
            firsts.push((field, spoil));
        }
    }
    let mut request = valid.clone();
    for (_, spoil) in &firsts {
        spoil(&mut request);
    }
    let status = call(request).await.unwrap_err();
    let told = bad_fields(&status);
    let mut expected: Vec<&str> = firsts.iter().map(|(field, _)| field.as_str()).collect();
    expected.sort_unstable();
    assert_eq!(told, expected, "all of them");
    call(valid.clone()).await.unwrap();
}

/// Everything kept about the subject, and at which revisions.
pub(crate) async fn kept(caller: &mut Caller) -> String {
    let listed = pages(caller, listing_all("subject_access")).await;
    let entries: Vec<_> = listed.into_iter().flat_map(|page| page.entries).collect();
    let revisions = recalled(caller, recalling(of_task("p1", "k1"), all())).await.revisions;
    format!("{entries:?} {revisions:?}")
}
