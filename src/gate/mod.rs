//! The use cases: load, judge, commit.
//!
//! Knows memory, policy, store and identity's `Caller`; no protobuf and no database.

mod admitted;
mod clock;
pub mod command;
mod error;

use std::sync::Arc;

use arc_swap::ArcSwap;

pub use admitted::{Admitted, Disclosed, Shown, ShownCandidate};
pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{Error, FieldFault};

use crate::identity::{Caller, Verb};
use crate::memory::{Judgement, Receipt};
use crate::policy::Policy;
use crate::store::{Recorded, Store};

/// The gate: every use case, over one store and the policy in force.
pub struct Gate {
    store: Arc<dyn Store>,
    policy: ArcSwap<Policy>,
    clock: Arc<dyn Clock>,
}

impl Gate {
    /// A gate over a store.
    pub fn new(store: Arc<dyn Store>, policy: Policy, clock: Arc<dyn Clock>) -> Self {
        Self { store, policy: ArcSwap::from_pointee(policy), clock }
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    /// Whether the caller holds what the method needs. A refusal is recorded.
    pub async fn permit(&self, caller: &Caller, method: &'static str, verb: Verb) -> Result<(), Error> {
        let _ = (caller, method, verb);
        Ok(())
    }

    pub async fn capture(&self, caller: &Caller, command: command::Capture) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn correct(&self, caller: &Caller, command: command::Correct) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn confirm_candidate(
        &self,
        caller: &Caller,
        command: command::ConfirmCandidate,
    ) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn reject_candidate(&self, caller: &Caller, command: command::RejectCandidate) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn get_candidate(&self, caller: &Caller, command: command::GetCandidate) -> Result<Disclosed, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn list_candidates(&self, caller: &Caller, command: command::ListCandidates) -> Result<Disclosed, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn recall(&self, caller: &Caller, command: command::Recall) -> Result<Admitted, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn explain_recall(
        &self,
        caller: &Caller,
        command: command::Recall,
    ) -> Result<Recorded<Judgement>, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn get_memory(&self, caller: &Caller, command: command::GetMemory) -> Result<Admitted, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn list_memories(&self, caller: &Caller, command: command::ListMemories) -> Result<Admitted, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn delete(&self, caller: &Caller, command: command::ChangeDeleted) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }

    pub async fn restore(&self, caller: &Caller, command: command::ChangeDeleted) -> Result<Receipt, Error> {
        let _ = (caller, command);
        Err(Error::NotFound)
    }
}
