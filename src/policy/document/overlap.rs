//! Whether two key patterns have a key in common, decided exactly.
//!
//! Decision: a pattern becomes an automaton, and the product of two automata is searched for a key that both accept.
//! Rules of thumb (distinct prefixes, samples) either refuse harmless policies or miss an overlap; this does neither,
//! and names a key that shows the overlap. Cost: patterns whose automaton is large, or that look around themselves
//! (`\b`), are refused.

use std::collections::{HashMap, VecDeque};

use regex::{Regex, RegexBuilder};
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};

/// Largest compiled size of one pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Most pairs of states that one comparison visits.
const MAX_PAIRS: usize = 100_000;

/// A pattern in both forms.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Anchored at both ends.
    pub(super) regex: Regex,
    automaton: dense::DFA<Vec<u32>>,
}

/// A state of each of two automata.
type Pair = (StateID, StateID);

/// From which pair, by which byte, each pair was first reached; `None` for the first.
type Path = HashMap<Pair, Option<(Pair, u8)>>;

/// Which keys to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    InBoth,
    InFirstAlone,
}

impl Pattern {
    /// Compiles a pattern so that it matches whole keys alone.
    ///
    /// # Errors
    /// Why it does not compile.
    pub(super) fn compile(pattern: &str) -> Result<Self, String> {
        // Alone first: `a)|(?:b` is a pattern only once it stands within parentheses, and anchors nothing there.
        limited(pattern)?;
        let anchored = format!("^(?:{pattern})$");
        let regex = limited(&anchored)?;
        let automaton = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(regex_automata::dfa::StartKind::Anchored)
                    .dfa_size_limit(Some(MAX_PATTERN_BYTES))
                    .determinize_size_limit(Some(MAX_PATTERN_BYTES)),
            )
            .build(&anchored)
            .map_err(|_| "must be a pattern that can be compared: it is too large, or looks around with `\\b`")?;
        Ok(Self { regex, automaton })
    }

    /// A key that both match; `None`: there is none.
    ///
    /// # Errors
    /// The two are too large together.
    pub(super) fn common_key(&self, other: &Self) -> Result<Option<String>, String> {
        search(&self.automaton, &other.automaton, Wanted::InBoth)
    }

    /// A key that this one matches and the other does not; `None`: there is none.
    ///
    /// # Errors
    /// The two are too large together.
    pub(super) fn key_beyond(&self, other: &Self) -> Result<Option<String>, String> {
        search(&self.automaton, &other.automaton, Wanted::InFirstAlone)
    }
}

fn limited(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| one_line(&error))
}

/// The fault in a pattern, without the drawing that goes with it.
pub(super) fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    format!("must be a pattern that compiles: {}", last.strip_prefix("error: ").unwrap_or(last))
}

fn search(
    first: &dense::DFA<Vec<u32>>,
    second: &dense::DFA<Vec<u32>>,
    wanted: Wanted,
) -> Result<Option<String>, String> {
    let anchored = start::Config::new().anchored(Anchored::Yes);
    let too_large = || "cannot be compared: the two patterns are too large together".to_owned();
    let begin = (
        first.start_state(&anchored).map_err(|_| too_large())?,
        second.start_state(&anchored).map_err(|_| too_large())?,
    );
    let accepts = |dfa: &dense::DFA<Vec<u32>>, state| dfa.is_match_state(dfa.next_eoi_state(state));
    let mut came_from: Path = HashMap::from([(begin, None)]);
    let mut waiting = VecDeque::from([begin]);
    while let Some(pair) = waiting.pop_front() {
        // Letters first, so that the key shown is one that can be read.
        for byte in (b'a'..=b'z').chain(0..b'a').chain(b'{'..=u8::MAX) {
            let next = (first.next_state(pair.0, byte), second.next_state(pair.1, byte));
            let hopeless = first.is_dead_state(next.0) || (wanted == Wanted::InBoth && second.is_dead_state(next.1));
            if hopeless {
                continue;
            }
            // Before the look-up, so that a loop back to the start is seen to accept; the empty key is no key.
            if accepts(first, next.0) && accepts(second, next.1) == (wanted == Wanted::InBoth) {
                return Ok(Some(spell(&came_from, pair, byte)));
            }
            if came_from.contains_key(&next) {
                continue;
            }
            if came_from.len() >= MAX_PAIRS {
                return Err(too_large());
            }
            came_from.insert(next, Some((pair, byte)));
            waiting.push_back(next);
        }
    }
    Ok(None)
}

fn spell(came_from: &Path, mut pair: Pair, last: u8) -> String {
    let mut bytes = vec![last];
    while let Some(Some((before, byte))) = came_from.get(&pair) {
        bytes.push(*byte);
        pair = *before;
    }
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(pattern: &str) -> Pattern {
        Pattern::compile(pattern).unwrap()
    }

    #[test]
    fn two_patterns_overlap_exactly_where_one_key_matches_both() {
        for (first, second, common) in [
            ("note-[a-z]+", "note-[0-9]+", None),
            ("note-[a-z]+", "[a-z]+-x", Some("note-x")),
            ("a*", "b*", None),
            ("(ab)*", "(abab)*", Some("abab")),
            ("[a-z]+", "(?i)READ", Some("read")),
            ("日.", ".本", Some("日本")),
            ("a|bc", "b|ac", None),
        ] {
            let found = pattern(first).common_key(&pattern(second)).unwrap();
            assert_eq!(found.as_deref(), common, "{first} {second}");
            if let Some(key) = found {
                assert!(pattern(first).regex.is_match(&key) && pattern(second).regex.is_match(&key));
            }
        }
    }

    #[test]
    fn a_key_beyond_another_pattern_is_found() {
        assert_eq!(pattern("[a-c]").key_beyond(&pattern("[ab]")).unwrap().as_deref(), Some("c"));
        assert_eq!(pattern("[ab]").key_beyond(&pattern("[a-c]")).unwrap(), None);
    }

    #[test]
    fn a_pattern_matches_whole_keys_however_it_is_written() {
        for text in ["a|b", "(?m)^a$|b", "(?i)a|b"] {
            let pattern = pattern(text);
            assert!(pattern.regex.is_match("a") && pattern.regex.is_match("b"), "{text}");
            for key in ["ax", "xb", "a\nb", "b\n"] {
                assert!(!pattern.regex.is_match(key), "{text} {key:?}");
            }
        }
    }

    #[test]
    fn what_does_not_compile_or_cannot_be_compared_is_refused() {
        for (text, why) in [
            ("a)|(?:b", "unopened group"),
            ("[a", "unclosed character class"),
            ("(?x)a # b", "unclosed group"),
            (r"\w{1000}{1000}", "size"),
            (r"\bnote", "look"),
            (r".*a.{30}", "too large"),
        ] {
            let fault = Pattern::compile(text).unwrap_err();
            assert!(fault.contains(why), "{text}: {fault}");
        }
    }
}
