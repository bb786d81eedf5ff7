//! What a source is worth: by its kind and its lineage, never by what anybody says of it.

use super::{Policy, SourceRule};
use crate::memory::{Confidence, Memory, Sensitivity, Source, Trust};

impl Policy {
    /// The rule for a source's kind. `None` where the kind is not stated, or the policy does not know it.
    #[must_use]
    pub fn source_rule(&self, source: &Source) -> Option<&SourceRule> {
        source.kind.as_ref().and_then(|kind| self.sources.get(kind))
    }

    /// What a source is worth: at most what its kind is, and at most what its lineage allows. A kind that is not
    /// stated, or that the policy does not know, is worth nothing.
    #[must_use]
    pub fn trust(&self, source: &Source, lineage_trust: Trust) -> Trust {
        trust(self.source_rule(source), lineage_trust)
    }

    /// The most confidence that a source can give.
    #[must_use]
    pub fn confidence_cap(&self, source: &Source) -> Confidence {
        self.source_rule(source).map_or(self.unstated_source_max_confidence, |rule| rule.max_confidence)
    }

    /// The most that a lineage lets a fact be worth: its weakest ancestor. A parent's own stored bound stands for all
    /// of its ancestors. Nobody checked what a bare reference refers to, so one bounds at `Unverified`.
    #[must_use]
    pub fn lineage_trust(&self, source: &Source, parents: &[Memory]) -> Trust {
        let references = if source.parent_references.is_empty() { Trust::Verified } else { Trust::Unverified };
        parents.iter().map(|parent| self.trust(&parent.source, parent.lineage_trust)).fold(references, Trust::min)
    }
}

/// The least sensitivity that a lineage allows: its most sensitive ancestor's.
pub(super) fn lineage_sensitivity(parents: &[Memory]) -> Option<Sensitivity> {
    parents.iter().map(|parent| parent.sensitivity).max()
}

/// The same where the rule has been looked up.
pub(super) fn trust(rule: Option<&SourceRule>, lineage_trust: Trust) -> Trust {
    rule.map_or(Trust::Untrusted, |rule| rule.trust).min(lineage_trust)
}
