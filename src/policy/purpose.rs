//! What recalled facts are for, and what that demands of them.

use crate::memory::{Confidence, Evidence, PurposeName, Sensitivity, Span, Trust};

/// The built-in purpose under which a subject sees what is kept about them. Every policy has it, it alone has
/// [`Access::Subject`], and no policy can change it.
pub const SUBJECT_ACCESS: &str = "subject_access";

/// The built-in purpose under which index builders read. Every policy has it, and sets what it demands.
pub const INDEX: &str = "index";

/// How much harm a wrong fact does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Annoying at worst.
    Low,
    /// Somebody has to clean up.
    Medium,
    /// Money, access, production.
    High,
}

/// Which gates a purpose passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// All of them.
    Judged,
    /// The subject's right to see what is kept about them: their own memories in every state, without the text of
    /// deleted, held and forgotten ones. For lists and single memories, never for a recall.
    Subject,
}

/// One purpose.
#[derive(Debug, Clone)]
pub struct Purpose {
    /// Its name.
    pub name: PurposeName,
    /// Which gates it passes.
    pub access: Access,
    /// Its risk.
    pub risk: Risk,
    /// The least confidence.
    pub min_confidence: Confidence,
    /// The least trust.
    pub min_trust: Trust,
    /// The evidence accepted; empty: not asked for.
    pub evidence: Vec<Evidence>,
    /// The highest sensitivity admitted.
    pub max_sensitivity: Sensitivity,
    /// How recent the confirmation has to be; `None`: no bound.
    pub max_confirmation_age: Option<Span>,
    /// An outside nomination has to name the value version it holds.
    pub nominated_version_required: bool,
}
