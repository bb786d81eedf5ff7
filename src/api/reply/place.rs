//! Places and times on the way out.

use prost_types::{Duration, Timestamp};

use super::choice;
use crate::api::proto;
use crate::memory::{Audience, Level, ScopeRevision, Span, Time};
use crate::policy::LevelName;

pub(super) fn scope(level: &Level, audience: Audience) -> proto::Scope {
    proto::Scope {
        level: choice::level(LevelName::of(level)).into(),
        project_id: level.project().to_owned(),
        task_id: level.task().to_owned(),
        audience: choice::audience(audience).into(),
    }
}

pub(super) fn revision(revision: &ScopeRevision) -> proto::ScopeRevision {
    proto::ScopeRevision {
        scope: Some(scope(&revision.level, revision.owner.audience())),
        revision: revision.revision.0,
    }
}

pub(super) fn time(time: Time) -> Timestamp {
    let (seconds, nanos) = time.parts();
    Timestamp { seconds, nanos }
}

pub(super) fn span(span: Span) -> Duration {
    // A span is never negative, so both parts count in the same direction.
    let (seconds, nanos) = Time::from_micros(span.micros()).parts();
    Duration { seconds, nanos }
}
