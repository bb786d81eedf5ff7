//! `Capture`: a fact is offered.

use super::call::invalid;
use super::command::Capture;
use super::propose::{Expected, Proposal};
use super::replay::Payload;
use super::{Error, Gate, ids, operation};
use crate::identity::Caller;
use crate::memory::{Address, Key, Receipt, Text};
use crate::policy::{Act, Offer};

impl Gate {
    /// Offers a fact to the write gate.
    ///
    /// # Errors
    /// A status for what is not the policy's to decide: grants, the request id, the expected version, the store.
    pub async fn capture(&self, caller: &Caller, command: Capture) -> Result<Receipt, Error> {
        let call = self.begin(caller, operation::CAPTURE, command.subject.as_ref()).await?;
        let observed = call.observed(command.observe_time)?;
        let now = self.clock.now();
        let new_id = ids::memory_id(now);
        let own_key = command.key.is_none();
        if own_key && call.policy.kinds.get(&command.kind).is_some_and(|kind| !kind.many) {
            return Err(invalid("key", "is required for this kind"));
        }
        let key = match command.key.clone() {
            Some(key) => key,
            None => Key::new(new_id.to_string()).map_err(|fault| Error::Internal(Box::new(fault)))?,
        };
        call.require_writable(&command.scope).await?;
        call.require_evidence(command.evidence).await?;
        call.require_source(&command.source).await?;
        call.require_consent(&command.consent).await?;
        let payload = Payload::from(&command);
        let offer = Offer {
            address: Address {
                tenant: caller.tenant().clone(),
                owner: call.owner(command.scope.audience),
                level: command.scope.level,
                key,
            },
            own_key,
            kind: command.kind,
            value: command.value,
            source: command.source,
            evidence: command.evidence,
            confidence: command.confidence,
            sensitivity: command.sensitivity,
            consent: command.consent,
            purposes: command.purposes,
            observe_time: now,
            valid_from_time: command.valid_from_time,
            expire_time: command.expire_time,
            change_reason: Text::default(),
            accept_revoked: command.accept_revoked,
        };
        let proposal = Proposal {
            act: Act::Capture,
            offer,
            observed,
            expected: Expected::stated(command.expected_version),
            candidate: None,
            new_id,
            validate_only: command.validate_only,
            request_id: command.request_id,
        };
        call.propose(proposal, &payload).await
    }
}
