//! What the database shows and takes by itself, whatever a statement says: raw SQL as the service's own role.

use recall_gate::memory::{Level, MemoryId, Owner, TenantId};
use recall_gate::store::{Announcement, Block, BlockCause, Write};
use sqlx::{AssertSqlSafe, Connection, PgConnection, query_scalar, raw_sql};

use crate::fixture::{at, key, own, subject, text, uuid};
use crate::ground::{APP, Ground, state};

/// The tables that the role may read, in which rows have a tenant. Partitions are read through their table alone.
const READABLE: &str = "SELECT CAST(relname AS text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
                        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attname = 'tenant' \
                        AND has_table_privilege('recall_gate_app', pg_class.oid, $1) ORDER BY 1";

const REFUSED: &str = "42501";
const NOTHING: &str = "ON CONFLICT DO NOTHING";

/// Rows of everybody in each table: of two tenants, and in each of ann, of bob and shared.
pub(crate) async fn settled() -> Ground {
    let mut ground = Ground::new().await;
    for name in ["a", "b"] {
        ground.world.tenant = TenantId::new(name).unwrap();
        for who in [own("ann"), own("bob"), Owner::SHARED] {
            let acting = who.subject().cloned().unwrap_or_else(|| subject("ann"));
            let world = &ground.world;
            let memory = world.memory_at(who.clone(), Level::General, "k");
            let mut change = world.change_of(who.clone(), acting.clone());
            let block =
                Block { owner: who.clone(), cause: BlockCause::Deleted, memory_id: Some(memory.id), since: at(3) };
            change.writes = vec![
                Write::Memory(Box::new(memory)),
                Write::Candidate(Box::new(world.candidate_at(who, Level::General, "k"))),
                Write::Block { block, reference: text("page 4"), key: key("k") },
            ];
            change.announce = Some(Announcement::Activated);
            let (mut kept, record) = world.replay(uuid());
            kept.subject = acting;
            change.replay = Some((kept, record));
            world.commit(change).await.unwrap();
        }
    }
    // What no call writes yet.
    ground
        .administer(
            "INSERT INTO reviews (tenant, owner, review_id, shown, principal, grants, state, create_time, expire_time) \
             SELECT tenant, owner, memory_id, '', 'agent', '', 1, 1, 2 FROM memories; \
             INSERT INTO deletion_jobs (tenant, owner, job_id, state, cause, decision_id, create_time, update_time) \
             SELECT tenant, owner, memory_id, 1, 1, memory_id, 1, 1 FROM memories; \
             INSERT INTO tombstones (tenant, owner, what, digest, key_id, create_time) \
             SELECT tenant, owner, 1, sha256(''), 'key', 1 FROM memories; \
             INSERT INTO idempotency SELECT tenant, '', principal, method, gen_random_uuid(), payload_digest, key_id, receipt, \
             expire_time FROM idempotency WHERE owner = 'bob'; \
             INSERT INTO decisions SELECT tenant, '', decide_time, decision_id, method, outcome, key_id, body \
             FROM decisions WHERE owner = 'bob'; \
             INSERT INTO derived_stores (tenant, derived_store, principal, position, hidden_seconds, purged_seconds, \
             register_time) SELECT DISTINCT tenant, 'index', 'agent', 0, 1, 1, 1 FROM memories; \
             INSERT INTO acknowledgements SELECT tenant, 'index', memory_id, 1, 1, '', 1 FROM memories",
        )
        .await;
    ground
}

/// The tables for which the role has a right.
async fn tables(ground: &Ground, right: &str) -> Vec<String> {
    let tables: Vec<String> = query_scalar(READABLE).bind(right).fetch_all(&mut ground.admin().await).await.unwrap();
    assert!(tables.len() >= 2, "{right}: {tables:?}");
    tables
}

async fn number(connection: &mut PgConnection, sql: &str) -> i64 {
    query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await.unwrap()
}

/// Begins a transaction of a tenant's subject.
async fn begin(connection: &mut PgConnection, tenant: &str, who: &str) {
    let sql =
        format!("BEGIN; SELECT set_config('rg.tenant', '{tenant}', true), set_config('rg.subject', '{who}', true)");
    raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

async fn end(connection: &mut PgConnection) {
    raw_sql("ROLLBACK").execute(connection).await.unwrap();
}

async fn refused(connection: &mut PgConnection, sql: String) {
    raw_sql("SAVEPOINT before").execute(&mut *connection).await.unwrap();
    let done = raw_sql(AssertSqlSafe(sql.clone())).execute(&mut *connection).await;
    assert_eq!(state(done), REFUSED, "{sql}");
    raw_sql("ROLLBACK TO SAVEPOINT before").execute(connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_a_query_without_any_predicate_gets_own_and_shared_rows_alone() {
    let ground = settled().await;
    let mut app = ground.connect(APP).await;
    for table in tables(&ground, "SELECT").await {
        let all = ground.number(&format!("SELECT count(*) FROM {table}")).await;
        for who in ["ann", "bob", ""] {
            begin(&mut app, "a", who).await;
            let foreign = if ["derived_stores", "acknowledgements"].contains(&table.as_str()) {
                format!("SELECT count(*) FROM {table} WHERE tenant <> 'a'")
            } else {
                format!("SELECT count(*) FROM {table} WHERE tenant <> 'a' OR owner NOT IN ('', '{who}')")
            };
            assert_eq!(number(&mut app, &foreign).await, 0, "{table}");
            let seen = number(&mut app, &format!("SELECT count(*) FROM {table}")).await;
            assert!(seen > 0 && seen < all, "{table}: {seen} of {all}");
            end(&mut app).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_b35_without_a_tenant_there_is_nothing_and_nothing_is_taken() {
    let ground = settled().await;
    for url in [ground.url(APP), ground.pooled(APP)] {
        let mut app = PgConnection::connect(&url).await.unwrap();
        for table in tables(&ground, "SELECT").await {
            let count = format!("SELECT count(*) FROM {table}");
            let none = async |app: &mut PgConnection| {
                let row = raw_sql(AssertSqlSafe(count.clone())).fetch_one(app).await.unwrap();
                assert_eq!(sqlx::Row::get::<i64, _>(&row, 0), 0, "{table}");
            };
            // Never set; set to nothing; and after a transaction in which it was set.
            none(&mut app).await;
            begin(&mut app, "", "ann").await;
            none(&mut app).await;
            end(&mut app).await;
            begin(&mut app, "a", "ann").await;
            raw_sql("COMMIT").execute(&mut app).await.unwrap();
            none(&mut app).await;
            raw_sql("BEGIN").execute(&mut app).await.unwrap();
            none(&mut app).await;
            end(&mut app).await;
        }
        for set in ["", "SELECT set_config('rg.tenant', '', true);", "SELECT set_config('rg.tenant', 'a', true);"] {
            // As one text it is one transaction. With a tenant, somebody's row still takes somebody.
            let insert = format!("{set} INSERT INTO owners (tenant, owner) VALUES ('a', 'carl')");
            assert_eq!(state(raw_sql(AssertSqlSafe(insert)).execute(&mut app).await), REFUSED, "{set}");
        }
        let left =
            raw_sql("SELECT coalesce(current_setting('rg.tenant', true), '')").fetch_one(&mut app).await.unwrap();
        assert_eq!(sqlx::Row::get::<String, _>(&left, 0), "");
    }
    assert_eq!(ground.number("SELECT count(*) FROM owners WHERE owner = 'carl'").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_a_row_of_another_tenant_or_owner_is_neither_written_nor_touched() {
    let ground = settled().await;
    let mut app = ground.connect(APP).await;
    let by_tenant_alone = ["derived_stores", "acknowledgements"];
    let columns = |table: &str| if by_tenant_alone.contains(&table) { 1 } else { 2 };
    begin(&mut app, "a", "ann").await;
    for table in tables(&ground, "INSERT").await {
        for (column, other) in [("tenant", "b"), ("owner", "bob")].into_iter().take(columns(&table)) {
            for (other, on_conflict) in [(other, ""), (other, NOTHING), ("nobody", NOTHING)] {
                // The answer does not tell whether such a row is there.
                let copy = format!(
                    "INSERT INTO {table} SELECT (jsonb_populate_record(own, '{{\"{column}\": \"{other}\"}}')).* \
                     FROM {table} AS own LIMIT 1 {on_conflict}"
                );
                refused(&mut app, copy).await;
            }
        }
    }
    for table in tables(&ground, "UPDATE").await {
        for (column, other) in [("tenant", "b"), ("owner", "bob")].into_iter().take(columns(&table)) {
            refused(&mut app, format!("UPDATE {table} SET {column} = '{other}'")).await;
        }
        let own = number(&mut app, &format!("SELECT count(*) FROM {table}")).await;
        let touch = AssertSqlSafe(format!("UPDATE {table} SET tenant = tenant"));
        let touched = raw_sql(touch).execute(&mut app).await.unwrap().rows_affected();
        assert_eq!(i64::try_from(touched).unwrap(), own, "{table}");
    }
    let removable = tables(&ground, "DELETE").await;
    assert_eq!(removable, ["blocks", "candidates"]);
    for table in removable {
        let all = ground.number(&format!("SELECT count(*) FROM {table}")).await;
        let gone = raw_sql(AssertSqlSafe(format!("DELETE FROM {table}"))).execute(&mut app).await.unwrap();
        assert!(gone.rows_affected() > 0 && i64::try_from(gone.rows_affected()).unwrap() < all, "{table}");
    }
    end(&mut app).await;
}

/// A key that another tenant has is free: no refusal, and no silence, tells of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_no_key_of_another_tenant_is_in_the_way() {
    let mut ground = settled().await;
    let shared_keys = "SELECT CAST(indexrelid::regclass AS text) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid \
                       JOIN pg_attribute AS first ON first.attrelid = indrelid AND first.attnum = indkey[0] \
                       WHERE relnamespace = 'public'::regnamespace AND indisunique AND first.attname <> 'tenant' \
                       AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = indrelid AND attname = 'tenant')";
    let shared_keys: Vec<String> = query_scalar(shared_keys).fetch_all(&mut ground.admin().await).await.unwrap();
    assert_eq!(shared_keys, [""; 0]);

    let taken = query_scalar("SELECT memory_id FROM memories WHERE tenant = 'b' AND owner = 'ann'");
    let taken = MemoryId(taken.fetch_one(&mut ground.admin().await).await.unwrap());
    ground.world.tenant = TenantId::new("c").unwrap();
    let mut memory = ground.world.memory("k");
    memory.id = taken;
    ground.world.put(&memory).await;
    assert_eq!(ground.world.store.memory(&ground.world.reach("ann"), taken).await.unwrap(), Some(memory));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_a_partition_of_the_ledger_is_out_of_everybodys_reach() {
    let ground = settled().await;
    let partitions = "SELECT CAST(relname AS text) FROM pg_class WHERE relispartition AND relkind = 'r'";
    let partitions: Vec<String> = query_scalar(partitions).fetch_all(&mut ground.admin().await).await.unwrap();
    assert!(partitions.len() > 10 && partitions.contains(&"decisions_default".to_owned()), "{partitions:?}");
    for role in [APP, "recall_gate_ledger", "recall_gate_feeder", "recall_gate_worker"] {
        let mut connection = ground.connect(role).await;
        begin(&mut connection, "a", "ann").await;
        for partition in &partitions {
            refused(&mut connection, format!("SELECT tenant FROM {partition}")).await;
            refused(&mut connection, format!("INSERT INTO {partition} (tenant) VALUES ('a')")).await;
            refused(&mut connection, format!("DELETE FROM {partition}")).await;
        }
        end(&mut connection).await;
    }
}
