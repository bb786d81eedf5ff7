//! A store with a real key and nothing in it, that records nothing: it answers at once, without a disk.

use async_trait::async_trait;
use recall_gate::memory::{Candidate, CandidateId, Judgement, Memory, MemoryId, PolicyVersion, Text, Time, Version};
use recall_gate::store::{
    CandidatePage, Change, CommitError, Error, MemoryPage, Place, PlaceRequest, Position, Range, Reach, Recorded,
    ReplayKey, ReplayRecord, Sqlite, Store, View, ViewRequest,
};

/// Uses of a store the digest key alone.
pub struct Empty(pub Sqlite);

fn unasked<T>() -> Result<T, Error> {
    Err(Error::Unavailable("no listing asks for this".into()))
}

#[async_trait]
impl Store for Empty {
    async fn view(&self, _: &ViewRequest) -> Result<View, Error> {
        unasked()
    }

    async fn values(&self, _: &Reach, _: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error> {
        unasked()
    }

    async fn memory(&self, _: &Reach, _: MemoryId) -> Result<Option<Memory>, Error> {
        unasked()
    }

    async fn place(&self, _: &PlaceRequest) -> Result<Place, Error> {
        unasked()
    }

    async fn memories(&self, _: &Reach, _: &Range, _: Option<&Position>, _: u32) -> Result<MemoryPage, Error> {
        Ok(MemoryPage { memories: Vec::new(), revisions: Vec::new(), newest_update_time: None, more: false })
    }

    async fn candidate(&self, _: &Reach, _: CandidateId, _: Time) -> Result<Option<Candidate>, Error> {
        unasked()
    }

    async fn candidates(
        &self,
        _: &Reach,
        _: &Range,
        _: Option<(Time, CandidateId)>,
        _: u32,
        _: Time,
    ) -> Result<CandidatePage, Error> {
        Ok(CandidatePage { candidates: Vec::new(), more: false })
    }

    async fn replay(&self, _: &ReplayKey, _: Time) -> Result<Option<ReplayRecord>, Error> {
        unasked()
    }

    async fn commit(&self, _: Change) -> Result<Recorded<Judgement>, CommitError> {
        Err(CommitError::Contended)
    }

    async fn commit_all(&self, _: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError> {
        Err(CommitError::Contended)
    }

    async fn keep_policy(&self, _: PolicyVersion, _: &str, _: Time) -> Result<(), Error> {
        unasked()
    }

    async fn tidy(&self, _: Time, _: u32) -> Result<u64, Error> {
        unasked()
    }

    async fn prune(&self, _: Time, _: u32) -> Result<u64, Error> {
        unasked()
    }

    fn digest(&self, domain: &'static str, parts: &[&[u8]]) -> [u8; 32] {
        self.0.digest(domain, parts)
    }

    fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>> {
        self.0.seal(binding, plain)
    }

    fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
        self.0.open(binding, sealed)
    }

    async fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn close(&self) {}
}
