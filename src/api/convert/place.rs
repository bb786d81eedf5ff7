//! Where: scopes, addresses and contexts.

use super::choice;
use super::faults::{Checked, Faults, Path};
use super::field::{self, REQUIRED};
use crate::api::proto;
use crate::gate::command::MemoryName;
use crate::memory::{CandidateId, Context, Key, Level, MemoryId, ProjectId, Scope, TaskId};

/// A required scope.
pub(super) fn scope(faults: &mut Faults, path: Path<'_>, scope: Option<proto::Scope>) -> Checked<Scope> {
    let Some(scope) = scope else { return Err(faults.add(path, REQUIRED)) };
    let level = level(faults, path, scope.level, scope.project_id, scope.task_id);
    let audience = choice::audience(faults, path.field("audience"), scope.audience);
    Ok(Scope { level: level?, audience: audience? })
}

fn level(faults: &mut Faults, path: Path<'_>, number: i32, project_id: String, task_id: String) -> Checked<Level> {
    let (project_path, task_path) = (path.field("project_id"), path.field("task_id"));
    match choice::known(faults, path.field("level"), number)? {
        proto::Level::Unspecified => Err(faults.add(path.field("level"), REQUIRED)),
        proto::Level::General => {
            let project = absent(faults, project_path, &project_id, "must be empty at general level");
            let task = absent(faults, task_path, &task_id, "must be empty at general level");
            project.and(task).map(|()| Level::General)
        }
        proto::Level::Project => {
            let project = field::id(faults, project_path, project_id, ProjectId::new);
            let task = absent(faults, task_path, &task_id, "must be empty at project level");
            task.and(project).map(Level::Project)
        }
        proto::Level::Task => {
            let project = field::id(faults, project_path, project_id, ProjectId::new);
            let task = field::id(faults, task_path, task_id, TaskId::new);
            Ok(Level::Task(project?, task?))
        }
    }
}

fn absent(faults: &mut Faults, path: Path<'_>, id: &str, description: &'static str) -> Checked<()> {
    if id.is_empty() { Ok(()) } else { Err(faults.add(path, description)) }
}

/// A required memory.
pub(super) fn memory(faults: &mut Faults, name: Option<proto::MemoryName>) -> Checked<MemoryName> {
    let path = Path::of("memory");
    match name.and_then(|name| name.name) {
        None => Err(faults.add(path, "exactly one of memory_id and address is required")),
        Some(proto::memory_name::Name::MemoryId(id)) => {
            field::uuid(faults, path.field("memory_id"), &id).map(|id| MemoryName::Id(MemoryId(id)))
        }
        Some(proto::memory_name::Name::Address(address)) => {
            let path = path.field("address");
            let scope = scope(faults, path.field("scope"), address.scope);
            let key = field::id(faults, path.field("key"), address.key, Key::new);
            Ok(MemoryName::Address(scope?, key?))
        }
    }
}

/// A required candidate.
pub(super) fn candidate(faults: &mut Faults, candidate_id: &str) -> Checked<CandidateId> {
    field::uuid(faults, Path::of("candidate_id"), candidate_id).map(CandidateId)
}

/// In what recalled facts will be used: never a default.
pub(super) fn context(faults: &mut Faults, path: Path<'_>, context: Option<proto::Context>) -> Checked<Context> {
    use proto::context::Context as Choice;
    match context.and_then(|context| context.context) {
        None => Err(faults.add(path, "exactly one of general, project and task is required")),
        Some(Choice::General(proto::GeneralContext {})) => Ok(Context(Level::General)),
        Some(Choice::Project(proto::ProjectContext { project_id })) => {
            let path = path.field("project");
            let project = field::id(faults, path.field("project_id"), project_id, ProjectId::new)?;
            Ok(Context(Level::Project(project)))
        }
        Some(Choice::Task(proto::TaskContext { project_id, task_id })) => {
            let path = path.field("task");
            let project = field::id(faults, path.field("project_id"), project_id, ProjectId::new);
            let task = field::id(faults, path.field("task_id"), task_id, TaskId::new);
            Ok(Context(Level::Task(project?, task?)))
        }
    }
}
