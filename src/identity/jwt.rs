//! JSON Web Tokens signed with Ed25519.
//!
//! Decision: the library checks signature, issuer and audience; we compare the times ourselves. It reads the host's
//! clock, and a call has one `now`. Cost: two comparisons of ours, with their own tests.

use std::collections::HashSet;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};

use super::cache::{Cache, TokenHash};
use super::claims::{Claims, Seconds};
use super::fault::Fault;
use super::{Caller, KeySet};
use crate::memory::{Span, Time};

/// How far the clocks of issuer and service may be apart: a token is taken that much before its `nbf` and after its
/// `exp`.
pub const LEEWAY: Span = Span::from_seconds(30);

const CACHE_GENERATION: usize = 2048;

/// Verifies tokens of one issuer for one audience.
#[derive(Debug)]
pub struct JwtVerifier {
    keys: KeySet,
    validation: Validation,
    cache: Cache<Verified>,
}

#[derive(Debug)]
struct Verified {
    caller: Caller,
    /// First instant at which the token is valid, for a clock without fault.
    begin: Time,
    /// First instant at which it no longer is, leeway included.
    end: Time,
}

impl Verified {
    fn at(&self, now: Time) -> Result<Caller, Fault> {
        if now.plus(LEEWAY) < self.begin {
            return Err(Fault::NotYetValid);
        }
        if now >= self.end {
            return Err(Fault::Expired);
        }
        Ok(self.caller.clone())
    }
}

impl JwtVerifier {
    /// Takes tokens of this issuer, for this audience, signed with one of these keys.
    #[must_use]
    pub fn new(issuer: &str, audience: &str, keys: KeySet) -> Self {
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[issuer]);
        validation.set_audience(&[audience]);
        validation.required_spec_claims = HashSet::from(["exp", "sub", "iss", "aud"].map(str::to_owned));
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self { keys, validation, cache: Cache::new(CACHE_GENERATION) }
    }

    /// Who holds the token, if it is valid now.
    pub(super) fn verify(&self, token: &str, now: Time) -> Result<Caller, Fault> {
        let hash = hash(token);
        if let Some(verified) = self.cache.get(&hash) {
            return verified.at(now).inspect_err(|_| self.cache.remove(&hash));
        }
        let verified = self.check(token)?;
        let caller = verified.at(now)?;
        self.cache.insert(hash, Arc::new(verified));
        Ok(caller)
    }

    /// Only `kid` and `alg` of the header are looked at: a token cannot bring its own key.
    fn check(&self, token: &str) -> Result<Verified, Fault> {
        let header = decode_header(token).map_err(|_| Fault::NotToken)?;
        if header.alg != Algorithm::EdDSA {
            return Err(Fault::Algorithm);
        }
        let kid = header.kid.ok_or(Fault::KeyUnnamed)?;
        let key = self.keys.get(&kid).ok_or(Fault::KeyUnknown)?;
        let claims = decode::<Claims>(token, key, &self.validation)?.claims;
        let begin = claims.nbf.map_or(Time::from_micros(i64::MIN), Seconds::time);
        Ok(Verified { caller: Caller::verified(claims.caller()?), begin, end: claims.exp.time().plus(LEEWAY) })
    }
}

fn hash(token: &str) -> TokenHash {
    let mut hash = TokenHash::default();
    hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}

#[cfg(test)]
#[path = "jwt_tests.rs"]
mod tests;
