//! How well memories match words: Okapi BM25 over those that may be searched, and over nothing else.

use super::tokens::{Document, Words};
use crate::memory::{Memory, MemoryId};
use crate::policy::ById;

/// How soon another occurrence of a word adds nothing. This and [`B`] are the values that Robertson and Zaragoza found
/// reasonable in many circumstances ("The Probabilistic Relevance Framework: BM25 and Beyond", 2009), and the usual
/// defaults.
const K1: f64 = 1.2;

/// How much a long value counts against a match.
const B: f64 = 0.75;

struct Hit {
    id: MemoryId,
    length: u32,
    found: Vec<(usize, u8)>,
}

/// The score of each memory that has one of the words; above zero.
pub(super) fn scores(words: &Words, searched: &[&Memory]) -> ById<f64> {
    let mut hits = Vec::new();
    let mut having = vec![0_u32; words.count()];
    let (mut documents, mut length) = (0_u32, 0_u64);
    let read = searched.iter().filter_map(|memory| Some((memory.id, Document::read(memory.tokens.as_ref()?)?)));
    for (id, document) in read {
        documents = documents.saturating_add(1);
        length = length.saturating_add(u64::from(document.length));
        let found = document.found(words);
        for (place, _) in &found {
            if let Some(having) = having.get_mut(*place) {
                *having += 1;
            }
        }
        if !found.is_empty() {
            hits.push(Hit { id, length: document.length, found });
        }
    }
    let rarity: Vec<f64> = having.into_iter().map(|having| rarity(documents, having)).collect();
    let mean_length = f64::from(u32::try_from(length).unwrap_or(u32::MAX)) / f64::from(documents.max(1));
    hits.into_iter().map(|hit| (hit.id, score(&hit, &rarity, mean_length))).collect()
}

/// Inverse document frequency, in the form that is never negative.
fn rarity(documents: u32, having: u32) -> f64 {
    let having = f64::from(having);
    ((f64::from(documents) - having + 0.5) / (having + 0.5)).ln_1p()
}

fn score(hit: &Hit, rarity: &[f64], mean_length: f64) -> f64 {
    let length = K1 * (1.0 - B + B * f64::from(hit.length) / mean_length.max(1.0));
    let terms = hit.found.iter().map(|(place, count)| {
        let count = f64::from(*count);
        rarity.get(*place).copied().unwrap_or(0.0) * count * (K1 + 1.0) / (count + length)
    });
    terms.sum()
}
