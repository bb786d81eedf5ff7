//! What the other tests stand on: the server that they start, and the databases that they are given.

use std::time::{Duration, Instant};

use sqlx::{Connection, PgConnection, Row};

use crate::backdoor::Backdoor;
use crate::held::Held;
use crate::home::{Engine, Home};
use crate::pgbouncer;
use crate::postgres::{MIGRATOR, SUPERUSER, address, database, server};

async fn one<T>(url: &str, sql: &'static str) -> T
where
    T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    let mut connection = PgConnection::connect(url).await.unwrap();
    let answer = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_has_the_schema_and_nobody_elses_rows_and_goes_with_its_test() {
    let [mine, yours] = [database().await, database().await];
    let add = "WITH added AS (INSERT INTO tenants (tenant) VALUES ('t') RETURNING 1) SELECT count(*) FROM added";
    assert_eq!(one::<i64>(&mine.url(SUPERUSER), add).await, 1);
    assert_eq!(one::<i64>(&mine.url(SUPERUSER), "SELECT count(*) FROM tenants").await, 1);
    assert_eq!(one::<i64>(&yours.url(SUPERUSER), "SELECT count(*) FROM tenants").await, 0);
    assert_eq!(one::<String>(&mine.url(MIGRATOR), "SELECT current_user::text").await, MIGRATOR);

    let gone = mine.url(SUPERUSER);
    drop(mine);
    let begin = Instant::now();
    while PgConnection::connect(&gone).await.is_ok() {
        assert!(begin.elapsed() < Duration::from_mins(5), "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_has_the_rights_and_settings_that_the_database_itself_was_given() {
    let database = database().await;
    let url = database.url(SUPERUSER);
    let rights = "SELECT count(*) FROM pg_database AS copy JOIN pg_database AS original \
                  ON original.datname LIKE 'template\\_%' AND original.datacl = copy.datacl \
                  AND original.datdba = copy.datdba WHERE copy.datname = current_database()";
    assert!(one::<i64>(&url, rights).await > 0);
    let settings = "SELECT count(*) FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase \
                    WHERE datname = current_database()";
    assert!(one::<i64>(&url, settings).await > 0);
    assert_eq!(one::<String>(&url, "SHOW fsync").await, "on");
    assert_eq!(one::<String>(server(), "SELECT current_user::text").await, SUPERUSER);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_server_ends_and_leaves_nothing_when_nobody_holds_it() {
    let held = Held::start("postgres", &[]);
    let url = held.said().to_owned();
    let folder: String = one(&url, "SHOW unix_socket_directories").await;
    assert!(std::fs::exists(&folder).unwrap());
    drop(held);
    assert!(PgConnection::connect(&url).await.is_err());
    assert!(!std::fs::exists(&folder).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_in_the_role_for_it_has_to_say_a_password() {
    let name = format!("guarded_{}", crate::fixture::uuid().simple());
    let mut admin = PgConnection::connect(server()).await.unwrap();
    let make = format!("CREATE ROLE {name} LOGIN PASSWORD 'right' IN ROLE by_password");
    sqlx::raw_sql(sqlx::AssertSqlSafe(make)).execute(&mut admin).await.unwrap();
    let url = |password: &str| format!("postgres://{name}:{password}@{}/postgres", address());
    assert_eq!(one::<String>(&url("right"), "SELECT current_user::text").await, name);
    assert!(PgConnection::connect(&url("wrong")).await.is_err());
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("DROP ROLE {name}"))).execute(&mut admin).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_back_door_to_postgresql_passes_every_policy_and_sees_who_still_reads() {
    let home = Home::of(Engine::Postgres).await;
    let mut backdoor = home.backdoor().await;
    let hide = "ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY";
    let Backdoor::Postgres(connection) = &mut backdoor else { unreachable!("{:?}", Engine::Postgres) };
    sqlx::raw_sql(hide).execute(&mut *connection).await.unwrap();
    let add = "INSERT INTO tenants (tenant, feed_position) VALUES ($1, 3), ($1 || '2', 4)";
    assert_eq!(backdoor.execute(add, "t").await, 2);
    assert_eq!(backdoor.number("SELECT sum(feed_position) FROM tenants WHERE tenant <> $1", "").await, 7);
    assert_eq!(backdoor.column::<String>("SELECT tenant FROM tenants WHERE tenant > $1", "t").await, ["t2"]);
    assert_eq!(backdoor.column::<Vec<u8>>("SELECT CAST('a' AS bytea)", "").await, [b"a"]);

    assert_eq!(backdoor.open_readers().await, 0);
    let Backdoor::Postgres(mut reader) = home.backdoor().await else { unreachable!("{:?}", Engine::Postgres) };
    sqlx::raw_sql("BEGIN; SELECT 1").execute(&mut reader).await.unwrap();
    assert_eq!(backdoor.open_readers().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_the_pooler_share_a_session_between_their_transactions() {
    let database = database().await;
    let url = format!("postgres://recall_gate_app@127.0.0.1:{}/{}", pgbouncer::port(), database.name());
    let [mut one, mut other] = [PgConnection::connect(&url).await.unwrap(), PgConnection::connect(&url).await.unwrap()];
    let session = async |client: &mut PgConnection| -> i32 {
        sqlx::raw_sql("SELECT pg_backend_pid()").fetch_one(client).await.unwrap().get(0)
    };
    assert_eq!(session(&mut one).await, session(&mut other).await);
    sqlx::raw_sql("BEGIN").execute(&mut one).await.unwrap();
    assert_ne!(session(&mut one).await, session(&mut other).await);
}
