//! The decision tables of the policy as data, and properties that hold for every input.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a table that is wrong panics")]

mod fixture;
mod misfits;
mod properties;
mod recall_gates;
mod selection;
mod write_gate;
