//! Text that somebody wrote: values, references, reasons. It must not reach a log.

use std::fmt;

/// Text as it was written, byte for byte. Its `Debug` shows the length alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(String);

impl Text {
    /// Wraps text.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself. Whoever calls this answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its length in Unicode scalar values.
    #[must_use]
    pub fn char_count(&self) -> usize {
        self.0.chars().count()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_the_text() {
        assert_eq!(format!("{:?}", Text::new("zq7canary".to_owned())), "Text(9 bytes)");
    }
}
