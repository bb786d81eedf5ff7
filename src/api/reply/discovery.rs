//! Who the caller is, and what the policy lets it do.

use super::{choice, place};
use crate::api::proto;
use crate::identity::{Caller, Grants, Holding, Projects};
use crate::memory::{Evidence, ProjectId};
use crate::policy::{Inference, Keys, Kind, Policy, Purpose, SourceRule};

/// `GetCaller`.
pub(in crate::api) fn caller(caller: &Caller) -> proto::GetCallerResponse {
    let (projects, all_projects) = match caller.projects() {
        Projects::Listed(projects) => (projects.iter().map(|(id, holding)| project(id, holding)).collect(), false),
        Projects::All => (Vec::new(), true),
    };
    proto::GetCallerResponse {
        tenant_id: caller.tenant().to_string(),
        principal: caller.principal().to_string(),
        subject_id: caller.subject().map(ToString::to_string).unwrap_or_default(),
        projects,
        grants: caller.grants().names(),
        max_sensitivity: choice::sensitivity(caller.grants().max_sensitivity()).into(),
        development: caller.is_development(),
        all_projects,
    }
}

fn project(id: &ProjectId, holding: &Holding) -> proto::HeldProject {
    let (task_ids, all_tasks) = match holding {
        Holding::AllTasks => (Vec::new(), true),
        Holding::Tasks(tasks) => (tasks.iter().map(ToString::to_string).collect(), false),
    };
    proto::HeldProject { project_id: id.to_string(), task_ids, all_tasks }
}

/// `GetPolicy`: every kind, the purposes that are held, the source kinds that may be stated.
pub(in crate::api) fn policy(policy: &Policy, grants: &Grants) -> proto::GetPolicyResponse {
    let held = |purpose: &&Purpose| grants.holds_purpose(&purpose.name);
    let stated = |source: &&SourceRule| grants.may_state_source(&source.name);
    proto::GetPolicyResponse {
        policy_version: policy.version.to_string(),
        kinds: policy.kinds.values().map(kind).collect(),
        purposes: policy.purposes.values().filter(held).map(purpose).collect(),
        sources: policy.sources.values().filter(stated).map(source).collect(),
    }
}

fn kind(kind: &Kind) -> proto::KindPolicy {
    let (keys, key_pattern) = match &kind.keys {
        Keys::Listed(keys) => (keys.iter().map(ToString::to_string).collect(), String::new()),
        Keys::Pattern(pattern) => (Vec::new(), pattern.as_str().to_owned()),
    };
    proto::KindPolicy {
        kind: kind.name.to_string(),
        kind_class: choice::kind_class(kind.class).into(),
        keys,
        key_pattern,
        many: kind.many,
        levels: kind.levels.iter().map(|level| choice::level(*level).into()).collect(),
        audiences: kind.audiences.iter().map(|audience| choice::audience(*audience).into()).collect(),
        purposes: kind.purposes.iter().map(ToString::to_string).collect(),
        consent_needed: kind.consent_needed,
        evidence: evidence(&kind.evidence),
        inference_allowed: match kind.inference {
            Inference::Never => false,
            Inference::LowRisk => true,
        },
        default_life: kind.default_life.map(place::span),
        longest_life: kind.longest_life.map(place::span),
        sensitivity: choice::sensitivity(kind.sensitivity).into(),
        value_type: choice::value_type(kind.value.value_type).into(),
        values: kind.value.values.iter().cloned().collect(),
        max_value_chars: i32::try_from(kind.value.max_chars).unwrap_or(i32::MAX),
    }
}

fn purpose(purpose: &Purpose) -> proto::PurposePolicy {
    proto::PurposePolicy {
        purpose: purpose.name.to_string(),
        risk: choice::risk(purpose.risk).into(),
        min_confidence: purpose.min_confidence.as_f64(),
        min_trust: choice::trust(purpose.min_trust).into(),
        evidence: evidence(&purpose.evidence),
        max_sensitivity: choice::sensitivity(purpose.max_sensitivity).into(),
        max_confirmation_age: purpose.max_confirmation_age.map(place::span),
    }
}

fn source(source: &SourceRule) -> proto::SourcePolicy {
    proto::SourcePolicy {
        source_kind: source.name.to_string(),
        trust: choice::trust(source.trust).into(),
        max_confidence: source.max_confidence.as_f64(),
        lineage_required: source.lineage_required,
    }
}

fn evidence(evidence: &[Evidence]) -> Vec<i32> {
    evidence.iter().map(|each| choice::evidence(*each).into()).collect()
}
