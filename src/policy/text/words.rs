//! The words of a text, in the form in which they are compared.
//!
//! Decision: case is folded by lower, upper and lower case again, one character at a time, which makes `ß`, `ẞ` and
//! `SS` one. Context: the standard library maps case and does not fold it. Cost: the few characters that full case
//! folding joins beyond that (Cherokee among them) may stay apart.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Calls `take` with each word, in order.
///
/// Words are those of Unicode Standard Annex 29 that have a letter, a digit or a symbol such as an emoji. Runs of
/// Chinese and Japanese characters, which it does not divide into words, are taken as pairs of neighbours.
pub(super) fn each(text: &str, mut take: impl FnMut(&str)) {
    let text = comparable(text);
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let pairs = runs_on(first);
        let end = rest.find(|character| runs_on(character) != pairs).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if pairs {
            neighbours(run, &mut take);
        } else {
            run.split_word_bounds().filter(|word| word.chars().any(says_something)).for_each(&mut take);
        }
        rest = after;
    }
}

/// Compatibility forms, case and invisible characters make no difference.
fn comparable(text: &str) -> String {
    text.nfkc().filter_map(visible).flat_map(fold).nfkc().collect()
}

fn visible(character: char) -> Option<char> {
    match character {
        // A zero-width space parts words, although nobody sees it.
        '\u{200b}' => Some(' '),
        '\u{2019}' => Some('\''),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => None,
        _ if character.general_category() == GeneralCategory::Format => None,
        _ => Some(character),
    }
}

fn fold(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

fn says_something(character: char) -> bool {
    character.is_alphanumeric() || character.general_category() == GeneralCategory::OtherSymbol
}

/// Whether a character is of a script that is written without space between words: Han, Hiragana or Katakana.
const fn runs_on(character: char) -> bool {
    matches!(
        character,
        '\u{3005}' | '\u{3007}'
            | '\u{3041}'..='\u{3096}'
            | '\u{3099}'..='\u{309a}'
            | '\u{309d}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// The pairs of neighbouring characters; of a single one, itself.
fn neighbours(run: &str, take: &mut impl FnMut(&str)) {
    let starts = run.char_indices().map(|(start, _)| start);
    let ends = run.char_indices().map(|(start, character)| start + character.len_utf8());
    let mut pairs = starts.zip(ends.skip(1)).filter_map(|(start, end)| run.get(start..end)).peekable();
    if pairs.peek().is_none() {
        take(run);
    }
    pairs.for_each(take);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words
    }

    /// A text, and its words, parted by a bar.
    const TABLE: &[(&str, &str)] = &[
        ("The quick brown fox.", "the|quick|brown|fox"),
        ("semi-final", "semi|final"),
        ("o'clock o\u{2019}clock", "o'clock|o'clock"),
        ("release 3.14, v2", "release|3.14|v2"),
        ("snake_case naïve CAFÉ", "snake_case|naïve|café"),
        ("Straße STRASSE STRAẞE", "strasse|strasse|strasse"),
        ("Öl Über Donau\u{ad}dampf", "öl|über|donaudampf"),
        ("u\u{308}ber", "über"),
        ("ΟΔΟΣ οδος", "οδοσ|οδοσ"),
        ("ﬁne Ｆｕｌｌ　ｗｉｄｔｈ ①", "fine|full|width|1"),
        ("数据库", "数据|据库"),
        ("茶", "茶"),
        ("我喜欢茶，不喜欢咖啡。", "我喜|喜欢|欢茶|不喜|喜欢|欢咖|咖啡"),
        ("東京タワーへ行く", "東京|京タ|タワ|ワー|ーへ|へ行|行く"),
        ("ｶﾞｲﾄﾞ・ブック", "ガイ|イド|ブッ|ック"),
        ("か\u{3099}", "が"),
        ("人々 〇 ゝ", "人々|〇|ゝ"),
        ("iPhone用ケース第3章", "iphone|用ケ|ケー|ース|ス第|3|章"),
        ("한국어 텍스트", "한국어|텍스트"),
        ("𠮷野家", "𠮷野|野家"),
        ("party 🎉 ❤\u{fe0f} ❤", "party|🎉|❤|❤"),
        ("👍🏽 🇩🇪", "👍🏽|🇩🇪"),
        ("inv\u{200d}isi\u{feff}ble par\u{200b}ted", "invisible|par|ted"),
        ("\u{202e}evil", "evil"),
        ("", ""),
        ("  \t\n", ""),
        ("( ) , ; * ^ % _ - -- \" ' ` ~ + = | \\ / $ 。、！？「」・", ""),
        ("\u{200b}\u{200d}\u{feff}\u{fe0f}", ""),
    ];

    #[test]
    fn words_are_compared_whatever_their_case_width_and_form() {
        for (text, expected) in TABLE {
            assert_eq!(words(text).join("|"), *expected, "{text:?}");
        }
    }
}
