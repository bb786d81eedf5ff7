//! Selection: of what is admissible, what is used. By precedence within a key, by rank within the budget.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::judge::inferred;
use super::{ById, NarrowerRejected, Nominated, Risk, Terms};
use crate::memory::{Budget, DerivedStoreId, Key, MemoryId, Nomination, Nominator, Reason};

/// One nomination with what the gates said of it.
#[derive(Debug, Clone)]
pub(super) struct Judged<'a> {
    pub(super) nominated: Nominated<'a>,
    pub(super) reasons: Vec<Reason>,
    pub(super) relevance: f64,
}

/// Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
const FUSION: f64 = 60.0;

/// Relevance of each nominated memory: reciprocal rank fusion over the rankings, one for each derived store and one for
/// what was found by text. Scores order within their own ranking and mean nothing else; equal ones share a rank. One
/// that is missing ranks nowhere, so that it comes behind all that are there.
pub(super) fn fused(nominations: &[Nomination], found: &ById<f64>) -> ById<f64> {
    let mut rankings: BTreeMap<Option<&DerivedStoreId>, Vec<(MemoryId, f64)>> = BTreeMap::new();
    for nomination in nominations {
        let scored = nomination.score.map(|score| (nomination.memory_id, score));
        rankings.entry(nomination.derived_store.as_ref()).or_default().extend(scored);
    }
    let found: Vec<_> = found.iter().map(|(id, score)| (*id, *score)).collect();
    let mut fused = ById::default();
    for mut ranking in rankings.into_values().chain([found]) {
        ranking.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut rank = 0;
        let mut last = None;
        for (position, (id, score)) in (1_u32..).zip(ranking) {
            if last != Some(score) {
                rank = position;
            }
            last = Some(score);
            *fused.entry(id).or_insert(0.0) += reciprocal(rank);
        }
    }
    fused
}

/// Relevance of an exact key: as the first of a ranking.
pub(super) fn reciprocal(rank: u32) -> f64 {
    1.0 / (FUSION + f64::from(rank))
}

/// The order of answers: relevance, precedence, newer, more confident, key; the id makes it total.
pub(super) fn rank(a: &Judged<'_>, b: &Judged<'_>) -> Ordering {
    let tie = |judged: &Judged<'_>| {
        let memory = judged.nominated.memory;
        (memory.address.precedence(), Reverse(memory.update_time), Reverse(memory.confidence))
    };
    b.relevance
        .total_cmp(&a.relevance)
        .then_with(|| tie(a).cmp(&tie(b)))
        .then_with(|| a.nominated.memory.address.key.cmp(&b.nominated.memory.address.key))
        .then_with(|| a.nominated.memory.id.cmp(&b.nominated.memory.id))
}

/// Adds the reasons of selection and puts the admitted first, both parts in rank.
pub(super) fn select<'a>(terms: &Terms<'_>, budget: Budget, mut judged: Vec<Judged<'a>>) -> Vec<Judged<'a>> {
    by_precedence(terms, &mut judged);
    judged.sort_by(rank);
    within(budget, &mut judged);
    let (accepted, rejected): (Vec<_>, Vec<_>) = judged.into_iter().partition(|judged| judged.reasons.is_empty());
    accepted.into_iter().chain(rejected).collect()
}

/// Within each key: the first admissible in precedence is used; a rejected one before it may withhold it. Whatever is
/// used carries the best relevance of its key, since the query meant the key.
fn by_precedence(terms: &Terms<'_>, judged: &mut [Judged<'_>]) {
    judged.sort_by(|a, b| {
        let place = |judged: &Judged<'_>| (judged.nominated.memory.address.precedence(), judged.nominated.memory.id);
        key(a).cmp(key(b)).then_with(|| place(a).cmp(&place(b)))
    });
    for same_key in judged.chunk_by_mut(|a, b| key(a) == key(b)) {
        let best =
            same_key.iter().filter(|judged| in_context(judged)).map(|judged| judged.relevance).fold(0.0, f64::max);
        let mut used = false;
        let mut withheld = false;
        for candidate in same_key.iter_mut() {
            if !candidate.reasons.is_empty() {
                withheld |= withholds(terms, candidate);
            } else if used {
                candidate.reasons.push(Reason::Shadowed);
            } else if withheld {
                candidate.reasons.push(Reason::NarrowerRejected);
            } else {
                used = true;
                candidate.relevance = best;
            }
        }
    }
}

fn key<'a>(judged: &Judged<'a>) -> &'a Key {
    &judged.nominated.memory.address.key
}

fn in_context(judged: &Judged<'_>) -> bool {
    !judged.reasons.iter().any(|reason| matches!(reason, Reason::UnknownNomination | Reason::OtherScope))
}

/// Whether a rejected memory stands in the way of wider ones of its key. A confirmed fact that holds here and cannot
/// be used just now says that the wider fact is not the right one either. What is gone, not yet there, or of another
/// place, says nothing.
fn withholds(terms: &Terms<'_>, rejected: &Judged<'_>) -> bool {
    let memory = rejected.nominated.memory;
    let kind = terms.policy.kinds.get(&memory.kind);
    let asked_for =
        terms.purpose.risk > Risk::Low || kind.is_some_and(|kind| kind.narrower_rejected == NarrowerRejected::Withhold);
    // Of an unknown kind no evidence counts; what was vouched for at all is taken as confirmed, which withholds more.
    let confirmed = !inferred(kind, memory) || (kind.is_none() && memory.confirm_time.is_some());
    let says_nothing = rejected.reasons.iter().any(|reason| {
        matches!(
            reason,
            Reason::UnknownNomination
                | Reason::OtherScope
                | Reason::Deleted
                | Reason::Forgotten
                | Reason::SourceRevoked
                | Reason::ParentRejected
                | Reason::NotYetValid
        )
    });
    asked_for && confirmed && !says_nothing
}

fn within(budget: Budget, ranked: &mut [Judged<'_>]) {
    let (mut items, mut chars) = (0_u32, 0_u32);
    for judged in ranked.iter_mut().filter(|judged| judged.reasons.is_empty()) {
        let total = chars.saturating_add(judged.nominated.memory.value_chars);
        let (items_left, fits) = (items < budget.max_items, total <= budget.max_value_chars);
        if items_left && fits {
            (items, chars) = (items + 1, total);
            continue;
        }
        if !items_left {
            judged.reasons.push(Reason::BudgetItems);
        }
        if !fits {
            judged.reasons.push(Reason::BudgetCharacters);
        }
    }
}

/// Whether a nomination was found by `all` or by text alone, so that the cap on it applies.
pub(super) fn found_by_search(judged: &Judged<'_>) -> bool {
    let by_search = matches!(judged.nominated.nominator, Nominator::All | Nominator::Text);
    by_search && judged.nominated.nomination.is_none()
}
