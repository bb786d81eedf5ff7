//! What the schema says of itself: each table that has tenants keeps them apart, and is seen not to where it does not.

use sqlx::{PgConnection, query_as, query_scalar};

use crate::ground::{Ground, open};
use recall_gate::store::{OpenError, Postgres};

/// The tables of tenants that are not under row-level security, or only for others than their owner.
const OPEN: &str = "SELECT 'not forced: ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                    AND relkind IN ('r', 'p') AND NOT relispartition AND EXISTS (SELECT FROM pg_attribute \
                    WHERE attrelid = pg_class.oid AND attname = 'tenant') \
                    AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1";

/// The service's policies: on which table, for what, and whom they show and take.
const POLICIES: &str = "SELECT CAST(tablename AS text), cmd || ' ' || permissive, \
                        regexp_replace(coalesce(qual, ''), '\\s+|::text', '', 'g'), \
                        regexp_replace(coalesce(with_check, ''), '\\s+|::text', '', 'g') FROM pg_policies \
                        WHERE schemaname = 'public' AND roles = '{recall_gate_app}' ORDER BY 1, 2";

const TENANT: &str = "(tenant=NULLIF(current_setting('rg.tenant',true),''))";
const OWNER: &str = "(owner=ANY(ARRAY[COALESCE(current_setting('rg.subject',true),''),'']))";

/// What is wrong with how a database keeps its tenants apart.
async fn faults(connection: &mut PgConnection) -> Vec<String> {
    let mut faults: Vec<String> = query_scalar(OPEN).fetch_all(&mut *connection).await.unwrap();
    let tables = "SELECT CAST(relname AS text), EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid \
                  AND attname = 'owner') FROM pg_class JOIN pg_attribute AS first ON first.attrelid = pg_class.oid \
                  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition \
                  AND first.attname = 'tenant' ORDER BY 1";
    let tables: Vec<(String, bool)> = query_as(tables).fetch_all(&mut *connection).await.unwrap();
    assert!(tables.len() >= 16, "{tables:?}");
    let policies: Vec<(String, String, String, String)> = query_as(POLICIES).fetch_all(&mut *connection).await.unwrap();
    for (table, has_owner) in tables {
        let its: Vec<_> = policies.iter().filter(|policy| policy.0 == table).collect();
        // The service has no business with the feed's counters.
        let wanted = usize::from(table != "tenants");
        let rule = if has_owner { format!("({TENANT}AND{OWNER})") } else { TENANT.to_owned() };
        let sound =
            its.iter().all(|(_, what, shows, takes)| what == "ALL PERMISSIVE" && *shows == rule && *takes == rule);
        if its.len() != wanted || !sound {
            faults.push(format!("not kept apart: {table}: {its:?}"));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_b35_every_table_with_tenants_shows_and_takes_the_rows_of_one() {
    let ground = Ground::new().await;
    assert_eq!(faults(&mut ground.admin().await).await, [""; 0]);
}

/// What an operator, or a migration, could do to the schema; how it is undone; what it is called at start.
const HARM: [(&str, &str, &str); 10] = [
    (
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE memories FORCE ROW LEVEL SECURITY",
        "not forced on the table `memories`",
    ),
    (
        "ALTER TABLE idempotency DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY",
        "not forced on the table `idempotency`",
    ),
    ("CREATE TABLE more (tenant text, value text)", "DROP TABLE more", "not forced on the table `more`"),
    (
        "CREATE POLICY wide ON memories TO recall_gate_app USING (true)",
        "DROP POLICY wide ON memories",
        "`memories.wide` shows the app role",
    ),
    (
        "CREATE POLICY wide ON candidates TO PUBLIC USING (owner = '')",
        "DROP POLICY wide ON candidates",
        "`candidates.wide` shows the app role",
    ),
    (
        "DROP POLICY app ON blocks",
        "CREATE POLICY app ON blocks TO recall_gate_app USING (tenant = NULLIF(current_setting('rg.tenant', true), '') \
         AND owner IN (COALESCE(current_setting('rg.subject', true), ''), '')) WITH CHECK (tenant = \
         NULLIF(current_setting('rg.tenant', true), '') AND owner IN (COALESCE(current_setting('rg.subject', true), ''), \
         ''))",
        "no policy lets the app role `recall_gate_app` see its rows of the table `blocks`",
    ),
    (
        "ALTER POLICY app ON reviews USING (tenant = NULLIF(current_setting('rg.tenant', true), ''))",
        "ALTER POLICY app ON reviews USING (tenant = NULLIF(current_setting('rg.tenant', true), '') \
         AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))",
        "`reviews.app` shows the app role",
    ),
    (
        "GRANT SELECT ON decisions_default TO recall_gate_app",
        "REVOKE SELECT ON decisions_default FROM recall_gate_app",
        "rights on the partition `decisions_default`",
    ),
    (
        "GRANT SELECT (value) ON candidates TO recall_gate_worker",
        "REVOKE SELECT (value) ON candidates FROM recall_gate_worker",
        "can read the text in `candidates.value`",
    ),
    (
        "ALTER TABLE memories OWNER TO recall_gate_app",
        "ALTER TABLE memories OWNER TO recall_gate_migrator; GRANT SELECT, INSERT, UPDATE ON memories TO recall_gate_app",
        "owns the table `memories`",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b35_a_schema_that_lets_tenants_meet_is_refused_at_start() {
    let ground = Ground::new().await;
    for (harm, undo, said) in HARM {
        ground.administer(harm).await;
        match Postgres::open(ground.options(1)).await {
            Err(OpenError::Unfit { faults }) => assert!(faults.join("\n").contains(said), "{harm}: {faults:?}"),
            other => panic!("{harm}: {:?}", other.err()),
        }
        ground.administer(undo).await;
    }
    assert_eq!(faults(&mut ground.admin().await).await, [""; 0], "all of it is undone");
    open(ground.options(1)).await;
}

/// What only the schema's own test would see has to be seen by it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b35_the_look_at_the_schema_sees_each_harm() {
    let ground = Ground::new().await;
    for harm in [
        "DROP POLICY app ON blocks",
        "ALTER POLICY app ON feed WITH CHECK (true)",
        "ALTER POLICY app ON tombstones USING (true)",
        "CREATE POLICY more ON owners TO recall_gate_app USING (true)",
        "ALTER TABLE lineage NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE revisions DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE more (tenant text)",
    ] {
        let mut admin = ground.admin().await;
        sqlx::raw_sql("BEGIN").execute(&mut admin).await.unwrap();
        sqlx::raw_sql(harm).execute(&mut admin).await.unwrap();
        assert!(!faults(&mut admin).await.is_empty(), "{harm}");
    }
}
