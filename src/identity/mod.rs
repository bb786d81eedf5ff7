//! Who calls: a [`Caller`] made only from a verified credential.
//!
//! Invariant I1: tenant, subject, principal and grants come from the credential; a request selects among them.

mod authenticator;
mod cache;
mod caller;
mod claims;
mod fault;
mod grants;
mod jwt;
mod keys;
mod local;
mod mint;

pub use authenticator::{AuthError, Authenticator, MAX_CREDENTIAL_BYTES};
pub use caller::{Caller, CallerParts, Holding, Projects};
pub use claims::{ProjectClaim, TokenFault};
pub use grants::{ActFor, GrantFault, Grants, Verb};
pub use jwt::{JwtVerifier, LEEWAY};
pub use keys::{KeyFault, KeySet, SigningKey};
pub use local::{
    DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, development_key, development_key_path,
    load_development_key,
};
pub use mint::{MAX_LIFETIME_SECONDS, MintError, Ticket, mint};
