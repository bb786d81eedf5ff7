//! What is counted.

use std::hint::black_box;
use std::sync::Arc;

use recall_gate::memory::{Memory, Nominator};
use recall_gate::policy::{Nominated, judge, recall};
use recall_gate::store::measuring::Encoder;

use crate::stage::{Stage, input, nominations};
use crate::whole::Whole;

/// Where counting begins and where it ends: the counter looks for this function.
#[inline(never)]
pub(crate) fn mark() {
    black_box(());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    /// Judging one nomination.
    Judge,
    /// Judging and ranking ten.
    Rank,
    /// Encoding a decision of ten verdicts.
    Encode,
    /// A warm recall of ten nominations, from the client's call to its reply.
    Recall,
    /// As `Rank`, and slower on purpose.
    RankSlowed,
}

impl Workload {
    pub(crate) const RECORDED: [Self; 4] = [Self::Judge, Self::Rank, Self::Encode, Self::Recall];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Judge => "judge_one",
            Self::Rank => "judge_and_rank_ten",
            Self::Encode => "encode_decision_of_ten",
            Self::Recall => "warm_recall_of_ten",
            Self::RankSlowed => "judge_and_rank_ten_slowed",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::RECORDED.into_iter().chain([Self::RankSlowed]).find(|workload| workload.name() == name)
    }

    /// Threads that wake one another, now sooner and now later, make the count of the whole call differ a little each time.
    pub(crate) const fn counted_times(self) -> usize {
        match self {
            Self::Judge | Self::Rank | Self::Encode | Self::RankSlowed => 1,
            Self::Recall => 3,
        }
    }

    /// By how many per cent its count may differ from what is recorded. How a compiler lays out what is small changes
    /// with code that has nothing to do with it; in the whole call that evens out.
    pub(crate) const fn margin(self) -> u64 {
        match self {
            Self::Judge | Self::Rank | Self::Encode | Self::RankSlowed => 5,
            Self::Recall => 2,
        }
    }

    /// Does it so many times.
    pub(crate) fn run(self, iterations: u32) {
        if self == Self::Recall {
            return Whole::recall_times(iterations);
        }
        let stage = Stage::new();
        let (terms, memories) = (stage.terms(), stage.memories(10));
        let nominations = nominations(&memories);
        let nominated =
            memories.get(1).map(|memory| Nominated { memory, nominator: Nominator::Index, nomination: None });
        let nominated = nominated.expect("a memory");
        let (judgement, encoder) = (stage.judgement(&memories), Encoder::new().expect("a key"));
        assert!(judge(&terms, &nominated).is_empty(), "an admissible memory is judged");
        assert_eq!(judgement.verdicts.len(), 10, "each has a verdict");
        mark();
        for _ in 0..iterations {
            match self {
                Self::Judge => drop(black_box(judge(&terms, black_box(&nominated)))),
                Self::Rank => drop(black_box(recall(&terms, black_box(&input(&memories, &nominations))))),
                Self::RankSlowed => {
                    let memories: Vec<_> = memories.iter().map(|memory| Arc::new(Memory::clone(memory))).collect();
                    let memories = black_box(memories);
                    drop(black_box(recall(&terms, black_box(&input(&memories, &nominations)))));
                }
                Self::Encode => drop(black_box(encoder.encode(black_box(&judgement)))),
                Self::Recall => {}
            }
        }
        mark();
    }
}
