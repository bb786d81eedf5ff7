//! What the pure core costs: judging, ranking, and encoding what was decided. No I/O.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has nothing to measure"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use recall_gate::memory::{
    Address, Budget, Confidence, Consent, Context, DecisionId, Disposition, Evidence, Judgement, Key, KindName, Level,
    Memory, MemoryId, Nomination, Nominator, Owner, PrincipalId, ProjectId, PurposeName, Sensitivity, Source,
    SourceKindName, Span, State, SubjectId, TenantId, Text, Time, Trust, Version,
};
use recall_gate::policy::{
    Act, Nominated, Offer, Policy, RecallInput, Search, Standing, Terms, Viewpoint, Words, judge, recall, tokens, write,
};
use recall_gate::store::measuring::Encoder;
use uuid::Uuid;

/// What one recall nominates, and what one that asks for all may find.
const SIZES: [u16; 2] = [10, 256];
const NOW: Time = Time::from_micros(1_767_225_600_000_000);
const VALUE: &str =
    "prefers short answers, green tea before noon, trains over planes, and quiet rooms with large windows";

struct Stage {
    policy: Policy,
    tenant: TenantId,
    subject: SubjectId,
    context: Context,
    purpose: PurposeName,
}

impl Stage {
    fn new() -> Self {
        Self {
            policy: Policy::compiled_in().unwrap(),
            tenant: TenantId::new("tenant").unwrap(),
            subject: SubjectId::new("subject").unwrap(),
            context: Context(Level::Project(ProjectId::new("project").unwrap())),
            purpose: PurposeName::new("converse").unwrap(),
        }
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            policy: &self.policy,
            purpose: self.policy.purposes.get(&self.purpose).expect("a purpose"),
            context: Some(&self.context),
            min_confidence: None,
            viewpoint: Viewpoint {
                tenant: &self.tenant,
                subject: &self.subject,
                holds_level: &|_| true,
                max_sensitivity: Sensitivity::Restricted,
                sees_candidates: false,
            },
            now: NOW,
        }
    }

    fn memories(&self, count: u16) -> Vec<Arc<Memory>> {
        (0..count).map(|number| Arc::new(self.memory(u128::from(number)))).collect()
    }

    fn memory(&self, number: u128) -> Memory {
        let id = MemoryId(Uuid::from_u128(number));
        let value = Text::new(format!("{VALUE} {number}"));
        Memory {
            id,
            address: Address {
                tenant: self.tenant.clone(),
                owner: Owner::personal(self.subject.clone()),
                level: if number % 2 == 1 { self.context.0.clone() } else { Level::General },
                key: Key::new(id.to_string()).unwrap(),
            },
            kind: KindName::new("experience").unwrap(),
            version: Version::FIRST,
            value_version: Version::FIRST,
            state: State::Active,
            value_chars: u32::try_from(value.char_count()).unwrap(),
            tokens: Some(tokens(&value)),
            value: Some(value),
            source: source(),
            lineage_trust: Trust::Verified,
            evidence: Evidence::UserConfirmed,
            confidence: Some(Confidence::ONE),
            sensitivity: Sensitivity::Personal,
            consent: Consent::Granted(vec![self.purpose.clone()]),
            purposes: Vec::new(),
            observe_time: NOW,
            valid_from_time: None,
            expire_time: Some(NOW.plus(Span::from_seconds(1000))),
            create_time: NOW,
            update_time: NOW,
            confirm_time: Some(NOW),
            author: PrincipalId::new("agent").unwrap(),
            change_reason: Text::default(),
            intact: true,
        }
    }

    fn judgement(&self, memories: &[Arc<Memory>]) -> Judgement {
        let nominations = nominations(memories);
        Judgement {
            decision_id: DecisionId(Uuid::from_u128(1)),
            method: "Recall",
            tenant: self.tenant.clone(),
            subject: Some(self.subject.clone()),
            principal: PrincipalId::new("agent").unwrap(),
            grants: ["recall".to_owned(), "purpose:converse".to_owned()].into(),
            max_sensitivity: Sensitivity::Restricted,
            purpose: Some(self.purpose.clone()),
            context: Some(self.context.clone()),
            policy_version: self.policy.version,
            decide_time: NOW,
            stale_time: None,
            revisions: Vec::new(),
            verdicts: recall(&self.terms(), &input(memories, &nominations)).verdicts,
            not_nominated_count: 0,
            min_confidence: None,
            budget: Some(BUDGET),
            evidence: Evidence::None,
            disposition: Disposition::Answered,
            validate_only: false,
        }
    }

    fn offer(&self) -> Offer {
        let memory = self.memory(1);
        Offer {
            address: memory.address,
            own_key: true,
            kind: memory.kind,
            value: Text::new(VALUE.to_owned()),
            source: source(),
            evidence: Evidence::UserConfirmed,
            confidence: None,
            sensitivity: None,
            consent: memory.consent,
            purposes: Vec::new(),
            observe_time: NOW,
            valid_from_time: None,
            expire_time: None,
            change_reason: Text::default(),
            accept_revoked: false,
        }
    }
}

const BUDGET: Budget = Budget { max_items: 20, max_value_chars: 100_000 };

fn source() -> Source {
    Source {
        kind: Some(SourceKindName::new("user_message").unwrap()),
        reference: Text::new("message 17".to_owned()),
        parents: Vec::new(),
        parent_references: Vec::new(),
    }
}

fn nominations(memories: &[Arc<Memory>]) -> Vec<Nomination> {
    let nomination = |memory: &Arc<Memory>| Nomination {
        memory_id: memory.id,
        value_version: Some(memory.value_version),
        score: Some(0.5),
        derived_store: None,
    };
    memories.iter().map(nomination).collect()
}

const fn input<'a>(memories: &'a [Arc<Memory>], nominations: &'a [Nomination]) -> RecallInput<'a> {
    RecallInput { keys: &[], nominations, all: false, search: None, budget: BUDGET, memories, candidates: &[] }
}

fn judging(criterion: &mut Criterion) {
    let stage = Stage::new();
    let (terms, memory) = (stage.terms(), stage.memory(1));
    let nominated = Nominated { memory: &memory, nominator: Nominator::Index, nomination: None };
    assert!(judge(&terms, &nominated).is_empty(), "an admissible memory is measured");
    criterion.bench_function("judge one memory", |bencher| bencher.iter(|| judge(&terms, black_box(&nominated))));
    let (offer, nothing) = (stage.offer(), Standing { current: None, parents: &[], leads_back: false, blocks: &[] });
    criterion.bench_function("judge one write, with screening", |bencher| {
        bencher.iter(|| write(&stage.policy, Act::Capture, black_box(&offer), nothing, NOW));
    });
    let value = Text::new(VALUE.to_owned());
    criterion.bench_function("the words of one value", |bencher| bencher.iter(|| tokens(black_box(&value))));
}

fn ranking(criterion: &mut Criterion) {
    let stage = Stage::new();
    let terms = stage.terms();
    let words = Words::of(&Text::new("green tea in quiet rooms".to_owned()));
    for size in SIZES {
        let memories = stage.memories(size);
        let nominations = nominations(&memories);
        criterion.bench_function(&format!("judge and rank {size} nominations"), |bencher| {
            bencher.iter(|| recall(&terms, black_box(&input(&memories, &nominations))));
        });
        let search = RecallInput { search: Some(Search::Words(&words)), ..input(&memories, &[]) };
        criterion.bench_function(&format!("search, judge and rank {size} memories"), |bencher| {
            bencher.iter(|| recall(&terms, black_box(&search)));
        });
    }
}

fn encoding(criterion: &mut Criterion) {
    let stage = Stage::new();
    let encoder = Encoder::new().expect("a key");
    for size in SIZES {
        let judgement = stage.judgement(&stage.memories(size));
        criterion.bench_function(&format!("encode a decision of {size} verdicts"), |bencher| {
            bencher.iter_batched(|| &judgement, |judgement| encoder.encode(judgement), BatchSize::SmallInput);
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    judging(&mut criterion);
    ranking(&mut criterion);
    encoding(&mut criterion);
    criterion.final_summary();
}
