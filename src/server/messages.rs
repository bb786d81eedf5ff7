//! The messages of a request as they come: five bytes that say how long the next one is, and that many bytes.

use crate::api::MAX_REQUEST_BYTES;
use crate::api::status::Refusal;

const PREFIX_BYTES: usize = 5;

/// How far a request has come.
pub(super) struct Messages {
    one: bool,
    compressed: bool,
    prefix: [u8; PREFIX_BYTES],
    /// Of the next prefix.
    have: usize,
    /// Of the message that has begun.
    missing: usize,
    whole: bool,
}

impl Messages {
    /// Of a call that takes one message or any number of them; compressed ones only where it says so.
    pub(super) fn new(one: bool, compressed: bool) -> Self {
        Self { one, compressed, prefix: [0; PREFIX_BYTES], have: 0, missing: 0, whole: false }
    }

    /// These bytes come next.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.missing > 0 {
                let (_, rest) = bytes.split_at(bytes.len().min(self.missing));
                self.missing -= bytes.len() - rest.len();
                bytes = rest;
                self.whole = self.missing == 0;
                continue;
            }
            if self.one && self.whole {
                return Err(Refusal::Framing("more than the one message that the method takes"));
            }
            bytes = rest;
            if let Some(byte) = self.prefix.get_mut(self.have) {
                *byte = *first;
                self.have += 1;
            }
            if self.have == PREFIX_BYTES {
                self.begin()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Refusal> {
        let [flag, length @ ..] = self.prefix;
        match flag {
            0 => {}
            1 if self.compressed => {}
            1 => return Err(Refusal::Framing("a compressed message without `grpc-encoding`")),
            _ => return Err(Refusal::Framing("a message must be marked 0 or 1")),
        }
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_REQUEST_BYTES {
            return Err(Refusal::TooLarge);
        }
        (self.have, self.missing, self.whole) = (0, length, length == 0);
        Ok(())
    }

    /// No more comes.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        if self.have > 0 || self.missing > 0 {
            return Err(Refusal::Framing("the message is cut short"));
        }
        if self.one && !self.whole {
            return Err(Refusal::Framing("there is no message"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![0];
        bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
        bytes.extend(vec![7; length]);
        bytes
    }

    fn check(one: bool, compressed: bool, bytes: &[u8], cut: usize) -> Result<(), String> {
        let mut messages = Messages::new(one, compressed);
        bytes.chunks(cut).try_for_each(|chunk| messages.take(chunk)).map_err(|refusal| refusal.to_string())?;
        messages.end().map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_request_is_judged_alike_however_it_is_cut_into_frames() {
        let two = [message(3), message(0)].concat();
        let compressed = [&[1, 0, 0, 0, 1][..], b"x"].concat();
        for cut in 1..12 {
            for length in [0, 1, 5, 300] {
                assert_eq!(check(true, false, &message(length), cut), Ok(()), "{length} {cut}");
            }
            assert_eq!(check(false, false, &two, cut), Ok(()));
            assert_eq!(check(false, false, b"", cut), Ok(()));
            assert_eq!(check(true, true, &compressed, cut), Ok(()));
            for (one, bytes, part) in [
                (true, &b""[..], "no message"),
                (true, &two, "more than the one"),
                (true, &[message(3), vec![0]].concat(), "more than the one"),
                (true, &message(9)[..13], "cut short"),
                (false, &message(9)[..4], "cut short"),
                (false, &[2, 0, 0, 0, 0], "0 or 1"),
                (false, &compressed, "without `grpc-encoding`"),
            ] {
                let refused = check(one, false, bytes, cut).unwrap_err();
                assert!(refused.contains(part), "{refused} {bytes:?} {cut}");
            }
        }
    }

    #[test]
    fn a_length_is_believed_up_to_the_limit_and_not_one_byte_more() {
        for (length, taken) in [(MAX_REQUEST_BYTES, true), (MAX_REQUEST_BYTES + 1, false), (u32::MAX as usize, false)] {
            let mut prefix = vec![0];
            prefix.extend(u32::try_from(length).unwrap().to_be_bytes());
            let refused = Messages::new(true, false).take(&prefix);
            assert_eq!(refused.is_ok(), taken, "{length}");
            assert!(taken || matches!(refused, Err(Refusal::TooLarge)));
        }
    }
}
