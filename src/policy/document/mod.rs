//! Reading and validating a policy document.
//!
//! The document is checked whole: whoever mends a policy sees every fault at once, each with its place.
//!
//! Decision: tables are read field by field and not derived with serde, which stops at the first fault and loses the
//! place of whatever is checked later. Cost: a field is named in its reader and in its type.

mod kinds;
mod names;
mod overlap;
mod purposes;
mod reader;
mod screening;
mod sources;

use std::collections::BTreeSet;

use aws_lc_rs::digest;
use toml::de::DeTable;

use super::Policy;
use crate::memory::{Confidence, Evidence, PolicyVersion, Span};
use reader::{Entry, Faults, Fields};

/// The document that is compiled in.
pub const DEFAULT_DOCUMENT: &str = include_str!("../default.toml");

/// Longest document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// Longest life of a candidate, in seconds: a year.
const MAX_CANDIDATE_LIFE_SECONDS: i64 = 31_536_000;

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {message}")]
pub struct PolicyFault {
    /// Where, as a dotted path: `kinds.duty_team.levels`. Empty: the document itself.
    pub path: String,
    /// What; begins with line and column, both from 1, where the fault stands in one place.
    pub message: String,
}

/// Everything that is wrong with a document, in the order of the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} in the policy: {}", count(.0), list(.0))]
pub struct PolicyFaults(pub Vec<PolicyFault>);

fn count(faults: &[PolicyFault]) -> String {
    if faults.len() == 1 { "one fault".to_owned() } else { format!("{} faults", faults.len()) }
}

fn list(faults: &[PolicyFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Policy {
    /// Reads a document and checks it whole. `default.toml` says what each field means.
    ///
    /// # Errors
    /// Every fault: unknown and missing fields, names that nothing defines, numbers out of range, patterns that do not
    /// compile, kinds whose keys overlap, kinds and evidence that could never be used.
    /// Where the document is no TOML, what the TOML reader found, and nothing else.
    pub fn parse(document: &str) -> Result<Self, PolicyFaults> {
        let faults = Faults::new(document);
        let policy = read(document, &faults);
        policy.filter(|_| faults.is_empty()).ok_or_else(|| PolicyFaults(faults.into_vec()))
    }
}

/// `None` only where a fault was told.
fn read(document: &str, faults: &Faults) -> Option<Policy> {
    if document.len() > MAX_DOCUMENT_BYTES {
        faults.between("", format!("must have at most {MAX_DOCUMENT_BYTES} bytes, and has {}", document.len()));
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(document);
    for error in &errors {
        let offset = error.span().map_or(document.len(), |span| span.start);
        faults.at(offset, &key_at(document, offset), error.message());
    }
    if !errors.is_empty() {
        return None;
    }

    let mut root = Fields::root(table.into_inner(), faults);
    let mut table = |name| root.required(name).and_then(Entry::table);
    let limits = table("limits").map(limits);
    let purposes = table("purposes").map(|fields| purposes::Named::of(fields, faults));
    let sources = table("sources").map(sources::Named::of);
    let source_names = sources.as_ref().map(sources::Named::names).unwrap_or_default();
    let confirming_sources = table("confirming_sources").and_then(|fields| sources::confirming(fields, &source_names));
    let purpose_names = purposes.as_ref().map(purposes::Named::names).unwrap_or_default();
    let kinds = table("kinds").map(|fields| kinds::read(fields, &purpose_names, faults));
    let screening = table("screening").map(screening::read);
    root.finish();

    let (kinds, purposes, sources) = (kinds?, purposes?.read(), sources?.read());
    kinds::check_uses(&kinds, &purposes, faults);
    let used: BTreeSet<Evidence> = kinds
        .values()
        .flat_map(|kind| &kind.evidence)
        .chain(purposes.values().flat_map(|purpose| &purpose.evidence))
        .copied()
        .collect();
    let confirming_sources = confirming_sources?;
    sources::check_confirming(&used, &confirming_sources, &sources, faults);
    let (candidate_life, unstated_source_max_confidence) = limits??;
    Some(Policy {
        version: version(document),
        document: document.to_owned(),
        kinds: kinds.into_iter().collect(),
        purposes: purposes.into_iter().collect(),
        sources: sources.into_iter().collect(),
        confirming_sources,
        unstated_source_max_confidence,
        screening: screening?,
        candidate_life,
    })
}

fn limits(mut fields: Fields<'_>) -> Option<(Span, Confidence)> {
    let candidate_life = fields
        .required("candidate_life_seconds")
        .and_then(|entry| entry.whole(1..=MAX_CANDIDATE_LIFE_SECONDS))
        .map(Span::from_seconds);
    let unstated = fields.required("unstated_source_max_confidence").and_then(|entry| sources::confidence_cap(&entry));
    fields.finish();
    candidate_life.zip(unstated)
}

fn version(document: &str) -> PolicyVersion {
    let digest = digest::digest(&digest::SHA256, document.as_bytes());
    let mut version = [0; 32];
    version.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
    PolicyVersion(version)
}

/// The key of the line that a syntax error stands in, so that `min_confidence =` is told by name.
fn key_at(document: &str, offset: usize) -> String {
    let before = document.get(..offset).unwrap_or(document).trim_end_matches('\n');
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.split_once('=').map_or_else(String::new, |(key, _)| key.trim().to_owned())
}

#[cfg(test)]
mod tests;
