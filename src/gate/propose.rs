//! A fact on its way through the write gate: what it is, and what a decision on it comes to.

use super::call::Call;
use super::{Error, ids};
use crate::identity::Verb;
use crate::memory::{
    Attributes, Candidate, CandidateId, Consent, Disposition, Key, KindName, Memory, MemoryId, Nominator, Outcome,
    Reason, Receipt, Sensitivity, State, Subject, Text, Time, Trust, Verdict, Version,
};
use crate::policy::{
    Act, Offer, Settled, Standing, Succession, WriteDecision, admitted, candidate_verdict, tokens, write,
};
use crate::store::{Announcement, Change, Expect, Place, Write};

/// A fact on its way through the write gate.
pub(super) struct Proposal {
    /// By which call.
    pub(super) act: Act,
    /// The fact. Its `observe_time` is set from `observed` when it is judged.
    pub(super) offer: Offer,
    /// When it was observed; `None`: now.
    pub(super) observed: Option<Time>,
    /// What the caller saw at the address.
    pub(super) expected: Expected,
    /// The candidate that it was until now.
    pub(super) candidate: Option<CandidateId>,
    /// The id, if it becomes a new memory.
    pub(super) new_id: MemoryId,
    /// Only ask.
    pub(super) validate_only: bool,
}

/// What the caller saw at the address.
pub(super) enum Expected {
    /// It did not say.
    Unstated,
    /// Nothing.
    Nothing,
    /// Whatever is there, at this version.
    Version(Version),
    /// This memory, at this version.
    Memory(MemoryId, Version),
}

impl Expected {
    /// From a version as requests state it: 0 is nothing.
    pub(super) fn stated(version: Option<Version>) -> Self {
        match version {
            None => Self::Unstated,
            Some(Version(0)) => Self::Nothing,
            Some(version) => Self::Version(version),
        }
    }

    pub(super) fn check(&self, current: Option<&Memory>) -> Result<(), Error> {
        let there = current.filter(|memory| memory.state != State::Forgotten);
        match (self, there) {
            (Self::Unstated, _) | (Self::Nothing, None) => Ok(()),
            (Self::Version(_), None) => Err(Error::VersionConflict(Version(0))),
            // Another memory has taken the address: the one that was named is deleted for good.
            (Self::Memory(id, _), Some(memory)) if *id != memory.id => Err(Error::MemoryDeleted),
            (Self::Memory(..), None) => Err(Error::NotFound),
            (Self::Version(seen) | Self::Memory(_, seen), Some(memory)) if *seen == memory.version => Ok(()),
            (Self::Nothing | Self::Version(_) | Self::Memory(..), Some(memory)) => {
                Err(Error::VersionConflict(memory.version))
            }
        }
    }
}

impl Call<'_> {
    /// What a decision comes to: what is to be committed, and what is answered.
    pub(super) fn carry_out(
        &self,
        proposal: &Proposal,
        place: &Place,
        decision: WriteDecision,
        now: Time,
    ) -> (Change, Receipt) {
        let offer = &proposal.offer;
        let mut judgement = self.judgement(now);
        judgement.revisions = vec![place.revision.clone()];
        judgement.evidence = offer.evidence;
        judgement.validate_only = proposal.validate_only;
        judgement.disposition = Disposition::Decided { outcome: decision.outcome, reasons: decision.reasons.clone() };
        judgement.verdicts = vec![self.offered(proposal, &decision)];
        let mut receipt = Receipt {
            outcome: Some(decision.outcome),
            reasons: decision.reasons.clone(),
            candidate_id: proposal.candidate,
            ..Receipt::of(judgement.decision_id, self.policy.version)
        };
        let visible = place.current.as_ref().filter(|memory| self.sees(memory));
        if let Some(current) = visible {
            name(&mut receipt, current);
        }
        let mut writes = Vec::new();
        let mut announce = None;
        match (decision.outcome, decision.settled) {
            _ if proposal.validate_only => {}
            (Outcome::Activated, Some(settled)) => {
                let memory = self.memory(proposal, place.current.as_ref(), settled, decision.succession, now);
                name(&mut receipt, &memory);
                receipt.expire_time = memory.expire_time;
                receipt.candidate_id = None;
                judgement.verdicts = vec![admitted(&self.policy, &memory)];
                writes.push(Write::Memory(Box::new(memory)));
                writes.extend(proposal.candidate.map(Write::EraseCandidate));
                announce = Some(Announcement::Activated);
            }
            (Outcome::Held, Some(settled)) if proposal.candidate.is_none() => {
                let candidate = self.candidate(proposal, settled, &decision.reasons, now);
                receipt.candidate_id = Some(candidate.id);
                judgement.verdicts = vec![candidate_verdict(&self.policy, &candidate, Nominator::Name)];
                writes.push(Write::Candidate(Box::new(candidate)));
            }
            (Outcome::Held, _) => {}
            // What was confirmed and came to nothing waits no longer.
            (Outcome::Rejected | Outcome::Duplicate | Outcome::Activated, _) => {
                receipt.candidate_id = None;
                writes.extend(proposal.candidate.map(Write::EraseCandidate));
            }
        }
        let hidden = place.current.is_some() && visible.is_none();
        if hidden || !self.caller.grants().holds(Verb::Recall) {
            receipt = self.without_state(proposal, place, &receipt, now);
        }
        let mut change = self.change(offer.address.owner.clone(), judgement);
        change.expect = expectations(proposal, place);
        change.writes = writes;
        change.announce = announce;
        (change, receipt)
    }

    /// The word on an offer that came to nothing: what it was, without its text.
    fn offered(&self, proposal: &Proposal, decision: &WriteDecision) -> Verdict {
        let offer = &proposal.offer;
        let settled = decision.settled.as_ref();
        let lineage_trust = settled.map_or(Trust::Untrusted, |settled| settled.lineage_trust);
        Verdict {
            subject: Subject::Candidate(proposal.candidate.unwrap_or(CandidateId(proposal.new_id.0))),
            reasons: decision.reasons.clone(),
            nominator: Nominator::Name,
            nomination: None,
            attributes: Some(Attributes {
                owner: offer.address.owner.clone(),
                level: offer.address.level.clone(),
                key: offer.address.key.clone(),
                key_is_text: self.policy.key_is_text(&offer.kind) && !offer.own_key,
                kind: offer.kind.clone(),
                version: Version(0),
                value_version: Version(0),
                state: None,
                source_kind: offer.source.kind.clone(),
                lineage_trust,
                evidence: offer.evidence,
                confidence: settled.map(|settled| settled.confidence).or(offer.confidence),
                sensitivity: settled.map_or(Sensitivity::Restricted, |settled| settled.sensitivity),
                consent: offer.consent.clone(),
                purposes: offer.purposes.clone(),
                observe_time: offer.observe_time,
                valid_from_time: offer.valid_from_time,
                expire_time: offer.expire_time,
                update_time: offer.observe_time,
                confirm_time: None,
                value_chars: chars(&offer.value),
            }),
        }
    }

    /// The memory that an activated proposal becomes.
    pub(super) fn memory(
        &self,
        proposal: &Proposal,
        current: Option<&Memory>,
        settled: Settled,
        succession: Succession,
        now: Time,
    ) -> Memory {
        let offer = &proposal.offer;
        let before = current.filter(|_| succession != Succession::New);
        let version = before.map_or(Version::FIRST, |before| before.version.next());
        let value_version = match (before, succession) {
            (Some(before), Succession::Confirms) => before.value_version,
            _ => version,
        };
        let observe_time = match (before, succession) {
            (Some(before), Succession::Confirms) => before.observe_time.max(offer.observe_time),
            _ => offer.observe_time,
        };
        let purposes = match before {
            Some(before) if offer.purposes.is_empty() => before.purposes.clone(),
            _ => offer.purposes.clone(),
        };
        Memory {
            id: before.map_or(proposal.new_id, |before| before.id),
            address: offer.address.clone(),
            kind: offer.kind.clone(),
            version,
            value_version,
            state: State::Active,
            value_chars: chars(&settled.value),
            tokens: Some(tokens(&settled.value)),
            value: Some(settled.value),
            source: settled.source,
            lineage_trust: settled.lineage_trust,
            evidence: offer.evidence,
            confidence: Some(settled.confidence),
            sensitivity: settled.sensitivity,
            consent: consent(offer, before),
            purposes,
            observe_time,
            valid_from_time: offer.valid_from_time,
            expire_time: settled.expire_time,
            create_time: before.map_or(now, |before| before.create_time),
            update_time: now,
            confirm_time: settled.confirm_time,
            author: self.caller.principal().clone(),
            change_reason: settled.change_reason,
            intact: true,
        }
    }

    fn candidate(&self, proposal: &Proposal, settled: Settled, reasons: &[Reason], now: Time) -> Candidate {
        let offer = &proposal.offer;
        Candidate {
            // Of a fact under its own id, so that it becomes the memory of that id.
            id: if offer.own_key { CandidateId(proposal.new_id.0) } else { ids::candidate_id(now) },
            address: offer.address.clone(),
            kind: offer.kind.clone(),
            value: Some(settled.value),
            source: settled.source,
            lineage_trust: settled.lineage_trust,
            evidence: offer.evidence,
            confidence: Some(settled.confidence),
            sensitivity: settled.sensitivity,
            consent: consent(offer, None),
            purposes: offer.purposes.clone(),
            observe_time: offer.observe_time,
            valid_from_time: offer.valid_from_time,
            expire_time: offer.expire_time,
            reasons: reasons.to_vec(),
            create_time: now,
            lapse_time: now.plus(self.policy.candidate_life),
            author: self.caller.principal().clone(),
            change_reason: settled.change_reason,
        }
    }

    /// The answer to somebody who may write here and not read: nothing in it depends on what is there, but that a
    /// conflict and a revocation read as held.
    fn without_state(&self, proposal: &Proposal, place: &Place, receipt: &Receipt, now: Time) -> Receipt {
        let parents: Vec<Memory> =
            place.parents.iter().map(|parent| Memory { state: State::Active, ..parent.clone() }).collect();
        let nothing = Standing { current: None, parents: &parents, leads_back: place.leads_back, blocks: &[] };
        let blind = write(&self.policy, proposal.act, &proposal.offer, nothing, now);
        let told = receipt.reasons.iter().copied().filter(|reason| !depends_on_state(*reason)).collect();
        let (outcome, reasons) = match receipt.outcome {
            None | Some(Outcome::Duplicate) => (blind.outcome, blind.reasons),
            Some(Outcome::Rejected) if blind.outcome == Outcome::Rejected => (Outcome::Rejected, blind.reasons),
            Some(Outcome::Held) if blind.outcome == Outcome::Held => (Outcome::Held, blind.reasons),
            Some(Outcome::Rejected) => (Outcome::Held, told),
            Some(outcome @ (Outcome::Activated | Outcome::Held)) => (outcome, told),
        };
        Receipt { outcome: Some(outcome), reasons, ..receipt.clone() }.without_state()
    }
}

const fn depends_on_state(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::SourceRevoked
            | Reason::Quarantined
            | Reason::ObservationOlder
            | Reason::AlreadyDecided
            | Reason::ConflictsWithCurrent
            | Reason::AddressDeleted
    )
}

fn name(receipt: &mut Receipt, memory: &Memory) {
    receipt.memory_id = Some(memory.id);
    receipt.version = Some(memory.version);
    receipt.value_version = Some(memory.value_version);
}

/// What the subject agreed to: as stated, else as before. Silence takes nothing back and grants nothing.
fn consent(offer: &Offer, before: Option<&Memory>) -> Consent {
    match (&offer.consent, before) {
        _ if offer.address.owner.subject().is_none() => Consent::NotApplicable,
        (Consent::Unset, Some(before)) => before.consent.clone(),
        (stated, _) => stated.clone(),
    }
}

fn chars(value: &Text) -> u32 {
    u32::try_from(value.char_count()).unwrap_or(u32::MAX)
}

/// Under which name a fact's source is blocked. Facts under ids of their own have no key that would come again.
pub(super) fn blocked_as(key: &Key, kind: &KindName, own_key: bool) -> Key {
    if own_key { Key::new(kind.as_str()).unwrap_or_else(|_| key.clone()) } else { key.clone() }
}

/// Everything that the decision rests on still stands when it is written (I6).
pub(super) fn expectations(proposal: &Proposal, place: &Place) -> Vec<Expect> {
    let address = proposal.offer.address.clone();
    let current = place.current.as_ref().map(|current| (current.id, current.version));
    let parents = place.parents.iter().map(|parent| Expect::Memory(parent.id, parent.version));
    [Expect::BlockEpoch(address.owner.clone(), place.block_epoch), Expect::Address(address, current)]
        .into_iter()
        .chain(parents)
        .chain(proposal.candidate.map(Expect::Candidate))
        .collect()
}
