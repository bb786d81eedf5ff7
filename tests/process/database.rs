//! The database file, read as it lies there, beside the service or without one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::unpacked::unpacked;

/// A database that cannot be changed through this.
pub(crate) struct Database(Mutex<SqliteConnection>);

/// Runs one statement that changes a database which no service holds.
pub(crate) async fn run(path: &Path, sql: &'static str) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

/// Copies a database that a service may hold, by SQLite's own means.
pub(crate) async fn copy(from: &Path, to: &Path) {
    let mut connection = SqliteConnectOptions::new().filename(from).read_only(true).connect().await.unwrap();
    sqlx::query("VACUUM INTO $1").bind(to.to_str().unwrap()).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

impl Database {
    pub(crate) async fn open(path: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(path).read_only(true).pragma("query_only", "ON");
        Self(Mutex::new(options.connect().await.unwrap()))
    }

    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&mut *self.0.lock().await).await.unwrap()
    }

    pub(crate) async fn text(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql).fetch_one(&mut *self.0.lock().await).await.unwrap()
    }

    pub(crate) async fn blobs(&self, sql: &'static str) -> Vec<Vec<u8>> {
        sqlx::query_scalar(sql).fetch_all(&mut *self.0.lock().await).await.unwrap()
    }

    /// Whether the ledger has that decision of the development tenant.
    pub(crate) async fn has_decision(&self, decision_id: &str) -> bool {
        let sql = "SELECT count(*) FROM decisions WHERE tenant = 'dev' AND decision_id = $1";
        let found = sqlx::query_scalar(sql).bind(Uuid::parse_str(decision_id).unwrap());
        let found: i64 = found.fetch_one(&mut *self.0.lock().await).await.unwrap();
        found == 1
    }

    /// Every version of every memory: its value.
    pub(crate) async fn versions(&self) -> BTreeMap<(Uuid, i64), String> {
        let sql = "SELECT memory_id, version, value FROM memory_versions";
        let rows: Vec<(Uuid, i64, String)> = sqlx::query_as(sql).fetch_all(&mut *self.0.lock().await).await.unwrap();
        rows.into_iter().map(|(id, version, value)| ((id, version), value)).collect()
    }

    /// The versions of one memory of the development subject, from that one on: their values.
    pub(crate) async fn versions_from(&self, memory_id: Uuid, first: i64) -> BTreeMap<(Uuid, i64), String> {
        let sql = "SELECT version, value FROM memory_versions WHERE tenant = 'dev' AND owner = 'dev' \
                   AND memory_id = $1 AND version >= $2";
        let rows = sqlx::query_as(sql).bind(memory_id).bind(first);
        let rows: Vec<(i64, String)> = rows.fetch_all(&mut *self.0.lock().await).await.unwrap();
        rows.into_iter().map(|(version, value)| ((memory_id, version), value)).collect()
    }

    /// The last row of the ledger. A later one has a higher number.
    pub(crate) async fn end_of_ledger(&self) -> i64 {
        self.number("SELECT coalesce(max(rowid), 0) FROM decisions").await
    }

    /// How often each version was decided on in the rows after that one.
    pub(crate) async fn decided_after(&self, row: i64) -> BTreeMap<(Uuid, i64), usize> {
        let sql = "SELECT body FROM decisions WHERE rowid > $1 AND outcome IN ('ACTIVATED', 'DONE')";
        let bodies: Vec<Vec<u8>> =
            sqlx::query_scalar(sql).bind(row).fetch_all(&mut *self.0.lock().await).await.unwrap();
        let mut decided = BTreeMap::new();
        for body in bodies {
            for verdict in <Decision as prost::Message>::decode(unpacked(&body).as_slice()).unwrap().verdicts {
                let version = verdict.attributes.unwrap_or_default().version;
                *decided.entry((Uuid::from_slice(&verdict.memory_id).unwrap(), version)).or_insert(0) += 1;
            }
        }
        decided
    }

    /// What is at an address of the development subject: id, version, state, value.
    pub(crate) async fn at(&self, project: &str, key: &str) -> Option<(Uuid, i64, i64, String)> {
        let sql = "SELECT memory_id, version, state, value FROM memories WHERE tenant = 'dev' AND owner = 'dev' \
                   AND project = $1 AND task = '' AND key = $2";
        sqlx::query_as(sql).bind(project).bind(key).fetch_optional(&mut *self.0.lock().await).await.unwrap()
    }

    /// Rows, revisions, feed, decisions and kept outcomes must tell of the same changes (I5), and the file be whole.
    pub(crate) async fn assert_consistent(&self) {
        assert_eq!(self.text("PRAGMA integrity_check").await, "ok");
        for (what, sql) in NONE_OF_THESE {
            assert_eq!(self.number(sql).await, 0, "{what}");
        }
        self.assert_every_version_has_its_decision().await;
        self.assert_every_kept_outcome_has_its_decision().await;
    }

    async fn assert_every_version_has_its_decision(&self) {
        let recorded = self.decided_after(0).await;
        let versions: BTreeMap<_, _> = self.versions().await.into_keys().map(|version| (version, 1)).collect();
        assert_eq!(recorded, versions, "decisions on the left, versions on the right");
    }

    async fn assert_every_kept_outcome_has_its_decision(&self) {
        let kept = self.blobs("SELECT receipt FROM idempotency").await;
        let ledger: BTreeSet<Vec<u8>> = self.blobs("SELECT decision_id FROM decisions").await.into_iter().collect();
        for receipt in kept {
            let decision_id = <Receipt as prost::Message>::decode(receipt.as_slice()).unwrap().decision_id;
            assert!(ledger.contains(&decision_id), "{decision_id:02x?} is kept and not in the ledger");
        }
    }
}

/// What must count no rows, on either engine.
pub(crate) const NONE_OF_THESE: &[(&str, &str)] = &[
    (
        "memories that are not the newest version of themselves",
        "SELECT count(*) FROM memories m LEFT JOIN memory_versions v ON v.tenant = m.tenant AND v.owner = m.owner \
         AND v.memory_id = m.memory_id AND v.version = m.version AND v.superseded_by IS NULL AND v.value = m.value \
         AND v.counter = m.counter AND v.state = m.state WHERE v.version IS NULL",
    ),
    (
        "versions without their memory",
        "SELECT count(*) FROM memory_versions v WHERE NOT EXISTS (SELECT 1 FROM memories m \
         WHERE m.tenant = v.tenant AND m.owner = v.owner AND m.memory_id = v.memory_id)",
    ),
    (
        "memories with a gap in their versions",
        "SELECT count(*) FROM (SELECT 1 FROM memory_versions GROUP BY tenant, memory_id \
         HAVING count(*) <> max(version) OR min(version) <> 1) AS gaps",
    ),
    (
        "versions that are superseded by another than the next",
        "SELECT count(*) FROM memory_versions v WHERE v.superseded_by IS NOT NULL AND v.superseded_by <> v.version + 1",
    ),
    (
        "versions without an event in the feed",
        "SELECT count(*) FROM memory_versions v LEFT JOIN feed f ON f.tenant = v.tenant AND f.owner = v.owner \
         AND f.memory_id = v.memory_id AND f.version = v.version AND f.counter = v.counter \
         AND f.value_version = v.value_version WHERE f.version IS NULL",
    ),
    (
        "more or fewer events than versions",
        "SELECT abs((SELECT count(*) FROM feed) - (SELECT count(*) FROM memory_versions))",
    ),
    (
        "tenants whose feed has gaps",
        "SELECT count(*) FROM tenants t WHERE t.feed_position <> (SELECT count(*) FROM feed f WHERE f.tenant = t.tenant) \
         OR t.feed_position <> (SELECT max(position) FROM feed f WHERE f.tenant = t.tenant)",
    ),
    (
        "owners whose counter is not that of their last event",
        "SELECT count(*) FROM owners o WHERE o.counter <> \
         (SELECT coalesce(max(f.counter), 0) FROM feed f WHERE f.tenant = o.tenant AND f.owner = o.owner)",
    ),
    (
        "scopes whose revision is not that of their last change",
        "SELECT count(*) FROM revisions r WHERE r.revision <> (SELECT max(f.counter) FROM feed f \
         WHERE f.tenant = r.tenant AND f.owner = r.owner AND f.project = r.project AND f.task = r.task)",
    ),
    (
        "decisions of a policy that is not kept",
        "SELECT count(*) FROM decisions WHERE NOT EXISTS (SELECT 1 FROM policies)",
    ),
];

/// What is needed of the stored decision.
#[derive(Clone, PartialEq, prost::Message)]
struct Decision {
    #[prost(message, repeated, tag = "13")]
    verdicts: Vec<StoredVerdict>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredVerdict {
    #[prost(bytes = "vec", tag = "1")]
    memory_id: Vec<u8>,
    #[prost(message, optional, tag = "8")]
    attributes: Option<Attributes>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Attributes {
    #[prost(int64, tag = "8")]
    version: i64,
}

/// What is needed of a kept outcome.
#[derive(Clone, PartialEq, prost::Message)]
struct Receipt {
    #[prost(bytes = "vec", tag = "1")]
    decision_id: Vec<u8>,
}
