//! Whether a value is what its kind says.

use super::{ValueRule, ValueType};

/// How deep arrays and objects of a JSON value may lie within one another.
pub const MAX_JSON_DEPTH: usize = 32;

/// Whether a value has the type and the size that the rule asks for.
///
/// Every value has 1 to `max_chars` Unicode scalar values. A number is a JSON number that is finite as a 64-bit float,
/// without space around it; a bool is exactly `true` or `false`; an enum is one of the values, byte for byte; JSON is
/// one document, nested at most [`MAX_JSON_DEPTH`] deep, whose escapes are all characters.
#[must_use]
pub fn value_fits(rule: &ValueRule, value: &str) -> bool {
    let max_chars = usize::try_from(rule.max_chars).unwrap_or(usize::MAX);
    let fits = !value.is_empty() && value.chars().nth(max_chars).is_none();
    match rule.value_type {
        ValueType::Text => fits,
        ValueType::Number => fits && is_number(value),
        ValueType::Bool => value == "true" || value == "false",
        ValueType::Enum => rule.values.contains(value),
        // The depth first: the parser calls itself for each level.
        ValueType::Json => fits && is_shallow(value) && serde_json::from_str::<serde_json::Value>(value).is_ok(),
    }
}

fn is_number(value: &str) -> bool {
    // JSON has no space inside a number, and the parser skips it around one.
    let bare = !value.contains([' ', '\t', '\n', '\r']);
    bare && serde_json::from_str::<f64>(value).is_ok_and(f64::is_finite)
}

fn is_shallow(json: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_JSON_DEPTH {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rule(value_type: ValueType, max_chars: u32) -> ValueRule {
        ValueRule { value_type, values: BTreeSet::from(["light".to_owned(), "dark".to_owned()]), max_chars }
    }

    fn fits(value_type: ValueType, value: &str) -> bool {
        value_fits(&rule(value_type, 300_000), value)
    }

    #[test]
    fn text_is_counted_in_scalar_values() {
        let text = rule(ValueType::Text, 4);
        for value in ["a", " ", "abcd", "日本語文", "\u{1f600}\u{1f600}\u{1f600}\u{1f600}", "e\u{301}e\u{301}"] {
            assert!(value_fits(&text, value), "{value}");
        }
        for value in ["", "abcde", "日本語文字", "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}"] {
            assert!(!value_fits(&text, value), "{value}");
        }
        assert!(value_fits(&rule(ValueType::Text, 65_536), &"\u{1f600}".repeat(65_536)));
        assert!(!value_fits(&rule(ValueType::Text, 65_536), &"\u{1f600}".repeat(65_537)));
    }

    #[test]
    fn a_number_is_a_finite_json_number() {
        for value in ["0", "-0", "-1.5e3", "1e308", "5e-324", "123456789012345678901234567890"] {
            assert!(fits(ValueType::Number, value), "{value}");
        }
        for value in ["", "NaN", "inf", "1e309", "01", "+1", "1.", ".5", "0x1", "1 ", " 1", "1\n", "\"1\"", "null", "١"]
        {
            assert!(!fits(ValueType::Number, value), "{value}");
        }
        assert!(!value_fits(&rule(ValueType::Number, 3), "1000"));
    }

    #[test]
    fn a_bool_and_an_enum_are_exactly_what_is_listed() {
        assert!(fits(ValueType::Bool, "true") && fits(ValueType::Bool, "false"));
        assert!(fits(ValueType::Enum, "dark"));
        for value in ["", "True", "true ", "1", "yes", "Dark", "dark\u{200b}", "blue"] {
            assert!(!fits(ValueType::Bool, value) && !fits(ValueType::Enum, value), "{value}");
        }
    }

    #[test]
    fn json_nests_at_most_32_deep() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for depth in [0, 1, 10, 31, 32] {
                assert!(fits(ValueType::Json, &nested(depth)), "{depth}");
            }
            for depth in [33, 50, 128, 200, 40_000] {
                assert!(!fits(ValueType::Json, &nested(depth)), "{depth}");
            }
        }
        assert!(!fits(ValueType::Json, &"[".repeat(100_000)));
        assert!(fits(ValueType::Json, &format!("[{}1]", "[],".repeat(40))));
    }

    #[test]
    fn brackets_inside_json_strings_are_text() {
        assert!(fits(ValueType::Json, &format!("\"{}\"", "[{\\\"".repeat(50))));
        assert!(!fits(ValueType::Json, &format!("[\"\\\\\",{}{}]", "[".repeat(32), "]".repeat(32))));
    }

    #[test]
    fn json_is_one_whole_document_whose_escapes_are_characters() {
        for value in ["{}", "[1,\"a\"]", "\"\\ud83d\\ude00\"", "\"\\\\u0000\"", "null", " {} "] {
            assert!(fits(ValueType::Json, value), "{value}");
        }
        for value in [
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "{\"\\ud83d\":1}",
            "{} {}",
            "{'a':1}",
            "[1,]",
            "nul",
            "NaN",
            "[1e400]",
            "]",
            "",
        ] {
            assert!(!fits(ValueType::Json, value), "{value}");
        }
    }
}
