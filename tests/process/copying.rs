//! Copies of the database: by SQLite's own means, with the digest key, they open; without the key they do not.

use std::path::Path;

use crate::callers::{Caller, deletion, fact, recall_all, values};
use crate::database::{self, Database};
use crate::program::{Service, run};

/// Copies the database of a running service as SQLite does it: whole, at one moment, with what is still in the log.
async fn snapshot(from: &Path, folder: &Path) {
    database::copy(from, &folder.join("recall-gate.db")).await;
}

#[tokio::test]
async fn a_copy_of_a_running_service_by_sqlite_itself_has_all_that_was_acknowledged() {
    let service = Service::start(&[]);
    let mut caller = Caller::nobody(&service.address).await;
    let kept = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    let gone = caller.capture.capture(fact("ui_theme", "zq7 dark")).await.unwrap().into_inner();
    let deleted = caller.delete.delete(deletion(&gone.memory_id, 1)).await.unwrap().into_inner();

    let copy = tempfile::tempdir().unwrap();
    snapshot(&service.database(), copy.path()).await;
    let key = "recall-gate.db.digest-key";
    let refused = run(copy.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("digest key is missing"), "{}", refused.err);

    std::fs::copy(service.path().join(key), copy.path().join(key)).unwrap();
    let restored = Service::start_in(copy, &[]);
    let mut caller = Caller::nobody(&restored.address).await;
    let reply = caller.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"], "what was deleted before the copy stays deleted");
    let database = Database::open(&restored.database()).await;
    for id in [kept.decision_id, gone.decision_id, deleted.decision_id] {
        assert!(database.has_decision(&id).await, "{id}");
    }
    database.assert_consistent().await;
}

#[tokio::test]
async fn i12_what_was_deleted_before_a_kill_stays_deleted() {
    let mut service = Service::start(&[]);
    let mut caller = Caller::nobody(&service.address).await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    service.running.kill();
    let log = service.path().join("recall-gate.db-wal");
    assert!(log.metadata().unwrap().len() > 0, "the deletion is in the log alone");
    let again = Service::start_in(service.folder, &[]);
    let mut caller = Caller::nobody(&again.address).await;
    let reply = caller.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
}
