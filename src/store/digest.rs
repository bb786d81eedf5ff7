//! What the digest key is good for: equality without the text, and page tokens nobody else can make or read.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::digest::{SHA256, digest as hash};
use aws_lc_rs::hmac::{Context, HMAC_SHA256, Key};
use zeroize::Zeroizing;

use crate::memory::TenantId;

/// Length of the key in bytes.
pub(super) const KEY_LEN: usize = 32;

const SEALING: &str = "recall-gate page token key v1";
const KEY_ID_BYTES: usize = 8;

/// The key that keeps digests and page tokens ours. The bytes it is made of are wiped once it is made.
pub(super) struct DigestKey {
    mac: Key,
    seal: RandomizedNonceKey,
    id: String,
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestKey({})", self.id)
    }
}

impl DigestKey {
    /// A key out of 32 random bytes. `None` only where the cryptographic library refuses.
    pub(super) fn new(bytes: &Zeroizing<[u8; KEY_LEN]>) -> Option<Self> {
        let mac = Key::new(HMAC_SHA256, bytes.as_slice());
        let derived = Zeroizing::new(keyed(&mac, SEALING, &[]));
        let seal = RandomizedNonceKey::new(&AES_256_GCM, derived.as_slice()).ok()?;
        let fingerprint = hash(&SHA256, bytes.as_slice());
        let id = hex(fingerprint.as_ref().get(..KEY_ID_BYTES)?);
        Some(Self { mac, seal, id })
    }

    /// Names the key without telling anything of it: the first 8 bytes of its SHA-256, in hexadecimal.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// A keyed digest over length-prefixed parts.
    pub(super) fn digest(&self, domain: &str, parts: &[&[u8]]) -> [u8; 32] {
        keyed(&self.mac, domain, parts)
    }

    /// Stands for the reference of a source, in blocks and lineage.
    pub(super) fn reference(&self, tenant: &TenantId, reference: &str) -> Vec<u8> {
        self.digest("store source reference", &[tenant.as_str().as_bytes(), reference.as_bytes()]).to_vec()
    }

    /// Stands for the key of a memory, in blocks and decisions.
    pub(super) fn key(&self, tenant: &TenantId, key: &str) -> Vec<u8> {
        self.digest("store memory key", &[tenant.as_str().as_bytes(), key.as_bytes()]).to_vec()
    }

    /// Nonce, then what was sealed, then the tag.
    pub(super) fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>> {
        let mut sealed = plain.to_vec();
        let nonce = self.seal.seal_in_place_append_tag(Aad::from(binding.as_slice()), &mut sealed).ok()?;
        Some([nonce.as_ref().as_slice(), &sealed].concat())
    }

    /// What [`DigestKey::seal`] sealed under the same binding.
    pub(super) fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let plain = self.seal.open_in_place(nonce, Aad::from(binding.as_slice()), &mut sealed).ok()?;
        Some(plain.to_vec())
    }
}

fn keyed(key: &Key, domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::with_key(key);
    for part in std::iter::once(&domain.as_bytes()).chain(parts) {
        context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        context.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.sign().as_ref());
    digest
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;

    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> DigestKey {
        DigestKey::new(&Zeroizing::new([byte; KEY_LEN])).unwrap()
    }

    #[test]
    fn parts_that_read_the_same_when_joined_differ() {
        let key = key(1);
        let digests = [
            key.digest("d", &[b"ab", b"c"]),
            key.digest("d", &[b"a", b"bc"]),
            key.digest("d", &[b"abc"]),
            key.digest("d", &[b"abc", b""]),
            key.digest("e", &[b"abc"]),
            key.digest("dabc", &[]),
        ];
        for (i, one) in digests.iter().enumerate() {
            assert!(digests.iter().skip(i + 1).all(|other| one != other));
        }
        assert_eq!(key.digest("d", &[b"ab", b"c"]), digests[0]);
    }

    #[test]
    fn another_key_makes_another_digest_and_has_another_id() {
        assert_ne!(key(1).digest("d", &[b"a"]), key(2).digest("d", &[b"a"]));
        assert_ne!(key(1).id(), key(2).id());
        assert_eq!(key(1).id().len(), 16);
    }

    #[test]
    fn a_token_opens_under_its_own_key_and_binding_alone() {
        let sealed = key(1).seal(&[7; 32], b"after").unwrap();
        assert_eq!(key(1).open(&[7; 32], &sealed).as_deref(), Some(b"after".as_slice()));
        assert_eq!(key(1).open(&[8; 32], &sealed), None);
        assert_eq!(key(2).open(&[7; 32], &sealed), None);
        for i in 0..sealed.len() {
            let mut forged = sealed.clone();
            forged[i] ^= 1;
            assert_eq!(key(1).open(&[7; 32], &forged), None);
            assert_eq!(key(1).open(&[7; 32], &sealed[..i]), None);
        }
    }

    #[test]
    fn the_same_place_is_sealed_differently_each_time() {
        assert_ne!(key(1).seal(&[7; 32], b"after"), key(1).seal(&[7; 32], b"after"));
    }

    #[test]
    fn debug_shows_the_id_alone() {
        assert_eq!(format!("{:?}", key(1)), format!("DigestKey({})", key(1).id()));
    }
}
