//! The file of a digest key: 32 random bytes, and nothing else.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use zeroize::Zeroizing;

use super::OpenError;
use super::digest::{DigestKey, KEY_LEN};

/// The key that lies at a path; `None` where nothing does.
pub(super) fn read(path: &Path) -> Result<Option<DigestKey>, OpenError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let malformed = || OpenError::KeyMalformed { path: path.to_owned() };
    if file.metadata()?.len() != u64::try_from(KEY_LEN).unwrap_or_default() {
        return Err(malformed());
    }
    let mut bytes = Zeroizing::new([0; KEY_LEN]);
    file.read_exact(bytes.as_mut_slice())?;
    DigestKey::new(&bytes).map(Some).ok_or_else(malformed)
}
