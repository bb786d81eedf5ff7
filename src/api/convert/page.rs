//! Pages of lists. A token is bytes to the gate and base64url to callers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::faults::{Checked, Faults, Path};
use crate::gate::Error;

const DEFAULT_PAGE_SIZE: u32 = 50;
const MAX_PAGE_SIZE: u32 = 200;
const MAX_PAGE_TOKEN_CHARS: usize = 4096;

/// How many at most; 0: the default; more than the maximum: the maximum.
pub(super) fn size(faults: &mut Faults, page_size: i32) -> Checked<u32> {
    match u32::try_from(page_size) {
        Ok(0) => Ok(DEFAULT_PAGE_SIZE),
        Ok(size) => Ok(size.min(MAX_PAGE_SIZE)),
        Err(_) => Err(faults.add(Path::of("page_size"), "must not be negative")),
    }
}

/// From the reply before; empty: the first page.
pub(super) fn token(faults: &mut Faults, page_token: String) -> Checked<String> {
    if page_token.chars().count() > MAX_PAGE_TOKEN_CHARS {
        let description = format_args!("must have at most {MAX_PAGE_TOKEN_CHARS} characters");
        return Err(faults.add(Path::of("page_token"), description));
    }
    Ok(page_token)
}

/// The token's bytes.
///
/// # Errors
/// It is none that was ever sent.
pub(super) fn decode(page_token: &[u8]) -> Result<Vec<u8>, Error> {
    URL_SAFE_NO_PAD.decode(page_token).map_err(|_| Error::PageTokenInvalid)
}

/// What a caller sends to get the next page; empty: there is none.
pub(in crate::api) fn encode(next_page_token: Option<&[u8]>) -> String {
    next_page_token.map(|token| URL_SAFE_NO_PAD.encode(token)).unwrap_or_default()
}
