//! Who calls: a [`Caller`] made only from a verified credential.
//!
//! Invariant I1: tenant, subject, principal and grants come from the credential; a request selects among them.

mod caller;
mod grants;

pub use caller::{Caller, CallerParts, Holding, Projects};
pub use grants::{ActFor, GrantFault, Grants, Verb};
