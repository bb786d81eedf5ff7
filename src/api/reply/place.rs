//! Ids, places and times on the way out.

use prost_types::{Duration, Timestamp};
use uuid::Uuid;

use super::choice::{self, code};
use crate::memory::{Audience, Level, ScopeRevision, Span, Time};
use crate::policy::LevelName;
use crate::wire::Message;

/// An id that the service gave, as text.
pub(super) fn id(message: &mut Message, field: u64, id: Uuid) {
    message.text(field, id.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
}

/// A `Scope`.
pub(super) fn scope(message: &mut Message, field: u64, level: &Level, audience: Audience) {
    message.message(field, |message| {
        message
            .number(1, code(choice::level(LevelName::of(level))))
            .text(2, level.project())
            .text(3, level.task())
            .number(4, code(choice::audience(audience)));
    });
}

/// A `ScopeRevision`.
pub(super) fn revision(message: &mut Message, revision: &ScopeRevision) {
    scope(message, 1, &revision.level, revision.owner.audience());
    message.number(2, revision.revision.0);
}

/// A `Timestamp`, where there is one.
pub(super) fn time(message: &mut Message, field: u64, time: Option<Time>) {
    if let Some((seconds, nanos)) = time.map(Time::parts) {
        message.message(field, |message| {
            message.number(1, seconds).number(2, nanos.into());
        });
    }
}

/// The same, of a reply that is a value.
pub(super) fn timestamp(time: Time) -> Timestamp {
    let (seconds, nanos) = time.parts();
    Timestamp { seconds, nanos }
}

pub(super) fn span(span: Span) -> Duration {
    // A span is never negative, so both parts count in the same direction.
    let (seconds, nanos) = Time::from_micros(span.micros()).parts();
    Duration { seconds, nanos }
}
