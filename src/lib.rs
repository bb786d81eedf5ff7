//! Recall Gate decides which memories of an agent may be used, and records why before any text leaves.

pub mod api;
pub mod cli;
pub mod config;
pub mod gate;
pub mod identity;
pub mod memory;
pub mod policy;
pub mod server;
pub mod store;
pub mod telemetry;
