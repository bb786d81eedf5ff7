//! Calls that are under way while another policy is put in force. A store that holds them up shows what they record.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use recall_gate::gate::command::Capture;
use recall_gate::gate::{Error as GateError, Gate, SystemClock};
use recall_gate::identity::Caller;
use recall_gate::memory::{
    Audience, Candidate, CandidateId, Consent, Evidence, Judgement, Key, KindName, Level, Memory, MemoryId,
    PolicyVersion, Scope, Source, SourceKindName, Text, Time, Version,
};
use recall_gate::policy::{DEFAULT_DOCUMENT, Policy};
use recall_gate::store::{
    CandidatePage, Change, CommitError, Error, MemoryPage, Place, PlaceRequest, Position, Range, Reach, Recorded,
    ReplayKey, ReplayRecord, Sqlite, SqliteOptions, Store, View, ViewRequest,
};
use tokio::sync::Notify;

/// What was kept or recorded, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Kept(PolicyVersion),
    Decided(PolicyVersion),
}

/// A store that waits before it tells what is at a place.
struct Held {
    inner: Sqlite,
    reached: Notify,
    go_on: Notify,
    seen: Mutex<Vec<Seen>>,
    keeps_policies: bool,
}

#[async_trait]
impl Store for Held {
    async fn view(&self, request: &ViewRequest) -> Result<View, Error> {
        self.inner.view(request).await
    }

    async fn values(&self, reach: &Reach, versions: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error> {
        self.inner.values(reach, versions).await
    }

    async fn memory(&self, reach: &Reach, id: MemoryId) -> Result<Option<Memory>, Error> {
        self.inner.memory(reach, id).await
    }

    async fn place(&self, request: &PlaceRequest) -> Result<Place, Error> {
        self.reached.notify_one();
        self.go_on.notified().await;
        self.inner.place(request).await
    }

    async fn memories(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<&Position>,
        limit: u32,
    ) -> Result<MemoryPage, Error> {
        self.inner.memories(reach, range, after, limit).await
    }

    async fn candidate(&self, reach: &Reach, id: CandidateId, now: Time) -> Result<Option<Candidate>, Error> {
        self.inner.candidate(reach, id, now).await
    }

    async fn candidates(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<(Time, CandidateId)>,
        limit: u32,
        now: Time,
    ) -> Result<CandidatePage, Error> {
        self.inner.candidates(reach, range, after, limit, now).await
    }

    async fn replay(&self, key: &ReplayKey, now: Time) -> Result<Option<ReplayRecord>, Error> {
        self.inner.replay(key, now).await
    }

    async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError> {
        self.seen.lock().unwrap().push(Seen::Decided(change.judgement.policy_version));
        self.inner.commit(change).await
    }

    async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError> {
        self.seen.lock().unwrap().extend(changes.iter().map(|one| Seen::Decided(one.judgement.policy_version)));
        self.inner.commit_all(changes).await
    }

    async fn keep_policy(&self, version: PolicyVersion, document: &str, now: Time) -> Result<(), Error> {
        if !self.keeps_policies {
            return Err(Error::Unavailable("no room".into()));
        }
        self.seen.lock().unwrap().push(Seen::Kept(version));
        self.inner.keep_policy(version, document, now).await
    }

    async fn tidy(&self, now: Time, limit: u32) -> Result<u64, Error> {
        self.inner.tidy(now, limit).await
    }

    async fn prune(&self, before: Time, limit: u32) -> Result<u64, Error> {
        self.inner.prune(before, limit).await
    }

    fn digest(&self, domain: &'static str, parts: &[&[u8]]) -> [u8; 32] {
        self.inner.digest(domain, parts)
    }

    fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>> {
        self.inner.seal(binding, plain)
    }

    fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
        self.inner.open(binding, sealed)
    }

    async fn check(&self) -> Result<(), Error> {
        self.inner.check().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

struct Scene {
    store: Arc<Held>,
    gate: Arc<Gate>,
    // Removed when the scene is dropped.
    _folder: tempfile::TempDir,
}

async fn scene(keeps_policies: bool) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let inner = Sqlite::open(folder.path().join("db"), SqliteOptions::default()).await.unwrap();
    let (reached, go_on, seen) = (Notify::new(), Notify::new(), Mutex::default());
    let store = Arc::new(Held { inner, reached, go_on, seen, keeps_policies });
    let policy = Policy::compiled_in().unwrap();
    let gate = Arc::new(Gate::new(store.clone(), policy, Arc::new(SystemClock)));
    Scene { store, gate, _folder: folder }
}

/// Another policy, without the kind that is captured.
fn another() -> Policy {
    Policy::parse(&DEFAULT_DOCUMENT.replace("kinds.ui_theme", "kinds.theme")).unwrap()
}

fn capture(expected_version: Option<i64>) -> Capture {
    Capture {
        subject: None,
        scope: Scope { level: Level::General, audience: Audience::Personal },
        kind: KindName::new("ui_theme").unwrap(),
        key: Some(Key::new("ui_theme").unwrap()),
        value: Text::new("zq7 dark".to_owned()),
        source: Source {
            kind: Some(SourceKindName::new("user_message").unwrap()),
            reference: Text::default(),
            parents: Vec::new(),
            parent_references: Vec::new(),
        },
        evidence: Evidence::UserConfirmed,
        confidence: None,
        sensitivity: None,
        consent: Consent::Unset,
        purposes: Vec::new(),
        observe_time: None,
        valid_from_time: None,
        expire_time: None,
        expected_version: expected_version.map(Version),
        accept_revoked: false,
        request_id: None,
        validate_only: false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_under_the_policy_it_began_with_and_its_refusal_too() {
    for expected in [None, Some(7)] {
        let Scene { store, gate, _folder } = scene(true).await;
        let (old, new) = (gate.policy().version, another().version);
        let calling = tokio::spawn({
            let gate = Arc::clone(&gate);
            async move { gate.capture(&Caller::development().unwrap(), capture(expected)).await }
        });
        store.reached.notified().await;
        gate.replace_policy(another()).await.unwrap();
        assert_eq!(gate.policy().version, new);
        store.go_on.notify_one();
        let answer = calling.await.unwrap();
        assert_eq!(answer.is_ok(), expected.is_none(), "{answer:?}");
        assert_eq!(*store.seen.lock().unwrap(), [Seen::Kept(new), Seen::Decided(old)]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i08_a_policy_that_cannot_be_kept_is_not_put_in_force() {
    let Scene { store, gate, _folder } = scene(false).await;
    let old = gate.policy().version;
    assert!(gate.replace_policy(another()).await.is_err());
    assert_eq!(gate.policy().version, old);
    store.go_on.notify_one();
    let answer: Result<_, GateError> = gate.capture(&Caller::development().unwrap(), capture(None)).await;
    assert_eq!(answer.unwrap().policy_version, old);
}
