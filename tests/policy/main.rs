//! The decision tables of the policy as data, and properties that hold for every input.

mod fixture;
mod misfits;
mod properties;
mod recall_gates;
mod selection;
mod write_gate;
