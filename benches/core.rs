//! What the pure core costs: judging, ranking, and encoding what was decided. No I/O.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has nothing to measure"
)]

mod stage;

use std::hint::black_box;

use criterion::{BatchSize, Criterion};
use recall_gate::memory::{Evidence, Nominator, Text};
use recall_gate::policy::{Act, Nominated, Offer, RecallInput, Search, Standing, Words, judge, recall, tokens, write};
use recall_gate::store::measuring::Encoder;

use stage::{NOW, Stage, VALUE, input, nominations, source};

/// What one recall nominates, and what one that asks for all may find.
const SIZES: [u16; 2] = [10, 256];

fn offer(stage: &Stage) -> Offer {
    let memory = stage.memory(1);
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

fn judging(criterion: &mut Criterion) {
    let stage = Stage::new();
    let (terms, memory) = (stage.terms(), stage.memory(1));
    let nominated = Nominated { memory: &memory, nominator: Nominator::Index, nomination: None };
    assert!(judge(&terms, &nominated).is_empty(), "an admissible memory is measured");
    criterion.bench_function("judge one memory", |bencher| bencher.iter(|| judge(&terms, black_box(&nominated))));
    let (offer, nothing) = (offer(&stage), Standing { current: None, parents: &[], leads_back: false, blocks: &[] });
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
