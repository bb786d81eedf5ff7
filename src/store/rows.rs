//! Rows as the databases hold them, and the values that they stand for. The same for both engines.
//!
//! A column that holds what no version of the service writes does not fail the read. It is read as the worst it could
//! be, and the memory as not intact, so that policy rejects it. Only what cannot be named at all is a fault.

use std::borrow::Cow;

use uuid::Uuid;

use super::codes;
use super::fault::Fault;
use super::receipt::reason;
use crate::memory::{
    Address, Candidate, CandidateId, Confidence, Consent, Evidence, Key, KindName, Level, Memory, MemoryId, Owner,
    PrincipalId, ProjectId, PurposeName, Reason, Sensitivity, Source, SourceKindName, State, SubjectId, TaskId,
    TenantId, Text, Time, Tokens, Trust, Version,
};

/// Stands where a name was unreadable; the row is not intact then.
const UNREADABLE: &str = "unreadable";

/// What memories and candidates have in common.
#[derive(Debug)]
pub(super) struct FactRow<'r> {
    pub(super) tenant: &'r str,
    pub(super) owner: &'r str,
    pub(super) project: &'r str,
    pub(super) task: &'r str,
    pub(super) key: &'r str,
    pub(super) kind: &'r str,
    pub(super) value: Option<&'r str>,
    pub(super) source_kind: Option<&'r str>,
    pub(super) source_reference: &'r str,
    pub(super) parents: Cow<'r, str>,
    pub(super) parent_references: Cow<'r, str>,
    pub(super) lineage_trust: i64,
    pub(super) evidence: i64,
    pub(super) confidence: Option<i64>,
    pub(super) sensitivity: i64,
    pub(super) consent: i64,
    pub(super) consent_purposes: Cow<'r, str>,
    pub(super) purposes: Cow<'r, str>,
    pub(super) observe_time: i64,
    pub(super) valid_from_time: Option<i64>,
    pub(super) expire_time: Option<i64>,
    pub(super) create_time: i64,
    pub(super) author: &'r str,
    pub(super) change_reason: &'r str,
}

/// A row of `memories` or `memory_versions`.
#[derive(Debug)]
pub(super) struct MemoryRow<'r> {
    pub(super) fact: FactRow<'r>,
    pub(super) memory_id: Uuid,
    pub(super) version: i64,
    pub(super) value_version: i64,
    pub(super) state: i64,
    pub(super) value_chars: i64,
    pub(super) update_time: i64,
    pub(super) confirm_time: Option<i64>,
    pub(super) tokens: Option<&'r [u8]>,
}

/// A row of `candidates`.
#[derive(Debug)]
pub(super) struct CandidateRow<'r> {
    pub(super) fact: FactRow<'r>,
    pub(super) candidate_id: Uuid,
    pub(super) reasons: Cow<'r, str>,
    pub(super) lapse_time: i64,
}

/// The subject, or nobody.
pub(super) fn owner(owner: &str) -> Result<Owner, Fault> {
    if owner.is_empty() {
        return Ok(Owner::SHARED);
    }
    SubjectId::new(owner).map(Owner::personal).map_err(|_| Fault::Stored("owner"))
}

/// The level that a project and a task imply.
pub(super) fn level(project: &str, task: &str) -> Result<Level, Fault> {
    if project.is_empty() {
        return Ok(Level::General);
    }
    let project = ProjectId::new(project).map_err(|_| Fault::Stored("project"))?;
    if task.is_empty() {
        return Ok(Level::Project(project));
    }
    Ok(Level::Task(project, TaskId::new(task).map_err(|_| Fault::Stored("task"))?))
}

/// A list of texts as columns hold it, a JSON array.
pub(super) fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    serde_json::Value::from_iter(texts).to_string()
}

/// What of a row could be read, and whether all of it could.
struct Reading {
    intact: bool,
}

impl Reading {
    fn or<T>(&mut self, read: Option<T>, worst: T) -> T {
        self.intact &= read.is_some();
        read.unwrap_or(worst)
    }

    fn list<T>(&mut self, column: &str, read: impl Fn(String) -> Option<T>) -> Vec<T> {
        // What most columns hold.
        if column == "[]" {
            return Vec::new();
        }
        let texts: Option<Vec<String>> = serde_json::from_str(column).ok();
        let list = texts.and_then(|texts| texts.into_iter().map(read).collect());
        self.or(list, Vec::new())
    }

    /// Unreadable purposes are no purpose that policy has: an empty list would be all of them.
    fn purposes(&mut self, column: &str) -> Vec<PurposeName> {
        let mut own = Self { intact: true };
        let purposes = own.list(column, |name| PurposeName::new(name).ok());
        if own.intact {
            return purposes;
        }
        self.intact = false;
        PurposeName::new(UNREADABLE).into_iter().collect()
    }

    fn consent(&mut self, row: &FactRow<'_>) -> Consent {
        let mut own = Self { intact: true };
        let purposes = own.list(&row.consent_purposes, |name| PurposeName::new(name).ok());
        self.or(codes::consent(row.consent, purposes).filter(|_| own.intact), Consent::Withdrawn)
    }
}

impl FactRow<'_> {
    fn address(&self) -> Result<Address, Fault> {
        Ok(Address {
            tenant: TenantId::new(self.tenant).map_err(|_| Fault::Stored("tenant"))?,
            owner: owner(self.owner)?,
            level: level(self.project, self.task)?,
            key: Key::new(self.key).map_err(|_| Fault::Stored("key"))?,
        })
    }

    fn source(&self, reading: &mut Reading) -> Source {
        let kind = self.source_kind.map(|kind| SourceKindName::new(kind).ok());
        Source {
            kind: kind.and_then(|kind| reading.or(kind.map(Some), None)),
            reference: Text::new(self.source_reference.to_owned()),
            parents: reading.list(&self.parents, |id| Uuid::try_parse(&id).ok().map(MemoryId)),
            parent_references: reading.list(&self.parent_references, |reference| Some(Text::new(reference))),
        }
    }

    fn confidence(&self, reading: &mut Reading) -> Option<Confidence> {
        self.confidence.and_then(|millionths| {
            let confidence = Confidence::from_millionths(millionths);
            reading.or(confidence.map(Some), None)
        })
    }
}

fn name<T>(reading: &mut Reading, name: &str, new: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
    let read = new(name);
    reading.intact &= read.is_some();
    read.or_else(|| new(UNREADABLE)).ok_or(Fault::Stored("kind"))
}

impl<'r> MemoryRow<'r> {
    pub(super) fn read(&self) -> Result<Memory, Fault> {
        let mut reading = Reading { intact: true };
        let row = &self.fact;
        let value_chars = u32::try_from(self.value_chars).ok();
        Ok(Memory {
            id: MemoryId(self.memory_id),
            address: row.address()?,
            kind: name(&mut reading, row.kind, |name| KindName::new(name).ok())?,
            version: Version(self.version),
            value_version: Version(self.value_version),
            state: reading.or(codes::state(self.state), State::Quarantined),
            value_chars: reading.or(value_chars, u32::MAX),
            source: row.source(&mut reading),
            lineage_trust: reading.or(codes::trust(row.lineage_trust), Trust::Untrusted),
            evidence: reading.or(codes::evidence(row.evidence), Evidence::None),
            confidence: row.confidence(&mut reading),
            sensitivity: reading.or(codes::sensitivity(row.sensitivity), Sensitivity::Restricted),
            consent: reading.consent(row),
            purposes: reading.purposes(&row.purposes),
            observe_time: Time::from_micros(row.observe_time),
            valid_from_time: row.valid_from_time.map(Time::from_micros),
            expire_time: row.expire_time.map(Time::from_micros),
            create_time: Time::from_micros(row.create_time),
            update_time: Time::from_micros(self.update_time),
            confirm_time: self.confirm_time.map(Time::from_micros),
            author: name(&mut reading, row.author, |name| PrincipalId::new(name).ok())?,
            change_reason: Text::new(row.change_reason.to_owned()),
            value: row.value.map(|value| Text::new(value.to_owned())),
            tokens: self.tokens.map(|tokens| Tokens::new(tokens.to_vec())),
            intact: reading.intact,
        })
    }

    /// Tokens never outlive the value.
    pub(super) fn of(memory: &'r Memory) -> Self {
        let tokens = memory.tokens.as_ref().filter(|_| memory.value.is_some());
        Self {
            fact: FactRow {
                tenant: memory.address.tenant.as_str(),
                owner: memory.address.owner.as_str(),
                project: memory.address.level.project(),
                task: memory.address.level.task(),
                key: memory.address.key.as_str(),
                kind: memory.kind.as_str(),
                value: memory.value.as_ref().map(Text::expose),
                source_kind: memory.source.kind.as_ref().map(SourceKindName::as_str),
                source_reference: memory.source.reference.expose(),
                parents: parents(&memory.source).into(),
                parent_references: list(memory.source.parent_references.iter().map(Text::expose)).into(),
                lineage_trust: codes::of_trust(memory.lineage_trust),
                evidence: codes::of_evidence(memory.evidence),
                confidence: memory.confidence.map(|confidence| i64::from(confidence.millionths())),
                sensitivity: codes::of_sensitivity(memory.sensitivity),
                consent: codes::of_consent(&memory.consent),
                consent_purposes: list(memory.consent.purposes().iter().map(PurposeName::as_str)).into(),
                purposes: list(memory.purposes.iter().map(PurposeName::as_str)).into(),
                observe_time: memory.observe_time.micros(),
                valid_from_time: memory.valid_from_time.map(Time::micros),
                expire_time: memory.expire_time.map(Time::micros),
                create_time: memory.create_time.micros(),
                author: memory.author.as_str(),
                change_reason: memory.change_reason.expose(),
            },
            memory_id: memory.id.0,
            version: memory.version.0,
            value_version: memory.value_version.0,
            state: codes::of_state(memory.state),
            value_chars: i64::from(memory.value_chars),
            update_time: memory.update_time.micros(),
            confirm_time: memory.confirm_time.map(Time::micros),
            tokens: tokens.map(Tokens::as_bytes),
        }
    }
}

impl<'r> CandidateRow<'r> {
    pub(super) fn read(&self) -> Result<Candidate, Fault> {
        let mut reading = Reading { intact: true };
        let row = &self.fact;
        let mut candidate = Candidate {
            id: CandidateId(self.candidate_id),
            address: row.address()?,
            kind: name(&mut reading, row.kind, |name| KindName::new(name).ok())?,
            source: row.source(&mut reading),
            lineage_trust: reading.or(codes::trust(row.lineage_trust), Trust::Untrusted),
            evidence: reading.or(codes::evidence(row.evidence), Evidence::None),
            confidence: row.confidence(&mut reading),
            sensitivity: reading.or(codes::sensitivity(row.sensitivity), Sensitivity::Restricted),
            consent: reading.consent(row),
            purposes: reading.purposes(&row.purposes),
            observe_time: Time::from_micros(row.observe_time),
            valid_from_time: row.valid_from_time.map(Time::from_micros),
            expire_time: row.expire_time.map(Time::from_micros),
            reasons: reading.list(&self.reasons, |name| reason(&name)),
            create_time: Time::from_micros(row.create_time),
            lapse_time: Time::from_micros(self.lapse_time),
            author: name(&mut reading, row.author, |name| PrincipalId::new(name).ok())?,
            change_reason: Text::new(row.change_reason.to_owned()),
            value: row.value.map(|value| Text::new(value.to_owned())),
        };
        if !reading.intact {
            candidate.lineage_trust = Trust::Untrusted;
            candidate.reasons.push(Reason::AttributeMissing);
        }
        Ok(candidate)
    }

    pub(super) fn of(candidate: &'r Candidate) -> Self {
        Self {
            fact: FactRow {
                tenant: candidate.address.tenant.as_str(),
                owner: candidate.address.owner.as_str(),
                project: candidate.address.level.project(),
                task: candidate.address.level.task(),
                key: candidate.address.key.as_str(),
                kind: candidate.kind.as_str(),
                value: candidate.value.as_ref().map(Text::expose),
                source_kind: candidate.source.kind.as_ref().map(SourceKindName::as_str),
                source_reference: candidate.source.reference.expose(),
                parents: parents(&candidate.source).into(),
                parent_references: list(candidate.source.parent_references.iter().map(Text::expose)).into(),
                lineage_trust: codes::of_trust(candidate.lineage_trust),
                evidence: codes::of_evidence(candidate.evidence),
                confidence: candidate.confidence.map(|confidence| i64::from(confidence.millionths())),
                sensitivity: codes::of_sensitivity(candidate.sensitivity),
                consent: codes::of_consent(&candidate.consent),
                consent_purposes: list(candidate.consent.purposes().iter().map(PurposeName::as_str)).into(),
                purposes: list(candidate.purposes.iter().map(PurposeName::as_str)).into(),
                observe_time: candidate.observe_time.micros(),
                valid_from_time: candidate.valid_from_time.map(Time::micros),
                expire_time: candidate.expire_time.map(Time::micros),
                create_time: candidate.create_time.micros(),
                author: candidate.author.as_str(),
                change_reason: candidate.change_reason.expose(),
            },
            candidate_id: candidate.id.0,
            reasons: list(candidate.reasons.iter().map(|reason| reason.name())).into(),
            lapse_time: candidate.lapse_time.micros(),
        }
    }
}

fn parents(source: &Source) -> String {
    let ids: Vec<String> = source.parents.iter().map(ToString::to_string).collect();
    list(ids.iter().map(String::as_str))
}
