//! `Recall` and `ExplainRecall`: nominations are judged, the decision is recorded, and only then facts go out.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracing::Instrument;

use super::apart::apart;
use super::call::{ATTEMPTS, Call, invalid};
use super::command::Recall;
use super::{Admitted, Error, Gate, Shown, operation};
use crate::identity::Caller;
use crate::memory::{Judgement, Memory, MemoryId, Subject, Text, TextQuery, Version};
use crate::policy::{Access, Purpose, RecallInput, Recalled, Search, Terms, Words, recall, substring_forms};
use crate::store::{Expect, Recorded, SearchRead, View, ViewRequest};

impl Gate {
    /// Judges nominations and returns the admitted facts.
    ///
    /// # Errors
    /// Grants, the purpose, the store, the ledger; `JudgementContended` where changes overtook it each time.
    pub async fn recall(&self, caller: &Caller, command: Recall) -> Result<Admitted, Error> {
        let call = self.begin(caller, operation::RECALL, command.subject.as_ref()).await?;
        let purpose = call.recall_purpose(&command, "purpose").await?;
        for _ in 0..ATTEMPTS {
            let view = call.view(&command).await?;
            let judgement = call.judge(&command, purpose, &view);
            let Some(facts) = call.facts(&judgement, view.memories).await? else { continue };
            if let Some(recorded) = call.record(judgement).await? {
                return Ok(Admitted { recorded, shown: facts, next_page_token: None });
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }

    /// Judges the same and returns no text.
    ///
    /// # Errors
    /// As [`Gate::recall`].
    pub async fn explain_recall(&self, caller: &Caller, command: Recall) -> Result<Recorded<Judgement>, Error> {
        let call = self.begin(caller, operation::EXPLAIN_RECALL, command.subject.as_ref()).await?;
        let purpose = call.recall_purpose(&command, "recall.purpose").await?;
        for _ in 0..ATTEMPTS {
            let view = call.view(&command).await?;
            let judgement = call.judge(&command, purpose, &view);
            if let Some(recorded) = call.record(judgement).await? {
                return Ok(recorded);
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }
}

impl Call<'_> {
    async fn recall_purpose(&self, command: &Recall, field: &str) -> Result<&Purpose, Error> {
        let purpose = self.purpose(&self.policy, &command.purpose).await?;
        if purpose.access == Access::Subject {
            return Err(invalid(field, "is for GetMemory and ListMemories"));
        }
        self.require_level(&command.context.0).await?;
        Ok(purpose)
    }

    async fn view(&self, command: &Recall) -> Result<View, Error> {
        let request = ViewRequest {
            reach: self.reach(),
            context: command.context.clone(),
            keys: command.keys.clone(),
            ids: command.nominations.iter().map(|nomination| nomination.memory_id).collect(),
            all: command.all,
            search: command.text.as_ref().map(|query| match query {
                TextQuery::Words(_) => SearchRead::Tokens,
                TextQuery::Substring(text) => SearchRead::Substring(substring_forms(text)),
            }),
            whole: None,
            now: self.gate.clock.now(),
        };
        self.gate.store.view(&request).instrument(operation::load(&self.span)).await.map_err(Error::store)
    }

    fn judge(&self, command: &Recall, purpose: &Purpose, view: &View) -> Judgement {
        let _span = operation::judge(&self.span).entered();
        let holds_level = |level: &_| self.caller.holds_level(level);
        let terms = Terms {
            policy: &self.policy,
            purpose,
            context: Some(&command.context),
            min_confidence: command.min_confidence,
            viewpoint: self.viewpoint(&holds_level),
            now: self.now(view.newest_update_time),
        };
        let words = match &command.text {
            Some(TextQuery::Words(text)) => Some(Words::of(text)),
            Some(TextQuery::Substring(_)) | None => None,
        };
        let substring = command.text.as_ref().map(|_| Search::Substring(&view.holding));
        let input = RecallInput {
            keys: &command.keys,
            nominations: &command.nominations,
            all: command.all,
            search: words.as_ref().map(Search::Words).or(substring),
            budget: command.budget,
            memories: &view.memories,
            candidates: &view.candidates,
        };
        let Recalled { verdicts, stale_time, not_nominated_count, leaked_count } =
            apart(view.memories.len(), || recall(&terms, &input));
        if leaked_count > 0 {
            tracing::error!(leaked_count, "the store returned rows of another tenant or subject; they were withheld");
        }
        let mut judgement = self.judgement(terms.now);
        judgement.purpose = Some(command.purpose.clone());
        judgement.context = Some(command.context.clone());
        judgement.stale_time = stale_time;
        judgement.revisions.clone_from(&view.revisions);
        judgement.verdicts = verdicts;
        judgement.not_nominated_count = not_nominated_count;
        judgement.min_confidence = command.min_confidence;
        judgement.budget = Some(command.budget);
        judgement
    }

    /// The facts that the judgement admits, in its order; `None` where one has changed since it was judged.
    async fn facts(&self, judgement: &Judgement, memories: Vec<Arc<Memory>>) -> Result<Option<Vec<Shown>>, Error> {
        let mut read: BTreeMap<MemoryId, Arc<Memory>> =
            memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let mut facts: Vec<Arc<Memory>> = judgement
            .accepted()
            .filter_map(|verdict| match verdict.subject {
                Subject::Memory(id) => read.remove(&id),
                Subject::Candidate(_) => None,
            })
            .collect();
        let missing: Vec<(MemoryId, Version)> =
            facts.iter().filter(|fact| fact.value.is_none()).map(|fact| (fact.id, fact.version)).collect();
        if !missing.is_empty() {
            let values = self.gate.store.values(&self.reach(), &missing).await.map_err(Error::store)?;
            let mut values: BTreeMap<MemoryId, Text> = values.into_iter().collect();
            for fact in facts.iter_mut().filter(|fact| fact.value.is_none()) {
                Arc::make_mut(fact).value = values.remove(&fact.id);
            }
        }
        if facts.iter().any(|fact| fact.value.is_none()) {
            return Ok(None);
        }
        Ok(Some(facts.into_iter().map(|fact| self.show(fact, true)).collect()))
    }

    /// Records a judgement of a read; `None` where a scope has changed since.
    pub(super) async fn record(&self, judgement: Judgement) -> Result<Option<Recorded<Judgement>>, Error> {
        self.record_with(judgement, Vec::new()).await
    }

    /// The same, with more that must hold.
    pub(super) async fn record_with(
        &self,
        judgement: Judgement,
        mut expect: Vec<Expect>,
    ) -> Result<Option<Recorded<Judgement>>, Error> {
        expect.extend(judgement.revisions.iter().cloned().map(Expect::Revision));
        let mut change = self.change(self.owner(crate::memory::Audience::Personal), judgement);
        change.expect = expect;
        self.commit(change).await
    }

    /// A memory as the caller may see it: whole where admitted, else without any text.
    pub(super) fn show(&self, memory: impl Into<Arc<Memory>>, admitted: bool) -> Shown {
        let mut memory = memory.into();
        let trust = self.policy.trust(&memory.source, memory.lineage_trust);
        let inferred = self.policy.is_inferred(&memory);
        if !admitted {
            let memory = Arc::make_mut(&mut memory);
            memory.change_reason = Text::default();
            memory.value = None;
            memory.source.reference = Text::default();
            memory.source.parent_references = Vec::new();
        }
        let key_withheld = !admitted && self.policy.key_of_memory_is_text(&memory);
        Shown { memory, key_withheld, trust, inferred }
    }
}
