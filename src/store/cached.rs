//! Contexts kept in memory: what a caller's recalls judge again and again is not read again for each.
//!
//! A context is kept whole, as it was read in one statement with its revisions. A recall that is judged on it expects
//! these revisions, and the ledger records its decision only where they still stand: so a change is never missed,
//! whichever replica made it, and ledger-first costs no read. Where they do not, the recall is judged anew on what is
//! read then.
//!
//! No revision tells of held candidates: those that this process did not write are seen when the kept context is over.
//!
//! Invariant I12: a kept context is only ever an offer; its revisions decide.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use foldhash::fast::{FixedState, RandomState};
use moka::sync::Cache;

use super::{
    CandidatePage, Change, CommitError, Deadline, Error, Expect, MemoryPage, Place, PlaceRequest, Position, Range,
    Reach, Recorded, ReplayKey, ReplayRecord, SearchRead, Store, View, ViewRequest, Write,
};
use crate::memory::{
    Candidate, CandidateId, Judgement, Key, Level, Memory, MemoryId, PolicyVersion, SubjectId, TenantId, Text, Time,
    Version,
};

/// What one of them may take, in bytes as counted by `weight`; and half of what all of them may.
const MOST_OF_ONE: u64 = 32 << 20;
/// The most memories of one.
const MOST_MEMORIES: u32 = 20_000;
/// As many candidates as a view shows: there may be more.
const SHOWN_CANDIDATES: usize = 64;
/// What a memory, or a context, takes beside its text.
const FIXED_BYTES: usize = 1024;
/// How many contexts are remembered as asked for once, or as too large.
const MOST_REMEMBERED: u64 = 100_000;
/// How long a context that was too large is not tried again.
const LARGE_FOR: Duration = Duration::from_mins(1);
/// How many counters of changes there are; owners share them.
const COUNTERS: usize = 4096;

/// Which context.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Which {
    tenant: TenantId,
    subject: SubjectId,
    level: Level,
}

/// A context as it was read.
struct Whole {
    memories: Vec<Arc<Memory>>,
    by_id: HashMap<MemoryId, usize, RandomState>,
    by_key: HashMap<Key, usize, RandomState>,
    /// Which memories share a key; and of each memory, whose group it is in.
    groups: Vec<Vec<usize>>,
    group_of: Vec<usize>,
    /// Everything else.
    view: View,
    weight: u32,
    counted: [u64; 2],
}

/// A store that keeps contexts in memory.
pub struct Cached {
    inner: Arc<dyn Store>,
    kept: Cache<Which, Arc<Whole>, RandomState>,
    asked: Cache<Which, ()>,
    large: Cache<Which, ()>,
    /// How often this process has changed something of an owner, or has seen that another did.
    changes: Box<[AtomicU64]>,
    /// What one context may take.
    most_of_one: usize,
}

impl Cached {
    /// Keeps contexts of a store, each for so long, which all together take about so many bytes.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, age: Duration, most_bytes: u64) -> Self {
        let remembered = |age| Cache::builder().max_capacity(MOST_REMEMBERED).time_to_live(age).build();
        let kept = Cache::builder()
            .max_capacity(most_bytes)
            .weigher(|_: &Which, whole: &Arc<Whole>| whole.weight)
            .time_to_live(age)
            .build_with_hasher(RandomState::default());
        Self {
            inner,
            kept,
            asked: remembered(age),
            large: remembered(LARGE_FOR),
            changes: (0..COUNTERS).map(|_| AtomicU64::new(0)).collect(),
            most_of_one: usize::try_from(MOST_OF_ONE.min(most_bytes / 2)).unwrap_or(usize::MAX),
        }
    }

    /// How often what the subject sees has changed.
    fn counted(&self, reach: &Reach) -> [u64; 2] {
        let changes = |counter: usize| self.changes.get(counter).map_or(0, |changes| changes.load(Ordering::Acquire));
        counters(reach).map(changes)
    }

    /// The context, if it is kept and nothing is known to have changed in it.
    fn kept(&self, which: &Which, counted: [u64; 2]) -> Option<Arc<Whole>> {
        self.kept.get(which).filter(|whole| whole.counted == counted)
    }

    /// Reads the context whole and keeps it; `None` where it is too large for that.
    async fn load(&self, which: Which, request: &ViewRequest) -> Result<Option<Arc<Whole>>, Error> {
        let counted = self.counted(&request.reach);
        let whole = ViewRequest {
            keys: Vec::new(),
            ids: Vec::new(),
            all: true,
            search: None,
            whole: Some(MOST_MEMORIES),
            ..request.clone()
        };
        let whole = Whole::of(self.inner.view(&whole).await?, counted, self.most_of_one);
        let Some(whole) = whole else {
            self.large.insert(which, ());
            return Ok(None);
        };
        let whole = Arc::new(whole);
        self.kept.insert(which, Arc::clone(&whole));
        Ok(Some(whole))
    }

    /// The context, from memory or read whole, where that is worth it.
    async fn whole(&self, request: &ViewRequest) -> Result<Option<Arc<Whole>>, Error> {
        let which = Which {
            tenant: request.reach.tenant.clone(),
            subject: request.reach.subject.clone(),
            level: request.context.0.clone(),
        };
        if let Some(whole) = self.kept(&which, self.counted(&request.reach)) {
            return Ok(Some(whole));
        }
        if self.large.contains_key(&which) {
            return Ok(None);
        }
        let everything = request.all || request.search.is_some();
        if !everything && !self.asked.contains_key(&which) {
            self.asked.insert(which, ());
            return Ok(None);
        }
        self.load(which, request).await
    }

    /// What has been committed, or may have been, is not what was kept.
    fn learn(&self, touched: &[usize]) {
        for changes in touched.iter().filter_map(|counter| self.changes.get(*counter)) {
            changes.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Which counter is an owner's.
fn counter(tenant: &TenantId, owner: &str) -> usize {
    let hash = FixedState::default().hash_one((tenant, owner));
    usize::try_from(hash % (COUNTERS as u64)).unwrap_or_default()
}

/// Those of the owners whose memories the subject sees.
fn counters(reach: &Reach) -> [usize; 2] {
    [reach.subject.as_str(), ""].map(|owner| counter(&reach.tenant, owner))
}

/// The counters of the owners of which something kept is no longer so when the change is committed, or turns out to
/// be overtaken. One may stand there twice.
fn touched(change: &Change) -> Vec<usize> {
    let expected = change.expect.iter().filter_map(|expect| match expect {
        Expect::Revision(scope) => Some(scope.owner.as_str()),
        Expect::Address(..) | Expect::Memory(..) | Expect::BlockEpoch(..) | Expect::Candidate(_) => None,
    });
    // A candidate may be a shared one.
    let erases = change.writes.iter().any(|write| matches!(write, Write::EraseCandidate(_)));
    let mut owners: Vec<&str> = expected.chain(erases.then_some("")).chain([change.owner.as_str()]).collect();
    owners.dedup();
    owners.into_iter().map(|owner| counter(&change.tenant, owner)).collect()
}

impl Whole {
    /// `None`: it is too large to be kept, or there may be more candidates than it shows.
    fn of(mut view: View, counted: [u64; 2], most: usize) -> Option<Self> {
        let memories = std::mem::take(&mut view.memories);
        let weight: usize = memories.iter().map(|memory| weight(memory)).sum();
        let fits = memories.len() <= MOST_MEMORIES as usize && weight <= most;
        if !fits || view.candidates.len() >= SHOWN_CANDIDATES {
            return None;
        }
        let mut by_key: HashMap<Key, usize, RandomState> = HashMap::default();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of = Vec::with_capacity(memories.len());
        for (at, memory) in memories.iter().enumerate() {
            let group = *by_key.entry(memory.address.key.clone()).or_insert(groups.len());
            group_of.push(group);
            match groups.get_mut(group) {
                Some(members) => members.push(at),
                None => groups.push(vec![at]),
            }
        }
        Some(Self {
            by_id: memories.iter().enumerate().map(|(at, memory)| (memory.id, at)).collect(),
            by_key,
            groups,
            group_of,
            weight: u32::try_from(weight + FIXED_BYTES).unwrap_or(u32::MAX),
            memories,
            view,
            counted,
        })
    }

    /// What the request asks for, where all of it lies in the context.
    fn answer(&self, request: &ViewRequest) -> Option<View> {
        let places = self.places(request)?;
        let asked = |candidate: &&Candidate| {
            candidate.lapse_time > request.now && (request.all || request.keys.contains(&candidate.address.key))
        };
        Some(View {
            memories: places.iter().filter_map(|at| self.memories.get(*at).cloned()).collect(),
            holding: self.holding(request.search.as_ref()),
            candidates: self.view.candidates.iter().filter(asked).cloned().collect(),
            revisions: self.view.revisions.clone(),
            newest_update_time: self.view.newest_update_time,
        })
    }

    fn places(&self, request: &ViewRequest) -> Option<Vec<usize>> {
        let mut places: Vec<usize> = request.ids.iter().map(|id| self.by_id.get(id).copied()).collect::<Option<_>>()?;
        if request.all || request.search.is_some() {
            return Some((0..self.memories.len()).collect());
        }
        let nominated = places.iter().filter_map(|at| self.group_of.get(*at));
        let asked = request.keys.iter().filter_map(|key| self.by_key.get(key));
        let groups: Vec<usize> = nominated.chain(asked).copied().collect();
        places.extend(groups.into_iter().filter_map(|group| self.groups.get(group)).flatten());
        places.sort_unstable();
        places.dedup();
        Some(places)
    }

    fn holding(&self, search: Option<&SearchRead>) -> BTreeSet<MemoryId> {
        let Some(SearchRead::Substring(texts)) = search else { return BTreeSet::new() };
        let holds = |memory: &&Arc<Memory>| {
            let value = memory.value.as_ref().map_or("", Text::expose);
            texts.iter().any(|text| value.contains(text.expose()))
        };
        self.memories.iter().filter(holds).map(|memory| memory.id).collect()
    }
}

/// About what a memory takes.
fn weight(memory: &Memory) -> usize {
    let source = &memory.source;
    FIXED_BYTES
        + memory.value.as_ref().map_or(0, |value| value.expose().len())
        + memory.tokens.as_ref().map_or(0, |tokens| tokens.as_bytes().len())
        + memory.change_reason.expose().len()
        + source.reference.expose().len()
        + source.parent_references.iter().map(|reference| reference.expose().len()).sum::<usize>()
}

#[async_trait]
impl Store for Cached {
    async fn view(&self, request: &ViewRequest) -> Result<View, Error> {
        if Deadline::current().is_some_and(Deadline::is_over) {
            return Err(Error::OutOfTime);
        }
        let Some(whole) = self.whole(request).await? else { return self.inner.view(request).await };
        if let Some(view) = whole.answer(request) {
            return Ok(view);
        }
        let view = self.inner.view(request).await?;
        if view.revisions != whole.view.revisions {
            self.learn(&counters(&request.reach));
        }
        Ok(view)
    }

    async fn values(&self, reach: &Reach, versions: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error> {
        self.inner.values(reach, versions).await
    }

    async fn memory(&self, reach: &Reach, id: MemoryId) -> Result<Option<Memory>, Error> {
        self.inner.memory(reach, id).await
    }

    async fn place(&self, request: &PlaceRequest) -> Result<Place, Error> {
        self.inner.place(request).await
    }

    async fn memories(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<&Position>,
        limit: u32,
    ) -> Result<MemoryPage, Error> {
        self.inner.memories(reach, range, after, limit).await
    }

    async fn candidate(&self, reach: &Reach, id: CandidateId, now: Time) -> Result<Option<Candidate>, Error> {
        self.inner.candidate(reach, id, now).await
    }

    async fn candidates(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<(Time, CandidateId)>,
        limit: u32,
        now: Time,
    ) -> Result<CandidatePage, Error> {
        self.inner.candidates(reach, range, after, limit, now).await
    }

    async fn replay(&self, key: &ReplayKey, now: Time) -> Result<Option<ReplayRecord>, Error> {
        self.inner.replay(key, now).await
    }

    async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError> {
        if change.is_read() {
            let touched = touched(&change);
            let outcome = self.inner.commit(change).await;
            if matches!(outcome, Err(CommitError::Contended)) {
                self.learn(&touched);
            }
            return outcome;
        }
        let _learns = Learns { cached: self, touched: touched(&change) };
        self.inner.commit(change).await
    }

    async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError> {
        let _learns = Learns { cached: self, touched: changes.iter().flat_map(touched).collect() };
        self.inner.commit_all(changes).await
    }

    async fn keep_policy(&self, version: PolicyVersion, document: &str, now: Time) -> Result<(), Error> {
        self.inner.keep_policy(version, document, now).await
    }

    async fn tidy(&self, now: Time, limit: u32) -> Result<u64, Error> {
        self.inner.tidy(now, limit).await
    }

    async fn prune(&self, before: Time, limit: u32) -> Result<u64, Error> {
        self.inner.prune(before, limit).await
    }

    fn digest(&self, domain: &'static str, parts: &[&[u8]]) -> [u8; 32] {
        self.inner.digest(domain, parts)
    }

    fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>> {
        self.inner.seal(binding, plain)
    }

    fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
        self.inner.open(binding, sealed)
    }

    async fn check(&self) -> Result<(), Error> {
        self.inner.check().await
    }

    async fn close(&self) {
        self.kept.invalidate_all();
        self.inner.close().await;
    }
}

/// Learns of changes when they have been committed or refused, and also when nobody waits for that any more.
struct Learns<'a> {
    cached: &'a Cached,
    touched: Vec<usize>,
}

impl Drop for Learns<'_> {
    fn drop(&mut self) {
        self.cached.learn(&self.touched);
    }
}
