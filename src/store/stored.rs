//! The stored messages, `recallgate.store.v1`.

#![expect(unreachable_pub, clippy::struct_field_names, reason = "generated from the protos")]

include!(concat!(env!("OUT_DIR"), "/recallgate.store.v1.rs"));
