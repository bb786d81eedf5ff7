//! What sort of fact a memory holds, and what follows from that.

use std::collections::BTreeSet;

use regex::Regex;

use crate::memory::{Audience, Evidence, Key, KindName, Level, PurposeName, Sensitivity, Span};

/// What sort of fact. Closed, and none of it is a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Who somebody is.
    Profile,
    /// How somebody wants things.
    Preference,
    /// How a task stands.
    TaskFact,
    /// What was learnt once.
    Experience,
    /// How the surroundings are.
    EnvironmentFact,
}

/// A level without its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelName {
    /// Every project.
    General,
    /// One project.
    Project,
    /// One task.
    Task,
}

impl LevelName {
    /// The name of a level.
    #[must_use]
    pub const fn of(level: &Level) -> Self {
        match level {
            Level::General => Self::General,
            Level::Project(_) => Self::Project,
            Level::Task(..) => Self::Task,
        }
    }
}

/// Which keys a kind has.
#[derive(Debug, Clone)]
pub enum Keys {
    /// These and no others. Such keys are names, not text.
    Listed(BTreeSet<Key>),
    /// Those that match whole. Such keys are text, and decisions hold their digest alone.
    Pattern(Regex),
}

impl Keys {
    /// Whether the kind has this key.
    #[must_use]
    pub fn allow(&self, key: &Key) -> bool {
        match self {
            Self::Listed(keys) => keys.contains(key),
            // The pattern is anchored when the document is parsed.
            Self::Pattern(pattern) => pattern.is_match(key.as_str()),
        }
    }
}

/// Whether a fact may be in force without evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inference {
    /// Never.
    Never,
    /// Yes, and it is used for purposes of low risk alone, labelled.
    LowRisk,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueType {
    /// Any text.
    Text,
    /// A JSON number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of the listed values.
    Enum,
    /// A JSON document.
    Json,
}

/// What a value has to be.
#[derive(Debug, Clone)]
pub struct ValueRule {
    /// Its type.
    pub value_type: ValueType,
    /// The values, for an enum.
    pub values: BTreeSet<String>,
    /// Its longest, in Unicode scalar values.
    pub max_chars: u32,
}

/// What happens to a wider memory when a narrower one of the same key was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NarrowerRejected {
    /// By the purpose's risk: withheld at medium and high, used at low.
    ByRisk,
    /// Withheld at every risk.
    Withhold,
}

/// One kind of fact.
#[derive(Debug, Clone)]
pub struct Kind {
    /// Its name.
    pub name: KindName,
    /// What sort of fact.
    pub class: Class,
    /// Its keys.
    pub keys: Keys,
    /// The key may be left out: the memory's own id is used.
    pub many: bool,
    /// The levels it holds at.
    pub levels: BTreeSet<LevelName>,
    /// The audiences it may have.
    pub audiences: BTreeSet<Audience>,
    /// The purposes it may be used for.
    pub purposes: BTreeSet<PurposeName>,
    /// The subject has to agree. Does not apply to shared memories.
    pub consent_needed: bool,
    /// The evidence that counts, strongest first.
    pub evidence: Vec<Evidence>,
    /// Whether it may be in force without.
    pub inference: Inference,
    /// Its life where the writer names no end; `None`: no end.
    pub default_life: Option<Span>,
    /// Its longest life; `None`: no bound.
    pub longest_life: Option<Span>,
    /// Its sensitivity where the writer names none.
    pub sensitivity: Sensitivity,
    /// What its values have to be.
    pub value: ValueRule,
    /// What happens when a narrower memory was rejected.
    pub narrower_rejected: NarrowerRejected,
}

impl Kind {
    /// How strong evidence is for this kind and owner: 0 is strongest; `None` where it counts as none. For shared
    /// memories the subject's word does not count.
    #[must_use]
    pub fn strength(&self, evidence: Evidence, audience: Audience) -> Option<usize> {
        if audience == Audience::Shared && evidence == Evidence::UserConfirmed {
            return None;
        }
        self.evidence.iter().position(|counts| *counts == evidence)
    }
}
