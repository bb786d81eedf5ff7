//! The verified caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Grants;
use crate::memory::{Level, PrincipalId, ProjectId, SubjectId, TaskId, TenantId};

/// Which tasks of a project are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holding {
    /// All of them.
    AllTasks,
    /// These alone. The project's own memories are held too.
    Tasks(BTreeSet<TaskId>),
}

/// Which projects are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Projects {
    /// These alone.
    Listed(BTreeMap<ProjectId, Holding>),
    /// Every project of the tenant: the development identity's.
    All,
}

/// What a credential says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerParts {
    /// The organisation.
    pub tenant: TenantId,
    /// Who is calling.
    pub principal: PrincipalId,
    /// Whom calls are about unless they say otherwise.
    pub subject: Option<SubjectId>,
    /// The projects held.
    pub projects: Projects,
    /// What may be done.
    pub grants: Grants,
}

/// Who is calling, as verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    // Shared, since every call of a cached credential takes a copy.
    parts: Arc<CallerParts>,
    grant_names: Arc<[String]>,
    development: bool,
}

impl Caller {
    /// A caller whose credential has been verified. Only the verifiers of this module call it.
    pub(super) fn verified(parts: CallerParts) -> Self {
        Self::of(parts, false)
    }

    /// The development identity: tenant and subject `dev`, every grant. `serve` uses it on a loopback address alone.
    #[must_use]
    pub fn development() -> Option<Self> {
        let parts = CallerParts {
            tenant: TenantId::new("dev").ok()?,
            principal: PrincipalId::new("dev").ok()?,
            subject: Some(SubjectId::new("dev").ok()?),
            projects: Projects::All,
            grants: Grants::all(),
        };
        Some(Self::of(parts, true))
    }

    fn of(parts: CallerParts, development: bool) -> Self {
        Self { grant_names: parts.grants.names().into(), parts: Arc::new(parts), development }
    }

    /// The grants as a credential writes them, sorted.
    #[must_use]
    pub fn grant_names(&self) -> Arc<[String]> {
        Arc::clone(&self.grant_names)
    }

    /// The organisation.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.parts.tenant
    }

    /// Who is calling.
    #[must_use]
    pub fn principal(&self) -> &PrincipalId {
        &self.parts.principal
    }

    /// Whom calls are about unless they say otherwise.
    #[must_use]
    pub fn subject(&self) -> Option<&SubjectId> {
        self.parts.subject.as_ref()
    }

    /// The projects held.
    #[must_use]
    pub fn projects(&self) -> &Projects {
        &self.parts.projects
    }

    /// What may be done.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.parts.grants
    }

    /// Nobody verified this caller.
    #[must_use]
    pub const fn is_development(&self) -> bool {
        self.development
    }

    /// Whether the caller may act for this subject: itself, or by grant.
    #[must_use]
    pub fn may_act_for(&self, subject: &SubjectId) -> bool {
        self.subject() == Some(subject) || self.grants().may_act_for(subject)
    }

    /// Whether memories at this level are the caller's to see. General ones are every member's.
    #[must_use]
    pub fn holds_level(&self, level: &Level) -> bool {
        let Projects::Listed(projects) = self.projects() else { return true };
        match level {
            Level::General => true,
            Level::Project(project) => projects.contains_key(project),
            Level::Task(project, task) => match projects.get(project) {
                Some(Holding::AllTasks) => true,
                Some(Holding::Tasks(tasks)) => tasks.contains(task),
                None => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(projects: Projects) -> Caller {
        Caller::verified(CallerParts { projects, ..(*Caller::development().unwrap().parts).clone() })
    }

    #[test]
    fn i01_a_project_carries_all_its_tasks_unless_the_credential_lists_them() {
        let (p, q) = (ProjectId::new("p").unwrap(), ProjectId::new("q").unwrap());
        let (t, u) = (TaskId::new("t").unwrap(), TaskId::new("u").unwrap());
        let caller = caller(Projects::Listed(BTreeMap::from([
            (p.clone(), Holding::AllTasks),
            (q.clone(), Holding::Tasks(BTreeSet::from([t.clone()]))),
        ])));
        assert!(caller.holds_level(&Level::Task(p, u.clone())));
        assert!(caller.holds_level(&Level::Project(q.clone())));
        assert!(caller.holds_level(&Level::Task(q.clone(), t.clone())));
        assert!(!caller.holds_level(&Level::Task(q, u)));
        assert!(!caller.holds_level(&Level::Project(ProjectId::new("r").unwrap())));
        assert!(caller.holds_level(&Level::General));
    }
}
