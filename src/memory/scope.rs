//! Where a memory holds, and what a recall in some place can see.

use super::{Key, ProjectId, SubjectId, TaskId, TenantId};

/// How far a memory reaches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every project of the tenant.
    General,
    /// One project.
    Project(ProjectId),
    /// One task of one project.
    Task(ProjectId, TaskId),
}

impl Level {
    /// The project, empty at general level.
    #[must_use]
    pub fn project(&self) -> &str {
        match self {
            Self::General => "",
            Self::Project(project) | Self::Task(project, _) => project.as_str(),
        }
    }

    /// The task, empty elsewhere.
    #[must_use]
    pub fn task(&self) -> &str {
        match self {
            Self::General | Self::Project(_) => "",
            Self::Task(_, task) => task.as_str(),
        }
    }

    /// The level's name, as policy and decisions write it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Project(_) => "project",
            Self::Task(..) => "task",
        }
    }
}

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// The subject's own.
    Personal,
    /// Every member's of the project; at general level, the whole tenant's.
    Shared,
}

/// A level with its ids, and an audience.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// How far.
    pub level: Level,
    /// Whose.
    pub audience: Audience,
}

impl Scope {
    /// Position in the order of precedence: 0 is narrowest, 5 is general shared.
    #[must_use]
    pub const fn precedence(&self) -> u8 {
        precedence(&self.level, self.audience)
    }
}

const fn precedence(level: &Level, audience: Audience) -> u8 {
    let level = match level {
        Level::Task(..) => 0,
        Level::Project(_) => 2,
        Level::General => 4,
    };
    level
        + match audience {
            Audience::Personal => 0,
            Audience::Shared => 1,
        }
}

/// Whose row it is: a subject's, or nobody's for shared memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Option<SubjectId>);

impl Owner {
    /// The owner of shared memories.
    pub const SHARED: Self = Self(None);

    /// The owner of one subject's own memories.
    #[must_use]
    pub const fn personal(subject: SubjectId) -> Self {
        Self(Some(subject))
    }

    /// The subject's id, or the empty string for shared memories.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_ref().map_or("", SubjectId::as_str)
    }

    /// The subject, unless shared.
    #[must_use]
    pub const fn subject(&self) -> Option<&SubjectId> {
        self.0.as_ref()
    }

    /// Which audience rows of this owner have.
    #[must_use]
    pub const fn audience(&self) -> Audience {
        if self.0.is_some() { Audience::Personal } else { Audience::Shared }
    }
}

/// Where at most one memory lives. The audience follows from the owner, so that the two cannot disagree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The organisation.
    pub tenant: TenantId,
    /// Whose.
    pub owner: Owner,
    /// How far.
    pub level: Level,
    /// Called what.
    pub key: Key,
}

impl Address {
    /// The scope that the address lies in.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope { level: self.level.clone(), audience: self.owner.audience() }
    }

    /// The precedence of that scope.
    #[must_use]
    pub const fn precedence(&self) -> u8 {
        precedence(&self.level, self.owner.audience())
    }
}

/// In what recalled facts are used. Sees its own level and every wider one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Context(pub Level);

impl Context {
    /// The levels it sees, narrow to wide.
    #[must_use]
    pub fn levels(&self) -> Vec<Level> {
        match &self.0 {
            Level::General => vec![Level::General],
            Level::Project(project) => vec![Level::Project(project.clone()), Level::General],
            Level::Task(project, task) => {
                vec![Level::Task(project.clone(), task.clone()), Level::Project(project.clone()), Level::General]
            }
        }
    }

    /// Whether a memory at that level belongs to this context.
    #[must_use]
    pub fn sees(&self, level: &Level) -> bool {
        match (&self.0, level) {
            (_, Level::General) => true,
            (Level::General, _) | (Level::Project(_), Level::Task(..)) => false,
            (Level::Project(mine) | Level::Task(mine, _), Level::Project(theirs)) => mine == theirs,
            (Level::Task(project, task), Level::Task(their_project, their_task)) => {
                project == their_project && task == their_task
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(id: &str) -> ProjectId {
        ProjectId::new(id).unwrap()
    }

    #[test]
    fn precedence_runs_narrow_to_wide_and_personal_before_shared() {
        let task = Level::Task(project("p"), TaskId::new("t").unwrap());
        let order: Vec<u8> = [task, Level::Project(project("p")), Level::General]
            .into_iter()
            .flat_map(|level| {
                [Audience::Personal, Audience::Shared]
                    .map(|audience| Scope { level: level.clone(), audience }.precedence())
            })
            .collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn i02_a_context_sees_equal_ids_and_never_a_prefix() {
        let alpha = Context(Level::Project(project("alpha")));
        for other in ["alpha2", "alpha-labs", "alphabet", "alpha/child", "xalpha", "Alpha"] {
            assert!(!alpha.sees(&Level::Project(project(other))), "{other}");
        }
        assert!(alpha.sees(&Level::Project(project("alpha"))));
        assert!(alpha.sees(&Level::General));
        assert!(!alpha.sees(&Level::Task(project("alpha"), TaskId::new("t").unwrap())));
    }

    #[test]
    fn what_a_context_lists_is_what_it_sees() {
        let task = Context(Level::Task(project("p"), TaskId::new("t").unwrap()));
        for context in [task, Context(Level::Project(project("p"))), Context(Level::General)] {
            assert!(context.levels().iter().all(|level| context.sees(level)));
        }
    }
}
