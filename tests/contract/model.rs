//! A plain map and the store of every engine are driven with the same operations, and agree.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use recall_gate::memory::{Level, Memory, MemoryId, Owner, Revision, State, TenantId};
use recall_gate::store::{Expect, Range, Write};

use crate::ENGINES;
use crate::fixture::{World, contended, expect_at, next, own, project, subject, task, uuid};

/// An address, by small numbers.
type Place = (usize, usize, usize);

#[derive(Debug, Clone)]
enum Operation {
    /// A new memory, where it is believed that nothing lies.
    Put(Place),
    /// A new version, of the memory as it is or as it was before.
    Replace(Place, bool),
    /// Taken out of use, with its text kept.
    Delete(Place),
    /// Page through what an owner sees.
    List(usize, u32),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let place = (0..3_usize, 0..4_usize, 0..3_usize);
    let operation = prop_oneof![
        4 => place.clone().prop_map(Operation::Put),
        4 => (place.clone(), any::<bool>()).prop_map(|(place, stale)| Operation::Replace(place, stale)),
        1 => place.prop_map(Operation::Delete),
        2 => (0..3_usize, 1..6_u32).prop_map(|(who, size)| Operation::List(who, size)),
    ];
    prop::collection::vec(operation, 1..40)
}

fn owner(who: usize) -> Owner {
    [Owner::SHARED, own("ann"), own("bob")][who].clone()
}

fn level(place: usize) -> Level {
    [Level::General, project("p"), task("p", "t"), project("pp")][place].clone()
}

#[derive(Default)]
struct Model {
    current: BTreeMap<Place, Memory>,
    counters: BTreeMap<usize, i64>,
    revisions: BTreeMap<(usize, usize), i64>,
}

impl Model {
    fn write(&mut self, place: Place, memory: Memory) {
        let counter = self.counters.entry(place.0).or_default();
        *counter += 1;
        self.revisions.insert((place.0, place.1), *counter);
        self.current.insert(place, memory);
    }
}

async fn write(world: &World, expect: Expect, memory: &Memory) -> bool {
    let acting = memory.address.owner.subject().cloned().unwrap_or_else(|| subject("ann"));
    let mut change = world.change_of(memory.address.owner.clone(), acting);
    change.expect = vec![expect];
    change.writes = vec![Write::Memory(Box::new(memory.clone()))];
    let result = world.commit(change).await;
    assert!(result.is_ok() || contended(&result), "{result:?}");
    result.is_ok()
}

async fn drive(world: &World, operations: Vec<Operation>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    for operation in operations {
        match operation {
            Operation::Put(place) => {
                let memory = world.memory_at(owner(place.0), level(place.1), &format!("k{}", place.2));
                let free = !model.current.contains_key(&place);
                let written = write(world, Expect::Address(memory.address.clone(), None), &memory).await;
                prop_assert_eq!(written, free);
                if free {
                    model.write(place, memory);
                }
            }
            Operation::Replace(place, stale) => {
                let Some(current) = model.current.get(&place) else { continue };
                let memory = next(current, &format!("version {}", current.version.next().0));
                let mut expected = current.clone();
                if stale {
                    expected.id = MemoryId(uuid());
                }
                let written = write(world, expect_at(&expected), &memory).await;
                prop_assert_eq!(written, !stale);
                if written {
                    model.write(place, memory);
                }
            }
            Operation::Delete(place) => {
                let Some(current) = model.current.get(&place) else { continue };
                let mut memory = next(current, current.value.as_ref().unwrap().expose());
                memory.value_version = current.value_version;
                memory.state = State::Deleted;
                prop_assert!(write(world, expect_at(current), &memory).await);
                model.write(place, memory);
            }
            Operation::List(who, size) => compare(world, &model, who, size).await?,
        }
    }
    for who in 0..3 {
        compare(world, &model, who, 4).await?;
    }
    Ok(())
}

async fn compare(world: &World, model: &Model, who: usize, size: u32) -> Result<(), TestCaseError> {
    let name = if who == 2 { "bob" } else { "ann" };
    let reach = world.reach(name);
    let mut expected: Vec<_> =
        model.current.iter().filter(|(place, _)| place.0 == who).map(|(_, memory)| memory.clone()).collect();
    expected.sort_by_key(|memory| {
        let level = &memory.address.level;
        (level.project().to_owned(), level.task().to_owned(), memory.address.key.clone())
    });
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.memories(&reach, &Range::Owner(owner(who)), after.as_ref(), size).await.unwrap();
        for scope in &page.revisions {
            let place = (0..4).find(|place| level(*place) == scope.level).unwrap();
            prop_assert_eq!(Some(&scope.revision.0), model.revisions.get(&(who, place)));
        }
        after = page.memories.last().map(|memory| recall_gate::store::Position {
            owner: memory.address.owner.clone(),
            level: memory.address.level.clone(),
            key: memory.address.key.clone(),
        });
        listed.extend(page.memories);
        if !page.more {
            break;
        }
    }
    prop_assert_eq!(&listed, &expected);

    let view = world.view_all(name, task("p", "t")).await;
    for scope in &view.revisions {
        let place = (0..4).find(|place| level(*place) == scope.level).unwrap();
        let who = (0..3).find(|who| owner(*who) == scope.owner).unwrap();
        let revision = model.revisions.get(&(who, place)).copied().unwrap_or_default();
        prop_assert_eq!(scope.revision, Revision(revision));
    }
    let whose = [0, if who == 2 { 2 } else { 1 }];
    let seen = model.current.keys().filter(|place| whose.contains(&place.0) && place.1 < 3).count();
    prop_assert_eq!(view.memories.len(), seen);
    Ok(())
}

#[test]
fn i03_a_plain_map_and_every_store_agree() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = |engine| runtime.block_on(World::on(engine));
    let worlds = RefCell::new(ENGINES.iter().copied().map(open).collect::<Vec<_>>());
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&operations(), |operations| {
            for world in worlds.borrow_mut().iter_mut() {
                world.tenant = TenantId::new(format!("tenant-{}", uuid())).unwrap();
                runtime.block_on(drive(world, operations.clone()))?;
            }
            Ok(())
        })
        .unwrap();
}
