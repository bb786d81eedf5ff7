//! Services on PostgreSQL, each in a process of its own: how they start, what they do side by side, and what becomes of
//! them when the server is gone.

mod clock;
mod contention;
mod fitness;
mod ledger;
mod measuring;
mod migrating;
mod outages;
mod passwords;
mod place;
mod reaching;
mod replicas;
mod server;

pub(crate) use server::Server;
