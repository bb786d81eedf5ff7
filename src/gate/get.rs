//! `GetMemory`: one memory, and the gate's word on it.

use std::sync::Arc;

use super::call::{ATTEMPTS, Call};
use super::command::{GetMemory, MemoryName};
use super::{Admitted, Error, Gate, operation};
use crate::identity::Caller;
use crate::memory::{Context, Memory, MemoryId, Nominator};
use crate::policy::{Terms, stale_time_of, verdict_on};
use crate::store::{View, ViewRequest};

impl Gate {
    /// Judges one memory in its own scope. Without text where it is not admissible.
    ///
    /// # Errors
    /// Grants, the purpose, existence, the store, the ledger.
    pub async fn get_memory(&self, caller: &Caller, command: GetMemory) -> Result<Admitted, Error> {
        let call = self.begin(caller, operation::GET_MEMORY, command.subject.as_ref()).await?;
        let policy = call.policy.clone();
        let purpose = call.purpose(&policy, &command.purpose).await?;
        for _ in 0..ATTEMPTS {
            let (memory, view) = call.look(&command.memory).await?;
            let holds_level = |level: &_| caller.holds_level(level);
            let context = Context(memory.address.level.clone());
            let terms = Terms {
                policy: &policy,
                purpose,
                context: Some(&context),
                min_confidence: None,
                viewpoint: call.viewpoint(&holds_level),
                now: call.now(view.newest_update_time),
            };
            let verdict = operation::judge(&call.span).in_scope(|| verdict_on(&terms, &memory, Nominator::Name));
            let admitted = verdict.accepted();
            let mut judgement = call.judgement(terms.now);
            judgement.purpose = Some(command.purpose.clone());
            judgement.stale_time = stale_time_of(&terms, &memory);
            judgement.context = Some(context.clone());
            judgement.revisions = view.revisions;
            let place = &memory.address;
            judgement.revisions.retain(|revision| revision.owner == place.owner && revision.level == place.level);
            judgement.verdicts = vec![verdict];
            if let Some(recorded) = call.record(judgement).await? {
                return Ok(Admitted { recorded, shown: vec![call.show(memory, admitted)], next_page_token: None });
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }
}

impl Call<'_> {
    /// The memory with the state of its scope, read at one point in time. A first read tells where it lies, and
    /// nothing else of it is used.
    async fn look(&self, name: &MemoryName) -> Result<(Arc<Memory>, View), Error> {
        let found = self.find(name).await?;
        let request = ViewRequest {
            reach: self.reach(),
            context: Context(found.address.level),
            keys: Vec::new(),
            ids: vec![found.id],
            all: false,
            search: None,
            whole: None,
            now: self.gate.clock.now(),
        };
        let mut view = self.load(self.gate.store.view(&request)).await?;
        match take(&mut view.memories, found.id).filter(|memory| self.sees(memory)) {
            Some(memory) => Ok((memory, view)),
            None => Err(self.refuse(Error::NotFound).await),
        }
    }
}

fn take(memories: &mut Vec<Arc<Memory>>, id: MemoryId) -> Option<Arc<Memory>> {
    let at = memories.iter().position(|memory| memory.id == id)?;
    Some(memories.swap_remove(at))
}
