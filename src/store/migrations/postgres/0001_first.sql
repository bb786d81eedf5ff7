-- The first schema. Column names are those of the protos; `owner` is a subject, or '' for shared rows; a level follows
-- from (project, task), where '' means none. Times are microseconds since 1970, confidence is in millionths.
--
-- Enums are codes that are checked to be positive only: see the SQLite file of the same name.

CREATE TABLE meta (
    name  text COLLATE "C" NOT NULL PRIMARY KEY,
    value text COLLATE "C" NOT NULL
);

CREATE TABLE policies (
    policy_version bytea            NOT NULL PRIMARY KEY CHECK (length(policy_version) = 32),
    document       text COLLATE "C" NOT NULL,
    create_time    bigint           NOT NULL
);

-- Who does what only one replica may do, by this database's clock. The token rises whenever the holder changes; work is
-- done under a lock of the row, with the token compared.
CREATE TABLE leases (
    name        text COLLATE "C" NOT NULL PRIMARY KEY,
    holder      uuid             NOT NULL,
    token       bigint           NOT NULL CHECK (token > 0),
    expire_time bigint           NOT NULL
);

-- The last position given in a tenant's feed. Not max(feed.position): a feed that was trimmed must not start again.
CREATE TABLE tenants (
    tenant        text COLLATE "C" NOT NULL PRIMARY KEY CHECK (tenant <> ''),
    feed_position bigint           NOT NULL DEFAULT 0 CHECK (feed_position >= 0)
);

CREATE TABLE owners (
    tenant        text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner         text COLLATE "C" NOT NULL,
    counter       bigint           NOT NULL DEFAULT 0 CHECK (counter >= 0),
    block_epoch   bigint           NOT NULL DEFAULT 0 CHECK (block_epoch >= 0),
    subject_epoch bigint           NOT NULL DEFAULT 0 CHECK (subject_epoch >= 0),
    PRIMARY KEY (tenant, owner)
);

CREATE TABLE revisions (
    tenant      text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner       text COLLATE "C" NOT NULL,
    project     text COLLATE "C" NOT NULL,
    task        text COLLATE "C" NOT NULL CHECK (task = '' OR project <> ''),
    revision    bigint           NOT NULL CHECK (revision > 0),
    update_time bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, project, task)
);

CREATE TABLE memories (
    tenant            text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner             text COLLATE "C" NOT NULL,
    project           text COLLATE "C" NOT NULL,
    task              text COLLATE "C" NOT NULL CHECK (task = '' OR project <> ''),
    key               text COLLATE "C" NOT NULL CHECK (key <> ''),
    memory_id         uuid             NOT NULL,
    version           bigint           NOT NULL CHECK (version > 0),
    value_version     bigint           NOT NULL CHECK (value_version BETWEEN 1 AND version),
    state             bigint           NOT NULL CHECK (state > 0),
    kind              text COLLATE "C" NOT NULL CHECK (kind <> ''),
    value             text COLLATE "C" CHECK (value IS NOT NULL OR state = 4),
    value_chars       bigint           NOT NULL CHECK (value_chars >= 0),
    source_kind       text COLLATE "C",
    source_reference  text COLLATE "C" NOT NULL,
    parents           text COLLATE "C" NOT NULL,
    parent_references text COLLATE "C" NOT NULL,
    lineage_trust     bigint           NOT NULL CHECK (lineage_trust > 0),
    evidence          bigint           NOT NULL CHECK (evidence > 0),
    confidence        bigint           CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       bigint           NOT NULL CHECK (sensitivity > 0),
    consent           bigint           NOT NULL CHECK (consent > 0),
    consent_purposes  text COLLATE "C" NOT NULL,
    purposes          text COLLATE "C" NOT NULL,
    observe_time      bigint           NOT NULL,
    valid_from_time   bigint,
    expire_time       bigint,
    create_time       bigint           NOT NULL,
    update_time       bigint           NOT NULL,
    confirm_time      bigint,
    author            text COLLATE "C" NOT NULL CHECK (author <> ''),
    change_reason     text COLLATE "C" NOT NULL,
    counter           bigint           NOT NULL CHECK (counter > 0),
    key_id            text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    tokens            bytea,
    PRIMARY KEY (tenant, owner, project, task, key),
    UNIQUE (tenant, memory_id)
);

-- Every version, the current one too. The newest of a memory is the one that nothing supersedes.
CREATE TABLE memory_versions (
    tenant            text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner             text COLLATE "C" NOT NULL,
    project           text COLLATE "C" NOT NULL,
    task              text COLLATE "C" NOT NULL CHECK (task = '' OR project <> ''),
    key               text COLLATE "C" NOT NULL CHECK (key <> ''),
    memory_id         uuid             NOT NULL,
    version           bigint           NOT NULL CHECK (version > 0),
    value_version     bigint           NOT NULL CHECK (value_version BETWEEN 1 AND version),
    state             bigint           NOT NULL CHECK (state > 0),
    kind              text COLLATE "C" NOT NULL CHECK (kind <> ''),
    value             text COLLATE "C",
    value_chars       bigint           NOT NULL CHECK (value_chars >= 0),
    source_kind       text COLLATE "C",
    source_reference  text COLLATE "C" NOT NULL,
    parents           text COLLATE "C" NOT NULL,
    parent_references text COLLATE "C" NOT NULL,
    lineage_trust     bigint           NOT NULL CHECK (lineage_trust > 0),
    evidence          bigint           NOT NULL CHECK (evidence > 0),
    confidence        bigint           CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       bigint           NOT NULL CHECK (sensitivity > 0),
    consent           bigint           NOT NULL CHECK (consent > 0),
    consent_purposes  text COLLATE "C" NOT NULL,
    purposes          text COLLATE "C" NOT NULL,
    observe_time      bigint           NOT NULL,
    valid_from_time   bigint,
    expire_time       bigint,
    create_time       bigint           NOT NULL,
    update_time       bigint           NOT NULL,
    confirm_time      bigint,
    author            text COLLATE "C" NOT NULL CHECK (author <> ''),
    change_reason     text COLLATE "C" NOT NULL,
    counter           bigint           NOT NULL CHECK (counter > 0),
    key_id            text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    superseded_by     bigint           CHECK (superseded_by > version),
    PRIMARY KEY (tenant, owner, memory_id, version)
);

CREATE UNIQUE INDEX memory_versions_newest ON memory_versions (tenant, memory_id) WHERE superseded_by IS NULL;

-- What a version was made from: 1 its source, 2 a parent memory, 3 a parent reference. The other column is empty.
CREATE TABLE lineage (
    tenant           text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner            text COLLATE "C" NOT NULL,
    memory_id        uuid             NOT NULL,
    version          bigint           NOT NULL CHECK (version > 0),
    relation         bigint           NOT NULL CHECK (relation > 0),
    parent_id        uuid             NOT NULL,
    reference_digest bytea            NOT NULL CHECK (length(reference_digest) IN (0, 32)),
    key_id           text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    PRIMARY KEY (tenant, owner, memory_id, version, relation, parent_id, reference_digest)
);

CREATE INDEX lineage_parent ON lineage (tenant, parent_id) WHERE relation = 2;
CREATE INDEX lineage_reference ON lineage (tenant, reference_digest) WHERE relation <> 2;

CREATE TABLE candidates (
    tenant            text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner             text COLLATE "C" NOT NULL,
    project           text COLLATE "C" NOT NULL,
    task              text COLLATE "C" NOT NULL CHECK (task = '' OR project <> ''),
    key               text COLLATE "C" NOT NULL CHECK (key <> ''),
    candidate_id      uuid             NOT NULL,
    kind              text COLLATE "C" NOT NULL CHECK (kind <> ''),
    value             text COLLATE "C" NOT NULL,
    source_kind       text COLLATE "C",
    source_reference  text COLLATE "C" NOT NULL,
    parents           text COLLATE "C" NOT NULL,
    parent_references text COLLATE "C" NOT NULL,
    lineage_trust     bigint           NOT NULL CHECK (lineage_trust > 0),
    evidence          bigint           NOT NULL CHECK (evidence > 0),
    confidence        bigint           CHECK (confidence BETWEEN 0 AND 1000000),
    sensitivity       bigint           NOT NULL CHECK (sensitivity > 0),
    consent           bigint           NOT NULL CHECK (consent > 0),
    consent_purposes  text COLLATE "C" NOT NULL,
    purposes          text COLLATE "C" NOT NULL,
    observe_time      bigint           NOT NULL,
    valid_from_time   bigint,
    expire_time       bigint,
    reasons           text COLLATE "C" NOT NULL,
    create_time       bigint           NOT NULL,
    lapse_time        bigint           NOT NULL,
    author            text COLLATE "C" NOT NULL CHECK (author <> ''),
    change_reason     text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, owner, project, task, create_time, candidate_id),
    UNIQUE (tenant, candidate_id)
);

CREATE INDEX candidates_by_time ON candidates (tenant, owner, create_time, candidate_id);
CREATE INDEX candidates_by_lapse ON candidates (lapse_time);

CREATE TABLE reviews (
    tenant         text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner          text COLLATE "C" NOT NULL,
    review_id      uuid             NOT NULL,
    candidate_id   uuid,
    memory_id      uuid,
    memory_version bigint           CHECK (memory_version > 0),
    shown          bytea            NOT NULL,
    principal      text COLLATE "C" NOT NULL CHECK (principal <> ''),
    grants         text COLLATE "C" NOT NULL,
    state          bigint           NOT NULL CHECK (state > 0),
    receipt        bytea,
    create_time    bigint           NOT NULL,
    expire_time    bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, review_id)
);

CREATE INDEX reviews_by_time ON reviews (tenant, owner, create_time, review_id);

-- Partitioned by time, so that retention drops a partition; what no partition was made for lands in the default one.
CREATE TABLE decisions (
    tenant      text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner       text COLLATE "C" NOT NULL,
    decide_time bigint           NOT NULL,
    decision_id uuid             NOT NULL,
    method      text COLLATE "C" NOT NULL CHECK (method <> ''),
    outcome     text COLLATE "C" NOT NULL,
    key_id      text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    body        bytea            NOT NULL,
    PRIMARY KEY (tenant, owner, decide_time, decision_id)
) PARTITION BY RANGE (decide_time);

CREATE TABLE decisions_default PARTITION OF decisions DEFAULT;

CREATE INDEX decisions_by_id ON decisions (tenant, decision_id);

CREATE TABLE feed (
    tenant        text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner         text COLLATE "C" NOT NULL,
    counter       bigint           NOT NULL CHECK (counter > 0),
    memory_id     uuid             NOT NULL,
    position      bigint           CHECK (position > 0),
    version       bigint           NOT NULL CHECK (version > 0),
    value_version bigint           NOT NULL CHECK (value_version BETWEEN 1 AND version),
    what          text COLLATE "C" NOT NULL CHECK (what <> ''),
    project       text COLLATE "C" NOT NULL,
    task          text COLLATE "C" NOT NULL CHECK (task = '' OR project <> ''),
    update_time   bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, counter, memory_id),
    UNIQUE (tenant, position)
);

-- What the sequencer has given no position yet.
CREATE INDEX feed_unsequenced ON feed (tenant, owner, counter, memory_id) WHERE position IS NULL;

CREATE TABLE derived_stores (
    tenant            text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    derived_store     text COLLATE "C" NOT NULL CHECK (derived_store <> ''),
    principal         text COLLATE "C" NOT NULL CHECK (principal <> ''),
    position          bigint           NOT NULL CHECK (position >= 0),
    hidden_seconds    bigint           NOT NULL CHECK (hidden_seconds > 0),
    purged_seconds    bigint           NOT NULL CHECK (purged_seconds > 0),
    retention_seconds bigint           CHECK (retention_seconds >= 0),
    register_time     bigint           NOT NULL,
    retire_time       bigint,
    PRIMARY KEY (tenant, derived_store)
);

CREATE TABLE acknowledgements (
    tenant           text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    derived_store    text COLLATE "C" NOT NULL CHECK (derived_store <> ''),
    memory_id        uuid             NOT NULL,
    version          bigint           NOT NULL CHECK (version > 0),
    copy_state       bigint           NOT NULL CHECK (copy_state > 0),
    receipt          text COLLATE "C" NOT NULL,
    acknowledge_time bigint           NOT NULL,
    PRIMARY KEY (tenant, derived_store, memory_id, version, copy_state)
);

CREATE INDEX acknowledgements_by_memory ON acknowledgements (tenant, memory_id, version);

CREATE TABLE deletion_jobs (
    tenant               text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner                text COLLATE "C" NOT NULL,
    job_id               uuid             NOT NULL,
    state                bigint           NOT NULL CHECK (state > 0),
    cause                bigint           NOT NULL CHECK (cause > 0),
    decision_id          uuid             NOT NULL,
    memory_id            uuid,
    position             bigint           CHECK (position > 0),
    hidden_deadline_time bigint,
    purged_deadline_time bigint,
    erase_time           bigint,
    receipt              bytea,
    create_time          bigint           NOT NULL,
    update_time          bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, job_id)
);

CREATE INDEX deletion_jobs_by_memory ON deletion_jobs (tenant, memory_id) WHERE memory_id IS NOT NULL;

-- Empty digests block nothing by themselves; a reference without a key is blocked under every key; the memory of all
-- zeros is none. Not NULL, because NULLs never conflict.
CREATE TABLE blocks (
    tenant           text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner            text COLLATE "C" NOT NULL,
    reference_digest bytea            NOT NULL CHECK (length(reference_digest) IN (0, 32)),
    key_digest       bytea            NOT NULL CHECK (length(key_digest) IN (0, 32)),
    memory_id        uuid             NOT NULL,
    cause            bigint           NOT NULL CHECK (cause > 0),
    since            bigint           NOT NULL,
    key_id           text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    PRIMARY KEY (tenant, owner, reference_digest, key_digest, memory_id, cause)
);

CREATE INDEX blocks_by_memory ON blocks (tenant, memory_id, owner, cause, since);

CREATE TABLE tombstones (
    tenant      text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner       text COLLATE "C" NOT NULL,
    what        bigint           NOT NULL CHECK (what > 0),
    digest      bytea            NOT NULL CHECK (length(digest) = 32),
    key_id      text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    memory_id   uuid,
    create_time bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, what, digest)
);

CREATE TABLE idempotency (
    tenant         text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    owner          text COLLATE "C" NOT NULL,
    principal      text COLLATE "C" NOT NULL CHECK (principal <> ''),
    method         text COLLATE "C" NOT NULL CHECK (method <> ''),
    request_id     uuid             NOT NULL,
    payload_digest bytea            NOT NULL CHECK (length(payload_digest) = 32),
    key_id         text COLLATE "C" NOT NULL CHECK (key_id <> ''),
    receipt        bytea            NOT NULL,
    expire_time    bigint           NOT NULL,
    PRIMARY KEY (tenant, owner, principal, method, request_id)
);

CREATE INDEX idempotency_by_expiry ON idempotency (expire_time);

-- Who may do what. The roles are made by deploy/postgres/roles.sql; none of them owns a table, and every table that
-- has a tenant is under row-level security, which binds its owner too. The settings `rg.tenant` and `rg.subject` hold
-- for one transaction, and read NULL or '' outside of it: then there is no row.

GRANT SELECT ON _sqlx_migrations TO recall_gate_app, recall_gate_ledger, recall_gate_feeder, recall_gate_worker;
GRANT SELECT, INSERT ON meta, policies TO recall_gate_app;
GRANT SELECT, INSERT, UPDATE ON leases TO recall_gate_app, recall_gate_feeder;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE owners ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE revisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memories ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE lineage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE candidates ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reviews ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE decisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE feed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE derived_stores ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE acknowledgements ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE deletion_jobs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE blocks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The service: the rows of one tenant, and in it those of one subject and the shared ones.
CREATE POLICY app ON owners TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON revisions TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON memories TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON memory_versions TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON lineage TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON candidates TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON reviews TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON decisions TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON feed TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON deletion_jobs TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON blocks TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON tombstones TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON idempotency TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '')
           AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), '')
                AND owner IN (COALESCE(current_setting('rg.subject', true), ''), ''));
CREATE POLICY app ON derived_stores TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), ''));
CREATE POLICY app ON acknowledgements TO recall_gate_app
    USING (tenant = NULLIF(current_setting('rg.tenant', true), ''))
    WITH CHECK (tenant = NULLIF(current_setting('rg.tenant', true), ''));

GRANT SELECT, INSERT, UPDATE ON owners, revisions, memories, memory_versions, reviews, derived_stores, deletion_jobs,
    tombstones, idempotency TO recall_gate_app;
GRANT SELECT, INSERT ON lineage, decisions, feed, acknowledgements TO recall_gate_app;
GRANT SELECT, INSERT, DELETE ON candidates, blocks TO recall_gate_app;

-- The ledger: decisions of reads of all tenants in one statement, where the revisions that were judged still stand.
CREATE POLICY ledger ON decisions FOR INSERT TO recall_gate_ledger WITH CHECK (true);
CREATE POLICY ledger ON revisions FOR SELECT TO recall_gate_ledger USING (true);
GRANT INSERT ON decisions TO recall_gate_ledger;
GRANT SELECT (tenant, owner, project, task, revision) ON revisions TO recall_gate_ledger;

-- The feeder: positions in the feeds of all tenants.
CREATE POLICY feeder ON feed TO recall_gate_feeder USING (true) WITH CHECK (true);
CREATE POLICY feeder ON tenants TO recall_gate_feeder USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (position) ON feed TO recall_gate_feeder;
GRANT SELECT, INSERT, UPDATE ON tenants TO recall_gate_feeder;

-- The worker: finds by columns that hold no text, and removes text of one owner at a time.
CREATE POLICY worker_finds ON candidates FOR SELECT TO recall_gate_worker USING (true);
CREATE POLICY worker_finds ON idempotency FOR SELECT TO recall_gate_worker USING (true);
CREATE POLICY worker_removes ON candidates FOR DELETE TO recall_gate_worker
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '') AND owner = current_setting('rg.subject', true));
CREATE POLICY worker_removes ON idempotency FOR DELETE TO recall_gate_worker
    USING (tenant = NULLIF(current_setting('rg.tenant', true), '') AND owner = current_setting('rg.subject', true));
CREATE POLICY worker ON decisions TO recall_gate_worker USING (true);
GRANT SELECT (tenant, owner, candidate_id, lapse_time), DELETE ON candidates TO recall_gate_worker;
GRANT SELECT (tenant, owner, principal, method, request_id, expire_time), DELETE ON idempotency TO recall_gate_worker;
GRANT SELECT (tenant, owner, decide_time, decision_id), DELETE ON decisions TO recall_gate_worker;
