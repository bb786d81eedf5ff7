//! `Correct`: the value of a memory that the caller has seen is replaced.

use super::command::Correct;
use super::propose::{Expected, Proposal};
use super::replay::Payload;
use super::{Error, Gate, ids, operation};
use crate::identity::Caller;
use crate::memory::{Consent, Receipt};
use crate::policy::{Act, Offer};

impl Gate {
    /// Offers a new value in place of the one the caller saw.
    ///
    /// # Errors
    /// A status for what is not the policy's to decide: grants, existence, the version, the store.
    pub async fn correct(&self, caller: &Caller, command: Correct) -> Result<Receipt, Error> {
        let call = self.begin(caller, operation::CORRECT, command.subject.as_ref()).await?;
        let observed = call.observed(command.observe_time)?;
        call.require_evidence(command.evidence).await?;
        call.require_source(&command.source).await?;
        call.require_named_writable(&command.memory).await?;
        let payload = Payload::from(&command);
        if let Some(receipt) = call.receipt_of(command.request_id, command.validate_only, &payload).await? {
            return Ok(receipt);
        }
        let memory = call.find(&command.memory).await?;
        call.require_audience_writable(memory.address.owner.audience()).await?;
        let now = self.clock.now();
        let offer = Offer {
            own_key: memory.has_own_key(),
            address: memory.address,
            kind: memory.kind,
            value: command.value,
            source: command.source,
            evidence: command.evidence,
            confidence: command.confidence,
            sensitivity: command.sensitivity,
            consent: Consent::Unset,
            purposes: Vec::new(),
            observe_time: now,
            valid_from_time: command.valid_from_time,
            expire_time: command.expire_time,
            change_reason: command.reason,
            accept_revoked: command.accept_revoked,
        };
        let proposal = Proposal {
            act: Act::Replace,
            offer,
            observed,
            expected: Expected::Memory(memory.id, command.expected_version),
            candidate: None,
            new_id: ids::memory_id(now),
            validate_only: command.validate_only,
        };
        call.propose(proposal, command.request_id, &payload).await
    }
}
