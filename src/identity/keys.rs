//! Ed25519 keys in PEM files.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use jsonwebtoken::{DecodingKey, EncodingKey};
use pem::{EncodeConfig, LineEnding, Pem};

const PRIVATE_TAG: &str = "PRIVATE KEY";
const PUBLIC_TAG: &str = "PUBLIC KEY";

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    /// The file cannot be read or written.
    #[error("`{path}`: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not a public key in PEM.
    #[error("`{0}` is not an Ed25519 public key in PEM (`BEGIN PUBLIC KEY`)")]
    NotPublic(PathBuf),
    /// Not a private key in PEM.
    #[error("`{0}` is not an Ed25519 private key in PKCS#8 PEM (`BEGIN PRIVATE KEY`)")]
    NotPrivate(PathBuf),
    /// Others may read the private key.
    #[error("`{0}` may be read by others than its owner; `chmod 600` it")]
    Exposed(PathBuf),
    /// The host has no randomness, or a defect of the library.
    #[error("no key could be made")]
    NotMade,
}

/// Public keys by `kid`.
#[derive(Debug, Default)]
pub struct KeySet {
    keys: BTreeMap<String, DecodingKey>,
}

impl KeySet {
    /// Reads the public key of each `kid` from its PEM file.
    ///
    /// # Errors
    /// Every file that holds none.
    pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<Self, Vec<KeyFault>> {
        let mut set = Self::default();
        let mut faults = Vec::new();
        for (kid, path) in files {
            match fs::read(path).map_err(|source| file_fault(path, source)).and_then(|pem| public_key(path, &pem)) {
                Ok(key) => {
                    set.keys.insert(kid.to_owned(), key);
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(set) } else { Err(faults) }
    }

    /// The set that holds the public half of one key.
    #[must_use]
    pub fn of(kid: impl Into<String>, key: &SigningKey) -> Self {
        Self { keys: BTreeMap::from([(kid.into(), DecodingKey::from_ed_der(key.pair.public_key().as_ref()))]) }
    }

    pub(super) fn get(&self, kid: &str) -> Option<&DecodingKey> {
        self.keys.get(kid)
    }
}

/// A certificate or a private key would parse too, as something else than what was meant.
fn public_key(path: &Path, pem: &[u8]) -> Result<DecodingKey, KeyFault> {
    let not_public = || KeyFault::NotPublic(path.to_owned());
    if pem::parse(pem).map_err(|_| not_public())?.tag() != PUBLIC_TAG {
        return Err(not_public());
    }
    DecodingKey::from_ed_pem(pem)
        .ok()
        .filter(|key| key.try_get_as_bytes().is_ok_and(|bytes| bytes.len() == 32))
        .ok_or_else(not_public)
}

/// A private key.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    document: Vec<u8>,
}

impl SigningKey {
    /// Makes a key.
    ///
    /// # Errors
    /// `NotMade`.
    pub fn generate() -> Result<Self, KeyFault> {
        let pair = Ed25519KeyPair::generate().map_err(|_| KeyFault::NotMade)?;
        let document = pair.to_pkcs8v1().map_err(|_| KeyFault::NotMade)?.as_ref().to_vec();
        Ok(Self { pair, document })
    }

    /// Reads a key that only its owner may read.
    ///
    /// # Errors
    /// `File`, `Exposed` and `NotPrivate`.
    pub fn read(path: &Path) -> Result<Self, KeyFault> {
        let fault = |source| file_fault(path, source);
        if is_exposed(&fs::metadata(path).map_err(fault)?) {
            return Err(KeyFault::Exposed(path.to_owned()));
        }
        let not_private = || KeyFault::NotPrivate(path.to_owned());
        let pem = pem::parse(fs::read(path).map_err(fault)?).map_err(|_| not_private())?;
        if pem.tag() != PRIVATE_TAG {
            return Err(not_private());
        }
        let document = pem.into_contents();
        let pair = Ed25519KeyPair::from_pkcs8(&document).map_err(|_| not_private())?;
        Ok(Self { pair, document })
    }

    /// Writes the private key into a new file that only its owner may read. The file is there whole or not at all.
    ///
    /// # Errors
    /// `File`; an existing file is not overwritten.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyFault> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}.new", std::process::id()));
        let draft = PathBuf::from(draft);
        let written = write_private(&draft, encode(PRIVATE_TAG, &self.document).as_bytes())
            .and_then(|()| fs::hard_link(&draft, path))
            .map_err(|source| file_fault(path, source));
        let removed = fs::remove_file(&draft).map_err(|source| file_fault(&draft, source));
        written.and(removed)
    }

    /// The public half as PEM, for the service's settings.
    ///
    /// # Errors
    /// `NotMade`.
    pub fn public_pem(&self) -> Result<String, KeyFault> {
        let der: PublicKeyX509Der<'_> = self.pair.public_key().as_der().map_err(|_| KeyFault::NotMade)?;
        Ok(encode(PUBLIC_TAG, der.as_ref()))
    }

    pub(super) fn encoding_key(&self) -> EncodingKey {
        EncodingKey::from_ed_der(&self.document)
    }
}

fn encode(tag: &str, contents: &[u8]) -> String {
    pem::encode_config(&Pem::new(tag, contents), EncodeConfig::new().set_line_ending(LineEnding::LF))
}

fn file_fault(path: &Path, source: io::Error) -> KeyFault {
    KeyFault::File { path: path.to_owned(), source }
}

fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(unix)]
fn is_exposed(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_exposed(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_written_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.pem");
        let key = SigningKey::generate().unwrap();
        key.write_new(&path).unwrap();
        assert_eq!(SigningKey::read(&path).unwrap().document, key.document);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn an_existing_key_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.pem");
        let key = SigningKey::generate().unwrap();
        key.write_new(&path).unwrap();
        assert!(matches!(SigningKey::generate().unwrap().write_new(&path), Err(KeyFault::File { .. })));
        assert_eq!(SigningKey::read(&path).unwrap().document, key.document);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left behind");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_key_is_its_owners_alone_or_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.pem");
        SigningKey::generate().unwrap().write_new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(SigningKey::read(&path), Err(KeyFault::Exposed(_))));
    }

    #[test]
    fn every_file_that_holds_no_public_key_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, contents: &str| {
            let path = dir.path().join(name);
            fs::write(&path, contents).unwrap();
            path
        };
        let key = SigningKey::generate().unwrap();
        let good = file("good", &key.public_pem().unwrap());
        let private = file("private", &encode(PRIVATE_TAG, &key.document));
        let certificate = file("certificate", &key.public_pem().unwrap().replace(PUBLIC_TAG, "CERTIFICATE"));
        let junk = file("junk", "junk");
        let missing = dir.path().join("missing");
        assert!(KeySet::read([("a", good.as_path())]).unwrap().get("a").is_some());
        let files = [&good, &private, &certificate, &junk, &missing];
        let faults = KeySet::read(files.map(|path| ("a", path.as_path()))).unwrap_err();
        assert_eq!(faults.len(), 4, "{faults:?}");
    }
}
