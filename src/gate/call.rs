//! One call: who, about whom, under which policy; and how its refusals and judgements are recorded.

use std::sync::Arc;

use tracing::{Instrument, Span};

use super::operation::{self, Operation};
use super::{Error, FieldFault, Gate, ids};
use crate::identity::{Caller, Verb};
use crate::memory::{
    Address, Candidate, Consent, Disposition, Evidence, Judgement, Level, Owner, PurposeName, Scope, Source, SubjectId,
    Time,
};
use crate::memory::{Audience, Memory};
use crate::policy::{Policy, Purpose, Viewpoint};
use crate::store::{self, Change, CommitError, Reach, Recorded};

/// How often a judgement is made before the call gives up.
pub(super) const ATTEMPTS: usize = 3;

/// A fact observed further ahead of the clock than this is refused; up to it, it counts as observed now.
const OBSERVED_AHEAD_MICROS: i64 = 5_000_000;

/// One call.
pub(super) struct Call<'a> {
    pub(super) gate: &'a Gate,
    pub(super) caller: &'a Caller,
    pub(super) method: &'static str,
    pub(super) policy: Arc<Policy>,
    pub(super) subject: SubjectId,
    /// The span of the memory operation, above those of its steps.
    pub(super) span: Span,
}

impl Gate {
    /// Begins a call about a subject that the caller may act for.
    pub(super) async fn begin<'a>(
        &'a self,
        caller: &'a Caller,
        Operation { method, name }: Operation,
        subject: Option<&SubjectId>,
    ) -> Result<Call<'a>, Error> {
        let Some(subject) = subject.or_else(|| caller.subject()).cloned() else {
            return Err(invalid("subject_id", "is required, since the credential names no subject"));
        };
        if !caller.may_act_for(&subject) {
            return Err(self.refuse(caller, method, None, &self.policy(), Error::SubjectNotHeld).await);
        }
        Ok(Call { gate: self, caller, method, policy: self.policy(), subject, span: operation::span(name) })
    }

    /// Records a refusal and hands it back; where it cannot be recorded, that is the answer.
    pub(super) async fn refuse(
        &self,
        caller: &Caller,
        method: &'static str,
        subject: Option<&SubjectId>,
        policy: &Policy,
        error: Error,
    ) -> Error {
        let now = self.clock.now();
        let mut judgement = blank(caller, method, subject.or_else(|| caller.subject()), policy, now);
        judgement.disposition = Disposition::Refused(error.reason());
        let change = Change {
            tenant: caller.tenant().clone(),
            subject: judgement.subject.clone(),
            owner: Owner::SHARED,
            expect: Vec::new(),
            writes: Vec::new(),
            announce: None,
            judgement,
            replay: None,
        };
        match self.store.commit(change).instrument(operation::record(&Span::current())).await {
            Ok(_) => error,
            Err(CommitError::Contended) => Error::JudgementContended,
            Err(CommitError::Store(cause)) => Error::ledger(cause),
        }
    }
}

impl Call<'_> {
    /// Records a refusal and hands it back.
    pub(super) async fn refuse(&self, error: Error) -> Error {
        let refused = self.gate.refuse(self.caller, self.method, Some(&self.subject), &self.policy, error);
        refused.instrument(self.span.clone()).await
    }

    /// Whose rows this call may touch.
    pub(super) fn reach(&self) -> Reach {
        Reach { tenant: self.caller.tenant().clone(), subject: self.subject.clone() }
    }

    /// Now: the host's clock, but never before what has been written.
    pub(super) fn now(&self, newest_update_time: Option<Time>) -> Time {
        let host = self.gate.clock.now();
        newest_update_time.map_or(host, |newest| newest.max(host))
    }

    /// A judgement of this call with nothing judged yet.
    pub(super) fn judgement(&self, now: Time) -> Judgement {
        blank(self.caller, self.method, Some(&self.subject), &self.policy, now)
    }

    /// A change of this call that records and writes nothing yet.
    pub(super) fn change(&self, owner: Owner, judgement: Judgement) -> Change {
        Change {
            tenant: self.caller.tenant().clone(),
            subject: Some(self.subject.clone()),
            owner,
            expect: Vec::new(),
            writes: Vec::new(),
            announce: None,
            judgement,
            replay: None,
        }
    }

    /// Commits. `None`: overtaken, judge again.
    pub(super) async fn commit(&self, change: Change) -> Result<Option<Recorded<Judgement>>, Error> {
        match self.gate.store.commit(change).instrument(operation::record(&self.span)).await {
            Ok(recorded) => Ok(Some(recorded)),
            Err(CommitError::Contended) => Ok(None),
            Err(CommitError::Store(cause)) => Err(Error::ledger(cause)),
        }
    }

    /// Commits changes in their order, all or none. `false`: overtaken, judge again.
    pub(super) async fn commit_all(&self, changes: Vec<Change>) -> Result<bool, Error> {
        match self.gate.store.commit_all(changes).instrument(operation::record(&self.span)).await {
            Ok(_) => Ok(true),
            Err(CommitError::Contended) => Ok(false),
            Err(CommitError::Store(cause)) => Err(Error::ledger(cause)),
        }
    }

    /// Who looks.
    pub(super) fn viewpoint<'b>(&'b self, holds_level: &'b (dyn Fn(&Level) -> bool + Sync)) -> Viewpoint<'b> {
        Viewpoint {
            tenant: self.caller.tenant(),
            subject: &self.subject,
            holds_level,
            max_sensitivity: self.caller.grants().max_sensitivity(),
            sees_candidates: self.caller.grants().holds(Verb::Confirm),
        }
    }

    /// Reads from the store.
    pub(super) async fn load<T>(&self, read: impl Future<Output = Result<T, store::Error>>) -> Result<T, Error> {
        read.instrument(operation::load(&self.span)).await.map_err(Error::store)
    }

    /// Whether a memory exists for this caller. A row that no store may return to it is leakage: withheld, and alarmed.
    pub(super) fn sees(&self, memory: &Memory) -> bool {
        self.alarm(&memory.address);
        self.viewpoint(&|level| self.caller.holds_level(level)).sees_memory(memory)
    }

    /// Whether a candidate exists for this caller.
    pub(super) fn sees_candidate(&self, candidate: &Candidate) -> bool {
        self.alarm(&candidate.address);
        let place = &candidate.address;
        let holds_level = |level: &_| self.caller.holds_level(level);
        self.viewpoint(&holds_level).sees(&place.tenant, &place.owner, &place.level, candidate.sensitivity)
    }

    fn alarm(&self, place: &Address) {
        if !self.viewpoint(&|_| true).reaches(&place.tenant, &place.owner) {
            tracing::error!("the store returned a row of another tenant or subject; it was withheld");
        }
    }

    /// The owner of rows of that audience.
    pub(super) fn owner(&self, audience: Audience) -> Owner {
        match audience {
            Audience::Personal => Owner::personal(self.subject.clone()),
            Audience::Shared => Owner::SHARED,
        }
    }

    /// The purpose's rule, if the policy has it and the caller holds it.
    pub(super) async fn purpose<'b>(&self, policy: &'b Policy, name: &PurposeName) -> Result<&'b Purpose, Error> {
        let purpose = policy.purposes.get(name).ok_or(Error::PurposeUnknown)?;
        if self.caller.grants().holds_purpose(name) {
            return Ok(purpose);
        }
        Err(self.refuse(Error::GrantMissing(format!("purpose:{name}"))).await)
    }

    /// The level is the caller's.
    pub(super) async fn require_level(&self, level: &Level) -> Result<(), Error> {
        if self.caller.holds_level(level) { Ok(()) } else { Err(self.refuse(Error::ScopeNotHeld).await) }
    }

    /// The scope is the caller's to write.
    pub(super) async fn require_writable(&self, scope: &Scope) -> Result<(), Error> {
        self.require_level(&scope.level).await?;
        self.require_audience_writable(scope.audience).await
    }

    /// Shared memories take a grant of their own.
    pub(super) async fn require_audience_writable(&self, audience: Audience) -> Result<(), Error> {
        if audience == Audience::Personal || self.caller.grants().may_write_shared() {
            return Ok(());
        }
        Err(self.refuse(Error::GrantMissing("shared:write".to_owned())).await)
    }

    /// The evidence is the caller's to state (I10).
    pub(super) async fn require_evidence(&self, evidence: Evidence) -> Result<(), Error> {
        if self.caller.grants().may_attest(evidence) {
            return Ok(());
        }
        Err(self.refuse(Error::EvidenceNotHeld(format!("attest:{}", evidence.name()))).await)
    }

    /// The source kind is the caller's to state (I10).
    pub(super) async fn require_source(&self, source: &Source) -> Result<(), Error> {
        match &source.kind {
            Some(kind) if !self.caller.grants().may_state_source(kind) => {
                Err(self.refuse(Error::SourceKindNotHeld(format!("source:{kind}"))).await)
            }
            _ => Ok(()),
        }
    }

    /// Consent is stated by the subject, or by whoever may say that the subject confirmed something.
    pub(super) async fn require_consent(&self, consent: &Consent) -> Result<(), Error> {
        let stated = !matches!(consent, Consent::Unset | Consent::NotApplicable);
        let subject_itself = self.caller.subject() == Some(&self.subject);
        if !stated || subject_itself || self.caller.grants().may_attest(Evidence::UserConfirmed) {
            return Ok(());
        }
        Err(self.refuse(Error::EvidenceNotHeld("attest:user_confirmed".to_owned())).await)
    }

    /// When a fact was observed: as stated, but never ahead of the clock.
    pub(super) fn observed(&self, stated: Option<Time>) -> Result<Option<Time>, Error> {
        let now = self.gate.clock.now();
        match stated {
            Some(time) if time.since(now).micros() > OBSERVED_AHEAD_MICROS => {
                Err(invalid("observe_time", "lies more than 5 s ahead of the clock"))
            }
            Some(time) if time > now => Ok(None),
            stated => Ok(stated),
        }
    }
}

/// A judgement with nothing judged yet.
fn blank(caller: &Caller, method: &'static str, subject: Option<&SubjectId>, policy: &Policy, now: Time) -> Judgement {
    Judgement {
        decision_id: ids::decision_id(now),
        method,
        tenant: caller.tenant().clone(),
        subject: subject.cloned(),
        principal: caller.principal().clone(),
        grants: caller.grant_names(),
        max_sensitivity: caller.grants().max_sensitivity(),
        purpose: None,
        context: None,
        policy_version: policy.version,
        decide_time: now,
        stale_time: None,
        revisions: Vec::new(),
        verdicts: Vec::new(),
        not_nominated_count: 0,
        min_confidence: None,
        budget: None,
        evidence: Evidence::None,
        disposition: Disposition::Answered,
        validate_only: false,
    }
}

/// One bad field.
pub(super) fn invalid(field: &str, description: &str) -> Error {
    Error::Invalid(vec![FieldFault { field: field.to_owned(), description: description.to_owned() }])
}
