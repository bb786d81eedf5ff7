//! The store behind the API's back: to fill it in bulk, and to say the statements of a recall.

use std::sync::Arc;

use super::Failure;
use crate::config::Database;
use crate::gate::{Clock, SystemClock};
use crate::policy::Policy;
use crate::store::bare::{self, Bare};
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

/// Connections to it, with no store around them: as many as the service reads over. Nobody else has a database file open.
pub(super) async fn bare(database: &Database) -> Result<Arc<dyn Bare>, Failure> {
    let bare = match database {
        Database::File(path) => bare::sqlite(path, SqliteOptions::default().readers).await,
        Database::Postgres(options) => bare::postgres(options),
    };
    bare.map_err(|error| Failure::because(&format!("`{database}` cannot be opened"), &error))
}
