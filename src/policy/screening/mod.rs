//! What is looked for in all free text of every write.
//!
//! A pattern is searched for in the text as it is and in forms of it without disguise, so that full-width letters,
//! invisible characters and stray marks hide nothing. Text in which nothing is redacted is left as it is, byte for byte.
//! Searching takes time in proportion to the text, whatever the text.

mod checksum;
mod copies;

use std::collections::BTreeSet;
use std::ops::Range;

use regex::Regex;

pub use checksum::Checksum;
use copies::{Form, forms};

/// One pattern to look for.
#[derive(Debug, Clone)]
pub struct ScreeningRule {
    /// What it finds, for logs and documents; never the text found.
    pub name: String,
    /// How. Case does not count unless the pattern says `(?-i)`.
    pub pattern: Regex,
    /// What else has to hold of the text found.
    pub checksum: Checksum,
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
    /// The text with personal data replaced; the same text where nothing was. Its length and, for values that are not
    /// text, its form may have changed.
    pub text: String,
    /// What was found, each once, in order.
    pub findings: Vec<Finding>,
}

impl ScreeningRule {
    /// Where it finds something, as ranges of the original text.
    fn ranges<'t>(&'t self, forms: &'t [Form]) -> impl Iterator<Item = Range<usize>> + 't {
        forms.iter().flat_map(move |form| {
            self.pattern.find_iter(&form.text).filter_map(move |found| {
                let length = self.checksum.holds(found.as_str())?;
                (length > 0).then(|| form.origin(&(found.start()..found.start() + length)))
            })
        })
    }

    fn finds(&self, forms: &[Form]) -> bool {
        self.ranges(forms).next().is_some()
    }
}

impl Screening {
    /// Looks through one text. Case, full-width forms and zero-width characters do not hide anything.
    #[must_use]
    pub fn screen(&self, text: &str) -> Screened {
        let forms = forms(text);
        let mut findings = BTreeSet::new();
        if self.secrets.iter().any(|rule| rule.finds(&forms)) {
            findings.insert(Finding::Secret);
        }
        if self.instructions.iter().any(|rule| rule.finds(&forms)) {
            findings.insert(Finding::InstructionLike);
        }
        let mut redacted: Vec<(Range<usize>, &str)> = Vec::new();
        for (rule, action) in &self.personal_data {
            match action {
                PersonalDataAction::Mark if rule.finds(&forms) => {
                    findings.insert(Finding::PersonalDataMarked);
                }
                PersonalDataAction::Mark => {}
                PersonalDataAction::Redact => {
                    redacted.extend(rule.ranges(&forms).map(|range| (range, rule.name.as_str())));
                }
            }
        }
        if !redacted.is_empty() {
            findings.insert(Finding::PersonalDataRedacted);
        }
        Screened { text: replace(text, redacted), findings: findings.into_iter().collect() }
    }
}

/// Replaces each range by its name in brackets; ranges that overlap are one, under the name of the first.
fn replace(text: &str, mut ranges: Vec<(Range<usize>, &str)>) -> String {
    ranges.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for (range, name) in ranges {
        if range.start >= done {
            replaced.push_str(text.get(done..range.start).unwrap_or_default());
            replaced.push('[');
            replaced.push_str(name);
            replaced.push(']');
        }
        done = done.max(range.end);
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

#[cfg(test)]
mod tests;
