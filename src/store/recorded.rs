//! The permit that a durable record makes.

/// A value whose record is durable. Only a store's ledger makes one, by value, after its commit.
#[derive(Debug)]
pub struct Recorded<T>(T);

impl<T> Recorded<T> {
    /// For the ledgers of this module, after the commit.
    pub(in crate::store) const fn after_commit(value: T) -> Self {
        Self(value)
    }

    /// What was recorded.
    pub const fn get(&self) -> &T {
        &self.0
    }
}
