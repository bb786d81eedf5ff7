//! What a recall asks of the store, by itself: the statement that reads what is judged, and the one that appends the
//! decision, over the store's own connections and in its own groups. No wire, no credential, no judging, no reply.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::dice::Dice;
use super::drive::Calls;
use super::mix::Method;
use super::world::{PRINCIPAL, PROJECT, PURPOSE, World, made};
use crate::gate::{Clock, SystemClock};
use crate::memory::{
    Budget, Context, DecisionId, Disposition, Evidence, IdFault, Judgement, Level, Memory, MemoryId, Nomination,
    Nominator, Owner, PrincipalId, ProjectId, PurposeName, Sensitivity, Subject, SubjectId, TenantId, Time, Verdict,
    Version,
};
use crate::policy::{Policy, attributes};
use crate::store::{Change, CommitError, Expect, Reach, Store, View, ViewRequest};

/// Asks a store.
pub(super) struct Direct {
    store: Arc<dyn Store>,
    policy: Arc<Policy>,
    world: World,
    nominations: u32,
    seed: u64,
    /// Keeps the decisions of this run apart from those of all others.
    run: u64,
    next: AtomicU64,
}

impl Direct {
    pub(super) fn new(
        store: Arc<dyn Store>,
        policy: Arc<Policy>,
        world: World,
        nominations: u32,
        seed: u64,
        run: i64,
    ) -> Self {
        Self { store, policy, world, nominations, seed, run: run.unsigned_abs(), next: AtomicU64::new(0) }
    }

    async fn recall(&self, number: u64) -> Result<(), &'static str> {
        const DEFECT: &str = "DEFECT";
        let request = self.request(number).map_err(|_| DEFECT)?;
        let view = self.store.view(&request).await.map_err(|_| "STORE_UNAVAILABLE")?;
        let change = self.change(number, &request, view).map_err(|_| DEFECT)?;
        match self.store.commit(change).await {
            Ok(_) => Ok(()),
            Err(CommitError::Contended) => Err("CONTENDED"),
            Err(CommitError::Store(_)) => Err("STORE_UNAVAILABLE"),
        }
    }

    fn request(&self, number: u64) -> Result<ViewRequest, IdFault> {
        let mut dice = Dice::of(self.seed, number);
        let (tenant, subject) = (dice.below(self.world.tenants), dice.below(self.world.subjects));
        let chosen = dice.different(self.nominations, self.world.memories);
        let ids = chosen.into_iter().map(|memory| MemoryId(self.world.id(tenant, subject, memory)));
        Ok(ViewRequest {
            reach: Reach {
                tenant: TenantId::new(World::tenant(tenant))?,
                subject: SubjectId::new(World::subject(subject))?,
            },
            context: Context(Level::Project(ProjectId::new(PROJECT)?)),
            keys: Vec::new(),
            ids: ids.collect(),
            all: false,
            search: None,
            whole: None,
            now: SystemClock.now(),
        })
    }

    fn change(&self, number: u64, request: &ViewRequest, view: View) -> Result<Change, IdFault> {
        let found: BTreeMap<MemoryId, Arc<Memory>> =
            view.memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let verdicts = request.ids.iter().filter_map(|id| found.get(id)).map(|memory| self.verdict(memory));
        let reach = request.reach.clone();
        let judgement = Judgement {
            decision_id: DecisionId(made(number, self.run)),
            method: "Recall",
            tenant: reach.tenant.clone(),
            subject: Some(reach.subject.clone()),
            principal: PrincipalId::new(PRINCIPAL)?,
            grants: crate::identity::Grants::all().names().into(),
            max_sensitivity: Sensitivity::Restricted,
            purpose: Some(PurposeName::new(PURPOSE)?),
            context: Some(request.context.clone()),
            policy_version: self.policy.version,
            decide_time: request.now,
            stale_time: found.values().filter_map(|memory| memory.expire_time).min(),
            revisions: view.revisions,
            verdicts: verdicts.collect(),
            not_nominated_count: 0,
            min_confidence: None,
            budget: Some(Budget { max_items: 20, max_value_chars: 100_000 }),
            evidence: Evidence::None,
            disposition: Disposition::Answered,
            validate_only: false,
        };
        Ok(Change {
            tenant: reach.tenant,
            subject: Some(reach.subject.clone()),
            owner: Owner::personal(reach.subject),
            expect: judgement.revisions.iter().cloned().map(Expect::Revision).collect(),
            writes: Vec::new(),
            announce: None,
            judgement,
            replay: None,
        })
    }

    fn verdict(&self, memory: &Memory) -> Verdict {
        Verdict {
            subject: Subject::Memory(memory.id),
            reasons: Vec::new(),
            nominator: Nominator::Index,
            nomination: Some(Nomination {
                memory_id: memory.id,
                value_version: Some(Version::FIRST),
                score: Some(0.5),
                derived_store: None,
            }),
            attributes: Some(attributes(&self.policy, memory)),
        }
    }
}

impl Calls for Direct {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    async fn call(&self, number: u64) -> (Method, Result<(), &'static str>) {
        (Method::Recall, self.recall(number).await)
    }
}

/// When a run began: keeps what it makes apart from all others.
pub(super) fn run() -> i64 {
    let now: Time = SystemClock.now();
    now.micros()
}
