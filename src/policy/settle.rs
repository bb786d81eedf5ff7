//! A fact as it would be stored: screened, bounded by its source, its lineage, its kind and what it replaces.

use serde_json::Value;

use super::offer::{Offer, Standing, Vouching};
use super::trust::lineage_sensitivity;
use super::{Finding, Kind, Policy, ValueType, value_fits};
use crate::memory::{
    Confidence, Evidence, Key, Memory, Reason, Sensitivity, Source, SourceKindName, State, Text, Time, Trust,
};

/// The fact as it would be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The value, after screening.
    pub value: Text,
    /// The source, after screening.
    pub source: Source,
    /// The reason given, after screening.
    pub change_reason: Text,
    /// The most that its lineage lets it be worth.
    pub lineage_trust: Trust,
    /// How sure, at most its source's cap.
    pub confidence: Confidence,
    /// How harmful: at least as its kind, its parents and what it replaces.
    pub sensitivity: Sensitivity,
    /// The end of its validity.
    pub expire_time: Option<Time>,
    /// When evidence that counts was given.
    pub confirm_time: Option<Time>,
}

impl Settled {
    /// The same value is there without evidence as strong: the confirming act becomes the source of what is there, and
    /// both what it came from and what came now are kept as its lineage.
    pub(super) fn confirm(&mut self, policy: &Policy, evidence: Evidence, there: &Memory) {
        let Some(confirming) = policy.confirming_sources.get(&evidence) else { return };
        let mut source = there.source.clone();
        source.kind = Some(confirming.clone());
        let came = &self.source;
        source.parents.extend(came.parents.iter().filter(|id| !there.source.parents.contains(id)));
        source.parent_references.extend(came.parent_references.iter().chain([&came.reference]).cloned());
        source.parent_references.retain(|reference| !reference.is_empty() && *reference != there.source.reference);
        source.parent_references.sort_unstable();
        source.parent_references.dedup();
        self.confidence = self.confidence.max(policy.confidence_cap(&source));
        self.source = source;
        self.lineage_trust = Trust::Verified;
    }
}

/// The fact as it would be stored, with remarks and what screening and the value rule have against it.
pub(super) fn settle(
    policy: &Policy,
    kind: &Kind,
    vouching: Vouching,
    offer: &Offer,
    standing: Standing<'_>,
    reasons: &mut Vec<Reason>,
) -> Settled {
    let mut screen = Screen { policy, reasons, instruction_allowed: vouching.confirming };
    if policy.key_is_text(&kind.name) {
        screen.key(&offer.address.key);
    }
    let value = screen.text(&offer.value);
    let reference = screen.text(&offer.source.reference);
    let parent_references = offer.source.parent_references.iter().map(|text| screen.text(text)).collect();
    let change_reason = screen.text(&offer.change_reason);
    if kind.value.value_type == ValueType::Json {
        screen.json(value.expose());
    }
    if !value_fits(&kind.value, value.expose()) {
        reasons.push(Reason::ValueNotAllowed);
    }
    let mut sensitivity = offer.sensitivity.unwrap_or(kind.sensitivity).max(kind.sensitivity);
    if reasons.contains(&Reason::PersonalDataMarked) {
        sensitivity = sensitivity.max(Sensitivity::Personal);
    }
    let replaced =
        standing.current.filter(|current| current.state != State::Forgotten).map(|current| current.sensitivity);
    sensitivity =
        [lineage_sensitivity(standing.parents), replaced].into_iter().flatten().fold(sensitivity, Sensitivity::max);
    let source =
        Source { kind: offer.source.kind.clone(), reference, parents: offer.source.parents.clone(), parent_references };
    let (source, lineage_trust, cap) = match policy.confirming_sources.get(&offer.evidence) {
        // Confirming is the one way up: the source is the confirming act, and what it was before no longer counts.
        Some(confirming) if vouching.confirming => confirmed_source(policy, confirming, source),
        _ => {
            let lineage_trust = policy.lineage_trust(&source, standing.parents);
            let cap = policy.confidence_cap(&source);
            (source, lineage_trust, cap)
        }
    };
    let stated = if vouching.confirming { None } else { offer.confidence };
    if stated.is_some_and(|stated| stated > cap) {
        reasons.push(Reason::ConfidenceCapped);
    }
    let confidence = stated.unwrap_or(cap).min(cap);
    let expire_time = life(kind, vouching, offer, reasons);
    let confirm_time = vouching.confirmed.then_some(vouching.at);
    Settled { value, source, change_reason, lineage_trust, confidence, sensitivity, expire_time, confirm_time }
}

fn confirmed_source(policy: &Policy, confirming: &SourceKindName, mut source: Source) -> (Source, Trust, Confidence) {
    source.kind = Some(confirming.clone());
    let cap = policy.confidence_cap(&source);
    (source, Trust::Verified, cap)
}

struct Screen<'a> {
    policy: &'a Policy,
    reasons: &'a mut Vec<Reason>,
    instruction_allowed: bool,
}

impl Screen<'_> {
    /// A key cannot be redacted: what would be replaced in it is marked.
    fn key(&mut self, key: &Key) {
        self.found_in_place(key.as_str());
    }

    fn found_in_place(&mut self, text: &str) {
        for finding in self.policy.screening.screen(text).findings {
            match finding {
                Finding::Secret => self.reasons.push(Reason::SecretDetected),
                Finding::PersonalDataMarked | Finding::PersonalDataRedacted => {
                    self.reasons.push(Reason::PersonalDataMarked);
                }
                Finding::InstructionLike if self.instruction_allowed => {}
                Finding::InstructionLike => self.reasons.push(Reason::InstructionLike),
            }
        }
    }

    /// What a JSON document says, behind its escapes. It cannot be redacted in place: personal data is marked.
    fn json(&mut self, document: &str) {
        let Ok(document) = serde_json::from_str::<Value>(document) else { return };
        let mut said = String::new();
        let mut rest = vec![&document];
        while let Some(value) = rest.pop() {
            match value {
                Value::String(text) => said.extend([text.as_str(), "\n"]),
                Value::Array(items) => rest.extend(items),
                // A name with its text, so that `password` and what follows are read together.
                Value::Object(fields) => {
                    for (name, value) in fields {
                        said.extend([name.as_str(), ": "]);
                        match value {
                            Value::String(text) => said.extend([text.as_str(), "\n"]),
                            other => rest.push(other),
                        }
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        self.found_in_place(&said);
    }

    fn text(&mut self, text: &Text) -> Text {
        if text.is_empty() {
            return text.clone();
        }
        let screened = self.policy.screening.screen(text.expose());
        for finding in screened.findings {
            match finding {
                Finding::Secret => self.reasons.push(Reason::SecretDetected),
                Finding::PersonalDataMarked => self.reasons.push(Reason::PersonalDataMarked),
                Finding::PersonalDataRedacted => self.reasons.push(Reason::PersonalDataRedacted),
                Finding::InstructionLike if self.instruction_allowed => {}
                Finding::InstructionLike => self.reasons.push(Reason::InstructionLike),
            }
        }
        Text::new(screened.text)
    }
}

/// The end of its validity. A life is counted from when the fact was observed or vouched for, or begins to hold.
fn life(kind: &Kind, vouching: Vouching, offer: &Offer, reasons: &mut Vec<Reason>) -> Option<Time> {
    let begin = offer.valid_from_time.map_or(vouching.at, |valid_from_time| valid_from_time.max(vouching.at));
    let longest = kind.longest_life.map(|life| begin.plus(life));
    let default = kind.default_life.map(|life| begin.plus(life)).or(longest);
    match (offer.expire_time, longest) {
        (Some(asked), Some(longest)) if asked > longest => {
            reasons.push(Reason::LifeShortened);
            Some(longest)
        }
        (Some(asked), _) => Some(asked),
        (None, _) => default,
    }
}
