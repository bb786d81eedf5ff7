//! What holds for every input.

use proptest::prelude::*;
use proptest::sample::subsequence;
use recall_gate::memory::{
    Budget, Confidence, Consent, Evidence, Key, KindName, Level, Memory, MemoryId, Nomination, Nominator, Owner,
    ProjectId, Reason, Sensitivity, SourceKindName, State, Subject, SubjectId, TenantId, Trust, Version,
};
use recall_gate::policy::{Nominated, RecallInput, Recalled, judge, recall};
use uuid::Uuid;

use crate::fixture::{Setting, at, memory, mine, project, purpose_name, shared, task};

const PURPOSES: [&str; 3] = ["converse", "draft", "act"];

fn places() -> impl Strategy<Value = (Level, Owner)> {
    let elsewhere = Level::Project(ProjectId::new("p2").unwrap());
    let levels = prop::sample::select(vec![task(), project(), Level::General, elsewhere]);
    (levels, prop::sample::select(vec![mine(), Owner::SHARED]))
}

prop_compose! {
    fn memories()(
        number in 1_u128..1000,
        (level, owner) in places(),
        key in prop::sample::select(vec!["style", "language", "tone"]),
        kind in prop::sample::select(vec!["loose", "strict", "agreed", "unheard_of"]),
        state in prop::sample::select(vec![State::Active, State::Active, State::Active, State::Deleted, State::Quarantined, State::Forgotten]),
        source in prop::sample::select(vec!["user_message", "model_inference", "retrieved_document", "unheard_of"]),
        (lineage_trust, evidence) in (prop::sample::select(Trust::ALL.to_vec()), prop::sample::select(Evidence::ALL.to_vec())),
        confidence in prop::option::weighted(0.95, 0_i64..=1_000_000),
        sensitivity in prop::sample::select(Sensitivity::ALL.to_vec()),
        consent in prop::sample::select(vec![Consent::Unset, Consent::Withdrawn, Consent::Granted(vec![purpose_name("draft")])]),
        (from, until, confirmed) in (prop::option::of(-20_i64..20), prop::option::of(-20_i64..40), prop::option::of(-600_i64..0)),
        update in -300_i64..5,
        value_chars in 0_u32..400,
        foreign in prop::sample::select(vec![0_u8, 0, 0, 0, 0, 0, 0, 1, 2]),
    ) -> Memory {
        let mut made = memory(number, level, owner, key);
        made.kind = KindName::new(kind).unwrap();
        made.state = state;
        made.source.kind = SourceKindName::new(source).ok();
        made.lineage_trust = lineage_trust;
        made.evidence = evidence;
        made.confidence = confidence.and_then(Confidence::from_millionths);
        made.sensitivity = sensitivity;
        made.consent = consent;
        made.valid_from_time = from.map(at);
        made.expire_time = until.map(at);
        made.confirm_time = confirmed.map(at);
        made.update_time = at(update);
        made.value_chars = value_chars;
        match foreign {
            1 => made.address.tenant = TenantId::new("t2").unwrap(),
            2 => made.address.owner = Owner::personal(SubjectId::new("s2").unwrap()),
            _ => {}
        }
        made
    }
}

/// At most one memory at an address and of an id, as a store promises.
fn views() -> impl Strategy<Value = Vec<Memory>> {
    prop::collection::vec(memories(), 0..14).prop_map(|memories| {
        let mut seen = std::collections::BTreeSet::new();
        let mut ids = std::collections::BTreeSet::new();
        memories.into_iter().filter(|m| seen.insert(m.address.clone()) && ids.insert(m.id)).collect()
    })
}

fn nominations(memories: &[Memory]) -> impl Strategy<Value = Vec<Nomination>> + use<> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).chain([MemoryId(Uuid::from_u128(5000))]).collect();
    let count = ids.len();
    (subsequence(ids, 0..=count), any::<u64>()).prop_map(|(ids, seed)| {
        ids.into_iter()
            .zip(0_u32..)
            .map(|(memory_id, at)| Nomination {
                memory_id,
                value_version: (seed.rotate_left(at) & 3 != 0)
                    .then_some(Version(1 + i64::from(seed.rotate_left(at) & 1 == 1))),
                score: Some(f64::from(u32::try_from(seed.rotate_left(at) & 7).unwrap())),
                derived_store: None,
            })
            .collect()
    })
}

fn cases() -> impl Strategy<Value = (Vec<Memory>, Vec<Nomination>, bool, usize)> {
    views().prop_flat_map(|view| {
        let nominations = nominations(&view);
        (Just(view), nominations, any::<bool>(), 0..PURPOSES.len())
    })
}

fn run(setting: &Setting, memories: &[Memory], nominations: &[Nomination], all: bool) -> Recalled {
    let memories = shared(memories);
    let keys = [Key::new("style").unwrap()];
    let budget = Budget { max_items: 3, max_value_chars: 600 };
    recall(
        &setting.terms(),
        &RecallInput { keys: &keys, nominations, all, search: None, budget, memories: &memories, candidates: &[] },
    )
}

fn accepted(recalled: &Recalled) -> Vec<MemoryId> {
    let accepted = recalled.verdicts.iter().filter(|verdict| verdict.accepted());
    accepted.map(|verdict| if let Subject::Memory(id) = verdict.subject { id } else { MemoryId(Uuid::nil()) }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn i18_the_same_input_gives_the_same_answer_in_any_order((view, nominations, all, purpose) in cases(), seed in any::<u64>()) {
        let setting = Setting::of(PURPOSES[purpose]);
        let first = run(&setting, &view, &nominations, all);
        prop_assert_eq!(&first, &run(&setting, &view, &nominations, all));
        let (mut turned, mut other) = (view, nominations);
        let by = usize::try_from(seed % 7).unwrap();
        turned.reverse();
        if !turned.is_empty() { let by = by % turned.len(); turned.rotate_left(by); }
        other.reverse();
        prop_assert_eq!(first, run(&setting, &turned, &other, all));
    }

    #[test]
    fn i12_i16_nothing_expired_deleted_foreign_superseded_or_quarantined_is_ever_accepted((view, nominations, all, purpose) in cases()) {
        let setting = Setting::of(PURPOSES[purpose]);
        for id in accepted(&run(&setting, &view, &nominations, all)) {
            // A candidate would have no memory here.
            let memory = view.iter().find(|memory| memory.id == id).unwrap();
            prop_assert_eq!(memory.state, State::Active);
            prop_assert_eq!(memory.address.tenant.as_str(), "t");
            prop_assert!(matches!(memory.address.owner.as_str(), "s" | ""));
            prop_assert!(memory.expire_time.is_none_or(|expire_time| setting.now < expire_time));
            prop_assert!(memory.valid_from_time.is_none_or(|valid_from_time| setting.now >= valid_from_time));
            prop_assert!(memory.update_time <= setting.now);
            prop_assert!(memory.confidence.is_some());
            let asked = all || memory.address.key.as_str() == "style";
            let nominated = nominations.iter().find(|nomination| !asked && nomination.memory_id == id);
            let held = nominated.and_then(|nomination| nomination.value_version);
            prop_assert!(held.is_none_or(|held| held == memory.value_version));
        }
    }

    #[test]
    fn i07_every_nomination_has_one_verdict_and_every_rejection_its_reasons_in_order((view, nominations, all, purpose) in cases()) {
        let recalled = run(&Setting::of(PURPOSES[purpose]), &view, &nominations, all);
        for nomination in &nominations {
            let about = |subject| subject == Subject::Memory(nomination.memory_id);
            prop_assert_eq!(recalled.verdicts.iter().filter(|verdict| about(verdict.subject)).count(), 1);
        }
        for verdict in &recalled.verdicts {
            let mut sorted = verdict.reasons.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(&sorted, &verdict.reasons);
            if verdict.reasons.contains(&Reason::UnknownNomination) || verdict.reasons.contains(&Reason::Forgotten) {
                prop_assert_eq!(verdict.reasons.len(), 1);
            }
        }
        let first_rejected = recalled.verdicts.iter().position(|verdict| !verdict.accepted());
        let behind = first_rejected.map_or(&[][..], |at| &recalled.verdicts[at..]);
        prop_assert!(behind.iter().all(|verdict| !verdict.accepted()));
    }

    #[test]
    fn a_revocation_rejects_and_silences_no_reason_that_was_there(memory in memories(), purpose in 0..PURPOSES.len()) {
        let setting = Setting::of(PURPOSES[purpose]);
        let judged = |memory: &Memory| judge(&setting.terms(), &Nominated { memory, nominator: Nominator::Key, nomination: None });
        for revoke in [
            (|m: &mut Memory| m.state = State::Deleted) as fn(&mut Memory),
            |m| m.state = State::Quarantined,
            |m| m.state = State::Forgotten,
            |m| m.consent = Consent::Withdrawn,
            |m| m.lineage_trust = Trust::Untrusted,
            |m| m.expire_time = Some(at(0)),
        ] {
            // A memory is in one state: to delete what is quarantined ends the quarantine.
            let before = judged(&Memory { state: State::Active, ..memory.clone() });
            let mut revoked = Memory { state: State::Active, ..memory.clone() };
            revoke(&mut revoked);
            let after = judged(&revoked);
            prop_assert!(!after.is_empty());
            // Nothing that spoke against it before is silenced, but by what stands alone.
            let alone = after == [Reason::Forgotten] || after == [Reason::UnknownNomination];
            // What was withdrawn is no longer merely missing.
            let kept = |reason: &Reason| {
                after.contains(reason) || (*reason == Reason::ConsentMissing && after.contains(&Reason::ConsentWithdrawn))
            };
            prop_assert!(alone || before.iter().all(kept), "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_revoked_memory_is_never_admitted_in_a_whole_recall((view, nominations, all, purpose) in cases()) {
        let setting = Setting::of(PURPOSES[purpose]);
        for id in accepted(&run(&setting, &view, &nominations, all)) {
            let mut revoked = view.clone();
            revoked.iter_mut().filter(|memory| memory.id == id).for_each(|memory| memory.state = State::Deleted);
            prop_assert!(!accepted(&run(&setting, &revoked, &nominations, all)).contains(&id));
        }
    }

    #[test]
    fn nothing_changes_by_time_alone_before_the_stale_time((view, nominations, all, purpose) in cases(), later in 1_i64..700) {
        let setting = Setting::of(PURPOSES[purpose]);
        let now = run(&setting, &view, &nominations, all);
        let then = at(later);
        if now.stale_time.is_none_or(|stale_time| then < stale_time) {
            let setting = Setting { now: then, ..setting };
            prop_assert_eq!(now.verdicts, run(&setting, &view, &nominations, all).verdicts);
        }
    }

    #[test]
    fn at_most_one_memory_of_a_key_is_used_and_the_budget_holds((view, nominations, all, purpose) in cases()) {
        let setting = Setting::of(PURPOSES[purpose]);
        let used = accepted(&run(&setting, &view, &nominations, all));
        let memories: Vec<&Memory> = used.iter().map(|id| view.iter().find(|memory| memory.id == *id).unwrap()).collect();
        let keys: std::collections::BTreeSet<&Key> = memories.iter().map(|memory| &memory.address.key).collect();
        prop_assert_eq!(keys.len(), memories.len());
        prop_assert!(memories.len() <= 3 && memories.iter().map(|memory| memory.value_chars).sum::<u32>() <= 600);
    }
}
