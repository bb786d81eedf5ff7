//! The same text in the forms in which something could hide.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A text in one form, and where each of its bytes came from.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) text: String,
    /// Where in `text` something new begins, and the original range that it stands for. Empty: the text is the original.
    origins: Vec<(usize, Range<usize>)>,
}

impl Form {
    fn original(text: &str) -> Self {
        Self { text: text.to_owned(), origins: Vec::new() }
    }

    fn push(&mut self, plain: impl Iterator<Item = char>, origin: Range<usize>) {
        self.origins.push((self.text.len(), origin));
        self.text.extend(plain);
    }

    /// The original range that a range of this form stands for; whole characters, hidden ones in between included.
    pub(super) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let at = |place: usize| {
            let after = self.origins.partition_point(|(start, _)| *start <= place);
            after.checked_sub(1).and_then(|index| self.origins.get(index))
        };
        match (at(range.start), range.end.checked_sub(1).and_then(at)) {
            (Some((_, first)), Some((_, last))) => first.start..last.end,
            _ => range.clone(),
        }
    }
}

/// What an invisible character becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Invisible {
    /// Nothing: it may stand inside a word.
    Nothing,
    /// A space, for it may stand between two words; a run of tag characters becomes the words it spells.
    Visible,
}

/// The forms to search: the original; folded, without what cannot be seen; and folded, with what cannot be seen made
/// visible. The last two only where they differ. Case is left to the patterns, which ignore it.
pub(super) fn forms(text: &str) -> Vec<Form> {
    let mut forms = vec![Form::original(text)];
    if text.is_ascii() {
        return forms;
    }
    for invisible in [Invisible::Nothing, Invisible::Visible] {
        let form = fold(text, invisible);
        if forms.iter().all(|known| known.text != form.text) {
            forms.push(form);
        }
    }
    forms
}

/// Compatibility forms become plain ones (`ｐ` is `p`), and marks on letters go.
fn fold(text: &str, invisible: Invisible) -> Form {
    let mut form = Form { text: String::with_capacity(text.len()), origins: Vec::new() };
    let mut rest = text.char_indices().peekable();
    let mut spelling = false;
    while let Some((start, c)) = rest.next() {
        let mut end = start + c.len_utf8();
        if is_invisible(c) {
            if invisible == Invisible::Visible {
                let letter = tagged(c);
                let space = (letter.is_none() || !spelling).then_some(' ');
                form.push(space.into_iter().chain(letter), start..end);
                spelling = letter.is_some();
            }
            continue;
        }
        spelling = false;
        let mut cluster = String::from(c);
        while let Some((at, mark)) = rest.next_if(|(_, next)| is_mark(*next) && !is_invisible(*next)) {
            cluster.push(mark);
            end = at + mark.len_utf8();
        }
        form.push(cluster.nfkd().filter(|plain| !is_mark(*plain)), start..end);
    }
    form
}

fn is_mark(c: char) -> bool {
    matches!(c.general_category(), GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Format characters, and what else is drawn as nothing.
fn is_invisible(c: char) -> bool {
    let drawn_as_nothing = matches!(
        c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}'
    );
    drawn_as_nothing || c.general_category() == GeneralCategory::Format
}

/// The ASCII character that a tag character spells.
fn tagged(c: char) -> Option<char> {
    let ascii = u32::from(c).checked_sub(0xe0000).filter(|code| (0x20..0x7f).contains(code))?;
    char::from_u32(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        forms(text).into_iter().map(|form| form.text).collect()
    }

    #[test]
    fn ascii_has_one_form() {
        assert_eq!(texts("plain"), ["plain"]);
        assert_eq!(texts("日本語"), ["日本語"]);
    }

    #[test]
    fn what_hides_is_taken_out_or_made_visible() {
        assert_eq!(texts("a\u{200b}b"), ["a\u{200b}b", "ab", "a b"]);
        assert_eq!(texts("ｐａｓｓ"), ["ｐａｓｓ", "pass"]);
        assert_eq!(texts("a\u{336}b\u{fe0f}"), ["a\u{336}b\u{fe0f}", "ab", "ab "]);
        assert_eq!(texts("x\u{e0061}\u{e0062}"), ["x\u{e0061}\u{e0062}", "x", "x ab"]);
        assert_eq!(texts("e\u{301}"), ["e\u{301}", "e"]);
        assert_eq!(texts("\u{e9}"), ["\u{e9}", "e"]);
    }

    #[test]
    fn a_place_in_a_form_leads_back_to_whole_characters_of_the_original() {
        let text = "\u{ff41}\u{200b}b\u{336}c";
        let forms = forms(text);
        let folded = &forms[1];
        assert_eq!(folded.text, "abc");
        assert_eq!(&text[folded.origin(&(0..2))], "\u{ff41}\u{200b}b\u{336}");
        assert_eq!(&text[folded.origin(&(1..2))], "b\u{336}");
        assert_eq!(&text[forms[0].origin(&(0..3))], "\u{ff41}");
    }
}
