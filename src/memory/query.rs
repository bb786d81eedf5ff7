//! What a caller looks for in values.

use super::Text;

/// A query by text. Nothing in it is syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextQuery {
    /// Values that have any of its words, the best first.
    Words(Text),
    /// Values that have it in them, character for character.
    Substring(Text),
}
