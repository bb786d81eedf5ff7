//! The decision tables of the policy as data, and properties that hold for every input.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a rule that is broken panics")]

mod fixture;
mod misfits;
mod properties;
mod recall_gates;
mod selection;
mod text;
mod text_searched;
mod write_gate;
