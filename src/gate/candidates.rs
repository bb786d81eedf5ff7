//! Held candidates: confirmed, rejected, shown. No held state is a dead end.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::call::{ATTEMPTS, Call};
use super::command::{ConfirmCandidate, GetCandidate, ListCandidates, RejectCandidate};
use super::propose::{Expected, Proposal};
use super::replay::{Met, Payload};
use super::{Disclosed, Error, Gate, ShownCandidate, ids, operation};
use crate::identity::Caller;
use crate::memory::{Audience, Candidate, CandidateId, Disposition, MemoryId, Nominator, Receipt, Time, Version};
use crate::policy::{Act, Offer, candidate_verdict};
use crate::store::{CandidatePage, Expect, Range, Write};

/// How many are read at once, of which the caller may see some.
const BATCH: u32 = 256;

/// Where a page of candidates ended.
#[derive(Serialize, Deserialize)]
struct Cursor(i64, Uuid);

impl Gate {
    /// Vouches for a candidate and puts it through the write gate again.
    ///
    /// # Errors
    /// A status for what is not the policy's to decide: grants, existence, the version, the store.
    pub async fn confirm_candidate(&self, caller: &Caller, command: ConfirmCandidate) -> Result<Receipt, Error> {
        let call = self.begin(caller, operation::CONFIRM_CANDIDATE, command.subject.as_ref()).await?;
        call.require_evidence(command.evidence).await?;
        let payload = Payload::from(&command);
        if let Some(receipt) = call.receipt_of(command.request_id, command.validate_only, &payload).await? {
            return Ok(receipt);
        }
        let candidate = call.find_candidate(command.candidate_id).await?;
        call.require_audience_writable(candidate.address.owner.audience()).await?;
        let now = self.clock.now();
        let sees = command.expected_version.is_some_and(|version| version > Version(0));
        let own_key = candidate.has_own_key();
        let offer = Offer {
            own_key,
            address: candidate.address,
            kind: candidate.kind,
            value: candidate.value.unwrap_or_default(),
            source: candidate.source,
            evidence: command.evidence,
            confidence: candidate.confidence,
            sensitivity: Some(candidate.sensitivity),
            consent: candidate.consent,
            purposes: candidate.purposes,
            observe_time: candidate.observe_time,
            valid_from_time: candidate.valid_from_time,
            expire_time: candidate.expire_time,
            change_reason: candidate.change_reason,
            accept_revoked: command.accept_revoked,
        };
        let proposal = Proposal {
            act: if sees { Act::ConfirmAndReplace } else { Act::Confirm },
            observed: Some(offer.observe_time),
            offer,
            expected: Expected::stated(command.expected_version),
            candidate: Some(candidate.id),
            new_id: if own_key { MemoryId(candidate.id.0) } else { ids::memory_id(now) },
            validate_only: command.validate_only,
        };
        call.propose(proposal, command.request_id, &payload).await
    }

    /// Turns a candidate away; its text is erased.
    ///
    /// # Errors
    /// Grants, existence, the store.
    pub async fn reject_candidate(&self, caller: &Caller, command: RejectCandidate) -> Result<Receipt, Error> {
        let call = self.begin(caller, operation::REJECT_CANDIDATE, command.subject.as_ref()).await?;
        let payload = Payload::from(&command);
        for _ in 0..ATTEMPTS {
            let attempt = match call.replayed(command.request_id, &payload).await? {
                Met::Before(receipt, _) => return Ok(receipt),
                Met::New(attempt) => attempt,
            };
            let candidate = call.find_candidate(command.candidate_id).await?;
            call.require_audience_writable(candidate.address.owner.audience()).await?;
            let now = call.now(Some(candidate.create_time));
            let mut judgement = call.judgement(now);
            judgement.disposition = Disposition::Done;
            judgement.verdicts = vec![candidate_verdict(&call.policy, &candidate, Nominator::Name)];
            let receipt =
                Receipt { candidate_id: Some(candidate.id), ..Receipt::of(judgement.decision_id, call.policy.version) };
            let mut change = call.change(candidate.address.owner, judgement);
            change.expect = vec![Expect::Candidate(candidate.id)];
            change.writes = vec![Write::EraseCandidate(candidate.id)];
            change.replay = attempt.map(|attempt| attempt.record(&receipt, now));
            if call.commit(change).await?.is_some() {
                return Ok(receipt);
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }

    /// Shows one candidate.
    ///
    /// # Errors
    /// Grants, existence, the store.
    pub async fn get_candidate(&self, caller: &Caller, command: GetCandidate) -> Result<Disclosed, Error> {
        let call = self.begin(caller, operation::GET_CANDIDATE, command.subject.as_ref()).await?;
        for _ in 0..ATTEMPTS {
            let candidate = call.find_candidate(command.candidate_id).await?;
            if let Some(disclosed) = call.disclose(vec![candidate], None).await? {
                return Ok(disclosed);
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }

    /// Shows the candidates that wait in one scope.
    ///
    /// # Errors
    /// Grants, the page token, the store.
    pub async fn list_candidates(&self, caller: &Caller, command: ListCandidates) -> Result<Disclosed, Error> {
        let call = self.begin(caller, operation::LIST_CANDIDATES, command.subject.as_ref()).await?;
        let owner = call.owner(command.scope.audience);
        let level = command.scope.level;
        let binding = call.page_binding(&[owner.as_str(), level.name(), level.project(), level.task()]);
        let cursor = call.open_page::<Cursor>(&binding, &command.page_token)?;
        let after = cursor.map(|Cursor(create_time, id)| (Time::from_micros(create_time), CandidateId(id)));
        call.require_level(&level).await?;
        let range = Range::One(owner, level);
        for _ in 0..ATTEMPTS {
            let (candidates, more) = call.visible_candidates(&range, after, command.page_size).await?;
            let last = candidates.last().map(|candidate| Cursor(candidate.create_time.micros(), candidate.id.0));
            let next = last.filter(|_| more).and_then(|cursor| call.seal_page(&binding, &cursor));
            if let Some(disclosed) = call.disclose(candidates, next).await? {
                return Ok(disclosed);
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }
}

impl Call<'_> {
    /// The next candidates that the caller may see, and whether more of them follow.
    pub(super) async fn visible_candidates(
        &self,
        range: &Range,
        mut after: Option<(Time, CandidateId)>,
        size: u32,
    ) -> Result<(Vec<Candidate>, bool), Error> {
        let wanted = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
        let (reach, now) = (self.reach(), self.gate.clock.now());
        let mut visible: Vec<Candidate> = Vec::new();
        loop {
            let CandidatePage { candidates, more } =
                self.load(self.gate.store.candidates(&reach, range, after, BATCH, now)).await?;
            after = candidates.last().map(|last| (last.create_time, last.id)).or(after);
            visible.extend(candidates.into_iter().filter(|candidate| self.sees_candidate(candidate)));
            if visible.len() >= wanted || !more {
                let more = visible.len() >= wanted;
                visible.truncate(wanted - 1);
                return Ok((visible, more));
            }
        }
    }

    pub(super) async fn find_candidate(&self, id: CandidateId) -> Result<Candidate, Error> {
        let reach = self.reach();
        let found = self.load(self.gate.store.candidate(&reach, id, self.gate.clock.now())).await?;
        match found.filter(|candidate| self.sees_candidate(candidate)) {
            Some(candidate) => Ok(candidate),
            None => Err(self.refuse(Error::NotFound).await),
        }
    }

    /// Records the showing; `None` where one of them was decided meanwhile.
    async fn disclose(&self, candidates: Vec<Candidate>, next: Option<Vec<u8>>) -> Result<Option<Disclosed>, Error> {
        let newest = candidates.iter().map(|candidate| candidate.create_time).max();
        let mut judgement = self.judgement(self.now(newest));
        judgement.verdicts =
            candidates.iter().map(|candidate| candidate_verdict(&self.policy, candidate, Nominator::Name)).collect();
        let mut change = self.change(self.owner(Audience::Personal), judgement);
        change.expect = candidates.iter().map(|candidate| Expect::Candidate(candidate.id)).collect();
        let recorded = self.commit(change).await?;
        Ok(recorded.map(|recorded| Disclosed {
            recorded,
            candidates: candidates
                .into_iter()
                .map(|candidate| ShownCandidate {
                    trust: self.policy.trust(&candidate.source, candidate.lineage_trust),
                    candidate,
                })
                .collect(),
            next_page_token: next,
        }))
    }
}
