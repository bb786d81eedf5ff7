//! What the ledger keeps of a decision's message.
//!
//! Decision: a recall's verdicts repeat one another, and are a third as long without that. What a decision takes of the
//! log and of the disk is most of what a recall costs there. The cost is that a row shows its message to no one who does
//! not unpack it.

/// Shorter messages are kept as they are.
const WORTH_PACKING: usize = 1024;
/// What a packed message begins with, and no message does.
const PACKED: u8 = 0;

/// A long message compressed, behind a zero and its length; any other as it is.
pub(super) fn packed(message: Vec<u8>) -> Vec<u8> {
    if message.len() < WORTH_PACKING {
        return message;
    }
    let packed = lz4_flex::block::compress_prepend_size(&message);
    if packed.len() + 1 < message.len() { [&[PACKED], packed.as_slice()].concat() } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        match packed.split_first() {
            Some((&PACKED, rest)) => lz4_flex::block::decompress_size_prepended(rest).unwrap(),
            _ => packed.to_vec(),
        }
    }

    #[test]
    fn a_long_message_that_repeats_itself_is_packed_and_comes_back() {
        let message: Vec<u8> = (0..200).flat_map(|at: u8| [10, 4, b'n', b'a', b'm', b'e', 16, at]).collect();
        let packed = packed(message.clone());
        assert!(packed.first() == Some(&PACKED) && packed.len() < message.len() * 2 / 3, "{}", packed.len());
        assert_eq!(unpacked(&packed), message);
    }

    #[test]
    fn a_short_message_stays_as_it_is_and_so_does_one_that_becomes_no_shorter() {
        let short = vec![10; WORTH_PACKING - 1];
        assert_eq!(packed(short.clone()), short);
        let mut noise = 10_u32;
        let noise: Vec<u8> = (0..2 * WORTH_PACKING)
            .map(|_| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                noise.to_be_bytes()[0] | 1
            })
            .collect();
        assert_eq!(packed(noise.clone()), noise);
    }
}
