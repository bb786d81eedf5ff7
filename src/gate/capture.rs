//! `Capture`: a fact is offered.

use super::call::{Call, invalid};
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
        let (payload, request_id) = (Payload::from(&command), command.request_id);
        let proposal = call.proposal(command)?;
        call.require_offered(&proposal).await?;
        call.propose(proposal, request_id, &payload).await
    }
}

impl Call<'_> {
    /// A fact on its way.
    ///
    /// # Errors
    /// What the form of it still lacks, now that clock and policy are at hand.
    pub(super) fn proposal(&self, command: Capture) -> Result<Proposal, Error> {
        let observed = self.observed(command.observe_time)?;
        let now = self.gate.clock.now();
        let new_id = ids::memory_id(now);
        let own_key = command.key.is_none();
        if own_key && self.policy.kinds.get(&command.kind).is_some_and(|kind| !kind.many) {
            return Err(invalid("key", "is required for this kind"));
        }
        let key = match command.key {
            Some(key) => key,
            None => Key::new(new_id.to_string()).map_err(|fault| Error::Internal(Box::new(fault)))?,
        };
        let offer = Offer {
            address: Address {
                tenant: self.caller.tenant().clone(),
                owner: self.owner(command.scope.audience),
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
        Ok(Proposal {
            act: Act::Capture,
            offer,
            observed,
            expected: Expected::stated(command.expected_version),
            candidate: None,
            new_id,
            validate_only: command.validate_only,
        })
    }

    /// What is offered is the caller's to state, and its place the caller's to write.
    pub(super) async fn require_offered(&self, proposal: &Proposal) -> Result<(), Error> {
        let offer = &proposal.offer;
        self.require_level(&offer.address.level).await?;
        self.require_audience_writable(offer.address.owner.audience()).await?;
        self.require_evidence(offer.evidence).await?;
        self.require_source(&offer.source).await?;
        self.require_consent(&offer.consent).await
    }
}
