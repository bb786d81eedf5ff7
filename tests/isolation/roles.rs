//! Which role may do what, on which table: as it is granted, and as it is tried.

use sqlx::{AssertSqlSafe, query_as, raw_sql};

use crate::ground::{Ground, state};

/// A letter for each right on the whole table, in lower case where it is on some columns alone.
const RIGHTS: &str = "\
    SELECT substr(rolname, 13), CAST(relname AS text), rights FROM pg_roles CROSS JOIN pg_class CROSS JOIN LATERAL (
        SELECT string_agg(CASE WHEN has_table_privilege(rolname, pg_class.oid, verb) THEN letter
            WHEN verb IN ('SELECT', 'INSERT', 'UPDATE') AND has_any_column_privilege(rolname, pg_class.oid, verb)
            THEN lower(letter) ELSE '' END, '' ORDER BY place) AS rights
        FROM (VALUES (1, 'SELECT', 'S'), (2, 'INSERT', 'I'), (3, 'UPDATE', 'U'), (4, 'DELETE', 'D'), \
            (5, 'TRUNCATE', 'T'), (6, 'REFERENCES', 'R'), (7, 'TRIGGER', 'G')) AS verbs (place, verb, letter)) AS granted
    WHERE rolname LIKE 'recall\\_gate\\_%' AND rolname <> 'recall_gate_migrator'
        AND relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND rights <> ''
    ORDER BY 1, 2";

const GRANTED: [(&str, &str); 4] = [
    (
        "app",
        "_sqlx_migrations:S acknowledgements:SI blocks:SID candidates:SID decisions:SI deletion_jobs:SIU \
         derived_stores:SIU feed:SI idempotency:SIU leases:SIU lineage:SI memories:SIU memory_versions:SIU meta:SI \
         owners:SIU policies:SI reviews:SIU revisions:SIU tombstones:SIU",
    ),
    ("feeder", "_sqlx_migrations:S feed:Su leases:SIU tenants:SIU"),
    ("ledger", "_sqlx_migrations:S decisions:I revisions:s"),
    ("worker", "_sqlx_migrations:S candidates:sD decisions:sD idempotency:sD"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_each_role_has_the_rights_that_its_work_takes_and_no_more() {
    let ground = Ground::new().await;
    let rights: Vec<(String, String, String)> = query_as(RIGHTS).fetch_all(&mut ground.admin().await).await.unwrap();
    for (role, granted) in GRANTED {
        let has: Vec<_> = rights.iter().filter(|one| one.0 == role).map(|one| format!("{}:{}", one.1, one.2)).collect();
        assert_eq!(has.join(" "), granted, "{role}");
    }
    assert!(rights.iter().all(|one| GRANTED.iter().any(|(role, _)| *role == one.0)), "{rights:?}");
}

/// Each column with text, and what people could be known by, tried by each role that works across tenants.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_who_works_across_tenants_reads_no_text() {
    let ground = Ground::new().await;
    let columns = "SELECT CAST(table_name AS text), CAST(column_name AS text) FROM information_schema.columns \
                   WHERE table_schema = 'public' AND table_name NOT LIKE 'decisions\\_%' AND column_name IN ('value', \
                   'tokens', 'source_reference', 'parent_references', 'change_reason', 'shown', 'receipt', 'document', \
                   'body', 'payload_digest')";
    let columns: Vec<(String, String)> = query_as(columns).fetch_all(&mut ground.admin().await).await.unwrap();
    assert!(columns.len() > 15, "{columns:?}");
    for role in ["ledger", "feeder", "worker"] {
        let mut connection = ground.connect(&format!("recall_gate_{role}")).await;
        for (table, column) in &columns {
            for sql in [
                format!("SELECT {column} FROM {table}"),
                format!("SELECT 1 FROM {table} WHERE {column} IS NULL"),
                format!("SELECT {table} FROM {table}"),
            ] {
                assert_eq!(
                    state(raw_sql(AssertSqlSafe(sql.clone())).execute(&mut connection).await),
                    "42501",
                    "{role}: {sql}"
                );
            }
        }
    }
}

/// The worker finds everywhere, and removes of one owner at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_the_worker_removes_nothing_without_a_tenant_and_an_owner() {
    let ground = Ground::new().await;
    let world = &ground.world;
    world.hold(&world.candidate("k")).await;
    let mut worker = ground.connect("recall_gate_worker").await;
    let tenant = world.tenant.as_str();
    let removed = async |worker: &mut sqlx::PgConnection, tenant: &str, owner: &str| {
        let sql = format!(
            "BEGIN; SELECT set_config('rg.tenant', '{tenant}', true), set_config('rg.subject', '{owner}', true)"
        );
        raw_sql(AssertSqlSafe(sql)).execute(&mut *worker).await.unwrap();
        let removed = raw_sql("DELETE FROM candidates").execute(&mut *worker).await.unwrap().rows_affected();
        raw_sql("ROLLBACK").execute(worker).await.unwrap();
        removed
    };
    let found = raw_sql("SELECT tenant, owner FROM candidates").fetch_all(&mut worker).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(raw_sql("DELETE FROM candidates").execute(&mut worker).await.unwrap().rows_affected(), 0);
    for (tenant, owner, many) in
        [("", "ann", 0), (tenant, "", 0), (tenant, "bob", 0), ("other", "ann", 0), (tenant, "ann", 1)]
    {
        assert_eq!(removed(&mut worker, tenant, owner).await, many, "{tenant} {owner}");
    }
}
