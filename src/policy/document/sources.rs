//! The source kinds of a document, and which of them confirming acts are.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use super::reader::{Entry, Faults, Fields, one_of};
use crate::memory::{Confidence, Evidence, SourceKindName, Trust};
use crate::policy::{Activates, SourceRule};

/// The source kinds, each with its table not yet read.
pub(super) struct Named<'a>(Vec<(SourceKindName, Entry<'a>)>);

impl<'a> Named<'a> {
    pub(super) fn of(fields: Fields<'a>) -> Self {
        let mut named = Vec::new();
        for (name, entry) in fields.named() {
            if let Some(fault) = names::name_fault(&name) {
                entry.fault(fault);
            }
            named.extend(SourceKindName::new(name).ok().map(|name| (name, entry)));
        }
        Self(named)
    }

    pub(super) fn names(&self) -> Vec<SourceKindName> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn read(self) -> BTreeMap<SourceKindName, SourceRule> {
        let rules = self.0.into_iter().filter_map(|(name, entry)| read_one(name, entry.table()?));
        rules.map(|rule| (rule.name.clone(), rule)).collect()
    }
}

fn read_one(name: SourceKindName, mut fields: Fields<'_>) -> Option<SourceRule> {
    let trust = fields.required("trust").and_then(|entry| entry.choice(&names::TRUSTS));
    let max_confidence = fields.required("max_confidence").and_then(|entry| confidence_cap(&entry));
    let activates_entry = fields.required("activates");
    let activates = activates_entry.as_ref().and_then(|entry| entry.choice(&names::ACTIVATES));
    let lineage_required = fields.required("lineage_required").and_then(|entry| entry.flag());
    if let (Some(entry), Some(Activates::AsKindAllows), Some(Trust::Untrusted)) = (&activates_entry, activates, trust) {
        entry.fault("must be `nothing` where `trust` is `untrusted`");
    }
    fields.finish();
    Some(SourceRule {
        name,
        trust: trust?,
        max_confidence: max_confidence?,
        activates: activates?,
        lineage_required: lineage_required?,
    })
}

/// A cap on confidence.
pub(super) fn confidence_cap(entry: &Entry<'_>) -> Option<Confidence> {
    entry.number("a number from 0 to 1", Confidence::value)
}

/// What kind of source a confirming act is, by evidence. `None` where a name in it is wrong.
pub(super) fn confirming(
    mut fields: Fields<'_>,
    known: &[SourceKindName],
) -> Option<BTreeMap<Evidence, SourceKindName>> {
    let stated: Vec<_> =
        names::EVIDENCE.iter().filter_map(|(name, evidence)| Some((*evidence, fields.optional(name)?))).collect();
    fields.finish();
    let read: Vec<_> = stated.iter().map(|(evidence, entry)| Some((*evidence, source(entry, known)?))).collect();
    read.into_iter().collect()
}

fn source(entry: &Entry<'_>, known: &[SourceKindName]) -> Option<SourceKindName> {
    let name = entry.text()?;
    let found = known.iter().find(|source| source.as_str() == name).cloned();
    found.or_else(|| entry.wrong(&one_of(known.iter().map(SourceKindName::as_str))))
}

/// Evidence that is used and that no confirming act could give, and acts whose result nobody may believe.
pub(super) fn check_confirming(
    used: &BTreeSet<Evidence>,
    confirming: &BTreeMap<Evidence, SourceKindName>,
    sources: &BTreeMap<SourceKindName, SourceRule>,
    faults: &Faults,
) {
    for evidence in used {
        let path = format!("confirming_sources.{}", evidence.name());
        match confirming.get(evidence).map(|name| (name, sources.get(name))) {
            None => faults.between(&path, "must name a source kind: kinds or purposes list this evidence".to_owned()),
            Some((name, Some(source))) if source.trust == Trust::Untrusted => {
                faults.between(&path, format!("must not be `{name}`, whose `trust` is `untrusted`"));
            }
            Some(_) => {}
        }
    }
}
