//! What a kind of source is worth, and what it may put in force by itself.

use crate::memory::{Confidence, SourceKindName, Trust};

/// What a source may put in force without evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activates {
    /// Nothing: it makes candidates.
    Nothing,
    /// What the fact's kind allows to be inferred.
    AsKindAllows,
}

/// One kind of source.
#[derive(Debug, Clone)]
pub struct SourceRule {
    /// Its name.
    pub name: SourceKindName,
    /// What it is worth.
    pub trust: Trust,
    /// The most confidence it can give.
    pub max_confidence: Confidence,
    /// What it may put in force by itself.
    pub activates: Activates,
    /// It has to name what it was derived from.
    pub lineage_required: bool,
}
