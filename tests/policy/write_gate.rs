//! The table of the write gate, row by row, and what is refused whatever lies at the address.

use recall_gate::memory::{
    Block, BlockCause, Confidence, Consent, Evidence, KindName, Level, Memory, MemoryId, Outcome, Owner, Reason,
    Sensitivity, SourceKindName, State, Text, Trust,
};
use recall_gate::policy::{Act, Lies, Move, Offer, Standing, Succession, WriteDecision, moves, write};
use uuid::Uuid;

use crate::fixture::{NOW, at, from, memory, mine, offer, policy, purpose_name};

const EMPTY: Standing<'_> = Standing { current: None, parents: &[], leads_back: false, blocks: &[] };

fn decide(act: Act, offer: &Offer, current: Option<&Memory>) -> WriteDecision {
    write(&policy(), act, offer, Standing { current, ..EMPTY }, NOW)
}

fn there() -> Memory {
    memory(1, Level::General, mine(), "style")
}

fn unconfirmed() -> Offer {
    Offer { evidence: Evidence::None, kind: KindName::new("loose").unwrap(), ..offer() }
}

type Lay = fn(&mut Memory);

const SAME: Lay = |m| m.value = Some(Text::new("detailed".to_owned()));
const INFERRED: Lay = |m| {
    m.evidence = Evidence::None;
    m.kind = KindName::new("loose").unwrap();
    m.confidence = Confidence::value(0.5);
};
const SAME_INFERRED: Lay = |m| {
    INFERRED(m);
    SAME(m);
};
const SAME_WEAKLY: Lay = |m| {
    SAME(m);
    m.evidence = Evidence::TaskVerified;
};
const CONFIRMED: Lay = |_| {};
const EXPIRED: Lay = |m| m.expire_time = Some(NOW);
const DELETED: Lay = |m| {
    m.state = State::Deleted;
    m.update_time = at(-20);
};
const DELETED_LATER: Lay = |m| {
    m.state = State::Deleted;
    m.update_time = at(-10);
};
const QUARANTINED: Lay = |m| m.state = State::Quarantined;
const FORGOTTEN: Lay = |m| m.state = State::Forgotten;

type Row = (Option<Lay>, Act, bool, Outcome, &'static [Reason], Succession);

/// What lies there, by which call, confirmed or not, and what becomes of it.
const TABLE: &[Row] = {
    use Act::{Capture, Confirm, ConfirmAndReplace, Replace};
    use Outcome::{Activated, Duplicate, Held};
    use Succession::{Confirms, New, Replaces};
    &[
        (None, Capture, true, Activated, &[], New),
        (None, Capture, false, Activated, &[], New),
        (Some(FORGOTTEN), Capture, true, Activated, &[], New),
        (Some(EXPIRED), Capture, true, Activated, &[], Replaces),
        (Some(EXPIRED), Capture, false, Activated, &[], Replaces),
        (Some(SAME), Capture, true, Duplicate, &[], Replaces),
        (Some(SAME_WEAKLY), Capture, true, Activated, &[], Confirms),
        (Some(SAME_INFERRED), Capture, false, Duplicate, &[], Replaces),
        (Some(INFERRED), Capture, true, Activated, &[], Replaces),
        (Some(INFERRED), Capture, false, Activated, &[], Replaces),
        (Some(CONFIRMED), Replace, true, Activated, &[], Replaces),
        (Some(CONFIRMED), Capture, true, Held, &[Reason::ConflictsWithCurrent], Replaces),
        (Some(CONFIRMED), Capture, false, Held, &[Reason::ConflictsWithCurrent], Replaces),
        (Some(CONFIRMED), Replace, false, Held, &[Reason::ConflictsWithCurrent], Replaces),
        (Some(DELETED), Capture, true, Activated, &[], New),
        (Some(DELETED_LATER), Capture, true, Held, &[Reason::AddressDeleted], Replaces),
        (Some(DELETED), Capture, false, Held, &[Reason::AddressDeleted], Replaces),
        (Some(DELETED), Replace, false, Held, &[Reason::AddressDeleted], Replaces),
        (Some(QUARANTINED), Capture, true, Held, &[Reason::Quarantined], Replaces),
        (Some(QUARANTINED), Replace, true, Held, &[Reason::Quarantined], Replaces),
        (Some(QUARANTINED), Capture, false, Held, &[Reason::Quarantined], Replaces),
        (None, Confirm, true, Activated, &[], New),
        (Some(EXPIRED), Confirm, true, Activated, &[], Replaces),
        (Some(SAME), Confirm, true, Duplicate, &[], Replaces),
        (Some(SAME_INFERRED), Confirm, true, Activated, &[], Confirms),
        (Some(INFERRED), Confirm, true, Activated, &[], Replaces),
        (Some(CONFIRMED), Confirm, true, Held, &[Reason::ConflictsWithCurrent], Replaces),
        (Some(CONFIRMED), ConfirmAndReplace, true, Activated, &[], Replaces),
        // The candidate was observed before the deletion, and is confirmed after it.
        (Some(DELETED_LATER), Confirm, true, Activated, &[], New),
        (Some(QUARANTINED), ConfirmAndReplace, true, Held, &[Reason::Quarantined], Replaces),
    ]
};

#[test]
fn each_row_of_the_table_says_what_it_says() {
    for (row, (lay, act, confirmed, outcome, reasons, succession)) in TABLE.iter().enumerate() {
        let current = lay.map(|lay| {
            let mut memory = there();
            lay(&mut memory);
            memory
        });
        let mut offer = if *confirmed { offer() } else { unconfirmed() };
        if let Some(current) = current.as_ref().filter(|_| *confirmed) {
            offer.kind = current.kind.clone();
        }
        let decision = decide(*act, &offer, current.as_ref());
        assert_eq!((decision.outcome, decision.reasons.as_slice()), (*outcome, *reasons), "row {row}");
        if decision.outcome == Outcome::Activated {
            assert_eq!(decision.succession, *succession, "row {row}");
        }
    }
}

#[test]
fn i11_no_unconfirmed_write_replaces_a_confirmed_memory_by_any_call() {
    for act in [Act::Capture, Act::Replace, Act::Confirm, Act::ConfirmAndReplace] {
        let decision = decide(act, &unconfirmed(), Some(&there()));
        assert_eq!(decision.outcome, Outcome::Held, "{act:?}");
    }
    for lies in [Lies::OtherConfirmed, Lies::Same, Lies::Deleted, Lies::Quarantined] {
        assert!(!matches!(moves(lies, false), Move::Activate | Move::Infer | Move::InferIfNewer | Move::ReplaceIfSeen));
    }
}

#[test]
fn an_inference_replaces_an_inference_if_observed_later_and_no_less_confident() {
    let mut current = there();
    INFERRED(&mut current);
    let less = Offer { confidence: Confidence::value(0.4), ..unconfirmed() };
    assert_eq!(decide(Act::Capture, &less, Some(&current)).reasons, [Reason::ConflictsWithCurrent]);
    let same_time = Offer { observe_time: current.observe_time, ..unconfirmed() };
    assert_eq!(decide(Act::Capture, &same_time, Some(&current)).reasons, [Reason::ConflictsWithCurrent]);
}

#[test]
fn without_evidence_only_what_kind_and_source_allow_is_in_force() {
    let strict = Offer { kind: KindName::new("strict").unwrap(), ..unconfirmed() };
    assert_eq!(decide(Act::Capture, &strict, None).reasons, [Reason::EvidenceTooWeak]);
    let document = Offer { source: from("retrieved_document"), ..unconfirmed() };
    assert_eq!(decide(Act::Capture, &document, None).reasons, [Reason::EvidenceTooWeak]);
    let unstated =
        Offer { source: recall_gate::memory::Source { kind: None, ..from("user_message") }, ..unconfirmed() };
    assert_eq!(decide(Act::Capture, &unstated, None).reasons, [Reason::EvidenceTooWeak]);
}

#[test]
fn an_older_observation_never_replaces_and_an_equal_one_may() {
    for act in [Act::Capture, Act::Replace, Act::Confirm, Act::ConfirmAndReplace] {
        let older = Offer { observe_time: at(-101), ..offer() };
        let decision = decide(act, &older, Some(&there()));
        assert_eq!((decision.outcome, decision.reasons), (Outcome::Rejected, vec![Reason::ObservationOlder]));
        assert_eq!(decision.settled, None);
    }
    let equal = Offer { observe_time: at(-100), ..offer() };
    assert_eq!(decide(Act::Replace, &equal, Some(&there())).outcome, Outcome::Activated);
}

type Spoil = fn(&mut Offer);

const REJECTED: &[(Spoil, Reason)] = &[
    (|o| o.kind = KindName::new("permission").unwrap(), Reason::KindUnknown),
    (|o| o.address.key = recall_gate::memory::Key::new("other").unwrap(), Reason::KeyNotAllowed),
    (|o| o.purposes = vec![purpose_name("sell")], Reason::PurposeNotAllowed),
    (|o| o.consent = Consent::Granted(vec![purpose_name("sell")]), Reason::PurposeNotAllowed),
    (|o| o.value = Text::new("x".repeat(301)), Reason::ValueNotAllowed),
    (|o| o.source.kind = SourceKindName::new("rumour").ok(), Reason::SourceKindUnknown),
    (|o| o.source.parents = vec![MemoryId(Uuid::from_u128(9))], Reason::LineageRejected),
    (|o| o.expire_time = Some(NOW), Reason::AlreadyExpired),
    (|o| o.observe_time = at(-1000), Reason::AlreadyExpired),
];

#[test]
fn what_no_address_would_take_is_rejected_with_its_own_reason_and_stored_nowhere() {
    for (row, (spoil, reason)) in REJECTED.iter().enumerate() {
        let mut offer = offer();
        spoil(&mut offer);
        let decision = decide(Act::Capture, &offer, None);
        assert_eq!((decision.outcome, decision.reasons.as_slice()), (Outcome::Rejected, &[*reason][..]), "row {row}");
        assert_eq!(decision.settled, None, "row {row}");
    }
}

#[test]
fn i07_a_rejected_write_lists_every_reason() {
    let mut offer = offer();
    for (spoil, reason) in REJECTED {
        if *reason != Reason::KindUnknown {
            spoil(&mut offer);
        }
    }
    let reasons = decide(Act::Capture, &offer, None).reasons;
    let mut expected: Vec<Reason> = REJECTED.iter().map(|(_, reason)| *reason).collect();
    expected.sort_unstable();
    expected.dedup();
    expected.retain(|reason| *reason != Reason::KindUnknown);
    assert_eq!(reasons, expected);

    // Of an unknown kind what does not depend on the kind.
    for (spoil, _) in REJECTED {
        spoil(&mut offer);
    }
    let reasons = decide(Act::Capture, &offer, None).reasons;
    assert_eq!(reasons, [Reason::SourceKindUnknown, Reason::KindUnknown, Reason::PurposeNotAllowed]);
}

#[test]
fn i14_what_was_deleted_stays_away_until_the_subject_confirms_it_anew() {
    let block = Block { owner: mine(), cause: BlockCause::Deleted, memory_id: None, since: at(-20) };
    let blocked = |offer: &Offer| {
        let standing = Standing { blocks: std::slice::from_ref(&block), ..EMPTY };
        write(&policy(), Act::Capture, offer, standing, NOW).reasons
    };
    assert_eq!(blocked(&offer()), [Reason::SourceRevoked]);
    let knowingly = Offer { accept_revoked: true, ..offer() };
    assert_eq!(blocked(&knowingly), []);
    for not_anew in [
        Offer { observe_time: at(-20), ..knowingly.clone() },
        Offer { evidence: Evidence::OperatorVerified, ..knowingly.clone() },
        Offer { evidence: Evidence::None, ..knowingly },
    ] {
        assert_eq!(blocked(&not_anew).first(), Some(&Reason::SourceRevoked));
    }
}

#[test]
fn i11_trust_and_sensitivity_follow_the_weakest_and_the_most_sensitive_ancestor() {
    let mut web = memory(7, Level::General, mine(), "language");
    web.source = from("retrieved_document");
    let mut private = memory(8, Level::General, mine(), "tone");
    private.sensitivity = Sensitivity::Restricted;
    let parents = [web, private];
    let mut derived = offer();
    derived.source.parents = parents.iter().map(|parent| parent.id).collect();
    let standing = Standing { parents: &parents, ..EMPTY };
    let settled = write(&policy(), Act::Capture, &derived, standing, NOW).settled.unwrap();
    assert_eq!(settled.lineage_trust, Trust::Untrusted);
    assert_eq!(settled.sensitivity, Sensitivity::Restricted);
    // The next in line is worth no more, although its own parent has a better kind of source.
    let mut child = memory(9, Level::General, mine(), "language");
    child.lineage_trust = settled.lineage_trust;
    let mut grandchild = offer();
    grandchild.source.parents = vec![child.id];
    let parents = [child];
    let standing = Standing { parents: &parents, ..EMPTY };
    let settled = write(&policy(), Act::Capture, &grandchild, standing, NOW).settled.unwrap();
    assert_eq!(settled.lineage_trust, Trust::Untrusted);
}

#[test]
fn what_is_derived_from_personal_memories_is_never_shared() {
    let parents = [memory(7, Level::General, mine(), "language")];
    let mut shared = Offer { evidence: Evidence::OperatorVerified, ..offer() };
    shared.address.owner = Owner::SHARED;
    shared.source.parents = vec![parents[0].id];
    let standing = Standing { parents: &parents, ..EMPTY };
    assert_eq!(write(&policy(), Act::Capture, &shared, standing, NOW).reasons, [Reason::AudienceNotAllowed]);
}

#[test]
fn a_lineage_that_leads_back_to_the_memory_itself_is_rejected() {
    let current = there();
    let parents = [memory(7, Level::General, mine(), "language")];
    let mut derived = offer();
    derived.source.parents = vec![parents[0].id];
    let standing = Standing { current: Some(&current), parents: &parents, ..EMPTY };
    assert_eq!(write(&policy(), Act::Replace, &derived, standing, NOW).outcome, Outcome::Activated);
    let round = Standing { leads_back: true, ..standing };
    assert_eq!(write(&policy(), Act::Replace, &derived, round, NOW).reasons, [Reason::LineageRejected]);
}

#[test]
fn a_deleted_parent_is_a_revoked_source() {
    let mut parent = memory(7, Level::General, mine(), "language");
    parent.state = State::Deleted;
    let mut derived = offer();
    derived.source.parents = vec![parent.id];
    let parents = [parent];
    let standing = Standing { parents: &parents, ..EMPTY };
    assert_eq!(write(&policy(), Act::Capture, &derived, standing, NOW).reasons, [Reason::SourceRevoked]);
}

#[test]
fn confirming_makes_the_act_the_source_and_keeps_the_old_one_as_lineage() {
    let candidate = Offer { source: from("retrieved_document"), ..offer() };
    let settled = decide(Act::Confirm, &candidate, None).settled.unwrap();
    assert_eq!(settled.source.kind, SourceKindName::new("user_confirmation").ok());
    assert_eq!(settled.source.reference, candidate.source.reference);
    assert_eq!((settled.lineage_trust, settled.confidence), (Trust::Verified, Confidence::ONE));
    // A capture that merely says so stays worth what its source is.
    let settled = decide(Act::Capture, &candidate, None).settled.unwrap();
    assert_eq!(settled.source.kind, SourceKindName::new("retrieved_document").ok());
}

#[test]
fn confidence_and_life_are_cut_and_said() {
    let sure = Offer { confidence: Some(Confidence::ONE), source: from("retrieved_document"), ..offer() };
    let decision = decide(Act::Capture, &sure, None);
    assert_eq!((decision.outcome, decision.reasons.as_slice()), (Outcome::Activated, &[Reason::ConfidenceCapped][..]));
    assert_eq!(decision.settled.unwrap().confidence, Confidence::value(0.5).unwrap());
    let long = Offer { expire_time: Some(at(100_000)), ..offer() };
    let decision = decide(Act::Capture, &long, None);
    assert_eq!((decision.outcome, decision.reasons.as_slice()), (Outcome::Activated, &[Reason::LifeShortened][..]));
    assert_eq!(decision.settled.unwrap().expire_time, Some(at(990)));
    // Unset is the cap, and not nought.
    let unset = Offer { source: from("retrieved_document"), ..offer() };
    assert_eq!(decide(Act::Capture, &unset, None).settled.unwrap().confidence, Confidence::value(0.5).unwrap());
    let nought = Offer { confidence: Some(Confidence::ZERO), ..offer() };
    assert_eq!(decide(Act::Capture, &nought, None).settled.unwrap().confidence, Confidence::ZERO);
}

#[test]
fn a_summary_that_names_no_sources_is_held() {
    let inference = Offer { source: from("model_inference"), ..unconfirmed() };
    let decision = decide(Act::Capture, &inference, None);
    assert_eq!((decision.outcome, decision.reasons.as_slice()), (Outcome::Held, &[Reason::LineageMissing][..]));
    let mut named = inference;
    named.source.parent_references = vec![Text::new("message-7".to_owned())];
    let settled = decide(Act::Capture, &named, None).settled.unwrap();
    assert_eq!(settled.lineage_trust, Trust::Unverified);
}

#[test]
fn the_subjects_word_does_not_count_for_what_is_shared() {
    let mut shared = offer();
    shared.address.owner = Owner::SHARED;
    assert_eq!(decide(Act::Capture, &shared, None).reasons, [Reason::EvidenceTooWeak]);
    shared.evidence = Evidence::OperatorVerified;
    assert_eq!(decide(Act::Capture, &shared, None).outcome, Outcome::Activated);
}

#[test]
fn what_is_derived_from_a_projects_shared_memories_stays_among_its_members() {
    let elsewhere = Level::Project(recall_gate::memory::ProjectId::new("p2").unwrap());
    for (parent, target, allowed) in [
        (crate::fixture::project(), crate::fixture::project(), true),
        (crate::fixture::project(), crate::fixture::task(), true),
        (Level::General, crate::fixture::project(), true),
        (crate::fixture::project(), Level::General, false),
        (crate::fixture::project(), elsewhere, false),
        (crate::fixture::task(), crate::fixture::project(), false),
    ] {
        let parents = [memory(7, parent, Owner::SHARED, "language")];
        let mut shared = Offer { evidence: Evidence::OperatorVerified, ..offer() };
        shared.address.owner = Owner::SHARED;
        shared.address.level = target;
        shared.source.parents = vec![parents[0].id];
        let decision = write(&policy(), Act::Capture, &shared, Standing { parents: &parents, ..EMPTY }, NOW);
        let expected: &[Reason] = if allowed { &[] } else { &[Reason::AudienceNotAllowed] };
        assert_eq!(decision.reasons, expected);
    }
}

#[test]
fn confirming_by_a_capture_makes_the_act_the_source_of_what_is_there_and_keeps_both_as_lineage() {
    let mut there = there();
    SAME_INFERRED(&mut there);
    there.source = from("model_inference");
    there.source.parents = vec![MemoryId(Uuid::from_u128(7))];
    there.lineage_trust = Trust::Untrusted;
    let mut unsourced = Offer { kind: KindName::new("loose").unwrap(), ..offer() };
    unsourced.source.kind = None;
    unsourced.source.reference = Text::new("message-9".to_owned());
    let decision = decide(Act::Capture, &unsourced, Some(&there));
    assert_eq!((decision.outcome, decision.succession), (Outcome::Activated, Succession::Confirms));
    let settled = decision.settled.unwrap();
    assert_eq!(settled.source.kind, SourceKindName::new("user_confirmation").ok());
    assert_eq!(settled.source.reference, there.source.reference);
    assert_eq!(settled.source.parents, there.source.parents);
    assert_eq!(settled.source.parent_references, [Text::new("message-9".to_owned())]);
    assert_eq!((settled.lineage_trust, settled.confidence), (Trust::Verified, Confidence::ONE));
}

#[test]
fn no_held_fact_is_a_dead_end_for_who_may_confirm_it() {
    let no_lineage = Offer { source: from("model_inference"), ..offer() };
    assert_eq!(decide(Act::Confirm, &no_lineage, None).outcome, Outcome::Activated);
    let mut parent = memory(7, Level::General, mine(), "language");
    parent.state = State::Deleted;
    parent.update_time = at(-5);
    let mut derived = offer();
    derived.source.parents = vec![parent.id];
    let parents = [parent];
    let standing = Standing { parents: &parents, ..EMPTY };
    assert_eq!(write(&policy(), Act::Confirm, &derived, standing, NOW).reasons, [Reason::SourceRevoked]);
    let knowingly = Offer { accept_revoked: true, ..derived };
    assert_eq!(write(&policy(), Act::Confirm, &knowingly, standing, NOW).outcome, Outcome::Activated);
}
