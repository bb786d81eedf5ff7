//! Page tokens: sealed, and bound to caller, method and filter.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Error;
use super::call::Call;

impl Call<'_> {
    /// What a token of this call is bound to.
    pub(super) fn page_binding(&self, filter: &[&str]) -> [u8; 32] {
        let caller = self.caller;
        let bound = [caller.tenant().as_str(), caller.principal().as_str(), self.subject.as_str(), self.method];
        let parts: Vec<&[u8]> = bound.iter().chain(filter).map(|part| part.as_bytes()).collect();
        self.gate.store.digest("page", &parts)
    }

    /// A token for what comes after.
    pub(super) fn seal_page<T: Serialize>(&self, binding: &[u8; 32], cursor: &T) -> Option<Vec<u8>> {
        self.gate.store.seal(binding, &serde_json::to_vec(cursor).ok()?)
    }

    /// What a token says; `None`: there is none, the first page.
    pub(super) fn open_page<T: DeserializeOwned>(&self, binding: &[u8; 32], token: &[u8]) -> Result<Option<T>, Error> {
        if token.is_empty() {
            return Ok(None);
        }
        let plain = self.gate.store.open(binding, token).ok_or(Error::PageTokenInvalid)?;
        serde_json::from_slice(&plain).map(Some).map_err(|_| Error::PageTokenInvalid)
    }
}
