//! The statements of a recall by themselves, over a file that nobody has open.

use std::path::Path;

use async_trait::async_trait;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqlitePoolOptions};
use sqlx::{ConnectOptions, query};
use tokio::sync::Mutex;

use super::decisions::{SIZES, STATEMENTS};
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

    async fn append_all(connection: &mut SqliteConnection, mut rows: &[Row], body: &Body) -> Result<(), Fault> {
        query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        for (size, sql) in SIZES.into_iter().zip(STATEMENTS.iter()) {
            while let Some((some, rest)) = rows.split_at_checked(size) {
                rows = rest;
                let mut statement = query(sql.as_str());
                for row in some {
                    statement = statement
                        .bind(row.tenant.as_str())
                        .bind(row.subject.as_str())
                        .bind(row.decide_time.micros())
                        .bind(row.decision_id)
                        .bind("Recall")
                        .bind("")
                        .bind(body.key_id.as_str())
                        .bind(body.bytes.as_slice());
                }
                statement.execute(&mut *connection).await?;
            }
        }
        query("COMMIT").execute(connection).await?;
        Ok(())
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
