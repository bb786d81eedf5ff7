//! The tables of bad values against the protos themselves: a new field without a row fails.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use prost_types::field_descriptor_proto::Type;
use prost_types::{DescriptorProto, FileDescriptorSet};

use super::rows::Row;
use super::{batch, capture, correct, delete, recall};
use crate::api::FILE_DESCRIPTOR_SET;

/// Either value of these is good.
const WITHOUT_BAD_VALUES: [&str; 3] = ["accept_revoked", "import", "validate_only"];

fn messages() -> BTreeMap<String, DescriptorProto> {
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap().file;
    let ours = files.into_iter().filter(|file| file.package() == "recallgate.v1");
    ours.flat_map(|file| file.message_type)
        .map(|message| (format!(".recallgate.v1.{}", message.name()), message))
        .collect()
}

/// The path of every field below a message that holds a value of its own.
fn leaves(messages: &BTreeMap<String, DescriptorProto>, message: &str, prefix: &str, found: &mut BTreeSet<String>) {
    for field in &messages[message].field {
        let path = if prefix.is_empty() { field.name().to_owned() } else { format!("{prefix}.{}", field.name()) };
        if field.r#type() == Type::Message && messages.contains_key(field.type_name()) {
            leaves(messages, field.type_name(), &path, found);
        } else if !WITHOUT_BAD_VALUES.contains(&field.name()) {
            found.insert(path);
        }
    }
}

fn without_indices(path: &str) -> String {
    path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
}

fn covered<R>(rows: Vec<Row<R>>) -> BTreeSet<String> {
    rows.into_iter().map(|(path, _)| without_indices(&path)).collect()
}

#[test]
fn every_field_of_every_request_has_a_row_of_bad_values() {
    let tables = BTreeMap::from([
        ("Capture", covered(capture::bad())),
        ("BatchCapture", covered(batch::bad())),
        ("ConfirmCandidate", covered(capture::bad_confirm())),
        ("RejectCandidate", covered(capture::bad_reject())),
        ("GetCandidate", covered(capture::bad_get())),
        ("ListCandidates", covered(capture::bad_list())),
        ("Correct", covered(correct::bad())),
        ("Delete", covered(delete::bad_delete())),
        ("Restore", covered(delete::bad_restore())),
        ("Recall", covered(recall::bad())),
        ("ExplainRecall", covered(recall::bad_explain())),
        ("GetMemory", covered(recall::bad_get())),
        ("ListMemories", covered(recall::bad_list())),
    ]);
    let messages = messages();
    let requests = messages.keys().filter_map(|name| name.strip_prefix(".recallgate.v1.")?.strip_suffix("Request"));
    for method in requests {
        let mut fields = BTreeSet::new();
        leaves(&messages, &format!(".recallgate.v1.{method}Request"), "", &mut fields);
        let rows = tables.get(method).cloned().unwrap_or_default();
        let missing: Vec<_> = fields.difference(&rows).collect();
        assert!(missing.is_empty(), "{method}Request has fields without a bad value: {missing:?}");
    }
}
