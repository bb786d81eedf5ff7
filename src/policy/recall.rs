//! One recall, whole: nominate, judge, select. The same pure function serves, explains and replays (I18).

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::judge::{judge, turning_point};
use super::select::{Judged, found_by_search, fused, rank, reciprocal, select};
use super::text::{Hits, hits};
use super::verdict::{attributes, candidate_verdict};
use super::{Nominated, Policy, Search, Terms};
use crate::memory::{Budget, Candidate, Key, Memory, MemoryId, Nomination, Nominator, Reason, Subject, Time, Verdict};

/// At most so many memories are nominated by `all` and by text.
pub const MAX_ALL: usize = 256;

/// What a recall is about.
#[derive(Clone, Copy)]
pub struct RecallInput<'a> {
    /// The keys asked.
    pub keys: &'a [Key],
    /// What the caller's index found, each memory once.
    pub nominations: &'a [Nomination],
    /// Everything in the context.
    pub all: bool,
    /// What is looked for in values.
    pub search: Option<Search<'a>>,
    /// How much fits.
    pub budget: Budget,
    /// The memories that were read: those of the keys and nominations, all others at their keys, and with `all` or
    /// `search` the whole context. In any order.
    pub memories: &'a [Arc<Memory>],
    /// Held candidates that the query touches. In any order.
    pub candidates: &'a [Candidate],
}

/// What the gate says.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The verdicts: accepted ones first, in rank; then rejected ones, in rank; then what is unknown, and candidates.
    pub verdicts: Vec<Verdict>,
    /// The earliest instant at which time alone would change this.
    pub stale_time: Option<Time>,
    /// How many matches were never nominated.
    pub not_nominated_count: u64,
    /// Rows that no store may return to this caller: leakage, to be alarmed.
    pub leaked_count: u64,
}

/// Nominates, judges and selects.
#[must_use]
pub fn recall(terms: &Terms<'_>, input: &RecallInput<'_>) -> Recalled {
    let (judged, searched_until, leaked_count) = nominate(terms, input);
    let known: HashSet<MemoryId, FixedState> = judged.iter().map(|judged| judged.nominated.memory.id).collect();
    let (judged, not_nominated_count) = cap(judged);
    let stale_time =
        judged.iter().filter_map(|judged| turning_point(terms, judged.nominated.memory)).chain(searched_until).min();
    let candidates = touched(terms, input);
    let stale_time = candidates.iter().map(|candidate| candidate.lapse_time).chain(stale_time).min();
    let selected = select(terms, input.budget, judged);
    let mut verdicts: Vec<Verdict> = selected.into_iter().map(|judged| verdict(terms.policy, judged)).collect();
    let unknown: BTreeMap<MemoryId, &Nomination> = input
        .nominations
        .iter()
        .filter(|nomination| !known.contains(&nomination.memory_id))
        .map(|nomination| (nomination.memory_id, nomination))
        .rev()
        .collect();
    verdicts.extend(unknown.into_values().map(unknown_nomination));
    verdicts.extend(candidates.into_iter().map(|candidate| held(terms.policy, input, candidate)));
    Recalled { verdicts, stale_time, not_nominated_count, leaked_count }
}

/// The word on one memory by itself, in its own scope: for a single get, and for each row of a list.
#[must_use]
pub fn verdict_on(terms: &Terms<'_>, memory: &Memory, nominator: Nominator) -> Verdict {
    let nominated = Nominated { memory, nominator, nomination: None };
    let reasons = judge(terms, &nominated);
    verdict(terms.policy, Judged { nominated, reasons, relevance: 0.0 })
}

/// The earliest instant at which time alone would change the word on one memory.
#[must_use]
pub fn stale_time_of(terms: &Terms<'_>, memory: &Memory) -> Option<Time> {
    turning_point(terms, memory)
}

/// Every memory that is visible, with the first way it came here, and what the gates say of it.
fn nominate<'a>(terms: &Terms<'_>, input: &RecallInput<'a>) -> (Vec<Judged<'a>>, Option<Time>, u64) {
    let asked: BTreeSet<&Key> = input.keys.iter().collect();
    let mut nominations: Vec<&Nomination> = input.nominations.iter().collect();
    nominations.sort_by_key(|nomination| nomination.memory_id);
    let (reached, leaked): (Vec<&Memory>, Vec<&Memory>) = input
        .memories
        .iter()
        .map(Arc::as_ref)
        .partition(|memory| terms.viewpoint.reaches(&memory.address.tenant, &memory.address.owner));
    let visible: Vec<&Memory> = reached.into_iter().filter(|memory| terms.viewpoint.sees_memory(memory)).collect();
    let Hits { scores, mut said, stale_time } =
        input.search.map(|search| hits(terms, search, &visible)).unwrap_or_default();
    let relevance = fused(input.nominations, &scores);
    let keys: LazyCell<BTreeSet<&Key>, _> = LazyCell::new(|| {
        let is_found = |memory: &&&Memory| !of(&nominations, memory).is_empty() || scores.contains_key(&memory.id);
        visible.iter().filter(is_found).map(|memory| &memory.address.key).chain(input.keys).collect()
    });
    let mut judged = Vec::with_capacity(visible.len());
    for (at, &memory) in visible.iter().enumerate() {
        let place = &memory.address;
        let nomination = best(of(&nominations, memory), memory);
        let in_context = terms.context.is_none_or(|context| context.sees(&place.level));
        let by_key = in_context && asked.contains(&place.key);
        let nominator = match nomination {
            _ if by_key => Nominator::Key,
            _ if input.all && in_context => Nominator::All,
            _ if scores.contains_key(&memory.id) => Nominator::Text,
            Some(_) => Nominator::Index,
            None if in_context && keys.contains(&place.key) => Nominator::SameKey,
            // Nobody asked for it: the store read more than it had to.
            None => continue,
        };
        let nominated = Nominated { memory, nominator, nomination };
        let key_relevance = if by_key { reciprocal(1) } else { 0.0 };
        let relevance = key_relevance + relevance.get(&memory.id).copied().unwrap_or(0.0);
        let reasons = match said.get_mut(at) {
            // Whether it might be searched was asked of the same gates.
            Some(said) if nominator == Nominator::Text => std::mem::take(said),
            _ => judge(terms, &nominated),
        };
        judged.push(Judged { nominated, reasons, relevance });
    }
    (judged, stale_time, u64::try_from(leaked.len()).unwrap_or(u64::MAX))
}

/// Those of a memory, among all of them in the order of their ids.
fn of<'s, 'a>(nominations: &'s [&'a Nomination], memory: &Memory) -> &'s [&'a Nomination] {
    let from = nominations.partition_point(|nomination| nomination.memory_id < memory.id);
    let to = nominations.partition_point(|nomination| nomination.memory_id <= memory.id);
    nominations.get(from..to).unwrap_or_default()
}

/// Of several stores that nominate one memory, the one that speaks for it: one that holds the value as it is now.
fn best<'a>(nominations: &[&'a Nomination], memory: &Memory) -> Option<&'a Nomination> {
    let current = |nomination: &Nomination| nomination.value_version == Some(memory.value_version);
    let rank = |nomination: &&'a Nomination| {
        (!current(nomination), nomination.value_version.is_some(), nomination.derived_store.as_ref())
    };
    nominations.iter().copied().min_by_key(rank)
}

/// Of what `all` or a text alone found, the first [`MAX_ALL`]: admissible ones before all others, each part in rank, so
/// that what is rejected cannot crowd out what is not. Whatever shares a key with one that stays, stays, and no other.
fn cap(judged: Vec<Judged<'_>>) -> (Vec<Judged<'_>>, u64) {
    if judged.len() <= MAX_ALL {
        return (judged, 0);
    }
    let (elsewhere, judged): (Vec<_>, Vec<_>) =
        judged.into_iter().partition(|judged| judged.nominated.nominator == Nominator::SameKey);
    let (mut all, mut kept): (Vec<_>, Vec<_>) = judged.into_iter().partition(found_by_search);
    let order = |a: &Judged<'_>, b: &Judged<'_>| {
        a.reasons.is_empty().cmp(&b.reasons.is_empty()).reverse().then_with(|| rank(a, b))
    };
    let mut rest = Vec::new();
    if all.len() > MAX_ALL {
        all.select_nth_unstable_by(MAX_ALL, order);
        rest = all.split_off(MAX_ALL);
    }
    kept.extend(all);
    let keys: BTreeSet<Key> = kept.iter().map(|judged| judged.nominated.memory.address.key.clone()).collect();
    let stays = |judged: &Judged<'_>| keys.contains(&judged.nominated.memory.address.key);
    let (same_key, never): (Vec<_>, Vec<_>) = rest.into_iter().partition(stays);
    kept.extend(same_key);
    kept.extend(elsewhere.into_iter().filter(stays));
    (kept, u64::try_from(never.len()).unwrap_or(u64::MAX))
}

/// Held candidates that the caller may know of, oldest first.
fn touched<'a>(terms: &Terms<'_>, input: &RecallInput<'a>) -> Vec<&'a Candidate> {
    let viewpoint = &terms.viewpoint;
    let mut touched: Vec<&Candidate> = input
        .candidates
        .iter()
        .filter(|candidate| {
            let place = &candidate.address;
            viewpoint.sees_candidates
                && viewpoint.sees(&place.tenant, &place.owner, &place.level, candidate.sensitivity)
                && terms.context.is_none_or(|context| context.sees(&place.level))
                && (input.all || input.keys.contains(&place.key))
                && terms.now < candidate.lapse_time
        })
        .collect();
    touched.sort_by_key(|candidate| (candidate.create_time, candidate.id));
    touched
}

fn verdict(policy: &Policy, judged: Judged<'_>) -> Verdict {
    let Nominated { memory, nominator, nomination } = judged.nominated;
    let unknown = judged.reasons.contains(&Reason::UnknownNomination);
    Verdict {
        subject: Subject::Memory(memory.id),
        reasons: judged.reasons,
        nominator,
        nomination: nomination.cloned(),
        attributes: (!unknown).then(|| attributes(policy, memory)),
    }
}

fn unknown_nomination(nomination: &Nomination) -> Verdict {
    Verdict {
        subject: Subject::Memory(nomination.memory_id),
        reasons: vec![Reason::UnknownNomination],
        nominator: Nominator::Index,
        nomination: Some(nomination.clone()),
        attributes: None,
    }
}

fn held(policy: &Policy, input: &RecallInput<'_>, candidate: &Candidate) -> Verdict {
    let by_key = input.keys.contains(&candidate.address.key);
    candidate_verdict(policy, candidate, if by_key { Nominator::Key } else { Nominator::All })
}
