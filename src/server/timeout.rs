//! `grpc-timeout`, as gRPC writes it.
//!
//! Decision: what is not written so is refused and not taken for "no deadline", since who sends a deadline means to
//! have one. So is a header that is sent twice: intermediaries would disagree on which one counts.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};

const NAME: &str = "grpc-timeout";
const MAX_DIGITS: usize = 8;

/// Not a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Odd;

/// What a caller allows for the call; `None` where it does not say.
pub(super) fn asked(headers: &HeaderMap) -> Result<Option<Duration>, Odd> {
    let mut values = headers.get_all(NAME).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => parse(value).map(Some),
        (Some(_), Some(_)) => Err(Odd),
    }
}

fn parse(value: &HeaderValue) -> Result<Duration, Odd> {
    let (unit, digits) = value.as_bytes().split_last().ok_or(Odd)?;
    if digits.is_empty() || digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Odd);
    }
    let count = digits.iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0'));
    match unit {
        b'H' => Ok(Duration::from_secs(count * 3600)),
        b'M' => Ok(Duration::from_secs(count * 60)),
        b'S' => Ok(Duration::from_secs(count)),
        b'm' => Ok(Duration::from_millis(count)),
        b'u' => Ok(Duration::from_micros(count)),
        b'n' => Ok(Duration::from_nanos(count)),
        _ => Err(Odd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        values
            .iter()
            .map(|value| (http::HeaderName::from_static(NAME), HeaderValue::from_bytes(value).unwrap()))
            .collect()
    }

    #[test]
    fn b39_a_timeout_is_one_to_eight_digits_and_a_unit() {
        for (value, expected) in [
            (&b"99999999H"[..], Duration::from_hours(99_999_999)),
            (b"2M", Duration::from_mins(2)),
            (b"00000001S", Duration::from_secs(1)),
            (b"250m", Duration::from_millis(250)),
            (b"7u", Duration::from_micros(7)),
            (b"1n", Duration::from_nanos(1)),
            (b"0n", Duration::ZERO),
        ] {
            assert_eq!(asked(&headers(&[value])), Ok(Some(expected)), "{value:?}");
        }
        assert_eq!(asked(&headers(&[])), Ok(None));
    }

    #[test]
    fn b39_whatever_else_is_sent_as_a_timeout_is_refused() {
        for value in [
            &b""[..],
            b"-1S",
            b"+1S",
            b"1",
            b"S",
            b"123456789S",
            b"000000001S",
            b"1s",
            b"1 S",
            b"1.5S",
            b"1SS",
            b"0x1S",
            b"1S,2S",
            b"\xd9\xa1S",
            b"1\xff",
            b"H",
            b"1h",
        ] {
            assert_eq!(asked(&headers(&[value])), Err(Odd), "{value:?}");
        }
        assert_eq!(asked(&headers(&[b"1S", b"1S"])), Err(Odd));
    }
}
