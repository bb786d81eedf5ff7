//! The purposes of a document.

use std::collections::BTreeMap;

use super::names::{self, evidence, span};
use super::reader::{Entry, Faults, Fields};
use crate::memory::{Confidence, PurposeName, Sensitivity, Trust};
use crate::policy::{Access, INDEX, Purpose, Risk, SUBJECT_ACCESS};

/// The purposes, each with its table not yet read.
pub(super) struct Named<'a>(Vec<(PurposeName, Entry<'a>)>);

impl<'a> Named<'a> {
    pub(super) fn of(fields: Fields<'a>, faults: &Faults) -> Self {
        let mut named = Vec::new();
        for (name, entry) in fields.named() {
            if let Some(fault) = names::name_fault(&name) {
                entry.fault(fault);
            }
            named.extend(PurposeName::new(name).ok().map(|name| (name, entry)));
        }
        for built_in in [SUBJECT_ACCESS, INDEX] {
            if !named.iter().any(|(name, _)| name.as_str() == built_in) {
                faults.between(&format!("purposes.{built_in}"), "is missing: every policy has it".to_owned());
            }
        }
        Self(named)
    }

    pub(super) fn names(&self) -> Vec<PurposeName> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn read(self) -> BTreeMap<PurposeName, Purpose> {
        let purposes = self.0.into_iter().filter_map(|(name, entry)| read_one(&name, entry.table()?));
        purposes.map(|purpose| (purpose.name.clone(), purpose)).collect()
    }
}

fn read_one(name: &PurposeName, mut fields: Fields<'_>) -> Option<Purpose> {
    if name.as_str() == SUBJECT_ACCESS {
        fields.finish();
        return Some(subject_access(name));
    }
    let risk = fields.required("risk").and_then(|entry| entry.choice(&names::RISKS));
    let min_confidence =
        fields.required("min_confidence").and_then(|entry| entry.number("a number from 0 to 1", Confidence::floor));
    let min_trust_entry = fields.required("min_trust");
    let min_trust = min_trust_entry.as_ref().and_then(|entry| entry.choice(&names::TRUSTS));
    let evidence = fields.required("evidence").and_then(evidence);
    let max_sensitivity = fields.required("max_sensitivity").and_then(|entry| entry.choice(&names::SENSITIVITIES));
    let age = fields.optional("max_confirmation_age_seconds");
    let nominated_version_required = fields.required("nominated_version_required").and_then(|entry| entry.flag());
    if let (Some(entry), Some(Trust::Untrusted), Some(Risk::Medium | Risk::High)) = (&min_trust_entry, min_trust, risk)
    {
        entry.fault("must be at least `unverified` where `risk` is not `low`");
    }
    fields.finish();
    let max_confirmation_age = match age {
        None => None,
        Some(entry) => Some(span(&entry)?),
    };
    Some(Purpose {
        name: name.clone(),
        access: Access::Judged,
        risk: risk?,
        min_confidence: min_confidence?,
        min_trust: min_trust?,
        evidence: evidence?,
        max_sensitivity: max_sensitivity?,
        max_confirmation_age,
        nominated_version_required: nominated_version_required?,
    })
}

/// The subject's right to see what is kept about them demands nothing, and no document can narrow it.
fn subject_access(name: &PurposeName) -> Purpose {
    Purpose {
        name: name.clone(),
        access: Access::Subject,
        risk: Risk::Low,
        min_confidence: Confidence::ZERO,
        min_trust: Trust::Untrusted,
        evidence: Vec::new(),
        max_sensitivity: Sensitivity::Restricted,
        max_confirmation_age: None,
        nominated_version_required: false,
    }
}
