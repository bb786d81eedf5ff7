//! `ListMemories`: memories page by page, each with the gate's word on it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::call::{ATTEMPTS, Call};
use super::command::{ListMemories, ListRange};
use super::{Admitted, Error, Gate, operation};
use crate::identity::Caller;
use crate::memory::{
    Audience, Candidate, CandidateId, Key, Level, Memory, Nominator, Owner, ProjectId, Reason, ScopeRevision,
    SubjectId, TaskId, Time, Verdict,
};
use crate::policy::{Access, Purpose, Terms, candidate_verdict, stale_time_of, verdict_on};
use crate::store::{Expect, Position, Range};

/// Where a page ended.
#[derive(Serialize, Deserialize)]
enum Cursor {
    /// Behind this memory.
    Memory { owner: String, project: String, task: String, key: String },
    /// Behind this candidate; a nil id stands before the first.
    Candidate { create_time: i64, id: Uuid },
}

/// How many rows are read at once, of which the caller may see some.
const BATCH: u32 = 256;

/// Rows of one page.
#[derive(Default)]
struct Page {
    memories: Vec<Memory>,
    candidates: Vec<Candidate>,
    revisions: Vec<ScopeRevision>,
    newest_update_time: Option<Time>,
    next: Option<Cursor>,
}

impl Gate {
    /// Judges one page of memories, each in its own scope.
    ///
    /// # Errors
    /// Grants, the purpose, the page token, the store, the ledger.
    pub async fn list_memories(&self, caller: &Caller, command: ListMemories) -> Result<Admitted, Error> {
        let call = self.begin(caller, operation::LIST_MEMORIES, command.subject.as_ref()).await?;
        let policy = call.policy.clone();
        let purpose = call.purpose(&policy, &command.purpose).await?;
        let range = call.range(purpose, &command.range);
        let binding = call.page_binding(&filter(&command, &range));
        if let ListRange::Scope(scope) = &command.range {
            call.require_level(&scope.level).await?;
        }
        for _ in 0..ATTEMPTS {
            let cursor = call.open_page::<Cursor>(&binding, &command.page_token)?;
            let page = call.page(purpose, &range, cursor, command.page_size).await?;
            let holds_level = |level: &_| caller.holds_level(level);
            let terms = Terms {
                policy: &policy,
                purpose,
                context: None,
                min_confidence: None,
                viewpoint: call.viewpoint(&holds_level),
                now: call.now(page.newest_update_time),
            };
            let mut judgement = call.judgement(terms.now);
            judgement.purpose = Some(command.purpose.clone());
            judgement.stale_time = page.memories.iter().filter_map(|memory| stale_time_of(&terms, memory)).min();
            judgement.revisions = page.revisions;
            let judged = operation::judge(&call.span).in_scope(|| {
                let judged =
                    page.memories.into_iter().map(|memory| (verdict_on(&terms, &memory, Nominator::All), memory));
                judged.filter(|(verdict, _)| listed(purpose, verdict)).collect::<Vec<_>>()
            });
            let held = page.candidates.iter().map(|held| candidate_verdict(&policy, held, Nominator::All));
            judgement.verdicts = judged.iter().map(|(verdict, _)| verdict.clone()).chain(held).collect();
            let candidates = page.candidates.iter().map(|candidate| Expect::Candidate(candidate.id)).collect();
            if let Some(recorded) = call.record_with(judgement, candidates).await? {
                let shown = judged.into_iter().map(|(verdict, memory)| call.show(memory, verdict.accepted()));
                return Ok(Admitted {
                    recorded,
                    shown: shown.collect(),
                    next_page_token: page.next.and_then(|cursor| call.seal_page(&binding, &cursor)),
                });
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }
}

impl Call<'_> {
    fn range(&self, purpose: &Purpose, range: &ListRange) -> Range {
        match range {
            ListRange::Scope(scope) => Range::One(self.owner(scope.audience), scope.level.clone()),
            ListRange::AllProjects if purpose.access == Access::Subject => Range::Owner(self.owner(Audience::Personal)),
            ListRange::AllProjects => Range::All,
        }
    }

    /// One page. For the subject's own access the candidates follow the memories.
    async fn page(&self, purpose: &Purpose, range: &Range, cursor: Option<Cursor>, size: u32) -> Result<Page, Error> {
        let with_candidates = purpose.access == Access::Subject;
        let after = match &cursor {
            None => None,
            Some(Cursor::Memory { owner, project, task, key }) => {
                Some(position(owner, project, task, key).ok_or(Error::PageTokenInvalid)?)
            }
            Some(Cursor::Candidate { create_time, id }) => {
                let after = (!id.is_nil()).then_some((Time::from_micros(*create_time), CandidateId(*id)));
                return self.candidate_page(range, after, size).await;
            }
        };
        let mut page = Page::default();
        let mut after = after;
        // One more than the page holds, so that a token is given only where something visible follows.
        let wanted = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(1);
        let more = loop {
            let reach = self.reach();
            let read = self.load(self.gate.store.memories(&reach, range, after.as_ref(), BATCH)).await?;
            after = read.memories.last().map(position_of);
            let held = |revision: &ScopeRevision| self.caller.holds_level(&revision.level);
            page.revisions.extend(read.revisions.into_iter().filter(held));
            page.newest_update_time = page.newest_update_time.max(read.newest_update_time);
            page.memories.extend(read.memories.into_iter().filter(|memory| self.sees(memory)));
            if page.memories.len() >= wanted || !read.more {
                break page.memories.len() >= wanted;
            }
        };
        page.memories.truncate(wanted - 1);
        page.revisions.sort_unstable();
        page.revisions.dedup();
        let left = size.saturating_sub(u32::try_from(page.memories.len()).unwrap_or(u32::MAX));
        match page.memories.last() {
            Some(last) if more => page.next = Some(Cursor::behind(last)),
            _ if with_candidates && left == 0 => {
                page.next = Some(Cursor::Candidate { create_time: 0, id: Uuid::nil() });
            }
            _ if with_candidates => {
                let Page { candidates, next, .. } = self.candidate_page(range, None, left).await?;
                (page.candidates, page.next) = (candidates, next);
            }
            _ => {}
        }
        Ok(page)
    }

    async fn candidate_page(
        &self,
        range: &Range,
        after: Option<(Time, CandidateId)>,
        size: u32,
    ) -> Result<Page, Error> {
        let (candidates, more) = self.visible_candidates(range, after, size).await?;
        let next = candidates
            .last()
            .filter(|_| more)
            .map(|last| Cursor::Candidate { create_time: last.create_time.micros(), id: last.id.0 });
        Ok(Page { candidates, next, ..Page::default() })
    }
}

impl Cursor {
    fn behind(memory: &Memory) -> Self {
        let place = &memory.address;
        Self::Memory {
            owner: place.owner.as_str().to_owned(),
            project: place.level.project().to_owned(),
            task: place.level.task().to_owned(),
            key: place.key.as_str().to_owned(),
        }
    }
}

fn position_of(memory: &Memory) -> Position {
    let place = &memory.address;
    Position { owner: place.owner.clone(), level: place.level.clone(), key: place.key.clone() }
}

/// Whether a list for this purpose shows it. The subject sees every state; others what is in force, or would be but for
/// policy.
fn listed(purpose: &Purpose, verdict: &Verdict) -> bool {
    let in_force = |reason: &Reason| {
        !matches!(
            reason,
            Reason::Deleted | Reason::Forgotten | Reason::Quarantined | Reason::NotYetValid | Reason::Expired
        )
    };
    purpose.access == Access::Subject || verdict.reasons.iter().all(in_force)
}

/// What a token is bound to beside the caller: the purpose and the scopes.
fn filter<'a>(command: &'a ListMemories, range: &'a Range) -> Vec<&'a str> {
    let purpose = command.purpose.as_str();
    match range {
        Range::One(owner, level) => {
            vec![purpose, "one", owner.as_str(), level.name(), level.project(), level.task()]
        }
        Range::Owner(owner) => vec![purpose, "owner", owner.as_str()],
        Range::All => vec![purpose, "all"],
    }
}

fn position(owner: &str, project: &str, task: &str, key: &str) -> Option<Position> {
    let owner = if owner.is_empty() { Owner::SHARED } else { Owner::personal(SubjectId::new(owner).ok()?) };
    let level = match (project, task) {
        ("", "") => Level::General,
        (project, "") => Level::Project(ProjectId::new(project).ok()?),
        (project, task) => Level::Task(ProjectId::new(project).ok()?, TaskId::new(task).ok()?),
    };
    Some(Position { owner, level, key: Key::new(key).ok()? })
}
