//! The kinds of a document.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{self, evidence, span};
use super::overlap::Pattern;
use super::reader::{Faults, Fields};
use crate::memory::{Audience, Evidence, Key, KindName, PurposeName, Span};
use crate::policy::{
    Inference, Keys, Kind, LevelName, NarrowerRejected, Purpose, Risk, SUBJECT_ACCESS, ValueRule, ValueType,
};

const DEFAULT_MAX_CHARS: u32 = 300;
const MAX_MAX_CHARS: u32 = 65_536;

/// What the id of a memory looks like as a key.
const UUID_PATTERN: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/// A kind, and its pattern in the form that can be compared.
pub(super) struct Read {
    kind: Kind,
    pattern: Option<Pattern>,
}

/// Reads every kind and compares them with one another.
pub(super) fn read(fields: Fields<'_>, purposes: &[PurposeName], faults: &Faults) -> BTreeMap<KindName, Kind> {
    let mut kinds: Vec<Read> = Vec::new();
    let named = fields.named();
    if named.is_empty() {
        faults.between("kinds", "must name at least one kind".to_owned());
    }
    for (name, entry) in named {
        if let Some(fault) = names::name_fault(&name) {
            entry.fault(fault);
        }
        let kind = entry.table().zip(KindName::new(name).ok());
        kinds.extend(kind.and_then(|(fields, name)| read_one(name, fields, purposes)));
    }
    let mut rest = kinds.as_slice();
    while let Some((first, others)) = rest.split_first() {
        others.iter().filter_map(|second| overlap(first, second)).for_each(|fault| {
            faults.between(&format!("kinds.{}", first.kind.name), fault);
        });
        rest = others;
    }
    kinds.into_iter().map(|read| (read.kind.name.clone(), read.kind)).collect()
}

fn read_one(name: KindName, mut fields: Fields<'_>, known_purposes: &[PurposeName]) -> Option<Read> {
    let class = fields.required("class").and_then(|entry| entry.choice(&names::CLASSES));
    let keys = keys(&mut fields);
    let levels = fields.required("levels").and_then(|entry| entry.list(|item| item.choice(&names::LEVELS)));
    let audiences = fields.required("audiences").and_then(|entry| entry.list(|item| item.choice(&names::AUDIENCES)));
    let purposes = fields.required("purposes").and_then(|entry| {
        entry.list(|item| {
            let purpose = names::purpose(item, known_purposes)?;
            if purpose.as_str() == SUBJECT_ACCESS {
                item.fault("must be left out: under `subject_access` the subject sees memories of every kind");
            }
            Some(purpose)
        })
    });
    let consent_needed = fields.required("consent_needed").and_then(|entry| entry.flag());
    let evidence = fields.required("evidence").and_then(evidence);
    let inference = or_default(&mut fields, "inference", &names::INFERENCE, Inference::Never);
    let lives = lives(&mut fields);
    let sensitivity = fields.required("sensitivity").and_then(|entry| entry.choice(&names::SENSITIVITIES));
    let value = value(&mut fields);
    let narrower_rejected =
        or_default(&mut fields, "narrower_rejected", &names::NARROWER_REJECTED, NarrowerRejected::ByRisk);

    for (list_name, empty) in [
        ("levels", levels.as_ref().is_some_and(Vec::is_empty)),
        ("audiences", audiences.as_ref().is_some_and(Vec::is_empty)),
        ("purposes", purposes.as_ref().is_some_and(Vec::is_empty)),
    ] {
        if empty {
            fields.fault(&format!("`{list_name}` must name at least one, else nothing of this kind can be used"));
        }
    }
    if let (Some(evidence), Some(audiences), Some(Inference::Never)) = (&evidence, &audiences, inference) {
        if evidence.is_empty() {
            fields
                .fault("`evidence` must name at least one where `inference` is `never`, else nothing is ever in force");
        } else if audiences.contains(&Audience::Shared) && evidence.iter().all(|e| *e == Evidence::UserConfirmed) {
            fields.fault(
                "`evidence` must name more than `user_confirmed` where `audiences` has `shared`: \
                 the subject's word does not count for shared memories",
            );
        }
    }
    fields.finish();
    let (keys, pattern, many) = keys?;
    let (default_life, longest_life) = lives?;
    let kind = Kind {
        name,
        class: class?,
        keys,
        many,
        levels: levels?.into_iter().collect::<BTreeSet<LevelName>>(),
        audiences: audiences?.into_iter().collect(),
        purposes: purposes?.into_iter().collect(),
        consent_needed: consent_needed?,
        evidence: evidence?,
        inference: inference?,
        default_life,
        longest_life,
        sensitivity: sensitivity?,
        value: value?,
        narrower_rejected: narrower_rejected?,
    };
    Some(Read { kind, pattern })
}

fn or_default<T: Copy>(
    fields: &mut Fields<'_>,
    name: &'static str,
    choices: &[(&'static str, T)],
    default: T,
) -> Option<T> {
    fields.optional(name).map_or(Some(default), |entry| entry.choice(choices))
}

/// The keys, their pattern in both forms, and whether a key may be left out.
fn keys(fields: &mut Fields<'_>) -> Option<(Keys, Option<Pattern>, bool)> {
    let listed = fields.optional("keys");
    let pattern = fields.optional("key_pattern");
    let many = fields.optional("many").map_or(Some(false), |entry| entry.flag());
    let (entry, pattern) = match (listed, pattern, many) {
        (Some(entry), None, Some(many)) => {
            if many {
                entry.fault("must be left out where `many` is true: the key may be any memory id");
            }
            let keys = entry.list(|item| {
                let key = item.text()?;
                Key::new(key).map_err(|fault| item.fault(&fault.to_string())).ok()
            })?;
            if keys.is_empty() {
                fields.fault("`keys` must name at least one key");
            }
            return Some((Keys::Listed(keys.into_iter().collect()), None, many));
        }
        (None, Some(entry), _) => {
            let pattern = Pattern::compile(entry.text()?).map_err(|fault| entry.fault(&fault)).ok()?;
            (entry, pattern)
        }
        (None, None, Some(true)) => {
            let pattern = Pattern::compile(UUID_PATTERN).ok()?;
            return Some((Keys::Pattern(pattern.regex.clone()), Some(pattern), true));
        }
        (Some(_), Some(entry), _) => {
            entry.fault("must be left out where `keys` lists the keys");
            return None;
        }
        (None, None, Some(false)) => {
            fields.fault("must have `keys`, `key_pattern` or `many`");
            return None;
        }
        (_, None, None) => return None,
    };
    match pattern.common_key(&pattern) {
        Ok(Some(_)) => {}
        Ok(None) => entry.fault("matches no key at all"),
        Err(fault) => entry.fault(&fault),
    }
    if many? {
        let ids = Pattern::compile(UUID_PATTERN).ok()?;
        match ids.key_beyond(&pattern) {
            Ok(None) => {}
            Ok(Some(key)) => entry.fault(&format!(
                "must match every memory id where `many` is true, in lower case with hyphens, and does not match `{key}`"
            )),
            Err(fault) => entry.fault(&fault),
        }
    }
    Some((Keys::Pattern(pattern.regex.clone()), Some(pattern), many?))
}

fn lives(fields: &mut Fields<'_>) -> Option<(Option<Span>, Option<Span>)> {
    let default = fields.optional("default_life_seconds");
    let longest = fields.optional("longest_life_seconds");
    let default_life = default.as_ref().map(span);
    let longest_life = longest.as_ref().map(span);
    if let (Some(entry), Some(Some(default)), Some(Some(longest))) = (&default, default_life, longest_life)
        && default > longest
    {
        entry.fault("must not be longer than `longest_life_seconds`");
    }
    let settled = |life: Option<Option<Span>>| match life {
        None => Some(None),
        Some(read) => read.map(Some),
    };
    Some((settled(default_life)?, settled(longest_life)?))
}

fn value(fields: &mut Fields<'_>) -> Option<ValueRule> {
    let value_type = or_default(fields, "value_type", &names::VALUE_TYPES, ValueType::Text);
    let max_chars_entry = fields.optional("max_chars");
    let max_chars = max_chars_entry.as_ref().map_or(Some(DEFAULT_MAX_CHARS), |entry| {
        entry.whole(1..=i64::from(MAX_MAX_CHARS)).and_then(|chars| u32::try_from(chars).ok())
    });
    if let (Some(entry), Some(ValueType::Bool | ValueType::Enum)) = (&max_chars_entry, value_type) {
        entry.fault("must be left out: values of this type are as long as they are");
    }
    let values = match (fields.optional("values"), value_type?) {
        (Some(entry), ValueType::Enum) => {
            let values = entry.list(|item| {
                let text = item.text()?;
                let fits = !text.is_empty() && text.chars().count() <= DEFAULT_MAX_CHARS as usize;
                fits.then(|| text.to_owned()).or_else(|| item.wrong("text of 1 to 300 characters"))
            })?;
            if values.is_empty() {
                fields.fault("`values` must name at least one value");
            }
            values.into_iter().collect()
        }
        (None, ValueType::Enum) => {
            fields.fault("must have `values` where `value_type` is `enum`");
            return None;
        }
        (Some(entry), _) => {
            entry.fault("must be left out unless `value_type` is `enum`");
            return None;
        }
        (None, _) => BTreeSet::new(),
    };
    Some(ValueRule { value_type: value_type?, values, max_chars: max_chars? })
}

fn overlap(first: &Read, second: &Read) -> Option<String> {
    let other = &second.kind.name;
    let common = match (&first.kind.keys, &second.kind.keys, &first.pattern, &second.pattern) {
        (Keys::Listed(listed), keys, ..) | (keys, Keys::Listed(listed), ..) => {
            listed.iter().find(|key| keys.allow(key)).map(|key| key.as_str().to_owned())
        }
        (.., Some(first), Some(second)) => match first.common_key(second) {
            Ok(common) => common,
            Err(fault) => return Some(format!("its keys and those of `{other}` must be told apart: {fault}")),
        },
        _ => None,
    };
    if first.kind.many && second.kind.many {
        return Some(format!(
            "`many` must be true for one kind alone, and is for `{other}` too: both have memory ids as keys"
        ));
    }
    common.map(|key| format!("must have no key in common with `{other}`, and both have `{}`", key.escape_debug()))
}

/// Kinds that could never be used as they say.
pub(super) fn check_uses(kinds: &BTreeMap<KindName, Kind>, purposes: &BTreeMap<PurposeName, Purpose>, faults: &Faults) {
    for kind in kinds.values() {
        let path = format!("kinds.{}", kind.name);
        let used: Vec<&Purpose> = kind.purposes.iter().filter_map(|name| purposes.get(name)).collect();
        if used.is_empty() || used.len() < kind.purposes.len() {
            continue;
        }
        if kind.inference == Inference::LowRisk && used.iter().all(|purpose| purpose.risk != Risk::Low) {
            let fault = "must be `never`, or one of `purposes` of low risk: inferences are used for no other";
            faults.between(&format!("{path}.inference"), fault.to_owned());
        }
        for purpose in used {
            let wanted = &purpose.evidence;
            if !wanted.is_empty() && !kind.evidence.iter().any(|evidence| wanted.contains(evidence)) {
                let fault = format!("must not have `{}`, which accepts none of this kind's `evidence`", purpose.name);
                faults.between(&format!("{path}.purposes"), fault);
            }
        }
    }
}
