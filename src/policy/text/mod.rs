//! Recall by text: which memories have it in their values, and how well.
//!
//! Not a gate: a hit is nominated, and judged like anything else.
//!
//! Invariant: nothing here depends on the value of a memory that may not be searched. It is no hit, it is not counted,
//! it weighs on no word and on no length; and when time opens or closes it to search says nothing of its value.

mod bm25;
mod tokens;
mod words;

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

pub use self::tokens::{Words, tokens};
use super::judge::judge;
use super::{ById, Nominated, Terms};
use crate::memory::{Memory, MemoryId, Nominator, Reason, Text, Time};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Search<'a> {
    /// Words, by the tokens of each memory.
    Words(&'a Words),
    /// A substring. These are the memories whose value has it.
    Substring(&'a BTreeSet<MemoryId>),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// How well each memory matches. Higher is better, and equal is as good.
    pub(super) scores: ById<f64>,
    /// What the gates say of each of the visible memories, in their order.
    pub(super) said: Vec<Vec<Reason>>,
    /// The earliest instant at which time alone opens or closes a memory to search.
    pub(super) stale_time: Option<Time>,
}

/// Searches those of the visible memories that may be searched.
pub(super) fn hits(terms: &Terms<'_>, search: Search<'_>, visible: &[&Memory]) -> Hits {
    let (mut searched, mut said) = (Vec::with_capacity(visible.len()), Vec::with_capacity(visible.len()));
    let mut stale_time = None;
    for memory in visible {
        let reasons = judge(terms, &Nominated { memory, nominator: Nominator::Text, nomination: None });
        let barred = reasons.iter().any(|reason| !leaves_open(*reason) && *reason != Reason::NotYetValid);
        let waits = reasons.contains(&Reason::NotYetValid);
        if !barred {
            let turns = if waits { memory.valid_from_time } else { memory.expire_time };
            stale_time = turns.into_iter().chain(stale_time).min();
        }
        if !barred && !waits {
            searched.push(*memory);
        }
        said.push(reasons);
    }
    let scores = match search {
        Search::Words(words) => bm25::scores(words, &searched),
        Search::Substring(holding) => {
            let found = searched.into_iter().filter(|memory| holding.contains(&memory.id));
            found.map(|memory| (memory.id, 0.0)).collect()
        }
    };
    Hits { scores, said, stale_time }
}

/// Whether a memory that is rejected for this may be searched all the same: the caller might read it, for another
/// purpose or under another policy. A reason that is not named here closes it.
const fn leaves_open(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::UntrustedSource
            | Reason::SourceKindUnknown
            | Reason::KindUnknown
            | Reason::AttributeMissing
            | Reason::PolicyError
            | Reason::PurposeNotAllowed
            | Reason::SensitivityTooHigh
            | Reason::LowConfidence
            | Reason::EvidenceTooWeak
            | Reason::ConfirmationTooOld
            | Reason::InferenceNotAllowed
    )
}

/// The forms in which a substring is looked for: as it is written, and composed (NFC).
#[must_use]
pub fn substring_forms(text: &Text) -> [Text; 2] {
    [text.clone(), Text::new(text.expose().nfc().collect())]
}
