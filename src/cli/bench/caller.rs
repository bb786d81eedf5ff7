//! Whoever calls: makes the calls of the mix, one by its number, and minds what came of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tonic::metadata::{Ascii, MetadataValue};
use uuid::Uuid;

use super::Failure;
use super::args::RecallBy;
use super::dice::Dice;
use super::drive::Calls;
use super::mix::{Method, Mix};
use super::requests::{self, Answer, Call, Held};
use super::wire::Wire;
use super::world::World;

/// How the ids of the loaded memories are known.
#[derive(Clone)]
pub(super) enum Ids {
    /// They follow from the world.
    Made,
    /// The service gave them, in the order of the world.
    Given(Arc<Vec<Uuid>>),
}

/// What all calls have in common.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) world: World,
    pub(super) ids: Ids,
    pub(super) mix: Mix,
    pub(super) recall_by: RecallBy,
    pub(super) nominations: u32,
    pub(super) seed: u64,
    /// Of each tenant.
    pub(super) tokens: Arc<Vec<MetadataValue<Ascii>>>,
    /// Keeps the sources of this run apart from those of all others.
    pub(super) run: i64,
}

/// Makes calls to one server.
pub(super) struct Caller {
    plan: Plan,
    wire: Wire,
    /// Whether replies mean anything; those of an echo do not.
    heard: bool,
    held: Mutex<Vec<Held>>,
    next: AtomicU64,
}

impl Caller {
    pub(super) const fn new(plan: Plan, wire: Wire) -> Self {
        Self { plan, wire, heard: true, held: Mutex::new(Vec::new()), next: AtomicU64::new(0) }
    }

    /// Makes the same calls to an echo.
    pub(super) fn echoed(&self, wire: Wire) -> Self {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { plan: self.plan.clone(), wire, heard: false, held: Mutex::new(held), next: AtomicU64::new(0) }
    }

    /// Makes one call of a method, as a sample: what was asked and what came back.
    pub(super) async fn sample(&self, method: Method) -> Result<(Call, Bytes), Failure> {
        let number = self.number();
        let call = self.prepare(method, number, &mut Dice::of(self.plan.seed, number));
        match self.make(&call).await {
            Ok(reply) => Ok((call, reply)),
            Err((code, message)) => Err(Failure::failed(format!("`{}` failed: {code}: {message}", method.name()))),
        }
    }

    /// So many captures, so that there is something to correct and to delete.
    pub(super) async fn stock(&self, count: u32) -> Result<(), Failure> {
        for _ in 0..count {
            self.sample(Method::Capture).await?;
        }
        Ok(())
    }

    /// Whether the memories are there, with these ids, and may be recalled.
    pub(super) async fn check(&self) -> Result<(), Failure> {
        let (_, reply) = self.sample(Method::Recall).await?;
        let expected = usize::try_from(requests::admitted(self.plan.nominations)).unwrap_or(usize::MAX);
        match requests::facts(reply) {
            Some((facts, _)) if facts == expected => Ok(()),
            found => {
                let facts = found.map_or(0, |(facts, _)| facts);
                Err(Failure::failed(format!(
                    "a recall of {expected} memories came back with {facts}: `--loaded` wants the numbers that were \
                     loaded, and the policy has to admit kind `experience` for `converse`"
                )))
            }
        }
    }

    async fn make(&self, call: &Call) -> Result<Bytes, (&'static str, String)> {
        let tenant = usize::try_from(call.tenant).unwrap_or_default();
        let token = self.plan.tokens.get(tenant).ok_or(("NO_TOKEN", String::new()))?;
        let reply = self.wire.call(call.method, token, call.message.clone()).await;
        let reply = reply.map_err(|(code, message)| (crate::telemetry::names::status(code), message))?;
        if self.heard && call.method != Method::Recall {
            let answer = requests::settled(call, reply.clone()).map_err(|outcome| (outcome, String::new()))?;
            if let Answer::Lives(held) = answer {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
            }
        }
        Ok(reply)
    }

    /// Where nothing is there to correct or to delete, something is captured instead.
    fn prepare(&self, method: Method, number: u64, dice: &mut Dice) -> Call {
        let world = &self.plan.world;
        let (tenant, subject) = world.asked(dice);
        let reference = || format!("bench-{}-{number}", self.plan.run);
        match method {
            Method::Recall if self.plan.recall_by == RecallBy::Text => {
                requests::recall_by_text(world, dice, tenant, subject, self.plan.nominations)
            }
            Method::Recall => {
                let chosen = dice.different(self.plan.nominations, world.memories);
                let ids = chosen.into_iter().filter_map(|memory| self.id(tenant, subject, memory));
                requests::recall(world, tenant, subject, ids)
            }
            Method::Capture => requests::capture(world, dice, tenant, subject, &reference()),
            Method::Correct => match self.take() {
                Some(held) => requests::correct(world, dice, &held, &reference()),
                None => requests::capture(world, dice, tenant, subject, &reference()),
            },
            Method::Delete => match self.take() {
                Some(held) => requests::delete(&held),
                None => requests::capture(world, dice, tenant, subject, &reference()),
            },
        }
    }

    fn id(&self, tenant: u32, subject: u32, memory: u32) -> Option<Uuid> {
        match &self.plan.ids {
            Ids::Made => Some(self.plan.world.id(tenant, subject, memory)),
            Ids::Given(ids) => {
                ids.get(usize::try_from(self.plan.world.ordinal(tenant, subject, memory)).ok()?).copied()
            }
        }
    }

    /// One that nobody else touches from now on. An echo changes nothing.
    fn take(&self) -> Option<Held> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if self.heard { held.pop() } else { held.last().cloned() }
    }
}

impl Calls for Caller {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    async fn call(&self, number: u64) -> (Method, Result<(), &'static str>) {
        let mut dice = Dice::of(self.plan.seed, number);
        let method = self.plan.mix.pick(&mut dice);
        let call = self.prepare(method, number, &mut dice);
        let outcome = self.make(&call).await.map_err(|(code, _)| code);
        (call.method, outcome.map(drop))
    }
}
