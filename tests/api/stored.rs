//! What the database holds, looked at behind the service's back.

use sqlx::AssertSqlSafe;

use crate::backdoor::Backdoor;
use crate::harness::Service;
use crate::unpacked::unpacked;

const BODIES: &str = "SELECT body FROM decisions";

/// Whether the words stand anywhere: in a byte of SQLite's files, or in a row of PostgreSQL's, whose pages keep what was
/// erased for a while; or in a decision, which may be packed.
pub(crate) async fn holds(service: &Service, words: &str) -> bool {
    let within = |bytes: &[u8]| bytes.windows(words.len()).any(|window| window == words.as_bytes());
    match service.home.backdoor().await {
        Backdoor::Sqlite(mut connection) => {
            let bodies: Vec<Vec<u8>> = sqlx::query_scalar(BODIES).fetch_all(&mut connection).await.unwrap();
            assert!(!bodies.is_empty(), "whatever was there to be told was decided on");
            if bodies.iter().any(|body| within(&unpacked(body))) {
                return true;
            }
            let files = std::fs::read_dir(service.home.folder()).unwrap();
            files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).any(|bytes| within(&bytes))
        }
        Backdoor::Postgres(mut connection) => {
            let tables = "SELECT CAST(CAST(format('%I.%I', schemaname, tablename) AS regclass) AS text) FROM pg_tables \
                          WHERE schemaname NOT IN ('pg_catalog', 'information_schema')";
            let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
            assert!(tables.len() > 10, "{tables:?}");
            let bodies: Vec<Vec<u8>> = sqlx::query_scalar(BODIES).fetch_all(&mut connection).await.unwrap();
            if bodies.iter().any(|body| within(&unpacked(body))) {
                return true;
            }
            for table in tables {
                // What is kept as bytes shows as hexadecimal.
                let held = format!(
                    "SELECT EXISTS (SELECT FROM {table} AS held WHERE strpos(CAST(held AS text), $1) > 0 \
                     OR strpos(CAST(held AS text), encode(convert_to($1, 'UTF8'), 'hex')) > 0)"
                );
                if sqlx::query_scalar(AssertSqlSafe(held)).bind(words).fetch_one(&mut connection).await.unwrap() {
                    return true;
                }
            }
            false
        }
    }
}
