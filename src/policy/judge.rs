//! The recall gates: one nomination, one list of every reason that speaks against it, in gate order.
//!
//! Each gate is a function of its own below, in the order in which they are asked.

use super::trust::trust;
use super::{Access, Inference, Kind, Policy, Purpose, Risk};
use crate::memory::{
    Confidence, Consent, Context, Level, Memory, Nomination, Nominator, Owner, Reason, Sensitivity, State, SubjectId,
    TenantId, Time,
};

/// Who looks: what a caller may see at all.
#[derive(Clone, Copy)]
pub struct Viewpoint<'a> {
    /// The caller's tenant.
    pub tenant: &'a TenantId,
    /// The subject that the call is about.
    pub subject: &'a SubjectId,
    /// Whether the caller holds the project or task of a level.
    pub holds_level: &'a (dyn Fn(&Level) -> bool + Sync),
    /// Above this nothing is visible.
    pub max_sensitivity: Sensitivity,
    /// The caller may know of held candidates.
    pub sees_candidates: bool,
}

impl Viewpoint<'_> {
    /// Whether a row of that place and sensitivity exists for this caller.
    #[must_use]
    pub fn sees(&self, tenant: &TenantId, owner: &Owner, level: &Level, sensitivity: Sensitivity) -> bool {
        self.reaches(tenant, owner) && (self.holds_level)(level) && sensitivity <= self.max_sensitivity
    }

    /// Whether a memory exists for this caller.
    #[must_use]
    pub fn sees_memory(&self, memory: &Memory) -> bool {
        let place = &memory.address;
        self.sees(&place.tenant, &place.owner, &place.level, memory.sensitivity)
    }

    /// Whether the row is of the caller's tenant, and the subject's own or shared. A store never returns another:
    /// a `false` here is leakage.
    #[must_use]
    pub fn reaches(&self, tenant: &TenantId, owner: &Owner) -> bool {
        self.tenant == tenant && owner.subject().is_none_or(|subject| subject == self.subject)
    }
}

/// The terms of one judgement.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The rules.
    pub policy: &'a Policy,
    /// For what.
    pub purpose: &'a Purpose,
    /// In what; `None`: each memory in its own scope.
    pub context: Option<&'a Context>,
    /// Raises the purpose's floor.
    pub min_confidence: Option<Confidence>,
    /// Who looks.
    pub viewpoint: Viewpoint<'a>,
    /// When.
    pub now: Time,
}

/// How a memory came before the gate.
#[derive(Debug, Clone, Copy)]
pub struct Nominated<'a> {
    /// The memory.
    pub memory: &'a Memory,
    /// How.
    pub nominator: Nominator,
    /// The index's nomination, where there was one.
    pub nomination: Option<&'a Nomination>,
}

/// Every reason against one nomination, in gate order; empty: admissible. Selection comes after.
#[must_use]
pub fn judge(terms: &Terms<'_>, nominated: &Nominated<'_>) -> Vec<Reason> {
    let memory = nominated.memory;
    if let Some(reasons) = without_gates(terms, memory) {
        return reasons;
    }
    let kind = terms.policy.kinds.get(&memory.kind);
    let timing = Timing::of(terms, memory, terms.now);
    let mut reasons = Vec::new();
    visibility(terms, memory, &mut reasons);
    lifecycle(memory, &mut reasons);
    version(terms, nominated, &mut reasons);
    time(timing, &mut reasons);
    provenance(terms, memory, kind, &mut reasons);
    purpose(terms, memory, kind, &mut reasons);
    risk(terms, memory, kind, timing, &mut reasons);
    reasons
}

/// Where the gates are not asked, and so neither is the clock: what there is to say instead.
fn without_gates(terms: &Terms<'_>, memory: &Memory) -> Option<Vec<Reason>> {
    if !terms.viewpoint.sees_memory(memory) {
        return Some(vec![Reason::UnknownNomination]);
    }
    if memory.state == State::Forgotten {
        return Some(vec![Reason::Forgotten]);
    }
    (terms.purpose.access == Access::Subject).then(|| subject_access(memory))
}

/// What the clock alone says of a memory.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Timing {
    dates: [Option<Reason>; 3],
    confirmation_too_old: bool,
}

impl Timing {
    fn of(terms: &Terms<'_>, memory: &Memory, now: Time) -> Self {
        let ahead_of_clock = memory.update_time > now || memory.observe_time > now;
        let too_old = |age| memory.confirm_time.is_none_or(|confirm_time| now >= confirm_time.plus(age));
        Self {
            dates: [
                memory.not_yet_valid_at(now).then_some(Reason::NotYetValid),
                memory.expired_at(now).then_some(Reason::Expired),
                ahead_of_clock.then_some(Reason::AheadOfClock),
            ],
            confirmation_too_old: terms.purpose.max_confirmation_age.is_some_and(too_old),
        }
    }
}

/// Whether a memory is in force without evidence that counts for its kind. Of an unknown kind nothing counts.
#[must_use]
pub(super) fn inferred(kind: Option<&Kind>, memory: &Memory) -> bool {
    kind.and_then(|kind| kind.strength(memory.evidence, memory.address.owner.audience())).is_none()
}

impl Policy {
    /// Whether a memory is in force without evidence that counts for its kind.
    #[must_use]
    pub fn is_inferred(&self, memory: &Memory) -> bool {
        inferred(self.kinds.get(&memory.kind), memory)
    }
}

/// The earliest instant after `now` at which time alone changes what [`judge`] says of a memory.
pub(super) fn turning_point(terms: &Terms<'_>, memory: &Memory) -> Option<Time> {
    if without_gates(terms, memory).is_some() {
        return None;
    }
    let confirmation_ends = match (memory.confirm_time, terms.purpose.max_confirmation_age) {
        (Some(confirm_time), Some(age)) => Some(confirm_time.plus(age)),
        _ => None,
    };
    let now = Timing::of(terms, memory, terms.now);
    let times = [memory.valid_from_time, memory.expire_time, confirmation_ends];
    let ahead = [memory.update_time, memory.observe_time];
    let ahead = times.into_iter().flatten().chain(ahead).filter(|time| *time > terms.now);
    ahead.filter(|time| Timing::of(terms, memory, *time) != now).min()
}

fn subject_access(memory: &Memory) -> Vec<Reason> {
    let mut reasons = Vec::new();
    // Shared memories are nobody's own.
    if memory.address.owner.subject().is_none() {
        reasons.push(Reason::PurposeNotAllowed);
    }
    if memory.state == State::Deleted {
        reasons.insert(0, Reason::Deleted);
    }
    // What cannot be read may be a state that has no text to show.
    if !memory.intact {
        reasons.push(Reason::AttributeMissing);
        reasons.sort_unstable();
    }
    reasons
}

fn visibility(terms: &Terms<'_>, memory: &Memory, reasons: &mut Vec<Reason>) {
    if terms.context.is_some_and(|context| !context.sees(&memory.address.level)) {
        reasons.push(Reason::OtherScope);
    }
}

fn lifecycle(memory: &Memory, reasons: &mut Vec<Reason>) {
    match memory.state {
        State::Active | State::Forgotten => {}
        State::Deleted => reasons.push(Reason::Deleted),
        State::Quarantined => reasons.push(Reason::Quarantined),
    }
}

fn version(terms: &Terms<'_>, nominated: &Nominated<'_>, reasons: &mut Vec<Reason>) {
    // What was asked for by its key, or with all else, is meant as it is now, however old the index is.
    let Some(nomination) = nominated.nomination.filter(|_| nominated.nominator == Nominator::Index) else { return };
    let current = nominated.memory.value_version;
    match nomination.value_version {
        Some(held) if held < current => reasons.push(Reason::Superseded),
        Some(held) if held > current => reasons.push(Reason::StaleNomination),
        None if terms.purpose.nominated_version_required => reasons.push(Reason::StaleNomination),
        Some(_) | None => {}
    }
}

fn time(timing: Timing, reasons: &mut Vec<Reason>) {
    reasons.extend(timing.dates.into_iter().flatten());
}

fn provenance(terms: &Terms<'_>, memory: &Memory, kind: Option<&Kind>, reasons: &mut Vec<Reason>) {
    let source = terms.policy.source_rule(&memory.source);
    if trust(source, memory.lineage_trust) < terms.purpose.min_trust {
        reasons.push(Reason::UntrustedSource);
    }
    if memory.source.kind.is_some() && source.is_none() {
        reasons.push(Reason::SourceKindUnknown);
    }
    if kind.is_none() {
        reasons.push(Reason::KindUnknown);
    }
    if !memory.intact || memory.confidence.is_none() {
        reasons.push(Reason::AttributeMissing);
    }
}

fn purpose(terms: &Terms<'_>, memory: &Memory, kind: Option<&Kind>, reasons: &mut Vec<Reason>) {
    let name = &terms.purpose.name;
    let kind_allows = kind.is_some_and(|kind| kind.purposes.contains(name));
    let memory_allows = memory.purposes.is_empty() || memory.purposes.contains(name);
    if !(kind_allows && memory_allows) {
        reasons.push(Reason::PurposeNotAllowed);
    }
    let personal = memory.address.owner.subject().is_some();
    let needed = personal && kind.is_none_or(|kind| kind.consent_needed);
    match &memory.consent {
        Consent::Withdrawn => reasons.push(Reason::ConsentWithdrawn),
        Consent::Granted(purposes) if needed && !purposes.contains(name) => reasons.push(Reason::ConsentMissing),
        Consent::Unset | Consent::NotApplicable if needed => reasons.push(Reason::ConsentMissing),
        Consent::Granted(_) | Consent::Unset | Consent::NotApplicable => {}
    }
    if memory.sensitivity > terms.purpose.max_sensitivity {
        reasons.push(Reason::SensitivityTooHigh);
    }
}

fn risk(terms: &Terms<'_>, memory: &Memory, kind: Option<&Kind>, timing: Timing, reasons: &mut Vec<Reason>) {
    let demands = terms.purpose;
    let floor = terms.min_confidence.map_or(demands.min_confidence, |asked| asked.max(demands.min_confidence));
    // Asked as "allowed only if", so that a missing confidence fails it.
    let confident = memory.confidence.is_some_and(|confidence| confidence >= floor);
    if !confident {
        reasons.push(Reason::LowConfidence);
    }
    let inferred = inferred(kind, memory);
    if !demands.evidence.is_empty() && (inferred || !demands.evidence.contains(&memory.evidence)) {
        reasons.push(Reason::EvidenceTooWeak);
    }
    if timing.confirmation_too_old {
        reasons.push(Reason::ConfirmationTooOld);
    }
    let inference_allowed = demands.risk == Risk::Low && kind.is_some_and(|kind| kind.inference == Inference::LowRisk);
    if inferred && !inference_allowed {
        reasons.push(Reason::InferenceNotAllowed);
    }
}
