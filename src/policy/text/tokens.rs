//! The words of a value as fingerprints, in a few bytes.
//!
//! One byte says the form; four say how many words there are; then come five bytes for each different word, in the
//! order of its fingerprint: the fingerprint, and how often the word occurs, 255 at most.
//!
//! Decision: a fingerprint is the first 32 bits of the word's SHA-256, without a key. Context: it lies in the row of
//! the very value it was made from and is erased with it, so that a key would hide nothing, and losing one would cost
//! the search. SHA-256 is the same for good and on every machine, and is here already. 32 bits keep most rows on the
//! page that holds the rest of them. Cost: of a hundred thousand different words, one in forty thousand is taken for
//! another, and then one memory too many is judged.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};

use super::words;
use crate::memory::{Text, Tokens};

/// The form. Raise it when words are told apart in another way: what was written before is then found by no word.
const FORM: u8 = 1;

/// More words than a value can have; what claims more was not written here.
const MAX_WORDS: u32 = 1 << 20;

type Fingerprint = u32;
type Entry = [u8; 5];

/// The words that are looked for, each once.
#[derive(Clone, PartialEq, Eq)]
pub struct Words(Vec<Fingerprint>);

impl Words {
    /// The words of a text. There may be none.
    #[must_use]
    pub fn of(text: &Text) -> Self {
        let mut words = Vec::new();
        words::each(text.expose(), |word| words.push(fingerprint(word)));
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Words({})", self.0.len())
    }
}

/// What search keeps of a value.
#[must_use]
pub fn tokens(value: &Text) -> Tokens {
    let mut counts: BTreeMap<Fingerprint, u8> = BTreeMap::new();
    let mut length = 0_u32;
    words::each(value.expose(), |word| {
        length = length.saturating_add(1);
        let count = counts.entry(fingerprint(word)).or_default();
        *count = count.saturating_add(1);
    });
    let mut bytes = vec![FORM];
    bytes.extend(length.to_be_bytes());
    for (fingerprint, count) in counts {
        bytes.extend(fingerprint.to_be_bytes());
        bytes.push(count);
    }
    Tokens::new(bytes)
}

fn fingerprint(word: &str) -> Fingerprint {
    let digest = digest(&SHA256, word.as_bytes());
    digest.as_ref().first_chunk().map_or(0, |first| Fingerprint::from_be_bytes(*first))
}

/// Tokens, read.
pub(super) struct Document<'a> {
    pub(super) length: u32,
    entries: &'a [Entry],
}

impl<'a> Document<'a> {
    /// `None` where the bytes are nothing that [`tokens`] writes.
    pub(super) fn read(tokens: &'a Tokens) -> Option<Self> {
        let (&[form, a, b, c, d], entries) = tokens.as_bytes().split_first_chunk()?;
        let length = u32::from_be_bytes([a, b, c, d]);
        let (entries, rest) = entries.as_chunks();
        let each_once = entries.is_sorted_by(|one, next| mark(*one) < mark(*next));
        let enough = length <= MAX_WORDS && u32::try_from(entries.len()).is_ok_and(|distinct| distinct <= length);
        let sound = form == FORM && rest.is_empty() && each_once && enough;
        sound.then_some(Self { length, entries })
    }

    /// Which of the words are here, by their place, and how often.
    pub(super) fn found(&self, words: &Words) -> Vec<(usize, u8)> {
        let mut found = Vec::new();
        let mut entries = self.entries.iter().peekable();
        for (place, word) in words.0.iter().enumerate() {
            while entries.next_if(|entry| mark(**entry) < *word).is_some() {}
            if let Some([.., count]) = entries.next_if(|entry| mark(**entry) == *word) {
                found.push((place, *count));
            }
        }
        found
    }
}

const fn mark([a, b, c, d, _]: Entry) -> Fingerprint {
    Fingerprint::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Text {
        Text::new(text.to_owned())
    }

    fn found(query: &str, value: &str) -> Vec<u8> {
        let tokens = tokens(&text(value));
        let words = Words::of(&text(query));
        let document = Document::read(&tokens).unwrap();
        document.found(&words).into_iter().map(|(_, count)| count).collect()
    }

    #[test]
    fn each_different_word_is_kept_once_with_how_often_it_occurs() {
        assert_eq!(found("tea", "Tea, tea and coffee"), [2]);
        assert_eq!(found("coffee tea TEA", "tea and coffee").len(), 2);
        assert_eq!(found("milk", "tea and coffee"), [0_u8; 0]);
        assert_eq!(found("tea", &"tea ".repeat(300)), [255]);
        assert_eq!(tokens(&text("tea tea coffee")).as_bytes().len(), 1 + 4 + 2 * 5);
        assert_eq!(tokens(&text("?!")).as_bytes(), [1, 0, 0, 0, 0]);
    }

    #[test]
    fn the_bytes_are_the_same_for_good() {
        // The words of a store that was written by an older version have to be found still.
        assert_eq!(tokens(&text("TEA tea")).as_bytes(), [1, 0, 0, 0, 2, 0xa9, 0xf7, 0x4d, 0x1e, 2]);
    }

    type Spoil = fn(&mut Vec<u8>);

    #[test]
    fn what_was_not_written_here_matches_nothing() {
        let good = tokens(&text("tea coffee")).as_bytes().to_vec();
        let hostile: [Spoil; 8] = [
            Vec::clear,
            |bytes| bytes[0] = 2,
            |bytes| bytes.truncate(4),
            |bytes| bytes.push(0),
            |bytes| bytes[4] = 1,
            |bytes| bytes[1] = 255,
            |bytes| bytes.extend_from_within(10..),
            |bytes| bytes[5..].rotate_left(5),
        ];
        assert!(Document::read(&Tokens::new(good.clone())).is_some());
        for (row, spoil) in hostile.iter().enumerate() {
            let mut bytes = good.clone();
            spoil(&mut bytes);
            assert!(Document::read(&Tokens::new(bytes)).is_none(), "row {row}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64), query in ".{0,20}") {
            let tokens = Tokens::new(bytes);
            if let Some(document) = Document::read(&tokens) {
                let words = Words::of(&text(&query));
                prop_assert!(document.found(&words).len() <= words.count());
            }
        }

        #[test]
        fn a_text_has_every_word_it_has(value in "\\PC{0,80}") {
            let (tokens, words) = (tokens(&text(&value)), Words::of(&text(&value)));
            prop_assert_eq!(Document::read(&tokens).unwrap().found(&words).len(), words.count());
        }
    }
}
