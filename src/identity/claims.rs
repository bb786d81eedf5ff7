//! What a token says, and the caller it makes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{CallerParts, Grants, Holding, Projects};
use crate::memory::{IdFault, PrincipalId, ProjectId, Span, SubjectId, TaskId, TenantId, Time};

/// A signed claim that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// An id breaks the rules of ids.
    #[error("`{claim}` {fault}")]
    Id {
        /// Which claim.
        claim: &'static str,
        /// What is wrong with it.
        fault: IdFault,
    },
    /// A grant that the service does not know, by its place in the array.
    #[error("`grants[{0}]` is no grant")]
    Grant(usize),
    /// The same project twice, by the place of the second.
    #[error("`projects[{0}]` names a project that was named before")]
    ProjectRepeated(usize),
}

/// One project that is held. Without `tasks`, with all its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectClaim {
    /// The project.
    pub id: String,
    /// The tasks held; absent: all. An empty list holds none, and the project's own memories still.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<String>>,
}

/// What a token says. A claim of the wrong type makes the token invalid; null is a wrong type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Claims {
    /// A string, where the library would also take a list that holds ours.
    pub(super) iss: String,
    /// Compared by the library, which takes a string or a list, as the standard does.
    #[serde(skip_deserializing)]
    pub(super) aud: String,
    pub(super) sub: String,
    pub(super) exp: Seconds,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) nbf: Option<Seconds>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) iat: Option<Seconds>,
    pub(super) tenant: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) subject: Option<String>,
    #[serde(default)]
    pub(super) projects: Vec<ProjectClaim>,
    #[serde(default)]
    pub(super) grants: Vec<String>,
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Claims {
    /// The caller that the claims describe.
    pub(super) fn caller(&self) -> Result<CallerParts, TokenFault> {
        let principal = id("sub", PrincipalId::new(self.sub.as_str()))?;
        let tenant = id("tenant", TenantId::new(self.tenant.as_str()))?;
        let subject = self.subject.as_deref().map(|subject| id("subject", SubjectId::new(subject))).transpose()?;
        let mut projects = BTreeMap::new();
        for (place, claim) in self.projects.iter().enumerate() {
            let project = id("projects.id", ProjectId::new(claim.id.as_str()))?;
            if projects.insert(project, holding(claim)?).is_some() {
                return Err(TokenFault::ProjectRepeated(place));
            }
        }
        let grants = Grants::parse(&self.grants).map_err(|fault| {
            TokenFault::Grant(self.grants.iter().position(|grant| *grant == fault.grant).unwrap_or_default())
        })?;
        Ok(CallerParts { tenant, principal, subject, projects: Projects::Listed(projects), grants })
    }
}

fn holding(claim: &ProjectClaim) -> Result<Holding, TokenFault> {
    let Some(tasks) = &claim.tasks else { return Ok(Holding::AllTasks) };
    let tasks = tasks.iter().map(|task| id("projects.tasks", TaskId::new(task.as_str())));
    Ok(Holding::Tasks(tasks.collect::<Result<BTreeSet<_>, _>>()?))
}

fn id<T>(claim: &'static str, id: Result<T, IdFault>) -> Result<T, TokenFault> {
    id.map_err(|fault| TokenFault::Id { claim, fault })
}

/// Seconds since 1970, as a token has them: a number, not below zero; fractions are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Seconds(pub(super) i64);

impl Seconds {
    pub(super) fn time(self) -> Time {
        Time::from_micros(0).plus(Span::from_seconds(self.0))
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        if let Some(seconds) = number.as_i64().filter(|seconds| *seconds >= 0) {
            return Ok(Self(seconds));
        }
        let seconds = number.as_f64().filter(|seconds| (0.0..=9.0e15).contains(seconds));
        #[expect(clippy::cast_possible_truncation, reason = "checked against the range above")]
        seconds.map(|seconds| Self(seconds as i64)).ok_or_else(|| de::Error::custom("not a number of seconds"))
    }
}
