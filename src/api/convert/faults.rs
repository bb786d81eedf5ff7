//! Collects everything that is wrong with a request before it is answered.

use std::fmt;

use crate::gate::{Error, FieldFault};

/// Where a field lies in the request. Costs nothing until it has to be written out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    name: &'static str,
    index: Option<usize>,
}

impl Path<'_> {
    /// A field of the request itself.
    pub(super) const fn of(name: &'static str) -> Self {
        Self { parent: None, name, index: None }
    }
}

impl<'a> Path<'a> {
    /// A field of the message that lies here.
    pub(super) const fn field(&'a self, name: &'static str) -> Self {
        Self { parent: Some(self), name, index: None }
    }

    /// An element of the list that lies here.
    pub(super) const fn item(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        f.write_str(self.name)?;
        self.index.map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}

/// Stands for a value that a fault kept from being read. [`Faults::add`] alone makes one, so that a value cannot be
/// missing without a fault that says why.
#[derive(Debug)]
pub(super) struct Faulty(());

/// A field's value, unless it was faulty.
pub(super) type Checked<T> = Result<T, Faulty>;

/// All faults of one request, in the order of its fields.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<FieldFault>);

impl Faults {
    /// Notes a fault. The description must not repeat what the field held.
    pub(super) fn add(&mut self, path: Path<'_>, description: impl fmt::Display) -> Faulty {
        self.0.push(FieldFault { field: path.to_string(), description: description.to_string() });
        Faulty(())
    }

    /// Checks a message that lies within the request as if it were one of its own; its faults are named by where it
    /// lies.
    pub(super) fn within<T>(&mut self, path: Path<'_>, check: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        let before = self.0.len();
        let checked = check(self);
        for fault in self.0.iter_mut().skip(before) {
            fault.field = format!("{path}.{}", fault.field);
        }
        checked
    }

    /// The value, where there was no fault at all.
    ///
    /// # Errors
    /// All faults.
    pub(super) fn finish<T>(&mut self, value: impl FnOnce() -> Checked<T>) -> Result<T, Error> {
        match value() {
            Ok(value) if self.0.is_empty() => Ok(value),
            Ok(_) | Err(Faulty(())) => Err(Error::Invalid(std::mem::take(&mut self.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_clients_write_it() {
        let query = Path::of("query");
        let nomination = query.field("nominations").item(3);
        assert_eq!(nomination.field("score").to_string(), "query.nominations[3].score");
    }

    #[test]
    fn a_fault_spoils_the_whole_even_where_every_value_could_be_read() {
        let mut faults = Faults::default();
        faults.add(Path::of("kind"), "must not be empty");
        let Err(Error::Invalid(faults)) = faults.finish(|| Ok(())) else { panic!("a fault was lost") };
        assert_eq!(faults, [FieldFault { field: "kind".to_owned(), description: "must not be empty".to_owned() }]);
    }
}
