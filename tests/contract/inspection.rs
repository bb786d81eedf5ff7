//! What an operator may look at from outside, beside the service that runs on a database.

use std::path::Path;

use recall_gate::memory::{Level, Memory, MemoryId, Owner, State, TenantId, Text, Time};
use recall_gate::store::{Inspection, OpenError, Write};

use crate::embedded::outside;
use crate::fixture::{World, at, noise, own, project, task};

async fn inspect(world: &World) -> Inspection {
    Inspection::open(&world.path()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_memory_of_every_tenant_is_read_once_in_order_with_its_value_and_no_other_text() {
    let mut world = World::sqlite().await;
    let mut put = Vec::new();
    for tenant in ["b", "a"] {
        world.tenant = TenantId::new(tenant).unwrap();
        for (owner, level) in
            [(own("zoe"), project("p")), (Owner::SHARED, task("p", "t")), (own("ann"), Level::General)]
        {
            for key in ["one", "two"] {
                let memory = world.memory_at(owner.clone(), level.clone(), key);
                world.put(&memory).await;
                put.push(memory);
            }
        }
    }
    put.sort_by(|a, b| a.address.cmp(&b.address));
    let mut inspection = inspect(&world).await;
    let mut read: Vec<Memory> = Vec::new();
    loop {
        let page = inspection.memories(read.last().map(|memory| &memory.address), 5).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 5);
        read.extend(page);
    }
    let ids = |memories: &[Memory]| memories.iter().map(|memory| memory.id).collect::<Vec<MemoryId>>();
    assert_eq!(ids(&read), ids(&put));
    for (read, mut put) in read.into_iter().zip(put) {
        put.source.reference = Text::default();
        put.source.parent_references = Vec::new();
        put.change_reason = Text::default();
        put.tokens = None;
        assert_eq!(read, put);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_memory_is_read_without_a_value() {
    let world = World::sqlite().await;
    let mut forgotten = world.memory("k");
    (forgotten.state, forgotten.value) = (State::Forgotten, None);
    world.put(&forgotten).await;
    let page = inspect(&world).await.memories(None, 10).await.unwrap();
    assert_eq!((page[0].state, &page[0].value), (State::Forgotten, &None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_ledger_is_measured_while_it_is_written() {
    let world = World::sqlite().await;
    let mut inspection = inspect(&world).await;
    let empty = inspection.ledger_size().await.unwrap();
    assert_eq!((empty.decisions, empty.oldest, empty.newest), (0, None, None));
    for micros in [5, 3, 9] {
        let mut change = world.change();
        change.judgement.decide_time = at(micros);
        change.judgement.grants = [noise(20_000)].into();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{micros}"))))];
        world.commit(change).await.unwrap();
    }
    let size = inspection.ledger_size().await.unwrap();
    assert_eq!((size.decisions, size.oldest, size.newest), (3, Some(at(3)), Some(at(9))));
    assert!(size.bytes >= empty.bytes + 60_000, "{size:?}");
    assert!(size.file_bytes > size.bytes && size.reusable_bytes < 60_000, "{size:?}");
    for (before, number) in [(3, 0), (4, 1), (9, 2), (10, 3)] {
        assert_eq!(inspection.decisions_before(at(before)).await.unwrap(), number);
    }
    assert_eq!(inspection.decisions_before(Time::from_micros(i64::MAX)).await.unwrap(), 3);

    world.store.prune(at(6), 10).await.unwrap();
    let pruned = inspection.ledger_size().await.unwrap();
    assert_eq!((pruned.decisions, pruned.oldest), (1, Some(at(9))));
    assert!(pruned.bytes <= size.bytes - 40_000 && pruned.reusable_bytes >= 40_000, "{pruned:?}");
    assert_eq!(pruned.file_bytes, size.file_bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inspection_opens_no_database_that_is_not_there_or_not_of_this_schema() {
    let world = World::sqlite().await;
    let nowhere = world.directory().join("nowhere.db");
    assert!(matches!(Inspection::open(&nowhere).await, Err(OpenError::Database(_))));
    assert!(!nowhere.exists());
    let alter = async |sql: &'static str| sqlx::query(sql).execute(&mut outside(&world).await).await.unwrap();
    let refused = async |path: &Path| Inspection::open(path).await.err().unwrap();
    alter("UPDATE _sqlx_migrations SET version = version + 8997 WHERE version > 2").await;
    assert!(matches!(refused(&world.path()).await, OpenError::SchemaNewer { found: 9000, known: 3 }));
    alter("UPDATE _sqlx_migrations SET success = FALSE").await;
    assert!(matches!(refused(&world.path()).await, OpenError::SchemaOlder { found: 0, known: 3 }));
    alter("DROP TABLE _sqlx_migrations").await;
    assert!(matches!(refused(&world.path()).await, OpenError::SchemaOlder { found: 0, known: 3 }));
}
