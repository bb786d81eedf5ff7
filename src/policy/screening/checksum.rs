//! Numbers that carry a proof of being what they look like.

/// What has to hold of a text that a pattern found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checksum {
    /// Nothing more.
    None,
    /// The check digit of payment cards: ISO/IEC 7812, Luhn.
    Luhn,
    /// The check digits of bank accounts: ISO 13616, modulo 97.
    Iban,
}

/// Shortest and longest IBAN.
const IBAN_CHARS: std::ops::RangeInclusive<usize> = 15..=34;

impl Checksum {
    /// How many bytes of a found text are what they look like; `None`: it is something else. A pattern may run on into
    /// the words behind an IBAN, so its longest part that ends before a space and holds is taken.
    pub(super) fn holds(self, found: &str) -> Option<usize> {
        match self {
            Self::None => Some(found.len()),
            Self::Luhn => luhn(found).then_some(found.len()),
            Self::Iban => std::iter::once(found.len())
                .chain(found.rmatch_indices(' ').map(|(end, _)| end))
                .find(|end| found.get(..*end).is_some_and(iban)),
        }
    }
}

fn luhn(number: &str) -> bool {
    let digits = number.chars().rev().filter_map(|c| c.to_digit(10));
    let sum: u32 = digits
        .enumerate()
        .map(|(position, digit)| match position % 2 {
            0 => digit,
            _ if digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    sum > 0 && sum.is_multiple_of(10)
}

fn iban(account: &str) -> bool {
    let characters: Vec<u32> = account.chars().filter(|c| *c != ' ').map_while(|c| c.to_digit(36)).collect();
    if characters.len() != account.chars().filter(|c| *c != ' ').count() || !IBAN_CHARS.contains(&characters.len()) {
        return false;
    }
    let moved = characters.iter().cycle().skip(4).take(characters.len());
    let remainder =
        moved.fold(
            0,
            |remainder, value| {
                if *value < 10 { (remainder * 10 + value) % 97 } else { (remainder * 100 + value) % 97 }
            },
        );
    remainder == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_number_has_its_check_digit() {
        for number in ["4111111111111111", "4111 1111 1111 1111", "3782-822463-10005"] {
            assert_eq!(Checksum::Luhn.holds(number), Some(number.len()), "{number}");
        }
        for number in ["4111111111111112", "0000000000000000", "1234567890123456"] {
            assert_eq!(Checksum::Luhn.holds(number), None, "{number}");
        }
    }

    #[test]
    fn an_iban_is_found_without_the_words_behind_it() {
        for (found, account) in [
            ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
            ("gb82west12345698765432", "gb82west12345698765432"),
            ("AT61 1904 3002 3457 3201 this", "AT61 1904 3002 3457 3201"),
        ] {
            assert_eq!(Checksum::Iban.holds(found), Some(account.len()), "{found}");
        }
        for found in ["DE88 3704 0044 0532 0130 00", "DE89", "DE89 日本"] {
            assert_eq!(Checksum::Iban.holds(found), None, "{found}");
        }
    }
}
