//! The use cases: load, judge, commit.
//!
//! Knows memory, policy, store and identity's `Caller`; no protobuf and no database.

mod admitted;
mod apart;
mod batch;
mod call;
mod candidates;
mod capture;
mod clock;
pub mod command;
mod correct;
mod delete;
mod error;
mod find;
mod get;
mod ids;
mod list;
mod operation;
mod page;
mod propose;
mod recall;
mod replay;
mod together;

use std::sync::Arc;

use arc_swap::ArcSwap;

pub use admitted::{Admitted, Disclosed, Shown, ShownCandidate};
pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{Error, FieldFault};

pub use crate::store::Deadline;

use crate::identity::{Caller, Verb};
use crate::policy::Policy;
use crate::store::{self, Store};

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

    /// Puts another policy in force, once the store keeps it: no decision names one that is not there. Calls that have
    /// begun end under the policy that they began with.
    ///
    /// # Errors
    /// Where it could not be kept. The policy in force stays.
    pub async fn replace_policy(&self, policy: Policy) -> Result<(), store::Error> {
        self.store.keep_policy(policy.version, &policy.document, self.clock.now()).await?;
        self.policy.store(Arc::new(policy));
        Ok(())
    }

    /// Whether the caller holds what the method needs. A refusal is recorded.
    ///
    /// # Errors
    /// `GrantMissing`; `LedgerUnavailable` where the refusal could not be recorded.
    pub async fn permit(&self, caller: &Caller, method: &'static str, verb: Verb) -> Result<(), Error> {
        if caller.grants().holds(verb) {
            return Ok(());
        }
        Err(self.refuse(caller, method, None, &self.policy(), Error::GrantMissing(verb.name().to_owned())).await)
    }
}
