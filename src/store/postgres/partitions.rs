//! The partitions of the decision ledger: one a week, made ahead, dropped when retention is over.
//!
//! A decision that no partition was made for lands in the default one, so that a call never fails for want of one.
//! What landed there moves into the partition when it is made.

use sqlx::{AssertSqlSafe, Connection, PgConnection, query, query_as, query_scalar, raw_sql};

use super::administer::PartitionedSize;
use crate::memory::Time;
use crate::store::fault::Fault;

const WEEK_MICROS: i64 = 7 * 86_400 * 1_000_000;

/// Partitions are made for the week of now and so many after it.
const WEEKS_AHEAD: i64 = 12;

/// With fewer than this ahead, somebody has to make more.
pub(super) const FEWEST_AHEAD: i64 = 2;

/// The week that an instant lies in, counted from 1970-01-01, a Thursday.
const fn week(time: Time) -> i64 {
    time.micros().div_euclid(WEEK_MICROS)
}

fn name(week: i64) -> String {
    format!("decisions_week_{week}")
}

/// The weeks that have a partition of their own.
async fn existing(connection: &mut PgConnection) -> Result<Vec<i64>, Fault> {
    const SQL: &str = "SELECT CAST(substr(relname, length('decisions_week_') + 1) AS bigint) FROM pg_inherits \
                       JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'decisions'::regclass \
                       AND relname ~ '^decisions_week_[0-9]+$' ORDER BY 1";
    Ok(query_scalar(SQL).fetch_all(connection).await?)
}

/// Makes the partitions that are missing; how many.
pub(super) async fn make(connection: &mut PgConnection, now: Time) -> Result<u64, Fault> {
    let existing = existing(connection).await?;
    let mut made = 0;
    for week in (week(now)..=week(now) + WEEKS_AHEAD).filter(|week| !existing.contains(week)) {
        let (name, from, to) = (name(week), week * WEEK_MICROS, (week + 1) * WEEK_MICROS);
        let mut transaction = connection.begin().await?;
        // Another may be making the same ones: who comes second finds them.
        raw_sql("LOCK TABLE decisions_default IN ACCESS EXCLUSIVE MODE").execute(&mut *transaction).await?;
        let there: bool =
            query_scalar("SELECT to_regclass($1) IS NOT NULL").bind(&name).fetch_one(&mut *transaction).await?;
        if there {
            continue;
        }
        for sql in [
            format!("CREATE TABLE {name} (LIKE decisions INCLUDING ALL)"),
            format!(
                "WITH moved AS (DELETE FROM decisions_default WHERE decide_time >= {from} AND decide_time < {to} \
                 RETURNING *) INSERT INTO {name} SELECT * FROM moved"
            ),
            format!("ALTER TABLE decisions ATTACH PARTITION {name} FOR VALUES FROM ({from}) TO ({to})"),
        ] {
            // Made of numbers alone.
            raw_sql(AssertSqlSafe(sql)).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        made += 1;
    }
    Ok(made)
}

/// How many whole weeks after the one of now have a partition, without a gap.
pub(super) async fn ahead(connection: &mut PgConnection, now: Time) -> Result<i64, Fault> {
    let existing = existing(connection).await?;
    let this = week(now);
    let ahead = existing.into_iter().filter(|week| *week > this).zip(this + 1..);
    Ok(ahead.take_while(|(week, expected)| week == expected).map(|_| 1).sum())
}

/// What a partition holds; `None`: the default one.
async fn count(connection: &mut PgConnection, week: Option<i64>, before: Time) -> Result<u64, Fault> {
    let name = week.map_or_else(|| "decisions_default".to_owned(), name);
    // Made of a number alone.
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {name} WHERE decide_time < $1"));
    let count: i64 = query_scalar(sql).bind(before.micros()).fetch_one(connection).await?;
    Ok(u64::try_from(count).unwrap_or_default())
}

/// The weeks that lie wholly before an instant.
async fn over(connection: &mut PgConnection, before: Time) -> Result<Vec<i64>, Fault> {
    let over = |week: &i64| (week + 1).saturating_mul(WEEK_MICROS) <= before.micros();
    Ok(existing(connection).await?.into_iter().filter(over).collect())
}

/// How many decisions [`drop_before`] would remove.
pub(super) async fn count_before(connection: &mut PgConnection, before: Time) -> Result<u64, Fault> {
    let mut total = count(connection, None, before).await?;
    for week in over(connection, before).await? {
        total += count(connection, Some(week), before).await?;
    }
    Ok(total)
}

/// Drops the partitions of which every decision was made before an instant, and removes what is older in the default
/// one; how many decisions went.
pub(super) async fn drop_before(connection: &mut PgConnection, before: Time) -> Result<u64, Fault> {
    let mut gone = 0;
    for week in over(connection, before).await? {
        gone += count(connection, Some(week), before).await?;
        raw_sql(AssertSqlSafe(format!("DROP TABLE {}", name(week)))).execute(&mut *connection).await?;
    }
    let done =
        query("DELETE FROM decisions_default WHERE decide_time < $1").bind(before.micros()).execute(connection).await?;
    Ok(gone + done.rows_affected())
}

/// How large they are together.
pub(super) async fn size(connection: &mut PgConnection) -> Result<PartitionedSize, Fault> {
    const BYTES: &str = "SELECT CAST(coalesce(sum(pg_total_relation_size(inhrelid)), 0) AS bigint) FROM pg_inherits \
                         WHERE inhparent = 'decisions'::regclass";
    let weeks = existing(connection).await?;
    let in_default = count(connection, None, Time::from_micros(i64::MAX)).await?;
    let mut size = PartitionedSize {
        partitions: weeks.len().try_into().unwrap_or(u64::MAX),
        decisions: 0,
        in_default,
        oldest: None,
        newest: None,
        bytes: 0,
    };
    for name in weeks.into_iter().map(name).chain(["decisions_default".to_owned()]) {
        let sql = AssertSqlSafe(format!("SELECT count(*), min(decide_time), max(decide_time) FROM {name}"));
        let (count, oldest, newest): (i64, Option<i64>, Option<i64>) =
            query_as(sql).fetch_one(&mut *connection).await?;
        size.decisions += u64::try_from(count).unwrap_or_default();
        size.oldest = [size.oldest, oldest.map(Time::from_micros)].into_iter().flatten().min();
        size.newest = [size.newest, newest.map(Time::from_micros)].into_iter().flatten().max();
    }
    let bytes: i64 = query_scalar(BYTES).fetch_one(connection).await?;
    size.bytes = u64::try_from(bytes).unwrap_or_default();
    Ok(size)
}
