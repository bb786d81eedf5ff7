//! The revisions of scopes, as the one who writes them all knows them.
//!
//! Every decision of a read compares the revisions it was judged on with those of now. Nobody but the writer changes
//! them, so it need not ask for each again: what it has read stays true until it writes to that scope.

use std::collections::HashMap;

use sqlx::query_scalar;
use sqlx::sqlite::SqliteConnection;

use crate::memory::{Level, Owner, Revision, ScopeRevision, TenantId};
use crate::store::fault::Fault;
use crate::store::{Change, Write};

const SQL: &str = "SELECT revision FROM revisions WHERE tenant = $1 AND owner = $2 AND project = $3 AND task = $4";

/// The most scopes that are remembered; then all are forgotten.
const MOST: usize = 100_000;

/// What is known of the revisions.
#[derive(Default)]
pub(super) struct Revisions {
    known: HashMap<TenantId, HashMap<(Owner, Level), Revision>>,
    count: usize,
}

impl Revisions {
    /// Whether the scope of the tenant still has this revision.
    pub(super) async fn stands(
        &mut self,
        connection: &mut SqliteConnection,
        tenant: &TenantId,
        scope: &ScopeRevision,
    ) -> Result<bool, Fault> {
        let place = (scope.owner.clone(), scope.level.clone());
        if let Some(known) = self.known.get(tenant).and_then(|scopes| scopes.get(&place)) {
            return Ok(*known == scope.revision);
        }
        let found: Option<i64> = query_scalar(SQL)
            .bind(tenant.as_str())
            .bind(scope.owner.as_str())
            .bind(scope.level.project())
            .bind(scope.level.task())
            .fetch_optional(connection)
            .await?;
        let found = Revision(found.unwrap_or_default());
        if self.count >= MOST {
            self.forget_all();
        }
        self.count += 1;
        self.known.entry(tenant.clone()).or_default().insert(place, found);
        Ok(found == scope.revision)
    }

    /// What the change writes to is no longer as it was.
    pub(super) fn forget(&mut self, change: &Change) {
        for write in &change.writes {
            if let Write::Memory(memory) = write
                && let Some(scopes) = self.known.get_mut(&memory.address.tenant)
            {
                scopes.remove(&(memory.address.owner.clone(), memory.address.level.clone()));
            }
        }
    }

    /// What was read within a transaction that failed was never so.
    pub(super) fn forget_all(&mut self) {
        self.known.clear();
        self.count = 0;
    }
}
