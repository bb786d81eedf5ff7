//! What the ledger keeps of a decision's message.
//!
//! Decision: a recall's verdicts repeat one another, and all decisions name the same fields, grants and states. A recall
//! of ten is a seventh as long without that, where it is packed behind a dictionary of what they all say. What a decision
//! takes of the log and of the disk is most of what a recall costs there. The cost is that a row shows its message to no
//! one who does not unpack it, and that the dictionary may never change: another one has another number.

/// Shorter messages are kept as they are.
const WORTH_PACKING: usize = 128;
/// What a packed message begins with, and no message does: 0 without a dictionary, as older rows have it, or the number of
/// the dictionary.
const PACKED: u8 = 1;
/// What stands before a message for whoever packs or unpacks it.
const DICTIONARY: &[u8] = include_bytes!("../../proto/recallgate/store/v1/decision_dictionary_1.bin");

/// A message compressed, behind the dictionary's number and its length; a short one as it is.
pub(super) fn packed(message: Vec<u8>) -> Vec<u8> {
    if message.len() < WORTH_PACKING {
        return message;
    }
    let packed = lz4_flex::block::compress_prepend_size_with_dict(&message, DICTIONARY);
    if packed.len() + 1 < message.len() { [&[PACKED], packed.as_slice()].concat() } else { message }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};

    use super::*;
    use crate::store::digest::hex;
    use crate::wire::Message;

    fn unpacked(packed: &[u8]) -> Vec<u8> {
        match packed.split_first() {
            Some((0, rest)) => lz4_flex::block::decompress_size_prepended(rest).unwrap(),
            Some((&PACKED, rest)) => lz4_flex::block::decompress_size_prepended_with_dict(rest, DICTIONARY).unwrap(),
            _ => packed.to_vec(),
        }
    }

    /// What the dictionary was made of: what is said often last, since there it is found first.
    fn dictionary() -> Vec<u8> {
        let mut message = Message::default();
        for reason in [
            "UNKNOWN_NOMINATION",
            "OTHER_SCOPE",
            "DELETED",
            "FORGOTTEN",
            "SOURCE_REVOKED",
            "QUARANTINED",
            "UNCONFIRMED",
            "SUPERSEDED",
            "STALE_NOMINATION",
            "NOT_YET_VALID",
            "EXPIRED",
            "UNTRUSTED_SOURCE",
            "ATTRIBUTE_MISSING",
            "PURPOSE_NOT_ALLOWED",
            "CONSENT_MISSING",
            "SENSITIVITY_TOO_HIGH",
            "LOW_CONFIDENCE",
            "EVIDENCE_TOO_WEAK",
            "CONFIRMATION_TOO_OLD",
            "INFERENCE_NOT_ALLOWED",
            "SHADOWED",
            "NARROWER_REJECTED",
            "BUDGET_ITEMS",
            "BUDGET_CHARACTERS",
        ] {
            message.text(3, reason);
        }
        for nominator in ["all", "text", "same_key", "name", "key"] {
            message.text(4, nominator);
        }
        for method in ["GetMemory", "ListMemories", "ExplainRecall", "Correct", "Delete", "Forget", "Capture"] {
            message.text(1, method).text(15, "ACTIVATED");
        }
        for (evidence, sensitivity) in
            [("operator_verified", "restricted"), ("task_verified", "public"), ("none", "internal")]
        {
            message.text(12, "unverified").text(13, evidence).optional(14, Some(1_000_000)).text(15, sensitivity);
        }
        message.text(1, "Recall").texts(
            4,
            [
                "act_for:*",
                "approve",
                "attest:operator_verified",
                "attest:task_verified",
                "attest:user_confirmed",
                "audit",
                "capture",
                "confirm",
                "correct",
                "delete",
                "forget",
                "history",
                "import",
                "max_sensitivity:restricted",
                "operate",
                "propagate",
                "purpose:*",
                "recall",
                "review",
                "revoke",
                "shared:write",
                "source:*",
                "task",
            ],
        );
        message.text(5, "converse").text(6, "task").text(7, "project");
        for level in ["task", "project", "general"] {
            message.message(12, |revision| {
                revision.text(2, level).number(5, 1);
            });
        }
        message.text(21, "none").text(22, "personal");
        message.message(13, |verdict| {
            verdict.bytes(1, &[0; 16]).text(4, "index").optional_double(5, Some(1.0)).optional(6, Some(1));
            verdict.message(8, |attributes| {
                attributes
                    .text(2, "general")
                    .text(7, "experience")
                    .number(8, 1)
                    .number(9, 1)
                    .text(10, "active")
                    .text(11, "user_message")
                    .text(12, "verified")
                    .text(13, "user_confirmed")
                    .optional(14, Some(1_000_000))
                    .text(15, "personal")
                    .text(16, "granted")
                    .text(17, "converse");
            });
        });
        message.into_bytes()
    }

    #[test]
    fn the_dictionary_is_made_of_what_decisions_say() {
        assert!(DICTIONARY == dictionary(), "{:?}", dictionary());
    }

    #[test]
    fn what_was_packed_once_is_unpacked_for_good() {
        let sha256 = hex(digest(&SHA256, DICTIONARY).as_ref());
        let told = "39fbc6594edc904f146e579315d5c8d66f7b321b61f9f6117753ab3d1def11bb";
        assert_eq!(sha256, told, "each row that was packed behind it would be lost with it");
        let message = b"\n\x06Recall";
        let without_dictionary = [&[0, 8, 0, 0, 0, 0x80], message.as_slice()].concat();
        for row in [without_dictionary.as_slice(), message] {
            assert_eq!(unpacked(row), message);
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
    fn a_message_that_says_what_all_say_takes_little() {
        let mut message = Message::default();
        message.text(1, "Recall").text(2, "ann").text(3, "agent").texts(4, ["purpose:*", "recall", "review"]);
        message.text(5, "converse").text(6, "task").bytes(9, &[7; 32]).text(21, "none").text(22, "personal");
        let message = [message.into_bytes(), [16, 1].repeat(30)].concat();
        let packed = packed(message.clone());
        assert!(packed.len() < message.len() / 2, "{} of {}", packed.len(), message.len());
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
