//! Finding the one memory that a call names.

use super::Error;
use super::call::Call;
use super::command::MemoryName;
use crate::memory::{Address, Memory};
use crate::store::PlaceRequest;

impl Call<'_> {
    /// What has to be held of the place that a name spells out. A name by id spells out none.
    pub(super) async fn require_named_writable(&self, name: &MemoryName) -> Result<(), Error> {
        match name {
            MemoryName::Id(_) => Ok(()),
            MemoryName::Address(scope, _) => self.require_writable(scope).await,
        }
    }

    /// The memory that is named, as far as it exists for this caller. Missing, foreign and not visible are one answer.
    pub(super) async fn find(&self, name: &MemoryName) -> Result<Memory, Error> {
        let reach = self.reach();
        let found = match name {
            MemoryName::Id(id) => self.load(self.gate.store.memory(&reach, *id)).await?,
            MemoryName::Address(scope, key) => {
                self.require_level(&scope.level).await?;
                let address = Address {
                    tenant: self.caller.tenant().clone(),
                    owner: self.owner(scope.audience),
                    level: scope.level.clone(),
                    key: key.clone(),
                };
                let (references, parents) = (Vec::new(), Vec::new());
                let request = PlaceRequest { address, blocked_as: key.clone(), reach, references, parents };
                self.load(self.gate.store.place(&request)).await?.current
            }
        };
        match found.filter(|memory| self.sees(memory)) {
            Some(memory) => Ok(memory),
            None => Err(self.refuse(Error::NotFound).await),
        }
    }
}
