//! One call of one caller's, made at random: it asks for what anybody was given, and checks that nothing it gets is
//! another's. All text says whose it is.

use std::sync::Mutex;

use recall_gate::memory::{
    Candidate, CandidateId, Context, Disposition, Level, Memory, MemoryId, Owner, RequestId, TenantId, Text, Version,
};
use recall_gate::store::{
    Announcement, Block, BlockCause, Change, CommitError, Error, PlaceRequest, Range, Reach, SearchRead, Store,
    ViewRequest, Write,
};

use crate::fixture::{World, at, key, own, project, task, text, uuid};
use crate::ground::of_tenant;

/// How many subjects each tenant has: of the same names everywhere.
pub(crate) const SUBJECTS: u64 = 3;

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }

    pub(crate) fn one_in(&mut self, many: u64) -> bool {
        self.roll(many) == 0
    }
}

/// What is said of whoever owns a row, in all of its text.
fn mark(tenant: &TenantId, owner: &str) -> String {
    format!("[{tenant}/{owner}]")
}

/// Ids that somebody has been given: everybody asks for all of them.
#[derive(Default)]
pub(crate) struct Known {
    memories: Vec<(MemoryId, Version)>,
    candidates: Vec<CandidateId>,
    requests: Vec<RequestId>,
}

impl Known {
    fn some<T: Copy>(of: &[T], dice: &mut Dice) -> Vec<T> {
        let most = of.len() as u64;
        (0..most.min(8)).map(|_| of[usize::try_from(dice.roll(most)).unwrap()]).collect()
    }
}

/// One caller, for one call.
pub(crate) struct Caller<'a> {
    pub(crate) world: &'a World,
    pub(crate) store: &'a dyn Store,
    pub(crate) known: &'a Mutex<Known>,
    pub(crate) reach: Reach,
    /// A sign of tenant and subject.
    pub(crate) sign: [u8; 32],
}

impl Caller<'_> {
    fn is_mine(&self, tenant: &TenantId, owner: &Owner) -> bool {
        *tenant == self.reach.tenant && owner.subject().is_none_or(|subject| *subject == self.reach.subject)
    }

    fn text_is_mine(&self, text: &Text) -> bool {
        ["", self.reach.subject.as_str()]
            .iter()
            .any(|owner| text.expose().starts_with(&mark(&self.reach.tenant, owner)))
    }

    fn memory(&self, memory: &Memory) {
        let texts = [memory.value.as_ref(), Some(&memory.change_reason), Some(&memory.source.reference)];
        let mine = self.is_mine(&memory.address.tenant, &memory.address.owner)
            && texts.into_iter().flatten().all(|text| self.text_is_mine(text));
        assert!(mine, "{:?} got {memory:?}", self.reach);
    }

    fn candidate(&self, candidate: &Candidate) {
        let texts = [candidate.value.as_ref(), Some(&candidate.change_reason)];
        let mine = self.is_mine(&candidate.address.tenant, &candidate.address.owner)
            && texts.into_iter().flatten().all(|text| self.text_is_mine(text));
        assert!(mine, "{:?} got {candidate:?}", self.reach);
    }

    fn change(&self, owner: &Owner, method: &'static str) -> Change {
        let mut change = self.world.change_of(owner.clone(), self.reach.subject.clone());
        change.judgement.method = method;
        of_tenant(&self.reach.tenant, change)
    }

    fn fact(&self, owner: &Owner, level: Level, name: &str) -> Memory {
        let said = format!("{} {}", mark(&self.reach.tenant, owner.as_str()), uuid());
        let mut memory = self.world.memory_at(owner.clone(), level, name);
        memory.address.tenant = self.reach.tenant.clone();
        memory.tokens = Some(recall_gate::policy::tokens(&text(&said)));
        memory.value_chars = u32::try_from(said.chars().count()).unwrap();
        memory.change_reason = text(&said);
        memory.source.reference = text(&said);
        memory.value = Some(text(&said));
        memory
    }

    /// A new memory in place of what lies there, with an outcome kept.
    fn capture(&self, dice: &mut Dice, owner: &Owner) -> Change {
        let memory = self.fact(owner, level(dice), &name(dice));
        let mut change = self.change(owner, "Capture");
        let (mut key, mut record) = self.world.replay(uuid());
        (key.tenant, key.subject) = (self.reach.tenant.clone(), self.reach.subject.clone());
        record.payload_digest = self.sign;
        let mut known = self.known.lock().unwrap();
        known.memories.push((memory.id, memory.version));
        known.requests.push(key.request_id);
        drop(known);
        change.replay = Some((key, record));
        if dice.one_in(4) {
            let block =
                Block { owner: owner.clone(), cause: BlockCause::Deleted, memory_id: Some(memory.id), since: at(3) };
            change.writes.push(Write::Block { block, reference: text("page 4"), key: memory.address.key.clone() });
        }
        change.writes.push(Write::Memory(Box::new(memory)));
        change.announce = Some(Announcement::Activated);
        change
    }

    fn hold(&self, dice: &mut Dice, owner: &Owner) -> Change {
        let fact = self.fact(owner, level(dice), &name(dice));
        let mut candidate = self.world.candidate_at(owner.clone(), fact.address.level.clone(), "k0");
        (candidate.address, candidate.value, candidate.change_reason) = (fact.address, fact.value, fact.change_reason);
        // Half of them have lapsed, for whoever tidies up.
        candidate.lapse_time = at(if dice.one_in(2) { -1 } else { 1_000 });
        self.known.lock().unwrap().candidates.push(candidate.id);
        let mut change = self.change(owner, "Hold");
        change.writes = vec![Write::Candidate(Box::new(candidate))];
        change
    }

    pub(crate) async fn call(&self, dice: &mut Dice) -> Result<(), Error> {
        let (store, reach) = (self.store, &self.reach);
        let owner = if dice.one_in(3) { Owner::SHARED } else { Owner::personal(reach.subject.clone()) };
        let (memories, candidates, requests) = {
            let known = self.known.lock().unwrap();
            let memories = Known::some(&known.memories, dice);
            (memories, Known::some(&known.candidates, dice), Known::some(&known.requests, dice))
        };
        let ids: Vec<MemoryId> = memories.iter().map(|(id, _)| *id).collect();
        // Of somebody else's also: nothing is there then.
        let whose = if dice.one_in(4) { own(&format!("subject {}", dice.roll(SUBJECTS))) } else { owner.clone() };
        let range = match dice.roll(3) {
            0 => Range::All,
            1 => Range::Owner(whose),
            _ => Range::One(whose, level(dice)),
        };
        match dice.roll(14) {
            0 | 1 => self.view(dice, ids).await,
            2 => {
                let values = store.values(reach, &memories).await?;
                let foreign = values.iter().find(|(_, value)| !self.text_is_mine(value));
                assert!(foreign.is_none(), "{reach:?} got {foreign:?}");
                Ok(())
            }
            3 => {
                let Some(id) = ids.first() else { return Ok(()) };
                store.memory(reach, *id).await?.iter().for_each(|memory| self.memory(memory));
                Ok(())
            }
            4 => self.place(dice, owner, ids).await,
            5 => {
                let page = store.memories(reach, &range, None, 20).await?;
                page.memories.iter().for_each(|memory| self.memory(memory));
                assert!(page.revisions.iter().all(|scope| self.is_mine(&reach.tenant, &scope.owner)));
                Ok(())
            }
            6 => {
                let Some(id) = candidates.first() else { return Ok(()) };
                store.candidate(reach, *id, at(0)).await?.iter().for_each(|candidate| self.candidate(candidate));
                Ok(())
            }
            7 => {
                let page = store.candidates(reach, &range, None, 20, at(0)).await?;
                page.candidates.iter().for_each(|candidate| self.candidate(candidate));
                Ok(())
            }
            8 => {
                let Some(id) = requests.first() else { return Ok(()) };
                let (mut key, _) = self.world.replay(id.0);
                (key.tenant, key.subject) = (reach.tenant.clone(), reach.subject.clone());
                let found = store.replay(&key, at(0)).await?;
                assert!(found.is_none_or(|record| record.payload_digest == self.sign), "{reach:?}");
                Ok(())
            }
            9 | 10 => self.commit(vec![self.capture(dice, &owner)]).await,
            11 => self.commit(vec![self.hold(dice, &owner)]).await,
            12 => {
                let mut read = self.change(&owner, "Recall");
                read.judgement.disposition = Disposition::Answered;
                self.commit(vec![read]).await
            }
            _ if dice.one_in(4) => store.tidy(at(0), 5).await.map(drop),
            _ => self.commit(vec![self.capture(dice, &owner), self.hold(dice, &owner)]).await,
        }
    }

    async fn view(&self, dice: &mut Dice, ids: Vec<MemoryId>) -> Result<(), Error> {
        let search = match dice.roll(3) {
            0 => Some(SearchRead::Tokens),
            1 => Some(SearchRead::Substring([text("tenant"), text("/")])),
            _ => None,
        };
        let request = ViewRequest {
            reach: self.reach.clone(),
            context: Context(level(dice)),
            keys: vec![key(&name(dice))],
            ids,
            all: dice.one_in(2),
            whole: dice.one_in(2).then_some(20),
            search,
            now: at(0),
        };
        let view = self.store.view(&request).await?;
        view.memories.iter().for_each(|memory| self.memory(memory));
        view.candidates.iter().for_each(|candidate| self.candidate(candidate));
        assert!(
            request.whole.is_some()
                || view.holding.iter().all(|id| view.memories.iter().any(|memory| memory.id == *id))
        );
        assert!(view.revisions.iter().all(|scope| self.is_mine(&self.reach.tenant, &scope.owner)));
        Ok(())
    }

    async fn place(&self, dice: &mut Dice, owner: Owner, parents: Vec<MemoryId>) -> Result<(), Error> {
        let mut address = self.world.address(owner, level(dice), &name(dice));
        address.tenant = self.reach.tenant.clone();
        let request = PlaceRequest {
            blocked_as: address.key.clone(),
            address,
            reach: self.reach.clone(),
            references: vec![text("page 4")],
            parents,
        };
        let place = self.store.place(&request).await?;
        place.current.iter().chain(&place.parents).for_each(|memory| self.memory(memory));
        assert!(place.blocks.iter().all(|block| self.is_mine(&self.reach.tenant, &block.owner)));
        Ok(())
    }

    async fn commit(&self, mut changes: Vec<Change>) -> Result<(), Error> {
        let sent: Vec<_> = changes.iter().map(|change| change.judgement.decision_id).collect();
        let done = match (changes.len(), changes.pop()) {
            (1, Some(change)) => self.store.commit(change).await.map(|recorded| vec![recorded]),
            (_, last) => self.store.commit_all(changes.into_iter().chain(last).collect()).await,
        };
        match done {
            Ok(recorded) => {
                let answered: Vec<_> = recorded.iter().map(|recorded| recorded.get().decision_id).collect();
                assert_eq!(answered, sent);
                Ok(())
            }
            Err(CommitError::Contended) => Ok(()),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}

fn level(dice: &mut Dice) -> Level {
    [Level::General, project("p"), task("p", "t")][usize::try_from(dice.roll(3)).unwrap()].clone()
}

fn name(dice: &mut Dice) -> String {
    format!("k{}", dice.roll(4))
}
