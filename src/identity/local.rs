//! The development key, so that tokens can be tried before there is an issuer.

use std::io;
use std::path::{Path, PathBuf};

use super::{KeyFault, SigningKey};

/// The issuer of development tokens.
pub const DEVELOPMENT_ISSUER: &str = "recall-gate-development";
/// The audience of development tokens.
pub const DEVELOPMENT_AUDIENCE: &str = "recall-gate";
/// The `kid` of the development key.
pub const DEVELOPMENT_KEY_ID: &str = "development";

/// Where the development key of a database lies: beside it.
#[must_use]
pub fn development_key_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".dev-key.pem");
    PathBuf::from(path)
}

/// The development key of a database; made where there is none.
///
/// # Errors
/// A key that cannot be read, is no key, or may be read by others. A bad key is never replaced.
pub fn development_key(database: &Path) -> Result<SigningKey, KeyFault> {
    let path = development_key_path(database);
    match SigningKey::read(&path) {
        Err(KeyFault::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            match SigningKey::generate()?.write_new(&path) {
                // Another process made it in between.
                Err(KeyFault::File { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
            SigningKey::read(&path)
        }
        read => read,
    }
}

/// The development key of a database, where `serve` has made one.
///
/// # Errors
/// As [`development_key`]; also where there is none.
pub fn load_development_key(database: &Path) -> Result<SigningKey, KeyFault> {
    SigningKey::read(&development_key_path(database))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_development_key_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("recall-gate.db");
        assert!(load_development_key(&database).is_err());
        let public = development_key(&database).unwrap().public_pem().unwrap();
        assert_eq!(development_key(&database).unwrap().public_pem().unwrap(), public);
        assert_eq!(load_development_key(&database).unwrap().public_pem().unwrap(), public);
        assert!(dir.path().join("recall-gate.db.dev-key.pem").exists());
    }

    #[test]
    fn a_bad_development_key_is_an_error_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("recall-gate.db");
        development_key(&database).unwrap();
        fs::write(development_key_path(&database), "junk").unwrap();
        assert!(matches!(development_key(&database), Err(KeyFault::NotPrivate(_))));
        assert_eq!(fs::read(development_key_path(&database)).unwrap(), b"junk");
    }
}
