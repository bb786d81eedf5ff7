//! The queries, one source for both engines: each engine compiles this folder with its own `Db`, and with its own
//! `texts!`, `uuids!` and `digests!`, which turn a bound JSON array into a set, and other macros.
//!
//! Decision: rows are looked up by a set of ids with `CROSS JOIN`, not with `IN`. Without statistics SQLite takes two
//! owners to be more selective than a set of ids and walks all rows of both; a cross join it never reorders.
//!
//! Invariant I2: every statement that reads rows of a subject names the tenant, and owners that are the caller's
//! subject or nobody. `every` reads for an operator alone, and `prune` reads nothing.

/// At most so many rows. SQLite plans a statement anew for each number that is bound to `LIMIT` by itself.
macro_rules! at_most {
    ($parameter:literal) => {
        concat!(" LIMIT CAST(", $parameter, " AS bigint)")
    };
}

#[macro_use]
pub(in crate::store) mod columns;

pub(in crate::store) mod bare;
mod blocks;
mod candidates;
mod change;
mod expect;
mod ledger;
mod lineage;
mod memories;
mod page;
mod place;
mod prune;
mod scopes;
pub(in crate::store) mod shape;
mod view;

pub(in crate::store) use candidates::{one as candidate, page as candidates};
pub(in crate::store) use change::apply;
pub(in crate::store) use ledger::{find as replay, keep_key_id, keep_policy, key_id};
pub(in crate::store) use memories::{newest as memory, values};
pub(in crate::store) use page::page as memories;
pub(in crate::store) use place::place;
pub(in crate::store) use prune::prune;
pub(in crate::store) use view::view;

use super::Db;
use crate::store::digest::hex;
use crate::store::rows::list;
use crate::store::{Range, Reach};

/// A connection of the engine.
pub(in crate::store) type Connection = <Db as sqlx::Database>::Connection;

/// A row of the engine.
pub(in crate::store) type Row = <Db as sqlx::Database>::Row;

/// A set of ids to bind, each once.
fn ids(ids: impl IntoIterator<Item = uuid::Uuid>) -> String {
    let mut ids: Vec<String> = ids.into_iter().map(|id| id.simple().to_string()).collect();
    ids.sort_unstable();
    ids.dedup();
    list(ids.iter().map(String::as_str))
}

/// A set of digests to bind.
fn hexes<'a>(digests: impl IntoIterator<Item = &'a Vec<u8>>) -> String {
    let digests: Vec<String> = digests.into_iter().map(|digest| hex(digest)).collect();
    list(digests.iter().map(String::as_str))
}

/// The owners that a range reaches, shared first: never any but the subject and nobody.
fn owners<'a>(reach: &'a Reach, range: &'a Range) -> Vec<&'a str> {
    let subject = reach.subject.as_str();
    match range {
        Range::One(owner, _) | Range::Owner(owner) => {
            Some(owner.as_str()).filter(|owner| owner.is_empty() || *owner == subject).into_iter().collect()
        }
        Range::All => vec!["", subject],
    }
}
