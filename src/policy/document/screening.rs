//! The screening rules of a document.

use regex::{Regex, RegexBuilder};

use super::names;
use super::overlap::one_line;
use super::reader::{Entry, Fields};
use crate::policy::{Checksum, PersonalDataAction, Screening, ScreeningRule};

/// Largest compiled size of one rule, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Most rules of one sort.
const MAX_RULES: usize = 256;

pub(super) fn read(mut fields: Fields<'_>) -> Screening {
    let secrets = fields.required("secrets").map(|entry| rules(entry, |_| Some(())));
    let personal_data = fields.required("personal_data").map(|entry| rules(entry, action));
    let instructions = fields.required("instructions").map(|entry| rules(entry, |_| Some(())));
    fields.finish();
    let plain = |rules: Vec<(ScreeningRule, ())>| rules.into_iter().map(|(rule, ())| rule).collect();
    Screening {
        secrets: plain(secrets.unwrap_or_default()),
        personal_data: personal_data.unwrap_or_default(),
        instructions: plain(instructions.unwrap_or_default()),
    }
}

fn action(fields: &mut Fields<'_>) -> Option<PersonalDataAction> {
    fields.required("action").and_then(|entry| entry.choice(&names::ACTIONS))
}

fn rules<T>(entry: Entry<'_>, more: impl Fn(&mut Fields<'_>) -> Option<T>) -> Vec<(ScreeningRule, T)> {
    let mut rules: Vec<(ScreeningRule, T)> = Vec::new();
    for (position, item) in entry.items().unwrap_or_default().into_iter().enumerate() {
        if position == MAX_RULES {
            item.fault("must be one of at most 256 rules");
            break;
        }
        let Some(mut fields) = item.table() else { continue };
        let name = fields.required("name").and_then(|entry| {
            let name = entry.text()?.to_owned();
            if let Some(fault) = names::name_fault(&name) {
                entry.fault(fault);
            } else if rules.iter().any(|(rule, _)| rule.name == name) {
                entry.fault("is the name of a rule before this one");
            }
            Some(name)
        });
        let pattern = fields.required("pattern").and_then(|entry| pattern(&entry));
        let checksum =
            fields.optional("checksum").map_or(Some(None), |entry| entry.choice(&names::CHECKSUMS).map(Some));
        let more = more(&mut fields);
        fields.finish();
        if let (Some(name), Some(pattern), Some(checksum), Some(more)) = (name, pattern, checksum, more) {
            rules.push((ScreeningRule { name, pattern, checksum: checksum.unwrap_or(Checksum::None) }, more));
        }
    }
    rules
}

fn pattern(entry: &Entry<'_>) -> Option<Regex> {
    let compiled = RegexBuilder::new(entry.text()?).case_insensitive(true).size_limit(MAX_PATTERN_BYTES).build();
    let pattern = compiled.map_err(|error| entry.fault(&one_line(&error))).ok()?;
    if pattern.is_match("") {
        entry.fault("must not match the empty text: it would find something everywhere");
    }
    Some(pattern)
}
