//! Why a credential is refused: for the log, never for the caller, and never with any of the credential in it.

use jsonwebtoken::errors::{Error, ErrorKind};

use super::TokenFault;

/// Why a credential is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("more than one authorization header")]
    Repeated,
    #[error("the authorization header is too long")]
    TooLong,
    #[error("the authorization header is not `Bearer` and a token")]
    NotBearer,
    #[error("not a JSON Web Token")]
    NotToken,
    #[error("not signed with EdDSA")]
    Algorithm,
    #[error("no `kid`")]
    KeyUnnamed,
    #[error("the `kid` names no key that is configured")]
    KeyUnknown,
    #[error("the signature does not verify")]
    Signature,
    #[error("the claim `{0}` is missing or of the wrong type")]
    Required(String),
    #[error("another issuer")]
    Issuer,
    #[error("another audience")]
    Audience,
    #[error("expired")]
    Expired,
    #[error("not yet valid")]
    NotYetValid,
    #[error("the claims are not of the right types")]
    Claims,
    #[error(transparent)]
    Token(#[from] TokenFault),
}

impl Fault {
    /// Whether a holder of a key signed what is at fault. Anybody can cause the rest, as often as they like.
    pub(super) const fn is_signed(&self) -> bool {
        match self {
            Self::Repeated
            | Self::TooLong
            | Self::NotBearer
            | Self::NotToken
            | Self::Algorithm
            | Self::KeyUnnamed
            | Self::KeyUnknown
            | Self::Signature => false,
            Self::Required(_)
            | Self::Issuer
            | Self::Audience
            | Self::Expired
            | Self::NotYetValid
            | Self::Claims
            | Self::Token(_) => true,
        }
    }
}

impl From<Error> for Fault {
    /// The message of a JSON error repeats what it could not read, so only the kind is kept.
    fn from(error: Error) -> Self {
        match error.into_kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName => Self::Algorithm,
            ErrorKind::MissingRequiredClaim(claim) | ErrorKind::InvalidClaimFormat(claim) => Self::Required(claim),
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::Json(_) => Self::Claims,
            _ => Self::NotToken,
        }
    }
}
