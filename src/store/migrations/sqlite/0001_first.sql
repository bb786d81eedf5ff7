-- The first schema. Column names are those of the protos; `owner` is a subject, or '' for shared rows; a level follows
-- from (project, task), where '' means none. Times are microseconds since 1970, confidence is in millionths.
--
-- Decision: enums are codes that are checked to be positive, not to be in a list. A list could only be widened by
-- copying the table, and during an upgrade the older binary runs on the schema of the newer one. A code that a binary
-- does not know reads as a row that is not intact, which policy rejects. Cost: the database cannot catch a wrong code.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
    policy_version BLOB    NOT NULL PRIMARY KEY CHECK (length(policy_version) = 32),
    document       TEXT    NOT NULL,
    create_time    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last position given in a tenant's feed. Not max(feed.position): a feed that was trimmed must not start again.
CREATE TABLE tenants (
    tenant        TEXT    NOT NULL PRIMARY KEY CHECK (tenant <> ''),
    feed_position INTEGER NOT NULL DEFAULT 0 CHECK (feed_position >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE owners (
    tenant        TEXT    NOT NULL CHECK (tenant <> ''),
    owner         TEXT    NOT NULL,
    counter       INTEGER NOT NULL DEFAULT 0 CHECK (counter >= 0),
    block_epoch   INTEGER NOT NULL DEFAULT 0 CHECK (block_epoch >= 0),
    subject_epoch INTEGER NOT NULL DEFAULT 0 CHECK (subject_epoch >= 0),
    PRIMARY KEY (tenant, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE revisions (
    tenant      TEXT    NOT NULL CHECK (tenant <> ''),
    owner       TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    task        TEXT    NOT NULL CHECK (task = '' OR project <> ''),
    revision    INTEGER NOT NULL CHECK (revision > 0),
    update_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, project, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    tenant            TEXT    NOT NULL CHECK (tenant <> ''),
    owner             TEXT    NOT NULL,
    project           TEXT    NOT NULL,
    task              TEXT    NOT NULL CHECK (task = '' OR project <> ''),
    key               TEXT    NOT NULL CHECK (key <> ''),
    memory_id         BLOB    NOT NULL CHECK (length(memory_id) = 16),
    version           INTEGER NOT NULL CHECK (version > 0),
    value_version     INTEGER NOT NULL CHECK (value_version BETWEEN 1 AND version),
    state             INTEGER NOT NULL CHECK (state > 0),
    kind              TEXT    NOT NULL CHECK (kind <> ''),
    value             TEXT             CHECK (value IS NOT NULL OR state = 4),
    value_chars       INTEGER NOT NULL CHECK (value_chars >= 0),
    source_kind       TEXT,
    source_reference  TEXT    NOT NULL,
    parents           TEXT    NOT NULL,
    parent_references TEXT    NOT NULL,
    lineage_trust     INTEGER NOT NULL CHECK (lineage_trust > 0),
    evidence          INTEGER NOT NULL CHECK (evidence > 0),
    confidence        INTEGER          CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       INTEGER NOT NULL CHECK (sensitivity > 0),
    consent           INTEGER NOT NULL CHECK (consent > 0),
    consent_purposes  TEXT    NOT NULL,
    purposes          TEXT    NOT NULL,
    observe_time      INTEGER NOT NULL,
    valid_from_time   INTEGER,
    expire_time       INTEGER,
    create_time       INTEGER NOT NULL,
    update_time       INTEGER NOT NULL,
    confirm_time      INTEGER,
    author            TEXT    NOT NULL CHECK (author <> ''),
    change_reason     TEXT    NOT NULL,
    counter           INTEGER NOT NULL CHECK (counter > 0),
    key_id            TEXT    NOT NULL CHECK (key_id <> ''),
    tokens            BLOB,
    PRIMARY KEY (tenant, owner, project, task, key),
    UNIQUE (tenant, memory_id)
) STRICT, WITHOUT ROWID;

-- Every version, the current one too. The newest of a memory is the one that nothing supersedes.
CREATE TABLE memory_versions (
    tenant            TEXT    NOT NULL CHECK (tenant <> ''),
    owner             TEXT    NOT NULL,
    project           TEXT    NOT NULL,
    task              TEXT    NOT NULL CHECK (task = '' OR project <> ''),
    key               TEXT    NOT NULL CHECK (key <> ''),
    memory_id         BLOB    NOT NULL CHECK (length(memory_id) = 16),
    version           INTEGER NOT NULL CHECK (version > 0),
    value_version     INTEGER NOT NULL CHECK (value_version BETWEEN 1 AND version),
    state             INTEGER NOT NULL CHECK (state > 0),
    kind              TEXT    NOT NULL CHECK (kind <> ''),
    value             TEXT,
    value_chars       INTEGER NOT NULL CHECK (value_chars >= 0),
    source_kind       TEXT,
    source_reference  TEXT    NOT NULL,
    parents           TEXT    NOT NULL,
    parent_references TEXT    NOT NULL,
    lineage_trust     INTEGER NOT NULL CHECK (lineage_trust > 0),
    evidence          INTEGER NOT NULL CHECK (evidence > 0),
    confidence        INTEGER          CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       INTEGER NOT NULL CHECK (sensitivity > 0),
    consent           INTEGER NOT NULL CHECK (consent > 0),
    consent_purposes  TEXT    NOT NULL,
    purposes          TEXT    NOT NULL,
    observe_time      INTEGER NOT NULL,
    valid_from_time   INTEGER,
    expire_time       INTEGER,
    create_time       INTEGER NOT NULL,
    update_time       INTEGER NOT NULL,
    confirm_time      INTEGER,
    author            TEXT    NOT NULL CHECK (author <> ''),
    change_reason     TEXT    NOT NULL,
    counter           INTEGER NOT NULL CHECK (counter > 0),
    key_id            TEXT    NOT NULL CHECK (key_id <> ''),
    superseded_by     INTEGER          CHECK (superseded_by > version),
    PRIMARY KEY (tenant, owner, memory_id, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX memory_versions_newest ON memory_versions (tenant, memory_id) WHERE superseded_by IS NULL;

-- What a version was made from: 1 its source, 2 a parent memory, 3 a parent reference. The other column is empty.
CREATE TABLE lineage (
    tenant           TEXT    NOT NULL CHECK (tenant <> ''),
    owner            TEXT    NOT NULL,
    memory_id        BLOB    NOT NULL CHECK (length(memory_id) = 16),
    version          INTEGER NOT NULL CHECK (version > 0),
    relation         INTEGER NOT NULL CHECK (relation > 0),
    parent_id        BLOB    NOT NULL CHECK (length(parent_id) = 16),
    reference_digest BLOB    NOT NULL CHECK (length(reference_digest) IN (0, 32)),
    key_id           TEXT    NOT NULL CHECK (key_id <> ''),
    PRIMARY KEY (tenant, owner, memory_id, version, relation, parent_id, reference_digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX lineage_parent ON lineage (tenant, parent_id) WHERE relation = 2;
CREATE INDEX lineage_reference ON lineage (tenant, reference_digest) WHERE relation <> 2;

CREATE TABLE candidates (
    tenant            TEXT    NOT NULL CHECK (tenant <> ''),
    owner             TEXT    NOT NULL,
    project           TEXT    NOT NULL,
    task              TEXT    NOT NULL CHECK (task = '' OR project <> ''),
    key               TEXT    NOT NULL CHECK (key <> ''),
    candidate_id      BLOB    NOT NULL CHECK (length(candidate_id) = 16),
    kind              TEXT    NOT NULL CHECK (kind <> ''),
    value             TEXT    NOT NULL,
    source_kind       TEXT,
    source_reference  TEXT    NOT NULL,
    parents           TEXT    NOT NULL,
    parent_references TEXT    NOT NULL,
    lineage_trust     INTEGER NOT NULL CHECK (lineage_trust > 0),
    evidence          INTEGER NOT NULL CHECK (evidence > 0),
    confidence        INTEGER          CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       INTEGER NOT NULL CHECK (sensitivity > 0),
    consent           INTEGER NOT NULL CHECK (consent > 0),
    consent_purposes  TEXT    NOT NULL,
    purposes          TEXT    NOT NULL,
    observe_time      INTEGER NOT NULL,
    valid_from_time   INTEGER,
    expire_time       INTEGER,
    reasons           TEXT    NOT NULL,
    create_time       INTEGER NOT NULL,
    lapse_time        INTEGER NOT NULL,
    author            TEXT    NOT NULL CHECK (author <> ''),
    change_reason     TEXT    NOT NULL,
    PRIMARY KEY (tenant, owner, project, task, create_time, candidate_id),
    UNIQUE (tenant, candidate_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX candidates_by_time ON candidates (tenant, owner, create_time, candidate_id);
CREATE INDEX candidates_by_lapse ON candidates (lapse_time);

CREATE TABLE reviews (
    tenant         TEXT    NOT NULL CHECK (tenant <> ''),
    owner          TEXT    NOT NULL,
    review_id      BLOB    NOT NULL CHECK (length(review_id) = 16),
    candidate_id   BLOB             CHECK (length(candidate_id) = 16),
    memory_id      BLOB             CHECK (length(memory_id) = 16),
    memory_version INTEGER          CHECK (memory_version > 0),
    shown          BLOB    NOT NULL,
    principal      TEXT    NOT NULL CHECK (principal <> ''),
    grants         TEXT    NOT NULL,
    state          INTEGER NOT NULL CHECK (state > 0),
    receipt        BLOB,
    create_time    INTEGER NOT NULL,
    expire_time    INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, review_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reviews_by_time ON reviews (tenant, owner, create_time, review_id);

-- Decision: decisions have a rowid, unlike all other tables. A body is larger than what the page of a WITHOUT ROWID
-- table keeps in place (about 1,000 of 4,096 bytes), so that each would take an overflow page of its own; appended to a
-- rowid table, two or three share a page, and a group commit writes so many pages fewer. Cost: three small indexes, the
-- last of which retention needs; it grows at its end alone.
CREATE TABLE decisions (
    tenant      TEXT    NOT NULL CHECK (tenant <> ''),
    owner       TEXT    NOT NULL,
    decide_time INTEGER NOT NULL,
    decision_id BLOB    NOT NULL CHECK (length(decision_id) = 16),
    method      TEXT    NOT NULL CHECK (method <> ''),
    outcome     TEXT    NOT NULL,
    key_id      TEXT    NOT NULL CHECK (key_id <> ''),
    body        BLOB    NOT NULL,
    UNIQUE (tenant, decision_id)
) STRICT;

CREATE INDEX decisions_by_time ON decisions (tenant, owner, decide_time, decision_id);
CREATE INDEX decisions_by_age ON decisions (decide_time);

CREATE TABLE feed (
    tenant        TEXT    NOT NULL CHECK (tenant <> ''),
    owner         TEXT    NOT NULL,
    counter       INTEGER NOT NULL CHECK (counter > 0),
    memory_id     BLOB    NOT NULL CHECK (length(memory_id) = 16),
    position      INTEGER          CHECK (position > 0),
    version       INTEGER NOT NULL CHECK (version > 0),
    value_version INTEGER NOT NULL CHECK (value_version BETWEEN 1 AND version),
    what          TEXT    NOT NULL CHECK (what <> ''),
    project       TEXT    NOT NULL,
    task          TEXT    NOT NULL CHECK (task = '' OR project <> ''),
    update_time   INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, counter, memory_id),
    UNIQUE (tenant, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE derived_stores (
    tenant            TEXT    NOT NULL CHECK (tenant <> ''),
    derived_store     TEXT    NOT NULL CHECK (derived_store <> ''),
    principal         TEXT    NOT NULL CHECK (principal <> ''),
    position          INTEGER NOT NULL CHECK (position >= 0),
    hidden_seconds    INTEGER NOT NULL CHECK (hidden_seconds > 0),
    purged_seconds    INTEGER NOT NULL CHECK (purged_seconds > 0),
    retention_seconds INTEGER          CHECK (retention_seconds >= 0),
    register_time     INTEGER NOT NULL,
    retire_time       INTEGER,
    PRIMARY KEY (tenant, derived_store)
) STRICT, WITHOUT ROWID;

CREATE TABLE acknowledgements (
    tenant           TEXT    NOT NULL CHECK (tenant <> ''),
    derived_store    TEXT    NOT NULL CHECK (derived_store <> ''),
    memory_id        BLOB    NOT NULL CHECK (length(memory_id) = 16),
    version          INTEGER NOT NULL CHECK (version > 0),
    copy_state       INTEGER NOT NULL CHECK (copy_state > 0),
    receipt          TEXT    NOT NULL,
    acknowledge_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, derived_store, memory_id, version, copy_state)
) STRICT, WITHOUT ROWID;

CREATE INDEX acknowledgements_by_memory ON acknowledgements (tenant, memory_id, version);

CREATE TABLE deletion_jobs (
    tenant               TEXT    NOT NULL CHECK (tenant <> ''),
    owner                TEXT    NOT NULL,
    job_id               BLOB    NOT NULL CHECK (length(job_id) = 16),
    state                INTEGER NOT NULL CHECK (state > 0),
    cause                INTEGER NOT NULL CHECK (cause > 0),
    decision_id          BLOB    NOT NULL CHECK (length(decision_id) = 16),
    memory_id            BLOB             CHECK (length(memory_id) = 16),
    position             INTEGER          CHECK (position > 0),
    hidden_deadline_time INTEGER,
    purged_deadline_time INTEGER,
    erase_time           INTEGER,
    receipt              BLOB,
    create_time          INTEGER NOT NULL,
    update_time          INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deletion_jobs_by_memory ON deletion_jobs (tenant, memory_id) WHERE memory_id IS NOT NULL;

-- Empty digests block nothing by themselves; a reference without a key is blocked under every key; the memory of all
-- zeros is none. Not NULL, because NULLs never conflict.
CREATE TABLE blocks (
    tenant           TEXT    NOT NULL CHECK (tenant <> ''),
    owner            TEXT    NOT NULL,
    reference_digest BLOB    NOT NULL CHECK (length(reference_digest) IN (0, 32)),
    key_digest       BLOB    NOT NULL CHECK (length(key_digest) IN (0, 32)),
    memory_id        BLOB    NOT NULL CHECK (length(memory_id) = 16),
    cause            INTEGER NOT NULL CHECK (cause > 0),
    since            INTEGER NOT NULL,
    key_id           TEXT    NOT NULL CHECK (key_id <> ''),
    PRIMARY KEY (tenant, owner, reference_digest, key_digest, memory_id, cause)
) STRICT, WITHOUT ROWID;

CREATE INDEX blocks_by_memory ON blocks (tenant, memory_id, owner, cause, since);

CREATE TABLE tombstones (
    tenant      TEXT    NOT NULL CHECK (tenant <> ''),
    owner       TEXT    NOT NULL,
    what        INTEGER NOT NULL CHECK (what > 0),
    digest      BLOB    NOT NULL CHECK (length(digest) = 32),
    key_id      TEXT    NOT NULL CHECK (key_id <> ''),
    memory_id   BLOB             CHECK (length(memory_id) = 16),
    create_time INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, what, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    tenant         TEXT    NOT NULL CHECK (tenant <> ''),
    owner          TEXT    NOT NULL,
    principal      TEXT    NOT NULL CHECK (principal <> ''),
    method         TEXT    NOT NULL CHECK (method <> ''),
    request_id     BLOB    NOT NULL CHECK (length(request_id) = 16),
    payload_digest BLOB    NOT NULL CHECK (length(payload_digest) = 32),
    key_id         TEXT    NOT NULL CHECK (key_id <> ''),
    receipt        BLOB    NOT NULL,
    expire_time    INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, principal, method, request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_expiry ON idempotency (expire_time);
