//! What only the embedded store promises: its files, its lock, and a database that is full.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use recall_gate::memory::{Level, Memory};
use recall_gate::store::{CommitError, Error, OpenError, Range, Sqlite, SqliteOptions, Store, Write};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::task::JoinSet;

use crate::fixture::{World, at, contended, noise, text};

/// A connection behind the service's back.
pub(crate) async fn outside(world: &World) -> SqliteConnection {
    SqliteConnectOptions::new().filename(world.path()).connect().await.unwrap()
}

async fn refusal(path: &Path) -> OpenError {
    Sqlite::open(path, SqliteOptions::default()).await.err().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_opener_is_told_which_process_holds_the_database() {
    let mut world = World::sqlite().await;
    let refused = refusal(&world.path()).await;
    assert!(matches!(refused, OpenError::Held { process_id } if process_id == Some(std::process::id())));
    assert!(refused.to_string().contains(&std::process::id().to_string()));
    world.put(&world.memory("k")).await;
    world.reopen().await;
    assert_eq!(world.view_all("ann", Level::General).await.memories.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_can_read_the_files() {
    let world = World::sqlite().await;
    world.put(&world.memory("k")).await;
    let mut names = Vec::new();
    for file in fs::read_dir(world.directory()).unwrap() {
        let file = file.unwrap();
        names.push(file.file_name().into_string().unwrap());
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{names:?}");
    }
    names.sort();
    let expected = ["memories.db", "memories.db-shm", "memories.db-wal", "memories.db.digest-key", "memories.db.lock"];
    assert_eq!(names, expected);
    assert_eq!(fs::read(world.directory().join("memories.db.digest-key")).unwrap().len(), 32);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i14_a_database_without_its_own_digest_key_is_refused_and_no_key_is_made() {
    let world = World::sqlite().await;
    world.store.close().await;
    let key = world.directory().join("memories.db.digest-key");
    let kept = fs::read(&key).unwrap();

    fs::remove_file(&key).unwrap();
    let refused = refusal(&world.path()).await;
    assert!(matches!(&refused, OpenError::KeyMissing { path } if *path == key), "{refused}");
    assert!(!key.exists());

    fs::write(&key, [1; 32]).unwrap();
    assert!(matches!(refusal(&world.path()).await, OpenError::KeyForeign { .. }));
    fs::write(&key, &kept[..31]).unwrap();
    assert!(matches!(refusal(&world.path()).await, OpenError::KeyMalformed { .. }));
    fs::write(&key, kept).unwrap();
    Sqlite::open(world.path(), SqliteOptions::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_newer_than_the_binary_is_refused() {
    let world = World::sqlite().await;
    world.store.close().await;
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (9000, 'later', 1, x'00', 0)";
    sqlx::query(sql).execute(&mut outside(&world).await).await.unwrap();
    let refused = refusal(&world.path()).await;
    assert!(matches!(refused, OpenError::SchemaNewer { found: 9000, known: 3 }), "{refused}");
    assert!(refused.to_string().contains("9000"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i13_the_text_of_an_erased_candidate_is_in_no_byte_of_any_file() {
    let world = World::sqlite().await;
    let mut candidates = Vec::new();
    for i in 0..3 {
        let mut candidate = world.candidate(&format!("zq7canary-key-{i}"));
        candidate.value = Some(text(&format!("zq7canary value {i} {}", "x".repeat(3000 * i))));
        candidate.source.reference = text("zq7canary reference");
        candidate.source.parent_references = vec![text("zq7canary parent")];
        candidate.change_reason = text("zq7canary reason");
        world.hold(&candidate).await;
        candidates.push(candidate);
    }
    assert!(found(world.directory()) > 0);
    for candidate in &candidates {
        let mut change = world.change();
        change.writes = vec![Write::EraseCandidate(candidate.id)];
        world.commit(change).await.unwrap();
    }
    world.store.close().await;
    assert_eq!(found(world.directory()), 0);
}

fn found(directory: &Path) -> usize {
    let bytes = fs::read_dir(directory).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    bytes.map(|bytes| bytes.windows(9).filter(|bytes| bytes == b"zq7canary").count()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_what_was_answered_is_there_after_the_process_is_gone() {
    let world = World::sqlite().await;
    for i in 0..20 {
        world.put(&world.memory(&format!("k{i}"))).await;
    }
    let image = tempfile::tempdir().unwrap();
    for name in ["memories.db", "memories.db-wal", "memories.db.digest-key"] {
        fs::copy(world.directory().join(name), image.path().join(name)).unwrap();
    }
    let survivor = Sqlite::open(image.path().join("memories.db"), SqliteOptions::default()).await.unwrap();
    let page = survivor.memories(&world.reach("ann"), &Range::All, None, 100).await.unwrap();
    assert_eq!(page.memories.len(), 20);
    assert_eq!(page.revisions[0].revision.0, 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_full_database_removing_old_decisions_makes_room_for_new_ones() {
    let mut world = World::sqlite().await;
    world.reopen_sqlite(SqliteOptions { max_pages: Some(200), ..SqliteOptions::default() }).await;
    let decide = |micros| {
        let mut change = world.change();
        change.judgement.decide_time = at(micros);
        change.judgement.grants = [noise(10_000)].into();
        world.commit(change)
    };
    let mut made = 0;
    while decide(made).await.is_ok() {
        made += 1;
    }
    assert!(made > 20, "{made}");
    assert!(matches!(decide(made).await, Err(CommitError::Store(Error::Unavailable(_)))));
    assert_eq!(world.store.prune(at(10), 100).await.unwrap(), 10);
    for more in 0..10 {
        decide(made + more).await.unwrap();
    }
}

/// A database that has no room for a large value, and a group that a writer from outside holds up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_database_fails_the_whole_group_and_the_next_one_works() {
    let mut world = World::sqlite().await;
    world.reopen_sqlite(SqliteOptions { max_pages: Some(120), ..SqliteOptions::default() }).await;
    world.put(&world.memory("before")).await;
    let large = Memory { value: Some(text(&"x".repeat(700_000))), ..world.memory("large") };

    let mut committed = 1;
    for round in 1..=3 {
        let before = world.ledger_counts().unwrap();
        let mut outside = outside(&world).await;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut outside).await.unwrap();
        let mut calls = JoinSet::new();
        let mut send = |memory: Memory| {
            let mut change = world.change();
            change.writes = vec![Write::Memory(Box::new(memory))];
            let store = world.store.clone();
            calls.spawn(async move { store.commit(change).await });
        };
        send(world.memory(&format!("first {round}")));
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        for i in 0..4 {
            send(world.memory(&format!("small {round} {i}")));
        }
        send(large.clone());
        for i in 4..8 {
            send(world.memory(&format!("small {round} {i}")));
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        sqlx::query("COMMIT").execute(&mut outside).await.unwrap();

        let results = calls.join_all().await;
        let unavailable = |result: &Result<_, _>| matches!(result, Err(CommitError::Store(Error::Unavailable(_))));
        let first_alone = i64::from(results.iter().any(Result::is_ok));
        assert_eq!(results.iter().filter(|result| unavailable(result)).count(), if first_alone == 1 { 9 } else { 10 });
        let groups = world.ledger_counts().unwrap().groups - before.groups;
        assert_eq!(i64::try_from(groups).unwrap(), first_alone);

        let mut next = world.change();
        next.writes = vec![Write::Memory(Box::new(world.memory(&format!("after {round}"))))];
        world.commit(next).await.unwrap();
        committed += 1 + first_alone;
        let page = world.store.memories(&world.reach("ann"), &Range::All, None, 100).await.unwrap();
        assert_eq!(i64::try_from(page.memories.len()).unwrap(), committed);
        assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, committed);
    }
    let mut stale = world.change();
    stale.expect = vec![recall_gate::store::Expect::BlockEpoch(stale.owner.clone(), 4)];
    assert!(contended(&world.commit(stale).await));
    world.reopen().await;
    world.put(&large).await;
}

/// Unlike a full disk, this error leaves the transaction open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_that_leaves_the_transaction_open_fails_its_group_and_the_next_one_works() {
    let world = World::sqlite().await;
    let overflow = "CREATE TRIGGER broken BEFORE INSERT ON memories WHEN NEW.key = 'broken' \
                    BEGIN SELECT abs(-9223372036854775808); END";
    sqlx::query(overflow).execute(&mut outside(&world).await).await.unwrap();
    for round in 1..=3 {
        let mut broken = world.change();
        broken.writes = vec![
            Write::Memory(Box::new(world.memory(&format!("beside {round}")))),
            Write::Memory(Box::new(world.memory("broken"))),
        ];
        let failed = world.commit(broken).await.unwrap_err();
        assert!(matches!(failed, CommitError::Store(Error::Unavailable(_))), "{failed:?}");
        world.put(&world.memory(&format!("after {round}"))).await;
        assert_eq!(world.number("SELECT count(*) FROM memories WHERE tenant = $1").await, round);
    }
}

#[tokio::test]
async fn a_closed_database_is_one_file() {
    let world = World::sqlite().await;
    world.put(&world.memory("k")).await;
    // So that a reader is open, too.
    world.view_all("ann", Level::General).await;
    world.store.close().await;
    let log = world.directory().join("memories.db-wal");
    assert!(!log.exists() || std::fs::metadata(&log).unwrap().len() == 0);
    let copy = tempfile::tempdir().unwrap();
    for name in ["memories.db", "memories.db.digest-key"] {
        std::fs::copy(world.directory().join(name), copy.path().join(name)).unwrap();
    }
    let copied = Sqlite::open(copy.path().join("memories.db"), SqliteOptions::default()).await.unwrap();
    let request = world.ask("ann", recall_gate::memory::Level::General);
    let request = recall_gate::store::ViewRequest { all: true, ..request };
    assert_eq!(copied.view(&request).await.unwrap().memories.len(), 1);
}
