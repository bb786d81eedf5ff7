//! Finding the one memory that a call names.

use super::Error;
use super::call::Call;
use super::command::MemoryName;
use crate::memory::{Address, Memory};
use crate::store::PlaceRequest;

impl Call<'_> {
    /// The memory that is named, as far as it exists for this caller. Missing, foreign and not visible are one answer.
    pub(super) async fn find(&self, name: &MemoryName) -> Result<Memory, Error> {
        let found = match name {
            MemoryName::Id(id) => self.gate.store.memory(&self.reach(), *id).await,
            MemoryName::Address(scope, key) => {
                self.require_level(&scope.level).await?;
                let address = Address {
                    tenant: self.caller.tenant().clone(),
                    owner: self.owner(scope.audience),
                    level: scope.level.clone(),
                    key: key.clone(),
                };
                let request =
                    PlaceRequest { address, reach: self.reach(), references: Vec::new(), parents: Vec::new() };
                self.gate.store.place(&request).await.map(|place| place.current)
            }
        };
        match found.map_err(Error::StoreUnavailable)?.filter(|memory| self.sees(memory)) {
            Some(memory) => Ok(memory),
            None => Err(self.refuse(Error::NotFound).await),
        }
    }
}
