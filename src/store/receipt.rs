//! How the answer to a mutation is kept for replay.

use prost::Message;
use uuid::Uuid;

use super::fault::Fault;
use super::stored;
use crate::memory::{CandidateId, DecisionId, MemoryId, Outcome, PolicyVersion, Reason, Receipt, Time, Version};

const COLUMN: &str = "idempotency.receipt";

/// The answer, and of a batch the answers to its further items.
pub(super) fn encode(receipt: &Receipt, further: &[Receipt]) -> Vec<u8> {
    stored::Receipt { further: further.iter().map(write).collect(), ..write(receipt) }.encode_to_vec()
}

fn write(receipt: &Receipt) -> stored::Receipt {
    stored::Receipt {
        decision_id: receipt.decision_id.0.into_bytes().to_vec(),
        policy_version: receipt.policy_version.0.to_vec(),
        outcome: receipt.outcome.map(|outcome| outcome.name().to_owned()).unwrap_or_default(),
        reasons: receipt.reasons.iter().map(|reason| reason.name().to_owned()).collect(),
        memory_id: receipt.memory_id.map(|id| id.0.into_bytes().to_vec()).unwrap_or_default(),
        candidate_id: receipt.candidate_id.map(|id| id.0.into_bytes().to_vec()).unwrap_or_default(),
        version: receipt.version.map(|version| version.0),
        value_version: receipt.value_version.map(|version| version.0),
        expire_time: receipt.expire_time.map(Time::micros),
        further: Vec::new(),
    }
}

/// The answer as it was, marked as replayed, and of a batch the answers to its further items.
pub(super) fn decode(bytes: &[u8]) -> Result<(Receipt, Vec<Receipt>), Fault> {
    let stored = stored::Receipt::decode(bytes).map_err(|_| Fault::Stored(COLUMN))?;
    let further = stored.further.iter().map(read).collect::<Option<_>>();
    read(&stored).zip(further).ok_or(Fault::Stored(COLUMN))
}

fn read(stored: &stored::Receipt) -> Option<Receipt> {
    let outcome = match stored.outcome.as_str() {
        "" => None,
        name => Some(Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)?),
    };
    Some(Receipt {
        decision_id: DecisionId(Uuid::from_slice(&stored.decision_id).ok()?),
        policy_version: PolicyVersion(stored.policy_version.as_slice().try_into().ok()?),
        outcome,
        reasons: stored.reasons.iter().map(|name| reason(name)).collect::<Option<_>>()?,
        memory_id: id(&stored.memory_id)?.map(MemoryId),
        candidate_id: id(&stored.candidate_id)?.map(CandidateId),
        version: stored.version.map(Version),
        value_version: stored.value_version.map(Version),
        expire_time: stored.expire_time.map(Time::from_micros),
        replayed: true,
    })
}

/// The reason with that name.
pub(super) fn reason(name: &str) -> Option<Reason> {
    Reason::ALL.into_iter().find(|reason| reason.name() == name)
}

#[expect(clippy::option_option, reason = "unreadable, none, or an id")]
fn id(bytes: &[u8]) -> Option<Option<Uuid>> {
    if bytes.is_empty() {
        return Some(None);
    }
    Uuid::from_slice(bytes).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_comes_back_as_it_was_and_says_that_it_is_a_replay() {
        let receipt = Receipt {
            decision_id: DecisionId(Uuid::from_u128(1)),
            policy_version: PolicyVersion([2; 32]),
            outcome: Some(Outcome::Held),
            reasons: vec![Reason::ConflictsWithCurrent, Reason::ConfidenceCapped],
            memory_id: None,
            candidate_id: Some(CandidateId(Uuid::from_u128(3))),
            version: Some(Version(4)),
            value_version: Some(Version(2)),
            expire_time: Some(Time::from_micros(-5)),
            replayed: false,
        };
        let second = Receipt { outcome: Some(Outcome::Duplicate), version: None, ..receipt.clone() };
        let read = decode(&encode(&receipt, &[second.clone(), receipt.clone()])).unwrap();
        let replayed = |receipt: &Receipt| Receipt { replayed: true, ..receipt.clone() };
        assert_eq!(read, (replayed(&receipt), vec![replayed(&second), replayed(&receipt)]));
        assert_eq!(decode(&encode(&receipt, &[])).unwrap(), (replayed(&receipt), vec![]));
    }

    #[test]
    fn what_is_no_receipt_is_a_fault() {
        assert!(decode(b"\xff\xff").is_err());
        assert!(decode(b"").is_err());
    }
}
