//! Every field of every request, wrong, huge, empty and hostile.

mod batch;
mod capture;
mod correct;
mod coverage;
mod delete;
mod hostile;
mod recall;
mod rows;

use std::fmt::Debug;

use prost_types::Timestamp;

use self::rows::Row;
use crate::api::proto;
use crate::gate::Error;

const ID: &str = "0192f0c1-2b3a-7c4d-8e5f-0123456789ab";

fn at(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanos: 0 }
}

fn task_scope() -> proto::Scope {
    proto::Scope {
        level: proto::Level::Task.into(),
        project_id: "alpha".to_owned(),
        task_id: "t-1".to_owned(),
        audience: proto::Audience::Personal.into(),
    }
}

fn source() -> proto::Source {
    proto::Source {
        kind: "user_message".to_owned(),
        reference: "message 7".to_owned(),
        parent_memory_ids: vec![ID.to_owned()],
        parent_references: vec!["ticket 9".to_owned()],
    }
}

fn address() -> proto::MemoryName {
    let address = proto::MemoryAddress { scope: Some(task_scope()), key: "language".to_owned() };
    proto::MemoryName { name: Some(proto::memory_name::Name::Address(address)) }
}

fn by_id(id: &str) -> proto::MemoryName {
    proto::MemoryName { name: Some(proto::memory_name::Name::MemoryId(id.to_owned())) }
}

/// The paths of all bad fields.
fn bad_fields<T: Debug>(outcome: Result<T, Error>) -> Vec<String> {
    match outcome {
        Err(Error::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect(),
        other => panic!("not refused for its form: {other:?}"),
    }
}

/// The request is good, and each row spoils the one field it names.
fn each_bad_value_is_named<R, T: Debug>(good: fn() -> R, convert: fn(R) -> Result<T, Error>, rows: &[Row<R>]) {
    convert(good()).expect("the request is good before it is spoilt");
    for (index, (path, spoil)) in rows.iter().enumerate() {
        let mut request = good();
        spoil(&mut request);
        assert_eq!(bad_fields(convert(request)), [path.as_str()], "row {index}");
    }
}
