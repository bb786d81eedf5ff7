//! What search keeps of a value.

use std::fmt;

/// Fingerprints of the words of one value, in the form that policy writes and reads. Whoever knows a word can tell
/// whether it was there, so they are kept, erased and hidden like the value itself: its `Debug` shows the length alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens(Vec<u8>);

impl Tokens {
    /// Wraps bytes, whatever they hold.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({} bytes)", self.0.len())
    }
}
