//! The rules: a document of plain values, and pure functions over it.
//!
//! Knows `memory` alone. No clock, no randomness, no I/O: the same arguments give the same answer, whether a call is
//! served, explained or replayed.
//!
//! Invariant: nothing fails open. What the document does not name is rejected, with a reason of its own.

mod document;
mod judge;
mod kind;
mod misfit;
mod offer;
mod purpose;
mod recall;
mod screening;
mod select;
mod settle;
mod source;
mod text;
mod trust;
mod value;
mod verdict;
mod write;

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::FixedState;
use indexmap::IndexMap;

pub use document::{DEFAULT_DOCUMENT, PolicyFault, PolicyFaults};
pub use judge::{Nominated, Terms, Viewpoint, judge};
pub use kind::{Class, Inference, Keys, Kind, LevelName, NarrowerRejected, ValueRule, ValueType};
pub use misfit::Misfit;
pub use offer::{Act, Offer, Standing};
pub use purpose::{Access, INDEX, Purpose, Risk, SUBJECT_ACCESS};
pub use recall::{MAX_ALL, RecallInput, Recalled, recall, stale_time_of, verdict_on};
pub use screening::{Checksum, Finding, PersonalDataAction, Screened, Screening, ScreeningRule};
pub use settle::Settled;
pub use source::{Activates, SourceRule};
pub use text::{Search, Words, substring_forms, tokens};
pub use value::{MAX_JSON_DEPTH, value_fits};
pub use verdict::{admitted, attributes, candidate_verdict};
pub use write::{Lies, Move, Succession, WriteDecision, moves, write};

use crate::memory::{Confidence, Evidence, KindName, MemoryId, PolicyVersion, PurposeName, SourceKindName, Span};

/// What a policy names, in the order of names. Each judgement looks into it several times.
pub type Named<K, V> = IndexMap<K, V, FixedState>;

/// What is known of each of many memories, whose ids the service made.
type ById<V> = HashMap<MemoryId, V, FixedState>;

/// One validated policy document. Made by [`Policy::parse`] alone.
#[derive(Debug, Clone)]
pub struct Policy {
    /// SHA-256 of the document's bytes.
    pub version: PolicyVersion,
    /// The document, as it was read.
    pub document: String,
    /// The kinds by name.
    pub kinds: Named<KindName, Kind>,
    /// The purposes by name.
    pub purposes: Named<PurposeName, Purpose>,
    /// The source kinds by name.
    pub sources: Named<SourceKindName, SourceRule>,
    /// What kind of source a confirming act is, by the evidence it gives.
    pub confirming_sources: BTreeMap<Evidence, SourceKindName>,
    /// The most confidence that a source whose kind is not stated can give. Its trust is always the lowest.
    pub unstated_source_max_confidence: Confidence,
    /// What is looked for in all free text of every write.
    pub screening: Screening,
    /// How long a candidate waits before it lapses.
    pub candidate_life: Span,
}

impl Policy {
    /// The policy that is compiled in.
    ///
    /// # Errors
    /// None in a released binary: a test parses the document.
    pub fn compiled_in() -> Result<Self, PolicyFaults> {
        Self::parse(DEFAULT_DOCUMENT)
    }
}
