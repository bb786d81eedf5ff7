//! The recorder: one task that appends the decisions of reads, of all tenants, in groups.
//!
//! It takes all that wait, appends them in one statement, and answers when that is durable. The statement compares the
//! revisions that each decision was judged on with those of now, and leaves out a decision whose scopes have changed.
//! Its role reads no text, so that a group may hold the decisions of many tenants.

use std::sync::Arc;
use std::time::Duration;

use sqlx::query_scalar;
use tokio::sync::{mpsc, oneshot};

use super::again;
use super::connect::Pool;
use super::error::{is_transient, meaning};
use super::unit::{self, WRITE};
use crate::memory::{Judgement, SubjectId};
use crate::store::deadline::Deadline;
use crate::store::digest::DigestKey;
use crate::store::fault::Fault;
use crate::store::ledger::{self, Sealed};
use crate::store::{CommitError, Error, Expect, Recorded};

/// The most decisions of one group.
const GROUP: usize = 512;
/// The most decisions that wait; whoever comes then waits to wait.
const QUEUE: usize = 1024;
/// How long a group may take: a server that no longer answers must not hold up all calls.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the recorder is asked to do.
pub(super) enum Order {
    Record {
        sealed: Box<Sealed>,
        /// Not to be recorded after that.
        deadline: Option<Deadline>,
        answer: oneshot::Sender<Result<Recorded<Judgement>, CommitError>>,
    },
    Check(oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<()>),
}

/// Starts the recorder. It ends when it is told to close or when nobody can order any more.
pub(super) fn start(pool: Pool, key: Arc<DigestKey>) -> mpsc::Sender<Order> {
    let (sender, orders) = mpsc::channel(QUEUE);
    tokio::spawn(run(pool, key, orders));
    sender
}

async fn run(pool: Pool, key: Arc<DigestKey>, mut orders: mpsc::Receiver<Order>) {
    let mut group = Vec::new();
    let mut closers = Vec::new();
    while orders.recv_many(&mut group, GROUP).await > 0 {
        let (mut waiting, mut checks) = (Vec::new(), Vec::new());
        for order in group.drain(..) {
            match order {
                Order::Record { deadline: Some(deadline), answer, .. } if deadline.is_over() => {
                    let _ = answer.send(Err(Error::OutOfTime.into()));
                }
                Order::Record { sealed, answer, .. } => waiting.push((*sealed, answer)),
                Order::Check(answer) => checks.push(answer),
                Order::Close(closer) => {
                    closers.push(closer);
                    orders.close();
                }
            }
        }
        let (sealed, answers): (Vec<_>, Vec<_>) = waiting.into_iter().unzip();
        let rows = Rows::of(&sealed, key.id());
        let appended = match tokio::time::timeout(PATIENCE, append(&pool, Arc::new(rows))).await {
            Ok(appended) => appended,
            Err(late) => Err(Error::Unavailable(Box::new(late)).into()),
        };
        tell(appended, sealed, answers, checks);
    }
    for closer in closers {
        let _ = closer.send(());
    }
}

/// An answer that nobody waits for any more is dropped: the caller has gone, the decision stands.
fn tell(
    appended: Result<Vec<i32>, CommitError>,
    sealed: Vec<Sealed>,
    answers: Vec<oneshot::Sender<Result<Recorded<Judgement>, CommitError>>>,
    checks: Vec<oneshot::Sender<Result<(), Error>>>,
) {
    match appended {
        Ok(appended) => {
            for (number, (sealed, answer)) in (0_i32..).zip(sealed.into_iter().zip(answers)) {
                let stands = appended.binary_search(&number).is_ok();
                let told = if stands {
                    Ok(Recorded::after_commit(sealed.change.judgement))
                } else {
                    Err(CommitError::Contended)
                };
                let _ = answer.send(told);
            }
            for check in checks {
                let _ = check.send(Ok(()));
            }
        }
        Err(CommitError::Contended) => {
            for answer in answers {
                let _ = answer.send(Err(CommitError::Contended));
            }
            // The database answers.
            for check in checks {
                let _ = check.send(Ok(()));
            }
        }
        Err(CommitError::Store(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a group of decisions was not recorded");
            let corrupt = matches!(error, Error::Corrupt(_));
            let error = Arc::new(error);
            let told = || {
                let why = Box::new(GroupFailed(Arc::clone(&error)));
                if corrupt { Error::Corrupt(why) } else { Error::Unavailable(why) }
            };
            for answer in answers {
                let _ = answer.send(Err(told().into()));
            }
            for check in checks {
                let _ = check.send(Err(told()));
            }
        }
    }
}

/// The columns of a group, and the revisions that its decisions rely on.
#[derive(Default)]
struct Rows {
    number: Vec<i32>,
    tenant: Vec<String>,
    owner: Vec<String>,
    decide_time: Vec<i64>,
    decision_id: Vec<uuid::Uuid>,
    method: Vec<String>,
    outcome: Vec<String>,
    body: Vec<Vec<u8>>,
    key_id: String,
    of: Vec<i32>,
    scope_owner: Vec<String>,
    project: Vec<String>,
    task: Vec<String>,
    revision: Vec<i64>,
}

impl Rows {
    fn of(sealed: &[Sealed], key_id: &str) -> Self {
        let mut rows = Self { key_id: key_id.to_owned(), ..Self::default() };
        for (number, Sealed { change, body }) in (0_i32..).zip(sealed) {
            let judgement = &change.judgement;
            rows.number.push(number);
            rows.tenant.push(judgement.tenant.as_str().to_owned());
            rows.owner.push(judgement.subject.as_ref().map_or("", SubjectId::as_str).to_owned());
            rows.decide_time.push(judgement.decide_time.micros());
            rows.decision_id.push(judgement.decision_id.0);
            rows.method.push(judgement.method.to_owned());
            rows.outcome.push(ledger::outcome(&judgement.disposition).to_owned());
            rows.body.push(body.clone());
            for expect in &change.expect {
                let Expect::Revision(scope) = expect else { continue };
                rows.of.push(number);
                rows.scope_owner.push(scope.owner.as_str().to_owned());
                rows.project.push(scope.level.project().to_owned());
                rows.task.push(scope.level.task().to_owned());
                rows.revision.push(scope.revision.0);
            }
        }
        rows
    }
}

/// Appends the decisions that still stand; answers their numbers, in order.
async fn append(pool: &Pool, rows: Arc<Rows>) -> Result<Vec<i32>, CommitError> {
    let mut attempt = 0;
    loop {
        match append_once(pool, Arc::clone(&rows)).await {
            Ok(appended) => return Ok(appended),
            Err(fault) if again::is_worth_it(&fault, attempt) => again::pause(attempt).await,
            Err(fault) => return Err(group_refusal(fault)),
        }
        attempt += 1;
    }
}

/// Each of the group may be judged again where the database has undone it for another's sake.
fn group_refusal(fault: Fault) -> CommitError {
    if is_transient(&fault) { CommitError::Contended } else { meaning(fault).into() }
}

async fn append_once(pool: &Pool, rows: Arc<Rows>) -> Result<Vec<i32>, Fault> {
    const SQL: &str = "\
        WITH decided AS MATERIALIZED (
            SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], \
                                 $8::bytea[]) \
                AS decided (number, tenant, owner, decide_time, decision_id, method, outcome, body)
        ), judged AS (
            SELECT * FROM unnest($10::int[], $11::text[], $12::text[], $13::text[], $14::bigint[]) \
                AS judged (number, owner, project, task, revision)
        ), standing AS MATERIALIZED (
            SELECT * FROM decided WHERE NOT EXISTS (
                SELECT FROM judged LEFT JOIN revisions ON revisions.tenant = decided.tenant \
                    AND revisions.owner = judged.owner AND revisions.project = judged.project \
                    AND revisions.task = judged.task
                WHERE judged.number = decided.number AND coalesce(revisions.revision, 0) <> judged.revision)
        ), appended AS (
            INSERT INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, key_id, body)
            SELECT tenant, owner, decide_time, decision_id, method, outcome, $9, body FROM standing
        )
        SELECT number FROM standing ORDER BY number";
    unit::run(pool, WRITE, None, move |connection| {
        Box::pin(async move {
            Ok(query_scalar(SQL)
                .bind(&rows.number)
                .bind(&rows.tenant)
                .bind(&rows.owner)
                .bind(&rows.decide_time)
                .bind(&rows.decision_id)
                .bind(&rows.method)
                .bind(&rows.outcome)
                .bind(&rows.body)
                .bind(&rows.key_id)
                .bind(&rows.of)
                .bind(&rows.scope_owner)
                .bind(&rows.project)
                .bind(&rows.task)
                .bind(&rows.revision)
                .fetch_all(connection)
                .await?)
        })
    })
    .await
}

/// Told to every decision of a group that failed.
#[derive(Debug, thiserror::Error)]
#[error("the group that the decision was in was not recorded")]
struct GroupFailed(#[source] Arc<Error>);
