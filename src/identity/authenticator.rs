//! From the headers of a call to its caller.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::fault::Fault;
use super::jwt::JwtVerifier;
use super::{Caller, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, KeySet, SigningKey};
use crate::memory::Time;

/// Longest authorization header, in bytes.
pub const MAX_CREDENTIAL_BYTES: usize = 8 * 1024;

const SCHEME: &str = "bearer";

/// Why a call has no caller. What is wrong with a credential is in the log alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// There is no credential.
    #[error("a credential is required: `authorization: Bearer <token>`")]
    Missing,
    /// There is one, and it is not valid.
    #[error("the credential is not valid")]
    Invalid,
}

/// Verifies callers.
#[derive(Debug)]
pub struct Authenticator {
    verifier: JwtVerifier,
    without_credential: Option<Caller>,
}

impl Authenticator {
    /// Takes only who has a token of this verifier.
    #[must_use]
    pub const fn required(verifier: JwtVerifier) -> Self {
        Self { verifier, without_credential: None }
    }

    /// Takes who has no credential for the development identity, and who has a token of the development key. For a
    /// loopback address alone.
    #[must_use]
    pub fn development(key: &SigningKey) -> Self {
        let keys = KeySet::of(DEVELOPMENT_KEY_ID, key);
        Self {
            verifier: JwtVerifier::new(DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE, keys),
            without_credential: Caller::development(),
        }
    }

    /// Who is calling. A credential that is presented is verified or refused, never ignored.
    ///
    /// # Errors
    /// `Missing` without an authorization header, `Invalid` with a bad one, or with two.
    pub fn authenticate(&self, headers: &HeaderMap, now: Time) -> Result<Caller, AuthError> {
        match bearer(headers).and_then(|token| token.map(|token| self.verifier.verify(token, now)).transpose()) {
            Ok(Some(caller)) => Ok(caller),
            Ok(None) => self.without_credential.clone().ok_or(AuthError::Missing),
            Err(fault) if fault.is_signed() => {
                tracing::info!(%fault, "credential refused");
                Err(AuthError::Invalid)
            }
            Err(fault) => {
                tracing::debug!(%fault, "credential refused");
                Err(AuthError::Invalid)
            }
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::Repeated);
    }
    if value.len() > MAX_CREDENTIAL_BYTES {
        return Err(Fault::TooLong);
    }
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).ok_or(Fault::NotBearer)?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(Fault::NotBearer);
    }
    Ok(Some(token.trim_matches(' ')))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::identity::{Grants, Ticket, mint};

    const NOW: Time = Time::from_micros(1_800_000_000_000_000);

    fn headers(values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_str(value).unwrap()));
        values.collect()
    }

    fn token(key: &SigningKey) -> String {
        let ticket = Ticket {
            issuer: DEVELOPMENT_ISSUER.to_owned(),
            audience: DEVELOPMENT_AUDIENCE.to_owned(),
            kid: DEVELOPMENT_KEY_ID.to_owned(),
            tenant: "dev".to_owned(),
            principal: "backend".to_owned(),
            subject: Some("alice".to_owned()),
            projects: Vec::new(),
            grants: Grants::none().names(),
            lifetime_seconds: 60,
        };
        mint(key, &ticket, NOW).unwrap()
    }

    #[test]
    fn i01_no_credential_is_the_development_identity_in_development_alone() {
        let key = SigningKey::generate().unwrap();
        let caller = Authenticator::development(&key).authenticate(&headers(&[]), NOW).unwrap();
        assert!(caller.is_development());
        let required = Authenticator::required(JwtVerifier::new("i", "a", KeySet::of("k", &key)));
        assert_eq!(required.authenticate(&headers(&[]), NOW), Err(AuthError::Missing));
    }

    #[test]
    fn i01_a_credential_is_verified_or_refused_and_never_ignored() {
        let key = SigningKey::generate().unwrap();
        let authenticator = Authenticator::development(&key);
        let good = token(&key);
        for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
            let caller = authenticator.authenticate(&headers(&[&format!("{scheme} {good}")]), NOW).unwrap();
            assert_eq!(caller.principal().as_str(), "backend");
            assert!(!caller.is_development());
        }
        let other = token(&SigningKey::generate().unwrap());
        for bad in ["", "Bearer", "Bearer ", "Bearer x", "Basic eDp5", &good, &format!("Bearer {other}")] {
            assert_eq!(authenticator.authenticate(&headers(&[bad]), NOW), Err(AuthError::Invalid), "{bad}");
        }
    }

    #[test]
    fn two_authorization_headers_are_refused_even_when_both_are_good() {
        let key = SigningKey::generate().unwrap();
        let good = format!("Bearer {}", token(&key));
        let authenticator = Authenticator::development(&key);
        assert_eq!(authenticator.authenticate(&headers(&[&good, &good]), NOW), Err(AuthError::Invalid));
        assert_eq!(authenticator.authenticate(&headers(&[&format!("{good}, {good}")]), NOW), Err(AuthError::Invalid));
    }

    #[test]
    fn a_credential_over_the_size_limit_is_refused_before_it_is_read() {
        let padded = |length: usize| format!("Bearer {}", "x".repeat(length - 7));
        assert_eq!(bearer(&headers(&[&padded(MAX_CREDENTIAL_BYTES + 1)])), Err(Fault::TooLong));
        assert!(bearer(&headers(&[&padded(MAX_CREDENTIAL_BYTES)])).is_ok());
    }

    #[test]
    fn a_header_that_is_no_text_is_refused() {
        let value = HeaderValue::from_bytes(b"Bearer \xff").unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
        assert_eq!(bearer(&headers), Err(Fault::NotBearer));
    }
}
