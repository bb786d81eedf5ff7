//! Making tokens, for `recall-gate token`. The service itself makes none.

use jsonwebtoken::{Algorithm, Header, encode};

use super::claims::{Claims, Seconds};
use super::{ProjectClaim, SigningKey, TokenFault};
use crate::memory::Time;

/// Longest life of a token that is made here: a day.
pub const MAX_LIFETIME_SECONDS: i64 = 86_400;

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum MintError {
    /// The service would refuse it.
    #[error(transparent)]
    Token(#[from] TokenFault),
    /// No time at all, or more than [`MAX_LIFETIME_SECONDS`].
    #[error("the lifetime must be 1 to {MAX_LIFETIME_SECONDS} seconds")]
    Lifetime,
    /// The key does not sign.
    #[error("the token could not be signed")]
    Signing,
}

/// What a token is to say.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Who vouches.
    pub issuer: String,
    /// For which service.
    pub audience: String,
    /// Which key signs, as the service's settings name it.
    pub kid: String,
    /// The organisation.
    pub tenant: String,
    /// Who will be calling.
    pub principal: String,
    /// Whom calls are about unless they say otherwise.
    pub subject: Option<String>,
    /// The projects held.
    pub projects: Vec<ProjectClaim>,
    /// What may be done.
    pub grants: Vec<String>,
    /// How long it is valid.
    pub lifetime_seconds: i64,
}

/// Signs a token that is valid from `now` on.
///
/// # Errors
/// A ticket that the service would not take is refused here already.
pub fn mint(key: &SigningKey, ticket: &Ticket, now: Time) -> Result<String, MintError> {
    if !(1..=MAX_LIFETIME_SECONDS).contains(&ticket.lifetime_seconds) {
        return Err(MintError::Lifetime);
    }
    let (seconds, _) = now.parts();
    let claims = Claims {
        iss: ticket.issuer.clone(),
        aud: ticket.audience.clone(),
        sub: ticket.principal.clone(),
        exp: Seconds(seconds.saturating_add(ticket.lifetime_seconds)),
        nbf: Some(Seconds(seconds)),
        iat: Some(Seconds(seconds)),
        tenant: ticket.tenant.clone(),
        subject: ticket.subject.clone(),
        projects: ticket.projects.clone(),
        grants: ticket.grants.clone(),
    };
    claims.caller()?;
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(ticket.kid.clone());
    encode(&header, &claims, &key.encoding_key()).map_err(|_| MintError::Signing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Grants, KeySet, jwt::JwtVerifier};
    use crate::memory::{IdFault, Span};

    fn ticket() -> Ticket {
        Ticket {
            issuer: "issuer".to_owned(),
            audience: "audience".to_owned(),
            kid: "k".to_owned(),
            tenant: "t".to_owned(),
            principal: "p".to_owned(),
            subject: Some("alice".to_owned()),
            projects: vec![ProjectClaim { id: "atlas".to_owned(), tasks: None }],
            grants: Grants::all().names(),
            lifetime_seconds: 60,
        }
    }

    #[test]
    fn a_minted_token_is_taken_for_as_long_as_it_says() {
        let key = SigningKey::generate().unwrap();
        let now = Time::from_parts(1_800_000_000, 999_999_000).unwrap();
        let token = mint(&key, &ticket(), now).unwrap();
        let verifier = JwtVerifier::new("issuer", "audience", KeySet::of("k", &key));
        let caller = verifier.verify(&token, now).unwrap();
        assert_eq!(caller.subject().unwrap().as_str(), "alice");
        assert!(!caller.is_development());
        assert!(verifier.verify(&token, now.plus(Span::from_seconds(90))).is_err());
    }

    #[test]
    fn what_the_service_would_refuse_is_not_signed() {
        let key = SigningKey::generate().unwrap();
        let now = Time::from_micros(0);
        let mint = |ticket: &Ticket| mint(&key, ticket, now);
        let wrong = Ticket { grants: vec!["capture".to_owned(), "admin".to_owned()], ..ticket() };
        assert!(matches!(mint(&wrong), Err(MintError::Token(TokenFault::Grant(1)))));
        let wrong = Ticket { tenant: String::new(), ..ticket() };
        let fault = TokenFault::Id { claim: "tenant", fault: IdFault::Empty };
        assert!(matches!(mint(&wrong), Err(MintError::Token(found)) if found == fault));
        for lifetime_seconds in [0, -1, MAX_LIFETIME_SECONDS + 1, i64::MAX] {
            assert!(matches!(mint(&Ticket { lifetime_seconds, ..ticket() }), Err(MintError::Lifetime)));
        }
        assert!(mint(&Ticket { lifetime_seconds: MAX_LIFETIME_SECONDS, ..ticket() }).is_ok());
    }
}
