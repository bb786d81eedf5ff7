//! The store behind the API's back: to fill it in bulk, and to ask it what a recall asks it.

use std::sync::Arc;

use super::Failure;
use crate::config::Database;
use crate::gate::{Clock, SystemClock};
use crate::policy::Policy;
use crate::store::{Postgres, Sqlite, SqliteOptions, Store};

/// Opens it, and keeps the policy there that its decisions will name.
pub(super) async fn open(database: &Database, policy: &Policy) -> Result<Arc<dyn Store>, Failure> {
    let failed = |error| Failure::because(&format!("`{database}` cannot be opened"), &error);
    let store: Arc<dyn Store> = match database {
        Database::File(path) => Arc::new(Sqlite::open(path.clone(), SqliteOptions::default()).await.map_err(failed)?),
        Database::Postgres(options) => {
            let store = Postgres::open(options.clone()).await.map_err(failed)?;
            if !store.is_ready() {
                let why = "the database does not answer or is not migrated yet: `recall-gate migrate`";
                return Err(Failure::failed(why));
            }
            Arc::new(store)
        }
    };
    store
        .keep_policy(policy.version, &policy.document, SystemClock.now())
        .await
        .map_err(|error| Failure::because("the policy cannot be kept", &error))?;
    Ok(store)
}
