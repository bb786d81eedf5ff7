//! Appends a row for each call to the ledger of decisions, as leanly as can be: one task takes all that wait, appends
//! them in one transaction, and tells them when it is durable.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::Failure;
use super::direct::Rows;
use crate::store::PostgresOptions;
use crate::store::bare::{self, Bare, Body};

/// The most rows of one group, and the most that wait.
const GROUP: usize = 512;

/// Where rows are appended, and what.
#[derive(Serialize, Deserialize)]
pub(super) struct Append {
    pub(super) to: To,
    pub(super) rows: Rows,
    pub(super) key_id: String,
    pub(super) body: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
pub(super) enum To {
    File(PathBuf),
    /// The address of the ledger's role; it may hold a password.
    Postgres(String),
}

/// Appends rows.
#[derive(Clone)]
pub(super) struct Appending(mpsc::Sender<oneshot::Sender<bool>>);

impl Appending {
    pub(super) async fn start(append: Append) -> Result<Self, Failure> {
        let failed = |error| Failure::because("nothing can be appended", &error);
        let (sender, waiting) = mpsc::channel(GROUP);
        let (rows, body) = (append.rows, Body { key_id: append.key_id, bytes: append.body });
        let bare = match append.to {
            To::File(path) => bare::sqlite(&path, 1).await,
            To::Postgres(address) => PostgresOptions::new(&address, "").and_then(|mut options| {
                options.ledger = address;
                bare::postgres(&options)
            }),
        };
        tokio::spawn(run(bare.map_err(failed)?, rows, body, waiting));
        Ok(Self(sender))
    }

    /// Whether a row was appended and is durable.
    pub(super) async fn append(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        self.0.send(answer).await.is_ok() && answered.await.unwrap_or(false)
    }
}

async fn run(bare: Arc<dyn Bare>, rows: Rows, body: Body, mut waiting: mpsc::Receiver<oneshot::Sender<bool>>) {
    let (mut group, mut numbers) = (Vec::new(), 0..);
    while waiting.recv_many(&mut group, GROUP).await > 0 {
        let appended: Vec<_> = numbers.by_ref().take(group.len()).map(|number| rows.row(number)).collect();
        let durable = bare.append(&appended, &body).await.is_ok();
        for answer in group.drain(..) {
            // Who has gone needs no answer.
            let _ = answer.send(durable);
        }
    }
}
