//! What every call of the write gate does: read the places, decide, commit, answer. Several facts are judged one after
//! another, each on what those before it left, and committed together.

use super::call::{ATTEMPTS, Call};
use super::propose::{Expected, Proposal, blocked_as, expectations};
use super::replay::{Met, Payload};
use super::{Error, operation};
use crate::identity::Verb;
use crate::memory::{Address, Memory, MemoryId, Outcome, Receipt, RequestId, Text, Time, Version};
use crate::policy::{Offer, Standing, write};
use crate::store::{Change, Place, PlaceRequest, Write};

/// What the facts before this one in the same call have put in force.
#[derive(Default)]
struct Earlier(Vec<Memory>);

impl Earlier {
    fn add(&mut self, change: &Change) {
        let memories = change.writes.iter().filter_map(|write| match write {
            Write::Memory(memory) => Some((**memory).clone()),
            Write::Candidate(_) | Write::EraseCandidate(_) | Write::Block { .. } | Write::Unblock(..) => None,
        });
        self.0.extend(memories);
    }

    /// The place as they leave it.
    fn upon(&self, place: &mut Place, address: &Address) {
        if let Some(newer) = self.0.iter().rfind(|memory| memory.address == *address) {
            place.current = Some(newer.clone());
        }
        for parent in &mut place.parents {
            if let Some(newer) = self.0.iter().rfind(|memory| memory.id == parent.id) {
                *parent = Memory { value: None, tokens: None, ..newer.clone() };
            }
        }
    }

    /// What they derived anew from something else: lineage that the store cannot follow yet. A memory that did not
    /// exist before is left out, since nothing can name it yet.
    fn lineage(&self) -> Vec<MemoryId> {
        let rewritten = self.0.iter().filter(|memory| memory.version > Version::FIRST);
        rewritten.flat_map(|memory| memory.source.parents.iter().copied()).collect()
    }
}

impl Call<'_> {
    /// Puts a proposal through the write gate.
    pub(super) async fn propose(
        &self,
        proposal: Proposal,
        request_id: Option<RequestId>,
        payload: &Payload,
    ) -> Result<Receipt, Error> {
        self.propose_all(&mut [proposal], request_id, payload).await.map(|(receipt, _)| receipt)
    }

    /// Puts proposals through the write gate in their order: what becomes of the first, and of the others. One that
    /// fails, fails all.
    pub(super) async fn propose_all(
        &self,
        proposals: &mut [Proposal],
        request_id: Option<RequestId>,
        payload: &Payload,
    ) -> Result<(Receipt, Vec<Receipt>), Error> {
        let recalls = self.caller.grants().holds(Verb::Recall);
        let expects = |one: &Proposal| matches!(one.expected, Expected::Nothing | Expected::Version(_));
        if proposals.iter().any(expects) && !recalls {
            // The answer to an expectation tells what is there.
            return Err(self.refuse(Error::GrantMissing(Verb::Recall.name().to_owned())).await);
        }
        let request_id = request_id.filter(|_| !proposals.iter().any(|one| one.validate_only));
        for _ in 0..ATTEMPTS {
            let attempt = match self.replayed(request_id, payload).await? {
                Met::Before(first, further) => return Ok((first, further)),
                Met::New(attempt) => attempt,
            };
            let (mut changes, receipts, now) = self.judge_all(proposals).await?;
            let mut receipts = receipts.into_iter();
            let (Some(first), further) = (receipts.next(), receipts.collect::<Vec<_>>()) else {
                return Err(Error::Internal(Box::new(NothingProposed)));
            };
            if let Some(last) = changes.last_mut() {
                last.replay = attempt.map(|attempt| attempt.record_all(&first, &further, now));
            }
            if self.commit_all(changes).await? {
                return Ok((first, further));
            }
        }
        Err(self.refuse(Error::JudgementContended).await)
    }

    /// Judges each on what those before it left. One now for all of them.
    async fn judge_all(&self, proposals: &mut [Proposal]) -> Result<(Vec<Change>, Vec<Receipt>, Time), Error> {
        let mut places = Vec::with_capacity(proposals.len());
        for proposal in proposals.iter() {
            if let Some(candidate) = proposal.candidate {
                self.find_candidate(candidate).await?;
            }
            places.push(self.load(self.gate.store.place(&self.place_request(&proposal.offer))).await?);
        }
        let now = self.now(places.iter().filter_map(|place| place.newest_update_time).max());
        let (mut changes, mut receipts) = (Vec::new(), Vec::new());
        let mut earlier = Earlier::default();
        for (proposal, place) in proposals.iter_mut().zip(places) {
            let (change, receipt) = self.judge_one(proposal, place, &mut earlier, now).await?;
            changes.push(change);
            receipts.push(receipt);
        }
        Ok((changes, receipts, now))
    }

    async fn judge_one(
        &self,
        proposal: &mut Proposal,
        stored: Place,
        earlier: &mut Earlier,
        now: Time,
    ) -> Result<(Change, Receipt), Error> {
        let stored = self.visible(stored, &proposal.offer);
        let mut place = stored.clone();
        earlier.upon(&mut place, &proposal.offer.address);
        let lineage = earlier.lineage();
        if !lineage.is_empty() && !proposal.offer.source.parents.is_empty() {
            // Rare, and closed: whatever was derived anew counts as an ancestor of what names any parent.
            place.leads_back |= place.current.as_ref().is_some_and(|current| lineage.contains(&current.id));
            let request = PlaceRequest { parents: lineage, ..self.place_request(&proposal.offer) };
            place.leads_back |= self.load(self.gate.store.place(&request)).await?.leads_back;
        }
        let place = self.visible(place, &proposal.offer);
        proposal.offer.observe_time = proposal.observed.map_or(now, |observed| observed.min(now));
        let visible = place.current.as_ref().filter(|memory| self.sees(memory));
        if let Err(error) = proposal.expected.check(visible) {
            return Err(self.refuse(error).await);
        }
        let standing = Standing {
            current: place.current.as_ref(),
            parents: &place.parents,
            leads_back: place.leads_back,
            blocks: &place.blocks,
        };
        let decision =
            operation::judge(&self.span).in_scope(|| write(&self.policy, proposal.act, &proposal.offer, standing, now));
        if let (true, Outcome::Activated, Some(settled)) =
            (proposal.validate_only, decision.outcome, decision.settled.clone())
        {
            let would_be = self.memory(proposal, place.current.as_ref(), settled, decision.succession, now);
            earlier.0.push(would_be);
        }
        let (mut change, mut receipt) = self.carry_out(proposal, &place, decision, now);
        earlier.add(&change);
        if proposal.validate_only {
            // Nothing of what came before is written either: neither to be expected nor to be named.
            change.expect = expectations(proposal, &stored);
            if receipt.memory_id.is_some() {
                let there = stored.current.as_ref().filter(|memory| self.sees(memory));
                receipt.memory_id = there.map(|memory| memory.id);
                receipt.version = there.map(|memory| memory.version);
                receipt.value_version = there.map(|memory| memory.value_version);
            }
        }
        Ok((change, receipt))
    }

    /// What is there, as far as it exists for this caller. What lies at the address itself always counts.
    fn visible(&self, mut place: Place, offer: &Offer) -> Place {
        let source = &offer.source;
        place.parents.retain(|parent| self.sees(parent));
        let hidden = |id| source.parents.contains(&id) && !place.parents.iter().any(|parent| parent.id == id);
        place.blocks.retain(|block| !block.memory_id.is_some_and(hidden));
        place
    }

    fn place_request(&self, offer: &Offer) -> PlaceRequest {
        let source = &offer.source;
        // As they would be stored, since blocks are of stored references.
        let screened = |reference: &Text| Text::new(self.policy.screening.screen(reference.expose()).text);
        let references = std::iter::once(&source.reference)
            .chain(&source.parent_references)
            .filter(|reference| !reference.is_empty())
            .map(screened)
            .collect();
        PlaceRequest {
            address: offer.address.clone(),
            blocked_as: blocked_as(&offer.address.key, &offer.kind, offer.own_key),
            reach: self.reach(),
            references,
            parents: source.parents.clone(),
        }
    }
}

/// Somebody proposed nothing at all.
#[derive(Debug, thiserror::Error)]
#[error("nothing was proposed")]
struct NothingProposed;
