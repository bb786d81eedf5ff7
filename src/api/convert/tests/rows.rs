//! Bad values by the sort of field, each with the path that has to be named.

use prost_types::Timestamp;

use super::ID;
use crate::api::proto;

/// A path, and what spoils the field there.
pub(super) type Row<R> = (String, Box<dyn Fn(&mut R)>);

pub(super) fn row<R>(path: &str, spoil: impl Fn(&mut R) + 'static) -> Row<R> {
    (path.to_owned(), Box::new(spoil))
}

/// Rows of a message that lies within another.
pub(super) fn within<R: 'static, M: 'static>(
    prefix: &str,
    message: fn(&mut R) -> &mut M,
    rows: Vec<Row<M>>,
) -> Vec<Row<R>> {
    rows.into_iter().map(|(path, spoil)| row(&format!("{prefix}.{path}"), move |r| spoil(message(r)))).collect()
}

fn each<R: 'static, V: Clone + 'static>(
    path: &str,
    values: impl IntoIterator<Item = V>,
    set: fn(&mut R, V),
) -> Vec<Row<R>> {
    values.into_iter().map(|value| row(path, move |r| set(r, value.clone()))).collect()
}

pub(super) fn ids<R: 'static>(path: &str, set: fn(&mut R, String)) -> Vec<Row<R>> {
    let hostile = ["   ", "\u{200b}\u{feff}", "a\0b", "a\nb", "e\u{301}"].map(str::to_owned);
    let mut rows = each(path, hostile, set);
    rows.extend(each(path, ["x".repeat(129), "\u{1f600}".repeat(129), "x".repeat(1 << 20)], set));
    rows
}

pub(super) fn required_ids<R: 'static>(path: &str, set: fn(&mut R, String)) -> Vec<Row<R>> {
    let mut rows = ids(path, set);
    rows.push(row(path, move |r| set(r, String::new())));
    rows
}

pub(super) fn uuids<R: 'static>(path: &str, set: fn(&mut R, String)) -> Vec<Row<R>> {
    let others = [ID.to_uppercase(), ID.replace('-', ""), format!("{{{ID}}}"), format!("urn:uuid:{ID}")];
    let mut rows = each(path, others, set);
    rows.extend(each(path, [format!("{ID} "), "x".to_owned(), " ".to_owned(), "k".repeat(10_240)], set));
    rows
}

pub(super) fn required_uuids<R: 'static>(path: &str, set: fn(&mut R, String)) -> Vec<Row<R>> {
    let mut rows = uuids(path, set);
    rows.push(row(path, move |r| set(r, String::new())));
    rows
}

pub(super) fn request_ids<R: 'static>(set: fn(&mut R, String)) -> Vec<Row<R>> {
    let mut rows = uuids("request_id", set);
    rows.push(row("request_id", move |r| set(r, "00000000-0000-0000-0000-000000000000".to_owned())));
    rows
}

pub(super) fn numbers<R: 'static>(path: &str, values: &[i64], set: fn(&mut R, i64)) -> Vec<Row<R>> {
    each(path, values.to_vec(), set)
}

pub(super) fn unknown_numbers<R: 'static>(path: &str, set: fn(&mut R, i32)) -> Vec<Row<R>> {
    each(path, [-1, 99, i32::MAX, i32::MIN], set)
}

/// What slips through a test written the wrong way round.
pub(super) fn no_confidences<R: 'static>(path: &str, set: fn(&mut R, f64)) -> Vec<Row<R>> {
    let signalling = f64::from_bits(0x7ff0_0000_0000_0001);
    let no_numbers = [f64::NAN, -f64::NAN, signalling, f64::INFINITY, f64::NEG_INFINITY];
    let mut rows = each(path, no_numbers, set);
    rows.extend(each(path, [1.000_000_000_000_000_2, -0.1, -5e-324, f64::MAX], set));
    rows
}

pub(super) fn no_times<R: 'static>(path: &str, set: fn(&mut R, Option<Timestamp>)) -> Vec<Row<R>> {
    let seconds = [i64::MAX, i64::MIN, 253_402_300_800, -62_135_596_801].map(|seconds| (seconds, 0));
    let nanos = [-1, 1_000_000_000, i32::MAX, i32::MIN].map(|nanos| (0, nanos));
    let times = seconds.into_iter().chain(nanos).map(|(seconds, nanos)| Some(Timestamp { seconds, nanos }));
    each(path, times, set)
}

pub(super) fn values<R: 'static>(set: fn(&mut R, String)) -> Vec<Row<R>> {
    let hostile = [String::new(), "\0".to_owned(), "a\0b".to_owned(), "x".repeat(65_537), "\u{1f600}".repeat(16_385)];
    each("value", hostile, set)
}

pub(super) fn scopes() -> Vec<Row<proto::Scope>> {
    let mut rows = unknown_numbers("level", |s: &mut proto::Scope, n| s.level = n);
    rows.push(row("level", |s: &mut proto::Scope| s.level = 0));
    rows.extend(required_ids("project_id", |s: &mut proto::Scope, id| s.project_id = id));
    rows.extend(required_ids("task_id", |s: &mut proto::Scope, id| s.task_id = id));
    rows.extend(unknown_numbers("audience", |s: &mut proto::Scope, n| s.audience = n));
    rows.push(row("task_id", |s: &mut proto::Scope| s.level = proto::Level::Project.into()));
    rows.push(row("project_id", |s: &mut proto::Scope| {
        s.level = proto::Level::General.into();
        s.task_id.clear();
    }));
    rows.push(row("task_id", |s: &mut proto::Scope| {
        s.level = proto::Level::General.into();
        s.project_id.clear();
    }));
    rows
}

pub(super) fn memory_names() -> Vec<Row<proto::MemoryName>> {
    let mut rows = required_uuids("memory_id", |m: &mut proto::MemoryName, id| *m = super::by_id(&id));
    let mut addresses = within("scope", |a: &mut proto::MemoryAddress| a.scope.as_mut().unwrap(), scopes());
    addresses.push(row("scope", |a: &mut proto::MemoryAddress| a.scope = None));
    addresses.extend(required_ids("key", |a: &mut proto::MemoryAddress, key| a.key = key));
    rows.extend(within("address", address, addresses));
    rows
}

fn address(name: &mut proto::MemoryName) -> &mut proto::MemoryAddress {
    match &mut name.name {
        Some(proto::memory_name::Name::Address(address)) => address,
        other => panic!("no address: {other:?}"),
    }
}

pub(super) fn sources() -> Vec<Row<proto::Source>> {
    let mut rows = ids("kind", |s: &mut proto::Source, id| s.kind = id);
    rows.extend(each("reference", ["a\0b".to_owned(), "\u{e9}".repeat(513)], |s: &mut proto::Source, text| {
        s.reference = text;
    }));
    rows.extend(required_uuids("parent_memory_ids[1]", |s: &mut proto::Source, id| s.parent_memory_ids.push(id)));
    rows.push(row("parent_memory_ids[1]", |s: &mut proto::Source| s.parent_memory_ids.push(ID.to_owned())));
    rows.push(row("parent_memory_ids", |s: &mut proto::Source| s.parent_memory_ids = vec![String::new(); 10_000]));
    let references = [String::new(), "\0".to_owned(), "x".repeat(513)];
    rows.extend(each("parent_references[1]", references, |s: &mut proto::Source, text| {
        s.parent_references.push(text);
    }));
    rows.push(row("parent_references", |s: &mut proto::Source| s.parent_references = vec![String::new(); 33]));
    rows
}

pub(super) fn purposes<R: 'static>(path: &str, list: fn(&mut R) -> &mut Vec<String>) -> Vec<Row<R>> {
    let mut rows: Vec<Row<R>> = required_ids("", |bad: &mut Vec<String>, id| bad.push(id))
        .into_iter()
        .map(|(_, spoil)| row(&format!("{path}[1]"), move |r| spoil(list(r))))
        .collect();
    rows.push(row(&format!("{path}[1]"), move |r| {
        let repeated = list(r)[0].clone();
        list(r).push(repeated);
    }));
    rows.push(row(path, move |r| *list(r) = vec![String::new(); 10_000]));
    rows
}
