//! Loads memories in bulk: behind the API's back, through the store's own rules. Each has its history, its place in the
//! feed and a decision, as if it had been imported; what is left out is the wire and the write gate.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::Failure;
use super::requests::lies_in_project;
use super::world::{KIND, PRINCIPAL, PROJECT, PURPOSE, SOURCE, World, made};
use crate::gate::{Clock, SystemClock};
use crate::memory::{
    Address, Confidence, Consent, DecisionId, Disposition, Evidence, IdFault, Judgement, Key, KindName, Level, Memory,
    MemoryId, Outcome, Owner, PrincipalId, ProjectId, PurposeName, Sensitivity, Source, SourceKindName, Span, State,
    SubjectId, TenantId, Text, Time, Trust, Version,
};
use crate::policy::{Policy, admitted, tokens};
use crate::store::{Announcement, Change, CommitError, Expect, Store, Write};

/// Memories of one change, as in a batch of the API.
const CHANGE: u32 = 100;
/// Memories that are committed together, with one flush.
const GROUP: u32 = 5_000;
/// Groups at once: those that wait are made meanwhile, and a server takes several.
const GROUPS: usize = 4;
/// How long they are valid: a year.
const LIFE: Span = Span::from_seconds(31_536_000);

/// Memories of one subject, from one to below another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    tenant: u32,
    subject: u32,
    from: u32,
    to: u32,
}

/// Loads the world into an empty database; `tick` is told how many memories are there.
pub(super) async fn fill(
    store: &Arc<dyn Store>,
    policy: &Arc<Policy>,
    world: World,
    tick: impl Fn(u64),
) -> Result<(), Failure> {
    let mut groups = groups(world);
    let mut under_way = JoinSet::new();
    let mut loaded = 0;
    loop {
        while under_way.len() < GROUPS
            && let Some(group) = groups.next()
        {
            let (store, policy) = (Arc::clone(store), Arc::clone(policy));
            under_way.spawn(async move { commit(store.as_ref(), &policy, &world, &group).await });
        }
        let Some(ended) = under_way.join_next().await else { return Ok(()) };
        loaded += ended.map_err(|error| Failure::because("loading broke off", &error))??;
        tick(loaded);
    }
}

/// The world in groups of whole changes, a tenant and a subject after the other.
fn groups(world: World) -> impl Iterator<Item = Vec<Part>> {
    let subjects = (0..world.tenants).flat_map(move |tenant| (0..world.subjects).map(move |subject| (tenant, subject)));
    let mut parts = subjects
        .flat_map(move |(tenant, subject)| {
            let from = (0..world.memories).step_by(usize::try_from(CHANGE).unwrap_or(1));
            from.map(move |from| Part { tenant, subject, from, to: (from + CHANGE).min(world.memories) })
        })
        .peekable();
    std::iter::from_fn(move || {
        let (mut group, mut size) = (Vec::new(), 0);
        while size < GROUP
            && let Some(part) = parts.next()
        {
            size += part.to - part.from;
            group.push(part);
        }
        (!group.is_empty()).then_some(group)
    })
}

async fn commit(store: &dyn Store, policy: &Policy, world: &World, group: &[Part]) -> Result<u64, Failure> {
    let now = SystemClock.now();
    let changes: Result<Vec<Change>, IdFault> = group.iter().map(|part| change(policy, world, *part, now)).collect();
    let changes = changes.map_err(|error| Failure::because("a memory is no memory", &error))?;
    match store.commit_all(changes).await {
        Ok(_) => Ok(group.iter().map(|part| u64::from(part.to - part.from)).sum()),
        Err(CommitError::Contended) => Err(Failure::failed(
            "memories of an earlier load are there already: take another database, or say `--loaded`",
        )),
        Err(error) => Err(Failure::because("memories could not be loaded", &error)),
    }
}

fn change(policy: &Policy, world: &World, part: Part, now: Time) -> Result<Change, IdFault> {
    let memories: Result<Vec<Memory>, IdFault> =
        (part.from..part.to).map(|memory| remembered(world, part, memory, now)).collect();
    let memories = memories?;
    let (tenant, subject) = (TenantId::new(World::tenant(part.tenant))?, SubjectId::new(World::subject(part.subject))?);
    let judgement = Judgement {
        decision_id: DecisionId(made(world.ordinal(part.tenant, part.subject, part.from), 1)),
        method: "Import",
        tenant: tenant.clone(),
        subject: Some(subject.clone()),
        principal: PrincipalId::new(PRINCIPAL)?,
        grants: [].into(),
        max_sensitivity: Sensitivity::Restricted,
        purpose: None,
        context: None,
        policy_version: policy.version,
        decide_time: now,
        stale_time: None,
        revisions: Vec::new(),
        verdicts: memories.iter().map(|memory| admitted(policy, memory)).collect(),
        not_nominated_count: 0,
        min_confidence: None,
        budget: None,
        evidence: Evidence::UserConfirmed,
        disposition: Disposition::Decided { outcome: Outcome::Activated, reasons: Vec::new() },
        validate_only: false,
    };
    Ok(Change {
        tenant,
        subject: Some(subject.clone()),
        owner: Owner::personal(subject),
        // One stands for all, since they are loaded together.
        expect: memories.first().map(|memory| Expect::Address(memory.address.clone(), None)).into_iter().collect(),
        writes: memories.into_iter().map(|memory| Write::Memory(Box::new(memory))).collect(),
        announce: Some(Announcement::Activated),
        judgement,
        replay: None,
    })
}

fn remembered(world: &World, part: Part, memory: u32, now: Time) -> Result<Memory, IdFault> {
    let ordinal = world.ordinal(part.tenant, part.subject, memory);
    let id = world.id(part.tenant, part.subject, memory);
    let value = Text::new(world.value(ordinal));
    Ok(Memory {
        id: MemoryId(id),
        address: Address {
            tenant: TenantId::new(World::tenant(part.tenant))?,
            owner: Owner::personal(SubjectId::new(World::subject(part.subject))?),
            level: if lies_in_project(memory) { Level::Project(ProjectId::new(PROJECT)?) } else { Level::General },
            key: Key::new(id.to_string())?,
        },
        kind: KindName::new(KIND)?,
        version: Version::FIRST,
        value_version: Version::FIRST,
        state: State::Active,
        value_chars: u32::try_from(value.char_count()).unwrap_or(u32::MAX),
        tokens: Some(tokens(&value)),
        value: Some(value),
        source: Source {
            kind: Some(SourceKindName::new(SOURCE)?),
            reference: Text::new(format!("bench-load-{ordinal}")),
            parents: Vec::new(),
            parent_references: Vec::new(),
        },
        lineage_trust: Trust::Verified,
        evidence: Evidence::UserConfirmed,
        confidence: Some(Confidence::ONE),
        sensitivity: Sensitivity::Personal,
        consent: Consent::Granted(vec![PurposeName::new(PURPOSE)?]),
        purposes: Vec::new(),
        observe_time: now,
        valid_from_time: None,
        expire_time: Some(now.plus(LIFE)),
        create_time: now,
        update_time: now,
        confirm_time: Some(now),
        author: PrincipalId::new(PRINCIPAL)?,
        change_reason: Text::default(),
        intact: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_memory_is_in_one_group_and_no_group_is_too_large() {
        let world = World { tenants: 3, subjects: 50, asked_subjects: None, memories: 130, value_bytes: 10 };
        let mut there = std::collections::BTreeSet::new();
        for group in groups(world) {
            let mut size = 0;
            for part in group {
                assert!(part.from < part.to && part.to - part.from <= CHANGE);
                for memory in part.from..part.to {
                    assert!(there.insert((part.tenant, part.subject, memory)));
                    size += 1;
                }
            }
            assert!(size < GROUP + CHANGE, "{size}");
        }
        assert_eq!(there.len(), 3 * 50 * 130);
    }
}
