//! The write gate: one function and one table for every call that brings in a fact.
//!
//! First what the offer itself allows: kind, key, scope, value, source, lineage, blocks, screening, times. Then the
//! state of the address decides, by [`moves`].

use super::offer::{Act, Offer, Standing, Vouching};
use super::settle::{Settled, settle};
use super::{Activates, Inference, Kind, LevelName, Policy};
use crate::memory::{Audience, Context, Evidence, Memory, Outcome, Reason, State, Time};

/// As what an activated fact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Succession {
    /// A new memory with a new id.
    New,
    /// The next version of what lies there, with a new value.
    Replaces,
    /// The next version of what lies there, with the same value: it confirms it.
    Confirms,
}

/// What becomes of an offer.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteDecision {
    /// What became of it.
    pub outcome: Outcome,
    /// Why, and remarks; in order.
    pub reasons: Vec<Reason>,
    /// The fact as it would be stored. `None` where it was rejected, or the kind is unknown.
    pub settled: Option<Settled>,
    /// As what, if activated.
    pub succession: Succession,
}

/// What lies at the address, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lies {
    /// Nothing, or something forgotten.
    Nothing,
    /// Something whose validity is over.
    Expired,
    /// The same value.
    Same,
    /// Another value, inferred.
    OtherInferred,
    /// Another value, confirmed.
    OtherConfirmed,
    /// Something deleted that can be restored.
    Deleted,
    /// Something quarantined.
    Quarantined,
}

/// What the table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// In force.
    Activate,
    /// In force as inferred, if kind and source allow it; else held.
    Infer,
    /// In force if its evidence is stronger than what is there; else a duplicate.
    ConfirmIfStronger,
    /// Nothing to do.
    Duplicate,
    /// In force as inferred if observed later and no less confident; else held.
    InferIfNewer,
    /// In force if the caller named the version it saw; else held.
    ReplaceIfSeen,
    /// Held: it conflicts.
    Conflict,
    /// In force as a new memory if the subject confirmed it after the deletion; else held.
    ReviveAnew,
    /// Held: something deleted lies there.
    HeldByDeletion,
    /// Held: something quarantined lies there.
    HeldByQuarantine,
}

/// The table of the write gate.
#[must_use]
pub const fn moves(lies: Lies, confirmed: bool) -> Move {
    match (lies, confirmed) {
        (Lies::Nothing | Lies::Expired | Lies::OtherInferred, true) => Move::Activate,
        (Lies::Nothing | Lies::Expired, false) => Move::Infer,
        (Lies::Same, true) => Move::ConfirmIfStronger,
        (Lies::Same, false) => Move::Duplicate,
        (Lies::OtherInferred, false) => Move::InferIfNewer,
        (Lies::OtherConfirmed, true) => Move::ReplaceIfSeen,
        (Lies::OtherConfirmed, false) => Move::Conflict,
        (Lies::Deleted, true) => Move::ReviveAnew,
        (Lies::Deleted, false) => Move::HeldByDeletion,
        (Lies::Quarantined, _) => Move::HeldByQuarantine,
    }
}

/// Decides on one offer.
#[must_use]
pub fn write(policy: &Policy, act: Act, offer: &Offer, standing: Standing<'_>, now: Time) -> WriteDecision {
    let mut reasons = Vec::new();
    form_of_any_kind(policy, offer, &mut reasons);
    let Some(kind) = policy.kinds.get(&offer.kind) else {
        reasons.push(Reason::KindUnknown);
        return rejected(reasons);
    };
    form(kind, offer, &mut reasons);
    let confirmed = kind.strength(offer.evidence, offer.address.owner.audience()).is_some();
    // Evidence for what was captured before is given now; other evidence is as old as what it is given for.
    let confirming = act.confirms() && confirmed;
    let vouching = Vouching { confirmed, confirming, at: if confirming { now } else { offer.observe_time } };
    lineage(policy, vouching, offer, standing, &mut reasons);
    if !standing.blocks.iter().all(|block| accepts(vouching, offer, block.since)) {
        reasons.push(Reason::SourceRevoked);
    }
    let mut settled = settle(policy, kind, vouching, offer, standing, &mut reasons);
    if settled.expire_time.is_some_and(|expire_time| expire_time <= now) {
        reasons.push(Reason::AlreadyExpired);
    }
    let lies = lies(policy, offer, &settled, standing.current, now);
    if observed_before(offer, lies, standing.current) {
        reasons.push(Reason::ObservationOlder);
    }
    if reasons.iter().any(|reason| rejects(*reason)) {
        return rejected(reasons);
    }
    let (outcome, succession) =
        apply(policy, kind, act, vouching, offer, &settled, lies, standing.current, &mut reasons);
    if let (Succession::Confirms, Some(there)) = (succession, standing.current) {
        settled.confirm(policy, offer.evidence, there);
    }
    finish(outcome, reasons, settled, succession)
}

fn rejected(mut reasons: Vec<Reason>) -> WriteDecision {
    sort(&mut reasons);
    WriteDecision { outcome: Outcome::Rejected, reasons, settled: None, succession: Succession::New }
}

/// A duplicate writes nothing, so that remarks on how it would be stored are not told. Whatever would be in force is
/// held if anything holds it.
fn finish(outcome: Outcome, mut reasons: Vec<Reason>, settled: Settled, succession: Succession) -> WriteDecision {
    if outcome == Outcome::Duplicate {
        return WriteDecision { outcome, reasons: Vec::new(), settled: Some(settled), succession };
    }
    sort(&mut reasons);
    let outcome = if reasons.iter().all(|reason| remark(*reason)) { outcome } else { Outcome::Held };
    WriteDecision { outcome, reasons, settled: Some(settled), succession }
}

fn sort(reasons: &mut Vec<Reason>) {
    reasons.sort_unstable();
    reasons.dedup();
}

const fn rejects(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::KindUnknown
            | Reason::KeyNotAllowed
            | Reason::ScopeNotAllowed
            | Reason::AudienceNotAllowed
            | Reason::PurposeNotAllowed
            | Reason::ValueNotAllowed
            | Reason::SourceKindUnknown
            | Reason::LineageRejected
            | Reason::SecretDetected
            | Reason::ObservationOlder
            | Reason::AlreadyExpired
            | Reason::AlreadyDecided
            | Reason::SourceRevoked
    )
}

const fn remark(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::PersonalDataMarked | Reason::PersonalDataRedacted | Reason::LifeShortened | Reason::ConfidenceCapped
    )
}

/// What does not depend on the kind.
fn form_of_any_kind(policy: &Policy, offer: &Offer, reasons: &mut Vec<Reason>) {
    if !offer.consent.purposes().iter().all(|purpose| policy.purposes.contains_key(purpose)) {
        reasons.push(Reason::PurposeNotAllowed);
    }
    if offer.source.kind.is_some() && policy.source_rule(&offer.source).is_none() {
        reasons.push(Reason::SourceKindUnknown);
    }
}

fn form(kind: &Kind, offer: &Offer, reasons: &mut Vec<Reason>) {
    let audience = offer.address.owner.audience();
    if !(kind.keys.allow(&offer.address.key) || (kind.many && offer.own_key)) {
        reasons.push(Reason::KeyNotAllowed);
    }
    if !kind.levels.contains(&LevelName::of(&offer.address.level)) {
        reasons.push(Reason::ScopeNotAllowed);
    }
    if !kind.audiences.contains(&audience) {
        reasons.push(Reason::AudienceNotAllowed);
    }
    if !offer.purposes.iter().all(|purpose| kind.purposes.contains(purpose)) {
        reasons.push(Reason::PurposeNotAllowed);
    }
}

fn lineage(policy: &Policy, vouching: Vouching, offer: &Offer, standing: Standing<'_>, reasons: &mut Vec<Reason>) {
    let source = &offer.source;
    let required = policy.source_rule(source).is_some_and(|rule| rule.lineage_required);
    if required && !source.has_lineage() && !vouching.confirming {
        reasons.push(Reason::LineageMissing);
    }
    let found = |id| standing.parents.iter().any(|parent| parent.id == id);
    if standing.leads_back || !source.parents.iter().all(|id| found(*id)) {
        reasons.push(Reason::LineageRejected);
    }
    let gone = |parent: &&Memory| matches!(parent.state, State::Deleted | State::Forgotten);
    if !standing.parents.iter().filter(gone).all(|parent| accepts(vouching, offer, parent.update_time)) {
        reasons.push(Reason::SourceRevoked);
    }
    // Members of the target's scope who are none of the parent's would read what was derived from it.
    let reaches = Context(offer.address.level.clone());
    let widens =
        |parent: &Memory| parent.address.owner.audience() == Audience::Personal || !reaches.sees(&parent.address.level);
    if offer.address.owner.audience() == Audience::Shared && standing.parents.iter().any(widens) {
        reasons.push(Reason::AudienceNotAllowed);
    }
}

/// Whether the subject, and nobody else, confirmed it after that instant.
fn confirmed_since(vouching: Vouching, offer: &Offer, since: Time) -> bool {
    vouching.confirmed
        && offer.evidence == Evidence::UserConfirmed
        && offer.address.owner.subject().is_some()
        && vouching.at > since
}

/// What was deleted, forgotten or revoked stays away, unless the subject confirms it anew and knows that it was.
fn accepts(vouching: Vouching, offer: &Offer, since: Time) -> bool {
    offer.accept_revoked && confirmed_since(vouching, offer, since)
}

fn lies(policy: &Policy, offer: &Offer, settled: &Settled, current: Option<&Memory>, now: Time) -> Lies {
    let Some(current) = current else { return Lies::Nothing };
    match current.state {
        State::Forgotten => Lies::Nothing,
        State::Deleted => Lies::Deleted,
        State::Quarantined => Lies::Quarantined,
        State::Active if current.expired_at(now) => Lies::Expired,
        State::Active if current.kind == offer.kind && current.value.as_ref() == Some(&settled.value) => Lies::Same,
        State::Active if policy.is_inferred(current) => Lies::OtherInferred,
        State::Active => Lies::OtherConfirmed,
    }
}

/// Whether it was observed before what it would stand in for. Equal is allowed.
fn observed_before(offer: &Offer, lies: Lies, current: Option<&Memory>) -> bool {
    matches!(lies, Lies::Expired | Lies::OtherInferred | Lies::OtherConfirmed)
        && current.is_some_and(|current| offer.observe_time < current.observe_time)
}

#[expect(clippy::too_many_arguments, reason = "the rows of one table; a struct for them would have this one use")]
fn apply(
    policy: &Policy,
    kind: &Kind,
    act: Act,
    vouching: Vouching,
    offer: &Offer,
    settled: &Settled,
    lies: Lies,
    current: Option<&Memory>,
    reasons: &mut Vec<Reason>,
) -> (Outcome, Succession) {
    let next = if lies == Lies::Nothing { Succession::New } else { Succession::Replaces };
    let may_infer = kind.inference == Inference::LowRisk
        && policy.source_rule(&offer.source).is_some_and(|rule| rule.activates == Activates::AsKindAllows);
    let mut hold = |reason| {
        reasons.push(reason);
        (Outcome::Held, next)
    };
    match moves(lies, vouching.confirmed) {
        Move::Activate => (Outcome::Activated, next),
        Move::Infer if may_infer => (Outcome::Activated, next),
        Move::InferIfNewer if may_infer && newer(offer, settled, current) => (Outcome::Activated, next),
        Move::Infer => hold(Reason::EvidenceTooWeak),
        Move::InferIfNewer if !may_infer => hold(Reason::EvidenceTooWeak),
        Move::ConfirmIfStronger if stronger(kind, offer, current) => (Outcome::Activated, Succession::Confirms),
        Move::ConfirmIfStronger | Move::Duplicate => (Outcome::Duplicate, next),
        Move::ReplaceIfSeen if act.replaces() => (Outcome::Activated, next),
        Move::InferIfNewer | Move::ReplaceIfSeen | Move::Conflict => hold(Reason::ConflictsWithCurrent),
        Move::ReviveAnew if revived(vouching, offer, current) => (Outcome::Activated, Succession::New),
        Move::ReviveAnew | Move::HeldByDeletion => hold(Reason::AddressDeleted),
        Move::HeldByQuarantine => hold(Reason::Quarantined),
    }
}

fn newer(offer: &Offer, settled: &Settled, current: Option<&Memory>) -> bool {
    current.is_some_and(|current| {
        offer.observe_time > current.observe_time && Some(settled.confidence) >= current.confidence
    })
}

fn stronger(kind: &Kind, offer: &Offer, current: Option<&Memory>) -> bool {
    let audience = offer.address.owner.audience();
    let new = kind.strength(offer.evidence, audience);
    let old = current.and_then(|current| kind.strength(current.evidence, audience));
    match (new, old) {
        (Some(new), Some(old)) => new < old,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Whether the subject confirmed it after the deletion.
fn revived(vouching: Vouching, offer: &Offer, current: Option<&Memory>) -> bool {
    current.is_some_and(|deleted| confirmed_since(vouching, offer, deleted.update_time))
}
