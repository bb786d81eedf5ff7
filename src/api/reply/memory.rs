//! Memories as they were admitted.

use super::{choice, place};
use crate::api::proto;
use crate::gate::Shown;
use crate::memory::{Confidence, Consent, PurposeName, Source};

pub(super) fn memory(shown: &Shown) -> proto::Memory {
    let memory = shown.memory();
    let address = &memory.address;
    let key = if shown.key_withheld() { "" } else { address.key.as_str() };
    proto::Memory {
        memory_id: memory.id.to_string(),
        scope: Some(place::scope(&address.level, address.owner.audience())),
        key: key.to_owned(),
        kind: memory.kind.as_str().to_owned(),
        value: memory.value.as_ref().map(|value| value.expose().to_owned()),
        source: Some(source(&memory.source)),
        trust: choice::trust(shown.trust()).into(),
        evidence: choice::evidence(memory.evidence).into(),
        confidence: memory.confidence.map_or(0.0, Confidence::as_f64),
        inferred: shown.inferred(),
        version: memory.version.0,
        value_version: memory.value_version.0,
        state: choice::state(memory.state).into(),
        sensitivity: choice::sensitivity(memory.sensitivity).into(),
        consent: Some(consent(&memory.consent)),
        purposes: purposes(&memory.purposes),
        observe_time: Some(place::time(memory.observe_time)),
        valid_from_time: memory.valid_from_time.map(place::time),
        expire_time: memory.expire_time.map(place::time),
        update_time: Some(place::time(memory.update_time)),
        confirm_time: memory.confirm_time.map(place::time),
    }
}

pub(super) fn source(source: &Source) -> proto::Source {
    proto::Source {
        kind: source.kind.as_ref().map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        reference: source.reference.expose().to_owned(),
        parent_memory_ids: source.parents.iter().map(ToString::to_string).collect(),
        parent_references: source.parent_references.iter().map(|each| each.expose().to_owned()).collect(),
    }
}

fn consent(consent: &Consent) -> proto::Consent {
    let state = match consent {
        Consent::Unset => proto::ConsentState::Unset,
        Consent::Granted(_) => proto::ConsentState::Granted,
        Consent::Withdrawn => proto::ConsentState::Withdrawn,
        Consent::NotApplicable => proto::ConsentState::NotApplicable,
    };
    proto::Consent { state: state.into(), purposes: purposes(consent.purposes()) }
}

fn purposes(purposes: &[PurposeName]) -> Vec<String> {
    purposes.iter().map(ToString::to_string).collect()
}
