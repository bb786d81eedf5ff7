//! The statements of a recall by themselves, over a file that nobody has open.

use std::path::Path;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqlitePoolOptions};
use tokio::sync::Mutex;

use super::decisions::{Decided, Transaction, append_and_commit};
use super::error::meaning;
use super::{open, queries};
use crate::store::bare::{self, Asked, Body, Row};
use crate::store::fault::Fault;
use crate::store::{Error, OpenError, Reach};

pub(in crate::store) struct Bare {
    readers: SqlitePool,
    writer: Mutex<SqliteConnection>,
}

impl Bare {
    pub(in crate::store) async fn open(path: &Path, readers: u32) -> Result<Self, OpenError> {
        let writer = open::writing(path, &open::SqliteOptions::default()).create_if_missing(false).connect().await?;
        let readers = SqlitePoolOptions::new().max_connections(readers.max(1)).test_before_acquire(false);
        Ok(Self { readers: readers.connect_with(open::reading(path)).await?, writer: Mutex::new(writer) })
    }

    async fn append_all<'r>(connection: &mut SqliteConnection, rows: &'r [Row], body: &'r Body) -> Result<(), Fault> {
        let decided = |row: &'r Row| Decided {
            tenant: row.tenant.as_str(),
            owner: row.subject.as_str(),
            decide_time: row.decide_time,
            decision_id: row.decision_id,
            method: "Recall",
            outcome: "",
            key_id: body.key_id.as_str(),
            body: body.bytes.as_slice(),
        };
        let rows: Vec<Decided<'_>> = rows.iter().map(decided).collect();
        append_and_commit(connection, &rows, Transaction::Own).await
    }
}

#[async_trait]
impl bare::Bare for Bare {
    async fn body(&self, reach: &Reach) -> Result<Option<Body>, Error> {
        let mut connection = self.readers.acquire().await.map_err(|error| meaning(error.into()))?;
        queries::bare::body(&mut connection, reach).await.map_err(meaning)
    }

    async fn read(&self, asked: &Asked) -> Result<usize, Error> {
        let mut connection = self.readers.acquire().await.map_err(|error| meaning(error.into()))?;
        queries::bare::read(&mut connection, asked).await.map_err(meaning)
    }

    async fn append(&self, rows: &[Row], body: &Body) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let appended = match rows {
            [row] => queries::bare::append(&mut writer, row, body).await,
            rows => Self::append_all(&mut writer, rows, body).await,
        };
        appended.map_err(meaning)
    }
}
