//! A store with a tenant of its own, and values to put into it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recall_gate::memory::{
    Address, Candidate, CandidateId, Confidence, Consent, Context, DecisionId, Disposition, Evidence, Judgement, Key,
    KindName, Level, Memory, MemoryId, Outcome, Owner, PolicyVersion, PrincipalId, ProjectId, PurposeName, Reason,
    Receipt, RequestId, Sensitivity, Source, SourceKindName, State, SubjectId, TaskId, TenantId, Text, Time, Trust,
    Version,
};
use recall_gate::policy::tokens;
use recall_gate::store::{
    Announcement, Change, CommitError, Expect, LedgerCounts, Reach, Recorded, ReplayKey, ReplayRecord, Sqlite,
    SqliteOptions, Store, View, ViewRequest, Write,
};
use uuid::Uuid;

use crate::backdoor::Backdoor;
use crate::home::{Engine, Home};

/// A fresh database, and a tenant that nobody else uses.
pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tenant: TenantId,
    sqlite: Option<Arc<Sqlite>>,
    home: Home,
}

#[expect(clippy::disallowed_methods, reason = "tests make ids as the gate does")]
pub(crate) fn uuid() -> Uuid {
    Uuid::now_v7()
}

pub(crate) fn text(text: &str) -> Text {
    Text::new(text.to_owned())
}

pub(crate) fn at(micros: i64) -> Time {
    Time::from_micros(1_800_000_000_000_000 + micros)
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

pub(crate) fn subject(name: &str) -> SubjectId {
    SubjectId::new(name).unwrap()
}

pub(crate) fn own(name: &str) -> Owner {
    Owner::personal(subject(name))
}

pub(crate) fn project(name: &str) -> Level {
    Level::Project(ProjectId::new(name).unwrap())
}

pub(crate) fn task(project: &str, task: &str) -> Level {
    Level::Task(ProjectId::new(project).unwrap(), TaskId::new(task).unwrap())
}

fn purpose(name: &str) -> PurposeName {
    PurposeName::new(name).unwrap()
}

impl World {
    pub(crate) async fn on(engine: Engine) -> Self {
        let home = Home::of(engine).await;
        let tenant = TenantId::new(format!("tenant-{}", uuid())).unwrap();
        if engine == Engine::Sqlite {
            let sqlite = Arc::new(Sqlite::open(home.file(), SqliteOptions::default()).await.unwrap());
            return Self { store: sqlite.clone(), tenant, sqlite: Some(sqlite), home };
        }
        Self { store: home.open().await, tenant, sqlite: None, home }
    }

    pub(crate) async fn sqlite() -> Self {
        Self::on(Engine::Sqlite).await
    }

    pub(crate) fn directory(&self) -> &Path {
        self.home.folder()
    }

    /// SQLite's main file.
    pub(crate) fn path(&self) -> PathBuf {
        self.home.file()
    }

    /// Closes the store and opens it anew.
    pub(crate) async fn reopen(&mut self) {
        if self.sqlite.is_some() {
            return self.reopen_sqlite(SqliteOptions::default()).await;
        }
        self.store.close().await;
        self.store = self.home.open().await;
    }

    /// Closes the store and opens it anew, otherwise.
    pub(crate) async fn reopen_sqlite(&mut self, options: SqliteOptions) {
        self.store.close().await;
        self.sqlite = None;
        let sqlite = Arc::new(Sqlite::open(self.path(), options).await.unwrap());
        (self.store, self.sqlite) = (sqlite.clone(), Some(sqlite));
    }

    /// What the writer has committed so far, where one writes for all: on SQLite.
    pub(crate) fn ledger_counts(&self) -> Option<LedgerCounts> {
        self.sqlite.as_ref().map(|sqlite| sqlite.ledger_counts())
    }

    /// A connection behind the service's back.
    pub(crate) async fn backdoor(&self) -> Backdoor {
        self.home.backdoor().await
    }

    /// Runs one statement of this tenant's, $1, behind the service's back.
    pub(crate) async fn tamper(&self, sql: &'static str) {
        assert!(self.backdoor().await.execute(sql, self.tenant.as_str()).await > 0, "{sql}");
    }

    /// The one number that a statement about this tenant, $1, answers.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        self.backdoor().await.number(sql, self.tenant.as_str()).await
    }

    /// Waits until every row of the feed has its position, which on PostgreSQL the sequencer gives.
    pub(crate) async fn until_numbered(&self) {
        let begin = std::time::Instant::now();
        while self.number("SELECT count(*) FROM feed WHERE tenant = $1 AND position IS NULL").await > 0 {
            assert!(begin.elapsed() < std::time::Duration::from_mins(1), "the feed is not numbered");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// How many rows of this tenant each table holds.
    pub(crate) async fn rows(&self) -> [i64; 10] {
        [
            self.number("SELECT count(*) FROM memories WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM memory_versions WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM candidates WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM revisions WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM owners WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM feed WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM lineage WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM blocks WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM idempotency WHERE tenant = $1").await,
            self.number("SELECT count(*) FROM decisions WHERE tenant = $1").await,
        ]
    }

    pub(crate) fn reach(&self, name: &str) -> Reach {
        Reach { tenant: self.tenant.clone(), subject: subject(name) }
    }

    pub(crate) fn address(&self, owner: Owner, level: Level, name: &str) -> Address {
        Address { tenant: self.tenant.clone(), owner, level, key: key(name) }
    }

    /// A first version of a memory with every field filled in.
    pub(crate) fn memory_at(&self, owner: Owner, level: Level, name: &str) -> Memory {
        let shared = owner == Owner::SHARED;
        let value = text(&format!("the value of {name}"));
        Memory {
            id: MemoryId(uuid()),
            address: self.address(owner, level, name),
            kind: KindName::new("preference").unwrap(),
            version: Version::FIRST,
            value_version: Version::FIRST,
            state: State::Active,
            value_chars: u32::try_from(value.char_count()).unwrap(),
            tokens: Some(tokens(&value)),
            value: Some(value),
            source: Source {
                kind: Some(SourceKindName::new("user_message").unwrap()),
                reference: text("message 17"),
                parents: Vec::new(),
                parent_references: vec![text("page \"3\""), text("page 4")],
            },
            lineage_trust: Trust::Attributed,
            evidence: Evidence::UserConfirmed,
            confidence: Confidence::from_millionths(912_345),
            sensitivity: Sensitivity::Personal,
            consent: if shared { Consent::NotApplicable } else { Consent::Granted(vec![purpose("converse")]) },
            purposes: vec![purpose("converse"), purpose("draft")],
            observe_time: at(-10),
            valid_from_time: Some(at(-5)),
            expire_time: Some(at(1_000_000)),
            create_time: at(0),
            update_time: at(0),
            confirm_time: Some(at(0)),
            author: PrincipalId::new("agent").unwrap(),
            change_reason: text("because"),
            intact: true,
        }
    }

    /// Ann's, at general level.
    pub(crate) fn memory(&self, name: &str) -> Memory {
        self.memory_at(own("ann"), Level::General, name)
    }

    pub(crate) fn candidate_at(&self, owner: Owner, level: Level, name: &str) -> Candidate {
        let memory = self.memory_at(owner, level, name);
        Candidate {
            id: CandidateId(uuid()),
            address: memory.address,
            kind: memory.kind,
            value: memory.value,
            source: memory.source,
            lineage_trust: memory.lineage_trust,
            evidence: Evidence::None,
            confidence: memory.confidence,
            sensitivity: memory.sensitivity,
            consent: memory.consent,
            purposes: memory.purposes,
            observe_time: memory.observe_time,
            valid_from_time: memory.valid_from_time,
            expire_time: memory.expire_time,
            reasons: vec![Reason::EvidenceTooWeak, Reason::InstructionLike],
            create_time: at(0),
            lapse_time: at(1_000),
            author: memory.author,
            change_reason: memory.change_reason,
        }
    }

    /// Ann's, at general level.
    pub(crate) fn candidate(&self, name: &str) -> Candidate {
        self.candidate_at(own("ann"), Level::General, name)
    }

    pub(crate) fn judgement(&self, about: Option<SubjectId>) -> Judgement {
        Judgement {
            decision_id: DecisionId(uuid()),
            method: "Capture",
            tenant: self.tenant.clone(),
            subject: about,
            principal: PrincipalId::new("agent").unwrap(),
            grants: ["capture".to_owned()].into(),
            max_sensitivity: Sensitivity::Personal,
            purpose: None,
            context: None,
            policy_version: PolicyVersion([7; 32]),
            decide_time: at(0),
            stale_time: None,
            revisions: Vec::new(),
            verdicts: Vec::new(),
            not_nominated_count: 0,
            min_confidence: None,
            budget: None,
            evidence: Evidence::None,
            disposition: Disposition::Decided { outcome: Outcome::Activated, reasons: Vec::new() },
            validate_only: false,
        }
    }

    /// A change to Ann's rows that says nothing yet.
    pub(crate) fn change(&self) -> Change {
        self.change_of(own("ann"), subject("ann"))
    }

    pub(crate) fn change_of(&self, owner: Owner, acting: SubjectId) -> Change {
        Change {
            tenant: self.tenant.clone(),
            subject: Some(acting.clone()),
            owner,
            expect: Vec::new(),
            writes: Vec::new(),
            announce: None,
            judgement: self.judgement(Some(acting)),
            replay: None,
        }
    }

    pub(crate) fn replay(&self, request_id: Uuid) -> (ReplayKey, ReplayRecord) {
        let kept = ReplayKey {
            tenant: self.tenant.clone(),
            subject: subject("ann"),
            principal: PrincipalId::new("agent").unwrap(),
            method: "Capture",
            request_id: RequestId(request_id),
        };
        let receipt = Receipt {
            decision_id: DecisionId(uuid()),
            policy_version: PolicyVersion([7; 32]),
            outcome: Some(Outcome::Activated),
            reasons: vec![Reason::LifeShortened],
            memory_id: Some(MemoryId(uuid())),
            candidate_id: None,
            version: Some(Version(1)),
            value_version: Some(Version(1)),
            expire_time: Some(at(9)),
            replayed: false,
        };
        (kept, ReplayRecord { payload_digest: [3; 32], receipt, further: Vec::new(), expire_time: at(100) })
    }

    pub(crate) async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError> {
        self.store.commit(change).await
    }

    /// Puts a memory where it belongs, announced.
    pub(crate) async fn put(&self, memory: &Memory) {
        let acting = memory.address.owner.subject().cloned().unwrap_or_else(|| subject("ann"));
        let mut change = self.change_of(memory.address.owner.clone(), acting);
        change.writes = vec![Write::Memory(Box::new(memory.clone()))];
        change.announce = Some(Announcement::Activated);
        self.commit(change).await.unwrap();
    }

    pub(crate) async fn hold(&self, candidate: &Candidate) {
        let acting = candidate.address.owner.subject().cloned().unwrap_or_else(|| subject("ann"));
        let mut change = self.change_of(candidate.address.owner.clone(), acting);
        change.writes = vec![Write::Candidate(Box::new(candidate.clone()))];
        self.commit(change).await.unwrap();
    }

    pub(crate) fn ask(&self, name: &str, level: Level) -> ViewRequest {
        ViewRequest {
            reach: self.reach(name),
            context: Context(level),
            keys: Vec::new(),
            ids: Vec::new(),
            all: false,
            search: None,
            whole: None,
            now: at(0),
        }
    }

    /// Everything that a subject sees in a context.
    pub(crate) async fn view_all(&self, name: &str, level: Level) -> View {
        self.store.view(&ViewRequest { all: true, ..self.ask(name, level) }).await.unwrap()
    }
}

/// The next version of a memory, with another value.
pub(crate) fn next(memory: &Memory, value: &str) -> Memory {
    Memory {
        version: memory.version.next(),
        value_version: memory.version.next(),
        value_chars: u32::try_from(value.chars().count()).unwrap(),
        tokens: Some(tokens(&text(value))),
        value: Some(text(value)),
        update_time: Time::from_micros(memory.update_time.micros() + 1),
        ..memory.clone()
    }
}

pub(crate) fn without_value(memory: &Memory) -> Memory {
    Memory { value: None, tokens: None, ..memory.clone() }
}

pub(crate) fn expect_at(memory: &Memory) -> Expect {
    Expect::Address(memory.address.clone(), Some((memory.id, memory.version)))
}

pub(crate) fn contended<T>(result: &Result<T, CommitError>) -> bool {
    matches!(result, Err(CommitError::Contended))
}

/// The memories of a view, out of the hands of whoever keeps them.
pub(crate) fn owned(memories: Vec<Arc<Memory>>) -> Vec<Memory> {
    memories.into_iter().map(Arc::unwrap_or_clone).collect()
}

/// Text of so many bytes that nothing makes shorter.
pub(crate) fn noise(bytes: usize) -> String {
    let mut last = 7_u32;
    let letter = |_| {
        last = last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'!' + (last >> 24).to_le_bytes()[0] % 90)
    };
    (0..bytes).map(letter).collect()
}
