//! Requests that are sent again: the first outcome once more, and no second effect.

use super::Error;
use super::call::Call;
use super::command::{BatchCapture, Capture, ChangeDeleted, ConfirmCandidate, Correct, MemoryName, RejectCandidate};
use crate::identity::Verb;
use crate::memory::{PurposeName, Receipt, RequestId, Scope, Source, Span, Text, Time};
use crate::store::{ReplayKey, ReplayRecord, Store};

/// How long an outcome is kept.
const KEPT: Span = Span::from_seconds(24 * 60 * 60);

/// A request whose outcome will be kept.
pub(super) struct Attempt {
    key: ReplayKey,
    payload_digest: [u8; 32],
}

/// What an attempt meets.
pub(super) enum Met {
    /// It was made before: this was the answer, and of a batch these were those to its further items.
    Before(Receipt, Vec<Receipt>),
    /// It is new. `None`: it named no request id.
    New(Option<Attempt>),
}

impl Attempt {
    /// What to keep of it.
    pub(super) fn record(&self, receipt: &Receipt, now: Time) -> (ReplayKey, ReplayRecord) {
        self.record_all(receipt, &[], now)
    }

    /// What to keep of a batch.
    pub(super) fn record_all(&self, first: &Receipt, further: &[Receipt], now: Time) -> (ReplayKey, ReplayRecord) {
        let record = ReplayRecord {
            payload_digest: self.payload_digest,
            receipt: first.clone(),
            further: further.to_vec(),
            expire_time: now.plus(KEPT),
        };
        (self.key.clone(), record)
    }
}

impl Call<'_> {
    /// Looks a request up by its id, bound to caller, method and payload.
    pub(super) async fn replayed(&self, request_id: Option<RequestId>, payload: &Payload) -> Result<Met, Error> {
        let Some(request_id) = request_id else { return Ok(Met::New(None)) };
        let key = ReplayKey {
            tenant: self.caller.tenant().clone(),
            subject: self.subject.clone(),
            principal: self.caller.principal().clone(),
            method: self.method,
            request_id,
        };
        let payload_digest = payload.digest(self.gate.store.as_ref());
        let now = self.gate.clock.now();
        match self.gate.store.replay(&key, now).await.map_err(Error::store)? {
            None => Ok(Met::New(Some(Attempt { key, payload_digest }))),
            Some(record) if record.payload_digest == payload_digest => {
                let recalls = self.caller.grants().holds(Verb::Recall);
                let again = |receipt: Receipt| {
                    let receipt = Receipt { replayed: true, ..receipt };
                    // Who may recall no longer is told no more than who never could.
                    if receipt.outcome.is_none() || recalls { receipt } else { receipt.without_state() }
                };
                Ok(Met::Before(again(record.receipt), record.further.into_iter().map(again).collect()))
            }
            Some(_) => Err(Error::RequestIdReused),
        }
    }

    /// The answer to an earlier attempt, if there was one.
    pub(super) async fn receipt_of(
        &self,
        request_id: Option<RequestId>,
        validate_only: bool,
        payload: &Payload,
    ) -> Result<Option<Receipt>, Error> {
        match self.replayed(request_id.filter(|_| !validate_only), payload).await? {
            Met::Before(receipt, _) => Ok(Some(receipt)),
            Met::New(_) => Ok(None),
        }
    }
}

/// The fields of a request in a fixed order, so that equal requests have equal digests whatever their bytes were.
#[derive(Default)]
pub(super) struct Payload(Vec<Vec<u8>>);

impl Payload {
    fn text(mut self, text: &str) -> Self {
        self.0.push(text.as_bytes().to_vec());
        self
    }

    fn number(mut self, number: Option<i64>) -> Self {
        self.0.push(number.map(|number| number.to_be_bytes().to_vec()).unwrap_or_default());
        self
    }

    fn time(self, time: Option<Time>) -> Self {
        self.number(time.map(Time::micros))
    }

    fn flag(self, flag: bool) -> Self {
        self.number(Some(i64::from(flag)))
    }

    fn list<'a>(self, items: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let counted = self.number(i64::try_from(items.len()).ok());
        items.fold(counted, Self::text)
    }

    fn scope(self, scope: &Scope) -> Self {
        let level = &scope.level;
        self.text(level.name()).text(level.project()).text(level.task()).number(Some(i64::from(scope.precedence())))
    }

    fn source(self, source: &Source) -> Self {
        let kind = source.kind.as_ref().map_or("", |kind| kind.as_str());
        let parents: Vec<String> = source.parents.iter().map(ToString::to_string).collect();
        self.text(kind)
            .text(source.reference.expose())
            .list(parents.iter().map(String::as_str))
            .list(source.parent_references.iter().map(Text::expose))
    }

    fn name(self, name: &MemoryName) -> Self {
        match name {
            MemoryName::Id(id) => self.text("id").text(&id.to_string()),
            MemoryName::Address(scope, key) => self.text("address").scope(scope).text(key.as_str()),
        }
    }

    fn payload(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    fn digest(&self, store: &dyn Store) -> [u8; 32] {
        let parts: Vec<&[u8]> = self.0.iter().map(Vec::as_slice).collect();
        store.digest("request", &parts)
    }
}

impl From<&Capture> for Payload {
    fn from(capture: &Capture) -> Self {
        Self::default()
            .scope(&capture.scope)
            .text(capture.kind.as_str())
            .text(capture.key.as_ref().map_or("", |key| key.as_str()))
            .text(capture.value.expose())
            .source(&capture.source)
            .text(capture.evidence.name())
            .number(capture.confidence.map(|confidence| i64::from(confidence.millionths())))
            .text(capture.sensitivity.map_or("", |sensitivity| sensitivity.name()))
            .text(capture.consent.name())
            .list(capture.consent.purposes().iter().map(PurposeName::as_str))
            .list(capture.purposes.iter().map(PurposeName::as_str))
            .time(capture.observe_time)
            .time(capture.valid_from_time)
            .time(capture.expire_time)
            .number(capture.expected_version.map(|version| version.0))
            .flag(capture.accept_revoked)
    }
}

impl From<&BatchCapture> for Payload {
    fn from(batch: &BatchCapture) -> Self {
        let counted = Self::default().number(i64::try_from(batch.items.len()).ok());
        batch.items.iter().map(Self::from).fold(counted, Self::payload)
    }
}

impl From<&Correct> for Payload {
    fn from(correct: &Correct) -> Self {
        Self::default()
            .name(&correct.memory)
            .number(Some(correct.expected_version.0))
            .text(correct.value.expose())
            .source(&correct.source)
            .text(correct.evidence.name())
            .number(correct.confidence.map(|confidence| i64::from(confidence.millionths())))
            .text(correct.sensitivity.map_or("", |sensitivity| sensitivity.name()))
            .time(correct.observe_time)
            .time(correct.valid_from_time)
            .time(correct.expire_time)
            .text(correct.reason.expose())
            .flag(correct.accept_revoked)
    }
}

impl From<&ConfirmCandidate> for Payload {
    fn from(confirm: &ConfirmCandidate) -> Self {
        Self::default()
            .text(&confirm.candidate_id.to_string())
            .text(confirm.evidence.name())
            .number(confirm.expected_version.map(|version| version.0))
            .flag(confirm.accept_revoked)
    }
}

impl From<&RejectCandidate> for Payload {
    fn from(reject: &RejectCandidate) -> Self {
        Self::default().text(&reject.candidate_id.to_string())
    }
}

impl From<&ChangeDeleted> for Payload {
    fn from(change: &ChangeDeleted) -> Self {
        Self::default().name(&change.memory).number(Some(change.expected_version.0)).text(change.evidence.name())
    }
}
