//! Bytes that no client would send.

use proptest::prelude::*;
use prost::Message;

use super::{batch, capture, correct, delete, recall};
use crate::api::{convert, proto};
use crate::gate::Error;

/// Whatever the bytes are, they become a command or are refused for their form.
fn survives<R: Message + Default, T>(bytes: &[u8], convert: fn(R) -> Result<T, Error>) {
    let Ok(request) = R::decode(bytes) else { return };
    match convert(request) {
        Ok(_) | Err(Error::PageTokenInvalid) => {}
        Err(Error::Invalid(faults)) => assert!(!faults.is_empty()),
        Err(other) => panic!("{other:?}"),
    }
}

fn all_survive(bytes: &[u8]) {
    survives::<proto::CaptureRequest, _>(bytes, convert::capture);
    survives::<proto::BatchCaptureRequest, _>(bytes, convert::batch_capture);
    survives::<proto::ConfirmCandidateRequest, _>(bytes, convert::confirm_candidate);
    survives::<proto::RejectCandidateRequest, _>(bytes, convert::reject_candidate);
    survives::<proto::GetCandidateRequest, _>(bytes, convert::get_candidate);
    survives::<proto::ListCandidatesRequest, _>(bytes, convert::list_candidates);
    survives::<proto::CorrectRequest, _>(bytes, convert::correct);
    survives::<proto::DeleteRequest, _>(bytes, convert::delete);
    survives::<proto::RestoreRequest, _>(bytes, convert::restore);
    survives::<proto::RecallRequest, _>(bytes, convert::recall);
    survives::<proto::ExplainRecallRequest, _>(bytes, convert::explain_recall);
    survives::<proto::GetMemoryRequest, _>(bytes, convert::get_memory);
    survives::<proto::ListMemoriesRequest, _>(bytes, convert::list_memories);
}

fn good_ones() -> Vec<Vec<u8>> {
    vec![
        capture::good().encode_to_vec(),
        batch::good().encode_to_vec(),
        capture::good_confirm().encode_to_vec(),
        capture::good_reject().encode_to_vec(),
        capture::good_get().encode_to_vec(),
        capture::good_list().encode_to_vec(),
        correct::good().encode_to_vec(),
        delete::good_delete().encode_to_vec(),
        delete::good_restore().encode_to_vec(),
        recall::good().encode_to_vec(),
        recall::good_explain().encode_to_vec(),
        recall::good_get().encode_to_vec(),
        recall::good_list().encode_to_vec(),
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_a_conversion_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        all_survive(&bytes);
    }

    #[test]
    fn no_damage_to_a_good_request_makes_a_conversion_panic(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = which.get(&good_ones()).clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        all_survive(&bytes);
    }
}
