//! Reads tables field by field, and gathers what is wrong instead of stopping at it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::PolicyFault;

/// Everything wrong that was found so far.
#[derive(Debug)]
pub(super) struct Faults {
    document: String,
    /// Where each line begins: a document can have as many faults as it has lines.
    line_starts: Vec<usize>,
    found: RefCell<Vec<(usize, PolicyFault)>>,
}

impl Faults {
    pub(super) fn new(document: &str) -> Self {
        let after_newlines = document.match_indices('\n').map(|(newline, _)| newline + 1);
        let line_starts = std::iter::once(0).chain(after_newlines).collect();
        Self { document: document.to_owned(), line_starts, found: RefCell::default() }
    }

    /// Something wrong at one place, as a byte offset.
    pub(super) fn at(&self, offset: usize, path: &str, message: &str) {
        let (line, column) = self.line_and_column(offset);
        let message = format!("line {line}, column {column}: {message}");
        self.found.borrow_mut().push((offset, PolicyFault { path: path.to_owned(), message }));
    }

    /// Something wrong between several places; told after all that have one.
    pub(super) fn between(&self, path: &str, message: String) {
        self.found.borrow_mut().push((usize::MAX, PolicyFault { path: path.to_owned(), message }));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// All of them, in the order of the document.
    pub(super) fn into_vec(self) -> Vec<PolicyFault> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(offset, _)| *offset);
        found.into_iter().map(|(_, fault)| fault).collect()
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.document.get(start..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }
}

/// One table, of which each field is taken once.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    path: String,
    offset: usize,
    left: BTreeMap<String, (usize, Spanned<DeValue<'a>>)>,
    asked: Vec<&'static str>,
    faults: &'a Faults,
}

impl<'a> Fields<'a> {
    /// The document itself.
    pub(super) fn root(table: DeTable<'a>, faults: &'a Faults) -> Self {
        Self::new(String::new(), 0, table, faults)
    }

    fn new(path: String, offset: usize, table: DeTable<'a>, faults: &'a Faults) -> Self {
        let left =
            table.into_iter().map(|(name, value)| (name.get_ref().to_string(), (name.span().start, value))).collect();
        Self { path, offset, left, asked: Vec::new(), faults }
    }

    pub(super) fn optional(&mut self, name: &'static str) -> Option<Entry<'a>> {
        self.asked.push(name);
        self.left.remove(name).map(|(_, value)| self.entry(name, value))
    }

    pub(super) fn required(&mut self, name: &'static str) -> Option<Entry<'a>> {
        let entry = self.optional(name);
        if entry.is_none() {
            self.faults.at(self.offset, &join(&self.path, name), "is missing");
        }
        entry
    }

    /// Every field that is left, where the names are the document's own.
    pub(super) fn named(mut self) -> Vec<(String, Entry<'a>)> {
        std::mem::take(&mut self.left)
            .into_iter()
            .map(|(name, (_, value))| {
                let entry = self.entry(&name, value);
                (name, entry)
            })
            .collect()
    }

    /// Every field that nobody asked for is wrong.
    pub(super) fn finish(self) {
        let mut message = String::from("unknown field");
        for (position, name) in self.asked.iter().enumerate() {
            let _ = write!(message, "{} `{name}`", if position == 0 { "; the fields here are" } else { "," });
        }
        for (name, (offset, _)) in &self.left {
            self.faults.at(*offset, &join(&self.path, name), &message);
        }
    }

    pub(super) fn fault(&self, message: &str) {
        self.faults.at(self.offset, &self.path, message);
    }

    fn entry(&self, name: &str, value: Spanned<DeValue<'a>>) -> Entry<'a> {
        let offset = value.span().start;
        Entry { path: join(&self.path, name), offset, value: value.into_inner(), faults: self.faults }
    }
}

/// One value, and where it stands.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    path: String,
    offset: usize,
    value: DeValue<'a>,
    faults: &'a Faults,
}

impl<'a> Entry<'a> {
    pub(super) fn fault(&self, message: &str) {
        self.faults.at(self.offset, &self.path, message);
    }

    pub(super) fn table(self) -> Option<Fields<'a>> {
        match self.value {
            DeValue::Table(table) => Some(Fields::new(self.path, self.offset, table, self.faults)),
            _ => self.wrong("a table"),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            DeValue::String(text) => Some(text),
            _ => self.wrong("text in quotes"),
        }
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(flag) => Some(flag),
            _ => self.wrong("`true` or `false`"),
        }
    }

    pub(super) fn whole(&self, range: RangeInclusive<i64>) -> Option<i64> {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(integer) = &self.value else { return self.wrong(&expected()) };
        match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if range.contains(&number) => Some(number),
            _ => self.wrong(&expected()),
        }
    }

    /// A number that `accept` turns into something else, or refuses.
    pub(super) fn number<T>(&self, expected: &str, accept: impl FnOnce(f64) -> Option<T>) -> Option<T> {
        let number = match &self.value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            _ => None,
        };
        number.and_then(accept).or_else(|| self.wrong(expected))
    }

    pub(super) fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Option<T> {
        let chosen = match &self.value {
            DeValue::String(text) => choices.iter().find(|(name, _)| name == text).map(|(_, choice)| *choice),
            _ => None,
        };
        chosen.or_else(|| self.wrong(&one_of(choices.iter().map(|(name, _)| *name))))
    }

    pub(super) fn items(self) -> Option<Vec<Entry<'a>>> {
        let DeValue::Array(array) = self.value else { return self.wrong("a list") };
        let (path, faults) = (self.path, self.faults);
        let items = array.into_iter().enumerate().map(|(index, item)| Entry {
            path: format!("{path}[{index}]"),
            offset: item.span().start,
            value: item.into_inner(),
            faults,
        });
        Some(items.collect())
    }

    /// A list without repetition, every item read by `read`. `None` where any item is wrong.
    pub(super) fn list<T: Ord + Clone>(self, mut read: impl FnMut(&Entry<'a>) -> Option<T>) -> Option<Vec<T>> {
        let mut seen = BTreeSet::new();
        let mut list = Some(Vec::new());
        for item in self.items()? {
            let value = read(&item);
            if value.clone().is_some_and(|value| !seen.insert(value)) {
                item.fault("stands in the list twice");
            }
            list = list.zip(value).map(|(mut list, value)| {
                list.push(value);
                list
            });
        }
        list
    }

    /// Says what was expected here, and what stands here instead.
    pub(super) fn wrong<T>(&self, expected: &str) -> Option<T> {
        let found = match &self.value {
            DeValue::String(text) => format!("`{}`", text.chars().take(60).collect::<String>().escape_debug()),
            DeValue::Integer(integer) => format!("`{}`", integer.as_str()),
            DeValue::Float(float) => format!("`{}`", float.as_str()),
            DeValue::Boolean(flag) => format!("`{flag}`"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.fault(&format!("must be {expected}, and is {found}"));
        None
    }
}

/// The names that something must be one of, for messages.
pub(super) fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!("one of {}", names.join(", "))
}

/// A path within a path; names that TOML would quote are quoted.
pub(super) fn join(path: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let name = if bare { name.to_owned() } else { format!("{:?}", name.chars().take(60).collect::<String>()) };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
