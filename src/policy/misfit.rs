//! What of the memories that are stored a document would not have let in: for whoever is about to put another document
//! in force.

use super::{Activates, Inference, Kind, LevelName, Policy, value_fits};
use crate::memory::{Memory, State, Time};

/// Why a stored memory does not fit a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misfit {
    /// No such kind: no recall admits it.
    KindUnknown,
    /// Its kind has no such key: it can be recalled, and no longer be corrected.
    KeyNotAllowed,
    /// Its kind does not hold at its level.
    ScopeNotAllowed,
    /// Its kind cannot be personal, or shared, as it is.
    AudienceNotAllowed,
    /// It names a purpose that its kind is not for, or consents to one that there is not.
    PurposeNotAllowed,
    /// Its value is of another type, or too long, or not among those listed.
    ValueNotAllowed,
    /// No such kind of source: no recall admits it.
    SourceKindUnknown,
    /// Its source gives less confidence than it has.
    ConfidenceTooHigh,
    /// Its kind is more sensitive than it is.
    SensitivityTooLow,
    /// Its evidence counts for nothing, and without any its kind or its source does not let it be in force.
    EvidenceTooWeak,
    /// It lives longer than its kind does.
    LifeTooLong,
}

impl Misfit {
    /// The name that operators read; the same as the reason's of a write that is refused for it, where there is one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KindUnknown => "KIND_UNKNOWN",
            Self::KeyNotAllowed => "KEY_NOT_ALLOWED",
            Self::ScopeNotAllowed => "SCOPE_NOT_ALLOWED",
            Self::AudienceNotAllowed => "AUDIENCE_NOT_ALLOWED",
            Self::PurposeNotAllowed => "PURPOSE_NOT_ALLOWED",
            Self::ValueNotAllowed => "VALUE_NOT_ALLOWED",
            Self::SourceKindUnknown => "SOURCE_KIND_UNKNOWN",
            Self::ConfidenceTooHigh => "CONFIDENCE_TOO_HIGH",
            Self::SensitivityTooLow => "SENSITIVITY_TOO_LOW",
            Self::EvidenceTooWeak => "EVIDENCE_TOO_WEAK",
            Self::LifeTooLong => "LIFE_TOO_LONG",
        }
    }
}

impl Policy {
    /// Everything that keeps a stored memory from fitting this document, in order; nothing for one whose life is over.
    /// What was written under a document fits it. A value that was not loaded is taken to fit.
    #[must_use]
    pub fn misfits(&self, memory: &Memory, now: Time) -> Vec<Misfit> {
        if memory.state == State::Forgotten || memory.expired_at(now) {
            return Vec::new();
        }
        let mut misfits = Vec::new();
        match self.kinds.get(&memory.kind) {
            None => misfits.push(Misfit::KindUnknown),
            Some(kind) => self.of_kind(kind, memory, &mut misfits),
        }
        self.of_source(memory, &mut misfits);
        misfits.sort_unstable();
        misfits
    }

    fn of_kind(&self, kind: &Kind, memory: &Memory, misfits: &mut Vec<Misfit>) {
        let (key, audience) = (&memory.address.key, memory.address.owner.audience());
        let own_key = kind.many && memory.has_own_key();
        let known = |purpose| self.purposes.contains_key(purpose);
        let faults = [
            (!own_key && !kind.keys.allow(key), Misfit::KeyNotAllowed),
            (!kind.levels.contains(&LevelName::of(&memory.address.level)), Misfit::ScopeNotAllowed),
            (!kind.audiences.contains(&audience), Misfit::AudienceNotAllowed),
            (
                !memory.purposes.iter().all(|purpose| kind.purposes.contains(purpose))
                    || !memory.consent.purposes().iter().all(known),
                Misfit::PurposeNotAllowed,
            ),
            (
                memory.value.as_ref().is_some_and(|value| !value_fits(&kind.value, value.expose())),
                Misfit::ValueNotAllowed,
            ),
            (memory.sensitivity < kind.sensitivity, Misfit::SensitivityTooLow),
            (
                kind.strength(memory.evidence, audience).is_none() && !self.may_infer(kind, memory),
                Misfit::EvidenceTooWeak,
            ),
            (outlives(kind, memory), Misfit::LifeTooLong),
        ];
        misfits.extend(faults.into_iter().filter_map(|(fault, misfit)| fault.then_some(misfit)));
    }

    fn may_infer(&self, kind: &Kind, memory: &Memory) -> bool {
        // A source of an unknown kind is told as that.
        let activates = self.source_rule(&memory.source).is_none_or(|rule| rule.activates == Activates::AsKindAllows);
        kind.inference == Inference::LowRisk && activates
    }

    fn of_source(&self, memory: &Memory, misfits: &mut Vec<Misfit>) {
        if memory.source.kind.is_some() && self.source_rule(&memory.source).is_none() {
            misfits.push(Misfit::SourceKindUnknown);
        } else if memory.confidence.is_some_and(|confidence| confidence > self.confidence_cap(&memory.source)) {
            misfits.push(Misfit::ConfidenceTooHigh);
        }
    }
}

/// A life counts from when a fact was observed, or confirmed, or begins to hold.
fn outlives(kind: &Kind, memory: &Memory) -> bool {
    let begin =
        [memory.valid_from_time, memory.confirm_time].into_iter().flatten().fold(memory.observe_time, Time::max);
    kind.longest_life.is_some_and(|life| memory.expire_time.is_none_or(|end| end > begin.plus(life)))
}
