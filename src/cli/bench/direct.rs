//! What a recall asks of the database, by itself: the prepared statement that reads what is judged, and the one that
//! appends the decision, each committed by itself. No wire, no credential, no judging, no store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::dice::Dice;
use super::drive::Calls;
use super::mix::Method;
use super::world::{PROJECT, World, made};
use crate::gate::{Clock, SystemClock};
use crate::memory::{IdFault, MemoryId, ProjectId, SubjectId, TenantId, Time};
use crate::store::Reach;
use crate::store::bare::{Asked, Bare, Body, Row};

/// Asks a database.
pub(super) struct Direct {
    bare: Arc<dyn Bare>,
    rows: Rows,
    body: Body,
    nominations: u32,
    seed: u64,
    next: AtomicU64,
}

impl Direct {
    pub(super) fn new(bare: Arc<dyn Bare>, rows: Rows, body: Body, nominations: u32, seed: u64) -> Self {
        Self { bare, rows, body, nominations, seed, next: AtomicU64::new(0) }
    }

    async fn recall(&self, number: u64) -> Result<(), &'static str> {
        const UNAVAILABLE: &str = "STORE_UNAVAILABLE";
        let asked = self.asked(number).map_err(|_| "DEFECT")?;
        let found = self.bare.read(&asked).await.map_err(|_| UNAVAILABLE)?;
        if found < asked.ids.len() {
            return Err("NOT_FOUND");
        }
        self.bare.append(&[self.rows.row(number)], &self.body).await.map_err(|_| UNAVAILABLE)
    }

    fn asked(&self, number: u64) -> Result<Asked, IdFault> {
        let world = &self.rows.world;
        let mut dice = Dice::of(self.seed, number);
        let (tenant, subject) = world.asked(&mut dice);
        let chosen = dice.different(self.nominations, world.memories);
        Ok(Asked {
            reach: reach(tenant, subject)?,
            project: ProjectId::new(PROJECT)?,
            ids: chosen.into_iter().map(|memory| MemoryId(world.id(tenant, subject, memory))).collect(),
            now: SystemClock.now(),
        })
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

pub(super) fn reach(tenant: u32, subject: u32) -> Result<Reach, IdFault> {
    Ok(Reach { tenant: TenantId::new(World::tenant(tenant))?, subject: SubjectId::new(World::subject(subject))? })
}

/// Makes the rows of decisions, which nobody has made.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub(super) struct Rows {
    pub(super) world: World,
    /// Keeps them apart from those of all other runs.
    pub(super) run: u64,
}

impl Rows {
    pub(super) fn row(&self, number: u64) -> Row {
        let (tenant, subject) = self.world.asked(&mut Dice::of(self.run, number));
        Row {
            tenant: World::tenant(tenant),
            subject: World::subject(subject),
            decide_time: SystemClock.now(),
            decision_id: made(number, self.run),
        }
    }
}

/// When a run began: keeps what it makes apart from all others.
pub(super) fn run() -> i64 {
    let now: Time = SystemClock.now();
    now.micros()
}
