//! Decisions as the ledger keeps them.

/// A row's message, as the proto of decisions says that it is kept.
pub(crate) fn unpacked(body: &[u8]) -> Vec<u8> {
    const DICTIONARY: &[u8] = include_bytes!("../../proto/recallgate/store/v1/decision_dictionary_1.bin");
    match body.split_first() {
        Some((0, packed)) => lz4_flex::block::decompress_size_prepended(packed).unwrap(),
        Some((1, packed)) => lz4_flex::block::decompress_size_prepended_with_dict(packed, DICTIONARY).unwrap(),
        _ => body.to_vec(),
    }
}
