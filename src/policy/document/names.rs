//! The names that a document may use.

use super::reader::{Entry, one_of};
use crate::memory::{Audience, Evidence, PurposeName, Sensitivity, Span, Trust};
use crate::policy::{
    Activates, Checksum, Class, Inference, LevelName, NarrowerRejected, PersonalDataAction, Risk, ValueType,
};

/// Longest name that a document may give to a kind, a purpose, a source kind or a screening rule.
const MAX_NAME_CHARS: usize = 64;

/// Longest life or age, in seconds: 100 years.
const MAX_SECONDS: i64 = 100 * 365 * 24 * 60 * 60;

pub(super) const CLASSES: [(&str, Class); 5] = [
    ("profile", Class::Profile),
    ("preference", Class::Preference),
    ("task_fact", Class::TaskFact),
    ("experience", Class::Experience),
    ("environment_fact", Class::EnvironmentFact),
];

pub(super) const LEVELS: [(&str, LevelName); 3] =
    [("general", LevelName::General), ("project", LevelName::Project), ("task", LevelName::Task)];

pub(super) const AUDIENCES: [(&str, Audience); 2] = [("personal", Audience::Personal), ("shared", Audience::Shared)];

/// Without `none`: no evidence is asked for by leaving the list empty.
pub(super) const EVIDENCE: [(&str, Evidence); 3] = [
    (Evidence::UserConfirmed.name(), Evidence::UserConfirmed),
    (Evidence::TaskVerified.name(), Evidence::TaskVerified),
    (Evidence::OperatorVerified.name(), Evidence::OperatorVerified),
];

pub(super) const INFERENCE: [(&str, Inference); 2] = [("never", Inference::Never), ("low_risk", Inference::LowRisk)];

pub(super) const SENSITIVITIES: [(&str, Sensitivity); 4] = [
    (Sensitivity::Public.name(), Sensitivity::Public),
    (Sensitivity::Internal.name(), Sensitivity::Internal),
    (Sensitivity::Personal.name(), Sensitivity::Personal),
    (Sensitivity::Restricted.name(), Sensitivity::Restricted),
];

pub(super) const VALUE_TYPES: [(&str, ValueType); 5] = [
    ("text", ValueType::Text),
    ("number", ValueType::Number),
    ("bool", ValueType::Bool),
    ("enum", ValueType::Enum),
    ("json", ValueType::Json),
];

pub(super) const NARROWER_REJECTED: [(&str, NarrowerRejected); 2] =
    [("by_risk", NarrowerRejected::ByRisk), ("withhold", NarrowerRejected::Withhold)];

pub(super) const RISKS: [(&str, Risk); 3] = [("low", Risk::Low), ("medium", Risk::Medium), ("high", Risk::High)];

pub(super) const TRUSTS: [(&str, Trust); 4] = [
    (Trust::Untrusted.name(), Trust::Untrusted),
    (Trust::Unverified.name(), Trust::Unverified),
    (Trust::Attributed.name(), Trust::Attributed),
    (Trust::Verified.name(), Trust::Verified),
];

pub(super) const ACTIVATES: [(&str, Activates); 2] =
    [("nothing", Activates::Nothing), ("as_kind_allows", Activates::AsKindAllows)];

pub(super) const ACTIONS: [(&str, PersonalDataAction); 2] =
    [("mark", PersonalDataAction::Mark), ("redact", PersonalDataAction::Redact)];

pub(super) const CHECKSUMS: [(&str, Checksum); 2] = [("luhn", Checksum::Luhn), ("iban", Checksum::Iban)];

/// What a name has to be, where it is none: names stand in grants such as `purpose:draft`, and in lists.
pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let fits =
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(letters) && name.len() <= MAX_NAME_CHARS;
    (!fits).then_some(
        "must be a name: a lower-case letter, then lower-case letters, digits, `_` and `-`, at most 64 in all",
    )
}

/// A list of evidence.
pub(super) fn evidence(entry: Entry<'_>) -> Option<Vec<Evidence>> {
    entry.list(|item| item.choice(&EVIDENCE))
}

/// A span in seconds, at least one.
pub(super) fn span(entry: &Entry<'_>) -> Option<Span> {
    entry.whole(1..=MAX_SECONDS).map(Span::from_seconds)
}

/// One of the purposes that the document names, whether or not they are in order themselves.
pub(super) fn purpose(entry: &Entry<'_>, known: &[PurposeName]) -> Option<PurposeName> {
    let name = entry.text()?;
    let found = known.iter().find(|purpose| purpose.as_str() == name).cloned();
    found.or_else(|| entry.wrong(&one_of(known.iter().map(PurposeName::as_str))))
}
