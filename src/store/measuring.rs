//! What the micro-benchmarks call: the encoding of a decision. For nobody else, and no part of what this crate promises.

use zeroize::Zeroizing;

use super::digest::DigestKey;
use super::ledger;
use crate::memory::Judgement;

/// Encodes decisions as the ledger keeps them, with a key of its own.
pub struct Encoder(DigestKey);

impl Encoder {
    /// `None` where the key cannot be used.
    #[must_use]
    pub fn new() -> Option<Self> {
        DigestKey::new(&Zeroizing::new([7; 32])).map(Self)
    }

    /// The stored message.
    #[must_use]
    pub fn encode(&self, judgement: &Judgement) -> Vec<u8> {
        ledger::encode(judgement, &self.0)
    }
}
